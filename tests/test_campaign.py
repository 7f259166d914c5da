"""A few trials of every campaign; `python tests/campaign.py` runs as many as one likes."""

import pytest

from tests.campaign import subjects, trial
from tests.campaigns import Verdict

# Of subjects whose references take seconds those that take the fewest of the first five; others have the first two.
TRIALS = {
    "rates-beside-degrees": (3,),
    "concentrated-rates": (2,),
    "phase-diagrams": (1,),
    "law-states": (3, 4),
    "fields-over-parameters": (0, 2),
    "sphere-fields": (1, 2),
    "circle-fields": (1, 4),
    "sphere-phase-diagrams": (1, 4),
    "states-sphere-confined": (1, 3),
    "tolerances": (1, 3),
}


@pytest.mark.parametrize(
    ("name", "index"), [(name, index) for name in sorted(subjects()) for index in TRIALS.get(name, (0, 1))]
)
def test_nothing_is_wrong_and_silent(name: str, index: int) -> None:
    finding = trial(subjects()[name], 20, index)
    assert finding.verdict is not Verdict.SILENT, f"{finding.call}\n{finding.detail}"
