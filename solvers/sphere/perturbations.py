"""The blocks of the perturbations of a state: azimuthal sectors about an axis, else classes of harmonics."""

from collections.abc import Sequence

from ..bases.zonal import ZonalBasis
from ..branches.continuation import Point
from ..geometry import BlockMatrix
from ..newton import NEUTRAL
from . import harmonics, stability
from .harmonics import HarmonicClass
from .stability import AzimuthalBlock

Block = AzimuthalBlock | HarmonicClass


def unstable_counts(point: Point, neutral: float = NEUTRAL) -> tuple[int, int]:
    """Return the numbers of unstable directions that keep the axis or symmetry of the state, and of all others."""
    if isinstance(point.equation.basis, ZonalBasis):
        return stability.unstable_counts(point, neutral)
    return harmonics.unstable_counts(point, neutral)


def unstable_along(points: Sequence[Point]) -> list[tuple[int, int]]:
    """Return what :func:`unstable_counts` does at points of a branch."""
    return [unstable_counts(point) for point in points]


def counted_together(point: Point) -> int:
    """Return how many points of a branch are best counted at once: their matrices are large."""
    return 1


def blocks_of(point: Point) -> list[Block]:
    """Return the blocks in which a direction can be unstable at a point or beside it."""
    if isinstance(point.equation.basis, ZonalBasis):
        return [*stability.blocks_of(point)]
    return [*harmonics.harmonic_perturbations(point.equation).classes]


def block_matrix(point: Point, block: Block) -> BlockMatrix:
    """Return the matrix of one block at a point."""
    if isinstance(block, HarmonicClass):
        return harmonics.block_matrix(point, block)
    return stability.block_matrix(point, block)


def copies(point: Point, one: Block, other: Block) -> bool:
    """Whether two blocks have the same eigenvalues by symmetry; those of one branch point are then merged.

    Classes of harmonics are finer than the symmetry of a polyhedral state, whose eigenvalues are multiple.
    """
    return isinstance(one, HarmonicClass) and isinstance(other, HarmonicClass)


def rotations(point: Point, block: Block) -> int:
    """Return how many rotations of a state, which the matrices move to one, are in a block; counted once a copy."""
    if isinstance(block, HarmonicClass):
        return harmonics.rotations(point, block)
    return stability.rotations(point, block)
