"""The geometry of the circle: the kinds of densities, and the symmetries of all."""

from collections.abc import Sequence
from types import ModuleType

from meanfield import Equation, Spectrum, State
from meanfield.equations import Capability, has_free_energy

from ..bases import Basis
from ..branches.recording import Register
from ..equations.geometry import Birth, Densities, Threshold
from . import kinked_spectra, law_spectra, law_stability, rates, uneven, waves
from .axes import carries_current
from .births import first_threshold, folds_apart, follows_all, reaches_down, sides, symmetries
from .branching import birth, births_on_branch
from .complements import complements
from .equations import FEWEST, basis_of
from .kinked_spectra import is_kinked
from .meeting import compared, meeting, meets_none, nearest_image
from .moments import moment_arrays
from .orbits import are_images, name_of
from .search import search_all, search_covers, search_resolves
from .stability import block_matrix, blocks_of, copies, counted_together, rotations, unstable_along, unstable_counts


def _spectra(problem: Equation) -> ModuleType:
    """Return the module of spectra: of gradient laws, which are symmetric, beside kinks, or of any law."""
    if problem.lacks(Capability.GRADIENT):
        return law_spectra
    return kinked_spectra if is_kinked(problem) else rates


def _spectrum(state: State) -> Spectrum:
    """Return the spectrum at a state."""
    found: Spectrum = _spectra(state.problem).spectrum(state)
    return found


def _slowest_rate(state: State) -> float:
    """Return the contraction rate of a state."""
    found: float = _spectra(state.problem).slowest_rate(state)
    return found


def _slowest_rates(states: Sequence[State]) -> list[float | Exception]:
    """Return the contraction rates of states of one equation, or the errors instead."""
    found: list[float | Exception] = _spectra(states[0].problem).slowest_rates(states) if states else []
    return found


class _Densities(Densities):
    """Base of densities with an axis and without: the classes of degrees, and the branches born in them."""

    birth = staticmethod(birth)
    births_on_branch = staticmethod(births_on_branch)
    block_matrix = staticmethod(block_matrix)
    copies = staticmethod(copies)
    rotations = staticmethod(rotations)


class EvenDensities(_Densities):
    """Densities even about an axis."""

    unstable_counts = staticmethod(unstable_counts)
    unstable_along = staticmethod(unstable_along)
    counted_together = staticmethod(counted_together)
    blocks_of = staticmethod(blocks_of)
    meeting = staticmethod(meeting)
    meets_none = staticmethod(meets_none)
    nearest_image = staticmethod(nearest_image)
    name_of = staticmethod(name_of)
    moment_arrays = staticmethod(moment_arrays)


class LawDensities(EvenDensities):
    """Densities even about an axis, under a law without a symmetric linearisation."""

    unstable_counts = staticmethod(law_stability.unstable_counts)
    growth_matrices = staticmethod(law_stability.growth_matrices)
    is_counted = staticmethod(law_stability.is_counted)
    block_matrix = staticmethod(law_stability.block_matrix)
    rotations = staticmethod(law_stability.rotations)
    counted_together = Densities.counted_together
    unstable_along = Densities.unstable_along


class UnevenDensities(_Densities):
    """Densities that need not have an axis."""

    unstable_counts = staticmethod(uneven.unstable_counts)
    blocks_of = staticmethod(uneven.blocks_of)
    meeting = staticmethod(uneven.meeting)
    nearest_image = staticmethod(uneven.nearest_image)
    name_of = staticmethod(uneven.name_of)
    moment_arrays = staticmethod(uneven.moment_arrays)


class RotatingDensities(Densities):
    """Densities at rest in a rotating frame, under a law with a phase lag."""

    birth = staticmethod(waves.birth)
    births_on_branch = staticmethod(waves.births_on_branch)
    unstable_counts = staticmethod(waves.unstable_counts)
    growth_matrices = staticmethod(waves.growth_matrices)
    is_counted = staticmethod(waves.is_counted)
    blocks_of = staticmethod(waves.blocks_of)
    block_matrix = staticmethod(waves.block_matrix)
    copies = staticmethod(waves.copies)
    rotations = staticmethod(waves.rotations)
    meeting = staticmethod(waves.meeting)
    nearest_image = staticmethod(uneven.nearest_image)
    name_of = staticmethod(waves.name_of)
    moment_arrays = staticmethod(waves.moment_arrays)


EVEN, LAW, UNEVEN, ROTATING = EvenDensities(), LawDensities(), UnevenDensities(), RotatingDensities()


class CircleGeometry:
    """Symmetries of the circle, see :class:`solvers.equations.geometry.Geometry`."""

    fewest_nodes = FEWEST
    takes_kinks = True
    search_covers = search_covers
    search_resolves = search_resolves
    search_all = search_all

    carries_current = staticmethod(carries_current)
    searches = staticmethod(has_free_energy)
    basis = staticmethod(basis_of)
    complements = staticmethod(complements)
    first_threshold = staticmethod(first_threshold)
    folds_apart = staticmethod(folds_apart)
    follows_all = staticmethod(follows_all)
    reaches_down = staticmethod(reaches_down)
    compared = staticmethod(compared)
    sides = staticmethod(sides)
    symmetries = staticmethod(symmetries)
    are_images = staticmethod(are_images)
    slowest_rate = staticmethod(_slowest_rate)
    slowest_rates = staticmethod(_slowest_rates)
    spectrum = staticmethod(_spectrum)

    def frame(self, problem: Equation, samples: Sequence[Equation] = ()) -> None:
        """Return None: confinements even about another axis than 0 are turned by the bases."""

    def symmetry(self, divisor: int) -> int:
        """Return n of the invariance under rotation by 2 pi/n, the greatest divisor itself."""
        return divisor

    def further_births(
        self, problem: Equation, threshold: Threshold, found: list[Birth], register: Register
    ) -> list[Birth]:
        """Return no branch: the densities of all symmetries have been looked at."""
        return []

    def densities(self, basis: Basis, *, symmetric: bool = True) -> Densities:
        """Return the densities of a basis: even about an axis, or not; and perturbed in a symmetric way, or not."""
        return (EVEN if symmetric else LAW) if basis.even else (UNEVEN if symmetric else ROTATING)


CIRCLE = CircleGeometry()
