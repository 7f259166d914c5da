r"""Where branches born as pitchforks at the branch points of a curve turn from continuous to discontinuous.

A density is the power p of an average u, of the gradient law :math:`p \to \infty` and u = 1 in what follows. A
perturbation :math:`\epsilon\phi` of the field F of :math:`u = 1 + F/p` changes it by, with :math:`g = \phi/u` and
s = 1/p,

.. math:: \rho\,\bigl(1 + \epsilon g + \tfrac{1-s}{2}\epsilon^2 g^2
          + \tfrac{(1-s)(1-2s)}{6}\epsilon^3 g^3 + \dots\bigr)/Z .

At a branch point with null vectors u and :math:`\psi` of the block let
:math:`\phi = \sum_k(\sigma_k u_k/S_k)c_k` and :math:`\chi = \sum_k S_k\psi_k c_k`. Where a perturbation and its
negative are images of each other, modes of the state and of the class of squares follow it in second order, and
along :math:`\chi` remains the third,

.. math:: J w = \tfrac{1-s}{2} S\,\mathrm{Cov}(g^2, c), \qquad \phi_w = \sum_k (\sigma_k w_k/S_k) c_k, \qquad
          N = \tfrac{(1-s)(1-2s)}{6}\langle\chi g^3\rangle - \tfrac{1-s}{2}\langle\chi g\rangle\langle g^2\rangle
          + (1-s)\langle\chi g\,\phi_w/u\rangle - \langle\chi g\rangle\langle\phi_w/u\rangle .

The branch turns where N vanishes: a tricritical point. Of the gradient law :math:`\chi` is a multiple of
:math:`\phi`, and :math:`-N/4` the coefficient of the fourth power of the amplitude in the free energy along the
branch. N has a pole where J is singular, at folds of the state or where a mode of the class of squares is neutral
too, and none once it is multiplied by the determinants.

Where squares of perturbations halve a symmetry that the perturbations themselves quarter, those even about the one
axis and about the other are no images of each other: N is A + B of the ones and A - B of the others (of the group
:math:`D_4`: Golubitsky, Stewart and Schaeffer, Singularities and Groups in Bifurcation Theory II, chapter XVII).
Where B vanishes both are alike at that order, and branches that lead from the one to the other come down to the
branch point. The state's own modes have the same part in both, and are left out of the difference.
"""

from typing import NamedTuple

import numpy as np

from ...bases import Floats
from ..in_plane.at_place import block_at
from ..in_plane.blocks import Borders, ComplementaryBlock
from ..in_plane.plane import Plane
from ..in_plane.states import AtState

# The singular value of a neutral direction is below this share of the largest.
NEUTRAL = 1e-9


class Turning(NamedTuple):
    """-N/4 of a perturbation of size one times the determinants of the matrices that have poles.

    Attributes
    ----------
    value, error
        The product, and its error beside that of rounding of the unknowns.
    determinant
        The product of the determinants.
    """

    value: float
    error: float
    determinant: float

    def apart(self, other: "Turning") -> tuple[float, float]:
        """Return the difference of -N/4 from that of other branches times all determinants, and its error."""
        error = self.error * abs(other.determinant) + other.error * abs(self.determinant)
        return self.value * other.determinant - other.value * self.determinant, error


def turning(block: ComplementaryBlock, null: Borders, plane: Plane, last: int, *, own: bool = True) -> Turning:
    """Return -N/4 of a perturbation of size one times the determinants of the matrices that have poles.

    Parameters
    ----------
    block
        The singular block.
    null : ((size,) float, (size,) float)
        The null vectors u and psi.
    plane
        The two parameters.
    last
        The largest degree of the class of squares that is looked at.
    own
        Whether the modes of the state itself follow.
    """
    state, complement, degrees = block.state, block.complement, block.degrees
    s, means = state.saturation, state.means
    fine, chi, phi = _resolved(block, null)
    first, second, third = (fine.measure(power) for power in (1, 2, 3))
    linear = complement.integral(first, degrees, np.array([chi, phi]))
    square = complement.integral(second, degrees, np.array([phi, phi]))
    quartic = complement.integral(third, degrees, np.array([chi, phi, phi, phi]))
    alone = (1.0 - s) * ((1.0 - 2.0 * s) / 6.0 * quartic - 0.5 * linear * square)

    alike, of_own = 1.0, 0.0
    if own:
        squares, _ = complement.products(second, degrees, phi, phi)
        mixed, _ = complement.products(second, degrees, chi, phi)
        source = 0.5 * (1.0 - s) * state.weighted.weights * (squares - square * means)
        gain = (1.0 - s) * mixed - linear * first.basis.means(first.moments)
        gain = gain * state.coefficients.attractions / state.weighted.weights
        alike, of_own = float(np.linalg.det(state.matrix)), float(gain @ adjugate(state.matrix) @ source)

    beside, of_squares = 1.0, 0.0
    further = complement.squares
    chosen = degrees[:0] if further is None else plane.significant(*state.place, further.degrees(last))
    if further is not None and chosen.size:
        of_further = block_at(state, plane, further, chosen)
        source = 0.5 * of_further.weights * complement.square_products(second, degrees, phi, phi, chosen)
        gain = complement.square_products(second, degrees, chi, phi, chosen) / of_further.weights
        gain *= of_further.coefficients.attractions * (1.0 - s) ** 2
        matrix = regular(of_further.matrix)
        beside = float(np.linalg.det(matrix))
        of_squares = float(gain @ adjugate(matrix) @ source)
    product = alone * alike * beside + of_own * beside + of_squares * alike
    return Turning(-0.25 * product / (linear * square), 0.0, alike * beside)


def quadratic(block: ComplementaryBlock, null: Borders) -> float:
    r"""Return a positive multiple of the coefficient of the square of the amplitude along born branches.

    It is the change of :math:`\langle\chi\rangle` in second order, :math:`\tfrac{1-s}{2}\langle\chi g^2\rangle`.
    Where a third of a symmetry is left it vanishes by no symmetry, and where it does the branches of both signs are
    alike to that order.

    Parameters
    ----------
    block
        The singular block.
    null : ((size,) float, (size,) float)
        The null vectors u and psi.
    """
    state, complement, degrees = block.state, block.complement, block.degrees
    fine, chi, phi = _resolved(block, null)
    second = fine.measure(2)
    sizes = [complement.integral(second, degrees, np.array([each, each])) for each in (chi, phi)]
    third = complement.integral(second, degrees, np.array([chi, phi, phi]))
    return float(0.5 * (1.0 - state.saturation) * third / (np.sqrt(sizes[0]) * sizes[1]))


def _resolved(block: ComplementaryBlock, null: Borders) -> tuple[AtState, Floats, Floats]:
    """Return the state on nodes that resolve products of four sums over the degrees of a block, chi and phi."""
    state, basis = block.state, block.state.weighted.basis
    nodes = block.complement.nodes(basis, block.degrees)
    fine = state.on(basis.resized(basis.cells, nodes), state.coefficients, state.unknown)
    return fine, block.weights * null[1], block.coefficients.attractions * null[0] / block.weights


def about_other_axis(block: ComplementaryBlock, null: Borders, plane: Plane) -> tuple[ComplementaryBlock, Borders]:
    """Return the block and its null vectors about the other reflection axis of a state on the circle."""
    state, degrees = block.state, block.degrees
    basis = state.weighted.basis
    assert basis.cosines is not None
    turned = basis.cosines.about(basis.axis + np.pi / basis.symmetry)
    coefficients = plane.coefficients(*state.place, turned.degrees, turned)
    other = state.on(turned, coefficients, np.where(basis.cells % 2, -1.0, 1.0) * state.unknown)
    residue = degrees % basis.symmetry
    cells = (degrees - np.where(residue > basis.symmetry // 2, residue - basis.symmetry, residue)) // basis.symmetry
    signs = np.where(cells % 2, -1.0, 1.0)
    return block_at(other, plane, block.complement, degrees), (signs * null[0], signs * null[1])


def regular(matrix: Floats) -> Floats:
    """Return a matrix whose neutral directions, if it has any, are moved to its largest singular value.

    The class of squares may contain images of a perturbation of a multiple direction, neutral all along the curve.
    Being invariant under elements that keep the perturbation up to its sign and move these, its square has no part
    along them, and what follows it has none either.
    """
    left, sizes, right = np.linalg.svd(matrix)
    neutral = sizes <= NEUTRAL * sizes[0]
    if not neutral.any():
        return matrix
    columns, rows = left[:, neutral], right[neutral]
    # The sign of the determinant is that of the other eigenvalues.
    columns[:, 0] *= np.sign(np.linalg.det(rows @ columns))
    return np.asarray(matrix + sizes[0] * columns @ rows)


def adjugate(matrix: Floats) -> Floats:
    """Return the matrix of cofactors of a square matrix, transposed: its determinant times its inverse."""
    left, sizes, right = np.linalg.svd(matrix)
    others = np.array([np.delete(sizes, place).prod() for place in range(sizes.size)])
    return np.asarray(np.linalg.det(left) * np.linalg.det(right) * (right.T * others) @ left.T)
