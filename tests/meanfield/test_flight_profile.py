"""The profile of the mass in flight against its definition by quadrature, and a closed form."""

import math

import mpmath as mp
import numpy as np
import pytest

from meanfield import (
    Circle,
    ContinuityEquation,
    CosineSeries,
    InvalidInput,
    Kuramoto,
    McKeanVlasov,
    NormalisedAttention,
    PhaseLag,
    SoftmaxAttention,
    Sphere,
    Transformer,
    flight_profile,
)

PLACES = (0.01, 0.7, 2.0, 3.0)


def by_definition(dimension, beta, one, other):
    """Return g(one)/g(other) of the transformer, angles from the antipode, g = exp(mu int du/v)/(v sin^(d-2))."""
    exponent = (dimension - 1) * mp.exp(-beta)

    def velocity(u):
        return mp.sin(u) * mp.exp(-beta * mp.cos(u))

    travelled = mp.quad(lambda u: 1 / velocity(u), [other, one])
    heights = velocity(other) * mp.sin(other) ** (dimension - 2) / velocity(one) / mp.sin(one) ** (dimension - 2)
    return float(heights * mp.exp(exponent * travelled))


@pytest.mark.parametrize("dimension", [2, 3, 5])
@pytest.mark.parametrize(("beta", "error"), [(-0.2, 1e-11), (1.0, 1e-11), (4.0, 1e-9)])
def test_the_profile_is_its_integral(dimension, beta, error):
    domain = Circle() if dimension == 2 else Sphere(dimension)
    problem = McKeanVlasov(domain, Transformer(beta), noise=0.0, coupling=2.5)
    found = flight_profile(problem, np.pi - np.array(PLACES))
    exact = [by_definition(dimension, beta, one, PLACES[0]) for one in PLACES]
    # Beside the ends the pull is known to the fourth power of 1e-3, times derivatives that grow like beta^4.
    assert found / found[0] == pytest.approx(exact, rel=error)
    assert flight_profile(problem, [np.pi, -np.pi]) == pytest.approx(1.0, abs=1e-15)
    assert np.array_equal(found, flight_profile(problem, np.array(PLACES) - np.pi))


def test_the_profile_near_the_cluster_is_a_power():
    problem = McKeanVlasov(Circle(), Transformer(1.0), noise=0.0)
    near = flight_profile(problem, [1e-4, 1e-5])
    assert math.log10(near[1] / near[0]) == pytest.approx(1.0 + math.exp(-2.0), abs=1e-6)


@pytest.mark.parametrize("law", [SoftmaxAttention(0.5), SoftmaxAttention(7.0), NormalisedAttention(2.0)])
@pytest.mark.parametrize("dimension", [2, 4])
def test_the_profile_of_normalised_attention_is_elementary(law, dimension):
    domain = Circle() if dimension == 2 else Sphere(dimension)
    problem = ContinuityEquation(domain, law, noise=0.0, coupling=1.0)
    angle = np.linspace(0.05, np.pi, 40)
    exact = np.sin(0.5 * angle) ** (-2.0 * (dimension - 1))
    assert flight_profile(problem, angle) == pytest.approx(exact, rel=1e-13)
    assert flight_profile(problem, 0.0) == np.inf


@pytest.mark.parametrize(
    ("problem", "sentence"),
    [
        (McKeanVlasov(Circle(), Kuramoto(), noise=1.0), "give noise=0"),
        (McKeanVlasov(Circle(), Kuramoto(), 0.0, 1.0, CosineSeries((-1.0,))), "without noise, confinement"),
        (ContinuityEquation(Circle(), PhaseLag(Kuramoto(), 0.3), noise=0.0), "phase lag"),
        (McKeanVlasov(Circle(), Kuramoto(), noise=0.0, coupling=-1.0), "particles also rest elsewhere or are rep"),
        (McKeanVlasov(Circle(), CosineSeries((0.0, -1.0)), noise=0.0), "particles also rest elsewhere or are rep"),
    ],
)
def test_what_has_no_profile_is_refused(problem, sentence):
    with pytest.raises(InvalidInput, match=sentence):
        flight_profile(problem, [1.0, 2.0])


def test_angles_are_those_from_the_cluster():
    with pytest.raises(InvalidInput, match="between -pi and pi"):
        flight_profile(McKeanVlasov(Circle(), Kuramoto(), noise=0.0), 3.2)
