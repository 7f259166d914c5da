"""The uniform state of spheres and the states of von Mises and Fisher in closed form."""

import functools
import math
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import ClassVar

import numpy as np

from ..domains import Sphere
from ..equations import Equation
from ..errors import InvalidInput
from ..harmonics.gegenbauer import multiplicities
from ..potentials import Kuramoto, Logarithmic, Number, Transformer
from ..potentials.zonal import exponential_coefficients
from .normal_forms import require_normal_form
from .results import ROUNDING, BranchShape, GlobalCriterion
from .scaling import normalised_multipliers
from .spheres import zonal_curvature, zonal_excess, zonal_slope
from .thresholds import branching_coupling, critical_coupling, critical_modes
from .tricritical import tricritical_between


@dataclass(frozen=True)
class SphereTheory:
    """Theory of a sphere."""

    domain: Sphere

    word: ClassVar[str] = "degree"
    letter: ClassVar[str] = "l"
    series: ClassVar[str] = "sum_l w_l P_l(cos t)"
    expansion: ClassVar[str] = (
        "Zonal branches leaving it, kappa/kappa_l = 1 + slope p_l (l even) or 1 + b1 p_l^2 (l odd) + ..., "
        "p_l = <P_l>"
    )
    columns: ClassVar[Mapping[str, str]] = MappingProxyType(
        {"l": "mode", "slope": "slope", "b1": "b1", "beta*": "tricritical_beta", "type": "type"}
    )
    more: ClassVar[tuple[str, ...]] = ("multiplicity", "slope")
    last_tricritical: ClassVar[int] = 1

    def shape(self, problem: Equation, n: int, coupling: Number) -> BranchShape:
        """Return the normal form of the zonal branch of degree n where it leaves uniform."""
        require_normal_form(problem)
        domain, response = problem.domain, problem.velocity.speed_response(problem.domain, 2 * n)
        potential = problem.velocity.at_uniform(domain)
        eigenvalues = potential.extended_multipliers(domain, 3 * n) / multiplicities(domain, 3 * n)
        share = eigenvalues / eigenvalues[n] + 0.0
        q, p = float(share[2 * n]), float(share[3 * n])
        critical = [k for k in range(1, 3 * n + 1) if k != n and abs(share[k] - 1) <= ROUNDING]
        if n % 2 == 0:
            note = f"degree {critical[0]} is critical too" if critical else ""
            slope = float((1 + response.first[n]) * zonal_slope(domain, n))
            return BranchShape(n, coupling, math.nan, math.nan, q, p, "transcritical", note, slope)
        dragged = [k for k in critical if k % 2 == 0 and k <= 2 * n]
        if dragged:
            note = f"degree {dragged[0]} is critical too and gives the reduced energy a cubic term"
            return BranchShape(n, coupling, math.nan, math.nan, q, p, "transcritical", note)
        curvature = zonal_curvature(domain, n, share[: 2 * n + 1], ROUNDING, response)
        note = f"degree {critical[0]} is critical too" if critical else ""
        kind = "degenerate" if curvature == 0 else ("supercritical" if curvature > 0 else "subcritical")
        return BranchShape(n, coupling, curvature, math.nan, q, p, kind, note)

    def tricritical_excess(self, problem: Equation, n: int) -> float:
        """Return b_1 times the product of 1 - q_k over the slaved degrees k; 1 for even n, always transcritical."""
        if n % 2 == 0:
            return 1.0
        require_normal_form(problem)
        domain, law = problem.domain, problem.velocity
        attractions = normalised_multipliers(law.at_uniform(domain), domain, 2 * n)
        return zonal_excess(domain, n, attractions, law.speed_response(domain, 2 * n))

    def criterion(self, problem: Equation) -> GlobalCriterion:
        """Return the global criterion, decided by the branch at the threshold and theorems on single potentials."""
        threshold = critical_coupling(problem)
        if threshold is None:
            statement = "no degree attracts: uniform is the unique minimiser at every coupling >= 0"
            return GlobalCriterion(None, None, None, None, statement)
        first = critical_modes(problem, threshold, threshold)[0].modes
        n = next((mode for mode in first if mode % 2 == 0), first[0])
        shape = self.shape(problem, n, branching_coupling(problem, n))
        if shape.type in ("transcritical", "subcritical"):
            statement = (
                f"discontinuous: the {n}-branch is {shape.type}, so the transition is strictly below kappa_{n}"
            )
            return GlobalCriterion(False, n, None, False, statement)
        if isinstance(problem.potential, Logarithmic):
            statement = f"the transition is at kappa_{n}, where a whole family of states has the energy of uniform"
            return GlobalCriterion(True, n, None, None, statement)
        if self._known_continuous(problem):
            statement = (
                f"continuous: uniform is the unique minimiser up to and at kappa_{n}, the transition coupling"
            )
            return GlobalCriterion(True, n, None, True, statement)
        statement = f"undecided: the {n}-branch is {shape.type}, the transition is at or below kappa_{n}"
        return GlobalCriterion(None, n, None, None, statement)

    def tricritical_bracket(self, n: int) -> tuple[float, float]:
        """Return an interval of beta for n = 1, from bounds beta/(beta + d + 2) and beta/(d + 2) of the ratio."""
        if n > self.last_tricritical:
            raise InvalidInput(
                f"on the sphere the threshold is known for the branch of degree 1, not {n}: even degrees are "
                f"transcritical at every beta, and for odd ones see branch_shape; try tricritical_beta(1, "
                f"{self.domain!r})"
            )
        d = self.domain.dimension
        return (d + 2) / d, (d + 2) / (d - 1)

    def require_waves(self, what: str) -> None:
        """Refuse a statement about waves cos kt and sin kt."""
        raise InvalidInput(
            f"{what} belongs to the circle and does not apply on the sphere; there, branch_shape(problem, degree) "
            "and global_criterion(problem) tell how and where the uniform state gives way"
        )

    @property
    def expansion_limit(self) -> float:
        """Concentration from which expansions are used."""
        return max(1e4, 100.0 * self.domain.dimension**2)

    def highest_concentration(self, ratio: float) -> float:
        """Return a bound of the concentration, from the bound x/(x + d + 2) of I_(d/2+1)/I_(d/2)."""
        excess, d = ratio - self.domain.dimension, self.domain.dimension
        return (excess + math.sqrt(excess * (excess + 4 * (d + 2)))) / 2 * (1 + 4 * float(np.finfo(float).eps))

    def large_mean(self, x: float) -> float:
        """Return I_(d/2)(x) / I_(d/2-1)(x) for large x."""
        return math.fsum(c / x**j for j, c in enumerate(_expansion(self.domain.dimension)))

    def log_scaled_mean(self, x: float) -> float | np.longdouble:
        """Return log <e^(x (u - 1))>."""
        d = self.domain.dimension
        if x <= self.expansion_limit:
            return np.longdouble(np.log(exponential_coefficients(x, d, 0)[0]))
        constant = math.lgamma(d / 2) + (d / 2 - 1) * math.log(2) - 0.5 * math.log(2 * math.pi)
        tail = math.fsum(c / ((j - 1) * x ** (j - 1)) for j, c in enumerate(_expansion(d)) if j > 1)
        return constant - 0.5 * (d - 1) * math.log(x) - tail

    def _known_continuous(self, problem: Equation) -> bool:
        potential = problem.potential
        if isinstance(potential, Transformer):
            return 0 < potential.beta <= tricritical_between(1, self.domain, self.tricritical_bracket(1))
        return isinstance(potential, Kuramoto)


@functools.lru_cache(maxsize=64)
def _expansion(n: int) -> tuple[float, ...]:
    """Return the coefficients of 1/x^j in the ratio, from its equation r' = 1 - (n-1) r/x - r^2."""
    coefficients = [1.0]
    for j in range(1, 13):
        products = sum(coefficients[i] * coefficients[j - i] for i in range(1, j))
        coefficients.append(((j - n) * coefficients[j - 1] - products) / 2)
    return tuple(coefficients)
