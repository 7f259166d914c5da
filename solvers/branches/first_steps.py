r"""The first point of a new branch, so near its branch point that no event can be missed in between.

Along the way from the branch point the eigenvalues of every symmetry block are continuous. Those that are not
zero at it hardly change where nothing happens. Of the others as many as there are new rotations stay zero, and the
rest leave as powers of the amplitude: with the coupling changing as :math:`\varepsilon^p`, the reduced equation
makes that along the branch a multiple of :math:`\varepsilon^p`, of the sign that exchange of stability gives it,
and those across it multiples of powers of their own. Where two amplitudes show just that, no fold and no branch
point is closer; where not, the first point is taken nearer, however near the next event is.
"""

import numpy as np

from ..bases import Floats
from ..root_finding.newton import NEUTRAL, POLISHED, correct
from .arrivals import ALIGNED
from .continuation import Point, length, resolve
from .detection import energy_passes
from .junctions import INSEPARABLE, Departure

# Relative slopes of the coupling of transcritical branches in the amplitude go up to this; the first point stays
# near the branch point.
STEEPEST = 1e4
LARGEST_RISE = 0.1
# A branch point this close to an end of where its equation is known, relatively, is at it.
AT_END = 1e-12
# Amplitudes are tried in a geometric sequence; where none will do, a branch starts at one that is well separated.
REDUCTION, SMALLEST, SEPARATED = 0.25, 1e-9, 1e-6
# Eigenvalues at a branch point up to this are its kernel, or up to so many times that along the branch.
KERNEL, TIMES = 1e-13, 10.0
# An eigenvalue that is not in the kernel changes by less than this share up to the first point, growth included: it
# may have come back through zero. But one that the kernel of its own block drives away grows like the kernel's.
CHANGED = 0.5
# The first step deviates from a straight line by less than this share of it.
CURVED = 0.1
# A branch that leaves a small state is looked at before it is as far off as the state is from uniform: beyond, a
# branch that leaves the uniform state may pass for it.
NEARBY = 0.25
# How well two amplitudes show an integer power.
POWER = 0.2


def leaves_at_end(departure: Departure) -> bool:
    """Return whether a branch begins at an end of where its equation is known and goes on beyond it."""
    ends = [end for end in departure.equation.ends or () if abs(departure.q - end) <= AT_END * abs(end)]
    if not ends:
        return False
    first, _ = first_point(departure, counted=False, bounded=False)
    return first is not None and abs(first.q - ends[0]) > AT_END and bool(_beyond(departure, first.q))


def _beyond(departure: Departure, q: float) -> bool:
    """Return whether q is beyond the ends of where the equation of a departure is known."""
    ends = departure.equation.ends
    return ends is not None and not ends[0] <= q <= ends[1]


def first_point(departure: Departure, *, counted: bool = True, bounded: bool = True) -> tuple[Point | None, bool]:
    """Return the first point of a new branch and whether no event lies between it and the branch point.

    The amplitude is reduced until the correction is small against it, the coupling has the shape that the symmetry
    demands (quadratic in the amplitude at a pitchfork, linear at a transcritical point), and the eigenvalues are
    those of the branch point.

    Parameters
    ----------
    counted
        Whether eigenvalues are examined, beside the shape.
    bounded
        Whether the point must be where the equation is known.
    """
    candidate = None
    size = length(departure.b, 0.0)
    step = min(departure.largest_step, NEARBY * size) if size > 0.0 else departure.largest_step
    while step >= SMALLEST:
        point = _at_amplitude(departure, step)
        if point is not None and not (bounded and _beyond(departure, point.q)):
            candidate = point if candidate is None or step >= SEPARATED else candidate
            shaped = _shape(departure, point, step)
            if shaped is not False and (not counted or _nothing_between(departure, point, step, bool(shaped))):
                return point, True
        step *= REDUCTION
    return candidate, False


def _at_amplitude(departure: Departure, step: float) -> Point | None:
    direction = departure.direction
    guess = departure.b + step * direction
    q = departure.q if departure.order is not None else _balanced(departure, guess)
    solution = correct(departure.equation, guess, q, direction, 0.0, POLISHED)
    if solution is None:
        return None
    change = solution.b - guess
    # At a pitchfork the rest of the state follows quadratically, as the coupling does, with a factor up to the
    # inverse distance of the next threshold. At a transcritical point it moves along with the coupling, steeply if
    # need be. The shape of the branch is the check, where its power is known.
    # Where a confinement has a symmetry that the potential does not see, all unknowns of its state vanish as well.
    uniform = departure.equation.problem.confinement is None and not np.any(departure.b)
    steep = departure.order == 1 or (departure.order is None and uniform)
    farthest = 50.0 if steep else (2.0 if departure.order is None else 0.25)
    steepest = STEEPEST if steep or departure.order is not None else 4.0
    rise = abs(solution.q - departure.q) / departure.q
    if length(change, 0.0) > farthest * step or rise > min(steepest * step, LARGEST_RISE):
        return None
    if steep and departure.order is None and not _along(departure, solution.b):
        return None
    # A branch that leaves nearly along its parent is much farther off than its amplitude.
    distance = length(solution.b - departure.b, solution.q - departure.q)
    point = Point(departure.equation, solution, distance).oriented(direction, 0.0)
    resolved_point = resolve(point)
    return resolved_point if isinstance(resolved_point, Point) else None


def _along(departure: Departure, b: Floats) -> bool:
    """Return whether a state is aligned with a departure from the uniform state in the critical modes."""
    critical = np.abs(departure.equation.distances(departure.q)) <= max(INSEPARABLE, 2.0 * departure.kernel)
    return float(b @ departure.direction) >= ALIGNED * length(b[critical], 0.0)


def _balanced(departure: Departure, b: Floats) -> float:
    """Return the coupling at which the residual of a guess has no component along the branch.

    Where several modes are critical the matrix of Newton's method is singular at that of the branch point.
    """
    equation = departure.equation
    evaluation = equation.evaluate(b, departure.q)
    _, derivative = equation.linearise(b, departure.q, evaluation.gibbs.moments)
    slope = float(departure.direction @ derivative)
    q = departure.q - float(departure.direction @ evaluation.residual) / slope if slope != 0.0 else departure.q
    return q if abs(q - departure.q) <= LARGEST_RISE * departure.q else departure.q


def _shape(departure: Departure, point: Point, step: float) -> bool | None:
    """Return whether q(eps) - q(0) and its derivative agree with one leading power; None if that is not known.

    The power is not known at a resonance, and both may be lost in rounding.
    """
    rise = point.q - departure.q
    if departure.order is None or abs(rise) <= 1e-14 * departure.q / step:
        return None
    direction = departure.equation.transfer(departure.direction, point.equation)
    slope = point.solution.tangent_q * step / float(point.solution.tangent_b @ direction)
    ratio = slope / rise
    return abs(ratio - departure.order) < 0.1 * departure.order


def _nothing_between(departure: Departure, point: Point, step: float, shaped: bool) -> bool:
    """Return whether all eigenvalues are those of the branch point, except in the kernel, where they are powers.

    And the free energy, which is monotone where nothing happens, on the same side of that of the uniform state.

    Parameters
    ----------
    shaped
        Whether the shape of the branch has shown the power of the eigenvalue along it.
    """
    densities = point.equation.densities
    start = departure.state_on(point.equation)
    if energy_passes(start, point):
        return False
    nearer: Point | None = None
    spectra = {block: _spectrum(start, block) for block in densities.blocks_of(point)}
    along = min(float(np.abs(values).min(initial=1.0)) for block, values in spectra.items() if block.own)
    kernel = KERNEL + 2.0 * departure.kernel + TIMES * along
    for block, values_before in spectra.items():
        born = densities.rotations(point, block) - densities.rotations(start, block)
        before, after = _deflated(values_before, born, 0.0), _deflated(_spectrum(point, block), born, 1.0)
        size = max(before.size, after.size)
        before, after = _filled(before, size), _filled(after, size)
        critical = np.abs(before) <= kernel
        growth = np.where(critical, 0.0, (after - before) * np.sign(before)) / np.maximum(np.abs(before), kernel)
        leaving = critical | (growth > CHANGED)
        if growth.min(initial=0.0) < -CHANGED or (leaving.any() and not critical.any()):
            return False
        if not leaving.any() or (shaped and block.own and np.count_nonzero(leaving) == 1):
            continue
        nearer = nearer or _at_amplitude(departure, 0.5 * step)
        if nearer is None or _beyond(departure, nearer.q) or not _straight(start, nearer, point):
            return False
        half = _filled(_deflated(_spectrum(nearer, block), born, 1.0), size)
        zero = 10.0 * NEUTRAL + 2.0 * departure.kernel
        values = np.column_stack([before, half, after])[leaving]
        if not all(_leaves(one, two, three, zero) for one, two, three in values.tolist()):
            return False
    return True


def _straight(start: Point, nearer: Point, point: Point) -> bool:
    """Return whether points at half an amplitude and at the amplitude are on one curve from the branch point."""
    b = point.b
    half = nearer.on(point.equation).b
    return length(b - 2.0 * half + start.b, 0.0) <= CURVED * length(b - start.b, 0.0)


def _spectrum(point: Point, block: object) -> Floats:
    return point.equation.densities.block_matrix(point, block).eigenvalues()


def _deflated(eigenvalues: Floats, rotations: int, value: float) -> Floats:
    """Return ascending eigenvalues without those of rotations: zero at the branch point, one beyond it."""
    # A block on whose degrees the potential hardly acts is empty, and holds no rotation either.
    for _ in range(min(rotations, eigenvalues.size)):
        place = int(np.abs(eigenvalues - value).argmin())
        eigenvalues = np.concatenate((eigenvalues[:place], eigenvalues[place + 1 :]))
    return eigenvalues


def _filled(eigenvalues: Floats, size: int) -> Floats:
    """Return ascending eigenvalues with those of modes that do not act there, one, up to a number."""
    missing = size - eigenvalues.size
    return np.concatenate((eigenvalues, np.ones(missing))) if missing > 0 else eigenvalues[:size]


def _leaves(before: float, half: float, value: float, zero: float) -> bool:
    """Return whether values at half an amplitude and at the amplitude follow a power of it, or are zero.

    The power 0 is that of a value hardly beyond rounding, which is there before.
    """
    if max(abs(value), abs(half)) <= zero:
        return True
    if not value * half > 0.0:
        return False
    power = float(np.log2(value / half))
    if abs(power) <= POWER:
        return abs(value - before) <= CHANGED * abs(value)
    return power >= 1.0 - POWER and abs(power - round(power)) <= POWER
