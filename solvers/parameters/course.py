"""Where branches along a parameter begin: at the uniform state and at the states at both ends of the interval.

At an end these are the states of the problem there, at the fixed coupling: those of its branches in the coupling,
which are followed for that, and with a search also those that no branch leads to.
"""

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from meanfield import CriticalPoint, critical_coupling
from meanfield.equations import Capability

from ..bases import Floats
from ..branches.births import births_on_uniform
from ..branches.continuation import Point
from ..branches.junctions import Departure
from ..branches.newton_search import search_states
from ..branches.omissions import warn_of_branches, warn_of_others
from ..branches.orbits import same_orbit, symmetry_of
from ..branches.passing import passing_branches, register_about
from ..branches.recording import Register
from ..branches.uniform import critical_special, exact, places, smallest_rates
from ..branches.walk import Course, Task
from ..equations.equation import StationaryEquation
from ..equations.geometry import Geometry, Threshold
from .densities import lifted
from .equation import ParameterEquation, along
from .laws import CurrentLawEquation, LawEquation, RotatingLawEquation
from .path import ENDS, Path
from .thresholds import Crossing, Strengths, constant_ones, crossings

# Modes up to this have their decay rates looked at on the uniform branch, more if more become critical.
RATED = 64


@dataclass(slots=True)
class ParameterRegister(Register):
    """Branches and special points gathered along a parameter."""

    path: Path | None = None

    def relatives(self, values: Floats) -> Floats:
        """Return the coupling over the critical one at values of the parameter, nan if none exists."""
        assert self.path is not None
        if self.path.problem.confinement is not None:
            return np.full(values.shape, np.nan)
        critical = [critical_coupling(self.path.at(float(value))) for value in values]
        return np.array([np.nan if each is None else float(self.path.coupling / each) for each in critical])


@dataclass(eq=False)
class InParameter(Course):
    """A parameter as what branches are followed along.

    Parameters
    ----------
    path
        The problem along it.
    geometry
        That of its domain.
    depth
        Generations of branches followed in the coupling at the ends.
    search
        Whether to search, at the ends, for states that no branch leads to.
    """

    path: Path
    geometry: Geometry
    depth: int
    search: bool
    _places: dict[int, float] = field(default_factory=dict)
    _several: list[float] = field(default_factory=list)

    def start(self, register: Register, depth: int) -> "deque[Task | Threshold]":
        """Return the thresholds, the uniform branch with them recorded."""
        tasks: deque[Task | Threshold] = deque()
        if self.path.problem.confinement is not None:
            return tasks
        found, doubtful = crossings(self.path)
        if doubtful:
            register.warnings.append(
                f"the multipliers of the modes {', '.join(map(str, doubtful[:6]))} change so fast with "
                f"{self.path.name} that thresholds may be missing, with the branches born there; take a shorter "
                "interval"
            )
        self._say_always_critical(register)
        strengths = Strengths(self.path)
        self._say_joined(found, strengths, register)
        values = places(register.interval, [crossing.value for crossing in found])
        born = [int(np.searchsorted(values, crossing.value)) for crossing in found]
        qs = [self.path.q_at(value) for value in values.tolist()]
        critical = {place: crossing.modes for place, crossing in zip(born, found, strict=True)}
        unstable = np.array([strengths.unstable(q, critical.get(place, ())) for place, q in enumerate(qs)])
        highest = max(RATED, *(2 * mode for crossing in found for mode in crossing.modes), 0)
        rates = np.concatenate(
            [smallest_rates(self.path.problem_at(q), np.array([self.path.coupling]), highest) for q in qs]
        )
        register.branches.append(exact(self.path.problem, self.path.name, values, unstable, rates, born, register))
        for index, crossing in zip(born, found, strict=True):
            number = sum(self.path.problem.domain.multiplicity(mode) for mode in crossing.modes)
            relative = float(register.branches[0].relative_coupling[index])
            point = CriticalPoint(
                self.path.coupling, None if np.isnan(relative) else relative, crossing.modes, number
            )
            counts = strengths.about(crossing.q, crossing.modes)
            error = strengths.error(crossing.q, crossing.modes) + crossing.width
            self._several += [crossing.value] * (max(crossing.modes) > 1)
            if depth > 0:
                threshold = Threshold(point, counts[0], len(register.special_points))
                self._places[len(register.special_points)] = crossing.q
                tasks.append(threshold)
            register.special_points.append(critical_special(index, error, point, counts, register))
        return tasks

    def _say_always_critical(self, register: Register) -> None:
        """Warn of the modes that are critical at every value of the parameter."""
        modes = constant_ones(self.path)
        if modes:
            register.warnings.append(
                f"the uniform state is neutral in mode {', '.join(map(str, modes))} at every value of "
                f"{self.path.name}: the coupling is critical there, and branches born of it are not followed; take "
                "another coupling"
            )

    def _say_joined(self, found: list[Crossing], strengths: Strengths, register: Register) -> None:
        """Warn of the thresholds of several modes that are taken for one though they differ."""
        register.warnings += [
            f"the thresholds of the modes {', '.join(map(str, crossing.modes))} near {self.path.name} "
            f"{crossing.value:.12g} agree to {crossing.width:.1e} and are taken for one; what happens between them "
            "is not shown"
            for crossing in found
            if crossing.width > strengths.error(crossing.q, crossing.modes)
        ]

    def born(self, threshold: Threshold, register: Register) -> list[Task]:
        """Return the tasks for the branches born at a threshold, those in the coupling of the problem there."""
        assert threshold.parent is not None
        q = self._places[threshold.parent]
        tasks = []
        for departure, name, symmetry in births_on_uniform(
            self.geometry, self.path.problem_at(q), threshold, register
        ):
            target = self._along(departure.equation)
            found = None if target is None else lifted(departure, target, q)
            tasks += [] if found is None else [Task(found, name, symmetry, 1, threshold.parent)]
        return tasks

    def unreached(self, register: Register, ends: list[tuple[Task, Point]]) -> Iterator[Task]:
        """Yield tasks for the states at the ends of the interval that no followed branch reaches.

        A branch followed from one state may reach others.
        """
        for q in ENDS:
            known: list[Point] = []
            for label, point in self._states_at(q, register):
                if symmetry_of(point) and not any(same_orbit(point, other) for other in known):
                    known.append(point)
                    departure = self._departure(point, q)
                    if departure is not None:
                        yield Task(departure, label, symmetry_of(point), 1, None)

    def _along(self, equation: StationaryEquation) -> ParameterEquation | None:
        """Return the equation along the parameter in the basis of one in the coupling; None if no mode acts."""
        kind = LawEquation if self.path.problem.lacks(Capability.GRADIENT) else ParameterEquation
        if self.path.carries_current:
            kind = CurrentLawEquation
        elif self.path.rotates:
            kind = RotatingLawEquation
        return along(self.path, equation, kind)

    def omissions(self, depth: int, register: Register) -> None:
        """Add warnings of the branches that were not followed, and of those that begin and end between the ends."""
        warn_of_branches(self.path.problem, self.geometry, depth, self._several, register)
        warn_of_others(self.path.problem, self.geometry, register)

    def _departure(self, point: Point, q: float) -> Departure | None:
        equation = self._along(point.equation)
        if equation is None:
            return None
        b = point.unknown_in(equation)
        return Departure(equation, b, q, np.zeros_like(b), 0)

    def _states_at(self, q: float, register: Register) -> Iterator[tuple[str, Point]]:
        """Yield the states at an end with names: those on branches in the coupling, then those of a search."""
        problem, value = self.path.problem_at(q), float(self.path.value(q))
        found: list[Point] = []
        there = register_about(problem)
        for _, followed, label, points in passing_branches(problem, self.geometry, there, self.depth):
            if followed.vertical:
                # Along the parameter branches leave a family at one coupling at some of its members only.
                there.warnings += [f"the {label}, is not followed from there"] * bool(points)
                continue
            for point in points:
                found.append(point)
                yield label, point
        register.warnings += [f"at {self.path.name} {value:.12g}: {text}" for text in there.warnings]
        if not self.search:
            return
        free = problem.at(coupling=None)
        try:
            searched = search_states(self.geometry, free, self.path.sign, self.path.coupling, found)
        except Exception as error:
            register.warnings.append(
                f"the search for states at {self.path.name} {value:.12g} that no branch leads to was left "
                f"unfinished ({type(error).__name__}: {error})"
            )
            return
        register.searched.append(f"at {self.path.name} {value:.6g} {searched.words}")
        if searched.doubt:
            register.warnings.append(f"of the states at {self.path.name} {value:.6g} {searched.doubt}")
        for point in searched.points:
            yield f"{point.equation.densities.name_of(point)} from the search", point
