"""Zonal densities around a stable state of a sphere."""

import math
from collections.abc import Callable, Mapping
from functools import partial

import numpy as np

from meanfield import Spectrum
from meanfield.equations import Interaction
from meanfield.harmonics import gauss_rule, polynomials

from ....bases import Floats
from ...neighbourhood import GENERIC, VACUUM, Complexes, Followed, padded
from ..systems import system_of
from .distances import ZonalDistances

# Degrees of the generic perturbation: the significant ones of the potential, within limits.
FEWEST_PERTURBED, MOST_PERTURBED = 8, 64
# Nodes beyond what a polynomial takes, for the factor that the density is.
SPARE_NODES = 32


class ZonalNeighbourhood(Followed):
    """Zonal densities around a state, see :class:`~solvers.evolution.neighbourhood.Neighbourhood`.

    Parameters
    ----------
    found
        The spectrum of a zonal state.
    warnings
        Warnings about the choice of these densities.
    """

    norms: tuple[str, ...] = ("L2", "W1 of the polar angle", "W2 of the polar angle", "relative entropy")
    tolerance = 1e-12
    densities = "zonal"

    def __init__(self, found: Spectrum, warnings: tuple[str, ...] = ()) -> None:
        state = found.state
        self.problem, self.warnings = state.problem, warnings
        rates = found.sectors[0]
        self.rate = -float(rates[0]) if rates.size else math.nan
        self.hopeless = (
            "" if rates.size else "no decay rate of zonal perturbations is known, so that none is followed"
        )
        self._target: Complexes = state.cosine.astype(complex)
        self._to_state = ZonalDistances(state)
        self._follow(partial(system_of, self.problem, symmetry=1), self._target)

    def generic_perturbation(self) -> Complexes:
        """Return the deviation of rho (1 + eps g), g with many degrees, of mass one."""
        dimension = self.problem.domain.dimension
        perturbed = perturbed_degree(Interaction(self.problem).significant_degree)
        degree = self._target.size - 1 + perturbed
        rule = gauss_rule(dimension, 2 * degree + SPARE_NODES)
        table = polynomials(dimension, rule, degree)
        coefficients = generic(perturbed)
        factor = 1.0 + GENERIC * (coefficients @ table[1 : perturbed + 1]) / np.abs(coefficients).sum()
        density = self._to_state.density(rule.polar)
        moments = table @ (rule.weights * density * factor)
        return np.asarray(moments / moments[0] - padded(self._target, moments.size))

    def modulo_rotation(self, deviation: Complexes) -> Complexes:
        """Return the deviation unchanged, since the axis is fixed."""
        return deviation

    def steepest(self, deviation: Complexes) -> float:
        """Return the largest change of the density relative to it, where it is not negligible."""
        dimension = self.problem.domain.dimension
        rule = gauss_rule(dimension, 2 * deviation.size + SPARE_NODES)
        values = self._to_state.weighted(deviation.real) @ polynomials(dimension, rule, deviation.size - 1)
        density = self._to_state.density(rule.polar)
        masses = rule.weights * density
        significant = masses > VACUUM * masses.max()
        return float(np.abs(values[significant] / density[significant]).max())

    def distances(self, deviation: Complexes) -> Mapping[str, Callable[[], float]]:
        """Return functions by name that compute the distances of a density to the state."""
        change, of = deviation.real.copy(), self._to_state
        methods = (of.l2, of.first, of.second, of.entropy)
        return {
            name: lambda method=method: method(change)  # type: ignore[misc]
            for name, method in zip(self.norms, methods, strict=True)
        }


def generic(count: int) -> Floats:
    """Return slowly decaying coefficients without any symmetry."""
    degrees = np.arange(1.0, count + 1.0)
    return np.asarray(np.cos(degrees**2 * math.sqrt(2.0)) / degrees)


def perturbed_degree(significant: int) -> int:
    """Return the number of degrees of a generic perturbation, from that of the significant degrees."""
    return min(max(significant, FEWEST_PERTURBED), MOST_PERTURBED)
