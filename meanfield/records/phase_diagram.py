"""Records of phase diagrams: the curves in a window of two parameters, and the regions between them."""

import dataclasses
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_args

import numpy as np
from numpy.typing import NDArray

from ..arguments import ITSELF, checked, shown
from ..base import Record, SavedRecord, read_only
from ..equations import Equation
from ..errors import InvalidInput, did_you_mean
from ..harmonics import moment_columns
from ..wording import describe_over
from .columns import COUPLING, parameter_column
from .curves import Curve, OrganisingPoint, OrganisingType
from .diagram import is_index
from .heights import RelativeHeights

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
# What a region is in which nothing settles at a stationary state.
NO_STABLE_STATE = "no stable state"
# The columns of tables of curves, between which those of the place, moments and observables stand.
CURVE_COLUMNS = ("curve", "type", "point")
CURVE_RESULTS = ("unstable", "residual", "modes", "label", "curve_label")


@checked
@dataclass(frozen=True, eq=False, repr=False)
class Region(Record):
    """A part of the window with one minimiser and one number of stable states.

    Attributes
    ----------
    minimiser : str
        Label of the state of lowest free energy, such as ``uniform`` or ``1-cluster``; empty where not known. Of
        laws without a free energy the labels of all stable states, as ``uniform and prolate``.
    stable : int or None
        Number of stable states up to symmetry; None where not known.
    first : (S,) float
        Values of the first parameter across strips.
    lower, upper : (S,) float
        Ends of the strips in units of the window, the coupling or the relative one.
    strip : (S,) int
        The number of the strip, from 0: the region is the union of all strips.
    area : float
        Its share of the area of the window.
    point : (float, float) or None
        A random point inside, in units of the window; None where the region is too thin for one.
    found_minimiser : str
        Label of the lowest state that :func:`solvers.stationary_states` found there, empty where not computed.
    found_stable : int or None
        The number of stable states found there; None where not computed.
    agrees : bool or None
        Whether both agree with those of the curves; None where not computed.
    """

    minimiser: str
    stable: int | None
    first: Floats
    lower: Floats
    upper: Floats
    strip: Integers
    area: float
    point: tuple[float, float] | None = None
    found_minimiser: str = ""
    found_stable: int | None = None
    agrees: bool | None = None

    @property
    def phase(self) -> str:
        """The minimiser, ``no stable state`` where none is, and the empty text where that is not known."""
        return NO_STABLE_STATE if self.stable == 0 else self.minimiser

    @property
    def name(self) -> str:
        """The region in words, such as ``1-cluster, 2 stable states``."""
        if self.stable == 0:
            return NO_STABLE_STATE
        count = "an unknown number of" if self.stable is None else str(self.stable)
        return f"{self.minimiser or 'unknown'}, {count} stable state{'' if self.stable == 1 else 's'}"

    def strips(self) -> Iterator[tuple[Floats, Floats, Floats]]:
        """Yield first parameter, lower and upper ends of every strip."""
        yield from self._strips

    @cached_property
    def _strips(self) -> tuple[tuple[Floats, Floats, Floats], ...]:
        every = (self.strip == number for number in np.unique(self.strip))
        return tuple(
            tuple(read_only(whole[own]) for whole in (self.first, self.lower, self.upper)) for own in every
        )

    def contains(self, first: float, height: float) -> bool:
        """Return whether a point, in units of the window, is in the region or on its boundary."""
        return any(
            bool(x[0] <= first <= x[-1] and np.interp(first, x, lower) <= height <= np.interp(first, x, upper))
            for x, lower, upper in self.strips()
        )


@checked
@dataclass(frozen=True, eq=False, repr=False)
class PhaseDiagram(SavedRecord):
    """A phase diagram in one parameter and the coupling.

    Attributes
    ----------
    problem
        The equation, with its coupling free.
    parameter : str
        The first parameter.
    interval : (float, float)
        Its range.
    unit : str
        What the window measures upwards: ``"coupling"`` or ``"relative_coupling"``, in units of the smallest
        positive critical coupling at each value of the parameter.
    window : (float, float)
        The range of that.
    curves : tuple of Curve
        All curves of special points in the window.
    origins : tuple of str
        For each curve from where it was found.
    special_points : tuple of OrganisingPoint
        The organising points in the window.
    regions : tuple of Region
        The regions, the largest first.
    warnings : tuple of str
        Everything a reader must know before trusting the diagram; empty when there is nothing to say.
    provenance
        Version, options, command and time of the computation.
    """

    problem: Equation
    parameter: str
    interval: tuple[float, float]
    unit: str
    window: tuple[float, float]
    curves: tuple[Curve, ...]
    origins: tuple[str, ...]
    special_points: tuple[OrganisingPoint, ...]
    regions: tuple[Region, ...]
    warnings: tuple[str, ...] = ()
    provenance: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        # So that they can name their moments, and start curves of their own.
        points = tuple(
            dataclasses.replace(point, domain=self.problem.domain, problem=self._problem_at(point))
            for point in self.special_points
        )
        object.__setattr__(self, "special_points", points)
        super().__post_init__()

    def curve(self, label: Annotated[int | str, ITSELF]) -> Curve:
        """Return the curve with the given label or index.

        Raises
        ------
        InvalidInput
            If there is no such curve; the message lists those there are.
        """
        labels = [curve.label for curve in self.curves]
        if isinstance(label, str) and label in labels:
            return self.curves[labels.index(label)]
        if is_index(label, len(labels)):
            return self.curves[int(label)]
        near = did_you_mean(label, labels) if isinstance(label, str) else ""
        raise InvalidInput(
            f"no curve is labelled {shown(label)}; {near}the diagram has {', '.join(map(repr, labels)) or 'none'}"
        )

    def events(self, type: Annotated[str | None, ITSELF] = None) -> list[OrganisingPoint]:
        """Return the organising points of one type, or all of them.

        Raises
        ------
        InvalidInput
            If there is no such type.
        """
        known = get_args(OrganisingType)
        if type is not None and not (isinstance(type, str) and type in known):
            hint = did_you_mean(type, known) if isinstance(type, str) else ""
            raise InvalidInput(f"no organising point is called {shown(type)}; {hint}there are {', '.join(known)}")
        return [point for point in self.special_points if type in (None, point.type)]

    def region_at(self, first: float, height: float) -> Region | None:
        """Return the region of a point, in units of the window; None outside of it."""
        return next((region for region in self.regions if region.contains(first, height)), None)

    def heights(self, curve: Curve) -> Floats:
        """Return the points of a curve in units of the window, (P,)."""
        return (
            curve.relative_coupling if self.unit == "relative_coupling" else np.asarray(curve.coupling, dtype=float)
        )

    def track(self, curve: Curve) -> Floats:
        """Return points on a curve, (n, 2), parameter and height, more of them than it has itself."""
        return self._relative_heights.track(curve) if self.unit == "relative_coupling" else curve.track

    @cached_property
    def _relative_heights(self) -> RelativeHeights:
        kinks = [
            float(point.values[0])
            for point in self.special_points
            if point.type == "mode interaction" and not (np.any(point.cosine[1:]) or np.any(point.sine[1:]))
        ]
        return RelativeHeights(self.problem, self.parameter, tuple(kinks))

    def height(self, point: OrganisingPoint) -> float:
        """Return an organising point in units of the window, nan where that is not known."""
        value = point.relative_coupling if self.unit == "relative_coupling" else point.coupling
        return float("nan") if value is None else float(value)

    @property
    def curve_columns(self) -> tuple[str, ...]:
        """Keys of the rows of curves."""
        return curve_columns(self.curves, (self.parameter, "coupling"))

    @property
    def special_columns(self) -> tuple[str, ...]:
        """Keys of the rows of organising points."""
        return special_columns((self.parameter, "coupling"))

    def curve_rows(self) -> Iterator[dict[str, Any]]:
        """Yield the points of all curves as table rows with the keys of ``curve_columns``."""
        return curve_rows(self.curves)

    def special_rows(self) -> Iterator[dict[str, Any]]:
        """Yield the organising points as table rows with the keys of ``special_columns``."""
        return map(special_row, self.special_points)

    def summary(self) -> str:
        """Return curves, organising points and regions as readable lines."""
        low, high = self.interval
        name = "coupling" if self.unit == "coupling" else "relative coupling"
        lines = [
            describe_over(self.problem, self.parameter, self.interval),
            f"{self.parameter} from {low:g} to {high:g}, {name} from {self.window[0]:g} to {self.window[1]:g}",
            "",
            "curves",
        ]
        for curve, origin in zip(self.curves, self.origins, strict=True):
            first = np.asarray(curve.first)
            lines.append(f"  {curve.label}: {self.parameter} = {first.min():.8g} .. {first.max():.8g}, {origin}")
        lines += ["organising points"] if self.special_points else []
        lines += [f"  {point.summary()}" for point in self.special_points]
        lines.append("regions")
        for region in self.regions:
            lines.append(f"  {region.name}: {100 * region.area:.3g} % of the window, {_confirmation(region)}")
        if self.warnings:
            lines += ["warnings", *(f"  - {warning}" for warning in self.warnings)]
        return "\n".join(lines)

    def plot(self, ax: "Axes | None" = None, **style: Any) -> "Axes":
        """Draw regions, curves and organising points; see :func:`meanfield.plotting.plot_phase_diagram`."""
        return self._drawn("plot_phase_diagram", ax, **style)

    def to_auto(self, path: str | Path, *, force: bool = False) -> tuple[Path, ...]:
        """Write the curves as AUTO-07p files in two parameters, with the equations and the constants of a run."""
        return self._saved(path, "auto", force)

    def _problem_at(self, point: OrganisingPoint) -> Equation:
        """Return the equation at an organising point."""
        problem = self.problem.at(coupling=point.coupling)
        return problem.with_parameter(self.parameter, float(point.values[0]))


def _confirmation(region: Region) -> str:
    """Return in words whether a region is confirmed, and what disagrees if it is not."""
    at = "" if region.point is None else f" at ({region.point[0]:.6g}, {region.point[1]:.6g})"
    if region.agrees is None:
        return f"not examined{at}"
    if region.agrees:
        return f"confirmed{at}"
    if region.found_stable is None:
        return "NOT CONFIRMED: diagrams inside it differ, and no search examined it"
    if (region.found_minimiser, region.found_stable) == (region.minimiser, region.stable):
        return f"NOT CONFIRMED: diagrams inside it differ, although a search agrees{at}"
    return f"NOT CONFIRMED{at}"


def curve_columns(curves: Sequence[Curve], parameters: tuple[str, ...] = ()) -> tuple[str, ...]:
    """Return the keys of the rows of curves: what and where, moments, observables and how it was computed."""
    moments = moment_columns(curves[0].problem.domain) if curves else ()
    observables = dict.fromkeys(name for curve in curves for name in curve.observables)
    return (
        *CURVE_COLUMNS,
        *_places(curves[0].parameters if curves else parameters, tuple(observables)),
        *moments,
        *observables,
        *CURVE_RESULTS,
    )


def special_columns(parameters: tuple[str, ...]) -> tuple[str, ...]:
    """Return the keys of the rows of organising points in two parameters."""
    return ("type", *_places(parameters), "lower", "upper", "status")


def curve_rows(curves: Sequence[Curve]) -> Iterator[dict[str, Any]]:
    """Yield the points of curves as table rows with the keys of :func:`curve_columns`."""
    columns = curve_columns(curves)
    for index, curve in enumerate(curves):
        moments = {name: curve.moments.named(name) for name in moment_columns(curve.problem.domain)}
        for point in range(len(curve)):
            row = {
                "curve": index,
                "type": curve.type,
                "point": point,
                **_place(curve.parameters, curve.values[point], tuple(curve.observables)),
                "coupling": curve.coupling[point],
                "relative_coupling": float(curve.relative_coupling[point]),
                **{name: float(values[point]) for name, values in moments.items()},
                **{name: float(values[point]) for name, values in curve.observables.items()},
                "unstable": None if curve.unstable[point] < 0 else int(curve.unstable[point]),
                "residual": float(curve.residual[point]),
                "modes": int(curve.modes[point]),
                "label": curve.point_labels[point],
                "curve_label": curve.label,
            }
            yield {name: row.get(name) for name in columns}


def special_row(point: OrganisingPoint) -> dict[str, Any]:
    """Return an organising point as a table row with the keys of :func:`special_columns`."""
    names = ("type", "coupling", "relative_coupling", "lower", "upper", "status")
    row = _place(point.parameters, point.values) | {name: getattr(point, name) for name in names}
    return {name: row[name] for name in special_columns(point.parameters)}


def _places(parameters: tuple[str, ...], observables: tuple[str, ...] = ()) -> tuple[str, ...]:
    """Return the columns of the place of a point: the parameters, the coupling among them or behind."""
    own = [parameter_column(name, observables) for name in parameters if name != COUPLING]
    return (*own, COUPLING, "relative_coupling")


def _place(parameters: tuple[str, ...], values: Floats, observables: tuple[str, ...] = ()) -> dict[str, float]:
    """Return the parameters of a point other than the coupling by their columns."""
    named = zip(parameters, map(float, values), strict=True)
    return {parameter_column(name, observables): value for name, value in named if name != COUPLING}
