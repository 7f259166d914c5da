"""Hopf bifurcations of densities with a current, of rotating waves, and on spheres."""

import dataclasses

import numpy as np
import pytest
from scipy.optimize import brentq

from meanfield import (
    Circle,
    CommonFrequency,
    ContinuityEquation,
    CosineSeries,
    External,
    InvalidInput,
    Kuramoto,
    McKeanVlasov,
    Outcome,
    PhaseLag,
    Transformer,
)
from meanfield.plotting import style_handles
from solvers import bifurcation_diagram, curve, phase_diagram
from solvers.branches.oscillations import hopf_between
from solvers.equations.geometry import GrowthMatrix
from solvers.linear_algebra.invariant_planes import half_trace, invariant_plane, square_of_frequency
from solvers.sweeps.numbers import numbers_of
from tests import oracles

POINTS = 141
# Active rotators: beyond a coupling their common rest gives way to a pulse that goes around.
ROTATORS = ContinuityEquation(
    Circle(), CommonFrequency(Kuramoto(), 1.2), noise=0.5, confinement=External(cosine=(0.4,))
)
WAVES = ContinuityEquation(Circle(), PhaseLag(CosineSeries((-1.0, -0.9, -0.4)), 0.2))


def growth_rates(problem, cosine, sine):
    """Return the largest change of a density in the frame in which it rests, and the growth rates, by collocation."""
    change, jacobian, _ = oracles.collocated_at_rest(problem, cosine, sine, POINTS)
    of_mean_zero = oracles.of_mean_zero(POINTS)
    return np.abs(change).max(), np.linalg.eigvals(of_mean_zero.T @ jacobian @ of_mean_zero)


def is_hopf(event):
    """Return whether a pair of growth rates of an event is imaginary and has the frequency that it tells."""
    problem = event.problem.at(coupling=event.coupling)
    change, rates = growth_rates(problem, event.cosine, event.sine)
    frequency = float(event.description.split("rates ")[1].split("i ")[0])
    pair = rates[np.argsort(np.abs(rates - 1j * frequency))[0]]
    return change < 1e-11 * POINTS**2 and abs(pair.real) < 1e-10 and pair.imag == pytest.approx(frequency, rel=1e-7)


def has_imaginary_pairs(found):
    """Return whether all states of a curve but those at ends rest and have a pair of imaginary growth rates."""
    for row in range(1, len(found) - 1, 2):
        change, rates = growth_rates(found.point(row).problem, found.cosine[row], found.sine[row])
        if not (change < 1e-11 * POINTS**2 and np.abs(rates[np.abs(rates.imag) > 1e-3].real).min() < 1e-9):
            return False
    return len(found) > 2


@pytest.fixture(scope="module")
def rotators():
    """The diagram of rotators in the coupling."""
    return bifurcation_diagram(ROTATORS, (0.0, 4.0), rates=False)


def test_files_legends_and_sweeps_have_the_type(rotators, tmp_path):
    """Where growth rates are real, under a free energy, they are as without it."""
    described = rotators.to_auto(tmp_path / "rotators.auto")
    assert "HB Hopf bifurcation, " in next(path for path in described if path.name.startswith("d.")).read_text()
    assert [each.get_label() for each in style_handles(rotators)][2:] == ["Hopf bifurcation", "followed no further"]
    (event,), numbers = rotators.events("hopf"), numbers_of(rotators).numbers
    assert (numbers["hopf_count"], numbers["fold_count"]) == (1, 0)
    assert (numbers["lowest_hopf"], numbers["relative_hopf"]) == (event.coupling, event.relative_coupling)
    real = bifurcation_diagram(McKeanVlasov(Circle(), Kuramoto()), depth=1, rates=False)
    assert not any("hopf" in name for name in numbers_of(real).numbers)
    assert "Hopf bifurcation" not in [each.get_label() for each in style_handles()]
    with pytest.raises(InvalidInput, match="did you mean Hopf"):
        rotators.events("hopff")


def test_rotators_in_a_field_begin_to_turn_together(rotators):
    """Beside the point the numbers of growing rates are those of both sides, and files tell its type."""
    diagram = rotators
    (event,) = diagram.events("Hopf")
    assert is_hopf(event)
    assert event.status == "converged"
    assert (event.unstable_before, event.unstable_after, event.kernel_dimension) == (0, 2, 2)
    branch = diagram.branches[event.branch]
    assert branch.point_labels[event.point] == "HB"
    for row, count in ((event.point - 1, 0), (event.point + 1, 2)):
        _, rates = growth_rates(ROTATORS.at(coupling=branch.coupling[row]), branch.cosine[row], branch.sine[row])
        assert branch.unstable[row] == np.count_nonzero(rates.real > 1e-9) == count
    assert not any("without a located event" in warning for warning in diagram.warnings)
    assert [each.type for name in ("hopf bifurcation", "HB") for each in diagram.events(name)] == ["Hopf"] * 2
    text = diagram.summary()
    assert "unstable (2 directions) from" in text
    assert "Hopf" in text


def test_the_oscillation_of_rotators_begins_along_a_curve_that_ends_at_a_double_zero(rotators, tmp_path):
    """Its points have an imaginary pair by collocation, and at its end two rates that vanish together."""
    (event,) = rotators.events("Hopf")
    found = curve(event, "frequency", (0.0, 2.0))
    assert found.type == "Hopf"
    assert found.first_outcome is Outcome.REAL_PAIR
    for row in range(1, len(found), 3):
        change, rates = growth_rates(found.point(row).problem, found.cosine[row], found.sine[row])
        assert change < 1e-11 * POINTS**2
        complex_ones = rates[np.abs(rates.imag) > 1e-3]
        assert np.abs(complex_ones.real).min() < 1e-10
    (end,) = found.special_points
    assert (end.type, end.status) == ("Bogdanov-Takens", "converged")
    assert "becomes real" in end.description
    _, rates = growth_rates(end.problem, end.cosine, end.sine)
    assert np.count_nonzero(np.abs(rates) < 1e-5) == 2
    # The same point is found on the curve of folds that ends there as well, and the curve begins at both.
    fold = curve(end, "frequency", (0.0, 2.0))
    assert fold.type == "fold"
    assert not any("unstable directions changes" in warning for warning in fold.warnings)
    assert "Hopf bifurcations ends in this one" in fold.special_points[0].description
    on_fold = min(fold.special_points, key=lambda point: np.abs(point.values / end.values - 1.0).max())
    assert on_fold.values == pytest.approx(end.values, rel=1e-9)
    for start in (end, on_fold):
        again = curve(start, "frequency", (0.0, 2.0), type="Hopf")
        assert (again.type, again.first_outcome, again.outcome) == ("Hopf", Outcome.REAL_PAIR, found.outcome)
        assert again.values[[0, -1]] == pytest.approx(found.values[[0, -1]], rel=1e-10)
        assert [point.type for point in again.special_points] == ["Bogdanov-Takens"]
        assert again.special_points[0].lower <= end.values[0] <= again.special_points[0].upper
        assert again.point_labels[0] == "Bogdanov-Takens"
        assert not again.warnings
    # In other parameters too, where the rotators of this point are slowed down by noise.
    across = curve(end, "noise", (0.4, 0.6), against="coupling", type="Hopf")
    assert across.outcome is Outcome.REAL_PAIR or across.first_outcome is Outcome.REAL_PAIR
    assert has_imaginary_pairs(across)
    for kind, words in (("transition", "there are fold, branch point, Hopf"), ("branch point", "none was found")):
        with pytest.raises(InvalidInput, match=words):
            curve(end, "frequency", (0.0, 2.0), type=kind)
    middle = float(found.first[len(found) // 2])
    there = bifurcation_diagram(
        ROTATORS.replace(velocity=CommonFrequency(Kuramoto(), middle)), (0.0, 4.0), rates=False
    )
    assert there.events("Hopf")[0].coupling == pytest.approx(float(found.second[len(found) // 2]), rel=1e-10)
    with pytest.raises(InvalidInput, match="is one of Hopf bifurcations"):
        found.save(tmp_path / "hopf.auto")


def test_the_curve_of_waves_that_pulsate_ends_where_the_pair_is_real():
    diagram = bifurcation_diagram(WAVES, relative=(0.4, 1.8), rates=False)
    found = curve(diagram.events("Hopf")[0], "lag", (0.1, 0.3))
    for row in range(1, len(found), 4):
        change, rates = growth_rates(found.point(row).problem, found.cosine[row], found.sine[row])
        assert change < 1e-11 * POINTS**2
        assert np.abs(rates[np.abs(rates.imag) > 1e-3].real).min() < 1e-9
    assert "Bogdanov-Takens" in {point.type for point in found.special_points}


@pytest.mark.parametrize(("weights", "lag"), [((-0.884, -0.927), 0.15), ((-0.968, -0.95), 0.13)])
def test_curves_begin_where_growth_rates_of_waves_vanish_together(weights, lag):
    """On curves of branch points too, from either of two such points to the other, even behind the last step."""
    problem = ContinuityEquation(Circle(), PhaseLag(CosineSeries(weights), lag))
    diagram = bifurcation_diagram(problem, relative=(0.4, 2.0), rates=False)
    births = [each for each in diagram.events("branch point") if diagram.branches[each.branch].symmetry]
    known = curve(births[0], "lag", (0.01, 0.7), largest_coupling=20.0)
    doubles = [point for point in known.special_points if point.type == "Bogdanov-Takens"]
    assert doubles
    for double in doubles:
        found = curve(double, "lag", (0.01, 0.7), largest_coupling=20.0, type="Hopf")
        assert has_imaginary_pairs(found)
        ends = [point.values for point in found.special_points if point.type == "Bogdanov-Takens"]
        assert min(np.abs(end / double.values - 1.0).max() for end in ends) < 1e-9
        if len(doubles) == 2:
            assert sorted(end[0] for end in ends) == pytest.approx([point.values[0] for point in doubles], rel=1e-9)
            assert found.first_outcome is found.outcome is Outcome.REAL_PAIR


def test_phase_diagrams_have_curves_of_hopf_bifurcations_that_no_section_meets():
    problem = ContinuityEquation(Circle(), PhaseLag(CosineSeries((-1.0, -0.9)), 0.1))
    # At the ends of the interval it is outside of the window.
    found = phase_diagram(problem, ("lag", (0.08, 0.12)), coupling=(2.2, 2.39), sections=1, examine=False)
    (hopf,) = [each for each in found.curves if each.type == "Hopf"]
    assert "from the Bogdanov-Takens point" in found.origins[found.curves.index(hopf)]
    (double,) = [point for point in found.special_points if point.type == "Bogdanov-Takens"]
    assert {"Hopf of the 2-cluster", "branch point of the 2-cluster"} == set(double.curves)
    there = bifurcation_diagram(problem.with_parameter("lag", float(hopf.first[-1])), (2.2, 2.6), rates=False)
    assert min(abs(each.coupling - hopf.second[-1]) for each in there.events("Hopf")) < 1e-9


def test_phase_diagrams_have_the_regions_in_which_nothing_is_at_rest():
    found = phase_diagram(ROTATORS, ("frequency", (0.8, 1.6)), coupling=(0.5, 2.5), sections=3)
    assert "Hopf" in {each.type for each in found.curves}
    assert sorted(region.stable for region in found.regions) == [0, 1]
    assert {region.phase for region in found.regions} == {"primary", "no stable state"}
    assert "no stable state" in found.summary()
    assert all(region.agrees for region in found.regions)


def test_the_slowest_rate_is_zero_at_a_hopf_point():
    diagram = bifurcation_diagram(ROTATORS, (1.0, 2.0))
    (event,) = diagram.events("Hopf")
    rates = diagram.branches[event.branch].slowest_rate
    assert rates[event.point] == 0.0
    assert rates[event.point - 1] > 0.0 > rates[event.point + 1]


@pytest.mark.parametrize("distance", [1e-2, 1e-4])
def test_a_pair_that_crosses_in_the_step_of_a_fold_is_no_part_of_it(distance):
    """Beside a Bogdanov-Takens point, at the coupling 1.65382, a rate falls and a pair rises right behind it."""
    problem = ROTATORS.replace(velocity=CommonFrequency(Kuramoto(), 0.1), coupling=1.653823007 - distance)
    events = bifurcation_diagram(problem, (0.0, 0.6), parameter="frequency", rates=False).special_points[:3]
    told = [(each.type, each.unstable_before, each.unstable_after) for each in events]
    assert told == [("fold", 0, 1), ("fold", 1, 0), ("Hopf", 0, 2)]
    assert is_hopf(events[2])
    assert 0.0 < events[2].value - events[1].value < distance**2


def test_waves_pulsate_in_their_frame():
    diagram = bifurcation_diagram(WAVES, relative=(0.4, 1.8), rates=False)
    (event,) = diagram.events("Hopf")
    assert is_hopf(event)
    along = bifurcation_diagram(WAVES.at(coupling=event.coupling), (0.1, 0.3), parameter="lag", rates=False)
    assert min(abs(each.value - 0.2) for each in along.events("Hopf")) < 1e-11


@pytest.mark.parametrize(
    "pair", [((0.1, 0.3), (-0.3, 0.1)), ((0.1, 0.03), (-0.03, 0.1)), ((0.3, 0.0), (0.0, -0.2))]
)
def test_the_plane_of_a_pair_is_invariant_whether_it_is_complex_or_real(pair):
    """Trace and determinant of the restriction are those of the pair, also where one behind a double zero is real."""
    generator = np.random.default_rng(5)
    blocks = np.zeros((7, 7))
    blocks[:2, :2], blocks[2:, 2:] = pair, np.diag(generator.uniform(-3.0, -1.0, 5))
    turned = generator.normal(size=(7, 7))
    matrix = turned @ blocks @ np.linalg.inv(turned)
    plane = invariant_plane(matrix, np.linalg.eigvals(matrix), 0.1 + 0.3j)
    restricted = plane.restriction(matrix @ plane.right)
    assert half_trace(restricted) == pytest.approx(0.5 * np.trace(pair), abs=1e-12)
    assert square_of_frequency(restricted) == pytest.approx(
        np.linalg.det(pair) - 0.25 * np.trace(pair) ** 2, abs=1e-12
    )


class Between:
    """A curve of points of which one rate s is that of growth, and whose equation has as many classes as there are."""

    def __init__(self, *classes):
        self.first, self.second = (Beside(s, count) for s, count in zip((-0.5, 0.25), classes, strict=True))

    def zero(self, function):
        return Beside(brentq(lambda s: function(Beside(s, 1)), -0.5, 0.25, xtol=1e-15), 1), 1e-15


class Beside:
    """A point, which is its own equation and densities."""

    def __init__(self, growth, count):
        self.growth, self.count, self.equation, self.densities = growth, count, self, self

    def growth_matrices(self, point, degree=None):
        pair = np.array([[self.growth, 2.0, 0.0], [-2.0, self.growth, 0.0], [0.0, 0.0, -1.0]])
        return [GrowthMatrix(lambda: pair, 1, 3), *[GrowthMatrix(lambda: -np.eye(3), 2, 3)] * (self.count - 1)]


@pytest.mark.parametrize("classes", [(1, 1), (1, 3), (3, 2)])
def test_points_may_have_different_numbers_of_classes(classes):
    """On spheres the azimuthal orders in which the interaction matters are more where it is stronger."""
    (event,) = hopf_between(Between(*classes))
    assert (event.change, event.kernel_dimension) == (2, 2)
    assert event.point.growth == pytest.approx(0.0, abs=1e-14)
    assert "2i" in event.description


def test_random_hopf_points_are_those_of_the_collocated_equation():
    generator, found = np.random.default_rng(11), 0
    for number in range(12):
        weights = tuple(-generator.uniform(0.2, 1.5, 2))
        field = External(cosine=tuple(generator.uniform(-0.6, 0.6, 2)), sine=(0.0, generator.uniform(-0.4, 0.4)))
        lag, frequency = generator.uniform(-0.8, 0.8), generator.uniform(0.5, 2.0)
        if number % 3 == 0:
            problem = ContinuityEquation(Circle(), PhaseLag(CosineSeries(weights), lag))
        elif number % 3 == 1:
            law = CommonFrequency(CosineSeries(weights), frequency)
            problem = ContinuityEquation(Circle(), law, noise=0.6, confinement=field)
        else:
            law = CommonFrequency(PhaseLag(Transformer(1.0 + abs(lag)), lag), frequency)
            problem = ContinuityEquation(Circle(), law, noise=0.6, confinement=field)
        free = {"relative": (0.3, 2.0)} if problem.confinement is None else {"interval": (0.0, 4.0)}
        diagram = bifurcation_diagram(problem, rates=False, **free)
        events = diagram.events("Hopf")
        assert all(map(is_hopf, events))
        found += len(events)
    assert found > 8


def test_the_phase_diagram_of_rotators_has_the_folds_that_no_branch_in_the_coupling_meets(tmp_path):
    """They begin where the curve of Hopf bifurcations ends, and bound the frequencies at which rotators may rest."""
    found = phase_diagram(ROTATORS, ("frequency", (0.0, 1.0)), coupling=(0.5, 3.5), sections=3, examine=False)
    (double,) = [point for point in found.special_points if point.type == "Bogdanov-Takens"]
    assert {each.type for each in found.curves} == {"Hopf", "fold"}
    (fold,) = [each for each in found.curves if each.type == "fold"]
    assert any("Bogdanov-Takens" in origin for origin in found.origins)
    assert min(np.abs(point.values - double.values).max() for point in fold.special_points) < 1e-9
    wide = [region for region in found.regions if region.area > 0.01]
    assert sorted(region.stable for region in wide) == [0, 1]
    # AUTO files have the other curves, and say which are left out.
    with pytest.warns(UserWarning, match="leave out the curve of Hopf bifurcations 'Hopf of the uneven") as said:
        files = found.to_auto(tmp_path / "rotators.auto", force=True)
    assert [each.filename for each in said] == [__file__]
    described = files[-1].read_text()
    assert "branch 1: fold of the uneven" in described
    assert "branch 2" not in described
    assert str(said[0].message) in described
    # They have no equations of such a law.
    assert "exp(" not in described
    alone = dataclasses.replace(found, curves=tuple(each for each in found.curves if each.type == "Hopf"))
    with pytest.raises(InvalidInput, match="is one of Hopf bifurcations"):
        alone.to_auto(tmp_path / "hopf.auto")
