"""One state has one name, and no two states of an answer have the same."""

import itertools
import re

import numpy as np
import pytest

from meanfield import Circle, CosineSeries, GegenbauerSeries, McKeanVlasov, Sphere, Transformer, critical_coupling
from solvers import bifurcation_diagram, stationary_states
from solvers.branches.labels import unnumbered, untaken
from tests import problems
from tests.campaigns.names import compared_names

ATTRACTIVE = (
    McKeanVlasov(Circle(), CosineSeries((-0.68, -0.44, -0.55, -0.545, -0.263, -0.409))),
    McKeanVlasov(Circle(), CosineSeries((-1.0, -1.5, -1.2))),
    McKeanVlasov(Sphere(3), Transformer(5.0)),
    McKeanVlasov(Sphere(4), GegenbauerSeries((-1.0, 0.0, -1.5, -1.2), dimension=4)),
)
# So far that secondary branches and folds are passed.
RELATIVE = (3.0, 2.0, 2.0, 4.0)

IN_MORE_DIMENSIONS = (
    McKeanVlasov(Sphere(4), GegenbauerSeries((-4.712, 6.218, -18.7), dimension=4)),
    McKeanVlasov(Sphere(8), GegenbauerSeries((-9.328, -36.85, -111.4, -16.41, -201.9), dimension=8)),
)


@pytest.mark.parametrize(("problem", "relative"), list(zip(ATTRACTIVE, RELATIVE, strict=True)))
def test_no_two_states_have_the_same_label(problem, relative):
    states = stationary_states(problem.at(coupling=relative * critical_coupling(problem)), rates=False)
    labels = [state.label for state in states]
    assert len(labels) > 3
    assert len(set(labels)) == len(labels)
    # Numbers rise with the free energy.
    for plain in {unnumbered(label) for label in labels}:
        numbered = [label for label in labels if unnumbered(label) == plain]
        name, *origin = re.split("(?= from )", plain, maxsplit=1)
        others = (f"{name} ({number}){''.join(origin)}" for number in range(2, len(numbered) + 1))
        assert numbered == [plain, *others]


@pytest.mark.parametrize(
    "problem",
    [
        McKeanVlasov(Sphere(4), GegenbauerSeries((0.0, 0.0, 0.0, -1.0), dimension=4)),
        McKeanVlasov(Sphere(5), GegenbauerSeries((0.0, -1.0), dimension=5)),
        problems.TETRAHEDRAL.problem,
        McKeanVlasov(Sphere(6), GegenbauerSeries((-1.0, -0.4), dimension=6)),
        McKeanVlasov(Sphere(5), Transformer(5.0)),
    ],
)
def test_the_search_names_zonal_states_as_their_branches_do(problem):
    coupling = 1.5 * critical_coupling(problem)
    # Without any branch all states are met by the search.
    searched = stationary_states(problem.at(coupling=coupling), depth=0, rates=False)
    followed = stationary_states(problem.at(coupling=coupling), depth=3, rates=False)
    compared = 0
    for one, other in itertools.product(searched, followed):
        if one.layout == other.layout == "degree" and one.symmetry and _same(one, other):
            assert one.label == other.label
            compared += 1
    assert compared > 0


def _same(one, other):
    count = min(one.cosine.size, other.cosine.size)
    first, second = one.cosine[:count], other.cosine[:count]
    mirrored = second * (-1.0) ** np.arange(count)
    return min(np.abs(first - second).max(), np.abs(first - mirrored).max()) < 1e-7


def test_states_have_the_names_of_the_branches_of_a_diagram():
    problem = McKeanVlasov(Sphere(4), GegenbauerSeries((0.0, 0.0, 0.0, -1.0), dimension=4))
    coupling = 1.2 * critical_coupling(problem)
    diagram = bifurcation_diagram(problem, (0.2 * coupling, coupling), rates=False)
    states = {
        state.label: state for state in stationary_states(problem.at(coupling=coupling), depth=0, rates=False)
    }
    for branch in diagram.branches[1:]:
        end = diagram.state(branch.label, int(np.argmax(branch.coupling)))
        assert _same(end, states[branch.label])


def test_untaken():
    assert untaken("a", []) == "a"
    assert untaken("a", ["a", "a (2)", "a (4)"]) == "a (3)"
    # The number of the parent stays with it.
    assert untaken("a from b (2)", ["a from b (2)"]) == "a (2) from b (2)"
    assert untaken("a, one of a family", ["a, one of a family"]) == "a (2), one of a family"


@pytest.mark.parametrize(
    ("problem", "interval", "depth", "search"),
    [
        # Found by the campaign ``names``: branches on which symmetry is lost, and one that nothing leads to.
        (McKeanVlasov(Sphere(3), GegenbauerSeries((-0.1374, -0.4526))), (9.4, 18.7975), 3, False),
        (McKeanVlasov(Sphere(3), GegenbauerSeries((-0.3019, -1.147, -0.684, 0.3495))), (4.1, 8.19759), 2, False),
        (McKeanVlasov(Sphere(3), GegenbauerSeries((-0.524, -0.008186, -1.116))), (3.5, 7.04953), 2, True),
        (McKeanVlasov(Circle(), CosineSeries((-1.251, -0.02446, -1.142, -1.079))), (1.6, 3.29688), 1, True),
        # About an axis all have one symmetry, and states born with one degree have large moments of another.
        (IN_MORE_DIMENSIONS[0], (0.55, 1.15906), 1, False),
        (IN_MORE_DIMENSIONS[1], (0.85, 1.74594), 1, False),
    ],
)
def test_the_search_names_states_as_a_diagram_does(problem, interval, depth, search):
    diagram = bifurcation_diagram(problem, interval, depth=depth, search=search, rates=False)
    states = stationary_states(problem.at(coupling=interval[1]), depth=1, rates=False)
    compared, different = compared_names(diagram, states)
    assert compared >= 3
    assert not different
    assert len({branch.label for branch in diagram.branches}) == len(diagram.branches)


def test_states_that_newtons_method_seldom_meets_are_those_of_branches():
    problem = McKeanVlasov(Sphere(6), Transformer(20.0))
    coupling = 2.0 * critical_coupling(problem)
    diagram = bifurcation_diagram(problem, (0.9 * coupling, coupling), depth=1, rates=False)
    states = stationary_states(problem.at(coupling=coupling), depth=1, rates=False)
    compared, different = compared_names(diagram, states)
    assert compared == 7
    assert not different


def test_a_branch_names_its_parent_as_the_diagram_does():
    problem = McKeanVlasov(Circle(), CosineSeries((-0.68, -0.44, -0.55, -0.545, -0.263, -0.409)))
    diagram = bifurcation_diagram(problem, relative=(0.9, 4.0), depth=3, rates=False)
    labels = [branch.label for branch in diagram.branches]
    origins = {label.split(" from ", 1)[1] for label in labels if " from " in label}
    assert origins
    assert origins <= set(labels)
    for branch in diagram.branches:
        if branch.parent is not None and " from " in branch.label:
            parent = diagram.branches[diagram.special_points[branch.parent].branch]
            assert branch.label.split(" from ", 1)[1] == parent.label
