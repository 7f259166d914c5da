r"""The search for states that no branch leads to, by Newton's method with the known states deflated.

Newton is applied to :math:`m(b)\, g(b)` with :math:`m(b) = \prod_i (1 + |b - b_i|^{-2})` over the known states
:math:`b_i` and their rotations within the basis, which repels it from them (Farrell, Birkisson & Funke 2015). By
the Sherman-Morrison formula the deflated step is a multiple of Newton's own,
:math:`\delta / (1 - \nabla\log m \cdot \delta)`, so deflation costs nothing.
"""

from collections.abc import Iterable, Iterator

import numpy as np
from scipy.linalg import lapack

from ..bases import EPS, Floats
from ..equation import StationaryEquation
from ..inertia import BLOCK
from .continuation import End, Point, state_at

MAX_ITERATIONS = 60
LARGEST_STEP = 0.5
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
    for _ in range(MAX_ITERATIONS):
        evaluation = equation.evaluate(b, q)
        size = float(np.abs(evaluation.residual).max())
        if size < 1e-12:
            return b if _is_away(b, known) else None
        jacobian, _ = equation.linearise(b, q, evaluation.gibbs.moments)
        _, _, step, info = lapack.dsysv(jacobian, -evaluation.residual, BLOCK * b.size, lower=1)
        if info != 0 or not np.isfinite(step).all():
            return None
        length = float(np.linalg.norm(step))
        # Where the factor vanishes the deflated step is infinitely long, in the direction of Newton's.
        factor = 1.0 / (1.0 - _repulsion(b, step, known) or EPS)
        b = b + step * factor * min(1.0, LARGEST_STEP / max(length * abs(factor), 1e-300))
    return None


def _is_away(b: Floats, known: list[Floats]) -> bool:
    return all(float(np.linalg.norm(b - other)) > 1e-6 for other in known)


def _repulsion(b: Floats, step: Floats, known: list[Floats]) -> float:
    """Return the derivative of log m along a step."""
    total = 0.0
    for other in known:
        offset = b - other
        square = max(float(offset @ offset), 1e-30)
        total -= 2.0 * float(offset @ step) / (square * (1.0 + square))
    return total
