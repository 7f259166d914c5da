"""Particles on globes: which points are drawn where."""

import numpy as np
import pytest

from meanfield import Circle, Ensemble, InvalidInput, Kuramoto, McKeanVlasov, Outcome, Sphere

POINTS = np.array([[0.0, 0.0, 1.0], [1.0, 0.0, 0.0], [0.0, 0.6, -0.8], [0.0, -1.0, 0.0], [0.6, 0.0, 0.8]])


def ensemble(positions, domain=None):
    positions = None if positions is None else np.asarray(positions)[np.newaxis]
    sphere = Sphere(3) if domain is None else domain
    return Ensemble(
        problem=McKeanVlasov(sphere, Kuramoto(), noise=0.0, coupling=1.0),
        particles=5,
        replicas=1,
        seed=1,
        step=0.1,
        scheme="by hand",
        time=np.array([0.0, 1.0]),
        cosine=np.ones((1, 2, 2)),
        sine=np.zeros((1, 2, 2)),
        histogram=np.zeros((1, 8), dtype=np.int64),
        positions=positions,
        outcome=Outcome.COMPLETED,
    )


def test_points_in_front_are_drawn_over_those_behind():
    ax = ensemble(POINTS).plot_cloud(view=(0.0, 0.0, 2.0), color="red", s=9.0)
    behind, front = ax.collections
    # From above the north pole the meridian of azimuth 0 points down: x to the bottom, y to the right.
    assert np.asarray(behind.get_offsets()) == pytest.approx(np.array([[0.6, 0.0]]), abs=1e-12)
    places = np.array([[0.0, 0.0], [0.0, -1.0], [-1.0, 0.0], [0.0, -0.6]])
    assert np.asarray(front.get_offsets()) == pytest.approx(places, abs=1e-12)
    assert behind.get_zorder() < front.get_zorder()
    assert behind.get_alpha() < 0.5
    assert front.get_alpha() is None
    assert front.get_sizes() == pytest.approx(9.0)
    assert not ax.axison


@pytest.mark.parametrize("direction", [(1, 1, 1), (-1, 1, -1), (1, -1, -1)])
def test_a_cluster_is_seen_from_its_side(direction):
    cluster = np.tile(np.array(direction) / np.sqrt(3.0), (5, 1))
    behind, front = ensemble(cluster).plot_cloud().collections
    assert len(behind.get_offsets()) == 0
    assert np.linalg.norm(front.get_offsets(), axis=1).max() < 0.7


def test_what_is_no_cloud_is_refused_in_a_sentence():
    lost = POINTS.copy()
    lost[2] = np.nan
    for wrong, options, sentence in (
        (ensemble(None), {}, r"were not kept; give simulate\(..., keep_positions=True\)"),
        (ensemble(POINTS), {"replica": 1}, "replica must be a whole number from 0 to 0, not 1"),
        (ensemble(lost), {}, "replica 0 did not come to the end"),
        (ensemble(POINTS), {"view": (0, 0, 0)}, "a view is the direction to look from"),
        (ensemble(np.zeros(5), Circle()), {}, r"ordinary sphere, Sphere\(3\), not on the circle"),
        (ensemble(np.zeros((5, 4)), Sphere(4)), {}, r"ordinary sphere, Sphere\(3\), not on"),
    ):
        with pytest.raises(InvalidInput, match=sentence):
            wrong.plot_cloud(**options)
