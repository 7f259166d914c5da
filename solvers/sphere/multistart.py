"""The search for states among all densities of some symmetries: Newton's method and relaxations from many starts.

Random fields of a symmetry lead to states of that symmetry or a larger one: Newton's method is equivariant. In
small spaces of symmetric densities few starts meet every state, and most states have some symmetry, so every group
is given starts in proportion to its attractive harmonics, the trivial one too. Relaxations of arbitrary densities
end at stable states, and show how certain the lowest is.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial

import numpy as np

from meanfield import Equation, Number, Sphere
from meanfield.equations import Capability, Interaction, gradient_at_uniform

from ..bases import Floats, Integers, multiples
from ..bases.invariant import mode_matrix
from ..bases.representations import Group
from ..searched import QUARTER, Tally
from ..significant import confining_degree, starting_degrees, strengths
from ..sizing import confinement_field, confining_field
from .groups import searched_groups
from .sampled import Field, Harmonics, Sampled, about_axis, invariant, sampled
from .upright import upright

# Degrees of a confinement that decays slowly.
LARGEST_CONFINING = 64
# Degrees whose strengths sum up to less are left to the polishing of what is found.
LEFT_OUT = 1e-2
# Starts of a group in each round: some, and so many for each attractive harmonic that is critical.
FEWEST, PER_HARMONIC = 6, 4
# About an axis starts are cheap, and in high dimensions most lead to the sharpest state.
ON_AN_AXIS = 6
# Where there are few symmetries each is given more starts, as many times as these many over their number.
SHARED = 24
# Rounds go on until one finds nothing new and little is expected unseen; at least and at most so many.
ROUNDS = (2, 6)
# Multiplications a group may take in a round.
WORK = 3e9
# Relaxations of a round, and most rounds of them.
RELAXED, RELAXED_ROUNDS = 24, 6
# Starts are solved for on a grid that leaves this share of the moments of a state at its sharpest, what is met on
# one that leaves the other; both are limited, and what is sharper is left out.
ROUGH, EXACT = 1e-3, 1e-8
MOST_RINGS, MOST_NODES = (48, 192), (512, 2048)
# States with all invariants nearer than this are the same. An end that a coarse grid does not resolve is taken in
# the frame of its axes if that moves its invariants by less than the other, else as it is: ten times beyond the
# threshold the grid moves them by 3e-3, thirty times beyond by 0.1 and more.
SAME, BESIDE = 1e-6, 1e-2


@dataclass(eq=False, slots=True)
class Met:
    """A state that was met or is known.

    Attributes
    ----------
    invariants
        (F - F_uniform)/D and the length of the moments of each degree from 1.
    runs, relaxations : int
        How often Newton's method and relaxations ended there.
    since : int
        The first round that met it; one after all if none did, -1 for states known from elsewhere.
    group, cosine, sine
        On S^2 a symmetry that it has, and its packed moments; about an axis no group, and the moments by degree.
    """

    invariants: Floats
    runs: int = 0
    relaxations: int = 0
    since: int = ROUNDS[1]
    group: Group | None = None
    cosine: Floats = field(default_factory=lambda: np.empty(0))
    sine: Floats = field(default_factory=lambda: np.empty(0))


def field_of(problem: Equation, coupling: Number, largest: int) -> Field:
    """Return the field of a problem on a sphere at a coupling, truncated where negligible or at a degree."""
    exponent = None
    if problem.lacks(Capability.GRADIENT):
        exponent = float(coupling) / (problem.velocity.parameter_values()["beta"] * problem.positive_noise)
        problem = gradient_at_uniform(problem)
    significant = starting_degrees(problem, partial(multiples, 1))
    known = strengths(problem, int(significant.degrees.max()))
    values = np.zeros(known.relative.size)
    values[significant.degrees] = (
        -float(coupling / problem.positive_noise * known.scale) * known.relative[significant.degrees]
    )
    # Summed from the last, so that nothing is left of it where none is missing.
    beyond = np.append(np.cumsum(np.abs(values[:0:-1]))[::-1], 0.0)
    last = min(int(np.argmax(beyond <= LEFT_OUT)), largest)
    placed = confining_field(problem) if problem.domain.has_azimuth else None
    if problem.zonal:
        confinement = confinement_field(problem, 1, _confining(problem))
    else:
        confinement = Interaction(problem).force_lengths(_confining(problem))[1:]
    cut = bool(beyond[last] > LEFT_OUT)
    omitted = float(beyond[last]) if significant.complete else np.inf
    return Field(values[: last + 1], confinement, cut, omitted, placed, exponent)


def _confining(problem: Equation) -> int:
    """Return the last degree of the confinement that a search needs; all are included in the final iteration."""
    degree = confining_degree(problem)
    return LARGEST_CONFINING if degree is None else min(max(1, degree), LARGEST_CONFINING)


class Search:
    """A search among the densities of some symmetries, round by round.

    Parameters
    ----------
    spaces
        The densities of each symmetry, those of the least symmetry last.
    known
        Invariants of the states known from elsewhere.
    """

    def __init__(self, spaces: "Sequence[Space]", known: list[Floats]) -> None:
        self.met = [Met(invariants, since=-1) for invariants in known]
        self._spaces = spaces
        self._generator = np.random.default_rng(0)
        self._done = self._starts = 0

    def run(self) -> None:
        """Search in rounds, at least and at most ROUNDS, until :meth:`_is_enough`; then relax in the last space."""
        fewest, most = ROUNDS
        self._rounds(fewest)
        while self._done < most and not self._is_enough():
            self._rounds(min(self._least_more(), most - self._done))
        for space in self._spaces[-1:]:
            if space.relaxes:
                self._relax(space)

    def go_on(self) -> None:
        """Make as many rounds more as there are at most."""
        self._rounds(ROUNDS[1])

    def _rounds(self, count: int) -> None:
        """Make some rounds at once, with the starts of one after the other."""
        share = max(1, round(SHARED / max(1, len(self._spaces))))
        drawn = [
            [space.sampled(0).random(self._generator, space.starts(share)) for space in self._spaces]
            for _ in range(count)
        ]
        self._starts = sum(map(len, drawn[0]))
        for space, *starts in zip(self._spaces, *drawn, strict=True):
            for met, number, first in space.places(np.concatenate(starts), self.met):
                met.runs += number
                met.since = min(met.since, self._done + first // len(starts[0]))
        self._done += count

    def _is_enough(self) -> bool:
        """Return whether the last round met no new state, none was met once only and few are expected unseen."""
        unseen = Tally.of([met.runs for met in self.met]).unseen
        # A known state that no run meets does not keep the search going.
        once = any(met.runs == 1 for met in self.met)
        new = any(met.since == self._done - 1 for met in self.met)
        return not new and not once and unseen is not None and unseen < QUARTER

    def _least_more(self) -> int:
        """Return the number of further rounds at the least before few states are expected unseen."""
        wanting = Tally.of([met.runs for met in self.met]).wanting
        return max(1, math.ceil(wanting / max(1, self._starts)))

    def _relax(self, space: "Space") -> None:
        """Relax random densities of the least symmetry until the tally of their ends is settled."""
        sampled = space.sampled(0)
        for _ in range(RELAXED_ROUNDS):
            for met, count, _ in space.places(sampled.relaxed(sampled.random(self._generator, RELAXED)), self.met):
                met.relaxations += count
            if Tally.of([met.relaxations for met in self.met if met.relaxations]).settled:
                return


def among_harmonics(field: Field) -> "list[Space]":
    """Return the symmetries of densities on S^2 that may hold more than one state."""
    significant = np.flatnonzero(field.strengths)
    spaces = []
    for group in _distinct(significant, allowed_groups(field)):
        degrees = np.array([degree for degree in significant.tolist() if group.dimension(degree)], dtype=np.int64)
        if field.confinement is not None or not field.is_convex(degrees):
            spaces.append(Space(field, degrees, partial(invariant, group, field, degrees), 3, group))
    return spaces


def about_an_axis(domain: Sphere, field: Field, even: bool) -> "list[Space]":
    """Return the densities about an axis, even about the equator and not, that may hold more than one state."""
    significant = np.flatnonzero(field.strengths)
    choices = [significant[significant % 2 == 0], significant] if even else [significant]
    return [
        Space(field, degrees, partial(about_axis, domain, field, degrees), domain.dimension)
        for degrees in choices
        if degrees.size and (field.confinement is not None or not field.is_convex(degrees))
    ]


class Space:
    """The densities of a symmetry, on a coarse and on a fine grid.

    Parameters
    ----------
    field
        The field that acts on them.
    degrees
        The degrees of their harmonics.
    harmonics
        Gives the harmonics for a number of rings.
    dimension
        d of the space around the sphere.
    group
        The symmetry on S^2; None for densities about an axis.

    Attributes
    ----------
    resolves_all : bool
        Whether the fine grid resolves every state, however sharp.
    lost : int
        Ends of runs that are no states on a finer grid, or are not resolved on any.
    """

    def __init__(
        self,
        field: Field,
        degrees: Integers,
        harmonics: Callable[[int], Harmonics],
        dimension: int,
        group: Group | None = None,
    ) -> None:
        self._field, self._degrees, self._harmonics, self._group = field, degrees, harmonics, group
        self._dimension = dimension
        # No moments are longer than one.
        sharpest = np.minimum(np.arange(self.size, dtype=float), 1.0)
        needed = [int(field.rings(sharpest, dimension, left)) for left in (ROUGH, EXACT)]
        most = MOST_NODES if group is None else MOST_RINGS
        self._rings = [min(pair) for pair in zip(needed, most, strict=True)]
        self.resolves_all = self._rings[-1] == needed[-1]
        self.lost = 0
        self._levels: list[Sampled] = []
        # What the ends on the coarsest grid turned out to be.
        self._seen: Floats = np.empty((0, self.size))
        self._owners: list[Met | None] = []

    @property
    def relaxes(self) -> bool:
        """Whether there is a free energy that relaxations descend."""
        return self._field.exponent is None

    @property
    def size(self) -> int:
        """Number of invariants of a state."""
        return self._field.strengths.size

    def starts(self, share: int) -> int:
        """Return the number of starts in a round, a multiple of the usual one where that is affordable."""
        coarse = self.sampled(0)
        share *= ON_AN_AXIS if self._group is None else 1
        wanted = share * (FEWEST + int(PER_HARMONIC * coarse.attractive))
        return max(FEWEST, min(wanted, int(WORK / (20.0 * coarse.work))))

    def sampled(self, level: int) -> Sampled:
        """Return the sampled densities on the grid of a level, coarse or resolving."""
        while len(self._levels) <= level:
            self._levels.append(sampled(self._harmonics(self._rings[len(self._levels)]), self._field))
        return self._levels[level]

    def places(self, starts: Floats, met: list[Met]) -> Iterator[tuple[Met, int, int]]:
        """Yield the states at the ends of Newton's method, new ones added to ``met``, counts, and first starts."""
        rows, ends = self.sampled(0).solved(starts)
        ends, invariants = self._upright(ends)
        firsts, counts = _distinct_rows(invariants)
        places = [_place_among(self._seen, invariants[first]) for first in firsts]
        new = [first for first, place in zip(firsts, places, strict=True) if place is None]
        added = iter(range(len(self._seen), len(self._seen) + len(new)))
        self._owners += self._identified(ends[new], invariants[new], met)
        self._seen = np.concatenate([self._seen, invariants[new]])
        for first, count, place in zip(firsts, counts, places, strict=True):
            owner = self._owners[next(added) if place is None else place]
            if owner is None:
                self.lost += count
            else:
                yield owner, count, int(rows[first])

    def _upright(self, ends: Floats) -> tuple[Floats, Floats]:
        """Return ends and invariants; ends that the coarse grid does not resolve in the frame of their axes."""
        coarse = self.sampled(0)
        invariants = coarse.invariants(ends)
        sharp = np.flatnonzero(self._needed(invariants, EXACT) > self._rings[0])
        if not sharp.size or not coarse.turnings:
            return ends, invariants
        kept, standing = coarse.solved(upright(ends[sharp], coarse.turnings))
        seen = coarse.invariants(standing)
        near = np.abs(seen - invariants[sharp[kept]]).max(axis=1, initial=0.0) <= BESIDE
        ends[sharp[kept[near]]], invariants[sharp[kept[near]]] = standing[near], seen[near]
        return ends, invariants

    def _identified(self, ends: Floats, coarse: Floats, met: list[Met]) -> list[Met | None]:
        """Return the states of ends, on grids that resolve them; None for an end that no grid resolves."""
        found: list[Met | None] = [None] * len(ends)
        rows, invariants = np.arange(len(ends)), coarse
        for level in range(len(self._rings)):
            if level:
                rows, ends = self._solved(rows, ends, level)
                invariants = self.sampled(level).invariants(ends)
            fine = self._needed(invariants, EXACT) <= self._rings[level]
            for row, moments, values in zip(rows[fine], ends[fine], invariants[fine], strict=True):
                found[row] = self._entered(moments, values, met)
            rows, ends = rows[~fine], ends[~fine]
            if not rows.size:
                break
        return found

    def _needed(self, invariants: Floats, left: float) -> Integers:
        """Return the numbers of rings that densities need, by their invariants."""
        lengths = invariants * (np.arange(self.size) > 0)
        return self._field.rings(lengths, self._dimension, left)

    def _solved(self, rows: Integers, ends: Floats, level: int) -> tuple[Integers, Floats]:
        """Return which rows converge to states on a finer grid as well, and the states."""
        finer = self.sampled(level)
        settled, nearby = finer.corrected(ends, self.sampled(0))
        kept, others = finer.solved(ends[~settled])
        return np.concatenate([rows[settled], rows[~settled][kept]]), np.concatenate([nearby[settled], others])

    def _entered(self, moments: Floats, invariants: Floats, met: list[Met]) -> Met:
        """Return the state of given invariants, added to those met if it is new."""
        place = _place_among(np.array([known.invariants for known in met]).reshape(-1, self.size), invariants)
        if place is None:
            place = len(met)
            cosine, sine = self._moments(moments)
            met.append(Met(invariants, group=self._group, cosine=cosine, sine=sine))
        return met[place]

    def _moments(self, moments: Floats) -> tuple[Floats, Floats]:
        if self._group is None:
            by_degree = np.zeros((2, self._field.strengths.size))
            by_degree[0, self._degrees] = moments
            return by_degree[0], by_degree[1]
        modes = mode_matrix(self._group, self._degrees, int(self._degrees.max()))
        cosine, sine = np.split(modes.T @ moments, 2)
        return cosine, sine


def _place_among(known: Floats, invariants: Floats) -> int | None:
    """Return the index of the first known row equal to some invariants, None if no row is."""
    alike = np.flatnonzero(np.abs(known - invariants).max(axis=1, initial=0.0) <= SAME)
    return int(alike[0]) if alike.size else None


def _distinct_rows(invariants: Floats) -> tuple[list[int], list[int]]:
    """Return the index of the first of each set of equal rows, and the size of the set."""
    firsts: list[int] = []
    counts: list[int] = []
    rows = np.arange(len(invariants))
    while rows.size:
        alike = np.abs(invariants[rows] - invariants[rows[0]]).max(axis=1, initial=0.0) <= SAME
        firsts.append(int(rows[0]))
        counts.append(int(alike.sum()))
        rows = rows[~alike]
    return firsts, counts


def allowed_groups(field: Field) -> Iterator[Group]:
    """Yield the symmetries that a state can have, larger ones first."""
    for group in searched_groups(field.strengths.size - 1):
        if field.placed is None or field.placed.allows(group):
            yield group


def _distinct(significant: Integers, groups: Iterator[Group]) -> Iterator[Group]:
    """Yield the groups whose invariants, of the degrees that are significant, are not those of a larger one."""
    kept: list[tuple[Group, list[int]]] = []
    for group in groups:
        dimensions = [group.dimension(degree) for degree in significant.tolist()]
        if not any(dimensions):
            continue
        if not any(dimensions == others and _within(group, larger) for larger, others in kept):
            kept.append((group, dimensions))
            yield group


def _within(group: Group, larger: Group) -> bool:
    differences = np.abs(larger.elements[:, None] - group.generators[None]).max(axis=(2, 3), initial=0.0)
    return bool((differences.min(axis=0) < 1e-9).all())
