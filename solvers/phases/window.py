"""The window of a phase diagram: a parameter, its interval, and the range of couplings or relative couplings."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np
import numpy.typing as npt
from scipy.optimize import brentq

from meanfield import Curve, Equation, InvalidInput
from meanfield.equations import Interaction
from meanfield.potentials import LEAST_VALUE
from meanfield.records import RelativeHeights
from meanfield.theory import transition_coupling

from ..bases import EPS
from ..bases.confining import ConfiningField, axial_places
from ..branches.labels import own_name
from ..equations.significant import COMPARED_BY
from ..execution.arguments import require_parameter_range, require_range

Floats = npt.NDArray[np.float64]

# Curves are followed to so many times the largest coupling of the window, of those at so many values.
FAR, SAMPLES = 16.0, 9
# A section nearer to zero than this share of the distance between two is moved by as much.
OFF_ZERO = 0.1
# The distance of sections at the ends of the interval from these, as a share of it.
INSIDE_END = 1e-3
# The confinement vanishes where this share of its largest is left; a value beside that, in intervals. Signs are
# looked at for so many values, and a zero nearer to an end than this share of the interval is the end.
VANISHING, BESIDE, ZEROS, NEAR_END = 1e-12, 1e-9, 64, 1e-6
# The states that all others are born of, without a confinement and in one.
UNIFORM, PRIMARY = "uniform", "primary"


@dataclass(frozen=True)
class Window:
    """A window in a parameter and the coupling.

    Attributes
    ----------
    problem
        The equation, its coupling free.
    parameter, interval
        The first parameter and its range.
    relative
        Whether heights are couplings over the smallest positive critical one, or couplings.
    heights
        The range of heights.
    kinks
        Values of the parameter at which the smallest positive critical coupling passes from one mode to another.
    """

    problem: Equation
    parameter: str
    interval: tuple[float, float]
    relative: bool
    heights: tuple[float, float]
    kinks: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        if self.parameter == "coupling":
            known = ", ".join(self.problem.parameters)
            raise InvalidInput(f"a phase diagram has the coupling and a second parameter: one of {known}")
        require_parameter_range(self.interval, self.parameter)
        require_range(self.heights, "window")
        # What is not admissible at the ends is refused here, in the words of the parameter's owner.
        for value in self.interval:
            self.at(value)

    def at(self, value: float) -> Equation:
        """Return the equation at a value of the parameter, which it has at zero too."""
        return self.problem.keeping_parameter(self.parameter, float(value))

    def along(self, value: float) -> Equation:
        """Return the equation at one of many values of the parameter."""
        return self.prepared.keeping_parameter(self.parameter, float(value))

    def shown(self, problem: Equation) -> float:
        """Return the value of the parameter in an equation of the window, zero where it is the least number."""
        value = float(problem.parameters[self.parameter])
        return 0.0 if abs(value) <= LEAST_VALUE else value

    def critical(self, value: float) -> float | None:
        """Return the smallest positive critical coupling at a value of the parameter; None if there is none."""
        found = transition_coupling(self.along(value))
        return None if found is None else float(found)

    def unit(self, value: float) -> float:
        """Return the coupling of height 1.

        Raises
        ------
        InvalidInput
            If heights are relative and there is no positive critical coupling.
        """
        return self._relative_heights.unit(value) if self.relative else 1.0

    def couplings(self, value: float) -> tuple[float, float]:
        """Return the range of couplings at a value of the parameter."""
        unit = self.unit(value)
        return self.heights[0] * unit, self.heights[1] * unit

    @cached_property
    def farthest(self) -> float:
        """The coupling up to which curves are followed, which may leave the window and return."""
        found = map(self.critical, np.linspace(*self.interval, SAMPLES).tolist()) if self.relative else (1.0,)
        units = [unit for unit in found if unit is not None]
        return FAR * max(units, default=np.inf) * max(map(abs, self.heights))

    @cached_property
    def freeing(self) -> tuple[float, ...]:
        """The values of the parameter, not at the ends, at which states turn freely that cannot beside them.

        There the confinement vanishes and changes its sign, or has an axis that it has not beside.
        """
        problem, (low, high) = self.problem, self.interval
        if problem.confinement is None or problem.place_of(self.parameter)[0] != "confinement":
            return ()
        edge = NEAR_END * (high - low)
        axial = [] if self.zonal else axial_places(self._field, self.interval)
        found = sorted([*self._zero_fields, *axial])
        return tuple(value for value in found if low + edge < value < high - edge)

    @cached_property
    def zonal(self) -> bool:
        """Whether the confinement is a function of one angle all over the window."""
        return all(self.at(value).zonal for value in np.linspace(*self.interval, ZEROS).tolist())

    @property
    def _zero_fields(self) -> list[float]:
        """The values of the parameter at which the confinement vanishes and changes its sign."""
        low, high = self.interval
        values = np.linspace(low, high, ZEROS)
        forces = np.array([self._forces(value) for value in values.tolist()])
        largest = forces[np.argmax(np.abs(forces).max(axis=1))]

        def along(value: float) -> float:
            return float((self._forces(value) @ largest.conj()).real)

        signs = np.sign((forces @ largest.conj()).real)
        places = np.flatnonzero(signs)
        found = [
            float(brentq(along, float(values[one]), float(values[other]), xtol=EPS * (high - low), rtol=4 * EPS))
            for one, other in pairwise(places.tolist())
            if signs[one] != signs[other]
        ]
        # Of a factor it is zero itself.
        found = [0.0 if abs(value) <= 4 * EPS * (high - low) else value for value in found]
        most = float(np.abs(largest).max())
        return [value for value in found if np.abs(self._forces(value)).max() <= VANISHING * most]

    def vanishes(self, value: float) -> bool:
        """Return whether a confinement that changes with the parameter vanishes at a value, beside the ends."""
        problem = self.problem
        if problem.confinement is None or problem.place_of(self.parameter)[0] != "confinement":
            return False
        largest = max(float(np.abs(self._forces(end)).max()) for end in self.interval)
        return float(np.abs(self._forces(value)).max()) <= VANISHING * largest

    def _forces(self, value: float) -> npt.NDArray[np.complex128]:
        """Return the forces of the confinement at a value of the parameter, (n,), over the noise."""
        if not self.zonal:
            return np.asarray(self._field(value).coefficients.ravel(), dtype=complex)
        return np.asarray(Interaction(self.at(value)).phased_forces(COMPARED_BY))

    def _field(self, value: float) -> ConfiningField:
        """Return the first degrees of a confinement of two angles at a value of the parameter."""
        return ConfiningField(Interaction(self.at(value)).harmonic_forces(COMPARED_BY), zonal=False)

    def name_of(self, label: str) -> str:
        """Return the name in the label of a state; the uniform one is primary where the confinement vanishes."""
        own = own_name(label)
        return PRIMARY if own == UNIFORM and self.problem.confinement is not None else own

    def contains(self, value: float, coupling: float) -> bool:
        """Return whether a point is in the window."""
        if not self.interval[0] <= value <= self.interval[1]:
            return False
        low, high = self.couplings(value)
        return bool(low <= coupling <= high)

    def scaled(self, value: float, coupling: float) -> tuple[float, float]:
        """Return a point with the window as the unit square."""
        (low, high), (lowest, highest) = self.interval, self.heights
        return (value - low) / (high - low), (coupling / self.unit(value) - lowest) / (highest - lowest)

    def unscaled(self, x: float, y: float) -> tuple[float, float]:
        """Return the parameter and the height of a point of the unit square."""
        (low, high), (lowest, highest) = self.interval, self.heights
        return low + x * (high - low), lowest + y * (highest - lowest)

    def track(self, curve: Curve) -> Floats:
        """Return points on a curve, (n, 2), with the window as the unit square, finer than its own."""
        (low, high), (lowest, highest) = self.interval, self.heights
        track = self._relative_heights.track(curve) if self.relative else curve.track
        return np.asarray((track - [low, lowest]) / [high - low, highest - lowest])

    @cached_property
    def prepared(self) -> Equation:
        """The equation, prepared for many values of the parameter."""
        return self.problem.interpolated_in(self.parameter)

    @cached_property
    def _relative_heights(self) -> RelativeHeights:
        return RelativeHeights(self.problem, self.parameter, self.kinks)


def evenly(interval: tuple[float, float], count: int, avoided: Sequence[float] = (0.0,)) -> Sequence[float]:
    """Return the middles of so many equal parts of an interval, moved off zero or other values.

    Where a parameter vanishes a term of the equation does, and states are those of a larger symmetry.
    """
    low, high = interval
    width = (high - low) / count
    middles = low + width * (np.arange(count) + 0.5)
    for value in avoided:
        middles[np.abs(middles - value) < OFF_ZERO * width] = value + OFF_ZERO * width
    found: list[float] = middles.tolist()
    return found


def beside_ends(
    interval: tuple[float, float], count: int, avoided: Sequence[float] = (0.0,)
) -> tuple[float, float]:
    """Return the values beside the ends of an interval, farther inside from an end that is to be avoided.

    Parameters
    ----------
    interval
        The two ends.
    count
        The number of equal parts from whose length it follows how far.
    avoided
        Zero and other values.
    """
    low, high = interval
    length = high - low
    near, far = INSIDE_END * length, OFF_ZERO * length / count
    steps = [far if min(abs(end - value) for value in avoided) < far else near for end in interval]
    return low + steps[0], high - steps[1]
