"""The solvers to be checked, as exchangeable functions."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

from meanfield import (
    Comparison,
    Contraction,
    Curve,
    Diagram,
    Ensemble,
    Equation,
    InvalidInput,
    Relaxation,
    Spectrum,
    State,
    Trajectory,
)
from meanfield.arguments import checked
from meanfield.base import same

Answer = TypeVar("Answer")


def _diagram(problem: Equation, interval: tuple[float, float], depth: int = 2) -> Diagram:
    from solvers import bifurcation_diagram

    return bifurcation_diagram(problem, interval, depth=depth, rates=False)


def _curve(start: Any, parameter: str, interval: tuple[float, float]) -> Curve:
    from solvers import curve

    found: Curve = curve(start, parameter, interval)
    return found


def _states(problem: Equation) -> tuple[State, ...]:
    from solvers import stationary_states

    return stationary_states(problem)


def _spectrum(state: State) -> Spectrum:
    from solvers import spectrum

    return spectrum(state)


def _evolve(problem: Equation, initial: Any, until: float, **options: Any) -> Trajectory:
    from solvers import evolve

    return evolve(problem, initial, until, **options)


def _relaxation(problem: Equation) -> Relaxation:
    from solvers import contraction_rate

    found = contraction_rate(problem)
    if not isinstance(found, Relaxation):
        raise InvalidInput("without noise densities contract to a point and relax to no state; give noise > 0")
    return found


def _contraction(problem: Equation, initial: Any = None) -> Contraction:
    from solvers import contraction_rate

    found = contraction_rate(problem, initial=initial)
    if not isinstance(found, Contraction):
        raise InvalidInput("with noise densities relax to a state and contract to no point; give noise=0")
    return found


def _simulate(problem: Equation, particles: int, until: float, seed: int, **options: Any) -> Ensemble:
    from solvers import simulate

    return simulate(problem, particles, until, seed, **options)


def _distance(name: str, one: Any, other: Any) -> float:
    from meanfield import transport

    distances: dict[str, Callable[[Any, Any], float]] = {
        "L2": transport.l2_distance,
        "W1": transport.wasserstein1,
        "W2": transport.wasserstein2,
        "relative entropy": transport.relative_entropy,
    }
    return distances[name](one, other)


def _compare(problem: Equation, initial: Any, until: float, **options: Any) -> Comparison:
    from .comparison import compare

    return compare(problem, initial, until, **options)


@checked
@dataclass(frozen=True)
class Tools:
    """The functions that a check may call; tests pass wrong ones to see claims fail.

    Attributes
    ----------
    diagram
        Diagram of a problem over an interval of couplings, of two generations of branches or of another number.
    curve
        Curve of special points through one of them in a parameter over an interval.
    states
        All stationary states at the coupling of a problem.
    spectrum
        Spectrum of the linearisation at a state.
    evolve
        Trajectory of a density, with the arguments of :func:`solvers.evolve`.
    relaxation
        Contraction rate at the stable state of a problem.
    contraction
        Contraction of a density to a point without noise.
    simulate
        Particles, with the arguments of :func:`solvers.simulate`.
    compare
        Particles beside the equation, with the arguments of :func:`verification.compare`.
    distance
        Distance of two measures on the circle, ``L2``, ``W1``, ``W2`` or ``relative entropy``.
    """

    diagram: Callable[..., Diagram] = field(default=_diagram)
    curve: Callable[..., Curve] = field(default=_curve)
    states: Callable[[Equation], tuple[State, ...]] = field(default=_states)
    spectrum: Callable[[State], Spectrum] = field(default=_spectrum)
    evolve: Callable[..., Trajectory] = field(default=_evolve)
    relaxation: Callable[[Equation], Relaxation] = field(default=_relaxation)
    contraction: Callable[..., Contraction] = field(default=_contraction)
    simulate: Callable[..., Ensemble] = field(default=_simulate)
    compare: Callable[..., Comparison] = field(default=_compare)
    distance: Callable[[str, Any, Any], float] = field(default=_distance)

    def remembering(self) -> "Tools":
        """Return the tools with cached results, except of spectra, which are cheaper than a look-up."""
        costly = ("diagram", "curve", "states", "evolve", "relaxation", "contraction", "simulate", "compare")
        return replace(self, **{name: _remembered(getattr(self, name)) for name in costly})


def _remembered(function: Callable[..., Answer]) -> Callable[..., Answer]:
    answers: list[tuple[Any, Answer]] = []

    def remembered(*arguments: Any, **options: Any) -> Answer:
        asked = (arguments, options)
        for earlier, answer in answers:
            if same(earlier, asked):
                return answer
        answers.append((asked, function(*arguments, **options)))
        return answers[-1][1]

    return remembered
