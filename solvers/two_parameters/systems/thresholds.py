r"""Thresholds of the uniform state: places of the plane where a mode is critical, :math:`\lambda_n = 1`.

No state is unknown; the line is followed as any other, so that it may turn in either parameter.
"""

from collections.abc import Iterator, Sequence

import numpy as np

from meanfield import InvalidInput
from meanfield.theory import theory_of

from ...bases import EPS, Basis, Floats
from ...branches.continuation import End, Point
from ...equations.counts import Counts
from ...equations.equation import StationaryEquation
from ...execution.computed import computed_once
from ...root_finding.solution import Solution
from ..in_plane.plane import Plane
from ..in_plane.states import AtState, GradientState, WeightedBasis
from ..in_plane.unknowns import basis_of
from .extended import ExtendedEquation, Halving
from .recording import threshold_label
from .starts import Start, first_point, threshold_of
from .system import System
from .tested import Margins, Tests


class Threshold(System):
    """The condition that a mode is critical, at one point; ``place`` is that of the mode in the basis."""

    def __init__(self, states: tuple[AtState, ...], number: float, place: int) -> None:
        (state,) = states
        self._number, self._place = number, place
        super().__init__(states, np.array([1.0 - state.coefficients.attractions[place] / number]))

    @computed_once
    def derivatives(self) -> tuple[Floats, Floats]:
        """The derivatives of the residual in x, (1, 1), and in q, (1,)."""
        (state,) = self.states
        along_x, along_q = -state.coefficients.slopes[0][:, self._place] / self._number
        return np.array([[along_x]]), np.array([along_q])

    @property
    def normal(self) -> Floats:
        """The derivatives of lambda in x and q, (2,)."""
        return np.asarray(self.states[0].coefficients.slopes[0][:, self._place])


class ThresholdEquation(ExtendedEquation):
    """The condition that a mode of the uniform state is critical, with x the only unknown.

    Parameters
    ----------
    plane
        The two parameters.
    bases
        The basis of the uniform state.
    degree
        The critical degree.
    """

    kind = "threshold"
    # A mode that is critical beside others so strong has a multiplier that is rounding noise of theirs.
    strongest = 1.0 / EPS

    def __init__(self, plane: Plane, bases: tuple[Basis, ...], degree: int) -> None:
        super().__init__(plane, bases)
        self.scales = np.ones(1)
        self.degree = degree

    def at_states(self, b: Floats, q: float) -> tuple[AtState, ...]:
        """Return the stationary equation at the uniform state."""
        place, weighted = (float(b[-1]), q), WeightedBasis.of(self.basis)
        coefficients = self.plane.coefficients(*place, self.basis.degrees)
        return (GradientState(weighted, place, coefficients, np.zeros(self.basis.degrees.size)),)

    def _system(self, states: tuple[AtState, ...], b: Floats) -> System:
        number = float(self.plane.problem.domain.multiplicity(self.degree))
        return Threshold(states, number, int(np.searchsorted(self.basis.degrees, self.degree)))

    def label(self, names: Sequence[str]) -> str:
        """Return the name of the threshold."""
        return threshold_label(self.degree)

    @property
    def tests(self) -> Tests:
        """A function that vanishes where the branch of the mode turns."""
        return {("tricritical", None): self._excess}

    def margins(self, point: Point) -> Margins:
        """Return one minus lambda of the other modes."""
        (state,) = self.system(point.b, point.q).states
        margins = zip(self.plane.reference.tolist(), (1.0 - state.coefficients.strengths).tolist(), strict=True)
        return {(0, degree): margin for degree, margin in margins if degree != self.degree}

    def changed_states(self, before: tuple[Counts, ...], after: tuple[Counts, ...]) -> set[int]:
        """Return the uniform state: where two modes are critical its number of unstable directions may stay."""
        return {0}

    def _excess(self, point: Point) -> float:
        """Return a multiple of the curvature of the branch born at the threshold."""
        problem = self.plane.at(float(point.b[-1]), point.q)
        return theory_of(problem.domain).tricritical_excess(problem, self.degree)

    def arrival(self, last: Point, point: Point) -> int | None:
        """Return None: the curve is one of uniform states."""
        return None

    def halvings(self, point: Point) -> Iterator[Halving]:
        """Yield nothing: the curve is one of uniform states."""
        return iter(())

    def thirds(self) -> Iterator[Halving]:
        """Yield nothing: the curve is one of uniform states."""
        return iter(())

    def unturned(self, guess: Floats, b: Floats, moments: Floats) -> Floats:
        """Return the guess."""
        return guess

    def leaves(self, last: Solution, found: Solution) -> bool:
        """Return False: the curve is one of uniform states."""
        return False

    def transfer(self, b: Floats, to: StationaryEquation) -> Floats:
        """Return the unknown, which is the same in all bases."""
        return b

    def in_bases(self, bases: tuple[Basis, ...]) -> "ThresholdEquation":
        """Return the same condition with another basis."""
        return ThresholdEquation(self.plane, bases, self.degree)


def threshold_start(start: Start, plane: Plane) -> Point | End:
    """Return the first point of the threshold through a start."""
    degree = threshold_of(start)
    first, second = (start.problem.parameters[name] for name in plane.names)
    place = plane.coordinates(first, second)
    cosine = np.zeros(degree + 1)
    cosine[[0, degree]] = 1.0
    basis = basis_of(plane, cosine, place)
    equation = ThresholdEquation(plane, (basis,), degree)
    if not np.any(equation.system(np.array([place[0]]), place[1]).normal):
        names = " and ".join(plane.names)
        raise InvalidInput(
            f"the {threshold_label(degree)} is no curve in {names}: neither changes it; choose a "
            "parameter that does, or the coupling"
        )
    return first_point(equation, np.array([place[0]]), place[1])
