"""The two Wasserstein distances between measures of any kind."""

from collections.abc import Callable

from ..arguments import checked
from . import levels, samples, shifts
from .measures import Density, Floats, Sample

Measure = Sample | Density


@checked
def wasserstein1(one: Measure, other: Measure) -> float:
    r"""Return the Wasserstein distance of order 1 for the geodesic distance, in radians.

    Nothing is discretised; the rounding error is a few times 1e-15. The cost is :math:`O(N\log N)` for samples
    of N points.

    Parameters
    ----------
    one, other : Sample or Density
        A density is best made once and compared many times.

    Raises
    ------
    InvalidInput
        If an argument is neither.

    Examples
    --------
    >>> round(wasserstein1(Sample([0.1]), Sample([-0.2])), 12)
    0.3
    """
    return _dispatched(one, other, samples.first_distance, levels.sample_distance, levels.density_distance)


@checked
def wasserstein2(one: Measure, other: Measure) -> float:
    r"""Return the Wasserstein distance of order 2 for the geodesic distance, in radians.

    Nothing is discretised but the integral between two densities, whose nodes are doubled until it settles.
    Masses are known to rounding, :math:`\varepsilon\approx 10^{-16}`; carried over a distance d, where a density
    vanishes, such an error is worth :math:`d\sqrt\varepsilon` of distance, otherwise about
    :math:`\varepsilon/\min\rho`. The cost is :math:`O(N\log N)` for samples of N points.

    Parameters
    ----------
    one, other : Sample or Density
        A density is best made once and compared many times.

    Raises
    ------
    InvalidInput
        If an argument is neither.
    ComputationFailed
        If two densities are so concentrated that the integral does not settle.

    Examples
    --------
    >>> round(wasserstein2(Sample([0.0, 1.0]), Sample([0.5])), 12)
    0.5
    """
    return _dispatched(one, other, samples.second_distance, shifts.sample_distance, shifts.density_distance)


def _dispatched(
    one: Measure,
    other: Measure,
    of_samples: Callable[[Floats, Floats], float],
    of_both: Callable[[Floats, Density], float],
    of_densities: Callable[[Density, Density], float],
) -> float:
    if isinstance(one, Sample):
        if isinstance(other, Sample):
            return of_samples(one.angles, other.angles)
        return of_both(one.angles, other)
    return of_both(other.angles, one) if isinstance(other, Sample) else of_densities(one, other)
