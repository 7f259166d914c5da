"""The types of what potentials return."""

from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

Array: TypeAlias = npt.NDArray[np.floating[Any]]
Number: TypeAlias = float | np.longdouble
