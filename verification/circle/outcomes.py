r"""The outcome of an evolution: settled, near an unstable state, or not at rest.

The uniform state is stable below the first threshold and unstable above it; the states of a coupling are stable if
and only if :math:`B = D/\rho + \kappa W*` has no negative direction.
"""

from collections.abc import Iterator
from typing import Any

from meanfield import Equation, Outcome

from ..claims import Evidence, Undecided, claim, compare, worst
from ..tools import Tools
from .dynamics import start
from .linearisation import CRITICAL, isolated_states, negative_directions
from .measures import unit_coupling

BELOW, ABOVE = 0.5, 1.3
# In units of 1/D: long enough to tell rest from motion, and too short to come to rest.
RESTING, MOVING = 1.0, 0.05
MOST = 4


@claim(
    "circle.outcome",
    "an evolution says how it ends",
    statement=(
        "At a state without unstable directions an evolution ends settled; at one with some it stands near an "
        "unstable state; a density on its way is not at rest."
    ),
    assumptions="states are isolated up to rotation",
    source="T2 for the uniform state, the inertia of B for the others",
    hypotheses=isolated_states,
)
def outcome(problem: Equation, tools: Tools) -> Evidence:
    """Check the outcomes of evolutions from uniform on both sides of its threshold, other states, and two bumps."""
    return worst(_endings(problem, tools))


def _endings(problem: Equation, tools: Tools) -> Iterator[Evidence]:
    unit, resting = unit_coupling(problem), RESTING / problem.noise
    yield from around_uniform(problem, tools, unit)
    coupled = problem.at(coupling=ABOVE * unit)
    yield on_the_way(coupled, tools, start(), MOVING, "from two bumps")
    clustered = [state for state in tools.states(coupled) if state.symmetry]
    if not clustered:
        raise Undecided("there is no clustered state")
    for state in clustered[:MOST]:
        inertia, margin = negative_directions(state)
        if margin > CRITICAL:
            path = tools.evolve(coupled, (state.cosine, state.sine), resting, times=2)
            expected = Outcome.METASTABLE if inertia else Outcome.STATIONARY
            yield _word(path.outcome, expected, f"at the {state.label} at coupling {float(state.coupling):.9g}")


def around_uniform(problem: Equation, tools: Tools, threshold: float) -> Iterator[Evidence]:
    """Yield the evidence of the outcomes of evolutions from uniform on both sides of its threshold."""
    uniform = ([1.0, *[0.0] * 16], [0.0] * 17)
    for factor, expected in ((BELOW, Outcome.STATIONARY), (ABOVE, Outcome.METASTABLE)):
        path = tools.evolve(problem.at(coupling=factor * threshold), uniform, RESTING / problem.noise, times=2)
        yield _word(path.outcome, expected, f"at the uniform state, {factor:g} of its threshold")


def on_the_way(problem: Equation, tools: Tools, initial: Any, time: float, where: str) -> Evidence:
    """Return the evidence of the outcome of an evolution too short, in units of 1/D, to come to rest."""
    path = tools.evolve(problem, initial, time / problem.noise, times=2)
    return _word(path.outcome, Outcome.REACHED_TIME, f"{where}, after a short time")


def _word(found: Outcome, expected: Outcome, where: str) -> Evidence:
    """Return the evidence that an evolution ended with the outcome expected."""
    return compare(
        float(found is expected), 1.0, 0.0, f"{where}: {found.name.lower()}, expected {expected.name.lower()}"
    )
