"""An extended system at one point: its residual, its derivatives, and the directions of the curve."""

import numpy as np

from ...bases import Floats
from ...execution.computed import computed_once
from ..in_plane.coefficients import Place
from ..in_plane.states import AtState
from .merging import Refined


def followed_by(values: Floats, last: float) -> Floats:
    """Return some values, (size,), and a last one behind them; in a fraction of the time of np.append."""
    longer = np.empty(values.size + 1)
    longer[:-1], longer[-1] = values, last
    return longer


def null_direction(matrix: Floats, in_q: Floats) -> Floats:
    """Return the unit null vector of derivatives in the unknowns, (size, size), and in q, (size,)."""
    return np.asarray(np.linalg.svd(np.column_stack([matrix, in_q]))[2][-1])


class System:
    """An extended system at one point.

    Attributes
    ----------
    states : tuple of AtState
        The stationary equation at each of the states.
    residual : (size,) float
        The residuals of the states, and the condition.
    """

    def __init__(self, states: tuple[AtState, ...], residual: Floats) -> None:
        self.states = states
        self.residual = residual

    @property
    def place(self) -> Place:
        """The point of the plane."""
        return self.states[0].coefficients.place

    @property
    def refined(self) -> Refined | None:
        """The point in extended precision, None where that is not needed or does not converge."""
        return None

    @property
    def vanishing(self) -> float:
        """The eigenvalue of a state that vanishes along the curve, as it is, to first order; zero if none does."""
        return 0.0

    @property
    def condition(self) -> float:
        """By how much more than the matrix that eigenvalue is changed by rounding."""
        return 1.0

    @computed_once
    def derivatives(self) -> tuple[Floats, Floats]:
        """The derivatives of the residual in the unknowns, (size, size), and in q, (size,)."""
        raise NotImplementedError

    @property
    def tangent(self) -> Floats:
        """A unit tangent of the curve in the unknowns and q, (size + 1,), the null vector of the derivatives."""
        return null_direction(*self.derivatives)

    @property
    def normal(self) -> Floats:
        """The normal of the curve in x and q, (2,), in closed form: that of the tangent is older by a step."""
        raise NotImplementedError


class ConditionedSystem(System):
    """The extended system of one state on which there is one condition."""

    @computed_once
    def condition_slopes(self) -> tuple[Floats, Floats]:
        """The derivatives of the condition in the unknowns of the state, and in x and q."""
        raise NotImplementedError

    @computed_once
    def derivatives(self) -> tuple[Floats, Floats]:
        """The derivatives of the residual in the unknowns, (size, size), and in q, (size,)."""
        (state,) = self.states
        in_unknowns, (in_x, in_q) = self.condition_slopes
        along_x, along_q = state.slopes
        matrix = np.empty((self.residual.size, self.residual.size), order="F")
        matrix[:-1, :-1], matrix[-1, :-1] = state.matrix, in_unknowns
        matrix[:-1, -1], matrix[-1, -1] = along_x, in_x
        return matrix, followed_by(along_q, in_q)

    @property
    def normal(self) -> Floats:
        """The normal in x and q to the null vector of the derivatives, (2,), also where J is singular."""
        along_x, along_q = self.tangent[-2:]
        return np.array([along_q, -along_x])
