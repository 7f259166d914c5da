r"""The user's own potential: from a function, a formula, a sympy expression or coefficients.

The multipliers of a function are the trapezoid sums
:math:`w_k \approx (2/N) \sum_j W(2\pi j/N) \cos(2\pi jk/N)`, wrong by :math:`w_{N-k}` only. N is doubled
until the last third of the coefficients has decayed to rounding level and two grids agree; two further
points, at irrational multiples of pi, guard against aliasing.
"""

import dataclasses
import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from ..domains import Domain
from ..errors import ComputationFailed, InvalidInput
from .expressions import compiled
from .protocol import Array
from .series import as_number, checked_coefficients, cosine_sum, cosine_sum_slope
from .sums import FiniteSum, converted
from .zonal import angular_rule, multiplicities, projected

_SMALLEST_GRID = 32
_LARGEST_GRID = 2**15
_CHECK_POINTS = (-0.357998918959666, 0.036785641195074)
_ODD_TOLERANCE = 1e-12
# Multiples of eps * max|W| below which a computed coefficient is rounding noise.
_NOISE = 4
# Error of a multiplier on the sphere over the largest, beyond which it is refused.
_WORST_ERROR = 1e-8


@dataclass(frozen=True)
class Custom(FiniteSum):
    """A potential of one's own; use the ``from_...`` constructors in programs.

    Exactly one of expression, coefficients and function is given.

    Parameters
    ----------
    expression
        A formula in t, such as ``"-cos(t) - 0.9*cos(2*t)"``; only a fixed list of names is admitted.
    coefficients
        (w_1, w_2, ...), finite numbers.
    constant
        w_0, with coefficients only.
    source
        Where coefficients came from, for the record.
    function
        A callable of the angle in [-pi, pi], even; vectorised or scalar.

    Raises
    ------
    InvalidInput
        If the function is not even, not finite or too rough for its coefficients to decay to rounding
        level within 16384 modes, or if the formula contains anything not admitted.
    ComputationFailed
        If the function itself raises; the message names the angle, the cause is chained.

    Notes
    -----
    Multipliers of a function have an absolute error near eps max|W| (formulas are evaluated in extended
    precision where the machine has it), on spheres near sqrt(N_l) eps max|W|; they are refused where this exceeds
    1e-8 of the largest. Coefficients below ``4 eps max|W|`` are set to exactly 0, so that
    rounding noise makes no spurious critical couplings. Give coefficients where relative accuracy of
    tiny modes matters. Two customs are equal when their formula, their coefficients or their function
    object are.

    Examples
    --------
    >>> from meanfield.domains import Circle
    >>> Custom.from_expression("-cos(t) - 0.9*cos(2*t)").multipliers(Circle(), 3).tolist()
    [0.0, -1.0, -0.9, 0.0]
    """

    expression: str | None = None
    coefficients: tuple[float, ...] | None = None
    constant: float = 0.0
    source: str | None = None
    function: Callable[[Any], Any] | None = dataclasses.field(default=None, repr=False)
    name: ClassVar[str] = "custom"

    def __post_init__(self) -> None:
        given = [what is not None for what in (self.expression, self.coefficients, self.function)]
        if sum(given) != 1:
            raise InvalidInput(
                "a custom potential takes exactly one of expression, coefficients and function, "
                f'{sum(given)} were given; try expression="-cos(t) - 0.9*cos(2*t)"'
            )
        if isinstance(self.expression, str):
            object.__setattr__(self, "expression", self.expression.strip())
        if self.coefficients is not None:
            example = "coefficients=(-1.0, -0.9)"
            checked = checked_coefficients(self.coefficients, "coefficients", example)
            object.__setattr__(self, "coefficients", checked)
        object.__setattr__(self, "constant", as_number(self.constant, "constant", "a finite number"))
        if self.coefficients is None and self.constant:
            raise InvalidInput(f"constant = {self.constant!r} goes with coefficients only; add it to the function")
        _ = self.series

    @classmethod
    def from_callable(cls, function: Callable[[Any], Any]) -> "Custom":
        """Wrap an even function of the angle."""
        if not callable(function):
            raise InvalidInput(
                f"from_callable needs a function of the angle, not {function!r}; try lambda t: -np.cos(t)"
            )
        return cls(function=function, source=f"callable {_name(function)}")

    @classmethod
    def from_expression(cls, expression: str) -> "Custom":
        """Wrap a formula in t."""
        return cls(expression=expression)

    @classmethod
    def from_sympy(cls, expression: Any) -> "Custom":
        """Wrap a sympy expression in one real symbol of any name."""
        from .symbolic import expression_text

        return cls(expression=expression_text(expression))

    @classmethod
    def from_coefficients(cls, coefficients: Sequence[float], constant: float = 0.0) -> "Custom":
        """Wrap (w_1, w_2, ...)."""
        return cls(coefficients=coefficients, constant=constant)  # type: ignore[arg-type]

    @property
    def formula(self) -> str:  # type: ignore[override]
        """The formula, or where the coefficients came from."""
        return self.expression or self.source or "sum_k w_k cos kt"

    @functools.cached_property
    def series(self) -> npt.NDArray[np.float64]:
        """The coefficients w_0, ..., w_K up to the last nonzero one (read-only)."""
        if self.coefficients is not None:
            series = np.array([self.constant, *self.coefficients])
        else:
            series = cosine_coefficients(self._evaluator(), self.formula)
        series.flags.writeable = False
        return series

    def values(self, angle: npt.ArrayLike) -> Array:
        """Return the cosine series at the angles (the function itself to rounding level)."""
        return cosine_sum(self.series, angle)

    def slope(self, angle: npt.ArrayLike) -> Array:
        """Return the differentiated cosine series at the angles."""
        return cosine_sum_slope(self.series, angle)

    def parameters(self) -> dict[str, Any]:
        """Return what rebuilds the potential; a callable is represented by its coefficients."""
        if self.expression is not None:
            return {"expression": self.expression}
        parameters: dict[str, Any] = {"coefficients": self.series[1:].tolist() or [0.0]}
        if self.series[0]:
            parameters["constant"] = float(self.series[0])
        if self.source:
            parameters["source"] = self.source
        return parameters

    def _on(self, domain: Domain) -> npt.NDArray[np.float64]:
        if domain.dimension == 2:
            return self.series
        if self.coefficients is not None:
            return converted(tuple(self.series.tolist()), domain.dimension)
        return _on_sphere(self, domain)

    def _evaluator(self) -> Callable[[npt.NDArray[np.float64]], Array]:
        if self.expression is not None:
            formula = compiled(self.expression)
            return lambda angles: _formula_values(formula, angles)
        function = self.function
        assert function is not None
        return lambda angles: _function_values(function, angles)


@functools.lru_cache(maxsize=64)
def _on_sphere(potential: Custom, domain: Domain) -> npt.NDArray[np.float64]:
    """Return the multipliers of a function on a sphere, noise removed, read-only."""
    coefficients = potential.series
    evaluate, degree = potential._evaluator(), 2 * coefficients.size + 16
    # The smoothness is known from the circle: twice its degree lies beyond all that can be told from rounding.
    size = 1 << (3 * degree + domain.dimension).bit_length()
    if size > _LARGEST_GRID:
        raise InvalidInput(
            f"{potential.formula} has {coefficients.size - 1} cosine coefficients and on a sphere at most "
            f"{_LARGEST_GRID // 12} are treated; give a GegenbauerSeries"
        )
    angles = np.pi * np.arange(size + 1) / size
    values = _finite(evaluate, angles, potential.formula)
    eigenvalues = projected(
        values, angular_rule(domain.dimension, size), np.cos(_extended(angles)), domain.dimension, degree
    )
    precision = float(np.finfo(values.dtype).eps)
    noise = _NOISE * precision * float((np.abs(coefficients) * (1 + np.arange(coefficients.size))).sum())
    return _told_from_noise(eigenvalues, multiplicities(domain, degree), noise, potential, domain)


def _told_from_noise(
    eigenvalues: Array, numbers: Array, noise: float, potential: Custom, domain: Domain
) -> npt.NDArray[np.float64]:
    """Return N_l times the eigenvalues that exceed their noise.

    By Cauchy and Schwarz an error of the function of size ``noise`` is one of at most noise / sqrt(N_l) in an
    eigenvalue, of noise * sqrt(N_l) in its multiplier.
    """
    multipliers, errors = eigenvalues * numbers, noise * np.sqrt(numbers)
    kept = np.abs(multipliers) > errors
    last = int(np.flatnonzero(kept).max(initial=0))
    largest = np.abs(multipliers[1 : last + 1]).max(initial=np.abs(multipliers[0]))
    beyond = min(last + 1, numbers.size - 1)
    if errors[beyond] > _WORST_ERROR * largest:
        raise InvalidInput(
            f"the multipliers of {potential.formula} at degree {beyond} on the sphere of dimension "
            f"{domain.dimension} cannot be told from rounding, {float(errors[beyond] / largest):.0e} of the "
            "largest; a formula is evaluated with more digits than a function, and exact multipliers can be given "
            "to GegenbauerSeries"
        )
    result = np.where(kept, multipliers, 0.0)[: last + 1].astype(np.float64)
    result.flags.writeable = False
    return result


def cosine_coefficients(evaluate: Callable[[Any], Array], label: str) -> npt.NDArray[np.float64]:
    """Return the cosine coefficients of an even smooth function, noise removed.

    Parameters
    ----------
    evaluate
        Maps an array of angles in [-pi, pi] to an array of values.
    label
        What to call the function in messages.

    Raises
    ------
    InvalidInput
        If the function is not finite, not even or not smooth enough.
    """
    coarse = _trapezoid(evaluate, _SMALLEST_GRID, label)
    size = 2 * _SMALLEST_GRID
    while size <= _LARGEST_GRID:
        fine = _trapezoid(evaluate, size, label)
        if _resolved(coarse, fine) and _matches(evaluate, fine, label):
            return _cleaned(fine)
        coarse, size = fine, 2 * size
    remaining = np.abs(coarse[2 * coarse.size // 3 :]).max() / np.abs(coarse[1:]).max()
    raise InvalidInput(
        f"the coefficients of {label} decay too slowly: at degree {coarse.size - 1} they are still "
        f"{float(remaining):.1e} of the largest, so the function is not smooth on the circle; "
        "give exact coefficients or use HegselmannKrause, Onsager, Logarithmic or KellerSegel"
    )


def _trapezoid(evaluate: Callable[[Any], Array], size: int, label: str) -> Array:
    """Return the coefficients 0..size/2 from size equispaced points, mirrored exactly."""
    half = np.pi * np.arange(size // 2 + 1) / (size // 2)
    right, left = _finite(evaluate, half, label), _finite(evaluate, -half[1:-1], label)
    _require_even(right[1:-1], left, half[1:-1], label)
    samples = np.concatenate([right, right[-2:0:-1]])
    coefficients = np.fft.rfft(samples).real * (2 / samples.dtype.type(size))
    coefficients[[0, -1]] /= 2
    return np.asarray(coefficients)


def _finite(evaluate: Callable[[Any], Array], angles: npt.NDArray[np.float64], label: str) -> Array:
    values = evaluate(angles)
    with np.errstate(over="ignore"):
        bad = np.flatnonzero(~np.isfinite(values.astype(float)))
    if bad.size:
        raise InvalidInput(
            f"{label} is {values[bad[0]]:.6g} at t = {angles[bad[0]]:.16g}; a potential must be finite there "
            "(Logarithmic is the built-in with a singularity)"
        )
    return values


def _require_even(right: Array, left: Array, angles: npt.NDArray[np.float64], label: str) -> None:
    odd = np.abs(right - left) / 2
    worst = int(odd.argmax())
    if odd[worst] > _ODD_TOLERANCE * max(np.abs(right).max(), np.abs(left).max()):
        raise InvalidInput(
            f"{label} is not even: it is {float(right[worst]):.6g} at t = {angles[worst]:.6g} and "
            f"{float(left[worst]):.6g} at t = -{angles[worst]:.6g}; use its even part (W(t) + W(-t))/2"
        )


def _rounding(coefficients: Array) -> float:
    """Return the noise of computed coefficients: eps (|W| + |W'|), the angle being rounded too."""
    precision = float(np.finfo(coefficients.dtype).eps)
    return precision * float((np.abs(coefficients) * (1 + np.arange(coefficients.size))).sum())


def _resolved(coarse: Array, fine: Array) -> bool:
    """Whether the tail has decayed to rounding level and the coarser grid tells the same."""
    noise = _NOISE * _rounding(fine)
    tail_decayed = np.abs(fine[2 * fine.size // 3 :]).max() <= noise
    grids_agree = np.abs(coarse[:-1] - fine[: coarse.size - 1]).max() <= 4 * noise
    return bool(tail_decayed and grids_agree)


def _matches(evaluate: Callable[[Any], Array], coefficients: Array, label: str) -> bool:
    """Whether the series reproduces the function between the grid points."""
    points = np.array(_CHECK_POINTS)
    expected = _finite(evaluate, points, label).astype(float)
    error = np.abs(cosine_sum(coefficients.astype(float), points) - expected).max()
    # Evaluation at t rounds the angle, so it is only good to eps |W'|.
    roundings = np.finfo(float).eps * np.abs(coefficients) * (4 + np.arange(coefficients.size))
    return bool(error <= 16 * float(roundings.sum()) + 16 * np.finfo(float).eps * np.abs(expected).max())


def _cleaned(coefficients: Array) -> npt.NDArray[np.float64]:
    relative = float(np.finfo(float).eps) * float(np.abs(coefficients).max())
    noise = max(_NOISE * relative, _rounding(coefficients))
    kept = np.where(np.abs(coefficients) > noise, coefficients, 0.0).astype(np.float64)
    return kept[: int(np.flatnonzero(kept).max(initial=0)) + 1]


def _formula_values(formula: Callable[[Any], Any], angles: npt.NDArray[np.float64]) -> Array:
    with np.errstate(all="ignore"):
        # The grid angles are multiples of pi: their extended versions keep formulas exact beyond float64.
        return np.asarray(formula(_extended(angles)) + np.zeros(angles.shape, dtype=np.longdouble))


def _extended(angles: npt.NDArray[np.float64]) -> Array:
    """Return the angles, each float64 multiple of pi/2^15 replaced by the same multiple in longdouble."""
    exact_pi = 4 * np.arctan(np.longdouble(1))
    steps = np.rint(angles / np.pi * _LARGEST_GRID)
    on_grid = np.abs(steps / _LARGEST_GRID * np.pi - angles) <= 4 * np.finfo(float).eps * np.abs(angles)
    return np.where(on_grid, steps.astype(np.longdouble) * exact_pi / _LARGEST_GRID, angles.astype(np.longdouble))


def _function_values(function: Callable[[Any], Any], angles: npt.NDArray[np.float64]) -> Array:
    """Evaluate at once where the function is vectorised, else angle by angle."""
    with np.errstate(all="ignore"):
        try:
            values = np.asarray(function(angles.copy()))
        except Exception:
            return np.array([_single_value(function, float(angle)) for angle in angles])
        if np.iscomplexobj(values):
            raise InvalidInput(f"the potential {_name(function)} must be real, not complex; take its real part")
        if values.shape == angles.shape and values.dtype.kind in "fiu":
            return values.astype(float)
        return np.array([_single_value(function, float(angle)) for angle in angles])


def _single_value(function: Callable[[Any], Any], angle: float) -> float:
    try:
        return float(function(angle))
    except Exception as error:
        raise ComputationFailed(
            f"the potential {_name(function)} raised {type(error).__name__} at t = {angle:.16g}: {error}"
        ) from error


def _name(function: Callable[[Any], Any]) -> str:
    return str(getattr(function, "__name__", type(function).__name__))
