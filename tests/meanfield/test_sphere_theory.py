import functools
import json

import mpmath as mp
import numpy as np
import pytest

from meanfield import (
    Circle,
    CosineSeries,
    GegenbauerSeries,
    InvalidInput,
    Kuramoto,
    Logarithmic,
    MaierSaupe,
    Onsager,
    Sphere,
    Transformer,
    theory,
)
from meanfield.cli import main
from meanfield.theory.spheres import squared_polynomial
from tests import problems
from tests.problems import on_sphere
from tests.zonal_states import polar_rule, zonal_polynomial

EPS = float(np.finfo(float).eps)


# Thresholds


def test_thresholds_count_harmonics():
    at = on_sphere(Kuramoto(), 7, noise=0.3)
    assert theory.critical_coupling(at) == pytest.approx(7 * 0.3, rel=2 * EPS)
    couplings = theory.critical_couplings(on_sphere(MaierSaupe(), 5), 3)
    assert couplings.tolist() == [np.inf, np.inf, pytest.approx(5 * 7 / 2, rel=2 * EPS), np.inf]
    points = theory.critical_modes(on_sphere(Onsager()), 0.0, 100.0)
    assert [point.modes for point in points] == [(2,), (4,)]
    assert [point.kernel_dimension for point in points] == [5, 9]
    assert [point.coupling * np.pi for point in points] == pytest.approx([32, 256], rel=8 * EPS)


def test_coincident_degrees_share_a_point():
    at = on_sphere(GegenbauerSeries((-3.0, -5.0, 0.0, 2.0)))
    (point,) = theory.critical_modes(at, 0.0, 10.0)
    assert (point.coupling, point.modes, point.kernel_dimension) == (1.0, (1, 2), 3 + 5)
    below = theory.critical_modes(at, -10.0, 0.0)
    assert [(p.modes, p.kernel_dimension) for p in below] == [((4,), 9)]


@pytest.mark.parametrize("dimension", [3, 8, 24, 128])
def test_the_first_threshold_is_that_of_the_largest_eigenvalue(dimension):
    # The multiplier of degree 1 is far from the largest here, its eigenvalue is.
    at = on_sphere(Transformer(9.0), dimension)
    assert np.argmin(at.potential.multipliers(at.domain, 40)) > 1
    first = theory.critical_couplings(at, 40)[1]
    assert theory.critical_coupling(at) == first == theory.critical_couplings(at, 40)[1:].min()
    with mp.workdps(30):
        half, beta = mp.mpf(dimension) / 2, mp.mpf(9)
        exact = beta**half / (2 ** (half - 1) * mp.gamma(half) * mp.besseli(half, beta))
        assert abs(mp.mpf(float(first)) / exact - 1) <= 8 * EPS


def test_growth_rates_vanish_at_the_threshold_and_diffuse_without_coupling():
    at = on_sphere(Transformer(2.0), 6, noise=0.7)
    free = theory.growth_rates(at.at(coupling=0.0), 4)
    assert free == pytest.approx([-0.7 * k * (k + 4) for k in range(5)], rel=4 * EPS)
    for degree in (1, 2, 3):
        critical = float(theory.critical_couplings(at, degree)[degree])
        rates = theory.growth_rates(at.at(coupling=critical), 4)
        assert abs(rates[degree]) <= 4 * EPS * abs(free[degree])


# Shapes of branches


def branch_ratio(dimension, w, degree, amplitude):
    """kappa/kappa_l of the zonal branch where p_l = amplitude, by Newton on the fixed point p = <P e^V>/Z."""
    nodes, weights = polar_rule(dimension)
    active = [k for k, value in enumerate(w, start=1) if value]
    tables = {k: [zonal_polynomial(k, dimension, u) for u in nodes] for k in {*active, degree}}
    numbers = {k: Sphere(dimension).multiplicity(k) for k in active}
    threshold = -mp.mpf(numbers[degree]) / mp.mpf(w[degree - 1])
    others = [k for k in active if k != degree]

    def defect(*unknown):
        p = dict(zip(others, unknown[1:], strict=True)) | {degree: amplitude}
        terms = {k: -unknown[0] * threshold * mp.mpf(w[k - 1]) * p[k] for k in active}
        density = [c * mp.exp(mp.fsum(terms[k] * tables[k][j] for k in active)) for j, c in enumerate(weights)]
        mass = mp.fsum(density)
        return [
            mp.fsum(f * v for f, v in zip(density, tables[k], strict=True)) / mass - p[k] for k in [degree, *others]
        ]

    start = [mp.mpf(1)] + [mp.mpf(0)] * len(others)
    if len(start) == 1:
        return mp.findroot(lambda x: defect(x)[0], start[0])
    return mp.findroot(defect, start)[0]


PITCHFORKS = [
    (3, (-1.0, -0.3), 1),
    (8, (-1.0, 0.7), 1),
    (3, (0.0, 0.0, -1.0), 3),
    (3, (0.0, -0.3, -1.0, 0.4, 0.0, -0.2), 3),
    (5, (0.0, -0.1, -1.0, 0.4, 0.0, -0.2), 3),
]


@pytest.mark.parametrize(("dimension", "w", "degree"), PITCHFORKS)
def test_curvature_of_odd_branches(dimension, w, degree):
    shape = theory.branch_shape(on_sphere(GegenbauerSeries(w, dimension), dimension), degree)
    with mp.workdps(30):
        # kappa/kappa_l - 1 = b1 x + b2 x^2 in x = p_l^2: two amplitudes leave x^2.
        squares = [mp.mpf("1e-8"), mp.mpf("4e-8")]
        slopes = [(branch_ratio(dimension, w, degree, mp.sqrt(x)) - 1) / x for x in squares]
        expected = (4 * slopes[0] - slopes[1]) / 3
        assert shape.curvature == pytest.approx(float(expected), rel=1e-9)
    assert shape.type == ("supercritical" if expected > 0 else "subcritical")
    assert shape.slope is None


@pytest.mark.parametrize(
    ("dimension", "w", "degree"), [(3, (0.0, -1.0), 2), (8, (0.2, -1.0, 0.1), 2), (3, (0.0, -0.3, 0.0, -1.0), 4)]
)
def test_slope_of_even_branches(dimension, w, degree):
    shape = theory.branch_shape(on_sphere(GegenbauerSeries(w, dimension), dimension), degree)
    with mp.workdps(30):
        ratios = [branch_ratio(dimension, w, degree, sign * mp.mpf("1e-5")) for sign in (1, -1)]
        expected = (ratios[0] - ratios[1]) / mp.mpf("2e-5")
        # The difference of both sides is wrong by the third order only.
        assert shape.slope == pytest.approx(float(expected), rel=1e-8)
    assert shape.type == "transcritical"
    assert np.isnan(shape.curvature)


def test_closed_forms_of_slope_and_curvature():
    for dimension in (3, 4, 16, 64):
        slope = theory.branch_shape(on_sphere(MaierSaupe(), dimension), 2).slope
        assert slope == pytest.approx(-(dimension**2 - 4) / (dimension + 4), rel=4 * EPS)
        free = theory.branch_shape(on_sphere(Kuramoto(), dimension), 1)
        assert (free.type, free.curvature) == (
            "supercritical",
            pytest.approx(dimension / (dimension + 2), rel=8 * EPS),
        )
        shape = theory.branch_shape(on_sphere(Transformer(3.0), dimension), 1)
        expected = dimension / (dimension + 2) * (1 - dimension * shape.q) / (1 - shape.q)
        assert shape.curvature == pytest.approx(expected, rel=64 * EPS)


@pytest.mark.parametrize("dimension", [3, 6, 41])
@pytest.mark.parametrize("degree", [1, 2, 5])
def test_squares_of_polynomials(dimension, degree):
    coefficients = squared_polynomial(Sphere(dimension), degree)
    for u in (mp.mpf(-1), mp.mpf("0.3"), mp.mpf("0.9")):
        values = [zonal_polynomial(k, dimension, u) for k in range(2 * degree + 1)]
        total = mp.fsum(float(c) * v for c, v in zip(coefficients, values, strict=True))
        assert float(total - values[degree] ** 2) == pytest.approx(0, abs=16 * EPS)


def test_resonant_degrees_are_named():
    both = theory.branch_shape(on_sphere(GegenbauerSeries((-3.0, -5.0))), 1)
    assert (both.type, both.note) == (
        "transcritical",
        "degree 2 is critical too and gives the reduced energy a cubic term",
    )
    outside = theory.branch_shape(on_sphere(GegenbauerSeries((-3.0, 0.0, -7.0))), 1)
    assert (outside.type, outside.note) == ("supercritical", "degree 3 is critical too")
    assert theory.branch_shape(on_sphere(GegenbauerSeries((-3.0, -5.0))), 2).note == "degree 1 is critical too"
    with pytest.raises(InvalidInput, match="w_3 = 0"):
        theory.branch_shape(on_sphere(Kuramoto()), 3)


# Where the transition changes its kind


@pytest.mark.parametrize(
    ("dimension", "value"),
    [
        (3, 1.816154525435883),
        (4, 1.575257150092130),
        (8, 1.266553024520917),
        (16, 1.128971575483152),
        (64, 1.031494426247243),
    ],
)
def test_tricritical_beta(dimension, value):
    beta = theory.tricritical_beta(1, Sphere(dimension))
    assert beta == pytest.approx(value, rel=8 * EPS)
    below, above = (
        theory.branch_shape(on_sphere(Transformer(beta * factor), dimension), 1) for factor in (1 - 1e-9, 1 + 1e-9)
    )
    assert (below.type, above.type) == ("supercritical", "subcritical")
    assert theory.tricritical_beta(1, Circle()) == theory.tricritical_beta(1)


@pytest.mark.parametrize(
    ("potential", "dimension", "holds", "continuous", "words"),
    [
        (Transformer(1.0), 3, True, True, "continuous: uniform is the unique minimiser up to and at kappa_1"),
        (Transformer(3.0), 3, False, False, "discontinuous: the 1-branch is subcritical"),
        (Transformer(1.5), 16, False, False, "strictly below kappa_1"),
        (Transformer(-1.0), 3, None, None, "undecided: the 1-branch is supercritical"),
        (Kuramoto(), 9, True, True, "continuous"),
        (Onsager(), 3, False, False, "discontinuous: the 2-branch is transcritical"),
        (MaierSaupe(), 5, False, False, "discontinuous: the 2-branch is transcritical"),
        (Logarithmic(), 4, True, None, "a whole family of states"),
        (Logarithmic(-1), 3, None, None, "no degree attracts"),
        (GegenbauerSeries((-3.0, -5.0)), 3, False, False, "discontinuous: the 2-branch"),
    ],
)
def test_global_criterion(potential, dimension, holds, continuous, words):
    criterion = theory.global_criterion(on_sphere(potential, dimension))
    assert (criterion.holds, criterion.continuous) == (holds, continuous)
    assert words in criterion.statement


def test_statements_about_the_circle_are_refused():
    attractive = on_sphere(Logarithmic(), coupling=1.0)
    for call in (
        lambda: theory.resonance(on_sphere(CosineSeries((-1.0, -1.0))), 1, 2),
        lambda: theory.vertical_branches(attractive, 0.0, 9.0),
        lambda: theory.vertical_spectrum(attractive, 3),
    ):
        with pytest.raises(InvalidInput, match="belongs to the circle and does not apply on the sphere"):
            call()
    with pytest.raises(InvalidInput, match="branch of degree 1, not 2: even degrees are"):
        theory.tricritical_beta(2, Sphere(3))


# Families in closed form


@functools.cache
def fisher(ratio, dimension):
    """Order parameter and gap of the von Mises-Fisher state by quadrature of its definition."""
    power = mp.mpf(dimension - 3) / 2

    def mean(function):
        return mp.quad(lambda u: function(u) * (1 - u * u) ** power, mp.linspace(-1, 1, 9)) / mp.quad(
            lambda u: (1 - u * u) ** power, mp.linspace(-1, 1, 9)
        )

    def order(x):
        return mean(lambda u: u * mp.exp(x * u)) / mean(lambda u: mp.exp(x * u))

    x = mp.findroot(lambda x: ratio * order(x) / x - 1, (mp.mpf(ratio) / 2, mp.mpf(ratio)), tol=1e-30)
    return x / ratio, x * x / ratio / 2 - mp.log(mean(lambda u: mp.exp(x * u)))


@pytest.mark.parametrize(("ratio", "dimension"), [(3.03125, 3), (5.0, 3), (30.0, 3), (6.0, 5), (24.0, 16)])
def test_fisher_states(ratio, dimension):
    with mp.workdps(30):
        order, gap = fisher(ratio, dimension)
        assert theory.kuramoto_order_parameter(ratio, dimension) == pytest.approx(float(order), rel=8 * EPS)
        assert theory.kuramoto_gap(ratio, dimension) == pytest.approx(float(gap), rel=8 * EPS)


def test_fisher_values_and_limits():
    spins = problems.SPINS_AT_5
    assert theory.kuramoto_order_parameter(5.0, 3) == pytest.approx(spins.exact("order parameter"), rel=4 * EPS)
    assert theory.kuramoto_gap(5.0, 3) == pytest.approx(spins.exact("free energy gap"), rel=4 * EPS)
    for n in (2, 3, 17, 128):
        assert theory.kuramoto_order_parameter(n, n) == theory.kuramoto_gap(n, n) == 0
        # kappa/kappa_1 = 1 + n/(n+2) m^2 at the onset, 1 - m ~ (n-1) D/(2 kappa) far away.
        m = theory.kuramoto_order_parameter(n * (1 + 1e-8), n)
        assert m**2 == pytest.approx((n + 2) / n * 1e-8, rel=1e-6)
        assert 1 - theory.kuramoto_order_parameter(1e9, n) == pytest.approx((n - 1) / 2e9, rel=1e-6)
    # Both sides of the change from the recurrence to the expansion.
    for n in (3, 40):
        edge = max(1e4, 100.0 * n**2)
        values = [theory.kuramoto_gap(edge * (1 + s * 1e-6), n) for s in (-1, 0, 1)]
        assert values[0] - 2 * values[1] + values[2] == pytest.approx(0, abs=64 * EPS * edge)
    with pytest.raises(InvalidInput, match="dimension of a sphere"):
        theory.kuramoto_gap(5.0, 1)


@functools.cache
def nematic(eta):
    """kappa/D, S and the gap of e^(eta u^2) on S^2 by quadrature."""

    def average(function):
        return mp.quad(function, [0, mp.mpf(1) / 2, 1])

    mass = average(lambda u: mp.exp(eta * u * u))
    order = (3 * average(lambda u: u * u * mp.exp(eta * u * u)) / mass - 1) / 2
    return eta / order, order, eta * order / 3 - mp.log(mass) + eta / 3


@pytest.mark.parametrize("eta", [-20.0, -0.499, -1e-3, 1e-3, 0.3, 0.51, 4.0, 60.0])
def test_nematic_states(eta):
    state = theory.maier_saupe_state(eta)
    with mp.workdps(40):
        ratio, order, gap = nematic(mp.mpf(eta))
        assert state.ratio == pytest.approx(float(ratio), rel=4 * EPS)
        assert state.order_parameter == pytest.approx(float(order), rel=4 * EPS)
        assert state.gap == pytest.approx(float(gap), rel=16 * EPS)


def test_nematic_fold_and_transition():
    fold, equal = theory.maier_saupe_fold(), theory.maier_saupe_transition()
    with mp.workdps(40):
        eta = mp.findroot(lambda e: mp.diff(lambda x: nematic(x)[0], e), 2.18)
        assert fold.ratio == pytest.approx(float(nematic(eta)[0]), rel=2 * EPS)
        assert fold.order_parameter == pytest.approx(float(nematic(eta)[1]), rel=16 * EPS)
        eta = mp.findroot(lambda e: nematic(e)[2], 2.92)
        assert equal.ratio == pytest.approx(float(nematic(eta)[0]), rel=8 * EPS)
        assert equal.order_parameter == pytest.approx(float(nematic(eta)[1]), rel=32 * EPS)
    assert fold.ratio == pytest.approx(problems.NEMATIC.exact("fold"), rel=2 * EPS)


def test_nematic_states_at_a_coupling():
    assert theory.maier_saupe_states(6.7) == []
    below, beyond = theory.maier_saupe_states(7.0), theory.maier_saupe_states(8.0)
    assert [state.concentration > 0 for state in below] == [True, True]
    assert [state.concentration > 0 for state in beyond] == [True, False]
    assert below[0].gap < 0 < below[1].gap
    assert beyond[0].gap < beyond[1].gap < 0
    assert len(theory.maier_saupe_states(7.5)) == 1
    # Envelope identity: d gap / d(kappa/D) = w_2 S^2 / 2.
    for dimension in (3, 10):
        ratio, step = 0.7 * dimension * (dimension + 2), 1e-4
        (low, here, high) = (theory.maier_saupe_states(ratio + shift, dimension)[0] for shift in (-step, 0.0, step))
        expected = -(dimension - 1) / dimension * here.order_parameter**2 / 2
        assert (high.gap - low.gap) / (2 * step) == pytest.approx(expected, rel=1e-8)
    assert theory.maier_saupe_fold(4).ratio < theory.maier_saupe_transition(4).ratio < 4 * 6 / 2
    with pytest.raises(InvalidInput, match="at most 100000"):
        theory.maier_saupe_state(1e6)


# The command


def test_the_command_prints_degrees(capsys):
    assert main(["theory", "maier-saupe", "--domain", "sphere", "--modes", "3"]) == 0
    text, exact = capsys.readouterr().out, problems.NEMATIC.exact
    assert "maier-saupe on the sphere, noise D = 1" in text
    assert "W(t) = -cos(t)^2 = sum_l w_l P_l(cos t)" in text
    assert (
        f"clustered states from kappa = {exact('fold'):.13g}, "
        f"with the free energy of uniform at kappa = {exact('transition'):.13g}" in text
    )
    assert "2  -0.7142857142857  transcritical" in text
    assert "  2  7.5      1                -0.6666666666667  5\n" in text


def test_the_command_as_json(capsys):
    options = {"--beta": "3", "--domain": "sphere", "--dimension": "8", "--modes": "3", "--coupling": "6"}
    assert main(["theory", "transformer", *(word for pair in options.items() for word in pair), "--json"]) == 0
    values = json.loads(capsys.readouterr().out)
    rows = {row["mode"]: row for row in values["modes"]}
    at = on_sphere(Transformer(3.0), 8, coupling=6.0)
    assert values["problem"]["domain"] == {"name": "sphere", "dimension": 8}
    assert values["critical_coupling"] == theory.critical_coupling(at)
    assert rows[1]["b1"] == theory.branch_shape(at, 1).curvature
    assert rows[1]["tricritical_beta"] == theory.tricritical_beta(1, Sphere(8))
    assert rows[2]["slope"] == theory.branch_shape(at, 2).slope
    assert rows[2]["tricritical_beta"] is None
    assert [rows[k]["multiplicity"] for k in (1, 2, 3)] == [8, 35, 112]
    assert [rows[k]["growth_rate"] for k in (1, 2, 3)] == theory.growth_rates(at, 3)[1:].tolist()
