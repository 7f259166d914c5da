r"""Potentials that are finite sums: of cosines, and of the polynomials of a sphere."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from ..arguments import methods_checked
from ..domains import Domain, unit_sphere
from ..errors import InvalidInput
from ..harmonics.gegenbauer import slope_at_cosines, sum_at_cosines
from .arrays import Array, Number
from .formulas import formulas_of
from .protocol import Potential
from .series import checked_coefficients, cosine_sum, cosine_sum_slope, padded


@methods_checked
class FiniteSum(Potential):
    """A potential with finitely many multipliers on every domain it admits."""

    def multipliers(self, domain: Domain, degree: int) -> Array:
        """Return w_0, ..., w_degree, 0 beyond the last."""
        return padded(self._on(domain), int(degree))

    def tail_bound(self, domain: Domain, degree: int) -> Number:
        """Return the largest remaining modulus, 0 beyond the last multiplier."""
        return float(np.abs(self._on(domain)[int(degree) + 1 :]).max(initial=0.0))

    def multiplier_derivatives(self, name: str, domain: Domain, degree: int) -> Array:
        """Return the derivatives in a coefficient, the multipliers of its term alone."""
        self._require_parameter(name)
        alone = [float(other == name) for other in self.parameter_names()]
        return type(self)(**self.parameters() | {"w": alone}).multipliers(domain, degree)

    def _on(self, domain: Domain) -> npt.NDArray[np.float64]:
        """Return all multipliers on a domain, from w_0."""
        raise NotImplementedError


def named_once(w: Any, coefficients: Any, name: str) -> tuple[float, ...]:
    """Return the checked coefficients of a series, given under exactly one of two names."""
    example = f"{name}((-1.0, -0.9))"
    if (w is None) == (coefficients is None):
        how_many = "none is" if w is None else "both are"
        raise InvalidInput(
            f"{name} takes its coefficients as w or as coefficients, and {how_many} given; try {example}"
        )
    return (
        checked_coefficients(w, "w", example)
        if coefficients is None
        else checked_coefficients(coefficients, "coefficients", example)
    )


@methods_checked
@dataclass(frozen=True, init=False)
class CosineSeries(FiniteSum):
    """A finite cosine series, W = sum w_k cos kt.

    On the sphere the same function of the angle, whose multipliers there follow by exact conversion.

    Parameters
    ----------
    w
        (w_1, w_2, ..., w_K), finite numbers, at least one; on the circle mode k attracts when w_k < 0.
    coefficients
        Another name of w, that of the command line.

    Raises
    ------
    InvalidInput
        If w is empty, not a sequence, or contains something other than finite numbers.
    """

    w: tuple[float, ...]
    name: ClassVar[str] = "cosine-series"
    formula: ClassVar[str] = "sum_k w_k cos kt"

    def __init__(self, w: Sequence[float] | None = None, *, coefficients: Sequence[float] | None = None) -> None:
        object.__setattr__(self, "w", named_once(w, coefficients, "CosineSeries"))

    @property
    def coefficients(self) -> tuple[float, ...]:
        """The same as w."""
        return self.w

    def values(self, angle: npt.ArrayLike) -> Array:
        """Return the sum at the angles."""
        return cosine_sum(np.array([0.0, *self.w]), angle)

    def slope(self, angle: npt.ArrayLike) -> Array:
        """Return the differentiated sum at the angles."""
        return cosine_sum_slope(np.array([0.0, *self.w]), angle)

    def _on(self, domain: Domain) -> npt.NDArray[np.float64]:
        return formulas_of(domain).of_cosines(np.array([0.0, *self.w]))

    def parameters(self) -> dict[str, Any]:
        """Return the coefficients as a list."""
        return {"w": list(self.w)}


@methods_checked
@dataclass(frozen=True, init=False)
class GegenbauerSeries(FiniteSum):
    r"""A finite series in the polynomials of one sphere, :math:`W = \sum_l w_l P_l(\cos t)`, :math:`P_l(1) = 1`.

    Legendre polynomials in dimension 3, cosines in dimension 2 (the circle).

    Parameters
    ----------
    w
        (w_1, w_2, ..., w_L), finite numbers, at least one; degree l attracts when w_l < 0.
    dimension
        d of the space around the sphere; the multipliers on any other domain are refused.
    coefficients
        Another name of w, that of the command line.

    Raises
    ------
    InvalidInput
        If w is empty, not a sequence, contains something other than finite numbers, or the dimension is not that
        of a sphere or the circle.

    Examples
    --------
    >>> GegenbauerSeries((0.0, -1.0)).values(0.0).item()
    -1.0
    """

    w: tuple[float, ...]
    dimension: int = 3
    name: ClassVar[str] = "gegenbauer-series"
    formula: ClassVar[str] = "sum_l w_l P_l(cos t)"

    def __init__(
        self, w: Sequence[float] | None = None, dimension: int = 3, *, coefficients: Sequence[float] | None = None
    ) -> None:
        object.__setattr__(self, "w", named_once(w, coefficients, "GegenbauerSeries"))
        object.__setattr__(self, "dimension", unit_sphere(dimension).dimension)

    @property
    def coefficients(self) -> tuple[float, ...]:
        """The same as w."""
        return self.w

    def values(self, angle: npt.ArrayLike) -> Array:
        """Return the sum at the angles."""
        return sum_at_cosines(np.array([0.0, *self.w]), self.dimension, np.cos(np.asarray(angle, dtype=float)))

    def slope(self, angle: npt.ArrayLike) -> Array:
        """Return the differentiated sum at the angles."""
        angles = np.asarray(angle, dtype=float)
        derivative = slope_at_cosines(np.array([0.0, *self.w]), self.dimension, np.cos(angles))
        return np.asarray(-np.sin(angles) * derivative)

    def parameters(self) -> dict[str, Any]:
        """Return the coefficients as a list, and the dimension."""
        return {"w": list(self.w), "dimension": self.dimension}

    def _on(self, domain: Domain) -> npt.NDArray[np.float64]:
        if domain.dimension != self.dimension:
            own, there = unit_sphere(self.dimension).in_code, domain.in_code
            raise InvalidInput(
                f"this series is in the polynomials of {own} and cannot be used on {there}, where they are others; "
                f"give coefficients for it as GegenbauerSeries(w, dimension={domain.dimension})"
            )
        return np.array([0.0, *self.w])
