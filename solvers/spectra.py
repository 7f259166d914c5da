"""Placeholder while being written."""
from meanfield import Spectrum, State
def spectrum(state: State) -> Spectrum:
    raise NotImplementedError
def contraction_rate(state: State) -> float:
    raise NotImplementedError
