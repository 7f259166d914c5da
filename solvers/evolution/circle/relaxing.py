r"""Densities around a stable state of the circle: perturbations without symmetry, and distances modulo rotation.

The stationary density :math:`\rho` is taken from its exponential, and the other is :math:`\rho + \delta` with so
small a deviation that only its first order counts. With :math:`H' = \delta`, defined up to a constant,

.. math:: W_1 = \min_a \int |H - a|, \qquad W_2^2 = \min_a \int \frac{(H - a)^2}{\rho}, \qquad
          \int (\rho+\delta) \log\frac{\rho+\delta}{\rho} = \int \rho\, h(\delta/\rho),

the second as long as the displacement :math:`v = (H - a)/\rho` has a small derivative.
"""

import math
from collections.abc import Callable, Mapping
from functools import partial

import numpy as np

from meanfield import ComputationFailed, Equation, Spectrum
from meanfield.entropy import excess
from meanfield.equations import Interaction

from ...bases import Floats
from ...circle.linearisation import UNIFORM
from ...circle.rotation import Complexes
from ..neighbourhood import DECAY, GENERIC, VACUUM, Followed, padded
from ..system import FullSystem

# Degrees of the generic perturbation.
PERTURBED_DEGREES = 8
# Nodes of the distances, at least, and for each moment.
LEAST_NODES, NODES = 4096, 16
# A deviation over a density below this share of its maximum is not known; a result of which such places hold more
# than the second share is none.
UNKNOWN, KNOWN = 1e-12, 1e-6
# Largest derivative of the displacement for which W2 is of first order.
LINEAR = 1e-3
# Newton steps by which a density is turned; each squares the error of an angle as small as the deviation.
TURNS = 4
# Evolutions until the slowest mode is seen, at least, each of a decay DECAY, and the seconds all of them may take.
EVOLUTIONS, AFFORDABLE_SECONDS = 6, 60.0


class CircleNeighbourhood(Followed):
    """All densities around a state of the circle, see :class:`~solvers.evolution.neighbourhood.Neighbourhood`.

    Parameters
    ----------
    found
        The spectrum of the state.
    """

    norms: tuple[str, ...] = ("L2", "W1", "W2", "relative entropy")
    tolerance = 1e-12

    def __init__(self, found: Spectrum) -> None:
        state = found.state
        self.problem, self.rate = state.problem, found.slowest_rate
        self.target: Complexes = state.cosine - 1j * state.sine
        self._follow(partial(FullSystem, self.problem), self.target)
        seconds = EVOLUTIONS * self._paths.seconds(DECAY / self.rate)
        self.hopeless = (
            f"evolutions of {self.target.size - 1} moments would take about {seconds:.1g} seconds"
            if seconds > AFFORDABLE_SECONDS
            else ""
        )
        self._densities: dict[int, Floats] = {}
        self._turns = state.problem.confinement is None and np.abs(self.target[1:]).max(initial=0.0) > UNIFORM

    def generic_perturbation(self) -> Complexes:
        """Return eps rho (g - its mean), g with cosines and sines of many degrees."""
        target = self.target
        size = target.size + PERTURBED_DEGREES
        full = np.zeros(2 * size + 1, dtype=complex)
        full[size : size + target.size] = target
        full[size - target.size + 1 : size + 1] = target[::-1].conj()
        factor = np.zeros(2 * PERTURBED_DEGREES + 1, dtype=complex)
        degrees = np.arange(1, PERTURBED_DEGREES + 1)
        # Irrational phases, so that no symmetry is kept.
        factor[PERTURBED_DEGREES + degrees] = np.exp(1j * degrees**2 * math.sqrt(2.0)) / degrees
        factor[:PERTURBED_DEGREES] = factor[:PERTURBED_DEGREES:-1].conj()
        factor *= GENERIC / np.abs(factor).sum()
        product = np.convolve(full, factor, mode="same")[size:]
        return np.asarray(product - product[0] * padded(target, product.size))

    def modulo_rotation(self, deviation: Complexes) -> Complexes:
        """Return the deviation of a density after the rotation that brings it nearest to the state.

        The angle a is that at which the derivative of the overlap, sum k Im((c_k + delta_k) conj(c_k) e^(-ika)),
        vanishes.
        """
        if not self._turns:
            return deviation
        size = max(deviation.size, self.target.size)
        target, degrees = padded(self.target, size), np.arange(size)
        waves, angle = padded(deviation, size) * target.conj(), 0.0
        squares = np.abs(target) ** 2
        for _ in range(TURNS):
            moved = np.exp(-1j * angle * degrees)
            slope = float(degrees @ ((waves * moved).imag - squares * np.sin(angle * degrees)))
            angle += slope / float(degrees**2 @ ((waves * moved).real + squares * np.cos(angle * degrees)))
        return np.asarray(
            np.exp(-1j * angle * degrees) * padded(deviation, size) + np.expm1(-1j * angle * degrees) * target
        )

    def steepest(self, deviation: Complexes) -> float:
        """Return the largest change of the density relative to it, where it is not negligible."""
        around = self._around(deviation)
        significant = around.density > VACUUM * around.density.max()
        return float(np.abs(around.change[significant] / around.density[significant]).max())

    def distances(self, deviation: Complexes) -> Mapping[str, Callable[[], float]]:
        """Return functions by name that compute the distances of a density to the state, modulo rotation."""
        change = self.modulo_rotation(deviation)
        around = self._around(change)
        methods = (around.l2, around.first, around.second, around.entropy)
        return dict(zip(self.norms, methods, strict=True))

    def _around(self, change: Complexes) -> "_Grid":
        """Return the state and a deviation from it on a grid that resolves both."""
        degree = max(self.target.size, change.size) - 1
        nodes = max(LEAST_NODES, 1 << (NODES * degree).bit_length())
        if nodes not in self._densities:
            self._densities[nodes] = _density(self.problem, self.target, nodes)
        return _Grid(self._densities[nodes], change)


def _density(problem: Equation, target: Complexes, nodes: int) -> Floats:
    """Return a stationary density at equal angles, from its exponential."""
    angles = 2.0 * math.pi * np.arange(nodes) / nodes
    attracted = Interaction(problem).strengths(target.size - 1) * target
    attracted[0] = 0.0
    exponent = np.fft.irfft(attracted, nodes, norm="forward")
    if problem.confinement is not None:
        exponent -= np.asarray(problem.confinement.values(angles), dtype=float) / problem.noise
    weights = np.exp(exponent - exponent.max())
    return np.asarray(weights / (2.0 * math.pi * weights.mean()))


class _Grid:
    """A stationary density and a deviation from it at equal angles."""

    def __init__(self, density: Floats, change: Complexes) -> None:
        self.density, self._moments = density, change
        self.change = np.fft.irfft(change, density.size, norm="forward") / (2.0 * math.pi)

    def l2(self) -> float:
        """Return the distance in L2, by Parseval's identity."""
        return math.sqrt(math.fsum(np.abs(self._moments[1:]) ** 2) / math.pi)

    def entropy(self) -> float:
        """Return the relative entropy of the other density, given the state."""
        ratio = np.maximum(self.change / np.maximum(self.density, np.finfo(float).tiny), -1.0)
        return self._integral(self.density * excess(ratio), "relative entropy")

    def first(self) -> float:
        """Return the Wasserstein distance of order 1."""
        mass = self._moved_mass()
        return 2.0 * math.pi * float(np.abs(mass - np.median(mass)).mean())

    def second(self) -> float:
        """Return the Wasserstein distance of order 2, to first order in the deviation."""
        mass, density = self._moved_mass(), np.maximum(self.density, np.finfo(float).tiny)
        inverse = density.min() / density
        mass -= float(mass @ inverse) / float(inverse.sum())
        moved, parts = mass / density, mass**2 / density
        counts = parts > KNOWN * parts.max()
        stretched = np.abs((np.roll(moved, -1) - np.roll(moved, 1)) * moved.size / (4.0 * math.pi))
        if stretched[counts].max() > LINEAR:
            raise ComputationFailed("the density all but vanishes where the W2 is decided")
        return math.sqrt(self._integral(parts, "W2"))

    def _moved_mass(self) -> Floats:
        """Return H, the integral of the deviation, of mean zero."""
        degrees = np.arange(1, self._moments.size)
        coefficients = np.concatenate([[0.0], self._moments[1:] / (1j * degrees)])
        return np.fft.irfft(coefficients, self.density.size, norm="forward") / (2.0 * math.pi)

    def _integral(self, parts: Floats, name: str) -> float:
        """Return the sum of parts of an integral, refused if too much of it is where the deviation is unknown."""
        unknown = self.density < UNKNOWN * self.density.max()
        total, lost = float(parts[~unknown].sum()), float(parts[unknown].sum())
        if not lost <= KNOWN * total:
            raise ComputationFailed(f"the density all but vanishes where the {name} is decided")
        return 2.0 * math.pi / parts.size * total


def neighbourhood(found: Spectrum) -> CircleNeighbourhood:
    """Return all densities around a state."""
    return CircleNeighbourhood(found)
