"""Random starts among all densities on the circle: scattered fields, clusters, and densities between known states."""

import numpy as np

from ..bases import Floats
from .ensemble import Ensemble
from .rotation import Complexes

# Half of the starts are even and some have a rotation symmetry: Newton's method keeps either, and meets there the
# states with many unstable directions, which are hard to meet among all densities.
EVEN = 0.5
# Decades of the sizes of fields.
FIELDS, SHARES = (-1.5, 0.8), (-1.0, 0.0)
# Clusters of a start at most, and the decades of their widths.
CLUSTERS, WIDTHS = 6, (-1.3, 0.3)
# Densities between two states reach so far beyond them, and are moved by so much.
BEYOND, MOVED = 0.3, 0.05


def random_starts(ensemble: Ensemble, count: int, generator: np.random.Generator) -> Complexes:
    """Return about as many independent starts, of all kinds in random order."""
    quarter = -(-count // 4)
    unit = np.ones(ensemble.strong.size)
    roots = 2.0 * np.sqrt(np.abs(ensemble.strengths[ensemble.strong]))
    rows = [
        _of_fields(ensemble, quarter, unit, FIELDS, generator, symmetric=True),
        _of_fields(ensemble, quarter, unit, FIELDS, generator),
        _of_fields(ensemble, quarter, roots, SHARES, generator),
        _of_clusters(ensemble, quarter, generator),
    ]
    return generator.permutation(np.concatenate(rows))


def starts_between(
    ensemble: Ensemble, states: Complexes, count: int, generator: np.random.Generator
) -> Complexes:
    """Return densities on lines through two states, turned and reflected, and beyond them."""
    one, other = states[generator.integers(len(states), size=(2, count))]
    mirrored = generator.uniform(size=(count, 1)) < 0.5
    other = np.where(mirrored, other.conj(), other)
    if not ensemble.confined:
        angles = generator.uniform(0.0, 2.0 * np.pi, (count, 1))
        other = other * np.exp(-1j * angles * ensemble.degrees)
    share = generator.uniform(-BEYOND, 1.0 + BEYOND, (count, 1))
    return np.asarray((1.0 - share) * one + share * other + MOVED * _normal(one.shape, generator))


def _of_fields(
    ensemble: Ensemble,
    count: int,
    sizes: Floats,
    decades: tuple[float, float],
    generator: np.random.Generator,
    symmetric: bool = False,
) -> Complexes:
    """Return Gibbs densities of random fields on some of the strong modes."""
    shape = (count, sizes.size)
    fields = sizes * _normal(shape, generator) * (generator.uniform(size=shape) < 0.5)
    fields *= 10.0 ** generator.uniform(*decades, (count, 1))
    fields = _some_even(fields, generator)
    if symmetric:
        symmetries = 1 + np.floor(generator.exponential(0.8, (count, 1))).astype(int)
        fields = fields * (ensemble.degrees[ensemble.strong] % symmetries == 0)
    felt = np.zeros((count, ensemble.degrees.size), dtype=complex)
    felt[:, ensemble.strong] = 0.5 * fields
    return ensemble.densities_of(felt)[0][:, ensemble.degrees]


def _of_clusters(ensemble: Ensemble, count: int, generator: np.random.Generator) -> Complexes:
    """Return sums of a few Gaussian clusters of one width, of random weights and places."""
    shape = (count, CLUSTERS)
    there = generator.uniform(size=shape) < generator.uniform(0.2, 1.0, (count, 1))
    weights = generator.exponential(size=shape) * np.where(there, 1.0, 1e-9)
    weights /= weights.sum(axis=1, keepdims=True)
    places = generator.uniform(0.0, 2.0 * np.pi, shape)
    widths = 10.0 ** generator.uniform(*WIDTHS, (count, 1))
    waves = np.exp(-1j * places[:, :, None] * ensemble.degrees)
    rows = np.einsum("sc,sck->sk", weights, waves) * np.exp(-0.5 * (widths * ensemble.degrees) ** 2)
    return _some_even(rows, generator)


def _some_even(rows: Complexes, generator: np.random.Generator) -> Complexes:
    even = generator.uniform(size=(len(rows), 1)) < EVEN
    return np.where(even, rows.real, rows)


def _normal(shape: tuple[int, ...], generator: np.random.Generator) -> Complexes:
    return np.asarray(generator.standard_normal(shape) + 1j * generator.standard_normal(shape))
