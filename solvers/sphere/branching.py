"""Branches that leave a branch of zonal states, or one of states without an axis."""

from ..bases import Floats, Integers
from ..branches.continuation import Point
from ..branches.detection import Event
from ..branches.junctions import Departure, departure_from, placed
from ..equations.geometry import Birth
from ..equations.sizing import equation_among
from .harmonics import HarmonicClass
from .naming import name_of_departure
from .polyhedral import broken_axis, broken_symmetry
from .stability import AzimuthalBlock

# Branches born where a state without an axis has more unstable directions than this on both sides are not followed:
# they are many, and lead neither to stable states nor to the saddles between these.
FOLLOWED = 1


def births_on_branch(event: Event) -> list[Birth]:
    """Return the branches born at a branch point of a zonal branch, one of each group orbit."""
    found: list[Birth] = []
    for block, (degrees, kernel) in zip(event.blocks, event.kernels, strict=True):
        assert isinstance(block, AzimuthalBlock)
        leave = _about_the_axis if block.order == 0 else broken_axis
        found += leave(event.origin, block, degrees, kernel)
    return found


def births_without_axis(event: Event) -> list[Birth]:
    """Return the branches born at a branch point of states without an axis, one of each group orbit."""
    if min(event.before or 0, event.after or 0) > FOLLOWED:
        return []
    kernels: list[tuple[HarmonicClass, Floats]] = []
    for block, (_, kernel) in zip(event.blocks, event.kernels, strict=True):
        assert isinstance(block, HarmonicClass)
        kernels.append((block, kernel))
    return broken_symmetry(event.origin, kernels)


def _about_the_axis(point: Point, block: AzimuthalBlock, degrees: Integers, kernel: Floats) -> list[Birth]:
    """Return the zonal births: both sides within the symmetry of a branch, one of two images across it."""
    old = point.equation
    equation = old if block.own else equation_among(old, 1)
    if equation is None:
        return []
    direction = placed(equation.basis.degrees, degrees, kernel)
    sides, order = ((1.0, -1.0), None) if block.own else ((1.0,), 2)
    return [zonal_birth(departure_from(point, equation, side * direction, order)) for side in sides]


def zonal_birth(departure: Departure) -> Birth:
    """Return a branch about an axis about to be followed under its name and symmetry."""
    return Birth(departure, name_of_departure(departure), departure.equation.basis.symmetry)
