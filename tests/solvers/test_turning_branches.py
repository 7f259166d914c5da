"""Where branches born at branch points turn: their third order against quadrature, and against folds and diagrams."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.special import eval_gegenbauer, lpmv, roots_gegenbauer

from meanfield import (
    Circle,
    CosineSeries,
    GegenbauerSeries,
    McKeanVlasov,
    SoftmaxAttention,
    Sphere,
)
from meanfield.equations import equation_of
from solvers import bifurcation_diagram, curve
from solvers.bases import InvariantBasis
from solvers.domains import solvers_of
from solvers.sphere.groups import OCTAHEDRAL
from solvers.two_parameters.in_plane import plane, unknowns
from solvers.two_parameters.in_plane.at_place import block_at, state_at
from solvers.two_parameters.systems.turning import about_other_axis, quadratic, turning

RANDOM = np.random.default_rng(14)
# Coefficients of powers of the amplitude come from values on a circle of this radius around zero.
RADIUS, SAMPLES = 0.1, 32
# The last degree of the potentials and of the classes of squares.
LAST = 8


class Grid:
    """Modes on points of a domain: own, of a block and of the class of squares, of unit size at the pole or axis."""

    def __init__(self, own, block, squares, weights):
        self.own, self.block, self.squares, self.weights = own, block, squares, weights / weights.sum()

    @classmethod
    def of_circle(cls, own, degrees, squares, sign):
        angles = 2 * np.pi * np.arange(512) / 512
        functions = np.cos if sign > 0 else np.sin
        return cls(
            np.cos(np.outer(own, angles)),
            functions(np.outer(degrees, angles)),
            np.cos(np.outer(squares, angles)),
            np.ones(512),
        )

    @classmethod
    def of_sphere(cls, dimension, order, own, degrees, squares):
        """By the angle to the axis, and that of the direction across to a fixed one."""
        index = 0.5 * dimension - 1
        heights, weights = roots_gegenbauer(80, index)
        if dimension == 3:
            across = np.pi * (np.arange(32) + 0.5) / 32
            measure = np.ones(32)
        else:
            cosines, measure = roots_gegenbauer(24, index - 0.5)
            across = np.arccos(cosines)
        both = np.outer(weights / weights.sum(), measure / measure.sum())

        def harmonics(order, chosen):
            ring = (
                np.cos(order * across)
                if dimension == 3
                else [np.ones_like(across), np.cos(across), np.cos(across) ** 2 - 1 / (dimension - 1)][order]
            )
            found = []
            for degree in chosen:
                polar = (1 - heights**2) ** (order / 2) * eval_gegenbauer(degree - order, index + order, heights)
                values = np.outer(polar, ring)
                values /= np.sqrt(Sphere(dimension).multiplicity(int(degree)) * (both * values**2).sum())
                found.append((np.sign(polar[-1]) * values).ravel())
            return np.array(found).reshape(len(found), both.size)

        return cls(harmonics(0, own), harmonics(order, degrees), harmonics(2 * order, squares), both.ravel())

    @classmethod
    def of_group(cls, own, complement, degrees, further, squares):
        heights, weights = np.polynomial.legendre.leggauss(48)
        azimuths = 2 * np.pi * np.arange(64) / 64
        tables = {degree: harmonics(degree, heights, azimuths) for degree in {*own, *degrees, *squares}}

        def invariants(group, chosen, without=None):
            rows = []
            for degree in sorted(set(chosen)):
                found = group.harmonics(degree)
                if without is not None:
                    found = found - found @ without.harmonics(degree).T @ without.harmonics(degree)
                    _, sizes, found = np.linalg.svd(found)
                    found = found[: np.count_nonzero(sizes > 0.5)]
                rows += [*(found @ tables[degree])]
            return np.array(rows).reshape(-1, 48 * 64)

        return cls(
            invariants(complement.group, own),
            invariants(complement.subgroup, degrees, complement.group),
            invariants(further.subgroup, squares, complement.group) if further else np.zeros((0, 48 * 64)),
            np.repeat(weights, 64),
        )

    def means(self, modes, density, field):
        """Return the means of modes under a density that is a function of the field."""
        values = density(field) * self.weights
        return modes @ values / values.sum()


def harmonics(degree, heights, azimuths):
    """Return the harmonics of a degree on a product grid, cosines of all orders and then sines."""
    orders = np.arange(degree + 1)
    polar = np.array([lpmv(order, degree, heights) * (-1.0) ** order for order in orders])
    waves = np.concatenate([np.cos(np.outer(orders, azimuths)), np.sin(np.outer(orders[1:], azimuths))])
    values = polar[np.append(orders, orders[1:])][:, :, None] * waves[:, None, :]
    weights = np.polynomial.legendre.leggauss(heights.size)[1]
    squares = np.einsum("i,kij->k", weights, values**2) / (2.0 * azimuths.size)
    return (values / np.sqrt((2 * degree + 1) * squares)[:, None, None]).reshape(2 * degree + 1, -1)


def taylor(function):
    """Return the coefficients of a function of one variable around zero by its values on a circle."""
    nodes = RADIUS * np.exp(2j * np.pi * np.arange(SAMPLES) / SAMPLES)
    values = np.array([function(node) for node in nodes])
    powers = RADIUS ** np.arange(SAMPLES)
    return (np.fft.fft(values, axis=0) / SAMPLES / powers.reshape(-1, *[1] * (values.ndim - 1))).real


def third_order(grid, modes, density, field, strengths, chi, phi):
    """Return the coefficient of the third power of the amplitude of phi in the mean of chi, values on the grid.

    Modes of the state and of the class of squares follow: their moments are, in second order, the means.
    """
    responses = [
        taylor(lambda step, mode=mode: grid.means(modes, density, field + step * mode))[1] for mode in modes
    ]
    second = taylor(lambda step: grid.means(modes, density, field + step * phi))[2]
    follows = np.linalg.solve(np.eye(len(modes)) - np.array(responses).T * strengths, second)
    curved = (strengths * follows) @ modes
    found = taylor(lambda step: grid.means(chi[None], density, field + step * phi + step**2 * curved)[0])
    return found[3]


def blocks():
    yield "circle, halved", Circle(), CosineSeries, 2, lambda c: c.sign > 0 and c.residue == 1
    yield "circle, sines", Circle(), CosineSeries, 2, lambda c: c.sign < 0 and c.residue == 1
    yield "circle, quartered", Circle(), CosineSeries, 4, lambda c: c.residue == 1
    yield "circle, sixths", Circle(), CosineSeries, 6, lambda c: c.residue == 1
    yield "circle, thirds of six", Circle(), CosineSeries, 6, lambda c: c.residue == 3 and c.sign > 0
    yield "sphere, halved", Sphere(3), GegenbauerSeries, 2, lambda c: c.order == 0
    yield "sphere, order 2", Sphere(3), GegenbauerSeries, 1, lambda c: c.order == 2
    yield "sphere, order 3 even", Sphere(3), GegenbauerSeries, 2, lambda c: c.order == 3 and c.parity == 0
    yield "S^4, order 1", Sphere(5), GegenbauerSeries, 2, lambda c: c.order == 1 and c.parity == 1


@pytest.mark.parametrize(
    ("domain", "series", "symmetry", "chosen"), [case[1:] for case in blocks()], ids=[case[0] for case in blocks()]
)
def test_third_orders_are_those_of_quadrature(domain, series, symmetry, chosen):
    given = {"dimension": 5} if domain == Sphere(5) else {}
    problem = McKeanVlasov(domain, series(-RANDOM.uniform(0.2, 1.0, 8), **given), coupling=1.3)
    places = plane.Plane(problem, ("w2", "coupling"), (-3.0, 3.0), 1.0, 0.0, 0.0, np.arange(1, 9))
    check(places, places.coordinates(problem.parameters["w2"], 1.3), symmetry, chosen)


def test_branches_about_the_other_axis_of_a_state_are_told_apart():
    problem = McKeanVlasov(Circle(), CosineSeries(-RANDOM.uniform(0.2, 1.0, 8)), coupling=1.3)
    places = plane.Plane(problem, ("w2", "coupling"), (-3.0, 3.0), 1.0, 0.0, 0.0, np.arange(1, 9))
    place = places.coordinates(problem.parameters["w2"], 1.3)
    check(places, place, 4, lambda c: c.residue == 1, other=True)


@pytest.mark.parametrize(
    ("domain", "symmetry", "chosen"),
    [(case[1], *case[3:]) for case in blocks()],
    ids=[case[0] for case in blocks()],
)
def test_third_orders_of_softmax_are_those_of_quadrature(domain, symmetry, chosen):
    problem = equation_of(domain, SoftmaxAttention(3.0), coupling=4.0)
    places = plane.Plane(problem, ("beta", "coupling"), (2.0, 4.0), 1.0, 3.0, 0.0, np.arange(1, 9))
    power = 4.0 / 3.0
    check(
        places,
        places.coordinates(3.0, 4.0),
        symmetry,
        chosen,
        lambda field: (1.0 + field / power) ** power,
        1.0 / power,
    )


@pytest.mark.parametrize(
    "law", [CosineSeries(-RANDOM.uniform(0.2, 1.0, 8)), SoftmaxAttention(3.0)], ids=["gradient", "softmax"]
)
def test_in_a_field_the_other_axis_is_that_of_the_opposite_field(law):
    """Turned by half a period, a state in one field is its image, of alternating signs, in the other."""
    found = []
    unknown, null = RANDOM.uniform(-0.2, 0.3, 3), RANDOM.normal(size=(2, 4))
    for sign in (1.0, -1.0):
        field = CosineSeries((0.0, 0.0, 0.0, 0.1 * sign, 0.0, 0.0, 0.0, 0.05))
        problem = equation_of(Circle(), law, coupling=1.3, confinement=field)
        places = plane.Plane(problem, ("noise", "coupling"), (0.5, 1.5), 1.0, 0.0, 0.0, np.arange(1, 9))
        place = places.coordinates(1.0, 1.3)
        named = np.zeros(9)
        named[::4] = 1.0
        basis = unknowns.basis_of(places, named, place).resized(np.array([1, 2]), 64)
        b = unknown[:2] * np.where(basis.cells % 2, sign, 1.0)
        state = state_at(places, basis, place, b)
        complement = next(c for c in solvers_of(problem).geometry.complements(basis, 8) if c.residue == 1)
        block = block_at(state, places, complement, complement.degrees(8))
        # Of the degrees 1, 3, 5 and 7 the middle ones belong to odd cells.
        signs = np.where(np.isin(block.degrees, (3, 5)), sign, 1.0)
        vectors = (signs * null[0], signs * null[1])
        if sign < 0.0:
            block, vectors = about_other_axis(block, vectors, places)
        found.append(turning(block, vectors, places, 8))
    assert found[0].value == pytest.approx(found[1].value, rel=1e-10)


def state_of(places, place, symmetry):
    """Return a state at random moments, with an axis."""
    moments = np.zeros(8 * symmetry + 1)
    moments[0], moments[symmetry::symmetry] = 1.0, RANDOM.uniform(0.1, 0.3, 8)
    basis = unknowns.basis_of(places, moments, place)
    b = np.zeros(basis.degrees.size)
    b[:3] = RANDOM.uniform(-0.2, 0.3, b[:3].size)
    return state_at(places, basis, place, b)


def check(places, place, symmetry, chosen, density=np.exp, saturation=0.0, *, other=False):
    state = state_of(places, place, symmetry)
    basis = state.weighted.basis
    complement = next(filter(chosen, solvers_of(places.problem).geometry.complements(basis, 8)))
    degrees = places.significant(*place, complement.degrees(8))
    block = block_at(state, places, complement, degrees)
    null = RANDOM.normal(size=(2, degrees.size)) / degrees
    if other:
        block, null = about_other_axis(block, null, places)
        places = replace(places, axis=np.pi / basis.symmetry)
    squares = degrees[:0] if complement.squares is None else complement.squares.degrees(8)
    grid = (
        Grid.of_circle(basis.degrees, degrees, squares, complement.sign)
        if basis.cosines is not None
        else Grid.of_sphere(places.problem.domain.dimension, complement.order, basis.degrees, degrees, squares)
    )
    compare((block, null, null), grid, places, squares, density, saturation)


def compare(given, grid, places, squares, density=np.exp, saturation=0.0):
    """Compare turning functions, with the state's own modes and without, with quadrature times the determinants.

    ``given`` are the block and the null vectors on the modes of the grid, and those that the function is given.
    """
    block, null, exact = given
    state, place = block.state, block.state.place
    chi = (exact[1] / block.degrees) @ grid.block
    phi = (exact[0] * block.coefficients.attractions * block.degrees) @ grid.block
    phi /= np.abs(phi).max()
    field = state.field @ grid.own
    masses = density(field) * grid.weights / (density(field) @ grid.weights)
    u = 1.0 + saturation * field
    linear, square = masses @ (chi * phi / u), masses @ (phi / u) ** 2
    beside = 1.0
    if squares.size:
        beside = np.linalg.det(block_at(state, places, block.complement.squares, squares).matrix)
    for own in (True, False):
        found = turning(block, null, places, LAST, own=own)
        strengths = state.coefficients.attractions if own else np.zeros(0)
        if squares.size:
            strengths = np.append(strengths, places.coefficients(*place, squares).attractions)
        modes = np.concatenate([grid.own if own else grid.own[:0], grid.squares])
        third = third_order(grid, modes, density, field, strengths, chi, phi)
        determinant = beside * (np.linalg.det(state.matrix) if own else 1.0)
        assert found.determinant == pytest.approx(determinant, rel=1e-10)
        assert found.value == pytest.approx(-0.25 * third / (linear * square) * determinant, rel=1e-10)


@pytest.mark.parametrize("symmetry", [3, 6])
@pytest.mark.parametrize("law", [CosineSeries(-RANDOM.uniform(0.2, 1.0, 8)), SoftmaxAttention(3.0)])
def test_second_orders_that_leave_a_third_of_a_symmetry_are_those_of_quadrature(law, symmetry):
    """By values of the density of a state at random moments along a random direction; signs are those of chi."""
    problem = equation_of(Circle(), law, coupling=4.0)
    places = plane.Plane(problem, ("noise", "coupling"), (0.5, 1.5), 1.0, 0.0, 0.0, np.arange(1, 9))
    state = state_of(places, places.coordinates(1.0, 4.0), symmetry)
    s = state.saturation
    complement = next(c for c in solvers_of(problem).geometry.complements(state.weighted.basis, 8) if c.thirds)
    block = block_at(state, places, complement, complement.degrees(8))
    null = RANDOM.normal(size=(2, block.degrees.size)) / block.degrees
    grid = Grid.of_circle(state.weighted.basis.degrees, block.degrees, block.degrees[:0], 1)
    chi = (block.weights * null[1]) @ grid.block
    phi = (block.coefficients.attractions * null[0] / block.weights) @ grid.block
    field = state.field @ grid.own

    def density(values):
        return np.exp(values) if s == 0.0 else (1.0 + s * values) ** (1.0 / s)

    second = taylor(lambda step: grid.means(chi[None], density, field + step * phi)[0])[2]
    masses = density(field) * grid.weights / (density(field) @ grid.weights) / (1.0 + s * field) ** 2
    exact = second / (np.sqrt(masses @ chi**2) * (masses @ phi**2))
    assert (s > 0.0) == isinstance(law, SoftmaxAttention)
    for sign in (1.0, -1.0):
        assert quadratic(block, (null[0], sign * null[1])) == pytest.approx(sign * exact, rel=1e-10)


def test_third_orders_among_the_harmonics_of_subgroups():
    """All classes in which one of the directions of a cubic state nearest to neutral is changed by squares alone."""
    problem = McKeanVlasov(Sphere(3), GegenbauerSeries(-RANDOM.uniform(0.2, 1.0, 6)), coupling=9.0)
    places = plane.Plane(problem, ("w2", "coupling"), (-3.0, 3.0), 1.0, 0.0, 0.0, np.arange(1, 7))
    place = places.coordinates(problem.parameters["w2"], 9.0)
    basis = InvariantBasis(OCTAHEDRAL, OCTAHEDRAL.admissible(6), 32)
    state = state_at(places, basis, place, np.array([0.04, -0.01]))
    with_squares = 0
    for complement in solvers_of(problem).geometry.complements(basis, 6):
        further = complement.squares
        if (
            not complement.pitchfork
            or complement.rotates(False)
            or (further is not None and further.rotates(False))
        ):
            continue
        degrees = complement.degrees(6)
        squares = degrees[:0] if further is None else further.degrees(6)
        if squares.size >= degrees.size:
            continue
        grid = Grid.of_group(basis.degrees, complement, degrees, further, squares)
        block = block_at(state, places, complement, degrees)
        masses = np.exp(state.field @ grid.own) * grid.weights
        covariance = (grid.block * masses) @ grid.block.T / masses.sum()
        matrix = np.eye(degrees.size) - covariance * (block.coefficients.attractions * degrees) / degrees[:, None]
        left, _, right = np.linalg.svd(matrix)
        for place_of in range(degrees.size):
            phi = (right[place_of] * block.coefficients.attractions * degrees) @ grid.block
            if squares.size and np.abs(grid.squares @ (phi * grid.weights)).max() > 1e-12 * np.abs(phi).max():
                # It is changed by none of the elements that squares have.
                continue
            exact = right[place_of], left[:, place_of]
            own_left, _, own_right = np.linalg.svd(block.matrix)
            null = own_right[place_of], own_left[:, place_of]
            with_squares += squares.size > 0
            compare((block, null, exact), grid, places, squares)
    assert with_squares > 5


@pytest.mark.parametrize(
    ("series", "label", "born", "near"),
    [
        ((0.0, -0.759, 0.0, -0.492), "oblate", "D_4h from oblate", (-0.58352278, 8.98507232)),
        ((-0.249, 0.091, -0.593, -0.918), "octahedral", "C_4v from octahedral", (-1.03628236, 7.8964652)),
    ],
)
def test_branches_are_born_to_one_side_before_and_to_the_other_after(series, label, born, near):
    """In diagrams beside the tricritical point of a curve, and of the same curvature at the same distance."""

    def diagram(last):
        problem = McKeanVlasov(Sphere(3), GegenbauerSeries((*series[:3], last)))
        found = bifurcation_diagram(problem, (near[1] - 0.2, near[1] + 0.2), rates=False, depth=2)
        start = min(found.events("branch point", label), key=lambda point: abs(float(point.coupling) - near[1]))
        return found, start

    value = near[0] + 0.01
    found = curve(diagram(value)[1], "w4", (value - 0.03, value + 0.02))
    (point,) = found.special_points
    assert (point.type, point.status) == ("tricritical", "converged")
    assert point.values == pytest.approx(near, rel=1e-8)
    folds, lines = (curve(point, "w4", (value - 0.03, value + 0.02), type=kind) for kind in ("fold", "transition"))
    for each, kind in ((folds, "tricritical"), (lines, "end point")):
        assert each.warnings == ()
        (end,) = [special for special in each.special_points if special.type == kind]
        assert end.values == pytest.approx(point.values, rel=1e-11)
    place = int(np.argmax(np.abs(folds.first - point.values[0])))
    there = min(
        (fold.coupling for fold in diagram(float(folds.first[place]))[0].events("fold", born)),
        key=lambda coupling: abs(coupling - folds.coupling[place]),
    )
    assert folds.coupling[place] == pytest.approx(there, rel=1e-11)
    place = int(np.argmax(np.abs(lines.first - point.values[0])))
    one, other = lines.state(place), lines.state(place, other=True)
    assert one.free_energy_gap == pytest.approx(other.free_energy_gap, abs=1e-14)
    assert abs(one.order_parameter(4) - other.order_parameter(4)) > 1e-4
    # Of the three, the parent loses stability first or last, and equal energies are between: 3/4 of the way.
    assert lines.first[place] == folds.first[place]
    curvatures = []
    for step in (-0.005, 0.005):
        beside, start = diagram(point.values[0] + step)
        branch = next(each for each in beside.branches if each.label == born)
        distances = np.abs(branch.coupling - float(start.coupling))
        place = int(np.argmin(distances))
        after = place + 1 if place + 1 < len(branch) else place - 1
        curvatures.append(
            (branch.coupling[after] - branch.coupling[place])
            / (branch.arclength[after] - branch.arclength[place]) ** 2
        )
    assert curvatures[0] < 0.0 < curvatures[1]
    assert sum(curvatures) < 0.2 * curvatures[1]
