r"""Shapes of formulas and functions of the angle: sums of cosines, polynomials on pieces, combinations of such.

Of a formula or a function with numbers by name, the multipliers at many values of one number are interpolated in it
(:mod:`meanfield.potentials.interpolation`) on cells :math:`[2^m j, 2^m (j + 1)]`, four to an octave of the number,
which are halved where coefficients do not decay. Cells do not depend on the values asked for, so that no result
depends on what was asked before.
"""

import dataclasses
import functools
import math
from collections.abc import Callable, Hashable
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from ..domains import Circle, Domain
from ..errors import InvalidInput, MeanfieldError
from .arrays import Array
from .cosines import cosine_coefficients
from .expressions import Formula, compiled
from .finite import Cosines
from .given import at_numbers, complex_step, passing
from .interpolation import Interpolant, interpolant
from .pieces import Pieces
from .sampling import Sampled, UserFunction, formula_values, name_of, roughness, sampled
from .separated import Combination, factors_of, separated
from .splitting import Rough, split, zeros_of

# Error of a multiplier over the largest beyond which a function is refused.
_LARGEST_ERROR = 1e-3
# Shapes of formulas that are kept: a curve over one of their numbers asks for the same ones in several places. Each
# has a quarter of a megabyte of probes.
FORMULAS = 128
# Cells that are kept, of some 40 kilobytes each; halvings of an octave of the number for a cell, and of a cell.
_CELLS, _QUARTER, _HALVINGS = 512, 2, 4
# The last degree of the multipliers that are interpolated. Those of kinks that move are waves in the number whose
# frequency is the degree, and of more it takes less to compute them at each value.
_LAST_DEGREE = 128
# Powers of two at which, as a degree, the multipliers beyond are bounded.
_POWERS = 11
# Degrees whose multipliers errors are compared with.
_DEGREE = 64

Shape: TypeAlias = Cosines | Pieces | Combination
Given: TypeAlias = tuple[tuple[str, float], ...]


class Cell(NamedTuple):
    """Multipliers at the values of a number given by name between two of them.

    Attributes
    ----------
    multipliers
        As polynomials of the number.
    bounds : (n,)
        Twice the largest bounds, at the points of interpolation, of those beyond the degrees 0, 1, 2, 4, 8, ...
        Between points that resolve the multipliers themselves these do not double; that is not proven.
    """

    multipliers: Interpolant
    bounds: npt.NDArray[np.float64]

    @property
    def largest(self) -> float:
        """The largest modulus of the multipliers, but for the constant, in the middle."""
        return float(np.abs(self.multipliers.values(self.multipliers.middle)[1:]).max())

    def tail_bound(self, degree: int) -> float:
        """Return a bound of the multipliers beyond a degree."""
        return float(self.bounds[min(degree.bit_length(), len(self.bounds) - 1)])


class Source(NamedTuple):
    """What a potential is computed from: a formula, or a function and its breakpoints."""

    expression: str | None
    function: Callable[..., Any] | None = None
    breakpoints: tuple[float, ...] = ()

    def shape(self, given: Given) -> Shape:
        """Return the function of the angle at numbers given by name.

        Raises
        ------
        InvalidInput
            If it is not admissible as a potential, or is known to fewer than three digits.
        ComputationFailed
            If the function itself raises.
        """
        if self.expression is not None:
            shape, label = _of_formula(self.expression, given), self.expression
        else:
            assert self.function is not None
            kept = _of_callable if self.is_kept else _of_callable.__wrapped__
            shape, label = kept(self.function, given, self.breakpoints), f"callable {name_of(self.function)}"
        require_accurate(shape, at_numbers(label, given))
        return shape

    def derivative(self, given: Given, name: str) -> Shape | None:
        """Return the derivative in a number given by name; None if neither formula nor complex step gives it."""
        if self.expression is not None:
            return _differentiated(self.expression, given, name)
        return _stepped(self.function, given, name) if self.function is not None and self.is_kept else None

    @property
    def is_kept(self) -> bool:
        """Whether what was computed from it can be looked up."""
        return isinstance(self.function, Hashable)

    def is_separated(self, given: Given) -> bool:
        """Whether it is a sum of products of functions of the numbers and of the angle."""
        return self.expression is not None and _combined(self.expression, given) is not None

    def cell(self, given: Given, name: str, domain: Domain, degree: int) -> Cell | None:
        """Return the multipliers about a number given by name, None where they do not decay or are too many."""
        others = dict(given)
        value = others.pop(name)
        if degree > _LAST_DEGREE:
            return None
        exponent = math.frexp(value)[1] - 1 - _QUARTER
        for halvings in range(_HALVINGS + 1):
            size = 2.0 ** (exponent - halvings)
            found = _cell(self, tuple(others.items()), name, domain, size, math.floor(value / size))
            if found is not None:
                return found
        return None


def accuracy_of(shape: Shape) -> float:
    """Return a bound of the errors of the multipliers on the circle over the largest."""
    largest = float(np.abs(shape.multipliers(Circle(), _DEGREE)[1:]).max())
    # An error of root mean square e has coefficients of at most e times the root of 2.
    return 2**0.5 * shape.error / largest if largest > 0 else 0.0


def require_accurate(shape: Shape, label: str) -> None:
    """Refuse a function whose multipliers are known to fewer than three digits.

    Raises
    ------
    InvalidInput
        The message has the label and the accuracy.
    """
    if (accuracy := accuracy_of(shape)) > _LARGEST_ERROR:
        raise InvalidInput(
            f"the values of {label} are known to {accuracy:.0e} of its largest multiplier only; a large constant, "
            "terms that cancel or single precision have rounded the rest: leave the constant out"
        )


@functools.lru_cache(maxsize=_CELLS)
def _cell(source: Source, others: Given, name: str, domain: Domain, size: float, place: int) -> Cell | None:
    """Return the multipliers on a cell of values of a number, None if their coefficients do not decay."""
    middle = (place + 0.5) * size
    bounds = np.zeros(_POWERS + 1)
    degrees = [0, *(1 << power for power in range(_POWERS))]

    def shape(value: float) -> Shape:
        return source.shape(tuple(sorted([*others, (name, value)])))

    def read(value: float) -> Array:
        there = shape(value)
        tails = [2 * float(there.tail_bound(domain, beyond)) for beyond in degrees]
        np.maximum(bounds, tails, out=bounds)
        return there.multipliers(domain, _LAST_DEGREE)

    try:
        found, decayed = interpolant(read, middle, size / 2, accuracy_of(shape(middle)))
    except MeanfieldError:
        return None
    return Cell(found, bounds) if decayed else None


@functools.lru_cache(maxsize=FORMULAS)
def _of_formula(expression: str, given: tuple[tuple[str, float], ...]) -> Shape:
    """Return the function of a formula."""
    formula = compiled(expression, dict(given))
    return _combined(expression, given) or _as_it_stands(formula, at_numbers(expression, given))


@functools.lru_cache(maxsize=FORMULAS)
def _differentiated(expression: str, given: tuple[tuple[str, float], ...], name: str) -> Shape | None:
    """Return the derivative of a formula in a number given by name, or None if it is not finite between kinks.

    It may jump at those of the formula: only its integrals are asked for.
    """
    if combined := _combined(expression, given, name):
        return combined
    breakpoints = zeros_of(compiled(expression, dict(given)).switches)
    formula = compiled(expression, dict(given), name)
    label = f"the derivative of {expression} in {name}"
    try:
        function = sampled(formula_values(formula), label, breakpoints, even=formula.even)
        # Where the formula has a kink whose place depends on the number, its derivative jumps.
        return _found(function, formula.constant, breakpoints, jumping=True)
    except InvalidInput:
        return None


def _combined(expression: str, given: tuple[tuple[str, float], ...], along: str = "") -> Combination | None:
    """Return a formula or its derivative as a combination of functions of the angle, None if it is none to keep."""
    pairs = separated(expression, frozenset(name for name, _ in given)) if given else ()
    shapes = [shape for _, angle in pairs if (shape := _of_angle(angle)) is not None]
    if not pairs or len(shapes) < len(pairs):
        return None
    found = Combination(factors_of(pairs, dict(given), along), tuple(shapes))
    return found if found.is_sound(vanishing=bool(along)) else None


@functools.lru_cache(maxsize=FORMULAS)
def _of_angle(expression: str) -> Cosines | Pieces | None:
    """Return the function of a formula without numbers by name, or None if it is none for itself."""
    try:
        return _as_it_stands(compiled(expression), expression)
    except MeanfieldError:
        return None


def _as_it_stands(formula: Formula, label: str) -> Cosines | Pieces:
    """Return the function of a formula from its values."""
    breakpoints = zeros_of(formula.switches)
    function = sampled(formula_values(formula), label, breakpoints, even=formula.even)
    return _smooth_or_rough(function, formula.constant, breakpoints)


@functools.lru_cache(maxsize=FORMULAS)
def _of_callable(
    function: Callable[..., Any], given: tuple[tuple[str, float], ...], breakpoints: tuple[float, ...]
) -> Shape:
    """Return the function of a callable."""
    known = np.array(breakpoints, dtype=np.longdouble)
    of_angle = UserFunction(passing(function, dict(given)))
    return _smooth_or_rough(sampled(of_angle, f"callable {of_angle.name}", known), np.longdouble(0), known)


@functools.lru_cache(maxsize=FORMULAS)
def _stepped(function: Callable[..., Any], given: tuple[tuple[str, float], ...], name: str) -> Shape | None:
    """Return the derivative of a callable in a number given by name, or None if a complex step does not give it."""
    derivative = complex_step(function, dict(given), name)
    if derivative is None:
        return None
    label, none = f"the derivative of {name_of(function)} in {name}", np.zeros(0, dtype=np.longdouble)
    try:
        return _found(sampled(UserFunction(derivative), label, none), np.longdouble(0), none)
    except MeanfieldError:
        return None


def _smooth_or_rough(function: Sampled, constant: np.longdouble, breakpoints: npt.NDArray[Any]) -> Cosines | Pieces:
    """Return a function as it is found, of one that is rough by rounding with that as its noise."""
    try:
        return _found(function, constant, breakpoints)
    except Rough:
        noise = roughness(function)
        if not noise <= _LARGEST_ERROR:
            raise
        return _found(dataclasses.replace(function, noise=max(noise, function.noise)), constant, breakpoints)


def _found(
    function: Sampled, constant: np.longdouble, breakpoints: npt.NDArray[Any], *, jumping: bool = False
) -> Cosines | Pieces:
    """Return a function as a sum of cosines where these decay, else as polynomials on pieces."""
    found = cosine_coefficients(function, kinked=breakpoints.size > 0)
    if found is None:
        return split(function, breakpoints, constant, jumping=jumping)
    series, error = found.values * function.unit, found.error * function.unit
    # Rounding of what the mean is of.
    mean = series[0] if abs(series[0]) > error else 0
    added = function.offset + constant
    series[0] = mean + added
    return Cosines(series.astype(np.float64), float(error), function, float(added))
