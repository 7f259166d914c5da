"""First points of first-order lines: through a start of two states, and beside organising points of their ends."""

import contextlib
from collections.abc import Iterator

import numpy as np

from meanfield import InvalidInput
from meanfield.equations import Capability, require

from ...bases import Basis, Floats
from ...branches.continuation import End, Point, length
from ...root_finding.newton import POLISHED, Newton, correct
from ..in_plane.at_place import polished
from ..in_plane.plane import Plane
from ..in_plane.unknowns import (
    Pair,
    Symmetric,
    basis_of,
    moments_from,
    unknown_among,
    with_or_without_axis,
    without_axis,
)
from .branch_points import Born, born_at, born_of
from .folds import FoldEquation, null_vectors
from .starts import Start, all_beside, beside, first_point, inside_first, located, threshold_of
from .transitions import MERGED, TransitionEquation, gradient_state

# Organising points at which first-order lines begin.
BEGINNINGS = ("tricritical", "cusp", "end point")
# The free energy of a state at a transition is that of the uniform one to this share of its unknowns squared: its
# coupling is known to a share of 1e-11 and better.
EQUAL = 1e-8
# The share of b at a fold that equal free energy at the same amplitude has, see :func:`_beside_folds`.
AT_SAME_AMPLITUDE = 2.0 / 3.0
# Where they turn, equal free energy of amplitude y tells the place to rounding over y^4, of which the distance from
# the turn is of the order y^2: to this share of that it is known where a line is looked for.
KNOWN = 1e-4
# Beside it a state differs from that it is born of by an amplitude, which itself moves by the square of that: by
# more than this share it is another state.
PARENT = 0.5


def transition_start(start: Start, plane: Plane) -> Point | End:
    """Return the first point of the first-order line through a start.

    Raises
    ------
    InvalidInput
        If it has one state, which is no uniform one, or two that are one.
    """
    require(plane.problem, Capability.FREE_ENERGY, "first-order lines")
    point = _with_born(start, plane) if start.born else _first_point(start, plane)
    if isinstance(point, Point):
        equation = point.equation
        assert isinstance(equation, TransitionEquation)
        if equation.is_degenerate(point):
            raise InvalidInput(
                "no first-order line was found through the start: its states are one, or one is the uniform one; "
                "start from a transition of a diagram"
            )
    return point


def _first_point(start: Start, plane: Plane) -> Point | End:
    """Return the first point of the line through a start in a plane, whose two states may turn out to be one."""
    if start.second is None and plane.confined and start.organising not in BEGINNINGS:
        raise InvalidInput("a transition in a confinement is between two states, and the start names one")
    place, basis, b = located(start, plane, start.first)
    if start.second is not None:
        aligned = plane.confined and not start.has_orders
        moments = _nearest_image(plane, start.first, start.second) if aligned else start.second
        _, other, second = located(start, plane, moments)
        equation = TransitionEquation(plane, (basis, other))
        return first_point(equation, np.concatenate([b, second, [place[0]]]), place[1])
    if start.organising not in BEGINNINGS:
        equation = TransitionEquation(plane, (basis,))
        if not np.any(b):
            raise InvalidInput("the start of the line names no state but the uniform one")
        state = gradient_state(equation.at_states(np.append(b, place[0]), place[1])[0])
        if abs(state.energy) > EQUAL * float(b @ b):
            raise InvalidInput(
                f"the state of the transition has not the free energy of the uniform one, from which it is "
                f"{state.energy:.3g} apart, and the start names no second one; take it from a diagram computed anew"
            )
        return first_point(equation, np.append(b, place[0]), place[1])
    if start.halves:
        return _from_branch_points(start, plane)
    null = null_vectors(plane, basis, place, b)
    if start.uniform:
        equation = TransitionEquation(plane, (basis,))
        fold = FoldEquation(plane, (basis,), null)
        found = beside([fold, equation], np.append(b, place[0]), place[1], np.append(null[1], 0.0))
    else:
        equation = TransitionEquation(plane, (basis, basis))
        found = _beside_cusp(equation, b, place, null[1])
    return first_point(equation, *found, start.organising)


def _beside_cusp(
    equation: TransitionEquation, b: Floats, place: tuple[float, float], null: Floats
) -> tuple[Floats, float]:
    """Return (b, q) of a point of the line of two states that begins at a cusp, beside that.

    Raises
    ------
    InvalidInput
        If none is found of two states of the symmetry of that at the cusp, which more symmetric ones are near.
    """
    apart = np.concatenate([null, -null, [0.0]]) / np.sqrt(2.0)
    all_found = all_beside([equation], np.concatenate([b, b, [place[0]]]), place[1], apart)
    found = inside_first(equation.plane, (each for each in all_found if _keep_symmetry(equation, *each)))
    if found is None:
        raise InvalidInput("no transition was found to begin at the start; start from a point of it in a diagram")
    return found


def _keep_symmetry(equation: TransitionEquation, b: Floats, q: float) -> bool:
    """Return whether the states at (b, q) are two, and none has more symmetry than the densities of its basis."""
    own, second = equation.beside_first(b, q)
    if length(own - second, 0.0) <= MERGED:
        return False
    for number, basis in enumerate(equation.bases):
        moments = moments_from(basis, b[equation.places(number)])
        place = float(b[-1]), q
        if basis.invariants is None:
            found, _ = with_or_without_axis(equation.plane, moments, place)
        else:
            _, found, _ = without_axis(equation.plane, moments, place)
        if _symmetry_in(found) != _symmetry_in(basis):
            return False
    return True


def _symmetry_in(basis: Basis) -> tuple[int, bool, str]:
    """Return what tells the symmetry of the densities of a basis: that by rotation, an axis, a finite group."""
    group = basis.invariants
    return basis.symmetry, basis.fourier is None, "" if group is None else group.group.name


def _nearest_image(plane: Plane, first: Pair, second: Pair) -> Pair:
    """Return the moments of the image of a state, under all that keeps the confinement, nearest to another state.

    Of all images that one may merge with it.
    """
    one, other = (cosine[1:] - 1j * sine[1:] for cosine, sine in (first, second))
    count, images = min(one.size, other.size), plane.images(other)
    apart = np.abs(images[:, :count] - one[:count]) / np.arange(1, count + 1)
    nearest = images[int(np.argmin((apart**2).sum(axis=1)))]
    return np.append(second[0][:1], nearest.real), np.append(second[1][:1], -nearest.imag)


def _with_born(start: Start, plane: Plane) -> Point | End:
    """Return the first point of the line of the state that is born at an end point, beside it.

    Raises
    ------
    InvalidInput
        If none is born of a state of the line.
    """
    place, basis, unknown = located(start, plane, start.first)
    first = basis, unknown
    second = None if start.second is None else located(start, plane, start.second)[1:]
    for kept, parent in ((first, second), (second, first)):
        with contextlib.suppress(InvalidInput):
            born, direction = _born_at(start, plane, place, parent)
            found = _beside_born(plane, place, kept, born, direction)
            if found is not None:
                return first_point(*found)
    raise InvalidInput(
        "no state was found that is born at the end point and whose line with the other one goes on from it"
    )


def _born_at(
    start: Start, plane: Plane, place: tuple[float, float], parent: Symmetric | None
) -> tuple[Symmetric, Floats]:
    """Return the state that is born of one, None being the uniform one, and the direction in which it leaves that.

    Raises
    ------
    InvalidInput
        If none is.
    """
    if parent is not None:
        born = born_of(plane, place, *parent)
        return (born.basis, born.unknown), null_vectors(plane, born.basis, place, born.unknown)[1]
    mode = threshold_of(start)
    basis = basis_of(plane, np.eye(1, mode + 1, mode)[0], place)
    return (basis, np.zeros(basis.degrees.size)), np.where(basis.degrees == mode, 1.0, 0.0)


def _beside_born(
    plane: Plane, place: tuple[float, float], kept: Symmetric | None, born: Symmetric, direction: Floats
) -> tuple[TransitionEquation, Floats, float] | None:
    """Return the system of a state and one that is born, and a point of it along the direction or against that.

    The state that is kept is None for the uniform one. First the way towards it, of which images on two sides would
    not merge where the states do.
    """
    others = () if kept is None else (kept,)
    equation = TransitionEquation(plane, tuple(basis for basis, _ in (*others, born)))
    own = np.concatenate([np.zeros(0), *(unknown for _, unknown in others)])
    b = np.concatenate([own, born[1], [place[0]]])
    towards = 1.0
    if kept is not None:
        towards = float(np.copysign(1.0, unknown_among(kept[0], born[0], direction) @ kept[1]))
    for sign in (towards, -towards):
        away = np.concatenate([np.zeros(own.size), sign * direction, [0.0]])
        with contextlib.suppress(InvalidInput):
            return equation, *beside([equation], b, place[1], away)
    return None


def _from_branch_points(start: Start, plane: Plane) -> Point | End:
    """Return the first point of the line between a state and those born of it, from where these turn."""
    born = born_at(start, plane)
    null = null_vectors(plane, born.basis, born.place, born.unknown)
    equation = TransitionEquation(plane, (born.basis, born.curve.basis))
    found = inside_first(plane, _beside_born_of(born, equation, null))
    if found is None:
        raise InvalidInput("no transition was found to begin at the start; start from a point of it in a diagram")
    return first_point(equation, *found, start.organising)


def _beside_born_of(born: Born, equation: TransitionEquation, null: Pair) -> Iterator[tuple[Floats, float]]:
    """Yield (b, q) of points of a line between a state and those born of it, from where these turn."""
    plane = equation.plane
    apart = np.append(null[1], np.zeros(born.parent.size + 1))
    begin, (x, y) = np.concatenate([born.unknown, born.parent]), born.place
    for states, (near_x, near_y) in _beside_folds(born, FoldEquation(plane, (born.basis,), null)):
        reach = max(length(states - begin, 0.0), length(np.array([near_x - x, near_y - y]), 0.0))
        known = Newton(last_step=max(POLISHED.last_step, KNOWN * reach**2))
        found = correct(equation, np.append(states, near_x), near_y, apart, 0.0, known)
        if found is None:
            continue
        moved = max(length(found.b[:-1] - states, 0.0), length(found.b[-1:] - near_x, found.q - near_y))
        state, parent = np.split(found.b[:-1], [born.unknown.size])
        if moved <= reach and _keeps_parent(born, state, states[born.unknown.size :], parent):
            yield found.b, found.q


def _keeps_parent(born: Born, state: Floats, before: Floats, parent: Floats) -> bool:
    """Return whether that which a state is born of has moved by a share only of how far they are apart."""
    apart = state - unknown_among(born.basis, born.curve.basis, parent)
    return length(parent - before, 0.0) <= PARENT * length(apart, 0.0)


def _beside_folds(born: Born, fold: FoldEquation) -> Iterator[tuple[Floats, tuple[float, float]]]:
    r"""Yield guesses of the two states of a line beside the point where a branch turns, and of x and q.

    The branch is :math:`r + b y^2 + c y^4 = 0` there, r vanishing on the curve of branch points and b at its
    tricritical point, so that the fold of amplitude y, which is easier to find, is at
    :math:`r = c y^4, b = -2 c y^2`, and equal free energy at a third of r and two thirds of b.
    """
    plane, basis, here = fold.plane, born.curve.basis, np.array(born.place)
    along = born.curve.system(np.append(born.parent, here[0]), born.place[1]).tangent
    away = np.append(fold.borders[1], 0.0)
    for at_fold, q in all_beside([fold], np.append(born.unknown, here[0]), here[1], away):
        there = np.array([at_fold[-1], q])
        distance = float((there - here) @ along[-2:] / (along[-2:] @ along[-2:]))
        parents = [_along(born, along, share * distance) for share in (1.0, AT_SAME_AMPLITUDE)]
        if None in parents:
            continue
        (before, beside), (after, place) = (each for each in parents if each is not None)
        x, y = place + (there - beside) / 3.0
        parent = polished(plane, basis, (float(x), float(y)), after)
        if parent is not None and _keeps_parent(born, at_fold[:-1], after, parent):
            change = unknown_among(born.basis, basis, parent) - unknown_among(born.basis, basis, before)
            yield np.concatenate([at_fold[:-1] + change, parent]), (float(x), float(y))


def _along(born: Born, tangent: Floats, distance: float) -> tuple[Floats, Floats] | None:
    """Return the parent, and x and q, on the curve of branch points at a distance from where a branch turns."""
    begin, q = np.append(born.parent, born.place[0]), born.place[1]
    border = np.append(np.zeros(born.parent.size), tangent[-2])
    step = distance * tangent
    found = correct(born.curve, begin + step[:-1], q + step[-1], border, float(tangent[-1]), POLISHED)
    return None if found is None else (found.b[:-1], np.array([found.b[-1], found.q]))
