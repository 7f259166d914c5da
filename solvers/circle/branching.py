r"""Branches that leave a branch point along every new direction, up to symmetry.

At a state of symmetry n (uniform: every n) a critical block of class j has the symmetry :math:`g = \gcd(j, n)`
and acts as a representation of the dihedral group of order :math:`2m`, :math:`m = n/g`:

- m = 2: the cosine and the sine block are critical at different couplings; each gives one branch, since the
  two signs are rotations of each other. The sine direction at a state is the cosine direction at the state
  rotated by :math:`\pi/n`, so every branch is followed among even densities.
- m odd: the cosine direction with both signs, which no rotation exchanges.
- m even, at least 4: the cosine direction at the state and at the state rotated by :math:`\pi/n`.
- j = 0, sine: reflection symmetry is lost at constant rotation symmetry; cosines and sines become unknown.

A confinement has the rotation symmetry of its most symmetric states, and so the axis at :math:`\pi/n` as well as
that at 0. These may differ, and a state is turned by :math:`\pi/n` together with the confinement.
"""

import math
from collections.abc import Iterator

import numpy as np

from ..bases import Floats, Integers
from ..branches.continuation import Point
from ..branches.detection import Event
from ..branches.junctions import Departure, departure_from, placed
from ..equations.geometry import Birth
from ..equations.sizing import equation_among
from ..root_finding.solution import Solution
from .stability import Block


def births_on_branch(event: Event) -> list[Birth]:
    """Return the branches born at a branch point of a non-uniform branch, one of each group orbit."""
    return [birth(departure) for departure in _departures(event)]


def birth(departure: Departure) -> Birth:
    """Return a branch about to be followed under its name and symmetry."""
    basis = departure.equation.basis
    kind = "" if basis.even else "uneven "
    return Birth(departure, f"{kind}{basis.symmetry}-cluster", basis.symmetry)


def _departures(event: Event) -> list[Departure]:
    found: list[Departure] = []
    for block, (degrees, kernel) in _one_of_each(event):
        if block.parity == "mixed":
            found += _uneven(event.origin, degrees, kernel, block.parity)
        elif block.residue == 0:
            found += _own_class(event.origin, degrees, kernel, block.parity)
        else:
            found += _broken_rotation(event.origin, block.residue, block.parity, degrees, kernel)
    return found


def _one_of_each(event: Event) -> Iterator[tuple[Block, tuple[Integers, Floats]]]:
    """Yield the critical blocks of an event with their kernels, without sine copies of two-dimensional types."""
    symmetry = event.point.equation.basis.symmetry
    pairs = list(zip(event.blocks, event.kernels, strict=True))
    for block, kernel in pairs:
        assert isinstance(block, Block)
        twofold = 0 < 2 * block.residue < symmetry
        if not (twofold and block.parity == "odd"):
            yield block, kernel


def _own_class(point: Point, degrees: Integers, kernel: Floats, parity: str) -> list[Departure]:
    if parity == "even":
        sides = [_even_departure(point, degrees, sign * kernel, 0, None) for sign in (1.0, -1.0)]
        return [side for side in sides if side is not None]
    return _uneven(point, degrees, kernel, parity)


def _broken_rotation(point: Point, residue: int, parity: str, degrees: Integers, kernel: Floats) -> list[Departure]:
    symmetry = point.equation.basis.symmetry
    order = symmetry // math.gcd(residue, symmetry)
    if order == 2:
        if parity == "odd":
            point, kernel = rotated(point), _sines_as_cosines(degrees, kernel, symmetry)
        tries = [(point, kernel, 2)]
    elif order % 2 == 1:
        power = 1 if order == 3 else 2
        tries = [(point, kernel, power), (point, -kernel, power)]
    else:
        turned = _cosines_turned(degrees, kernel, symmetry, residue)
        tries = [(point, kernel, 2), (rotated(point), turned, 2)]
    found = [_even_departure(p, degrees, k, residue, power) for p, k, power in tries]
    return [departure for departure in found if departure is not None]


def rotated(point: Point) -> Point:
    """Return the same state with angles from the axis at half of its symmetry angle: every other cell changes sign.

    Without a confinement that is the state rotated; with one whose axes differ, the confinement is turned along.
    """
    solution, equation = point.solution, point.equation
    basis, cosines = equation.basis, equation.basis.cosines
    assert cosines is not None
    if not cosines.confinement_turns(1):
        equation = equation.on(cosines.about(basis.axis + np.pi / basis.symmetry))
    flip = np.where(basis.cells % 2 == 1, -1.0, 1.0)
    b = flip * solution.b
    turned = Solution(
        b,
        solution.q,
        equation.evaluate(b, solution.q),
        flip * solution.tangent_b,
        solution.tangent_q,
        solution.negative,
    )
    return Point(equation, turned, point.arclength)


def _sines_as_cosines(degrees: Integers, kernel: Floats, symmetry: int) -> Floats:
    r"""Return a sine kernel rotated by pi/n, k odd multiples of n/2: sin(k(t - pi/n)) = -sin(k pi/n) cos kt."""
    return np.asarray(np.round(-np.sin(degrees * np.pi / symmetry)) * kernel, dtype=float)


def _cosines_turned(degrees: Integers, kernel: Floats, symmetry: int, residue: int) -> Floats:
    r"""Return the cosine kernel at the state rotated by pi/n.

    The kernel at the state is spanned by sum y_k cos kt and, for the other copy, sum s_k y_k sin kt with
    s_k = 1 for k = j and -1 for k = -j modulo n. The combination symmetric about pi/n is, after the rotation,
    sum y_k cos(k pi/n - s_k j pi/n) cos kt, whose factors are signs.
    """
    signs = np.where(degrees % symmetry == residue, 1, -1)
    factors = np.cos((degrees - signs * residue) * np.pi / symmetry)
    return np.asarray(np.round(factors) * kernel, dtype=float)


def _even_departure(
    point: Point, degrees: Integers, kernel: Floats, residue: int, order: int | None
) -> Departure | None:
    old = point.equation
    symmetry = math.gcd(residue, old.basis.symmetry) if residue else old.basis.symmetry
    equation = equation_among(old, symmetry)
    if equation is None:
        return None
    direction = placed(equation.basis.degrees, degrees, kernel)
    return departure_from(point, equation, direction, order)


def _uneven(point: Point, degrees: Integers, kernel: Floats, parity: str) -> list[Departure]:
    """Return the departures with cosines and sines unknown; the class of the kernel decides the symmetry."""
    old = point.equation
    strongest = int(degrees[np.argmax(np.abs(kernel))])
    symmetry = math.gcd(strongest, old.basis.symmetry)
    equation = equation_among(old, symmetry, even=False, flux=True)
    if equation is None:
        return []
    half = equation.basis.degrees.size // 2
    cosine, sine = np.zeros(half), np.zeros(half)
    targets = equation.basis.degrees[:half]
    if parity == "mixed":
        count = degrees.size // 2
        cosine = placed(targets, degrees[:count], kernel[:count])
        sine = placed(targets, degrees[count:], kernel[count:])
    elif parity == "odd":
        sine = placed(targets, degrees, kernel)
    else:
        cosine = placed(targets, degrees, kernel)
    if old.basis.axis:
        turned = (cosine - 1j * sine) * np.exp(-1j * targets * old.basis.axis)
        cosine, sine = turned.real, -turned.imag
    direction = np.concatenate([cosine, sine])
    sides = (1.0,) if parity == "odd" else (1.0, -1.0)
    return [departure_from(point, equation, side * direction, 2 if parity == "odd" else None) for side in sides]
