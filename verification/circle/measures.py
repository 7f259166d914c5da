r"""Independent measurements on moments, branches and potentials, none of them a formula of the solvers.

With :math:`\lambda_k = -\kappa w_k/2D` a stationary density is :math:`e^V/Z`,
:math:`V = 2\sum_k \lambda_k (m_k\cos kt + s_k\sin kt)`, and its gap is
:math:`\sum_k \lambda_k |c_k|^2 - \log(Z/2\pi)`.
"""

import math

import numpy as np

from meanfield import Branch, Diagram, Equation, Potential, State

from ..measures import EIGENVALUE as EIGENVALUE
from ..measures import EPS as EPS
from ..measures import LOCATION as LOCATION
from ..measures import MOMENT as MOMENT
from ..measures import RESIDUAL as RESIDUAL
from ..measures import Floats as Floats
from ..measures import clustered_states as clustered_states
from ..measures import polynomial_at_zero as polynomial_at_zero
from ..measures import spaced as spaced
from ..measures import unit_coupling as unit_coupling

# Couplings relative to the smallest positive critical one between which the diagrams are computed.
LOW, HIGH = 0.5, 2.5


def interval(problem: Equation) -> tuple[float, float]:
    """Return the couplings over which the diagrams of the claims are computed."""
    unit = unit_coupling(problem)
    return LOW * unit, HIGH * unit


def shares(problem: Equation, coupling: float, degree: int) -> Floats:
    """Return lambda_0 = 0 and lambda_k, k = 1..degree, at a coupling."""
    multipliers = np.asarray(problem.potential.multipliers(problem.domain, degree), dtype=float)
    result: Floats = -coupling * multipliers / (2.0 * problem.noise)
    result[0] = 0.0
    return result


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
    """Return the largest error of m_k = int cos(kt) e^V / Z and s_k = int sin(kt) e^V / Z at a state."""
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
