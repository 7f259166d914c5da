"""Conversion of followed branches to the records of `meanfield`, plain arrays."""

from dataclasses import dataclass, field, replace
from itertools import groupby, pairwise
from typing import Any

import numpy as np

from meanfield import Branch, Equation, Number, Outcome, SpecialPoint, State
from meanfield.harmonics import Layout, in_layout, modes_of
from meanfield.records import COUPLING

from ..bases import Floats
from ..equations.observables import of_points
from ..root_finding.newton import NEUTRAL
from .arrivals import Arrival
from .continuation import Point, point_between, values_of
from .detection import Event
from .following import VERTICAL_NEUTRAL, Followed, Knot, own_count, own_counts
from .interval_ends import interval_end
from .labels import untaken
from .orbits import symmetry_of

# A moment below this is rounding noise; the density is resolved by the moments above it.
SIGNIFICANT = 1e-15
FEWEST_POINTS = 16
# Relative width of an interval of couplings beyond which an event is not called located.
CONVERGED = 1e-12
# Two folds are told where the parameter changes between them by more than so many times their errors, estimates.
ESTABLISHED = 4.0
LABELS = {"branch point": "BP", "fold": "LP", "Hopf": "HB", "transition": "TR", "endpoint": "EP"}


@dataclass(slots=True)
class Register:
    """Branches and special points gathered so far, warnings, and what was searched.

    ``arrivals`` are the places where branches met more symmetric ones; ``beyond_depth`` and ``childless`` the
    branch points, each with the label of its branch, whose branches the depth excludes, and those without a
    followed branch although the depth admits one.
    """

    interval: tuple[Number, Number]
    critical: Number | None
    branches: list[Branch] = field(default_factory=list)
    special_points: list[SpecialPoint] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    labels: list[str] = field(default_factory=list)
    remarks: dict[str, list[str]] = field(default_factory=dict)
    arrivals: list[Arrival] = field(default_factory=list)
    beyond_depth: list[tuple[str, Event]] = field(default_factory=list)
    childless: list[tuple[str, Event]] = field(default_factory=list)
    reach: tuple[Number, Number] | None = None
    distant_births: set[int] = field(default_factory=set)
    searched: list[str] = field(default_factory=list)
    parameter: str = COUPLING

    def relatives(self, values: Floats) -> Floats:
        """Return the couplings at values of the parameter relative to the critical one, nan if none exists."""
        if self.critical is None:
            return np.full(values.shape, np.nan)
        return np.asarray(values / self.critical, dtype=float)

    def unique_label(self, label: str) -> str:
        """Return a label, numbered if it is taken, and register it."""
        self.labels.append(untaken(label, set(self.labels)))
        return self.labels[-1]

    def warn(self, label: str, text: str) -> None:
        """Add a warning about a branch; the same text for several branches becomes one sentence."""
        about = self.remarks.setdefault(text, [])
        about += [] if label in about else [label]

    def sentences(self) -> tuple[str, ...]:
        """Return all warnings as sentences."""
        said = (f"{', '.join(labels)}: {text}" for text, labels in self.remarks.items())
        return (*said, *dict.fromkeys(self.warnings))


@dataclass(frozen=True, eq=False, slots=True)
class Part:
    """A part of a followed branch inside the interval, under the label that it has in the diagram."""

    label: str
    curve: Followed


def parts_of(followed: Followed, label: str, register: Register) -> list[Part]:
    """Return the parts of a branch inside the interval, labelled, each with the warnings about it.

    A warning about what is outside goes to the part nearest along the branch.
    """
    parts = []
    for knots in _pieces(followed, register):
        first, last = knots[0] is followed.knots[0], knots[-1] is followed.knots[-1]
        curve = replace(
            followed,
            departure=followed.departure if first else None,
            knots=knots,
            outcome=followed.outcome if last else Outcome.LEFT_INTERVAL,
            warnings=[],
        )
        parts.append(Part(register.unique_label(label), curve))
    for place, text in followed.warnings:
        if parts:
            nearest_part(parts, place).curve.warnings.append((place, text))
        else:
            register.warn(f"{label}, which is outside the interval", text)
    return parts


def nearest_part(parts: list[Part], arclength: float) -> Part:
    """Return the part of a branch that contains an arclength, or comes nearest to it."""

    def distance(part: Part) -> float:
        ends = (part.curve.knots[0].point.arclength, part.curve.knots[-1].point.arclength)
        return max(ends[0] - arclength, arclength - ends[1])

    return min(parts, key=distance)


def record(part: Part, symmetry: int, parent: int | None, register: Register) -> None:
    """Add a part of a branch, as a record, and the warnings about it to the register."""
    knots = part.curve.knots
    try:
        knots = _filled(part.curve)
    except Exception as error:
        part.curve.warn(f"points between its own are missing ({type(error).__name__}: {error})")
    _forget_folds_of_rounding(knots, part.curve)
    _record_piece(knots, part, symmetry, parent, register)
    for _, text in part.curve.warnings:
        register.warn(part.label, text)


def _pieces(followed: Followed, register: Register) -> list[list[Knot]]:
    """Return the knots of a branch inside the interval, in parts, cut exactly at its ends."""
    interval = register.interval
    pieces: list[list[Knot]] = []
    previous: Knot | None = None
    within = False
    for knot, inside in zip(followed.knots, _inside(followed.knots, interval), strict=True):
        crossed = [] if previous is None or (inside and within) else _crossings(previous, knot, followed, interval)
        for end in crossed:
            if within:
                pieces[-1].append(end)
            else:
                pieces.append([end])
            within = not within
        if inside and not within:
            pieces.append([])
        within = inside
        if inside:
            pieces[-1].append(knot)
        previous = knot
    return [piece for piece in pieces if len(piece) > 1]


def _filled(curve: Followed) -> list[Knot]:
    """Return the knots of a curve, with points added between few, so that a narrow interval shows a curve."""
    knots = curve.knots
    while 1 < len(knots) < FEWEST_POINTS:
        middles: list[Point] = []
        for one, other in pairwise(knots):
            middle = point_between(one.point, other.point, 0.5 * (one.point.arclength + other.point.arclength))
            if middle is None:
                return knots
            middles.append(middle)
        between = [Knot(point, count) for point, count in zip(middles, own_counts(middles, curve), strict=True)]
        knots = [knots[0], *(knot for pair in zip(between, knots[1:], strict=True) for knot in pair)]
    return knots


def largest_modulus(interval: tuple[Number, Number]) -> Number:
    """Return the largest coupling of an interval in modulus."""
    return max(interval[1], -interval[0])


def _inside(knots: list[Knot], interval: tuple[Number, Number]) -> list[bool]:
    """Return for every knot whether it is in an interval or at its ends."""
    slack = 1e-13 * largest_modulus(interval)
    values = values_of([knot.point for knot in knots])
    within = (interval[0] - slack <= values) & (values <= interval[1] + slack)
    return [bool(inside) for inside in within]


def _crossings(one: Knot, other: Knot, followed: Followed, interval: tuple[Number, Number]) -> list[Knot]:
    equation = other.point.equation
    found = []
    for end in interval:
        q = equation.q_at(end)
        if any(_inside([one, other], (end, end))):
            continue
        event = interval_end(one.point, other.point, q) if q > 0 else None
        if event is not None:
            event.before = event.after = own_count(event.point, followed)
            found.append(Knot(event.point, event.before, event))
        elif (one.point.q - q) * (other.point.q - q) < 0.0:
            followed.warn(
                f"no state was found at the end {float(end):.12g} of the interval; the branch is cut before it",
                one.point,
            )
    found.sort(key=lambda knot: knot.point.arclength)
    return found


def _record_piece(knots: list[Knot], part: Part, symmetry: int, parent: int | None, register: Register) -> None:
    points = [knot.point for knot in knots]
    _forget_uncounted(knots, part.curve.vertical)
    cosine, sine, tangent_cosine, tangent_sine, modes = moment_arrays(points)
    values = values_of(points)
    slopes = np.array([float(p.solution.tangent_q * p.equation.sign * p.equation.unit) for p in points])
    labels = ["" if knot.event is None else LABELS[knot.event.kind] for knot in knots]
    if part.curve.departure is not None:
        labels[0] = "BP"
    labels[-1] = labels[-1] or "EP"
    labels[0] = labels[0] or "EP"
    branch = Branch(
        label=part.label,
        parent=None if part.curve.departure is None else parent,
        symmetry=symmetry,
        **along(points[0].equation.parameter, points[0].coupling, values, slopes),
        relative_coupling=register.relatives(values),
        cosine=cosine,
        sine=sine,
        arclength=np.array([point.arclength for point in points]),
        observables=of_points(points[0].equation, np.array([point.invariant for point in points])),
        unstable=np.array([-1 if knot.unstable is None else knot.unstable for knot in knots]),
        slowest_rate=np.full(len(points), np.nan),
        residual=_residuals(points),
        modes=modes,
        tangent_cosine=tangent_cosine,
        tangent_sine=tangent_sine,
        point_labels=tuple(labels),
        outcome=part.curve.outcome,
        layout=points[0].equation.basis.modes.layout,
    )
    register.branches.append(branch)
    _record_events(knots, branch, register)


def _forget_folds_of_rounding(knots: list[Knot], curve: Followed) -> None:
    """Forget pairs of guessed folds between which the parameter changes by hardly more than their errors.

    Where a direction is neutral to rounding along a branch the parameter is known to a part of its digits only, and
    what is left of them turns.
    """
    folds = [knot for knot in knots[1:-1] if knot.event is not None and _is_guessed_fold(knot.event)]
    told: list[Knot] = []
    for knot in folds:
        if told and _as_close_as_errors(told[-1], knot):
            told.pop()
        else:
            told.append(knot)
    forgotten = [knot for knot in folds if not any(knot is each for each in told)]
    if not forgotten:
        return
    for knot in forgotten:
        knot.event = None
    low, high = (limit(float(knot.point.value) for knot in forgotten) for limit in (min, max))
    name = forgotten[0].point.equation.parameter
    curve.warn(
        f"no folds are told between {name} {low:.12g} and {high:.12g}, where it turns by no more than "
        f"{ESTABLISHED:g} times their errors"
    )


def _is_guessed_fold(event: Event) -> bool:
    """Return whether an event is a fold that is not located to rounding."""
    return event.kind == "fold" and _status(event) == "guess"


def _as_close_as_errors(one: Knot, other: Knot) -> bool:
    """Return whether the parameter is the same at two events to within a few times their errors."""
    errors = sum(knot.event.error for knot in (one, other) if knot.event is not None)
    return abs(one.point.q - other.point.q) <= ESTABLISHED * errors


def _forget_uncounted(knots: list[Knot], vertical: bool) -> None:
    """Forget counts that rounding does not determine, except at events and births, where directions are neutral."""
    for knot in knots[1:]:
        if not (vertical or knot.event is not None or knot.point.equation.densities.is_counted(knot.point)):
            knot.unstable = None


def _record_events(knots: list[Knot], branch: Branch, register: Register) -> None:
    for index, knot in enumerate(knots):
        event = knot.event
        if event is None:
            if index != len(knots) - 1:
                continue
            event = Event("endpoint", knot.point, 0.0, description=_ending(knot, branch))
            event.before = event.after = knot.unstable
        event.recorded = len(register.special_points)
        register.special_points.append(_special(event, index, branch, register))


def _ending(knot: Knot, branch: Branch) -> str:
    """Return why a branch ends, in words."""
    equation = knot.point.equation
    if equation.ends is not None and branch.outcome is Outcome.LEFT_INTERVAL:
        return f"end of the {equation.parameter} interval"
    return str(branch.outcome)


def _special(event: Event, index: int, branch: Branch, register: Register) -> SpecialPoint:
    value, equation = branch.values[index], event.point.equation
    spread: Any = equation.rounding(value)
    spread += abs(event.error * equation.unit)
    relative = float(branch.relative_coupling[index])
    return SpecialPoint(
        branch=len(register.branches) - 1,
        point=index,
        type=event.kind,
        coupling=branch.coupling[index],
        relative_coupling=None if np.isnan(relative) else relative,
        lower=value - spread,
        upper=value + spread,
        unstable_before=event.before,
        unstable_after=event.after,
        kernel_dimension=event.kernel_dimension,
        status=_status(event),
        description=event.description or _describe(event),
        parameter=branch.parameter,
        parameter_value=None if branch.parameter_values is None else value,
        **_states(event, branch, index),
    )


def _states(event: Event, branch: Branch, index: int) -> dict[str, Any]:
    """Return the moments of the state of an event and of the second one, if any, in a layout that has both."""
    own = branch.cosine[index], branch.sine[index]
    if event.rival is None:
        return {"layout": branch.layout, "cosine": own[0], "sine": own[1]}
    rival, modes = significant_moments(event.rival)[:2], event.rival.equation.basis.modes
    layouts: tuple[Layout, ...] = (branch.layout, "order")
    layout = next(each for each in layouts if in_layout(each, modes, *rival) is not None)
    both = [
        in_layout(layout, modes_of(event.point.equation.problem.domain, branch.layout), *own),
        in_layout(layout, modes, *rival),
    ]
    (cosine, sine), (other_cosine, other_sine) = (pair for pair in both if pair is not None)
    return {
        "layout": layout,
        "cosine": cosine,
        "sine": sine,
        "other_cosine": other_cosine,
        "other_sine": other_sine,
    }


def along(parameter: str, coupling: Number | None, values: Floats, slopes: Floats) -> dict[str, Any]:
    """Return the fields of a branch that say where its points are, from the values of the parameter along it.

    Parameters
    ----------
    parameter, coupling
        The name of what varies, and the coupling if that is another one.
    values, slopes
        Those of the parameter, and their derivatives along the branch.
    """
    if parameter == COUPLING:
        return {"coupling": values, "tangent_coupling": slopes}
    return {
        "coupling": np.full(values.size, coupling),
        "tangent_coupling": np.zeros(values.size),
        "parameter": parameter,
        "parameter_values": values,
        "tangent_parameter": slopes,
    }


def _status(event: Event) -> str:
    """Return "converged" if the interval that contains an event is at rounding level, else "guess"."""
    return "converged" if event.error <= CONVERGED * event.point.q else "guess"


def _describe(event: Event) -> str:
    if not event.blocks:
        return ""
    symmetry = event.point.equation.basis.symmetry
    return "critical: " + ", ".join(block.words(symmetry) for block in event.blocks)


def state_of(problem: Equation, point: Point, label: str = "", *, vertical: bool = False) -> State:
    """Return a point of a branch as a state of a problem at its coupling.

    Parameters
    ----------
    vertical
        Whether it is of a family at one coupling; along it a direction is neutral up to the error of its members.
    """
    equation = point.equation
    counts = equation.densities.unstable_counts(point, VERTICAL_NEUTRAL if vertical else NEUTRAL)
    cosine, sine, modes = significant_moments(point)
    return State(
        problem=problem,
        cosine=cosine,
        sine=sine,
        observables=of_points(equation, point.invariant),
        unstable=sum(counts) if vertical or equation.densities.is_counted(point) else None,
        symmetry=symmetry_of(point),
        residual=point.residual,
        modes=modes,
        label=label,
        layout=equation.basis.modes.layout,
    )


def _residuals(points: list[Point]) -> Floats:
    """Return :attr:`Point.residual` of points, (points,)."""
    rows = (
        np.abs([point.solution.evaluation.residual for point in group]).max(axis=1)
        for _, group in groupby(points, key=lambda point: point.equation)
    )
    truncations = [point.equation.truncation_at(point.moments) for point in points]
    return np.asarray(np.maximum(np.concatenate([*rows]), truncations))


def moment_arrays(points: list[Point]) -> tuple[Floats, Floats, Floats, Floats, np.ndarray]:
    """Return moments and their derivatives along the branch, by point and place, and the resolved degrees."""
    basis = points[0].equation.basis
    densities = points[0].equation.densities
    groups = [list(group) for _, group in groupby(points, key=lambda point: point.equation)]
    parts = [densities.moment_arrays(group) for group in groups]
    places = np.concatenate([_last_significant(part) for part in parts])
    degrees = basis.modes.degrees(int(places.max()) + 1)[places]
    arrays = _joined(parts, basis.modes.places(max(int(degrees.max()), 4)))
    # Records copy what could be written to.
    arrays.flags.writeable = False
    return arrays[0], arrays[1], arrays[2], arrays[3], degrees


def _joined(parts: list[Floats], width: int) -> Floats:
    """Return arrays of moments of points one after the other, of a width."""
    if len(parts) == 1 and parts[0].shape[2] == width:
        return parts[0]
    arrays = np.zeros((4, sum(part.shape[1] for part in parts), width))
    row = 0
    for part in parts:
        count = min(width, part.shape[2])
        arrays[:, row : row + part.shape[1], :count] = part[:, :, :count]
        row += part.shape[1]
    return arrays


def significant_moments(point: Point) -> tuple[Floats, Floats, int]:
    """Return the moments of a point by place, and the resolved degrees."""
    basis = point.equation.basis
    both = np.array(basis.expand(point.moments))
    degree = int(basis.modes.degrees(int(_last_significant(both[:, None])[0]) + 1)[-1])
    width = basis.modes.places(max(degree, 4))
    moments = np.zeros((2, width))
    moments[:, : both.shape[1]] = both[:, :width]
    return moments[0], moments[1], degree


def _last_significant(arrays: Floats) -> np.ndarray:
    large = np.abs(arrays[:2]).max(axis=0) > SIGNIFICANT
    return np.asarray(large.shape[1] - 1 - np.argmax(large[:, ::-1], axis=1))
