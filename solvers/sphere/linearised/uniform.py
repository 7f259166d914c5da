r"""Eigenvalues at the uniform state of a sphere, in closed form.

Perturbations of degree l decay at the rate :math:`l(l+d-2)\,D\,(1-\lambda_l)`,
:math:`\lambda_l = -\kappa w_l/(N_l D)`, in every azimuthal sector m up to l.
"""

import numpy as np

from meanfield import Equation, Spectrum, State
from meanfield.equations import Interaction

from ...bases import EPS, Floats, Integers
from .interaction import multiplicities, repetitions

# Degrees are listed from the first so many on, until all beyond have lambda_l below this.
FEWEST = 32
WEAK = 0.5


def uniform_spectrum(state: State, count: int) -> Spectrum:
    """Return the eigenvalues of the ``count`` slowest degrees at the uniform state."""
    values, errors, degrees = _slowest(state.problem, 1, count)
    sectors = tuple(values[degrees >= order] for order in range(int(degrees.max()) + 1))
    around = np.sort(np.concatenate(sectors[1:]))[::-1]
    dimension = state.problem.domain.dimension
    repeated = tuple(repetitions(dimension, order) for order in range(len(sectors)))
    error = float(errors[np.argmin(np.abs(values))])
    return Spectrum(state, values, around, None, None, error, sectors, repeated)


def uniform_eigenvalues(problem: Equation, order: int, count: int) -> tuple[Floats, Floats]:
    """Return the ``count`` largest eigenvalues at the uniform state in one sector, and their errors."""
    values, errors, _ = _slowest(problem, max(order, 1), count)
    return values, errors


def _slowest(problem: Equation, first: int, count: int) -> tuple[Floats, Floats, Integers]:
    """Return the largest eigenvalues of degrees from a first one on, their rounding errors and degrees."""
    dimension, interaction = problem.domain.dimension, Interaction(problem)
    last = FEWEST
    while last < first + count or interaction.strongest_beyond(last) > WEAK:
        last *= 2
    degrees = np.arange(first, last + 1)
    lambdas = interaction.attractions(last)[first:] / multiplicities(dimension, first, last)
    free = problem.noise * degrees * (degrees + dimension - 2.0)
    values = -free * (1.0 - lambdas)
    beyond = problem.noise * (last + 1) * (last + dimension - 1.0) * (1.0 - interaction.strongest_beyond(last))
    order = np.argsort(values)[::-1][:count]
    order = order[values[order] >= -beyond]
    return values[order], (4.0 * EPS * free * (1.0 + np.abs(lambdas)))[order], degrees[order]
