r"""Extended systems whose condition is that a matrix J at a state is singular: its own, or that of another block.

The condition is the scalar h of the bordered matrix,

.. math:: \begin{pmatrix} J & v \\ w^T & 0 \end{pmatrix} \begin{pmatrix} u \\ h \end{pmatrix}
          = \begin{pmatrix} 0 \\ 1 \end{pmatrix}, \qquad
          \begin{pmatrix} J^T & w \\ v^T & 0 \end{pmatrix} \begin{pmatrix} \psi \\ h \end{pmatrix}
          = \begin{pmatrix} 0 \\ 1 \end{pmatrix}, \qquad dh = -\psi^T dJ\,u,

which vanishes where J is singular.
"""

import numpy as np
from scipy.linalg import lapack

from ...bases import EPS, Basis, Floats
from ...branches.continuation import Point, length
from ...execution.computed import computed_once
from ..in_plane.blocks import Borders
from ..in_plane.plane import Plane
from ..in_plane.states import AtState
from .extended import ExtendedEquation
from .system import ConditionedSystem, System, followed_by
from .tested import DOUBLE_RATE, Tests

# Borders are renewed where a null vector has turned by 60 degrees.
TURNED = 0.5


class SingularSystem(ConditionedSystem):
    """The extended system at one point.

    Attributes
    ----------
    null : ((size,) float, (size,) float)
        The vectors u and psi.
    """

    def __init__(self, state: AtState, matrix: Floats, borders: Borders) -> None:
        condition, self.null = _bordered(matrix, borders)
        super().__init__((state,), followed_by(state.residual, condition))

    @property
    def vanishing(self) -> float:
        r"""The eigenvalue of J that vanishes, :math:`-h/\psi^T u` to first order."""
        right, left = self.null
        return -float(self.residual[-1]) / max(abs(float(left @ right)), float(np.finfo(float).tiny))

    @computed_once
    def double_rate(self) -> float:
        """The number that vanishes where the growth rate zero is a double one; one where rates are real."""
        raise NotImplementedError

    @property
    def condition(self) -> float:
        """By how much more than the matrix the eigenvalue that vanishes is changed by rounding."""
        return 1.0 / max(abs(self.double_rate), EPS)


class SingularEquation(ExtendedEquation):
    """The extended system.

    Parameters
    ----------
    plane
        The two parameters.
    bases
        The basis of the state.
    borders
        The unit vectors v and w.
    """

    def __init__(self, plane: Plane, bases: tuple[Basis, ...], borders: Borders) -> None:
        super().__init__(plane, bases)
        self.borders = borders

    @property
    def double_rates(self) -> Tests:
        """A function that vanishes where the zero growth rate is a double one, if rates may be complex."""
        return {} if self.plane.reflects else {DOUBLE_RATE: self._double_rate}

    def _double_rate(self, point: Point) -> float:
        found = self.system(point.unknowns_on(self)[0], point.q)
        assert isinstance(found, SingularSystem)
        return found.double_rate

    def _borders_fit(self, found: System) -> bool:
        assert isinstance(found, SingularSystem)
        return all(
            abs(border @ vector) >= TURNED * length(vector, 0.0)
            for border, vector in zip(self.borders, found.null[::-1], strict=True)
        )


def _bordered(matrix: Floats, borders: Borders) -> tuple[float, Borders]:
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
