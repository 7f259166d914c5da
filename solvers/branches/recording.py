"""From followed branches to the records of `meanfield`: plain arrays, nothing of a solver in them."""

from dataclasses import dataclass, field
from itertools import groupby, pairwise

import numpy as np

from meanfield import Branch, Number, Outcome, SpecialPoint
from meanfield.states import Layout

from ..bases import Floats
from ..geometry import geometry_of
from .continuation import Point, point_between
from .detection import Event, interval_end
from .following import Followed, Knot

# A moment below this is rounding noise; the density is resolved by the moments above it.
SIGNIFICANT = 1e-15
FEWEST_POINTS = 16
# Relative width of an interval of couplings beyond which an event is not called located.
CONVERGED = 1e-12
LABELS = {"branch point": "BP", "fold": "LP", "transition": "TR", "endpoint": "EP"}


@dataclass(slots=True)
class Register:
    """Branches and special points gathered so far, and what a reader must be warned of."""

    interval: tuple[Number, Number]
    critical: Number | None
    branches: list[Branch] = field(default_factory=list)
    special_points: list[SpecialPoint] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)

    def relative(self, coupling: Number) -> float | None:
        """Return a coupling relative to the critical one."""
        return None if self.critical is None else float(coupling / self.critical)

    def relatives(self, couplings: Floats) -> Floats:
        """Return couplings relative to the critical one, nan where there is none."""
        if self.critical is None:
            return np.full(couplings.shape, np.nan)
        return np.asarray(couplings / self.critical, dtype=float)

    def unique_label(self, label: str) -> str:
        """Return the label, numbered if it is taken."""
        taken = {branch.label for branch in self.branches}
        candidates = (label if i == 1 else f"{label} ({i})" for i in range(1, len(taken) + 3))
        return next(candidate for candidate in candidates if candidate not in taken)


def record(followed: Followed, label: str, symmetry: int, parent: int | None, register: Register) -> None:
    """Record the parts of a branch inside the interval, and the warnings about it."""
    for piece in _pieces(followed, register.interval):
        _record_piece(_filled(piece), followed, register.unique_label(label), symmetry, parent, register)
    register.warnings += [f"{label}: {warning}" for warning in followed.warnings]


def _pieces(followed: Followed, interval: tuple[Number, Number]) -> list[list[Knot]]:
    """Cut the knots at the ends of the interval, exactly, and return the parts inside."""
    pieces: list[list[Knot]] = []
    previous: Knot | None = None
    within = False
    for knot, inside in zip(followed.knots, _inside(followed.knots, interval), strict=True):
        for end in [] if previous is None or (inside and within) else _crossings(previous, knot, interval):
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


def _filled(piece: list[Knot]) -> list[Knot]:
    """Return a short piece with points halfway between its own, so that a narrow interval shows a curve."""
    while 1 < len(piece) < FEWEST_POINTS:
        filled = [piece[0]]
        for one, other in pairwise(piece):
            middle = 0.5 * (one.point.arclength + other.point.arclength)
            point = point_between(one.point, other.point, middle)
            if point is None:
                return piece
            count = other.unstable if other.event is None else other.event.before
            filled += [Knot(point, count), other]
        piece = filled
    return piece


def largest_modulus(interval: tuple[Number, Number]) -> Number:
    """Return the largest coupling of an interval in modulus."""
    return max(interval[1], -interval[0])


def _inside(knots: list[Knot], interval: tuple[Number, Number]) -> list[bool]:
    """Return which knots are in an interval or at its ends."""
    slack = 1e-13 * largest_modulus(interval)
    couplings = np.array([knot.point.coupling for knot in knots])
    within = (interval[0] - slack <= couplings) & (couplings <= interval[1] + slack)
    return [bool(inside) for inside in within]


def _crossings(one: Knot, other: Knot, interval: tuple[Number, Number]) -> list[Knot]:
    equation = other.point.equation
    found = []
    for end in interval:
        q = float(end / (equation.sign * equation.unit))
        if any(_inside([one, other], (end, end))):
            continue
        event = interval_end(one.point, other.point, q) if q > 0 else None
        if event is not None:
            event.before = event.after = one.unstable
            found.append(Knot(event.point, one.unstable, event))
    found.sort(key=lambda knot: knot.point.arclength)
    return found


def _record_piece(
    knots: list[Knot], followed: Followed, label: str, symmetry: int, parent: int | None, register: Register
) -> None:
    points = [knot.point for knot in knots]
    cosine, sine, tangent_cosine, tangent_sine, modes = moment_arrays(points)
    coupling = np.array([point.coupling for point in points])
    starts_at_birth = followed.knots[0] is knots[0]
    labels = ["" if knot.event is None else LABELS[knot.event.kind] for knot in knots]
    if starts_at_birth and followed.departure is not None:
        labels[0] = "BP"
    labels[-1] = labels[-1] or "EP"
    labels[0] = labels[0] or "EP"
    branch = Branch(
        label=label,
        parent=parent if starts_at_birth else None,
        symmetry=symmetry,
        coupling=coupling,
        relative_coupling=register.relatives(coupling),
        cosine=cosine,
        sine=sine,
        arclength=np.array([point.arclength for point in points]),
        free_energy_gap=np.array([point.free_energy_gap for point in points]),
        unstable=np.array([-1 if knot.unstable is None else knot.unstable for knot in knots]),
        slowest_rate=np.full(len(points), np.nan),
        residual=np.array([point.residual for point in points]),
        modes=modes,
        tangent_coupling=np.array(
            [float(p.solution.tangent_q * p.equation.sign * p.equation.unit) for p in points]
        ),
        tangent_cosine=tangent_cosine,
        tangent_sine=tangent_sine,
        point_labels=tuple(labels),
        outcome=followed.outcome if knots[-1] is followed.knots[-1] else Outcome.LEFT_INTERVAL,
        layout=points[0].equation.basis.layout,
    )
    register.branches.append(branch)
    _record_events(knots, branch, register)


def _record_events(knots: list[Knot], branch: Branch, register: Register) -> None:
    for index, knot in enumerate(knots):
        event = knot.event
        if event is None:
            if index != len(knots) - 1:
                continue
            event = Event("endpoint", knot.point, 0.0, description=str(branch.outcome))
            event.before = event.after = knot.unstable
        event.recorded = len(register.special_points)
        register.special_points.append(_special(event, index, branch, register))


def _special(event: Event, index: int, branch: Branch, register: Register) -> SpecialPoint:
    coupling = branch.coupling[index]
    spread = abs(event.error * event.point.equation.unit) + 4 * np.finfo(float).eps * abs(coupling)
    return SpecialPoint(
        branch=len(register.branches) - 1,
        point=index,
        type=event.kind,
        coupling=coupling,
        relative_coupling=register.relative(coupling),
        lower=coupling - spread,
        upper=coupling + spread,
        unstable_before=event.before,
        unstable_after=event.after,
        kernel_dimension=event.kernel_dimension,
        status=_status(event),
        cosine=branch.cosine[index],
        sine=branch.sine[index],
        description=event.description or _describe(event),
        layout=branch.layout,
    )


def _status(event: Event) -> str:
    """Return "converged" where the interval that holds the event is at rounding level, else "guess"."""
    return "converged" if event.error <= CONVERGED * event.point.q else "guess"


def _describe(event: Event) -> str:
    if not event.blocks:
        return ""
    symmetry = event.point.equation.basis.symmetry
    return "critical: " + ", ".join(block.words(symmetry) for block in event.blocks)


def moment_arrays(points: list[Point]) -> tuple[Floats, Floats, Floats, Floats, np.ndarray]:
    """Return moments and their derivatives along the branch, by point and place, and the resolved degrees."""
    basis = points[0].equation.basis
    geometry = geometry_of(points[0].equation.problem)
    groups = [list(group) for _, group in groupby(points, key=lambda point: point.equation)]
    parts = [geometry.moment_arrays(group) for group in groups]
    places = np.concatenate([_last_significant(part) for part in parts])
    modes = places if basis.layout == "degree" else _degree_at(places)
    width = places_of(max(int(modes.max()), 4), basis.layout)
    arrays = np.zeros((4, len(points), width))
    row = 0
    for part in parts:
        count = min(width, part.shape[2])
        arrays[:, row : row + part.shape[1], :count] = part[:, :, :count]
        row += part.shape[1]
    return arrays[0], arrays[1], arrays[2], arrays[3], modes


def _last_significant(arrays: Floats) -> np.ndarray:
    large = np.abs(arrays[:2]).max(axis=0) > SIGNIFICANT
    return np.asarray(large.shape[1] - 1 - np.argmax(large[:, ::-1], axis=1))


def _degree_at(places: np.ndarray) -> np.ndarray:
    """Return the degree l of the places l (l + 1)/2 + m."""
    return np.asarray((np.sqrt(8.0 * places + 1.0) - 1.0) // 2.0, dtype=np.int64)


def places_of(degree: int, layout: Layout) -> int:
    """Return how many moments there are up to a degree."""
    return degree + 1 if layout == "degree" else (degree + 1) * (degree + 2) // 2
