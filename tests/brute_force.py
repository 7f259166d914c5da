r"""All stationary states by brute force: multistart Newton among all densities, with energies and unstable directions.

Nothing is shared with the code under test. Let mu be the uniform probability, :math:`e_i` functions orthonormal in
:math:`L^2(\mu)` in which the convolution is diagonal, :math:`W*f = \hat w_0 + \sum_i \hat w_i a_i e_i` with
:math:`a_i = \int e_i f\, d\mu`, among the degrees that the potential has. Then f is stationary if and only if

.. math:: a = \langle e \rangle_{f}, \qquad f = \exp(-(\kappa \sum_i \hat w_i a_i e_i + V)/D)/Z,

and the negative eigenvalues of :math:`D + \kappa C^{1/2} \hat w\, C^{1/2}`, C the covariance of e under f, count its
unstable directions among all densities. States are the same if their energies and powers by degree are.
"""

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from scipy.special import eval_gegenbauer, roots_jacobi, sph_harm_y

BATCH = 256
CONVERGED = 1e-11
# Moments of a solved state are those of the Gibbs density of their field to this.
SOLVED = 1e-12
# A direction is neutral (a rotation) below this share of the noise.
NEUTRAL = 1e-7
SAME = 1e-6


@dataclass(frozen=True)
class Discretisation:
    """Orthonormal functions of the significant degrees on a quadrature rule.

    ``values`` is (functions, nodes), ``weights`` sum to 1, ``multipliers`` and ``degrees`` are by function,
    ``confinement`` the values of V at the nodes.
    """

    values: Any
    weights: Any
    multipliers: Any
    degrees: Any
    confinement: Any


@dataclass(frozen=True)
class BruteState:
    """A stationary state: moments a, F - F(uniform), unstable and neutral directions, power of each degree, density.

    ``density`` is f at the nodes, with respect to mu.
    """

    moments: Any
    gap: float
    unstable: int
    neutral: int
    powers: Any
    density: Any


def circle(weights: Any, confinement: Any = (), nodes: int = 256, *, sines: Any = ()) -> Discretisation:
    """Return all densities on the circle for W = sum w_k cos kt and V = sum v_k cos kt + u_k sin kt, from k = 1."""
    w = np.asarray(weights, dtype=float)
    angles = 2.0 * np.pi * np.arange(nodes) / nodes
    degrees = np.flatnonzero(w) + 1
    waves = np.sqrt(2.0) * np.concatenate([np.cos(np.outer(degrees, angles)), np.sin(np.outer(degrees, angles))])
    field = sum((v * np.cos((k + 1) * angles) for k, v in enumerate(confinement)), np.zeros(nodes))
    field += sum((u * np.sin((k + 1) * angles) for k, u in enumerate(sines)), np.zeros(nodes))
    return Discretisation(
        waves, np.full(nodes, 1.0 / nodes), np.tile(w[degrees - 1] / 2.0, 2), np.tile(degrees, 2), field
    )


def sphere(weights: Any, confinement: Any = (), nodes: int = 48) -> Discretisation:
    """Return all densities on S^2 for W = sum w_l P_l(cos t) and a V likewise about the north pole, from l = 1.

    A state that the nodes do not resolve is met as several, since they do not rotate with it.
    """
    w = np.asarray(weights, dtype=float)
    u, gauss = np.polynomial.legendre.leggauss(nodes)
    phi = 2.0 * np.pi * np.arange(2 * nodes) / (2 * nodes)
    polar, azimuth = (grid.ravel() for grid in np.meshgrid(np.arccos(u), phi, indexing="ij"))
    rows, multipliers, degrees = [], [], []
    for degree in np.flatnonzero(w) + 1:
        for order in range(-degree, degree + 1):
            harmonic = np.sqrt(4.0 * np.pi) * sph_harm_y(degree, abs(order), polar, azimuth)
            rows.append(
                harmonic.real if order == 0 else np.sqrt(2.0) * (harmonic.real if order > 0 else harmonic.imag)
            )
            multipliers.append(w[degree - 1] / (2 * degree + 1))
            degrees.append(degree)
    legendre = [np.polynomial.legendre.Legendre.basis(k + 1)(np.cos(polar)) for k in range(len(confinement))]
    field = sum((v * p for v, p in zip(confinement, legendre, strict=True)), np.zeros(polar.size))
    masses = np.repeat(gauss / 2.0, phi.size) / phi.size
    return Discretisation(np.array(rows), masses, np.array(multipliers), np.array(degrees), field)


def zonal(dimension: int, weights: Any, nodes: int = 200, order: int = 0) -> Discretisation:
    """Return the densities about an axis of the sphere in R^d for W = sum w_l P_l(cos t), from l = 1.

    ``order`` m takes the functions of that azimuthal order in their place, one copy of each, for their stability.
    """
    w = np.asarray(weights, dtype=float)
    exponent = (dimension - 3) / 2
    u, gauss = roots_jacobi(nodes, exponent, exponent)
    masses = gauss / gauss.sum()
    degrees = np.array([degree for degree in np.flatnonzero(w) + 1 if degree >= order], dtype=int)
    rows = []
    for degree in degrees:
        index = order + (dimension - 2) / 2
        row = (1.0 - u**2) ** (order / 2) * eval_gegenbauer(int(degree) - order, index, u)
        rows.append(row / np.sqrt(masses @ row**2))
    multipliers = np.array([w[degree - 1] / multiplicity(dimension, int(degree)) for degree in degrees])
    return Discretisation(np.array(rows), masses, multipliers, degrees, np.zeros(nodes))


def multiplicity(dimension: int, degree: int) -> int:
    """Return the dimension of the harmonics of a degree on the sphere in R^d."""
    from math import comb

    if degree == 0:
        return 1
    if dimension == 2:
        return 2
    return (2 * degree + dimension - 2) * comb(degree + dimension - 3, degree) // (dimension - 2)


def stationary_states(
    space: Discretisation, coupling: float, noise: float = 1.0, starts: int = 1024, seed: int = 0
) -> list[BruteState]:
    """Return the states that damped Newton reaches from random starts, lowest energy first."""
    generator = np.random.default_rng(seed)
    found: list[BruteState] = [] if np.any(space.confinement) else [_state(space, coupling, noise, None)]
    for _ in range(0, starts, BATCH):
        for a in _solved(space, coupling, noise, _starts(space, coupling, generator)):
            state = _state(space, coupling, noise, a)
            if not any(same(state, other) for other in found):
                found.append(state)
    return sorted(found, key=lambda state: state.gap)


def same(one: BruteState, other: BruteState) -> bool:
    """Whether two states are images of each other under rotations and reflections, by their invariants."""
    return bool(np.abs(one.powers - other.powers).max() < SAME and abs(one.gap - other.gap) < SAME)


def gibbs(space: Discretisation, coupling: float, noise: float, moments: Any) -> Any:
    """Return the densities exp(-(kappa W*a + V)/D)/Z of rows of moments, as masses at the nodes."""
    field = -(coupling * (moments * space.multipliers) @ space.values + space.confinement) / noise
    masses = space.weights * np.exp(field - field.max(axis=-1, keepdims=True))
    return masses / masses.sum(axis=-1, keepdims=True)


def unstable_directions(space: Discretisation, coupling: float, noise: float, masses: Any) -> tuple[int, int]:
    """Return the numbers of unstable and of neutral directions among the functions of a discretisation."""
    covariance = _covariance(space, masses[None], centred=True)[0]
    values, vectors = np.linalg.eigh(covariance)
    root = (vectors * np.sqrt(np.maximum(values, 0.0))) @ vectors.T
    form = np.linalg.eigvalsh(np.eye(root.shape[0]) + coupling / noise * (root * space.multipliers) @ root)
    return int((form < -NEUTRAL).sum()), int((np.abs(form) <= NEUTRAL).sum())


def zonal_unstable(dimension: int, weights: Any, coupling: float, noise: float, masses: Any) -> int:
    """Return the unstable directions among all densities of a state about an axis, sector by sector.

    ``masses`` belong to the nodes of :func:`zonal`. Order m has as many copies as there are harmonics of degree m on
    the sphere one dimension lower.
    """
    degree = int(np.flatnonzero(np.asarray(weights)).max()) + 1
    total = 0
    for order in range(degree + 1):
        space = zonal(dimension, weights, masses.size, order)
        if space.degrees.size:
            centred = order == 0
            covariance = _covariance(space, masses[None], centred)[0]
            values, vectors = np.linalg.eigh(covariance)
            root = (vectors * np.sqrt(np.maximum(values, 0.0))) @ vectors.T
            form = np.linalg.eigvalsh(np.eye(root.shape[0]) + coupling / noise * (root * space.multipliers) @ root)
            total += multiplicity(dimension - 1, order) * int((form < -NEUTRAL).sum())
    return total


def _covariance(space: Discretisation, masses: Any, centred: bool) -> Any:
    second = np.einsum("in,bn,jn->bij", space.values, masses, space.values, optimize=True)
    if not centred:
        return second
    means = masses @ space.values.T
    return second - means[:, :, None] * means[:, None, :]


def _starts(space: Discretisation, coupling: float, generator: np.random.Generator) -> Any:
    """Return moments of Gibbs densities of random fields: of few and many modes, weak and strong."""
    size = space.degrees.size
    field = generator.standard_normal((BATCH, size)) * (generator.uniform(size=(BATCH, size)) < 0.5)
    field *= 10.0 ** generator.uniform(-1.5, 0.8, (BATCH, 1))
    values = field @ space.values
    masses = space.weights * np.exp(values - values.max(axis=1, keepdims=True))
    return (masses / masses.sum(axis=1, keepdims=True)) @ space.values.T


def _solved(space: Discretisation, coupling: float, noise: float, a: Any) -> Any:
    """Return the rows that Newton's method takes to a state; steps of least length, since rotations are neutral."""
    active = np.arange(len(a))
    done = []
    for _ in range(60):
        masses = gibbs(space, coupling, noise, a[active])
        residual = masses @ space.values.T - a[active]
        covariance = _covariance(space, masses, centred=True)
        jacobian = np.eye(a.shape[1]) + coupling / noise * covariance * space.multipliers
        step = np.einsum("bij,bj->bi", np.linalg.pinv(jacobian, rcond=1e-10), residual)
        length = np.linalg.norm(step, axis=1)
        a[active] += step * np.minimum(1.0, 1.0 / np.maximum(length, 1e-300))[:, None]
        finished = (length < CONVERGED) & (np.abs(residual).max(axis=1) < CONVERGED)
        done += [a[row].copy() for row in active[finished]]
        active = active[~finished]
        if not active.size:
            break
    return done


def on_circle(space: Discretisation, coupling: float, cosine: Any, sine: Any) -> BruteState:
    """Return the state of given moments, by degree, on a discretisation of the circle, refusing those of no state."""
    degrees = space.degrees[: space.degrees.size // 2]
    a = np.sqrt(2.0) * np.concatenate([cosine[degrees], sine[degrees]])
    masses = gibbs(space, coupling, 1.0, a)
    assert np.abs(space.values @ masses - a).max() <= SOLVED
    return _state(space, coupling, 1.0, a)


def _state(space: Discretisation, coupling: float, noise: float, a: Any) -> BruteState:
    a = np.zeros(space.degrees.size) if a is None else a
    masses = gibbs(space, coupling, noise, a)
    density = masses / space.weights
    entropy = float(masses @ np.log(np.maximum(density, 1e-300)))
    gap = noise * entropy + 0.5 * coupling * float(space.multipliers @ a**2)
    gap += float((masses - space.weights) @ space.confinement)
    unstable, neutral = unstable_directions(space, coupling, noise, masses)
    powers = np.array([np.sqrt((a[space.degrees == degree] ** 2).sum()) for degree in np.unique(space.degrees)])
    return BruteState(a, gap, unstable, neutral, powers, density)


def graded(breaks: list[float]) -> tuple[Any, Any]:
    """Return Gauss nodes on panels that halve towards the breaks, on (-pi, pi).

    Beside 0, where angles keep their digits, down to 1e-300: as nearly divergent integrals need.
    """
    points, weights = np.polynomial.legendre.leggauss(24)
    ends = sorted({-np.pi, np.pi, *breaks})
    edges = [ends[0]]
    for low, high in pairwise(ends):
        half = 0.5 * (high - low)
        first, last = (half * 2.0 ** -np.arange(48.0 if end else 1000.0, 0.0, -1.0) for end in (low, high))
        marks = np.concatenate([low + first, [low + half], (high - last)[::-1], [high]])
        for mark in marks:
            pieces = max(1, int(np.ceil((mark - edges[-1]) / 0.1)))
            edges += list(np.linspace(edges[-1], mark, pieces + 1)[1:])
    middle, half = 0.5 * (np.array(edges[1:]) + edges[:-1]), 0.5 * np.diff(edges)
    return (middle[:, None] + half[:, None] * points).ravel(), (half[:, None] * weights).ravel()
