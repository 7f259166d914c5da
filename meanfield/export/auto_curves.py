r"""AUTO-07p files of curves of special points: two free parameters, PAR(3) and PAR(1).

U holds the moments of the state as in the files of a diagram, PAR(1) is the coupling, PAR(2) the noise and PAR(3)
the parameter along which the curve runs; a curve in two parameters other than the coupling has PAR(3) and PAR(4).
Points of fold curves are labelled LP, of thresholds and curves of branch points BP, and those of transitions as
regular ones, so that AUTO can start from each of them, a fold with ISW = 2. Where the noise is itself the parameter
it is PAR(3), and PAR(2) has the same value.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import InvalidInput
from ..records.curves import Curve
from ..wording import describe
from .auto import COLUMN_WIDTH, LARGEST_DIMENSION, LARGEST_POINT, SHOWN, auto_number, auto_records, kept_moments
from .auto_description import Layout, with_digests

Floats = NDArray[np.float64]

CODES = {"fold": 2, "threshold": 1, "branch point": 1, "transition": 4}
# Points of a curve that have a label of their own, beside the organising ones and the ends.
EVERY = 5


def curve_texts(curves: Sequence[Curve]) -> tuple[str, str, str]:
    """Return the content of ``b.NAME``, ``s.NAME`` and ``d.NAME`` for curves in one pair of parameters.

    Raises
    ------
    InvalidInput
        If a state has no axis of symmetry, a number is not finite or the curves exceed the columns of the format.
    """
    _require(curves)
    kept = [kept_moments([(curve.cosine, curve.sine)]) for curve in curves]
    chiral = any(np.any(curve.sine) for curve in curves)
    layout = Layout(max(kept, default=1), max(kept, default=1) if chiral else 0)
    if layout.dimension > LARGEST_DIMENSION:
        raise InvalidInput(
            f"AUTO files hold at most {LARGEST_DIMENSION} unknowns, not {layout.dimension}; write .nc"
        )
    numbers = _parameters(curves)
    lines, solutions, label = [], [], 0
    for index, curve in enumerate(curves):
        vectors = layout.vectors(curve.cosine, curve.sine)
        labels = _labels(curve, label)
        label = int(labels.max(initial=label))
        lines.append(_header(curve, vectors, numbers) + _data(index, curve, vectors, labels))
        solutions.append(_solutions(index, curve, vectors, labels, numbers))
    points, states = "".join(lines), "".join(solutions)
    return points, states, with_digests(_description(curves, layout, numbers), points, states)


def _require(curves: Sequence[Curve]) -> None:
    if not curves:
        raise InvalidInput("there is no curve to write; AUTO files hold one at least")
    if len(curves) > 999:
        raise InvalidInput(f"AUTO files hold at most 999 curves, not {len(curves)}; write .nc or .json instead")
    for curve in curves:
        if not curve.moments.has_axis:
            raise InvalidInput(
                f"AUTO files hold densities with an axis of symmetry, and the curve {curve.label!r} has none; "
                "write .nc or .json instead"
            )
        if not (np.isfinite(curve.values).all() and np.isfinite(curve.cosine).all()):
            raise InvalidInput(
                f"the curve {curve.label!r} has numbers that are not known, which AUTO files cannot hold; write .nc"
            )


def _parameters(curves: Sequence[Curve]) -> dict[str, int]:
    """Return the number of each free parameter, the first to vary first."""
    first, second = curves[0].parameters
    return {first: 3, second: 1} if second == "coupling" else {first: 3, second: 4}


def _labels(curve: Curve, before: int) -> NDArray[np.int64]:
    """Return the labels of the points of a curve, 0 where there is none."""
    named = np.array([bool(name) for name in curve.point_labels]) | (np.arange(len(curve)) % EVERY == 0)
    named[[0, -1]] = True
    labels = np.zeros(len(curve), dtype=np.int64)
    labels[named] = before + 1 + np.arange(np.count_nonzero(named))
    return labels


def _header(curve: Curve, vectors: Floats, numbers: dict[str, int]) -> str:
    places = np.asarray(curve.values, dtype=float)
    steps = np.linalg.norm(np.diff(np.column_stack([places, vectors]), axis=0), axis=1)
    size, largest = (max(float(step), 1e-99) for step in (steps.mean(), steps.max())) if steps.size else (0.1, 0.1)
    low, high = sorted(map(float, curve.interval))
    first, second = numbers.values()
    names = [
        f"   PAR({first})",
        "   L2-NORM",
        *(f"     U({k})" for k in range(1, _shown(vectors) + 1)),
        f"   PAR({second})",
    ]
    lines = [
        f"   0 {low:12.4E}{high:12.4E}{0.0:12.4E}{1e4:12.4E}",
        f"   0   EPSL={1e-7:11.4E}   EPSU ={1e-7:11.4E}   EPSS ={1e-5:11.4E}",
        f"   0   DS  ={size:11.4E}   DSMIN={size / 1e4:11.4E}   DSMAX={largest:11.4E}",
        f"   0   NDIM={vectors.shape[1]:4d}   IPS =   1   IRS =   0   ILP =   1",
        "   0   NTST=   1   NCOL=   0   IAD =   3   ISP =   2",
        "   0   ISW =   2   IPLT=   0   NBC =   0   NINT=   0",
        f"   0   NMX={min(len(curve), 99999):5d}   NPR={0:5d}   MXBF=   0   IID =   2   IADS=   1",
        "   0   ITMX=   9   ITNW=   7   NWTN=   3   JAC =   0   NUZR=   0",
        f"   0   NPAR={max(numbers.values()):4d}   THL = {{}}    THU = {{}}",
        f"   0   User-specified parameters:       {first:4d}{second:4d}",
        f"   0   Active continuation parameters:  {first:4d}{second:4d}",
        "   0",
        "   0    PT  TY  LAB " + "".join(f"{name:<{COLUMN_WIDTH}}" for name in names),
    ]
    return "".join(line + "\n" for line in lines)


def _shown(vectors: Floats) -> int:
    return int(min(vectors.shape[1], SHOWN - 1))


def _data(index: int, curve: Curve, vectors: Floats, labels: NDArray[np.int64]) -> str:
    norms = np.sqrt(np.sum(vectors**2, axis=1))
    first, second = np.asarray(curve.values, dtype=float).T
    columns = np.column_stack([first, norms, vectors[:, : _shown(vectors)], second])
    codes = _codes(curve, labels)
    return "".join(
        f"{index + 1:4d}{point % LARGEST_POINT + 1:6d}{codes[point]:4d}{labels[point]:5d}"
        + "".join(map(auto_number, row))
        + "\n"
        for point, row in enumerate(columns)
    )


def _codes(curve: Curve, labels: NDArray[np.int64]) -> NDArray[np.int64]:
    return np.where(labels > 0, CODES[curve.type], 0)


def _solutions(
    index: int, curve: Curve, vectors: Floats, labels: NDArray[np.int64], numbers: dict[str, int]
) -> str:
    blocks = []
    count, dimension = max(numbers.values()), vectors.shape[1]
    for point in np.flatnonzero(labels).tolist():
        parameters = np.zeros(count)
        parameters[:2] = curve.coupling[point], _noise(curve, point)
        for number, value in zip(numbers.values(), curve.values[point], strict=True):
            parameters[number - 1] = value
        body = auto_records([0.0, *vectors[point]]) + auto_records(parameters)
        head: list[Any] = [index + 1, point % LARGEST_POINT + 1, CODES[curve.type], int(labels[point]), 2, 1]
        tail = [0, 0, count, 0, dimension, 1, 0]
        blocks.append(
            "".join(f"{value:6d}" for value in head)
            + f"{1:8d}{dimension + 1:6d}{body.count(chr(10)):8d}"
            + "".join(f"{value:5d}" for value in tail)
            + "\n"
            + body
        )
    return "".join(blocks)


def _noise(curve: Curve, point: int) -> float:
    places = dict(zip(curve.parameters, curve.values[point].tolist(), strict=True))
    return float(places.get("noise", curve.problem.noise))


def _description(curves: Sequence[Curve], layout: Layout, numbers: dict[str, int]) -> str:
    names = ", ".join(f"PAR({number}) = {name}" for name, number in numbers.items())
    lines = [
        "Curves of special points of a McKean-Vlasov equation in two parameters, written by meanfield.",
        "",
        describe(curves[0].problem),
        f"U(1..{layout.cosines}): moments of the state, by degree"
        + (f"; U({layout.cosines + 1}..{layout.dimension}): its sine moments" if layout.sines else ""),
        f"PAR(1) = coupling, PAR(2) = noise, {names}",
        "The equations 0 = G are those of the files of a diagram: G_k = m_k - <.> over exp(-(kappa W*rho + V)/D),",
        "the multipliers of W being those at the parameters of each point.",
        "Labels: LP fold, BP threshold of the uniform state or branch point, RG equal free energy of two states,",
        "of which U is the first. Start from an LP with ISW = 2 and both parameters in ICP.",
        "",
        *(f"branch {index + 1}: {curve.label}, {len(curve)} points" for index, curve in enumerate(curves)),
    ]
    return "".join(line + "\n" for line in lines)
