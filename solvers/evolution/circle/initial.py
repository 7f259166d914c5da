"""Initial densities on the circle: moments with cosines and sines."""

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from meanfield import Equation, InvalidInput
from meanfield.arguments import shown
from meanfield.harmonics import CircleModes

from ...bases.transforms import FourierTransform
from ..initial import (
    NEGATIVE_ROUNDING,
    ROUNDING,
    Initial,
    converged,
    given_moments,
    kind_of,
    of_mass_one,
    require_mass,
    sampled,
)
from ..starts import EPS, LARGEST_DEGREE, Complexes, Floats, Samples, sufficient

SMALLEST_GRID = 64


def moments_of(problem: Equation, initial: Any) -> Initial:
    """Return the moments of an initial density on the circle; as :func:`solvers.moments_of`."""
    if hasattr(initial, "moments") and callable(initial.moments):
        return _named(initial)
    if hasattr(initial, "cosine") and hasattr(initial, "sine"):
        return _checked(initial.cosine, initial.sine, kind_of(initial))
    if callable(initial):
        return from_function(initial)
    if isinstance(initial, tuple) and len(initial) == 2:
        return _checked(initial[0], initial[1], "moments")
    return _from_array(initial)


def aligned(problem: Equation, start: Initial, full: bool) -> tuple[Initial, float]:
    """Return a density, turned onto its axis if it has one, and the angle of the axis, else 0.

    Without a confinement the equation is invariant under rotation. Every axis is one of the strongest moment, so
    only the axes of that are tried; the sines that remain must be rounding.
    """
    moments = start.cosine - 1j * start.sine
    if full or problem.confinement is not None or not np.any(start.sine):
        return start, 0.0
    degrees, sizes = np.arange(moments.size), np.abs(moments)
    strongest = 1 + int(np.argmax(sizes[1:]))
    rounding = EPS * (32.0 * sizes[strongest] + 4.0 * degrees * sizes)
    for half_turns in range(strongest):
        angle = (half_turns * np.pi - float(np.angle(moments[strongest]))) / strongest
        turned = moments * np.exp(1j * angle * degrees)
        if np.all(np.abs(turned.imag) <= rounding):
            cosine = turned.real.copy()
            cosine[0] = 1.0
            return Initial(cosine, np.zeros_like(cosine), start.description, start.warnings), angle
    return start, 0.0


def from_function(density: Callable[[Any], Any]) -> Initial:
    """Return the moments of a density given as a function of the angle, in units of 1/radian."""
    found = converged(partial(_moments, density), CircleModes(), LARGEST_DEGREE)
    return of_mass_one(*found, CircleModes(), getattr(density, "__name__", "function"))


def _moments(density: Callable[[Any], Any], degree: int) -> tuple[Floats, Floats]:
    angles = 2.0 * np.pi * np.arange(4 * degree) / (4 * degree)
    values = sampled(density, angles)
    _require_density(values, angles)
    moments = _analysed(values)[: degree + 1]
    return moments.real, -moments.imag


def _named(initial: Any) -> Initial:
    if getattr(initial, "azimuth", 0.0):
        raise InvalidInput(f"the circle has no azimuth; leave it out of {initial!r}, or use --domain sphere")
    moments = sufficient(initial.moments)
    warnings: tuple[str, ...] = ()
    description = repr(initial)
    if isinstance(initial, Samples):
        description = f"{initial.angles.size} samples"
        warnings = (
            f"the initial density is an estimate from {initial.angles.size} samples with a kernel of width "
            f"{initial.bandwidth:.3g}",
        )
    formula = getattr(initial, "relative", None)
    return Initial(moments.real.copy(), -moments.imag, description, warnings, formula=formula)


def _from_array(initial: Any) -> Initial:
    try:
        values = np.asarray(initial)
    except ValueError as error:
        raise InvalidInput(_unknown(initial)) from error
    if values.ndim != 1 or values.size == 0 or values.dtype.kind not in "fiuc":
        raise InvalidInput(_unknown(initial))
    if values.dtype.kind == "c":
        return _checked(values.real, -values.imag, "moments")
    return _named(Samples(values))


def _unknown(initial: Any) -> str:
    return (
        f"an initial density is VonMises(mean, concentration) or another of the named ones, a State, a function, a "
        f"pair (cosine, sine) of moments or a vector of angles, not {shown(initial)}"
    )


def _checked(cosine: ArrayLike, sine: ArrayLike, description: str) -> Initial:
    """Return given moments as an initial density, refusing those not finite, of mass other than one or negative."""
    m, s = given_moments(cosine, sine)
    if s[0] != 0.0:
        raise InvalidInput(f"the sine moment of degree 0 must be 0, not {s[0]!r}")
    require_mass(float(m[0]))
    nodes = max(SMALLEST_GRID, 8 * m.size)
    _require_density(_synthesised(m - 1j * s, nodes), 2.0 * np.pi * np.arange(nodes) / nodes)
    return of_mass_one(m, s, CircleModes(), description, rounded=False)


def _require_density(values: Floats, angles: Floats) -> None:
    bad = np.flatnonzero(~np.isfinite(values))
    if bad.size:
        raise InvalidInput(
            f"the initial density is {values[bad[0]]} at angle {angles[bad[0]]:.6g}; it must be finite"
        )
    lowest = int(np.argmin(values))
    if values[lowest] < -max(NEGATIVE_ROUNDING * float(values.max()), ROUNDING):
        raise InvalidInput(
            f"the initial density is negative, {values[lowest]:.3g} at angle {angles[lowest]:.4g}; "
            "give a density >= 0"
        )


def _analysed(values: NDArray[np.float64]) -> Complexes:
    """Return the integrals of a function against exp(-ik theta) by the trapezoid rule."""
    transform = FourierTransform(values.size)
    transform.values[:] = values
    transform.analyse()
    return transform.coefficients * (2.0 * np.pi / values.size)


def _synthesised(moments: Complexes, nodes: int) -> Floats:
    transform = FourierTransform(nodes)
    transform.coefficients[:] = 0.0
    transform.coefficients[: moments.size] = moments / (2.0 * math.pi)
    transform.synthesise()
    return transform.values.copy()
