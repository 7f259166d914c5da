"""Arguments that several calls have in common, refused in one sentence where they are not what they should be."""

from typing import Any

import numpy as np

from meanfield import InvalidInput


def require_depth(depth: Any) -> None:
    """Refuse a depth that is no whole number from zero on."""
    if isinstance(depth, bool) or not isinstance(depth, int | np.integer) or depth < 0:
        raise InvalidInput(
            f"depth must be a whole number, 0 or more, not {depth!r}; depth=2 follows secondary branches"
        )
