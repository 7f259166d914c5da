r"""Softmax attention with noise: the attention matrix at stationary states, a transition without hysteresis.

.. math:: \rho = (K*\rho)^p/Z, \qquad p = \frac{\kappa}{\beta D}, \qquad A\phi = \frac{K*(\rho\phi)}{K*\rho},

and with the means :math:`r_l = \langle e^{\beta u}P_l(u)\rangle/\langle e^{\beta u}\rangle` over the uniform
density, on the circle :math:`I_l(\beta)/I_0(\beta)`, at the birth of the first branch, where :math:`p = 1/r_1`,

.. math:: \frac{\kappa}{\kappa_1} = 1 + b_1 m_1^2, \qquad
          b_1 = d\,(1-r_1)\Bigl(\frac12 - \frac{d\,(1-2r_1)}{2(d+2)}
                - \frac{(d-1)(1-r_1)}{d+2}\,\frac{r_2}{r_1-r_2}\Bigr) > 0 .
"""

from collections.abc import Iterator

import numpy as np
from scipy.special import roots_jacobi

from meanfield import Branch, Equation, State

from ..claims import GIBBS_STATES, Evidence, Undecided, at_least, claim, compare, missing, worst
from ..hypotheses import anywhere
from ..measures import LOCATION, RESIDUAL, Floats, polynomial_at_zero, spaced
from ..tools import Tools
from .laws import beta_of, is_softmax

# Relative couplings of the diagram, and moments of the states from which the law of the branch is found.
LOW, HIGH = 0.8, 1.5
SMALLEST, LARGEST, POINTS = 0.02, 0.35, 8
STATES = 4
# Nodes of quadratures of the kernel, which is entire.
NODES = 128
# Eigenvalues of the attention matrix closer to 1/p than this share are that of rotation.
ROTATION = 1e-9


def noisy(problem: Equation) -> str | None:
    """Return the reason why a statement on softmax attention with noise does not apply, or None if it does."""
    if not is_softmax(problem):
        return "it is about softmax attention"
    if problem.noise == 0 or beta_of(problem) < 0:
        return "it is about noise > 0 and beta > 0"
    return anywhere(problem)


def noisy_on_circle(problem: Equation) -> str | None:
    """Return the reason why such a statement on the circle does not apply, or None if it does."""
    return noisy(problem) if problem.domain.turns else "it is about the circle"


def means_of_kernel(problem: Equation) -> tuple[float, float]:
    """Return r_1 and r_2 by Gauss-Jacobi quadrature."""
    dimension = problem.domain.dimension
    exponent = 0.5 * (dimension - 3)
    u, weights = roots_jacobi(NODES, exponent, exponent)
    kernel = weights * np.exp(beta_of(problem) * (u - 1.0))
    second = (dimension * u**2 - 1.0) / (dimension - 1.0)
    return float(kernel @ u / kernel.sum()), float(kernel @ second / kernel.sum())


def critical(problem: Equation) -> float:
    """Return beta D/r_1, the coupling at which the first branch is born."""
    return beta_of(problem) * problem.noise / means_of_kernel(problem)[0]


def curvature(problem: Equation) -> float:
    """Return b_1."""
    d, (first, second) = problem.domain.dimension, means_of_kernel(problem)
    slaved = (d - 1) * (1 - first) / (d + 2) * second / (first - second)
    return float(d * (1 - first) * (0.5 - d * (1 - 2 * first) / (2 * (d + 2)) - slaved))


def _first_branch(problem: Equation, tools: Tools) -> Branch:
    unit = critical(problem)
    diagram = tools.diagram(problem, (LOW * unit, HIGH * unit), 1)
    found = [branch for branch in diagram.branches if branch.symmetry == 1]
    if not found:
        raise Undecided("the diagram has no branch of one cluster")
    return found[0]


@claim(
    "attention.continuous-transition",
    "normalisation of the weights removes the hysteresis",
    statement=(
        "At every beta > 0 the branch of one cluster of softmax attention leaves uniform at beta D/r_1, "
        "r_1 = <u e^(beta u)>/<e^(beta u)>, upwards, kappa/kappa_1 = 1 + b_1 m_1^2 + ..., b_1 > 0, and does not "
        "fold."
    ),
    assumptions="noise; no confinement; folds are looked for up to 1.5 kappa_1",
    source=(
        "expansion of rho = (K*rho)^p/Z at uniform; without normalisation it folds, on the circle from beta = "
        "2.4469 on, on S^2 from 1.8162 on"
    ),
    hypotheses=noisy,
    needs=GIBBS_STATES,
)
def continuous_transition(problem: Equation, tools: Tools) -> Evidence:
    """Compare the birth and the curvature of the branch with the formula, and its couplings with their order."""
    branch, unit = _first_branch(problem, tools), critical(problem)
    ratio = branch.coupling / unit
    squares = branch.cosine[:, 1] ** 2 + branch.sine[:, 1] ** 2
    chosen = np.flatnonzero((squares >= SMALLEST**2) & (squares <= LARGEST**2))
    chosen = chosen[spaced(chosen.size, POINTS)]
    x = squares[chosen]
    value, error = polynomial_at_zero(x, (ratio[chosen] - 1) / x, RESIDUAL / x, 0)
    expected = curvature(problem)
    return worst(
        [
            compare(ratio[0], 1.0, LOCATION, "birth of the branch of one cluster, in units of kappa_1"),
            at_least(float(np.diff(ratio).min()), 0.0, 0.0, "least growth of the coupling along the branch"),
            compare(value, expected, error, "curvature b_1 of the branch"),
            at_least(0.1 * expected, error, 0.0, "a tenth of b_1 beside its error"),
        ]
    )


@claim(
    "attention.matrix",
    "the attention matrix at stationary states",
    statement=(
        "At a stationary state rho = (K*rho)^p/Z, and rotation of one that is not uniform has the eigenvalue 1/p "
        "of A. The eigenvalues above 1/p besides 1 are as many as the directions that grow."
    ),
    assumptions="noise; the circle; no confinement; states with one and more clusters and uniform",
    source="linearisation -D G (1 - p A) with G positive; A from the moments of states by sums over equal angles",
    hypotheses=noisy_on_circle,
    needs=GIBBS_STATES,
)
def matrix(problem: Equation, tools: Tools) -> Evidence:
    """Compare states with the Gibbs map, one eigenvalue with rotation's, numbers of others with spectra."""
    unit = critical(problem)
    diagram = tools.diagram(problem, (LOW * unit, HIGH * unit), 1)
    found: list[Evidence] = []
    for index, branch in enumerate(diagram.branches):
        # Where a branch is born the count changes.
        for point in spaced(len(branch), STATES)[1:]:
            found += _at_state(diagram.state(index, point), tools)
    return worst(found) if found else missing("there are no states")


def _at_state(state: State, tools: Tools) -> Iterator[Evidence]:
    """Yield the evidence of the attention matrix at a state."""
    where, power = f"{state.label} at coupling {state.coupling:.9g}", _power(state)
    operator, density, mean = _operator(state)
    gibbs = mean**power / np.mean(mean**power)
    # The state solves its equation to the residual, in moments that the power amplifies.
    bound = 64 * (1 + power) * RESIDUAL
    yield compare(float(np.abs(gibbs - density).max() / density.max()), 0.0, bound, f"rho = u^p/Z, {where}")
    eigenvalues = np.linalg.eigvalsh(operator)
    rotates = state.symmetry != 0
    if rotates:
        nearest = float(eigenvalues[np.abs(power * eigenvalues - 1).argmin()])
        yield compare(power * nearest, 1.0, bound, f"p mu of rotation, {where}")
    growing = int((power * eigenvalues[:-1] > 1 + ROTATION).sum())
    spectrum = tools.spectrum(state)
    rates = np.concatenate([spectrum.even, spectrum.odd])
    unit = ROTATION * state.problem.noise
    yield compare(int((rates > unit).sum()), growing, 0.0, f"growing rates, {where}")
    if state.unstable is not None:
        yield compare(state.unstable, growing, 0.0, f"unstable directions by inertia, {where}")


def _power(state: State) -> float:
    problem = state.problem
    return float(state.coupling) / (beta_of(problem) * problem.noise)


def _operator(state: State) -> tuple[Floats, Floats, Floats]:
    """Return the symmetric matrix with the eigenvalues of A, on equal angles, 2 pi rho and K*rho."""
    points = 8 * max(state.modes, 16)
    beta, moments = beta_of(state.problem), state.cosine - 1j * state.sine
    kept = min(moments.size, points // 2)
    density = np.fft.irfft(moments[:kept], points) * points
    angles = 2 * np.pi * np.arange(points) / points
    kernel = np.exp(beta * np.cos(angles - angles[:, np.newaxis]))
    mean = kernel @ density / points
    # A is self-adjoint by the weights rho (K*rho), and symmetric after multiplication by their root.
    root = np.sqrt(density / mean)
    return root[:, np.newaxis] * kernel * root / points, density, mean
