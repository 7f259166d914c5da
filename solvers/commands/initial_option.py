"""The option that says where an evolution or a simulation starts; the same for all commands."""

import argparse
from typing import Any

from meanfield.command_line import Parser, word

from ..evolution.described import initial_from

HELP = (
    "initial density: uniform, or one of perturbed:amplitude=0.1,degree=2  random:amplitude=0.1,seed=1  "
    "von-mises:mean=0,concentration=4  bumps:count=4,width=0.2,weights=2/1/1/1  density:FORMULA in t  "
    "moments:M1,M2,...  or a file: a trajectory or states (.nc, .json; FILE:LABEL), angles (.txt, .csv, .npy)"
)


def add_initial(parser: Parser, default: str) -> None:
    """Add ``--initial``."""
    parser.add_argument(
        "--initial", type=word, default=default, metavar="DENSITY", help=f"{HELP} (default: {default})"
    )


def initial_of(settings: argparse.Namespace) -> Any:
    """Return the initial state the settings name.

    Raises
    ------
    InvalidInput
        If they name none.
    """
    return initial_from(settings.initial)
