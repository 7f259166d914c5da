"""The choice of densities for the relaxation to a state of a sphere: zonal ones, or all if others are slower."""

import math

from meanfield import Spectrum

from ...neighbourhood import Neighbourhood
from .about_axis import ZonalNeighbourhood
from .freely import FreeNeighbourhood, affordable

# Rates that agree to this are the same.
SAME_RATE = 1e-9


def neighbourhood(found: Spectrum) -> Neighbourhood:
    """Return the densities around a stable state that include the slowest affordable relaxation."""
    if not found.state.moments.has_axis:
        return FreeNeighbourhood(found)
    rates, gap = found.sectors[0], found.slowest_rate
    zonal = -float(rates[0]) if rates.size else math.inf
    if zonal <= gap * (1.0 + SAME_RATE):
        return ZonalNeighbourhood(found)
    followed = found.state.problem.domain.has_azimuth
    if followed and affordable(found):
        return FreeNeighbourhood(found)
    if not rates.size:
        return ZonalNeighbourhood(found)
    slowest = next(order for order, values in enumerate(found.sectors) if values.size and -values[0] <= gap)
    reason = "takes too long" if followed else "is beyond reach in this dimension"
    return ZonalNeighbourhood(
        found,
        (
            f"the slowest perturbations are of azimuthal order {slowest}, at the rate {gap:.10g}; the evolution of "
            f"densities without an axis {reason}, so zonal ones were followed, which relax at the rate "
            f"{zonal:.10g} of order 0",
        ),
    )
