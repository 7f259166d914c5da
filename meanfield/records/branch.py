"""Records of one branch of a diagram: its points and its special points, plain arrays only."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ..arguments import checked
from ..base import Record
from ..domains import Circle, Domain
from ..equations import Equation
from ..harmonics import Layout, Moments, moments_of
from ..potentials import Number
from .columns import (
    COUPLING,
    SPECIAL_AXIS_COLUMNS,
    SPECIAL_COLUMNS,
    of_axis,
    parameter_column,
)
from .observables import FREE_ENERGY_GAP, Observables, Observed, former_arguments
from .outcome import Outcome
from .point_types import PointType
from .state import State

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


@checked
@dataclass(frozen=True, eq=False, repr=False)
class SpecialPoint(Record):
    """A located event on a branch.

    Attributes
    ----------
    branch, point : int
        Index of the branch in the diagram and of the point on it.
    type
        ``branch point``, ``fold``, ``Hopf``, ``transition`` (equal free energy) or ``endpoint``.
    coupling, relative_coupling : float
        Where it is; relative to the smallest positive critical coupling, None if no such coupling exists.
    lower, upper : float
        An interval of the parameter of the diagram, by default the coupling, that contains the event.
    unstable_before, unstable_after : int or None
        Unstable directions on the two sides along the branch.
    kernel_dimension : int or None
        Dimension of the kernel of the linearisation on all densities, rotation excluded; at a Hopf point that of
        the eigenvectors whose growth rates are imaginary.
    status : str
        How the location ended.
    cosine, sine : (n + 1,) float
        Moments of the state at the point.
    description : str
        The event in words.
    layout : str
        ``"degree"``, moments by degree; ``"order"``, those of a density on S^2 by degree and order, where the state
        or the second one has no axis.
    domain
        The space of the density, that of the diagram which the point is in.
    problem : Equation or None
        That of the diagram which the point is in; None if it is in none.
    parameter : str
        The parameter of the diagram, ``coupling`` by default.
    parameter_value : float or None
        Its value, if it is not the coupling.
    other_cosine, other_sine : (n + 1,) float or None
        Those of the second clustered state of a transition; None if it is uniform or unknown.
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
        return row | {name: self.moment(name) for name in of_axis(SPECIAL_AXIS_COLUMNS, self.domain)}


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


def observables_at(observables: Mapping[str, Floats], point: int) -> dict[str, float]:
    """Return the observables of one point of a branch."""
    return {name: float(values[point]) for name, values in observables.items()}


def _problem_at(problem: Equation, branch: Branch, point: int) -> Equation:
    """Return the problem with the parameters of a point of a branch."""
    if branch.parameter_values is not None:
        problem = problem.with_parameter(branch.parameter, float(branch.parameter_values[point]))
    return problem.at(coupling=branch.coupling[point])


def states_at(problem: Equation, branch: Branch, points: Sequence[int]) -> list[State]:
    """Return the densities at points of a branch as states, as :func:`state_at` does, in a fraction of the time."""
    states = [state_at(problem, branch, point) for point in points[:1]]
    for point in points[1:]:
        # The numbers are those of a record, which has checked them.
        states.append(
            states[0]._changed(
                problem=_problem_at(problem, branch, point),
                cosine=branch.cosine[point],
                sine=branch.sine[point],
                observables=Observables(observables_at(branch.observables, point)),
                residual=float(branch.residual[point]),
                modes=int(branch.modes[point]),
            )
        )
    return states


def state_at(problem: Equation, branch: Branch, point: int) -> State:
    """Return the density at a point of a branch as a state, its coupling in the precision of the branch."""
    return State(
        problem=_problem_at(problem, branch, point),
        cosine=branch.cosine[point],
        sine=branch.sine[point],
        observables=observables_at(branch.observables, point),
        unstable=None,
        symmetry=branch.symmetry,
        residual=float(branch.residual[point]),
        modes=int(branch.modes[point]),
        layout=branch.layout,
    )
