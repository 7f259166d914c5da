"""The configuration file: a TOML file whose keys are the names of a command's options.

Its values are turned into command-line arguments, so that they are read and checked in one way only. What
has no written form, such as a text in quotes where a number belongs or a list for a single value, is refused
here.
"""

import argparse
import os
import re
import select
import time
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from ..errors import InvalidInput, did_you_mean
from .readers import Kind, kind_of, number

# Bytes that a configuration can have, and seconds it may take to come.
LONGEST = 10**6
PATIENCE = 5.0
# Of a key of so many parts the library takes the square of their number in time.
_DEEP = re.compile(r"(?:[\w\"'-]+[ \t]*\.[ \t]*){100}")

NOT_IN_FILES = {"help", "config", "debug"}


def read_configuration(name: str) -> Mapping[str, Any]:
    """Return the keys and values of a TOML file; numbers beyond the range of doubles remain exact.

    Raises
    ------
    InvalidInput
        If the file cannot be read, is not TOML, or is longer or deeper than a configuration is.
    """
    try:
        text = _content(name).decode("utf-8")
        if _DEEP.search(text):
            raise RecursionError
        return tomllib.loads(text, parse_float=lambda digits: number(digits.replace("_", "")))
    except InvalidInput:
        raise
    except OSError as error:
        raise InvalidInput(f"the configuration {name} cannot be read: {error.strerror}") from error
    except RecursionError as error:
        raise InvalidInput(
            f"the configuration {name} is nested too deeply; its keys are the names of options, such as beta = 5"
        ) from error
    except ValueError as error:
        # Beside what is not TOML or not UTF-8 a number of too many digits.
        raise InvalidInput(f"the configuration {name} is not valid TOML: {error}") from error


def _content(name: str) -> bytes:
    """Return the content of a file, or what a pipe delivers within ``PATIENCE`` seconds."""
    content, until = b"", time.monotonic() + PATIENCE
    regular = Path(name).is_file()
    descriptor = os.open(name, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
    with open(descriptor, "rb", buffering=0) as stream:  # noqa: PTH123
        while len(content) <= LONGEST:
            if not (regular or select.select([stream], [], [], max(0.0, until - time.monotonic()))[0]):
                raise InvalidInput(f"nothing comes from the configuration {name} in {PATIENCE:g} s; give a file")
            # A pipe that nobody has closed yet may have nothing at the moment.
            piece = stream.read(LONGEST)
            if piece == b"":
                return content
            content += piece or b""
    raise InvalidInput(f"the configuration {name} has more than {LONGEST} bytes; its keys are the names of options")


def typed(name: str, values: Mapping[str, Any], actions: Iterable[argparse.Action]) -> list[str]:
    """Return a configuration as command-line arguments.

    Parameters
    ----------
    name
        The file, for the messages.
    values
        Its keys and values; ``max_step`` and ``max-step`` are the same key.
    actions
        The options and arguments of the command.

    Raises
    ------
    InvalidInput
        If a key is unknown or given twice, or a value is not of the kind the option takes.
    """
    known = {key: action for action in actions for key in _keys(action) if key not in NOT_IN_FILES}
    arguments: list[str] = []
    seen: set[str] = set()
    for key, value in values.items():
        option = key.replace("_", "-")
        if option not in known:
            hint = did_you_mean(option, known).strip() or f"known: {', '.join(sorted(known))}"
            raise InvalidInput(f"unknown key {key!r} in {name}; {hint}")
        if option in seen:
            raise InvalidInput(f"the key {option!r} stands in {name} twice, also as {key!r}; keep one of them")
        seen.add(option)
        arguments += _arguments(known[option], option, value, f"the value of {key!r} in {name}")
    return arguments


def _keys(action: argparse.Action) -> Iterator[str]:
    yield from (flag.removeprefix("--") for flag in action.option_strings if flag.startswith("--"))
    if not action.option_strings:
        yield action.dest


def _arguments(action: argparse.Action, option: str, value: Any, what: str) -> Sequence[str]:
    flag = f"--{option}"
    if action.nargs == 0:
        if not isinstance(value, bool):
            raise InvalidInput(f"{what} must be true or false, not {value!r}")
        return [flag] * value
    values = _checked(action, kind_of(action.type), value, what)
    if not action.option_strings:
        return values
    if isinstance(action.nargs, int) or action.nargs == "+":
        return [flag, *values]
    return [f"{flag}={item}" for item in values]


def _checked(action: argparse.Action, kind: Kind, value: Any, what: str) -> list[str]:
    """Return the arguments for a value of an option, or for the values in a list if the option takes several."""
    exactly = action.nargs if isinstance(action.nargs, int) else None
    repeatable = isinstance(action, argparse._AppendAction)
    several = action.nargs == "+" or repeatable
    values = value if isinstance(value, list) and (several or exactly) else [value]
    fits = len(values) == (exactly or len(values)) and (values or repeatable)
    if fits and all(kind.admits(item) for item in values):
        return [str(item) for item in values]
    expected = f"a list of {exactly} {kind.many}" if exactly else kind.one
    raise InvalidInput(f"{what} must be {expected}{f' or a list of {kind.many}' if several else ''}, not {value!r}")
