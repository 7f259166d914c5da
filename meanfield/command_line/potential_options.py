"""Potentials on the command line: their parameters become options, their names an argument."""

import argparse
import dataclasses
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

from ..domains import Circle, Domain, Sphere, domain_named
from ..equations import (
    CommonFrequency,
    DepthScaled,
    Equation,
    NormalisedAttention,
    PhaseLag,
    SoftmaxAttention,
    equation_of,
)
from ..errors import InvalidInput, did_you_mean
from ..potentials import (
    ACTIVATIONS,
    POTENTIALS,
    Custom,
    External,
    GegenbauerSeries,
    Perceptron,
    Potential,
    Transformer,
    known_potentials,
    names_in,
    potential_class,
)
from ..theory import critical_coupling
from .options import Parser
from .readers import number, whole, word

# The dimension of a series is that of the domain.
HIDDEN = {
    Custom.name: {"function", "source", "constant", "breakpoints", "pieces", "given", "interpolated"},
    GegenbauerSeries.name: {"dimension"},
}
RENAMED = {"w": "coefficients"}
EXAMPLES = {
    "beta": "5",
    "radius": "1",
    "sign": "1",
    "screening": "1",
    "coefficients": "-1 -0.9",
    "expression": '"-cos(t) - 0.9*cos(2*t)"',
}
# A parameter of a potential with these options, and a range of it.
RANGES = {
    "beta": "beta 1 10",
    "radius": "radius 0.5 3",
    "screening": "screening 1 4",
    "coefficients": "w1 -2 -0.5",
}
METAVARS = {
    "normalisation": "KIND",
    "coefficients": "W",
    "expression": "FORMULA",
    "sign": "SIGN",
    "radius": "R",
    "beta": "BETA",
}
HELP = {
    "beta": "inverse temperature of the attention (transformer, attention)",
    "normalisation": "of the weights of attention: softmax (default), ngpt, or none, which is the transformer",
    "radius": "radius of confidence, at most pi (hegselmann-krause)",
    "sign": "1 or attractive, -1 or repulsive (logarithmic)",
    "screening": "inverse screening length, 0 or more (keller-segel)",
    "coefficients": (
        "w_1 w_2 ... of W = sum_k w_k cos kt (cosine-series, custom) or sum_l w_l P_l(cos t) (gegenbauer-series)"
    ),
    "expression": "formula in the angle t, with Abs, Max, Min, Piecewise as well (custom)",
}


NORMALISATIONS: dict[str, Callable[[float], Any]] = {
    "none": Transformer,
    "softmax": SoftmaxAttention,
    "ngpt": NormalisedAttention,
}


@dataclass(frozen=True)
class Attention:
    """Attention with weights of one normalisation, as the command line names it."""

    beta: float
    normalisation: str = "softmax"
    name: ClassVar[str] = "attention"

    def __post_init__(self) -> None:
        if self.normalisation not in NORMALISATIONS:
            raise InvalidInput(
                f"the normalisation must be {' or '.join(NORMALISATIONS)}, not {self.normalisation!r}; "
                f"{did_you_mean(self.normalisation, NORMALISATIONS)}try --normalisation softmax"
            )

    def law(self) -> Any:
        """Return the potential or the velocity law."""
        return NORMALISATIONS[self.normalisation](self.beta)


@dataclass(frozen=True)
class Parameter:
    """A constructor argument of a potential as an option."""

    field: str
    option: str
    read: Callable[[str], Any]
    several: bool
    required: bool


def add_problem(parser: Parser) -> None:
    """Add the potential, its parameters and the noise; call it after the command's other options."""
    parser.add_argument("potential", nargs="?", type=word, metavar="POTENTIAL", help=", ".join(_names()))
    parser.add_argument(
        "--domain", choices=(Circle.name, Sphere.name), default=Circle.name, help="(default: circle)"
    )
    parser.add_argument(
        "--dimension", type=whole, metavar="d", help="of the space around the sphere S^(d-1), from 3 (default: 3)"
    )
    parser.add_argument("--lag", type=number, metavar="A", help="phase lag of the velocity, radians (circle)")
    parser.add_argument(
        "--frequency", type=number, metavar="W", help="common frequency of all particles, radians per time (circle)"
    )
    parser.add_argument(
        "--depth-scaling", type=number, metavar="P", help="divide the velocity by (1 + t)^P; 0.5 for scaled layers"
    )
    parser.add_argument("--noise", type=number, default=1.0, metavar="D", help="noise D, 0 or more (default: 1)")
    parser.add_argument(
        "--confinement", type=word, metavar="FORMULA", help="external potential V, a formula in the angle t"
    )
    parser.add_argument(
        "--given",
        type=word,
        nargs="+",
        metavar="NAME=X",
        help='numbers that formulas have by name, as in custom --expression "-exp(b*cos(t))/b" --given b=3',
    )
    parser.add_argument(
        "--neurons",
        type=word,
        nargs="+",
        metavar="W:A",
        help=(
            "neurons of weight W in the direction of angle A, of the external potential -(1/2) sum W phi(<a, x>); "
            "on the sphere S^2 from the north pole, with an azimuth B as W:A,B"
        ),
    )
    parser.add_argument(
        "--activation", type=word, metavar="NAME", help=f"of the neurons: {', '.join(ACTIVATIONS)} (default: relu)"
    )
    added: set[str] = set()
    for kind in _classes(parser):
        for parameter in parameters_of(kind):
            if parameter.option not in added:
                _add(parser.potential_group, parameter, kind)
                added.add(parameter.option)


def problem_from(parser: Parser, settings: argparse.Namespace) -> Equation:
    """Return the problem that the settings describe, at the coupling of ``--coupling K`` if that is given.

    Raises
    ------
    InvalidInput
        If the potential is missing or unknown or its parameters do not fit.
    """
    domain = domain_named(settings.domain, settings.dimension)
    _require_met(settings)
    law = _law(parser, settings, domain)
    if settings.lag is not None:
        law = PhaseLag(law, settings.lag)
    if settings.depth_scaling is not None:
        law = DepthScaled(law, settings.depth_scaling)
    if settings.frequency is not None:
        law = CommonFrequency(law, settings.frequency)
    return equation_of(domain, law, noise=settings.noise, confinement=_confinement(settings))


def require_potential(parser: Parser, settings: argparse.Namespace, example: str = "--beta 5") -> type[Any]:
    """Return the class of the potential that is named.

    Parameters
    ----------
    example
        What the command takes behind the name of the transformer.

    Raises
    ------
    InvalidInput
        If none is, or none is known by that name.
    """
    if settings.potential is None:
        raise InvalidInput(
            f"no potential is given; try {parser.prog} transformer {example}; "
            f"known potentials: {', '.join(_names())}"
        )
    return _class(settings.potential)


def _confinement(settings: argparse.Namespace) -> Potential | None:
    """Return the external potential of a formula and of neurons, their sum where both are given, or None."""
    if settings.activation is not None and not settings.neurons:
        raise InvalidInput("--activation belongs to --neurons W:A ..., which are not given; try --neurons 1:0")
    parts: list[Potential] = []
    if settings.confinement is not None:
        numbers = _numbers(settings.confinement, settings, "confinement_")
        parts.append(External.from_expression(settings.confinement, **numbers))
    if settings.neurons:
        weights, angles, azimuths = zip(*map(_neuron, settings.neurons), strict=True)
        given = azimuths if any("," in text for text in settings.neurons) else ()
        parts.append(Perceptron(weights, angles, settings.activation or "relu", given))
    return sum(parts[1:], parts[0]) if parts else None


def _given(settings: argparse.Namespace) -> dict[str, float]:
    """Return the numbers of ``--given NAME=X ...`` by name."""
    found: dict[str, float] = {}
    for text in settings.given or ():
        name, _, value = text.partition("=")
        if name.strip() in found:
            raise InvalidInput(f"--given has {name.strip()} twice; give one number for it")
        try:
            found[name.strip()] = float(number(value))
        except argparse.ArgumentTypeError:
            raise InvalidInput(f"--given takes names and numbers, NAME=X, not {text!r}; try --given b=3") from None
    return found


def _formulas(settings: argparse.Namespace) -> list[str]:
    """Return the formulas of the potential and of the confinement, as far as there are any."""
    both = (getattr(settings, "potential expression", None), settings.confinement)
    return [formula for formula in both if formula is not None]


def _require_met(settings: argparse.Namespace) -> None:
    """Refuse a number that no formula has."""
    formulas = _formulas(settings)
    known = set().union(*map(names_in, formulas)) if settings.given else set()
    for name in _given(settings):
        if name not in known:
            where = f" in {' and '.join(map(repr, formulas))}" if formulas else ": there is no formula"
            hint = did_you_mean(name, known)
            raise InvalidInput(f"--given {name}=...: there is no {name}{where}; {hint}leave it out")


def _numbers(formula: str, settings: argparse.Namespace, prefix: str = "") -> dict[str, float]:
    """Return the numbers given that a formula has, and for one that has a range its lowest value."""
    given, found = _given(settings), {}
    for name in sorted(names_in(formula)):
        if name in given:
            found[name] = given[name]
        elif hasattr(settings, varied(prefix + name)):
            found[name] = getattr(settings, varied(prefix + name))
    return found


def _neuron(text: str) -> tuple[float, float, float]:
    """Return the weight, the angle and the azimuth of a neuron from a text such as 0.5:1.2 or 0.5:1.2,3."""
    weight, colon, direction = text.partition(":")
    angle, comma, azimuth = direction.partition(",")
    try:
        return float(weight), float(angle) if colon else 0.0, float(azimuth) if comma else 0.0
    except ValueError:
        raise InvalidInput(
            f"a neuron is a weight and an angle in radians, W:A, not {text!r}; try --neurons 1:0 0.5:1.2, or on "
            "the sphere with an azimuth 0.5:1.2,3"
        ) from None


def at_coupling(problem: Equation, settings: argparse.Namespace) -> Equation:
    """Return the problem at the coupling of ``--coupling`` or ``--relative``, or unchanged without both.

    Raises
    ------
    InvalidInput
        If it is relative to the critical coupling and none exists.
    """
    if settings.relative is None:
        return problem.at(coupling=settings.coupling)
    critical = critical_coupling(problem)
    if critical is None:
        raise InvalidInput(
            "there is no positive critical coupling to be relative to; give --coupling K, not --relative"
        )
    return problem.at(coupling=settings.relative * critical)


def require_coupling(parser: Parser, problem: Equation) -> None:
    """Refuse a free coupling; the message shows the right call."""
    if problem.coupling is None:
        raise InvalidInput(
            f"{parser.prog} needs a coupling; add --coupling K, or --relative K in units of the critical one"
        )


def parameters_of(kind: Any) -> list[Parameter]:
    """Return the parameters of a potential, from the fields of its dataclass."""
    if not dataclasses.is_dataclass(kind):
        return []
    named: Any = kind
    hidden = HIDDEN.get(named.name, set())
    return [_parameter(field) for field in dataclasses.fields(kind) if field.init and field.name not in hidden]


def _parameter(field: "dataclasses.Field[Any]") -> Parameter:
    type_text = field.type if isinstance(field.type, str) else str(field.type)
    several = any(kind in type_text.lower() for kind in ("tuple", "list", "sequence"))
    required = field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING
    option = RENAMED.get(field.name, field.name).replace("_", "-")
    return Parameter(field.name, option, _reader(field.name, type_text), several, required)


def _reader(name: str, type_text: str) -> Callable[[str], Any]:
    if name == "sign":
        return _sign
    if "str" in type_text:
        return word
    return whole if "int" in type_text and "float" not in type_text else number


def _sign(text: str) -> int | str:
    try:
        return int(text)
    except ValueError:
        return text.strip()


def range_example(settings: argparse.Namespace) -> str:
    """Return a parameter of the potential that is named, with a range, as after ``--over``; of any the noise."""
    given = [f"{name} {value:g} {value + 1:g}" for name, value in _given(settings).items()]
    named = settings.potential in _names()
    options = [parameter.option for parameter in parameters_of(_class(settings.potential))] if named else []
    return next(iter([*given, *(RANGES[option] for option in options if option in RANGES)]), "noise 0.5 2")


def _names() -> list[str]:
    """Return the names that the command line knows: those of potentials, and attention."""
    return sorted([*known_potentials(), Attention.name])


def _class(name: str) -> type[Any]:
    return Attention if name == Attention.name else potential_class(name, besides=(Attention.name,))


def _classes(parser: Parser) -> list[type[Any]]:
    """Return the classes whose options are offered: the one named, then the built-in ones."""
    named = [token for token in (parser.config.get("potential"), *parser.argv) if token in _names()]
    return [_class(name) for name in named] + [*POTENTIALS.values(), Attention]


def _add(group: Any, parameter: Parameter, kind: type[Any]) -> None:
    settings: dict[str, Any] = {
        "type": parameter.read,
        "metavar": METAVARS.get(parameter.option, "VALUE"),
        "help": HELP.get(parameter.option, f"parameter of {kind.name}"),
        "dest": _destination(parameter),
        # Only what is given reaches the potential, which has defaults of its own.
        "default": argparse.SUPPRESS,
    }
    if parameter.several:
        settings["nargs"] = "+"
    try:
        group.add_argument(f"--{parameter.option}", **settings)
    except argparse.ArgumentError:
        # A potential of another package may use the name of one of the command's own options.
        group.add_argument(f"--potential-{parameter.option}", **settings)


def _destination(parameter: Parameter) -> str:
    return f"potential {parameter.option}"


def varied(option: str) -> str:
    """Return where settings have a value of a parameter of potentials that has a range."""
    return f"varied {option}"


def _law(parser: Parser, settings: argparse.Namespace, domain: Domain) -> Any:
    """Return the potential, or the velocity law, that the settings describe."""
    name = settings.potential
    kind = require_potential(parser, settings)
    parameters = parameters_of(kind)
    _require_own(name, parameters, settings)
    given = {
        parameter.field: _value(parameter, settings)
        for parameter in parameters
        if hasattr(settings, _destination(parameter))
    }
    # What has a range of its own may be left out.
    given |= {
        parameter.field: getattr(settings, varied(parameter.option))
        for parameter in parameters
        if parameter.required and parameter.field not in given and hasattr(settings, varied(parameter.option))
    }
    _require_known_ranges(name, parameters, given, settings)
    _require_complete(parser, kind, parameters, given)
    if kind is GegenbauerSeries:
        given["dimension"] = domain.dimension
    if kind is Custom and "expression" in given:
        given["given"] = _numbers(given["expression"], settings)
    made = _constructed(kind, given)
    return made.law() if isinstance(made, Attention) else made


def _value(parameter: Parameter, settings: argparse.Namespace) -> Any:
    value = getattr(settings, _destination(parameter))
    return tuple(value) if parameter.several else value


def _constructed(kind: type[Any], given: dict[str, Any]) -> Any:
    try:
        return kind(**given)
    except TypeError as error:
        raise InvalidInput(f"the potential {kind.name!r} does not take these parameters: {error}") from error


def _require_own(name: str, parameters: list[Parameter], settings: argparse.Namespace) -> None:
    own = {_destination(parameter) for parameter in parameters}
    for destination in sorted(vars(settings)):
        if destination.startswith("potential ") and destination not in own:
            option = destination.removeprefix("potential ")
            takes = " and ".join(f"--{parameter.option}" for parameter in parameters) or "no parameters"
            raise InvalidInput(f"--{option} does not belong to the potential {name!r}, which takes {takes}")


def _require_known_ranges(
    name: str, parameters: list[Parameter], given: dict[str, Any], settings: argparse.Namespace
) -> None:
    """Refuse a range whose name is a misspelt one of a parameter that is not given, before that is asked for."""
    wanted = [parameter.option for parameter in parameters if parameter.required and parameter.field not in given]
    for destination in sorted(vars(settings)):
        over = destination.removeprefix(varied(""))
        hint = did_you_mean(over, wanted) if over != destination else ""
        if hint:
            raise InvalidInput(f"the potential {name!r} has no parameter {over!r} for --over; {hint.strip()}")


def _require_complete(parser: Parser, kind: type[Any], parameters: list[Parameter], given: dict[str, Any]) -> None:
    missing = [parameter for parameter in parameters if parameter.required and parameter.field not in given]
    if missing:
        wanted = " and ".join(f"--{parameter.option}" for parameter in missing)
        call = " ".join(f"--{item.option} {EXAMPLES.get(item.option, 'VALUE')}" for item in missing)
        raise InvalidInput(f"the potential {kind.name!r} needs {wanted}; try {parser.prog} {kind.name} {call}")
    if kind is Custom and len(given) != 1:
        raise InvalidInput(
            f"the potential 'custom' takes one of --expression and --coefficients, {len(given)} were given; "
            f"try {parser.prog} custom --expression {EXAMPLES['expression']}"
        )
