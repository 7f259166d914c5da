r"""A problem along one of its continuous parameters, at a fixed coupling.

The field of a density with means a is :math:`f = \sum_k \sigma_k(p) a_k c_k - V(p)/D(p)`, with the attractions of
:mod:`meanfield.equations.interaction`. All that the stationary equation needs of the parameter p is how these
coefficients depend on it, and their derivatives. The parameter itself enters as the dimensionless

.. math:: q = 1 + 2 (p - p_0)/(p_1 - p_0) \in [1, 3]

over the interval :math:`[p_0, p_1]`. Beyond its ends, where the problem need not be admissible, coefficients go on
linearly: Newton's method may look there, but no state is taken from there.

Where the field is no sum of modes, the attractions are those at the uniform density; see :mod:`.laws`.
"""

import copy
import functools
from typing import Any, NamedTuple

import numpy as np

from meanfield import Equation, InvalidInput, Number
from meanfield.equations import Interaction, at_uniform

from ..bases import EPS, Floats, Integers, multiples
from ..bases.confining import ConfiningField, axial_places
from ..domains import solvers_of
from ..equations.rotating import rotates_freely
from ..equations.significant import (
    COMPARED_BY,
    SignificantDegrees,
    common_symmetry,
    keep_axis,
    significant_among,
    starting_degrees,
)
from ..equations.sizing import common_field
from .factors import FactorAlong, kinked_among

# The ends of the interval in q.
ENDS = (1.0, 3.0)
# A change of q to where a term has a factor that is not zero.
BESIDE = 1e-3
# Values of the parameter at which it is asked which degrees are significant.
SAMPLES = 17
# A confinement below this share of its largest vanishes.
VANISHING = 1e-6
# Where a confinement about an axis vanishes at an end, states there stand in all directions, of which few are left
# beside it. Those are told at this share of the interval from it, which is as near as branches are located.
ASIDE = 1e-10
# How far in q problems beyond an end are asked for, at most.
REACH = 0.25
# Coefficients at so many values are kept: those of a few points and of their neighbours.
KEPT = 32


class Coefficients(NamedTuple):
    """Attractions by degree from 0, and forces of the confinement, with their derivatives in q.

    Forces without an axis on the ordinary sphere are packed, (2, places).
    """

    attractions: Floats
    slopes: Floats
    forces: Any
    force_slopes: Any


class Path:
    """A problem along a parameter.

    Parameters
    ----------
    problem
        The equation, its coupling fixed.
    name
        The parameter, one of ``problem.parameters`` other than the coupling.
    interval
        Its lowest and highest value, both admissible. Where a confinement about an axis vanishes at one, the path
        ends beside it, by :data:`ASIDE` of the interval.

    Attributes
    ----------
    unit : float
        The change of the parameter over that of q.
    sign : int
        That of the coupling.

    Raises
    ------
    InvalidInput
        If one of the values is not admissible.
    """

    def __init__(self, problem: Equation, name: str, interval: tuple[Number, Number]) -> None:
        self.problem, self.name = problem.interpolated_in(name), name
        self.low, self.high = (float(end) for end in interval)
        self.coupling = problem.fixed_coupling
        self.sign = -1 if self.coupling < 0 else 1
        self._known: dict[int, functools._lru_cache_wrapper[Coefficients]] = {}
        self._at = functools.lru_cache(maxsize=KEPT)(self._admissible)
        self._require_confinement()
        self.low, self.high = self._beside_zero_field()
        self.unit = (self.high - self.low) / (ENDS[1] - ENDS[0])

    def _require_confinement(self) -> None:
        """Refuse values that are not admissible, and ends at which states can be turned, but not beside them."""
        if not self.moves_forces or self.zonal:
            return
        for value in (self.low, self.high):
            there = self.at(value)
            if there.zonal:
                what = "vanishes" if there.confinement is None else "is a function of one angle"
                raise InvalidInput(
                    f"at {self.name} {value:g} the confinement {what}, and states can be turned, which beside it "
                    "they cannot; let the interval begin or end beside that value"
                )

    def _beside_zero_field(self) -> tuple[float, float]:
        """Return the ends, or places beside them where the confinement vanishes that is there elsewhere."""
        if not self.moves_forces or not self.zonal:
            return self.low, self.high
        aside = ASIDE * (self.high - self.low)
        sides = ((self.low, aside), (self.high, -aside))
        low, high = (end + step if self._confining_scale(self.at(end)) == 0.0 else end for end, step in sides)
        return low, high

    @functools.cached_property
    def zonal(self) -> bool:
        """Whether at all values the confinement, if any, is a function of the angle to the north pole."""
        return all(each.zonal for each in self.samples)

    @functools.cached_property
    def field(self) -> ConfiningField:
        """A field with the symmetries that the confinement has at all values, where it has no axis."""
        return common_field(self.samples)

    def value(self, q: float) -> float:
        """Return the parameter at q; the ends of the interval exactly."""
        first, last = ENDS
        return (self.low * (last - q) + self.high * (q - first)) / (last - first)

    def values(self, q: Floats) -> Floats:
        """Return the parameter at several q."""
        first, last = ENDS
        return np.asarray((self.low * (last - q) + self.high * (q - first)) / (last - first))

    def q_at(self, value: Number) -> float:
        """Return q at a value of the parameter."""
        return ENDS[0] + (ENDS[1] - ENDS[0]) * float((value - self.low) / (self.high - self.low))

    def at(self, value: float) -> Equation:
        """Return the problem at a value of the parameter."""
        return self._at(value)

    def _admissible(self, value: float) -> Equation:
        role, own = self.problem.place_of(self.name)
        try:
            if role != self.problem.law_field or value in (self.low, self.high):
                return self.problem.with_parameter(self.name, value)
            # Whether values and multipliers of a user's potential agree is asked at the ends only: it takes long.
            between = copy.copy(self.problem)
            object.__setattr__(between, role, self.problem.law.with_parameter(own, value))
            return between
        except InvalidInput as error:
            raise InvalidInput(
                f"the interval [{self.low:g}, {self.high:g}] of {self.name} is not admissible: {error}"
            ) from error

    def problem_at(self, q: float) -> Equation:
        """Return the problem at q, beyond the ends that at an end."""
        return self.at(self.value(min(max(q, ENDS[0]), ENDS[1])))

    def beyond(self, q: float) -> tuple[Equation, float]:
        """Return the problem at q, and the derivative of the parameter in q.

        Beyond the ends the parameter goes on ever slower, its derivative continuous, and stays admissible.
        """
        inside = min(max(q, ENDS[0]), ENDS[1])
        if inside == q:
            return self.at(self.value(q)), self.unit
        share = 1.0 + abs(q - inside) / self._reaches[inside]
        return self.at(self.value(inside + (q - inside) / share)), self.unit / share**2

    @functools.cached_property
    def _reaches(self) -> dict[float, float]:
        """How far in q beyond each end the problem is admissible."""
        return {end: self._reach(end, outwards) for end, outwards in zip(ENDS, (-1.0, 1.0), strict=True)}

    def _reach(self, end: float, outwards: float) -> float:
        reach = REACH
        while reach > EPS:
            try:
                self.problem.with_parameter(self.name, self.value(end + outwards * reach))
            except InvalidInput:
                reach *= 0.5
            else:
                break
        return reach

    @functools.cached_property
    def samples(self) -> list[Equation]:
        """The problem at some values of the parameter from one end of the interval to the other."""
        return [self.at(value) for value in np.linspace(self.low, self.high, SAMPLES).tolist()]

    @functools.cached_property
    def degrees(self) -> Integers:
        """The degrees that are significant somewhere."""
        return self.starting(functools.partial(multiples, 1), 1).degrees

    @property
    def moves_forces(self) -> bool:
        """Whether the field of the confinement depends on the parameter."""
        role, _ = self.problem.place_of(self.name)
        return self.problem.confinement is not None and role in ("noise", "confinement")

    @functools.cached_property
    def kinked(self) -> Equation | None:
        """The problem where the confinement, which changes, has a kink on the circle; None if it has none."""
        return kinked_among(self.samples) if self.moves_forces else None

    @functools.cached_property
    def factor(self) -> FactorAlong | None:
        """The factor exp(-V/D) along the parameter where it has a kink and changes; else None."""
        if self.kinked is None:
            return None
        return FactorAlong(lambda value: self.at(float(value)), self.name, self.unit)

    def vanishes(self, value: float) -> bool:
        """Return whether the confinement, which is there elsewhere, vanishes at a value of the parameter."""
        if not self.moves_forces:
            return False
        problem = self.at(value)
        largest = max(self._confining_scale(each) for each in self.samples)
        return self._confining_scale(problem) <= VANISHING * largest

    @functools.cached_property
    def freeing(self) -> list[float]:
        """The q inside of the interval at which a confinement without an axis has one."""
        if not self.moves_forces or self.zonal:
            return []
        return axial_places(lambda q: ConfiningField(self.coefficients(q, COMPARED_BY).forces, zonal=False), ENDS)

    def reverses(self, q: float, other: float) -> bool:
        """Return whether the confinement at one q is against that at another, by its inner product, or zero."""
        if not self.moves_forces:
            return False
        here, there, *ends = (self.coefficients(each, COMPARED_BY).forces for each in (q, other, *ENDS))
        largest = max(float(np.vdot(end, end).real) for end in ends)
        return float(np.vdot(here, there).real) <= VANISHING * largest

    @functools.cached_property
    def _even(self) -> bool:
        """Whether the confinement has no sines at any value."""
        return all(each.confinement is None or each.confinement.even for each in self.samples)

    @functools.cached_property
    def confining_symmetry(self) -> int:
        """The greatest common divisor of the degrees of the confinement at all values, 0 without one."""
        return common_symmetry(self.samples)

    @functools.cached_property
    def carries_current(self) -> bool:
        """Whether stationary densities have a flux at some value."""
        return any(solvers_of(each).geometry.carries_current(each) for each in self.samples)

    @functools.cached_property
    def rotates(self) -> bool:
        """Whether clusters turn by a lag at some value."""
        return any(map(rotates_freely, self.samples))

    def keeps(self, axis: float) -> bool:
        """Return whether at all values the confinement is even about an axis of the circle and densities rest."""
        return not (self.carries_current or self.rotates) and keep_axis(self.samples, axis)

    def _confining_scale(self, problem: Equation) -> float:
        """Return the largest multiplier of a confinement over the noise."""
        confinement = problem.confinement
        return 0.0 if confinement is None else float(confinement.scale(problem.domain)) / problem.positive_noise

    def coefficients(self, q: float, degree: int) -> Coefficients:
        """Return the coefficients of the field at q up to a degree."""
        if degree not in self._known:
            self._known[degree] = functools.lru_cache(maxsize=KEPT)(functools.partial(self._coefficients, degree))
        inside = min(max(q, ENDS[0]), ENDS[1])
        found = self._known[degree](inside)
        if inside == q:
            return found
        attractions, slopes, forces, force_slopes = found
        beyond = q - inside
        return Coefficients(attractions + beyond * slopes, slopes, forces + beyond * force_slopes, force_slopes)

    def _coefficients(self, degree: int, q: float) -> Coefficients:
        problem = self.problem_at(q)
        interaction = Interaction(problem)
        # A term whose factor is zero is left out of a sum; the derivative in this is the same beside.
        known = self.name in problem.parameters
        beside = problem if known else self.problem_at(q + (BESIDE if q < 2.0 else -BESIDE))
        forces = force_slopes = np.zeros(degree + 1)
        if self.moves_forces and not self.zonal:
            forces = interaction.harmonic_forces(degree)
            force_slopes = self.unit * Interaction(beside).harmonic_force_derivatives(self.name, degree)
        elif self.moves_forces:
            moving = Interaction(beside)
            forces = interaction.phased_forces(degree)
            force_slopes = self.unit * moving.force_derivatives(self.name, degree)
            if not self._even:
                force_slopes = force_slopes - 1j * self.unit * moving.sine_force_derivatives(self.name, degree)
        uniform, slopes = at_uniform(beside), np.zeros(degree + 1)
        # A common frequency turns what grows from the uniform density and changes it in nothing else.
        if self.name in uniform.problem.parameters:
            slopes = self.unit * uniform.attraction_derivatives(self.name, degree)
        return Coefficients(at_uniform(problem).attractions(degree), slopes, forces, force_slopes)

    def significant(self, degrees: Integers) -> SignificantDegrees:
        """Return which of some ascending degrees are significant at one of the values of the parameter."""
        return _united([significant_among(problem, degrees) for problem in self.samples])

    def starting(self, admissible: Any, symmetry: int, least: int = 0) -> SignificantDegrees:
        """Return the degrees significant somewhere to begin with, see :mod:`solvers.equations.significant`."""
        first = _united([starting_degrees(problem, admissible, symmetry, least) for problem in self.samples])
        return first if first.complete or not first.degrees.size else self.significant(admissible(first.reach))

    def scales(self, degrees: Integers) -> Floats:
        """Return the weights of moments in the unknowns: roots of their largest attractions, the largest one."""
        last = int(degrees.max(initial=1))
        rows = [np.abs(self.coefficients(q, last).attractions) for q in np.linspace(*ENDS, SAMPLES).tolist()]
        largest = np.max(rows, axis=0)[degrees]
        return np.asarray(np.sqrt(np.maximum(largest / (largest.max() or 1.0), EPS)))


def _united(found: list[SignificantDegrees]) -> SignificantDegrees:
    """Return the degrees that are significant at one value at least."""
    degrees = functools.reduce(np.union1d, [each.degrees for each in found])
    reach = min((each.reach for each in found if not each.complete), default=max(each.reach for each in found))
    return SignificantDegrees(degrees, all(each.complete for each in found), reach)
