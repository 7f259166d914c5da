r"""Even functions that are smooth except at kinks and steep places: polynomials on pieces of :math:`[0, \pi]`.

Pieces are halved until the Chebyshev coefficients of each have decayed to rounding and the polynomial is the
function at the probes, or until a piece is so short that what happens in it moves no integral; there it is a line.
Pieces begin at the breakpoints that are known, and halving finds those that are not.

The multipliers are integrals of the polynomials by Gauss rules. With jumps :math:`[p^{(q)}]_j` of the derivatives
at the ends of pieces, at 0 and :math:`\pi` the odd derivatives themselves, partial integration bounds them on the
circle by

.. math:: |w_k| \le \frac2\pi \Bigl( \sum_{q<n} k^{-q-1} \sum_j |[p^{(q)}]_j| + k^{-n} \int_0^\pi |p^{(n)}| \Bigr)

for every n, and on spheres, with :math:`\sin^{d-2}t\,P_l = -(\sin^{d-2}t\,\partial_t P_l)' / (l(l+d-2))`,

.. math:: |\hat w_l| \le \frac{1}{l(l+d-2)} \int |d(\sin^{d-2}t\,p')|\,|P_l|\,c_d ,

where :math:`|P_l| \le \sqrt{2/(\pi(l+\frac12)\sin t)}` for d = 3 (Bernstein) and :math:`1/((l+1)\sin t)` for d = 4.
"""

import functools
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from numpy.polynomial import chebyshev

from ..domains import Domain
from ..errors import InvalidInput
from ..harmonics.gegenbauer import multiplicities
from ..harmonics.quadrature import gauss_rule
from .arrays import Array
from .formulas import formulas_of
from .sampling import PI
from .series import wrapped
from .waves import wave_sums
from .zonal import polar_mass

_EPS = float(np.finfo(float).eps)
_DERIVATIVES = 6
# The largest degree of sines.
MOST_ON_CIRCLE = 2**16
# Half the phase of waves over a panel of nodes.
_LARGEST_PHASE = 150.0


@dataclass(frozen=True, eq=False)
class Pieces:
    """An even, continuous function as polynomials on consecutive pieces of [0, pi].

    Attributes
    ----------
    ends : (m + 1,) float or longdouble
        From 0 to pi.
    coefficients : (m, n) float or longdouble
        Chebyshev coefficients on each piece.
    error
        Root mean square of the errors of the values.
    constant
        What is added to the polynomials.
    """

    ends: npt.NDArray[Any]
    coefficients: npt.NDArray[Any]
    error: float
    constant: float = 0.0

    def values(self, angle: npt.ArrayLike) -> Array:
        """Return the function at the angles."""
        return self._sum(np.abs(wrapped(angle)), 0) + self.constant

    def slope(self, angle: npt.ArrayLike) -> Array:
        """Return the derivative at the angles; 0 at 0 and pi, of the piece to the right at other kinks."""
        reduced = wrapped(angle)
        inside = (reduced != 0) & (np.abs(reduced) < np.pi)
        return np.asarray(np.sign(reduced) * inside * self._sum(np.abs(reduced), 1))

    def derivative(self, distance: npt.ArrayLike, *, order: int = 1) -> Array:
        """Return a derivative at distances from 0 in [0, pi], of the piece to the right at kinks."""
        return self._sum(np.asarray(distance, dtype=float), order)

    def multipliers(self, domain: Domain, degree: int) -> Array:
        """Return w_0, ..., w_degree; values below their errors are 0."""
        kinks = formulas_of(domain).kinks
        _require_degree(degree, kinks.most)
        # Powers of two, so that a growing degree finds what was computed before.
        return _multipliers(self, domain, min(1 << max(degree, 15).bit_length(), kinks.most))[: degree + 1].copy()

    def tail_bound(self, domain: Domain, degree: int) -> float:
        """Return a bound of the multipliers beyond a degree."""
        return formulas_of(domain).kinks.bound(self, float(degree + 1))

    def _sum(self, distance: Array, order: int) -> Array:
        """Return a derivative of the function at distances from 0."""
        place = np.clip(np.searchsorted(self.ends, distance, side="right") - 1, 0, self.ends.size - 2)
        coefficients, widths = self.derivatives[order], np.diff(self.ends)
        places = ((distance - self.ends[:-1][place]) * 2 / widths[place] - 1).astype(float)
        return np.asarray(
            chebyshev.chebval(places, np.moveaxis(coefficients[place], -1, 0), tensor=False), dtype=float
        )

    @functools.cached_property
    def derivatives(self) -> list[npt.NDArray[Any]]:
        """Chebyshev coefficients of the function and its derivatives on the pieces."""
        found = [self.coefficients]
        for _ in range(_DERIVATIVES):
            lowered = chebyshev.chebder(found[-1], axis=1) if found[-1].shape[1] > 1 else 0 * found[-1]
            found.append(lowered * (2 / np.diff(self.ends))[:, np.newaxis])
        return found

    @functools.cached_property
    def variations(self) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
        """Sums of jumps of each derivative and bounds of the integrals of its modulus."""
        jumps, integrals = [], []
        for order, coefficients in enumerate(self.derivatives):
            left, right = (chebyshev.chebval(end, coefficients.T) for end in (-1.0, 1.0))
            outer = np.abs(left[0]) + np.abs(right[-1]) if order % 2 else 0.0
            # The pieces are continuous by construction; what is left is rounding.
            jumps.append(float(np.abs(right[:-1] - left[1:]).sum() + outer) if order else 0.0)
            constant = 0.0 if order else float(coefficients[:, 0].mean())
            sizes = np.abs(coefficients[:, 0] - constant) + np.abs(coefficients[:, 1:]).sum(axis=1)
            integrals.append(float((sizes * np.diff(self.ends)).sum()))
        return np.array(jumps[:-1]), np.array(integrals)

    def laplacian(self, dimension: int) -> float:
        r"""Return the integral of :math:`|d(\sin^{d-2}t\,p')| / \sin^{(d-2)/2}t`."""
        return _laplacian(self, dimension)

    def described(self) -> dict[str, Any]:
        """Return the pieces as values that JSON can hold; trailing zeros are left out."""
        rows = [np.trim_zeros(row, "b") for row in self.coefficients.astype(float)]
        return {
            "ends": self.ends.astype(float).tolist(),
            "coefficients": [row.tolist() or [0.0] for row in rows],
            "error": self.error,
            "constant": self.constant,
        }


def pieces_from(description: Any) -> Pieces:
    """Return the pieces of a description by ``described``."""
    try:
        ends = np.array(description["ends"], dtype=float)
        rows = [np.array(row, dtype=float) for row in description["coefficients"]]
        error, constant = float(description["error"]), float(description["constant"])
        table = np.zeros((len(rows), max(row.size for row in rows)))
        for line, row in zip(table, rows, strict=True):
            line[: row.size] = row
    except (TypeError, ValueError, KeyError) as problem:
        raise InvalidInput(
            f"pieces are described by ends, coefficients, error and constant; {problem!r} was met; give a "
            f"function or an "
            "expression instead"
        ) from problem
    good = (
        ends.ndim == 1
        and ends.size == len(rows) + 1
        and np.isfinite(table).all()
        and np.isfinite([error, constant]).all()
    )
    if not (good and ends[0] == 0 and abs(ends[-1] - np.pi) <= 4 * _EPS and (np.diff(ends) > 0).all()):
        raise InvalidInput(
            f"the ends of {len(rows)} pieces must increase from 0 to pi and their coefficients be finite, not "
            f"{ends.tolist()[:4]}"
        )
    return Pieces(ends, table, error, constant)


def sine_integrals(pieces: Pieces, degree: int) -> npt.NDArray[np.float64]:
    r"""Return :math:`\frac2\pi\int_0^\pi p \sin kt\,dt`, k = 0..degree, of a function given on [0, pi].

    Values below their errors are 0.

    Raises
    ------
    InvalidInput
        If the degree is too large.
    """
    _require_degree(degree, MOST_ON_CIRCLE)
    return _sine_integrals(pieces, min(1 << max(degree, 15).bit_length(), MOST_ON_CIRCLE))[: degree + 1].copy()


@functools.lru_cache(maxsize=64)
def _sine_integrals(pieces: Pieces, degree: int) -> npt.NDArray[np.float64]:
    points, weights, values = _sampled(pieces, degree + 2)
    result = -2 * wave_sums(values * weights / PI, points, degree).imag
    result[np.abs(result) <= np.sqrt(2.0) * pieces.error] = 0
    return np.asarray(result, dtype=np.float64)


def _require_degree(degree: int, most: int) -> None:
    if degree > most:
        raise InvalidInput(
            f"the multipliers of a function with kinks are computed up to degree {most}, not {degree}; "
            "take a smaller range of couplings"
        )


def _sampled(pieces: Pieces, degree: int) -> tuple[Any, Any, Any]:
    """Return Gauss nodes on [0, pi] for the polynomials times waves up to a degree, their weights and values."""
    (place, places), weights = _nodes(pieces.ends, pieces.coefficients.shape[1], degree)
    values = chebyshev.chebval(places, np.moveaxis(pieces.coefficients[place], -1, 0), tensor=False)
    lengths = np.diff(pieces.ends).astype(np.longdouble)[place]
    points = pieces.ends[:-1].astype(np.longdouble)[place] + lengths * (1 + places) / 2
    return points, weights * lengths, values


@functools.lru_cache(maxsize=64)
def _laplacian(pieces: Pieces, dimension: int) -> float:
    r"""Return the integral of :math:`|d(\sin^{d-2}t\,p')| / \sin^{(d-2)/2}t`."""
    power = dimension - 2
    first = pieces.derivatives[1]
    left, right = (chebyshev.chebval(end, first.T) for end in (-1.0, 1.0))
    inner = np.sin(pieces.ends[1:-1].astype(float))
    jumps = float((np.abs(right[:-1] - left[1:]) * inner ** (power / 2)).sum())
    # Panels halved towards the poles, where the bound of P_l is singular.
    small = np.pi * 0.5 ** np.arange(2, 60)
    panels = np.unique(np.concatenate([pieces.ends.astype(float), small, np.pi - small[:-10]]))
    rule = gauss_rule(3, 16)
    angles = panels[:-1, np.newaxis] + np.diff(panels)[:, np.newaxis] * (1 - rule.nodes) / 2
    sine, cosine = np.sin(angles), np.cos(angles)
    slope, bend = pieces.derivative(angles), pieces.derivative(angles, order=2)
    density = np.abs(power * sine ** (power - 1) * cosine * slope + sine**power * bend)
    weighted = density / sine ** (power / 2)
    # One in a hundred covers the quadrature of a modulus.
    return jumps + 1.01 * float(((weighted @ rule.weights) * np.diff(panels)).sum())


@functools.lru_cache(maxsize=64)
def _multipliers(pieces: Pieces, domain: Domain, degree: int) -> npt.NDArray[np.float64]:
    points, weights, values = _sampled(pieces, degree + domain.dimension)
    measure = weights * np.sin(points) ** (domain.dimension - 2) / polar_mass(domain.dimension)
    # The mean is taken apart, so that it rounds no other multiplier.
    mean = (values * measure).sum() / measure.sum()
    numbers = multiplicities(domain, degree)
    result = formulas_of(domain).kinks.integrals((values - mean) * measure, points, degree) * numbers
    # By Cauchy and Schwarz.
    result[np.abs(result) <= pieces.error * np.sqrt(numbers)] = 0
    result[0] = (mean if abs(mean) > pieces.error else 0) + pieces.constant
    return np.asarray(result, dtype=np.float64)


def _nodes(ends: npt.NDArray[Any], size: int, degree: int) -> tuple[tuple[Any, Any], Any]:
    """Return the pieces, places in [-1, 1] on them and weights of Gauss nodes for polynomials times waves."""
    phases = degree * np.diff(ends).astype(float) / 2
    panels = np.ceil(phases / _LARGEST_PHASE).astype(int)
    phases /= panels
    # A wave of phase x over half a panel is a polynomial of degree x and some more.
    counts = 8 * np.ceil((phases + 5 * np.cbrt(phases) + size + 16) / 16).astype(int)
    found: list[tuple[Any, Any, Any]] = []
    for piece, (several, count) in enumerate(zip(panels.tolist(), counts.tolist(), strict=True)):
        rule = gauss_rule(3, count)
        places = np.where(rule.nodes >= 0, rule.fine - 1, 1 - rule.fine)
        centres = (2 * np.arange(several) + 1 - several)[:, np.newaxis]
        weights = np.tile(rule.weights.astype(np.longdouble) / several, several)
        found.append((np.full(weights.size, piece), ((centres + places) / several).ravel(), weights))
    which, places, weights = (np.concatenate(parts) for parts in zip(*found, strict=True))
    return (which, places), weights
