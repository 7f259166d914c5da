"""The geometry of spheres: the kinds of densities, and the symmetries of all."""

import math

from meanfield import Equation

from ..bases import Basis
from ..equations.geometry import Densities
from . import harmonics, law_stability, stability
from .births import first_threshold, folds_apart, follows_all, reaches_down, sides, symmetries
from .branching import births_on_branch, births_without_axis, zonal_birth
from .complements import complements
from .equations import FEWEST, basis_of
from .frames import frame
from .identity import are_images
from .linearised.layouts import slowest_rate, slowest_rates, spectrum
from .meeting import compared, meeting, meeting_without_axis, nearest_image
from .moments import moment_arrays
from .naming import name_of
from .polyhedral import birth_in_group, polyhedral_births
from .search import search_all, search_covers, search_resolves, searches


class ZonalDensities(Densities):
    """Densities about an axis."""

    birth = staticmethod(zonal_birth)
    births_on_branch = staticmethod(births_on_branch)
    unstable_counts = staticmethod(stability.unstable_counts)
    blocks_of = staticmethod(stability.blocks_of)
    block_matrix = staticmethod(stability.block_matrix)
    copies = staticmethod(stability.copies)
    rotations = staticmethod(stability.rotations)
    meeting = staticmethod(meeting)
    nearest_image = staticmethod(nearest_image)
    name_of = staticmethod(name_of)
    moment_arrays = staticmethod(moment_arrays)


class LawDensities(ZonalDensities):
    """Densities about an axis, under a law without a symmetric linearisation."""

    unstable_counts = staticmethod(law_stability.unstable_counts)
    growth_matrices = staticmethod(law_stability.growth_matrices)
    is_counted = staticmethod(law_stability.is_counted)
    blocks_of = staticmethod(law_stability.blocks_of)
    block_matrix = staticmethod(law_stability.block_matrix)
    rotations = staticmethod(law_stability.rotations)


class InvariantDensities(Densities):
    """Densities on S^2 without an axis, invariant under a finite group."""

    birth = staticmethod(birth_in_group)
    births_on_branch = staticmethod(births_without_axis)
    unstable_counts = staticmethod(harmonics.unstable_counts)
    blocks_of = staticmethod(harmonics.blocks_of)
    block_matrix = staticmethod(harmonics.block_matrix)
    copies = staticmethod(harmonics.copies)
    rotations = staticmethod(harmonics.rotations)
    meeting = staticmethod(meeting_without_axis)
    nearest_image = staticmethod(nearest_image)
    name_of = staticmethod(name_of)
    moment_arrays = staticmethod(moment_arrays)


ZONAL, LAW, INVARIANT = ZonalDensities(), LawDensities(), InvariantDensities()


class SphereGeometry:
    """Symmetries of the spheres, see :class:`solvers.equations.geometry.Geometry`."""

    fewest_nodes = FEWEST
    takes_kinks = False
    further_births = polyhedral_births
    search_covers = search_covers
    search_resolves = search_resolves
    search_all = search_all

    searches = staticmethod(searches)
    basis = staticmethod(basis_of)
    first_threshold = staticmethod(first_threshold)
    folds_apart = staticmethod(folds_apart)
    follows_all = staticmethod(follows_all)
    reaches_down = staticmethod(reaches_down)
    frame = staticmethod(frame)
    complements = staticmethod(complements)
    compared = staticmethod(compared)
    sides = staticmethod(sides)
    symmetries = staticmethod(symmetries)
    are_images = staticmethod(are_images)
    slowest_rate = staticmethod(slowest_rate)
    slowest_rates = staticmethod(slowest_rates)
    spectrum = staticmethod(spectrum)

    def symmetry(self, divisor: int) -> int:
        """Return 2 for densities that are the same at antipodes, 0 for the uniform one, else 1."""
        return math.gcd(divisor, 2) if divisor else 0

    def carries_current(self, problem: Equation) -> bool:
        """Return False: densities about an axis have no flux along the meridians."""
        return False

    def densities(self, basis: Basis, *, symmetric: bool = True) -> Densities:
        """Return the densities of a basis: about an axis, perturbed in a symmetric way or not, or of a group."""
        return (ZONAL if symmetric else LAW) if basis.even else INVARIANT


SPHERE = SphereGeometry()
