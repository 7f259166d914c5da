"""The protocol of methods that give the moments at all times at once, and what they give."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Protocol, runtime_checkable

import numpy as np

from meanfield import InvalidInput, Outcome
from meanfield.records import FlowMap

from ..bases import Floats
from .accuracy import LINEAR
from .plan import Plan

Progress = Callable[[float], None]

# Moments that are recorded where a method may give any number of them.
RECORDED = 128


@dataclass(frozen=True, eq=False)
class MomentPath:
    """The moments of an evolving density at the recorded times.

    Attributes
    ----------
    time : (T,) float
        The times.
    cosine, sine : (T, n + 1) float
        Moments, in the space of the plan.
    minimum : (T,) float
        Smallest value of the density.
    observables : mapping of str to (T,) float
        Further numbers by name.
    accuracy : float or None
        Largest error of a moment relative to the largest, an estimate; None if it is not known.
    steps, evaluations : int
        Counters.
    outcome
        How it ended.
    warnings : tuple of str
        What a reader must know.
    flow_map : FlowMap or None
        Labelled points at some of the times, if the method follows any.
    """

    time: Floats
    cosine: Floats
    sine: Floats
    minimum: Floats
    observables: Mapping[str, Floats]
    accuracy: float | None
    steps: int
    evaluations: int
    outcome: Outcome = Outcome.UNEXAMINED
    warnings: tuple[str, ...] = field(default=())
    flow_map: FlowMap | None = None


@runtime_checkable
class DirectMethod(Protocol):
    """A method that gives the moments of a density without noise at all times, a frozen dataclass.

    Attributes
    ----------
    name : str
        Name of the method in words, with its options.
    """

    @property
    def name(self) -> str:
        """Name of the method in words, with its options."""

    def follow(self, request: Plan, progress: Progress | None) -> MomentPath:
        """Return the moments at the times of a plan.

        Raises
        ------
        InvalidInput
            If the method does not apply to the problem.
        """


def require_direct(request: Plan, name: str) -> Floats:
    """Return the times to record, refusing noise and checkpoints."""
    if request.problem.noise > 0.0:
        raise InvalidInput(
            f"{name}() follows densities without noise, and the noise is {request.problem.noise:g}; give noise=0 "
            "(--noise 0) or leave the method out"
        )
    if request.checkpoint is not None:
        raise InvalidInput(f"{name}() takes seconds and has no checkpoints; leave out the checkpoint")
    # Only evolutions that end at rest have no times, which need noise.
    assert request.times is not None
    return request.times


def cut_short(failure: BaseException | None, reached: float, until: float) -> Iterator[str]:
    """Yield the warning that a trajectory ends early, if something failed or interrupted it."""
    if failure is not None:
        said = str(failure) or "interrupted"
        yield f"only part of the time asked for, up to {reached:.6g} of {until:.6g}: {said}"


def relative_errors(time: Floats, differences: Floats, sizes: Floats) -> tuple[float | None, tuple[str, ...]]:
    """Return the accuracy of moments and the warning where it is not known.

    Parameters
    ----------
    time, differences, sizes : (T,) float
        Times, the largest errors of moments then, and the largest moments.
    """
    shares = np.divide(differences, sizes, out=np.where(differences > 0.0, np.inf, 0.0), where=sizes > 0.0)
    lost = np.flatnonzero(~(shares <= LINEAR))
    if not lost.size:
        return float(shares.max()), ()
    return None, (
        f"from time {time[lost[0]]:.6g} on the moments are as small as their errors, of about "
        f"{differences.max():.1e}; an evolution that ends before has a known accuracy",
    )


def unresolved_from(time: Floats, cosine: Floats, sine: Floats, tolerance: float) -> tuple[str, ...]:
    """Return the warning that moments are exact, and too few for the density from a time on; else nothing."""
    sizes = np.hypot(cosine, sine)
    degree = sizes.shape[1] - 1
    late = np.flatnonzero(sizes[:, -(degree // 8) :].max(axis=1) > tolerance)
    if not late.size:
        return ()
    return (
        f"from time {time[late[0]]:.6g} on the density is narrower than {degree} moments resolve: these moments "
        "are right, but densities and pictures made of them ring",
    )
