"""Initial densities: the record, and the checks that all of them must pass."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from meanfield import InvalidInput, NotResolved
from meanfield.arguments import checked
from meanfield.base import Record
from meanfield.harmonics import Layout, Modes

from ..bases import EPS, Floats
from ..bases.base import RESOLUTION_TOLERANCE

# A density may miss mass one by this and is then divided by its mass; more is a mistake.
MASS_TOLERANCE = 1e-8
# Negative values of this size relative to the largest are rounding of moments or of the function given.
NEGATIVE_ROUNDING = 1e-10
# Moments below this are rounding of sums.
ROUNDING = 64.0 * EPS
# Degree up to which moments of a function are computed first.
SMALLEST_DEGREE = 16


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
    formula : callable or None
        On the circle the density over the uniform one as a function of angles, where one is known: it has all
        digits where the density is small, which a sum of moments has not.
    """

    cosine: Floats
    sine: Floats
    description: str
    warnings: tuple[str, ...] = ()
    layout: Layout = "degree"
    formula: Callable[[Floats], Floats] | None = None


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
    """Return the type of a record with moments and its label, for a description."""
    return f"{type(initial).__name__} {getattr(initial, 'label', '') or ''}".strip()


def require_mass(mass: float) -> None:
    """Refuse a mass other than one.

    Raises
    ------
    InvalidInput
        If the mass is another one.
    """
    if not abs(mass - 1.0) <= MASS_TOLERANCE:
        raise InvalidInput(f"the initial density integrates to {mass:.9g}, not to 1; divide it by that")


def sampled(density: Callable[..., Any], *angles: Floats) -> Floats:
    """Return the values of a function at angles, which may take arrays or single numbers.

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


def converged(moments: Callable[[int], tuple[Floats, Floats]], modes: Modes, largest: int) -> tuple[Floats, Floats]:
    """Return the moments of a function up to a degree at which they have decayed to rounding and two grids agree.

    On one grid alone fast oscillations look like slow ones.

    Parameters
    ----------
    moments
        Gives those up to a degree, by a grid that is the finer the larger the degree.
    modes, largest
        The modes of the moments, and the largest degree to try.

    Raises
    ------
    NotResolved
        If there is no such degree.
    """
    degree, previous, tail = SMALLEST_DEGREE, None, math.inf
    while degree <= largest:
        found = moments(degree)
        both = np.stack(found)
        tail = float(np.hypot(*both[:, modes.places(degree - degree // 8 - 1) :]).max())
        change = math.inf if previous is None else np.hypot(*(both[:, : previous.shape[1]] - previous)).max()
        if max(tail, change) <= RESOLUTION_TOLERANCE:
            return found
        previous, degree = both, 2 * degree
    raise NotResolved(
        f"the moments of the initial density do not decay: the last, of degree {degree // 2}, is {tail:.1e}, so it "
        "has a jump or a corner, or it is too narrow; give a smooth density, such as a steep tanh for a jump"
    )


def of_mass_one(cosine: Floats, sine: Floats, modes: Modes, description: str, rounded: bool = True) -> Initial:
    """Return an initial density with moments divided by the mass, up to the last degree that does not vanish."""
    mass = float(cosine[0])
    require_mass(mass)
    c, s = cosine / mass, sine / mass
    if rounded:
        c, s = (np.where(np.abs(values) <= ROUNDING, 0.0, values) for values in (c, s))
    c[0] = 1.0
    last = int(np.flatnonzero((c != 0.0) | (s != 0.0))[-1])
    end = modes.places(int(modes.degrees(c.size)[last]))
    return Initial(c[:end].copy(), s[:end].copy(), description, (), modes.layout)
