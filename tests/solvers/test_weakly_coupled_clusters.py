"""Clusters that hardly see each other: what rounding decides on their branches is told once, and is no event.

The attraction of two clusters decays like exp(-beta (1 - cos t)), and with it the rates of their relative motion, which
are below the rounding of the linearisation long before a branch ends.
"""

import pytest

from meanfield import Circle, McKeanVlasov, Sphere, Transformer
from solvers import bifurcation_diagram


@pytest.mark.parametrize(
    ("domain", "beta", "largest", "branch"),
    [(Circle(), 20.0, 1000.0, "2-cluster"), (Sphere(4), 15.0, 60.0, "prolate (2)")],
    ids=["circle", "S^3"],
)
def test_rounding_makes_no_branch_points_along_the_coupling(domain, beta, largest, branch):
    problem = McKeanVlasov(domain, Transformer(beta=beta))
    diagram = bifurcation_diagram(problem, relative=(0.9, largest), rates=False, depth=1)
    assert {point.status for point in diagram.special_points} <= {"exact", "converged"}
    assert not any("without a located event" in warning for warning in diagram.warnings)
    (told,) = [warning for warning in diagram.warnings if "neutral to rounding" in warning]
    assert told.startswith(branch)


def test_rounding_makes_no_branch_points_along_another_parameter():
    problem = McKeanVlasov(Circle(), Transformer(beta=18.0), coupling=0.2)
    diagram = bifurcation_diagram(problem, parameter="beta", interval=(16.5, 18.2), rates=False, depth=1)
    assert {point.status for point in diagram.special_points} <= {"exact", "converged"}
    assert not any("without a located event" in warning for warning in diagram.warnings)
