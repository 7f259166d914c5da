r"""Where branches of states without an axis turn from continuous to discontinuous on the ordinary sphere.

Among the densities invariant under a group let :math:`\psi` be the only harmonic of degree l, of unit mean square,
and :math:`\psi^2 = 1 + \sum_k c_k\chi_k` with harmonics :math:`\chi_k` alike. With them
:mod:`meanfield.theory.normal_forms` has the coefficient b of the branch born at :math:`\kappa_l`. Where the third
moment of :math:`\psi` does not vanish, as in general for even l, branches are transcritical and never continuous;
where it does, b = 0 is a tricritical point.
"""

from typing import Any

import numpy as np
from scipy.optimize import brentq

from meanfield import Equation
from meanfield.theory import CubicTerms, UniformPoint

from ..bases import EPS, Basis, Floats
from .plane import Plane

# Third moments below this vanish by symmetry; a root of b is one and no pole if b is as small as this there.
VANISHING, ROOT = 1e-10, 1e-6
# Parts of an interval in which roots are looked for.
PARTS = 64


class NormalForm:
    """The coefficient b of the branches of a degree in a basis, as a function of the parameter beside the coupling.

    Parameters
    ----------
    plane
        The two parameters, the coupling one of them.
    basis
        Densities with one harmonic of the degree.
    place
        Its place among the modes.
    """

    def __init__(self, plane: Plane, basis: Basis, place: int) -> None:
        self._plane, self._basis, self.place = plane, basis, place
        psi = np.zeros(basis.degrees.size)
        psi[place] = 1.0 / np.sqrt(basis.squares[place])
        values = basis.synthesise(psi).copy()
        square = basis.means(basis.analyse(values**2)) / np.sqrt(basis.squares)
        self.third, self._fourth = (float(basis.analyse(values**power).item(0)) for power in (3, 4))
        self._others = np.flatnonzero((basis.degrees > 0) & (np.arange(square.size) != place))
        self._squares: Floats = square[self._others] ** 2

    def strengths(self, problem: Equation) -> Any:
        """Return the strengths of the modes, without the coupling over the noise, longdouble."""
        degrees, potential = self._basis.degrees, problem.velocity.at_uniform(problem.domain)
        return -self._plane.multipliers(potential, int(degrees.max()))[degrees] * self._basis.squares

    def __call__(self, value: float) -> float:
        """Return b at a value of the parameter."""
        problem = self._plane.problem.with_parameter(self._plane.other, value)
        degrees, strengths = self._basis.degrees, self.strengths(problem)
        response = problem.velocity.speed_response(problem.domain, int(degrees.max()))
        terms = CubicTerms.of(
            problem.domain, int(degrees[self.place]), degrees[self._others], self._squares, self._fourth, response
        )
        ratios = strengths[self._others] / strengths[self.place]
        return float(((terms.by_strength * ratios + terms.alone) / (1.0 - ratios)).sum() + terms.own)


def tricritical_among(plane: Plane, basis: Basis, degree: int, around: tuple[float, float]) -> list[UniformPoint]:
    """Return the tricritical points of the branches of a degree in a basis of S^2 without an axis."""
    places = np.flatnonzero(basis.degrees == degree)
    if basis.invariants is None or places.size != 1 or plane.roles[plane.other][0] != plane.problem.law_field:
        return []
    form = NormalForm(plane, basis, int(places[0]))
    if abs(form.third) > VANISHING:
        return []
    grid = np.linspace(*around, PARTS + 1)
    values = [form(value) for value in grid.tolist()]
    found = []
    for left in range(PARTS):
        before, after = values[left : left + 2]
        if before * after < 0.0:
            low, high = float(grid[left]), float(grid[left + 1])
            root = float(brentq(form, low, high, xtol=2 * EPS * max(abs(low), abs(high)), rtol=4 * EPS))
            if abs(form(root)) <= ROOT:
                found.append(_point(plane, form, degree, root, abs(after - before) / (high - low)))
    return found


def _point(plane: Plane, form: NormalForm, degree: int, value: float, slope: float) -> UniformPoint:
    """Return the point at a root of a slope, with the rounding of b over the slope and of the value about it."""
    problem = plane.problem.with_parameter(plane.other, value)
    strength = form.strengths(problem)[form.place]
    error = 16 * EPS * (1.0 / slope + abs(value))
    coupling = float(problem.positive_noise / strength)
    return UniformPoint("tricritical", (degree,), value, value - error, value + error, coupling)
