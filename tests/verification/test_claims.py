"""Verdicts, patterns and what becomes of exceptions and unknown numbers."""

import concurrent.futures
import dataclasses
import json
import math
from collections.abc import Iterator

import numpy as np
import pytest

from meanfield import InvalidInput, McKeanVlasov
from meanfield.cli import main
from tests import problems
from verification import (
    Claim,
    Evidence,
    Tools,
    Undecided,
    Verdict,
    judge,
    matching,
    representative_problems,
    verify,
)
from verification.claims import at_least, compare, missing, worst

PROBLEM = problems.KURAMOTO.problem


def made(check: object, reason: str | None = None) -> Claim:
    return Claim("test.one", "one", "a statement", "nothing", "nobody", lambda _: reason, check)  # type: ignore[arg-type]


def raising(error: Exception) -> object:
    def check(problem: McKeanVlasov, tools: Tools) -> Evidence:
        raise error

    return check


@pytest.mark.parametrize(
    ("error", "bound", "verdict"),
    [
        (0.5, 1.0, Verdict.HOLDS),
        (1.0, 1.0, Verdict.HOLDS),
        (1.5, 1.0, Verdict.FAILS),
        (math.inf, 1.0, Verdict.FAILS),
        (math.nan, 1.0, Verdict.INCONCLUSIVE),
        (0.5, math.nan, Verdict.INCONCLUSIVE),
    ],
)
def test_verdict_of_an_error(error: float, bound: float, verdict: Verdict) -> None:
    result = judge(made(lambda problem, tools: Evidence(0.0, 0.0, error, bound, "there")), PROBLEM, Tools())
    assert result.verdict is verdict
    assert "there" in result.sentence


@pytest.mark.parametrize(
    "error", [Undecided("too few points"), RuntimeError("the disk is full"), ZeroDivisionError(), KeyError("x")]
)
def test_an_exception_is_inconclusive_and_not_lost(error: Exception) -> None:
    result = judge(made(raising(error)), PROBLEM, Tools())
    assert result.verdict is Verdict.INCONCLUSIVE
    assert result.evidence is None
    assert (str(error) or type(error).__name__) in result.sentence


def test_an_interrupt_is_not_swallowed() -> None:
    with pytest.raises(KeyboardInterrupt):
        judge(made(raising(KeyboardInterrupt())), PROBLEM, Tools())  # type: ignore[arg-type]


def test_hypotheses_come_first() -> None:
    result = judge(made(raising(RuntimeError("never run")), "it is about spheres"), PROBLEM, Tools())
    assert result.verdict is Verdict.NOT_APPLICABLE
    assert "it is about spheres" in result.sentence


def test_a_failing_hypothesis_is_inconclusive() -> None:
    broken = Claim("test.two", "", "", "", "", lambda problem: 1 / 0, lambda problem, tools: missing("x"))  # type: ignore[arg-type,return-value]
    assert judge(broken, PROBLEM, Tools()).verdict is Verdict.INCONCLUSIVE


def test_worst_evidence_is_relative_to_its_bound() -> None:
    loose, tight = compare(1.0, 0.0, 10.0, "loose"), compare(1e-3, 0.0, 1e-4, "tight")
    assert worst([loose, tight]).details == "tight (worst of 2 measurements)"
    assert worst([loose, missing("gone")]).error == math.inf
    assert worst([tight]) is tight
    assert not missing("gone").holds


def test_worst_refuses_what_is_not_known() -> None:
    with pytest.raises(Undecided, match="not known"):
        worst([missing("gone"), compare(math.nan, 0.0, 1.0, "unknown")])
    with pytest.raises(Undecided):
        worst([])


def test_inequality() -> None:
    assert at_least(3.0, 1.0, 0.0, "").holds
    assert not at_least(0.5, 1.0, 0.1, "").holds


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        ("circle.T1", ["circle.T1"]),
        ("CIRCLE.t8", ["circle.T8"]),
        ("*.T9*", ["circle.T9", "circle.T9-repulsive", "sphere.T9"]),
    ],
)
def test_patterns(pattern: str, expected: list[str]) -> None:
    assert [claim.identifier for claim in matching(pattern)] == expected


def test_pattern_as_substring() -> None:
    rooms = [matching(f"{name}.*") for name in ("attention", "circle", "curves", "sphere")]
    assert all(len(room) >= 5 for room in rooms)
    assert [claim for room in rooms for claim in room] == matching()


@pytest.mark.parametrize(
    ("pattern", "said"),
    [
        ("torus", r"there are attention\.\*, circle\.\*, curves\.\*, sphere\.\*, listed by matching\(\)"),
        ("attnetion", r"did you mean attention\?"),
        ("circle.T55", r"did you mean circle\.T5\?"),
    ],
)
def test_unknown_pattern_names_what_is_near_and_what_there_is(pattern: str, said: str) -> None:
    with pytest.raises(InvalidInput, match=rf"no claim matches '{pattern}'; .*{said}"):
        matching(pattern)


def test_every_claim_is_documented() -> None:
    for claim in matching():
        assert all((claim.title, claim.statement, claim.assumptions, claim.source)), claim.identifier


def test_verify_judges_every_problem_and_reports_progress() -> None:
    seen: list[str] = []
    given = [PROBLEM, representative_problems()[0]]
    results = verify("circle.T8", given, progress=lambda result: seen.append(result.claim.identifier))
    assert [result.problem for result in results] == given
    assert [result.verdict for result in results] == [Verdict.HOLDS, Verdict.NOT_APPLICABLE]
    assert seen == ["circle.T8"] * 2


@pytest.fixture
def threads() -> Iterator[concurrent.futures.Executor]:
    with concurrent.futures.ThreadPoolExecutor(2) as executor:
        yield executor


@pytest.mark.parametrize("pool", ["threads", "processes"])
def test_an_executor_changes_no_verdict_and_no_order(pool: str, request: pytest.FixtureRequest) -> None:
    given = [PROBLEM, *representative_problems("circle")[:3]]
    alone = verify("circle.T[18]", given)
    seen: list[tuple[str, McKeanVlasov]] = []
    results = verify(
        "circle.T[18]",
        given,
        executor=request.getfixturevalue(pool),
        progress=lambda one: seen.append((one.claim.identifier, one.problem)),
    )
    assert [dataclasses.replace(one, seconds=0.0) for one in results] == [
        dataclasses.replace(one, seconds=0.0) for one in alone
    ]
    assert [one.claim.identifier for one in results] == ["circle.T1"] * 4 + ["circle.T8"] * 4
    assert sorted(seen, key=repr) == sorted([(one.claim.identifier, one.problem) for one in alone], key=repr)


def test_the_command_lists_claims_and_checks_none(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["verify", "--list"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines[:-2]] == [claim.identifier for claim in matching()]
    assert lines[-1].startswith(f"{len(matching())} claims, ")
    assert main(["verify", "circle.T8", "--list", "--json"]) == 0
    (row,) = json.loads(capsys.readouterr().out)["claims"]
    assert (row["claim"], row["problems"]) == ("circle.T8", len(representative_problems("circle")))


def test_the_command_refuses_no_workers(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["verify", "circle.T8", "--workers", "0"]) == 2
    assert "--workers must be from 1" in capsys.readouterr().err


def test_claims_are_tried_on_problems_of_their_domain() -> None:
    results = verify("sphere.repulsive")
    assert {result.problem.domain.name for result in results} == {"sphere"}
    assert len(results) == len(representative_problems("sphere"))
    rooms = [representative_problems(name) for name in ("circle", "sphere", "attention", "curves")]
    assert representative_problems() == sum(rooms, ())
    assert representative_problems("torus") == ()


@pytest.mark.parametrize(("identifier", "problem"), [("circle.T8", problems.SPINS.problem), ("sphere.T5", PROBLEM)])
def test_a_claim_does_not_apply_on_another_domain(identifier: str, problem: McKeanVlasov) -> None:
    (result,) = verify(identifier, [problem])
    assert result.verdict is Verdict.NOT_APPLICABLE
    assert f"it is about the {identifier.partition('.')[0]}" in result.sentence


def test_nothing_is_computed_twice() -> None:
    calls: list[object] = []

    def called(*arguments: object, **options: object) -> object:
        calls.append((arguments, options))
        return len(calls)

    shared = Tools(states=called, evolve=called, compare=called).remembering()  # type: ignore[arg-type]
    for _ in range(2):
        assert shared.states(problems.KURAMOTO.problem) == 1
        assert shared.evolve(PROBLEM, (np.arange(3.0), np.zeros(3)), 1.0, times=[0.0, 1.0]) == 2
        assert shared.evolve(PROBLEM, (np.arange(3.0), np.ones(3)), 1.0, times=[0.0, 1.0]) == 3
        assert shared.evolve(PROBLEM, (np.arange(3.0), np.ones(3)), 1.0, times=[0.0, 2.0]) == 4
        assert shared.compare(PROBLEM, (np.arange(3.0), np.ones(3)), 1.0, times=[0.0, 1.0]) == 5
    assert len(calls) == 5
