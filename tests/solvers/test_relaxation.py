"""Contraction rates: the gap, its closed form and the rate that the evolution shows."""

import numpy as np
import pytest

from meanfield import (
    Circle,
    ComputationFailed,
    CosineSeries,
    Custom,
    HegselmannKrause,
    InvalidInput,
    KellerSegel,
    Kuramoto,
    Logarithmic,
    McKeanVlasov,
    Onsager,
    Potential,
    Sphere,
    Transformer,
    critical_coupling,
)
from meanfield.transport import Density, l2_distance, relative_entropy, wasserstein1, wasserstein2
from solvers import contraction_rate, spectrum, stationary_states
from solvers.evolution.circle.relaxing import CircleNeighbourhood
from solvers.evolution.neighbourhood import padded
from solvers.relaxation import _slowest_seen, closed_form, uniform_rate
from tests import problems

LINEAR = ("L2", "W1", "W2")


def problem_at(potential: Potential, relative: float) -> McKeanVlasov:
    problem = McKeanVlasov(Circle(), potential)
    critical = critical_coupling(problem)
    assert critical is not None
    return problem.at(coupling=relative * critical)


@pytest.mark.parametrize(
    ("potential", "relative"), [(Kuramoto(), 1.5), (Transformer(5.0), 0.95), (Transformer(-2.0), 1.5)]
)
def test_every_distance_decays_at_its_multiple_of_the_gap(potential: Potential, relative: float) -> None:
    found = contraction_rate(problem_at(potential, relative))
    assert found.state.minimiser
    for fit in found.fits:
        assert fit.rate is not None
        assert fit.error is not None
        assert fit.rate == pytest.approx(fit.multiple * found.gap, rel=1e-4)
        assert abs(fit.rate - fit.multiple * found.gap) <= 4.0 * fit.error
    assert found.warnings == ()


FIELD = CosineSeries((-0.03, 0.2))
RELAXING = [
    McKeanVlasov(Circle(), KellerSegel(screening=2.5), noise=0.7, coupling=26.0, confinement=FIELD),
    McKeanVlasov(
        Circle(), HegselmannKrause(radius=2.4), noise=1.6, coupling=5.5, confinement=CosineSeries((0.6, 0.3))
    ),
    McKeanVlasov(Circle(), CosineSeries((-0.7, 0.4, -2.0)), noise=0.4, coupling=0.57),
    McKeanVlasov(Circle(), Onsager(), coupling=4.0),
    McKeanVlasov(Sphere(4), Transformer(2.0), coupling=0.5, confinement=Kuramoto()),
]


@pytest.mark.parametrize("problem", RELAXING)
def test_the_error_of_a_fitted_rate_is_a_bound_and_small(problem: McKeanVlasov) -> None:
    found = contraction_rate(problem)
    for fit in found.fits:
        assert fit.rate is not None
        assert fit.error is not None
        assert abs(fit.rate - found.expected(fit)) <= fit.error + fit.multiple * found.gap_error
        assert fit.error <= 1e-6 * fit.rate


def test_modes_about_as_slow_are_in_the_error() -> None:
    """In this field the two slowest rates differ by a thousandth: a straight line fits, at neither of them."""
    field = CosineSeries((-0.119,))
    problem = McKeanVlasov(Circle(), KellerSegel(screening=1.57), noise=0.49, coupling=3.3342, confinement=field)
    found = contraction_rate(problem)
    assert any("still changing its shape" in warning for warning in found.warnings)
    for fit in found.fits:
        assert fit.rate is not None
        assert fit.error is not None
        away = abs(fit.rate - found.expected(fit))
        assert 1e-5 * fit.rate <= away <= fit.error <= 2.0 * away


@pytest.mark.parametrize("confinement", [None, FIELD])
def test_distances_of_a_deviation_are_those_of_the_densities(confinement: CosineSeries | None) -> None:
    """Of a deviation e first-order distances differ by shares of about e from the exact ones."""
    problem = McKeanVlasov(Circle(), Kuramoto(), coupling=3.0, confinement=confinement)
    state = next(state for state in stationary_states(problem) if state.minimiser)
    about = CircleNeighbourhood(spectrum(state))
    deviation = about.modulo_rotation(1e-4 * about.generic_perturbation())
    whole = padded(about.target, deviation.size) + deviation
    one, other = Density(whole.real, -whole.imag), Density(about.target.real, -about.target.imag)
    exact = (
        l2_distance(one, other),
        wasserstein1(one, other),
        wasserstein2(one, other),
        relative_entropy(one, other),
    )
    found = [distance() for distance in about.distances(deviation).values()]
    assert found == pytest.approx(exact, rel=1e-4)
    # Turned by a thousandth it is as near.
    if confinement is None:
        turn = np.exp(1e-3j * np.arange(whole.size))
        turned = [
            distance() for distance in about.distances(turn * whole - padded(about.target, whole.size)).values()
        ]
        assert turned == pytest.approx(found, rel=1e-6)


@pytest.mark.parametrize(
    ("problem", "rate"),
    [
        (problems.KURAMOTO_AT_1.problem, problems.KURAMOTO_AT_1.exact("rate of order 0")),
        (McKeanVlasov(Circle(), Logarithmic(sign=-1), noise=0.7, coupling=2.0), 1.7),
    ],
)
def test_the_uniform_state_has_the_closed_form(problem: McKeanVlasov, rate: float) -> None:
    found = contraction_rate(problem)
    assert found.theory == pytest.approx(rate, rel=1e-14)
    assert found.gap == pytest.approx(rate, rel=1e-13)
    for fit in found.fits:
        assert fit.rate == pytest.approx(fit.multiple * rate, rel=1e-8)


def test_rotation_is_removed() -> None:
    """The perturbation has no symmetry, so the state it relaxes to is turned; unturned, the distance would stall."""
    found = contraction_rate(problem_at(Kuramoto(), 1.5))
    distances = found.distances[list(LINEAR).index("L2")]
    assert distances[-1] < 1e-4 * distances[0]
    assert (np.diff(np.log(distances)) < 0.0).all()


def test_with_a_confinement_nothing_is_turned() -> None:
    """In a strong confinement without interaction the equation is linear and the gap that of one operator."""
    problem = McKeanVlasov(Circle(), Kuramoto(), coupling=0.5, confinement=Custom.from_coefficients((-1.0,)))
    found = contraction_rate(problem)
    assert found.theory is None
    fit = found.fit("L2")
    assert fit.rate == pytest.approx(found.gap, rel=1e-5)


def test_a_gap_too_small_to_see_is_said() -> None:
    problem = problem_at(Transformer(5.0), 1.0 - 1e-7)
    states = stationary_states(problem)
    uniform = next(state for state in states if state.symmetry == 0)
    found = contraction_rate(problem, state=uniform)
    assert found.gap == pytest.approx(1e-7, rel=1e-6)
    assert found.fit().rate is None
    assert "no rate was fitted" in found.warnings[0]


def test_an_unstable_state_is_refused() -> None:
    problem = problem_at(Kuramoto(), 1.5)
    uniform = next(state for state in stationary_states(problem) if state.symmetry == 0)
    with pytest.raises(InvalidInput, match="not stable"):
        contraction_rate(problem, state=uniform)


def test_a_free_coupling_is_refused() -> None:
    with pytest.raises(InvalidInput, match="coupling"):
        contraction_rate(problems.KURAMOTO.problem)


def test_of_a_state_it_is_the_gap() -> None:
    state = next(state for state in stationary_states(problem_at(Kuramoto(), 1.5)) if state.minimiser)
    assert contraction_rate(state) == spectrum(state).slowest_rate
    assert closed_form(state) is None


def test_uniform_rate_looks_at_every_mode() -> None:
    """The slowest mode need not be the first: for -cos 3t it is 1 until 9 (1 - lambda_3) falls below."""
    problem = McKeanVlasov(Circle(), Custom.from_coefficients((0.0, 0.0, -1.0)), coupling=1.9)
    assert uniform_rate(problem) == pytest.approx(9 * (1 - 0.95), rel=1e-14)


def test_plot_shows_every_fit() -> None:
    found = contraction_rate(problem_at(Kuramoto(), 1.5))
    lines = found.plot().get_lines()
    assert len(lines) == 2 * len(found.fits)
    np.testing.assert_array_equal(lines[0].get_ydata(), found.distances[0])
    ends = np.log(np.asarray(lines[1].get_ydata(), dtype=float))
    times = np.asarray(lines[1].get_xdata(), dtype=float)
    fit = found.fits[0]
    assert fit.rate is not None
    assert -(ends[1] - ends[0]) / (times[1] - times[0]) == pytest.approx(fit.rate, rel=1e-12)


def test_the_error_of_a_fit_covers_quadratic_terms(monkeypatch):
    """Perturbations a million times as large as they are: nothing but the opposite one tells that they are."""
    monkeypatch.setattr(CircleNeighbourhood, "small", 1e-4)
    found = contraction_rate(problems.KURAMOTO_AT_3.problem)
    for fit in (found.fit("L2"), found.fit("W1"), found.fit("relative entropy")):
        away = abs(fit.rate - found.expected(fit))
        assert 1e-8 * fit.rate < away <= fit.error


def test_an_evolution_that_takes_minutes_is_left_out_and_said(monkeypatch):
    problem = problems.KURAMOTO_AT_3.problem
    assert contraction_rate(problem).fit("L2").rate is not None
    monkeypatch.setattr("solvers.evolution.circle.relaxing.AFFORDABLE_SECONDS", 0.0)
    found = contraction_rate(problem)
    assert found.gap == pytest.approx(problems.KURAMOTO_AT_3.exact("rate of order 0"), rel=1e-11)
    assert found.fit("L2").rate is None
    (warning,) = found.warnings
    assert warning.startswith("no rate was fitted: evolutions of ")
    assert warning.endswith(" seconds")


def test_a_path_that_cannot_be_resolved_costs_the_fits_and_not_the_gap(monkeypatch):
    def refused(*_, **__):
        raise ComputationFailed("too many moments")

    monkeypatch.setattr(CircleNeighbourhood, "evolved", refused)
    found = contraction_rate(problems.KURAMOTO_AT_3.problem)
    assert found.gap == pytest.approx(problems.KURAMOTO_AT_3.exact("rate of order 0"), rel=1e-11)
    assert found.fit("L2").rate is None
    assert found.warnings == ("no rate was fitted: too many moments",)


def test_a_state_whose_moments_decay_slowly_has_fits_within_their_errors():
    """A rotation of it is resolved worse than the state: its moments are those times the degree."""
    problem = McKeanVlasov(Circle(), HegselmannKrause(radius=1.0))
    problem = problem.at(coupling=1.2 * critical_coupling(problem))
    found = contraction_rate(problem)
    assert found.state.modes > 200
    for fit in found.fits:
        assert fit.rate is not None
        assert abs(fit.rate - found.expected(fit)) <= fit.error + fit.multiple * found.gap_error
        assert fit.error <= 1e-7 * fit.rate


@pytest.mark.parametrize("first", [-0.167, 0.1, 0.4])
def test_a_mode_too_small_to_be_told_apart_is_in_the_error(first):
    """A mode of a part in 1e9 of the deviation, below what the two runs agree to, shifts the slowest rate seen."""
    field = CosineSeries((first, 0.534, -0.722))
    found = contraction_rate(McKeanVlasov(Circle(), Kuramoto(), noise=1.14, coupling=4.3802, confinement=field))
    for fit in found.fits:
        assert abs(fit.rate - found.expected(fit)) <= fit.error + fit.multiple * found.gap_error


@pytest.mark.parametrize(("other", "error"), [(-3.0, 0.0), (-0.5, 0.5), (0.5, 1.5)])
def test_a_direction_that_is_left_out_is_in_the_error_where_it_is_slower_or_grows(other, error):
    """A path exp(-t) e_1 + 1e-12 exp(other t) e_2, known to 1e-6: the second direction is below that."""
    times = np.linspace(0.0, 8.0, 49)
    shares = np.exp(np.multiply.outer(times, [-1.0, other]))
    path = [np.array([0.0, one, 1e-12 * two], dtype=complex) for one, two in shares]
    seen = _slowest_seen(path, times, 1.0, 1e-6)
    assert seen is not None
    assert seen.rate == pytest.approx(1.0, abs=1e-5)
    assert seen.error == pytest.approx(error, abs=1e-5)
