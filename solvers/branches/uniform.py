"""The uniform branch: exact states and branch points in closed form."""

import numpy as np

from meanfield import CriticalPoint, McKeanVlasov, Number, SpecialPoint, critical_modes

from ..bases import EPS
from .recording import Register, uniform_branch


def record_uniform(problem: McKeanVlasov, inside: list[CriticalPoint], register: Register) -> None:
    """Record the uniform branch over the interval and its branch points."""
    low, high = register.interval
    grid = np.linspace(low, high, 61)
    criticals = np.array([point.coupling for point in inside], dtype=grid.dtype)
    # A point between neighbouring critical couplings shows the count there.
    between = 0.5 * (criticals[1:] + criticals[:-1])
    apart = np.abs(np.subtract.outer(grid, criticals)).min(axis=1, initial=np.inf) > 1e-9 * (high - low)
    couplings = np.unique(np.concatenate([grid[apart], criticals, between]))
    labels = ["" for _ in couplings]
    labels[0] = labels[-1] = "EP"
    crossed = critical_modes(problem, np.minimum(low, 0.0), np.maximum(high, 0.0))
    unstable = np.array([_count_beyond(crossed, value) for value in couplings])
    branch_points = [(int(np.searchsorted(couplings, point.coupling)), point) for point in inside]
    for index, _ in branch_points:
        labels[index] = "BP"
    register.branches.append(uniform_branch(problem, couplings, tuple(labels), unstable, register))
    for index, point in branch_points:
        register.special_points.append(_uniform_special(problem, index, point, register))


def unstable_uniform(problem: McKeanVlasov, coupling: Number) -> int:
    """Count the modes strictly beyond their threshold at the uniform state, a cosine and a sine each."""
    if coupling == 0.0:
        return 0
    span = (0.0, coupling) if coupling > 0.0 else (coupling, 0.0)
    return _count_beyond(critical_modes(problem, *span), coupling)


def _count_beyond(criticals: list[CriticalPoint], coupling: Number) -> int:
    """Count the kernel dimensions of the critical points strictly between zero and a coupling."""
    below = np.abs(coupling) * (1.0 - 4.0 * EPS)
    return sum(
        point.kernel_dimension
        for point in criticals
        if np.abs(point.coupling) < below and (point.coupling > 0.0) == (coupling > 0.0)
    )


def _uniform_special(problem: McKeanVlasov, index: int, point: CriticalPoint, register: Register) -> SpecialPoint:
    branch = register.branches[0]
    coupling = point.coupling
    before = int(branch.unstable[index])
    grows = coupling > 0
    error = 8 * EPS * np.abs(coupling)
    modes = ", ".join(str(mode) for mode in point.modes)
    return SpecialPoint(
        branch=0,
        point=index,
        type="branch point",
        coupling=coupling,
        relative_coupling=register.relative(coupling),
        lower=coupling - error,
        upper=coupling + error,
        unstable_before=before if grows else before + point.kernel_dimension,
        unstable_after=before + point.kernel_dimension if grows else before,
        kernel_dimension=point.kernel_dimension,
        status="exact",
        cosine=branch.cosine[index],
        sine=branch.sine[index],
        description=f"critical: mode {modes} at the uniform state",
    )
