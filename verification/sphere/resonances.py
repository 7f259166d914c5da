r"""Two degrees, 1 and 2: where the branches of even states become unstable against degree one.

For :math:`W = w_1P_1 + w_2P_2` an even state about an axis is :math:`e^{FP_2}/Z` with
:math:`F = -\tfrac\kappa D w_2\langle P_2\rangle_F`, and degree one is critical along the axis where
:math:`-\tfrac\kappa D w_1\langle u^2\rangle_F = 1`, across it where
:math:`-\tfrac\kappa D w_1\langle 1-u^2\rangle_F/(d-1) = 1`. With both thresholds close together these points come
close to the uniform state, at an amplitude proportional to their distance.
"""

import math
from collections.abc import Iterator

import numpy as np

from meanfield import Equation, GegenbauerSeries

from ..claims import Evidence, Undecided, claim, compare, missing, worst
from ..hypotheses import anywhere
from ..measures import LOCATION, MOMENT
from ..tools import Tools
from .measures import gibbs, interval, multipliers, polar_rule, polynomials

# Exponents F between which the roots are looked for, and how many intervals.
LARGEST, INTERVALS = 12.0, 401
# Amplitudes below this are lost beside the uniform state.
SMALLEST = 1e-6


def two_degrees(problem: Equation) -> str | None:
    """Return the reason why the potential is not attractive of degrees one and two alone, or None if it is."""
    weights = multipliers(problem, 64)
    if not isinstance(problem.potential, GegenbauerSeries) or np.any(weights[3:]):
        return "it is about series of two terms"
    if not (weights[1] < 0 and weights[2] < 0):
        return "both terms are to attract"
    return anywhere(problem)


@claim(
    "sphere.secondary",
    "even states become unstable against degree one",
    statement=(
        "W = w_1 P_1 + w_2 P_2, both < 0: on the branches e^{F P_2}/Z degree one is critical where kappa w_1 <u^2> "
        "= -D along the axis and kappa w_1 <1 - u^2>/(d - 1) = -D across it, F = -kappa w_2 <P_2>/D."
    ),
    assumptions="two attractive degrees, one and two",
    source="inertia of the second variation; one equation in F, solved by bisection",
    hypotheses=two_degrees,
)
def secondary(problem: Equation, tools: Tools) -> Evidence:
    """Compare branch points with each root and its second moment, and check the branch born along the axis."""
    low, high = interval(problem)
    roots = [root for root in _roots(problem) if low < root[1] < high and abs(root[2]) > SMALLEST]
    if not roots:
        raise Undecided("no such point lies inside the diagram")
    diagram = tools.diagram(problem, (low, high))
    points = [(index, p) for index, p in enumerate(diagram.special_points) if p.type == "branch point" and p.branch]
    found: list[Evidence] = []
    for axial, coupling, moment in roots:
        where = f"where degree one is critical {'along' if axial else 'across'} the axis"
        near = [(i, p) for i, p in points if abs(p.cosine[1]) < MOMENT and p.cosine[2] * moment > 0]
        near = [(i, p) for i, p in near if abs(float(p.coupling) / coupling - 1) < 1e-6]
        if not near:
            found.append(missing(f"no branch point {where}, coupling {coupling:.12g}"))
            continue
        index, point = min(near, key=lambda item: abs(float(item[1].coupling) - coupling))
        # The point is as well known as its amplitude, which a small one is not.
        bound = LOCATION * coupling * (1 + 1e-2 / abs(moment))
        found.append(compare(float(point.coupling), coupling, bound, f"coupling {where}"))
        found.append(compare(float(point.cosine[2]), moment, MOMENT / abs(moment), f"second moment {where}"))
        if axial and not any(branch.parent == index for branch in diagram.branches):
            found.append(missing(f"no branch is born {where}, coupling {coupling:.12g}"))
    return worst(found)


def _roots(problem: Equation) -> Iterator[tuple[bool, float, float]]:
    """Yield for each critical even state whether it is along the axis, the coupling and the second moment."""
    from scipy.optimize import brentq

    dimension = problem.domain.dimension
    _, w_1, w_2 = multipliers(problem, 2)
    weights, table = polar_rule(dimension)[1], polynomials(dimension, 2)

    def means(exponent: float) -> tuple[float, float]:
        density, _ = gibbs(np.array([0.0, 0.0, exponent]), dimension)
        return math.fsum(weights * density * table[2]), math.fsum(weights * density * table[1] ** 2)

    def defect(exponent: float, axial: bool) -> float:
        second, square = means(exponent)
        share = square if axial else (1.0 - square) / (dimension - 1)
        # F/<P_2> w_1/w_2 share = 1, times <P_2>/F, which is positive.
        return float(w_1 / w_2 * share - second / exponent)

    grid = np.linspace(-LARGEST, LARGEST, INTERVALS + 1)
    grid = np.sort(np.concatenate([grid[grid != 0.0], *(s * np.geomspace(1e-5, 1e-2, 40) for s in (1, -1))]))
    for axial in (True, False):
        values = [defect(float(f), axial) for f in grid]
        for a, b, left, right in zip(grid[:-1], grid[1:], values[:-1], values[1:], strict=True):
            if left * right < 0.0 and a * b > 0.0:
                root = float(brentq(defect, a, b, args=(axial,), xtol=1e-15, rtol=1e-15))
                second, _ = means(root)
                yield axial, float(-problem.noise * root / (w_2 * second)), second
