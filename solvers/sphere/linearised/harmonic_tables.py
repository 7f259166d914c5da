r"""Products of harmonics of one class under a function on S^2, ring by ring.

With the Fourier coefficients :math:`A_k, B_k = \langle s\cos k\varphi\rangle, \langle s\sin k\varphi\rangle`
of a function s along the rings, the mean of s times two harmonics is a sum over rings, as in
:mod:`solvers.bases.second_moments`. Harmonics are of uniform mean square one here, :math:`\sqrt{2l+1}\,e_{lm}`.
"""

import functools
from typing import NamedTuple

import numpy as np

from meanfield.harmonics import packed_size, place

from ...bases import Floats, Integers
from ...bases.legendre import ring_tables
from ..harmonics import HarmonicClass, classes_of, listed
from .banded import Banded, panels_of
from .full_fields import Symmetry

# Degree, order, and whether it is a sine.
Harmonic = tuple[int, int, int]


class Block(NamedTuple):
    """Harmonics of one order, cosines or sines, among those of a class."""

    places: slice
    order: int
    sine: int


class ClassTable:
    """The harmonics of a class up to a degree on the rings of a Gauss rule.

    Parameters
    ----------
    harmonics : (3, n) int
        Degree, order, and whether it is a sine, sorted by the last two.
    rings
        Number of nodes of the rule.
    own
        Whether the class contains the state itself.
    copies
        Number of classes that have the same eigenvalues by symmetry, this one included.
    """

    def __init__(self, harmonics: Integers, rings: int, own: bool, copies: int) -> None:
        self.degrees, self.orders, self.sines = harmonics
        self.rings, self.own, self.copies = rings, own, copies
        self.roots: Floats = np.sqrt(2.0 * self.degrees + 1.0)
        self._packed = place(self.degrees, self.orders)
        starts = np.flatnonzero(np.append(True, np.diff(2 * self.orders + self.sines) != 0))
        ends = np.append(starts[1:], self.degrees.size)
        self.blocks = [
            Block(slice(start, end), int(self.orders[start]), int(self.sines[start]))
            for start, end in zip(starts.tolist(), ends.tolist(), strict=True)
        ]
        self._block_of = np.repeat(np.arange(starts.size), ends - starts)
        self._block_orders, self._block_sines = self.orders[starts], self.sines[starts]
        self._paired: dict[int, tuple[Integers, Integers, Integers, Floats, Floats]] = {}

    @functools.cached_property
    def rows(self) -> Floats:
        """The functions on the rings, (n, rings), computed when needed, as for few classes."""
        orders = np.unique(self.orders)
        tables = ring_tables(int(self.degrees.max()), orders, self.rings)
        rows = np.empty((self.size, self.rings))
        for order, each in zip(orders.tolist(), tables, strict=True):
            here = self.orders == order
            rows[here] = each.T[self.degrees[here] - order]
        rows *= self.roots[:, None]
        return rows

    @property
    def size(self) -> int:
        """Number of harmonics."""
        return int(self.degrees.size)

    @property
    def first(self) -> Harmonic:
        """The lowest harmonic of the lowest order, which identifies a class for all largest degrees."""
        return int(self.degrees[0]), int(self.orders[0]), int(self.sines[0])

    def pick(self, cosine: Floats, sine: Floats) -> Floats:
        """Return the coefficients in the class of a function with the given packed means."""
        chosen: Floats = np.where(self.sines == 1, sine[..., self._packed], cosine[..., self._packed])
        return chosen * self.roots

    def spread(self, coefficients: Floats, degree: int) -> tuple[Floats, Floats]:
        """Return packed coefficients of a function up to a degree, for a plain sum of the e_lm."""
        both = np.zeros((2, packed_size(degree)))
        both[self.sines, self._packed] = coefficients * self.roots
        return both[0], both[1]

    def products(self, waves: Floats, columns: Integers) -> Floats:
        """Return the means of a function times two harmonics of the class.

        Parameters
        ----------
        waves : (2, orders, rings) float
            A_k and B_k of the function times the weights of the rings, see :func:`waves_of`.
        columns : (m,) int
            Which harmonics to take as the second.

        Returns
        -------
        ndarray (n, m)
        """
        some, (others, block_of) = self.rows[columns], np.unique(self._block_of[columns], return_inverse=True)
        result = np.empty((self.size, columns.size))
        for block in self.blocks:
            factors = self._factors(waves, block, others)[block_of]
            factors *= some
            np.matmul(self.rows[block.places], factors.T, out=result[block.places])
        return result

    def squares(self, waves: Floats, reach: int) -> Banded:
        """Return the means of a function of a degree, with these waves, times all pairs of harmonics of the class.

        The degree is the largest difference of orders at which they are not zero.
        """
        panels = panels_of(self.orders, reach)
        rows = [np.empty((stop - start, end - start)) for start, stop, end in panels]
        places = iter(zip(panels, rows, strict=True))
        (start, stop, end), into = next(places)
        for block in self.blocks:
            if block.places.start == stop:
                (start, stop, end), into = next(places)
            first, last = block.places.start - start, block.places.stop - start
            seen = slice(block.places.start, end)
            first_seen, last_seen = self._block_of[[seen.start, seen.stop - 1]].tolist()
            others = np.arange(first_seen, last_seen + 1)
            factors = self._factors(waves, block, others)[self._block_of[seen] - first_seen]
            factors *= self.rows[seen]
            np.matmul(self.rows[block.places], factors.T, out=into[first:last, first:])
            into[first : stop - start, first:last] = into[first:last, first : stop - start].T
        return Banded(panels, rows)

    def _factors(self, waves: Floats, block: Block, others: Integers) -> Floats:
        """Return the means along the rings of the function times a wave of a block and one of each of others."""
        kind, difference, total, turned, sign = self._pairs(block)
        kind = kind[others]
        factors: Floats = turned[others] * waves[kind, difference[others]]
        factors += sign[others] * waves[kind, total[others]]
        return factors

    def _pairs(self, block: Block) -> tuple[Integers, Integers, Integers, Floats, Floats]:
        """Return kinds and orders of the products of the wave of a block with those of all, and their factors."""
        known = self._paired.get(block.places.start)
        if known is None:
            difference = self._block_orders - block.order
            alike = self._block_sines == block.sine
            sign = np.where(alike, 1 - 2 * block.sine, 1)[:, None]
            # The wave of the difference is odd for a cosine with a sine: order of the sine less that of the cosine.
            turned = np.where(alike, 1, np.sign(difference) * (1 - 2 * block.sine))[:, None]
            known = (
                np.where(alike, 0, 1),
                np.abs(difference),
                difference + 2 * block.order,
                0.5 * turned,
                0.5 * sign,
            )
            self._paired[block.places.start] = known
        return known


def waves_of(values: Floats, weights: Floats, largest: int) -> Floats:
    """Return A_k and B_k, k = 0..largest, of values on a grid, times the weights of its rings."""
    transformed = np.fft.rfft(values, axis=1)[:, : largest + 1] * (weights / values.shape[1])[:, None]
    return np.ascontiguousarray(np.stack([transformed.real.T, -transformed.imag.T]))


@functools.lru_cache(maxsize=16)
def class_tables(symmetry: Symmetry, degree: int, rings: int) -> tuple[ClassTable, ...]:
    """Return the cached classes of harmonics up to a degree, one of those with equal eigenvalues."""
    harmonics = np.stack(listed(np.arange(degree + 1)))
    classes = classes_of(symmetry.reflections, symmetry.turns, np.arange(degree + 1))
    found: dict[object, tuple[Integers, bool, int]] = {}
    for block, copies in _one_of_each_exchange(classes, symmetry):
        chosen = harmonics[:, np.array(block.places)]
        chosen = chosen[:, np.lexsort((chosen[0], chosen[2], chosen[1]))]
        # Turning the state by its own symmetry mixes cosines and sines of an order strictly between multiples of
        # half of it, so a class of each has the same eigenvalues.
        mixed = 0 < 2 * block.residue < symmetry.turns
        label = np.sort(chosen[0] * (degree + 1) + chosen[1]).tobytes() if mixed else block
        _, _, before = found.get(label, (chosen, block.own, 0))
        found[label] = (chosen, block.own, before + copies)
    return tuple(ClassTable(chosen, rings, own, copies) for chosen, own, copies in found.values())


def _one_of_each_exchange(classes: list[HarmonicClass], symmetry: Symmetry) -> list[tuple[HarmonicClass, int]]:
    """Return one class of each orbit under the exchange of the axes, with the length of the orbit.

    The exchange permutes the signs under reflections. Of the classes of an orbit the one is taken that
    the order modulo the turns splits into most classes.
    """
    if not symmetry.cyclic:
        return [(block, 1) for block in classes]
    moved = [symmetry.reflections.index((z, x, y)) for x, y, z in symmetry.reflections]
    parts: dict[tuple[int, ...], list[HarmonicClass]] = {}
    for block in classes:
        parts.setdefault(block.signs, []).append(block)
    found = []
    for signs, blocks in parts.items():
        second = tuple(signs[place] for place in moved)
        orbit = dict.fromkeys([signs, second, tuple(second[place] for place in moved)])
        if signs == max(orbit, key=lambda each: (len(parts[each]), each)):
            found += [(block, len(orbit)) for block in blocks]
    return found
