r"""The field :math:`-V/D` of a confinement on :math:`S^2`, by degree and order, and its symmetries."""

import functools
import math
from collections.abc import Callable, Sequence

import numpy as np
from scipy.optimize import minimize_scalar

from meanfield.harmonics import (
    harmonics_at,
    largest_degree,
    moduli,
    packed_size,
    rotation_generators,
    spread_points,
    zonal_places,
)

from .base import Floats
from .representations import SAME_ELEMENT, Group, of_degree, rotation_about, subgroup

# A symmetry of a field to this share of its largest value is taken as exact.
ROUNDING = 1e-12
# Points at which a field is compared with its images: no grid has them.
PROBES = 61
# Every so many of them are compared first.
APART = 20
# Parts of an interval in each of which a field may have an axis somewhere, where it changes by less than this.
PARTS, AXIAL = 128, 1e-6
# Degrees that tell the directions of a field.
TELLING = 32


def generic(number: int) -> float:
    """Return a weight from 1 to 2 that no symmetry gives, another for each number: by the golden ratio."""
    return 1.0 + 0.5 * (math.sqrt(5.0) - 1.0) * number % 1.0


def kept_by(group: Group, field: "ConfiningField") -> Group:
    """Return the subgroup of the elements of a group that leave a field as it is."""
    return subgroup(group, tuple(n for n, element in enumerate(group.elements) if field.keeps(element)))


class ConfiningField:
    """The field -V/D of a confinement on S^2.

    Parameters
    ----------
    coefficients : (2, places) float
        Those of cosines and of sines, packed, from degree 0, where they are 0.
    zonal
        Whether it is a function of the angle to the north pole; then it is taken as exactly that.
    """

    def __init__(self, coefficients: Floats, zonal: bool) -> None:
        self.coefficients = coefficients
        self.zonal = zonal

    @classmethod
    def of_one_angle(cls, coefficients: Floats) -> "ConfiningField":
        """Return the field of the coefficients in P_l(cos theta), per degree from 1."""
        places = zonal_places(coefficients.size)
        packed = np.zeros((2, packed_size(coefficients.size)))
        packed[0, places[1:]] = coefficients
        return cls(packed, zonal=True)

    @functools.cached_property
    def lengths(self) -> Floats:
        """The lengths of the coefficients of each degree, from 0."""
        return moduli(*self.coefficients)

    def up_to(self, degree: int) -> Floats:
        """Return the coefficients up to a degree, cut off or zero-padded, (2, places)."""
        kept = self.coefficients[:, : packed_size(degree)]
        return np.pad(kept, ((0, 0), (0, packed_size(degree) - kept.shape[1])))

    @functools.cached_property
    def odd(self) -> bool:
        """Whether it differs at antipodes."""
        return bool(self.lengths[1::2].any())

    def keeps(self, element: Floats) -> bool:
        """Return whether an orthogonal transformation leaves it as it is."""
        if self.zonal:
            height = float(element[2, 2])
            return abs(height) > 1.0 - SAME_ELEMENT and (height > 0.0 or not self.odd)
        here, turned = self._probed, spread_points(PROBES) @ element.T
        bound = ROUNDING * float(np.abs(here).max())
        # A single point that differs decides, and where some do nearly all do.
        return all(
            float(np.abs(here[some] - self._values(turned[some])).max()) <= bound
            for some in (slice(None, None, APART), slice(None))
        )

    @functools.cached_property
    def _probed(self) -> Floats:
        return self._values(spread_points(PROBES))

    def _values(self, points: Floats) -> Floats:
        harmonics = harmonics_at(points, largest_degree(self.coefficients.shape[1]))
        return np.asarray(np.einsum("kp,kpn->n", self.coefficients, harmonics))

    def is_multiple(self, other: "ConfiningField") -> bool:
        """Return whether another field is a multiple of it, up to rounding."""
        degree = largest_degree(max(self.coefficients.shape[1], other.coefficients.shape[1]))
        here, there = self.up_to(degree), other.up_to(degree)
        rest = there - float(np.vdot(here, there)) / float(np.vdot(here, here)) * here
        return float(np.abs(rest).max()) <= ROUNDING * float(np.abs(there).max())

    def allows(self, group: Group) -> bool:
        """Return whether all elements of a group leave it as it is."""
        return all(self.keeps(generator) for generator in group.generators)

    @functools.cached_property
    def own_frame(self) -> Floats:
        r"""A rotation, (3, 3), that takes its axes of symmetry, if they are three or one, to x, y and z.

        The rows are the eigenvectors of :math:`\sum_l (G_j c_l) \cdot (G_k c_l)`, ascending: of a field that all
        rotations about one axis leave as it is the first is that.
        """
        frame = np.linalg.eigh(self._turning)[1].T
        frame[0] *= np.sign(np.linalg.det(frame))
        return np.asarray(frame)

    @functools.cached_property
    def _turning(self) -> Floats:
        """The matrix of the squares of its changes under infinitesimal rotations, (3, 3)."""
        matrix: Floats = np.zeros((3, 3))
        cosine, sine = self.coefficients
        for degree in range(1, min(TELLING, largest_degree(self.coefficients.shape[1])) + 1):
            changes = rotation_generators(degree) @ of_degree(cosine, sine, degree)
            matrix += changes @ changes.T
        return matrix

    @functools.cached_property
    def least_change(self) -> float:
        """Its smallest change under rotations over the largest, zero where it has an axis."""
        sizes = np.linalg.eigvalsh(self._turning)
        return math.sqrt(max(float(sizes[0] / sizes[-1]), 0.0)) if sizes[-1] > 0.0 else 0.0

    @functools.cached_property
    def axes(self) -> Floats:
        """The axes about which all rotations leave it as it is: the pole, another one, or none, (k, 3)."""
        if self.zonal:
            return np.array([[0.0, 0.0, 1.0]])
        axis = self.own_frame[:1]
        # The powers of a turn by one radian are dense among all.
        return axis if self.keeps(rotation_about(axis[0], 1.0)) else axis[:0]


def axial_places(field: Callable[[float], ConfiningField], interval: tuple[float, float]) -> list[float]:
    """Return the places inside of an interval at which a field that changes there, and has no axis, has one."""

    def change(place: float) -> float:
        return field(place).least_change

    grid = np.linspace(*interval, PARTS + 1)
    values = [change(place) for place in grid.tolist()]
    found = [
        minimize_scalar(change, bounds=(grid[k - 1], grid[k + 1]), method="bounded", options={"xatol": ROUNDING})
        for k in range(1, PARTS)
        if values[k] <= min(values[k - 1], values[k + 1])
    ]
    return [float(each.x) for each in found if each.fun <= AXIAL]


class CommonField(ConfiningField):
    """The sum of some fields, with the symmetries that all of them have.

    Parameters
    ----------
    fields
        The fields.
    """

    def __init__(self, fields: Sequence[ConfiningField]) -> None:
        degree = max(largest_degree(field.coefficients.shape[1]) for field in fields)
        # With such weights fields that are opposite to each other do not cancel.
        weights = [generic(number) for number in range(len(fields))]
        total = sum(
            weight / field.lengths.sum() * field.up_to(degree)
            for weight, field in zip(weights, fields, strict=True)
        )
        super().__init__(np.asarray(total), zonal=all(field.zonal for field in fields))
        self.fields = fields

    def keeps(self, element: Floats) -> bool:
        """Return whether an orthogonal transformation leaves all of them as they are."""
        return all(field.keeps(element) for field in self.fields)
