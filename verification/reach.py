r"""Whether particles can be compared with their limit: growth of deviations, and particles within reach.

A small deviation of the initial density, as N particles have one of size :math:`N^{-1/2}`, is carried along by the
linearised equation. Its growth is measured on the equation itself, from densities
:math:`\rho(1+\epsilon\cos k(\theta-\mu))` beside :math:`\rho`.

The force of a potential with multipliers w_k has the width of :math:`\sum_k k w_k\sin kt`; its spectrum has
:math:`(\sum_k k^2w_k^2)^2/\sum_k (kw_k)^4` modes that count, and a particle has about N divided by that number of
others within reach. For the transformer the number is of order :math:`\sqrt\beta`. On a sphere the force has
:math:`N_l` modes of each degree, of the strengths :math:`\hat w_l^2\,l(l+d-2)`.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from meanfield import Circle, McKeanVlasov, Trajectory
from meanfield.harmonics import largest_degree
from meanfield.quadrature import gauss_rule, polynomials
from solvers import evolve
from solvers.bases.spherical import SphericalTransform
from solvers.evolution import Initial

Floats = NDArray[np.float64]

PERTURBATION = 1e-4
MOST_MODES = 4
SEARCHED = 256
LARGEST_COUNT = 10**300
# Of the equation's moments, far below the perturbation.
TOLERANCE = 1e-10


def amplification(trajectory: Trajectory) -> Floats:
    """Return the largest factor by which deviations of the initial density have grown, shape (T,).

    Modes 1 to the last that grows about uniform, four at most, in both phases; on spheres those about the pole.
    """
    last = int(np.max(unstable_modes(trajectory.problem), initial=1))
    modes = range(1, min(last, MOST_MODES) + 1)
    if isinstance(trajectory.problem.domain, Circle):
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
    """Return the initial density on a sphere times 1 + eps P_l of the angle from the pole, of mass one."""
    cosine, sine = trajectory.cosine[0], trajectory.sine[0]
    if trajectory.layout == "order":
        return _in_orders(cosine, sine, degree)
    dimension = trajectory.problem.domain.dimension
    top = cosine.size - 1 + degree
    rule = gauss_rule(dimension, top + 1)
    table = polynomials(dimension, rule, top)
    density = (_multiplicities(trajectory.problem)[: cosine.size] * cosine) @ table[: cosine.size]
    moments = table @ (rule.weights * density * (1.0 + PERTURBATION * table[degree]))
    moments /= moments[0]
    return Initial(moments, np.zeros_like(moments), "perturbed")


def _in_orders(cosine: Floats, sine: Floats, degree: int) -> Initial:
    """Return packed moments of a density on S^2 times 1 + eps P_l."""
    top = largest_degree(cosine.size) + degree
    transform = SphericalTransform(top)
    waves = np.zeros((2, transform.degrees.size))
    waves[0, : cosine.size], waves[1, : sine.size] = cosine, sine
    values = transform.synthesise(*(transform.multiplicities * waves))
    values *= 1.0 + PERTURBATION * polynomials(3, transform.rule, degree)[degree][:, np.newaxis]
    changed = transform.analyse(values)
    return Initial(changed[0] / changed[0][0], changed[1] / changed[0][0], "perturbed", (), "order")


def unstable_modes(problem: McKeanVlasov) -> NDArray[np.intp]:
    """Return the modes that grow about the uniform density: lambda_k > 1."""
    weights = problem.potential.multipliers(problem.domain, SEARCHED)[1:]
    return np.flatnonzero(-problem.fixed_coupling * weights > _multiplicities(problem)[1:] * problem.noise) + 1


def neighbours(problem: McKeanVlasov, particles: int) -> float | None:
    """Return how many of the others a particle has within the reach of the force; None without a force."""
    weights = problem.potential.relative_multipliers(problem.domain, SEARCHED)
    if isinstance(problem.domain, Circle):
        forces, modes = (np.arange(SEARCHED + 1) * weights) ** 2, np.ones(SEARCHED + 1)
    else:
        modes = _multiplicities(problem)
        eigenvalues = [-problem.domain.laplacian_eigenvalue(degree) for degree in range(SEARCHED + 1)]
        forces = weights**2 * np.array(eigenvalues, dtype=float) / modes
    total = float(forces.sum())
    return particles * float((forces**2 / modes).sum()) / total**2 if total > 0.0 else None


def _multiplicities(problem: McKeanVlasov) -> Floats:
    """Return the numbers of modes of the degrees; those of high degree in high dimensions are infinite."""
    counts = (problem.domain.multiplicity(degree) for degree in range(SEARCHED + 1))
    return np.array([float(count) if count < LARGEST_COUNT else np.inf for count in counts])


def _growth(trajectory: Trajectory, initial: Any) -> Floats:
    beside = evolve(
        trajectory.problem, initial, float(trajectory.time[-1]), times=trajectory.time, tolerance=TOLERANCE
    )
    count = min(beside.cosine.shape[1], trajectory.cosine.shape[1])
    apart = [getattr(beside, name)[:, :count] - getattr(trajectory, name)[:, :count] for name in ("cosine", "sine")]
    deviations = np.sqrt((apart[0] ** 2 + apart[1] ** 2).sum(axis=1))
    return np.asarray(deviations / deviations[0])
