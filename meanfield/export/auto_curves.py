"""AUTO-07p files of curves of special points: two free parameters.

The parameters have the numbers of :mod:`meanfield.export.auto_model`: PAR(1) is the coupling, PAR(2) the noise, and
PAR(3), PAR(4) the others of the two along which the curve runs. U holds the moments of the state on which the
potential acts; the others follow. Points of fold curves are labelled LP, of thresholds and curves of branch points
BP, from which AUTO starts with ISW = 2. Those of transitions are regular ones of a problem with one free parameter:
behind the moments U has those of the second state, unless it is uniform, and the second parameter, determined by
equal free energies.
"""

import contextlib
import dataclasses
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..equations import Capability
from ..errors import InvalidInput
from ..harmonics import moments_of, packed
from ..records.columns import COUPLING
from ..records.curves import SAME_VALUE, Curve
from ..wording import describe
from .auto import (
    COLUMN_WIDTH,
    LARGEST_DIMENSION,
    LARGEST_POINT,
    SHOWN,
    auto_number,
    auto_records,
    kept_moments,
    unstable_modes,
)
from .auto_description import Layout, with_digests
from .auto_directions import Critical, critical, has_one, require_one
from .auto_model import Model, constants_text, model_text, outward, significant
from .auto_space import Pair, Space, nested_space

Floats = NDArray[np.float64]

CODES = {"fold": 2, "threshold": 1, "branch point": 1, "transition": 4}
# ISW of AUTO, which is also the number of its free parameters.
KINDS = {"fold": 2, "threshold": 2, "branch point": 2, "transition": 1}
# Points of a curve that have a label of their own, beside the organising ones and the ends.
EVERY = 5
# Of branch points in a file whose unknowns have not their critical direction, or several.
DRAWN = "; AUTO draws these branch points and does not go on from them here: write them into files of their own"
REGULAR = "the stationary equation, which is what they follow, is not singular there"
# What the files have of the equation, by whether the law is that of a pair potential.
EQUATIONS = (
    "The equations 0 = G are those of the files of a diagram: G_k = m_k - <.> over exp(-(kappa W*rho + V)/D),",
    "and NAME.f90 has them for AUTO, the multipliers as functions of the parameters.",
    "Labels: LP fold and BP threshold of the uniform state or branch point, from which AUTO starts with",
    "ISW = 2; RG equal free energy of two states, from which it starts with ISW = 1: the moments of the",
)
WITHOUT_EQUATIONS = (
    "The velocity is not the gradient law of a pair potential, whose equations alone are written: AUTO can",
    "draw these curves and not go on from them.",
    "Labels: LP fold, BP threshold of the uniform state or branch point, RG equal free energy: the moments of the",
)
# RL0 and RL1 of a parameter that stays the same are so much beside it.
BESIDE = 1e-3


def singular_curves(curves: Sequence[Curve]) -> tuple[tuple[Curve, ...], str]:
    """Return those of several curves that files hold, and a sentence of the others; all of them if none is held."""
    left = [repr(curve.label) for curve in curves if curve.type not in KINDS]
    if len(left) in (0, len(curves)):
        return tuple(curves), ""
    what = "the curve of Hopf bifurcations" if len(left) == 1 else "the curves of Hopf bifurcations"
    kept = tuple(curve for curve in curves if curve.type in KINDS)
    return kept, f"AUTO files leave out {what} {', '.join(left)}: {REGULAR}; write .nc for all curves"


def curve_texts(curves: Sequence[Curve], left_out: str = "") -> tuple[str, ...]:
    """Return the content of ``b.NAME``, ``s.NAME``, ``c.NAME``, ``NAME.f90`` and ``d.NAME`` for curves in one pair.

    Branch points that AUTO cannot go on from in one file with the others are written for it to draw. A sentence of
    curves that are left out stands in the description.

    Raises
    ------
    InvalidInput
        If not just one direction is critical at the branch points of a single curve among the unknowns, a number
        is not finite or the curves exceed the columns of the format.
    """
    _require(curves)
    model, directions = _directed_model(curves)
    layout = model.layout
    unknowns = [_vectors(curve, model, each) for curve, each in zip(curves, directions, strict=True)]
    lines, solutions, steps, named, label = [], [], [], [], 0
    for index, (curve, vectors) in enumerate(zip(curves, unknowns, strict=True)):
        dimension = vectors.shape[1]
        if dimension > LARGEST_DIMENSION:
            raise InvalidInput(f"AUTO files hold at most {LARGEST_DIMENSION} unknowns, not {dimension}; write .nc")
        labels = _labels(curve, label)
        told = f"branch {index + 1}: {curve.label}, labels {label + 1} to {labels[-1]}, NDIM = {dimension}"
        doubtful = directions[index] is None and _is_directed(curve)
        drawn = doubtful and not has_one(curve, dimension, model.unknowns, model.space)
        named.append(told + DRAWN if drawn else told)
        label = int(labels[-1])
        steps.append(_steps(curve, vectors))
        lines.append(_header(curve, vectors, steps[-1], model) + _data(index, curve, vectors, labels))
        solutions.append(_solutions(index, curve, vectors, labels, model))
    named += [left_out] if left_out else []
    points, states = "".join(lines), "".join(solutions)
    # Those of the first curve; the description has the others.
    constants = _constants(curves, unknowns[0].shape[1], np.concatenate(steps).tolist(), model)
    described = with_digests(_description(curves, layout, model, named), points, states)
    return points, states, constants, model_text(model), described


def _constants(curves: Sequence[Curve], unknowns: int, steps: Sequence[float], model: Model) -> str:
    """Return the content of ``c.NAME`` for the first of the curves.

    AUTO determines the first of its two parameters where a direction is critical, in equations that are singular
    where this does not depend on it, as along curves of which the second of ours stays the same.
    """
    curve, interval = curves[0], _interval(curves)
    low, high = float(curve.second.min()), float(curve.second.max())
    if KINDS[curve.type] == 1 or curve.type == "fold" or high - low > SAME_VALUE * max(abs(low), abs(high)):
        return constants_text(model, unknowns, curve.parameters, interval, steps, KINDS[curve.type])
    beside = BESIDE * max(abs(low), abs(high), SAME_VALUE)
    text = constants_text(
        model, unknowns, curve.parameters[::-1], (low - beside, high + beside), steps, KINDS[curve.type]
    )
    ends = ", ".join(f"{end:.4E}" for end in outward(interval))
    return text + f"UZSTOP = {{{model.numbers[curve.parameters[0]]}: [{ends}]}}\n"


def _is_directed(curve: Curve) -> bool:
    """Return whether AUTO goes on along a curve where the unknowns have the critical direction of its states."""
    return curve.type == "branch point" and not curve.problem.lacks(Capability.GRADIENT)


def _directed_model(curves: Sequence[Curve]) -> tuple[Model, list[Critical | None]]:
    """Return the model of curves and their critical directions, None of those that AUTO does not go on from.

    Unknown are the moments that the potential acts on.

    Raises
    ------
    InvalidInput
        If there is one curve only, and AUTO does not go on from it.
    """
    model, kept = _model_of_states(curves)
    last, alone = significant(model), len(curves) == 1
    found: list[Critical | None] = [None for _ in curves]
    for index, curve in enumerate(curves):
        if _is_directed(curve):
            with contextlib.nullcontext() if alone else contextlib.suppress(InvalidInput):
                found[index] = critical(curve, kept, last)
    while True:
        try:
            whole = _with_directions(curves, found, model, kept)
        except InvalidInput:
            # There are more unknowns than files hold.
            if alone or not any(found):
                raise
            found = [None for _ in curves]
            continue
        lost = [
            index for index, each in enumerate(found) if each and not _is_held(curves[index], each, whole, alone)
        ]
        if not lost:
            return whole, found
        # What is left without them may suit the others.
        for index in lost:
            found[index] = None


def _is_held(curve: Curve, direction: Critical, model: Model, alone: bool) -> bool:
    """Return whether AUTO goes on along a curve in the unknowns of a model; one that is alone is required to."""
    dimension = _vectors(curve, model, direction).shape[1]
    if alone:
        require_one(curve, dimension, model.unknowns, model.space)
        return True
    return has_one(curve, dimension, model.unknowns, model.space)


def _model_of_states(curves: Sequence[Curve]) -> tuple[Model, int]:
    """Return the model of the moments of states of curves, and the degree of those that are kept."""
    parameters, domain = curves[0].parameters, curves[0].problem.domain
    second = np.concatenate([np.asarray(curve.second, dtype=float) for curve in curves])
    ranges = zip(parameters, (_interval(curves), (float(second.min()), float(second.max()))), strict=True)
    varied = {name: interval for name, interval in ranges if name != COUPLING}
    states = [pair for curve in curves for pair in _states(curve) if pair]
    moments = [moments_of(domain, curve.layout, *pair) for curve in curves for pair in _states(curve) if pair]
    lengths = [(each.lengths, 0.0 * each.lengths) for each in moments]
    kept = max(kept_moments(lengths), *(_critical_degree(curve) for curve in curves))
    sines = any(np.any(sine) for _, sine in states)
    return Model(curves[0].problem, kept, kept, sines, varied, parameters[1]), kept


def _with_directions(
    curves: Sequence[Curve], directions: Sequence[Critical | None], model: Model, kept: int
) -> Model:
    """Return the model of curves with some critical directions among the unknowns.

    Raises
    ------
    InvalidInput
        If there are too many.
    """
    domain = curves[0].problem.domain
    resolved = max(kept, *(each.degree for each in directions if each), kept)
    model = dataclasses.replace(model, unknowns=min(resolved, significant(model)), resolved=resolved)
    beyond = any(each and not each.held for each in directions)
    if not domain.has_azimuth:
        return dataclasses.replace(model, sines=model.sines or beyond)
    if all(curve.moments.has_axis for curve in curves) and not beyond:
        return model
    return dataclasses.replace(model, sines=False, space=_space(curves, directions, model))


def _space(curves: Sequence[Curve], directions: Sequence[Critical | None], model: Model) -> Space:
    """Return the unknowns of curves on S^2 some of which need others than moments about the axis."""
    zonal = [each.direction for each in directions if each and each.held]
    others = [each.direction for each in directions if each and not each.held]
    for curve in curves:
        pairs = [_by_order(curve, pair) for pair in _states(curve) if pair]
        (zonal if curve.moments.has_axis else others).extend(pairs)
        if curve.moments.has_axis and _critical_degree(curve):
            # At the uniform state, which has no moments, those of all degrees are needed.
            every = packed(np.ones(_critical_degree(curve) + 1))[np.newaxis]
            zonal.append((every, 0.0 * every))
    return nested_space(model.corners, zonal, others, model.unknowns)


def _by_order(curve: Curve, pair: Pair) -> Pair:
    """Return the moments of states on S^2 by degree and order."""
    if not curve.moments.has_axis:
        return pair
    cosine, sine = (np.array([packed(row) for row in part]) for part in pair)
    return cosine, sine


def _states(curve: Curve) -> list[tuple[Floats, Floats] | None]:
    """Return the moments of the states of a curve, None for a second one that it has not or that is uniform."""
    return [(curve.cosine, curve.sine), _second_states(curve)]


def _interval(curves: Sequence[Curve]) -> tuple[float, float]:
    """Return the range of the first parameter that all curves cover together."""
    ends = np.array([curve.interval for curve in curves], dtype=float)
    return float(ends.min()), float(ends.max())


def _second_states(curve: Curve) -> tuple[Floats, Floats] | None:
    """Return the moments of the second states of a curve; None if there are none or they are uniform."""
    cosine, sine = curve.other_cosine, curve.other_sine
    if cosine is None or sine is None:
        return None
    uniform = curve.problem.confinement is None and not (np.any(cosine[:, 1:]) or np.any(sine))
    return None if uniform else (cosine, sine)


def _critical_degree(curve: Curve) -> int:
    """Return the highest mode to which the uniform state is unstable at an end of a curve that lies on it."""
    if curve.problem.confinement is not None or curve.type != "threshold":
        return 0
    ends = [curve.point(place).problem for place in (0, -1)]
    return max(unstable_modes(end, end.fixed_coupling, end.fixed_coupling) for end in ends)


def _vectors(curve: Curve, model: Model, direction: Critical | None) -> Floats:
    """Return the unknowns: of a transition those of both states, but of a uniform one, and the second parameter.

    Of other curves those moments that their states and critical directions have, about an axis the first ones.
    """
    states, layout = [pair for pair in _states(curve) if pair], model.layout
    if model.space:
        states = [_by_order(curve, pair) for pair in states]
    vectors = np.hstack([layout.vectors(*pair) for pair in states])
    if curve.type == "transition":
        return np.hstack([vectors, np.asarray(curve.values[:, 1:], dtype=float)])
    upright = curve.moments.has_axis and not np.any(curve.sine) and (direction is None or direction.held)
    return vectors[:, : layout.leading] if upright else vectors


def _require(curves: Sequence[Curve]) -> None:
    if not curves:
        raise InvalidInput("there is no curve to write; AUTO files hold one at least")
    if len(curves) > 999:
        raise InvalidInput(f"AUTO files hold at most 999 curves, not {len(curves)}; write .nc or .json instead")
    for curve in curves:
        if curve.type not in KINDS:
            raise InvalidInput(
                f"the curve {curve.label!r} is one of Hopf bifurcations, which AUTO files cannot hold: {REGULAR}; "
                "write .nc"
            )
        if not (np.isfinite(curve.values).all() and np.isfinite(curve.cosine).all()):
            raise InvalidInput(
                f"the curve {curve.label!r} has numbers that are not known, which AUTO files cannot hold; write .nc"
            )


def _labels(curve: Curve, before: int) -> NDArray[np.int64]:
    """Return the labels of the points of a curve, 0 where there is none."""
    named = np.array([bool(name) for name in curve.point_labels]) | (np.arange(len(curve)) % EVERY == 0)
    named[[0, -1]] = True
    labels = np.zeros(len(curve), dtype=np.int64)
    labels[named] = before + 1 + np.arange(np.count_nonzero(named))
    return labels


def _steps(curve: Curve, vectors: Floats) -> Floats:
    """Return the distances between points in the parameters and the unknowns."""
    places = np.asarray(curve.values, dtype=float)
    return np.asarray(np.linalg.norm(np.diff(np.column_stack([places, vectors]), axis=0), axis=1))


def _header(curve: Curve, vectors: Floats, steps: Floats, model: Model) -> str:
    size, largest = (max(float(step), 1e-99) for step in (steps.mean(), steps.max())) if steps.size else (0.1, 0.1)
    low, high = outward(curve.interval)
    first, second = (model.numbers[name] for name in curve.parameters)
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
        f"   0   ISW ={KINDS[curve.type]:4d}   IPLT=   0   NBC =   0   NINT=   0",
        f"   0   NMX={min(len(curve), 99999):5d}   NPR={0:5d}   MXBF=   0   IID =   2   IADS=   1",
        "   0   ITMX=   9   ITNW=   7   NWTN=   3   JAC =   0   NUZR=   0",
        f"   0   NPAR={len(model.numbers):4d}   THL = {{}}    THU = {{}}",
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


def _solutions(index: int, curve: Curve, vectors: Floats, labels: NDArray[np.int64], model: Model) -> str:
    blocks = []
    dimension, kind = vectors.shape[1], KINDS[curve.type]
    for point in np.flatnonzero(labels).tolist():
        places = dict(zip(curve.parameters, curve.values[point].tolist(), strict=True))
        parameters = model.values({COUPLING: float(curve.coupling[point])} | places)
        body = auto_records([0.0, *vectors[point]]) + auto_records(parameters)
        head: list[Any] = [index + 1, point % LARGEST_POINT + 1, CODES[curve.type], int(labels[point]), kind, kind]
        tail = [0, 0, len(parameters), 0, dimension, 1, 0]
        blocks.append(
            "".join(f"{value:6d}" for value in head)
            + f"{1:8d}{dimension + 1:6d}{body.count(chr(10)):8d}"
            + "".join(f"{value:5d}" for value in tail)
            + "\n"
            + body
        )
    return "".join(blocks)


def _description(curves: Sequence[Curve], layout: Layout | Space, model: Model, named: Sequence[str]) -> str:
    names = ", ".join(f"PAR({number}) = {name}" for name, number in model.numbers.items())
    of_gradient, last = not model.problem.lacks(Capability.GRADIENT), model.numbers[model.second]
    lines = [
        "Curves of special points of a McKean-Vlasov equation in two parameters, written by meanfield.",
        "",
        describe(curves[0].problem),
        *layout.described(),
        names,
        *(EQUATIONS if of_gradient else WITHOUT_EQUATIONS),
        f"second, unless it is uniform, follow those of the first, and the last unknown is PAR({last}).",
        "",
        *named,
    ]
    return "".join(line + "\n" for line in lines)
