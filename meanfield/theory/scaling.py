"""Multipliers in a unit that is smooth in the parameters of a potential, as the largest of them is not."""

from typing import Any

import numpy as np

from ..domains import Domain
from ..harmonics.gegenbauer import Extended, multiplicities

# The unit is the norm over so many degrees at least.
COUNTED = 32


def normalised_multipliers(potential: Any, domain: Domain, degree: int) -> Extended:
    """Return w_k/N_k over the norm of those with k >= 1, for k = 0 to the degree or further, in longdouble."""
    last = max(degree, COUNTED)
    relative = potential.extended_multipliers(domain, last) / multiplicities(domain, last)
    norm = np.sqrt((relative[1:] ** 2).sum())
    return np.asarray(relative / norm if norm > 0 else relative)
