"""What is computed along a path of densities: free energies, energies without noise, or extreme values alone."""

from meanfield import Equation
from meanfield.equations import Capability
from meanfield.harmonics import Modes

from ..bases import Floats
from .descent import Descent, Grids, descent
from .noiseless import energies, extremes


def along_path(
    problem: Equation, modes: Modes, grids: Grids, cosine: Floats, sine: Floats, accuracy: float
) -> Descent:
    """Return what there is of energies along a path of densities, nan for what there is not, and extreme values.

    Parameters
    ----------
    problem
        With a coupling.
    modes, grids, cosine, sine, accuracy
        As for :func:`~solvers.evolution.descent.descent`.
    """
    if problem.lacks(Capability.GRADIENT):
        return extremes(problem, modes, grids, cosine, sine)
    if problem.noise == 0.0:
        return energies(problem, modes, grids, cosine, sine)
    return descent(problem, modes, grids, cosine, sine, accuracy)
