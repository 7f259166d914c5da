"""The word with which an evolution on a sphere ends: settled, near an unstable state, or not at rest."""

from collections.abc import Iterator

import numpy as np

from meanfield import McKeanVlasov, Outcome

from ..circle.outcomes import ABOVE, BELOW, word
from ..claims import Evidence, claim, worst
from ..tools import Tools
from .dynamics import spread, two_lobes
from .measures import unit_coupling
from .uniform import attractive

# In units of 1/D.
RESTING, MOVING = 1.0, 0.02


def moderately_attractive(problem: McKeanVlasov) -> str | None:
    """Return the reason why there is no threshold, or densities are not evolved."""
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
def outcome(problem: McKeanVlasov, tools: Tools) -> Evidence:
    """Evolve from the uniform state on both sides of its threshold and from two lobes."""
    return worst(_endings(problem, tools))


def _endings(problem: McKeanVlasov, tools: Tools) -> Iterator[Evidence]:
    unit, scale = unit_coupling(problem), 1.0 / problem.noise
    uniform = np.array([1.0, *[0.0] * 16]), np.zeros(17)
    for factor, expected in ((BELOW, Outcome.STATIONARY), (ABOVE, Outcome.METASTABLE)):
        path = tools.evolve(problem.at(coupling=factor * unit), uniform, RESTING * scale, times=2)
        yield word(path.outcome, expected, f"at the uniform state, {factor:g} of its threshold")
    lobes = two_lobes(problem.domain.dimension)
    path = tools.evolve(problem.at(coupling=ABOVE * unit), lobes, MOVING * scale, times=2)
    yield word(path.outcome, Outcome.REACHED_TIME, "from two lobes, after a short time")
