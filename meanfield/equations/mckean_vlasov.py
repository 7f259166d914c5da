r"""The McKean-Vlasov equation as a frozen, validated problem: the velocity is the gradient of a pair potential.

.. math::

    \partial_t \rho = \mathrm{div}\left( D \nabla\rho + \kappa \rho \nabla(W*\rho) + \rho \nabla V \right),
    \qquad
    dX_i = -\frac{\kappa}{N}\sum_j \nabla W(X_i - X_j)\,dt - \nabla V\,dt + \sqrt{2D}\,dB_i ,

with noise :math:`D`, coupling :math:`\kappa`, interaction potential :math:`W` and confinement :math:`V`.
Stationary states depend on :math:`\kappa/D` and :math:`V/D` only; rates scale with :math:`D`.
"""

from dataclasses import dataclass
from typing import Any, ClassVar

from ..domains import Domain
from ..potentials import Potential
from ..potentials.foreign import require_interaction
from .equation import Equation, described_fields, potential_of
from .velocity import Gradient, VelocityLaw


@dataclass(frozen=True)
class McKeanVlasov(Equation):
    """A McKean-Vlasov equation.

    Parameters
    ----------
    domain
        The space the particles live on.
    potential
        Interaction potential W, even.
    noise
        D >= 0, in units of angle squared over time. Without noise, D = 0, densities and particles evolve;
        computations that divide by the noise, as those of stationary states, refuse it.
    coupling
        kappa, finite, of either sign; ``None`` leaves it free, as a bifurcation diagram does.
    confinement
        External potential V: on the circle with or without symmetry, as :class:`~meanfield.External` and
        :class:`~meanfield.Perceptron`; on spheres a function of the angle to the north pole, and on the ordinary
        one any, as :class:`~meanfield.Perceptron` and :class:`~meanfield.HarmonicSeries`; absent by default. One
        that is zero is none, and is replaced by None.

    Raises
    ------
    InvalidInput
        If the noise is negative or not finite, the coupling is not finite, or the confinement is constant.

    Examples
    --------
    >>> from meanfield import Circle, Kuramoto, McKeanVlasov
    >>> McKeanVlasov(Circle(), Kuramoto(), coupling=3.0).noise
    1.0
    """

    domain: Domain
    potential: Potential
    noise: float = 1.0
    coupling: float | None = None
    confinement: Potential | None = None

    law_field: ClassVar[str] = "potential"

    def _require_law(self) -> None:
        require_interaction(self.potential, self.domain)

    @property
    def velocity(self) -> VelocityLaw:
        """The velocity law: minus the gradient of the potential of the density."""
        return Gradient(self.potential)

    @classmethod
    def from_dict(cls, description: dict[str, Any]) -> "McKeanVlasov":
        """Return the problem that :meth:`to_dict` describes.

        Raises
        ------
        InvalidInput
            If the description is not complete, or names an unknown domain or potential.
        """
        fields = described_fields(description, cls.law_field)
        return cls(potential=potential_of(description["potential"]), **fields)


def gradient_at_uniform(problem: Equation) -> McKeanVlasov:
    """Return the equation of the gradient law with the same linearisation at the uniform density."""
    potential = problem.velocity.at_uniform(problem.domain)
    return McKeanVlasov(problem.domain, potential, problem.noise, problem.coupling, problem.confinement)
