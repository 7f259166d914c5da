"""Where Newton's iteration for a point of a curve ends, compiled or not."""

MAX_ITERATIONS = 12
# As a rule a step up to this is the last.
LAST_STEP = 2e-8
# A later step up to this is the last if it is not much shorter than the one before.
LATE_STEP = 1e-9
# The iteration fails with a step as long as this.
TOO_LONG = 10.0
# Beyond this growth of J^{-1} g_q the elimination of J loses half of the digits.
SINGULAR_GROWTH = 1e8

RUNNING, SOLVED, FAILED, UNDECIDED = range(4)


def status_after(iteration: int, length: float, previous: float, last_step: float) -> int:
    """Return whether an iteration runs on, is solved or has failed after a step, by its length and that before."""
    if length <= last_step or (iteration > 1 and length <= LATE_STEP and length >= 0.1 * previous):
        return SOLVED
    if iteration > 3 and length > 0.9 * previous:
        return FAILED
    return RUNNING
