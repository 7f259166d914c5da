"""The tasks: the clustered branch of the noisy transformer at beta = 5, and its whole diagram."""

from dataclasses import dataclass

import numpy as np

from meanfield import Circle, Diagram, McKeanVlasov, Transformer
from meanfield.theory import critical_coupling, critical_modes
from solvers import Arclength, bifurcation_diagram
from solvers.branches.continuation import End, Point, trace
from solvers.branches.detection import events_between
from solvers.branches.first_steps import first_point
from solvers.branches.following import follow
from solvers.branches.junctions import Departure
from solvers.branches.recording import Register, parts_of, record
from solvers.circle import CIRCLE
from solvers.equations.sizing import stationary_equation

PROBLEM = McKeanVlasov(Circle(), Transformer(5.0))
HIGHEST = 3.0
STEP = 0.05


@dataclass(frozen=True)
class Result:
    """Points computed without those of the uniform branch, and the fold found in critical couplings."""

    points: int
    fold: float


def departure(modes: int, symmetry: int = 1) -> Departure:
    """Return the departure of the branch of a symmetry; q is the coupling relative to its birth."""
    equation = stationary_equation(CIRCLE, PROBLEM, symmetry, modes=modes)
    assert equation is not None
    direction = (equation.basis.degrees == symmetry).astype(float)
    return Departure(equation, np.zeros_like(direction), 1.0, direction, 2)


def trace_branch(modes: int, max_step: float = STEP) -> Result:
    """Task A, the bare continuation: points and the fold, no stability."""
    return _traced(departure(modes), HIGHEST, max_step)


def trace_diagram(high: float) -> Result:
    """Task B, the bare continuation: all branches born on the uniform one, with their folds, no stability."""
    critical = critical_coupling(PROBLEM)
    assert critical is not None
    births = critical_modes(PROBLEM, 0.0, high * critical)
    traces = [
        _traced(departure(0, symmetry=birth.modes[0]), float(high * critical / birth.coupling), STEP)
        for birth in births
    ]
    return Result(sum(trace.points for trace in traces), traces[0].fold)


def _traced(start: Departure, highest: float, max_step: float) -> Result:
    first, _ = first_point(start, counted=False)
    assert first is not None
    last, count, fold = first, 1, np.nan
    for point in trace(first, Arclength(max_step=max_step), first.arclength):
        if isinstance(point, End):
            raise RuntimeError(f"the branch ended early: {point.outcome}")
        count += 1
        if last.solution.tangent_q * point.solution.tangent_q < 0.0:
            fold = _fold_between(last, point)
        if point.q > highest:
            break
        last = point
    return Result(count, fold)


def _fold_between(last: Point, point: Point) -> float:
    # One unstable direction before the fold and none after it, which nothing else has to explain.
    events = events_between(last, point, ((1, 0), (0, 0)))
    return next(event.point.q for event in events if event.kind == "fold")


def follow_branch(modes: int) -> Result:
    """Task A with the unstable directions at every point, every event, and the record made of it."""
    followed = follow(departure(modes), Arclength(max_step=STEP), HIGHEST)
    assert followed is not None
    critical = critical_coupling(PROBLEM)
    assert critical is not None
    register = Register((0.5 * critical, HIGHEST * critical), critical)
    for part in parts_of(followed, "1-cluster", register):
        record(part, 1, None, register)
    fold = next(event for event in register.special_points if event.type == "fold")
    return Result(register.branches[0].coupling.size, fold.relative_coupling or np.nan)


def whole_diagram(high: float) -> Result:
    """Task B (high = 5), the public call: every branch born on the uniform one, stability at every point."""
    method = Arclength(max_step=STEP)
    return _summary(bifurcation_diagram(PROBLEM, relative=(0.5, high), depth=1, method=method, rates=False))


def _summary(diagram: Diagram) -> Result:
    # The uniform branch is written down, not computed; its points would only flatter the averages.
    points = sum(branch.coupling.size for branch in diagram.branches if branch.label != "uniform")
    return Result(points, diagram.events("fold")[0].relative_coupling or np.nan)
