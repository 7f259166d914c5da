r"""Where branches born as pitchforks turn under a law without a Gibbs map, of those whose states have an axis.

With the moments a of the state, those u of the null vector of the block and the test function :math:`\chi` of its
left one, among the densities that are born, the stationary map :math:`a \mapsto M(a)` gives

.. math:: J w = \tfrac12 M''(u, u), \qquad
          N = \chi\cdot\bigl(\tfrac16 M'''(u, u, u) + M''(u, w)\bigr),

N being that of :mod:`solvers.two_parameters.turning`. The derivatives of M' along u and w are those of polynomials
through its values at Chebyshev points: along u by symmetry of one sign.
"""

import numpy as np

from ..bases import Basis, Floats
from ..circle.complements import Complement
from .blocks import ComplementaryBlock
from .law_states import LawState
from .plane import Plane
from .system import Borders
from .turning import adjugate
from .unknowns import basis_of

# The largest change of the field along which derivatives are taken, and the number of points on either side.
AMPLITUDE, POINTS = 0.25, 10
ANGLES = np.pi * (2 * np.arange(POINTS) + 1) / (4 * POINTS)
# Weights of the values at the points of a function even or odd about zero in its second and its first derivative.
_EVEN, _ODD = 2 * np.arange(1, POINTS), 2 * np.arange(POINTS) + 1
SECOND = 2.0 / POINTS * (-((-1.0) ** (_EVEN // 2)) * _EVEN**2) @ np.cos(np.multiply.outer(_EVEN, ANGLES))
FIRST = 2.0 / POINTS * ((-1.0) ** (_ODD // 2) * _ODD) @ np.cos(np.multiply.outer(_ODD, ANGLES))


def turning_of_law(block: ComplementaryBlock, null: Borders, plane: Plane, last: int) -> float:
    """Return what :func:`solvers.two_parameters.turning.turning` does, of a block whose born states have an axis.

    Parameters
    ----------
    block
        The singular block.
    null : ((size,) float, (size,) float)
        The null vectors.
    plane
        The two parameters.
    last
        The largest degree of the class of squares that is looked at.
    """
    basis, complement = block.state.weighted.basis, block.complement
    state, signs = _born(block, plane)
    degrees, weights = state.weighted.basis.degrees, state.weighted.weights
    chi, phi = (np.zeros(degrees.size) for _ in range(2))
    known = np.isin(block.degrees, degrees)
    places = np.searchsorted(degrees, block.degrees[known])
    chi[places] = (signs * block.weights * null[1])[known]
    phi[places] = (signs * null[0] / block.weights)[known]
    size, square = state.field_along(phi)
    phi /= size

    rows = state.responses_along(phi, phi, AMPLITUDE * np.cos(ANGLES))
    third, second = SECOND @ rows / AMPLITUDE**2, FIRST @ rows / AMPLITUDE
    own = degrees % basis.symmetry == 0
    squares = complement.squares
    further = np.zeros_like(own) if squares is None else np.isin(degrees, squares.degrees(last))
    parts = [np.flatnonzero(part) for part in (own, further) if part.any()]
    dets = [float(np.linalg.det(state.matrix[np.ix_(part, part)])) for part in parts]
    followed = np.zeros(degrees.size)
    for number, part in enumerate(parts):
        others = float(np.prod(dets[:number] + dets[number + 1 :]))
        inverse = adjugate(state.matrix[np.ix_(part, part)])
        followed[part] = others * (inverse @ (0.5 * weights[part] * second[part])) / weights[part]
    found = float(chi @ third) / 6.0 * float(np.prod(dets)) + _mixed(state, chi, phi, followed)
    return -0.25 * found / (float(chi @ phi) * square / size**2)


def _mixed(state: LawState, chi: Floats, phi: Floats, followed: Floats) -> float:
    """Return chi times the second derivative of the stationary map along two changes of the moments."""
    size, _ = state.field_along(followed)
    if size == 0.0:
        return 0.0
    amounts = AMPLITUDE * np.cos(ANGLES)
    after, before = (state.responses_along(followed / size, phi, side * amounts) @ chi for side in (1.0, -1.0))
    return float(0.5 * FIRST @ (after - before)) / AMPLITUDE * size


def _born(block: ComplementaryBlock, plane: Plane) -> tuple[LawState, Floats]:
    """Return the state among the densities that are born, and the signs there of the modes of the block.

    Those of sines are even about the other axis of the state on the circle.
    """
    state, complement, degrees = block.state, block.complement, block.degrees
    assert isinstance(state, LawState)
    basis = state.weighted.basis
    axis, unknown, signs = basis.axis, state.unknown, np.ones(degrees.size)
    if complement.odd:
        assert isinstance(complement, Complement)
        axis += np.pi / basis.symmetry
        unknown = np.where(basis.cells % 2, -1.0, 1.0) * unknown
        signs = np.where((degrees - complement.residue) // basis.symmetry % 2, -1.0, 1.0)
    named = np.zeros(int(max(basis.degrees[-1], degrees[-1])) + 1)
    named[complement.born_symmetry :: complement.born_symmetry] = 1.0
    born = _resolving(basis_of(plane, named, state.place, axis), basis)
    among = np.zeros(born.degrees.size)
    kept = np.isin(basis.degrees, born.degrees)
    among[np.searchsorted(born.degrees, basis.degrees[kept])] = unknown[kept]
    return state.on(born, plane.coefficients(*state.place, born.degrees, born), among), signs


def _resolving(born: Basis, basis: Basis) -> Basis:
    """Return a basis on twice as many nodes as resolve the densities of another."""
    return born.resized(born.cells, max(born.nodes, 2 * basis.nodes * basis.symmetry // born.symmetry))
