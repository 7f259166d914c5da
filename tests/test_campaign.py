"""A few trials of every campaign; `python tests/campaign.py` runs as many as one likes."""

import pytest

from tests.campaign import subjects, trial
from tests.campaigns import Verdict

# One of a subject whose reference takes seconds.
TRIALS = {"rates-beside-degrees": 1, "concentrated-rates": 1}


@pytest.mark.parametrize(
    ("name", "index"), [(name, index) for name in sorted(subjects()) for index in range(TRIALS.get(name, 2))]
)
def test_nothing_is_wrong_and_silent(name: str, index: int) -> None:
    finding = trial(subjects()[name], 20, index)
    assert finding.verdict is not Verdict.SILENT, f"{finding.call}\n{finding.detail}"
