"""Random campaigns: problems drawn at random, solved, and judged by brute force; one module a subject.

A module has ``SUBJECTS``, a dictionary of functions by name. Each takes a random generator, draws one problem, has it
solved and returns a :class:`Finding`.
"""

import enum
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np


class Verdict(enum.Enum):
    """How an answer compares with brute force; ``SILENT`` is the only one that is a defect by itself."""

    RIGHT = "right"
    REFUSED = "refused in a sentence"
    SAID = "wrong or incomplete, and said so"
    SILENT = "wrong and silent"


@dataclass(frozen=True)
class Finding:
    """The verdict on one problem, the call that shows it, and what was found against what is true."""

    verdict: Verdict
    call: str
    detail: str = ""


Subject = Callable[[np.random.Generator], Finding]
