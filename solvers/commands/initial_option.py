"""The option of the initial state of an evolution or a simulation, the same for all commands."""

import argparse
from typing import Any

from meanfield import InvalidInput
from meanfield.command_line import Parser, number, whole, word

HELP = (
    "initial density: uniform, or one of perturbed:amplitude=0.1,degree=2  random:amplitude=0.1,seed=1  "
    "von-mises:mean=0,concentration=4  watson:concentration=4  bumps:count=4,width=0.2,weights=2/1/1/1  a mixture "
    '"0.7*von-mises:concentration=8 + 0.3*uniform"  density:FORMULA in t, on a sphere the angle to the north pole  '
    "moments:M1,M2,...  or a file: a trajectory or states (.nc, .json, .npz; FILE:LABEL), angles (.txt, .csv, .npy)"
)

PREFIX = "initial_"
PARAMETERS = {
    "amplitude": (number, "relative height of a perturbation (perturbed, random)"),
    "degree": (whole, "degree of the perturbation (perturbed)"),
    "seed": (whole, "seed of the random perturbation (random)"),
    "degrees": (whole, "degrees that take part (random)"),
    "mean": (
        number,
        "angle of the axis (perturbed, von-mises, watson), of the first bump (bumps)",
    ),
    "azimuth": (number, "its angle about the pole, on the ordinary sphere"),
    "concentration": (number, "concentration (von-mises: 0 or more; watson)"),
    "count": (whole, "number of bumps (bumps)"),
    "width": (number, "standard deviation of each (bumps)"),
    "weights": (number, "their masses, up to a common factor (bumps)"),
}


def add_initial(parser: Parser, default: str) -> None:
    """Add ``--initial``."""
    parser.add_argument(
        "--initial", type=word, default=default, metavar="DENSITY", help=f"{HELP} (default: {default})"
    )


def add_initial_parameters(parser: Parser) -> None:
    """Add an option for every parameter of the named densities: ``--mean 0`` for ``mean=0`` behind the name."""
    group = parser.add_argument_group("parameters of the initial density, as in --initial von-mises --mean 0")
    for name, (read, help_text) in PARAMETERS.items():
        several: dict[str, Any] = {"nargs": "+"} if name == "weights" else {}
        group.add_argument(
            f"--{name}", type=read, dest=f"{PREFIX}{name}", metavar=name[0].upper(), help=help_text, **several
        )


def initial_of(settings: argparse.Namespace) -> Any:
    """Return the initial state that the settings name.

    Raises
    ------
    InvalidInput
        If they name none.
    """
    from ..evolution.described import NAMED, initial_from

    given = {
        key.removeprefix(PREFIX): value
        for key, value in vars(settings).items()
        if key.startswith(PREFIX) and value is not None
    }
    text = settings.initial
    if given:
        name = text.partition(":")[0]
        if name not in NAMED:
            raise InvalidInput(
                f"--{next(iter(given))} belongs to the initial densities {', '.join(NAMED)}, not to {text!r}"
            )
        text += ("," if ":" in text else ":") + ",".join(f"{key}={_written(value)}" for key, value in given.items())
    return initial_from(text)


def _written(value: Any) -> str:
    return "/".join(map(repr, value)) if isinstance(value, list) else repr(value)
