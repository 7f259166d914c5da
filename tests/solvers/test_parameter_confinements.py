"""Diagrams in the parameters of a confinement: its strength through zero, its orientation, its symmetry broken."""

import functools
import itertools

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.optimize import brentq
from scipy.special import ive

from meanfield import (
    Circle,
    CosineSeries,
    External,
    InvalidInput,
    Kuramoto,
    McKeanVlasov,
    NotResolved,
    Outcome,
    Perceptron,
    Sphere,
)
from solvers import bifurcation_diagram, curve, stationary_states
from solvers.branches.deflation import resolved_at
from solvers.circle import uneven
from solvers.domains import solvers_of
from solvers.equations.sizing import stationary_equation

# Relative accuracy promised for located points, and that of states.
LOCATED, STATE = 1e-12, 1e-11
SERIES = CosineSeries((-1.0, -0.3))


MAGNET = McKeanVlasov(Circle(), Kuramoto(), coupling=3.0, confinement=External(cosine=(0.3,)))


@functools.cache
def reversed_magnet():
    return bifurcation_diagram(MAGNET, (-0.8, 0.8), parameter="confinement_cosine1", rates=False)


def test_a_magnet_is_reversed():
    # m = A(x), x = kappa m - h with A = I_1/I_0; folds where kappa A'(x) = 1.
    diagram = reversed_magnet()
    (branch,) = diagram.branches

    def mean(x):
        return ive(1, x) / ive(0, x)

    x = brentq(lambda x: 3.0 * (1.0 - mean(x) / x - mean(x) ** 2) - 1.0, 0.5, 3.0, xtol=1e-15)
    folds = np.sort([event.value for event in diagram.events("fold")])
    np.testing.assert_allclose(folds, (3.0 * mean(x) - x) * np.array([-1.0, 1.0]), rtol=LOCATED)
    free = diagram.events("branch point")
    assert len(free) == 2
    for event in free:
        assert event.lower <= 0.0 <= event.upper or abs(event.value) < LOCATED
        assert "turns freely" in event.description
    np.testing.assert_allclose(3.0 * branch.cosine[:, 1] - branch.values, _argument(branch), atol=1e-11)
    # Stable with the field, then a saddle that any turn leaves, then the maximum.
    assert {int(count) for count in branch.unstable} == {0, 1, 2}


def test_a_magnet_is_reversed_by_the_strength_of_its_field():
    by_moment, name = reversed_magnet(), "confinement_external_factor"
    by_strength = bifurcation_diagram(MAGNET, (-0.8 / 0.3, 0.8 / 0.3), parameter=name, rates=False)
    ours, same = (np.sort([event.value for event in each.events("fold")]) for each in (by_strength, by_moment))
    np.testing.assert_allclose(0.3 * ours, same, rtol=LOCATED)
    # Over the coupling the folds move with the strength as over the moment.
    event = by_strength.events("fold")[0]
    line = curve(event, "coupling", (2.6, 3.4), against=name)
    other = curve(by_moment.events("fold")[0], "coupling", (2.6, 3.4), against="confinement_cosine1")
    for coupling in (2.6, 3.4):
        ends = [float(each.values[np.argmin(np.abs(each.values[:, 0] - coupling)), 1]) for each in (line, other)]
        assert abs(abs(0.3 * ends[0]) - abs(ends[1])) < 1e-11


def _argument(branch):
    """x with I_1/I_0 of it the first moment."""
    return [
        0.0 if m == 0.0 else brentq(lambda x, m=m: ive(1, x) / ive(0, abs(x)) - m, -50.0, 50.0, xtol=1e-14)
        for m in branch.cosine[:, 1]
    ]


CASES = {
    "symmetry at an end": (External(cosine=(0.1, 0.2)), "confinement_cosine1", (0.0, 0.5)),
    "even within": (External(cosine=(0.1, 0.2), sine=(0.1,)), "confinement_sine1", (-0.3, 0.5)),
    "a neuron turns": (Perceptron((1.0, 0.5), (0.0, 0.7), "gelu"), "confinement_angles1", (0.5, 0.9)),
    "one neuron turns": (Perceptron((1.0,), (0.1,), "gelu"), "confinement_angles1", (0.0, 0.2)),
}


@pytest.mark.parametrize("case", CASES)
def test_states_are_those_of_the_problem_there(case):
    confinement, name, interval = CASES[case]
    problem = McKeanVlasov(Circle(), SERIES, coupling=2.2, confinement=confinement)
    diagram = bifurcation_diagram(problem, interval, parameter=name, rates=False)
    assert not any("unfinished" in warning for warning in diagram.warnings)

    @functools.cache
    def states_at(value):
        """Return the states at a value, which many branches end at."""
        return stationary_states(problem.with_parameter(name, value), rates=False)

    for branch in diagram.branches:
        for point in (len(branch) // 2, len(branch) - 1):
            states = states_at(float(branch.values[point]))
            own = branch.cosine[point, :5] + 1j * branch.sine[point, :5]
            distance, nearest = min(
                ((np.abs(state.cosine[:5] + 1j * state.sine[:5] - own).max(), state) for state in states),
                key=lambda pair: pair[0],
            )
            assert distance < STATE
            assert nearest.unstable == branch.unstable[point]


@pytest.mark.parametrize(("second", "end"), [(-0.9, 0.4), (-0.6421005818743957, 0.3945641621239475), (-0.5, 0.3)])
def test_a_field_of_two_wells_is_turned_by_its_sign(second, end):
    # The sign turns it by a right angle: the diagram is its own mirror image, and the minimiser turns where it is zero.
    field = External(cosine=(0.0, 0.3))
    problem = McKeanVlasov(Circle(), CosineSeries((-1.0, second)), coupling=2.6, confinement=field)
    diagram = bifurcation_diagram(problem, (-end, end), parameter="confinement_cosine2", rates=False)
    ends = [
        sorted(
            branch.unstable[point]
            for branch in diagram.branches
            for point in (0, -1)
            if branch.values[point] == value
        )
        for value in (-end, end)
    ]
    assert ends[0] == ends[1]
    assert ends[0][0] == 0
    (transition,) = diagram.events("transition")
    assert transition.lower <= 0.0 <= transition.upper
    assert transition.upper - transition.lower < LOCATED
    # What is said of all diagrams over a parameter.
    assert len(diagram.warnings) == 1


def test_states_without_an_axis_turn_freely_where_a_field_vanishes():
    # There branches are known to the rounding over the field, whose own block is singular by the rotation alone.
    field = External(cosine=(0.3,), sine=(0.0, 0.25))
    problem = McKeanVlasov(Circle(), SERIES, coupling=3.0, confinement=field)
    diagram = bifurcation_diagram(problem, (-0.18, 0.2), parameter="confinement_external_factor", rates=False)
    points = diagram.events("branch point")
    # All branches but the one through the uniform state, which all rotations leave as it is.
    assert len(points) == len(diagram.branches) - 1 == 4
    for point in points:
        assert "turns freely" in point.description
        assert point.lower <= 0.0 <= point.upper or abs(point.value) < 1e-6
    assert not any("pass each other" in text for text in diagram.warnings)


def test_rounding_errors_across_an_axis_are_no_arrival(monkeypatch):
    field = External(cosine=(0.0, -0.3))
    problem = McKeanVlasov(Circle(), CosineSeries((-1.0, -0.9)), coupling=2.6, confinement=field)
    state = next(state for state in stationary_states(problem, rates=False) if state.symmetry == 1)
    equation = stationary_equation(solvers_of(problem).geometry, problem, even=False)
    moments = np.zeros((2, 1 + equation.basis.degrees.max()))
    moments[:, : state.cosine.size] = state.cosine[: moments.shape[1]], state.sine[: moments.shape[1]]
    b = equation.unknown_with(*moments)
    last, point = (resolved_at(equation, b, equation.q_at(coupling)) for coupling in (2.6, 2.61))
    exact = uneven._complex_modes
    monkeypatch.setattr(uneven, "_located_even", lambda *_: pytest.fail("an axis is gained that the states have"))
    # Its sign changes from one to the other, about either axis of the field.
    errors = itertools.cycle((-1e-15 - 1e-15j, 1e-15 + 1e-15j))
    monkeypatch.setattr(uneven, "_complex_modes", lambda each: exact(each) + next(errors) * np.eye(1, 2)[0])
    assert uneven.meeting(last, point) is None


@pytest.mark.parametrize("dimension", [2, 3])
def test_the_density_of_a_confinement_on_which_no_mode_acts_is_a_branch(dimension):
    """The attraction acts on degree 1 only, the field on even ones; by quadrature where second moments are D/kappa."""
    coupling, strength = (1.9, 4.9)[dimension - 2], 0.31
    domain = Circle() if dimension == 2 else Sphere(dimension)
    field = External(cosine=(0.0, strength))
    problem = McKeanVlasov(domain, Kuramoto(), coupling=coupling, confinement=field)
    diagram = bifurcation_diagram(problem, (0.6, 2.5), parameter="noise", rates=False)

    def second_moment(noise, along):
        def weighted(angle, value):
            return value * np.exp(-strength * np.cos(2 * angle) / noise) * np.sin(angle) ** (dimension - 2)

        def across(angle):
            return np.cos(angle) ** 2 if along else np.sin(angle) ** 2 / (dimension - 1)

        total, weight = (
            quad(lambda angle, of=of: weighted(angle, of(angle)), 0.0, np.pi, epsabs=0.0, epsrel=1e-12)[0]
            for of in (across, lambda angle: 1.0)
        )
        return coupling * total / weight - noise

    expected = sorted(brentq(second_moment, 0.3, 3.0, args=(along,), xtol=1e-15) for along in (True, False))
    points = diagram.events("branch point")
    assert sorted(point.value for point in points) == pytest.approx(expected, rel=LOCATED)
    primary, *clusters = diagram.branches
    assert primary.label == "primary"
    assert primary.symmetry == 2
    assert {(branch.outcome, branch.symmetry) for branch in clusters} == {(Outcome.JOINED_BRANCH, 1)}
    assert sorted(branch.values[-1] for branch in clusters) == pytest.approx(expected, rel=LOCATED)
    assert primary.unstable[0] == dimension
    assert primary.unstable[-1] == 0
    # What is said of all diagrams over a parameter.
    assert len(diagram.warnings) == 1


def test_what_is_not_followed_is_refused_in_a_sentence():
    kinked = McKeanVlasov(Circle(), SERIES, coupling=2.2, confinement=Perceptron((1.0,), (0.1,), "relu"))
    with pytest.raises(NotResolved, match="take a smooth one"):
        bifurcation_diagram(kinked, (0.5, 1.0), parameter="confinement_angles1")
    neurons = Perceptron((1.0, 0.5), (0.3, 1.2), "relu", (0.0, 2.0))
    oblique = McKeanVlasov(Sphere(3), Kuramoto(), coupling=4.0, confinement=neurons)
    with pytest.raises(InvalidInput, match="has kinks and no axis"):
        bifurcation_diagram(oblique, (0.5, 1.0), parameter="noise")


@pytest.mark.parametrize("interval", [(0.0, 0.5), (-0.5, 0.0)])
def test_a_magnet_against_a_field_begins_where_the_field_vanishes(interval):
    """With x = kappa m - h the state is m = A(x), A = I1/I0, and the fold in h = kappa A(x) - x is where A' = 1/kappa."""

    def slope(x):
        ratio = ive(1, x) / ive(0, x)
        return 1.0 - ratio / x - ratio**2

    x = brentq(lambda x: 2.2 * slope(x) - 1.0, 1e-3, 5.0, xtol=1e-15)
    strength = 2.2 * ive(1, x) / ive(0, x) - x
    problem = McKeanVlasov(Circle(), Kuramoto(), coupling=2.2, confinement=CosineSeries((0.3,)))
    diagram = bifurcation_diagram(problem, interval, parameter="confinement_w1", rates=False)
    (fold,) = diagram.events("fold")
    assert abs(fold.value) == pytest.approx(strength, rel=LOCATED)
    assert len(diagram.branches) == 2
    # From the end at which the field vanishes to the other, and from it along the field and back against it.
    ends = sorted(tuple(sorted(np.abs(branch.values[[0, -1]]))) for branch in diagram.branches)
    np.testing.assert_allclose(ends, [(0.0, 0.0), (0.0, 0.5)], rtol=0.0, atol=1e-9)


@pytest.mark.parametrize("interval", [(0.0, 0.5), (-0.5, 0.0)])
def test_a_cluster_across_a_field_begins_where_the_field_vanishes(interval):
    """Turned by a quarter the field is that of the other sign, and the branches are those of an interval across zero."""
    problem = McKeanVlasov(Circle(), Kuramoto(), coupling=2.2, confinement=CosineSeries((0.0, 0.3)))

    def born(over):
        found = bifurcation_diagram(problem, over, parameter="confinement_w2", rates=False)
        return found, sorted(abs(event.value) for event in found.events("branch point"))

    (half, (place,)), (_, across) = born(interval), born((-0.5, 0.5))
    assert place == pytest.approx(across[-1], rel=LOCATED)
    assert len(half.branches) == 3
