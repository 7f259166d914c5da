r"""The spaces the particles live on: the circle and the spheres, on which one set of formulas holds.

A function of the angle between two points is a sum of the polynomials :math:`P_l(\cos\gamma)`, Gegenbauer
polynomials normalised to :math:`P_l(1) = 1`; on the circle :math:`P_l(\cos\gamma) = \cos l\gamma`. They obey the
addition theorem

.. math:: P_l(\langle x, y\rangle) = \sum_{j=1}^{N_l} e_{lj}(x)\, e_{lj}(y),
          \qquad \frac{1}{|S|}\int e_{lj}^2 = \frac{1}{N_l},

where the :math:`e_{lj}` span the harmonics of degree l, of which there are :math:`N_l`.
"""

import math
from dataclasses import dataclass
from typing import Any, ClassVar, TypeAlias

from .arguments import is_whole, methods_checked, shown
from .errors import InvalidInput

# Beyond this the weights (1 - u^2)^((d - 3)/2) are a spike that double precision barely resolves.
LARGEST_DIMENSION = 1024


@methods_checked
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
    in_words: ClassVar[str] = "the circle"
    in_code: ClassVar[str] = "Circle()"
    has_azimuth: ClassVar[bool] = False
    # Whether an angle is a rotation that moves all points alike.
    turns: ClassVar[bool] = True
    dimension: ClassVar[int] = 2

    @property
    def volume(self) -> float:
        """Length, 2 pi."""
        return 2.0 * math.pi

    @property
    def log_volume(self) -> float:
        """Logarithm of the length."""
        return math.log(self.volume)

    def laplacian_eigenvalue(self, degree: int) -> int:
        """Return the eigenvalue of the Laplacian on the modes of one degree."""
        return -(degree**2)

    def multiplicity(self, degree: int) -> int:
        """Return the number of modes of a degree: cosine and sine."""
        return 2 if degree else 1

    def to_dict(self) -> dict[str, Any]:
        """Return the domain as plain values that JSON can hold."""
        return {"name": self.name}


@methods_checked
@dataclass(frozen=True)
class Sphere:
    r"""The unit sphere :math:`S^{d-1}` of :math:`\mathbb R^d`.

    Parameters
    ----------
    dimension
        d of the space around it, at least 3: 3 is the ordinary sphere. The sphere of the plane is
        :class:`Circle`.

    Raises
    ------
    InvalidInput
        If the dimension is not an integer from 3 to 1024.

    Examples
    --------
    >>> Sphere(3).multiplicity(2), Sphere(3).laplacian_eigenvalue(2)
    (5, -6)
    """

    dimension: int = 3

    name: ClassVar[str] = "sphere"
    turns: ClassVar[bool] = False

    def __post_init__(self) -> None:
        dimension = self.dimension
        if not is_whole(dimension):
            raise InvalidInput(f"the dimension of a sphere is an integer, at least 3, not {shown(dimension)}")
        if dimension == 2:
            raise InvalidInput("the sphere of dimension 2 is the circle; use Circle() (--domain circle)")
        if not 3 <= dimension <= LARGEST_DIMENSION:
            raise InvalidInput(
                f"the dimension of a sphere is that of the space around it, from 3 to {LARGEST_DIMENSION}, "
                f"not {shown(dimension)}; the ordinary sphere is Sphere(3) (--dimension 3)"
            )
        object.__setattr__(self, "dimension", int(dimension))

    @property
    def in_words(self) -> str:
        """Name of the domain in sentences; that of the ordinary sphere has no dimension."""
        return "the sphere" if self.dimension == 3 else f"the sphere of dimension {self.dimension}"

    @property
    def in_code(self) -> str:
        """The call that makes the domain."""
        return f"Sphere({self.dimension})"

    @property
    def has_azimuth(self) -> bool:
        """Whether a point has one azimuth besides its polar angle: on the ordinary sphere."""
        return self.dimension == 3

    @property
    def equator(self) -> "Domain":
        """The directions around an axis: the sphere of one dimension less, a circle on the ordinary sphere."""
        return Circle() if self.has_azimuth else Sphere(self.dimension - 1)

    @property
    def volume(self) -> float:
        r"""Surface, :math:`2 \pi^{d/2} / \Gamma(d/2)`."""
        half = 0.5 * self.dimension
        return 2.0 * math.exp(half * math.log(math.pi) - math.lgamma(half))

    @property
    def log_volume(self) -> float:
        """Logarithm of the surface, which in high dimensions is too small for a number itself."""
        half = 0.5 * self.dimension
        return math.log(2.0) + half * math.log(math.pi) - math.lgamma(half)

    def laplacian_eigenvalue(self, degree: int) -> int:
        """Return the eigenvalue of the Laplacian on the harmonics of one degree."""
        return -degree * (degree + self.dimension - 2)

    def multiplicity(self, degree: int) -> int:
        """Return the dimension N_l of the harmonics of one degree."""
        if degree == 0:
            return 1
        dimension = self.dimension
        ways = math.comb(degree + dimension - 2, degree)
        return (2 * degree + dimension - 2) * ways // (degree + dimension - 2)

    def to_dict(self) -> dict[str, Any]:
        """Return the domain as plain values that JSON can hold."""
        return {"name": self.name, "dimension": self.dimension}


Domain: TypeAlias = Circle | Sphere


def is_domain(candidate: object) -> bool:
    """Return whether an object is a domain."""
    return isinstance(candidate, Circle | Sphere)


def unit_sphere(dimension: int) -> Domain:
    """Return the unit sphere of the space of a dimension, in the plane the circle.

    Raises
    ------
    InvalidInput
        If the dimension is not an integer from 2 to 1024.
    """
    return Circle() if is_whole(dimension) and dimension == 2 else Sphere(dimension)


def domain_named(name: str, dimension: int | None = None) -> Domain:
    """Return the domain of a name; a sphere of dimension 2 is the circle.

    Raises
    ------
    InvalidInput
        If there is no such domain, or the dimension is not one of its own.
    """
    if name == Sphere.name:
        return unit_sphere(3 if dimension is None else dimension)
    if name != Circle.name:
        raise InvalidInput(f"unknown domain {name!r}; known: {Circle.name}, {Sphere.name}")
    if dimension not in (None, 2):
        raise InvalidInput(f"the circle has dimension 2, not {dimension}; use --domain sphere or leave it out")
    return Circle()
