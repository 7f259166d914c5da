"""What is particular to the spheres: their symmetries, the branches they allow, and their linearisation."""

from typing import TYPE_CHECKING

from meanfield import Spectrum

from .births import births as births
from .births import first_threshold as first_threshold
from .births import folds_apart as folds_apart
from .births import reaches_down as reaches_down
from .branching import births_on_branch as births_on_branch
from .branching import from_no_interaction as from_no_interaction
from .energy import bounded_below as bounded_below
from .identity import same_orbit as same_orbit
from .identity import symmetry_of as symmetry_of
from .linearised.layouts import slowest_rate as slowest_rate
from .linearised.layouts import slowest_rates as slowest_rates
from .linearised.layouts import spectrum as spectrum
from .meeting import meeting as meeting
from .meeting import nearest_image as nearest_image
from .meeting import same_place as same_place
from .moments import moment_arrays as moment_arrays
from .naming import name_of as name_of
from .perturbations import block_matrix as block_matrix
from .perturbations import blocks_of as blocks_of
from .perturbations import copies as copies
from .perturbations import counted_together as counted_together
from .perturbations import rotations as rotations
from .perturbations import unstable_along as unstable_along
from .perturbations import unstable_counts as unstable_counts
from .search import search_all as search_all
from .search import search_covers as search_covers

if TYPE_CHECKING:
    from ..surroundings import Surroundings


def surroundings(found: Spectrum) -> "Surroundings":
    """Return the densities about a stable state, of this spectrum, whose relaxation is to be seen."""
    # These evolve in time, and the evolution builds on this room.
    from .relaxing import about_axis

    return about_axis.surroundings(found)
