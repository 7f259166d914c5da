"""The geometry of spheres: the kinds of densities, and the symmetries of all."""

from ..bases import Basis
from ..geometry import Densities
from . import harmonics, stability
from .births import births, first_threshold, folds_apart, follows_all, reaches_down
from .branching import births_on_branch, births_without_axis
from .equations import confined_symmetry, zonal_equation
from .identity import same_orbit, symmetry_of
from .linearised.layouts import slowest_rate, slowest_rates, spectrum
from .meeting import meeting, meeting_without_axis, nearest_image, same_place
from .moments import moment_arrays_by_order, zonal_moment_arrays
from .naming import name_of
from .search import search_all, search_covers


class ZonalDensities(Densities):
    """Densities about an axis."""

    births_on_branch = staticmethod(births_on_branch)
    unstable_counts = staticmethod(stability.unstable_counts)
    blocks_of = staticmethod(stability.blocks_of)
    block_matrix = staticmethod(stability.block_matrix)
    copies = staticmethod(stability.copies)
    rotations = staticmethod(stability.rotations)
    meeting = staticmethod(meeting)
    nearest_image = staticmethod(nearest_image)
    name_of = staticmethod(name_of)
    moment_arrays = staticmethod(zonal_moment_arrays)


class InvariantDensities(Densities):
    """Densities on S^2 without an axis, invariant under a finite group."""

    births_on_branch = staticmethod(births_without_axis)
    unstable_counts = staticmethod(harmonics.unstable_counts)
    is_stable = staticmethod(harmonics.is_stable)
    blocks_of = staticmethod(harmonics.blocks_of)
    block_matrix = staticmethod(harmonics.block_matrix)
    copies = staticmethod(harmonics.copies)
    rotations = staticmethod(harmonics.rotations)
    meeting = staticmethod(meeting_without_axis)
    nearest_image = staticmethod(nearest_image)
    name_of = staticmethod(name_of)
    moment_arrays = staticmethod(moment_arrays_by_order)


ZONAL, INVARIANT = ZonalDensities(), InvariantDensities()


class SphereGeometry:
    """Symmetries of the spheres, see :class:`solvers.geometry.Geometry`."""

    equation = zonal_equation
    births = births
    search_covers = search_covers
    search_all = search_all

    confined_symmetry = staticmethod(confined_symmetry)
    first_threshold = staticmethod(first_threshold)
    folds_apart = staticmethod(folds_apart)
    follows_all = staticmethod(follows_all)
    reaches_down = staticmethod(reaches_down)
    same_place = staticmethod(same_place)
    same_orbit = staticmethod(same_orbit)
    symmetry_of = staticmethod(symmetry_of)
    slowest_rate = staticmethod(slowest_rate)
    slowest_rates = staticmethod(slowest_rates)
    spectrum = staticmethod(spectrum)

    def densities(self, basis: Basis) -> Densities:
        """Return the densities of a basis: about an axis, or invariant under a group."""
        return ZONAL if basis.even else INVARIANT


SPHERE = SphereGeometry()
