"""Outcomes of computations, each with the sentence that the user reads."""

from enum import Enum


class Outcome(Enum):
    """The outcome of a solve, a trace or a search; the value is the sentence shown to the user."""

    CONVERGED = "converged to rounding level"
    MAX_STEPS = "the step limit was reached; raise max_points to go further"
    DIVERGED = "Newton's iteration diverged; start closer to a solution"
    NOT_RESOLVED = "the state is too concentrated for the allowed number of modes"
    STEP_TOO_SMALL = "the continuation step fell below its minimum"
    LEFT_INTERVAL = "the end of the interval was reached"
    JOINED_BRANCH = "it ends at a more symmetric state"
    CLOSED_LOOP = "it is a closed loop and returned to its start"
    VERTICAL = "it is vertical: a whole family of states exists at this single value"
    FOLDED = "both states of the line end in folds"
    REAL_PAIR = "the pair of growth rates becomes real there"
    REACHED_TIME = "the final time was reached; the density is not at rest"
    UNEXAMINED = "the final time was reached; without a Gibbs map no state of rest is looked for"
    STATIONARY = "the density has settled at a stable stationary state"
    METASTABLE = "the density rests near an unstable stationary state, which it will leave"
    UNDECIDED = "the density rests where a stable and an unstable stationary state are both within its accuracy"
    PARTIAL = "the computation failed on the way; what was computed before is kept"
    COMPLETED = "every replica reached the final time"
    SWEPT = "every value was computed"
    INTERRUPTED = "interrupted; what was computed before is kept"

    def __str__(self) -> str:
        return self.value

    @property
    def goes_on(self) -> bool:
        """Whether a branch that ends so was left although it goes on."""
        return self in (
            Outcome.MAX_STEPS,
            Outcome.DIVERGED,
            Outcome.NOT_RESOLVED,
            Outcome.STEP_TOO_SMALL,
            Outcome.PARTIAL,
            Outcome.INTERRUPTED,
        )
