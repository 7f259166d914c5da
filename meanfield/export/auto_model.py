"""The equations of AUTO-07p files as a Fortran file that AUTO compiles, and the constants of a run.

``NAME.f90`` holds what the files of a diagram or of curves solve, in the coupling, the noise and the other
parameters they vary: no other file and no library is needed. The multipliers of the noisy transformer are functions
of beta by the recurrence of Bessel functions; those of any potential in any other parameter are Chebyshev series on
pieces of the range, whose error is measured and stated. What has no such file has one that says why.
"""

import decimal
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.resources import files
from itertools import product
from textwrap import wrap
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..equations import Capability, Equation, Interaction
from ..errors import InvalidInput
from ..harmonics import degrees_and_orders, packed_size
from ..potentials import Number, Transformer
from ..records.columns import COUPLING
from ..records.diagram import Diagram
from ..wording import describe
from .auto_description import Layout
from .auto_series import Table, largest_of, tabulated, widened
from .auto_space import Space, free_axes

Floats = NDArray[np.float64]

NOISE = "noise"
SMALLEST = float(np.finfo(float).tiny)
ROUNDING = float(np.finfo(float).eps)
# The arrays that say of what harmonics a confinement without an axis consists.
FORCED = ("PLACES", "FORCE_LEVELS", "FORCE_ORDERS")
WIDTH = 110


@dataclass(frozen=True)
class Model:
    """What the equations file of a diagram or of curves is for.

    Attributes
    ----------
    problem
        The equation; its parameters that are not varied are fixed as they are here.
    unknowns : int
        Moments of each state that are unknown, of cosines and of sines alike.
    resolved : int
        Degree up to which the densities are resolved.
    sines : bool
        Whether states have sine moments.
    varied : mapping of str to (float, float)
        The parameters that vary beside the coupling, with their ranges.
    second : str
        The parameter that is unknown on a line of equal free energy.
    space : Space or None
        What the unknowns are of states on S^2 without an axis; None where they are moments by degree.
    """

    problem: Equation
    unknowns: int
    resolved: int
    sines: bool
    varied: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    second: str = COUPLING
    space: Space | None = None

    @property
    def layout(self) -> Layout | Space:
        """The layout of the unknowns of a state."""
        return self.space or Layout(self.unknowns, self.unknowns if self.sines else 0)

    @property
    def degrees(self) -> NDArray[np.int64]:
        """The degree of each unknown of a state."""
        own = np.arange(1, self.unknowns + 1)
        return self.space.degrees if self.space else np.tile(own, 2 if self.sines else 1)

    @property
    def corners(self) -> list[Equation]:
        """The equation at the ends of the ranges of the parameters."""
        ends = product(*self.varied.values())
        return [_moved(self.problem, list(zip(self.varied, corner, strict=True))) for corner in ends]

    @property
    def numbers(self) -> dict[str, int]:
        """The number of each parameter: PAR(1) is the coupling, PAR(2) the noise."""
        others = [name for name in self.varied if name not in (COUPLING, NOISE)]
        return {COUPLING: 1, NOISE: 2} | {name: place for place, name in enumerate(others, start=3)}

    @property
    def others(self) -> tuple[str, ...]:
        """The parameters behind the noise, in the order of their numbers."""
        return tuple(self.numbers)[2:]

    @property
    def closed(self) -> str | None:
        """The parameter in which the multipliers are closed forms, if there is one."""
        problem = self.problem
        if problem.lacks(Capability.GRADIENT) or not isinstance(problem.potential, Transformer):
            return None
        return next((name for name in self.others if problem.place_of(name) == (problem.law_field, "beta")), None)

    def values(self, place: Mapping[str, float]) -> list[float]:
        """Return PAR(1), PAR(2), ... where some have the given values and the others those of the problem."""
        known = {**self.problem.parameters, **place}
        return [float(known[name]) for name in self.numbers]


def diagram_model(diagram: Diagram, layout: Layout) -> Model:
    """Return the model of a diagram, in beta too where the multipliers are closed forms in it."""
    problem, name = diagram.problem, diagram.parameter
    varied = {} if name == COUPLING else {name: (float(diagram.interval[0]), float(diagram.interval[1]))}
    if not problem.lacks(Capability.GRADIENT) and isinstance(problem.potential, Transformer):
        beta = float(problem.potential.beta)
        varied.setdefault("beta", (beta, beta))
    return Model(problem, layout.cosines, layout.cosines, layout.sines > 0, varied)


def constants_text(
    model: Model,
    unknowns: int,
    free: tuple[str, ...],
    interval: tuple[Number, Number],
    steps: Sequence[float],
    kind: int = 1,
) -> str:
    """Return the content of ``c.NAME``.

    Parameters
    ----------
    unknowns
        NDIM.
    free
        The parameters that vary, the first over the interval.
    steps
        Distances between points, the mean of which is the largest step, and half of it the first.
    kind
        ISW.
    """
    size = float(np.mean(steps)) if len(steps) else 0.1
    low, high = outward(interval)
    names = ", ".join(f"{number} = {name}" for name, number in model.numbers.items())
    lines = (
        f"# parameters: {names}",
        f"NDIM = {unknowns}, IPS = 1, ISW = {kind}, ILP = 1, ISP = 2, JAC = 1, NPAR = {len(model.numbers)}",
        f"ICP = [{', '.join(str(model.numbers[name]) for name in free)}]",
        "NMX = 200, NPR = 10, MXBF = 0, IID = 2, ITMX = 20, ITNW = 7, NWTN = 3",
        f"DS = {size / 2:.4g}, DSMIN = {size / 1e4:.4g}, DSMAX = {size:.4g}, IADS = 1",
        f"RL0 = {low:.4E}, RL1 = {high:.4E}",
        # With smaller ones AUTO overlooks branch points, where Newton's method does not get further.
        "EPSL = 1e-07, EPSU = 1e-07, EPSS = 1e-05",
    )
    return "".join(line + "\n" for line in lines)


def outward(interval: tuple[Number, Number]) -> tuple[float, float]:
    """Return an interval, in increasing order, rounded to five digits such that it contains the given one.

    AUTO stops at once at a point outside RL0 and RL1.
    """
    low, high = sorted(map(float, interval))
    down, up = (decimal.Context(prec=5, rounding=way) for way in (decimal.ROUND_FLOOR, decimal.ROUND_CEILING))
    return float(down.create_decimal_from_float(low)), float(up.create_decimal_from_float(high))


def significant(model: Model) -> int:
    """Return the degree beyond which no multiplier in the ranges of the parameters moves a density."""
    if model.problem.lacks(Capability.GRADIENT):
        return model.unknowns
    return max(Interaction(problem).significant_degree for problem in model.corners)


def model_text(model: Model) -> str:
    """Return the content of ``NAME.f90``, comments that say why if there can be no such file."""
    if model.problem.lacks(Capability.GRADIENT):
        return _refused(
            model, "the velocity is not the gradient law of a pair potential, whose equations alone are written"
        )
    try:
        return _text(model)
    except InvalidInput as error:
        return _refused(model, str(error))


def _refused(model: Model, reason: str) -> str:
    lines = (
        f"There are no equations for AUTO of {describe(model.problem)}:",
        f"{reason}.",
        "AUTO can draw these files and not go on from them.",
    )
    return "".join(f"! {line}\n" for text in lines for line in wrap(text, WIDTH))


class Forces(NamedTuple):
    """The coefficients of the confinement that are written: those among what the nodes resolve.

    Attributes
    ----------
    degree : int
        The largest degree of them.
    places : (count,) int or None
        Without an axis their places among packed cosines and sines up to it; None where they are by degree.
    """

    degree: int
    places: NDArray[np.int64] | None = None

    @property
    def size(self) -> int:
        """Their number, of cosines where they are by degree."""
        return self.degree if self.places is None else self.places.size

    @property
    def harmonics(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Degrees, and orders, those of sines negative, of coefficients without an axis."""
        assert self.places is not None
        degrees, orders = degrees_and_orders(self.degree)
        return np.tile(degrees, 2)[self.places], np.concatenate([orders, -orders])[self.places]


def _text(model: Model) -> str:
    forces = _forces(model)
    fixed, tables = _dependence(model, forces)
    rotations = _rotations(model, forces)
    declarations = [*_array("FIXED", fixed), *_array("DEGREES", model.degrees), *_harmonics(model, forces)]
    declarations += _turns(rotations)
    declarations += [*(line for name in tables for line in _declared(model, name, tables))]
    calls = []
    if model.closed:
        number = model.numbers[model.closed]
        calls.append(f"    CALL EXPONENTIAL(PAR({number}), C, DC(:,{number}))")
    calls += [_call(model, name, table) for name, table in tables.items()]
    constants = {
        "HEADER": "\n".join(f"! {line}" for text in _header(model, tables) for line in wrap(text, WIDTH)),
        "N": model.unknowns,
        "RESOLVED": model.resolved,
        "FORCES": forces.size,
        "FARTHEST": forces.degree if forces.places is None else 0,
        "D": model.problem.domain.dimension,
        "UNEVEN": ".TRUE." if model.sines else ".FALSE.",
        "AROUND": 2 * model.resolved + 33 if model.space else 1,
        "STATES": model.degrees.size,
        "AXES": len(rotations),
        "SHAPES": _shapes(model),
        "PARTS": _parts(forces),
        "PARAMETERS": len(model.numbers),
        "SECOND": model.numbers[model.second],
        "TABLES": "\n".join(declarations),
        "COEFFICIENTS": "\n".join(calls),
    }
    text = files(__package__).joinpath("model.f90").read_text(encoding="ascii")
    for name, value in constants.items():
        text = text.replace(f"@{name}@", str(value))
    return text


def _header(model: Model, tables: Mapping[str, Table]) -> Iterator[str]:
    yield f"Stationary states of {describe(model.problem)}, written by meanfield."
    if model.space:
        yield "U: moments of the density with combinations of harmonics"
        yield from (f"U({number}): {name}" for number, name in enumerate(model.space.names(), start=1))
    else:
        behind = ", those of sines behind those of cosines" if model.sines else ""
        yield f"U: moments of the density by degree{behind}"
    yield ", ".join(f"PAR({number}) = {name}" for name, number in model.numbers.items())
    if model.closed:
        yield f"The multipliers are exact at every {model.closed} but 0."
    for name, table in tables.items():
        if table.anywhere:
            yield f"The multipliers are linear in {name}."
        else:
            low, high = table.breaks[[0, -1]]
            yield f"The multipliers are tabulated for {name} from {low:g} to {high:g},"
            yield f"to {table.error:.0e} of the largest at the same {name}; beyond, AUTO is stopped."


def _harmonics(model: Model, forces: Forces) -> Iterator[str]:
    """Yield the lines that declare of what harmonics the unknowns, and a confinement without an axis, consist."""
    if model.space:
        columns = zip(*model.space.entries(), strict=True)
        for name, column in zip(("MODES", "LEVELS", "ORDERS", "SIZES"), columns, strict=True):
            yield from _array(name, np.array(column))
    if forces.places is not None:
        for name, values in zip(FORCED, (np.arange(1, forces.size + 1), *forces.harmonics), strict=True):
            yield from _array(name, values)


def _rotations(model: Model, forces: Forces) -> Floats:
    """Return the generators of the rotations that turn states to others, on the unknowns of one, (k, n, n)."""
    if model.space:
        # An axis that the confinement has at the start only is none along the curves.
        return model.space.free_rotations(free_axes(model.problem) if forces.places is None else np.zeros((0, 3)))
    if forces.size > 0 or not model.sines:
        return np.zeros((0, 0, 0))
    degrees = np.diag(np.arange(1.0, model.unknowns + 1.0))
    return np.block([[0.0 * degrees, -degrees], [degrees, 0.0 * degrees]])[np.newaxis]


def _turns(rotations: Floats) -> Iterator[str]:
    """Yield the lines that declare what rotations change."""
    about, into, origin = np.nonzero(np.abs(rotations) > ROUNDING * np.abs(rotations).max(initial=0.0))
    for name, places in (("ABOUT", about), ("INTO", into), ("FROM", origin)):
        yield from _array(name, places + 1)
    yield from _array("RATES", rotations[about, into, origin])


def _shapes(model: Model) -> str:
    """Return the lines that make the functions whose means are the unknowns."""
    if model.space:
        return "    CALL ADD_HARMONICS(SHAPES, ANGLE, AZIMUTH, MODES, LEVELS, ORDERS, SIZES)"
    sines = "\n    SHAPES(:,N+1:) = SINES(:,1:N)" if model.sines else ""
    return f"    SHAPES(:,:N) = WAVES(:,1:N){sines}"


def _parts(forces: Forces) -> str:
    """Return the lines that make the functions of which the confinement consists."""
    if forces.places is None:
        return "    PARTS(:,:) = WAVES(:,1:FORCES)"
    return f"    CALL ADD_HARMONICS(PARTS, ANGLE, AZIMUTH, {', '.join(FORCED)}, SPREAD(1D0, 1, FORCES))"


def _forces(model: Model) -> Forces:
    """Return which coefficients of the confinement are written."""
    if model.problem.confinement is None:
        return Forces(0)
    degree = 2 * model.resolved + 32
    ends = [(name, end) for name in model.others for end in model.varied[name]]
    problems = [model.problem, *(model.problem.with_parameter(name, end) for name, end in ends)]
    if all(problem.zonal for problem in problems):
        values = [np.abs(_coefficients(model, problem, Forces(degree))[model.unknowns :]) for problem in problems]
        present = np.max(values, axis=0).reshape(-1, degree).max(axis=0) > 0.0
        return Forces(int(np.flatnonzero(present).max(initial=0)) + 1)
    every = Forces(degree, np.arange(2 * packed_size(degree)))
    values = [np.abs(_coefficients(model, problem, every)[model.unknowns :]) for problem in problems]
    largest = np.max(values, axis=0).reshape(2, -1)
    # A constant moves nothing, and neither do so many that all together are less than a rounding.
    largest[:, 0] = 0.0
    present = largest > ROUNDING / largest.size * largest.max()
    last = int(degrees_and_orders(degree)[0][np.flatnonzero(present.any(axis=0)).max()])
    return Forces(last, np.flatnonzero(present[:, : packed_size(last)]))


def _coefficients(model: Model, problem: Equation, forces: Forces) -> Floats:
    """Return the multipliers, then the coefficients of the confinement: cosines, and sines if states have any."""
    domain = problem.domain
    # Each part begins with a constant, which is left out.
    parts = [problem.potential.multipliers(domain, model.unknowns)]
    if problem.confinement is not None and forces.places is not None:
        packed = problem.confinement.harmonic_multipliers(forces.degree)
        parts.append(np.append(0.0, packed.ravel()[forces.places]))
    elif problem.confinement is not None:
        degree, even = forces.degree, problem.confinement.even
        parts.append(problem.confinement.multipliers(domain, degree))
        if model.sines:
            parts.append(np.zeros(degree + 1) if even else problem.confinement.sine_multipliers(domain, degree))
    with np.errstate(over="ignore"):
        values = np.concatenate([part[1:].astype(float) for part in parts])
    if not np.isfinite(values).all():
        raise InvalidInput("the multipliers are beyond the range of double precision")
    return values


def _dependence(model: Model, forces: Forces) -> tuple[Floats, dict[str, Table]]:
    """Return the coefficients that do not vary, and of every parameter without a closed form what it adds."""
    fixed = _coefficients(model, model.problem, forces)
    largest = np.repeat(
        [largest_of(fixed[: model.unknowns]), largest_of(fixed[model.unknowns :])],
        [model.unknowns, fixed.size - model.unknowns],
    )
    tables: dict[str, Table] = {}
    taken = np.zeros(fixed.size, dtype=bool)
    if model.closed:
        taken[: model.unknowns] = True
    for name in model.others:
        if name == model.closed:
            continue

        def along(value: float, name: str = name) -> Floats:
            return _coefficients(model, model.problem.with_parameter(name, value), forces)

        table = tabulated(along, widened(along, *model.varied[name]), model.unknowns)
        again = taken[table.places]
        if again.any():
            _require_sum(model, forces, name, largest)
            table.series[:, again, 0] -= fixed[table.places[again]]
        taken[table.places] = True
        if table.places.size:
            tables[name] = table
    return np.where(taken, 0.0, fixed), tables


def _require_sum(model: Model, forces: Forces, name: str, largest: Floats) -> None:
    """Refuse two parameters whose effects on the same coefficients are not added."""
    first = model.others[0]
    ends = [(first, model.varied[first][1]), (name, model.varied[name][0])]
    both, one, other, none = (
        _coefficients(model, _moved(model.problem, chosen), forces) for chosen in (ends, ends[:1], ends[1:], [])
    )
    if np.any(np.abs(both - one - other + none) > 1e-13 * largest):
        raise InvalidInput(f"the multipliers are not a sum of functions of {first} and of {name}")


def _moved(problem: Equation, places: Sequence[tuple[str, float]]) -> Equation:
    for name, value in places:
        problem = problem.with_parameter(name, value)
    return problem


def _array(name: str, values: Floats | NDArray[np.int64]) -> Iterator[str]:
    """Yield lines that declare an array of one index with its values."""
    whole = values.dtype.kind == "i"
    kind = "INTEGER" if whole else "DOUBLE PRECISION"
    yield f"  {kind} :: {name}({values.size})"
    words = [str(value) if whole else _number(value) for value in values.tolist()]
    row = WIDTH // 25
    for start in range(0, len(words), 20 * row):
        chunk = words[start : start + 20 * row]
        yield f"  DATA {name}({start + 1}:{start + len(chunk)}) / &"
        for first in range(0, len(chunk), row):
            end = " /" if first + row >= len(chunk) else ", &"
            yield "    " + ", ".join(chunk[first : first + row]) + end


def _number(value: float) -> str:
    # Compilers refuse numbers below the smallest normal one.
    return f"{value if abs(value) > SMALLEST else 0.0:.16E}".replace("E", "D")


def _declared(model: Model, name: str, tables: Mapping[str, Table]) -> Iterator[str]:
    number, table = model.numbers[name], tables[name]
    yield from _array(f"BREAKS{number}", table.breaks)
    yield from _array(f"PLACES{number}", table.places + 1)
    yield from _array(f"TABLE{number}", table.series.ravel())


def _call(model: Model, name: str, table: Table) -> str:
    number = model.numbers[name]
    pieces, places, size = table.series.shape
    shape = f"RESHAPE(TABLE{number}, [{size}, {places}, {pieces}])"
    anywhere = ".TRUE." if table.anywhere else ".FALSE."
    return (
        f"    CALL TABULATED('{name}', PAR({number}), {anywhere}, BREAKS{number}, PLACES{number}, &\n"
        f"      {shape}, C, DC(:,{number}))"
    )
