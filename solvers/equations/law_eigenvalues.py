"""Eigenvalues of linearisations that are symmetric in no known inner product: real parts, with error bounds."""

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import numpy as np
import scipy.linalg
from numpy.typing import NDArray

from meanfield import Equation, NotResolved, State
from meanfield.equations import Capability, VelocityLaw

from ..bases import EPS, Floats

# A complex step: its square is nothing beside one.
STEP = 1e-30
# Eigenvalues are reported while more degrees change them by less than this share of themselves or of the noise.
TRUNCATION_TOLERANCE = 1e-9
# Multiples of eps |L| up to which an eigenvalue is rounding noise.
ROUNDING = 4.0
# Moments of the density above this decide the degrees for counts; so many more there are, of so many at most.
RESOLVED, BEYOND, MOST = 1e-12, 24, 256
# Degrees for counts are multiples of this, so that points of a branch share tables of harmonics.
SHARED = 16
# Points whose counts are kept: those of a branch are counted, and asked later whether rounding decides them.
COUNTED = 512

# Most degrees under a law without a Gibbs map: where its velocity is hardly smooth the moments of a state decay
# slowly, and eigenvalues change little by what is left out. How well two truncations must agree there.
MOST_DEGREES, AGREEING = 512, 1e-6
Values = NDArray[Any]
# Rounding errors of a sum of modes in units of eps times the sum of the moduli of its terms.
NOISE = 4.0


def regularised_velocity(
    law: VelocityLaw, drive: Values, slope: Values, radial: Values | None, rounding: float | Floats
) -> Values:
    """Return the velocity of a law, regularised to zero where both slope and radial drive are rounding noise.

    Parameters
    ----------
    rounding
        Their rounding errors, as :func:`rounding_of` returns them.
    """
    squares = slope * slope
    if radial is None:
        return np.asarray(law.speed(drive, squares, None) * slope)
    lost = (squares == 0.0) & (radial == 0.0)
    radial = np.where(lost, rounding, radial)
    length = squares + radial * radial
    return np.asarray(law.speed(drive, squares, radial) * slope * (length / (length + rounding**2)))


def velocity_slopes(
    law: VelocityLaw, drive: Floats, slope: Floats, radial: Floats | None, rounding: float | Floats
) -> tuple[Floats, Floats, Floats | None]:
    """Return the derivatives of the velocity by the drive, its slope and the radial drive, by complex steps."""
    step = 1j * STEP
    by_drive = regularised_velocity(law, drive + step, slope, radial, rounding).imag / STEP
    by_slope = regularised_velocity(law, drive, slope + step, radial, rounding).imag / STEP
    if radial is None:
        return by_drive, by_slope, None
    return by_drive, by_slope, regularised_velocity(law, drive, slope, radial + step, rounding).imag / STEP


def rounding_of(*terms: Values) -> float:
    """Return the rounding error of sums of modes with some terms."""
    return NOISE * EPS * sum(float(np.abs(part).sum()) for part in terms)


class Eigenvalues(NamedTuple):
    """Real parts of the eigenvalues of a block, largest first, and bounds of their errors."""

    values: Floats
    errors: Floats


class Signs(NamedTuple):
    """The number of eigenvalues with a real part above rounding, and whether that of one is within it of zero."""

    growing: int
    neutral: bool


def deflated(matrix: Floats, generator: Floats) -> Floats:
    """Return a matrix whose eigenvalue 0 with a known eigenvector is moved behind all others (Brauer)."""
    square = float(generator @ generator)
    if square == 0.0:
        return matrix
    shift = 2.0 * float(np.linalg.norm(matrix)) / square
    return np.asarray(matrix - shift * np.multiply.outer(generator, generator))


def largest_rate(matrices: Iterable[Floats]) -> float:
    """Return minus the largest real part of the eigenvalues of the blocks of a matrix.

    Raises
    ------
    NotResolved
        If it is below rounding.
    """
    rate, rounding = min((-float(_real_parts(matrix).max()), rounding_in(matrix)) for matrix in matrices)
    if abs(rate) <= rounding:
        raise NotResolved(f"the slowest rate, {rate:.1g}, is below the rounding of the linearisation")
    return rate


def rate_or_error(rate: Callable[[State], float], state: State) -> float | Exception:
    """Return the rate of a state, or the error instead, so that others have theirs nevertheless."""
    try:
        return rate(state)
    except Exception as error:
        return error


def signs_in(matrix: Floats, neutral: float = 0.0) -> Signs:
    """Return how many eigenvalues of a matrix grow, and whether one may or may not.

    Those up to ``neutral``, or to rounding where that is more, do neither.

    Where the symmetric part is negative definite none does (Bendixson), which a Cholesky factorisation tells in a
    fraction of the time.
    """
    if not matrix.size:
        return Signs(0, False)
    rounding = max(rounding_in(matrix), neutral)
    opposite = -0.5 * (matrix + matrix.T)
    # Its own rounding is that of a sum of as many products as there are rows.
    opposite.flat[:: matrix.shape[0] + 1] -= matrix.shape[0] * rounding
    *_, failure = scipy.linalg.lapack.dpotrf(opposite, overwrite_a=True)
    if not failure:
        return Signs(0, False)
    rates = _real_parts(matrix)
    neutral = np.abs(rates).min(initial=np.inf) <= rounding
    return Signs(int(np.count_nonzero(rates > rounding)), bool(neutral))


def rounding_in(matrix: Floats) -> float:
    """Return the modulus up to which eigenvalues of a matrix are rounding noise."""
    return ROUNDING * EPS * float(np.linalg.norm(matrix))


def counting_degree(last: int) -> int:
    """Return the degree of truncation for counts at a density of a degree."""
    last = min(last, MOST)
    return SHARED * -(-(last + max(BEYOND, last // 3)) // SHARED)


def _real_parts(matrix: Floats) -> Floats:
    return np.asarray(np.linalg.eigvals(matrix).real)


def truncations(problem: Equation, degree: int) -> tuple[int, int]:
    """Return two degrees of truncation at a density of a degree; eigenfunctions need little more than itself."""
    coarse, fine = degree + max(24, degree // 3), degree + max(40, 2 * degree // 3)
    if problem.lacks(Capability.GIBBS_MAP):
        return min(coarse, 3 * MOST_DEGREES // 4), min(fine, MOST_DEGREES)
    return coarse, fine


def agreed_rate(problem: Equation, rate_at: Callable[[int], float], degree: int) -> float:
    """Return the slowest rate at a density of a degree from that at a truncation.

    Raises
    ------
    NotResolved
        If the truncation leaves degrees of the density out, and the rate changes with it.
    """
    coarse, _ = truncations(problem, degree)
    rate = rate_at(coarse)
    change = abs(rate_at(coarse // 2) - rate) if degree > coarse else 0.0
    if change > AGREEING * max(abs(rate), problem.noise):
        raise NotResolved(
            f"the slowest rate changes by {change:.1g} if half of the {coarse} degrees are left out; the state is "
            "hardly smooth"
        )
    return rate


def resolved_eigenvalues(noise: float, coarse: Floats, fine: Floats) -> Eigenvalues:
    """Return the leading eigenvalues that do not change between two truncations of a matrix.

    Raises
    ------
    NotResolved
        If that is none.
    """
    one, other = _solved(coarse), _solved(fine)
    count = one.values.size
    change = np.abs(one.values - other.values[:count])
    errors = np.maximum(one.errors, other.errors[:count])
    wrong = np.flatnonzero(change > TRUNCATION_TOLERANCE * np.maximum(np.abs(one.values), noise) + errors)
    known = int(wrong[0]) if wrong.size else count
    if known == 0:
        raise NotResolved(
            "the largest eigenvalue of the linearisation changes with the degree of truncation, so that the "
            "slowest rate is not known; the state is too concentrated"
        )
    return Eigenvalues(other.values[:known], np.maximum(errors[:known], change[:known]))


def error_of(found: Eigenvalues) -> float:
    """Return the error of the eigenvalue of smallest modulus."""
    return float(found.errors[np.argmin(np.abs(found.values))])


def _solved(matrix: Floats) -> Eigenvalues:
    """Return the real parts of the eigenvalues of a matrix and bounds of their rounding errors."""
    found: Any = scipy.linalg.eig(matrix, left=True, right=True)
    values, left, right = found
    condition = 1.0 / np.maximum(np.abs(np.einsum("ij,ij->j", left.conj(), right)), EPS)
    order = np.argsort(values.real)[::-1]
    return Eigenvalues(values.real[order], ROUNDING * EPS * float(np.linalg.norm(matrix)) * condition[order])
