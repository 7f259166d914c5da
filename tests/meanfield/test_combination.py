"""Sums and multiples of potentials."""

from dataclasses import dataclass

import numpy as np
import pytest

from meanfield import (
    Circle,
    Combination,
    CommonFrequency,
    CosineSeries,
    Custom,
    DepthScaled,
    GegenbauerSeries,
    HegselmannKrause,
    InvalidInput,
    KellerSegel,
    Kuramoto,
    Logarithmic,
    MaierSaupe,
    McKeanVlasov,
    Onsager,
    PhaseLag,
    Potential,
    Sphere,
    Transformer,
    critical_coupling,
    growth_rates,
    open_diagram,
    potential_from,
)
from meanfield.wording import describe, potential_in_words
from solvers import bifurcation_diagram

EPS = float(np.finfo(float).eps)


@dataclass(frozen=True)
class Foreign(Potential):
    """cos 2t, as another package would write it."""

    name = "foreign"
    formula = "cos 2t"

    def values(self, angle):
        return np.cos(2 * np.asarray(angle, dtype=float))

    def slope(self, angle):
        return -2 * np.sin(2 * np.asarray(angle, dtype=float))

    def multipliers(self, domain, degree):
        return CosineSeries((0.0, 1.0)).multipliers(domain, degree)

    def tail_bound(self, domain, degree):
        return CosineSeries((0.0, 1.0)).tail_bound(domain, degree)

    def parameters(self):
        return {}


SUMS = [
    2 * Kuramoto() - Onsager() / 3 + Transformer(3.0),
    -HegselmannKrause(1.0) * 0.5 + CosineSeries((0.1, -0.7)),
    Logarithmic() + Logarithmic(-1) * 0.25 - MaierSaupe(),
    Custom.from_expression("-Max(1 - Abs(t), 0)") + Kuramoto(),
    3 * Foreign() - Kuramoto(),
    1e-200 * Transformer(2.0) + 1e-201 * Onsager(),
    1e200 * Transformer(-2.0) - 1e199 * Kuramoto(),
]


@pytest.mark.parametrize("total", SUMS, ids=repr)
@pytest.mark.parametrize("domain", [Circle(), Sphere(3), Sphere(4)], ids=repr)
def test_everything_adds(total, domain):
    rows = [np.longdouble(factor) * term.multipliers(domain, 64) for factor, term in total.terms]
    sizes, exact = np.abs(rows).sum(axis=0), np.sum(rows, axis=0)
    assert (np.abs(total.multipliers(domain, 64) - exact) <= 4 * EPS * sizes).all()
    largest = np.abs(exact[1:]).max()
    assert float(total.scale(domain) / largest) == pytest.approx(1, rel=8 * EPS)
    relative = total.extended_multipliers(domain, 64)[1:]
    assert (np.abs(relative * largest - exact[1:]) <= 16 * EPS * (sizes[1:] + EPS * largest)).all()
    for degree in (4, 20):
        assert total.tail_bound(domain, degree) >= np.abs(exact[degree + 1 :]).max() * (1 - 4 * EPS)
        assert total.relative_tail_bound(domain, degree) == pytest.approx(
            float(total.tail_bound(domain, degree) / largest), rel=1e-12
        )
    angles = np.linspace(-6, 6, 14).reshape(2, 7)
    for method in ("values", "slope"):
        parts = [factor * getattr(term, method)(angles) for factor, term in total.terms]
        assert np.abs(getattr(total, method)(angles) - sum(parts)).max() <= 8 * EPS * np.abs(parts).max()


@pytest.mark.parametrize("total", [total for total in SUMS if "Foreign" not in repr(total)], ids=repr)
def test_a_sum_is_rebuilt_from_its_text_and_its_description(total):
    assert eval(repr(total)) == total
    assert potential_from(total.name, total.parameters()) == total
    problem = McKeanVlasov(Circle(), total, confinement=0.1 * Kuramoto() + CosineSeries((0.0, 0.2)))
    again = McKeanVlasov.from_dict(problem.to_dict())
    assert again == problem
    assert hash(again) == hash(problem)


def test_algebra():
    a, b, c = Kuramoto(), Transformer(3.0), Onsager()
    assert a + b == b + a
    assert hash(a + b) == hash(b + a)
    assert sum([a, b, c]) == (a + b) + c == a + (b + c)
    assert a - b == a + -b == -(b - a)
    assert 2 * a == a * 2 == a + a == np.float64(2) * a == np.longdouble(2) * a
    assert a / 4 + a / 4 == 0.5 * a
    assert 2 * (a + b) / 2 == a + b
    assert 3 * a - 2 * a == a
    assert a + b - b == a
    assert isinstance(a - a, Combination)
    assert (a - a).scale(Circle()) == 0
    assert (a - a).values([0.0, 1.0]).tolist() == [0, 0]
    assert -Logarithmic() == -1.0 * Logarithmic() == 1 / 2 * Logarithmic(-1) + Logarithmic(-1) / 2


def test_sums_are_exact():
    domain = Circle()
    # -cos^2 t = -1/2 - cos(2t)/2, and the second mode cancels exactly.
    left = MaierSaupe() + CosineSeries((-1.0, 0.5))
    assert left.multipliers(domain, 5).tolist() == [-0.5, -1, 0, 0, 0, 0]
    assert (2 * Onsager()).multipliers(domain, 40).tolist() == (2 * Onsager().multipliers(domain, 40)).tolist()
    assert (-HegselmannKrause(1.0)).scale(Sphere(3)) == HegselmannKrause(1.0).scale(Sphere(3))
    doubled, single = 2 * Transformer(5e3), Transformer(5e3)
    assert (doubled.extended_multipliers(domain, 30) == single.extended_multipliers(domain, 30)).all()
    assert doubled.relative_tail_bound(domain, 30) == single.relative_tail_bound(domain, 30)
    # What cancels but for rounding has no critical coupling.
    nothing = Transformer(2.0) + Custom.from_expression("exp(2*cos(t))/2")
    assert np.abs(nothing.multipliers(domain, 30)[1:]).max() <= 8 * EPS * float(Transformer(2.0).scale(domain))


def test_singular_terms():
    total = 2 * Logarithmic() + Logarithmic(-1) + Kuramoto()
    assert total.values(0.0) == -np.inf
    assert total.values(np.pi) == pytest.approx(np.log(2) + 1)
    # kappa w_1 = -2 D.
    assert critical_coupling(McKeanVlasov(Circle(), total)) == pytest.approx(1)
    with pytest.raises(InvalidInput, match="Green function of the circle"):
        McKeanVlasov(Sphere(3), Kuramoto() + KellerSegel()).potential.multipliers(Sphere(3), 4)


def test_growth_rates_of_a_sum():
    total = Kuramoto() + MaierSaupe()
    rates = growth_rates(McKeanVlasov(Circle(), total, coupling=1.5), 3)
    assert rates == pytest.approx([0, -1 + 0.75, -4 * (1 - 0.375), -9])


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Kuramoto() + 1, "only a potential can be added to a potential, not 1"),
        (lambda: 1.5 - Kuramoto(), "only a potential can be added"),
        (lambda: Kuramoto() + np.cos, "only a potential can be added"),
        (lambda: Kuramoto() + Kuramoto, "only a potential can be added"),
        (lambda: Kuramoto() * Kuramoto(), "factor of a potential must be a finite number"),
        (lambda: np.ones(2) * Kuramoto(), "factor of a potential must be a finite number"),
        (lambda: Kuramoto() * np.nan, "factor of a potential must be a finite number"),
        (lambda: True * Kuramoto(), "factor of a potential must be a finite number"),
        (lambda: Kuramoto() / 0, "divisor of a potential must be a finite number other than 0"),
        (lambda: 1e300 * Kuramoto() * 1e300, r"factor of Kuramoto\(\) must be a finite number"),
        (lambda: Combination(()), "needs at least one term"),
        (lambda: Combination(3), "terms must be pairs"),
        (lambda: Combination((Kuramoto(),)), "must be a pair of a factor and a potential"),
        (lambda: Combination(((1.0, "kuramoto"),)), "must be a potential such as"),
        (lambda: Combination(({"factor": 1.0},)), "described by factor, name and parameters"),
        (lambda: potential_from("combination", {"term": []}), "does not take the parameters given"),
    ],
)
def test_what_is_no_sum(make, message):
    with pytest.raises(InvalidInput, match=message):
        make()


def test_the_terms_of_another_package_are_probed():
    class Wrong(Foreign):
        def slope(self, angle):
            return np.sin(2 * np.asarray(angle, dtype=float))

    with pytest.raises(InvalidInput, match="slope must be dW/dt"):
        McKeanVlasov(Circle(), Kuramoto() + 0.5 * Wrong())


def test_a_series_of_a_sphere_belongs_to_it():
    total = GegenbauerSeries((-1.0,)) + Kuramoto()
    assert total.multipliers(Sphere(3), 2).tolist() == [0, -2, 0]
    with pytest.raises(InvalidInput, match="polynomials of Sphere"):
        total.multipliers(Circle(), 2)


def test_in_words():
    problem = McKeanVlasov(Circle(), 2 * Kuramoto() - Transformer(3.0) / 4)
    assert describe(problem).startswith("2 kuramoto - 0.25 transformer (beta = 3) on the circle")
    assert problem.potential.formula == "2.0 (-cos t) - 0.25 (-(1/beta) exp(beta cos t))"


@pytest.mark.parametrize(
    ("law", "words"),
    [
        (PhaseLag(Kuramoto(), 0.25), "kuramoto with the phase lag 0.25"),
        (DepthScaled(Kuramoto(), 0.5), "kuramoto divided by (1 + t)^0.5"),
        (CommonFrequency(Kuramoto(), 2.0), "kuramoto with the common frequency 2"),
        (
            CommonFrequency(DepthScaled(PhaseLag(Kuramoto(), 0.25), 0.5), 2.0),
            "kuramoto with the phase lag 0.25 divided by (1 + t)^0.5 with the common frequency 2",
        ),
    ],
)
def test_laws_made_of_others_in_words(law, words):
    assert potential_in_words(law) == words


@pytest.mark.parametrize("suffix", ["nc", "json", "npz"])
def test_a_saved_diagram_of_a_sum_opens_with_its_problem(tmp_path, suffix):
    hat = Custom.from_callable(lambda t: -np.maximum(1 - np.abs(t), 0))
    problem = McKeanVlasov(Circle(), 2 * Kuramoto() - MaierSaupe() / 8 + 0.1 * hat)
    diagram = bifurcation_diagram(problem, relative=(0.9, 1.2))
    diagram.save(tmp_path / f"sum.{suffix}")
    again = open_diagram(tmp_path / f"sum.{suffix}")
    assert again.summary() == diagram.summary()
    assert again.problem.to_dict() == problem.to_dict()
    found, expected = (each.potential.multipliers(Circle(), 200) for each in (again.problem, problem))
    assert (found == expected).all()


def test_twice_the_potential_is_half_the_coupling():
    single, double = (
        bifurcation_diagram(McKeanVlasov(Circle(), potential), relative=(0.85, 1.1))
        for potential in (Transformer(5.0), 2 * Transformer(5.0))
    )
    (fold,), (half,) = single.events("fold"), double.events("fold")
    assert half.coupling == pytest.approx(fold.coupling / 2, rel=1e-11)
    assert half.relative_coupling == pytest.approx(fold.relative_coupling, rel=1e-11)


class Plain:
    """A potential that inherits nothing, so that it has no operators of its own."""

    name, formula = "plain", "cos t"

    def values(self, angle):
        return np.cos(angle)

    def slope(self, angle):
        return -np.sin(angle)

    def multipliers(self, domain, degree):
        return np.eye(degree + 1)[1]

    def tail_bound(self, domain, degree):
        return 0.0 if degree else 1.0

    def parameters(self):
        return {}


def test_a_potential_that_inherits_nothing_is_its_own_term():
    plain = Plain()
    total = Kuramoto() + plain
    assert total.terms == ((1.0, Kuramoto()), (1.0, plain))
    assert (total - plain) == Kuramoto()
    assert not total.multipliers(Circle(), 3).any()


def test_logarithms_of_both_signs_are_one_term():
    assert (3 * Logarithmic(-1)).terms == ((-3.0, Logarithmic()),)
    assert (Logarithmic(-1) / 2 + Logarithmic()).terms == ((0.5, Logarithmic()),)
