"""Diagrams of normalised attention in beta, the noise and a confinement, against those in the coupling."""

import numpy as np
import pytest
from scipy.special import ive

from meanfield import (
    Circle,
    External,
    InvalidInput,
    NormalisedAttention,
    SoftmaxAttention,
    Sphere,
)
from meanfield.equations import equation_of
from solvers import bifurcation_diagram, stationary_states

EPS = np.finfo(float).eps
# Relative accuracy promised for located points, and that of states.
LOCATED, STATE = 1e-12, 1e-11

SOFTMAX, NGPT = SoftmaxAttention(beta=5.0), NormalisedAttention(beta=2.0)
EVEN, UNEVEN = External(cosine=(0.1, 0.2)), External(cosine=(0.1, 0.2), sine=(0.0, 0.3))
CASES = {
    "softmax, beta": (equation_of(Circle(), SOFTMAX, coupling=3.0), "beta", (1.0, 4.0)),
    "softmax, sphere": (equation_of(Sphere(3), SOFTMAX, coupling=3.0), "noise", (0.4, 0.6)),
    "nGPT, beta": (equation_of(Circle(), NGPT, coupling=2.2), "beta", (2.0, 2.4)),
    "confined": (equation_of(Circle(), SOFTMAX, coupling=4.0, confinement=EVEN), "beta", (1.0, 4.0)),
    "confinement": (
        equation_of(Circle(), SOFTMAX, noise=0.5, coupling=3.0, confinement=EVEN), "confinement_cosine1", (0.1, 0.4),
    ),
    "uneven": (equation_of(Circle(), SOFTMAX, coupling=4.0, confinement=UNEVEN), "noise", (0.6, 1.0)),
}  # fmt: skip


def at(problem, name, value):
    return problem.with_parameter(name, float(value))


@pytest.fixture(scope="module", params=CASES)
def case(request):
    problem, name, interval = CASES[request.param]
    return problem, name, bifurcation_diagram(problem, interval, parameter=name, rates=False)


def test_points_are_states_and_events_those_in_the_coupling(case):
    problem, name, diagram = case
    branch = next(branch for branch in diagram.branches if branch.symmetry)
    point = len(branch) // 2
    lengths = np.hypot(branch.cosine[point], branch.sine[point])[:5]
    states = stationary_states(at(problem, name, branch.values[point]), rates=False)
    distance, nearest = min(
        ((np.abs(state.moments.lengths[:5] - lengths).max(), state) for state in states), key=lambda pair: pair[0]
    )
    assert distance < STATE
    assert nearest.unstable == branch.unstable[point]
    for event in (event for event in diagram.special_points if event.type != "endpoint"):
        free = at(problem, name, event.value).at(coupling=None)
        ends = 0.95 * problem.coupling, 1.05 * problem.coupling
        found = bifurcation_diagram(free, ends, rates=False).events(event.type)
        nearest = min(abs(other.coupling / problem.coupling - 1.0) for other in found)
        assert nearest < 10 * LOCATED
        assert event.lower <= event.value <= event.upper


def test_tangents_have_the_slope_in_the_parameter(case):
    _, _, diagram = case
    branch = next(branch for branch in diagram.branches if branch.symmetry)
    length = np.diff(branch.arclength)
    for values, tangents in (
        (branch.cosine[:, 1:4], branch.tangent_cosine[:, 1:4]),
        (branch.values[:, None], branch.tangent_values[:, None]),
    ):
        steps = range(len(branch) // 2, len(branch) // 2 + 3)
        # The mean slope by Hermite's rule of fourth order, against the curvature, of second.
        for step in steps:
            mean = 0.5 * length[step] * (tangents[step] + tangents[step + 1])
            bend = tangents[step + 1] - tangents[step]
            missed = np.abs(values[step + 1] - values[step] - mean).max()
            assert missed <= length[step] * max(np.abs(bend).max(), 1e-9)


def test_the_states_of_softmax_at_one_beta():
    # Of two resolutions of a computation of its own: p = kappa/(beta D) = 1.5 I_0/I_1 at beta = 1.
    problem = equation_of(Circle(), SoftmaxAttention(1.0), coupling=3.36029058580513)
    diagram = bifurcation_diagram(problem, (0.5, 1.0), parameter="beta", rates=False)
    branch = diagram.branch("1-cluster")
    (end,) = np.flatnonzero(branch.values == 1.0)
    np.testing.assert_allclose(
        np.abs(branch.cosine[end, 1:4]), (0.71888842617353, 0.30124819600811, 0.08100130789593), rtol=1e-12
    )


def test_thresholds_in_closed_form():
    problem = equation_of(Circle(), SOFTMAX, coupling=3.0)
    diagram = bifurcation_diagram(problem, (2.0, 2.5), parameter="beta", depth=0, rates=False)
    (event,) = diagram.events("branch point")
    # kappa I_1(beta) = beta D I_0(beta)
    assert 3.0 * ive(1, event.value) == pytest.approx(event.value * ive(0, event.value), rel=16 * EPS)
    for domain in (Circle(), Sphere(3), Sphere(64)):
        # Degree 1 of nGPT: kappa = beta D on every domain.
        problem = equation_of(domain, NGPT, noise=0.7, coupling=2.1)
        diagram = bifurcation_diagram(problem, (2.8, 3.2), parameter="beta", depth=0, rates=False)
        assert diagram.events("branch point")[-1].value == pytest.approx(3.0, rel=16 * EPS)


@pytest.mark.parametrize("domain", [Circle(), Sphere(3), Sphere(64)])
@pytest.mark.parametrize(
    "law", [SoftmaxAttention(-2.0), SOFTMAX, NormalisedAttention(0.3), NormalisedAttention(30.0)]
)
def test_slopes_of_laws_are_derivatives(law, domain):
    step = 1e-3 * abs(law.beta)
    beside = [law.with_parameter("beta", law.beta + k * step) for k in (-2, -1, 1, 2)]
    slopes = law.slopes("beta", domain, 8)

    def differences(function):
        far, near, next_to, opposite = map(function, beside)
        return (8.0 * (next_to - near) - (opposite - far)) / (12.0 * step)

    def speed(law):
        multipliers = law.at_uniform(domain).multipliers(domain, 1)
        return np.log(np.abs(float(multipliers[1]) / law.drive(domain, 1)[1]))

    compared = [
        (slopes.drive, differences(lambda law: law.drive(domain, 8))),
        (slopes.at_uniform, differences(speed)),
    ]
    if slopes.radial is not None:
        compared.append((slopes.radial, differences(lambda law: law.radial(domain, 8))))
    for exact, approximate in compared:
        # Of fourth order, with steps of a thousandth times a scale of at most thirty.
        assert np.abs(exact - approximate).max() <= 1e-7 * np.abs(exact).max()


def test_a_beta_of_another_equation_is_refused():
    softmax = equation_of(Circle(), SOFTMAX, coupling=3.0)
    with pytest.raises(InvalidInput, match="is not admissible"):
        bifurcation_diagram(softmax, (-1.0, 2.0), parameter="beta")
