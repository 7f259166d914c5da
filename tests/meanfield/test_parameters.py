"""Continuous parameters of potentials and problems: names, values, and derivatives of the multipliers.

The references are differences of other formulas for the multipliers in 50 digits, which mpmath takes, and integrals.
"""

import functools
import math
import re
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import mpmath as mp
import numpy as np
import pytest

from meanfield import (
    Circle,
    Combination,
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
    Potential,
    Sphere,
    Transformer,
)
from meanfield.equations import Interaction
from meanfield.potentials.interpolation import LARGEST_ERROR, interpolated_derivatives
from tests import problems
from tests.oracles import exact, zonal_mean

EPS = float(np.finfo(float).eps)
DOMAINS = [Circle(), Sphere(3), Sphere(5)]
DEGREES = (0, 1, 2, 3, 5, 8, 17, 33, 60)
RANDOM = np.random.default_rng(20)


def attention(domain, degree, beta):
    """w_l of the transformer by Bessel's function."""
    half = mp.mpf(domain.dimension) / 2
    bessel = mp.besseli(degree + half - 1, abs(beta)) * mp.gamma(half) * (2 / abs(beta)) ** (half - 1)
    return -domain.multiplicity(degree) * mp.sign(beta) ** degree * bessel / beta


@pytest.mark.parametrize("domain", [*DOMAINS, Sphere(64)], ids=repr)
@pytest.mark.parametrize("beta", [1e-3, 1.0, 300.0, 705.0, 800.0, -800.0, *RANDOM.uniform(-40, 40, 4)])
def test_beta_of_the_transformer(beta, domain):
    derivatives = Transformer(beta).multiplier_derivatives("beta", domain, 60)
    with mp.workdps(50):
        size = abs(attention(domain, 0, mp.mpf(beta))) * max(1.0, 1 / abs(beta))
        for degree in DEGREES:
            expected = mp.diff(functools.partial(attention, domain, degree), mp.mpf(beta))
            # The mean has a zero in beta, and every other one its own digits.
            scale = abs(expected) if degree else size
            assert abs(exact(derivatives[degree]) - expected) <= 2 * EPS * scale


def test_derivatives_beyond_the_range_of_doubles_are_extended():
    derivatives = Transformer(5000.0).multiplier_derivatives("beta", Circle(), 3)
    assert derivatives.dtype == np.longdouble
    assert np.isfinite(derivatives).all()
    with pytest.raises(InvalidInput, match="does not fit the widest number"):
        Transformer(1e6).multiplier_derivatives("beta", Circle(), 3)


@pytest.mark.parametrize("dimension", [2, 3, 5, 20])
def test_the_derivatives_of_the_transformer_sum_to_that_of_its_value_at_zero(dimension):
    beta, domain = 7.3, Circle() if dimension == 2 else Sphere(dimension)
    total = Transformer(beta).multiplier_derivatives("beta", domain, 200).sum()
    assert total == pytest.approx(-math.exp(beta) * (1 / beta - 1 / beta**2), rel=16 * EPS)


@pytest.mark.parametrize("radius", [1e-6, math.pi / 2, math.pi, *RANDOM.uniform(0, math.pi, 4)])
def test_radius_of_bounded_confidence_on_the_circle(radius):
    derivatives = HegselmannKrause(radius).multiplier_derivatives("radius", Circle(), 60)
    with mp.workdps(80):
        for k in range(61):

            def multiplier(r, k=k):
                return -(2 / mp.pi) * (k * r - mp.sin(k * r)) / k**3 if k else -(r**3) / (6 * mp.pi)

            expected = mp.diff(multiplier, mp.mpf(radius))
            assert abs(exact(derivatives[k]) - expected) <= 2 * EPS * abs(expected) + mp.mpf(10) ** -35


@pytest.mark.parametrize("radius", [0.05, math.pi, RANDOM.uniform(0, math.pi)])
@pytest.mark.parametrize(("dimension", "highest"), [(3, 60), (4, 9)])
def test_radius_of_bounded_confidence_on_spheres(radius, dimension, highest):
    domain = Sphere(dimension)
    derivatives = HegselmannKrause(radius).multiplier_derivatives("radius", domain, 60)
    scale = float(np.abs(derivatives).max())
    with mp.workdps(30):
        for degree in (0, 1, 2, 5, highest):
            mean = zonal_mean(dimension, lambda t: min(t - mp.mpf(radius), 0), degree, (radius,))
            expected = domain.multiplicity(degree) * mean
            assert abs(exact(derivatives[degree]) - expected) <= 2 * EPS * scale


@pytest.mark.parametrize("domain", [Sphere(5), Sphere(9)], ids=repr)
def test_what_refuses_multipliers_refuses_derivatives(domain):
    with pytest.raises(InvalidInput, match="decay like"):
        HegselmannKrause(1.0).multiplier_derivatives("radius", domain, 4)
    with pytest.raises(InvalidInput, match="Green function of the circle"):
        KellerSegel(1.0).multiplier_derivatives("screening", domain, 4)


@pytest.mark.parametrize("screening", [1e-140, 1e-3, 1.0, 1e140, *10 ** RANDOM.uniform(-2, 2, 4)])
def test_screening_of_keller_and_segel(screening):
    derivatives = KellerSegel(screening).multiplier_derivatives("screening", Circle(), 60)
    # 1 + s^2 has 560 digits.
    with mp.workdps(700):
        for k in range(61):

            def multiplier(ratio, k=k):
                return -1 / (mp.pi * (1 + (k == 0)) * (k**2 + (ratio * mp.mpf(screening)) ** 2))

            expected = mp.diff(multiplier, 1) / mp.mpf(screening)
            assert abs(exact(derivatives[k]) - expected) <= 4 * EPS * abs(expected)


def test_no_screening_is_a_minimum():
    assert not KellerSegel(0.0).multiplier_derivatives("screening", Circle(), 9).any()


@pytest.mark.parametrize("domain", DOMAINS, ids=repr)
@pytest.mark.parametrize(
    "series", [CosineSeries((-1.0, 0.3, 0.0, 0.7)), Custom.from_coefficients((2.0, 0.0, 5.0), 1.0)]
)
def test_coefficients_of_cosines(series, domain):
    names = [f"w{k}" for k in range(1, len(series.coefficients) + 1)]
    assert series.parameter_names() == tuple(names)
    assert list(series.parameter_values().values()) == list(series.coefficients)
    for k, name in enumerate(names, start=1):
        derivatives = series.multiplier_derivatives(name, domain, 60)
        assert not derivatives[k + 1 :].any()
        with mp.workdps(25):
            for degree in range(k + 1):
                mean = zonal_mean(domain.dimension, lambda t, k=k: mp.cos(k * t), degree)
                expected = domain.multiplicity(degree) * mean
                assert abs(exact(derivatives[degree]) - expected) <= 2 * EPS * abs(expected) + mp.mpf("1e-24")


def test_coefficients_of_polynomials():
    series = GegenbauerSeries((-1.0, 0.3), dimension=5)
    assert series.parameter_names() == ("w1", "w2")
    assert series.multiplier_derivatives("w2", Sphere(5), 4).tolist() == [0, 0, 1, 0, 0]
    assert series.with_parameter("w2", 0.5) == GegenbauerSeries((-1.0, 0.5), dimension=5)
    with pytest.raises(InvalidInput, match=r"cannot be used on Circle\(\)"):
        series.multiplier_derivatives("w1", Circle(), 4)


WITHOUT = [
    Kuramoto(),
    MaierSaupe(),
    Onsager(),
    Logarithmic(-1),
    Custom.from_expression("-cos(t)"),
    Custom.from_callable(lambda t: -np.cos(t)),
]


@pytest.mark.parametrize("potential", WITHOUT, ids=repr)
def test_potentials_without_parameters(potential):
    assert potential.parameter_names() == ()
    for call in (
        lambda: potential.with_parameter("beta", 1.0),
        lambda: potential.multiplier_derivatives("beta", Circle(), 3),
    ):
        with pytest.raises(InvalidInput, match=r"has no continuous parameter 'beta'; it has none$"):
            call()


def test_unknown_names_are_refused_with_the_nearest():
    with pytest.raises(InvalidInput, match=r"'transformer' has no .* 'betta'; did you mean beta\? it has beta$"):
        Transformer(1.0).multiplier_derivatives("betta", Circle(), 3)
    with pytest.raises(InvalidInput, match=r"did you mean kuramoto_factor\? it has kuramoto_factor, transf"):
        (2 * Kuramoto() + Transformer(1.0)).with_parameter("kuramoto", 1.0)
    with pytest.raises(InvalidInput, match=r"it has w1, .*, w12, \.\.\.$"):
        CosineSeries([1.0] * 1000).with_parameter("w1001", 1.0)


@pytest.mark.parametrize(
    ("potential", "name", "value", "changed"),
    [
        (Transformer(1.0), "beta", -2.5, Transformer(-2.5)),
        (HegselmannKrause(1.0), "radius", 2, HegselmannKrause(2.0)),
        (KellerSegel(1.0), "screening", 0, KellerSegel(0.0)),
        (CosineSeries((1.0, 2.0)), "w1", 5.0, CosineSeries((5.0, 2.0))),
        (Custom.from_coefficients((1.0, 2.0), 3.0), "w2", 5.0, Custom.from_coefficients((1.0, 5.0), 3.0)),
        (2 * Kuramoto() - Transformer(1.0), "beta", 3.0, 2 * Kuramoto() - Transformer(3.0)),
        (2 * Kuramoto() - Transformer(1.0), "kuramoto_factor", 3.0, 3 * Kuramoto() - Transformer(1.0)),
    ],
)
def test_with_parameter(potential, name, value, changed):
    assert potential.with_parameter(name, value) == changed
    assert changed.parameter_values()[name] == value
    same = potential.with_parameter(name, potential.parameter_values()[name])
    assert same == potential


@pytest.mark.parametrize("value", [math.nan, math.inf, "2", None, 4.0, 0.0, -1.0])
def test_values_that_are_not_admitted(value):
    with pytest.raises(InvalidInput):
        HegselmannKrause(1.0).with_parameter("radius", value)


SUM = 2 * Kuramoto() - Transformer(3.0) / 3 + 0.5 * Transformer(-1.0) + CosineSeries((0.1, 0.2))


def test_names_in_sums():
    assert SUM.parameter_values() == {
        "kuramoto_factor": 2.0,
        "transformer1_factor": -1 / 3,
        "transformer2_factor": 0.5,
        "cosine_series_factor": 1.0,
        "transformer1_beta": 3.0,
        "transformer2_beta": -1.0,
        "w1": 0.1,
        "w2": 0.2,
    }
    two = CosineSeries((1.0, 2.0)) + GegenbauerSeries((3.0,), dimension=2)
    assert two.parameter_names()[2:] == ("cosine_series_w1", "w2", "gegenbauer_series_w1")
    assert two.with_parameter("gegenbauer_series_w1", 7.0).terms[1][1] == GegenbauerSeries((7.0,), dimension=2)


def test_a_factor_of_one_stays_a_parameter():
    assert (2 * Kuramoto()).with_parameter("kuramoto_factor", 1.0).parameter_names() == ("kuramoto_factor",)


@pytest.mark.parametrize("domain", DOMAINS, ids=repr)
def test_derivatives_of_sums(domain):
    values = {name: mp.mpf(value) for name, value in SUM.parameter_values().items()}
    with mp.workdps(50):
        for degree in range(7):
            number = domain.multiplicity(degree)
            cosines = [number * zonal_mean(domain.dimension, cosine, degree) for cosine in (mp.cos, twice)]

            def multiplier(name, at, degree=degree, cosines=cosines):
                p = values | {name: at}
                return (
                    -p["kuramoto_factor"] * (degree == 1)
                    + p["transformer1_factor"] * attention(domain, degree, p["transformer1_beta"])
                    + p["transformer2_factor"] * attention(domain, degree, p["transformer2_beta"])
                    + p["cosine_series_factor"] * (p["w1"] * cosines[0] + p["w2"] * cosines[1])
                )

            for name, value in values.items():
                derivatives = SUM.multiplier_derivatives(name, domain, 6)
                expected = mp.diff(functools.partial(multiplier, name), value)
                error = abs(exact(derivatives[degree]) - expected)
                assert error <= 2 * EPS * abs(expected) + EPS * float(np.abs(derivatives).max())


def twice(t):
    return mp.cos(2 * t)


def test_derivatives_of_huge_and_tiny_multiples():
    for factor in (1e-200, 1e200):
        derivatives = (factor * Transformer(600.0)).multiplier_derivatives("beta", Circle(), 4)
        alone = Transformer(600.0).multiplier_derivatives("beta", Circle(), 4)
        assert (np.abs(derivatives - np.longdouble(factor) * alone) <= EPS * np.abs(derivatives)).all()


@dataclass(frozen=True)
class Foreign(Potential):
    """A multiplier of its own dependence on a parameter, as another package would write it."""

    strength: float
    shape: str = "smooth"
    name = "foreign"
    formula = "w cos t"

    def values(self, angle):
        return self._multiplier() * np.cos(np.asarray(angle, dtype=float))

    def slope(self, angle):
        return -self._multiplier() * np.sin(np.asarray(angle, dtype=float))

    def multipliers(self, domain, degree):
        return np.array([0.0, self._multiplier()] + [0.0] * degree)[: degree + 1]

    def tail_bound(self, domain, degree):
        return 0.0 if degree else abs(self._multiplier())

    def parameters(self) -> dict[str, Any]:
        return {"strength": self.strength, "shape": self.shape}

    def _multiplier(self):
        if self.shape == "root":
            return math.sqrt(self.strength)
        if self.shape == "kinked":
            return abs(self.strength)
        return -math.exp(math.sin(3 * self.strength))


@pytest.mark.parametrize("strength", [0.0, 1e-3, *RANDOM.uniform(-2, 2, 12)])
def test_interpolated_derivatives_are_within_their_errors(strength):
    potential = Foreign(float(strength))
    assert potential.parameter_names() == ("strength",)
    with mp.workdps(30):
        expected = -3 * mp.cos(3 * mp.mpf(strength)) * mp.exp(mp.sin(3 * mp.mpf(strength)))
    values, errors = interpolated_derivatives(potential, "strength", Circle(), 3)
    assert abs(exact(values[1]) - expected) <= errors[1]
    derivatives = potential.multiplier_derivatives("strength", Circle(), 3)
    size = max(abs(float(expected)), abs(potential.multipliers(Circle(), 1)[1]) / (abs(strength) or 1.0))
    assert abs(exact(derivatives[1]) - expected) <= LARGEST_ERROR * size
    assert not derivatives[[0, 2, 3]].any()


@pytest.mark.parametrize("domain", [*DOMAINS, Sphere(4)], ids=repr)
@pytest.mark.parametrize(
    "potential",
    [
        *map(Transformer, RANDOM.uniform(-30, 30, 3)),
        *map(HegselmannKrause, RANDOM.uniform(0, 2.7, 2)),
        *map(KellerSegel, RANDOM.uniform(0, 5, 2)),
        CosineSeries(RANDOM.normal(size=5)),
        Custom.from_coefficients(RANDOM.normal(size=3), 1.0),
        SUM,
        -0.3 * HegselmannKrause(1.0) + 2 * KellerSegel(0.5),
    ],
    ids=repr,
)
def test_derivatives_are_those_of_the_multipliers(potential, domain):
    """The multipliers of the package themselves, interpolated."""
    try:
        size = np.abs(potential.multipliers(domain, 60)).max()
    except InvalidInput as refusal:
        pytest.skip(str(refusal))
    for name in potential.parameter_names():
        values, errors = interpolated_derivatives(potential, name, domain, 60)
        assert (np.abs(potential.multiplier_derivatives(name, domain, 60) - values) <= errors).all()
        assert errors.max() <= 1e-9 * max(np.abs(values).max(), size)


def test_interpolation_near_the_end_of_what_is_admitted():
    values, errors = interpolated_derivatives(Foreign(1e-3, "root"), "strength", Circle(), 1)
    assert abs(values[1] - 0.5 / math.sqrt(1e-3)) <= errors[1]
    with pytest.raises(
        InvalidInput, match=r"cannot be interpolated in strength at 0, beside which it refuses values"
    ):
        Foreign(0.0, "root").multiplier_derivatives("strength", Circle(), 1)


def test_interpolation_at_a_kink_is_refused():
    # The derivative jumps by 2, and its error is at least the half of that.
    _, errors = interpolated_derivatives(Foreign(0.0, "kinked"), "strength", Circle(), 1)
    assert errors[1] >= 1.0
    with pytest.raises(InvalidInput, match=rf"interpolated in it, have errors of {re.escape(f'{errors[1]:.1e}')} "):
        Foreign(0.0, "kinked").multiplier_derivatives("strength", Circle(), 1)
    beside = Foreign(1e-5, "kinked").multiplier_derivatives("strength", Circle(), 1)
    assert beside[1] == pytest.approx(1.0, rel=LARGEST_ERROR)


@pytest.mark.parametrize("kink", [1e-5, 1e-4, 2e-4])
def test_interpolation_across_a_kink_is_refused(kink):
    class Bent(Foreign):
        def _multiplier(self):
            return abs(self.strength - kink)

    with pytest.raises(InvalidInput, match=r"in strength, interpolated in it, have errors of"):
        Bent(0.0).multiplier_derivatives("strength", Circle(), 1)


def test_a_class_that_does_not_take_its_parameters():
    class Renamed(Foreign):
        def parameters(self):
            return {"other": self.strength}

    with pytest.raises(InvalidInput, match=r"the class of 'foreign' does not take what its parameters\(\) returns"):
        Renamed(1.0).with_parameter("other", 2.0)


class Plain:
    """A potential that inherits nothing."""

    name, formula = "plain", "-cos t"
    values, slope, multipliers = Kuramoto.values, Kuramoto.slope, Kuramoto.multipliers
    tail_bound, parameters = Kuramoto.tail_bound, Kuramoto.parameters


def test_any_confinement_has_a_strength():
    for confinement in (CosineSeries((0.1, 0.2)), Transformer(2.0), External(cosine=(0.1,), sine=(0.2,))):
        problem = McKeanVlasov(Circle(), Kuramoto(), coupling=3.0, confinement=confinement)
        name = f"confinement_{confinement.name.replace('-', '_')}_factor"
        assert problem.parameters[name] == 1.0
        stronger = problem.with_parameter(name, 2.5)
        assert stronger.confinement == 2.5 * confinement
        assert stronger.parameters[name] == 2.5
        assert stronger.with_parameter(name, 1.0).parameters == problem.parameters
        # Written as it was given as long as no factor is asked for.
        assert problem.having("noise") is problem
        own = next(iter(confinement.parameter_values()))
        assert not isinstance(problem.with_parameter(f"confinement_{own}", 0.7).confinement, Combination)
        slopes = Interaction(problem.having(name)).force_derivatives(name, 4)
        assert np.abs(slopes - Interaction(problem).forces(4)).max() <= EPS


def test_a_term_that_inherits_nothing_has_its_factor():
    total = Combination(((1.0, Transformer(2.0)), (3.0, Plain())))
    assert total.parameter_values() == {"transformer_factor": 1.0, "plain_factor": 3.0, "beta": 2.0}
    assert total.multiplier_derivatives("plain_factor", Circle(), 2).tolist() == [0, -1, 0]


PROBLEM = McKeanVlasov(Circle(), Transformer(4.0), 0.5, 3.0, CosineSeries((0.1, 0.2)))


def test_parameters_of_a_problem():
    assert PROBLEM.parameters == {
        "noise": 0.5,
        "coupling": 3.0,
        "beta": 4.0,
        "confinement_cosine_series_factor": 1.0,
        "confinement_w1": 0.1,
        "confinement_w2": 0.2,
    }
    assert PROBLEM.at(coupling=None).parameters.keys() == PROBLEM.parameters.keys() - {"coupling"}
    assert problems.KURAMOTO.problem.parameters == {"noise": 1.0}


@pytest.mark.parametrize(
    ("name", "changed"),
    [
        ("noise", replace(PROBLEM, noise=0.75)),
        ("coupling", replace(PROBLEM, coupling=0.75)),
        ("beta", replace(PROBLEM, potential=Transformer(0.75))),
        ("confinement_w2", replace(PROBLEM, confinement=CosineSeries((0.1, 0.75)))),
    ],
)
def test_with_parameter_of_a_problem(name, changed):
    assert PROBLEM.with_parameter(name, 0.75) == changed
    assert changed.parameters[name] == 0.75


def test_a_name_of_the_problem_is_not_hidden_by_one_of_the_potential():
    class Noisy(Foreign):
        def parameter_values(self):
            return {"noise": self.strength}

        def with_parameter(self, name, value):
            return Noisy(value)

    problem = McKeanVlasov(Circle(), Noisy(1.0), noise=2.0)
    assert problem.parameters == {"noise": 2.0, "potential_noise": 1.0}
    assert problem.with_parameter("potential_noise", 3.0).potential.strength == 3.0


def test_unknown_names_of_a_problem():
    with pytest.raises(InvalidInput, match=r"the problem has no .* 'confinement_w3'; did you mean confinement_w"):
        PROBLEM.with_parameter("confinement_w3", 1.0)
    with pytest.raises(InvalidInput, match=r"with a free coupling, which at\(coupling=\.\.\.\) fixes, has no"):
        PROBLEM.at(coupling=None).with_parameter("coupling", 1.0)
    with pytest.raises(InvalidInput, match="noise must be"):
        PROBLEM.with_parameter("noise", -1.0)
    with pytest.raises(InvalidInput, match="beta must not be 0"):
        PROBLEM.with_parameter("beta", 0.0)


@dataclass(frozen=True)
class Rooted(Potential):
    """A potential whose multiplier has a root or a logarithm, of numpy, with no number beyond 1."""

    strength: float
    kind: str = "root"

    name: ClassVar[str] = "rooted"
    formula: ClassVar[str] = "sqrt(a - 1) cos t"

    def _factor(self) -> float:
        with np.errstate(invalid="ignore", divide="ignore"):
            return float(np.sqrt(self.strength - 1.0) if self.kind == "root" else np.log(self.strength - 1.0))

    def values(self, angle):
        return self._factor() * np.cos(angle)

    def slope(self, angle):
        return -self._factor() * np.sin(angle)

    def multipliers(self, domain, degree):
        return np.array([0.0, self._factor(), *([0.0] * degree)])[: degree + 1]

    def tail_bound(self, domain, degree):
        return 0.0 if degree >= 1 else abs(self._factor())

    def parameters(self):
        return {"strength": self.strength, "kind": self.kind}


@pytest.mark.parametrize(
    ("kind", "exact"), [("root", lambda a: 0.5 / math.sqrt(a - 1.0)), ("log", lambda a: 1 / (a - 1.0))]
)
@pytest.mark.parametrize("strength", [1.05, 1.01, 1.0003])
def test_no_interpolation_reaches_beyond_the_numbers_a_potential_has(kind, exact, strength):
    found = Rooted(strength, kind).multiplier_derivatives("strength", Circle(), 3)
    assert found[1] == pytest.approx(exact(strength), rel=1e-8)


def test_names_of_terms_stay_where_they_are_along_a_change_of_parameters():
    moved = (Transformer(3.0) + Transformer(-1.0)).with_parameter("transformer1_beta", -2.0)
    assert moved.with_parameter("transformer1_beta", 3.0) == Transformer(3.0) + Transformer(-1.0)


def test_a_free_coupling_is_no_parameter_of_the_potential():
    @dataclass(frozen=True)
    class Coupled(Rooted):
        coupling: float = 1.5

        def parameters(self):
            return {"strength": self.strength, "kind": self.kind, "coupling": self.coupling}

    free = McKeanVlasov(Circle(), Coupled(2.0))
    assert "potential_coupling" in free.parameters
    with pytest.raises(InvalidInput, match="coupling"):
        free.with_parameter("coupling", 5.0)
