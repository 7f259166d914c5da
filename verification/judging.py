"""Verdicts on claims that match a pattern, on given or representative problems, here or in other processes."""

import logging
import math
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Executor, as_completed
from fnmatch import fnmatchcase
from typing import TypeAlias

from meanfield import Circle, Equation, InvalidInput, Sphere
from meanfield.arguments import checked
from meanfield.equations import Capability, require
from meanfield.errors import did_you_mean

# Importing the rooms registers their claims.
from . import attention as attention
from . import catalogue
from . import circle as circle
from . import curves as curves
from . import sphere as sphere
from .claims import CLAIMS as CLAIMS
from .claims import Claim, Evidence, Result, Undecided, Verdict
from .tools import Tools

Judged: TypeAlias = tuple[Verdict, str, Evidence | None, float]

logger = logging.getLogger(__name__)


@checked
def matching(pattern: str = "") -> list[Claim]:
    """Return the claims whose identifier contains the pattern or matches it as a glob, in order.

    Raises
    ------
    InvalidInput
        If no claim matches; the message says what claims there are.
    """
    wanted = pattern.strip().lower()
    # Domain by domain, whichever was imported first.
    known = sorted(CLAIMS.values(), key=lambda item: item.domain)
    exact = [item for item in known if item.identifier.lower() == wanted]
    chosen = exact or [item for item in known if _matches(item.identifier.lower(), wanted)]
    if not chosen:
        groups = sorted({name.partition(".")[0] for name in CLAIMS})
        raise InvalidInput(
            f"no claim matches {pattern!r}; {did_you_mean(pattern, [*groups, *CLAIMS])}there are "
            f"{', '.join(f'{name}.*' for name in groups)}, listed by matching() (meanfield verify --list)"
        )
    return chosen


@checked
def judge(item: Claim, problem: Equation, tools: Tools) -> Result:
    """Return the verdict on one claim and one problem."""
    started = time.perf_counter()
    verdict, sentence, evidence = _judged(item, problem, tools)
    return Result(item, problem, verdict, sentence, evidence, time.perf_counter() - started)


@checked
def verify(
    pattern: str = "",
    problems: Sequence[Equation] | None = None,
    *,
    tools: Tools | None = None,
    progress: Callable[[Result], None] | None = None,
    executor: Executor | None = None,
) -> tuple[Result, ...]:
    """Return the results of the claims that match a pattern on every problem.

    Parameters
    ----------
    pattern
        Part of an identifier, or a glob such as ``circle.T*``; all claims if empty.
    problems
        By default those of :func:`verification.catalogue.representative_problems` on the domain of each claim.
    tools
        The solvers to be checked; those of this package by default.
    progress
        Called with every result as it comes.
    executor
        Checks the problems concurrently, such as a ``ProcessPoolExecutor``; verdicts are the same.

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
    for problem in problems or ():
        require(problem, Capability.DRIVE, "claims")
        require(problem, Capability.AUTONOMOUS, "claims")
    used = tools or Tools()
    work = _by_problem(chosen, problems)
    found: dict[tuple[int, int], Result] = {}

    def receive(number: int, results: Iterable[Result]) -> None:
        for result in results:
            found[chosen.index(result.claim), number] = result
            logger.info("%s on %s: %s", result.claim.identifier, result.problem.law.name, result.verdict)
            if progress is not None:
                progress(result)

    if executor is None:
        for number, (problem, claims) in enumerate(work):
            receive(number, _results(claims, problem, used))
    else:
        _judge_elsewhere(executor, work, used, receive)
    return tuple(found[place] for place in sorted(found))


def _by_problem(claims: Sequence[Claim], problems: Sequence[Equation] | None) -> list[tuple[Equation, list[Claim]]]:
    """Return every problem with the claims to be checked on it, so that common results are computed once."""
    if problems is not None:
        return [(problem, list(claims)) for problem in problems]
    domains = dict.fromkeys(item.domain for item in claims)
    return [
        (problem, [item for item in claims if item.domain == domain])
        for domain in domains
        for problem in catalogue.representative_problems(domain)
    ]


def _results(claims: Sequence[Claim], problem: Equation, tools: Tools) -> Iterator[Result]:
    shared = tools.remembering()
    for item in claims:
        yield judge(item, problem, shared)


def _judge_elsewhere(
    executor: Executor,
    work: Sequence[tuple[Equation, Sequence[Claim]]],
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


def judge_all(identifiers: Sequence[str], problem: Equation, tools: Tools) -> list[Judged]:
    """Return verdict, sentence, evidence and seconds of claims, by identifiers, on a problem, for executors."""
    results = _results([CLAIMS[identifier] for identifier in identifiers], problem, tools)
    return [(result.verdict, result.sentence, result.evidence, result.seconds) for result in results]


def _judged(item: Claim, problem: Equation, tools: Tools) -> tuple[Verdict, str, Evidence | None]:
    try:
        reason = _elsewhere(item, problem) or item.inapplicable(problem)
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


def _elsewhere(item: Claim, problem: Equation) -> str | None:
    """Return the reason why a claim about one domain does not apply on the other."""
    if item.domain in (Circle.name, Sphere.name) and item.domain != problem.domain.name:
        return f"it is about the {item.domain}, the problem is on the {problem.domain.name}"
    return None


def _matches(identifier: str, wanted: str) -> bool:
    return wanted in identifier or fnmatchcase(identifier, wanted)
