r"""The normal of a first-order line where its two states nearly merge, in extended precision.

It is the difference of their derivatives of the free energy, at states a :math:`-\tfrac12\sum_k a_k^2\,d\sigma_k -
\sum_k a_k\,df_k`, and falls with their distance. Beside a cusp, where the equations of both are all but singular,
rounding of the states is too large a share of it, so that Newton's method is continued in extended precision: with
the matrix of the states in double precision, since the residual alone has to be exact. Where the longdouble of the
machine is a double nothing is gained, and nothing lost.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ...bases import Basis, Floats
from ...branches.continuation import length
from ..in_plane.states import GradientState

Longs = npt.NDArray[np.longdouble]

# Steps of Newton's method, each of which leaves a share of the error that is far below the gain in precision.
STEPS = 3
# Densities on more nodes are left as they are, as those of two angles are: the table would be too large.
MOST_NODES = 4096


class _Table(NamedTuple):
    """The modes of a basis on its nodes, (size, n), and the shares of the nodes in the uniform density, (n,)."""

    modes: Longs
    masses: Longs

    @classmethod
    def of(cls, basis: Basis) -> "_Table":
        """Return the table of a basis."""
        modes = np.array(
            [basis.synthesise(unit).copy() for unit in np.eye(basis.degrees.size)], dtype=np.longdouble
        )
        shares = [basis.analyse(unit.copy()).item(0) for unit in np.eye(modes.shape[1])]
        return cls(modes, np.array(shares, dtype=np.longdouble))


class _Extended:
    """The equation of a state in extended precision, by a table of its modes."""

    def __init__(self, state: GradientState, table: _Table) -> None:
        self.state, self.unknown = state, state.unknown.astype(np.longdouble)
        self.modes, self.masses = table

    @property
    def moments(self) -> Longs:
        """The moments a of the unknown."""
        return np.asarray(self.unknown / self.state.weighted.weights)

    def residual(self, shift: Floats) -> Longs:
        """Return the residual, (size,), and behind it the free energy, at x and q shifted by (2,)."""
        coefficients, moments = self.state.coefficients, self.moments
        sigma = coefficients.attractions + shift.astype(np.longdouble) @ coefficients.slopes[0]
        forces = coefficients.forces_in_field + shift.astype(np.longdouble) @ coefficients.force_slopes_in_field
        values = (sigma * moments + forces) @ self.modes
        largest = values.max()
        masses = self.masses * np.exp(values - largest)
        total = masses.sum()
        apart = self.unknown - self.state.weighted.weights * (self.modes @ masses / total)
        conditions = self.state.weighted.basis.phase_conditions
        if conditions is not None:
            apart += self.state.left_null @ (conditions @ self.unknown)
        energy = 0.5 * (sigma * moments**2).sum() - largest - np.log(total)
        return np.append(apart, energy)

    def energy_slopes(self) -> Longs:
        """Return the derivatives of the free energy in x and q, (2,), at a state."""
        coefficients, moments = self.state.coefficients, self.moments
        return np.asarray(
            -0.5 * (coefficients.slopes[0] @ moments**2) - coefficients.force_slopes_in_field @ moments
        )


def refined_normal(
    states: tuple[GradientState, GradientState], derivatives: tuple[Floats, Floats], normal: Floats
) -> Floats | None:
    """Return the normal in x and q, (2,), of a line at two states; None where it cannot be refined.

    Parameters
    ----------
    states
        Both.
    derivatives
        Those of their residuals and of the difference of their free energies, in the unknowns of both and x, and
        in q.
    normal
        The normal by these states.
    """
    bases = [state.weighted.basis for state in states]
    if not (all(_is_tabulated(basis) for basis in bases) and normal.any()):
        return None
    one, other = map(_Extended, states, _tables(*bases))
    cut, end = states[0].unknown.size, derivatives[1].size - 1
    # The states move along the line much faster than x and q, which stay where they are on it.
    along = np.concatenate([np.zeros(end), np.array([-normal[1], normal[0]]) / length(normal, 0.0)])
    matrix, shift = np.vstack([np.column_stack(derivatives), along]), np.zeros(2)
    for _ in range(STEPS):
        first, second = one.residual(shift), other.residual(shift)
        residual = np.concatenate([first[:-1], second[:-1], [first[-1] - second[-1], 0.0]])
        try:
            step = np.linalg.solve(matrix, residual.astype(float))
        except np.linalg.LinAlgError:
            return None
        one.unknown -= step[:cut]
        other.unknown -= step[cut:end]
        shift -= step[end:]
    return (one.energy_slopes() - other.energy_slopes()).astype(float)


def _is_tabulated(basis: Basis) -> bool:
    """Return whether the modes of a basis are functions of one angle on few nodes, without a factor."""
    return basis.kinked is None and basis.invariants is None and basis.nodes <= MOST_NODES


def _tables(one: Basis, other: Basis) -> list[_Table]:
    """Return the tables of two bases, in one quadrature if the modes of one are among those of the other.

    What that is wrong by is then the same in both free energies, whose difference is smaller than it.
    """
    about_axis = one.fourier is None and other.fourier is None
    larger = max((one, other), key=lambda basis: (basis.degrees.size, basis.nodes))
    if (
        not about_axis
        or one.axis != other.axis
        or not all(np.isin(basis.degrees, larger.degrees).all() for basis in (one, other))
    ):
        return [_Table.of(one), _Table.of(other)]
    whole = _Table.of(larger)
    places = (np.searchsorted(larger.degrees, basis.degrees) for basis in (one, other))
    return [_Table(whole.modes[place], whole.masses) for place in places]
