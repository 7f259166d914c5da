import math

import mpmath as mp
import numpy as np
import pytest

from meanfield import (
    Circle,
    CosineSeries,
    HegselmannKrause,
    InvalidInput,
    KellerSegel,
    Kuramoto,
    Logarithmic,
    Onsager,
    Transformer,
    theory,
)
from tests import oracles, problems
from tests.problems import on_circle

EPS = float(np.finfo(float).eps)
TRICRITICAL = [
    2.44691831128904613090,
    8.96678425465325508,
    19.7856865186644867,
    34.9332445601335041,
    54.4092480494492919,
    78.2135012284072587,
]


def test_critical_couplings_of_the_transformer():
    couplings = theory.critical_couplings(on_circle(Transformer(5.0)), 4)
    assert couplings[0] == np.inf
    assert couplings[1] == pytest.approx(problems.TRANSFORMER.exact("critical coupling"), rel=4 * EPS)
    expected = [1, 1.3901620816434, 2.3555598112509, 4.7640022959900]
    assert couplings[1:] / couplings[1] == pytest.approx(expected, rel=1e-13)


@pytest.mark.parametrize("entry", problems.tagged("free", exact="critical coupling"))
def test_critical_couplings_are_exact_to_rounding(entry):
    found = theory.critical_coupling(entry.problem)
    with mp.workdps(30):
        assert abs(oracles.exact(found) / entry.values["critical coupling"].digits - 1) <= 8 * EPS


def test_signs_zeros_and_noise():
    couplings = theory.critical_couplings(on_circle(CosineSeries((-1.0, 0.0, 0.5)), noise=3.0), 4)
    assert couplings.tolist() == [np.inf, 6, np.inf, -12, np.inf]


def test_critical_modes_at_extreme_beta():
    at = on_circle(Transformer(800.0))
    lowest = theory.critical_coupling(at)
    with mp.workdps(30):
        exact = 800 / mp.besseli(1, 800)
        assert abs(mp.mpf(np.format_float_scientific(lowest, precision=25)) / exact - 1) < 4 * EPS
    points = theory.critical_modes(at, 0.0, lowest * np.longdouble(1.02))
    assert [point.modes for point in points] == [(1,), (2,), (3,), (4,), (5,), (6,)][: len(points)]
    assert points[0].relative_coupling == 1
    assert all(point.relative_coupling <= 1.02 * (1 + 8 * EPS) for point in points)
    assert theory.growth_rates(at.at(coupling=lowest), 3)[1] == pytest.approx(0, abs=4 * EPS)


def test_near_doubles_stay_apart_and_equals_coincide():
    points = theory.critical_modes(on_circle(CosineSeries((-1.0, -1 - 1e-6, -1.0, 0.5))), -10, 3)
    assert [point.modes for point in points] == [(4,), (2,), (1, 3)]
    assert [point.kernel_dimension for point in points] == [2, 2, 4]
    assert points[0].coupling == -4
    assert points[2].relative_coupling == pytest.approx(1.000001, rel=4 * EPS)


@pytest.mark.parametrize("seed", range(5))
def test_no_mode_is_missed_far_up_the_series(seed):
    generator = np.random.default_rng(seed)
    w = generator.normal(size=300) * generator.choice([1e-3, 1e-1, 1.0], size=300)
    points = theory.critical_modes(on_circle(CosineSeries(tuple(w))), -50, 50)
    found = sorted(mode for point in points for mode in point.modes)
    assert found == [k + 1 for k in range(300) if abs(2 / w[k]) <= 50]
    assert theory.critical_coupling(on_circle(CosineSeries(tuple(w)))) == pytest.approx(-2 / w.min(), rel=4 * EPS)


def test_ranges_without_bifurcation_and_bad_ranges():
    assert theory.critical_modes(on_circle(Kuramoto()), 2.5, 9.0) == []
    assert [point.modes for point in theory.critical_modes(on_circle(Kuramoto()), 2.0, 2.0)] == [(1,)]
    for low, high in ((2, 1), (math.nan, 1), (0, math.inf)):
        with pytest.raises(InvalidInput, match="finite and increasing"):
            theory.critical_modes(on_circle(Kuramoto()), low, high)
    with pytest.raises(InvalidInput, match="choose a smaller range"):
        theory.critical_modes(on_circle(Logarithmic()), 0, 1e9)


def test_no_attractive_mode():
    for potential in (Logarithmic(-1), CosineSeries((1.0, 2.0)), CosineSeries((0.0,))):
        assert theory.critical_coupling(on_circle(potential)) is None
        assert theory.global_criterion(on_circle(potential)).holds is None
    (point,) = theory.critical_modes(on_circle(CosineSeries((1.0,))), -3, 3)
    assert point.relative_coupling is None


def test_confinement_and_free_coupling_are_refused():
    confined = on_circle(Kuramoto(), confinement=Kuramoto(), coupling=1.0)
    for call in (
        lambda: theory.critical_couplings(confined, 3),
        lambda: theory.critical_coupling(confined),
        lambda: theory.critical_modes(confined, 0, 1),
        lambda: theory.growth_rates(confined, 3),
        lambda: theory.branch_shape(confined, 1),
        lambda: theory.global_criterion(confined),
        lambda: theory.resonance(confined, 1, 2),
    ):
        with pytest.raises(InvalidInput, match="confinement"):
            call()
    with pytest.raises(InvalidInput, match="coupling"):
        theory.growth_rates(on_circle(Kuramoto()), 3)


def test_growth_rates():
    rates = theory.growth_rates(on_circle(Logarithmic(-1), noise=2.0, coupling=3.0), 4)
    modes = np.arange(5)
    assert rates == pytest.approx(-(2 * modes**2 + 3 * modes / 2), rel=4 * EPS)


@pytest.mark.parametrize(
    "w", [(-1, -0.2, 0.3), (-1, -0.8, -0.4), (-1, -0.5, -0.1), (-2, 1, 0), (-1, -1.7, -0.6), (3, 1, 1, 1)]
)
def test_branch_shape_against_newton(w):
    shape = theory.branch_shape(on_circle(CosineSeries(w)), 1)
    b1, b2 = oracles.branch_coefficients([mp.mpf(1), *(mp.mpf(value) / w[0] for value in w)])
    assert shape.curvature == pytest.approx(float(b1), rel=1e-12, abs=1e-14)
    # The fit leaves an error of the order of amplitude^4 = 1e-16 times the next coefficients.
    assert shape.quartic == pytest.approx(float(b2), rel=1e-12, abs=1e-12)


@pytest.mark.parametrize("beta", [0.5, 2.5, 20.0, 800.0, -5.0])
@pytest.mark.parametrize("n", [1, 2, 3])
def test_branch_shape_of_the_transformer_is_exact(beta, n):
    shape = theory.branch_shape(on_circle(Transformer(beta)), n)
    with mp.workdps(50):
        q, p = (mp.besseli(j * n, beta) / mp.besseli(n, beta) for j in (2, 3))
        b1 = (1 - 2 * q) / (2 * (1 - q))
        b2 = (24 * p * q**3 - 42 * p * q**2 + 21 * p * q - 6 * p - 20 * q**3 + 42 * q**2 - 24 * q + 5) / (
            12 * (p - 1) * (q - 1) ** 3
        )
        assert abs(shape.curvature / b1 - 1) < 1e-12
        assert abs(shape.quartic / b2 - 1) < 1e-12
    assert shape.type == ("supercritical" if b1 > 0 else "subcritical")


def test_types_of_branches():
    assert theory.branch_shape(on_circle(CosineSeries((-1, -1))), 1).type == "transcritical"
    assert theory.branch_shape(on_circle(CosineSeries((-1, -2))), 1).type == "supercritical"
    third = theory.branch_shape(on_circle(CosineSeries((-1, 0, -1))), 1)
    assert third.type == "supercritical"
    assert math.isnan(third.quartic)
    assert "1:3" in third.note
    kuramoto = theory.branch_shape(on_circle(Kuramoto()), 1)
    assert (kuramoto.curvature, kuramoto.quartic) == (0.5, pytest.approx(5 / 12, rel=EPS))
    onsager = theory.branch_shape(on_circle(Onsager()), 2)
    assert onsager.coupling == pytest.approx(1.5 * np.pi, rel=2 * EPS)
    assert onsager.curvature == pytest.approx(3 / 8, rel=2 * EPS)
    log = theory.branch_shape(on_circle(Logarithmic()), 5)
    assert (log.type, log.curvature, log.quartic) == ("degenerate", 0, 0)
    assert "vertical" in log.note


@pytest.mark.parametrize("n", [1, 2, 3, 6])
def test_transformer_at_its_tricritical_beta_is_degenerate(n):
    shape = theory.branch_shape(on_circle(Transformer(theory.tricritical_beta(n))), n)
    assert shape.type == "degenerate"
    assert shape.quartic == pytest.approx(2 * (1 - 3 * shape.p) / (3 * (1 - shape.p)), rel=4 * EPS)
    assert "quartically supercritical" in shape.note
    below = theory.branch_shape(on_circle(Transformer(theory.tricritical_beta(n) * (1 - 1e-9))), n)
    above = theory.branch_shape(on_circle(Transformer(theory.tricritical_beta(n) * (1 + 1e-9))), n)
    assert (below.type, above.type) == ("supercritical", "subcritical")


def test_branch_shape_needs_a_mode():
    with pytest.raises(InvalidInput, match="w_2 = 0"):
        theory.branch_shape(on_circle(Kuramoto()), 2)
    with pytest.raises(InvalidInput, match="positive integer"):
        theory.branch_shape(on_circle(Kuramoto()), 0)


@pytest.mark.parametrize(("n", "value"), list(enumerate(TRICRITICAL, start=1)))
def test_tricritical_beta(n, value):
    assert theory.tricritical_beta(n) == pytest.approx(value, rel=4 * EPS)


@pytest.mark.parametrize("n", [7, 20, 50, 120])
def test_tricritical_beta_of_high_modes(n):
    beta = theory.tricritical_beta(n)
    with mp.workdps(40):
        residual = mp.besseli(2 * n, beta) / mp.besseli(n, beta) - mp.mpf("0.5")
        slope = mp.diff(lambda b: mp.besseli(2 * n, b) / mp.besseli(n, b), beta)
        assert abs(residual / slope / beta) < 1e-15
    assert beta / n**2 == pytest.approx(1.5 / math.log(2), rel=1 / n**2)


def test_continuous_radius():
    radius = theory.continuous_radius()
    assert radius == pytest.approx(2.13918217377311332, rel=4 * EPS)
    w = HegselmannKrause(radius).multipliers(Circle(), 2)
    assert w[2] / w[1] == pytest.approx(0.5, rel=8 * EPS)


@pytest.mark.parametrize(
    ("potential", "holds", "continuous", "mode"),
    [
        (Transformer(2.44), True, True, 1),
        (Transformer(2.45), False, False, 1),
        (Transformer(-3.0), True, True, 1),
        (Transformer(-9.0), False, None, 1),
        (HegselmannKrause(2.1392), True, True, 1),
        (HegselmannKrause(2.1391), False, False, 1),
        (Onsager(), True, True, 2),
        (Kuramoto(), True, True, 1),
        (KellerSegel(0.0), True, True, 1),
        (Logarithmic(), True, None, 1),
        (CosineSeries((-1, -1)), False, False, 1),
        (CosineSeries((-1, -1.5)), False, None, 1),
        (CosineSeries((-1, 0, -0.4)), False, None, 1),
        (CosineSeries((0, -1, 0, -0.3)), True, True, 2),
        (CosineSeries((0.5, -1, 0, -0.9)), False, False, 2),
        (CosineSeries((0, -1, -0.9)), None, None, None),
    ],
    ids=repr,
)
def test_global_criterion(potential, holds, continuous, mode):
    criterion = theory.global_criterion(on_circle(potential))
    assert (criterion.holds, criterion.continuous, criterion.mode) == (holds, continuous, mode)
    assert (criterion.violated_at is not None) == (holds is False)
    assert criterion.statement


def reduced_energy_defect(w, first, second, phase):
    """Entropy and energy of two modes plus the slaved ones, minimised, against the reduced form."""
    n, z, m, y = *first, *second
    slaved = sorted({2 * n, 2 * m, m - n, m + n} - {n, m, 0})
    shares = {k: mp.mpf(w[k - 1] / w[n - 1]) if k <= len(w) else mp.mpf(0) for k in range(1, 4 * m)}
    angles = [2 * mp.pi * j / 64 for j in range(64)]

    def gap(*amplitudes):
        moments = {n: z, m: y, **dict(zip(slaved, amplitudes, strict=True))}
        # The phase turns mode m against mode n; slaved modes are real for phase 0 and pi.
        f = [2 * mp.fsum(c * mp.cos(k * t) * (phase if k == m else 1) for k, c in moments.items()) for t in angles]
        entropy = mp.fsum((1 + v) * mp.log(1 + v) for v in f) / 64
        return entropy - mp.fsum(shares[k] * c**2 for k, c in moments.items())

    scale = abs(z * y) + z**2
    gradient = [
        lambda *a, i=i: mp.diff(gap, a, tuple(int(i == j) for j in range(len(slaved)))) for i in range(len(slaved))
    ]
    start = [scale / 2 for _ in slaved]
    slaved_values = mp.findroot(lambda *a: [g(*a) for g in gradient], start, tol=1e-30)
    return gap(*slaved_values)


@pytest.mark.parametrize(
    ("w", "n", "m", "phase"),
    [
        ((-0.3, -1, -1, 0, -0.2), 2, 3, 1),
        ((-1, 0.4, 0.2, -1), 1, 4, 1),
        ((-1, -0.2, -1, 0.3), 1, 3, 1),
        ((-1, -0.2, -1, 0.3), 1, 3, -1),
    ],
)
def test_reduced_energy_of_two_modes(w, n, m, phase):
    form = theory.resonance(on_circle(CosineSeries(w)), n, m)
    assert form.detuning == pytest.approx(0, abs=4 * EPS)
    with mp.workdps(40):
        z, y = mp.mpf("1e-3"), mp.mpf("0.8e-3")
        x_square, y_square = z**2, y**2
        predicted = (
            form.curvatures[0] / 2 * x_square**2
            + form.curvatures[1] / 2 * y_square**2
            - form.cross * x_square * y_square
        )
        if m == 3 * n:
            predicted += form.resonant * z**3 * y * phase
        energy = reduced_energy_defect(w, (n, z), (m, y), phase)
        # Next order is amplitude^5 at least.
        assert abs(energy - predicted) < 20 * z**5
        assert abs(predicted) > 0.01 * z**4


def test_one_to_two_resonance():
    form = theory.resonance(on_circle(CosineSeries((-1, -1))), 1, 2)
    assert (form.kind, form.resonant, form.detuning) == ("1:2", -1, 0)
    assert form.mixed_slopes() == (math.sqrt(2), -1)
    # On the mixed branch at kappa/kappa_1 = 1 + delta the fixed point holds to second order in delta.
    with mp.workdps(30):
        for delta in (mp.mpf("1e-5"), mp.mpf("-1e-5")):
            start = [mp.sqrt(2) * abs(delta), -delta]

            def defect(a, b, strength=1 + delta):
                angles = [2 * mp.pi * j / 32 for j in range(32)]
                weights = [mp.exp(2 * strength * (a * mp.cos(t) + b * mp.cos(2 * t))) for t in angles]
                mass = mp.fsum(weights)
                means = [
                    mp.fsum(v * mp.cos(k * t) for v, t in zip(weights, angles, strict=True)) / mass for k in (1, 2)
                ]
                return [means[0] - a, means[1] - b]

            a, b = mp.findroot(defect, start)
            assert abs(a / start[0] - 1) < 20 * abs(delta)
            assert abs(b / start[1] - 1) < 20 * abs(delta)


def test_resonance_refuses():
    with pytest.raises(InvalidInput, match="must ascend"):
        theory.resonance(on_circle(Transformer(3.0)), 2, 1)
    with pytest.raises(InvalidInput, match="no common critical coupling"):
        theory.resonance(on_circle(Kuramoto()), 1, 2)
    with pytest.raises(InvalidInput, match="mode 5 is critical together"):
        theory.resonance(on_circle(CosineSeries((0, -1, -1, 0, -1))), 2, 3)
    with pytest.raises(InvalidInput, match="1:2"):
        theory.resonance(on_circle(CosineSeries((0, -1, -1))), 2, 3).mixed_slopes()


@pytest.mark.parametrize("ratio", [2 + 1e-12, 2.0001, 2.1, 3.0, 10.0, 500.0, 9999.0, 10001.0])
def test_kuramoto_order_parameter_and_gap(ratio):
    with mp.workdps(40):
        r, gap = oracles.kuramoto(ratio)
        assert abs(theory.kuramoto_order_parameter(ratio) / r - 1) < 1e-14
        assert abs(theory.kuramoto_gap(ratio) / gap - 1) < 1e-14
        x = ratio * r
        assert abs(mp.besseli(2, x) / mp.besseli(0, x) - (1 - 2 / mp.mpf(ratio))) < 1e-30


def test_kuramoto_is_uniform_up_to_two():
    for ratio in (-3.0, 0.0, 2.0):
        assert theory.kuramoto_order_parameter(ratio) == 0
        assert theory.kuramoto_gap(ratio) == 0
    with pytest.raises(InvalidInput, match="nan"):
        theory.kuramoto_order_parameter(math.nan)
    assert theory.kuramoto_gap(3.0) == pytest.approx(problems.KURAMOTO_AT_3.exact("free energy gap"), rel=8 * EPS)


def test_vertical_branches_solve_the_moment_equations():
    at = on_circle(Logarithmic(), noise=0.5)
    branches = theory.vertical_branches(at, 0.5, 3.5)
    assert [(branch.mode, branch.coupling) for branch in branches] == [(1, 1.0), (2, 2.0), (3, 3.0)]
    assert theory.vertical_branches(on_circle(Logarithmic(-1)), 0, 100) == []
    for branch in branches:
        moments, s = branch.moments(0.6, 12), branch.coupling / (2 * at.noise)
        for k in range(1, 13):
            right = s * sum(moments[j] * moments[k - j] for j in range(1, k))
            assert (k - s) * moments[k] == pytest.approx(right, abs=32 * EPS)
    assert theory.vertical_spectrum(at, 3).tolist() == [0, -1, -3]
    with pytest.raises(InvalidInput, match="radius"):
        branches[0].moments(1.0, 3)
    with pytest.raises(InvalidInput, match="Logarithmic"):
        theory.vertical_branches(on_circle(Kuramoto()), 0, 1)
    with pytest.raises(InvalidInput, match="increasing"):
        theory.vertical_branches(at, 2, 1)


@pytest.mark.parametrize("radius", [0.2, 0.6])
@pytest.mark.parametrize("parity", [1, -1])
def test_vertical_spectrum_against_the_linearised_matrix(radius, parity):
    size = 80
    k, m = np.meshgrid(np.arange(1, size + 1), np.arange(1, size + 1), indexing="ij")
    near, far = radius ** np.abs(k - m), radius ** (k + m)
    # (k-l) lambda = sign(k-l) and l lambda_l = 1 at kappa = 2 D.
    matrix = -np.diag(np.arange(1.0, size + 1) ** 2) + k * (
        np.sign(k - m) * near + parity * far + near - parity * far
    )
    found = np.sort(np.linalg.eigvals(matrix).real)[::-1][:6]
    # The Fourier form is not normal: rounding is amplified by its norm, about size^2.
    assert found == pytest.approx(theory.vertical_spectrum(on_circle(Logarithmic()), 6), abs=EPS * size**3)
