"""The scheme of Leimkuhler and Matthews against its own Markov operator, Gibbs densities and Brownian motion."""

import functools
import math

import numpy as np
import pytest
from scipy.special import ive

from meanfield import Circle, CosineSeries, InvalidInput, McKeanVlasov, open_ensemble
from meanfield.cli import main
from solvers import (
    Checkpoint,
    EulerMaruyama,
    LeimkuhlerMatthews,
    PairDrift,
    VonMises,
    WeakSecondOrder,
    simulate,
)
from solvers.particles import few, replicas
from tests import problems
from tests.particle_runs import interrupted_at
from tests.solvers.test_particle_schemes import Independent

SCHEME = LeimkuhlerMatthews()
HELD = problems.HELD.problem
STRENGTH = -HELD.confinement.w[0]
TOGETHER = McKeanVlasov(Circle(), CosineSeries((-1.5, -0.6)), coupling=1.0, confinement=CosineSeries((-0.8,)))
GIBBS = np.array([problems.HELD.exact("order parameter"), problems.HELD.exact("second moment")])


def von_mises(concentration, mean=0.0, degree=40):
    k = np.arange(degree + 1)
    return ive(k, concentration) / ive(0, concentration) * np.exp(-1j * k * mean)


class Operator:
    """The law of X_n for infinitely many particles and unit noise, by quadrature.

    X_n = Y_n + sigma xi_n/2 with Y_(n+1) = Y_n + h b(X_n) + sigma xi_n, and Y_n is independent of xi_n: Y is a Markov
    chain. It starts at Y_1 = X_0 + h b(X_0) + sqrt(3/4) sigma xi_0.
    """

    def __init__(self, step, attraction, confinement, degree=40):
        self.step, self.k = step, np.arange(degree + 1)
        self.attraction, self.confinement = np.zeros(degree + 1), np.zeros(degree + 1)
        self.attraction[1 : len(attraction) + 1] = attraction
        self.confinement[1 : len(confinement) + 1] = confinement
        self.nodes = 2 * np.pi * np.arange(256) / 256
        # From the moments of Y to those of X.
        self.half = np.exp(-(self.k**2) * step / 4)

    def drift(self, c, at):
        strength = self.k * (self.attraction * c + self.confinement)
        return (-1j * np.exp(1j * np.multiply.outer(at, self.k)) @ strength).real

    def masses(self, c):
        return (1 + 2 * (np.exp(1j * np.outer(self.nodes, self.k[1:])) @ c[1:]).real) / self.nodes.size

    def first(self, c):
        """Return the moments of Y_1 from those of X_0."""
        ends = self.nodes + self.step * self.drift(c, self.nodes)
        return self.half**3 * (np.exp(-1j * np.outer(self.k, ends)) @ self.masses(c))

    def pushed(self, c):
        """Return the matrix from masses of Y_n to moments of Y_(n+1), c those of Y_n."""
        normals, weights = np.polynomial.hermite_e.hermegauss(40)
        starts = np.add.outer(math.sqrt(2 * self.step) * normals, self.nodes)
        middle = starts - 0.5 * math.sqrt(2 * self.step) * normals[:, np.newaxis]
        ends = starts + self.step * self.drift(self.half * c, middle)
        return np.einsum("q,kqn->kn", weights / weights.sum(), np.exp(-1j * np.multiply.outer(self.k, ends)))


def operated(operator, moments, steps):
    """Return the moments of X after steps."""
    c = operator.first(np.asarray(moments, dtype=complex))
    for _ in range(steps - 1):
        c = operator.pushed(c) @ operator.masses(c)
    return operator.half * c


@functools.cache
def at_rest(step):
    """Return <cos X> and <cos 2X> at rest in the confinement, where particles do not feel each other."""
    operator = Operator(step, (), (-STRENGTH,))
    c = operator.first(von_mises(STRENGTH) + 0j)
    matrix, before = operator.pushed(c), np.inf
    while np.abs(c - before).max() > 1e-15:
        before, c = c, matrix @ operator.masses(c)
    return (operator.half * c)[1:3].real


# Its order


def test_means_at_rest_have_order_two_by_the_markov_operator():
    biases = [at_rest(step) - GIBBS for step in (0.05, 0.025, 0.0125)]
    orders = np.log2(np.abs([biases[0] / biases[1], biases[1] / biases[2]]))
    # The next power of the step makes half as much of it at half of the step.
    assert np.abs(orders[1] - 2.0).max() <= 0.08
    assert np.all(np.abs(orders[1] - 2.0) <= 0.6 * np.abs(orders[0] - 2.0))


@pytest.mark.parametrize("step", [0.2, 0.1, 0.05])
def test_particles_at_rest_have_the_bias_of_the_operator(step):
    # 6 standard errors at 15 degrees of freedom: false alarm below 3e-5 for each of the 6 numbers. Records a unit of
    # time apart are averaged in every replica: relaxation takes about 1/STRENGTH.
    ensemble = simulate(
        HELD, 5000, 12.0, 12, initial=VonMises(0.0, STRENGTH), step=step, replicas=16, scheme=SCHEME,
        times=np.arange(4.0, 13.0), degrees=2,
    )  # fmt: skip
    means = ensemble.cosine[:, :, 1:].mean(axis=1)
    error = means.std(axis=0, ddof=1) / math.sqrt(16)
    assert np.all(np.abs(means.mean(axis=0) - at_rest(step)) <= 6 * error)
    # Euler-Maruyama, at the same cost, is off by many standard errors, more than STRENGTH * step / 20.
    assert np.all(6 * error < STRENGTH * step / 20)


def test_at_rest_it_beats_the_schemes_with_as_many_drifts_and_twice_as_many():
    options = {"initial": VonMises(0.0, STRENGTH), "step": 0.2, "replicas": 16, "times": np.arange(4.0, 13.0)}
    biases = []
    for scheme in (SCHEME, WeakSecondOrder(), EulerMaruyama()):
        ensemble = simulate(HELD, 5000, 12.0, 12, scheme=scheme, degrees=2, **options)
        biases.append(np.abs(ensemble.cosine[:, :, 1:].mean(axis=(0, 1)) - GIBBS))
    assert np.all(4 * biases[0] < biases[1])
    assert np.all(4 * biases[1] < biases[2])


@pytest.mark.parametrize(("particles", "steps"), [(100, 2), (30_000, 4)])
def test_interacting_particles_follow_the_operator(steps, particles):
    count = 16 if particles > 100 else 3000
    ensemble = simulate(
        TOGETHER, particles, 1.0, 3, initial=VonMises(0.4, 2.0), step=1.0 / steps, replicas=count, scheme=SCHEME,
        times=[1.0],
    )  # fmt: skip
    expected = operated(Operator(1.0 / steps, (-1.5, -0.6), (-0.8,)), von_mises(2.0, 0.4), steps)
    for degree in (1, 2):
        for found, exact in zip(ensemble.mean_moments(degree), (expected.real, -expected.imag), strict=True):
            # Of N particles the mean is off by a number of order 1/N, of theirs here at most one.
            assert abs(found.mean[0] - exact[degree]) <= 6 * found.standard_error[0] + 1.0 / particles


def test_noise_alone_is_brownian_motion_whatever_the_steps():
    free = Independent(0.0, 0.7)
    lengths = np.random.default_rng(1).uniform(0.01, 1.0, 60)
    for time, length in zip(np.cumsum(lengths), lengths, strict=True):
        SCHEME.advance(free, length)
        assert abs(free.variance / (2 * 0.7 * time) - 1.0) <= 1e-13


# What it carries


def run(**others):
    options = {"step": 0.03, "scheme": SCHEME, "keep_positions": True, "times": [0.1, 0.25, 0.5]} | others
    return simulate(TOGETHER, options.pop("particles", 300), 0.5, 11, **options)


@pytest.mark.parametrize(
    "options", [{}, {"particles": 30}, {"drift": PairDrift()}], ids=["cells", "modes", "pairs"]
)
def test_a_resumed_run_gives_the_same_bits(options, tmp_path, monkeypatch):
    whole = run(**options)
    kept = Checkpoint(tmp_path / "run", 0.1)
    monkeypatch.setattr(replicas, "advance", interrupted_at(11, replicas.advance))
    run(checkpoint=kept, on_failure="return", **options)
    monkeypatch.undo()
    assert np.array_equal(run(checkpoint=kept, **options).positions, whole.positions)
    with pytest.raises(InvalidInput, match="its scheme is"):
        run(checkpoint=kept, **options | {"scheme": WeakSecondOrder()})


def test_no_number_depends_on_the_block(monkeypatch):
    together = run(particles=17, replicas=7)
    monkeypatch.setattr(few, "MOST_REPLICAS", 2)
    assert np.array_equal(run(particles=17, replicas=7).positions, together.positions)


def test_moments_and_pairs_agree():
    assert np.abs(run().positions - run(drift=PairDrift()).positions).max() <= 1e-7
    assert np.abs(run(particles=30).positions - run(particles=30, drift=PairDrift()).positions).max() <= 1e-12


def test_numba_gives_the_same_bits():
    pytest.importorskip("numba", reason="numba is not installed")
    one, other = (run(particles=20_000, kernel=kernel, replicas=2) for kernel in ("numpy", "numba"))
    assert np.array_equal(one.positions, other.positions)
    assert np.array_equal(one.cosine, other.cosine)


# Where it applies


def test_on_spheres_it_is_refused_in_a_sentence():
    of = problems.SPINS_AT_1.problem
    with pytest.raises(
        InvalidInput, match="leimkuhler-matthews adds displacements up, which has no meaning on a sphere"
    ):
        simulate(of, 10, 0.1, 1, scheme=SCHEME)


def test_the_command_takes_it(tmp_path, capsys):
    target = tmp_path / "e.json"
    line = ["particles", "kuramoto", "--coupling", "1", "--particles", "300", "--until", "0.2", "--step", "0.1"]
    line += ["--scheme", "leimkuhler-matthews", "--seed", "5"]
    assert main([*line, "--to", str(target)]) == 0
    expected = simulate(problems.KURAMOTO_AT_1.problem, 300, 0.2, 5, step=0.1, scheme=SCHEME)
    assert open_ensemble(target).scheme == "leimkuhler-matthews"
    assert np.array_equal(open_ensemble(target).cosine, expected.cosine)
    capsys.readouterr()
    assert main([*line, "--domain", "sphere"]) == 2
    assert "which has no meaning on a sphere" in capsys.readouterr().err
