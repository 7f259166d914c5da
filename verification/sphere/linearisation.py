r"""Linearised spectrum at zonal states, sector by sector, and the rotation of the axis.

In the azimuthal sector m a perturbation :math:`\sum_k N_k q_k\,\varphi_k(u) Y_m(\omega)/|S|` of a state moves as

.. math:: \dot q_l = -D\,l(l+d-2)\,q_l - \kappa N_k q_k \int \varphi_k\,\nabla\varphi_l\cdot\nabla U\,d\mu
          - \kappa w_k q_k \int |S|\rho\,\nabla\varphi_l\cdot\nabla\varphi_k\,d\mu, \qquad U = W*\rho ,

summed over k; products of gradients are :math:`(1-u^2)\varphi_l'\varphi_k' + m(m+d-3)\varphi_l\varphi_k/(1-u^2)`.
"""

from collections.abc import Iterator

import numpy as np

from meanfield import Equation, Spectrum, State
from meanfield.domains import unit_sphere

from ..claims import Evidence, at_least, claim, compare, missing, worst
from ..measures import EIGENVALUE, Floats, clustered_states
from ..tools import Tools
from .measures import field_of, gibbs, interval, multipliers, numbers, polar_rule
from .uniform import attractive

LEADING = 2
SECTORS = (0, 1, 2)
# Beyond this degree of the moments the matrix, which is not symmetric, loses the digits it is to confirm.
SIZE, CONCENTRATED = 48, 0.8
# At a bifurcation another eigenvalue vanishes too, and its vector mixes with the rotation.
CRITICAL = 1e-5


@claim(
    "sphere.linearisation",
    "spectrum of the linearisation at zonal states",
    statement=(
        "The spectrum at a zonal state splits into azimuthal sectors m; its eigenvalues are those of the "
        "linearised moment equations; turning the axis is an exact zero mode of sector 1; unstable directions are "
        "counted with the dimension of the harmonics of degree m on S^{d-2}."
    ),
    assumptions="some clustered zonal state exists that is not a narrow spike",
    source="linearised moment equations with integrals by quadrature",
    hypotheses=attractive,
)
def zonal_spectrum(problem: Equation, tools: Tools) -> Evidence:
    """Compare spectra at zonal states with matrices of the linearised moment equations."""
    diagram = tools.diagram(problem, interval(problem), 1)
    found: list[Evidence] = []
    for state in clustered_states(diagram, 4):
        if state.moments.has_axis and 0.05 < np.abs(state.cosine[1:5]).max() < CONCENTRATED:
            found += _spectrum_evidence(state, tools.spectrum(state))
    return worst(found)


def _spectrum_evidence(state: State, spectrum: Spectrum) -> Iterator[Evidence]:
    where = f"on the {state.label} at coupling {state.coupling:.9g}"
    noise, dimension = state.problem.noise, state.problem.domain.dimension
    for order in SECTORS:
        expected = np.sort(np.linalg.eigvals(moment_matrix(state, order)).real)[::-1]
        if order == 1:
            expected = np.delete(expected, np.abs(expected).argmin())
        if order >= len(spectrum.sectors):
            continue
        for position, value in enumerate(spectrum.sectors[order][:LEADING]):
            bound = EIGENVALUE * (abs(expected[position]) + noise * (dimension - 1))
            text = f"eigenvalue {position + 1} of order {order} {where}"
            yield compare(float(value), float(expected[position]), bound, text)
    if np.abs(spectrum.eigenvalues).min() > CRITICAL * noise:
        if spectrum.rotation is None or spectrum.rotation_overlap is None:
            yield missing(f"rotation is not set apart {where}")
        else:
            yield compare(spectrum.rotation, 0.0, EIGENVALUE * noise, f"rotation eigenvalue {where}")
            yield at_least(spectrum.rotation_overlap, 1.0, EIGENVALUE, f"overlap with the generator {where}")
        unstable = sum(
            repetitions(dimension, order) * int((values > 0).sum()) for order, values in enumerate(spectrum.sectors)
        )
        yield compare(spectrum.unstable, unstable, 0.0, f"unstable directions of the spectrum {where}")
        if state.unstable is not None:
            yield compare(state.unstable, unstable, 0.0, f"unstable directions in the record {where}")


def repetitions(dimension: int, order: int) -> int:
    """Return the number of harmonics of one degree on S^(d-2)."""
    return unit_sphere(dimension - 1).multiplicity(order)


def sector_functions(dimension: int, order: int, degree: int) -> tuple[Floats, Floats]:
    """Return phi_l, l = m..degree, of uniform mean square 1/N_l, and their derivatives in the polar angle."""
    from scipy.special import eval_gegenbauer

    angles, weights = polar_rule(dimension)
    u, s = np.cos(angles), np.sin(angles)
    index, rows = 0.5 * dimension - 1 + order, np.arange(degree - order + 1)[:, np.newaxis]
    shapes = eval_gegenbauer(rows, index, u)
    slopes = np.where(rows > 0, 2 * index * eval_gegenbauer(np.maximum(rows - 1, 0), index + 1, u), 0.0)
    values = s**order * shapes
    changes = order * s ** max(order - 1, 0) * u * shapes - s ** (order + 1) * slopes
    norms = np.sqrt(numbers(dimension, degree)[order:] * (values**2 @ weights))[:, np.newaxis]
    return values / norms, changes / norms


def moment_matrix(state: State, order: int) -> Floats:
    """Return the matrix of the linearised equation on the moments of an azimuthal order."""
    problem, dimension = state.problem, state.problem.domain.dimension
    size = max(SIZE, state.cosine.size - 1)
    angles, weights = polar_rule(dimension)
    values, changes = sector_functions(dimension, order, size)
    field = field_of(state) * state.cosine
    density = weights * gibbs(field, dimension)[0]
    # kappa U = -D f.
    _, zonal = sector_functions(dimension, 0, field.size - 1)
    pull = -problem.noise * field @ zonal
    degrees, counts = np.arange(order, size + 1), numbers(dimension, size)[order:]
    transport = (changes * (weights * pull)) @ values.T * counts
    across = order * (order + dimension - 3) / np.sin(angles) ** 2
    response = (changes * density) @ changes.T + (values * density * across) @ values.T
    response *= state.coupling * multipliers(problem, size)[order:]
    decay = problem.noise * degrees * (degrees + dimension - 2)
    matrix = -np.diag(decay) - transport - response
    # Perturbations have no mass.
    return np.asarray(matrix if order else matrix[1:, 1:])
