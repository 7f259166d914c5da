"""Initial densities: named ones against quadrature, functions, states, samples."""

import mpmath as mp
import numpy as np
import pytest

from meanfield import Circle, InvalidInput, Kuramoto, McKeanVlasov, NotResolved
from solvers import (
    Bumps,
    Mixture,
    PerturbedUniform,
    RandomPerturbation,
    Samples,
    VonMises,
    Watson,
    evolve,
    moments_of,
    stationary_states,
)
from solvers.evolution.circle.initial import aligned
from tests import problems

EPS = float(np.finfo(float).eps)
PROBLEM = problems.KURAMOTO_AT_3.problem
ANGLES = 2 * np.pi * np.arange(2048) / 2048
RANDOM = np.random.default_rng(0)


def by_quadrature(density, degree):
    values = density(ANGLES)
    return np.exp(-1j * np.outer(np.arange(degree + 1), ANGLES)) @ values * (2 * np.pi / ANGLES.size)


def wrapped_normal(angle, mean, width):
    turns = np.arange(-6, 7)[:, None]
    return np.exp(-0.5 * ((angle - mean + 2 * np.pi * turns) / width) ** 2).sum(axis=0) / (
        width * np.sqrt(2 * np.pi)
    )


NAMED = [
    (PerturbedUniform(0.3, 2, 0.5), lambda t: (1 + 0.3 * np.cos(2 * (t - 0.5))) / (2 * np.pi)),
    (VonMises(1.0, 3.0), lambda t: np.exp(3 * np.cos(t - 1)) / (2 * np.pi * np.i0(3.0))),
    (Bumps(1, 0.4, mean=-1.0), lambda t: wrapped_normal(t, -1.0, 0.4)),
    (Bumps(3, 0.3), lambda t: sum(wrapped_normal(t, 2 * np.pi * j / 3, 0.3) for j in range(3)) / 3),
    (
        Bumps(2, 0.5, (3.0, 1.0), 0.2),
        lambda t: 0.75 * wrapped_normal(t, 0.2, 0.5) + 0.25 * wrapped_normal(t, 0.2 + np.pi, 0.5),
    ),
]


RANDOM = np.random.default_rng(4)


def random_named():
    """Return named densities of random parameters, a mixture of them last."""
    mean, width, strength = RANDOM.uniform(-4.0, 4.0), RANDOM.uniform(0.1, 10.0), RANDOM.uniform(-30.0, 30.0)
    several = [
        PerturbedUniform(RANDOM.uniform(-1.0, 1.0), int(RANDOM.integers(1, 6)), mean),
        RandomPerturbation(RANDOM.uniform(0.0, 1.0), int(RANDOM.integers(99))),
        VonMises(mean, abs(strength)),
        Watson(strength, mean),
        Bumps(3, width, tuple(RANDOM.uniform(0.1, 1.0, 3)), mean),
    ]
    return [*several, Mixture(tuple(several), tuple(RANDOM.uniform(0.1, 1.0, 5)))]


def test_formulas_are_the_sums_of_their_moments():
    angles = RANDOM.uniform(-8.0, 8.0, 50)
    for density in [density for _ in range(6) for density in random_named()]:
        start = moments_of(PROBLEM, density)
        assert start.formula is not None
        waves = np.exp(1j * np.outer(angles, np.arange(start.cosine.size)))
        series = 2.0 * (waves @ (start.cosine - 1j * start.sine)).real - 1.0
        bound = 16.0 * EPS * float(2.0 * np.hypot(start.cosine, start.sine).sum()) + 1e-12
        assert np.abs(start.formula(angles) - series).max() <= bound


def test_formulas_have_all_digits_where_densities_are_small():
    """Opposite to the peak, where sums of moments have none; the references are sums in 40 digits."""
    with mp.workdps(40):
        mises = mp.exp(-mp.mpf(30)) / mp.besseli(0, 30)
        distances = [mp.pi + 2 * mp.pi * turn for turn in range(-4, 4)]
        bump = mp.sqrt(2 * mp.pi) / mp.mpf("0.3") * sum(mp.exp(-((d / mp.mpf("0.3")) ** 2) / 2) for d in distances)
        watson = mp.exp(-mp.mpf(20)) / (mp.exp(-10) * mp.besseli(0, 10))
    opposite = np.array([np.pi])
    assert VonMises(0.0, 30.0).relative(opposite)[0] == pytest.approx(float(mises), rel=1e-14)
    assert Bumps(1, 0.3).relative(opposite)[0] == pytest.approx(float(bump), rel=1e-13)
    assert Watson(20.0, 0.0).relative(0.5 * opposite)[0] == pytest.approx(float(watson), rel=1e-14)
    assert Samples([0.1, 0.2, 0.4]).bandwidth > 0.0
    assert moments_of(PROBLEM, Samples([0.1, 0.2, 0.4])).formula is None


@pytest.mark.parametrize(("named", "density"), NAMED)
def test_named_densities_have_their_moments(named, density):
    exact = by_quadrature(density, 24)
    assert np.abs(named.moments(24) - exact).max() <= 64 * EPS
    found = moments_of(PROBLEM, named)
    count = min(found.cosine.size, 25)
    assert np.abs(found.cosine[:count] - 1j * found.sine[:count] - exact[:count]).max() <= 64 * EPS
    # And given as a function they are the same density.
    other = moments_of(PROBLEM, density)
    count = min(count, other.cosine.size)
    assert np.abs(found.cosine[:count] - other.cosine[:count]).max() <= 256 * EPS


def test_even_and_symmetric_densities_are_so_exactly():
    for named in (VonMises(0.0, 2.0), VonMises(np.pi, 2.0), Bumps(4, 0.2), Bumps(3, 0.3, (1.0, 2.0, 2.0))):
        assert not moments_of(PROBLEM, named).sine.any()
    cosine = moments_of(PROBLEM, Bumps(4, 0.2)).cosine
    assert not cosine[np.arange(cosine.size) % 4 != 0].any()
    even = moments_of(PROBLEM, lambda t: np.exp(2 * np.cos(t)) / (2 * np.pi * np.i0(2.0)))
    assert not even.sine.any()


def test_random_perturbations_are_positive_and_repeatable():
    one = RandomPerturbation(1.0, 3, 12)
    assert np.array_equal(one.moments(12), RandomPerturbation(1.0, 3, 12).moments(12))
    assert not np.array_equal(one.moments(12), RandomPerturbation(1.0, 4, 12).moments(12))
    c = one.moments(12)
    values = 1 + 2 * (np.exp(1j * np.outer(ANGLES, np.arange(1, 13))) @ c[1:]).real
    assert values.min() >= 0.0
    # More degrees do not change the lower ones that are asked for.
    assert np.array_equal(one.moments(5), c[:6])


def test_states_and_trajectories_start_where_they_are():
    state = stationary_states(PROBLEM)[0]
    found = moments_of(PROBLEM, state)
    count = min(found.cosine.size, state.cosine.size)
    assert np.array_equal(found.cosine[:count], state.cosine[:count])
    assert evolve(PROBLEM, state, 1.0).outcome.name == "STATIONARY"
    trajectory = evolve(PROBLEM, VonMises(0.5, 1.0), 1.0, times=4)
    further = moments_of(PROBLEM, trajectory)
    assert np.abs(further.cosine - trajectory.cosine[-1][: further.cosine.size]).max() <= EPS


def test_functions_may_take_one_angle_only():
    import math

    found = moments_of(PROBLEM, lambda t: math.exp(math.cos(t)) / (2 * math.pi * float(np.i0(1.0))))
    assert np.abs(found.cosine[:10] - VonMises(0.0, 1.0).moments(9).real).max() <= 64 * EPS


def test_fast_oscillations_are_not_taken_for_slow_ones():
    found = moments_of(PROBLEM, lambda t: (1 + np.cos(64 * t)) / (2 * np.pi))
    assert found.cosine[64] == pytest.approx(0.5, abs=64 * EPS)
    assert np.abs(found.cosine[1:64]).max() == 0.0


def test_too_sharp_functions_are_refused():
    with pytest.raises(NotResolved, match="do not decay"):
        moments_of(PROBLEM, lambda t: np.where(np.cos(t) > 0, 1 / np.pi, 0.0))


# Samples


def test_bandwidth_minimises_the_error_it_estimates():
    """Of 4000 angles from two narrow bumps the estimate is within 5 % of them; a single-bump rule would merge them.

    The bound is five times the mean integrated error expected, so that the seed does not matter.
    """
    generator = np.random.default_rng(11)
    angles = np.concatenate([generator.normal(0.0, 0.15, 2000), generator.normal(2.0, 0.15, 2000)])
    samples = Samples(angles)
    assert 0.02 <= samples.bandwidth <= 0.12
    exact = 0.5 * (VonMisesLike(0.0, 0.15) + VonMisesLike(2.0, 0.15))
    c = samples.moments(60)
    error = np.sum(np.abs(c - exact)[1:] ** 2) / np.sum(np.abs(exact)[1:] ** 2)
    assert error <= 0.05**2 * 5


def VonMisesLike(mean, width):
    k = np.arange(61)
    return np.exp(-0.5 * (k * width) ** 2 - 1j * k * mean)


def test_given_bandwidths_are_taken():
    angles = np.array([0.1, 0.5, -2.0])
    found = moments_of(PROBLEM, Samples(angles, bandwidth=0.4))
    k = np.arange(8)
    exact = np.exp(-1j * np.outer(k, angles)).mean(axis=1) * np.exp(-0.5 * (0.4 * k) ** 2)
    assert np.abs(found.cosine[:8] - 1j * found.sine[:8] - exact).max() <= 16 * EPS
    assert "kernel of width 0.4" in found.warnings[0]
    with pytest.raises(InvalidInput, match="the bandwidth of an initial density must be positive, not 0"):
        Samples(angles, bandwidth=0.0)


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: PerturbedUniform(1.5), "the amplitude of an initial density must be from -1 to 1, not 1.5"),
        (lambda: PerturbedUniform(0.1, 0), "the degree of an initial density must be a whole number >= 1, not 0"),
        (lambda: PerturbedUniform(float("nan")), "must be from -1 to 1, not nan"),
        (lambda: RandomPerturbation(2.0, 1), "must be from 0 to 1, not 2.0"),
        (lambda: RandomPerturbation(0.1, -1), "the seed of an initial density must be a whole number >= 0"),
        (lambda: VonMises(0.0, -1.0), "the concentration of an initial density must be finite and >= 0, not -1.0"),
        (lambda: VonMises(float("inf")), "the mean of an initial density must be finite"),
        (lambda: Bumps(0), "the count of an initial density must be a whole number >= 1, not 0"),
        (lambda: Bumps(2, -0.1), "the width of an initial density must be positive, not -0.1"),
        (lambda: Bumps(2, 0.1, (1.0,)), "2 bumps need 2 weights, not 1"),
        (lambda: Bumps(2, 0.1, (0.0, 0.0)), "must be >= 0 and not all 0"),
    ],
)
def test_parameters_that_make_no_density(make, sentence):
    with pytest.raises(InvalidInput, match=sentence):
        make()


# Axes


# In every quadrant, where an axis has two names, and beside rounding; others at random.
AXES = (0.0, 1e-300, 1e-16, -1e-9, 0.5 * np.pi, -0.5 * np.pi, np.pi, -np.pi, np.nextafter(np.pi, 4.0), 3.2, -3.2)


@pytest.mark.parametrize(
    "named",
    [
        VonMises(0.0, 2.0),
        Bumps(3, 0.3),
        Bumps(3, 0.3, (1.1, 1.0, 1.0)),
        Bumps(2, 0.4, (1.0, 2.0)),
        PerturbedUniform(1e-9, 2),
    ],
)
def test_an_axis_is_found_wherever_it_is(named):
    even = moments_of(PROBLEM, named)
    for angle in (*AXES, *RANDOM.uniform(-3.2, 3.2, 20)):
        c = (even.cosine - 1j * even.sine) * np.exp(-1j * angle * np.arange(even.cosine.size))
        found, axis = aligned(PROBLEM, moments_of(PROBLEM, (c.real, -c.imag)), False)
        assert not found.sine.any(), angle
        turned = found.cosine * np.exp(-1j * axis * np.arange(found.cosine.size))
        assert np.abs(turned - c[: turned.size]).max() <= 512 * EPS * np.abs(c[1:]).max(), angle


def test_a_small_asymmetry_is_not_taken_for_rounding():
    c = VonMises(0.7, 2.0).moments(20)
    c[3] *= 1 + 1e-10j
    found, axis = aligned(PROBLEM, moments_of(PROBLEM, (c.real, -c.imag)), False)
    assert axis == 0.0
    assert found.sine.any()


def test_a_confinement_fixes_the_angle():
    confined = McKeanVlasov(Circle(), Kuramoto(), coupling=1.0, confinement=Kuramoto())
    _, axis = aligned(confined, moments_of(confined, VonMises(0.7, 2.0)), False)
    assert axis == 0.0
