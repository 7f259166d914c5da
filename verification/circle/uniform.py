r"""The moment equations and the uniform state: T1, T2 and T4.

.. math:: k c_k = \sum_{j \ne 0} j \lambda_{|j|} c_j c_{k-j}, \qquad \mu_k = -D k^2 (1-\lambda_k),
          \qquad \kappa_k = -2D/w_k .
"""

from collections.abc import Iterator

import numpy as np

from meanfield import Equation, McKeanVlasov, State, Transformer, tricritical_beta

from ..claims import FREE_ENERGY, Evidence, at_least, claim, compare, missing, worst
from ..hypotheses import anywhere, transformer
from ..measures import uniform_state
from ..tools import Tools
from .measures import (
    EIGENVALUE,
    EPS,
    HIGH,
    LOCATION,
    RESIDUAL,
    Floats,
    clustered_states,
    fixed_point_error,
    interval,
    multiplier,
    shares,
    unit_coupling,
)
from .onset import branch_coefficient, onset

LEADING = 5
TRICRITICAL_BETA = 2.44691831128904613090


def attractive(problem: Equation) -> str | None:
    """Return the reason why a statement on clustered states does not apply, or None if it does."""
    if problem.confinement is not None:
        return "there is a confinement"
    multipliers = problem.potential.multipliers(problem.domain, 64)[1:]
    return None if bool((multipliers < 0).any()) else "no mode of the potential attracts"


@claim(
    "circle.T1",
    "the moments solve the quadratic system",
    statement=(
        "A density is stationary iff k c_k = sum_{j != 0} j lambda_|j| c_j c_{k-j} for every k >= 1, "
        "lambda_k = -kappa w_k / (2 D); equivalently m_k = int cos(kt) e^V / Z."
    ),
    assumptions="no confinement; some clustered state exists",
    source="rho' = V' rho with V = -(kappa/D) W*rho, in Fourier; formula checked numerically",
    hypotheses=attractive,
)
def quadratic_system(problem: Equation, tools: Tools) -> Evidence:
    """Evaluate the fixed point and the quadratic system at states of every branch."""
    diagram = tools.diagram(problem, interval(problem))
    found: list[Evidence] = []
    for state in clustered_states(diagram):
        where = f"{state.label} at coupling {state.coupling:.9g}"
        found.append(compare(quadratic_error(state), 0.0, RESIDUAL, f"quadratic system, {where}"))
        found.append(compare(fixed_point_error(state), 0.0, RESIDUAL, f"exponential fixed point, {where}"))
    return worst(found) if found else missing("the diagram has no clustered branch")


def quadratic_error(state: State) -> float:
    """Return the largest defect of the lower half of the quadratic system, relative to the sum of its terms.

    A residual r in the moments changes equation k by at most r (k + 2 sum_j j |lambda_j c_j|).
    """
    degree = state.cosine.size - 1
    modes = np.arange(1, degree + 1)
    positive = (state.cosine - 1j * state.sine)[1:]
    c = np.concatenate([positive[::-1].conj(), [1.0], positive])
    force = modes * shares(state.problem, state.coupling, degree)[1:] * positive
    a = np.concatenate([-force[::-1].conj(), [0.0], force])
    convolved = np.convolve(a, c)[2 * degree + 1 : 3 * degree + 1]
    scale = modes + 2 * np.abs(force).sum()
    lower = slice(0, max(degree // 2, 1))
    return float((np.abs(modes * positive - convolved) / scale)[lower].max())


@claim(
    "circle.T2",
    "critical couplings and growth rates of the uniform state",
    statement=(
        "The uniform state has the double eigenvalues mu_k = -D k^2 (1 - kappa/kappa_k), kappa_k = -2D/w_k, "
        "hence is linearly stable iff kappa lies below the smallest positive kappa_k; its bifurcations are "
        "the kappa_k, none else."
    ),
    assumptions="no confinement",
    source="linearisation about uniform, w_k by adaptive quadrature of W",
    hypotheses=anywhere,
)
def uniform_linearisation(problem: Equation, tools: Tools) -> Evidence:
    """Compare branch points, unstable counts and spectra at uniform with quadrature of the potential."""
    diagram = tools.diagram(problem, interval(problem))
    points = [event for event in diagram.events("branch point") if event.branch == 0]
    dimension = sum(event.kernel_dimension or 0 for event in points)
    located = list(_located([float(point.coupling) for point in points], problem))
    found = [compare(dimension, 2 * len(located), 0.0, "critical directions on the uniform branch"), *located]
    for factor in (0.7, 0.5 * (1 + HIGH)):
        found += _spectrum_at_uniform(problem.at(coupling=factor * unit_coupling(problem)), tools)
    return worst(found)


def _located(couplings: list[float], problem: Equation) -> Iterator[Evidence]:
    """Yield the distance from every kappa_k in the interval to the nearest branch point."""
    low, high = interval(problem)
    degree = 1
    while high * problem.potential.tail_bound(problem.domain, degree) >= 2 * problem.noise:
        degree += 1
    for mode in range(1, degree + 1):
        weight, error = multiplier(problem.potential, mode)
        if low * abs(weight) <= -2.0 * problem.noise * np.sign(weight) <= high * abs(weight):
            expected = -2.0 * problem.noise / weight
            nearest = min(couplings, key=lambda coupling: abs(coupling - expected), default=np.inf)
            bound = abs(expected) * (LOCATION + abs(error / weight))
            yield compare(nearest, expected, bound, f"critical coupling of mode {mode}")


def _spectrum_at_uniform(problem: Equation, tools: Tools) -> Iterator[Evidence]:
    spectrum = tools.spectrum(uniform_state(problem))
    modes = np.arange(1, LEADING + 1)
    quadratures = [multiplier(problem.potential, int(mode)) for mode in modes]
    weights, errors = (np.array(column) for column in zip(*quadratures, strict=True))
    factor = problem.fixed_coupling / (2 * problem.noise)
    rates = -problem.noise * modes**2 * (1 + factor * weights)
    sizes = problem.noise * modes**2 * (1 + np.abs(factor * weights))
    bounds = EIGENVALUE * sizes + problem.noise * modes**2 * abs(factor) * errors
    for parity, values in (("even", spectrum.even), ("odd", spectrum.odd)):
        for mode, rate, bound in zip(modes, rates, bounds, strict=True):
            nearest = _nearest(values, float(rate))
            text = f"{parity} growth rate of mode {mode} at coupling {problem.fixed_coupling:.9g}"
            yield compare(nearest, rate, bound, text)
    unstable = 2 * int((shares(problem, problem.fixed_coupling, 512) > 1).sum())
    yield compare(spectrum.unstable, unstable, 0.0, f"unstable directions at {problem.fixed_coupling:.9g}")


def _nearest(values: Floats, target: float) -> float:
    return float(values[np.abs(values - target).argmin()]) if values.size else float("inf")


@claim(
    "circle.T4",
    "where the transformer's branches turn subcritical",
    statement=(
        "The n-fold bifurcation of the transformer is supercritical for beta < beta*_n and subcritical "
        "above, I_{2n}(beta*_n)/I_n(beta*_n) = 1/2; beta*_1 = 2.446918311289046...; kappa_k = beta D / "
        "I_k(beta) increases in k; at beta*_1 the branch is quartically supercritical."
    ),
    assumptions="transformer, beta > 0",
    source="arXiv:2604.16288 for n = 1; all n by the expansion of the n-branch",
    hypotheses=transformer,
    needs=FREE_ENERGY,
)
def transformer_thresholds(problem: Equation, tools: Tools) -> Evidence:
    """Measure the initial curvature of computed branches at the problem's beta and at beta*_1."""
    found = [compare(tricritical_beta(1), TRICRITICAL_BETA, 8 * EPS * TRICRITICAL_BETA, "beta*_1")]
    found += _bessel_ratios(problem)
    beta = float(problem.potential.parameters()["beta"])
    for mode in (1, 2, 3):
        measured, error = branch_coefficient(onset(problem, mode, tools), 1)
        sign = np.sign(tricritical_beta(mode) - beta)
        found.append(at_least(sign * measured, 0.0, error, f"sign of the curvature of the {mode}-branch"))
    found += _at_threshold(problem, tools)
    return worst(found)


def _bessel_ratios(problem: Equation) -> Iterator[Evidence]:
    from scipy.special import ive

    beta = float(problem.potential.parameters()["beta"])
    multipliers = np.asarray(problem.potential.multipliers(problem.domain, 6), dtype=float)
    for mode in range(1, 7):
        threshold = tricritical_beta(mode)
        ratio = float(ive(2 * mode, threshold) / ive(mode, threshold))
        # scipy's Bessel functions are good to about three digits less than the rounding unit.
        yield compare(ratio, 0.5, 1e3 * EPS, f"I_{2 * mode}/I_{mode} at beta*_{mode}")
        expected = float(-2 * ive(mode, beta) * np.exp(beta) / beta)
        yield compare(multipliers[mode], expected, 1e3 * EPS * abs(expected), f"w_{mode}")
        if mode > 1:
            growth = multipliers[mode - 1] / multipliers[mode]
            yield at_least(growth, 1.0, 0.0, f"kappa_{mode}/kappa_{mode - 1}")


def _at_threshold(problem: Equation, tools: Tools) -> Iterator[Evidence]:
    critical = McKeanVlasov(problem.domain, Transformer(tricritical_beta(1)))
    start = onset(critical, 1, tools)
    yield compare(*_spread(branch_coefficient(start, 1), 0.0), "curvature of the 1-branch at beta*_1")
    quartic, error = branch_coefficient(start, 2)
    yield at_least(quartic, 0.0, error, "quartic coefficient of the 1-branch at beta*_1")


def _spread(measured: tuple[float, float], expected: float) -> tuple[float, float, float]:
    return measured[0], expected, measured[1]
