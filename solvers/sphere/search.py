"""The search for states of a sphere that no branch leads to, and what it tells about the others.

States about an axis are searched in every dimension, on S^2 all others too. What is met is brought into the
orientation of its symmetry and solved for among the densities that have it.
"""

from functools import partial
from typing import NamedTuple

import numpy as np

from meanfield import McKeanVlasov, Number, Sphere
from meanfield.harmonics import largest_degree, place

from ..bases import Floats, multiples
from ..branches.continuation import Point, state_at
from ..branches.uniform import unstable_uniform
from ..equation import stationary_equation
from ..felt import confining_symmetry, starting_degrees, strengths
from ..searched import Searched, Tally
from .identity import powers, same_orbit, symmetry_of
from .multistart import Met, Search, Space, about_an_axis, among_harmonics, field_of
from .perturbations import unstable_counts
from .polyhedral import invariant_equation
from .recognition import recognised
from .zonal_search import zonal_states

# Degrees of the search; larger ones are left to the polishing of what is met.
LARGEST_DEGREE, LARGEST_ZONAL_DEGREE = 8, 48
# Odd moments below this are rounding noise of a state even about the equator.
ODD = 1e-6
CONVEX = "the second variation of the free energy is definite at every density"
ONE_DEGREE = "with degree one alone the states are the uniform one and, beyond its threshold, one exp(r cos t)/Z"


def search_all(problem: McKeanVlasov, sign: int, coupling: Number, known: list[Point]) -> Searched:
    """Return the states at a coupling that are not known, about an axis and on S^2 among all densities."""
    theorem = _theorem(problem, coupling)
    if theorem:
        return Searched([], "", theorem=theorem)
    task = _Task(problem, sign, coupling, confining_symmetry(problem) % 2 == 0)
    zonal = zonal_states(problem, sign, coupling, known)
    domain = problem.domain
    assert isinstance(domain, Sphere)
    if domain.dimension == 3:
        field = field_of(problem, coupling, LARGEST_DEGREE)
        spaces = among_harmonics(field, task.even)
        words = f"all densities on the sphere, in {len(spaces)} symmetries up to degree {field.strengths.size - 1}"
    else:
        field = field_of(problem, coupling, LARGEST_ZONAL_DEGREE)
        spaces = about_an_axis(domain, field, task.even)
        words = "densities about an axis (others were not searched)"
    return _searched(task, spaces, known, zonal, words, field.cut)


class _Task(NamedTuple):
    """A problem, the sign of its coupling, the coupling, and whether a confinement is even about the equator."""

    problem: McKeanVlasov
    sign: int
    coupling: Number
    even: bool


def _theorem(problem: McKeanVlasov, coupling: Number) -> str:
    """Return why the known states are all there are, if a theorem says so.

    The squares of the harmonics of a degree sum up to one, so the second variation is definite at every density
    where the attractive strengths sum up to less than one. With degree one alone a state is exp(r cos t)/Z, and the
    mean of the cosine is concave in r > 0.
    """
    felt = starting_degrees(problem, partial(multiples, 1))
    known = strengths(problem, int(felt.degrees.max()))
    attractive = -float(coupling / problem.noise * known.scale) * known.relative[felt.degrees]
    if felt.complete and float(np.maximum(attractive, 0.0).sum()) < 1.0:
        return CONVEX
    return ONE_DEGREE if felt.complete and felt.degrees.tolist() == [1] and problem.confinement is None else ""


def _searched(
    task: _Task, spaces: list[Space], known: list[Point], zonal: list[Point], words: str, cut: bool
) -> Searched:
    """Return what is met in some spaces beside known states and zonal ones just found."""
    places: list[Point | None] = [*known, *zonal]
    if task.problem.confinement is None:
        places.insert(0, None)
    size = spaces[0].size if spaces else 1
    search = Search(spaces, [_invariants(point, size) for point in places])
    search.run()
    states = list(zip(places, search.met, strict=False))
    new, lost = [*zonal], 0
    for met in search.met[len(places) :]:
        point = _polished(task, met)
        lost += point is None
        if point is None or not symmetry_of(point):
            continue
        twin = next((other for place, other in states if place is not None and same_orbit(place, point)), None)
        if twin is None:
            states.append((point, met))
            new.append(point)
        else:
            twin.runs, twin.relaxations = twin.runs + met.runs, twin.relaxations + met.relaxations
    minima = [met.relaxations for point, met in states if _stable(task, point)]
    runs = [met.runs for _, met in states]
    # Where degrees are missing, states of the search need not be any of the equation.
    doubt = f"{lost} states that were met could not be resolved and are not listed" if lost and not cut else ""
    return Searched(new, words, Tally.of(runs), Tally.of(minima), doubt=doubt)


def _invariants(point: Point | None, size: int) -> Floats:
    """Return the invariants of a state, as the search has them; None is the uniform one."""
    found = np.zeros(size)
    if point is not None:
        lengths = np.abs(powers(point))[:size]
        found[: lengths.size] = lengths
        found[0] = point.free_energy_gap
    return found


def _stable(task: _Task, point: Point | None) -> bool:
    """Whether a state, the uniform one if it is None, is stable among the densities that are searched."""
    if point is None:
        return not unstable_uniform(task.problem, task.coupling)
    about_axis, others = unstable_counts(point)
    return not about_axis and (task.problem.domain.dimension > 3 or not others)


def _polished(task: _Task, met: Met) -> Point | None:
    """Return the state that was met, solved for in its own symmetry with all degrees, or None."""
    problem, sign, coupling, even = task
    group, cosine, sine = met.group, met.cosine, met.sine
    if group is not None:
        group, cosine, sine = recognised(group, cosine, sine, problem.confinement is not None, even)
        if group is None:
            along = [place(degree, 0) for degree in range(largest_degree(cosine.size) + 1)]
            cosine, sine = cosine[along], sine[along]
    if group is None:
        odd = float(np.abs(cosine[1::2]).max(initial=0.0)) > ODD
        equation = stationary_equation(problem, 1 if odd or not even else 2, sign)
    else:
        equation = invariant_equation(problem, group, sign)
    if equation is None:
        return None
    start = equation.unknown_from(equation.basis.moments_from(cosine, sine))
    point = state_at(equation, start, float(coupling / (sign * equation.unit)))
    return point if isinstance(point, Point) else None
