"""Arguments that several calls have in common, refused in one sentence where they are not what they should be."""

from meanfield import InvalidInput


def require_depth(depth: int) -> None:
    """Refuse a negative depth."""
    if depth < 0:
        raise InvalidInput(
            f"depth must be a whole number, 0 or more, not {depth!r}; depth=2 follows secondary branches"
        )


def require_on_failure(on_failure: str) -> None:
    """Refuse what says neither that a failure is to be raised nor that what there is is to be returned."""
    if on_failure not in ("raise", "return"):
        raise InvalidInput(f"on_failure must be 'raise' or 'return', not {on_failure!r}")
