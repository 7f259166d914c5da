"""Decay rates at a state of a sphere: by azimuthal sectors about its axis, else by classes of harmonics."""

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from meanfield import Spectrum, State
from meanfield.equations import Capability

from ...equations.law_eigenvalues import rate_or_error
from . import full_rates, full_spectra, law_spectra, rates, softmax_spectra, spectra


class Linearised(NamedTuple):
    """Protocol of the linearisation at states of one kind: the largest eigenvalues, and the slowest decay rate."""

    spectrum: Callable[[State], Spectrum]
    slowest_rate: Callable[[State], float]


ABOUT_AXIS = Linearised(spectra.spectrum, rates.slowest_rate)
ANY_LAW = Linearised(law_spectra.spectrum, law_spectra.slowest_rate)
WITHOUT_AXIS = Linearised(full_spectra.spectrum, full_rates.slowest_rate)
SOFTMAX = Linearised(softmax_spectra.spectrum, softmax_spectra.slowest_rate)


def _linearised(state: State) -> Linearised:
    if state.problem.lacks(Capability.GRADIENT):
        return ANY_LAW if state.moments.has_axis else SOFTMAX
    return ABOUT_AXIS if state.moments.has_axis else WITHOUT_AXIS


def spectrum(state: State) -> Spectrum:
    """Return the largest eigenvalues of the equation linearised at a state.

    See :func:`.spectra.spectrum` for zonal states given by degree, and
    :func:`.full_spectra.spectrum` for states on S^2 given by degree and order.
    """
    return _linearised(state).spectrum(state)


def slowest_rate(state: State) -> float:
    """Return the slowest decay rate of perturbations of a state, rotation excluded, negative when unstable."""
    return _linearised(state).slowest_rate(state)


def slowest_rates(states: Sequence[State]) -> list[float | Exception]:
    """Return the slowest decay rate, or the error instead, of each of several states of one equation."""
    if states and states[0].problem.lacks(Capability.GRADIENT):
        return [rate_or_error(slowest_rate, state) for state in states]
    found: list[float | Exception] = [np.nan] * len(states)
    zonal = np.array([state.moments.has_axis for state in states], dtype=bool)
    together = np.flatnonzero(zonal).tolist()
    known = rates.rates_together([states[place] for place in together]).tolist()
    for place, rate in zip(together, known, strict=True):
        found[place] = rate_or_error(slowest_rate, states[place]) if math.isnan(rate) else rate
    others = np.flatnonzero(~zonal).tolist()
    for place, one in zip(others, full_rates.slowest_rates([states[place] for place in others]), strict=True):
        found[place] = one
    return found
