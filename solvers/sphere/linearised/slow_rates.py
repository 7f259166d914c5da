r"""Rates of single vectors on S^2 where W is small on them, by the factor Q of W on the grid.

Let :math:`Cy = \mu x`, and :math:`\langle x, y\rangle = 1` for the computed :math:`y = Wx + d` with the rounding
error d. Then :math:`\langle x, d\rangle = 1 - |Qx|^2`, and to first order

.. math:: \langle y, Cy\rangle = \mu|Qx|^2 + 2\mu\langle x, d\rangle = \mu(2 - |Qx|^2).

Rounding of :math:`|Qx|^2` on the grid is small where it is small itself; that of W, which is
:math:`\mathrm{eps}\,\|W\|\,|x|^2`, is to be small beside one.
"""

import math

import numpy as np

from ...bases import EPS, Floats
from .full_matrices import SAFETY, ClassMatrices, Pair


def slopes(block: ClassMatrices, x: Floats) -> Floats:
    """Return Qx on the grid, whose square is <x, Wx>, its two components one after the other."""
    transform, values = block.whole.transform, block.whole.values
    packed = block.table.spread(x, block.whole.degree)
    halved = 0.5 * transform.synthesise(*packed)
    polar, azimuthal = transform.gradient(*packed)
    weights = np.sqrt(np.repeat(transform.weights / transform.meridians, transform.meridians))
    parts = [polar - halved * values.polar, azimuthal - halved * values.azimuthal]
    return np.concatenate([part.ravel() * weights for part in parts])


def rate_by_slopes(block: ClassMatrices, pair: Pair) -> tuple[float, float]:
    r"""Return the lowest rate of a class from its pair, in units of D, and a bound of its error by rounding.

    The bound is infinite where rounding hides Wx. It has the errors of Q and C to first order, that of the vector
    to second, :math:`\langle x_k, d\rangle^2 \mu\mu_k/(\mu_k - \mu)` by the next pair, which is computed.
    """
    plain = block.pair(pair.x)
    beside = None if plain is None else block.next_to(plain)
    if plain is None or beside is None:
        return pair.level, np.inf
    square = float(np.sum(slopes(block, plain.x) ** 2))
    level = plain.level / (2.0 - square)
    gap = beside.level - level
    if not gap > 0.0:
        return level, np.inf
    length, wide = float(np.linalg.norm(plain.x)), float(np.linalg.norm(beside.x))
    first = 2.0 * abs(level) * math.sqrt(block.top) * length + block.coupled * float(plain.y @ plain.y)
    second = block.coupled + wide**2 * abs(level * beside.level) / gap
    changed = (SAFETY * EPS * block.top * length) ** 2 * second + abs(level) * (1.0 - square) ** 2
    return level, SAFETY * EPS * first + changed
