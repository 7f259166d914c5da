r"""The factor exp(-V/D) of a confinement with a kink along a parameter, with its derivative, by interpolation.

Its mass and its moments over that, :math:`e^{L} n_k`, are smooth functions of a parameter p such as the noise or a
strength. On intervals short enough Chebyshev polynomials of a few degrees give them to rounding, and with them

.. math:: \partial_p (e^{L} n_k) = e^{L} (n_k \partial_p L + \partial_p n_k) .

As many moments take a thousand times as long to integrate as to interpolate.
"""

import functools
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.polynomial import chebyshev

from meanfield import Equation, InvalidInput, NotResolved, Number

from .bases import EPS, Boltzmann, Floats
from .boltzmann import MOST_MOMENTS, boltzmann_factor, boltzmann_factors

# Points of an interval, and the last coefficients that are rounding, up to this share of the largest.
POINTS, LAST, SMALL = 24, 6, 32.0 * EPS
# Intervals to begin with have this length in units of the parameter, and are halved so often at most.
LENGTH, HALVINGS = 0.5, 8


class FactorAlong:
    """The factor along a parameter.

    Parameters
    ----------
    problem_at
        Returns the equation at a value of the parameter, which may be refused.
    name
        The parameter.
    unit
        A change of the parameter by which the factor changes by something of its own size.
    """

    def __init__(self, problem_at: Callable[[Number], Equation], name: str, unit: float) -> None:
        self._problem_at, self._name, self._unit = problem_at, name, unit
        self._pieces: dict[tuple[int, int, int], _Piece | None] = {}
        self._at = functools.lru_cache(maxsize=32)(self._evaluated)

    def at(self, value: float, symmetry: int) -> Boltzmann:
        """Return the factor for densities of a rotation symmetry, angles from 0, with its derivative.

        Raises
        ------
        InvalidInput
            If the value is not admissible.
        NotResolved
            If the factor cannot be integrated, or depends on the parameter in no smooth way.
        """
        return self._at(float(value), symmetry)

    def _evaluated(self, value: float, symmetry: int) -> Boltzmann:
        for halved in range(HALVINGS):
            length = LENGTH * self._unit / 2**halved
            number = int(np.floor(value / length))
            key = symmetry, halved, number
            if key not in self._pieces:
                self._pieces[key] = self._piece(number * length, length, symmetry)
            piece = self._pieces[key]
            if piece is not None:
                return piece.at(value)
        # What is wrong at the value itself is said there.
        boltzmann_factor(self._problem_at(value), symmetry, MOST_MOMENTS)
        raise NotResolved(
            f"near {self._name} = {value:.12g} the moments of exp(-V/D) change too fast with it, as where a kink "
            "of the confinement moves; vary the noise, a weight or the strength, or take a smooth confinement, of "
            "neurons --activation tanh or gelu"
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
