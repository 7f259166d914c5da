"""Records of curves and organising points: what they compute of their arrays, and what they refuse."""

import dataclasses
import pickle

import numpy as np
import pytest

from meanfield import Circle, CosineSeries, InvalidInput, McKeanVlasov
from tests.meanfield.sample import line_of_transitions, sample

LINE = line_of_transitions()


def test_special_points_of_a_diagram_know_its_problem():
    diagram = sample()
    assert all(point.problem is diagram.problem for point in diagram.special_points)


def test_organising_points_know_the_equation_there():
    (point,) = LINE.special_points
    assert point.problem.parameters["beta"] == point.values[0] == LINE.first[0]
    assert point.problem.coupling == point.values[1] == LINE.second[0]
    assert pickle.loads(pickle.dumps(LINE)) == LINE


def test_a_state_is_at_both_parameters():
    state, uniform = LINE.state(2), LINE.state(-3, other=True)
    assert (state.problem, uniform.symmetry) == (uniform.problem, 0)
    assert (state.problem.parameters["beta"], state.coupling) == tuple(LINE.values[2])
    assert state.moment(1) == LINE.moment(1)[2]
    assert uniform.moment(1) == 0.0
    assert LINE.point(2).other_cosine.tolist() == [1.0, 0.0, 0.0]
    assert LINE.point(2).coupling == LINE.coupling[2]


def test_slopes_are_unknown_where_the_curve_is_vertical():
    tangent = LINE.tangent.copy()
    tangent[1] = (0.0, 1.0)
    slope = dataclasses.replace(LINE, tangent=tangent).slope
    assert np.isnan(slope[1])
    assert slope[0] == tangent[0, 1] / tangent[0, 0]


def test_refusals():
    with pytest.raises(InvalidInput, match="5 points and none of number 5; give one from 0 to 4"):
        LINE.state(5)
    with pytest.raises(InvalidInput, match="none of number 'first'"):
        LINE.point("first")
    alone = dataclasses.replace(LINE, type="fold", other_cosine=None, other_sine=None)
    with pytest.raises(InvalidInput, match="have one state each: only transitions have another"):
        alone.state(0, other=True)
    with pytest.raises(InvalidInput, match="have one state each: the other is the uniform one"):
        dataclasses.replace(alone, type="transition").state(0, other=True)


def test_the_summary_tells_ends_points_and_warnings():
    text = LINE.summary()
    assert (
        "transition uniform | 1-cluster (transition) in (beta, coupling): 5 points, the end of the interval was"
        in text
    )
    assert f"tricritical at beta = 2.5 (known to 2e-14), coupling = {LINE.coupling[0]:.12g}: converged" in text
    assert "warning: this curve is made up" in text
    assert len(repr(LINE)) < 400


def test_a_point_at_which_a_confinement_vanishes_keeps_its_parameter():
    confinement = CosineSeries((0.1,))
    problem = McKeanVlasov(Circle(), CosineSeries((-1.0,)), coupling=2.0, confinement=confinement)
    line = line_of_transitions()
    (point, *_) = line.special_points
    names = ("confinement_w1", "coupling")
    point = dataclasses.replace(point, parameters=names, values=np.array([0.0, 2.0]), problem=None)
    known = dataclasses.replace(line, problem=problem, parameters=names, special_points=(point,)).special_points
    assert set(names) <= set(known[0].problem.parameters)
    assert abs(known[0].problem.parameters["confinement_w1"]) <= np.finfo(float).eps
