r"""Independent measurements at the points of curves: cumulants of densities about an axis, and derivatives.

A density about an axis, or even about one on the circle, has moments :math:`m_l = \langle P_l\rangle` and the field

.. math:: f = \sum_l \sigma_l m_l P_l, \qquad \sigma_l = -\kappa w_l/D, \qquad \rho = e^f/Z,

with the polynomials :math:`P_l(\cos\theta)` of the domain, :math:`\cos l\theta` on the circle. It is a fold, or a
branch point among such densities, where :math:`u = C\sigma u` for a vector u, :math:`C = \mathrm{Cov}(P_j, P_k)`;
:math:`\varphi = \sum_l \sigma_l u_l P_l` is the density of the kernel over that of the state.
"""

from typing import NamedTuple

import numpy as np
from scipy.special import roots_jacobi

from meanfield import Curve, Diagram, Equation, SpecialPoint, State, branch_shape

from ..claims import Undecided
from ..hypotheses import anywhere
from ..measures import Floats, first_critical
from ..tools import Tools

# Nodes for every degree up to which a density is resolved, and the least number of them.
NODES, FEWEST = 6, 256
# Weights of central differences of the orders eight and six at the distances 1, 2, 3, 4 of the point.
EIGHTH = np.array([4 / 5, -1 / 5, 4 / 105, -1 / 280])
SIXTH = np.array([3 / 4, -3 / 20, 1 / 60, 0.0])
# Step of the differences relative to the parameter: their error is 1/630 of its eighth power times a derivative.
STEP = 0.01
# Window of couplings, over the smallest positive critical one, in which the first fold is looked for.
WINDOW = (0.5, 1.05)
# Window in which all folds and transitions are.
WIDE = (0.5, 2.0)
# Range of the parameter of a curve, over its value at the start.
RANGE = (0.97, 1.15)


class Thermal(NamedTuple):
    """A state about an axis: its masses at nodes, the polynomials P_1, ..., P_n there, sigma_l and its moments."""

    masses: Floats
    polynomials: Floats
    attractions: Floats
    moments: Floats

    def mean(self, values: Floats) -> float:
        """Return the mean of values on the nodes."""
        return float(self.masses @ values)

    def covariance(self) -> Floats:
        """Return the covariances of the polynomials, (n, n)."""
        centred = self.polynomials - self.moments[:, None]
        return np.asarray((centred * self.masses) @ centred.T)

    def kernel(self) -> tuple[Floats, Floats, float]:
        """Return the unit vector u nearest to u = C sigma u, phi on the nodes, and by how much u misses it."""
        matrix = np.eye(self.moments.size) - self.covariance() * self.attractions
        _, sizes, rows = np.linalg.svd(matrix)
        return rows[-1], (self.attractions * rows[-1]) @ self.polynomials, float(sizes[-1])


def thermal(state: State) -> Thermal:
    """Return the density of the field of the moments of a state, with its own moments."""
    problem, degree = state.problem, state.modes
    dimension = problem.domain.dimension
    power = 0.5 * (dimension - 3)
    cosines, weights = roots_jacobi(max(FEWEST, NODES * degree), power, power)
    polynomials = _polynomials(dimension, degree, cosines)
    attractions = attractions_of(problem, degree)
    given = np.zeros(degree + 1)
    count = min(degree + 1, state.cosine.size)
    given[:count] = state.cosine[:count]
    field = (attractions * given[1:]) @ polynomials
    masses = weights * np.exp(field - field.max())
    masses /= masses.sum()
    return Thermal(masses, polynomials, attractions, polynomials @ masses)


def attractions_of(problem: Equation, degree: int) -> Floats:
    """Return sigma_l = -kappa w_l/D, l = 1..degree."""
    multipliers = np.asarray(problem.potential.multipliers(problem.domain, degree)[1:], dtype=float)
    return np.asarray(-problem.fixed_coupling * multipliers / problem.noise)


def attraction_slopes(problem: Equation, name: str, degree: int) -> tuple[Floats, float]:
    """Return the derivatives of sigma_1, ..., sigma_degree in a parameter by differences, and their error."""
    value = problem.parameters[name]
    step = STEP * abs(float(value))
    both = np.array(
        [
            attractions_of(problem.with_parameter(name, float(value) + k * step), degree)
            - attractions_of(problem.with_parameter(name, float(value) - k * step), degree)
            for k in (1, 2, 3, 4)
        ]
    )
    slopes = EIGHTH @ both / step
    return slopes, float(np.abs(slopes - SIXTH @ both / step).max())


def _polynomials(dimension: int, degree: int, cosines: Floats) -> Floats:
    """Return P_1, ..., P_degree at cosines: (l+d-2) P_(l+1) = (2l+d-2) t P_l - l P_(l-1), P_1 = t."""
    rows = [np.ones_like(cosines), cosines]
    for degree_below in range(1, degree):
        weight = degree_below + dimension - 2
        rows.append(((degree_below + weight) * cosines * rows[-1] - degree_below * rows[-2]) / weight)
    return np.array(rows[1 : degree + 1])


def parameter_of(problem: Equation) -> str | None:
    """Return the last continuous parameter of the potential, None if it has none."""
    names = problem.potential.parameter_names()
    return names[-1] if names else None


def first_order(problem: Equation) -> str | None:
    """Return the reason why the first transition is not known to be of first order, or None if it is."""
    reason = anywhere(problem)
    if reason is not None:
        return reason
    if parameter_of(problem) is None:
        return f"the potential {problem.potential.name!r} has no continuous parameter"
    point = first_critical(problem)
    if len(point.modes) > 1 or branch_shape(problem, point.modes[0]).type not in ("subcritical", "transcritical"):
        return "the first branch bends to larger couplings: its transition is continuous"
    return None


def first_diagram(problem: Equation, tools: Tools) -> Diagram:
    """Return the diagram about the first transition."""
    critical = float(first_critical(problem).coupling)
    return tools.diagram(problem, (WINDOW[0] * critical, WINDOW[1] * critical), 1)


def first_event(problem: Equation, kind: str, tools: Tools) -> SpecialPoint:
    """Return the first special point of a type of the diagram about the first transition.

    Raises
    ------
    Undecided
        If there is none.
    """
    events = first_diagram(problem, tools).events(kind)
    if not events:
        raise Undecided(f"the diagram about the first transition has no {kind}")
    return events[0]


def curves_of(problem: Equation, kind: str, tools: Tools) -> list[Curve]:
    """Return the curves of all folds or transitions of a wide diagram in the last parameter of the potential.

    Those of branches of densities about an axis or even about one.

    Raises
    ------
    Undecided
        If there are none.
    """
    name = parameter_of(problem)
    assert name is not None
    value = float(problem.parameters[name])
    interval = sorted(factor * value for factor in RANGE)
    critical = float(first_critical(problem).coupling)
    diagram = tools.diagram(problem, (WIDE[0] * critical, WIDE[1] * critical), 1)
    axial = [event for event in diagram.events(kind) if event.layout == "degree" and not np.any(event.sine)]
    if not axial:
        raise Undecided(f"the diagram has no {kind} of densities about an axis")
    return [tools.curve(event, name, (interval[0], interval[1])) for event in axial]


def polynomial_slope(x: Floats, y: Floats, place: int) -> tuple[float, float]:
    """Return the derivative at one of some points of the polynomial through them, and an estimate of its error.

    The estimate is its change if the point farthest away is left out.
    """
    farthest = int(np.argmax(np.abs(x - x[place])))
    near = np.delete(np.arange(x.size), farthest)
    full = _derivative(x, y, place)
    return full, abs(full - _derivative(x[near], y[near], int(np.flatnonzero(near == place)[0])))


def _derivative(x: Floats, y: Floats, place: int) -> float:
    """Return the derivative of the Lagrange polynomial through points at one of them."""
    span = float(np.ptp(x))
    scaled = (x - x[place]) / span
    coefficients = np.linalg.solve(np.vander(scaled, increasing=True), y - y[place])
    return float(coefficients[1]) / span
