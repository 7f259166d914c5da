r"""The first-order line at zero field of a state with an axis that stands in two directions on its two sides.

Where the confinement :math:`(h - h_0) V` vanishes a state with an axis may have it in any direction. Beside it the
direction is that of the least :math:`(h - h_0)\,\langle V\rangle`. A state of moments :math:`p_l` on S^2, at an
angle :math:`\alpha` to the axis of V, and one of moments :math:`m_k` on the circle, turned by :math:`\varphi`, have

.. math:: \langle V\rangle = \sum_l v_l\, p_l\, P_l(\cos\alpha), \qquad
          \langle V\rangle = 2\,\mathrm{Re} \sum_k (v_k - i u_k)\, m_k\, e^{i k \varphi},

v and u the cosine and sine multipliers of V; on the two sides the directions are those of the greatest and the
least. The line is the branch of the state without a confinement, in both directions. As a curve of pairs of states
of equal free energy it is singular: one that leans may be turned, and all pairs of directions have equal free
energies.
"""

import time
from abc import ABC, abstractmethod
from typing import Any

import numpy as np
from numpy.polynomial import Legendre
from numpy.typing import NDArray
from scipy.optimize import brentq

from meanfield import Curve, CurvePoint, Equation, InvalidInput, OrganisingPoint, Outcome
from meanfield.harmonics import Layout, degrees_of_places, harmonics_at, largest_degree, zonal_places

from ..bases import Floats, Integers
from ..branches.arclength import Arclength
from ..branches.continuation import Point, length, state_at
from ..branches.following import Followed, follow_from
from ..branches.recording import significant_moments
from ..circle.orbits import evened
from ..domains import solvers_of
from ..equations.sizing import stationary_equation
from ..execution.provenance import provenance
from .assembling import NO_FIELD
from .in_plane.plane import Plane
from .in_plane.unknowns import Pair
from .systems.recording import Row, organising, recorded, uniform_row
from .systems.starts import Start, plane_of, start_of

# Angles, and their cosines on S^2, among which the greatest and the least of the sum are looked for.
ANGLES = np.linspace(0.0, 2.0 * np.pi, 1440, endpoint=False)
PLACES = np.cos(np.linspace(np.pi, 0.0, 721))
# Where the confinement vanishes with a power, the directions beside the line are those so far from it, in units of
# the interval.
APART = 1e-6
# Moments of states beside the line are those of the state without a confinement up to this.
SAME = 1e-6
# Sums are equal up to this share of the field, as those of directions that a reflection exchanges are.
EQUAL = 1e-9


def oriented_line(start: CurvePoint, value: float, interval: tuple[float, float], largest: float) -> Curve:
    """Return the line at a value of the first parameter at which a confinement of one angle vanishes.

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
        If its states have no axis, on S^2 neither or both at the pole, the confinement does not turn them to first
        order, or no branch is found.
    """
    started = time.process_time()
    plane = plane_of(start_of(start), start.parameters, interval)
    free = plane.problem.replace(confinement=None).at(coupling=None)
    turned = (OnCircle if plane.problem.domain.turns else OnSphere)(plane, value)
    sides = {side: _to_fold(_state_of(start, free, turned), side, largest) for side in (-1, 1)}
    label = f"transition {' | '.join(2 * [_name(sides[1].knots[0].point)])}"
    rows: list[Row] = []
    points: list[OrganisingPoint] = []
    for side, followed in sides.items():
        found = [_row(knot.point, turned, value, side) for knot in followed.knots]
        if followed.arrivals and not np.any(followed.arrivals[-1].point.b):
            found[-1] = _at_threshold(followed, found[-1].arclength, value, turned.layout)
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


class Directions(ABC):
    """The directions in which a state stands on the two sides of a value at which a confinement vanishes.

    Parameters
    ----------
    plane
        The two parameters, the first one of a confinement.
    value
        That of the first one.
    """

    layout: Layout

    def __init__(self, plane: Plane, value: float) -> None:
        _, self._own = plane.roles[plane.names[0]]
        self._domain, self._value = plane.problem.domain, value
        self._confinement: Any = plane.problem.confinement
        self._apart = APART * (plane.interval[1] - plane.interval[0])

    @abstractmethod
    def about_axis(self, start: Start) -> Floats:
        """Return the moments by degree, about its axis, of a state of a point of the line.

        Raises
        ------
        InvalidInput
            If there is none.
        """

    @abstractmethod
    def symmetry(self, degrees: Integers) -> int:
        """Return the symmetry of a state whose moments of some degrees, 0 among them, do not vanish."""

    @abstractmethod
    def __call__(self, moments: Floats, side: int) -> Pair:
        """Return the moments of a state given about its axis, below the value, -1, or above it, 1.

        Raises
        ------
        InvalidInput
            If the confinement tells no direction.
        """

    def _field(self, side: int, degree: int) -> NDArray[np.complex128]:
        """Return cosine less i times sine multipliers of the confinement beside the value, (degree + 1,).

        Or a share of them: they are proportional to their derivatives in the parameter, unless these vanish there.
        """
        there = self._confinement.with_parameter(self._own, self._value)
        changes = (there.multiplier_derivatives, there.sine_multiplier_derivatives)
        cosines, sines = (np.asarray(each(self._own, self._domain, degree), dtype=float) for each in changes)
        if cosines[1:].any() or sines[1:].any():
            return np.asarray(side * (cosines - 1j * sines))
        beside = self._confinement.with_parameter(self._own, self._value + side * self._apart)
        return np.asarray(
            beside.multipliers(self._domain, degree) - 1j * beside.sine_multipliers(self._domain, degree)
        )


class OnCircle(Directions):
    """The angles by which a state of the circle is turned."""

    layout: Layout = "degree"

    def about_axis(self, start: Start) -> Floats:
        """Return the moments of a state turned so that a reflection axis is at 0."""
        cosine, sine = start.first
        found = evened(cosine - 1j * sine, SAME, turning=True)
        if found is None:
            raise InvalidInput("the states beside the line have no axis")
        return found.real

    def symmetry(self, degrees: Integers) -> int:
        """Return the greatest common divisor of the degrees."""
        return int(np.gcd.reduce(degrees))

    def __call__(self, moments: Floats, side: int) -> Pair:
        """Return the moments of a state turned by the angle of the least sum, of equal ones the smallest."""
        degree = moments.size - 1
        field, degrees = self._field(side, degree), np.arange(degree + 1)
        field[0] = 0.0
        terms = field * moments
        sums = (np.exp(1j * np.multiply.outer(ANGLES, degrees)) @ terms).real
        level = EQUAL * float(np.abs(field).max() * np.abs(moments[1:]).max())
        if level == 0.0:
            # The uniform state stands in all directions.
            return moments, np.zeros_like(moments)
        if np.ptp(sums) < level:
            raise InvalidInput("the confinement does not turn the state of the line to first order")

        def torque(angle: float) -> float:
            return float(-(degrees * terms * np.exp(1j * angle * degrees)).imag.sum())

        low = sums <= np.minimum(np.roll(sums, 1), np.roll(sums, -1))
        step = ANGLES[1]
        around = [(angle - step, angle + step) for angle in ANGLES[low].tolist()]
        angles = [
            float(brentq(torque, *ends, xtol=1e-15)) for ends in around if torque(ends[0]) < 0.0 < torque(ends[1])
        ]
        least = [float((np.exp(1j * angle * degrees) @ terms).real) for angle in angles]
        angle = next(angle for angle, each in zip(angles, least, strict=True) if each <= min(least) + level)
        turned_by = angle * degrees
        return moments * np.cos(turned_by), moments * np.sin(turned_by)


class OnSphere(Directions):
    """The angles between the axis of a state of S^2 and the pole, about which the confinement is."""

    layout: Layout = "order"

    def about_axis(self, start: Start) -> Floats:
        """Return the moments of the state whose axis is at the pole; the other one leans from it."""
        if not start.has_orders:
            raise InvalidInput("neither of the states beside the line leans")
        for cosine, sine in (start.first, *([] if start.second is None else [start.second])):
            places = zonal_places(largest_degree(cosine.size))
            if max(np.abs(np.delete(cosine, places)).max(initial=0.0), np.abs(sine).max()) <= SAME:
                return np.asarray(cosine[places])
        raise InvalidInput("neither of the states beside the line has its axis at the pole")

    def symmetry(self, degrees: Integers) -> int:
        """Return 2 where all degrees are even, else 1."""
        return 1 if np.any(degrees % 2) else 2

    def __call__(self, moments: Floats, side: int) -> Pair:
        """Return the moments by degree and order of a state at the angle of the least sum."""
        degree = moments.size - 1
        cosine = _least(Legendre(self._field(side, degree).real * moments))
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


def _state_of(start: CurvePoint, free: Equation, turned: Directions) -> Point:
    """Return the state of a point of the line without a confinement, about an axis.

    Raises
    ------
    InvalidInput
        If the states of the point have no axis, or none is found.
    """
    moments = turned.about_axis(start_of(start))
    sign = 1 if start.coupling > 0 else -1
    symmetry = turned.symmetry(np.flatnonzero(np.abs(moments) > SAME))
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
        layout=turned.layout,
    )


def _at_threshold(followed: Followed, arclength: float, value: float, layout: Layout) -> Row:
    """Return the row of the uniform state at which the branch is born."""
    coupling = followed.arrivals[-1].value
    problem = followed.knots[-1].point.equation.problem.at(coupling=coupling)
    row = uniform_row(problem, (value, coupling), (0.0, 0.0), arclength)
    row.second, row.label, row.layout = row.moments, "mode interaction", layout
    return row
