r"""Perturbations concentrated where the density of a zonal state is negligible.

Polynomials orthonormal under the density do not resolve where it nearly vanishes, but perturbations may be slowest
there: far from a cluster its force is weak. In the variable of :mod:`.meridians` the interaction
:math:`\sum\sigma_l v_l v_l^T` has a factor :math:`\rho` and is absent where this is below rounding; the Witten
Laplacian is left. With :math:`\varphi = \sin^{k}\theta\, y`, :math:`k = (d-2)/2`, it is

.. math:: -\varphi'' + U_m\varphi, \qquad U_m = V_m + k(k-1)\cot^2\theta - k .

An eigenfunction of a rate :math:`\mu D` oscillates where :math:`U_m < \mu` only, and decays by
:math:`\exp(-\int\sqrt{U_m-\mu}\,d\theta)` beyond: each such interval, extended until it has decayed, has its own
rates. From a place where the density has a maximum, though it is negligible, particles leave over a saddle, and the
interval is extended beyond that; where this takes so long that the rate is lost in the rounding of a matrix, it is
that of :mod:`.escape`. Where one reaches into the bulk of the density, the whole meridian is taken, with
the interaction.
"""

import functools
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from meanfield import NotResolved

from ...bases import EPS, Floats, Integers
from ...bases.gegenbauer import sector_functions
from ...linear_algebra.accurate import complement
from .escape import escape_rate
from .fields import Exponent
from .grids import stepped
from .meridians import NODES, Functions, Shape, Span, functions_on, polynomials_on, rule_at, shape_at

# The logarithm of the mass per angle below its peak from which on the interaction is lost in rounding.
NEGLIGIBLE_DENSITY = 64.0
# Eigenfunctions are cut where they have decayed to the exponential of minus this; the error is its square.
DECAY = 18.0
# Roots of the density at two wells of U_m that are apart by the exponential of this leave 7 digits of the smaller.
APART = 20.0
# Angles between the poles at which the density is looked at.
SAMPLES = 4000
ANGLES = np.pi * (np.arange(SAMPLES) + 0.5) / SAMPLES
# Numbers of functions on an interval: the first, its growth, and the last.
FIRST_SIZE, GROWTH, LARGEST_SIZE = 32, 1.5, 250
# The same on a whole meridian.
FIRST_WHOLE, LARGEST_WHOLE = 96, 500
# Rates are known when more functions change them by less than this share.
CONVERGED = 1e-10
# Largest rounding error of a rate, as a share of it.
ROUNDED = 1e-7
# A bound is lowered by this factor, so often at the most, until the intervals below it are isolated.
SMALLER, LOWERED = 0.8, 80


class Rates(NamedTuple):
    """Rates of one sector in units of D, ascending: all below ``complete``, or some of them the lowest."""

    rates: Floats
    complete: float


class Vacuum:
    """The angles at which the density of a zonal state is negligible, with the rates of perturbations there.

    Parameters
    ----------
    exponent
        The exponent of the state.
    """

    def __init__(self, exponent: Exponent) -> None:
        self._exponent = exponent

    @functools.cached_property
    def _sampled(self) -> Shape:
        return shape_at(self._exponent, ANGLES)

    @functools.cached_property
    def _masses(self) -> Floats:
        """The logarithm of the mass per angle at the samples, up to a constant."""
        shape = self._sampled
        return np.asarray(shape.values + (self._exponent.dimension - 2) * np.log(np.sin(shape.angles)))

    @functools.cached_property
    def there(self) -> bool:
        """Whether the density is negligible anywhere except by the vanishing surface at the poles."""
        # A bound first: most states are far from concentrated.
        coefficients = self._exponent.coefficients
        if 2.0 * float(np.abs(coefficients[1:]).sum()) <= NEGLIGIBLE_DENSITY:
            return False
        table = _sampled_polynomials(self._exponent.dimension, stepped(coefficients.size - 1))
        return float(np.ptp(coefficients @ table[: coefficients.size])) > NEGLIGIBLE_DENSITY

    def rates(self, order: int, bound: float, count: int) -> Rates:
        """Return the rates of an order where the density is negligible, below a bound and at most ``count``.

        Parameters
        ----------
        order
            m.
        bound
            In units of D. ``complete`` of the result is below it if eigenfunctions of larger rates reach into
            the bulk of the density.

        Raises
        ------
        NotResolved
            If a rate is lost in rounding.
        """
        if not self.there or bound <= 0.0:
            return Rates(np.zeros(0), bound)
        lower = bound
        for _ in range(LOWERED):
            spans = self._spans(order, lower)
            if spans is not None:
                break
            lower *= SMALLER
        found = [self._on(span, order, lower, count) for span in spans or []]
        complete = min([lower if spans is not None else 0.0, *(float(rates[-1]) for rates in found)])
        rates = np.sort(np.concatenate([np.zeros(0), *found]))
        rates = rates[rates < complete]
        return Rates(rates[:count], complete if rates.size <= count else float(rates[count]))

    def whole(self, order: int, count: int) -> Rates:
        """Return the lowest rates of an order on the whole meridian, at most ``count``, rotation excluded.

        Raises
        ------
        NotResolved
            If they need more functions than are affordable.
        """
        previous, size = np.zeros(0), FIRST_WHOLE
        while size <= LARGEST_WHOLE:
            rates, rounding = self._interacting(order, size)
            known = _unchanged(rates, previous, rounding)
            if known.size > 1 and rounding[0] <= ROUNDED * np.abs(known[0]):
                return Rates(known[:count], float(known[min(count, known.size - 1)]))
            previous, size = rates, int(GROWTH * size)
        raise NotResolved(
            f"the perturbations of azimuthal order {order} need more than {LARGEST_WHOLE} functions between the "
            "poles; leave the rates out (--no-rates, rates=False)"
        )

    def _spans(self, order: int, bound: float) -> list[Span] | None:
        """Return the spans of angles of eigenfunctions with rates below a bound; None if one reaches the bulk."""
        values, barrier = self._masses, self._barrier(order)
        empty = values < values.max() - NEGLIGIBLE_DENSITY
        allowed = np.flatnonzero(empty & (barrier < bound))
        decays = np.sqrt(np.maximum(barrier - bound, 0.0)) * (np.pi / SAMPLES)
        found: list[tuple[int, int]] = []
        for group in np.split(allowed, np.flatnonzero(np.diff(allowed) > 1) + 1) if allowed.size else []:
            if _borders(group, empty, barrier):
                continue
            first, last = (_reached(int(group[end]), side, decays, values) for end, side in ((0, -1), (-1, 1)))
            if first is None or last is None:
                return None
            while found and found[-1][1] >= first:
                first = min(first, found.pop()[0])
            found.append((first, last))
        step = np.pi / SAMPLES
        return [
            (0.0 if first == 0 else (first + 0.5) * step, np.pi if last == SAMPLES - 1 else (last + 0.5) * step)
            for first, last in found
        ]

    def _barrier(self, order: int) -> Floats:
        """Return U_m of an order at the samples."""
        shape, dimension = self._sampled, self._exponent.dimension
        half = 0.5 * (dimension - 2)
        around = order * (order + dimension - 3) / np.sin(shape.angles) ** 2
        potential = 0.25 * shape.slope**2 + 0.5 * shape.laplacian + around
        return np.asarray(potential + half * (half - 1.0) / np.tan(shape.angles) ** 2 - half)

    def _on(self, span: Span, order: int, bound: float, count: int) -> Floats:
        """Return the lowest rates on a span, up to a bound or ``count``, that converge; zero if none does."""
        previous, size, power = np.zeros(0), FIRST_SIZE, self._power(span, order, bound)
        longest, escape = np.zeros(0), None
        while True:
            found = functions_on(self._exponent, order, span, size, NODES * size, power)
            sizes = np.asarray(np.linalg.svd(found.slopes, compute_uv=False)[::-1], dtype=float)
            rates, rounding = sizes**2, 16.0 * EPS * sizes * sizes[-1]
            if rounding[0] > ROUNDED * rates[0] and escape is None:
                # The next ones may live in the cluster as well as on the saddle, so many orders of density apart.
                previous, size, power, escape = np.zeros(0), FIRST_SIZE, 0.0, self._escape(span, order)
                continue
            if escape is not None:
                rates[0], rounding[0] = escape, 0.0
            if (rounding > ROUNDED * rates).any():
                raise _below_rounding(order)
            known = _unchanged(rates, previous, rounding)
            if known.size and (known[-1] >= bound or known.size > count):
                return known
            # The largest numbers of functions lose digits of their own.
            longest = max(longest, known, key=len)
            if size * GROWTH > LARGEST_SIZE:
                return longest if longest.size else np.zeros(1)
            previous, size = rates, int(GROWTH * size)

    def _escape(self, span: Span, order: int) -> float:
        """Return the escape rate from a cluster about a pole, for rates that are lost in the rounding of matrices.

        Raises
        ------
        NotResolved
            If the span has no such cluster, or its rate is below the smallest number.
        """
        about_pole = (span[0] == 0.0) != (span[1] == np.pi)
        rate = escape_rate(self._exponent, span) if about_pole and order == 0 else 0.0
        if rate == 0.0:
            raise _below_rounding(order)
        return rate

    def _power(self, span: Span, order: int, bound: float) -> float:
        """Return the power of the root of the density that follows the eigenfunctions on a span.

        About a minimum of the density the lowest is nearly its inverse root, about a maximum the root. Where those
        below the bound are concentrated about both, neither power resolves the other.
        """
        angles, half = self._sampled.angles, 0.5 * (self._exponent.dimension - 2) + order
        inside = (angles > span[0]) & (angles < span[1])
        barrier, values = self._barrier(order)[inside], 0.5 * self._sampled.values[inside]
        walled = np.pad(barrier, 1, constant_values=np.inf)
        wells = (barrier < bound) & (barrier <= walled[:-2]) & (barrier <= walled[2:])
        if wells.any() and float(np.ptp(values[wells])) > APART:
            return 0.0
        sines = half * np.log(np.sin(angles[inside]))
        return min((-1.0, 0.0, 1.0), key=lambda power: float(barrier[np.argmax(sines + power * values)]))

    def _interacting(self, order: int, size: int) -> tuple[Floats, Floats]:
        """Return the rates on ``size`` functions on the whole meridian, rotation excluded, and their rounding."""
        exponent = self._exponent
        found = functions_on(exponent, order, (0.0, np.pi), size, 2 * size + exponent.coefficients.size)
        modes, strengths, kernels = self._modes(found, order, size)
        rest = np.eye(size)
        for kernel in kernels:
            rest = rest @ complement(rest.T @ kernel / np.linalg.norm(rest.T @ kernel))
        triangle = np.asarray(np.linalg.qr(found.slopes @ rest, mode="r"))
        inner = rest.T @ (np.eye(size) - (modes * strengths) @ modes.T) @ rest
        top = float(np.linalg.norm(triangle, 2)) ** 2
        rates = np.asarray(np.linalg.eigvalsh(triangle @ inner @ triangle.T), dtype=float)
        return rates, np.full(rates.size, 8.0 * EPS * top * float(np.linalg.norm(inner, 2)))

    def _modes(self, found: Functions, order: int, size: int) -> tuple[Floats, Floats, list[Floats]]:
        """Return the v_l on functions of the whole meridian, the sigma_l, and the kernels to be deflated."""
        interaction, shape, dimension = self._exponent.interaction, found.shape, self._exponent.dimension
        degree = min(interaction.significant_degree, 2 * size)
        # The root of the weights, without that of the functions, as a density of mass one.
        _, weights = np.polynomial.legendre.leggauss(shape.angles.size)
        logs = shape.values + (dimension - 2) * np.log(np.sin(shape.angles)) + np.log(weights)
        root = np.exp(0.5 * (logs - logs.max()))
        root /= np.linalg.norm(root)
        kernels = [found.values @ root] if order == 0 else []
        if order == 1 and interaction.problem.confinement is None:
            kernels = [found.values @ (root * shape.slope)]
        if degree < order:
            return np.zeros((size, 0)), np.zeros(0), kernels
        functions = sector_functions(dimension, order, rule_at(shape.angles), degree)
        return found.values @ (functions * root).T, interaction.attractions(degree)[order:], kernels


@functools.lru_cache(maxsize=4)
def _sampled_polynomials(dimension: int, degree: int) -> Floats:
    """Return P_0, ..., P_degree on the angles, kept for the states of a branch."""
    return polynomials_on(dimension, rule_at(ANGLES), degree)


def _below_rounding(order: int) -> NotResolved:
    return NotResolved(
        f"a rate of azimuthal order {order}, at which particles leave places where the density is negligible, is "
        "below rounding; leave the rates out (--no-rates, rates=False)"
    )


def _borders(group: Integers, empty: NDArray[np.bool_], barrier: Floats) -> bool:
    """Return whether samples are only the border of the bulk: next to it, with a barrier rising away from it."""
    for end, outwards in ((group[0] - 1, 1), (group[-1] + 1, -1)):
        if 0 <= end < empty.size and not empty[end]:
            return bool((np.diff(barrier[group][::outwards]) >= 0.0).all())
    return False


def _reached(start: int, side: int, decays: Floats, values: Floats) -> int | None:
    """Return the sample that an eigenfunction reaches beyond a start, None if that is in the bulk of the density.

    Parameters
    ----------
    decays
        Its decay over each step.
    values
        The logarithm of the mass per angle. Where this falls to a new minimum the decay begins anew.
    """
    bulk, decay, lowest = values.max() - NEGLIGIBLE_DENSITY, 0.0, values[start]
    place = start
    while decay <= DECAY and 0 <= place + side < values.size:
        place += side
        if values[place] >= bulk:
            return None
        decay = decay + float(decays[place]) if values[place] >= lowest else 0.0
        lowest = min(lowest, values[place])
    return place


def _unchanged(rates: Floats, previous: Floats, rounding: Floats) -> Floats:
    """Return the lowest rates as far as they agree with those on fewer functions."""
    shared = rates[: previous.size]
    allowed = CONVERGED * np.abs(shared) + rounding[: previous.size]
    return np.asarray(shared[np.logical_and.accumulate(np.abs(shared - previous) <= allowed)])
