"""Conversion of followed curves to the records of :mod:`meanfield`, plain arrays."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from meanfield import Curve, Equation, Number, OrganisingPoint
from meanfield.harmonics import Layout, in_layout
from meanfield.records import CurveType
from meanfield.theory import transition_coupling

from ...bases import Floats
from ...branches.continuation import Point
from ...branches.recording import significant_moments
from ...branches.uniform import unstable_uniform
from ...equations.counts import Counts
from ...equations.observables import of_states
from ..in_plane.plane import Plane
from ..in_plane.stability import neutral_up_to, stationary_point, unstable_directions
from ..in_plane.states import AtState
from .extended import ExtendedEquation
from .system import System

Pair = tuple[Floats, Floats]
# Relative width of an interval beyond which a point is not called located.
CONVERGED = 1e-11
# Forces up to this share of the moments are rounding.
FORCELESS = 1e-9


@dataclass(slots=True)
class Row:
    """A point of a curve as its record has it.

    ``second`` are the moments of the second state of a transition, ``counts`` unstable directions of the states.
    """

    values: tuple[float, float]
    tangent: tuple[float, float]
    problem: Equation
    moments: tuple[Floats, Floats]
    second: tuple[Floats, Floats] | None
    gap: float
    residual: float
    counts: tuple[Counts, ...]
    modes: int
    arclength: float
    label: str = ""
    layout: Layout = "degree"


def _turns(state: AtState) -> bool:
    """Return whether a confinement holds a state by rounding errors only, which would decide on its stability."""
    return float(np.abs(state.coefficients.forces).max()) <= FORCELESS * float(np.abs(state.moments).max())


def row_of(point: Point, system: System, layout: Layout | None = None) -> Row:
    """Return a point of a followed curve, with its system there, as a row in the layout of the curve or another."""
    equation = point.equation
    assert isinstance(equation, ExtendedEquation)
    residual, refined = point.solution.residual, system.refined
    if refined is None:
        across, down = system.normal
    else:
        system = equation.system(refined.unknown, refined.q)
        across, down = refined.normal(system.states)
        residual = float(np.abs(system.residual).max())
    place = system.place
    sizes = [neutral_up_to(state, system.vanishing, system.condition) for state in system.states]
    stationary = _points(system.states, place.problem, sizes)
    counted = stationary
    if place.problem.confinement is not None and all(map(_turns, system.states)):
        free = place.problem.replace(confinement=None)
        counted = _points(system.states, free, sizes)
    layout = layout or equation.layout
    known = [moments_in(layout, each) for each in stationary]
    along = np.array([point.solution.tangent_b[-1], point.solution.tangent_q])
    direction = np.array([-down, across])
    size = float(direction @ direction)
    first, second = place.slopes @ (along if size == 0.0 else direction * float(along @ direction) / size)
    return Row(
        place.values,
        (float(first), float(second)),
        place.problem,
        known[0][:2],
        known[1][:2] if len(known) > 1 else None,
        stationary[0].invariant,
        residual,
        tuple(map(unstable_directions, counted, sizes)),
        max(modes for *_, modes in known),
        point.arclength,
        layout=layout,
    )


def _points(states: Sequence[AtState], problem: Equation, neutral: Sequence[float]) -> list[Point]:
    """Return states as points of their branches, where eigenvalues up to some sizes are not told from zero."""
    return [stationary_point(state, problem, size) for state, size in zip(states, neutral, strict=True)]


def moments_in(layout: Layout, point: Point) -> tuple[Floats, Floats, int]:
    """Return the moments of a state in a layout, and the resolved degrees."""
    cosine, sine, degree = significant_moments(point)
    pair = in_layout(layout, point.equation.basis.modes, cosine, sine)
    assert pair is not None
    return *pair, degree


def is_located(bounds: tuple[float, float], plane: Plane) -> bool:
    """Return whether an interval of the first parameter is so narrow that the point in it is called located."""
    low, high = bounds
    return high - low <= 2 * CONVERGED * max(abs(low), abs(high), plane.first_unit)


def recorded(
    rows: list[Row], label: str, kind: CurveType, problem: Equation, names: tuple[str, str], **fields: Any
) -> Curve:
    """Return the record of a curve with the given rows."""
    width = max(pair[0].size for row in rows for pair in (row.moments, row.second) if pair is not None)
    cosine, sine = (np.array([_padded(row.moments[part], width) for row in rows]) for part in (0, 1))
    others: dict[str, Any] = {}
    if rows[0].second is not None:
        for part, name in enumerate(("other_cosine", "other_sine")):
            others[name] = np.array([_padded(row.second[part], width) for row in rows if row.second is not None])
    couplings = np.array([float(row.problem.fixed_coupling) for row in rows])
    return Curve(
        problem=problem,
        label=label,
        type=kind,
        parameters=names,
        values=np.array([[float(value) for value in row.values] for row in rows]),
        coupling=couplings,
        relative_coupling=np.array([relative(row.problem) for row in rows]),
        cosine=cosine,
        sine=sine,
        observables=of_states(problem, np.array([row.gap for row in rows])),
        residual=np.array([row.residual for row in rows]),
        unstable=np.array([max(map(sum, row.counts)) for row in rows]),
        modes=np.array([row.modes for row in rows]),
        arclength=np.array([row.arclength for row in rows]),
        tangent=np.array([row.tangent for row in rows]),
        point_labels=tuple(row.label for row in rows),
        layout=rows[len(rows) // 2].layout,
        **others,
        **fields,
    )


def relative(problem: Equation) -> float:
    """Return the coupling over the smallest positive critical one, nan if there is none."""
    critical = transition_coupling(problem)
    return float("nan") if critical is None else float(problem.fixed_coupling / critical)


def uniform_row(
    problem: Equation, values: tuple[Number, Number], tangent: tuple[float, float], arclength: float
) -> Row:
    """Return the row of the uniform state at an organising point."""
    moments = np.eye(5)[0], np.zeros(5)
    # At the uniform state no direction keeps an axis that it has not.
    count = Counts(0, unstable_uniform(problem, problem.fixed_coupling))
    doubles = float(values[0]), float(values[1])
    return Row(doubles, tangent, problem, moments, None, 0.0, 0.0, (count,), 0, arclength)


def threshold_label(mode: int) -> str:
    """Return the label of the threshold of a mode."""
    return f"threshold of mode {mode}"


def organising(
    row: Row,
    kind: Any,
    plane: Plane,
    bounds: tuple[float, float],
    curves: tuple[str, ...],
    text: str,
    further: Sequence[Pair] = (),
) -> OrganisingPoint:
    """Return the record of an organising point at a row; its interval is that of the first parameter.

    Parameters
    ----------
    further
        Moments of the further states of equal free energy.
    """
    # At the start or the end of an interval the first parameter is that, a rounding beside what was located.
    low, high = min(bounds[0], float(row.values[0])), max(bounds[1], float(row.values[0]))
    share = relative(row.problem)
    width = max(moments.size for pair in (row.moments, *further) for moments in pair)
    cosine, sine = ([_padded(pair[part], width) for pair in (row.moments, *further)] for part in (0, 1))
    others: dict[str, Any] = {}
    if further:
        others = {"other_cosine": np.array(cosine[1:]), "other_sine": np.array(sine[1:])}
    return OrganisingPoint(
        type=kind,
        parameters=plane.names,
        values=np.array([float(value) for value in row.values]),
        coupling=row.problem.fixed_coupling,
        relative_coupling=None if np.isnan(share) else share,
        lower=low,
        upper=high,
        status="converged" if is_located((low, high), plane) else "guess",
        curves=curves,
        cosine=cosine[0],
        sine=sine[0],
        description=text,
        **others,
        layout=row.layout,
    )


def _padded(moments: Floats, width: int) -> Floats:
    padded = np.zeros(width)
    padded[: moments.size] = moments
    return padded
