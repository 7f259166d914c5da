r"""Spectrum of the gradient law linearised at a state in a confinement with kinks, by spectral elements.

A perturbation :math:`\rho\varphi` obeys :math:`\rho\dot\varphi = (\rho h')'` with
:math:`h = D\varphi + \kappa W*(\rho\varphi)`, and in weak form no derivative of the confinement occurs:

.. math:: \langle\chi\dot\varphi\rangle_\rho = -\langle\chi' h'\rangle_\rho, \qquad
          W*(\rho\varphi) = \sum_k w_k c_k \langle c_k\varphi\rangle_\rho .

Between the kinks of V the density and the eigenfunctions are smooth, across them continuous, so that continuous
functions that are polynomials between the kinks converge faster than any power of their degree. With the matrices
:math:`M = \langle\chi_i\chi_j\rangle_\rho = LL^T`, :math:`K = \langle\chi_i'\chi_j'\rangle_\rho` and
:math:`C = \langle c_k\chi_j\rangle_\rho` the rates are the eigenvalues of

.. math:: R\,(D + \kappa\,\tilde C^T w\,\tilde C)\,R^T, \qquad \tilde C = CL^{-T}, \quad R^TR = L^{-1}KL^{-T} .

Kinks are found by halving panels until V is a polynomial on each. The difference of two degrees is the error.
"""

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import scipy.linalg
from numpy.polynomial import legendre

from meanfield import Equation, NotResolved, Spectrum, State
from meanfield.equations import Capability, Interaction

from ..bases import EPS, Floats
from ..equations.law_eigenvalues import rate_or_error
from ..equations.significant import confining_degree
from .linearisation import complex_moments

# Panels to start with, the widest, and that so narrow that a kink is in it; most elements.
PANELS, NARROWEST, MOST = 8, 1e-10, 64
# Nodes by which a panel is judged, and the share of the confinement, in units of D, that its polynomial may miss.
NODES, MISSED = 16, 1e-12
# The degrees of the polynomials, and the nodes of a rule beyond them.
DEGREES, BEYOND = (12, 16), 12
# Significant degrees of the potential at most, and of the eigenvalues the share by which two degrees may differ.
MODES, AGREEING = 256, 1e-8
LOWEST = 20


def is_kinked(problem: Equation) -> bool:
    """Return whether the confinement of a gradient law has kinks, or a singularity."""
    return not problem.lacks(Capability.GRADIENT) and confining_degree(problem) is None


def spectrum(state: State) -> Spectrum:
    """Return the eigenvalues at a state in a confinement with kinks; all of them are in ``even``.

    Raises
    ------
    NotResolved
        If the confinement has a singularity, or the potential a kink as well, or no eigenvalue is resolved.
    """
    values, error = _known(state)
    return Spectrum(state, -values, np.zeros(0), None, None, error)


def slowest_rate(state: State) -> float:
    """Return the slowest decay rate of a state, negative when unstable; raises as :func:`spectrum`."""
    return float(_known(state)[0][0])


def slowest_rates(states: Sequence[State]) -> list[float | Exception]:
    """Return the slowest decay rate, or the error instead, of each of several states."""
    return [rate_or_error(slowest_rate, state) for state in states]


def _known(state: State) -> tuple[Floats, float]:
    """Return the lowest rates on which two degrees agree, ascending, and the error of that of smallest modulus."""
    degree = Interaction(state.problem).significant_degree
    if degree > MODES:
        raise NotResolved(
            f"rates in a confinement with a kink, as {state.problem.confinement!r} has, are computed for "
            f"potentials of at most {MODES} significant degrees, and this one has {degree}"
        )
    edges = _edges(state.problem)
    (coarse, _), (fine, rounding) = (_rates(state, edges, degree, order) for order in DEGREES)
    change = np.abs(coarse - fine) + rounding
    wrong = np.flatnonzero(change > AGREEING * np.maximum(np.abs(fine), state.problem.noise))
    count = int(wrong[0]) if wrong.size else fine.size
    if not count:
        raise NotResolved(
            f"the slowest rate in the confinement {state.problem.confinement!r} changes with the degree of its "
            "elements; the state is too concentrated"
        )
    return fine[:count], float(change[np.argmin(np.abs(fine[:count]))])


def _edges(problem: Equation) -> Floats:
    """Return the edges of elements on one turn between which the confinement is smooth, ascending.

    Raises
    ------
    NotResolved
        If there are too many, as beside a singularity.
    """
    found = list(2.0 * np.pi * np.arange(PANELS + 1) / PANELS)
    for left, right in pairwise(tuple(found)):
        found += _inside(problem, left, right)
        if len(found) > MOST:
            raise NotResolved(
                f"rates in the confinement {problem.confinement!r} are not computed: it has a singularity, or more "
                f"kinks than {MOST} elements separate"
            )
    edges: Floats = np.unique(found)
    return np.asarray(edges[np.append(True, np.diff(edges) > 2.0 * NARROWEST)])


def _inside(problem: Equation, left: float, right: float) -> list[float]:
    """Return the edges needed inside a panel: kinks, and the middles of panels of which both halves are smooth."""
    pending, found = [(left, right)], list[float]()
    while pending and len(found) <= MOST:
        low, high = pending.pop()
        middle = 0.5 * (low + high)
        if _is_smooth(problem, low, high):
            continue
        halves = [pair for pair in ((low, middle), (middle, high)) if not _is_smooth(problem, *pair)]
        if not halves or high - low < NARROWEST:
            found.append(middle)
        else:
            pending += halves
    return found


def _is_smooth(problem: Equation, low: float, high: float) -> bool:
    """Return whether the confinement is a polynomial on a panel up to rounding."""
    nodes, weights = legendre.leggauss(NODES)
    assert problem.confinement is not None
    values = np.asarray(problem.confinement.values(0.5 * (low + high) + 0.5 * (high - low) * nodes), dtype=float)
    last = (legendre.legvander(nodes, NODES - 1)[:, -3:] * weights[:, None] * (NODES - 1.5)).T @ values
    return bool(np.abs(last).max() <= MISSED * (problem.noise + float(np.abs(values).max())))


class _Elements(NamedTuple):
    """Functions on the nodes of all elements: angles, weights, and values and slopes on the unit element."""

    angles: Floats
    weights: Floats
    values: Floats
    slopes: Floats


def _elements(edges: Floats, order: int) -> _Elements:
    """Return hats and integrated Legendre polynomials up to a degree on the elements between edges."""
    nodes, weights = legendre.leggauss(order + BEYOND)
    table = legendre.legvander(nodes, order).T
    values, slopes = np.empty((order + 1, nodes.size)), np.empty((order + 1, nodes.size))
    values[:2], slopes[:2] = 0.5 * (1.0 + np.multiply.outer([-1.0, 1.0], nodes)), np.array([[-0.5], [0.5]])
    for degree in range(2, order + 1):
        scale = np.sqrt(degree - 0.5)
        slopes[degree] = scale * table[degree - 1]
        values[degree] = scale * (table[degree] - table[degree - 2]) / (2.0 * degree - 1.0)
    halves = 0.5 * np.diff(edges)[:, None]
    return _Elements(edges[:-1, None] + halves * (1.0 + nodes), halves * weights, values, slopes)


def _density(state: State, angles: Floats, degree: int) -> Floats:
    """Return the Gibbs density of the moments of a state up to a factor at angles."""
    moments = complex_moments(state)
    count = min(moments.size, degree + 1)
    strengths = Interaction(state.problem).attractions(degree)[:count]
    field = np.zeros(angles.shape)
    for cell in range(1, count):
        field += strengths[cell] * (moments[cell] * np.exp(1j * cell * angles)).real
    assert state.problem.confinement is not None
    field -= np.asarray(state.problem.confinement.values(angles), dtype=float) / state.problem.noise
    return np.asarray(np.exp(field - field.max()))


def _rates(state: State, edges: Floats, degree: int, order: int) -> tuple[Floats, float]:
    """Return the lowest rates with elements of a degree, ascending without that of the mass, and their rounding."""
    noise, elements = state.problem.noise, _elements(edges, order)
    masses = elements.weights * _density(state, elements.angles, degree)
    masses /= masses.sum()
    count, size = edges.size - 1, (edges.size - 1) * order
    mass, stiffness, means = np.zeros((size, size)), np.zeros((size, size)), np.zeros((2 * degree, size))
    degrees = np.arange(1, degree + 1)
    for place, (angles, masses_of, width) in enumerate(zip(elements.angles, masses, np.diff(edges), strict=True)):
        inner = place * order + np.arange(1, order)
        own = np.concatenate([[place * order, (place + 1) % count * order], inner])
        mass[np.ix_(own, own)] += (elements.values * masses_of) @ elements.values.T
        stiffness[np.ix_(own, own)] += (elements.slopes * masses_of) @ elements.slopes.T * (2.0 / width) ** 2
        phases = np.multiply.outer(degrees, angles)
        means[:, own] += np.concatenate([np.cos(phases), np.sin(phases)]) * masses_of @ elements.values.T
    factor = np.linalg.cholesky(mass)
    reduced = scipy.linalg.solve_triangular(factor, stiffness, lower=True)
    reduced = scipy.linalg.solve_triangular(factor, reduced.T, lower=True)
    modes = scipy.linalg.solve_triangular(factor, means.T, lower=True).T
    strengths = np.tile(Interaction(state.problem).attractions(degree)[1:], 2)
    squares, vectors = np.linalg.eigh(0.5 * (reduced + reduced.T))
    # The constant is the kernel of K: the mass is conserved.
    root = np.sqrt(np.maximum(squares[1:], 0.0))[:, None] * vectors.T[1:]
    moved = modes @ root.T
    matrix = root @ root.T - (moved.T * strengths) @ moved
    rounding = 4.0 * EPS * float(squares[-1])
    return noise * np.linalg.eigvalsh(0.5 * (matrix + matrix.T))[:LOWEST], noise * rounding
