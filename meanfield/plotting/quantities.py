"""Quantities of branches on the two axes of a diagram, with their symbols."""

import re

import numpy as np
from numpy.typing import NDArray

from ..arguments import checked
from ..errors import InvalidInput
from ..harmonics import Moments, modes_of
from ..records.branch import Branch, SpecialPoint
from ..records.columns import COUPLING
from ..records.diagram import Diagram
from ..records.observables import observable_named

Floats = NDArray[np.float64]

CRITICAL_MODES = 64
# Moments below this are zero.
VANISHING = 1e-9


@checked
def critical_mode(diagram: Diagram) -> int | None:
    """Return the degree of the mode that becomes critical first, None if it is not known."""
    if diagram.critical_coupling is None or diagram.problem.confinement is not None:
        return None
    domain = diagram.problem.domain
    multiplicities = np.array([float(domain.multiplicity(degree)) for degree in range(1, CRITICAL_MODES + 1)])
    eigenvalues = diagram.problem.potential.multipliers(domain, CRITICAL_MODES)[1:] / multiplicities
    if not np.any(eigenvalues < 0):
        return None
    return int(np.argmin(eigenvalues)) + 1


def default_quantity(diagram: Diagram) -> str:
    """Return the name of the quantity that distinguishes the branches of a diagram best.

    That is the amplitude, or on spheres the moment about the north pole of the degree that becomes critical first
    if it vanishes on no branch but the uniform one: its sign tells the two sides of a transcritical branch apart.
    """
    if "p" not in modes_of(diagram.problem.domain).columns:
        return "amplitude"
    moment = f"p{critical_mode(diagram) or 1}"
    clustered = [branch for branch in diagram.branches if branch.symmetry != 0]
    departing = [np.nanmax(np.abs(values_of(diagram, branch, moment)), initial=0.0) for branch in clustered]
    return moment if departing and min(departing) > VANISHING else "amplitude"


@checked
def coupling_symbol(diagram: Diagram) -> str:
    """Return the symbol of the horizontal axis of a diagram: the coupling, or the name of another parameter."""
    if diagram.parameter != COUPLING:
        return parameter_symbol(diagram.parameter)
    if diagram.critical_coupling is None:
        return r"$\kappa$"
    mode = critical_mode(diagram)
    return rf"$\kappa/\kappa_{{{'c' if mode is None else mode}}}$"


def parameter_symbol(parameter: str) -> str:
    """Return the symbol of a parameter: a letter, with a number behind it as index, or its name."""
    known = {"noise": "$D$", COUPLING: r"$\kappa$", "beta": r"$\beta$", "radius": "$R$"}
    letter = re.fullmatch(r"([A-Za-z])_?(\d+)", parameter)
    if letter is not None:
        return f"${letter[1]}_{{{letter[2]}}}$"
    return known.get(parameter, parameter.replace("_", " "))


def place_of(diagram: Diagram, event: SpecialPoint) -> float:
    """Return where a special point is on the horizontal axis, nan if that is not known."""
    if diagram.parameter != COUPLING or diagram.critical_coupling is None:
        return float(event.value)
    return np.nan if event.relative_coupling is None else float(event.relative_coupling)


def symbol_of(diagram: Diagram, y: str) -> str:
    """Return the symbol of a quantity, refusing unknown names."""
    modes = modes_of(diagram.problem.domain)
    degree = modes.letters[1]
    names = {
        "norm": r"$\|m\|_2$",
        "amplitude": rf"$\max_{degree} |m_{degree}|$",
        "slowest_rate": r"slowest rate $\gamma$",
    } | {name: observable_named(name).symbol for name in diagram.observables}
    if y in names:
        return names[y]
    kind, number = y[:1], y[1:]
    if kind in modes.columns and number.isascii() and number.isdigit() and int(number) > 0:
        return modes.symbol(kind, int(number))
    moments = ", ".join(f"{kind}1, {kind}2, ..." for kind in modes.columns)
    raise InvalidInput(f"cannot plot {y!r}; give {moments} or one of {', '.join(names)}")


def values_of(diagram: Diagram, branch: Branch, y: str) -> Floats:
    """Return a quantity at every point of a branch, (P,); nan where it is not known."""
    values = _recorded(diagram, branch, y)
    return _of_moments(branch.moments, y) if values is None else values


def event_value(diagram: Diagram, event: SpecialPoint, y: str) -> float:
    """Return a quantity at a special point."""
    values = _recorded(diagram, diagram.branches[event.branch], y)
    return float(_of_moments(event.moments, y) if values is None else values[event.point])


def is_recorded(diagram: Diagram, y: str) -> bool:
    """Return whether a quantity is recorded beside the moments, and may be known at some points only."""
    return y == "slowest_rate" or y in diagram.observables


def _recorded(diagram: Diagram, branch: Branch, y: str) -> Floats | None:
    """Return a quantity recorded beside the moments at the points of a branch, None if it is not recorded."""
    if y == "slowest_rate":
        return branch.slowest_rate
    return branch.observables.get(y, np.full(len(branch), np.nan)) if y in diagram.observables else None


def abscissa(diagram: Diagram, branch: Branch) -> Floats:
    """Return the values of the parameter on a branch, (P,), couplings relative to the critical one if there is."""
    chosen = branch.values if diagram.critical_coupling is None else branch.relative_coupling
    return np.asarray(chosen, dtype=np.float64)


def _of_moments(moments: Moments, y: str) -> Floats:
    """Return the values of a quantity that is a function of the moments."""
    if y == "norm":
        # Imported points may know only their first moments; the rest counts as zero.
        squares = np.nan_to_num(moments.cosine[..., 1:] ** 2 + moments.sine[..., 1:] ** 2)
        return np.asarray(np.sqrt(np.sum(squares, axis=-1)))
    if y == "amplitude":
        lengths = np.nan_to_num(moments.lengths)
        return np.asarray(np.max(lengths[..., 1:], axis=-1, initial=0.0))
    return moments.named(y)
