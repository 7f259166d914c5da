"""What a diagram is drawn over and what is drawn: quantities of branches, with their symbols."""

import numpy as np
from numpy.typing import NDArray

from ..diagrams import Branch, Diagram, SpecialPoint
from ..errors import InvalidInput

Floats = NDArray[np.float64]

CRITICAL_MODES = 64


def critical_mode(diagram: Diagram) -> int | None:
    """Degree of the mode that becomes critical first, None where it cannot be told."""
    if diagram.critical_coupling is None or diagram.problem.confinement is not None:
        return None
    problem = diagram.problem
    multipliers = problem.potential.multipliers(problem.domain, CRITICAL_MODES)[1:]
    attractive = multipliers < 0
    if not np.any(attractive):
        return None
    return int(np.argmin(multipliers)) + 1


def coupling_symbol(diagram: Diagram) -> str:
    """Symbol of the horizontal axis."""
    if diagram.critical_coupling is None:
        return r"$\kappa$"
    mode = critical_mode(diagram)
    return rf"$\kappa/\kappa_{{{'c' if mode is None else mode}}}$"


def symbol_of(y: str) -> str:
    """Return the symbol of a quantity, or refuse a name that is none."""
    names = {
        "norm": r"$\|m\|_2$",
        "amplitude": r"$\max_k |m_k|$",
        "free_energy_gap": r"$(F - F_0)/D$",
        "slowest_rate": r"slowest rate $\gamma$",
    }
    if y in names:
        return names[y]
    degree = y.removeprefix("m")
    if y.startswith("m") and degree.isascii() and degree.isdigit() and int(degree) > 0:
        return f"$m_{{{int(degree)}}}$"
    raise InvalidInput(f"cannot plot {y!r}; give m1, m2, ... or one of {', '.join(names)}")


def values_of(branch: Branch, y: str) -> Floats:
    """Return a quantity at every point of a branch, (P,); nan where it is not known."""
    if y in ("free_energy_gap", "slowest_rate"):
        values: Floats = getattr(branch, y)
        return values
    if y in ("norm", "amplitude"):
        return _size(branch.cosine, branch.sine, y)
    return branch.moment(int(y.removeprefix("m")))


def event_value(diagram: Diagram, event: SpecialPoint, y: str) -> float:
    """Return a quantity at a special point."""
    if y in ("free_energy_gap", "slowest_rate"):
        return float(getattr(diagram.branches[event.branch], y)[event.point])
    if y in ("norm", "amplitude"):
        return float(_size(event.cosine, event.sine, y))
    degree = int(y.removeprefix("m"))
    return float(event.cosine[degree]) if degree < event.cosine.size else 0.0


def abscissa(diagram: Diagram, branch: Branch) -> Floats:
    """Return the couplings of a branch, (P,), relative to the critical one where there is one."""
    chosen = branch.coupling if diagram.critical_coupling is None else branch.relative_coupling
    return np.asarray(chosen, dtype=np.float64)


def _size(cosine: Floats, sine: Floats, y: str) -> Floats:
    # Imported points may know only their first moments; the rest counts as zero there.
    squares = np.nan_to_num(cosine[..., 1:] ** 2 + sine[..., 1:] ** 2)
    total = np.sum(squares, axis=-1) if y == "norm" else np.max(squares, axis=-1, initial=0.0)
    return np.asarray(np.sqrt(total))
