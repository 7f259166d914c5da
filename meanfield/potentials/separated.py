r"""Formulas that are sums of products, :math:`W(t) = \sum_i c_i(b) f_i(t)` with the user's own numbers b.

Of ``-a*cos(t) - (1 - a**2)*cos(3*t)`` the functions of the angle are the same for all numbers: what is expensive
about a formula, its values at thousands of angles, is found once, and another number is another linear combination.
"""

import ast
import functools
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ..domains import Circle, Domain
from .arrays import Array, Number, without_cancelled
from .expressions import compiled, has_angle, names_in, parsed
from .finite import Cosines
from .pieces import Pieces
from .series import SMALLEST_SIZE

# Products beyond which a formula is evaluated as it stands, and powers that are multiplied out.
_MOST, _HIGHEST = 64, 4
# Terms that are so much larger than their sum round it more than the formula as it stands would be.
_CANCELLING = 64.0
_DEGREE = 64

# A factor of the numbers and a factor of the angle; None for 1.
Product = tuple[ast.expr | None, ast.expr | None]


@dataclass(frozen=True, eq=False)
class Combination:
    """A linear combination of functions of the angle.

    Attributes
    ----------
    factors : (n,) longdouble
        The coefficients of the combination.
    shapes
        The functions.
    """

    factors: npt.NDArray[np.longdouble]
    shapes: tuple[Cosines | Pieces, ...]

    @property
    def error(self) -> float:
        """Bound of the errors of the values."""
        return float(np.abs(self.factors) @ [shape.error for shape in self.shapes])

    @property
    def series(self) -> npt.NDArray[np.float64] | None:
        """The coefficients w_0, ..., w_K of a finite sum of cosines, None if there are infinitely many."""
        finite = [shape.series for shape in self.shapes if isinstance(shape, Cosines)]
        if len(finite) < len(self.shapes):
            return None
        series = self.multipliers(Circle(), max(row.size for row in finite) - 1)
        kept = series[: int(np.flatnonzero(series).max(initial=0)) + 1].astype(np.float64)
        kept.flags.writeable = False
        return kept

    def is_sound(self, *, vanishing: bool) -> bool:
        """Return whether the sum is as good as the formula as it stands, see :func:`is_sound`."""
        rows = np.array([shape.multipliers(Circle(), _DEGREE)[1:] for shape in self.shapes])
        return is_sound(self.factors, rows, vanishing=vanishing)

    def values(self, angle: npt.ArrayLike) -> Array:
        """Return the sum at the angles."""
        return self._sum([shape.values(angle) for shape in self.shapes])

    def slope(self, angle: npt.ArrayLike) -> Array:
        """Return the differentiated sum at the angles."""
        return self._sum([shape.slope(angle) for shape in self.shapes])

    def multipliers(self, domain: Domain, degree: int) -> Array:
        """Return w_0, ..., w_degree."""
        return self._sum([shape.multipliers(domain, degree) for shape in self.shapes])

    def tail_bound(self, domain: Domain, degree: int) -> Number:
        """Return a bound of the multipliers beyond a degree."""
        return float(np.abs(self.factors) @ [shape.tail_bound(domain, degree) for shape in self.shapes])

    def _sum(self, rows: list[Array]) -> npt.NDArray[np.float64]:
        terms = [factor * row for factor, row in zip(self.factors, rows, strict=True)]
        return without_cancelled(terms).astype(np.float64)


def is_sound(factors: npt.NDArray[np.longdouble], rows: Array, *, vanishing: bool) -> bool:
    """Return whether a sum of products is as good as the formula as it stands: no factor is lost, no terms cancel.

    Parameters
    ----------
    factors : (n,) longdouble
        The factors of the numbers.
    rows : (n, size)
        Coefficients of the functions of the angle, without their means.
    vanishing
        Whether a factor may be zero, as of a derivative; else it may have vanished by underflow, of which the
        formula is asked.
    """
    sizes = np.abs(factors)
    told = (
        np.isfinite(sizes) & (sizes < 1.0 / SMALLEST_SIZE) & ((sizes > SMALLEST_SIZE) | (vanishing & (sizes == 0)))
    )
    if not told.all():
        return False
    terms = factors[:, np.newaxis] * rows
    return bool(np.abs(terms).max(initial=0.0) <= _CANCELLING * np.abs(terms.sum(axis=0)).max(initial=0.0))


@functools.lru_cache(maxsize=64)
def separated(text: str, names: frozenset[str]) -> tuple[tuple[str, str], ...]:
    """Return a formula as pairs of a factor of numbers by some names and one of the angle, of which it is the sum.

    Both are formulas, and no two of the angle are the same text. Empty if it is no such sum, or one of too many.
    """
    products = _products(parsed(text), names)
    found: dict[str, list[str]] = {}
    for number, angle in products or ():
        found.setdefault(_written(angle), []).append(_written(number))
    return tuple((" + ".join(factors), angle) for angle, factors in found.items())


def factors_of(pairs: tuple[tuple[str, str], ...], given: dict[str, float], along: str = "") -> Any:
    """Return the factors of the numbers, or their derivatives in one of them, (n,) longdouble."""
    return np.array([_value(number, given, along) for number, _ in pairs])


def _value(text: str, given: dict[str, float], along: str) -> np.longdouble:
    names = names_in(text)
    if along and along not in names:
        return np.longdouble(0)
    formula = compiled(text, {name: given[name] for name in names}, along)
    with np.errstate(all="ignore"):
        # What is not finite is left among the functions of the angle.
        return np.longdouble(formula(np.longdouble(0)))


def _products(node: ast.expr, names: frozenset[str]) -> list[Product] | None:
    """Return the products of which a part of a formula is the sum, None if it is none or one of too many."""
    if not has_angle(node):
        return [(node, None)]
    if not _has(node, names):
        return [(None, node)]
    found = None
    if isinstance(node, ast.UnaryOp):
        found = _signed(_products(node.operand, names), node.op)
    elif isinstance(node, ast.BinOp):
        found = _of_two(node, names)
    return found if found is None or len(found) <= _MOST else None


def _of_two(node: ast.BinOp, names: frozenset[str]) -> list[Product] | None:
    if isinstance(node.op, ast.Pow):
        power = node.right.value if isinstance(node.right, ast.Constant) else None
        if not (isinstance(power, int) and 2 <= power <= _HIGHEST):
            return None
        lower = node.left if power == 2 else ast.BinOp(node.left, ast.Pow(), ast.Constant(power - 1))
        return _of_two(ast.BinOp(lower, ast.Mult(), node.left), names)
    left = _products(node.left, names)
    if isinstance(node.op, ast.Div):
        if has_angle(node.right) and _has(node.right, names):
            return None
        right: list[Product] | None = [(None, node.right) if has_angle(node.right) else (node.right, None)]
    else:
        right = _products(node.right, names)
    if left is None or right is None:
        return None
    if isinstance(node.op, ast.Add | ast.Sub):
        return left + (right if isinstance(node.op, ast.Add) else _signed(right, ast.USub()) or [])
    return [(_joined(a, node.op, b), _joined(c, node.op, d)) for a, c in left for b, d in right]


def _signed(products: list[Product] | None, sign: ast.unaryop) -> list[Product] | None:
    if products is None:
        return None
    return [(ast.UnaryOp(sign, number or ast.Constant(1)), angle) for number, angle in products]


def _joined(left: ast.expr | None, operation: ast.operator, right: ast.expr | None) -> ast.expr | None:
    if right is None:
        return left
    if left is None and isinstance(operation, ast.Mult):
        return right
    return ast.BinOp(left or ast.Constant(1), operation, right)


def _has(node: ast.expr, names: frozenset[str]) -> bool:
    return any(isinstance(part, ast.Name) and part.id in names for part in ast.walk(node))


def _written(node: ast.expr | None) -> str:
    return "1" if node is None else f"({ast.unparse(node)})"
