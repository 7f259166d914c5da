r"""The lowest rate of a class of harmonics on many more of them than matrices are made of.

A pair :math:`Wx = \mu y`, :math:`Cy = x` of :mod:`.full_matrices` on few harmonics is the start of Davidson's
iteration on many: in the span of what there is :math:`\langle x, WCWx\rangle` over :math:`\langle x, Wx\rangle` is
made stationary, and the residual :math:`r = CWx - \mu x` under an approximate inverse of :math:`CW + s` widens the
span. That is the inverse on the few harmonics, and the diagonal of W + s beyond. W and C are applied on a grid.

CW is symmetric in :math:`\langle x, Wx'\rangle`, so that the error of the lowest rate in the span is at most
:math:`|r|_W^2` over its distance to the next, or for several near rates the sum of all over their distance to those
above; and :math:`|r|_W^2 \le \sum (l(l+1) + \max u)\,r_{lm}^2` with the potential u of W.
"""

import math
from collections.abc import Callable, Sequence

import numpy as np

from ...bases import EPS, Floats
from .full_matrices import SAFETY, ClassMatrices, Inverse
from .full_operators import Operators, Pair
from .harmonic_tables import waves_of

# The iteration converges or is given up after so many steps.
STEPS = 40
# The first vectors are prolonged to more harmonics up to this share of the square of the residual.
PROLONGED = 1e-3

Operator = Callable[[Floats], Floats]


class Refinement:
    """The linearised equation in one class on many harmonics.

    Parameters
    ----------
    whole
        The linearised equation on them.
    block
        The matrices of the class on few harmonics.
    inverse
        The inverse of CW + s on these.
    """

    def __init__(self, whole: Operators, block: ClassMatrices, inverse: Inverse) -> None:
        self.whole, self._inverse = whole, inverse
        self.table = whole.table(block.table.first)
        self._kernel = np.concatenate([whole.mass(self.table), whole.rotations(self.table)], axis=1)
        self._few = self.table.degrees <= block.whole.degree
        self._laplacian = self.table.degrees * (self.table.degrees + 1.0)
        self._diagonal = self._laplacian + whole.transform.mean(whole.values.potential)
        self._largest = self._laplacian + float(whole.values.potential.max())
        self._coupled = block.coupled
        columns = whole.significant(self.table)
        last = int(self.table.orders[columns].max(initial=0))
        waves = waves_of(whole.values.root, whole.transform.weights, whole.degree + last)
        self._modes, self._lambdas = self.table.products(waves, columns), whole.lambdas[self.table.degrees[columns]]

    def prolonged(self, pair: Pair, degree: int) -> Floats:
        r"""Return the vector x of a pair on the harmonics up to a degree on all of them.

        Those beyond, and the last of the others, which feel them, are solved for by conjugate gradients, by
        :math:`(W - \min(\mu, 0))\,x = V\Lambda V^T y` in their rows.
        """
        edge = min(2 * self.whole.field.degree, degree // 2)
        beyond, known = self.table.degrees > degree - edge, self.table.degrees <= degree
        x, y, step = np.zeros((3, self.table.size))
        x[known], y[known] = pair.x, pair.y
        level = min(pair.level, 0.0)
        residual = (self._attracted(y) + level * x - self._witten(x))[beyond]
        preconditioner = 1.0 / (self._diagonal[beyond] - level)
        direction = preconditioner * residual
        size = first = float(residual @ direction)
        while size > PROLONGED * first:
            step[beyond] = direction
            image = (self._witten(step) - level * step)[beyond]
            length = size / float(direction @ image)
            x[beyond] += length * direction
            residual = residual - length * image
            conditioned = preconditioner * residual
            size, before = float(residual @ conditioned), size
            direction = conditioned + size / before * direction
        return self._off(x)

    def lowest(self, starts: Sequence[Floats], above: float, share: float) -> tuple[list[Pair], float] | None:
        """Return the pairs of the lowest rates, and a bound of the error of the first by the iteration.

        Parameters
        ----------
        starts
            Vectors x to begin with, all that may have the lowest rate.
        above
            A lower bound of the rates of all others.
        share
            The error is at most this share of the rate.

        Returns
        -------
        tuple or None
            As many pairs as starts, None if the iteration does not converge.
        """
        count = len(starts)
        span = _Span(self._witten, self._second_variation, self.table.size, count * STEPS)
        new, before = list(starts), np.full(count, np.inf)
        for _ in range(STEPS):
            if not all(span.widen(vector) for vector in new):
                return None
            values, shares = span.lowest(count)
            x, residuals = span.combined(shares, values)
            allowed = max(share * abs(float(values[0])), EPS)
            error, near = self._error(values, residuals, above)
            unsettled = values - SAFETY * (before - values) < values[0] - allowed
            unsettled[:near] |= error > allowed
            if not unsettled.any():
                return [self._pair(each) for each in x], error
            new, before = [self._towards(each) for each in residuals[unsettled]], values
        return None

    def _error(self, values: Floats, residuals: Floats, above: float) -> tuple[float, int]:
        """Return a bound of the error of the first of some values, and how many of the first are behind it."""
        squares = residuals**2 @ self._largest
        gaps = np.append(values[1:], above) - values[0]
        bounds = np.divide(np.cumsum(squares), gaps, out=np.full(gaps.size, np.inf), where=gaps > 0.0)
        near = int(np.argmin(bounds))
        return min(math.sqrt(squares[0]), float(bounds[near])), near + 1

    def rounding(self, pair: Pair) -> float:
        """Return a bound of the rounding error of a rate, of first order in C and Q and of second in W."""
        of_witten = EPS * float(self._diagonal.max()) * float(pair.x @ pair.x)
        of_factor = 2.0 * math.sqrt(EPS * of_witten)
        return SAFETY * (
            abs(pair.level) * (of_factor + of_witten**2) + EPS * self._coupled * float(pair.y @ pair.y)
        )

    def _pair(self, x: Floats) -> Pair:
        r"""Return an eigenvector x with its rate.

        That is :math:`\langle y,Cy\rangle\,\langle Qx,Qx\rangle/\langle x,y\rangle^2`, stationary in x and in y,
        so that errors of either are squared. Rounding of W is much where rates are small; Qx has digits there.
        """
        y = self._witten(x)
        product = float(x @ y)
        square = sum(self.whole.transform.mean(part * part) for part in self.whole.factor(self.table, x))
        level = float(y @ self._second_variation(y)) * square / product**2
        return Pair(level, x / math.sqrt(product), y / math.sqrt(product))

    def _towards(self, residual: Floats) -> Floats:
        """Return an approximation of (CW + s)^{-1} times a residual."""
        result = residual / (self._diagonal + self._inverse.shift)
        result[self._few] = self._inverse(residual[self._few])
        return self._off(result)

    def _witten(self, x: Floats) -> Floats:
        transform = self.whole.transform
        values = transform.synthesise(*self.table.spread(x, self.whole.degree))
        values *= self.whole.values.potential
        return self._off(self._laplacian * x + self.table.pick(*transform.analyse(values)))

    def _second_variation(self, y: Floats) -> Floats:
        return self._off(y - self._attracted(y))

    def _attracted(self, y: Floats) -> Floats:
        return np.asarray(self._modes @ (self._lambdas * (self._modes.T @ y)))

    def _off(self, vector: Floats) -> Floats:
        """Return a vector projected off the known kernels."""
        return np.asarray(vector - self._kernel @ (self._kernel.T @ vector))


class _Span:
    """Vectors x with <x, Wx'> = 1 or 0, and the functional on their combinations."""

    def __init__(self, witten: Operator, second_variation: Operator, size: int, most: int) -> None:
        self._witten, self._second_variation = witten, second_variation
        self._x, self._y, self._z = np.empty((3, most, size))
        self._projected = np.zeros((most, most))
        self._count = 0

    def widen(self, x: Floats) -> bool:
        """Add a vector x; return whether it is one to rounding, not a combination of those before."""
        count = self._count
        # Once more for what rounding leaves.
        for _ in range(2):
            x = x - (self._y[:count] @ x) @ self._x[:count]
        y = self._witten(x)
        square = float(x @ y)
        if not square > 0.0:
            return False
        self._x[count], self._y[count] = x / math.sqrt(square), y / math.sqrt(square)
        self._z[count] = self._second_variation(self._y[count])
        self._projected[: count + 1, count] = self._y[: count + 1] @ self._z[count]
        self._count = count + 1
        return True

    def lowest(self, count: int) -> tuple[Floats, Floats]:
        """Return the lowest stationary values, ascending, and the combinations, as columns."""
        values, shares = np.linalg.eigh(self._projected[: self._count, : self._count], UPLO="U")
        return values[:count], shares[:, :count]

    def combined(self, shares: Floats, levels: Floats) -> tuple[Floats, Floats]:
        """Return the vectors x of combinations, as rows, and their residuals Cy - mu x."""
        x = shares.T @ self._x[: self._count]
        return x, shares.T @ self._z[: self._count] - levels[:, None] * x
