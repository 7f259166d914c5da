"""Thresholds along a parameter, against closed forms: at the ends of the interval, next to each other, and steep.

On the circle mode k of a cosine series w is critical where -coupling w_k = 2 noise.
"""

import pytest

from meanfield import Circle, CosineSeries, McKeanVlasov
from solvers import bifurcation_diagram


def diagram_of(weights, coupling, name, interval, **options):
    problem = McKeanVlasov(Circle(), CosineSeries(tuple(weights)), coupling=coupling)
    return bifurcation_diagram(problem, interval, parameter=name, rates=False, search=False, **options)


@pytest.mark.parametrize("name", ["noise", "w1"])
@pytest.mark.parametrize("second", [0.0, -0.25])
def test_a_branch_that_leaves_the_interval_at_once_is_not_followed(name, second):
    # The branch of mode 1 is supercritical, and the strength falls along the interval: it leads out of it.
    interval = {"noise": (1.0, 2.0), "w1": (-1.0, -0.5)}[name]
    diagram = diagram_of((-1.0, second), 2.0, name, interval)
    assert [branch.label for branch in diagram.branches] == ["uniform"]
    assert [(event.type, event.value) for event in diagram.special_points] == [("branch point", interval[0])]
