r"""Unstable directions of even states of laws that have no Gibbs map.

With the moments c of a perturbation :math:`\phi = \rho\psi` of one class of degrees and one parity, see
:mod:`.stability`, and the change :math:`\delta v` of the velocity that they make, a stationary perturbation obeys

.. math:: \psi' = \frac{\kappa}{D}\,\delta v[c] - \frac{J}{\rho},

where the flux J, which only the sines of class 0 have, makes :math:`\psi` periodic. So the linearised equation is
singular where the matrix of :math:`1 - T` is, :math:`Tc` being the moments of :math:`\phi`. Zero eigenvalues are at
branch points, and :math:`\rho'` is the one of rotation, which is moved to one (Brauer). Unstable directions are
counted by the eigenvalues of the linearised equation itself: without a symmetry of T, that as many eigenvalues of
:math:`1 - T` are negative is no theorem.
"""

from functools import partial

import numpy as np

from ..bases import EPS, Floats
from ..branches.continuation import Point
from ..equation import plus_projector
from ..geometry import BlockMatrix, UnsymmetricMatrix
from ..law_eigenvalues import ROUNDING, STEP
from ..newton import NEUTRAL
from ..significant import significant_degrees, strengths
from ..velocity import VelocityEquation
from .law_spectra import Linearisation
from .linearisation import last_degree
from .stability import Block

# Moments of the density above this decide the degrees of perturbations; so many more there are, of so many at most,
# and the points of the grid for each: enough for the signs of the growth rates, though not for all their digits.
RESOLVED, BEYOND, MOST, FINER = 1e-12, 24, 256, 4
# Densities below this are not distinguished from it, so that their inverse is in the range of doubles.
LEAST = 1e-280


def unstable_counts(point: Point, neutral: float = NEUTRAL) -> tuple[int, int]:
    """Return the numbers of unstable even and odd directions: growing eigenvalues of the linearised equation.

    Those within rounding of zero do not count.
    """
    basis = point.equation.basis
    moments = np.zeros(basis.symmetry * basis.nodes + 1, dtype=complex)
    moments[:: basis.symmetry] = point.moments
    last = min(last_degree(moments, RESOLVED), MOST)
    problem = point.equation.problem.at(coupling=float(point.coupling))
    about = Linearisation(problem, moments, last + max(BEYOND, last // 3), basis.axis, FINER)
    even, odd = (_growing(about.deflated(sines)) for sines in (False, True))
    return even, odd


def _growing(matrix: Floats) -> int:
    """Return the number of eigenvalues whose real parts are above rounding."""
    rounding = ROUNDING * EPS * float(np.linalg.norm(matrix))
    return int(np.count_nonzero(np.linalg.eigvals(matrix).real > rounding))


def block_matrix(point: Point, block: Block) -> BlockMatrix:
    """Return the matrix of 1 - T of one block at a point, which is not symmetric, and its degrees."""
    equation, basis = point.equation, point.equation.basis
    if block.own:
        matrix = equation.own_block(point.b, point.q, point.moments)
        assert matrix is not None
        return UnsymmetricMatrix(matrix, basis.degrees, 0)
    degrees = significant_degrees(equation.problem, int(basis.degrees.max()))
    classes = degrees % basis.symmetry
    degrees = degrees[(classes == block.residue) | (classes == basis.symmetry - block.residue)]
    roots = np.sqrt(np.abs(strengths(equation.problem, int(degrees.max(initial=1))).relative[degrees]))
    matrix = np.eye(degrees.size) - roots[:, None] * _Circle(point).map(degrees, block.parity == "odd") / roots
    if rotations(point, block):
        means = np.append(point.moments, 0.0)[np.minimum(degrees // basis.symmetry, point.moments.size)]
        matrix = plus_projector(matrix, roots * degrees * means)
    return UnsymmetricMatrix(matrix, degrees, 0)


def rotations(point: Point, block: Block) -> int:
    """Return the number of rotation modes of a state, whose eigenvalues are moved to one, in a block."""
    if block.parity == "even" or block.residue != 0 or point.equation.problem.confinement is not None:
        return 0
    return int(np.any(point.moments[1:]))


class _Circle:
    """A state on a grid of the whole circle, angles counted from its axis."""

    def __init__(self, point: Point) -> None:
        equation, basis = point.equation, point.equation.basis
        assert isinstance(equation, VelocityEquation)
        assert basis.axial is not None
        self.problem, self.turns = equation.problem, basis.symmetry
        self.ratio = float(point.coupling) / self.problem.positive_noise
        drive, slope, radial = equation.averages(point.b, *basis.axial.modes_at(basis.axial.angles))
        self.drive, self.slope = self._around(drive, 1.0), self._around(slope, -1.0)
        self.radial = None if radial is None else self._around(radial, 1.0)
        self.velocity = partial(equation.velocity_at, point.b)
        density = self._around(equation.weighted(point.b, point.q), 1.0)
        self.density = density / density.mean()
        self.angles = 2.0 * np.pi * np.arange(density.size) / density.size

    def _around(self, values: Floats, sign: float) -> Floats:
        """Return even values, or odd ones for the sign -1, on the nodes of half a period, all around the circle."""
        return np.tile(np.concatenate([values, sign * values[-2:0:-1]]), self.turns)

    def map(self, degrees: np.ndarray, sines: bool) -> Floats:
        """Return T on the cosines or sines of some degrees."""
        phases = np.multiply.outer(degrees, self.angles)
        values, turned = (np.sin(phases), np.cos(phases)) if sines else (np.cos(phases), -np.sin(phases))
        psi = self._integrals(self.ratio * self._changes(degrees, values, degrees[:, None] * turned))
        weighted = values * self.density / self.angles.size
        covariances: Floats = weighted @ psi.T - np.multiply.outer(weighted.sum(axis=1), psi @ self.density) / (
            self.angles.size
        )
        return covariances

    def _changes(self, degrees: np.ndarray, values: Floats, slopes: Floats) -> Floats:
        """Return the derivatives of the velocity along the moments of some degrees."""
        law, last = self.problem.velocity, int(degrees.max(initial=0))
        drive = -np.asarray(law.potential.multipliers(self.problem.domain, last), dtype=float)[degrees, None]
        shifted = self.slope + 1j * STEP * drive * slopes
        moved = None
        if self.radial is not None:
            coefficients = np.asarray(law.radial(self.problem.domain, last))
            moved = self.radial + 1j * STEP * coefficients[degrees, None] * values
        return np.asarray(self.velocity(self.drive + 1j * STEP * drive * values, shifted, moved).imag / STEP)

    def _integrals(self, slopes: Floats) -> Floats:
        """Return the periodic functions with slopes less multiples of 1/rho, of mean zero."""
        inverse = 1.0 / np.maximum(self.density, LEAST)
        inverse /= inverse.mean()
        slopes = slopes - slopes.mean(axis=1, keepdims=True) * inverse
        series = np.fft.rfft(slopes)
        degrees = np.arange(series.shape[1])
        series[:, 0] = 0.0
        series[:, 1:] /= 1j * degrees[1:]
        if slopes.shape[1] % 2 == 0:
            series[:, -1] = 0.0
        return np.asarray(np.fft.irfft(series, slopes.shape[1]))
