"""Curves in units of the smallest positive critical coupling, which has kinks where the critical mode changes."""

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ..equations import Equation, at_uniform
from ..errors import InvalidInput
from ..theory import critical_modes, transition_coupling
from .curves import Curve, smooth

Floats = NDArray[np.float64]
# The critical coupling is known to this from a coupling and the relative one.
NEAR = 1e-12


@dataclass(frozen=True)
class RelativeHeights:
    """Couplings over the smallest positive critical one along a parameter.

    Attributes
    ----------
    problem
        The equation, its coupling free.
    parameter
        The parameter.
    kinks
        Values of the parameter at which the smallest positive critical coupling passes from one mode to another.
    """

    problem: Equation
    parameter: str
    kinks: tuple[float, ...] = ()
    _units: dict[float, float] = field(default_factory=dict, repr=False, compare=False)

    def unit(self, value: float) -> float:
        """Return the smallest positive critical coupling at a value of the parameter.

        Raises
        ------
        InvalidInput
            If there is none, or it is no double.
        """
        if value not in self._units:
            critical = transition_coupling(self._at(value))
            if critical is None:
                raise InvalidInput(
                    f"at {self.parameter} = {value:g} there is no positive critical coupling to be relative to; "
                    "give the window in couplings, such as --coupling 0 5 or coupling=(0.0, 5.0)"
                )
            if isinstance(critical, np.longdouble):
                raise InvalidInput(
                    f"at {self.parameter} = {value:g} the smallest positive critical coupling, {critical:.3g}, is "
                    f"out of the range of doubles; let the interval of {self.parameter} end before"
                )
            self._units[value] = float(critical)
        return self._units[value]

    def track(self, curve: Curve) -> Floats:
        """Return points on a curve, (n, 2), parameter and relative coupling, finer than its own.

        Where there is no positive critical coupling, which the curve has as a relative one that is nan, nan.
        """
        heights = curve.relative_coupling
        units = np.asarray(curve.coupling, dtype=float) / heights
        slopes = np.array(
            [
                self._slope(value, unit) if np.isfinite(unit) else np.nan
                for value, unit in zip(curve.first.tolist(), units.tolist(), strict=True)
            ]
        )
        # The derivative of kappa/kappa_c along the curve.
        rises = (curve.tangent[:, 1] - heights * slopes * curve.tangent[:, 0]) / units
        places, rates = np.column_stack([curve.first, heights]), np.column_stack([curve.tangent[:, 0], rises])
        return self._bent(curve, smooth(curve.arclength, places, rates))

    @cached_property
    def _prepared(self) -> Equation:
        return self.problem.interpolated_in(self.parameter)

    def _at(self, value: float) -> Equation:
        return self._prepared.keeping_parameter(self.parameter, float(value))

    def _slope(self, value: float, critical: float) -> float:
        """Return the derivative of the smallest positive critical coupling, given at a value of the parameter."""
        problem = self._at(value)
        near = critical_modes(problem, *(critical * (1.0 + side * NEAR) for side in (-1, 1)))
        if not near:
            return np.nan
        mode = near[0].modes[0]
        derivatives = at_uniform(problem.at(coupling=critical)).strength_derivatives(self.parameter, mode)
        return float(-critical * derivatives[mode])

    def _bent(self, curve: Curve, track: Floats) -> Floats:
        """Return a track whose kinks are where they belong."""
        kinks = np.array(self.kinks)
        first = curve.first
        across = np.any((first[:-1, np.newaxis] - kinks) * (first[1:, np.newaxis] - kinks) <= 0.0, axis=1)
        if not across.any():
            return track
        # The coupling itself is smooth there.
        exact = curve.track
        inside = np.append(np.repeat(across, (len(track) - 1) // across.size), False)
        bent = track.copy()
        bent[inside, 1] = [coupling / self.unit(value) for value, coupling in exact[inside].tolist()]
        for place, kink in sorted(
            ((p, k) for k in kinks.tolist() for p in _steps_over(bent[:, 0], k)), reverse=True
        ):
            (one, below), (other, above) = exact[place], exact[place + 1]
            share = (kink - one) / (other - one)
            corner = kink, (below + share * (above - below)) / self.unit(kink)
            bent = np.insert(bent, place + 1, corner, axis=0)
        return bent


def _steps_over(values: Floats, value: float) -> list[int]:
    """Return the places of the values that lie, with the next one, on two sides of a given one."""
    return np.flatnonzero((values[:-1] - value) * (values[1:] - value) < 0.0).tolist()
