r"""The shape of the n-branch near its birth: T3.

.. math:: \kappa/\kappa_n = 1 + b_1 m_n^2 + b_2 m_n^4 + \dots, \qquad b_1 = \frac{1-2q}{2(1-q)},
          \qquad q = w_{2n}/w_n, \quad p = w_{3n}/w_n .
"""

from collections.abc import Iterator

import numpy as np

from meanfield import BranchShape, Equation, branch_shape

from ..claims import FREE_ENERGY, Evidence, Undecided, claim, compare, missing, worst
from ..measures import first_critical
from ..tools import Tools
from .measures import EIGENVALUE, interval, polynomial_at_zero
from .onset import BranchMissing, Onset, branch_coefficient, gap_coefficient, harmonic_coefficient, onset
from .uniform import attractive

MODES = (1, 2, 3)
# The harmonics 2n and 3n are slaved to n only where they are well away from critical themselves.
SEPARATION = 0.05


def simple_modes(problem: Equation) -> list[BranchShape]:
    """Return the shapes of the first branches in the diagram whose harmonics are not nearly critical."""
    high = interval(problem)[1]
    weights = problem.potential.multipliers(problem.domain, 3 * MODES[-1])
    shapes = [branch_shape(problem, mode) for mode in MODES if weights[mode] < 0]
    return [
        shape
        for shape in shapes
        if shape.coupling < high and abs(1 - shape.q) >= SEPARATION and abs(1 - shape.p) >= SEPARATION
    ]


def has_simple_mode(problem: Equation) -> str | None:
    """Return the reason why there is no branch of a simple critical mode, or None if there is one."""
    reason = attractive(problem)
    if reason is None and not simple_modes(problem):
        reason = "every branch is at a resonance: w_2n or w_3n is nearly w_n"
    return reason


@claim(
    "circle.T3",
    "shape of the n-branch",
    statement=(
        "kappa/kappa_n = 1 + b1 m_n^2 + b2 m_n^4 + ..., b1 = (1-2q)/(2(1-q)), "
        "b2 = [24pq^3 - 42pq^2 + 21pq - 6p - 20q^3 + 42q^2 - 24q + 5]/[12(p-1)(q-1)^3], "
        "m_2n = m_n^2/(2(1-q)) + ..., m_3n = (1+2q) m_n^3/(6(1-q)(1-p)) + ..., (F - F_0)/D = -(b1/2) m_n^4 + "
        "...; q = w_2n/w_n, p = w_3n/w_n."
    ),
    assumptions="w_n < 0; 1-q and 1-p not small",
    source="Lyapunov-Schmidt reduction; checked against extrapolated branches of 30 digits",
    hypotheses=has_simple_mode,
    needs=FREE_ENERGY,
)
def branch_shapes(problem: Equation, tools: Tools) -> Evidence:
    """Compare the coefficients of computed branches, extrapolated to their birth, with the closed forms."""
    found: list[Evidence] = []
    for shape in simple_modes(problem):
        try:
            found += _shape_evidence(shape, onset(problem, shape.mode, tools))
        except BranchMissing as absent:
            found.append(missing(str(absent)))
    return worst(found)


def _shape_evidence(shape: BranchShape, start: Onset) -> Iterator[Evidence]:
    n, q, p = shape.mode, shape.q, shape.p
    measured = (
        ("b1", branch_coefficient(start, 1), shape.curvature),
        ("b2", branch_coefficient(start, 2), shape.quartic),
        (f"m_{2 * n}/m_{n}^2", harmonic_coefficient(start, 2), 1 / (2 * (1 - q))),
        ("(F - F_0)/(D x^2)", gap_coefficient(start), -shape.curvature / 2),
        (f"m_{3 * n}/m_{n}^3", harmonic_coefficient(start, 3), (1 + 2 * q) / (6 * (1 - q) * (1 - p))),
    )
    for name, (value, error), expected in measured:
        if not np.isfinite(value) or error > 0.1 * (1 + abs(expected)):
            raise Undecided(f"the points near the {n}-branch's birth resolve {name} to {error:.1e} only")
        yield compare(value, expected, error, f"{name} of the {n}-branch")


def born_stable(problem: Equation) -> str | None:
    """Return the reason why no branch with b1 != 0 is born where uniform loses its stability, or None if one is."""
    reason = has_simple_mode(problem)
    if reason is not None:
        return reason
    point = first_critical(problem)
    shapes = [shape for shape in simple_modes(problem) if point.modes == (shape.mode,)]
    if not shapes:
        return "the first critical mode is not simple"
    return None if shapes[0].curvature else "b1 = 0"


@claim(
    "circle.T3-rate",
    "critical slowing down on the first branch",
    statement=(
        "Near its birth the radial eigenvalue on the first n-branch is -2 D n^2 b1 m_n^2 + ... = -2 D n^2 "
        "(kappa/kappa_n - 1) + ...: decay when supercritical, growth when subcritical."
    ),
    assumptions="mode n is the first and the only one critical; b1 != 0",
    source="Landau form (1-lambda) x + (b1/2) x^2 of the reduced free energy",
    hypotheses=born_stable,
    needs=FREE_ENERGY,
)
def radial_eigenvalue(problem: Equation, tools: Tools) -> Evidence:
    """Compare the even eigenvalue nearest to zero over x, extrapolated to the birth, with the closed form."""
    mode = first_critical(problem).modes[0]
    start = onset(problem, mode, tools)
    shape = next(shape for shape in simple_modes(problem) if shape.mode == mode)
    expected = -2 * problem.noise * mode**2 * shape.curvature
    radial = []
    for x, state in zip(start.x, start.states, strict=True):
        even = tools.spectrum(state).even
        radial.append(even[np.abs(even - expected * x).argmin()] / x)
    noise = EIGENVALUE * problem.noise * np.ones_like(start.x)
    value, error = polynomial_at_zero(start.x, np.array(radial), noise, 0)
    if error > 0.1 * abs(expected):
        raise Undecided(f"the points near the birth resolve the eigenvalue to {error:.1e} only")
    return compare(value, expected, error, f"radial eigenvalue over m_{mode}^2 at the birth of the {mode}-branch")
