r"""The linearisation at a state, among modes beside its own, of laws without a Gibbs map: a map of their moments.

With the velocity :math:`w = \kappa v/D` at the state, :math:`w_\phi` its change along moments of a perturbation
and the force :math:`F = -V'/D`, the map T takes these moments to those of the stationary perturbation :math:`\phi`
that the change of the velocity makes, and :math:`J = 1 - S\,T\,S^{-1}`. On the circle that is
:math:`\phi = \rho\psi`, :math:`\psi' = w_\phi - j/\rho`, see :mod:`solvers.circle.axial_linearisation`, with the
flux j of sines. With :math:`Y = \int_\theta^\pi\rho\chi` and of sines
:math:`k = \langle Y/\rho\rangle/\langle 1/\rho\rangle`, zero of cosines, the derivative of a mean of it is, in
uniform means,

.. math:: d\langle\chi\rho\psi\rangle = \bigl\langle(\rho\,(\chi\psi - \langle\chi\rho\psi\rangle)
          + j\,(Y - k)/\rho)\,d\!f\bigr\rangle + \langle(Y - k)\,dw_\phi\rangle .

On spheres, among the harmonics :math:`\psi_l` of an azimuthal order m, it solves :math:`A\phi = B`,

.. math:: A_{jl} = l(l+d-2)\,\delta_{jl} - \int \psi_l\,(w + F)\,\psi_j'\,d\mu, \qquad
          B_j = \int \rho\,\Bigl(w_\phi\,\psi_j' + z\,\frac{m(m+d-3)}{\sin^2\theta}\,\psi_j\Bigr)\,d\mu,

z being the speed times the change of the drive. With the solution y of :math:`A^T y = \chi`, the derivative is
:math:`y^T(dB - dA\,\phi)`. In order zero, of densities about the axis, A may be singular up to rounding, where mass
is exchanged between the poles at an exponentially small rate; J is that of the stationary equation there.
"""

import functools
from typing import Any, NamedTuple

import numpy as np

from meanfield import Domain
from meanfield.equations import VelocityLaw
from meanfield.harmonics import gauss_rule

from ...bases import Floats, Integers, ZonalBasis
from ...bases.gegenbauer import even_rule
from ...circle.axial_linearisation import LEAST, AxialLinearisation
from ...circle.complements import Complement
from ...equations.law_eigenvalues import MOST_DEGREES, STEP, Values, regularised_velocity, velocity_slopes
from ...equations.nodal import DIFFERENCE
from ...equations.significant import even_size
from ...execution.computed import computed_once
from ...sphere.complements import AzimuthalComplement
from ...sphere.linearised.law_spectra import sector_tables
from .blocks import Borders, ComplementaryBlock
from .law_states import LawState

Changes = tuple[Values, Values, Values | None]


class Averages(NamedTuple):
    """The drive, its slope and the radial drive, if any, on points of a meridian; or changes of them."""

    drive: Floats
    slope: Floats
    radial: Floats | None


class Meridian(NamedTuple):
    """Points of a meridian: the averages of a state with their rounding errors, its own modes and their slopes."""

    averages: Averages
    rounding: float | Floats
    values: Floats
    slopes: Floats


class Modes(NamedTuple):
    """Some modes on points of a meridian, and their slopes."""

    degrees: Integers
    values: Floats
    slopes: Floats


class Kernels(NamedTuple):
    """Coefficients of the drive and of the radial drive, if any, by degree from 0, or derivatives of them."""

    drive: Values
    radial: Values | None

    @classmethod
    def of(cls, law: VelocityLaw, domain: Domain, last: int) -> "Kernels":
        """Return those of a law up to a last degree."""
        return cls(law.drive(domain, last), law.radial(domain, last))

    def change(self, modes: Modes, moments: Floats) -> Averages:
        """Return the change of the averages with moments of some modes."""
        drive = self.drive[modes.degrees] * moments
        radial = None if self.radial is None else (self.radial[modes.degrees] * moments) @ modes.values
        return Averages(drive @ modes.values, drive @ modes.slopes, radial)

    def of_each(self, modes: Modes) -> Averages:
        """Return the change of the averages with the moment of each of some modes, one row each."""
        drive = self.drive[modes.degrees][:, None]
        radial = None if self.radial is None else self.radial[modes.degrees][:, None] * modes.values
        return Averages(drive * modes.values, drive * modes.slopes, radial)

    def of_uniform(self) -> tuple[float, float]:
        """Return the coefficients of degree 0, that of the radial drive zero without any."""
        return float(self.drive[0]), 0.0 if self.radial is None else float(self.radial[0])


class Perturbed:
    """The velocity w at a state, and its change along a perturbation of the state, with their derivatives.

    Parameters
    ----------
    state
        The state.
    meridian
        Points, with the averages of the state.
    modes
        The modes of the perturbation there.
    moments : (size,) float
        Their moments.

    Attributes
    ----------
    change, across : (n,) float
        The change of w, and z.
    """

    def __init__(self, state: LawState, meridian: Meridian, modes: Modes, moments: Floats) -> None:
        self._state, self._meridian, self._modes, self._moments = state, meridian, modes, moments
        problem = state.coefficients.place.problem
        self._law, self._domain = problem.velocity, problem.domain
        self._own = Modes(state.weighted.basis.degrees, meridian.values, meridian.slopes)
        self._last = max(int(modes.degrees[-1]), int(self._own.degrees[-1]))
        self._kernels = Kernels.of(self._law, self._domain, self._last)
        self._ratio = float(problem.fixed_coupling) / problem.positive_noise
        self._along = self._kernels.change(modes, moments)
        drive, slope, radial = averages = meridian.averages
        self._slopes = velocity_slopes(self._law, *averages, meridian.rounding)
        self._speed = self._law.speed(drive, slope * slope, radial)
        self.change = self._ratio * _linear(self._slopes, self._along)
        self.across = self._ratio * self._speed * self._along.drive

    @computed_once
    def _second(self) -> Changes:
        """The derivatives of those of the velocity along the perturbation, by central differences.

        Where slope and radial drive nearly vanish they change by as small a share of themselves.
        """
        step: Any = DIFFERENCE / (float(np.linalg.norm(self._moments)) or 1.0)
        (_, slope, radial), (_, moved, in_radial) = self._meridian.averages, self._along
        if radial is not None and in_radial is not None:
            sizes = np.maximum(np.hypot(slope, radial), self._meridian.rounding)
            # Neither a quotient nor its inverse leaves the range of doubles.
            step = np.clip(DIFFERENCE * sizes / np.maximum(np.hypot(moved, in_radial), LEAST), LEAST, step)
        after, before = (
            velocity_slopes(self._law, *_moved(self._meridian.averages, self._along, side), self._meridian.rounding)
            for side in (step, -step)
        )
        drive, slope = (after[0] - before[0]) / (2.0 * step), (after[1] - before[1]) / (2.0 * step)
        if after[2] is None or before[2] is None:
            return drive, slope, None
        return drive, slope, (after[2] - before[2]) / (2.0 * step)

    @computed_once
    def _speed_slopes(self) -> Changes:
        """The derivatives of the speed by the drive, its slope and the radial drive, by complex steps."""
        averages: Any = self._meridian.averages
        (drive, slope, radial), step, speed = averages, 1j * STEP, self._law.speed
        by_drive = speed(drive + step, slope * slope, radial).imag / STEP
        by_slope = speed(drive, (slope + step) * (slope + step), radial).imag / STEP
        by_radial = None if radial is None else speed(drive, slope * slope, radial + step).imag / STEP
        return by_drive, by_slope, by_radial

    @computed_once
    def in_moments(self) -> Floats:
        """The derivatives of w, of its change and of z in the moments of the state, (3, size, n)."""
        each = self._kernels.of_each(self._own)
        velocities, changes = (_linear(slopes, each) for slopes in (self._slopes, self._second))
        across = self._along.drive * _linear(self._speed_slopes, each)
        return self._ratio * np.array([velocities, changes, across])

    @computed_once
    def in_place(self) -> Floats:
        """The derivatives of the same in x and q at fixed moments, (2, 3, n)."""
        known = np.array([self._velocity, self.change, self.across])
        return self._state.slopes_in_place(known, self._in_law)

    @computed_once
    def _velocity(self) -> Floats:
        meridian = self._meridian
        return self._ratio * regularised_velocity(self._law, *meridian.averages, meridian.rounding)

    def _in_law(self, name: str) -> Floats:
        """Return the derivatives in a parameter of the law, (3, n)."""
        slopes = self._law.slopes(name, self._domain, self._last)
        kernels = Kernels(slopes.drive, slopes.radial)
        drive, slope, radial = kernels.change(self._own, self._state.moments)
        of_drive, of_radial = kernels.of_uniform()
        moved = Averages(drive + of_drive, slope, None if radial is None else radial + of_radial)
        along = kernels.change(self._modes, self._moments)
        velocity = _linear(self._slopes, moved)
        change = _linear(self._second, moved) + _linear(self._slopes, along)
        across = self._along.drive * _linear(self._speed_slopes, moved) + self._speed * along.drive
        explicit = slopes.speed * np.array([self._velocity, self.change, self.across])
        return np.asarray(self._ratio * np.array([velocity, change, across]) + explicit)


class VelocityBlock(ComplementaryBlock):
    """The linearisation under a law without a Gibbs map; parameters are those of the base."""

    state: LawState

    def slopes(self, null: Borders) -> tuple[Floats, Floats]:
        """Return the derivatives of the condition in the unknowns of the state, and in x and q."""
        (right, left), state = null, self.state
        in_moments, in_place = self._map_slopes(self.weights * left, right / self.weights)
        return in_moments / state.weighted.weights, in_place

    def _matrix(self) -> Floats:
        return np.asarray(np.eye(self.degrees.size) - self.weights[:, None] * self._map() / self.weights)

    def _map(self) -> Floats:
        """Return T."""
        raise NotImplementedError

    def _map_slopes(self, chi: Floats, moments: Floats) -> tuple[Floats, Floats]:
        """Return the derivatives of chi T applied to some moments in the moments of the state, and in x and q."""
        raise NotImplementedError


class CircleBlock(VelocityBlock):
    """The linearisation at a state on the circle with an axis; parameters are those of the base."""

    complement: Complement

    def _map(self) -> Floats:
        return self._about.stationary_map(self.degrees, self._sines)

    def _map_slopes(self, chi: Floats, moments: Floats) -> tuple[Floats, Floats]:
        state, about, sines = self.state, self._about, self._sines
        weights, density = about.panels.weights, about.density
        modes = Modes(self.degrees, *about.functions(self.degrees, sines))
        own = about.functions(state.weighted.basis.degrees, False)
        drive, slope, radial, rounding = about.averages
        perturbed = Perturbed(state, Meridian(Averages(drive, slope, radial), rounding, *own), modes, moments)
        function = chi @ modes.values
        remaining, flux = np.pi * float(weights @ (density * function)) - about.integrals(density * function), 0.0
        inverse = 1.0 / np.maximum(density, LEAST)
        if sines:
            flux = float((perturbed.change @ weights) / (inverse @ weights))
            remaining = remaining - float((remaining * inverse) @ weights) / float(inverse @ weights)
        psi = about.integrals(perturbed.change - flux * inverse)
        mean = float((density * function * psi) @ weights)
        by_field = weights * (density * (function * psi - mean) + flux * remaining * inverse)
        by_change = weights * remaining
        velocities, changes, _ = perturbed.in_moments
        in_moments = about.integrals(velocities) @ by_field + changes @ by_change
        velocities, changes = perturbed.in_place[:, 0], perturbed.in_place[:, 1]
        fields = about.integrals(velocities) + state.coefficients.slopes[1] @ own[0]
        return in_moments, fields @ by_field + changes @ by_change

    @property
    def _sines(self) -> bool:
        return self.complement.sign < 0

    @property
    def _about(self) -> AxialLinearisation:
        return _linearisation(self.state, max(int(self.degrees[-1]), int(self.state.weighted.basis.degrees[-1])))


# The blocks of a state are asked for one after the other.
@functools.lru_cache(maxsize=2)
def _linearisation(state: LawState, degree: int) -> AxialLinearisation:
    """Return the linearised equation at a state on the circle."""
    basis = state.weighted.basis
    moments = np.zeros(int(basis.cells[-1]) + 1)
    moments[0], moments[basis.cells] = 1.0, state.moments
    problem = state.coefficients.place.problem
    # Beyond half of the nodes moments are small enough to be resolved by few of these.
    finest = basis.symmetry * basis.nodes // 2
    return AxialLinearisation(problem, moments, basis.symmetry, degree, basis.axis, finest)


class ZonalBlock(VelocityBlock):
    """The linearisation at a state about the axis of a sphere; parameters are those of the base."""

    complement: AzimuthalComplement

    def _map(self) -> Floats:
        fine, meridian = self._fine, self._meridian
        problem = fine.coefficients.place.problem
        each = Kernels.of(problem.velocity, problem.domain, int(self.degrees[-1])).of_each(self._modes)
        drive, slope, radial = meridian.averages
        ratio = float(problem.fixed_coupling) / problem.positive_noise
        changes = ratio * _linear(velocity_slopes(problem.velocity, *meridian.averages, meridian.rounding), each)
        across = ratio * problem.velocity.speed(drive, slope * slope, radial) * each.drive
        masses = fine.nodal_density * self._weights
        sources = (self._tables.slopes * masses) @ changes.T
        sources += (self._tables.across * masses) @ across.T
        found = np.linalg.solve(self._local, sources)
        return np.asarray(found[self._places] / self._roots[:, None])

    def _map_slopes(self, chi: Floats, moments: Floats) -> tuple[Floats, Floats]:
        fine, tables, weights = self._fine, self._tables, self._weights
        perturbed = Perturbed(fine, self._meridian, self._modes, moments)
        density = fine.nodal_density
        read = np.zeros(tables.degrees.size)
        read[self._places] = chi / self._roots
        tested = np.linalg.solve(self._local.T, read)
        slope, across = tested @ tables.slopes, tested @ tables.across
        sources = (tables.slopes * (density * weights)) @ perturbed.change
        sources += (tables.across * (density * weights)) @ perturbed.across
        phi = np.linalg.solve(self._local, sources) @ tables.values
        made = perturbed.change * slope + perturbed.across * across
        by_field = weights * density * (made - float((weights * density) @ made))
        by_rows = np.array([phi * slope, density * slope, density * across]) * weights
        in_moments = fine.field_changes @ by_field + np.einsum("kin,kn->i", perturbed.in_moments, by_rows)
        forces = fine.coefficients.slopes[1] @ self._meridian.slopes
        in_place = fine.nodal_slopes @ by_field + np.einsum("ikn,kn->i", perturbed.in_place, by_rows)
        return in_moments, in_place + forces @ by_rows[0]

    @property
    def _fine(self) -> LawState:
        """The state on more nodes, so that products with two harmonics are integrated exactly."""
        return self.state.finer

    @property
    def _degree(self) -> int:
        """The last degree of perturbations, that of the density and the order beyond."""
        basis = self.state.nodal_basis
        return max(basis.symmetry * basis.nodes + self.complement.order, int(self.degrees[-1]))

    @property
    def resolved(self) -> bool:
        """Whether there are few enough harmonics for a dense matrix of them."""
        return self._degree <= MOST_DEGREES

    @computed_once
    def _tables(self) -> "SectorTables":
        basis, order = self.state.nodal_basis, self.complement.order
        last = min(self._degree, max(MOST_DEGREES, int(self.degrees[-1])))
        assert self._fine.nodal_basis.profiles is not None
        count = self._fine.nodal_basis.profiles.rule.nodes.size
        domain = self.state.coefficients.place.problem.domain
        return _sector(domain, order, self.complement.parity, (count, basis.symmetry), last)

    @property
    def _meridian(self) -> Meridian:
        return _meridian(self._fine)

    @property
    def _weights(self) -> Floats:
        axial = self._fine.nodal_basis.axial
        assert axial is not None
        return axial.weights

    @computed_once
    def _places(self) -> Integers:
        """The places of the modes of the class among all harmonics of the sector."""
        return np.searchsorted(self._tables.degrees, self.degrees)

    @computed_once
    def _roots(self) -> Floats:
        return self._tables.roots[self._places]

    @computed_once
    def _modes(self) -> Modes:
        tables, places, roots = self._tables, self._places, self._roots[:, None]
        return Modes(self.degrees, tables.values[places] / roots, tables.slopes[places] / roots)

    @computed_once
    def _local(self) -> Floats:
        """The matrix A."""
        fine, meridian, tables = self._fine, self._meridian, self._tables
        problem = fine.coefficients.place.problem
        ratio = float(problem.fixed_coupling) / problem.positive_noise
        velocity = ratio * regularised_velocity(problem.velocity, *meridian.averages, meridian.rounding)
        velocity = velocity + fine.coefficients.forces @ meridian.slopes
        matrix = -(tables.slopes * (velocity * self._weights)) @ tables.values.T
        matrix.flat[:: tables.degrees.size + 1] += tables.eigenvalues
        return np.asarray(matrix)


@functools.lru_cache(maxsize=2)
def _meridian(state: LawState) -> Meridian:
    """Return the nodes of a state on a sphere."""
    axial = state.nodal_basis.axial
    assert axial is not None
    modes = axial.modes_at(axial.angles)
    averages, rounding = state.averages(*modes)
    return Meridian(Averages(*averages), rounding, *modes)


class OddBlock(ComplementaryBlock):
    """The linearisation among odd degrees about the axis, at a state on a sphere that is even about the equator.

    A part of J of the same state among all densities about the axis; parameters are those of the base.
    """

    state: LawState

    def _matrix(self) -> Floats:
        return np.asarray(self._whole.matrix[np.ix_(self._places, self._places)])

    def slopes(self, null: Borders) -> tuple[Floats, Floats]:
        """Return the derivatives of the condition in the unknowns of the state, and in x and q."""
        chi, changes = np.zeros((2, self._whole.unknown.size))
        chi[self._places], changes[self._places] = self.weights * null[1], null[0] / self.weights
        in_moments, in_place = self._whole.response_slopes(chi, changes)
        own = self.state.weighted
        return in_moments[self._degrees_at(own.basis.degrees)] / own.weights, in_place

    @computed_once
    def _whole(self) -> LawState:
        basis = self.state.weighted.basis
        assert basis.profiles is not None
        degrees = np.union1d(basis.degrees, self.degrees)
        nodes = max(basis.symmetry * basis.nodes, even_size(2 * int(degrees[-1])))
        return self.state.among(ZonalBasis(basis.profiles.domain, degrees, nodes), self.state.unknown)

    @computed_once
    def _places(self) -> Integers:
        return self._degrees_at(self.degrees)

    def _degrees_at(self, degrees: Integers) -> Integers:
        """Return the places of some degrees among all."""
        return np.searchsorted(self._whole.weighted.basis.degrees, degrees)


class SectorTables(NamedTuple):
    """The harmonics of a sector on a rule: degrees, values, slopes, and values times m(m+d-3)/sin^2(theta).

    ``roots`` are those of the numbers of harmonics, ``eigenvalues`` those of minus the Laplacian.
    """

    degrees: Integers
    values: Floats
    slopes: Floats
    across: Floats
    roots: Floats
    eigenvalues: Floats


@functools.lru_cache(maxsize=64)
def _sector(
    domain: Domain, order: int, parity: int | None, nodes_of_symmetry: tuple[int, int], last: int
) -> SectorTables:
    """Return the harmonics of an order and a parity on the rule of a symmetry with a number of nodes."""
    (nodes, symmetry), dimension = nodes_of_symmetry, domain.dimension
    rule = gauss_rule(dimension, nodes) if symmetry == 1 else even_rule(dimension, nodes)
    values, slopes, over = sector_tables(domain, order, rule, last)
    degrees = np.arange(order, last + 1)
    inside = degrees > 0 if parity is None else degrees % 2 == parity
    sines = np.sqrt(rule.fine * (2.0 - rule.fine)).astype(float)
    across = order * (order + dimension - 3.0) * over / sines
    roots = np.sqrt([float(domain.multiplicity(degree)) for degree in degrees.tolist()])
    eigenvalues = degrees * (degrees + dimension - 2.0)
    tables: tuple[Any, ...] = degrees, values, slopes, across, roots, eigenvalues
    return SectorTables(*(part[inside] for part in tables))


def _linear(slopes: Changes, change: Averages) -> Floats:
    """Return the sum of derivatives times changes of the averages."""
    found = slopes[0] * change.drive + slopes[1] * change.slope
    if slopes[2] is not None and change.radial is not None:
        found = found + slopes[2] * change.radial
    return np.asarray(found)


def _moved(averages: Averages, along: Averages, step: Floats) -> Averages:
    """Return averages a step along a change of them."""
    radial = None if averages.radial is None or along.radial is None else averages.radial + step * along.radial
    return Averages(averages.drive + step * along.drive, averages.slope + step * along.slope, radial)
