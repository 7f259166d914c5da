"""Every claim about spheres holds on the right solvers, fails on a wrong one and knows when it does not apply."""

import judged
import numpy as np
import pytest
import wrong

from meanfield import (
    GegenbauerSeries,
    Kuramoto,
    MaierSaupe,
    McKeanVlasov,
    Onsager,
    Potential,
    Sphere,
    Transformer,
)
from verification import Tools, matching
from verification.catalogue import single_degree
from verification.sphere.harmonics import gibbs_of_orders, mean, moments_of_orders, point_values, turned_to
from verification.sphere.measures import gibbs, multiplier, polar_rule, polynomials, product_mean

CLAIMS = {claim.identifier: claim for claim in matching("sphere")}


def on(dimension: int, potential: Potential) -> McKeanVlasov:
    return McKeanVlasov(Sphere(dimension), potential)


SMOOTH, SHARP = on(4, Transformer(1.0)), on(4, Transformer(3.0))
SPINS, MANY_SPINS = on(3, Kuramoto()), on(4, Kuramoto())
NEMATIC, RODS = on(3, MaierSaupe()), on(3, Onsager())
THIRD, FOURTH = on(3, single_degree(3)), on(3, single_degree(4))
REPULSIVE = on(3, GegenbauerSeries((1.0, 0.3)))
PAIR = on(5, GegenbauerSeries((-5.0, -14.014), 5))
LYING = on(3, wrong.LyingOnSphere((-1.0, -0.3)))

HOLDS: list[tuple[str, McKeanVlasov]] = [
    ("sphere.uniform", SHARP),
    ("sphere.uniform", RODS),
    ("sphere.repulsive", REPULSIVE),
    ("sphere.T1", SMOOTH),
    ("sphere.T1", SHARP),
    ("sphere.T1", on(8, Transformer(9.0))),
    ("sphere.T2", SHARP),
    ("sphere.T2", SPINS),
    ("sphere.T3", on(8, Transformer(1.0))),
    ("sphere.T3", NEMATIC),
    ("sphere.T3", FOURTH),
    ("sphere.T3-rate", NEMATIC),
    ("sphere.T3-rate", MANY_SPINS),
    ("sphere.T4", NEMATIC),
    ("sphere.T5", SPINS),
    ("sphere.T5", MANY_SPINS),
    ("sphere.T5-identity", MANY_SPINS),
    ("sphere.T5-identity", SPINS),
    ("sphere.T6", RODS),
    ("sphere.T9", SPINS),
    ("sphere.T9", NEMATIC),
    ("sphere.T9", THIRD),
    ("sphere.T9", FOURTH),
    ("sphere.states", THIRD),
    ("sphere.envelope", RODS),
    ("sphere.linearisation", SMOOTH),
    ("sphere.linearisation", NEMATIC),
    ("sphere.energy-identity", SHARP),
    ("sphere.energy-decrease", SMOOTH),
    ("sphere.mass", SMOOTH),
    ("sphere.mass", REPULSIVE),
    ("sphere.trajectory-rotation", SPINS),
    ("sphere.secondary", on(3, GegenbauerSeries((-3.0, -6.0)))),
    ("sphere.secondary", on(3, GegenbauerSeries((-3.0, -5.05)))),
    ("sphere.unfolding", PAIR),
    ("sphere.unfolding", on(3, GegenbauerSeries((-3.0, -4.99)))),
    ("sphere.unfolding", on(8, GegenbauerSeries((-8.0, -35.001), 8))),
    ("sphere.outcome", MANY_SPINS),
    ("sphere.free-particles", MANY_SPINS),
]

FAILS: list[tuple[str, str, McKeanVlasov, Tools]] = [
    ("sphere.uniform", "eigenvalues off by 1e-6", MANY_SPINS, wrong.eigenvalues_off(1e-6)),
    ("sphere.uniform", "multipliers that are not the potential's", LYING, wrong.RIGHT),
    ("sphere.uniform", "a branch point moved", SHARP, wrong.events_moved("branch point", 1e-10)),
    ("sphere.uniform", "no branch points", SHARP, wrong.without_events("branch point")),
    ("sphere.repulsive", "a clustered state", REPULSIVE, wrong.spurious_state()),
    ("sphere.T1", "a state below a continuous transition", SMOOTH, wrong.spurious_state()),
    ("sphere.T1", "a branch below a continuous transition", SMOOTH, wrong.coupling_bent(-2.0)),
    ("sphere.T1", "clusters missed above", SMOOTH, wrong.clusters_missed()),
    ("sphere.T1", "no transition", SHARP, wrong.without_events("transition")),
    ("sphere.T1", "no fold", SHARP, wrong.without_events("fold")),
    ("sphere.T1", "transition below the fold", SHARP, wrong.events_moved("transition", -0.5)),
    ("sphere.T2", "bent branches", SPINS, wrong.coupling_bent(1e-4)),
    ("sphere.T2", "second moment off", SHARP, wrong.moment_scaled(2, 1 + 1e-4)),
    ("sphere.T2", "energy off", SPINS, wrong.energy_off(1.01)),
    ("sphere.T2", "branch missing", SPINS, wrong.without("zonal 1")),
    ("sphere.T3", "bent branches", NEMATIC, wrong.coupling_bent(1e-6)),
    ("sphere.T3", "a side missing", NEMATIC, wrong.without("oblate")),
    ("sphere.T3", "energy off", NEMATIC, wrong.energy_off(1.01)),
    ("sphere.T3", "odd branch bent", SMOOTH, wrong.coupling_bent(1e-4)),
    ("sphere.T3-rate", "eigenvalues off", NEMATIC, wrong.eigenvalues_off(1e-3)),
    ("sphere.T4", "second moment off by 1e-9", NEMATIC, wrong.moment_off(2, 1e-9)),
    ("sphere.T4", "energy off", NEMATIC, wrong.energy_off(1 + 1e-8)),
    ("sphere.T4", "the fold that was printed", NEMATIC, wrong.events_moved("fold", 6.731393 / 6.7314864 - 1)),
    ("sphere.T4", "transition moved", NEMATIC, wrong.events_moved("transition", 1e-10)),
    ("sphere.T4", "states missed", NEMATIC, wrong.clusters_missed()),
    ("sphere.T5", "second moment off by 1e-9", SPINS, wrong.moment_off(2, 1e-9)),
    ("sphere.T5", "energy off", MANY_SPINS, wrong.energy_off(1 + 1e-8)),
    ("sphere.T5", "a state too many", SPINS, wrong.spurious_state()),
    ("sphere.T5", "a state too few", SPINS, wrong.clusters_missed()),
    ("sphere.T5-identity", "another equation", MANY_SPINS, wrong.evolving_faster(1e-6)),
    ("sphere.T5-identity", "a cluster stays", MANY_SPINS, wrong.staying_clustered(1e-3)),
    ("sphere.T6", "fold moved", RODS, wrong.events_moved("fold", 1e-9)),
    ("sphere.T6", "a side missing", RODS, wrong.without("oblate")),
    ("sphere.T6", "bifurcations missed", RODS, wrong.without_events("branch point")),
    ("sphere.T6", "a state at small coupling", RODS, wrong.spurious_state()),
    ("sphere.T9", "xyz branch missing", THIRD, wrong.without("tetrahedral")),
    ("sphere.T9", "a branch too many", THIRD, wrong.twice("tetrahedral")),
    ("sphere.T9", "bent branches", THIRD, wrong.coupling_bent(1e-4)),
    ("sphere.T9", "unstable branches called stable", FOURTH, wrong.called_stable()),
    ("sphere.T9", "a side missing", FOURTH, wrong.without("cubic")),
    ("sphere.T9", "fold moved", FOURTH, wrong.events_moved("fold", 1e-10)),
    ("sphere.T9", "lowest state missed", THIRD, wrong.clusters_missed()),
    ("sphere.unfolding", "the mixed branch missing", PAIR, wrong.without("zonal")),
    ("sphere.unfolding", "a pure branch missing", PAIR, wrong.without("oblate")),
    ("sphere.unfolding", "a branch too many", PAIR, wrong.twice("oblate")),
    ("sphere.unfolding", "counts off by one", PAIR, wrong.counts_off()),
    ("sphere.unfolding", "second moment off", PAIR, wrong.moment_scaled(2, 1.5)),
    ("sphere.states", "third moment off by 1e-10", SMOOTH, wrong.moment_off(3, 1e-10)),
    ("sphere.states", "energy off", SMOOTH, wrong.energy_off(1 + 1e-9)),
    ("sphere.states", "no clustered branch", SMOOTH, wrong.without("")),
    ("sphere.envelope", "energy off", RODS, wrong.energy_off(1 + 1e-4)),
    ("sphere.envelope", "couplings bent", RODS, wrong.coupling_bent(1e-2)),
    ("sphere.linearisation", "eigenvalues off by 1e-6", SMOOTH, wrong.eigenvalues_off(1e-6)),
    ("sphere.linearisation", "counts off", SMOOTH, wrong.counts_off()),
    ("sphere.linearisation", "rotation lost", SMOOTH, wrong.rotation_lost(1e-3)),
    ("sphere.linearisation", "rotation not set apart", SMOOTH, wrong.rotation_lost(None)),
    ("sphere.energy-identity", "dissipation off by 1e-6", SMOOTH, wrong.dissipation_off(1e-6)),
    ("sphere.energy-identity", "another equation", SMOOTH, wrong.evolving_faster(1e-6)),
    ("sphere.energy-decrease", "energy rising by 1e-12", SMOOTH, wrong.energy_rising(1e-12)),
    ("sphere.energy-decrease", "negative dissipation", SMOOTH, wrong.dissipation_off(-2.0)),
    ("sphere.mass", "mass lost", SMOOTH, wrong.mass_lost(1e-13)),
    ("sphere.mass", "negative density", SMOOTH, wrong.negative_density(-1e-2)),
    ("sphere.trajectory-rotation", "direction matters", SPINS, wrong.evolution_depends_on_phase()),
    (
        "sphere.secondary",
        "branch points missed",
        on(3, GegenbauerSeries((-3.0, -6.0))),
        wrong.branches_kept("uniform"),
    ),
    ("sphere.outcome", "everything called settled", MANY_SPINS, wrong.always_settled()),
    ("sphere.free-particles", "noisier particles", MANY_SPINS, wrong.more_noise(0.02)),
]

CONFINED = McKeanVlasov(Sphere(3), Kuramoto(), confinement=GegenbauerSeries((-0.1,)))
ABOUT_FIELDS: list[tuple[str, Tools]] = [
    ("sphere.confined-states", wrong.energy_off(1 + 1e-8)),
    ("sphere.confined-states", wrong.moment_off(2, 1e-9)),
    ("sphere.confined-evolution", wrong.moment_scaled_on_the_way(1 + 1e-5)),
    ("sphere.confined-particles", wrong.other_confinement(-1.0)),
]
NOT_APPLICABLE: list[tuple[str, McKeanVlasov]] = [
    *((identifier, CONFINED) for identifier in CLAIMS if "confined" not in identifier),
    ("sphere.confined-states", SPINS),
    ("sphere.confined-evolution", SPINS),
    ("sphere.confined-particles", SPINS),
    ("sphere.secondary", SPINS),
    ("sphere.unfolding", SPINS),
    ("sphere.outcome", on(16, Transformer(9.0))),
    ("sphere.free-particles", SMOOTH),
    ("sphere.repulsive", SPINS),
    ("sphere.T1", SPINS),
    ("sphere.T1", on(3, Transformer(-2.0))),
    ("sphere.T2", NEMATIC),
    ("sphere.T2", on(3, GegenbauerSeries((-0.6, -1.0)))),
    ("sphere.T3", SPINS),
    ("sphere.T3", on(3, GegenbauerSeries((0.0, -1.0, 0.0, -1.8)))),
    ("sphere.T3-rate", on(3, GegenbauerSeries((-0.6, -1.0)))),
    ("sphere.T4", on(4, MaierSaupe())),
    ("sphere.T4", RODS),
    ("sphere.T5", NEMATIC),
    ("sphere.T5-identity", SMOOTH),
    ("sphere.T6", on(4, Onsager())),
    ("sphere.T6", NEMATIC),
    ("sphere.T9", MANY_SPINS),
    ("sphere.T9", RODS),
    ("sphere.states", REPULSIVE),
    ("sphere.envelope", REPULSIVE),
    ("sphere.linearisation", REPULSIVE),
    ("sphere.energy-identity", on(16, Transformer(9.0))),
    ("sphere.energy-decrease", on(16, Transformer(1.0))),
    ("sphere.trajectory-rotation", SMOOTH),
]


@pytest.mark.parametrize(("identifier", "problem"), HOLDS, ids=lambda value: str(value)[:60])
def test_holds_on_the_right_solvers(identifier: str, problem: McKeanVlasov) -> None:
    judged.holds(CLAIMS[identifier], problem)


@pytest.mark.parametrize(
    ("identifier", "problem", "tools"),
    [case[:1] + case[2:] for case in FAILS],
    ids=[f"{case[0]}: {case[1]}" for case in FAILS],
)
def test_fails_on_a_wrong_one(identifier: str, problem: McKeanVlasov, tools: Tools) -> None:
    judged.fails(CLAIMS[identifier], problem, tools)


@pytest.mark.parametrize(("identifier", "problem"), NOT_APPLICABLE, ids=lambda value: str(value)[:60])
def test_knows_its_hypotheses(identifier: str, problem: McKeanVlasov) -> None:
    judged.does_not_apply(CLAIMS[identifier], problem)


@pytest.mark.parametrize(("identifier", "tools"), ABOUT_FIELDS)
def test_in_a_confinement(identifier: str, tools: Tools) -> None:
    judged.holds(CLAIMS[identifier], CONFINED)
    judged.fails(CLAIMS[identifier], CONFINED, tools)


def test_every_claim_is_seen_to_hold_and_to_fail() -> None:
    judged.all_are_tried(CLAIMS, HOLDS, FAILS, about_fields=ABOUT_FIELDS)


@pytest.mark.parametrize("dimension", [3, 4, 16])
def test_integrals_over_the_polar_angle(dimension: int) -> None:
    # int P_l^2 = 1/N_l, and int u^4 = 3/(d(d+2)).
    for degree in (1, 2, 5, 40):
        number = Sphere(dimension).multiplicity(degree)
        assert product_mean(dimension, degree, degree) * number == pytest.approx(1.0, abs=1e-12)
    assert product_mean(dimension, 1, 1, 1, 1) == pytest.approx(3 / (dimension * (dimension + 2)), rel=1e-14)


def test_a_narrow_spike_is_integrated() -> None:
    # In d = 3 the mean of e^{c u} is sinh(c)/c.
    _, logarithm = gibbs(np.array([0.0, 1e4]), 3)
    assert logarithm == pytest.approx(1e4 - np.log(2e4), rel=1e-15)


def test_multipliers_by_quadrature() -> None:
    value, error = multiplier(Onsager(), 3, 2)
    assert value == pytest.approx(-5 * np.pi / 32, abs=1e-12)
    assert abs(value + 5 * np.pi / 32) <= error + 1e-15


def test_harmonics_add_up_to_polynomials() -> None:
    # sum_m e_lm(x) e_lm(y) = P_l(<x, y>) for a few points x, y.
    generator = np.random.default_rng(3)
    axis, points = generator.normal(size=3), generator.normal(size=(20, 3))
    points /= np.linalg.norm(points, axis=1)[:, None]
    inner = points @ axis / np.linalg.norm(axis)
    zonal = np.zeros(8)
    zonal[7] = 1.0
    cosine, sine = turned_to(zonal, axis)
    values = point_values(cosine, sine, np.arccos(points[:, 2]), np.arctan2(points[:, 1], points[:, 0]))
    legendre = np.polynomial.legendre.legval(inner, zonal)
    assert np.abs(values - legendre).max() <= 1e-14


def test_moments_of_a_density_without_an_axis() -> None:
    # e^{c <x, n>} turned to any axis keeps the moments of the zonal one.
    axis = np.array([0.3, -0.5, 0.8])
    field = np.array([0.0, 4.0, *np.zeros(10)])
    zonal = polynomials(3, 11) @ (polar_rule(3)[1] * gibbs(field, 3)[0])
    values, _ = gibbs_of_orders(*turned_to(field, axis))
    assert mean(values) == pytest.approx(1.0, abs=1e-14)
    for measured, expected in zip(moments_of_orders(values, 11), turned_to(zonal, axis), strict=True):
        assert np.abs(measured - expected).max() <= 1e-13
