r"""Densities on the circle in a confinement with a kink or a singularity: smooth factor times exp(-V/D).

The factor :math:`e^{-V/D}` enters by its exact moments, known up to the number of nodes: its values on the grid
are those of the finite series, and the moments of the product, up to half of the nodes, are exact if the smooth
factor has degrees up to the other half. Higher moments, which decay like a power of the degree only, are not given.
"""

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .base import EPS, RESOLUTION_TOLERANCE, SMALL_FIELD, Basis, Floats, Gibbs, Integers
from .cosine import CosineBasis
from .fourier import FourierBasis
from .transforms import CosineTransform, FourierTransform, planned


class Boltzmann(NamedTuple):
    """The factor exp(-V/D) of a confinement, e^shift (offset + g).

    ``moments`` are the means of g with the cosines by cell from 0, angles counted from the axis of the basis, or,
    for a confinement with sines, with exp(-ikt). The offset is 1 for a weak confinement, whose g keeps its relative
    accuracy, and 0 for others. ``slope`` has the moments of the derivative of the factor in a parameter over
    e^shift, None where none is known.
    """

    moments: Any
    offset: float
    shift: float
    slope: Any = None

    def about(self, angle: float) -> "Boltzmann":
        """Return the factor with angles, in units of cells, counted from an axis of the confinement."""
        slope = None if self.slope is None else _about(self.slope, angle)
        return self._replace(moments=_about(self.moments, angle), slope=slope)


def _about(moments: Any, angle: float) -> Floats:
    """Return moments counted from an axis: of two axes only signs are turned."""
    turned = np.exp(1j * angle * np.arange(moments.size))
    return np.asarray((turned * moments).real if np.iscomplexobj(moments) else np.rint(turned.real) * moments)


class _WithFactor(Basis):
    """What both bases with a factor share: the densities of fields, on the nodes."""

    needs_second_rule = True
    factor: Boltzmann
    _excess: Floats

    def _take(self, factor: Boltzmann) -> None:
        """Set the factor, which has the moments that densities may need."""
        self.factor = factor
        self.most_nodes = factor.moments.size - 1
        self.most_cells = self.most_nodes // 4
        self._excess = self._series(factor.moments)

    @property
    def kinked(self) -> Any:
        """The basis itself."""
        return self

    def fine_table(self) -> None:
        """Return None: the uniform density is not that of the field zero."""

    def density(self, field: Floats, log_partition: float) -> Floats:
        """Return values on the nodes whose sums with polynomials are those of the Gibbs density of a field."""
        product, offset, top = _multiplied(self._smooth(field), self._excess, self.factor)
        return np.asarray((product + offset) * math.exp(top + self.factor.shift - log_partition))

    def slope(self, field: Floats, log_partition: float) -> Floats:
        """Return the derivative of the Gibbs density by that of its factor, Z and the field fixed, as values."""
        smooth = np.exp(self._smooth(field) + (self.factor.shift - log_partition))
        return np.asarray(smooth * self._series(self.factor.slope))

    def agrees(self, field: Floats, moments: Floats) -> bool:
        """Return whether moments of the smooth factor beyond half of the nodes are rounding of the product."""
        smooth, factor = self._smooth(field), self.factor.offset + self._excess
        values = np.exp(smooth - smooth.max())
        tail = np.abs(self._moments(values)[self.nodes // 2 :]).max() * np.abs(factor).max()
        mass = self._moments(values * factor)[0].real
        return bool(tail <= max(RESOLUTION_TOLERANCE, EPS * float(np.abs(smooth).max())) * mass)

    def _series(self, moments: NDArray[Any]) -> Floats:
        """Return the values on the nodes of the series of some moments."""
        raise NotImplementedError

    def _smooth(self, field: Floats) -> Floats:
        """Return the values of a field on the nodes."""
        raise NotImplementedError

    def _moments(self, values: Floats) -> NDArray[Any]:
        """Return the moments of values on the nodes."""
        raise NotImplementedError


class KinkedCosineBasis(_WithFactor, CosineBasis):
    """Cosines, for densities with the factor of a confinement that its multipliers do not resolve.

    Parameters
    ----------
    factor
        With at least ``nodes`` moments.
    cells, nodes, symmetry, confinement, axis
        As for :class:`CosineBasis`; ``confinement`` determines the symmetry only.
    """

    def __init__(
        self,
        factor: Boltzmann,
        cells: Integers,
        nodes: int,
        symmetry: int,
        confinement: Floats | None,
        axis: float = 0.0,
    ) -> None:
        super().__init__(cells, nodes, symmetry, confinement, axis)
        self._take(factor)

    def resized(self, cells: Integers, nodes: int) -> "KinkedCosineBasis":
        """Return the same basis with other cells and another number of nodes."""
        nodes = max(nodes, 4 * int(cells.max()))
        return KinkedCosineBasis(self.factor, cells, nodes, self.symmetry, self.confinement, self.axis)

    def about(self, axis: float) -> "KinkedCosineBasis":
        """Return the basis of the densities even about another reflection axis of the confinement."""
        confinement = super().about(axis).confinement
        factor = self.factor.about(self.symmetry * (axis - self.axis))
        return KinkedCosineBasis(factor, self.cells, self.nodes, self.symmetry, confinement, axis)

    def with_factor(self, factor: Boltzmann) -> "KinkedCosineBasis":
        """Return the same basis with another factor, whose angles count from 0."""
        turned = factor.about(self.symmetry * self.axis)
        return KinkedCosineBasis(turned, self.cells, self.nodes, self.symmetry, self.confinement, self.axis)

    def gibbs(self, field: Floats) -> Gibbs:
        """Return moments 0..nodes of the Gibbs density of a field, zero beyond nodes/2, and log(Z / 2 pi)."""
        product, offset, top = _multiplied(self._smooth(field), self._excess, self.factor)
        moments = self._moments(product)
        log_partition = _normalised(moments, offset)
        return Gibbs(moments, top + self.factor.shift + log_partition)

    def _series(self, moments: Floats) -> Floats:
        """Return the values on the nodes of the series of some moments."""
        transform = planned(CosineTransform, self.nodes)
        transform.input[:] = 0.0
        transform.input[: self.nodes] = moments[: self.nodes]
        transform.execute()
        return transform.output.copy()

    def _smooth(self, field: Floats) -> Floats:
        transform = planned(CosineTransform, self.nodes)
        transform.input[:] = 0.0
        transform.input[self._modes] = 0.5 * field
        transform.execute()
        return transform.output.copy()

    def _moments(self, values: Floats) -> Floats:
        transform = planned(CosineTransform, self.nodes)
        transform.input[:] = values
        transform.execute()
        return transform.output / (2 * self.nodes)


class KinkedFourierBasis(_WithFactor, FourierBasis):
    """Cosines and sines, for densities with the factor of a confinement that its multipliers do not resolve.

    Parameters
    ----------
    factor
        With at least ``nodes`` moments, angles counted from 0.
    cells, nodes, symmetry, confinement, mirrors, rotations
        As for :class:`FourierBasis`; ``confinement`` determines the symmetry only.
    """

    def __init__(
        self,
        factor: Boltzmann,
        cells: Integers,
        nodes: int,
        symmetry: int,
        confinement: Floats | None,
        mirrors: tuple[float, ...] = (),
        rotations: int = 1,
    ) -> None:
        super().__init__(cells, nodes, symmetry, confinement, mirrors, rotations)
        self._take(factor)

    def resized(self, cells: Integers, nodes: int) -> "KinkedFourierBasis":
        """Return the same basis with other cells and another number of nodes."""
        nodes = max(nodes, 4 * int(cells.max()))
        images = self.mirrors, self.rotations
        return KinkedFourierBasis(self.factor, cells, nodes, self.symmetry, self.confinement, *images)

    def with_factor(self, factor: Boltzmann) -> "KinkedFourierBasis":
        """Return the same basis with another factor, whose angles count from 0."""
        images = self.mirrors, self.rotations
        return KinkedFourierBasis(factor, self.cells, self.nodes, self.symmetry, self.confinement, *images)

    def with_images(self, mirrors: tuple[float, ...], rotations: int) -> "KinkedFourierBasis":
        """Return the same basis with other axes and rotations that give images."""
        fixed = self.factor, self.cells, self.nodes, self.symmetry, self.confinement
        return KinkedFourierBasis(*fixed, mirrors, rotations)

    def gibbs(self, field: Floats) -> Gibbs:
        """Return stacked moments of the Gibbs density of a field, zero beyond nodes/2, and log(Z / 2 pi)."""
        product, offset, top = _multiplied(self._smooth(field), self._excess, self.factor)
        moments = self._moments(product)
        log_partition = _normalised(moments, offset)
        return Gibbs(np.concatenate([moments.real, -moments.imag]), top + self.factor.shift + log_partition)

    def _series(self, moments: NDArray[Any]) -> Floats:
        """Return the values on the nodes of the series of some moments."""
        transform = planned(FourierTransform, 2 * self.nodes)
        transform.coefficients[:] = 0.0
        transform.coefficients[: self.nodes] = moments[: self.nodes]
        transform.synthesise()
        return transform.values.copy()

    def _smooth(self, field: Floats) -> Floats:
        transform, count = planned(FourierTransform, 2 * self.nodes), self.cells.size
        transform.coefficients[:] = 0.0
        transform.coefficients[self.cells] = 0.5 * (field[:count] - 1j * field[count:])
        transform.synthesise()
        return transform.values.copy()

    def _moments(self, values: Floats) -> NDArray[Any]:
        transform = planned(FourierTransform, 2 * self.nodes)
        transform.values[:] = values
        transform.analyse()
        return np.asarray(transform.coefficients / (2 * self.nodes))


def _multiplied(smooth: Floats, excess: Floats, factor: Boltzmann) -> tuple[Floats, float, float]:
    """Return e^(f - top) (offset + g) less a number, that number, 1 if both factors are near 1 or 0, and top."""
    top = float(smooth.max())
    if factor.offset and top < SMALL_FIELD and float(smooth.min()) > -SMALL_FIELD:
        first = np.expm1(smooth)
        return first + excess + first * excess, 1.0, 0.0
    return np.exp(smooth - top) * (factor.offset + excess), 0.0, top


def _normalised(moments: NDArray[Any], offset: float) -> float:
    """Divide the moments of a product less an offset by its mass, cut them at half, in place; return log mass."""
    first = float(moments[0].real)
    if first + offset <= 0.0:
        moments[:] = np.nan
        return math.nan
    moments /= first + offset
    moments[0] = 1.0
    moments[moments.size // 2 + 1 :] = 0.0
    return math.log1p(first) if offset else math.log(first)
