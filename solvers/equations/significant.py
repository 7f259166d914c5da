"""The modes of the densities that are significant to a potential: the unknowns of the stationary equation."""

import functools
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from meanfield import Domain, Equation, InvalidInput, Number
from meanfield.equations import NEGLIGIBLE, Interaction

from ..bases import EPS, Floats, Integers, multiples

# Allowance for a density beside the kink of a confinement that is larger than the uniform one.
DENSE = 10.0
# Degree up to which confinements are compared, and the share of their cosines below which sines are rounding.
COMPARED_BY, ASKEW = 64, 1e-10
# Last degrees of tables of multipliers are multiples of this, the first degree at which potentials are asked.
TOGETHER = 32


class Strengths(NamedTuple):
    """Multipliers of a potential over the strongest, and the strongest itself."""

    relative: Floats
    scale: Number


class Amplitudes(NamedTuple):
    """Amplitudes of a confinement over the largest, a bound of those beyond, and the largest itself."""

    relative: Floats
    beyond: float
    scale: Number


def strengths(problem: Equation, degree: int) -> Strengths:
    """Return the cached multipliers of the potential up to a degree."""
    potential: Any = problem.potential
    return _strengths(potential, problem.domain, degree)


def _strengths(potential: Any, domain: Domain, degree: int) -> Strengths:
    # Those up to degrees that differ by few, which one problem is asked for in turn, are of one table.
    known = _tabled(potential, domain, TOGETHER * max(1, -(-degree // TOGETHER)))
    return Strengths(known.relative[: degree + 1], known.scale)


@functools.lru_cache(maxsize=64)
def _tabled(potential: Any, domain: Domain, degree: int) -> Strengths:
    relative = potential.relative_multipliers(domain, degree)
    relative.flags.writeable = False
    # Of a potential that vanishes any number is a scale.
    return Strengths(relative, potential.scale(domain) or 1.0)


@functools.lru_cache(maxsize=64)
def _beyond(potential: Any, domain: Domain, degree: int) -> float:
    """Return a bound of the multipliers of a potential beyond a degree, over the strongest."""
    bound: float = potential.relative_tail_bound(domain, degree)
    return bound


def even_size(count: int) -> int:
    """Return the smallest power of two that is at least count."""
    return 1 << max(0, count - 1).bit_length()


class SignificantDegrees(NamedTuple):
    """The significant degrees of a potential up to ``reach``, and whether there are none beyond."""

    degrees: Integers
    complete: bool
    reach: int


def significant_among(problem: Equation, degrees: Integers) -> SignificantDegrees:
    """Return which of some ascending degrees are significant to the potential, the first of one that vanishes."""
    if not degrees.size:
        return SignificantDegrees(degrees, False, 0)
    reach = int(degrees[-1])
    relative = np.abs(strengths(problem, reach).relative[degrees])
    strongest = relative.max()
    potential: Any = problem.potential
    if strongest == 0.0:
        vanishes = float(potential.scale(problem.domain)) == 0.0
        return SignificantDegrees(degrees[: int(vanishes)], vanishes, reach)
    complete = _beyond(potential, problem.domain, reach) <= NEGLIGIBLE * float(strongest)
    significant = relative > NEGLIGIBLE * strongest
    if problem.velocity.radial(problem.domain, 1) is not None:
        # The coefficients of the radial drive, derivatives of those of the drive, decay one degree later.
        significant[1:] |= significant[:-1] & (relative[1:] > 0.0)
    return SignificantDegrees(degrees[significant], complete, reach)


def starting_degrees(
    problem: Equation, admissible: Callable[[int], Integers], symmetry: int = 1, least: int = 0
) -> SignificantDegrees:
    """Return all significant degrees of the potential, or the first ones if it decays too slowly for all.

    Parameters
    ----------
    admissible
        The degrees there are up to a limit; the limits are 32, 64, ..., 512 times the symmetry.
    least
        The smallest limit, in units of the symmetry.
    """
    for limit in (32, 64, 128, 256, 512):
        significant = significant_among(problem, admissible(symmetry * max(limit, least)))
        if significant.complete:
            return significant
    return significant_among(problem, admissible(symmetry * max(32, least)))


def significant_degrees(problem: Equation, least: int) -> Integers:
    """Return all significant degrees of the potential, or those up to ``least`` if it decays too slowly for all."""
    significant = starting_degrees(problem, partial(multiples, 1))
    return significant.degrees if significant.complete else significant_among(problem, multiples(1, least)).degrees


def confining_symmetry(problem: Equation) -> int:
    """Return the greatest common divisor of the degrees of the confinement, 0 if there is none.

    On the circle the confinement is invariant under rotation by 2 pi over this, about a sphere's equator if it is
    even; 1 on the ordinary sphere where it has no axis. All of its multipliers are asked, since a weak one of high
    degree breaks the symmetry as well.
    """
    confinement: Any = problem.confinement
    if not problem.zonal:
        return 1
    return 0 if confinement is None else _common_divisor(confinement, problem.domain)


def common_symmetry(problems: Iterable[Equation]) -> int:
    """Return the symmetry that the confinements of some equations have in common, 0 if there is none."""
    return int(np.gcd.reduce([confining_symmetry(each) for each in problems]))


def keep_axis(problems: Iterable[Equation], axis: float) -> bool:
    """Return whether the confinements of some equations are even about an axis of the circle."""
    phases = np.exp(1j * axis * np.arange(COMPARED_BY + 1))
    rows = np.array([Interaction(each).phased_forces(COMPARED_BY) * phases for each in problems])
    return bool(np.abs(rows.imag).max() <= ASKEW * np.abs(rows).max())


@functools.lru_cache(maxsize=64)
def _common_divisor(confinement: Any, domain: Domain) -> int:
    return int(np.gcd.reduce(np.flatnonzero(amplitudes(confinement, domain).relative)))


def amplitudes(confinement: Any, domain: Domain) -> Amplitudes:
    """Return the amplitudes of a confinement over the largest, up to the degree beyond which they are negligible.

    At most up to the degree 1024.
    """
    for limit in (64, 128, 256, 512, 1024):
        known = _amplitudes(confinement, domain, limit)
        if known.beyond <= NEGLIGIBLE:
            break
    return known


@functools.lru_cache(maxsize=64)
def _amplitudes(confinement: Any, domain: Domain, degree: int) -> Amplitudes:
    """Return the moduli of the multipliers of a confinement, with its sines, over the largest."""
    beyond = _beyond(confinement, domain, degree)
    if domain.has_azimuth and not confinement.zonal:
        scale = confinement.scale(domain)
        relative = np.asarray(confinement.amplitudes(domain, degree) / scale, dtype=float)
        relative[0] = 0.0
        return Amplitudes(relative, beyond, scale)
    relative, scale = _strengths(confinement, domain, degree)
    relative = np.abs(relative)
    if not confinement.even:
        relative = np.hypot(relative, confinement.sine_multipliers(domain, degree) / float(scale))
    relative[0] = 0.0
    return Amplitudes(relative, beyond, scale)


def confining_error(problem: Equation, degree: int) -> float:
    """Return an estimate of the change of moments by truncating a slowly decaying confinement at a degree.

    Where the density is uniform the moment l responds to a field -v_l/D by that over N_l, and its products with the
    field itself are what reaches the moments that are kept; the response grows with the density.
    """
    domain = problem.domain
    if problem.confinement is None or confining_degree(problem) is not None:
        return 0.0
    interaction = Interaction(problem)
    forces = interaction.phased_forces(4 * degree) if problem.zonal else interaction.force_lengths(4 * degree)
    cut = np.abs(forces[degree + 1 :])
    numbers = np.array([float(domain.multiplicity(k)) for k in range(degree + 1, 4 * degree + 1)])
    return DENSE * float((cut**2 / numbers).sum())


def confining_degree(problem: Equation) -> int | None:
    """Return the last significant degree of the confinement, or None if it decays too slowly."""
    confinement: Any = problem.confinement
    if confinement is None:
        return 0
    for limit in (32, 64, 128, 256, 512):
        known = _amplitudes(confinement, problem.domain, limit)
        share = float(known.scale) / problem.positive_noise
        if known.beyond * share <= EPS:
            return int(np.flatnonzero(known.relative * share > EPS).max(initial=0))
    return None


def require_smooth(problem: Equation) -> None:
    """Refuse a confinement without an axis whose coefficients decay slowly, in units of the noise, or 1 without.

    Raises
    ------
    InvalidInput
        If that is so.
    """
    confinement: Any = problem.confinement
    if confining_degree(problem if problem.noise else problem.replace(noise=1.0)) is None:
        raise InvalidInput(
            f"densities on the sphere in the confinement {confinement.name!r}, which has kinks and no axis, are "
            "not computed: its coefficients decay too slowly; take smooth neurons (--activation tanh, gelu), all "
            "on one axis, or particles (simulate, meanfield particles)"
        )
