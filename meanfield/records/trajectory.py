r"""The record of an evolution: moments of a density at the times asked for, its free energy and how it ended.

.. math:: m_k(t) = \int \rho(t,\theta) \cos k\theta\,d\theta, \qquad
          s_k(t) = \int \rho(t,\theta) \sin k\theta\,d\theta ,

on the circle; on the spheres those of :mod:`meanfield.harmonics`.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..arguments import ITSELF, checked, is_whole, shown
from ..base import SavedRecord
from ..equations import Equation
from ..errors import InvalidInput
from ..harmonics import Layout, Moments, moment_columns, moments_of
from ..wording import describe, wrapped
from .flow_map import FlowMap
from .observables import DISSIPATION, FREE_ENERGY_GAP, Observed, former_arguments, observable_named
from .outcome import Outcome

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

SUMMARY_TIMES = 6
# Width of a column of the summary.
CELL = 11


@former_arguments(FREE_ENERGY_GAP, DISSIPATION)
@checked
@dataclass(frozen=True, eq=False, repr=False)
class Trajectory(Observed, SavedRecord):
    """A density evolving in time.

    Attributes
    ----------
    problem
        The equation, with its coupling.
    time : (T,) float
        Increasing times; the last is where the evolution ended.
    cosine, sine : (T, n + 1) float
        Moments of degree 0 to n, zero beyond the degree that was resolved.
    modes : (T,) int
        Degree up to which the density was resolved.
    observables : mapping of str to (T,) float
        Numbers that not every equation has, by name, nan where not known. Where there is a free energy:
        ``free_energy_gap``, (F - F_uniform)/D, and ``dissipation``, minus its time derivative. Without noise:
        ``energy_gap``, E - E_uniform, E being half the coupling times the double integral of W rho rho plus the
        integral of V rho, and ``energy_dissipation``, minus its time derivative; where the method knows it,
        ``order_deficit``, one minus the order parameter, accurate relative to itself.
    minimum : (T,) float
        Smallest value of the density on the nodes, per radian or, on spheres, per unit of surface; below zero only
        by its error, and nan where it is lost in rounding, as it may be in high dimensions.
    mass_error : float
        Largest deviation of the mass from one.
    outcome
        REACHED_TIME, STATIONARY, METASTABLE, UNDECIDED, UNEXAMINED, or for a record that is partial PARTIAL,
        NOT_RESOLVED or INTERRUPTED.
    method : str
        The integrator, with its options.
    tolerance : float or None
        The accuracy that was asked for; None for a fixed step.
    accuracy : float or None
        The accuracy that was reached, an estimate of the largest error of a moment relative to the largest moment,
        at any of the times; None if it is not known, for errors have become as large as the moments, or the file
        was written before it was recorded.
    steps, evaluations : int
        Steps made and right-hand sides evaluated.
    distance : float or None
        Distance of the last density from the stationary state near it, root of the sum of squared moments, rotation
        excluded; None if none is near or it was not looked for.
    slowest_rate : float or None
        Slowest decay rate at that state, in units of 1/time, rotation excluded; negative where it is unstable: then
        its inverse is the time scale of leaving it.
    unstable : int or None
        Unstable directions of that state.
    layout : str
        ``"degree"``, moments by degree, (T, n + 1); ``"order"``, those of densities on S^2 by degree and order, as
        in :class:`State`.
    warnings : tuple of str
        What a reader must know.
    provenance
        Versions, options and the initial density.
    flow_map : FlowMap or None
        Where labelled points are at some of the times, and the density there, of ``method=Characteristics()``.
    """

    _along: ClassVar[str] = "time"

    problem: Equation
    time: Floats
    cosine: Floats
    sine: Floats
    modes: Integers
    observables: Mapping[str, Floats]
    minimum: Floats
    mass_error: float
    outcome: Outcome
    method: str
    tolerance: float | None
    steps: int
    evaluations: int
    distance: float | None = None
    slowest_rate: float | None = None
    unstable: int | None = None
    accuracy: float | None = None
    layout: Layout = "degree"
    warnings: tuple[str, ...] = ()
    provenance: dict[str, Any] = field(default_factory=dict)
    flow_map: FlowMap | None = None

    def __len__(self) -> int:
        return int(self.time.size)

    @property
    def free_energy_gap(self) -> Floats:
        """(T,) (F - F_uniform)/D; refused where the equation has no free energy."""
        gaps: Floats = self.observable(FREE_ENERGY_GAP)
        return gaps

    @property
    def dissipation(self) -> Floats:
        """(T,) minus the time derivative of ``free_energy_gap``; refused where there is no free energy."""
        rates: Floats = self.observable(DISSIPATION)
        return rates

    @property
    def moments(self) -> Moments:
        """The moments with their modes, times along the first axis."""
        return moments_of(self.problem.domain, self.layout, self.cosine, self.sine)

    def density(
        self, angle: ArrayLike, azimuth: ArrayLike | None = None, *, index: Annotated[int, ITSELF] = -1
    ) -> Floats:
        """Return the density at the given angles (radians) at one of the times; see :meth:`State.density`.

        Parameters
        ----------
        angle, azimuth
            As for a state.
        index
            Which of the times, from 0; by default the last.

        Raises
        ------
        InvalidInput
            If there is no such time, or a state would refuse the angles.
        """
        if not (is_whole(index) and -len(self) <= index < len(self)):
            raise InvalidInput(
                f"there are {len(self)} times and none of number {shown(index)}; give index=0 to "
                f"index={len(self) - 1}, or index=-1 for the last"
            )
        moments = self.moments[index]
        if azimuth is not None and not moments.modes.takes_azimuth:
            raise InvalidInput(
                f"a density on {self.problem.domain.in_words} takes one angle, and the number of the time by name: "
                "density(angle, index=0)"
            )
        return moments.density(angle, azimuth)

    def order_parameter(self, degree: int = 1) -> Floats:
        """Return the modulus of the moments of a degree over time, (T,), in [0, 1], which no rotation changes."""
        return self.moments.length(degree).copy()

    def moment(self, degree: int, *, sine: bool = False, order: int = 0) -> Floats:
        """Return the cosine or sine moment of a degree over time, (T,), of an order if there are orders.

        Raises
        ------
        InvalidInput
            If the degree is negative, or there is no such order.
        """
        return self.moments.of_order(degree, order, sine=sine).copy()

    @property
    def partial(self) -> bool:
        """Whether the evolution ended before the time asked for."""
        return self.outcome in (Outcome.PARTIAL, Outcome.NOT_RESOLVED, Outcome.INTERRUPTED)

    def rows(self) -> Iterator[dict[str, Any]]:
        """Yield one table row per time; None for numbers that are not known."""
        columns: dict[str, NDArray[Any]] = {
            "time": self.time,
            **self.observables,
        }
        moments = self.moments
        columns |= {name: moments.named(name) for name in moment_columns(self.problem.domain, sines=True)}
        columns |= {"order_parameter": self.order_parameter(), "minimum": self.minimum, "modes": self.modes}
        for index in range(len(self)):
            yield {name: _known(column[index]) for name, column in columns.items()}

    def summary(self) -> str:
        """Return the evolution in words and a table."""
        return "\n".join(_summary(self))

    def plot(self, ax: "Axes | None" = None, **style: Any) -> "Axes":
        """Draw the density over angle and time as a picture, or on the sphere without an axis as maps."""
        return self._drawn("plot_trajectory", ax, **style)

    def plot_energy(self, ax: "Axes | None" = None, **style: Any) -> "Axes":
        """Draw the free energy over time."""
        return self._drawn("plot_energy", ax, **style)

    def plot_moments(self, ax: "Axes | None" = None, **options: Any) -> "Axes":
        """Draw order parameters over time."""
        return self._drawn("plot_moments", ax, **options)

    def plot_characteristics(self, ax: "Axes | None" = None, **options: Any) -> "Axes":
        """Draw the paths of labelled points over time, of a trajectory along characteristics."""
        return self._drawn("plot_characteristics", ax, **options)

    def plot_tail(self, ax: "Axes | None" = None, **options: Any) -> "Axes":
        """Draw the density at some times logarithmically, of a trajectory along characteristics."""
        return self._drawn("plot_tail", ax, **options)

    def animate(self, path: str | Path, *, force: bool = False, **options: Any) -> Path:
        """Write the density as a film, a GIF, and return its path."""
        written: Path = self._through("plotting", "animate", path, force=force, **options)
        return written


def _known(value: Any) -> Any:
    number = value.item()
    return None if number != number else number


def _summary(trajectory: Trajectory) -> Iterator[str]:
    yield from wrapped(describe(trajectory.problem), "", "  ")
    end = float(trajectory.time[-1])
    work = f"{trajectory.steps} steps, {int(trajectory.modes[-1])} modes at the end"
    reached = "not known" if trajectory.accuracy is None else f"{trajectory.accuracy:.1e}"
    yield from wrapped(f"{trajectory.method} to time {end:.6g}: {work}, accuracy {reached}", "", "  ")
    yield from wrapped(ending(trajectory), "", "  ")
    yield ""
    moments = [f"|{trajectory.moments.modes.letters[0]}_{degree}|" for degree in (1, 2, 3)]
    observed = [observable_named(name).heading for name in trajectory.observables]
    headings = ("time", *observed, *moments, "minimum")
    yield "  " + "  ".join(f"{name:>{CELL}}" for name in headings)
    chosen = np.unique(np.linspace(0, len(trajectory) - 1, SUMMARY_TIMES).round().astype(int))
    orders = [trajectory.order_parameter(degree) for degree in (1, 2, 3)]
    for index in chosen:
        values = [trajectory.time, *trajectory.observables.values(), *orders, trajectory.minimum]
        cells = (_cell(float(column[index])) for column in values)
        yield "  " + "  ".join(
            f"{cell:>{max(CELL, len(name))}}" for name, cell in zip(headings, cells, strict=True)
        )
    if trajectory.warnings:
        yield ""
        yield "Warnings"
        for warning in trajectory.warnings:
            yield from wrapped(f"- {warning}", "  ", "  ")


def ending(trajectory: Trajectory) -> str:
    """Return a sentence on how an evolution ended."""
    sentence = str(trajectory.outcome)
    if trajectory.distance is None:
        return sentence
    details = [f"distance {trajectory.distance:.1e}"]
    if trajectory.unstable:
        details.append(f"{trajectory.unstable} unstable direction{'' if trajectory.unstable == 1 else 's'}")
    if trajectory.slowest_rate is not None and trajectory.slowest_rate < 0.0:
        details.append(f"time scale of leaving it {-1.0 / trajectory.slowest_rate:.4g}")
    elif trajectory.slowest_rate is not None:
        details.append(f"slowest rate there {trajectory.slowest_rate:.6g}")
    near = "; a stationary state is near" if trajectory.outcome is Outcome.REACHED_TIME else ""
    return f"{sentence}{near} ({', '.join(details)})"


def _cell(value: float) -> str:
    return "-" if value != value else f"{value:.5g}"
