"""Harmonics summed by ducc0, whose conventions differ; the module is an argument, not imported here."""

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from .base import Floats, Integers
from .transforms import FourierTransform

if TYPE_CHECKING:
    from .spherical import SphericalTransform

Pair = tuple[Floats, Floats]


class DuccEngine:
    """Sums by ducc0 on one thread."""

    def __init__(self, grid: "SphericalTransform", library: Any) -> None:
        self._sht = library.sht
        rings, meridians = grid.rings, grid.meridians
        self._shape = (rings, meridians)
        self._geometry: dict[str, Any] = {
            "theta": grid.polar,
            "nphi": np.full(rings, meridians, dtype=np.uint64),
            "phi0": np.zeros(rings),
            "ringstart": meridians * np.arange(rings, dtype=np.uint64),
            "lmax": grid.degree,
            "nthreads": 1,
        }
        self._weights = grid.weights / meridians
        degrees, orders = grid.degrees, grid.orders
        self._places = orders * (2 * grid.degree + 1 - orders) // 2 + degrees
        self._to_complex, self._to_real = _norms(degrees, orders)

    def synthesise(self, cosine: Floats, sine: Floats) -> Floats:
        """Return the sum of the harmonics with packed coefficients on the grid."""
        values = self._sht.synthesis(alm=self._complex(cosine, sine), spin=0, **self._geometry)
        return np.asarray(values.reshape(self._shape), dtype=float)

    def analyse(self, values: Floats) -> Pair:
        """Return the uniform means of values on the grid times harmonics, packed."""
        maps = np.ascontiguousarray(values, dtype=float).reshape(1, -1)
        waves = self._sht.adjoint_synthesis(map=maps, spin=0, ringfactor=self._weights, **self._geometry)
        return self._real(waves[0])

    def gradient(self, cosine: Floats, sine: Floats) -> Pair:
        """Return the polar and azimuthal components of the gradient of the sum on the grid."""
        alm = self._complex(cosine, sine)
        values = self._sht.synthesis(alm=alm, spin=1, mode="DERIV1", **self._geometry).reshape(2, *self._shape)
        return values[0], values[1]

    def divergence(self, polar: Floats, azimuthal: Floats) -> Pair:
        """Return the uniform means of a tangent field times the gradients of the harmonics, packed."""
        maps = np.stack([polar.ravel(), azimuthal.ravel()])
        waves = self._sht.adjoint_synthesis(
            map=maps, spin=1, mode="DERIV1", ringfactor=self._weights, **self._geometry
        )
        return self._real(waves[0])

    def _complex(self, cosine: Floats, sine: Floats) -> NDArray[np.complex128]:
        alm = np.empty((1, cosine.size), dtype=complex)
        alm[0, self._places] = self._to_complex * (cosine - 1j * sine)
        return alm

    def _real(self, alm: NDArray[np.complex128]) -> Pair:
        waves = alm[self._places]
        return self._to_real * waves.real, -self._to_real * waves.imag


class DuccSectorEngine:
    """Sums over the orders that are multiples of a symmetry, on one sector: by ducc0 along the meridians."""

    def __init__(self, grid: "SphericalTransform", library: Any) -> None:
        self._sht = library.sht
        last, orders = grid.degree, np.arange(0, grid.degree + 1, grid.symmetry)
        counts = last + 1 - orders
        # Where degree 0 of an order would stand, of degrees one after the other.
        starts = np.append(0, np.cumsum(counts)[:-1]) - orders
        self._orders = orders.size
        self._legendre: dict[str, Any] = {
            "lmax": last,
            "theta": grid.polar,
            "mval": orders.astype(np.uint64),
            "mstart": starts.astype(np.uint64),
            "nthreads": 1,
        }
        of_order = np.repeat(orders, counts)
        degrees = np.arange(of_order.size) - np.repeat(starts, counts)
        self._places: Integers = degrees * (degrees + 1) // 2 + of_order
        self._size = grid.degrees.size
        self._fourier = FourierTransform(grid.azimuths.size, grid.rings)
        self._weights = grid.weights / grid.azimuths.size
        self._to_complex, self._to_real = _norms(degrees, of_order)

    def synthesise(self, cosine: Floats, sine: Floats) -> Floats:
        """Return the sum of the harmonics with packed coefficients on the grid."""
        alm = self._to_complex * (cosine[self._places] - 1j * sine[self._places])
        transform = self._fourier
        transform.coefficients[:] = 0.0
        transform.coefficients[:, : self._orders] = self._sht.alm2leg(alm=alm[None], **self._legendre)[0]
        transform.synthesise()
        return np.array(transform.values)

    def analyse(self, values: Floats) -> Pair:
        """Return the uniform means of values on the grid times harmonics, packed."""
        transform = self._fourier
        np.multiply(values, self._weights[:, None], out=transform.values)
        transform.analyse()
        rows = np.ascontiguousarray(transform.coefficients[:, : self._orders])
        waves = self._sht.leg2alm(leg=rows[None], **self._legendre)[0]
        moments = np.zeros((2, self._size))
        moments[0, self._places] = self._to_real * waves.real
        moments[1, self._places] = -self._to_real * waves.imag
        return moments[0], moments[1]


def _norms(degrees: Integers, orders: Integers) -> tuple[Floats, Floats]:
    """Return factors to and from coefficients of orthonormal harmonics with the sign of Condon and Shortley."""
    norms = np.sqrt(4.0 * np.pi / (2.0 * degrees + 1.0)) * np.where(orders % 2, -1.0, 1.0)
    halves = np.where(orders > 0, np.sqrt(2.0), 1.0)
    return norms / halves, norms * halves
