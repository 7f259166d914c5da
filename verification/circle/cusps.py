r"""Cusps, where two folds of a branch are born: the third cumulant vanishes, and fold curves are tangent.

Along the fold curve through a cusp both parameters are smooth in the length s of the curve, the first quadratic in
it and the distance of the second from the common tangent cubic,

.. math:: p - p_0 \sim s^2, \qquad \kappa - \kappa_0 - \kappa'_0 (p - p_0) \sim s^3 :

both branches are tangent, and apart by a multiple of :math:`|p - p_0|^{3/2}`.
"""

import math
from collections.abc import Iterator

import numpy as np

from meanfield import Curve, Equation, OrganisingPoint, State

from ..claims import FREE_ENERGY, Evidence, Undecided, claim, compare, missing, worst
from ..curves.measures import parameter_of, thermal
from ..hypotheses import anywhere
from ..measures import EPS, Floats
from ..tools import Tools

# Couplings, over the first critical one, and range of the parameter, over its value, where a cusp is looked for.
WINDOW, RANGE = (0.5, 1.3), (0.85, 1.2)
# Points on either side of a cusp that are used, and the accuracy promised for the place of one.
AROUND, PLACE = 6, 1e-9


def three_modes(problem: Equation) -> str | None:
    """Return the reason why the potential is not the family of three modes with a known cusp, or None if it is."""
    reason = anywhere(problem)
    if reason is not None:
        return reason
    weights = problem.potential.parameter_values()
    if tuple(weights) != ("w1", "w2", "w3"):
        return "it is about -cos t - a cos 2t - b cos 3t"
    if weights["w1"] >= 0.0 or not weights["w3"] < weights["w2"] < 0.0:
        return "its third mode is not stronger than the second, which lets two folds be born"
    return None


@claim(
    "circle.cusp",
    "two folds are born at a cusp",
    statement=(
        "Where two folds meet kappa_3(phi) = 0, and the two fold curves are tangent and |p - p_0|^{3/2} apart."
    ),
    assumptions="three attractive modes, the third stronger than the second",
    source="the curvature -kappa_3(phi)/<phi> of the branch changes its sign there; Whitney's cusp",
    hypotheses=three_modes,
    needs=FREE_ENERGY,
)
def cusp(problem: Equation, tools: Tools) -> Evidence:
    """Measure the third cumulant at the cusps of the fold curves, and the two sides of the curve there."""
    name = parameter_of(problem)
    assert name is not None
    value = float(problem.parameters[name])
    ends = sorted(factor * value for factor in RANGE)
    unit = problem.domain.dimension * problem.noise / float(problem.potential.scale(problem.domain))
    diagram = tools.diagram(problem, (WINDOW[0] * unit, WINDOW[1] * unit), 1)
    folds = [point for point in diagram.events("fold") if diagram.branches[point.branch].symmetry == 1]
    if not folds:
        raise Undecided("the branch of the first mode has no fold")
    curve = tools.curve(folds[0], name, (ends[0], ends[1]))
    cusps = [point for point in curve.special_points if point.type == "cusp"]
    if not cusps:
        return missing(f"no cusp on {curve.label} between {name} = {ends[0]:.6g} and {ends[1]:.6g}")
    return worst(item for point in cusps for item in _evidence(curve, point, problem))


def _evidence(curve: Curve, point: OrganisingPoint, problem: Equation) -> Iterator[Evidence]:
    assert point.problem is not None
    state = State(
        point.problem,
        point.cosine,
        point.sine,
        {},
        None,
        symmetry=1,
        residual=math.nan,
        modes=point.cosine.size - 1,
    )
    here = thermal(state)
    _, phi, missed = here.kernel()
    centred = phi - here.mean(phi)
    spread = math.sqrt(here.mean(centred**2))
    where = f"at the cusp at {point.parameters[0]} = {point.values[0]:.12g}"
    # The place of the cusp along the curve is known to the root of the error of its parameter.
    error = math.sqrt(PLACE)
    yield compare(here.mean(centred**3) / spread**3, 0.0, error, f"skewness of phi {where}")
    yield compare(missed, 0.0, PLACE, f"size of (1 - C sigma) u {where}")
    yield from _sides(curve, point, where)


def _sides(curve: Curve, point: OrganisingPoint, where: str) -> Iterator[Evidence]:
    """Yield the evidence that both sides of the curve begin alike, with opposite signs."""
    nearest = int(np.argmin(np.abs(curve.first - float(point.values[0]))))
    sides = [np.arange(nearest + step, nearest + step * (AROUND + 1), step) for step in (-1, 1)]
    if min(side.min() for side in sides) < 0 or max(side.max() for side in sides) >= len(curve):
        raise Undecided(f"the curve has fewer than {AROUND} points on one side {where}")
    fits = [_begins(curve.values[side] - point.values) for side in sides]
    (slope, slope_error, size, size_error), (other, other_error, opposite, opposite_error) = fits
    yield compare(slope, other, slope_error + other_error, f"slopes of the two sides {where}")
    yield compare(size, -opposite, size_error + opposite_error, f"coefficients of |p - p0|^(3/2) {where}")


def _begins(offsets: Floats) -> tuple[float, float, float, float]:
    """Return slope and coefficient of the power 3/2 of a side of the curve, each with its error.

    The second parameter over the first is a polynomial in the root of the first; errors are the changes if the last
    point is left out.
    """
    roots = np.sqrt(np.abs(offsets[:, 0]))
    quotients = offsets[:, 1] / offsets[:, 0] * np.sign(offsets[:, 0])
    found = []
    for count in (roots.size, roots.size - 1):
        powers = roots[:count, None] ** np.arange(count)
        inverse = np.linalg.inv(powers)
        noise = PLACE * np.abs(inverse) @ (1.0 / roots[:count] ** 2) + EPS
        found.append((inverse[:2] @ quotients[:count], noise[:2]))
    (full, noise), (fewer, _) = found
    errors = np.abs(full - fewer) + noise
    return float(full[0]), float(errors[0]), float(full[1]), float(errors[1])
