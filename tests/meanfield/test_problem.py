"""What a problem refuses: numbers that are none, classes for instances, potentials that break the protocol."""

from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

from meanfield import Circle, ComputationFailed, InvalidInput, Kuramoto, McKeanVlasov, Potential


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


@pytest.mark.parametrize("value", [np.array([1.0]), Fraction(1), 10**400, 0.0, -1.0, True])
def test_a_noise_that_is_no_positive_number(value):
    with pytest.raises(InvalidInput, match="noise must be positive and finite"):
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
