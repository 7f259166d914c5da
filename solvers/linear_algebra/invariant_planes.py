r"""Pairs of eigenvalues of a real matrix by the plane that it keeps.

With bases V of the plane and W of that of the transpose the restriction is :math:`(W^TV)^{-1}W^TLV`. Its trace and
determinant are smooth in the matrix also where the two become real, and eigenvectors that decay make them far more
accurate than the eigenvalues of a matrix with large entries, which have the rounding of its norm.
"""

import math
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import scipy.linalg

Floats = npt.NDArray[np.float64]
# Iterations for the eigenvectors of one eigenvalue, and for a plane; the shift from the eigenvalue, as a share of
# the matrix, of which all eigenvalues are known to rounding.
ITERATIONS, TOGETHER, SHIFT = 4, 12, 1e-13
# A pair nearer to each other than this share of the distance of the next eigenvalue is found together.
CLOSE = 0.1


class InvariantPlane(NamedTuple):
    """Bases of the plane of a pair of eigenvalues, and of that of the transpose, (n, 2) each."""

    right: Floats
    left: Floats

    def restriction(self, image: Floats) -> Floats:
        """Return the restriction to the plane of a matrix by the image of its basis, (2, 2)."""
        return np.asarray(np.linalg.solve(self.left.T @ self.right, self.left.T @ image))


def half_trace(restricted: Floats) -> float:
    """Return the mean of the two eigenvalues of a restriction."""
    return 0.5 * float(np.trace(restricted))


def square_of_frequency(restricted: Floats) -> float:
    """Return the square of the imaginary part of the two eigenvalues of a restriction, negative of real ones."""
    return float(np.linalg.det(restricted)) - half_trace(restricted) ** 2


def upper_eigenvalue(restricted: Floats) -> complex:
    """Return the eigenvalue of a restriction with a positive imaginary part; the mean of the two if none has."""
    return complex(half_trace(restricted), math.sqrt(max(square_of_frequency(restricted), 0.0)))


def invariant_plane(matrix: Floats, eigenvalues: npt.NDArray[Any], near: complex) -> InvariantPlane:
    """Return the plane of the eigenvalue near a number and of its conjugate, or where it is real of the next one.

    Parameters
    ----------
    matrix : (n, n) float
        The matrix.
    eigenvalues : (n,) complex or float
        All of its eigenvalues.
    near
        A number.
    """
    one = int(np.argmin(np.abs(eigenvalues - near)))
    distances = np.abs(eigenvalues - eigenvalues[one].conjugate())
    distances[one] = np.inf
    other = int(np.argmin(distances))
    rest = np.delete(eigenvalues, [one, other])
    mean, apart = 0.5 * (eigenvalues[one] + eigenvalues[other]), abs(eigenvalues[one] - eigenvalues[other])
    if apart <= CLOSE * float(np.abs(rest - mean).min(initial=np.inf)):
        start = np.eye(len(matrix), 2) + 1.0 / (1.0 + np.arange(2 * len(matrix)).reshape(-1, 2))
        return InvariantPlane(*_inverse_iteration(matrix, float(mean.real), start, TOGETHER))
    start = 1.0 + np.eye(len(matrix), 1)
    if eigenvalues[one].imag == 0.0:
        # Real eigenvalues have an eigenvector each.
        pairs = [_inverse_iteration(matrix, float(eigenvalues[at].real), start, ITERATIONS) for at in (one, other)]
        columns = [np.column_stack(each) for each in zip(*pairs, strict=True)]
    else:
        found = _inverse_iteration(matrix, complex(eigenvalues[one]), start.astype(complex), ITERATIONS)
        columns = [np.column_stack([each.real, each.imag]) for each in found]
    right, left = (np.linalg.qr(each)[0] for each in columns)
    return InvariantPlane(right, left)


def _inverse_iteration(
    matrix: Floats, value: complex, start: npt.NDArray[Any], iterations: int
) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
    """Return bases of the invariant space of the eigenvalues nearest to a value, and of that of the transpose."""
    shifted = matrix - (value + SHIFT * float(np.abs(matrix).max())) * np.eye(len(matrix))
    factors = scipy.linalg.lu_factor(shifted, check_finite=False)
    right = left = start
    for _ in range(iterations):
        right = np.linalg.qr(scipy.linalg.lu_solve(factors, right, check_finite=False))[0]
        left = np.linalg.qr(scipy.linalg.lu_solve(factors, left, trans=1, check_finite=False))[0]
    return right, left
