r"""Two critical modes at once (T6) and the secondary bifurcation of two harmonics (T7).

Exact 1:2, :math:`w_{2n} = w_n`: at :math:`\kappa = \kappa_n(1+\delta)` a mixed, transcritical branch
:math:`|c_n| = \sqrt2|\delta|`, :math:`c_{2n} = -\delta` (phase of :math:`c_n^2` removed) and a pure one.
Other pairs n < m, :math:`x=|c_n|^2`, :math:`y=|c_m|^2`:

.. math:: (F-F_0)/D = (1-\lambda_n)x + (1-\lambda_m)y + \tfrac{b_n}{2}x^2 + \tfrac{b_m}{2}y^2 - Cxy .
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from meanfield import Branch, CosineSeries, Diagram, Equation, Resonance, branch_shape, resonance

from ..claims import Evidence, Undecided, claim, compare, missing, worst
from ..measures import first_critical
from ..tools import Tools
from .measures import LOCATION, MOMENT, RESIDUAL, Floats, interval, order, polynomial_at_zero
from .uniform import attractive

SMALLEST, LARGEST, POINTS = 1e-4, 0.25, 7


def exact_resonance(problem: Equation) -> str | None:
    """Return the reason why two modes n and 2n are not critical together, or None if they are."""
    return _critical_pair(problem, lambda n, m: m == 2 * n, "n and 2n")


def generic_resonance(problem: Equation) -> str | None:
    """Return the reason why two modes without resonant terms are not critical together, or None if they are."""
    return _critical_pair(problem, lambda n, m: m not in (2 * n, 3 * n), "two without resonant terms")


def _critical_pair(problem: Equation, admits: Callable[[int, int], bool], wanted: str) -> str | None:
    reason = attractive(problem)
    if reason is not None:
        return reason
    modes = first_critical(problem).modes
    if len(modes) == 2 and admits(*modes):
        return None
    return f"the modes critical together are {modes}, not {wanted}"


@claim(
    "circle.T6",
    "exact 1:2 resonance",
    statement=(
        "For w_2n = w_n the reduced energy is (1-lambda_n)|z|^2 + (1-lambda_2n)|w|^2 - Re(z^2 conj w): at "
        "kappa = kappa_n (1+delta) a transcritical mixed branch |m_n| = sqrt2 |delta|, m_2n = -delta on both "
        "sides, and a pure pitchfork m_2n^2 = delta/b1(2n)."
    ),
    assumptions="w_2n = w_n to rounding, no third critical mode",
    source="Lyapunov-Schmidt reduction, checked on computed branches",
    hypotheses=exact_resonance,
)
def resonant_branches(problem: Equation, tools: Tools) -> Evidence:
    """Compare extrapolated slopes of the mixed branches and the curvature of the pure one with closed forms."""
    point = first_critical(problem)
    n, m = point.modes
    diagram = tools.diagram(problem, interval(problem))
    starts = list(_starts(diagram, float(point.coupling), (n, m)))
    found: list[Evidence] = []
    for side in (-1, 1):
        mixed = [s for s in starts if s.first[-1] > s.second[-1] and side * s.detuning[-1] > 0]
        if not mixed:
            found.append(missing(f"no mixed branch on the side delta {'<' if side < 0 else '>'} 0"))
        for start in mixed[:1]:
            found += _mixed_slopes(start, resonance(problem, n, m), side)
    pure = [s for s in starts if s.first.max() < MOMENT]
    if not pure:
        found.append(missing(f"no pure branch of mode {m}"))
    for start in pure[:1]:
        found.append(_pitchfork(start.second**2, start.detuning, branch_shape(problem, m).curvature, m))
    return worst(found)


def _mixed_slopes(start: "_Start", reduced: Resonance, side: int) -> Iterator[Evidence]:
    first, second = reduced.mixed_slopes()
    delta = start.detuning
    noise = RESIDUAL / np.abs(delta)
    for name, ratio, expected in (
        ("|m_n|/|delta|", start.first / np.abs(delta), first),
        ("m_2n/delta", start.signed_second / delta, second),
    ):
        value, error = polynomial_at_zero(start.first, ratio, noise, 0)
        yield compare(value, expected, error, f"{name} of the mixed branch, delta {'<' if side < 0 else '>'} 0")


def _pitchfork(x: Floats, delta: Floats, curvature: float, mode: int) -> Evidence:
    value, error = polynomial_at_zero(x, delta / x, RESIDUAL / x, 0)
    return compare(value, curvature, error, f"delta/m_{mode}^2 of the pure branch of mode {mode}")


@claim(
    "circle.T6-generic",
    "two critical modes without resonant terms",
    statement=(
        "At kappa = kappa_c (1+delta), x = |c_n|^2, y = |c_m|^2: pure branches x = delta/b_n, y = delta/b_m "
        "and a mixed one x = delta (b_m + C)/(b_n b_m - C^2), y = delta (b_n + C)/(b_n b_m - C^2) where both "
        "are > 0; C = s/(1-s) + t/(1-t), s = lambda_{m-n}, t = lambda_{m+n}."
    ),
    assumptions="exactly two critical modes n < m, m not 2n or 3n",
    source="Lyapunov-Schmidt reduction, checked on the modes 2:3",
    hypotheses=generic_resonance,
)
def generic_branches(problem: Equation, tools: Tools) -> Evidence:
    """Compare mixed and pure branches, extrapolated to their birth, with those of the reduced energy."""
    point = first_critical(problem)
    reduced = resonance(problem, *point.modes)
    diagram = tools.diagram(problem, interval(problem))
    starts = list(_starts(diagram, float(point.coupling), reduced.modes))
    found: list[Evidence] = []
    for kind, expected in _reduced_branches(reduced):
        alike = [start for start in starts if start.kind() == kind]
        if not alike:
            found.append(missing(f"no {kind} branch of modes {reduced.modes}"))
        for start in alike:
            found += _squares(start, kind, expected)
    return worst(found)


def _reduced_branches(reduced: Resonance) -> Iterator[tuple[str, tuple[float, float]]]:
    """Yield x/delta and y/delta on each branch of the reduced energy."""
    (b_n, b_m), cross = reduced.curvatures, reduced.cross
    yield "first", (1 / b_n, 0.0)
    yield "second", (0.0, 1 / b_m)
    determinant = b_n * b_m - cross**2
    x, y = (b_m + cross) / determinant, (b_n + cross) / determinant
    if x * y > 0:
        yield "mixed", (x, y)


def _squares(start: "_Start", kind: str, expected: tuple[float, float]) -> Iterator[Evidence]:
    size = start.first**2 + start.second**2
    # Resonant terms of higher order are odd in the amplitude, so it is the coordinate, not its square.
    amplitude = np.sqrt(size)
    for name, part, slope in (("x", start.first**2, expected[0]), ("y", start.second**2, expected[1])):
        target = slope / (expected[0] + expected[1])
        value, error = polynomial_at_zero(amplitude, part / size, RESIDUAL / size, 0)
        yield compare(value, target, error, f"share of {name} on the {kind} branch")
    value, error = polynomial_at_zero(amplitude, start.detuning / size, RESIDUAL / size, 0)
    yield compare(value, 1 / sum(expected), error, f"delta/(x + y) on the {kind} branch")


@dataclass(frozen=True)
class _Start:
    """Points of a branch near a double bifurcation, nearest first."""

    first: Floats
    second: Floats
    signed_second: Floats
    detuning: Floats

    def kind(self) -> str:
        """Return which of the two modes the branch contains: first, second or mixed."""
        small = 0.05 * max(self.first[-1], self.second[-1])
        if self.second[-1] < small:
            return "first"
        return "second" if self.first[-1] < small else "mixed"


def _starts(diagram: Diagram, critical: float, modes: tuple[int, int]) -> Iterator[_Start]:
    """Yield the pieces of branches that leave the uniform state at the critical coupling."""
    for branch in diagram.branches:
        if branch.symmetry == 0 or branch.parent is None:
            continue
        birth = diagram.special_points[branch.parent]
        if birth.branch == 0 and abs(float(birth.coupling) - critical) <= 1e3 * LOCATION * critical:
            start = _piece(branch, critical, modes)
            if start is not None:
                yield start


def _piece(branch: Branch, critical: float, modes: tuple[int, int]) -> _Start | None:
    first, second = order(branch, modes[0]), order(branch, modes[1])
    size = np.hypot(first, second)
    growing = np.concatenate([[True], np.diff(size) > 0])
    end = size.size if growing.all() else int(growing.argmin())
    usable = np.flatnonzero((size[:end] >= SMALLEST) & (size[:end] <= LARGEST))
    if usable.size < POINTS - 2:
        return None
    chosen = usable[sorted({int(i) for i in np.linspace(0, usable.size - 1, min(POINTS, usable.size))})]
    phase = (branch.cosine - 1j * branch.sine)[chosen]
    reference = np.where(first[chosen] > MOMENT, phase[:, modes[0]] ** 2, 1.0)
    turned = phase[:, modes[1]] * np.conj(reference) / np.abs(reference)
    detuning = branch.coupling[chosen] / critical - 1
    return _Start(first[chosen], second[chosen], np.asarray(turned.real), detuning)


def dominant_second_harmonic(problem: Equation) -> str | None:
    """Return the reason why the potential is not w_1 cos t + w_2 cos 2t with w_2 < w_1 < 0, or None if it is."""
    weights = problem.potential.multipliers(problem.domain, 64)
    if problem.confinement is not None or not isinstance(problem.potential, CosineSeries):
        return "it is about cosine series of two terms"
    if not weights[2] < weights[1] < 0 or weights[3:].any():
        return "w_2 < w_1 < 0 and nothing beyond is required"
    return None


@claim(
    "circle.T7",
    "secondary bifurcation of two harmonics",
    statement=(
        "W = w_1 cos t + w_2 cos 2t, w_2 < w_1 < 0: on the 2-fold branch mode 1 becomes critical where "
        "lambda_1 (1 + m_2) = 1, m_2 = I_1(x)/I_0(x), x = 2 lambda_2 m_2."
    ),
    assumptions="exactly two harmonics, the second dominant",
    source="linearisation on the 2-fold branch; checked with 30 digits",
    hypotheses=dominant_second_harmonic,
)
def secondary_bifurcation(problem: Equation, tools: Tools) -> Evidence:
    """Compare the branch points of the 2-cluster branch with the coupling and m_2 in closed form."""
    expected, moment = _secondary_closed_form(problem)
    low, high = interval(problem)
    if not low < expected < high:
        raise Undecided(f"the secondary bifurcation at coupling {expected:.9g} is outside the diagram")
    diagram = tools.diagram(problem, (low, high))
    events = [event for event in diagram.events("branch point", "2-cluster") if event.branch != 0]
    if not events:
        return missing(f"no branch point on the 2-cluster branch; expected at coupling {expected:.15g}")
    event = min(events, key=lambda item: abs(float(item.coupling) - expected))
    found = [
        compare(float(event.coupling), expected, LOCATION * expected, "coupling of the secondary bifurcation"),
        compare(abs(event.m2), moment, MOMENT, "second moment there"),
    ]
    born = [branch for branch in diagram.branches if branch.parent == diagram.special_points.index(event)]
    if not any(order(branch, 1).max() > 0.01 for branch in born):
        found.append(missing("the branch with m_1 != 0 was not followed"))
    return worst(found)


def _secondary_closed_form(problem: Equation) -> tuple[float, float]:
    """Return kappa_sec and m_2 there: with a = w_2/w_1, x (1 + r(x)) = 2 a r(x), r = I_1/I_0."""
    from scipy.optimize import brentq
    from scipy.special import ive

    w_1, w_2 = problem.potential.multipliers(problem.domain, 2)[1:]
    ratio = float(w_2 / w_1)

    def moment(x: float) -> float:
        return float(ive(1, x) / ive(0, x))

    # r(x)/x = 1/2 - x^2/16 near 0, where the defect is about (1 - a) x < 0; it is positive at x = 2a.
    root = brentq(lambda x: x * (1 + moment(x)) / (2 * moment(x)) - ratio, 1e-9, 2 * ratio, xtol=1e-15, rtol=1e-15)
    value = moment(float(root))
    return float(-2 * problem.noise / w_1 / (1 + value)), value
