"""What a problem refuses: numbers that are none, classes for instances, potentials that break the protocol."""

from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

from meanfield import (
    Circle,
    ComputationFailed,
    HegselmannKrause,
    InvalidInput,
    Kuramoto,
    Logarithmic,
    McKeanVlasov,
    Potential,
    Sphere,
)


def attraction(degree):
    multipliers = np.zeros(degree + 1)
    multipliers[1] = -1.0
    return multipliers


def foreign(multipliers=attraction, tail_bound=lambda degree: 0.0):
    """A potential as another package would write it, its two answers to be spoiled."""

    @dataclass(frozen=True)
    class Mine(Potential):
        name = "mine"
        formula = "-cos t"

        def values(self, angle):
            return -np.cos(angle)

        def slope(self, angle):
            return np.sin(angle)

        def multipliers(self, domain, degree):
            return multipliers(degree)

        def tail_bound(self, domain, degree):
            return tail_bound(degree)

        def parameters(self):
            return {}

    return Mine()


@pytest.mark.parametrize(
    "value", [np.array([1.0]), np.linspace(0.0, 1.0, 3), Fraction(3), Decimal(3), 10**400, np.nan, "3", True]
)
def test_a_coupling_that_is_no_finite_number(value):
    with pytest.raises(InvalidInput, match="coupling must be a finite number"):
        McKeanVlasov(Circle(), Kuramoto(), coupling=value)
    with pytest.raises(InvalidInput, match="coupling must be a finite number"):
        McKeanVlasov(Circle(), Kuramoto()).at(coupling=value)


@pytest.mark.parametrize("value", [np.array([1.0]), Fraction(1), 10**400, -1.0, True])
def test_a_noise_that_is_no_number_or_negative(value):
    with pytest.raises(InvalidInput, match="noise must be a finite number, at least 0"):
        McKeanVlasov(Circle(), Kuramoto(), noise=value)


def test_numbers_of_numpy_become_those_of_python():
    problem = McKeanVlasov(Circle(), Kuramoto(), noise=np.float32(0.25), coupling=np.int64(3))
    assert type(problem.noise) is float
    assert problem == McKeanVlasov(Circle(), Kuramoto(), noise=0.25, coupling=3)


def test_a_class_is_not_an_instance():
    with pytest.raises(InvalidInput, match="give an instance of the class Kuramoto"):
        McKeanVlasov(Circle(), Kuramoto)


@pytest.mark.parametrize("potential", [None, np.cos, "kuramoto"])
def test_no_potential_at_all(potential):
    with pytest.raises(InvalidInput, match=r"wrap a function as Custom\.from_callable"):
        McKeanVlasov(Circle(), potential)


@pytest.mark.parametrize(
    ("multipliers", "message"),
    [
        (lambda degree: attraction(degree).astype(int), "5 floats, not ndarray of shape .5,. and dtype int64"),
        (lambda degree: list(attraction(degree)), "5 floats, not list"),
        (lambda degree: attraction(degree)[:2], "5 floats, not ndarray of shape .2,."),
        (lambda degree: None, "5 floats, not NoneType"),
        (lambda degree: attraction(degree) * np.nan, "must be finite; that of degree 0 is not"),
    ],
)
def test_multipliers_of_the_wrong_kind(multipliers, message):
    with pytest.raises(InvalidInput, match=message):
        McKeanVlasov(Circle(), foreign(multipliers))


@pytest.mark.parametrize("bound", [None, np.nan, -1.0, "small"])
def test_a_tail_bound_that_is_no_bound(bound):
    with pytest.raises(InvalidInput, match=r"tail_bound\(domain, 4\) of the confinement 'mine'"):
        McKeanVlasov(Circle(), Kuramoto(), confinement=foreign(tail_bound=lambda degree: bound))


def test_an_exception_inside_is_reported_with_its_degree():
    def fails(degree):
        return attraction(degree) if degree <= 10 else attraction(1 // 0)

    with pytest.raises(ComputationFailed, match=r"multipliers\(domain, 33\) .* raised ZeroDivisionError") as caught:
        McKeanVlasov(Circle(), foreign(fails))
    assert isinstance(caught.value.__cause__, ZeroDivisionError)


def test_a_potential_without_a_hash():
    unhashable = foreign()
    type(unhashable).__hash__ = None
    with pytest.raises(InvalidInput, match="make its class a frozen dataclass"):
        McKeanVlasov(Circle(), unhashable)


def test_a_good_one_is_taken():
    assert McKeanVlasov(Circle(), foreign()).potential.multipliers(Circle(), 2).tolist() == [0.0, -1.0, 0.0]


@dataclass(frozen=True)
class Honest(Potential):
    """The potential of bounded confidence, as another package would write it."""

    radius: float = 1.0
    name = "honest"
    formula = "-(R - |t|)^2/2"

    def values(self, angle):
        return HegselmannKrause(self.radius).values(angle)

    def slope(self, angle):
        return HegselmannKrause(self.radius).slope(angle)

    def multipliers(self, domain, degree):
        return HegselmannKrause(self.radius).multipliers(domain, degree)

    def tail_bound(self, domain, degree):
        return HegselmannKrause(self.radius).tail_bound(domain, degree)

    def parameters(self):
        return {"radius": self.radius}


class Singular(Honest):
    def values(self, angle):
        return Logarithmic().values(angle)

    def slope(self, angle):
        return Logarithmic().slope(angle)

    def multipliers(self, domain, degree):
        return Logarithmic().multipliers(domain, degree)

    def tail_bound(self, domain, degree):
        return Logarithmic().tail_bound(domain, degree)


@pytest.mark.parametrize("domain", [Circle(), Sphere(3), Sphere(4)], ids=repr)
@pytest.mark.parametrize("potential", [Honest(0.1), Honest(3.0), Singular()], ids=repr)
def test_honest_potentials_of_other_packages(potential, domain):
    assert McKeanVlasov(domain, potential, confinement=potential).potential is potential


class LowBound(Honest):
    def tail_bound(self, domain, degree):
        return super().tail_bound(domain, degree) / 3


class ZeroBound(Honest):
    def tail_bound(self, domain, degree):
        return 0.0 if degree > 100 else super().tail_bound(domain, degree)


class OtherSlope(Honest):
    def slope(self, angle):
        return super().slope(angle) * (1 + 1e-6)


class NegativeSlope(Honest):
    def slope(self, angle):
        return -super().slope(angle)


class OneMultiplier(Honest):
    def multipliers(self, domain, degree):
        result = super().multipliers(domain, degree)
        result[3:4] *= 1 - 1e-5
        return result


class TwiceTheMultipliers(Honest):
    def multipliers(self, domain, degree):
        return 2 * super().multipliers(domain, degree)

    def tail_bound(self, domain, degree):
        return 2 * super().tail_bound(domain, degree)


class DependsOnLength(Honest):
    def multipliers(self, domain, degree):
        result = super().multipliers(domain, degree)
        result[2] *= 1 + 1 / degree
        return result


class WrongScale(Honest):
    def scale(self, domain):
        return 1.01 * super().scale(domain)


class WrongRelative(Honest):
    def relative_multipliers(self, domain, degree):
        return np.abs(super().relative_multipliers(domain, degree))


class NotPeriodic(Honest):
    def values(self, angle):
        return np.maximum(1 - np.abs(np.asarray(angle, dtype=float)), 0) ** 2 / -2


class NotEven(Honest):
    def values(self, angle):
        return super().values(angle) + 1e-6 * np.sin(angle)


class Flat(Honest):
    def values(self, angle):
        return super().values(np.ravel(angle))


class NotANumber(Honest):
    def slope(self, angle):
        return np.where(np.abs(angle) > 1.5, np.nan, super().slope(angle))


class FarMode(Honest):
    """cos t, and cos 900 t of which the multipliers do not tell."""

    def values(self, angle):
        angles = np.asarray(angle, dtype=float)
        return -np.cos(angles) + 0.1 * np.cos(900 * angles)

    def slope(self, angle):
        angles = np.asarray(angle, dtype=float)
        return np.sin(angles) - 90 * np.sin(900 * angles)

    def multipliers(self, domain, degree):
        return attraction(degree)

    def tail_bound(self, domain, degree):
        return 0.0 if degree else 1.0


@pytest.mark.parametrize(
    ("kind", "message"),
    [
        (LowBound, r"tail_bound of the potential 'honest' at degree \d+ is .* but its multiplier of degree \d+ is"),
        (ZeroBound, r"tail_bound .* at degree 127 is 0, but its multiplier"),
        (OtherSlope, r"slope .* integrates to .* but its values differ by .* slope must be dW/dt"),
        (NegativeSlope, "slope must be dW/dt"),
        (OneMultiplier, "multiplier of degree 3 .* but its values have"),
        (TwiceTheMultipliers, "multipliers and values must be of one function"),
        (DependsOnLength, "must not depend on how many are asked for"),
        (WrongScale, r"scale\(domain\) .* but the largest modulus of its multipliers is"),
        (WrongRelative, "relative_multipliers .* leave the method out"),
        (NotPeriodic, "values .* must be of period 2 pi"),
        (NotEven, "values .* must be even in the angle"),
        (Flat, r"values .* must return floats in the shape of the angles"),
        (NotANumber, r"slope .* is nan at t = "),
        (FarMode, "the difference is no constant; its tail_bound says that there are no more"),
    ],
)
def test_answers_that_contradict_each_other(kind, message):
    with pytest.raises(InvalidInput, match=message):
        McKeanVlasov(Circle(), kind())
    with pytest.raises(InvalidInput, match="of the confinement"):
        McKeanVlasov(Circle(), Kuramoto(), confinement=kind())


class Refusing(Honest):
    def multipliers(self, domain, degree):
        if degree > 200:
            raise ValueError("no more than 200")
        return super().multipliers(domain, degree)


def test_a_potential_with_few_multipliers_is_taken():
    assert McKeanVlasov(Circle(), Refusing()).potential == Refusing()


def test_a_potential_that_inherits_nothing():
    class Alone:
        name = "alone"
        values = slope = multipliers = tail_bound = parameters = None

    with pytest.raises(InvalidInput, match=r"has no scale; let its class inherit meanfield\.Potential"):
        McKeanVlasov(Circle(), Alone())


@pytest.mark.parametrize("coupling", [None, 3, 2.5, np.int64(3), np.float32(0.5), np.longdouble(1) / 3])
def test_a_problem_at_a_coupling_is_the_one_that_is_made_with_it(coupling):
    """Nothing else is checked again, and nothing computed at the coupling before remains."""
    before = McKeanVlasov(Circle(), Kuramoto(), noise=0.5, coupling=7.0, confinement=HegselmannKrause(1.0))
    assert before.fixed_coupling == 7.0
    found = before.at(coupling=coupling)
    made = McKeanVlasov(Circle(), Kuramoto(), noise=0.5, coupling=coupling, confinement=HegselmannKrause(1.0))
    assert found == made
    assert hash(found) == hash(made)
    assert type(found.coupling) is type(made.coupling)
    assert before.coupling == 7.0
