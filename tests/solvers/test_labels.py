"""One state has one name, and no two states of an answer have the same."""

import itertools

import numpy as np
import pytest

from meanfield import Circle, CosineSeries, GegenbauerSeries, McKeanVlasov, Sphere, Transformer, critical_coupling
from solvers import bifurcation_diagram, stationary_states
from solvers.labels import untaken

ATTRACTIVE = (
    McKeanVlasov(Circle(), CosineSeries((-0.68, -0.44, -0.55, -0.545, -0.263, -0.409))),
    McKeanVlasov(Circle(), CosineSeries((-1.0, -1.5, -1.2))),
    McKeanVlasov(Sphere(3), Transformer(5.0)),
    McKeanVlasov(Sphere(4), GegenbauerSeries((-1.0, 0.0, -1.5, -1.2), dimension=4)),
)
# So far that secondary branches and folds are passed.
RELATIVE = (3.0, 2.0, 3.0, 4.0)


@pytest.mark.parametrize(("problem", "relative"), list(zip(ATTRACTIVE, RELATIVE, strict=True)))
def test_no_two_states_have_the_same_label(problem, relative):
    states = stationary_states(problem.at(coupling=relative * critical_coupling(problem)), rates=False)
    labels = [state.label for state in states]
    assert len(labels) > 3
    assert len(set(labels)) == len(labels)
    # Numbers rise with the free energy.
    for label in labels:
        numbers = [other for other in labels if other == label or other.startswith(f"{label} (")]
        assert numbers == [label, *(f"{label} ({number})" for number in range(2, len(numbers) + 1))]


@pytest.mark.parametrize(
    "problem",
    [
        McKeanVlasov(Sphere(4), GegenbauerSeries((0.0, 0.0, 0.0, -1.0), dimension=4)),
        McKeanVlasov(Sphere(5), GegenbauerSeries((0.0, -1.0), dimension=5)),
        McKeanVlasov(Sphere(3), GegenbauerSeries((0.0, 0.0, -1.0))),
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
