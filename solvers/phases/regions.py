"""The regions of a phase diagram: the faces between its curves, what is stable on them, and whether that is so."""

from collections import Counter
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from meanfield import CurvePoint, MeanfieldError, Region, State
from meanfield.equations import Equation, has_free_energy

from ..stationary import stationary_states
from .faces import THIN, is_divided, is_same, votes_of
from .plane import Cell, join, neighbours, subdivided
from .sections import Phase, Section
from .window import Window

Floats = npt.NDArray[np.float64]
Groups = npt.NDArray[np.int64]

# So are spots, where curves meet, of so small an area.
LEAST_AREA = (4 * THIN) ** 2
# A random point keeps this share of the width and of the height of its cell from the ends.
MARGIN = 0.1


def regions_of(
    window: Window, tracks: Sequence[Floats], sections: Sequence[Section], seed: int
) -> tuple[list[Region], list[str]]:
    """Return the regions between curves, the largest first, and warnings.

    Parameters
    ----------
    tracks
        Points on every curve at which stable states change, (n, 2), with the window as the unit square.
    sections
        Diagrams at fixed values of the parameter.
    seed
        Of the random points.
    """
    slabs, faces = subdivided(tracks)
    cells = [cell for slab in slabs for cell in slab]
    phases: dict[int, Phase | None] = {}
    warnings: list[str] = []
    divided: set[int] = set()
    for face in dict.fromkeys(faces.tolist()):
        own = [cell for cell, number in zip(cells, faces, strict=True) if number == face]
        votes = _votes(window, own, sections)
        phases[face] = votes.most_common(1)[0][0] if votes else None
        if len(votes) > 1 and is_divided(window, own, sections):
            divided.add(face)
            warnings.append(_inconsistent(window, own, votes))
    return _merged(window, slabs, faces, phases, divided, np.random.default_rng(seed)), warnings


def _votes(window: Window, cells: Sequence[Cell], sections: Sequence[Section]) -> "Counter[Phase]":
    """Return how often the sections through a face found each phase in it."""
    return sum((votes_of(window, cells, section) for section in sections), Counter())


def _inconsistent(window: Window, cells: Sequence[Cell], votes: "Counter[Phase]") -> str:
    place = _at(window, *_middle(max(cells, key=lambda cell: cell.area)))
    found = "; ".join(_words(phase, window.problem) for phase in votes)
    return (
        f"diagrams at fixed {window.parameter} differ inside the region around {place}: a curve is missing, or one "
        f"state is named after two branches ({found})"
    )


def _words(phase: Phase, problem: Equation) -> str:
    """Return a phase in words."""
    which = "the lowest " if has_free_energy(problem) else ""
    return f"{phase.stable} stable states, {which}{phase.minimiser or 'none'}"


def _merged(
    window: Window,
    slabs: Sequence[Sequence[Cell]],
    faces: Groups,
    phases: dict[int, Phase | None],
    divided: set[int],
    random: np.random.Generator,
) -> list[Region]:
    """Return faces as regions, those of one phase that lie beside each other as one, and those of an unknown one.

    A divided face, inside which a curve is missing, stays by itself, and no random point confirms it.
    """
    own = [face if face in divided else phases[face] for face in faces.tolist()]
    merged = faces.copy()
    for one, other in neighbours(slabs):
        if own[one] == own[other]:
            join(merged, one, other)
    cells = [cell for slab in slabs for cell in slab]
    regions = []
    for number in dict.fromkeys(merged.tolist()):
        members = [cell for cell, group in zip(cells, merged, strict=True) if group == number]
        face = int(faces[int(np.flatnonzero(merged == number)[0])])
        if max(cell.thickness for cell in members) > THIN and sum(cell.area for cell in members) > LEAST_AREA:
            regions.append(_region(window, members, phases[face], random, divided=face in divided))
    return sorted(regions, key=lambda region: -region.area)


def _region(
    window: Window, cells: Sequence[Cell], phase: Phase | None, random: np.random.Generator, *, divided: bool
) -> Region:
    columns = [np.concatenate([getattr(cell, name) for cell in cells]) for name in ("x", "lower", "upper")]
    first = window.unscaled(columns[0], 0.0)[0]  # type: ignore[arg-type]
    lower, upper = (window.unscaled(0.0, column)[1] for column in columns[1:])  # type: ignore[arg-type]
    thick = [cell for cell in cells if np.max((cell.upper - cell.lower)[1:-1]) > THIN]
    return Region(
        minimiser="" if phase is None else phase.minimiser,
        stable=None if phase is None else phase.stable,
        first=np.asarray(first),
        lower=np.asarray(lower),
        upper=np.asarray(upper),
        strip=np.repeat(np.arange(len(cells)), [cell.x.size for cell in cells]),
        area=float(sum(cell.area for cell in cells)),
        point=_random_point(window, thick, random) if thick else None,
        agrees=False if divided else None,
    )


def _random_point(window: Window, cells: Sequence[Cell], random: np.random.Generator) -> tuple[float, float]:
    """Return a random point of a region, not too close to the curves about it."""
    areas = np.array([cell.area for cell in cells])
    cell = cells[int(random.choice(len(cells), p=areas / areas.sum()))]
    heights = cell.upper - cell.lower
    # Across the slab, inside of it, in proportion to the height and the distance of the places beside.
    inside = heights[1:-1] * (cell.x[2:] - cell.x[:-2])
    place = 1 + int(random.choice(inside.size, p=inside / inside.sum()))
    share = MARGIN + (1 - 2 * MARGIN) * random.random()
    first, height = window.unscaled(float(cell.x[place]), float(cell.lower[place] + share * heights[place]))
    return float(first), float(height)


def examined(window: Window, region: Region, sections: Sequence[Section]) -> tuple[Region, str]:
    """Return a region with what a search finds at its random point, and a warning if that differs, else empty."""
    if region.point is None or region.stable is None:
        return region, ""
    value, height = region.point
    problem: Equation = window.at(value).at(coupling=height * window.unit(value))
    place = f"{window.parameter} = {value:.6g}, coupling = {problem.fixed_coupling:.6g}"
    try:
        states = stationary_states(problem, rates=False)
    except MeanfieldError as error:
        return (
            region,
            f"the states at {place} are not known ({error}), so the region {region.name} is not confirmed",
        )
    names = [window.name_of(state.label) for state in states if state.unstable == 0]
    phase = Phase.of(names, ordered=has_free_energy(problem))
    same = phase == (region.minimiser, region.stable)
    if not same and phase.stable == region.stable and has_free_energy(problem):
        lowest = next(state for state in states if state.unstable == 0)
        same = _is_named_otherwise(window, region, sections, lowest)
    agrees = same and region.agrees is not False
    known = {name: getattr(region, name) for name in Region.__dataclass_fields__}
    found = Region(**(known | {"found_minimiser": phase.minimiser, "found_stable": phase.stable, "agrees": agrees}))
    if same:
        return found, ""
    return found, (f"the region {region.name} is not confirmed: at {place} a search found {_words(phase, problem)}")


def _is_named_otherwise(window: Window, region: Region, sections: Sequence[Section], state: State) -> bool:
    """Return whether the lowest state of the nearest section through a region becomes that at its random point."""
    assert region.point is not None
    value, height = region.point
    own = CurvePoint(
        problem=state.problem,
        type="transition",
        parameters=(window.parameter, "coupling"),
        cosine=state.cosine,
        sine=state.sine,
        layout=state.layout,
    )
    for section in sorted(sections, key=lambda section: abs(section.value - value)):
        for first, lower, upper in region.strips():
            if first[0] <= section.value <= first[-1]:
                inside = float(np.interp(section.value, first, 0.5 * (lower + upper)))
                if section.phase(inside) == (region.minimiser, region.stable):
                    return is_same(window, section, inside, own, [(value, height)])
    return False


def _middle(cell: Cell) -> tuple[float, float]:
    place = int(np.argmax(cell.upper - cell.lower))
    return float(cell.x[place]), 0.5 * float(cell.lower[place] + cell.upper[place])


def _at(window: Window, x: float, y: float) -> str:
    first, height = window.unscaled(x, y)
    name = "relative coupling" if window.relative else "coupling"
    return f"{window.parameter} = {first:.4g}, {name} {height:.4g}"
