r"""The uniform state of a sphere: hypotheses on potentials, its thresholds, and repulsive potentials without any.

.. math:: \mu_l = -l(l+d-2)\,D\,(1 - \kappa/\kappa_l), \qquad \kappa_l = -N_l D/w_l ,

each :math:`N_l` times.
"""

from collections.abc import Iterator

import numpy as np

from meanfield import Equation, critical_coupling

from ..claims import Evidence, claim, compare, worst
from ..hypotheses import anywhere
from ..measures import EIGENVALUE, LOCATION, Floats, nothing_but_uniform, uniform_state
from ..tools import Tools
from .measures import HIGH, SIGNIFICANT_DEGREE, interval, multiplier, multipliers, numbers, unit_coupling

LEADING = 4


def attractive(problem: Equation) -> str | None:
    """Return the reason why a statement on clustered states does not apply, or None if it does."""
    reason = anywhere(problem)
    if reason is None and critical_coupling(problem) is None:
        reason = "no degree of the potential attracts"
    return reason


def repulsive(problem: Equation) -> str | None:
    """Return the reason why the potential is not purely repulsive, or None if it is."""
    reason = anywhere(problem)
    if reason is None and attractive(problem) is None:
        reason = "some degree attracts"
    return reason


def attracting_degrees(problem: Equation) -> list[int]:
    """Return the degrees of attractive multipliers, up to the last that is checked."""
    return [int(degree) for degree in np.flatnonzero(multipliers(problem, SIGNIFICANT_DEGREE) < 0)]


def significant_degrees(problem: Equation) -> list[int]:
    """Return the degrees of nonzero multipliers, up to the last that is checked."""
    return [int(degree) for degree in np.flatnonzero(multipliers(problem, SIGNIFICANT_DEGREE))]


@claim(
    "sphere.uniform",
    "critical couplings and growth rates of the uniform state",
    statement=(
        "The uniform state has the eigenvalues mu_l = -l(l+d-2) D (1 - kappa/kappa_l), N_l times each, "
        "kappa_l = -N_l D/w_l with w_l = N_l int W P_l dmu; its bifurcations are the kappa_l with a kernel of "
        "dimension N_l, none else."
    ),
    assumptions="no confinement",
    source="Funk-Hecke; Shalova, Schlichting (arXiv:2412.14813); w_l by quadrature of W",
    hypotheses=anywhere,
)
def uniform_linearisation(problem: Equation, tools: Tools) -> Evidence:
    """Compare branch points, unstable counts and spectra at uniform with quadrature of the potential."""
    diagram = tools.diagram(problem, interval(problem), 0)
    points = [event for event in diagram.events("branch point") if event.branch == 0]
    expected = list(_expected(problem))
    kernel = sum(event.kernel_dimension or 0 for event in points)
    total = sum(number for _, number, _ in expected)
    found = [compare(kernel, total, 0.0, "critical directions on the uniform branch")]
    for coupling, number, bound in expected:
        nearest = min(points, key=lambda point: abs(float(point.coupling) - coupling), default=None)
        measured = float(nearest.coupling) if nearest is not None else np.inf
        text = f"critical coupling of a kernel of {number:g} dimensions"
        found.append(compare(measured, coupling, bound, text))
    for factor in (0.7, 0.5 * (1 + HIGH)):
        found += _spectrum_at_uniform(problem.at(coupling=factor * unit_coupling(problem)), tools)
    return worst(found)


def _expected(problem: Equation) -> Iterator[tuple[float, float, float]]:
    """Yield kappa_l in the interval, N_l and the bound on kappa_l, by quadrature."""
    low, high = interval(problem)
    dimension = problem.domain.dimension
    for degree in attracting_degrees(problem):
        number = float(numbers(dimension, degree)[degree])
        # The closed form says which degrees to look at, with room for its own errors.
        if -float(multipliers(problem, degree)[degree]) * high < 0.5 * number * problem.noise:
            continue
        weight, error = multiplier(problem.potential, dimension, degree)
        coupling = -number * problem.noise / weight
        if low <= coupling <= high:
            yield coupling, number, coupling * (LOCATION + abs(error / weight))


def _spectrum_at_uniform(problem: Equation, tools: Tools) -> Iterator[Evidence]:
    spectrum = tools.spectrum(uniform_state(problem))
    dimension, ratio = problem.domain.dimension, problem.fixed_coupling / problem.noise
    for degree in range(1, LEADING + 1):
        weight, error = multiplier(problem.potential, dimension, degree)
        number = float(numbers(dimension, degree)[degree])
        size = problem.noise * degree * (degree + dimension - 2)
        rate = -size * (1 + ratio * weight / number)
        bound = size * (EIGENVALUE * (1 + abs(ratio * weight / number)) + ratio * error / number)
        for order in (0, 1):
            if order >= len(spectrum.sectors) or not spectrum.sectors[order].size:
                continue
            values = spectrum.sectors[order]
            if rate < values.min() - bound:
                continue
            text = f"growth rate of degree {degree} in order {order} at coupling {problem.fixed_coupling:.9g}"
            yield compare(_nearest(values, rate), rate, bound, text)
    counts = numbers(dimension, SIGNIFICANT_DEGREE)
    growing = -ratio * multipliers(problem, SIGNIFICANT_DEGREE) > counts
    text = f"unstable directions at coupling {problem.fixed_coupling:.9g}"
    yield compare(spectrum.unstable, float(counts[growing].sum()), 0.0, text)


def _nearest(values: Floats, target: float) -> float:
    return float(values[np.abs(values - target).argmin()])


@claim(
    "sphere.repulsive",
    "repulsion leaves the uniform state alone",
    statement="If all w_l >= 0, uniform is the only stationary state and is stable for every kappa > 0.",
    assumptions="no degree attracts",
    source="F is strictly convex",
    hypotheses=repulsive,
)
def only_uniform(problem: Equation, tools: Tools) -> Evidence:
    """Count branches, events, unstable directions and states besides uniform."""
    return worst(list(nothing_but_uniform(problem, tools, interval(problem), unit_coupling(problem))))
