"""Sympy expressions as formula texts, node by node through a fixed list."""

from typing import Any

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


def expression_text(expression: Any) -> str:
    """Return the formula of a sympy expression in a single symbol, which becomes t.

    Raises
    ------
    InvalidInput
        If it is not a sympy expression, has more than one symbol or a function that is not admitted.
    """
    import sympy

    if not isinstance(expression, sympy.Expr):
        raise InvalidInput(f"from_sympy needs a sympy expression such as -sympy.cos(t), not {expression!r}")
    symbols = sorted(map(str, expression.free_symbols))
    if len(symbols) > 1:
        raise InvalidInput(
            f"the expression {expression} has the symbols {', '.join(symbols)}; only the angle may remain, "
            "substitute values for the others with .subs(...)"
        )
    return _text(expression, sympy)


def _text(node: Any, sympy: Any) -> str:
    if node.is_Symbol:
        return "t"
    if node.is_Number or node.is_NumberSymbol:
        return _number(node, sympy)
    if node.func.__name__ == "Piecewise":
        pairs = [f"({_text(value, sympy)}, {_condition(condition, sympy)})" for value, condition in node.args]
        return f"Piecewise({', '.join(pairs)})"
    arguments = [_text(argument, sympy) for argument in node.args]
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


def _condition(node: Any, sympy: Any) -> str:
    if node in (sympy.true, sympy.false):
        return str(bool(node))
    if node.func in (sympy.And, sympy.Or):
        return (
            "(" + (" & " if node.func is sympy.And else " | ").join(_condition(a, sympy) for a in node.args) + ")"
        )
    if getattr(node, "rel_op", None) in _RELATIONS:
        return f"({_text(node.lhs, sympy)} {_RELATIONS[node.rel_op]} {_text(node.rhs, sympy)})"
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
