r"""The uniform branch in a second parameter p: thresholds, tricritical points and mode interactions in closed form.

Mode k is critical at :math:`\kappa_k(p) = -N_k D/w_k(p)`. On these curves lie the organising points of a phase
diagram: tricritical points, where the curvature of a branch vanishes, :math:`b_1(p) = 0`, so that its transition
turns from continuous to discontinuous, and interactions of modes, :math:`\kappa_n(p) = \kappa_m(p)`. Both are roots
of functions that jump where multipliers have poles, :math:`b_1 \prod_k (1-q_k)` over the degrees k slaved to
n, :math:`q_k = (w_k/N_k)/(w_n/N_n)`, and :math:`w_n/N_n - w_m/N_m`. They are sampled ever more finely until a cubic
through every other value predicts those between, so that no root of what was resolved is missed; modes of
which 2049 values do not say enough are named. Where the whole potential vanishes they change their signs without a
root, the couplings there being infinite: the parts of an interval between such values are sampled one by one.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain, combinations, pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from ..arguments import checked
from ..base import Record
from ..equations import Equation
from ..errors import InvalidInput
from ..potentials import Number
from .forms import theory_of
from .normal_forms import require_normal_form
from .scaling import normalised_multipliers
from .thresholds import branching_coupling, require_uniform

Floats = npt.NDArray[np.float64]

# Values of the parameter at first and at most, and the share of the largest value to which cubics must predict.
_FIRST, _MOST, _PREDICTED = 33, 2049, 1e-4
# Values of a function that is smaller everywhere, over its scale, are rounding: it is no function with roots.
_VANISHING = 64 * float(np.finfo(float).eps)
# Share of its values about a root to which a function has fallen there; where a multiplier has a pole, it jumps.
_VANISHED = 1e-3
# Values at which the whole potential vanishes are left out with this share of the interval on both sides.
_LEFT_OUT = 2.0**-30
# As many halvings lead from any interval of doubles to its smallest; the method may waste as many again.
_HALVINGS = 4500


@checked
@dataclass(frozen=True, eq=False, repr=False)
class UniformPoint(Record):
    """An organising point of the uniform branch in a second parameter.

    Attributes
    ----------
    type : str
        ``"tricritical"`` or ``"mode interaction"``.
    modes : tuple of int
        The critical modes, ascending; degrees on spheres.
    value : float
        The parameter.
    lower, upper : float
        An interval of the parameter that contains it.
    coupling : float
        The coupling at which the modes are critical.
    """

    type: str
    modes: tuple[int, ...]
    value: float
    lower: float
    upper: float
    coupling: Number


@checked
def tricritical_points(
    problem: Equation, parameter: str, interval: tuple[float, float], modes: Sequence[int]
) -> list[UniformPoint]:
    """Return the values of a parameter at which branches turn from super- to subcritical, ascending.

    Parameters
    ----------
    problem
        The equation, without confinement.
    parameter
        One of its ``parameters``, other than the coupling.
    interval
        Range of the parameter.
    modes
        The modes n whose branches are looked at; on spheres branches of even degree have none.

    Raises
    ------
    InvalidInput
        If the parameter is unknown or not admissible in the interval, or there is a confinement.

    Examples
    --------
    >>> from meanfield import Circle, McKeanVlasov, Transformer
    >>> points = tricritical_points(McKeanVlasov(Circle(), Transformer(beta=1.0)), "beta", (1.0, 10.0), (1, 2))
    >>> [(point.modes, round(point.value, 12)) for point in points]
    [((1,), 2.446918311289), ((2,), 8.966784254653)]
    """
    require_normal_form(problem)
    found = [
        _point(problem, parameter, "tricritical", (modes[place],), root)
        for part in _parts(problem, parameter, interval, modes)
        for place, root in _roots(partial(_excess, problem, parameter, modes), part, len(modes))
    ]
    return _known(found)


@checked
def mode_interactions(
    problem: Equation, parameter: str, interval: tuple[float, float], modes: Sequence[int], of: int | None = None
) -> list[UniformPoint]:
    """Return the values of a parameter at which two modes are critical at one coupling, ascending.

    Parameters
    ----------
    problem, parameter, interval
        As in :func:`tricritical_points`.
    modes
        The modes that are compared with each other.
    of
        One of them, with which alone the others are compared; None compares all.

    Raises
    ------
    InvalidInput
        If the parameter is unknown or not admissible in the interval, or there is a confinement.

    Examples
    --------
    >>> from meanfield import Circle, CosineSeries, McKeanVlasov
    >>> problem = McKeanVlasov(Circle(), CosineSeries([-1.0, -0.4]))
    >>> [(point.modes, point.value) for point in mode_interactions(problem, "w2", (-2.0, 0.0), (1, 2))]
    [((1, 2), -1.0)]
    """
    require_uniform(problem)
    pairs = [pair for pair in combinations(sorted(modes), 2) if of is None or of in pair]
    found = [
        _point(problem, parameter, "mode interaction", pairs[place], root)
        for part in _parts(problem, parameter, interval, modes)
        for place, root in _roots(partial(_differences, problem, parameter, pairs), part, len(pairs))
    ]
    return _known(found)


@checked
def unresolved_points(
    problem: Equation, parameter: str, interval: tuple[float, float], modes: Sequence[int]
) -> list[tuple[int, ...]]:
    """Return the modes and pairs of modes whose tricritical points and interactions may not all be known.

    They are those whose functions 2049 values in the interval do not resolve.

    Parameters
    ----------
    problem, parameter, interval, modes
        As in :func:`tricritical_points`.

    Raises
    ------
    InvalidInput
        If the parameter is unknown or not admissible in the interval, or there is a confinement.

    Examples
    --------
    >>> from meanfield import Circle, McKeanVlasov, Transformer
    >>> unresolved_points(McKeanVlasov(Circle(), Transformer(beta=1.0)), "beta", (1.0, 10.0), (1, 2))
    []
    """
    require_normal_form(problem)
    singles, pairs = [(mode,) for mode in modes], list(combinations(sorted(modes), 2))
    excess, differences = (
        partial(_excess, problem, parameter, modes),
        partial(_differences, problem, parameter, pairs),
    )
    parts = _parts(problem, parameter, interval, modes)
    return [
        own
        for function, groups in ((excess, singles), (differences, pairs))
        if groups
        for own, *resolved in zip(groups, *(_resolved_samples(function, part)[2] for part in parts), strict=True)
        if not all(resolved)
    ]


def _parts(
    problem: Equation, parameter: str, interval: tuple[float, float], modes: Sequence[int]
) -> list[tuple[float, float]]:
    """Return the parts of an interval between the values of a parameter at which the whole potential vanishes.

    There the multipliers in units of their norm change their signs all at once, or are zero.
    """
    low, high = interval
    if not (np.isfinite(low) and np.isfinite(high) and low < high):
        raise InvalidInput(f"the interval of a parameter must be finite and increasing, not [{low:g}, {high:g}]")
    last, width = max(modes, default=1), _LEFT_OUT * (high - low)

    def strengths(value: float) -> Floats:
        return np.asarray(_strengths(problem.with_parameter(parameter, value), last)[1:], dtype=float)

    places = np.linspace(low, high, _FIRST).tolist()
    rows = [strengths(place) for place in places]
    left_out = [(place - width, place + width) for place, row in zip(places, rows, strict=True) if not row.any()]
    for (before, row), (after, next_row) in pairwise(zip(places, rows, strict=True)):
        if not row @ next_row < 0.0:
            continue
        # Multipliers that turn fast are alike at neighbouring doubles; a factor of the potential vanishes at zero.
        middle = 0.0 if before < 0.0 < after else 0.5 * (before + after)
        while before < middle < after and (between := strengths(middle)).any():
            before, after = (middle, after) if between @ row > 0.0 else (before, middle)
            middle = 0.5 * (before + after)
        if not (strengths(before) @ strengths(after) > 0.0 and strengths(middle).any()):
            left_out.append((middle - width, middle + width))
    ends = [low, *chain.from_iterable(sorted(left_out)), high]
    return [part for part in zip(ends[::2], ends[1::2], strict=True) if part[0] < part[1]]


def _strengths(moved: Equation, last: int) -> Any:
    """Return the normalised multipliers of the potential of the linearisation at the uniform state."""
    return normalised_multipliers(moved.velocity.at_uniform(moved.domain), moved.domain, last)


def _excess(problem: Equation, parameter: str, modes: Sequence[int], value: float) -> Floats:
    """Return the functions whose roots are the tricritical points of modes, (modes,)."""
    moved, theory = problem.keeping_parameter(parameter, value), theory_of(problem.domain)
    return np.array([theory.tricritical_excess(moved, n) for n in modes], dtype=np.float64)


def _differences(problem: Equation, parameter: str, pairs: Sequence[tuple[int, int]], value: float) -> Floats:
    """Return the functions whose roots are the interactions of pairs of modes, (pairs,)."""
    moved, last = problem.with_parameter(parameter, value), max(mode for pair in pairs for mode in pair)
    strengths = _strengths(moved, last)
    return np.array([float(strengths[n] - strengths[m]) for n, m in pairs])


def _point(
    problem: Equation, parameter: str, kind: str, modes: tuple[int, ...], root: tuple[float, float, float]
) -> UniformPoint | None:
    """Return an organising point, None where the modes are not coupled, so that they are critical nowhere."""
    value, lower, upper = root
    try:
        coupling = branching_coupling(problem.with_parameter(parameter, value), modes[0])
    except InvalidInput:
        return None
    return UniformPoint(kind, modes, value, lower, upper, coupling)


def _known(points: Sequence[UniformPoint | None]) -> list[UniformPoint]:
    return sorted((point for point in points if point is not None), key=lambda point: (point.value, point.modes))


def _roots(
    function: Callable[[float], Floats], interval: tuple[float, float], size: int
) -> list[tuple[int, tuple[float, float, float]]]:
    """Return all (component, (root, lower, upper)) of a function with several components in an interval."""
    if size == 0:
        return []
    places, values, _ = _resolved_samples(function, interval)
    found = []
    for component in range(size):
        column = values[:, component]
        if not np.isfinite(column).all() or np.abs(column).max() <= _VANISHING:
            continue
        single = partial(_component, function, component)
        roots = [_root(single, low, high) for low, high in _brackets(single, places, column)]
        found += [(component, root) for root in roots if root is not None]
    return found


def _component(function: Callable[[float], Floats], index: int, place: float) -> float:
    return float(function(place)[index])


def _resolved_samples(
    function: Callable[[float], Floats], interval: tuple[float, float]
) -> tuple[Floats, Floats, npt.NDArray[np.bool_]]:
    """Return places in an interval, (P,), a function there, (P, size), and which cubics predict, (size,).

    There are 2049 places where cubics do not predict all of them from fewer. What is rounding counts as predicted.
    """
    low, high = interval
    places = np.linspace(low, high, _FIRST)
    values = np.array([function(place) for place in places.tolist()])
    while True:
        scale = np.maximum(np.abs(values).max(axis=0), np.finfo(float).tiny)
        missed = (np.abs(_between(values[::2]) - values[1::2]) > _PREDICTED * scale).any(axis=0)
        missed &= scale > _VANISHING
        if places.size >= _MOST or not missed.any():
            return places, values, ~missed
        finer = np.linspace(low, high, 2 * places.size - 1)
        between = np.array([function(place) for place in finer[1::2].tolist()])
        joined = np.empty((finer.size, values.shape[1]))
        joined[::2], joined[1::2] = values, between
        places, values = finer, joined


def _between(values: Floats) -> Floats:
    """Return what cubics through four equally spaced values each predict in the middles between all values."""
    middle = (-values[:-3] + 9.0 * values[1:-2] + 9.0 * values[2:-1] - values[3:]) / 16.0
    first, last = ((5.0 * a + 15.0 * b - 5.0 * c + d) / 16.0 for a, b, c, d in (values[:4], values[:-5:-1]))
    return np.concatenate([first[np.newaxis], middle, last[np.newaxis]])


def _brackets(function: Callable[[float], float], places: Floats, values: Floats) -> list[tuple[float, float]]:
    """Return intervals at whose ends a function has opposite signs, or which are a root themselves."""
    from scipy.optimize import minimize_scalar

    found = [(float(place), float(place)) for place, value in zip(places, values, strict=True) if value == 0.0]
    changes = np.flatnonzero(values[:-1] * values[1:] < 0.0)
    found += [(float(places[index]), float(places[index + 1])) for index in changes]
    sizes = np.abs(values)
    for index in range(1, places.size - 1):
        # Two roots between samples of one sign: the parabola through three of them goes beyond zero.
        three, sign = values[index - 1 : index + 2], np.sign(values[index])
        if not (np.all(three * sign > 0.0) and sizes[index] <= sizes[index - 1 : index + 2].min()):
            continue
        bend = sizes[index - 1] - 2.0 * sizes[index] + sizes[index + 1]
        if bend <= 0.0 or sizes[index] > 2.0 * bend:
            continue
        low, high = float(places[index - 1]), float(places[index + 1])
        least = minimize_scalar(lambda place, side=sign: side * function(place), (), (low, high), method="bounded")
        if least.fun < 0.0:
            found += [(low, float(least.x)), (float(least.x), high)]
    return found


def _root(function: Callable[[float], float], low: float, high: float) -> tuple[float, float, float] | None:
    """Return a root between two places, and the ends of an interval that contains it; None if it jumps there."""
    from scipy.optimize import brentq

    if low == high:
        return low, low, high
    eps = float(np.finfo(float).eps)
    root = float(brentq(function, low, high, xtol=1e-300, rtol=4 * eps, maxiter=_HALVINGS))
    if abs(function(root)) > max(_VANISHING, _VANISHED * max(abs(function(low)), abs(function(high)))):
        return None
    width, sign = 4 * eps * max(abs(root), eps), np.sign(function(low))
    lower, upper = max(low, root - width), min(high, root + width)
    # Where rounding hides the sign, the bracket is as much wider.
    while lower > low and np.sign(function(lower)) != sign:
        width *= 2.0
        lower = max(low, root - width)
    while upper < high and np.sign(function(upper)) != -sign:
        width *= 2.0
        upper = min(high, root + width)
    return root, lower, upper
