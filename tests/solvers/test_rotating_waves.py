"""Rotating waves under a phase lag: Sakaguchi's closed form, long evolutions, collocated spectra, and refusals."""

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.optimize import root

from meanfield import (
    Circle,
    CommonFrequency,
    ContinuityEquation,
    InvalidInput,
    Kuramoto,
    NormalisedAttention,
    PhaseLag,
    SoftmaxAttention,
    Transformer,
    critical_coupling,
)
from solvers import VonMises, contraction_rate, evolve, spectrum, stationary_states
from solvers.circle.law_spectra import Linearisation
from tests import oracles

EPS = float(np.finfo(float).eps)


def wave_of(problem):
    states = stationary_states(problem)
    return next(state for state in states if state.unstable == 0)


def sakaguchi(coupling, noise, lag, start):
    """Return r and Omega of the stationary density in a tilted cosine, by quadrature of the flux equation.

    With phi the angle plus the lag from the mean field the velocity in the frame is -kappa r sin(phi) - Omega, and the
    density is e^(-U/D) times the integral of e^(U/D) over the turn ahead, U = -kappa r cos(phi) + Omega phi.
    """

    def means(r, speed):
        def weight(phi):
            ahead = quad(
                lambda s: np.exp((coupling * r * (np.cos(phi) - np.cos(phi + s)) + speed * s) / noise),
                0.0,
                2.0 * np.pi,
                epsabs=1e-13,
                epsrel=1e-12,
            )
            return ahead[0]

        nodes = 2.0 * np.pi * np.arange(64) / 64
        values = np.array([weight(phi) for phi in nodes])
        return (values @ np.exp(1j * nodes)) / values.sum()

    def misfit(unknown):
        r, speed = unknown
        difference = means(r, speed) - r * np.exp(1j * lag)
        return [difference.real, difference.imag]

    found = root(misfit, start, tol=1e-13)
    assert found.x[0] > 0.1
    return found.x


@pytest.mark.parametrize(("lag", "ratio", "noise"), [(0.6, 1.5, 1.0), (-1.1, 2.0, 0.4)])
def test_with_kuramoto_s_potential_waves_are_those_of_sakaguchi(lag, ratio, noise):
    problem = ContinuityEquation(Circle(), PhaseLag(Kuramoto(), lag), noise)
    problem = problem.at(coupling=ratio * float(critical_coupling(problem)))
    wave = wave_of(problem)
    r, speed = sakaguchi(problem.coupling, noise, lag, (0.65, -0.7 * problem.coupling * np.sin(lag)))
    assert abs(wave.order_parameter() - r) < 1e-10
    assert abs(wave.observables["angular_velocity"] - speed) < 1e-10 * problem.coupling
    assert wave.sine[1] == 0.0


@pytest.mark.parametrize(
    "law",
    [Transformer(3.0), SoftmaxAttention(2.0)],
)
def test_long_evolutions_end_in_the_stable_wave_and_relax_at_its_rate(law):
    problem = ContinuityEquation(Circle(), PhaseLag(law, 0.5), 0.5)
    problem = problem.at(coupling=1.5 * float(critical_coupling(problem)))
    wave = wave_of(problem)
    rate, speed = wave.slowest_rate, wave.observables["angular_velocity"]
    assert speed < -0.01
    times = np.array([0.0, 18.0, 18.5]) / rate
    found = evolve(problem, VonMises(0.0, 1.0), times[-1], times=times, tolerance=1e-9)
    moments = found.cosine + 1j * found.sine
    assert np.abs(np.abs(moments[-1, 1:6]) - np.hypot(wave.cosine, wave.sine)[1:6]).max() < 1e-7
    turned = np.exp(1j * speed * (times[-1] - times[-2]))
    assert abs(moments[-1, 1] / moments[-2, 1] - turned) < 1e-7
    # Both are known to roundings of a matrix of the square of the degrees.
    assert abs(wave.slowest_rate - contraction_rate(wave)) < 1e-8


@pytest.mark.parametrize(("name", "ratio"), [("none", 1.4), ("softmax", 1.4), ("ngpt", 1.05)])
def test_spectra_are_those_of_the_collocated_equation_in_the_frame_of_the_wave(name, ratio):
    law = {"none": Transformer, "softmax": SoftmaxAttention, "ngpt": NormalisedAttention}[name](1.2)
    lag, noise = -0.4, 0.7
    problem = ContinuityEquation(Circle(), PhaseLag(law, lag), noise)
    problem = problem.at(coupling=ratio * float(critical_coupling(problem)))
    wave = wave_of(problem)
    points = 127
    angles = 2.0 * np.pi * np.arange(points) / points
    density = 2.0 * np.pi * wave.density(angles)
    derivative = np.fft.ifft(
        1j * np.fft.fftfreq(points, 1.0 / points)[:, None] * np.fft.fft(np.eye(points), axis=0), axis=0
    )
    derivative = derivative.real

    def change(values):
        velocity = oracles.attention_velocity(name, 1.2, angles, values / points, angles + lag)
        drift = problem.coupling * velocity - wave.observables["angular_velocity"]
        return noise * derivative @ (derivative @ values) - derivative @ (values * drift)

    assert np.abs(change(density)).max() < 1e-9
    step = 1e-30
    columns = [change(density + 1j * step * unit).imag / step for unit in np.eye(points)]
    values = np.linalg.eigvals(np.array(columns).T)
    # Of the mass and of rotation one each.
    others = np.sort(values.real[np.argsort(np.abs(values))[2:]])[::-1]
    assert np.abs(spectrum(wave).eigenvalues[:4] - others[:4]).max() < 1e-7
    assert abs(wave.slowest_rate + others[0]) < 1e-7


def test_waves_that_no_moments_resolve_are_said_to_be_missing(monkeypatch):
    """Beside the coupling at which the average of the tokens vanishes the moments of nGPT decay slowly."""
    monkeypatch.setattr("solvers.circle.rotating.MOST", 64)
    problem = ContinuityEquation(Circle(), PhaseLag(NormalisedAttention(1.2), -0.4), 0.7)
    found = stationary_states(problem.at(coupling=1.15 * float(critical_coupling(problem))), rates=False)
    assert [state.label for state in found] == ["uniform"]
    assert found.complete is False
    assert "missing" in found.searched


def test_rotation_is_in_the_kernel_of_the_linearisation_at_a_wave():
    problem = ContinuityEquation(Circle(), PhaseLag(SoftmaxAttention(2.0), 0.5), 0.5, 6.0)
    wave = wave_of(problem)
    moments = wave.cosine - 1j * wave.sine
    about = Linearisation(problem, moments, moments.size + 10, wave.observables["angular_velocity"])
    matrix, generator = about.block(None)
    assert np.abs(moments.imag).max() > 0.01
    assert np.abs(matrix @ generator).max() < 1e4 * EPS * np.abs(matrix).max()


def test_without_a_stable_wave_the_uniform_state_is_alone():
    problem = ContinuityEquation(Circle(), PhaseLag(Kuramoto(), 1.0), 1.0, 3.0)
    (state,) = stationary_states(problem)
    assert (state.label, state.unstable) == ("uniform", 0)
    assert abs(state.slowest_rate - (1.0 - 1.5 * np.cos(1.0))) < 8 * EPS
    assert state.observables["angular_velocity"] == 0.0


LAGGED = ContinuityEquation(Circle(), PhaseLag(Kuramoto(), 0.5), 1.0, 4.0)


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: stationary_states(LAGGED.replace(noise=0.0)), "this needs noise"),
        (lambda: stationary_states(LAGGED.at(coupling=None)), "this needs a coupling"),
        (
            lambda: stationary_states(LAGGED.replace(velocity=CommonFrequency(LAGGED.velocity, 1.0))),
            "leave it out for the frame",
        ),
        (lambda: contraction_rate(LAGGED, state=wave_of(LAGGED)), "need a Gibbs map"),
    ],
)
def test_what_is_not_known_of_waves_is_refused(call, sentence):
    with pytest.raises(InvalidInput, match=sentence):
        call()


def test_stable_waves_of_strong_couplings_are_met_by_relaxation():
    """Newton's method from random starts alone met the uniform state and four clusters, both unstable, only."""
    problem = ContinuityEquation(Circle(), PhaseLag(Transformer(3.5458722139), 2.575356747), 1.95249744, -32.348794)
    wave = wave_of(problem)
    found = evolve(problem, VonMises(0.3, 1.0), 0.5, times=[0.0, 0.5], tolerance=1e-6)
    lengths = np.hypot(found.cosine, found.sine)[-1, 1:5]
    assert np.abs(lengths - np.hypot(wave.cosine, wave.sine)[1:5]).max() < 1e-4
