"""Curves of special points, and diagrams along a parameter, in confinements of the circle with kinks.

States are compared with integrals by Gauss rules between the kinks, of the potential and the confinement themselves.
"""

import functools
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from meanfield import (
    Circle,
    CosineSeries,
    External,
    HegselmannKrause,
    Kuramoto,
    Logarithmic,
    McKeanVlasov,
    NotResolved,
    Perceptron,
    Sphere,
    Transformer,
)
from solvers import bifurcation_diagram, curve, phase_diagram
from solvers.bases.boltzmann import boltzmann_factor
from solvers.parameters.factors import FactorAlong

# Degrees of the potential, all that are above rounding, and kinks of each confinement.
LAST = 40
ALONG = McKeanVlasov(Circle(), Transformer(4.0), confinement=Perceptron((1.0,), (0.0,), "relu"))
BETWEEN = McKeanVlasov(Circle(), Transformer(4.0), confinement=Perceptron((1.0, 1.0), (1.2, -1.2), "relu"))
ACROSS = McKeanVlasov(Circle(), Transformer(4.0), confinement=Perceptron((1.0, 0.6), (0.3, 2.0), "relu"))
TENT = McKeanVlasov(Circle(), CosineSeries((-1.0, -0.5, -0.6)), confinement=External("0.3*Abs(sin(t))"))
ALONE = McKeanVlasov(Circle(), Kuramoto(), confinement=External("0.3*Abs(sin(t))"))
KINKS = {
    ALONG: (-0.5 * np.pi, 0.5 * np.pi),
    BETWEEN: (1.2 - 0.5 * np.pi, 1.2 + 0.5 * np.pi, -1.2 - 0.5 * np.pi, -1.2 + 0.5 * np.pi),
    ACROSS: (0.3 - 0.5 * np.pi, 0.3 + 0.5 * np.pi, 2.0 - 0.5 * np.pi, 2.0 + 0.5 * np.pi),
    TENT: (0.0, np.pi),
    ALONE: (0.0, np.pi),
}
STARTS = {ALONG: (0.5, 2.0), BETWEEN: (0.5, 3.0), ACROSS: (0.5, 2.0), TENT: (1.5, 4.0), ALONE: (1.5, 2.5)}
# Roundings of moments of densities at which a direction is neutral, and of points in the coupling.
ROUNDING, LOCATED = 1e-13, 1e-12


class Dense:
    """A state at its moments, by Gauss rules between kinks: residual, Jacobian in all moments, and free energy."""

    def __init__(self, problem, kinks, cosine, sine):
        edges = np.unique(np.mod(np.concatenate([[0.0], kinks]), 2.0 * np.pi))
        edges = np.concatenate([edges, [2.0 * np.pi]])
        edges = np.concatenate([np.linspace(low, high, 9)[:-1] for low, high in pairwise(edges)] + [edges[-1:]])
        points, weights = np.polynomial.legendre.leggauss(24)
        half = 0.5 * np.diff(edges)
        self.angles = (edges[:-1, None] + half[:, None] * (1.0 + points)).ravel()
        weights = (half[:, None] * weights).ravel() / (2.0 * np.pi)
        degrees = np.arange(1, LAST + 1)
        phases = np.multiply.outer(degrees, self.angles)
        self.modes = np.concatenate([np.cos(phases), np.sin(phases)])
        multipliers = np.asarray(problem.potential.multipliers(Circle(), LAST), dtype=float)[1:]
        self.noise = float(problem.noise)
        self.strengths = -float(problem.coupling) / self.noise * np.tile(multipliers, 2)
        moments = np.zeros((2, LAST))
        for row, given in zip(moments, (cosine, sine), strict=True):
            known = np.asarray(given)[1 : LAST + 1]
            row[: known.size] = known
        self.moments = moments.ravel()
        self.confining = np.asarray(problem.confinement.values(self.angles), dtype=float)
        field = (self.strengths * self.moments) @ self.modes - self.confining / self.noise
        masses = weights * np.exp(field - field.max())
        self.density = masses / masses.sum()
        self.means = self.modes @ self.density
        self.log_mass = float(np.log(masses.sum()) + field.max())

    @property
    def residual(self):
        return float(np.abs(np.where(self.strengths, self.moments - self.means, 0.0)).max())

    def covariance(self, values):
        return self.modes @ (self.density * values) - self.means * float(self.density @ values)

    @property
    def jacobian(self):
        second = (self.modes * self.density) @ self.modes.T - np.multiply.outer(self.means, self.means)
        return np.eye(2 * LAST) - second * self.strengths

    @property
    def energy(self):
        return 0.5 * float(self.strengths @ self.moments**2) - self.log_mass

    def fold_slope(self, change):
        """Return the derivative of the coupling over it, by that of the field in the other parameter."""
        left = np.linalg.svd(self.jacobian)[0][:, -1]
        of_coupling = self.covariance((self.strengths * self.moments) @ self.modes)
        return -float(left @ self.covariance(change)) / float(left @ of_coupling)


def assert_singular(problem, point):
    """Check a point of a curve by integrals between the kinks, and return what these give."""
    dense = Dense(point.problem, KINKS[problem], point.cosine, point.sine)
    assert dense.residual <= ROUNDING
    sizes = np.linalg.svd(dense.jacobian)[1]
    assert sizes[-1] <= LOCATED * sizes[0]
    return dense


def events(problem, kind):
    diagram = _diagram(problem)
    found = diagram.events(kind)
    assert found, kind
    return found


@functools.cache
def _diagram(problem):
    return bifurcation_diagram(problem, STARTS[problem], rates=False, search=True)


CASES = [
    (ALONG, "beta", (3.0, 5.0)),
    (ALONG, "noise", (0.85, 1.2)),
    (ALONG, "confinement_weights1", (0.6, 1.4)),
    (BETWEEN, "noise", (0.85, 1.2)),
    (ACROSS, "beta", (3.6, 4.5)),
    (ACROSS, "noise", (0.9, 1.15)),
    (ACROSS, "confinement_weights2", (0.45, 0.8)),
    (TENT, "w2", (-0.55, -0.48)),
    (TENT, "noise", (0.95, 1.05)),
    (TENT, "confinement_external_factor", (0.9, 1.1)),
]


@pytest.mark.parametrize(("problem", "parameter", "interval"), CASES)
def test_folds_are_those_of_dense_integrals(problem, parameter, interval):
    folds = curve(events(problem, "fold")[0], parameter, interval)
    assert min(folds.values[:, 0]) == interval[0]
    assert max(folds.values[:, 0]) == interval[1]
    for place in range(0, len(folds), 4):
        point = folds.point(place)
        dense = assert_singular(problem, point)
        if parameter == "noise":
            change = (
                -((dense.strengths * dense.moments) @ dense.modes - dense.confining / dense.noise) / dense.noise
            )
            along, across = folds.tangent[place]
            slope = float(point.problem.coupling) * dense.fold_slope(change)
            assert across / along == pytest.approx(slope, rel=1e-9)


@pytest.mark.parametrize("parameter", ["w2", "noise", "confinement_external_factor"])
def test_states_of_a_line_have_one_free_energy(parameter):
    interval = (-0.55, -0.49) if parameter == "w2" else (0.98, 1.02)
    line = curve(events(TENT, "transition")[0], parameter, interval)
    for place in range(0, len(line), 3):
        point = line.point(place)
        one, other = (
            Dense(point.problem, KINKS[TENT], *pair)
            for pair in ((point.cosine, point.sine), (point.other_cosine, point.other_sine))
        )
        assert max(one.residual, other.residual) <= ROUNDING
        assert one.energy == pytest.approx(other.energy, abs=1e-13)
        assert np.abs(one.moments - other.moments).max() > 1e-2


@pytest.mark.parametrize(
    ("problem", "parameter", "interval"),
    [(BETWEEN, "noise", (0.9, 1.1)), (TENT, "w2", (-0.6, -0.4)), (ALONE, "noise", (0.9, 1.1))],
)
def test_branch_points_are_those_of_dense_integrals(problem, parameter, interval):
    found = curve(events(problem, "branch point")[0], parameter, interval)
    for place in range(0, len(found), 4):
        assert_singular(problem, found.point(place))


def test_a_tricritical_point_is_where_the_folds_end():
    starts = {kind: events(TENT, kind)[0] for kind in ("branch point", "fold", "transition")}
    places = []
    for kind, name in (("branch point", "tricritical"), ("fold", "tricritical"), ("transition", "end point")):
        points = [each for each in curve(starts[kind], "w2", (-0.6, -0.4)).special_points if each.type == name]
        places.append(min((each.values for each in points), key=lambda each: each[0]))
    for other in places[1:]:
        assert other == pytest.approx(places[0], rel=LOCATED)


@pytest.mark.parametrize(
    ("problem", "parameter", "interval", "value"),
    [
        (ALONG, "noise", (0.9, 1.2), 1.1),
        (ALONG, "confinement_weights1", (0.8, 1.4), 1.2),
        (ACROSS, "noise", (0.9, 1.2), 1.1),
        (TENT, "confinement_external_factor", (0.8, 1.2), 1.1),
    ],
)
def test_diagrams_along_a_parameter_meet_those_in_the_coupling(problem, parameter, interval, value):
    there = problem.with_parameter(parameter, value)
    expected = bifurcation_diagram(there, STARTS[problem], rates=False, search=True).events("fold")[0]
    diagram = bifurcation_diagram(
        there.at(coupling=expected.coupling), interval, parameter=parameter, rates=False, search=True
    )
    found = min((each.value for each in diagram.events("fold")), key=lambda each: abs(each - value))
    assert found == pytest.approx(value, rel=1e-11)


@pytest.mark.parametrize("parameter", ["confinement_weights2"])
def test_derivatives_of_moments_along_branches_are_those_of_the_moments(parameter):
    diagram = bifurcation_diagram(ACROSS.at(coupling=0.6), (0.55, 0.75), parameter=parameter, rates=False)
    for branch in diagram.branches:
        tangents, steps = branch.tangent_cosine[:, :6], np.diff(branch.arclength)[:, None]
        quotients = np.diff(branch.cosine[:, :6], axis=0) / steps
        # The mean of the derivatives at two points is as near to that between as they are to each other.
        change = np.abs(np.diff(tangents, axis=0)).max(axis=1, keepdims=True) + 1e-8
        assert (np.abs(quotients - 0.5 * (tangents[1:] + tangents[:-1])) <= change).all()
        assert np.abs(quotients).max() > 0.01


@pytest.mark.parametrize(
    ("problem", "name", "values"),
    [(ALONG, "noise", (0.3, 0.8, 2.0)), (ACROSS, "confinement_weights1", (-0.4, 0.013, 1.7))],
)
def test_interpolated_factors_are_those_that_are_integrated(problem, name, values):
    def moments(factor):
        whole = factor.moments.copy()
        whole[0] += factor.offset
        return whole * np.exp(factor.shift)

    def problem_at(value):
        return problem.at(coupling=1.0).with_parameter(name, float(value))

    factor = FactorAlong(problem_at, name, 1.0)
    step = 2e-3
    for value in values:
        found, expected = factor.at(value, 1), moments(boltzmann_factor(problem_at(value), 1, 2048))
        assert moments(found) == pytest.approx(expected, abs=1e-13 * expected[0].real)
        # Differences of the sixth order.
        ahead = [
            weight
            * (
                moments(boltzmann_factor(problem_at(value + share * step), 1, 2048))
                - moments(boltzmann_factor(problem_at(value - share * step), 1, 2048))
            )
            for share, weight in ((1, 45.0), (2, -9.0), (3, 1.0))
        ]
        slope = sum(ahead) / (60.0 * step)
        scale = np.abs(slope).max()
        assert found.slope * np.exp(found.shift) == pytest.approx(slope, abs=1e-9 * scale)


@pytest.mark.parametrize(
    ("problem", "over", "couplings"),
    [(BETWEEN, ("noise", (0.8, 1.2)), (0.3, 2.0)), (TENT, ("w2", (-0.6, -0.47)), (1.2, 2.2))],
)
def test_phase_diagrams_beside_kinks_agree_with_searches(problem, over, couplings):
    found = phase_diagram(problem, over, coupling=couplings, sections=2)
    assert len(found.regions) > 1
    assert all(region.agrees for region in found.regions)
    # What is said of all phase diagrams without a search in between.
    assert len(found.warnings) == 1


TENTS = McKeanVlasov(Circle(), Transformer(6.0), confinement=0.05 * HegselmannKrause(1.0))
WAVE = External("0.3*cos(t)")
STRENGTH = "confinement_hegselmann_krause_factor"


@pytest.mark.parametrize(
    ("problem", "parameter", "interval", "couplings"),
    [
        # The strength passes zero, or is tiny.
        (ALONG, "confinement_weights1", (-1.0, 1.1), (0.5, 2.0)),
        (TENTS, STRENGTH, (-0.05, 0.06), (0.01, 0.2)),
        (TENTS.with_parameter(STRENGTH, 1e-6), STRENGTH, (-0.02, 0.05), (0.01, 0.2)),
        # A confinement that is smooth at the start only.
        (
            TENTS.replace(confinement=WAVE + Perceptron((0.0,), (0.5,), "relu")),
            "confinement_weights1",
            (-0.1, 0.1),
            (0.01, 0.3),
        ),
        # An interval in which the factor changes fast beside its length.
        (ALONG, "noise", (0.5, 1000.0), (0.5, 2.0)),
        (TENT.replace(confinement=0.2 * Logarithmic()), "noise", (0.9, 1.1), (1.5, 3.0)),
    ],
)
def test_folds_through_a_vanishing_strength_and_over_wide_intervals(problem, parameter, interval, couplings):
    (start, *_) = bifurcation_diagram(problem, couplings, rates=False, search=True).events("fold")
    folds = curve(start, parameter, interval)
    assert sorted(folds.values[[0, -1], 0].tolist()) == pytest.approx(interval)
    point = folds.point(len(folds) // 5)
    coupling = float(point.coupling)
    found = bifurcation_diagram(point.problem, (0.9 * coupling, 1.1 * coupling), rates=False, search=True)
    assert min(abs(float(each.coupling) / coupling - 1.0) for each in found.events("fold")) <= LOCATED


@pytest.mark.parametrize("interval", [(0.0, 0.1), (-0.1, 0.0), (1e-9, 0.1)])
def test_diagrams_begin_and_end_at_no_strength(interval):
    """At no strength, where states stand in all directions, as near as branches are located: 1e-10 of the interval."""
    diagram = bifurcation_diagram(TENTS.at(coupling=0.09), interval, parameter=STRENGTH, rates=False)
    ends = np.array([branch.values[[0, -1]] for branch in diagram.branches]).ravel()
    for end in interval:
        beside = 0.0 if end else 1.0001e-10 * (interval[1] - interval[0])
        assert np.abs(ends - end).min() <= beside


def test_a_phase_diagram_through_no_strength_agrees_with_searches():
    found = phase_diagram(TENT, ("confinement_external_factor", (-0.5, 0.5)), coupling=(1.5, 2.3), sections=2)
    assert len(found.regions) > 4
    assert all(region.agrees for region in found.regions)
    assert len(found.warnings) == 1


def test_what_is_not_followed_is_refused_in_a_sentence():
    with pytest.raises(NotResolved, match="a kink that may move with it"):
        curve(events(ALONG, "fold")[0], "confinement_angles1", (-0.1, 0.1))
    with pytest.raises(NotResolved, match="both change a confinement with a kink"):
        curve(events(ALONG, "fold")[0], "noise", (0.9, 1.1), against="confinement_weights1")
    (start, *_) = bifurcation_diagram(TENTS, (0.0, 0.12), rates=False, depth=1).events("fold")
    assert len(curve(start, "beta", (5.0, 7.0))) > 2
    with pytest.raises(NotResolved, match="a kink that may move with it"):
        curve(start, "confinement_radius", (0.9, 1.1))
    neurons = McKeanVlasov(Sphere(3), Transformer(4.0), confinement=Perceptron((1.0,), (0.0,), "relu"))
    fold = replace(events(ALONG, "fold")[0], problem=neurons, domain=Sphere(3))
    with pytest.raises(NotResolved, match="on spheres"):
        curve(fold, "beta", (3.5, 4.5))
