r"""AUTO-07p files: ``b.NAME`` (diagram), ``s.NAME`` (labelled points), ``d.NAME`` (what the numbers mean).

U(1), ..., U(NDIM) are the cosine moments m_1, ..., m_n of the density; if any state of the diagram has sine
moments, they follow in the second half of U. PAR(1) is the coupling, PAR(2) the noise. Every labelled point
carries the direction of its branch, of length 1, so that AUTO can restart and switch branches there:

.. math::

    0 = G_k(U) = m_k - \langle\cos k\theta\rangle_\rho, \qquad
    \rho \propto \exp\Bigl(-\frac{1}{\mathrm{PAR}(2)}
        \sum_j (\mathrm{PAR}(1)\, w_j m_j + v_j) \cos j\theta\Bigr)

with the multipliers w_j of the interaction and v_j of the confinement. AUTO keeps eleven digits. A point is
marked stable (negative PT) only where its unstable directions were counted and are none.
"""

import decimal
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ..diagrams import Branch, Diagram
from ..errors import InvalidInput
from ..potentials import Number
from . import records

Floats = NDArray[np.float64]

TYPE_CODES = {"BP": 1, "LP": 2, "TR": 4, "EP": 9}
PARAMETERS = 2
COLUMN_WIDTH = 19
LARGEST_POINT = 9999
LARGEST_DIMENSION = 9999
SHOWN = 6
ROUNDINGS = (decimal.ROUND_FLOOR, decimal.ROUND_CEILING)
NEGLIGIBLE = 1e-17
DESCRIPTION_KEY = "meanfield-diagram: "


@dataclass(frozen=True)
class Layout:
    """How moments become U: the number of cosine and of sine moments kept."""

    cosines: int
    sines: int

    @property
    def dimension(self) -> int:
        """NDIM."""
        return self.cosines + self.sines

    def vectors(self, cosine: Floats, sine: Floats) -> Floats:
        """(P, n + 1) moments as (P, NDIM) vectors."""
        return np.hstack([_padded(cosine[:, 1:], self.cosines), _padded(sine[:, 1:], self.sines)])


def auto_paths(path: Path) -> tuple[Path, Path, Path]:
    """Names of the three files for ``NAME.auto``, ``b.NAME`` or ``NAME``."""
    name = path.name
    if name.startswith("b.") and len(name) > 2:
        stem = name[2:]
    else:
        stem = name.removesuffix(".auto")
    return path.with_name(f"b.{stem}"), path.with_name(f"s.{stem}"), path.with_name(f"d.{stem}")


def auto_texts(diagram: Diagram) -> tuple[str, str, str]:
    """Content of the three files.

    Raises
    ------
    InvalidInput
        If a number to be written is not finite, a coupling is beyond double precision or the diagram exceeds
        the columns of the format.
    """
    records.require_doubles(diagram, "AUTO")
    layout = _layout(diagram)
    noise = float(diagram.problem.noise)
    diagram_parts, solution_parts = [], []
    label = 0
    for index, branch in enumerate(diagram.branches):
        vectors = layout.vectors(branch.cosine, branch.sine)
        codes = _codes(branch)
        labels = np.zeros(len(branch), dtype=int)
        labels[codes > 0] = label + 1 + np.arange(np.count_nonzero(codes))
        label += int(np.count_nonzero(codes))
        _check(branch, vectors, index, label, layout)
        diagram_parts.append(_header_block(diagram, branch, vectors, layout))
        diagram_parts.append(_data_lines(index, branch, vectors, codes, labels))
        solution_parts.append(_solutions(index, branch, layout, codes, labels, noise))
    description = _description(diagram, layout)
    return "".join(diagram_parts), "".join(solution_parts), description


def _layout(diagram: Diagram) -> Layout:
    used = [
        np.flatnonzero(np.max(np.abs(moments[:, 1:]), axis=0, initial=0.0) >= NEGLIGIBLE)
        for branch in diagram.branches
        for moments in (branch.cosine, branch.sine)
    ]
    kept = max((int(degrees[-1]) + 1 for degrees in used if degrees.size), default=1)
    # At a branch point the kernel is among the unknowns only if its mode is, even if no branch was followed.
    kept = max(kept, _unstable_degree(diagram))
    chiral = any(np.any(branch.sine) for branch in diagram.branches)
    return Layout(kept, kept if chiral else 0)


def _unstable_degree(diagram: Diagram) -> int:
    """Highest mode to which the uniform state is unstable somewhere in the interval, 0 if there is none."""
    problem = diagram.problem
    bounds = np.array(diagram.interval, dtype=np.float64)
    if problem.confinement is not None or not np.any(bounds):
        return 0
    weakest = 2 * problem.noise / np.abs(bounds).max()
    degree = 64
    while degree < LARGEST_DIMENSION and problem.potential.tail_bound(problem.domain, degree) >= weakest:
        degree *= 2
    strengths = np.multiply.outer(bounds, problem.potential.multipliers(problem.domain, degree)[1:])
    modes = np.flatnonzero(strengths.min(axis=0) <= -2 * problem.noise)
    return int(modes[-1]) + 1 if modes.size else 0


def _padded(moments: Floats, size: int) -> Floats:
    kept = np.asarray(moments[:, :size], dtype=np.float64)
    return np.pad(kept, ((0, 0), (0, size - kept.shape[1])))


def _codes(branch: Branch) -> NDArray[np.int64]:
    codes = np.array([TYPE_CODES.get(label, 0) for label in branch.point_labels], dtype=np.int64)
    ends = [0, -1]
    codes[ends] = np.where(codes[ends] == 0, TYPE_CODES["EP"], codes[ends])
    return codes


def _check(branch: Branch, vectors: Floats, index: int, label: int, layout: Layout) -> None:
    if not (np.all(np.isfinite(vectors)) and np.all(np.isfinite(branch.coupling))):
        raise InvalidInput(
            f"branch {branch.label!r} has moments that are not known, which AUTO files cannot hold; "
            "write .nc, .json or .npz instead"
        )
    if index >= 999 or label > 9999 or layout.dimension > LARGEST_DIMENSION:
        raise InvalidInput(
            f"AUTO files hold at most 999 branches, 9999 labels and 9999 unknowns, and this diagram needs "
            f"{index + 1}, {label} and {layout.dimension}; write .nc, .json or .npz instead"
        )


def _header_block(diagram: Diagram, branch: Branch, vectors: Floats, layout: Layout) -> str:
    # AUTO takes the constants of a run over into the next, and stops at once at a point outside RL0 and RL1.
    lower, upper = (_five_digits(bound, way) for bound, way in zip(diagram.interval, ROUNDINGS, strict=True))
    steps = np.linalg.norm(np.diff(np.column_stack([branch.coupling, vectors]), axis=0), axis=1)
    size, largest = (max(float(step), 1e-99) for step in (steps.mean(), steps.max())) if steps.size else (0.1, 0.1)
    start = size if len(branch) == 1 or branch.coupling[1] >= branch.coupling[0] else -size
    names = ["   PAR(1)", "   L2-NORM", *(f"     U({k})" for k in range(1, min(layout.dimension, SHOWN) + 1))]
    lines = [
        f"   0 {lower:12.4E}{upper:12.4E}{0.0:12.4E}{1e4:12.4E}",
        f"   0   EPSL={1e-7:11.4E}   EPSU ={1e-7:11.4E}   EPSS ={1e-5:11.4E}",
        f"   0   DS  ={start:11.4E}   DSMIN={size / 1e4:11.4E}   DSMAX={largest:11.4E}",
        f"   0   NDIM={layout.dimension:4d}   IPS =   1   IRS =   0   ILP =   1",
        "   0   NTST=   1   NCOL=   0   IAD =   3   ISP =   2",
        "   0   ISW =   1   IPLT=   0   NBC =   0   NINT=   0",
        f"   0   NMX={min(len(branch), 99999):5d}   NPR={0:5d}   MXBF=   0   IID =   2   IADS=   1",
        "   0   ITMX=   9   ITNW=   7   NWTN=   3   JAC =   0   NUZR=   0",
        f"   0   NPAR={PARAMETERS:4d}   THL = {{}}    THU = {{}}",
        "   0   User-specified parameter:          1",
        "   0   Active continuation parameter:     1",
        "   0",
        "   0    PT  TY  LAB " + "".join(f"{name:<{COLUMN_WIDTH}}" for name in names),
    ]
    return "".join(line + "\n" for line in lines)


def _five_digits(value: Number, rounding: str) -> float:
    return float(decimal.Context(prec=5, rounding=rounding).create_decimal_from_float(float(value)))


def _data_lines(
    index: int, branch: Branch, vectors: Floats, codes: NDArray[np.int64], labels: NDArray[np.int64]
) -> str:
    norms = np.sqrt(np.sum(vectors**2, axis=1))
    columns = np.column_stack([np.asarray(branch.coupling, dtype=np.float64), norms, vectors[:, :SHOWN]])
    lines = []
    for point, row in enumerate(columns):
        number = point % LARGEST_POINT + 1
        sign = -1 if branch.unstable[point] == 0 else 1
        lines.append(
            f"{index + 1:4d}{sign * number:6d}{codes[point]:4d}{labels[point]:5d}"
            + "".join(map(_number, row))
            + "\n"
        )
    return "".join(lines)


def _solutions(
    index: int,
    branch: Branch,
    layout: Layout,
    codes: NDArray[np.int64],
    labels: NDArray[np.int64],
    noise: float,
) -> str:
    chosen = np.flatnonzero(codes)
    vectors = layout.vectors(branch.cosine[chosen], branch.sine[chosen])
    directions = layout.vectors(branch.tangent_cosine[chosen], branch.tangent_sine[chosen])
    speeds = np.asarray(branch.tangent_coupling[chosen], dtype=np.float64)
    lengths = np.sqrt(np.sum(directions**2, axis=1) + speeds**2)
    blocks = []
    for row, point in enumerate(chosen):
        known = bool(np.isfinite(lengths[row]) and lengths[row] > 0)
        body = _records([0.0, *vectors[row]])
        if known:
            body += f"{1:5d}\n" + _records([speeds[row] / lengths[row]]) + _records(directions[row] / lengths[row])
        body += _records([float(branch.coupling[point]), noise])
        head = [index + 1, int(point) % LARGEST_POINT + 1, int(codes[point]), int(labels[point]), 1, 1]
        blocks.append(_solution_header(head, layout.dimension, body.count("\n"), known) + body)
    return "".join(blocks)


def _solution_header(head: Sequence[int], dimension: int, lines: int, known: bool) -> str:
    tail = [int(known), 0, PARAMETERS, 0, dimension, 1, 0]
    return (
        "".join(f"{value:6d}" for value in head)
        + f"{1:8d}{dimension + 1:6d}{lines:8d}"
        + "".join(f"{value:5d}" for value in tail)
        + "\n"
    )


def _records(values: Sequence[float] | Floats) -> str:
    numbers = [_number(float(value)) for value in values]
    return "".join("    " + "".join(numbers[start : start + 7]) + "\n" for start in range(0, len(numbers), 7))


def _number(value: float) -> str:
    mantissa, exponent = f"{value:.10E}".split("E")
    return f"{mantissa}E{int(exponent):+04d}".rjust(COLUMN_WIDTH)


def _description(diagram: Diagram, layout: Layout) -> str:
    unknowns = f"U(k) = m_k, k = 1..{layout.cosines}: cosine moments of the density"
    equations = ["G_k = m_k - <cos(k theta)>,  rho ~ exp(-sum_j (PAR(1) w_j m_j + v_j) cos(j theta) / PAR(2)),"]
    if layout.sines:
        unknowns += f"; U({layout.cosines} + k) = s_k: its sine moments"
        equations = [
            "G_k = m_k - <cos(k theta)>,  G_(n+k) = s_k - <sin(k theta)>,",
            "rho ~ exp(-sum_j ((PAR(1) w_j m_j + v_j) cos(j theta) + PAR(1) w_j s_j sin(j theta)) / PAR(2)),",
        ]
    lines = [
        "Stationary states of a McKean-Vlasov equation on the circle, written by meanfield.",
        "",
        unknowns,
        "PAR(1) = coupling kappa, PAR(2) = noise D",
        "The equations 0 = G for a model file, <.> being the mean over the normalised density rho:",
        *(f"    {line}" for line in equations),
        "    with the multipliers w_j of the interaction and v_j of the confinement listed below;",
        "    those not listed are 0. F = -G has the sign that AUTO needs to tell stability.",
        *(f"    {line}" for line in _rotation_lines(diagram, layout)),
        "Labels: BP branch point, LP fold, EP end; a regular label (RG) marks equal free energy with the",
        "uniform state. Negative PT: stable, rotation excluded. The full vectors are in the s. file.",
        "",
        f"n = {layout.cosines}",
        "    j  w_j  v_j",
        *_multiplier_lines(diagram, layout),
        "",
        "The line below holds the problem and the branches for programs that read the files back.",
        DESCRIPTION_KEY + _ascii(_machine_header(diagram, layout)),
    ]
    return "".join(line + "\n" for line in lines)


def _rotation_lines(diagram: Diagram, layout: Layout) -> list[str]:
    if not layout.sines or diagram.problem.confinement is not None:
        return []
    return [
        "Every rotation of a state solves G = 0: the Jacobian given to AUTO must not be singular along the",
        "rotation, and for states without sines NDIM = n leaves them out.",
    ]


def _multiplier_lines(diagram: Diagram, layout: Layout) -> list[str]:
    problem = diagram.problem
    interaction = problem.potential.multipliers(problem.domain, layout.cosines)
    confinement = np.zeros_like(interaction)
    if problem.confinement is not None:
        # The field of the states reaches further than their moments; this is what 4 n + 64 nodes resolve.
        confinement = problem.confinement.multipliers(problem.domain, 2 * layout.cosines + 32)
        interaction = np.pad(interaction, (0, confinement.size - interaction.size))
    pairs = enumerate(zip(interaction, confinement, strict=True))
    return [f"{degree:5d}  {_shortest(w)}  {_shortest(v)}" for degree, (w, v) in pairs if degree and (w or v)]


def _machine_header(diagram: Diagram, layout: Layout) -> dict[str, object]:
    header = records.header(diagram)
    branches = [records.branch_header(branch) | {"points": len(branch)} for branch in diagram.branches]
    names = records.EVENT_INDICES + records.EVENT_TEXTS + records.EVENT_NUMBERS + records.EVENT_COUNTS
    events = [{name: getattr(event, name) for name in names} for event in diagram.special_points]
    return header | {
        "cosines": layout.cosines,
        "sines": layout.sines,
        "branches": branches,
        "special_points": events,
    }


def _shortest(value: float) -> str:
    # A strong transformer has multipliers beyond the range of doubles.
    return np.format_float_scientific(value, unique=True, trim="0")


def _ascii(value: object) -> str:
    return records.dump(value, ascii_only=True)
