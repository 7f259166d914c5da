"""The record of a sweep: one computation at many values of the parameters of a problem.

The values form a grid, the product of one list for each parameter, or a list of points. What was computed at each
is kept as numbers, and as tables where their length differs from value to value: the special points of diagrams,
the states at a coupling. The k-th rows of two values need not belong to the same branch; their labels say which.
"""

import math
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
from numpy.typing import NDArray

from ..arguments import ITSELF, checked, is_whole, shown
from ..base import SavedRecord, read_only
from ..equations import Equation
from ..errors import InvalidInput, did_you_mean
from .outcome import Outcome

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Floats = NDArray[np.float64]

COMPLETE, FAILED, MISSING = "complete", "failed", "missing"
# Failures that a summary lists.
LISTED = 10
# Values of a parameter nearer than this, relative to it, are the same for a reader who types them.
TYPED = 1e-9


def parameter_columns(
    parameters: Sequence[str], numbers: Iterable[str], tables: Mapping[str, Iterable[str]]
) -> tuple[str, ...]:
    """Return the columns of parameters beside numbers, and tables whose columns are arrays ``TABLE_COLUMN``."""
    listed = {f"{each}_{column}" for each, columns in tables.items() for column in columns}
    return _apart(parameters, {"value", "status", "failure", "file", *numbers, *tables, *listed})


def table_columns(sweep: "Sweep", table: str) -> tuple[str, ...]:
    """Return the keys of the rows of a table of a sweep: the number of the value, parameters and columns."""
    own = tuple(sweep.tables[table])
    return ("value", *_apart(sweep.parameters, {"value", *own}), *own)


def _apart(parameters: Sequence[str], taken: Collection[str]) -> tuple[str, ...]:
    """Return names of parameters, with ``parameter_`` before one that is taken."""
    return tuple(f"parameter_{name}" if name in taken else name for name in parameters)


@checked
@dataclass(frozen=True, eq=False, repr=False)
class Sweep(SavedRecord):
    """A computation at many values of parameters.

    Attributes
    ----------
    problem
        The equation; its swept parameters have the values they had before.
    parameters : tuple of str
        Names of the parameters.
    values : tuple of (n,) float
        The values of each parameter: of a grid those of its axis, else one for each point, all of the same length.
    grid : bool
        Whether the values form the product grid, of the shape (n_1, n_2, ...), or points, of the shape (n,).
    computed : str
        What was computed: ``diagram``, ``states``, ``rate``, ``ensemble``, or the name of a function.
    options : dict
        The options of the computation, as plain values.
    numbers : mapping of str to array
        Numbers, nan where they are not known, and texts, by name, of the shape of the values.
    tables : mapping of str to mapping of str to array
        Rows of different number by name, such as ``special_point``: for each column an array of the shape of the
        values and one more axis, nan or empty behind the last row. ``numbers`` has their number, such as
        ``special_point_count``.
    status : array of str
        ``complete``, ``failed`` or ``missing``, of the shape of the values.
    failure : array of str
        Why a value failed, empty elsewhere.
    outcome
        SWEPT, PARTIAL if values failed or are missing, or INTERRUPTED.
    warnings : tuple of str
        What a reader must know.
    provenance
        Versions, options and time.
    store : str
        The directory that holds the record of each value; empty if none does.
    files : array of str
        The file of each record within it; empty where there is none.
    """

    problem: Equation
    parameters: tuple[str, ...]
    values: tuple[Floats, ...]
    grid: bool
    computed: str
    options: dict[str, Any]
    numbers: Mapping[str, Any]
    tables: Mapping[str, Any]
    status: Any
    failure: Any
    outcome: Outcome
    warnings: tuple[str, ...] = ()
    provenance: dict[str, Any] = field(default_factory=dict)
    store: str = ""
    files: Any = None

    def __post_init__(self) -> None:
        """Make the arrays read-only."""
        for name, whole in (("numbers", self.numbers), ("tables", self.tables)):
            object.__setattr__(self, name, _fixed(whole))
        super().__post_init__()

    def __len__(self) -> int:
        return math.prod(self.shape)

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the values."""
        return tuple(value.size for value in self.values) if self.grid else self.values[0].shape

    @property
    def dimensions(self) -> tuple[str, ...]:
        """Names of the axes of the values: the columns of the parameters of a grid, else ``value``."""
        return self.parameter_columns if self.grid else ("value",)

    @property
    def parameter_columns(self) -> tuple[str, ...]:
        """The columns of the parameters: their names, with ``parameter_`` before that which another column has."""
        return parameter_columns(self.parameters, self.numbers, self.tables)

    @property
    def partial(self) -> bool:
        """Whether values failed or are missing."""
        return self.outcome is not Outcome.SWEPT

    @property
    def failures(self) -> tuple[str, ...]:
        """A sentence for each value that failed: the value and why."""
        return tuple(
            f"{self.named(index)}: {sentence}" for index, sentence in enumerate(self.failure.ravel()) if sentence
        )

    @property
    def title(self) -> str:
        """What was computed, of what."""
        return f"{self.computed} of {self.family}"

    @property
    def family(self) -> str:
        """The problem in words, with the parameters that were not swept, such as ``kuramoto on the circle``."""
        swept = {*self.parameters, *(["coupling"] if "relative_coupling" in self.parameters else [])}
        kept = [f"{name} = {value:.10g}" for name, value in self.problem.parameters.items() if name not in swept]
        return ", ".join([f"{self.problem.law.name} on {self.problem.domain.in_words}", *kept])

    def at(self, index: int) -> dict[str, float]:
        """Return the values of the parameters at an index, counted along the last axis first."""
        if not (is_whole(index) and 0 <= index < len(self)):
            raise InvalidInput(
                f"the sweep has {len(self)} values, 0 to {len(self) - 1}, and none of number {shown(index)}"
            )
        place = np.unravel_index(index, self.shape)
        numbers = place if self.grid else place * len(self.values)
        return {
            name: float(value[number])
            for name, value, number in zip(self.parameters, self.values, numbers, strict=True)
        }

    def named(self, index: int) -> str:
        """Return the values of the parameters at an index in words, such as ``beta = 2.5, noise = 1``."""
        return ", ".join(f"{name} = {value:.10g}" for name, value in self.at(index).items())

    def index(self, **values: float) -> int:
        """Return the index of the given values of the parameters.

        Raises
        ------
        InvalidInput
            If there are no such values; the message names the nearest.
        """
        unknown = next((name for name in values if name not in self.parameters), None)
        if unknown is not None or set(values) != set(self.parameters):
            raise InvalidInput(
                f"a value of this sweep is given by {', '.join(self.parameters)}, not by "
                f"{', '.join(values) or 'nothing'}; {did_you_mean(unknown or '', self.parameters)}"
                f"try index({', '.join(f'{name}={value:g}' for name, value in self.at(0).items())})"
            )
        distances = np.zeros(self.shape)
        for place, (name, axis) in enumerate(zip(self.parameters, self.values, strict=True)):
            away = np.abs(axis - values[name]) / max(np.max(np.abs(axis)), np.finfo(float).tiny)
            along = [1] * len(self.shape)
            along[place if self.grid else 0] = -1
            distances = np.maximum(distances, away.reshape(along))
        nearest = int(np.argmin(distances))
        if not distances.flat[nearest] <= TYPED:
            wanted = ", ".join(f"{name} = {value!r}" for name, value in values.items())
            raise InvalidInput(f"the sweep has no value {wanted}; the nearest is {self.named(nearest)}")
        return nearest

    def record(self, index: Annotated[int | None, ITSELF] = None, **values: float) -> Any:
        """Return the record of one value from the store, by its index or as ``record(beta=2.5)``.

        Returns
        -------
        Diagram, StationaryStates, Ensemble or another record

        Raises
        ------
        InvalidInput
            If there is none: the value failed or is missing, what was computed has numbers only, or nothing was
            stored.
        """
        number = self.index(**values) if index is None else index
        where = self.named(number)
        if self.files is None or not self.files.flat[number]:
            status = self.status.flat[number]
            reason = "it has numbers only" if status == COMPLETE else f"it is {status}"
            if not self.store:
                reason = "the sweep was not stored; give store='runs'"
            raise InvalidInput(f"there is no record at {where}: {reason} {self.failure.flat[number]}".rstrip())
        return self._through("export", "open_stored", self.files.flat[number])

    def quantity(self, name: str) -> Floats:
        """Return a quantity of every value, of their shape: a number, or the least in a column of a table.

        Raises
        ------
        InvalidInput
            If there is none of that name or it is a text; the message lists those there are.
        """
        known = self.quantities
        if name not in known:
            raise InvalidInput(
                f"the sweep has no quantity {shown(name)}; {did_you_mean(str(name), known)}"
                f"it has {', '.join(known) or 'none'}"
            )
        if name in self.numbers:
            return np.asarray(self.numbers[name], dtype=np.float64)
        table = next(each for each in self.tables if name.startswith(f"{each}_"))
        column = self.tables[table][name.removeprefix(f"{table}_")]
        least = np.min(column, axis=-1, initial=np.inf, where=~np.isnan(column))
        return np.where(np.isfinite(least), least, np.nan)

    @property
    def quantities(self) -> tuple[str, ...]:
        """Names of the quantities: the numbers, then the columns of numbers of the tables, ``TABLE_COLUMN``."""
        listed = {f"{each}_{name}": array for each, table in self.tables.items() for name, array in table.items()}
        return tuple(name for name, array in {**self.numbers, **listed}.items() if array.dtype.kind == "f")

    def rows(self) -> Iterator[dict[str, Any]]:
        """Yield the values as table rows: parameters, status, numbers and failure; None for what is not known."""
        for index in range(len(self)):
            yield {
                "value": index,
                **dict(zip(self.parameter_columns, self.at(index).values(), strict=True)),
                "status": str(self.status.flat[index]),
                **{name: _known(array.flat[index]) for name, array in self.numbers.items()},
                "failure": str(self.failure.flat[index]),
            }

    def table_rows(self, table: str) -> Iterator[dict[str, Any]]:
        """Yield the rows of a table of all values, behind the number and the parameters of the value.

        Raises
        ------
        InvalidInput
            If there is no such table; the message lists those there are.
        """
        if table not in self.tables:
            raise InvalidInput(
                f"the sweep has no table {shown(table)}; {did_you_mean(table, self.tables)}it has "
                f"{', '.join(self.tables) or 'none'}"
            )
        counts = self.numbers[f"{table}_count"].ravel()
        columns = {name: array.reshape(len(self), -1) for name, array in self.tables[table].items()}
        named = table_columns(self, table)[1 : 1 + len(self.parameters)]
        for index in range(len(self)):
            for row in range(int(np.nan_to_num(counts[index]))):
                place = dict(zip(named, self.at(index).values(), strict=True))
                yield (
                    {"value": index} | place | {name: _known(array[index, row]) for name, array in columns.items()}
                )

    def plot(self, y: str | None = None, ax: "Axes | None" = None, **style: Any) -> "Axes":
        """Draw quantities against the parameter, or one as a map over two parameters.

        Parameters
        ----------
        y
            One of ``quantities``; by default what is critical in diagrams, and the first number of the others.
        ax
            Axes to draw on; a new figure by default.
        **style
            Passed to the lines or the map.
        """
        return self._drawn("plot_sweep", y, ax, **style)

    def summary(self) -> str:
        """Return the sweep in words and a table of its numbers."""
        return "\n".join(_summary(self))


def _fixed(whole: Mapping[str, Any]) -> dict[str, Any]:
    return {
        name: _fixed(entry) if isinstance(entry, Mapping) else read_only(entry) for name, entry in whole.items()
    }


def _known(value: Any) -> Any:
    if isinstance(value, str):
        return str(value)
    return None if np.isnan(value) else float(value)


def _summary(sweep: Sweep) -> Iterator[str]:
    counts = {kind: int(np.count_nonzero(sweep.status == kind)) for kind in (COMPLETE, FAILED, MISSING)}
    yield sweep.title
    axes = [
        f"{name} at {value.size} values from {value.min():.10g} to {value.max():.10g}"
        for name, value in zip(sweep.parameters, sweep.values, strict=True)
    ]
    yield f"over {', '.join(axes)}"
    told = ", ".join(f"{count} {kind}" for kind, count in counts.items() if count)
    yield f"{len(sweep)} values: {told}" + (f", in {sweep.store}" if sweep.store else "")
    ranges = [(name, values.ravel()) for name, values in sweep.numbers.items() if values.dtype.kind == "f"]
    known = [(name, values[~np.isnan(values)]) for name, values in ranges]
    if any(values.size for _, values in known):
        width = max(len(name) for name, _ in known)
        yield ""
        yield f"  {'':{width}}  {'known':>6}  {'least':>14}  {'largest':>14}"
        for name, values in known:
            if values.size:
                yield f"  {name:{width}}  {values.size:6}  {values.min():14.8g}  {values.max():14.8g}"
    left_out = len(sweep.failures) - LISTED
    failures = [*sweep.failures[:LISTED], *([f"and {left_out} more"] if left_out > 0 else [])]
    for heading, sentences in (("Failures", failures), ("Warnings", sweep.warnings)):
        if sentences:
            yield from ("", heading, *(f"  - {sentence}" for sentence in sentences))
