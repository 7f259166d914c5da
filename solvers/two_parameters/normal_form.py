r"""Where branches of states without an axis turn from continuous to discontinuous on the ordinary sphere.

Among the densities invariant under a group let :math:`\psi` be the only harmonic of degree l, of unit mean square,
:math:`\psi^2 = 1 + \sum_k c_k\chi_k` with harmonics :math:`\chi_k` alike, and :math:`r_k` the strength of the
degree of :math:`\chi_k` over that of l. The field :math:`a\psi + \dots` of the branch born at :math:`\kappa_l` has

.. math:: \frac{\kappa_l}{\kappa} = 1 + \tfrac12\langle\psi^3\rangle a + b\,a^2 + \dots, \qquad
          b = \tfrac16\langle\psi^4\rangle - \tfrac12 + \tfrac12\sum_k \frac{r_k c_k^2}{1 - r_k}
          \quad\text{where } \langle\psi^3\rangle = 0 .

Of softmax attention the terms have factors, see :mod:`meanfield.theory.normal_forms`. Where the third moment does
not vanish, as in general for even l, branches are transcritical and never continuous; where it does, b = 0 is a
tricritical point.
"""

from typing import Any

import numpy as np
from scipy.optimize import brentq

from meanfield import Equation
from meanfield.theory import UniformPoint, lacks_normal_form, saturation

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
        self.third, fourth = (float(basis.analyse(values**power).item(0)) for power in (3, 4))
        self._fourth = fourth
        square[place] = 0.0
        self._squares: Floats = square**2

    def strengths(self, problem: Equation) -> Any:
        """Return the strengths of the modes, without the coupling over the noise, longdouble."""
        degrees, potential = self._basis.degrees, problem.velocity.at_uniform(problem.domain)
        return -self._plane.multipliers(potential, int(degrees.max()))[degrees] * self._basis.squares

    def __call__(self, value: float) -> float:
        """Return b at a value of the parameter, over 1 - s."""
        problem = self._plane.problem.with_parameter(self._plane.other, value)
        s, strengths = float(saturation(problem, int(self._basis.degrees[self.place]))), self.strengths(problem)
        ratios = strengths / strengths[self.place]
        ratios[self.place] = 0.0
        slaved = float((self._squares * ratios / (1.0 - ratios)).sum())
        return 0.5 * (1.0 - s) * slaved + (1.0 - 2.0 * s) * self._fourth / 6.0 - 0.5


def tricritical_among(plane: Plane, basis: Basis, degree: int, around: tuple[float, float]) -> list[UniformPoint]:
    """Return the tricritical points of the branches of a degree in a basis of S^2 without an axis."""
    places = np.flatnonzero(basis.degrees == degree)
    if (
        lacks_normal_form(plane.problem)
        or basis.invariants is None
        or places.size != 1
        or plane.roles[plane.other][0] != plane.problem.law_field
    ):
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
