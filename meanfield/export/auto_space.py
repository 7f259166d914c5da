"""The unknowns of AUTO files of states on S^2 without an axis: harmonics among which the equations stay.

States of one symmetry have their moments in the harmonics that it leaves as they are, and so has the Gibbs density
of every field in these. The symmetry itself is not asked: the space is what the moments of the states span, and
what those of Gibbs densities of fields in it add, until they add nothing.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..equations import Equation
from ..errors import InvalidInput
from ..harmonics import degrees_and_orders, largest_degree, packed_size, place, rotation_generators
from ..harmonics.points import harmonics_at
from ..harmonics.quadrature import gauss_rule

Floats = NDArray[np.float64]
Pair = tuple[Floats, Floats]

# Directions smaller than this share of the largest of a degree are rounding; of random fields they are not small.
SMALL = 1e-6
# Moments of densities up to this are none.
ROUNDING = 1e-10
# Random fields at a time, how often, and their largest values.
FIELDS, ROUNDS, LARGEST = 6, 20, 2.0
# AUTO has so many unknowns at the most for dense matrices to be of use.
MOST = 200
# Nodes between the poles for each degree, and more.
NODES, FEWEST = 5, 16


class Space(NamedTuple):
    """Orthonormal combinations of the harmonics of each degree.

    Attributes
    ----------
    degrees : (n,) int
        The degree of each.
    rows : (n, 2, places) float
        Its coefficients in packed harmonics, cosines and sines.
    leading : int
        So many, the first ones, are a space of their own: that of the states about an axis.
    """

    degrees: NDArray[np.int64]
    rows: Floats
    leading: int = 0

    @property
    def dimension(self) -> int:
        """NDIM, the number of unknowns."""
        return int(self.degrees.size)

    def vectors(self, cosine: Floats, sine: Floats) -> Floats:
        """Return packed moments (P, places) as coordinates (P, n)."""
        places = self.rows.shape[2]
        moments = np.stack([_up_to(part, places) for part in (cosine, sine)], axis=1)
        return np.asarray(moments.reshape(len(moments), -1) @ self.rows.reshape(len(self.rows), -1).T)

    def free_rotations(self, axes: Floats) -> Floats:
        """Return the generators of the rotations about some axes, (k, 3), that do not leave the space, (j, n, n).

        A rotation does not if nothing of what it makes of the rows is outside.
        """
        rows = self.rows.reshape(len(self.rows), -1)
        turned = np.einsum("ka,aij->kij", axes, infinitesimally_turned(self.rows).reshape(3, *rows.shape))
        inside = turned @ rows.T
        outside = (turned - inside @ rows).reshape(len(axes), rows.size)
        mixtures, sizes, _ = np.linalg.svd(outside, full_matrices=False)
        return np.asarray(np.einsum("ka,aij->kji", mixtures.T[sizes <= SMALL * len(rows)], inside))

    def described(self) -> list[str]:
        """Return what the unknowns of a state are as lines."""
        head = f"U(1..{self.dimension}): moments of the state with combinations of harmonics of each degree:"
        return [head, *(f"    U({number}): {name}" for number, name in enumerate(self.names(), start=1))]

    def entries(self) -> list[tuple[int, int, int, float]]:
        """Return mode, degree, order and coefficient of all that is not zero, sines with negative orders."""
        degrees, orders = degrees_and_orders(int(self.degrees.max()))
        found = []
        for mode, part, column in np.argwhere(np.abs(self.rows) > SMALL**2).tolist():
            order = int(orders[column]) * (-1 if part else 1)
            found.append((mode + 1, int(degrees[column]), order, float(self.rows[mode, part, column])))
        return found

    def names(self) -> list[str]:
        """Return what each coordinate is, such as ``0.764 c_4_0 + 0.645 c_4_4``."""
        terms: list[list[str]] = [[] for _ in self.degrees]
        for mode, degree, order, value in self.entries():
            factor = "" if abs(value - 1.0) <= SMALL**2 else f"{value:.6g} "
            terms[mode - 1].append(f"{factor}{'s' if order < 0 else 'c'}_{degree}_{abs(order)}")
        return [" + ".join(each).replace("+ -", "- ") for each in terms]


def free_axes(problem: Equation) -> Floats:
    """Return the axes about which rotations leave the confinement of an equation as it is, (k, 3)."""
    if problem.confinement is None:
        return np.eye(3)
    return np.eye(3)[2:] if problem.zonal else np.zeros((0, 3))


def infinitesimally_turned(rows: Floats) -> Floats:
    """Return what rotations about x, y and z change packed coefficients (n, 2, places) by, (3, n, 2, places)."""
    turned = np.zeros((3, *rows.shape))
    for degree in range(1, largest_degree(rows.shape[2]) + 1):
        first = place(degree, 0)
        cosines = slice(first, first + degree + 1)
        sines = slice(first + 1, first + degree + 1)
        harmonics = np.concatenate([rows[:, 0, cosines], rows[:, 1, sines]], axis=1)
        changes = harmonics @ rotation_generators(degree).transpose(0, 2, 1)
        turned[:, :, 0, cosines], turned[:, :, 1, sines] = np.split(changes, [degree + 1], axis=2)
    return turned


def nested_space(problems: Sequence[Equation], zonal: Sequence[Pair], pairs: Sequence[Pair], degree: int) -> Space:
    """Return the least space of states about the pole and other ones, the unknowns of the former before the others.

    Arguments and errors are those of :func:`closed_space`, ``zonal`` and ``pairs`` the states of both kinds.
    """
    whole = closed_space(problems, [*zonal, *pairs], degree)
    if not zonal:
        return whole
    inner = closed_space(problems, zonal, degree)
    shape = (-1, whole.rows[0].size)
    own = inner.rows.reshape(shape)
    beyond = whole.rows.reshape(shape)
    beyond = beyond - (beyond @ own.T) @ own
    beyond[np.abs(beyond) <= ROUNDING] = 0.0
    parts = [_spanned(beyond[whole.degrees == each]) for each in np.unique(whole.degrees)]
    degrees = np.repeat(np.unique(whole.degrees), [len(part) for part in parts])
    rows = np.vstack([own, *parts]).reshape(-1, *whole.rows.shape[1:])
    return Space(np.concatenate([inner.degrees, degrees]), rows, inner.dimension)


def closed_space(problems: Sequence[Equation], pairs: Sequence[Pair], degree: int) -> Space:
    """Return the least space of moments up to a degree that contains those of some states and is not left.

    Parameters
    ----------
    problems
        The equation at several values of its parameters, at one of which each of its coefficients is not zero.
    pairs
        Packed cosine and sine moments of states, (P, places) each.
    degree
        The degree up to which the potential acts.

    Raises
    ------
    InvalidInput
        If the space has too many dimensions.
    """
    random, places = np.random.default_rng(0), packed_size(degree)
    degrees, _ = degrees_and_orders(degree)
    inside = {each: np.tile(degrees == each, 2) for each in range(1, degree + 1)}
    acts = np.any([each.potential.multipliers(each.domain, degree) != 0.0 for each in problems], axis=0)
    data = np.concatenate([np.concatenate([_up_to(part, places) for part in pair], axis=1) for pair in pairs])
    data[np.abs(data) <= ROUNDING] = 0.0
    own = {each: _spanned(data[:, chosen]) for each, chosen in inside.items() if acts[each]}
    harmonics, weights = on_grid(NODES * degree + FEWEST, degree)
    confinement = np.array([_confining(each, degree) for each in problems])
    for _ in range(ROUNDS):
        fields = random.normal(size=(FIELDS, len(problems))) @ confinement
        for each, rows in own.items():
            fields[:, inside[each]] += random.normal(size=(FIELDS, len(rows))) @ rows
        values = fields @ harmonics
        density = np.exp(values * LARGEST / np.abs(values).max(axis=1, keepdims=True)) * weights
        moments = (density / density.sum(axis=1, keepdims=True)) @ harmonics.T
        grown = {each: _grown(rows, moments[:, inside[each]]) for each, rows in own.items()}
        done = all(len(grown[each]) == len(rows) for each, rows in own.items())
        own = grown
        if done:
            break
    return _space(own, inside, places)


def _grown(rows: Floats, moments: Floats) -> Floats:
    """Return a basis of the span of the rows of one, (n, size), and the moments of some densities, (m, size)."""
    beyond = moments - (moments @ rows.T) @ rows
    beyond[np.abs(beyond) <= ROUNDING] = 0.0
    new = _spanned(beyond)
    return _plain(np.linalg.qr(np.vstack([rows, new]).T)[0].T) if len(new) else rows


def _space(own: dict[int, Floats], inside: dict[int, NDArray[np.bool_]], places: int) -> Space:
    """Return the space with some rows in the packed harmonics of each degree."""
    count = sum(len(rows) for rows in own.values())
    if count > MOST:
        raise InvalidInput(f"AUTO files hold states of at most {MOST} unknowns, and these have {count}; write .nc")
    whole = np.zeros((count, 2 * places))
    degrees = np.repeat(list(own), [len(rows) for rows in own.values()])
    for each, rows in own.items():
        whole[np.ix_(degrees == each, inside[each])] = rows
    return Space(degrees, whole.reshape(count, 2, places))


def _up_to(part: Floats, places: int) -> Floats:
    """Return packed moments (P, m) as (P, places), zeros behind the last."""
    found = np.zeros((len(part), places))
    count = min(places, part.shape[1])
    found[:, :count] = part[:, :count]
    return found


def _spanned(rows: Floats) -> Floats:
    """Return an orthonormal basis of what some vectors span, (n, size)."""
    if not np.any(rows):
        return np.zeros((0, rows.shape[1]))
    _, sizes, directions = np.linalg.svd(rows, full_matrices=False)
    return _plain(directions[sizes > SMALL * sizes[0]])


def _plain(rows: Floats) -> Floats:
    """Return an orthonormal basis of the span of independent rows, in which few entries are not zero if it can."""
    echelon = rows.copy()
    pivots: list[int] = []
    for step in range(len(rows)):
        row, pivot = divmod(int(np.argmax(np.abs(echelon[step:]))), rows.shape[1])
        echelon[[step, step + row]] = echelon[[step + row, step]]
        echelon[step] /= echelon[step, pivot]
        others = np.arange(len(rows)) != step
        echelon[others] -= np.multiply.outer(echelon[others, pivot], echelon[step])
        pivots.append(pivot)
    echelon, pivots = echelon[np.argsort(pivots)], sorted(pivots)
    echelon[np.abs(echelon) <= SMALL**2] = 0.0
    orthonormal = np.linalg.qr(echelon.T)[0].T
    return np.asarray(orthonormal * np.sign(orthonormal[np.arange(len(rows)), pivots])[:, np.newaxis])


def _confining(problem: Equation, degree: int) -> Floats:
    """Return the coefficients of the confinement up to a degree, packed cosines and sines; zeros without one."""
    if problem.confinement is None:
        return np.zeros(2 * packed_size(degree))
    found = np.array(problem.confinement.harmonic_multipliers(degree), dtype=float)
    found[:, 0] = 0.0
    return found.ravel()


def on_grid(points: int, degree: int) -> tuple[Floats, Floats]:
    """Return packed harmonics, cosines first, at the nodes of a product rule, (2 places, n), and its weights."""
    nodes, weights = grid(points)
    return harmonics_at(nodes, degree).reshape(-1, len(nodes)), weights


def grid(points: int) -> tuple[Floats, Floats]:
    """Return unit vectors (n, 3) and weights of a product rule: so many heights, and twice as many azimuths."""
    rule = gauss_rule(3, points)
    around = np.pi * (np.arange(2 * points) + 0.5) / points
    across = np.sqrt(rule.complements * (2.0 - rule.complements))
    shape = (points, 2 * points)
    nodes = np.stack(
        [
            np.multiply.outer(across, np.cos(around)).ravel(),
            np.multiply.outer(across, np.sin(around)).ravel(),
            np.broadcast_to(rule.nodes[:, np.newaxis], shape).ravel(),
        ],
        axis=1,
    )
    return nodes, np.broadcast_to(rule.weights[:, np.newaxis], shape).ravel() / (2 * points)
