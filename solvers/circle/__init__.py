"""What is particular to the circle: its symmetries, the branches they allow, and its linearisation."""

from typing import TYPE_CHECKING

from meanfield import Spectrum

from .births import births as births
from .births import first_threshold as first_threshold
from .births import folds_apart as folds_apart
from .births import reaches_down as reaches_down
from .bounds import bounded_below as bounded_below
from .branching import births_on_branch as births_on_branch
from .branching import from_no_interaction as from_no_interaction
from .meeting import meeting as meeting
from .meeting import nearest_image as nearest_image
from .meeting import same_place as same_place
from .moments import moment_arrays as moment_arrays
from .rates import slowest_rate as slowest_rate
from .rates import slowest_rates as slowest_rates
from .search import name_of as name_of
from .search import same_orbit as same_orbit
from .search import search_all as search_all
from .search import search_covers as search_covers
from .search import symmetry_of as symmetry_of
from .spectra import spectrum as spectrum
from .stability import block_matrix as block_matrix
from .stability import blocks_of as blocks_of
from .stability import copies as copies
from .stability import counted_together as counted_together
from .stability import rotations as rotations
from .stability import unstable_along as unstable_along
from .stability import unstable_counts as unstable_counts

if TYPE_CHECKING:
    from ..surroundings import Surroundings


def surroundings(found: Spectrum) -> "Surroundings":
    """Return the densities about a stable state, of this spectrum, whose relaxation is to be seen."""
    # These evolve in time, and the evolution builds on this room.
    from . import relaxing

    return relaxing.surroundings(found)
