r"""The search for states that no branch leads to, by Newton's method with the known states deflated.

Newton is applied to :math:`m(b)\, g(b)` with :math:`m(b) = \prod_i (1 + |b - b_i|^{-2})` over the known states
:math:`b_i` and their rotations within the basis, which repels it from them (Farrell, Birkisson & Funke 2015). By
the Sherman-Morrison formula the deflated step is a multiple of Newton's own,
:math:`\delta / (1 - \nabla\log m \cdot \delta)`, so deflation costs nothing.
"""

import math
from collections.abc import Iterable, Iterator

import numpy as np
from scipy.linalg import lapack
from scipy.linalg.blas import dnrm2

from ..bases import EPS, Floats, greatest
from ..equations.equation import StationaryEquation
from ..linear_algebra.inertia import BLOCK
from .continuation import End, Point, state_at

MAX_ITERATIONS = 60
LARGEST_STEP = 0.5
# Share of a step within which two in turn lead back to where they began.
BACK = 1e-4
FINDS = 64
# Refinements granted to a state found by searching: a truncation artefact moves away at every one of them.
REFINEMENTS = 4
# Unknowns that change by more than this on finer grids were those of an artefact.
ARTEFACT = 1e-3


def search(equation: StationaryEquation, q: float, known: list[Floats], seeds: Iterable[Floats]) -> Iterator[Point]:
    """Yield resolved states at the coupling q that differ from the known ones and from each other."""
    avoided = [image for b in known for image in equation.basis.images(b)]
    finds = 0
    for seed in seeds:
        # Deflation bends the paths of Newton's method; the straight one may lead to a new state as well.
        found = deflated_newton(equation, seed, q, [])
        if found is None or not _is_away(found, avoided):
            found = deflated_newton(equation, seed, q, avoided)
        while finds < FINDS and found is not None:
            finds += 1
            avoided += equation.basis.images(found)
            point = resolved_at(equation, found, q)
            if point is not None:
                yield point
            found = deflated_newton(equation, seed, q, avoided)


def resolved_at(equation: StationaryEquation, b: Floats, q: float) -> Point | None:
    """Return the resolved state close to one found on a coarser grid, None if that was an artefact of the grid."""
    point = state_at(equation, b, q, REFINEMENTS)
    if isinstance(point, End):
        return None
    scaled = equation.transfer(b, point.equation) if point.equation is not equation else b
    return point if float(np.abs(point.b - scaled).max()) < ARTEFACT else None


def deflated_newton(equation: StationaryEquation, b: Floats, q: float, known: list[Floats]) -> Floats | None:
    """Return a solution at the coupling q other than the known ones, or None if the iteration fails."""
    others = np.array(known).reshape(-1, b.size)
    last, drift = np.full(b.size, np.inf), np.inf
    for left in range(MAX_ITERATIONS, 0, -1):
        evaluation = equation.evaluate(b, q)
        if greatest(evaluation.residual) < 1e-12:
            return b if _is_away(b, known) else None
        jacobian, _ = equation.linearise(b, q, evaluation.gibbs.moments)
        if equation.symmetric:
            _, _, step, info = lapack.dsysv(jacobian, -evaluation.residual, BLOCK * b.size, lower=1)
        else:
            _, _, step, info = lapack.dgesv(jacobian, -evaluation.residual)
        length = dnrm2(step)
        if info != 0 or not math.isfinite(length):
            return None
        # Where the factor vanishes the deflated step is infinitely long, in the direction of Newton's.
        factor = 1.0 / (1.0 - _repulsion(b, step, others) or EPS)
        step = step * factor * min(1.0, LARGEST_STEP / max(length * abs(factor), 1e-300))
        b, before, drift = b + step, drift, dnrm2(step + last)
        if drift <= before + EPS and before * left <= _apart(b, step):
            return None
        last = step
    return None


def _apart(b: Floats, step: Floats) -> float:
    """Return the largest drift of an iteration with a cycle of two that cannot bring it to a state any more.

    That is to where states can be, whose unknowns are at most one, since no moment is longer. Many known states
    repel others to beyond it, where Newton's own step, back again, alternates with that.
    """
    return max(greatest(b) - 1.0, BACK * float(dnrm2(step)))


def _is_away(b: Floats, known: list[Floats]) -> bool:
    return all(dnrm2(b - other) > 1e-6 for other in known)


def _repulsion(b: Floats, step: Floats, known: Floats) -> float:
    """Return the derivative of log m along a step."""
    offsets = b - known
    squares = np.maximum((offsets * offsets).sum(axis=1), 1e-30)
    return float((-2.0 * (offsets @ step) / (squares * (1.0 + squares))).sum())
