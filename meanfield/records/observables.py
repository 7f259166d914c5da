"""Numbers of a state, a branch or a trajectory that equations have or do not have, by name.

A free energy is one: the gradient flow of a pair potential has it, other velocities do not. Records hold what there
is, :class:`Observables`, and refuse the rest in one sentence. What is never absent, such as moments, is a field.
"""

import functools
import re
import warnings
from collections.abc import Callable, Iterator, Mapping
from typing import Annotated, Any, NamedTuple, TypeVar

from ..arguments import ITSELF
from ..base import Record, brief, read_only, same
from ..errors import InvalidInput, did_you_mean

FREE_ENERGY_GAP = "free_energy_gap"
DISSIPATION = "dissipation"

# Columns of tables and dimensions of files that are no fields of a record, and those of moments.
COLUMNS = frozenset(
    {"branch", "branch_label", "degree", "event", "harmonic", "moment", "order", "point", "state", "time"}
)
MOMENTS = re.compile(r"[mps]\d+")
# What names of extended numbers end with in files.
DECIMAL = "_decimal"

Observing = TypeVar("Observing", bound=type)


class Observable(NamedTuple):
    """What an observable is, for readers of files and figures."""

    description: str
    heading: str
    symbol: str
    units: str = "1"


KNOWN = {
    FREE_ENERGY_GAP: Observable(
        "free energy above the uniform state, over the noise", "(F-F0)/D", r"$(F - F_0)/D$"
    ),
    DISSIPATION: Observable(
        "minus the time derivative of the free energy gap", "-d/dt", r"$-\mathrm{d}F/\mathrm{d}t\,/D$", ""
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
        The numbers. Names are those of variables in a program, so that any file can hold them.

    Raises
    ------
    InvalidInput
        If a name is none.
    """

    __slots__ = ("_values",)

    def __init__(self, values: Mapping[str, Any]) -> None:
        for name in values:
            if not (isinstance(name, str) and name.isidentifier()):
                raise InvalidInput(
                    f"an observable cannot be called {name!r}; a name has letters, digits and underscores, such as "
                    f"{FREE_ENERGY_GAP!r}"
                )
        self._values = {name: read_only(value) for name, value in values.items()}

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
        return type(self), (self._values,)

    def __repr__(self) -> str:
        return f"{{{', '.join(f'{name!r}: {brief(value)}' for name, value in self._values.items())}}}"


class Observed(Record):
    """A record with observables."""

    observables: Mapping[str, Any]

    def __post_init__(self) -> None:
        object.__setattr__(self, "observables", Observables(self.observables))
        for name in self.observables:
            own = name not in KNOWN and (name in vars(self) or hasattr(type(self), name))
            if own or name in COLUMNS or MOMENTS.fullmatch(name) or name.endswith(DECIMAL):
                raise InvalidInput(
                    f"an observable cannot be called {name!r}, which is something else in a table or file; give it "
                    f"another name, such as {f'{name}_observed'!r}"
                )
        super().__post_init__()

    def observable(self, name: Annotated[str, ITSELF]) -> Any:
        """Return the observable of a name.

        Raises
        ------
        InvalidInput
            If there is none of that name; the message lists those there are.
        """
        if name in self.observables:
            return self.observables[name]
        near = did_you_mean(name, self.observables) if isinstance(name, str) else ""
        known = ", ".join(self.observables) or "none"
        reason = ": its equation has no free energy" if name in (FREE_ENERGY_GAP, DISSIPATION) else ""
        raise InvalidInput(
            f"this {type(self).__name__.lower()} has no observable {name!r}{reason}; {near}there are {known}"
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
                    stacklevel=2,
                )
                named["observables"] = {**named.get("observables", {}), **given}
            made(self, *args, **named)

        kind.__init__ = wrapper  # type: ignore[misc]
        return kind

    return taking
