"""A few trials of every campaign; `python tests/campaign.py` runs as many as one likes."""

import pytest

from tests.campaign import subjects, trial
from tests.campaigns import Verdict

TRIALS = 2


@pytest.mark.parametrize("index", range(TRIALS))
@pytest.mark.parametrize("name", sorted(subjects()))
def test_nothing_is_wrong_and_silent(name: str, index: int) -> None:
    finding = trial(subjects()[name], 20, index)
    assert finding.verdict is not Verdict.SILENT, f"{finding.call}\n{finding.detail}"
