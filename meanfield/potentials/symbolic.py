"""Sympy expressions as formula texts, node by node through a fixed list."""

from collections.abc import Collection
from typing import Any

from ..arguments import shown
from ..errors import InvalidInput

_FUNCTIONS = {
    "Abs": "Abs",
    "acos": "acos",
    "asin": "asin",
    "atan": "atan",
    "cos": "cos",
    "cosh": "cosh",
    "exp": "exp",
    "log": "log",
    "sign": "sign",
    "sin": "sin",
    "sinh": "sinh",
    "tan": "tan",
    "tanh": "tanh",
}


_EXTREMES = ("Max", "Min")
_RELATIONS = {"<": "<", "<=": "<=", ">": ">", ">=": ">="}


def expression_text(expression: Any, given: Collection[str] = ()) -> str:
    """Return the formula of a sympy expression in a single symbol, which becomes t, and in those of some names.

    Raises
    ------
    InvalidInput
        If it is not a sympy expression, has more symbols or a function that is not admitted.
    """
    import sympy

    if not isinstance(expression, sympy.Expr):
        raise InvalidInput(f"from_sympy needs a sympy expression such as -sympy.cos(t), not {shown(expression)}")
    symbols = sorted({str(symbol) for symbol in expression.free_symbols} - set(given))
    if len(symbols) > 1:
        raise InvalidInput(
            f"the expression {expression} has the symbols {', '.join(symbols)}; only the angle may remain, "
            "give the others by name, as in from_sympy(..., b=3.0), or substitute their values with .subs(...)"
        )
    return _text(expression, sympy, given)


def _text(node: Any, sympy: Any, given: Collection[str]) -> str:
    if node.is_Symbol:
        return str(node) if str(node) in given else "t"
    if node.is_Number or node.is_NumberSymbol:
        return _number(node, sympy)
    if node.func.__name__ == "Piecewise":
        pairs = [
            f"({_text(value, sympy, given)}, {_condition(condition, sympy, given)})"
            for value, condition in node.args
        ]
        return f"Piecewise({', '.join(pairs)})"
    arguments = [_text(argument, sympy, given) for argument in node.args]
    if node.is_Add:
        return "(" + " + ".join(arguments) + ")"
    if node.is_Mul:
        return "(" + "*".join(arguments) + ")"
    if node.is_Pow:
        return f"({arguments[0]}**{arguments[1]})"
    if node.func.__name__ in _FUNCTIONS and len(arguments) == 1:
        return f"{_FUNCTIONS[node.func.__name__]}({arguments[0]})"
    if node.func.__name__ in _EXTREMES:
        return f"{node.func.__name__}({', '.join(arguments)})"
    # The value at the jump, sympy's second argument, is significant by no integral.
    if node.func.__name__ == "Heaviside":
        return f"Heaviside({arguments[0]})"
    raise InvalidInput(
        f"{node} is not admitted in a potential; admitted are sums, products, powers and the functions "
        f"{', '.join(sorted([*_FUNCTIONS, *_EXTREMES, 'Heaviside', 'Piecewise']))}; use Custom.from_callable with "
        f"sympy.lambdify for others"
    )


def _condition(node: Any, sympy: Any, given: Collection[str]) -> str:
    if node in (sympy.true, sympy.false):
        return str(bool(node))
    if node.func in (sympy.And, sympy.Or):
        return (
            "("
            + (" & " if node.func is sympy.And else " | ").join(_condition(a, sympy, given) for a in node.args)
            + ")"
        )
    if getattr(node, "rel_op", None) in _RELATIONS:
        return f"({_text(node.lhs, sympy, given)} {_RELATIONS[node.rel_op]} {_text(node.rhs, sympy, given)})"
    raise InvalidInput(f"{node} is no condition admitted in a Piecewise; admitted are < <= > >=, And, Or and True")


def _number(node: Any, sympy: Any) -> str:
    if node is sympy.pi:
        return "pi"
    if node is sympy.E:
        return "E"
    if node.is_Rational:
        return f"({node.p}/{node.q})" if node.q != 1 else f"({node.p})"
    if node.is_Float:
        return f"({float(node)!r})"
    raise InvalidInput(f"{node} is not a number admitted in a potential; write it as a float")
