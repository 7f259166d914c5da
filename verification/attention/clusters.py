r"""States of several clusters on the circle: regular polygons of tokens, and two groups at opposite points.

With :math:`W'' = (\cos t - \beta\sin^2 t)\,e^{\beta\cos t}` a regular k-gon has the exponents

.. math:: \lambda_q = -\frac\kappa k\sum_{j=1}^{k-1} W''(2\pi j/k)\,(1-\cos(2\pi jq/k)), \qquad
          \lambda_s = -\frac\kappa k\sum_{j=0}^{k-1} W''(2\pi j/k)

of its corners against each other and of the tokens at a corner against each other. A group of mass m opposite to
one of mass m' contracts at :math:`\kappa(me^\beta - m'e^{-\beta})`, for softmax over
:math:`me^\beta + m'e^{-\beta}`.
"""

import math
from collections.abc import Callable, Iterator

import numpy as np

from meanfield import Equation

from ..claims import Evidence, at_least, claim, compare, worst
from ..measures import Floats
from ..tools import Tools
from .laws import COUPLING, beta_of, is_softmax, jacobian_error, jacobian_of, on_circle, unnormalised

# The thresholds below which regular polygons with an odd number of corners are stable.
THRESHOLDS = {3: -2 / 3, 5: -2.109924231799, 7: -4.430908305244, 9: -8.024076836617}
LAST_DIGIT = 1e-12
EVEN = (2, 4, 6, 8)
TOGETHER = 2
# Where polygons are stable, in units of their thresholds, and points between two corners by which F' is known
# there.
BELOW, VARIED = 1.2, 64
# Tokens of the two groups at opposite points.
GROUPS = (7, 3)
# The slope of an exponent at its threshold is taken between these relative distances from it.
NEARBY = 1e-4


def repelling(problem: Equation) -> str | None:
    """Return the reason why polygons are not looked at for a problem, or None if they are."""
    reason = on_circle(problem) or unnormalised(problem)
    if reason is None and not THRESHOLDS[5] < beta_of(problem) < THRESHOLDS[3]:
        return "it is about beta below the threshold of the triangle, and tried there for all polygons"
    return reason


def bent(angle: float, beta: float) -> float:
    """Return W'' of the kernel at an angle."""
    return (math.cos(angle) - beta * math.sin(angle) ** 2) * math.exp(beta * math.cos(angle))


def polygon_exponents(corners: int, beta: float) -> list[float]:
    """Return the exponents of a regular polygon besides rotation, per unit of the coupling, from the largest on."""
    bends = [bent(2 * math.pi * j / corners, beta) for j in range(corners)]
    turns = [[1 - math.cos(2 * math.pi * j * q / corners) for j in range(corners)] for q in range(1, corners)]
    relative = [-math.fsum(a * b for a, b in zip(bends, turn, strict=True)) / corners for turn in turns]
    return sorted([*relative, *corners * [-math.fsum(bends) / corners]], reverse=True)


@claim(
    "attention.polygons",
    "which regular polygons of clusters are stable",
    statement=(
        "Regular k-gons of equal clusters are stable iff k is odd and beta below -2/3, -2.109924231799, "
        "-4.430908305244, -8.024076836617 for k = 3, 5, 7, 9; for even k never."
    ),
    assumptions="no noise, no normalisation, the circle; even k up to 8, at these beta and that of the problem",
    source="linearisation; -2/3: Polyanskiy, Rigollet, Yao, arXiv:2507.22857; the others are zeros of these",
    hypotheses=repelling,
    needs=(),
)
def polygons(problem: Equation, tools: Tools) -> Evidence:
    """Compare the Jacobian's eigenvalues with the exponents, and the zeros of the largest with the thresholds."""
    coupled = problem.at(coupling=COUPLING)
    found: list[Evidence] = []
    for corners, threshold in THRESHOLDS.items():
        found += _crossing(coupled, corners, threshold, tools)
    for corners in EVEN:
        for beta in (beta_of(problem), *THRESHOLDS.values()):
            changed = coupled.with_parameter("beta", beta)
            found += _exponent(changed, corners, _leading(changed, corners, tools), 1.0)
    return worst(found)


def _exponent(problem: Equation, corners: int, measured: float, sign: float) -> Iterator[Evidence]:
    """Yield the evidence of the largest exponent of a polygon, and that its sign is beyond its error."""
    where = f"largest exponent of the {corners}-gon at beta = {beta_of(problem):.9g}"
    bound = corners * TOGETHER * jacobian_error(problem)
    yield compare(measured, COUPLING * polygon_exponents(corners, beta_of(problem))[0], bound, where)
    yield at_least(sign * measured, bound, 0.0, f"{where}, beside its error")


def _crossing(problem: Equation, corners: int, threshold: float, tools: Tools) -> Iterator[Evidence]:
    """Yield the evidence of the exponents on both sides of a threshold, and of its place."""
    betas = [threshold * (1 + share) for share in (-NEARBY, NEARBY)]
    sides = [problem.with_parameter("beta", beta) for beta in betas]
    measured = [_leading(side, corners, tools) for side in sides]
    # Above the threshold a polygon is unstable, below, at more negative beta, it is stable.
    for side, exponent, sign in zip(sides, measured, (1.0, -1.0), strict=True):
        yield from _exponent(side, corners, exponent, sign)
    bound = corners * TOGETHER * jacobian_error(sides[1])
    slope = (measured[1] - measured[0]) / (betas[1] - betas[0])
    root = betas[0] - measured[0] / slope
    # The exponent is smooth: its zero lies from that of its chord by the square of the distance, times its size.
    curved = (1 + abs(threshold)) * (threshold * NEARBY) ** 2
    yield compare(root, threshold, bound / abs(slope) + curved + LAST_DIGIT, f"threshold of the {corners}-gon")


def _leading(problem: Equation, corners: int, tools: Tools) -> float:
    """Return the largest exponent of a polygon of clusters of two tokens, rotation left out."""
    return float(_exponents(problem, _polygon(corners), tools)[-1])


def _polygon(corners: int) -> Floats:
    """Return the angles of clusters of two tokens at the corners of a polygon."""
    return np.repeat(2 * np.pi * np.arange(corners) / corners, TOGETHER)


def _exponents(problem: Equation, angles: Floats, tools: Tools) -> Floats:
    """Return the exponents of tokens at rest but that of rotation, increasing, by their Jacobian."""
    matrix = jacobian_of(problem, angles, tools)
    # Rotation moves all alike: on its quotient the others are the same, and its own is below all of them.
    shifted = matrix - np.full(matrix.shape, 1e3 * float(np.linalg.norm(matrix)) / angles.size)
    return np.asarray(np.sort(np.linalg.eigvals(shifted).real)[1:])


@claim(
    "attention.slopes",
    "what states of several clusters must obey to be stable",
    statement=(
        "At a stable state mu of several clusters x_i, F = W'*mu has 2 W''(0) <= 2 sum F'(x_i) <= int |F''|: at "
        "stable regular polygons of 3, 5, 7, 9 corners the sum is that of W'' over the angles between them."
    ),
    assumptions="no noise, no normalisation, the circle; at 1.2 times the thresholds of the polygons",
    source="trace of the Hessian; F is zero with a positive slope at all x_i, so that it falls between them",
    hypotheses=repelling,
    needs=(),
)
def slopes(problem: Equation, tools: Tools) -> Evidence:
    """Compare the slopes at stable polygons, by tokens of one corner, with their sum and with the two bounds."""
    found: list[Evidence] = []
    for corners, threshold in THRESHOLDS.items():
        found += _slopes(problem.at(coupling=COUPLING).with_parameter("beta", BELOW * threshold), corners, tools)
    return worst(found)


def _slopes(problem: Equation, corners: int, tools: Tools) -> Iterator[Evidence]:
    """Yield the evidence of the inequalities at a polygon."""
    beta, where = beta_of(problem), f"the {corners}-gon at beta = {beta_of(problem):.6g}"
    yield from _exponent(problem, corners, _leading(problem, corners, tools), -1.0)
    matrix = jacobian_of(problem, _polygon(corners), tools)
    # Two tokens of a corner differ in what one of them does to itself: the slope of the field without it.
    ends = TOGETHER * np.arange(corners)
    total = -float((matrix[ends, ends] - matrix[ends, ends + 1]).sum()) / problem.fixed_coupling
    bound = 2 * corners * jacobian_error(problem) / problem.fixed_coupling
    bends = [bent(2 * math.pi * j / corners, beta) for j in range(corners)]
    yield compare(total, math.fsum(bends), bound, f"sum of the slopes at the corners of {where}")
    yield at_least(total - bent(0.0, beta), bound, 0.0, f"the sum beside W''(0), {where}")
    angles = np.linspace(0.0, 2 * np.pi, VARIED * corners + 1)
    turned = angles[:, np.newaxis] - 2 * np.pi * np.arange(corners) / corners
    field = (np.cos(turned) - beta * np.sin(turned) ** 2) * np.exp(beta * np.cos(turned))
    variation = float(np.abs(np.diff(field.mean(axis=1))).sum())
    yield at_least(variation - 2 * total, 2 * bound, 0.0, f"int |F''| beside twice the sum, {where}")


@claim(
    "attention.two-groups",
    "two opposite groups of tokens hold together above a threshold",
    statement=(
        "A group of mass m opposite to one of mass m' contracts at kappa (m e^beta - m' e^-beta), for softmax over "
        "m e^beta + m' e^-beta: both do iff beta > log(m'/m)/2 for the lighter one. The groups leave each other."
    ),
    assumptions="no noise; the circle, the lighter group of 3 tokens and the other of 7",
    source="linearisation at the two points; the condition on beta in terms of the density in arXiv:2504.14697",
    hypotheses=on_circle,
    needs=(),
)
def two_groups(problem: Equation, tools: Tools) -> Evidence:
    """Compare the eigenvalues of the Jacobian at the two groups with the exponents, and the threshold."""
    coupled = problem.at(coupling=COUPLING)
    critical = 0.5 * math.log(GROUPS[0] / GROUPS[1])
    return worst([*_group_exponents(coupled, tools), _threshold(coupled, critical, tools)])


def _groups() -> Floats:
    return np.repeat([0.0, np.pi], GROUPS)


def group_exponents(problem: Equation) -> tuple[list[float], float]:
    """Return the exponents within the heavier and the lighter group, and that of the groups against each other."""
    total, beta, inside, sums = sum(GROUPS), beta_of(problem), [], []
    near, far = math.exp(beta), math.exp(-beta)
    for own, other in (GROUPS, GROUPS[::-1]):
        sums.append((own * near + other * far) / total if is_softmax(problem) else 1.0)
        inside.append(-problem.fixed_coupling * (own * near - other * far) / total / sums[-1])
    apart = far * (GROUPS[1] / sums[0] + GROUPS[0] / sums[1]) / total
    return inside, problem.fixed_coupling * apart


def _group_exponents(problem: Equation, tools: Tools) -> Iterator[Evidence]:
    inside, apart = group_exponents(problem)
    expected = np.sort([*(GROUPS[0] - 1) * [inside[0]], *(GROUPS[1] - 1) * [inside[1]], apart])
    measured = _exponents(problem, _groups(), tools)
    bound = sum(GROUPS) * jacobian_error(problem)
    for one, other in zip(measured, expected, strict=True):
        yield compare(one, other, bound, "exponent of two opposite groups")


def _threshold(problem: Equation, critical: float, tools: Tools) -> Evidence:
    """Return the evidence of the beta at which the lighter group stops to contract."""

    def exponent(beta: float) -> float:
        # Of ten the largest is that of the groups against each other, and the lighter group has the two below.
        return float(_exponents(problem.with_parameter("beta", beta), _groups(), tools)[-2])

    root, slope = _zero(exponent, critical)
    bound = sum(GROUPS) * jacobian_error(problem.with_parameter("beta", critical)) / abs(slope) + NEARBY**2
    return compare(root, critical, bound, "beta at which the lighter group stops to contract")


def _zero(function: Callable[[float], float], near: float) -> tuple[float, float]:
    """Return the zero of a chord about a point, and its slope."""
    ends = near * (1 - NEARBY), near * (1 + NEARBY)
    values = [function(end) for end in ends]
    slope = (values[1] - values[0]) / (ends[1] - ends[0])
    return ends[0] - values[0] / slope, slope
