"""Slowest decay rates along whole branches."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from meanfield import Branch, ComputationFailed, Equation, Outcome, State
from meanfield.records import states_at

from ..bases import Floats
from ..equations.geometry import Geometry

# The labels of the branches of points whose rate an exception took, by the exception in words.
Failures = dict[str, list[str]]


def with_rates(
    problem: Equation, geometry: Geometry, branches: Sequence[Branch], failures: Failures | None = None
) -> tuple[Branch, ...]:
    """Return the branches with the slowest decay rate at every point.

    Parameters
    ----------
    problem
        The equation; its coupling is ignored.
    geometry
        That of its domain.
    branches
        Branches of stationary states; those of symmetry 0 (uniform) are returned as they are.
    failures
        Receives the branches of the points whose rate ended in an unexpected exception. Rates are optional beside
        the branches, which are returned in any case.

    Returns
    -------
    tuple of Branch
        ``slowest_rate`` in units of 1/time: minus the largest eigenvalue among all perturbations, rotation
        excluded; nan where the moments of a point are not finite or the rate is unaffordable or too small, see
        :func:`unknown_rates`.
    """
    failures = {} if failures is None else failures
    return tuple(_with_rates(problem, geometry, branch, failures) for branch in branches)


def _with_rates(problem: Equation, geometry: Geometry, branch: Branch, failures: Failures) -> Branch:
    if branch.symmetry == 0:
        return branch
    rates = np.full(len(branch), np.nan)
    finite = np.isfinite(branch.cosine).all(axis=1)
    # The direction that is neutral at a fold, or the pair at a Hopf point, is the slowest where none is unstable.
    neutral = finite & np.isin(branch.point_labels, ("LP", "HB")) & (branch.unstable == 0)
    rates[neutral] = 0.0
    known = np.flatnonzero(finite & ~neutral)
    rates[known] = _known_rates(problem, geometry, branch, known, failures)
    return replace(branch, slowest_rate=np.where(_contradicted(branch, rates), np.nan, rates))


def _contradicted(branch: Branch, rates: Floats) -> NDArray[np.bool_]:
    """Return the points at which the sign of a rate, lost in rounding, disagrees with the inertia, as a mask."""
    # At a branch point, also one that the branch ends at, a fold and a Hopf point the rate is zero up to rounding,
    # of either sign.
    ordinary = ~np.isin(branch.point_labels, ("BP", "LP", "HB"))
    if branch.outcome is Outcome.JOINED_BRANCH:
        ordinary[-1] = False
    wrong = ((branch.unstable > 0) & (rates > 0.0)) | ((branch.unstable == 0) & (rates < 0.0))
    return np.asarray(ordinary & wrong)


def _known_rates(
    problem: Equation, geometry: Geometry, branch: Branch, points: NDArray[np.intp], failures: Failures
) -> list[float]:
    """Return the rates at points, nan if not known; unexpected exceptions are added to the failures."""
    try:
        states = states_at(problem, branch, points.tolist())
        rates = geometry.slowest_rates(states) if branch.parameter_values is None else _each(geometry, states)
    except Exception as error:
        if len(points) > 1:
            # The others have rates nevertheless.
            alone = (_known_rates(problem, geometry, branch, np.array([point]), failures) for point in points)
            return [rate for found in alone for rate in found]
        rates = [error]
    for rate in rates:
        if isinstance(rate, Exception) and not isinstance(rate, ComputationFailed):
            failures.setdefault(f"{type(rate).__name__}: {rate}", []).append(branch.label)
    return [np.nan if isinstance(rate, Exception) else rate for rate in rates]


def _each(geometry: Geometry, states: list[State]) -> list[float | Exception]:
    """Return the rates of states of different equations, or the errors instead."""
    return [rate for state in states for rate in geometry.slowest_rates([state])]


def unknown_rates(
    branches: Sequence[Branch], failures: Failures | None = None, rough: bool = False
) -> tuple[str, ...]:
    """Return warnings of the points of branches whose rates are not known.

    Parameters
    ----------
    branches
        With their rates.
    failures
        Those of :func:`with_rates`.
    rough
        Whether there is a confinement with a kink or a singularity, that the linearisation may not take.
    """
    missing = [
        (branch.label, int(branch.modes[point]))
        for branch in branches
        for point in np.flatnonzero(np.isnan(branch.slowest_rate) & np.isfinite(branch.cosine).all(axis=1))
    ]
    failed = failures or {}
    sentences = []
    for words, of in failed.items():
        named = ", ".join(dict.fromkeys(of))
        sentences.append(f"the decay rates at {len(of)} points ({named}) could not be computed ({words})")
    refused = len(missing) - sum(len(labels) for labels in failed.values())
    if refused:
        labels = ", ".join(dict.fromkeys(label for label, _ in missing))
        modes = max(count for _, count in missing)
        why = f"with up to {modes} modes they are unaffordable or below the rounding error"
        if rough:
            why = "beside a singularity, or a kink under a potential of many degrees, they are not computed"
        sentences.append(f"the decay rates at {refused} points ({labels}) are left out: {why}")
    return tuple(sentences)
