"""AUTO-07p on the files of curves in two parameters: folds, branch points, lines of equal free energy."""

import functools
import re
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from meanfield import (
    Circle,
    CosineSeries,
    Curve,
    External,
    GegenbauerSeries,
    HarmonicSeries,
    InvalidInput,
    Kuramoto,
    MaierSaupe,
    McKeanVlasov,
    Perceptron,
    Sphere,
    Transformer,
)
from meanfield.export.auto_curves import curve_texts
from meanfield.export.auto_directions import critical, require_one
from meanfield.export.auto_space import closed_space
from meanfield.harmonics import packed_size
from solvers import bifurcation_diagram, curve
from tests.auto_program import Point, compiled, evaluated, needs_auto, needs_compiler, run, solutions

# Eleven digits of the start, and AUTO's tolerance.
CLOSE = 1e-8


def _followed(problem, kind, parameter, interval, against=None, relative=(0.7, 1.4)):
    diagram = bifurcation_diagram(problem, relative=relative, rates=False, depth=1)
    found = curve(diagram.events(kind)[0], parameter, interval)
    return found if against is None else curve(found.point(len(found) // 2), parameter, interval, against=against)


TRANSFORMER = McKeanVlasov(Circle(), Transformer(5.0))
NEMATIC = McKeanVlasov(Sphere(3), 1.0 * MaierSaupe() + 0.5 * Kuramoto())
CLUSTERS = McKeanVlasov(Circle(), CosineSeries((-0.8, 0.0, -1.0)))


def _between_clusters():
    diagram = bifurcation_diagram(CLUSTERS, relative=(0.8, 3.0), rates=False, depth=2)
    return curve(diagram.events("transition")[0], "w1", (-0.85, -0.75))


@functools.cache
def _octahedral():
    problem = McKeanVlasov(Sphere(3), GegenbauerSeries((0, 0, 0, -1.0, 0, -0.3)))
    return bifurcation_diagram(problem, (7.5, 8.5), rates=False, depth=1)


def _without_axis(kind, over, interval):
    return curve(_octahedral().events(kind, "octahedral")[0], over, interval)


def _in_a_field():
    """A line between a state about the axis of a field and one that is not, near the tricritical point."""
    field = GegenbauerSeries((0.0, 0.1))
    problem = McKeanVlasov(Sphere(3), GegenbauerSeries((0.0, -1.0)), confinement=field)
    diagram = bifurcation_diagram(problem, (4.0, 5.2), rates=False)
    return curve(diagram.events("transition")[0], "confinement_w2", (0.01, 0.21))


def _two_angles(kind, over, interval):
    """Curves in a field of quadrupoles and of a neuron that no rotation keeps."""
    field = HarmonicSeries(cosine=(0.0, 0.0, 0.0, 0.02, 0.0, 0.03)) + Perceptron((0.02,), (1.2,), "tanh", (0.7,))
    diagram = bifurcation_diagram(McKeanVlasov(Sphere(3), MaierSaupe(), confinement=field), (6.2, 7.2), rates=False)
    return curve(diagram.events(kind)[0], over, interval)


def _uneven(kind):
    """Curves of a state on the circle that leaves an axis of its field between two tricritical points."""
    field = External.from_expression("h*(0.111*cos(3*(t + 0.7)) - 0.192*cos(6*(t + 0.7)))", h=1.0)
    problem = McKeanVlasov(Circle(), CosineSeries((-0.62, -1.0)), confinement=field)
    diagram = bifurcation_diagram(problem, (2.3, 2.5), rates=False)
    (start,) = [event for event in diagram.events("fold") if "uneven" in diagram.branches[event.branch].label]
    folds = curve(start, "w1", (-0.77, 0.035))
    return folds if kind == "fold" else curve(folds.special_points[-1], "w1", (-0.77, 0.035), type=kind)


def _free(kind):
    """Curves of a state on the circle without an axis that no confinement holds, beside their tricritical point."""
    problem = McKeanVlasov(Circle(), CosineSeries((-0.75, -0.639, -0.715, -1.007, -0.901)))
    diagram = bifurcation_diagram(problem, (0.8, 3.0), rates=False)
    (start,) = [event for event in diagram.events("fold") if "uneven" in diagram.branches[event.branch].label]
    if kind == "transition":
        folds = curve(start, "w1", (-0.8, -0.7))
        line = curve(folds.special_points[0], "w1", (-0.8, -0.7), type=kind)
        start = line.point(int(np.argmin(np.abs(line.first + 0.73))))
    return curve(start, "w1", (-0.77, -0.6))


@functools.cache
def _turning():
    problem = McKeanVlasov(Sphere(3), GegenbauerSeries((-1.092, -3.691, -2.427, -4.307)))
    return bifurcation_diagram(problem, (1.79, 1.86), rates=False, search=True)


def _free_on_sphere(kind, group):
    """Curves of states on S^2 that may be turned: about the axis of their group, or about any."""
    start = next(
        event
        for event in _turning().events(kind)
        if _turning().branches[event.branch].label.startswith(f"{group} ")
    )
    return curve(start, "w2", (-3.75, -3.6))


def _branch_points(label, over="w6", interval=(-0.4, -0.2), place=0):
    """Those of a state that is octahedral, or about an axis, of which states without one are born."""
    return curve(_octahedral().events("branch point", label)[place], over, interval)


def _about_oblate(order, weights, over):
    """Branch points in an azimuthal order."""
    problem = McKeanVlasov(Sphere(3), GegenbauerSeries(weights))
    events = bifurcation_diagram(problem, relative=(0.6, 1.6), rates=False).events("branch point", "oblate")
    (start,) = [event for event in events if event.description.endswith(f"azimuthal order {order}")]
    return curve(start, "w1", over)


def _losing_a_mirror():
    """Branch points of a state on the circle in sines, which its own moments have not."""
    problem = McKeanVlasov(Circle(), CosineSeries((-0.75, -0.639, -0.715, -1.007, -0.901)))
    diagram = bifurcation_diagram(problem, (2.5, 3.0), rates=False)
    starts = [event for event in diagram.events("branch point") if "sine modes of class 0" in event.description]
    return curve(starts[0], "w1", (-0.77, -0.6))


def _polar_in_two_angles():
    """Branch points at which states in a field of quadrupoles lose a mirror."""
    field = HarmonicSeries(cosine=(0.0, 0.0, 0.0, 0.04, 0.0, 0.06))
    problem = McKeanVlasov(Sphere(3), GegenbauerSeries((-1.0, -1.3)), confinement=field)
    diagram = bifurcation_diagram(problem, (2.0, 3.2), rates=False, depth=1)
    return curve(diagram.events("branch point")[0], "confinement_cosine_2_0", (0.02, 0.06))


def _beside_a_kink(over, interval):
    """The sharpest folds in the field of neurons whose activation has a kink."""
    neurons = McKeanVlasov(Circle(), Transformer(4.0), confinement=Perceptron((1.0,), (0.0,), "relu"))
    diagram = bifurcation_diagram(neurons, (0.5, 2.0), rates=False, search=True)
    return curve(diagram.events("fold")[0], over, interval)


CURVES = {
    "fold": lambda: _followed(TRANSFORMER, "fold", "beta", (2.6, 9.0)),
    "fold in coefficients": lambda: _followed(
        McKeanVlasov(Circle(), CosineSeries((-1.0, -0.4, -0.62))), "fold", "w3", (-0.9, -0.3)
    ),
    "fold at one coupling": lambda: _followed(TRANSFORMER, "fold", "beta", (4.0, 6.0), "noise"),
    "fold on the sphere": lambda: _followed(NEMATIC, "fold", "kuramoto_factor", (0.3, 0.8)),
    "fold without an axis": lambda: _without_axis("fold", "w6", (-0.4, -0.2)),
    "line without an axis": lambda: _without_axis("transition", "w6", (-0.4, -0.2)),
    "line in a field": _in_a_field,
    "fold beside a kink": lambda: _beside_a_kink("beta", (3.0, 5.0)),
    "fold beside a kink, over the noise": lambda: _beside_a_kink("noise", (0.9, 1.2)),
    "fold beside a kink, over a weight": lambda: _beside_a_kink("confinement_weights1", (0.8, 1.3)),
    "fold in a field of two angles": lambda: _two_angles("fold", "confinement_azimuths1", (0.5, 0.9)),
    "line in a field of two angles": lambda: _two_angles(
        "transition", "confinement_harmonic_series_factor", (0.6, 1.05)
    ),
    "uneven fold": lambda: _uneven("fold"),
    "uneven line": lambda: _uneven("transition"),
    "uneven fold without a field": lambda: _free("fold"),
    "uneven line without a field": lambda: _free("transition"),
    "fold without a mirror on the sphere": lambda: _free_on_sphere("fold", "C_2"),
    "line without a symmetry on the sphere": lambda: _free_on_sphere("transition", "C_1"),
    "branch point without an axis": lambda: _branch_points("octahedral"),
    "branch point of a lost axis": lambda: _branch_points("zonal 4+"),
    "branch point of a lost axis that may be turned": lambda: _about_oblate(
        1, (-0.64, -1.911, -0.182), (-0.93, -0.186)
    ),
    "branch point at one coupling": lambda: _about_oblate(4, (-0.4, -1.0, 0.2, -0.8), (-0.5, -0.3)),
    "branch point without a mirror on the sphere": lambda: _free_on_sphere("branch point", "C_s"),
    "branch point in a field of two angles": _polar_in_two_angles,
    "branch point of a lost mirror on the circle": _losing_a_mirror,
    "threshold": lambda: _followed(TRANSFORMER, "branch point", "beta", (2.6, 9.0)),
    "line": lambda: _followed(TRANSFORMER, "transition", "beta", (2.6, 9.0)),
    "line between clusters": _between_clusters,
    "fold in a table": lambda: _followed(
        McKeanVlasov(Circle(), Kuramoto() + Transformer(5.0)), "fold", "beta", (4.0, 6.0)
    ),
}


@dataclass
class Files:
    """A curve, its files and AUTO with its equations."""

    curve: Curve
    folder: Path

    def run(self, folder: Path, **constants: object) -> list[Point]:
        return run(compiled(self.folder / "curve.f90", self.folder), self.folder, "curve", folder, **constants)[0]

    @property
    def quarter(self) -> tuple[int, int]:
        """The place among labels behind a quarter of them, not at an end, and that among the points."""
        rows = [line.split()[:4] for line in (self.folder / "b.curve").read_text().splitlines()]
        labels = [(int(row[3]) - 1, int(row[1]) - 1) for row in rows if row[0] != "0" and row[3] != "0"]
        return labels[max(1, len(labels) // 4)]

    @property
    def numbers(self) -> list[int]:
        others = [name for name in self.curve.parameters if name not in ("coupling", "noise")]
        places = {"coupling": 0, "noise": 1} | {name: place for place, name in enumerate(others, start=2)}
        return [places[name] for name in self.curve.parameters]


@pytest.fixture(scope="module", params=CURVES)
def files(request, tmp_path_factory) -> Files:
    folder = tmp_path_factory.mktemp("curve")
    found = CURVES[request.param]()
    found.to_auto(folder / "curve.auto")
    return Files(found, folder)


@needs_auto
def test_auto_goes_along_our_curve_both_ways(files, tmp_path):
    label, place = files.quarter
    start = solutions(files.folder / "s.curve")[label]
    low, high = files.curve.interval
    first, second = files.numbers
    for sign in (1, -1):
        size = 0.02 * (high - low)
        steps = {"DS": sign * size, "DSMIN": 1e-6, "DSMAX": size, "NMX": 4, "NPR": 1, "IRS": start.label}
        found = files.run(tmp_path / str(sign), **steps)
        assert len(found) == 4
        assert abs(found[-1].parameters[first] - start.parameters[first]) > 0.5 * size
        theirs = float(found[-1].parameters[first])
        # Ours, computed anew to the place that AUTO reached.
        ends = sorted([theirs, files.curve.first[place]])
        name, other = files.curve.parameters
        ours = curve(files.curve.point(place), name, (ends[0], ends[1]), against=other)
        end = int(np.argmin(np.abs(ours.first - theirs)))
        assert ours.first[end] == theirs
        assert found[-1].parameters[second] == pytest.approx(ours.second[end], rel=CLOSE)


@needs_auto
def test_auto_goes_through_our_cusp_to_the_other_fold(tmp_path):
    found = CURVES["fold in coefficients"]()
    (cusp,) = found.special_points
    found.to_auto(tmp_path / "curve.auto")
    files = Files(found, tmp_path)
    # Small steps: near a cusp both curves are close to each other.
    steps = {"DSMIN": 1e-6, "DSMAX": 0.02, "DS": 0.02, "NMX": 200, "NPR": 0, "IRS": 1}
    points = files.run(tmp_path / "run", **steps)
    # AUTO finds it as a cusp, -22, as a fold in the first parameter, 22, or both, to its tolerance.
    theirs = [point.parameters[[2, 0]] for point in points if abs(point.type) == 22]
    assert theirs
    for place in theirs:
        assert place == pytest.approx(cusp.values, abs=1e-7)
    end, coupling = points[-1].parameters[[2, 0]].tolist()
    assert end < -0.9
    # That is beyond our last point, where the fold is another than at the first, from which AUTO started.
    ours = curve(found.point(-1), "w3", (end, found.first[-1]))
    assert coupling == pytest.approx(ours.coupling[np.argmin(ours.first)], rel=CLOSE)
    assert abs(coupling / found.coupling[0] - 1) > 1e-3


@needs_auto
def test_auto_goes_along_curves_of_states_with_and_without_an_axis_in_one_file(tmp_path):
    """All start from the unknowns that they need, of which those about the axis are the first."""
    curves = [
        _branch_points("zonal 4+"),
        _branch_points("octahedral"),
        CURVES["fold without an axis"](),
        CURVES["line without an axis"](),
    ]
    names = ("b.curve", "s.curve", "c.curve", "curve.f90", "d.curve")
    for name, text in zip(names, curve_texts(curves), strict=True):
        (tmp_path / name).write_text(text)
    program, labelled = compiled(tmp_path / "curve.f90", tmp_path), solutions(tmp_path / "s.curve")
    rows = [line.split()[:4] for line in (tmp_path / "b.curve").read_text().splitlines()]
    for number, found in enumerate(curves):
        own = [(int(row[3]), int(row[1]) - 1) for row in rows if row[0] == str(number + 1) and row[3] != "0"]
        label, place = next((label, point) for label, point in own[1:] if not found.point_labels[point])
        start = labelled[label - 1]
        kind = {"ISW": 1, "ICP": "[3]"} if found.type == "transition" else {"ISW": 2, "ICP": "[3, 1]"}
        steps = {"DS": 0.004, "DSMIN": 1e-6, "DSMAX": 0.004, "NMX": 4, "NPR": 1, "IRS": label}
        constants = {"NDIM": start.unknowns.size, **kind, **steps}
        reached = run(program, tmp_path, "curve", tmp_path / str(number), **constants)[0][-1].parameters
        assert abs(reached[2] - start.parameters[2]) > 0.005
        ends = sorted([float(reached[2]), float(found.first[place])])
        ours = curve(found.point(place), "w6", (ends[0], ends[1]))
        end = int(np.argmin(np.abs(ours.first - reached[2])))
        assert reached[0] == pytest.approx(ours.second[end], rel=CLOSE)


def test_unknowns_hold_one_critical_direction():
    """Those of the states alone hold none, and all harmonics as many as the symmetries make of one."""
    found = _branch_points("octahedral")
    pairs, corner = [(found.cosine, found.sine)], found.problem
    own = closed_space([corner], pairs, 6)
    with pytest.raises(InvalidInput, match="none of 2 are"):
        require_one(found, own.dimension, 6, own)
    random = np.random.default_rng(1).normal(size=(2, 1, packed_size(6)))
    whole = closed_space([corner], [*pairs, tuple(random)], 6)
    with pytest.raises(InvalidInput, match="2 of 24 are"):
        require_one(found, whole.dimension, 6, whole)
    direction = critical(found, 6, 6).direction
    space = closed_space([corner], [*pairs, direction], 6)
    assert space.names() == ["c_4_0", "c_4_4", "c_6_0", "c_6_4"]
    require_one(found, space.dimension, 6, space)


def test_branch_points_that_auto_cannot_hold_are_refused():
    problem = McKeanVlasov(Sphere(4), GegenbauerSeries((-0.4, -1.0, 0.2, -0.8), 4))
    events = bifurcation_diagram(problem, relative=(0.6, 1.6), rates=False).events("branch point", "oblate")
    (start,) = [event for event in events if event.description.endswith("azimuthal order 1")]
    found = curve(start, "w1", (-0.5, -0.3))
    with pytest.raises(InvalidInput, match="none among the modes that AUTO files hold"):
        curve_texts([found])
    # Beside others, as of a phase diagram, they are not lost: AUTO draws them, and goes on from the others.
    diagram = bifurcation_diagram(problem, relative=(0.6, 1.6), rates=False)
    (threshold, *_), (prolate,) = (diagram.events("branch point", label) for label in ("uniform", "prolate"))
    others = [curve(event, "w1", (-0.5, -0.3)) for event in (threshold, prolate)]
    assert drawn([*others, found]) == [False, False, True]


def drawn(curves):
    """Return of which curves of a file AUTO does not go on, as it says."""
    *_, described = curve_texts(curves)
    return ["does not go on" in line for line in described.splitlines() if line.startswith("branch ")]


def test_unknowns_of_a_file_hold_the_directions_of_all_curves_that_they_can():
    # The prolate state is even, and its critical direction odd about its axis: moments of states do not have it.
    problem = McKeanVlasov(Sphere(3), GegenbauerSeries((-0.64, -1.911, -0.182, -1.5)))
    events = bifurcation_diagram(problem, relative=(0.6, 1.6), rates=False).events("branch point")
    _, prolate, oblate, other, cubic = (curve(event, "w1", (-0.8, -0.5)) for event in events)
    assert drawn([prolate, cubic]) == drawn([prolate, oblate]) == [False, False]
    # Of two in one file that need different orders about the axis neither has a direction of its own.
    assert drawn([prolate, oblate, other, cubic]) == [False, True, True, False]


@needs_compiler
@pytest.mark.parametrize(
    "name",
    [
        "line",
        "line between clusters",
        "fold at one coupling",
        "line without an axis",
        "line in a field",
        "fold in a field of two angles",
        "line in a field of two angles",
        "uneven line",
    ],
)
def test_derivatives_of_the_equations_file(name, tmp_path):
    """By central differences of its own equations, at points off the curve."""
    found = CURVES[name]()
    found.to_auto(tmp_path / "curve.auto")
    driver = compiled(tmp_path / "curve.f90", tmp_path / "driver", driver=True)
    point = solutions(tmp_path / "s.curve")[2]
    size, count = point.unknowns.size, int((tmp_path / "s.curve").read_text().split()[11])
    bend = np.append(0.01 * np.cos(np.arange(size - 1)) / (1 + np.arange(size - 1)) ** 2, 0.01)
    start = np.concatenate([point.parameters[:count], point.unknowns + bend])
    step = 1e-6 * np.eye(start.size)
    rows = np.vstack([start, start + step, start - step])
    values = evaluated(driver, rows[:, :count], rows[:, count:])
    residuals = np.array([each[0] for each in values[1:]])
    differences = (residuals[: start.size] - residuals[start.size :]).T / 2e-6
    _, slopes, in_parameters = values[0]
    if found.type == "transition":
        # There the coupling is the last unknown.
        in_parameters[:, 0] = 0.0
    wrong = np.hstack([in_parameters, slopes]) - differences
    assert np.abs(wrong).max() < max(1e-8, _rounding(tmp_path / "curve.f90", found)) * max(
        1.0, np.abs(slopes).max()
    )


def _rounding(model, found):
    """What the differences lose: sums over the nodes, of the size of the coupling, over the step."""
    text = model.read_text()
    resolved, around = (int(re.search(rf"{name} = (\d+)", text)[1]) for name in ("RESOLVED", "AROUND"))
    return np.finfo(float).eps * np.sqrt((2 * resolved + 36) * around) * found.coupling.max() / 1e-6
