"""Stationary states on spheres at one coupling: every state that brute force finds must be in the answer.

On S^2 brute force knows all densities, with a confinement too, in more dimensions those about an axis, and counts
their unstable directions among all densities.
"""

from typing import Any

import numpy as np

from meanfield import GegenbauerSeries, McKeanVlasov, MeanfieldError, Sphere
from solvers import stationary_states
from tests import brute_force
from tests.campaigns import Finding, Subject, Verdict

# Powers of the same state agree to this, energies likewise: brute force is right to 1e-11 where its nodes resolve.
SAME = 1e-5
LARGEST = 20
# A state is resolved by the nodes of brute force if another rule gives the same moments to this.
RESOLVED = 1e-9


def on_sphere(rng: np.random.Generator) -> Finding:
    """Try a random series of degree up to 6 on S^2, of so few harmonics that brute force is quick."""
    weights = _weights(rng, int(rng.integers(3, 7)))
    while brute_force.sphere(weights, nodes=2).degrees.size > LARGEST:
        weights = _weights(rng, len(weights))
    coupling = float(_critical(weights, 3) * rng.uniform(0.9, 2.2))
    return _judged_on_sphere(weights, (), coupling)


def confined(rng: np.random.Generator) -> Finding:
    """Try a random series of degree up to 3 on S^2 in a confinement about the north pole."""
    weights = _weights(rng, int(rng.integers(1, 4)))
    confinement = rng.uniform(-1.0, 1.0, int(rng.integers(1, 4)))
    if confinement.size > 1 and rng.uniform() < 0.3:
        confinement[::2] = 0.0
    coupling = float(_critical(weights, 3) * rng.uniform(0.7, 2.0))
    return _judged_on_sphere(weights, tuple(np.round(confinement, 3).tolist()), coupling)


def about_axis(rng: np.random.Generator) -> Finding:
    """Try a random series of degree up to 5 on a sphere of dimension 4 to 16."""
    dimension = int(rng.integers(4, 17))
    multiplicities = [brute_force.multiplicity(dimension, degree) for degree in range(1, 6)]
    count = int(rng.integers(2, 6))
    # Critical couplings of all degrees are of one order.
    weights = tuple(
        float(f"{w * m / dimension:.4g}") for w, m in zip(_weights(rng, count), multiplicities, strict=False)
    )
    coupling = float(f"{_critical(weights, dimension) * rng.uniform(0.9, 2.0):.6g}")
    series = GegenbauerSeries(weights, dimension=dimension)
    call = f"McKeanVlasov(Sphere({dimension}), GegenbauerSeries({weights}, dimension={dimension}), coupling={coupling})"
    space = brute_force.zonal(dimension, weights, nodes=160)
    states = brute_force.stationary_states(space, coupling, starts=512)
    finer = brute_force.zonal(dimension, weights, nodes=230)
    true = [
        (
            state.gap,
            brute_force.zonal_unstable(dimension, weights, coupling, 1.0, state.density * space.weights),
            state,
        )
        for state in states
        if resolved(state, finer, coupling)
    ]
    return _judged(McKeanVlasov(Sphere(dimension), series, coupling=coupling), call, true, space)


def _weights(rng: np.random.Generator, count: int) -> tuple[float, ...]:
    """Return weights that are mostly attractive, some of them none, of the size of 2 l + 1."""
    weights = -rng.uniform(0.2, 1.5, count) * rng.choice([1.0, 1.0, 0.0, -0.5], count)
    if not np.any(weights < 0.0):
        weights[-1] = -1.0
    return tuple(np.round(weights, 3).tolist())


def _critical(weights: tuple[float, ...], dimension: int) -> float:
    return min(
        brute_force.multiplicity(dimension, degree) / -weight
        for degree, weight in enumerate(weights, 1)
        if weight < 0.0
    )


def _judged_on_sphere(weights: tuple[float, ...], confinement: tuple[float, ...], coupling: float) -> Finding:
    coupling = float(f"{coupling:.6g}")
    series = GegenbauerSeries(weights)
    problem = McKeanVlasov(
        Sphere(3), series, coupling=coupling, confinement=GegenbauerSeries(confinement) if confinement else None
    )
    field = f", confinement=GegenbauerSeries({confinement})" if confinement else ""
    call = f"McKeanVlasov(Sphere(3), GegenbauerSeries({weights}), coupling={coupling}{field})"
    space = brute_force.sphere(weights, confinement, nodes=20)
    states = brute_force.stationary_states(space, coupling, starts=256)
    finer = brute_force.sphere(weights, confinement, nodes=31)
    true = [(state.gap, state.unstable, state) for state in states if resolved(state, finer, coupling)]
    return _judged(problem, call, true, space)


def resolved(state: brute_force.BruteState, finer: brute_force.Discretisation, coupling: float) -> bool:
    """Whether other nodes give the same moments of a state."""
    masses = brute_force.gibbs(finer, coupling, 1.0, state.moments[None])
    return bool(np.abs(masses @ finer.values.T - state.moments).max() < RESOLVED)


def _judged(problem: McKeanVlasov, call: str, true: list[Any], space: brute_force.Discretisation) -> Finding:
    # With one generation of branches most states are left to the search.
    call = f"stationary_states({call}, depth=1, rates=False)"
    try:
        answer = stationary_states(problem, depth=1, rates=False)
    except MeanfieldError as error:
        return Finding(Verdict.REFUSED, call, str(error))
    degrees = np.unique(space.degrees)
    factors = np.sqrt([brute_force.multiplicity(problem.domain.dimension, int(degree)) for degree in degrees])
    missed, wrong = [], []
    for gap, unstable, state in true:
        alike = [
            other
            for other in answer
            if abs(other.free_energy_gap - gap) < SAME
            and all(
                abs(other.order_parameter(int(degree)) * factor - power) < SAME
                for degree, factor, power in zip(degrees, factors, state.powers, strict=True)
            )
        ]
        if not alike:
            missed.append((round(gap, 7), unstable))
        elif all(other.unstable != unstable for other in alike):
            wrong.append((round(gap, 7), unstable, [other.unstable for other in alike]))
    lower = [gap for gap, _, _ in true if gap < answer[0].free_energy_gap - SAME]
    detail = f"missed {missed}, counts {wrong}, {len(true)} true, {len(answer)} listed; {answer.searched}"
    if wrong or (lower and answer[0].minimiser):
        return Finding(Verdict.SILENT, call, detail)
    if missed:
        return Finding(Verdict.SILENT if answer.complete else Verdict.SAID, call, detail)
    return Finding(Verdict.RIGHT, call)


SUBJECTS: dict[str, Subject] = {
    "states-sphere": on_sphere,
    "states-sphere-confined": confined,
    "states-zonal": about_axis,
}
