"""The pieces of the command line that several commands share: parser, configuration file, types, targets."""

import argparse
import difflib
import re
import shlex
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NoReturn

import numpy as np

from ..errors import InvalidInput
from ..potentials import Number

EXCLUSIVE = ("coupling", "relative")
_OPTION = re.compile(r"--?[A-Za-z][\w-]*(=.*)?", re.DOTALL)
_NUMBER_WORDS = ("-inf", "-infinity", "-nan")


class Parser(argparse.ArgumentParser):
    """A parser with errors in sentences, values that may start with a minus and a configuration file.

    Parameters
    ----------
    command
        Name of the command.
    description
        What it does.
    argv
        Its arguments.
    """

    def __init__(self, command: str, description: str, argv: Sequence[str]) -> None:
        super().__init__(
            prog=f"meanfield {command}",
            description=description,
            allow_abbrev=False,
            argument_default=argparse.SUPPRESS,
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        # Groups are listed in the order of their creation; an empty one is not shown.
        self.potential_group = self.add_argument_group("parameters of the potential")
        self.argv = list(argv)
        self.config_name, self.config = _read_config(self.argv)

    @property
    def command_line(self) -> str:
        """The command as it could be typed again."""
        return shlex.join([*self.prog.split(), *self.argv])

    def settings(self, **defaults: Any) -> argparse.Namespace:
        """Return the values of all options: command line over configuration file over defaults.

        Raises
        ------
        InvalidInput
            If an option or key is unknown or a value does not fit.
        """
        given = self._values(self.argv)
        configured = self._configured()
        if any(name in given for name in EXCLUSIVE):
            configured = {key: value for key, value in configured.items() if key not in EXCLUSIVE}
        return argparse.Namespace(**(defaults | configured | given))

    def error(self, message: str) -> NoReturn:
        """Raise the message as a sentence."""
        sentence = message.removeprefix("argument ").replace(
            "not allowed with argument", "cannot be given together with"
        )
        if "expected" in sentence:
            sentence += "; write a value that looks like an option as --option=VALUE"
        raise InvalidInput(f"{sentence} (see {self.prog} --help)")

    def _values(self, argv: Sequence[str]) -> dict[str, Any]:
        values, rest = self.parse_known_intermixed_args([_protected(token) for token in argv])
        for token in sorted(rest, key=lambda token: not token.startswith("--")):
            self._refuse(token.strip())
        return vars(values)

    def _refuse(self, token: str) -> NoReturn:
        if not token.startswith("-"):
            raise InvalidInput(f"unexpected argument {token!r}; values belong to options, see {self.prog} --help")
        name = token.partition("=")[0]
        raise InvalidInput(f"unknown option {name!r}; {_suggestion(name, self._flags())}")

    def _flags(self) -> list[str]:
        return [flag for action in self._actions for flag in action.option_strings if flag.startswith("--")]

    def _configured(self) -> dict[str, Any]:
        keys = {flag.removeprefix("--") for flag in self._flags()} - {"help", "config"}
        keys |= {action.dest for action in self._actions if not action.option_strings}
        tokens: list[str] = []
        for key, value in self.config.items():
            name = key.replace("_", "-")
            if name not in keys:
                raise InvalidInput(f"unknown key {key!r} in {self.config_name}; {_suggestion(name, keys)}")
            tokens += self._tokens(name, value)
        try:
            return self._values(tokens)
        except InvalidInput as error:
            raise InvalidInput(f"{self.config_name}: {error}") from error

    def _tokens(self, name: str, value: Any) -> list[str]:
        values = value if isinstance(value, list) else [value]
        if not all(isinstance(item, (bool, int, float, str)) for item in values):
            raise InvalidInput(f"the value of {name!r} in {self.config_name} must be a number, a text or a list")
        flag = f"--{name}"
        action = next((action for action in self._actions if flag in action.option_strings), None)
        if action is None:
            return [str(item) for item in values]
        if action.nargs == 0:
            return [flag] * self._times(name, value)
        if isinstance(action.nargs, (int, str)):
            return [flag, *map(str, values)]
        return [f"{flag}={item}" for item in values]

    def _times(self, name: str, value: Any) -> int:
        if isinstance(value, bool) or (name == "verbose" and isinstance(value, int)):
            return int(value)
        raise InvalidInput(f"the value of {name!r} in {self.config_name} must be true or false, not {value!r}")


def number(text: str) -> Number:
    """Read a real number, also one beyond the range of doubles."""
    try:
        value = float(text)
        wide = np.longdouble(text.strip()) if value == 0 or np.isinf(value) else None
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text.strip()!r} is not a number") from None
    return value if wide is None or wide == value else wide


def whole(text: str) -> int:
    """Read an integer."""
    try:
        return int(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text.strip()!r} is not a whole number") from None


def word(text: str) -> str:
    """Read a text as it was typed."""
    return text[1:] if text.startswith(" -") else text


def add_common(parser: Parser, *, config: bool = True) -> None:
    """Add the options that every command takes."""
    group = parser.add_argument_group("output")
    group.add_argument("--json", action="store_true", help="print the result as one JSON object")
    group.add_argument("--quiet", action="store_true", help="print nothing but errors (and the JSON object)")
    group.add_argument(
        "-v", "--verbose", action="count", help="one line a branch on standard error; -vv for details"
    )
    group.add_argument("--debug", action="store_true", help="show the traceback of an error")
    if config:
        group.add_argument(
            "--config", type=word, metavar="FILE", help="TOML file whose keys are these options' names"
        )


def add_coupling_range(parser: Parser) -> None:
    """Add ``--coupling LOW HIGH`` and ``--relative LOW HIGH``."""
    group = parser.add_mutually_exclusive_group()
    group.add_argument("--coupling", nargs=2, type=number, metavar=("LOW", "HIGH"), help="range of couplings kappa")
    group.add_argument(
        "--relative",
        nargs=2,
        type=number,
        metavar=("LOW", "HIGH"),
        help="the same in units of the smallest positive critical coupling (default: 0.5 3)",
    )


def add_coupling(parser: Parser) -> None:
    """Add ``--coupling K`` and ``--relative K``."""
    group = parser.add_mutually_exclusive_group()
    group.add_argument("--coupling", type=number, metavar="K", help="the coupling kappa")
    group.add_argument(
        "--relative", type=number, metavar="K", help="the same in units of the smallest positive critical one"
    )


def add_force(parser: Parser) -> None:
    """Add ``--force``."""
    parser.add_argument("--force", action="store_true", help="replace existing files")


def check_targets(files: Iterable[str], figures: Iterable[str], force: bool) -> None:
    """Check before computing that every file could be written and that none is named twice.

    Raises
    ------
    InvalidInput
        Otherwise.
    """
    from ..export import check_writable
    from ..plotting import check_figure

    seen: set[Path] = set()
    for targets in (
        *(check_writable(name, force) for name in files),
        *((check_figure(name, force),) for name in figures),
    ):
        for target in targets:
            if target.resolve() in seen:
                raise InvalidInput(f"{target} would be written twice; give every file its own name")
            seen.add(target.resolve())


def resolved_configuration(settings: argparse.Namespace) -> dict[str, Any]:
    """Return the settings that were in force, for the record."""
    left_out = {"config", "quiet", "verbose", "json"}
    return {
        key.removeprefix("potential ").replace("_", "-"): value
        for key, value in vars(settings).items()
        if key not in left_out and value is not None
    }


def _protected(token: str) -> str:
    """Hide the minus of a value behind a space, since argparse takes it for an option."""
    is_option = _OPTION.fullmatch(token) and token.lower() not in _NUMBER_WORDS
    return f" {token}" if token.startswith("-") and token not in ("-", "--") and not is_option else token


def _suggestion(name: str, known: Iterable[str]) -> str:
    near = difflib.get_close_matches(name, sorted(known), n=1)
    return f"did you mean {near[0]!r}?" if near else f"known: {', '.join(sorted(known))}"


def _read_config(argv: Sequence[str]) -> tuple[str, Mapping[str, Any]]:
    finder = argparse.ArgumentParser(add_help=False, allow_abbrev=False, exit_on_error=False)
    finder.add_argument("--config", type=word)
    try:
        name = finder.parse_known_args([_protected(token) for token in argv])[0].config
    except argparse.ArgumentError:
        # The command's own parser says what is wrong.
        name = None
    if name is None:
        return "", {}
    try:
        return name, tomllib.loads(Path(name).read_text(encoding="utf-8"))
    except OSError as error:
        raise InvalidInput(f"the configuration {name} cannot be read: {error.strerror}") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InvalidInput(f"the configuration {name} is not valid TOML: {error}") from error
