r"""Fluctuations of finitely many particles about uniform: T12."""

from meanfield import McKeanVlasov

from ..claims import Evidence, claim, compare, worst
from ..tools import Tools
from .measures import unit_coupling
from .uniform import attractive

LARGEST_MODE = 2
# Half the critical coupling: fluctuations are twice as strong as without interaction.
FACTOR = 0.5
STANDARD_ERRORS = 4.0


def few_modes(problem: McKeanVlasov) -> str | None:
    """Return the reason why the particles are not simulated for a problem."""
    reason = attractive(problem)
    if reason is not None:
        return reason
    tail = problem.potential.tail_bound(problem.domain, LARGEST_MODE)
    return None if tail == 0 else f"particles are simulated for potentials of at most {LARGEST_MODE} modes only"


@claim(
    "circle.T12",
    "fluctuations in the uniform phase",
    statement="For kappa < min kappa_k, N E|c_k|^2 -> 1/(1 - lambda_k) as N -> infinity.",
    assumptions="uniform phase; simulated for at most two modes, 4 standard errors",
    source="Ornstein-Uhlenbeck limit of the modes; Euler-Maruyama with a fixed seed",
    hypotheses=few_modes,
)
def uniform_fluctuations(problem: McKeanVlasov, tools: Tools) -> Evidence:
    """Simulate and compare with the prediction; the known bias of the time step belongs to the bound."""
    coupling = FACTOR * unit_coupling(problem)
    measured = tools.fluctuations(problem.at(coupling=coupling))
    multipliers = problem.potential.multipliers(problem.domain, len(measured))
    found = []
    for mode, sample in enumerate(measured, start=1):
        expected = 1 / (1 + coupling * float(multipliers[mode]) / (2 * problem.noise))
        bound = STANDARD_ERRORS * sample.standard_error + abs(sample.step_bias * expected) + sample.size_bias
        text = f"N E|c_{mode}|^2 over {sample.samples} independent systems of {sample.particles} particles"
        found.append(compare(sample.mean, expected, bound, text))
    return worst(found)
