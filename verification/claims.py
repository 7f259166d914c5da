"""Theorems as executable claims: statement, hypotheses and measurement.

A claim is checked on a problem with the solvers of a :class:`Tools`. It ends in a :class:`Verdict`; an
exception becomes an inconclusive verdict with its sentence. Every bound is either a
multiple of the rounding unit times the size of the numbers compared, one of the accuracies the solvers
promise, an error estimate that is measured along, or the bound of the theorem itself.
"""

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from enum import Enum
from importlib import import_module
from typing import Any

from meanfield import Equation
from meanfield.arguments import checked
from meanfield.base import Record
from meanfield.equations import Capability

from .tools import Tools

# What most claims need, those about energies and minimisers, and those about states of softmax attention.
STATES = (Capability.GRADIENT, Capability.GIBBS_MAP)
GIBBS_STATES = (Capability.GIBBS_MAP,)
FREE_ENERGY = (*STATES, Capability.FREE_ENERGY)

Check = Callable[[Equation, Tools], "Evidence"]
Hypotheses = Callable[[Equation], str | None]


class Verdict(Enum):
    """The verdict on a claim and a problem; the value is the sentence that the user reads."""

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
        Their distance, in the same unit as the bound; infinite if something required is missing.
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
        Such as ``circle.T3``; the first part is the domain, or else the subject, of the claim.
    title, statement, assumptions, source : str
        The claim in words and formula, in the convention of this package; its assumptions; its reference.
    hypotheses : callable
        Returns None if the claim applies to a problem, else the reason why it does not.
    check : callable
        Measures the claim on a problem with the given tools.
    needs : tuple of Capability
        Capabilities that an equation must have for the claim to apply.
    """

    identifier: str
    title: str
    statement: str
    assumptions: str
    source: str
    hypotheses: Hypotheses
    check: Check
    needs: tuple[Capability, ...] = STATES

    def inapplicable(self, problem: Equation) -> str | None:
        """Return the reason why the claim does not apply to a problem, None if it does."""
        for capability in self.needs:
            reason = problem.lacks(capability)
            if reason:
                return f"it needs {capability}, and {reason}"
        return self.hypotheses(problem)

    @property
    def domain(self) -> str:
        """What the claim is about: ``circle`` or ``sphere``, or ``attention`` or ``curves`` on both of them."""
        return self.identifier.partition(".")[0]

    def __repr__(self) -> str:
        return f"Claim({self.identifier!r}, {self.title!r})"

    def __reduce__(self) -> Any:
        if CLAIMS.get(self.identifier) is not self:
            return super().__reduce__()
        # The claim itself stands where its check was, which pickle therefore cannot find.
        return _standing_in, (self.check.__module__, self.check.__name__)


@checked
@dataclass(frozen=True, eq=False, repr=False)
class Result(Record):
    """The verdict on one claim and one problem, with its evidence and the sentence that explains it."""

    claim: Claim
    problem: Equation
    verdict: Verdict
    sentence: str
    evidence: Evidence | None
    seconds: float


CLAIMS: dict[str, Claim] = {}


def claim(
    identifier: str,
    title: str,
    *,
    statement: str,
    assumptions: str,
    source: str,
    hypotheses: Hypotheses,
    needs: tuple[Capability, ...] = STATES,
) -> Callable[[Check], Claim]:
    """Return a decorator that turns a check into a registered :class:`Claim`."""

    def registered(check: Check) -> Claim:
        made = Claim(identifier, title, statement, assumptions, source, hypotheses, check, needs)
        if identifier in CLAIMS:
            raise ValueError(f"two claims are called {identifier!r}")
        CLAIMS[identifier] = made
        return made

    return registered


def _standing_in(module: str, name: str) -> Claim:
    """Return the claim of a module and a name, to unpickle it."""
    found: Claim = getattr(import_module(module), name)
    return found


def compare(measured: float, expected: float, bound: float, details: str) -> Evidence:
    """Return the evidence of an equality within an absolute bound."""
    measured, expected = float(measured), float(expected)
    return Evidence(measured, expected, abs(measured - expected), float(bound), details)


def at_least(measured: float, expected: float, bound: float, details: str) -> Evidence:
    """Return the evidence of an inequality, measured >= expected, within an absolute bound."""
    measured, expected = float(measured), float(expected)
    return Evidence(measured, expected, max(expected - measured, 0.0), float(bound), details)


def missing(details: str) -> Evidence:
    """Return the evidence that something required is missing, which violates a claim."""
    return Evidence(0.0, 1.0, math.inf, 0.0, details)


def worst(evidence: Iterable[Evidence]) -> Evidence:
    """Return the evidence of the largest error over its bound, with the number of measurements in its details.

    Raises
    ------
    Undecided
        If there is no evidence, or a number is not known.
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
