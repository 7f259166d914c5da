"""Functions that are called with the progress of a computation."""

from collections.abc import Callable

# Takes what is done, the whole (None where it is not known) and what is being worked on.
Watch = Callable[[float, float | None, str], None]


def unwatched(done: float, total: float | None, label: str) -> None:
    """Ignore the progress of a computation."""
