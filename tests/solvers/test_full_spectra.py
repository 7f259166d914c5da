"""Spectra at states on S^2 without an axis, against the equation in time and the spectra at zonal states."""

import functools
import math

import numpy as np
import pytest
from scipy.optimize import minimize_scalar
from scipy.spatial.transform import Rotation

import solvers
from meanfield import (
    CosineSeries,
    GegenbauerSeries,
    HarmonicSeries,
    MaierSaupe,
    McKeanVlasov,
    NotResolved,
    Sphere,
    State,
)
from meanfield.harmonics import largest_degree, packed, place
from solvers import stationary_states
from solvers.bases import InvariantBasis, ZonalBasis
from solvers.bases.representations import representation
from solvers.branches.continuation import Point
from solvers.equations.equation import StationaryEquation
from solvers.equations.sizing import confining_field
from solvers.evolution.sphere.spherical import SphericalSystem
from solvers.root_finding.newton import solve_at
from solvers.sphere import SPHERE
from solvers.sphere.groups import ICOSAHEDRAL, OCTAHEDRAL, TETRAHEDRAL, prismatic, pyramidal
from solvers.sphere.harmonics import unstable_counts
from solvers.sphere.linearised import full_matrices, full_rates, spectra
from solvers.sphere.linearised.full_fields import full_field
from solvers.sphere.linearised.full_matrices import SMALL, Linearisation
from solvers.sphere.linearised.full_spectra import class_values, lowest_level
from solvers.sphere.linearised.layouts import slowest_rate, spectrum
from solvers.sphere.linearised.second_variation import bounds_by_second_variation
from solvers.sphere.linearised.slow_rates import rate_by_slopes
from tests import problems

EPS = np.finfo(float).eps
QUARTER_TURN = Rotation.from_rotvec([0.0, 0.5 * np.pi, 0.0]).as_matrix()
SEVERAL_TURNS = Rotation.from_rotvec([0.3, -0.7, 0.4]).as_matrix()


def single(degree):
    """The potential -P_l."""
    return GegenbauerSeries((0.0,) * (degree - 1) + (-1.0,))


def solved(problem, basis, start):
    """The state nearest to the density with the field start, and its point."""
    equation = StationaryEquation(problem, basis, 1, SPHERE)
    b = equation.unknown_from(basis.gibbs(np.array(start)).moments)
    solution = solve_at(equation, b, problem.coupling / equation.unit)
    moments = solution.evaluation.gibbs.moments
    assert basis.tail(moments) < 512 * EPS
    cosine, sine = basis.expand(moments)
    state = State(problem, cosine, sine, {}, None, 1, solution.residual, basis.nodes, layout=basis.modes.layout)
    return state, Point(equation, solution, 0.0)


@functools.cache
def crystal(name):
    """A state of W = -P_l with the symmetry of a solid, and its point."""
    group, degree, coupling, amplitude, nodes = {
        "octahedral": (OCTAHEDRAL, 4, 8.3, 1.2, 64),
        "octahedral metastable": (OCTAHEDRAL, 4, 30.0, 6.0, 128),
        "cubic": (OCTAHEDRAL, 4, 10.0, -1.0, 64),
        "tetrahedral": (TETRAHEDRAL, 3, 7.5, 1.0, 64),
        "icosahedral": (ICOSAHEDRAL, 6, 12.5, -1.8, 96),
        "prismatic": (prismatic(3), 3, 7.5, 1.0, 64),
    }[name]
    problem = McKeanVlasov(Sphere(3), single(degree), coupling=coupling)
    basis = InvariantBasis(group, np.array([degree]), nodes)
    start = np.zeros(basis.degrees.size)
    start[-1] = amplitude * math.sqrt(2 * degree + 1)
    return solved(problem, basis, start)


@functools.cache
def confined():
    """A state of three-fold symmetry in a confinement about the z axis."""
    confinement = CosineSeries((0.3, -0.2))
    problem = McKeanVlasov(Sphere(3), single(3), 1.2, 9.5, confinement)
    basis = InvariantBasis(pyramidal(3), np.array([3]), 64, confining_field(problem))
    state, point = solved(problem, basis, [0.0, 4.0])
    assert np.abs(point.b).min() > 0.01
    return state


def in_time(state, degree):
    """All eigenvalues of the equation in time for the moments; it is quadratic, so differences are exact."""
    system = SphericalSystem(state.problem, degree)
    zonal = [place(each, 0) - 1 for each in range(1, degree + 1)]
    kept = np.setdiff1d(np.arange(system.size), system.size // 2 + np.array(zonal))
    rest = system.pack(state.cosine, state.sine)
    columns = []
    for index in kept:
        change = np.zeros(system.size)
        change[index] = 0.5
        columns.append((system.derivative(0.0, rest + change) - system.derivative(0.0, rest - change))[kept])
    values = np.linalg.eigvals(np.stack(columns, axis=1))
    return np.sort(values.real)[::-1]


def turned(state, element):
    """The state turned by an element, its field of low degree exactly so."""
    cosine, sine = state.cosine.copy(), state.sine.copy()
    for degree in range(1, largest_degree(cosine.size) + 1):
        first, last = place(degree, 0), place(degree + 1, 0)
        image = representation(element, degree) @ np.concatenate([cosine[first:last], sine[first + 1 : last]])
        cosine[first:last], sine[first + 1 : last] = image[: degree + 1], image[degree + 1 :]
    return state.replace(cosine=cosine, sine=sine)


def cut(state, degree):
    """The state with its first moments, enough for a potential of few degrees."""
    return state.replace(cosine=state.cosine[: place(degree + 1, 0)], sine=state.sine[: place(degree + 1, 0)])


def in_order(state):
    """A zonal state by degree and order."""
    cosine = packed(state.cosine)
    return state.replace(cosine=cosine, sine=np.zeros(cosine.size), layout="order")


def repeated(found):
    """The eigenvalues at a zonal state as often as they are there."""
    copies = [np.repeat(values, count) for values, count in zip(found.sectors, found.multiplicities, strict=True)]
    return np.sort(np.concatenate(copies))[::-1]


def assert_agree(values, expected, relative):
    count = min(values.size, expected.size)
    assert count >= 12
    assert np.abs(values[:count] / expected[:count] - 1.0).max() < relative


@pytest.mark.parametrize("name", ["tetrahedral", "prismatic"])
def test_rates_are_those_of_the_equation_in_time(name):
    state = crystal(name)[0]
    found = spectrum(state)
    expected = in_time(state, 22)
    zeros = np.abs(expected) < 1e-7
    assert np.count_nonzero(zeros) == 3
    # What the equation in time leaves out is the moments of degree beyond 22.
    assert_agree(found.eigenvalues, expected[~zeros], 2e-8)
    assert found.rotation_overlap > 1.0 - 1e-9
    assert abs(found.rotation) < 1e-10


def test_a_confinement_leaves_one_rotation():
    state = confined()
    expected = in_time(state, 22)
    zeros = np.abs(expected) < 1e-7
    assert np.count_nonzero(zeros) == 1
    found = spectrum(state)
    assert full_field(state).symmetry[1:] == (3, False)
    assert_agree(found.eigenvalues, expected[~zeros], 2e-8)
    assert abs(found.rotation) < 1e-10
    assert found.rotation_overlap > 1.0 - 1e-9


@pytest.mark.parametrize("name", ["octahedral", "cubic", "tetrahedral", "icosahedral", "prismatic"])
def test_unstable_directions_are_those_of_the_stationary_equation(name):
    state, point = crystal(name)
    found = spectrum(state)
    assert found.unstable == sum(unstable_counts(point))
    assert np.array_equal(found.eigenvalues, np.sort(np.concatenate([found.even, found.odd]))[::-1])
    assert 0.0 < found.error < 1e-10


@pytest.mark.parametrize("name", ["octahedral", "cubic", "tetrahedral", "icosahedral", "prismatic"])
def test_slowest_rate_is_the_first_of_the_spectrum(name):
    state = crystal(name)[0]
    # To the bit where both take one thread, as all that is public does.
    found = solvers.spectrum(state)
    assert abs(slowest_rate(state) / found.slowest_rate - 1.0) < 1e-8
    assert solvers.contraction_rate(state) == found.slowest_rate


@pytest.mark.parametrize("name", ["octahedral", "octahedral metastable", "cubic", "tetrahedral", "prismatic"])
def test_the_lowest_rate_of_a_class_whatever_bound_is_expected(name):
    """One factorisation with a shift finds what a dense matrix has, from bounds that are none as well."""
    field = full_field(crystal(name)[0])
    blocks = [
        whole.matrices(table) for whole in map(Linearisation, (field, field), (12, 48)) for table in whole.tables
    ]
    assert min(block.table.size for block in blocks) < SMALL < max(block.table.size for block in blocks)
    for block in blocks:
        expected = block.lowest(1)[0]
        error = 1e-9 * abs(expected.level) + 2 * block.rounding(expected)
        for bound in (-np.inf, expected.level - 10.0, expected.level - 1e-3, expected.level + 3.0):
            found = block.slowest(bound)
            assert abs(found.level - expected.level) < error
            assert abs(found.x @ found.y - 1.0) < 1e-12
            assert np.abs(block.kernel.T @ found.x).max(initial=0.0) < 1e-9 * np.linalg.norm(found.x)


@pytest.mark.parametrize("name", ["octahedral", "cubic", "tetrahedral", "prismatic"])
def test_small_classes_have_the_rates_of_the_iteration(name, monkeypatch):
    """The dense matrix of a class of few harmonics, and Lanczos on a shifted inverse, which larger ones take."""
    whole = Linearisation(full_field(crystal(name)[0]), 12)
    blocks = [block for block in map(whole.matrices, whole.tables) if block.table.size <= SMALL]
    dense = [block.slowest(-np.inf) for block in blocks]
    monkeypatch.setattr(full_matrices, "SMALL", 0)
    for block, pair in zip(blocks, dense, strict=True):
        found = block.slowest(-np.inf)
        assert abs(found.level - pair.level) < 1e-9 * abs(found.level) + 2.0 * block.rounding(found)
    assert len(blocks) > 1


@pytest.mark.parametrize("name", ["octahedral", "cubic", "tetrahedral", "icosahedral", "prismatic"])
def test_classes_left_out_have_no_slower_rate(name):
    """The slowest rate is that of all classes on more harmonics than it takes."""
    state = crystal(name)[0]
    whole = Linearisation(full_field(state), 64)
    lowest = min(whole.matrices(table).lowest(1)[0].level for table in whole.tables)
    assert abs(slowest_rate(state) / lowest - 1.0) < 1e-8


@pytest.mark.parametrize("name", ["octahedral", "cubic", "tetrahedral", "icosahedral", "prismatic"])
def test_growth_faster_than_another_is_counted(name):
    """In a class there is a faster growth, and a lower bound of it, exactly if the dense matrix has one."""
    whole = Linearisation(full_field(crystal(name)[0]), 48)
    growing = 0
    for block in (whole.matrices(table) for table in whole.tables):
        fastest = -block.lowest(1)[0].level
        for growth in (0.2, 1.0, 7.0, abs(fastest) * (1.0 - 1e-7), abs(fastest) * (1.0 + 1e-7)):
            faster = block.faster_growth(growth)
            assert (faster > 0.0) == (fastest > growth)
            assert faster == 0.0 or growth <= faster <= fastest * (1.0 + 1e-9)
            growing += faster > 0.0
    assert growing or name not in ("cubic", "tetrahedral")


@pytest.mark.parametrize("name", ["octahedral", "octahedral metastable", "icosahedral"])
def test_classes_without_slower_rates_are_counted(name):
    """Where a count says that no rate of a class is below a level, the dense matrix has none."""
    whole = Linearisation(full_field(crystal(name)[0]), 48)
    above = 0
    for block in (whole.matrices(table) for table in whole.tables):
        lowest = block.lowest(1)[0].level
        # As far as rounding lets tell.
        for level in (0.01, 0.3, 2.0, lowest - 1e-10 * block.top, lowest + 1e-10 * block.top):
            said = level > 0.0 and block.none_below(level)
            assert lowest > level or not said
            above += said
    assert above > 3


@pytest.mark.parametrize("degree", [20, 24, 28])
def test_slow_rates_are_told_by_the_slopes_of_their_vectors(degree):
    """Rods in a field that turn into each other slowly: rounding of W hides digits that its factor on the grid has."""
    problem = McKeanVlasov(Sphere(3), MaierSaupe(), coupling=16.0, confinement=GegenbauerSeries((0.0, 0.1)))
    hidden = 0
    for state in (state for state in stationary_states(problem, rates=False) if state.layout == "order"):
        whole = Linearisation(full_field(state), degree)
        for block in (whole.matrices(table) for table in whole.tables):
            pair = block.slowest(-np.inf)
            level, error = rate_by_slopes(block, pair)
            if block.rounding(pair) > 1e-10 * abs(level) > error:
                exact = lowest_level(block)
                assert abs(level - exact) < error
                hidden += abs(pair.level - exact) > error
    assert hidden


def test_a_class_of_one_function_has_no_other_pair():
    whole = Linearisation(full_field(crystal("octahedral")[0]), 4)
    (block, *_) = (
        block for block in map(whole.matrices, whole.tables) if block.table.size == 1 + block.kernel.shape[1]
    )
    pair = block.slowest(-np.inf)
    assert block.next_to(pair) is None
    assert rate_by_slopes(block, pair) == (pair.level, np.inf)


@pytest.mark.parametrize("coupling", [36.0, 40.0, 44.0, 56.0, 64.0])
def test_rates_of_exchange_below_rounding_are_neither_growths_nor_those_of_others(coupling):
    """Rods in a field change their side ever more rarely: W is singular to rounding in the class of that."""
    problem = McKeanVlasov(Sphere(3), MaierSaupe(), coupling=coupling, confinement=GegenbauerSeries((0.0, 0.1)))
    (state,) = (
        state for state in stationary_states(problem, rates=False) if state.layout == "order" and state.minimiser
    )
    exact = spectrum(state).slowest_rate
    assert abs(exact) < 1e-12
    assert slowest_rate(state) == pytest.approx(exact, rel=full_rates.RELATIVE_TOLERANCE, abs=4.0 * EPS)


@pytest.mark.parametrize("name", ["octahedral", "cubic", "tetrahedral", "prismatic"])
def test_what_is_expected_of_a_state_does_not_matter(name):
    """Whichever class is tried first, whatever rate it is thought to have, and wherever growth is suspected."""
    state = crystal(name)[0]
    exact = slowest_rate(state)
    tables = Linearisation(full_field(state), 20).tables
    for count, table in enumerate(tables):
        for level in (-1e4, -2.0, 0.0, 50.0):
            growing = frozenset(each.first for each in tables[count:])
            rate, expected = full_rates._slowest(state, full_rates.Expected(table.first, level, growing))
            assert rate == pytest.approx(exact, rel=2.0 * full_rates.TRUNCATION_TOLERANCE)
            assert rate == pytest.approx(state.problem.noise * expected.level, rel=1e-15)
            assert full_rates._slowest(state, expected)[0] == pytest.approx(exact, rel=2e-9)


@pytest.mark.parametrize("name", ["octahedral", "octahedral metastable", "cubic", "tetrahedral", "prismatic"])
def test_the_second_variation_bounds_the_rates_of_classes(name):
    """It has a bound of all classes in which nothing grows, and of no other."""
    whole = Linearisation(full_field(crystal(name)[0]), 48)
    bounds = bounds_by_second_variation(whole)
    for table in whole.tables:
        level = whole.matrices(table).lowest(1)[0].level
        assert (level > 0.0) == (table.first in bounds)
        assert level >= bounds.get(table.first, -np.inf)
        # Rounding times the size of W.
        assert bounds.get(table.first, 0.0) > -1e-3


def test_repulsive_degrees_leave_out_classes_as_well():
    potential = GegenbauerSeries((-1.0, -1.5, 0.7, -2.0))
    states = stationary_states(McKeanVlasov(Sphere(3), potential, coupling=6.0), rates=False)
    stable = 0
    for state in [state for state in states if not state.moments.has_axis][:6]:
        whole = Linearisation(full_field(state), 40)
        bounds = bounds_by_second_variation(whole)
        for table in whole.tables:
            level = whole.matrices(table).lowest(1)[0].level
            assert (level > 0.0) == (table.first in bounds)
            stable += level > 0.0
    assert stable


def test_no_more_harmonics_are_asked_for_than_are_affordable(monkeypatch):
    field = full_field(turned(cut(crystal("tetrahedral")[0], 8), SEVERAL_TURNS))
    wanted = full_rates.resolved(field, 1e-12, 20).degree
    monkeypatch.setattr("solvers.linear_algebra.lanczos.LARGEST_SIZE", (wanted - 1) ** 2)
    assert 20 < full_rates.resolved(field, 1e-12, 20).degree <= wanted - 2
    with pytest.raises(NotResolved, match="modes"):
        full_rates.resolved(field, 1e-12, 0)


def test_multiplicities_are_those_of_the_representations():
    """Those of the icosahedral group have the dimensions 1, 3, 4, 5, of the octahedral one 1, 2, 3."""
    for name, sizes in (("icosahedral", {1, 3, 4, 5}), ("octahedral", {1, 2, 3})):
        values = spectrum(crystal(name)[0]).eigenvalues
        groups = np.split(values, np.flatnonzero(np.diff(values) < -1e-7 * np.abs(values[1:])) + 1)
        assert {len(group) for group in groups[:-1]} <= sizes
        assert max(len(group) for group in groups) == max(sizes)


def test_fold_of_the_octahedral_branch():
    """The branch of W = -P_4 turns, where the mode of its own symmetry is neutral."""
    basis = InvariantBasis(OCTAHEDRAL, np.array([4]), 64)

    def coupling(amplitude):
        return 3.0 * amplitude / float(basis.means(moments(amplitude))[0])

    def moments(amplitude):
        return basis.gibbs(np.array([3.0 * amplitude])).moments

    fold = minimize_scalar(coupling, bracket=(0.5, 0.7, 0.9), options={"xtol": 1e-10})
    assert abs(fold.fun - problems.OCTAHEDRAL.exact("fold")) < 1e-12
    problem = McKeanVlasov(Sphere(3), single(4), coupling=fold.fun)
    state = State(problem, *basis.expand(moments(fold.x)), {}, None, 1, EPS, 64, layout="order")
    found = spectrum(state)
    # The minimum of the coupling is known to the root of its rounding.
    assert np.count_nonzero(np.abs(found.even) < 1e-6) == 1
    assert not np.count_nonzero(np.abs(found.odd) < 1e-2)


def test_turning_a_state_changes_nothing():
    state = cut(crystal("tetrahedral")[0], 8)
    image = turned(state, SEVERAL_TURNS)
    assert full_field(state).symmetry.cyclic
    assert full_field(image).symmetry[:2] == (((1, 1, 1),), 1)
    expected, found = spectrum(state), spectrum(image)
    assert_agree(found.eigenvalues, expected.eigenvalues, 1e-10)
    assert abs(slowest_rate(image) / expected.slowest_rate - 1.0) < 1e-9
    assert found.rotation_overlap > 1.0 - 1e-9
    assert abs(found.rotation) < 1e-10


def test_symmetries_are_read_off_the_moments():
    symmetry = full_field(crystal("octahedral")[0]).symmetry
    assert (len(symmetry.reflections), symmetry.turns, symmetry.cyclic) == (8, 4, True)
    symmetry = full_field(crystal("prismatic")[0]).symmetry
    assert set(symmetry.reflections) == {(1, 1, 1), (1, -1, 1), (1, 1, -1), (1, -1, -1)}
    assert (symmetry.turns, symmetry.cyclic) == (3, False)
    moved = turned(cut(crystal("prismatic")[0], 6), np.array([[0.0, 0, 1], [1, 0, 0], [0, 1, 0]]))
    assert set(full_field(moved).symmetry.reflections) == {(1, 1, 1), (1, 1, -1), (-1, 1, 1), (-1, 1, -1)}


def test_zonal_states_by_degree_and_order():
    clustered = problems.CLUSTERED_SPHERICAL_ATTENTION
    problem, rate = clustered.problem, clustered.exact("rate of order 0")
    basis = ZonalBasis(Sphere(3), np.arange(1, 20), 64)
    state = solved(problem, basis, 3.0 / np.arange(1.0, 20.0) ** 3)[0]
    expected = repeated(spectra.spectrum(state))
    assert abs(expected[0] + rate) < 1e-11
    upright = in_order(state)
    for given in (upright, turned(upright, SEVERAL_TURNS)):
        found = spectrum(given)
        assert_agree(found.eigenvalues, expected, 1e-10)
        assert found.unstable == 0
        assert abs(slowest_rate(given) / rate - 1.0) < 1e-8
        assert found.rotation_overlap > 1.0 - 1e-9
        assert abs(found.rotation) < 1e-10
    assert full_field(upright).symmetry.turns > 1000


@pytest.mark.parametrize(("coupling", "rate"), [(12.0, 2e-5), (18.0, 3e-9)])
def test_exchange_over_a_gap_in_the_density(coupling, rate):
    """The two clusters of W = -P_2 exchange mass at a tiny rate, which rounding does not hide."""
    problem = McKeanVlasov(Sphere(3), single(2), coupling=coupling)
    state = solved(problem, ZonalBasis(Sphere(3), np.array([2]), 256), [coupling * 0.9])[0]
    expected = spectra.spectrum(state)
    assert 0.5 * rate < expected.slowest_rate < rate
    image = turned(cut(in_order(state), 8), QUARTER_TURN)
    found = spectrum(image)
    difference = abs(found.slowest_rate - expected.slowest_rate)
    assert difference <= found.error + expected.error
    assert difference < 1e-8 * expected.slowest_rate
    assert abs(slowest_rate(image) / expected.slowest_rate - 1.0) < 1e-8


def test_tiny_rates_do_not_depend_on_the_degree():
    state = crystal("octahedral metastable")[0]
    field, found = full_field(state), spectrum(state)
    whole = Linearisation(field, 76)
    levels = []
    for table in whole.tables:
        pairs = class_values(whole.matrices(table), 0.0).pairs
        levels += table.copies * [pair.level for pair in pairs]
    expected = -np.sort(levels)[:5]
    assert np.abs(expected[:2] / 1.3140731e-6 - 1.0).max() < 1e-7
    assert np.abs(found.eigenvalues[:5] / expected - 1.0).max() < 1e-8
    assert abs(slowest_rate(state) / expected[0] + 1.0) < 1e-8


@pytest.mark.parametrize(
    "field",
    [
        HarmonicSeries((0.0, 0.0, 0.0, -3e-4, 1e-4, 0.0), (0.0,) * 6),
        HarmonicSeries((0.0, 0.0, 0.0, 2e-4, 0.0, 1e-4), (0.0, 0.0, 0.0, 0.0, 1.5e-4, 0.0)),
    ],
)
def test_rates_that_a_weak_field_splits_are_told_apart(field):
    """Directions in which states turn, and those that they grow in, come in pairs that nearly agree."""
    problem = McKeanVlasov(Sphere(3), GegenbauerSeries((0.0, -1.0)), coupling=5.3, confinement=field)
    states = [state for state in stationary_states(problem, rates=False) if state.layout == "order"]
    assert len(states) > 5
    for state in states:
        slowest = spectrum(state).slowest_rate
        assert slowest_rate(state) == pytest.approx(slowest, rel=full_rates.TRUNCATION_TOLERANCE, abs=1e-12)


def test_the_uniform_state():
    problem = McKeanVlasov(Sphere(3), single(3), coupling=3.0)
    moments = np.zeros(15)
    moments[0] = 1.0
    state = State(problem, moments, np.zeros(15), {}, 0, 0, 0.0, 4, layout="order")
    assert abs(slowest_rate(state) - 2.0) < 8 * EPS
    assert spectrum(state).rotation is None


def test_states_that_need_too_many_harmonics_are_refused():
    problem = McKeanVlasov(Sphere(3), single(3), coupling=1e5)
    cosine, sine = np.zeros((2, 10))
    cosine[0], cosine[6], cosine[9] = 1.0, 0.5, 0.5
    state = State(problem, cosine, sine, {}, None, 1, EPS, 3, layout="order")
    with pytest.raises(NotResolved, match="harmonics of degree"):
        slowest_rate(state)


@pytest.mark.parametrize(("degree", "strength"), [(17, 0.9), (21, 1.005), (21, 0.4)])
def test_degrees_that_a_state_has_not_may_attract_its_perturbations(degree, strength):
    """A state of degree 4 does not know of another degree; its perturbations do, as the whole spectrum says."""
    plain = McKeanVlasov(Sphere(3), GegenbauerSeries((0.0, 0.0, 0.0, -1.0)), coupling=9.18)
    weights = np.zeros(degree)
    weights[3], weights[-1] = -1.0, -strength * (2 * degree + 1) / 9.18
    problem = McKeanVlasov(Sphere(3), GegenbauerSeries(tuple(weights)), coupling=9.18)
    for state in stationary_states(plain, rates=False):
        if state.layout == "order":
            at = state.replace(problem=problem)
            assert slowest_rate(at) == pytest.approx(spectrum(at).slowest_rate, rel=1e-8)
