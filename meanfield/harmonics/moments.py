r"""Moments of densities together with their modes, and the names of moments.

=========  =========================================================================================
name       meaning
=========  =========================================================================================
``m1`` ..  on the circle :math:`m_k = \langle\cos k\theta\rangle`; on spheres the length
           :math:`|m_l| \ge 0` of all moments of degree l, which no rotation changes
``s1`` ..  on the circle :math:`s_k = \langle\sin k\theta\rangle`
``p1`` ..  on spheres :math:`p_l = \langle P_l(\cos\theta)\rangle` about the north pole, which is the axis of
           zonal densities; of either sign
=========  =========================================================================================

They are the same in tables, plots, JSON and records.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ..arguments import methods_checked
from ..base import Record
from ..domains import Domain
from ..errors import InvalidInput
from .modes import Floats, Layout, Modes, entry
from .table import modes_of

# Degrees that fit a table.
TABLE_DEGREES = (1, 2, 3, 4)
# Surfaces below this, those of hundreds of dimensions, lose their digits or are zero.
TINY = float(np.finfo(float).tiny)


@methods_checked
@dataclass(frozen=True, eq=False, repr=False)
class Moments(Record):
    """Moments of one density, or of several along leading axes.

    Unlike those of other records, their arrays are not copied.

    Attributes
    ----------
    modes
        The modes, which say what the moments mean.
    cosine, sine : (..., n) float
        The moments.
    """

    modes: Modes
    cosine: Floats
    sine: Floats

    def __post_init__(self) -> None:
        """Leave the arrays as they are: views of those of records, or of what is computed with."""

    def __getitem__(self, index: Any) -> "Moments":
        """Return the moments at an index of the leading axes."""
        return Moments(self.modes, self.cosine[index], self.sine[index])

    def truncated(self, degree: int) -> "Moments":
        """Return the moments up to a degree."""
        kept = self.modes.places(degree)
        return Moments(self.modes, self.cosine[..., :kept], self.sine[..., :kept])

    def about_axis(self) -> "Moments":
        """Return the moments about the axis, those of the mean of the density over the azimuth."""
        if self.has_axis:
            return self
        axial = self.modes.axial(self.degree)
        return Moments(modes_of(self.modes.domain), self.cosine[..., axial], 0.0 * self.sine[..., axial])

    @property
    def has_axis(self) -> bool:
        """Whether the densities depend on one angle only, as those symmetric about the pole."""
        return self.modes.angles == 1

    @property
    def degree(self) -> int:
        """Largest degree."""
        return self.modes.degree(self.cosine.shape[-1])

    @property
    def lengths(self) -> Floats:
        """Lengths of the moments of each degree, (..., L + 1), which no rotation changes."""
        return self.modes.lengths(self.cosine, self.sine)

    def length(self, degree: int) -> Floats:
        """Return the length of the moments of one degree (...), zero beyond the last."""
        return entry(self.lengths, degree)

    def of_order(self, degree: int, order: int = 0, *, sine: bool = False) -> Floats:
        """Return the cosine or sine moment of a degree and an order (...), zero beyond the last.

        Raises
        ------
        InvalidInput
            If there is no such order.
        """
        return entry(self.sine if sine else self.cosine, self.modes.place(degree, order))

    def signed(self, degree: int) -> Floats:
        """Return the moment of a degree (...): with the cosine, about the axis, or the length over the orders."""
        return entry(self.modes.signed(self.cosine, self.sine), degree)

    def named(self, name: str) -> Floats:
        """Return the moment of a name (...), zero beyond those that are kept.

        Raises
        ------
        InvalidInput
            If the domain has no moment of that name.
        """
        return self.modes.named(self.cosine, self.sine, name)

    def relative_density(self, angle: npt.ArrayLike, azimuth: npt.ArrayLike | None = None) -> Floats:
        """Return the density over the uniform one at angles, whose axes come last.

        Raises
        ------
        InvalidInput
            If the density needs an azimuth and none is given, or does not admit one.
        """
        return self.modes.density(self.cosine, self.sine, angle, azimuth)

    def density(self, angle: npt.ArrayLike, azimuth: npt.ArrayLike | None = None) -> Floats:
        """Return the density per unit of length or surface at angles.

        Raises
        ------
        InvalidInput
            As :meth:`relative_density`, or if the surface is too small for a number.
        """
        return per_unit(self.modes.domain, self.relative_density(angle, azimuth))


def per_unit(domain: Domain, relative: Floats) -> Floats:
    """Return a density per unit of length or surface from the one over uniform.

    Raises
    ------
    InvalidInput
        If the surface is too small for a number.
    """
    if domain.volume < TINY:
        raise InvalidInput(
            f"the surface of {domain.in_words} is too small for a number; take the density over the uniform one, "
            "state.relative_density(angle)"
        )
    return relative / domain.volume


def moment_columns(domain: Domain, sines: bool = False) -> tuple[str, ...]:
    """Return the names of the moments of a table, on the circle with those of sines if wanted."""
    modes = modes_of(domain)
    kinds = modes.kinds if sines else modes.columns
    return tuple(f"{kind}{degree}" for kind in kinds for degree in TABLE_DEGREES)


def moments_of(domain: Domain, layout: Layout, cosine: Floats, sine: Floats) -> Moments:
    """Return cosine and sine moments on a domain in a layout as :class:`Moments`."""
    return Moments(modes_of(domain, layout), cosine, sine)
