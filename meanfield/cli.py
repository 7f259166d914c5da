"""The composition root: ``meanfield COMMAND ...``.

Commands are the entry points of the group ``meanfield.commands``, functions that take the remaining arguments
and return an exit code, so that any installed package can add one. Only the chosen command is imported; the
description in the list is the first line of its docstring, read from the source without running it.
"""

import ast
import importlib.util
import os
import sys
import traceback
import warnings
from collections.abc import Callable, Sequence
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path

from .errors import InvalidInput, MeanfieldError, did_you_mean
from .process import INTERRUPTED, Interruption, Silenced, discard, open_closed_streams, write_result

COMMAND_GROUP = "meanfield.commands"
BROKEN_PIPE = 141
_INTERRUPTED = "interrupted; files that existed before are unchanged"


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code: 0 success, 1 failed computation, 2 wrong usage.

    Interrupted by a signal it is 128 and the number of the signal.

    Parameters
    ----------
    argv
        Arguments behind the program's name; those of the process by default, whose streams and signals are the
        command's then.
    """
    interruption = Interruption()
    if argv is None:
        _one_thread()
        open_closed_streams()
        sys.stderr = Silenced(sys.stderr)
        warnings.showwarning = _said
        interruption.catch()
    arguments = list(sys.argv[1:] if argv is None else argv)
    debug = "--debug" in arguments
    code = _guarded([argument for argument in arguments if argument != "--debug"], interruption, debug)
    return _flushed(interruption.exit_code(code), debug)


def _one_thread() -> None:
    """Limit linear algebra to one thread unless the environment says otherwise; at these sizes more are slower.

    The libraries read the variables when numpy is loaded, which no import before this has done.
    """
    for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ.setdefault(variable, "1")


def _guarded(arguments: list[str], interruption: Interruption, debug: bool) -> int:
    """Run a command and return its exit code; any error becomes one line on standard error."""
    try:
        return _run(arguments)
    except SystemExit as stop:
        return stop.code if isinstance(stop.code, int) else 0
    except BrokenPipeError:
        return BROKEN_PIPE
    except KeyboardInterrupt:
        return _report(_INTERRUPTED, INTERRUPTED, debug)
    except MeanfieldError as error:
        return _report(str(error), error.exit_code, debug)
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""
        return _report(f"{where}{error.strerror or error}; --debug shows the traceback", 1, debug)
    except Exception as error:
        # Compiled modules turn an interrupt while they are loaded into errors of their own.
        if interruption.came:
            return _report(_INTERRUPTED, INTERRUPTED, debug)
        return _report(_unexpected(error), 1, debug)


def _said(
    message: Warning | str,
    category: type[Warning],
    filename: str,
    lineno: int,
    file: object = None,
    line: object = None,
) -> None:
    """Write a warning of Python or numpy as one line, and of each kind the first only."""
    warnings.simplefilter("ignore", category)
    place = f"({Path(filename).name}, line {lineno})"
    text = " ".join(str(message).split())
    if issubclass(category, RuntimeWarning):
        text = f"{text} {place}: numbers are beyond double precision, and what follows from them may be wrong"
    sys.stderr.write(f"meanfield: warning: {text}\n")


def _flushed(code: int, debug: bool) -> int:
    try:
        sys.stdout.flush()
    except OSError as error:
        discard(sys.stdout)
        if isinstance(error, BrokenPipeError):
            return BROKEN_PIPE
        return code or _report(f"standard output cannot be written: {error.strerror}", 1, debug)
    return code


def _run(arguments: list[str]) -> int:
    if not arguments:
        sys.stderr.write(_help())
        return 2
    first, *rest = arguments
    if first in ("--help", "-h", "help"):
        write_result(_help())
        return 0
    if first == "--version":
        write_result(f"meanfield {_version()}\n")
        return 0
    command: Callable[[Sequence[str]], int | None] = _command(first).load()
    return command(rest) or 0


def _commands() -> dict[str, EntryPoint]:
    return {entry.name: entry for entry in sorted(entry_points(group=COMMAND_GROUP))}


def _command(name: str) -> EntryPoint:
    commands = _commands()
    if name in commands:
        return commands[name]
    hint = did_you_mean(name, commands)
    what = "option" if name.startswith("-") else "command"
    raise InvalidInput(f"unknown {what} {name!r}; {hint}commands: {', '.join(commands) or 'none installed'}")


def _help() -> str:
    commands = _commands()
    width = max(map(len, commands), default=0)
    lines = [f"  {name:<{width}}  {_description(entry)}".rstrip() for name, entry in commands.items()]
    return "\n".join(
        [
            "usage: meanfield COMMAND [options]",
            "",
            "Stationary states, diagrams, evolution, rates and particles of McKean-Vlasov equations.",
            "",
            "commands:",
            *lines,
            "",
            "options:",
            "  --help     this text; meanfield COMMAND --help explains a command",
            "  --version  print the version",
            "  --debug    with any command: show the traceback of an error",
            "",
            "example: meanfield bifurcation transformer --beta 5 --to diagram.nc --plot diagram.pdf",
            "",
        ]
    )


def _description(entry: EntryPoint) -> str:
    """Return the first docstring line of a command without importing its module."""
    package, _, module = entry.module.partition(".")
    try:
        spec = importlib.util.find_spec(package)
        folders = (spec.submodule_search_locations if spec else None) or []
        sources = (Path(folder, *module.split(".")).with_suffix(".py") for folder in folders)
        tree = ast.parse(next(source for source in sources if source.is_file()).read_text(encoding="utf-8"))
    except (ImportError, OSError, StopIteration, SyntaxError, ValueError):
        return ""
    for node in tree.body:
        if isinstance(node, ast.FunctionDef) and node.name == entry.attr:
            return (ast.get_docstring(node) or "").partition("\n")[0]
    return ""


def _version() -> str:
    from .export.records import package_version

    return package_version()


def _report(message: str, code: int, debug: bool) -> int:
    if debug:
        traceback.print_exc()
    sys.stderr.write(f"meanfield: {' '.join(message.split())}\n")
    return code


def _unexpected(error: Exception) -> str:
    frames = traceback.extract_tb(error.__traceback__)
    place = f" in {frames[-1].name} ({Path(frames[-1].filename).name}, line {frames[-1].lineno})"
    return f"unexpected {type(error).__name__}{place}: {error}; --debug shows the traceback"
