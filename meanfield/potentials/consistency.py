r"""Consistency of a potential: whether values, slope, multipliers and bounds belong to one function.

The multipliers are compared with integrals of the values over panels by two Gauss rules, whose difference tells how
well the integrals are known: a kink or a singularity at the poles is admitted, one that is narrower than a panel,
0.003, may not be integrated. The slope is integrated over the same panels and compared with differences of the
values.
"""

from typing import Any

import numpy as np
import numpy.typing as npt

from ..domains import Domain
from ..errors import InvalidInput
from ..harmonics.gegenbauer import multiplicities, sum_at_cosines, zonal_polynomials

Floats = npt.NDArray[np.floating[Any]]

_EPS = float(np.finfo(float).eps)
# Degrees up to which multipliers are integrated, and up to which bounds are held against those that are given.
_INTEGRATED, _BOUNDED = 33, (2048, 512, 128, 33)
_PANELS, _ORDERS = 1024, (5, 8)
# What is refused, relative to the largest, on top of what is not known.
_TOLERANCE = 1e-8


def require_consistent(potential: Any, domain: Domain, named: str) -> None:
    """Refuse a potential whose answers contradict each other, with the numbers.

    Raises
    ------
    InvalidInput
        If values or slope are of the wrong shape, not finite, not even or odd, or not periodic, or if multipliers,
        bounds, scale, slope and values do not belong to one function.
    """
    multipliers = np.asarray(_longest(potential, domain), dtype=np.longdouble)
    _require_nested(potential, domain, named, multipliers)
    _require_scale(potential, domain, named, multipliers)
    _require_bounds(potential, domain, named, multipliers)
    _require_symmetric(potential, named)
    _require_slope(potential, named)
    _require_integrals(potential, domain, named, multipliers)
    _require_sum(potential, domain, named, multipliers)


def _longest(potential: Any, domain: Domain) -> Any:
    """Return the multipliers up to the largest degree of a few that the potential does not refuse."""
    for degree in _BOUNDED[:-1]:
        try:
            return potential.multipliers(domain, degree)
        except ValueError:
            continue
    return potential.multipliers(domain, _BOUNDED[-1])


def _require_nested(potential: Any, domain: Domain, named: str, multipliers: Any) -> None:
    for degree in (4, _INTEGRATED):
        shorter = np.asarray(potential.multipliers(domain, degree), dtype=np.longdouble)
        differences, sizes = np.abs(shorter - multipliers[: degree + 1]), np.abs(multipliers[: degree + 1])
        worst = int(np.argmax(differences - _TOLERANCE * sizes))
        if differences[worst] > _TOLERANCE * max(sizes[worst], 64 * _EPS * sizes.max()):
            raise InvalidInput(
                f"the multiplier of degree {worst} of the {named} is {float(shorter[worst]):.12g} in "
                f"multipliers(domain, {degree}) and {float(multipliers[worst]):.12g} in multipliers(domain, "
                f"{multipliers.size - 1}); it must not depend on how many are asked for"
            )


def _require_bounds(potential: Any, domain: Domain, named: str, multipliers: Any) -> None:
    scale = np.abs(multipliers[1:]).max()
    for degree in (1, 2, 4, 8, 16, 32, 64, 127, 256, 511, 1024, 2047):
        if degree >= multipliers.size - 1:
            return
        beyond = np.abs(multipliers[degree + 1 :])
        largest = degree + 1 + int(beyond.argmax())
        for bound, what in (
            (potential.tail_bound(domain, degree), "tail_bound"),
            (potential.relative_tail_bound(domain, degree) * scale, "relative_tail_bound times the scale"),
        ):
            if beyond.max() > bound * (1 + _TOLERANCE) + _EPS * scale:
                raise InvalidInput(
                    f"{what} of the {named} at degree {degree} is {float(bound):.6g}, but its multiplier of degree "
                    f"{largest} is {float(multipliers[largest]):.6g}; it must bound the modulus of all multipliers "
                    "beyond the degree"
                )


def _require_scale(potential: Any, domain: Domain, named: str, multipliers: Any) -> None:
    largest = np.abs(multipliers[1:]).max()
    scale, beyond = potential.scale(domain), potential.tail_bound(domain, multipliers.size - 1)
    if not largest * (1 - _TOLERANCE) <= scale <= max(largest, beyond) * (1 + _TOLERANCE):
        raise InvalidInput(
            f"scale(domain) of the {named} is {float(scale):.12g}, but the largest modulus of its multipliers is "
            f"{float(largest):.12g}; leave the method out to have it found"
        )
    for method in ("relative_multipliers", "extended_multipliers"):
        relative = np.asarray(getattr(potential, method)(domain, _INTEGRATED), dtype=np.longdouble)
        expected = multipliers[: _INTEGRATED + 1] / scale if scale > 0 else np.zeros(_INTEGRATED + 1)
        wrong = np.abs(relative[1:] - expected[1:])
        worst = 1 + int(wrong.argmax())
        if wrong.max() > _TOLERANCE:
            raise InvalidInput(
                f"{method} of the {named} at degree {worst} is {float(relative[worst]):.12g}, but its multiplier "
                f"over its scale is {float(expected[worst]):.12g}; leave the method out to have it found"
            )


def _require_symmetric(potential: Any, named: str) -> None:
    """Refuse wrong shapes, values that are not even and slopes that are not odd, or not periodic."""
    angles = np.pi * (np.arange(1, 41).reshape(20, 2) * 0.6180339887498949 % 1)
    for method, sign, word in (("values", 1.0, "even"), ("slope", -1.0, "odd")):
        answer = _answer(potential, method, angles, named)
        mirrored, shifted = (_answer(potential, method, other, named) for other in (-angles, angles + 2 * np.pi))
        size = np.abs(answer).max()
        for image, claim in ((sign * mirrored, f"{word} in the angle"), (shifted, "of period 2 pi")):
            worst = np.unravel_index(int(np.abs(image - answer).argmax()), angles.shape)
            if abs(image[worst] - answer[worst]) > _TOLERANCE * size:
                raise InvalidInput(
                    f"{method} of the {named} must be {claim}: it is {answer[worst]:.9g} at t = "
                    f"{angles[worst]:.9g} and {image[worst]:.9g} where it must be the same"
                )


def _require_slope(potential: Any, named: str) -> None:
    ends = np.pi * np.linspace(0.02, 0.98, _PANELS + 1)
    differences = np.diff(_answer(potential, "values", ends, named))
    coarse, fine = (_over(potential, "slope", ends, order, named).sum(axis=1) for order in _ORDERS)
    size = np.abs(fine).max() + np.abs(differences).max()
    values = np.abs(_answer(potential, "values", ends, named)).max()
    excess = np.abs(fine - differences) - 10 * np.abs(fine - coarse) - _TOLERANCE * size - 16 * _EPS * values
    worst = int(excess.argmax())
    if excess[worst] > 0:
        raise InvalidInput(
            f"the slope of the {named} integrates to {fine[worst]:.9g} between t = {ends[worst]:.6g} and "
            f"{ends[worst + 1]:.6g}, but its values differ by {differences[worst]:.9g} there; slope must be dW/dt"
        )


def _require_integrals(potential: Any, domain: Domain, named: str, multipliers: Any) -> None:
    numbers = multiplicities(domain, _INTEGRATED)
    stated = np.asarray(multipliers[: _INTEGRATED + 1] / numbers, dtype=float)
    coarse, fine = (_eigenvalues(potential, domain, order, named) for order in _ORDERS)
    size = max(np.abs(fine[1:]).max(), np.abs(stated[1:]).max())
    rounding = 64 * _EPS * np.abs(_answer(potential, "values", _nodes(np.pi * _graded(), 2)[0], named)).max()
    excess = np.abs(fine - stated) - 10 * np.abs(fine - coarse) - _TOLERANCE * size - rounding
    # The mean carries no information.
    worst = 1 + int(excess[1:].argmax())
    if excess[worst] > 0:
        raise InvalidInput(
            f"the multiplier of degree {worst} of the {named} is {float(multipliers[worst]):.9g}, but its values "
            f"have {float(fine[worst] * numbers[worst]):.9g}, the integral of W against the polynomial of that "
            "degree; multipliers and values must be of one function"
        )


def _require_sum(potential: Any, domain: Domain, named: str, multipliers: Any) -> None:
    """Refuse a potential of finitely many multipliers whose sum differs from its values at single angles."""
    scale = np.abs(multipliers[1:]).max()
    degree = multipliers.size - 1
    if potential.tail_bound(domain, degree) > _EPS * scale / degree:
        return
    angles = np.pi * (np.arange(1, 101) * 0.6180339887498949 % 1)
    values = _answer(potential, "values", angles, named)
    total = sum_at_cosines(np.asarray(multipliers, dtype=float), domain.dimension, np.cos(angles))
    # Up to the mean, which carries no information.
    differences = (values - total) - (values - total).mean()
    worst = int(np.abs(differences).argmax())
    size = np.abs(multipliers[1:]).sum() + 64 * _EPS * np.abs(values).max() / _TOLERANCE
    if abs(differences[worst]) > _TOLERANCE * size:
        raise InvalidInput(
            f"the multipliers of the {named} sum to {total[worst]:.9g} at t = {angles[worst]:.9g}, where its value "
            f"is {values[worst]:.9g}, and the difference is no constant; its tail_bound says that there are no more"
        )


def _eigenvalues(potential: Any, domain: Domain, order: int, named: str) -> Floats:
    """Return the means of W P_l, l = 0, 1, ..., by a Gauss rule of an order on panels."""
    ends = np.pi * _graded()
    nodes, weights = _nodes(ends, order)
    measure = weights * np.sin(nodes) ** (domain.dimension - 2)
    weighted = _over(potential, "values", ends, order, named) / weights * measure / measure.sum()
    polynomials = zonal_polynomials(domain.dimension, _INTEGRATED, np.cos(nodes))
    return np.array([(weighted * row).sum() for row in polynomials])


def _graded() -> Floats:
    """Return ends of panels of [0, 1], halved towards both ends, where potentials may be singular."""
    uniform = np.arange(1, _PANELS) / _PANELS
    small = uniform[0] * 0.5 ** np.arange(30, 0, -1)
    return np.concatenate([[0.0], small, uniform, 1 - small[::-1], [1.0]])


def _nodes(ends: Floats, order: int) -> tuple[Floats, Floats]:
    places, weights = np.polynomial.legendre.leggauss(order)
    halves = np.diff(ends)[:, np.newaxis] / 2
    return ends[:-1, np.newaxis] + halves * (1 + places), halves * weights


def _over(potential: Any, method: str, ends: Floats, order: int, named: str) -> Floats:
    """Return the values of a method on the nodes of panels times the weights, one row for each panel."""
    nodes, weights = _nodes(ends, order)
    return _answer(potential, method, nodes, named) * weights


def _answer(potential: Any, method: str, angles: Floats, named: str) -> npt.NDArray[np.float64]:
    answer = np.asarray(getattr(potential, method)(angles.copy()))
    if answer.shape != angles.shape or answer.dtype.kind != "f":
        raise InvalidInput(
            f"{method} of the {named} must return floats in the shape of the angles, {angles.shape}, not shape "
            f"{answer.shape} and dtype {answer.dtype}"
        )
    bad = np.flatnonzero(~np.isfinite(answer).ravel())
    if bad.size:
        raise InvalidInput(
            f"{method} of the {named} is {answer.flat[bad[0]]} at t = {angles.flat[bad[0]]:.9g}; only at 0 and pi "
            "may it be infinite"
        )
    with np.errstate(over="ignore", under="ignore"):
        return answer.astype(np.float64)
