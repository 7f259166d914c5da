"""The phase diagram of a problem in one parameter and the coupling: curves, organising points and regions."""

import time

from meanfield import Equation, InvalidInput, PhaseDiagram
from meanfield.arguments import checked, shown
from meanfield.equations import Capability, require

from .equations.rotating import rotates_freely
from .execution.provenance import provenance
from .execution.threads import one_thread
from .execution.watching import Watch, unwatched
from .phases.exploring import curves_of
from .phases.regions import examined, regions_of
from .phases.window import Window

DEFAULT_RELATIVE = (0.4, 1.6)
# Diagrams at fixed values at most, and the largest seed.
MOST_SECTIONS, LARGEST_SEED = 1000, 2**63


@checked
@one_thread()
def phase_diagram(
    problem: Equation,
    over: tuple[str, tuple[float, float]],
    *,
    relative: tuple[float, float] | None = None,
    coupling: tuple[float, float] | None = None,
    sections: int = 5,
    search: bool = False,
    examine: bool = True,
    seed: int = 0,
    watch: Watch | None = None,
) -> PhaseDiagram:
    """Return the phase diagram of a problem in a parameter and the coupling.

    Regions have a minimiser where there is a free energy; of other laws, such as softmax attention, they have the
    names of all stable states.

    Parameters
    ----------
    problem
        The equation; its coupling and its value of the parameter are ignored.
    over
        The parameter by its name among ``problem.parameters``, and its range, as in ``("beta", (1, 10))``.
    relative
        Range of the coupling in units of the smallest positive critical coupling; (0.4, 1.6) if neither is given.
    coupling
        Range of the coupling.
    sections
        Number of values of the parameter, besides those about organising points and at the ends of its range, at
        which bifurcation diagrams find the curves that do not begin at the uniform state.
    search
        Whether these diagrams look for branches connected to no other as well.
    examine
        Whether to compare every region with the states that a search finds at a random point of it.
    seed
        Of the random points.
    watch
        Called with the number of steps done, None and what is worked on.

    Returns
    -------
    PhaseDiagram
        Curves, organising points, regions and everything a reader must be warned of.

    Raises
    ------
    InvalidInput
        If the parameter is unknown or not admissible in its range, a range is empty, reversed or not finite,
        densities are no fixed points of a map, or there is no positive critical coupling to be relative to.

    Examples
    --------
    >>> from meanfield import Circle, McKeanVlasov, Transformer
    >>> problem = McKeanVlasov(Circle(), Transformer(beta=1.0))
    >>> diagram = phase_diagram(problem, ("beta", (2.0, 3.0)), relative=(0.9, 1.1))
    >>> [(point.type, round(point.values[0], 9)) for point in diagram.special_points]
    [('tricritical', 2.446918311)]
    """
    started = time.process_time()
    watch = watch or unwatched
    if not rotates_freely(problem):
        require(problem, Capability.STATIONARY_MAP, "phase diagrams")
    for name, value, low, high in (("sections", sections, 1, MOST_SECTIONS), ("seed", seed, 0, LARGEST_SEED)):
        if not low <= value <= high:
            raise InvalidInput(
                f"{name} must be a whole number from {low} to {high:g}, not {shown(value)}; try {name}=5"
            )
    if relative is not None and coupling is not None:
        raise InvalidInput("give the range of couplings or of relative couplings, not both")
    parameter, interval = over
    heights = coupling if coupling is not None else relative or DEFAULT_RELATIVE
    window = Window(problem.at(coupling=None), parameter, interval, coupling is None, heights)
    found = curves_of(window, sections, search, watch)
    regions, warnings = regions_of(window, found.borders, found.sections, seed)
    if examine:
        for index, region in enumerate(regions):
            watch(index, len(regions), "regions")
            regions[index], warning = examined(window, region, found.sections)
            warnings += [warning] if warning else []
    options = {"sections": sections, "search": search, "examine": examine, "seed": seed}
    return PhaseDiagram(
        problem=window.problem,
        parameter=parameter,
        interval=window.interval,
        unit="relative_coupling" if window.relative else "coupling",
        window=window.heights,
        curves=tuple(found.curves),
        origins=tuple(found.origins),
        special_points=tuple(found.points),
        regions=tuple(regions),
        warnings=tuple(dict.fromkeys(found.warnings + warnings)),
        provenance=provenance(window.problem, options, time.process_time() - started)
        | {"sections": [section.value for section in found.sections]},
    )
