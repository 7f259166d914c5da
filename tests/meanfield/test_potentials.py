import math

import mpmath as mp
import numpy as np
import pytest

from meanfield import (
    Circle,
    ComputationFailed,
    CosineSeries,
    HegselmannKrause,
    InvalidInput,
    KellerSegel,
    Kuramoto,
    Logarithmic,
    Onsager,
    Potential,
    Transformer,
    potential_from,
)
from meanfield.potentials import POTENTIALS, known_potentials
from tests import problems
from tests.oracles import cosine_coefficient, exact

CIRCLE = Circle()
EPS = float(np.finfo(float).eps)


@pytest.mark.parametrize("profile", problems.profiles())
def test_multipliers_against_quadrature(profile):
    multipliers = profile.potential.multipliers(CIRCLE, 6)
    with mp.workdps(30):
        for k in range(7):
            expected = cosine_coefficient(profile.function, k, profile.corners)
            # Quadrature is good to 1e-20 absolute; the multiplier to a few roundings of the formula.
            assert abs(exact(multipliers[k]) - expected) <= 4 * EPS * abs(expected) + mp.mpf("1e-18")


@pytest.mark.parametrize("beta", [1e-3, 0.5, 5.0, -5.0, 20.0, 63.0, 65.0, 300.0, 705.0, 800.0, -800.0])
def test_transformer_multipliers_are_exact_to_rounding(beta):
    multipliers = Transformer(beta).multipliers(CIRCLE, 60)
    relative = Transformer(beta).relative_multipliers(CIRCLE, 60)
    with mp.workdps(40):
        unit = 2 * mp.besseli(1, abs(beta)) / abs(beta)
        for k in range(61):
            expected = -2 * mp.besseli(k, beta) / beta / (2 if k == 0 else 1)
            if abs(expected) > 1e-290:
                assert abs(exact(multipliers[k]) / expected - 1) <= 4 * EPS
            if k and abs(expected / unit) > 1e-290:
                assert abs(exact(relative[k]) * unit / expected - 1) <= 4 * EPS
    assert relative.dtype == np.float64


def test_transformer_is_float64_whenever_it_fits():
    assert Transformer(600.0).multipliers(CIRCLE, 3).dtype == np.float64
    assert Transformer(800.0).multipliers(CIRCLE, 3).dtype == np.longdouble
    assert np.isfinite(Transformer(-800.0).multipliers(CIRCLE, 300)).all()
    assert np.isfinite(Transformer(800.0).values([0.0, 1.0, np.pi])).all()
    assert np.isfinite(Transformer(800.0).slope([0.0, 1.0, np.pi])).all()


def test_transformer_beyond_longdouble_is_refused_but_relative_multipliers_remain():
    with pytest.raises(InvalidInput, match="does not fit the widest number"):
        Transformer(2e4).multipliers(CIRCLE, 3)
    relative = Transformer(2e4).relative_multipliers(CIRCLE, 3)
    assert relative[1] == -1
    assert -1 < relative[2] < -0.99


def test_negative_beta_attracts_odd_modes_only():
    signs = np.sign(Transformer(-4.0).multipliers(CIRCLE, 8)[1:])
    assert signs.tolist() == [-1, 1, -1, 1, -1, 1, -1, 1]


def test_onsager_odd_modes_are_exactly_zero():
    assert not Onsager().multipliers(CIRCLE, 31)[1::2].any()


def test_hegselmann_krause_small_radius_limit():
    # w_k -> -R^3/(3 pi) (1 - (kR)^2/20): the direct formula would lose all digits here.
    w = HegselmannKrause(1e-6).multipliers(CIRCLE, 3)
    assert w[1:] == pytest.approx(np.full(3, -1e-18 / (3 * np.pi)), rel=1e-11)
    assert w[0] == pytest.approx(-1e-18 / (6 * np.pi), rel=4 * EPS)


@pytest.mark.parametrize("potential", problems.potentials())
def test_tail_bound_holds_and_vanishes(potential):
    multipliers = np.abs(potential.multipliers(CIRCLE, 600))
    for degree in (0, 1, 2, 5, 17):
        bound = float(potential.tail_bound(CIRCLE, degree))
        largest = multipliers[degree + 1 :].max()
        assert largest <= bound * (1 + 4 * EPS)
        assert bound <= largest * (1 + 4 * EPS)
    assert potential.relative_tail_bound(CIRCLE, 4000) < 0.01


@pytest.mark.parametrize("potential", problems.potentials())
def test_relative_multipliers_and_scale(potential):
    multipliers = potential.multipliers(CIRCLE, 40)
    relative = potential.relative_multipliers(CIRCLE, 40)
    assert relative.shape == (41,)
    assert relative[0] == 0
    assert np.abs(relative).max() == 1
    assert relative[1:] * potential.scale(CIRCLE) == pytest.approx(multipliers[1:], rel=4 * EPS)
    assert potential.extended_multipliers(CIRCLE, 40).astype(float) == pytest.approx(relative, rel=4 * EPS)
    assert potential.relative_multipliers(CIRCLE, 0).tolist() == [0]


@pytest.mark.parametrize("potential", problems.potentials())
def test_slope_is_the_derivative_and_odd(potential):
    angles, step = np.array([0.003, 0.4, 1.7, 2.9]), 1e-4
    central = (potential.values(angles + step) - potential.values(angles - step)) / (2 * step)
    size = np.abs(potential.values(angles)).max() + np.abs(potential.slope(angles)).max()
    # Third derivatives: at most 2 size / distance^3 to a singularity at 0, and size 4^3 of the fourth mode.
    error = 64 * size * step**2 * (1 + angles**-3) + 4 * EPS * size / step
    assert (np.abs(potential.slope(angles) - central) <= error).all()
    assert potential.slope(-angles) == pytest.approx(-potential.slope(angles), rel=1e-12)
    assert potential.values(-angles) == pytest.approx(potential.values(angles), rel=1e-12)
    assert potential.values(angles.reshape(2, 2)).shape == (2, 2)


@pytest.mark.parametrize("potential", problems.potentials())
def test_values_are_periodic(potential):
    angles = np.array([0.3, 2.0])
    size = np.abs(potential.values(angles)).max() + np.abs(potential.slope(angles)).max()
    shifted = potential.values(angles + 2 * np.pi)
    assert np.abs(shifted - potential.values(angles)).max() <= 32 * EPS * size


@pytest.mark.parametrize("potential", problems.potentials())
def test_round_trip_by_name_and_parameters(potential):
    rebuilt = potential_from(potential.name, potential.parameters())
    assert rebuilt == potential
    assert hash(rebuilt) == hash(potential)
    assert isinstance(potential.formula, str)


def test_keller_segel_is_safe_at_large_screening():
    values = KellerSegel(1000.0).values([0.0, 0.1, np.pi])
    assert values[0] == pytest.approx(-1 / 2000, rel=4 * EPS)
    assert np.isfinite(values).all()


def test_logarithmic_takes_words():
    assert Logarithmic("attractive") == Logarithmic(1)
    assert Logarithmic("repulsive") == Logarithmic(-1)
    assert Logarithmic().values(0.0) == -np.inf


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Transformer(0), "Kuramoto"),
        (lambda: Transformer(math.nan), "beta must be a finite number other than 0, not nan"),
        (lambda: Transformer("5"), "not '5'"),
        (lambda: Transformer(True), "not True"),
        (lambda: Transformer(10**400), "beta must be"),
        (lambda: Transformer(1e9), "at most 1e\\+06"),
        (lambda: HegselmannKrause(0.0), "in \\(0, pi\\]"),
        (lambda: HegselmannKrause(3.2), "3.2"),
        (lambda: KellerSegel(-1.0), "-1.0"),
        (lambda: KellerSegel(math.inf), "inf"),
        (lambda: Logarithmic(0), "'repulsive'"),
        (lambda: Logarithmic("up"), "'up'"),
        (lambda: CosineSeries(()), "at least one"),
        (lambda: CosineSeries((-1.0, math.nan)), "coefficient 2 of w must be a finite number, not nan"),
        (lambda: CosineSeries("abc"), "sequence of numbers"),
        (lambda: CosineSeries(3.0), "sequence of numbers"),
        (lambda: Kuramoto().multipliers(CIRCLE, -1), "non-negative integer"),
    ],
)
def test_nonsense_is_refused_in_a_sentence(make, message):
    with pytest.raises(InvalidInput, match=message) as caught:
        make()
    assert "\n" not in str(caught.value)


def test_unknown_names_are_answered_with_suggestions():
    with pytest.raises(InvalidInput, match="did you mean transformer\\? known potentials: arc-cosine, cosine"):
        potential_from("transfomer", {})
    with pytest.raises(InvalidInput, match="does not take the parameters given \\(radius\\)"):
        potential_from("transformer", {"radius": 1.0})
    assert known_potentials() == sorted(POTENTIALS)


def test_third_party_potentials_come_from_entry_points(monkeypatch):
    class Entry:
        name = "mine"

        def load(self):
            return Kuramoto

    class Broken(Entry):
        name = "broken"

        def load(self):
            raise ImportError("no module")

    monkeypatch.setattr("meanfield.potentials.registry._entry_points", lambda: [Entry(), Broken()])
    assert potential_from("mine", {}) == Kuramoto()
    assert "mine" in known_potentials()
    with pytest.raises(InvalidInput, match="does not load: no module"):
        potential_from("broken", {})


def test_a_tail_bound_that_never_falls_is_reported():
    class Wrong(Potential):
        name = "wrong"
        formula = "?"

        def values(self, angle):
            return np.zeros_like(angle)

        slope = values

        def multipliers(self, domain, degree):
            return np.zeros(degree + 1)

        def tail_bound(self, domain, degree):
            return 1.0

        def parameters(self):
            return {}

    with pytest.raises(ComputationFailed, match="tail_bound must tend to 0"):
        Wrong().scale(CIRCLE)


def test_harmless_underflow_is_silent():
    with np.errstate(all="raise"):
        assert Transformer(1e-3).multipliers(CIRCLE, 400)[-1] == 0
        assert Transformer(1e-3).relative_multipliers(CIRCLE, 400)[-1] == 0
        assert np.isfinite(KellerSegel(1e4).values([0.0, 3.0])).all()
        assert np.isfinite(KellerSegel(1e4).slope([0.0, 3.0])).all()
        assert np.isfinite(Transformer(-800.0).values([0.0, 3.0])).all()
