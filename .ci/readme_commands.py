"""Print a command of README.md, so that what is checked is what a reader copies.

Usage: python readme_commands.py README.md run|test
"""

import re
import sys
from pathlib import Path

COMMAND = re.compile(r"^```sh\n(python3 -m venv [^\n]*)\n```$", re.MULTILINE)


def commands(text: str) -> dict[str, str]:
    """Return the two commands that start from a fresh clone, each one line."""
    found = COMMAND.findall(text)
    if len(found) != 2 or "pytest" not in found[1]:
        raise SystemExit(f"README.md must have a run and a test command of one line each, found: {found}")
    return {"run": found[0], "test": found[1]}


if __name__ == "__main__":
    sys.stdout.write(commands(Path(sys.argv[1]).read_text(encoding="utf-8"))[sys.argv[2]] + "\n")
