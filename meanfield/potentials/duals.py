r"""Numbers with their derivative in one parameter, :math:`x + \varepsilon x'` with :math:`\varepsilon^2 = 0`.

Evaluated with them, a formula gives its derivative to the rounding of its own operations, without differences
(forward differentiation: Griewank and Walther, Evaluating Derivatives, 2008, chapter 3). At a kink the derivative
is that of the side whose value is taken.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin

Rule = Callable[..., Any]

# The derivative of f(x, y, ...) from its value, its arguments, and their derivatives.
RULES: dict[np.ufunc, Rule] = {
    np.add: lambda value, x, y, dx, dy: dx + dy,
    np.subtract: lambda value, x, y, dx, dy: dx - dy,
    np.multiply: lambda value, x, y, dx, dy: dx * y + x * dy,
    np.true_divide: lambda value, x, y, dx, dy: (dx - value * dy) / y,
    np.negative: lambda value, x, dx: -dx,
    np.positive: lambda value, x, dx: dx,
    np.absolute: lambda value, x, dx: np.sign(x) * dx,
    np.arccos: lambda value, x, dx: -dx / np.sqrt((1 - x) * (1 + x)),
    np.arcsin: lambda value, x, dx: dx / np.sqrt((1 - x) * (1 + x)),
    np.arctan: lambda value, x, dx: dx / (1 + x * x),
    np.cos: lambda value, x, dx: -np.sin(x) * dx,
    np.cosh: lambda value, x, dx: np.sinh(x) * dx,
    np.exp: lambda value, x, dx: value * dx,
    np.log: lambda value, x, dx: dx / x,
    np.sin: lambda value, x, dx: np.cos(x) * dx,
    np.sinh: lambda value, x, dx: np.cosh(x) * dx,
    np.sqrt: lambda value, x, dx: dx / (2 * value),
    np.tan: lambda value, x, dx: (1 + value * value) * dx,
    np.tanh: lambda value, x, dx: (1 - value * value) * dx,
    np.maximum: lambda value, x, y, dx, dy: np.where(x >= y, dx, dy),
    np.minimum: lambda value, x, y, dx, dy: np.where(x <= y, dx, dy),
    np.sign: lambda value, x, dx: np.zeros_like(x),
    np.heaviside: lambda value, x, y, dx, dy: np.zeros_like(x),
    np.power: lambda value, x, y, dx, dy: _of_power(value, x, y, dx, dy),
}


class Dual(NDArrayOperatorsMixin):
    """Values and their derivatives, arrays or numbers, to which numpy's functions apply."""

    def __init__(self, value: Any, slope: Any) -> None:
        self.value, self.slope = value, slope

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **options: Any) -> Any:
        """Return the function of the values with its derivative; a comparison is one of the values."""
        if method != "__call__" or options:
            return NotImplemented
        values = [value_of(each) for each in inputs]
        result = ufunc(*values)
        if ufunc not in RULES:
            return result if result.dtype == bool else NotImplemented
        return Dual(result, RULES[ufunc](result, *values, *(slope_of(each) for each in inputs)))

    def __array_function__(self, function: Any, types: Any, arguments: Any, options: Any) -> Any:
        """Return the choice between values with that between derivatives."""
        if function is not np.where:
            return NotImplemented
        condition, first, second = arguments
        return Dual(
            np.where(condition, value_of(first), value_of(second)),
            np.where(condition, slope_of(first), slope_of(second)),
        )


def value_of(number: Any) -> Any:
    """Return the value of a number, with a derivative or without."""
    return number.value if isinstance(number, Dual) else number


def slope_of(number: Any) -> Any:
    """Return the derivative of a number, 0 if it has none."""
    return number.slope if isinstance(number, Dual) else np.longdouble(0)


def _of_power(value: Any, x: Any, y: Any, dx: Any, dy: Any) -> Any:
    """Return the derivative of x^y; a negative base has no logarithm, and needs none for a fixed exponent."""
    of_base = y * np.power(x, y - 1) * dx if np.any(dx) else np.zeros_like(value)
    if not np.any(dy):
        return of_base
    # x^y log x tends to 0 with x.
    return of_base + np.where(value == 0, 0, value * np.log(np.where(value == 0, 1, x))) * dy
