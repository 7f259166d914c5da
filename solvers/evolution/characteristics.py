"""Evolution without noise along characteristics: points with mass, at more of them where the flow parts."""

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from meanfield import ComputationFailed, Equation, InvalidInput, NotResolved, Outcome, Potential
from meanfield.arguments import checked
from meanfield.equations import Capability

from ..bases import EPS, Floats
from .accuracy import FACTOR, compared
from .direct import RECORDED, MomentPath, Progress, cut_short, relative_errors, require_direct, unresolved_from
from .flow import MOST_DEGREES, Flow, field_degree
from .panels import Panels, first_panels
from .plan import Plan
from .reduced import SHARPEST

# Errors of single steps as a share of the tolerance, divided by the degree that multiplies errors of positions.
STEP_SHARE = 0.1
# More labels than so many are not followed.
MOST_LABELS = 2**17
# Panels are not halved more often: their labels would no longer differ.
DEEPEST = 50
# Steps between two attempts to join panels, so that none is joined and halved without end.
BETWEEN_JOINS = 8
# The second run, by which errors are estimated, has this share of the tolerance.
FINER = 0.1


@checked
@dataclass(frozen=True)
class Characteristics:
    """Characteristics of an equation without noise, for densities with one angle.

    Labels on Gauss panels carry the mass of the first density. Their positions are integrated by a Runge-Kutta
    method of order eight, the field being that of their moments, and panels are halved where the flow stretches
    them, as about the point from which all mass flows away. The moments are known far beyond the collapse of a
    density.
    """

    @property
    def name(self) -> str:
        """Name of the method."""
        return "characteristics by DOP853"

    def follow(self, request: Plan, progress: Progress | None) -> MomentPath:
        """Return the moments at the times of a plan.

        Raises
        ------
        InvalidInput
            If there is noise, the density has no axis, or the potential has too many significant degrees.
        NotResolved
            If the flow parts in too many places before the first of the times.
        """
        times = require_direct(request, type(self).__name__)
        flow, degree = _flow(request), _recorded(request)
        run = Run(flow, degree, request.tolerance, times, progress)
        failure: NotResolved | KeyboardInterrupt | None
        accuracy: float | None = None
        unknown: tuple[str, ...] = ()
        try:
            failure = run.to_end()
            if failure is None:
                accuracy, unknown = _accuracy(run, Run(flow, degree, FINER * request.tolerance, times, None))
        except KeyboardInterrupt as error:
            failure = error
        frames = run.frames
        if failure is not None and not frames:
            raise failure
        cosine, sine = (np.array([getattr(frame, name) for frame in frames]) for name in ("cosine", "sine"))
        reached = times[: len(frames)]
        return MomentPath(
            time=reached,
            cosine=cosine,
            sine=sine,
            minimum=np.array([frame.minimum for frame in frames]),
            observables={},
            accuracy=None if accuracy is None else max(accuracy, request.tolerance),
            steps=run.steps,
            evaluations=run.evaluations,
            outcome=_outcome(failure),
            warnings=(
                *cut_short(failure, float(reached[-1]), request.until),
                *unknown,
                *unresolved_from(reached, cosine, sine, request.tolerance),
            ),
        )


def _outcome(failure: BaseException | None) -> Outcome:
    if isinstance(failure, KeyboardInterrupt):
        return Outcome.INTERRUPTED
    return Outcome.UNEXAMINED if failure is None else Outcome.NOT_RESOLVED


def _rough(problem: Equation) -> Potential:
    """Return the confinement if the field of the interaction alone has few degrees, else the potential."""
    confinement = problem.confinement
    alone = confinement is None or field_degree(problem.replace(confinement=None)) > MOST_DEGREES
    return problem.potential if alone or confinement is None else confinement


def _flow(request: Plan) -> Flow:
    """Return the flow of a density, its field summed over the degrees that count."""
    problem = request.problem
    if lacking := problem.lacks(Capability.GRADIENT):
        other = (
            "leave the method out, or take particles (simulate)"
            if request.space.harmonic(problem, request.start) is None
            else "take method=WatanabeStrogatz() (--method watanabe-strogatz)"
        )
        raise InvalidInput(
            f"Characteristics() follow densities in the gradient law of a pair potential, and {lacking}; {other}"
        )
    degree = field_degree(problem)
    if degree > MOST_DEGREES:
        raise InvalidInput(
            f"Characteristics() sums velocities over at most {MOST_DEGREES} degrees, and {_rough(problem)!r} has "
            f"more than that; take a smooth potential, or leave the method out"
        )
    flow = request.space.flow(problem, request.start, degree, request.full)
    if flow is None:
        raise InvalidInput(
            "Characteristics() follow densities on the circle and densities about an axis on spheres; for others "
            "leave the method out, or take particles (simulate)"
        )
    return flow


def _recorded(request: Plan) -> int:
    return max(RECORDED, request.degree)


@dataclass(frozen=True, eq=False)
class Frame:
    """Moments and the smallest value of a density at one time."""

    cosine: Floats
    sine: Floats
    minimum: float


@dataclass(eq=False)
class Run:
    """One run of characteristics, which keeps the frames at the times.

    Attributes
    ----------
    flow
        The flow of the points.
    degree : int
        Largest degree of the moments.
    tolerance : float
        Error of the moments, asked for.
    times : (T,) float
        Times to record.
    watch
        Called with the time reached; may be None.
    """

    flow: Flow
    degree: int
    tolerance: float
    times: Floats
    watch: Progress | None
    frames: list[Frame] = field(default_factory=list)
    steps: int = 0
    evaluations: int = 0

    def to_end(self) -> NotResolved | None:
        """Follow the points to the last time, and return why they cannot be followed so far, or None."""
        time, panels, step, joined = 0.0, first_panels(self.flow, self._cells), None, 0
        while len(self.frames) < self.times.size:
            solver = self._solver(time, panels, step)
            reached = self._advance(solver, panels, time)
            time, panels, unresolved, step = reached
            if unresolved is None:
                continue
            panels = panels.halved(unresolved)
            if self.steps >= joined + BETWEEN_JOINS:
                panels, joined = panels.joined(self._cells, self.tolerance), self.steps
            if panels.masses.size > MOST_LABELS or panels.levels.max() > DEEPEST:
                why = "labels that no longer differ"
                if panels.masses.size > MOST_LABELS:
                    why = f"in more places than {MOST_LABELS} labels follow"
                return NotResolved(
                    f"from time {time:.6g} on the flow parts {why}; give a larger tolerance or an earlier final "
                    "time"
                )
        return None

    @property
    def _cells(self) -> int:
        return -(-self.degree // self.flow.symmetry)

    def _solver(self, time: float, panels: Panels, step: float | None) -> Any:
        from scipy.integrate import DOP853

        masses = panels.masses.ravel()
        end = max(float(self.times[-1]), EPS)

        def velocity(now: float, positions: Floats) -> Floats:
            return self.flow.velocity(positions, masses)

        local = STEP_SHARE * self.tolerance / self._cells
        first = None if step is None else min(step, end - time)
        return DOP853(
            velocity,
            time,
            panels.positions.ravel(),
            end,
            rtol=SHARPEST,
            atol=max(local, SHARPEST),
            first_step=first,
        )

    def _advance(self, solver: Any, panels: Panels, time: float) -> Any:
        """Make steps until labels are needed or all times are recorded, keeping the frames on the way.

        Returns the time and panels of the last step that was resolved, which panels are not afterwards, or None,
        and the last step.
        """
        self._record(panels, time, None)
        while len(self.frames) < self.times.size:
            solver.step()
            self.steps += 1
            if solver.status == "failed":
                raise ComputationFailed(f"characteristics cannot be followed beyond time {solver.t:.6g}")
            ahead = panels.moved(solver.y)
            unresolved = ahead.unresolved(self._cells, self.tolerance)
            if unresolved.any():
                self.evaluations += solver.nfev
                return time, panels, unresolved, solver.t - solver.t_old
            self._record(panels, solver.t, solver)
            panels, time = ahead, float(solver.t)
            if self.watch is not None:
                self.watch(time)
        self.evaluations += solver.nfev
        return time, panels, None, None

    def _record(self, panels: Panels, until: float, solver: Any) -> None:
        """Keep the frames at the times up to one that was reached."""
        between = None
        while len(self.frames) < self.times.size and self.times[len(self.frames)] <= until:
            now = panels
            if solver is not None:
                between = solver.dense_output() if between is None else between
                now = panels.moved(between(self.times[len(self.frames)]))
            moments = self.flow.moments(now.positions.ravel(), now.masses.ravel(), self.degree)
            self.frames.append(Frame(*moments, now.lowest(self.tolerance)))


def _accuracy(run: Run, other: Run) -> tuple[float | None, tuple[str, ...]]:
    """Return the error of the moments relative to the largest by a finer run, or None and why it is not known."""
    chosen = compared(run.times.size)
    other = replace(other, times=run.times[chosen])
    failure = other.to_end()
    if failure is not None:
        return None, (f"the accuracy reached is not known: in the second run that tells it, {failure}",)
    pairs = [(run.frames[place], fine) for place, fine in zip(chosen, other.frames, strict=True)]
    apart = [np.hypot(one.cosine - fine.cosine, one.sine - fine.sine).max() for one, fine in pairs]
    sizes = [np.hypot(fine.cosine, fine.sine)[1:].max() for _, fine in pairs]
    return relative_errors(other.times, FACTOR * np.array(apart), np.maximum(sizes, run.degree * EPS))
