"""Closed forms of the uniform branch in a second parameter against high precision, identities and brute force."""

import math

import numpy as np
import pytest

from meanfield import (
    Circle,
    CosineSeries,
    Custom,
    GegenbauerSeries,
    HegselmannKrause,
    InvalidInput,
    McKeanVlasov,
    Potential,
    Sphere,
    Transformer,
    branch_shape,
    continuous_radius,
    critical_couplings,
)
from meanfield.theory import mode_interactions, tricritical_points, unresolved_points

EPS = float(np.finfo(float).eps)


@pytest.mark.parametrize("domain", [Circle(), Sphere(3), Sphere(16)], ids=str)
def test_the_transformer_is_tricritical_at_the_root_of_a_ratio_of_bessel_functions(domain):
    mpmath = pytest.importorskip("mpmath")
    d = domain.dimension
    found = tricritical_points(McKeanVlasov(domain, Transformer(beta=1.0)), "beta", (0.5, 5.0), (1, 2))
    with mpmath.workdps(30):
        ratio = lambda beta: mpmath.besseli(d / 2 + 1, beta) / mpmath.besseli(d / 2, beta) - mpmath.mpf(1) / d  # noqa: E731
        exact = mpmath.findroot(ratio, (1.0, 3.0), solver="anderson")
        coupling = exact ** (d / 2) / (2 ** (d / 2 - 1) * mpmath.gamma(d / 2) * mpmath.besseli(d / 2, exact))
    (point,) = found
    assert point.modes == (1,)
    assert point.lower <= exact <= point.upper
    # The quotient of two multipliers, each with a few roundings, over its slope in log beta, which is about one.
    assert abs(point.value - exact) <= 32 * EPS * exact
    assert abs(point.coupling - coupling) <= 64 * EPS * coupling


def test_every_mode_of_the_rod_of_confidence_is_tricritical_at_a_radius_of_its_own():
    problem = McKeanVlasov(Circle(), HegselmannKrause(radius=1.0))
    found = tricritical_points(problem, "radius", (0.1, 3.1), range(1, 9))
    exact = continuous_radius()
    # The branch of mode n is that of mode 1 at n times the radius, as the threshold w_2n/w_n = 1/2 says.
    for point in found:
        (n,) = point.modes
        if point.value * n < math.pi:
            assert abs(point.value * n - exact) <= 64 * EPS * exact
    assert {point.modes[0] for point in found if point.value * point.modes[0] < math.pi} == set(range(1, 9))


def test_the_curvature_changes_its_sign_at_every_tricritical_point_and_nowhere_else():
    rng = np.random.default_rng(20)
    for trial in range(4):
        sphere = trial % 2 == 1
        w = rng.uniform(-1.0, 0.3, 6)
        w[0] = -abs(w[0]) - 0.1
        potential = GegenbauerSeries(w, 3) if sphere else CosineSeries(w)
        problem = McKeanVlasov(Sphere(3) if sphere else Circle(), potential)
        n, name = ((1, "w2"), (3, "w4"))[trial % 4 // 2] if sphere else ((1, "w2"), (2, "w4"))[trial % 4 // 2]
        points = [point.value for point in tricritical_points(problem, name, (-2.0, 2.0), (n,))]
        grid = np.linspace(-2.0, 2.0, 801)
        moved = [problem.with_parameter(name, p) for p in grid]
        curvature = np.array([branch_shape(each, n).curvature for each in moved])
        # The curvature has poles as well, where a degree slaved to n is critical with it.
        slaved = np.array([1.0 / critical_couplings(each, 2 * n)[1:] for each in moved])
        apart = np.prod(slaved[:, 1::2] - slaved[:, n - 1 : n], axis=1)
        if not sphere:
            apart = slaved[:, 2 * n - 1] - slaved[:, n - 1]
        through = (curvature[:-1] * curvature[1:] < 0.0) & (apart[:-1] * apart[1:] > 0.0)
        assert len(points) == np.count_nonzero(through), (trial, points, grid[:-1][through])
        for point, place in zip(points, grid[:-1][through], strict=True):
            assert place <= point <= place + grid[1] - grid[0]


def test_thresholds_cross_at_mode_interactions():
    problem = McKeanVlasov(Circle(), HegselmannKrause(radius=1.0) + CosineSeries([0.0, 0.0, -0.05]))
    name = next(name for name in problem.parameters if name.endswith("radius"))
    found = mode_interactions(problem, name, (0.3, 3.0), (1, 2, 3))
    grid = np.linspace(0.3, 3.0, 2001)
    strengths = np.array([1.0 / critical_couplings(problem.with_parameter(name, p), 3)[1:] for p in grid])
    for first, second in ((1, 2), (1, 3), (2, 3)):
        difference = strengths[:, first - 1] - strengths[:, second - 1]
        assert np.count_nonzero(difference[:-1] * difference[1:] < 0.0) == sum(
            point.modes == (first, second) for point in found
        )
    assert found
    for point in found:
        couplings = critical_couplings(problem.with_parameter(name, point.value), 3)[list(point.modes)]
        assert abs(couplings[0] - couplings[1]) <= 64 * EPS * abs(couplings[0])
        assert point.lower <= point.value <= point.upper <= point.value + 64 * EPS * point.value


class Dip(Potential):
    """W with w_2 = (-1 + (a - 0.3)^2 - 1e-4) / 2: its branch is tricritical at a = 0.3 +- 0.01 and nowhere else."""

    name, formula = "dip", "-cos t + w_2(a) cos 2t"

    def __init__(self, a):
        self.a = float(a)

    def parameters(self):
        return {"a": self.a}

    def multipliers(self, domain, degree):
        return np.array([0.0, -1.0, ((self.a - 0.3) ** 2 - 1.0 - 1e-4) / 2, *np.zeros(degree)])[: degree + 1]

    def tail_bound(self, domain, degree):
        return float(np.abs(self.multipliers(domain, 2)[degree + 1 :]).max(initial=0.0))

    def values(self, angle):
        return np.cos(np.multiply.outer(np.asarray(angle), np.arange(3))) @ self.multipliers(Circle(), 2)

    def slope(self, angle):
        degrees = np.arange(3)
        return -np.sin(np.multiply.outer(np.asarray(angle), degrees)) @ (degrees * self.multipliers(Circle(), 2))


def test_two_roots_between_samples_are_both_found():
    found = tricritical_points(McKeanVlasov(Circle(), Dip(1.0)), "a", (0.0, 2.0), (1,))
    # The excess has the slope 0.02 at the roots and an error of a few roundings.
    assert [point.value for point in found] == pytest.approx([0.29, 0.31], abs=64 * EPS / 0.02)


def test_what_values_do_not_resolve_is_named():
    # w_k = sin(k R)/k and the like: between 2049 radii from 0.1 to 3.1 the phase of w_1000 changes by 1.5.
    problem = McKeanVlasov(Circle(), HegselmannKrause(radius=1.0))
    assert (1000,) in unresolved_points(problem, "radius", (0.1, 3.1), (1, 1000))
    assert unresolved_points(problem, "radius", (1.0, 1.01), (1, 1000)) == []
    assert unresolved_points(problem, "radius", (0.1, 3.1), (1, 2)) == []


@pytest.mark.parametrize(
    ("domain", "weights", "parameter", "interval"),
    [
        (Circle(), (-0.45, -0.6), "w1", (-0.854, -0.3)),
        (Circle(), (-0.69, 0.2), "w2", (-0.323, 0.815)),
        (Sphere(3), (-0.45, -0.6, -0.5), "w1", (-0.854, -0.3)),
    ],
)
def test_multipliers_that_are_linear_are_resolved_where_another_becomes_the_largest(
    domain, weights, parameter, interval
):
    series = CosineSeries(weights) if domain == Circle() else GegenbauerSeries(weights, domain.dimension)
    assert unresolved_points(McKeanVlasov(domain, series), parameter, interval, (1, 2, 3)) == []


@pytest.mark.parametrize("zero", [0.0, 0.25, 0.3711])
@pytest.mark.parametrize("interval", [(-1.0, 1.0), (-0.7, 1.3), (0.0, 1.5), (-1.3, 0.25)])
def test_where_the_whole_potential_vanishes_there_is_no_organising_point(zero, interval):
    shape = "(-cos(t)+(b-0.7)*cos(2*t)+(0.4+b**2)*cos(3*t)-0.2*cos(4*t))"
    plain, scaled = (
        McKeanVlasov(Circle(), Custom.from_expression(formula, b=1.0)) for formula in (shape, f"(b-{zero})*{shape}")
    )
    modes = (1, 2, 3)
    for function in (tricritical_points, mode_interactions):
        known = [(point.modes, point.value) for point in function(plain, "b", interval, modes)]
        found = [(point.modes, point.value) for point in function(scaled, "b", interval, modes)]
        assert [each[0] for each in found] == [each[0] for each in known]
        assert [each[1] for each in found] == pytest.approx([each[1] for each in known], rel=1e-12, abs=1e-12)
    assert unresolved_points(scaled, "b", interval, modes) == unresolved_points(plain, "b", interval, modes)


@pytest.mark.parametrize("interval", [(-2.0, 3.0), (-2.0, 2.0), (0.0, 3.0), (-3.0, 0.0)])
def test_the_strength_of_a_single_mode_has_no_organising_points(interval):
    for problem, name in (
        (McKeanVlasov(Circle(), CosineSeries((-1.0,))), "w1"),
        (McKeanVlasov(Circle(), Custom.from_expression("-b*cos(t)", b=1.0)), "b"),
        (McKeanVlasov(Sphere(3), GegenbauerSeries((-1.0,), 3)), "w1"),
    ):
        assert tricritical_points(problem, name, interval, (1,)) == []
        assert unresolved_points(problem, name, interval, (1,)) == []


@pytest.mark.parametrize("pole", [0.3, 0.31])
def test_a_pole_of_a_multiplier_is_no_organising_point(pole):
    formula = f"-cos(t)/(b-{pole})-0.5*cos(2*t)-0.1*cos(3*t)"
    problem = McKeanVlasov(Circle(), Custom.from_expression(formula, b=4.0))
    # w_1 = w_2 two beyond the pole, and w_2 = w_1 / 2 one beyond it.
    (crossed,) = mode_interactions(problem, "b", (0.0, 5.0), (1, 2, 3))
    (turned,) = tricritical_points(problem, "b", (0.0, 5.0), (1, 2, 3))
    assert [crossed.modes, crossed.value] == [(1, 2), pytest.approx(pole + 2.0, rel=1e-12)]
    assert [turned.modes, turned.value] == [(1,), pytest.approx(pole + 1.0, rel=1e-12)]


def test_the_widest_interval_does_not_hide_a_root():
    problem = McKeanVlasov(Circle(), CosineSeries((-1.0, -0.4)))
    (point,) = mode_interactions(problem, "w2", (-1e99, 0.7e99), (1, 2))
    assert point.value == pytest.approx(-1.0, rel=1e-12)


def test_nonsense_is_refused_in_a_sentence():
    problem = McKeanVlasov(Circle(), Transformer(beta=1.0))
    with pytest.raises(InvalidInput, match="beta"):
        tricritical_points(problem, "bta", (1.0, 2.0), (1,))
    with pytest.raises(InvalidInput, match="increasing"):
        mode_interactions(problem, "beta", (2.0, 1.0), (1, 2))
    with pytest.raises(InvalidInput, match="radius"):
        tricritical_points(McKeanVlasov(Circle(), HegselmannKrause(radius=1.0)), "radius", (-1.0, 2.0), (1,))
