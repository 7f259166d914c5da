"""Every claim on attention holds on the right solvers, fails on a wrong one and knows when it does not apply."""

import re
from pathlib import Path

import judged
import pytest
import wrong_attention as wrong

from meanfield import (
    Circle,
    ContinuityEquation,
    CosineSeries,
    Equation,
    Kuramoto,
    McKeanVlasov,
    SoftmaxAttention,
    Sphere,
    Transformer,
)
from verification import Tools, Verdict, matching, representative_problems, verify
from verification.catalogue import convex_kernel, short_name

CIRCLE = Circle()
CLAIMS = {claim.identifier: claim for claim in matching("attention")}


def plain(beta: float, domain: Circle | Sphere = CIRCLE) -> McKeanVlasov:
    return McKeanVlasov(domain, Transformer(beta), noise=0.0)


def series(*coefficients: float, domain: Circle | Sphere = CIRCLE) -> McKeanVlasov:
    return McKeanVlasov(domain, CosineSeries(coefficients), noise=0.0)


def softmax(beta: float, noise: float = 0.0, domain: Circle | Sphere = CIRCLE) -> ContinuityEquation:
    return ContinuityEquation(domain, SoftmaxAttention(beta), noise=noise)


HOLDS: list[tuple[str, Equation]] = [
    ("attention.contraction", plain(0.5)),
    ("attention.contraction", softmax(1.0, domain=Sphere(3))),
    ("attention.growth", plain(4.0)),
    ("attention.growth", plain(0.5, Sphere(8))),
    ("attention.growth", softmax(2.0, domain=Sphere(4))),
    ("attention.gradient", plain(1.0)),
    ("attention.gradient", softmax(1.0)),
    ("attention.doubly-stochastic", plain(1.0)),
    ("attention.dominance", plain(0.5)),
    ("attention.dominance", plain(1.0, Sphere(3))),
    ("attention.polygons", plain(-1.0)),
    ("attention.slopes", plain(-1.0)),
    ("attention.two-groups", plain(1.0)),
    ("attention.two-groups", softmax(4.0)),
    ("attention.energy", plain(1.0)),
    ("attention.energy", softmax(4.0)),
    ("attention.symmetry", plain(1.0)),
    ("attention.symmetry", softmax(2.0, domain=Sphere(4))),
    ("attention.two-tokens", plain(4.0)),
    ("attention.two-tokens", softmax(1.0, domain=Sphere(3))),
    ("attention.staircase", softmax(4.0)),
    ("attention.synchronisation", plain(0.5)),
    ("attention.local-rate", plain(0.5)),
    ("attention.cone", plain(0.5)),
    ("attention.cone", softmax(2.0, domain=Sphere(4))),
    ("attention.other-kernels", series(-1.15, -0.2, -0.05)),
    ("attention.other-kernels", series(-1.5, -0.25, domain=Sphere(3))),
    ("attention.convexity", McKeanVlasov(CIRCLE, convex_kernel(), noise=0.0)),
    ("attention.convexity", series(-1.5, -0.25, domain=Sphere(3))),
    ("attention.metastability", softmax(4.0)),
    ("attention.closest-pair", softmax(4.0)),
    ("attention.phase-transition", softmax(4.0, domain=Sphere(3))),
    ("attention.continuous-transition", softmax(5.0, 1.0)),
    ("attention.continuous-transition", softmax(4.0, 1.0, Sphere(3))),
    ("attention.continuous-transition", softmax(6.0, 0.7, Sphere(5))),
    ("attention.matrix", softmax(5.0, 1.0)),
]

FAILS: dict[str, tuple[str, Equation, Tools]] = {
    "the local rate": ("attention.contraction", plain(0.5), wrong.local_rates()),
    "a coupling off by 1e-9": (
        "attention.contraction", plain(0.5, Sphere(8)), wrong.changed("contraction", wrong.stronger(1e-9)),
    ),
    "another normalisation of densities": (
        "attention.growth", softmax(1.0), wrong.changed("evolve", wrong.normalised_otherwise),
    ),
    "a beta off by 1e-5": ("attention.growth", plain(1.0, Sphere(3)), wrong.changed("evolve", wrong.colder(1e-5))),
    "softmax without normalisation": (
        "attention.gradient", softmax(1.0), wrong.changed("simulate", wrong.normalised_otherwise),
    ),
    "a gradient with softmax": (
        "attention.gradient", plain(1.0), wrong.changed("simulate", wrong.normalised_otherwise),
    ),
    "weights of pairs with softmax": (
        "attention.doubly-stochastic", plain(1.0), wrong.changed("simulate", wrong.normalised_otherwise),
    ),
    "pairs at a beta off by 1e-5": (
        "attention.doubly-stochastic", plain(1.0), wrong.changed("simulate", wrong.colder(1e-5)),
    ),
    "tokens at a point faster by 1e-6": (
        "attention.dominance", plain(0.5), wrong.changed("simulate", wrong.stronger(1e-6)),
    ),
    "a gap that closes faster by 1e-9": (
        "attention.dominance", plain(1.0, Sphere(3)), wrong.changed("contraction", wrong.stronger(1e-9)),
    ),
    "slopes at a beta off by 1e-5": (
        "attention.slopes", plain(-1.0), wrong.changed("simulate", wrong.colder(1e-5)),
    ),
    "polygons at a beta off by 1e-5": (
        "attention.polygons", plain(-1.0), wrong.changed("simulate", wrong.colder(1e-5)),
    ),
    "groups at a beta off by 1e-6": (
        "attention.two-groups", softmax(1.0), wrong.changed("simulate", wrong.colder(1e-6)),
    ),
    "slower by 1e-6": ("attention.energy", plain(1.0), wrong.changed("evolve", wrong.stronger(1e-6))),
    "the other energy": ("attention.energy", softmax(1.0), wrong.changed("evolve", wrong.normalised_otherwise)),
    "densities that lose their symmetry": ("attention.symmetry", plain(1.0), wrong.first_moment(1e-11)),
    "tokens that lose their symmetry": ("attention.symmetry", plain(1.0), wrong.first_moment_of_tokens(1e-11)),
    "tokens that stay where they are": (
        "attention.symmetry", plain(1.0), wrong.changed("simulate", wrong.stronger(-1.0)),
    ),
    "tokens faster by 1e-6": (
        "attention.two-tokens", softmax(4.0), wrong.changed("simulate", wrong.stronger(1e-6)),
    ),
    "groups faster by 1e-5": (
        "attention.staircase", softmax(4.0), wrong.changed("simulate", wrong.stronger(1e-5), wrong.until(250.0)),
    ),
    "tokens that repel each other": (
        "attention.synchronisation", plain(0.5), wrong.changed("simulate", wrong.stronger(-2.0), wrong.of(3)),
    ),
    "clusters faster by 1e-4": (
        "attention.local-rate", plain(0.5), wrong.changed("simulate", wrong.stronger(1e-4)),
    ),
    "cones that contract faster by 1e-4": (
        "attention.cone", softmax(1.0), wrong.changed("simulate", wrong.stronger(1e-4)),
    ),
    "tokens that leave their cone": (
        "attention.cone", plain(0.5), wrong.changed("simulate", wrong.stronger(-1.5)),
    ),
    "a kernel with three clusters": (
        "attention.other-kernels", series(-1.15, -0.2, -0.05),
        wrong.changed("simulate", wrong.with_kernel(-0.1, 0.0, -1.0), wrong.of(5)),
    ),
    "pentagons faster by 1e-5": (
        "attention.convexity", McKeanVlasov(CIRCLE, convex_kernel(), noise=0.0),
        wrong.changed("simulate", wrong.stronger(1e-5)),
    ),
    "a stable pentagon on a sphere": (
        "attention.convexity", series(-1.5, -0.25, domain=Sphere(3)),
        wrong.changed("simulate", wrong.with_kernel(1.0)),
    ),
    "separated groups faster by 1e-6": (
        "attention.metastability", softmax(4.0),
        wrong.changed("simulate", wrong.stronger(1e-6), wrong.at_beta(4.0)),
    ),
    "a closest pair faster by 1e-3": (
        "attention.closest-pair", softmax(4.0), wrong.changed("simulate", wrong.stronger(1e-3)),
    ),
    "a transition too early by 6 %": (
        "attention.phase-transition", softmax(1.0, domain=Sphere(3)),
        wrong.changed("simulate", wrong.stronger(0.06)),
    ),
    "a branch bent by 1e-6": ("attention.continuous-transition", softmax(5.0, 1.0), wrong.wrong.coupling_bent(1e-6)),
    "a branch on a sphere bent by 1e-6": (
        "attention.continuous-transition", softmax(4.0, 1.0, Sphere(3)), wrong.wrong.coupling_bent(1e-6),
    ),
    "a branch that turns back": (
        "attention.continuous-transition", softmax(5.0, 1.0), wrong.wrong.coupling_bent(-2.0),
    ),
    "more noise by 1e-6": (
        "attention.continuous-transition", softmax(1.0, 1.0), wrong.changed("diagram", wrong.noisier(1e-6)),
    ),
    "states at a beta off by 1e-6": ("attention.matrix", softmax(5.0, 1.0), wrong.states_moved(1e-6)),
    "no unstable directions": ("attention.matrix", softmax(5.0, 1.0), wrong.wrong.called_stable()),
    "eigenvalues of the wrong sign": ("attention.matrix", softmax(5.0, 1.0), wrong.wrong.eigenvalues_off(-2.0)),
}  # fmt: skip

ELSEWHERE: list[tuple[str, Equation]] = [
    ("attention.contraction", plain(4.0)),
    ("attention.contraction", plain(-5.0)),
    ("attention.contraction", plain(1.0).replace(noise=1.0)),
    ("attention.growth", McKeanVlasov(Circle(), Kuramoto(), noise=0.0)),
    ("attention.gradient", plain(1.0, Sphere(3))),
    ("attention.doubly-stochastic", softmax(1.0)),
    ("attention.dominance", softmax(1.0)),
    ("attention.slopes", plain(1.0)),
    ("attention.polygons", plain(1.0)),
    ("attention.two-groups", softmax(1.0, domain=Sphere(3))),
    ("attention.energy", plain(1.0, Sphere(3))),
    ("attention.symmetry", softmax(1.0, 1.0)),
    ("attention.two-tokens", plain(-1.0)),
    ("attention.staircase", softmax(1.0)),
    ("attention.synchronisation", plain(-1.0)),
    ("attention.local-rate", softmax(1.0)),
    ("attention.cone", series(-1.0)),
    ("attention.cone", softmax(9.0)),
    ("attention.metastability", softmax(9.0)),
    ("attention.other-kernels", plain(1.0)),
    ("attention.other-kernels", McKeanVlasov(Sphere(3), convex_kernel(), noise=0.0)),
    ("attention.convexity", series(-1.15, -0.2, -0.05)),
    ("attention.other-kernels", series(-1.0, -0.4)),
    ("attention.other-kernels", series(-1.2, -0.2, -0.1, domain=Sphere(4))),
    ("attention.metastability", softmax(1.0)),
    ("attention.closest-pair", plain(4.0)),
    ("attention.phase-transition", softmax(4.0)),
    ("attention.phase-transition", softmax(7.0, domain=Sphere(3))),
    ("attention.continuous-transition", softmax(1.0)),
    ("attention.matrix", plain(1.0).replace(noise=1.0)),
    ("attention.matrix", softmax(2.0, 1.0, Sphere(3))),
]


@pytest.mark.parametrize(
    ("identifier", "problem"), HOLDS, ids=[f"{identifier}: {short_name(problem)}" for identifier, problem in HOLDS]
)
def test_holds_on_the_right_solvers(identifier: str, problem: Equation) -> None:
    judged.holds(CLAIMS[identifier], problem)


@pytest.mark.parametrize("name", FAILS)
def test_fails_on_a_wrong_one(name: str) -> None:
    identifier, problem, tools = FAILS[name]
    judged.fails(CLAIMS[identifier], problem, tools)


@pytest.mark.parametrize(("identifier", "problem"), ELSEWHERE)
def test_does_not_apply_elsewhere(identifier: str, problem: Equation) -> None:
    judged.does_not_apply(CLAIMS[identifier], problem)


def test_all_claims_are_tried() -> None:
    judged.all_are_tried(CLAIMS, HOLDS, FAILS.values(), ELSEWHERE, about_fields=())


def test_every_claim_has_a_problem_in_the_catalogue() -> None:
    problems = representative_problems("attention")
    for claim in CLAIMS.values():
        assert any(claim.inapplicable(problem) is None for problem in problems), claim.identifier


def test_the_page_on_attention_lists_all_claims() -> None:
    page = (Path(__file__).parents[2] / "docs" / "theory" / "attention.md").read_text(encoding="utf-8")
    assert set(re.findall(r"^\| `([\w-]+)` \|", page, re.MULTILINE)) == {name.partition(".")[2] for name in CLAIMS}


def test_claims_on_both_domains_are_judged_where_they_apply() -> None:
    results = verify("attention.gradient", [softmax(1.0), softmax(1.0, domain=Sphere(3))])
    assert [result.verdict for result in results] == [Verdict.HOLDS, Verdict.NOT_APPLICABLE]
