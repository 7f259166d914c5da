r"""All densities on the circle symmetric under rotation by 2 pi/n: cosines and sines of multiples of n.

Unknowns and moments are stacked, cosines first. With :math:`s_{-j} = -s_j`,

.. math::

    \mathrm{Cov}(\sin k, \sin l) &= \tfrac12 (m_{k-l} - m_{k+l}) - s_k s_l, \\
    \mathrm{Cov}(\cos k, \sin l) &= \tfrac12 (s_{k+l} - s_{k-l}) - m_k s_l .
"""

import functools
import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from meanfield.harmonics import CircleModes, Modes

from .base import SMALL_FIELD, Basis, Floats, Gibbs, Integers, Longs, exp_beyond_quadratic, fine_phases, multiples
from .limits import MAX_NODES, MAX_UNKNOWNS
from .transforms import FourierTransform, planned

Complexes = NDArray[np.complex128]


class FourierBasis(Basis):
    """Cosines and sines of degree n, 2n, ..., with a trapezoid rule on one period.

    Parameters
    ----------
    cells : (size / 2,) int
        The unknown modes in units of the symmetry; each gives a cosine and a sine.
    nodes
        Largest resolved cell; the rule has ``2 * nodes`` points.
    symmetry
        n of the n-fold rotation symmetry.
    confinement : (J,) float or complex, optional
        Coefficients, per cell from 1, of the fixed part -V/D of the field: those of cosines or, less i times those
        of sines, of both.
    mirrors
        Angles of axes, equally spaced in half a turn: a state has images by reflection about them.
    rotations
        The number of rotations by which it has images, those by shares of a turn.
    held_by
        The unknown that keeps a state from turning without a confinement, a sine that is zero; None if none does.
    """

    modes: Modes = CircleModes()
    even: bool = False
    most_nodes: int = MAX_NODES
    axis: float = 0.0
    most_cells: int = MAX_UNKNOWNS
    needs_second_rule: bool = False

    def __init__(
        self,
        cells: Integers,
        nodes: int,
        symmetry: int = 1,
        confinement: Any = None,
        mirrors: tuple[float, ...] = (),
        rotations: int = 1,
        held_by: int | None = None,
    ) -> None:
        self.mirrors = mirrors
        self.held_by = held_by
        self.rotations = rotations
        self.cells = cells
        self.symmetry = symmetry
        self.degrees = np.concatenate([symmetry * cells, symmetry * cells])
        self.squares = np.full(self.degrees.size, 0.5)
        self.nodes = nodes
        self.confinement = confinement
        self._fixed = np.zeros(nodes + 1, dtype=complex)
        if confinement is not None:
            count = min(confinement.size, nodes)
            self._fixed[1 : count + 1] = 0.5 * confinement[:count]

    def resized(self, cells: Integers, nodes: int) -> "FourierBasis":
        """Return the same basis with other cells and another number of nodes."""
        held_by = self.held_by
        if held_by is not None:
            (place,) = np.flatnonzero(cells == self.cells[held_by - self.cells.size]).tolist()
            held_by = cells.size + place
        return FourierBasis(cells, nodes, self.symmetry, self.confinement, self.mirrors, self.rotations, held_by)

    def with_images(self, mirrors: tuple[float, ...], rotations: int) -> "FourierBasis":
        """Return the same basis with other axes and rotations that give images."""
        return FourierBasis(self.cells, self.nodes, self.symmetry, self.confinement, mirrors, rotations)

    def confined(self, confinement: Any) -> "FourierBasis":
        """Return the same basis in another confinement."""
        return FourierBasis(self.cells, self.nodes, self.symmetry, confinement, self.mirrors, self.rotations)

    @property
    def fourier(self) -> "FourierBasis":
        """The basis itself."""
        return self

    def field_of(self, series: Complexes) -> Floats:
        """Return the coefficients in the modes of Re sum_k c_k exp(ikt), c of degrees from 0."""
        return self.means_from(series)

    def means_from(self, moments: Complexes) -> Floats:
        """Return the means of the modes by complex moments <exp(-ikt)> of degrees from 0."""
        own = np.zeros(self.cells.size, dtype=complex)
        degrees = self.symmetry * self.cells
        known = degrees < moments.size
        own[known] = moments[degrees[known]]
        return np.concatenate([own.real, -own.imag])

    def complex_moments(self, means: Floats) -> Complexes:
        """Return complex moments <exp(-ikt)> of degrees from 0 by the means of the modes, one of degree 0."""
        moments = np.zeros(self.symmetry * int(self.cells[-1]) + 1, dtype=complex)
        cosine, sine = np.split(means, 2)
        moments[0], moments[self.symmetry * self.cells] = 1.0, cosine - 1j * sine
        return moments

    def admissible(self, limit: int) -> Integers:
        """Return the degrees up to a limit that densities of the symmetry can have."""
        return multiples(self.symmetry, limit)

    def gibbs(self, field: Floats) -> Gibbs:
        """Return stacked moments and log(Z / 2 pi) of the Gibbs density of a field."""
        transform, count = planned(FourierTransform, 2 * self.nodes), self.cells.size
        transform.coefficients[:] = self._fixed
        transform.coefficients[self.cells] += 0.5 * (field[:count] - 1j * field[count:])
        transform.synthesise()
        values = transform.values
        top = float(values.max())
        if top < SMALL_FIELD and float(values.min()) > -SMALL_FIELD:
            return self._near_uniform(transform)
        np.subtract(values, top, out=values)
        np.exp(values, out=values)
        transform.analyse()
        mass = float(transform.coefficients[0].real)
        scaled = transform.coefficients / mass
        log_partition = top + math.log(mass / (2 * self.nodes))
        return Gibbs(np.concatenate([scaled.real, -scaled.imag]), log_partition)

    def _near_uniform(self, transform: FourierTransform) -> Gibbs:
        """Return the Gibbs density from e^f - 1, with moments accurate relative to f, however small f is."""
        np.expm1(transform.values, out=transform.values)
        transform.analyse()
        excess = float(transform.coefficients[0].real) / (2 * self.nodes)
        scaled = transform.coefficients / (2 * self.nodes * (1.0 + excess))
        scaled[0] = 1.0
        return Gibbs(np.concatenate([scaled.real, -scaled.imag]), math.log1p(excess))

    def synthesise(self, field: Floats) -> Floats:
        """Return the values of a sum of modes on the nodes, of which the next transform makes others."""
        transform, count = planned(FourierTransform, 2 * self.nodes), self.cells.size
        transform.coefficients[:] = 0.0
        transform.coefficients[self.cells] = 0.5 * (field[:count] - 1j * field[count:])
        transform.synthesise()
        values: Floats = transform.values
        return values

    def fine_table(self) -> tuple[Longs, Longs] | None:
        """Return the modes on the nodes, (size, n), and multiples of the nodes' shares, in extended precision."""
        phases = fine_phases(self.cells, 2 * self.nodes, 2 * self.nodes)
        return np.concatenate([np.cos(phases), np.sin(phases)]), np.ones(2 * self.nodes, dtype=np.longdouble)

    def analyse(self, values: Floats) -> Floats:
        """Return the uniform means of values on the nodes times cosines and sines of cells 0..nodes, stacked."""
        transform = planned(FourierTransform, 2 * self.nodes)
        transform.values[:] = values
        transform.analyse()
        scaled = transform.coefficients / (2 * self.nodes)
        return np.concatenate([scaled.real, -scaled.imag])

    @functools.cached_property
    def confining(self) -> Floats | None:
        """The field of the confinement on the nodes; None if there is none."""
        if self.confinement is None:
            return None
        transform = planned(FourierTransform, 2 * self.nodes)
        transform.coefficients[:] = self._fixed
        transform.synthesise()
        return transform.values.copy()

    def mean_beyond_quadratic(self, field: Floats) -> float:
        """Return the uniform mean of e^f - 1 - f - f^2/2, without cancellation for small fields."""
        transform, count = planned(FourierTransform, 2 * self.nodes), self.cells.size
        transform.coefficients[:] = 0.0
        transform.coefficients[self.cells] = 0.5 * (field[:count] - 1j * field[count:])
        transform.synthesise()
        return float(exp_beyond_quadratic(transform.values).mean())

    def means(self, moments: Floats) -> Floats:
        """Return the means of the modes."""
        cosine, sine = np.split(moments, 2)
        return np.concatenate([cosine[self.cells], sine[self.cells]])

    def covariance(self, moments: Floats) -> Floats:
        """Return the covariance matrix of the modes."""
        return covariance(self.cells, *np.split(moments, 2))

    def rotation(self, moments: Floats) -> Floats | None:
        """Return the derivative of the means under rotation, or None if a confinement fixes the angle."""
        return None if self.confinement is not None else self.turning(self.means(moments))[:, 0]

    def turning(self, means: Floats) -> Floats:
        """Return the derivative of given means under rotation, (size, 1)."""
        cosine, sine = np.split(means, 2)
        return np.concatenate([-self.cells * sine, self.cells * cosine])[:, None]

    @functools.cached_property
    def phase_conditions(self) -> Floats | None:
        """The row of the unknown that is zero, (1, size); None if none is."""
        return None if self.held_by is None else np.eye(1, self.degrees.size, self.held_by)

    def images(self, b: Floats) -> list[Floats]:
        """Return the state and its images by reflection, and by half its period where that is among the rotations.

        Those of states that may turn by any angle are a continuum along the rotation mode, and not among them.
        """
        cosine, sine = np.split(b, 2)
        amplitudes, degrees = cosine - 1j * sine, self.symmetry * self.cells
        distinct = self.mirrors[: len(self.mirrors) // self.symmetry]
        images = [np.exp(-2j * axis * degrees) * amplitudes.conj() for axis in distinct]
        if self.rotations % (2 * self.symmetry) == 0:
            images.append(np.where(self.cells % 2, -amplitudes, amplitudes))
        return [b, *(np.concatenate([image.real, -image.imag]) for image in images)]

    def images_beside(self, b: Floats, other: Floats, confined: bool) -> list[Floats]:
        """Return the state and its images; without a confinement all that keep the same sine zero."""
        if confined or self.held_by is None:
            return self.images(b)
        cosine, sine = np.split(b, 2)
        degrees, held = self.symmetry * self.cells, int(self.degrees[self.held_by])
        turns = np.exp(1j * np.pi / held * np.multiply.outer(np.arange(2 * held), degrees))
        amplitudes = np.concatenate([turns * (cosine - 1j * sine), turns * (cosine + 1j * sine)])
        return list(np.concatenate([amplitudes.real, -amplitudes.imag], axis=1))

    def agrees(self, field: Floats, moments: Floats) -> bool:
        """Return True, since the error of the trapezoid rule shows in the tail of the moments."""
        return True

    def moments_from(self, cosine: Floats, sine: Floats) -> Floats:
        """Return stacked moments by cell from those by degree, zero-padded."""
        moments = np.zeros((2, self.nodes + 1))
        for row, source in zip(moments, (cosine, sine), strict=True):
            cells = source[:: self.symmetry][: self.nodes + 1]
            row[: cells.size] = cells
        return moments.ravel()

    def expand(self, moments: Floats) -> tuple[Floats, Floats]:
        """Return cosine and sine moments of every degree from 0 to symmetry * nodes."""
        full = np.zeros((2, self.symmetry * self.nodes + 1))
        full[:, :: self.symmetry] = moments.reshape(2, -1)
        return full[0], full[1]

    def tail(self, moments: Floats) -> float:
        """Return the largest modulus of the last eighth of the moments."""
        return float(np.abs(moments.reshape(2, -1)[:, -(self.nodes // 8) :]).max())


def covariance(cells: Integers, cosine: Floats, sine: Floats) -> Floats:
    """Return the covariance of cosines and sines of the cells under a density with these moments."""
    total, difference = cells[:, None] + cells, cells[:, None] - cells
    distance = np.abs(difference)
    plus, minus = cosine[total], cosine[distance]
    mixed = 0.5 * (sine[total] - np.sign(difference) * sine[distance])
    means = np.concatenate([cosine[cells], sine[cells]])
    second = np.block([[0.5 * (minus + plus), mixed], [mixed.T, 0.5 * (minus - plus)]])
    return np.asarray(second - np.multiply.outer(means, means), dtype=float)
