"""Contraction to a point without noise: the rate of the mean field, its error, and what governs it."""

import functools
import math
import re

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.special import chebyt, gegenbauer

from meanfield import (
    Circle,
    ComputationFailed,
    ContinuityEquation,
    CosineSeries,
    GegenbauerSeries,
    HegselmannKrause,
    InvalidInput,
    Kuramoto,
    MaierSaupe,
    McKeanVlasov,
    NormalisedAttention,
    SoftmaxAttention,
    Sphere,
    Transformer,
    open_contraction,
)
from meanfield.equations import Gradient
from solvers import (
    Bumps,
    Mixture,
    PerturbedUniform,
    RandomPerturbation,
    VonMises,
    characteristics,
    contraction_rate,
    moments_of,
    simulate,
)
from solvers.characteristics import LabelDensity, contraction, measured
from solvers.evolution import medium
from tests import oracles


def quiet(potential, coupling=1.0, domain=None):
    return McKeanVlasov(domain or Circle(), potential, noise=0.0, coupling=coupling)


@functools.cache
def contracting(beta, domain):
    """Return the rate of the gradient flow at coupling 1 from the density that stands for all."""
    return contraction_rate(quiet(Transformer(beta), domain=domain))


def generic(angles):
    return 1 + 0.6 * np.cos(angles) + 0.3 * np.sin(2 * angles)


def arc(angles):
    """A density on an arc of two radians, with jumps."""
    return np.where(np.cos(angles - 0.3) > math.cos(1.0), 0.5, 0.0)


# The rate of the mean field, not that of the cluster


@pytest.mark.parametrize(("beta", "bound"), [(0.5, 1e-11), (1.0, 1e-11), (2.0, 1e-7)])
def test_a_positive_density_contracts_at_the_rate_of_the_antipode(beta, bound):
    """e^-beta for 1 - r, and not 2 e^beta, which labels that miss the separatrix show."""
    found = contracting(beta, Circle())
    assert abs(found.rate - math.exp(-beta)) <= found.error <= bound
    assert found.governed_by == "separatrix"
    assert found.theory == pytest.approx(math.exp(-beta), rel=1e-13)
    assert abs(found.local_rate - 2 * math.exp(beta)) <= 2 * found.local_exponent_error <= 1e-11
    assert found.rate_of("W2").rate == found.rate / 2


@pytest.mark.parametrize("law", [SoftmaxAttention(8.0), SoftmaxAttention(9.0), Gradient(Transformer(8.0))])
def test_steps_of_tracers_do_not_follow_the_rounding_of_velocities(law, monkeypatch):
    """Velocities beside the antipode are e^-2 beta of their terms; steps that resolve rounding are a million."""
    calls = []
    difference = medium.Medium.difference

    def counted(self, *given):
        calls.append(None)
        return difference(self, *given)

    monkeypatch.setattr(medium.Medium, "difference", counted)
    problem = ContinuityEquation(Circle(), law, 0.0, 1.0)
    found = contraction_rate(problem, initial=lambda angles: np.maximum(np.cos(angles), 0.0) / 2.0)
    exact = 1.0 if isinstance(law, SoftmaxAttention) else math.exp(-8.0)
    assert abs(found.separatrix_exponent - exact) <= found.separatrix_exponent_error <= 1e-6
    assert len(calls) <= 50_000


def late_slope(found):
    """Return the slope of log(1 - r) of the labels themselves where it has fallen to 1e-6, tracers left out."""
    first, last = (int(np.argmax(found.remainder <= level)) for level in (3e-5, 1e-6))
    change = math.log(found.remainder[first] / found.remainder[last])
    return change / (found.time[last] - found.time[first])


@pytest.mark.parametrize("domain", [Circle(), Sphere(3)], ids=str)
def test_the_labels_show_the_rate_as_well(domain):
    found = contracting(1.0, domain)
    # 1 - r deviates from its exponential by its own size.
    assert late_slope(found) == pytest.approx(found.rate, rel=1e-3)


def test_labels_that_do_not_resolve_the_separatrix_show_the_local_rate(monkeypatch):
    """The test above can fail: without graded panels all labels collapse, at the slope 2 e^beta."""
    graded = measured.labels_on
    monkeypatch.setattr(measured, "labels_on", lambda density, edges, *_: graded(density, edges))
    found = contraction_rate(quiet(Transformer(1.0)))
    assert late_slope(found) == pytest.approx(2 * math.e, rel=1e-2)


@pytest.mark.parametrize(
    ("beta", "limit_point", "separatrix"),
    [(0.5, -0.212053753022, 2.964589195047), (1.0, -0.238127371358, 2.8734224857)],
)
def test_limit_point_and_separatrix_label(beta, limit_point, separatrix):
    """Numbers of two independent resolutions, with the method of graded labels and trapezoid sums."""
    found = contracting(beta, Circle())
    assert abs(found.limit_point - limit_point) <= found.limit_point_error <= 1e-6
    assert abs(found.separatrix - separatrix) <= found.separatrix_error + 1e-10
    assert found.separatrix_error <= 1e-6


def test_the_collapse_is_that_of_pair_sums():
    found = contracting(1.0, Circle())
    chosen = np.searchsorted(found.time, [0.3, 1.0])
    expected = oracles.collapsed_remainders(
        Transformer(1.0).slope, lambda x: generic(x) / (2 * np.pi), 1.0, found.time[chosen]
    )
    # Steps of 0.02 of a method of order four, and 300 labels.
    assert np.abs(found.remainder[chosen] - expected).max() < 1e-7


def test_kuramoto_in_closed_form():
    """r = (1 + (r_0^-2 - 1) e^(-kappa t))^(-1/2) from a Poisson kernel (Ott and Antonsen 2008)."""
    coupling, first, centre = 1.7, 0.4, 0.8
    degrees = np.arange(60)
    moments = first**degrees * np.exp(-1j * centre * degrees)
    found = contraction_rate(quiet(Kuramoto(), coupling), initial=moments)
    expected = 1 - (1 + (first**-2 - 1) * np.exp(-coupling * found.time)) ** -0.5
    # The tolerance of the labels.
    assert np.abs(found.remainder - expected).max() < 1e-10
    assert abs(found.rate - coupling) <= found.error <= 1e-10
    assert found.limit_point == pytest.approx(centre, abs=1e-12)


@pytest.mark.parametrize("dimension", [3, 4, 8])
def test_on_spheres_mass_leaves_in_all_directions(dimension):
    found = contracting(1.0, Sphere(dimension))
    exact = (dimension - 1) * math.exp(-1.0)
    assert exact < 2 * math.e
    assert abs(found.rate - exact) <= found.error <= 1e-10
    assert found.governed_by == "separatrix"


def test_in_many_dimensions_the_cluster_decides():
    found = contraction_rate(quiet(Transformer(1.0), domain=Sphere(64)))
    assert abs(found.rate - 2 * math.e) <= found.error <= 1e-10
    assert (found.governed_by, found.rate_of("W1").governed_by) == ("local", "local")


@pytest.mark.parametrize("dimension", [3, 5])
def test_the_collapse_on_spheres_is_that_of_rings(dimension):
    found = contracting(1.0, Sphere(dimension))
    chosen = np.searchsorted(found.time, [0.3, 0.8])
    expected = oracles.ring_remainders(
        Transformer(1.0).slope, lambda t: 1 + 0.6 * np.cos(t), dimension, 1.0, found.time[chosen]
    )
    assert np.abs(found.remainder[chosen] - expected).max() < 1e-6


# Velocity laws


def circle_density():
    return LabelDensity(generic, 2, False, 1e-15, "generic")


def test_softmax_attention_contracts_at_1():
    found = contraction(SoftmaxAttention(1.0), 1.0, Circle(), circle_density())
    rate = found.rates[0]
    assert abs(rate.rate - 1.0) <= rate.error <= 1e-10
    assert rate.governed_by == "separatrix"
    # A number of two independent resolutions.
    assert found.collapse.cluster == pytest.approx(-0.14977215837628, abs=1e-6)
    assert "energy gap" not in [each.quantity for each in found.rates]


@pytest.mark.parametrize(
    ("domain", "beta", "quantity", "exact"),
    [
        (Circle(), 1.0, "1 - r", 1.0),
        (Circle(), 0.4, "W2", 0.5),
        (Sphere(5), 2.0, "1 - r", 2.0),
        (Sphere(5), 1.0, "W1", 1.0),
    ],
)
def test_equations_of_softmax_attention_contract_at_their_sharp_rate(domain, beta, quantity, exact):
    """1 - r decays at min(2, d - 1) kappa for every beta, W2 on the circle at half of it."""
    problem = ContinuityEquation(domain, SoftmaxAttention(beta), 0.0, 3.0)
    found = contraction_rate(problem, quantity=quantity)
    assert abs(found.rate - 3.0 * exact) <= found.error <= 1e-9
    assert found.theory == pytest.approx(3.0 * exact, rel=1e-9)


@pytest.mark.parametrize("domain", [Circle(), Sphere(3)], ids=str)
def test_averages_below_rounding_are_refused(domain):
    with pytest.raises(InvalidInput, match="below what their modes tell"):
        contraction_rate(ContinuityEquation(domain, SoftmaxAttention(30.0), 0.0, 1.0))


def test_softmax_attention_on_the_ordinary_sphere_is_undecided():
    """Both exponents of 1 - r are 2 there: a factor t."""
    density = LabelDensity(lambda t: 1 + 0.6 * np.cos(t), 3, True, 1e-15, "one mode")
    rate = contraction(SoftmaxAttention(2.0), 1.0, Sphere(3), density).rates[0]
    assert rate.governed_by == "undecided"
    assert abs(rate.rate - 2.0) <= rate.error <= 1e-9


@pytest.mark.parametrize("law", [Gradient(Transformer(1.5)), SoftmaxAttention(1.5), NormalisedAttention(1.5)])
@pytest.mark.parametrize("domain", [Circle(), Sphere(4)], ids=str)
def test_kernels_and_speeds_are_those_of_their_formulas(law, domain):
    """Velocity at the angle t from a point: kappa s k', with k, R and s written out."""
    flow = characteristics.limit_flow(characteristics.medium_of(law, 1.0, domain, True))
    local, unstable = {
        Gradient: (math.exp(1.5), math.exp(-1.5)),
        SoftmaxAttention: (1.0, 1.0),
        NormalisedAttention: (1.0, 1.0),
    }[type(law)]
    assert flow.local == pytest.approx(local, rel=1e-12)
    assert flow.unstable == pytest.approx(unstable, rel=1e-11)


def polygons_by_hessians(slope, curvature, dimension):
    """Return the k for which two particles at each of k angles are a minimum of their energy, rotations aside.

    The energy is the sum of w(x.y), given by its first two derivatives, and its Hessian that on a product of spheres.
    """
    stable = []
    for count in range(2, 13):
        angles = np.repeat(2.0 * np.pi * np.arange(count) / count, 2)
        points = np.zeros((angles.size, dimension))
        points[:, 0], points[:, 1] = np.cos(angles), np.sin(angles)
        frames = np.zeros((angles.size, dimension - 1, dimension))
        frames[:, 0, 0], frames[:, 0, 1], frames[:, 1:, 2:] = -np.sin(angles), np.cos(angles), np.eye(dimension - 2)
        cosines = np.clip(points @ points.T, -1.0, 1.0)
        first, second = slope(cosines), curvature(cosines)
        seen = np.einsum("iad,jd->iaj", frames, points)
        hessian = np.einsum("ij,iaj,jbi->iajb", second, seen, seen)
        hessian += np.einsum("ij,iad,jbd->iajb", first, frames, frames)
        for i in range(angles.size):
            own = (
                np.einsum("j,aj,bj->ab", second[i], seen[i], seen[i])
                - np.eye(dimension - 1) * (first @ cosines)[i, i]
            )
            hessian[i, :, i, :] += own
        values = np.linalg.eigvalsh(hessian.reshape(angles.size * (dimension - 1), -1))
        # Rotations move the points along the circle and, two for every direction across, out of it.
        rotations = 1 + (dimension - 2) * 2 if count > 2 else dimension - 1
        scale = 1e-9 * max(float(np.abs(values).max()), 1e-300)
        if values[0] > -scale and values[rotations] > scale:
            stable.append(count)
    return tuple(stable)


def series_in_cosines(w, dimension):
    """Return the first two derivatives in c of sum_l w_l P_l(c) with P_l(1) = 1."""
    total = np.polynomial.Polynomial([0.0])
    for degree, coefficient in enumerate(w, start=1):
        polynomial = gegenbauer(degree, 0.5 * dimension - 1.0) if dimension > 2 else chebyt(degree)
        total += coefficient / polynomial(1.0) * np.polynomial.Polynomial(polynomial.coeffs[::-1])
    return total.deriv(1), total.deriv(2)


def test_polygons_of_clusters_that_are_stable_are_those_of_dense_hessians():
    random, seen = np.random.default_rng(8), set()
    for trial in range(48):
        dimension = (2, 3, 2, 5)[trial % 4]
        domain = Sphere(dimension) if dimension > 2 else Circle()
        beta, w = random.uniform(-12.0, 3.0), tuple(random.uniform(-1.0, 0.4, 5))
        cases = [
            (Transformer(beta), lambda c, b=beta: -np.exp(b * c), lambda c, b=beta: -b * np.exp(b * c)),
            (GegenbauerSeries(w, dimension), *series_in_cosines(w, dimension)),
        ]
        for potential, slope, curvature in cases:
            found = measured_polygons(potential, domain)
            if found is not None:
                assert found == polygons_by_hessians(slope, curvature, dimension)
                seen.add((dimension > 2, found))
    assert len({found for sphere, found in seen if not sphere}) > 3
    assert len({found for sphere, found in seen if sphere}) > 1


def measured_polygons(potential, domain=None):
    """Return those of the flow, None where a point does not attract."""
    try:
        return characteristics.limit_flow(
            characteristics.medium_of(Gradient(potential), 1.0, domain or Circle(), domain is not None)
        ).polygons
    except InvalidInput:
        return None


def test_three_clusters_are_stable_below_minus_two_thirds():
    """Geshkovski and others find synchronisation from beta = -0.16 on and none below -2/3."""
    assert measured_polygons(Transformer(-0.6666)) == ()
    assert measured_polygons(Transformer(-0.6667)) == (3,)
    # Of regular polygons of 5 and 7: roots of curvatures, in 12 digits.
    for threshold, before, beyond in ((-2.109924231799, (3,), (3, 5)), (-4.430908305244, (3, 5), (3, 5, 7))):
        assert measured_polygons(Transformer(threshold + 1e-9)) == before
        assert measured_polygons(Transformer(threshold - 1e-9)) == beyond
    said = contraction_rate(quiet(Transformer(-0.8))).warnings
    assert any("3 equal clusters at equal angles are stable as well" in warning for warning in said)


def concentrated(angles):
    return np.exp(2 * np.cos(angles - 0.3) + 0.3 * np.sin(2 * angles)) / CONCENTRATED_MASS


CONCENTRATED_MASS = float(
    np.mean(np.exp(2 * np.cos(np.arange(256) * np.pi / 128 - 0.3) + 0.3 * np.sin(np.arange(256) * np.pi / 64)))
)


def test_normalised_attention_contracts_at_1_where_its_output_never_vanishes():
    density = LabelDensity(concentrated, 2, False, 1e-15, "concentrated")
    rate = contraction(NormalisedAttention(1.0), 1.0, Circle(), density).rates[0]
    assert abs(rate.rate - 1.0) <= rate.error <= 1e-10
    with pytest.raises(InvalidInput, match="output of attention vanishes"):
        contraction(NormalisedAttention(1.0), 1.0, Circle(), circle_density())


def test_a_metastable_state_of_attention_is_no_collapse():
    """At beta = 8 this density waits in two clusters, for about as long as two tokens of their masses do."""
    with pytest.raises(ComputationFailed, match=r"by time 4000: it rests in 2 clusters") as raised:
        contraction(SoftmaxAttention(8.0), 1.0, Circle(), circle_density())
    numbers = [float(number) for number in re.findall(r"-?\d+\.\d+(?:e\+\d+)?", str(raised.value))]
    heavy, one, light, other, meeting = numbers
    assert heavy + light == pytest.approx(1.0, abs=1e-4)

    def closer(_, apart):
        far = np.exp(8.0 * (1.0 - np.cos(apart)))
        return -np.sin(apart) * (light / (heavy * far + light) + heavy / (light * far + heavy))

    def met(_, apart):
        return apart[0] - 0.05

    met.terminal = True
    path = solve_ivp(closer, (0.0, 1e9), [one - other], method="LSODA", rtol=1e-8, atol=1e-10, events=met)
    # The masses in the sentence have four digits, the time three.
    assert meeting == pytest.approx(4000.0 + path.t[-1], rel=0.01)


def test_limit_point_and_separatrix_label_turn_with_the_density_where_clusters_meet_late():
    """Labels part at a second place for some time, and errors of 1e-3 were once told to be 3e-7."""
    turn = 0.731
    one, other = (
        contraction_rate(
            ContinuityEquation(Circle(), SoftmaxAttention(3.0), noise=0.0, coupling=1.0),
            initial=lambda angles, turn=turn: generic(angles - turn) / (2 * np.pi),
        )
        for turn in (0.0, turn)
    )
    for name in ("limit_point", "separatrix"):
        moved = math.remainder(getattr(other, name) - getattr(one, name) - turn, 2 * math.pi)
        error = getattr(one, f"{name}_error") + getattr(other, f"{name}_error")
        assert abs(moved) <= error <= 1e-5
    assert one.log_amplitude == pytest.approx(other.log_amplitude, abs=1e-6)


# Honest errors


def random_problem(seed):
    """Return a random problem without noise, a random density and the exact rate of 1 - r."""
    draw = np.random.default_rng(seed)
    coupling, beta = float(np.exp(draw.uniform(-2, 2))), float(draw.uniform(0.05, 1.2))
    if seed % 3 == 0:
        dimension = int(draw.integers(3, 10))
        initial = Mixture(
            (VonMises(0.0, draw.uniform(0.5, 3.0)), PerturbedUniform(0.0)), (1.0, draw.uniform(0.3, 2.0))
        )
        problem = quiet(Transformer(beta), coupling, Sphere(dimension))
        return problem, initial, coupling * min(2 * math.exp(beta), (dimension - 1) * math.exp(-beta))
    if seed % 3 == 1:
        initial = RandomPerturbation(0.9, seed)
        return quiet(Transformer(beta), coupling), initial, coupling * math.exp(-beta)
    second = float(draw.uniform(-0.2, 0.1))
    initial = Mixture(
        (VonMises(draw.uniform(-3, 3), 2.0), VonMises(draw.uniform(-3, 3), 1.0)), (1.0, draw.uniform(1, 2))
    )
    # W = -cos t + w cos 2t has W''(0) = 1 - 4w and W''(pi) = -1 - 4w.
    return quiet(CosineSeries((-1.0, second)), coupling), initial, coupling * min(2 - 8 * second, 1 + 4 * second)


@pytest.mark.parametrize("seed", range(7))
def test_the_error_holds_for_random_problems(seed):
    problem, initial, exact = random_problem(seed)
    found = contraction_rate(problem, initial=initial)
    assert abs(found.rate - exact) <= found.error <= 1e-9 * max(exact, 1.0)


def test_where_the_exponents_cross():
    """2 e^beta = e^-beta at beta = -ln(2)/2: nothing is claimed there, and the right exponent on either side."""
    crossing = -0.5 * math.log(2.0)
    at = contraction_rate(quiet(Transformer(crossing)))
    assert at.governed_by == "undecided"
    assert "factor t " in at.reason
    assert "factor sqrt(t) " in contraction_rate(quiet(Transformer(crossing)), quantity="W2").reason
    assert abs(at.rate - math.sqrt(2.0)) <= at.error <= 1e-10
    for shift, governing in ((-1e-6, "local"), (1e-6, "separatrix")):
        near = contraction_rate(quiet(Transformer(crossing + shift)))
        exact = min(2 * math.exp(crossing + shift), math.exp(-crossing - shift))
        assert near.governed_by == governing
        assert f"({2 * math.exp(crossing + shift):.7g})" in near.reason
        assert f"({math.exp(-crossing - shift):.7g})" in near.reason
        assert abs(near.rate - exact) <= near.error <= 1e-9


# Densities that vanish, jump or repeat themselves


@pytest.mark.parametrize(
    ("density", "order"),
    [
        (lambda t: (1 + np.cos(t)) / (2 * np.pi), 2),
        ((np.array([1.0, 0.5]), np.zeros(2)), 2),
        (lambda t: np.abs(np.cos(t / 2)) / 4, 1),
    ],
)
def test_a_density_that_vanishes_at_the_separatrix_contracts_faster(density, order):
    found = contraction_rate(quiet(Transformer(1.0)), initial=density)
    assert found.order == order
    assert abs(found.rate - (1 + order) * math.exp(-1.0)) <= found.error <= 1e-10


def test_a_density_in_a_half_circle_contracts_at_the_local_rate():
    found = contraction_rate(quiet(Transformer(4.0), 0.5), initial=arc)
    assert abs(found.rate - math.exp(4.0)) <= found.error <= 1e-9
    assert (found.governed_by, found.separatrix_rate, found.order) == ("local", None, None)
    assert found.rate_of("support diameter").rate == found.local_exponent
    assert found.limit_point == pytest.approx(0.3, abs=1e-9)
    assert found.crossover(100) is None


def test_jumps_in_a_positive_density_change_nothing():
    def density(angles):
        return np.where(angles < 2.0, 1.4, np.where(angles < 3.0, 0.5, 0.9)) / (2.8 + 0.5 + 0.9 * (2 * np.pi - 3))

    found = contraction_rate(quiet(Transformer(0.5)), initial=density)
    assert abs(found.rate - math.exp(-0.5)) <= found.error <= 1e-10
    assert found.governed_by == "separatrix"


def test_a_density_below_the_rounding_of_its_moments_is_undecided():
    moments = moments_of(quiet(Transformer(1.0)), VonMises(1.0, 30.0))
    found = contraction_rate(quiet(Transformer(1.0)), initial=(moments.cosine, moments.sine))
    assert (found.rate, found.error, found.governed_by, found.theory) == (None, None, "undecided", None)
    assert "below the rounding" in found.reason
    assert "not known" in found.summary()


@pytest.mark.parametrize("concentration", [20.0, 60.0])
def test_a_named_density_is_exact_and_says_how_long_the_cluster_alone_is_seen(concentration):
    found = contraction_rate(quiet(Transformer(1.0)), initial=VonMises(1.0, concentration))
    assert found.governed_by == "separatrix"
    assert abs(found.rate - math.exp(-1.0)) <= found.error <= 1e-11
    (said,) = [warning for warning in found.warnings if "so little mass is in flight" in warning]
    time = float(re.search(r"until about time ([0-9.]+)", said)[1])
    local, mass = found.local_rate * (time - found.time[-1]), found.log_amplitude - found.rate * time
    # Both parts of 1 - r are equal then, up to factors.
    assert abs(math.log(found.remainder[-1]) - local - mass) < 2.0
    # The density opposite to its peak is e^(-2 concentration) of that there.
    assert found.log_amplitude < -2.0 * concentration + 10.0


@pytest.mark.parametrize(
    ("potential", "coupling", "initial", "sentence"),
    [
        (Transformer(1.0), 1.0, PerturbedUniform(0.0), "the uniform density is stationary"),
        (Transformer(1.0), 1.0, PerturbedUniform(0.4, 2), "repeats itself 2 times"),
        (Kuramoto(), 1.0, Bumps(3, 0.4), "repeats itself 3 times"),
        (Kuramoto(), 1.0, (np.array([1.0, 0.0, 0.2, 0.2]), np.zeros(4)), "the initial density is stationary"),
        (Transformer(1.0), -1.0, None, "repels at short distance"),
        (Transformer(1.0), 0.0, None, "nothing moves"),
        (HegselmannKrause(1.0), 1.0, None, "kink or a jump"),
        (MaierSaupe(), 1.0, None, "come to rest at 3.142"),
        (CosineSeries((-1.0, -0.3)), 1.0, None, "come to rest at 3.142"),
        (CosineSeries((-1.0, -0.25)), 1.0, None, "algebraically"),
        (Transformer(30.0), 1.0, None, "too slowly to be told"),
        (Transformer(900.0), 1.0, None, "do not fit double precision"),
        (Transformer(1.0), 1.0, lambda t: np.cos(t) / np.pi + 0.5 / np.pi, "is negative"),
        (Transformer(1.0), 1.0, lambda t: 1 + 0.3 * np.cos(t), "integrates to 6.28"),
    ],
)
def test_what_does_not_contract_is_refused_in_a_sentence(potential, coupling, initial, sentence):
    with pytest.raises(InvalidInput, match=sentence) as caught:
        contraction_rate(quiet(potential, coupling), initial=initial)
    assert "\n" not in str(caught.value)


def test_two_clusters_that_symmetry_holds_apart_are_no_collapse():
    """Masses .7 and .3 at opposite points attract each other for no beta above ln(7/3)/2 = .42."""
    initial = Mixture((VonMises(0.0, 5.0), VonMises(math.pi, 3.0)), (0.7, 0.3))
    with pytest.raises(ComputationFailed, match=r"rests in 2 clusters, 0\.7\d* of the mass at the angle 0 .* symm"):
        contraction_rate(quiet(Transformer(1.0)), initial=initial)
    assert contraction_rate(quiet(Transformer(0.2)), initial=initial).governed_by == "separatrix"


def test_below_the_crossing_the_local_rate_governs_positive_densities():
    found = contraction_rate(quiet(Transformer(-0.9)), initial=RandomPerturbation(0.9, 3))
    assert abs(found.rate - 2 * math.exp(-0.9)) <= found.error <= 1e-10
    assert found.governed_by == "local"


@pytest.mark.parametrize(
    ("initial", "sentence"),
    [
        (PerturbedUniform(0.5, 2), "same on both sides of the equator"),
        (VonMises(1.0, 2.0), "axis of the initial density is elsewhere"),
    ],
)
def test_densities_on_spheres_that_are_refused(initial, sentence):
    with pytest.raises(InvalidInput, match=sentence):
        contraction_rate(quiet(Transformer(1.0), domain=Sphere(3)), initial=initial)


def test_a_density_about_the_south_pole():
    found = contraction_rate(quiet(Transformer(1.0), domain=Sphere(3)), initial=VonMises(math.pi, 2.0))
    assert abs(found.limit_point) == pytest.approx(math.pi)
    assert abs(found.rate - 2 * math.exp(-1.0)) <= found.error <= 1e-10


@pytest.mark.parametrize(
    ("options", "sentence"),
    [({"quantity": "W3"}, "unknown quantity 'W3'"), ({"state": 3}, "state must be")],
)
def test_wrong_arguments(options, sentence):
    with pytest.raises(InvalidInput, match=sentence):
        contraction_rate(quiet(Kuramoto()), **options)


def test_with_noise_there_is_no_initial_density():
    with pytest.raises(InvalidInput, match="belongs to contraction without noise"):
        contraction_rate(McKeanVlasov(Circle(), Kuramoto(), coupling=3.0), initial=VonMises())


def test_a_confinement_is_refused():
    problem = McKeanVlasov(Circle(), Kuramoto(), noise=0.0, coupling=1.0, confinement=CosineSeries((0.3,)))
    with pytest.raises(InvalidInput, match="leave the confinement out"):
        contraction_rate(problem)


# Particles


def test_particles_follow_the_local_rate_after_the_crossover():
    """The slope of log(1 - r) of N particles is 2 e^beta once none is in flight, and e^-beta of the mean field before."""
    count, beta = 150, 0.5
    found = contracting(beta, Circle())
    crossover = found.crossover(count)
    mass = math.exp(found.log_amplitude - found.rate * crossover)
    assert count * mass == pytest.approx(1.0)
    draw = np.random.default_rng(5)
    grid = np.linspace(-np.pi, np.pi, 20001)
    shares = np.cumsum(generic(grid))
    angles = np.interp((np.arange(count) + draw.uniform(size=count)) / count * shares[-1], shares, grid)
    times = crossover + 6.0 / found.rate + np.array([0.0, 0.5])
    later = oracles.particle_remainders(Transformer(beta).slope, angles, times)
    assert math.log(later[0] / later[1]) / 0.5 == pytest.approx(2 * math.exp(beta), rel=1e-3)


# The record


@pytest.fixture(scope="module")
def record():
    return contraction_rate(quiet(Transformer(0.5)), quantity="w2")


def test_the_quantity_is_stated(record):
    assert record.quantity == "W2"
    assert record.rate == record.rate_of("1 - r").rate / 2
    assert record.rate_of("support diameter").rate == 0.0
    assert record.to_dict()["quantity"] == "W2"
    with pytest.raises(InvalidInput, match="there are 1 - r, W1"):
        record.rate_of("W7")


@pytest.mark.parametrize(
    ("suffix", "law"),
    [(".json", Gradient(Kuramoto())), (".nc", SoftmaxAttention(1.0)), (".json", NormalisedAttention(1.5))],
)
def test_a_file_holds_it_bit_for_bit(tmp_path, suffix, law):
    found = contraction_rate(ContinuityEquation(Circle(), law, noise=0.0, coupling=1.0), initial=arc)
    path = tmp_path / f"contraction{suffix}"
    found.save(path)
    again = open_contraction(path)
    assert again == found
    assert again.problem.velocity == law


def test_tables_and_pictures(record, tmp_path):
    written = record.to_csv(tmp_path / "rates.csv")
    assert "support diameter" in written[0].read_text()
    axes = record.plot()
    assert [line.get_label().partition(":")[0] for line in axes.lines] == [
        "$1 - r$",
        "cluster alone",
        "mass in flight alone",
    ]
    assert record.to_xarray()["remainder"].size == record.time.size
    # Both slopes are straight lines that end at the last value or time.
    found = record.rate_of("1 - r")
    for line, rate in zip(axes.lines[1:], (found.local_rate, found.separatrix_rate), strict=True):
        (first, last), (high, low) = line.get_xdata(), line.get_ydata()
        assert math.log(high / low) == pytest.approx(rate * (last - first), rel=1e-12)
        assert low == pytest.approx(record.remainder.min()) or last == record.time[-1]


def test_particles_are_drawn_beside_the_density_with_their_crossover(record):
    ensembles = [simulate(record.problem, count, 4.0, 1, times=20, degrees=1, replicas=2) for count in (10, 20)]
    axes = record.plot(ensembles=ensembles)
    labels = [line.get_label() for line in axes.lines]
    assert labels[0] == "mean field"
    for count, ensemble in zip((10, 20), ensembles, strict=True):
        crossover = record.crossover(count)
        name = f"{count} particles, crossover at $t = {crossover:.3g}$ (dotted)"
        place = labels.index(name)
        dotted, first, second = axes.lines[place - 1 : place + 2]
        assert dotted.get_xdata()[0] == crossover
        for line, radii in zip((first, second), ensemble.moments_in_modulus(), strict=True):
            assert line.get_ydata() == pytest.approx(1.0 - radii, abs=1e-15)
    assert axes.get_xlim() == (0.0, 4.0)


def test_the_crossover_needs_particles(record):
    assert 0.0 <= record.crossover(1) <= record.crossover(1000) < record.crossover(10**6)
    growth = record.crossover(10**6) - record.crossover(1000)
    assert growth == pytest.approx(math.log(1000) / record.mass_exponent, rel=1e-14)
    with pytest.raises(InvalidInput, match="particles must be"):
        record.crossover(0)
