"""The search for states from random starts: rounds of runs, what they met, and when they are enough.

Newton's method meets states of any kind, relaxations of a free energy the stable ones, and starts between known
states the saddles that divide them. Runs of each kind are made in rounds until every state has been met twice and
less than a quarter of one is expected unseen, see :mod:`.searched`, and on while a sum over the indices of
all states shows that some are missing. Runs end at the images of a state under the symmetries of the problem: ends
are told apart by invariants first, and a state is solved for at one of each.

What a domain, or an equation without a free energy, adds is a :class:`SearchSpace`.
"""

import logging
import math
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, Generic, NamedTuple, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from ..bases import Floats, Integers
from .searched import MISSING, Searched, Tally

logger = logging.getLogger(__name__)

# Invariants of one state agree to this.
SAME = 1e-6
SEED = 0

# A state other than the uniform one as a domain has it.
S = TypeVar("S")


class Kind(Enum):
    """What a run is, and whether it counts."""

    NEWTON = "Newton's method from a random start"
    RELAXED = "relaxation of a random density"
    BETWEEN = "start made of known states, which does not count"


class Lost(Enum):
    """Why an end of a run is no state."""

    ARTEFACT = "no state on a finer grid"
    UNRESOLVED = "a state that no grid resolves"
    AGAIN = "an image of such a state, seen before"


class Ends(NamedTuple):
    """Ends of runs.

    Attributes
    ----------
    rows : (n, size)
        The ends, in the unknowns of the space.
    invariants : (n, count) float
        What symmetries of the problem do not change and tells states apart: by more than SAME in some entry.
    part
        The number of the densities among which the runs were made; invariants of one part only are compared.
    """

    rows: NDArray[Any]
    invariants: Floats
    part: int = 0


class Rounds(NamedTuple):
    """How many rounds are made: at the least, at the most, and at the most where states are known to be missing."""

    fewest: int
    most: int
    longest: int


@dataclass(eq=False, slots=True)
class Met(Generic[S]):
    """A state that was met or is known, the uniform one as None, and how often the runs of a kind ended there.

    ``parts`` are the numbers of the densities whose runs did.
    """

    state: S | None
    stable: bool
    runs: int = 0
    relaxations: int = 0
    parts: set[int] = field(default_factory=set)


class SearchSpace(Protocol[S]):
    """What the search asks of the densities among which it is made.

    Attributes
    ----------
    among : str
        The densities in words.
    rounds : Rounds
        The numbers of rounds.
    starts : dict of Kind to int
        Number of starts in a round, of the kinds that are made and count.
    bound : tuple of float and str
        A number that the states do not exceed, and the theorem that says so; infinity if none is known.
    """

    among: str
    rounds: Rounds
    starts: dict[Kind, int]
    bound: tuple[float, str] = (math.inf, "")

    def ends(
        self, kind: Kind, rounds: int, met: Sequence[Met[S]], generator: np.random.Generator
    ) -> Iterator[Ends]:
        """Yield the ends of the runs of some rounds, ``met`` having grown by those yielded before."""

    def states_at(self, ends: Ends) -> list[S | Lost | None]:
        """Return the states at ends, which differ in their invariants."""

    def are_same(self, one: S, other: S) -> bool:
        """Return whether two states are images of each other under the symmetries of the problem."""

    def is_stable(self, state: S | None) -> bool:
        """Return whether a state is stable among the densities that are relaxed, if there are any."""
        return False

    def doubt(self, states: Sequence[S | None], unresolved: int) -> str:
        """Return the sentence that states are or may be missing, the empty text if nothing tells.

        Parameters
        ----------
        states
            Those met.
        unresolved
            Number of others, of which is known that they are there.

        Returns
        -------
        str
            A text that begins with MISSING if the search is to go on.
        """


class Catalogue:
    """Rows of invariants, each once."""

    def __init__(self) -> None:
        self._rows: Floats = np.empty((0, 0))

    def places(self, invariants: Floats) -> Integers:
        """Return the places of rows (n, count) among those seen, to which new ones are added in their order."""
        places = np.empty(len(invariants), dtype=np.int64)
        left = np.arange(len(invariants))
        while left.size:
            one = invariants[left[0]]
            known = np.flatnonzero(_alike(self._rows, one)) if len(self._rows) else left[:0]
            place = int(known[0]) if known.size else len(self._rows)
            if not known.size:
                self._rows = np.append(self._rows.reshape(-1, one.size), one[None], axis=0)
            alike = _alike(invariants[left], one)
            places[left[alike]] = place
            left = left[~alike]
        return places


def _alike(invariants: Floats, one: Floats) -> NDArray[np.bool_]:
    return np.asarray(np.abs(invariants - one).max(axis=1, initial=0.0) <= SAME)


def known_states(space: SearchSpace[S], states: Sequence[S], uniform: bool) -> list[Met[S]]:
    """Return the entries of states that are known, each once, and before them that of the uniform one if it is."""
    met: list[Met[S]] = [_entry(space, None)] if uniform else []
    for state in states:
        _entered(space, met, state)
    return met


def search(space: SearchSpace[S], met: list[Met[S]], *, minima: bool = False) -> Searched:
    """Return the states that were found, and added to those met before, and how complete they are.

    Parameters
    ----------
    space
        The densities.
    met
        The states known before.
    minima
        Whether to make relaxations alone, which end at stable states.
    """
    most, theorem = space.bound
    before = len(met)
    found = _Search(space, met, minima).result() if before < most else Searched([], "")
    points = [each.state for each in met[before:] if each.state is not None]
    return Searched(points, "", theorem=theorem) if len(met) >= most else found._replace(points=points)


def _entry(space: SearchSpace[S], state: S | None) -> Met[S]:
    return Met(state, Kind.RELAXED in space.starts and space.is_stable(state))


def _entered(space: SearchSpace[S], met: list[Met[S]], state: S | None) -> Met[S]:
    """Return the entry of a state among those met, to which it is added if it is new."""
    for known in met:
        if state is known.state:
            return known
    for known in met:
        if state is not None and known.state is not None and space.are_same(known.state, state):
            return known
    met.append(_entry(space, state))
    return met[-1]


class _Search(Generic[S]):
    """A search: the states met, the ends seen in each part with their states, and what ended at no state."""

    def __init__(self, space: SearchSpace[S], met: list[Met[S]], minima: bool) -> None:
        self._space, self._met, self._before = space, met, len(met)
        self._kinds = [kind for kind in space.starts if kind is Kind.RELAXED or not minima]
        self._seen: defaultdict[int, tuple[Catalogue, list[Met[S] | Lost]]] = defaultdict(lambda: (Catalogue(), []))
        self._lost = self._unresolved = 0
        self._generator = np.random.Generator(np.random.PCG64(SEED))

    def result(self) -> Searched:
        """Make rounds until they are enough, and return what is to be said of them."""
        kinds = self._kinds
        done, doubt = dict.fromkeys(kinds, 0), ""
        while turns := {kind: more for kind in kinds if (more := self._further(kind, done[kind], doubt))}:
            for kind, more in turns.items():
                self._make(kind, more)
                done[kind] += more
            if Kind.NEWTON in kinds:
                self._make(Kind.BETWEEN, max(turns.values()))
            doubt = self._space.doubt([met.state for met in self._met], self._unresolved)
            logger.info("search: %d states after %d rounds", len(self._met), max(done.values()))
        runs, minima = (self._tally(kind) if kind in kinds else None for kind in (Kind.NEWTON, Kind.RELAXED))
        lost, unresolved = self._lost, self._unresolved
        return Searched([], self._space.among, runs, minima, doubt=doubt, lost=lost, unresolved=unresolved)

    def _further(self, kind: Kind, done: int, doubt: str) -> int:
        """Return the number of rounds to be made at once: so many that none before the last can be enough."""
        fewest, most, longest = self._space.rounds
        if done < fewest:
            return fewest - done
        missing = doubt.startswith(MISSING) and kind is Kind.NEWTON
        tally = self._tally(kind, self._before)
        if (tally.settled and not missing) or not any(met.runs or met.relaxations for met in self._met):
            return 0
        wanted = max(1, math.ceil(tally.wanting / self._space.starts[kind]))
        # What was missing may have been found beyond the usual number of rounds.
        return max(0, min(wanted, most, (longest if missing else most) - done))

    def _tally(self, kind: Kind, known: int = 0) -> Tally:
        """Return how often states were met by runs of a kind, the first ``known`` if by any."""
        if kind is Kind.RELAXED:
            return Tally.of([met.relaxations for met in self._met if met.stable])
        return Tally.of([met.runs for place, met in enumerate(self._met) if met.runs or place >= known])

    def _make(self, kind: Kind, rounds: int) -> None:
        """Make the runs of some rounds, and count at which states they end."""
        for ends in self._space.ends(kind, rounds, self._met, self._generator):
            for owner in self._owners(ends):
                if isinstance(owner, Lost):
                    self._lost += 1
                else:
                    owner.parts.add(ends.part)
                    owner.runs += kind is Kind.NEWTON
                    owner.relaxations += kind is Kind.RELAXED

    def _owners(self, ends: Ends) -> list[Met[S] | Lost]:
        """Return at which states runs ended, each of which is solved for once."""
        catalogue, owners = self._seen[ends.part]
        places = catalogue.places(ends.invariants)
        first = np.unique(places, return_index=True)[1]
        new = first[places[first] >= len(owners)]
        owners += map(self._owner, self._space.states_at(Ends(ends.rows[new], ends.invariants[new], ends.part)))
        return [owners[place] for place in places.tolist()]

    def _owner(self, state: S | Lost | None) -> Met[S] | Lost:
        """Return the entry of a state, or why it is none."""
        if isinstance(state, Lost):
            self._unresolved += state is Lost.UNRESOLVED
            return state
        return _entered(self._space, self._met, state)
