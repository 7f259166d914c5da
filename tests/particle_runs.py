"""What tests of particles do to runs: end them early, and compare them bit by bit."""

from collections.abc import Callable
from typing import Any

import numpy as np

RECORDED = ("cosine", "sine", "mean_vector", "moduli", "histogram", "positions")


def interrupted_at(call: int, function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function that does the same, but raises ``KeyboardInterrupt`` at one of its calls, counted from 1."""
    count = 0

    def interrupted(*arguments: Any) -> Any:
        nonlocal count
        count += 1
        if count == call:
            raise KeyboardInterrupt
        return function(*arguments)

    return interrupted


def same(one: Any, other: Any) -> bool:
    """Whether two ensembles have the same bits, unknown numbers included."""
    arrays = [(getattr(one, name), getattr(other, name)) for name in RECORDED]
    return all(first is second is None or np.array_equal(first, second, equal_nan=True) for first, second in arrays)
