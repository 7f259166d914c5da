"""Problems, potentials and numbers in words."""

import re
import textwrap
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .equations import Equation, Gradient
from .equations.derived import DerivedLaw
from .potentials import Combination, Custom, Number
from .potentials.terms import joined

Interval = tuple[Number, Number]
WIDTH = 100
LONGEST_LIST = 6


def describe(problem: Equation) -> str:
    """Return a problem in one line, such as ``transformer (beta = 5) on the circle, noise D = 1``."""
    return ", ".join(_parts(problem))


def describe_over(problem: Equation, parameter: str, interval: Interval) -> str:
    """Return a problem in one line without the value of a parameter that varies in an interval."""
    return ", ".join(parts_over(_parts, problem, parameter, interval, parameter))


def parts_over(
    parts: Callable[[Equation], Sequence[str]],
    problem: Equation,
    parameter: str,
    interval: Interval,
    symbol: str,
) -> list[str]:
    """Return the parts of a text on a problem with a symbol in the place of a parameter that varies.

    Parameters
    ----------
    parts
        Returns the texts of a problem.
    interval
        Lowest and highest value of the parameter.
    symbol
        What stands where the text does not name the parameter by itself, as among the coefficients of a series.
    """
    low, high = interval
    # A value of many digits is found in the text again, wherever its parameter stands there.
    value = float(low) + (float(high) - float(low)) * 0.43219876543
    digits = "|".join(re.escape(f"{value:.{number}g}") for number in (12, 6))
    texts = parts(problem.with_parameter(parameter, value))
    # A formula gives way to the symbol; a name in front of the value stays alone.
    texts = [re.sub(rf"\$\\?\w+=({digits})\$", lambda _: symbol, text) for text in texts]
    texts = [
        re.sub(rf"(\b(?:\w+(?= = )|{re.escape(parameter)}))(?: =)? (?:{digits})", r"\1", text) for text in texts
    ]
    texts = [re.sub(digits, lambda _: symbol, text) for text in texts]
    # The factor of a confinement names it already.
    return [re.sub(rf"^confinement {re.escape(symbol)} ", lambda _: f"{symbol} × ", text) for text in texts]


def _parts(problem: Equation) -> list[str]:
    """Return law with domain, noise and, where there are any, coupling and confinement in words."""
    parts = [
        f"{potential_in_words(problem.law)} on {problem.domain.in_words}",
        f"noise D = {problem.noise:.12g}",
    ]
    if problem.coupling is not None:
        parts.append(f"coupling kappa = {number_in_words(problem.coupling)}")
    if problem.confinement is not None:
        parts.append(f"confinement {potential_in_words(problem.confinement)}")
    return parts


def number_in_words(value: Number, digits: int = 12) -> str:
    """Return the text of a number with ``digits`` significant digits."""
    if isinstance(value, np.longdouble) and value != 0 and float(value) == 0:
        # Beyond the range of doubles only numpy prints the number.
        return np.format_float_scientific(value, precision=digits - 1, trim="-")
    return f"{float(value):.{digits}g}"


def wrapped(text: str, indent: str, hanging: str) -> list[str]:
    """Return the lines of a text, broken where it is too long, the first indented and the others hanging."""
    if len(indent) + len(text) <= WIDTH:
        return [indent + text]
    # Deep trees keep room for words.
    indent = indent[: WIDTH // 2]
    return textwrap.wrap(text, WIDTH, initial_indent=indent, subsequent_indent=indent + hanging)


def potential_in_words(potential: Any) -> str:
    """Return the text of a potential or velocity law and its parameters, such as ``transformer (beta = 5)``."""
    if isinstance(potential, DerivedLaw):
        return f"{potential_in_words(named_law(potential.law))} {potential.clause}"
    if isinstance(potential, Combination):
        return joined([(factor, potential_in_words(term)) for factor, term in potential.terms], " ", _parameter)
    # The numbers of a function that is known by its pieces tell a reader nothing.
    shown = {name: value for name, value in potential.parameters().items() if name != "pieces"}
    given = shown.pop("given", {})
    if given and "source" in shown:
        shown = {"source": shown["source"]}
    shown |= given
    parameters = ", ".join(f"{name} = {_parameter(value)}" for name, value in shown.items())
    if isinstance(potential, Custom) and potential.expression is not None:
        parameters += potential.reservation
    return f"{potential.name} ({parameters})" if parameters else str(potential.name)


def named_law(law: Any) -> Any:
    """Return what names a velocity law: the potential of a gradient, or the law itself."""
    return law.potential if isinstance(law, Gradient) else law


def _parameter(value: object) -> str:
    if isinstance(value, (list, tuple)):
        shown = [_parameter(item) for item in value[:LONGEST_LIST]]
        return "[" + ", ".join(shown) + (", ...]" if len(value) > LONGEST_LIST else "]")
    if isinstance(value, (float, np.floating)):
        return f"{value:.12g}"
    return textwrap.shorten(str(value), 60, placeholder=" ...")
