r"""The field behind a zonal stationary state of a sphere, on the nodes of a Gauss rule.

At a stationary state :math:`\rho = e^f/Z` with

.. math:: f = -(\kappa W*\rho + V)/D = \sum_{l\ge 1} (\sigma_l p_l - v_l/D)\, P_l(u), \qquad
          \sigma_l = -\kappa w_l/D = N_l \lambda_l,

so the density is recomputed from the few moments that the potential feels, to full relative accuracy everywhere,
also where it nearly vanishes.
"""

import functools
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from meanfield import McKeanVlasov, NotResolved, Potential, State
from meanfield.domains import Circle, Domain, Sphere
from meanfield.quadrature import Rule, gauss_rule, polynomials

from ..bases import EPS, Floats, Integers
from ..bases.gegenbauer import polynomial_table, sector_functions
from ..limits import MAX_NODES

# Moments below this are a uniform density.
UNIFORM = 1e-14
# Multipliers and coefficients below this share of the largest are not felt.
NEGLIGIBLE = EPS / 16.0
# A function is resolved when its last coefficients are below this: integrals of products of two such functions are
# then exact to the square of it.
TAIL_TOLERANCE = 1e-9
# Nodes beyond the degree of the polynomials to begin with.
ROOM = 24
# Larger numbers of harmonics leave the range of doubles.
LARGEST_MULTIPLICITY = 10**300
# Beyond this exponentials do; a smaller peak would be wrong, but no bound with this one is ever the better.
LARGEST_LOGARITHM = 700.0
# How many last coefficients are looked at.
LAST = 4


@dataclass(frozen=True, eq=False)
class ZonalField:
    """A zonal Gibbs density and its interaction.

    Attributes
    ----------
    problem
        The equation.
    dimension : int
        d of the space around the sphere.
    strengths : (L + 1,) float
        sigma_0 = 0, sigma_1, ..., sigma_L.
    coefficients : (M + 1,) float
        Coefficients of P_0, ..., P_M in the part of f that the interaction makes.
    rule
        Gauss rule, n nodes u from the north pole down.
    log_density : (n,) float
        log |S| rho on the nodes.
    slope : (n,) float
        f'(u) on the nodes.
    peak : float
        Largest |S| rho.
    tail : float
        Bound of abs(lambda_l) over l > L.
    """

    problem: McKeanVlasov
    dimension: int
    strengths: Floats
    coefficients: Floats
    rule: Rule
    log_density: Floats
    slope: Floats
    peak: float
    tail: float

    @property
    def noise(self) -> float:
        """D."""
        return self.problem.noise

    @property
    def rotates(self) -> bool:
        """Whether turning the axis of the state gives another state of the same problem."""
        return self.problem.confinement is None

    def beyond(self, order: int, strengths: Floats) -> Floats:
        """Bound the interaction beyond each degree, in units of D: sup |S| rho times max sigma_l/N_l.

        Parameters
        ----------
        order
            First degree m.
        strengths : (L + 1,) float
            The part of the sigma_l to bound, or their moduli.

        Returns
        -------
        (L - m + 2,) ndarray
            Bounds over l >= m, l > m, ..., l > L.
        """
        degrees = np.arange(order, strengths.size)
        ratios = np.append(strengths[order:] / multiplicities(self.dimension, degrees), self.tail)
        return np.asarray(self.peak * np.maximum.accumulate(ratios[::-1])[::-1])


def is_uniform(state: State) -> bool:
    """Whether a state is the uniform density, with closed-form eigenvalues."""
    return state.problem.confinement is None and float(np.abs(state.cosine[1:]).max(initial=0.0)) <= UNIFORM


def starting_count(state: State, polynomial: int) -> int:
    """Return a number of nodes that resolves the root of the density, with room for polynomials of a degree."""
    count = stepped(polynomial + ROOM)
    coefficients, _ = _coefficients(state)
    dimension = state.problem.domain.dimension
    while count < MAX_NODES and not _resolved(coefficients, dimension, count, polynomial):
        count = stepped(count + 1)
    return count


def field_of(state: State, count: int) -> ZonalField:
    """Return the field of a zonal state on a number of nodes.

    Raises
    ------
    NotResolved
        If the nodes are more than affordable.
    """
    if count > MAX_NODES:
        raise NotResolved(
            f"the decay rates at this state need more than {MAX_NODES} nodes between the poles; "
            "leave the rates out (--no-rates, rates=False) or take a less concentrated state"
        )
    problem, dimension = state.problem, state.problem.domain.dimension
    coefficients, coupled = _coefficients(state)
    rule = gauss_rule(dimension, count)
    values = _sum(coefficients, dimension, count)
    top = float(values.max())
    log_mass = top + float(np.log(np.exp(rule.log_weights) @ np.exp(values - top)))
    poles = max(float(coefficients.sum()), float(coefficients[::2].sum() - coefficients[1::2].sum()))
    degree = min(felt_degree(problem), count - 1)
    return ZonalField(
        problem,
        dimension,
        strengths_of(problem, degree),
        coupled,
        rule,
        values - log_mass,
        _slope(coefficients, dimension, rule),
        float(np.exp(min(max(top, poles) - log_mass, LARGEST_LOGARITHM))),
        strongest_beyond(problem, degree),
    )


def _coefficients(state: State) -> tuple[Floats, Floats]:
    """Return the coefficients of f and those of its part that the interaction makes."""
    moments = state.cosine[: 1 + int(np.flatnonzero(np.abs(state.cosine) > UNIFORM / 10.0)[-1])]
    coupled = strengths_of(state.problem, moments.size - 1) * moments
    if state.problem.confinement is None:
        return coupled, coupled
    return _with_confinement(state.problem, state.problem.confinement, coupled), coupled


def strengths_of(problem: McKeanVlasov, degree: int) -> Floats:
    """Return sigma_l = -kappa w_l/D, l = 0..degree, sigma_0 = 0, without underflow of the multipliers."""
    relative = _relative_multipliers(problem.potential, problem.domain, degree)
    return np.asarray(-_unit(problem) * relative, dtype=float)


def multiplicities(dimension: int, degrees: Integers) -> Floats:
    """Return the N_l as floats, at most ``LARGEST_MULTIPLICITY``."""
    sphere = Sphere(dimension)
    return np.array([float(min(sphere.multiplicity(int(degree)), LARGEST_MULTIPLICITY)) for degree in degrees])


def repetitions(dimension: int, order: int) -> int:
    """Return how often everything in an azimuthal sector is repeated: the harmonics of S^(d-2) of its degree."""
    around: Domain = Circle() if dimension == 3 else Sphere(dimension - 1)
    return around.multiplicity(order)


def felt_degree(problem: McKeanVlasov) -> int:
    """Return a degree beyond which the potential is not felt, or the largest that is affordable."""
    limit = 16
    while limit < MAX_NODES and _tail_share(problem.potential, problem.domain, limit) > NEGLIGIBLE:
        limit *= 2
    relative = np.abs(_relative_multipliers(problem.potential, problem.domain, limit))
    return int(np.flatnonzero(relative > NEGLIGIBLE).max(initial=1))


def _unit(problem: McKeanVlasov) -> np.longdouble:
    scale = np.longdouble(problem.potential.scale(problem.domain))
    return np.longdouble(problem.fixed_coupling) * scale / np.longdouble(problem.noise)


def strongest_beyond(problem: McKeanVlasov, degree: int) -> float:
    """Return a bound of abs(lambda_l) beyond a degree; N_l grows with l."""
    share = _tail_share(problem.potential, problem.domain, degree)
    return float(abs(_unit(problem))) * share / Sphere(problem.domain.dimension).multiplicity(degree + 1)


@functools.lru_cache(maxsize=256)
def _tail_share(potential: Any, domain: Domain, degree: int) -> float:
    return float(potential.relative_tail_bound(domain, degree))


@functools.lru_cache(maxsize=64)
def _relative_multipliers(potential: Any, domain: Domain, degree: int) -> NDArray[np.longdouble]:
    relative = np.asarray(potential.extended_multipliers(domain, degree))
    relative.flags.writeable = False
    return relative


def _with_confinement(problem: McKeanVlasov, confinement: Potential, coupled: Floats) -> Floats:
    """Return the coefficients of f: those of the interaction and of -V/D, up to the last that matters."""
    degree = 64
    while degree < MAX_NODES and _tail_share(confinement, problem.domain, degree) > NEGLIGIBLE:
        degree *= 2
    fixed = -confinement.multipliers(problem.domain, degree)[1:].astype(float) / problem.noise
    whole = np.zeros(max(coupled.size, 1 + int(np.flatnonzero(np.append(1.0, fixed))[-1])))
    whole[: coupled.size] += coupled
    whole[1:] += fixed[: whole.size - 1]
    return whole


def stepped(count: int) -> int:
    """Return the next power of two or three halves of one: tables on few different rules are kept."""
    power = 1 << max(5, (count - 1).bit_length())
    return power if 3 * power // 4 < count else 3 * power // 4


def _resolved(coefficients: Floats, dimension: int, count: int, polynomial: int) -> bool:
    """Whether the root of the density ends so far below the last degree that it bears a polynomial factor."""
    values = _sum(coefficients, dimension, count)
    weighted = np.exp(0.5 * (values - values.max() + gauss_rule(dimension, count).log_weights))
    last = last_functions(dimension, 0, count, count - polynomial) @ weighted
    return float(np.abs(last).max()) <= TAIL_TOLERANCE * float(np.linalg.norm(weighted))


@functools.lru_cache(maxsize=64)
def last_functions(dimension: int, order: int, count: int, end: int) -> Floats:
    """Return orthonormal functions of the last degrees of a sector below an end, each times the root of the weight.

    On the rule of so many nodes they are orthonormal in the discrete sense.
    """
    rule = gauss_rule(dimension, count)
    table = sector_functions(dimension, order, rule, end - 1)[-LAST:]
    table *= np.exp(0.5 * rule.log_weights) / np.abs(table).max(axis=1, keepdims=True)
    return np.asarray(table / np.linalg.norm(table, axis=1, keepdims=True))


def _sum(coefficients: Floats, dimension: int, count: int) -> Floats:
    degree = coefficients.size - 1
    return np.asarray(coefficients @ polynomial_table(dimension, count, stepped(degree))[: degree + 1])


def _slope(coefficients: Floats, dimension: int, rule: Rule) -> Floats:
    """Return f'(u): P_l' is l (l + d - 2)/(d - 1) times P_(l-1) of dimension d + 2."""
    degrees = np.arange(1.0, coefficients.size)
    factors = coefficients[1:] * degrees * (degrees + dimension - 2) / (dimension - 1)
    return np.asarray(
        factors @ _raised_polynomials(dimension, rule.nodes.size, stepped(degrees.size))[: degrees.size]
    )


@functools.lru_cache(maxsize=16)
def _raised_polynomials(dimension: int, count: int, degree: int) -> Floats:
    """Return the polynomials of dimension d + 2 on the nodes of dimension d."""
    return polynomials(dimension + 2, gauss_rule(dimension, count), degree)


def harmonics_table(field: ZonalField, order: int) -> Floats:
    """Return phi_l^m, l = m..L, on the nodes of a field, kept for further states on the same nodes."""
    degree = field.strengths.size - 1
    if degree < order:
        return np.zeros((0, field.rule.nodes.size))
    return _harmonics(field.dimension, order, field.rule.nodes.size, degree)


@functools.lru_cache(maxsize=32)
def _harmonics(dimension: int, order: int, count: int, degree: int) -> Floats:
    return sector_functions(dimension, order, gauss_rule(dimension, count), degree)
