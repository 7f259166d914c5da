"""Records of continuation: special points, branches and the whole diagram, plain arrays only."""

import dataclasses
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ..arguments import ITSELF, checked, shown
from ..base import Record, SavedRecord
from ..domains import Circle, Domain
from ..equations import Equation
from ..errors import InvalidInput, did_you_mean
from ..harmonics import Layout, Moments, modes_of, moment_columns, moments_of
from ..potentials import Number
from .columns import (
    COUPLING,
    PLACE_COLUMNS,
    POINT_AXIS_COLUMNS,
    RESULT_COLUMNS,
    SPECIAL_AXIS_COLUMNS,
    SPECIAL_COLUMNS,
    parameter_column,
    with_parameter,
)
from .observables import FREE_ENERGY_GAP, Observed, former_arguments
from .outcome import Outcome
from .point_types import PointType, point_type
from .state import State

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


def _of_axis(names: tuple[str, ...], domain: Domain) -> tuple[str, ...]:
    """Return names of moments, restricted to those that tables of a domain have."""
    return tuple(name for name in names if name[0] in modes_of(domain).columns)


@checked
@dataclass(frozen=True, eq=False, repr=False)
class SpecialPoint(Record):
    """A located event on a branch.

    Attributes
    ----------
    branch, point : int
        Index of the branch in the diagram and of the point on it.
    type
        ``branch point``, ``fold``, ``transition`` (equal free energy) or ``endpoint``.
    coupling, relative_coupling : float
        Where it is; relative to the smallest positive critical coupling, None if no such coupling exists.
    lower, upper : float
        An interval of the parameter of the diagram, by default the coupling, that contains the event.
    unstable_before, unstable_after : int or None
        Unstable directions on the two sides along the branch.
    kernel_dimension : int or None
        Dimension of the kernel of the linearisation on all densities, rotation excluded.
    status : str
        How the location ended.
    cosine, sine : (n + 1,) float
        Moments of the state at the point.
    description : str
        The event in words.
    layout : str
        ``"degree"``, moments by degree; ``"order"``, those of a density on S^2 by degree and order.
    domain
        The space of the density, that of the diagram which the point is in.
    problem : Equation or None
        That of the diagram which the point is in; None if it is in none.
    parameter : str
        The parameter of the diagram, ``coupling`` by default.
    parameter_value : float or None
        Its value, if it is not the coupling.
    other_cosine, other_sine : (n + 1,) float or None
        Those of the second clustered state of a transition; None if it is uniform, of another layout or unknown.
    """

    branch: int
    point: int
    type: PointType
    coupling: Number
    relative_coupling: float | None
    lower: Number
    upper: Number
    unstable_before: int | None
    unstable_after: int | None
    kernel_dimension: int | None
    status: str
    cosine: Floats
    sine: Floats
    description: str = ""
    layout: Layout = "degree"
    domain: Domain = field(default_factory=Circle)
    problem: Equation | None = None
    parameter: str = COUPLING
    parameter_value: Number | None = None
    other_cosine: Floats | None = None
    other_sine: Floats | None = None

    @property
    def value(self) -> Number:
        """The value of the parameter of the diagram."""
        return self.coupling if self.parameter_value is None else self.parameter_value

    @property
    def moments(self) -> Moments:
        """The moments with their modes."""
        return moments_of(self.domain, self.layout, self.cosine, self.sine)

    @property
    def m1(self) -> float:
        """Moment of degree one: with the cosine on the circle, on spheres the length of all, see :meth:`moment`."""
        return self.moment("m1")

    @property
    def m2(self) -> float:
        """Moment of degree two: with the cosine on the circle, on spheres the length of all, see :meth:`moment`."""
        return self.moment("m2")

    def moment(self, name: str) -> float:
        """Return the moment of a name of :mod:`meanfield.harmonics.moments`, such as ``m1``, or ``p2`` on spheres.

        Raises
        ------
        InvalidInput
            If no moment has that name.
        """
        return float(self.moments.named(name))

    def row(self) -> dict[str, Any]:
        """Return the point as a table row with the keys of ``SPECIAL_COLUMNS`` except the label of its branch.

        On spheres with those of ``SPECIAL_AXIS_COLUMNS``.
        """
        row = {key: getattr(self, key) for key in SPECIAL_COLUMNS if key != "branch_label"}
        if self.parameter != COUPLING:
            row[parameter_column(self.parameter)] = self.value
        return row | {name: self.moment(name) for name in _of_axis(SPECIAL_AXIS_COLUMNS, self.domain)}


@former_arguments(FREE_ENERGY_GAP)
@checked
@dataclass(frozen=True, eq=False, repr=False)
class Branch(Observed):
    """A curve of stationary states, P points with moments of degree 0 to n.

    Attributes
    ----------
    label : str
        The branch in words, such as ``uniform`` or ``2-cluster``.
    parent : int or None
        Index, among the diagram's special points, of the branch point it was born at.
    symmetry : int
        Every state is invariant under rotation by 2 pi/symmetry; on spheres 2 where every state is the same at
        antipodes, else 1; 0 for the uniform branch.
    coupling, relative_coupling : (P,) float
        The parameter; the relative one is nan where there is no positive critical coupling.
    cosine, sine : (P, n + 1) float
        Moments.
    arclength : (P,) float
        Length along the curve in moments and relative coupling.
    observables : mapping of str to (P,) float
        Numbers that not every equation has, by name, nan where not known: ``free_energy_gap`` where there is a
        free energy.
    residual : (P,) float
        Largest error of the self-consistency equation.
    unstable : (P,) int
        Unstable directions among all densities, rotation excluded; -1 where not counted.
    slowest_rate : (P,) float
        Slowest decay rate, rotation excluded (1/time); nan where not computed.
    modes : (P,) int
        Degree up to which the density was resolved.
    tangent_coupling : (P,) float
        Derivative of the coupling along the curve.
    tangent_cosine, tangent_sine : (P, n + 1) float
        Derivative of the moments along the curve.
    point_labels : tuple of str
        ``BP``, ``LP`` (fold), ``TR`` (transition), ``EP`` (end) or empty, one a point.
    outcome
        Why the trace ended.
    layout : str
        ``"degree"``, moments by degree; ``"order"``, those of densities on S^2 by degree and order.
    domain
        The space of the densities; a diagram sets it.
    parameter : str
        The parameter of the diagram, ``coupling`` by default.
    parameter_values, tangent_parameter : (P,) float or None
        Its values and their derivative along the curve, if it is not the coupling.
    """

    _along: ClassVar[str] = "coupling"

    label: str
    parent: int | None
    symmetry: int
    coupling: Floats
    relative_coupling: Floats
    cosine: Floats
    sine: Floats
    arclength: Floats
    observables: Mapping[str, Floats]
    unstable: Integers
    slowest_rate: Floats
    residual: Floats
    modes: Integers
    tangent_coupling: Floats
    tangent_cosine: Floats
    tangent_sine: Floats
    point_labels: tuple[str, ...]
    outcome: Outcome
    layout: Layout = "degree"
    domain: Domain = field(default_factory=Circle)
    parameter: str = COUPLING
    parameter_values: Floats | None = None
    tangent_parameter: Floats | None = None

    def __len__(self) -> int:
        return self.coupling.size

    @property
    def values(self) -> Floats:
        """(P,) values of the parameter of the diagram, by default the coupling."""
        return self.coupling if self.parameter_values is None else self.parameter_values

    @property
    def tangent_values(self) -> Floats:
        """(P,) derivative of the parameter along the curve."""
        return self.tangent_coupling if self.tangent_parameter is None else self.tangent_parameter

    @property
    def moments(self) -> Moments:
        """The moments with their modes, points along the first axis."""
        return moments_of(self.domain, self.layout, self.cosine, self.sine)

    @property
    def free_energy_gap(self) -> Floats:
        """(P,) (F - F_uniform)/D; refused where the equation has no free energy."""
        gaps: Floats = self.observable(FREE_ENERGY_GAP)
        return gaps

    @property
    def stable(self) -> NDArray[np.bool_]:
        """Whether no direction but rotation is unstable at each point, (P,)."""
        return np.equal(self.unstable, 0)

    def moment(self, degree: int) -> Floats:
        """Return the moments of a degree, (P,): with the cosine, about the axis, or the length over the orders."""
        return self.moments.signed(degree)


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
        branches = tuple(dataclasses.replace(branch, domain=domain) for branch in self.branches)
        points = tuple(
            dataclasses.replace(point, domain=domain, problem=_problem_along(self.problem, point))
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
            ``branch point`` (BP), ``fold`` (LP), ``transition`` (TR, equal free energy) or ``endpoint`` (EP); these
            abbreviations, plurals and the other names of the literature mean the same.
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
                    **_at(branch.observables, point),
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
        return places + self.observables + RESULT_COLUMNS + _of_axis(POINT_AXIS_COLUMNS, self.problem.domain)

    @property
    def special_columns(self) -> tuple[str, ...]:
        """Keys of the rows of special points: ``SPECIAL_COLUMNS``, on spheres with the moments about the axis."""
        columns = with_parameter(SPECIAL_COLUMNS, self.parameter)
        return columns + _of_axis(SPECIAL_AXIS_COLUMNS, self.problem.domain)

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
    whole = isinstance(value, (int, np.integer)) and not isinstance(value, bool)
    return whole and -size <= value < size


def _at(observables: Mapping[str, Floats], point: int) -> dict[str, float]:
    """Return the observables of one point of a branch."""
    return {name: float(values[point]) for name, values in observables.items()}


def _known(value: float) -> float | None:
    return None if np.isnan(value) else float(value)


def _problem_along(problem: Equation, point: SpecialPoint) -> Equation:
    """Return the problem of a special point, its coupling free, with the value of the parameter there."""
    if point.parameter_value is None:
        return problem
    return problem.with_parameter(point.parameter, float(point.parameter_value)).at(coupling=None)


def _problem_at(problem: Equation, branch: Branch, point: int) -> Equation:
    """Return the problem with the parameters of a point of a branch."""
    if branch.parameter_values is not None:
        problem = problem.with_parameter(branch.parameter, float(branch.parameter_values[point]))
    return problem.at(coupling=branch.coupling[point])


def state_at(problem: Equation, branch: Branch, point: int) -> State:
    """Return the density at a point of a branch as a state, its coupling in the precision of the branch."""
    return State(
        problem=_problem_at(problem, branch, point),
        cosine=branch.cosine[point],
        sine=branch.sine[point],
        observables=_at(branch.observables, point),
        unstable=None,
        symmetry=branch.symmetry,
        residual=float(branch.residual[point]),
        modes=int(branch.modes[point]),
        layout=branch.layout,
    )
