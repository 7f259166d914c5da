r"""The field behind a zonal stationary state of a sphere, on the nodes of a Gauss rule.

At a stationary state :math:`\rho = e^f/Z` with

.. math:: f = -(\kappa W*\rho + V)/D = \sum_{l\ge 1} (\sigma_l p_l - v_l/D)\, P_l(u), \qquad
          \sigma_l = -\kappa w_l/D = N_l \lambda_l,

so the density is recomputed from the few moments that the potential feels, to full relative accuracy everywhere,
also where it nearly vanishes.
"""

import functools
from dataclasses import dataclass

import numpy as np

from meanfield import McKeanVlasov, NotResolved, Potential, State
from meanfield.domains import Circle, Domain, Sphere
from meanfield.quadrature import Rule, polynomials

from ..bases import EPS, Floats, Integers
from ..limits import MAX_NODES
from .grids import Grid, harmonics, last_functions, rule_of, slopes, stepped

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
# Polynomials of degree k times the root of the density reach to where its logarithm is this times k lower.
OUTSIDE = 6.0
# The density is looked at in so many points from here to the equator on either side.
SMALLEST_CAP = 1e-12
SAMPLES = 120


@dataclass(frozen=True, eq=False)
class ZonalField:
    """A zonal Gibbs density and its interaction.

    Attributes
    ----------
    problem
        The equation.
    grid
        The nodes u, from the north pole down.
    strengths : (L + 1,) float
        sigma_0 = 0, sigma_1, ..., sigma_L.
    coefficients : (M + 1,) float
        Coefficients of P_0, ..., P_M in the part of f that the interaction makes.
    log_density : (n,) float
        log |S| rho on the nodes.
    slope : (n,) float
        f'(u) on the nodes.
    peak : float
        Largest |S| rho.
    unlisted : float
        Bound of the interaction of the degrees l > L, in units of D.
    """

    problem: McKeanVlasov
    grid: Grid
    strengths: Floats
    coefficients: Floats
    log_density: Floats
    slope: Floats
    peak: float
    unlisted: float

    @property
    def noise(self) -> float:
        """D."""
        return self.problem.noise

    @property
    def rule(self) -> Rule:
        """Nodes and weights."""
        return rule_of(self.grid)

    @property
    def dimension(self) -> int:
        """Dimension d of the space around the sphere."""
        return self.grid.dimension

    @property
    def rotates(self) -> bool:
        """Whether turning the axis of the state gives another state of the same problem."""
        return self.problem.confinement is None

    def beyond(self, order: int, strengths: Floats) -> Floats:
        """Bound the interaction beyond each degree, in units of D: sup |S| rho times max sigma_l/N_l up to L.

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
        ratios = np.append(strengths[order:] / multiplicities(self.dimension, degrees), 0.0)
        return np.asarray(self.peak * np.maximum.accumulate(ratios[::-1])[::-1] + self.unlisted)


def is_uniform(state: State) -> bool:
    """Whether a state is the uniform density, with closed-form eigenvalues."""
    return state.problem.confinement is None and float(np.abs(state.cosine[1:]).max(initial=0.0)) <= UNIFORM


def starting_grid(state: State, polynomial: int) -> Grid:
    """Return a grid as small as the density, its root resolved with room for polynomials of a degree."""
    coefficients, _ = _coefficients(state)
    dimension = state.problem.domain.dimension
    level = _level(coefficients, dimension, OUTSIDE * (polynomial + ROOM))
    grid = Grid(dimension, stepped(polynomial + ROOM), level)
    while grid.size < MAX_NODES and not _resolved(coefficients, grid, polynomial):
        grid = grid._replace(size=stepped(grid.size + 1))
    return grid


def field_of(state: State, grid: Grid) -> ZonalField:
    """Return the field of a zonal state on a grid.

    Raises
    ------
    NotResolved
        If the nodes are more than affordable.
    """
    if grid.size > MAX_NODES:
        raise NotResolved(
            f"the decay rates at this state need more than {MAX_NODES} nodes between the poles; "
            "leave the rates out (--no-rates, rates=False) or take a less concentrated state"
        )
    problem = state.problem
    coefficients, coupled = _coefficients(state)
    rule = rule_of(grid)
    values = _sum(coefficients, grid)
    shares = values + rule.log_weights
    log_mass = float(shares.max() + np.log(np.exp(shares - shares.max()).sum()))
    highest = max(float(values.max()), float(coefficients.sum())) - log_mass
    peak = float(np.exp(min(highest, LARGEST_LOGARITHM)))
    degree = min(felt_degree(problem), int(grid.size * 2.0 ** (0.5 * grid.level)))
    return ZonalField(
        problem,
        grid,
        strengths_of(problem, degree),
        coupled,
        values - log_mass,
        np.asarray(coefficients[1:] @ slopes(grid, stepped(coefficients.size))[: coefficients.size - 1]),
        peak,
        _unlisted(problem, degree, peak),
    )


def _coefficients(state: State) -> tuple[Floats, Floats]:
    """Return the coefficients of f and those of its part that the interaction makes.

    The state is turned so that the north pole is the denser one.
    """
    felt = min(state.cosine.size - 1, felt_degree(state.problem))
    coupled = strengths_of(state.problem, felt) * state.cosine[: felt + 1]
    whole = coupled
    if state.problem.confinement is not None:
        whole = _with_confinement(state.problem, state.problem.confinement, coupled)
    whole = whole[: 1 + int(np.flatnonzero(np.abs(whole) > NEGLIGIBLE * np.abs(whole).max()).max(initial=1))]
    if whole[1::2].sum() >= 0.0:
        return whole, coupled
    turned = np.where(np.arange(max(whole.size, coupled.size)) % 2 == 1, -1.0, 1.0)
    return whole * turned[: whole.size], coupled * turned[: coupled.size]


def _level(coefficients: Floats, dimension: int, outside: float) -> int:
    """Return the level of the smallest cap beyond which the density is below its peak by a logarithm."""
    degree = stepped(coefficients.size - 1)
    samples, table = _samples(dimension, degree)
    logs = coefficients @ table[: coefficients.size] + 0.5 * (dimension - 1) * np.log(samples * (2.0 - samples))
    inhabited = samples[logs > logs.max() - outside].max()
    return int(np.floor(np.log2(2.0 / inhabited)))


@functools.lru_cache(maxsize=16)
def _samples(dimension: int, degree: int) -> tuple[Floats, Floats]:
    """Return distances 1 - u from the north pole in geometric progression, and the P_l there."""
    near = np.geomspace(SMALLEST_CAP, 1.0, SAMPLES, dtype=np.longdouble)
    fine = np.append(near, near[-2::-1])
    sides = np.append(np.ones(near.size), -np.ones(near.size - 1))
    distances = np.where(sides > 0.0, fine, 2.0 - fine).astype(float)
    nodes = (sides * (1.0 - fine)).astype(float)
    unused = np.zeros(0)
    return distances, polynomials(dimension, Rule(nodes, fine.astype(float), unused, fine, unused), degree)


def strengths_of(problem: McKeanVlasov, degree: int) -> Floats:
    """Return sigma_l = -kappa w_l/D, l = 0..degree, sigma_0 = 0, without underflow of the multipliers."""
    relative = problem.potential.extended_multipliers(problem.domain, degree)
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
    while limit < MAX_NODES and problem.potential.relative_tail_bound(problem.domain, limit) > NEGLIGIBLE:
        limit *= 2
    relative = np.abs(problem.potential.relative_multipliers(problem.domain, limit))
    return int(np.flatnonzero(relative > NEGLIGIBLE).max(initial=1))


def _unit(problem: McKeanVlasov) -> np.longdouble:
    scale = np.longdouble(problem.potential.scale(problem.domain))
    return np.longdouble(problem.fixed_coupling) * scale / np.longdouble(problem.noise)


def strongest_beyond(problem: McKeanVlasov, degree: int) -> float:
    """Return a bound of abs(lambda_l) beyond a degree; N_l grows with l."""
    share = problem.potential.relative_tail_bound(problem.domain, degree)
    return float(abs(_unit(problem))) * share / Sphere(problem.domain.dimension).multiplicity(degree + 1)


def _unlisted(problem: McKeanVlasov, degree: int, peak: float) -> float:
    """Bound the interaction beyond a degree: further traces, at most abs(sigma_l) each, and what follows them."""
    further = np.abs(strengths_of(problem, 2 * degree + 16)[degree + 1 :])
    return min(
        peak * strongest_beyond(problem, degree),
        float(further.sum()) + peak * strongest_beyond(problem, 2 * degree + 16),
    )


def _with_confinement(problem: McKeanVlasov, confinement: Potential, coupled: Floats) -> Floats:
    """Return the coefficients of f: those of the interaction and of -V/D, up to the last that matters."""
    degree = 64
    while degree < MAX_NODES and confinement.relative_tail_bound(problem.domain, degree) > NEGLIGIBLE:
        degree *= 2
    fixed = -confinement.multipliers(problem.domain, degree)[1:].astype(float) / problem.noise
    whole = np.zeros(max(coupled.size, 1 + int(np.flatnonzero(np.append(1.0, fixed))[-1])))
    whole[: coupled.size] += coupled
    whole[1:] += fixed[: whole.size - 1]
    return whole


def _resolved(coefficients: Floats, grid: Grid, polynomial: int) -> bool:
    """Whether the root of the density ends so far below the last degree that it bears a polynomial factor."""
    values = _sum(coefficients, grid)
    shares = values + rule_of(grid).log_weights
    weighted = np.exp(0.5 * (shares - shares.max()))
    last = last_functions(grid, 0, polynomial) @ weighted
    return float(np.abs(last).max()) <= TAIL_TOLERANCE * float(np.linalg.norm(weighted))


def _sum(coefficients: Floats, grid: Grid) -> Floats:
    return np.asarray(coefficients @ harmonics(grid, 0, stepped(coefficients.size))[: coefficients.size])
