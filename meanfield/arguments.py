"""Checks of arguments against their annotations, before anything is computed.

``@checked`` decorates every public function and class, so that a wrong type ends in one sentence whatever the
function does with it. Which values of the right type are admissible is said by the functions themselves. A function
may refuse an argument altogether itself, in a sentence that names what there is: ``Annotated[..., ITSELF]``.
"""

import functools
import importlib
import inspect
import math
import types
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Annotated, Any, Literal, NamedTuple, TypeVar, Union, cast, get_args, get_origin

import numpy as np
import numpy.typing as npt

from .errors import InvalidInput, did_you_mean, with_article

Target = TypeVar("Target", bound=Callable[..., Any])
Kind = TypeVar("Kind", bound=type)

# Marks an argument that the function refuses itself.
ITSELF = "refused by the function itself"
# Longest text of a wrong value in a sentence.
SHOWN = 60
# Calls that give an object of a class.
EXAMPLES = {
    "Circle": "Circle()",
    "Sphere": "Sphere(3)",
    "McKeanVlasov": "McKeanVlasov(Circle(), Kuramoto(), coupling=3.0)",
    "ContinuityEquation": "ContinuityEquation(Circle(), SoftmaxAttention(beta=4.0), coupling=3.0)",
    "Equation": "McKeanVlasov(Circle(), Kuramoto(), coupling=3.0)",
    "State": "stationary_states(problem)[0]",
    "Spectrum": "spectrum(state)",
    "Diagram": "bifurcation_diagram(problem)",
    "Branch": "diagram.branch('uniform')",
    "SpecialPoint": "diagram.events()[0]",
    "Curve": "curve(diagram.events('fold')[0], 'beta', (2, 10))",
    "CurvePoint": "curve(...).point(0)",
    "OrganisingPoint": "curve(...).special_points[0]",
    "Trajectory": "evolve(problem, VonMises(), until=1.0)",
    "FlowMap": "evolve(..., method=Characteristics()).flow_map",
    "Ensemble": "simulate(problem, 1000, until=1.0, seed=1)",
    "Comparison": "compare(problem, VonMises(), until=1.0, seed=1)",
    "Sweep": "sweep(problem, {'noise': [1.0, 2.0]})",
    "Relaxation": "contraction_rate(problem)",
    "RateFit": "relaxation.fit('L2')",
    "Contraction": "contraction_rate(problem)",
    "QuantityRate": "contraction.rate_of('W2')",
    "Arclength": "Arclength(max_step=0.02)",
    "Integrator": "LSODA() or ETDRK4()",
    "DirectMethod": "WatanabeStrogatz() or Characteristics()",
    "Scheme": "EulerMaruyama(), WeakSecondOrder() or LeimkuhlerMatthews()",
    "Checkpoint": "Checkpoint('run.checkpoint', every=1.0)",
    "Claim": "matching('circle.T8')[0]",
    "Tools": "Tools()",
    "Density": "Density(cosine, sine)",
    "Sample": "Sample(angles)",
    "Executor": "ThreadPoolExecutor()",
    "Axes": "figure.add_subplot()",
    "Figure": "ax.figure",
}
# Where names are from that modules import for their annotations alone.
HOMES = {
    "Axes": "matplotlib.axes",
    "Figure": "matplotlib.figure",
    "Sequence": "collections.abc",
    "Iterable": "collections.abc",
}
# Entries of tuples by their words.
ENTRIES = {"a text": '"beta"', "two numbers": "(1.0, 10.0)", "a number": "0.5", "a whole number": "2"}
# The largest degree of a moment or a multiplier: an array of as many numbers fits the memory.
LARGEST_DEGREE = 2**24
# Types of numbers, and those among them that are none, as tuples: unions are made anew at each test.
_WHOLE, _REAL, _NO_NUMBERS = (int, np.integer), (float, np.floating), (bool, np.timedelta64)
KINDS = {"f": ("fiu", "floats"), "i": ("iu", "integers"), "b": ("b", "truth values")}


class Rule(NamedTuple):
    """A condition on a value: in words, and as a test."""

    words: str
    fits: Callable[[Any], bool]


def checked(target: Target) -> Target:
    """Return a function, or a class with its methods, that compares its arguments with their annotations.

    Raises
    ------
    InvalidInput
        At a call with an argument of another type.
    """
    if not isinstance(target, type):
        return cast(Target, _wrapped(target, target.__name__, False))
    if "__init__" in vars(target):
        in_record = hasattr(target, "is_record")
        target.__init__ = _wrapped(vars(target)["__init__"], target.__name__, in_record)  # type: ignore[misc]
    return cast(Target, methods_checked(target))


def methods_checked(target: Kind) -> Kind:
    """Return a class whose methods compare their arguments with their annotations, and whose constructor does not.

    For classes whose fields are more than their types say, such as potentials, and which therefore check them.
    """
    for name, member in list(vars(target).items()):
        if inspect.isfunction(member) and not name.startswith("_"):
            setattr(target, name, _wrapped(member, name, False))
    return target


def _wrapped(function: Any, called: str, in_record: bool) -> Any:
    positional: list[tuple[int, str, Rule]] | None = None

    @functools.wraps(function)
    def wrapper(*args: Any, **named: Any) -> Any:
        nonlocal positional
        if positional is None:
            # At the first call, since annotations may name what is defined later.
            kinds = [each.kind for each in inspect.signature(function).parameters.values()]
            positional = [
                (place, name, rule)
                for place, (name, rule) in enumerate(_rules_of(function, in_record).items())
                if rule is not None and kinds[place] is not inspect.Parameter.KEYWORD_ONLY
            ]
        count = len(args)
        for place, name, rule in positional:
            if place >= count:
                break
            if not rule.fits(args[place]):
                raise _unfit(name, rule, args[place], called)
        return _with_named(function, args, named, called, in_record) if named else function(*args)

    return wrapper


def _with_named(function: Any, args: tuple[Any, ...], named: dict[str, Any], called: str, in_record: bool) -> Any:
    """Return the result of a function whose positional arguments are checked, its named ones checked here."""
    rules = _rules_of(function, in_record)
    for name, value in named.items():
        rule = rules.get(name)
        if rule is not None and not rule.fits(value):
            raise _unfit(name, rule, value, called)
    others = [name for name in named if name not in rules]
    return function(*args, **named) if not others else _passing_on(function, args, named, others, called)


def _unfit(name: str, rule: Rule, value: Any, called: str) -> InvalidInput:
    return InvalidInput(f"{name} must be {rule.words}, not {shown(value)}, in the call of {called}")


def _passing_on(function: Any, args: tuple[Any, ...], named: dict[str, Any], others: list[str], called: str) -> Any:
    """Return the result of a function called with keyword arguments that it passes on, such as those of a line."""
    try:
        return function(*args, **named)
    except (AttributeError, TypeError, ValueError) as error:
        if isinstance(error, InvalidInput):
            raise
        given = ", ".join(f"{name}={shown(named[name])}" for name in others)
        near = did_you_mean(others[0], inspect.signature(function).parameters)
        raise InvalidInput(f"{called} cannot be called with {given}: {near}{error}") from error


@functools.cache
def _rules_of(function: Any, in_record: bool) -> dict[str, Rule | None]:
    """Return the rule of every parameter of a function by name, in their order; None if any value is admissible."""
    parameters = inspect.signature(function).parameters.values()
    return {
        parameter.name: None
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD)
        or parameter.annotation is parameter.empty
        else _degree()
        if parameter.name == "degree" and parameter.annotation is int
        else rule_of(_resolved(parameter.annotation, function), in_record)
        for parameter in parameters
    }


def _degree() -> Rule:
    words = f"a non-negative integer up to {LARGEST_DEGREE} such as 2"
    return Rule(words, lambda value: is_whole(value) and 0 <= value <= LARGEST_DEGREE)


class _Names(dict[str, Any]):
    """Names that modules import for their annotations alone."""

    def __missing__(self, name: str) -> Any:
        return getattr(importlib.import_module(HOMES[name]), name)


def _resolved(annotation: Any, function: Any) -> Any:
    if not isinstance(annotation, str):
        return annotation
    return eval(annotation, inspect.unwrap(function).__globals__, _Names())


def rule_of(annotation: Any, in_record: bool = False) -> Rule | None:
    """Return the rule that an annotation states; None if any value is admissible.

    Parameters
    ----------
    in_record
        Whether it is a field of a record, whose arrays have any shape and may hold nan.
    """
    if annotation is None or annotation is type(None):
        return Rule("None", lambda value: value is None)
    origin = get_origin(annotation)
    if origin is Annotated:
        return None
    if origin in (Union, types.UnionType):
        return _union(get_args(annotation), in_record)
    if origin is Literal:
        return _literal(get_args(annotation))
    if origin is np.ndarray:
        return _array(annotation, in_record)
    if origin is Callable or annotation is Callable:
        return _function(get_args(annotation))
    if origin in (tuple, list, Sequence):
        return _sequence(origin, get_args(annotation), in_record)
    return _plain(origin or annotation)


def _plain(kind: Any) -> Rule | None:
    """Return the rule of a class, and of the numbers and texts of Python."""
    if kind is bool:
        return Rule("True or False", lambda value: isinstance(value, bool | np.bool_))
    if kind is int:
        return Rule("a whole number", is_whole)
    if kind is float:
        return Rule("a number", lambda value: type(value) is float or (is_number(value) and _is_double(value)))
    if kind is np.longdouble:
        return Rule("a number", is_number)
    if kind is str:
        return Rule("a text", lambda value: isinstance(value, str))
    if kind in (dict, Mapping):
        return Rule("a mapping such as {}", lambda value: isinstance(value, Mapping))
    if (
        kind is Any
        or not isinstance(kind, type)
        or (getattr(kind, "_is_protocol", False) and not getattr(kind, "_is_runtime_protocol", False))
        or kind in (object, Iterable)
    ):
        return None
    if kind.__name__ == "Potential":
        return _potential()
    example = EXAMPLES.get(kind.__name__)
    if getattr(kind, "_is_protocol", False):
        # What has its methods is one, so that the known ones are the best description.
        words = example or kind.__name__
    else:
        words = f"{with_article(kind.__name__)} such as {example}" if example else kind.__name__
    return Rule(words, lambda value: isinstance(value, kind))


def is_whole(value: Any) -> bool:
    """Return whether a value is a whole number."""
    return type(value) is int or (isinstance(value, _WHOLE) and not isinstance(value, _NO_NUMBERS))


def is_number(value: Any) -> bool:
    """Return whether a value is a real number, infinite ones and nan included."""
    return isinstance(value, _REAL) or is_whole(value)


def _is_double(value: Any) -> bool:
    """Return whether a number does not overflow as a double; infinite ones and nan do not."""
    if isinstance(value, float):
        return True
    try:
        with np.errstate(over="ignore"):
            return not math.isinf(float(value)) or bool(float(value) == value)
    except OverflowError:
        return False


def is_numeric(value: Any) -> bool:
    """Return whether a value is a finite real number, or an array of such numbers."""
    try:
        array = np.asarray(value)
    except (TypeError, ValueError):
        return False
    if array.dtype.kind not in "fiu":
        return False
    with np.errstate(over="ignore"):
        return bool(np.isfinite(np.asarray(array, dtype=float)).all())


def is_potential(candidate: Any) -> bool:
    """Return whether an object is an instance, not a class, with the methods of a potential."""
    methods = ("values", "slope", "multipliers", "tail_bound", "parameters")
    return not isinstance(candidate, type) and all(hasattr(candidate, method) for method in methods)


def _potential() -> Rule:
    return Rule("a potential such as Transformer(beta=4)", is_potential)


def _union(members: Sequence[Any], in_record: bool) -> Rule | None:
    rules = []
    if set(get_args(npt.ArrayLike)) <= set(members):
        members = [member for member in members if member not in get_args(npt.ArrayLike)]
        rules.append(Rule("a finite number or an array of finite numbers", is_numeric))
    for member in members:
        rule = rule_of(member, in_record)
        if rule is None:
            return None
        rules.append(rule)
    words = list(dict.fromkeys(rule.words for rule in rules))
    # As a rule a value is of the first kind.
    first, *others = rules
    return Rule(" or ".join(words), lambda value: first.fits(value) or any(rule.fits(value) for rule in others))


def _literal(values: tuple[Any, ...]) -> Rule:
    words = " or ".join(map(repr, values))
    return Rule(words, lambda value: isinstance(value, str) and value in values)


def _array(annotation: Any, in_record: bool) -> Rule:
    """Return the rule of an array: of any shape in a record, else one row of finite numbers."""
    scalar = get_args(get_args(annotation)[1])[0]
    kinds, words = KINDS[np.dtype(get_origin(scalar) or scalar).kind]
    if in_record:
        return Rule(
            f"an array of {words}", lambda value: isinstance(value, np.ndarray) and value.dtype.kind in kinds
        )
    return Rule(
        f"an array, one row of finite {words}",
        lambda value: isinstance(value, np.ndarray) and value.ndim == 1 and value.size > 0 and is_numeric(value),
    )


def _function(parts: tuple[Any, ...]) -> Rule:
    if not parts or not isinstance(parts[0], list):
        return Rule("a function", callable)
    count = len(parts[0])
    words = f"a function of {count} argument{'' if count == 1 else 's'}"
    return Rule(words, lambda value: takes(value, count))


def takes(function: Any, count: int) -> bool:
    """Return whether a value is a function of ``count`` arguments; True for C functions without a signature."""
    if not callable(function):
        return False
    try:
        inspect.signature(function).bind(*range(count))
    except ValueError:
        return True
    except TypeError:
        return False
    return True


def _sequence(origin: Any, parts: tuple[Any, ...], in_record: bool) -> Rule | None:
    """Return the rule of a sequence; a list or a one-dimensional array is admissible where a tuple is annotated."""
    if origin is tuple and len(parts) > 1 and parts[1] is not Ellipsis:
        each = [rule_of(part, in_record) for part in parts]
        words = [rule.words if rule else "anything" for rule in each]
        example = ", ".join(ENTRIES.get(word, "") for word in words)
        like = f" such as ({example})" if set(words) <= set(ENTRIES) else ""
        return Rule(
            "two numbers" if words == ["a number"] * 2 else f"a tuple ({', '.join(words)}){like}",
            lambda value: (
                is_sequence(value)
                and len(value) == len(each)
                and all(rule is None or rule.fits(entry) for rule, entry in zip(each, value, strict=True))
            ),
        )
    entries = rule_of(parts[0], in_record) if parts else None
    if entries is None:
        return Rule("a sequence", is_sequence)
    return Rule(
        f"a sequence, each entry {entries.words}",
        lambda value: is_sequence(value) and all(map(entries.fits, value)),
    )


def is_sequence(value: Any) -> bool:
    """Return whether a value is a sequence other than a text, or an array of one dimension."""
    if isinstance(value, np.ndarray):
        return value.ndim == 1
    return isinstance(value, Sequence) and not isinstance(value, str | bytes | bytearray)


def shown(value: object) -> str:
    """Return a short text of a value, on one line, for messages."""
    if isinstance(value, np.ndarray) and value.ndim:
        return f"an array of shape {value.shape} and type {value.dtype}"
    if isinstance(value, int) and value.bit_length() > 128:
        return f"a whole number of {value.bit_length()} binary digits"
    try:
        text = " ".join(repr(value).split())
    except Exception:
        # Of a foreign object, of one that was never made, or of lists within lists.
        return f"an object of type {type(value).__name__}"
    if " at 0x" in text:
        return f"the {'function' if inspect.isroutine(value) else 'object'} of type {type(value).__name__}"
    return text if len(text) <= SHOWN else f"{text[: SHOWN - 3]}..."
