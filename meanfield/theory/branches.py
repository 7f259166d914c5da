r"""How branches leave the uniform state: the normal form of one critical mode."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..arguments import checked
from ..base import Record
from ..equations import McKeanVlasov
from ..errors import InvalidInput
from ..harmonics.polynomials import multiplicities
from ..potentials import Number
from .spheres import zonal_curvature, zonal_slope
from .thresholds import checked_mode, critical_couplings, plain_number, require_uniform

# Ratios of multipliers that agree to this are equal: each carries a few roundings.
ROUNDING = 16 * float(np.finfo(float).eps)


@checked
@dataclass(frozen=True, eq=False, repr=False)
class BranchShape(Record):
    r"""How the n-branch leaves uniform: :math:`\kappa/\kappa_n = 1 + b_1 m_n^2 + b_2 m_n^4 + O(m_n^6)`.

    On the sphere the branch is the zonal one and :math:`m_n = \langle P_n\rangle`; for even n the expansion starts
    with ``slope`` :math:`m_n`.

    Attributes
    ----------
    mode
        n.
    coupling
        kappa_n.
    curvature
        b_1; nan when transcritical.
    quartic
        b_2; nan when transcritical, when w_(3n) = w_n and on the sphere.
    q, p
        w_(2n)/w_n and w_(3n)/w_n, on the sphere the ratios of w/N, which are those of the eigenvalues.
    type
        "supercritical", "subcritical", "degenerate" (b_1 = 0) or "transcritical" (q = 1; even n on the sphere).
    note
        A sentence where the type alone does not tell the whole, else empty.
    slope
        Coefficient of m_n of a transcritical branch on the sphere, else None.
    """

    mode: int
    coupling: Number
    curvature: float
    quartic: float
    q: float
    p: float
    type: str
    note: str = ""
    slope: float | None = None


@checked
def branch_shape(problem: McKeanVlasov, n: int) -> BranchShape:
    r"""Return how the n-branch leaves the uniform state.

    .. math:: b_1 = \frac{1-2q}{2(1-q)}, \qquad
       b_2 = \frac{24pq^3-42pq^2+21pq-6p-20q^3+42q^2-24q+5}{12(p-1)(q-1)^3} .

    Hypotheses: no confinement, :math:`w_n \ne 0`; the branch lives in the n-periodic densities, so other
    critical modes matter only if they are multiples of n. Supercritical iff q < 1/2 or q > 1, subcritical
    iff 1/2 < q < 1. At q = 1/2, :math:`b_2 = 2(1-3p)/(3(1-p))` decides.

    On the sphere the branch is that of zonal states, :math:`m_n = \langle P_n\rangle`: transcritical for even n,
    :math:`\kappa/\kappa_n = 1 - \tfrac12 N_n^2 \int P_n^3\,d\mu\; m_n + O(m_n^2)`, a pitchfork for odd n with b_1
    from the modes of even degree up to 2n that it drags along. For n = 1,
    :math:`b_1 = \frac{d}{d+2}\frac{1-dr}{1-r}`, :math:`r = \hat w_2/\hat w_1`: supercritical iff r < 1/d.

    Raises
    ------
    InvalidInput
        If n is not a positive integer, w_n = 0 or there is a confinement.
    """
    require_uniform(problem)
    coupling = plain_number(critical_couplings(problem, checked_mode(n))[n])
    if not np.isfinite(coupling):
        raise InvalidInput(f"mode {n} has w_{n} = 0, so no branch leaves the uniform state along it")
    if problem.domain.dimension > 2:
        return _zonal_shape(problem, n, coupling)
    extended = problem.potential.extended_multipliers(problem.domain, 3 * n)
    # Adding 0 turns -0.0, the ratio of a vanishing mode, into 0.0.
    q, p = extended[2 * n] / extended[n] + 0.0, extended[3 * n] / extended[n] + 0.0
    curvature, quartic = curvature_of(q), _quartic(q, p)
    kind, note = _classified(n, curvature, quartic, float(p))
    return BranchShape(n, coupling, curvature, quartic, float(q), float(p), kind, note)


def _zonal_shape(problem: McKeanVlasov, n: int, coupling: Number) -> BranchShape:
    """Return the shape of the zonal branch of degree n on a sphere."""
    domain = problem.domain
    eigenvalues = problem.potential.extended_multipliers(domain, 3 * n) / multiplicities(domain, 3 * n)
    share = eigenvalues / eigenvalues[n] + 0.0
    q, p = float(share[2 * n]), float(share[3 * n])
    critical = [k for k in range(1, 3 * n + 1) if k != n and abs(share[k] - 1) <= ROUNDING]
    if n % 2 == 0:
        note = f"degree {critical[0]} is critical too" if critical else ""
        return BranchShape(n, coupling, math.nan, math.nan, q, p, "transcritical", note, zonal_slope(domain, n))
    dragged = [k for k in critical if k % 2 == 0 and k <= 2 * n]
    if dragged:
        note = f"degree {dragged[0]} is critical too and gives the reduced energy a cubic term"
        return BranchShape(n, coupling, math.nan, math.nan, q, p, "transcritical", note)
    curvature = zonal_curvature(domain, n, share[: 2 * n + 1], ROUNDING)
    note = f"degree {critical[0]} is critical too" if critical else ""
    kind = "degenerate" if curvature == 0 else ("supercritical" if curvature > 0 else "subcritical")
    return BranchShape(n, coupling, curvature, math.nan, q, p, kind, note)


def curvature_of(q: Any) -> float:
    """Return b_1 at q = w_(2n)/w_n; nan at q = 1, where the branch is transcritical."""
    if abs(q - 1) <= ROUNDING:
        return math.nan
    if abs(1 - 2 * q) <= ROUNDING:
        return 0.0
    return float((1 - 2 * q) / (2 * (1 - q)))


def _quartic(q: Any, p: Any) -> float:
    if abs(q - 1) <= ROUNDING or abs(p - 1) <= ROUNDING:
        return math.nan
    if abs(1 - 2 * q) <= ROUNDING:
        return 0.0 if abs(1 - 3 * p) <= ROUNDING else float(2 * (1 - 3 * p) / (3 * (1 - p)))
    of_p = ((24 * q - 42) * q + 21) * q - 6
    of_one = ((-20 * q + 42) * q - 24) * q + 5
    return float((p * of_p + of_one) / (12 * (p - 1) * (q - 1) ** 3))


def _classified(n: int, curvature: float, quartic: float, p: float) -> tuple[str, str]:
    if math.isnan(curvature):
        return "transcritical", f"exact 1:2 resonance w_{2 * n} = w_{n}: see resonance(problem, {n}, {2 * n})"
    third = ""
    if math.isnan(quartic):
        third = f"exact 1:3 resonance w_{3 * n} = w_{n}: mode {3 * n} is critical too"
    if curvature:
        return ("supercritical" if curvature > 0 else "subcritical"), third
    if abs(1 - 3 * p) <= ROUNDING:
        return "degenerate", "b1 = b2 = 0: vertical to this order, as for the logarithmic potential"
    order = "quartically " + ("supercritical" if quartic > 0 else "subcritical")
    return "degenerate", third or f"b1 = 0 and b2 = {quartic:.6g} decides: {order}"
