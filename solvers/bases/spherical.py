r"""Spherical harmonic transforms of real fields on S^2, by either of two libraries.

A field stands on a Gauss rule in :math:`\cos\theta`, rings from north to south, times equally spaced meridians
:math:`\varphi_k = 2\pi k/M`. Its coefficients are two packed arrays, those of :math:`e^c_{lm}` and
:math:`e^s_{lm}` at place l (l + 1)/2 + m; the harmonics have :math:`P_l(\langle x,y\rangle) = \sum e(x)\,e(y)`,
so their uniform mean of the square is :math:`1/(2l+1)`. The two directions are adjoint, not inverse:

.. math::

    \text{synthesise:}\quad & v = \sum_{lm} c_{lm}\, e^c_{lm} + s_{lm}\, e^s_{lm}, \\
    \text{analyse:}\quad & c_{lm} = \langle v\, e^c_{lm}\rangle, \quad s_{lm} = \langle v\, e^s_{lm}\rangle
    \quad\text{(uniform means)},

hence ``synthesise(n * c, n * s)`` with ``n = multiplicities`` = 2l + 1 undoes ``analyse``, and turns the moments of
a density into the density over the uniform one. ``gradient`` and ``divergence`` are adjoint in the same way.

Two back ends give the same numbers to rounding: tables, always available, and ducc0, an optional extra, about
three times faster and with a few more digits of rounding. ``MEANFIELD_SHT=numpy`` switches ducc0 off.
"""

import functools
import os
from typing import Any, Literal, Protocol

import numpy as np
import scipy.fft

from meanfield import InvalidInput
from meanfield.harmonics import Rule, degrees_and_orders, gauss_rule

from .base import Floats
from .spherical_ducc import DuccEngine, DuccSectorEngine
from .spherical_tables import TableEngine

Backend = Literal["numpy", "ducc0"]
Pair = tuple[Floats, Floats]

# The tables take (L + 1)^3 bytes, 1 GB here.
LARGEST_DEGREE = 1023


@functools.cache
def ducc() -> Any | None:
    """Return the ducc0 module, or None if it is not installed or MEANFIELD_SHT asks for numpy."""
    if os.environ.get("MEANFIELD_SHT", "").lower() == "numpy":
        return None
    try:
        import ducc0
    except ImportError:
        return None
    return ducc0


def harmonics_backend_name() -> str:
    """Return the name of the library that sums harmonics, for provenance."""
    library = ducc()
    return "numpy" if library is None else f"ducc0 {library.__version__}"


class Engine(Protocol):
    """Protocol of the back ends that sum harmonics on a grid."""

    def synthesise(self, cosine: Floats, sine: Floats) -> Floats:
        """Return the sum of the harmonics with packed coefficients on the grid."""

    def analyse(self, values: Floats) -> Pair:
        """Return the uniform means of values on the grid times harmonics, packed."""


class GradientEngine(Engine, Protocol):
    """Protocol of those that sum gradients as well."""

    def gradient(self, cosine: Floats, sine: Floats) -> Pair:
        """Return the polar and azimuthal components of the gradient of the sum on the grid."""

    def divergence(self, polar: Floats, azimuthal: Floats) -> Pair:
        """Return the uniform means of a tangent field times the gradients of the harmonics, packed."""


class SphericalTransform:
    """Spherical harmonic transform up to a degree on a grid.

    Parameters
    ----------
    degree
        Largest degree L.
    rings
        Number n of Gauss nodes; L + 1 by default, enough to analyse fields of degree L exactly. A field of degree
        k is analysed exactly if L + k < 2 n.
    meridians
        Number M of nodes in azimuth; by default at least 2 L + 2, of small prime factors. A field of order k is
        analysed exactly if L + k < M.
    backend
        ``"numpy"`` or ``"ducc0"``; by default ducc0 where it is installed.
    symmetry
        For fields invariant under rotation about the poles by 2 pi/symmetry: only orders that are multiples of it
        are summed, on the meridians of one sector, M/symmetry of them. Such fields have no gradient here.

    Attributes
    ----------
    cosines : (n,) float
        cos(theta) of the rings, descending.
    polar : (n,) float
        theta of the rings.
    azimuths : (M / symmetry,) float
        phi of the meridians.
    weights : (n,) float
        Weights of the rings; their sum is one.
    degrees, orders : (size,) int
        l and m of the packed places.
    multiplicities : (size,) float
        2 l + 1 of the packed places.

    Raises
    ------
    InvalidInput
        If the grid cannot carry the degree, or the back end is not installed.
    """

    def __init__(
        self,
        degree: int,
        rings: int | None = None,
        meridians: int | None = None,
        backend: Backend | None = None,
        symmetry: int = 1,
    ) -> None:
        self.degree, self.symmetry = degree, symmetry
        self.rings = degree + 1 if rings is None else rings
        if meridians is None:
            # A transform of a length with a large prime factor takes several times as long.
            meridians = symmetry * 2 * scipy.fft.next_fast_len(degree // symmetry + 1)
        self.meridians = meridians
        self._check()
        self.backend = chosen_backend(backend)
        # Engines are made on first use, with the library that was there at the choice.
        self._library = None if self.backend == "numpy" else ducc()
        self.rule: Rule = gauss_rule(3, self.rings)
        self.cosines = self.rule.nodes
        self.weights = self.rule.weights
        self.polar = self.rule.polar
        self.azimuths = 2.0 * np.pi * np.arange(self.meridians // symmetry) / self.meridians
        self.degrees, self.orders = degrees_and_orders(degree)
        self.multiplicities = 2.0 * self.degrees + 1.0

    @functools.cached_property
    def _engine(self) -> Engine:
        if self.symmetry == 1 or self._library is None:
            return self._gradients
        return DuccSectorEngine(self, self._library)

    @functools.cached_property
    def _gradients(self) -> GradientEngine:
        return TableEngine(self) if self._library is None else DuccEngine(self, self._library)

    def _check(self) -> None:
        if not 0 <= self.degree <= LARGEST_DEGREE:
            raise InvalidInput(
                f"harmonics are summed up to a degree from 0 to {LARGEST_DEGREE}, not {self.degree}; "
                "densities of larger degree are beyond the full sphere, zonal ones are not"
            )
        if self.rings <= self.degree:
            raise InvalidInput(f"degree {self.degree} needs at least {self.degree + 1} rings, not {self.rings}")
        if self.meridians <= 2 * self.degree or self.meridians % self.symmetry:
            raise InvalidInput(
                f"degree {self.degree} needs more than {2 * self.degree} meridians, a multiple of the symmetry "
                f"{self.symmetry}, not {self.meridians}"
            )

    def synthesise(self, cosine: Floats, sine: Floats) -> Floats:
        """Return the plain sum of the harmonics with these coefficients, (rings, meridians / symmetry)."""
        return self._engine.synthesise(cosine, sine)

    def analyse(self, values: Floats) -> Pair:
        """Return the uniform means of values times harmonics, packed: the moments of a density over 1/(4 pi)."""
        return self._engine.analyse(values)

    def gradient(self, cosine: Floats, sine: Floats) -> Pair:
        r"""Return :math:`\partial_\theta v` and :math:`\partial_\varphi v/\sin\theta` of the plain sum v."""
        self._check_gradient()
        return self._gradients.gradient(cosine, sine)

    def divergence(self, polar: Floats, azimuthal: Floats) -> Pair:
        r"""Return the uniform means of a tangent field times the gradients of the harmonics, packed.

        By parts these are the moments of minus the divergence. ``polar`` and ``azimuthal`` are the components of
        the field along :math:`\hat\theta` and :math:`\hat\varphi`, (rings, meridians) each.
        """
        self._check_gradient()
        return self._gradients.divergence(polar, azimuthal)

    def mean(self, values: Floats) -> float:
        """Return the uniform mean of values on the grid."""
        return float(self.weights @ values.mean(axis=1))

    def _check_gradient(self) -> None:
        if self.symmetry != 1:
            raise InvalidInput(f"gradients need all orders: symmetry 1, not {self.symmetry}")


def chosen_backend(backend: Backend | None) -> Backend:
    """Return the back end to use."""
    if backend == "numpy" or (backend is None and ducc() is None):
        return "numpy"
    if backend not in (None, "ducc0"):
        raise InvalidInput(f'harmonics are summed by "numpy" or "ducc0", not {backend!r}')
    if ducc() is None:
        raise InvalidInput('ducc0 is not installed or MEANFIELD_SHT=numpy is set; use backend="numpy"')
    return "ducc0"
