"""Options of the continuation, apart from it: the command line shows them without loading a solver."""

from dataclasses import dataclass

from meanfield.arguments import checked


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
    """

    tolerance: float = 1e-3
    max_step: float = 0.05
    min_step: float = 1e-10
    max_points: int = 4000
