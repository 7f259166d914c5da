"""Curves of branch points of laws without a Gibbs map: against softmax attention's, diagrams and the dense equation."""

import functools

import numpy as np
import pytest
from scipy.optimize import brentq

from meanfield import (
    Circle,
    Curve,
    External,
    InvalidInput,
    NormalisedAttention,
    SoftmaxAttention,
    Sphere,
    open_curve,
)
from meanfield.equations import Capability, equation_of
from solvers import bifurcation_diagram, curve, phase_diagram
from solvers.domains import solvers_of
from solvers.two_parameters.in_plane import plane, unknowns
from solvers.two_parameters.in_plane.at_place import block_at, polished, state_at
from solvers.two_parameters.systems.branch_points import BranchPointEquation
from solvers.two_parameters.systems.law_turning import quadratic_of_law, turning_of_law
from solvers.two_parameters.systems.turning import about_other_axis, quadratic, turning
from tests import oracles

RANDOM = np.random.default_rng(41)
# Points on curves are promised to this; derivatives by differences are known to some 1e-10 of far larger ones.
POINT, DIFFERENCE = 1e-11, 1e-6
POINTS = 191
ANGLES = 2.0 * np.pi * np.arange(POINTS) / POINTS


class WithoutMap(SoftmaxAttention):
    """Softmax attention that does not say that it has a Gibbs map."""

    def lacks(self, capability):
        return "this one is kept secret" if capability is Capability.GIBBS_MAP else super().lacks(capability)


def field(*cosine):
    return External(cosine=cosine)


@functools.cache
def events_of(law, domain, confinement, upper, lower=0.0):
    """Return the branch points of a diagram that are not of the uniform state, with the names of their branches."""
    diagram = bifurcation_diagram(equation_of(domain, law, confinement=confinement), (lower, upper), rates=False)
    points = [event for event in diagram.events("branch point") if "uniform" not in event.description]
    return [(diagram.branches[event.branch].label, event) for event in points]


def at_value(found, value):
    """Return the coupling on a curve at an end of its interval."""
    place = int(np.argmin(np.abs(found.first - value)))
    assert found.first[place] == value
    return float(found.coupling[place])


# Every branch point of a diagram is the start of a curve, and its points are branch points of other diagrams

CASES = {
    "octupoles": (Sphere(3), None, 5.0, 16.0, {"azimuthal order 3"}),
    "halved": (Circle(), field(0.0, -0.2), 3.0, 6.0, {"cosine modes of class 1", "sine modes of class 1"}),
    "three wells": (Circle(), field(0.0, 0.0, 0.2), 3.0, 7.0, {"cosine modes of class 1 modulo 3"}),
    "four wells": (
        Circle(),
        field(0.0, 0.0, 0.0, 0.1),
        4.0,
        8.0,
        {"sine modes of class 2", "cosine modes of class 2", "cosine modes of class 1 modulo 4"},
    ),
    "sideways": (Circle(), field(-0.3, 0.1), 3.0, 8.0, {"sine modes of class 0"}),
    "equatorial": (Sphere(3), field(0.0, 0.3), 4.0, 7.0, {"order 0", "order 1", "order 2"}),
    "polar": (Sphere(4), field(0.0, -0.3), 4.0, 8.0, {"order 0", "order 1"}),
    "one pole": (Sphere(5), field(-0.3, 0.3), 4.0, 6.0, {"azimuthal order 1"}),
}


@pytest.mark.parametrize("name", CASES)
def test_every_branch_point_starts_a_curve_of_those_of_other_diagrams(name):
    domain, confinement, beta, upper, classes = CASES[name]
    value = float(beta + RANDOM.uniform(0.05, 0.15))
    starts = events_of(NormalisedAttention(beta), domain, confinement, upper)
    others = events_of(NormalisedAttention(value), domain, confinement, 1.2 * upper)
    assert all(any(each in event.description for _, event in starts) for each in classes)
    for label, event in starts:
        found = curve(event, "beta", (beta, value))
        assert found.type == "branch point"
        assert at_value(found, beta) == pytest.approx(float(event.coupling), rel=POINT)
        there = [
            float(other.coupling)
            for branch, other in others
            if (branch, other.description) == (label, event.description)
        ]
        distances = np.abs(np.array(there) / at_value(found, value) - 1.0)
        assert distances.min() < POINT
        assert found.residual.max() < 1e-13


@pytest.mark.parametrize("name", ["halved", "sideways"])
def test_a_growth_rate_of_the_collocated_equation_vanishes(name):
    """At random values of beta, by the eigenvalues of the whole linearised equation on a grid."""
    domain, confinement, beta, upper, _ = CASES[name]
    force = -confinement.slope(ANGLES)
    for _, event in events_of(NormalisedAttention(beta), domain, confinement, upper):
        value = float(beta - RANDOM.uniform(0.05, 0.15))
        found = curve(event, "beta", (value, beta))
        place = int(np.argmin(np.abs(found.first - value)))
        coupling = at_value(found, value)
        degrees = np.arange(1, found.cosine.shape[1])
        waves = np.multiply.outer(ANGLES, degrees)
        density = 1.0 + 2.0 * np.cos(waves) @ found.cosine[place, 1:]

        def rate(strength, value=value, density=density):
            state = oracles.attention_state("ngpt", value, strength, 1.0, density, force)
            rates = oracles.attention_eigenvalues("ngpt", value, strength, 1.0, state, force)
            # The mass has the eigenvalue that is nearest to zero.
            rates = np.delete(rates, np.argmin(np.abs(rates)))
            return float(rates[np.argmin(np.abs(rates))].real)

        # Beside the branch point, where the rate is told from that of the mass.
        nodes = coupling * (1.0 + 2e-3 * np.array([-2.0, -1.0, 1.0, 2.0]))
        series = np.polynomial.Polynomial.fit(nodes, [rate(each) for each in nodes], 3)
        root = brentq(series, nodes[0], nodes[-1], xtol=1e-15)
        assert root == pytest.approx(coupling, rel=1e-9)


# The same law with and without its Gibbs map


@pytest.mark.parametrize(
    ("domain", "confinement", "upper", "interval"),
    [
        (Circle(), field(0.0, 0.0, 0.0, 0.1), 10.0, (3.9, 4.0)),
        (Sphere(3), field(0.0, 0.3), 12.0, (4.0, 4.15)),
        (Sphere(4), field(0.0, -0.3), 8.0, (4.0, 4.05)),
    ],
)
def test_curves_are_those_of_the_law_with_its_map(domain, confinement, upper, interval):
    beta = 4.0
    known = events_of(SoftmaxAttention(beta), domain, confinement, upper)
    hidden = events_of(WithoutMap(beta), domain, confinement, upper)
    assert hidden
    for label, event in hidden:
        (other,) = (
            each
            for branch, each in known
            if (branch, each.description) == (label, event.description)
            and each.coupling == pytest.approx(float(event.coupling), rel=1e-6)
        )
        found, exact = (curve(each, "beta", interval) for each in (event, other))
        ends = [value for value in interval if value in exact.first]
        assert beta in ends
        for value in ends:
            assert at_value(found, value) == pytest.approx(at_value(exact, value), rel=POINT)
        interactions = [
            [point.values for point in each.special_points if point.type == "mode interaction"]
            for each in (found, exact)
        ]
        assert np.array(interactions[0]) == pytest.approx(np.array(interactions[1]), rel=1e-10)


def test_tricritical_points_are_those_of_the_law_with_its_map():
    confinement = field(0.0, 0.3)
    points = {}
    for law in (SoftmaxAttention(4.0), WithoutMap(4.0)):
        ((_, event),) = (
            each
            for each in events_of(law, Sphere(3), confinement, 12.0)
            if "odd degree of azimuthal order 0" in each[1].description
        )
        found = curve(event, "beta", (3.5, 4.0))
        (points[type(law)],) = (point for point in found.special_points if point.type == "tricritical")
    known, hidden = points[SoftmaxAttention], points[WithoutMap]
    assert hidden.lower <= known.values[0] <= hidden.upper
    assert hidden.upper - hidden.lower < 1e-9
    folds = curve(hidden, "beta", (3.5, 4.0), type="fold")
    exact = curve(known, "beta", (3.5, 4.0), type="fold")
    assert at_value(folds, 4.0) == pytest.approx(at_value(exact, 4.0), rel=POINT)


def test_the_third_order_of_born_branches_is_that_of_the_law_with_its_map():
    beta, seen = 4.0, set()
    for domain, confinement, upper in (
        (Circle(), field(0.0, -0.2), 10.0),
        (Circle(), field(0.0, 0.0, 0.0, 0.1), 15.0),
        (Sphere(4), field(0.0, -0.3), 12.0),
    ):
        for _, event in events_of(SoftmaxAttention(beta), domain, confinement, upper):
            found = []
            for law in (SoftmaxAttention(beta), WithoutMap(beta)):
                problem = equation_of(domain, law, coupling=float(event.coupling), confinement=confinement)
                places = plane.Plane(problem, ("beta", "coupling"), (3.0, 5.0), 1.0, beta, 0.0, np.arange(1, 9))
                place = places.coordinates(beta, float(event.coupling))
                basis, b = unknowns.with_or_without_axis(places, (event.cosine, event.sine), place)
                basis = basis.resized(basis.cells, 2 * basis.nodes)
                state = state_at(places, basis, place, polished(places, basis, place, b))
                for each in solvers_of(problem).geometry.complements(basis, 24):
                    if not (each.pitchfork and each.born_symmetry):
                        continue
                    block = block_at(state, places, each, places.significant(*place, each.degrees(24)))
                    left, sizes, right = np.linalg.svd(block.matrix)
                    if sizes[-1] > 1e-9:
                        continue
                    both = [(block, (right[-1], left[:, -1]))]
                    both += [about_other_axis(*both[0], places)] if each.quarters else []
                    hidden = isinstance(law, WithoutMap)
                    numbers = turning_of_law if hidden else turning
                    found += [numbers(*one, places, 24, own=own) for one in both for own in (True, False)]
                    seen.add((each.symmetry, each.odd, each.quarters))
            half = len(found) // 2
            for exact, other in zip(found[:half], found[half:], strict=True):
                # Null vectors have any sign.
                assert abs(abs(other.value) - abs(exact.value)) <= other.error < 1e-8 * abs(exact.value)
                assert abs(other.determinant) == pytest.approx(abs(exact.determinant), rel=1e-8)
    assert {(2, False, False), (4, True, False), (4, False, True)} <= seen


def test_the_second_order_of_branches_that_leave_a_third_is_that_of_the_law_with_its_map():
    beta, confinement, found = 4.0, field(0.0, 0.0, 0.2), []
    for _, event in events_of(SoftmaxAttention(beta), Circle(), confinement, 12.0):
        given: list = []
        for law in (SoftmaxAttention(beta), WithoutMap(beta)):
            problem = equation_of(Circle(), law, coupling=float(event.coupling), confinement=confinement)
            places = plane.Plane(problem, ("beta", "coupling"), (3.0, 5.0), 1.0, beta, 0.0, np.arange(1, 9))
            place = places.coordinates(beta, float(event.coupling))
            basis, b = unknowns.with_or_without_axis(places, (event.cosine, event.sine), place)
            basis = basis.resized(basis.cells, 2 * basis.nodes)
            state = state_at(places, basis, place, polished(places, basis, place, b))
            for each in solvers_of(problem).geometry.complements(basis, 24):
                if each.thirds:
                    block = block_at(state, places, each, places.significant(*place, each.degrees(24)))
                    left, sizes, right = np.linalg.svd(block.matrix)
                    # Null vectors have any sign: those of the law without its map are turned to those with it.
                    null = given[-1][1] if given else (right[-1], left[:, -1])
                    signs = [
                        np.sign(one @ other) for one, other in zip(null, (right[-1], left[:, -1]), strict=True)
                    ]
                    null = signs[0] * right[-1], signs[1] * left[:, -1]
                    given += [(block, null, places)] if sizes[-1] < 1e-9 else []
        if given:
            (block, null, _), hidden = given
            chi = block.weights * null[1]
            size = block.complement.integral(block.state.measure(2), block.degrees, np.array([chi, chi]))
            exact = quadratic(block, null) * np.sqrt(size) / np.linalg.norm(chi)
            value, error = quadratic_of_law(*hidden)
            assert abs(value - exact) <= error < 1e-8 * abs(exact)
            found.append(value)
    assert found


# What the followed equation is


@pytest.mark.parametrize(
    ("domain", "law", "confinement", "symmetry", "names"),
    [
        (Circle(), NormalisedAttention(3.0), field(0.2, -0.3), 1, ("beta", "coupling")),
        (Circle(), NormalisedAttention(3.0), field(0.2, -0.3), 1, ("beta", "noise")),
        (Circle(), NormalisedAttention(3.0), field(0.2, -0.3), 1, ("confinement_cosine1", "coupling")),
        (Circle(), NormalisedAttention(3.0), field(0.0, 0.0, 0.0, 0.2), 4, ("beta", "coupling")),
        (Circle(), SoftmaxAttention(-3.0), field(0.2, -0.3), 1, ("beta", "coupling")),
        (Sphere(3), NormalisedAttention(3.0), None, 1, ("beta", "coupling")),
        (Sphere(5), NormalisedAttention(3.0), None, 2, ("beta", "coupling")),
        (Sphere(3), NormalisedAttention(3.0), field(0.2, -0.3), 1, ("confinement_cosine1", "noise")),
        (Sphere(4), SoftmaxAttention(-3.0), None, 1, ("beta", "noise")),
    ],
)
def test_derivatives_of_the_extended_system(domain, law, confinement, symmetry, names):
    """At places that are none of its solutions; among modes that do not rotate the state, of every class."""
    problem = equation_of(domain, law, coupling=6.0, confinement=confinement)
    start = problem.parameters[names[0]]
    other = start if "coupling" in names else problem.parameters[names[1]]
    places = plane.Plane(problem, names, (start - 1.0, start + 1.0), 1.0, other, 0.0, np.arange(1, 9))
    place = places.coordinates(start, problem.parameters[names[1]])
    moments = np.zeros(9)
    moments[0], moments[symmetry::symmetry] = 1.0, 0.2
    basis = unknowns.basis_of(places, moments, place)
    b = np.zeros(basis.degrees.size)
    b[:4] = RANDOM.uniform(0.05, 0.2, 4)[: b.size]
    checked = 0
    for each in solvers_of(problem).geometry.complements(basis, 8):
        degrees = places.significant(*place, each.degrees(8))
        if each.rotates(confinement is not None) or getattr(each, "order", 0) > 3 or not degrees.size:
            continue
        left, _, right = np.linalg.svd(block_at(state_at(places, basis, place, b), places, each, degrees).matrix)
        equation = BranchPointEquation(places, (basis,), each, degrees, 8, (left[:, -1], right[-1]))
        unknown, q, step = np.append(b, place[0]), place[1], 1e-3
        matrix, derivative = equation.linearise(unknown, q, unknown)
        along, in_q = RANDOM.normal(size=unknown.size), RANDOM.normal()
        along[:-1] /= np.arange(1, unknown.size) ** 2
        far, near, after, beyond = (
            equation.evaluate(unknown + k * step * along, q + k * step * in_q).residual for k in (-2, -1, 1, 2)
        )
        exact = (8 * (after - near) - (beyond - far)) / (12 * step)
        assert matrix @ along + derivative * in_q == pytest.approx(exact, abs=DIFFERENCE)
        checked += 1
    assert checked


def test_states_of_too_many_harmonics_are_not_resolved():
    problem = equation_of(Sphere(3), NormalisedAttention(3.0), coupling=6.0)
    places = plane.Plane(problem, ("beta", "coupling"), (2.0, 4.0), 1.0, 3.0, 0.0, np.arange(1, 9))
    place = places.coordinates(3.0, 6.0)
    basis = unknowns.basis_of(places, np.append(1.0, np.full(4, 0.2)), place)
    unknown = np.append(0.1 / np.arange(1, basis.degrees.size + 1) ** 3, place[0])
    each = next(one for one in solvers_of(problem).geometry.complements(basis, 8) if one.order == 3)
    degrees = places.significant(*place, each.degrees(8))
    for nodes, known in ((64, True), (520, False)):
        finer = basis.resized(basis.cells, nodes)
        block = block_at(state_at(places, finer, place, unknown[:-1]), places, each, degrees)
        left, _, right = np.linalg.svd(block.matrix)
        equation = BranchPointEquation(places, (finer,), each, degrees, 8, (left[:, -1], right[-1]))
        assert block.resolved == known
        moments = equation.evaluate(unknown, place[1]).gibbs.moments
        if not known:
            assert not equation.resolves(unknown, place[1], moments)
            assert equation.refined(unknown, place[1], moments) is None


# Other planes, organising points and phase diagrams


def test_curves_in_other_parameters_go_on_from_points_of_curves():
    ((_, event),) = events_of(NormalisedAttention(3.0), *CASES["sideways"][:2], 8.0)
    found = curve(event, "beta", (2.8, 3.0))
    noise = curve(found.point(0), "noise", (0.9, 1.0), against="coupling")
    place = int(np.argmin(noise.first))
    problem = noise.point(place).problem
    other = bifurcation_diagram(problem.at(coupling=None), (0.0, 8.0), rates=False).events("branch point")
    assert noise.first[place] == 0.9
    assert noise.coupling[place] == pytest.approx(float(other[0].coupling), rel=POINT)
    strength = curve(event, "confinement_cosine1", (-0.3, -0.25), against="beta")
    place = int(np.argmax(strength.first))
    problem = strength.point(place).problem
    other = bifurcation_diagram(problem.at(coupling=None), (0.0, 8.0), rates=False).events("branch point")
    assert float(problem.fixed_coupling) == pytest.approx(float(other[0].coupling), rel=POINT)


def test_exchange_of_mass_between_poles_that_is_nearly_none():
    """With little noise a class has a local rate that is exponentially small, at which curves do not stop."""
    (event,) = (
        each
        for _, each in events_of(NormalisedAttention(4.0), Sphere(3), field(0.0, -0.3), 5.0)
        if "azimuthal order 0" in each.description
    )
    found = curve(event, "noise", (0.02, 1.0))
    assert at_value(found, 0.02) > 0.0
    assert found.residual.max() < 1e-13
    place = int(np.argmin(np.abs(found.first - 0.06)))
    coupling = float(found.coupling[place])
    problem = event.problem.at(coupling=None).with_parameter("noise", float(found.first[place]))
    diagram = bifurcation_diagram(problem, (0.9 * coupling, 1.1 * coupling), rates=False)
    (other,) = (each for each in diagram.events("branch point") if "azimuthal order 0" in each.description)
    assert float(other.coupling) == pytest.approx(coupling, rel=POINT)


def test_two_directions_are_critical_at_one_point_of_two_curves():
    """A state about the equator loses its evenness and its axis at once."""
    starts = {
        event.description: event for _, event in events_of(NormalisedAttention(4.0), *CASES["equatorial"][:2], 7.0)
    }
    points = []
    for words in ("odd degree of azimuthal order 0", "even degree of azimuthal order 2"):
        (event,) = (each for text, each in starts.items() if words in text)
        found = curve(event, "beta", (3.9, 4.1))
        points += [point for point in found.special_points if point.type == "mode interaction"]
    one, other = points
    assert one.values == pytest.approx(other.values, rel=1e-10)


def test_folds_begin_at_tricritical_points_and_pass_branch_points():
    """Of negative beta in two wells: a fold curve ends where the branch of one cluster turns continuous."""
    problem = equation_of(Circle(), NormalisedAttention(-3.0), confinement=field(0.0, -0.2))
    diagram = bifurcation_diagram(problem, (2.8, 3.0), rates=False)
    (event,) = (each for each in diagram.events("branch point") if "cosine modes of class 1" in each.description)
    found = curve(event, "beta", (-3.0, -1.5))
    (point,) = (each for each in found.special_points if each.type == "tricritical")
    folds = curve(diagram.events("fold")[0], "beta", (-3.0, -1.5))
    (end,) = folds.special_points
    assert end.type == "tricritical"
    assert end.values == pytest.approx(point.values, rel=1e-9)


def test_a_fold_and_a_branch_point_at_one_state():
    """On a fold curve a direction of another symmetry is critical too."""
    problem = equation_of(Circle(), NormalisedAttention(-5.5), confinement=field(0.0, -0.2))
    diagram = bifurcation_diagram(problem, (4.0, 5.6), rates=False)
    kinds = []
    for event in diagram.events("fold"):
        found = curve(event, "beta", (-5.9, -5.5))
        kinds += [point.type for point in found.special_points]
    assert "mode interaction" in kinds


def test_regions_are_bounded_by_branch_points(tmp_path):
    problem = equation_of(Circle(), NormalisedAttention(3.0), confinement=field(0.0, -0.2))
    found = phase_diagram(problem, ("beta", (2.5, 3.5)), coupling=(2.0, 6.0), sections=2)
    assert {each.type for each in found.curves} == {"branch point", "fold"}
    assert {region.name for region in found.regions} == {"1-cluster, 1 stable state", "primary, 1 stable state"}
    assert all(region.agrees for region in found.regions)
    assert not any("is not followed" in warning for warning in found.warnings)
    # The branch born there turns at a tricritical point, beyond which diagrams have its fold.
    (point,) = found.special_points
    assert point.type == "tricritical"
    folds = curve(point, "beta", (3.0, 3.12), type="fold")
    there = bifurcation_diagram(problem.with_parameter("beta", 3.12), (3.8, 5.0), rates=False)
    (fold,) = there.events("fold")
    assert at_value(folds, 3.12) == pytest.approx(float(fold.coupling), rel=POINT)
    kept = found.curves[0]
    path = tmp_path / "curve.nc"
    kept.save(path)
    again = open_curve(path)
    assert isinstance(again, Curve)
    assert np.array_equal(again.coupling, kept.coupling)


def test_what_is_not_known_of_born_branches_is_said():
    (label, event), *_ = events_of(NormalisedAttention(5.0), *CASES["octupoles"][:2], 16.0)
    assert label == "oblate"
    found = curve(event, "beta", (4.9, 5.0))
    assert any("tricritical points of the curve are not looked for" in warning for warning in found.warnings)
    lines = "no curve of the type 'transition' leaves such a point"
    with pytest.raises(InvalidInput, match=lines):
        curve(event, "beta", (4.9, 5.0), type="transition")
