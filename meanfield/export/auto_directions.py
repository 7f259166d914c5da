r"""The critical directions of branch points, which the unknowns of AUTO files have to hold, from their states.

AUTO follows a branch point where the derivative of its equations has one null vector. Among modes with multipliers
W, and their covariance C at a state, it is that of the map from moments to those of the Gibbs density,

.. math:: J = 1 + \frac{\kappa}{D}\, C\, W,

and C consists of moments up to twice the degree. Rotations t that turn a state to other ones are null vectors as
well; in :math:`J + t t^T/|t|^2`, which the files give AUTO, they are none, and the others are orthogonal to t.

A state without an axis may have several critical directions that its symmetries take to one another. Branches are
born along those that have so much symmetry left that no other has the same (equivariant branching lemma). Functions
of directions which the symmetries do not change are stationary there: the means of exponentials of the change of
the field. Which direction is one is checked: in the least space that holds the state and the direction there is no
other that is critical.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..domains import Circle, Sphere
from ..equations import Equation
from ..errors import InvalidInput
from ..harmonics import (
    degrees_and_orders,
    full_density,
    gauss_rule,
    harmonics_at,
    moments_of,
    packed,
    packed_size,
    place,
    polar_angles,
    polynomials,
    sum_at,
    zonal_density,
)
from ..records.curves import Curve, CurvePoint
from .auto_space import ROUNDING, SMALL, Pair, Space, closed_space, free_axes, grid, infinitesimally_turned

Floats = NDArray[np.float64]

# Singular values up to this share of the largest are those of critical directions: states are known to roundings.
NEUTRAL = float(np.sqrt(np.finfo(float).eps))
# Points of a curve of which the one is taken where its critical directions are told best from others.
LOOKED_AT = 5
# The field and its change, at the most, in the search for directions of much symmetry; starts and steps there.
FIELD, CHANGE, STARTS, STEPS = 5.0, 5.0, 6, 100
# The largest step, and one that is rounding.
LONGEST, SHORTEST = 0.3, 1e-13
# Points between the poles for each degree that integrate the exponential of both to rounding.
POINTS = 17


class Modes(NamedTuple):
    """Functions among whose means a state is looked at.

    Attributes
    ----------
    table : (n, nodes) float
        Their values.
    masses : (nodes,) float
        The density times the weights of a rule that is exact for products of two of them.
    degrees : (n,) int
        Their degrees.
    means : (n,) float
        Their means.
    turns : (k, n) float
        Orthonormal changes of the means by rotations that turn the state to other ones.
    """

    table: Floats
    masses: Floats
    degrees: NDArray[np.int64]
    means: Floats
    turns: Floats

    def derivative(self, problem: Equation) -> Floats:
        """Return J, with the rotations moved away from zero."""
        multipliers = problem.potential.multipliers(problem.domain, int(self.degrees.max()))
        covariance = (self.table * self.masses) @ self.table.T - np.multiply.outer(self.means, self.means)
        strength = problem.fixed_coupling / problem.noise
        found = strength * covariance * np.asarray(multipliers[self.degrees], dtype=float)
        return np.asarray(found + np.eye(self.degrees.size) + self.turns.T @ self.turns)


class Kernel(NamedTuple):
    """The critical directions among some modes, (k, n), orthonormal, and the next singular value of J."""

    directions: Floats
    beyond: float

    @classmethod
    def of(cls, matrix: Floats) -> "Kernel":
        """Return that of a matrix."""
        _, sizes, right = np.linalg.svd(matrix)
        count = int(np.count_nonzero(sizes <= NEUTRAL * max(sizes[0], 1.0)))
        return cls(right[sizes.size - count :], float(sizes[-1 - count]) if count < sizes.size else 0.0)


class Critical(NamedTuple):
    """What a curve of branch points needs of the unknowns.

    Attributes
    ----------
    degree : int
        The degree up to which the critical direction has moments on which the potential acts.
    direction : (cosine, sine)
        Its moments, (1, places), packed on S^2.
    held : bool
        Whether they are among those about the axis of the states, or of the parity of these on the circle.
    """

    degree: int
    direction: Pair
    held: bool


class LookedAt(NamedTuple):
    """A point of a curve with directions critical there, (k, n), among modes, and the places of these among all.

    ``held`` tells whether the unknowns of the states hold the directions, and ``margin`` how well they are told:
    the fewer they are, and the farther from zero the next singular value, the better.
    """

    point: CurvePoint
    modes: Modes
    places: NDArray[np.int64]
    directions: Floats
    held: bool
    margin: tuple[int, float]


def critical(curve: Curve, degree: int, last: int) -> Critical:
    """Return what a curve of branch points of a gradient law needs of the unknowns.

    Parameters
    ----------
    degree, last
        The degree of the moments of the states, and that up to which the potential acts.

    Raises
    ------
    InvalidInput
        If no direction is critical that AUTO files can hold.
    """
    while True:
        degree = min(degree, last)
        looked_at = [each for point in _points(curve) if (each := _looked_at(point, degree))]
        if looked_at:
            best = max(looked_at, key=lambda each: each.margin)
            direction = _most_symmetric(best.point, best.modes, best.directions, degree)
            if degree == last or _tail(best.point.problem, best.modes.degrees, direction, degree) <= ROUNDING:
                return Critical(degree, _pair(best, direction, degree), best.held)
        if degree == last:
            raise InvalidInput(
                "AUTO goes on from branch points in unknowns that hold a direction critical there, and those of "
                f"{curve.label!r} have none among the modes that AUTO files hold; write .nc or .json instead"
            )
        degree *= 2


def require_one(curve: Curve, dimension: int, degree: int, space: Space | None = None) -> None:
    """Require that of the directions among the first unknowns of a file one is critical along a curve.

    Parameters
    ----------
    dimension
        The number of these unknowns.
    degree
        The degree up to which the potential acts.
    space
        The unknowns, if they are not the moments by degree.

    Raises
    ------
    InvalidInput
        If none is, or several are.
    """
    counts = _counts(curve, dimension, degree, space)
    if 1 not in counts:
        raise InvalidInput(
            "AUTO follows branch points where just one direction among the unknowns is critical, and at those of "
            f"{curve.label!r} {min(counts) or 'none'} of {dimension} are; write this curve into files of its "
            "own, or .nc or .json"
        )


def has_one(curve: Curve, dimension: int, degree: int, space: Space | None = None) -> bool:
    """Return whether just one direction is critical among the first unknowns, as :func:`require_one` requires."""
    return 1 in _counts(curve, dimension, degree, space)


def _counts(curve: Curve, dimension: int, degree: int, space: Space | None) -> list[int]:
    """Return how many directions are critical among the first unknowns at some points of a curve."""
    return [
        len(Kernel.of(_among(point, dimension, degree, space).derivative(point.problem)).directions)
        for point in _points(curve)
    ]


def _points(curve: Curve) -> list[CurvePoint]:
    """Return points of a curve, between its ends and organising points if there are such."""
    plain = np.array([place for place, label in enumerate(curve.point_labels) if not label] or [len(curve) // 2])
    chosen = plain[np.unique(np.linspace(0, plain.size - 1, LOOKED_AT + 2).round().astype(int)[1:-1])]
    return [curve.point(int(place)) for place in chosen]


def _looked_at(point: CurvePoint, degree: int) -> LookedAt | None:
    """Return a point of a curve with directions critical there, None if there are none."""
    if upright := _has_axis(point):
        blocks = list(_CLASSES[point.problem.domain.name](point, degree))
    else:
        blocks = [(_on_sphere(point, degree), np.arange(2 * packed_size(degree)))]
    kernels = [Kernel.of(modes.derivative(point.problem)) for modes, _ in blocks]
    singular = [number for number, each in enumerate(kernels) if len(each.directions)]
    if not singular:
        return None
    # Of several classes the first: unknowns of the states themselves have it, if any.
    modes, places = blocks[singular[0]]
    margin = -sum(len(each.directions) for each in kernels), min(each.beyond for each in kernels)
    held = upright and singular[0] == 0
    return LookedAt(point, modes, places, kernels[singular[0]].directions, held, margin)


def _has_axis(point: CurvePoint) -> bool:
    """Return whether the states of a curve depend on one angle only."""
    return moments_of(point.problem.domain, point.layout, point.cosine, point.sine).has_axis


def _tail(problem: Equation, degrees: NDArray[np.int64], direction: Floats, degree: int) -> float:
    """Return the share of the last quarter of the degrees in the change of the field along a direction."""
    multipliers = np.asarray(problem.potential.multipliers(problem.domain, degree), dtype=float)
    fields = np.abs(multipliers[degrees] * direction)
    return float(fields[4 * degrees > 3 * degree].max(initial=0.0) / fields.max())


def _pair(looked_at: LookedAt, direction: Floats, degree: int) -> Pair:
    """Return a direction as moments."""
    size = packed_size(degree) if looked_at.point.problem.domain.has_azimuth else degree + 1
    whole = np.zeros(2 * size)
    whole[looked_at.places] = direction
    return whole[np.newaxis, :size], whole[np.newaxis, size:]


def _circular(point: CurvePoint, degree: int) -> Iterator[tuple[Modes, NDArray[np.int64]]]:
    """Yield cosines and sines at a state on the circle, together if it has sines, and their places among all."""
    modes = _on_circle(point, degree)
    parts = [np.arange(2 * degree)] if np.any(point.sine) else np.split(np.arange(2 * degree), 2)
    for part in parts:
        yield _part(modes, part), part + 1 + part // degree


def _zonal(point: CurvePoint, degree: int) -> Modes:
    """Return the modes about the axis at a state on a sphere."""
    dimension = point.problem.domain.dimension
    rule = gauss_rule(dimension, 2 * degree + 1)
    own = _up_to(point.cosine, 2 * degree + 1)
    masses = zonal_density(own, dimension, rule.polar) * rule.weights
    degrees = np.arange(1, degree + 1)
    table = polynomials(dimension, rule, degree)[1:]
    return Modes(table, masses, degrees, own[degrees], np.zeros((0, degree)))


def _azimuthal(point: CurvePoint, degree: int) -> Iterator[tuple[Modes, NDArray[np.int64]]]:
    """Yield the modes about the axis at a state on a sphere, on S^2 those of each order, and their places."""
    modes = _zonal(point, degree)
    if not point.problem.domain.has_azimuth:
        yield modes, modes.degrees
        return
    yield modes, place(modes.degrees, 0)
    polar = gauss_rule(point.problem.domain.dimension, 2 * degree + 1).polar
    harmonics = harmonics_at(np.stack([np.sin(polar), np.zeros_like(polar), np.cos(polar)], axis=1), degree)[0]
    for order in range(1, degree + 1):
        degrees = np.arange(order, degree + 1)
        turns = (np.sqrt(degrees * (degrees + 1.0)) * modes.means[degrees - 1])[np.newaxis]
        free = order == 1 and point.problem.confinement is None
        # The mean square of the cosine of the azimuth is one half.
        table = harmonics[place(degrees, order)] * np.sqrt(0.5)
        own = Modes(table, modes.masses, degrees, np.zeros(degrees.size), _orthonormal(turns[: int(free)]))
        yield own, place(degrees, order)


def _on_circle(point: CurvePoint, degree: int) -> Modes:
    """Return cosines and sines up to a degree at a state on the circle."""
    cosine, sine = (_up_to(part, 2 * degree + 1)[1:] for part in (point.cosine, point.sine))
    angles = 2.0 * np.pi * np.arange(4 * degree + 2) / (4 * degree + 2)
    phases = np.multiply.outer(np.arange(1, 2 * degree + 1), angles)
    masses = (1.0 + 2.0 * (cosine @ np.cos(phases) + sine @ np.sin(phases))) / angles.size
    degrees, cosine, sine = np.arange(1, degree + 1), cosine[:degree], sine[:degree]
    turn = np.concatenate([-degrees * sine, degrees * cosine])[np.newaxis]
    turns = turn if point.problem.confinement is None else turn[:0]
    table = np.concatenate([np.cos(phases[:degree]), np.sin(phases[:degree])])
    return Modes(table, masses, np.tile(degrees, 2), np.concatenate([cosine, sine]), _orthonormal(turns))


def _on_sphere(point: CurvePoint, degree: int) -> Modes:
    """Return all packed harmonics up to a degree at a state on S^2, and rotations the confinement admits."""
    nodes, weights = grid(2 * degree + 1)
    table = harmonics_at(nodes, degree).reshape(-1, len(nodes))
    degrees = np.tile(degrees_and_orders(degree)[0], 2)
    # Constants are no modes.
    table[degrees == 0] = 0.0
    means = np.where(degrees == 0, 0.0, np.concatenate(_packed(point, degree)))
    turned = infinitesimally_turned(means.reshape(1, 2, -1)).reshape(3, -1)
    turns = _orthonormal(free_axes(point.problem) @ turned)
    return Modes(table, _density(point, degree, nodes) * weights, degrees, means, turns)


def _among(point: CurvePoint, dimension: int, degree: int, space: Space | None) -> Modes:
    """Return the first unknowns of a file as modes at a state."""
    if space is None:
        return _part(_EVERY[point.problem.domain.name](point, degree), np.arange(dimension))
    modes = _on_sphere(point, degree)
    rows = space.rows.reshape(space.dimension, -1)[:dimension]
    means = rows @ modes.means
    turns = np.zeros((0, dimension))
    if dimension == space.dimension:
        turns = space.free_rotations(free_axes(point.problem)) @ means
    return Modes(rows @ modes.table, modes.masses, space.degrees[:dimension], means, _orthonormal(turns))


def _part(modes: Modes, part: NDArray[np.int64]) -> Modes:
    """Return some of the modes, with the rotations among them."""
    turns = _orthonormal(modes.turns[:, part])
    return Modes(modes.table[part], modes.masses, modes.degrees[part], modes.means[part], turns)


def _orthonormal(turns: Floats) -> Floats:
    """Return an orthonormal basis of what changes of some means by rotations span, (k, n)."""
    _, sizes, directions = np.linalg.svd(turns, full_matrices=False)
    return np.asarray(directions[sizes > SMALL])


def _most_symmetric(point: CurvePoint, modes: Modes, kernel: Floats, degree: int) -> Floats:
    """Return a critical direction that is the only one of its symmetry if one is found, else any, (n,)."""
    if len(kernel) == 1 or _has_axis(point):
        return np.asarray(kernel[0])
    state = modes.means.reshape(2, -1)
    spaces = []
    for direction in _of_much_symmetry(point, kernel, degree):
        cosine, sine = direction.reshape(2, 1, -1)
        pairs = [(state[:1], state[1:]), (cosine, sine)]
        try:
            space = closed_space([point.problem], pairs, degree)
        except InvalidInput:
            continue
        inside = kernel @ space.rows.reshape(space.dimension, -1).T
        # Of images the one in the simplest orientation.
        rank, terms = int(np.linalg.matrix_rank(inside, tol=SMALL)), len(space.entries())
        spaces.append((rank, space.dimension, terms, direction))
    return min(spaces, key=lambda each: each[:3], default=(0, 0, 0, kernel[0]))[3]


def _of_much_symmetry(point: CurvePoint, kernel: Floats, degree: int) -> Iterator[Floats]:
    """Yield critical directions, (n,), at which means of exponentials of the change of the field are stationary."""
    random, problem = np.random.default_rng(0), point.problem
    nodes, weights = grid(POINTS * degree)
    multipliers = np.asarray(problem.potential.multipliers(problem.domain, degree), dtype=float)
    factors = np.where(degrees_and_orders(degree)[0] == 0, 0.0, multipliers[degrees_and_orders(degree)[0]])
    changes = np.stack([sum_at(factors * each.reshape(2, -1), nodes) for each in kernel])
    changes *= CHANGE / np.sqrt(np.sum(changes**2, axis=0).max())
    field = sum_at(factors * np.stack(_packed(point, degree)), nodes)
    field *= FIELD / np.abs(field).max()
    known: list[Floats] = []
    for sign in (1.0, -1.0):
        for _ in range(STARTS):
            found = _stationary(changes, weights * np.exp(sign * field), random.normal(size=len(kernel)))
            if not any(np.abs(found - each).max() <= SMALL for each in known):
                known.append(found)
                yield found @ kernel


def _stationary(changes: Floats, masses: Floats, share: Floats) -> Floats:
    """Return a unit vector at which the mean of the exponential of a sum of changes is stationary on the sphere.

    By Newton's method.
    """
    share = share / np.linalg.norm(share)
    for _ in range(STEPS):
        values = masses * np.exp(share @ changes)
        slope = changes @ values
        across = np.linalg.svd(share[np.newaxis])[2][1:]
        bends = across @ (changes * values) @ (across @ changes).T - share @ slope * np.eye(len(across))
        step = np.linalg.lstsq(bends, -across @ slope, rcond=None)[0]
        size = float(np.linalg.norm(step))
        share = share + min(1.0, LONGEST / size if size else 1.0) * step @ across
        share /= np.linalg.norm(share)
        if size <= SHORTEST:
            break
    return np.asarray(share)


def _density(point: CurvePoint, degree: int, nodes: Floats) -> Floats:
    """Return the part of a density on S^2 up to twice a degree at unit vectors."""
    cosine, sine = _packed(point, 2 * degree)
    return full_density(cosine, sine, *polar_angles(nodes))


def _packed(point: CurvePoint, degree: int) -> tuple[Floats, Floats]:
    """Return the packed moments of a state on S^2 up to a degree."""
    upright = _has_axis(point)
    cosine, sine = (packed(part) if upright else part for part in (point.cosine, point.sine))
    return _up_to(cosine, packed_size(degree)), _up_to(sine, packed_size(degree))


def _up_to(part: Floats, size: int) -> Floats:
    """Return moments (m,) as (size,), zeros behind the last."""
    found = np.zeros(size)
    found[: min(size, part.size)] = part[:size]
    return found


# The modes at states about an axis: all that files may hold, and those of each class with their places.
_EVERY = {Circle.name: _on_circle, Sphere.name: _zonal}
_CLASSES = {Circle.name: _circular, Sphere.name: _azimuthal}
