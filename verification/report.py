"""Verdicts as a table for the terminal, as a report in Markdown and as plain values for JSON."""

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from meanfield.command_line import UNKNOWN, table
from meanfield.wording import describe

from .catalogue import short_name
from .claims import Claim, Evidence, Result, Verdict

LONGEST_NAME = 44


def terminal_table(results: Sequence[Result]) -> str:
    """Return the verdicts as a table, one row a claim and problem; those that do not apply are counted below."""
    shown = [result for result in results if result.verdict is not Verdict.NOT_APPLICABLE]
    columns = {
        "claim": [result.claim.identifier for result in shown],
        "problem": [_shortened(short_name(result.problem)) for result in shown],
        "verdict": [str(result.verdict) for result in shown],
        "measured": [_shown(result.evidence, "measured", 9) for result in shown],
        "error": [_shown(result.evidence, "error", 2) for result in shown],
        "bound": [_shown(result.evidence, "bound", 2) for result in shown],
    }
    parts = [table(columns)] if shown else []
    parts += [_complaint(result) for result in shown if result.verdict is not Verdict.HOLDS]
    return "\n".join([*parts, totals(results)])


def totals(results: Sequence[Result]) -> str:
    """Return one line that counts the verdicts."""
    counts = Counter(result.verdict for result in results)
    claims = len({result.claim.identifier for result in results})
    verdicts = ", ".join(f"{counts[verdict]} {verdict}" for verdict in Verdict if counts[verdict])
    return f"{claims} claim{'' if claims == 1 else 's'}: {verdicts or 'nothing was checked'}"


def markdown(results: Sequence[Result], origin: dict[str, Any]) -> str:
    """Return the report: every claim with its statement, source, hypotheses and all its verdicts."""
    lines = ["# Verification report", "", totals(results) + ".", ""]
    lines += [f"- {key}: {value}" for key, value in origin.items()]
    lines += ["", "Verdicts:", ""]
    lines += [f"- **{verdict}**: {verdict.value}" for verdict in Verdict]
    for claim in _claims(results):
        lines += ["", *_section(claim, [result for result in results if result.claim is claim])]
    return "\n".join(lines) + "\n"


def json_object(results: Sequence[Result], origin: dict[str, Any]) -> dict[str, Any]:
    """Return the verdicts as values that JSON can hold; a number that is not finite is null."""
    counts = Counter(str(result.verdict) for result in results)
    return {"results": [_row(result) for result in results], "totals": dict(counts), "provenance": origin}


def _claims(results: Sequence[Result]) -> list[Claim]:
    return list({result.claim.identifier: result.claim for result in results}.values())


def _section(claim: Claim, results: Sequence[Result]) -> Iterator[str]:
    yield f"## {claim.identifier}: {claim.title}"
    yield ""
    yield f"**Statement.** {claim.statement}"
    yield ""
    yield f"**Hypotheses.** {claim.assumptions}"
    yield ""
    yield f"**Source.** {claim.source}"
    yield ""
    applicable = [result for result in results if result.verdict is not Verdict.NOT_APPLICABLE]
    if applicable:
        yield "| problem | verdict | measured | expected | error | bound | what |"
        yield "|---|---|---|---|---|---|---|"
    for result in applicable:
        evidence = result.evidence
        cells = [
            describe(result.problem),
            f"**{result.verdict}**",
            _shown(evidence, "measured", 12),
            _shown(evidence, "expected", 12),
            _shown(evidence, "error", 3),
            _shown(evidence, "bound", 3),
            evidence.details if evidence is not None else result.sentence,
        ]
        yield "| " + " | ".join(_escaped(cell) for cell in cells) + " |"
    skipped = [result for result in results if result.verdict is Verdict.NOT_APPLICABLE]
    if skipped:
        yield ""
        yield "Not applicable:"
        yield ""
    for result in skipped:
        yield f"- {describe(result.problem)}: {result.sentence.removeprefix(f'{result.verdict.value}: ')}"


def _complaint(result: Result) -> str:
    return f"{result.claim.identifier} on {short_name(result.problem)} {result.verdict}: {result.sentence}"


def _row(result: Result) -> dict[str, Any]:
    evidence = result.evidence
    numbers = {
        key: _finite(getattr(evidence, key)) if evidence is not None else None
        for key in ("measured", "expected", "error", "bound")
    }
    return {
        "claim": result.claim.identifier,
        "title": result.claim.title,
        "problem": result.problem.to_dict(),
        "verdict": str(result.verdict),
        **numbers,
        "details": result.sentence,
        "seconds": round(result.seconds, 3),
    }


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None


def _shown(evidence: Evidence | None, name: str, digits: int) -> str:
    if evidence is None:
        return UNKNOWN
    value = float(getattr(evidence, name))
    return f"{value:.{digits - 1}e}" if name in ("error", "bound") and value else f"{value:.{digits}g}"


def _shortened(name: str) -> str:
    return name if len(name) <= LONGEST_NAME else name[: LONGEST_NAME - 3] + "..."


def _escaped(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")
