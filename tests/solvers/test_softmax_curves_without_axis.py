"""Curves of softmax attention in confinements without an axis: dense maps of all harmonics, and diagrams beside them."""

import functools

import numpy as np
import pytest
from scipy.linalg import eig
from scipy.special import ive
from sphere_galerkin import harmonics

from meanfield import (
    Circle,
    ContinuityEquation,
    External,
    HarmonicSeries,
    InvalidInput,
    NormalisedAttention,
    SoftmaxAttention,
    Sphere,
)
from solvers import bifurcation_diagram, curve, phase_diagram

# Relative accuracy promised for points on curves and for their slopes.
POINT, SLOPE = 1e-11, 1e-9
# Rounding of means of size one of harmonics of degree 20, which recurrences make.
ROUNDING = 512 * np.finfo(float).eps
# Harmonics beyond this degree are below rounding at the values of beta here.
DEGREE = 20
COSINES = (0.0, 0.0, 0.01, 0.02, 0.0, 0.03)
PROBLEM = ContinuityEquation(Sphere(3), SoftmaxAttention(3.0), confinement=HarmonicSeries(cosine=COSINES))
INTERVALS = {"beta": (2.9, 3.15), "noise": (0.95, 1.1), "confinement_cosine_2_2": (0.02, 0.035)}


@functools.cache
def event(kind):
    return bifurcation_diagram(PROBLEM, (4.2, 5.0), rates=False, search=True).events(kind)[0]


class DenseMap:
    """The map of the moments under softmax attention with all harmonics up to a degree, and its derivative."""

    def __init__(self, beta, noise, cosines):
        self.functions, degrees, self.weights = harmonics(DEGREE, 2 * DEGREE)
        ratios = ive(degrees + 0.5, beta) / ive(0.5, beta)
        self.ratios = np.where(degrees > 0, ratios, 0.0)
        # Orders beside which a sine stands: those of the orthonormal harmonics of degrees 1 and 2.
        rows = {1: 1, 2: 2, 3: 4, 4: 5, 5: 7}
        potential = sum(
            cosines[place] * self.functions[row] / np.sqrt(2.0 * degrees[row] + 1.0) for place, row in rows.items()
        )
        self.field = np.exp(-potential / noise)
        self.beta, self.noise = beta, noise

    def __call__(self, coupling, moments):
        """Return the means of the density of some moments, and their derivatives in them."""
        u = 1.0 + (self.ratios * moments) @ self.functions
        exponent = coupling / (self.beta * self.noise)
        masses = self.weights * self.field * u**exponent
        masses /= masses.sum()
        means = self.functions @ masses
        response = masses / u
        second = (self.functions * response) @ self.functions.T - np.outer(means, self.functions @ response)
        return means, exponent * second * self.ratios


def dense_at(name, value):
    """Return the dense map at a value of a parameter of the problem."""
    beta, noise, cosines = 3.0, 1.0, list(COSINES)
    if name == "beta":
        beta = value
    elif name == "noise":
        noise = value
    else:
        cosines[5] = value
    return DenseMap(beta, noise, cosines)


def orthonormal(cosine, sine):
    """Return packed moments as those with the orthonormal harmonics of the dense map."""
    found, place = [], 0
    for degree in range(DEGREE + 1):
        for order in range(degree + 1):
            pair = (cosine[place], sine[place]) if place < cosine.size else (0.0, 0.0)
            found += [np.sqrt(2 * degree + 1) * moment for moment in pair[: 2 if order else 1]]
            place += 1
    return np.array(found)


@pytest.mark.parametrize("name", INTERVALS)
@pytest.mark.parametrize("kind", ["fold", "branch point"])
def test_points_are_states_of_the_dense_map_with_a_neutral_direction(kind, name):
    found = curve(event(kind), name, INTERVALS[name])
    assert found.label == f"{kind} of the C_2v"
    assert not found.warnings
    np.testing.assert_array_equal(np.sort(found.first[[0, -1]]), INTERVALS[name])
    for row in (0, -1):
        value, coupling = found.values[row]
        moments = orthonormal(found.cosine[row], found.sine[row])
        dense = dense_at(name, value)
        means, slopes = dense(coupling, moments)
        np.testing.assert_allclose(means, moments, rtol=0.0, atol=ROUNDING)
        values, left, right = eig(slopes, left=True)
        critical = int(np.argmin(np.abs(values - 1.0)))
        assert abs(values[critical] - 1.0) < POINT
        # Off its neutral direction no other is near.
        assert np.sort(np.abs(values - 1.0))[1] > 1e-3
        broken = np.abs(right[:, critical])[np.abs(moments) > ROUNDING].max()
        assert (broken > 1e-3) == (kind == "fold")
        if kind == "fold":
            assert found.slope[row] == pytest.approx(
                _slope(name, value, coupling, moments, left[:, critical]), rel=SLOPE
            )


def _slope(name, value, coupling, moments, left):
    """Return the slope of a fold curve: the left null vector takes the change of the means to zero."""
    step = 1e-3

    def difference(change):
        steps = np.array([-2, -1, 1, 2]) * step
        # Central differences of fourth order of means of size one.
        weights = np.array([1.0, -8.0, 8.0, -1.0]) / (12.0 * step)
        return sum(weight * (left.conj() @ change(each)) for weight, each in zip(weights, steps, strict=True))

    in_parameter = difference(lambda each: dense_at(name, value + each * value)(coupling, moments)[0]) / value
    in_coupling = difference(lambda each: dense_at(name, value)(coupling + each * coupling, moments)[0]) / coupling
    return float((-in_parameter / in_coupling).real)


def test_on_the_circle_folds_are_those_of_diagrams():
    field = External.from_expression("h*(cos(t) + 0.6*sin(2*t + 0.2))", h=0.1)
    problem = ContinuityEquation(Circle(), SoftmaxAttention(6.0), confinement=field)
    folds = bifurcation_diagram(problem, (7.0, 12.0), rates=False, search=True).events("fold")
    assert len(folds) == 3
    for name, value in (("beta", 6.5), ("noise", 1.1), ("confinement_h", 0.07)):
        there = bifurcation_diagram(problem.with_parameter(name, value), (7.0, 13.0), rates=False, search=True)
        exact = np.array([float(each.coupling) for each in there.events("fold")])
        own = problem.parameters[name]
        for start in folds:
            found = curve(start, name, (min(own, value), max(own, value)))
            coupling = found.coupling[int(np.argmin(np.abs(found.first - value)))]
            assert np.abs(exact / coupling - 1.0).min() < POINT


def test_a_phase_diagram_has_the_branch_point_at_which_the_reflection_is_lost():
    found = phase_diagram(PROBLEM, ("beta", (2.8, 3.2)), coupling=(4.0, 4.8))
    (line,) = found.curves
    assert line.label == "branch point of the C_2v"
    assert {(region.minimiser, region.agrees) for region in found.regions} == {("C_s", True), ("primary", True)}


def test_laws_without_a_gibbs_map_are_refused_in_such_a_field():
    problem = ContinuityEquation(Sphere(3), NormalisedAttention(3.0), confinement=HarmonicSeries(cosine=COSINES))
    with pytest.raises(InvalidInput, match="need a Gibbs map"):
        bifurcation_diagram(problem, (4.2, 5.0), rates=False)
