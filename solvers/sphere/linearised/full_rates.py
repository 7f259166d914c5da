"""The slowest decay rate of a state on S^2 without an axis, one class of harmonics after the other.

The second variation shows in which classes nothing grows. Few harmonics, with small symmetric matrices, show how
low the rates of the others may be when there are more. The class that may have the lowest is next until it is
known, first on few harmonics, then by :mod:`.refinement` on so many that those left out change the rate no more. A
rate too small for this method is taken from :mod:`.full_spectra` where its class is small.
"""

from typing import NamedTuple

import numpy as np

from meanfield import NotResolved, State

from ...bases import EPS
from .full_fields import STEP, FullField, full_field, is_uniform, operator_grid, resolving_degree, root_on_grid
from .full_matrices import SAFETY, ClassMatrices, Inverse, Linearisation, lowest_ritz
from .full_operators import Operators, Pair
from .full_spectra import WHOLE, lowest_level
from .harmonic_tables import ClassTable
from .refinement import Refinement
from .second_variation import bounds_by_second_variation
from .uniform import uniform_eigenvalues

# The root of the density has so little left beyond the few harmonics.
FIRST_SHARE = 1e-3
# An attractive degree gives the largest density a rate of its own where its lambda_l times that is above the first
# number; the bulk of the root of the density, all but the second share, is needed beside it.
ACTING, BULK = 0.5, 0.3
# Truncation may change a rate by this share, or by one unit of rounding in units of D.
TRUNCATION_TOLERANCE = 1e-9
# A rate is kept if its rounding error is below this share of it.
RELATIVE_TOLERANCE = 1e-8
# On few harmonics a rate is computed to this share, and on many to this share of the tolerance of truncation.
ROUGH, SOLVED = 1e-8, 0.5


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
    if is_uniform(state):
        return -float(uniform_eigenvalues(state.problem, 0, 1)[0][0])
    field = full_field(state)
    # On fewer harmonics the perturbations that a high degree attracts are not there, and nothing would tell.
    few = resolved(field, FIRST_SHARE, _acting_degree(field))
    bounds = bounds_by_second_variation(few)
    classes = [_ClassRate(few, table, bounds.get(table.first, -np.inf)) for table in few.tables]
    known: list[_Refined] = []
    while True:
        nearest = min(classes, key=lambda each: each.bound)
        slowest = min(known, key=lambda each: each.level, default=None)
        if slowest is not None and nearest.bound > slowest.level + slowest.noise:
            break
        nearest.advance()
        known = [each.refined for each in classes if each.refined is not None]
    if slowest.noise <= RELATIVE_TOLERANCE * abs(slowest.level):
        return few.noise * slowest.level
    return few.noise * min(each.accurate() for each in known if each.level <= slowest.level + slowest.noise)


class _Refined(NamedTuple):
    """The lowest rate of a class in units of D, its rounding error, and the harmonics that it is on."""

    level: float
    noise: float
    whole: Operators
    table: ClassTable

    def accurate(self) -> float:
        """Return the rate as accurately as is affordable.

        All eigenvalues of a small class are computed to high relative accuracy. Those of a large one would be taken
        from a dense matrix, whose rounding error is more than that of the Rayleigh quotient that is there.
        """
        if self.table.size > WHOLE:
            return self.level
        whole = Linearisation(self.whole.field, self.whole.degree)
        return lowest_level(whole.matrices(whole.table(self.table.first)))


class _ClassRate:
    """What is known of the lowest rate of a class, in units of D.

    Parameters
    ----------
    few
        The linearised equation on few harmonics.
    table
        Those of the class.
    bound
        A lower bound of the rate.

    Attributes
    ----------
    bound : float
        The same, infinite if the rate is known.
    refined : _Refined or None
        The rate, if it is known.
    """

    def __init__(self, few: Linearisation, table: ClassTable, bound: float) -> None:
        self.bound = bound
        self.refined: _Refined | None = None
        self._few, self._table = few, table
        self._start: _Start | None = None

    def advance(self) -> None:
        """Compute the rate on few harmonics, or where that is there on enough of them."""
        if self._start is None:
            self._start = _start(self._few.matrices(self._table), self.bound)
            self.bound = min(self._start.bound, self._few.beyond)
        else:
            self.refined = _refined(self._start)
            self.bound = np.inf


class _Start(NamedTuple):
    """The lowest rates of a class on few harmonics.

    Attributes
    ----------
    block
        The class.
    inverse
        (CW + s)^{-1}.
    pairs
        Those that may be the lowest on more harmonics.
    truncation
        Estimate of what more harmonics change the first by.
    bound
        A lower bound of their rates by such estimates.
    above
        A lower bound of the rates of all others.
    """

    block: ClassMatrices
    inverse: Inverse
    pairs: list[Pair]
    truncation: float
    bound: float
    above: float


def _start(block: ClassMatrices, bound: float) -> _Start:
    """Return the lowest rates of a class on few harmonics, with an estimated lower bound."""
    inverse = block.inverse(bound)
    pairs: list[Pair] = []
    truncations, bounds = [], []
    for vector, least in zip(*lowest_ritz(inverse, ROUGH), strict=True):
        pair = block.pair(inverse, vector)
        truncation = block.truncation(pair)
        above = min(float(least), pair.level) - SAFETY * truncation
        if pairs and above > pairs[0].level:
            break
        pairs.append(pair)
        truncations.append(truncation)
        bounds.append(above)
    else:
        above = -np.inf
    return _Start(block, inverse, pairs, truncations[0], min(bounds), above)


def _refined(start: _Start) -> _Refined:
    """Return the lowest rate of a class on enough harmonics."""
    field, pairs, truncation = start.block.whole.field, start.pairs, start.truncation
    share, degree = FIRST_SHARE, start.block.whole.degree
    while True:
        allowed = _allowed(pairs[0])
        # The truncation goes about with the square of the share.
        share *= min(1.0, 0.3 * float(np.sqrt(allowed / max(truncation, EPS * allowed))))
        before, degree = degree, resolving_degree(field, share, degree + 1)
        many = Refinement(Operators(field, degree, *operator_grid(field, degree)), start.block, start.inverse)
        starts = [many.prolonged(pair, before) for pair in pairs]
        found = many.lowest(starts, start.above, SOLVED * TRUNCATION_TOLERANCE)
        if found is None:
            whole, table, pairs, error, noise = _by_matrices(start, resolved(field, share, before))
        else:
            whole, table, pairs, error = many.whole, many.table, *found
            noise = many.rounding(pairs[0])
        degree, truncation = whole.degree, whole.truncation(table, pairs[0]) + error
        if truncation <= _allowed(pairs[0]) and pairs[0].level <= whole.beyond:
            return _Refined(pairs[0].level, noise, whole, table)


def _by_matrices(start: _Start, whole: Linearisation) -> tuple[Operators, ClassTable, list[Pair], float, float]:
    """Return the lowest pair of a class on many harmonics by a factorisation, as :func:`_refined` needs it."""
    block = whole.matrices(whole.table(start.block.table.first))
    pair = block.slowest(start.bound)
    return whole, block.table, [pair], 0.0, block.rounding(pair)


def _allowed(pair: Pair) -> float:
    """Return what truncation may change a rate by."""
    return max(TRUNCATION_TOLERANCE * abs(pair.level), EPS)


def _acting_degree(field: FullField) -> int:
    """Return the degree of harmonics needed for perturbations attracted by single degrees, 0 without any."""
    last = field.interaction.significant_degree
    strengths = field.interaction.attractions(last) / (2.0 * np.arange(last + 1.0) + 1.0)
    rings = 2 * field.degree + 1
    acting = np.flatnonzero(strengths * float(root_on_grid(field, rings, 2 * rings).max()) ** 2 > ACTING)
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
