"""An equation with a Gibbs map and no free energy: every verb works, no record has one, and asking is refused.

The equations are McKean-Vlasov equations that deny having a free energy, so that whatever does not need it must be
that of the same equation with it, to the last bit.
"""

import csv
import json
from dataclasses import dataclass, replace

import numpy as np
import pytest
from scipy.io import loadmat

from meanfield import (
    Circle,
    CosineSeries,
    InvalidInput,
    Kuramoto,
    MaierSaupe,
    McKeanVlasov,
    Sphere,
    Transformer,
    open_diagram,
    open_trajectory,
)
from meanfield.equations import Capability
from meanfield.export.states import open_states, save_states
from solvers import PerturbedUniform, bifurcation_diagram, contraction_rate, evolve, stationary_states
from verification import Verdict, verify

REASON = "this one denies it"
ENERGIES = ("free_energy_gap", "dissipation")
WITH = {
    "circle": McKeanVlasov(Circle(), Transformer(5.0)),
    "circle, in a field": McKeanVlasov(Circle(), Kuramoto(), confinement=CosineSeries((-0.2,))),
    "S^2": McKeanVlasov(Sphere(3), MaierSaupe()),
    "S^4": McKeanVlasov(Sphere(5), MaierSaupe()),
}
COUPLINGS = {"circle": 0.25, "circle, in a field": 3.0, "S^2": 5.5, "S^4": 12.0}


@dataclass(frozen=True)
class Energyless(McKeanVlasov):
    """An equation that says that it has no free energy."""

    def lacks(self, capability):
        return REASON if capability is Capability.FREE_ENERGY else super().lacks(capability)


def without(problem):
    """Return the same equation denying its free energy."""
    return Energyless(problem.domain, problem.potential, problem.noise, problem.coupling, problem.confinement)


def plain(record, problem):
    """Return a record without what tells its run and equation from another's."""
    return replace(record, problem=problem, provenance={}, observables={})


@pytest.mark.parametrize("name", WITH)
def test_a_diagram_is_that_of_the_same_equation_without_what_energies_tell(name):
    problem = WITH[name]
    interval = (0.4 * COUPLINGS[name], 1.2 * COUPLINGS[name])
    has, lacks = (bifurcation_diagram(each, interval) for each in (problem, without(problem)))
    assert has.observables == ("free_energy_gap",)
    assert lacks.observables == ()
    assert not lacks.events("transition")
    # Points of equal free energy are points of their own, which the other diagram does not have.
    ordinary = [[not label.startswith("TR") for label in branch.point_labels] for branch in has.branches]
    # Those that only a search leads to are not looked for.
    led_to = [pair for pair in zip(has.branches, ordinary, strict=True) if "search" not in pair[0].label]
    if len(led_to) < len(has.branches):
        advice = "because there is no free energy to descend" if problem.confinement is None else "(--search)"
        assert any(f"were not looked for {advice}" in text for text in lacks.warnings)
    assert [branch.label for branch in lacks.branches] == [branch.label for branch, _ in led_to]
    for (one, kept), other in zip(led_to, lacks.branches, strict=True):
        assert np.array_equal(one.coupling[kept], other.coupling)
        assert np.array_equal(one.cosine[kept][:, : other.cosine.shape[1]], other.cosine)
        assert np.array_equal(one.unstable[kept], other.unstable)
        # Points whose rates are computed together share one size.
        np.testing.assert_allclose(one.slowest_rate[kept], other.slowest_rate, rtol=1e-10)
    with pytest.raises(InvalidInput, match="this branch has no observable 'free_energy_gap'; it has none"):
        _ = lacks.branches[0].free_energy_gap


def test_a_diagram_without_free_energy_has_transitions_otherwise():
    assert bifurcation_diagram(WITH["circle"], (0.15, 0.3), rates=False).events("transition")


@pytest.mark.parametrize("name", WITH)
def test_states_are_those_of_branches_and_none_is_the_minimiser(name):
    problem = WITH[name].at(coupling=COUPLINGS[name])
    has, lacks = stationary_states(problem), stationary_states(without(problem))
    assert all(state.minimiser is None for state in lacks)
    assert REASON in lacks[0].minimiser_reason
    searched = "no search was made" if problem.confinement is None else "searched among"
    assert lacks.searched.startswith(searched)
    assert lacks.complete is None
    by_name = {state.label: state for state in has}
    assert {state.label for state in lacks} <= set(by_name)
    for state in lacks:
        known = by_name[state.label]
        # Which is the last moment above rounding, rounding decides.
        count = min(state.cosine.size, known.cosine.size)
        np.testing.assert_allclose(state.cosine[:count], known.cosine[:count], atol=1e-12)
        assert max(np.abs(each.cosine[count:]).max(initial=0.0) for each in (state, known)) < 1e-12
        assert (state.unstable, state.observables) == (known.unstable, {})
        assert state.slowest_rate == pytest.approx(known.slowest_rate, rel=1e-9)
    assert [state.unstable for state in lacks] == sorted(state.unstable for state in lacks)
    with pytest.raises(
        InvalidInput, match=f"no observable 'free_energy_gap', for its equation has no free energy: {REASON}"
    ):
        _ = lacks[0].free_energy_gap


@pytest.mark.parametrize("name", WITH)
def test_an_evolution_is_the_same_but_for_its_observables(name):
    problem = WITH[name].at(coupling=COUPLINGS[name])
    has, lacks = (evolve(each, PerturbedUniform(0.1), 0.5, times=4) for each in (problem, without(problem)))
    assert tuple(has.observables) == ENERGIES
    assert lacks.observables == {}
    assert plain(has, problem) == plain(lacks, problem)
    assert not set(ENERGIES) & set(next(lacks.rows()))
    assert "(F-F0)/D" not in lacks.summary()
    for ask in (lambda: lacks.free_energy_gap, lambda: lacks.dissipation, lacks.plot_energy):
        with pytest.raises(InvalidInput, match="no free energy"):
            ask()


@pytest.mark.parametrize("suffix", [".nc", ".json", ".npz"])
def test_files_of_diagrams_have_no_free_energy(tmp_path, suffix):
    diagram = bifurcation_diagram(without(WITH["circle"]), (0.15, 0.3), rates=False)
    (path,) = diagram.save(tmp_path / f"run{suffix}")
    read = open_diagram(path)
    assert read.branches == diagram.branches
    assert read.observables == ()


def test_tables_have_no_column_of_it(tmp_path):
    diagram = bifurcation_diagram(without(WITH["circle"]), (0.15, 0.3), rates=False)
    points, *_ = diagram.save(tmp_path / "run.csv")
    with points.open() as stream:
        assert "free_energy_gap" not in next(csv.reader(stream))
    states = stationary_states(without(WITH["circle"].at(coupling=0.25)), rates=False)
    path = save_states(states, tmp_path / "states.json")
    assert "free_energy_gap" not in json.loads(path.read_text())["states"][0]
    assert [state.observables for state in open_states(path)] == [{} for _ in states]
    assert "free_energy_gap" not in states[0].to_xarray()


@pytest.mark.parametrize("suffix", [".nc", ".json"])
def test_files_of_evolutions_have_no_free_energy(tmp_path, suffix):
    problem = WITH["circle"].at(coupling=0.25)
    trajectory = evolve(without(problem), PerturbedUniform(0.1), 0.5, times=4)
    (path,) = trajectory.save(tmp_path / f"run{suffix}")
    assert replace(open_trajectory(path), problem=problem) == replace(trajectory, problem=problem)


def test_other_programs_get_the_rest(tmp_path):
    diagram = bifurcation_diagram(without(WITH["circle"]), (0.15, 0.3), rates=False)
    (path,) = diagram.save(tmp_path / "run.mat")
    fields = loadmat(path)["branches"].dtype.names
    assert "coupling" in fields
    assert "free_energy_gap" not in fields
    points, *_ = diagram.save(tmp_path / "run.auto")
    read = open_diagram(points, problem=without(WITH["circle"]))
    assert read.observables == ()
    assert [len(branch) for branch in read.branches] == [len(branch) for branch in diagram.branches]


def test_pictures_say_that_there_is_none(tmp_path):
    diagram = bifurcation_diagram(without(WITH["circle"]), (0.15, 0.3), rates=False)
    with pytest.raises(InvalidInput, match="cannot plot 'free_energy_gap'"):
        diagram.plot("free_energy_gap")
    figure = diagram.plot_panels()
    assert "no free energy" in [text.get_text() for ax in figure.axes for text in ax.texts]
    assert "branches" in diagram.summary()


def test_a_search_asks_for_a_free_energy():
    with pytest.raises(InvalidInput, match=f"searches .* need a free energy, and {REASON}"):
        bifurcation_diagram(without(WITH["circle"]), (0.15, 0.3), search=True)


def test_a_rate_asks_for_the_state():
    problem = without(McKeanVlasov(Circle(), Kuramoto(), coupling=3.0))
    with pytest.raises(InvalidInput, match=f"without a state to relax to .* need a free energy, and {REASON}"):
        contraction_rate(problem)
    state = next(state for state in stationary_states(problem, rates=False) if state.stable)
    assert contraction_rate(problem, state=state).gap == pytest.approx(1.0813324541107574, rel=1e-9)


@pytest.mark.parametrize("domain", ["circle", "sphere"])
def test_claims_about_energies_do_not_apply_and_no_other_breaks(domain):
    space = Circle() if domain == "circle" else Sphere(3)
    results = verify(f"{domain}.T*", [without(McKeanVlasov(space, Kuramoto(), coupling=4.0))])
    about = {result.claim.identifier for result in results if REASON in result.sentence}
    assert about
    # A check that asks for what there is not cannot decide.
    assert {result.verdict for result in results} <= {Verdict.HOLDS, Verdict.NOT_APPLICABLE}
