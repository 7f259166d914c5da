"""AUTO-07p on the files of diagrams: restarts, branch switching, folds, and the equations file."""

import shutil
import subprocess
import sys
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path

import numpy as np
import pytest

from meanfield import (
    Circle,
    CosineSeries,
    Diagram,
    InvalidInput,
    Kuramoto,
    McKeanVlasov,
    Outcome,
    Potential,
    Sphere,
    Transformer,
    open_diagram,
)
from meanfield.export.auto import TYPE_CODES
from solvers import bifurcation_diagram
from tests import problems
from tests.auto_program import AUTO, Point, compiled, evaluated, needs_auto, needs_compiler, run, solutions

PROBLEMS = {
    "transformer": (problems.TRANSFORMER.problem, "coupling", (0.1, 0.6)),
    "confined": (
        McKeanVlasov(Circle(), Kuramoto(), noise=0.7, confinement=CosineSeries((0.1, 0.5))),
        "coupling",
        (0.0, 4.0),
    ),
    "uneven": (problems.UNEVEN.problem, "coupling", (0.5, 6.0)),
    "in beta": (McKeanVlasov(Circle(), Transformer(5.0), coupling=0.2), "beta", (3.0, 7.0)),
    "in the noise": (McKeanVlasov(Circle(), Transformer(5.0), coupling=0.2), "noise", (0.6, 1.2)),
    "in a table": (McKeanVlasov(Sphere(3), Kuramoto() + 0.5 * Transformer(2.0), coupling=1.6), "beta", (0.5, 4.0)),
}
# Eleven digits of the state and the coupling, and AUTO's own tolerance below.
SOLVED = 1e-9
# Off the polyline through the points of a branch, which cuts the corners of curves.
NEAR = 1e-2
STEPS = {"NMX": 12, "NPR": 1, "DS": 0.02, "DSMIN": 1e-6, "DSMAX": 0.05, "RL0": -100.0, "RL1": 100.0}


@cache
def nodes(domain: Circle | Sphere, n: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Angles, weights and the cosines and sines, or the Legendre polynomials, of degrees 1 to n there."""
    if domain == Circle():
        count = 4 * max(n, 80) + 101
        angles = 2 * np.pi * np.arange(count) / count
        waves = np.vstack([trig(np.outer(np.arange(1, n + 1), angles)) for trig in (np.cos, np.sin)])
        return angles, np.ones(count), waves
    places, weights = np.polynomial.legendre.leggauss(100)
    return np.arccos(places), weights, np.polynomial.legendre.legvander(places, n).T[1:]


@cache
def multipliers(potential: Potential, domain: Circle | Sphere, n: int) -> np.ndarray:
    return potential.multipliers(domain, n)[1:]


@dataclass
class Files:
    """The exported files of a diagram and what the test itself knows of the equation."""

    diagram: Diagram
    folder: Path

    @property
    def solutions(self) -> list[Point]:
        return solutions(self.folder / "s.diagram")

    @property
    def number(self) -> int:
        """The place among PAR of what varies."""
        return {"coupling": 0, "noise": 1}.get(self.diagram.parameter, 2)

    @cached_property
    def tabulated(self) -> bool:
        return "TABULATED('" in (self.folder / "diagram.f90").read_text()

    @cached_property
    def sines(self) -> bool:
        return any(np.any(branch.sine) for branch in self.diagram.branches)

    def means(self, unknowns: np.ndarray, parameters: np.ndarray) -> np.ndarray:
        """Means of cosines (and sines), or of Legendre polynomials, over the Gibbs density, of complex numbers too."""
        problem, (coupling, noise) = self.diagram.problem, parameters[:2]
        if "beta" in problem.parameters:
            problem = problem.with_parameter("beta", float(np.real(parameters[2])))
        n = unknowns.size // 2 if self.sines else unknowns.size
        angles, weights, waves = nodes(problem.domain, n)
        waves, w = waves[: unknowns.size], multipliers(problem.potential, problem.domain, n)
        field = coupling * ((np.resize(w, unknowns.size) * unknowns) @ waves)
        if problem.confinement is not None:
            field = field + problem.confinement.values(angles)
        weights = weights * np.exp((field.real.min() - field) / noise)
        return waves @ weights / weights.sum()

    def defect(self, point: Point) -> float:
        return float(np.abs(self.means(point.unknowns, point.parameters) - point.unknowns).max())

    def jacobian(self, point: Point) -> np.ndarray:
        """Derivatives of means - U in U, PAR(1) and PAR(2) by complex steps, in PAR(3) by central differences."""
        step, size = 1e-30, point.unknowns.size
        arguments = np.concatenate([point.unknowns, point.parameters])
        columns = []
        for index in range(size + 2):
            moved = arguments.astype(complex)
            moved[index] += 1j * step
            columns.append((self.means(moved[:size], moved[size:]) - moved[:size]).imag / step)
        for index in range(size + 2, arguments.size):
            ends = [arguments.copy(), arguments.copy()]
            for end, distance in zip(ends, (1e-5, -1e-5), strict=True):
                end[index] += distance
            columns.append(
                (self.means(ends[0][:size], ends[0][size:]) - self.means(ends[1][:size], ends[1][size:])) / 2e-5
            )
        return np.column_stack(columns)


@pytest.fixture(scope="module", params=PROBLEMS)
def files(request, tmp_path_factory) -> Files:
    problem, parameter, interval = PROBLEMS[request.param]
    folder = tmp_path_factory.mktemp("files")
    diagram = bifurcation_diagram(problem, interval, parameter=parameter, rates=False)
    diagram.to_auto(folder / "b.diagram")
    return Files(diagram, folder)


@pytest.fixture(scope="module")
def program(files) -> Path:
    return compiled(files.folder / "diagram.f90", files.folder)


@pytest.fixture(scope="module")
def transformer(tmp_path_factory) -> tuple[Files, Path]:
    problem, _, interval = PROBLEMS["transformer"]
    folder = tmp_path_factory.mktemp("fold")
    diagram = bifurcation_diagram(problem, interval, rates=False)
    diagram.to_auto(folder / "b.diagram")
    return Files(diagram, folder), compiled(folder / "diagram.f90", folder)


@needs_compiler
def test_the_equations_file_has_our_equation_and_its_derivatives(files):
    points = files.solutions
    size = points[0].unknowns.size
    bend = 0.01 * np.cos(np.arange(size)) / (1 + np.arange(size)) ** 2
    points += [Point(0, 0, point.unknowns + bend, point.parameters) for point in points[::4]]
    driver = compiled(files.folder / "diagram.f90", files.folder / "driver", driver=True)
    values = evaluated(
        driver, np.array([point.parameters for point in points]), np.array([point.unknowns for point in points])
    )
    rotates = files.sines and files.diagram.problem.confinement is None
    for point, (residual, slopes, in_parameters) in zip(points, values, strict=True):
        assert np.abs(residual - (files.means(point.unknowns, point.parameters) - point.unknowns)).max() < 1e-13
        if point.label:
            assert np.abs(residual).max() < SOLVED
        if point.label % 4:
            continue
        derivative = np.hstack([slopes, in_parameters])
        wrong = derivative - files.jacobian(point)
        if rotates and np.abs(point.unknowns).max() > 1e-6:
            degrees = np.arange(1, size // 2 + 1)
            cosine, sine = np.split(point.unknowns, 2)
            turn = np.concatenate([-degrees * sine, degrees * cosine])
            # The rotation is mapped to its opposite, and Newton's steps are across it: residuals have no component
            # along the left null vector of the derivatives without what was added, at any U.
            added = wrong[:, :size]
            _, singular, rows = np.linalg.svd(added)
            assert singular[1] < 1e-9 * singular[0]
            assert np.abs(added @ turn + turn).max() < 1e-9 * np.abs(turn).max()
            assert abs(abs(rows[0] @ turn) - np.linalg.norm(turn)) < 1e-9 * np.linalg.norm(turn)
            problem = files.diagram.problem
            weights = problem.potential.multipliers(problem.domain, size // 2)[1:].astype(float)
            assert abs(np.tile(weights, 2) * turn @ residual) < 1e-12
            wrong = wrong[:, size:]
        scale = max(1.0, np.abs(derivative).max())
        by_differences = wrong.shape[1] - (point.parameters.size - 2)
        assert np.abs(wrong[:, :by_differences]).max() < 1e-12 * scale
        # Truncation and rounding of differences over 1e-5.
        assert np.abs(wrong[:, by_differences:]).max(initial=0.0) < 1e-8 * scale


def auto(program: Path, files: Files, folder: Path, **constants: object) -> tuple[list[Point], str]:
    if files.tabulated:
        low, high = files.diagram.interval
        constants = {"RL0": low, "RL1": high} | constants
    return run(program, files.folder, "diagram", folder, **(STEPS | constants))


def complete(found: list[Point], files: Files) -> bool:
    """Whether AUTO made all steps, or came to the end of a table."""
    return len(found) == STEPS["NMX"] or (files.tabulated and len(within(found, files)) < len(found))


def moduli(cosine: np.ndarray, sine: np.ndarray) -> np.ndarray:
    """The first four amplitudes, which no rotation or reflection changes."""
    return np.hypot(cosine, sine)[..., 1:5]


def distance(point: Point, files: Files, branch: int) -> float:
    """From a point to the polyline of a branch, in amplitudes and coupling over its largest."""
    of = files.diagram.branches[branch]
    largest = np.abs(files.diagram.interval).max()
    knots = np.column_stack([of.values / largest, moduli(of.cosine, of.sine)])
    parts = point.unknowns.reshape(2, -1) if files.sines else np.stack([point.unknowns, 0 * point.unknowns])
    here = np.concatenate([[point.parameters[files.number] / largest], np.hypot(*parts)[:4]])
    edges = np.diff(knots, axis=0)
    share = np.clip(np.sum((here - knots[:-1]) * edges, axis=1) / np.sum(edges**2, axis=1), 0, 1)
    return float(np.linalg.norm(knots[:-1] + share[:, np.newaxis] * edges - here, axis=1).min())


def labelled(files: Files) -> list[tuple[Point, int, int]]:
    """Points of the s. file with their branch and their place on it."""
    places = [
        (index, at)
        for index, branch in enumerate(files.diagram.branches)
        for at in range(len(branch))
        if branch.point_labels[at]
    ]
    return [(point, *place) for point, place in zip(files.solutions, places, strict=True)]


def within(points: list[Point], files: Files) -> list[Point]:
    low, high = files.diagram.interval
    return [point for point in points if low <= point.parameters[files.number] <= high]


@needs_auto
def test_auto_continues_the_branch_from_every_label(files, program, tmp_path):
    # With sines there are ten times as many unknowns, and a third of the labels is enough.
    for point, branch, at in labelled(files)[:: 3 if files.sines else 1]:
        for step in (0.02, -0.02):
            found, _ = auto(program, files, tmp_path / f"{point.label}{step}", IRS=point.label, DS=step)
            assert complete(found, files)
            assert max(map(files.defect, found)) < SOLVED
            inside = within(found, files)
            assert inside
            # An end on another branch is a branch point, where a direction along either may be followed.
            joins = at and files.diagram.branches[branch].outcome is Outcome.JOINED_BRANCH
            assert joins or all(distance(one, files, branch) < NEAR for one in inside)


@needs_auto
def test_auto_switches_branches_at_every_branch_point(files, program, tmp_path):
    branches, events = files.diagram.branches, files.diagram.special_points
    births = {
        index: (events[branch.parent].branch, events[branch.parent].point)
        for index, branch in enumerate(branches)
        if branch.parent is not None
    }
    assert births
    for point, branch, at in labelled(files):
        if point.type != TYPE_CODES["BP"]:
            continue
        if at:
            expected = {child for child, place in births.items() if place == (branch, at)}
        else:
            expected = {births[branch][0]}
        assert expected
        for step in (0.02, -0.02):
            found, _ = auto(program, files, tmp_path / f"{point.label}{step}", IRS=point.label, ISW=-1, DS=step)
            assert complete(found, files)
            assert max(map(files.defect, found)) < SOLVED
            inside = within(found, files)
            assert len(inside) > 1
            assert any(all(distance(one, files, other) < NEAR for one in inside) for other in expected)
            assert any(distance(one, files, branch) > 2 * NEAR for one in inside)


@needs_auto
def test_auto_finds_our_fold_and_counts_our_stability(transformer, tmp_path):
    transformer, program = transformer
    (first, *_) = transformer.diagram.events("branch point")
    (fold,) = transformer.diagram.events("fold")
    found, text = auto(program, transformer, tmp_path, IRS=2, ISW=-1, NMX=120, NPR=0, DS=0.05, DSMAX=0.1, RL1=0.4)
    (theirs,) = (point for point in found if point.type == TYPE_CODES["LP"])
    assert theirs.parameters[0] == pytest.approx(fold.coupling, rel=1e-9)
    rows = [line.split() for line in text.splitlines() if line[:4] != "   0"]
    couplings, stable = np.array([float(row[4]) for row in rows]), np.array([row[1][0] == "-" for row in rows])
    turn = int(np.argmin(couplings))
    assert couplings[0] == pytest.approx(first.coupling, rel=1e-9)
    # AUTO gives a special point the stability of the point before.
    assert not stable[: turn + 1].any()
    assert stable[turn + 2 :].all()


@needs_auto
def test_auto_follows_fold_and_branch_point_in_coupling_and_noise(transformer, tmp_path):
    """States depend on coupling/noise only, so both are straight lines."""
    files, program = transformer
    for label, event in (
        (2, files.diagram.events("branch point")[0]),
        (7, files.diagram.events("fold")[0]),
    ):
        folder = tmp_path / str(label)
        found, _ = auto(program, files, folder, IRS=label, ISW=2, ICP=[1, 2], NMX=5, DSMAX=0.1)
        assert len(found) == 5
        coupling, noise = np.array([point.parameters[:2] for point in found]).T
        assert np.ptp(noise) > 0.1
        assert coupling / noise == pytest.approx(event.coupling, rel=1e-9)
        for name in ("b", "s"):
            (folder / f"fort.{7 if name == 'b' else 8}").rename(folder / f"{name}.two")
        with pytest.raises(InvalidInput, match=r"b\.two has curves in 2 parameters, 1 and 2"):
            open_diagram(folder / "b.two", problem=files.diagram.problem)


@needs_auto
def test_fewer_unknowns_suffice_and_all_do(transformer, tmp_path):
    files, program = transformer
    for size in (24, files.solutions[0].unknowns.size):
        found, _ = auto(program, files, tmp_path / str(size), IRS=2, ISW=-1, NDIM=size, NMX=6)
        assert len(found) == 6
        for point in found:
            assert point.unknowns.size == size
            assert files.defect(point) < SOLVED


@needs_auto
def test_import_of_what_auto_wrote(transformer, tmp_path):
    """All branches in one file, without header blocks between them, and the noise in a column of its own."""
    transformer, program = transformer
    limits = {"DS": 0.01, "RL0": 0.05, "RL1": 0.4, "NMX": 120, "NPR": 20, "EPSS": 1e-5}
    _, text = auto(program, transformer, tmp_path, IRS=1, ICP=[1, 2], MXBF=2, **limits)
    for name, number in (("b", 7), ("s", 8)):
        (tmp_path / f"fort.{number}").rename(tmp_path / f"{name}.own")
    own = open_diagram(tmp_path / "b.own", problem=transformer.diagram.problem)
    assert text.count(" PT ") == len(own.branches) == 5
    assert own.branches[0].label == "uniform"
    for branch in own.branches[1:]:
        assert np.nanmax(np.abs(branch.cosine[:, 6])) < np.nanmax(np.abs(branch.cosine[:, 1:5]))
    folds = [event.coupling for event in own.events("fold")]
    (fold,) = transformer.diagram.events("fold")
    assert folds == pytest.approx([fold.coupling] * 2, rel=1e-8)
    assert any("AUTO found" in warning for warning in own.warnings)


READER = """
import sys
# Version 0.9.2 of the reader does not know numpy of today, and does without.
sys.modules["numpy"] = sys.modules["matplotlib"] = None
sys.path.insert(0, sys.argv[1])
from auto import AUTOCommands
diagram = AUTOCommands.loadbd("diagram")
AUTOCommands.save(diagram, "again")
print("RESULT")
for branch in diagram:
    constants = branch.c
    print(branch["BR"], len(branch), ",".join(branch.coordnames), ",".join(map(str, branch.stability())),
          constants["NDIM"], constants["RL0"], constants["RL1"], constants["ICP"][0])
for solution in diagram():
    numbers = [*solution.PAR.toarray(), *solution["rldot"], *(row[0] for row in solution["udotps"].coordarray)]
    print("LAB", solution["LAB"], solution["TY"], solution["BR"], *(repr(float(x)) for x in numbers))
"""


@pytest.mark.skipif(AUTO is None, reason="no AUTO-07p in AUTO_DIR or /usr/lib/auto-07p")
def test_the_python_reader_of_auto_reads_all_of_it(files, tmp_path):
    for name in "bsd":
        shutil.copy(files.folder / f"{name}.diagram", tmp_path)
    command = [sys.executable, "-I", "-W", "ignore", "-c", READER, str(AUTO / "python")]
    run = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True, timeout=300)
    for name in "bsd":
        assert (tmp_path / f"{name}.again").read_text() == (tmp_path / f"{name}.diagram").read_text()
    rows = [line.split() for line in run.stdout.partition("RESULT\n")[2].splitlines()]
    low, high = files.diagram.interval
    branches = [row for row in rows if row[0] != "LAB"]
    for index, (row, branch) in enumerate(zip(branches, files.diagram.branches, strict=True)):
        assert (int(row[0]), int(row[1])) == (index + 1, len(branch))
        assert row[2].split(",")[:3] == [f"PAR({files.number + 1})", "L2-NORM", "U(1)"]
        ends = [int(end) for end in row[3].split(",")]
        marks = np.repeat(np.sign(ends), np.diff([0, *map(abs, ends)]))
        assert np.array_equal(marks < 0, branch.unstable == 0)
        assert int(row[4]) == files.solutions[0].unknowns.size
        assert float(row[5]) <= low
        assert float(row[6]) >= high
        assert int(row[7]) == files.number + 1
    types = {1: "BP", 2: "LP", 4: "RG", 9: "EP"}
    labels = [row[1:] for row in rows if row[0] == "LAB"]
    for row, (point, index, at) in zip(labels, labelled(files), strict=True):
        assert row[:3] == [str(point.label), types[point.type], str(index + 1)]
        numbers = np.array(row[3:], dtype=float)
        branch = files.diagram.branches[index]
        count = point.parameters.size
        assert numbers[:count] == pytest.approx(point.parameters, rel=1e-15)
        assert numbers[files.number] == pytest.approx(branch.values[at], rel=1e-10)
        assert np.linalg.norm(numbers[count:]) == pytest.approx(1, rel=1e-9)
        slope = branch.tangent_values[at] / np.linalg.norm(
            [branch.tangent_values[at], *branch.tangent_cosine[at, 1:], *branch.tangent_sine[at, 1:]]
        )
        assert numbers[count] == pytest.approx(slope, rel=1e-9, abs=1e-16)
