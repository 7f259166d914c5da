r"""Sampling of a user's function at many angles: checked to be finite, even and reproducible, and scaled.

It is sampled at 8192 angles, one in each of as many equal parts of :math:`[0, \pi]` and none on a regular grid:
features wider than two parts, 0.0008, are always found. An offset is subtracted first, since constants
carry no information and would round what does, and a power of two is divided out.
"""

import contextlib
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ..errors import ComputationFailed, InvalidInput
from .arrays import Array
from .expressions import Formula
from .series import SMALLEST_SIZE

Angles = npt.NDArray[Any]
Function = Callable[[Angles], Array]

PROBES = 8192
PI = 4 * np.arctan(np.longdouble(1))
_EPS = float(np.finfo(float).eps)
_GRID = 2**15
# Roundings of a value by which W(t) and W(-t) may differ, and share of the rest of W that an odd part may have.
_ODD_ROUNDINGS, _ODD_SHARE = 64, 1e-10
# Of neighbouring values that tell noise.
_SPACING = 1e-6
# Angles nearer than this are one.
_APART = 1e-14


@dataclass(frozen=True, eq=False)
class Sampled:
    r"""An even function as :math:`W = offset + unit \cdot f`, f of size one.

    Attributes
    ----------
    label
        What to call it in messages.
    offset, unit
        The parts of it.
    angles, values
        The probes and f there.
    special
        Which of them lie between breakpoints that are known.
    precision
        Roundings of W are of this relative size.
    noise
        Rounding of f by the size of the offset.
    """

    label: str
    function: Function
    offset: np.longdouble
    unit: np.longdouble
    angles: Angles
    values: Array
    special: npt.NDArray[np.bool_]
    precision: float
    noise: float

    def __call__(self, angles: Angles) -> Array:
        """Return f at the angles, longdouble for a formula."""
        values = finite(self.function, angles, self.label)
        return np.asarray((values - values.dtype.type(self.offset)) / values.dtype.type(self.unit))


def sampled(function: Function, label: str, breakpoints: Angles, *, even: bool = False) -> Sampled:
    """Return a function of the angle in [-pi, pi] sampled at the probes, its breakpoints and between them.

    Parameters
    ----------
    even
        Whether it is known to be even.

    Raises
    ------
    InvalidInput
        If it is somewhere not finite, or not even.
    ComputationFailed
        If it raises.
    """
    ascending = np.sort(breakpoints.astype(float))
    between = np.concatenate([ascending, (ascending[1:] + ascending[:-1]) / 2])
    # Formulas tend to fail at simple fractions of pi.
    angles = extended(np.sort(np.concatenate([probes(), np.pi * np.arange(1, 24) / 24, between])))
    angles = angles[np.append(np.diff(angles) > _APART, True)]
    ends = finite(function, np.array([0.0, np.pi]), label)
    right = finite(function, angles, label)
    left = right if even else finite(function, -angles, label)
    precision = max(float(np.finfo(right.dtype).eps), _declared_precision(function))
    right, left = _wide(right), _wide(left)
    offset = np.median(right)
    deviation = max(np.abs(right - offset).max(), np.abs(_wide(ends) - offset).max())
    # What is below the rounding of a constant is none.
    if deviation <= 2 * precision * np.abs(offset):
        deviation = np.longdouble(0)
    if 0 < deviation < SMALLEST_SIZE or (deviation == 0 and _underflows(function, angles)):
        raise InvalidInput(
            f"{label} varies by {float(deviation):.3g} only, too near the smallest numbers to be told; measure it "
            "in another unit"
        )
    # A constant of the size of the rest costs nothing.
    if np.abs(offset) <= 16 * deviation:
        offset = np.longdouble(0)
        deviation = max(np.abs(right).max(), np.abs(_wide(ends)).max())
    unit = np.longdouble(2.0) ** np.floor(np.log2(np.longdouble(deviation))) if deviation > 0 else np.longdouble(1)
    noise = float(precision * np.abs(offset) / unit)
    special = np.zeros(angles.size, dtype=bool)
    special[np.searchsorted(angles, between - _APART)] = True
    looked_at = Sampled(label, function, offset, unit, angles, (right - offset) / unit, special, precision, noise)
    if not even:
        _require_even(looked_at, (left - offset) / unit)
    return looked_at


def _underflows(function: Function, angles: Angles) -> bool:
    """Return whether an intermediate result of the values underflows to 0, as far as numpy computes it."""
    seen: list[str] = []
    with np.errstate(under="call", call=lambda kind, _: seen.append(kind)):
        function(angles)
    return bool(seen)


def roughness(function: Sampled) -> float:
    """Return four times the noise of f, from sixth differences of neighbouring values (Moré and Wild, ECNoise).

    A smooth function has none at this spacing, whatever its features; a formula with terms that cancel has.
    """
    weights = np.array([1.0, -6.0, 15.0, -20.0, 15.0, -6.0, 1.0])
    starts = function.angles[:: PROBES // 64].astype(float)
    values = function((starts[:, np.newaxis] + _SPACING * np.arange(12)).ravel()).reshape(-1, 12)
    differences = np.array([np.convolve(row, weights, mode="valid") for row in values.astype(float)])
    return 4 * float(np.sqrt((differences**2).mean(axis=1) / (weights**2).sum()).max())


def probes() -> Angles:
    """Return one angle in each of equal parts of [0, pi], at places that follow the golden ratio."""
    places = np.arange(PROBES)
    return np.asarray(np.pi * (places + places * 0.6180339887498949 % 1) / PROBES)


def finite(function: Function, angles: Angles, label: str) -> Array:
    """Return the values of a function at angles, refusing any that are not finite."""
    values = function(angles)
    with np.errstate(over="ignore"):
        bad = np.flatnonzero(~np.isfinite(values.astype(float)))
    if bad.size:
        raise InvalidInput(
            f"{label} is {float(values[bad[0]]):.6g} at t = {float(angles[bad[0]]):.16g}; a potential must be "
            "finite there (Logarithmic is the built-in with a singularity)"
        )
    return values


def formula_values(formula: Formula) -> Function:
    """Return a formula as a function of float64 angles, those that are multiples of pi/2^15 taken exactly."""

    def values(angles: Angles) -> Array:
        # Longdouble angles mean themselves.
        exact = angles if angles.dtype == np.longdouble else extended(angles)
        with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
            return np.asarray(formula.evaluate(exact) + np.zeros(angles.shape, dtype=np.longdouble))

    return values


def extended(angles: npt.NDArray[np.float64]) -> Angles:
    """Return the angles, each float64 multiple of pi/2^15 replaced by the same multiple in longdouble."""
    steps = np.rint(angles / np.pi * _GRID)
    on_grid = np.abs(steps / _GRID * np.pi - angles) <= 4 * _EPS * np.abs(angles)
    return np.where(on_grid, steps.astype(np.longdouble) * PI / _GRID, angles.astype(np.longdouble))


class UserFunction:
    """A user's callable, evaluated at once if it is vectorised, else angle by angle; also of single precision."""

    def __init__(self, function: Callable[[Any], Any]) -> None:
        self.function, self.name = function, name_of(function)
        self.precision = 0.0
        self.vectorised = self._is_vectorised()

    def __call__(self, angles: Angles) -> Array:
        """Return the values at the angles."""
        plain = np.asarray(angles, dtype=float)
        if not self.vectorised:
            with _quiet():
                return np.array([self._single(angle) for angle in plain.tolist()])
        with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
            values = np.asarray(self.function(plain.copy()))
        if values.shape != plain.shape:
            raise InvalidInput(
                f"{self.name} returns values of shape {values.shape} for angles of shape {plain.shape}; a function "
                "of arrays must return one value an angle"
            )
        return np.asarray(values, dtype=float)

    def _is_vectorised(self) -> bool:
        """Return whether the callable maps arrays entry by entry, with the values of single angles."""
        angles = np.pi * np.array([0.53, 0.11, 0.97, -0.29, 0.71])
        try:
            with np.errstate(all="ignore"):
                values = np.asarray(self.function(angles.copy()))
        except Exception:
            return False
        if np.iscomplexobj(values):
            raise InvalidInput(f"the potential {self.name} must be real, not complex; take its real part")
        if values.shape != angles.shape or values.dtype.kind not in "fiu":
            return False
        if values.dtype.kind == "f":
            self.precision = float(np.finfo(values.dtype).eps)
        self._require_single(values, angles)
        return True

    def _require_single(self, values: Array, angles: Angles) -> None:
        """Refuse a function whose values depend on the other angles of a call or change from call to call."""
        alone = []
        for angle in angles:
            try:
                with np.errstate(all="ignore"):
                    alone.append(np.asarray(self.function(np.array([angle])), dtype=float).reshape(-1)[0])
            except Exception:
                with _quiet():
                    alone.append(self._single(float(angle)))
        with np.errstate(invalid="ignore"):
            wrong = np.abs(np.array(alone) - values)
        worst = int(np.nan_to_num(wrong).argmax())
        if wrong[worst] > 1e3 * max(self.precision, _EPS) * np.abs(values).max():
            raise InvalidInput(
                f"{self.name} gives {float(values[worst]):.9g} at t = {angles[worst]:.9g} among other angles and "
                f"{float(alone[worst]):.9g} alone; the value at an angle must depend on that angle only"
            )

    def _single(self, angle: float) -> float:
        try:
            value = np.asarray(self.function(angle))
            if np.iscomplexobj(value):
                raise InvalidInput(f"the potential {self.name} must be real, not complex; take its real part")
            if value.dtype.kind == "f":
                self.precision = max(self.precision, float(np.finfo(value.dtype).eps))
            return float(value.reshape(-1)[0] if value.size == 1 else self.function(angle))
        except InvalidInput:
            raise
        except Exception as error:
            raise ComputationFailed(
                f"the potential {self.name} raised {type(error).__name__} at t = {angle:.16g}: {error}"
            ) from error


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """Ignore what a function warns of, at all angles of a call: to begin and end this takes longer than a value."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        yield


def name_of(function: Callable[..., Any]) -> str:
    """Return the name of a callable."""
    return str(getattr(function, "__name__", type(function).__name__))


def _declared_precision(function: Function) -> float:
    return function.precision if isinstance(function, UserFunction) else 0.0


def _wide(values: Array) -> npt.NDArray[np.longdouble]:
    return values.astype(np.longdouble)


def _require_even(looked_at: Sampled, left: Array) -> None:
    """Refuse an odd part that rounding at each angle does not explain, or that is seen in the sine coefficients.

    The angle is rounded as well, which costs eps |t W'|.
    """
    right, angles = looked_at.values, looked_at.angles
    odd = (right - left) / 2
    with np.errstate(under="ignore"):
        slopes = sum(np.abs(np.gradient(side.astype(float), angles.astype(float))) for side in (right, left))
    padded = np.pad(np.abs(right) + np.abs(left) + np.pi * slopes, 1, mode="edge")
    around = np.maximum(np.maximum(padded[:-2], padded[2:]), padded[1:-1])
    excess = np.abs(odd) - _ODD_ROUNDINGS * looked_at.precision * around - 4 * looked_at.noise
    worst = int(excess.argmax())
    if excess[worst] <= 0 and not _has_sines(looked_at, odd):
        return
    values = [float(looked_at.offset + looked_at.unit * side[worst]) for side in (right, left)]
    raise InvalidInput(
        f"{looked_at.label} is not even: it is {values[0]:.6g} at t = {angles[worst]:.6g} and {values[1]:.6g} at "
        f"t = -{angles[worst]:.6g}; use its even part (W(t) + W(-t))/2"
    )


def _has_sines(looked_at: Sampled, odd: Array) -> bool:
    """Return whether one of the first sine coefficients of the odd part exceeds its rounding, over the cosines."""
    wave = np.exp(1j * looked_at.angles.astype(float))
    waves = np.cumprod(np.broadcast_to(wave, (8, wave.size)), axis=0)
    sines = np.abs(waves.imag @ odd.astype(float)).max() * 2 / PROBES
    cosines = np.abs(waves.real @ looked_at.values.astype(float)).max() * 2 / PROBES
    # Roundings of single values average out.
    averaged = (looked_at.noise + looked_at.precision * float(np.abs(looked_at.values).max())) * 8 / PROBES**0.5
    return bool(sines > _ODD_SHARE * cosines + averaged)
