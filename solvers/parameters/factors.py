r"""The factor exp(-V/D) of a confinement with a kink along a parameter, with its derivative, by interpolation.

Its mass and its moments over that, :math:`e^{L} n_k`, are smooth functions of a parameter p such as the noise or a
strength. On intervals short enough Chebyshev polynomials of a few degrees give them to rounding, and with them

.. math:: \partial_p (e^{L} n_k) = e^{L} (n_k \partial_p L + \partial_p n_k) .

As many moments take a thousand times as long to integrate as to interpolate.
"""

import functools
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.polynomial import chebyshev

from meanfield import Equation, InvalidInput, NotResolved, Number

from ..bases import EPS, Boltzmann, Floats
from ..bases.boltzmann import MOST_MOMENTS, boltzmann_factor, boltzmann_factors
from ..domains import solvers_of
from ..equations.significant import confining_degree

# Points of an interval, and the last coefficients that are rounding, up to this share of the largest.
POINTS, LAST, SMALL = 24, 6, 32.0 * EPS
# Intervals to begin with have this length in units of the parameter, and are halved so often at most: until the
# field changes by no more than this in one, and then some times.
LENGTH, HALVINGS, LARGEST = 0.5, 40, 8.0
# How many intervals are tried at a value.
TRIED = 6
# A change of the parameter, in units, angles, and roundings, by which it is seen whether a confinement is linear.
CHANGE, ANGLES, ROUNDINGS = 1e-2, np.linspace(-np.pi, np.pi, 2**14 + 1), 64.0


def kinked_among(problems: Sequence[Equation]) -> Equation | None:
    """Return the first of some problems whose confinement has a kink that bases take by its factor; else None."""
    takes_kinks = solvers_of(problems[0]).geometry.takes_kinks
    return next((each for each in problems if takes_kinks and confining_degree(each) is None), None)


class FactorAlong:
    """The factor along a parameter.

    Parameters
    ----------
    problem_at
        Returns the equation at a value of the parameter, which may be refused.
    name
        The parameter.
    unit
        A length of the parameter, in which intervals are measured; they are as short as the factor asks for.
    """

    def __init__(self, problem_at: Callable[[Number], Equation], name: str, unit: float) -> None:
        self._problem_at, self._name, self._unit = problem_at, name, unit
        self._pieces: dict[tuple[int, int, int], _Piece | None] = {}
        # How often intervals were halved where the last one was found, beside which others are as long.
        self._halved = 0
        self._at = functools.lru_cache(maxsize=32)(self._evaluated)

    def at(self, value: float, symmetry: int) -> Boltzmann:
        """Return the factor for densities of a rotation symmetry, angles from 0, with its derivative.

        Raises
        ------
        InvalidInput
            If the value is not admissible.
        NotResolved
            If the factor cannot be integrated, or a kink may move with the parameter.
        """
        return self._at(float(value), symmetry)

    def _evaluated(self, value: float, symmetry: int) -> Boltzmann:
        tried = 0
        for halved in range(max(0, self._halved - 1), HALVINGS):
            length = LENGTH * self._unit / 2**halved
            number = int(np.floor(value / length))
            key = symmetry, halved, number
            if key not in self._pieces:
                if not self._changes_little(number * length, length):
                    continue
                self._require_kinks_at_rest(value)
                self._pieces[key] = self._piece(number * length, length, symmetry)
                tried += 1
            piece = self._pieces[key]
            if piece is not None:
                self._halved = halved
                return piece.at(value)
            if tried == TRIED:
                break
        # What is wrong at the value itself is said there.
        there = self._problem_at(value)
        if there.confinement is not None:
            boltzmann_factor(there, symmetry, MOST_MOMENTS)
        raise NotResolved(
            f"near {self._name} = {value:.12g} the moments of exp(-V/D) change too fast with it; let the interval "
            "end beside it"
        )

    def _field(self, value: float) -> Floats:
        """Return -V/D at some angles, zero where it is not finite.

        Raises
        ------
        InvalidInput
            If the value is not admissible.
        """
        problem = self._problem_at(value)
        confinement: Any = problem.confinement
        if confinement is None:
            return np.zeros_like(ANGLES)
        with np.errstate(all="ignore"):
            found = np.asarray(-confinement.values(ANGLES) / problem.positive_noise, dtype=float)
        return np.where(np.isfinite(found), found, 0.0)

    def _changes_little(self, low: float, length: float) -> bool:
        """Return whether the field changes so little over an interval that its factor may be interpolated there."""
        try:
            return bool(np.abs(self._field(low + length) - self._field(low)).max() <= LARGEST)
        except InvalidInput:
            # One end may not be admissible, as no noise, where the points between are.
            return False

    def _require_kinks_at_rest(self, value: float) -> None:
        """Refuse a parameter, other than the noise, in which the confinement is not linear beside a value.

        Beside values at which it ends that is not seen.
        """
        step = CHANGE * max(self._unit, abs(value))
        try:
            problems = [self._problem_at(value + share * step) for share in (-1.0, 0.0, 1.0)]
        except InvalidInput:
            return
        if len({problem.positive_noise for problem in problems}) > 1:
            return
        behind, here, ahead = (self._field(value + share * step) for share in (-1.0, 0.0, 1.0))
        size = max(float(np.abs(each).max()) for each in (behind, here, ahead))
        if np.abs(ahead + behind - 2.0 * here).max() > ROUNDINGS * EPS * size:
            raise NotResolved(
                f"{self._name} is not varied in a confinement with a kink that may move with it, as this is not "
                "linear in it; vary the noise, a weight or the strength, or take a smooth one, of neurons "
                "--activation tanh or gelu"
            )

    def _piece(self, low: float, length: float, symmetry: int) -> "_Piece | None":
        """Return the polynomials on an interval, None if their degree is too low or values are not admissible."""
        places = chebyshev.chebpts1(POINTS)
        try:
            problems = [self._problem_at(value) for value in (low + 0.5 * length * (1.0 + places)).tolist()]
            factors = boltzmann_factors(problems, symmetry, MOST_MOMENTS)
        except (InvalidInput, NotResolved):
            return None
        weak = all(factor.offset for factor in factors)
        beyond = np.array([factor.offset + factor.moments[0].real - 1.0 for factor in factors])
        rows = np.array([factor.moments for factor in factors]) / (1.0 + beyond)[:, None]
        rows[:, 0] = 0.0 if weak else 1.0
        logarithms = np.log1p(beyond) + np.array([factor.shift for factor in factors])
        transform = chebyshev.chebvander(places, POINTS - 1).T * (2.0 / POINTS)
        transform[0] *= 0.5
        moments, log_masses = transform @ rows, transform @ logarithms
        # Log mass counts by what the mass changes.
        sizes = np.abs(moments).max(), max(1.0, float(np.abs(log_masses).max()))
        tails = np.abs(moments[-LAST:]).max(), np.abs(log_masses[-LAST:]).max()
        smooth = all(tail <= SMALL * size for tail, size in zip(tails, sizes, strict=True))
        return _Piece(low, length, moments, log_masses, float(weak)) if smooth else None


class _Piece(NamedTuple):
    """Chebyshev coefficients of the moments over the mass, (points, cells + 1), and of log mass, on an interval."""

    low: float
    length: float
    moments: Any
    log_masses: Floats
    offset: float

    def at(self, value: float) -> Boltzmann:
        """Return the factor and its derivative."""
        place = 2.0 * (value - self.low) / self.length - 1.0
        ahead = chebyshev.chebvander(np.array([place]), POINTS - 1)[0]
        # T_j' = j U_(j-1), and U_j = 2 T_j + U_(j-2).
        second = ahead * 2.0
        second[0] = 1.0
        for degree in range(2, POINTS):
            second[degree] += second[degree - 2]
        slopes = np.zeros(POINTS)
        slopes[1:] = np.arange(1, POINTS) * second[:-1]
        slopes *= 2.0 / self.length
        moments, growth = ahead @ self.moments, float(slopes @ self.log_masses)
        change = slopes @ self.moments + growth * moments
        change[0] = growth
        return Boltzmann(moments, self.offset, float(ahead @ self.log_masses), change)
