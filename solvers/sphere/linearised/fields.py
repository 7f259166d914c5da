r"""The field behind a zonal stationary state of a sphere, on the nodes of a Gauss rule.

At a stationary state :math:`\rho = e^f/Z` with

.. math:: f = -(\kappa W*\rho + V)/D = \sum_{l\ge 1} (\sigma_l p_l - v_l/D)\, P_l(u), \qquad
          \sigma_l = -\kappa w_l/D = N_l \lambda_l,

so the density is recomputed from the few significant moments, to full relative accuracy everywhere,
also where it nearly vanishes.
"""

import functools
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from meanfield import Equation, NotResolved, Potential, State
from meanfield.equations import NEGLIGIBLE, Interaction
from meanfield.harmonics import Rule, polynomials

from ...bases import Floats, Integers
from ...bases.limits import MAX_NODES
from .grids import Grid, harmonics, last_functions, rule_of, slopes, stepped
from .interaction import multiplicities

# Moments below this are a uniform density.
UNIFORM = 1e-14
# A function is resolved when its last coefficients are below this: integrals of products of two such functions are
# then exact to the square of it.
TAIL_TOLERANCE = 1e-9
# Nodes beyond the degree of the polynomials to begin with.
ROOM = 24
# Beyond this exponentials leave the range of doubles, and no bound by the peak is the better one.
LARGEST_LOGARITHM = 700.0
# Polynomials of degree k times the root of the density reach to where its logarithm is this times k lower.
OUTSIDE = 6.0
# The density is looked at in so many points from here to the equator on either side.
SMALLEST_CAP = 1e-12
SAMPLES = 120
# What several fields on one grid do not share.
ROWS = ("strengths", "log_density", "slope", "peak", "unlisted")


@dataclass(frozen=True, eq=False)
class ZonalField:
    """A zonal Gibbs density and its interaction, or several of one equation on one grid, each a row of the arrays.

    Attributes
    ----------
    problem
        The equation; of several that of the first.
    grid
        The nodes u, from the north pole down.
    strengths : (L + 1,) float
        sigma_0 = 0, sigma_1, ..., sigma_L.
    log_density : (n,) float
        log |S| rho on the nodes.
    slope : (n,) float
        f'(u) on the nodes.
    peak : () float
        Largest |S| rho.
    unlisted : () float
        Bound of the interaction of the degrees l > L, in units of D.
    """

    problem: Equation
    grid: Grid
    strengths: Floats
    log_density: Floats
    slope: Floats
    peak: Floats
    unlisted: Floats

    @property
    def noise(self) -> float:
        """The noise D."""
        return self.problem.noise

    @property
    def rule(self) -> Rule:
        """Nodes and weights of the grid."""
        return rule_of(self.grid)

    @property
    def dimension(self) -> int:
        """Dimension d of the space around the sphere."""
        return self.grid.dimension

    @property
    def rotates(self) -> bool:
        """Whether turning the axis of the state gives another state of the same problem."""
        return self.problem.confinement is None

    def part(self, kept: NDArray[np.bool_] | int) -> "ZonalField":
        """Return the fields of some of several states, or of one."""
        return replace(self, **{name: getattr(self, name)[kept] for name in ROWS})

    def beyond(self, order: int, strengths: Floats) -> Floats:
        """Return bounds of the interaction beyond each degree, in units of D: sup |S| rho times max sigma_l/N_l.

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
        counts = multiplicities(self.dimension, order, strengths.shape[-1] - 1)
        ratios = np.zeros((*strengths.shape[:-1], counts.size + 1))
        ratios[..., :-1] = strengths[..., order:] / counts
        strongest = np.maximum.accumulate(ratios[..., ::-1], axis=-1)[..., ::-1]
        return np.asarray(self.peak[..., None] * strongest + self.unlisted[..., None])


def is_uniform(state: State) -> bool:
    """Return whether a state is the uniform density, with closed-form eigenvalues."""
    return state.problem.confinement is None and float(np.abs(state.cosine[1:]).max(initial=0.0)) <= UNIFORM


class Exponent(NamedTuple):
    """The exponent f of a zonal state, turned so that the north pole is the denser one.

    Attributes
    ----------
    interaction
        The interaction, with the problem.
    coefficients : (M + 1,) float
        Coefficients of P_0, ..., P_M in f.
    """

    interaction: Interaction
    coefficients: Floats

    @property
    def dimension(self) -> int:
        """Dimension d of the space around the sphere."""
        return self.interaction.problem.domain.dimension


def exponent_of(state: State) -> Exponent:
    """Return the exponent of a zonal state, up to the last significant degree."""
    problem, interaction = state.problem, Interaction(state.problem)
    significant = min(state.cosine.size - 1, interaction.significant_degree)
    whole = interaction.attractions(significant) * state.cosine[: significant + 1]
    if problem.confinement is not None:
        whole = _with_confinement(problem, problem.confinement, whole)
    large = np.flatnonzero(np.abs(whole) > NEGLIGIBLE * np.abs(whole).max())
    whole = whole[: 1 + int(large.max(initial=1))]
    if whole[1::2].sum() < 0.0:
        whole[1::2] *= -1.0
    return Exponent(interaction, whole)


def starting_grid(exponent: Exponent, polynomial: int) -> Grid:
    """Return a grid on the cap of the density that resolves its root times polynomials of a degree."""
    (grid,) = starting_grids([exponent], polynomial)
    return grid


def starting_grids(exponents: Sequence[Exponent], polynomial: int) -> dict[Grid, list[int]]:
    """Return the places of the exponents of one equation that start on each grid."""
    coefficients, dimension = _stacked(exponents), exponents[0].dimension
    waiting, found = defaultdict[Grid, list[int]](list), defaultdict[Grid, list[int]](list)
    for place, level in enumerate(_levels(coefficients, dimension, OUTSIDE * (polynomial + ROOM)).tolist()):
        waiting[Grid(dimension, stepped(polynomial + ROOM), level)].append(place)
    while waiting:
        grid, places = waiting.popitem()
        enough = [True] * len(places)
        if grid.size < MAX_NODES:
            enough = _resolved(coefficients[places], grid, polynomial).tolist()
        for place, there in zip(places, enough, strict=True):
            (found[grid] if there else waiting[grid._replace(size=stepped(grid.size + 1))]).append(place)
    return {grid: sorted(places) for grid, places in found.items()}


def field_of(exponent: Exponent, grid: Grid) -> ZonalField:
    """Return the field of an exponent on a grid.

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
    return fields_of([exponent], grid).part(0)


def fields_of(exponents: Sequence[Exponent], grid: Grid) -> ZonalField:
    """Return the fields of exponents of one equation on a grid as one."""
    coefficients = _stacked(exponents)
    values = _sum(coefficients, grid)
    shares = values + rule_of(grid).log_weights
    top = shares.max(axis=-1)
    log_mass = top + np.log(np.exp(shares - top[:, None]).sum(axis=-1))
    highest = np.maximum(values.max(axis=-1), coefficients.sum(axis=-1)) - log_mass
    peaks = np.exp(np.minimum(highest, LARGEST_LOGARITHM))
    interactions = [each.interaction for each in exponents]
    degree = min(interactions[0].significant_degree, int(grid.size * 2.0 ** (0.5 * grid.level)))
    return ZonalField(
        interactions[0].problem,
        grid,
        np.array([each.attractions(degree) for each in interactions]),
        values - log_mass[:, None],
        coefficients[:, 1:] @ slopes(grid, stepped(coefficients.shape[1]))[: coefficients.shape[1] - 1],
        peaks,
        np.array([each.beyond(degree, peak) for each, peak in zip(interactions, peaks.tolist(), strict=True)]),
    )


def _stacked(exponents: Sequence[Exponent]) -> Floats:
    """Return the coefficients of exponents, zero-padded, a row each."""
    coefficients = np.zeros((len(exponents), max(each.coefficients.size for each in exponents)))
    for row, each in zip(coefficients, exponents, strict=True):
        row[: each.coefficients.size] = each.coefficients
    return coefficients


def _levels(coefficients: Floats, dimension: int, outside: float) -> Integers:
    """Return the levels of the smallest caps beyond which densities are below their peaks by a logarithm."""
    size = coefficients.shape[-1]
    samples, measure, table = _samples(dimension, stepped(size - 1))
    logs = coefficients @ table[:size] + measure
    inhabited = np.where(logs > logs.max(axis=-1, keepdims=True) - outside, samples, 0.0).max(axis=-1)
    return np.asarray(np.floor(np.log2(2.0 / inhabited)), dtype=np.int64)


@functools.lru_cache(maxsize=16)
def _samples(dimension: int, degree: int) -> tuple[Floats, Floats, Floats]:
    """Return distances 1 - u from the north pole in geometric progression, logarithms of the measure, the P_l."""
    near = np.geomspace(SMALLEST_CAP, 1.0, SAMPLES, dtype=np.longdouble)
    fine = np.append(near, near[-2::-1])
    sides = np.append(np.ones(near.size), -np.ones(near.size - 1))
    distances = np.where(sides > 0.0, fine, 2.0 - fine).astype(float)
    nodes = (sides * (1.0 - fine)).astype(float)
    unused = np.zeros(0)
    measure = 0.5 * (dimension - 1) * np.log(distances * (2.0 - distances))
    return distances, measure, polynomials(dimension, Rule(nodes, fine.astype(float), unused, fine, unused), degree)


def _with_confinement(problem: Equation, confinement: Potential, coupled: Floats) -> Floats:
    """Return the coefficients of f: those of the interaction and of -V/D, up to the last significant one."""
    degree = 64
    while degree < MAX_NODES and confinement.relative_tail_bound(problem.domain, degree) > NEGLIGIBLE:
        degree *= 2
    fixed = Interaction(problem).forces(degree)[1:]
    whole = np.zeros(max(coupled.size, 1 + int(np.flatnonzero(np.append(1.0, fixed))[-1])))
    whole[: coupled.size] += coupled
    whole[1:] += fixed[: whole.size - 1]
    return whole


def _resolved(coefficients: Floats, grid: Grid, polynomial: int) -> NDArray[np.bool_]:
    """Return whether the degrees of the root of each density leave room for a polynomial factor on a grid."""
    shares = _sum(coefficients, grid) + rule_of(grid).log_weights
    weighted = np.exp(0.5 * (shares - shares.max(axis=-1, keepdims=True)))
    last = np.abs(weighted @ last_functions(grid, 0, polynomial).T).max(axis=-1)
    return np.asarray(last <= TAIL_TOLERANCE * np.linalg.norm(weighted, axis=-1))


def _sum(coefficients: Floats, grid: Grid) -> Floats:
    size = coefficients.shape[-1]
    return np.asarray(coefficients @ harmonics(grid, 0, stepped(size))[:size])
