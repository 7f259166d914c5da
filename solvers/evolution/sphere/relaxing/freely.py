"""All densities on S^2 around a stable state."""

import math
from collections.abc import Callable, Mapping
from functools import partial

import numpy as np

from meanfield import Spectrum
from meanfield.entropy import excess
from meanfield.equations import Interaction
from meanfield.harmonics import growing, largest_degree, packed, packed_size, refined_until_two_agree

from ....bases import Floats
from ....bases.spherical import SphericalTransform
from ....sphere.linearised.fields import UNIFORM
from ...neighbourhood import GENERIC, VACUUM, Complexes, Followed, padded
from ..rates import SphereRates
from ..spherical import SphericalSystem
from .about_axis import generic, perturbed_degree
from .distances import ZonalDistances
from .turning import Nearest

# Sums over grids are refined until two agree to this.
AGREEMENT = 1e-11
MOST_RINGS = 512
# Evolutions of about so many seconds are affordable; so many units of time over the gap are needed.
BEARABLE = 120.0
DURATION = 50.0


class FreeNeighbourhood(Followed):
    """All densities around a state, see :class:`~solvers.evolution.neighbourhood.Neighbourhood`.

    Parameters
    ----------
    found
        The spectrum of a state of the ordinary sphere.
    """

    norms: tuple[str, ...] = ("L2", "relative entropy")
    # The formulas are of fourth order, and smooth in the step.
    tolerance = 1e-8

    def __init__(self, found: Spectrum) -> None:
        state = found.state
        self.problem, self.rate = state.problem, found.slowest_rate
        self.hopeless = "" if affordable(found) else "densities without an axis take too long to evolve to it"
        zonal = state.moments.has_axis
        self._target: Complexes = packed(state.cosine).astype(complex) if zonal else state.cosine - 1j * state.sine
        turns = state.problem.confinement is None and np.abs(self._target[1:]).max(initial=0.0) > UNIFORM
        self._nearest = Nearest(self._target) if turns else None
        self._zonal = ZonalDistances(state) if zonal else None
        self._follow(partial(SphericalSystem, self.problem), self._target, "order")

    def generic_perturbation(self) -> Complexes:
        """Return the deviation of rho (1 + eps g), g with many degrees and orders, of mass one."""
        perturbed = perturbed_degree(Interaction(self.problem).significant_degree)
        degree = largest_degree(self._target.size) + perturbed
        transform = SphericalTransform(degree, 2 * degree, 4 * degree)
        count = packed_size(perturbed)
        coefficients = np.zeros((2, transform.degrees.size))
        coefficients[:, 1:count] = generic(2 * (count - 1)).reshape(-1, 2).T
        coefficients[1, transform.orders == 0] = 0.0
        factor = transform.synthesise(*coefficients)
        factor = 1.0 + GENERIC * factor / np.abs(factor).max()
        cosine, sine = transform.analyse(self._density(transform) * factor)
        return np.asarray((cosine - 1j * sine) / cosine[0] - padded(self._target, cosine.size))

    def modulo_rotation(self, deviation: Complexes) -> Complexes:
        """Return the deviation of a density after the rotation that brings it nearest to the state."""
        return deviation if self._nearest is None else self._nearest(deviation)

    def steepest(self, deviation: Complexes) -> float:
        """Return the largest change of the density relative to it, where it is not negligible."""
        degree = largest_degree(deviation.size)
        transform, values = _on_grid(deviation, 2 * degree)
        density = self._density(transform)
        significant = density > VACUUM * density.max()
        return float(np.abs(values[significant] / density[significant]).max())

    def distances(self, deviation: Complexes) -> Mapping[str, Callable[[], float]]:
        """Return functions by name that compute the distances of a density to the state, modulo rotation."""
        change = self.modulo_rotation(deviation)
        return {"L2": lambda: _l2(change), "relative entropy": lambda: self._entropy(change)}

    def _density(self, transform: SphericalTransform) -> Floats:
        """Return the density of the state over the uniform one on a grid."""
        if self._zonal is not None:
            return np.repeat(self._zonal.density(transform.polar)[:, None], transform.meridians, axis=1)
        values = _on_grid(self._target, transform.rings, transform.degree)[1]
        return np.maximum(values, np.finfo(float).tiny)

    def _entropy(self, change: Complexes) -> float:
        def entropy(rings: int) -> tuple[float, float]:
            transform, values = _on_grid(change, rings)
            density = self._density(transform)
            total = transform.mean(density * excess(np.maximum(values / density, -1.0)))
            return total, AGREEMENT * total

        rings = growing(2 * largest_degree(change.size), MOST_RINGS, 1.5)
        return refined_until_two_agree(entropy, rings, "the density is too concentrated for its relative entropy")


def _on_grid(change: Complexes, rings: int, degree: int = 0) -> tuple[SphericalTransform, Floats]:
    """Return a grid, for at least a degree, and the change of the density over the uniform one on it."""
    transform = SphericalTransform(max(degree, largest_degree(change.size)), rings, 2 * rings)
    counted = transform.multiplicities * padded(change, transform.degrees.size)
    return transform, transform.synthesise(counted.real.copy(), -counted.imag)


def _l2(change: Complexes) -> float:
    """Return the distance in L2 of the densities over the uniform one, in its probability measure."""
    degrees = SphericalTransform(largest_degree(change.size)).degrees
    return math.sqrt(math.fsum((2.0 * degrees + 1.0) * np.abs(change) ** 2))


def affordable(found: Spectrum) -> bool:
    """Return whether an evolution of all densities, long enough for the slowest rate, takes a minute or two."""
    state = found.state
    degree = max(32, state.moments.degree)
    steps = DURATION / found.slowest_rate * SphereRates(state.problem, degree).explicit_steps()
    return steps * (5e-4 + 4e-9 * degree**3) <= BEARABLE
