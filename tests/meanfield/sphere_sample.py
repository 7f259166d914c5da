"""Stationary densities on spheres from formulas, for tests of everything that reads states and diagrams there.

``nematic``: W = -cos 2t on S^2, that is -(4 P_2 - 1)/3, whose states exp(eta u^2)/Z are prolate for eta > 0 and
oblate for eta < 0. ``cubic``: W = -P_4, whose octahedral states are exp(a (x^4 + y^4 + z^4 - 3/5))/Z.
"""

import dataclasses
import functools

import numpy as np
from scipy.optimize import brentq
from scipy.special import ive, sph_legendre_p

from meanfield import Branch, CosineSeries, Diagram, Kuramoto, McKeanVlasov, Outcome, SpecialPoint, Sphere, State

DEGREE = 28
# Of packed moments; what is beyond is left out, so that the densities are smooth but only nearly stationary.
FULL_DEGREE = 16
# -P_4 as a series of cosines: P_4(cos t) = (9 + 20 cos 2t + 35 cos 4t)/64.
MINUS_P4 = CosineSeries((0.0, -20 / 64, 0.0, -35 / 64))


def place(degree, order):
    return degree * (degree + 1) // 2 + order


def state(problem, cosine, sine=None, layout="degree", label="", symmetry=1):
    return State(
        problem=problem, cosine=cosine, sine=np.zeros_like(cosine) if sine is None else sine, observables={"free_energy_gap": -0.1},
        unstable=0, symmetry=symmetry, residual=1e-16, modes=DEGREE, layout=layout, label=label,
    )  # fmt: skip


def fisher(concentration, dimension=3, degree=DEGREE):
    """The state exp(a u)/Z of W = -u, with moments I_(l+d/2-1)(a)/I_(d/2-1)(a)."""
    orders = np.arange(degree + 1) + dimension / 2 - 1
    moments = ive(orders, concentration) / ive(orders[0], concentration)
    problem = McKeanVlasov(Sphere(dimension), Kuramoto(), coupling=concentration / moments[1])
    return state(problem, moments, label="zonal 1")


def watson_moments(eta, degree=DEGREE):
    """Moments of exp(eta u^2)/Z and log Z, by Gauss's rule."""
    nodes, weights = np.polynomial.legendre.leggauss(80)
    density = weights / 2 * np.exp(eta * nodes**2)
    return np.polynomial.legendre.legvander(nodes, degree).T @ density / density.sum(), np.log(density.sum())


def full_moments(exponent, degree=FULL_DEGREE):
    """Packed moments on S^2 of exp(exponent(x, y, z))/Z, and log Z."""
    nodes, weights = np.polynomial.legendre.leggauss(2 * degree)
    polar, azimuth = np.arccos(nodes)[:, None], 2 * np.pi * np.arange(4 * degree) / (4 * degree)
    density = weights[:, None] * np.exp(exponent(*vector(polar, azimuth))) / (2 * azimuth.size)
    total = density.sum()
    cosine, sine = np.zeros((2, place(degree, degree) + 1))
    for m in range(degree + 1):
        waves = density @ np.column_stack([np.cos(m * azimuth), np.sin(m * azimuth)]) / total
        for n in range(m, degree + 1):
            cosine[place(n, m)], sine[place(n, m)] = associated(n, m, polar[:, 0]) @ waves
    return cosine, sine, np.log(total)


def associated(degree, m, polar):
    """The factor of cos m phi in e^c_lm, without the sign (-1)^m, by scipy."""
    values = np.reshape(sph_legendre_p(degree, m, polar), np.shape(polar))
    return (-1) ** m * values * np.sqrt((2 if m else 1) * 4 * np.pi / (2 * degree + 1))


def vector(polar, azimuth):
    return np.broadcast_arrays(
        np.sin(polar) * np.cos(azimuth), np.sin(polar) * np.sin(azimuth), np.cos(polar) + 0 * azimuth
    )


def octahedral(amplitude):
    """The octahedral state of W = -P_4 with the given a; f = kappa sum_m m_4m e_4m = a sqrt(...) psi."""
    moments = full_moments(lambda x, y, z: amplitude * (x**4 + y**4 + z**4 - 0.6))
    # x^4 + y^4 + z^4 - 3/5 is (2/5) P_4 at order 0, so kappa m_40 = (2/5) a.
    coupling = 0.4 * amplitude / moments[0][place(4, 0)]
    problem = McKeanVlasov(Sphere(3), MINUS_P4, coupling=coupling)
    return state(problem, *moments[:2], layout="order", label="octahedral", symmetry=4)


@functools.cache
def nematic():
    """The uniform, prolate and oblate branches; the fold and the point of equal free energy are on the prolate."""
    critical = 3.75
    coupling = lambda eta: eta / (2 * watson_moments(eta)[0][2])  # noqa: E731
    gap = lambda eta: _nematic_gap(eta, coupling(eta))  # noqa: E731
    grid = np.linspace(0.02, 6.0, 40)
    fold = brentq(lambda eta: coupling(eta + 1e-4) - coupling(eta - 1e-4), 0.5, 5.0)
    equal = brentq(gap, fold * 1.05, 6.0)
    prolate = np.sort(np.concatenate([grid, [fold, equal]]))
    at_fold, at_equal = (int(np.searchsorted(prolate, value)) + 1 for value in (fold, equal))
    branches = [_uniform(critical, 5, (2.6, 5.2))]
    for label, etas, events in (
        ("prolate", prolate, {at_fold: "LP", at_equal: "TR"}),
        ("oblate", -np.linspace(0.02, 4.2, 30), {}),
    ):
        moments = np.array([np.eye(DEGREE + 1)[0], *(watson_moments(eta)[0] for eta in etas)])
        values = np.array([critical, *(coupling(eta) for eta in etas)])
        gaps = np.array([0.0, *(gap(eta) for eta in etas)])
        steps = np.arange(values.size)
        unstable = np.where(steps < at_fold, 1, 0) if label == "prolate" else np.full(values.size, 2)
        labels = ["BP", *(events.get(step, "") for step in steps[1:-1]), "EP"]
        branches.append(_branch(label, 2, values, critical, moments, gaps, unstable, labels))
    points = [(0, int(np.flatnonzero(branches[0].coupling == critical)[0]), "branch point")]
    points += [(1, at_fold, "fold"), (1, at_equal, "transition")]
    return _diagram(CosineSeries((0.0, -1.0)), critical, branches, points, (2.6, 5.2))


@functools.cache
def cubic():
    """The two sides of the octahedral branch, in the packed layout, and the uniform one."""
    critical = 9.0
    branches = [_uniform(critical, 9, (7.5, 12.0))]
    for label, amplitudes in (("octahedral", np.linspace(0.2, 6.0, 6)), ("cube", -np.linspace(0.2, 4.0, 4))):
        states = [octahedral(amplitude) for amplitude in amplitudes]
        first = np.eye(states[0].cosine.size)[0]
        cosine = np.array([first, *(each.cosine for each in states)])
        values = np.array([critical, *(each.coupling for each in states)])
        labels = ["BP", *[""] * (len(states) - 1), "EP"]
        branch = _branch(
            label, 4, values, critical, cosine, -0.02 * np.arange(values.size), np.full(values.size, 1), labels
        )
        branches.append(dataclasses.replace(branch, layout="order"))
    points = [(0, int(np.flatnonzero(branches[0].coupling == critical)[0]), "branch point")]
    return _diagram(MINUS_P4, critical, branches, points, (7.5, 12.0))


def _nematic_gap(eta, coupling):
    moments, logarithm = watson_moments(eta)
    # (kappa/2) sum w_l p_l^2 + <f> - log Z with f = eta (u^2 - 1/3) and <u^2> = (2 p_2 + 1)/3.
    return -coupling / 2 * 4 / 3 * moments[2] ** 2 + 2 / 3 * eta * moments[2] - (logarithm - eta / 3)


def _uniform(critical, repeated, interval):
    coupling = np.unique(np.concatenate([np.linspace(*interval, 9), [critical]]))
    unstable = np.where(coupling > critical, repeated, 0)
    labels = ["BP" if value == critical else "" for value in coupling]
    cosine = np.tile(np.eye(DEGREE + 1)[0], (coupling.size, 1))
    return _branch("uniform", 0, coupling, critical, cosine, np.zeros(coupling.size), unstable, labels)


def _branch(label, symmetry, coupling, critical, cosine, gap, unstable, labels):
    size = coupling.size
    return Branch(
        label=label, parent=None if symmetry == 0 else 0, symmetry=symmetry, coupling=coupling,
        relative_coupling=coupling / critical, cosine=cosine, sine=np.zeros_like(cosine),
        arclength=np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(cosine, axis=0), axis=1))]),
        observables={"free_energy_gap": gap}, unstable=unstable.astype(np.int64), slowest_rate=1.0 - coupling / critical,
        residual=np.full(size, 1e-16), modes=np.full(size, DEGREE), tangent_coupling=np.ones(size),
        tangent_cosine=np.zeros_like(cosine), tangent_sine=np.zeros_like(cosine), point_labels=tuple(labels),
        outcome=Outcome.LEFT_INTERVAL,
    )  # fmt: skip


def _diagram(potential, critical, branches, points, interval):
    events = tuple(
        SpecialPoint(
            branch=index, point=at, type=kind, coupling=float(branches[index].coupling[at]),
            relative_coupling=float(branches[index].relative_coupling[at]), lower=0.0, upper=99.0,
            unstable_before=0, unstable_after=1, kernel_dimension=1, status="converged",
            cosine=branches[index].cosine[at], sine=branches[index].sine[at],
        )
        for index, at, kind in points
    )  # fmt: skip
    return Diagram(
        problem=McKeanVlasov(Sphere(3), potential), interval=interval, critical_coupling=critical,
        branches=tuple(branches), special_points=events, provenance={"command": "by hand"},
    )  # fmt: skip
