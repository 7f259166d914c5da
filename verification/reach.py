r"""Whether particles can be compared with their limit: growth of deviations, and particles within reach.

A small deviation of the initial density, as N particles have one of size :math:`N^{-1/2}`, is carried along by the
linearised equation. Its growth is measured on the equation itself, from densities
:math:`\rho(1+\epsilon\cos k(\theta-\mu))` beside :math:`\rho`.

The force of a potential with multipliers w_k has the width of :math:`\sum_k k w_k\sin kt`; its spectrum has
:math:`(\sum_k k^2w_k^2)^2/\sum_k (kw_k)^4` modes that count, and a particle has about N divided by that number of
others within reach. For the transformer the number is of order :math:`\sqrt\beta`.
"""

import numpy as np
from numpy.typing import NDArray

from meanfield import McKeanVlasov, Trajectory
from solvers import evolve

Floats = NDArray[np.float64]

PERTURBATION = 1e-4
MOST_MODES = 4
SEARCHED = 256
# Of the equation's moments, far below the perturbation.
TOLERANCE = 1e-10


def amplification(trajectory: Trajectory) -> Floats:
    """Return the largest factor by which deviations of the initial density have grown, shape (T,).

    Modes 1 to the last that grows about uniform, four at most, in both phases.
    """
    start = trajectory.cosine[0] - 1j * trajectory.sine[0]
    last = int(np.max(unstable_modes(trajectory.problem), initial=1))
    modes = range(1, min(last, MOST_MODES) + 1)
    factors = [_growth(trajectory, perturbed(start, mode, phase)) for mode in modes for phase in (1.0, 1j)]
    return np.asarray(np.max(factors, axis=0))


def perturbed(moments: NDArray[np.complex128], mode: int, phase: complex) -> NDArray[np.complex128]:
    """Return the moments of rho (1 + eps Re(phase e^{-i mode t})), of mass one."""
    degree, centre = moments.size - 1, moments.size - 1 + mode
    whole = np.zeros(2 * centre + 1, dtype=complex)
    whole[mode : mode + 2 * degree + 1] = np.concatenate([moments[:0:-1].conj(), moments])
    raised, lowered = np.roll(whole, -mode), np.roll(whole, mode)
    changed = whole + 0.5 * PERTURBATION * (phase * raised + np.conj(phase) * lowered)
    return np.asarray(changed[centre:] / changed[centre].real)


def unstable_modes(problem: McKeanVlasov) -> NDArray[np.intp]:
    """Return the modes that grow about the uniform density: lambda_k > 1."""
    weights = problem.potential.multipliers(problem.domain, SEARCHED)[1:]
    return np.flatnonzero(-problem.fixed_coupling * weights > 2.0 * problem.noise) + 1


def neighbours(problem: McKeanVlasov, particles: int) -> float | None:
    """Return how many of the others a particle has within the reach of the force; None without a force."""
    weights = problem.potential.relative_multipliers(problem.domain, SEARCHED)
    forces = (np.arange(SEARCHED + 1) * weights) ** 2
    total = float(forces.sum())
    return particles * float((forces**2).sum()) / total**2 if total > 0.0 else None


def _growth(trajectory: Trajectory, initial: NDArray[np.complex128]) -> Floats:
    beside = evolve(
        trajectory.problem, initial, float(trajectory.time[-1]), times=trajectory.time, tolerance=TOLERANCE
    )
    count = min(beside.cosine.shape[1], trajectory.cosine.shape[1])
    apart = [getattr(beside, name)[:, :count] - getattr(trajectory, name)[:, :count] for name in ("cosine", "sine")]
    deviations = np.sqrt((apart[0] ** 2 + apart[1] ** 2).sum(axis=1))
    return np.asarray(deviations / deviations[0])
