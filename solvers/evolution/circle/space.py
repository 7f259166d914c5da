"""Densities on the circle as a space of evolution."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from meanfield import Equation, State
from meanfield.equations import Capability, Interaction, at_uniform, without_lag
from meanfield.harmonics import CircleModes, Modes

from ...bases import Floats
from ...circle import CIRCLE
from ..descent import Descent
from ..flow import Flow, field_degree
from ..initial import Initial
from ..paths import along_path
from ..rest import NEAR, Rest, distance, state_near
from ..space import EvolutionSpaces
from ..system import EvenSystem, FullSystem, System
from .flow import CircleFlow, CircleLawFlow
from .grids import circle_grids
from .initial import aligned, moments_of
from .laws import EvenLawSystem, FullLawSystem

# The largest number of clusters whose symmetry is tried.
MOST_CLUSTERS = 12
# The confinement breaks a symmetry by any multiplier up to this degree.
LAST_DEGREE = 4096


@dataclass(frozen=True)
class CircleSpace:
    """All densities on the circle, rotated by an angle from the given ones."""

    axis: float = 0.0

    modes: ClassVar[Modes] = CircleModes()
    multistep: ClassVar[bool] = True
    unsearched: ClassVar[str] = ""

    def system(self, problem: Equation, start: Initial, degree: int, full: bool) -> System:
        """Return the smallest system whose symmetry a density has and keeps.

        Of an even density the sines vanish, unless there is a phase lag, a frequency or an uneven confinement, of
        one with a rotation symmetry all except its multiples, unless the confinement breaks it. A velocity without
        a drive may break any symmetry.
        """
        if full or problem.lacks(Capability.DRIVE):
            return self.system_of(problem, False, max(16, degree), 1)
        present = np.flatnonzero((start.cosine != 0.0) | (start.sine != 0.0))
        symmetry = int(np.gcd.reduce(present[1:])) if present.size > 1 else 1
        if problem.confinement is not None:
            degrees = np.flatnonzero(problem.confinement.amplitudes(problem.domain, LAST_DEGREE))
            symmetry = int(np.gcd.reduce([symmetry, *degrees[degrees > 0].tolist()]))
        even = not np.any(start.sine != 0.0) and problem.reflects
        return self.system_of(problem, even, max(16, -(-degree // symmetry)), symmetry)

    def system_of(self, problem: Equation, even: bool, degree: int, symmetry: int) -> System:
        """Return the system of even densities, or of all, of a degree and a rotation symmetry."""
        if problem.lacks(Capability.GRADIENT):
            return (EvenLawSystem if even else FullLawSystem)(problem, degree, symmetry)
        return (EvenSystem if even else FullSystem)(problem, degree, symmetry)

    def curvature(self, problem: Equation, degree: int) -> float | None:
        """Return the sum of k^2 lambda_k over the attractive modes up to a degree; None without a drive."""
        if problem.lacks(Capability.DRIVE):
            return None
        strengths = np.maximum(at_uniform(problem).strengths(degree)[1:], 0.0)
        return float(np.arange(1, degree + 1) ** 2.0 @ strengths)

    def harmonic(self, problem: Equation, start: Initial) -> int | None:
        """Return n if the potential is that of cos(n t) and a density has multiples of n only, or None."""
        problem = without_lag(problem)
        if problem.lacks(Capability.GRADIENT):
            return None
        interaction = Interaction(problem.at(coupling=1.0), 1.0)
        degrees = np.flatnonzero(interaction.attractions(interaction.significant_degree))
        if problem.confinement is not None or degrees.size != 1:
            return None
        harmonic = int(degrees[0])
        present = np.flatnonzero((start.cosine != 0.0) | (start.sine != 0.0))
        return None if np.any(present % harmonic) else harmonic

    def flow(self, problem: Equation, start: Initial, full: bool) -> Flow | None:
        """Return the flow of a density by a velocity law with a drive."""
        system = self.system(problem, start, 1, full)
        if problem.lacks(Capability.GRADIENT):
            return CircleLawFlow(problem, start, system.even, system.symmetry, self.axis)
        degree = -(-field_degree(problem) // system.symmetry)
        return CircleFlow(problem, start, system.even, system.symmetry, degree, self.axis)

    def descent(self, problem: Equation, cosine: Floats, sine: Floats, accuracy: float) -> Descent:
        """Return free energy, dissipation and extreme values of densities (T, n), on grids of the angles given."""
        cosine, sine, modes = self.recorded(cosine, sine)
        return along_path(problem, modes, circle_grids, cosine, sine, accuracy)

    def state_near(self, problem: Equation, cosine: Floats, sine: Floats) -> Rest | None:
        """Return the stationary state nearest to a density, or None if no state is found near it."""
        return state_near(problem, cosine, sine, rotations, CIRCLE)

    def distance(self, state: State, cosine: Floats, sine: Floats) -> float:
        """Return the distance of a density from a state, modulo rotation where there is no confinement."""
        return distance(state, cosine, sine, free=state.problem.confinement is None and bool(np.any(sine)))

    def recorded(self, cosine: Floats, sine: Floats) -> tuple[Floats, Floats, Modes]:
        """Return moments (T, n) rotated back by the angle, and their modes."""
        if self.axis == 0.0:
            return cosine, sine, self.modes
        moments = (cosine - 1j * sine) * np.exp(-1j * self.axis * np.arange(cosine.shape[1]))
        return moments.real.copy(), -moments.imag, self.modes


def rotations(sizes: Floats) -> list[int]:
    """Return the exact rotation symmetry of a density, then the largest that it has up to ``NEAR``."""
    degrees = np.arange(sizes.size)
    exact = int(np.gcd.reduce(np.flatnonzero(sizes)[1:])) if np.count_nonzero(sizes) > 1 else 1
    nearly = [n for n in range(MOST_CLUSTERS, exact, -1) if np.linalg.norm(sizes[degrees % n != 0]) <= 0.5 * NEAR]
    return [exact, *nearly[:1]]


def space_for(problem: Equation, start: Initial, full: bool) -> tuple[CircleSpace, Initial]:
    """Return the space of a density and the density, rotated onto its axis unless ``full``.

    A velocity without a drive is taken to turn with no rotation.
    """
    start, angle = aligned(problem, start, full or bool(problem.lacks(Capability.DRIVE)))
    return CircleSpace(angle), start


SPACES: EvolutionSpaces = EvolutionSpaces(moments_of, space_for)
