r"""Where branches born as pitchforks turn under a law without a Gibbs map, of those whose states have an axis.

With the moments a of the state, those u of the null vector of the block and the test function :math:`\chi` of its
left one, among the densities that are born, the stationary map :math:`a \mapsto M(a)` gives

.. math:: J w = \tfrac12 M''(u, u), \qquad
          N = \chi\cdot\bigl(\tfrac16 M'''(u, u, u) + M''(u, w)\bigr),

N being that of :mod:`.turning`. The derivatives of M' along u and w are those of polynomials
through its values at Chebyshev points, along u by symmetry of one sign. Their error is that of rounding, and the
last coefficients: the velocity of nGPT is analytic only as far as the average of the tokens does not vanish.
"""

import math
from collections.abc import Callable

import numpy as np

from ...bases import EPS, Basis, Floats
from ...circle.complements import Complement
from ..in_plane.blocks import Borders, ComplementaryBlock
from ..in_plane.current_states import CurrentBlock
from ..in_plane.law_states import LawState
from ..in_plane.plane import Plane
from ..in_plane.unknowns import basis_of
from .turning import Turning, adjugate

# The largest changes of the field along which derivatives are taken, and the number of points on either side.
AMPLITUDES, POINTS = (0.5, 0.25, 0.125, 0.0625), 14
ANGLES = np.pi * (2 * np.arange(POINTS) + 1) / (4 * POINTS)
# Rounding errors of the changes of means in units of eps times the largest term of the field.
ROUNDINGS = 4.0


class Series:
    """A Chebyshev series even or odd about zero by its values at the positive points: a derivative at zero.

    Parameters
    ----------
    order
        2 for the second derivative of even functions, 1 for the first one of odd functions.
    """

    def __init__(self, order: int) -> None:
        degrees = 2 * np.arange(POINTS) + order % 2
        self.order = order
        self._waves = 2.0 / POINTS * np.cos(np.multiply.outer(degrees, ANGLES))
        # The coefficients of s^2 in T_2k and of s in T_(2k+1), with alternating signs.
        signs = (-1.0) ** (degrees // 2)
        self._shares = signs * degrees if order == 1 else -signs * degrees**2
        self._spread = float(np.linalg.norm(self._shares @ self._waves))

    def derivative(self, values: Floats, amplitude: float) -> Floats:
        """Return the derivatives of functions with values at the points, (k,) or (k, size)."""
        return np.asarray(self._shares @ (self._waves @ values)) / amplitude**self.order

    def error(self, values: Floats, amplitude: float, rounding: float) -> tuple[float, bool]:
        """Return the error of the derivative of one function whose values have independent rounding errors.

        And whether it is that of these, so that smaller amplitudes only make it larger.
        """
        last = float(np.abs(self._waves[-2:] @ values).max()) * abs(float(self._shares[-1]))
        blurred = rounding * self._spread
        return (last + blurred) / amplitude**self.order, last <= blurred


SECOND, FIRST = Series(2), Series(1)


def turning_of_law(
    block: ComplementaryBlock, null: Borders, plane: Plane, last: int, *, own: bool = True
) -> Turning:
    """Return what :func:`.turning.turning` does, and its error, if born states have an axis.

    Parameters
    ----------
    block
        The singular block.
    null : ((size,) float, (size,) float)
        The null vectors.
    plane
        The two parameters.
    last
        The largest degree of the class of squares that is looked at.
    own
        Whether the modes of the state itself follow.
    """
    branch = _Pitchfork(block, null, plane, last, own)
    value, error = _least_blurred(branch.turning)
    return Turning(value, error, math.prod(branch.determinants))


def quadratic_of_law(block: ComplementaryBlock, null: Borders, plane: Plane) -> tuple[float, float]:
    r"""Return what :func:`.turning.quadratic` does, times a positive number, and its error.

    It is :math:`\tfrac12\chi\cdot M''(u, u)`.

    Parameters
    ----------
    block
        The singular block, of a class that leaves a third of the symmetry.
    null : ((size,) float, (size,) float)
        The null vectors.
    plane
        The two parameters.
    """
    return _least_blurred(_Branch(block, null, plane).quadratic)


def _least_blurred(known: Callable[[float], tuple[float, float, bool]]) -> tuple[float, float]:
    """Return a value and its error by changes up to the amplitude at which the error is least."""
    found: list[tuple[float, float]] = []
    for amplitude in AMPLITUDES:
        value, error, settled = known(amplitude)
        found.append((value, error))
        if settled or (len(found) > 1 and error > found[-2][1]):
            break
    return min(found, key=lambda each: each[1])


class _Branch:
    """The densities that are born at a branch point; parameters are those of :func:`quadratic_of_law`."""

    def __init__(self, block: ComplementaryBlock, null: Borders, plane: Plane) -> None:
        self.state, placed = _born(block, plane)
        self.degrees, self.weights = self.state.weighted.basis.degrees, self.state.weighted.weights
        self.chi, self.phi = placed(block.weights * null[1]), placed(null[0] / block.weights)
        size, square = self.state.field_along(self.phi)
        self.phi /= size
        # The product passes zero where the growth rate zero is a double one, and the branch does not turn there.
        self.unit = 4.0 * abs(float(self.chi @ self.phi)) * square / size**2
        self.rounding = ROUNDINGS * EPS * self.state.field_bound
        self.scale = float(np.linalg.norm(self.chi)) * square / size**2

    def quadratic(self, amplitude: float) -> tuple[float, float, bool]:
        """Return the coefficient of the square of the amplitude, by changes up to one.

        With its error, and whether this is only that of rounding.
        """
        after, before = (
            self.state.responses_along(self.phi, self.phi, side * amplitude * np.cos(ANGLES))
            for side in (1.0, -1.0)
        )
        rounding = self.rounding * float(np.abs(self.chi) @ np.abs(after).max(axis=0))
        odd = 0.5 * (after - before) @ self.chi
        error, settled = FIRST.error(odd, amplitude, rounding)
        value = float(FIRST.derivative(odd, amplitude))
        return 0.5 * value / self.scale, 0.5 * error / self.scale, settled


class _Pitchfork(_Branch):
    """Those whose perturbations have their negatives as images; parameters are those of :func:`turning_of_law`."""

    def __init__(self, block: ComplementaryBlock, null: Borders, plane: Plane, last: int, own: bool) -> None:
        super().__init__(block, null, plane)
        further = block.complement.squares
        parts = [self.degrees % block.state.weighted.basis.symmetry == 0] if own else []
        parts += [] if further is None else [np.isin(self.degrees, further.degrees(last))]
        self.parts = [np.flatnonzero(part) for part in parts if part.any()]
        self.matrices = [self.state.matrix[np.ix_(part, part)] for part in self.parts]
        self.determinants = [float(np.linalg.det(matrix)) for matrix in self.matrices]

    def turning(self, amplitude: float) -> tuple[float, float, bool]:
        """Return -N/4 of a perturbation of size one times the determinants, by changes up to an amplitude.

        With its error, and whether this is only that of rounding.
        """
        rows = self.state.responses_along(self.phi, self.phi, amplitude * np.cos(ANGLES))
        rounding = self.rounding * float(np.abs(self.chi) @ np.abs(rows).max(axis=0))
        every = math.prod(self.determinants)
        third = float(SECOND.derivative(rows @ self.chi, amplitude)) / 6.0 * every
        error, one = SECOND.error(rows @ self.chi, amplitude, rounding)
        followed = self._followed(FIRST.derivative(rows, amplitude))
        mixed, of_mixed, other = self._mixed(followed, amplitude, rounding)
        return -(third + mixed) / self.unit, (abs(every) / 6.0 * error + of_mixed) / self.unit, one and other

    def _followed(self, second: Floats) -> Floats:
        """Return w times the determinants, in moments."""
        found = np.zeros(self.degrees.size)
        for number, (part, matrix) in enumerate(zip(self.parts, self.matrices, strict=True)):
            others = math.prod(self.determinants[:number] + self.determinants[number + 1 :])
            source = 0.5 * self.weights[part] * second[part]
            found[part] = others * (adjugate(matrix) @ source) / self.weights[part]
        return found

    def _mixed(self, followed: Floats, amplitude: float, rounding: float) -> tuple[float, float, bool]:
        """Return chi times the second derivative of the map along u and another change, and as above."""
        size, _ = self.state.field_along(followed)
        if size == 0.0:
            return 0.0, 0.0, True
        after, before = (
            self.state.responses_along(followed / size, self.phi, side * amplitude * np.cos(ANGLES)) @ self.chi
            for side in (1.0, -1.0)
        )
        odd = 0.5 * (after - before)
        error, settled = FIRST.error(odd, amplitude, rounding)
        return size * float(FIRST.derivative(odd, amplitude)), size * error, settled


def _born(block: ComplementaryBlock, plane: Plane) -> tuple[LawState, Callable[[Floats], Floats]]:
    """Return the state among the densities that are born, and what takes values on the modes of the block there.

    Those of sines are even about the other axis of the state on the circle.
    """
    state, complement, degrees = block.state, block.complement, block.degrees
    assert isinstance(state, LawState)
    if isinstance(block, CurrentBlock):
        halved, own = block.halved, block.places

        def among(values: Floats) -> Floats:
            found = np.zeros(halved.unknown.size)
            found[own] = values
            return found

        return halved, among
    basis = state.weighted.basis
    axis, unknown, signs = basis.axis, state.unknown, np.ones(degrees.size)
    if complement.odd:
        assert isinstance(complement, Complement)
        axis += np.pi / basis.symmetry
        unknown = np.where(basis.cells % 2, -1.0, 1.0) * unknown
        signs = np.where((degrees - complement.residue) // basis.symmetry % 2, -1.0, 1.0)
    named = np.zeros(int(max(basis.degrees[-1], degrees[-1])) + 1)
    named[complement.born_symmetry :: complement.born_symmetry] = 1.0
    born = state.among(_resolving(basis_of(plane, named, state.place, axis), basis), unknown)
    every = born.weighted.basis.degrees
    known = np.isin(degrees, every)
    places = np.searchsorted(every, degrees[known])

    def placed(values: Floats) -> Floats:
        found = np.zeros(every.size)
        found[places] = (signs * values)[known]
        return found

    return born, placed


def _resolving(born: Basis, basis: Basis) -> Basis:
    """Return a basis on twice as many nodes as resolve the densities of another."""
    return born.resized(born.cells, max(born.nodes, 2 * basis.nodes * basis.symmetry // born.symmetry))
