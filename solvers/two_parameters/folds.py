r"""Fold curves: states at which the stationary equation is singular in the block of their own symmetry.

The condition is the scalar h of the bordered matrix,

.. math:: \begin{pmatrix} J & v \\ w^T & 0 \end{pmatrix} \begin{pmatrix} u \\ h \end{pmatrix}
          = \begin{pmatrix} 0 \\ 1 \end{pmatrix}, \qquad
          \begin{pmatrix} J^T & w \\ v^T & 0 \end{pmatrix} \begin{pmatrix} \psi \\ h \end{pmatrix}
          = \begin{pmatrix} 0 \\ 1 \end{pmatrix}, \qquad dh = -\psi^T dJ\,u,

which vanishes where J is singular. With :math:`\chi = \sum_k S_k\psi_k c_k`,
:math:`\phi = \sum_k (\sigma_k u_k/S_k) c_k` and the change :math:`d\!f` of the field,
:math:`dC = \langle\tilde c\,\tilde c^T d\tilde f\rangle` gives

.. math:: dh = \langle\tilde\chi\,\tilde\phi\,d\tilde f\rangle + \chi^T C\, d\Sigma\, S^{-1}u,

tildes being deviations from means: one moment of the Gibbs density. At a cusp the third moment of
:math:`\phi`, :math:`\langle\tilde\phi^3\rangle`, vanishes.
"""

from collections.abc import Callable, Sequence
from functools import cached_property

import numpy as np
from scipy.linalg import lapack

from ..bases import Basis, Floats
from ..branches.continuation import End, Point
from .extended import ExtendedEquation, System
from .plane import Plane
from .starts import Start, beside, first_point, located
from .states import AtState, Dressed

# Borders are renewed where a null vector has turned by 60 degrees.
TURNED = 0.5


class FoldSystem(System):
    """The extended system of folds at one point.

    Attributes
    ----------
    null : ((size,) float, (size,) float)
        The vectors u and psi.
    """

    def __init__(self, states: tuple[AtState, ...], borders: tuple[Floats, Floats]) -> None:
        (state,) = states
        condition, self.null = bordered(state.matrix, borders)
        super().__init__(states, np.append(state.residual, condition))

    @cached_property
    def derivatives(self) -> tuple[Floats, Floats]:
        """The derivatives of the residual in the unknowns, (size, size), and in q, (size,)."""
        (state,) = self.states
        in_unknowns, (in_x, in_q) = condition_slopes(state, self.null)
        along_x, along_q = state.slopes
        matrix = np.empty((self.residual.size, self.residual.size), order="F")
        matrix[:-1, :-1], matrix[-1, :-1] = state.matrix, in_unknowns
        matrix[:-1, -1], matrix[-1, -1] = along_x, in_x
        return matrix, np.append(along_q, in_q)

    @property
    def normal(self) -> Floats:
        """Psi times the derivatives of G in x and q, (2,)."""
        return np.asarray(self.states[0].slopes @ self.null[1])

    @property
    def asymmetry(self) -> float:
        """<(phi - <phi>)^3> over the power 3/2 of the variance, which vanishes at a cusp."""
        (state,) = self.states
        phi = state.coefficients.attractions * self.null[0] / state.dressed.weights
        phi /= np.linalg.norm(phi)
        variance = float(phi @ state.covariance @ phi)
        return float(phi @ state.third_moments(phi, phi) / variance**1.5)


class FoldEquation(ExtendedEquation):
    """The extended system of folds.

    Parameters
    ----------
    plane
        The two parameters.
    bases
        The basis of the state.
    borders
        The unit vectors v and w.
    """

    kind = "fold"

    def __init__(self, plane: Plane, bases: tuple[Basis, ...], borders: tuple[Floats, Floats]) -> None:
        super().__init__(plane, bases)
        self.borders = borders

    def _system(self, states: tuple[AtState, ...], b: Floats) -> "FoldSystem":
        return FoldSystem(states, self.borders)

    def label(self, names: Sequence[str]) -> str:
        """Return the name of the curve of folds of a branch."""
        return f"fold of the {names[0]}"

    @property
    def tests(self) -> dict[str, Callable[[Point], float]]:
        """The third moment that vanishes at cusps."""
        return {"cusp": self._asymmetry}

    def _asymmetry(self, point: Point) -> float:
        found = self.system(point.unknowns_on(self)[0], point.q)
        assert isinstance(found, FoldSystem)
        return found.asymmetry

    def _borders_fit(self, found: System) -> bool:
        assert isinstance(found, FoldSystem)
        return all(
            abs(border @ vector) >= TURNED * np.linalg.norm(vector)
            for border, vector in zip(self.borders, found.null[::-1], strict=True)
        )

    def in_bases(self, bases: tuple[Basis, ...]) -> "FoldEquation":
        """Return the same system with another basis of the state."""
        (old,), (new,) = self.bases, bases
        borders = np.zeros((2, new.degrees.size))
        borders[:, np.searchsorted(new.degrees, old.degrees)] = self.borders
        return FoldEquation(self.plane, bases, (borders[0], borders[1]))

    def bordered_by(self, found: System) -> "FoldEquation":
        """Return the same system with its null vectors at a point as borders."""
        assert isinstance(found, FoldSystem)
        right, left = (vector / np.linalg.norm(vector) for vector in found.null)
        return FoldEquation(self.plane, self.bases, (left, right))


def bordered(matrix: Floats, borders: tuple[Floats, Floats]) -> tuple[float, tuple[Floats, Floats]]:
    """Return h and the vectors u and psi of the bordered matrix.

    Raises
    ------
    LinAlgError
        If it is singular.
    """
    size = matrix.shape[0]
    whole = np.zeros((size + 1, size + 1), order="F")
    whole[:-1, :-1], whole[:-1, -1], whole[-1, :-1] = matrix, borders[0], borders[1]
    side = np.zeros(size + 1)
    side[-1] = 1.0
    factors, pivots, failed = lapack.dgetrf(whole, overwrite_a=1)
    if failed:
        raise np.linalg.LinAlgError("the bordered matrix is singular")
    right, _ = lapack.dgetrs(factors, pivots, side)
    left, _ = lapack.dgetrs(factors, pivots, side, trans=1)
    return float(right[-1]), (right[:-1], left[:-1])


def condition_slopes(state: AtState, null: tuple[Floats, Floats]) -> tuple[Floats, Floats]:
    """Return the derivatives of h in the unknowns of its state, and in x and q."""
    (right, left), weights = null, state.dressed.weights
    changes = right / weights
    chi = weights * left
    third = state.third_moments(chi, state.coefficients.attractions * changes)
    in_place = state.field_slopes @ third + state.coefficients.slopes[0] @ (changes * (state.covariance @ chi))
    return third * state.coefficients.attractions / weights, in_place


def fold_start(start: Start, plane: Plane) -> Point | End:
    """Return the first point of the fold curve through a start."""
    place, basis, b = located(start, plane, start.first)
    equation = FoldEquation(plane, (basis,), null_vectors(plane, basis, place, b))
    b, q = np.append(b, place[0]), place[1]
    if start.uniform:
        b, q = beside([equation], b, q, np.append(equation.borders[1], 0.0))
    return first_point(equation, b, q)


def null_vectors(plane: Plane, basis: Basis, place: tuple[float, float], b: Floats) -> tuple[Floats, Floats]:
    """Return the left and the right singular vector of the least singular value of J at a state."""
    state = AtState(Dressed.of(basis), place, plane.coefficients(*place, basis.degrees), b)
    left, _, right = np.linalg.svd(state.matrix)
    return np.asarray(left[:, -1]), np.asarray(right[-1])
