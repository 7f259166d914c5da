"""The subdivision of a window by curves, against a flood fill of a fine raster."""

import numpy as np
import pytest
from scipy.ndimage import label

from meanfield.records.curves import smooth
from solvers.phases.plane import NEAR, neighbours, subdivided

# Smaller components than this share of the window are not told apart from pixels.
SLIVER = 1e-4
LINE = np.linspace(-0.1, 1.1, 60)
TURN = np.linspace(0.0, 2 * np.pi, 200)


def circle(x, y, radius):
    return np.column_stack([x + radius * np.cos(TURN), y + radius * np.sin(TURN)])


def wave(height, size, number, phase):
    return np.column_stack([LINE, height + size * np.sin(number * LINE + phase)])


def divided(tracks):
    """Return the cells and the numbers of their faces."""
    slabs, faces = subdivided(tracks)
    return slabs, [cell for slab in slabs for cell in slab], faces


def filled(tracks, size=800):
    """Return the number of the component of every pixel, 0 on curves."""
    free = np.ones((size, size), dtype=bool)
    for track in tracks:
        fine = np.column_stack(
            [np.interp(np.linspace(0, len(track) - 1, 40000), np.arange(len(track)), side) for side in track.T]
        )
        inside = np.all((fine >= 0) & (fine < 1), axis=1)
        columns, rows = (fine[inside] * size).astype(int).T
        free[rows, columns] = False
    return label(free)[0]


CASES = {
    "nothing": [],
    "line": [wave(0.5, 0.0, 1, 0)],
    "circle": [circle(0.5, 0.5, 0.3)],
    "circle and line": [circle(0.5, 0.5, 0.3), wave(0.5, 0.0, 1, 0)],
    "two crossing waves": [wave(0.5, 0.2, 9, 0), wave(0.5, 0.2, 7, 1)],
    "leaves the window": [wave(0.9, 0.3, 8, 0)],
    "ends inside": [wave(0.5, 0.0, 1, 0)[:30]],
    "nested": [circle(0.5, 0.5, 0.4), circle(0.5, 0.5, 0.2), circle(0.45, 0.5, 0.1)],
    "box": [np.array([[0.2, 0.3], [0.6, 0.3], [0.6, 0.8], [0.2, 0.8], [0.2, 0.3]])],
    "open box": [np.array([[0.2, 0.3], [0.6, 0.3], [0.6, 0.8], [0.2, 0.8], [0.2, 0.4]])],
    "touching": [
        np.array([[0.0, 0.3], [0.5, 0.3], [1.0, 0.3]]),
        np.column_stack([np.linspace(0, 1, 101), 0.3 + (np.linspace(0, 1, 101) - 0.5) ** 2]),
    ],
    "cusp": [np.column_stack([0.7 - np.linspace(-0.8, 0.8, 81) ** 2, 0.5 + np.linspace(-0.8, 0.8, 81) ** 3 / 2])],
}


@pytest.mark.parametrize("name", CASES)
def test_faces_are_the_components_of_what_is_left(name):
    _, cells, faces = divided(CASES[name])
    # Where curves cross at a small angle the raster has components of a few pixels.
    shares = np.bincount(filled(CASES[name]).ravel())[1:] / 800**2
    areas = np.bincount(faces, [cell.area for cell in cells])
    assert np.count_nonzero(areas > SLIVER) == np.count_nonzero(shares > SLIVER)
    assert sum(cell.area for cell in cells) == pytest.approx(1.0, abs=1e-7)


@pytest.mark.parametrize("seed", range(6))
def test_random_curves(seed):
    random = np.random.default_rng(seed)
    tracks = [
        wave(random.uniform(0.2, 0.8), random.uniform(0, 0.3), random.uniform(1, 9), random.uniform(0, 6))
        for _ in range(3)
    ] + [circle(*random.uniform(0.2, 0.8, 2), random.uniform(0.05, 0.3))]
    _, cells, faces = divided(tracks)
    pixels = filled(tracks)
    size = len(pixels)
    # Points that the raster tells apart lie in different faces, and the others in one, slivers below a pixel aside.
    known: dict[int, set[int]] = {}
    for x, y in random.random((400, 2)):
        component = int(pixels[int(y * size), int(x * size)])
        own = [
            int(face)
            for cell, face in zip(cells, faces, strict=True)
            if cell.x[0] <= x <= cell.x[-1]
            and np.interp(x, cell.x, cell.lower) <= y <= np.interp(x, cell.x, cell.upper)
        ]
        if component and own:
            known.setdefault(component, set()).add(own[0])
    assert all(len(found) == 1 for found in known.values()), known
    assert len({face for found in known.values() for face in found}) == len(known)


@pytest.mark.parametrize("power", [2, 4])
def test_cells_are_as_steep_as_their_curves(power):
    """Of a slab between two places few are evenly spaced, and a curve that leaves it steeply has more."""
    x = 0.4 + 0.02 * np.linspace(0.0, 1.0, 400) ** 2
    y = np.maximum(0.0, 1.0 - (x - 0.4) / 0.02) ** (1 / power)
    track = np.column_stack([x, y])
    _, cells, _ = divided([track])
    within = [cell for cell in cells if cell.x[0] >= 0.4 and cell.x[-1] <= x[-1]]
    assert len(within) == 2
    for cell, side in zip(within, ("upper", "lower"), strict=True):
        np.testing.assert_allclose(np.interp(x, cell.x, getattr(cell, side)), y, rtol=0.0, atol=1.001 * NEAR)


def test_neighbours_are_beside_the_same_curve():
    slabs, cells, _ = divided(CASES["circle and line"])
    for one, other in neighbours(slabs):
        assert cells[one].above == cells[other].below
        assert np.array_equal(cells[one].upper, cells[other].lower)


def test_cubics_reproduce_a_cubic():
    t = np.linspace(0.0, 1.0, 5)
    places, slopes = np.column_stack([t, t**3]), np.column_stack([np.ones(5), 3 * t**2])
    fine = smooth(t, places, slopes)
    np.testing.assert_allclose(fine[:, 1], fine[:, 0] ** 3, atol=4 * np.finfo(float).eps)
