"""The densities of some symmetries on spheres, among which states are searched, on a coarse and on a fine grid.

Random fields of a symmetry lead to states of that symmetry or a larger one: Newton's method is equivariant. In
small spaces of symmetric densities few starts meet every state, and most states have some symmetry, so every group
is given starts in proportion to its attractive harmonics, the trivial one too.
"""

import functools
from collections.abc import Callable, Iterator, Sequence
from functools import partial

import numpy as np
from scipy.sparse import csr_array

from meanfield import Equation, Number, Sphere
from meanfield.equations import Capability, Interaction, gradient_at_uniform
from meanfield.harmonics import degrees_of_places, packed_size

from ..bases import Floats, Integers, multiples
from ..bases.invariant import mode_matrix
from ..bases.representations import Group
from ..equations.significant import confining_degree, starting_degrees, strengths
from ..equations.sizing import confinement_field, confining_field
from .groups import searched_groups
from .points import Field, Harmonics, about_axis, invariant
from .rotations import Rotations
from .sampled import Sampled, sampled
from .upright import upright

# Degrees of a confinement that decays slowly.
LARGEST_CONFINING = 64
# Degrees whose strengths sum up to less are left to the polishing of what is found.
LEFT_OUT = 1e-2
# Starts of a group in each round: some, and so many for each attractive harmonic that is critical.
FEWEST, PER_HARMONIC = 6, 4
# About an axis starts are cheap, and in high dimensions most lead to the sharpest state.
ON_AN_AXIS = 6
# Multiplications a group may take in a round.
WORK = 3e9
# Starts are solved for on a grid that leaves this share of the moments of a state at its sharpest, what is met on
# one that leaves the other; both are limited, and what is sharper is left out.
ROUGH, EXACT = 1e-3, 1e-8
MOST_RINGS, MOST_NODES = (48, 192), (512, 2048)
# An end that a coarse grid does not resolve is taken in the frame of its axes if that moves its invariants by less
# than this, else as it is: ten times beyond the threshold the grid moves them by 3e-3, thirty times by over 0.1.
BESIDE = 1e-2
# A density has a symmetry if this much at the most is not invariant under it.
ASYMMETRY = 1e-6


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


def rings_at_most(field: Field, dimension: int) -> tuple[int, int]:
    """Return the rings that the sharpest densities need on a coarse and on a fine grid."""
    # No moments are longer than one.
    sharpest = np.minimum(np.arange(field.strengths.size, dtype=float), 1.0)
    rough, exact = (int(field.rings(sharpest, dimension, left)) for left in (ROUGH, EXACT))
    return rough, exact


def resolves_all(field: Field) -> bool:
    """Return whether the fine grid of every symmetry on S^2 resolves all states, however sharp."""
    return rings_at_most(field, 3)[-1] <= MOST_RINGS[-1]


def among_harmonics(field: Field) -> "list[SymmetricDensities]":
    """Return the symmetries of densities on S^2 that may hold more than one state."""
    significant = np.flatnonzero(field.strengths)
    spaces = []
    for group in _distinct(significant, allowed_groups(field)):
        degrees = np.array([degree for degree in significant.tolist() if group.dimension(degree)], dtype=np.int64)
        if field.confinement is not None or not field.is_convex(degrees):
            spaces.append(SymmetricDensities(field, degrees, partial(invariant, group, field, degrees), 3, group))
    return spaces


def about_an_axis(domain: Sphere, field: Field, even: bool) -> "list[SymmetricDensities]":
    """Return the densities about an axis, even about the equator and not, that may hold more than one state."""
    significant = np.flatnonzero(field.strengths)
    choices = [significant[significant % 2 == 0], significant] if even else [significant]
    return [
        SymmetricDensities(field, degrees, partial(about_axis, domain, field, degrees), domain.dimension)
        for degrees in choices
        if degrees.size and (field.confinement is not None or not field.is_convex(degrees))
    ]


class SymmetricDensities:
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
    group : Group or None
        The symmetry.
    """

    def __init__(
        self,
        field: Field,
        degrees: Integers,
        harmonics: Callable[[int], Harmonics],
        dimension: int,
        group: Group | None = None,
    ) -> None:
        self._field, self._degrees, self._harmonics, self.group = field, degrees, harmonics, group
        self._dimension = dimension
        needed = rings_at_most(field, dimension)
        most = MOST_NODES if group is None else MOST_RINGS
        self._rings = [min(pair) for pair in zip(needed, most, strict=True)]
        self._levels: list[Sampled] = []

    def starts(self, share: int) -> int:
        """Return the number of starts in a round, a multiple of the usual one where that is affordable."""
        coarse = self.sampled(0)
        share *= ON_AN_AXIS if self.group is None else 1
        wanted = share * (FEWEST + int(PER_HARMONIC * coarse.attractive))
        return max(FEWEST, min(wanted, int(WORK / (20.0 * coarse.work))))

    def sampled(self, level: int) -> Sampled:
        """Return the sampled densities on the grid of a level, coarse or resolving."""
        while len(self._levels) <= level:
            self._levels.append(sampled(self._harmonics(self._rings[len(self._levels)]), self._field))
        return self._levels[level]

    def ends(self, starts: Floats) -> tuple[Floats, Floats]:
        """Return the ends of Newton's method on the coarse grid, and their invariants."""
        return self._upright(self.sampled(0).solved(starts)[1])

    def _upright(self, ends: Floats) -> tuple[Floats, Floats]:
        """Return ends and invariants; ends that the coarse grid does not resolve in the frame of their axes."""
        coarse = self.sampled(0)
        invariants = coarse.invariants(ends)
        sharp = np.flatnonzero(self._needed(invariants, EXACT) > self._rings[0])
        if not sharp.size or not coarse.turnings:
            return ends, invariants
        kept, standing = coarse.solved(upright(ends[sharp], Rotations(coarse.turnings)))
        seen = coarse.invariants(standing)
        near = np.abs(seen - invariants[sharp[kept]]).max(axis=1, initial=0.0) <= BESIDE
        ends[sharp[kept[near]]], invariants[sharp[kept[near]]] = standing[near], seen[near]
        return ends, invariants

    def resolved(self, ends: Floats, invariants: Floats) -> tuple[Integers, Floats, Floats]:
        """Return which ends are states on a grid that resolves them, the states there, and their invariants."""
        rows, found = np.arange(len(ends)), []
        for level, rings in enumerate(self._rings):
            if level:
                rows, ends = self._solved(rows, ends, level)
                invariants = self.sampled(level).invariants(ends)
            fine = self._needed(invariants, EXACT) <= rings
            found.append((rows[fine], ends[fine], invariants[fine]))
            rows, ends = rows[~fine], ends[~fine]
            if not rows.size:
                break
        kept, states, exact = (np.concatenate(parts) for parts in zip(*found, strict=True))
        return kept, states, exact

    def _needed(self, invariants: Floats, left: float) -> Integers:
        """Return the numbers of rings that densities need, by their invariants."""
        return self._field.rings(self._field.lengths(invariants), self._dimension, left)

    def _solved(self, rows: Integers, ends: Floats, level: int) -> tuple[Integers, Floats]:
        """Return which rows converge to states on a finer grid as well, and the states."""
        finer = self.sampled(level)
        settled, nearby = finer.corrected(ends, self.sampled(0))
        kept, others = finer.solved(ends[~settled])
        return np.concatenate([rows[settled], rows[~settled][kept]]), np.concatenate([nearby[settled], others])

    def by_degree(self, moments: Floats) -> tuple[Floats, Floats]:
        """Return the cosine and sine moments of a density, on S^2 packed, about an axis by degree."""
        if self.group is None:
            by_degree = np.zeros((2, self._field.strengths.size))
            by_degree[0, self._degrees] = moments
            return by_degree[0], by_degree[1]
        cosine, sine = np.split(self._modes @ moments, 2)
        return cosine, sine

    @property
    def breaks(self) -> bool:
        """Whether a confinement does not admit all rotations that keep the symmetry."""
        return self.sampled(0).broken is not None

    def turned(self, densities: Sequence[tuple[Floats, Floats]], generator: np.random.Generator) -> Floats:
        """Return the moments of those of some densities that have the symmetry, after rotations that keep it.

        Parameters
        ----------
        densities
            Their packed cosine and sine moments.
        """
        rotations = self.sampled(0).broken
        assert rotations is not None
        size = packed_size(int(self._degrees.max()))
        inside = np.isin(degrees_of_places(size), self._degrees)
        packed = np.array([[cosine[:size], sine[:size]] for cosine, sine in densities]) * inside
        rows = packed.reshape(-1, 2 * size)
        moments = np.asarray(rows @ self._modes)
        lost = (rows**2).sum(axis=1) - (moments**2).sum(axis=1)
        return rotations.random(moments[lost <= ASYMMETRY**2], generator)

    @functools.cached_property
    def _modes(self) -> csr_array:
        """The packed harmonics up to the last degree in the unknowns, (2 n, size)."""
        assert self.group is not None
        return csr_array(mode_matrix(self.group, self._degrees, int(self._degrees.max())).T)


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
