"""Particles on spheres: noise, drift, schemes, samples and records against theory and slow independent sums."""

import concurrent.futures
import math

import mpmath
import numpy as np
import pytest
from scipy import integrate
from scipy.special import eval_gegenbauer, ive

from meanfield import (
    GegenbauerSeries,
    InvalidInput,
    Kuramoto,
    MaierSaupe,
    McKeanVlasov,
    Onsager,
    Outcome,
    Sphere,
    Transformer,
    open_ensemble,
)
from meanfield.transport import polar_distances, zonal_law
from solvers import (
    Bumps,
    Checkpoint,
    EulerMaruyama,
    MomentDrift,
    PairDrift,
    VonMises,
    WeakSecondOrder,
    evolve,
    simulate,
)
from solvers.bases.spherical import ducc
from solvers.evolution import Initial
from solvers.particles import replicas
from solvers.particles.sphere import sphere_setting
from solvers.particles.sphere.cloud import follow
from solvers.particles.sphere.fields import PairField, tangent
from solvers.particles.sphere.harmonics import SolidHarmonics
from solvers.particles.sphere.noise import tangent_variance
from solvers.particles.sphere.setting import moment_lengths
from solvers.particles.sphere.starts import sphere_starts
from tests import problems
from tests.particle_runs import interrupted_at, same

EPS = np.finfo(float).eps
KERNELS = ["numpy", pytest.param("ducc0", marks=pytest.mark.skipif(ducc() is None, reason="no ducc0"))]


def problem(potential=None, coupling=1.0, dimension=3, **others):
    return McKeanVlasov(Sphere(dimension), potential or Transformer(2.0), coupling=coupling, **others)


def points(dimension, count, seed=1, pull=1.0):
    vectors = np.random.default_rng(seed).standard_normal((count, dimension))
    vectors[:, -1] += pull
    return vectors / np.linalg.norm(vectors, axis=1)[:, None]


def legendre(degree, dimension, cosine):
    half = 0.5 * (dimension - 2)
    return eval_gegenbauer(degree, half, cosine) / eval_gegenbauer(degree, half, 1.0)


def pair_drift(of, vectors):
    """Minus the gradients of all pair potentials by central differences along two great circles in double sums."""
    drift = np.zeros_like(vectors)
    for i, x in enumerate(vectors):
        for y in vectors:
            cosine = float(np.clip(x @ y, -1.0, 1.0))
            sine = math.sqrt(max(0.0, 1.0 - cosine**2))
            if sine > 1e-12:
                slope = float(of.potential.slope(math.acos(cosine)))
                drift[i] += of.coupling * slope * (y - cosine * x) / sine / len(vectors)
    return drift


# Noise


@pytest.mark.parametrize("directions", [1, 2, 3, 7, 63])
@pytest.mark.parametrize("spread", [1e-9, 1e-3, 0.1, 0.5])
def test_the_variance_of_a_step_makes_the_mean_direction_exact(directions, spread):
    variance = tangent_variance(directions, spread / directions)
    with mpmath.workdps(40):
        mean = mpmath.hyp1f1(mpmath.mpf(directions) / 2, 0.5, -mpmath.mpf(variance) / 2)
        lost, wanted = 1 - mean, 1 - mpmath.exp(-mpmath.mpf(spread))
    assert abs(float(lost / wanted) - 1) <= 32 * EPS


def mean_factor(degree, dimension, spread, variance):
    """E P_l(cos |v|) of a Gaussian tangent vector by quadrature over its length."""
    directions = dimension - 1
    normalisation = 2 ** (directions / 2 - 1) * math.gamma(directions / 2)

    def integrand(length):
        weight = length ** (directions - 1) * math.exp(-0.5 * length**2) / normalisation
        return weight * legendre(degree, dimension, math.cos(math.sqrt(variance) * length))

    return integrate.quad(integrand, 0.0, 14.0, epsabs=1e-14, limit=200)[0]


@pytest.mark.parametrize("dimension", [3, 4, 8])
def test_other_degrees_decay_at_their_rates_to_third_order(dimension):
    for degree in (2, 3):
        errors, plain = [], []
        for spread in (0.2, 0.1):
            step = spread / (dimension - 1)
            rate = degree * (degree + dimension - 2)
            for variance, found in ((tangent_variance(dimension - 1, step), errors), (2 * step, plain)):
                found.append(-math.log(mean_factor(degree, dimension, step, variance)) / (rate * step) - 1)
        assert abs(errors[1]) <= 1e-4
        assert 2.5 <= math.log2(errors[0] / errors[1]) <= 3.5
        # The tangent Gaussian of variance 2 D h alone is of first order.
        assert 0.9 <= math.log2(plain[0] / plain[1]) <= 1.1
        assert abs(plain[1]) > 30 * abs(errors[1])


@pytest.mark.parametrize(
    ("dimension", "scheme"),
    [(3, EulerMaruyama()), (3, WeakSecondOrder()), (4, EulerMaruyama()), (8, WeakSecondOrder())],
)
def test_pure_diffusion_decays_every_degree(dimension, scheme):
    count, noise = 40_000, 0.7
    start = np.zeros((count, dimension))
    start[:, -1] = 1.0
    until = 0.4 / (noise * (dimension - 1))
    free = problem(coupling=0.0, dimension=dimension, noise=noise)
    ensemble = simulate(free, count, until, 3, initial=start, step=until / 4, scheme=scheme, keep_positions=True)
    cosine = ensemble.positions[0] @ start[0]
    for degree in (1, 2, 3):
        values = legendre(degree, dimension, cosine)
        expected = math.exp(-degree * (degree + dimension - 2) * noise * until)
        # 5 standard errors of 18 means: false alarm 1e-5. The bias of the step, below 1e-4, is far below them.
        assert abs(values.mean() - expected) <= 5 * values.std() / math.sqrt(count)
    assert np.abs((ensemble.positions**2).sum(axis=2) - 1).max() <= 8 * EPS


def test_moves_follow_great_circles_whatever_their_length():
    for scale in (1e-200, 1e-3, 0.3, 3.0):
        start = points(4, 50).T
        moves = scale * np.random.default_rng(2).standard_normal((4, 50))
        along = tangent(start, moves)
        lengths = np.sqrt((along**2).sum(axis=0))
        exact = start * np.cos(lengths) + along * np.sinc(lengths / np.pi)
        moved = np.ascontiguousarray(start)
        follow(moved, moves.copy())
        assert np.abs(moved - exact).max() <= 16 * EPS


# Drift


@pytest.mark.parametrize(
    ("dimension", "potential"),
    [
        (3, Transformer(4.0)),
        (3, Transformer(-2.0)),
        (3, MaierSaupe()),
        (4, Transformer(1.0)),
        (8, MaierSaupe()),
        (64, Kuramoto()),
    ],
    ids=str,
)
@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("tolerance", [1e-5, 1e-9])
def test_drift_agrees_with_pair_sums_to_its_stated_error(dimension, potential, kernel, tolerance):
    if kernel == "ducc0" and dimension > 3:
        pytest.skip("ducc0 is for the ordinary sphere")
    of = problem(potential, 1.3, dimension)
    setting = sphere_setting(of, MomentDrift(tolerance=tolerance), 3, 40).with_kernel(kernel, 1.0)
    vectors = points(dimension, 40)
    places = np.ascontiguousarray(vectors.T)
    field = setting.field()
    field.gather(places)
    drift = tangent(places, field.drift(places, slice(0, 40))).T
    stated = setting.significant.truncation_error + setting.described()["drift_evaluation_error"]
    assert stated <= 2 * tolerance
    assert np.abs(drift - pair_drift(of, vectors)).max() <= (stated + 1e-13) * setting.significant.scale
    pairs = PairField(of, setting.significant)
    pairs.gather(places)
    assert (
        np.abs(tangent(places, pairs.drift(places)).T - pair_drift(of, vectors)).max()
        <= 1e-13 * setting.significant.scale
    )


@pytest.mark.parametrize("dimension", [3, 5])
@pytest.mark.parametrize("drift", [MomentDrift(), PairDrift()])
def test_confinement_enters_the_drift(dimension, drift):
    confinement = GegenbauerSeries((-0.4, 0.0, 0.2), dimension)
    setting = sphere_setting(problem(Kuramoto(), 0.0, dimension, confinement=confinement), drift, 3, 30)
    places = np.ascontiguousarray(points(dimension, 30).T)
    field = setting.with_kernel("numpy", 1.0).field()
    field.gather(places)
    step, north = 1e-5, np.zeros((dimension, 1))
    north[-1] = 1.0
    slope = sum(
        weight * (legendre(degree, dimension, places[-1] + step) - legendre(degree, dimension, places[-1] - step))
        for degree, weight in ((1, -0.4), (3, 0.2))
    ) / (2 * step)
    expected = tangent(places, -slope * north)
    # Central differences of a cubic: third derivative times step^2/6, and rounding over the step.
    assert np.abs(tangent(places, field.drift(places)) - expected).max() <= 1e-9


@pytest.mark.skipif(ducc() is None, reason="no ducc0")
def test_ducc0_and_numpy_agree_at_the_poles():
    of = problem(Transformer(4.0))
    places = np.array([[0.0, 0.0, 1.0], [0.0, 0.0, -1.0], [1e-9, 0.0, 1.0], [0.6, 0.0, 0.8], [-1.0, 0.0, 0.0]]).T
    places = np.ascontiguousarray(places)
    drifts = []
    for kernel in ("numpy", "ducc0"):
        field = sphere_setting(of, MomentDrift(tolerance=1e-12), 3, 5).with_kernel(kernel, 1.0).field()
        field.gather(places)
        drifts.append(tangent(places, field.drift(places)))
    assert np.abs(drifts[0] - drifts[1]).max() <= 1e-11 * np.abs(drifts[0]).max()


def test_left_out_degrees_of_kinked_potentials_are_stated():
    of = problem(Onsager(), 1.0)
    setting = sphere_setting(of, None, 3, 300)
    assert not setting.significant.complete
    assert 0.0 < setting.significant.random_share < 0.1
    assert "those beyond 64 are left out" in setting.warnings(300)[0]
    with pytest.raises(InvalidInput, match="no step can be chosen"):
        simulate(of, 10, 1.0, 1)


def test_pairs_are_taken_where_moments_are_too_many():
    of = problem(Transformer(2.0), 1.0, 24)
    assert isinstance(sphere_setting(of, None, 2, 6000).drift, PairDrift)
    assert "over all pairs of 6000" in sphere_setting(of, None, 2, 6000).warnings(6000)[0]
    with pytest.raises(InvalidInput, match="in 24 dimensions, more than 20000; take drift=PairDrift"):
        sphere_setting(of, MomentDrift(), 2, 100)
    assert isinstance(sphere_setting(problem(Kuramoto(), 1.0, 24), None, 2, 6000).drift, MomentDrift)


def test_pairs_and_moments_move_particles_alike():
    of, start = problem(Transformer(2.0), 2.0), points(3, 120)
    for scheme in (EulerMaruyama(), WeakSecondOrder()):
        options = {"step": 0.02, "keep_positions": True, "initial": start, "scheme": scheme}
        runs = [
            simulate(of, 120, 0.2, 4, drift=drift, **options)
            for drift in (MomentDrift(tolerance=1e-12), PairDrift())
        ]
        assert np.abs(runs[0].positions - runs[1].positions).max() <= 1e-10


# Schemes


@pytest.mark.parametrize(("scheme", "order", "step"), [(EulerMaruyama(), 1, 0.08), (WeakSecondOrder(), 2, 0.16)])
def test_schemes_have_their_weak_order(scheme, order, step):
    # Independent particles in V = -5 cos(theta) from their stationary law e^{5 cos(theta)}: what they drift away from
    # it is the bias of the step.
    held = problem(Kuramoto(), 0.0, confinement=GegenbauerSeries((-5.0,), 3))
    mean = 1 / math.tanh(5.0) - 1 / 5.0
    count, options = 400_000, {"initial": VonMises(0.0, 5.0), "scheme": scheme, "times": [0.48]}
    ends = [simulate(held, count, 0.48, 5, step=length, **options) for length in (step, 0.5 * step)]
    coarse, fine = (abs(float(end.mean_moments(1)[0].mean[0]) - mean) for end in ends)
    # The standard deviation of u is about 1/5; 5 standard errors of the smaller bias are 0.25 of its logarithm, and
    # the next order in the step is as much.
    assert 5 * 0.2 / math.sqrt(count) < 0.2 * fine
    assert abs(math.log2(coarse / fine) - order) <= 0.5
    share = 5.0 * step
    # 1 - <u> is the variance in the two directions, 1/5, to leading order.
    assert 1 / 3 <= coarse / ((1 - mean) * scheme.width_bias(share, flat=False)) <= 3.0


@pytest.mark.parametrize(("scheme", "order"), [(EulerMaruyama(), 1), (WeakSecondOrder(), 2)])
def test_without_noise_particles_follow_the_flow(scheme, order):
    flow = problem(Transformer(2.0), 2.0, noise=1e-60)
    ends = [
        simulate(flow, 60, 0.4, 1, initial=points(3, 60), step=step, scheme=scheme, keep_positions=True).positions
        for step in (0.04, 0.02, 0.01)
    ]
    first, second = (np.abs(ends[k] - ends[k + 1]).max() for k in range(2))
    assert abs(math.log2(first / second) - order) <= 0.2


def test_rotated_particles_stay_rotated_without_noise():
    flow = problem(Transformer(2.0), 2.0, noise=1e-60)
    turn = np.linalg.qr(np.random.default_rng(3).standard_normal((3, 3)))[0]
    options = {"step": 0.02, "keep_positions": True}
    one = simulate(flow, 60, 0.4, 1, initial=points(3, 60), **options)
    other = simulate(flow, 60, 0.4, 1, initial=points(3, 60) @ turn.T, **options)
    # The errors of the drift, of the tolerance 1e-9, grow by less than e^(stiffness t).
    assert np.abs(other.positions - one.positions @ turn.T).max() <= 1e-7
    assert np.abs(one.moduli - other.moduli).max() <= 1e-7


@pytest.mark.parametrize(("dimension", "potential", "coupling"), [(3, Transformer(2.0), 1.0), (5, Kuramoto(), 8.0)])
def test_means_follow_the_equation(dimension, potential, coupling):
    of = problem(potential, coupling, dimension)
    ensemble = simulate(of, 4000, 0.3, 2, initial=VonMises(0.0, 3.0), replicas=12, times=[0.15, 0.3], degrees=2)
    limit = evolve(of, VonMises(0.0, 3.0), 0.3, times=ensemble.time)
    for degree in (1, 2):
        estimate = ensemble.mean_moments(degree)[0]
        # 6 standard errors at 11 degrees of freedom, false alarm below 1e-4 for each of 8, and a bias of 4/N.
        assert np.all(np.abs(estimate.mean - limit.moment(degree)) <= 6 * estimate.standard_error + 1e-3)


def test_fluctuations_in_the_uniform_phase():
    # N E|m_1|^2 -> 1/(1 - 1/2) at half of the threshold 3 D, N E|m_2|^2 -> 1; 5 standard errors, 15 degrees of
    # freedom (false alarm 2e-4), and the known bias of the size 4/N.
    count = 1000
    options = {"step": 0.05, "replicas": 16, "times": np.linspace(2.0, 7.0, 51)}
    ensemble = simulate(problem(Kuramoto(), 1.5), count, 7.0, 8, **options)
    for degree, limit in ((1, 2.0), (2, 1.0)):
        averages = count * (ensemble.moduli[:, :, degree] ** 2).mean(axis=1)
        error = averages.std(ddof=1) / 4
        assert error < 0.15 * limit
        assert abs(averages.mean() - limit) <= 5 * error + 4 / count
        assert np.allclose(
            ensemble.fluctuation(degree).mean, count * (ensemble.moduli[:, :, degree] ** 2).mean(axis=0)
        )


# Samples


def drawn(of, initial, count, seed=7):
    starts = sphere_starts(of, initial, count, 1)
    return starts.each[0].positions(count, np.random.default_rng(seed)).T


@pytest.mark.parametrize("dimension", [3, 8, 64])
@pytest.mark.parametrize("concentration", [0.0, 2.0, 300.0])
def test_von_mises_fisher_samples(dimension, concentration):
    count = 40_000
    vectors = drawn(problem(Kuramoto(), 1.0, dimension), VonMises(1.1, concentration, 0.4), count)
    axis = np.zeros(dimension)
    axis[0], axis[1], axis[-1] = math.sin(1.1) * math.cos(0.4), math.sin(1.1) * math.sin(0.4), math.cos(1.1)
    half = dimension / 2
    mean = ive(half, concentration) / ive(half - 1, concentration) if concentration else 0.0
    along = vectors @ axis
    # 5 standard errors of 9 means along the axis and across it: false alarm 1e-5.
    assert abs(along.mean() - mean) <= 5 * along.std() / math.sqrt(count)
    across = (vectors - np.outer(along, axis)).mean(axis=0)
    assert np.linalg.norm(across) <= (math.sqrt(dimension) + 5) * math.sqrt((1 - (along**2).mean()) / count)
    assert np.abs((vectors**2).sum(axis=1) - 1).max() <= 16 * EPS


def test_the_law_of_the_angle_is_that_of_the_density():
    law = zonal_law(evolve(problem(coupling=0.0), VonMises(0.0, 4.0), 0.1, times=[0.0]).cosine[0], 3)
    shares = np.linspace(0.001, 0.999, 97)
    # On S^2 the distribution function of the cosine is elementary.
    exact = np.arccos(1 + np.log(1 - shares * (1 - math.exp(-8.0))) / 4.0)
    assert np.abs(law.angles(shares) - exact).max() <= 1e-9
    far = zonal_law(np.ones(1), 64)
    assert abs(far.angles(np.array([0.5]))[0] - np.pi / 2) <= 1e-12


def test_distances_of_angles_are_those_of_quantiles():
    law = zonal_law(np.array([1.0, 0.2]), 3)
    angles = np.random.default_rng(4).uniform(0.0, np.pi, 7)
    shares = (np.arange(700_000) + 0.5) / 700_000
    apart = np.abs(law.angles(shares) - np.repeat(np.sort(angles), 100_000))
    first, second = polar_distances(angles, law)
    assert abs(first - apart.mean()) <= 2e-3 * first
    assert abs(second - math.sqrt((apart**2).mean())) <= 2e-3 * second
    many = (np.arange(4000) + 0.5) / 4000
    assert polar_distances(law.angles(many), law)[0] <= 1e-3


def test_samples_of_a_density_without_an_axis_have_its_moments():
    of = problem()
    harmonics = SolidHarmonics(3)
    cosine, sine = 0.02 * np.random.default_rng(3).standard_normal((2, harmonics.size))
    sine[harmonics.orders == 0] = 0.0
    cosine[0] = 1.0
    count = 60_000
    vectors = drawn(of, Initial(cosine, sine, "made", (), "order"), count)
    found = harmonics.means(np.ascontiguousarray(vectors.T))
    # The harmonics are at most 1; 5 standard errors of 20 means: false alarm 1.2e-5.
    assert np.abs(found[0] - cosine).max() <= 5 / math.sqrt(count)
    assert np.abs(found[1] - sine).max() <= 5 / math.sqrt(count)
    values = harmonics.values(np.ascontiguousarray(vectors.T))
    for part, expected in zip(values, (cosine, sine), strict=True):
        scaled = (part.mean(axis=1) - expected)[1:] / np.maximum(part.std(axis=1)[1:], 1e-9)
        assert np.abs(scaled).max() <= 5 / math.sqrt(count)


def test_several_lobes_get_their_shares():
    vectors = drawn(problem(), Bumps(2, 0.1, (3.0, 1.0), 0.0), 40_000)
    north = (vectors[:, 2] > 0).mean()
    assert abs(north - 0.75) <= 5 * math.sqrt(0.75 * 0.25 / 40_000)


# Records


@pytest.mark.parametrize("dimension", [3, 5])
def test_moments_are_those_of_the_particles(dimension):
    vectors = points(dimension, 200)
    ensemble = simulate(
        problem(Kuramoto(), 1.0, dimension),
        200,
        0.01,
        1,
        initial=vectors,
        step=0.01,
        degrees=4,
        keep_positions=True,
    )
    cosines = np.clip(vectors @ vectors.T, -1.0, 1.0)
    for degree in range(5):
        length = math.sqrt(max(legendre(degree, dimension, cosines).mean(), 0.0))
        assert abs(ensemble.moduli[0, 0, degree] - length) <= 1e-13
        zonal = legendre(degree, dimension, vectors[:, -1]).mean()
        assert abs(ensemble.mean_moments(degree)[0].mean[0] - zonal) <= 1e-13
    assert np.abs(ensemble.mean_vector[0, 0] - vectors.mean(axis=0)).max() <= 8 * EPS
    assert ensemble.layout == ("order" if dimension == 3 else "degree")
    assert ensemble.degrees == 4
    last = ensemble.positions[0]
    angles = np.arccos(last[:, -1])
    assert np.array_equal(ensemble.histogram[0], np.histogram(angles, 128, (0.0, np.pi))[0])
    assert ensemble.density().density.sum() * np.pi / 128 == pytest.approx(1.0, rel=1e-13)


def test_degrees_with_too_many_harmonics_are_not_known():
    lengths = moment_lengths(points(64, 50).T, 4)
    assert np.isfinite(lengths[:3]).all()
    assert np.isnan(lengths[3:]).all()
    ensemble = simulate(problem(Kuramoto(), 1.0, 64), 50, 0.01, 1, degrees=4)
    assert np.isnan(ensemble.order_parameter(4).mean).all()
    assert next(ensemble.rows())["fluctuation4"] is None


@pytest.mark.parametrize("dimension", [3, 5])
@pytest.mark.parametrize("suffix", ["nc", "json"])
def test_files_give_the_same_bits_back(dimension, suffix, tmp_path):
    ensemble = simulate(
        problem(Kuramoto(), 1.0, dimension), 60, 0.05, 1, step=0.01, replicas=2, keep_positions=True
    )
    ensemble.save(tmp_path / f"e.{suffix}")
    back = open_ensemble(tmp_path / f"e.{suffix}")
    for name in ("cosine", "sine", "mean_vector", "moduli", "histogram", "positions", "time"):
        assert np.array_equal(getattr(back, name), getattr(ensemble, name), equal_nan=True)
    assert (back.layout, back.problem, back.provenance) == (ensemble.layout, ensemble.problem, ensemble.provenance)
    assert "|m_1|" in back.summary()
    ensemble.save(tmp_path / "e.csv")
    assert (tmp_path / "e.csv").read_text().splitlines()[0].startswith("time,particles,replicas,order_parameter")


def test_pictures_show_the_law_of_the_angle():
    of = problem()
    ensemble = simulate(of, 4000, 0.05, 1, initial=VonMises(0.0, 3.0), replicas=4)
    ax = ensemble.plot(density=evolve(of, VonMises(0.0, 3.0), 0.05))
    assert ax.get_xlim() == (0.0, np.pi)
    angle, law = ax.lines[0].get_data()
    assert integrate.trapezoid(law, angle) == pytest.approx(1.0, abs=1e-4)
    assert ensemble.plot_moments().get_ylabel() == "$|m_l|$"


# The same bits whatever runs them


OPTIONS = {"step": 0.02, "replicas": 3, "keep_positions": True, "initial": VonMises(0.5, 2.0)}


def test_workers_give_the_same_bits(processes):
    inline = simulate(problem(), 700, 0.2, 17, **OPTIONS)
    with concurrent.futures.ThreadPoolExecutor(3) as executor:
        assert same(simulate(problem(), 700, 0.2, 17, executor=executor, **OPTIONS), inline)
    assert same(simulate(problem(), 700, 0.2, 17, executor=processes, **OPTIONS), inline)


@pytest.mark.parametrize("scheme", [EulerMaruyama(), WeakSecondOrder()])
def test_a_resumed_run_gives_the_same_bits(scheme, tmp_path, monkeypatch):
    options = OPTIONS | {"scheme": scheme}
    whole = simulate(problem(), 300, 0.4, 3, **options)
    kept = Checkpoint(tmp_path / "run", 0.05)
    monkeypatch.setattr(replicas, "advance", interrupted_at(33, replicas.advance))
    partial = simulate(problem(), 300, 0.4, 3, checkpoint=kept, on_failure="return", **options)
    assert partial.outcome is Outcome.INTERRUPTED
    monkeypatch.undo()
    assert same(simulate(problem(), 300, 0.4, 3, checkpoint=kept, **options), whole)


@pytest.mark.skipif(ducc() is None, reason="no ducc0")
def test_a_checkpoint_of_another_kernel_is_refused(tmp_path):
    kept = Checkpoint(tmp_path / "run", 0.1)
    simulate(problem(), 50, 0.1, 3, step=0.02, checkpoint=kept, kernel="numpy")
    with pytest.raises(InvalidInput, match="drift"):
        simulate(problem(), 50, 0.1, 3, step=0.02, checkpoint=kept, kernel="ducc0")


@pytest.mark.skipif(ducc() is None, reason="no ducc0")
def test_kernels_agree_within_the_tolerance():
    runs = [simulate(problem(), 300, 0.2, 3, kernel=kernel, **OPTIONS) for kernel in ("numpy", "ducc0")]
    assert np.abs(runs[0].positions - runs[1].positions).max() <= 1e-7


# What is refused


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"initial": np.zeros((2, 3))}, "particle 0 has the length 0; all must be unit vectors"),
        ({"initial": np.ones((3, 3))}, "unit vectors of shape \\(2, 3\\)"),
        ({"initial": [0.1, 0.2]}, "not an array of shape \\(2,\\)"),
        ({"initial": (np.array([1.0, 0.9]), np.zeros(2))}, "negative"),
        ({"step": 0.5}, "\\(d - 1\\) D step = 1 where at most 0.5 is accurate"),
        ({"kernel": "numba"}, "numba moves particles on the circle only"),
        ({"kernel": "fortran"}, "kernel must be one of auto, numpy, ducc0"),
        ({"degrees": 0}, "degrees must be a whole number"),
    ],
)
def test_inadmissible_arguments_are_refused_in_a_sentence(arguments, words):
    options = {"particles": 2, "until": 1.0, "seed": 1, "step": 0.1} | arguments
    with pytest.raises(InvalidInput, match=words):
        simulate(problem(Kuramoto()), **options)


def test_steps_that_overshoot_are_refused_and_coarse_ones_warned_of():
    cluster = {"initial": VonMises(0.0, 50.0), "step": 0.05}
    with pytest.raises(InvalidInput, match=r"the step 0.05 is too long"):
        simulate(problem(Kuramoto(), 100.0), 100, 1.0, 1, **cluster)
    ensemble = simulate(problem(Kuramoto(), 15.0), 1000, 1.0, 1, scheme=EulerMaruyama(), **cluster)
    assert any("the step 0.05 is coarse" in warning for warning in ensemble.warnings)


def test_ducc0_is_for_the_ordinary_sphere():
    with pytest.raises(InvalidInput, match="on the ordinary sphere only"):
        simulate(problem(Kuramoto(), 1.0, 4), 10, 0.1, 1, kernel="ducc0")
    with pytest.raises(InvalidInput, match="kernel must be one of"):
        simulate(problems.KURAMOTO_AT_1.problem, 10, 0.1, 1, kernel="ducc0")
