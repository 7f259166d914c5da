r"""AUTO-07p files: ``b.NAME`` (diagram), ``s.NAME`` (labelled points), ``d.NAME`` (description of the numbers).

Beside them ``NAME.f90`` has the equations and ``c.NAME`` the constants of a run, see
:mod:`meanfield.export.auto_model`.

U(1), ..., U(NDIM) are the cosine moments m_1, ..., m_n of the density; if any state of the diagram has sine
moments, they follow in the second half of U. PAR(1) is the coupling, PAR(2) the noise, PAR(3) another parameter.
Every labelled point carries the direction of its branch, of length 1, so that AUTO can restart and switch branches
there:

.. math::

    0 = G_k(U) = m_k - \langle\cos k\theta\rangle_\rho, \qquad
    \rho \propto \exp\Bigl(-\frac{1}{\mathrm{PAR}(2)}
        \sum_j (\mathrm{PAR}(1)\, w_j m_j + v_j) \cos j\theta\Bigr)

with the multipliers w_j of the interaction and v_j of the confinement. On spheres U(l) is the moment p_l about the
axis of symmetry, with :math:`P_l(\cos\theta)` in the place of :math:`\cos l\theta`; densities without an axis are
refused. AUTO keeps eleven digits. A point is marked stable (negative PT) only where its unstable directions were
counted and are none.
"""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ..equations import Equation
from ..errors import InvalidInput
from ..potentials import Number
from ..records.branch import Branch
from ..records.columns import COUPLING
from ..records.diagram import Diagram
from ..theory import critical_modes
from . import records
from .auto_description import Layout, description, with_digests
from .auto_model import Model, constants_text, diagram_model, model_text, outward, significant
from .files import beside

Floats = NDArray[np.float64]

TYPE_CODES = {"BP": 1, "LP": 2, "HB": 3, "TR": 4, "EP": 9}
COLUMN_WIDTH = 19
LARGEST_POINT = 9999
LARGEST_DIMENSION = 9999
SHOWN = 6
NEGLIGIBLE = 1e-17


def auto_paths(path: Path) -> tuple[Path, Path, Path]:
    """Return the paths of the three files for ``NAME.auto``, ``b.NAME`` or ``NAME``."""
    name = path.name
    if name.startswith("b.") and len(name) > 2:
        stem = name[2:]
    else:
        stem = name.removesuffix(".auto")
    return beside(path, f"b.{stem}"), beside(path, f"s.{stem}"), beside(path, f"d.{stem}")


def auto_targets(path: Path) -> tuple[Path, ...]:
    """Return all files that are written: ``b.NAME``, ``s.NAME``, ``c.NAME``, ``NAME.f90`` and ``d.NAME``."""
    diagram, solutions, described = auto_paths(path)
    stem = diagram.name[2:]
    return diagram, solutions, beside(path, f"c.{stem}"), beside(path, f"{stem}.f90"), described


def auto_texts(diagram: Diagram) -> tuple[str, ...]:
    """Return the content of the files of a diagram, in the order of :func:`auto_targets`.

    Raises
    ------
    InvalidInput
        If a number to be written is not finite, a coupling is beyond double precision, a branch has no axis of
        symmetry or the diagram exceeds the columns of the format.
    """
    records.require_doubles(diagram, "AUTO")
    _require_axes(diagram)
    layout = _layout(diagram)
    model = diagram_model(diagram, layout)
    diagram_parts, solution_parts = [], []
    label = 0
    for index, branch in enumerate(diagram.branches):
        vectors = layout.vectors(branch.cosine, branch.sine)
        codes = _codes(branch)
        labels = np.zeros(len(branch), dtype=int)
        labels[codes > 0] = label + 1 + np.arange(np.count_nonzero(codes))
        label += int(np.count_nonzero(codes))
        _check(branch, vectors, index, label, layout)
        diagram_parts.append(_header_block(diagram, branch, vectors, model))
        diagram_parts.append(_data_lines(index, branch, vectors, codes, labels))
        solution_parts.append(_solutions(index, branch, layout, codes, labels, model))
    points, solutions = "".join(diagram_parts), "".join(solution_parts)
    steps = [size for branch in diagram.branches for size in _steps(branch, layout)]
    # Without sines those suffice that the potential acts on, and AUTO is so much the faster.
    unknowns = layout.dimension if layout.sines else min(layout.cosines, significant(model))
    constants = constants_text(model, unknowns, (diagram.parameter,), diagram.interval, steps)
    described = with_digests(description(diagram, layout), points, solutions)
    return points, solutions, constants, model_text(model), described


def _steps(branch: Branch, layout: Layout) -> list[float]:
    """Return the distances between the points of a branch in its parameter and the unknowns."""
    vectors = layout.vectors(branch.cosine, branch.sine)
    places = np.column_stack([np.asarray(branch.values, dtype=np.float64), vectors])
    return [float(step) for step in np.linalg.norm(np.diff(places, axis=0), axis=1)]


def _require_axes(diagram: Diagram) -> None:
    """Refuse branches of densities without an axis of symmetry."""
    labels = [repr(branch.label) for branch in diagram.branches if not branch.moments.has_axis]
    if labels:
        branches = f"branch{'' if len(labels) == 1 else 'es'} {', '.join(labels)}"
        raise InvalidInput(
            f"AUTO files hold densities with an axis of symmetry, and the {branches} of this diagram "
            f"ha{'s' if len(labels) == 1 else 've'} none; write .nc, .json, .npz or .mat instead"
        )


def _layout(diagram: Diagram) -> Layout:
    kept = kept_moments([(branch.cosine, branch.sine) for branch in diagram.branches])
    # At a branch point the kernel is among the unknowns only if its mode is, even if no branch was followed.
    kept = max(kept, _unstable_degree(diagram))
    chiral = any(np.any(branch.sine) for branch in diagram.branches)
    return Layout(kept, kept if chiral else 0)


def kept_moments(pairs: Sequence[tuple[Floats, Floats]]) -> int:
    """Return the highest degree, at least 1, of a moment that is not negligible among cosine and sine moments."""
    used = [
        np.flatnonzero(np.max(np.abs(moments[:, 1:]), axis=0, initial=0.0) >= NEGLIGIBLE)
        for pair in pairs
        for moments in pair
    ]
    return max((int(degrees[-1]) + 1 for degrees in used if degrees.size), default=1)


def _unstable_degree(diagram: Diagram) -> int:
    """Return the highest mode to which the uniform state is unstable somewhere in the interval, 0 if none is."""
    problem = diagram.problem
    if problem.confinement is not None:
        return 0
    low, high = diagram.interval
    if diagram.parameter != COUPLING:
        low = high = problem.fixed_coupling
        ends = [problem.with_parameter(diagram.parameter, float(end)) for end in diagram.interval]
        return max(unstable_modes(end, low, high) for end in ends)
    return unstable_modes(problem, low, high)


def unstable_modes(problem: Equation, low: Number, high: Number) -> int:
    """Return the highest mode to which the uniform state is unstable between couplings, 0 if none is."""
    points = critical_modes(problem, min(low, 0.0), max(high, 0.0))
    return max((mode for point in points for mode in point.modes), default=0)


def _codes(branch: Branch) -> NDArray[np.int64]:
    codes = np.array([TYPE_CODES.get(label, 0) for label in branch.point_labels], dtype=np.int64)
    ends = [0, -1]
    codes[ends] = np.where(codes[ends] == 0, TYPE_CODES["EP"], codes[ends])
    return codes


def _check(branch: Branch, vectors: Floats, index: int, label: int, layout: Layout) -> None:
    if not (np.all(np.isfinite(vectors)) and np.all(np.isfinite(branch.values))):
        raise InvalidInput(
            f"branch {branch.label!r} has moments that are not known, which AUTO files cannot hold; "
            "write .nc, .json or .npz instead"
        )
    if index >= 999 or label > 9999 or layout.dimension > LARGEST_DIMENSION:
        raise InvalidInput(
            f"AUTO files hold at most 999 branches, 9999 labels and 9999 unknowns, and this diagram needs "
            f"{index + 1}, {label} and {layout.dimension}; write .nc, .json or .npz instead"
        )


def _header_block(diagram: Diagram, branch: Branch, vectors: Floats, model: Model) -> str:
    # AUTO takes the constants of a run over into the next, and stops at once at a point outside RL0 and RL1.
    lower, upper = outward(diagram.interval)
    steps = np.linalg.norm(np.diff(np.column_stack([branch.values, vectors]), axis=0), axis=1)
    size, largest = (max(float(step), 1e-99) for step in (steps.mean(), steps.max())) if steps.size else (0.1, 0.1)
    start = size if len(branch) == 1 or branch.values[1] >= branch.values[0] else -size
    dimension, number = vectors.shape[1], model.numbers[diagram.parameter]
    names = [f"   PAR({number})", "   L2-NORM", *(f"     U({k})" for k in range(1, min(dimension, SHOWN) + 1))]
    lines = [
        f"   0 {lower:12.4E}{upper:12.4E}{0.0:12.4E}{1e4:12.4E}",
        f"   0   EPSL={1e-7:11.4E}   EPSU ={1e-7:11.4E}   EPSS ={1e-5:11.4E}",
        f"   0   DS  ={start:11.4E}   DSMIN={size / 1e4:11.4E}   DSMAX={largest:11.4E}",
        f"   0   NDIM={dimension:4d}   IPS =   1   IRS =   0   ILP =   1",
        "   0   NTST=   1   NCOL=   0   IAD =   3   ISP =   2",
        "   0   ISW =   1   IPLT=   0   NBC =   0   NINT=   0",
        f"   0   NMX={min(len(branch), 99999):5d}   NPR={0:5d}   MXBF=   0   IID =   2   IADS=   1",
        "   0   ITMX=   9   ITNW=   7   NWTN=   3   JAC =   0   NUZR=   0",
        f"   0   NPAR={len(model.numbers):4d}   THL = {{}}    THU = {{}}",
        f"   0   User-specified parameter:       {number:4d}",
        f"   0   Active continuation parameter:  {number:4d}",
        "   0",
        "   0    PT  TY  LAB " + "".join(f"{name:<{COLUMN_WIDTH}}" for name in names),
    ]
    return "".join(line + "\n" for line in lines)


def _data_lines(
    index: int, branch: Branch, vectors: Floats, codes: NDArray[np.int64], labels: NDArray[np.int64]
) -> str:
    norms = np.sqrt(np.sum(vectors**2, axis=1))
    columns = np.column_stack([np.asarray(branch.values, dtype=np.float64), norms, vectors[:, :SHOWN]])
    lines = []
    for point, row in enumerate(columns):
        number = point % LARGEST_POINT + 1
        sign = -1 if branch.unstable[point] == 0 else 1
        lines.append(
            f"{index + 1:4d}{sign * number:6d}{codes[point]:4d}{labels[point]:5d}"
            + "".join(map(auto_number, row))
            + "\n"
        )
    return "".join(lines)


def _solutions(
    index: int,
    branch: Branch,
    layout: Layout,
    codes: NDArray[np.int64],
    labels: NDArray[np.int64],
    model: Model,
) -> str:
    chosen = np.flatnonzero(codes)
    vectors = layout.vectors(branch.cosine[chosen], branch.sine[chosen])
    directions = layout.vectors(branch.tangent_cosine[chosen], branch.tangent_sine[chosen])
    speeds = np.asarray(branch.tangent_values[chosen], dtype=np.float64)
    lengths = np.sqrt(np.sum(directions**2, axis=1) + speeds**2)
    blocks = []
    for row, point in enumerate(chosen):
        known = bool(np.isfinite(lengths[row]) and lengths[row] > 0)
        body = auto_records([0.0, *vectors[row]])
        if known:
            body += f"{model.numbers[branch.parameter]:5d}\n" + auto_records([speeds[row] / lengths[row]])
            body += auto_records(directions[row] / lengths[row])
        parameters = model.values({branch.parameter: float(branch.values[point])})
        body += auto_records(parameters)
        head = [index + 1, int(point) % LARGEST_POINT + 1, int(codes[point]), int(labels[point]), 1, 1]
        blocks.append(_solution_header(head, (layout.dimension, len(parameters)), body.count("\n"), known) + body)
    return "".join(blocks)


def _solution_header(head: Sequence[int], sizes: tuple[int, int], lines: int, known: bool) -> str:
    dimension, parameters = sizes
    tail = [int(known), 0, parameters, 0, dimension, 1, 0]
    return (
        "".join(f"{value:6d}" for value in head)
        + f"{1:8d}{dimension + 1:6d}{lines:8d}"
        + "".join(f"{value:5d}" for value in tail)
        + "\n"
    )


def auto_records(values: Sequence[float] | Floats) -> str:
    """Return numbers as lines of seven."""
    numbers = [auto_number(float(value)) for value in values]
    return "".join("    " + "".join(numbers[start : start + 7]) + "\n" for start in range(0, len(numbers), 7))


def auto_number(value: float) -> str:
    """Return a number in the columns of the format, with an exponent of three digits."""
    mantissa, exponent = f"{value:.10E}".split("E")
    return f"{mantissa}E{int(exponent):+04d}".rjust(COLUMN_WIDTH)
