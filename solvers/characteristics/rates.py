r"""Contraction rates of a density without noise: which exponent governs which quantity, and why.

A density that is positive at the separatrix leaves the mass :math:`e^{-\mu t}`, :math:`\mu = (d-1+k)\lambda`, on
its way, and the cluster shrinks like :math:`e^{-Lt}`, so that

==================  ============================================================
1 - r, energy gap   :math:`\min(2L, \mu)`
W1                  :math:`\min(L, \mu)`
W2                  :math:`\min(L, \mu/2)`
support diameter    0 where the support reaches the separatrix, L elsewhere
==================  ============================================================

At equality W2 has a factor :math:`\sqrt t` besides the exponential, all others but the diameter a factor t.
"""

from dataclasses import dataclass, replace

import numpy as np

from meanfield import ComputationFailed, InvalidInput, VelocityLaw
from meanfield.domains import Domain
from meanfield.records import QuantityRate

from ..bases.transforms import waves_at
from ..evolution.medium import Medium, medium_of, point_fields
from .clusters import not_collapsed
from .collapse import History
from .densities import flipped
from .labels import LabelDensity, labels_on, panels_of
from .limit import LimitFlow, limit_flow
from .measured import CONTRACTED, IN_FLIGHT, Collapse, Exponent, followed
from .tail import Tail, log_amplitude, tail_of

# Multiples of the local exponent and of that of the mass in flight for each quantity.
ENERGY_GAP = "energy gap"
MULTIPLES = {"1 - r": (2.0, 1.0), "W1": (1.0, 1.0), "W2": (1.0, 0.5), ENERGY_GAP: (2.0, 1.0)}
DIAMETER = "support diameter"
# Below this ratio of the exponents of 1 - r the cluster has collapsed long before, and need not be followed
# further.
CLEARLY = 0.8
# Velocities below this share of those in the field of a point are rounding of the moments.
AT_REST = 1e-11
# A cluster elsewhere than at 0 has 1 - r of this and more.
OPPOSITE = 1.9


@dataclass(frozen=True)
class Contraction:
    """What is known of the contraction of a density.

    Attributes
    ----------
    flow
        The flow in the field of a point.
    collapse
        The density followed.
    density
        The density, in its frame.
    tail
        The initial density at the separatrix label.
    mass : Exponent or None
        Rate of the mass in flight, None if there is none or nothing is known.
    rates : tuple of QuantityRate
        The rates of all quantities.
    log_amplitude : float or None
        ln C of the mass in flight C e^(-mass t).
    """

    flow: LimitFlow
    collapse: Collapse
    density: LabelDensity
    tail: Tail
    mass: Exponent | None
    rates: tuple[QuantityRate, ...]
    log_amplitude: float | None


def contraction(law: VelocityLaw, coupling: float, domain: Domain, density: LabelDensity) -> Contraction:
    """Return the contraction rates of a density under a velocity law.

    Raises
    ------
    InvalidInput
        If the law has no exponential contraction to a point, or not for this density.
    ComputationFailed
        If the density does not collapse to one point in the time that it is followed.
    """
    medium = medium_of(law, coupling, domain, density.even)
    flow = limit_flow(medium)
    if flow.attracting:
        _require_room(flow, density)
    _require_motion(medium, density, flow)
    # In the frame that turns with the point, where its field comes to rest.
    medium = replace(medium, turning=flow.turning)
    found = _followed(medium, density, flow)
    if isinstance(found, History) and density.even and found.remainder[-1] > OPPOSITE:
        density = flipped(density)
        found = _followed(medium, density, flow)
    if isinstance(found, History):
        raise ComputationFailed(not_collapsed(medium, density, found))
    tail = Tail(None, True, np.zeros(0))
    if found.tracers is not None:
        tail = tail_of(density, found.tracers.label, found.label_error)
    mass = _mass(found, tail, density.dimension)
    amplitude = None if mass is None else log_amplitude(density, found, tail, mass.value)
    return Contraction(flow, found, density, tail, mass, _rates(found, tail, mass, medium.is_gradient), amplitude)


def _followed(medium: Medium, density: LabelDensity, flow: LimitFlow) -> History | Collapse:
    """Return a density followed as far as the exponent that governs needs."""
    tail_decides = not flow.equilibria and (density.dimension - 1) * flow.unstable < CLEARLY * 2.0 * flow.local
    found = followed(medium, density, flow, IN_FLIGHT if tail_decides else CONTRACTED)
    if not tail_decides or isinstance(found, History) or found.tracers is None:
        return found
    tail = tail_of(density, found.tracers.label, found.label_error)
    if tail.order is not None and (density.dimension - 1 + tail.order) * flow.unstable < CLEARLY * 2.0 * flow.local:
        return found
    # Without mass at the separatrix the cluster decides after all.
    return followed(medium, density, flow, CONTRACTED)


def _mass(found: Collapse, tail: Tail, dimension: int) -> Exponent | None:
    if tail.order is None or found.unstable is None:
        return None
    factor = dimension - 1 + tail.order
    value, error, window = found.unstable
    return Exponent(factor * value, factor * error, window)


def _rates(found: Collapse, tail: Tail, mass: Exponent | None, has_energy: bool) -> tuple[QuantityRate, ...]:
    names = [name for name in MULTIPLES if has_energy or name != ENERGY_GAP]
    rates = [_rate(name, found.local, mass, tail, *MULTIPLES[name]) for name in names]
    return (*rates, _diameter(found.local, tail))


def _rate(
    name: str, local: Exponent, mass: Exponent | None, tail: Tail, of_cluster: float, of_mass: float
) -> QuantityRate:
    cluster, error = of_cluster * local.value, of_cluster * local.error
    if mass is None:
        if tail.vanishes:
            return QuantityRate(name, cluster, error, local.window, "local", cluster, None)
        return QuantityRate(name, None, None, None, "undecided", cluster, None)
    flight, uncertain = of_mass * mass.value, of_mass * mass.error
    if abs(cluster - flight) <= error + uncertain:
        value, spread = 0.5 * (cluster + flight), error + uncertain
        return QuantityRate(name, value, spread, mass.window, "undecided", cluster, flight)
    if cluster < flight:
        return QuantityRate(name, cluster, error, local.window, "local", cluster, flight)
    return QuantityRate(name, flight, uncertain, mass.window, "separatrix", cluster, flight)


def _diameter(local: Exponent, tail: Tail) -> QuantityRate:
    if tail.vanishes:
        return QuantityRate(DIAMETER, local.value, local.error, local.window, "local", local.value, None)
    if tail.order is None:
        return QuantityRate(DIAMETER, None, None, None, "undecided", local.value, None)
    return QuantityRate(DIAMETER, 0.0, 0.0, local.window, "separatrix", local.value, 0.0)


def _require_room(flow: LimitFlow, density: LabelDensity) -> None:
    """Refuse a density that is positive everywhere where particles also gather elsewhere."""
    low, high = density.span
    angles = np.linspace(low, high, 1024, endpoint=False)[1:]
    if density.profile(angles).min() > 16.0 * density.accuracy:
        places = ", ".join(f"{angle:.4g}" for angle in flow.attracting)
        raise InvalidInput(
            f"a cluster attracts from within {flow.basin:.4g} radians only and particles also come to rest at "
            f"{places} from it, so a density that is positive everywhere does not collapse to one point; give "
            "one with support "
            'in an arc, such as --initial "density:..." that is 0 elsewhere'
        )


def _require_motion(medium: Medium, density: LabelDensity, flow: LimitFlow) -> None:
    """Refuse a density that is at rest, whose collapse would be that of rounding, or whose velocity is not smooth.

    R is negative at the antipode of a point, whose velocity is then smooth, and passes zero if it was not before.
    """
    labels = labels_on(density, panels_of(density))
    moments = labels.moments(medium.degree)
    fields = medium.fields(moments)
    fastest = float(np.abs(medium.velocity(waves_at(labels.angles, medium.degree), fields)).max())
    point = float(np.abs(medium.velocity(waves_at(labels.angles, medium.degree), point_fields(medium))).max())
    if fastest <= AT_REST * point:
        raise InvalidInput(
            "the initial density is stationary, since the moments that the potential feels are zero, and never "
            "collapses to one point; give one whose first moment is not 0"
        )
    antipode = flow.antipode if density.even else float(np.angle(moments[1])) + flow.antipode
    if medium.radial(antipode, fields) > 0.0:
        raise InvalidInput(
            "the output of attention vanishes near the antipode of the mean while this density collapses, and its "
            "normalised velocity is not smooth there, so the separatrix is not resolved; give a more concentrated "
            "density"
        )
