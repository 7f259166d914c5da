"""Initial densities as functions of the label, on the circle and about the axis of a sphere."""

import math
from collections.abc import Callable
from dataclasses import replace
from functools import reduce
from typing import Any, NamedTuple

import numpy as np

from meanfield import Equation, InvalidInput
from meanfield.harmonics import Moments, modes_of

from ..bases import Floats
from ..evolution.initial import Initial, sampled
from ..evolution.medium import Complexes
from .labels import LabelDensity, labels_on, panels_of

EPS = float(np.finfo(float).eps)
# Moments of the labels that decide on symmetries, and their rounding.
DEGREES, ROUNDING = 64, 1e-11
# Values of a function on both sides of an axis differ by rounding of the angle as well.
MIRRORED = 1e-12
EVEN = (
    "the initial density is even about an axis, and the collapse is that of such densities; asymmetric "
    "perturbations move the limit point, not the rate"
)

Start = Initial | Callable[..., Any]


class LabelDensities(NamedTuple):
    """Initial densities on a domain as functions of the label.

    Attributes
    ----------
    density
        Function of a problem and an initial density, as moments or as a function of one angle.
    default
        Function of a problem: the moments of a generic density, to be taken where none is given.
    in_words
        That density as a formula.
    """

    density: Callable[[Equation, Start], LabelDensity]
    default: Callable[[Equation], tuple[Floats, Floats]]
    in_words: str


def circle_density(problem: Equation, start: Start) -> LabelDensity:
    """Return a density on the circle in a frame whose zero is its axis, if it has one that the flow keeps.

    Raises
    ------
    InvalidInput
        If it repeats itself under a rotation: such a density never collapses to one point.
    """
    found = LabelDensity(_profile(problem, start), 2, False, _accuracy(problem, start), _described(start))
    moments = _moments(found)
    repeated = _repeated(moments)
    if repeated == 0:
        raise InvalidInput("the uniform density is stationary and does not contract; give another initial density")
    if repeated > 1:
        raise InvalidInput(
            f"the initial density repeats itself {repeated} times on the circle, so its first moment stays 0 "
            "and it never collapses to one point; break the symmetry, for example by a mixture with von-mises"
        )
    axis = None if problem.velocity.lag else _axis(found, moments)
    if axis is None:
        return found
    return replace(found, profile=_turned(found.profile, axis), even=True, frame=axis, note=EVEN)


def zonal_density(problem: Equation, start: Start) -> LabelDensity:
    """Return a density about the axis of a sphere, in angles to the pole on whose side its mean is.

    Raises
    ------
    InvalidInput
        If it has no axis at the pole, or is the same on both sides of the equator.
    """
    if isinstance(start, Initial) and not _moments_of(problem, start).has_axis:
        raise InvalidInput(
            "contraction on a sphere is computed for densities about the north pole, and the axis of the initial "
            "density is elsewhere; turn it there, with mean 0 or pi (--initial von-mises:mean=0)"
        )
    dimension = problem.domain.dimension
    found = LabelDensity(_profile(problem, start), dimension, True, _accuracy(problem, start), _described(start))
    moments = _moments(found)
    if np.abs(moments.real[1::2]).max() <= ROUNDING:
        raise InvalidInput(
            "the initial density is the same on both sides of the equator, so its first moment stays 0 and it "
            "never collapses to one point; break the symmetry, for example by a mixture with von-mises"
        )
    return flipped(found) if moments[1].real < -ROUNDING else found


def _moments_of(problem: Equation, start: Initial) -> Moments:
    return Moments(modes_of(problem.domain, start.layout), start.cosine, start.sine)


def flipped(density: LabelDensity) -> LabelDensity:
    """Return an even density in angles to the opposite point."""
    return replace(density, profile=lambda angles: density.profile(math.pi - angles), frame=density.frame + math.pi)


def _profile(problem: Equation, start: Start) -> Callable[[Floats], Floats]:
    if isinstance(start, Initial) and start.formula is not None:
        return start.formula
    if isinstance(start, Initial):
        modes = modes_of(problem.domain, start.layout)
        return lambda angles: modes.density(start.cosine, start.sine, angles)
    volume, function = problem.domain.volume, start
    # Functions are given angles from 0, as for all evolutions.
    return lambda angles: volume * sampled(function, np.mod(angles, 2.0 * math.pi))


def _turned(profile: Callable[[Floats], Floats], angle: float) -> Callable[[Floats], Floats]:
    return lambda angles: profile(angles + angle)


def _accuracy(problem: Equation, start: Start) -> float:
    """Return the rounding of a sum of moments; functions and formulas are taken as exact."""
    if not isinstance(start, Initial) or start.formula is not None:
        return 0.0
    numbers = modes_of(problem.domain, start.layout).multiplicities(start.cosine.size)
    return 4.0 * EPS * float((numbers * np.hypot(start.cosine, start.sine)).sum())


def _described(start: Start) -> str:
    return start.description if isinstance(start, Initial) else str(getattr(start, "__name__", "function"))


def _moments(density: LabelDensity) -> Complexes:
    return labels_on(density, panels_of(density)).moments(DEGREES)


def _repeated(moments: Complexes) -> int:
    """Return the number of rotations of the circle under which moments are invariant, 0 if of all."""
    significant = np.flatnonzero(np.abs(moments[1:]) > ROUNDING) + 1
    return reduce(math.gcd, significant.tolist(), 0)


def _axis(density: LabelDensity, moments: Complexes) -> float | None:
    """Return the angle of the axis of a density, on the side of its mean, or None if it has none."""
    strongest = 1 + int(np.argmax(np.abs(moments[1:])))
    angles = np.linspace(0.0, math.pi, 397)[1:-1]
    for half_turns in range(2 * strongest):
        axis = (float(np.angle(moments[strongest])) + half_turns * math.pi) / strongest
        turned = moments * np.exp(-1j * axis * np.arange(moments.size))
        if np.abs(turned.imag).max() > ROUNDING or turned[1].real < -ROUNDING:
            continue
        one, other = density.profile(axis + angles), density.profile(axis - angles)
        if np.abs(one - other).max() <= MIRRORED * (1.0 + float(one.max())):
            return math.remainder(axis, 2.0 * math.pi)
    return None


def default_on_circle(problem: Equation) -> tuple[Floats, Floats]:
    """Return the moments of (1 + 0.6 cos t + 0.3 sin 2t) / 2 pi, which has no symmetry."""
    return np.array([1.0, 0.3, 0.0]), np.array([0.0, 0.0, 0.15])


def default_on_spheres(problem: Equation) -> tuple[Floats, Floats]:
    """Return the moments of 1 + 0.6 cos t over the uniform density, t the angle to the north pole."""
    return np.array([1.0, 0.6 / problem.domain.multiplicity(1)]), np.zeros(2)


ON_CIRCLE = LabelDensities(circle_density, default_on_circle, "(1 + 0.6 cos t + 0.3 sin 2t)/(2 pi)")
ON_SPHERES = LabelDensities(zonal_density, default_on_spheres, "1 + 0.6 cos t over the uniform one")
