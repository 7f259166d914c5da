"""Initial densities on spheres: moments by degree where the pole is an axis, else by degree and order."""

import inspect
import math
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from meanfield import Equation, InvalidInput, Sphere
from meanfield.arguments import shown
from meanfield.harmonics import (
    Modes,
    Moments,
    SphereModes,
    ZonalModes,
    about_axis,
    degrees_of_places,
    gauss_rule,
    modes_of,
    moduli,
    packed_size,
    polynomials,
    zonal_places,
)

from ...bases import EPS, Floats
from ...bases.spherical import SphericalTransform
from ..initial import NEGATIVE_ROUNDING, ROUNDING, Initial, converged, given_moments, kind_of, of_mass_one, sampled
from ..multiplicities import multiplicities
from ..starts import RandomPerturbation
from .axes import direction
from .profiles import LARGEST_DEGREE, Lobe, lobes_of

# Functions of two angles are known up to this degree.
LARGEST_FULL = 255


def moments_of(problem: Equation, initial: Any) -> Initial:
    """Return the moments of an initial density on a sphere; as :func:`solvers.moments_of`."""
    sphere: Any = problem.domain
    lobes = lobes_of(initial, sphere)
    if lobes is not None:
        return _assembled(lobes, sphere, repr(initial))
    if isinstance(initial, RandomPerturbation):
        return _random(initial, sphere)
    if hasattr(initial, "cosine") and hasattr(initial, "sine"):
        modes = modes_of(sphere, getattr(initial, "layout", "degree"))
        return _checked(initial.cosine, initial.sine, modes, kind_of(initial))
    if callable(initial):
        return from_function(initial, sphere)
    if isinstance(initial, tuple) and len(initial) == 2:
        return _from_pair(initial, sphere)
    raise InvalidInput(
        "an initial density on a sphere is VonMises(0.0, concentration) or another of the named ones, a State, a "
        "function of the angle to the north pole, or a pair (cosine, sine) of moments, not "
        f"{shown(initial)}"
    )


def from_function(density: Callable[..., Any], sphere: Sphere) -> Initial:
    """Return the moments of a density given as a function, in units of 1/surface.

    A function of one angle has the angle to the north pole; one of two angles has the azimuth besides and lives on
    the ordinary sphere.
    """
    name = getattr(density, "__name__", "function")
    if _arguments(density) < 2:
        zonal = partial(_zonal_moments, density, sphere)
        return of_mass_one(*converged(zonal, ZonalModes(sphere), LARGEST_DEGREE), ZonalModes(sphere), name)
    if not sphere.has_azimuth:
        raise InvalidInput(
            f"a density on the sphere in {sphere.dimension} dimensions is a function of the angle to the north "
            "pole alone; only the ordinary sphere has densities of two angles"
        )
    full = partial(_full_moments, density)
    return of_mass_one(*converged(full, SphereModes(), LARGEST_FULL), SphereModes(), name)


def _zonal_moments(density: Callable[[Any], Any], sphere: Sphere, degree: int) -> tuple[Floats, Floats]:
    rule = gauss_rule(sphere.dimension, 2 * degree)
    values = sampled(density, rule.polar)
    _require_density(values, 0.0)
    cosine = polynomials(sphere.dimension, rule, degree) @ (rule.weights * values) * sphere.volume
    return cosine, np.zeros_like(cosine)


def _full_moments(density: Callable[[Any, Any], Any], degree: int) -> tuple[Floats, Floats]:
    transform = SphericalTransform(degree, 2 * degree, 4 * degree)
    polar, azimuth = np.meshgrid(transform.polar, transform.azimuths, indexing="ij")
    values = sampled(density, polar, azimuth)
    _require_density(values, 0.0)
    return transform.analyse(4.0 * math.pi * values)


def _arguments(density: Callable[..., Any]) -> int:
    """Return the number of angles that a function takes."""
    try:
        parameters = inspect.signature(density).parameters.values()
    except (TypeError, ValueError):
        return 1
    positional = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    return sum(p.kind in positional and p.default is inspect.Parameter.empty for p in parameters)


def _assembled(lobes: list[Lobe], sphere: Sphere, description: str) -> Initial:
    """Return the sum of zonal densities about their axes."""
    profiles = [lobe.profile() for lobe in lobes]
    degree = max(profile.size for profile in profiles) - 1
    ends = [_pole(lobe.polar) for lobe in lobes]
    if all(ends):
        cosine = np.zeros(degree + 1)
        for lobe, profile, end in zip(lobes, profiles, ends, strict=True):
            cosine[: profile.size] += lobe.share * profile * float(end) ** np.arange(profile.size)
        return of_mass_one(cosine, np.zeros_like(cosine), ZonalModes(sphere), description)
    if not sphere.has_azimuth:
        raise InvalidInput(
            f"on the sphere in {sphere.dimension} dimensions densities are symmetric about the north pole: the "
            "mean must be 0 or pi; turn the sphere so that the axis is the pole"
        )
    cosine, sine = np.zeros((2, packed_size(degree)))
    for lobe, profile in zip(lobes, profiles, strict=True):
        both = about_axis(profile, direction(lobe.polar, lobe.azimuth))
        cosine[: both[0].size] += lobe.share * both[0]
        sine[: both[1].size] += lobe.share * both[1]
    # Sums over several lobes that cancel by symmetry leave rounding; of one axis everything is needed.
    return of_mass_one(cosine, sine, SphereModes(), description, rounded=len(lobes) > 1)


def _pole(polar: float) -> int:
    """Return 1 or -1 for the poles, 0 elsewhere."""
    return round(math.cos(polar)) if abs(math.sin(polar)) <= 4.0 * EPS * max(1.0, abs(polar)) else 0


def _random(initial: RandomPerturbation, sphere: Sphere) -> Initial:
    """Return an initial density of random harmonics on the ordinary sphere, of random zonal ones on others.

    A sum of harmonics of degree l is at most the root of the sum of its squared coefficients.
    """
    generator = np.random.Generator(np.random.PCG64(initial.seed))
    degree = initial.degrees
    if not sphere.has_azimuth:
        drawn = generator.standard_normal(degree)
        counts = np.array([float(sphere.multiplicity(k)) for k in range(1, degree + 1)])
        cosine = np.concatenate([[1.0], initial.amplitude * drawn / np.abs(drawn).sum() / counts])
        return Initial(cosine, np.zeros_like(cosine), repr(initial))
    cosine, sine = generator.standard_normal((2, packed_size(degree)))
    degrees = degrees_of_places(cosine.size)
    sine[zonal_places(degree)] = 0.0
    bound = float(moduli(cosine, sine)[1:].sum())
    scale = initial.amplitude / bound / (2.0 * degrees + 1.0)
    cosine, sine = scale * cosine, scale * sine
    cosine[0] = 1.0
    return Initial(cosine, sine, repr(initial), (), "order")


def _from_pair(pair: tuple[ArrayLike, ArrayLike], sphere: Sphere) -> Initial:
    """Return the initial density of given moments: by degree, or with sines by degree and order."""
    layout = "order" if np.any(np.asarray(pair[1], dtype=float)) else "degree"
    return _checked(pair[0], pair[1], modes_of(sphere, layout), "moments")


def _checked(cosine: ArrayLike, sine: ArrayLike, modes: Modes, description: str) -> Initial:
    """Return given moments as an initial density, refusing those not finite, of mass other than one or negative."""
    c, s = given_moments(cosine, sine)
    modes.check_number(c.size, "the initial density")
    modes.check(s)
    counts = multiplicities(modes.domain, modes.degree(c.size))[modes.degrees(c.size)]
    rounding = EPS * float(counts @ (np.abs(c) + np.abs(s)))
    _require_density(_values(Moments(modes, c, s)), rounding)
    return of_mass_one(c, s, modes, description, rounded=False)


def _values(moments: Moments) -> Floats:
    """Return a density over the uniform one on a grid that is fine for its moments."""
    if moments.has_axis:
        return moments.relative_density(np.linspace(0.0, math.pi, max(64, 8 * moments.cosine.size)))
    degree = moments.degree
    transform = SphericalTransform(degree, 2 * degree + 8, 4 * degree + 16)
    counts = transform.multiplicities
    return transform.synthesise(counts * moments.cosine, counts * moments.sine)


def _require_density(values: Floats, rounding: float) -> None:
    if not np.isfinite(values).all():
        raise InvalidInput("the initial density must be finite everywhere")
    lowest, largest = float(values.min()), float(values.max())
    if lowest < -max(NEGATIVE_ROUNDING * largest, ROUNDING, 8.0 * rounding):
        raise InvalidInput(
            f"the initial density is negative, down to {lowest / max(largest, 1e-300):.3g} of its maximum; give a "
            "density >= 0"
        )
