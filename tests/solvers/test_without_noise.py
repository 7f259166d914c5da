"""Evolution without noise: Moebius maps and characteristics against particles, closed forms and the moment equations.

The particles are labels at equal angles with the masses of the density there, a trapezoid rule, moved by sums over all
pairs with slopes of the potentials written down here.
"""

import math
import re

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from meanfield import (
    Circle,
    ComputationFailed,
    CosineSeries,
    HegselmannKrause,
    InvalidInput,
    Kuramoto,
    Logarithmic,
    MaierSaupe,
    McKeanVlasov,
    NotResolved,
    Outcome,
    Sphere,
    Transformer,
    open_trajectory,
    ott_antonsen,
)
from solvers import (
    ETDRK4,
    Bumps,
    Characteristics,
    Checkpoint,
    PerturbedUniform,
    RandomPerturbation,
    VonMises,
    WatanabeStrogatz,
    Watson,
    bifurcation_diagram,
    contraction_rate,
    evolve,
    stationary_states,
)
from solvers.evolution.reduced import moebius_path, moved_minimum, moved_moments, order_deficit, order_parameter

EPS = np.finfo(float).eps
# What was asked for: the moments of two methods agree to this.
AGREED = 1e-12
FIELD = CosineSeries((0.3, -0.2))
BETA = 2.0


def at(potential, coupling, domain=None, confinement=None):
    """Return an equation without noise."""
    return McKeanVlasov(domain or Circle(), potential, noise=0.0, coupling=coupling, confinement=confinement)


def uneven(angle):
    """Return a density without any symmetry."""
    return (1.0 + 0.6 * np.cos(angle) + 0.3 * np.sin(2.0 * angle)) / (2.0 * math.pi)


def moved(velocity, density, times, count=512):
    """Return positions (T, n) of labels at equal angles and their masses."""
    labels = 2.0 * math.pi * np.arange(count) / count
    masses = density(labels) * 2.0 * math.pi / count
    path = solve_ivp(
        lambda _, x: velocity(x, masses), (0.0, times[-1]), labels, "DOP853", times, rtol=3e-14, atol=1e-15
    )
    return path.y.T, masses


def by_pairs(slope, coupling, confining=np.zeros_like):
    """Return the velocity of points by sums over all pairs."""
    return lambda x, masses: -coupling * slope(x[:, None] - x[None, :]) @ masses - confining(x)


def averaged(positions, masses, degree):
    """Return moments with exp(+ik x), (T, degree + 1)."""
    return np.exp(1j * np.arange(degree + 1)[:, None] * positions[:, None, :]) @ masses


def series(coefficients):
    """Return the density with moments C_1, C_2, ... with exp(+imt)."""
    degrees = np.arange(1, coefficients.size + 1)
    return lambda angle: (
        (1.0 + 2.0 * (np.exp(-1j * np.outer(angle, degrees)) @ coefficients).real) / (2.0 * math.pi)
    )


def random_coefficients(random, count=5):
    """Return moments of a positive density: the sum of their sizes is below one half."""
    coefficients = random.normal(size=count) + 1j * random.normal(size=count)
    return coefficients * 0.45 / np.abs(coefficients).sum()


def apart(one, other):
    """Return the largest difference of the moments that two trajectories share."""
    size = min(one.cosine.shape[1], other.cosine.shape[1])
    return max(
        float(np.abs(getattr(one, name)[:, :size] - getattr(other, name)[:, :size]).max())
        for name in ("cosine", "sine")
    )


@pytest.mark.parametrize("seed", range(4))
def test_moebius_maps_move_every_particle_with_a_frequency_and_a_lag(seed):
    random = np.random.default_rng(seed)
    coefficients = random_coefficients(random)
    coupling, frequency, lag = random.uniform(-2.0, 2.0), random.uniform(-1.0, 1.0), random.uniform(-1.5, 1.5)
    times = np.linspace(0.0, 3.0 / max(1.0, abs(coupling)), 7)

    def velocity(x, masses):
        return frequency + coupling * np.sin(x[None, :] - x[:, None] - lag) @ masses

    positions, masses = moved(velocity, series(coefficients), times, count=256)
    path = moebius_path(coefficients, coupling, times, frequency=frequency, lag=lag)
    found = moved_moments(path, coefficients, 12)
    assert np.abs(found - averaged(positions, masses, 12)).max() < AGREED
    assert np.abs(order_parameter(path.centre, path.angle, path.depth, coefficients) - found[:, 1]).max() < AGREED
    assert np.abs(order_deficit(path, coefficients) - (1.0 - np.abs(found[:, 1]))).max() < AGREED
    # The density itself: its series at the nodes on which the smallest value is sought.
    values = [
        series(row[1:])(2.0 * math.pi * np.arange(64) / 64).min() for row in moved_moments(path, coefficients, 200)
    ]
    assert moved_minimum(path, coefficients, 64) == pytest.approx(values, rel=1e-10)


@pytest.mark.parametrize(("coupling", "until"), [(1.0, 30.0), (1.0, 2000.0), (-1.5, 60.0)])
def test_poisson_kernels_stay_such_at_all_times(coupling, until):
    cosine = 0.4 ** np.arange(60.0)
    path = evolve(at(Kuramoto(), coupling), (cosine, 0.0 * cosine), until, method=WatanabeStrogatz())
    grown = (0.4**-2 - 1.0) * np.exp(-coupling * path.time)
    order = (1.0 + grown) ** -0.5
    degrees = np.arange(path.cosine.shape[1])
    assert np.abs(path.cosine - order[:, None] ** degrees).max() < AGREED
    assert np.abs(ott_antonsen(0.4, coupling, path.time) - order).max() < 8 * EPS
    if coupling > 0.0:
        assert path.accuracy < 1e-11
    else:
        assert path.accuracy is None
        assert "the moments are as small as their errors" in path.warnings[0]
    # One minus the order parameter keeps its digits until it leaves the range of doubles.
    missing = grown / ((1.0 + grown) * (1.0 + order))
    kept = missing > 1e-290
    assert kept.sum() > 30
    assert path.observable("order_deficit")[kept] == pytest.approx(missing[kept], rel=AGREED)
    assert path.minimum[kept] == pytest.approx((missing / (1.0 + order) / (2.0 * math.pi))[kept], rel=1e-11)


@pytest.mark.parametrize(
    ("coupling", "frequency", "lag"),
    [(1.0, 0.3, 0.4), (-1.0, 0.2, 0.7), (0.7, 0.1, -1.2), (1.3, 0.0, math.pi / 2), (2.0, 0.0, 0.0)],
)
def test_the_closed_form_of_ott_and_antonsen_has_frequency_and_lag(coupling, frequency, lag):
    times = np.linspace(0.0, 40.0, 21)
    coefficients = 0.5 ** np.arange(1.0, 60.0) + 0j
    path = moebius_path(coefficients, coupling, times, frequency=frequency, lag=lag)
    exact = ott_antonsen(0.5, coupling, times, frequency=frequency, lag=lag)
    found = order_parameter(path.centre, path.angle, path.depth, coefficients)
    assert np.abs(found - exact).max() < AGREED
    half = coupling / 2.0 * (np.exp(-1j * lag) * exact - np.exp(1j * lag) * exact.conj() * exact**2)
    step = 1e-5
    ahead, behind = (ott_antonsen(0.5, coupling, times + s, frequency=frequency, lag=lag) for s in (step, -step))
    assert (ahead - behind) / (2.0 * step) == pytest.approx(1j * frequency * exact + half, abs=1e-9)


def test_the_closed_form_refuses_what_is_no_order_parameter():
    assert not ott_antonsen(0.0, 1.0, [1.0, 2.0]).any()
    with pytest.raises(InvalidInput, match=r"order_parameter must be in \[0, 1\], not 1.5"):
        ott_antonsen(1.5, 1.0, 1.0)


@pytest.mark.parametrize("seed", range(3))
def test_the_moment_equations_follow_moebius_maps_while_they_resolve_the_density(seed):
    random = np.random.default_rng(seed)
    moments = np.concatenate([[1.0], random_coefficients(random).conj()])
    problem = at(Kuramoto(), random.choice([-1.0, 1.0]) * random.uniform(0.5, 3.0))
    options = {"until": 2.5 / abs(problem.coupling), "times": 10}
    exact = evolve(problem, moments, **options, method=WatanabeStrogatz())
    for method in (None, ETDRK4()):
        found = evolve(problem, moments, **options, tolerance=1e-12, method=method)
        assert apart(found, exact) < AGREED
        assert found.accuracy <= 2e-12
    along = evolve(problem, moments, **options, tolerance=1e-12, method=Characteristics())
    assert apart(along, exact) < AGREED


def test_a_potential_of_one_degree_moves_symmetric_densities_by_moebius_maps():
    problem = at(CosineSeries((0.0, -0.8)), 1.0)
    start = Bumps(2, 0.8, mean=0.3)
    exact, found = (
        evolve(problem, start, 0.9, times=6, tolerance=1e-12, method=m) for m in (WatanabeStrogatz(), None)
    )
    assert apart(exact, found) < AGREED
    assert np.abs(found.sine).max() > 0.1
    assert "order_deficit" not in exact.observables


PAIRS = {
    "kuramoto": (Kuramoto(), np.sin, 1.0, None),
    "transformer": (Transformer(BETA), lambda t: np.sin(t) * np.exp(BETA * np.cos(t)), 0.8, None),
    "repulsive": (Transformer(BETA), lambda t: np.sin(t) * np.exp(BETA * np.cos(t)), -1.0, None),
    "confined": (Kuramoto(), np.sin, 1.5, FIELD),
}


@pytest.mark.parametrize("name", PAIRS)
def test_both_ways_of_following_a_density_move_it_as_particles_move(name):
    potential, slope, coupling, confinement = PAIRS[name]
    problem, times = at(potential, coupling, confinement=confinement), np.array([0.15, 0.3])
    confining = np.zeros_like if confinement is None else lambda x: -0.3 * np.sin(x) + 0.4 * np.sin(2.0 * x)
    positions, masses = moved(by_pairs(slope, coupling, confining), uneven, times, count=192)
    exact = averaged(positions, masses, 16)
    for method in (None, Characteristics()):
        path = evolve(problem, uneven, 0.3, times=times, tolerance=1e-12, method=method)
        found = path.cosine[:, :17] + 1j * path.sine[:, :17]
        assert np.abs(found - exact).max() < AGREED, method


SPHERES = {
    "S^2": (Sphere(3), Transformer(1.0), VonMises(0.0, 1.0), None),
    "S^2, even": (Sphere(3), MaierSaupe(), Watson(1.0), None),
    "S^5, confined": (Sphere(6), Transformer(1.0), VonMises(0.0, 1.0), FIELD),
    "S^19": (Sphere(20), Kuramoto(), VonMises(0.0, 3.0), None),
}


@pytest.mark.parametrize("name", SPHERES)
@pytest.mark.parametrize("coupling", [1.0, -1.0])
def test_characteristics_and_moment_equations_agree_on_spheres(name, coupling):
    domain, potential, start, confinement = SPHERES[name]
    problem = at(potential, coupling, domain, confinement)
    one, other = (
        evolve(problem, start, 0.5, times=3, tolerance=1e-12, method=m) for m in (None, Characteristics())
    )
    assert apart(one, other) < AGREED
    assert np.abs(one.cosine[-1] - one.cosine[0])[1:].max() > 1e-3


def test_all_densities_on_the_ordinary_sphere_move_as_those_with_an_axis():
    problem = at(Transformer(1.0), 1.0, Sphere(3))
    zonal, full = (evolve(problem, VonMises(0.0, 1.0), 0.5, times=2, full=f) for f in (False, True))
    assert np.abs(zonal.order_parameter() - full.order_parameter()).max() < 1e-8
    assert zonal.observable("energy_gap") == pytest.approx(full.observable("energy_gap"), rel=1e-8)
    dissipations = [path.observable("energy_dissipation") for path in (zonal, full)]
    assert dissipations[0] == pytest.approx(dissipations[1], rel=1e-8)


@pytest.mark.parametrize(("tolerance", "bound"), [(1e-8, 1e-10), (1e-12, 2e-12)])
def test_characteristics_follow_a_density_far_beyond_its_collapse(tolerance, bound):
    problem = at(Kuramoto(), 1.0)
    exact, found = (
        evolve(problem, uneven, 20.0, times=10, tolerance=tolerance, method=m)
        for m in (WatanabeStrogatz(), Characteristics())
    )
    assert exact.observable("order_deficit")[-1] < 1e-8
    assert apart(exact, found) < bound
    assert found.accuracy == tolerance
    # The smallest value is that of 512 nodes, spaced by what the density varies over there.
    assert found.minimum == pytest.approx(exact.minimum, rel=1e-4)
    assert "from time 4 on the density is narrower than 128 moments resolve" in " ".join(found.warnings)


def test_a_collapsing_density_ends_the_evolution_with_its_reason():
    problem = at(Kuramoto(), 1.0)
    path = evolve(problem, uneven, 20.0)
    assert path.outcome is Outcome.NOT_RESOLVED
    assert path.partial
    assert 5.0 < path.time[-1] < 7.0
    (warning,) = path.warnings
    assert warning.startswith(f"only part of the time asked for, up to {path.time[-1]:.6g} of 20: without noise")
    assert "its width falls as exp(-1 t)" in warning
    assert "method=WatanabeStrogatz() (--method watanabe-strogatz) follows it to any time" in warning
    exact = evolve(problem, uneven, path.time[-1], times=path.time, method=WatanabeStrogatz())
    assert apart(path, exact) <= path.accuracy == 1e-8


@pytest.mark.parametrize(
    ("potential", "domain", "start", "rate", "further"),
    [
        (Transformer(2.0), Circle(), VonMises(0.3, 1.0), math.exp(2.0), r"method=Characteristics\(\)"),
        (Transformer(1.0), Sphere(5), VonMises(0.0, 2.0), math.e, r"method=Characteristics\(\)"),
        (Logarithmic(), Circle(), VonMises(0.0, 1.0), None, r"particles go on \(simulate\)"),
    ],
    ids=["circle", "S^4", "logarithmic"],
)
def test_the_reason_says_how_fast_a_point_attracts_and_what_goes_on(potential, domain, start, rate, further):
    path = evolve(at(potential, 1.0, domain), start, 30.0, times=5)
    said = "it grows ever steeper" if rate is None else rf"exp\(-{rate:.4g} t\)"
    assert path.outcome is Outcome.NOT_RESOLVED
    assert any(re.search(f"{said}.*{further}", warning) for warning in path.warnings)


ENERGIES = {
    "circle": (at(Transformer(BETA), 0.8), uneven, {}),
    "circle, confined": (at(Kuramoto(), -1.2, confinement=FIELD), uneven, {}),
    "S^2": (at(Transformer(1.0), 1.0, Sphere(3), FIELD), VonMises(0.0, 1.0), {}),
    "all of S^2": (at(MaierSaupe(), 2.0, Sphere(3)), VonMises(0.0, 1.0), {"full": True}),
    "S^5": (at(Transformer(1.0), 1.0, Sphere(6)), VonMises(0.0, 1.0), {}),
}


@pytest.mark.parametrize("name", ENERGIES)
def test_the_energy_falls_by_what_is_dissipated(name):
    problem, start, options = ENERGIES[name]
    step = 2e-3
    # Differences of order six.
    times = 0.2 + step * np.arange(-3, 4)
    path = evolve(problem, start, times[-1], times=times, tolerance=1e-12, **options)
    energy = path.observable("energy_gap")
    slope = (np.array([-1.0, 9.0, -45.0, 0.0, 45.0, -9.0, 1.0]) @ energy) / (60.0 * step)
    assert -slope == pytest.approx(path.observable("energy_dissipation")[3], rel=1e-8)
    assert "free_energy_gap" not in path.observables
    with pytest.raises(InvalidInput, match="no observable 'free_energy_gap', for its equation has no free energy"):
        _ = path.free_energy_gap


def test_energy_and_dissipation_are_those_of_particles():
    problem = at(Transformer(BETA), 0.8, confinement=FIELD)
    path = evolve(problem, uneven, 0.0, times=[0.0])
    angles = 2.0 * math.pi * np.arange(128) / 128
    masses = uneven(angles) * 2.0 * math.pi / 128
    apart_by = angles[:, None] - angles[None, :]
    kernel = -np.exp(BETA * np.cos(apart_by)) / BETA
    outside = 0.3 * np.cos(angles) - 0.2 * np.cos(2.0 * angles)
    energy = 0.4 * masses @ kernel @ masses + outside @ masses
    uniform = 0.4 * kernel.mean()
    slope = 0.8 * (np.sin(apart_by) * np.exp(BETA * np.cos(apart_by))) @ masses
    slope += -0.3 * np.sin(angles) + 0.4 * np.sin(2.0 * angles)
    assert path.observable("energy_gap")[0] == pytest.approx(energy - uniform, rel=1e-12)
    assert path.observable("energy_dissipation")[0] == pytest.approx(masses @ slope**2, rel=1e-12)


METHODS = (None, WatanabeStrogatz(), Characteristics())
# Even, positive and without a first moment.
EVEN = np.array([1.0, 0.0, *(0.2 * (-0.77) ** np.arange(16))])


@pytest.mark.parametrize("method", METHODS)
def test_densities_without_a_first_moment_stay_for_ever(method):
    # Errors of the first moment of one rounding would grow by exp(100).
    uneven_one = ([1, 0, 0.2, 0.1], [0, 0, 0, 0.1])
    for start in (Bumps(2, 0.6), Bumps(3, 0.4, mean=0.3), PerturbedUniform(0.0), uneven_one, (EVEN, 0.0 * EVEN)):
        path = evolve(at(Kuramoto(), 1.0), start, 200.0, times=4, method=method)
        assert path.order_parameter().max() < 4 * EPS
        # Angles up to a turn are rounded, and degrees multiply that.
        assert np.abs(path.cosine - path.cosine[0]).max() < 2.0 * math.pi * path.cosine.shape[1] * EPS
        assert path.outcome is Outcome.UNEXAMINED


@pytest.mark.parametrize("method", [None, Characteristics()])
def test_symmetric_densities_keep_their_symmetry_while_they_collapse(method):
    path = evolve(at(Transformer(3.0), 1.0), Bumps(3, 0.5, mean=0.2), 0.5, times=5, method=method)
    moments = np.hypot(path.cosine, path.sine)
    assert moments[-1, 3] > moments[0, 3] + 0.1
    assert not moments[:, np.arange(moments.shape[1]) % 3 != 0].any()


def test_nothing_moves_without_a_coupling():
    for method in METHODS:
        path = evolve(at(Kuramoto(), 0.0), VonMises(0.4, 2.0), 50.0, times=2, method=method)
        assert np.abs(path.cosine - path.cosine[0]).max() < 2.0 * math.pi * path.cosine.shape[1] * EPS


def test_tiny_perturbations_grow_with_relative_accuracy():
    start, coupling = 1e-9, 1.0
    for method in METHODS:
        path = evolve(at(Kuramoto(), coupling), PerturbedUniform(start), 8.0, times=4, method=method)
        exact = 0.5 * start * np.exp(0.5 * coupling * path.time)
        # Characteristics move masses of size one, whose errors do not shrink with the perturbation: they say so.
        bound = path.accuracy if isinstance(method, Characteristics) else 1e-7
        assert bound < 1e-2
        assert path.order_parameter() == pytest.approx(exact, rel=bound), method


REFUSED = {
    "noise": (McKeanVlasov(Circle(), Kuramoto(), coupling=1.0), uneven, WatanabeStrogatz(), "give noise=0"),
    "noise, characteristics": (
        McKeanVlasov(Circle(), Kuramoto(), coupling=1.0),
        uneven,
        Characteristics(),
        "give noise=0",
    ),
    "two degrees": (at(Transformer(1.0), 1.0), uneven, WatanabeStrogatz(), r"take method=Characteristics\(\)"),
    "confined": (at(Kuramoto(), 1.0, confinement=FIELD), uneven, WatanabeStrogatz(), "no confinement"),
    "sphere": (at(Kuramoto(), 1.0, Sphere(3)), VonMises(), WatanabeStrogatz(), "needs the circle"),
    "degrees beside n": (at(CosineSeries((0.0, -1.0)), 1.0), uneven, WatanabeStrogatz(), "multiples of n"),
    "kinks": (at(HegselmannKrause(1.0), 1.0), uneven, Characteristics(), "at most 512 degrees"),
    "no axis": (
        at(Kuramoto(), 1.0, Sphere(3)),
        Bumps(3, 0.7, weights=(1.0, 2.0, 3.0)),
        Characteristics(),
        "densities about an axis",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_a_method_does_not_follow_is_refused_in_one_sentence(name):
    problem, start, method, said = REFUSED[name]
    with pytest.raises(InvalidInput, match=said):
        evolve(problem, start, 1.0, method=method)


def test_what_needs_noise_says_so(tmp_path):
    problem = at(Kuramoto(), 1.0)
    with pytest.raises(InvalidInput, match=r"evolutions that end at rest \(stop_at_stationarity, --stop\) need"):
        evolve(problem, uneven, math.inf, stop_at_stationarity=True)
    with pytest.raises(InvalidInput, match="without noise no density is that of Gibbs"):
        bifurcation_diagram(problem.at(coupling=None))
    with pytest.raises(InvalidInput, match="has no checkpoints"):
        evolve(problem, uneven, 1.0, method=WatanabeStrogatz(), checkpoint=Checkpoint(tmp_path / "c", every=0.5))


@pytest.mark.parametrize("method", METHODS)
def test_a_density_with_a_jump_is_refused(method):
    with pytest.raises(NotResolved, match="it has a jump or a corner"):
        evolve(at(Kuramoto(), 1.0), lambda t: np.where(np.cos(t) > 0.0, 1.0 / math.pi, 0.0), 1.0, method=method)


def test_a_run_that_ends_by_a_collapse_is_resumed_to_the_same_end(tmp_path):
    options = {"times": 4, "checkpoint": Checkpoint(tmp_path / "run", every=0.5)}
    first, second = (evolve(at(Transformer(2.0), 1.0), uneven, 5.0, **options) for _ in range(2))
    assert np.array_equal(first.cosine, second.cosine)
    assert first.warnings == second.warnings
    assert first.outcome is second.outcome is Outcome.NOT_RESOLVED


@pytest.mark.parametrize("suffix", [".nc", ".json"])
def test_files_keep_the_energies_and_the_outcome(tmp_path, suffix):
    path = evolve(at(Kuramoto(), 1.0), uneven, 30.0, times=5, method=WatanabeStrogatz())
    path.save(tmp_path / f"path{suffix}")
    kept = open_trajectory(tmp_path / f"path{suffix}")
    assert kept.outcome is Outcome.UNEXAMINED
    assert kept.observables == path.observables
    assert set(kept.observables) == {"energy_gap", "energy_dissipation", "order_deficit"}
    assert kept.problem.noise == 0.0


def test_random_starts_agree_by_all_methods():
    problem = at(Transformer(0.5), 2.0)
    start = RandomPerturbation(0.3, seed=5)
    one, other = (
        evolve(problem, start, 1.0, times=3, tolerance=1e-12, method=m) for m in (None, Characteristics())
    )
    assert apart(one, other) < AGREED


@pytest.mark.parametrize("on_failure", ["return", "raise"])
def test_characteristics_that_are_interrupted_keep_what_they_have(on_failure):
    def progress(time, *_):
        if time > 1.0:
            raise KeyboardInterrupt

    problem = McKeanVlasov(Circle(), Transformer(1.0), noise=0.0, coupling=1.0)
    options = {"times": 30, "method": Characteristics(), "progress": progress, "on_failure": on_failure}
    if on_failure == "raise":
        with pytest.raises(KeyboardInterrupt):
            evolve(problem, VonMises(1.0), 3.0, **options)
        return
    found = evolve(problem, VonMises(1.0), 3.0, **options)
    assert found.outcome is Outcome.INTERRUPTED
    assert 1.0 <= found.time[-1] < 3.0
    assert any("interrupted" in warning for warning in found.warnings)
    whole = evolve(problem, VonMises(1.0), 3.0, times=30, method=Characteristics())
    count = found.time.size
    assert np.array_equal(found.time, whole.time[:count])
    assert np.abs(found.cosine - whole.cosine[:count]).max() < 1e-12


@pytest.mark.parametrize(
    ("problem", "initial"),
    [
        (McKeanVlasov(Circle(), Kuramoto(), 0.0, 1.0, CosineSeries((-2.0,))), VonMises(1.0)),
        (McKeanVlasov(Circle(), Transformer(3.0), 0.0, 1.0), Bumps(3)),
    ],
    ids=["confined", "several clusters"],
)
def test_the_reason_promises_no_rate_where_there_is_none(problem, initial):
    """Rates to one point are known of the interaction alone, and not of densities that gather at several."""
    found = evolve(problem, initial, 40.0, times=3)
    (said,) = [warning for warning in found.warnings if "too narrow for" in warning]
    assert "contraction_rate" not in said
    assert "exp(-" not in said
    with pytest.raises((InvalidInput, ComputationFailed)):
        contraction_rate(problem, initial=initial)


def test_what_belongs_to_noise_is_refused_without_it():
    problem = McKeanVlasov(Circle(), Kuramoto(), noise=0.0, coupling=1.0)
    state = stationary_states(McKeanVlasov(Circle(), Kuramoto(), coupling=3.0))[0]
    with pytest.raises(InvalidInput, match="not to a state; leave state"):
        contraction_rate(problem, state=state)
    with pytest.raises(InvalidInput, match="watch belongs to relaxation"):
        contraction_rate(problem, watch=lambda *_: None)
