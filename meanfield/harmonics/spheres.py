"""The base of the modes of zonal densities and of all densities on a sphere."""

import math
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from ..domains import Sphere
from ..errors import InvalidInput
from .modes import Floats


class OnSphere:
    """Base of modes whose first angle is that from the north pole."""

    domain: Sphere

    span: ClassVar[tuple[float, float]] = (0.0, math.pi)
    upwards: ClassVar[tuple[float, float]] = (math.pi, 0.0)
    unit: ClassVar[str] = "1"
    relative: ClassVar[bool] = True
    kinds: ClassVar[str] = "mp"
    linear: ClassVar[str] = "p"
    rotation_numbers: ClassVar[bool] = False
    columns: ClassVar[str] = "mp"
    letters: ClassVar[tuple[str, str]] = ("m", "l")
    angle: ClassVar[str] = "angle from the north pole"

    def symbol(self, kind: str, degree: int) -> str:
        """Return the mathematical symbol of a named moment."""
        if kind == "m":
            return f"$|m_{{{degree}}}|$"
        mean = r"\langle \cos\theta \rangle" if degree == 1 else rf"\langle P_{{{degree}}}(\cos\theta) \rangle"
        # Nematics know the second as S.
        return rf"$S = p_2 = {mean}$" if degree == 2 else rf"$p_{{{degree}}} = {mean}$"

    def law(self, angle: Floats) -> Floats:
        """Return the density of the polar angle of uniform points."""
        half = 0.5 * self.domain.dimension
        factor = math.exp(math.lgamma(half) - math.lgamma(half - 0.5)) / math.sqrt(math.pi)
        return np.asarray(factor * np.sin(angle) ** (self.domain.dimension - 2))


def require_pairs(polar: npt.ArrayLike, azimuth: npt.ArrayLike) -> None:
    """Refuse angles that do not make pairs."""
    try:
        np.broadcast_shapes(np.shape(polar), np.shape(azimuth))
    except ValueError as error:
        raise InvalidInput(
            f"angles of shapes {np.shape(polar)} and {np.shape(azimuth)} do not make pairs; give both of one shape"
        ) from error
