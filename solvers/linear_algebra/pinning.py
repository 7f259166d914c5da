r"""The rotation of a state beside a weak confinement, whose eigenvalue is lost in the rounding of the matrix.

At a stationary state S maps the rotation mode r to a torque that only the confinement exerts, known to all digits.
By Haynsworth's formula the inertia of S is that of S off r and that of the Schur complement of it,
:math:`\hat r \cdot S \hat r - s\cdot S_\perp^{-1} s`, s the rest of :math:`S \hat r`.
"""

import numpy as np

from ..bases import Floats
from .inertia import count_negative

# A confinement is weak if the torque's terms are below this share of the rotation mode.
PINNED = 1e-6


def is_weak(rotation: Floats, terms: Floats) -> bool:
    """Return whether a confinement is weak at a state, by its rotation mode and the moduli of the torque's terms.

    The torque itself vanishes as well where a state can leave its axis by turning, and is rounding there.
    """
    return float(np.linalg.norm(terms)) < PINNED * float(np.linalg.norm(rotation))


def count_beside_rotation(matrix: Floats, rotation: Floats, torque: Floats, neutral: float) -> int:
    """Return the number of negative eigenvalues of a symmetric matrix, overwritten, given the image of a vector.

    Parameters
    ----------
    rotation, torque
        The vector and its image.
    neutral
        Eigenvalues off the vector above minus this do not count.
    """
    size = float(np.linalg.norm(rotation))
    rotation, torque = rotation / size, torque / size
    image = matrix @ rotation
    matrix -= np.multiply.outer(rotation, image) + np.multiply.outer(image, rotation)
    matrix += (1.0 + float(rotation @ image)) * np.multiply.outer(rotation, rotation)
    along = float(rotation @ torque)
    across = torque - along * rotation
    pinned = along - float(across @ np.linalg.lstsq(matrix, across)[0])
    matrix.flat[:: rotation.size + 1] += neutral
    return count_negative(matrix) + int(pinned < 0.0)
