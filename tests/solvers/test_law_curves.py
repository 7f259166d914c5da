"""Curves of folds and branch points under attention with normalised weights, against states on a meridian."""

import functools

import numpy as np
import pytest
from scipy.special import eval_gegenbauer

from meanfield import (
    Circle,
    ContinuityEquation,
    CosineSeries,
    CustomVelocity,
    External,
    InvalidInput,
    NormalisedAttention,
    PhaseLag,
    SoftmaxAttention,
    Sphere,
    critical_coupling,
    critical_couplings,
)
from meanfield.equations import equation_of
from meanfield.theory import tricritical_points
from solvers import bifurcation_diagram, curve
from solvers.domains import solvers_of
from solvers.two_parameters.in_plane import plane, unknowns
from solvers.two_parameters.in_plane.at_place import block_at, state_at
from solvers.two_parameters.systems.branch_points import BranchPointEquation
from solvers.two_parameters.systems.folds import FoldEquation, null_vectors
from tests import zonal_attention
from tests.oracles import extrapolated_slope

RANDOM = np.random.default_rng(2)
LAWS = {"softmax": SoftmaxAttention, "ngpt": NormalisedAttention}
# Points on curves and their slopes are promised to this; derivatives by differences are known to some 1e-10.
POINT, SLOPE, DIFFERENCE = 1e-11, 1e-9, 1e-8


@functools.cache
def diagram_of(normalisation, dimension, beta=5.0):
    problem = equation_of(Sphere(dimension), LAWS[normalisation](beta))
    return bifurcation_diagram(problem, relative=(1.2, 2.8), rates=False)


def curve_of(normalisation, dimension, kind, branch, interval):
    (start,) = diagram_of(normalisation, dimension).events(kind, branch)
    return curve(start, "beta", interval)


def on_meridian(normalisation, dimension, point):
    """Return the field on the nodes of a meridian, and kappa/D, of a point of a curve."""
    angles, uniform, _ = zonal_attention.meridian(dimension)
    index, domain = 0.5 * (dimension - 2), Sphere(dimension)
    density = np.ones_like(angles)
    for degree, moment in enumerate(point.cosine[1:], start=1):
        polynomial = eval_gegenbauer(degree, index, np.cos(angles)) / eval_gegenbauer(degree, index, 1.0)
        density += domain.multiplicity(degree) * moment * polynomial
    ratio, beta = float(point.problem.fixed_coupling), point.problem.parameters["beta"]
    field = ratio * zonal_attention.field_of(normalisation, dimension, beta, uniform * density)
    return field - uniform @ field, ratio


@pytest.mark.parametrize(("normalisation", "dimension"), [("softmax", 3), ("softmax", 5), ("ngpt", 3), ("ngpt", 5)])
def test_folds_are_those_of_states_on_a_meridian(normalisation, dimension):
    beta = RANDOM.uniform(4.0, 4.8)
    found = curve_of(normalisation, dimension, "fold", "prolate", (beta, 5.0))
    point = found.point(0)
    assert point.problem.parameters["beta"] == beta
    exact = zonal_attention.fold(
        normalisation, dimension, beta, point.cosine[2], 0.02, on_meridian(normalisation, dimension, point)
    )
    assert found.coupling[0] == pytest.approx(exact, rel=POINT)
    assert not found.warnings
    assert found.residual.max() < 1e-14
    assert "free_energy_gap" not in found.observables


@pytest.mark.parametrize("normalisation", LAWS)
def test_slopes_are_those_of_neighbouring_folds(normalisation):
    found = curve_of(normalisation, 3, "fold", "prolate", (4.5, 5.0))
    start = on_meridian(normalisation, 3, found.point(0))

    def fold(beta):
        return [zonal_attention.fold(normalisation, 3, beta, found.cosine[0, 2], 0.02, start)]

    exact, error = extrapolated_slope(fold, 4.5, 0.02, levels=3)
    assert error < SLOPE
    assert found.slope[0] == pytest.approx(float(exact[0]), rel=SLOPE)


def test_folds_on_the_circle_with_negative_beta():
    """The attraction of like tokens to each other's antipodes: nGPT's branch of one cluster folds."""
    problem, beta = equation_of(Circle(), NormalisedAttention(-3.0)), RANDOM.uniform(-3.2, -3.05)
    start, exact = (
        bifurcation_diagram(each, relative=(0.97, 1.01), rates=False, depth=1).events("fold")[0]
        for each in (problem, problem.with_parameter("beta", beta))
    )
    found = curve(start, "beta", (beta, -3.0))
    assert found.coupling[0] == pytest.approx(float(exact.coupling), rel=POINT)


def test_branch_points_of_softmax_are_neutral_states_on_a_meridian():
    beta = RANDOM.uniform(4.0, 4.8)
    found = curve_of("softmax", 3, "branch point", "oblate", (beta, 5.0))
    field, ratio = on_meridian("softmax", 3, found.point(0))
    exact = zonal_attention.neutral_ratio(3, beta, 3, (0.98 * ratio, 1.02 * ratio), (field, ratio))
    assert found.coupling[0] == pytest.approx(exact, rel=POINT)


def test_branch_points_in_a_confinement_are_those_of_diagrams():
    confinement = External(cosine=(0.1, 0.3))
    problem = equation_of(Circle(), SoftmaxAttention(4.0), confinement=confinement)
    (start,) = bifurcation_diagram(problem, (3.5, 5.0), rates=False).events("branch point", "primary")
    for name, value in (("beta", 3.2), ("noise", 1.3), ("confinement_cosine2", 0.5)):
        own = start.problem.parameters[name]
        found = curve(start, name, (min(own, value), max(own, value)))
        place = int(np.argmin(np.abs(found.first - value)))
        there = bifurcation_diagram(
            problem.with_parameter(name, value),
            (0.9 * found.coupling[place], 1.1 * found.coupling[place]),
            rates=False,
        )
        (point,) = there.events("branch point", "primary")
        assert found.coupling[place] == pytest.approx(point.coupling, rel=POINT)
        assert not found.warnings


def test_thresholds_of_any_law_are_followed():
    for law in (SoftmaxAttention(3.0), NormalisedAttention(3.0)):
        problem = equation_of(Sphere(3), law)
        diagram = bifurcation_diagram(problem, relative=(0.8, 1.2), rates=False, depth=0)
        found = curve(diagram.events("branch point")[0], "beta", (1.0, 7.0))
        exact = [float(critical_couplings(problem.with_parameter("beta", beta), 1)[1]) for beta in found.first]
        assert found.coupling == pytest.approx(exact, rel=POINT)
        assert not found.warnings
        # That of the gradient law turns at beta = 1.816.
        assert not found.special_points


def test_curves_run_in_two_parameters_at_one_coupling():
    (start,) = diagram_of("softmax", 3).events("fold", "prolate")
    found = curve(start, "noise", (0.9, 1.2), against="beta")
    place = int(np.argmax(found.first == 1.2))
    problem = found.point(place).problem
    there = bifurcation_diagram(problem.at(coupling=None), relative=(1.2, 2.8), rates=False)
    (point,) = there.events("fold", "prolate")
    assert float(problem.fixed_coupling) == pytest.approx(float(point.coupling), rel=POINT)


# What the followed equation is


def system_at(normalisation, kind, confinement=None):
    """Return an extended system of a kind at a place that is none of its solutions, and its unknown there.

    That of branch points is among modes that do not rotate the state, whose matrix is another beside solutions.
    """
    domain = Circle() if confinement else Sphere(3)
    problem = equation_of(domain, LAWS[normalisation](3.0), coupling=6.0, confinement=confinement)
    places = plane.Plane(problem, ("beta", "coupling"), (2.0, 4.0), 1.0, 3.0, 0.0, np.arange(1, 9))
    place = places.coordinates(3.0, 6.0)
    basis = unknowns.basis_of(places, np.append(1.0, RANDOM.uniform(0.1, 0.3, 4)), place)
    b = np.zeros(basis.degrees.size)
    b[:4] = RANDOM.uniform(0.05, 0.2, 4)
    if kind == "fold":
        return (
            FoldEquation(places, (basis,), null_vectors(places, basis, place, b)),
            np.append(b, place[0]),
            place[1],
        )
    block, last = solvers_of(problem).geometry.complements(basis, 8)[-1 if confinement is None else 0], 8
    degrees = places.significant(*place, block.degrees(last))
    left, _, right = np.linalg.svd(block_at(state_at(places, basis, place, b), places, block, degrees).matrix)
    borders = left[:, -1], right[-1]
    found = BranchPointEquation(places, (basis,), block, degrees, last, borders)
    return found, np.append(b, place[0]), place[1]


@pytest.mark.parametrize(
    ("normalisation", "kind", "confinement"),
    [
        ("softmax", "fold", None),
        ("softmax", "fold", External(cosine=(0.2, -0.3))),
        ("softmax", "branch point", None),
        ("softmax", "branch point", External(cosine=(0.2, -0.3))),
        ("ngpt", "fold", None),
        ("ngpt", "fold", External(cosine=(0.2, -0.3))),
    ],
)
def test_derivatives_of_the_extended_systems(normalisation, kind, confinement):
    equation, b, q = system_at(normalisation, kind, confinement)
    matrix, derivative = equation.linearise(b, q, b)
    step = 1e-3
    for _ in range(4):
        along, in_q = RANDOM.normal(size=b.size) * np.append(1.0 / np.arange(1, b.size) ** 2, 1.0), RANDOM.normal()
        far, near, after, beyond = (
            equation.evaluate(b + k * step * along, q + k * step * in_q).residual for k in (-2, -1, 1, 2)
        )
        exact = (8 * (after - near) - (beyond - far)) / (12 * step)
        assert matrix @ along + derivative * in_q == pytest.approx(exact, abs=DIFFERENCE)


# Nonsense


def test_what_is_not_followed_is_refused():
    with pytest.raises(InvalidInput, match="a function of moments, of which only the values are known"):
        tricritical_points(
            equation_of(Circle(), CustomVelocity(lambda t, m: np.sin(t), 1)), "beta", (1.0, 3.0), (1,)
        )
    with pytest.raises(InvalidInput, match="the problem has none; give noise > 0"):
        tricritical_points(
            equation_of(Circle(), PhaseLag(CosineSeries((-1.0,)), 0.2), noise=0.0), "lag", (0.1, 1.0), (1,)
        )
    with pytest.raises(InvalidInput, match="give noise > 0"):
        tricritical_points(equation_of(Sphere(3), SoftmaxAttention(2.0), noise=0.0), "beta", (1.0, 3.0), (1,))


def test_steps_over_the_change_of_sign_of_beta_are_taken_again():
    # Softmax attention has a Gibbs map for positive beta only, and long steps would leave it.
    problem = ContinuityEquation(Sphere(4), SoftmaxAttention(5.928), noise=1.0)
    critical = critical_coupling(problem)
    fold = bifurcation_diagram(problem, (0.3 * critical, 2.0 * critical), rates=False).events("fold")[0]
    found = curve(fold, "beta", (2.9045, 8.5437))
    assert (found.first[0], found.first[-1]) == (2.9045, 8.5437)
    assert not found.warnings
    beyond = curve(fold, "beta", (-1.0, 8.5437), largest_coupling=100.0)
    assert beyond.first.min() > 0.0
    assert beyond.coupling.max() <= 100.0
