"""Decay rates at a state of a sphere: by azimuthal sectors about its axis, else by classes of harmonics."""

from collections.abc import Sequence

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
    """Return the slowest decay rates of several states, or why one is not known."""
    return [_known(state) for state in states]


def _known(state: State) -> float | Exception:
    try:
        return slowest_rate(state)
    except Exception as error:
        return error
