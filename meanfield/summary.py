"""A diagram in words."""

from collections.abc import Iterator

import numpy as np

from .records.branch import Branch, SpecialPoint
from .records.columns import COUPLING
from .records.diagram import Diagram
from .records.outcome import Outcome
from .records.pieces import segments
from .records.state import State
from .wording import LONGEST_LIST, describe, describe_over, number_in_words, wrapped

INDENT = "  "
ROUNDING = 1e-12
# A branch has the moments that exceed this somewhere on it.
SIGNIFICANT = 1e-8


def summarise(diagram: Diagram) -> str:
    """Return the branches and special points of a diagram as a tree, at most 100 columns wide.

    Every branch stands under the branch point it was born at; couplings have 12 significant digits.
    """
    lines = [*_header(diagram), ""]
    shown: set[int] = set()
    for index, branch in enumerate(diagram.branches):
        if branch.parent is None:
            lines.extend(_branch(diagram, index, "", shown))
    # A branch whose parent is not in the list of special points must not vanish.
    for index in range(len(diagram.branches)):
        if index not in shown:
            lines.extend(_branch(diagram, index, "", shown))
    if diagram.warnings:
        lines.append("")
        lines.append("Warnings")
        for warning in diagram.warnings:
            lines.extend(wrapped(f"- {warning}", INDENT, "  "))
    return "\n".join(line.rstrip() for line in lines)


def _header(diagram: Diagram) -> Iterator[str]:
    varied = diagram.parameter != COUPLING
    low, high = diagram.interval
    yield from wrapped(
        describe_over(diagram.problem, diagram.parameter, (low, high))
        if varied
        else describe(diagram.problem.at(coupling=None)),
        "",
        INDENT,
    )
    critical = diagram.critical_coupling
    relative = f" ({float(low / critical):.6g} to {float(high / critical):.6g} relative)" if critical else ""
    yield f"{diagram.parameter} {number_in_words(low)} to {number_in_words(high)}{relative}"
    if critical is None and not varied:
        yield "no positive critical coupling"
    if critical is not None:
        yield f"critical coupling {number_in_words(critical)}: the uniform state loses stability"
    branches, events = (
        len(diagram.branches),
        [event for event in diagram.special_points if event.type != "endpoint"],
    )
    points = sum(len(branch) for branch in diagram.branches)
    yield (
        f"{_count(branches, 'branch', 'branches')}, {_count(points, 'point')}, "
        f"{_count(len(events), 'special point')}"
    )
    if not events:
        yield "nothing happens on the branches followed in this range: no bifurcation, fold or transition"


def _branch(diagram: Diagram, index: int, indent: str, shown: set[int]) -> Iterator[str]:
    shown.add(index)
    branch = diagram.branches[index]
    low, high = np.min(branch.values), np.max(branch.values)
    size = _count(len(branch), "point")
    yield from wrapped(
        f"{branch.label}: {branch.parameter} {number_in_words(low)} to {number_in_words(high)}, {size}",
        indent,
        INDENT,
    )
    yield from wrapped(stability_in_words(branch), indent + INDENT, "  ")
    if branch.outcome is not Outcome.LEFT_INTERVAL:
        yield from wrapped(f"end: {branch.outcome}", indent + INDENT, "  ")
    degree = leading_degree(branch)
    for position, event in enumerate(diagram.special_points):
        children = [child for child, other in enumerate(diagram.branches) if other.parent == position]
        # The point of birth stands above the branch already.
        birth = event.type == "branch point" and event.point == 0 and branch.parent is not None
        if event.branch != index or event.type == "endpoint" or (birth and not children):
            continue
        yield from wrapped(_event(event, degree), indent + INDENT, "  ")
        for child in children:
            if child not in shown:
                yield from _branch(diagram, child, indent + 2 * INDENT, shown)


def stability_in_words(branch: Branch) -> str:
    """Return in words how many directions are unstable along a branch, from its first to its last point."""
    if len(branch) == 0:
        return "no points"
    pieces = list(segments(branch, branch.unstable)) or [(0, 0, int(branch.unstable[0]))]
    parts = []
    for start, stop, count in pieces:
        bounds = (number_in_words(branch.values[point], 6) for point in (start, stop))
        parts.append(f"{_unstable(count)} from {' to '.join(bounds)}")
    if len(parts) > LONGEST_LIST:
        parts = [*parts[:LONGEST_LIST], f"and {len(parts) - LONGEST_LIST} more changes"]
    return "; ".join(parts)


def leading_degree(record: Branch | State) -> int:
    """Return the degree of the moment that distinguishes the states of a record from the uniform one.

    On the circle that is the first, which vanishes for several equal clusters; on spheres, where degrees are no
    rotation numbers, the lowest degree that the record has.
    """
    moments = record.moments
    if moments.modes.rotation_numbers:
        return 1
    largest = np.nan_to_num(np.atleast_2d(moments.lengths)).max(axis=0)
    significant = np.flatnonzero(largest[1:] > SIGNIFICANT)
    return int(significant[0]) + 1 if significant.size else 1


def _event(event: SpecialPoint, degree: int) -> str:
    name = "equal free energy" if event.type == "transition" else event.type
    parts = [f"{name:<17}", f"{number_in_words(event.value):<14}"]
    if event.relative_coupling is not None:
        parts.append(f"relative {float(event.relative_coupling):<11.9g}")
    moment = event.moment(f"m{degree}")
    # That of a state without one is rounding.
    parts.append(f"m{degree} {moment if abs(moment) > ROUNDING else 0.0:<9.6g}")
    if event.unstable_before is not None or event.unstable_after is not None:
        parts.append(f"unstable {_known(event.unstable_before)} -> {_known(event.unstable_after)}")
    if event.status != "converged":
        parts.append(f"({event.status})")
    return "  ".join(parts)


def _unstable(count: int) -> str:
    if count < 0:
        return "stability not counted"
    return "stable" if count == 0 else f"unstable ({_count(count, 'direction')})"


def _known(count: int | None) -> str:
    return "?" if count is None else str(count)


def _count(number: int, singular: str, plural: str | None = None) -> str:
    return f"{number} {singular if number == 1 else plural or singular + 's'}"
