"""The slowest decay rate of a state on S^2 without an axis, one small symmetric matrix per class of harmonics.

The harmonics go up to a degree that resolves the root of the density, and further until those left out change the
rate no more: the second variation and the few harmonics tried first show which classes cannot have it, and how many
more harmonics the others need. A rate that rounding hides is taken from its vector by :mod:`.slow_rates`, or from
:mod:`.full_spectra` where its class is small.

Along a branch the class and the rate of the state before are tried first. Where that perturbation needs no more
harmonics, one factorisation of another class counts whether anything in it grows faster, or decays more slowly.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from meanfield import NotResolved, State

from ...bases import EPS
from .full_fields import FIRST_DEGREE, STEP, FullField, full_field, is_uniform, resolving_degree, root_of
from .full_matrices import LEAST_SHIFT, SAFETY, ClassMatrices, Linearisation, Pair
from .full_spectra import WHOLE, lowest_level
from .harmonic_tables import Harmonic
from .second_variation import bounds_by_second_variation
from .slow_rates import rate_by_slopes
from .uniform import uniform_eigenvalues

# The root of the density has so little left beyond the first degree tried, and while several classes may have the
# slowest rate, at least so many times as much beyond the next.
FIRST_SHARE = 1e-3
LEAP = 0.03
# An attractive degree gives the largest density a rate of its own where its lambda_l times that is above the first
# number; the bulk of the root of the density, all but the second share, is needed beside it.
ACTING, BULK = 0.5, 0.3
# Expecting a growth so many times too fast, in units of D at least, one does not tell slow rates apart.
FAR = 10.0
# Truncation may change a rate by this share, or by one unit of rounding in units of D.
TRUNCATION_TOLERANCE = 1e-9
# A rate is kept if its rounding error is below this share of it.
RELATIVE_TOLERANCE = 1e-8


class Expected(NamedTuple):
    """What a state nearby had: class and rate, in units of D, of its slowest perturbation, and growing classes."""

    first: Harmonic
    level: float
    growing: frozenset[Harmonic]


def slowest_rate(state: State) -> float:
    """Return the slowest decay rate of perturbations of a state given by degree and order, rotation excluded.

    Parameters
    ----------
    state
        A stationary state on S^2.

    Returns
    -------
    float
        In units of 1/time; negative when unstable.

    Raises
    ------
    NotResolved
        If the state needs more harmonics than are affordable.
    """
    return _slowest(state, None)[0]


def slowest_rates(states: Sequence[State]) -> list[float | Exception]:
    """Return the slowest decay rate, or the error instead, of each of several states, best one after the other."""
    rates: list[float | Exception] = []
    expected: Expected | None = None
    for state in states:
        try:
            rate, expected = _slowest(state, expected)
            rates.append(rate)
        except Exception as error:
            rates.append(error)
    return rates


def _slowest(state: State, expected: Expected | None) -> tuple[float, Expected | None]:
    """Return the slowest decay rate of a state, and what to expect of the next, faster where this was expected."""
    if is_uniform(state):
        return -float(uniform_eigenvalues(state.problem, 0, 1)[0][0]), None
    field, share = full_field(state), FIRST_SHARE
    # On fewer harmonics the perturbations that a high degree attracts are not there, and nothing would tell.
    degree = _acting_degree(field)
    # By class a lower bound: of rates that are known the lowest, less a few times what truncation may change it by.
    bounds: dict[Harmonic, float] = {}
    unbounded: set[Harmonic] = set()
    while True:
        whole = resolved(field, share, degree)
        growing = frozenset() if expected is None else expected.growing
        degree, bounds = whole.degree, bounds or bounds_by_second_variation(whole, growing)
        unbounded = unbounded or {table.first for table in whole.tables} - set(bounds)
        found, decaying, slowest = _lowest(whole, bounds, expected)
        if slowest.settled:
            break
        level, allowed = slowest.pair.level, slowest.allowed
        for each in found:
            bounds[each.block.table.first] = min(each.pair.level - SAFETY * each.truncation, whole.beyond)
        # The truncation goes about with the square of the share.
        factor = 0.3 * float(np.sqrt(allowed / max(slowest.truncation, EPS * allowed)))
        alone = sum(bounds.get(table.first, -np.inf) <= level for table in whole.tables) == 1
        share *= min(1.0, factor if alone else max(LEAP, factor))
    highest = slowest.pair.level + slowest.noise
    level = min(_refined(each) for each in found if each.pair.level - each.noise <= highest)
    unbounded -= decaying | {each.block.table.first for each in found if each.pair.level > 0.0}
    return whole.noise * level, Expected(slowest.block.table.first, level, frozenset(unbounded))


def _refined(lowest: "_Lowest") -> float:
    """Return the lowest rate of a class, in units of D, as accurately as is affordable.

    Rounding hides it where W is small on its vector, which the grid puts right, or where C is. Then all
    eigenvalues of a small class are computed to high relative accuracy. Those of a large one would be taken from a
    dense matrix, whose rounding error is more than those of the Rayleigh quotients that are there.
    """
    if lowest.noise <= RELATIVE_TOLERANCE * abs(lowest.pair.level):
        return lowest.pair.level
    level, error = rate_by_slopes(lowest.block, lowest.pair)
    if error <= RELATIVE_TOLERANCE * abs(level):
        return level
    if lowest.block.table.size <= WHOLE:
        return lowest_level(lowest.block)
    return level if error < lowest.noise else lowest.pair.level


def _acting_degree(field: FullField) -> int:
    """Return the degree of harmonics needed for perturbations attracted by single degrees, 0 without any."""
    last = field.interaction.significant_degree
    strengths = field.interaction.attractions(last) / (2.0 * np.arange(last + 1.0) + 1.0)
    acting = np.flatnonzero(strengths * root_of(field, FIRST_DEGREE).largest ** 2 > ACTING)
    return int(acting[-1]) + resolving_degree(field, BULK) if acting.size else 0


def resolved(field: FullField, share: float, before: int) -> Linearisation:
    """Return the linearisation on more harmonics than before, enough for a share of the root if affordable."""
    degree = resolving_degree(field, share, before + 1)
    while True:
        try:
            return Linearisation(field, degree)
        except NotResolved:
            degree -= STEP
            if not 0 < before < degree:
                raise


@dataclass(frozen=True, eq=False)
class _Lowest:
    """The lowest rate of a class, and its error by rounding."""

    block: ClassMatrices
    pair: Pair
    noise: float

    @cached_property
    def truncation(self) -> float:
        """What truncation may change the rate by."""
        return self.block.truncation(self.pair)

    @property
    def allowed(self) -> float:
        """What truncation is allowed to change it by."""
        return max(TRUNCATION_TOLERANCE * abs(self.pair.level), EPS)

    @property
    def settled(self) -> bool:
        """Whether the harmonics left out change it no more."""
        return self.truncation <= self.allowed and self.pair.level <= self.block.whole.beyond

    @property
    def countable(self) -> bool:
        """Whether others that decay faster, to within its errors, may be told by one factorisation each."""
        return RELATIVE_TOLERANCE * self.pair.level > SAFETY * EPS * self.block.top and self.settled

    @property
    def certain(self) -> float:
        """The growth, in units of D, of a class that is no slower to within the errors of this one."""
        margin = max(self.noise, TRUNCATION_TOLERANCE * abs(self.pair.level))
        if self.noise > RELATIVE_TOLERANCE * abs(self.pair.level):
            # Others within the rounding error are refined as well.
            margin = -self.noise
        return margin - self.pair.level


def _lowest(
    whole: Linearisation, bounds: dict[Harmonic, float], expected: Expected | None
) -> tuple[list[_Lowest], set[Harmonic], _Lowest]:
    """Return the lowest rates of the classes whose lower bounds do not exclude them, and the lowest of all.

    Once a rate is known to which more harmonics add nothing, a class is left out if none in it is lower. Those left
    out beside a decay, in which nothing grows, are returned between.
    """
    first, beside = (None, np.inf) if expected is None else expected[:2]
    found: list[_Lowest] = []
    decaying: set[Harmonic] = set()
    slowest: _Lowest | None = None
    for table in sorted(whole.tables, key=lambda table: (table.first != first, bounds.get(table.first, -np.inf))):
        bound = bounds.get(table.first, -np.inf)
        if slowest is not None and bound > slowest.pair.level + slowest.noise:
            break
        block = whole.matrices(table)
        if slowest is not None:
            beside = slowest.pair.level
            if slowest.certain > LEAST_SHIFT and slowest.settled:
                faster = block.faster_growth(slowest.certain)
                if not faster:
                    continue
                beside = min(beside, -faster)
            elif slowest.countable and block.none_below(-slowest.certain):
                decaying.add(table.first)
                continue
        pair = block.slowest(bound, beside)
        if slowest is None and -beside > FAR * max(1.0, -pair.level):
            pair = block.slowest(bound, pair.level)
        found.append(_Lowest(block, pair, block.rounding(pair)))
        if slowest is None or pair.level < slowest.pair.level:
            slowest = found[-1]
    assert slowest is not None
    return found, decaying, slowest
