"""The catalogue of problems: every exact value against a slow computation of another kind, every tag against states.

A wrong value fails: one that is off by a millionth is told by the same comparison.
"""

import functools
from collections.abc import Callable
from dataclasses import replace

import mpmath as mp
import numpy as np
import pytest
from scipy.optimize import brentq

from tests import brute_force, oracles, problems, zonal_galerkin
from tests.problems import Entry, Exact

EPS = float(np.finfo(float).eps)
EVENTS = {"fold": 1, "transition": 2}


def axis_function(entry: Entry, collocation: oracles.Collocation):
    """P_l(cos t) of the degree on which the first branch is born, 2 if only even ones interact."""
    degree, dimension = 2 if "even" in entry.tags else 1, entry.problem.domain.dimension
    u = np.cos(collocation.angles)
    return u if degree == 1 else (dimension * u**2 - 1) / (dimension - 1)


# Independent values, each with its error


def critical_coupling(entry: Entry, _: str) -> tuple[float, float]:
    """-D/<W P_l> by adaptive quadrature of W, least over six degrees, in 25 digits."""
    known, dimension = problems.profile(entry.problem), entry.problem.domain.dimension
    with mp.workdps(25):
        means = [oracles.zonal_mean(dimension, known.function, degree, known.corners) for degree in range(1, 7)]
        exact = -mp.mpf(entry.problem.noise) / min(means)
        share = abs(entry.values["critical coupling"].digits / exact - 1)
    return float(share), 4 * EPS


def event(entry: Entry, name: str) -> tuple[float, float]:
    """Folds and transitions on the kernel itself: where the slope or the free energy changes its sign."""
    at, order = name.startswith("order at"), name.removeprefix("order at ")
    collocation = oracles.Collocation(entry.problem, 64)
    function = axis_function(entry, collocation)
    near = entry.exact(f"order at {order}")
    index, start = EVENTS[order], entry.exact(order)
    amplitude = brentq(lambda a: collocation.state(function, a, start)[index], 0.96 * near, 1.04 * near, xtol=1e-15)
    found = amplitude if at else collocation.state(function, amplitude, start)[0]
    # Gauss and Jacobi's weights have errors of some hundred roundings.
    return abs(entry.exact(name) / found - 1), (64 if entry.problem.domain.dimension == 2 else 512) * EPS


@functools.cache
def state(entry: Entry):
    """Return the collocation, order parameter, F - F_0 and density of the cluster at the coupling of a problem."""
    collocation = oracles.Collocation(entry.problem, 96)
    function = axis_function(entry, collocation)
    near, beside = entry.exact("order parameter"), 0.5 * (1 - entry.exact("order parameter"))
    if entry.problem.coupling == 0.0:
        density = np.exp(-collocation.field / collocation.noise)
        density /= collocation.weights @ density
        return collocation, float(collocation.weights @ (density * function)), 0.0, density
    return collocation, *collocation.at(function, entry.problem.coupling, (near - beside, near + beside))


def order_parameter(entry: Entry, _: str) -> tuple[float, float]:
    return abs(state(entry)[1] - entry.exact("order parameter")), 64 * EPS


def second_moment(entry: Entry, _: str) -> tuple[float, float]:
    collocation, _, _, density = state(entry)
    u, n = np.cos(collocation.angles), entry.problem.domain.dimension
    found = float(collocation.weights @ (density * (n * u**2 - 1) / (n - 1)))
    return abs(found - entry.exact("second moment")), 64 * EPS


def free_energy_gap(entry: Entry, _: str) -> tuple[float, float]:
    return abs(state(entry)[2] - entry.exact("free energy gap")), 64 * EPS * entry.problem.coupling


def rate(entry: Entry, name: str) -> tuple[float, float]:
    """The Fourier matrix on the circle; on spheres a Galerkin method in u/sqrt(rho), with the error it states."""
    problem, order, value = entry.problem, int(name[-1]), entry.exact(name)
    dimension = problem.domain.dimension
    collocation, density = oracles.Collocation(problem, 96), 1.0
    if "order parameter" in entry.values:
        collocation, _, _, density = state(entry)
    masses, u = collocation.weights * density, np.cos(collocation.angles)
    moments = np.array([float(zonal_mean(u, masses, degree, dimension)) for degree in range(81)])
    if dimension > 2:
        found, error = zonal_galerkin.rates(problem, moments[:30], order, 40)
        return abs(float(found[0]) - value), error
    rates = -np.linalg.eigvals(fourier_matrix(problem, moments, 40, 1 - 2 * order)).real
    # The matrix is not symmetric: rounding is multiplied by its size.
    return float(np.abs(rates - value).min()), 16 * EPS * float(np.abs(rates).max())


def fourier_matrix(problem, moments, size: int, sign: int):
    """d c_k'/d c_j, c_k' = -D k^2 c_k - (kappa k/2) sum_j j w_j c_j c_(k-j), of even (+1) or odd perturbations."""
    w = problem.potential.multipliers(problem.domain, 2 * size).astype(float)
    pull, reach = problem.coupling * w / 2, np.arange(-size, size + 1)
    whole = np.zeros((2 * size + 1, 2 * size + 1))
    for row, k in enumerate(reach):
        for column, j in enumerate(reach):
            slope = j * pull[abs(j)] + (k - j) * pull[abs(k - j)]
            whole[row, column] = -k * slope * moments[abs(k - j)] - problem.noise * k**2 * (k == j)
    positive, negative = whole[size + 1 :, size + 1 :], whole[size + 1 :, size - 1 :: -1]
    return positive + sign * negative


def zonal_mean(u, masses, degree: int, dimension: int):
    previous, current = np.ones_like(u), u
    for k in range(1, degree):
        previous, current = current, ((2 * k + dimension - 2) * u * current - k * previous) / (k + dimension - 2)
    return masses @ (current if degree else previous)


def secondary(entry: Entry, name: str) -> tuple[float, float]:
    """Where W = w_1 cos t + w_2 cos 2t gains as much as cos t loses on the 2-cluster: 1 + (kappa/D) w_1 <cos^2> = 0."""
    angles, (first, second) = 2 * np.pi * np.arange(64) / 64, entry.problem.potential.w

    def masses(coupling: float, moment: float):
        density = np.exp(-coupling * second * moment * np.cos(2 * angles))
        return density / density.sum()

    def moment(coupling: float) -> float:
        return brentq(lambda m: masses(coupling, m) @ np.cos(2 * angles) - m, 0.1, 1.0, xtol=1e-15)

    def loss(coupling: float) -> float:
        return float(1 + coupling * first * (masses(coupling, moment(coupling)) @ np.cos(angles) ** 2))

    found = brentq(loss, 1.36, 1.6, xtol=1e-15)
    return abs(entry.exact(name) / (found if name.endswith("coupling") else moment(found)) - 1), 64 * EPS


def about_threefold_axis(entry: Entry):
    """psi of unit mean square on a product rule of S^2 whose pole is the axis (1, 1, 1), and its weights."""
    nodes, gauss = np.polynomial.legendre.leggauss(40)
    angles = 2 * np.pi * np.arange(81) / 81
    u, phi = (grid.ravel() for grid in np.meshgrid(nodes, angles, indexing="ij"))
    sine = np.sqrt(1 - u**2)
    turned = np.array([[1, -1, 0], [1, 1, -2], [1, 1, 1]]) / np.sqrt([[2], [6], [3]])
    x, y, z = turned.T @ np.array([sine * np.cos(phi), sine * np.sin(phi), u])
    psi = x * y * z if entry is problems.TETRAHEDRAL else x**4 + y**4 + z**4 - 0.6
    weights = np.repeat(gauss / 2, 81) / 81
    return psi / np.sqrt(weights @ psi**2), weights


def on_one_function(entry: Entry, amplitude: float) -> tuple[float, float, float]:
    """Return kappa, its slope in the amplitude and F - F_0 of exp(a psi)/Z."""
    psi, weights = about_threefold_axis(entry)
    masses = weights * np.exp(amplitude * psi)
    total = masses.sum()
    mean, square = masses @ psi / total, masses @ psi**2 / total
    count = 2 * len(entry.problem.potential.w) + 1
    slope = count * (mean - amplitude * (square - mean**2)) / mean**2
    return count * amplitude / mean, slope, amplitude * mean / 2 - np.log(total)


def polyhedral_event(entry: Entry, name: str) -> tuple[float, float]:
    amplitude = brentq(lambda a: on_one_function(entry, a)[EVENTS[name]], 0.5, 1.2, xtol=1e-15)
    return abs(entry.exact(name) / on_one_function(entry, amplitude)[0] - 1), 64 * EPS


def at_onset(entry: Entry, name: str) -> tuple[float, float]:
    """Slopes of kappa/kappa_l in <psi>, or in its square, of amplitudes a and -a, or a and 2 a, extrapolated."""
    count, values = 2 * len(entry.problem.potential.w) + 1, {}
    for amplitude in (0.005, -0.005, 0.01, -0.01):
        coupling = on_one_function(entry, amplitude)[0]
        values[amplitude] = (coupling / count - 1), count * amplitude / coupling
    power = 1 if name.startswith("slope") else 2
    means = [np.mean([values[s * a][0] / values[s * a][1] ** power for s in (1, -1)]) for a in (0.005, 0.01)]
    # What is left is of the fourth order in the amplitude.
    return abs((4 * means[0] - means[1]) / 3 - entry.exact(name)), 0.01**4


CHECKS: dict[str, Callable[[Entry, str], tuple[float, float]]] = {
    "critical coupling": critical_coupling,
    "fold": event,
    "order at fold": event,
    "transition": event,
    "order at transition": event,
    "order parameter": order_parameter,
    "second moment": second_moment,
    "free energy gap": free_energy_gap,
    "rate of order 0": rate,
    "rate of order 1": rate,
    "rate of order 2": rate,
    "secondary coupling": secondary,
    "second moment at secondary": secondary,
    "slope at onset": at_onset,
    "curvature at onset": at_onset,
}


def check(entry: Entry, name: str) -> Callable[[Entry, str], tuple[float, float]]:
    polyhedral = "polyhedral" in entry.tags and name in EVENTS
    return polyhedral_event if polyhedral else CHECKS[name]


VALUES = [(entry, name) for entry in problems.CATALOGUE.values() for name in entry.values]


@pytest.mark.parametrize(
    ("entry", "name"),
    [
        pytest.param(entry, name, id=f"{entry.name}-{name}", marks=pytest.mark.slow if "slow" in entry.tags else ())
        for entry, name in VALUES
    ],
)
def test_an_exact_value_is_that_of_a_slow_computation(entry, name):
    error, tolerance = check(entry, name)(entry, name)
    assert error <= tolerance


@pytest.mark.parametrize("name", sorted({name for _, name in VALUES}))
def test_a_wrong_value_is_told(name):
    """A value that is off by a millionth, in the entry where it is had the soonest."""
    entry = next(entry for entry, other in VALUES if other == name)
    wrong = Exact("wrong", lambda right=entry.values[name]: right.digits * (1 + mp.mpf(10) ** -6))
    changed = replace(entry, values={**entry.values, name: wrong})
    error, tolerance = check(changed, name)(changed, name)
    assert error > tolerance


# Tags


@functools.cache
def lowest(entry: Entry, ratio: float):
    """The states of brute force at a multiple of the critical coupling, of the first degrees that count.

    Multipliers are taken in units of that coupling, which may be beyond the range of doubles.
    """
    domain = entry.problem.domain
    with mp.workdps(25):
        critical = np.longdouble(mp.nstr(entry.values["critical coupling"].digits, 21))
    weights = np.asarray(entry.problem.potential.multipliers(domain, 8)[1:] * critical, dtype=float)
    if "circle" in entry.tags:
        space = brute_force.circle(weights)
    elif "polyhedral" in entry.tags:
        space = brute_force.sphere(weights[:4], nodes=24)
    else:
        space = brute_force.zonal(domain.dimension, weights)
    return brute_force.stationary_states(space, ratio, entry.problem.noise, starts=256)


@pytest.mark.parametrize("entry", problems.tagged("discontinuous"))
def test_a_discontinuous_transition_is_before_the_critical_coupling(entry):
    assert lowest(entry, 0.9995)[0].gap < -1e-9


@pytest.mark.parametrize("entry", problems.tagged("continuous"))
def test_a_continuous_transition_is_at_the_critical_coupling(entry):
    (uniform,) = lowest(entry, 0.9995)
    assert uniform.gap == 0.0
    ordered, *_ = lowest(entry, 1.0005)
    assert -1e-5 < ordered.gap < 0.0


EVERY = [pytest.param(entry, id=entry.name) for entry in problems.CATALOGUE.values()]


@pytest.mark.parametrize("entry", EVERY)
def test_tags_of_the_potential_are_those_of_its_multipliers(entry):
    potential, domain = entry.problem.potential, entry.problem.domain
    multipliers = potential.multipliers(domain, 12)
    assert ("even" in entry.tags) == (not multipliers[1::2].any())
    assert ("singular" in entry.tags) == (not np.isfinite(potential.values(0.0)))
    # Analytic potentials have no modes left there; those of corners fall like a power.
    smooth = potential.relative_tail_bound(domain, 2000) < EPS
    assert smooth == (not entry.tags & {"kinked", "singular"})


@pytest.mark.parametrize("entry", problems.tagged("polyhedral"))
def test_polyhedral_states_are_below_those_with_an_axis(entry):
    weights = entry.problem.potential.multipliers(entry.problem.domain, 8)[1:] * entry.exact("critical coupling")
    zonal, *_ = brute_force.stationary_states(brute_force.zonal(3, weights), 1.0005, starts=256)
    assert lowest(entry, 1.0005)[0].gap < zonal.gap - 1e-9


@pytest.mark.parametrize("entry", problems.tagged("uneven"))
def test_uneven_states_have_no_mirror_axis(entry):
    """Turned so that c_1 is real the others are not."""
    weights = entry.problem.potential.w
    degrees = np.arange(1, len(weights) + 1)
    found = []
    for state in brute_force.stationary_states(brute_force.circle(weights), 4.0, starts=512):
        c = state.moments[: degrees.size] - 1j * state.moments[degrees.size :]
        found.append(np.abs((c * np.exp(-1j * degrees * np.angle(c[0]))).imag).max())
    assert max(found) > 0.01


def test_nothing_is_chosen_by_a_tag_that_nothing_has():
    assert problems.tagged("zonal", "even")
    chosen = problems.tagged("circle", "confined", without="fixed")
    assert {"circle", "confined"} <= set.intersection(*(set(parameter.values[0].tags) for parameter in chosen))
    assert all("fixed" not in parameter.values[0].tags for parameter in chosen)
    for wrong in (("cricle",), ("circle", "sphere")):
        with pytest.raises(KeyError):
            problems.tagged(*wrong)
    with pytest.raises(KeyError):
        problems.tagged("circle", exact="order of the parameter")
    with pytest.raises(KeyError):
        problems.entry("kuramoto", problems.KURAMOTO.problem)
    with pytest.raises(KeyError):
        problems.entry("another", problems.KURAMOTO.problem, "zonal")
