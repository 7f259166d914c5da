r"""Attention with other kernels: which functions of the inner product make tokens gather.

With :math:`W = -\varphi(\langle x,y\rangle)` tokens follow :math:`\kappa\,\nabla(\varphi*\mu)`. On the circle they
gather if the Taylor coefficients of :math:`\varphi'` decrease and are not negative, on spheres if :math:`\varphi`
increases and is convex on [-1, 1]. On the circle this is not enough: of five tokens at the corners of a regular
pentagon, :math:`c_j = \cos(2\pi j/5)`, displacements along the circle and across it, on a sphere, grow at

.. math:: \lambda_q = -\frac\kappa5\sum_j \bigl(\varphi'(c_j)\,c_j - \varphi''(c_j)(1-c_j^2)\bigr)
          (1-\cos(2\pi jq/5)), \qquad \lambda_\perp = \frac\kappa5\sum_j\varphi'(c_j)\,(1-c_j) > 0,

the first of which may all be negative. A finite cosine series is a polynomial :math:`-\varphi` in the inner
product.
"""

import math
from collections.abc import Iterator

import numpy as np
from numpy.polynomial import Chebyshev, Polynomial

from meanfield import CosineSeries, Equation

from ..claims import Evidence, at_least, claim, compare, worst
from ..hypotheses import anywhere
from ..measures import EPS, Floats
from ..tools import Tools
from .contraction import too_far
from .gathering import PATIENCE, PROMISED, STEP, TOGETHER, ending, scattered, waiting
from .laws import COUPLING
from .tokens import positions, vectors

CORNERS, AMPLITUDE = 5, 1e-4
GRID = np.linspace(-1.0, 1.0, 4097)


def force(problem: Equation) -> Chebyshev:
    """Return the derivative of phi by the inner product."""
    return -Chebyshev([0.0, *problem.law.parameters()["w"]]).deriv()


def least(function: Chebyshev) -> float:
    """Return a lower bound of a polynomial on [-1, 1], from values and a bound on its slope between them."""
    slope = float(np.abs(function.deriv().coef).sum())
    return float(function(GRID).min()) - 0.5 * float(GRID[1] - GRID[0]) * slope


def series(problem: Equation) -> str | None:
    """Return the reason why a statement on kernels without noise does not apply, or None if it does."""
    if not isinstance(problem.law, CosineSeries) or problem.noise > 0:
        return "it is about finite cosine series without noise"
    return anywhere(problem)


def convex(problem: Equation) -> str | None:
    """Return the reason why phi does not increase and is not convex, or None if it is so."""
    reason = series(problem)
    if reason is None and min(least(force(problem)), least(force(problem).deriv())) < 0:
        return "phi does not increase or is not convex"
    return reason


def decreasing(problem: Equation) -> str | None:
    """Return the reason why the Taylor coefficients of phi' do not decrease, or None if they do."""
    reason = series(problem)
    if reason is None:
        taylor = np.asarray(force(problem).convert(kind=Polynomial).coef, dtype=float)
        if taylor[-1] < 0 or (np.diff(taylor) > 0).any():
            return "the Taylor coefficients of phi' do not decrease"
    return reason


def gathering_kernel(problem: Equation) -> str | None:
    """Return the reason why tokens need not gather, or are not waited for, or None if they are."""
    reason = decreasing(problem) if problem.domain.turns else convex(problem)
    return reason or too_far(rates(problem.at(coupling=1.0)))


@claim(
    "attention.other-kernels",
    "other kernels that make tokens gather",
    statement=(
        "Under W = -phi(<x, y>) tokens from almost all starts meet in one point: on the circle if the Taylor "
        "coefficients of phi' decrease and are not negative, on spheres if phi increases and is convex."
    ),
    assumptions="no noise; every token sees all others; independent uniform starts; false alarm below 1e-4",
    source=(
        "Criscitiello, Rebjock, McRae, Boumal, arXiv:2405.18273; 20 systems of 3 to 12 tokens, fixed seed; late "
        "systems counted by benchmarks/gathering.py"
    ),
    hypotheses=gathering_kernel,
    needs=(),
)
def other_kernels(problem: Equation, tools: Tools) -> Evidence:
    """Count the systems that are not in one cluster in the end."""
    coupled = problem.at(coupling=COUPLING)
    until = waiting(coupled, rates(coupled), PATIENCE, TOGETHER)
    return scattered(coupled, until, STEP / steepest_slope(coupled), tools)


def rates(problem: Equation) -> tuple[float, float]:
    """Return the exponents of a cluster and of its antipode."""
    slope = force(problem)
    return problem.fixed_coupling * float(slope(1.0)), problem.fixed_coupling * float(slope(-1.0))


def steepest_slope(problem: Equation) -> float:
    """Return a bound on the slope of the velocity."""
    weights = np.abs(problem.law.parameters()["w"])
    return float(problem.fixed_coupling * (weights * np.arange(1, weights.size + 1) ** 2).sum())


def pentagonal(problem: Equation) -> str | None:
    """Return the reason why the pentagon is not looked at for a problem, or None if it is."""
    reason = convex(problem)
    if reason is None and problem.domain.turns and max(_along(problem.at(coupling=1.0))) >= 0:
        return "the pentagon of tokens is not stable on the circle"
    return reason


@claim(
    "attention.convexity",
    "kernels that make tokens gather on spheres need not do so on the circle",
    statement=(
        "Under W = -phi(<x, y>), phi increasing and convex, a regular pentagon of tokens may be stable on the "
        "circle, with the exponents lambda_q < 0; on spheres it is not, as displacements across its circle grow "
        "at (kappa/5) sum phi'(c_j) (1 - c_j)."
    ),
    assumptions="no noise; five tokens; displacements of two sizes by steps of order 4",
    source="linearisation; Criscitiello, Rebjock, McRae, Boumal, arXiv:2405.18273, of such maxima on the circle",
    hypotheses=pentagonal,
    needs=(),
)
def convexity(problem: Equation, tools: Tools) -> Evidence:
    """Compare growth of displacements of the pentagon with the exponents, and their signs."""
    coupled = problem.at(coupling=COUPLING)
    angles = 2 * np.pi * np.arange(CORNERS) / CORNERS
    frame = np.eye(coupled.domain.dimension)
    corners = np.outer(np.cos(angles), frame[0]) + np.outer(np.sin(angles), frame[1])
    if not coupled.domain.turns:
        across = np.broadcast_to(frame[2], corners.shape)
        return worst(_grown(coupled, corners, across, _across(coupled), tools))
    tangents = np.outer(-np.sin(angles), frame[0]) + np.outer(np.cos(angles), frame[1])
    found: list[Evidence] = []
    for degree, exponent in enumerate(_along(coupled), start=1):
        found += _grown(coupled, corners, np.cos(degree * angles)[:, np.newaxis] * tangents, exponent, tools)
    return worst(found)


def _cosines() -> Floats:
    return np.asarray(np.cos(2 * np.pi * np.arange(CORNERS) / CORNERS))


def _along(problem: Equation) -> list[float]:
    """Return the exponents of displacements along the circle, q = 1, 2."""
    slope, cosines = force(problem), _cosines()
    bends = slope(cosines) * cosines - slope.deriv()(cosines) * (1 - cosines**2)
    turns = [1 - np.cos(2 * np.pi * q * np.arange(CORNERS) / CORNERS) for q in (1, 2)]
    return [-problem.fixed_coupling * float((bends * turn).mean()) for turn in turns]


def _across(problem: Equation) -> float:
    """Return the exponent of displacements across the circle that are the same for all tokens."""
    return problem.fixed_coupling * float((force(problem)(_cosines()) * (1 - _cosines())).mean())


def _grown(
    problem: Equation, corners: Floats, direction: Floats, expected: float, tools: Tools
) -> Iterator[Evidence]:
    """Yield the evidence of the exponent at which displacements in a direction grow, and of its sign."""
    until, measured = 1.0 / abs(expected), []
    for amplitude in (AMPLITUDE, 2 * AMPLITUDE):
        start = corners + amplitude * direction
        start /= np.linalg.norm(start, axis=1, keepdims=True)
        after = vectors(ending(problem, positions(problem, start), CORNERS, until, None, tools))
        sizes = [float(((tokens - corners) * direction).sum()) for tokens in (start, after)]
        measured.append(math.log(sizes[1] / sizes[0]) / until)
    # What is left of the amplitude is quadratic in it, and four times as large at the second.
    error = abs(measured[1] - measured[0]) + PROMISED * abs(expected) + 64 * EPS / AMPLITUDE / until
    yield compare(measured[0], expected, error, "exponent of displacements of the pentagon")
    yield at_least(math.copysign(measured[0], measured[0] * expected), error, 0.0, "its size beside its error")
