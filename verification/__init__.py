"""Judgement: theorems as executable claims with their verdicts, and particles beside their mean-field limit."""

from .catalogue import representative_problems as representative_problems
from .claims import CLAIMS as CLAIMS
from .claims import Claim as Claim
from .claims import Evidence as Evidence
from .claims import Result as Result
from .claims import Undecided as Undecided
from .claims import Verdict as Verdict
from .claims import judge as judge
from .claims import matching as matching
from .claims import verify as verify
from .comparison import compare as compare
from .comparison import comparing as comparing
from .tools import Tools as Tools
