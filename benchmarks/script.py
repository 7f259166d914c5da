"""What all scripts here have in common: one thread, the options of a report, and where it goes."""

import argparse
import os
from pathlib import Path


def one_thread() -> None:
    """Keep libraries at one thread; they read this when they are loaded, so call it before numpy is imported."""
    for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "BLIS_NUM_THREADS"):
        os.environ[variable] = "1"


def parser(description: str | None, rounds: int = 7) -> argparse.ArgumentParser:
    """Return a parser with the options that every report has."""
    options = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--rounds", type=int, default=rounds, help="interleaved rounds; the fastest counts")
    options.add_argument("--to", type=Path, help="also write the report to this file")
    return options


def publish(text: str, to: Path | None) -> None:
    """Print a report, and write it to a file if one is named."""
    print(text)
    if to is not None:
        to.write_text(text + "\n", encoding="utf-8")
