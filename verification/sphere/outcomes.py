"""The outcome of an evolution on a sphere: settled, near an unstable state, or not at rest."""

from collections.abc import Iterator

from meanfield import Equation

from ..circle.outcomes import ABOVE, around_uniform, on_the_way
from ..claims import Evidence, claim, worst
from ..tools import Tools
from .dynamics import spread, two_lobes
from .measures import unit_coupling
from .uniform import attractive

# In units of 1/D.
MOVING = 0.02


def moderately_attractive(problem: Equation) -> str | None:
    """Return the reason why there is no threshold, or densities are not evolved; None if neither."""
    return attractive(problem) or spread(problem)


@claim(
    "sphere.outcome",
    "an evolution says how it ends",
    statement=(
        "At the uniform state an evolution ends settled below the first threshold and near an unstable state above "
        "it; a density on its way is not at rest."
    ),
    assumptions="some degree attracts; no narrow spikes",
    source="growth rates of the uniform state",
    hypotheses=moderately_attractive,
)
def outcome(problem: Equation, tools: Tools) -> Evidence:
    """Check the outcomes of evolutions from uniform on both sides of its threshold and from two lobes."""
    return worst(_endings(problem, tools))


def _endings(problem: Equation, tools: Tools) -> Iterator[Evidence]:
    unit = unit_coupling(problem)
    yield from around_uniform(problem, tools, unit)
    lobes = two_lobes(problem.domain.dimension)
    yield on_the_way(problem.at(coupling=ABOVE * unit), tools, lobes, MOVING, "from two lobes")
