"""Numbers of harmonics of each degree in double precision."""

import math

import numpy as np

from meanfield import Domain

from ..bases import Floats

# Densities with more harmonics in a degree than this are beyond double precision.
MOST_HARMONICS = 10**200


def multiplicities(domain: Domain, degree: int) -> Floats:
    """Return N_0, ..., N_degree; infinity where they are beyond double precision."""
    counts = [domain.multiplicity(k) for k in range(degree + 1)]
    return np.array([float(count) if count < MOST_HARMONICS else math.inf for count in counts])
