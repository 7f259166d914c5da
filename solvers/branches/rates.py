"""Slowest decay rates along whole branches."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from meanfield import Branch, ComputationFailed, McKeanVlasov, Outcome, State

from ..bases import Floats
from ..geometry import geometry_of

# The labels of the branches of points whose rate an exception took, by the exception in words.
Failures = dict[str, list[str]]


def with_rates(
    problem: McKeanVlasov, branches: Sequence[Branch], failures: Failures | None = None
) -> tuple[Branch, ...]:
    """Return the branches with the slowest decay rate at every point.

    Parameters
    ----------
    problem
        The equation; its coupling is ignored.
    branches
        Branches of stationary states; those of symmetry 0 (uniform) are returned as they are.
    failures
        Takes the branches of the points whose rate ended in an exception that is no refusal. Rates stand beside
        the branches and never take them away.

    Returns
    -------
    tuple of Branch
        ``slowest_rate`` in units of 1/time: minus the largest eigenvalue among all perturbations, rotation
        excluded; nan where the moments of a point are not finite or the rate is unaffordable or too small, see
        :func:`unknown_rates`.
    """
    failures = {} if failures is None else failures
    return tuple(_with_rates(problem, branch, failures) for branch in branches)


def _with_rates(problem: McKeanVlasov, branch: Branch, failures: Failures) -> Branch:
    if branch.symmetry == 0:
        return branch
    rates = [
        _known_rate(problem, branch, point, failures) if np.isfinite(branch.cosine[point]).all() else np.nan
        for point in range(len(branch))
    ]
    return replace(branch, slowest_rate=np.where(_contradicted(branch, np.array(rates)), np.nan, rates))


def _contradicted(branch: Branch, rates: Floats) -> NDArray[np.bool_]:
    """Tell where the sign of a rate is lost in rounding: it disagrees with the inertia, which is not lost."""
    # At a branch point, also one that the branch ends at, and at a fold the rate is zero up to rounding, of either
    # sign.
    ordinary = np.array([label not in ("BP", "LP") for label in branch.point_labels])
    if branch.outcome is Outcome.JOINED_BRANCH:
        ordinary[-1] = False
    wrong = ((branch.unstable > 0) & (rates > 0.0)) | ((branch.unstable == 0) & (rates < 0.0))
    return np.asarray(ordinary & wrong)


def state_at(problem: McKeanVlasov, branch: Branch, point: int) -> State:
    """Return a point of a branch as a state, its coupling in the precision of the branch."""
    return State(
        problem=problem.at(coupling=branch.coupling[point]),
        cosine=branch.cosine[point],
        sine=branch.sine[point],
        free_energy_gap=float(branch.free_energy_gap[point]),
        unstable=None,
        symmetry=branch.symmetry,
        residual=float(branch.residual[point]),
        modes=int(branch.modes[point]),
        layout=branch.layout,
    )


def _known_rate(problem: McKeanVlasov, branch: Branch, point: int, failures: Failures) -> float:
    try:
        state = state_at(problem, branch, point)
        return geometry_of(problem).slowest_rate(state)
    except ComputationFailed:
        return np.nan
    except Exception as error:
        failures.setdefault(f"{type(error).__name__}: {error}", []).append(branch.label)
        return np.nan


def unknown_rates(branches: Sequence[Branch], failures: Failures | None = None) -> tuple[str, ...]:
    """Return what a reader of branches with rates must be told about the points that have none."""
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
        sentences.append(
            f"the decay rates at {refused} points ({labels}) are left out: with up to {modes} modes they are "
            "unaffordable or below the rounding error"
        )
    return tuple(sentences)
