"""Whether all states are found on the circle, uneven ones too, with and without a field, and what is said of it."""

import pickle
from dataclasses import replace

import numpy as np
import pytest
from scipy.special import gammaln

from meanfield import (
    Circle,
    CosineSeries,
    External,
    KellerSegel,
    Kuramoto,
    Logarithmic,
    McKeanVlasov,
    Onsager,
    Transformer,
)
from solvers import bifurcation_diagram, stationary_states
from solvers.circle import CIRCLE, search
from solvers.circle.ensemble import Ensemble
from solvers.equations.sizing import confinement_field, stationary_equation
from solvers.root_finding.search import Rounds
from solvers.root_finding.searched import Searched, Tally
from tests import brute_force

# Two solutions of one equation, each converged to 1e-11 or better.
SAME = 1e-6


def states(weights, coupling, field=None, **options):
    confinement = None if field is None else CosineSeries(field)
    problem = McKeanVlasov(Circle(), CosineSeries(weights), coupling=coupling, confinement=confinement)
    return stationary_states(problem, **{"rates": False, **options})


def missing(found, weights, coupling, field=()):
    """Return the brute-force states that are not in an answer, by energy and unstable directions."""
    truth = brute_force.stationary_states(brute_force.circle(weights, field), coupling, starts=512)
    pairs = [(state.free_energy_gap, state.unstable) for state in found]
    return [
        (state.gap, state.unstable)
        for state in truth
        if not any(abs(state.gap - gap) < SAME and state.unstable == unstable for gap, unstable in pairs)
    ]


@pytest.mark.parametrize("index", [0, 2, 3, 5])
def test_random_states_without_a_field(index):
    """Four random series of four to eight attractive modes, whose states are mostly uneven."""
    generator = np.random.default_rng([2024, index])
    weights = tuple(-generator.uniform(0.4, 1.2, generator.integers(4, 9)))
    coupling = -2.0 / min(weights) * generator.uniform(1.0, 2.0)
    assert not missing(states(weights, coupling), weights, coupling)


@pytest.mark.parametrize("index", range(4))
def test_random_states_in_a_field(index):
    generator = np.random.default_rng([2025, index])
    weights = tuple(generator.uniform(-1.2, 0.8, generator.integers(2, 5)))
    field = tuple(generator.uniform(-1.0, 1.0, 3))
    found = states(weights, 5.0, field)
    assert not missing(found, weights, 5.0, field)
    assert found[0].minimiser is True


def test_an_uneven_stable_state_in_a_field_is_the_minimiser():
    """The even stable state is a local minimum only; no branch leads from it to the uneven one below."""
    weights, field = (-1.0, 0.7), (0.1, 0.4, -1.6)
    found = states(weights, 5.6, field)
    assert not missing(found, weights, 5.6, field)
    lowest = found[0]
    assert (lowest.minimiser, lowest.unstable) == (True, 0)
    assert lowest.label == "uneven 1-cluster"
    assert np.abs(lowest.sine).max() > 0.1


@pytest.mark.parametrize("strength", [1e-2, 1e-4])
def test_clusters_that_a_field_holds_by_high_powers_are_found_on_its_axes(strength):
    """A field of degree 1 holds a 3-cluster at the third order: nearly neutral, and missed by runs that turn it."""
    found = states((0.1, 0.1, -1.0), 3.0, (strength,))
    clusters = [state for state in found if state.order_parameter(3) > 0.5]
    assert sorted(np.sign(state.cosine[3]) for state in clusters) == [-1.0, 1.0]
    assert all(np.abs(state.sine).max() == 0.0 for state in clusters)
    if strength == 1e-2:
        assert sorted(state.unstable for state in clusters) == [0, 1]


def test_different_uneven_states_are_not_merged():
    """Independent runs tell all states of a field without symmetry apart by their energies."""
    weights, field = (-1.0, -0.8, -0.9), (0.02, 0.3)
    found = states(weights, 4.0, field)
    energies = [state.free_energy_gap for state in found]
    assert not missing(found, weights, 4.0, field)
    assert min(np.diff(sorted(energies))) > 1e-9


class TestTally:
    @pytest.mark.parametrize(("runs", "ends"), [(10, 2), (40, 3), (60, 6)])
    def test_expectation_by_summing_the_posterior(self, runs, ends):
        """With k equally weighted beforehand and basins uniform on the simplex, the sum over k itself."""
        k = np.arange(ends, 200000.0)
        logarithms = gammaln(k + 1) + gammaln(k) - gammaln(k - ends + 1) - gammaln(runs + k)
        weights = np.exp(logarithms - logarithms.max())
        # What is cut off falls as k^(ends + 2 - runs).
        assert Tally(runs, ends, 0).unseen == pytest.approx((k - ends) @ weights / weights.sum(), rel=1e-9)

    def test_small_basins_are_expected_at_the_least_and_not_overlooked(self):
        """Basins of very different sizes: on average the number is below that of the unseen, and of its size."""
        random, unseen, told, by_posterior = np.random.default_rng(5), [], [], []
        for _ in range(400):
            weights = np.exp(2.0 * random.standard_normal(200))
            counts = random.multinomial(3000, weights / weights.sum())
            tally = Tally.of([int(count) for count in counts if count])
            assert (tally.met_once, tally.met_twice) == (np.sum(counts == 1), np.sum(counts == 2))
            unseen.append(np.count_nonzero(counts == 0))
            told.append(tally.unseen)
            by_posterior.append(Tally(tally.runs, tally.ends, 0).unseen)
        assert 0.2 * np.mean(unseen) < np.mean(told) < np.mean(unseen)
        assert np.mean(by_posterior) < 0.5 * np.mean(told)

    def test_a_bound_is_called_one(self):
        assert Tally.of([50, 50]).words("runs", "state").endswith("each met twice or more, 0.062 more expected")
        assert Tally.of([400, 2, *[1] * 6]).words("runs", "state").endswith("at least 7.5 more expected")

    def test_settled_only_if_all_were_met_again_and_few_are_expected(self):
        assert Tally(100, 2, 0).settled
        assert not Tally(100, 2, 1).settled
        assert not Tally(20, 2, 0).settled
        assert Tally(3, 2, 0).unseen is None
        assert not Tally(3, 2, 0).settled


class TestReasons:
    def test_no_mode_attracts(self):
        found = states((0.5, 1.0), 4.0)
        assert (found.complete, len(found), found[0].minimiser) == (True, 1, True)
        assert "convex" in found[0].minimiser_reason
        assert states((-0.5, -1.0), -4.0).complete

    def test_weak_attraction_in_a_field_leaves_one_state(self):
        """2 (lambda_1 + lambda_2) = kappa (0.5 + 0.3) = 0.96 < 1."""
        found = states((-0.5, -0.3, 2.0), 1.2, (1.0, -2.0))
        assert (found.complete, len(found), found[0].minimiser) == (True, 1, True)
        assert states((-0.5, -0.3, 2.0), 1.3, (1.0, -2.0)).complete is None

    def test_one_mode(self):
        assert stationary_states(McKeanVlasov(Circle(), Kuramoto(), coupling=5.0), rates=False).complete
        assert stationary_states(McKeanVlasov(Circle(), Logarithmic(1), coupling=1.0), rates=False).complete

    def test_below_the_transition_by_the_sharp_criterion(self):
        found = stationary_states(McKeanVlasov(Circle(), Transformer(2.0), coupling=0.5), rates=False)
        assert found[0].minimiser is True
        assert found[0].minimiser_reason.startswith("theorem: ")

    def test_a_search_gives_its_counts(self):
        found = stationary_states(McKeanVlasov(Circle(), Onsager(), coupling=10.0), rates=False)
        assert found.complete is None
        assert "relaxations" in found[0].minimiser_reason
        assert "no argument excludes further ones" in found.searched
        assert found[0].provenance["searched"] == found.searched
        assert found[0].provenance["minimiser_reason"] == found[0].minimiser_reason

    def test_an_unsettled_search_names_no_minimiser(self, monkeypatch):
        monkeypatch.setattr(search, "STARTS", 1)
        monkeypatch.setattr(search.Densities, "rounds", Rounds(1, 1, 1))
        found = states((-1.0, -0.9, -1.1), 6.0)
        assert [state.minimiser for state in found] == [None] * len(found)
        assert "not settled" in found[0].minimiser_reason

    @pytest.mark.parametrize("field", [(0.0, 0.3), (0.0, 0.0, 0.3)])
    def test_ends_at_a_state_on_which_the_potential_does_not_act_are_counted(self, field):
        """It has the symmetry of the confinement, and no moment of degree one."""
        found = states((-1.0,), 1.3, field)
        assert [state.minimiser for state in found] == [True]
        assert "64 runs of Newton's method ended at 1 state" in found.searched

    @pytest.mark.parametrize("formula", ["0.3*Abs(sin(3*t))", "0.5*Abs(sin(t)) + 0.2*sin(2*t)"])
    def test_a_state_beside_kinks_is_one_in_whatever_symmetry_it_is_solved_for(self, formula):
        """Moments beyond the last one are about 1e-5 there."""
        problem = McKeanVlasov(Circle(), Kuramoto(), coupling=1.3, confinement=External.from_expression(formula))
        found = stationary_states(problem, rates=False)
        assert [state.minimiser for state in found] == [True]
        assert "ended at 1 state" in found.searched

    def test_states_with_what_was_searched_can_be_pickled(self):
        found = states((-1.0,), 3.0)
        copy = pickle.loads(pickle.dumps(found))
        assert (copy.searched, copy.complete, len(copy)) == (found.searched, found.complete, len(found))


@pytest.mark.parametrize("index", range(4))
def test_the_morse_relation_of_brute_force_states(index):
    """The sum over the circles of states is the number of unstable modes, with a field over all states 1."""
    generator = np.random.default_rng([7, index])
    weights = tuple(-generator.uniform(0.3, 1.2, 4))
    coupling = -2.0 / min(weights) * generator.uniform(1.2, 2.0)
    field = tuple(generator.uniform(-1.0, 1.0, 2)) if index % 2 else ()
    space = brute_force.circle(weights, field)
    found = brute_force.stationary_states(space, coupling, starts=1024)
    if field:
        copies = [1 if np.abs(state.moments[4:]).max() < SAME else 2 for state in found]
        expected = 1
    else:
        copies = [circles(state, space, coupling) for state in found]
        expected = sum(-coupling * weight / 2.0 > 1.0 for weight in weights)
    assert sum((-1) ** state.unstable * count for state, count in zip(found, copies, strict=True)) == expected


def circles(state, space, coupling):
    """Return 1 for a state with an axis, 2 for another one, 0 for uniform or where the orientation is reversed."""
    moments, degrees = state.moments[:4] - 1j * state.moments[4:], np.arange(1, 5)
    if state.powers.max() < SAME:
        return 0
    symmetry = int(np.gcd.reduce(degrees[np.abs(moments) > SAME]))
    if symmetry % 2 == 0:
        halfway = space.degrees % symmetry == symmetry // 2
        part = replace(
            space,
            values=space.values[halfway],
            multipliers=space.multipliers[halfway],
            degrees=space.degrees[halfway],
        )
        unstable, _ = brute_force.unstable_directions(part, coupling, 1.0, state.density * space.weights)
        return 1 - unstable % 2
    first = int(np.flatnonzero(np.abs(moments) > 0.3 * np.abs(moments).max())[0])
    angles = (np.angle(moments[first]) + np.pi * np.arange(first + 1)) / (first + 1)
    images = moments * np.exp(-1j * np.multiply.outer(angles, degrees))
    return 1 if np.abs(images.imag).max(axis=1).min() < SAME else 2


class TestDiagrams:
    def test_uneven_disconnected_branches_in_a_field(self):
        """The uneven minimiser at 5.6 is on a branch of its own, which a diagram follows back to its fold."""
        problem = McKeanVlasov(Circle(), CosineSeries((-1.0, 0.7)), confinement=CosineSeries((0.1, 0.4, -1.6)))
        diagram = bifurcation_diagram(problem, (1.0, 5.6), rates=False)
        ends = [gap for branch in diagram.branches for gap in branch.free_energy_gap[branch.coupling == 5.6]]
        for state in stationary_states(problem.at(coupling=5.6), rates=False):
            assert min(abs(state.free_energy_gap - gap) for gap in ends) < SAME
        assert any("uneven" in branch.label for branch in diagram.branches)
        assert "all densities on the circle" in diagram.provenance["searched"][0]


def test_relaxations_end_at_the_sharp_clusters_of_a_slowly_decaying_potential():
    """On the first 32 modes these are other densities, and no relaxation was counted."""
    field = CosineSeries((0.169, -0.629, 0.231))
    problem = McKeanVlasov(Circle(), KellerSegel(2.52), noise=1.11, coupling=76.8151, confinement=field)
    states = stationary_states(problem, rates=False)
    assert states[0].minimiser
    assert [state.unstable for state in states].count(0) == 2


@pytest.mark.parametrize("index", range(12))
def test_the_search_alone_meets_what_branches_lead_to(index: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of random series on the circle: the states, their stability and how they stand."""
    generator = np.random.default_rng([11, index])
    weights = generator.uniform(-1.3, 1.0, generator.integers(1, 6))
    weights[0] = -abs(weights[0])
    coupling = -2.0 / weights.min() * generator.uniform(1.1, 2.5)
    problem = McKeanVlasov(Circle(), CosineSeries(tuple(weights)), coupling=coupling)
    alone = stationary_states(problem, rates=False)
    monkeypatch.setattr("solvers.circle.CircleGeometry.search_covers", lambda *_: False)
    beside = stationary_states(problem, rates=False)
    assert [state.unstable for state in alone] == [state.unstable for state in beside]
    for one, other in zip(alone, beside, strict=True):
        count = min(one.cosine.size, other.cosine.size)
        # Newton's method leaves both at rounding, which a nearly neutral direction amplifies.
        assert (
            np.abs(np.hypot(one.cosine, one.sine)[:count] - np.hypot(other.cosine, other.sine)[:count]).max() < 1e-9
        )
        first = one.cosine[one.symmetry] if one.symmetry else 0.0
        assert first > -1e-6 or np.abs(one.sine).max() > 0.0


@pytest.mark.parametrize("field", [None, (0.8, -1.1, 0.4)])
def test_densities_of_few_modes_by_tables_are_those_of_the_transforms(
    field, monkeypatch: pytest.MonkeyPatch
) -> None:
    confinement = None if field is None else CosineSeries(field)
    problem = McKeanVlasov(Circle(), CosineSeries((-1.0, 0.7, -0.9, 0.0, -1.2)), confinement=confinement)
    equation = stationary_equation(CIRCLE, problem, 1, 1)
    tabulated, transformed = (Ensemble(equation, 2.5, equation.basis.confinement) for _ in range(2))
    generator = np.random.default_rng(5)
    rows = 0.3 * (generator.standard_normal((20, 4)) + 1j * generator.standard_normal((20, 4)))
    moments, log_partition = tabulated.densities_of(tabulated.strengths * rows)
    monkeypatch.setattr("solvers.circle.ensemble.FEW", 0)
    expected, log_expected = transformed.densities_of(tabulated.strengths * rows)
    assert moments.shape[1] < expected.shape[1]
    # Rounding of the exponents, of a size of some tens.
    assert np.abs(moments - expected[:, : moments.shape[1]]).max() < 1e-13
    assert np.abs(log_partition - log_expected).max() < 1e-12
    # Even densities have all of their values on half of the circle.
    monkeypatch.undo()
    even, log_even = tabulated.densities_of(tabulated.strengths * rows.real, even=True)
    expected, log_expected = tabulated.densities_of(tabulated.strengths * rows.real)
    assert np.abs(even - expected).max() < 1e-13
    assert np.abs(log_even - log_expected).max() < 1e-12


def test_nodes_of_a_search_suffice_for_the_narrowest_density() -> None:
    """Moments of the most concentrated density of the modes are those of four times as many nodes."""
    field = CosineSeries((0.3,) + (0.0,) * 18 + (0.002,))
    problem = McKeanVlasov(Circle(), CosineSeries((-1.0, -0.9, -0.8)), confinement=field)
    equation = stationary_equation(CIRCLE, problem, 1, 1)
    assert equation is not None
    ensemble = Ensemble(equation, 30.0, confinement_field(problem, 1, equation.basis.nodes))
    fine = 4 * ensemble.nodes
    angles = 2.0 * np.pi * np.arange(fine) / fine
    exponent = 2.0 * ensemble.strengths @ np.cos(np.multiply.outer(ensemble.degrees, angles))
    density = np.exp(exponent - field.values(angles) - exponent.max())
    expected = np.cos(np.multiply.outer(np.arange(7), angles)) @ density / density.sum()
    moments = ensemble.densities_of(ensemble.strengths * np.ones((1, 3), dtype=complex))[0][0]
    assert ensemble.nodes < 256
    assert np.abs(moments[:7] - expected).max() < 1e-12


def test_a_lost_end_leaves_a_search_unsettled() -> None:
    tally = Tally.of([40, 60])
    assert Searched([], "", tally, tally).settled
    assert not Searched([], "", tally, tally, lost=1).settled
    assert not Searched([], "", tally, tally, doubt="some are missing").settled
    assert not Searched([], "", tally, Tally.of([1])).settled
    assert not Searched([], "").settled
    assert Searched([], "", theorem="convex").settled
