"""The parser of the commands, the options that several of them take, and the check of targets."""

import argparse
import re
import shlex
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NoReturn

from ..errors import InvalidInput, did_you_mean
from ..process import write_result
from .configuration import read_configuration, typed
from .readers import number, word

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
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        # Groups are listed in the order of their creation; an empty one is not shown.
        self.potential_group = self.add_argument_group("parameters of the potential")
        self.argv = list(argv)
        # What to do instead of giving an option more values than it takes, where there is a better call.
        self.surplus: dict[str, str] = {}
        self.config_name, self.config = _read_config(self.argv)

    @property
    def command_line(self) -> str:
        """The command as it could be typed again."""
        return shlex.join([*self.prog.split(), *self.argv])

    def settings(self) -> argparse.Namespace:
        """Return the values of all options: command line over configuration file over defaults.

        Of options that exclude each other, those on the command line put those in the file out of force.

        Raises
        ------
        InvalidInput
            If an option or key is unknown or a value does not fit.
        """
        defaults = self._take_defaults()
        given = self._values(self.argv)
        configured = self._configured()
        for group in self._mutually_exclusive_groups:
            members = {action.dest for action in group._group_actions}
            if members & given.keys():
                configured = {key: value for key, value in configured.items() if key not in members}
        return argparse.Namespace(**(defaults | configured | given))

    def print_help(self, file: Any = None) -> None:
        """Write the help to standard output, or raise an error if that fails, where argparse is silent."""
        write_result(self.format_help())

    def error(self, message: str) -> NoReturn:
        """Raise InvalidInput with the message as a sentence."""
        sentence = message.removeprefix("argument ").replace(
            "not allowed with argument", "cannot be given together with"
        )
        if "expected" in sentence:
            sentence += "; write a value that looks like an option as --option=VALUE"
        raise InvalidInput(f"{sentence} (see {self.prog} --help)")

    def _take_defaults(self) -> dict[str, Any]:
        """Return the defaults and suppress them, so that parsing yields what is given and nothing else."""
        defaults = {}
        for action in self._actions:
            if action.default is not argparse.SUPPRESS:
                defaults[action.dest] = action.default
                action.default = argparse.SUPPRESS
        return defaults

    def _values(self, argv: Sequence[str]) -> dict[str, Any]:
        values, rest = self.parse_known_intermixed_args([_protected(token) for token in argv])
        for token in sorted(rest, key=lambda token: not token.startswith("--")):
            self._refuse(token)
        return vars(values)

    def _advice(self, value: str) -> str:
        """Return what to do instead of giving an option a further value, the empty text if nothing is known."""
        option = ""
        for place, token in enumerate(self.argv):
            option = token if token.startswith("--") else option
            # The first value is the option's own.
            if token == value and option in self.surplus and self.argv[place - 1] != option:
                return self.surplus[option]
        return ""

    def _refuse(self, token: str) -> NoReturn:
        if not token.startswith("-"):
            value = token.strip()
            advice = self._advice(value) or f"values belong to options, see {self.prog} --help"
            raise InvalidInput(f"unexpected argument {value!r}; {advice}")
        name = token.partition("=")[0]
        flags = [flag for action in self._actions for flag in action.option_strings if flag.startswith("--")]
        hint = did_you_mean(name, flags).strip() or f"known: {', '.join(sorted(flags))}"
        raise InvalidInput(f"unknown option {name!r}; {hint}")

    def _configured(self) -> dict[str, Any]:
        arguments = typed(self.config_name, self.config, self._actions)
        try:
            return self._values(arguments)
        except InvalidInput as error:
            raise InvalidInput(f"{self.config_name}: {error}") from error


def add_common(parser: Parser, *, quiet: str | None = None, verbose: str | None = None) -> None:
    """Add the options about output and ``--config``.

    Parameters
    ----------
    quiet
        What ``--quiet`` leaves out, in words. None for a command that prints its result and nothing else: there
        is no such option then.
    verbose
        What ``--verbose`` adds on standard error, in words, or None. The two exclude each other.
    """
    group = parser.add_argument_group("output")
    group.add_argument("--json", action="store_true", help="print the result as one JSON object")
    # Argparse cannot format an exclusive group without members.
    loudness = group.add_mutually_exclusive_group() if verbose is not None else group
    if quiet is not None:
        loudness.add_argument("--quiet", action="store_true", help=f"leave out {quiet}")
    if verbose is not None:
        loudness.add_argument("-v", "--verbose", action="store_true", help=f"write {verbose} to standard error")
    group.add_argument("--debug", action="store_true", help="show the traceback of an error")
    group.add_argument("--config", type=word, metavar="FILE", help="TOML file whose keys are these options' names")


def add_files(parser: Parser, formats: str, metavar: str = "FILE") -> None:
    """Add ``--to``, which may be repeated, and ``--force``."""
    parser.add_argument(
        "--to", action="append", default=[], type=word, metavar=metavar, help=f"write {formats}; repeatable"
    )
    add_force(parser)


def add_figure(parser: Parser, option: str, what: str) -> None:
    """Add an option for one figure, described by ``what``."""
    parser.add_argument(option, type=word, metavar="FIGURE", help=f"draw {what}: .png, .pdf or .svg")


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


def check_targets(
    files: Iterable[str],
    figures: Iterable[str],
    force: bool,
    check: Callable[[str, bool], tuple[Path, ...]] | None = None,
) -> None:
    """Check before computing that every file could be written and that none is named twice.

    Parameters
    ----------
    check
        Checks the files of a record, and returns them; that of diagrams by default.

    Raises
    ------
    InvalidInput
        Otherwise.
    """
    from ..export import check_writable
    from ..plotting import check_figure

    seen: set[Path] = set()
    for targets in (
        *((check or check_writable)(name, force) for name in files),
        *((check_figure(name, force),) for name in figures),
    ):
        for target in targets:
            if target.resolve() in seen:
                raise InvalidInput(f"{target} would be written twice; give every file its own name")
            seen.add(target.resolve())


def resolved_configuration(settings: argparse.Namespace) -> dict[str, Any]:
    """Return the settings in force by option name, for the provenance of a record."""
    left_out = {"config", "debug", "quiet", "verbose", "json"}
    return {
        key.removeprefix("potential ").replace("_", "-"): value
        for key, value in vars(settings).items()
        if key not in left_out and value is not None
    }


def _protected(token: str) -> str:
    """Return an argument, a negative value behind a space, since argparse takes its minus for an option."""
    is_option = _OPTION.fullmatch(token) and token.lower() not in _NUMBER_WORDS
    return f" {token}" if token.startswith("-") and token not in ("-", "--") and not is_option else token


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
    return name, read_configuration(name)
