"""The states at one coupling on the branches that pass it."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from meanfield import Equation, Number
from meanfield.theory import transition_coupling

from ..bases import EPS
from ..equations.geometry import Geometry
from .arclength import Arclength
from .continuation import End, Point, state_at
from .following import Followed
from .interval_ends import interval_end
from .labels import unnumbered
from .recording import Register
from .walk import InCoupling, Task, walk

# Branches are followed to this multiple of the coupling: those that pass it may be born above it.
BEYOND = 2.0
# Relative distance within which a coupling is that of a vertical branch.
VERTICAL = 1e-12
# Roundings up to which a coupling is that of a point, whose q it was computed from.
ROUNDINGS = 4
FAMILY = ", one of a family"


class Passing(NamedTuple):
    """A branch followed in the coupling, and its states at one.

    ``label`` names them: which of several branches of a name is meant depends on how far these were followed.
    """

    task: Task
    followed: Followed
    label: str
    points: list[Point]


def register_about(problem: Equation) -> Register:
    """Return a register for branches that may pass the coupling of a problem."""
    beyond = BEYOND * problem.fixed_coupling
    return Register((min(beyond, 0.0), max(beyond, 0.0)), transition_coupling(problem))


def passing_branches(problem: Equation, geometry: Geometry, register: Register, depth: int) -> Iterator[Passing]:
    """Yield the branches in the coupling on the side of the problem's, with their states at it."""
    coupling, free = problem.fixed_coupling, problem.at(coupling=None)
    for task, followed, _ in walk(InCoupling(free, geometry), register, depth, Arclength()):
        if (task.departure.equation.sign > 0) != (coupling > 0):
            yield Passing(task, followed, "", [])
            continue
        label = unnumbered(task.label) + (FAMILY if followed.vertical else "")
        points, lost = _passing(followed, coupling)
        if lost:
            register.warnings.append(
                f"the {task.label} passes coupling {float(coupling):.12g} at a state that the modes allowed do not "
                "resolve, and which is left out"
            )
        yield Passing(task, followed, label, points)


def _passing(followed: Followed, coupling: Number) -> tuple[list[Point], bool]:
    """Return the points at which a branch passes a coupling, solved there, and whether one was not resolved.

    Of a vertical branch the first is one member.
    """
    if followed.vertical:
        members = [knot.point for knot in followed.knots[1:]]
        there = abs(float(members[0].coupling / coupling) - 1.0) <= VERTICAL
        return [min(members, key=lambda point: abs(np.abs(point.moments[1:]).max() - 0.5))] if there else [], False
    points, lost = [], False
    for one, other in zip(followed.knots[:-1], followed.knots[1:], strict=True):
        equation = other.point.equation
        q = equation.q_at(coupling)
        starts, ends = (abs(each.point.q - q) <= ROUNDINGS * EPS * q for each in (one, other))
        point: Point | End | None = None
        if ends:
            # A point of the branch is resolved, and at a fold Newton's method at its coupling does not find it.
            point = other.point
        elif not starts and (crossing := interval_end(one.point, other.point, q)) is not None:
            point = state_at(crossing.point.equation, crossing.point.b, q)
        if isinstance(point, Point):
            points.append(point)
        lost |= isinstance(point, End)
    return points, lost
