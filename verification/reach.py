r"""Conditions for comparing particles with their limit: growth of deviations, and particles within reach.

A small deviation of the initial density, as N particles have one of size :math:`N^{-1/2}`, is carried along by the
linearised equation. Its growth is measured on the equation itself, from densities
:math:`\rho(1+\epsilon\cos k(\theta-\mu))` beside :math:`\rho`.

The force of a potential with multipliers w_k has the width of :math:`\sum_k k w_k\sin kt`; its spectrum has
:math:`(\sum_k k^2w_k^2)^2/\sum_k (kw_k)^4` significant modes, and a particle has about N divided by that number of
others within reach. For the transformer the number is of order :math:`\sqrt\beta`. On a sphere the force has
:math:`N_l` modes of each degree, of the strengths :math:`\hat w_l^2\,l(l+d-2)`.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from meanfield import Circle, Equation, Trajectory
from meanfield.equations import Capability
from meanfield.harmonics import Modes, place
from solvers.evolution import Initial

from .limit import limit

Floats = NDArray[np.float64]

PERTURBATION = 1e-4
MOST_MODES = 4
SEARCHED = 256
LARGEST_COUNT = 10**300


def amplification(trajectory: Trajectory) -> Floats:
    """Return the largest factor by which deviations of the initial density have grown, shape (T,).

    Modes 1 to the last that grows about uniform, four at most, in both phases; on spheres those about the pole.
    """
    last = int(np.max(unstable_modes(trajectory.problem), initial=1))
    modes = range(1, min(last, MOST_MODES) + 1)
    if trajectory.moments.modes.rotation_numbers:
        start = trajectory.cosine[0] - 1j * trajectory.sine[0]
        factors = [_growth(trajectory, perturbed(start, mode, phase)) for mode in modes for phase in (1.0, 1j)]
    else:
        factors = [_growth(trajectory, perturbed_about_pole(trajectory, mode)) for mode in modes]
    return np.asarray(np.max(factors, axis=0))


def perturbed(moments: NDArray[np.complex128], mode: int, phase: complex) -> NDArray[np.complex128]:
    """Return the moments of rho (1 + eps Re(phase e^{-i mode t})), of mass one."""
    degree, centre = moments.size - 1, moments.size - 1 + mode
    whole = np.zeros(2 * centre + 1, dtype=complex)
    whole[mode : mode + 2 * degree + 1] = np.concatenate([moments[:0:-1].conj(), moments])
    raised, lowered = np.roll(whole, -mode), np.roll(whole, mode)
    changed = whole + 0.5 * PERTURBATION * (phase * raised + np.conj(phase) * lowered)
    return np.asarray(changed[centre:] / changed[centre].real)


def perturbed_about_pole(trajectory: Trajectory, degree: int) -> Initial:
    r"""Return the initial density on a sphere times 1 + eps P_l(cos theta), of mass one.

    The product is the recurrence of the polynomials with the multiplication of moments by :math:`\cos\theta`.
    """
    modes, dimension = trajectory.moments.modes, trajectory.problem.domain.dimension
    cosine, sine = (_extended(moments[0], modes, degree) for moments in (trajectory.cosine, trajectory.sine))
    changed = []
    for moments in (cosine, sine):
        before, product = np.zeros_like(moments), moments
        for k in range(degree):
            raised = _raised(product, modes)
            before, product = product, ((2 * k + dimension - 2) * raised - k * before) / (k + dimension - 2)
        changed.append(moments + PERTURBATION * product)
    mass = changed[0][0]
    return Initial(changed[0] / mass, changed[1] / mass, "perturbed", (), trajectory.layout)


def _extended(moments: Floats, modes: Modes, degree: int) -> Floats:
    """Return moments zero-padded by a number of degrees."""
    result = np.zeros(modes.places(modes.degree(moments.size) + degree))
    result[: moments.size] = moments
    return result


def _raised(moments: Floats, modes: Modes) -> Floats:
    r"""Return the moments of a density times :math:`\cos\theta`, up to the same degree.

    :math:`(2l+d-2)\,u P_l = (l+d-2) P_{l+1} + l P_{l-1}`, and of order m on S^2
    :math:`(2l+1)\,u\,e_{lm} = \sqrt{(l+1)^2-m^2}\,e_{l+1,m} + \sqrt{l^2-m^2}\,e_{l-1,m}`.
    """
    orders = modes.orders(moments.size)
    if orders is None:
        degrees, dimension = np.arange(moments.size), modes.domain.dimension
        up, total = degrees + dimension - 2.0, 2.0 * degrees + dimension - 2.0
        above, below = np.append(moments[1:], 0.0), np.append(0.0, moments[:-1])
        return np.asarray((up * above + degrees * below) / total)
    degrees = modes.degrees(moments.size)
    starts = place(degrees, 0)
    padded = np.append(moments, np.zeros(int(degrees[-1]) + 2))
    above = padded[starts + degrees + 1 + orders]
    below = np.where(orders < degrees, padded[np.maximum(starts - degrees + orders, 0)], 0.0)
    up, down = np.sqrt((degrees + 1.0) ** 2 - orders**2), np.sqrt(degrees**2.0 - orders**2)
    return np.asarray((up * above + down * below) / (2.0 * degrees + 1.0))


def unstable_modes(problem: Equation) -> NDArray[np.intp]:
    """Return the modes that grow about the uniform density, lambda_k > 1; the first where that is not known."""
    if problem.lacks(Capability.DRIVE):
        return np.arange(1, MOST_MODES + 1)
    weights = problem.velocity.at_uniform(problem.domain).multipliers(problem.domain, SEARCHED)[1:]
    return np.flatnonzero(-problem.fixed_coupling * weights > _multiplicities(problem)[1:] * problem.noise) + 1


def neighbours(problem: Equation, particles: int) -> float | None:
    """Return the number of other particles within the reach of the force; None if it is none or not known."""
    if problem.lacks(Capability.DRIVE):
        return None
    weights = problem.potential.relative_multipliers(problem.domain, SEARCHED)
    if isinstance(problem.domain, Circle):
        forces, modes = (np.arange(SEARCHED + 1) * weights) ** 2, np.ones(SEARCHED + 1)
    else:
        modes = _multiplicities(problem)
        eigenvalues = [-problem.domain.laplacian_eigenvalue(degree) for degree in range(SEARCHED + 1)]
        forces = weights**2 * np.array(eigenvalues, dtype=float) / modes
    total = float(forces.sum())
    return particles * float((forces**2 / modes).sum()) / total**2 if total > 0.0 else None


def _multiplicities(problem: Equation) -> Floats:
    """Return the number of modes of each degree, infinite for high degrees in high dimensions."""
    counts = (problem.domain.multiplicity(degree) for degree in range(SEARCHED + 1))
    return np.array([float(count) if count < LARGEST_COUNT else np.inf for count in counts])


def _growth(trajectory: Trajectory, initial: Any) -> Floats:
    beside = limit(trajectory.problem, initial, float(trajectory.time[-1]), trajectory.time)
    count = min(beside.cosine.shape[1], trajectory.cosine.shape[1])
    apart = [getattr(beside, name)[:, :count] - getattr(trajectory, name)[:, :count] for name in ("cosine", "sine")]
    deviations = np.sqrt((apart[0] ** 2 + apart[1] ** 2).sum(axis=1))
    return np.asarray(deviations / deviations[0])
