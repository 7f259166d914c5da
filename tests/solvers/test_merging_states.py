"""First-order lines of two states of one symmetry on S^2 end in the cusp in which both merge, however they stand."""

import functools
from dataclasses import replace
from functools import partial
from types import SimpleNamespace
from typing import NamedTuple

import mpmath
import numpy as np
import pytest

from meanfield import Circle, CosineSeries, Curve, GegenbauerSeries, McKeanVlasov, Outcome, Sphere
from solvers import bifurcation_diagram, curve, phase_diagram
from solvers.bases import Basis, FourierBasis, InvariantBasis
from solvers.bases.representations import axis_rotation, rotation_about, turned_moments
from solvers.sphere.groups import axial_group
from solvers.two_parameters.systems import transitions
from solvers.two_parameters.systems.transitions import TransitionEquation

# Cusps are known to this.
CUSP = 1e-9
# Weights, the window of the diagram, the branch, and the two ends of the line that begins at the first of them.
CASES = {
    "C_2h": (
        (0.0, -0.521, 0.0, -1.618, 0.0, -2.227),
        (3.894, 6.397),
        "C_2h from zonal 4-",
        ((-2.3358707384, 5.6465139878), (-2.3273447384, 5.6637262875)),
    ),
    "C_s": (
        (-0.565, -0.983, -1.025, -1.21, -2.097),
        (3.561, 5.849),
        "C_s (2) from zonal 5",
        None,
    ),
    "D_3h": (
        (-0.197, -0.323, -1.006, -1.063),
        (4.871, 8.002),
        "D_3h 3 from zonal 4+",
        ((-1.2936898241, 6.4477736353), (-1.1529816594, 6.9582504970)),
    ),
    "C_2v": (
        (-0.303, -0.867, -0.984, -0.81),
        (4.037, 6.632),
        "C_2v from oblate",
        ((-1.0659659251, 6.3208546060), (-1.0554995425, 6.3314228085)),
    ),
    "C_2v, halved": (
        (-0.536, -0.746, -0.514),
        (3.918, 6.437),
        "C_2v from prolate",
        ((-0.7042604066, 6.3787800876), (-0.7044785115, 6.3789238476)),
    ),
}


def nearest(basis: Basis, b: np.ndarray, other: np.ndarray) -> np.ndarray:
    return min(basis.images_beside(b, other, confined=False), key=lambda image: np.linalg.norm(image - other))


@functools.cache
def folds(name: str) -> tuple[Curve, str, tuple[float, float]]:
    weights, window, label, _ = CASES[name]
    strongest = int(np.argmin(weights))
    over, value = f"w{strongest + 1}", weights[strongest]
    found = bifurcation_diagram(McKeanVlasov(Sphere(3), GegenbauerSeries(weights, 3)), window, depth=2, rates=False)
    start = next(e for e in found.events("fold") if found.branches[e.branch].label == label)
    interval = (value - 0.25, value + 0.25)
    return curve(start, over, interval, largest_coupling=6.0 * window[0]), over, interval


@functools.cache
def line(name: str, place: int = 0) -> Curve:
    found, over, interval = folds(name)
    cusps = [point for point in found.special_points if point.type == "cusp"]
    return curve(cusps[place], over, interval, type="transition")


def ends_in(found: Curve, place: tuple[float, float]) -> bool:
    """Return whether a curve has an end point of its record at a place, told as the meeting of its two states."""
    return any(
        point.description == "the two states become one" and np.allclose(point.values, place, rtol=CUSP, atol=0.0)
        for point in found.special_points
    )


@pytest.mark.parametrize("name", [name for name, case in CASES.items() if case[-1] is not None])
def test_a_line_ends_in_the_cusp_of_the_folds_at_which_it_begins(name):
    found, (cusp, other) = line(name), CASES[name][-1]
    assert not found.warnings
    assert ends_in(found, cusp)
    ends = np.array([found.values[0], found.values[-1]])
    for place in (cusp, other):
        assert np.abs(ends / place - 1.0).max(axis=1).min() <= CUSP
    for point in found.special_points:
        assert point.lower <= point.values[0] <= point.upper
        assert point.upper - point.lower <= 1e-9


def test_all_lines_of_a_fold_curve_end_in_its_cusps():
    """Of states of one mirror, which may be turned about the axis across it."""
    found = folds("C_s")[0]
    cusps = [point.values for point in found.special_points if point.type == "cusp"]
    assert len(cusps) == 4
    for place, cusp in enumerate(cusps):
        assert ends_in(line("C_s", place), cusp)
        assert not any("two states become one" in text for text in line("C_s", place).warnings)


@pytest.mark.parametrize("name", ["C_2h", "D_3h", "C_2v"])
def test_the_line_from_a_point_of_it_with_turned_states_ends_in_the_same_cusp(name):
    """Each of the two states is recognised by itself, in an orientation of its own."""
    _, over, interval = folds(name)
    found = line(name)
    point = found.point(len(found) // 2)
    first = turned_moments(point.cosine, point.sine, rotation_about(np.array([1.0, 2.0, -2.0]) / 3.0, 0.7))
    other = turned_moments(
        point.other_cosine, point.other_sine, rotation_about(np.array([2.0, 1.0, 2.0]) / 3.0, 2.1)
    )
    turned = replace(point, cosine=first[0], sine=first[1], other_cosine=other[0], other_sine=other[1])
    again = curve(turned, over, interval)
    assert not again.warnings
    assert ends_in(again, CASES[name][-1][0])


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("group", [axial_group(1, False, 1, False), axial_group(2, False, 1, False)])
def test_the_nearest_image_of_a_turned_state_is_the_state(group, seed):
    rng = np.random.default_rng(seed)
    basis = InvariantBasis(group, np.array([2, 4, 6]), 12)
    b = rng.normal(size=basis.degrees.size)
    basis = basis.beside(b)
    cosine, sine = basis.harmonics(b)
    # The mirror through the axis at azimuth 0 changes the signs of sines.
    mirrored = sine if seed % 2 == 0 else -sine
    about = rotation_about(np.array([0.0, 0.0, 1.0]), float(rng.uniform(0.0, 6.0)))
    cosine, sine = turned_moments(cosine, mirrored, about)
    turned = basis.means(basis.moments_from(cosine, sine))
    other = np.linalg.norm(nearest(basis, turned, b) - b)
    assert np.linalg.norm(turned - b) > 0.1
    assert other <= 1e-12 * np.linalg.norm(b)


@pytest.mark.parametrize("seed", range(4))
def test_a_state_without_any_symmetry_is_turned_to_one_beside_it(seed):
    rng = np.random.default_rng(seed)
    basis = InvariantBasis(axial_group(1, False, 0, False), np.array([1, 2, 3]), 6)
    b = rng.normal(size=basis.degrees.size)
    basis = basis.beside(b)
    axis = rng.normal(size=3)
    turn = rotation_about(axis / np.linalg.norm(axis), 0.3)
    turned = basis.means(basis.moments_from(*turned_moments(*basis.harmonics(b), turn)))
    assert np.linalg.norm(turned - b) > 0.05
    assert np.linalg.norm(nearest(basis, turned, b) - b) <= 1e-12 * np.linalg.norm(b)


@pytest.mark.parametrize("seed", range(4))
def test_the_nearest_image_of_a_state_without_an_axis_on_the_circle(seed):
    """The third mode keeps its phase; thirds of a turn, halves of them and reflections are images."""
    rng = np.random.default_rng(seed)
    basis = FourierBasis(np.arange(1, 6), 16, 1, None, (0.0, np.pi / 3, 2 * np.pi / 3), 2, held_by=7)
    series = rng.normal(size=5) + 1j * rng.normal(size=5)
    series[2] = abs(series[2])
    b = np.concatenate([series.real, -series.imag])
    turned = series * np.exp(-1j * np.pi / 3.0 * int(rng.integers(1, 6)) * np.arange(1, 6))
    turned = turned.conj() if seed % 2 else turned
    moved = np.concatenate([turned.real, -turned.imag])
    assert nearest(basis, moved, b) == pytest.approx(b, abs=1e-13)


def test_rotations_about_the_axis_are_found_from_any_angle():
    group = axial_group(1, False, 1, False)
    basis = InvariantBasis(group, np.array([1, 2, 3]), 6)
    b = np.random.default_rng(7).normal(size=basis.degrees.size)
    basis = basis.beside(b)
    for order in (2, 3, 5, 7):
        moments = turned_moments(*basis.harmonics(b), axis_rotation(order))
        turned = basis.means(basis.moments_from(*moments))
        assert nearest(basis, turned, b) == pytest.approx(b, abs=1e-12)


def test_states_are_compared_by_as_many_images_where_the_confinement_vanishes_at_one_of_two_points(monkeypatch):
    # Orientations count there, and images elsewhere: of three images beside one point and the state itself at the
    # other no number would be that of the same image.
    images = np.array([[1.0, 0.0], [0.0, 1.0], [-1.0, 0.0]])
    basis = SimpleNamespace(
        degrees=np.array([1, 2]), symmetry=1, invariants=None, images_beside=lambda *_: list(images)
    )
    equation = object.__new__(TransitionEquation)
    equation.plane, equation.bases, equation.basis = SimpleNamespace(confined=True), (basis, basis), basis
    monkeypatch.setattr(TransitionEquation, "_is_oriented", lambda _, unknown, q: q == 0.0)
    unknown = np.array([0.0, 0.9, 0.3, 0.4, 0.5])
    away, at = (SimpleNamespace(unknowns_on=lambda _: (unknown, None), q=q) for q in (1.0, 0.0))
    for ends in ((away, at), (at, away)):
        for apart in equation._separations(*ends):
            np.testing.assert_allclose(apart, [-0.3, 0.5])
    for apart in equation._separations(away, away):
        np.testing.assert_allclose(apart, [0.0, -0.1])


# Couplings of points are known to this, and moments and slopes.
POINT, MOMENT, SLOPE = 1e-11, 1e-9, 1e-9


def line_of(problem, name, interval, label, **options):
    found = phase_diagram(problem, (name, interval), relative=(0.7, 1.3), examine=False, **options)
    # Of two lines of one name that which ends where its states merge.
    lines = [each for each in found.curves if each.label == label]
    return min(lines, key=lambda line: _distances(line).min())


def _distances(line):
    other = 0.0 if line.other_cosine is None else line.other_cosine[1:-1, 1:]
    return np.abs(line.cosine[1:-1, 1:] - other).max(axis=1)


class ExactPoint(NamedTuple):
    """The coupling of a point of a line, the moments of its states, and d kappa / dw by Clausius and Clapeyron."""

    coupling: float
    moments: np.ndarray
    slope: float


def exact_point(line, row, weights, place):
    """A point of a line at its value of the weight at a place, in 40 digits, on the circle or S^3.

    The zonal functions of degree l on S^3 are sin((l + 1)t)/((l + 1) sin t).
    """
    on_circle = line.problem.domain == Circle()
    with mpmath.workdps(40):
        count, degrees = 128 if on_circle else 60, [degree for degree, each in enumerate(weights, 1) if each]
        strengths = [mpmath.mpf(weights[degree - 1]) for degree in degrees]
        varied = degrees.index(place + 1)
        strengths[varied] = mpmath.mpf(float(line.values[row, 0]))
        angles = [mpmath.mpf(2 * each + 1) * mpmath.pi / (2 * count) for each in range(count)]
        masses = [mpmath.mpf(1) if on_circle else mpmath.sin(angle) ** 2 for angle in angles]
        modes = [
            [
                mpmath.cos(degree * angle)
                if on_circle
                else mpmath.sin((degree + 1) * angle) / ((degree + 1) * mpmath.sin(angle))
                for angle in angles
            ]
            for degree in degrees
        ]

        def of(moments, coupling):
            fields = [-coupling * each * moment for each, moment in zip(strengths, moments, strict=True)]
            values = [sum(f * c for f, c in zip(fields, own, strict=True)) for own in zip(*modes, strict=True)]
            parts = [mass * mpmath.exp(value) for mass, value in zip(masses, values, strict=True)]
            total = sum(parts)
            means = [sum(w * c for w, c in zip(parts, own, strict=True)) / total for own in modes]
            quadratic = sum(f * moment for f, moment in zip(fields, moments, strict=True)) / 2
            return means, quadratic - mpmath.log(total / sum(masses))

        size = len(degrees)
        uniform = line.other_cosine is None or not line.other_cosine[row, 1:].any()

        def conditions(*unknown):
            one, coupling = unknown[:size], unknown[-1]
            means, energy = of(one, coupling)
            left = [a - m for a, m in zip(one, means, strict=True)]
            if uniform:
                return [*left, energy]
            other = unknown[size:-1]
            means, rival = of(other, coupling)
            return [*left, *(a - m for a, m in zip(other, means, strict=True)), energy - rival]

        known = [*line.cosine[row, degrees]]
        known += [] if uniform else [*line.other_cosine[row, degrees]]
        known.append(line.coupling[row])
        found = mpmath.findroot(conditions, [mpmath.mpf(float(each)) for each in known], tol=1e-60)
        one, coupling = list(found[:size]), found[len(known) - 1]
        other = [mpmath.mpf(0)] * size if uniform else list(found[size : 2 * size])
        apart = [a**2 - b**2 for a, b in zip(one, other, strict=True)]
        across = sum(each * square for each, square in zip(strengths, apart, strict=True))
        return ExactPoint(
            float(coupling), np.array([one, other], dtype=float), float(-coupling * apart[varied] / across)
        )


ON_S3, ON_CIRCLE = (Sphere(4), partial(GegenbauerSeries, dimension=4)), (Circle(), CosineSeries)


@pytest.mark.skipif(np.finfo(np.longdouble).eps > 1e-18, reason="longdouble is no wider than double here")
@pytest.mark.parametrize(
    ("where", "weights", "name", "interval", "label", "apart"),
    [
        (ON_S3, (0.08, -0.7), "w1", (-0.19, -0.145), "transition prolate | zonal 1", 0.02),
        (ON_S3, (-1.0, 0.0, -1.0), "w1", (-0.45, -0.24), "transition uniform | zonal 1", 5e-3),
        # The states of the first merge where the line is steep, of the second the slope vanishes with a moment.
        (ON_CIRCLE, (-1.0, -0.5, -0.5), "w2", (-0.95, -0.8), "transition 2-cluster | 1-cluster", 0.02),
        (ON_CIRCLE, (-0.7, -1.0, 0.0, -0.9), "w1", (-0.72, -0.68), "transition uniform | 1-cluster", 1.0),
    ],
)
def test_points_beside_the_end_of_a_line_are_known_as_well_as_along_it(
    where, weights, name, interval, label, apart
):
    """Rounding of the states in double precision is there more than 1e-9 of what they differ by, or the slope."""
    domain, series = where
    line = line_of(McKeanVlasov(domain, series(weights)), name, interval, label, sections=2)
    assert _distances(line).min() < apart
    degrees = np.flatnonzero(weights) + 1
    for row in (1, 2, -3, -2):
        exact = exact_point(line, row % len(line), weights, int(name[1:]) - 1)
        assert abs(line.coupling[row] / exact.coupling - 1.0) <= POINT
        other = np.zeros(degrees.size) if line.other_cosine is None else line.other_cosine[row, degrees]
        # The first line ends where two states of amplitude a have the free energy of that between them, which a
        # state has up to a^6: their amplitude is not known better.
        assert np.abs([line.cosine[row, degrees], other] - exact.moments).max() <= MOMENT
        assert abs(line.tangent[row, 1] / line.tangent[row, 0] / exact.slope - 1.0) <= SLOPE


@pytest.mark.skipif(np.finfo(np.longdouble).eps > 1e-18, reason="longdouble is no wider than double here")
def test_points_at_which_a_mode_repels_strongly_are_known_as_well_as_others():
    # Where degree 4 attracts little, degree 2 repels by some thousand times more than it takes.
    weights = (0.0, 0.102, 0.0, -0.255)
    problem = McKeanVlasov(Sphere(4), GegenbauerSeries(weights, dimension=4))
    start = bifurcation_diagram(problem, relative=(0.5, 2.5), depth=2, rates=False).events("transition")[0]
    line = curve(start, "w4", (-0.605, 0.095))
    assert line.coupling.max() > 1e5
    for row in np.argsort(line.coupling)[-3:].tolist():
        exact = exact_point(line, row, weights, 3)
        assert abs(line.coupling[row] / exact.coupling - 1.0) <= POINT
        assert abs(line.tangent[row, 1] / line.tangent[row, 0] / exact.slope - 1.0) <= SLOPE


def test_a_point_at_which_extended_precision_does_not_converge_stays_as_it_is(monkeypatch):
    # Both states of the line end in folds there, where the matrix is singular.
    refined, found = transitions.refined, []

    def noted(*arguments):
        found.append(refined(*arguments))
        return found[-1]

    monkeypatch.setattr(transitions, "refined", noted)
    problem = McKeanVlasov(Circle(), CosineSeries((-1.0, -0.9, -0.4)))
    start = bifurcation_diagram(problem, relative=(0.6, 2.5), rates=False, depth=2).events("transition")[0]
    line = curve(start, "w2", (-1.3, -0.7), against="w3")
    assert line.first_outcome is Outcome.FOLDED
    assert sum(point is None for point in found) == 1
    assert len(found) > 10
    # Clausius and Clapeyron, with the states as they are recorded.
    squares = line.cosine[1:-1, 2:4] ** 2
    across = squares[:, 0] * line.tangent[1:-1, 0] + squares[:, 1] * line.tangent[1:-1, 1]
    assert np.abs(across / squares.max(axis=1)).max() <= SLOPE
