"""Formulas of potentials that depend on the domain, and the table of the formulas of every domain.

A domain of another kind is a class with these methods and a line of the table. What is the same on all domains but
for the dimension stands with the potentials themselves.
"""

from collections.abc import Callable
from typing import Any, Protocol

from ..domains import Circle, Domain, Sphere
from ..harmonics.gegenbauer import Extended, Floats
from .arrays import Array, Kinked, Number
from .on_circle import OnCircle
from .on_spheres import OnSphere
from .sampling import Sampled


class Confidence(Protocol):
    """The multipliers of bounded confidence, -(R - t)_+^2 / 2, for one radius on one domain."""

    def multipliers(self, degree: int) -> Array:
        """Return w_0, ..., w_degree."""
        ...

    def relative(self, degree: int, scale: Callable[[], Number]) -> Extended:
        """Return w_k over the scale, k = 0..degree."""
        ...

    def derivatives(self, degree: int) -> Array:
        """Return the derivatives of w_0, ..., w_degree in the radius."""
        ...

    def bound(self, following: int) -> float:
        """Return a bound of the moduli of the multipliers from a degree on."""
        ...


class Kinks(Protocol):
    """Multipliers of functions with kinks on one domain."""

    @property
    def most(self) -> int:
        """The largest degree."""
        ...

    def integrals(self, weighted: Any, angles: Any, degree: int) -> Any:
        """Return the sums of weighted values against P_l, l = 0..degree."""
        ...

    def bound(self, function: Kinked, following: float) -> float:
        """Return a bound of the moduli of the multipliers from a degree on."""
        ...


class Formulas(Protocol):
    """The formulas of one domain."""

    @property
    def mean_logarithm(self) -> float:
        """Mean of log(2 sin(t/2))."""
        ...

    @property
    def kinks(self) -> Kinks:
        """Multipliers of functions with kinks.

        Raises
        ------
        InvalidInput
            If those beyond a degree have no useful bound here.
        """
        ...

    @property
    def prefers_pieces(self) -> bool:
        """Whether pieces give the multipliers of a function with narrow features at less cost than its cosines."""
        ...

    def exponential(self, size: float, degree: int) -> Extended:
        """Return the w_l of exp(x (cos t - 1)), x = size > 0: l = 0..degree, and on to the largest of all."""
        ...

    def sine(self, degree: int) -> Array:
        """Return the w_l of abs(sin t), l = 0..degree."""
        ...

    def confidence(self, radius: float) -> Confidence:
        """Return the multipliers of bounded confidence.

        Raises
        ------
        InvalidInput
            If those beyond a degree have no useful bound here.
        """
        ...

    def require_screened(self) -> None:
        """Refuse a domain on which cosh(s (pi - t)) is no Green function.

        Raises
        ------
        InvalidInput
            If that is so.
        """
        ...

    def arc_cosine(self, degree: int) -> Extended:
        """Return the w_l of ((pi - t) cos t + sin t)/(4 pi), l = 0..degree.

        Raises
        ------
        InvalidInput
            Where they are not known.
        """
        ...

    def require_uneven(self, clause: str) -> None:
        """Refuse functions without symmetry about the axis where there is one, in a sentence that a clause ends.

        Raises
        ------
        InvalidInput
            If there is one.
        """
        ...

    def require_azimuth(self, clause: str) -> None:
        """Refuse functions of directions of two angles, in a sentence that a clause ends.

        Raises
        ------
        InvalidInput
            Unless on the ordinary sphere.
        """
        ...

    def of_cosines(self, series: Floats) -> Floats:
        """Return the multipliers of a finite series of cosines, given from k = 0 on."""
        ...

    def of_function(self, function: Sampled, series: Floats, constant: float) -> Floats:
        """Return the multipliers of a function with these cosine coefficients, a constant being left out of it."""
        ...


_FORMULAS: dict[str, Callable[[Any], Formulas]] = {Circle.name: OnCircle, Sphere.name: OnSphere}


def formulas_of(domain: Domain) -> Formulas:
    """Return the formulas of a domain."""
    return _FORMULAS[domain.name](domain)
