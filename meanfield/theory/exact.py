r"""Families solved in closed form, and the thresholds between continuous and discontinuous transitions.

Logarithmic, :math:`w_k = \mp 1/k`: the moment equations are triangular,
:math:`(k - s) c_k = s \sum_{j<k} c_j c_{k-j}` with :math:`s = \kappa/2D`, so smooth clustered states
exist for integer s = n only and are the Poisson kernels in n t.
"""

import functools
import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ..arguments import checked, shown
from ..base import Record
from ..domains import Circle, Domain
from ..equations import Equation
from ..errors import InvalidInput
from ..potentials import Logarithmic
from ..potentials.series import as_number
from .forms import theory_of
from .tricritical import tricritical_between

CIRCLE = Circle()

_MOST_VERTICAL = 10**6


@checked
def tricritical_beta(n: int = 1, domain: Domain = CIRCLE) -> float:
    r"""Return beta*_n, where the n-branch of the transformer turns from super- to subcritical.

    Solves :math:`I_{2n}(\beta)/I_n(\beta) = 1/2`; asymptotically :math:`3n^2/(2\ln 2)`. Subcritical above. On
    the sphere, for n = 1, it solves :math:`I_{d/2+1}(\beta)/I_{d/2}(\beta) = 1/d` (Mun, Rosenzweig,
    arXiv:2606.05140).

    Parameters
    ----------
    n
        Mode, a positive integer (at most 300); 1 on the sphere.
    domain
        The circle by default.

    Raises
    ------
    InvalidInput
        If n is not such an integer.

    Examples
    --------
    >>> round(tricritical_beta(1), 12)
    2.446918311289
    >>> from meanfield.domains import Sphere
    >>> round(tricritical_beta(1, Sphere(3)), 12)
    1.816154525436
    """
    if not 1 <= n <= 300:
        raise InvalidInput(f"n must be an integer from 1 to 300, not {shown(n)}; try tricritical_beta(1)")
    return tricritical_between(n, domain, theory_of(domain).tricritical_bracket(n))


@checked
@functools.lru_cache(maxsize=1)
def continuous_radius() -> float:
    """Return R*, above which the Hegselmann-Krause transition is continuous.

    Root of R - 2 sin R + sin R cos R = 0, that is w_2/w_1 = 1/2.
    """
    from scipy.optimize import brentq

    def excess(radius: float) -> float:
        return radius - 2 * math.sin(radius) + math.sin(radius) * math.cos(radius)

    return float(brentq(excess, 2.0, 2.3, xtol=1e-300, rtol=4 * np.finfo(float).eps))


@dataclass(frozen=True, eq=False, repr=False)
class VerticalBranch(Record):
    """States of the attractive logarithmic potential: Poisson kernels in n t, at one coupling.

    Attributes
    ----------
    mode
        n, the number of clusters.
    coupling
        2 D n, the only coupling at which they exist.
    """

    mode: int
    coupling: float

    def moments(self, radius: float, degree: int) -> npt.NDArray[np.float64]:
        """Return m_0, ..., m_degree of one member: m_(jn) = radius^j, other moments 0.

        Raises
        ------
        InvalidInput
            If the radius is outside [0, 1).
        """
        radius = as_number(radius, "radius", "in [0, 1)")
        if not 0 <= radius < 1:
            raise InvalidInput(f"radius must be in [0, 1), not {radius!r}")
        moments = np.zeros(degree + 1)
        moments[:: self.mode] = radius ** np.arange(degree // self.mode + 1)
        return moments


@checked
def vertical_branches(problem: Equation, low: float, high: float) -> list[VerticalBranch]:
    """Return all clustered states of a logarithmic potential with coupling in [low, high].

    There is none for the repulsive sign at positive couplings: uniform is then the only state.

    Raises
    ------
    InvalidInput
        If the potential is not logarithmic, there is a confinement or no noise, the domain is a sphere, or the
        range is reversed or unbounded.
    """
    theory_of(problem.domain).require_waves("the vertical branch of the logarithmic potential")
    if not isinstance(problem.potential, Logarithmic) or problem.confinement is not None:
        raise InvalidInput(
            f"vertical branches belong to Logarithmic() without confinement, not to {problem.potential!r}"
        )
    if not (math.isfinite(low) and math.isfinite(high) and low <= high):
        raise InvalidInput(f"the coupling range must be finite and increasing, not [{low!r}, {high!r}]")
    unit = 2 * problem.positive_noise * problem.potential.sign
    last = max(low / unit, high / unit)
    if last > _MOST_VERTICAL:
        raise InvalidInput(
            f"the coupling range holds {last:.3g} vertical branches, more than {_MOST_VERTICAL}; take less"
        )
    modes = range(1, int(last) + 2)
    branches = [VerticalBranch(mode, unit * mode) for mode in modes if low <= unit * mode <= high]
    return sorted(branches, key=lambda branch: branch.coupling)


def vertical_spectrum(problem: Equation, degree: int) -> npt.NDArray[np.float64]:
    """Return the rates -D k (k - 1), k = 1..degree, each double, on the 1-cluster vertical branch.

    They do not depend on the member; the two zeros are rotation and the family itself.
    """
    theory_of(problem.domain).require_waves("the vertical branch of the logarithmic potential")
    modes = np.arange(1, degree + 1)
    return np.asarray(-problem.positive_noise * modes * (modes - 1.0))
