"""Sympy expressions as formula texts, node by node through a fixed list."""

from typing import Any

from ..errors import InvalidInput

_FUNCTIONS = {
    "Abs": "abs",
    "atan": "atan",
    "cos": "cos",
    "cosh": "cosh",
    "exp": "exp",
    "log": "log",
    "sin": "sin",
    "sinh": "sinh",
    "tan": "tan",
    "tanh": "tanh",
}


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
    arguments = [_text(argument, sympy) for argument in node.args]
    if node.is_Add:
        return "(" + " + ".join(arguments) + ")"
    if node.is_Mul:
        return "(" + "*".join(arguments) + ")"
    if node.is_Pow:
        return f"({arguments[0]}**{arguments[1]})"
    if node.func.__name__ in _FUNCTIONS and len(arguments) == 1:
        return f"{_FUNCTIONS[node.func.__name__]}({arguments[0]})"
    raise InvalidInput(
        f"{node} is not admitted in a potential; admitted are sums, products, powers and the functions "
        f"{', '.join(sorted(_FUNCTIONS))}; use Custom.from_callable with sympy.lambdify for others"
    )


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
