"""What moments know of the velocity of a particle: drives, their errors, and the velocity's change by these.

A velocity law may divide by an average that is small at a particle far from the others, where errors count that are
small beside the largest drive.
"""

import numpy as np
from numpy.typing import NDArray

from meanfield import ComputationFailed, Equation, InvalidInput

Floats = NDArray[np.float64]

# Where the velocity of a particle is known no better than this share of kappa and the confinement, the run ends.
LARGEST_ERROR = 1e-3
# So may be the mean error over all particles that cells make. A single one may be near a place where the velocity
# jumps, as that of an average does where it vanishes.
LARGEST_MEAN_ERROR = 1e-5
# Drives are squared.
LARGEST_DRIVE = 1e150


def drives_of(problem: Equation, degree: int) -> tuple[Floats, Floats]:
    """Return the coefficients of drive and radial drive, if there is one, a row each, up to a degree, and beyond.

    Raises
    ------
    InvalidInput
        If squares of drives leave the range of doubles.
    """
    drive = problem.velocity.drive(problem.domain, 2 * degree + 16)
    radial = problem.velocity.radial(problem.domain, drive.size - 1)
    rows = np.array([drive] if radial is None else [drive, radial])
    if not np.abs(rows).sum() <= LARGEST_DRIVE:
        raise InvalidInput(
            f"the drives of {problem.velocity.name} leave the range in which moments can be squared; take "
            "drift=PairDrift() (--pairs)"
        )
    return rows[:, : degree + 1], rows[:, degree + 1 :]


def velocity_of(problem: Equation, drives: Floats) -> Floats:
    """Return the velocity by the drive, its slope and the radial drive (2 or 3, ...), finite or not."""
    radial = drives[2] if len(drives) > 2 else None
    with np.errstate(all="ignore"):
        speed = problem.velocity.speed(drives[0], drives[1] ** 2, radial)
        return np.asarray(float(problem.fixed_coupling) * speed * drives[1])


def velocity_errors(problem: Equation, drives: Floats, errors: Floats) -> Floats:
    """Return by how much the velocity changes if each drive (2 or 3, n) has its error, in either direction."""
    velocity = velocity_of(problem, drives)
    total = np.zeros_like(velocity)
    for row, error in enumerate(errors):
        changes = []
        for shift in (error, -error):
            changed = drives.copy()
            changed[row] += shift
            with np.errstate(all="ignore"):
                changes.append(np.abs(velocity_of(problem, changed) - velocity))
        total += np.maximum(*changes)
    return total


def require_resolved(problem: Equation, errors: Floats, confining: float) -> None:
    """Refuse errors of velocities that are too large beside the coupling and the largest force of the confinement.

    Raises
    ------
    ComputationFailed
        If one is.
    """
    allowed = LARGEST_ERROR * (abs(float(problem.fixed_coupling)) + confining)
    worst = float(errors.max(initial=0.0))
    # A comparison with nan is false.
    if worst <= allowed:
        return
    raise ComputationFailed(
        f"moments know the velocity of a particle far from the others to {worst:.2g} only, where {allowed:.2g} is "
        "allowed; take a smaller tolerance, as in MomentDrift(tolerance=1e-13), or drift=PairDrift() (--pairs)"
    )


def require_interpolated(problem: Equation, error: float, confining: float) -> None:
    """Refuse a mean error of interpolated velocities that is too large.

    Raises
    ------
    ComputationFailed
        If it is.
    """
    allowed = LARGEST_MEAN_ERROR * (abs(float(problem.fixed_coupling)) + confining)
    # A comparison with nan is false.
    if error <= allowed:
        return
    raise ComputationFailed(
        f"the velocity is so steep at the particles that cells interpolate it to {error:.2g} only in the mean, "
        f"where {allowed:.2g} is allowed; take a smaller tolerance, as in MomentDrift(tolerance=1e-13), or "
        "drift=PairDrift() (--pairs)"
    )


def steepest(problem: Equation, confining: float) -> float:
    """Return the steepest slope that the drift can have, with that of the confinement.

    Raises
    ------
    InvalidInput
        If the velocity law does not state one.
    """
    steepness = problem.velocity.steepness()
    if steepness is None:
        raise InvalidInput(
            f"{problem.velocity.name} does not say how steep its velocity is; give a step, such as step=0.01, and "
            "see whether half of it changes the result"
        )
    return abs(float(problem.fixed_coupling)) * steepness + confining
