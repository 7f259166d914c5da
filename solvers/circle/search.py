r"""The search for states that no branch leads to, among all densities on the circle.

Newton's method from random starts meets states of any kind, damped iterations meet the stable ones, and densities
between states lead to the saddles that divide them. Rounds of all three are run until each state has been met
twice and less than a quarter of one is expected unseen, see :mod:`solvers.searched`; the number of starts of a
round is in proportion to that of the modes that attract.

The states of a free energy that is bounded below obey the Morse relation: where none is degenerate,

.. math:: \sum (-1)^{\mathrm{ind}} = u

over the circles of states other than the uniform one, which has u unstable modes. An uneven state and its
reflection are two; one whose unstable directions change their orientation when it is turned onto itself does not
count. It is the relation of :math:`S^1`-equivariant Morse theory,
:math:`\sum t^{\mathrm{ind}} + t^{2u}/(1-t^2) = 1/(1-t^2) + (1+t)Q(t)`, at t = -1. With a confinement, which fixes
the angle, the sum over all states is 1. A sum that is wrong shows that states are missing.
"""

import logging
import math

import numpy as np

from meanfield import Equation, Logarithmic, Number

from ..bounds import bounded_below
from ..branches.continuation import Point
from ..branches.deflation import ARTEFACT
from ..equation import StationaryEquation
from ..geometry import Geometry
from ..searched import MISSING, Searched
from ..significant import confining_symmetry
from ..sizing import confinement_field, stationary_equation
from .axes import axis_of
from .ensemble import MODES, Ensemble
from .multistart import Multistart
from .orbits import copies_of
from .stability import unstable_halfway
from .starts import random_starts, starts_between, starts_on_axes, starts_without_torque

logger = logging.getLogger(__name__)

AMONG = "all densities on the circle"
# Starts of a round for each mode that attracts more than the share of its threshold, and one more.
STARTS, ATTRACTING = 32, 0.1
# On grids with more nodes there are fewer.
FINE = 512
ROUNDS = 16
# Relaxations that tell how many modes of a slowly decaying potential take part: so many that the last are below
# ARTEFACT, for a state would change by more with the next ones, and be taken for an artefact.
SAMPLED = 16
SEED = 0
# Relative distance within which a coupling is that of a family.
VERTICAL = 1e-12
LOOSE = "some may be missing, for the confinement, which has no axis, holds the angle of one by little but rounding"
# A state with an eigenvalue nearer to zero is taken for degenerate.
DEGENERATE = 1e-7


def search_covers(geometry: Geometry, problem: Equation, coupling: Number) -> bool:
    """Return whether the search has all significant modes of the potential."""
    equation = stationary_equation(geometry, problem, 1, 1 if coupling > 0 else -1)
    return equation is not None and equation.complete and not equation.basis.needs_second_rule


def search_all(geometry: Geometry, problem: Equation, sign: int, coupling: Number, known: list[Point]) -> Searched:
    """Return the states at a coupling that are not known, with what was searched."""
    equation = stationary_equation(geometry, problem, 1, sign)
    if equation is None:
        return Searched([], AMONG, theorem="the potential acts on no density")
    ensemble = _resolving(problem, equation, coupling)
    at_most, theorem = _most_states(problem, equation.complete, equation.basis.cells.size, ensemble)
    found = Multistart(geometry, ensemble, problem, sign, coupling, known)
    if len(found.points) < at_most:
        _run(found)
    states, minima = found.tallies()
    if len(found.points) >= at_most:
        return Searched(found.new, AMONG, states, minima, theorem=theorem)
    return Searched(found.new, AMONG, states, minima, doubt=_doubt(found), lost=found.lost)


def _resolving(problem: Equation, equation: StationaryEquation, coupling: Number) -> Ensemble:
    """Return the ensemble of an equation, of a slowly decaying potential with the modes that its clusters need.

    States at stronger couplings have more modes, and without these no run ends at a state.
    """
    generator = np.random.Generator(np.random.PCG64(SEED))
    while True:
        q = equation.q_at(coupling)
        # Angles count from 0, and not from the axis of a basis.
        ensemble = Ensemble(equation, q, confinement_field(problem, 1, equation.basis.nodes))
        reach = int(equation.basis.degrees[-1])
        if equation.complete or reach >= MODES:
            return ensemble
        relaxed = ensemble.relaxed(random_starts(ensemble, SAMPLED, generator))
        if ensemble.last_modes(relaxed) < ARTEFACT:
            return ensemble
        larger = stationary_equation(equation.geometry, problem, 1, equation.sign, unknowns=2 * reach)
        assert larger is not None
        equation = larger


def _most_states(problem: Equation, complete: bool, modes: int, ensemble: Ensemble) -> tuple[float, str]:
    r"""Return a bound of the number of states and the theorem for it; infinity if none applies.

    The second variation of F/D is :math:`\int u^2/\rho - 2\sum\lambda_k|\hat u_k|^2` with
    :math:`|\hat u_k|^2 \le \int u^2/\rho`. On a single mode n, :math:`r = I_1(x)/I_0(x)`, :math:`x = 2\lambda r`,
    has one positive solution beyond the threshold and none below. For the attractive logarithm,
    :math:`\lambda_k = s/k`, the states obey :math:`(k - s) c_k = s\sum_{j<k} c_j c_{k-j}`: all vanish, but where s
    is an integer n, and there they are Poisson kernels in n t, a family.
    """
    strengths = ensemble.strengths
    exact = isinstance(problem.potential, Logarithmic)
    if not np.any(strengths > 0.0) and (complete or exact):
        return 1.0, "no mode attracts, so that the free energy is strictly convex"
    if complete and 2.0 * float(strengths[strengths > 0.0].sum()) < 1.0:
        return 1.0, "2 sum lambda_k < 1 over the modes that attract, so that the free energy is strictly convex"
    if ensemble.confined:
        return math.inf, ""
    if complete and modes == 1:
        return 1.0 + float(strengths[0] > 1.0), "one mode alone: uniform and, beyond its threshold, one cluster"
    if exact and strengths[0] > 0.0:
        family = abs(strengths[0] - round(strengths[0])) <= VERTICAL * strengths[0]
        return 1.0 + float(family), "exact states of the logarithm: uniform and, at kappa = 2 D n, one family"
    return math.inf, ""


def _run(found: Multistart) -> None:
    """Search in rounds until the tallies are settled and the Morse relation holds, or no run ends at a state."""
    ensemble, generator = found.ensemble, np.random.Generator(np.random.PCG64(SEED))
    count = STARTS * (1 + int(np.count_nonzero(ensemble.strengths > ATTRACTING)))
    count = max(STARTS, min(count, count * FINE // ensemble.nodes))
    for turn in range(1, ROUNDS + 1):
        found.meet(ensemble.solved(random_starts(ensemble, count, generator)), found.runs)
        relaxed = ensemble.relaxed(random_starts(ensemble, count // 2, generator))
        found.meet(ensemble.solved(relaxed), found.relaxations)
        if len(found.points):
            found.meet(ensemble.solved(starts_between(ensemble, found.rows, count, generator)))
        if ensemble.confined:
            pinned = starts_on_axes if ensemble.reflects else starts_without_torque
            found.meet(ensemble.solved(pinned(ensemble, found.weakly_held())))
        logger.info("search: %d states after %d rounds of %d starts", len(found.points), turn, count)
        states, minima = found.tallies()
        if (states.settled and minima.settled and not _doubt(found)) or not sum(found.runs):
            return


def _doubt(found: Multistart) -> str:
    """Return the sentence that states are or may be missing, else the empty text.

    They are if the Morse relation fails, and may be if a confinement without axis hardly holds the angle of one.
    """
    ensemble, problem = found.ensemble, found.problem
    symmetry = confining_symmetry(problem)
    if not bounded_below(problem.at(coupling=float(found.coupling))) or (ensemble.confined and not symmetry):
        return ""
    if not found.points:
        return ""
    if ensemble.flattest(found.rows).min() < DEGENERATE:
        return LOOSE if ensemble.confined and axis_of(problem) is None else ""
    expected = 1 if ensemble.confined else int(np.count_nonzero(ensemble.strengths > 1.0))
    points = [point for point in found.points if point is not None]
    if not ensemble.confined:
        points = [point for point in points if unstable_halfway(point) % 2 == 0]
    counts = [sum(point.equation.densities.unstable_counts(point)) for point in points]
    total = sum((-1) ** count * copies_of(point, symmetry) for count, point in zip(counts, points, strict=True))
    return "" if total == expected else MISSING
