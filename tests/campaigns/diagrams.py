"""Diagrams in fields of nearly equal coefficients, where branches are many and near each other, against themselves.

Between a dozen and a hundred branches lose one symmetry after another within a short interval.
"""

import warnings

import numpy as np

from meanfield import Circle, CosineSeries, GegenbauerSeries, McKeanVlasov, MeanfieldError, Sphere
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
    """Judge the special points of a diagram by those of one in steps a quarter as long."""
    call = f"bifurcation_diagram({problem!r}, {interval})"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        plain = bifurcation_diagram(problem, interval, rates=False)
        finer = bifurcation_diagram(
            problem, interval, rates=False, method=Arclength(max_step=0.0125, tolerance=2.5e-4)
        )
    places = [
        sorted((point.type, float(point.coupling)) for point in each.special_points if point.type != "endpoint")
        for each in (plain, finer)
    ]
    lacking, beyond = (
        [one for one in mine if not any(one[0] == two[0] and abs(one[1] - two[1]) <= 1e-6 for two in other)]
        for mine, other in (places[::-1], places)
    )
    if not lacking and not beyond:
        return Finding(Verdict.RIGHT, call)
    said = [warning for warning in plain.warnings if "were looked for at the ends" not in warning]
    detail = f"only in finer steps: {lacking[:6]}, only in plain ones: {beyond[:6]}"
    return Finding(Verdict.SAID if said else Verdict.SILENT, call, "; ".join([detail, *said]))


def _judged(problem: McKeanVlasov, interval: tuple[float, float]) -> Finding:
    call = f"bifurcation_diagram({problem!r}, {interval})"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            diagram = bifurcation_diagram(problem, interval, rates=False)
        except MeanfieldError as error:
            return Finding(Verdict.REFUSED, call, str(error))
    found = contradictions(diagram)
    if not found:
        return Finding(Verdict.RIGHT, call)
    # That branches apart from all others may be missing is said of every diagram with a search.
    said = [warning for warning in diagram.warnings if "were looked for at the ends" not in warning]
    return Finding(Verdict.SAID if said else Verdict.SILENT, call, "; ".join([*found[:6], *said]))
