"""Diagrams in fields of nearly equal coefficients, where branches are many and near each other, against themselves.

Between a dozen and a hundred branches lose one symmetry after another within a short interval.
"""

import warnings

import numpy as np

from meanfield import Circle, CosineSeries, Diagram, GegenbauerSeries, McKeanVlasov, MeanfieldError, Sphere
from solvers import Arclength, bifurcation_diagram
from tests.campaigns import Finding, Verdict
from tests.consistency import contradictions


def consistent(generator: np.random.Generator) -> Finding:
    """Three to five modes within a few per cent of one another on the circle, in no field or in a weak one."""
    modes = int(generator.integers(3, 6))
    spread = 10.0 ** generator.uniform(-2.5, -0.7)
    weights = tuple(np.round(-1.0 - spread * generator.normal(size=modes), 4).tolist())
    field = np.zeros(6)
    order = int(generator.integers(1, 4))
    for place in range(order, 7, order * int(generator.integers(1, 3))):
        field[place - 1] = np.round(generator.normal() * 10.0 ** generator.uniform(-2.0, -0.7), 4)
    confinement = CosineSeries(tuple(field.tolist())) if generator.uniform() < 0.8 else None
    interval = float(np.round(generator.uniform(0.4, 1.6), 2)), float(np.round(generator.uniform(2.2, 3.5), 2))
    problem = McKeanVlasov(Circle(), CosineSeries(weights), confinement=confinement)
    return _judged(problem, interval)


def consistent_on_sphere(generator: np.random.Generator) -> Finding:
    """Two or three degrees on S^2 within some per cent of one another, in no field or in a weak one."""
    degrees = int(generator.integers(2, 4))
    spread = 10.0 ** generator.uniform(-2.0, -0.3)
    multiplicities = 2.0 * np.arange(1, degrees + 1) + 1.0
    weights = tuple(np.round(-multiplicities * (1.0 + spread * generator.normal(size=degrees)), 3).tolist())
    confinement = None
    if generator.uniform() < 0.5:
        field = np.round(generator.normal(size=2) * 10.0 ** generator.uniform(-2.0, -0.7), 3)
        confinement = GegenbauerSeries(tuple(field.tolist()), 3)
    problem = McKeanVlasov(Sphere(3), GegenbauerSeries(weights, 3), confinement=confinement)
    interval = float(np.round(generator.uniform(0.5, 0.95), 2)), float(np.round(generator.uniform(1.1, 1.4), 2))
    return _judged(problem, interval)


def finer(generator: np.random.Generator) -> Finding:
    """Two to five modes on the circle: the special points are those of a diagram in steps a quarter as long."""
    weights = tuple(np.round(-generator.uniform(0.5, 1.2, int(generator.integers(2, 6))), 3).tolist())
    field = np.round(generator.normal(size=3) * 10.0 ** generator.uniform(-2.0, -0.5), 3)
    confinement = CosineSeries(tuple(field.tolist())) if generator.uniform() < 0.5 else None
    problem = McKeanVlasov(Circle(), CosineSeries(weights), confinement=confinement)
    return same_in_finer_steps(problem, (0.8, float(np.round(generator.uniform(2.5, 4.0), 2))))


def finer_on_sphere(generator: np.random.Generator) -> Finding:
    """One to three degrees on S^2: the special points are those of a diagram in steps a quarter as long."""
    degrees = int(generator.integers(1, 4))
    weights = np.round(-(2.0 * np.arange(1, degrees + 1) + 1.0) * generator.uniform(0.6, 1.1, degrees), 3)
    field = np.round(generator.normal(size=2) * 10.0 ** generator.uniform(-2.0, -0.5), 3)
    confinement = GegenbauerSeries(tuple(field.tolist()), 3) if generator.uniform() < 0.5 else None
    problem = McKeanVlasov(Sphere(3), GegenbauerSeries(tuple(weights.tolist()), 3), confinement=confinement)
    return same_in_finer_steps(problem, (0.7, float(np.round(generator.uniform(1.1, 1.6), 2))))


SUBJECTS = {
    "diagrams-consistent": consistent,
    "sphere-diagrams-consistent": consistent_on_sphere,
    "diagrams-in-finer-steps": finer,
    "sphere-diagrams-in-finer-steps": finer_on_sphere,
}


def same_in_finer_steps(problem: McKeanVlasov, interval: tuple[float, float]) -> Finding:
    """Judge the special points of a diagram by those of one in steps a quarter as long, one by one."""
    call = f"bifurcation_diagram({problem!r}, {interval}, search=True)"
    finer = Arclength(max_step=0.0125, tolerance=2.5e-4)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        diagrams = [
            bifurcation_diagram(problem, interval, search=True, rates=False, method=method)
            for method in (None, finer)
        ]
    plain, other = (
        [(point.type, float(point.coupling)) for point in diagram.special_points if point.type != "endpoint"]
        for diagram in diagrams
    )
    for event in tuple(plain):
        twin = next((each for each in other if each[0] == event[0] and abs(each[1] - event[1]) <= 1e-6), None)
        if twin is not None:
            plain.remove(event)
            other.remove(twin)
    if not plain and not other:
        return Finding(Verdict.RIGHT, call)
    detail = f"only in finer steps: {other[:6]}, only in plain ones: {plain[:6]}"
    return Finding(
        Verdict.SAID if _said(diagrams[0]) else Verdict.SILENT, call, "; ".join([detail, *_said(diagrams[0])])
    )


def _judged(problem: McKeanVlasov, interval: tuple[float, float]) -> Finding:
    call = f"bifurcation_diagram({problem!r}, {interval}, search=True)"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            diagram = bifurcation_diagram(problem, interval, search=True, rates=False)
        except MeanfieldError as error:
            return Finding(Verdict.REFUSED, call, str(error))
    found = contradictions(diagram)
    if not found:
        return Finding(Verdict.RIGHT, call)
    named = {text.split(":")[0].split(" has ")[0] for text in found}
    said = [warning for warning in _said(diagram) if all(name in warning for name in named)]
    return Finding(Verdict.SAID if said else Verdict.SILENT, call, "; ".join([*found[:6], *_said(diagram)]))


def _said(diagram: Diagram) -> list[str]:
    """Return the warnings of a diagram but those that every one with a search or limited depth has."""
    general = (
        "were looked for at the ends",
        "were followed: beyond depth",
        "were followed: states there have no axis",
    )
    return [warning for warning in diagram.warnings if not any(text in warning for text in general)]
