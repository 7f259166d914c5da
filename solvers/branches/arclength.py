"""Options of the continuation, apart from it: the command line shows them without loading a solver."""

from dataclasses import dataclass
from math import isfinite

from meanfield.arguments import checked, shown
from meanfield.errors import InvalidInput


@checked
@dataclass(frozen=True)
class Arclength:
    """Options of the continuation.

    Parameters
    ----------
    tolerance
        Largest distance between prediction and corrected point, in arclength units.
    max_step, min_step
        Bounds of the step, in arclength units; the upper one grows with q beyond 2, the lower one is relative to
        the size of a state where that is below one, as curves turn near the uniform state.
    max_points
        Number of points after which the trace of a branch stops.

    Raises
    ------
    InvalidInput
        If one of them is not positive and finite.
    """

    tolerance: float = 1e-3
    max_step: float = 0.05
    min_step: float = 1e-10
    max_points: int = 4000

    def __post_init__(self) -> None:
        """Refuse what no branch can be followed with."""
        for name in ("tolerance", "max_step", "min_step"):
            value = getattr(self, name)
            if not (isfinite(value) and value > 0.0):
                default = getattr(type(self), name)
                raise InvalidInput(f"{name} must be a positive finite number, not {value}; try {name}={default:g}")
        if self.max_points < 1:
            raise InvalidInput(
                f"max_points must be a whole number, 1 or more, not {shown(self.max_points)}; leave it out"
            )
