"""Checks of the arguments that several calls have in common."""

from meanfield import InvalidInput


def require_depth(depth: int) -> None:
    """Refuse a negative depth."""
    if depth < 0:
        raise InvalidInput(
            f"depth must be a whole number, 0 or more, not {depth!r}; depth=2 follows secondary branches"
        )


def require_on_failure(on_failure: str) -> None:
    """Refuse a value of ``on_failure`` other than "raise" and "return"."""
    if on_failure not in ("raise", "return"):
        raise InvalidInput(f"on_failure must be 'raise' or 'return', not {on_failure!r}")
