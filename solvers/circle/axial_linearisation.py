r"""The linearised equation of any law without a lag at a density of the circle that is even about an axis.

As in :mod:`.law_spectra`, but by Gauss rules on panels that are graded to every reflection axis of the density,
since the velocity of nGPT is not smooth where the average of the tokens vanishes, which is on such an axis. With
the changes :math:`\delta v_l` of the velocity along the moment of degree l,

.. math:: L_{kl} = \langle c_k' (\kappa\,(2 c_l v + \rho\,\delta v_l) - 2 c_l V')\rangle - D k^2 \delta_{kl},

where the c are cosines or sines and the mean is uniform. A perturbation :math:`\phi = \rho\psi` is stationary iff

.. math:: \psi' = \frac{\kappa}{D}\,\delta v - \frac{J}{\rho},

where the flux J, which only sines have, makes :math:`\psi` periodic: L is singular where :math:`1 - T` is, T taking
the moments that make :math:`\delta v` to those of :math:`\phi`.
"""

import numpy as np

from meanfield import Equation

from ..bases import Floats, Integers, Panels
from ..bases.panels import HALVINGS
from ..law_eigenvalues import deflated, faded_velocity, rounding_of, velocity_slopes

# Equal panels: at least so many, and so many degrees for each.
FEWEST, DEGREES_PER_PANEL = 8, 3
# Panels are halved so often beyond the width of a layer.
SPARE = 3
# Densities below this share of the mean count as this, so that their inverses are in the range of doubles.
LEAST = 1e-280


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
    """

    def __init__(self, problem: Equation, moments: Floats, symmetry: int, degree: int, axis: float = 0.0) -> None:
        self.problem, self.symmetry = problem, symmetry
        self.ratio = problem.fixed_coupling / problem.positive_noise
        cells = max(FEWEST, degree // (DEGREES_PER_PANEL * symmetry))
        self.modes = np.arange(1, degree + 1)
        self.moments = np.zeros(degree + 1)
        kept = moments[: degree // symmetry + 1]
        self.moments[: symmetry * kept.size : symmetry] = kept
        law, domain = problem.velocity, problem.domain
        drive = -np.asarray(law.potential.multipliers(domain, degree), dtype=float)
        self._drive, self._radial = drive, law.radial(domain, degree)
        width = self._layer() * cells * symmetry / np.pi
        halvings = int(np.clip(np.ceil(-np.log2(max(width, 2.0**-HALVINGS))), 0, HALVINGS - SPARE)) + SPARE
        self.panels = Panels(np.pi / symmetry, cells, symmetry, halvings)
        self._cosines = np.cos(np.multiply.outer(np.arange(degree + 1), self.panels.angles))
        self._sines = np.sin(np.multiply.outer(self.modes, self.panels.angles))
        self.density = self._density(moments)
        terms = self.modes * (drive * self.moments)[1:]
        along = (drive * self.moments) @ self._cosines, -terms @ self._sines
        radial, rounding = None, rounding_of(terms)
        if self._radial is not None:
            radial = (self._radial * self.moments) @ self._cosines
            rounding = rounding_of(terms, self._radial * self.moments)
        self.velocity = faded_velocity(law, *along, radial, rounding)
        self._slopes = velocity_slopes(law, *along, radial, rounding)
        confinement = problem.confinement
        angles = self.panels.angles + axis
        self.force = 0.0 if confinement is None else -np.asarray(confinement.slope(angles), dtype=float)

    def _layer(self) -> float:
        """Return the width, at most one, of the layer about an axis where slope and radial drive are as large."""
        if self._radial is None:
            return 1.0
        degrees = np.arange(self.moments.size)
        ends = np.cos(np.multiply.outer([0.0, np.pi / self.symmetry], degrees))
        radials = np.abs(ends @ (self._radial * self.moments))
        bends = np.abs(ends @ (degrees**2 * self._drive * self.moments))
        return float((radials / np.maximum(bends, radials + np.finfo(float).tiny)).min())

    def _density(self, moments: Floats) -> Floats:
        """Return the density with all its moments on the panels, relative to the uniform one."""
        piece = self.panels.angles.size // self.symmetry
        waves = np.cos(np.multiply.outer(self.symmetry * self.panels.angles[:piece], np.arange(1, moments.size)))
        values = 1.0 + 2.0 * waves @ moments[1:]
        sides = [values if turn % 2 == 0 else values[::-1] for turn in range(self.symmetry)]
        return np.maximum(np.concatenate(sides), 0.0)

    def _functions(self, degrees: Integers, sines: bool) -> tuple[Floats, Floats]:
        """Return cosines or sines of some degrees on the panels, and their derivatives, one row each."""
        cosine, sine = self._cosines[degrees], self._sines[degrees - 1]
        orders = degrees[:, None].astype(float)
        return (sine, orders * cosine) if sines else (cosine, -orders * sine)

    def _changes(self, degrees: Integers, values: Floats, slopes: Floats) -> Floats:
        """Return the derivatives of the velocity along the moments of some degrees, one row each."""
        by_drive, by_slope, by_radial = self._slopes
        drive = self._drive[degrees, None]
        changes = by_drive * (drive * values) + by_slope * (drive * slopes)
        if by_radial is not None and self._radial is not None:
            changes += by_radial * (self._radial[degrees, None] * values)
        return np.asarray(changes)

    def matrix(self, sines: bool, degrees: Integers | None = None) -> Floats:
        """Return L on cosines or sines, of some degrees or of all."""
        modes = self.modes if degrees is None else degrees
        values, slopes = self._functions(modes, sines)
        coupling = self.problem.fixed_coupling
        flux = 2.0 * values * (coupling * self.velocity + self.force)
        flux += coupling * self.density * self._changes(modes, values, slopes)
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
        values, derivatives = self._functions(degrees, sines)
        slopes = self.ratio * self._changes(degrees, values, derivatives)
        if sines:
            inverse = 1.0 / np.maximum(self.density, LEAST)
            slopes -= (slopes @ self.panels.weights)[:, None] * (inverse / (inverse @ self.panels.weights))
        psi = self.panels.integrals_to(self.panels.angles)(slopes)
        masses = self.density * self.panels.weights
        means = np.multiply.outer(values @ masses, psi @ masses) if not sines else 0.0
        return np.asarray((values * masses) @ psi.T - means)
