"""Theorems as executable claims: what is claimed, when it applies, and how it is measured.

A claim is checked on a problem with the solvers of a :class:`Tools`. It ends in a :class:`Verdict`; an
exception on the way is an inconclusive verdict with its sentence, never a lost one. Every bound is either a
multiple of the rounding unit times the size of the numbers compared, one of the accuracies the solvers
promise, an error estimate that is measured along, or the bound of the theorem itself.
"""

import logging
import math
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Executor, as_completed
from dataclasses import dataclass, replace
from enum import Enum
from fnmatch import fnmatchcase
from typing import Any, TypeAlias

from meanfield import Circle, InvalidInput, McKeanVlasov, Sphere
from meanfield.arguments import checked
from meanfield.errors import did_you_mean
from meanfield.records import Record

from .tools import Tools

Judged: TypeAlias = tuple["Verdict", str, "Evidence | None", float]
Check = Callable[[McKeanVlasov, Tools], "Evidence"]
Hypotheses = Callable[[McKeanVlasov], str | None]


class Verdict(Enum):
    """How a claim fares on a problem; the value is the sentence the user reads."""

    HOLDS = "the measured error is within the bound"
    FAILS = "the measured error exceeds the bound"
    NOT_APPLICABLE = "the hypotheses are not met"
    INCONCLUSIVE = "the check could not decide"

    def __str__(self) -> str:
        return self.name.lower().replace("_", " ")


class Undecided(Exception):
    """Raised by a check that cannot decide; the message says why."""


@checked
@dataclass(frozen=True, eq=False, repr=False)
class Evidence(Record):
    """A measurement against an expectation.

    Attributes
    ----------
    measured, expected : float
        The two numbers compared.
    error : float
        Their distance, in the same unit as the bound; infinite where something required is not there.
    bound : float
        The largest error with which the claim holds.
    details : str
        What was measured, where.
    """

    measured: float
    expected: float
    error: float
    bound: float
    details: str

    @property
    def holds(self) -> bool:
        """Whether the error is within the bound."""
        return self.error <= self.bound

    @property
    def severity(self) -> float:
        """Error over bound; infinite where the bound is 0 and the error is not."""
        if self.error == 0.0:
            return 0.0
        return self.error / self.bound if self.bound > 0.0 else math.inf


@checked
@dataclass(frozen=True)
class Claim:
    """A theorem or an exact property that a solver must reproduce.

    Attributes
    ----------
    identifier : str
        Such as ``circle.T3``; the first part is the domain the claim is about.
    title, statement, assumptions, source : str
        The claim in words and formula, in the convention of this package; what it supposes; whose it is.
    hypotheses : callable
        Returns None for a problem the claim applies to, else the reason why not.
    check : callable
        Measures the claim on a problem with the given tools.
    """

    identifier: str
    title: str
    statement: str
    assumptions: str
    source: str
    hypotheses: Hypotheses
    check: Check

    @property
    def domain(self) -> str:
        """The domain the claim is about, ``circle`` or ``sphere``."""
        return self.identifier.partition(".")[0]

    def __repr__(self) -> str:
        return f"Claim({self.identifier!r}, {self.title!r})"

    def __reduce__(self) -> Any:
        # The claim itself stands where its check was, which pickle therefore cannot find.
        return (_registered, (self.identifier,)) if CLAIMS.get(self.identifier) is self else super().__reduce__()


@checked
@dataclass(frozen=True, eq=False, repr=False)
class Result(Record):
    """The verdict on one claim and one problem, with its evidence and the sentence that explains it."""

    claim: Claim
    problem: McKeanVlasov
    verdict: Verdict
    sentence: str
    evidence: Evidence | None
    seconds: float


logger = logging.getLogger(__name__)

CLAIMS: dict[str, Claim] = {}


def claim(
    identifier: str,
    title: str,
    *,
    statement: str,
    assumptions: str,
    source: str,
    hypotheses: Hypotheses,
) -> Callable[[Check], Claim]:
    """Turn a check into a registered :class:`Claim`; a decorator."""

    def registered(check: Check) -> Claim:
        made = Claim(identifier, title, statement, assumptions, source, hypotheses, check)
        if identifier in CLAIMS:
            raise ValueError(f"two claims are called {identifier!r}")
        CLAIMS[identifier] = made
        return made

    return registered


def _registered(identifier: str) -> Claim:
    _load()
    return CLAIMS[identifier]


def compare(measured: float, expected: float, bound: float, details: str) -> Evidence:
    """Return the evidence of an equality within an absolute bound."""
    measured, expected = float(measured), float(expected)
    return Evidence(measured, expected, abs(measured - expected), float(bound), details)


def at_least(measured: float, expected: float, bound: float, details: str) -> Evidence:
    """Return the evidence of an inequality: what is missing may not exceed the bound."""
    measured, expected = float(measured), float(expected)
    return Evidence(measured, expected, max(expected - measured, 0.0), float(bound), details)


def missing(details: str) -> Evidence:
    """Return the evidence of something required that is not there."""
    return Evidence(0.0, 1.0, math.inf, 0.0, details)


def worst(evidence: Iterable[Evidence]) -> Evidence:
    """Return the evidence that speaks most against the claim, and say out of how many.

    Raises
    ------
    Undecided
        If there is none, or a number is not known.
    """
    found = list(evidence)
    if not found:
        raise Undecided("nothing was there to be measured")
    for item in found:
        if math.isnan(item.error) or math.isnan(item.bound):
            raise Undecided(f"a number is not known: {item.details}")
    heaviest = max(found, key=lambda item: item.severity)
    if len(found) == 1:
        return heaviest
    return replace(heaviest, details=f"{heaviest.details} (worst of {len(found)} measurements)")


@checked
def matching(pattern: str = "") -> list[Claim]:
    """Return the claims whose identifier contains the pattern or matches it as a glob, in order.

    Raises
    ------
    InvalidInput
        If there is none; the message lists the claims there are.
    """
    _load()
    wanted = pattern.strip().lower()
    # Domain by domain, whichever was imported first.
    known = sorted(CLAIMS.values(), key=lambda item: item.domain)
    exact = [item for item in known if item.identifier.lower() == wanted]
    chosen = exact or [item for item in known if _matches(item.identifier.lower(), wanted)]
    if not chosen:
        raise InvalidInput(
            f"no claim matches {pattern!r}; {did_you_mean(pattern, CLAIMS)}there are {', '.join(CLAIMS)}"
        )
    return chosen


@checked
def judge(item: Claim, problem: McKeanVlasov, tools: Tools) -> Result:
    """Return the verdict on one claim and one problem."""
    started = time.perf_counter()
    verdict, sentence, evidence = _judged(item, problem, tools)
    return Result(item, problem, verdict, sentence, evidence, time.perf_counter() - started)


@checked
def verify(
    pattern: str = "",
    problems: Sequence[McKeanVlasov] | None = None,
    *,
    tools: Tools | None = None,
    progress: Callable[[Result], None] | None = None,
    executor: Executor | None = None,
) -> tuple[Result, ...]:
    """Check the claims that match a pattern on every problem.

    Parameters
    ----------
    pattern
        Part of an identifier, or a glob such as ``circle.T*``; all claims if empty.
    problems
        By default those of :func:`verification.catalogue.representative_problems` on the domain of each claim.
    tools
        The solvers to be judged; those of this package by default.
    progress
        Called with every result as it comes.
    executor
        Judges the problems at the same time, such as a ``ProcessPoolExecutor``; verdicts are the same.

    Returns
    -------
    tuple of Result
        Claim by claim, in the order of the problems.

    Raises
    ------
    InvalidInput
        If no claim matches.

    Examples
    --------
    >>> from meanfield import Circle, Kuramoto, McKeanVlasov
    >>> [str(result.verdict) for result in verify("circle.T8", [McKeanVlasov(Circle(), Kuramoto())])]
    ['holds']
    """
    chosen = matching(pattern)
    used = tools or Tools()
    work = _by_problem(chosen, problems)
    found: dict[tuple[int, int], Result] = {}

    def receive(number: int, results: Iterable[Result]) -> None:
        for result in results:
            found[chosen.index(result.claim), number] = result
            logger.info("%s on %s: %s", result.claim.identifier, result.problem.potential.name, result.verdict)
            if progress is not None:
                progress(result)

    if executor is None:
        for number, (problem, claims) in enumerate(work):
            receive(number, _results(claims, problem, used))
    else:
        _judge_elsewhere(executor, work, used, receive)
    return tuple(found[place] for place in sorted(found))


def _by_problem(
    claims: Sequence[Claim], problems: Sequence[McKeanVlasov] | None
) -> list[tuple[McKeanVlasov, list[Claim]]]:
    """Return every problem with the claims to be judged on it, so that what they share is computed once."""
    from .catalogue import representative_problems

    if problems is not None:
        return [(problem, list(claims)) for problem in problems]
    domains = dict.fromkeys(item.domain for item in claims)
    return [
        (problem, [item for item in claims if item.domain == domain])
        for domain in domains
        for problem in representative_problems(domain)
    ]


def _results(claims: Sequence[Claim], problem: McKeanVlasov, tools: Tools) -> Iterator[Result]:
    shared = tools.remembering()
    for item in claims:
        yield judge(item, problem, shared)


def _judge_elsewhere(
    executor: Executor,
    work: Sequence[tuple[McKeanVlasov, Sequence[Claim]]],
    tools: Tools,
    receive: Callable[[int, Iterable[Result]], None],
) -> None:
    waiting = {
        executor.submit(judge_all, [item.identifier for item in claims], problem, tools): number
        for number, (problem, claims) in enumerate(work)
    }
    try:
        for future in as_completed(list(waiting)):
            problem, claims = work[waiting[future]]
            judged = zip(claims, future.result(), strict=True)
            receive(waiting[future], [Result(item, problem, *rest) for item, rest in judged])
    finally:
        for future in waiting:
            future.cancel()


def judge_all(identifiers: Sequence[str], problem: McKeanVlasov, tools: Tools) -> list[Judged]:
    """Return verdict, sentence, evidence and seconds of claims on a problem, in a process that has none yet."""
    _load()
    results = _results([CLAIMS[identifier] for identifier in identifiers], problem, tools)
    return [(result.verdict, result.sentence, result.evidence, result.seconds) for result in results]


def _judged(item: Claim, problem: McKeanVlasov, tools: Tools) -> tuple[Verdict, str, Evidence | None]:
    try:
        reason = _elsewhere(item, problem) or item.hypotheses(problem)
        if reason is not None:
            return Verdict.NOT_APPLICABLE, f"{Verdict.NOT_APPLICABLE.value}: {reason}", None
        evidence = item.check(problem, tools)
    except Undecided as undecided:
        return Verdict.INCONCLUSIVE, f"{Verdict.INCONCLUSIVE.value}: {undecided}", None
    except Exception as error:
        what = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
        return Verdict.INCONCLUSIVE, f"{Verdict.INCONCLUSIVE.value}: {what}", None
    if math.isnan(evidence.error) or math.isnan(evidence.bound):
        return Verdict.INCONCLUSIVE, f"{Verdict.INCONCLUSIVE.value}: {evidence.details}", evidence
    verdict = Verdict.HOLDS if evidence.holds else Verdict.FAILS
    return verdict, f"{verdict.value}: {evidence.details}", evidence


def _elsewhere(item: Claim, problem: McKeanVlasov) -> str | None:
    """Return the reason why a claim about one domain does not apply on the other."""
    if item.domain in (Circle.name, Sphere.name) and item.domain != problem.domain.name:
        return f"it is about the {item.domain}, the problem is on the {problem.domain.name}"
    return None


def _matches(identifier: str, wanted: str) -> bool:
    return wanted in identifier or fnmatchcase(identifier, wanted)


def _load() -> None:
    from . import circle, sphere  # noqa: F401  (importing them registers their claims)
