r"""The first points of a branch that leaves the uniform state, and their Taylor coefficients.

In :math:`x = |c_n|^2` all of :math:`\kappa/\kappa_n`, :math:`m_{2n}/x` and :math:`m_{3n}/x^{3/2}` are
analytic, through folds too, so interpolation in x and extrapolation to 0 gives b1, b2 and the harmonics.
"""

from dataclasses import dataclass

import numpy as np

from meanfield import Branch, Diagram, Equation, State, critical_couplings

from ..claims import Undecided
from ..tools import Tools
from .measures import MOMENT, RESIDUAL, Floats, order, polynomial_at_zero, primary_branch

# Half the relative width of the diagram, and the range of |c_n| used. The coefficients grow like
# b2/b1 ~ 1/(1-q)^2, so the series in |c_n|^2 are of use for |c_n| < |1-q| only, q = w_2n/w_n.
WIDTH = 0.2
LARGEST, SMALLEST, POINTS = 0.3, 0.03, 7


@dataclass(frozen=True)
class Onset:
    """Points near the birth of an n-branch: x = |c_n|^2, kappa/kappa_n, harmonics, gaps and states."""

    mode: int
    x: Floats
    ratio: Floats
    second: Floats
    third: Floats
    gap: Floats
    states: tuple[State, ...]


class BranchMissing(Undecided):
    """Raised if a diagram has no branch of the symmetry asked for."""


def onset(problem: Equation, mode: int, tools: Tools) -> Onset:
    """Return the points of the n-branch near its birth.

    Raises
    ------
    Undecided
        If the diagram has no such branch.
    """
    critical = float(critical_couplings(problem, mode)[mode])
    span = sorted(((1 - WIDTH) * critical, (1 + WIDTH) * critical))
    diagram = tools.diagram(problem, (span[0], span[1]))
    branch = primary_branch(diagram, mode)
    if branch is None:
        raise BranchMissing(f"the diagram near coupling {critical:.9g} has no {mode}-cluster branch")
    multipliers = problem.potential.multipliers(problem.domain, 2 * mode)
    largest = min(LARGEST, abs(1 - float(multipliers[2 * mode] / multipliers[mode])))
    return _selected(diagram, branch, mode, critical, largest)


def branch_coefficient(start: Onset, number: int) -> tuple[float, float]:
    """Return b1 or b2 of kappa/kappa_n = 1 + b1 x + b2 x^2 + ... and an error estimate."""
    noise = RESIDUAL / start.x
    return polynomial_at_zero(start.x, (start.ratio - 1) / start.x, noise, number - 1)


def harmonic_coefficient(start: Onset, number: int) -> tuple[float, float]:
    """Return the limit of m_2n / x (number 2) or m_3n / x^(3/2) (number 3) and an error estimate."""
    moments, power = (start.second, 1.0) if number == 2 else (start.third, 1.5)
    return polynomial_at_zero(start.x, moments / start.x**power, RESIDUAL / start.x**power, 0)


def gap_coefficient(start: Onset) -> tuple[float, float]:
    """Return the limit of (F - F_0)/(D x^2) and an error estimate."""
    return polynomial_at_zero(start.x, start.gap / start.x**2, MOMENT / start.x**2, 0)


def _selected(diagram: Diagram, branch: Branch, mode: int, critical: float, largest: float) -> Onset:
    amplitude = order(branch, mode)
    growing = np.concatenate([[True], np.diff(amplitude) > 0])
    end = len(growing) if growing.all() else int(growing.argmin())
    usable = np.flatnonzero((amplitude[:end] >= SMALLEST) & (amplitude[:end] <= largest))
    chosen = usable[sorted({int(i) for i in np.linspace(0, usable.size - 1, min(POINTS, usable.size))})]
    phase = (branch.cosine - 1j * branch.sine)[chosen]
    turn = np.conj(phase[:, mode]) / np.abs(phase[:, mode])
    return Onset(
        mode,
        amplitude[chosen] ** 2,
        branch.coupling[chosen] / critical,
        _harmonic(phase, 2 * mode, turn**2),
        _harmonic(phase, 3 * mode, turn**3),
        branch.free_energy_gap[chosen],
        tuple(diagram.state(diagram.branches.index(branch), int(point)) for point in chosen),
    )


def _harmonic(moments: np.ndarray, degree: int, turn: np.ndarray) -> Floats:
    """Return a moment in the frame in which the first harmonic is real and positive."""
    if degree >= moments.shape[1]:
        return np.zeros(moments.shape[0])
    return np.asarray((moments[:, degree] * turn).real)
