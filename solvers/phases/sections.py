r"""Sections of a phase diagram: bifurcation diagrams at fixed values of the parameter, and what is stable on them.

Between the points of a branch the coupling and the free energy are cubics in the arclength, the energy with its
exact derivative :math:`d(F-F_0)/d\kappa = -\tfrac{D}{2\kappa}\sum_l \sigma_l m_l^2`, the envelope identity.
"""

from collections.abc import Sequence
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from meanfield import Branch, CurvePoint, Diagram, Equation, MeanfieldError, Outcome
from meanfield.equations import Interaction, has_free_energy
from meanfield.records import FREE_ENERGY_GAP, segments

from ..diagram import bifurcation_diagram
from ..domains import solvers_of
from ..equations.bounds import bounded_below
from .window import UNIFORM, Window

Floats = npt.NDArray[np.float64]

# A section goes beyond the first threshold by this factor, so that the branches born there are followed.
BEYOND = 1.05
# Steps of the search of a coupling in a piece of a branch, and couplings at which two free energies are compared.
BISECTIONS, TRIED = 50, 24
# Free energies of one state, computed twice and between the points of a branch, agree to this.
SAME_GAP = 1e-4
# Relaxations are made at the strongest couplings less this share, which branches pass that leave there.
INSIDE = 1e-6
# A branch that joins another does so at its branch point, whose coupling it has to this share.
JOINED = 1e-6
# Generations of branches, and as many more as there are where some are left out.
DEPTHS = 2, 3, 4


class Phase(NamedTuple):
    """What is stable at a point: the minimiser's label, or those of all stable states, and their number."""

    minimiser: str
    stable: int

    @classmethod
    def of(cls, names: Sequence[str], *, ordered: bool) -> "Phase":
        """Return the phase of stable states, one of each group of images.

        Parameters
        ----------
        names
            Their names, if they are ordered that of the lowest first.
        ordered
            Whether they have a free energy that orders them. All names are told if they have none.
        """
        if ordered:
            return cls(names[0] if names else "", len(names))
        return cls(" and ".join(sorted(set(names), key=lambda name: (name != UNIFORM, name))), len(names))


class _Piece(NamedTuple):
    """A piece of a branch: whether it is stable, the branch, arclength, coupling, free energy and derivatives."""

    stable: bool
    branch: Branch
    start: int
    length: Floats
    coupling: Floats
    rate: Floats
    gap: Floats
    fall: Floats


class Section:
    """A bifurcation diagram at one value of the parameter."""

    def __init__(self, window: Window, value: float, search: bool) -> None:
        self.value, noisy = value, window.problem.noise > 0
        self._window, self._unit, self.parameter = window, window.unit(value), window.parameter
        self._searched = search or not noisy
        self._take(_diagram_at(window, value, search and noisy))
        if not self._searched and self._lacks_states(window.couplings(value)):
            self.search()

    def search(self) -> bool:
        """Make the diagram anew with branches connected to no other; return whether it was made without them."""
        if self._searched:
            return False
        self._searched = True
        self._take(_diagram_at(self._window, self.value, True))
        return True

    def _take(self, diagram: Diagram) -> None:
        self.diagram = diagram
        self._every = [piece for branch in diagram.branches for piece in _pieces(diagram, branch)]
        self._pieces = [piece for piece in self._every if piece.stable]

    def _lacks_states(self, couplings: tuple[float, float]) -> bool:
        """Return whether relaxations at the strongest couplings end at states that no branch of the diagram has.

        Branches born beyond them come from there, and none within leads to them.
        """
        problem = self.diagram.problem
        geometry = solvers_of(problem).geometry
        searched = has_free_energy(problem) and geometry.searches(problem)
        if problem.confinement is not None or not searched:
            return False
        for sign, end in zip((-1, 1), couplings, strict=True):
            coupling = (1.0 - INSIDE) * end
            if sign * coupling <= 0.0 or not bounded_below(problem.at(coupling=coupling)):
                continue
            if any(_goes_on_to(piece, coupling) for piece in self._every):
                continue
            known = np.array([gap for piece in self._every for gap in _gaps(piece, coupling)])
            try:
                found = geometry.search_all(problem, sign, coupling, [], minima=True).points
            except (MeanfieldError, np.linalg.LinAlgError):
                # The diagram says that such states were not looked for.
                continue
            for gap in (problem.positive_noise * point.invariant for point in found):
                if not np.abs(known - gap).min(initial=np.inf) <= SAME_GAP * (1.0 + abs(gap)):
                    return True
        return False

    @property
    def leaves_stable_states(self) -> bool:
        """Whether a stable branch was left before its own end, beyond which nothing is known of it."""
        return any(map(_is_left, self._pieces))

    def phase(self, height: float) -> Phase | None:
        """Return what is stable at a height in units of the window, None where a stable state is not known.

        So it is beyond the end of a stable branch that was left, and where none is stable although a free energy
        has a minimiser, although branches born of a stable one were not followed, or no branch was so far.
        """
        coupling, ordered = height * self._unit, has_free_energy(self.diagram.problem)
        found = [
            (gap, self._window.name_of(piece.branch.label))
            for piece in self._pieces
            for gap in _gaps(piece, coupling)
            if np.isfinite(gap)
        ]
        missing = not found and (ordered or _leaves_out(self.diagram) or not self._reaches(coupling))
        if missing or any(_goes_on_to(piece, coupling) for piece in self._pieces):
            return None
        return Phase.of([name for _, name in sorted(found)], ordered=ordered)

    def _reaches(self, coupling: float) -> bool:
        """Return whether a branch, stable or not, was followed to a coupling."""
        return any(_gaps(piece, coupling) for piece in self._every)

    def lowest(self, height: float, problem: Equation) -> CurvePoint | None:
        """Return the stable state of least free energy at a height as a point of a line, with another equation."""
        coupling = height * self._unit
        found = [(gap, place) for place, piece in enumerate(self._pieces) for gap in _gaps(piece, coupling)]
        if not found or not has_free_energy(self.diagram.problem):
            return None
        piece = self._pieces[min(found)[1]]
        cosine, sine = _moments(piece, coupling)
        return CurvePoint(
            problem=problem,
            type="transition",
            parameters=(self.parameter, "coupling"),
            cosine=cosine,
            sine=sine,
            layout=piece.branch.layout,
        )

    def exchanges(self) -> list[CurvePoint]:
        """Return the points at which two stable states of one branch have equal free energy, lowest or not.

        The diagram has those of different branches, and the lowest ones of one branch, among its special points.
        """
        found: list[CurvePoint] = []
        if not has_free_energy(self.diagram.problem):
            return found
        for one, other in combinations(self._pieces, 2):
            if one.branch is other.branch:
                found += [self._exchange(one, other, coupling) for coupling in _equal(one, other)]
        return found

    def _exchange(self, one: _Piece, other: _Piece, coupling: float) -> CurvePoint:
        first, second = (_moments(piece, coupling) for piece in (one, other))
        return CurvePoint(
            problem=self.diagram.problem.at(coupling=coupling),
            type="transition",
            parameters=(self.parameter, "coupling"),
            cosine=first[0],
            sine=first[1],
            other_cosine=second[0],
            other_sine=second[1],
            layout=one.branch.layout,
        )


def _diagram_at(window: Window, value: float, search: bool) -> Diagram:
    """Return the diagram at a value, of as many generations of branches as there are, up to a few."""
    for depth in DEPTHS:
        diagram = bifurcation_diagram(
            window.at(value), _range(window, value), depth=depth, rates=False, search=search
        )
        if not any(f"beyond depth {depth}" in warning for warning in diagram.warnings):
            break
    return diagram


def _range(window: Window, value: float) -> tuple[float, float]:
    """Return the range of couplings of a section: that of the window, and the first threshold."""
    low, high = window.couplings(value)
    critical = window.critical(value)
    return (low, high) if critical is None or low > critical else (low, max(high, BEYOND * critical))


def _pieces(diagram: Diagram, branch: Branch) -> list[_Piece]:
    coupling = np.asarray(branch.coupling, dtype=float)
    rate = np.asarray(branch.tangent_coupling, dtype=float)
    gap, fall = np.zeros((2, coupling.size))
    if has_free_energy(diagram.problem):
        gap = branch.observable(FREE_ENERGY_GAP)
        # sigma_l / kappa does not depend on the coupling.
        degree = branch.moments.lengths.shape[-1] - 1
        attractions = Interaction(diagram.problem.at(coupling=1.0)).attractions(degree)
        fall = -0.5 * (branch.moments.lengths**2 @ attractions) * rate
    return [
        _Piece(
            kind == 0,
            branch,
            start,
            *(column[start : stop + 1] for column in (branch.arclength, coupling, rate, gap, fall)),
        )
        for start, stop, kind in segments(branch, np.sign(branch.unstable))
    ]


def _leaves_out(diagram: Diagram) -> bool:
    """Return whether a stable state becomes unstable where others are born of which none was followed."""
    joining = [float(each.coupling[-1]) for each in diagram.branches if each.outcome is Outcome.JOINED_BRANCH]
    return any(
        event.type == "branch point"
        and 0 in (event.unstable_before, event.unstable_after)
        and not any(branch.parent == index for branch in diagram.branches)
        and not np.any(np.abs(np.array(joining) - float(event.coupling)) <= JOINED * abs(float(event.coupling)))
        for index, event in enumerate(diagram.special_points)
    )


def _is_left(piece: _Piece) -> bool:
    """Return whether a piece ends where its branch was left before its own end."""
    return piece.start + piece.coupling.size == len(piece.branch) and piece.branch.outcome.goes_on


def _goes_on_to(piece: _Piece, coupling: float) -> bool:
    """Return whether a coupling is beyond the end of a piece at which its branch was left before its own end."""
    return _is_left(piece) and (coupling - float(piece.coupling[-1])) * float(piece.rate[-1]) > 0.0


def _equal(one: _Piece, other: _Piece) -> list[float]:
    """Return couplings at which the states of two pieces have equal free energy, where both are there once."""
    low, high = (
        side(end(piece.coupling) for piece in (one, other)) for side, end in ((max, np.min), (min, np.max))
    )
    if high <= low:
        return []

    def difference(coupling: float) -> float:
        gaps = [_gaps(piece, coupling) for piece in (one, other)]
        return gaps[0][0] - gaps[1][0] if all(len(each) == 1 for each in gaps) else np.nan

    places = (low + (high - low) * (np.arange(TRIED) + 0.5) / TRIED).tolist()
    values = [difference(place) for place in places]
    found = []
    for place, beyond, value, next_value in zip(places, places[1:], values, values[1:], strict=False):
        if value * next_value < 0.0:
            left, right = place, beyond
            for _ in range(BISECTIONS):
                middle = 0.5 * (left + right)
                left, right = (middle, right) if difference(middle) * value > 0.0 else (left, middle)
            found.append(0.5 * (left + right))
    return found


def _moments(piece: _Piece, coupling: float) -> tuple[Floats, Floats]:
    """Return cosine and sine moments of the state of a piece at a coupling."""
    (index, t), branch = next(iter(_places(piece, coupling))), piece.branch
    at = piece.start + index
    cosine, sine = (
        _cubic(branch.arclength, values, slopes, at, t)
        for values, slopes in ((branch.cosine, branch.tangent_cosine), (branch.sine, branch.tangent_sine))
    )
    return np.asarray(cosine), np.asarray(sine)


def _gaps(piece: _Piece, coupling: float) -> list[float]:
    """Return the free energies of the states of a piece at a coupling, one for each time that it passes there."""
    return [float(_cubic(piece.length, piece.gap, piece.fall, *place)) for place in _places(piece, coupling)]


def _places(piece: _Piece, coupling: float) -> list[tuple[int, float]]:
    """Return where a piece passes a coupling: the point before, and the share of the way to the next."""
    beyond = piece.coupling > coupling
    found = []
    for index in np.flatnonzero(beyond[1:] != beyond[:-1]).tolist():
        low, high = 0.0, 1.0
        for _ in range(BISECTIONS):
            middle = 0.5 * (low + high)
            past = bool(_cubic(piece.length, piece.coupling, piece.rate, index, middle) > coupling)
            low, high = (middle, high) if past == beyond[index] else (low, middle)
        found.append((index, 0.5 * (low + high)))
    return found


def _cubic(length: Floats, values: Floats, slopes: Floats, index: int, t: float) -> Any:
    """Return the cubic through two neighbouring values with their slopes, at a share t of the way between them."""
    step = length[index + 1] - length[index]
    return (
        (1 + 2 * t) * (1 - t) ** 2 * values[index]
        + t**2 * (3 - 2 * t) * values[index + 1]
        + step * t * (1 - t) * ((1 - t) * slopes[index] - t * slopes[index + 1])
    )
