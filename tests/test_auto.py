"""AUTO-07p and the model file of the documentation on files that we write.

AUTO is looked for in AUTO_DIR and where Debian's package auto-07p puts it, and driven as its own commands drive it: the
model linked with its objects, constants in fort.2, the solutions in fort.3. Without gfortran or AUTO tests are skipped.
"""

import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
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
    open_diagram,
)
from meanfield.export.auto import TYPE_CODES
from solvers import bifurcation_diagram
from tests import problems

DOCUMENT = Path(__file__).parent.parent / "docs" / "files.md"
COMPILER = shutil.which("gfortran")
PLACES = [Path(place) for place in (os.environ.get("AUTO_DIR"), "/usr/lib/auto-07p") if place]
AUTO = next((place for place in PLACES if (place / "lib" / "main.o").is_file()), None)

needs_compiler = pytest.mark.skipif(COMPILER is None, reason="no gfortran to compile the model file with")
needs_auto = pytest.mark.skipif(
    AUTO is None or COMPILER is None,
    reason="no AUTO-07p with its objects, in AUTO_DIR or /usr/lib/auto-07p, or no gfortran to link it with",
)

PROBLEMS = {
    "transformer": (problems.TRANSFORMER.problem, (0.1, 0.6)),
    "confined": (McKeanVlasov(Circle(), Kuramoto(), noise=0.7, confinement=CosineSeries((0.1, 0.5))), (0.0, 4.0)),
    "uneven": (problems.UNEVEN.problem, (0.5, 6.0)),
}
# Eleven digits of the state and the coupling, and AUTO's own tolerance below.
SOLVED = 1e-9
# Off the polyline through the points of a branch, which cuts the corners of curves.
NEAR = 1e-2
TOLERANCES = {"EPSL": 1e-10, "EPSU": 1e-10, "EPSS": 1e-6}
STEPS = {"NMX": 12, "NPR": 1, "DS": 0.02, "RL0": -100.0, "RL1": 100.0}


@dataclass
class Point:
    """A labelled point of an s. file."""

    label: int
    type: int
    unknowns: np.ndarray
    parameters: np.ndarray


@dataclass
class Files:
    """The exported files of a diagram and what the test itself knows of the equation."""

    diagram: Diagram
    folder: Path
    degree: int

    @property
    def solutions(self) -> list[Point]:
        return solutions(self.folder / "s.diagram")

    def means(self, unknowns: np.ndarray, coupling: complex, noise: complex) -> np.ndarray:
        """Means of cosines (and sines) over the Gibbs density, for complex arguments too."""
        n, problem = self.degree, self.diagram.problem
        angles = 2 * np.pi * np.arange(8 * n + 101) / (8 * n + 101)
        waves = np.vstack([trig(np.outer(np.arange(1, n + 1), angles)) for trig in (np.cos, np.sin)])
        waves = waves[: unknowns.size]
        w = problem.potential.multipliers(problem.domain, n)[1:]
        field = coupling * ((np.resize(w, unknowns.size) * unknowns) @ waves)
        if problem.confinement is not None:
            field = field + problem.confinement.values(angles)
        weights = np.exp((field.real.min() - field) / noise)
        return waves @ weights / weights.sum()

    def defect(self, point: Point) -> float:
        means = self.means(point.unknowns, *point.parameters[:2])
        return float(np.abs(means - point.unknowns).max())

    def jacobian(self, point: Point) -> np.ndarray:
        """Derivatives of means - U in U, PAR(1) and PAR(2) by complex steps."""
        step = 1e-30
        arguments = np.concatenate([point.unknowns, point.parameters[:2]])
        columns = []
        for index in range(arguments.size):
            moved = arguments.astype(complex)
            moved[index] += 1j * step
            columns.append((self.means(moved[:-2], moved[-2], moved[-1]) - moved[:-2]).imag / step)
        return np.column_stack(columns)


@pytest.fixture(scope="module", params=PROBLEMS)
def files(request, tmp_path_factory) -> Files:
    problem, interval = PROBLEMS[request.param]
    folder = tmp_path_factory.mktemp(request.param)
    diagram = bifurcation_diagram(problem, interval, rates=False)
    diagram.to_auto(folder / "b.diagram")
    description = (folder / "d.diagram").read_text()
    return Files(diagram, folder, int(re.search(r"^n = (\d+)$", description, re.MULTILINE).group(1)))


@pytest.fixture(scope="module")
def transformer(tmp_path_factory) -> Files:
    problem, interval = PROBLEMS["transformer"]
    folder = tmp_path_factory.mktemp("fold")
    diagram = bifurcation_diagram(problem, interval, rates=False)
    diagram.to_auto(folder / "b.diagram")
    return Files(diagram, folder, solutions(folder / "s.diagram")[0].unknowns.size)


def documented(start: str) -> str:
    """The fenced block of the documentation that starts so."""
    (block,) = re.findall(rf"```\w*\n({re.escape(start)}.*?)```", DOCUMENT.read_text(encoding="utf-8"), re.DOTALL)
    return block


def compiled(sources: dict[str, str], objects: list[Path], folder: Path) -> Path:
    for name, text in sources.items():
        (folder / name).write_text(text)
    command = [COMPILER, "-O1", "-fopenmp", "-w", *sources, *map(str, objects), "-o", "program"]
    subprocess.run(command, cwd=folder, check=True, timeout=300)
    return folder / "program"


def solutions(path: Path) -> list[Point]:
    lines = path.read_text().splitlines()
    points = []
    while lines:
        header, count = [int(part) for part in lines[0].split()], int(lines[0].split()[8])
        values = np.array(" ".join(lines[1 : count + 1]).split(), dtype=float)
        points.append(Point(header[3], header[2], values[1 : header[7]], values[-header[11] :]))
        lines = lines[count + 1 :]
    return points


DRIVER = """
PROGRAM DRIVER
  IMPLICIT NONE
  INTEGER :: NDIM, POINTS, J, ICP(1)
  DOUBLE PRECISION :: PAR(2)
  DOUBLE PRECISION, ALLOCATABLE :: U(:), F(:), DFDU(:,:), DFDP(:,:)
  READ(*,*) NDIM, POINTS
  ALLOCATE(U(NDIM), F(NDIM), DFDU(NDIM,NDIM), DFDP(NDIM,2))
  DO J = 1, POINTS
    READ(*,*) PAR, U
    CALL FUNC(NDIM, U, ICP, PAR, 2, F, DFDU, DFDP)
    WRITE(*,'(ES25.16E3)') F, DFDU, DFDP
  END DO
END PROGRAM DRIVER
"""


@pytest.fixture(scope="module")
def driver(tmp_path_factory) -> Path:
    return compiled(
        {"circle.f90": documented("MODULE CIRCLE"), "driver.f90": DRIVER}, [], tmp_path_factory.mktemp("d")
    )


@needs_compiler
def test_model_file_has_our_equation_and_its_derivatives(files, driver):
    points = files.solutions
    size = points[0].unknowns.size
    moved = [
        Point(0, 0, point.unknowns + 0.01 * np.cos(np.arange(size)) / (1 + np.arange(size)) ** 2, point.parameters)
        for point in points[::4]
    ]
    rows = [" ".join(map(repr, [*p.parameters[:2].tolist(), *p.unknowns.tolist()])) for p in (*points, *moved)]
    run = subprocess.run(
        [driver], cwd=files.folder, input="\n".join([f"{size} {len(rows)}", *rows]), capture_output=True, text=True,
        check=True, timeout=300,
    )  # fmt: skip
    values = np.array(run.stdout.split(), dtype=float).reshape(len(rows), size, size + 3, order="C")
    values = values.reshape(len(rows), -1)
    rotates = size > files.degree and files.diagram.problem.confinement is None
    for point, row in zip((*points, *moved), values, strict=True):
        residual, derivative = row[:size], row[size:].reshape(size + 2, size).T
        assert (
            np.abs(residual - (files.means(point.unknowns, *point.parameters[:2]) - point.unknowns)).max() < 1e-13
        )
        if point.label:
            assert np.abs(residual).max() < SOLVED
        if point.label % 3:
            continue
        wrong = derivative - files.jacobian(point)
        if rotates and np.abs(point.unknowns).max() > 1e-6:
            degrees = np.arange(1, files.degree + 1)
            cosine, sine = np.split(point.unknowns, 2)
            turn = np.concatenate([-degrees * sine, degrees * cosine])
            # The rotation is mapped to its opposite, and nothing else is changed that could take a residual away:
            # residuals have no component along the rows that were added, at any U.
            added = wrong[:, :size]
            _, singular, rows = np.linalg.svd(added)
            assert singular[1] < 1e-9 * singular[0]
            assert np.abs(added @ turn + turn).max() < 1e-9 * np.abs(turn).max()
            assert abs(rows[0] @ residual) < 1e-12
            wrong = wrong[:, size:]
        scale = max(1.0, np.abs(derivative).max())
        assert np.abs(wrong).max() < 1e-12 * scale


@pytest.fixture(scope="module")
def program(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("auto")
    return compiled({"circle.f90": documented("MODULE CIRCLE")}, sorted((AUTO / "lib").glob("*.o")), folder)


def auto(program: Path, files: Files, folder: Path, **constants: object) -> tuple[list[Point], str]:
    """Labelled points and the text of fort.7 of a run with the documented constants, changed as said."""
    folder.mkdir(parents=True, exist_ok=True)
    shutil.copy(files.folder / "d.diagram", folder)
    shutil.copy(files.folder / "s.diagram", folder / "fort.3")
    size = files.solutions[0].unknowns.size
    settings = {"NDIM": size, **TOLERANCES, **STEPS, **constants}
    lines = [documented("NDIM = "), *(f"{name} = {value}" for name, value in settings.items())]
    (folder / "fort.2").write_text("\n".join(lines) + "\n")
    environment = os.environ | {"OMP_NUM_THREADS": "1"}
    run = subprocess.run([program], cwd=folder, capture_output=True, text=True, timeout=300, env=environment)
    assert run.returncode == 0, run.stdout + run.stderr
    return solutions(folder / "fort.8"), (folder / "fort.7").read_text()


def moduli(cosine: np.ndarray, sine: np.ndarray) -> np.ndarray:
    """The first four amplitudes, which no rotation or reflection changes."""
    return np.hypot(cosine, sine)[..., 1:5]


def distance(point: Point, files: Files, branch: int) -> float:
    """From a point to the polyline of a branch, in amplitudes and coupling over its largest."""
    of = files.diagram.branches[branch]
    largest = np.abs(files.diagram.interval).max()
    knots = np.column_stack([of.coupling / largest, moduli(of.cosine, of.sine)])
    parts = np.zeros((2, files.degree))
    parts.ravel()[: point.unknowns.size] = point.unknowns
    here = np.concatenate([[point.parameters[0] / largest], np.hypot(*parts)[:4]])
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
    return [point for point in points if low <= point.parameters[0] <= high]


@needs_auto
def test_auto_continues_the_branch_from_every_label(files, program, tmp_path):
    for point, branch, at in labelled(files):
        for step in (0.02, -0.02):
            found, _ = auto(program, files, tmp_path / f"{point.label}{step}", IRS=point.label, DS=step)
            assert len(found) == STEPS["NMX"]
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
            assert len(found) == STEPS["NMX"]
            assert max(map(files.defect, found)) < SOLVED
            inside = within(found, files)
            assert len(inside) > 1
            assert any(all(distance(one, files, other) < NEAR for one in inside) for other in expected)
            assert any(distance(one, files, branch) > 2 * NEAR for one in inside)


@needs_auto
def test_auto_finds_our_fold_and_counts_our_stability(transformer, program, tmp_path):
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
def test_auto_follows_fold_and_branch_point_in_two_parameters(transformer, program, tmp_path):
    """States depend on coupling/noise only, so both are straight lines."""
    for label, event in (
        (2, transformer.diagram.events("branch point")[0]),
        (7, transformer.diagram.events("fold")[0]),
    ):
        folder = tmp_path / str(label)
        found, _ = auto(
            program, transformer, folder, IRS=label, ISW=2, ICP=[1, 2], NMX=5, DSMAX=0.1, NDIM=transformer.degree
        )
        assert len(found) == 5
        coupling, noise = np.array([point.parameters[:2] for point in found]).T
        assert np.ptp(noise) > 0.1
        assert coupling / noise == pytest.approx(event.coupling, rel=1e-9)
        for name in ("b", "s"):
            (folder / f"fort.{7 if name == 'b' else 8}").rename(folder / f"{name}.two")
        with pytest.raises(InvalidInput, match=r"b\.two follows parameter 1 and 2"):
            open_diagram(folder / "b.two", problem=transformer.diagram.problem)


@needs_auto
def test_fewer_unknowns_suffice(transformer, program, tmp_path):
    found, _ = auto(program, transformer, tmp_path, IRS=2, ISW=-1, NDIM=24, NMX=6)
    assert len(found) == 6
    for point in found:
        assert point.unknowns.size == 24
        full = Files(transformer.diagram, transformer.folder, 24)
        assert full.defect(point) < SOLVED


@needs_auto
def test_import_of_what_auto_wrote(transformer, program, tmp_path):
    """All branches in one file, without header blocks between them, and the noise in a column of its own."""
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
        assert row[2].split(",")[:3] == ["PAR(1)", "L2-NORM", "U(1)"]
        ends = [int(end) for end in row[3].split(",")]
        marks = np.repeat(np.sign(ends), np.diff([0, *map(abs, ends)]))
        assert np.array_equal(marks < 0, branch.unstable == 0)
        assert int(row[4]) == files.solutions[0].unknowns.size
        assert float(row[5]) <= low
        assert float(row[6]) >= high
        assert int(row[7]) == 1
    types = {1: "BP", 2: "LP", 4: "RG", 9: "EP"}
    labels = [row[1:] for row in rows if row[0] == "LAB"]
    for row, (point, index, at) in zip(labels, labelled(files), strict=True):
        assert row[:3] == [str(point.label), types[point.type], str(index + 1)]
        numbers = np.array(row[3:], dtype=float)
        branch = files.diagram.branches[index]
        assert numbers[:2] == pytest.approx([branch.coupling[at], files.diagram.problem.noise], rel=1e-10)
        assert np.linalg.norm(numbers[2:]) == pytest.approx(1, rel=1e-9)
        slope = branch.tangent_coupling[at] / np.linalg.norm(
            [branch.tangent_coupling[at], *branch.tangent_cosine[at, 1:], *branch.tangent_sine[at, 1:]]
        )
        assert numbers[2] == pytest.approx(slope, rel=1e-9, abs=1e-16)
