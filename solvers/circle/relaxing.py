"""Densities around a stable state of the circle: perturbations without symmetry, and distances but for rotation."""

import math
from collections.abc import Callable, Mapping

import numpy as np

from meanfield import Spectrum
from meanfield.transport import Density, l2_distance, relative_entropy, wasserstein1, wasserstein2

from ..bases import Floats
from ..evolution.march import March
from ..evolution.system import system_for
from ..surroundings import GENERIC, VACUUM, padded
from .linearisation import UNIFORM
from .rotation import Complexes, nearest_angle, turned

# Degrees of the generic perturbation.
STIRRED = 8
DISTANCES = {"L2": l2_distance, "W1": wasserstein1, "W2": wasserstein2, "relative entropy": relative_entropy}


class CircleSurroundings:
    """All densities around a state of the circle; the attributes are those of :class:`solvers.surroundings`.

    Parameters
    ----------
    found
        The spectrum of the state.
    """

    norms = tuple(DISTANCES)
    tolerance = 1e-12
    accuracy = 32.0 * tolerance
    small = 1e-4
    same_shape = 1e-5
    # Modes about as slow are even and odd ones.
    mixing = 0.0
    densities = ""
    hopeless = ""
    warnings: tuple[str, ...] = ()

    def __init__(self, found: Spectrum) -> None:
        state = found.state
        self.problem, self.rate = state.problem, found.slowest_rate
        self.target: Complexes = state.cosine - 1j * state.sine
        self._turns = state.problem.confinement is None and np.abs(self.target[1:]).max(initial=0.0) > UNIFORM
        self._goal = _density(self.target)

    def stirred(self) -> Complexes:
        """Return rho (1 + eps g), g with cosines and sines of many degrees, of mass one."""
        target = self.target
        size = target.size + STIRRED
        full = np.zeros(2 * size + 1, dtype=complex)
        full[size : size + target.size] = target
        full[size - target.size + 1 : size + 1] = target[::-1].conj()
        factor = np.zeros(2 * STIRRED + 1, dtype=complex)
        degrees = np.arange(1, STIRRED + 1)
        # Irrational phases, so that no symmetry is kept.
        factor[STIRRED + degrees] = np.exp(1j * degrees**2 * math.sqrt(2.0)) / degrees
        factor[:STIRRED] = factor[:STIRRED:-1].conj()
        factor *= GENERIC / np.abs(factor).sum()
        factor[STIRRED] = 1.0
        product = np.convolve(full, factor, mode="same")[size:]
        return np.asarray(product / product[0].real)

    def started(self, left: Complexes) -> Complexes:
        """Return the state with a small deviation."""
        return padded(self.target, left.size) + left

    def evolved(self, start: Complexes, times: Floats) -> list[Complexes]:
        """Return the moments at times that begin with the start."""
        cosine, sine = start.real.copy(), -start.imag
        system = system_for(self.problem, cosine, sine, start.size - 1)
        march = March(system, 0.0, system.pack(cosine, sine), float(times[-1]), None, self.tolerance)
        path = [start]
        for instant in times[1:]:
            unknown = march.to(float(instant)).copy()
            m, s = march.system.unpack(unknown)
            path.append(m - 1j * s)
        return path

    def left(self, moments: Complexes) -> Complexes:
        """Return the deviation from the state turned to where it is nearest; rotation is no relaxation."""
        return self._aligned(moments) - padded(self.target, moments.size)

    def steepest(self, change: Complexes) -> float:
        """Return the largest relative change of the density where there is any."""
        nodes = 8 * change.size
        values = np.fft.irfft(change, nodes, norm="forward")
        density = np.fft.irfft(padded(self.target, change.size), nodes, norm="forward")
        felt = density > VACUUM * density.max()
        return float(np.abs(values[felt] / density[felt]).max())

    def _aligned(self, moments: Complexes) -> Complexes:
        return turned(moments, nearest_angle(moments, self.target)) if self._turns else moments

    def distances(self, moments: Complexes) -> Mapping[str, Callable[[], float]]:
        """Return the distances of a density to the state turned, each yet to be computed."""
        density = _density(self._aligned(moments))
        return {name: lambda of=of: of(density, self._goal) for name, of in DISTANCES.items()}  # type: ignore[misc]


def _density(moments: Complexes) -> Density:
    cosine: Floats = moments.real.copy()
    return Density(cosine, -moments.imag)


def surroundings(found: Spectrum) -> CircleSurroundings:
    """Return all densities around a state."""
    return CircleSurroundings(found)
