"""What every claim is tried on: it holds on the right solvers, fails on wrong ones, and knows its hypotheses."""

from collections.abc import Collection, Sequence
from typing import Any

import wrong

from meanfield import McKeanVlasov
from verification import Claim, Tools, Verdict, judge


def holds(claim: Claim, problem: McKeanVlasov) -> None:
    """Check that a claim holds on the right solvers."""
    result = judge(claim, problem, wrong.RIGHT)
    assert result.verdict is Verdict.HOLDS, result.sentence


def fails(claim: Claim, problem: McKeanVlasov, tools: Tools) -> None:
    """Check that a claim fails on wrong solvers."""
    result = judge(claim, problem, tools)
    assert result.verdict is Verdict.FAILS, result.sentence


def does_not_apply(claim: Claim, problem: McKeanVlasov) -> None:
    """Check that a claim says why it does not apply."""
    result = judge(claim, problem, wrong.RIGHT)
    assert result.verdict is Verdict.NOT_APPLICABLE, result.sentence
    assert result.sentence.removeprefix(Verdict.NOT_APPLICABLE.value).strip(": ")


def all_are_tried(claims: Collection[str], *cases: Sequence[tuple[Any, ...]], about_fields: Sequence[Any]) -> None:
    """Check that cases, and those in a field, are about all claims."""
    in_fields = {case[0] for case in about_fields}
    for rows in cases:
        assert {case[0] for case in rows} | in_fields == set(claims)
