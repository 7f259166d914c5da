"""Being told how far a computation is."""

from collections.abc import Callable

# Takes what is done, the whole (None where it is not known) and what is being worked on.
Watch = Callable[[float, float | None, str], None]


def unwatched(done: float, total: float | None, label: str) -> None:
    """Tell nobody."""
