"""Recorded times, and the equal steps between them by which each is reached exactly."""

import itertools
import math
import operator
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from meanfield import InvalidInput
from meanfield.arguments import shown

from ..bases.limits import MOST_STEPS, MOST_TIMES

DEFAULT_RECORDS = 100
# A quotient this close to a whole number is one, such as 1.1/0.1.
QUOTIENT_ROUNDING = 1e-9


@dataclass(frozen=True)
class Timetable:
    """Recorded times and the number of equal steps taken to each from the one before, or from 0.

    Attributes
    ----------
    times : tuple of T floats
        Increasing; the last is the end.
    counts : tuple of T ints
        Steps in the interval that ends at each time; 0 for time 0.
    lengths : tuple of T floats
        Lengths of these steps.
    """

    times: tuple[float, ...]
    counts: tuple[int, ...]
    lengths: tuple[float, ...]

    @property
    def steps(self) -> int:
        """Total number of steps."""
        return sum(self.counts)

    @property
    def largest_step(self) -> float:
        """The longest step."""
        return max(self.lengths)

    def steps_from(self, done: int) -> Iterator[tuple[int, int, float]]:
        """Yield for each step the index of the next record, the number of steps remaining to it, and its length."""
        for record, before in enumerate(itertools.accumulate(self.counts, initial=0)):
            if record == len(self.counts):
                return
            for number in range(max(before, done), before + self.counts[record]):
                yield record, before + self.counts[record] - number - 1, self.lengths[record]


def timetable(until: float, step: float, times: int | ArrayLike | None = None) -> Timetable:
    """Return the recorded times from 0 to the end, with the steps between them.

    Parameters
    ----------
    until
        The end, positive.
    step
        Steps are at most this long: every interval between recorded times is divided into equal steps.
    times
        Times to be recorded, increasing, from 0 to the end, which is added if it is missing, or a number of equal
        intervals; by default 0 and about a hundred multiples of the step.

    Raises
    ------
    InvalidInput
        If a time or the step is not a positive finite number, the times do not increase or exceed the end, or the
        steps are too many.
    """
    until, step = positive(until, "until", "until=3.0"), positive(step, "step", "step=0.01")
    if until / step > MOST_STEPS:
        raise InvalidInput(
            f"{until / step:.3g} steps of {step:g} to time {until:g} are more than {MOST_STEPS:g}; use longer ones"
        )
    if times is None:
        count = _count(until, step)
        numbers = [*range(0, count, math.ceil(count / DEFAULT_RECORDS)), count]
        counts = (0, *(after - before for before, after in itertools.pairwise(numbers)))
        lengths = tuple(until / count if steps else 0.0 for steps in counts)
        return Timetable(tuple(until * (number / count) for number in numbers), counts, lengths)
    asked = _asked(until, times)
    spans = [after - before for before, after in itertools.pairwise([0.0, *asked])]
    counts = tuple(_count(span, step) if span > 0.0 else 0 for span in spans)
    return Timetable(tuple(asked), counts, tuple(span / max(n, 1) for span, n in zip(spans, counts, strict=True)))


def _whole(value: object) -> int | None:
    try:
        return operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        return None


def _count(length: float, step: float) -> int:
    return max(1, math.ceil(length / step * (1.0 - QUOTIENT_ROUNDING)))


def require_intervals(number: int) -> None:
    """Refuse a number of intervals between recorded times that is too small or too large."""
    if not 1 <= number <= MOST_TIMES:
        raise InvalidInput(f"the number of intervals must be from 1 to {MOST_TIMES}, not {shown(number)}")


def positive(value: float, name: str, example: str) -> float:
    """Return a time, refusing one that is not positive and finite."""
    if not 0.0 < value < math.inf:
        raise InvalidInput(f"{name} must be a positive finite number, not {value!r}; try {example}")
    return float(value)


def _asked(until: float, times: int | ArrayLike) -> Sequence[float]:
    intervals = _whole(times)
    if intervals is not None:
        require_intervals(intervals)
        return [until * (number / intervals) for number in range(intervals + 1)]
    asked = np.atleast_1d(np.asarray(times, dtype=float))
    if asked.ndim != 1 or asked.size == 0:
        raise InvalidInput("times must be a list of finite numbers, at least one; try times=[0.0, 1.0, 2.0]")
    if np.any(np.diff(asked) <= 0.0):
        raise InvalidInput("times must increase from each to the next; sort them and leave out repetitions")
    if asked[0] < 0.0 or asked[-1] > until:
        raise InvalidInput(
            f"times must lie from 0 to the end {until:g}, not from {asked[0]:g} to {asked[-1]:g}; "
            "choose a later end or fewer times"
        )
    values: list[float] = asked.tolist()
    return values if values[-1] == until else [*values, until]
