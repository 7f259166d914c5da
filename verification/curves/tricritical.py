r"""Tricritical points, where the first transition turns from continuous to discontinuous.

Near the threshold of mode n the branch is :math:`\kappa/\kappa_n = 1 + b_1 x + b_2 x^2`, and with
:math:`b_1 < 0 < b_2`

.. math:: 1 - \kappa_f/\kappa_n = \frac{b_1^2}{4 b_2}, \qquad 1 - \kappa_T/\kappa_n = \frac{3 b_1^2}{16 b_2}

at the fold and at equal free energy, to leading order in :math:`b_1(p)`. Both distances vanish quadratically where
:math:`b_1 = 0`, their roots linearly, and their ratio tends to 3/4.
"""

import numpy as np

from meanfield import Curve, Equation, critical_coupling
from meanfield.theory import tricritical_points

from ..claims import FREE_ENERGY, Evidence, Undecided, claim, compare, worst
from ..measures import LOCATION, Floats, first_critical
from ..tools import Tools
from .measures import first_event, first_order, parameter_of

# Range of the parameter in which a tricritical point is looked for, over its value.
RANGE = (0.25, 1.0)
# Distances of the parameters used from the tricritical one, over that of the problem or over the parameter.
DISTANCES = np.linspace(0.15, 0.6, 8)
FARTHEST = 0.15


def ends_tricritically(problem: Equation) -> str | None:
    """Return the reason why no tricritical point of the first mode is known below the parameter, or None."""
    reason = first_order(problem)
    if reason is not None:
        return reason
    return None if _places(problem) else "no tricritical point of the first mode is near its parameter"


def _places(problem: Equation) -> list[float]:
    """Return the tricritical values of the last parameter of the potential near its own, ascending."""
    name = parameter_of(problem)
    assert name is not None
    value = float(problem.parameters[name])
    ends = sorted(factor * value for factor in RANGE)
    return [
        point.value
        for point in tricritical_points(problem, name, (ends[0], ends[1]), first_critical(problem).modes)
    ]


@claim(
    "curves.tricritical",
    "fold curve and first-order line begin at the tricritical point",
    statement=(
        "The fold curve and the first-order line of the first mode end on its threshold where b1(p) = 0, "
        "tangentially: the square roots of 1 - kappa_f/kappa_n and 1 - kappa_T/kappa_n vanish linearly there."
    ),
    assumptions="the first transition is of first order, and b1 changes its sign at a smaller parameter",
    source="normal form r x + b1 x^3 + b2 x^5; for the transformer beta*_n in closed form",
    hypotheses=ends_tricritically,
    needs=FREE_ENERGY,
)
def tricritical(problem: Equation, tools: Tools) -> Evidence:
    """Extrapolate the distances of both curves from the threshold to zero, and compare with b1 = 0."""
    place = _places(problem)[-1]
    found = []
    for kind in ("fold", "transition"):
        parameters, distances, errors = _distances(problem, place, kind, tools)
        roots = np.sqrt(distances)
        measured, error = _value_at(0.0, roots, parameters, errors / (2 * roots))
        found.append(compare(measured, place, error, f"where the {kind} curve meets the threshold"))
    return worst(found)


@claim(
    "curves.three-quarters",
    "first-order lines leave tricritical points at 3/4 of the folds' distance",
    statement="(kappa_n - kappa_T)/(kappa_n - kappa_f) -> 3/4 at a tricritical point.",
    assumptions="as above; b2 > 0",
    source="Landau's normal form: b1^2/(4 b2) at the fold, 3 b1^2/(16 b2) at equal free energy",
    hypotheses=ends_tricritically,
    needs=FREE_ENERGY,
)
def three_quarters(problem: Equation, tools: Tools) -> Evidence:
    """Extrapolate the ratio of the two distances to the tricritical point."""
    place = _places(problem)[-1]
    parameters, folds, fold_errors = _distances(problem, place, "fold", tools)
    _, lines, line_errors = _distances(problem, place, "transition", tools)
    noise = (fold_errors + line_errors) / folds
    measured, error = _value_at(place, parameters, lines / folds, noise)
    return compare(measured, 0.75, error, "ratio at the tricritical point")


def _distances(problem: Equation, place: float, kind: str, tools: Tools) -> tuple[Floats, Floats, Floats]:
    """Return parameters near a tricritical point, 1 - kappa/kappa_n of a curve there, and the errors of these."""
    name = parameter_of(problem)
    assert name is not None
    value = float(problem.parameters[name])
    reach = min(abs(value - place), FARTHEST * abs(place)) * np.sign(value - place)
    parameters = place + DISTANCES * reach
    start = first_event(problem.with_parameter(name, float(parameters[-1])), kind, tools)
    found = []
    for parameter in parameters:
        ends = sorted((float(parameter), float(parameters[-1])))
        curve = tools.curve(start, name, (ends[0], ends[1])) if ends[0] < ends[1] else None
        coupling = float(start.coupling) if curve is None else _coupling_at(curve, float(parameter))
        critical = critical_coupling(problem.with_parameter(name, float(parameter)))
        assert critical is not None
        found.append(1.0 - coupling / float(critical))
    distances = np.array(found)
    if np.any(distances <= 0.0):
        raise Undecided(f"the {kind} curve is not below the threshold beside {name} = {place:.9g}")
    return parameters, distances, np.full(distances.size, 4 * LOCATION)


def _coupling_at(curve: Curve, parameter: float) -> float:
    """Return the coupling of a curve at a parameter that is one of its ends."""
    nearest = int(np.argmin(np.abs(curve.first - parameter)))
    if not np.isclose(curve.first[nearest], parameter, rtol=1e-12, atol=0.0):
        raise Undecided(f"{curve.label} does not reach {curve.parameters[0]} = {parameter:.9g}: {curve.outcome}")
    return float(curve.second[nearest])


def _value_at(place: float, x: Floats, y: Floats, noise: Floats) -> tuple[float, float]:
    """Return the value at a place of the polynomial through points, and its error.

    That is its change if the farthest point is left out, and what errors of the values do to it.
    """
    order = np.argsort(np.abs(x - place))
    x, y, noise = x[order], y[order], noise[order]
    found = []
    for count in (x.size, x.size - 1):
        scaled = (x[:count] - place) / np.abs(x[:count] - place).max()
        weights = np.linalg.solve(np.vander(scaled, increasing=True).T, np.eye(count)[0])
        found.append((float(weights @ y[:count]), float(np.abs(weights) @ noise[:count])))
    (full, error), (fewer, _) = found
    return full, abs(full - fewer) + error
