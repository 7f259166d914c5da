r"""Normal forms of zonal branches where they leave the uniform state: T2 and T3.

With :math:`p = \langle P_l\rangle`, :math:`q_k = \hat w_k/\hat w_l`, :math:`\hat w_k = w_k/N_k`,

.. math:: \frac\kappa{\kappa_l} = 1 + s\,p + O(p^2) \quad (l \text{ even}), \qquad
          \frac\kappa{\kappa_l} = 1 + c\,p^2 + O(p^4) \quad (l \text{ odd}).
"""

import functools
from collections.abc import Iterator

import numpy as np

from meanfield import Equation, critical_couplings

from ..claims import FREE_ENERGY, Evidence, Undecided, claim, compare, worst
from ..measures import EIGENVALUE, Floats, first_critical, polynomial_at_zero
from ..tools import Tools
from .measures import multipliers, numbers, product_mean
from .onset import Onset, gap_of, measured_at_onset, moment_of, slope_of
from .uniform import attractive, significant_degrees

# Degrees beyond the first; those of long series are born deep inside the unstable region and are slow to compute.
HIGHER, HIGHER_OF_FINITE = (2, 3), (2, 3, 4)
FINITE = 4
# Of the points near a birth every other has its spectrum taken.
RATES = 2
# Other degrees are slaved to l only where they are well away from critical themselves.
SEPARATION = 0.05


def shares(problem: Equation, degree: int) -> Floats:
    """Return q_k = (w_k/N_k)/(w_l/N_l), l = degree, up to k = 3 l."""
    last = 3 * degree
    eigenvalues = multipliers(problem, last) / numbers(problem.domain.dimension, last)
    return np.asarray(eigenvalues / eigenvalues[degree])


def is_simple(problem: Equation, degree: int) -> bool:
    """Return whether a degree attracts and no other up to three times it is nearly critical with it."""
    if multipliers(problem, degree)[degree] >= 0:
        return False
    away = np.abs(1 - np.delete(shares(problem, degree), degree))
    return bool(away.min() >= SEPARATION)


def simple_first_degree(problem: Equation) -> str | None:
    """Return the reason why there is no pitchfork of degree one, or None if there is."""
    reason = attractive(problem)
    if reason is None and multipliers(problem, 1)[1] >= 0:
        reason = "degree 1 does not attract"
    if reason is None and not is_simple(problem, 1):
        reason = "degree 2 or 3 is nearly critical with degree 1"
    return reason


def higher_degrees(problem: Equation) -> list[int]:
    """Return the degrees above one whose branches are checked."""
    finite = max(significant_degrees(problem), default=0) <= FINITE
    return [degree for degree in (HIGHER_OF_FINITE if finite else HIGHER) if is_simple(problem, degree)]


def simple_higher_degree(problem: Equation) -> str | None:
    """Return the reason why there is no branch of a higher degree, or None if there is."""
    reason = attractive(problem)
    if reason is None and not higher_degrees(problem):
        reason = "no degree from 2 to 4 attracts, away from resonance"
    return reason


def curvature_of_first(problem: Equation) -> float:
    """Return c of degree one in closed form."""
    d, r = problem.domain.dimension, float(shares(problem, 1)[2])
    return d / (d + 2) * (1 - d * r) / (1 - r)


def slope_of_even(dimension: int, degree: int) -> float:
    """Return s of an even degree by quadrature; in closed form for degree two."""
    if degree == 2:
        return -(dimension**2 - 4) / (dimension + 4)
    return -0.5 * float(numbers(dimension, degree)[degree]) ** 2 * product_mean(dimension, degree, degree, degree)


def curvature_of_odd(problem: Equation, degree: int) -> float:
    """Return c of an odd degree by quadrature."""
    dimension, q = problem.domain.dimension, shares(problem, degree)
    counts = numbers(dimension, 2 * degree)
    slaved = 0.0
    for k in range(2, 2 * degree + 1, 2):
        slaved += q[k] * counts[k] / (1 - q[k]) * product_mean(dimension, k, degree, degree) ** 2
    quartic = product_mean(dimension, degree, degree, degree, degree)
    return float(-(counts[degree] ** 3) * (slaved / 2 + quartic / 6 - 1 / (2 * counts[degree] ** 2)))


def _decided(name: str, value: tuple[float, float], expected: float) -> Evidence:
    measured, error = value
    if not np.isfinite(measured) or error > 0.1 * (1 + abs(expected)):
        raise Undecided(f"the points near the birth resolve the {name} to {error:.1e} only")
    return compare(measured, expected, error, name)


@claim(
    "sphere.T2",
    "pitchfork of degree one",
    statement=(
        "kappa/kappa_1 = 1 + c m^2 + ..., m = <u>, c = (d/(d+2)) (1 - d r)/(1 - r), r = (w_2/N_2)/(w_1/N_1): "
        "supercritical iff r < 1/d; <P_2> = d m^2/((d+2)(1-r)) + ..., (F - F_0)/D = -(d c/4) m^4 + ...."
    ),
    assumptions="w_1 < 0; r is not near 1",
    source="Lyapunov-Schmidt reduction; for the transformer the sign agrees with arXiv:2606.05140",
    hypotheses=simple_first_degree,
    needs=FREE_ENERGY,
)
def first_pitchfork(problem: Equation, tools: Tools) -> Evidence:
    """Compare the curvature of the computed branch, extrapolated to its birth, with the closed form."""
    d, r, c = problem.domain.dimension, float(shares(problem, 1)[2]), curvature_of_first(problem)

    def measured(start: Onset) -> Iterator[Evidence]:
        yield _decided("curvature of the branch of degree 1", slope_of(start), c)
        yield _decided("limit of <P_2>/m^2", moment_of(start, 2), d / ((d + 2) * (1 - r)))
        yield _decided("limit of (F - F_0)/(D m^4)", gap_of(start), -d * c / 4)

    return worst(measured_at_onset(problem, 1, tools, measured))


@claim(
    "sphere.T3",
    "slope of even and curvature of odd zonal branches",
    statement=(
        "Even l: kappa/kappa_l = 1 - (N_l^2/2) int P_l^3 p + ..., -(d^2-4)/(d+4) p for l = 2, transcritical; odd "
        "l: kappa/kappa_l = 1 - N_l^3 B p^2 + ..., B = (1/2) sum_k q_k N_k/(1-q_k) (int P_k P_l^2)^2 + "
        "(1/6) int P_l^4 - 1/(2 N_l^2). (F - F_0)/D = -(N_l/6) s p^3 and -(N_l/4) c p^4: states of negative gap "
        "below kappa_l for even l."
    ),
    assumptions="w_l < 0; no degree up to 3 l is nearly critical with l",
    source="Lyapunov-Schmidt reduction; integrals by quadrature",
    hypotheses=simple_higher_degree,
    needs=FREE_ENERGY,
)
def higher_branches(problem: Equation, tools: Tools) -> Evidence:
    """Compare slopes or curvatures of computed branches, extrapolated to their birth, with closed forms."""
    found: list[Evidence] = []
    for degree in higher_degrees(problem):
        found += measured_at_onset(problem, degree, tools, functools.partial(_shape_evidence, problem))
    return worst(found)


def _shape_evidence(problem: Equation, start: Onset) -> Iterator[Evidence]:
    degree, number = start.degree, start.number
    if start.even:
        expected = slope_of_even(problem.domain.dimension, degree)
        yield _decided(f"slope of the branch of degree {degree}", slope_of(start), expected)
        yield _decided(f"limit of (F - F_0)/(D p^3), degree {degree}", gap_of(start), -number * expected / 6)
    else:
        expected = curvature_of_odd(problem, degree)
        yield _decided(f"curvature of the branch of degree {degree}", slope_of(start), expected)
        yield _decided(f"limit of (F - F_0)/(D p^4), degree {degree}", gap_of(start), -number * expected / 4)


def simple_first(problem: Equation) -> str | None:
    """Return the reason why no branch leaves along one degree at the threshold of uniform, or None if one does."""
    reason = attractive(problem)
    if reason is not None:
        return reason
    modes = first_critical(problem).modes
    if len(modes) > 1 or not is_simple(problem, modes[0]):
        return "the first critical degree is not alone"
    return None


@claim(
    "sphere.T3-rate",
    "critical slowing down on the first zonal branch",
    statement=(
        "Near the birth of the first zonal branch the axisymmetric eigenvalue that vanishes there is "
        "-D l(l+d-2) s p + ... for even and -2 D l(l+d-2) c p^2 + ... for odd l: the side of an even branch below "
        "kappa_l is born unstable."
    ),
    assumptions="degree l is the first and the only one critical",
    source="reduced free energy of T2 and T3",
    hypotheses=simple_first,
    needs=FREE_ENERGY,
)
def radial_eigenvalue(problem: Equation, tools: Tools) -> Evidence:
    """Compare the axisymmetric eigenvalue nearest to zero over x, extrapolated to the birth, with the theory."""
    degree = first_critical(problem).modes[0]
    return worst(measured_at_onset(problem, degree, tools, functools.partial(_rate_evidence, problem, tools)))


def _rate_evidence(problem: Equation, tools: Tools, start: Onset) -> Iterator[Evidence]:
    degree, dimension = start.degree, problem.domain.dimension
    size = problem.noise * degree * (degree + dimension - 2)
    if start.even:
        expected = -size * slope_of_even(dimension, degree)
    else:
        expected = -2 * size * (curvature_of_first(problem) if degree == 1 else curvature_of_odd(problem, degree))
    chosen, radial = start.x[::RATES], []
    for x, state in zip(chosen, start.states[::RATES], strict=True):
        values = tools.spectrum(state).even
        radial.append(float(values[np.abs(values - expected * x).argmin()]) / x)
    value, error = polynomial_at_zero(chosen, np.array(radial), EIGENVALUE * size / np.abs(chosen), 0)
    if error > 0.1 * abs(expected):
        raise Undecided(f"the points near the birth resolve the eigenvalue to {error:.1e} only")
    critical = float(critical_couplings(problem, degree)[degree])
    yield compare(value, expected, error, f"vanishing eigenvalue over x, born at coupling {critical:.9g}")
