"""Linear systems, Newton's method and relaxations of the free energy for many starts of a search at once."""

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..bases import Floats, Integers

# Real moments on spheres, complex ones on the circle.
Rows = NDArray[Any]
# Factors of the length of a step after one that lowered the free energy, and after one that would have raised it.
LONGER, SHORTER = 1.5, 0.4
# A start that has not settled after so many steps wanders among states that others reach directly.
ITERATIONS = 30
# Steps as long as those two before, twice in turn and up to this share, go round a cycle of two; those of an
# iteration that converges are shorter by half at the least.
CYCLE = 1e-4
# It takes tens of steps until they are as long as that. Of steps longer than the first number, which lead to no
# state nearby, the second share is enough; shorter ones may also turn a state that a grid hardly holds in place.
FAR, NEARLY = 0.3, 0.1


def solutions(matrices: Floats, sides: Floats) -> Floats:
    """Return the solutions (n, size) of systems (n, size, size); of least squares if one is exactly singular.

    Rows that are not finite have no solution and are nan.
    """
    try:
        return np.asarray(np.linalg.solve(matrices, sides[:, :, None])[:, :, 0])
    except np.linalg.LinAlgError:
        found = np.full(sides.shape, np.nan)
        finite = np.isfinite(matrices).all(axis=(1, 2)) & np.isfinite(sides).all(axis=1)
        found[finite] = (np.linalg.pinv(matrices[finite]) @ sides[finite][:, :, None])[:, :, 0]
        return found


def newton(
    rows: Rows,
    advanced: Callable[[Rows, Floats], tuple[Rows, Floats, NDArray[np.bool_]]],
    entries: int,
    batch: int,
    iterations: int = ITERATIONS,
) -> tuple[Integers, Rows]:
    """Return from which rows Newton's method converges, and the states there.

    Parameters
    ----------
    rows : (n, size) float or complex
        The starts.
    advanced
        Returns rows after a step, the lengths of the whole steps, and which have arrived, given the last lengths.
    entries, batch
        The arrays of a row have so many entries, and so many are worked on at once, so that they stay in the cache.
    iterations
        The most steps of a start.
    """
    ends, running = rows.copy(), np.arange(len(rows))
    found = [running[:0]]
    # The lengths of the last four steps of those that are running, the last one first.
    lengths = np.full((4, len(rows)), np.inf)
    for _ in range(iterations):
        if not running.size:
            break
        length, arrived = np.empty(running.size), np.empty(running.size, dtype=bool)
        for part in spans(running.size, entries, batch):
            ends[running[part]], length[part], arrived[part] = advanced(ends[running[part]], lengths[0, part])
        found.append(running[arrived])
        lengths = np.concatenate([length[None], lengths[:-1]])
        kept = ~(arrived | in_cycle(lengths))
        running, lengths = running[kept], lengths[:, kept]
    arrivals = np.sort(np.concatenate(found))
    return arrivals, ends[arrivals]


def spans(count: int, entries: int, batch: int) -> list[slice]:
    """Return the slices that divide rows into parts whose arrays have about ``batch`` entries."""
    number = 1 + count * entries // batch
    return [slice(*pair) for pair in pairwise(count * place // number for place in range(number + 1))]


def parts(rows: Integers, entries: int, batch: int) -> list[Integers]:
    """Return rows in parts whose arrays have about ``batch`` entries."""
    return [rows[span] for span in spans(rows.size, entries, batch)]


def in_cycle(lengths: Floats) -> NDArray[np.bool_]:
    """Return which starts go round a cycle of two, or to infinity, by the lengths of their last four steps."""
    one, other = lengths[:2], lengths[2:]
    longest = 1.0 + np.where(lengths.min(axis=0) > FAR, NEARLY, CYCLE)
    same = (one < longest * other) & (other < longest * one)
    return np.asarray(same.all(axis=0) | ~np.isfinite(one[0]))


def relaxed(
    fields: Rows,
    strengths: Floats,
    described: Callable[[Rows], tuple[Rows, Floats]],
    steps: int,
    settled: float = 0.0,
) -> tuple[Rows, Floats]:
    r"""Return the moments of the Gibbs densities of fields after relaxation steps, and their free energies.

    The field moves towards that of the density, :math:`f \to f + \tau (f_\rho - f)`, the gradient of F in the
    geometry of the entropy. Where F would rise, tau is too long for the repulsive modes and is shortened.

    Parameters
    ----------
    fields : (n, size) float or complex
        The coefficients of f, a row for each density.
    strengths : (size,) float
        Factors from the moments of a density to its field.
    described
        Returns the moments, (n, size), and the free energies over the noise, (n,), of the densities of fields.
    steps
        Number of steps at most.
    settled
        A density whose moments change by less than this in a step, of length one, is not changed any more.
    """
    fields, share = fields.copy(), np.ones(len(fields))
    moments, energies = described(fields)
    running = np.arange(len(fields))
    for _ in range(steps):
        before, ahead = fields[running], moments[running]
        trial = before + share[running, None] * (strengths * ahead - before)
        lower, below = described(trial)
        falls = below <= energies[running]
        moved = running[falls]
        fields[moved], moments[moved], energies[moved] = trial[falls], lower[falls], below[falls]
        slow = falls & (np.abs(lower - ahead).max(axis=1) < settled * share[running])
        share[running] = np.where(falls, np.minimum(1.0, LONGER * share[running]), SHORTER * share[running])
        running = running[~slow]
        if not running.size:
            break
    return moments, energies
