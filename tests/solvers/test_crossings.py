"""Crossings of branches of one symmetry, where Newton's method is singular, and brackets of what is located there."""

import functools

from meanfield import GegenbauerSeries, McKeanVlasov, Outcome, Sphere
from solvers import bifurcation_diagram

# In a quadrupolar field a branch of C_2h passes through states of D_3d, and ends where it meets ones of D_2h.
PROBLEM = McKeanVlasov(Sphere(3), GegenbauerSeries((0.0, 0.0, 0.0, -1.0)), confinement=GegenbauerSeries((0.0, 0.2)))


@functools.cache
def diagram():
    return bifurcation_diagram(PROBLEM, interval=(7.0, 12.0), depth=3, rates=False)


def points_on(label, kind, found):
    """Return the special points of a kind on the branch whose label begins so."""
    (branch,) = (place for place, each in enumerate(found.branches) if each.label.startswith(label))
    return [point for point in found.special_points if point.branch == branch and point.type == kind]


def test_a_crossing_is_where_the_more_symmetric_branch_is_singular():
    """There the equation of the other branch is regular, and an eigenvalue of a block of its own vanishes."""
    (crossed,) = points_on("D_3d", "branch point", diagram())
    (crossing,) = points_on("C_2h", "branch point", diagram())
    assert crossing.lower <= crossed.upper
    assert crossed.lower <= crossing.upper
    assert crossing.status == "converged"
    assert crossing.upper - crossing.lower < 1e-12
    assert not any("pass each other" in text for text in diagram().warnings)


def test_a_branch_ends_where_it_turns_back_as_its_own_image():
    """It would be traced twice, and its end be taken for a fold."""
    (place,) = (at for at, each in enumerate(diagram().branches) if each.label.startswith("C_2h"))
    assert diagram().branches[place].outcome == Outcome.JOINED_BRANCH
    (end,) = points_on("C_2h", "endpoint", diagram())
    (born,) = points_on("D_2h (3)", "branch point", diagram())
    assert end.lower <= born.upper
    assert born.lower <= end.upper
    assert end.upper - end.lower < 1e-6
    assert not points_on("C_2h", "fold", diagram())


def test_brackets_of_noisy_events_hold_the_place(monkeypatch):
    """On the curve itself eigenvalues have noise and jumps beside the crossing, far above rounding."""
    monkeypatch.setattr("solvers.branches.detection.crossing_between", lambda *_: None)
    found = bifurcation_diagram(PROBLEM, interval=(8.8, 9.4), depth=1, rates=False)
    (crossed,) = points_on("D_3d", "branch point", diagram())
    located = points_on("C_2h", "branch point", found)
    assert located
    for point in located:
        assert point.lower <= crossed.lower
        assert crossed.upper <= point.upper


def test_a_branch_between_two_others_is_told_once():
    """Its other end is found on a state in another orientation, from which it is followed back."""
    heptagonal = McKeanVlasov(Sphere(3), GegenbauerSeries((0.0,) * 6 + (-1.0,)))
    found = bifurcation_diagram(heptagonal, relative=(0.95, 1.05), depth=2, rates=False)
    between = [branch for branch in found.branches if branch.outcome == Outcome.JOINED_BRANCH]
    assert [branch.label for branch in between] == ["C_2v from zonal 7"]
    assert any(branch.label == "C_2v from D_7h 7" for branch in found.branches)
