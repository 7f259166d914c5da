r"""The envelope identity, :math:`d(F-F_0)/d\kappa = \tfrac12 \sum_k w_k |c_k|^2` along a branch."""

from collections.abc import Callable, Iterator

import numpy as np

from meanfield import Branch, Diagram, State

from .claims import Evidence, Undecided, compare
from .measures import MOMENT, RESIDUAL, Floats, polynomial_at_zero, unit_coupling

# Points on each side of that at which the gap is differentiated.
WINDOW = 4


def slopes_along_branches(
    diagram: Diagram,
    slope: Callable[[State], float],
    coordinates: Callable[[Branch, slice], list[Floats]],
    gap_error: Callable[[Floats], float],
) -> Iterator[Evidence]:
    """Yield the derivatives of the gap along the clustered branches of a diagram against their closed form.

    Parameters
    ----------
    slope
        Gives the derivative of F - F_uniform in the coupling at a state.
    coordinates
        Gives quantities at some points of a branch, one of which changes evenly enough to differentiate in it.
    gap_error
        Gives the error of some gaps, relative to that of a moment.
    """
    for index, branch in enumerate(diagram.branches):
        for centre in range(WINDOW, len(branch) - WINDOW, 5) if branch.symmetry else ():
            window = slice(centre - WINDOW, centre + WINDOW + 1)
            x = _coordinate(coordinates(branch, window))
            if x is None:
                continue
            state = diagram.state(index, centre)
            rate = slope(state) / diagram.problem.noise
            defect = (branch.free_energy_gap - rate * branch.coupling)[window]
            size = gap_error(branch.free_energy_gap[window])
            noise = size * MOMENT / 10 + abs(rate) * unit_coupling(diagram.problem) * RESIDUAL
            # The error estimate adds the points one by one, nearest first.
            ranked = np.argsort(np.abs(x), kind="stable")
            y = defect - defect[WINDOW]
            try:
                derivative, error = polynomial_at_zero(x[ranked], y[ranked], np.full(x.size, noise), 1)
            except Undecided:
                # Too sharp a bend for the spacing of the points; other windows on the branch are not.
                continue
            text = f"d(gap - slope kappa) along the {branch.label} at coupling {state.coupling:.9g}"
            yield compare(derivative, 0.0, error, text)


def _coordinate(candidates: list[Floats]) -> Floats | None:
    """Return the candidate that changes most, 0 at the centre, of those that change evenly; None if none does."""
    usable = [values - values[WINDOW] for values in candidates if _evenly_monotone(values)]
    return max(usable, key=lambda x: float(np.abs(x).max())) if usable else None


def _evenly_monotone(x: Floats) -> bool:
    steps = np.diff(x) * np.sign(x[-1] - x[0])
    return bool(steps.min() > 0.05 * steps.max() > 1e-4)
