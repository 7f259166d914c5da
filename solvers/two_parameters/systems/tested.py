"""Functions of a point of a followed curve that vanish at organising points."""

from collections.abc import Callable, Hashable
from dataclasses import dataclass

from ...branches.continuation import Point

# Numbers that vanish where a direction is neutral, by the state and the class or degree of the direction.
Margins = dict[tuple[int, Hashable], float]
# Functions of a point that vanish at organising points, by the type of the point and what is looked at.
Tests = dict[tuple[str, Hashable], Callable[[Point], float]]
# The function that vanishes where the growth rate zero is a double one.
DOUBLE_RATE = ("Bogdanov-Takens", None)


@dataclass(frozen=True)
class Blurred:
    """A function of points that is known up to an error of its own; ``known`` returns both."""

    known: Callable[[Point], tuple[float, float]]

    def __call__(self, point: Point) -> float:
        """Return the value."""
        return self.known(point)[0]

    def error(self, point: Point) -> float:
        """Return the error."""
        return self.known(point)[1]
