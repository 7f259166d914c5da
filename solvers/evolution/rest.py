r"""Rest of densities, judged by the stationary states near them, never by a small rate of change alone.

Clusters that exchange mass over a gap, and densities close to a critical coupling, change at tiny rates far from
where they will end. So the stationary states near the density are found, the uniform one and those of Newton's
method, and the nearest counts, with its distance d and the slowest rate :math:`\gamma` of its linearisation. If it
is stable, the density has settled once d is below the tolerance. If it is unstable, however small the rate of
change, the density rests only for a time of the order of :math:`1/|\gamma|` times the logarithm of the share of the
unstable directions in d: it is metastable.

Near a branch point a stable and an unstable state are close together, at a distance s that falls with the distance
from the critical coupling. A density is near one of them only if d is small beside s, and they cannot be separated
once both are within the tolerance.
"""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from meanfield import ComputationFailed, Equation, Outcome, State

from ..bases import EPS, Floats
from ..branches.continuation import Point, state_at
from ..branches.junctions import from_no_interaction
from ..branches.recording import state_of
from ..branches.uniform import uniform_state
from ..equations.geometry import Geometry
from ..equations.sizing import stationary_equation

# A state further away than this is not near.
NEAR = 0.05
# Distance, relative to the density, within which an unstable state holds a density back.
HELD = 0.01
# The same as a share of the distance of that state from a stable one.
HELD_SHARE = 0.3
# A state whose moments are smaller than this is the uniform one.
UNIFORM = 1e-12
# Errors of the equation at a state relative to its moments: some sums of rounding errors.
ROUNDING = 64.0 * EPS
# Relative rates of change, over the noise, beyond which a density is not at rest and no state is looked for.
MOVING = 0.05

Symmetries = Callable[[Floats], list[int]]


@dataclass(frozen=True)
class Rest:
    """The stationary state nearest to a density.

    Attributes
    ----------
    state
        The state, aligned with the density where rotation is free.
    distance : float
        Root of the sum of all squared differences of moments, rotation excluded.
    rate : float or None
        Slowest decay rate at the state; None if its sign is lost in rounding or it is unaffordable.
    separation : float
        Distance of the state from the nearest one found of opposite stability; infinite if none was found.
    """

    state: State
    distance: float
    rate: float | None
    separation: float = math.inf

    def outcome(self, tolerance: float) -> Outcome:
        """Return the outcome for the density: stationary, metastable, undecided or not at rest."""
        unstable, known = self.state.unstable, max(tolerance, self.rounding)
        if self.distance <= known and self.separation <= known:
            return Outcome.UNDECIDED
        if unstable == 0 and self.distance <= known:
            return Outcome.STATIONARY
        if unstable and self.distance <= min(HELD, HELD_SHARE * self.separation):
            return Outcome.METASTABLE
        return Outcome.REACHED_TIME

    def time_needed(self, tolerance: float) -> float:
        """Return the time in which the slowest rate reduces the distance to the tolerance; 0 if not known."""
        orders = abs(math.log(max(self.distance, EPS) / max(tolerance, self.rounding)))
        return orders / abs(self.rate) if self.rate else 0.0

    @property
    def rounding(self) -> float:
        """Error of the state itself: that of the equation over the slowest rate.

        The uniform density is stationary to the last digit, so that these errors are relative to the moments.
        """
        if not self.rate:
            return 0.0
        size = math.hypot(*(np.linalg.norm(moments[1:]) for moments in (self.state.cosine, self.state.sine)))
        return ROUNDING * size * self.state.problem.noise / abs(self.rate)


def relative_change(problem: Equation, unknown: Floats, derivative: Floats) -> float:
    """Return the norm of the time derivative over the noise and the norm of the density with its mass."""
    return float(np.linalg.norm(derivative)) / (problem.noise * math.hypot(1.0, float(np.linalg.norm(unknown))))


def state_near(
    problem: Equation, cosine: Floats, sine: Floats, symmetries: Symmetries, geometry: Geometry
) -> Rest | None:
    """Return the stationary state nearest to a density, or None if no state is found near it.

    Parameters
    ----------
    cosine, sine : (n + 1,) float
        Moments by degree.
    symmetries
        Returns the symmetries to search from the sizes of the moments of each degree.
    geometry
        That of the domain.
    """
    free = problem.confinement is None and bool(np.any(sine))
    candidates = _candidates(problem, cosine, sine, symmetries, geometry)
    found = [(distance(state, cosine, sine, free=free), state) for state in candidates]
    if not found:
        return None
    away, state = min(found, key=lambda one: one[0])
    if not away <= NEAR:
        return None
    opposite = [other for _, other in found if (other.unstable == 0) != (state.unstable == 0)]
    apart = [distance(other, state.cosine, state.sine, free=free) for other in opposite]
    return Rest(state, away, rate_of(geometry, state), min(apart, default=math.inf))


def _candidates(
    problem: Equation, cosine: Floats, sine: Floats, symmetries: Symmetries, geometry: Geometry
) -> Iterator[State]:
    """Yield the uniform state, and those that Newton's method finds in the symmetries that the density nearly has.

    Clusters far apart hardly interact, so that Newton's method is ill-conditioned among all densities;
    among those of the symmetry it is not.
    """
    free = problem.confinement is None
    if free:
        yield uniform_state(problem)
    if problem.fixed_coupling == 0.0:
        yield from without_interaction(problem, geometry)
        return
    sizes = np.hypot(cosine, sine)
    for symmetry in symmetries(sizes) if np.any(sizes[1:]) or not free else []:
        state = _in_symmetry(problem, cosine, sine, symmetry, geometry)
        if state is not None and not (free and np.hypot(state.cosine, state.sine)[1:].max() <= UNIFORM):
            yield state


def _in_symmetry(
    problem: Equation, cosine: Floats, sine: Floats, symmetry: int, geometry: Geometry
) -> State | None:
    coupling, even = problem.fixed_coupling, not np.any(sine)
    sign = 1 if coupling > 0.0 else -1
    equation = stationary_equation(geometry, problem, symmetry, sign, even=even, modes=cosine.size - 1)
    if equation is None and symmetry > 1:
        # The potential does not act among densities of this symmetry, which the confinement may shape.
        return _in_symmetry(problem, cosine, sine, 1, geometry)
    if equation is None:
        return None
    start = equation.unknown_with(cosine, sine)
    point = state_at(equation, start, float(abs(coupling) / equation.unit))
    return state_of(problem, point) if isinstance(point, Point) else None


def without_interaction(problem: Equation, geometry: Geometry) -> Iterator[State]:
    """Yield the Gibbs density of the confinement, if there is one and it is resolved."""
    departure = None if problem.confinement is None else from_no_interaction(geometry, problem, 1)
    point = None if departure is None else departure.regular()
    if point is not None:
        yield state_of(problem, point)


def distance(state: State, cosine: Floats, sine: Floats, *, free: bool) -> float:
    """Return the distance of a density from a state, modulo rotation if that is free."""
    size = max(cosine.size, state.cosine.size)
    one, other = np.zeros((2, size), dtype=complex)
    one[: cosine.size] = cosine - 1j * sine
    other[: state.cosine.size] = state.cosine - 1j * state.sine
    generator = -1j * np.arange(size) * other
    square = float(np.vdot(generator, generator).real)
    for _ in range(2 if free and square > 0.0 else 0):
        angle = float(np.vdot(generator, one - other).real) / square
        turn = np.exp(-1j * angle * np.arange(size))
        other, generator = other * turn, generator * turn
    return math.sqrt(2.0) * float(np.linalg.norm(one - other))


def rate_of(geometry: Geometry, state: State) -> float | None:
    """Return the slowest rate of a state, or None if its sign contradicts the count of unstable directions."""
    try:
        rate = geometry.slowest_rate(state)
    except ComputationFailed:
        return None
    lost = state.unstable is not None and (rate < 0.0) != (state.unstable > 0)
    return None if lost or abs(rate) <= ROUNDING * state.problem.noise else rate
