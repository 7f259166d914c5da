r"""Many densities on the circle at once: Newton's method and relaxation of whole arrays of starts.

A density is a row of its moments :math:`c_k = \int e^{-ik\theta}\rho` of the significant modes. The densities are

.. math:: \rho = e^f/Z, \qquad f = \sum_k 2\lambda_k \mathrm{Re}(c_k e^{ik\theta}) - V/D,

and what is solved is :math:`c_k = \langle e^{-ik\theta}\rangle_f`, in the symmetric form of
:mod:`solvers.equations.equation` for the strong modes. Weak ones, whose part of the Jacobian is the identity up to
a small contraction, take the value of the density itself. The results are starts for the solver proper, which
decides how many modes a density needs.
"""

import functools
from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
import scipy.fft
from numpy.typing import NDArray

from ..bases import Floats, Integers
from ..equations.equation import StationaryEquation
from ..root_finding.batched import newton, parts, relaxed, solutions
from .rotation import Complexes

# Modes below the first do not move a density by more than the search is exact to, those below the second little.
SIGNIFICANT, STRONG = 1e-9, 1e-3
# Of slowly decaying potentials no more modes than these take part. Half of them are solved for as strong, if that
# is a number between the other two: those left to the iteration slow Newton's method down where clusters are sharp.
MODES, SOLVED = 256, (24, 48)
# A Gaussian cluster of variance 1/c has moments exp(-k^2/(2 c)), below rounding beyond 8 sqrt(c).
NODES = (128, 2048)
# Cosines and sines of up to so many modes and orders are tabulated.
FEW = 64
# Rows that are worked on at once, so that their values stay in the cache.
VALUES = 2**16
LARGEST_STEP = 0.5
CONVERGED = 1e-9
# Along a direction without slope steps do not end: what is left is rounding.
FLAT = 1e-12
RELAXATIONS = 40
# A density whose moments change by less in a step, of length one, is left to Newton's method.
RELAXED = 1e-3


class Ensemble:
    """The stationary equation of a problem at a coupling, for rows of densities.

    Parameters
    ----------
    equation
        The equation of the problem with all degrees in its basis.
    q
        Its dimensionless coupling.
    confinement : (n,) float or complex, or None
        Coefficients of -V/D from degree 1, of cosines or, less i times those of sines, of both.

    Attributes
    ----------
    degrees : (size,) int
        Degrees of the moments in the rows.
    strengths : (size,) float
        Their lambda.
    strong : (n,) int
        Places of the strong modes among them.
    """

    def __init__(self, equation: StationaryEquation, q: float, confinement: Any) -> None:
        # Of a basis with sines the second half repeats the first.
        cells = equation.basis.cells
        strengths = (q * equation.gain * equation.signs * equation.scales**2)[: cells.size]
        significant = np.flatnonzero(np.abs(strengths) > SIGNIFICANT)[:MODES]
        significant = significant if significant.size else np.array([np.argmax(np.abs(strengths))])
        self.degrees, self.strengths = equation.basis.symmetry * cells[significant], strengths[significant]
        self.confined, self.reflects = confinement is not None, not np.iscomplexobj(confinement)
        curvature = 2.0 * float(np.abs(self.strengths) @ self.degrees**2)
        if confinement is not None:
            curvature += float(np.abs(confinement) @ np.arange(1, confinement.size + 1) ** 2)
        finest = max(4 * int(self.degrees.max(initial=1)), int(min(8.0 * np.sqrt(curvature), NODES[1])))
        strong = np.argsort(-np.abs(self.strengths), kind="stable")[: int(np.clip(significant.size // 2, *SOLVED))]
        # What a weak confinement leaves of the slope along rotations must not be lost among weak modes.
        least_strong = SIGNIFICANT if self.confined else STRONG
        # However weak all of them are, the strongest is one.
        least_strong = min(least_strong, 0.5 * float(np.abs(self.strengths).max()))
        self.strong: Integers = np.sort(strong[np.abs(self.strengths[strong]) > least_strong])
        degrees = self.degrees[self.strong]
        difference = degrees[:, None] - degrees
        self._total, self._distance = degrees[:, None] + degrees, np.abs(difference)
        # Of the nodes the moment k has those of degrees from nodes - k as its error.
        self._last = max(int(self.degrees.max()), int(self._total.max(initial=0)))
        self.nodes = max(NODES[0], 2 * scipy.fft.next_fast_len(-(-(finest + self._last) // 2), real=True))
        self._fixed, self._confining = self._of_confinement(confinement)
        self._order = np.sign(difference)
        self._signs = np.tile(np.sign(self.strengths[self.strong]), 2)
        self._roots = np.tile(np.sqrt(np.abs(self.strengths[self.strong])), 2)

    def _of_confinement(self, coefficients: Any) -> tuple[Complexes, Floats]:
        """Return half of the coefficients of -V/D from degree 0 to nodes/2, and its values on the nodes."""
        count = 0 if coefficients is None else coefficients.size
        times = 1 + 2 * count // self.nodes
        series = np.zeros(times * self.nodes // 2 + 1, dtype=complex)
        if coefficients is not None:
            series[1 : count + 1] = 0.5 * coefficients
        values = np.fft.irfft(series, times * self.nodes, norm="forward")[::times]
        return series[: self.nodes // 2 + 1], values

    def moments(self, rows: Complexes) -> Complexes:
        """Return the moments 0 to nodes/2 of the Gibbs densities of the fields of rows."""
        return self._transformed(self.strengths * rows)[0]

    def torques(self, row: Complexes) -> Complexes:
        r"""Return the coefficients t_k of the torque of the confinement on a density turned by a.

        That is :math:`\langle V'\rangle/D = \mathrm{Re}\sum t_k e^{ika}`, V' averaged over the turned density.
        """
        degrees = np.arange(self._fixed.size)
        return np.asarray(-2j * degrees * self._fixed * self.moments(row[None])[0].conj())

    def densities_of(self, fields: Complexes, even: bool = False) -> tuple[Complexes, Floats]:
        """Return moments and log(Z/2 pi) of the densities exp(sum 2 Re(field_k exp(ikt)) - V/D)/Z, row by row.

        The moments go up to the degrees of products of strong modes at least. ``even``: all densities are.
        """
        if self._waves is None:
            return self._transformed(fields)
        synthesis, analysis = self._even_waves if even else self._waves
        parts = [fields.real, *([] if even else [fields.imag]), np.ones((len(fields), 1))]
        values = np.concatenate(parts, axis=1) @ synthesis
        top = values.max(axis=1)
        values -= top[:, None]
        sums = np.exp(values, out=values) @ analysis
        mass, count = sums[:, :1], self._last + 1
        moments = np.asarray(sums[:, :count] + (0.0 if even else 1j * sums[:, count:]), dtype=np.complex128) / mass
        return moments, top + np.log(mass[:, 0])

    @functools.cached_property
    def _waves(self) -> tuple[Floats, Floats] | None:
        """Cosines and sines on the nodes; None if they are so many that transforms are faster than products.

        The first have a row more, for the confinement; the second are divided by the number of nodes.
        """
        if self.degrees.size + self._last + 1 > FEW:
            return None
        angles = 2.0 * np.pi * np.arange(self.nodes) / self.nodes
        phases = np.exp(1j * np.multiply.outer(angles, np.arange(self._last + 1)))
        significant = 2.0 * phases[:, self.degrees]
        synthesis = np.concatenate([significant.real, -significant.imag, self._confining[:, None]], axis=1).T
        return synthesis, np.concatenate([phases.real, -phases.imag], axis=1) / self.nodes

    @functools.cached_property
    def _even_waves(self) -> tuple[Floats, Floats]:
        """The cosines of them on the half of the nodes at which even densities have all of their values."""
        assert self._waves is not None
        synthesis, analysis = self._waves
        half, count = self.nodes // 2 + 1, self.degrees.size
        cosines = np.concatenate([synthesis[:count, :half], synthesis[-1:, :half]])
        twice = np.full((half, 1), 2.0)
        twice[[0, -1]] = 1.0
        return cosines, twice * analysis[:half, : self._last + 1]

    def _transformed(self, fields: Complexes) -> tuple[Complexes, Floats]:
        """Return all moments of the nodes and log(Z/2 pi) of the Gibbs densities of fields, by transforms."""
        series = np.zeros((len(fields), self.nodes // 2 + 1), dtype=complex)
        series[:, self.degrees] = fields
        values = np.fft.irfft(series, self.nodes, norm="forward")
        values += self._confining
        top = values.max(axis=1)
        values -= top[:, None]
        moments = np.fft.rfft(np.exp(values, out=values), norm="forward")
        mass = moments[:, :1].real.copy()
        moments /= mass
        return moments, top + np.log(mass[:, 0])

    def gaps(self, rows: Complexes) -> Floats:
        """Return (F - F_uniform)/D of stationary rows."""
        _, log_partition = self.densities_of(self.strengths * rows)
        return np.asarray(np.abs(rows) ** 2 @ self.strengths - log_partition)

    def last_modes(self, rows: Complexes) -> float:
        """Return the largest unknown, sqrt|lambda_k| |c_k|, of the last quarter of the modes in any row."""
        last = slice(-(-3 * self.degrees.size // 4), None)
        return float((np.sqrt(np.abs(self.strengths[last])) * np.abs(rows[:, last])).max(initial=0.0))

    def flattest(self, rows: Complexes) -> Floats:
        """Return the modulus of the smallest eigenvalue of the Jacobian at each row."""
        if not self.strong.size or not len(rows):
            return np.ones(len(rows))
        return np.asarray(
            np.abs(np.linalg.eigvalsh(self._jacobians(self.densities_of(self.strengths * rows)[0]))).min(axis=1)
        )

    def relaxed(self, rows: Complexes) -> Complexes:
        """Return rows after relaxation steps, along which the free energy of each decreases."""
        blocks = (rows[part] for part in parts(np.arange(len(rows)), self.nodes, VALUES))
        ends = [
            relaxed(self.strengths * rows, self.strengths, self._described, RELAXATIONS, RELAXED) for rows in blocks
        ]
        return np.concatenate([moments for moments, _ in ends])

    def _described(self, fields: Complexes) -> tuple[Complexes, Floats]:
        """Return moments and F/D, up to a constant, of the Gibbs densities of fields."""
        moments, log_partition = self.densities_of(fields)
        moments = moments[:, self.degrees]
        entropy = 2.0 * (fields * moments.conj()).real.sum(axis=1) - log_partition
        return moments, entropy - np.abs(moments) ** 2 @ self.strengths

    def solved(self, rows: Complexes) -> Complexes:
        """Return the states to which Newton's method converges from rows; rows without convergence are left out."""
        even = (rows.imag == 0.0).all(axis=1) & self.reflects
        # A density with its axis at 0 keeps it, however flat the way across is.
        ends = [
            newton(rows[even == kind], partial(self._advanced, even=kind), self.nodes, VALUES)[1]
            for kind in (True, False)
        ]
        return np.concatenate(ends)

    def _advanced(self, rows: Complexes, _: Floats, *, even: bool) -> tuple[Complexes, Floats, NDArray[np.bool_]]:
        moments = self.densities_of(self.strengths * rows, even)[0]
        missing = moments[:, self.degrees] - rows
        step = self._step(moments, missing, even)
        length = np.sqrt((np.abs(step) ** 2).sum(axis=1))
        moved, left = self._moved(rows, step), np.abs(missing).max(axis=1)
        if even:
            moved.imag = 0.0
        return moved, length, ((length < CONVERGED) & (left < CONVERGED)) | (left < FLAT)

    def _moved(self, rows: Complexes, step: Complexes) -> Complexes:
        """Return rows moved by steps that are shortened to a largest length.

        A weak confinement leaves rotation nearly free, and steps along it are long: that part turns a density, for
        on a straight line the high moments would leave it.
        """
        angle = np.zeros((len(rows), 1))
        if self.confined:
            turning = -1j * self.degrees * rows
            squares = (np.abs(turning) ** 2).sum(axis=1, keepdims=True) + 1e-300
            angle = (turning.conj() * step).real.sum(axis=1, keepdims=True) / squares
            step = step - angle * turning
            angle = np.clip(angle, -LARGEST_STEP, LARGEST_STEP)
        length = np.sqrt((np.abs(step) ** 2).sum(axis=1, keepdims=True))
        moved = rows + step * np.minimum(1.0, LARGEST_STEP / np.maximum(length, 1e-300))
        return np.asarray(moved * np.exp(-1j * angle * self.degrees))

    def _step(self, moments: Complexes, missing: Complexes, even: bool) -> Complexes:
        """Return Newton's steps without rotations, for even densities in the cosines alone."""
        strong, count = self.strong, self.strong.size
        step: Complexes = np.array(missing.real if even else missing, dtype=np.complex128)
        if not count:
            return step
        parts = [missing.real] if even else [missing.real, -missing.imag]
        sides = np.concatenate([part[:, strong] for part in parts], axis=1)
        size = sides.shape[1]
        jacobians = self._even_jacobians(moments) if even else self._jacobians(moments)
        solution = solutions(jacobians, self._signs[:size] * self._roots[:size] * sides) / self._roots[:size]
        step[:, strong] = solution if even else solution[:, :count] - 1j * solution[:, count:]
        return step

    def _of_pairs(self, part: Floats) -> Floats:
        """Return the moments of the degrees of products of two strong modes, contiguous."""
        return np.ascontiguousarray(part[:, : 1 + int(self._total.max())])

    def _even_jacobians(self, moments: Complexes) -> Floats:
        """Return sigma - 2 A sigma Cov sigma A of the cosines for every row."""
        cosine, count = self._of_pairs(moments.real), self.strong.size
        matrix = cosine.take(self._total, axis=1)
        matrix += cosine.take(self._distance, axis=1)
        means = cosine[:, self.degrees[self.strong]]
        return self._weighted(matrix, means, slice(count))

    def _jacobians(self, moments: Complexes) -> Floats:
        """Return sigma - 2 A sigma Cov sigma A for every row, the rotation mode moved to one."""
        degrees, count = self.degrees[self.strong], self.strong.size
        cosine, sine = self._of_pairs(moments.real), self._of_pairs(-moments.imag)
        plus, minus = cosine.take(self._total, axis=1), cosine.take(self._distance, axis=1)
        mixed = sine.take(self._distance, axis=1)
        mixed *= self._order
        np.subtract(sine.take(self._total, axis=1), mixed, out=mixed)
        matrix = np.empty((len(moments), 2 * count, 2 * count))
        np.add(minus, plus, out=matrix[:, :count, :count])
        np.subtract(minus, plus, out=matrix[:, count:, count:])
        matrix[:, :count, count:], matrix[:, count:, :count] = mixed, mixed.transpose(0, 2, 1)
        means = np.concatenate([cosine[:, degrees], sine[:, degrees]], axis=1)
        turning = []
        if not self.confined:
            turning.append(np.concatenate([-degrees * sine[:, degrees], degrees * cosine[:, degrees]], axis=1))
            turning[0] *= self._roots
            turning[0] /= np.sqrt((turning[0] ** 2).sum(axis=1, keepdims=True)) + 1e-300
        return self._weighted(matrix, means, slice(2 * count), turning)

    def _weighted(self, matrix: Floats, means: Floats, modes: slice, added: Sequence[Floats] = ()) -> Floats:
        """Return sigma - 2 A sigma Cov sigma A from twice the second moments, overwritten, and the means.

        The dyads of the vectors ``added`` are included.
        """
        signs, weights = self._signs[modes], (self._signs * self._roots)[modes]
        matrix *= -np.multiply.outer(weights, weights)
        vectors = np.stack([np.sqrt(2.0) * weights * means, *added], axis=1)
        matrix += vectors.transpose(0, 2, 1) @ vectors
        places = np.arange(weights.size)
        matrix[:, places, places] += signs
        return matrix
