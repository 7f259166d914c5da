"""Reading AUTO-07p files, ours and AUTO's own, by their fixed columns.

The files hold eleven digits; per point the coupling, the stability and the first six unknowns; the full
vector and the direction at labelled points only. What they do not hold is nan or -1 in the diagram, so that
nothing looks more exact or more complete than it is.
"""

import math
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..equations import Equation, equation_from, has_free_energy
from ..errors import InvalidInput, MeanfieldError
from ..harmonics import modes_of
from ..potentials import Number
from ..records.branch import Branch, SpecialPoint
from ..records.columns import COUPLING as CALLED
from ..records.diagram import Diagram
from ..records.observables import FREE_ENERGY_GAP
from ..records.outcome import Outcome
from ..records.point_types import PointType
from ..theory import critical_coupling
from . import plausible, records
from .auto import COLUMN_WIDTH, LARGEST_POINT, auto_paths
from .auto_description import DESCRIPTION_KEY, Layout, require_one_set
from .auto_model import NOISE
from .files import is_directory, is_file

Floats = NDArray[np.float64]

PREFIX_WIDTH = 19
LABELS = {1: "BP", 6: "BP", 2: "LP", 3: "HB", 5: "LP", 9: "EP", -9: "EP"}
TYPES: dict[str, PointType] = {"BP": "branch point", "LP": "fold", "HB": "Hopf"}
COUPLING = "1"
RELATIVE_PRECISION = 1e-10
# AUTO solves to EPSU, usually 1e-7, and so leaves some of the kernel in the state at a branch point.
AUTO_TOLERANCE = 1e-6
IMPORTED = (
    "read from AUTO files: eleven digits; moments beyond the columns of the b. file are known at labelled "
    "points only, and free energies, residuals and rates not at all"
)
AUTOS_OWN = "stable means here what AUTO found: stable among the unknowns it had, which are read as {}"
READ_AS = {"circle": "cosine moments", "sphere": "moments about an axis of symmetry"}


@dataclass
class AutoBranch:
    """Rows of one branch of a b. file: integers BR, PT, TY, LAB and the columns of numbers."""

    dimension: int | None
    integers: list[tuple[int, int, int, int]] = field(default_factory=list)
    numbers: list[list[float]] = field(default_factory=list)


@dataclass(frozen=True)
class AutoSolution:
    """One labelled point of an s. file; ``direction`` and ``speed`` are None if they are not given."""

    header: tuple[int, ...]
    vector: Floats
    direction: Floats | None
    speed: float | None
    parameters: Floats

    @property
    def label(self) -> int:
        """LAB, the number of the label."""
        return self.header[3]


def read_auto(path: str | Path, problem: Equation | None = None, *, check: bool = True) -> Diagram:
    """Read ``b.NAME`` with ``s.NAME`` and, if it is ours, ``d.NAME``.

    Parameters
    ----------
    path
        ``NAME.auto``, or ``b.NAME`` itself.
    problem
        The equation the unknowns belong to (U(k) = m_k, cosines only, on spheres U(l) = p_l; PAR(1) = coupling).
        Not needed for files of ours: their ``d.NAME`` says it.
    check
        Whether to refuse files that are not those their ``d.NAME`` was written with, and without one that says so
        numbers that no diagram can have.

    Returns
    -------
    Diagram
        With nan and -1 for everything AUTO files do not hold.

    Raises
    ------
    InvalidInput
        If a file is missing, damaged, incomplete, changed, of another set, does not say which equation it belongs
        to or holds a curve in another parameter or in two.
    """
    paths = auto_paths(Path(path))
    try:
        return _read(paths, problem, check)
    except MeanfieldError:
        raise
    except Exception as error:
        raise InvalidInput(f"{paths[0]}, {paths[1].name} or {paths[2].name} is damaged") from error


def _read(paths: tuple[Path, Path, Path], problem: Equation | None, check: bool) -> Diagram:
    diagram_path, solution_path, description_path = paths
    points, words = _text(diagram_path), _words(description_path)
    header = _own_header(description_path, words)
    branches = parse_diagram(points, diagram_path.name, _free(header))
    vectors = _text(solution_path)
    solutions = parse_solutions(vectors, solution_path.name)
    told = check and require_one_set(description_path, words, points, vectors)
    if problem is None:
        if header is None:
            raise InvalidInput(
                f"{diagram_path} does not say which equation it belongs to (there is no "
                f"{description_path.name} written by meanfield); "
                "call open_diagram(path, problem=McKeanVlasov(...))"
            )
        problem = equation_from(header["problem"])
    _check_complete(branches, header, diagram_path)
    located = _located(branches, solutions, solution_path)
    diagram = _Import(problem, header, branches, located).diagram()
    if check and not told:
        plausible.require_diagram(diagram)
    return diagram


def _free(header: dict[str, Any] | None) -> str:
    """Return the number of the parameter of a diagram."""
    own = (header or {}).get("parameter", CALLED)
    return {CALLED: COUPLING, NOISE: "2"}.get(own, "3")


def parse_diagram(text: str, name: str, free: str = COUPLING) -> list[AutoBranch]:
    """Return the branches in the text of a b. file that follow the parameter of a number."""
    branches: list[AutoBranch] = []
    dimension: int | None = None
    printed = 1
    fresh = True
    for number, line in enumerate(_lines(text, name), 1):
        _require_free(line, name, free)
        try:
            if int(line[:4]) == 0:
                fresh = True
                dimension = _named_integer(line, "NDIM=", dimension)
                printed = len(_listed(line, "User-specified parameter")) or printed
                continue
            integers = (int(line[:4]), int(line[4:10]), int(line[10:14]), int(line[14:19]))
            # Parameters but the first stand behind the unknowns.
            numbers = [float(part) for part in _columns(line)]
            numbers = numbers[: len(numbers) + 1 - printed]
        except ValueError:
            raise InvalidInput(f"{name} is damaged or not an AUTO diagram: line {number} cannot be read") from None
        if fresh or _starts(branches[-1], integers):
            branches.append(AutoBranch(dimension))
        fresh = False
        if branches[-1].numbers and len(numbers) != len(branches[-1].numbers[0]):
            raise InvalidInput(f"{name} is damaged: line {number} has {len(numbers)} columns of numbers")
        branches[-1].integers.append(integers)
        branches[-1].numbers.append(numbers)
    if not branches:
        raise InvalidInput(f"{name} holds no points")
    return branches


def parse_solutions(text: str, name: str) -> list[AutoSolution]:
    """Return the labelled points in the text of an s. file."""
    lines = _lines(text, name)
    solutions = []
    position = 0
    while position < len(lines):
        try:
            header = tuple(int(part) for part in lines[position].split())
            rows = header[8]
            body = lines[position + 1 : position + 1 + rows]
            if len(body) < rows:
                raise InvalidInput(f"{name} is truncated in the point with label {header[3]}")
            if rows:
                solutions.append(_solution(header, body))
        except InvalidInput:
            raise
        except (ValueError, IndexError):
            raise InvalidInput(
                f"{name} is damaged or not an AUTO solution file: the point at line {position + 1} cannot be read"
            ) from None
        position += 1 + rows
    return solutions


def _solution(header: tuple[int, ...], body: Sequence[str]) -> AutoSolution:
    free, points, width, rows, intervals = header[4], header[6], header[7], header[8], header[9]
    parameters = header[11]
    size = width - 1
    bare = (size // 7 + 1) * points + (parameters + 6) // 7
    directed = intervals != 0 and rows > bare
    values = [part for line in body for part in line.split()]
    total = width * points + parameters + (2 * free + size * points if directed else 0)
    if len(values) != total:
        raise ValueError
    numbers = np.array(values, dtype=np.float64)
    vector = numbers[1:width]
    direction, speed = None, None
    if directed:
        start = width * points + free
        speed = float(numbers[start])
        direction = numbers[start + free : start + free + size]
    return AutoSolution(header, vector, direction, speed, numbers[total - parameters :])


@dataclass(frozen=True)
class _Import:
    """The pieces of an imported diagram."""

    problem: Equation
    header: dict[str, Any] | None
    sections: list[AutoBranch]
    solutions: dict[tuple[int, int], AutoSolution]

    def diagram(self) -> Diagram:
        couplings = [row[0] for section in self.sections for row in section.numbers]
        header = self.header or {}
        critical = header.get("critical_coupling", self._critical_coupling())
        branches = tuple(self._branch(index, critical) for index in range(len(self.sections)))
        interval = header.get("interval", (min(couplings), max(couplings)))
        return Diagram(
            problem=self.problem,
            interval=(float(interval[0]), float(interval[1])),
            critical_coupling=critical,
            branches=branches,
            special_points=tuple(self._events(branches, critical)),
            warnings=(*header.get("warnings", ()), IMPORTED, *self._caution()),
            provenance=dict(header.get("provenance", {"source": "AUTO files"})),
            parameter=self.parameter,
        )

    @property
    def parameter(self) -> str:
        """The name of PAR(1)."""
        return str((self.header or {}).get("parameter", CALLED))

    def _layout(self) -> Layout:
        if self.header is not None:
            return Layout(self.header["cosines"], self.header["sines"])
        sizes = [solution.vector.size for solution in self.solutions.values()]
        sizes += [section.dimension for section in self.sections if section.dimension]
        return Layout(max(sizes, default=len(self.sections[0].numbers[0]) - 2), 0)

    def _caution(self) -> tuple[str, ...]:
        return () if self.header else (AUTOS_OWN.format(READ_AS[self.problem.domain.name]),)

    def _critical_coupling(self) -> Number | None:
        return None if self.problem.confinement is not None else critical_coupling(self.problem)

    def _branch(self, index: int, critical: float | None) -> Branch:
        section = self.sections[index]
        layout = self._layout()
        numbers = np.array(section.numbers)
        integers = np.array(section.integers)
        cosine, sine = _split(_shown(numbers, layout), layout)
        speeds = np.full(len(numbers), np.nan)
        tangents = np.full((len(numbers), layout.dimension), np.nan)
        for point in range(len(numbers)):
            solution = self.solutions.get((index, point))
            if solution is not None:
                cosine[point], sine[point] = (part[0] for part in _split(solution.vector[np.newaxis], layout))
                if solution.direction is not None and solution.speed is not None:
                    speeds[point], tangents[point] = solution.speed, solution.direction
        tangent_cosine, tangent_sine = _split(tangents, layout, mass=0.0)
        relative = numbers[:, 0] / critical if critical else np.full(len(numbers), np.nan)
        unknown = np.full(len(numbers), np.nan)
        return Branch(
            **self._words(index, cosine),
            **self._along(numbers[:, 0], speeds),
            relative_coupling=relative,
            cosine=cosine,
            sine=sine,
            arclength=_arclength(numbers, critical),
            observables={FREE_ENERGY_GAP: unknown.copy()} if has_free_energy(self.problem) else {},
            unstable=np.where(integers[:, 1] < 0, 0, -1),
            slowest_rate=unknown.copy(),
            residual=unknown.copy(),
            modes=np.full(len(numbers), layout.cosines, dtype=np.int64),
            tangent_cosine=tangent_cosine,
            tangent_sine=tangent_sine,
            point_labels=tuple(self._point_label(int(code)) for code in integers[:, 2]),
        )

    def _along(self, values: Floats, speeds: Floats) -> dict[str, Any]:
        """Return the fields of a branch that say where its points are."""
        if self.parameter == CALLED:
            return {"coupling": values, "tangent_coupling": speeds}
        return {
            "coupling": np.full(values.size, self.problem.fixed_coupling),
            "tangent_coupling": np.where(np.isnan(speeds), np.nan, 0.0),
            "parameter": self.parameter,
            "parameter_values": values,
            "tangent_parameter": speeds,
        }

    def _point_label(self, code: int) -> str:
        reduced = code if code == -9 else int(math.copysign(abs(code) % 10, code))
        return "TR" if reduced == 4 and self.header is not None else LABELS.get(reduced, "")

    def _words(self, index: int, cosine: Floats) -> dict[str, Any]:
        if self.header is not None:
            own = self.header["branches"][index]
            return {name: own[name] for name in ("label", "parent", "symmetry")} | {
                "outcome": Outcome[own["outcome"]]
            }
        complete = cosine[np.all(np.isfinite(cosine), axis=1)]
        largest = np.max(np.abs(complete[:, 1:]), axis=0, initial=0.0)
        degrees = [int(degree) + 1 for degree in np.flatnonzero(largest > AUTO_TOLERANCE)]
        label = f"branch {index + 1}" if degrees else "uniform"
        # About an axis a state is even about the equator or not.
        rotations = modes_of(self.problem.domain).rotation_numbers
        symmetry = math.gcd(*degrees) if rotations else math.gcd(2, *degrees)
        # AUTO's end label covers both the step limit and the bounds of the parameter.
        return {
            "label": label,
            "parent": None,
            "symmetry": symmetry if degrees else 0,
            "outcome": Outcome.MAX_STEPS,
        }

    def _events(self, branches: Sequence[Branch], critical: float | None) -> list[SpecialPoint]:
        if self.header is not None:
            rows = self.header["special_points"]
            return [_own_event(row, branches[row["branch"]]) for row in rows]
        return [
            _event(index, point, branch, TYPES[label], critical)
            for index, branch in enumerate(branches)
            for point, label in enumerate(branch.point_labels)
            if label in TYPES
        ]


def _event(index: int, point: int, branch: Branch, type: PointType, critical: float | None) -> SpecialPoint:
    coupling = float(branch.coupling[point])
    margin = RELATIVE_PRECISION * abs(coupling)
    before, after = (int(branch.unstable[at]) for at in (max(point - 1, 0), min(point + 1, len(branch) - 1)))
    return SpecialPoint(
        branch=index,
        point=point,
        type=type,
        coupling=coupling,
        relative_coupling=coupling / critical if critical else None,
        lower=coupling - margin,
        upper=coupling + margin,
        unstable_before=None if before < 0 else before,
        unstable_after=None if after < 0 else after,
        kernel_dimension=None,
        status="read from AUTO files",
        cosine=branch.cosine[point],
        sine=branch.sine[point],
    )


def _own_event(row: dict[str, Any], branch: Branch) -> SpecialPoint:
    point = row["point"]
    return records.event_from(row | {"cosine": branch.cosine[point], "sine": branch.sine[point]})


def _shown(numbers: Floats, layout: Layout) -> Floats:
    vectors = np.full((len(numbers), layout.dimension), np.nan)
    count = min(numbers.shape[1] - 2, layout.dimension)
    vectors[:, :count] = numbers[:, 2 : 2 + count]
    return vectors


def _split(vectors: Floats, layout: Layout, mass: float = 1.0) -> tuple[Floats, Floats]:
    cosine = np.full((len(vectors), layout.cosines + 1), mass)
    cosine[:, 1:] = vectors[:, : layout.cosines]
    sine = np.zeros_like(cosine)
    if layout.sines:
        sine[:, 1:] = vectors[:, layout.cosines :]
    return cosine, sine


def _arclength(numbers: Floats, critical: float | None) -> Floats:
    curve = np.column_stack([numbers[:, 0] / (critical or 1.0), numbers[:, 2:]])
    lengths = np.sqrt(np.sum(np.diff(curve, axis=0) ** 2, axis=1))
    return np.concatenate([[0.0], np.cumsum(lengths)])


def _check_complete(branches: Sequence[AutoBranch], header: dict[str, Any] | None, diagram_path: Path) -> None:
    if header is not None:
        expected = [branch["points"] for branch in header["branches"]]
        found = [len(branch.numbers) for branch in branches]
        if expected != found:
            raise InvalidInput(
                f"{diagram_path} is truncated or was changed: it holds {sum(found)} points on {len(found)} "
                f"branches where its d. file counts {sum(expected)} on {len(expected)}"
            )


def _located(
    branches: Sequence[AutoBranch], solutions: Sequence[AutoSolution], solution_path: Path
) -> dict[tuple[int, int], AutoSolution]:
    # Runs appended to each other may repeat labels; b. and s. file are then in the same order still.
    waiting: dict[int, deque[AutoSolution]] = {}
    for solution in solutions:
        waiting.setdefault(solution.label, deque()).append(solution)
    located = {}
    for index, branch in enumerate(branches):
        for point, (_, _, _, label) in enumerate(branch.integers):
            if not label:
                continue
            if not waiting.get(label):
                raise InvalidInput(f"{solution_path} is truncated: it lacks the point with label {label}")
            located[index, point] = waiting[label].popleft()
    return located


def _words(path: Path) -> str:
    return path.read_text(encoding="utf-8", errors="replace") if is_file(path) else ""


def _own_header(path: Path, words: str) -> dict[str, Any] | None:
    for line in words.splitlines():
        if line.startswith(DESCRIPTION_KEY):
            try:
                return records.check_header(records.load(line.removeprefix(DESCRIPTION_KEY)))
            except ValueError as error:
                raise InvalidInput(f"{path} is damaged: {error}") from error
    return None


def _text(path: Path) -> str:
    if is_directory(path):
        raise InvalidInput(f"{path} is a directory; give the name of an AUTO file such as b.run or run.auto")
    try:
        return path.read_text(encoding="ascii")
    except FileNotFoundError:
        raise InvalidInput(f"{path} does not exist; AUTO diagrams consist of b.NAME and s.NAME together") from None
    except UnicodeDecodeError:
        raise InvalidInput(f"{path} is not an AUTO file: it is not plain text") from None
    except (OSError, ValueError) as error:
        raise InvalidInput(f"{path} cannot be read ({error}); give the name of another file") from error


def _lines(text: str, name: str) -> list[str]:
    if not text.strip():
        raise InvalidInput(f"{name} is empty")
    if not text.endswith("\n"):
        raise InvalidInput(f"{name} is truncated in its last line")
    return text.splitlines()


def _columns(line: str) -> list[str]:
    rest = line[PREFIX_WIDTH:]
    return [rest[start : start + COLUMN_WIDTH] for start in range(0, len(rest), COLUMN_WIDTH)]


def _named_integer(line: str, key: str, otherwise: int | None) -> int | None:
    _, found, rest = line.partition(key)
    return int(rest.split()[0]) if found else otherwise


def _listed(line: str, key: str) -> list[str]:
    _, found, rest = line.partition(key)
    return rest.partition(":")[2].split() if found else []


def _require_free(line: str, name: str, expected: str) -> None:
    free = _listed(line, "Active continuation parameter")
    if len(free) > 1:
        raise InvalidInput(
            f"{name} has curves in {len(free)} parameters, {' and '.join(free)}, and a diagram has one; save the "
            "curve or phase diagram as .nc or .json, which can be opened"
        )
    if free and free[0].isdigit() and free[0] != expected:
        raise InvalidInput(
            f"{name} follows parameter {free[0]}; this diagram can follow parameter {expected} alone"
            f"{', the coupling' if expected == COUPLING else ''}"
        )


def _starts(branch: AutoBranch, integers: tuple[int, int, int, int]) -> bool:
    return abs(integers[1]) == 1 and abs(branch.integers[-1][1]) != LARGEST_POINT
