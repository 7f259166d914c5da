"""Initial densities: the record, and the checks that all of them must pass."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from meanfield import InvalidInput
from meanfield.arguments import checked
from meanfield.base import Record
from meanfield.harmonics import Layout

from ..bases import Floats

# A density may miss mass one by this and is then divided by its mass; more is a mistake.
MASS_TOLERANCE = 1e-8
# Negative values of this size relative to the largest are rounding of moments or of the function given.
NEGATIVE_ROUNDING = 1e-10


@checked
@dataclass(frozen=True, eq=False, repr=False)
class Initial(Record):
    """An initial density.

    Attributes
    ----------
    cosine, sine : (n + 1,) float
        Its moments; ``cosine[0]`` is exactly 1.
    description : str
        Where it comes from.
    warnings : tuple of str
        What a reader must know about it.
    layout : str
        ``"degree"`` or, for a density on the ordinary sphere without an axis at the pole, ``"order"``, as in
        :class:`~meanfield.State`.
    """

    cosine: Floats
    sine: Floats
    description: str
    warnings: tuple[str, ...] = ()
    layout: Layout = "degree"


def given_moments(cosine: ArrayLike, sine: ArrayLike) -> tuple[Floats, Floats]:
    """Return copies of given moments, of a state or of the last time of a trajectory.

    Raises
    ------
    InvalidInput
        If they are not vectors of one length, or not finite.
    """
    both = [np.array(moments, dtype=float) for moments in (cosine, sine)]
    m, s = (moments[-1].copy() if moments.ndim == 2 else moments for moments in both)
    if m.ndim != 1 or m.shape != s.shape or m.size == 0:
        raise InvalidInput(f"cosine and sine moments must be vectors of one length, not {m.shape} and {s.shape}")
    for name, values in (("cosine", m), ("sine", s)):
        bad = np.flatnonzero(~np.isfinite(values))
        if bad.size:
            raise InvalidInput(f"the {name} moment {bad[0]} of the initial density is {values[bad[0]]}")
    return m, s


def kind_of(initial: Any) -> str:
    """Return what has moments as a description says it: the type of the record and its label."""
    return f"{type(initial).__name__} {getattr(initial, 'label', '') or ''}".strip()


def require_mass(mass: float) -> None:
    """Refuse a mass that is not one.

    Raises
    ------
    InvalidInput
        If that is so.
    """
    if not abs(mass - 1.0) <= MASS_TOLERANCE:
        raise InvalidInput(f"the initial density integrates to {mass:.9g}, not to 1; divide it by that")


def sampled(density: Callable[..., Any], *angles: Floats) -> Floats:
    """Return the values of a function, which may take arrays or single numbers.

    Raises
    ------
    InvalidInput
        If it fails or returns no number.
    """
    try:
        values = np.asarray(density(*angles), dtype=float)
        if values.shape == angles[0].shape:
            return values
    except (TypeError, ValueError):
        pass
    except Exception as error:
        raise InvalidInput(
            f"the function for the initial density fails: {type(error).__name__}: {error}"
        ) from error
    try:
        single = [float(density(*map(float, point))) for point in zip(*(a.ravel() for a in angles), strict=True)]
        return np.array(single).reshape(angles[0].shape)
    except Exception as error:
        raise InvalidInput(
            f"the function for the initial density returns no number at an angle: {type(error).__name__}: {error}"
        ) from error
