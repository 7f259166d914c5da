"""Accuracies of the solvers, and measurements on diagrams and sequences for all domains."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from meanfield import CriticalPoint, Diagram, Equation, Number, State, critical_coupling, critical_modes

from .claims import Evidence, Undecided, compare
from .tools import Tools

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
EPS = float(np.finfo(float).eps)

# What the solvers promise: residual along branches, relative error of located couplings, error of moments
# and of energy gaps, relative error of eigenvalues.
RESIDUAL = 1e-12
LOCATION = 1e-12
MOMENT = 1e-11
EIGENVALUE = 1e-8


def unit_coupling(problem: Equation) -> float:
    """Return the least positive critical coupling without confinement, or d D / max |w_k| if no mode attracts."""
    critical = critical_coupling(problem.replace(confinement=None))
    if critical is not None:
        return float(critical)
    return problem.domain.dimension * problem.noise / float(problem.potential.scale(problem.domain))


def first_critical(problem: Equation) -> CriticalPoint:
    """Return the first bifurcation of the uniform state."""
    return critical_modes(problem, 0.0, unit_coupling(problem) * (1 + 1e-9))[0]


def uniform_state(problem: Equation) -> State:
    """Return the uniform state of a problem with a coupling."""
    return State(
        problem=problem,
        cosine=np.array([1.0, *np.zeros(16)]),
        sine=np.zeros(17),
        observables={},
        unstable=None,
        symmetry=0,
        residual=0.0,
        modes=16,
        label="uniform",
    )


def spaced(count: int, most: int) -> list[int]:
    """Return at most ``most`` indices spread evenly over ``range(count)``."""
    return sorted({int(i) for i in np.linspace(0, count - 1, min(count, most))}) if count else []


def clustered_states(diagram: Diagram, most: int = 5) -> Iterator[State]:
    """Yield a few states of every branch except the uniform one."""
    for index, branch in enumerate(diagram.branches):
        if branch.symmetry == 0:
            continue
        for point in spaced(len(branch), most):
            yield diagram.state(index, point)


def nothing_but_uniform(
    problem: Equation, tools: Tools, interval: tuple[float, float], unit: Number
) -> Iterator[Evidence]:
    """Yield the evidence that there are no branches, events, unstable directions and states besides uniform."""
    diagram = tools.diagram(problem, interval)
    events = [point for point in diagram.special_points if point.type != "endpoint"]
    yield compare(len(diagram.branches), 1.0, 0.0, "branches of the diagram")
    yield compare(len(events), 0.0, 0.0, "special points of the diagram")
    yield compare(int(diagram.branches[0].unstable.max()), 0.0, 0.0, "unstable directions of uniform")
    for factor in (1.0, 5.0):
        states = tools.states(problem.at(coupling=factor * unit))
        yield compare(len(states), 1.0, 0.0, f"states at {factor} times the unit coupling")


def polynomial_at_zero(x: Floats, y: Floats, noise: Floats, coefficient: int) -> tuple[float, float]:
    """Return a Taylor coefficient at 0 of the function through the points, and an error estimate.

    Interpolation polynomials through more and more points, nearest first, give a sequence of estimates. Where
    the last two differences at least halve, the tail of a geometric sequence is below the last one; the larger
    of the two is taken, since one may be small by chance. The noise is propagated exactly.
    Of all such places in the sequence the one with the smallest error is returned.

    Raises
    ------
    Undecided
        If there are too few points or the sequence does not converge.
    """
    if x.size < coefficient + 4:
        raise Undecided(f"only {x.size} points near the bifurcation, too few to extrapolate")
    counts = range(coefficient + 2, x.size + 1)
    sequence = [_coefficient(x[:count], y[:count], noise[:count], coefficient) for count in counts]
    values = np.array([value for value, _ in sequence])
    differences = np.abs(np.diff(values))
    candidates = []
    for last in range(1, differences.size):
        amplified = sequence[last + 1][1]
        if differences[last] <= max(0.5 * differences[last - 1], amplified):
            error = max(differences[last], differences[last - 1]) + amplified
            candidates.append((float(error), float(values[last + 1])))
    if not candidates:
        raise Undecided("the points are too far apart for the extrapolation to converge")
    error, value = min(candidates)
    return value, error


def _coefficient(x: Floats, y: Floats, noise: Floats, number: int) -> tuple[float, float]:
    scale = float(np.abs(x).max())
    row = np.linalg.inv(np.vander(x / scale, increasing=True))[number] / scale**number
    return float(row @ y), float(np.abs(row) @ noise)
