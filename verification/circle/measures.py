r"""Independent measurements on moments, branches and potentials, none of them a formula of the solvers.

With :math:`\lambda_k = -\kappa w_k/2D` a stationary density is :math:`e^V/Z`,
:math:`V = 2\sum_k \lambda_k (m_k\cos kt + s_k\sin kt)`, and its gap is
:math:`\sum_k \lambda_k |c_k|^2 - \log(Z/2\pi)`.
"""

import math
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from meanfield import Branch, Diagram, McKeanVlasov, Potential, State, critical_coupling

from ..claims import Undecided

Floats = NDArray[np.float64]
EPS = float(np.finfo(float).eps)

# What the solvers promise: residual along branches, relative error of located couplings, error of moments
# and of energy gaps, relative error of eigenvalues.
RESIDUAL = 1e-12
LOCATION = 1e-12
MOMENT = 1e-11
EIGENVALUE = 1e-8

# Couplings relative to the smallest positive critical one between which the diagrams are computed.
LOW, HIGH = 0.5, 2.5


def unit_coupling(problem: McKeanVlasov) -> float:
    """Return the smallest positive critical coupling, or 2 D / max |w_k| where no mode attracts."""
    critical = critical_coupling(problem)
    if critical is not None:
        return float(critical)
    return 2.0 * problem.noise / float(problem.potential.scale(problem.domain))


def interval(problem: McKeanVlasov) -> tuple[float, float]:
    """Return the couplings over which the diagrams of the claims are computed."""
    unit = unit_coupling(problem)
    return LOW * unit, HIGH * unit


def shares(problem: McKeanVlasov, coupling: float, degree: int) -> Floats:
    """Return lambda_0 = 0 and lambda_k, k = 1..degree."""
    multipliers = np.asarray(problem.potential.multipliers(problem.domain, degree), dtype=float)
    result: Floats = -coupling * multipliers / (2.0 * problem.noise)
    result[0] = 0.0
    return result


def spaced(count: int, most: int) -> list[int]:
    """Return at most ``most`` indices spread evenly over ``range(count)``."""
    return sorted({int(i) for i in np.linspace(0, count - 1, min(count, most))}) if count else []


def clustered_states(diagram: Diagram, most: int = 5) -> Iterator[State]:
    """Yield a few states of every branch but the uniform one."""
    for index, branch in enumerate(diagram.branches):
        if branch.symmetry == 0:
            continue
        for point in spaced(len(branch), most):
            yield diagram.state(index, point)


def primary_branch(diagram: Diagram, mode: int) -> Branch | None:
    """Return the first branch of symmetry ``mode`` that is born on the uniform one."""
    born = [
        branch
        for branch in diagram.branches
        if branch.symmetry == mode
        and branch.label.split(" ")[0] == f"{mode}-cluster"
        and "from" not in branch.label
    ]
    return born[0] if born else None


def order(branch: Branch, degree: int) -> Floats:
    """Return |c_degree| along a branch."""
    if degree >= branch.cosine.shape[1]:
        return np.zeros(len(branch))
    return np.hypot(branch.cosine[:, degree], branch.sine[:, degree])


def weights(state: State) -> tuple[Floats, Floats]:
    """Return lambda_k and |c_k|^2 of a state, k = 0..n."""
    lam = shares(state.problem, state.coupling, state.cosine.size - 1)
    return lam, state.cosine**2 + state.sine**2


def exponential_density(state: State) -> tuple[Floats, Floats, float]:
    """Return angles, 2 pi e^V/Z and log(Z/2 pi), V from the moments of the state."""
    lam, _ = weights(state)
    points = max(256, 1 << (8 * state.modes).bit_length())
    angles = 2 * np.pi * np.arange(points) / points
    spectrum = np.zeros(points // 2 + 1, dtype=complex)
    used = min(lam.size, spectrum.size)
    spectrum[:used] = lam[:used] * (state.cosine[:used] - 1j * state.sine[:used])
    potential = np.fft.irfft(spectrum, points) * points
    top = float(potential.max())
    values = np.exp(potential - top)
    mean = float(values.mean())
    return angles, values / mean, top + math.log(mean)


def fixed_point_error(state: State) -> float:
    """Return the largest error of m_k = int cos(kt) e^V / Z and of its sine companion."""
    _, density, _ = exponential_density(state)
    moments = np.fft.rfft(density) / density.size
    count = min(state.cosine.size, moments.size)
    given = state.cosine[:count] - 1j * state.sine[:count]
    return float(np.abs(moments[:count] - given).max())


def gap(state: State) -> float:
    """Return (F - F_uniform)/D of a stationary state from its self-consistent field."""
    lam, squares = weights(state)
    return math.fsum(lam * squares) - exponential_density(state)[2]


def relative_entropy(state: State) -> float:
    """Return int rho log(2 pi rho) by the trapezoid rule on the exponential form."""
    _, density, _ = exponential_density(state)
    return float(np.mean(density * np.log(np.maximum(density, np.finfo(float).tiny))))


def slope(state: State) -> float:
    """Return (1/2) sum w_k |c_k|^2, the derivative of F - F_uniform in the coupling."""
    multipliers = np.asarray(
        state.problem.potential.multipliers(state.problem.domain, state.cosine.size - 1), dtype=float
    )
    squares = state.cosine**2 + state.sine**2
    return 0.5 * math.fsum(multipliers[1:] * squares[1:])


def multiplier(potential: Potential, mode: int) -> tuple[float, float]:
    """Return w_mode by adaptive quadrature of the potential's values, and the quadrature's own error."""
    from scipy.integrate import quad

    def integrand(angle: float) -> float:
        return float(potential.values(angle)) * math.cos(mode * angle)

    # With full_output the outcome comes back instead of as a warning; the error estimate is used in any case.
    value, error = quad(integrand, 0.0, math.pi, epsabs=1e-14, epsrel=1e-13, limit=400, full_output=1)[:2]
    return 2 * value / math.pi, 2 * error / math.pi


def polynomial_at_zero(x: Floats, y: Floats, noise: Floats, coefficient: int) -> tuple[float, float]:
    """Return a Taylor coefficient at 0 of the function through the points, and an error estimate.

    Interpolation polynomials through more and more points, nearest first, give a sequence of estimates. Where
    the last two differences at least halve, the tail of a geometric sequence is below the last one; the larger
    of the two is taken, so that one that happens to be small does not deceive. The noise is propagated exactly.
    Of all such places in the sequence the one with the smallest error is returned.

    Raises
    ------
    Undecided
        If there are too few points or the sequence does not converge.
    """
    if x.size < coefficient + 4:
        raise Undecided(f"only {x.size} points near the bifurcation, too few to extrapolate")
    counts = range(coefficient + 2, x.size + 1)
    sequence = [_coefficient(x[:count], y[:count], noise[:count], coefficient) for count in counts]
    values = np.array([value for value, _ in sequence])
    differences = np.abs(np.diff(values))
    candidates = []
    for last in range(1, differences.size):
        amplified = sequence[last + 1][1]
        if differences[last] <= max(0.5 * differences[last - 1], amplified):
            error = max(differences[last], differences[last - 1]) + amplified
            candidates.append((float(error), float(values[last + 1])))
    if not candidates:
        raise Undecided("the points are too far apart for the extrapolation to converge")
    error, value = min(candidates)
    return value, error


def _coefficient(x: Floats, y: Floats, noise: Floats, number: int) -> tuple[float, float]:
    scale = float(np.abs(x).max())
    row = np.linalg.inv(np.vander(x / scale, increasing=True))[number] / scale**number
    return float(row @ y), float(np.abs(row) @ noise)
