r"""Eigenvalues of products of two symmetric factors, accurate also where they are tiny."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..bases import EPS, Floats

Matrix = NDArray[Any]

# Numbers below this many rounding errors are noise.
CERTAIN = 64.0


@dataclass(frozen=True, eq=False)
class Eigenvalues:
    """Eigenvalues of a block, largest first, their error bounds, and its rotation mode."""

    values: Floats
    errors: Floats
    rotation: float | None = None
    overlap: float | None = None


def graded(sizes: Floats, inner: Matrix) -> tuple[Floats, Matrix, Floats]:
    r"""Return eigenvalues of :math:`-\Sigma M \Sigma`, largest first, their vectors and errors.

    They are taken from this matrix where they are large and from its inverse
    :math:`\Sigma^{-1} M^{-1} \Sigma^{-1}` where they are small.

    Parameters
    ----------
    sizes : (n,) float
        The diagonal of Sigma, positive.
    inner : (n, n) array
        M, Hermitian, of either signature. Where it is singular, as at a fold, so is the product, and no inverse
        improves its eigenvalues.
    """
    values, vectors = np.linalg.eigh(-(sizes[:, None] * inner * sizes))
    errors = np.full(values.size, EPS * np.abs(values).max())
    inverse, scaled = _inverses(sizes, inner)
    if not np.isfinite(scaled).all():
        return values[::-1], vectors[:, ::-1], errors
    growth = float(np.linalg.norm(inverse) * np.linalg.norm(inner))
    reciprocal, others = np.linalg.eigh(scaled)
    largest = float(np.abs(reciprocal).max())
    # The error of 1/x is this, and that of x is x^2 times it.
    noise = EPS * growth * largest
    known = np.abs(reciprocal) > CERTAIN * noise
    kept = np.flatnonzero(known & (np.square(reciprocal) * errors[0] > noise))
    kept = kept[np.argsort(1.0 / reciprocal[kept])]
    small = 1.0 / reciprocal[kept]
    places = np.sort(np.argsort(np.abs(values))[: kept.size])
    same = np.abs(small - values[places]) <= CERTAIN * errors[0]
    places, small = places[same], small[same]
    values[places], vectors[:, places] = small, others[:, kept[same]]
    errors[places] = noise * small**2
    return values[::-1], vectors[:, ::-1], errors[::-1]


def _inverses(sizes: Floats, inner: Matrix) -> tuple[Matrix, Matrix]:
    """Return the inverse of M and minus that of Sigma M Sigma; not finite if M is singular."""
    try:
        inverse = np.linalg.inv(inner)
    except np.linalg.LinAlgError:
        inverse = np.full_like(inner, np.inf)
    with np.errstate(over="ignore", invalid="ignore"):
        return inverse, -0.5 * (inverse + inverse.conj().T) / np.multiply.outer(sizes, sizes)


def recognised(sizes: Floats, inner: Matrix, generator: Matrix, share: float) -> tuple[float, float]:
    r"""Return minus the eigenvalue of :math:`\Sigma M \Sigma` nearest to a unit vector, and their overlap.

    Eigenvectors whose eigenvalues agree to a share of the largest, that of rounding, are arbitrary in their span,
    which then takes their place.
    """
    values, vectors = np.linalg.eigh(sizes[:, None] * inner * sizes)
    overlaps = np.abs(generator.conj() @ vectors)
    nearest = int(np.argmax(overlaps))
    alike = np.abs(values - values[nearest]) <= share * np.abs(values).max()
    return -float(values[nearest]), min(1.0, float(np.linalg.norm(overlaps[alike])))


def complement(vector: Matrix) -> Matrix:
    """Return an orthonormal basis of the complement of a vector, as columns; of many vectors, (..., n), of each."""
    full = np.linalg.qr(vector[..., None], mode="complete")[0]
    return np.asarray(full[..., 1:])
