"""Placeholder while being written."""
from meanfield import McKeanVlasov, State
def stationary_states(problem: McKeanVlasov) -> tuple[State, ...]:
    raise NotImplementedError
