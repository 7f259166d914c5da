"""Even densities on the circle, symmetric under rotation by 2 pi/n: cosines of multiples of n.

In the variable n*theta a density of symmetry n is a density of symmetry 1, so everything is computed on one
half period with ``nodes + 1`` points, and the moment j stands for the degree n*j.

In a confinement with several reflection axes densities may be even about any of them: angles count from the axis.
"""

import functools
import math
from collections.abc import Callable

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray
from scipy.linalg.blas import idamax

from meanfield.harmonics import CircleModes, Modes

from .base import (
    LARGE_FIELD,
    SMALL_FIELD,
    Basis,
    Floats,
    Gibbs,
    Integers,
    Longs,
    exp_beyond_quadratic,
    fine_phases,
    greatest,
    multiples,
    plus_dyad,
    significant,
    slice_of,
)
from .limits import MAX_NODES, MAX_UNKNOWNS
from .transforms import CosineTransform, planned

# A product with a table of so many values costs less than filling a buffer and transforming it.
SMALL_TABLE = 4096
# A table of all cosines on more intervals than this costs more than transforms, compiled or not.
MANY_NODES = 256


@functools.lru_cache(maxsize=8)
def _folded_table(nodes: int) -> Floats:
    """Return the values of :attr:`CosineBasis.folded_table`, each at its angle modulo the period."""
    cells = np.concatenate([np.arange(first, nodes + 1, 2) for first in (0, 1)])
    angles = np.multiply.outer(np.arange(nodes // 2 + 1), cells) % (2 * nodes)
    return np.asarray(np.cos(np.pi * angles / nodes))


@functools.lru_cache(maxsize=32)
def _table_of(nodes: int, cells: tuple[int, ...]) -> Floats:
    """Return the cached values of modes on nodes, (nodes + 1, size), which is not written to."""
    return np.asarray(np.cos(np.multiply.outer(np.linspace(0.0, np.pi, nodes + 1), cells)))


class CosineBasis(Basis):
    """Cosines of degree n, 2n, ..., with a trapezoid rule on half a period.

    Parameters
    ----------
    cells : (size,) int
        The unknown modes, in units of the symmetry: degree = symmetry * cell.
    nodes
        Number of intervals on the half period; at least twice the largest cell.
    symmetry
        n of the n-fold rotation symmetry.
    confinement : (J,) float, optional
        Cosine coefficients, per cell from 1, of the fixed part -V/D of the field, angles counted from the axis.
    axis
        Angle of the reflection axis.
    """

    modes: Modes = CircleModes()
    even: bool = True
    most_nodes: int = MAX_NODES
    most_cells: int = MAX_UNKNOWNS
    needs_second_rule: bool = False

    def __init__(
        self,
        cells: Integers,
        nodes: int,
        symmetry: int = 1,
        confinement: Floats | None = None,
        axis: float = 0.0,
    ) -> None:
        self.axis = axis
        self.cells = cells
        self.symmetry = symmetry
        self.degrees = symmetry * cells
        self.squares = np.full(cells.size, 0.5)
        self.nodes = nodes
        self.confinement = confinement
        self._modes = slice_of(cells)
        self._fixed = np.zeros(nodes + 1)
        if confinement is not None:
            count = min(confinement.size, nodes)
            self._fixed[1 : count + 1] = 0.5 * confinement[:count]

    @functools.cached_property
    def _table(self) -> Floats | None:
        """Values of the modes on the nodes, (nodes + 1, size); None if they are many or there is a confinement."""
        if self.confinement is not None or self.cells.size * (self.nodes + 1) > SMALL_TABLE:
            return None
        return _table_of(self.nodes, tuple(self.cells.tolist()))

    @functools.cached_property
    def folded_table(self) -> Floats | None:
        """Values of the cosines of even cells up to ``nodes``, then of odd ones, on half of the nodes, in columns.

        None if there is no table of the modes, if nodes are many, or if the density has a factor of its own.
        """
        if self._table is None or self.needs_second_rule or self.nodes > MANY_NODES or self.nodes % 2:
            return None
        return _folded_table(self.nodes)

    @functools.cached_property
    def _pairs(self) -> tuple[Integers, Integers]:
        """Sums k + l and differences |k - l| of all pairs of cells."""
        first = self.cells[:, None]
        return first + self.cells, np.abs(first - self.cells)

    @property
    def cosines(self) -> "CosineBasis":
        """The basis itself."""
        return self

    @property
    def axial(self) -> "CosineBasis":
        """The basis itself."""
        return self

    @property
    def extent(self) -> float:
        """Half of the period."""
        return math.pi / self.symmetry

    @property
    def angles(self) -> Floats:
        """The angles of the nodes from the axis."""
        return np.linspace(0.0, self.extent, self.nodes + 1)

    @property
    def weights(self) -> Floats:
        """The weights of the trapezoid rule."""
        weights = np.full(self.nodes + 1, 1.0 / self.nodes)
        weights[[0, -1]] *= 0.5
        return weights

    def modes_at(self, angles: Floats) -> tuple[Floats, Floats]:
        """Return the values of the modes at angles and their derivatives by the angle, (size, n) each."""
        phases = np.multiply.outer(self.degrees, angles)
        return np.cos(phases), np.asarray(-self.degrees[:, None] * np.sin(phases), dtype=float)

    def resized(self, cells: Integers, nodes: int) -> "CosineBasis":
        """Return the same basis with other cells and another number of nodes."""
        return CosineBasis(cells, nodes, self.symmetry, self.confinement, self.axis)

    def confined(self, confinement: Floats) -> "CosineBasis":
        """Return the same basis in another confinement."""
        return CosineBasis(self.cells, self.nodes, self.symmetry, confinement, self.axis)

    def about(self, axis: float) -> "CosineBasis":
        """Return the basis of the densities even about another reflection axis of the confinement.

        Its coefficients from there are the same up to signs, cos(k (t + a)) being even in t only if sin(k a) = 0.
        """
        if self.confinement is None:
            return CosineBasis(self.cells, self.nodes, self.symmetry, None, axis)
        degrees = self.symmetry * np.arange(1, self.confinement.size + 1)
        turned = np.rint(np.cos(degrees * (axis - self.axis))) * self.confinement
        return CosineBasis(self.cells, self.nodes, self.symmetry, turned, axis)

    def confinement_turns(self, cell: int) -> bool:
        """Return whether the confinement, if any, is invariant under rotation by half the angle of a cell."""
        return self.confinement is None or not np.any((np.flatnonzero(self.confinement) + 1) % (2 * cell))

    def admissible(self, limit: int) -> Integers:
        """Return the degrees up to a limit that densities of the symmetry can have."""
        return multiples(self.symmetry, limit)

    def gibbs(self, field: Floats) -> Gibbs:
        """Return moments 0..nodes and log(Z / 2 pi) of the Gibbs density of a field."""
        transform = planned(CosineTransform, self.nodes)
        buffer, output = transform.input, transform.output
        if self._table is not None:
            self._table.dot(field, out=output)
        else:
            buffer[:] = self._fixed
            buffer[self._modes] += 0.5 * field
            transform.execute()
        largest = abs(output.item(idamax(output)))
        if largest < SMALL_FIELD:
            return self._near_uniform(transform)
        shift = output.item(output.argmax()) if largest > LARGE_FIELD else 0.0
        if shift > LARGE_FIELD:
            np.subtract(output, shift, out=output)
        else:
            shift = 0.0
        np.exp(output, out=buffer)
        transform.execute()
        mass = output.item(0)
        return Gibbs(output / mass, shift + math.log(mass / (2 * self.nodes)))

    def _near_uniform(self, transform: CosineTransform) -> Gibbs:
        """Return the Gibbs density from e^f - 1, with moments accurate relative to f, however small f is."""
        np.expm1(transform.output, out=transform.input)
        transform.execute()
        excess = float(transform.output[0]) / (2 * self.nodes)
        moments = transform.output / (2 * self.nodes * (1.0 + excess))
        moments[0] = 1.0
        return Gibbs(moments, math.log1p(excess))

    def synthesise(self, field: Floats) -> Floats:
        """Return the values of a sum of modes on the nodes, of which the next transform makes others."""
        transform = planned(CosineTransform, self.nodes)
        if self._table is not None:
            self._table.dot(field, out=transform.output)
        else:
            transform.input[:] = 0.0
            transform.input[self._modes] = 0.5 * field
            transform.execute()
        values: Floats = transform.output
        return values

    def fine_table(self) -> tuple[Longs, Longs] | None:
        """Return the modes on the nodes, (size, n), and multiples of the nodes' shares, in extended precision."""
        shares = np.ones(self.nodes + 1, dtype=np.longdouble)
        shares[[0, -1]] = 0.5
        return np.cos(fine_phases(self.cells, 2 * self.nodes, self.nodes + 1)), shares

    def analyse(self, values: Floats) -> Floats:
        """Return the uniform means of values on the nodes times the cosines of cells 0..nodes."""
        transform = planned(CosineTransform, self.nodes)
        transform.input[:] = values
        transform.execute()
        return np.asarray(transform.output / (2 * self.nodes))

    @functools.cached_property
    def confining(self) -> Floats | None:
        """The field of the confinement on the nodes; None if there is none."""
        if self.confinement is None:
            return None
        transform = planned(CosineTransform, self.nodes)
        transform.input[:] = self._fixed
        transform.execute()
        return transform.output.copy()

    def mean_beyond_quadratic(self, field: Floats) -> float:
        """Return the uniform mean of e^f - 1 - f - f^2/2, without cancellation for small fields."""
        transform = planned(CosineTransform, self.nodes)
        transform.input[:] = 0.0
        transform.input[self._modes] = 0.5 * field
        transform.execute()
        values = exp_beyond_quadratic(transform.output)
        return float(values[1:-1].sum() + 0.5 * (values[0] + values[-1])) / self.nodes

    def means(self, moments: Floats) -> Floats:
        """Return the means of the modes."""
        means: Floats = moments[self._modes]
        return means

    def covariance(self, moments: Floats) -> Floats:
        """Return the covariance matrix of the modes."""
        means = moments[self._modes]
        half = 0.5 * moments
        total, difference = self._pairs
        matrix: Floats = half.take(total)
        matrix += half.take(difference)
        return plus_dyad(matrix, -1.0, means)

    def first_covariances(self, moments: Floats, count: int) -> Floats:
        """Return the first rows of the covariance matrix of the modes."""
        means, last = moments[self._modes], int(self.cells[-1])
        # Row k of the moments m_(k+l) is a window that begins at place k, that of the moments m_|k-l| one that ends
        # k places before the last.
        half = 0.5 * moments[: 2 * last + 1]
        total = sliding_window_view(half, last + 1)
        difference = sliding_window_view(np.concatenate([half[last:0:-1], half[: last + 1]]), last + 1)[::-1]
        first = slice_of(self.cells[:count])
        matrix: Floats = total[first][:, self._modes] + difference[first][:, self._modes]
        return plus_dyad(matrix, -1.0, means)

    def covariance_products(self, moments: Floats) -> Callable[[Floats], Floats]:
        """Return the function from rows to their products with the covariance matrix, by transforms."""
        transform = planned(CosineTransform, self.nodes)
        buffer, output, execute = transform.input, transform.output, transform.execute
        buffer[:] = moments
        execute()
        density, means = output / (4 * self.nodes), moments[self._modes]

        def products_with(rows: Floats) -> Floats:
            products = np.empty_like(rows)
            for row, product in zip(rows, products, strict=True):
                buffer[:] = 0.0
                buffer[self._modes] = row
                execute()
                np.multiply(output, density, out=buffer)
                execute()
                np.subtract(output[self._modes], output.item(0) * means, out=product)
            return products

        return products_with

    def rotation(self, moments: Floats) -> None:
        """Return None, since rotations of even densities are not even."""
        return

    def images(self, b: Floats) -> list[Floats]:
        """Return a state and its other even rotation, by half of its symmetry angle."""
        cells = self.cells[significant(b)]
        common = int(np.gcd.reduce(cells))
        if not cells.size or not self.confinement_turns(common):
            return [b]
        return [b, np.where(self.cells // common % 2 == 1, -b, b)]

    def agrees(self, field: Floats, moments: Floats) -> bool:
        """Return True, since the error of the trapezoid rule shows in the tail of the moments."""
        return True

    def moments_from(self, cosine: Floats, sine: Floats) -> Floats:
        """Return moments by cell from those by degree, zero-padded to ``nodes + 1``."""
        moments = np.zeros(self.nodes + 1)
        cells = cosine[:: self.symmetry][: self.nodes + 1]
        moments[: cells.size] = cells
        if self.axis:
            phases = self.phases(cells.size)
            moments[: cells.size] = phases.real * cells - phases.imag * sine[:: self.symmetry][: cells.size]
        return moments

    def phases(self, count: int) -> NDArray[np.complex128]:
        """Return exp(-i degree axis) for ``count`` cells from 0, which turns moments from the axis to angle 0."""
        return np.asarray(np.exp(-1j * self.axis * self.symmetry * np.arange(count)))

    def expand(self, moments: Floats) -> tuple[Floats, Floats]:
        """Return cosine and sine moments of every degree from 0 to symmetry * nodes."""
        cosine = np.zeros(self.symmetry * self.nodes + 1)
        sine = np.zeros_like(cosine)
        cosine[:: self.symmetry] = moments
        if self.axis:
            turned = self.phases(moments.size) * moments
            cosine[:: self.symmetry], sine[:: self.symmetry] = turned.real, -turned.imag
        return cosine, sine

    def tail(self, moments: Floats) -> float:
        """Return the largest modulus of the last eighth of the moments."""
        return greatest(moments[-(self.nodes // 8) :])
