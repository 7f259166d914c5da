"""Derivatives of the coefficients of the field in every parameter of an equation, against differences."""

import numpy as np
import pytest

from meanfield import (
    Circle,
    ContinuityEquation,
    CosineSeries,
    Custom,
    External,
    GegenbauerSeries,
    HegselmannKrause,
    InvalidInput,
    KellerSegel,
    Kuramoto,
    Logarithmic,
    MaierSaupe,
    McKeanVlasov,
    Onsager,
    Perceptron,
    SoftmaxAttention,
    Sphere,
    Transformer,
    two_layer,
)
from meanfield.equations import Interaction
from meanfield.potentials.interpolation import LARGEST_ERROR
from tests.oracles import extrapolated_slope

EPS = float(np.finfo(float).eps)
DEGREE = 24
RANDOM = np.random.default_rng(7)


def problem(potential, domain=None, confinement=None, noise=0.7, coupling=2.3):
    return McKeanVlasov(domain or Circle(), potential, noise, coupling, confinement)


SUM = 2 * Kuramoto() - Transformer(3.0) / 3 + 0.5 * Transformer(-1.0) + CosineSeries((0.1, 0.2))
LIBRARY = [
    Kuramoto(),
    Transformer(2.5),
    Transformer(-30.0),
    Onsager(),
    MaierSaupe(),
    Logarithmic(),
    HegselmannKrause(1.3),
    KellerSegel(0.8),
    CosineSeries((-1.0, -0.4, 0.3)),
    Custom.from_coefficients((-1.0, 0.2), 0.3),
    SUM,
]
ON_CIRCLE = [
    *map(problem, LIBRARY),
    problem(Transformer(4.0), confinement=CosineSeries((0.4, -0.2))),
    problem(Transformer(4.0), confinement=2 * Kuramoto() + 0.3 * KellerSegel(1.5)),
    problem(Kuramoto(), confinement=External.from_coefficients((0.3, 0.1), (0.2,))),
    problem(Kuramoto(), confinement=2.0 * External.from_coefficients((0.3,), (0.2, -0.4)) - Kuramoto()),
    two_layer((0.0, 2.0), (1.0, 0.5), noise=0.1).at(coupling=1.5),
]
ON_SPHERES = [
    problem(potential, Sphere(dimension), confinement)
    for potential in (Transformer(2.5), GegenbauerSeries((-1.0, 0.3)), MaierSaupe(), HegselmannKrause(1.3), SUM)
    for dimension, confinement in ((3, None), (3, GegenbauerSeries((0.4,))), (4, 0.5 * Kuramoto()))
    if not (dimension == 4 and potential == GegenbauerSeries((-1.0, 0.3)))
]
# These are interpolated themselves.
WITHOUT_FORMULA = [problem(Kuramoto(), confinement=Perceptron((1.0, 0.4), (0.5, 2.0), "tanh"))]


def names_of(equation):
    return [(name, equation) for name in equation.parameters]


@pytest.mark.parametrize(
    ("name", "equation"),
    [pair for equation in (*ON_CIRCLE, *ON_SPHERES, *WITHOUT_FORMULA) for pair in names_of(equation)],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_derivatives_are_those_of_the_coefficients(name, equation):
    def changed(kind):
        return lambda value: getattr(Interaction(equation.with_parameter(name, value)), kind)(DEGREE)

    value = float(equation.parameters[name])
    for kind in ("attraction", "strength", "force", "sine_force"):
        derivatives = getattr(Interaction(equation), f"{kind}_derivatives")(name, DEGREE)
        expected, error = extrapolated_slope(changed(f"{kind}s"), value, 0.1 * (abs(value) or 1.0))
        size = max(np.abs(np.asarray(expected)).max(), EPS)
        assert derivatives.dtype == float
        known = LARGEST_ERROR if equation in WITHOUT_FORMULA else 16 * EPS
        assert np.abs(derivatives - expected).max() <= error + known * size
        assert error <= 1e-8 * max(size, 1.0)


def test_what_stands_in_place_of_the_noise_does_not_change_with_it():
    equation = problem(Transformer(2.0), confinement=CosineSeries((0.3,)), noise=0.0)
    interaction = Interaction(equation, over=2.0)
    assert not interaction.attraction_derivatives("noise", 4).any()
    assert not interaction.force_derivatives("noise", 4).any()
    assert interaction.force_derivatives("confinement_w1", 4).tolist() == [0.0, -0.5, 0.0, 0.0, 0.0]


def test_multipliers_beyond_the_range_of_doubles():
    equation = problem(Transformer(2000.0), coupling=np.longdouble("1e-860"))
    derivatives = Interaction(equation).attraction_derivatives("beta", 3)
    sigma = Interaction(equation).attractions(3)
    # d log(I_k(beta)/beta) / d beta tends to 1.
    assert derivatives[1:] / sigma[1:] == pytest.approx(np.ones(3), rel=2e-3)


def test_refusals():
    equation = problem(Transformer(2.0))
    with pytest.raises(InvalidInput, match="no continuous parameter 'betta'; did you mean beta"):
        Interaction(equation).attraction_derivatives("betta", 3)
    with pytest.raises(InvalidInput, match="needs a coupling"):
        Interaction(equation.at(coupling=None)).attraction_derivatives("beta", 3)
    softmax = ContinuityEquation(Circle(), SoftmaxAttention(2.0), coupling=1.0)
    with pytest.raises(InvalidInput, match="gradient law"):
        Interaction(softmax).attraction_derivatives("beta", 3)
