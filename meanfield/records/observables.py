"""Numbers of a state, a branch or a trajectory that equations have or do not have, by name.

A free energy is one: the gradient flow of a pair potential has it, other velocities do not. Records hold what there
is, :class:`Observables`, and refuse the rest in one sentence. What is never absent, such as moments, is a field.
"""

import functools
import re
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping
from typing import Annotated, Any, ClassVar, NamedTuple, TypeVar

import numpy as np

from ..arguments import ITSELF, shown
from ..base import Record, brief, read_only, same
from ..equations import Capability
from ..errors import InvalidInput, did_you_mean

FREE_ENERGY_GAP = "free_energy_gap"
DISSIPATION = "dissipation"
# Without noise there is no entropy, and energies are not over the noise.
ENERGY_GAP = "energy_gap"
ENERGY_DISSIPATION = "energy_dissipation"
ORDER_DEFICIT = "order_deficit"
# Of a density that rests in a rotating frame only.
ANGULAR_VELOCITY = "angular_velocity"
MEAN_VELOCITY = "mean_velocity"

# What else a record, a table, a picture or a file of ours or of another program calls so.
RESERVED = {
    "accuracy", "amplitude", "arclength", "branch", "branch_label", "cosine", "coupling", "data", "degree",
    "density", "description", "distance", "domain", "evaluations", "event", "f", "flow_map", "flow_time", "h",
    "harmonic", "index", "kernel_dimension", "label", "label_density", "layout", "lower", "mass_error",
    "method", "minimiser", "minimiser_reason", "minimum", "modes", "moment", "moments", "msg", "norm",
    "observables", "order", "order_parameter", "outcome", "parameter", "parameter_values", "parent", "point",
    "point_labels", "points", "position", "problem", "provenance", "relative_coupling", "residual", "s", "sine",
    "slowest_rate", "stable", "state", "state_names", "status", "steps", "symmetry", "tangent_cosine",
    "tangent_coupling", "tangent_parameter", "tangent_sine", "time", "tolerance", "type", "unstable",
    "unstable_after", "unstable_before", "upper", "v", "warnings", "x",
}  # fmt: skip
# Moments, and the digits of extended numbers in files.
TAKEN = re.compile(r"[mprs]\d+|.*_decimal")
# That MATLAB takes for the name of a field.
LONGEST = 31

Observing = TypeVar("Observing", bound=type)


class Observable(NamedTuple):
    """What an observable is, for readers of files and figures."""

    description: str
    heading: str
    symbol: str
    units: str = ""


KNOWN = {
    FREE_ENERGY_GAP: Observable(
        "free energy above the uniform state, over the noise", "(F-F0)/D", r"$(F - F_0)/D$", "1"
    ),
    DISSIPATION: Observable(
        "minus the time derivative of the free energy gap", "-d/dt", r"$-\mathrm{d}F/\mathrm{d}t\,/D$"
    ),
    ENERGY_GAP: Observable(
        "energy of interaction and confinement above the uniform state, without noise", "E-E0", r"$E - E_0$"
    ),
    ENERGY_DISSIPATION: Observable(
        "minus the time derivative of the energy gap", "-dE/dt", r"$-\mathrm{d}E/\mathrm{d}t$"
    ),
    ORDER_DEFICIT: Observable(
        "one minus the order parameter of degree 1, accurate relative to itself", "1-r", "$1 - r$"
    ),
    ANGULAR_VELOCITY: Observable(
        "angular velocity of the frame in which the density rests, radians per unit of time", "Omega", r"$\Omega$"
    ),
    MEAN_VELOCITY: Observable(
        "mean angular velocity of the particles of a density at rest, radians per unit of time",
        "mean v",
        r"$\langle v\rangle$",
    ),
}


def observable_named(name: str) -> Observable:
    """Return what the observable of a name is; one that this package does not know is described by its name."""
    words = name.replace("_", " ")
    return KNOWN.get(name, Observable(words, words, words))


class Observables(Mapping[str, Any]):
    """Numbers, or read-only arrays of them, by name; equal where all entries are, nan being equal to nan.

    Parameters
    ----------
    values
        Numbers in double precision, or arrays of one axis. Any file can hold their names: a letter, then letters,
        digits and underscores, none of them with an accent.
    count
        Length of the arrays; None for numbers.

    Raises
    ------
    InvalidInput
        If a name is none, or that of something else, or a value is not a number or array of such numbers.
    """

    __slots__ = ("_values",)

    def __init__(self, values: Mapping[str, Any], count: int | None = None) -> None:
        for name in values:
            _require_name(name)
        self._values = {name: _doubles(name, value, count) for name, value in values.items()}

    def __getitem__(self, name: str) -> Any:
        return self._values[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Mapping) and same(self._values, dict(other))

    __hash__ = None  # type: ignore[assignment]  # arrays have none

    def __reduce__(self) -> tuple[Any, ...]:
        count = next((value.size for value in self._values.values() if isinstance(value, np.ndarray)), None)
        return type(self), (self._values, count)

    def __repr__(self) -> str:
        return f"{{{', '.join(f'{name!r}: {brief(value)}' for name, value in self._values.items())}}}"


def _require_name(name: Any) -> None:
    if not isinstance(name, str) or len(name) > LONGEST or not re.fullmatch(r"[A-Za-z]\w*", name, re.ASCII):
        raise InvalidInput(
            f"an observable cannot be called {name!r}; a name begins with a letter and has up to {LONGEST} "
            f"letters, digits and underscores, such as {FREE_ENERGY_GAP!r}"
        )
    if name in RESERVED or TAKEN.fullmatch(name):
        raise InvalidInput(
            f"an observable cannot be called {name!r}, which is something else in records, tables or files; give "
            f"it another name, such as {f'mean_{name}'[:LONGEST]!r}"
        )


def _doubles(name: str, value: Any, count: int | None) -> Any:
    """Return an observable as a double or, if there is a count, as an array of so many doubles."""
    # Of every point of a diagram, whose rates ask for its states.
    if type(value) is float and count is None:
        return value
    array = np.asarray(value)
    if array.dtype.kind not in "fiu" or array.shape != (() if count is None else (count,)):
        wanted = "a number" if count is None else f"an array of {count} numbers"
        raise InvalidInput(f"the observable {name!r} must be {wanted}, not {shown(value)}")
    doubles = array if array.dtype == np.float64 else _converted(name, array)
    return float(doubles) if count is None else read_only(doubles)


def _converted(name: str, array: np.ndarray) -> np.ndarray:
    """Return the numbers of an observable in double precision."""
    with np.errstate(over="ignore", under="ignore"):
        doubles = array.astype(np.float64)
    if np.any((doubles == 0.0) != (array == 0)) or np.any(np.isinf(doubles) != np.isinf(array)):
        raise InvalidInput(f"the observable {name!r} is beyond double precision; give it in another unit")
    return doubles


class Observed(Record):
    """A record with observables: numbers, or arrays as long as the field named by ``_along``."""

    observables: Mapping[str, Any]
    _along: ClassVar[str] = ""

    def __post_init__(self) -> None:
        count = np.size(getattr(self, self._along)) if self._along else None
        object.__setattr__(self, "observables", Observables(self.observables, count))
        super().__post_init__()

    def observable(self, name: Annotated[str, ITSELF]) -> Any:
        """Return the observable of a name.

        Raises
        ------
        InvalidInput
            If there is none of that name; the message lists those there are, and why there is no free energy.
        """
        named = isinstance(name, str)
        if named and name in self.observables:
            return self.observables[name]
        near = did_you_mean(name, self.observables) if named else ""
        problem = getattr(self, "problem", None)
        lacking = problem.lacks(Capability.FREE_ENERGY) if problem is not None and named and name in KNOWN else ""
        reason = f", for its equation has no free energy: {lacking}" if lacking else ""
        raise InvalidInput(
            f"this {type(self).__name__.lower()} has no observable {shown(name)}{reason}; {near}it has "
            f"{', '.join(self.observables) or 'none'}"
        )


def former_arguments(*names: str) -> Callable[[Observing], Observing]:
    """Return a decorator of records that were once called with these observables by their own names.

    They are still taken, with a DeprecationWarning.
    """

    def taking(kind: Observing) -> Observing:
        made = kind.__init__  # type: ignore[misc]

        @functools.wraps(made)
        def wrapper(self: Any, *args: Any, **named: Any) -> None:
            given = {name: named.pop(name) for name in names if name in named}
            if given:
                wanted = ", ".join(f"{name!r}: ..." for name in given)
                warnings.warn(
                    f"{kind.__name__}({next(iter(given))}=...) is called with observables={{{wanted}}} now",
                    DeprecationWarning,
                    stacklevel=_level_of_caller(),
                )
                named["observables"] = {**named.get("observables", {}), **given}
            made(self, *args, **named)

        kind.__init__ = wrapper  # type: ignore[misc]
        return kind

    return taking


def _level_of_caller() -> int:
    """Return how far up the stack, as warnings count, whoever made or copied a record stands."""
    frame, level = sys._getframe(2), 2
    while frame.f_back is not None and (frame.f_code.co_name == "replace" or frame.f_globals["__name__"] == "copy"):
        frame, level = frame.f_back, level + 1
    return level
