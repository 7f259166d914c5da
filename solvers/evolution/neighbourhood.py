"""Densities around a stable state whose relaxation is measured, the protocol for circle and spheres.

Moments are complex, cosine minus i sine, in a layout of the records.
"""

import math
from collections.abc import Callable, Mapping
from typing import Protocol

import numpy as np

from meanfield import Equation
from meanfield.harmonics import Layout, modes_of

from ..bases import Floats
from .deviations import Complexes as Complexes
from .deviations import DeviationPaths
from .system import System

# Logarithm of the factor by which a deviation decays in the evolution whose rate is fitted.
DECAY = math.log(1e5)

# Size of a generic perturbation relative to the density.
GENERIC = 1e-2
# Where the density is below this share of its maximum, relative changes do not count.
VACUUM = 1e-8
# Size of a deviation whose square does not matter; it is known relative to its size, so it may be small.
SMALL = 1e-10
# Change of a deviation between rounds, relative to it, below which it has settled.
SAME_SHAPE = 1e-7


class Neighbourhood(Protocol):
    """Densities around a stable state, among which a relaxation is measured.

    A density is kept by its deviation from the state, accurate relative to the deviation.

    Attributes
    ----------
    problem
        The equation, with its coupling.
    rate : float
        The slowest rate, in units of 1/time, at which these densities relax, rotation excluded.
    densities : str
        Which densities these are if not all, in words, such as "zonal"; else empty.
    norms : tuple of str
        Names of the distances.
    tolerance : float
        Local accuracy of the evolution.
    small : float
        Size of the moments of a deviation whose square is negligible.
    same_shape : float
        Change of a deviation between rounds, relative to it, below which it has settled.
    hopeless : str
        A clause on why an evolution of these densities is not affordable; else empty.
    warnings : tuple of str
        What a reader must know about the choice of these densities.
    """

    problem: Equation
    rate: float
    densities: str
    norms: tuple[str, ...]
    tolerance: float
    small: float
    same_shape: float
    hopeless: str
    warnings: tuple[str, ...]

    @property
    def rounding(self) -> float:
        """Error of rates in an evolution by rounding, whatever its accuracy."""

    def generic_perturbation(self) -> Complexes:
        """Return a generic perturbation of the state of the relative size ``GENERIC``, without mass."""

    def evolved(self, start: Complexes, times: Floats, coarser: bool = False) -> list[Complexes]:
        """Return the deviations at times, equal intervals from zero, the first of which is the start.

        Coarser ones have larger errors, which are estimated by comparison with the others.
        """

    def modulo_rotation(self, deviation: Complexes) -> Complexes:
        """Return the deviation of a density after the rotation, if any is allowed, nearest to the state."""

    def steepest(self, deviation: Complexes) -> float:
        """Return the largest relative change of the density where it exceeds ``VACUUM``."""

    def distances(self, deviation: Complexes) -> Mapping[str, Callable[[], float]]:
        """Return functions by name that compute the distances of a density to the state, modulo rotation."""


class Followed:
    """A neighbourhood whose deviations are evolved by the equation, in a system of all of its densities."""

    small = SMALL
    same_shape = SAME_SHAPE
    densities = ""
    warnings: tuple[str, ...] = ()

    problem: Equation
    tolerance: float

    def _follow(self, make: Callable[[int], System], target: Complexes, layout: Layout = "degree") -> None:
        """Set the function from a degree to a system, and the moments of the state in the deviations' layout."""
        self._modes = modes_of(self.problem.domain, layout)
        self._paths = DeviationPaths(make(self._degree(target)), target, self.tolerance)

    def _degree(self, moments: Complexes) -> int:
        """Return the degree that resolves moments."""
        return max(16, self._modes.degree(moments.size))

    @property
    def rounding(self) -> float:
        """Error of rates in an evolution by rounding."""
        return self._paths.rounding

    def evolved(self, start: Complexes, times: Floats, coarser: bool = False) -> list[Complexes]:
        """Return the deviations at times, the first of which is the start."""
        return self._paths(start, self._degree(start), times, coarser)


def padded(moments: Complexes, size: int) -> Complexes:
    """Return moments zero-padded to a size."""
    result = np.zeros(max(size, moments.size), dtype=complex)
    result[: moments.size] = moments
    return result
