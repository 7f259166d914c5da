"""Which curves there are in a window: those of the uniform branch, and those that diagrams at fixed values meet.

Every fold, every point of equal free energy and every secondary branch point of a bifurcation diagram lies on a
curve. Diagrams are taken on both sides of every organising point of the uniform branch, where curves begin, at a
few values between, and beside the ends of the interval, through which curves that begin beyond it may come in; a
special point that lies on no known curve starts one.
"""

import dataclasses
import re
from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from meanfield import Curve, OrganisingPoint
from meanfield.equations import Capability

from ..execution.watching import Watch
from ..two_parameters import STARTS
from .between import pairs_between, value_between, values_without
from .found import SAME_END, Found, add_curve
from .lines import follow_meetings, follow_zero_field
from .sections import Section
from .uniform import organising_point, threshold_curves, threshold_modes, uniform_points, unresolved
from .window import Window, beside_ends, evenly

# Distance of a section from an organising point, in windows, and its largest share of the way to the next one.
ASIDE, SHARE = 0.02, 0.4


def curves_of(window: Window, count: int, search: bool, watch: Watch) -> Found:
    """Return all curves in a window.

    Parameters
    ----------
    count
        Number of sections besides those about organising points.
    search
        Whether sections look for branches connected to no other.
    """
    watch(0, None, "thresholds")
    uniform = window.problem.confinement is None
    modes = threshold_modes(window) if uniform else []
    organising = uniform_points(window, modes)
    window = dataclasses.replace(window, kinks=tuple(p.value for p in organising if p.type == "mode interaction"))
    found = Found(window, warnings=unresolved(window, modes))
    for mode in modes:
        for threshold in threshold_curves(window, mode, organising):
            found.add(threshold, "in closed form")
    for point in organising:
        found.add_point(organising_point(window, point))
    stops = [point.value for point in organising]
    values = _values(window, [*stops, *window.freeing], count)
    for number, value in enumerate(values):
        watch(number, len(values), "sections")
        _add_section(found, Section(window, value, search), watch)
    for value in window.freeing:
        follow_zero_field(found, value)
    _follow_organising(found)
    _fill(found, search, watch)
    for one, other, counts in pairs_between(found):
        known = len(found.curves)
        searched = [section for section in (one, other) if counts and section.search()]
        for section in searched:
            _follow_special(found, section, watch)
        if not searched:
            _add_section(found, Section(window, value_between(one, other), search), watch)
        if len(found.curves) > known:
            _follow_organising(found)
        _fill(found, search, watch)
    found.warnings += _warnings(found)
    found.points.sort(key=lambda point: float(point.values[0]))
    return found


def _fill(found: Found, search: bool, watch: Watch) -> None:
    """Add sections in faces of which none tells anything, and all curves that these lead to."""
    for value in values_without(found):
        known = len(found.curves)
        _add_section(found, Section(found.window, value, search), watch)
        if len(found.curves) > known:
            _follow_organising(found)


def _add_section(found: Found, section: Section, watch: Watch) -> None:
    """Add a section, and the curves that it meets and that are not known."""
    watch(0, None, f"{section.parameter} = {section.value:.4g}")
    found.sections.append(section)
    found.sections.sort(key=lambda section: section.value)
    _follow_special(found, section, watch)


def _follow_special(found: Found, section: Section, watch: Watch) -> None:
    """Follow the curves that a section meets and that are not known."""
    _follow(found, section, watch)
    _follow_exchanges(found, section)


def _follow_organising(found: Found) -> None:
    """Follow the curves that begin at the organising points of those that are known."""
    _follow_tricritical(found)
    _follow_double_rates(found)
    _follow_cusps(found)
    follow_meetings(found)


def _follow(found: Found, section: Section, watch: Watch) -> None:
    """Follow the special points of a section that are on no known curve."""
    window, diagram = found.window, section.diagram
    for event in diagram.special_points:
        born = event.type == "branch point" and diagram.branches[event.branch].symmetry == 0
        if event.type == "endpoint" or born:
            continue
        if not window.contains(section.value, float(event.coupling)) or found.knows(
            event.type, section.value, float(event.coupling)
        ):
            continue
        name = f"{event.type} on {diagram.branches[event.branch].label}"
        if event.type not in STARTS:
            where = f"{window.parameter} = {section.value:.6g}"
            found.unfollowed.setdefault((f"the curve of the {name}", ""), []).append(where)
            continue
        watch(0, None, name)
        add_curve(found, _from(section), event, f"the curve of the {name}")


def _from(section: Section) -> str:
    return f"from the diagram at {section.parameter} = {section.value:.6g}"


def _follow_exchanges(found: Found, section: Section) -> None:
    """Follow the points of equal free energy of two stable states of one branch that are on no known curve."""
    window = found.window
    for point in section.exchanges():
        if window.contains(section.value, point.coupling) and not found.knows(
            "transition", section.value, point.coupling
        ):
            add_curve(found, _from(section), point, "the line on which two states of one branch exchange")


def _follow_tricritical(found: Found) -> None:
    """Follow the curves of folds and of equal free energy that begin where branches of clustered states turn."""
    for point in [point for point in found.points if point.type == "tricritical" and np.any(point.cosine[1:])]:
        known = {each.type for each in found.curves if each.label in point.curves}
        kinds = ("fold",) if found.window.problem.lacks(Capability.FREE_ENERGY) else ("fold", "transition")
        for kind in kinds:
            if kind not in known:
                origin = f"from the tricritical point at {point.values[0]:.6g}"
                add_curve(found, origin, point, f"the {kind} of the branch born at a branch point", type=kind)


def _follow_double_rates(found: Found) -> None:
    """Follow both curves through each Bogdanov-Takens point: that of folds or branch points, and that which ends.

    No branch in the coupling need have such folds, those of states that are there between two couplings alone, and
    no section need meet either curve. What is followed may have further points.
    """
    seen = 0
    while points := [point for point in found.points if point.type == "Bogdanov-Takens"][seen:]:
        seen += len(points)
        for point in points:
            known = {each.type for each in found.curves if _ends_in(found, each, point)}
            origin = f"from the Bogdanov-Takens point at {point.values[0]:.6g}"
            if known == {"Hopf"}:
                add_curve(found, origin, point, "the curve on which the growth rate zero is a double one")
            elif "Hopf" not in known:
                words = "the curve of Hopf bifurcations that ends where the growth rate zero is a double one"
                add_curve(found, origin, point, words, type="Hopf")


def _follow_cusps(found: Found) -> None:
    """Follow the lines that end in cusps at which a stable state splits, unless one is known to.

    On some the parameter has one value, at which the confinement has a symmetry that it has not beside, so that no
    section meets them. Without a free energy there are none.
    """
    if found.window.problem.lacks(Capability.FREE_ENERGY):
        return
    for point in [point for point in found.points if point.type == "cusp" and point.status == "converged"]:
        if found.window.vanishes(float(point.values[0])):
            # States of all orientations are born there, and are no two.
            continue
        lines = [each for each in found.curves if each.type == "transition"]
        if not any(_ends_in(found, each, point) for each in lines) and _is_stable_beside(found, point):
            origin = f"from the cusp at {point.values[0]:.6g}"
            add_curve(found, origin, point, "the line that ends in a cusp", type="transition")


def _ends_in(found: Found, line: Curve, point: OrganisingPoint) -> bool:
    """Return whether a curve has an organising point at the place of another."""
    return any(found.same_place(own, point) for own in line.special_points)


def _is_stable_beside(found: Found, point: OrganisingPoint) -> bool:
    """Return whether the states on a fold curve beside a cusp of it are stable on one side."""
    for fold in found.curves:
        if fold.type == "fold" and _ends_in(found, fold, point):
            row = int(np.argmin(np.abs(fold.values - point.values).max(axis=1)))
            if 0 in fold.unstable[max(row - 1, 0) : row + 2]:
                return True
    return False


def _values(window: Window, organising: Sequence[float], count: int) -> list[float]:
    """Return the parameters of sections: evenly spaced, on each side of every organising point, and at the ends.

    Those at the ends are the last, so that curves are followed from what is well inside if that meets them.
    """
    low, high = window.interval
    stops = [low, *sorted(set(organising)), high]
    aside = ASIDE * (high - low)
    beside = [
        own + side * min(aside, SHARE * abs(stops[place + side] - own))
        for place, own in enumerate(stops)
        if 0 < place < len(stops) - 1
        for side in (-1, 1)
    ]
    avoided = (0.0, *window.freeing)
    values = sorted({*beside, *evenly(window.interval, count, avoided)})
    inside = [value for last, value in pairwise([-np.inf, *values]) if value - last > SAME_END * (high - low)]
    return [*inside, *beside_ends(window.interval, count, avoided)]


def _warnings(found: Found) -> list[str]:
    """Return what the sections warn of, once what differs in numbers only, and the curves that are not followed."""
    said: dict[str, list[tuple[float, str]]] = {}
    for section in found.sections:
        for warning in section.diagram.warnings:
            said.setdefault(re.sub(r"[\d.e+-]*\d", "#", warning), []).append((section.value, warning))
    parameter = found.window.parameter
    return [
        f"at {parameter} = {', '.join(f'{value:.6g}' for value, _ in own)}: {own[0][1]}" for own in said.values()
    ] + [
        f"{words} at {'; '.join(dict.fromkeys(places))} is not followed{reason}"
        for (words, reason), places in found.unfollowed.items()
    ]
