"""Every claim holds on the right solvers, fails on a wrong one and knows when it does not apply."""

import judged
import pytest
import wrong

from meanfield import (
    Circle,
    CosineSeries,
    HegselmannKrause,
    Kuramoto,
    Logarithmic,
    McKeanVlasov,
    Potential,
    Transformer,
)
from tests.problems import on_circle
from verification import Tools, matching

CLAIMS = {claim.identifier: claim for claim in matching("circle")}

KURAMOTO = Kuramoto()
TRANSFORMER = Transformer(5.0)
RESONANT = CosineSeries((-1.0, -1.0))
NEARLY, THIRD = CosineSeries((-1.0, -1.001)), CosineSeries((-1.0, 0.0, -0.9999))
GENERIC = CosineSeries((0.5, -1.0, -1.0))
THREE_MODES = CosineSeries((-1.0, -0.4, -0.65))
SECONDARY = CosineSeries((-1.0, -1.5))
ATTRACTIVE, REPULSIVE = Logarithmic(1), Logarithmic(-1)

HOLDS: list[tuple[str, Potential]] = [
    ("circle.T1", TRANSFORMER),
    ("circle.T2", HegselmannKrause(2.0)),
    ("circle.T3", TRANSFORMER),
    ("circle.T3", Transformer(8.0)),
    ("circle.T3-rate", KURAMOTO),
    ("circle.T3-rate", TRANSFORMER),
    ("circle.T4", TRANSFORMER),
    ("circle.T5", KURAMOTO),
    ("circle.T5-converse", TRANSFORMER),
    ("circle.T6", RESONANT),
    ("circle.T6-generic", GENERIC),
    ("circle.unfolding", NEARLY),
    ("circle.unfolding", CosineSeries((0.0, -1.0, 0.0, -0.999))),
    ("circle.unfolding", THIRD),
    ("circle.cusp", THREE_MODES),
    ("circle.unfolding", CosineSeries((-1.0, 0.0, -1.001))),
    ("circle.T7", SECONDARY),
    ("circle.T8", KURAMOTO),
    ("circle.T9", ATTRACTIVE),
    ("circle.T9-repulsive", REPULSIVE),
    ("circle.T10", TRANSFORMER),
    ("circle.T10-minimum", TRANSFORMER),
    ("circle.T10-kink", TRANSFORMER),
    ("circle.T11", TRANSFORMER),
    ("circle.T12", KURAMOTO),
    ("circle.rotation", KURAMOTO),
    ("circle.embedding", TRANSFORMER),
    ("circle.tricritical", TRANSFORMER),
    ("circle.repulsive", REPULSIVE),
    ("circle.energy-identity", TRANSFORMER),
    ("circle.energy-decrease", HegselmannKrause(2.0)),
    ("circle.mass", KURAMOTO),
    ("circle.trajectory-rotation", KURAMOTO),
    ("circle.relaxation", KURAMOTO),
    ("circle.relaxation", REPULSIVE),
    ("circle.repulsive-relaxation", REPULSIVE),
    ("circle.chaos", KURAMOTO),
    ("circle.outcome", TRANSFORMER),
    ("circle.schemes", TRANSFORMER),
    ("circle.free-particles", KURAMOTO),
    ("circle.bands", KURAMOTO),
    ("circle.distances", KURAMOTO),
]

FAILS: list[tuple[str, str, Potential, Tools]] = [
    ("circle.T1", "a moment off by 1e-9", TRANSFORMER, wrong.moment_off(2, 1e-9)),
    ("circle.T1", "no clustered branch", TRANSFORMER, wrong.without("")),
    ("circle.T2", "eigenvalues off by 1e-6", KURAMOTO, wrong.eigenvalues_off(1e-6)),
    ("circle.T2", "multipliers that are not the potential's", wrong.Lying((-1.0, -0.3)), wrong.RIGHT),
    ("circle.T2", "a branch point moved", TRANSFORMER, wrong.events_moved("branch point", 1e-10)),
    ("circle.T2", "no branch points", TRANSFORMER, wrong.without_events("branch point")),
    ("circle.T3", "bent branches", KURAMOTO, wrong.coupling_bent(1e-4)),
    ("circle.T3", "second harmonic off", TRANSFORMER, wrong.moment_scaled(2, 1 + 1e-4)),
    ("circle.T3", "a branch missing", TRANSFORMER, wrong.without("1-cluster")),
    ("circle.T3", "energy off", KURAMOTO, wrong.energy_off(1.01)),
    ("circle.T3-rate", "eigenvalues off", KURAMOTO, wrong.eigenvalues_off(1e-3)),
    ("circle.T4", "branches bent the other way", TRANSFORMER, wrong.coupling_bent(-2.0)),
    ("circle.T5", "a clustered minimiser below threshold", KURAMOTO, wrong.spurious_state()),
    ("circle.T5", "a transition below threshold", KURAMOTO, wrong.early_transition()),
    ("circle.T5-converse", "no transition", TRANSFORMER, wrong.without_events("transition")),
    ("circle.T5-converse", "clusters missed", TRANSFORMER, wrong.clusters_missed()),
    ("circle.T6", "mixed branches missing", RESONANT, wrong.without("1-cluster")),
    ("circle.T6", "pure branch missing", RESONANT, wrong.without("2-cluster")),
    ("circle.T6", "bent branches", RESONANT, wrong.coupling_bent(1e-3)),
    ("circle.cusp", "no cusp is found", THREE_MODES, wrong.without_cusps()),
    ("circle.cusp", "cusps moved", THREE_MODES, wrong.cusps_moved(1e-4)),
    ("circle.unfolding", "mixed branches missing", NEARLY, wrong.without("1-cluster")),
    ("circle.unfolding", "a branch too many", NEARLY, wrong.twice("2-cluster")),
    ("circle.unfolding", "counts off by one", NEARLY, wrong.counts_off()),
    ("circle.unfolding", "second moment off", NEARLY, wrong.moment_scaled(2, 1.5)),
    ("circle.unfolding", "states missed", THIRD, wrong.clusters_missed()),
    ("circle.T6-generic", "mixed branches missing", GENERIC, wrong.without("1-cluster")),
    ("circle.T6-generic", "bent branches", GENERIC, wrong.coupling_bent(1e-2)),
    ("circle.T7", "moved", SECONDARY, wrong.events_moved("branch point", 1e-9)),
    ("circle.T7", "missed", SECONDARY, wrong.without_events("branch point")),
    ("circle.T7", "not followed", SECONDARY, wrong.without("1-cluster from")),
    ("circle.T8", "second moment off by 1e-9", KURAMOTO, wrong.moment_off(2, 1e-9)),
    ("circle.T8", "energy off", KURAMOTO, wrong.energy_off(1 + 1e-8)),
    ("circle.T8", "a state too many", KURAMOTO, wrong.spurious_state()),
    ("circle.T8", "a state too few", KURAMOTO, wrong.clusters_missed()),
    ("circle.T9", "a cluster between the integers", ATTRACTIVE, wrong.spurious_state()),
    ("circle.T9", "not a Poisson kernel", ATTRACTIVE, wrong.moment_off(6, 1e-6)),
    ("circle.T9-repulsive", "a clustered state", REPULSIVE, wrong.spurious_state()),
    ("circle.T9-repulsive", "eigenvalues off", REPULSIVE, wrong.eigenvalues_off(1e-6)),
    ("circle.T10", "energy off", TRANSFORMER, wrong.energy_off(1 + 1e-8)),
    ("circle.T10", "couplings bent", TRANSFORMER, wrong.coupling_bent(1e-2)),
    ("circle.T10-minimum", "clusters missed", TRANSFORMER, wrong.clusters_missed()),
    ("circle.T10-kink", "transition moved", TRANSFORMER, wrong.events_moved("transition", 1e-9)),
    ("circle.T11", "eigenvalues off by 1e-6", TRANSFORMER, wrong.eigenvalues_off(1e-6)),
    ("circle.T11", "counts off", TRANSFORMER, wrong.counts_off()),
    ("circle.T11", "rotation lost", KURAMOTO, wrong.rotation_lost(1e-3)),
    ("circle.T11", "rotation not set apart", KURAMOTO, wrong.rotation_lost(None)),
    ("circle.T12", "fluctuations as without interaction", KURAMOTO, wrong.fluctuations_off(-0.3)),
    ("circle.rotation", "phase matters", KURAMOTO, wrong.eigenvalues_depend_on_phase()),
    ("circle.rotation", "not stationary", KURAMOTO, wrong.moment_off(2, 1e-9)),
    ("circle.embedding", "fold moved", TRANSFORMER, wrong.events_moved("fold", 1e-10, "embedded")),
    ("circle.embedding", "eigenvalues off", KURAMOTO, wrong.unscaled_eigenvalues()),
    ("circle.embedding", "branch missing", KURAMOTO, wrong.without("2-cluster")),
    ("circle.tricritical", "transitions too deep", TRANSFORMER, wrong.deeper_transitions(1 + 1e-4)),
    ("circle.tricritical", "no folds", TRANSFORMER, wrong.without_events("fold")),
    ("circle.repulsive", "a clustered state", REPULSIVE, wrong.spurious_state()),
    ("circle.energy-identity", "dissipation off by 1e-6", KURAMOTO, wrong.dissipation_off(1e-6)),
    ("circle.energy-identity", "another equation", KURAMOTO, wrong.evolving_faster(1e-6)),
    ("circle.energy-decrease", "energy rising by 1e-12", KURAMOTO, wrong.energy_rising(1e-12)),
    ("circle.energy-decrease", "negative dissipation", KURAMOTO, wrong.dissipation_off(-2.0)),
    ("circle.mass", "mass lost", KURAMOTO, wrong.mass_lost(1e-13)),
    ("circle.mass", "negative density", KURAMOTO, wrong.negative_density(-1e-7)),
    ("circle.trajectory-rotation", "phase matters", KURAMOTO, wrong.evolution_depends_on_phase()),
    ("circle.relaxation", "fitted rate off", KURAMOTO, wrong.rates_off(2e-4, "L2")),
    ("circle.relaxation", "rate of the entropy that of L2", KURAMOTO, wrong.rates_off(-0.5, "relative entropy")),
    ("circle.relaxation", "gap off", REPULSIVE, wrong.gap_off(2e-4)),
    ("circle.repulsive-relaxation", "a cluster stays", REPULSIVE, wrong.staying_clustered(1e-3)),
    ("circle.chaos", "a bias that stays", KURAMOTO, wrong.biased_particles(0.05)),
    ("circle.outcome", "everything called settled", KURAMOTO, wrong.always_settled()),
    ("circle.schemes", "no interaction", TRANSFORMER, wrong.without_interaction()),
    ("circle.free-particles", "noisier particles", KURAMOTO, wrong.more_noise(0.02)),
    ("circle.bands", "narrow bands", KURAMOTO, wrong.narrow_bands(0.5)),
    ("circle.distances", "W2 too long", KURAMOTO, wrong.distances_off(1e-9, "W2")),
]

CONFINED = McKeanVlasov(Circle(), KURAMOTO, confinement=CosineSeries((-0.1,)))
ABOUT_FIELDS: list[tuple[str, Tools]] = [
    ("circle.confined-states", wrong.energy_off(1 + 1e-8)),
    ("circle.confined-states", wrong.moment_off(2, 1e-9)),
    ("circle.confined-evolution", wrong.dissipation_off(1e-6)),
    ("circle.confined-evolution", wrong.evolving_faster(1e-6)),
]
ANYWHERE = {"circle.schemes", *(identifier for identifier, _ in ABOUT_FIELDS)}
NOT_APPLICABLE: list[tuple[str, McKeanVlasov]] = [
    *((identifier, CONFINED) for identifier in CLAIMS if identifier not in ANYWHERE),
    ("circle.confined-states", McKeanVlasov(Circle(), KURAMOTO)),
    ("circle.confined-evolution", McKeanVlasov(Circle(), KURAMOTO)),
    *(
        (identifier, McKeanVlasov(Circle(), potential))
        for identifier, potential in (
            ("circle.T3", CosineSeries((-1.0, -1.0, 0.0, -1.0))),
            ("circle.T3-rate", RESONANT),
            ("circle.T4", Transformer(-3.0)),
            ("circle.T5", TRANSFORMER),
            ("circle.T5-converse", KURAMOTO),
            ("circle.T6", CosineSeries((-1.0, -1.0 + 1e-6))),
            ("circle.T6-generic", RESONANT),
            ("circle.unfolding", RESONANT),
            ("circle.T7", CosineSeries((-1.5, -1.0))),
            ("circle.T8", TRANSFORMER),
            ("circle.T9", REPULSIVE),
            ("circle.T9-repulsive", ATTRACTIVE),
            ("circle.T10-minimum", ATTRACTIVE),
            ("circle.T11", ATTRACTIVE),
            ("circle.T12", HegselmannKrause(2.0)),
            ("circle.tricritical", KURAMOTO),
            ("circle.repulsive", KURAMOTO),
            ("circle.repulsive-relaxation", KURAMOTO),
            ("circle.chaos", HegselmannKrause(2.0)),
            ("circle.T1", REPULSIVE),
            ("circle.outcome", ATTRACTIVE),
            ("circle.schemes", HegselmannKrause(2.0)),
            ("circle.bands", TRANSFORMER),
            ("circle.free-particles", TRANSFORMER),
            ("circle.distances", TRANSFORMER),
        )
    ),
]


@pytest.mark.parametrize(("identifier", "potential"), HOLDS, ids=lambda value: str(value))
def test_holds_on_the_right_solvers(identifier: str, potential: Potential) -> None:
    judged.holds(CLAIMS[identifier], on_circle(potential))


@pytest.mark.parametrize(
    ("identifier", "potential", "tools"),
    [case[:1] + case[2:] for case in FAILS],
    ids=[f"{case[0]}: {case[1]}" for case in FAILS],
)
def test_fails_on_a_wrong_one(identifier: str, potential: Potential, tools: Tools) -> None:
    judged.fails(CLAIMS[identifier], on_circle(potential), tools)


@pytest.mark.parametrize(("identifier", "problem"), NOT_APPLICABLE, ids=lambda value: str(value)[:60])
def test_knows_its_hypotheses(identifier: str, problem: McKeanVlasov) -> None:
    judged.does_not_apply(CLAIMS[identifier], problem)


@pytest.mark.parametrize(("identifier", "tools"), ABOUT_FIELDS)
def test_in_a_confinement(identifier: str, tools: Tools) -> None:
    judged.holds(CLAIMS[identifier], CONFINED)
    judged.fails(CLAIMS[identifier], CONFINED, tools)


def test_every_claim_is_seen_to_hold_and_to_fail() -> None:
    judged.all_are_tried(CLAIMS, HOLDS, FAILS, about_fields=ABOUT_FIELDS)
