r"""Energy, dissipation and extreme values along a path of densities without noise.

With 1 + f the density over the uniform one, u the unit of rates and :math:`u g = -(\kappa W*\rho + V)` the field,

.. math::

    \frac{E - E_0}{u} = -\tfrac12\sum_{l\ge1} N_l\lambda_l |m_l|^2 + \sum_l \tfrac{v_l}{u} p_l, \qquad
    -\frac{\dot E}{u} = u\,\bigl\langle (1+f)\,|\nabla g|^2\bigr\rangle = \frac1u \int \rho\,|v|^2 ,

with :math:`\lambda_l = -\kappa w_l/(N_l u)`: what :mod:`solvers.evolution.descent` computes, without the
entropy. The energy is a finite sum of moments and the mean that of a polynomial, so that nothing has to be refined.
"""

from itertools import islice

import numpy as np

from meanfield import Equation
from meanfield.equations import Interaction
from meanfield.harmonics import Modes

from ..bases import Floats
from .descent import Descent, Grid, Grids, Path, blocks, per_unit
from .multiplicities import multiplicities
from .units import rate_unit


def energies(problem: Equation, modes: Modes, grids: Grids, cosine: Floats, sine: Floats) -> Descent:
    """Return E - E_uniform, minus its time derivative, and extreme values of densities, without noise.

    Parameters
    ----------
    problem
        With a coupling and without noise.
    modes, grids
        As for :func:`~solvers.evolution.descent.descent`.
    cosine, sine : (T, size) float
        Moments of densities of mass one.
    """
    degree, degrees = modes.degree(cosine.shape[1]), modes.degrees(cosine.shape[1])
    unit = rate_unit(problem)
    counts, interaction = multiplicities(problem.domain, degree), Interaction(problem, unit)
    attraction = interaction.attractions(degree)[degrees]
    forced, force, sine_force = interaction.placed_forces(modes, degree)
    counted = np.where(degrees > 0, counts[degrees], 0.0)
    path = Path(counted * cosine, counted * sine, attraction * cosine, attraction * sine)
    path.field_cosine[:, forced] += force
    path.field_sine[:, forced] += sine_force
    # The first grid carries products of two densities, the second those of three.
    grid = list(islice(grids(degree), 2))[-1]
    found = [_on(grid, path.rows(rows)) for rows in blocks(path)]
    dissipation, minimum, maximum = (np.concatenate(part) for part in zip(*found, strict=True))
    gap = -0.5 * (cosine**2 + sine**2) @ attraction - cosine[:, forced] @ force - sine[:, forced] @ sine_force
    minimum, maximum = (per_unit(problem.domain, values) for values in (minimum, maximum))
    return Descent(unit * gap, unit**2 * dissipation, minimum, maximum)


def extremes(problem: Equation, modes: Modes, grids: Grids, cosine: Floats, sine: Floats) -> Descent:
    """Return the extreme values of densities, with nan in the place of energies."""
    degree, degrees = modes.degree(cosine.shape[1]), modes.degrees(cosine.shape[1])
    counts = multiplicities(problem.domain, degree)
    counted = np.where(degrees > 0, counts[degrees], 0.0)
    path = Path(counted * cosine, counted * sine, np.zeros_like(cosine), np.zeros_like(sine))
    grid = next(iter(grids(degree)))
    values = [1.0 + grid.values(part.cosine, part.sine) for part in (path.rows(rows) for rows in blocks(path))]
    minimum, maximum = (np.concatenate([of(value, axis=1) for value in values]) for of in (np.min, np.max))
    unknown = np.full(len(cosine), np.nan)
    return Descent(unknown, unknown, per_unit(problem.domain, minimum), per_unit(problem.domain, maximum))


def _on(grid: Grid, path: Path) -> tuple[Floats, Floats, Floats]:
    """Return the mean of the density times the squared slope of the field, and the extreme values."""
    density = 1.0 + grid.values(path.cosine, path.sine)
    squares = sum(slope**2 for slope in grid.gradient(path.field_cosine, path.field_sine))
    return (density * squares) @ grid.weights, density.min(axis=1), density.max(axis=1)
