r"""Extended systems: the stationary equation with one condition more, in the plane of two parameters.

Their unknowns are the states and the coordinate x, packed in one vector, and their parameter is the coordinate q,
so that :func:`solvers.branches.continuation.trace` follows their solutions as it follows branches.
"""

import math
from collections.abc import Hashable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy.linalg.blas import dasum, ddot

from meanfield import InvalidInput, NotResolved
from meanfield.harmonics import Layout
from meanfield.records import CurveType

from ...bases import EPS, Basis, Floats, Gibbs, Integers, Involution
from ...bases.limits import MAX_UNKNOWNS
from ...branches.continuation import Point, length
from ...branches.hermite import hermite
from ...domains import solvers_of
from ...equations.counts import Counts
from ...equations.equation import Evaluation, StationaryEquation
from ...equations.significant import even_size
from ...execution.computed import computed_once
from ...root_finding.solution import Solution
from ..in_plane.at_place import state_at
from ..in_plane.plane import Plane
from ..in_plane.stability import class_determinant
from ..in_plane.states import AtState
from .system import System
from .tested import Margins, Tests

# States that are images of each other on two sides of the uniform state are not farther from each other than this.
CLOSE = 0.5
# What a state lacks of its image changes by at most so many times what the state does: an axis of the one in which
# both meet turns slowly.
REVERSED = 2.0
# The part of a state that its image has as well is at least this share of what it is beside, where they meet in a
# state that is not the uniform one; there it would vanish.
KEPT = 0.5
# The largest moment of a state that vanishes with the power 2/3 of a confinement, prolonged along tangents to where
# that does, is one third of what it is; of a state that does not vanish there it is nearly all.
VANISHING = 0.5
# Of a state that Newton's method takes for a more symmetric one, this share of what breaks the symmetry is left.
COLLAPSED = 1e-7
# Multiples of a symmetry whose states a curve might be lost to, and the share of what they lack that then remains.
ODD_MULTIPLES, RETAINED = (3, 5, 7), 0.01


class Halving(NamedTuple):
    """A state of a curve, by number, and the transformation to its image: None for a period over ``multiple``."""

    state: int
    involution: Involution | None = None
    multiple: int = 2


def layout_of(bases: Iterable[Basis]) -> Layout:
    """Return the layout of moments that the densities of all of some bases have."""
    return "degree" if all(basis.invariants is None for basis in bases) else "order"


class ExtendedEquation(StationaryEquation):
    """The base of extended systems; of what a stationary equation does, only what continuation asks for is defined.

    Parameters
    ----------
    plane
        The two parameters.
    bases
        One basis for each of the states.

    Attributes
    ----------
    basis : Basis
        That of the first state.
    scales : (size,) float
        One for each unknown.
    """

    kind: CurveType
    symmetric = False
    # Whether curves of the type end at tricritical points of the uniform branch.
    ends_tricritically = True
    # Strengths of the modes, one where they are critical, and forces in units of the noise, up to which curves are
    # followed: states are points beyond.
    strongest = 1e4

    def __init__(self, plane: Plane, bases: tuple[Basis, ...]) -> None:
        self.plane = plane
        self.bases = bases
        self.basis = bases[0]
        self.scales = np.ones(sum(basis.degrees.size for basis in bases) + 1)
        if not plane.confined and all(basis.cosines is not None for basis in bases):
            # Curves are smooth and their first steps short; but states without an axis may be about to gain one,
            # and a confinement to vanish.
            self.most_growth = 4.0
        self._last: tuple[Floats, float, System] | None = None

    def system(self, b: Floats, q: float) -> System:
        """Return the system at (b, q); the last one is kept, since Newton's method asks for its parts in turn."""
        known = self._last
        if known is None or known[1] != q or not (known[0] is b or np.array_equal(known[0], b)):
            self._last = known = b, q, self._system(self.at_states(b, q), b)
        return known[2]

    def _system(self, states: tuple[AtState, ...], b: Floats) -> System:
        raise NotImplementedError

    def at_states(self, b: Floats, q: float) -> tuple[AtState, ...]:
        """Return the stationary equation at each state of (b, q)."""
        found, start = [], 0
        for basis in self.bases:
            size = basis.degrees.size
            found.append(state_at(self.plane, basis, (float(b[-1]), q), b[start : start + size]))
            start += size
        return tuple(found)

    def evaluate(self, b: Floats, q: float) -> Evaluation:
        """Return the residual and the density of the first state; nan where q or x is not admissible."""
        try:
            with np.errstate(all="ignore"):
                found = self.system(b, q)
        except (InvalidInput, NotResolved, np.linalg.LinAlgError):
            return Evaluation(np.full(b.size, np.nan), Gibbs(np.full(1, np.nan), np.nan))
        return Evaluation(found.residual, found.states[0].gibbs)

    def linearise(self, b: Floats, q: float, moments: Floats) -> tuple[Floats, Floats]:
        """Return the derivatives of the residual in the unknowns and in q.

        Where they are not finite Newton's method ends by its residual, and the identity stands for them.
        """
        try:
            with np.errstate(all="ignore"):
                matrix, derivative = self.system(b, q).derivatives
            if math.isfinite(dasum(matrix.ravel(order="K")) + dasum(derivative)):
                return matrix, derivative
        except (InvalidInput, NotResolved, np.linalg.LinAlgError):
            pass
        return np.eye(b.size), np.zeros(b.size)

    def label(self, names: Sequence[str]) -> str:
        """Return the name of the curve from those of its states."""
        raise NotImplementedError

    @property
    def layout(self) -> Layout:
        """The layout of the moments in records: by degree on the circle, and where all states have an axis."""
        return layout_of(self.bases)

    @property
    def record_fields(self) -> dict[str, Any]:
        """Fields of records that not every type of curve has."""
        return {}

    @property
    def tests(self) -> Tests:
        """Functions of a point of the curve that vanish at organising points."""
        return {}

    def tests_between(self, last: Point, point: Point) -> Tests:
        """Return those of the functions that tell organising points between two points."""
        return self.tests

    @property
    def untested(self) -> str:
        """Why organising points where a born branch turns are not looked for; empty if they are, or are none."""
        return ""

    # What a point is called at which one of the margins vanishes.
    of_margins = "mode interaction"

    def margins(self, point: Point) -> Margins:
        """Return numbers that vanish where another direction of a state is neutral too."""
        return {}

    def margin(self, point: Point, key: tuple[int, Hashable]) -> float:
        """Return one of these numbers; of a class of harmonics also where it vanishes."""
        place, name = key
        if isinstance(name, int):
            return self.margins(point)[key]
        return class_determinant(self.system(point.unknowns_on(self)[0], point.q).states[place], name)

    def changed_states(self, before: tuple[Counts, ...], after: tuple[Counts, ...]) -> set[int]:
        """Return the states of which margins may vanish between two points, by their unstable directions there.

        Of a clustered state another direction is neutral where their numbers change, of which two may have one sum.
        """
        return {place for place, (one, other) in enumerate(zip(before, after, strict=True)) if one != other}

    def states_with_margins(self, before: tuple[Counts, ...], after: tuple[Counts, ...]) -> set[int]:
        """Return the states of which margins are compared between two points: two may vanish and the sum stay."""
        return set(range(len(self.bases)))

    def arrival(self, last: Point, point: Point) -> int | None:
        """Return the critical degree where a curve meets the uniform state between two points, None if it does not.

        There the largest moment of a small state changes its sign, the curve going on through images of its states.
        """
        return self.arrives(last, point, 0)

    def arrives(self, last: Point, point: Point, number: int) -> int | None:
        """Return the critical degree where a state of the curve meets the uniform one, None if it does not."""
        if self.plane.confined:
            return None
        basis, own = self.bases[number], self.places(number)
        before, after = last.unknowns_on(self)[0][own], self._continuing(last, point, number)
        place = int(np.argmax(np.abs(before)))
        if not before[place] * after[place] < 0.0 or length(after - before, 0.0) > CLOSE:
            return None
        return int(basis.degrees[place])

    def _continuing(self, last: Point, point: Point, number: int) -> Floats:
        """Return which image of a state, itself included, continues best that of a point before.

        Beside the uniform state images are so near that Newton's method may end at any of them. Both ends of an arc
        lead to nearly the same state half way, in nearly the same direction.
        """
        basis, own = self.bases[number], self.places(number)
        (before, ahead), (after, behind) = (
            [part[own] for part in each.unknowns_on(self)] for each in (last, point)
        )
        half = 0.5 * (point.arclength - last.arclength)
        meant = before + half * ahead, half * ahead
        # At the uniform state itself nothing tells images apart, and it is its only one.
        images = zip(basis.images(after), basis.images(after - half * behind), strict=False)
        return min(
            images,
            key=lambda pair: length(meant[0] - pair[1], 0.0) + length(meant[1] - (pair[0] - pair[1]), 0.0),
        )[0]

    def places(self, number: int) -> slice:
        """Return where the unknowns of a state are."""
        start = sum(basis.degrees.size for basis in self.bases[:number])
        return slice(start, start + self.bases[number].degrees.size)

    def partners(self, degree: int, last: int) -> list[int]:
        """Return the modes up to a last one that may be critical with that of a degree where the curve meets it.

        They are those that the states have.
        """
        if self.basis.cosines is None:
            return [mode for mode in np.unique(self.basis.degrees).tolist() if mode <= last]
        common = math.gcd(*(basis.symmetry for basis in self.bases))
        return list(range(common, last + 1, common))

    def merges(self, last: Point, point: Point) -> bool:
        """Return whether two states of the curve become one between two points or soon after."""
        return False

    def halved(self, last: Point, point: Point) -> Halving | None:
        """Return which state meets which image of it between two points, None if none does.

        They meet in a state of twice the symmetry, or about an axis.
        """
        return next((each for each in self.halvings(point) if self._is_halved(last, point, each)), None)

    def halvings(self, point: Point) -> Iterator[Halving]:
        """Yield the states with the images by transformations that are their own inverses."""
        for place, basis in enumerate(self.bases):
            if basis.even:
                if self._turns_by(2, basis) and self._odd[place].size:
                    yield Halving(place)
                continue
            own = point.b[self.places(place)]
            yield from (Halving(place, each) for each in basis.involutions(own))

    def thirds(self) -> Iterator[Halving]:
        """Yield the states with the images by a third of a period, which a curve passes where they become one."""
        for place, basis in enumerate(self.bases):
            if basis.even and self._turns_by(3, basis):
                yield Halving(place, multiple=3)

    def _turns_by(self, multiple: int, basis: Basis) -> bool:
        """Return whether a part of the period of a state takes it to an image.

        A confinement may tell them apart, and on spheres there is one period only.
        """
        larger = multiple * basis.symmetry
        known = solvers_of(self.plane.problem).geometry.symmetry(larger)
        return larger == known and self.plane.confining_symmetry % larger == 0

    def _is_halved(self, last: Point, point: Point, halving: Halving) -> bool:
        place = halving.state
        after = self.broken(point, halving)
        own = self.places(place)
        chord = length(point.unknowns_on(self)[0][own] - last.unknowns_on(self)[0][own], 0.0)
        if length(after, 0.0) > REVERSED * chord:
            return False
        before = self.broken(last, halving)
        # Of one harmonic alone all is in the symmetric part.
        if length(before, 0.0) <= COLLAPSED:
            return False
        if length(after, 0.0) <= COLLAPSED * length(before, 0.0):
            # Newton's method went on along the curve of the more symmetric state, which crosses this one.
            return True
        if not (before @ after < 0.0 and length(after - before, 0.0) <= min(CLOSE, REVERSED * chord)):
            return False
        if self.plane.confined:
            # There is no uniform state that it may be beside.
            return True
        if self._is_clustered(last, point, halving):
            return True
        return len(self.bases) > 1 and self.arrives(last, point, place) is not None

    def _is_clustered(self, last: Point, point: Point, halving: Halving) -> bool:
        """Return whether a state is not the uniform one where it meets its image between two points.

        Beside the uniform state all moments may be about to vanish: the symmetric part as the square of the other.
        """
        before, after = self.broken(last, halving), self.broken(point, halving)
        symmetric = [self._symmetric(each.unknowns_on(self)[0], halving) for each in (last, point)]
        if symmetric[1] > length(after - before, 0.0):
            return True
        share = length(before, 0.0) / (length(before, 0.0) + length(after, 0.0))
        met, _ = hermite((last, point), last.arclength + share * (point.arclength - last.arclength))
        return self._symmetric(met, halving) > KEPT * max(symmetric)

    def _symmetric(self, b: Floats, halving: Halving) -> float:
        """Return the length of the part of a state that its image has as well."""
        own = b[self.places(halving.state)]
        broken = self._broken(own, halving)
        return math.sqrt(max(float(own @ own - broken @ broken), 0.0))

    def extent(self, b: Floats, q: float) -> float:
        """Return the larger of q and the distance of x from the start."""
        return max(q, abs(float(b[-1]) - self.plane.origin))

    def unturned(self, guess: Floats, b: Floats, moments: Floats) -> Floats:
        """Return the guess: the residual keeps states from turning."""
        return guess

    def leaves(self, last: Solution, found: Solution) -> bool:
        """Return whether Newton's method went to another curve beside this one, or over an end of this one.

        On the circle a state of an odd multiple of the symmetry has singular derivatives, too, where those of this
        curve are born of it. Of twice the symmetry, see :meth:`halved`.
        """
        collapsed = any(
            length(found.b[broken], 0.0) < RETAINED * length(last.b[broken], 0.0) for broken in self._broken_by_odd
        )
        return collapsed or (self.plane.confined and self._passes_zero_field(last, found))

    def _passes_zero_field(self, last: Solution, found: Solution) -> bool:
        """Return whether a confinement vanishes between two points where a state may be uniform and turn back.

        The moments of a state that keep their sign there grow with a power of the confinement on both sides, as
        those of twice the period do at folds with its power 2/3, and the curve has a cusp. They are small there
        beside those of a point, or lead to a smaller value where the confinement vanishes, along a tangent.
        """
        way = length(found.b - last.b, found.q - last.q)
        forward = ddot(last.tangent_b, found.tangent_b) + last.tangent_q * found.tangent_q >= 0.0
        for number, basis in enumerate(self.bases):
            own = self.places(number)
            before, after = last.b[own], found.b[own]
            place = int(np.argmax(np.abs(before)))
            if not before[place] * after[place] > 0.0:
                continue
            one = self.plane.coefficients(float(last.b[-1]), last.q, basis.degrees, basis).forces
            other = self.system(found.b, found.q).states[number].coefficients.forces
            if not one @ other < 0.0:
                continue
            share = length(one, 0.0) / (length(one, 0.0) + length(other, 0.0))
            backward = -1.0 if forward else 1.0
            ahead = 1.0 + share * way * last.tangent_b[own][place] / before[place]
            behind = 1.0 + backward * (1.0 - share) * way * found.tangent_b[own][place] / after[place]
            small = min(length(before, 0.0), length(after, 0.0)) <= length(after - before, 0.0)
            if small or min(ahead, behind) <= VANISHING:
                return True
        return False

    @computed_once
    def _broken_by_odd(self) -> list[Integers]:
        """The places of the unknowns that vanish where a state has an odd multiple of its symmetry."""
        return [
            self.places(number).start + np.flatnonzero(basis.degrees // basis.symmetry % multiple)
            for number, basis in enumerate(self.bases)
            if basis.cosines is not None
            for multiple in ODD_MULTIPLES
        ]

    @computed_once
    def _odd(self) -> list[Integers]:
        """The places in each state of odd multiples of its symmetry, which vanish where that is twice as large."""
        return [np.flatnonzero(basis.degrees // basis.symmetry % 2) for basis in self.bases]

    def has_uniform(self, b: Floats) -> bool:
        """Return whether one of the states is the uniform one up to rounding, which in a confinement none is."""
        if self.plane.confined:
            return False
        return any(length(b[self.places(number)], 0.0) <= COLLAPSED for number in range(len(self.bases)))

    def broken(self, point: Point, halving: Halving) -> Floats:
        """Return the part of the unknowns of a state that vanishes where it is its own image."""
        return self._broken(point.unknowns_on(self)[0][self.places(halving.state)], halving)

    def _broken(self, own: Floats, halving: Halving) -> Floats:
        basis = self.bases[halving.state]
        if halving.involution is None:
            return np.where(basis.degrees // basis.symmetry % halving.multiple, own, 0.0)
        return 0.5 * (own - basis.image(own, halving.involution))

    def separation(self, point: Point) -> Floats:
        """Return the difference of the two states of a curve."""
        raise NotImplementedError

    def negative(self, jacobian: Floats, q: float) -> int:
        """Return zero: of an extended system nothing is counted."""
        return 0

    def partition(self, q: float, moments: Floats) -> None:
        """Return None: all unknowns are factorised together."""
        return

    def resolves(self, b: Floats, q: float, moments: Floats) -> bool:
        """Return whether quadratures and unknowns resolve the states, and the borders are near the null vectors."""
        found = self.system(b, q)
        return self._borders_fit(found) and all(state.in_place and self._suffices(state) for state in found.states)

    def _suffices(self, state: AtState) -> bool:
        return state.resolves() and not self._missing(state).size

    def _missing(self, state: AtState) -> Integers:
        """Return the next degrees beyond the unknowns that move the density, which the state keeps."""
        if state.missing is None:
            state.missing = self._lacking(state)
        return state.missing

    def _lacking(self, state: AtState) -> Integers:
        """Return the next degrees beyond the unknowns that move the density, none if the last unknowns do not."""
        degrees = state.weighted.basis.degrees
        last = degrees >= degrees[-1] - 3 * state.weighted.basis.symmetry
        if float(np.abs(state.field[last]).max()) <= EPS:
            return degrees[:0]
        return self._further(state)

    def _further(self, state: AtState) -> Integers:
        """Return the next significant degrees beyond the unknowns, if the potential has any."""
        basis = state.weighted.basis
        last = limit = int(basis.degrees[-1])
        while limit <= basis.most_cells * basis.symmetry and not self.plane.ends_by(limit, *state.place):
            limit *= 2
            degrees = self.plane.significant(*state.place, basis.admissible(limit))
            if degrees[-1:] > last:
                return degrees
        return basis.degrees[:0]

    def _borders_fit(self, found: System) -> bool:
        """Return whether the borders of the matrix are near its null vectors."""
        return True

    def refined(self, b: Floats, q: float, moments: Floats) -> "ExtendedEquation | None":
        """Return the system with more nodes or unknowns, or other borders; None at the limits."""
        found = self.system(b, q)
        if not all(state.in_place for state in found.states):
            return self.in_bases(tuple(state.weighted.basis.beside(state.unknown) for state in found.states))
        if not self._borders_fit(found):
            return self.bordered_by(found)
        bases = tuple(map(self._refined_basis, found.states))
        known = tuple(basis for basis in bases if basis is not None)
        return self.in_bases(known) if len(known) == len(bases) else None

    def _refined_basis(self, state: AtState) -> Basis | None:
        basis, resolved, missing = state.weighted.basis, state.resolves(), self._missing(state)
        if resolved and not missing.size:
            return basis
        nodes, cells = basis.nodes if resolved else 2 * basis.nodes, basis.cells
        if missing.size:
            cells = np.union1d(cells, missing // basis.symmetry)
            nodes = max(nodes, even_size(2 * int(cells[-1])))
        if nodes > state.most_nodes or cells.size > min(basis.most_cells, MAX_UNKNOWNS):
            return None
        return basis.resized(cells, nodes)

    def in_bases(self, bases: tuple[Basis, ...]) -> "ExtendedEquation":
        """Return the same system with other bases of its states."""
        return type(self)(self.plane, bases)

    def bordered_by(self, found: System) -> "ExtendedEquation":
        """Return the same system with its null vectors at a point as borders."""
        return self

    def transfer(self, b: Floats, to: StationaryEquation) -> Floats:
        """Return the unknowns of a refined system that have the same moments."""
        assert isinstance(to, ExtendedEquation)
        if to.scales.size == self.scales.size:
            return b
        moved, start, place = np.zeros(to.scales.size), 0, 0
        for basis, larger in zip(self.bases, to.bases, strict=True):
            own = b[start : start + basis.degrees.size]
            known = np.zeros(int(larger.degrees[-1]) + 1, dtype=bool)
            known[basis.degrees] = True
            moved[place + np.flatnonzero(known[larger.degrees])] = own
            start, place = start + basis.degrees.size, place + larger.degrees.size
        moved[-1] = b[-1]
        return moved
