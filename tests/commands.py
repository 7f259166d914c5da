"""Commands called inside of the process of a test."""

from typing import Any

from meanfield.cli import main


def succeed(capsys: Any, *arguments: str) -> str:
    """Return what a command prints that ends well."""
    code = main(list(arguments))
    captured = capsys.readouterr()
    assert code == 0, captured.err
    return captured.out


def fail(capsys: Any, code: int, *arguments: str) -> str:
    """Return the one line a failing command prints; nothing but a progress bar, wiped out, may appear beside it."""
    assert main(list(arguments)) == code
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.count("\n") == 1
    left = captured.err.rpartition("\r")[2]
    assert left.startswith("meanfield: ")
    return left
