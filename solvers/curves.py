"""Curves of special points in two parameters: folds, first-order lines, thresholds and branch points."""

import time
from dataclasses import asdict

from meanfield import Curve, CurvePoint, InvalidInput, Number, OrganisingPoint, SpecialPoint
from meanfield.arguments import checked, shown
from meanfield.equations import Capability, require
from meanfield.records import CurveType

from .branches.arclength import Arclength
from .equations.rotating import rotates_freely
from .execution.arguments import require_parameter_range
from .execution.provenance import provenance
from .execution.threads import one_thread
from .execution.watching import Watch, unwatched
from .two_parameters import COUPLING, Start, curve_from, require_followed, standing, start_of, states_of

# Curves are smooth: steps are as long as their prediction allows, up to this length.
LARGEST_STEP = 0.1
# The curves that leave organising points, beside that on which one was located.
LEAVING: dict[str, tuple[CurveType, ...]] = {
    "tricritical": ("threshold", "fold", "transition"),
    "cusp": ("fold", "transition"),
    "end point": ("transition", "fold"),
    "Bogdanov-Takens": ("fold", "branch point", "Hopf"),
}


@checked
@one_thread()
def curve(
    start: SpecialPoint | OrganisingPoint | CurvePoint,
    parameter: str,
    interval: tuple[Number, Number],
    *,
    against: str | None = None,
    type: str | None = None,
    between: tuple[int, int] | None = None,
    born: bool = False,
    largest_coupling: float | None = None,
    method: Arclength | None = None,
    watch: Watch | None = None,
) -> Curve:
    """Return the curve of special points through a start in two parameters.

    Parameters
    ----------
    start
        A special point of a diagram, an organising point or a point of a curve: a fold, a point of equal free
        energy, a branch point or a Hopf bifurcation. Its equation fixes all other parameters.
    parameter
        The first parameter, one of ``problem.parameters``, which covers the interval.
    interval
        Its range, which contains the start. Curves are followed to its ends, or to where they end themselves,
        through turning points in either parameter.
    against
        The second parameter, free to follow; by default the one that the start was located in, the coupling.
    type
        ``fold``, ``branch point``, ``transition``, ``threshold`` or ``Hopf`` where several curves leave an
        organising point; by default that on which it was located, the threshold at a point of the uniform branch,
        and at a Bogdanov-Takens point that of folds or branch points.
    between
        At a triple point the two states between which the line is, by number: 0 that of ``cosine``, then those of
        ``other_cosine``. By default the first two, those of the line on which it was located.
    born
        At an end point of a line, where one of its states becomes unstable, whether the curve is the line on which
        the state that is born there takes its place, of those born of the uniform state of a sphere the zonal one;
        by default it is that on which the point was located.
    largest_coupling
        The modulus of the coupling up to which the curve is followed; by default up to 1e4 times the smallest
        that is critical, thresholds up to 1e16 times, or to forces as strong beside the noise.
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
        If a confinement on a sphere has kinks, or one on the circle does that a parameter may move.

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
    if not rotates_freely(problem):
        require(problem, Capability.STATIONARY_MAP, "curves of special points")
    known = _of_type(known, type)
    if between is not None:
        if not isinstance(start, OrganisingPoint):
            raise InvalidInput("between chooses a line of a triple point, and the start is none; leave it out")
        known = _between(known, start, between)
    if born:
        known = _born(known, start)
    names = (parameter, _second(parameter, against, known.found, start))
    for name in names:
        problem = problem.having(name)
    known = known._replace(problem=problem)
    low, high = require_parameter_range(interval, parameter)
    require_followed(known)
    method = Arclength(max_step=LARGEST_STEP) if method is None else method
    most = None if largest_coupling is None else float(largest_coupling)
    least = float(abs(problem.fixed_coupling))
    if most is not None and not most >= least:
        raise InvalidInput(f"largest_coupling must be at least that of the start, {least:g}, not {most:g}")
    options = {"parameters": list(names), "interval": [float(low), float(high)], **asdict(method)}
    chosen = {"type": type, "between": between and list(between), "born": born, "largest_coupling": most}
    options |= {name: value for name, value in chosen.items() if value}

    def describe() -> dict[str, object]:
        return provenance(problem, options, time.process_time() - started)

    known, frame = standing(known, names, (float(low), float(high)))
    found = curve_from(known, names, (float(low), float(high)), most, method, watch or unwatched, describe)
    if type not in (None, found.type):
        raise InvalidInput(
            f"no curve of the type {shown(type)} leaves this {start.type} point; it is on a curve of {found.type}s"
        )
    return found if frame is None else frame.curve(found)


def _of_type(known: Start, type: str | None) -> Start:
    """Return a start of curves of a type."""
    if type is None or type == known.kind:
        return known
    types = LEAVING.get(known.organising, (known.kind,))
    if known.halves:
        types = ("branch point", *types[1:])
    kind = next((each for each in types if each == type), None)
    if kind is None:
        point = known.organising + " point" * (known.organising in ("tricritical", "Bogdanov-Takens"))
        what = f"a {point}" if point else "such a point"
        raise InvalidInput(f"no curve of the type {shown(type)} leaves {what}; there are {', '.join(types)}")
    return known._replace(kind=kind)


def _between(known: Start, point: OrganisingPoint, pair: tuple[int, int]) -> Start:
    """Return a start of the line between two of the states of a triple point, the uniform one, if any, second."""
    states = states_of(point)
    if point.type != "triple point" or len(states) < 3:
        raise InvalidInput(
            f"between chooses a line of a triple point with its states, and this is a {point.type} with "
            f"{len(states)}; leave it out"
        )
    if not (len(set(pair)) == 2 and set(pair) <= set(range(len(states)))):
        raise InvalidInput(f"between takes two of the states 0 to {len(states) - 1}, not {pair}; try (0, 2)")
    return known.between(states[pair[0]], states[pair[1]])


def _born(known: Start, start: SpecialPoint | OrganisingPoint | CurvePoint) -> Start:
    """Return a start of the line of the state that is born at an end point."""
    if not (isinstance(start, OrganisingPoint) and start.type == "end point"):
        raise InvalidInput("born chooses a line that begins at an end point, and the start is none; leave it out")
    if known.kind != "transition":
        raise InvalidInput(
            f"born chooses a first-order line, and type is {shown(known.kind)}; leave one of them out"
        )
    return known._replace(born=True)


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
