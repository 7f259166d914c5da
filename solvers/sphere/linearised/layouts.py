"""Decay rates at a state of a sphere: by azimuthal sectors about its axis, else by classes of harmonics."""

import math
from collections.abc import Sequence

import numpy as np

from meanfield import Spectrum, State

from . import full_rates, full_spectra, rates, spectra


def spectrum(state: State) -> Spectrum:
    """Return the largest eigenvalues of the equation linearised at a state.

    See :func:`.spectra.spectrum` for zonal states given by degree, and
    :func:`.full_spectra.spectrum` for states on S^2 given by degree and order.
    """
    return full_spectra.spectrum(state) if state.layout == "order" else spectra.spectrum(state)


def slowest_rate(state: State) -> float:
    """Return the slowest decay rate of perturbations of a state, rotation excluded, negative when unstable."""
    return full_rates.slowest_rate(state) if state.layout == "order" else rates.slowest_rate(state)


def slowest_rates(states: Sequence[State]) -> list[float | Exception]:
    """Return the slowest decay rates of states of one equation at several couplings, or why one is not known."""
    zonal = np.flatnonzero([state.layout == "degree" for state in states]).tolist()
    found = np.full(len(states), np.nan)
    found[zonal] = rates.rates_together([states[place] for place in zonal])
    known = found.tolist()
    return [_alone(state) if math.isnan(rate) else rate for state, rate in zip(states, known, strict=True)]


def _alone(state: State) -> float | Exception:
    try:
        return slowest_rate(state)
    except Exception as error:
        return error
