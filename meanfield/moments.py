r"""The names of moments, the same in tables, plots, JSON and records.

=========  =========================================================================================
name       meaning
=========  =========================================================================================
``m1`` ..  on the circle :math:`m_k = \langle\cos k\theta\rangle`; on spheres the length
           :math:`|m_l| \ge 0` of all moments of degree l, which no rotation changes
``s1`` ..  on the circle :math:`s_k = \langle\sin k\theta\rangle`
``p1`` ..  on spheres :math:`p_l = \langle P_l(\cos\theta)\rangle` about the north pole, which is the axis of
           zonal densities; of either sign
=========  =========================================================================================
"""

import numpy as np
from numpy.typing import NDArray

from .domains import Circle, Domain
from .errors import InvalidInput
from .harmonics import moduli, place
from .states import Layout

Floats = NDArray[np.float64]

# Degrees that fit a table.
TABLE_DEGREES = (1, 2, 3, 4)


def kinds(domain: Domain, sines: bool = False) -> str:
    """Return the first letters of the names of moments on a domain; on the circle with those of sines if wanted."""
    if isinstance(domain, Circle):
        return "ms" if sines else "m"
    return "mp"


def moment_columns(domain: Domain, sines: bool = False) -> tuple[str, ...]:
    """Return the names of the moments of a table."""
    return tuple(f"{kind}{degree}" for kind in kinds(domain, sines) for degree in TABLE_DEGREES)


def named_moment(domain: Domain, layout: Layout, cosine: Floats, sine: Floats, name: str) -> Floats:
    """Return the moments of a name of moments (..., n) in a layout, (...); zero beyond those that are kept.

    Raises
    ------
    InvalidInput
        If the domain has no moment of that name.
    """
    kind, degree = name[:1], name[1:]
    if kind not in kinds(domain, True) or not (degree.isascii() and degree.isdigit() and int(degree)):
        known = " and ".join(f"{kind}1, {kind}2, ..." for kind in kinds(domain, True))
        raise InvalidInput(f"no moment is called {name!r} here; there are {known}")
    if isinstance(domain, Circle):
        return _entry(sine if kind == "s" else cosine, int(degree))
    if kind == "m":
        return _entry(moduli(cosine, sine) if layout == "order" else np.abs(cosine), int(degree))
    return _entry(cosine, place(int(degree), 0) if layout == "order" else int(degree))


def _entry(values: Floats, index: int) -> Floats:
    return values[..., index] if index < values.shape[-1] else np.zeros(values.shape[:-1])
