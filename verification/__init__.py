"""Judgement: theorems as executable claims with their verdicts, and particles beside their mean-field limit.

Names are loaded on first use, as those of the solvers.
"""

from typing import TYPE_CHECKING

from meanfield.lazy import on_first_use

if TYPE_CHECKING:
    from .catalogue import representative_problems as representative_problems
    from .claims import Claim as Claim
    from .claims import Evidence as Evidence
    from .claims import Result as Result
    from .claims import Undecided as Undecided
    from .claims import Verdict as Verdict
    from .comparison import compare as compare
    from .judging import CLAIMS as CLAIMS
    from .judging import judge as judge
    from .judging import matching as matching
    from .judging import verify as verify
    from .tools import Tools as Tools

_HOMES = {
    "CLAIMS": "judging",
    "Claim": "claims",
    "Evidence": "claims",
    "Result": "claims",
    "Tools": "tools",
    "Undecided": "claims",
    "Verdict": "claims",
    "compare": "comparison",
    "judge": "judging",
    "matching": "judging",
    "representative_problems": "catalogue",
    "verify": "judging",
}

__all__ = [
    "CLAIMS",
    "Claim",
    "Evidence",
    "Result",
    "Tools",
    "Undecided",
    "Verdict",
    "compare",
    "judge",
    "matching",
    "representative_problems",
    "verify",
]

# The generator of the version before.
_FORMER = {"comparing": "compare"}

__getattr__, __dir__ = on_first_use(globals(), _HOMES, _FORMER)
