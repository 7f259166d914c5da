"""Diagrams in a parameter other than the coupling, against those in the coupling and against closed forms."""

import functools
from dataclasses import dataclass

import numpy as np
import pytest

from meanfield import (
    Circle,
    CosineSeries,
    External,
    GegenbauerSeries,
    HegselmannKrause,
    InvalidInput,
    Kuramoto,
    MaierSaupe,
    McKeanVlasov,
    Onsager,
    Outcome,
    Potential,
    Sphere,
    Transformer,
    open_diagram,
)
from meanfield.equations import Interaction
from meanfield.records import parameter_column
from solvers import bifurcation_diagram, stationary_states
from solvers.branches.passing import passing_branches, register_about
from solvers.domains import solvers_of
from solvers.sphere.groups import TETRAHEDRAL
from solvers.sphere.harmonics import HarmonicPerturbations

# Relative accuracy promised for located points, and that of states.
LOCATED, STATE = 1e-12, 1e-11

SERIES = CosineSeries((-1.0, 0.4, -0.7))
CONFINED = McKeanVlasov(Circle(), CosineSeries((-1.0, -0.5)), coupling=3.0, confinement=External(cosine=(0.1, 0.2)))
# Problems with a parameter and an interval: multipliers that pass zero within it, radii, sums, spheres, confinements.
PROBLEMS = {
    "beta": (McKeanVlasov(Circle(), Transformer(beta=5.0), coupling=0.2), "beta", (1.0, 6.0)),
    "coefficient": (McKeanVlasov(Circle(), SERIES, coupling=2.3), "w3", (-1.2, 1.0)),
    "repulsive": (McKeanVlasov(Circle(), SERIES, coupling=-4.3), "w2", (-1.2, 1.0)),
    "noise": (McKeanVlasov(Circle(), CosineSeries((-1.0, -0.9)), coupling=2.6), "noise", (0.8, 2.0)),
    "radius": (McKeanVlasov(Circle(), HegselmannKrause(radius=1.0), coupling=20.0), "radius", (0.8, 1.1)),
    "factor": (
        McKeanVlasov(Sphere(3), 1.0 * MaierSaupe() + 0.5 * Onsager(), coupling=5.0), "onsager_factor", (0.3, 1.0),
    ),
    "sphere": (McKeanVlasov(Sphere(3), MaierSaupe(), coupling=7.0), "noise", (0.7, 1.2)),
    "high dimension": (McKeanVlasov(Sphere(5), Transformer(beta=3.0), coupling=2.0), "beta", (2.5, 4.5)),
    "confined": (CONFINED, "w2", (-1.0, 0.0)),
    "confinement": (CONFINED, "confinement_cosine1", (0.3, 0.7)),
    "uneven confinement": (
        CONFINED.replace(confinement=External(cosine=(0.1, 0.2), sine=(0.0, 0.3))), "noise", (0.9, 1.5),
    ),
}  # fmt: skip


@functools.cache
def diagram_of(case_name):
    problem, name, interval = PROBLEMS[case_name]
    return bifurcation_diagram(problem, interval, parameter=name, rates=False)


@pytest.fixture(scope="module", params=PROBLEMS)
def case(request):
    problem, name, _ = PROBLEMS[request.param]
    return problem, name, diagram_of(request.param)


def at(problem, name, value):
    return problem.with_parameter(name, float(value))


def clustered(diagram):
    return [branch for branch in diagram.branches if branch.symmetry]


def test_points_are_states_of_the_problem_there(case):
    problem, name, diagram = case
    random = np.random.default_rng(0)
    for branch in clustered(diagram)[:2]:
        # A state at a fold is known to half of the digits, and a search may miss it.
        point = int(random.choice(np.flatnonzero(np.array(branch.point_labels) == "")))
        found = stationary_states(at(problem, name, branch.values[point]), rates=False)
        count = min(branch.cosine.shape[1], *(state.cosine.size for state in found))
        lengths = np.hypot(branch.cosine[point], branch.sine[point])[:count]
        distances = [
            np.abs(np.hypot(state.cosine, state.sine)[:count] - lengths).max()
            for state in found
            if state.layout == branch.layout
        ]
        nearest = [state for state in found if state.layout == branch.layout][int(np.argmin(distances))]
        assert min(distances) < STATE
        assert nearest.unstable == branch.unstable[point]
        assert nearest.free_energy_gap == pytest.approx(branch.free_energy_gap[point], abs=STATE)
        assert diagram.state(branch.label, point).problem == at(problem, name, branch.values[point])


def test_events_are_those_in_the_coupling(case):
    problem, name, diagram = case
    events = [event for event in diagram.special_points if event.type != "endpoint"]
    assert events
    for event in events[:2]:
        free = at(problem, name, event.value).at(coupling=None)
        ends = sorted((0.9 * problem.coupling, 1.1 * problem.coupling))
        search = problem.confinement is None
        found = bifurcation_diagram(free, tuple(ends), rates=False, search=search).events(event.type)
        nearest = min(found, key=lambda other: abs(other.coupling / problem.coupling - 1.0))
        assert nearest.coupling == pytest.approx(problem.coupling, rel=10 * LOCATED)
        assert {nearest.unstable_before, nearest.unstable_after} == {event.unstable_before, event.unstable_after}
        assert event.lower <= event.value <= event.upper


def test_the_fold_moves_by_the_closed_form():
    # d kappa/d p = - sum u_k m_k d_p lambda_k / sum u_k m_k d_kappa lambda_k with u the kernel.
    problem = McKeanVlasov(Circle(), Transformer(beta=5.0), coupling=0.2)

    def fold(coupling):
        diagram = bifurcation_diagram(problem.at(coupling=coupling), (4.0, 5.4), parameter="beta", rates=False)
        (event,) = diagram.events("fold", "1-cluster")
        return event, diagram

    event, diagram = fold(0.2)
    branch = diagram.branch("1-cluster")
    count = branch.cosine.shape[1]
    interaction = Interaction(at(problem, "beta", event.value))
    weights = branch.cosine[event.point] * branch.tangent_cosine[event.point]
    in_beta = weights @ interaction.strength_derivatives("beta", count - 1)
    slope = -in_beta / (weights @ interaction.strength_derivatives("coupling", count - 1))
    differences = [(fold(0.2 + h)[0].value - fold(0.2 - h)[0].value) / (2 * h) for h in (2e-4, 1e-4)]
    extrapolated = (4 * differences[1] - differences[0]) / 3
    # The error of the extrapolation is far below the distance of its second entry.
    assert 1 / slope == pytest.approx(extrapolated, abs=abs(extrapolated - differences[1]))


@functools.cache
def strengths_of_radii(interval):
    """Return the strengths of modes at coupling 1, of which those at another one are multiples, by radius."""
    problem = McKeanVlasov(Circle(), HegselmannKrause(radius=1.0), coupling=1.0)
    radii = np.linspace(*interval, 4001)
    return np.array([Interaction(at(problem, "radius", radius)).strengths(64) for radius in radii])


@pytest.mark.parametrize("coupling", [6.0, 40.0])
def test_all_thresholds_of_multipliers_that_oscillate(coupling):
    problem = McKeanVlasov(Circle(), HegselmannKrause(radius=1.0), coupling=coupling)
    interval = (0.3, 3.0)
    diagram = bifurcation_diagram(problem, interval, parameter="radius", depth=0, rates=False)
    crossed = np.count_nonzero(np.diff(np.sign(coupling * strengths_of_radii(interval) - 1.0), axis=0))
    found = diagram.events("branch point", "uniform")
    assert sum(event.kernel_dimension for event in found) == 2 * crossed > 0
    for event in found:
        there = Interaction(at(problem, "radius", event.value)).strengths(64)
        assert np.abs(there - 1.0).min() < 64 * np.finfo(float).eps


def test_the_minimiser_changes_between_two_clustered_branches():
    problem, name, _ = PROBLEMS["coefficient"]
    diagram = diagram_of("coefficient")
    (event,) = [event for event in diagram.events("transition") if "minimiser" in event.description]
    states = [state for state in stationary_states(at(problem, name, event.value), rates=False) if state.symmetry]
    assert states[0].free_energy_gap == pytest.approx(states[1].free_energy_gap, abs=1e-14)


@pytest.mark.parametrize("case_name", ["beta", "confinement", "sphere"])
def test_tangents_are_derivatives(case_name):
    diagram = diagram_of(case_name)
    branch = clustered(diagram)[0]
    length, place = np.diff(branch.arclength), len(branch) // 2
    for values, tangents in (
        (branch.cosine[:, 1:4], branch.tangent_cosine[:, 1:4]),
        (branch.values[:, None], branch.tangent_values[:, None]),
    ):
        # By the trapezoidal rule on one step, against that on the step before it for an error of order three.
        for step in (place, place + 1):
            mean = 0.5 * length[step] * (tangents[step] + tangents[step + 1])
            missed = np.abs(values[step + 1] - values[step] - mean).max()
            bend = np.abs(tangents[step + 1] - tangents[step]).max()
            assert missed <= length[step] * max(bend, 1e-9)


def test_rates_are_those_of_the_states():
    problem, name, _ = PROBLEMS["beta"]
    diagram = bifurcation_diagram(problem, (4.8, 5.2), parameter=name)
    for branch in diagram.branches[:2]:
        point = len(branch) - 2
        states = stationary_states(at(problem, name, branch.values[point]))
        alike = [state for state in states if state.symmetry == branch.symmetry]
        nearest = min(alike, key=lambda state: abs(abs(state.cosine[1]) - abs(branch.cosine[point, 1])))
        rate = nearest.slowest_rate
        assert branch.slowest_rate[point] == pytest.approx(rate, rel=1e-8)


def test_the_coupling_by_name_is_the_default():
    problem = McKeanVlasov(Circle(), Kuramoto())
    one, other = (bifurcation_diagram(problem, (1.0, 3.0), **named) for named in ({}, {"parameter": "coupling"}))
    assert one.branches == other.branches
    assert one.special_points == other.special_points


WRONG = {
    "unknown": ({"parameter": "betta"}, (1.0, 2.0), "did you mean beta"),
    "reversed": ({"parameter": "beta"}, (2.0, 1.0), "finite and increasing"),
    "huge": ({"parameter": "beta"}, (1.0, 1e300), r"within \[-1e\+100, 1e\+100\]"),
    "negative": ({"parameter": "beta"}, (-1.0, 1.0), "is not admissible"),
    "without noise": ({"parameter": "noise"}, (0.0, 1.0), "its interval is above 0, not from 0"),
    "missing": ({"parameter": "beta"}, None, "interval of beta"),
    "relative": ({"parameter": "beta", "relative": (1.0, 2.0)}, None, "interval of beta"),
}


@pytest.mark.parametrize("wrong", WRONG)
def test_nonsense_is_refused_in_one_sentence(wrong):
    options, interval, words = WRONG[wrong]
    problem = McKeanVlasov(Circle(), Transformer(beta=5.0), coupling=0.2)
    with pytest.raises(InvalidInput, match=words) as refusal:
        bifurcation_diagram(problem, interval, **options)
    assert "\n" not in str(refusal.value)


def test_problems_that_have_no_such_diagram_are_refused():
    with pytest.raises(InvalidInput, match="coupling"):
        bifurcation_diagram(McKeanVlasov(Circle(), Transformer(beta=5.0)), (1.0, 2.0), parameter="beta")
    with pytest.raises(InvalidInput, match="at coupling 0"):
        bifurcation_diagram(CONFINED.at(coupling=0.0), (1.0, 2.0), parameter="noise")


@pytest.mark.parametrize("suffix", ["nc", "json", "npz"])
@pytest.mark.parametrize("case_name", ["beta", "uneven confinement", "sphere"])
def test_files_keep_every_bit(tmp_path, case_name, suffix):
    diagram, (_, name, _) = diagram_of(case_name), PROBLEMS[case_name]
    diagram.save(tmp_path / f"diagram.{suffix}")
    opened = open_diagram(tmp_path / f"diagram.{suffix}")
    assert opened == diagram
    assert opened.parameter == name


def test_tables_have_the_parameter_as_a_column(tmp_path):
    problem, name, _ = PROBLEMS["coefficient"]
    diagram = diagram_of("coefficient")
    assert diagram.point_columns[:4] == ("branch", "point", "w3", "coupling")
    rows = list(diagram.point_rows())
    assert [row["w3"] for row in rows] == np.concatenate([b.values for b in diagram.branches]).tolist()
    assert {row["coupling"] for row in rows} == {problem.coupling}
    assert [row["w3"] for row in diagram.special_rows()] == [event.value for event in diagram.special_points]
    diagram.save(tmp_path / "diagram.auto")
    opened = open_diagram(tmp_path / "diagram.auto")
    assert opened.parameter == name
    for one, other in zip(opened.branches, diagram.branches, strict=True):
        # AUTO files have eleven digits.
        np.testing.assert_allclose(one.values, other.values, rtol=1e-10, atol=1e-12)
        np.testing.assert_array_equal(one.coupling, other.coupling)


def test_a_parameter_with_the_name_of_another_column_has_its_own():
    assert [parameter_column(name) for name in ("beta", "modes", "m1", "tangent_cosine")] == [
        "beta",
        "parameter_modes",
        "parameter_m1",
        "parameter_tangent_cosine",
    ]


@dataclass(frozen=True)
class Hill(Potential):
    """A potential of a user's own, whose first mode attracts most at p = 1; its derivatives are differences."""

    name = "hill"
    p: float = 1.0

    def multipliers(self, domain, degree):
        multipliers = np.zeros(degree + 1)
        multipliers[1:2], multipliers[2:3] = -self.p * (2.0 - self.p), -0.3
        return multipliers

    def tail_bound(self, domain, degree):
        return 0.0 if degree >= 2 else 2.0

    def parameters(self):
        return {"p": self.p}

    def values(self, angle):
        return -self.p * (2.0 - self.p) * np.cos(angle) - 0.3 * np.cos(2.0 * np.asarray(angle))

    def slope(self, angle):
        return self.p * (2.0 - self.p) * np.sin(angle) + 0.6 * np.sin(2.0 * np.asarray(angle))


@pytest.mark.parametrize("coupling", [3.0, 2.01])
def test_a_branch_between_two_thresholds_of_a_mode(coupling):
    # lambda_1 = kappa p (2 - p)/2 is one at p = 1 +- sqrt(1 - 2/kappa).
    problem = McKeanVlasov(Circle(), Hill(), coupling=coupling)
    diagram = bifurcation_diagram(problem, (0.2, 1.9), parameter="p", rates=False)
    ends = 1.0 + np.sqrt(1.0 - 2.0 / coupling) * np.array([-1.0, 1.0])
    born = [event.value for event in diagram.events("branch point", "uniform")]
    (branch,) = clustered(diagram)
    np.testing.assert_allclose(born, ends, rtol=LOCATED)
    np.testing.assert_allclose(branch.values[[0, -1]], ends, rtol=LOCATED)
    assert branch.outcome is Outcome.JOINED_BRANCH
    assert not branch.unstable.any()
    assert branch.symmetry == 1


def test_branches_have_their_states_at_the_couplings_of_their_own_points():
    problem = McKeanVlasov(Circle(), Transformer(beta=5))
    geometry, register = solvers_of(problem).geometry, register_about(problem.at(coupling=0.3))

    def states_at(coupling):
        passing = passing_branches(problem.at(coupling=coupling), geometry, register, 1)
        return [len(each.points) for each in passing]

    first = next(iter(passing_branches(problem.at(coupling=0.3), geometry, register, 1)))
    couplings = [float(knot.point.coupling) for knot in first.followed.knots[1:-1] if knot.event is None]
    for coupling in couplings[:: len(couplings) // 8]:
        assert states_at(coupling) in (states_at(coupling * (1 - 1e-9)), states_at(coupling * (1 + 1e-9)))
    (fold,) = (knot.point.coupling for knot in first.followed.knots if knot.event and knot.event.kind == "fold")
    # The coupling of a point is known to rounding.
    for coupling in (np.nextafter(fold, 0.0), fold, np.nextafter(fold, 1.0)):
        assert states_at(coupling)[0] == 1
    assert not any("resolve" in text for text in register.warnings)


def test_degrees_that_act_on_part_of_the_interval_only():
    # States without an axis; at the end 0 of the interval the degree of the parameter acts on nothing.
    problem = McKeanVlasov(Sphere(3), GegenbauerSeries((0.0, 0.0, -1.0, 0.0, -0.3)), coupling=7.6)
    events = [
        [
            (found.branches[event.branch].label, event.type, float(event.value), event.unstable_before)
            for event in found.special_points
            if event.type != "endpoint"
        ]
        for found in (
            bifurcation_diagram(problem, interval, parameter="w4", depth=1, rates=False)
            for interval in ((0.0, 0.02), (-0.005, 0.02))
        )
    ]
    ((label, kind, value, unstable),) = events[0]
    assert (label, kind) == ("D_3h 3", "branch point")
    assert events[1] == [(label, kind, pytest.approx(value, rel=1e-9), unstable)]


def test_classes_of_harmonics_are_found_among_other_degrees():
    group = TETRAHEDRAL
    few, many = (
        HarmonicPerturbations(McKeanVlasov(Sphere(3), GegenbauerSeries(w)), group, 3)
        for w in ((0.0, 0.0, -1.0), (0.0, 0.4, -1.0, -0.2))
    )
    for block in many.classes:
        degrees = many.basis.degrees[many.places(block)]
        np.testing.assert_array_equal(few.basis.degrees[few.places(block)], degrees[degrees == 3])
        np.testing.assert_array_equal(many.places(block), block.places)
