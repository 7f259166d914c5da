"""Curves of special points in two parameters: folds, first-order lines, thresholds and branch points."""

import time
from dataclasses import asdict

import numpy as np

from meanfield import Curve, CurvePoint, InvalidInput, Number, OrganisingPoint, SpecialPoint, State
from meanfield.arguments import checked, shown
from meanfield.equations import Capability, require
from meanfield.records import CurveType

from .bases import Floats
from .branches.arclength import Arclength
from .branches.exchange import EXCHANGED
from .provenance import provenance
from .stationary import stationary_states
from .threads import one_thread
from .two_parameters import COUPLING, Start, curve_from, require_followed, start_of
from .watching import Watch, unwatched

# Curves are smooth: steps are as long as their prediction allows, up to this length.
LARGEST_STEP = 0.1
# The curves that leave organising points, beside that on which one was located.
LEAVING: dict[str, tuple[CurveType, ...]] = {
    "tricritical": ("threshold", "fold", "transition"),
    "cusp": ("fold", "transition"),
    "end point": ("transition", "fold"),
}
# How far the free energies of two clustered states at a transition may be apart: they are equal there, and its
# coupling is known to a share of 1e-11 and better.
EQUAL = 1e-8
# The state of a special point is the stationary one within this distance of its moments.
OWN = 1e-6


@checked
@one_thread()
def curve(
    start: SpecialPoint | OrganisingPoint | CurvePoint,
    parameter: str,
    interval: tuple[Number, Number],
    *,
    against: str | None = None,
    type: str | None = None,
    method: Arclength | None = None,
    watch: Watch | None = None,
) -> Curve:
    """Return the curve of special points through a start in two parameters.

    Parameters
    ----------
    start
        A special point of a diagram, an organising point or a point of a curve: a fold, a point of equal free
        energy, or a branch point. Its equation fixes all other parameters.
    parameter
        The first parameter, one of ``problem.parameters``, which covers the interval.
    interval
        Its range, which contains the start. Curves are followed to its ends, or to where they end themselves,
        through turning points in either parameter.
    against
        The second parameter, free to follow; by default the one that the start was located in, the coupling.
    type
        ``fold``, ``transition`` or ``threshold`` where several curves leave an organising point; by default that on
        which it was located, and the threshold at a point of the uniform branch.
    method
        Step control; steps are in units of moments, relative coupling and the length of the interval.
    watch
        Called with the number of directions followed, 2 and a label.

    Returns
    -------
    Curve
        From one end to the other, with the organising points on it and everything a reader must be warned of.

    Raises
    ------
    InvalidInput
        If a parameter is unknown, the interval is empty or does not contain the start, or no curve leaves such a
        start.
    NotResolved
        If a confinement has kinks.

    Examples
    --------
    >>> from meanfield import Circle, McKeanVlasov, Transformer
    >>> from solvers import bifurcation_diagram
    >>> diagram = bifurcation_diagram(McKeanVlasov(Circle(), Transformer(beta=5.0)), depth=1, rates=False)
    >>> folds = curve(diagram.events("fold")[0], "beta", (2.0, 8.0))
    >>> folds.label, [(point.type, round(point.values[0], 10)) for point in folds.special_points]
    ('fold of the 1-cluster', [('tricritical', 2.4469183113)])
    """
    started = time.process_time()
    known = start_of(start)
    problem = known.problem
    require(problem, Capability.GRADIENT, "curves of special points")
    known = _with_rival(_of_type(known, type), start)
    names = (parameter, _second(parameter, against, known.found, start))
    for name in names:
        problem.place_of(name)
    low, high = interval
    if not (np.isfinite(low) and np.isfinite(high) and low < high):
        raise InvalidInput(f"the interval of {parameter} must be finite and increasing, not [{low:g}, {high:g}]")
    require_followed(known)
    method = Arclength(max_step=LARGEST_STEP) if method is None else method
    options = {"parameters": list(names), "interval": [float(low), float(high)], **asdict(method)}

    def describe() -> dict[str, object]:
        return provenance(problem, options, time.process_time() - started)

    return curve_from(known, names, (float(low), float(high)), method, watch or unwatched, describe)


def _of_type(known: Start, type: str | None) -> Start:
    """Return a start of curves of a type."""
    if type is None or type == known.kind:
        return known
    types = LEAVING.get(known.organising, (known.kind,))
    kind = next((each for each in types if each == type), None)
    if kind is None:
        what = f"a {known.organising}" if known.organising else "such a point"
        raise InvalidInput(f"no curve of the type {shown(type)} leaves {what}; there are {', '.join(types)}")
    return known._replace(kind=kind)


def _with_rival(known: Start, start: SpecialPoint | OrganisingPoint | CurvePoint) -> Start:
    """Return the start of a transition between two clustered states with the second of them.

    Raises
    ------
    InvalidInput
        If it is not found.
    """
    if not (isinstance(start, SpecialPoint) and known.kind == "transition" and EXCHANGED in start.description):
        return known
    lengths = start.moments.lengths
    states = [state for state in stationary_states(known.problem, rates=False) if state.symmetry]
    own = min(states, key=lambda state: _distance(lengths, state), default=None)
    if own is None or not _distance(lengths, own) <= OWN:
        raise InvalidInput("the state of the transition was not found again; start from a point of its curve")
    gap = own.free_energy_gap
    others = [state for state in states if state is not own]
    rival = min(others, key=lambda state: abs(state.free_energy_gap - gap), default=None)
    if rival is None or not abs(rival.free_energy_gap - gap) <= EQUAL:
        raise InvalidInput("the second state of the transition was not found; start from a point of its curve")
    return known._replace(second=(rival.cosine, rival.sine))


def _distance(lengths: Floats, state: State) -> float:
    """Return how far a state is from lengths of moments, none of which rotations change."""
    others = state.moments.lengths
    count = min(lengths.size, others.size)
    return float(np.abs(lengths[:count] - others[:count]).max())


def _second(
    parameter: str, against: str | None, found: str, start: SpecialPoint | OrganisingPoint | CurvePoint
) -> str:
    """Return the second parameter."""
    if against is None:
        own = (found, COUPLING) if isinstance(start, SpecialPoint) else (found, *start.parameters)
        against = next((name for name in own if name != parameter), None)
        if against is None:
            raise InvalidInput(
                f"the start was located in {parameter}, and a curve needs a second parameter; name it by against"
            )
    if against == parameter:
        raise InvalidInput(
            f"the two parameters of a curve differ, and both are {parameter}; try against={COUPLING!r}"
        )
    return against
