"""What is particular to the circle: its symmetries, the branches they allow, and its linearisation."""

from ..felt import confining_symmetry
from .births import births, first_threshold, folds_apart, reaches_down
from .branching import births_on_branch
from .equations import circle_equation
from .meeting import meeting, nearest_image, same_place
from .moments import moment_arrays
from .orbits import name_of, same_orbit, symmetry_of
from .rates import slowest_rate, slowest_rates
from .search import search_all, search_covers
from .spectra import spectrum
from .stability import block_matrix, blocks_of, copies, counted_together, rotations, unstable_along, unstable_counts


class CircleGeometry:
    """Symmetry and perturbations of densities on the circle, see :class:`solvers.geometry.Geometry`."""

    equation = circle_equation
    births = births
    search_covers = search_covers
    search_all = search_all

    confined_symmetry = staticmethod(confining_symmetry)
    first_threshold = staticmethod(first_threshold)
    folds_apart = staticmethod(folds_apart)
    reaches_down = staticmethod(reaches_down)
    births_on_branch = staticmethod(births_on_branch)
    meeting = staticmethod(meeting)
    nearest_image = staticmethod(nearest_image)
    same_place = staticmethod(same_place)
    moment_arrays = staticmethod(moment_arrays)
    slowest_rate = staticmethod(slowest_rate)
    slowest_rates = staticmethod(slowest_rates)
    name_of = staticmethod(name_of)
    same_orbit = staticmethod(same_orbit)
    symmetry_of = staticmethod(symmetry_of)
    spectrum = staticmethod(spectrum)
    block_matrix = staticmethod(block_matrix)
    blocks_of = staticmethod(blocks_of)
    copies = staticmethod(copies)
    counted_together = staticmethod(counted_together)
    rotations = staticmethod(rotations)
    unstable_along = staticmethod(unstable_along)
    unstable_counts = staticmethod(unstable_counts)


CIRCLE = CircleGeometry()
