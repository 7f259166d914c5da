"""The contraction of a density to a point without noise, as a record: the verb of :mod:`.characteristics`."""

import dataclasses
import math
import time as clock
from collections.abc import Callable
from typing import Any

from meanfield import Equation, InvalidInput
from meanfield.equations import Capability, in_rotating_frame, require
from meanfield.errors import did_you_mean
from meanfield.records import QUANTITIES, Contraction, QuantityRate

from .characteristics import ENERGY_GAP, FORWARD, MULTIPLES, contraction
from .characteristics import Contraction as Found
from .domains import solvers_of
from .evolution.initial import Initial
from .execution.provenance import provenance
from .execution.threads import one_thread

# Accuracy of positions: errors of steps, of the tolerance of the last pass, add up to some of it.
ACCURACY = 10.0 * FORWARD
# The mass in flight is hidden where 1 - r is larger by the exponential of this.
HIDDEN = 4.0


@one_thread()
def contraction_to_a_point(problem: Equation, initial: Any = None, quantity: str | None = None) -> Contraction:
    """Return the contraction rate of a density without noise; as :func:`solvers.contraction_rate`.

    Raises
    ------
    InvalidInput
        If there is no exponential contraction to a point under the equation, or not for this density.
    ComputationFailed
        If the density is not seen to collapse to one point.
    """
    started = clock.process_time()
    chosen = quantity_named("1 - r" if quantity is None else quantity)
    if chosen == ENERGY_GAP and problem.lacks(Capability.GRADIENT):
        raise InvalidInput(
            f"this equation has no {chosen}, since its velocity is not the gradient of an energy; ask for 1 - r"
        )
    _require_free(problem)
    start = _start(problem, initial)
    density = solvers_of(problem).labels.density(problem, start)
    law = in_rotating_frame(problem).velocity
    found = contraction(law, float(problem.fixed_coupling), problem.domain, density)
    warnings = start.warnings if isinstance(start, Initial) else ()
    return _record(problem, chosen, found, warnings, clock.process_time() - started)


def quantity_named(name: str) -> str:
    """Return the name of a quantity, spaces, hyphens and capitals aside.

    Raises
    ------
    InvalidInput
        If there is no such quantity.
    """
    known = {_plain(quantity): quantity for quantity in QUANTITIES}
    if _plain(name) not in known:
        raise InvalidInput(
            f"unknown quantity {name!r}; {did_you_mean(name, QUANTITIES)}known: {', '.join(QUANTITIES)}"
        )
    return known[_plain(name)]


def _plain(name: str) -> str:
    return "".join(letter for letter in name.lower() if letter not in " -_")


def _require_free(problem: Equation) -> None:
    require(problem, Capability.DRIVE, "contraction rates without noise")
    require(problem, Capability.AUTONOMOUS, "contraction rates without noise")
    if problem.confinement is not None:
        raise InvalidInput(
            "without noise a confinement decides where a density collapses, and its rate is not computed here; "
            "leave the confinement out, or give noise > 0 (--noise 1)"
        )


def _start(problem: Equation, initial: Any) -> Initial | Callable[..., Any]:
    """Return the initial density: a function of one angle as it is, which may have jumps, or else moments."""
    if initial is None:
        domain = solvers_of(problem)
        start = domain.evolution.moments_of(problem, domain.labels.default(problem))
        return dataclasses.replace(start, description=domain.labels.in_words)
    named = hasattr(initial, "moments") or hasattr(initial, "cosine")
    if callable(initial) and not named and not isinstance(initial, type):
        function: Callable[..., Any] = initial
        return function
    return solvers_of(problem).evolution.moments_of(problem, initial)


def _record(
    problem: Equation, quantity: str, found: Found, warnings: tuple[str, ...], seconds: float
) -> Contraction:
    collapse, tracers = found.collapse, found.collapse.tracers
    main = next(rate for rate in found.rates if rate.quantity == quantity)
    frame = found.density.frame
    remainder = float(collapse.history.remainder[-1])
    return Contraction(
        problem=problem,
        initial=found.density.description,
        quantity=quantity,
        rates=found.rates,
        reason=_reason(found, main),
        theory=theory_of(found, quantity),
        local_exponent=collapse.local.value,
        local_exponent_error=collapse.local.error,
        separatrix_exponent=None if collapse.unstable is None else collapse.unstable.value,
        separatrix_exponent_error=None if collapse.unstable is None else collapse.unstable.error,
        order=found.tail.order,
        limit_point=math.remainder(collapse.cluster + frame, 2.0 * math.pi),
        limit_point_error=0.0 if found.density.even else math.pi * remainder + ACCURACY + collapse.cluster_error,
        separatrix=None if tracers is None else math.remainder(tracers.label + frame, 2.0 * math.pi),
        separatrix_error=None if tracers is None else collapse.label_error,
        log_amplitude=found.log_amplitude,
        angular_velocity=found.flow.turning + problem.velocity.frequency,
        time=collapse.history.ends,
        remainder=collapse.history.remainder,
        warnings=(*warnings, *_warnings(found, main)),
        provenance=provenance(problem, {"quantity": quantity, "initial": found.density.description}, seconds),
    )


def theory_of(found: Found, quantity: str) -> float | None:
    """Return the rate of a quantity from the exponents of the flow in the field of a point, None if not known."""
    flow, tail = found.flow, found.tail
    if not tail.known:
        return None
    if quantity not in MULTIPLES:
        return flow.local if tail.vanishes else 0.0
    of_cluster, of_mass = MULTIPLES[quantity]
    if tail.order is None:
        return of_cluster * flow.local
    return min(of_cluster * flow.local, of_mass * (found.density.dimension - 1 + tail.order) * flow.unstable)


def _reason(found: Found, rate: QuantityRate) -> str:
    """Return why one exponent governs a quantity and not the other, in a sentence."""
    if rate.governed_by == "local" and rate.separatrix_rate is None:
        return "the local rate governs, since the initial density is zero around what never reaches the cluster"
    if rate.quantity not in MULTIPLES and rate.governed_by == "separatrix":
        return "the support keeps its diameter, since it reaches the separatrix, from where nothing ever arrives"
    order = f" to order {found.tail.order:g}" if found.tail.order else ""
    tail = f"the mass in flight, of a density that vanishes{order} at the separatrix label"
    tail = tail if order else "the mass in flight, of a density that is positive at the separatrix label"
    if rate.governed_by == "separatrix":
        local, separatrix = _told_apart(rate.local_rate, rate.separatrix_rate)
        return (
            f"the separatrix governs, since {tail}, decays slower ({separatrix}) than the cluster shrinks ({local})"
        )
    if rate.governed_by == "local":
        local, separatrix = _told_apart(rate.local_rate, rate.separatrix_rate)
        return (
            f"the local rate governs, since the cluster shrinks slower ({local}) than {tail}, decays ({separatrix})"
        )
    if rate.separatrix_rate is None:
        return f"which exponent governs is not known: {found.tail.doubt}"
    factor = "sqrt(t)" if rate.quantity == "W2" else "t"
    return (
        f"both exponents agree within the error, so both govern and the decay has a factor {factor} besides the "
        "exponential"
    )


def _told_apart(*rates: float | None) -> list[str]:
    """Return rates with as many digits as tell them apart, six at least."""
    for digits in range(6, 17):
        texts = [f"{rate:.{digits}g}" for rate in rates]
        if len(set(texts)) == len(texts):
            break
    return texts


def _hidden(found: Found) -> list[str]:
    """Return the sentence until when 1 - r shows the cluster alone, if the mass in flight is far smaller before."""
    history, local = found.collapse.history, 2.0 * found.collapse.local.value
    if found.log_amplitude is None or found.mass is None or local <= found.mass.value:
        return []
    ahead = math.log(history.remainder[-1]) - (found.log_amplitude - found.mass.value * history.until)
    if ahead < HIDDEN:
        return []
    time = history.until + ahead / (local - found.mass.value)
    power = (found.log_amplitude - found.mass.value * time) / math.log(10.0)
    return [
        f"so little mass is in flight, C e^(-{found.mass.value:.4g} t) with ln C = {found.log_amplitude:.4g}, that "
        f"1 - r falls at the local rate until about time {time:.4g}, where it is 1e{power:.0f}"
    ]


def _warnings(found: Found, rate: QuantityRate) -> list[str]:
    warnings = []
    if rate.governed_by == "separatrix" and rate.quantity in MULTIPLES:
        warnings.append(
            "any finite number of particles follows the local rate from its crossover on; fit this rate to "
            "particles only before that"
        )
        warnings += _hidden(found)
    if found.flow.equilibria:
        places = ", ".join(f"{angle:.4g}" for angle in found.flow.equilibria)
        warnings.append(
            f"the field of a point has other equilibria at {places} from it, so only densities near the cluster "
            "collapse to it; that this one leaves no mass behind was seen on labels, not proved"
        )
    if found.flow.polygons:
        numbers = " or ".join(map(str, found.flow.polygons))
        warnings.append(
            f"{numbers} equal clusters at equal angles are stable as well, and densities near them do not collapse "
            "to one point"
        )
    if found.density.note:
        warnings.append(found.density.note)
    return warnings
