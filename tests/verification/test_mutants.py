"""Deliberate errors in the code itself, each caught by a claim that holds without it."""

import functools
import gc
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import judged
import numpy as np
import pytest
import wrong

import meanfield.transport
import solvers.branches.births
import solvers.equations.significant
import solvers.equations.sizing
import solvers.evolution.rates
import solvers.evolution.rest
import solvers.particles.circle
import solvers.particles.clouds
import solvers.particles.drift
import solvers.particles.kernels
import solvers.particles.leimkuhler_matthews
import solvers.particles.sphere.cloud
import solvers.particles.sphere.significant
import verification.comparison
import verification.tabulation
from meanfield import (
    Circle,
    ContinuityEquation,
    CosineSeries,
    Equation,
    Kuramoto,
    McKeanVlasov,
    Outcome,
    SoftmaxAttention,
    Transformer,
)
from tests import problems
from tests.problems import on_circle
from verification import Tools, Verdict, judge, matching

Mutation = Callable[[pytest.MonkeyPatch], None]
PACKAGES = ("meanfield", "solvers", "verification")

FIELD = problems.IN_THREE_MODES.problem
SPHERE_FIELD = problems.IN_AN_AXIAL_FIELD.problem
SPINS = problems.MANY_SPINS.problem
SOFTMAX = ContinuityEquation(Circle(), SoftmaxAttention(1.0), noise=0.0)


def scaled(owner: Any, name: str, factor: float) -> Mutation:
    """Scale what a function returns."""

    def mutate(patch: pytest.MonkeyPatch) -> None:
        right = getattr(owner, name)
        patch.setattr(owner, name, lambda *arguments, **options: factor * right(*arguments, **options))

    return mutate


def wrapped(owner: Any, name: str, change: Callable[..., Any]) -> Mutation:
    """Pass what a function returns through another, which gets its arguments too."""

    def mutate(patch: pytest.MonkeyPatch) -> None:
        right = getattr(owner, name)
        patch.setattr(
            owner, name, lambda *arguments, **options: change(right(*arguments, **options), *arguments, **options)
        )

    return mutate


def second_multiplier(values: Any, *_: Any) -> Any:
    changed = values.copy()
    changed[2:3] *= 1 + 1e-4
    return changed


def heavier(kernels: Any, *_: Any) -> Any:
    drive, derivative, radial = kernels
    return drive, (1 + 1e-6) * derivative, radial


def narrow(band: Any, *_: Any) -> Any:
    half = 0.25 * (band.high - band.low)
    return replace(band, low=band.mean - half, high=band.mean + half)


def count_of_replicas(band: Any, values: Any, *_: Any) -> Any:
    known = (~np.isnan(values)).sum(axis=0)
    return replace(band, standard_error=band.standard_error * np.sqrt((known - 1) / known))


def flipped_confinement(strengths: Any, *_: Any) -> Any:
    interaction, confinement, beyond = strengths
    return interaction, -confinement, beyond


def exchanged(outcome: Outcome, *_: Any) -> Outcome:
    return {Outcome.STATIONARY: Outcome.METASTABLE, Outcome.METASTABLE: Outcome.STATIONARY}.get(outcome, outcome)


def at_rest(outcome: Outcome, *_: Any) -> Outcome:
    return Outcome.STATIONARY if outcome is Outcome.REACHED_TIME else outcome


def first_only(patch: pytest.MonkeyPatch) -> None:
    """Let the scheme of order two take Euler's step."""
    patch.setattr(solvers.particles.clouds.MomentCloud, "second_order", solvers.particles.clouds.MomentCloud.euler)


def forgetful(patch: pytest.MonkeyPatch) -> None:
    """Let the scheme of Leimkuhler and Matthews forget its noise, so that every step is its first."""
    right = solvers.particles.leimkuhler_matthews.LeimkuhlerMatthews.advance

    def mutant(self: Any, particles: Any, step: float) -> None:
        particles.carried.clear()
        right(self, particles, step)

    patch.setattr(solvers.particles.leimkuhler_matthews.LeimkuhlerMatthews, "advance", mutant)


def stronger(strengths: Any, *_: Any) -> Any:
    interaction, confinement, beyond = strengths
    return 1.1 * interaction, confinement, beyond


def slower_diffusion(patch: pytest.MonkeyPatch) -> None:
    right = solvers.evolution.rates.Rates.__init__

    def mutant(self: Any, problem: McKeanVlasov, *arguments: Any, **options: Any) -> None:
        right(self, replace(problem, noise=problem.noise * (1 - 1e-6)), *arguments, **options)

    patch.setattr(solvers.evolution.rates.Rates, "__init__", mutant)


def without_force(patch: pytest.MonkeyPatch) -> None:
    right = solvers.evolution.rates.Rates.__init__

    def mutant(self: Any, problem: McKeanVlasov, *arguments: Any, **options: Any) -> None:
        right(self, problem, *arguments, **options)
        if problem.confinement is not None:
            self.force = 0.0 * self.force

    patch.setattr(solvers.evolution.rates.Rates, "__init__", mutant)


def significant(threshold: float) -> Mutation:
    return lambda patch: patch.setattr(solvers.equations.significant, "NEGLIGIBLE", threshold)


MUTANTS: dict[str, tuple[Mutation, str, Equation]] = {
    "a multiplier off by 1e-4": (
        wrapped(Transformer, "_decayed", second_multiplier), "circle.T2", on_circle(Transformer(5.0)),
    ),
    "weak modes dropped": (significant(1e-3), "circle.T1", on_circle(Transformer(5.0))),
    "bands half as wide": (wrapped(verification.tabulation, "band", narrow), "circle.bands", on_circle(Kuramoto())),
    "standard errors by the number of replicas": (
        wrapped(verification.tabulation, "band", count_of_replicas), "circle.bands", on_circle(Kuramoto()),
    ),
    "W1 too long by 2 %": (scaled(meanfield.transport, "wasserstein1", 1.02), "circle.distances", on_circle(Kuramoto())),
    "W2 too long by 2 %": (scaled(meanfield.transport, "wasserstein2", 1.02), "circle.distances", on_circle(Kuramoto())),
    "relative entropy too large by 2 %": (
        scaled(meanfield.transport, "relative_entropy", 1.02), "circle.distances", on_circle(Kuramoto()),
    ),
    "L2 distance too long by 2 %": (
        scaled(meanfield.transport, "l2_distance", 1.02), "circle.distances", on_circle(Kuramoto()),
    ),
    "particles with 1 % more noise": (
        scaled(solvers.particles.clouds, "amplitude", np.sqrt(1.01)), "circle.free-particles", on_circle(Kuramoto()),
    ),
    "particles pushed out of the confinement": (
        wrapped(solvers.particles.drift, "force_coefficients", flipped_confinement), "circle.schemes", FIELD,
    ),
    "particles attracted 10 % more": (
        wrapped(solvers.particles.drift, "force_coefficients", stronger), "circle.schemes", on_circle(Transformer(3.0)),
    ),
    "Euler's step in the scheme of order two": (first_only, "circle.schemes", on_circle(Transformer(3.0))),
    "Leimkuhler-Matthews without its memory": (forgetful, "circle.schemes", on_circle(Transformer(3.0))),
    "states pushed out of the confinement": (
        wrapped(solvers.equations.sizing, "confinement_field", lambda field, *_: None if field is None else -field),
        "circle.confined-states", FIELD,
    ),
    "a confinement not divided by the noise": (
        wrapped(
            solvers.equations.sizing, "confinement_field", lambda field, problem, *_: field if field is None else problem.noise * field
        ),
        "circle.confined-states", FIELD,
    ),
    "evolution without its confinement": (without_force, "circle.confined-evolution", FIELD),
    "diffusion slower by 1e-6": (slower_diffusion, "circle.energy-identity", on_circle(Transformer(3.0))),
    "settled and metastable exchanged": (
        wrapped(solvers.evolution.rest.Rest, "outcome", exchanged), "circle.outcome", on_circle(Kuramoto()),
    ),
    "settled and metastable exchanged on a sphere": (
        wrapped(solvers.evolution.rest.Rest, "outcome", exchanged), "sphere.outcome", SPINS,
    ),
    "particles on a sphere with 1 % more noise": (
        lambda patch: patch.setattr(
            solvers.particles.sphere.cloud, "tangent_variance",
            lambda *arguments, right=solvers.particles.sphere.cloud.tangent_variance: 1.01 * right(*arguments),
        ),
        "sphere.free-particles", SPINS,
    ),
    "particles on a sphere pushed out of the confinement": (
        wrapped(solvers.particles.sphere.significant, "force_coefficients", flipped_confinement),
        "sphere.confined-particles", SPHERE_FIELD,
    ),
    "states on a sphere pushed out of the confinement": (
        wrapped(solvers.equations.sizing, "confinement_field", lambda field, *_: None if field is None else -field),
        "sphere.confined-states", SPHERE_FIELD,
    ),
    "softmax weights of densities off by 1e-5": (
        scaled(SoftmaxAttention, "speed", 1 + 1e-5), "attention.growth", SOFTMAX,
    ),
    "softmax weights of tokens off by 1e-6": (
        wrapped(SoftmaxAttention, "kernels", heavier), "attention.two-tokens", SOFTMAX,
    ),
    "resonant branches dropped": (
        lambda patch: patch.setattr(solvers.branches.births, "directions_in", lambda *_: []),
        "circle.T6", on_circle(CosineSeries((-1.0, -1.0))),
    ),
}  # fmt: skip
CLAIMS = {claim.identifier: claim for claim in matching()}


@pytest.fixture
def _nothing_remembered() -> Iterator[None]:
    """Forget what functions remember of problems, before and after an error is put in."""
    _forget()
    yield
    _forget()


def _forget() -> None:
    for remembered in _remembering(frozenset(name for name in sys.modules if name.partition(".")[0] in PACKAGES)):
        remembered.cache_clear()


@functools.cache
def _remembering(_: frozenset[str]) -> list[Any]:
    """Return what remembers in the modules that are loaded; to look at all objects takes half a second."""
    found = [item for item in gc.get_objects() if isinstance(item, functools._lru_cache_wrapper)]
    return [item for item in found if item.__module__.partition(".")[0] in PACKAGES]


def tools_for(identifier: str) -> Tools:
    """Return the tools of the package, which take particles that were simulated before where only bands are wrong."""
    right = Tools().remembering()
    if identifier != "circle.bands":
        return right
    # Simulated here, before an error is put in, unless another test has.
    judge(CLAIMS[identifier], on_circle(Kuramoto()), wrong.RIGHT)
    return replace(right, compare=wrong.tabulated_again)


@pytest.mark.usefixtures("_nothing_remembered")
@pytest.mark.parametrize("name", MUTANTS)
def test_an_error_is_caught(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    mutate, identifier, problem = MUTANTS[name]
    tools = tools_for(identifier)
    mutate(monkeypatch)
    result = judge(CLAIMS[identifier], problem, tools)
    assert result.verdict is Verdict.FAILS, result.sentence


@pytest.mark.parametrize(
    ("identifier", "problem"),
    dict.fromkeys(case[1:] for case in MUTANTS.values()),
    ids=lambda value: str(value)[:60],
)
def test_without_it_the_claim_holds(identifier: str, problem: McKeanVlasov) -> None:
    judged.holds(CLAIMS[identifier], problem)
