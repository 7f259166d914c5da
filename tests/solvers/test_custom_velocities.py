"""Velocities that are functions of moments: beside exact reductions, stationary densities and the library's laws."""

import math
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from meanfield import (
    Circle,
    ComputationFailed,
    ContinuityEquation,
    CosineSeries,
    CustomVelocity,
    GegenbauerSeries,
    InvalidInput,
    Kuramoto,
    McKeanVlasov,
    NormalisedAttention,
    PhaseLag,
    SoftmaxAttention,
    Sphere,
    VelocityLaw,
    branch_shape,
    critical_coupling,
    global_criterion,
    growth_rates,
    open_trajectory,
)
from meanfield.equations import Capability
from solvers import (
    ETDRK4,
    LSODA,
    Characteristics,
    Checkpoint,
    MomentDrift,
    PairDrift,
    VonMises,
    bifurcation_diagram,
    contraction_rate,
    evolve,
    simulate,
    stationary_states,
)
from verification import compare, verify

UNTIL, ACCURACY = 1.5, 1e-11


def kuramoto(angles, moments):
    return (np.exp(-1j * angles) * moments[1]).imag


def on_sphere(angles, moments):
    return -np.sin(angles) * moments[1]


def at(function, degree=1, noise=0.0, coupling=2.0, domain=None, **others):
    law = CustomVelocity(function, degree, **others)
    return ContinuityEquation(domain or Circle(), law, noise=noise, coupling=coupling)


def random_forcing(seed):
    """Return H of the velocities Im(e^{-i theta} H), with pairs, triads and a constant force."""
    a, b, c = np.random.default_rng(seed).normal(size=(3, 2)) @ np.array([1.0, 1j])
    return lambda first, second: a * first + b * second * np.conj(first) + 0.3 * c


@pytest.mark.parametrize("seed", range(4))
def test_poisson_kernels_stay_so_as_ott_and_antonsen_say(seed):
    forcing, start, coupling = random_forcing(seed), 0.3 * np.exp(0.8j * seed), 0.7
    problem = at(lambda t, m: (np.exp(-1j * t) * forcing(m[1], m[2])).imag, 2, coupling=coupling)

    def derivative(_, parts):
        z = complex(*parts)
        push = forcing(z, z**2)
        slope = 0.5 * coupling * (push - np.conj(push) * z**2)
        return [slope.real, slope.imag]

    exact = solve_ivp(derivative, (0.0, UNTIL), [start.real, start.imag], method="DOP853", rtol=1e-13, atol=1e-14)
    first = complex(*exact.y[:, -1])
    powers = np.arange(64)
    kernel = start**powers
    trajectory = evolve(problem, (kernel.real, kernel.imag), UNTIL, tolerance=ACCURACY)
    moments = (trajectory.cosine + 1j * trajectory.sine)[-1, :5]
    assert abs(first - start) > 0.05
    assert np.abs(moments - first ** powers[:5]).max() < 10 * ACCURACY


@pytest.mark.parametrize(("noise", "lag"), [(0.0, 0.0), (0.4, 0.6)])
def test_the_law_of_kuramoto_written_out_is_the_library_s(noise, lag):
    problem = at(lambda t, m: (np.exp(-1j * (t + lag)) * m[1]).imag, noise=noise)
    law = PhaseLag(Kuramoto(), lag) if lag else None
    known = (
        McKeanVlasov(Circle(), Kuramoto(), noise, 2.0)
        if law is None
        else ContinuityEquation(Circle(), law, noise, 2.0)
    )
    mine, theirs = (evolve(one, VonMises(0.3, 1.0), UNTIL, tolerance=ACCURACY) for one in (problem, known))
    for name in ("cosine", "sine"):
        ends = [getattr(one, name)[-1, :8] for one in (mine, theirs)]
        assert np.abs(ends[0] - ends[1]).max() < 10 * ACCURACY


@pytest.mark.parametrize("dimension", [3, 5])
@pytest.mark.parametrize("noise", [0.0, 0.4])
def test_densities_about_an_axis_on_spheres(dimension, noise):
    domain = Sphere(dimension)
    known = McKeanVlasov(domain, Kuramoto(), noise, 2.0)
    mine, theirs = (
        evolve(one, VonMises(0.0, 1.0), 1.0, tolerance=ACCURACY)
        for one in (at(on_sphere, noise=noise, domain=domain), known)
    )
    assert np.abs(mine.cosine[-1, :8] - theirs.cosine[-1, :8]).max() < 10 * ACCURACY


def second(angles, moments):
    return np.sin(angles) * (moments[1] - 0.4 * moments[2] * np.cos(angles)) - 0.3 * np.sin(2.0 * angles)


@pytest.mark.parametrize("dimension", [3, 5])
@pytest.mark.parametrize("confined", [False, True])
def test_particles_on_spheres_move_along_meridians(dimension, confined):
    """Against the equations of the angles to the north pole alone; the other coordinates keep their directions."""
    random = np.random.default_rng(dimension)
    start = random.normal(size=(20, dimension))
    start /= np.linalg.norm(start, axis=1)[:, None]
    start[0] = np.eye(dimension)[-1]
    field = GegenbauerSeries((0.4, -0.2), dimension) if confined else None
    domain = Sphere(dimension)
    problem = ContinuityEquation(domain, CustomVelocity(second, 2, largest_slope=3.0), 0.0, 1.5, field)

    def velocity(_, angles):
        heights = np.cos(angles)
        means = [1.0, heights.mean(), ((dimension * heights**2 - 1.0) / (dimension - 1.0)).mean()]
        return 1.5 * second(angles, means) - (0.0 if field is None else field.slope(angles))

    first = np.arccos(np.clip(start[:, -1], -1.0, 1.0))
    last = solve_ivp(velocity, (0.0, 1.0), first, "DOP853", rtol=1e-12, atol=1e-13).y[:, -1]
    found = simulate(problem, 20, 1.0, 1, initial=start, step=0.005, keep_positions=True)
    across = start[1:, :-1] / np.linalg.norm(start[1:, :-1], axis=1)[:, None]
    # The error of the fourth order of the step.
    assert np.abs(found.positions[0, :, -1] - np.cos(last)).max() < 1e-8
    assert np.abs(found.positions[0, 1:, :-1] - np.sin(last[1:, None]) * across).max() < 1e-8


@pytest.mark.parametrize("dimension", [3, 5])
def test_on_spheres_many_particles_are_the_density(dimension):
    problem = at(second, 2, noise=0.3, coupling=1.0, domain=Sphere(dimension), largest_slope=3.0)
    density = evolve(problem, VonMises(0.0, 1.0), 1.0, times=[0.0, 1.0])
    cloud = simulate(problem, 4000, 1.0, 7, initial=VonMises(0.0, 1.0), times=[1.0], replicas=4, degrees=2)
    heights = cloud.mean_vector[:, -1, -1]
    assert abs(heights.mean() - density.cosine[-1, 1]) < 5.0 / np.sqrt(16000.0)
    assert abs(density.cosine[-1, 1] - density.cosine[0, 1]) > 0.05
    compared = compare(problem, VonMises(0.0, 1.0), 0.5, particles=(50, 400), replicas=6, seed=2, times=2)
    # By an eighth in the number the distances fall by the root of it, here by half at least.
    assert (compared.distances[:, 1].mean(axis=1) < 0.5 * compared.distances[:, 0].mean(axis=1)).all()


def test_a_velocity_that_no_rotation_turns_leads_to_its_own_gibbs_density():
    """v = -U' with the noise D has exp(-U/D)/Z at rest; a uniform density must not stay uniform."""
    noise = 0.5
    problem = at(lambda t, m: np.sin(t - 0.4) + 0.6 * np.sin(2.0 * t), noise=noise, coupling=1.0)
    angles = 2.0 * np.pi * np.arange(64) / 64
    density = np.exp((-np.cos(angles - 0.4) - 0.3 * np.cos(2.0 * angles)) / noise)
    expected = np.fft.rfft(density / density.sum())[:8]
    slowest = evolve(problem, VonMises(0.0, 0.0), 60.0, times=1, tolerance=ACCURACY)
    moments = (slowest.cosine - 1j * slowest.sine)[-1, :8]
    assert np.abs(moments - expected).max() < 10 * ACCURACY


def test_a_constant_velocity_turns_the_density_towards_larger_angles():
    trajectory = evolve(at(lambda t, m: np.ones_like(t), coupling=0.7), VonMises(0.2, 1.0), 1.0, tolerance=ACCURACY)
    first = trajectory.cosine[-1, 1] + 1j * trajectory.sine[-1, 1]
    assert abs(np.angle(first) - 0.9) < 10 * ACCURACY


def test_a_confinement_and_the_coupling_act_besides():
    field = CosineSeries((-0.3, 0.1))
    own, known = (
        ContinuityEquation(Circle(), CustomVelocity(kuramoto), 0.3, 1.3, field),
        McKeanVlasov(Circle(), Kuramoto(), 0.3, 1.3, field),
    )
    mine, theirs = (evolve(one, VonMises(0.7, 1.0), 1.0, tolerance=ACCURACY) for one in (own, known))
    assert np.abs(mine.cosine[-1, :8] - theirs.cosine[-1, :8]).max() < 10 * ACCURACY


def test_particles_move_by_their_own_moments():
    angles, times = np.random.default_rng(5).uniform(-np.pi, np.pi, 40), [0.0, UNTIL]

    def derivative(_, x):
        return 2.0 * (np.exp(-1j * x) * (np.exp(1j * x).mean() + 0.5 * np.exp(2j * x).mean() ** 2)).imag

    exact = solve_ivp(derivative, (0.0, UNTIL), angles, method="DOP853", rtol=1e-13, atol=1e-14).y[:, -1]
    problem = at(lambda t, m: (np.exp(-1j * t) * (m[1] + 0.5 * m[2] ** 2)).imag, 2)
    ensemble = simulate(problem, 40, UNTIL, initial=angles, times=times, step=2e-3, seed=1, keep_positions=True)
    apart = np.exp(1j * ensemble.positions[0]) - np.exp(1j * exact)
    # Runge-Kutta of order four with slopes up to 3: (3 h)^4.
    assert np.abs(apart).max() < 10 * (3 * 2e-3) ** 4


def test_particles_agree_with_their_limit_and_a_bound_of_the_slope_gives_the_step():
    found = compare(
        at(kuramoto, noise=0.5, largest_slope=1.0), VonMises(0.0, 1.0), until=1.0, particles=(500, 2000), replicas=8,
        seed=4,
    )  # fmt: skip
    assert 0.0 < found.step <= 0.1


def test_the_function_of_a_file_is_given_again(tmp_path):
    problem = at(kuramoto, noise=0.5)
    evolve(problem, VonMises(0.0, 1.0), 0.2).save(tmp_path / "run.nc")
    opened = open_trajectory(tmp_path / "run.nc").problem
    assert (opened.velocity.source, opened.velocity.degree) == ("kuramoto", 1)
    assert opened.replace(velocity=CustomVelocity(kuramoto)) == problem
    with pytest.raises(InvalidInput, match="make the problem again with CustomVelocity"):
        evolve(opened, VonMises(0.0, 1.0), 0.2)


WRONG = {
    "shape": (lambda t, m: t[:2], r"must return 7 real numbers at 7 angles, not an array of shape \(2,\)"),
    "one number": (lambda t, m: 1.0, "not the single number 1"),
    "complex": (lambda t, m: np.exp(1j * t), "take the real or imaginary part"),
    "text": (lambda t, m: "fast", "not 'fast'"),
    "nothing": (lambda t, m: None, "not None"),
    "nan": (lambda t, m: t * math.nan, "is nan at the angle 0; it must be finite"),
    "raises": (lambda t, m: m[7], "raised IndexError.*called with angles"),
}


@pytest.mark.parametrize("name", WRONG)
def test_values_that_are_no_velocities_are_refused_when_the_equation_is_made(name):
    function, said = WRONG[name]
    for domain in (Circle(), Sphere(3)):
        with pytest.raises(InvalidInput, match=said):
            at(function, domain=domain)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({}, "function must be a callable of angles and moments, not None"),
        ({"function": "sin"}, "not 'sin'"),
        ({"function": kuramoto, "degree": 0}, "degree must be a whole number from 1 to 512"),
        ({"function": kuramoto, "degree": 1.5}, "degree must be a whole number"),
        ({"function": kuramoto, "largest_slope": -1.0}, "largest_slope must be a finite number above 0"),
    ],
)
def test_arguments_are_checked(arguments, said):
    with pytest.raises(InvalidInput, match=said):
        CustomVelocity(**arguments)


def test_a_velocity_that_fails_on_the_way_ends_the_run_with_what_was_computed():
    problem = at(lambda t, m: np.sin(-t) * np.sqrt(0.6 - abs(m[1])))
    with pytest.raises(ComputationFailed, match="is nan at the angle 0") as caught:
        evolve(problem, VonMises(0.0, 1.0), 3.0)
    stopped = caught.value.partial.time[-1]
    assert 0.0 < stopped < 3.0
    assert str(caught.value).startswith(f"the evolution stopped at time {stopped:.6g}: the velocity")
    with pytest.raises(ComputationFailed, match="is nan at the angle"):
        simulate(problem, 100, 3.0, initial=VonMises(0.0, 1.0), step=0.01, seed=1)


REFUSED = {
    "states": stationary_states,
    "diagram": lambda problem: bifurcation_diagram(problem.at(coupling=None)),
    "rate": contraction_rate,
    "rate without noise": lambda problem: contraction_rate(problem.replace(noise=0.0)),
    "threshold": critical_coupling,
    "growth": lambda problem: growth_rates(problem, 3),
    "normal form": lambda problem: branch_shape(problem, 1),
    "criterion": global_criterion,
    "claims": lambda problem: verify("circle.T8", [problem]),
    "LSODA": lambda problem: evolve(problem, VonMises(), 1.0, method=LSODA()),
    "characteristics": lambda problem: evolve(
        problem.replace(noise=0.0), VonMises(), 1.0, method=Characteristics()
    ),
    "rest": lambda problem: evolve(problem, VonMises(), 9.0, stop_at_stationarity=True),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_needs_more_than_values_of_the_velocity_is_refused(name):
    with pytest.raises(InvalidInput, match="kuramoto is a function of moments, of which only the values are known"):
        REFUSED[name](at(kuramoto, noise=0.5))


@pytest.mark.parametrize("noise", [0.0, 0.3])
def test_rates_beyond_doubles_are_refused(noise):
    with pytest.raises(ComputationFailed, match="measure time in another unit"):
        evolve(at(lambda t, m: 1e200 * np.sin(t), noise=noise), VonMises(0.0, 2.0), 1.0)


def test_velocities_are_continuous_on_their_domain():
    with pytest.raises(InvalidInput, match=r"0 at the angle 0 and 6\.28319 at 2 pi, which is the same place"):
        at(lambda t, m: t)
    with pytest.raises(InvalidInput, match="1 at one pole and -1 at the other"):
        at(lambda t, m: np.cos(t), domain=Sphere(3))


def test_a_velocity_that_jumps_on_the_way_is_said_to_be_the_reason():
    problem = at(lambda t, m: np.where(np.cos(t) > 0.2, 1.0, -1.0), noise=0.3)
    with pytest.raises(ComputationFailed, match="a velocity that is not smooth, as that of custom velocity"):
        evolve(problem, VonMises(0.0, 2.0), 1.0)


def test_a_checkpoint_of_another_function_of_the_same_name_is_refused(tmp_path):
    runs = {
        "density": lambda problem: evolve(
            problem, VonMises(0.5, 2.0), 1.0, checkpoint=Checkpoint(tmp_path / "density", every=0.25)
        ),
        "particles": lambda problem: simulate(
            problem, 50, 0.5, 1, step=0.05, checkpoint=Checkpoint(tmp_path / "particles", every=0.1)
        ),
    }
    for run in runs.values():
        first = run(at(lambda t, m: -np.sin(t), noise=0.3))
        again = run(at(lambda t, m: -np.sin(t), noise=0.3))
        assert np.array_equal(first.cosine, again.cosine)
        with pytest.raises(InvalidInput, match="belongs to another run"):
            run(at(lambda t, m: np.sin(t), noise=0.3))


def test_what_particles_and_lags_need_is_said():
    problem = at(kuramoto, noise=0.5)
    for drift in (PairDrift(), MomentDrift()):
        with pytest.raises(InvalidInput, match="leave the drift out"):
            simulate(problem, 100, 1.0, step=0.01, seed=1, drift=drift)
    with pytest.raises(InvalidInput, match=r"give a step, such as step=0.01"):
        simulate(problem, 100, 1.0, seed=1)
    with pytest.raises(InvalidInput, match="leave the drift out"):
        simulate(at(on_sphere, domain=Sphere(3)), 100, 1.0, step=0.01, seed=1, drift=PairDrift())
    with pytest.raises(InvalidInput, match=r"give a step, such as step=0.01"):
        simulate(at(on_sphere, domain=Sphere(3)), 100, 1.0, seed=1)
    with pytest.raises(InvalidInput, match="densities without an axis need the gradient law"):
        evolve(at(on_sphere, domain=Sphere(3)), VonMises(0.5, 1.0), 1.0)
    with pytest.raises(InvalidInput, match="write the lag into the function"):
        PhaseLag(CustomVelocity(kuramoto), 0.3)


@dataclass(frozen=True)
class Saturating(VelocityLaw):
    """v = grad tanh(h), h = -W*rho: a law with a Gibbs map, of somebody else."""

    potential: Kuramoto = field(default_factory=Kuramoto)
    name: ClassVar[str] = "saturating"
    formula: ClassVar[str] = "grad tanh(-W*rho)"

    def lacks(self, capability):
        lost = (Capability.GRADIENT, Capability.FREE_ENERGY, Capability.CENTRE)
        return "it saturates" if capability in lost else ""

    def radial(self, domain, degree):
        return None

    def speed(self, drive, slope_squared, radial):
        return 1.0 / np.cosh(drive) ** 2

    def antiderivative(self, drive):
        return np.tanh(drive)

    def at_uniform(self, domain):
        return self.potential


def test_other_laws_with_a_gibbs_map_have_their_own_normal_form():
    """With h = m cos t a third of h^3 is taken from the field: b_1 = 1/2 + 1/4."""
    problem = ContinuityEquation(Circle(), Saturating())
    assert critical_coupling(problem) == 2.0
    assert branch_shape(problem, 1).curvature == pytest.approx(0.75, rel=1e-14)


@pytest.mark.parametrize("domain", [Circle(), Sphere(3), Sphere(7)])
@pytest.mark.parametrize("law", [SoftmaxAttention(1.5), NormalisedAttention(0.7), NormalisedAttention(-4.0)])
def test_changes_of_the_speed_follow_from_its_values(law, domain):
    for exact, found in zip(law.speed_response(domain, 6), VelocityLaw.speed_response(law, domain, 6), strict=True):
        assert found[1:] == pytest.approx(exact[1:], rel=1e-13, abs=1e-15)


@pytest.mark.parametrize("law", [NormalisedAttention(beta) for beta in (1e-3, 0.02, 30.0, 300.0)], ids=str)
def test_changes_of_the_speed_are_known_beside_singularities_and_in_any_unit(law):
    for exact, found in zip(
        law.speed_response(Circle(), 80), VelocityLaw.speed_response(law, Circle(), 80), strict=True
    ):
        assert found[1:] == pytest.approx(exact[1:], rel=1e-12, abs=1e-300)


@dataclass(frozen=True)
class Given(Saturating):
    """v = s grad h with any speed s and any coefficients of the drive."""

    function: object = None
    coefficients: tuple[float, ...] = (1.0, 1.0)

    def drive(self, domain, degree):
        return np.array([*self.coefficients, *np.zeros(degree)])[: degree + 1]

    def speed(self, drive, slope_squared, radial):
        return self.function(drive, slope_squared)


def test_changes_of_a_speed_with_a_singularity_near_the_uniform_density():
    first, second, _ = Given(function=lambda drive, _: 1.0 / drive, coefficients=(0.01, 2.0)).speed_response(
        Circle(), 1
    )
    assert (first[1], second[1]) == pytest.approx((-100.0, 1e4), rel=1e-13)
    _, _, slope = Given(function=lambda _, squared: (1e-6 + squared) ** -0.5).speed_response(Circle(), 1)
    assert slope[1] == pytest.approx(-0.5e6 / 4.0, rel=1e-13)


def test_changes_of_the_speed_at_degrees_whose_drive_underflows():
    law = Given(function=lambda drive, _: 1.0 / drive, coefficients=(1.0, 2.0, 2e-160, 2e-310))
    first, second, slope = law.speed_response(Circle(), 4)
    assert first[1:] == pytest.approx([-1.0, -1e-160, -1e-310, 0.0], rel=1e-13)
    assert second[1:] == pytest.approx([1.0, 0.0, 0.0, 0.0], rel=1e-13, abs=1e-300)
    assert not slope[1:].any()


@pytest.mark.parametrize(
    "function",
    [
        lambda drive, _: np.where(drive.real > 1.0, 1.0, drive),
        lambda _, squared: 1.0 / (1.0 + np.sqrt(squared + 0j)),
    ],
)
def test_changes_of_a_speed_that_is_not_analytic_are_refused(function):
    with pytest.raises(InvalidInput, match=r"saturating is not analytic near the drive .* speed_response\(\)"):
        Given(function=function).speed_response(Circle(), 2)


@pytest.mark.parametrize("method", [None, ETDRK4(), ETDRK4(step=0.01)])
def test_a_force_moves_the_uniform_density(method):
    problem = McKeanVlasov(Circle(), Kuramoto(), 1.0, 0.0, CosineSeries((0.5,)))
    moments = evolve(problem, VonMises(0.0, 0.0), 30.0, times=1, method=method).cosine[-1]
    angles = 2.0 * np.pi * np.arange(64) / 64
    density = np.exp(-0.5 * np.cos(angles))
    assert abs(moments[1] - np.cos(angles) @ density / density.sum()) < 1e-8
