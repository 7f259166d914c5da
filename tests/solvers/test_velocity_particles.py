"""Particles of velocity laws beside pair sums in the form of the papers: unit vectors, rows of softmax, projections."""

import math

import numpy as np
import pytest
from scipy import stats
from scipy.integrate import solve_ivp

from meanfield import (
    Circle,
    ComputationFailed,
    ContinuityEquation,
    CosineSeries,
    InvalidInput,
    McKeanVlasov,
    NormalisedAttention,
    SoftmaxAttention,
    Sphere,
    Transformer,
    open_ensemble,
)
from meanfield.cli import main
from solvers import (
    Checkpoint,
    EulerMaruyama,
    MomentDrift,
    PairDrift,
    VonMises,
    WeakSecondOrder,
    simulate,
    stationary_states,
)
from solvers.domains import motion_of
from solvers.particles import replicas
from solvers.particles.stepping import advance
from tests.particle_runs import interrupted_at, same

EPS = np.finfo(float).eps
KINDS = {"USA": None, "SA": SoftmaxAttention, "nGPT": NormalisedAttention}


def problem_of(kind, domain, beta, **others):
    options = {"noise": 0.0, "coupling": 1.0} | others
    if KINDS[kind] is None:
        return McKeanVlasov(domain, Transformer(beta), **options)
    return ContinuityEquation(domain, KINDS[kind](beta), **options)


def attention_velocity(kind, tokens, beta):
    """Return the velocities of tokens (N, d) as the papers write them."""
    scores = beta * (tokens @ tokens.T)
    largest = 0.0 if kind == "USA" else scores.max(axis=1, keepdims=True)
    weights = np.exp(scores - largest)
    average = weights @ tokens
    if kind == "USA":
        average /= len(tokens)
    elif kind == "SA":
        average /= weights.sum(axis=1, keepdims=True)
    else:
        average /= np.linalg.norm(average, axis=1, keepdims=True)
    return average - tokens * (tokens * average).sum(axis=1, keepdims=True)


def followed(kind, tokens, beta, times):
    """Return the tokens at times by an integrator of high order, (T, N, d)."""
    solution = solve_ivp(
        lambda _, flat: attention_velocity(kind, flat.reshape(tokens.shape), beta).ravel(),
        (0.0, times[-1]), tokens.ravel(), "DOP853", times, rtol=1e-13, atol=1e-14,
    )  # fmt: skip
    return solution.y.T.reshape(len(times), *tokens.shape)


def random_tokens(count, dimension, seed=3):
    tokens = np.random.default_rng(seed).standard_normal((count, dimension))
    return tokens / np.linalg.norm(tokens, axis=1, keepdims=True)


def angles_of(tokens):
    return np.arctan2(tokens[..., 1], tokens[..., 0])


def vectors_of(angles):
    return np.stack([np.cos(angles), np.sin(angles)], axis=-1)


def run(problem, tokens, until, step, **options):
    """Return the tokens at the end (N, d) of a run without noise, whatever the domain."""
    flat = problem.domain == Circle()
    start = angles_of(tokens) if flat else tokens
    ensemble = simulate(
        problem, len(tokens), until, 1, initial=start, step=step, times=1, keep_positions=True, **options
    )
    return vectors_of(ensemble.positions[0]) if flat else ensemble.positions[0]


def velocities(problem, angles, drift=None, step=1e-2):
    """Return the velocities of particles on the circle from one explicit step, which is exact up to rounding."""
    ensemble = simulate(
        problem, len(angles), step, 1, initial=angles, step=step, times=1, keep_positions=True, drift=drift,
        scheme=EulerMaruyama(),
    )  # fmt: skip
    return (np.remainder(ensemble.positions[0] - angles + np.pi, 2 * np.pi) - np.pi) / step


def on_circle(kind, angles, beta):
    moves = attention_velocity(kind, vectors_of(angles), beta)
    return moves[:, 1] * np.cos(angles) - moves[:, 0] * np.sin(angles)


def test_tokens_of_ngpt_move_by_moderate_steps_at_any_beta():
    """Perturbations of the uniform state grow at 1/beta, but no step of a hundredth of that is needed; nor cells."""
    beta, count, until = 1e-3, 80, 0.5
    tokens = vectors_of(np.random.default_rng(7).uniform(0.0, 2.0 * np.pi, count))
    problem = problem_of("nGPT", Circle(), beta)
    ensemble = simulate(problem, count, until, 1, initial=angles_of(tokens), times=1, keep_positions=True)
    assert ensemble.step > 1e-3
    exact = followed("nGPT", tokens, beta, [until])[0]
    # The error of the scheme of fourth order at that step; a token near the antipode of the mean is the worst.
    assert np.abs(vectors_of(ensemble.positions[0]) - exact).max() <= 1e-7


@pytest.mark.parametrize("domain", [Circle(), Sphere(3), Sphere(4)], ids=str)
@pytest.mark.parametrize("kind", KINDS)
def test_tokens_follow_the_sums_of_the_papers(kind, domain):
    tokens, errors = random_tokens(7, domain.dimension), []
    exact = followed(kind, tokens, 2.0, [1.0])[-1]
    for steps in (50, 100):
        errors.append(np.abs(run(problem_of(kind, domain, 2.0), tokens, 1.0, 1.0 / steps) - exact).max())
    # Order 4: the second error is a sixteenth of the first, and small.
    assert errors[1] <= errors[0] / 12 + 1e-12
    assert errors[1] <= 1e-6


@pytest.mark.parametrize("kind", ["SA", "nGPT"])
def test_the_gradient_law_in_the_place_of_another_is_told_apart(kind):
    tokens = random_tokens(7, 2)
    exact = followed(kind, tokens, 2.0, [1.0])[-1]
    assert np.abs(run(problem_of("USA", Circle(), 2.0), tokens, 1.0, 0.01) - exact).max() >= 0.1


@pytest.mark.parametrize("beta", [-3.0, 0.01, 1.0, 30.0, 660.0])
@pytest.mark.parametrize("kind", ["SA", "nGPT"])
def test_sums_over_pairs_are_exact_at_every_beta(kind, beta):
    angles = np.random.default_rng(8).uniform(-np.pi, np.pi, 60)
    found = velocities(problem_of(kind, Circle(), beta), angles, PairDrift())
    # Weights exp(beta cos) are known to beta roundings, angles and their difference over a step of 0.01 to some.
    assert np.abs(found - on_circle(kind, angles, beta)).max() <= (64 * abs(beta) + 16 * np.pi / 1e-2) * EPS


@pytest.mark.parametrize("beta", [660.0, -660.0])
def test_the_largest_beta_moves_tokens_on_spheres(beta):
    tokens = random_tokens(20, 5)
    for kind in ("SA", "nGPT"):
        found = run(problem_of(kind, Sphere(5), beta), tokens, 1e-3, 1e-3, scheme=EulerMaruyama())
        exact = moved(tokens, 1e-3 * attention_velocity(kind, tokens, beta))
        assert np.abs(found - exact).max() <= 1e-3 * 64 * abs(beta) * EPS + 8 * EPS


@pytest.mark.parametrize(("beta", "tolerance"), [(1.0, 1e-9), (1.0, 1e-6), (-2.0, 1e-9), (40.0, 1e-9)])
@pytest.mark.parametrize("kind", ["SA", "nGPT"])
def test_moments_give_the_velocity_to_the_tolerance(kind, beta, tolerance):
    angles = np.random.default_rng(9).vonmises(0.5, 2.5, 2000)
    problem = problem_of(kind, Circle(), beta)
    found = velocities(problem, angles, MomentDrift(tolerance=tolerance))
    setting = motion_of(problem)(problem, MomentDrift(tolerance=tolerance), 6, 2000)
    scores = np.exp(beta * np.cos(angles - angles[:, np.newaxis]))
    # Errors of the drives are tolerance times the scale, the velocity that over the average it divides by.
    smallest = scores.mean(axis=1).min() if kind == "SA" else np.abs(scores @ np.exp(1j * angles)).min() / 2000
    bound = 4 * tolerance * setting.modes.scale / smallest + tolerance
    error = np.abs(found - on_circle(kind, angles, beta)).max()
    assert error <= bound


def moved(tokens, moves):
    """Return tokens after tangent moves along their great circles."""
    lengths = np.linalg.norm(moves, axis=1, keepdims=True)
    return np.cos(lengths) * tokens + np.sinc(lengths / np.pi) * moves


@pytest.mark.parametrize("kind", ["SA", "nGPT"])
def test_moments_on_the_ordinary_sphere_give_the_velocity_to_the_tolerance(kind):
    tokens = random_tokens(600, 3)
    options = {"drift": MomentDrift(), "scheme": EulerMaruyama()}
    found = run(problem_of(kind, Sphere(3), 3.0), tokens, 1e-2, 1e-2, **options)
    exact = moved(tokens, 1e-2 * attention_velocity(kind, tokens, 3.0))
    # Drives are at least exp(-2 beta) of the largest, to which their error is relative.
    assert np.abs(found - exact).max() <= 1e-2 * 1e-9 * math.exp(2 * 3.0)


@pytest.mark.parametrize("domain", [Circle(), Sphere(3), Sphere(4)], ids=str)
def test_coupling_and_confinement_add_up(domain):
    """A coupling of -2.5 and the force -V' of V = 0.7 cos: that towards the last axis, on the circle the first."""
    field, tokens = CosineSeries((0.7,)), random_tokens(9, domain.dimension)
    axis = np.eye(domain.dimension)[0 if domain == Circle() else -1]
    pull = -0.7 * (axis - tokens * (tokens @ axis)[:, np.newaxis])
    moves = 1e-3 * (-2.5 * attention_velocity("SA", tokens, 1.5) + pull)
    problem = problem_of("SA", domain, 1.5, coupling=-2.5, confinement=field)
    for drift in (PairDrift(), MomentDrift()) if domain.dimension < 4 else (PairDrift(),):
        found = run(problem, tokens, 1e-3, 1e-3, drift=drift, scheme=EulerMaruyama())
        assert np.abs(found - moved(tokens, moves)).max() <= 1e-3 * 1e-9 * math.exp(2 * 1.5) + 8 * EPS


def test_few_particles_are_summed_over_pairs_and_many_by_moments():
    described = {}
    for count in (20, 2000):
        ensemble = simulate(problem_of("SA", Circle(), 2.0), count, 0.1, 1, step=0.1)
        described[count] = ensemble.provenance["options"]["drift"]
    assert described == {20: "pairs", 2000: "moments"}


@pytest.mark.parametrize("domain", [Circle(), Sphere(3)], ids=str)
@pytest.mark.parametrize("drift", [PairDrift(), MomentDrift()])
def test_quicker_passes_are_the_step_of_the_scheme(domain, drift):
    # So few that noise is drawn for all at once.
    count = 60
    problem = problem_of("SA", domain, 2.0, noise=0.3)
    setting = motion_of(problem)(problem, drift, 6, count).with_kernel("numpy", 0.0)
    start = setting.starts(None, count, 1).each[0]
    for scheme in (EulerMaruyama(), WeakSecondOrder()):
        positions = setting.placed(start, count, np.random.default_rng(4))
        clouds = [setting.cloud(positions.copy(), np.random.default_rng(5)) for _ in range(2)]
        scheme.advance(clouds[0], 0.05)
        quicker = clouds[1].passes.get(type(scheme), lambda step: scheme.advance(clouds[1], step))  # noqa: B023
        quicker(0.05)
        scale = np.abs(positions).max()
        assert np.abs(clouds[0].positions - clouds[1].positions).max() <= 16 * EPS * scale


@pytest.mark.parametrize(
    ("domain", "drift"), [(Circle(), PairDrift()), (Circle(), MomentDrift()), (Sphere(3), MomentDrift())], ids=str
)
def test_checkpoints_resume_to_the_bit(domain, drift, monkeypatch, tmp_path):
    options = {"step": 0.05, "drift": drift, "keep_positions": True, "times": 2}
    whole, kept = simulate(problem_of("SA", domain, 2.0), 30, 0.4, 3, **options), Checkpoint(tmp_path / "run", 0.1)
    monkeypatch.setattr(replicas, "advance", interrupted_at(5, advance))
    simulate(problem_of("SA", domain, 2.0), 30, 0.4, 3, checkpoint=kept, on_failure="return", **options)
    monkeypatch.undo()
    assert same(simulate(problem_of("SA", domain, 2.0), 30, 0.4, 3, checkpoint=kept, **options), whole)


def test_a_velocity_that_moments_do_not_resolve_ends_the_run():
    """One token opposite to many at beta = -20: its drive is exp(-40) of the largest."""
    angles = np.append(np.random.default_rng(1).normal(0.0, 0.01, 300), 0.02)
    problem = problem_of("SA", Circle(), -20.0)
    with pytest.raises(ComputationFailed, match=r"take a smaller tolerance.* or drift=PairDrift\(\)"):
        simulate(problem, 301, 0.01, 1, initial=angles, step=0.01, drift=MomentDrift())
    found = velocities(problem, angles, PairDrift())
    assert np.abs(found - on_circle("SA", angles, -20.0)).max() <= (64 * 20 + 16 * np.pi / 1e-2) * EPS


@pytest.mark.parametrize(
    ("kind", "domain", "beta", "options", "sentence"),
    [
        ("SA", Sphere(4), 2.0, {"drift": MomentDrift()}, r"in 2 and 3 dimensions, not in 4; take drift=PairDrift"),
        ("nGPT", Circle(), 600.0, {"drift": MomentDrift()}, r"leave the range in which moments can be squared"),
        ("SA", Circle(), 2.0, {"step": 9.0, "until": 9.0}, r"the step 9 is too long"),
        ("SA", Sphere(3), 2.0, {"step": 9.0, "until": 9.0, "noise": 0.0}, r"the step 9 is too long"),
    ],
)  # fmt: skip
def test_what_is_not_possible_is_refused_in_one_sentence(kind, domain, beta, options, sentence):
    noise, until = options.pop("noise", 0.0), options.pop("until", 0.1)
    with pytest.raises(InvalidInput, match=sentence):
        simulate(
            problem_of(kind, domain, beta, noise=noise), 2000, until, 1, initial=VonMises(0.0, 20.0), **options
        )


class Singular(SoftmaxAttention):
    """A law whose speed is nowhere finite."""

    def speed(self, drive, slope_squared, radial):
        return np.full_like(drive, np.inf)


@pytest.mark.parametrize("domain", [Circle(), Sphere(3), Sphere(4)], ids=str)
def test_a_velocity_that_is_not_finite_is_said(domain):
    problem = ContinuityEquation(domain, Singular(2.0), noise=0.0, coupling=1.0)
    with pytest.raises(ComputationFailed, match="is not finite at a particle, where the average"):
        run(problem, random_tokens(5, domain.dimension), 0.1, 0.1)


class Unknown(SoftmaxAttention):
    """A law that says nothing about slopes."""

    def steepness(self):
        return None


@pytest.mark.parametrize("domain", [Circle(), Sphere(3)], ids=str)
def test_without_a_stated_slope_a_step_is_asked_for(domain):
    problem = ContinuityEquation(domain, Unknown(2.0), noise=0.0, coupling=1.0)
    with pytest.raises(
        InvalidInput, match=r"does not say how steep its velocity is; give a step, such as step=0\.01"
    ):
        simulate(problem, 10, 0.1, 1)
    assert simulate(problem, 10, 0.1, 1, step=0.05).completed.all()


def test_many_particles_are_in_the_stationary_state_of_the_equation():
    """Order parameters of 8 systems of 1e5 particles at rest; false alarm with probability 1e-4 each, seed 21."""
    coupling = 1.5 * 2.2401937238675
    problem = ContinuityEquation(Circle(), SoftmaxAttention(1.0), coupling=coupling)
    ensemble = simulate(
        problem, 100_000, 3.0, 21, replicas=8, step=0.05, times=[3.0], initial=VonMises(0.0, 3.0), degrees=2
    )
    lengths = np.hypot(ensemble.cosine[:, -1, 1:], ensemble.sine[:, -1, 1:])
    # A tenth for the bias of order 1/N and that of the step.
    bars = (stats.t.ppf(1 - 0.5e-4, 7) + 0.1) * lengths.std(axis=0, ddof=1) / math.sqrt(8)
    expected, gradient = (
        next(np.abs(state.moments.cosine[1:3]) for state in stationary_states(one) if state.label != "uniform")
        for one in (problem, McKeanVlasov(Circle(), Transformer(1.0), coupling=coupling))
    )
    assert np.all(np.abs(lengths.mean(axis=0) - expected) <= bars)
    assert np.all(np.abs(lengths.mean(axis=0) - gradient) > 5 * bars)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (["--beta", "900", "--until", "1"], "abs(beta) must be at most 660 for softmax attention, not 900"),
        (
            ["--beta", "2", "--until", "9", "--step", "9", "--initial", "von-mises:concentration=20"],
            "the step 9 is too long",
        ),
        (
            ["--beta", "2", "--until", "1", "--scheme", "runge-kutta-4"],
            "runge-kutta-4 moves particles without noise",
        ),
        (["--beta", "2"], "needs a final time; add --until 3"),
    ],
)
def test_the_command_refuses_in_one_sentence(options, sentence, capsys):
    assert main(["particles", "attention", "--coupling", "1", *options]) == 2
    assert sentence in " ".join(capsys.readouterr().err.split())


def test_the_command_moves_tokens_as_simulate_does(tmp_path):
    line = ["particles", "attention", "--normalisation", "ngpt", "--beta", "2", "--coupling", "1", "--noise", "0"]
    line += ["--particles", "12", "--until", "1", "--positions", "--quiet", "--to", str(tmp_path / "tokens.json")]
    assert main(line) == 0
    found = open_ensemble(tmp_path / "tokens.json")
    assert same(found, simulate(problem_of("nGPT", Circle(), 2.0), 12, 1.0, 1, keep_positions=True))
