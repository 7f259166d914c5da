r"""Free energy of a density on the circle or a sphere, its dissipation and its variations.

.. math::

    F(\rho) = D \int \rho\log\rho + \frac\kappa2 \iint W(t-s)\rho(t)\rho(s) + \int V\rho ,
    \qquad
    \frac{dF}{dt} = -\int \rho\, \bigl|\nabla (D\log\rho + \kappa W*\rho + V)\bigr|^2 .

A density is given by its moments, on the circle :math:`m_k = \int\rho\cos kt` and :math:`s_k = \int\rho\sin kt`,
on spheres :math:`p_l = \int\rho P_l` about the north pole (layout "degree") or, on :math:`S^2`, those with all
harmonics by degree and order (layout "order", see :mod:`meanfield.harmonics`):
:math:`|S|\rho = 1 + f`, :math:`f = \sum_{k\ge1} N_k \sum_j m_{kj} e_{kj}`, :math:`N_k = 2` on the circle. The
interaction is the finite sum :math:`\iint W\rho\rho = w_0 + \sum_k w_k |m_k|^2`; only the entropy needs quadrature,
on grids doubled until two agree.

The gap is not a difference of two energies: :math:`(F-F_0)/D = \sum_k \tfrac12 N_k (1-\lambda_k)|m_k|^2 +
\langle h(f) - f^2/2\rangle + \sum_k v_k m_k/D`, with :math:`h(f) = (1+f)\log(1+f) - f`, by Parseval; far from
uniform h itself is summed, its values being >= 0.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from .arguments import checked, shown
from .base import Record
from .entropy import SERIES_BELOW, excess, excess_beyond_square
from .equations import Capability, Equation, require
from .errors import ComputationFailed, InvalidInput
from .harmonics import Layout, converged, modes_of
from .harmonics.modes import EPS

Vector: TypeAlias = npt.NDArray[np.float64]

# Error of an integral beyond which it is not given.
_LARGEST_ERROR = 1e-6
# Relative error of a density at its lowest, from its moments, below which nothing better is looked for.
_KNOWN = 1e-13
# Roundings within which a density is the Gibbs density of its moments; solvers end at some hundreds.
_STATIONARY = 1e5


@checked
@dataclass(frozen=True, eq=False, repr=False)
class FreeEnergy(Record):
    """The free energy of a density and its parts.

    Attributes
    ----------
    entropy
        D int rho log rho.
    interaction
        (kappa/2) double integral of W rho rho.
    confinement
        int V rho.
    total
        Their sum F.
    gap
        (F - F_uniform)/D, computed without cancellation.
    """

    entropy: float
    interaction: float
    confinement: float
    total: float
    gap: float


@checked
def free_energy_parts(
    problem: Equation,
    cosine: npt.ArrayLike,
    sine: npt.ArrayLike | None = None,
    layout: Layout = "degree",
) -> FreeEnergy:
    """Return the free energy of the density with the given moments.

    Parameters
    ----------
    problem
        With a coupling.
    cosine, sine
        m_0..m_n with m_0 = 1 and s_0..s_n with s_0 = 0 (absent for an even density), shape (n + 1,). On spheres
        p_0..p_n of a zonal density, without sine.
    layout
        "degree" as above; "order" for moments by degree and order on S^2, shape ((L + 1)(L + 2)/2,).

    Raises
    ------
    InvalidInput
        If the coupling is free, the arrays do not describe a density of mass 1, or it is not positive.
    ComputationFailed
        If the entropy integral does not converge.
    """
    density = _Density(problem, cosine, sine, layout)
    m, s, numbers = density.cosine, density.sine, density.numbers
    products, confinement = density.products, density.confinement
    squares = m**2 + s**2
    near_uniform = float((numbers * np.sqrt(squares))[1:].sum()) < SERIES_BELOW
    remainder = density.averaged(excess_beyond_square if near_uniform else excess)
    quadratic = numbers[1:] / 2 if near_uniform else np.zeros(m.size - 1)
    interaction_gap = math.fsum((quadratic + products[1:]) * squares[1:])
    relative_entropy = remainder + math.fsum(quadratic * squares[1:])
    noise = problem.noise
    entropy = noise * (relative_entropy - problem.domain.log_volume)
    interaction = noise * math.fsum(products * squares)
    external = math.fsum(np.concatenate([confinement * m, density.sine_confinement * s]))
    lifted = math.fsum(np.concatenate([confinement[1:] * m[1:], density.sine_confinement * s]))
    gap = remainder + interaction_gap + lifted / noise
    return FreeEnergy(entropy, interaction, external, entropy + interaction + external, gap)


@checked
def dissipation(
    problem: Equation,
    cosine: npt.ArrayLike,
    sine: npt.ArrayLike | None = None,
    layout: Layout = "degree",
) -> float:
    """Return int rho |grad (D log rho + kappa W*rho + V)|^2 = -dF/dt >= 0, zero exactly at stationary states.

    Parameters
    ----------
    problem, cosine, sine, layout
        As for `free_energy_parts`.

    Raises
    ------
    InvalidInput
        As for `free_energy_parts`.
    ComputationFailed
        If the integral does not converge.
    """
    state = _Density(problem, cosine, sine, layout)
    modes, forces = state.modes, state.forces

    def integrand(points: int) -> tuple[Vector, Vector]:
        density, floor = state.on(points)
        diffusive = modes.gradient(state.numbers * state.cosine, state.numbers * state.sine, points)
        slopes = modes.gradient(forces * state.cosine + state.confinement, state.sine_field, points)
        weight = 1 / np.maximum(density, floor)
        # Diffusion and drift cancel at a stationary state; what remains is the rounding of their sizes.
        values, sizes = np.zeros((2, *density.shape))
        # What the noise of the moments alone would dissipate.
        noise = floor * state.degree if modes.amplifies else 0.0
        for spread, slope in zip(diffusive, slopes, strict=True):
            diffusion, drift = problem.noise * spread, density * slope
            values += (diffusion + drift) ** 2 * weight
            sizes += (diffusion**2 + drift**2 + (problem.noise * noise) ** 2 / EPS) * weight
        return values, sizes

    return converged(modes, state.places, integrand)


@checked
def first_variation(
    problem: Equation,
    cosine: npt.ArrayLike,
    sine: npt.ArrayLike | None = None,
    points: int | None = None,
    layout: Layout = "degree",
) -> tuple[Vector, Vector]:
    """Return angles and dF/drho = D log rho + D + kappa W*rho + V there.

    Defined up to a constant because the mass is fixed; this is the one of the unconstrained functional.
    It is constant in the angle exactly at stationary states. Where rho is below the rounding noise of its
    own series, log rho is that of the noise level.

    Parameters
    ----------
    problem, cosine, sine
        As for `free_energy_parts`.
    points
        Number of equispaced angles from 0; by default 8 per mode, at least 64. On spheres the number of polar
        angles, those of Gauss nodes.
    layout
        As for `free_energy_parts`.

    Returns
    -------
    angles, values
        Shape (points,); with the layout "order" polar angles and longitudes, shape (2, points, 2 points), and
        values of shape (points, 2 points).

    Raises
    ------
    InvalidInput
        As for `free_energy_parts`, or if ``points`` cannot carry the modes.
    """
    state = _Density(problem, cosine, sine, layout)
    modes, forces = state.modes, state.forces
    points = points or max(64, 8 * state.degree)
    if points <= 2 * state.degree:
        raise InvalidInput(
            f"points = {points} is too few for {state.degree} modes; it must exceed {2 * state.degree}"
        )
    if points > modes.finest:
        raise InvalidInput(f"points must be at most {modes.finest}, not {shown(points)}; leave it out")
    density, floor = state.on(points)
    potential = modes.values(forces * state.cosine + state.confinement, state.sine_field, points)
    logarithm = np.log(np.maximum(density, floor)) - problem.domain.log_volume
    return modes.grid(points), np.asarray(problem.noise * (logarithm + 1) + potential)


@checked
def second_variation(
    problem: Equation,
    cosine: npt.ArrayLike,
    sine: npt.ArrayLike | None,
    direction_cosine: npt.ArrayLike,
    direction_sine: npt.ArrayLike | None = None,
    layout: Layout = "degree",
) -> float:
    """Return D int u^2/rho + kappa double integral of W u u for a perturbation u of mass 0.

    Where the density is so small that the sum over its moments does not determine 1/rho, a stationary state is
    taken in its Gibbs form, exp(-(kappa W*rho + V)/D)/Z, which has the relative error of rounding everywhere.

    Parameters
    ----------
    problem, cosine, sine, layout
        As for `free_energy_parts`.
    direction_cosine, direction_sine
        Moments of u, from 0 and in the same layout; the first of each is 0.

    Raises
    ------
    InvalidInput
        As for `free_energy_parts`, or if u has mass.
    ComputationFailed
        If the integral does not converge, or is lost in the rounding of the moments of a density that is not
        stationary.
    """
    a, b = _pair(direction_cosine, direction_sine, "direction")
    if a[0] != 0:
        raise InvalidInput(f"a perturbation keeps the mass, so its moment 0 must be 0, not {a[0]!r}")
    m, s = _moments(cosine, sine)
    places = max(m.size, a.size)
    a, b = _lengthened(a, places), _lengthened(b, places)
    state = _Density(problem, _lengthened(m, places), _lengthened(s, places), layout)
    modes = state.modes

    relative = state.inverse_density()

    def integrand(points: int) -> tuple[Vector, Vector]:
        inverse, errors = relative(points)
        with np.errstate(over="ignore", invalid="ignore"):
            values = modes.values(state.numbers * a, state.numbers * b, points) ** 2 * inverse
        if not np.isfinite(values).all():
            raise ComputationFailed("a perturbation over the density exceeds the range of numbers where it is tiny")
        errors = values * errors
        state.require_known(modes.mean(errors, points) / max(modes.mean(values, points), np.finfo(float).tiny))
        return values, values + errors / EPS

    return problem.noise * (
        converged(modes, state.places, integrand) + math.fsum(2 * state.products * (a**2 + b**2))
    )


class _Density:
    """A density of a problem: its moments, checked, and the factors of each place."""

    def __init__(
        self, problem: Equation, cosine: npt.ArrayLike, sine: npt.ArrayLike | None, layout: Layout
    ) -> None:
        require(problem, Capability.FREE_ENERGY, "energies and their variations")
        self.problem, self.domain = problem, problem.domain
        self.cosine, self.sine = _moments(cosine, sine)
        self.modes, self.places = modes_of(problem.domain, layout), self.cosine.size
        self.modes.check_number(self.places, "a density")
        self.modes.check(self.sine)
        self.degree, self.numbers = self.modes.degree(self.places), self.modes.multiplicities(self.places)
        self.products = _products(problem, self.modes.degrees(self.places))
        self.confinement, self.sine_confinement = self._coefficients_of_confinement()
        # kappa w_k of each place.
        self.forces = 2 * problem.noise * self.products
        self.sine_field = self.forces * self.sine + self.sine_confinement

    def on(self, points: int) -> tuple[Vector, float | Vector]:
        """Return |S| rho on a grid of a fineness and its rounding noise."""
        density, floor = self._sums(points)
        self._require_positive(density, floor, points)
        return density, floor

    def inverse_density(self) -> Callable[[int], tuple[Vector, float | Vector]]:
        """Return a function of the fineness that gives 1/(|S| rho) on a grid and its relative error."""
        points = self.modes.coarsest(self.places)
        density, floor = self._sums(points)
        if float((density - floor / _KNOWN).min()) >= 0 or not self._stationary(points):
            return self._from_moments
        return self._from_exponent

    def _from_moments(self, points: int) -> tuple[Vector, float | Vector]:
        density, floor = self.on(points)
        positive = np.maximum(density, floor)
        return 1 / positive, floor / positive

    def _from_exponent(self, points: int) -> tuple[Vector, float | Vector]:
        """Return exp of (kappa W*rho + V)/D times its mean, and the rounding of the exponent."""
        exponent = self._exponent(points)
        lowest = float(exponent.min())
        with np.errstate(over="ignore", under="ignore"):
            mean = self.modes.mean(np.exp(lowest - exponent), points)
            return np.exp(exponent - lowest) * mean, EPS * (1 + float(np.abs(exponent).max()))

    def _exponent(self, points: int) -> Vector:
        modes = self.modes
        external = modes.values(self.forces * self.cosine + self.confinement, self.sine_field, points)
        return external / self.problem.noise

    def _stationary(self, points: int) -> bool:
        """Return whether the density agrees with the Gibbs density of its moments, as far as both are known."""
        density, floor = self._sums(points)
        inverse, _ = self._from_exponent(points)
        return bool(np.all(np.abs(1 / inverse - density) <= _STATIONARY * floor))

    def _coefficients_of_confinement(self) -> tuple[Vector, Vector]:
        """Return the coefficients of V of each place, those of sines second."""
        cosine, sine = np.zeros((2, self.places))
        confinement, axial = self.problem.confinement, self.modes.axial(self.degree)
        if confinement is not None and not self.problem.zonal:
            if self.modes.angles == 1:
                raise InvalidInput(
                    "the confinement is no function of the angle to the north pole, and the moments are those "
                    "about it; give them by degree and order, layout='order'"
                )
            cosine, sine = np.array(confinement.harmonic_multipliers(self.degree), dtype=float)
        elif confinement is not None:
            cosine[axial] = np.asarray(confinement.multipliers(self.domain, self.degree), dtype=float)
            if not confinement.even:
                sine[axial] = np.asarray(confinement.sine_multipliers(self.domain, self.degree), dtype=float)
        return cosine, sine

    def _sums(self, points: int) -> tuple[Vector, float | Vector]:
        modes = self.modes
        density = modes.values(self.numbers * self.cosine, self.numbers * self.sine, points)
        return density, modes.noise(self.cosine, self.sine, points)

    def averaged(self, function: Callable[[Vector], Vector]) -> float:
        """Return the mean of a function of f = |S| rho - 1."""
        modes, fluctuation = self.modes, self.numbers * self.cosine
        fluctuation[0] = 0.0

        def integrand(points: int) -> tuple[Vector, Vector]:
            fluctuations = modes.values(fluctuation, self.numbers * self.sine, points)
            floor = modes.noise(self.cosine, self.sine, points)
            self._require_positive(1 + fluctuations, floor, points)
            values = function(fluctuations)
            if not modes.amplifies:
                return values, np.abs(values)
            # d/df of (1+f) log(1+f) - f is log(1+f).
            errors = floor * np.abs(np.log(np.maximum(1 + fluctuations, floor)))
            self.require_known(modes.mean(errors, points))
            return values, np.abs(values) + errors / EPS

        return converged(modes, self.places, integrand)

    def require_known(self, error: float) -> None:
        """Refuse an integral whose error is too large."""
        if error > _LARGEST_ERROR:
            raise ComputationFailed(
                f"{self.cosine.size} moments in {self.domain.dimension} dimensions give an integral of the density "
                f"to {error:.0e} only, their rounding being multiplied by the number of harmonics of each degree; "
                "the free energy and the stability of a stationary state are in its record"
            )

    def _require_positive(self, density: Vector, floor: float | Vector, points: int) -> None:
        excess_of_noise = density + floor
        lowest = int(excess_of_noise.argmin())
        if excess_of_noise.flat[lowest] < 0:
            angles = self.modes.grid(points)
            angle = float(angles.reshape(-1, density.size)[0, lowest])
            value = float(density.flat[lowest]) / self.domain.volume
            raise InvalidInput(
                f"a density must be positive, but the moments give {value:.3e} at angle {angle:.6g}; more modes or "
                "smaller moments are needed"
            )


def _moments(cosine: npt.ArrayLike, sine: npt.ArrayLike | None) -> tuple[Vector, Vector]:
    m, s = _pair(cosine, sine, "density")
    if abs(m[0] - 1) > 64 * EPS:
        raise InvalidInput(f"a density has mass m_0 = 1, not {m[0]!r}; divide the moments by it")
    return m, s


def _pair(cosine: npt.ArrayLike, sine: npt.ArrayLike | None, what: str) -> tuple[Vector, Vector]:
    first = np.asarray(cosine, dtype=float)
    second = np.zeros_like(first) if sine is None else np.asarray(sine, dtype=float)
    if first.ndim != 1 or first.size == 0 or second.shape != first.shape:
        raise InvalidInput(
            f"the moments of a {what} are two vectors of one length, not of shapes {first.shape} and {second.shape}"
        )
    if second[0] != 0:
        raise InvalidInput(f"the sine moment 0 of a {what} must be 0, not {second[0]!r}")
    return first, second


def _lengthened(moments: Vector, places: int) -> Vector:
    return np.concatenate([moments, np.zeros(places - moments.size)])


def _products(problem: Equation, degrees: npt.NDArray[np.intp]) -> Vector:
    """Return kappa w_k / (2 D) of each place; the coupling multiplies first, so that nothing overflows."""
    multipliers = problem.potential.multipliers(problem.domain, int(degrees[-1]))
    products = np.longdouble(problem.fixed_coupling) * multipliers / (2 * problem.positive_noise)
    return np.asarray(products, dtype=float)[degrees]
