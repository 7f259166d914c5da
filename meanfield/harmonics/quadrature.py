r"""Gauss rules for zonal functions on the spheres, and the polynomials :math:`P_l` on their nodes.

A function of :math:`u = \langle x, e\rangle` on :math:`S^{d-1}` has the uniform mean

.. math:: \int f\,d\mu, \qquad d\mu(u) = c_d\,(1-u^2)^{(d-3)/2}\,du \quad\text{on } [-1, 1], \qquad \int d\mu = 1 .

The nodes are the zeros of :math:`P_n`, the Gegenbauer polynomial of index :math:`(d-2)/2` with
:math:`P_n(1) = 1`. Library rules lose digits of the weights (1e-10 and worse at a thousand nodes) and of
:math:`1 - u` near the poles. Here the recurrence

.. math:: (l+d-2)\,P_{l+1} = (2l+d-2)\,u\,P_l - l\,P_{l-1}

runs on the differences :math:`P_{l+1} - P_l`, driven by :math:`1 - u` (Reinsch's form), so that
every zero is found to full *relative* accuracy of its distance from the pole. All of it is done in long double,
which on some machines is no wider than double; for both see :func:`gauss_rule`.
"""

import functools
from itertools import islice
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..errors import ComputationFailed
from .gegenbauer import Working, ascending

Floats = NDArray[np.float64]


class Rule(NamedTuple):
    """A Gauss rule of the uniform probability measure in u, symmetric under u -> -u, exact to degree 2n - 1.

    Attributes
    ----------
    nodes : (n,) float
        u, descending from the pole at u = 1.
    complements : (n,) float
        1 - abs(u), to full relative accuracy.
    log_weights : (n,) float
        Logarithms of the weights, whose sum is one.
    fine : (n,) long double
        The complements in the working precision, for tables of polynomials.
    weights : (n,) float
        The weights themselves; where these are tiny, to better relative accuracy than from the logarithms.
    """

    nodes: Floats
    complements: Floats
    log_weights: Floats
    fine: Working
    weights: Floats

    @property
    def polar(self) -> Floats:
        """The polar angles of the nodes, exact near both poles."""
        northern = 2.0 * np.arcsin(np.sqrt(0.5 * self.complements))
        return np.asarray(np.where(self.nodes >= 0.0, northern, np.pi - northern))


@functools.lru_cache(maxsize=64)
def gauss_rule(dimension: int, count: int) -> Rule:
    """Return the Gauss rule with a number of nodes on the sphere of a dimension.

    Parameters
    ----------
    dimension
        d of the space around the sphere, at least 3.
    count
        Number of nodes n.

    Returns
    -------
    Rule
        Read-only arrays. Where long double is wider than double they are correctly rounded up to one unit:
        relative in the complements and the weights, and in the log weights relative to 1 + abs(log w). Where it is
        not, the complements keep about ten units and the log weights some tens in a hundred dimensions.

    Raises
    ------
    ComputationFailed
        If P_n falls below the range of the numbers, beyond a thousand nodes in a thousand dimensions.
    """
    return build_rule(dimension, count, np.longdouble)


def build_rule(dimension: int, count: int, precision: type[np.floating[Any]]) -> Rule:
    """Return :func:`gauss_rule` computed in a given working precision, uncached."""
    with np.errstate(all="ignore"):
        fine, logs = _northern(dimension, count, precision)
    if not np.isfinite(logs).all():
        raise ComputationFailed(
            f"the Gauss rule with {count} nodes in dimension {dimension} is beyond the range of this machine's "
            "numbers; take fewer nodes or a smaller dimension"
        )
    return _mirrored(fine, logs, count)


def _northern(dimension: int, count: int, precision: type[np.floating[Any]]) -> tuple[Working, Working]:
    """Return 1 - u and the logarithms of the weights up to a constant; not finite where P_n leaves the range."""
    start = _starting_complements(dimension, count).astype(precision)
    value, slope = next(islice(ascending(dimension, start), count, None))
    slope *= -count
    across = start * (2.0 - start)
    # One step of Newton: eigenvalues have half of the digits at least, relative to the distance from the pole.
    fine = start + across * value / slope
    # The mass of a node is ~ 1/((1-u^2) P_n'^2); with the power d - 2 more of 1 - u^2 below and above, the lower
    # part is stationary in u at the zero by the differential equation, so it may be taken at the start.
    logs = -2.0 * np.log(np.abs(slope)) - (dimension - 3) * np.log(across)
    if count % 2:
        fine[-1] = 1.0
    logs += (dimension - 2) * np.log(fine * (2.0 - fine))
    return fine, logs


def polynomials(dimension: int, rule: Rule, degree: int, precision: type[np.floating[Any]] = np.float64) -> Working:
    """Return the table of P_0, ..., P_degree of a dimension on the nodes of any rule, shape (degree + 1, n).

    In double precision errors are a unit of rounding relative to the natural size of P_l at each node where long
    double is wider, and of the order of l units where it is not; in a given precision they are those of the latter.
    """
    north = int(np.count_nonzero(rule.nodes >= 0.0))
    table = np.empty((degree + 1, rule.nodes.size), dtype=precision)
    for row, (value, _) in zip(table, ascending(dimension, rule.fine[:north]), strict=False):
        row[:north] = value
    south = rule.nodes.size - north
    if south:
        table[:, north:] = table[:, south - 1 :: -1]
        table[1::2, north:] *= -1.0
    return table


def northern_half(rule: Rule) -> Rule:
    """Return the rule for functions even in u: the nodes u >= 0, those off the equator with twice the weight."""
    nodes, complements, log_weights, fine, weights = (array[rule.nodes >= 0.0] for array in rule)
    doubled = np.where(nodes > 0.0, 2.0, 1.0)
    return Rule(nodes, complements, log_weights + np.log(doubled), fine, weights * doubled)


def _starting_complements(dimension: int, count: int) -> Floats:
    """Return 1 - u of the northern nodes from the eigenvalues of the Jacobi matrix.

    The matrix has no diagonal, so its square decouples, and the half that acts on the odd degrees has the
    squares of the positive nodes as eigenvalues.
    """
    from scipy.linalg import eigvalsh_tridiagonal

    degrees = np.arange(1.0, count)
    doubled = 2.0 * degrees + dimension
    squares = np.append(degrees * (degrees + dimension - 3) / ((doubled - 2.0) * (doubled - 4.0)), 0.0)
    positive = count // 2
    diagonal = squares[: 2 * positive : 2] + squares[1 : 2 * positive : 2]
    beside = np.sqrt(squares[1 : 2 * positive - 1 : 2] * squares[2 : 2 * positive : 2])
    zeros = eigvalsh_tridiagonal(diagonal, beside, lapack_driver="sterf")[::-1] if positive else np.zeros(0)
    complements = (1.0 - zeros) / (1.0 + np.sqrt(zeros))
    return np.append(complements, 1.0) if count % 2 else complements


def _mirrored(fine: Working, logs: Working, count: int) -> Rule:
    """Return the rule of northern nodes and their images, its weights scaled to sum one."""
    half = count // 2
    fine, logs = np.append(fine, fine[:half][::-1]), np.append(logs, logs[:half][::-1])
    top = logs.max()
    logs -= top + np.log(np.exp(logs - top).sum())
    nodes = (1.0 - fine).astype(float)
    nodes[count - half :] *= -1.0
    rule = Rule(nodes, fine.astype(float), logs.astype(float), fine, np.exp(logs).astype(float))
    for array in rule:
        array.flags.writeable = False
    return rule
