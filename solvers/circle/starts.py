"""Random starts among all densities on the circle: of random fields, of clusters, and between known states."""

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
# Angles for each degree at which torques are looked at.
TURNS = 8
# Densities between two states reach so far beyond them, and are moved by so much.
BEYOND, MOVED = 0.3, 0.05


def random_starts(ensemble: Ensemble, count: int, generator: np.random.Generator) -> Complexes:
    """Return about ``count`` independent starts, of all kinds in random order."""
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


def starts_between(ensemble: Ensemble, states: Complexes, count: int, generator: np.random.Generator) -> Complexes:
    """Return densities on lines through two states, turned and reflected, and beyond them."""
    one, other = states[generator.integers(len(states), size=(2, count))]
    mirrored = generator.uniform(size=(count, 1)) < 0.5
    other = np.where(mirrored, other.conj(), other)
    if not ensemble.confined:
        angles = generator.uniform(0.0, 2.0 * np.pi, (count, 1))
        other = other * np.exp(-1j * angles * ensemble.degrees)
    share = generator.uniform(-BEYOND, 1.0 + BEYOND, (count, 1))
    return np.asarray((1.0 - share) * one + share * other + MOVED * _normal(one.shape, generator))


def starts_on_axes(ensemble: Ensemble, states: Complexes) -> Complexes:
    """Return even densities near states, turned so that their largest moment is real, as weak fields align them."""
    starts = []
    for row in states[np.abs(states).max(axis=1) > 0.0]:
        largest = int(np.abs(row).argmax())
        degree = int(ensemble.degrees[largest])
        angles = (np.angle(row[largest]) + np.pi * np.arange(2 * degree)) / degree
        starts.append((row * np.exp(-1j * np.multiply.outer(angles, ensemble.degrees))).real + 0j)
    return np.concatenate([*starts, states[:0]])


def starts_without_torque(ensemble: Ensemble, states: Complexes) -> Complexes:
    """Return densities of states, turned to where a confinement without symmetry exerts no torque on them.

    A weak one changes a density little but for its angle, and there are states near all of these.
    """
    starts = []
    for row in states[np.abs(states).max(axis=1) > 0.0]:
        torque = ensemble.torques(row)
        values = np.fft.irfft(0.5 * torque, TURNS * torque.size, norm="forward")
        following = np.roll(values, -1)
        places = np.flatnonzero(values * following < 0.0)
        shares = values[places] / (values[places] - following[places])
        angles = 2.0 * np.pi * (places + shares) / values.size
        starts.append(row * np.exp(-1j * np.multiply.outer(angles, ensemble.degrees)))
    return np.concatenate([*starts, states[:0]])


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
    there = 1.0 if symmetric else generator.uniform(size=shape) < 0.5
    fields = sizes * _normal(shape, generator) * there
    fields *= 10.0 ** generator.uniform(*decades, (count, 1))
    even = generator.uniform(size=(count, 1)) < EVEN
    fields = np.where(even, fields.real, fields)
    if symmetric:
        degrees = ensemble.degrees[ensemble.strong]
        # Clusters of as many parts as a mode that attracts are the commonest.
        parts = np.concatenate([degrees, degrees[ensemble.strengths[ensemble.strong] > 0.0]])
        fields = fields * (degrees % generator.choice(parts, (count, 1)) == 0)
    significant = np.zeros((count, ensemble.degrees.size), dtype=complex)
    significant[:, ensemble.strong] = 0.5 * fields
    rows = ensemble.densities_of(significant)[0][:, ensemble.degrees]
    return np.where(even, rows.real, rows)


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
    return np.asarray(np.where(generator.uniform(size=(count, 1)) < EVEN, rows.real, rows))


def _normal(shape: tuple[int, ...], generator: np.random.Generator) -> Complexes:
    return np.asarray(generator.standard_normal(shape) + 1j * generator.standard_normal(shape))
