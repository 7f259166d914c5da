r"""Rotating waves: densities under a phase lag that are at rest in a frame that rotates with a speed of their own.

A lag breaks the reflection, and clusters turn: :math:`\rho(t, \theta) = \rho(\theta - \Omega t)` with

.. math:: D\rho'' - \bigl(\rho\,(\kappa v[\rho] - \Omega)\bigr)' = 0 .

The unknowns are the moments :math:`c_k`, k = 1..N, and :math:`\Omega`; Newton's method is applied to the time
derivative of the moments, whose Jacobian is the linearisation of :mod:`.law_spectra`. Rotation is its kernel: a
step has no part along :math:`\rho'`, and the column :math:`\partial_\Omega\dot c_k = ikc_k` takes its place. N
grows until the last moments are rounding.
"""

import math
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from meanfield import Equation, State
from meanfield.records import ANGULAR_VELOCITY

from ..bases import EPS, Floats
from ..branches.uniform import uniform_state
from ..equations.law_eigenvalues import signs_in
from ..root_finding.search import SAME, Ends, Kind, Lost, Met, Rounds, SearchSpace, known_states, search
from ..root_finding.searched import Searched
from .law_spectra import Linearisation
from .linearisation import Matrix

AMONG = "rotating waves and densities at rest"
UNRESOLVED = "runs also ended at waves that need more moments than are allowed, and are missing here"
UNSTABLE = "none of them is stable, so that a wave is missing or densities settle at none"
# Degrees to begin with, and at most.
FEWEST, MOST = 32, 256
# Moments below this are rounding.
RESOLVED = 1e-13
# A density whose moments are below this is the uniform one.
UNIFORM = 1e-7
ITERATIONS, LARGEST_STEP = 60, 0.3
# Roundings of the moments of a time derivative, each over the diffusion of its degree.
ROUNDINGS = 64.0
STARTS, ROUNDS = 24, 6
# Steps of time in the inverse of a share of the rates of the lowest degrees.
STEPS, SHARE, LOW = 30, 0.5, 4
# One start of so many is relaxed.
RELAXED = 4
# Decades of the times of diffusion that spread the clusters of a start, and clusters of one at most.
SPREADS, CLUSTERS = (-2.5, 0.0), 3


class Wave(NamedTuple):
    """A rotating wave: moments c_0..c_N, speed, residual, and its unstable directions."""

    moments: Matrix
    speed: float
    residual: float
    unstable: int | None = None


def rotating_waves(problem: Equation) -> tuple[list[State], Searched]:
    """Return the uniform state and the rotating waves of an equation with a phase lag, and how they were searched.

    Parameters
    ----------
    problem
        The equation on the circle, with noise, a coupling and no confinement.
    """
    space = _Waves(problem)
    met = known_states(space, [], uniform=True)
    searched = search(space, met)
    waves = (_state(problem, each.state) for each in met if each.state is not None)
    return [space.uniform, *waves], searched._replace(points=[])


class _Waves(SearchSpace[Wave]):
    """The rotating waves of an equation; None is the uniform density, at which they rest."""

    among = AMONG
    rounds = Rounds(1, ROUNDS, ROUNDS)

    def __init__(self, problem: Equation) -> None:
        self._problem = problem
        self.starts = {Kind.NEWTON: STARTS}
        self.uniform = uniform_state(problem)

    def ends(
        self, kind: Kind, rounds: int, met: Sequence[Met[Wave]], generator: np.random.Generator
    ) -> Iterator[Ends]:
        """Yield the ends of Newton's method from random densities, some of them relaxed, with the speed at last."""
        starts = list(_starts(rounds * STARTS, generator)) if kind is Kind.NEWTON else []
        relaxed = [_relaxed(self._problem, start) for start in starts[::RELAXED]]
        del starts[::RELAXED]
        for part, some in enumerate((starts, relaxed)):
            found = [_converged(self._problem, start, _speed(self._problem, start)) for start in some]
            waves = [wave for wave in found if wave is not None]
            if waves:
                rows = np.array([np.append(wave.moments, wave.speed) for wave in waves])
                speeds = rows[:, -1:].real / (1.0 + abs(self._problem.fixed_coupling))
                yield Ends(rows, np.concatenate([np.abs(rows[:, :-1]), speeds], axis=1), part)

    def states_at(self, ends: Ends) -> list[Wave | Lost | None]:
        """Return the waves near ends."""
        return [_resolved(self._problem, row[:-1], float(row[-1].real)) for row in ends.rows]

    def are_same(self, one: Wave, other: Wave) -> bool:
        """Return whether two waves are rotations of each other."""
        count = min(one.moments.size, other.moments.size)
        apart = np.abs(np.abs(one.moments[:count]) - np.abs(other.moments[:count])).max()
        return bool(apart <= SAME and abs(one.speed - other.speed) <= SAME * max(1.0, abs(other.speed)))

    def doubt(self, states: Sequence[Wave | None], unresolved: int) -> str:
        """Return the sentence that waves are missing, the empty text if none are known to be."""
        counts = [self.uniform.unstable if wave is None else wave.unstable for wave in states]
        return UNRESOLVED if unresolved else "" if any(count in (0, None) for count in counts) else UNSTABLE


def _starts(count: int, generator: np.random.Generator) -> Iterator[Matrix]:
    """Yield moments of random densities: a few clusters, half of them repeated around the circle."""
    degrees = np.arange(FEWEST + 1)
    for turn in range(count):
        number = int(generator.integers(1, CLUSTERS + 1))
        weights, places = generator.dirichlet(np.ones(number)), generator.uniform(0.0, 2.0 * np.pi, number)
        waves = np.exp(-1j * np.multiply.outer(degrees, places)) @ weights
        symmetry = int(generator.integers(1, 5)) if turn % 2 else 1
        heat = np.exp(-(degrees**2) * 10.0 ** generator.uniform(*SPREADS))
        yield np.where(degrees % symmetry == 0, waves * heat, 0.0)


def _relaxed(problem: Equation, moments: Matrix) -> Matrix:
    """Return the moments of a density after steps of time, of the linearly implicit method of Euler.

    Newton's method alone meets stable waves of strong couplings from few starts.
    """
    moments = np.concatenate([moments, np.zeros(moments.size - 1)])
    for _ in range(STEPS):
        about = Linearisation(problem, moments, moments.size - 1)
        matrix, change = about.block(None)[0], about.change(moments)
        # The growth and the turning of the lowest degrees give the unit of time.
        low = np.tile(about.modes <= LOW, 2)
        shifted = SHARE * float(np.linalg.norm(matrix[low][:, low])) * np.eye(low.size) - matrix
        step = np.linalg.solve(shifted, np.concatenate([change.real, -change.imag]))
        cosine, sine = np.split(step, 2)
        moments = np.append(1.0, moments[1:] + cosine - 1j * sine)
    return moments


def _speed(problem: Equation, moments: Matrix) -> float:
    """Return the mean velocity of a density."""
    about = Linearisation(problem, moments, moments.size - 1)
    return float(about.density @ about.velocity) / about.points * problem.fixed_coupling


def _resolved(problem: Equation, moments: Matrix, speed: float) -> Wave | Lost | None:
    """Return the wave near moments, with as many as resolve it."""
    while True:
        wave, degree = _converged(problem, moments, speed), moments.size - 1
        if wave is None:
            return Lost.ARTEFACT
        moments, speed = wave.moments, wave.speed
        if float(np.abs(moments[-(degree // 4) :]).max()) <= RESOLVED:
            return None if float(np.abs(moments[1:]).max()) <= UNIFORM else _finished(problem, wave)
        if degree >= MOST:
            return Lost.UNRESOLVED
        moments = np.concatenate([moments, np.zeros(degree)])


def _converged(problem: Equation, moments: Matrix, speed: float) -> Wave | None:
    """Return the wave at which the time derivative is rounding, None if it becomes none."""
    degrees = np.arange(1, moments.size)
    damping = problem.noise * degrees**2
    for _ in range(ITERATIONS):
        about = Linearisation(problem, moments, moments.size - 1, speed)
        change = about.change(moments)
        residual = float(np.abs(change / damping).max())
        if not math.isfinite(residual):
            return None
        strongest = float(np.abs(problem.fixed_coupling * about.velocity - speed).max()) / problem.noise
        if residual <= ROUNDINGS * EPS * (1.0 + strongest):
            return Wave(moments, speed, residual)
        matrix, generator = about.block(None)
        # The derivative by the speed is that of the density by the angle. The uniform density has none and
        # rotates at any speed, which the one in the corner keeps.
        corner = float(not generator.any())
        bordered = np.block([[matrix, generator[:, None]], [generator[None, :], np.full((1, 1), corner)]])
        try:
            step = np.linalg.solve(bordered, np.concatenate([-change.real, change.imag, [0.0]]))
        except np.linalg.LinAlgError:
            return None
        step *= min(1.0, LARGEST_STEP / max(float(np.abs(step[:-1]).max()), EPS))
        cosine, sine = np.split(step[:-1], 2)
        moments = np.append(1.0, moments[1:] + cosine - 1j * sine)
        speed += float(step[-1])
    return None


def _finished(problem: Equation, wave: Wave) -> Wave:
    """Return a wave turned so that its first moment is real and positive, with its unstable directions."""
    first = int(np.flatnonzero(np.abs(wave.moments[1:]) > UNIFORM)[0]) + 1
    angle = float(np.angle(wave.moments[first])) / first
    moments = wave.moments * np.exp(-1j * angle * np.arange(wave.moments.size))
    moments[first] = abs(wave.moments[first])
    matrix = Linearisation(problem, moments, moments.size - 1, wave.speed).deflated(None)
    signs = signs_in(matrix)
    return wave._replace(moments=moments, unstable=None if signs.neutral else signs.growing)


def _state(problem: Equation, wave: Wave) -> State:
    """Return a wave as a state of the equation, with its speed as an observable."""
    sizes = np.abs(wave.moments)
    last = int(np.flatnonzero(sizes > EPS)[-1])
    moments: Matrix = wave.moments[: last + 1]
    symmetry = int(np.gcd.reduce(np.flatnonzero(sizes[1:] > UNIFORM) + 1))
    cosine: Floats = moments.real.copy()
    return State(
        problem=problem,
        cosine=cosine,
        sine=0.0 - moments.imag,
        observables={ANGULAR_VELOCITY: wave.speed},
        unstable=wave.unstable,
        symmetry=symmetry,
        residual=wave.residual,
        modes=wave.moments.size - 1,
        label=f"{symmetry}-cluster",
    )
