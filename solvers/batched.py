"""Linear systems of many starts of a search at once."""

import numpy as np

from .bases import Floats


def solutions(matrices: Floats, sides: Floats) -> Floats:
    """Return the solutions (n, size) of systems (n, size, size); of least squares if one is exactly singular.

    Rows that are not finite have no solution and are nan.
    """
    try:
        return np.asarray(np.linalg.solve(matrices, sides[:, :, None])[:, :, 0])
    except np.linalg.LinAlgError:
        found = np.full(sides.shape, np.nan)
        finite = np.isfinite(matrices).all(axis=(1, 2)) & np.isfinite(sides).all(axis=1)
        found[finite] = (np.linalg.pinv(matrices[finite]) @ sides[finite][:, :, None])[:, :, 0]
        return found
