r"""Perturbations of an n-fold state on the circle beside those of its own symmetry, class by class.

Products of two modes of one class, :math:`\cos k\theta\cos l\theta` or :math:`\sin k\theta\sin l\theta` with
:math:`k, l \equiv \pm j` modulo n, have means of the degrees :math:`k \pm l` alone, and those that are no multiples
of n vanish. So do the means of the modes themselves, and covariances and third moments of an even state are sums of
its moments. Of one without an axis, whose cosines and sines are coupled, they are integrals over one period.
"""

import functools
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..bases import Basis, Floats, Integers
from ..equations.geometry import Measure
from ..equations.significant import even_size


@functools.lru_cache(maxsize=64)
def _degrees_of_class(symmetry: int, residue: int, last: int) -> Integers:
    """Return the degrees of +-``residue`` modulo a symmetry up to a last one, read-only."""
    degrees: Integers = np.arange(1, last + 1)
    classes = degrees % symmetry
    found: Integers = degrees[(classes == residue) | (classes == symmetry - residue)]
    found.setflags(write=False)
    return found


@dataclass(frozen=True)
class _Class:
    """A class of modes beside those of an n-fold state, n being its ``symmetry``."""

    symmetry: int

    @property
    def nested(self) -> bool:
        """False: no two classes have a mode in common."""
        return False

    @property
    def born(self) -> None:
        """None: on the circle there is no symmetry but an axis and a period."""
        return

    def nodes(self, basis: Basis, degrees: Integers) -> int:
        """Return how many nodes of a basis resolve products of four sums over some degrees."""
        return max(basis.nodes, even_size(4 * int(degrees[-1]) // self.symmetry))


@dataclass(frozen=True)
class Complement(_Class):
    """Cosines (``sign`` 1) or sines (``sign`` -1) of degrees +-``residue`` modulo ``symmetry``."""

    residue: int
    sign: int

    def rotates(self, confined: bool) -> bool:
        """Return whether rotations of the state are among its modes, of which a confinement admits none."""
        return self.residue == 0 and not confined

    @property
    def born_symmetry(self) -> int:
        """The symmetry of the states born that are even about an axis of the state; zero of others.

        Sines of half the symmetry are even about its other axis, those of multiples of it about none.
        """
        return math.gcd(self.symmetry, self.residue) if self.residue else 0

    @property
    def odd(self) -> bool:
        """Whether the modes are sines that are even about another axis."""
        return self.sign < 0 and self.residue > 0

    @property
    def uneven(self) -> bool:
        """Whether the modes are sines of the degrees of the state, and states born of it are even about no axis."""
        return self.sign < 0 and self.residue == 0

    def degrees(self, last: int) -> Integers:
        """Return the degrees up to a last one."""
        return _degrees_of_class(self.symmetry, self.residue, last)

    def rotation(self, density: Measure, degrees: Integers) -> Floats:
        """Return the derivatives of the means of the modes of some degrees under rotation of the state."""
        return np.asarray(degrees * self.means(density.moments, degrees))

    def means(self, moments: Floats, degrees: Integers) -> Floats:
        """Return <cos k theta> of any degrees from the moments of a state of the symmetry."""
        cells, rest = np.divmod(np.abs(degrees), self.symmetry)
        known = (rest == 0) & (cells < moments.size)
        return np.where(known, moments.take(cells, mode="clip"), 0.0)

    def covariance(self, measure: Measure, degrees: Integers) -> Floats:
        """Return the integrals of products of two modes of some degrees, (size, size)."""
        known = self.means(measure.moments, np.arange(2 * int(degrees.max(initial=0)) + 1))
        difference = known.take(np.abs(np.subtract.outer(degrees, degrees)))
        total = known.take(np.add.outer(degrees, degrees))
        return np.asarray(0.5 * (difference + self.sign * total))

    def products(self, measure: Measure, degrees: Integers, chi: Floats, phi: Floats) -> tuple[Floats, float]:
        """Return the integrals of chi phi c, c being the own modes, and of chi phi, sums over ``degrees``."""
        moments, own = measure.moments, measure.basis.degrees
        places, product = self._product(degrees, chi, phi)
        kept = places % self.symmetry == 0
        product, places = product[kept], places[kept]
        third: Floats = self.means(moments, np.subtract.outer(own, places)) @ product
        return third, float(product @ self.means(moments, places))

    @property
    def pitchfork(self) -> bool:
        """Whether a perturbation and its negative are images of each other: reflected or turned."""
        return self.residue == 0 or (self.symmetry // math.gcd(self.symmetry, self.residue)) % 2 == 0

    @property
    def squares(self) -> "Complement | None":
        """The class of twice the residue; None if that is the own one."""
        doubled = 2 * self.residue % self.symmetry
        return Complement(self.symmetry, min(doubled, self.symmetry - doubled), 1) if doubled else None

    @property
    def quarters(self) -> bool:
        """Whether perturbations quarter the symmetry, those about the one axis and about the other no images."""
        return 4 * self.residue % self.symmetry == 0 and self.squares is not None

    @property
    def thirds(self) -> bool:
        """Whether perturbations leave a third of the symmetry, and their squares have a part along them."""
        return self.symmetry == 3 * math.gcd(self.symmetry, self.residue) and self.residue > 0

    @property
    def untold(self) -> str:
        """Empty: cosines and sines of other classes are images of each other up to the fifth power."""
        return ""

    def integral(self, measure: Measure, degrees: Integers, factors: Floats) -> float:
        """Return the integral of the product of sums over some degrees, (k, size), of sines an even number of them.

        By values: where a state is nearly a point they vanish with the distance from it, and moments cancel.
        """
        nodes, folds = measure.basis.nodes, self.symmetry
        # The values recur with the period of the state, and are even in each.
        places = np.arange(nodes * folds + 1) % (2 * nodes)
        masses = measure.values[np.minimum(places, 2 * nodes - places)] / (nodes * folds)
        masses[[0, -1]] *= 0.5
        angles = np.pi / (nodes * folds) * np.arange(nodes * folds + 1)
        modes = (np.cos if self.sign > 0 else np.sin)(np.multiply.outer(degrees, angles))
        return float(masses @ np.prod(factors @ modes, axis=0))

    def square_products(
        self, measure: Measure, degrees: Integers, chi: Floats, phi: Floats, further: Integers
    ) -> Floats:
        """Return the integrals of chi phi c, c being the cosines of some degrees of the class of squares."""
        places, product = self._product(degrees, chi, phi)
        return np.asarray(self.means(measure.moments, np.subtract.outer(further, places)) @ product)

    def _product(self, degrees: Integers, chi: Floats, phi: Floats) -> tuple[Integers, Floats]:
        """Return the degrees of either sign and the coefficients there of the product of two sums."""
        product = self.sign * np.convolve(self._two_sided(degrees, chi), self._two_sided(degrees, phi))
        last = 2 * int(degrees[-1])
        return np.arange(-last, last + 1), np.asarray(product)

    def _two_sided(self, degrees: Integers, values: Floats) -> Floats:
        """Return the coefficients of exp(ik theta) of a sum, of either sign of k; of sines times i."""
        last = int(degrees[-1])
        found = np.zeros(2 * last + 1)
        found[last + degrees], found[last - degrees] = 0.5 * values, 0.5 * self.sign * values
        return found


class HalvedPeriod(_Class):
    """Cosines and sines of odd multiples of half the ``symmetry``, an even one, of a state without an axis."""

    def rotates(self, confined: bool) -> bool:
        """Return False: rotations of the state have its symmetry."""
        return False

    @property
    def born_symmetry(self) -> int:
        """Half the symmetry of the state."""
        return self.symmetry // 2

    @property
    def odd(self) -> bool:
        """False: the state has no axis about which they are odd."""
        return False

    @property
    def uneven(self) -> bool:
        """True: states born of one without an axis have none."""
        return True

    def degrees(self, last: int) -> Integers:
        """Return the degrees up to a last one, of the cosines and again of the sines."""
        return np.tile(np.arange(self.born_symmetry, last + 1, self.symmetry), 2)

    def rotation(self, density: Measure, degrees: Integers) -> Floats:
        """Return the derivatives of the means of the modes under rotation of the state, which vanish."""
        return np.zeros(degrees.size)

    def covariance(self, measure: Measure, degrees: Integers) -> Floats:
        """Return the integrals of products of two modes of some degrees, (size, size)."""
        modes = self._modes(measure.basis, degrees)
        return np.asarray((modes * measure.values) @ modes.T / modes.shape[1])

    def products(self, measure: Measure, degrees: Integers, chi: Floats, phi: Floats) -> tuple[Floats, float]:
        """Return the integrals of chi phi c, c being the own modes, and of chi phi, sums over ``degrees``."""
        basis = measure.basis
        modes = self._modes(basis, degrees)
        moments = basis.analyse(measure.values * (chi @ modes) * (phi @ modes))
        return basis.means(moments), float(moments[0])

    @property
    def pitchfork(self) -> bool:
        """True: a perturbation becomes its negative by a rotation that keeps the state."""
        return True

    @property
    def squares(self) -> None:
        """None: squares of such perturbations have the symmetry of the state."""
        return

    @property
    def quarters(self) -> bool:
        """False: there is one kind of branches."""
        return False

    @property
    def thirds(self) -> bool:
        """False: they leave half of the symmetry."""
        return False

    @property
    def untold(self) -> str:
        """Empty: the shape of the branches is known."""
        return ""

    def integral(self, measure: Measure, degrees: Integers, factors: Floats) -> float:
        """Return the integral of the product of sums over some degrees, an even number of them, (k, size)."""
        modes = self._modes(measure.basis, degrees)
        return float((measure.values * np.prod(factors @ modes, axis=0)).mean())

    def square_products(
        self, measure: Measure, degrees: Integers, chi: Floats, phi: Floats, further: Integers
    ) -> Floats:
        """Return the integrals of chi phi c over modes of a class of squares, of which there is none."""
        return np.zeros(further.size)

    def _modes(self, basis: Basis, degrees: Integers) -> Floats:
        """Return the values of the modes of some degrees on the nodes in one period of the state."""
        angles = np.pi / (basis.nodes * self.symmetry) * np.arange(2 * basis.nodes)
        phases = np.multiply.outer(degrees[: degrees.size // 2], angles)
        return np.concatenate([np.cos(phases), np.sin(phases)])


def complements(basis: Basis, last: int) -> Sequence[Complement | HalvedPeriod]:
    """Return the classes beside that of a state's own symmetry; of cosine and sine copies the cosines.

    Of states without an axis that of half the period, the others having pairs of critical directions.
    """
    if basis.fourier is not None:
        return () if basis.symmetry % 2 else (HalvedPeriod(basis.symmetry),)
    symmetry = basis.symmetry
    found = [Complement(symmetry, 0, -1)]
    for residue in range(1, symmetry // 2 + 1):
        found.append(Complement(symmetry, residue, 1))
        if 2 * residue == symmetry:
            found.append(Complement(symmetry, residue, -1))
    return found
