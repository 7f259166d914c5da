r"""The first-order line at zero field of a state with an axis that stands in two directions on its two sides.

Where the confinement :math:`(h - h_0) V` vanishes a state of moments :math:`p_l` about an axis n may have any n.
Beside it n is at that angle :math:`\alpha` to the axis of V that has the least

.. math:: (h - h_0)\,\langle V\rangle = (h - h_0) \sum_l v_l\, p_l\, P_l(\cos\alpha),

on the two sides the greatest and the least of the sum. The line is the branch of the state without a confinement,
in both directions. As a curve of pairs of states of equal free energy it is singular: one that leans may be turned,
and all pairs of directions have equal free energies.
"""

import time
from typing import Any

import numpy as np
from numpy.polynomial import Legendre
from scipy.optimize import brentq

from meanfield import Curve, CurvePoint, Equation, InvalidInput, OrganisingPoint, Outcome
from meanfield.harmonics import degrees_of_places, harmonics_at, largest_degree, zonal_places

from ..bases import Floats
from ..branches.arclength import Arclength
from ..branches.continuation import Point, length, state_at
from ..branches.following import Followed, follow_from
from ..branches.recording import significant_moments
from ..domains import solvers_of
from ..equations.sizing import stationary_equation
from ..execution.provenance import provenance
from .assembling import NO_FIELD
from .in_plane.plane import Plane
from .in_plane.unknowns import Pair
from .systems.recording import Row, organising, recorded, uniform_row
from .systems.starts import plane_of, start_of

# Cosines of angles among which the greatest and the least of the sum are looked for.
PLACES = np.cos(np.linspace(np.pi, 0.0, 721))
# Moments of states beside the line are those of the state without a confinement up to this.
SAME = 1e-6


def oriented_line(start: CurvePoint, value: float, interval: tuple[float, float], largest: float) -> Curve:
    """Return the line at a value of the first parameter at which a confinement about the pole of S^2 vanishes.

    Parameters
    ----------
    start
        A point of it, the equation at a value where the confinement as good as vanishes.
    value
        That at which it does.
    interval
        The range of the first parameter.
    largest
        The modulus of the coupling beyond which it is not followed.

    Raises
    ------
    InvalidInput
        If neither of its states has its axis at the pole, both have, or no branch is found.
    """
    started = time.process_time()
    plane = plane_of(start_of(start), start.parameters, interval)
    free = plane.problem.replace(confinement=None).at(coupling=None)
    turned = Directions(plane, value)
    sides = {side: _to_fold(_state_of(start, free), side, largest) for side in (-1, 1)}
    label = f"transition {' | '.join(2 * [_name(sides[1].knots[0].point)])}"
    rows: list[Row] = []
    points: list[OrganisingPoint] = []
    for side, followed in sides.items():
        found = [_row(knot.point, turned, value, side) for knot in followed.knots]
        if followed.arrivals and not np.any(followed.arrivals[-1].point.b):
            found[-1] = _at_threshold(followed, found[-1].arclength, value)
            bounds = value - plane.rounding(value), value + plane.rounding(value)
            points.append(organising(found[-1], "mode interaction", plane, bounds, (label,), NO_FIELD))
        rows += found[::-1] if side < 0 else found[1:]
    origin = rows[0].arclength
    for row in rows:
        row.arclength -= origin
    options = {"parameters": list(plane.names), "interval": list(interval), "largest_coupling": largest}
    return recorded(
        rows,
        label,
        "transition",
        plane.problem,
        plane.names,
        interval=interval,
        outcome=sides[1].outcome,
        first_outcome=sides[-1].outcome,
        special_points=tuple(points),
        warnings=tuple(text for followed in sides.values() for _, text in followed.warnings),
        provenance=provenance(plane.problem, options, time.process_time() - started),
    )


class Directions:
    """The directions in which a state stands on the two sides of a value at which a confinement vanishes.

    Parameters
    ----------
    plane
        The two parameters, the first one of a confinement about the pole.
    value
        That of the first one.
    """

    def __init__(self, plane: Plane, value: float) -> None:
        _, own = plane.roles[plane.names[0]]
        confinement: Any = plane.problem.confinement
        self._domain, self._own = plane.problem.domain, own
        self._field = confinement.with_parameter(own, value)

    def __call__(self, moments: Floats, side: int) -> Pair:
        """Return the moments by degree and order of a state given by degree, below the value or above it."""
        degree = moments.size - 1
        slopes = self._field.multiplier_derivatives(self._own, self._domain, degree).astype(float)
        cosine = _least(side * Legendre(slopes * moments))
        point = np.array([[np.sqrt(1.0 - cosine**2), 0.0, cosine]])
        (cosines, sines) = harmonics_at(point, degree)[:, :, 0]
        own = moments[degrees_of_places(cosines.size)]
        return own * cosines, own * sines


def _least(energy: Legendre) -> float:
    """Return where in (-1, 1) a polynomial is least."""
    place = int(np.argmin(energy(PLACES)))
    if place in (0, PLACES.size - 1):
        return float(PLACES[place])
    return float(brentq(energy.deriv(), PLACES[place - 1], PLACES[place + 1], xtol=1e-15))


def _state_of(start: CurvePoint, free: Equation) -> Point:
    """Return the state of a point of the line without a confinement, its axis at the pole.

    Raises
    ------
    InvalidInput
        If neither state of the point has its axis there, both have, or none is found.
    """
    known = start_of(start)
    if not known.has_orders:
        raise InvalidInput("neither of the states beside the line leans")
    for cosine, sine in (known.first, *([] if known.second is None else [known.second])):
        places = zonal_places(largest_degree(cosine.size))
        if max(np.abs(np.delete(cosine, places)).max(initial=0.0), np.abs(sine).max()) <= SAME:
            moments = cosine[places]
            break
    else:
        raise InvalidInput("neither of the states beside the line has its axis at the pole")
    symmetry = 1 if np.abs(moments[1::2]).max() > SAME else 2
    sign = 1 if start.coupling > 0 else -1
    equation = stationary_equation(solvers_of(free).geometry, free, symmetry, sign)
    if equation is not None:
        b = equation.unknown_with(moments, np.zeros_like(moments))
        point = state_at(equation, b, equation.q_at(start.coupling))
        if isinstance(point, Point) and length(point.b - b, 0.0) <= SAME:
            return point
    raise InvalidInput("the states beside the line are not those without a confinement")


def _name(point: Point) -> str:
    return str(point.equation.densities.name_of(point))


def _to_fold(start: Point, side: int, largest: float) -> Followed:
    """Return the branch from a state towards larger or smaller couplings, to its fold, end or the largest one."""
    start.oriented(np.zeros_like(start.b), float(side))
    highest = abs(start.equation.q_at(largest))
    followed = follow_from(start, Arclength(), highest)
    folds = [place for place, knot in enumerate(followed.knots) if knot.event and knot.event.kind == "fold"]
    if folds:
        return Followed(None, followed.knots[: folds[0] + 1], Outcome.FOLDED)
    followed.knots = [knot for knot in followed.knots if knot.point.q <= highest]
    return followed


def _row(point: Point, turned: Directions, value: float, side: int) -> Row:
    """Return a point of the branch as a row of the line, from small to large couplings."""
    moments, _, degree = significant_moments(point)
    equation = point.equation
    speed = side * point.solution.tangent_q / equation.change(1.0)
    return Row(
        (value, float(point.coupling)),
        (0.0, float(speed)),
        equation.problem.at(coupling=point.coupling),
        turned(moments, -1),
        turned(moments, 1),
        point.invariant,
        point.residual,
        (equation.densities.unstable_counts(point),) * 2,
        degree,
        side * point.arclength,
        layout="order",
    )


def _at_threshold(followed: Followed, arclength: float, value: float) -> Row:
    """Return the row of the uniform state at which the branch is born."""
    coupling = followed.arrivals[-1].value
    problem = followed.knots[-1].point.equation.problem.at(coupling=coupling)
    row = uniform_row(problem, (value, coupling), (0.0, 0.0), arclength)
    row.second, row.label, row.layout = row.moments, "mode interaction", "order"
    return row
