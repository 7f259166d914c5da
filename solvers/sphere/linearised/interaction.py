"""How strongly a potential couples the degrees on a sphere, in units of the noise."""

from functools import cached_property, lru_cache

import numpy as np

from meanfield import McKeanVlasov
from meanfield.domains import Sphere

from ...bases import EPS, Floats
from ...limits import MAX_NODES

# Multipliers below this share of the largest are not felt.
NEGLIGIBLE = EPS / 16.0
# Larger numbers of harmonics leave the range of doubles.
LARGEST_MULTIPLICITY = 10**300


class Interaction:
    r"""The strengths :math:`\sigma_l = -\kappa w_l/D = N_l \lambda_l` of a problem on a sphere.

    Parameters
    ----------
    problem
        The equation, at a fixed coupling.
    """

    def __init__(self, problem: McKeanVlasov) -> None:
        self.problem = problem

    @cached_property
    def unit(self) -> np.longdouble:
        """The largest abs(sigma_l), with the sign of the coupling."""
        scale = np.longdouble(self.problem.potential.scale(self.problem.domain))
        return np.longdouble(self.problem.fixed_coupling) * scale / np.longdouble(self.problem.noise)

    @cached_property
    def felt(self) -> int:
        """A degree beyond which the potential is not felt, or the largest that is affordable."""
        limit = 16
        potential, domain = self.problem.potential, self.problem.domain
        while limit < MAX_NODES and potential.relative_tail_bound(domain, limit) > NEGLIGIBLE:
            limit *= 2
        relative = np.abs(potential.relative_multipliers(domain, limit))
        return int(np.flatnonzero(relative > NEGLIGIBLE).max(initial=1))

    def strengths(self, degree: int) -> Floats:
        """Return sigma_0 = 0, sigma_1, ..., sigma_degree, without underflow of the multipliers."""
        relative = self.problem.potential.extended_multipliers(self.problem.domain, degree)
        return np.asarray(-self.unit * relative, dtype=float)

    def strongest_beyond(self, degree: int) -> float:
        """Return a bound of abs(lambda_l) beyond a degree; N_l grows with l."""
        share = self.problem.potential.relative_tail_bound(self.problem.domain, degree)
        return float(abs(self.unit)) * share / Sphere(self.problem.domain.dimension).multiplicity(degree + 1)

    def beyond(self, degree: int, peak: float) -> float:
        """Bound the interaction beyond a degree, in units of D, at a density of the given peak abs(S) rho.

        By the peak times the strongest lambda_l, or by traces, at most abs(sigma_l) each, of some degrees more.
        """
        whole = peak * self.strongest_beyond(degree)
        if whole <= EPS:
            return whole
        last = 2 * degree + 16
        further = float(np.abs(self.strengths(last)[degree + 1 :]).sum())
        return min(whole, further + peak * self.strongest_beyond(last))


@lru_cache(maxsize=64)
def multiplicities(dimension: int, first: int, last: int) -> Floats:
    """Return N_first, ..., N_last as floats, at most ``LARGEST_MULTIPLICITY``."""
    sphere = Sphere(dimension)
    return np.array([float(min(sphere.multiplicity(k), LARGEST_MULTIPLICITY)) for k in range(first, last + 1)])


def repetitions(dimension: int, order: int) -> int:
    """Return how often everything in an azimuthal sector is repeated: the harmonics of S^(d-2) of its degree."""
    return Sphere(dimension).equator.multiplicity(order)
