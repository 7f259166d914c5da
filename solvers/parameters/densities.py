"""Symmetry and perturbations of densities along a parameter: those of the problem at its value.

Every state along a parameter is one of the problem there, in the coupling. Blocks, counts and names are asked of it
as that, in the frozen equation; so are the branches born at it, which are then lifted onto the path.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from ..bases import Floats, Integers
from ..branches.arrivals import Arrival
from ..branches.continuation import Point
from ..branches.detection import Event
from ..branches.junctions import Departure
from ..equations.counts import Counts
from ..equations.equation import StationaryEquation
from ..equations.geometry import Birth, BlockMatrix, Densities, GrowthMatrix
from ..root_finding.newton import NEUTRAL

if TYPE_CHECKING:
    from .equation import ParameterEquation


# Beside a value at which a confinement has an axis states turn nearly freely, up to such a distance in q; what is
# located there is known to no more.
FREE = 1e-3


class AttractedMatrix(BlockMatrix):
    """The matrix of a block without the lowest eigenvalues, those of repulsive modes.

    There are as many of these as such modes, whose number changes where a multiplier passes zero. The others go on
    there: they are one where a mode does not act, and so many modes act somewhere on the path.
    """

    found: BlockMatrix
    size: int

    @classmethod
    def of(cls, found: BlockMatrix, size: int) -> "AttractedMatrix":
        """Return that of a matrix with a number of eigenvalues at least."""
        matrix = cls(found.matrix, found.degrees, 0)
        matrix.found, matrix.size = found, size
        return matrix

    def eigenvalues(self) -> Floats:
        """Return the eigenvalues, ascending."""
        values = self.found.eigenvalues()[self.found.repulsive :]
        return np.sort(np.append(values, np.ones(max(0, self.size - values.size))))

    def vanishing(self, index: int) -> Floats | None:
        """Return the eigenvector of an eigenvalue near zero by its place; None if no mode acts so."""
        place = self.found.repulsive + index
        return self.found.vanishing(index) if place < self.degrees.size else None

    def below_and_above(self, width: float) -> tuple[int, int]:
        """Return how many eigenvalues are below minus a width, and how many below the width."""
        below, above = self.found.below_and_above(width)
        return below - self.found.repulsive, above - self.found.repulsive


class AlongParameter(Densities):
    """The densities of a basis along a path.

    Parameters
    ----------
    densities
        Those of the basis under a symmetric linearisation.
    """

    def __init__(self, densities: Densities) -> None:
        self._densities = densities

    def birth(self, departure: Departure) -> Birth:
        """Return a branch about to be followed under its name and symmetry."""
        return self._densities.birth(departure)

    def births_on_branch(self, event: Event) -> list[Birth]:
        """Return the branches born at a branch point of a non-uniform branch, one of each group orbit."""
        equation, crossing = event.point.equation, event.crossing
        there = replace(
            event,
            point=frozen(event.point),
            crossing=None if crossing is None else frozen(crossing),
            kernels=_frozen_kernels(event),
        )
        found = []
        for birth in self._densities.births_on_branch(there):
            departure = lifted(birth.departure, equation, event.origin.q)
            found += [] if departure is None else [birth._replace(departure=departure)]
        return found

    def turns_freely(self, point: Point, error: float) -> bool:
        """Return whether the confinement vanishes at a state whose q is known to an error."""
        path = cast("ParameterEquation", point.equation).path
        if any(abs(point.q - q) <= max(error, FREE) for q in path.freeing):
            return True
        return path.vanishes(path.value(point.q)) or path.reverses(point.q - error, point.q + error)

    def unstable_counts(self, point: Point, neutral: float = NEUTRAL) -> Counts:
        """Return the numbers of unstable directions, of those that keep the axis of the state and of the others."""
        return self._densities.unstable_counts(frozen(point), neutral)

    def strength(self, point: Point) -> float:
        """Return the relative coupling at a point."""
        return self._densities.strength(frozen(point))

    def is_counted(self, point: Point) -> bool:
        """Return whether rounding determines the unstable counts at a point where no direction is neutral."""
        return self._densities.is_counted(frozen(point))

    def growth_matrices(self, point: Point, degree: int | None = None) -> Sequence[GrowthMatrix]:
        """Return the linearised equation at a point by classes, where growth rates may be complex; else none."""
        return self._densities.growth_matrices(frozen(point), degree)

    def blocks_of(self, point: Point) -> Any:
        """Return all symmetry blocks at a point."""
        return self._densities.blocks_of(frozen(point))

    def block_matrix(self, point: Point, block: Any) -> BlockMatrix:
        """Return the matrix of one block at a point."""
        size = 2 * cast("ParameterEquation", point.equation).path.degrees.size
        return AttractedMatrix.of(self._densities.block_matrix(frozen(point), block), size)

    def copies(self, point: Point, one: Any, other: Any) -> bool:
        """Return whether two blocks have the same eigenvalues by symmetry."""
        return self._densities.copies(frozen(point), one, other)

    def rotations(self, point: Point, block: Any) -> int:
        """Return how many rotations of a state, which the matrix moves to one, are in a block."""
        return self._densities.rotations(frozen(point), block)

    def meeting(self, last: Point, point: Point) -> Arrival | None:
        """Return the arrival of a curve at a more symmetric one between two points, or None if it meets none.

        Where the confinement vanishes states are images of each other, and branches pass all the same.
        """
        path = cast("ParameterEquation", point.equation).path
        return None if path.reverses(last.q, point.q) else self._densities.meeting(last, point)

    def nearest_image(self, symmetric: Point, last: Point) -> Floats:
        """Return the image of a more symmetric state nearest to a branch that meets it, in its unknowns."""
        return self._densities.nearest_image(symmetric, last)

    def name_of(self, point: Point) -> str:
        """Return a state in words, such as "2-cluster"."""
        return self._densities.name_of(frozen(point))

    def moment_arrays(self, points: list[Point]) -> Floats:
        """Return moments and derivatives along the branch of points of one equation, (4, points, places)."""
        return self._densities.moment_arrays(points)


def frozen(point: Point) -> Point:
    """Return a point of a path as one in the coupling of the problem there, without a tangent."""
    equation = point.equation
    there = _frozen(equation, point.q)
    b = there.scales * (point.b / equation.scales)
    solution = replace(
        point.solution,
        b=b,
        q=there.q_at(point.coupling),
        tangent_b=np.zeros_like(b),
        tangent_q=0.0,
        negative=point.solution.negative + there.repulsive,
    )
    return Point(there, solution, point.arclength)


def _frozen(equation: StationaryEquation, q: float) -> StationaryEquation:
    """Return the equation in the coupling of the problem at q along a path."""
    return cast("ParameterEquation", equation).frozen(q)


def lifted(departure: Departure, equation: StationaryEquation, q: float) -> Departure | None:
    """Return a departure in the coupling as one along a path, at q; None if no mode acts there."""
    source = departure.equation
    target = equation.lifted(source)
    if target is None:
        return None
    b = _unknown(departure, target)
    direction = cast("ParameterEquation", target).direction_of(departure, b, q)
    size = float(np.linalg.norm(direction))
    step = departure.largest_step * size / float(np.linalg.norm(departure.direction))
    return replace(departure, equation=target, b=b, q=q, direction=direction / size, largest_step=step)


def _unknown(departure: Departure, target: StationaryEquation) -> Floats:
    """Return the unknowns of the state of a departure in another equation, which may have more modes."""
    if not np.any(departure.b):
        return np.zeros(target.basis.degrees.size)
    source = departure.equation
    moments = source.evaluate(departure.b, departure.q).gibbs.moments
    return target.unknown_with(*source.basis.expand(moments))


def _frozen_kernels(event: Event) -> tuple[tuple[Integers, Floats], ...]:
    """Return the kernels of an event in the unknowns of the frozen equation, as those of its blocks are."""
    if event.crossing is None:
        return event.kernels
    equation = event.crossing.equation
    there = _frozen(equation, event.crossing.q)
    return tuple((degrees, there.scales * (kernel / equation.scales)) for degrees, kernel in event.kernels)
