"""Fold curves in two parameters, against diagrams at single values and systems solved in many digits."""

import functools
import re

import mpmath as mp
import numpy as np
import pytest

from meanfield import (
    Circle,
    CosineSeries,
    InvalidInput,
    McKeanVlasov,
    Outcome,
    Transformer,
    tricritical_beta,
)
from meanfield.equations import Interaction
from solvers import Arclength, bifurcation_diagram, curve
from solvers.two_parameters import assembling
from solvers.two_parameters.systems import arc
from tests.oracles import fold_equations

RANDOM = np.random.default_rng(11)


@functools.cache
def diagram_of(potential, relative=(0.6, 1.3)):
    problem = McKeanVlasov(Circle(), potential)
    return bifurcation_diagram(problem, relative=relative, rates=False, depth=1)


def folds_of(potential, relative=(0.6, 1.3)):
    return diagram_of(potential, relative).events("fold")


@functools.cache
def attention():
    return curve(folds_of(Transformer(5.0))[0], "beta", (2.0, 20.0))


def test_the_curve_of_the_transformer_begins_at_its_tricritical_point():
    found = attention()
    (point,) = found.special_points
    assert (point.type, point.status) == ("tricritical", "converged")
    assert point.values[0] == pytest.approx(tricritical_beta(1), rel=1e-12)
    assert point.lower <= tricritical_beta(1) <= point.upper
    assert found.first[0] == point.values[0]
    assert found.first[-1] == 20.0
    assert (found.point_labels[0], found.point_labels[-1]) == ("tricritical", "EP")
    assert (found.first_outcome, found.outcome) == (Outcome.JOINED_BRANCH, Outcome.LEFT_INTERVAL)
    assert found.relative_coupling[0] == pytest.approx(1.0, abs=1e-14)
    assert not found.warnings
    assert not found.unstable.any()
    assert (np.diff(found.arclength) > 0).all()


def test_pictures_of_few_points_bend_as_the_curve_does():
    found, finer = (
        attention(),
        curve(folds_of(Transformer(5.0))[0], "beta", (2.0, 20.0), method=Arclength(max_step=0.05)),
    )
    (line,) = found.plot(marker="o").lines[:1]
    assert line.get_xdata()[:: line.get_markevery()].tolist() == found.first.tolist()
    missed = np.abs(np.interp(finer.first, *line.get_data()) - finer.second).max()
    corners = np.abs(np.interp(finer.first, *found.values.T) - finer.second).max()
    # Narrower than a line of one point in axes of 300, where straight pieces are not.
    assert missed < np.ptp(finer.second) / 300 < corners


@pytest.mark.parametrize("beta", [2.5, *RANDOM.uniform(2.6, 20, 4)])
def test_folds_are_those_of_diagrams(beta):
    end = curve(folds_of(Transformer(5.0))[0], "beta", (beta if beta < 5 else 4.0, beta if beta > 5 else 6.0))
    place = 0 if beta < 5 else -1
    assert end.first[place] == beta
    (fold,) = folds_of(Transformer(float(beta)), (0.5, 1.05))
    assert end.coupling[place] == pytest.approx(fold.coupling, rel=1e-11)
    count = min(end.cosine.shape[1], fold.cosine.size)
    # Along the branch the state at a fold is known to half of the digits of its coupling.
    assert np.abs(end.cosine[place, :count] - fold.cosine[:count]).max() <= 1e-7
    assert end.residual.max() <= 1e-14


@pytest.mark.parametrize("kind", ["fold", "transition"])
@pytest.mark.parametrize("beyond", [3e-3, 1e-4])
def test_a_curve_that_begins_before_its_interval_is_cut_at_the_end(kind, beyond):
    low = tricritical_beta(1) + beyond
    (start,) = diagram_of(Transformer(5.0)).events(kind)
    found = curve(start, "beta", (low, 8.0))
    assert found.first[0] == found.first.min() == low
    assert found.first_outcome is Outcome.LEFT_INTERVAL
    assert not found.special_points
    assert not found.warnings
    # The amplitude falls like the root of the distance from the tricritical point.
    assert 0.2 < found.cosine[0, 1] / np.sqrt(beyond) < 2.0


@pytest.mark.parametrize("kind", ["fold", "transition"])
def test_nothing_beyond_the_interval_is_recorded(kind):
    """So near to the tricritical point the end of the interval need not be found, which is said then."""
    low = tricritical_beta(1) + 2e-6
    (start,) = diagram_of(Transformer(5.0)).events(kind)
    found = curve(start, "beta", (low, 8.0))
    assert found.first.min() >= low
    assert not found.special_points
    assert found.warnings or found.first[0] == low


def null_vector(state, problem):
    """The unit vector u with u = Cov(c) Sigma u and the values Sigma at a state."""
    sigma = Interaction(problem).attractions(state.size - 1)[1:]
    order = np.arange(1, state.size)
    moments = np.concatenate([state, np.zeros(state.size)])
    covariance = 0.5 * (moments[order[:, None] + order] + moments[np.abs(order[:, None] - order)])
    covariance -= np.multiply.outer(state[1:], state[1:])
    return np.linalg.svd(np.eye(order.size) - covariance * sigma)[2][-1]


@pytest.mark.parametrize("point", [4, 9, -3])
def test_slopes_are_those_of_the_closed_form(point):
    found = attention()
    problem = found.state(point).problem
    state = found.cosine[point]
    u, interaction = null_vector(state, problem), Interaction(problem)
    slopes = [interaction.strength_derivatives(name, state.size - 1)[1:] for name in ("beta", "coupling")]
    along_beta, along_coupling = (float((u * state[1:]) @ slope) for slope in slopes)
    assert found.slope[point] == pytest.approx(-along_beta / along_coupling, rel=1e-9)


def test_the_cusp_of_three_modes():
    """In 40 digits, from the system of states, null vectors and third moments."""
    (fold, _) = folds_of(CosineSeries((-1.0, -0.4, -0.62)))
    found = curve(fold, "w3", (-0.9, -0.3))
    (cusp,) = found.special_points
    with mp.workdps(40):

        def couplings(w3, kappa):
            return [kappa, mp.mpf(0.4) * kappa, -w3 * kappa]

        place = int(np.argmax(np.array(found.point_labels) == "cusp"))
        direction = found.tangent[place]
        assert abs(direction[0]) <= 1e-6
        state = found.cosine[place, :4]
        start = [
            *state[1:],
            *null_vector(found.cosine[place], found.state(place).problem)[:3],
            *found.values[place],
        ]
        solved = mp.findroot(lambda *unknown: fold_equations(unknown, couplings, 48), start)
        expected = [float(value) for value in solved]
    assert cusp.values == pytest.approx(expected[-2:], rel=1e-12)
    assert cusp.cosine[1:4] == pytest.approx(expected[:3], rel=1e-9)
    assert cusp.lower <= expected[-2] <= cusp.upper
    assert cusp.status == "converged"


def test_an_organising_point_that_is_not_located_is_warned_of(monkeypatch):
    (fold, _) = folds_of(CosineSeries((-1.0, -0.4, -0.62)))
    monkeypatch.setattr(arc, "point_between", lambda *_: None)
    found = curve(fold, "w3", (-0.7, -0.3))
    assert not found.special_points
    (text,) = [text for text in found.warnings if "was not located" in text]
    ends = [float(number) for number in re.findall(r"-0\.\d+", text)]
    monkeypatch.undo()
    (cusp,) = curve(fold, "w3", (-0.7, -0.3)).special_points
    assert text.startswith("a cusp between w3 = ")
    # The curve turns back at the cusp, beyond both ends, by less than a step between them.
    assert min(ends) - 1e-2 <= cusp.values[0] <= max(ends) + 1e-2


@pytest.mark.parametrize("closing", [1, -1])
def test_a_curve_that_closes_is_that_side_alone(monkeypatch, closing):
    """Either direction may be the one on which the return to the start is noticed."""
    known, followed = assembling.follow, []

    def follow(start, *options):
        side = known(start, *options)
        followed.append(side)
        if len(followed) == (1 if closing > 0 else 2):
            side.outcome = Outcome.CLOSED_LOOP
        return side

    monkeypatch.setattr(assembling, "follow", follow)
    found = curve(folds_of(Transformer(5.0))[0], "beta", (4.0, 6.0))
    assert len(followed) == (1 if closing > 0 else 2)
    assert (found.outcome, found.first_outcome) == (Outcome.CLOSED_LOOP, Outcome.CLOSED_LOOP)
    values = [knot.row.values[0] for knot in followed[-1].knots]
    assert sorted(found.first.tolist()) == sorted(values)
    assert (np.diff(found.arclength) > 0).all()


def test_both_folds_of_a_cusp_are_on_one_curve():
    one, other = folds_of(CosineSeries((-1.0, -0.4, -0.62)))
    found = curve(one, "w3", (-0.9, -0.3))
    crossing = np.flatnonzero(np.diff(np.sign(found.first + 0.62)))
    assert crossing.size == 2
    again = curve(other, "w3", (-0.9, -0.62))
    assert again.first[[0, -1]].tolist() == [-0.9, -0.62]
    assert np.abs(found.coupling / again.coupling[0] - 1).min() <= 1e-11
    assert again.coupling[-1] == pytest.approx(other.coupling, rel=1e-11)


def test_the_same_curve_over_the_coupling():
    (fold, _) = folds_of(CosineSeries((-1.0, -0.4, -0.62)))
    over_w3, over_coupling = curve(fold, "w3", (-0.9, -0.3)), curve(fold, "coupling", (1.9, 2.2), against="w3")
    cusps = [next(p for p in found.special_points if p.type == "cusp") for found in (over_w3, over_coupling)]
    assert cusps[0].values == pytest.approx(cusps[1].values[::-1], rel=1e-12)
    assert over_coupling.parameters == ("coupling", "w3")
    # Where the third mode becomes critical together with the first, the fold leaves the uniform state.
    born = next(p for p in over_coupling.special_points if p.type == "mode interaction")
    assert born.values == pytest.approx([2.0, -1.0], rel=1e-12)


def test_two_coefficients_at_a_fixed_coupling():
    (fold, _) = folds_of(CosineSeries((-1.0, -0.4, -0.62)))
    found = curve(fold, "w3", (-0.9, -0.5), against="w2")
    assert found.parameters == ("w3", "w2")
    assert np.ptp(found.coupling) == 0.0
    for place in (0, -1):
        problem = found.state(place).problem
        diagram = bifurcation_diagram(problem, relative=(0.7, 1.3), rates=False, depth=1)
        distances = [abs(point.coupling / found.coupling[place] - 1) for point in diagram.events("fold")]
        assert min(distances) <= 1e-11


def test_a_curve_goes_on_from_any_of_its_points_into_another_pair():
    start = attention().point(10)
    found = curve(start, "noise", (0.5, 2.0))
    # Without confinement the coupling over the noise is all that matters.
    assert found.coupling / found.first == pytest.approx(np.full(len(found), start.coupling), rel=1e-12)
    back = curve(found.point(-1), "beta", (3.0, 9.0), against="coupling")
    assert back.state(3).problem.noise == 2.0


def test_the_same_from_a_cusp():
    (fold, _) = folds_of(CosineSeries((-1.0, -0.4, -0.62)))
    (cusp,) = curve(fold, "w3", (-0.9, -0.3)).special_points
    found = curve(cusp, "w2", (-0.45, -0.35), against="coupling")
    assert found.type == "fold"


def test_step_control_is_that_of_the_caller():
    fold = folds_of(Transformer(5.0))[0]
    few = curve(fold, "beta", (4.0, 6.0), method=Arclength(max_points=3))
    assert few.outcome is Outcome.MAX_STEPS
    assert "the step limit was reached" in few.warnings[0]


def test_refusals():
    fold = folds_of(Transformer(5.0))[0]
    with pytest.raises(InvalidInput, match="no continuous parameter 'betta'; did you mean beta"):
        curve(fold, "betta", (2.0, 8.0))
    with pytest.raises(InvalidInput, match="outside of the interval"):
        curve(fold, "beta", (6.0, 8.0))
    with pytest.raises(InvalidInput, match="finite and increasing"):
        curve(fold, "beta", (8.0, 2.0))
    with pytest.raises(InvalidInput, match=r"within \[-1e\+100, 1e\+100\]"):
        curve(fold, "beta", (2.0, 1e300))
    with pytest.raises(InvalidInput, match="above 0, not from 0"):
        curve(fold, "noise", (0.0, 2.0))
    with pytest.raises(InvalidInput, match=r"at least that of the start, 0\.184"):
        curve(fold, "beta", (2.0, 8.0), largest_coupling=0.1)
    with pytest.raises(InvalidInput, match="differ, and both are beta"):
        curve(fold, "beta", (2.0, 8.0), against="beta")
    with pytest.raises(InvalidInput, match="needs a second parameter"):
        curve(fold, "coupling", (0.1, 0.3))
    diagram = bifurcation_diagram(McKeanVlasov(Circle(), Transformer(5.0)), relative=(0.8, 1.2), rates=False)
    with pytest.raises(InvalidInput, match="leaves an endpoint"):
        curve(diagram.events("endpoint")[0], "beta", (2.0, 8.0))


def test_a_threshold_that_neither_parameter_changes_is_refused():
    problem = McKeanVlasov(Circle(), CosineSeries((-1.2, -2.4, -1.1)))
    start = bifurcation_diagram(problem, (1.8, 1.9), depth=0, rates=False).events("branch point")[0]
    with pytest.raises(InvalidInput, match="the threshold of mode 3 is no curve in w1 and w2: neither changes it"):
        curve(start, "w1", (-2.4, -1.1), against="w2")


@pytest.mark.parametrize("kind", ["fold", "transition"])
def test_where_all_of_the_threshold_is_tricritical_nothing_begins(kind):
    fold = folds_of(CosineSeries((-1.0, -0.7)))[0]
    (tricritical,) = curve(fold, "w2", (-0.8, -0.4)).special_points
    with pytest.raises(InvalidInput, match=f"no {kind} was found to begin at the start in noise and coupling; all"):
        curve(tricritical, "noise", (0.5, 2.0), type=kind)
    assert curve(tricritical, "w2", (-0.8, -0.4), type=kind).type == kind


def test_points_beside_the_birth_of_a_cluster_in_a_fold_of_another_are_known_as_well_as_others():
    # There a 1-cluster is born of 2-clusters: its first moment a is known to 1/a^3 roundings.
    problem = McKeanVlasov(Circle(), CosineSeries((-0.195, -0.113)))
    diagram = bifurcation_diagram(problem, relative=(0.5, 2.5), rates=False, depth=2)
    found = [curve(start, "w2", (-0.463, 0.237)) for start in diagram.events("fold")]
    line = next(each for each in found if each.label == "fold of the 1-cluster")
    assert line.point_labels[0] == "tricritical"
    assert abs(line.cosine[1, 1]) < 0.1

    def folded(weight, start):
        def equations(*unknown):
            return fold_equations((*unknown[:4], weight, unknown[4]), couplings, 40)[:-1]

        def couplings(second, coupling):
            return [-coupling * mp.mpf(-0.195), -coupling * second]

        return list(mp.findroot(equations, start, tol=mp.mpf(10) ** -50, maxsteps=100))

    for row in (1, 2, 3):
        matrix = linearised(np.array([-0.195, line.values[row, 0]]), line.coupling[row], line.cosine[row, 1:3])
        null = np.linalg.svd(matrix)[2][-1]
        with mp.workdps(40):
            weight, step = mp.mpf(float(line.values[row, 0])), mp.mpf(10) ** -12
            start = [mp.mpf(float(each)) for each in (*line.cosine[row, 1:3], *null, line.coupling[row])]
            exact = folded(weight, start)
            above, below = (folded(weight + side * step, exact)[4] for side in (1, -1))
            slope = float((above - below) / (2 * step))
            expected = [float(each) for each in exact]
        assert line.coupling[row] == pytest.approx(expected[4], rel=1e-11)
        assert line.cosine[row, 1:3] == pytest.approx(expected[:2], abs=1e-9)
        assert line.tangent[row, 1] / line.tangent[row, 0] == pytest.approx(slope, rel=1e-9)


def linearised(series, coupling, moments):
    """1 - Cov(c) 2 lambda of the moments of a two-term series, by a trapezoid sum."""
    angles = 2.0 * np.pi * np.arange(256) / 256
    waves, strengths = np.cos(np.multiply.outer((1, 2), angles)), -coupling * series
    masses = np.exp((strengths * moments) @ waves)
    masses /= masses.sum()
    apart = waves - (waves @ masses)[:, np.newaxis]
    return np.eye(2) - (apart * masses) @ apart.T * strengths
