r"""Spectrum of the equation of any velocity law linearised at a zonal state of a sphere, sector by sector.

Perturbations of the azimuthal order m are :math:`u = \sum_l c_l\,\psi_l(\theta)\,Y(\omega)`, with the harmonics
:math:`\psi_l = \sqrt{N_l}\,\varphi_l^m` of :mod:`solvers.bases.gegenbauer`, orthonormal in the uniform probability
measure. With the velocity :math:`v = s\,\nabla h` and its derivative :math:`\delta v` along u

.. math:: \dot c_j = -D\,j(j+d-2)\,c_j
          + \int \Bigl[(\kappa u v_\theta - u V' + \kappa\rho\,\delta v_\theta)\,\psi_j'
          + \kappa\rho\, s\,\delta h\,\frac{m(m+d-3)}{\sin^2\theta}\,\psi_j\Bigr] d\mu,

since the velocity at a zonal density has no component about the axis and the speed changes with the slope along the
meridian only. The derivative of the speed is taken by a complex step. Slopes of the harmonics are sums of two,

.. math:: \partial_\theta\varphi_l^m = m\cot\theta\,\varphi_l^m - \sqrt{(l-m)(l+m+d-2)}\,\varphi_l^{m+1}.

The matrices are not symmetric; only real parts are reported. Rotation of the axis, in sector 1, is moved behind all
other eigenvalues as in :mod:`solvers.circle.law_spectra`.
"""

import functools
from typing import NamedTuple

import numpy as np

from meanfield import Domain, Equation, NotResolved, Spectrum, State, growth_rates
from meanfield.equations import Capability
from meanfield.harmonics import Rule, gauss_rule

from ...bases import EPS, Floats
from ...bases.gegenbauer import sector_functions
from ...equations.law_eigenvalues import (
    STEP,
    Eigenvalues,
    agreed_rate,
    deflated,
    error_of,
    largest_rate,
    regularised_velocity,
    resolved_eigenvalues,
    rounding_of,
    truncations,
)
from ...linear_algebra.lanczos import check_size
from .fields import is_uniform
from .interaction import repetitions

# The density is resolved by the moments above this.
RESOLVED = 1e-14
# Where the drive falls below this share of its largest value its sum over degrees has no digits left.
SMALLEST_DRIVE = 1e-9
# Sectors beyond this are computed while the sum of the couplings of their degrees is above it.
WEAK = 0.5
FEWEST_SECTORS = 3
LEAST_DEGREE = 64


class Meridian(NamedTuple):
    """A zonal state on the nodes of a rule: density, drive with its slope, radial drive, velocity, and angles."""

    density: Floats
    drive: Floats
    slope: Floats
    radial: Floats | None
    velocity: Floats
    confining: Floats
    angles: Floats
    weights: Floats


def _rule(dimension: int, degree: int) -> Rule:
    """Return the rule for products of three functions up to a degree, one of them a density."""
    return gauss_rule(dimension, 2 * degree + 32)


def _numbers(domain: Domain, degree: int) -> Floats:
    """Return the numbers of harmonics of the degrees up to the last."""
    return np.array([float(domain.multiplicity(k)) for k in range(degree + 1)])


def sector_tables(domain: Domain, order: int, rule: Rule, degree: int) -> tuple[Floats, Floats, Floats]:
    """Return psi_l, their slopes, and psi_l over sin(theta) on a rule, l = m..degree, (degree + 1 - m, n) each."""
    dimension = domain.dimension
    sines = np.sqrt(rule.fine * (2.0 - rule.fine)).astype(float)
    degrees = np.arange(order, degree + 1)
    roots = np.sqrt(_numbers(domain, degree)[order:])[:, None]
    values = roots * sector_functions(dimension, order, rule, degree)
    over = values / sines
    slopes = order * np.cos(np.arccos(rule.nodes)) * over
    raised = np.sqrt((degrees - order) * (degrees + order + dimension - 2.0))[1:, None]
    slopes[1:] -= raised * roots[1:] * sector_functions(dimension, order + 1, rule, degree)
    for table in (values, slopes, over):
        table.flags.writeable = False
    return values, slopes, over


# Those of the sectors of a state or two, from which its neighbours on a branch seldom differ in the degree.
@functools.lru_cache(maxsize=24)
def _sector(domain: Domain, order: int, degree: int) -> tuple[Floats, Floats, Floats]:
    """Return the tables of a sector on the rule of a degree; read-only."""
    return sector_tables(domain, order, _rule(domain.dimension, degree), degree)


class ZonalLinearisation:
    """Matrices of the sectors at a zonal state.

    Parameters
    ----------
    problem
        The equation.
    cosine : (n,) float
        The moments of the density by degree.
    degree
        Largest degree of perturbations.
    """

    def __init__(self, problem: Equation, cosine: Floats, degree: int) -> None:
        self.problem, self.degree = problem, degree
        self.dimension = self.problem.domain.dimension
        self.rule = _rule(self.dimension, degree)
        self.numbers = _numbers(self.problem.domain, degree)
        law = self.problem.velocity
        self._kernel = law.drive(self.problem.domain, degree) / self.numbers
        radial = law.radial(self.problem.domain, degree)
        self._radial = None if radial is None else radial / self.numbers
        moments = np.zeros(degree + 1)
        moments[: min(degree + 1, cosine.size)] = cosine[: degree + 1]
        self.moments = moments
        self.meridian = self._meridian(moments)

    def _meridian(self, moments: Floats) -> Meridian:
        values, slopes, _ = _sector(self.problem.domain, 0, self.degree)
        law, weights = self.problem.velocity, self.rule.weights
        coefficients = np.sqrt(self.numbers) * moments
        drive = (self._kernel * coefficients) @ values
        slope = (self._kernel * coefficients) @ slopes
        radial = None if self._radial is None else (self._radial * coefficients) @ values
        mapped = not self.problem.lacks(Capability.GIBBS_MAP)
        if mapped and law.lacks(Capability.GRADIENT):
            require_digits(drive, self.problem)
        density = coefficients @ values
        if mapped:
            field = self.problem.fixed_coupling / self.problem.noise * law.antiderivative(drive)
            if self.problem.confinement is not None:
                polar = np.arccos(self.rule.nodes)
                field = field - np.asarray(self.problem.confinement.values(polar), dtype=float) / self.problem.noise
            density = np.exp(field - field.max())
            density /= float(weights @ density)
        polar = np.arccos(self.rule.nodes)
        confinement = self.problem.confinement
        confining = (
            np.zeros_like(polar) if confinement is None else np.asarray(confinement.slope(polar), dtype=float)
        )
        terms = [np.arange(self.degree + 1) * self._kernel] + ([] if self._radial is None else [self._radial])
        self._rounding = rounding_of(*(part * np.sqrt(self.numbers) * coefficients for part in terms))
        velocity = regularised_velocity(law, drive, slope, radial, self._rounding)
        return Meridian(density, drive, slope, radial, velocity, confining, polar, weights)

    def matrix(self, order: int) -> Floats:
        """Return the matrix of a sector in the psi_l, l = max(m, 1)..degree."""
        here, law, coupling = self.meridian, self.problem.velocity, self.problem.fixed_coupling
        values, slopes, over = _sector(self.problem.domain, order, self.degree)
        first = 1 if order == 0 else 0
        values, slopes, over = values[first:], slopes[first:], over[first:]
        kernel = self._kernel[order + first :, None]
        moved = None
        if here.radial is not None and self._radial is not None:
            moved = here.radial + 1j * STEP * self._radial[order + first :, None] * values
        shifted = here.slope + 1j * STEP * kernel * slopes
        changed = regularised_velocity(
            law, here.drive + 1j * STEP * kernel * values, shifted, moved, self._rounding
        )
        along = coupling * (values * here.velocity + here.density * changed.imag / STEP) - values * here.confining
        result = (slopes * here.weights) @ along.T
        if order:
            speed = law.speed(here.drive, here.slope**2, here.radial)
            across = coupling * order * (order + self.dimension - 3.0) * here.density * speed * here.weights
            result += (over * across) @ (kernel * over).T
        degrees = np.arange(order + first, self.degree + 1)
        result.flat[:: degrees.size + 1] -= self.problem.noise * degrees * (degrees + self.dimension - 2.0)
        return np.asarray(result)

    def generator(self) -> Floats:
        """Return the coefficients of the slope of the density in the psi_l of order one: rotation of the axis."""
        degrees = np.arange(1, self.degree + 1)
        lengths = np.sqrt(degrees * (degrees + self.dimension - 2.0))
        return np.asarray(np.sqrt(self.numbers[1:]) * lengths * self.moments[1:])

    def deflated(self, order: int) -> Floats:
        """Return the matrix of a sector whose rotation eigenvalue, if any, is moved behind all others."""
        matrix = self.matrix(order)
        rotates = order == 1 and self.problem.confinement is None
        return deflated(matrix, self.generator()) if rotates else matrix

    @property
    def last_sector(self) -> int:
        """The last sector in which the interaction may slow a perturbation down."""
        here, law = self.meridian, self.problem.velocity
        speed = law.speed(here.drive, here.slope**2, here.radial)
        strength = abs(self.problem.fixed_coupling) / self.problem.noise * float((here.density * speed).max())
        beyond = np.cumsum((np.abs(self._kernel) * self.numbers)[::-1])[::-1]
        weak = np.flatnonzero(strength * beyond <= WEAK)
        return max(FEWEST_SECTORS, min(int(weak[0]) if weak.size else self.degree, self.degree // 2))


def require_digits(averages: Floats, problem: Equation) -> None:
    """Refuse averages that range over so many decades that the smallest, sums over degrees, have no digits.

    Raises
    ------
    NotResolved
        If they do.
    """
    if float(averages.min()) < SMALLEST_DRIVE * float(averages.max()):
        raise NotResolved(
            f"the averages of {problem.velocity.name} range over more than nine decades on the sphere, so that the "
            "velocity far from the particles has no digits; rates are known for a smaller beta"
        )


def spectrum(state: State) -> Spectrum:
    """Return the eigenvalues of the linearised equation at a zonal state, real parts, by azimuthal sectors.

    Sectors beyond the last in which the interaction is more than weak are left out.

    Raises
    ------
    NotResolved
        If the state needs more degrees than a dense matrix affords, or no eigenvalue is resolved.
    """
    if is_uniform(state):
        return _uniform(state)
    coarse, fine = (ZonalLinearisation(state.problem, state.cosine, size) for size in _sizes(state))
    blocks = [
        resolved_eigenvalues(state.problem.noise, coarse.deflated(order), fine.deflated(order))
        for order in range(fine.last_sector + 1)
    ]
    rotation = overlap = None
    if state.problem.confinement is None:
        unit = fine.generator() / np.linalg.norm(fine.generator())
        matrix = fine.matrix(1)
        rotation, overlap = float(unit @ matrix @ unit), float(abs(np.linalg.svd(matrix)[2][-1] @ unit))
    return _assembled(state, blocks, rotation, overlap)


def slowest_rate(state: State) -> float:
    """Return the contraction rate of a zonal state.

    Raises
    ------
    NotResolved
        If the state needs more degrees than a dense matrix affords, or its rate is below rounding.
    """
    if is_uniform(state):
        return -float(_uniform_values(state.problem, state.modes).max())
    _sizes(state)

    def rate_at(degree: int) -> float:
        about = ZonalLinearisation(state.problem, state.cosine, degree)
        return largest_rate(about.deflated(order) for order in range(about.last_sector + 1))

    return agreed_rate(state.problem, rate_at, _degree(state))


def _sizes(state: State) -> tuple[int, int]:
    """Return two degrees of truncation."""
    coarse, fine = truncations(state.problem, _degree(state))
    check_size(fine)
    return coarse, fine


def _degree(state: State) -> int:
    """Return the last degree that the density has."""
    return int(np.flatnonzero(np.abs(state.cosine) > RESOLVED)[-1])


def _uniform_values(problem: Equation, modes: int) -> Floats:
    return np.asarray(growth_rates(problem, max(LEAST_DEGREE, modes))[1:])


def _uniform(state: State) -> Spectrum:
    """Return the spectrum at the uniform state: degree l in the sectors 0 to l."""
    values = _uniform_values(state.problem, state.modes)
    blocks = [
        Eigenvalues(np.sort(values[max(order, 1) - 1 :])[::-1], np.full(values.size, EPS * np.abs(values).max()))
        for order in range(FEWEST_SECTORS + 1)
    ]
    return _assembled(state, blocks, None, None)


def _assembled(state: State, blocks: list[Eigenvalues], rotation: float | None, overlap: float | None) -> Spectrum:
    dimension = state.problem.domain.dimension
    around = np.sort(np.concatenate([block.values for block in blocks[1:]]))[::-1]
    return Spectrum(
        state,
        blocks[0].values,
        around,
        rotation,
        overlap,
        max(error_of(block) for block in blocks),
        sectors=tuple(block.values for block in blocks),
        multiplicities=tuple(repetitions(dimension, order) for order in range(len(blocks))),
    )
