r"""Slopes of fold curves and first-order lines, and the curvature of a branch at its fold.

With :math:`\sigma_l(\kappa, p) = -\kappa w_l(p)/D`, the kernel u of a fold, and states A and B of equal energy,

.. math::

    \text{fold:}\quad \frac{d\kappa}{dp} = -\frac{\sum_l u_l m_l\,\partial_p\sigma_l}
        {\sum_l u_l m_l\,\partial_\kappa\sigma_l}, \qquad
    \text{first-order line:}\quad \frac{d\kappa}{dp} = -\frac{\sum_l (m_{A,l}^2 - m_{B,l}^2)\,\partial_p\sigma_l}
        {\sum_l (m_{A,l}^2 - m_{B,l}^2)\,\partial_\kappa\sigma_l},

the second after Clausius and Clapeyron: the energy gap changes by :math:`-m_l^2/2` with :math:`\sigma_l`.
"""

from collections.abc import Callable, Iterator

import numpy as np

from meanfield import Curve, Equation

from ..claims import FREE_ENERGY, Evidence, Undecided, claim, compare, worst
from ..measures import LOCATION, MOMENT, Floats, spaced
from ..tools import Tools
from .measures import (
    Thermal,
    attraction_slopes,
    curves_of,
    first_diagram,
    first_order,
    parameter_of,
    polynomial_slope,
    thermal,
)

# Points of a curve that are measured, and points of which each derivative is taken.
MEASURED, STENCIL = 5, 7
# Points nearer to a fold than this, over its amplitude, say nothing of its curvature.
NOT_FOLD = 1e-6
# The kernel of a fold and the states of a line are known to the square root of rounding where they nearly merge;
# elsewhere to the accuracy of moments over the gap of the linearisation, which is of order one.
FORMULA = 100 * MOMENT


@claim(
    "curves.fold-slope",
    "slope of fold curves",
    statement=(
        "Along a fold curve d kappa/dp = - sum u_l m_l d_p sigma_l / sum u_l m_l d_kappa sigma_l, with the kernel "
        "u = C sigma u and sigma_l = -kappa w_l/D."
    ),
    assumptions="a fold among densities about an axis; w_l differentiable in p",
    source="the fold equation differentiated, with the left null vector sigma u; checked to 12 digits",
    hypotheses=first_order,
    needs=FREE_ENERGY,
)
def fold_slope(problem: Equation, tools: Tools) -> Evidence:
    """Compare the slopes of all fold curves, stated and of their points, with the closed form at their states."""
    curves = curves_of(problem, "fold", tools)
    return worst(item for curve in curves for item in _slopes(curve, problem, _of_fold))


@claim(
    "curves.clausius-clapeyron",
    "slope of first-order lines, after Clausius and Clapeyron",
    statement=(
        "Along a line of equal free energy of two states d kappa/dp = - sum (m_l^2 - n_l^2) d_p sigma_l / "
        "sum (m_l^2 - n_l^2) d_kappa sigma_l, with their moments m and n."
    ),
    assumptions="two different states; w_l differentiable in p",
    source="d(F_m - F_n)/D = -1/2 sum (m_l^2 - n_l^2) d sigma_l at stationary states",
    hypotheses=first_order,
    needs=FREE_ENERGY,
)
def clausius_clapeyron(problem: Equation, tools: Tools) -> Evidence:
    """Compare the slopes of all first-order lines, stated and of their points, with the closed form."""
    curves = curves_of(problem, "transition", tools)
    return worst(item for curve in curves for item in _slopes(curve, problem, _of_line))


def _slopes(
    curve: Curve, problem: Equation, weights_of: Callable[[Curve, int, Thermal], Floats]
) -> Iterator[Evidence]:
    name = parameter_of(problem)
    assert name is not None
    for place in spaced(len(curve), MEASURED):
        state = curve.state(place)
        here = thermal(state)
        weights = weights_of(curve, place, here)
        slopes, error = attraction_slopes(state.problem, name, here.moments.size)
        per_coupling = here.attractions / state.problem.fixed_coupling
        below = float(weights @ per_coupling)
        expected = -float(weights @ slopes) / below
        bound = FORMULA * (1 + abs(expected)) + error * float(np.abs(weights).sum()) / abs(below)
        where = f"of {curve.label} at {name} = {curve.first[place]:.9g}"
        yield compare(float(curve.slope[place]), expected, bound, f"stated slope {where}")
        yield _compared_with_points(curve, place, expected, bound, where)


def _compared_with_points(curve: Curve, place: int, expected: float, bound: float, where: str) -> Evidence:
    """Compare a slope with that of the polynomial through the points about it."""
    if len(curve) < STENCIL:
        raise Undecided(f"{curve.label} has {len(curve)} points, too few for a slope of their own")
    start = min(max(place - STENCIL // 2, 0), len(curve) - STENCIL)
    around = slice(start, start + STENCIL)
    measured, error = polynomial_slope(curve.first[around], curve.second[around], place - start)
    return compare(measured, expected, error + bound, f"slope through {STENCIL} points {where}")


def _of_fold(curve: Curve, place: int, here: Thermal) -> Floats:
    return np.asarray(here.kernel()[0] * here.moments)


def _of_line(curve: Curve, place: int, here: Thermal) -> Floats:
    if curve.other_cosine is None:
        # The second state is the uniform one.
        return here.moments**2
    other = thermal(curve.state(place, other=True))
    size = min(here.moments.size, other.moments.size)
    difference = here.moments**2
    difference[:size] -= other.moments[:size] ** 2
    return np.asarray(difference)


@claim(
    "curves.curvature",
    "curvature of a branch at its fold",
    statement="Along a branch with m = m_0 + s u + ... kappa''(s)/kappa = -kappa_3(phi)/<phi> at a fold.",
    assumptions="a fold among densities about an axis; kappa_3 the third central moment under the density",
    source="second derivative of the state equation, projected on the left null vector sigma u",
    hypotheses=first_order,
    needs=FREE_ENERGY,
)
def curvature(problem: Equation, tools: Tools) -> Evidence:
    """Compare the second derivative of the coupling about the first fold with the moments of its density."""
    diagram = first_diagram(problem, tools)
    folds = diagram.events("fold")
    if not folds:
        raise Undecided("the diagram about the first transition has no fold")
    fold, branch = folds[0], diagram.branches[folds[0].branch]
    here = thermal(diagram.state(folds[0].branch, fold.point))
    u, phi, _ = here.kernel()
    mean = here.mean(phi)
    expected = -here.mean((phi - mean) ** 3) / mean
    size = min(here.moments.size, branch.cosine.shape[1] - 1)
    offsets = (branch.cosine[:, 1 : size + 1] - here.moments[:size]) @ u[:size]
    amplitude = float(np.linalg.norm(here.moments))
    near = np.argsort(np.abs(np.arange(len(branch)) - fold.point))[1 : 1 + STENCIL]
    near = near[np.abs(offsets[near]) > NOT_FOLD * amplitude]
    rises = np.asarray(branch.coupling[near] / fold.coupling - 1.0, dtype=float)
    along = branch.tangent_cosine[near, 1 : size + 1] @ u[:size]
    slopes = np.asarray(branch.tangent_coupling[near] / fold.coupling, dtype=float) / along
    measured, error = _second_derivative(offsets[near], rises, slopes)
    return compare(measured, expected, error + FORMULA * (1 + abs(expected)), "kappa''/kappa at the fold")


def _second_derivative(offsets: Floats, rises: Floats, slopes: Floats) -> tuple[float, float]:
    """Return the second derivative at 0 of a polynomial that begins with it, by points and slopes, and its error.

    The error is its change if the farthest point is left out, and what errors of the data do to it.
    """
    order = np.argsort(np.abs(offsets))
    found = []
    for chosen in (order, order[:-1]):
        scale = float(np.abs(offsets[chosen]).max())
        places, powers = offsets[chosen, None] / scale, np.arange(2, 2 * chosen.size + 2)
        inverse = np.linalg.inv(np.vstack([places**powers, powers * places ** (powers - 1)]))
        data = np.concatenate([rises[chosen], slopes[chosen] * scale])
        noise = LOCATION * float(np.abs(inverse[0]).sum())
        found.append((2.0 * float(inverse[0] @ data) / scale**2, 2.0 * noise / scale**2))
    (full, noise), (fewer, _) = found
    return full, abs(full - fewer) + noise
