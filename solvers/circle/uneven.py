"""Densities on the circle that need not have a reflection axis: cosines and sines are unknown.

A branch of them meets one of even states where its sines about some axis change sign, see :mod:`.meeting`, and one
of more clusters where the modes that this does not have do.
"""

import math
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from ..bases import COLLAPSE, Floats, Integers
from ..branches.arrivals import Arrival, arrival_near, crossing
from ..branches.continuation import Point, length, point_between
from ..branches.orbits import SAME, SIGNIFICANT
from ..equations.counts import Counts
from ..equations.equation import StationaryEquation
from ..equations.sizing import equation_among
from ..root_finding.newton import NEUTRAL, neutral_at
from .axes import axis_of, confining_symmetry_in
from .meeting import PRIMES
from .moments import (
    by_degree,
    complex_moments,
    factor_changes,
    field_slopes,
    moment_derivatives,
    significant_moments,
)
from .orbits import evened
from .orbits import name_of as name_with_axis
from .rotation import Complexes, best_angle, turned
from .stability import Block, classes_of, perturbations

# Times that the way between two states is halved to find the branch that they meet.
HALVINGS = 8


def unstable_counts(point: Point, neutral: float = NEUTRAL) -> Counts:
    """Return the number of unstable directions among all modes, and 0, as all belong to one count."""
    count, determinants = perturbations(point).count_mixed(point, neutral_at(point.q, neutral))
    return Counts(count, 0, determinants)


def blocks_of(point: Point) -> list[Block]:
    """Return all symmetry blocks at a point, of cosines and sines together."""
    return [Block(residue, "mixed") for residue in classes_of(point)]


def name_of(point: Point) -> str:
    """Return the name of a state, which may have an axis nevertheless."""
    even = evened(complex_moments(point), SAME, turning=True) is not None
    return f"{'' if even else 'uneven '}{name_with_axis(point)}"


def moment_arrays(points: list[Point]) -> Floats:
    """Return moments and derivatives along the branch of points of one equation, (4, points, degree + 1)."""
    density = _complex_rows(*significant_moments(points))
    cells, slopes = field_slopes(points)
    rows = _complex_rows(*np.split(slopes, 2, axis=1))
    derivative, changes = moment_derivatives(density, cells, rows), factor_changes(points)
    if changes is not None:
        derivative += _complex_rows(*np.split(changes, 2, axis=1))[:, : density.shape[1]]
    return by_degree(points, density, derivative)


def _complex_rows(cosine: Floats, sine: Floats) -> Complexes:
    return np.asarray(cosine - 1j * sine)


def meeting(last: Point, point: Point) -> Arrival | None:
    """Return the arrival of a curve of uneven states at a more symmetric one between two points, or None."""
    older = last.on(point.equation)
    even = _meeting_even(older, point)
    return meeting_more_clusters(older, point, even=False) if even is None else even


def meeting_more_clusters(last: Point, point: Point, *, even: bool) -> Arrival | None:
    """Return the arrival of a curve at states of a multiple of its symmetry between two points, or None.

    At an odd multiple the curve passes through, at twice its symmetry it ends.

    Parameters
    ----------
    last, point
        Points of one equation.
    even
        Whether the states met may have an axis.
    """
    cells = np.tile(point.equation.basis.cells, 2)
    for prime in PRIMES:
        outside = cells % prime != 0
        if outside.any() and not outside.all() and vanish(last.b[outside], point.b[outside]):
            arrival = _meeting_multiple(last, point, outside, prime, even=even)
            if arrival is not None:
                return arrival
    return None


def _meeting_multiple(
    last: Point, point: Point, outside: NDArray[np.bool_], prime: int, *, even: bool
) -> Arrival | None:
    """Return the arrival where the modes outside a multiple of the symmetry vanish, or None."""
    equation, basis = point.equation, point.equation.basis
    assert basis.fourier is not None
    target = equation_among(equation, prime * basis.symmetry, even=even, finer=2)
    if target is None:
        return None
    b, q = crossing(last, point, outside)
    moments, first = basis.fourier.complex_moments(b / equation.scales), target.basis.symmetry
    if basis.confinement is None:
        moments = turned(moments, float(np.angle(moments[first])) / first)
    start = target.unknown_with(moments.real, -moments.imag)
    strongest = int(np.tile(basis.degrees, 2)[np.argmax(np.abs(np.where(outside, point.b - last.b, 0.0)))])
    residue = min(strongest % first, -strongest % first)
    return arrival_near(
        equation,
        target,
        start,
        q,
        Block(residue, "mixed"),
        length(point.b - last.b, point.q - last.q),
        f"a branch of {first} clusters",
        reflecting=prime == 2,
        even=False,
    )


def vanish(before: Floats, after: Floats) -> bool:
    """Return whether modes pass zero between two points, or vanish since Newton's method found a state without."""
    size = float(np.abs(before).max())
    return float(before @ after) < 0.0 or float(np.abs(after).max()) < COLLAPSE * size


def _meeting_even(last: Point, point: Point) -> Arrival | None:
    """Return the arrival of a curve at an even state between two points of one equation, or None."""
    equation = point.equation
    old, new = _complex_modes(last), _complex_modes(point)
    degrees = equation.basis.degrees[: new.size] // equation.basis.symmetry
    for angles in _axes(equation, old, new, degrees):
        one, other = _about(last, angles[0]), _about(point, angles[1])
        if not _gains_axis(one, other):
            continue
        arrival = _arrival_between(last, point, angles) or _arrival_within(last, point, angles)
        if arrival is not None:
            return arrival
    return None


def _arrival_within(last: Point, point: Point, angles: tuple[float, float]) -> Arrival | None:
    """Return the arrival between two states between which an axis is gained, halving the way; None if not found.

    Only a confinement fixes the axis at states between them.
    """
    if point.equation.basis.confinement is None:
        return None
    for _ in range(HALVINGS):
        middle = point_between(last, point, 0.5 * (last.arclength + point.arclength))
        if middle is None:
            return None
        before = _gains_axis(_about(last, angles[0]), _about(middle, angles[0]))
        last, point = (last, middle) if before else (middle, point)
        arrival = _arrival_between(last, point, angles)
        if arrival is not None:
            return arrival
    return None


def _about(point: Point, angle: float) -> Complexes:
    """Return the complex modes of a point from an angle: sines about it are their imaginary parts."""
    modes = _complex_modes(point)
    degrees = point.equation.basis.degrees[: modes.size] // point.equation.basis.symmetry
    return np.asarray(modes * np.exp(-1j * degrees * angle))


def _gains_axis(before: Complexes, after: Complexes) -> bool:
    """Return whether the sines of two neighbouring states pass zero between them, or vanish."""
    sizes = float(np.linalg.norm(before.imag)), float(np.linalg.norm(after.imag))
    if max(sizes) <= SIGNIFICANT * float(np.linalg.norm(after)):
        # Both states have the axis already, and what is left is rounding.
        return False
    # Vectors on two sides of zero are as far apart as they are long; elsewhere opposite signs are chance.
    apart = float(np.linalg.norm(after.imag - before.imag))
    return vanish(before.imag, after.imag) and sum(sizes) <= 1.2 * apart


def _arrival_between(last: Point, point: Point, angles: tuple[float, float]) -> Arrival | None:
    """Return the arrival at the even branch beside the point of the chord where the sines vanish, None if none."""
    equation = point.equation
    before, after = _about(last, angles[0]), _about(point, angles[1])
    sizes = float(np.linalg.norm(before.imag)), float(np.linalg.norm(after.imag))
    share = sizes[0] / sum(sizes)
    aligned = (1 - share) * before.real + share * after.real
    axis = angles[1] / equation.basis.symmetry if equation.basis.confinement is not None else 0.0
    q = (1 - share) * last.q + share * point.q
    reach = math.hypot(float(np.linalg.norm(after - before)), point.q - last.q)
    return _located_even(equation, aligned, q, axis, reach)


def _axes(
    equation: StationaryEquation, old: Floats, new: Floats, degrees: Integers
) -> Iterator[tuple[float, float]]:
    """Yield the angles of the axes that two neighbouring states may gain between them, at each of the two.

    The strongest mode has a crest or a trough on the axis. A confinement may have an axis and then has, if it is
    invariant under rotations, others at the multiples of half their angle from it.
    """
    if equation.basis.confinement is not None:
        axis = axis_of(equation.problem)
        if axis is None:
            return
        cells = confining_symmetry_in(equation.basis) // equation.basis.symmetry
        for angle in equation.basis.symmetry * axis + np.pi * np.arange(cells) / cells:
            yield float(angle), float(angle)
        return
    strongest = int(np.argmax(np.abs(new) * (np.abs(old) > 0.0)))
    degree = int(degrees[strongest])
    turn = float(np.angle(new[strongest] / old[strongest])) / degree
    for trough in range(2 * degree):
        angle = float(np.angle(new[strongest]) + np.pi * trough) / degree
        yield angle - turn, angle


def _complex_modes(point: Point) -> Floats:
    """Return b as complex amplitudes, with the phases of exp(i k theta) shifted to the state."""
    cosine, sine = np.split(point.b, 2)
    return np.asarray(cosine + 1j * sine)


def _located_even(equation: StationaryEquation, b: Floats, q: float, axis: float, reach: float) -> Arrival | None:
    """Return the arrival at an even branch, the point at which its sine block is critical; None if not found."""
    symmetry = equation.basis.symmetry
    target = equation_among(equation, symmetry, axis=axis, finer=2)
    if target is None or target.scales.size != b.size:
        return None
    met = f"a branch of {symmetry} clusters"
    return arrival_near(equation, target, b, q, Block(0, "odd"), reach, met, even=False)


def nearest_image(symmetric: Point, last: Point) -> Floats:
    """Return the image of a more symmetric state nearest to an arriving branch, in the unknowns of the branch."""
    basis = last.equation.basis
    moments = complex_moments(symmetric)
    if basis.confinement is None:
        moments = turned(moments, best_angle(moments, complex_moments(last)))
    return last.equation.unknown_with(moments.real, -moments.imag)
