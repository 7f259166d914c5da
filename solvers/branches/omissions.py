"""Warnings of what a diagram leaves out: branches that were met and not followed, and limits of the walk."""

from collections.abc import Sequence
from itertools import combinations, pairwise

import numpy as np

from meanfield import CriticalPoint, Equation, Number, critical_modes
from meanfield.equations import Capability, has_free_energy

from ..equations.geometry import Birth, Geometry
from .arrivals import same_place
from .recording import Register

# So many places are named, the others are counted.
NAMED = 6
# How much farther than the walk one looks for branch points from which a branch might come.
FARTHER = 8.0

# Modes of a potential that are looked at, and the share of the largest multiplier from which on one matters; with
# so many there may be branches that nothing leads to.
MODES, SIGNIFICANT, INTERACTING = 64, 1e-6, 3
# Thresholds this close, relative to each other, are those of a resonance; one so far beyond an interval matters.
NEARLY = 0.1

WITHOUT_AXIS = (
    "states without an axis of symmetry are followed on the ordinary sphere and for laws with a Gibbs map only"
)
WITH_FLUX = (
    "states there are not even about an axis, and under a law without a Gibbs map a flux may run through them; "
    "such states are followed on the circle in a confinement, as long as few modes resolve them"
)
MANY_UNSTABLE = "states there have no axis of symmetry and more than one unstable direction on both sides"


def warn_of_omissions(problem: Equation, geometry: Geometry, depth: int, register: Register) -> None:
    """Add warnings of the branches of a walk in the coupling that were not followed, with the reasons."""
    followed = problem.confinement is not None or geometry.follows_all(problem)
    several = [] if followed else critical_modes(problem, *register.interval)
    degrees = [point.coupling for point in several if max(point.modes) > 1]
    warn_of_branches(problem, geometry, depth, degrees, register)
    _warn_beyond_reach(problem, geometry, register)
    if not _complete(problem, geometry, register):
        warn_of_others(problem, geometry, register)


def warn_of_branches(
    problem: Equation, geometry: Geometry, depth: int, degrees: Sequence[Number], register: Register
) -> None:
    """Add warnings of the branches born on known ones that were not followed, with the reasons.

    Parameters
    ----------
    degrees
        The values of the parameter at which degrees above one are critical at the uniform state.
    """
    deeper = f"beyond depth {depth}; ask for depth {depth + 1} (--depth {depth + 1})"
    uniform = [("uniform", point.value) for point in register.special_points if point.branch == 0]
    if problem.confinement is None and depth == 0:
        _warn_not_followed(uniform, deeper, register)
    axes_only = not geometry.follows_all(problem)
    if problem.confinement is None and depth > 0 and axes_only:
        _warn_not_followed([("uniform", value) for value in degrees], WITHOUT_AXIS, register)
    childless, shut = [(label, event.point.value) for label, event in register.childless], []
    for label, event in register.beyond_depth:
        births = event.point.equation.densities.births_on_branch(event)
        if not births:
            childless.append((label, event.point.value))
        elif not all(_arrived_at(birth, register) for birth in births):
            shut.append((label, event.point.value))
    alone = WITH_FLUX if problem.lacks(Capability.GIBBS_MAP) else MANY_UNSTABLE
    _warn_not_followed(childless, WITHOUT_AXIS if axes_only else alone, register)
    _warn_not_followed(shut, deeper, register)


def warn_of_others(problem: Equation, geometry: Geometry, register: Register) -> None:
    """Add the warning that branches may be missing that none of those followed leads to."""
    looked = _looked(problem, geometry, register)
    register.warnings.append(f"branches that none of these leads to {looked}, and there may be some")


def _looked(problem: Equation, geometry: Geometry, register: Register) -> str:
    """Return where branches that no other leads to were looked for, or why they were not, a clause."""
    if register.searched:
        return "were looked for at the ends of the interval only"
    lacking = problem.confinement is None and not geometry.searches(problem)
    return f"were not looked for {'because there is no free energy to descend' if lacking else '(--search)'}"


def _arrived_at(birth: Birth, register: Register) -> bool:
    """Return whether another branch has arrived at the branch point of a birth, so that both are one."""
    return any(same_place(birth.departure, arrival) for arrival in register.arrivals)


def _complete(problem: Equation, geometry: Geometry, register: Register) -> bool:
    """Return whether no branch is expected beyond those that the followed ones lead to.

    With attractive multipliers of a sum below D/kappa a free energy is strictly convex, and there is one state.
    Without a confinement isolated branches have been met where modes become critical in another order than that of
    their degrees: a branch of one cluster, born beyond an interval on that of two, turns back into it; and where
    three modes or more interact: where branches branch again, some modes repel, or the threshold of a third one is
    in the interval or nearly so, as in four of five random series with as many.
    """
    effective = problem.velocity.at_uniform(problem.domain)
    multipliers = effective.multipliers(problem.domain, MODES)[1:].astype(float)
    unique = has_free_energy(problem) and all(
        abs(float(end)) * np.abs(np.minimum(np.sign(float(end)) * multipliers, 0.0)).sum() < problem.noise
        for end in register.interval
    )
    if unique or problem.confinement is not None:
        return unique
    significant = multipliers[np.abs(multipliers) > SIGNIFICANT * np.abs(multipliers).max(initial=0.0)]
    both_signs = bool((significant > 0.0).any() and (significant < 0.0).any())
    branching = bool(register.childless or register.beyond_depth) or any(
        point.branch != 0 and point.type == "branch point" for point in register.special_points
    )
    orders = [critical_modes(problem, *sorted((0.0, end))) for end in register.reach or () if end]
    degrees = [
        [point.modes[0] for point in sorted(side, key=lambda point: abs(float(point.coupling)))] for side in orders
    ]
    unordered = any(listed != sorted(listed) for listed in degrees)
    if any(_interact(geometry, one, other) for side in orders for one, other in pairwise(side)):
        return False
    if significant.size < INTERACTING:
        return branching or not any(_out_of_order_beyond(side, register) for side in orders)
    low, high = ((1.0 + NEARLY) * end for end in register.interval)
    wider = [ends for ends in ((low, 0.0), (0.0, high)) if ends[0] < ends[1]]
    crowded = any(len(critical_modes(problem, *ends)) >= INTERACTING for ends in wider)
    return not (branching or both_signs or unordered or crowded)


def _out_of_order_beyond(side: Sequence[CriticalPoint], register: Register) -> bool:
    """Return whether a mode is critical beyond the interval, or nearly so, after one of a higher degree."""
    farthest = max(abs(float(end)) for end in register.interval) / (1.0 + NEARLY)
    ordered = sorted(side, key=lambda point: abs(float(point.coupling)))
    return any(
        abs(float(later.coupling)) > farthest and later.modes[0] < earlier.modes[0]
        for earlier, later in combinations(ordered, 2)
    )


def _interact(geometry: Geometry, one: CriticalPoint, other: CriticalPoint) -> bool:
    """Return whether isolated states may be born where two thresholds are near each other."""
    if abs(float(other.coupling / one.coupling) - 1.0) > NEARLY:
        return False
    return geometry.folds_apart(*sorted((one.modes[0], other.modes[0])))


def _warn_beyond_reach(problem: Equation, geometry: Geometry, register: Register) -> None:
    """Warn that branches born beyond the reach of the walk may come into the interval.

    If none of those born nearer comes in, none from farther off is expected.
    """
    for sign, end in zip((-1, 1), register.reach or (), strict=False):
        farther = sorted((end, FARTHER * end)) if sign in register.distant_births and end != 0.0 else None
        if farther and any(geometry.reaches_down(problem, point) for point in critical_modes(problem, *farther)):
            register.warnings.append(
                f"branches born on uniform beyond coupling {float(end):.12g} were not looked at, and one may come "
                "into the interval; ask for a wider interval"
            )


def _warn_not_followed(places: Sequence[tuple[str, Number]], reason: str, register: Register) -> None:
    """Add one sentence that names places by branch, with the reason why no branch is followed there."""
    if not places:
        return
    by_label: dict[str, list[str]] = {}
    for label, value in places[:NAMED]:
        by_label.setdefault(label, []).append(f"{float(value):.12g}")
    named = ", ".join(
        f"on {label} at {register.parameter} {', '.join(listed)}" for label, listed in by_label.items()
    )
    more = f" and at {len(places) - NAMED} more branch points" if len(places) > NAMED else ""
    register.warnings.append(f"not all branches born {named}{more} were followed: {reason}")
