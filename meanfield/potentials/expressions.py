"""Formulas such as ``-cos(t) - 0.9*cos(2*t)`` as vectorised functions of the angle.

The text is parsed to a syntax tree in which only numbers, the angle ``t`` (or ``theta``), ``pi``, ``E``,
``+ - * / **`` and a fixed list of functions are admitted; the tree is then evaluated node by node.
Python's ``eval`` and sympy's parser, which calls it, are never used. All arithmetic is floating point, so no
power can grow without bound in time or memory.
"""

import ast
import math
import operator
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from ..errors import InvalidInput, did_you_mean

Evaluator = Callable[[Any], Any]

LONGEST_TEXT = 2000
DEEPEST_TREE = 200
_EXAMPLE = '"-cos(t) - 0.9*cos(2*t)"'

ANGLES = ("t", "theta")
CONSTANTS = {"pi": 4 * np.arctan(np.longdouble(1)), "E": np.exp(np.longdouble(1))}
FUNCTIONS: dict[str, Callable[[Any], Any]] = {
    "abs": np.abs,
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
_BINARY: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.Pow: np.power,
}
_UNARY: dict[type[ast.unaryop], Callable[[Any], Any]] = {ast.USub: operator.neg, ast.UAdd: operator.pos}


def compiled(text: str) -> Evaluator:
    """Return the function a formula describes; it acts on longdouble arrays of angles.

    Raises
    ------
    InvalidInput
        If the text is not a formula of the admitted kind; the message names the offending part.
    """
    if not isinstance(text, str):
        raise InvalidInput(f"the expression must be a text such as {_EXAMPLE}, not {text!r}")
    if not text.strip():
        raise InvalidInput(f"the expression is empty; try {_EXAMPLE}")
    if len(text) > LONGEST_TEXT:
        raise InvalidInput(
            f"the expression has {len(text)} characters and at most {LONGEST_TEXT} are read; "
            "use Custom.from_callable or coefficients for something this long"
        )
    return _node(_parsed(text.strip()), text.strip(), 0)


def _parsed(text: str) -> ast.expr:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(text, mode="eval").body
    except (SyntaxError, ValueError) as error:
        reason = getattr(error, "msg", None) or str(error)
        raise InvalidInput(f"the expression {_short(text)} cannot be read ({reason}); try {_EXAMPLE}") from error
    except (MemoryError, RecursionError) as error:
        raise InvalidInput(f"the expression {_short(text)} is nested too deeply; try {_EXAMPLE}") from error


def _node(node: ast.expr, text: str, depth: int) -> Evaluator:
    if depth > DEEPEST_TREE:
        raise InvalidInput(f"the expression {_short(text)} is nested deeper than {DEEPEST_TREE} levels")
    if isinstance(node, ast.Constant):
        return _constant(node, text)
    if isinstance(node, ast.Name):
        return _name(node)
    if isinstance(node, ast.BinOp):
        return _binary(node, text, depth)
    if isinstance(node, ast.UnaryOp) and type(node.op) in _UNARY:
        apply, operand = _UNARY[type(node.op)], _node(node.operand, text, depth + 1)
        return lambda angle: apply(operand(angle))
    if isinstance(node, ast.Call):
        return _call(node, text, depth)
    raise InvalidInput(f"{_part(node, text)} is not admitted in an expression; {_admitted()}")


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
    return lambda angle: number


def _name(node: ast.Name) -> Evaluator:
    if node.id in ANGLES:
        return lambda angle: angle
    if node.id in CONSTANTS:
        value = CONSTANTS[node.id]
        return lambda angle: value
    raise InvalidInput(_unknown(node.id))


def _binary(node: ast.BinOp, text: str, depth: int) -> Evaluator:
    if isinstance(node.op, ast.BitXor):
        raise InvalidInput(f"{_part(node, text)} uses ^; write ** for a power, as in cos(t)**2")
    if type(node.op) not in _BINARY:
        raise InvalidInput(f"{_part(node, text)} is not admitted in an expression; {_admitted()}")
    apply = _BINARY[type(node.op)]
    left, right = _node(node.left, text, depth + 1), _node(node.right, text, depth + 1)
    return lambda angle: apply(left(angle), right(angle))


def _call(node: ast.Call, text: str, depth: int) -> Evaluator:
    if not isinstance(node.func, ast.Name):
        raise InvalidInput(f"{_part(node, text)} is not admitted in an expression; {_admitted()}")
    if node.func.id not in FUNCTIONS:
        raise InvalidInput(_unknown(node.func.id))
    if len(node.args) != 1 or node.keywords or isinstance(node.args[0], ast.Starred):
        raise InvalidInput(f"{_part(node, text)}: the function {node.func.id} takes exactly one argument")
    apply, argument = FUNCTIONS[node.func.id], _node(node.args[0], text, depth + 1)
    return lambda angle: apply(argument(angle))


def _unknown(name: str) -> str:
    if name in FUNCTIONS:
        return f"{name} is a function and needs its argument in parentheses, as in {name}(t)"
    if name in ANGLES or name in CONSTANTS:
        return f"{name} is not a function; write {name}*(...) for a product"
    hint = did_you_mean(name, [*FUNCTIONS, *ANGLES, *CONSTANTS])
    return f"the name {_short(name)} is unknown in an expression; {hint}{_admitted()}"


def _admitted() -> str:
    functions = " ".join(sorted(FUNCTIONS))
    return f"admitted are numbers, t, theta, pi, E, + - * / ** and the functions {functions}"


def _part(node: ast.expr, text: str) -> str:
    return _short(ast.get_source_segment(text, node) or text)


def _short(text: str) -> str:
    return repr(text if len(text) <= 60 else text[:57] + "...")
