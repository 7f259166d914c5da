"""The errors a user can meet, each a single sentence.

A message names what was wrong, the offending value, what is admissible and the nearest right call.
The command line prints it on one line and maps the class to its exit code.
"""

import difflib
from collections.abc import Iterable


class MeanfieldError(Exception):
    """Any error whose message is meant for the user: a text of one line, whatever values are printed in it."""

    exit_code = 1

    def __init__(self, message: str = "") -> None:
        super().__init__(" ".join(message.split("\n")) if isinstance(message, str) else message)


class InvalidInput(MeanfieldError, ValueError):
    """The caller asked for something inadmissible."""

    exit_code = 2


class ComputationFailed(MeanfieldError, RuntimeError):
    """The request was admissible, but the computation did not succeed.

    Attributes
    ----------
    partial
        The record of what was computed before, marked as partial; None if nothing was.
    """

    partial: object = None


class NotResolved(ComputationFailed):
    """A state needs more modes than are allowed; the message names the number it needs."""


def did_you_mean(name: str, known: Iterable[str], most: int = 1) -> str:
    """Return ``did you mean NEAREST? `` for an unknown name; empty if no known name is near.

    Parameters
    ----------
    known
        The admissible names. The name itself may be among them, known but wrong where it stands; it is never
        suggested. Leading dashes do not count, since all options share them.
    most
        How many names are suggested at the most.
    """
    others = {other.lstrip("-"): other for other in known if other != name}
    bare = name.lstrip("-")
    spellings = (difflib.get_close_matches(spelling, others, n=most) for spelling in (bare, bare.lower()))
    near = [others[match] for match in next(filter(None, spellings), [])]
    return f"did you mean {' or '.join(near)}? " if near else ""


def with_article(noun: str) -> str:
    """Return a noun after the indefinite article: "a trajectory", "an ensemble"."""
    return f"{'an' if noun[:1].lower() in 'aeiou' else 'a'} {noun}"
