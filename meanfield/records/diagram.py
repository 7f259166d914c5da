"""The record of a diagram: its branches and their special points."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
from numpy.typing import NDArray

from ..arguments import ITSELF, checked, is_whole, shown
from ..base import SavedRecord
from ..equations import Equation
from ..errors import InvalidInput, did_you_mean
from ..harmonics import moment_columns
from ..potentials import Number
from .branch import Branch, SpecialPoint, observables_at, state_at
from .columns import (
    COUPLING,
    PLACE_COLUMNS,
    POINT_AXIS_COLUMNS,
    RESULT_COLUMNS,
    SPECIAL_AXIS_COLUMNS,
    SPECIAL_COLUMNS,
    of_axis,
    parameter_column,
    with_parameter,
)
from .point_types import point_type
from .state import State

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


@checked
@dataclass(frozen=True, eq=False, repr=False)
class Diagram(SavedRecord):
    """A bifurcation diagram in the coupling, or in another parameter.

    Attributes
    ----------
    problem
        The equation, with its coupling free; in another parameter with the value that this had.
    interval : (float, float)
        Range of the parameter covered.
    critical_coupling : float or None
        Smallest positive coupling at which the uniform state loses stability; None in another parameter.
    branches, special_points
        The curves and the events on them.
    warnings : tuple of str
        Everything a reader must know before trusting the diagram: unexplained changes of the unstable
        count, refused branches, limits that were reached. Empty when there is nothing to say.
    provenance
        Version, options, command and time of the computation.
    parameter : str
        The name of the parameter, one of ``problem.parameters``, ``coupling`` by default.
    """

    problem: Equation
    interval: tuple[Number, Number]
    critical_coupling: Number | None
    branches: tuple[Branch, ...]
    special_points: tuple[SpecialPoint, ...]
    warnings: tuple[str, ...] = ()
    provenance: dict[str, Any] = field(default_factory=dict)
    parameter: str = COUPLING

    def __post_init__(self) -> None:
        # So that they can name their moments, and points start curves of their own.
        domain = self.problem.domain
        branches = tuple(
            branch if branch.domain == domain else branch._changed(domain=domain) for branch in self.branches
        )
        points = tuple(
            point._changed(domain=domain, problem=_problem_along(self.problem, point))
            for point in self.special_points
        )
        object.__setattr__(self, "branches", branches)
        object.__setattr__(self, "special_points", points)
        super().__post_init__()

    @property
    def observables(self) -> tuple[str, ...]:
        """Names of the observables that any of the branches has."""
        return tuple(dict.fromkeys(name for branch in self.branches for name in branch.observables))

    def branch(self, label: Annotated[int | str, ITSELF]) -> Branch:
        """Return the branch with the given label or index.

        Raises
        ------
        InvalidInput
            If there is no such branch; the message lists those there are.
        """
        labels = [branch.label for branch in self.branches]
        if isinstance(label, str) and label in labels:
            return self.branches[labels.index(label)]
        if is_index(label, len(labels)):
            return self.branches[int(label)]
        near = did_you_mean(label, labels) if isinstance(label, str) else ""
        raise InvalidInput(
            f"no branch is labelled {shown(label)}; {near}the diagram has {', '.join(map(repr, labels)) or 'none'}"
        )

    def events(
        self, type: Annotated[str | None, ITSELF] = None, branch: Annotated[int | str | None, ITSELF] = None
    ) -> list[SpecialPoint]:
        """Return the special points of one type, on one branch, or all of them.

        Parameters
        ----------
        type
            ``branch point`` (BP), ``fold`` (LP), ``Hopf`` (HB), ``transition`` (TR, equal free energy) or
            ``endpoint`` (EP); these abbreviations, plurals and the other names of the literature mean the same.
        branch
            Label or index of the branch.

        Raises
        ------
        InvalidInput
            If there is no such type or branch.
        """
        wanted = None if type is None else point_type(type)
        curve = None if branch is None else self.branch(branch)
        return [
            point
            for point in self.special_points
            if wanted in (None, point.type) and (curve is None or self.branches[point.branch] is curve)
        ]

    def state(self, branch: Annotated[int | str, ITSELF], point: Annotated[int, ITSELF]) -> State:
        """Return one point of one branch as a :class:`State`.

        Raises
        ------
        InvalidInput
            If there is no such branch or point.
        """
        curve = self.branch(branch)
        if not is_index(point, len(curve)):
            raise InvalidInput(
                f"the branch {curve.label!r} has {len(curve)} points and none of number {shown(point)}; "
                f"give one from 0 to {len(curve) - 1}, or from the end with -1"
            )
        count, rate = int(curve.unstable[point]), float(curve.slowest_rate[point])
        return state_at(self.problem, curve, point).replace(
            unstable=None if count < 0 else count,
            label=curve.label,
            slowest_rate=None if np.isnan(rate) else rate,
            provenance=self.provenance,
        )

    def point_rows(self) -> Iterator[dict[str, Any]]:
        """Yield the points of all branches as table rows with the keys of ``point_columns``."""
        names, columns = moment_columns(self.problem.domain), self.point_columns
        varied = parameter_column(self.parameter) if self.parameter != COUPLING else COUPLING
        for index, branch in enumerate(self.branches):
            moments = {name: branch.moments.named(name) for name in names}
            for point in range(len(branch)):
                row = {
                    "branch": index,
                    "point": point,
                    "coupling": branch.coupling[point],
                    varied: branch.values[point],
                    "relative_coupling": _known(branch.relative_coupling[point]),
                    **{name: float(values[point]) for name, values in moments.items()},
                    **observables_at(branch.observables, point),
                    "unstable": None if branch.unstable[point] < 0 else int(branch.unstable[point]),
                    "slowest_rate": _known(branch.slowest_rate[point]),
                    "residual": float(branch.residual[point]),
                    "modes": int(branch.modes[point]),
                    "label": branch.point_labels[point],
                    "branch_label": branch.label,
                }
                yield {name: row.get(name) for name in columns}

    def special_rows(self) -> Iterator[dict[str, Any]]:
        """Yield the special points as table rows with the keys of ``special_columns``."""
        columns = self.special_columns
        for point in self.special_points:
            row = point.row() | {"branch_label": self.branches[point.branch].label}
            yield {name: row[name] for name in columns}

    @property
    def point_columns(self) -> tuple[str, ...]:
        """Keys of the rows of points: place, observables, the rest, on spheres also the moments about the axis."""
        places = with_parameter(PLACE_COLUMNS, self.parameter)
        return places + self.observables + RESULT_COLUMNS + of_axis(POINT_AXIS_COLUMNS, self.problem.domain)

    @property
    def special_columns(self) -> tuple[str, ...]:
        """Keys of the rows of special points: ``SPECIAL_COLUMNS``, on spheres with the moments about the axis."""
        columns = with_parameter(SPECIAL_COLUMNS, self.parameter)
        return columns + of_axis(SPECIAL_AXIS_COLUMNS, self.problem.domain)

    def plot(self, y: str | None = None, ax: "Axes | None" = None, **style: Any) -> "Axes":
        """Draw the diagram: stable solid, unstable dashed, special points by marker.

        Parameters
        ----------
        y
            A moment ``m1``, ``m2``, ..., on spheres also ``p1``, ``p2``, ... about the north pole; ``norm``,
            ``amplitude``, ``slowest_rate`` or an observable such as ``free_energy_gap``. By default the amplitude;
            on spheres the moment about the pole of the degree that becomes critical first, if only the uniform
            branch lies on zero there.
        ax
            Axes to draw on; a new figure by default. Diagrams that share axes are told apart by colour and legend.
        **style
            ``legend`` and ``labels``, whether there are any, ``label``, the name in the legend, and what
            matplotlib's lines take.
        """
        return self._drawn("plot_diagram", y, ax, **style)

    def plot_panels(self) -> "Figure":
        """Draw amplitude, free energy, slowest rate and densities in one figure."""
        figure: Figure = self._through("plotting", "plot_panels")
        return figure

    def summary(self) -> str:
        """Return the branches and special points as a readable tree."""
        text: str = self._through("summary", "summarise")
        return text

    def to_npz(self, path: str | Path, *, force: bool = False) -> tuple[Path, ...]:
        """Write a compressed archive of numpy arrays; bit-exact."""
        return self._saved(path, "npz", force)

    def to_mat(self, path: str | Path, *, force: bool = False) -> tuple[Path, ...]:
        """Write a MATLAB file in the layout of MatCont (x, v, s, h, f) with named fields."""
        return self._saved(path, "mat", force)

    def to_auto(self, path: str | Path, *, force: bool = False) -> tuple[Path, ...]:
        """Write AUTO-07p files, with the equations and the constants of a run."""
        return self._saved(path, "auto", force)


def is_index(value: Any, size: int) -> bool:
    """Return whether a value is a place in a sequence of a size, also one from its end."""
    return is_whole(value) and bool(-size <= value < size)


def _known(value: float) -> float | None:
    return None if np.isnan(value) else float(value)


def _problem_along(problem: Equation, point: SpecialPoint) -> Equation:
    """Return the problem of a special point, its coupling free, with the value of the parameter there."""
    if point.parameter_value is None:
        return problem
    return problem.with_parameter(point.parameter, float(point.parameter_value)).at(coupling=None)
