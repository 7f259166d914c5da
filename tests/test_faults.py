"""A few trials of what may happen to a command from outside; `python tests/faults.py` runs as many as one likes."""

import sys
import time
from pathlib import Path
from signal import SIGINT, SIGKILL, SIGTERM

import pytest

from tests.faults import KINDS, killed, sound_run, trial

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="looks at /proc")


@pytest.mark.parametrize(
    ("kind", "index"), [(kind, index) for kind in KINDS for index in range(1 if kind == "kills" else 2)]
)
def test_nothing_is_lost(kind: str, index: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tests.faults.KILLS", 3)
    found = trial(kind, 20, index)
    assert not found.lost, f"{found.call}\n{found.lost}"


COMMAND = "particles kuramoto --coupling 3 --until 1 --particles 50 --replicas 2 --workers 2 --to run.json --force"


@pytest.fixture(scope="module")
def duration(tmp_path_factory: pytest.TempPathFactory) -> float:
    """Seconds after which the workers have begun."""
    began = time.monotonic()
    assert not sound_run(COMMAND.split(), tmp_path_factory.mktemp("sound"), "run.json")
    return time.monotonic() - began


# One handler is for SIGTERM and SIGHUP; of a group that is killed nothing is left.
@pytest.mark.parametrize(("number", "group"), [(SIGINT, True), (SIGTERM, False), (SIGKILL, False)])
def test_workers_end_with_their_command(tmp_path: Path, number: int, group: bool, duration: float) -> None:
    endless = [*COMMAND.split(), "--step", "1e-6"]
    assert not killed(endless, tmp_path, "run.json", number, group, duration)
