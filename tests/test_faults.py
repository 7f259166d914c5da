"""A few trials of what may happen to a command from outside; `python tests/faults.py` runs as many as one likes."""

import sys
import time
from pathlib import Path

import pytest

from tests.faults import INTERRUPTED, KINDS, killed, sound_run, trial

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="looks at /proc")


@pytest.mark.parametrize("index", range(2))
@pytest.mark.parametrize("kind", KINDS)
def test_nothing_is_lost(kind: str, index: int) -> None:
    found = trial(kind, 20, index)
    assert not found.lost, f"{found.call}\n{found.lost}"


@pytest.mark.parametrize("group", [False, True], ids=["process", "group"])
@pytest.mark.parametrize("number", INTERRUPTED)
def test_workers_end_with_their_command(tmp_path: Path, number: int, group: bool) -> None:
    command = (
        "particles kuramoto --coupling 3 --until 1 --particles 50 --replicas 2 --workers 2 --to run.json --force"
    )
    arguments = command.split()
    began = time.monotonic()
    assert not sound_run(arguments, tmp_path, "run.json")
    duration = time.monotonic() - began
    endless = [*arguments, "--step", "1e-6"]
    assert not killed(endless, tmp_path, "run.json", number, group, duration)
