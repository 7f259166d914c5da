"""The spaces the particles live on."""

from dataclasses import dataclass
from typing import ClassVar


@dataclass(frozen=True)
class Circle:
    r"""The circle of circumference :math:`2\pi`, angles in radians.

    Even potentials act diagonally on :math:`\cos k\theta` and :math:`\sin k\theta`; the Laplacian has
    eigenvalue :math:`-k^2` on both.

    Examples
    --------
    >>> Circle().laplacian_eigenvalue(3)
    -9
    """

    name: ClassVar[str] = "circle"
    dimension: ClassVar[int] = 2

    def laplacian_eigenvalue(self, degree: int) -> int:
        """Eigenvalue of the Laplacian on the modes of one degree."""
        return -(degree**2)
