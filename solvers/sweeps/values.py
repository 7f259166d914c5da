"""The values of a sweep: the product grid of one list for each parameter, or a list of points."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from meanfield import Equation, InvalidInput
from meanfield.arguments import is_numeric, is_sequence, shown
from meanfield.potentials import require_named
from meanfield.theory import transition_coupling

COUPLING, RELATIVE = "coupling", "relative_coupling"
# A result of each is kept in memory in the end.
MOST_VALUES = 10**6


@dataclass(frozen=True, eq=False)
class Values:
    """The values of the parameters of a sweep.

    Attributes
    ----------
    axes : mapping of str to (n,) float
        Of a grid the values of each parameter, else one for each point.
    grid : bool
        Whether all combinations are meant.
    """

    axes: dict[str, NDArray[np.float64]]
    grid: bool

    def __len__(self) -> int:
        sizes = [axis.size for axis in self.axes.values()]
        return math.prod(sizes) if self.grid else sizes[0]

    def at(self, index: int) -> dict[str, float]:
        """Return the values at an index, counted along the last axis first."""
        if not self.grid:
            return {name: float(axis[index]) for name, axis in self.axes.items()}
        place = np.unravel_index(index, [axis.size for axis in self.axes.values()])
        return {name: float(axis[number]) for (name, axis), number in zip(self.axes.items(), place, strict=True)}


def values_from(problem: Equation, values: Any) -> Values:
    """Return the values that a mapping of lists, or a list of mappings, means.

    Raises
    ------
    InvalidInput
        If it is neither, a name is no parameter of the problem, or there are no values, too many, or one that is
        not a finite number.
    """
    grid = isinstance(values, Mapping)
    if not grid and not (is_sequence(values) and all(isinstance(point, Mapping) for point in values)):
        raise InvalidInput(
            f"values must be a mapping of parameters to their values, such as {{'beta': [1.0, 2.0]}}, or a list of "
            f"points, such as [{{'beta': 1.0, 'noise': 0.5}}], not {shown(values)}"
        )
    lists = dict(values) if grid else _transposed(values)
    if not lists:
        raise InvalidInput("there are no values to sweep over; give some, such as {'beta': [1.0, 2.0]}")
    names = dict.fromkeys((*problem.parameters, COUPLING, RELATIVE))
    for name, entries in lists.items():
        require_named(name, tuple(names), "the problem")
        array = not isinstance(entries, Mapping | str | bytes) and is_numeric(entries) and np.ndim(entries) == 1
        if not array or np.size(entries) == 0:
            raise InvalidInput(f"the values of {name} must be finite numbers in a list, not {shown(entries)}")
    if {COUPLING, RELATIVE} <= lists.keys():
        raise InvalidInput(f"give the values of {COUPLING} or of {RELATIVE}, not both")
    found = Values({name: np.array(entries, dtype=np.float64) for name, entries in lists.items()}, grid)
    if len(found) > MOST_VALUES:
        raise InvalidInput(f"a sweep has at most {MOST_VALUES} values, not {len(found)}; sweep over parts of them")
    return found


def _transposed(points: Sequence[Mapping[str, Any]]) -> dict[str, list[Any]]:
    different = next((point for point in points if point.keys() != points[0].keys()), None)
    if different is not None:
        raise InvalidInput(
            f"all points must have the same parameters, {', '.join(map(str, points[0]))}, not "
            f"{', '.join(map(str, different)) or 'none'}"
        )
    return {name: [point[name] for point in points] for name in points[0]} if len(points) else {}


def problem_at(problem: Equation, values: Mapping[str, float]) -> Equation:
    """Return the problem at values of its parameters, the coupling last, since it may be relative to the others.

    Raises
    ------
    InvalidInput
        If a value is not admissible.
    """
    for name, value in values.items():
        if name not in (COUPLING, RELATIVE):
            problem = problem.with_parameter(name, value)
    if COUPLING in values:
        return problem.at(coupling=values[COUPLING])
    return at_relative(problem, values[RELATIVE]) if RELATIVE in values else problem


def at_relative(problem: Equation, relative: float) -> Equation:
    """Return the problem at a coupling in units of the smallest positive critical one.

    Raises
    ------
    InvalidInput
        If there is no critical coupling.
    """
    critical = transition_coupling(problem)
    if critical is None:
        raise InvalidInput("there is no positive critical coupling to be relative to; give couplings")
    return problem.at(coupling=relative * critical)
