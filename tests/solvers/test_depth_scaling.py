"""Velocities divided by a power of the time: another time without noise, and the equation on a grid with it."""

import functools
import math

import numpy as np
import pytest
from scipy.integrate import quad, solve_ivp

from meanfield import (
    Circle,
    ContinuityEquation,
    CosineSeries,
    DepthScaled,
    InvalidInput,
    Kuramoto,
    NormalisedAttention,
    PhaseLag,
    SoftmaxAttention,
    Sphere,
    Transformer,
    critical_coupling,
    growth_rates,
    open_trajectory,
)
from meanfield.cli import main
from meanfield.equations import equation_of
from solvers import (
    ETDRK4,
    Characteristics,
    Checkpoint,
    VonMises,
    WatanabeStrogatz,
    bifurcation_diagram,
    contraction_rate,
    evolve,
    simulate,
    stationary_states,
)
from solvers.evolution.semi_implicit import SBDF3
from tests import oracles
from verification import verify

LAWS = {
    "softmax": SoftmaxAttention(2.0),
    "nGPT": NormalisedAttention(2.0),
    "transformer": Transformer(1.0),
    "lag": PhaseLag(SoftmaxAttention(1.0), 0.3),
}
POWERS = (0.5, 1.0, -0.5)
UNTIL, POINTS = 0.6, 127


def elapsed(power, time):
    return quad(lambda t: (1.0 + t) ** -power, 0.0, time, epsabs=1e-14, epsrel=1e-13)[0]


@pytest.mark.parametrize("power", [*POWERS, 2.0, 1.0 + 1e-9])
def test_the_elapsed_time_is_the_integral_of_the_factor(power):
    law = DepthScaled(Kuramoto(), power)
    for time in (0.0, 1e-9, 0.3, 40.0):
        assert law.elapsed(time) == pytest.approx(elapsed(power, time), rel=1e-12, abs=0.0)


# Spheres have no lag.
PLACES = [(name, domain) for name in LAWS for domain in (Circle(), Sphere(4)) if name != "lag" or domain.turns]


@pytest.mark.parametrize(("name", "domain"), PLACES)
@pytest.mark.parametrize(("power", "method"), [(0.5, None), (1.0, Characteristics()), (-0.5, None)])
def test_without_noise_it_is_the_law_in_another_time(name, power, method, domain):
    law = LAWS[name]
    # nGPT on spheres jumps at the antipode later.
    until = 0.2 if name == "nGPT" else UNTIL
    start = VonMises(0.3 if isinstance(domain, Circle) else 0.0, 1.0)
    scaled, plain = (
        evolve(
            equation_of(domain, one, noise=0.0, coupling=1.0), start, end, times=1, method=method, tolerance=1e-11
        )
        for one, end in ((DepthScaled(law, power), until), (law, elapsed(power, until)))
    )
    for kind in ("cosine", "sine"):
        assert np.abs(getattr(scaled, kind)[-1, :8] - getattr(plain, kind)[-1, :8]).max() < 1e-10


@pytest.mark.parametrize("domain", [Circle(), Sphere(3)])
@pytest.mark.parametrize("law", [SoftmaxAttention(2.0), Transformer(1.0)])
def test_particles_without_noise_as_well(domain, law):
    tokens = np.random.default_rng(3).normal(size=(12, 3 if isinstance(domain, Sphere) else 2))
    tokens /= np.linalg.norm(tokens, axis=1, keepdims=True)
    places = tokens if isinstance(domain, Sphere) else np.arctan2(tokens[:, 1], tokens[:, 0])
    end = 2.0 * (math.sqrt(3.0) - 1.0)
    scaled, plain = (
        simulate(
            equation_of(domain, one, noise=0.0, coupling=1.0),
            12,
            until,
            initial=places,
            times=1,
            seed=1,
            step=0.005,
        )
        for one, until in ((DepthScaled(law), 2.0), (law, end))
    )
    # Both err by the fourth power of a step times the slope, e at most.
    assert np.abs(scaled.cosine[0, -1] - plain.cosine[0, -1]).max() < 10 * (math.e * 0.005) ** 4


@functools.cache
def on_a_grid(power, beta, coupling, noise, field):
    """Return the moments of the density of softmax attention that started as a von Mises density, by collocation."""
    angles = 2.0 * np.pi * np.arange(POINTS) / POINTS
    waves = 1j * np.fft.fftfreq(POINTS, 1.0 / POINTS)
    force = 0.0 if field is None else field.slope(angles)

    def derivative(time, values):
        drift = coupling * oracles.attention_velocity("softmax", beta, angles, values / POINTS)
        velocity = drift * (1.0 + time) ** -power - force
        return np.fft.ifft(noise * waves**2 * np.fft.fft(values) - waves * np.fft.fft(values * velocity)).real

    density = np.exp(0.6 * np.cos(angles - 0.7))
    found = solve_ivp(
        derivative, (0.0, UNTIL), density / density.mean(), method="DOP853", rtol=1e-12, atol=1e-13
    ).y[:, -1]
    return np.fft.rfft(found, norm="forward")[:8]


@pytest.mark.parametrize("power", POWERS)
@pytest.mark.parametrize("confined", [False, True])
@pytest.mark.parametrize("method", [None, ETDRK4(step=0.01), SBDF3(step=0.0005)])
def test_with_noise_the_equation_on_a_grid(power, confined, method):
    beta, coupling, noise = 1.7, 1.3, 0.4
    field = CosineSeries((-0.3, 0.1)) if confined else None
    problem = ContinuityEquation(Circle(), DepthScaled(SoftmaxAttention(beta), power), noise, coupling, field)
    trajectory = evolve(problem, VonMises(0.7, 0.6), UNTIL, times=1, tolerance=1e-11, method=method)
    moments = on_a_grid(power, beta, coupling, noise, field)
    bound = 1e-10 if method is None else 1e-8
    assert np.abs((trajectory.cosine - 1j * trajectory.sine)[-1, :8] - moments).max() < bound


@pytest.mark.parametrize("domain", [Circle(), Sphere(3)])
def test_a_potential_has_a_default_step(domain):
    """The slope of the velocity of the transformer is e^beta at most, and the sum of k^2 I_k no more than twice that."""
    problem = ContinuityEquation(domain, DepthScaled(Transformer(1.0)), 0.0, 1.0)
    step = simulate(problem, 20, 1.0, seed=1).step
    assert 0.05 / (2.0 * math.e) <= step <= 0.05 / math.e


def test_particles_with_noise_follow_their_limit():
    problem = ContinuityEquation(Circle(), DepthScaled(SoftmaxAttention(2.0), 2.0), 0.2, 6.0)
    limit = evolve(problem, VonMises(0.0, 1.0), 2.0, times=1).cosine[-1, 1]
    unscaled = evolve(problem.replace(velocity=SoftmaxAttention(2.0)), VonMises(0.0, 1.0), 2.0, times=1).cosine[
        -1, 1
    ]
    found = simulate(problem, 4000, 2.0, initial=VonMises(0.0, 1.0), times=1, seed=3, replicas=8, step=0.02)
    means = np.abs(found.cosine[:, -1, 1] - 1j * found.sine[:, -1, 1])
    # Five standard errors; one in two million runs is farther off.
    assert abs(means.mean() - limit) < 5.0 * means.std(ddof=1) / math.sqrt(8) + 1e-3
    assert abs(unscaled - limit) > 0.1


def test_a_run_is_resumed_at_its_time(tmp_path):
    problem = ContinuityEquation(Circle(), DepthScaled(SoftmaxAttention(2.0)), 0.1, 3.0)
    options = {"times": 4, "checkpoint": Checkpoint(tmp_path / "run", every=0.5)}
    first, second = (evolve(problem, VonMises(0.3, 1.0), 2.0, **options) for _ in range(2))
    assert np.array_equal(first.cosine, second.cosine)
    first.save(tmp_path / "run.nc")
    assert open_trajectory(tmp_path / "run.nc").problem == problem


def test_the_command_line(capsys):
    command = "evolve attention --beta 2 --depth-scaling 0.5 --noise 0 --coupling 1 --until 1"
    assert main(command.split()) == 0
    assert "softmax attention (beta = 2) divided by (1 + t)^0.5 on the circle" in capsys.readouterr().out


SCALED = ContinuityEquation(Circle(), DepthScaled(SoftmaxAttention(2.0)), 0.5, 3.0)


@pytest.mark.parametrize(
    "refused",
    [
        stationary_states,
        lambda problem: bifurcation_diagram(problem.at(coupling=None)),
        contraction_rate,
        lambda problem: contraction_rate(problem.replace(noise=0.0)),
        critical_coupling,
        lambda problem: growth_rates(problem, 3),
        lambda problem: verify("attention.growth", [problem]),
    ],
)
def test_what_a_velocity_that_changes_with_time_does_not_have_is_refused(refused):
    with pytest.raises(InvalidInput, match=r"the velocity has the factor \(1 \+ t\)\^-0.5"):
        refused(SCALED)


@pytest.mark.parametrize(
    ("made", "said"),
    [
        (lambda: DepthScaled("softmax"), "law must be a velocity law or a potential"),
        (lambda: DepthScaled(Kuramoto(), 0.0), "other than 0, not 0.0; the scaling of layers is power=0.5"),
        (lambda: DepthScaled(Kuramoto(), math.nan), "the power must be a number from -8 to 8"),
        (lambda: DepthScaled(DepthScaled(Kuramoto())), "add the two powers"),
        (lambda: PhaseLag(DepthScaled(Kuramoto()), 0.3), r"write DepthScaled\(PhaseLag\(law, lag\)\)"),
        (
            lambda: simulate(SCALED.replace(confinement=CosineSeries((0.3,))), 10, 1.0, seed=1),
            "without a confinement only",
        ),
        (
            lambda: evolve(
                equation_of(Circle(), DepthScaled(Kuramoto()), noise=0.0, coupling=1.0),
                VonMises(),
                1.0,
                method=WatanabeStrogatz(),
            ),
            "for others leave the method out",
        ),
    ],
)
def test_what_is_refused(made, said):
    with pytest.raises(InvalidInput, match=said):
        made()
