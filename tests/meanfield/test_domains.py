"""The domains, and the tables of what differs between them."""

from typing import get_args

import numpy as np
import pytest

from meanfield import Circle, Domain, InvalidInput, Sphere
from meanfield.domains import domain_named, unit_sphere
from meanfield.harmonics import in_layout, modes_of
from meanfield.potentials.formulas import formulas_of
from meanfield.theory.forms import theory_of


@pytest.mark.parametrize("kind", get_args(Domain))
def test_every_domain_is_in_every_table(kind):
    domain = kind()
    for table in (modes_of, formulas_of, theory_of):
        assert table(domain).domain == domain


def test_moments_about_the_axis_have_a_place_among_those_by_order_and_not_the_reverse():
    about_axis, by_order = modes_of(Sphere(3)), modes_of(Sphere(3), "order")
    cosine, sine = in_layout("order", about_axis, np.array([1.0, 0.5, 0.25]), np.zeros(3))
    np.testing.assert_array_equal(cosine, [1.0, 0.5, 0.0, 0.25, 0.0, 0.0])
    np.testing.assert_array_equal(sine, np.zeros(6))
    assert in_layout("degree", by_order, cosine, sine) is None


@pytest.mark.parametrize("domain", [Circle(), Sphere(3), Sphere(7)])
def test_a_domain_comes_back_from_its_description_dimension_and_code(domain):
    assert domain_named(**domain.to_dict()) == domain
    assert unit_sphere(domain.dimension) == domain
    assert eval(domain.in_code, {"Circle": Circle, "Sphere": Sphere}) == domain


@pytest.mark.parametrize("dimension", [1, 2.0, True, 1025])
def test_a_dimension_is_a_whole_number_from_two_on(dimension):
    with pytest.raises(InvalidInput, match="dimension of a sphere"):
        unit_sphere(dimension)


def test_the_exponential_is_the_sum_of_its_terms_on_every_domain():
    for domain in (Circle(), Sphere(3), Sphere(7)):
        terms = formulas_of(domain).exponential(3.0, 80)
        assert float(terms.sum()) == pytest.approx(1.0, rel=4 * np.finfo(float).eps)
