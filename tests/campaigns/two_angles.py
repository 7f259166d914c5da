"""Curves in fields of S^2 that depend on two angles, whichever way they are turned and whatever symmetry they have.

Brute force has the eight moments of degrees one and two. At points of a curve the state is stationary, and its Jacobian
is singular or, on a line, its free energy that of the other state.
"""

import numpy as np

from meanfield import GegenbauerSeries, HarmonicSeries, McKeanVlasov, MeanfieldError, Sphere, critical_coupling
from solvers import bifurcation_diagram, curve
from tests.campaigns import Finding, Verdict
from tests.two_angles import COSINES, SINES, Truth, moments_of

# Residuals, singular values of the Jacobian and differences of free energies at a point of a curve.
STATIONARY, SINGULAR, EQUAL = 1e-11, 1e-9, 1e-11
# Points of a curve that are looked at.
POINTS = 4


def in_fields(rng: np.random.Generator) -> Finding:
    """Judge a curve of special points over a random parameter of a random field."""
    weights = np.round(rng.uniform((-0.8, -2.5), (0.4, -1.0)), 3)
    size = float(rng.choice([0.01, 0.03, 0.1]))
    field = np.round(size * rng.normal(size=8) * (rng.random(8) < rng.choice([0.3, 0.6, 1.0])), 5)
    if not np.any(field[[1, 3, 4, 5, 6, 7]]):
        field[4] = size
    cosine, sine = np.zeros((2, 6))
    cosine[COSINES], sine[SINES] = field[:5], field[5:]
    series = HarmonicSeries(tuple(cosine.tolist()), tuple(sine.tolist()))
    problem = McKeanVlasov(Sphere(3), GegenbauerSeries(tuple(weights.tolist())), confinement=series)
    critical = float(critical_coupling(problem.replace(confinement=None)) or 1.0)
    window = (round(0.7 * critical, 3), round(1.3 * critical, 3))
    call = f"bifurcation_diagram({problem!r}, {window}, rates=False)"
    try:
        diagram = bifurcation_diagram(problem, window, rates=False)
    except MeanfieldError as error:
        return Finding(Verdict.REFUSED, call, str(error))
    events = [event for event in diagram.special_points if event.type != "endpoint" and event.status == "converged"]
    if not events:
        return Finding(Verdict.RIGHT, call, "no special point")
    number = int(rng.integers(len(events)))
    names = [name for name in problem.parameters if name != "coupling"]
    name = str(rng.choice(names))
    value = float(problem.parameters[name])
    reach = (0.1 * abs(value) or 0.3 * size) * rng.uniform(0.3, 3.0, 2)
    interval = (round(value - float(reach[0]), 5), round(value + float(reach[1]), 5))
    call = f"curve({call}.special_points[{diagram.special_points.index(events[number])}], {name!r}, {interval})"
    try:
        found = curve(events[number], name, interval)
    except MeanfieldError as error:
        return Finding(Verdict.REFUSED, call, str(error))
    for row in rng.integers(len(found), size=POINTS).tolist():
        wrong = _wrong(found, row)
        if wrong:
            return Finding(Verdict.SILENT, call, f"at {name} = {found.first[row]}: {wrong}")
    return Finding(Verdict.SAID if found.warnings else Verdict.RIGHT, call, "; ".join(found.warnings))


def _wrong(found, row: int) -> str:
    """Return what is wrong at a point of a curve, empty if nothing."""
    at = found.point(row)
    weights = at.problem.potential.multipliers(Sphere(3), 2)[1:]
    truth = Truth(weights, moments_of(*at.problem.confinement.harmonic_multipliers(2)), at.problem.noise)
    coupling = float(found.coupling[row])
    states = [moments_of(at.cosine, at.sine)]
    if at.other_cosine is not None:
        states.append(moments_of(at.other_cosine, at.other_sine))
    for own in states:
        residual = float(np.abs(truth.residual(coupling, own)).max())
        if residual > STATIONARY:
            return f"not stationary by {residual:.1e}"
    if found.type == "transition":
        gap = truth.energy(coupling, states[0]) - truth.energy(coupling, states[1])
        return f"free energies differ by {gap:.1e}" if abs(gap) > EQUAL else ""
    least = float(np.linalg.svd(truth.jacobian(coupling, states[0]))[1][-1])
    return f"no direction is neutral, by {least:.1e}" if least > SINGULAR else ""


SUBJECTS = {"fields-of-two-angles": in_fields}
