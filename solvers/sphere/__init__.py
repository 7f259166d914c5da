"""What is particular to the spheres: their symmetries, the branches they allow, and their linearisation."""

from .births import births, first_threshold, folds_apart, reaches_down
from .branching import births_on_branch
from .equations import confined_symmetry, zonal_equation
from .identity import same_orbit, symmetry_of
from .linearised.layouts import slowest_rate, slowest_rates, spectrum
from .meeting import meeting, nearest_image, same_place
from .moments import moment_arrays
from .naming import name_of
from .perturbations import (
    block_matrix,
    blocks_of,
    copies,
    counted_together,
    rotations,
    unstable_along,
    unstable_counts,
)
from .search import search_all, search_covers


class SphereGeometry:
    """Symmetry and perturbations of densities on spheres, see :class:`solvers.geometry.Geometry`."""

    equation = zonal_equation
    births = births
    search_covers = search_covers
    search_all = search_all

    confined_symmetry = staticmethod(confined_symmetry)
    first_threshold = staticmethod(first_threshold)
    folds_apart = staticmethod(folds_apart)
    reaches_down = staticmethod(reaches_down)
    births_on_branch = staticmethod(births_on_branch)
    same_orbit = staticmethod(same_orbit)
    symmetry_of = staticmethod(symmetry_of)
    slowest_rate = staticmethod(slowest_rate)
    slowest_rates = staticmethod(slowest_rates)
    spectrum = staticmethod(spectrum)
    meeting = staticmethod(meeting)
    nearest_image = staticmethod(nearest_image)
    same_place = staticmethod(same_place)
    moment_arrays = staticmethod(moment_arrays)
    name_of = staticmethod(name_of)
    block_matrix = staticmethod(block_matrix)
    blocks_of = staticmethod(blocks_of)
    copies = staticmethod(copies)
    counted_together = staticmethod(counted_together)
    rotations = staticmethod(rotations)
    unstable_along = staticmethod(unstable_along)
    unstable_counts = staticmethod(unstable_counts)


SPHERE = SphereGeometry()
