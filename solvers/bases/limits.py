"""The largest systems that the solvers accept, and the check of memory."""

import os

from meanfield import InvalidInput

MAX_NODES = 8192
MAX_UNKNOWNS = 1024
# Dense tables of polynomials take 150 MB at this size, those of spherical harmonics about as much.
MAX_ZONAL_NODES = 4096
MAX_SPHERICAL_DEGREE = 256
# All harmonics up to this degree decide the stability of states on S^2 without an axis: four thousand.
MAX_HARMONIC_DEGREE = 64
# Largest degree in time evolution.
MAX_DEGREE = 2048
# Times that a record of an evolution or of particles can have, and steps of particles to the last of them.
MOST_TIMES = 10**6
MOST_STEPS = 10**9


def require_memory(numbers: float, what: str, advice: str) -> None:
    """Refuse, before it begins, a computation that needs more memory than this process may have.

    Parameters
    ----------
    numbers
        Doubles that are held at a time, at the least.
    what, advice
        What they are for, and a smaller alternative, for the sentence.

    Raises
    ------
    InvalidInput
        If the computer, or the limit set for this process, has less.
    """
    needed, available = 8.0 * numbers, _memory()
    if needed > available:
        raise InvalidInput(
            f"{what} would take {needed / 1e9:.3g} GB of memory, more than the {available / 1e9:.3g} GB there are; "
            f"{advice}"
        )


def _memory() -> float:
    """Return the bytes of memory of this computer, or the limit of this process if that is less."""
    try:
        import resource

        limit = resource.getrlimit(resource.RLIMIT_AS)[0]
        installed = float(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))
        return installed if limit == resource.RLIM_INFINITY else min(installed, float(limit))
    except (ImportError, OSError, ValueError):
        return float("inf")
