"""Records of two parameters: curves of special points, and the points at which curves begin, end and meet."""

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from ..arguments import ITSELF, checked, shown
from ..base import Record, SavedRecord, brief
from ..domains import Circle, Domain
from ..equations import Equation
from ..errors import InvalidInput
from ..harmonics import Layout, Moments, moments_of
from ..potentials import Number
from .diagram import is_index
from .observables import FREE_ENERGY_GAP, Observed
from .outcome import Outcome
from .state import State

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
CurveType = Literal["threshold", "fold", "transition", "branch point", "Hopf"]
OrganisingType = Literal["tricritical", "cusp", "mode interaction", "triple point", "end point", "Bogdanov-Takens"]
# What stands for 0 where a parameter that is 0 would not be one.
_ROUNDING = float(np.finfo(float).eps)
# Values of the first parameter are the same up to this share of the interval.
SAME_VALUE = 1e-9
# The points of a summary that are not organising points: the first and the last.
_WIDTH = 12
# Points between two points of a curve where it is smoothed.
FINER = 12


@checked
@dataclass(frozen=True, eq=False, repr=False)
class OrganisingPoint(Record):
    """A point of the plane of two parameters at which curves of special points begin, end or meet.

    Attributes
    ----------
    type
        ``tricritical``, where a fold curve and a first-order line leave a threshold; ``cusp``, where two fold
        curves end in each other; ``mode interaction``, where two thresholds cross, a fold and a branch point of a
        branch meet, or branches born in several directions are alike; ``triple point``, where three states have
        equal free energy; ``end point``, where a first-order line ends; ``Bogdanov-Takens``, where a curve of Hopf
        bifurcations, at which oscillations are born, ends in one of densities with a current or of waves.
    parameters : (str, str)
        The names of the two parameters.
    values : (2,) float
        The two parameters.
    coupling : float
        The coupling, one of the two or fixed.
    relative_coupling : float or None
        The coupling over the smallest positive critical one at these parameters; None if there is none.
    lower, upper : float
        An interval of the first parameter that contains the point.
    status : str
        How the location ended: ``converged``, if that interval is at rounding level, or ``guess``.
    curves : tuple of str
        Labels of the curves through it.
    cosine, sine : (n + 1,) float
        Moments of the state; at the uniform state zeros behind the mass 1.
    other_cosine, other_sine : (S, n + 1) float or None
        Moments of the S further states of equal free energy: two at a triple point, one where a first-order line
        passes the point; None elsewhere, and in files written without them.
    description : str
        The point in words.
    layout : str
        ``"degree"``, moments by degree; ``"order"``, those of a density on S^2 by degree and order.
    domain
        The space of the density, that of the curve which the point is on.
    problem : Equation or None
        The equation at the two parameters; None if the point is in no record of curves.
    """

    type: OrganisingType
    parameters: tuple[str, str]
    values: Floats
    coupling: Number
    relative_coupling: float | None
    lower: Number
    upper: Number
    status: str
    curves: tuple[str, ...]
    cosine: Floats
    sine: Floats
    description: str = ""
    layout: Layout = "degree"
    domain: Domain = field(default_factory=Circle)
    problem: Equation | None = None
    other_cosine: Floats | None = None
    other_sine: Floats | None = None

    @property
    def moments(self) -> Moments:
        """The moments with their modes."""
        return moments_of(self.domain, self.layout, self.cosine, self.sine)

    def summary(self) -> str:
        """Return the point in one line."""
        first, second = (f"{name} = {value:.12g}" for name, value in zip(self.parameters, self.values, strict=True))
        width = max(float(self.upper) - float(self.lower), 0.0)
        return f"{self.type} at {first} (known to {width:.1g}), {second}: {self.status}"


@checked
@dataclass(frozen=True, eq=False, repr=False)
class CurvePoint(Record):
    """A point of a curve of special points, from which other curves can be followed.

    Attributes
    ----------
    problem
        The equation at the two parameters.
    type
        The type of the curve.
    parameters : (str, str)
        The names of the two parameters.
    cosine, sine : (n + 1,) float
        Moments of the state.
    other_cosine, other_sine : (n + 1,) float or None
        Moments of the second state of a transition; None if that is the uniform one, and for other curves.
    layout : str
        The layout of the moments.
    """

    problem: Equation
    type: CurveType
    parameters: tuple[str, str]
    cosine: Floats
    sine: Floats
    other_cosine: Floats | None = None
    other_sine: Floats | None = None
    layout: Layout = "degree"

    @property
    def coupling(self) -> float:
        """The coupling at the point."""
        return self.problem.fixed_coupling


@checked
@dataclass(frozen=True, eq=False, repr=False)
class Curve(SavedRecord, Observed):
    """A curve of special points in the plane of two parameters, P points with moments of degree 0 to n.

    Attributes
    ----------
    problem
        The equation, both parameters as they were at the start.
    label : str
        The curve in words, such as ``fold of the 1-cluster``.
    type
        ``threshold``, ``fold``, ``transition`` (equal free energy of two states), ``branch point`` or ``Hopf``.
    parameters : (str, str)
        The names of the first parameter, which covers the interval, and the second.
    interval : (float, float)
        Range of the first parameter covered.
    values : (P, 2) float
        The two parameters at each point.
    coupling, relative_coupling : (P,) float
        The coupling, one of the two or fixed; the relative one is nan where there is no positive critical coupling.
    cosine, sine : (P, n + 1) float
        Moments of the state.
    other_cosine, other_sine : (P, n + 1) float or None
        Moments of the second state of a transition; None if that is the uniform one, and for other curves.
    observables : mapping of str to (P,) float
        Numbers that not every equation has, by name: ``free_energy_gap`` where there is a free energy.
    residual : (P,) float
        Largest error of the equations of the states and of the condition that they are special.
    unstable : (P,) int
        Directions unstable on both sides of the point, rotation excluded; -1 where not counted.
    modes : (P,) int
        Degree up to which the density was resolved.
    arclength : (P,) float
        Length along the curve in moments, relative coupling and relative parameter.
    tangent : (P, 2) float
        Derivatives of the two parameters along the curve.
    point_labels : tuple of str
        The type of the organising point at a point, ``EP`` at an end, or empty, one a point.
    special_points : tuple of OrganisingPoint
        The organising points on the curve.
    outcome
        Why the curve ended: at the end of larger arclength.
    symmetry, other_symmetry : int
        Symmetry of the state and of the second, as a branch has it; None if there is no second.
    warnings : tuple of str
        Everything a reader must know before trusting the curve; empty when there is nothing to say.
    layout : str
        ``"degree"``, moments by degree; ``"order"``, those of densities on S^2 by degree and order.
    first_outcome
        Why it ended at the end of smaller arclength.
    provenance
        Version, options, command and time of the computation.
    """

    _along: ClassVar[str] = "coupling"

    problem: Equation
    label: str
    type: CurveType
    parameters: tuple[str, str]
    interval: tuple[Number, Number]
    values: Floats
    coupling: Floats
    relative_coupling: Floats
    cosine: Floats
    sine: Floats
    observables: Mapping[str, Floats]
    residual: Floats
    unstable: Integers
    modes: Integers
    arclength: Floats
    tangent: Floats
    point_labels: tuple[str, ...]
    outcome: Outcome
    symmetry: int = 1
    other_symmetry: int | None = None
    other_cosine: Floats | None = None
    other_sine: Floats | None = None
    special_points: tuple[OrganisingPoint, ...] = ()
    warnings: tuple[str, ...] = ()
    layout: Layout = "degree"
    first_outcome: Outcome = Outcome.LEFT_INTERVAL
    provenance: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        known = tuple(
            dataclasses.replace(point, domain=self.problem.domain, problem=self._problem_about(point.values))
            for point in self.special_points
        )
        object.__setattr__(self, "special_points", known)
        super().__post_init__()

    def __len__(self) -> int:
        return self.coupling.size

    def __repr__(self) -> str:
        shown = {name: getattr(self, name) for name in ("label", "type", "parameters", "interval", "outcome")}
        counts = {"points": len(self), "special_points": len(self.special_points), "warnings": len(self.warnings)}
        return f"Curve({', '.join(f'{name}={brief(value)}' for name, value in (shown | counts).items())})"

    @property
    def first(self) -> Floats:
        """(P,) the first parameter."""
        return np.asarray(self.values[:, 0])

    @property
    def second(self) -> Floats:
        """(P,) the second parameter."""
        return np.asarray(self.values[:, 1])

    @property
    def slope(self) -> Floats:
        """(P,) derivative of the second parameter in the first; nan where the curve is vertical."""
        first, second = self.tangent.T
        return np.asarray(np.divide(second, first, out=np.full(first.shape, np.nan), where=first != 0.0))

    @property
    def vertical(self) -> bool:
        """Whether the first parameter is the same at all points, up to a share of 1e-9 of the interval."""
        return bool(np.ptp(self.first) <= SAME_VALUE * (self.interval[1] - self.interval[0]))

    @property
    def moments(self) -> Moments:
        """The moments with their modes, points along the first axis."""
        return moments_of(self.problem.domain, self.layout, self.cosine, self.sine)

    @property
    def free_energy_gap(self) -> Floats:
        """(P,) (F - F_uniform)/D; refused where the equation has no free energy."""
        gaps: Floats = self.observable(FREE_ENERGY_GAP)
        return gaps

    @property
    def track(self) -> Floats:
        """(n, 2) points on the curve, more than it has itself, by cubics through these along its tangents."""
        return smooth(self.arclength, self.values, self.tangent)

    def moment(self, degree: int) -> Floats:
        """Return the moments of a degree, (P,): with the cosine, about the axis, or the length over the orders."""
        return self.moments.signed(degree)

    def state(self, point: Annotated[int, ITSELF], *, other: bool = False) -> State:
        """Return the state at a point of the curve.

        Parameters
        ----------
        point
            From 0, or from the end with -1.
        other
            Whether to return the second state of a transition.

        Raises
        ------
        InvalidInput
            If there is no such point, or the curve has no second state.
        """
        self._require_point(point)
        if other and (self.other_cosine is None or self.other_sine is None):
            only = "the other is the uniform one" if self.type == "transition" else "only transitions have another"
            raise InvalidInput(f"the points of {self.label!r} have one state each: {only}; leave out other=True")
        cosine, sine = (self.other_cosine, self.other_sine) if other else (self.cosine, self.sine)
        assert cosine is not None
        assert sine is not None
        gap = {name: float(values[point]) for name, values in self.observables.items()}
        return State(
            problem=self._problem_at(self.values[point]),
            cosine=cosine[point],
            sine=sine[point],
            observables=gap,
            unstable=None,
            symmetry=self.other_symmetry if other and self.other_symmetry is not None else self.symmetry,
            residual=float(self.residual[point]),
            modes=int(self.modes[point]),
            label=self.label,
            layout=self.layout,
            provenance=self.provenance,
        )

    def point(self, point: Annotated[int, ITSELF]) -> CurvePoint:
        """Return a point of the curve, from which other curves can be followed.

        Raises
        ------
        InvalidInput
            If there is no such point.
        """
        self._require_point(point)
        return CurvePoint(
            problem=self._problem_about(self.values[point]),
            type=self.type,
            parameters=self.parameters,
            cosine=self.cosine[point],
            sine=self.sine[point],
            other_cosine=None if self.other_cosine is None else self.other_cosine[point],
            other_sine=None if self.other_sine is None else self.other_sine[point],
            layout=self.layout,
        )

    def plot(self, ax: "Axes | None" = None, **style: Any) -> "Axes":
        """Draw the curve in the plane of its two parameters; see :func:`meanfield.plotting.plot_curve`."""
        return self._drawn("plot_curve", ax, **style)

    def to_auto(self, path: str | Path, *, force: bool = False) -> tuple[Path, ...]:
        """Write AUTO-07p files in two parameters, with the equations and the constants of a run."""
        return self._saved(path, "auto", force)

    def summary(self) -> str:
        """Return the curve, its ends, its organising points and its warnings as readable lines."""
        first, second = self.parameters
        lines = [f"{self.label} ({self.type}) in ({first}, {second}): {len(self)} points, {self.outcome}"]
        lines += [
            f"  {name:>{_WIDTH}}: {first} = {self.values[point, 0]:.12g}, {second} = {self.values[point, 1]:.12g}"
            for name, point in (("first point", 0), ("last point", -1))
            if len(self)
        ]
        lines += [f"  {point.summary()}" for point in self.special_points]
        return "\n".join([*lines, *(f"  warning: {text}" for text in self.warnings)])

    def _require_point(self, point: Any) -> None:
        if not is_index(point, len(self)):
            raise InvalidInput(
                f"the curve {self.label!r} has {len(self)} points and none of number {shown(point)}; give one from "
                f"0 to {len(self) - 1}, or from the end with -1"
            )

    def _problem_about(self, values: Floats) -> Equation:
        """Return the equation at values of the two parameters, or a rounding beside them if it lacks one there.

        A confinement of strength 0 is none, and no curve could start in its parameters.
        """
        problem = self._problem_at(values)
        if all(name in problem.parameters for name in self.parameters):
            return problem
        return self._problem_at(np.where(values == 0.0, _ROUNDING, values))

    def _problem_at(self, values: Floats) -> Equation:
        """Return the equation at values of the two parameters."""
        problem = self.problem
        for name, value in zip(self.parameters, values, strict=True):
            problem = problem.with_parameter(name, float(value))
        return problem


def smooth(length: Floats, places: Floats, slopes: Floats) -> Floats:
    """Return more points of a curve, (n, 2), by cubics in the arclength through its points and slopes, (P, 2).

    Slopes are made smaller where, although of one sign with the difference of two points, they are so large that
    the cubic would overshoot (Fritsch, Carlson, SIAM J. Numer. Anal. 17 (1980) 238): where two curves touch, as at
    a tricritical point, they would cross else.
    """
    if len(places) < 2:
        return places
    t = (np.arange(FINER) / FINER)[:, np.newaxis, np.newaxis]
    steps, differences = np.diff(length)[:, np.newaxis], np.diff(places, axis=0)
    left, right = steps * slopes[:-1], steps * slopes[1:]
    limit = 3.0 * np.abs(differences)
    monotone = (left * differences >= 0.0) & (right * differences >= 0.0) & (limit > 0.0)
    excess = np.where(monotone, np.maximum(1.0, np.hypot(left, right) / np.where(limit > 0.0, limit, 1.0)), 1.0)
    pieces = (
        (1 + 2 * t) * (1 - t) ** 2 * places[:-1]
        + t**2 * (3 - 2 * t) * places[1:]
        + t * (1 - t) ** 2 * left / excess
        - t**2 * (1 - t) * right / excess
    )
    return np.vstack([np.moveaxis(pieces, 0, 1).reshape(-1, 2), places[-1:]])
