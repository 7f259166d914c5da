"""Where a branch meets a more symmetric one.

At such a point the part of the state outside the larger symmetry changes sign: the modes that are no multiples of a
larger rotation symmetry, or, at a state without reflection axis, the sines about the axis that appears. The point
itself is located on the more symmetric branch, where it is the zero of an eigenvalue and Newton is regular.
"""

import math
from collections.abc import Iterator

import numpy as np

from ..bases import Basis, CosineBasis, Floats, Integers
from ..branches.continuation import Point, length
from ..branches.junctions import COLLAPSE, Arrival, Departure, at_uniform, critical_point, leads_back, same_moments
from ..equation import StationaryEquation
from .equations import circle_equation
from .moments import complex_moments
from .rotation import best_angle, overlaps, turned
from .stability import Block

PRIMES = (2, 3, 5, 7, 11, 13)
# Modes of the state between two points count for its symmetry above this share of the largest, or of the way.
FELT_AT_CROSSING, MISSED = 1e-3, 0.05
# Axes are the same if they differ by less than this share of the angle between two.
SAME_AXIS = 1e-6


def meeting(last: Point, point: Point) -> Arrival | None:
    """Return where the curve meets a more symmetric one between two points, if it does.

    The part of the state outside the larger symmetry changes sign there.
    """
    basis = point.equation.basis
    if not isinstance(basis, CosineBasis):
        return _meeting_even(last.on(point.equation), point)
    older = last.on(point.equation)
    kept = older.b * (point.b - COLLAPSE * older.b)
    if kept.item(kept.argmin()) >= 0.0:
        # Every mode has its sign and has not collapsed.
        return None
    product = older.b * point.b
    sizes = np.abs(older.b)
    collapsed = np.abs(point.b) < COLLAPSE * sizes
    leading = collapsed & (sizes > COLLAPSE * sizes.max())
    same_signs = product.item(product.argmin()) > -1e-13 * product.item(product.argmax())
    if same_signs and not np.count_nonzero(leading):
        return None
    # Through the uniform state, or past it: where the rest of the state stays, it is another branch that is met.
    through_zero = basis.confinement is None and float(product.sum()) < 0.0
    for prime in PRIMES:
        if prime > basis.cells[-1]:
            break
        if not _admits(basis, prime * basis.symmetry):
            continue
        outside = basis.cells % prime != 0
        if outside.all() or not outside.any():
            continue
        if float(product[outside].sum()) < 0.0 or (leading.any() and collapsed[outside & leading].all()):
            found = _meeting_branch(older, point, outside)
            if found is not None and not (through_zero and _vanishes(found, older, point, ~outside)):
                return found
    return at_uniform(older, point) if through_zero else None


def _vanishes(arrival: Arrival, last: Point, point: Point, inside: np.ndarray) -> bool:
    """Whether the state met is smaller than what two points of a curve have of its symmetry: the uniform one."""
    kept = np.abs(0.5 * (last.b + point.b)[inside] / point.equation.scales[inside]).max()
    return bool(np.abs(arrival.point.moments[1:]).max() < 0.5 * kept)


def _admits(basis: Basis, symmetry: int) -> bool:
    """Whether the confinement, if there is one, has a rotation symmetry."""
    if basis.confinement is None:
        return True
    degrees = basis.symmetry * (1 + np.flatnonzero(basis.confinement))
    return bool(np.all(degrees % symmetry == 0))


def _meeting_branch(last: Point, point: Point, outside: np.ndarray) -> Arrival | None:
    basis = point.equation.basis
    sizes = [float(np.linalg.norm(p.b[outside])) for p in (last, point)]
    share = sizes[0] / (sizes[0] + sizes[1])
    crossing_b = (1 - share) * last.b + share * point.b
    crossing_q = (1 - share) * last.q + share * point.q
    # The chord misses the curve by a part of its length.
    largest = float(np.abs(crossing_b).max())
    levels = (FELT_AT_CROSSING * largest, min(MISSED * sum(sizes), 0.5 * largest))
    felt = [basis.degrees[np.abs(crossing_b) > level].tolist() for level in levels]
    for symmetry in dict.fromkeys(math.gcd(*degrees) for degrees in felt):
        if symmetry <= basis.symmetry or not _admits(basis, symmetry):
            continue
        kernel = np.where(basis.degrees % symmetry != 0, point.b - last.b, 0.0)
        reach = length(point.b - last.b, point.q - last.q)
        found = _located(point.equation, crossing_b, crossing_q, symmetry, kernel, reach)
        if found is not None:
            return found
    return None


def _located(
    equation: StationaryEquation, b: Floats, q: float, symmetry: int, kernel: Floats, reach: float
) -> Arrival | None:
    """Locate the branch point on the more symmetric branch by the secant method on its critical eigenvalue."""
    assert isinstance(equation.basis, CosineBasis)
    target = circle_equation(
        equation.geometry,
        equation.problem,
        symmetry,
        equation.sign,
        modes=equation.basis.symmetry * equation.basis.nodes,
        unknowns=int(equation.basis.degrees.max()) // symmetry,
        axis=equation.basis.axis,
    )
    if target is None:
        return None
    old = equation.basis.symmetry
    strongest = int(equation.basis.degrees[np.argmax(np.abs(kernel))])
    residue = min(strongest % symmetry, -strongest % symmetry)
    block = Block(residue, "even")
    values = np.zeros(int(max(equation.basis.degrees.max(), target.basis.degrees.max())) + 1)
    values[equation.basis.degrees] = b / equation.scales
    start = target.scales * values[target.basis.degrees]
    ratio = float(equation.unit / target.unit)
    found = critical_point(target, start, q * ratio, block, reach)
    if found is None:
        return None
    met, error = found
    return Arrival(
        met,
        met.coupling,
        reflecting=(symmetry // old) % 2 == 0,
        met=f"a branch of {symmetry} clusters",
        error=error * q,
        kernel_dimension=1 if 2 * residue == symmetry else 2,
    )


def _meeting_even(last: Point, point: Point) -> Arrival | None:
    """Return where a state gains a reflection axis."""
    equation = point.equation
    old, new = _complex_modes(last), _complex_modes(point)
    degrees = equation.basis.degrees[: new.size] // equation.basis.symmetry
    for before_angle, angle in _axes(equation, old, new, degrees):
        after = new * np.exp(-1j * degrees * angle)
        before = old * np.exp(-1j * degrees * before_angle)
        sizes = float(np.linalg.norm(before.imag)), float(np.linalg.norm(after.imag))
        # Vectors on two sides of zero are as far apart as they are long; elsewhere opposite signs are chance.
        apart = float(np.linalg.norm(after.imag - before.imag))
        if float(after.imag @ before.imag) < 0.0 and sum(sizes) <= 1.2 * apart:
            share = sizes[0] / sum(sizes)
            aligned = (1 - share) * before.real + share * after.real
            axis = angle / equation.basis.symmetry if equation.basis.confinement is not None else 0.0
            q = (1 - share) * last.q + share * point.q
            reach = math.hypot(float(np.linalg.norm(after - before)), point.q - last.q)
            arrival = _located_even(equation, aligned, q, axis, reach)
            if arrival is not None:
                return arrival
    return None


def _axes(
    equation: StationaryEquation, old: Floats, new: Floats, degrees: Integers
) -> Iterator[tuple[float, float]]:
    """Yield the angles of the axes that two neighbouring states may gain between them, at each of the two.

    The strongest mode has a crest or a trough on the axis. A confinement has its axes at angle zero and, if it is
    invariant under rotations, at the multiples of half their angle.
    """
    if equation.basis.confinement is not None:
        cells = int(np.gcd.reduce(np.flatnonzero(equation.basis.confinement) + 1))
        for angle in np.pi * np.arange(cells) / cells:
            yield float(angle), float(angle)
        return
    strongest = int(np.argmax(np.abs(new) * (np.abs(old) > 0.0)))
    degree = int(degrees[strongest])
    turn = float(np.angle(new[strongest] / old[strongest])) / degree
    for trough in range(2 * degree):
        angle = float(np.angle(new[strongest]) + np.pi * trough) / degree
        yield angle - turn, angle


def _complex_modes(point: Point) -> Floats:
    """Return b as complex amplitudes, phases counted like those of exp(i k theta) shifted to the state."""
    cosine, sine = np.split(point.b, 2)
    return np.asarray(cosine + 1j * sine)


def _located_even(equation: StationaryEquation, b: Floats, q: float, axis: float, reach: float) -> Arrival | None:
    """Locate, on the even branch, the point at which its sine block is critical."""
    symmetry = equation.basis.symmetry
    target = circle_equation(
        equation.geometry,
        equation.problem,
        symmetry,
        equation.sign,
        modes=symmetry * equation.basis.nodes,
        unknowns=int(equation.basis.degrees.max()) // symmetry,
        axis=axis,
    )
    if target is None or target.scales.size != b.size:
        return None
    found = critical_point(target, b, q, Block(0, "odd"), reach)
    if found is None:
        return None
    met, error = found
    return Arrival(met, met.coupling, True, f"a branch of {symmetry} clusters", even=False, error=error * q)


def nearest_image(symmetric: Point, last: Point) -> Floats:
    """Return a more symmetric state, turned to where a branch comes in, in the unknowns of the branch."""
    basis = last.equation.basis
    moments = complex_moments(symmetric)
    if basis.confinement is None:
        goal = complex_moments(last)
        if isinstance(basis, CosineBasis):
            # Only these turns keep an even state of that symmetry even.
            symmetry = symmetric.equation.basis.symmetry
            turns = np.pi * np.arange(2 * symmetry) / symmetry
            moments = turned(moments, float(turns[np.argmax(overlaps(moments, goal, turns))]))
        else:
            moments = turned(moments, best_angle(moments, goal))
    return last.equation.unknown_from(basis.moments_from(moments.real, -moments.imag))


def same_place(departure: Departure, arrival: Arrival) -> bool:
    """Whether a departure starts at a place where another branch has arrived."""
    point = arrival.point
    if not np.any(departure.b):
        return departure.equation.basis.symmetry == point.equation.basis.symmetry and leads_back(departure, arrival)
    if np.abs(departure.coupling - arrival.coupling) > 1e-7 * np.abs(arrival.coupling):
        return False
    if arrival.even != isinstance(departure.equation.basis, CosineBasis):
        return False
    one, other = complex_moments(departure.base()), complex_moments(point)
    symmetry = point.equation.basis.symmetry
    if not arrival.even or (symmetry // departure.equation.basis.symmetry) % 2 == 1:
        # Reflection symmetry is lost, and rotation symmetry divided by an odd number, in the same way at every
        # rotation of the state; by an even number in another way at the state turned by half of its angle.
        one, other = np.abs(one), np.abs(other)
    else:
        turns = (departure.equation.basis.axis - point.equation.basis.axis) * symmetry / (2.0 * np.pi)
        if abs(turns - round(turns)) > SAME_AXIS:
            return False
    return same_moments(one, other)
