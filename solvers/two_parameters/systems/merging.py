r"""Points of a first-order line at which its two states nearly merge, and its normal there, in extended precision.

The normal is the difference of their derivatives of the free energy, at states a :math:`-\tfrac12\sum_k
a_k^2\,d\sigma_k - \sum_k a_k\,df_k`, and falls with their distance. Beside a cusp, where the equations of both are
all but singular, rounding of the states is too large a share of it, so that Newton's method is continued in
extended precision: with the matrix of the states in double precision, since the residual alone has to be exact. So
it is beside the uniform state, and elsewhere by the conditions of :mod:`.transitions`. Where the longdouble of the
machine is a double nothing is gained.
"""

import functools
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ...bases import EPS, Basis, Floats, Integers, Longs, exp_beyond_quadratic
from ...branches.continuation import length
from ..in_plane.states import AtState, GradientState

# Steps of Newton's method, each of which leaves a share of the error that is far below the gain in precision.
STEPS = 3
# Where the last is longer than this share of the first, rounding is nearly as large in extended precision; where
# the first is longer than this, the matrix is singular.
CONVERGING, FARTHEST = 0.1, 1e-5
# Beyond this field e^f and its terms of second order are not of one size.
SMALL_FIELD = 1.0
# The first parameter of a point is kept where its gradient in x and q has at least this cosine with the line.
STEEPEST = 0.1
# Densities on more nodes are left as they are, as those of two angles are: the table would be too large.
MOST_NODES = 1024


class _Table(NamedTuple):
    """The modes of a basis on its nodes, (size, n), and the shares of the nodes in the uniform density, (n,).

    Rounding of the modes is a small change of the equation, as is that of its coefficients, as long as residual and
    free energy are of one equation: the uniform means of modes vanish, and those of ``products``, (size, size), are
    by the same table.
    """

    modes: Longs
    masses: Longs
    products: Longs

    def of(self, places: Integers) -> "_Table":
        """Return the table of some of the modes."""
        return _Table(self.modes[places], self.masses, self.products[np.ix_(places, places)])


# The points of a line share their bases.
@functools.lru_cache(maxsize=4)
def _table_of(basis: Basis) -> _Table | None:
    table = basis.fine_table() if basis.nodes <= MOST_NODES else None
    if table is None:
        return None
    modes, shares = table
    masses = shares / shares.sum()
    modes -= (modes @ masses)[:, None]
    return _Table(modes, masses, (modes * masses) @ modes.T)


class _Extended:
    """The equation of a state in extended precision, by a table of its modes."""

    def __init__(self, state: GradientState, table: _Table) -> None:
        self.state, self.unknown = state, state.unknown.astype(np.longdouble)
        self.modes, self.masses, self.products = table

    @property
    def moments(self) -> Longs:
        """The moments a of the unknown."""
        return np.asarray(self.unknown / self.state.weighted.weights)

    def residual(self, shift: Floats) -> Longs:
        """Return the residual, (size,), and behind it the free energy, at x and q shifted by (2,)."""
        sigma, forces = self._coefficients(shift)
        moments = self.moments
        values = (sigma * moments + forces) @ self.modes
        largest = values.max()
        masses = self.masses * np.exp(values - largest)
        total = masses.sum()
        apart = self._apart(self.modes @ masses / total)
        energy = 0.5 * (sigma * moments**2).sum() - largest - np.log(total)
        return np.append(apart, energy)

    def residual_against_uniform(self, shift: Floats) -> Longs:
        """Return the residual and behind it the free energy over |b|^2, without forces.

        Where the field is small, terms of second order, which nearly cancel, are those of the means of products of
        modes; where it is large these would be.
        """
        (sigma, _), moments = self._coefficients(shift), self.moments
        field = sigma * moments
        values = field @ self.modes
        if np.abs(values).max() > SMALL_FIELD:
            found = self.residual(shift)
            found[-1] /= self.unknown @ self.unknown
            return found
        changes = np.expm1(values)
        beyond = self.masses @ exp_beyond_quadratic(values)
        response = self.products @ field
        excess = 0.5 * (field @ response) + beyond
        apart = self._apart(self.modes @ (self.masses * changes) / (1.0 + excess))
        energy = 0.5 * (field @ (moments - response)) - beyond - (np.log1p(excess) - excess)
        return np.append(apart, energy / (self.unknown @ self.unknown))

    def _apart(self, means: Longs) -> Longs:
        """Return the residual, (size,), from the means of the modes."""
        apart = self.unknown - self.state.weighted.weights * means
        conditions = self.state.weighted.basis.phase_conditions
        if conditions is not None:
            apart = apart + self.state.left_null @ (conditions @ self.unknown)
        return np.asarray(apart)

    def _coefficients(self, shift: Floats) -> tuple[Longs, Longs]:
        """Return sigma and the forces of the modes at x and q shifted by (2,)."""
        coefficients, wide = self.state.coefficients, shift.astype(np.longdouble)
        sigma = coefficients.attractions + wide @ coefficients.slopes[0]
        return sigma, coefficients.forces_in_field + wide @ coefficients.force_slopes_in_field


class Refined(NamedTuple):
    """A point of a line: the unknowns of its states and x, (size,), and q; and the moments of the states."""

    unknown: Floats
    q: float
    moments: tuple[Longs, ...]

    def normal(self, states: Sequence[AtState]) -> Floats:
        """Return the normal in x and q, (2,), with the coefficients of states at the place or close by."""
        slopes = [
            -0.5 * (state.coefficients.slopes[0] @ moments**2) - state.coefficients.force_slopes_in_field @ moments
            for state, moments in zip(states, self.moments, strict=True)
        ]
        return np.asarray(slopes[0] if len(slopes) == 1 else slopes[0] - slopes[1], dtype=float)


def refined(
    states: tuple[GradientState, ...], derivatives: tuple[Floats, Floats], normal: Floats
) -> Refined | None:
    """Return a point of a line in extended precision, None where that is not at hand or does not converge.

    Parameters
    ----------
    states
        Those of the line at it, one if the other is uniform, or two.
    derivatives
        Those of their residuals and of the condition, in their unknowns and x, and in q.
    normal
        The normal by these states, in x and q.
    """
    tables = _tables([state.weighted.basis for state in states])
    if tables is None or not normal.any():
        return None
    wide = [_Extended(*each) for each in zip(states, tables, strict=True)]
    end, cuts = derivatives[1].size - 1, np.cumsum([state.unknown.size for state in states])
    # The states move along the line much faster than x and q.
    matrix = np.vstack([np.column_stack(derivatives), np.append(np.zeros(end), _kept(states[0], normal))])
    shift, lengths = np.zeros(2), []
    for _ in range(STEPS):
        with np.errstate(all="ignore"):
            residual = np.append(_residual(wide, shift), 0.0)
        try:
            whole = np.linalg.solve(matrix, residual.astype(float))
        except np.linalg.LinAlgError:
            return None
        *steps, moved = np.split(whole, cuts)
        for each, step in zip(wide, steps, strict=True):
            each.unknown -= step
        shift -= moved
        lengths.append(length(whole, 0.0))
    if not (lengths[0] <= FARTHEST and lengths[-1] <= max(CONVERGING * lengths[0], EPS)):
        return None
    x, q = states[0].place + shift
    unknown = np.concatenate([*(each.unknown for each in wide), [x]]).astype(float)
    return Refined(unknown, float(q), tuple(each.moments for each in wide))


def _kept(state: GradientState, normal: Floats) -> Floats:
    """Return the unit direction in x and q, (2,), in which a point is not moved across its line.

    That of the first parameter, or where this turns on the line, the one along it.
    """
    along = np.array([-normal[1], normal[0]]) / length(normal, 0.0)
    first = state.coefficients.place.slopes[0] / length(state.coefficients.place.slopes[0], 0.0)
    return first if abs(first @ along) >= STEEPEST else along


def _residual(wide: list[_Extended], shift: Floats) -> Longs:
    """Return the residuals of one state or two, and behind them that of the condition."""
    if len(wide) == 1:
        return wide[0].residual_against_uniform(shift)
    one, other = (each.residual(shift) for each in wide)
    return np.concatenate([one[:-1], other[:-1], [one[-1] - other[-1]]])


def _tables(bases: list[Any]) -> list[_Table] | None:
    """Return the tables of bases, in one quadrature if the modes of one are among those of the other; None if none.

    What that is wrong by is then the same in both free energies, whose difference may be smaller than it.
    """
    larger = max(bases, key=lambda basis: (basis.degrees.size, basis.nodes))
    nodes = max(-(-basis.symmetry * basis.nodes // larger.symmetry) for basis in bases)
    shared = all(basis.fourier is None and basis.axis == larger.axis for basis in bases)
    if shared and all(np.isin(basis.degrees, larger.degrees).all() for basis in bases):
        whole = _table_of(larger if nodes <= larger.nodes else larger.resized(larger.cells, nodes))
        places = (np.searchsorted(larger.degrees, basis.degrees) for basis in bases)
        return None if whole is None else [whole.of(each) for each in places]
    found = [_table_of(basis) for basis in bases]
    known = [table for table in found if table is not None]
    return known if len(known) == len(found) else None
