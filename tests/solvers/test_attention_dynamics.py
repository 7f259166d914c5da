"""Closed forms of tokens under attention: equiangular tokens, two tokens, the staircase, and the late collapse."""

import math

import numpy as np
import pytest
from scipy.integrate import quad, solve_ivp
from scipy.optimize import brentq
from scipy.special import exp1, expi, iv

from meanfield import (
    Circle,
    ContinuityEquation,
    McKeanVlasov,
    NormalisedAttention,
    SoftmaxAttention,
    Sphere,
    Transformer,
)
from solvers import PairDrift, simulate

# Five tokens: two pairs that are close, and one between them.
STAIRCASE = np.array([0.0622, 0.2143, 1.8191, 2.9111, -3.0952])
# The error of a step at product a of step and slope is a^4/120 of a rate; the rates here are at most e^beta.
PRECISE = 1e-8


def problem_of(kind, domain, beta):
    if kind == "USA":
        return McKeanVlasov(domain, Transformer(beta), noise=0.0, coupling=1.0)
    law = SoftmaxAttention if kind == "SA" else NormalisedAttention
    return ContinuityEquation(domain, law(beta), noise=0.0, coupling=1.0)


def equiangular_rate(kind, g, beta, count):
    """Return g' of tokens with the same inner product g: 2 w (1 - g)(1 + (n - 1) g)/s, w the weight of another."""
    own, other = math.exp(beta), math.exp(beta * g)
    total = own + (count - 1) * other
    square = own**2 + (count - 1) * other**2 + 2 * (count - 1) * own * other * g
    square += (count - 1) * (count - 2) * other**2 * g
    norm = {"USA": count, "SA": total, "nGPT": math.sqrt(square)}[kind]
    return 2 * other * (1 - g) * (1 + (count - 1) * g) / norm


def equiangular_time(kind, beta, count, delta):
    """Return the time from 0 to 1 - delta in closed form, by exponential integrals."""
    q = count / (count - 1)
    integrals = expi(beta) - expi(beta * delta)
    integrals += math.exp(beta * q) * (exp1(beta * (q - 1)) - exp1(beta * (q - delta)))
    if kind == "USA":
        return 0.5 * math.exp(-beta) * integrals
    logarithms = math.log((count - 1) * (1 - delta) + 1) - math.log(delta)
    return integrals / (2 * count) + (count - 1) / (2 * count) * logarithms


def tokens_at(kind, tokens, beta, until, step, domain=None):
    domain = Sphere(tokens.shape[1]) if domain is None else domain
    ensemble = simulate(
        problem_of(kind, domain, beta),
        len(tokens),
        until,
        1,
        initial=tokens,
        step=step,
        times=1,
        keep_positions=True,
    )
    return ensemble.positions[0]


@pytest.mark.parametrize("kind", ["SA", "USA"])
def test_the_closed_times_are_those_of_the_equiangular_equation(kind):
    for beta, count, delta in ((1.0, 32, 1e-3), (4.0, 32, 1e-3), (1.0, 8, 1e-2)):
        exact = quad(lambda g: 1 / equiangular_rate(kind, g, beta, count), 0, 1 - delta, epsabs=0, epsrel=1e-12)[0]  # noqa: B023
        assert abs(equiangular_time(kind, beta, count, delta) / exact - 1) <= 1e-9


@pytest.mark.parametrize("kind", ["SA", "USA"])
def test_orthonormal_tokens_stay_equiangular_and_meet_in_the_closed_time(kind):
    time = equiangular_time(kind, 1.0, 8, 1e-2)
    tokens = tokens_at(kind, np.eye(8), 1.0, time, time / 400)
    products = (tokens @ tokens.T)[~np.eye(8, dtype=bool)]
    assert np.ptp(products) <= 1e-13
    assert abs(products.mean() - 0.99) <= PRECISE


@pytest.mark.parametrize("kind", ["SA", "nGPT"])
def test_orthonormal_tokens_follow_the_equiangular_equation(kind):
    exact = solve_ivp(
        lambda _, g: [equiangular_rate(kind, g[0], 5.0, 8)], (0, 3.0), [0.0], "DOP853", rtol=1e-12, atol=1e-14
    ).y[0, -1]
    tokens = tokens_at(kind, np.eye(8), 5.0, 3.0, 0.01)
    products = (tokens @ tokens.T)[~np.eye(8, dtype=bool)]
    assert np.abs(products - exact).max() <= PRECISE


@pytest.mark.parametrize(("kind", "expected"), [("SA", 0.0465890831), ("nGPT", 0.7194852780)])
def test_many_tokens_have_the_published_inner_products(kind, expected):
    """256 orthonormal tokens at time 2, beta = 5, to the ten digits of the reference."""
    tokens = tokens_at(kind, np.eye(256), 5.0, 2.0, 0.05)
    assert abs(tokens[0] @ tokens[1] - expected) <= 1e-6


@pytest.mark.parametrize(("kind", "time"), [("USA", 1.525084381576), ("SA", 44.50405881789)])
def test_two_tokens_meet_in_the_closed_time(kind, time):
    """The angle D from 2 to 0.01 at beta = 4: D' = -sin D exp(4 cos D), or -2 sin D/(1 + exp(4 (1 - cos D)))."""
    rate = {"USA": lambda d: math.sin(d) * math.exp(4 * math.cos(d)),
            "SA": lambda d: 2 * math.sin(d) / (1 + math.exp(4 * (1 - math.cos(d))))}[kind]  # fmt: skip
    assert abs(quad(lambda d: 1 / rate(d), 0.01, 2.0, epsabs=0, epsrel=1e-12, limit=200)[0] - time) <= 1e-9
    angles = tokens_at(kind, np.array([1.0, 3.0]), 4.0, time, time / 4000, Circle())
    # The angle changes at the rate of the law, so that an error of the time by t moves it by that times t.
    assert abs(np.ptp(angles) - 0.01) <= 0.01 * math.exp(4.0) * PRECISE


def exact_angles(angles, beta, times):
    """Return angles (T, N) under softmax attention, by an integrator of high order."""

    def velocity(_, x):
        differences = x - x[:, np.newaxis]
        weights = np.exp(beta * (np.cos(differences) - 1))
        return (weights * np.sin(differences)).sum(axis=1) / weights.sum(axis=1)

    return solve_ivp(velocity, (0, times[-1]), angles, "DOP853", times, rtol=1e-12, atol=1e-13).y.T


def energy_of(angles, beta):
    """Return exp(-beta) mean_ij exp(beta <x_i, x_j>) of angles (..., N)."""
    differences = angles[..., np.newaxis] - angles[..., np.newaxis, :]
    return np.exp(beta * (np.cos(differences) - 1)).mean(axis=(-2, -1))


def test_the_energy_of_five_tokens_climbs_a_staircase():
    """Pairs and triples of shares 2/5 and 3/5 have the energy .52, all together 1."""
    beta, degrees = 4.0, np.arange(33)
    times = [1.0, *np.linspace(5.0, 280.0, 12), 400.0]
    ensemble = simulate(
        problem_of("SA", Circle(), beta), 5, 400.0, 1, initial=STAIRCASE, step=0.05, times=times, degrees=32
    )
    weights = np.where(degrees == 0, 1.0, 2.0) * iv(degrees, beta) * math.exp(-beta)
    energy = (ensemble.cosine[0] ** 2 + ensemble.sine[0] ** 2) @ weights
    # On the plateau an error grows at the rate at which the groups leave it, 1e-2, but in the fall at its end.
    assert np.abs(energy - energy_of(exact_angles(STAIRCASE, beta, times), beta))[:-1].max() <= 1e-5
    # The groups are not infinitely far apart: 2 * .24 exp(-beta (1 - cos D)) at the distance D, up to 1.4e-3 here.
    assert np.all(np.abs(energy[1:-1] - (0.4**2 + 0.6**2)) <= 1.5e-3)
    assert np.all(np.abs(energy[1:-2] - (0.4**2 + 0.6**2)) <= 1e-3)
    assert abs(energy[-1] - 1.0) <= 1e-3
    assert energy[0] < 0.5
    assert np.all(np.diff(energy) >= -1e-12)


@pytest.mark.parametrize(
    ("kind", "slope", "until", "step", "drift"),
    [("USA", 2 * math.e, 12.0, 0.01, None), ("SA", 2.0, 22.0, 0.04, PairDrift())],
)
def test_a_hundred_tokens_collapse_at_the_local_rate(kind, slope, until, step, drift):
    """1 - r ~ exp(-2 e^beta t), of softmax attention exp(-2t), from the time on when the last token has arrived.

    The drifts are those whose records know moments to a rounding.
    """
    ensemble = simulate(
        problem_of(kind, Circle(), 1.0), 100, until, 4, step=step, times=int(until * 20), drift=drift
    )
    away = 1.0 - np.hypot(ensemble.cosine[0, :, 1], ensemble.sine[0, :, 1])
    late = (away < 1e-8) & (away > 1e-11)
    assert late.sum() >= 20
    fitted = -np.polyfit(ensemble.time[late], np.log(away[late]), 1)[0]
    # The last token is at a distance whose square is 200 (1 - r), the next order; 1 - r is known to a rounding.
    assert abs(fitted / slope - 1) <= 1e-5
    # Before that single tokens on their way make it slower.
    early = (away < 0.05) & (away > 0.01)
    assert early.sum() >= 5
    assert -np.polyfit(ensemble.time[early], np.log(away[early]), 1)[0] <= 0.95 * slope


def quantiles(count):
    """Return the angles with (i + 1/2)/N of the density (1 + .6 cos x)/2 pi on their left, symmetric about 0."""

    def excess(angle, share):
        return (angle + 0.6 * math.sin(angle)) / (2 * math.pi) - share

    shares = (np.arange(count) + 0.5) / count - 0.5
    return np.array([brentq(excess, -math.pi, math.pi, (share,)) for share in shares])


@pytest.mark.parametrize(("kind", "rate", "until"), [("USA", math.exp(-1.0), 24.0), ("SA", 1.0, 14.0)])
def test_the_last_tokens_arrive_later_by_the_logarithm_of_their_number(kind, rate, until):
    """They start within 1/N of the antipode of the cluster, which they leave at the rate e^-beta, or 1."""
    arrivals = []
    for count in (50, 500, 5000):
        ensemble = simulate(
            problem_of(kind, Circle(), 1.0),
            count,
            until,
            1,
            initial=quantiles(count),
            step=0.04,
            times=int(until * 20),
        )
        # The last two are at the same distance from the cluster when N (1 - r) has the same value.
        away = 1.0 - np.hypot(ensemble.cosine[0, :, 1], ensemble.sine[0, :, 1])
        away = np.log(count * np.maximum(away, 1e-9))
        arrivals.append(np.interp(-math.log(0.1), -away, ensemble.time))
    errors = np.abs(np.diff(arrivals) - math.log(10.0) / rate)
    # The next order is 1/N of the smaller number.
    assert errors[1] <= 0.2 * errors[0]
    assert errors[1] <= 0.02
