"""Phase diagrams of laws without a free energy: thresholds, folds and the names of all that is stable."""

import functools

import matplotlib as mpl
import numpy as np
import pytest

from meanfield import (
    Circle,
    CosineSeries,
    External,
    NormalisedAttention,
    SoftmaxAttention,
    Sphere,
    critical_couplings,
    equation_from,
)
from meanfield.equations import equation_of
from solvers import phase_diagram

mpl.use("agg")


@functools.cache
def diagram_of(name):
    circle, sphere = Circle(), Sphere(5)
    if name == "sphere":
        return phase_diagram(equation_of(sphere, SoftmaxAttention(5.0)), ("beta", (4.0, 6.0)), relative=(0.7, 2.2))
    if name == "ngpt":
        law = NormalisedAttention(2.0)
        return phase_diagram(equation_of(circle, law), ("beta", (1.0, 3.0)), relative=(0.7, 1.3), sections=2)
    # Clusters in either of two wells that differ in depth.
    confined = equation_of(circle, SoftmaxAttention(4.0), confinement=External(cosine=(-0.05, -0.4)))
    return phase_diagram(confined, ("beta", (3.0, 5.0)), coupling=(4.0, 9.0), sections=3, search=True)


@pytest.mark.parametrize("name", ["sphere", "ngpt", "confined"])
def test_regions_are_confirmed(name):
    found = diagram_of(name)
    assert sum(region.area for region in found.regions) == pytest.approx(1.0, abs=1e-4)
    assert all(region.agrees for region in found.regions)
    for region in found.regions:
        assert (len(region.minimiser.split(" and ")) == 1) == (region.stable == 1)
    assert equation_from(found.problem.to_dict()) == found.problem


def test_curves_are_thresholds_and_folds():
    found = diagram_of("sphere")
    assert {curve.type for curve in found.curves} == {"threshold", "fold"}
    fold = found.curve("fold of the prolate")
    assert (fold.first.min(), fold.first.max()) == (4.0, 6.0)
    for curve in found.curves:
        if curve.type == "threshold":
            mode = int(curve.label.split()[-1])

            def critical(betas, mode=mode):
                moved = [found.problem.with_parameter("beta", float(beta)) for beta in betas]
                return np.array([float(critical_couplings(each, mode)[mode]) for each in moved])

            assert curve.coupling == pytest.approx(critical(curve.first), rel=1e-12)
            far, near = ((critical(curve.first + h) - critical(curve.first - h)) / (2 * h) for h in (0.02, 0.01))
            assert curve.slope == pytest.approx((4 * near - far) / 3, abs=1e-6)


def test_several_stable_states_are_told_by_name():
    found = diagram_of("confined")
    several = [region for region in found.regions if region.stable > 1]
    assert several
    assert all(" and " in region.name for region in several)
    assert "fold" in {curve.type for curve in found.curves}


def test_pictures_do_not_speak_of_a_lowest_state():
    ax = diagram_of("sphere").plot()
    texts = [text.get_text() for legend in ax.figure.findobj(mpl.legend.Legend) for text in legend.get_texts()]
    assert any(text.startswith("stable: ") for text in texts)
    assert not any("lowest" in text for text in texts)


def test_no_region_is_without_a_stable_state_where_a_branch_was_not_followed():
    """States are born there that are not even and carry a current, of which at (0.1, 3.5) one is stable."""
    problem = equation_of(Circle(), NormalisedAttention(-2.0), confinement=CosineSeries((0.1, 0.08)))
    diagram = phase_diagram(
        problem, ("confinement_w1", (0.09, 0.11)), coupling=(3.2, 3.6), sections=1, examine=False
    )
    assert any("not all branches born on primary" in warning for warning in diagram.warnings)
    assert {(region.minimiser, region.stable) for region in diagram.regions} == {("primary", 1), ("", None)}


def test_no_region_is_without_a_stable_state_where_no_branch_was_followed():
    """The state of weak coupling needs more modes than are followed before it comes to the window."""
    field = External.from_expression("h*cos(t - 0.4) + 0.08*cos(2*t)", h=0.3)
    problem = equation_of(Circle(), NormalisedAttention(1.5), confinement=field)
    diagram = phase_diagram(problem, ("confinement_h", (0.18, 0.2)), coupling=(1.9, 2.3), sections=1, examine=False)
    assert any("primary, which is outside the interval" in warning for warning in diagram.warnings)
    assert [(region.minimiser, region.stable) for region in diagram.regions] == [("", None)]
