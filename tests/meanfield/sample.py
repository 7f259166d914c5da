"""A diagram built by hand from formulas, for tests of everything that reads diagrams.

W = -cos t - q cos 2t with D = 1. States are exp(a cos t + b cos 2t)/Z with a = kappa m_1, b = kappa q m_2.
The 1-cluster branch has a fold and a point of equal free energy for 1/2 < q < 1; the 2-cluster branch is
that of Kuramoto in 2t. The last branch, marked chiral, is synthetic: it only has every field in use.
"""

import dataclasses
import functools

import numpy as np
from scipy.optimize import brentq
from scipy.special import ive

from meanfield import (
    Branch,
    Circle,
    CosineSeries,
    Curve,
    Diagram,
    McKeanVlasov,
    OrganisingPoint,
    Outcome,
    PhaseDiagram,
    Region,
    SpecialPoint,
    Transformer,
    critical_coupling,
)

Q = 0.8
MODES = 24
UPPER = 4.5
ANGLES = 2 * np.pi * np.arange(256) / 256
PROVENANCE = {
    "version": "0.1.0",
    "command": "meanfield bifurcation cosine-series --coefficients -1 -0.8",
    "created": "2026-01-02T03:04:05+00:00",
    "options": {"tolerance": 1e-12, "depth": 2, "note": "unité – κ"},
}


def moments(a: float, b: float) -> np.ndarray:
    """Cosine moments 0..MODES of exp(a cos t + b cos 2t)/Z, by the trapezoid rule."""
    exponent = a * np.cos(ANGLES) + b * np.cos(2 * ANGLES)
    weights = np.exp(exponent - exponent.max())
    return np.cos(np.outer(np.arange(MODES + 1), ANGLES)) @ weights / weights.sum()


def free_energy_gap(a: float, b: float, kappa: float) -> float:
    exponent = a * np.cos(ANGLES) + b * np.cos(2 * ANGLES)
    top = exponent.max()
    m = moments(a, b)
    return kappa / 2 * (m[1] ** 2 + Q * m[2] ** 2) - top - np.log(np.mean(np.exp(exponent - top)))


def one_cluster(a: float) -> tuple[float, float, np.ndarray]:
    """Coupling, b and moments of the state on the 1-cluster branch with the given a."""

    def defect(b: float) -> float:
        m = moments(a, b)
        return b * m[1] - a * Q * m[2]

    b = brentq(defect, 1e-14, 6 * a + 1, xtol=1e-15, rtol=1e-15)
    m = moments(a, b)
    return a / m[1], b, m


def one_cluster_branch() -> tuple[Branch, list[SpecialPoint]]:
    grid = np.sort(np.concatenate([[1e-3], np.linspace(0.05, 2.0, 40), np.linspace(2.15, 4.3, 16)]))
    fold = _minimum(lambda a: one_cluster(a)[0], 0.3, 2.0)
    equal = brentq(lambda a: _gap_on_branch(a), fold * 1.01, 4.0, xtol=1e-15)
    grid = np.sort(np.concatenate([grid, [fold, equal]]))
    states = [one_cluster(a) for a in grid]
    coupling = np.array([2.0, *(state[0] for state in states)])
    cosine = np.array([_uniform(), *(state[2] for state in states)])
    gap = np.array([0.0, *(free_energy_gap(a, state[1], state[0]) for a, state in zip(grid, states, strict=True))])
    at_fold, at_equal = (int(np.searchsorted(grid, value)) + 1 for value in (fold, equal))
    unstable = np.where(np.arange(coupling.size) < at_fold, 1, 0)
    unstable[at_fold] = 0
    labels = [""] * coupling.size
    labels[0], labels[-1], labels[at_fold], labels[at_equal] = "BP", "EP", "LP", "TR"
    rate = np.where(unstable > 0, -1.0, 1.0) * np.abs(np.gradient(coupling, np.concatenate([[0.0], grid])))
    branch = _branch("1-cluster", 0, 1, coupling, cosine, gap, unstable, labels, rate=rate)
    events = [
        _event(1, 0, "branch point", branch, 2, 1, "born from the uniform branch", kernel=2),
        _event(1, at_fold, "fold", branch, 1, 0, "fold", kernel=1),
        dataclasses.replace(
            _event(1, at_equal, "transition", branch, 0, 0, "free energy equals that of a made-up state", kernel=0),
            other_cosine=moments(0.0, 1.0)[:4],
            other_sine=np.zeros(4),
        ),
        _event(1, coupling.size - 1, "endpoint", branch, 0, None, "left the interval"),
    ]
    return branch, events


def two_cluster_branch() -> tuple[Branch, list[SpecialPoint]]:
    """m_2 = I_1(x)/I_0(x), kappa q m_2 = x; odd moments vanish."""
    grid = np.sort(np.concatenate([[1e-3], np.linspace(0.05, 3.0, 50)]))
    secondary = brentq(lambda x: x / (Q * _ratio(x)) / 2 * (1 - _ratio(x)) - 1.0, 0.01, 3.0, xtol=1e-15)
    grid = np.sort(np.concatenate([grid, [secondary]]))
    coupling = np.array([2 / Q, *(grid / (Q * _ratio(grid)))])
    cosine = np.array([_uniform(), *(moments(0.0, x) for x in grid)])
    gap = np.array([0.0, *(free_energy_gap(0.0, x, kappa) for x, kappa in zip(grid, coupling[1:], strict=True))])
    at = int(np.searchsorted(grid, secondary)) + 1
    unstable = np.where(np.arange(coupling.size) <= at, 2, 1)
    labels = [""] * coupling.size
    labels[0], labels[-1], labels[at] = "BP", "EP", "BP"
    branch = _branch("2-cluster", 1, 2, coupling, cosine, gap, unstable, labels, rate=0.3 * (2.0 - coupling))
    events = [
        _event(2, 0, "branch point", branch, 4, 2, "born from the uniform branch", kernel=2),
        _event(2, at, "branch point", branch, 2, 1, "an odd perturbation of degree 1", kernel=1),
        _event(2, coupling.size - 1, "endpoint", branch, 1, None, "left the interval"),
    ]
    return branch, events


def chiral_branch(parent_point: SpecialPoint, size: int = 12) -> tuple[Branch, list[SpecialPoint]]:
    """A made-up curve with sine moments, uncounted directions and unknown rates."""
    amount = np.linspace(0.0, 1.0, size)
    cosine = np.tile(parent_point.cosine, (size, 1))
    sine = np.zeros_like(cosine)
    cosine[:, 1] = 0.35 * np.sqrt(amount)
    sine[:, 1:4] = amount[:, np.newaxis] * np.array([0.21, -0.11, 0.05])
    coupling = parent_point.coupling + 0.8 * amount
    gap = -0.35 - 0.6 * amount
    unstable = np.full(size, -1)
    unstable[:3] = 1
    labels = ["BP"] + [""] * (size - 1)
    rate = np.full(size, np.nan)
    rate[:3] = -0.1 * amount[:3]
    branch = _branch(
        "chiral, from 2-cluster", 5, 1, coupling, cosine, gap, unstable, labels, rate=rate, sine=sine,
        outcome=Outcome.MAX_STEPS,
    )  # fmt: skip
    return branch, [_event(3, 0, "branch point", branch, None, None, "secondary", kernel=None)]


@functools.cache
def sample() -> Diagram:
    first, first_events = one_cluster_branch()
    second, second_events = two_cluster_branch()
    chiral, chiral_events = chiral_branch(second_events[1])
    uniform, uniform_events = _uniform_branch()
    # Parents are positions in this tuple: 0 and 1 on the uniform branch, 5 the secondary branch point.
    events = [*uniform_events, *first_events[1:3], second_events[0], second_events[1]]
    events += [first_events[0], first_events[3], second_events[2], *chiral_events]
    return Diagram(
        problem=McKeanVlasov(Circle(), CosineSeries((-1.0, -Q))),
        interval=(1.0, UPPER),
        critical_coupling=2.0,
        branches=(uniform, first, second, chiral),
        special_points=tuple(events),
        warnings=("the branch 'chiral, from 2-cluster' has unknown stability", "nothing else – κ"),
        provenance=PROVENANCE,
    )


@functools.cache
def repulsive_sample() -> Diagram:
    """The uniform branch of W = +cos t: no critical coupling, nothing happens."""
    coupling = np.linspace(0.5, 3.0, 6)
    branch = _branch(
        "uniform", None, 0, coupling, np.tile(_uniform(), (6, 1)), np.zeros(6), np.zeros(6, dtype=int),
        [""] * 6, rate=1 + coupling / 2, critical=None,
    )  # fmt: skip
    return Diagram(
        problem=McKeanVlasov(Circle(), CosineSeries((1.0,))),
        interval=(0.5, 3.0),
        critical_coupling=None,
        branches=(branch,),
        special_points=(),
    )


def _uniform_branch() -> tuple[Branch, list[SpecialPoint]]:
    coupling = np.sort(np.concatenate([np.linspace(1.0, UPPER, 15), [2.0, 2.5]]))
    coupling = np.unique(coupling)
    unstable = np.where(coupling <= 2.0, 0, np.where(coupling <= 2 / Q, 2, 4))
    labels = [""] * coupling.size
    first, second = (int(np.searchsorted(coupling, value)) for value in (2.0, 2 / Q))
    labels[first] = labels[second] = "BP"
    rate = np.minimum(1 - coupling / 2, 4 * (1 - coupling * Q / 2))
    cosine = np.tile(_uniform(), (coupling.size, 1))
    branch = _branch("uniform", None, 0, coupling, cosine, np.zeros(coupling.size), unstable, labels, rate=rate)
    events = [
        _event(0, first, "branch point", branch, 0, 2, "mode 1 becomes unstable", kernel=2),
        _event(0, second, "branch point", branch, 2, 4, "mode 2 becomes unstable", kernel=2),
    ]
    return branch, events


def _branch(label, parent, symmetry, coupling, cosine, gap, unstable, labels, *, rate, sine=None,
            critical=2.0, outcome=Outcome.LEFT_INTERVAL):  # fmt: skip
    sine = np.zeros_like(cosine) if sine is None else sine
    relative = np.full(coupling.size, np.nan) if critical is None else coupling / critical
    steps = np.sqrt(
        np.diff(relative if critical else coupling) ** 2
        + np.sum(np.diff(cosine, axis=0) ** 2 + np.diff(sine, axis=0) ** 2, axis=1)
    )
    arclength = np.concatenate([[0.0], np.cumsum(steps)])
    return Branch(
        label=label,
        parent=parent,
        symmetry=symmetry,
        coupling=coupling,
        relative_coupling=relative,
        cosine=cosine,
        sine=sine,
        arclength=arclength,
        observables={"free_energy_gap": gap},
        unstable=np.asarray(unstable, dtype=np.int64),
        slowest_rate=np.asarray(rate, dtype=float),
        residual=np.full(coupling.size, 3e-16),
        modes=np.full(coupling.size, MODES),
        tangent_coupling=np.gradient(coupling, arclength),
        tangent_cosine=np.gradient(cosine, arclength, axis=0),
        tangent_sine=np.gradient(sine, arclength, axis=0),
        point_labels=tuple(labels),
        outcome=outcome,
    )


def _event(index, point, type, branch, before, after, description, kernel=None):
    coupling = float(branch.coupling[point])
    return SpecialPoint(
        branch=index,
        point=point,
        type=type,
        coupling=coupling,
        relative_coupling=coupling / 2.0,
        lower=coupling * (1 - 1e-14),
        upper=coupling * (1 + 1e-14),
        unstable_before=before,
        unstable_after=after,
        kernel_dimension=kernel,
        status="converged",
        cosine=branch.cosine[point],
        sine=branch.sine[point],
        description=description,
    )


def _uniform() -> np.ndarray:
    return np.eye(MODES + 1)[0]


def _ratio(x):
    return ive(1, x) / ive(0, x)


def _gap_on_branch(a: float) -> float:
    kappa, b, _ = one_cluster(a)
    return free_energy_gap(a, b, kappa)


def _minimum(function, low: float, high: float) -> float:
    from scipy.optimize import minimize_scalar

    return float(minimize_scalar(function, bounds=(low, high), method="bounded", options={"xatol": 1e-10}).x)


def made_up_phase_diagram():
    """A phase diagram of one line and two regions, none of whose numbers was computed."""
    line = line_of_transitions()
    beta, height = line.first, line.relative_coupling
    known = {"first": beta, "strip": np.zeros(beta.size, dtype=int)}
    below = Region("uniform", 1, lower=np.full(5, 0.5), upper=height, area=0.6, point=(3.0, 0.7), **known)
    above = Region(
        "1-cluster", 2, lower=height, upper=np.full(5, 1.5), area=0.4, point=(3.0, 1.2),
        found_minimiser="1-cluster", found_stable=1, agrees=False, **known,
    )  # fmt: skip
    return PhaseDiagram(
        problem=McKeanVlasov(Circle(), Transformer(beta=3.0)),
        parameter="beta",
        interval=(2.5, 4.0),
        unit="relative_coupling",
        window=(0.5, 1.5),
        curves=(line, dataclasses.replace(line, label="fold of the 1-cluster", type="fold", other_cosine=None,
                                          other_sine=None, other_symmetry=None, special_points=())),
        origins=("from the diagram at beta = 3", "in closed form"),
        special_points=line.special_points,
        regions=(below, above),
        warnings=("made up, as its name says",),
        provenance=PROVENANCE,
    )  # fmt: skip


def line_of_transitions():
    """A curve in beta and the coupling with states of numbers that resemble those of a first-order line."""
    arclength = np.linspace(0.0, 1.0, 5)

    def at(places):
        beta, relative = 2.5 + 1.5 * places, 1.0 - 0.05 * places
        units = [critical_coupling(McKeanVlasov(Circle(), Transformer(value))) for value in beta.tolist()]
        return beta, relative, relative * units

    beta, relative, coupling = at(arclength)
    rates = [
        (after - before) / 2e-5 for before, after in zip(at(arclength - 1e-5), at(arclength + 1e-5), strict=True)
    ]
    point = OrganisingPoint(
        type="tricritical",
        parameters=("beta", "coupling"),
        values=np.array([beta[0], coupling[0]]),
        coupling=coupling[0],
        relative_coupling=1.0,
        lower=beta[0] - 1e-14,
        upper=beta[0] + 1e-14,
        status="converged",
        curves=("transition uniform | 1-cluster", "threshold of mode 1"),
        cosine=np.array([1.0, 0.0, 0.0]),
        sine=np.zeros(3),
        description="the 1-cluster turns from continuous to discontinuous",
        other_cosine=np.array([[1.0, 0.0, 0.0], [1.0, 0.0, 0.1]]),
        other_sine=np.zeros((2, 3)),
    )
    cosine = np.column_stack([np.ones(5), np.linspace(0.0, 0.8, 5), np.linspace(0.0, 0.4, 5)])
    return Curve(
        problem=McKeanVlasov(Circle(), Transformer(beta=3.0), coupling=0.6),
        label="transition uniform | 1-cluster",
        type="transition",
        parameters=("beta", "coupling"),
        interval=(2.5, 4.0),
        values=np.column_stack([beta, coupling]),
        coupling=coupling,
        relative_coupling=relative,
        cosine=cosine,
        sine=np.zeros((5, 3)),
        observables={"free_energy_gap": np.zeros(5)},
        residual=np.full(5, 2e-16),
        unstable=np.zeros(5, dtype=int),
        modes=np.full(5, 2),
        arclength=arclength,
        tangent=np.column_stack([rates[0], rates[2]]),
        point_labels=("tricritical", "", "", "", "EP"),
        outcome=Outcome.LEFT_INTERVAL,
        other_cosine=np.tile([1.0, 0.0, 0.0], (5, 1)),
        other_sine=np.zeros((5, 3)),
        other_symmetry=0,
        special_points=(point,),
        warnings=("this curve is made up",),
    )
