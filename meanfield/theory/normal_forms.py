r"""The cubic coefficient of a branch born at a threshold, of any velocity law with a drive.

With the critical mode :math:`\psi` of mean square one and eigenvalue :math:`\Lambda_n`, let
:math:`\psi^2 = 1 + \sum_k c_k\chi_k` with harmonics :math:`\chi_k` alike, :math:`q_k` be the strengths of their
degrees over that of n, and :math:`\sigma, \tau, \varsigma` the changes of the
:class:`speed <meanfield.equations.speed_response.SpeedResponse>`. Beside the threshold a stationary density is
:math:`1 + a\psi + \sum_k b_k\chi_k`, and by the second order of
:math:`D\Lambda_k b_k = \kappa\langle\rho v\cdot\nabla\chi_k\rangle`, then the third of the same for :math:`\psi`,

.. math:: b_k = \frac{(1 + \sigma_n)\,c_k}{2(1-q_k)}\,a^2, \qquad
          \frac{\kappa_n}{\kappa} = 1 + \frac{1+\sigma_n}2\langle\psi^3\rangle\,a + b\,a^2 + \dots,

.. math:: b = \sum_k\frac{A_k q_k + B_k}{1-q_k}\,c_k^2 + C\langle\psi^4\rangle
              - \tfrac12(1+\sigma_n) + \varsigma_n\Lambda_n, \qquad C = \tfrac16(1 + 3\sigma_n + 2\tau_n),

.. math:: A_k = \tfrac12(1+\sigma_n)(1+\sigma_n\mu_k) - S_k, \quad
          B_k = \tfrac12(1+\sigma_n)(1-\mu_k)\,\sigma_k + S_k, \quad
          S_k = \varsigma_n\Lambda_n(1-\mu_k)^2, \quad \mu_k = \frac{\Lambda_k}{2\Lambda_n},

since :math:`\langle\psi\nabla\psi\cdot\nabla\chi_k\rangle = \tfrac12\Lambda_k c_k`,
:math:`|\nabla\psi|^2 = \tfrac12\Delta\psi^2 + \Lambda_n\psi^2` and
:math:`\langle\psi^2|\nabla\psi|^2\rangle = \tfrac13\Lambda_n\langle\psi^4\rangle`; b where the third moment
vanishes. Of softmax attention :math:`\sigma_n = -s` and :math:`\tau_n = s^2` with :math:`s = -\beta w_n/N_n`, w
being the multipliers of the gradient law with the same thresholds. With a phase lag branches are of waves, see
:mod:`.on_circle`.
"""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ..domains import Domain
from ..equations import Capability, Equation, require
from ..equations.speed_response import SpeedResponse
from ..potentials import Potential
from .thresholds import require_threshold, require_uniform


class CubicTerms(NamedTuple):
    """The numbers A_k (K,), B_k (K,) and C in the coefficient b, and its term without a sum."""

    by_strength: Any
    alone: Any
    fourth: Any
    constant: Any

    @classmethod
    def of(cls, domain: Domain, n: int, degrees: npt.NDArray[np.intp], response: SpeedResponse) -> "CubicTerms":
        """Return those of a mode.

        Parameters
        ----------
        domain, n
            Where, and its degree.
        degrees : (K,)
            The degrees k, from 1; those that the square of the mode does not have may be missing.
        response
            The changes of the speed, up to the largest of the degrees at least.
        """
        first, second, slope = response
        own, half, least = first[n], (1 + first[n]) / 2, n * (n + domain.dimension - 2)
        mu = degrees * (degrees + domain.dimension - 2) / np.longdouble(2 * least)
        steep = slope[n] * least * (1 - mu) ** 2
        return cls(
            half * (1 + own * mu) - steep,
            half * (1 - mu) * first[degrees] + steep,
            (1 + 3 * own + 2 * second[n]) / 6,
            slope[n] * least - half,
        )


def unlagged_potential(problem: Equation) -> Potential:
    """Return the pair potential whose gradient law has the linearisation at the uniform density without a lag."""
    return problem.velocity.unlagged.at_uniform(problem.domain)


def require_normal_form(problem: Equation) -> None:
    """Refuse an equation whose uniform state has no branches of stationary states or of waves.

    Raises
    ------
    InvalidInput
        If there is a confinement or no noise, or the law has no drive or changes with time.
    """
    if not problem.lacks(Capability.GRADIENT):
        require_threshold(problem)
        return
    require_uniform(problem)
    if not problem.velocity.rotates:
        require(problem, Capability.STATIONARY_MAP, "normal forms of branches")
    _ = problem.positive_noise
