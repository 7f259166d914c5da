r"""Systems for Fourier moments of densities that follow any velocity law on the circle.

.. math:: \dot c_k = -Dk^2 c_k - ik\int e^{-ik\theta}\,\rho\,(\omega + \kappa v[\rho] - V')\,d\theta,
          \qquad v = s(h, h'^2, R)\,h', \quad h = -W*\rho .

or with the velocity that a function of the moments gives. It is evaluated on a grid of at least four times the
degree, where drive, slope and radial drive are sums over the density with the kernels themselves: for normalised
attention their terms have one sign, so that the quotients are as accurate where no particle is near, and bounded. A
density of symmetry n has the period :math:`2\pi/n`, over which kernels are summed over the images of a particle.
"""

import functools
import math
from typing import Any

import numpy as np
from scipy.linalg import circulant

from meanfield import Equation
from meanfield.equations import Capability

from ...bases import Floats
from ...bases.transforms import FourierTransform
from ..laws import LawSystem
from ..system import AxialSystem, Complexes, FullSystem, smooth_above
from ..units import rate_unit

# Sums over the grid cost the square of its nodes.
LARGEST_DEGREE = 512
# Nodes for each degree: speeds are no polynomials of the density.
NODES = 4
# Seconds of a product with one number of a kernel, and of the rest of a step, for the estimate of costs.
PRODUCT, STEP = 1e-9, 1e-4


class Flux:
    """The flux of densities of a symmetry in moments by cell; base of those by a drive and by moments.

    Parameters
    ----------
    problem
        The equation, with its coupling.
    degree
        K, in cells.
    symmetry
        n.
    """

    def __init__(self, problem: Equation, degree: int, symmetry: int) -> None:
        self.problem, self._coupling = problem, problem.fixed_coupling
        self._transform = transform = FourierTransform(smooth_above(NODES * degree))
        self._inside = slice(1, degree + 1)
        self.angles = 2.0 * np.pi * np.arange(transform.nodes) / transform.nodes
        confinement = problem.confinement
        self._force: Floats | float = problem.velocity.frequency
        if confinement is not None:
            self._force = self._force - np.asarray(confinement.slope(self.angles / symmetry), dtype=float)
        self._divergence = -1j * symmetry * np.arange(1, degree + 1) / transform.nodes

    def velocity(self, moments: Complexes, density: Floats) -> Floats:
        """Return the velocity over the coupling on the grid, by the moments and the density there times 2 pi."""
        raise NotImplementedError

    def divergence(self, moments: Complexes, pace: float) -> Complexes:
        """Return the derivatives of moments (K,) by advection with the velocity times a factor and the force."""
        transform = self._transform
        transform.coefficients[:] = 0.0
        transform.coefficients[0] = 1.0
        transform.coefficients[self._inside] = moments
        transform.synthesise()
        density = transform.values
        # Kernels of large beta leave the range of doubles in steps that are then refused.
        with np.errstate(over="ignore", invalid="ignore"):
            density *= pace * self._coupling * self.velocity(moments, density) + self._force
        transform.analyse()
        return np.asarray(self._divergence * transform.coefficients[self._inside])


class MomentFlux(Flux):
    """The flux by a velocity that is a function of moments, of densities without symmetry."""

    def velocity(self, moments: Complexes, density: Floats) -> Floats:
        """Return the velocity over the coupling on the grid."""
        law: Any = self.problem.velocity
        known = np.zeros(law.degree + 1, dtype=complex)
        known[0] = 1.0
        known[1 : moments.size + 1] = moments[: law.degree].conj()
        return np.asarray(law.velocity(self.problem.domain, self.angles, known))


class DriveFlux(Flux):
    """The flux by a velocity along the slope of a drive."""

    def __init__(self, problem: Equation, degree: int, symmetry: int) -> None:
        super().__init__(problem, degree, symmetry)
        law, domain, last = problem.velocity, problem.domain, symmetry * degree
        transform, angles = self._transform, self.angles
        images = (angles[:, None] + 2.0 * np.pi * np.arange(symmetry)) / symmetry + law.lag
        self._drive, self._slope = (
            circulant(-np.asarray(values(images), dtype=float).mean(axis=1)) / transform.nodes
            for values in (law.potential.values, law.potential.slope)
        )
        radial = law.radial(domain, last)
        self._radial = None
        if radial is not None:
            waves = np.cos(np.multiply.outer(angles + symmetry * law.lag, np.arange(degree + 1)))
            self._radial = circulant(waves @ radial[::symmetry]) / transform.nodes

    def velocity(self, moments: Complexes, density: Floats) -> Floats:
        """Return the velocity over the coupling on the grid."""
        # Negative values are truncation and rounding, all there would be of a drive far from the particles.
        masses = np.maximum(density, 0.0)
        slope = self._slope @ masses
        radial = None if self._radial is None else self._radial @ masses
        return np.asarray(self.problem.velocity.speed(self._drive @ masses, slope * slope, radial) * slope)


class _CircleLawSystem(LawSystem):
    """Base of systems of a velocity law on the circle."""

    largest = LARGEST_DEGREE

    def __init__(self, problem: Equation, degree: int, symmetry: int = 1) -> None:
        self.problem, self.degree, self.symmetry = problem, degree, symmetry
        self.unit = rate_unit(problem) * symmetry**2
        self._damping = -problem.noise * (symmetry * np.arange(1.0, degree + 1.0)) ** 2

    @functools.cached_property
    def _flux(self) -> Flux:
        kind = MomentFlux if self.problem.lacks(Capability.DRIVE) else DriveFlux
        return kind(self.problem, self.degree, self.symmetry)

    def costs(self, duration: float) -> tuple[float, float]:
        """Return estimates of the seconds that LSODA, which has no Jacobian here, and exponential formulas take."""
        return math.inf, self.steps(duration) * (STEP + 2.0 * PRODUCT * (NODES * self.degree) ** 2)


class EvenLawSystem(_CircleLawSystem, AxialSystem):
    """Even densities: the unknowns are the cosine moments of degree n, 2n, ..., nK."""

    def __init__(self, problem: Equation, degree: int, symmetry: int = 1) -> None:
        super().__init__(problem, degree, symmetry)
        self.size, self.linear = degree, self._damping

    def advected(self, unknown: Floats, pace: float) -> Floats:
        """Return the derivative by advection with the velocity times a factor, and by the confinement."""
        return np.asarray(self._flux.divergence(unknown.astype(complex), pace).real)

    def resized(self, degree: int) -> "EvenLawSystem":
        """Return the same system with another K."""
        return EvenLawSystem(self.problem, degree, self.symmetry)


class FullLawSystem(_CircleLawSystem, FullSystem):
    """All densities: the unknowns are real and imaginary parts of c_n, c_2n, ..., c_nK, in turn."""

    def __init__(self, problem: Equation, degree: int, symmetry: int = 1) -> None:
        _CircleLawSystem.__init__(self, problem, degree, symmetry)
        self.size, self.linear = 2 * degree, np.repeat(self._damping, 2)

    def advected(self, unknown: Floats, pace: float) -> Floats:
        """Return the derivative by advection with the velocity times a factor, and by the confinement."""
        return self._flux.divergence(unknown.view(complex), pace).view(float)

    def resized(self, degree: int) -> "FullLawSystem":
        """Return the same system with another K."""
        return FullLawSystem(self.problem, degree, self.symmetry)
