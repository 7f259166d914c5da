"""Whether a state has one name, whichever way it is found, and the states of an answer have different ones.

A diagram to some coupling names the states there after their branches. The states at this coupling are asked for with
fewer generations of branches, so that many of them are met by the search.
"""

import re
from typing import Any

import numpy as np

from meanfield import (
    Circle,
    CosineSeries,
    GegenbauerSeries,
    McKeanVlasov,
    MeanfieldError,
    Sphere,
    critical_coupling,
)
from solvers import bifurcation_diagram, stationary_states
from solvers.branches.labels import unnumbered
from tests import brute_force
from tests.campaigns import Finding, Subject, Verdict

# Lengths of moments and energies of one state that is found twice agree to this.
SAME = 1e-7
# Degrees whose moments are compared.
COMPARED = range(1, 9)


def on_circle(generator: np.random.Generator) -> Finding:
    """Compare the names for a random series of up to four modes, with a field in one of three trials."""
    weights = _weights(generator, int(generator.integers(1, 5)))
    field = _rounded(generator.uniform(-0.5, 0.5, 2)) if generator.uniform() < 1.0 / 3.0 else ()
    return _judged(Circle(), CosineSeries(weights), CosineSeries(field) if field else None, generator)


def on_sphere(generator: np.random.Generator) -> Finding:
    """Compare the names for a random series of up to four degrees on S^2."""
    return _judged(Sphere(3), GegenbauerSeries(_weights(generator, int(generator.integers(1, 5)))), None, generator)


def in_more_dimensions(generator: np.random.Generator) -> Finding:
    """Compare the names for a random series of up to five degrees on a sphere of dimension 4 to 8."""
    dimension = int(generator.integers(4, 9))
    weights = _weights(generator, int(generator.integers(1, 6)))
    # Critical couplings of all degrees are of one order.
    numbers = [brute_force.multiplicity(dimension, degree) for degree in range(1, len(weights) + 1)]
    series = GegenbauerSeries(_rounded(np.array(weights) * numbers), dimension=dimension)
    return _judged(Sphere(dimension), series, None, generator)


def base(label: str) -> str:
    """Return a name without where it is from and without the number that tells it from others."""
    return unnumbered(re.split(r",| from ", label)[0])


def compared_names(diagram: Any, states: Any) -> tuple[int, list[str]]:
    """Return how many states at the upper end of a diagram are in an answer there, and those named otherwise."""
    compared, found = 0, []
    for index, branch in enumerate(diagram.branches):
        if not np.isclose(branch.coupling[-1], diagram.interval[1], rtol=1e-12):
            continue
        end = diagram.state(index, -1)
        names = {base(state.label) for state in states if _same(end, state)}
        compared += bool(names)
        if names and base(branch.label) not in names:
            found.append(f"{branch.label!r} of the diagram is called {sorted(names)}")
    return compared, found


def _weights(generator: np.random.Generator, count: int) -> tuple[float, ...]:
    weights = generator.uniform(-1.3, 1.0, count)
    if weights.min() > -0.1:
        weights[generator.integers(count)] = -1.0
    return _rounded(weights)


def _rounded(values: Any) -> tuple[float, ...]:
    return tuple(float(f"{value:.4g}") for value in values)


def _judged(domain: Any, potential: Any, field: Any, generator: np.random.Generator) -> Finding:
    problem = McKeanVlasov(domain, potential, confinement=field)
    critical = float(critical_coupling(McKeanVlasov(domain, potential)) or 1.0)
    coupling = float(f"{generator.uniform(1.1, 2.5) * critical:.6g}")
    depth, known, search = int(generator.integers(1, 4)), int(generator.integers(1, 4)), bool(generator.integers(2))
    call = f"{problem!r}, coupling {coupling}, depths {depth} and {known}, search={search}"
    try:
        diagram = bifurcation_diagram(problem, (0.5 * coupling, coupling), depth=depth, search=search, rates=False)
        states = stationary_states(problem.at(coupling=coupling), depth=known, rates=False)
    except MeanfieldError as error:
        return Finding(Verdict.REFUSED, call, str(error))
    _, wrong = compared_names(diagram, states)
    for labels in ([branch.label for branch in diagram.branches], [state.label for state in states]):
        wrong += [f"{label!r} is there more than once" for label in {*labels} if labels.count(label) > 1]
    return Finding(Verdict.SILENT if wrong else Verdict.RIGHT, call, "; ".join(wrong))


def _same(one: Any, other: Any) -> bool:
    lengths = [abs(one.order_parameter(degree) - other.order_parameter(degree)) for degree in COMPARED]
    return max(*lengths, abs(one.free_energy_gap - other.free_energy_gap)) < SAME


SUBJECTS: dict[str, Subject] = {
    "names-circle": on_circle,
    "names-sphere": on_sphere,
    "names-dimensions": in_more_dimensions,
}
