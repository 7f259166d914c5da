"""Special points that are closer to each other than steps: what is stable between them."""

from itertools import pairwise

import numpy as np
import pytest

from meanfield import Circle, CosineSeries, External, Kuramoto, McKeanVlasov
from meanfield.records import segments, state_at
from solvers import bifurcation_diagram, spectrum

RANDOM = np.random.default_rng(2)
CHANGING = {"BP", "LP"}


@pytest.mark.parametrize("strength", [0.04, -0.04, 1e-3, -1e-5, 1e-7])
def test_two_branch_points_of_a_weak_field_bound_three_pieces(strength):
    """Critical where kappa times the variance of the cosine, or that of the sine, is one: 2/(1 -+ strength/20)."""
    problem = McKeanVlasov(Circle(), Kuramoto(), confinement=External(cosine=(0.0, 0.1 * strength)))
    primary = bifurcation_diagram(problem, (1.0, 4.0), rates=False).branches[0]
    angles = 2.0 * np.pi * np.arange(64) / 64
    density = np.exp(-0.1 * strength * np.cos(2.0 * angles))
    density /= density.sum()
    exact = sorted(1.0 / float(density @ wave(angles) ** 2) for wave in (np.cos, np.sin))
    pieces = list(segments(primary, primary.unstable))
    assert [kind for _, _, kind in pieces] == [0, 1, 2]
    assert [primary.coupling[last] for _, last, _ in pieces[:2]] == pytest.approx(exact, rel=1e-11)


def test_random_weak_fields_have_the_counts_of_the_spectrum_on_every_piece():
    looked = 0
    for _ in range(6):
        field = External(cosine=tuple(10.0 ** RANDOM.uniform(-4, -1) * RANDOM.uniform(-1.0, 1.0, 2) * (0.0, 1.0)))
        w = (-1.0, RANDOM.uniform(-1.2, -0.8) if RANDOM.integers(2) else RANDOM.uniform(-0.3, 0.3))
        diagram = bifurcation_diagram(
            McKeanVlasov(Circle(), CosineSeries(w), confinement=field), (1.0, 4.0), rates=False
        )
        for branch in diagram.branches:
            labels = [label in CHANGING for label in branch.point_labels]
            assert not any(one and other for one, other in pairwise(labels[1:-1]))
            for first, last, kind in segments(branch, branch.unstable):
                inside = [point for point in range(first, last + 1) if not labels[point]]
                if first > 0 and last < len(branch) - 1 and inside:
                    state = state_at(diagram.problem, branch, inside[len(inside) // 2])
                    found = spectrum(state)
                    if np.abs(found.eigenvalues).min() > 10.0 * found.error:
                        assert found.unstable == kind
                        looked += 1
    assert looked >= 3


def test_folds_that_rounding_makes_are_said_and_not_told():
    """Clusters in exponentially shallow barriers: along their uneven branch the coupling is known to 1e-7."""
    series, field = CosineSeries((-1.078, 0.267, -1.531, -1.313, 0.423)), CosineSeries((-0.15,))
    diagram = bifurcation_diagram(McKeanVlasov(Circle(), series, confinement=field), (0.0, 2.35), rates=False)
    folds = diagram.events("fold")
    assert [fold.status for fold in folds].count("guess") <= 1
    for one, other in pairwise(folds):
        assert one.branch != other.branch or one.upper < other.lower or other.upper < one.lower
    assert any("no folds are told between coupling" in warning for warning in diagram.warnings)
