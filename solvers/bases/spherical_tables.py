"""Harmonics summed by Legendre tables and Fourier transforms, with nothing beyond numpy and scipy."""

from typing import TYPE_CHECKING

import numpy as np

from meanfield.harmonics import degrees_and_orders, packed_size, place

from .base import Floats
from .legendre import legendre_tables
from .transforms import FourierTransform

if TYPE_CHECKING:
    from .spherical import SphericalTransform

Pair = tuple[Floats, Floats]


class TableEngine:
    r"""Sums by Legendre tables, one matrix product per order, and Fourier transforms along the rings.

    Gradients use the tables of the neighbouring orders, without a division by the sine,

    .. math::

        2\,\partial_\theta P_l^m &= (l+m)(l-m+1)\,P_l^{m-1} - P_l^{m+1}, \\
        2m\,P_l^m/\sin\theta &= (l+m)(l+m-1)\,P_{l-1}^{m-1} + P_{l-1}^{m+1} .
    """

    def __init__(self, grid: "SphericalTransform") -> None:
        self._size = packed_size(grid.degree)
        self._tables = legendre_tables(grid.degree, grid.rings, grid.symmetry)
        self._fourier = FourierTransform(grid.azimuths.size, grid.rings)
        self._weights = grid.weights / grid.azimuths.size
        self._steps = _gradient_steps(grid.degree) if grid.symmetry == 1 else []

    def synthesise(self, cosine: Floats, sine: Floats) -> Floats:
        """Return the sum of the harmonics with packed coefficients on the grid."""
        places = self._tables.places
        return self._waves(self._tables.sum(np.stack([cosine[places], sine[places]], axis=1)))

    def analyse(self, values: Floats) -> Pair:
        """Return the uniform means of values on the grid times harmonics, packed."""
        columns = self._unpacked(self._tables.project(self._rows(values)))
        return columns[0], columns[1]

    def gradient(self, cosine: Floats, sine: Floats) -> Pair:
        """Return the polar and azimuthal components of the gradient of the sum on the grid."""
        waves = np.stack([cosine, sine], axis=1)
        columns = np.zeros((self._size, 2 * len(self._steps)))
        for column, step in enumerate(self._steps):
            columns[step.table_places, 2 * column : 2 * column + 2] = step.factors[:, None] * waves[step.places]
        rows = self._tables.sum(columns[self._tables.places])
        fields = np.zeros((2, *rows.shape[:2], 2))
        for column, step in enumerate(self._steps):
            source = rows[..., 2 * column : 2 * column + 2]
            fields[step.component, step.orders] += source[step.table_orders]
        azimuthal = np.stack([fields[1, ..., 1], -fields[1, ..., 0]], axis=-1)
        return self._waves(fields[0]), self._waves(azimuthal)

    def divergence(self, polar: Floats, azimuthal: Floats) -> Pair:
        """Return the uniform means of a tangent field times the gradients of the harmonics, packed."""
        across = self._rows(azimuthal)
        fields = (self._rows(polar), np.stack([-across[..., 1], across[..., 0]], axis=-1))
        rows = np.zeros((*across.shape[:2], 2 * len(self._steps)))
        for column, step in enumerate(self._steps):
            rows[step.table_orders, :, 2 * column : 2 * column + 2] = fields[step.component][step.orders]
        columns = self._unpacked(self._tables.project(rows))
        moments = np.zeros((2, self._size))
        for column, step in enumerate(self._steps):
            moments[:, step.places] += step.factors * columns[2 * column : 2 * column + 2, step.table_places]
        return moments[0], moments[1]

    def _waves(self, rows: Floats) -> Floats:
        """Return the values of cosines and sines with amplitudes (orders, rings, 2)."""
        transform = self._fourier
        transform.coefficients[:] = 0.0
        transform.coefficients[:, : len(rows)] = 0.5 * (rows[..., 0] - 1j * rows[..., 1]).T
        transform.coefficients[:, 0] *= 2.0
        transform.synthesise()
        return np.array(transform.values)

    def _rows(self, values: Floats) -> Floats:
        """Return the weighted means of values times cosines and sines, (orders, rings, 2)."""
        transform = self._fourier
        np.multiply(values, self._weights[:, None], out=transform.values)
        transform.analyse()
        waves = transform.coefficients[:, : self._tables.orders.size].T
        return np.stack([waves.real, -waves.imag], axis=-1)

    def _unpacked(self, columns: Floats) -> Floats:
        """Return columns in packed places, one row for each; the sine of order 0 is absent."""
        full = np.zeros((columns.shape[1], self._size))
        full[:, self._tables.places] = columns.T
        return full


class GradientStep:
    """Part of the gradient of the harmonics: component, and the step in degree and order that its table makes.

    Parameters
    ----------
    degree
        Largest degree of the harmonics.
    component
        0 for the polar, 1 for the azimuthal one.
    up
        Whether the table has the order m - 1 rather than m + 1.
    """

    def __init__(self, degree: int, component: int, up: bool) -> None:
        degrees, orders = degrees_and_orders(degree)
        lower = degrees - component
        target = orders - 1 if up else orders + 1
        # The azimuthal derivative of order 0 vanishes.
        used = (target >= 0) & (target <= lower) & ((orders > 0) | (component == 0))
        self.component = component
        self.places = np.flatnonzero(used)
        self.table_places = place(lower, target)[used]
        below, above = slice(0, -1), slice(1, None)
        self.orders: slice = above if up else below
        self.table_orders: slice = below if up else above
        degrees, orders = degrees[used], orders[used]
        total, difference = degrees + orders, degrees - orders
        products = {
            (0, True): total * (difference + 1),
            (0, False): difference * (total + 1),
            (1, True): total * (total - 1),
            (1, False): difference * (difference - 1),
        }
        # Order 0 lacks the factor sqrt(2), and its two neighbours in the formula are the same table.
        twice = orders == (1 if up else 0)
        sign = -1.0 if component == 0 and not up else 1.0
        self.factors: Floats = sign * 0.5 * np.sqrt(np.where(twice, 2.0, 1.0) * products[component, up])


def _gradient_steps(degree: int) -> list[GradientStep]:
    return [GradientStep(degree, component, up) for component in (0, 1) for up in (True, False)]
