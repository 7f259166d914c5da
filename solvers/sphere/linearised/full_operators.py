r"""The linearised equation at a state on S^2 without an axis, applied on a grid.

With W, C and :math:`v_{lm}` of :mod:`.full_matrices`: a perturbation on harmonics up to a degree is summed on the
grid, multiplied by the potential of W or by the root of the density, and taken back to harmonics.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from meanfield.equations import NEGLIGIBLE

from ...bases import EPS, Floats, Integers
from ...bases.spherical import SphericalTransform
from .full_fields import FullField, on_grid, transform_of, turnings
from .harmonic_tables import ClassTable, Harmonic, class_tables

# Rotations of a class are independent if their singular values are above this share of the largest of all.
INDEPENDENT = 1e-9


@dataclass(frozen=True, eq=False)
class Pair:
    """A rate mu in units of D with x and y = Wx of unit product."""

    level: float
    x: Floats
    y: Floats


class Operators:
    """The linearised equation at a field on harmonics up to a degree.

    Parameters
    ----------
    field
        The field of the state.
    degree
        L.
    rings, meridians
        The grid.
    """

    def __init__(self, field: FullField, degree: int, rings: int, meridians: int) -> None:
        self.field, self.degree = field, degree
        self.transform = transform_of(degree, rings, meridians)
        self.values = on_grid(field, rings, meridians)
        self.lambdas: Floats = field.interaction.attractions(degree) / (2.0 * np.arange(degree + 1.0) + 1.0)
        self.unlisted: float = field.interaction.strongest_beyond(degree)

    @property
    def noise(self) -> float:
        """The noise D."""
        return self.field.problem.noise

    @cached_property
    def beyond(self) -> float:
        """Estimate of a lower bound of the rates of perturbations of higher degrees, in units of D."""
        free = (self.degree + 1.0) * (self.degree + 2.0) + float(self.values.potential.min())
        share = 1.0 - self.unlisted * float(self.values.root.max()) ** 2
        return free * share if min(free, share) > 0.0 else -np.inf

    def table(self, first: Harmonic) -> ClassTable:
        """Return the class of harmonics that has a first one."""
        tables = class_tables(self.field.symmetry, self.degree, self.transform.rings)
        return next(table for table in tables if table.first == first)

    def significant(self, table: ClassTable) -> Integers:
        """Return the places of the harmonics of a class that the interaction acts on."""
        strongest = float(np.abs(self.lambdas).max())
        return np.flatnonzero(np.abs(self.lambdas[table.degrees]) > NEGLIGIBLE * strongest)

    @cached_property
    def kernels(self) -> list[tuple[Floats, Floats]]:
        """Packed coefficients of the root of the density, and of the rotations."""
        turned = turnings(self.field, self.values, self.transform.rings, self.transform.meridians)
        return [self.transform.analyse(values) for values in (self.values.root, *turned)]

    @cached_property
    def fastest(self) -> float:
        """Largest length of a rotation."""
        lengths = [self.transform.multiplicities @ (cosine**2 + sine**2) for cosine, sine in self.kernels[1:]]
        return float(np.sqrt(max(lengths)))

    def mass(self, table: ClassTable) -> Floats:
        """Return the root of the density in a class as a column of unit length, no column if it vanishes there."""
        column = table.pick(*self.kernels[0])[:, None]
        return column / np.linalg.norm(column) if table.own else column[:, :0]

    def rotations(self, table: ClassTable) -> Floats:
        """Return an orthonormal basis of the rotations in a class, as columns."""
        if not self.kernels[1:]:
            return np.zeros((table.size, 0))
        columns = np.stack([table.pick(*pair) for pair in self.kernels[1:]], axis=1)
        least = INDEPENDENT * self.fastest
        if np.linalg.norm(columns) <= least:
            return columns[:, :0]
        mass = self.mass(table)
        directions, sizes, _ = np.linalg.svd(columns - mass @ (mass.T @ columns), full_matrices=False)
        return np.asarray(directions[:, sizes > least])

    def factor(self, table: ClassTable, x: Floats) -> tuple[Floats, Floats]:
        r"""Return :math:`Qx = \nabla x - \tfrac12 x\nabla f` of a vector of a class on the grid."""
        packed = table.spread(x, self.degree)
        halved = 0.5 * self.transform.synthesise(*packed)
        polar, azimuthal = self.transform.gradient(*packed)
        return polar - halved * self.values.polar, azimuthal - halved * self.values.azimuthal

    def truncation(self, table: ClassTable, pair: Pair) -> float:
        """Return the change of a rate of a class by the truncated harmonics, to leading order."""
        transform, values = self.transform, self.values
        beyond = self._beyond(values.potential * transform.synthesise(*table.spread(pair.x, self.degree)))
        weighted = values.root * transform.synthesise(*table.spread(pair.y, self.degree))
        attracted = self._beyond(self.attracted(weighted))
        changed = abs(pair.level) * beyond / ((self.degree + 1.0) * (self.degree + 2.0)) + attracted
        if self.unlisted > EPS:
            changed += self.unlisted * self._beyond(weighted)
        return changed

    @cached_property
    def _attracting(self) -> tuple[SphericalTransform, Floats]:
        """The transform to the degrees of the interaction, and their strengths on packed coefficients."""
        sizes = np.abs(self.lambdas)
        last = int(np.flatnonzero(sizes > NEGLIGIBLE * sizes.max()).max(initial=0))
        transform = transform_of(last, self.transform.rings, self.transform.meridians)
        return transform, (self.lambdas * (2.0 * np.arange(self.degree + 1.0) + 1.0))[transform.degrees]

    def attracted(self, weighted: Floats) -> Floats:
        r"""Return :math:`\sum_{lm}\lambda_l v_{lm}\langle v_{lm}, y\rangle`, from :math:`\sqrt\rho\,y`."""
        transform, factors = self._attracting
        cosine, sine = transform.analyse(weighted)
        return np.asarray(self.values.root * transform.synthesise(factors * cosine, factors * sine))

    def _beyond(self, values: Floats) -> float:
        """Return the mean square of the part of values on the grid beyond the last degree."""
        transform = self.transform
        cosine, sine = transform.analyse(values)
        factors = transform.multiplicities
        rest = values - transform.synthesise(factors * cosine, factors * sine)
        return transform.mean(rest * rest)
