"""Texts that the commands on single couplings share."""

from collections.abc import Iterator, Sequence

import numpy as np

from meanfield import Equation, State
from meanfield.command_line import Parser, formatted, word
from meanfield.equations import has_free_energy
from meanfield.theory import transition_coupling
from meanfield.wording import describe

EACH_BRANCH = "one line a branch"


def add_on_failure(parser: Parser) -> None:
    """Add ``--on-failure``, the option of what to do if a branch is lost."""
    parser.add_argument(
        "--on-failure",
        choices=("raise", "return"),
        default="raise",
        type=word,
        help="if a branch cannot be followed to the coupling: raise an error (default), or return the states that "
        "can be had, naming no minimiser",
    )


def heading(problem: Equation, states: Sequence[State]) -> Iterator[str]:
    """Yield the lines above a table of states."""
    yield describe(problem)
    critical = transition_coupling(problem)
    if critical is not None:
        ratio = np.longdouble(problem.fixed_coupling) / np.longdouble(critical)
        yield f"critical coupling {formatted(critical, 12)}, relative coupling {formatted(float(ratio), 12)}"
    minimiser = next((state.label for state in states if state.minimiser), None)
    count = f"{len(states)} stationary state{'' if len(states) == 1 else 's'}"
    known = f"the minimiser of the free energy is {minimiser or 'not known'}"
    yield f"{count}; {known if has_free_energy(problem) else 'there is no free energy, and no minimiser of it'}"
