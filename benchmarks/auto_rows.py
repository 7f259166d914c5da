"""The tasks A and B and the fold curve over beta, by this package and by AUTO-07p with the exported equations.

AUTO is given its best: exact derivatives, the optimisation -O3, no more nodes than the states need, and its time is
without what its process takes to start. Its coupling is the relative one and its largest step in A and B is ours,
0.05 in moments and coupling. On the fold curve both take steps as long as their predictions allow, AUTO with
those of its constants that were the fastest. Where numba is installed every task of ours is timed without it and
with it, each time after a run of AUTO.
"""

import os
import resource
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from rows import compiled_continuation, cpu
from tables import heading, table
from tasks import HIGHEST, STEP, trace_branch, trace_diagram, whole_diagram

from meanfield import Circle, McKeanVlasov, Transformer
from meanfield.export.auto_model import Model, model_text
from meanfield.theory import critical_coupling
from solvers import bifurcation_diagram, curve
from solvers.execution.compiling import available, continuation_name

BETA, INTERVAL = 5.0, (2.5, 20.0)
# Half of the circle in 128 intervals.
RESOLVED = 48
UNKNOWNS_OF_FOLDS = 32
# Of AUTO's steps along the fold curve, 17.5 long in beta.
LONGEST = 5.0
TARGETS = {"A": "> 1", "B": "> 1", "fold curve": ">= 3"}


@dataclass
class Program:
    """AUTO with equations, labelled points to start from, and constants."""

    folder: Path
    constants: dict[str, object]

    def once(self) -> float:
        """Return the CPU time of a run in seconds."""
        lines = [f"{name} = {value}" for name, value in self.constants.items()]
        (self.folder / "fort.2").write_text("\n".join(lines) + "\n")
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run([self.folder / "program"], cwd=self.folder, check=True, stdout=subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL)  # fmt: skip
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime

    def rows(self) -> list[list[str]]:
        """Return the rows of the last run."""
        lines = (self.folder / "fort.7").read_text().splitlines()
        return [line.split() for line in lines if line[:4] != "   0"]


@dataclass
class Comparison:
    """A task as both do it, with the shortest times in seconds."""

    name: str
    unknowns: int
    ours: Callable[[], object]
    points: int
    theirs: Program
    start: Program
    seconds: float = float("inf")
    compiled_seconds: float = float("inf")
    theirs_seconds: float = float("inf")
    start_seconds: float = float("inf")

    def once(self) -> None:
        """Time both once."""
        self.seconds = min(self.seconds, self._ours(compiled=False))
        self.theirs_seconds = min(self.theirs_seconds, self.theirs.once())
        if available():
            self.compiled_seconds = min(self.compiled_seconds, self._ours(compiled=True))
        self.start_seconds = min(self.start_seconds, self.start.once())

    def _ours(self, *, compiled: bool) -> float:
        """Return the CPU time of ours in seconds."""
        with compiled_continuation(compiled):
            return cpu(self.ours)

    def cells(self) -> tuple[str, ...]:
        """Return the entries of a row of the report."""
        self.theirs.once()
        net = self.theirs_seconds - self.start_seconds
        with_numba = [f"{1e3 * self.compiled_seconds:.1f}", f"{net / self.compiled_seconds:.2f}"]
        if not available():
            with_numba = ["", ""]
        return (
            self.name,
            str(self.unknowns),
            str(self.points),
            str(len(self.theirs.rows())),
            f"{1e3 * self.seconds:.1f}",
            with_numba[0],
            f"{1e3 * net:.1f}",
            f"{1e3 * self.start_seconds:.1f}",
            f"{net / self.seconds:.2f}",
            with_numba[1],
            next(target for name, target in TARGETS.items() if self.name.startswith(name)),
        )


def report(rounds: int, modes: list[int]) -> str:
    """Return the report of all tasks."""
    place = next(
        (Path(each) for each in (os.environ.get("AUTO_DIR"), "/usr/lib/auto-07p") if each and Path(each).is_dir()),
        None,
    )
    if place is None or shutil.which("gfortran") is None:
        sys.exit("this needs AUTO-07p, in AUTO_DIR or /usr/lib/auto-07p, and gfortran")
    with tempfile.TemporaryDirectory() as scratch:
        found = [row for n in modes for row in _diagrams(Path(scratch) / str(n), place, n)]
        found += _folds(Path(scratch) / "folds", place)
        for _ in range(rounds + 1):
            for row in found:
                row.once()
        head = ("task", "unknowns", "points", "AUTO's", "time ms", "with numba ms", "AUTO ms", "its start ms")
        head += ("ratio", "with numba", "target")
        return "\n".join([*heading(rounds), _extra(), "", *table(head, [row.cells() for row in found])])


def _extra() -> str:
    """Return what the report says of the extra ``fast``."""
    with compiled_continuation(True):
        name = continuation_name()
    if not name:
        return "Without the extra `fast`."
    return f"*With numba*: MEANFIELD_CONTINUATION=numba, {name}, compiled and loaded before."


def _diagrams(folder: Path, place: Path, unknowns: int) -> list[Comparison]:
    """Return the tasks A and B; B of AUTO without and with stability, of which ours always knows it."""
    critical = critical_coupling(McKeanVlasov(Circle(), Transformer(BETA)))
    # Of which the critical coupling is 1.
    problem = McKeanVlasov(Circle(), critical * Transformer(BETA))
    diagram = bifurcation_diagram(problem, (0.5, 5.0), depth=1, rates=False)
    folder.mkdir()
    diagram.to_auto(folder / "run.auto")
    _build(folder, place, Model(problem, unknowns, RESOLVED, False))
    common = {
        "NDIM": unknowns, "NPAR": 2, "ICP": "[1]", "JAC": 1, "ILP": 1, "NPR": 0, "IID": 0, "IADS": 1,
        "DSMIN": 1e-6, "DSMAX": STEP, "EPSL": 1e-7, "EPSU": 1e-7, "EPSS": 1e-5, "ITMX": 9, "ITNW": 7,
    }  # fmt: skip
    # The first branch born on the uniform one begins at the label behind those of that, with its direction there.
    born = sum(1 for label in diagram.branches[0].point_labels if label) + 1
    branch = common | {"IRS": born, "IPS": 0, "ISP": 0, "DS": STEP, "NMX": 200, "RL0": 0.5, "RL1": HIGHEST}
    whole = common | {"IRS": 1, "IPS": 0, "ISP": 1, "DS": STEP, "NMX": 1000, "MXBF": -10, "RL0": 0.5, "RL1": 5.0}
    rows = [("A", lambda: trace_branch(unknowns), branch)]
    rows += [("B, bare", lambda: trace_diagram(5.0), whole)]
    rows += [("B, stability", lambda: whole_diagram(5.0), whole | {"IPS": 1, "ISP": 2})]
    return [
        Comparison(name, unknowns, ours, ours().points, Program(folder, constants),
                   Program(folder, constants | {"NMX": 1}))
        for name, ours, constants in rows
    ]  # fmt: skip


def _folds(folder: Path, place: Path) -> list[Comparison]:
    """Return the fold curve over beta, of AUTO without and with stability."""
    problem = McKeanVlasov(Circle(), Transformer(BETA))
    start = bifurcation_diagram(problem, relative=(0.8, 1.2), rates=False, depth=1).events("fold")[0]
    found = curve(start, "beta", INTERVAL)
    folder.mkdir()
    found.to_auto(folder / "run.auto")
    model = Model(start.problem.at(coupling=start.coupling), UNKNOWNS_OF_FOLDS, RESOLVED, False, {"beta": INTERVAL})
    _build(folder, place, model)
    # From the first point of ours, at beta = 2.5, to the end.
    constants = {
        "NDIM": UNKNOWNS_OF_FOLDS, "NPAR": 3, "ICP": "[3, 1]", "JAC": 1, "ILP": 0, "IPS": 0, "ISP": 0, "ISW": 2,
        "IRS": 1, "NPR": 0, "IID": 0, "IADS": 1, "NMX": 1000, "RL0": 2.4, "RL1": INTERVAL[1], "DS": 0.3,
        "DSMIN": 1e-6, "DSMAX": LONGEST, "EPSL": 1e-7, "EPSU": 1e-7, "EPSS": 1e-5, "ITMX": 9, "ITNW": 9,
    }  # fmt: skip
    rows = [("fold curve, bare", {}), ("fold curve, stability and cusps", {"IPS": 1, "ISP": 2})]
    return [
        Comparison(name, UNKNOWNS_OF_FOLDS, lambda: curve(start, "beta", INTERVAL), len(found),
                   Program(folder, constants | more),
                   Program(folder, constants | {"NMX": 1} | more))
        for name, more in rows
    ]  # fmt: skip


def _build(folder: Path, place: Path, model: Model) -> None:
    (folder / "run.f90").write_text(model_text(model))
    shutil.copy(folder / "s.run", folder / "fort.3")
    objects = map(str, sorted((place / "lib").glob("*.o")))
    subprocess.run(
        ["gfortran", "-O3", "-fopenmp", "-w", "run.f90", *objects, "-o", "program"], cwd=folder, check=True
    )
