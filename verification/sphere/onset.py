r"""The first points of a zonal branch that leaves the uniform state, and their Taylor coefficients.

The amplitude is :math:`p = \langle P_l\rangle`. With odd l :math:`\kappa/\kappa_l` is analytic in :math:`p^2`; with
even l it is analytic in p through 0, and the two sides of the branch are used together.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np

from meanfield import Branch, Diagram, Equation, State, critical_couplings

from ..claims import Evidence, Undecided, missing
from ..measures import LOCATION, MOMENT, RESIDUAL, Floats, Integers, polynomial_at_zero, spaced
from ..tools import Tools
from .measures import numbers

# Half the relative width of the diagram, the second where the points of the first are too far apart. The points
# used have couplings within a share of it, and a density that differs from uniform in mean square by sizes between
# these; the smaller one for even and odd degrees.
WIDTHS, NEAR = (0.06, 0.01), 0.8
SMALLEST, LARGEST = (0.005, 0.03), 0.3
POINTS = 7


@dataclass(frozen=True)
class Onset:
    """Points near the birth of the zonal branch of a degree, nearest first: p, kappa/kappa_l, gaps and states."""

    degree: int
    number: float
    p: Floats
    ratio: Floats
    gap: Floats
    states: tuple[State, ...]

    @property
    def even(self) -> bool:
        """Whether the two sides of the branch are different states."""
        return self.degree % 2 == 0

    @property
    def x(self) -> Floats:
        """The variable in which the branch is analytic: p or its square."""
        return self.p if self.even else self.p**2

    @property
    def noise(self) -> Floats:
        """Error of kappa/kappa_l behind the residual of the states."""
        return np.asarray(RESIDUAL / (np.sqrt(self.number) * np.abs(self.p)))


class BranchMissing(Undecided):
    """Raised if a diagram has no zonal branch of the degree asked for."""


def measured_at_onset(
    problem: Equation, degree: int, tools: Tools, measure: Callable[[Onset], Iterable[Evidence]]
) -> list[Evidence]:
    """Return measurements on the first points of a branch, closer to its birth if they are undecided.

    Raises
    ------
    Undecided
        If the points are too few or too far apart even so.
    """
    for width in WIDTHS:
        try:
            return list(measure(onset(problem, degree, tools, width)))
        except BranchMissing as absent:
            return [missing(str(absent))]
        except Undecided:
            if width == WIDTHS[-1]:
                raise
    return []


def onset(problem: Equation, degree: int, tools: Tools, width: float = WIDTHS[0]) -> Onset:
    """Return the points of the zonal branch of a degree near its birth.

    Raises
    ------
    BranchMissing
        If the diagram does not have it, or only one of its sides if the degree is even.
    """
    critical = float(critical_couplings(problem, degree)[degree])
    diagram = tools.diagram(problem, ((1 - width) * critical, (1 + width) * critical), 1)
    number = float(numbers(problem.domain.dimension, degree)[degree])
    sides = [_usable(branch, degree, critical, number, width) for branch in born(diagram, critical)]
    found: list[tuple[int, int, float]] = []
    for index, points in zip(_indices(diagram, critical), sides, strict=True):
        branch = diagram.branches[index]
        found += [(index, int(point), float(branch.cosine[point, degree])) for point in points]
    signs = {np.sign(p) for _, _, p in found}
    if not found or (degree % 2 == 0 and len(signs) < 2):
        raise BranchMissing(
            f"the diagram near coupling {critical:.9g} has no complete zonal branch of degree {degree}"
        )
    found.sort(key=lambda item: abs(item[2]))
    states = tuple(diagram.state(index, point) for index, point, _ in found)
    return Onset(
        degree,
        number,
        np.array([p for _, _, p in found]),
        np.array([state.coupling for state in states]) / critical,
        np.array([state.free_energy_gap for state in states]),
        states,
    )


def born(diagram: Diagram, critical: float) -> list[Branch]:
    """Return the zonal branches born on the uniform one at a coupling."""
    return [diagram.branches[index] for index in _indices(diagram, critical)]


def _indices(diagram: Diagram, critical: float) -> list[int]:
    return [index for index in children(diagram, critical) if diagram.branches[index].moments.has_axis]


def children(diagram: Diagram, critical: float) -> list[int]:
    """Return the indices of the branches born on the uniform one at a coupling."""
    found = []
    for index, branch in enumerate(diagram.branches):
        if branch.symmetry == 0 or branch.parent is None:
            continue
        birth = diagram.special_points[branch.parent]
        if birth.branch == 0 and abs(float(birth.coupling) - critical) <= 1e3 * LOCATION * abs(critical):
            found.append(index)
    return found


def _usable(branch: Branch, degree: int, critical: float, number: float, width: float) -> Integers:
    """Return the indices of points before the amplitude first falls, near the birth and not too near."""
    if degree >= branch.cosine.shape[1]:
        return np.zeros(0, dtype=np.int64)
    size = np.sqrt(number) * np.abs(branch.cosine[:, degree])
    growing = np.concatenate([[True], np.diff(size) > 0])
    end = growing.size if growing.all() else int(growing.argmin())
    near = np.abs(branch.coupling[:end] / critical - 1) <= NEAR * width
    usable = np.flatnonzero(near & (size[:end] >= SMALLEST[degree % 2]) & (size[:end] <= LARGEST))
    return np.asarray(usable[spaced(usable.size, POINTS)], dtype=np.int64)


def slope_of(start: Onset) -> tuple[float, float]:
    """Return the limit of (kappa/kappa_l - 1)/x and an error estimate."""
    return polynomial_at_zero(start.x, (start.ratio - 1) / start.x, start.noise / np.abs(start.x), 0)


def gap_of(start: Onset) -> tuple[float, float]:
    """Return the limit of (F - F_0)/(D p^2 x) and an error estimate."""
    size = start.p**2 * start.x
    return polynomial_at_zero(start.x, start.gap / size, MOMENT / np.abs(size), 0)


def moment_of(start: Onset, degree: int) -> tuple[float, float]:
    """Return the limit of p_k / p_l^2, k = degree, and an error estimate."""
    moments = np.array([state.cosine[degree] if degree < state.cosine.size else 0.0 for state in start.states])
    return polynomial_at_zero(start.x, moments / start.p**2, RESIDUAL / start.p**2, 0)
