r"""The linearised equation of any law without a lag at a density of the circle that is even about an axis.

As in :mod:`.law_spectra`, but by Gauss rules on panels that are graded to every reflection axis of the density,
since the velocity of nGPT is not smooth where the average of the tokens vanishes, which is on such an axis. With
the changes :math:`\delta v_l` of the velocity along the moment of degree l,

.. math:: L_{kl} = \langle c_k' (\kappa\,(2 c_l v + \rho\,\delta v_l) - 2 c_l V')\rangle - D k^2 \delta_{kl},

where the c are cosines or sines and the mean is uniform. A perturbation :math:`\phi = \rho\psi` is stationary iff

.. math:: \psi' = \frac{\kappa}{D}\,\delta v - \frac{J}{\rho},

where the flux J, which only sines have, makes :math:`\psi` periodic: L is singular where :math:`1 - T` is, T taking
the moments that make :math:`\delta v` to those of :math:`\phi`.

The density is that of the stationary map, :math:`e^{(\kappa/D)\int v - V/D}/Z`, which is accurate relative to
itself where moments are so relative to its maximum only: far from all particles :math:`\delta v` may be large.
"""

from typing import NamedTuple

import numpy as np

from meanfield import Equation

from ..bases import EPS, Floats, Integers, Panels
from ..bases.panels import HALVINGS
from ..equations.law_eigenvalues import NOISE, deflated, regularised_velocity, rounding_of, velocity_slopes

# Equal panels: at least so many, and so many degrees for each.
FEWEST, DEGREES_PER_PANEL = 8, 3
# Panels are halved so often beyond the width of a layer.
SPARE = 3
# Densities below this share of the mean count as this, so that their inverses are in the range of doubles.
LEAST = 1e-280
# Averages whose relative rounding error is above this are sums over particles.
DIGITS = 1e-9


class Averages(NamedTuple):
    """The drive, its slope, the radial drive, if any, and the rounding errors of the last two, on the panels."""

    drive: Floats
    slope: Floats
    radial: Floats | None
    rounding: Floats


class AxialLinearisation:
    """Matrices of L at an even density on the circle in cosines and sines.

    Parameters
    ----------
    problem
        The equation.
    moments : (n,) float
        The cosine moments of the density, angles counted from its axis, by cell.
    symmetry
        The degrees of a cell.
    degree
        Last degree of perturbations.
    axis
        The angle of the axis.
    density
        Last degree of the density, if it has more than perturbations.
    """

    def __init__(
        self, problem: Equation, moments: Floats, symmetry: int, degree: int, axis: float = 0.0, density: int = 0
    ) -> None:
        self.problem, self.symmetry, self.degree = problem, symmetry, degree
        self.ratio = problem.fixed_coupling / problem.positive_noise
        cells = max(FEWEST, max(degree, density) // (DEGREES_PER_PANEL * symmetry))
        self.modes = np.arange(1, degree + 1)
        self.moments = np.zeros(degree + 1)
        kept = moments[: degree // symmetry + 1]
        self.moments[: symmetry * kept.size : symmetry] = kept
        law, domain = problem.velocity, problem.domain
        self._drive, self._radial = law.drive(domain, degree), law.radial(domain, degree)
        width = self._layer() * cells * symmetry / np.pi
        halvings = int(np.clip(np.ceil(-np.log2(max(width, 2.0**-HALVINGS))), 0, HALVINGS - SPARE)) + SPARE
        self.panels = Panels(np.pi / symmetry, cells, symmetry, halvings)
        self._cosines = np.cos(np.multiply.outer(np.arange(degree + 1), self.panels.angles))
        self._sines = np.sin(np.multiply.outer(self.modes, self.panels.angles))
        self.integrals = self.panels.integrals_to(self.panels.angles)
        confinement, angles = problem.confinement, self.panels.angles + axis
        self.force, field = np.zeros(angles.size), np.zeros(angles.size)
        if confinement is not None:
            self.force = -np.asarray(confinement.slope(angles), dtype=float)
            field = -np.asarray(confinement.values(angles), dtype=float) / problem.noise
        averages = self._by_moments()
        self.density = self._density(averages, field)
        # The second round of sums starts from a density that is accurate where it is small.
        for _ in range(2):
            averages = self._improved(averages)
            self.density = self._density(averages, field)
        self.velocity = regularised_velocity(law, *averages)
        self.averages, self.slopes = averages, velocity_slopes(law, *averages)

    def _by_moments(self) -> Averages:
        """Return the averages as sums over moments."""
        drive = self._drive * self.moments
        slopes = self.modes * drive[1:]
        along = drive @ self._cosines, -slopes @ self._sines
        if self._radial is None:
            return Averages(*along, None, np.full(self.panels.angles.size, rounding_of(slopes)))
        radial = self._radial * self.moments
        rounding = rounding_of(slopes, radial)
        return Averages(*along, radial @ self._cosines, np.full(self.panels.angles.size, rounding))

    def _improved(self, averages: Averages) -> Averages:
        """Return averages which are sums over particles where those over moments leave but few digits.

        Far from all particles the terms of the former are as small as they, and their rounding with them.
        """
        if averages.radial is None:
            return averages
        law, angles = self.problem.velocity, self.panels.angles
        places = np.flatnonzero(np.hypot(averages.slope, averages.radial) < averages.rounding / DIGITS)
        if not places.size:
            return averages
        apart = np.hstack([np.subtract.outer(angles[places], angles), np.add.outer(angles[places], angles)])
        masses = 0.5 * np.tile(self.density * self.panels.weights, 2)
        drive, derivative, radial = law.kernels(np.cos(apart))
        assert radial is not None
        slope = -np.sin(apart) * derivative
        # Each row is divided by a factor, which the potential tells.
        largest = np.arange(places.size), np.abs(drive).argmax(axis=1)
        factors = -np.asarray(law.potential.values(apart[largest]), dtype=float) / drive[largest]
        sums = (part @ masses for part in (drive, slope, radial, np.abs(slope) + np.abs(radial)))
        improved = [part.copy() for part in averages if part is not None]
        for whole, part in zip(improved, sums, strict=True):
            whole[places] = factors * part
        improved[3][places] *= NOISE * EPS
        return Averages(*improved)

    def _density(self, averages: Averages, field: Floats) -> Floats:
        """Return the density of the stationary map, by its averages and the field of the confinement."""
        field = field + self.ratio * self.integrals(regularised_velocity(self.problem.velocity, *averages))
        density = np.exp(field - field.max())
        return np.asarray(density / (density @ self.panels.weights))

    def _layer(self) -> float:
        """Return the width, at most one, of the layer about an axis where slope and radial drive are as large."""
        if self._radial is None:
            return 1.0
        degrees = np.arange(self.moments.size)
        ends = np.cos(np.multiply.outer([0.0, np.pi / self.symmetry], degrees))
        radials = np.abs(ends @ (self._radial * self.moments))
        bends = np.abs(ends @ (degrees**2 * self._drive * self.moments))
        return float((radials / np.maximum(bends, radials + np.finfo(float).tiny)).min())

    def functions(self, degrees: Integers, sines: bool) -> tuple[Floats, Floats]:
        """Return cosines or sines of some degrees on the panels, and their derivatives, one row each."""
        cosine, sine = self._cosines[degrees], self._sines[degrees - 1]
        orders = degrees[:, None].astype(float)
        return (sine, orders * cosine) if sines else (cosine, -orders * sine)

    def changes(self, degrees: Integers, values: Floats, slopes: Floats) -> Floats:
        """Return the derivatives of the velocity along the moments of some degrees, one row each."""
        by_drive, by_slope, by_radial = self.slopes
        drive = self._drive[degrees, None]
        changes = by_drive * (drive * values) + by_slope * (drive * slopes)
        if by_radial is not None and self._radial is not None:
            changes += by_radial * (self._radial[degrees, None] * values)
        return np.asarray(changes)

    def matrix(self, sines: bool, degrees: Integers | None = None) -> Floats:
        """Return L on cosines or sines, of some degrees or of all."""
        modes = self.modes if degrees is None else degrees
        values, slopes = self.functions(modes, sines)
        coupling = self.problem.fixed_coupling
        flux = 2.0 * values * (coupling * self.velocity + self.force)
        flux += coupling * self.density * self.changes(modes, values, slopes)
        matrix = (slopes * self.panels.weights) @ flux.T
        matrix.flat[:: modes.size + 1] -= self.problem.noise * modes**2
        return np.asarray(matrix)

    def generator(self) -> Floats:
        """Return the moments of minus the derivative of the density, in sines: rotation."""
        return np.asarray(self.modes * self.moments[1:])

    def of_class(self, residue: int, sines: bool) -> Floats:
        """Return L on the cosines or sines of a class of degrees, rotation moved behind all other eigenvalues."""
        classes = self.modes % self.symmetry
        degrees = self.modes[(classes == residue) | (classes == self.symmetry - residue)]
        matrix = self.matrix(sines, degrees)
        if not sines or residue or self.problem.confinement is not None:
            return matrix
        return deflated(matrix, self.generator()[degrees - 1])

    def block(self, sines: bool | None) -> tuple[Floats, Floats]:
        """Return L on cosines or sines, and the coefficients of rho' there."""
        assert sines is not None
        return self.matrix(sines), -self.generator() if sines else np.zeros(self.modes.size)

    def deflated(self, sines: bool | None) -> Floats:
        """Return L on cosines or sines, with its rotation eigenvalue, if any, moved behind all others."""
        matrix, generator = self.block(sines)
        return matrix if self.problem.confinement is not None else deflated(matrix, generator)

    def stationary_map(self, degrees: Integers, sines: bool) -> Floats:
        """Return T on the cosines or sines of some degrees of one class."""
        values, derivatives = self.functions(degrees, sines)
        slopes = self.ratio * self.changes(degrees, values, derivatives)
        if sines:
            inverse = 1.0 / np.maximum(self.density, LEAST)
            slopes -= (slopes @ self.panels.weights)[:, None] * (inverse / (inverse @ self.panels.weights))
        psi = self.integrals(slopes)
        masses = self.density * self.panels.weights
        means = np.multiply.outer(values @ masses, psi @ masses) if not sines else 0.0
        return np.asarray((values * masses) @ psi.T - means)
