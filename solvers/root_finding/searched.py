r"""Results of searches from random starts, and what may be concluded on their completeness.

Boender and Rinnooy Kan (Math. Programming 37, 1987): if n independent runs ended at w different places, and nothing
was known of their number and of the sizes of their basins before, the number of places has the posterior mean
:math:`w(n-1)/(n-w-2)`. That is a statement about chances: a place with a basin of share p is missed with the
probability :math:`(1-p)^n`, however large n is.

Where many basins are small that mean is far too low. Whatever their sizes are, if :math:`f_1` places were met once
and :math:`f_2` twice, at least :math:`f_1(f_1-1)/(2(f_2+1))` are expected unseen (Chao, Scandinavian Journal of
Statistics 11, 1984, in its unbiased form); the larger of the two numbers is given.
"""

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

from meanfield import Equation
from meanfield.equations import Capability

# Fewer states than this must be expected unseen for a search to count as settled.
QUARTER = 0.25
MISSING = "some are missing, for the indices of those found do not add up"


def missing(problem: Equation) -> str:
    """Return the sentence that states of a problem are missing, with the theorem that tells.

    The sum of (-1)^index over all states is known: of the critical points of a free energy by Morse, of the fixed
    points of a map by Leray and Schauder.
    """
    theorem = "Leray and Schauder" if problem.lacks(Capability.FREE_ENERGY) else "Morse relation"
    return f"{MISSING} ({theorem})"


class Tally(NamedTuple):
    """Counts of the states at which independent runs from random starts ended.

    Attributes
    ----------
    runs : int
        Runs that ended at a state.
    ends : int
        Different states, up to symmetry, that are met by a run or known otherwise.
    met_once_at_most : int
        Those met by one run only, or known from elsewhere and met by none.
    met_once, met_twice : int
        Those met by one run, and by two.
    """

    runs: int
    ends: int
    met_once_at_most: int
    met_once: int = 0
    met_twice: int = 0

    @classmethod
    def of(cls, counts: Sequence[int]) -> "Tally":
        """Return the tally of how often each state was met."""
        met_once, met_twice = (sum(count == times for count in counts) for times in (1, 2))
        return cls(sum(counts), len(counts), sum(count < 2 for count in counts), met_once, met_twice)

    @property
    def unseen(self) -> float | None:
        """Number of states expected to be unseen; None if the runs are too few."""
        spare = self.runs - self.ends - 2
        return max(self.ends * (self.ends + 1.0) / spare, self._at_least) if spare > 0 else None

    @property
    def _at_least(self) -> float:
        """Number of states that are expected unseen at the least, whatever the sizes of their basins are."""
        return self.met_once * (self.met_once - 1.0) / (2.0 * (self.met_twice + 1.0))

    @property
    def wanting(self) -> int:
        """Number of further runs at the least before less than a quarter of a state is expected unseen."""
        return max(0, math.ceil(self.ends + 2 + self.ends * (self.ends + 1) / QUARTER - self.runs))

    @property
    def settled(self) -> bool:
        """Whether less than a quarter of a state is expected unseen and each was met twice."""
        return self.met_once_at_most == 0 and self.unseen is not None and self.unseen < QUARTER

    def words(self, runs: str, ends: str) -> str:
        """Return the tally as a clause: "64 relaxations ended at 2 stable states, each met twice or more, ..."."""
        if not self.runs:
            return f"no {runs} ended at a {ends} ({self.ends} known)"
        plural = "" if self.ends == 1 else "s"
        few = self.met_once_at_most
        met = f"{few} of them met once at most" if few else "each met twice or more"
        unseen = "too few to tell how many more there are"
        if self.unseen is not None:
            unseen = f"{'at least ' if self.unseen == self._at_least else ''}{self.unseen:.2g} more expected"
        return f"{self.runs} {runs} ended at {self.ends} {ends}{plural}, {met}, {unseen}"


class Searched(NamedTuple):
    """The states that a search found beside the known ones, and how complete it is.

    Attributes
    ----------
    points : list
        The new states, as the domain has them.
    among : str
        The densities searched, such as "all densities on the circle".
    states : Tally or None
        Newton's runs from random starts and the states of any kind, known ones among them; None if none were made.
    minima : Tally or None
        Relaxations from random starts and the stable states; None if none were made: no minimiser is known then.
    theorem : str
        A sentence on why there are no other states; empty if no argument is known.
    doubt : str
        A sentence on why states are missing, by an index count of all states; empty if none are known to be.
    lost : int
        Ends of runs that are no states on a finer grid, are not resolved on any, or were too many to be examined.
    unresolved : int
        States that were met and that no grid resolves.
    omitted : str
        Why no search was made, a clause; empty if one was.
    """

    points: list[Any]
    among: str
    states: Tally | None = None
    minima: Tally | None = None
    theorem: str = ""
    doubt: str = ""
    lost: int = 0
    unresolved: int = 0
    omitted: str = ""

    @property
    def settled(self) -> bool:
        """Whether a theorem says that these are all states, or the tallies leave little to be expected."""
        tallies = (self.states, self.minima)
        counted = all(tally is not None and tally.settled for tally in tallies) and not self.doubt and not self.lost
        return bool(self.theorem) or counted

    @property
    def words(self) -> str:
        """A sentence on what was searched and how complete the list of states is."""
        if self.theorem:
            return f"no other states: {self.theorem}"
        if self.omitted:
            return f"no search was made, since {self.omitted}"
        tallies = [] if self.states is None else [self.states.words("runs of Newton's method", "state")]
        tallies += [] if self.minima is None else [self.minima.words("relaxations", "stable state")]
        counts = "; ".join(tallies) or "from chosen starts"
        doubt = self.doubt or "no argument excludes further ones"
        return f"searched among {self.among}: {counts}; {doubt}"
