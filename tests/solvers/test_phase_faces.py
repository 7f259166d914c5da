"""Phase diagrams whose curves or names change between two sections."""

import functools

import numpy as np
import pytest

from meanfield import CurvePoint, GegenbauerSeries, McKeanVlasov, Sphere
from solvers import bifurcation_diagram, phase_diagram
from solvers.two_parameters import becomes


@functools.cache
def diagram(dimension, weights, name, interval):
    problem = McKeanVlasov(Sphere(dimension), GegenbauerSeries(weights, dimension=dimension))
    return phase_diagram(problem, (name, interval), relative=(0.7, 1.3))


def test_a_curve_that_crosses_the_window_between_two_sections_is_found():
    """It comes in from below, where it begins, and leaves above, before the next section meets it."""
    found = diagram(8, (-0.04, -0.37), "w1", (-0.24, 0.48))
    # A diagram at a value between the two sections, where the threshold of degree two is at 35/0.37.
    beside = McKeanVlasov(Sphere(8), GegenbauerSeries((-0.015, -0.37), dimension=8))
    low, high = (height * 35.0 / 0.37 for height in found.window)
    made = bifurcation_diagram(beside, (20.0, high), rates=False, search=False)
    (event,) = [
        each
        for each in made.events("branch point")
        if made.branches[each.branch].label == "prolate" and low < each.coupling
    ]
    curves = [each for each in found.curves if each.label == "branch point of the prolate"]
    known = np.concatenate([curve.track for curve in curves])
    inside = known[np.abs(known[:, 0] + 0.015) < 0.001]
    assert np.interp(-0.015, *inside[np.argsort(inside[:, 0])].T) == pytest.approx(event.coupling, rel=1e-3)
    assert all(region.agrees for region in found.regions)
    assert {"prolate", "zonal 1"} <= {region.minimiser for region in found.regions}


@pytest.mark.parametrize(
    ("dimension", "weights", "name", "interval"),
    [
        (5, (-0.01, -0.79, -0.12, -0.24), "w3", (-0.62, 0.31)),
        (4, (-0.43, -0.06, -0.66), "w1", (-0.66, -0.09)),
        (8, (0.06, -0.73, -0.23, -0.39), "w3", (-0.77, 0.03)),
    ],
)
def test_a_state_that_is_named_after_two_modes_is_one(dimension, weights, name, interval):
    """The mode in which its branch is born changes along a curve, and the state does not."""
    found = diagram(dimension, weights, name, interval)
    assert all(region.agrees for region in found.regions)
    assert not [text for text in found.warnings if "differ inside" in text or "not confirmed" in text]


def point_of(problem, diagram, label):
    """The state of a branch at its last point."""
    branch = diagram.branch(label)
    return CurvePoint(
        problem=problem.at(coupling=float(branch.coupling[-1])),
        type="transition",
        parameters=("w1", "coupling"),
        cosine=branch.cosine[-1],
        sine=branch.sine[-1],
        layout=branch.layout,
    )


def test_states_become_each_other_or_do_not():
    """Along a straight path: the same one at another value, the opposite one, and one of more symmetry."""
    interval, points = (-0.8, -0.2), []
    for w1 in (-0.6, -0.4):
        problem = McKeanVlasov(Sphere(3), GegenbauerSeries((w1, -0.5, -0.1)))
        made = bifurcation_diagram(problem, (0.0, 12.0), rates=False, search=False)
        points.append({label: point_of(problem, made, label) for label in ("zonal 1", "prolate", "oblate")})
    path = np.array([[-0.6, 12.0], [-0.4, 12.0]])
    for label in ("zonal 1", "prolate", "oblate"):
        assert becomes(points[0][label], points[1][label], path, interval)
    for one, other in (
        ("zonal 1", "prolate"),
        ("prolate", "zonal 1"),
        ("prolate", "oblate"),
        ("oblate", "prolate"),
    ):
        assert not becomes(points[0][one], points[1][other], path, interval)
