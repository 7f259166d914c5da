"""Formulas such as ``-cos(t) - 0.9*cos(2*t)`` as vectorised functions of the angle.

The text is parsed to a syntax tree in which only numbers, the angle ``t`` (or ``theta``), ``pi``, ``E``,
``+ - * / **``, a fixed list of functions and comparisons within ``Piecewise`` are admitted; the tree is then
evaluated node by node. Python's ``eval`` and sympy's parser, which calls it, are never used. All arithmetic is
floating point, so no power can grow without bound in time or memory.

Numbers of the user's own stand in it by name, ``-exp(b*cos(t))/b``; the formula is differentiated in them by
:mod:`meanfield.potentials.duals`.

Functions with kinks, such as ``Abs`` and ``Max``, leave the expressions at whose zeros the kinks are, and
constants that are added to the whole are kept apart, so that they round nothing.
"""

import ast
import functools
import math
import operator
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from itertools import combinations, pairwise
from typing import Any

import numpy as np

from ..arguments import shown
from ..errors import InvalidInput, did_you_mean
from .duals import Dual, slope_of

# Of the angles, or of a dictionary of the angles and of the numbers given by name.
Evaluator = Callable[[Any], Any]

LONGEST_TEXT = 2000
DEEPEST_TREE = 200
_EXAMPLE = '"-cos(t) - 0.9*cos(2*t)"'
_OWN = ", and numbers of your own given by name, as in from_expression(..., b=3.0) or --given b=3"

ANGLE = "t"
ANGLES = (ANGLE, "theta")
CONSTANTS = {"pi": 4 * np.arctan(np.longdouble(1)), "E": np.exp(np.longdouble(1))}
FUNCTIONS: dict[str, Callable[[Any], Any]] = {
    "Abs": np.abs,
    "abs": np.abs,
    "acos": np.arccos,
    "asin": np.arcsin,
    "atan": np.arctan,
    "cos": np.cos,
    "cosh": np.cosh,
    "exp": np.exp,
    "log": np.log,
    "sin": np.sin,
    "sinh": np.sinh,
    "sqrt": np.sqrt,
    "tan": np.tan,
    "tanh": np.tanh,
}
# Functions of several expressions, kinked where two of them are equal, and of one expression, kinked at its zeros.
_EXTREMES = {"Max": np.maximum, "max": np.maximum, "Min": np.minimum, "min": np.minimum}
_SWITCHED: dict[str, Callable[[Any], Any]] = {
    "Heaviside": lambda x: np.heaviside(x, np.longdouble(0.5)),
    "sign": np.sign,
}
_KINKED = {"Abs", "abs", "sqrt", *_SWITCHED}
_CHOICE = "Piecewise"
_EVEN = {"Abs", "abs", "cos", "cosh"}
_ODD = {"asin", "atan", "sign", "sin", "sinh", "tan", "tanh"}
_NAMES = {*FUNCTIONS, *_EXTREMES, *_SWITCHED, _CHOICE}
# Names that no number of the user's own may have.
TAKEN = {*ANGLES, *CONSTANTS, *_NAMES}
_COMPARISONS: dict[type[ast.cmpop], Callable[[Any, Any], Any]] = {
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}
_BINARY: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.Pow: np.power,
}
_UNARY: dict[type[ast.unaryop], Callable[[Any], Any]] = {ast.USub: operator.neg, ast.UAdd: operator.pos}


@dataclass(frozen=True)
class Formula:
    """A formula as a function of longdouble arrays of angles.

    Attributes
    ----------
    evaluate
        The function without the constants added to it.
    constant
        Their sum.
    switches
        Functions at whose zeros there may be kinks, the inner ones first.
    even
        Whether it is even by its form, whatever the numbers in it are.
    """

    evaluate: Evaluator
    constant: np.longdouble
    switches: tuple[Evaluator, ...]
    even: bool

    def __call__(self, angle: Any) -> Any:
        """Return the values of the whole formula."""
        return self.evaluate(angle) + self.constant


@dataclass(frozen=True)
class _Source:
    """The text that is read, the names that numbers of the user's own have, and the switches met so far."""

    text: str
    names: frozenset[str]
    switches: list[Evaluator] = field(default_factory=list)


@dataclass(frozen=True)
class _Read:
    """A formula whose numbers are open: functions of a dictionary of them and of the angle ``t``.

    Terms have a sign, whether they depend on the angle, and their function; together they are even by their form or
    not.
    """

    terms: tuple[tuple[int, bool, Evaluator], ...]
    switches: tuple[Evaluator, ...]
    even: bool


def require_text(text: object) -> None:
    """Refuse a formula that is no text.

    Raises
    ------
    InvalidInput
        The message has an example.
    """
    if not isinstance(text, str):
        raise InvalidInput(f"the expression must be a text such as {_EXAMPLE}, not {shown(text)}")


@functools.lru_cache(maxsize=256)
def names_in(text: str) -> frozenset[str]:
    """Return the names of numbers of the user's own that a formula has.

    Raises
    ------
    InvalidInput
        If it cannot be read.
    """
    names = frozenset(part.id for part in ast.walk(parsed(text.strip())) if isinstance(part, ast.Name))
    return names - TAKEN


def compiled(text: str, given: Mapping[str, float] | None = None, along: str = "") -> Formula:
    """Return the function a formula describes, or its derivative in a number that is given by name.

    Parameters
    ----------
    text
        The formula.
    given
        Numbers by the names that the formula has for them.
    along
        The name of one of them to differentiate in; then without switches. Empty for the function itself.

    Raises
    ------
    InvalidInput
        If the text is not a formula of the admitted kind, or has not all the names given; the message names the
        offending part.
    """
    require_text(text)
    if not text.strip():
        raise InvalidInput(f"the expression is empty; try {_EXAMPLE}")
    if len(text) > LONGEST_TEXT:
        raise InvalidInput(
            f"the expression has {len(text)} characters and at most {LONGEST_TEXT} are read; "
            "use Custom.from_callable or coefficients for something this long"
        )
    numbers: dict[str, Any] = {name: np.longdouble(value) for name, value in (given or {}).items()}
    read = _read(text.strip(), frozenset(numbers))
    if along:
        numbers[along] = Dual(numbers[along], np.longdouble(1))

    def bound(apply: Evaluator) -> Evaluator:
        return lambda angle: apply({**numbers, ANGLE: angle})

    terms = [(sign, varies, bound(apply)) for sign, varies, apply in read.terms]
    if along:
        terms = [(sign, varies, _sloped(apply)) for sign, varies, apply in terms]
    total, varying = np.longdouble(0), []
    for sign, varies, apply in terms:
        with np.errstate(all="ignore"):
            value = np.longdouble(0) if varies else np.longdouble(apply(np.longdouble(0)))
        if varies or not np.isfinite(value):
            varying.append((sign, apply))
        else:
            total += sign * value

    def evaluate(angle: Any) -> Any:
        zero = np.zeros(np.shape(angle), dtype=np.longdouble)
        return sum((apply(angle) if sign > 0 else -apply(angle) for sign, apply in varying), start=zero)

    return Formula(evaluate, total, () if along else tuple(map(bound, read.switches)), read.even)


@functools.lru_cache(maxsize=256)
def _read(text: str, names: frozenset[str]) -> _Read:
    """Return a formula with numbers by some names, refusing what is none and names that it does not have."""
    source = _Source(text, names)
    terms = [(sign, node, _node(node, source, 0)) for sign, node in terms_of(parsed(text))]
    if unmet := sorted(names - names_in(text)):
        raise InvalidInput(
            f"the expression {_short(text)} has no {unmet[0]}, for which a number is given; leave it out, "
            "or write it into the formula"
        )
    even = all(_parity(node) == 1 for _, node, _ in terms)
    return _Read(tuple((sign, has_angle(node), apply) for sign, node, apply in terms), tuple(source.switches), even)


def _sloped(apply: Evaluator) -> Evaluator:
    return lambda angle: slope_of(apply(angle))


def terms_of(node: ast.expr) -> list[tuple[int, ast.expr]]:
    """Return the terms of a sum with their signs, in order; iterative, since sums may be long."""
    found, pending = [], [(1, node)]
    while pending:
        sign, node = pending.pop()
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add | ast.Sub):
            pending += [(sign, node.left), (sign if isinstance(node.op, ast.Add) else -sign, node.right)][::-1]
        else:
            found.append((sign, node))
    return found


def _parity(node: ast.expr) -> int:
    """Return 1 for what is even in the angle by its form, -1 for what is odd, 0 for what may be neither."""
    if not has_angle(node):
        return 1
    if isinstance(node, ast.Name):
        return -1
    if isinstance(node, ast.UnaryOp):
        return _parity(node.operand)
    if isinstance(node, ast.BinOp):
        return _parity_of_two(node)
    parts = [part for part in ast.iter_child_nodes(node) if isinstance(part, ast.expr)]
    if not isinstance(node, ast.Call):
        # Of the pairs and conditions of Piecewise.
        return int(all(_parity(part) == 1 for part in parts))
    name = node.func.id if isinstance(node.func, ast.Name) else ""
    parities = {_parity(argument) for argument in node.args}
    if parities == {-1}:
        return 1 if name in _EVEN else -1 if name in _ODD else 0
    return int(parities == {1})


def _parity_of_two(node: ast.BinOp) -> int:
    left, right = _parity(node.left), _parity(node.right)
    if isinstance(node.op, ast.Add | ast.Sub):
        return left if left == right else 0
    if isinstance(node.op, ast.Mult | ast.Div):
        return left * right
    if left == -1 and isinstance(node.right, ast.Constant) and _whole(node.right):
        return 1 if float(str(node.right.value)) % 2 == 0 else -1
    return int(left == right == 1)


def has_angle(node: ast.expr) -> bool:
    """Return whether the angle is in a part of a formula."""
    return any(isinstance(part, ast.Name) and part.id in ANGLES for part in ast.walk(node))


def parsed(text: str) -> ast.expr:
    """Return the syntax tree of a formula, of which only what is admitted has a meaning.

    Raises
    ------
    InvalidInput
        If the text is not Python's syntax of an expression.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(text, mode="eval").body
    except (SyntaxError, ValueError) as error:
        reason = getattr(error, "msg", None) or str(error)
        raise InvalidInput(f"the expression {_short(text)} cannot be read ({reason}); try {_EXAMPLE}") from error
    except (MemoryError, RecursionError) as error:
        raise InvalidInput(f"the expression {_short(text)} is nested too deeply; try {_EXAMPLE}") from error


def _node(node: ast.expr, source: _Source, depth: int) -> Evaluator:
    if depth > DEEPEST_TREE:
        raise InvalidInput(f"the expression {_short(source.text)} is nested deeper than {DEEPEST_TREE} levels")
    if isinstance(node, ast.Constant):
        return _constant(node, source.text)
    if isinstance(node, ast.Name):
        return _name(node, source)
    if isinstance(node, ast.BinOp):
        return _binary(node, source, depth)
    if isinstance(node, ast.UnaryOp) and type(node.op) in _UNARY:
        apply, operand = _UNARY[type(node.op)], _node(node.operand, source, depth + 1)
        return lambda values: apply(operand(values))
    if isinstance(node, ast.Call):
        return _call(node, source, depth)
    raise InvalidInput(f"{_part(node, source.text)} is not admitted in an expression; {_admitted()}")


def _constant(node: ast.Constant, text: str) -> Evaluator:
    value = node.value
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise InvalidInput(f"{_part(node, text)} is not a real number; {_admitted()}")
    try:
        fits = math.isfinite(float(value))
    except OverflowError:
        fits = False
    if not fits:
        raise InvalidInput(f"the number {_part(node, text)} is too large; at most 1e308 is read")
    # The text, not the parsed float: 0.1 then means one tenth to the last longdouble digit.
    try:
        number = np.longdouble(ast.get_source_segment(text, node) or "")
    except ValueError:
        number = np.longdouble(str(value))
    return lambda values: number


def _name(node: ast.Name, source: _Source) -> Evaluator:
    if node.id in ANGLES:
        return operator.itemgetter(ANGLE)
    if node.id in source.names:
        return operator.itemgetter(node.id)
    value = CONSTANTS.get(node.id)
    if value is None:
        raise InvalidInput(_unknown(node.id, _OWN))
    return lambda values: value


def _binary(node: ast.BinOp, source: _Source, depth: int) -> Evaluator:
    if isinstance(node.op, ast.BitXor):
        raise InvalidInput(f"{_part(node, source.text)} uses ^; write ** for a power, as in cos(t)**2")
    if type(node.op) not in _BINARY:
        raise InvalidInput(f"{_part(node, source.text)} is not admitted in an expression; {_admitted()}")
    apply = _BINARY[type(node.op)]
    left, right = _node(node.left, source, depth + 1), _node(node.right, source, depth + 1)
    if isinstance(node.op, ast.Pow) and not _whole(node.right):
        source.switches.append(left)
    return lambda values: apply(left(values), right(values))


def _whole(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, int | float) and float(node.value).is_integer()


def _call(node: ast.Call, source: _Source, depth: int) -> Evaluator:
    if not isinstance(node.func, ast.Name):
        raise InvalidInput(f"{_part(node, source.text)} is not admitted in an expression; {_admitted()}")
    name, part = node.func.id, _part(node, source.text)
    if name not in _NAMES:
        raise InvalidInput(_unknown(name))
    if node.keywords or any(isinstance(argument, ast.Starred) for argument in node.args):
        raise InvalidInput(f"{part}: the function {name} takes exactly one argument, without a name or a star")
    if name == _CHOICE:
        return _piecewise(node, source, depth)
    arguments = [_node(argument, source, depth + 1) for argument in node.args]
    if name in _EXTREMES:
        return _extreme(name, arguments, part, source)
    if len(arguments) != 1:
        raise InvalidInput(f"{part}: the function {name} takes exactly one argument")
    apply, (argument,) = {**FUNCTIONS, **_SWITCHED}[name], arguments
    if name in _KINKED:
        source.switches.append(argument)
    return lambda values: apply(argument(values))


def _extreme(name: str, arguments: list[Evaluator], part: str, source: _Source) -> Evaluator:
    if not arguments:
        raise InvalidInput(f"{part}: the function {name} takes one or more arguments, as in {name}(1 - Abs(t), 0)")
    apply = _EXTREMES[name]
    source.switches.extend([_difference(first, second) for first, second in combinations(arguments, 2)])

    def evaluate(values: Any) -> Any:
        value = arguments[0](values)
        for argument in arguments[1:]:
            value = apply(value, argument(values))
        return value

    return evaluate


def _piecewise(node: ast.Call, source: _Source, depth: int) -> Evaluator:
    """Return the value of the first pair whose condition holds, nan where none does."""
    pairs = []
    for pair in node.args:
        if not isinstance(pair, ast.Tuple) or len(pair.elts) != 2:
            raise InvalidInput(
                f"{_part(pair, source.text)} is no pair of a value and a condition; write Piecewise((1 - Abs(t), "
                "Abs(t) < 1), (0, True))"
            )
        value, condition = pair.elts
        pairs.append((_node(value, source, depth + 1), _condition(condition, source, depth + 1)))

    def evaluate(values: Any) -> Any:
        result = np.full(np.shape(values[ANGLE]), np.nan, dtype=np.longdouble)
        for value, condition in reversed(pairs):
            result = np.where(condition(values), value(values), result)
        return result

    return evaluate


def _condition(node: ast.expr, source: _Source, depth: int) -> Evaluator:
    if isinstance(node, ast.Constant) and isinstance(node.value, bool):
        truth = node.value
        return lambda values: truth
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitAnd | ast.BitOr):
        join = np.logical_and if isinstance(node.op, ast.BitAnd) else np.logical_or
        left, right = _condition(node.left, source, depth + 1), _condition(node.right, source, depth + 1)
        return lambda values: join(left(values), right(values))
    if not isinstance(node, ast.Compare) or any(type(kind) not in _COMPARISONS for kind in node.ops):
        raise InvalidInput(
            f"{_part(node, source.text)} is no condition; admitted are < <= > >=, True, and & or | between "
            "comparisons in parentheses"
        )
    sides = [_node(side, source, depth + 1) for side in (node.left, *node.comparators)]
    source.switches.extend([_difference(first, second) for first, second in pairwise(sides)])
    kinds = [_COMPARISONS[type(kind)] for kind in node.ops]

    def holds(values: Any) -> Any:
        found = [side(values) for side in sides]
        parts = [kind(*pair) for kind, pair in zip(kinds, pairwise(found), strict=True)]
        return np.logical_and.reduce(np.broadcast_arrays(*parts))

    return holds


def _difference(first: Evaluator, second: Evaluator) -> Evaluator:
    return lambda values: first(values) - second(values)


def _unknown(name: str, otherwise: str = "") -> str:
    if name in _NAMES:
        return f"{name} is a function and needs its argument in parentheses, as in {name}(t)"
    if name in ANGLES or name in CONSTANTS:
        return f"{name} is not a function; write {name}*(...) for a product"
    hint = did_you_mean(name, [*FUNCTIONS, *_NAMES, *ANGLES, *CONSTANTS])
    return f"the name {_short(name)} is unknown in an expression; {hint}{_admitted()}{otherwise}"


def _admitted() -> str:
    functions = " ".join(sorted(_NAMES, key=str.lower))
    return f"admitted are numbers, t, theta, pi, E, + - * / ** and the functions {functions}"


def _part(node: ast.expr, text: str) -> str:
    return _short(ast.get_source_segment(text, node) or text)


def _short(text: str) -> str:
    return repr(text if len(text) <= 60 else text[:57] + "...")
