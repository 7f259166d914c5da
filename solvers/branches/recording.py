"""From followed branches to the records of `meanfield`: plain arrays, nothing of a solver in them."""

from dataclasses import dataclass, field
from itertools import groupby, pairwise

import numpy as np
import scipy.fft

from meanfield import Branch, McKeanVlasov, Number, Outcome, SpecialPoint, critical_modes

from ..bases import CosineBasis, Floats
from .continuation import Point, point_between
from .detection import Event, interval_end
from ..equation import even_size
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
    for knot in followed.knots:
        inside = _inside(knot.point, interval)
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


def _inside(point: Point, interval: tuple[Number, Number]) -> bool:
    slack = 1e-13 * largest_modulus(interval)
    return bool(interval[0] - slack <= point.coupling <= interval[1] + slack)


def _crossings(one: Knot, other: Knot, interval: tuple[Number, Number]) -> list[Knot]:
    equation = other.point.equation
    found = []
    for end in interval:
        q = float(end / (equation.sign * equation.unit))
        if _inside(one.point, (end, end)) or _inside(other.point, (end, end)):
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
        relative_coupling=np.array([_or_nan(register.relative(value)) for value in coupling]),
        cosine=cosine,
        sine=sine,
        arclength=np.array([point.arclength for point in points]),
        free_energy_gap=np.array([point.free_energy_gap for point in points]),
        unstable=np.array([-1 if knot.unstable is None else knot.unstable for knot in knots]),
        slowest_rate=np.full(len(points), np.nan),
        residual=np.array([point.solution.residual for point in points]),
        modes=modes,
        tangent_coupling=np.array(
            [float(p.solution.tangent_q * p.equation.sign * p.equation.unit) for p in points]
        ),
        tangent_cosine=tangent_cosine,
        tangent_sine=tangent_sine,
        point_labels=tuple(labels),
        outcome=followed.outcome if knots[-1] is followed.knots[-1] else Outcome.LEFT_INTERVAL,
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
    )


def _status(event: Event) -> str:
    """Return "converged" where the interval that holds the event is at rounding level, else "guess"."""
    return "converged" if event.error <= CONVERGED * event.point.q else "guess"


def _describe(event: Event) -> str:
    if not event.blocks:
        return ""
    symmetry = event.point.equation.basis.symmetry
    kinds = {"even": "cosine", "odd": "sine", "mixed": "cosine and sine"}
    parts = [f"{kinds[block.parity]} modes of class {block.residue} modulo {symmetry}" for block in event.blocks]
    return "critical: " + ", ".join(parts)


def _or_nan(value: float | None) -> float:
    return np.nan if value is None else value


def moment_arrays(points: list[Point]) -> tuple[Floats, Floats, Floats, Floats, np.ndarray]:
    """Return moments and their derivatives along the branch, by point and degree, and the resolved degrees."""
    groups = [list(group) for _, group in groupby(points, key=lambda point: point.equation)]
    parts = [_group_arrays(group) for group in groups]
    modes = np.concatenate([_last_significant(part) for part in parts])
    width = max(int(modes.max()), 4) + 1
    arrays = np.zeros((4, len(points), width))
    row = 0
    for part in parts:
        count = min(width, part.shape[2])
        arrays[:, row : row + part.shape[1], :count] = part[:, :, :count]
        row += part.shape[1]
    return arrays[0], arrays[1], arrays[2], arrays[3], modes


def _group_arrays(points: list[Point]) -> Floats:
    """Return moments and derivatives of points of one equation, shape (4, points, degree + 1)."""
    symmetry = points[0].equation.basis.symmetry
    density = significant_moments(points)
    derivative = moment_derivatives(points, density)
    arrays = np.zeros((4, len(points), symmetry * (density.shape[1] - 1) + 1))
    for first, values in ((0, density), (2, derivative)):
        arrays[first, :, ::symmetry] = values.real
        arrays[first + 1, :, ::symmetry] = -values.imag
    return arrays


def significant_moments(points: list[Point]) -> np.ndarray:
    """Return the moments m - i s of points of one equation by cell, up to the last that is above rounding noise."""
    basis = points[0].equation.basis
    rows = np.array([point.moments for point in points])
    large = np.abs(rows).max(axis=0).reshape(-1, basis.nodes + 1).max(axis=0) > SIGNIFICANT
    count = int(np.flatnonzero(large)[-1]) + 1
    if isinstance(basis, CosineBasis):
        return rows[:, :count]
    return rows[:, :count] - 1j * rows[:, basis.nodes + 1 : basis.nodes + 1 + count]


def _last_significant(arrays: Floats) -> np.ndarray:
    large = np.abs(arrays[:2]).max(axis=0) > SIGNIFICANT
    return np.asarray(large.shape[1] - 1 - np.argmax(large[:, ::-1], axis=1))


def moment_derivatives(points: list[Point], density: np.ndarray) -> np.ndarray:
    """Return the derivatives along the branch of the moments m - i s by cell, one row a point.

    The derivative of a moment is the covariance of its mode with the derivative of the field; the products are
    taken on a grid of all points at once, with as many nodes as the moments that are given need.
    """
    basis = points[0].equation.basis
    slopes = np.array([_field_slope(point) for point in points])
    if not isinstance(basis, CosineBasis):
        half = slopes.shape[1] // 2
        slopes = slopes[:, :half] - 1j * slopes[:, half:]
    cells = basis.degrees[: slopes.shape[1]] // basis.symmetry
    # A product of degree d reaches back to 2 nodes - d, which must stay above the degrees that are asked for.
    nodes = even_size(density.shape[1] + int(cells[-1]))
    series = np.zeros((len(points), int(cells[-1]) + 1), dtype=slopes.dtype)
    series[:, cells] = 0.5 * slopes
    product = scipy.fft.irfft(series, 2 * nodes) * scipy.fft.irfft(density, 2 * nodes)
    covariances = scipy.fft.rfft(product)[:, : density.shape[1]] * (2 * nodes)
    derivative = covariances - density * covariances[:, :1].real
    return derivative if np.iscomplexobj(density) else derivative.real


def _field_slope(point: Point) -> Floats:
    solution = point.solution
    change = solution.tangent_q * solution.b + solution.q * solution.tangent_b
    slope: Floats = 2.0 * point.equation.signed_scales * change
    return slope


def uniform_branch(
    problem: McKeanVlasov,
    couplings: Floats,
    labels: tuple[str, ...],
    unstable: np.ndarray,
    register: Register,
) -> Branch:
    """Return the uniform branch, exact, at the given couplings."""
    count = couplings.size
    moments = np.zeros((count, 5))
    moments[:, 0] = 1.0
    zeros = np.zeros((count, 5))
    relative = np.array([_or_nan(register.relative(value)) for value in couplings])
    arclength = (
        np.abs(relative - relative[0]) if register.critical is not None else np.abs(couplings - couplings[0])
    )
    return Branch(
        label="uniform",
        parent=None,
        symmetry=0,
        coupling=couplings,
        relative_coupling=relative,
        cosine=moments,
        sine=zeros,
        arclength=arclength.astype(float),
        free_energy_gap=np.zeros(count),
        unstable=unstable,
        slowest_rate=_uniform_rates(problem, couplings),
        residual=np.zeros(count),
        modes=np.zeros(count, dtype=np.int64),
        tangent_coupling=np.ones(count),
        tangent_cosine=zeros,
        tangent_sine=zeros,
        point_labels=labels,
        outcome=Outcome.LEFT_INTERVAL,
    )


def _uniform_rates(problem: McKeanVlasov, couplings: Floats) -> Floats:
    """Return the smallest decay rate D k^2 (1 - lambda_k) of the uniform state over all modes."""
    largest = max(
        64, *(2 * mode for point in critical_modes(problem, *_span(couplings)) for mode in point.modes), 0
    )
    squares = np.arange(1, largest + 1) ** 2
    multipliers = problem.potential.multipliers(problem.domain, largest)[1:]
    growth = np.multiply.outer(couplings, squares * multipliers / 2.0)
    return np.asarray((problem.noise * squares + growth).min(axis=1), dtype=float)


def _span(couplings: Floats) -> tuple[Number, Number]:
    return np.minimum(couplings[0], 0.0), np.maximum(couplings[-1], 0.0)
