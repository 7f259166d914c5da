"""The slowest decay rate of a state on S^2 without an axis, one small symmetric matrix per class of harmonics.

The harmonics go up to a degree that resolves the root of the density, and further until those left out change the
rate no more. A rate too small for this way of computing it is taken from :mod:`.full_spectra`.
"""

import numpy as np

from meanfield import State

from ...bases import EPS
from .full_fields import full_field, is_uniform, resolving_degree
from .full_matrices import Linearisation
from .full_spectra import class_values
from .uniform import uniform_eigenvalues

# The root of the density has so little left beyond the first degree tried.
FIRST_SHARE = 1e-6
# Truncation may change a rate by this share, or by one unit of rounding in units of D.
TRUNCATION_TOLERANCE = 5e-9
# A rate is kept if its rounding error is below this share of it.
RELATIVE_TOLERANCE = 1e-8


def slowest_rate(state: State) -> float:
    """Return the slowest decay rate of perturbations of a state given by degree and order, rotation excluded.

    Parameters
    ----------
    state
        A stationary state on S^2.

    Returns
    -------
    float
        In units of 1/time; negative when unstable.

    Raises
    ------
    NotResolved
        If the state needs more harmonics than are affordable.
    """
    if is_uniform(state):
        return -float(uniform_eigenvalues(state.problem, 0, 1)[0][0])
    field, share, degree = full_field(state), FIRST_SHARE, 0
    while True:
        degree = resolving_degree(field, share, degree + 1)
        whole = Linearisation(field, degree)
        blocks = [whole.matrices(table) for table in whole.tables]
        pairs = [block.lowest(1)[0] for block in blocks]
        slowest = int(np.argmin([pair.level for pair in pairs]))
        level = pairs[slowest].level
        noise = blocks[slowest].rounding(pairs[slowest])
        truncation = blocks[slowest].truncation(pairs[slowest])
        allowed = max(TRUNCATION_TOLERANCE * abs(level), EPS)
        if truncation <= allowed and level <= whole.beyond:
            break
        # The truncation goes with the square of the share.
        share *= min(1.0, 0.5 * float(np.sqrt(allowed / max(truncation, EPS * allowed))))
    if noise <= RELATIVE_TOLERANCE * abs(level):
        return whole.noise * level
    doubtful = [block for block, pair in zip(blocks, pairs, strict=True) if pair.level <= level + noise]
    return whole.noise * min(class_values(block, 0.0).pairs[0].level for block in doubtful)
