"""Initial densities: whatever is given becomes moments of a density of mass one, or is refused in a sentence."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from meanfield import InvalidInput, McKeanVlasov, NotResolved, Sphere
from meanfield.arguments import checked, shown
from meanfield.harmonics import Layout
from meanfield.records import Record

from ..bases.base import RESOLUTION_TOLERANCE
from ..transforms import FourierTransform
from .starts import EPS, LARGEST_DEGREE, Complexes, Floats, Samples, closed_form, without_rounding

# A density may miss mass one by this and is then divided by its mass; more is a mistake.
MASS_TOLERANCE = 1e-8
# Negative values of this size relative to the largest are rounding of moments or of the function given.
NEGATIVE_ROUNDING = 1e-10
SMALLEST_GRID = 64


@checked
@dataclass(frozen=True, eq=False, repr=False)
class Initial(Record):
    """An initial density.

    Attributes
    ----------
    cosine, sine : (n + 1,) float
        Its moments; ``cosine[0]`` is exactly 1.
    description : str
        Where it comes from.
    warnings : tuple of str
        What a reader must know about it.
    layout : str
        ``"degree"`` or, for a density on the ordinary sphere without an axis at the pole, ``"order"``, as in
        :class:`~meanfield.State`.
    """

    cosine: Floats
    sine: Floats
    description: str
    warnings: tuple[str, ...] = ()
    layout: Layout = "degree"


@checked
def moments_of(problem: McKeanVlasov, initial: Any) -> Initial:
    """Return the moments of an initial density.

    Parameters
    ----------
    problem
        The equation; every density must live on its domain.
    initial
        One of the named densities (``VonMises(0.0, 2.0)`` and the like); a :class:`~meanfield.State` or anything
        else with the attributes ``cosine`` and ``sine``; a pair (cosine, sine) of vectors of moments from degree 0;
        a complex vector of m_k - i s_k from k = 0; a function of the angle in radians; a real vector of angles,
        taken as samples of the density (see :class:`Samples`).

        On a sphere a function has the angle to the north pole, and on the ordinary one may have the azimuth
        besides; a pair holds moments by degree, or where sines occur, by degree and order as in a State.

    Raises
    ------
    InvalidInput
        If it is none of these, not finite, negative beyond rounding, or not of mass one.
    NotResolved
        If a function has corners or jumps, so that its moments do not decay.
    """
    if isinstance(problem.domain, Sphere):
        from .sphere.initial import moments_of as on_sphere

        return on_sphere(problem, initial)
    if hasattr(initial, "moments") and callable(initial.moments):
        return _named(initial)
    if hasattr(initial, "cosine") and hasattr(initial, "sine"):
        kind = type(initial).__name__
        label = getattr(initial, "label", "") or ""
        return _checked(_last(initial.cosine), _last(initial.sine), f"{kind} {label}".strip())
    if callable(initial):
        return from_function(initial)
    if isinstance(initial, tuple) and len(initial) == 2:
        return _checked(initial[0], initial[1], "moments")
    return _from_array(initial)


def aligned(problem: McKeanVlasov, start: Initial, full: bool = False) -> tuple[Initial, float | Floats]:
    """Turn a density that has an axis onto it, so that fewer unknowns are enough.

    Without a confinement the equation does not know where angle 0 is. Every axis is one of the strongest moment, so
    only the axes of that are tried; the sines that remain must be rounding.

    Parameters
    ----------
    full
        Whether to leave it as it is, and all of its moments unknown.

    Returns
    -------
    Initial, axis
        The density, even if it has an axis, and the angle of the axis; on the ordinary sphere zonal if it has one,
        and the unit vector along it, empty for the north pole.
    """
    if isinstance(problem.domain, Sphere):
        from .sphere.axes import aligned as on_sphere

        return on_sphere(problem, start, full)
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
    nodes, previous = SMALLEST_GRID, None
    while nodes <= 4 * LARGEST_DEGREE:
        angles = 2.0 * np.pi * np.arange(nodes) / nodes
        values = _sampled(density, angles)
        _require_density(values, angles)
        moments = _analysed(values)
        known = nodes // 4
        tail = float(np.abs(moments[known - known // 8 : known + 1]).max())
        # Two grids must agree: on one alone, fast oscillations look like slow ones.
        if previous is not None and tail <= RESOLUTION_TOLERANCE:
            change = np.abs(moments[: previous.size // 2] - previous[: previous.size // 2]).max()
            if change <= RESOLUTION_TOLERANCE:
                return _of_mass_one(moments[: known + 1], getattr(density, "__name__", "function"))
        previous, nodes = moments, 2 * nodes
    raise NotResolved(
        f"the moments of the initial density do not decay: its last of {LARGEST_DEGREE} is {tail:.1e}, so it has a "
        "jump or a corner; give a smooth density, for example a jump replaced by a steep tanh"
    )


def _named(initial: Any) -> Initial:
    if getattr(initial, "azimuth", 0.0):
        raise InvalidInput(f"the circle has no azimuth; leave it out of {initial!r}, or use --domain sphere")
    moments = closed_form(initial.moments)
    warnings: tuple[str, ...] = ()
    description = repr(initial)
    if isinstance(initial, Samples):
        description = f"{initial.angles.size} samples"
        warnings = (
            f"the initial density is an estimate from {initial.angles.size} samples with a kernel of width "
            f"{initial.bandwidth:.3g}",
        )
    return Initial(moments.real.copy(), -moments.imag, description, warnings)


def _last(moments: ArrayLike) -> Floats:
    """Return the moments of a state, or of the last time of a trajectory."""
    values = np.asarray(moments, dtype=float)
    return values[-1] if values.ndim == 2 else values


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
    """Check given moments: finite, of mass one and of a density that is not negative."""
    m, s = np.array(cosine, dtype=float), np.array(sine, dtype=float)
    if m.ndim != 1 or m.shape != s.shape or m.size == 0:
        raise InvalidInput(f"cosine and sine moments must be vectors of one length, not {m.shape} and {s.shape}")
    for name, values in (("cosine", m), ("sine", s)):
        bad = np.flatnonzero(~np.isfinite(values))
        if bad.size:
            raise InvalidInput(f"the {name} moment {bad[0]} of the initial density is {values[bad[0]]}")
    if s[0] != 0.0:
        raise InvalidInput(f"the sine moment of degree 0 must be 0, not {s[0]!r}")
    moments = m - 1j * s
    _require_mass(float(m[0]))
    nodes = max(SMALLEST_GRID, 8 * m.size)
    _require_density(_synthesised(moments, nodes), 2.0 * np.pi * np.arange(nodes) / nodes)
    return _of_mass_one(moments, description, rounded=False)


def _of_mass_one(moments: Complexes, description: str, rounded: bool = True) -> Initial:
    mass = float(moments[0].real)
    _require_mass(mass)
    scaled = moments if mass == 1.0 else moments / mass
    if rounded:
        scaled = without_rounding(scaled, 64.0 * EPS)
    scaled[0] = 1.0
    large = np.flatnonzero(scaled)
    scaled = scaled[: int(large[-1]) + 1]
    return Initial(scaled.real.copy(), -scaled.imag, description)


def _require_mass(mass: float) -> None:
    if not abs(mass - 1.0) <= MASS_TOLERANCE:
        raise InvalidInput(f"the initial density integrates to {mass:.9g}, not to 1; divide it by that")


def _require_density(values: Floats, angles: Floats) -> None:
    bad = np.flatnonzero(~np.isfinite(values))
    if bad.size:
        raise InvalidInput(
            f"the initial density is {values[bad[0]]} at angle {angles[bad[0]]:.6g}; it must be finite"
        )
    lowest = int(np.argmin(values))
    if values[lowest] < -max(NEGATIVE_ROUNDING * float(values.max()), 64.0 * EPS):
        raise InvalidInput(
            f"the initial density is negative, {values[lowest]:.3g} at angle {angles[lowest]:.4g}; "
            "give a density >= 0"
        )


def _sampled(density: Callable[[Any], Any], angles: Floats) -> Floats:
    try:
        values = np.asarray(density(angles), dtype=float)
    except (TypeError, ValueError):
        values = np.zeros(0)
    except Exception as error:
        raise InvalidInput(
            f"the function for the initial density fails: {type(error).__name__}: {error}"
        ) from error
    if values.shape == angles.shape:
        return values
    try:
        return np.array([float(density(float(angle))) for angle in angles])
    except Exception as error:
        raise InvalidInput(
            f"the function for the initial density returns no number at an angle: {type(error).__name__}: {error}"
        ) from error


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
