"""Normal forms of the branches of laws without a free energy, against states and waves of small amplitude."""

import numpy as np
import pytest
from scipy.special import eval_gegenbauer

from meanfield import (
    Circle,
    CommonFrequency,
    ContinuityEquation,
    CosineSeries,
    NormalisedAttention,
    Outcome,
    PhaseLag,
    SoftmaxAttention,
    Sphere,
    Transformer,
    branch_shape,
    critical_couplings,
)
from meanfield.equations import equation_of
from meanfield.theory import mode_interactions, tricritical_points, unresolved_points
from solvers import bifurcation_diagram, curve, phase_diagram
from tests import oracles, zonal_attention

EPS = np.finfo(float).eps
LAWS = {"softmax": SoftmaxAttention, "ngpt": NormalisedAttention}
POINTS = 41


def on_circle(law, noise=1.0):
    return ContinuityEquation(Circle(), law, noise=noise)


def random_law(kind, generator):
    """Return a law on the circle and one of its first modes."""
    mode, beta, lag = int(generator.integers(1, 3)), generator.uniform(0.5, 6.0), generator.uniform(-1.2, 1.2)
    if kind == "series":
        return PhaseLag(CosineSeries(tuple(generator.uniform(-1.0, -0.1, 2 * mode).tolist())), lag / mode), mode
    if kind == "turning":
        return CommonFrequency(PhaseLag(Transformer(beta), lag / mode), generator.uniform(-1.0, 1.0)), mode
    if kind == "ngpt":
        return NormalisedAttention(beta), 1
    return PhaseLag(LAWS[kind.removesuffix(", lag")](beta), lag), 1


def measured_on_circle(problem, mode, amplitude):
    """Return b_1 by the wave of an amplitude, in error by the next order."""
    critical = float(critical_couplings(problem, mode)[mode])
    return (oracles.born_coupling(problem, mode, amplitude, POINTS) / critical - 1.0) / amplitude**2


def measured_on_sphere(problem, degree, amplitude):
    """Return b_1 or the slope of a branch of attention by states on a meridian at amplitudes of either sign."""
    dimension, beta = problem.domain.dimension, problem.parameters["beta"]
    (normalisation,) = [name for name, law in LAWS.items() if isinstance(problem.velocity, law)]
    angles, _, _ = zonal_attention.meridian(dimension)
    index, critical = 0.5 * (dimension - 2), float(critical_couplings(problem, degree)[degree])
    mode = eval_gegenbauer(degree, index, np.cos(angles)) / eval_gegenbauer(degree, index, 1.0)
    excess = []
    for signed in (amplitude, -amplitude):
        start = problem.domain.multiplicity(degree) * signed * mode, critical
        _, ratio, _ = zonal_attention.branch_state(normalisation, dimension, beta, mode, signed, start)
        excess.append(ratio / critical - 1.0)
    return sum(excess) / (2 * amplitude**2) if degree % 2 else (excess[0] - excess[1]) / (2 * amplitude)


@pytest.mark.parametrize("kind", ["series", "turning", "ngpt", "softmax, lag", "ngpt, lag"])
def test_curvatures_on_the_circle(kind):
    generator = np.random.default_rng(51910)
    for _ in range(3):
        law, mode = random_law(kind, generator)
        problem = on_circle(law, generator.uniform(0.3, 2.0))
        shape = branch_shape(problem, mode)
        far, near = (measured_on_circle(problem, mode, amplitude) for amplitude in (0.02, 0.01))
        # Of the next order in the square of the amplitude there is a sixteenth of the difference left, and less;
        # the coupling is known to rounding over the square of the amplitude.
        assert (4 * near - far) / 3 == pytest.approx(shape.curvature, abs=abs(near - far) / 4 + 64 * EPS / 0.01**2)
        assert shape.type == ("supercritical" if shape.curvature > 0.0 else "subcritical")
        assert np.isnan(shape.quartic)


@pytest.mark.parametrize(
    ("normalisation", "dimension", "beta", "degree"),
    [
        ("softmax", 3, 1.0, 1),
        ("softmax", 3, 4.0, 1),
        ("softmax", 5, 3.0, 1),
        ("softmax", 3, 2.0, 2),
        ("softmax", 5, 6.0, 2),
        ("ngpt", 3, 1.0, 1),
        ("ngpt", 3, 4.0, 1),
        ("ngpt", 5, 3.0, 1),
        ("ngpt", 4, 2.5, 3),
        ("ngpt", 3, 2.0, 2),
        ("ngpt", 5, 6.0, 2),
    ],
)
def test_normal_forms_on_spheres(normalisation, dimension, beta, degree):
    problem = equation_of(Sphere(dimension), LAWS[normalisation](beta))
    shape = branch_shape(problem, degree)
    far, near = (measured_on_sphere(problem, degree, amplitude) for amplitude in (0.02, 0.01))
    expected = shape.curvature if degree % 2 else shape.slope
    assert (4 * near - far) / 3 == pytest.approx(expected, abs=abs(near - far) / 4)


def test_without_a_lag_the_normal_form_is_that_of_the_gradient_law():
    for lag in (1e-9, 0.0):
        law = PhaseLag(CosineSeries((-1.0, -0.3)), lag) if lag else CosineSeries((-1.0, -0.3))
        assert branch_shape(equation_of(Circle(), law), 1).curvature == pytest.approx(0.4 / 1.4, rel=1e-12)
    # An exact resonance is transcritical without a lag only.
    resonant = CosineSeries((-1.0, -1.0))
    assert branch_shape(equation_of(Circle(), resonant), 1).type == "transcritical"
    lagged = branch_shape(on_circle(PhaseLag(resonant, 0.5)), 1)
    assert lagged.type in ("supercritical", "subcritical")


def gradient_twin(weights, turns):
    """Return the gradient law of which waves of a lag of so many half turns are states, at rest."""
    return equation_of(
        Circle(), CosineSeries([weight * (-1) ** (turns * k) for k, weight in enumerate(weights, 1)])
    )


@pytest.mark.parametrize(
    ("lag", "mode", "turns"), [(np.pi, 1, 1), (-np.pi, 1, 1), (np.pi, 2, 1), (0.5 * np.pi, 4, 0), (5e-324, 1, 0)]
)
def test_waves_that_rest_to_rounding_have_the_normal_form_of_the_gradient_law(lag, mode, turns):
    generator = np.random.default_rng(51930)
    weights = generator.uniform(-1.0, -0.1, 3 * mode)
    weights[mode - 1] = -1.0
    lagged, twin = on_circle(PhaseLag(CosineSeries(weights.tolist()), lag)), gradient_twin(weights, turns)
    found, expected = (branch_shape(problem, mode) for problem in (lagged, twin))
    assert (found.curvature, found.type) == (pytest.approx(expected.curvature, rel=1e-13), expected.type)
    interval = (-2.0, 2.0)
    one, other = (tricritical_points(problem, f"w{2 * mode}", interval, (mode,)) for problem in (lagged, twin))
    assert [point.value for point in one] == pytest.approx([point.value for point in other], rel=1e-13)


def test_notes_are_of_modes_that_are_critical_together():
    for law in (SoftmaxAttention(2.0), NormalisedAttention(2.0), PhaseLag(Transformer(2.0), 0.3)):
        assert branch_shape(on_circle(law), 1).note == ""
    # resonance() knows the gradient law alone.
    resonant = branch_shape(on_circle(PhaseLag(CosineSeries((1.0, -1.0)), np.pi)), 1)
    assert (resonant.type, resonant.note) == ("transcritical", "exact 1:2 resonance: mode 2 is critical too")
    lag = 0.3
    third = -np.cos(lag) / np.cos(3 * lag)
    shape = branch_shape(on_circle(PhaseLag(CosineSeries((-1.0, -0.2, third)), lag)), 1)
    assert (shape.q, shape.p) == pytest.approx((0.2 * np.cos(2 * lag) / np.cos(lag), 1.0), rel=4 * EPS)
    assert shape.note == "exact 1:3 resonance: mode 3 is critical too"


@pytest.mark.parametrize("domain", [Circle(), Sphere(3), Sphere(10)], ids=str)
def test_tricritical_points_of_laws_that_change_much_are_all_known(domain):
    """The curvature of the first branch of nGPT attention grows like the inverse square of beta."""
    problem = equation_of(domain, NormalisedAttention(1.0))
    small, smaller = (branch_shape(problem.with_parameter("beta", beta), 1).curvature for beta in (0.01, 0.005))
    assert smaller / small == pytest.approx(4.0, rel=0.05)
    assert unresolved_points(problem, "beta", (0.05, 20.0), (1, 2, 3)) == []


def test_softmax_turns_where_its_normal_form_does():
    problem = equation_of(Sphere(10), SoftmaxAttention(1.2))
    (point,) = tricritical_points(problem, "beta", (0.5, 5.0), (3,))
    before, after = (
        measured_on_sphere(problem.with_parameter("beta", point.value + side), 3, 1e-4) for side in (-0.1, 0.1)
    )
    assert before > 0.0 > after
    diagram = bifurcation_diagram(problem, relative=(100.0, 130.0), rates=False, depth=0)
    found = curve(diagram.events("branch point")[0], "beta", (1.0, 2.0))
    (event,) = found.special_points
    assert (event.type, event.values[0]) == ("tricritical", pytest.approx(point.value, rel=1e-12))
    assert mode_interactions(problem, "beta", (0.5, 5.0), (1, 3)) == []


# The waves born turn at tricritical points, at which their folds end
TURNING = {
    "a lag": (PhaseLag(CosineSeries((-1.0, -0.7)), 0.1), "lag", (0.01, 1.0)),
    "through no lag": (PhaseLag(CosineSeries((-1.0, -0.7)), 0.1), "lag", (-0.4, 0.4)),
    "a coefficient": (PhaseLag(CosineSeries((-1.0, -0.7)), 0.05), "w2", (-0.9, -0.3)),
    "beta": (PhaseLag(Transformer(5.0), 0.1), "beta", (1.5, 6.0)),
    "nGPT": (PhaseLag(NormalisedAttention(0.95), 0.74), "lag", (0.6, 1.2)),
}


@pytest.mark.parametrize("case", TURNING)
def test_folds_of_waves_end_where_the_branch_of_the_threshold_turns(case):
    law, name, interval = TURNING[case]
    problem = on_circle(law)
    points = tricritical_points(problem, name, interval, (1,))
    assert unresolved_points(problem, name, interval, (1,)) == []
    for point in points:
        beside = [problem.with_parameter(name, point.value + side) for side in (-1e-3, 1e-3)]
        # At smaller amplitudes rounding of the coupling is larger than what they leave of the next order.
        far, near = ([measured_on_circle(each, 1, amplitude) for each in beside] for amplitude in (0.02, 0.01))
        one, other = ((4.0 * last - first) / 3.0 for first, last in zip(far, near, strict=True))
        assert one * other < 0.0
        # Between them it is straight, up to the next order in both.
        assert abs(one + other) < 0.1 * abs(one - other)
    critical = float(critical_couplings(problem, 1)[1])
    diagram = bifurcation_diagram(problem, (0.9 * critical, 1.1 * critical), rates=False, depth=1)
    thresholds = curve(diagram.events("branch point")[0], name, interval)
    assert not thresholds.warnings
    turning = [point for point in thresholds.special_points if point.type == "tricritical"]
    assert [point.values[0] for point in turning] == pytest.approx([point.value for point in points], rel=1e-12)
    folds = curve(diagram.events("fold")[0], name, interval)
    assert not folds.warnings
    ends = [point for point in folds.special_points if point.type == "tricritical"]
    # Those of the fold are the two at its ends, or the one if it leaves the interval at the other.
    lefts = [folds.first_outcome, folds.outcome].count(Outcome.LEFT_INTERVAL)
    assert len(ends) == 2 - lefts == len(points)
    for end, point in zip(sorted(ends, key=lambda each: each.values[0]), points, strict=True):
        assert end.values == pytest.approx([point.value, float(point.coupling)], rel=1e-12)
        assert end.lower <= point.value <= end.upper
        assert end.status == "converged"
    for point in turning:
        # The fold begins there as well.
        begun = curve(point, name, interval, type="fold")
        assert not begun.warnings
        ends = [each.values for each in begun.special_points if each.type == "tricritical"]
        assert min(np.abs(each / point.values - 1.0).max() for each in ends) < 1e-12


def test_turning_waves_are_found_at_one_coupling_as_well():
    law, name, interval = TURNING["nGPT"]
    problem = on_circle(law)
    critical = float(critical_couplings(problem, 1)[1])
    fold = bifurcation_diagram(problem, (0.9 * critical, 1.1 * critical), rates=False).events("fold")[0]
    found = curve(fold, name, interval, against="beta")
    (end,) = [point for point in found.special_points if point.type == "tricritical"]
    # There the branch turns at the coupling of the fold, which is the threshold.
    there = on_circle(PhaseLag(NormalisedAttention(float(end.values[1])), 0.7))
    (point,) = tricritical_points(there, name, interval, (1,))
    assert (point.value, float(point.coupling)) == pytest.approx((float(end.values[0]), fold.coupling), rel=1e-9)


def test_phase_diagrams_of_waves_have_their_tricritical_points():
    law, name, interval = TURNING["a coefficient"]
    problem = on_circle(law)
    found = phase_diagram(problem, (name, interval), relative=(0.9, 1.1))
    (point,) = tricritical_points(problem, name, interval, (1,))
    (turning,) = [each for each in found.special_points if each.type == "tricritical"]
    assert turning.values == pytest.approx([point.value, float(point.coupling)], rel=1e-12)
    assert len(turning.curves) > 1
    assert not any("normal form" in warning or "tricritical" in warning for warning in found.warnings)
