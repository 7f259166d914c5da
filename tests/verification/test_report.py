"""The table, the report and the command."""

import json
import math
from pathlib import Path

import pytest

from meanfield import MeanfieldError
from tests import problems
from verification import Claim, Evidence, Result, Verdict, catalogue
from verification.commands.verify import verify
from verification.report import json_object, markdown, terminal_table, totals

PROBLEM = problems.KURAMOTO.problem
CLAIM = Claim(
    "test.T1", "a title", "a | statement", "an assumption", "a source", lambda _: None, lambda p, t: EVIDENCE
)
EVIDENCE = Evidence(1.5, 1.0, 0.5, 0.25, "half | too much")
RESULTS = (
    Result(CLAIM, PROBLEM, Verdict.FAILS, "too much", EVIDENCE, 0.1),
    Result(CLAIM, PROBLEM, Verdict.NOT_APPLICABLE, f"{Verdict.NOT_APPLICABLE.value}: wrong space", None, 0.0),
    Result(CLAIM, PROBLEM, Verdict.INCONCLUSIVE, "the check could not decide: it rained", None, 0.0),
)


def test_terminal_table() -> None:
    text = terminal_table(RESULTS)
    assert "test.T1" in text
    assert "kuramoto" in text
    assert "5.0e-01" in text
    assert "it rained" in text
    assert text.endswith("1 claim: 1 fails, 1 not applicable, 1 inconclusive")


def test_totals_of_nothing() -> None:
    assert totals(()) == "0 claims: nothing was checked"


def test_markdown_has_everything_a_reader_needs() -> None:
    text = markdown(RESULTS, {"command": "meanfield verify"})
    for part in ("## test.T1: a title", "a source", "an assumption", "**fails**", "wrong space", "it rained"):
        assert part in text
    rows = [line for line in text.splitlines() if line.startswith("| kuramoto")]
    assert len(rows) == 2
    assert all(row.replace("\\|", "").count("|") == 8 for row in rows)


def test_json_has_null_for_what_is_not_finite() -> None:
    endless = Result(CLAIM, PROBLEM, Verdict.FAILS, "gone", Evidence(0.0, 1.0, math.inf, 0.0, "gone"), 0.0)
    value = json_object((endless, *RESULTS), {})
    assert value["results"][0]["error"] is None
    assert value["results"][1]["measured"] == 1.5
    assert value["totals"] == {"fails": 2, "not applicable": 1, "inconclusive": 1}
    json.dumps(value, allow_nan=False)


@pytest.fixture
def one_problem(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(catalogue, "representative_problems", lambda domain=None: (PROBLEM,))


@pytest.mark.usefixtures("one_problem")
def test_command_prints_a_table(capsys: pytest.CaptureFixture[str]) -> None:
    assert verify(["circle.T8"]) == 0
    assert "circle.T8  kuramoto  holds" in capsys.readouterr().out


@pytest.mark.usefixtures("one_problem")
def test_command_prints_json_only(capsys: pytest.CaptureFixture[str]) -> None:
    assert verify(["circle.T8", "--json", "--quiet"]) == 0
    value = json.loads(capsys.readouterr().out)
    assert value["totals"] == {"holds": 1}
    assert value["results"][0]["claim"] == "circle.T8"


@pytest.mark.usefixtures("one_problem")
def test_quiet_prints_nothing(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    target = tmp_path / "report.md"
    assert verify(["circle.T8", "--quiet", "--to", str(target)]) == 0
    assert capsys.readouterr() == ("", "")
    assert "## circle.T8" in target.read_text(encoding="utf-8")


def test_a_failure_is_exit_code_1(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr("verification.judging.verify", lambda *args, **options: RESULTS)
    assert verify(["circle.T8"]) == 1
    assert "fails" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["nonsense"], "no claim matches 'nonsense'"),
        (["circle.T8", "--to", "report.pdf"], "ends in .md"),
        (["circle.T8", "--to", "nowhere/report.md"], "does not exist"),
        (["circle.T8", "--frce"], "--force"),
    ],
)
def test_nonsense_is_one_sentence(
    arguments: list[str], sentence: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(MeanfieldError, match=sentence) as caught:
        verify(arguments)
    assert caught.value.exit_code == 2
    assert list(tmp_path.iterdir()) == []


@pytest.mark.usefixtures("one_problem")
def test_an_existing_report_is_kept(tmp_path: Path) -> None:
    target = tmp_path / "report.md"
    target.write_text("mine", encoding="utf-8")
    with pytest.raises(MeanfieldError, match="--force"):
        verify(["circle.T8", "--to", str(target)])
    assert target.read_text(encoding="utf-8") == "mine"
    assert verify(["circle.T8", "--to", str(target), "--force", "--quiet"]) == 0
    assert "# Verification report" in target.read_text(encoding="utf-8")
