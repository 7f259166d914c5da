r"""Free energy of a density on the circle, its dissipation and its variations.

.. math::

    F(\rho) = D \int \rho\log\rho + \frac\kappa2 \iint W(t-s)\rho(t)\rho(s) + \int V\rho ,
    \qquad
    \frac{dF}{dt} = -\int \rho\, \bigl|\partial_t (D\log\rho + \kappa W*\rho + V)\bigr|^2 .

A density is given by its moments :math:`m_k = \int\rho\cos kt`, :math:`s_k = \int\rho\sin kt`:
:math:`2\pi\rho = 1 + f`, :math:`f = 2\sum_{k\ge1} (m_k\cos kt + s_k\sin kt)`. The interaction is the
finite sum :math:`\iint W\rho\rho = w_0 + \sum_k w_k |c_k|^2`; only the entropy needs quadrature, by the
trapezoid rule on grids doubled until two agree.

The gap is not a difference of two energies:
:math:`(F-F_0)/D = \sum_k (1-\lambda_k)|c_k|^2 + \langle h(f) - f^2/2\rangle + \sum_k v_k m_k/D`, with
:math:`h(f) = (1+f)\log(1+f) - f`, by Parseval; far from uniform h itself is summed, its
values being >= 0.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from .entropy import SERIES_BELOW, excess, excess_beyond_square
from .errors import ComputationFailed, InvalidInput
from .problem import McKeanVlasov

Vector: TypeAlias = npt.NDArray[np.float64]

_EPS = float(np.finfo(float).eps)
_LARGEST_GRID = 2**18


@dataclass(frozen=True)
class FreeEnergy:
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


def free_energy_parts(
    problem: McKeanVlasov, cosine: npt.ArrayLike, sine: npt.ArrayLike | None = None
) -> FreeEnergy:
    """Return the free energy of the density with the given moments.

    Parameters
    ----------
    problem
        With a coupling.
    cosine, sine
        m_0..m_n with m_0 = 1 and s_0..s_n with s_0 = 0 (absent for an even density), shape (n + 1,).

    Raises
    ------
    InvalidInput
        If the coupling is free, the arrays do not describe a density of mass 1, or it is not positive.
    ComputationFailed
        If the entropy integral does not converge.
    """
    m, s = _moments(cosine, sine)
    products, confinement = _products(problem, m.size - 1), _confinement(problem, m.size - 1)
    squares = m**2 + s**2
    near_uniform = 2 * float(np.sqrt(squares[1:]).sum()) < SERIES_BELOW
    remainder = _averaged(excess_beyond_square if near_uniform else excess, m, s)
    weights = (1.0 if near_uniform else 0.0) + products[1:]
    interaction_gap = math.fsum(weights * squares[1:])
    relative_entropy = remainder + (math.fsum(squares[1:]) if near_uniform else 0.0)
    noise = problem.noise
    entropy = noise * (relative_entropy - math.log(2 * math.pi))
    interaction = noise * math.fsum(products * squares)
    external = math.fsum(confinement * m)
    gap = remainder + interaction_gap + math.fsum(confinement[1:] * m[1:]) / noise
    return FreeEnergy(entropy, interaction, external, entropy + interaction + external, gap)


def dissipation(problem: McKeanVlasov, cosine: npt.ArrayLike, sine: npt.ArrayLike | None = None) -> float:
    """Return int rho |d/dt (D log rho + kappa W*rho + V)|^2 = -dF/dt >= 0, zero exactly at stationary states.

    Raises
    ------
    InvalidInput
        As for `free_energy_parts`.
    ComputationFailed
        If the integral does not converge.
    """
    m, s = _moments(cosine, sine)
    degree = m.size - 1
    forces = 2 * problem.noise * _products(problem, degree)
    confinement = _confinement(problem, degree)
    modes = np.arange(degree + 1)
    floor = _noise_level(m, s)

    def integrand(points: int) -> tuple[Vector, Vector]:
        density = _synthesised(m, s, points, factor=2)
        _require_positive(density, floor)
        diffusive = problem.noise * _synthesised(modes * s, -modes * m, points, factor=2)
        potential_slope = _synthesised(modes * forces * s, -modes * (forces * m + confinement), points)
        drift = density * potential_slope
        weight = 1 / np.maximum(density, floor)
        # Diffusion and drift cancel at a stationary state; what remains is the rounding of their sizes.
        return (diffusive + drift) ** 2 * weight, (diffusive**2 + drift**2) * weight

    return _converged(integrand, degree)


def first_variation(
    problem: McKeanVlasov, cosine: npt.ArrayLike, sine: npt.ArrayLike | None = None, points: int | None = None
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
        Number of equispaced angles from 0; by default 8 per mode, at least 64.

    Raises
    ------
    InvalidInput
        As for `free_energy_parts`, or if ``points`` cannot carry the modes.
    """
    m, s = _moments(cosine, sine)
    degree = m.size - 1
    points = points or max(64, 8 * degree)
    if points <= 2 * degree:
        raise InvalidInput(f"points = {points} is too few for {degree} modes; it must exceed {2 * degree}")
    floor, forces = _noise_level(m, s), 2 * problem.noise * _products(problem, degree)
    density = _synthesised(m, s, points, factor=2)
    _require_positive(density, floor)
    potential = _synthesised(forces * m + _confinement(problem, degree), forces * s, points)
    logarithm = np.log(np.maximum(density, floor) / (2 * np.pi))
    angles = 2 * np.pi * np.arange(points) / points
    return angles, np.asarray(problem.noise * (logarithm + 1) + potential)


def second_variation(
    problem: McKeanVlasov,
    cosine: npt.ArrayLike,
    sine: npt.ArrayLike | None,
    direction_cosine: npt.ArrayLike,
    direction_sine: npt.ArrayLike | None = None,
) -> float:
    """Return D int u^2/rho + kappa double integral of W u u for a perturbation u of mass 0.

    Parameters
    ----------
    problem, cosine, sine
        As for `free_energy_parts`.
    direction_cosine, direction_sine
        Moments int u cos kt and int u sin kt from k = 0; the first of each is 0.

    Raises
    ------
    InvalidInput
        As for `free_energy_parts`, or if u has mass.
    ComputationFailed
        If the integral does not converge.
    """
    m, s = _moments(cosine, sine)
    a, b = _pair(direction_cosine, direction_sine, "direction")
    if a[0] != 0:
        raise InvalidInput(f"a perturbation keeps the mass, so its moment 0 must be 0, not {a[0]!r}")
    products = 2 * _products(problem, a.size - 1)
    floor, degree = _noise_level(m, s), max(m.size, a.size) - 1

    def integrand(points: int) -> tuple[Vector, Vector]:
        density = _synthesised(m, s, points, factor=2)
        _require_positive(density, floor)
        values = _synthesised(a, b, points, factor=2) ** 2 / np.maximum(density, floor)
        return values, values

    local = _converged(integrand, degree)
    return problem.noise * (local + math.fsum(products * (a**2 + b**2)))


def _moments(cosine: npt.ArrayLike, sine: npt.ArrayLike | None) -> tuple[Vector, Vector]:
    m, s = _pair(cosine, sine, "density")
    if abs(m[0] - 1) > 64 * _EPS:
        raise InvalidInput(f"a density has mass m_0 = 1, not {m[0]!r}; divide the moments by it")
    return m, s


def _pair(cosine: npt.ArrayLike, sine: npt.ArrayLike | None, what: str) -> tuple[Vector, Vector]:
    first = np.asarray(cosine, dtype=float)
    second = np.zeros_like(first) if sine is None else np.asarray(sine, dtype=float)
    if first.ndim != 1 or first.size == 0 or second.shape != first.shape:
        raise InvalidInput(
            f"the moments of a {what} are two vectors of one length, not of shapes {first.shape} and {second.shape}"
        )
    for name, moments in (("cosine", first), ("sine", second)):
        bad = np.flatnonzero(~np.isfinite(moments))
        if bad.size:
            raise InvalidInput(f"the {name} moment {bad[0]} of the {what} is {moments[bad[0]]}; all must be finite")
    if second[0] != 0:
        raise InvalidInput(f"the sine moment 0 of a {what} must be 0, not {second[0]!r}")
    return first, second


def _products(problem: McKeanVlasov, degree: int) -> Vector:
    """Return kappa w_k / (2 D), k = 0..degree; the small coupling meets the large multiplier first."""
    multipliers = problem.potential.multipliers(problem.domain, degree)
    return np.asarray(np.longdouble(problem.fixed_coupling) * multipliers / (2 * problem.noise), dtype=float)


def _confinement(problem: McKeanVlasov, degree: int) -> Vector:
    if problem.confinement is None:
        return np.zeros(degree + 1)
    return np.asarray(problem.confinement.multipliers(problem.domain, degree), dtype=float)


def _synthesised(cosine: Vector, sine: Vector, points: int, factor: int = 1) -> Vector:
    """Return c_0 + factor * sum_k (c_k cos kt + s_k sin kt) on equispaced angles from 0."""
    spectrum = np.zeros(points // 2 + 1, dtype=complex)
    spectrum[: cosine.size] = (cosine - 1j * sine) * (factor / 2)
    spectrum[0] = cosine[0]
    return np.asarray(np.fft.irfft(spectrum, points) * points)


def _noise_level(m: Vector, s: Vector) -> float:
    """Return the rounding noise of 2 pi rho evaluated from its moments."""
    return 8 * _EPS * (1 + 2 * float(np.hypot(m[1:], s[1:]).sum()))


def _require_positive(density: Vector, floor: float) -> None:
    lowest = int(density.argmin())
    if density[lowest] < -floor:
        angle = 2 * np.pi * lowest / density.size
        raise InvalidInput(
            f"a density must be positive, but the moments give {density[lowest] / (2 * np.pi):.3e} at angle "
            f"{angle:.6g}; more modes or smaller moments are needed"
        )


def _averaged(function: Callable[[Vector], Vector], m: Vector, s: Vector) -> float:
    """Return the mean over the circle of a function of f = 2 pi rho - 1."""
    floor = _noise_level(m, s)
    fluctuation = m.copy()
    fluctuation[0] = 0.0

    def integrand(points: int) -> tuple[Vector, Vector]:
        fluctuations = _synthesised(fluctuation, s, points, factor=2)
        _require_positive(1 + fluctuations, floor)
        values = function(fluctuations)
        return values, np.abs(values)

    return _converged(integrand, m.size - 1)


def _converged(integrand: Callable[[int], tuple[Vector, Vector]], degree: int) -> float:
    """Return the mean of a periodic function on grids doubled until two agree.

    The integrand returns its values and their sizes before cancellation, which set the tolerance.
    """
    points = 1 << (4 * degree + 16).bit_length()
    coarse = float(integrand(points)[0].mean())
    while points < _LARGEST_GRID:
        points *= 2
        values, sizes = integrand(points)
        fine = float(values.mean())
        if abs(fine - coarse) <= 16 * _EPS * float(sizes.mean()):
            return fine
        coarse = fine
    raise ComputationFailed(
        f"an integral over the density did not settle on {points} points; the density touches zero: "
        "use moments of a smooth positive density"
    )
