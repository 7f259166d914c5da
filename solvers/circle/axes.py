r"""The reflection axis of the equation on the circle, about which densities may be even.

A confinement :math:`V = \mathrm{Re}\sum_k c_k e^{ikt}` is even about the angle a if every :math:`c_k e^{ika}` is
real. One that is written with sines may be, such as :math:`\cos(t - a)`; then its states are those of the even
confinement :math:`V(t + a)`, turned.
"""

import functools
from typing import Any

import numpy as np

from meanfield import Domain, Equation
from meanfield.equations import Capability

from ..bases import EPS, Basis
from ..equations.significant import amplitudes
from .rotation import Complexes

# Roundings of the coefficients, and of their phases, of which k ones turn the degree k.
ROUNDINGS = 64.0


def axis_of(problem: Equation) -> float | None:
    """Return an angle in (-pi/2, pi/2] about which reflection leaves an equation as it is, or None."""
    if problem.reflects:
        return 0.0
    confinement: Any = problem.confinement
    return None if problem.velocity.rotates or confinement is None else _axis(confinement, problem.domain)


def carries_current(problem: Equation) -> bool:
    """Return whether stationary densities in a confinement have a flux: without a Gibbs map and without an axis."""
    moved = problem.confinement is not None and bool(problem.lacks(Capability.GIBBS_MAP))
    return moved and axis_of(problem) is None


@functools.lru_cache(maxsize=64)
def _axis(confinement: Any, domain: Domain) -> float | None:
    known = amplitudes(confinement, domain)
    degrees = np.arange(known.relative.size)
    sines = confinement.sine_multipliers(domain, degrees.size - 1) / float(known.scale)
    series = confinement.relative_multipliers(domain, degrees.size - 1) - 1j * sines
    strongest = int(np.argmax(known.relative))
    angles = (np.pi * np.arange(strongest) - np.angle(series[strongest])) / strongest
    across = np.abs((series * np.exp(1j * np.multiply.outer(angles, degrees))).imag)
    rounding = ROUNDINGS * EPS * (1.0 + degrees * known.relative)
    found = np.flatnonzero((across <= rounding).all(axis=1))
    if not found.size:
        return None
    angle = float(np.pi * np.remainder(angles[found[0]] / np.pi + 0.5, 1.0) - 0.5 * np.pi)
    return angle if angle > -0.5 * np.pi else angle + np.pi


def confining_symmetry_in(basis: Basis) -> int:
    """Return n of the rotation symmetry of the confinement of a basis, 0 if it is constant."""
    assert basis.confinement is not None
    return basis.symmetry * int(np.gcd.reduce(np.flatnonzero(basis.confinement) + 1))


def from_axis(coefficients: Complexes, axis: float, symmetry: int, first: int) -> Any:
    """Return coefficients of exp(ikt), or moments, of degrees n first, n (first + 1), ..., counted from an axis."""
    degrees = symmetry * np.arange(first, first + coefficients.size)
    return (coefficients * np.exp(1j * axis * degrees)).real
