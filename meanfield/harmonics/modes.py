r"""The protocol of modes, which say what moments mean, and the base of all moments by degree.

A density is kept through real moments, two vectors ``cosine`` and ``sine`` of one length. On every domain

.. math:: |S|\,\rho = \sum_l N_l \sum_j m_{lj} e_{lj},

and modes say which harmonic :math:`e_{lj}` belongs to each place of the vectors. They sum such series at points and
on grids, know their uniform means, and name the moments.
"""

from typing import ClassVar, Literal, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

from ..arguments import shown
from ..domains import Domain
from ..errors import InvalidInput

Floats: TypeAlias = npt.NDArray[np.float64]
Indices: TypeAlias = npt.NDArray[np.intp]
# Moments by degree, or by degree and order at the place l (l + 1)/2 + m.
Layout: TypeAlias = Literal["degree", "order"]

EPS = float(np.finfo(float).eps)


class Modes(Protocol):
    """The meaning of moments on a domain. ``points`` is the fineness of a grid.

    Attributes
    ----------
    domain
        Space of the densities.
    layout
        The word for the arrangement in files: ``"degree"``, or ``"order"`` for moments by degree and order.
    angles
        Number of angles that the densities depend on.
    span : tuple of float
        Range of the first angle.
    upwards : tuple of float
        The same from the lower end of an upright axis to the upper, where the north pole is.
    unit
        That of a density: of surface, in units of the radius, it has none.
    relative
        Whether densities are drawn over the uniform one and not per unit of length.
    kinds
        First letters of the names of moments.
    linear
        Those of moments that are linear in the density.
    rotation_numbers
        Whether the degree of a mode is how often it repeats itself in a turn, so that a density without moments of
        degree one has several equal clusters.
    columns
        Those in tables without sines.
    letters : tuple of str
        Those of the vector of the moments of a degree, and of the degree.
    words : tuple of str
        What the arrays ``cosine`` and ``sine`` hold.
    means : tuple of str
        What the same arrays hold for particles.
    angle
        The first angle in words.
    has_sines
        Whether sine moments mean anything.
    finest
        The finest grid.
    amplifies
        Whether the N_l turn the rounding of moments into errors of the density that affect integrals.
    """

    angles: ClassVar[int]
    layout: ClassVar[Layout]
    span: ClassVar[tuple[float, float]]
    upwards: ClassVar[tuple[float, float]]
    unit: ClassVar[str]
    relative: ClassVar[bool]
    kinds: ClassVar[str]
    linear: ClassVar[str]
    rotation_numbers: ClassVar[bool]
    columns: ClassVar[str]
    letters: ClassVar[tuple[str, str]]
    words: ClassVar[tuple[str, str]]
    means: ClassVar[tuple[str, str]]
    angle: ClassVar[str]
    has_sines: ClassVar[bool]
    finest: ClassVar[int]
    amplifies: ClassVar[bool]

    @property
    def domain(self) -> Domain:
        """Space of the densities."""
        ...

    @property
    def takes_azimuth(self) -> bool:
        """Whether densities may be evaluated at an azimuth as a second angle."""
        ...

    def places(self, degree: int) -> int:
        """Return the number of moments up to a degree."""
        ...

    def degree(self, places: int) -> int:
        """Return the largest degree of a number of moments."""
        ...

    def degrees(self, places: int) -> Indices:
        """Return the degree of each place."""
        ...

    def orders(self, places: int) -> Indices | None:
        """Return the azimuthal order of each place; None if the moments have no orders."""
        ...

    def axial(self, degree: int) -> Indices:
        """Return the places of the moments about the axis for degrees from 0 to ``degree``."""
        ...

    def places_of(self, degree: int) -> slice:
        """Return the places of all moments of a degree."""
        ...

    def multiplicities(self, places: int) -> Floats:
        """Return N_l, the number of harmonics of the degree, of each place.

        Raises
        ------
        InvalidInput
            If one is beyond the range of numbers.
        """
        ...

    def place(self, degree: int, order: int) -> int:
        """Return the place of the moment of a degree and an order.

        Raises
        ------
        InvalidInput
            If there is no such order.
        """
        ...

    def check_number(self, places: int, what: str) -> None:
        """Refuse a number of moments that these modes cannot have.

        Raises
        ------
        InvalidInput
            If the places do not make whole degrees.
        """
        ...

    def check(self, sine: Floats) -> None:
        """Refuse sine moments that belong to no harmonic.

        Raises
        ------
        InvalidInput
            If one of those is not zero.
        """
        ...

    def lengths(self, cosine: Floats, sine: Floats) -> Floats:
        """Return the lengths of the moments of each degree (..., L + 1), which no rotation changes."""
        ...

    def signed(self, cosine: Floats, sine: Floats) -> Floats:
        """Return a moment of each degree (..., L + 1): with the cosine, about the axis, or a length over orders."""
        ...

    def named(self, cosine: Floats, sine: Floats, name: str) -> Floats:
        """Return the moment of a name (...); zero beyond those that are kept.

        Raises
        ------
        InvalidInput
            If no moment has that name.
        """
        ...

    def names(self, places: int) -> tuple[list[str], list[str]]:
        """Return names of the cosine and of the sine moments from place 1 on."""
        ...

    def symbol(self, kind: str, degree: int) -> str:
        """Return the mathematical symbol of a named moment."""
        ...

    def check_angles(self, angle: npt.ArrayLike, azimuth: npt.ArrayLike | None) -> None:
        """Refuse angles that do not make points.

        Raises
        ------
        InvalidInput
            If the density needs an azimuth and none is given, or does not admit one.
        """
        ...

    def density(
        self, cosine: Floats, sine: Floats, angle: npt.ArrayLike, azimuth: npt.ArrayLike | None = None
    ) -> Floats:
        """Return the density over the uniform one at angles, in their shape.

        Raises
        ------
        InvalidInput
            If the density needs an azimuth and none is given, or does not admit one.
        """
        ...

    def density_on_rings(self, cosine: Floats, sine: Floats, polar: Floats, steps: int) -> Floats:
        """Return the density over the uniform one at polar angles (n,) and 2 steps longitudes from 0, (n, 2 steps).

        Raises
        ------
        InvalidInput
            If points have no azimuth.
        """
        ...

    def law(self, angle: Floats) -> Floats:
        """Return the density of the first angle of uniform points."""
        ...

    def rounding(self, places: int) -> float:
        """Return the largest rounding error of a density if the N_l amplify that of its moments, else 0."""
        ...

    def coarsest(self, places: int) -> int:
        """Return the fineness of the first grid to try for a number of moments."""
        ...

    def grid(self, points: int) -> Floats:
        """Return the angles of a grid, polar and azimuthal ones along a first axis where there are two."""
        ...

    def values(self, cosine: Floats, sine: Floats, points: int) -> Floats:
        """Return the sum of harmonics with given coefficients on a grid."""
        ...

    def gradient(self, cosine: Floats, sine: Floats, points: int) -> list[Floats]:
        """Return the components of the gradient of the same sum."""
        ...

    def mean(self, values: Floats, points: int) -> float:
        """Return the uniform mean of values on a grid."""
        ...

    def noise(self, cosine: Floats, sine: Floats, points: int) -> float | Floats:
        """Return the rounding noise of |S| rho from its moments on a grid."""
        ...


class ByDegree:
    """Base of modes with one moment for each degree, or two."""

    layout: ClassVar[Layout] = "degree"
    angles: ClassVar[int] = 1

    def places(self, degree: int) -> int:
        """Return the number of moments up to a degree."""
        return degree + 1

    def degree(self, places: int) -> int:
        """Return the largest degree of a number of moments."""
        return places - 1

    def degrees(self, places: int) -> Indices:
        """Return the degree of each place."""
        return np.arange(places)

    def orders(self, places: int) -> Indices | None:
        """Return None, since there are no azimuthal orders."""
        return None

    def axial(self, degree: int) -> Indices:
        """Return the places of the moments about the axis for degrees from 0 to ``degree``."""
        return np.arange(degree + 1)

    def places_of(self, degree: int) -> slice:
        """Return the place of the moment of a degree."""
        return slice(degree, degree + 1)

    def place(self, degree: int, order: int) -> int:
        """Return the place of a degree, the degree itself; its order must be 0."""
        if order != 0:
            raise no_such_order(degree, order)
        return degree

    def check_number(self, places: int, what: str) -> None:
        """Accept any number of moments."""

    def lengths(self, cosine: Floats, sine: Floats) -> Floats:
        """Return the lengths of the moments of each degree (..., L + 1), which no rotation changes."""
        return np.hypot(cosine, sine)

    def signed(self, cosine: Floats, sine: Floats) -> Floats:
        """Return the moments with the cosine or about the axis (..., L + 1)."""
        return cosine


def degree_of_name(name: str, kinds: str) -> tuple[str, int]:
    """Return kind and degree of a name of moments such as m1.

    Raises
    ------
    InvalidInput
        If no moment of these kinds has that name.
    """
    kind, degree = name[:1], name[1:]
    if not kind or kind not in kinds or not (degree.isascii() and degree.isdigit() and int(degree)):
        known = " and ".join(f"{kind}1, {kind}2, ..." for kind in kinds)
        raise InvalidInput(f"no moment is called {name!r} here; there are {known}")
    return kind, int(degree)


def entry(values: Floats, index: int) -> Floats:
    """Return one entry of the last axis, zero beyond the last."""
    return values[..., index] if index < values.shape[-1] else np.zeros(values.shape[:-1])


def no_azimuth(domain: Domain) -> InvalidInput:
    """Return the error for an azimuth on a domain where it has no meaning."""
    return InvalidInput(f"a density on {domain.in_words} takes one angle, density(angle), and no azimuth")


def no_such_order(degree: int, order: int) -> InvalidInput:
    """Return the error for an order that a degree does not have."""
    return InvalidInput(
        f"there is no moment of degree {shown(degree)} and order {shown(order)} here; orders are from 0 to the "
        "degree, and densities symmetric about the pole have order 0 only"
    )
