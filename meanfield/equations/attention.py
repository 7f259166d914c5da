r"""Velocity laws of attention with normalised weights.

A token x among tokens of the density rho moves along the tangential part of an average of them,

.. math:: A(x) = \frac{1}{\mathcal N} \int y\, e^{\beta\langle x,y\rangle}\,d\rho(y).

Without normalisation, :math:`\mathcal N = 1`, this is the gradient law of :class:`meanfield.Transformer`, whose
drive is :math:`h = (K*\rho)/\beta` with :math:`K = e^{\beta\langle x,y\rangle}`: the tangential part of the
integral is :math:`\nabla h`, and its radial part
:math:`R = \langle x, \int y K d\rho\rangle = (\partial_\beta K)*\rho`.

The coefficients :math:`c_l` of K on the harmonics :math:`P_l` have derivatives without cancellation, since
:math:`\partial_\beta K = \langle x,y\rangle K`: with :math:`\lambda = (d-2)/2` and :math:`k_l = c_l/N_l`,

.. math:: \partial_\beta k_l = \frac{(l + 2\lambda) k_{l+1} + l k_{l-1}}{2l + 2\lambda}, \qquad
          \partial_\beta k_0 = k_1.

* softmax attention (SA; layer normalisation behind each block, "Post-LN"): :math:`\mathcal N = K*\rho`, so that
  :math:`v = \nabla\log(K*\rho)/\beta`. There is a Gibbs map, :math:`\rho = (K*\rho)^{\kappa/(\beta D)}/Z`, but no
  free energy: the velocity is the gradient of no functional of the density in the metric of Wasserstein.
* nGPT: the average is itself put onto the sphere,
  :math:`\mathcal N = |\int y K d\rho| = (|\nabla h|^2 + R^2)^{1/2}`.

References: Geshkovski, Letrouit, Polyanskiy, Rigollet, "A mathematical perspective on transformers" (2023), whose
equations are these at kappa = 1, D = 0.
"""

from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np

from ..arguments import checked
from ..domains import Domain
from ..errors import InvalidInput
from ..harmonics.gegenbauer import multiplicities
from ..potentials import Array, Potential, Transformer
from ..potentials.series import as_number
from .capabilities import Capability
from .linearised import AtUniform
from .speed_response import SpeedResponse
from .velocity import LawSlopes, VelocityLaw

# The mean of exp(beta <x, y>) fits the range of doubles.
LARGEST_BETA = 660.0
# Where |beta| is smaller the average of the tokens is at least this long for all densities but those that are
# uniform to a few percent, which leave that state while tokens move by as little.
SHORTEST_AVERAGE = 0.05


@dataclass(frozen=True)
class _Attention(VelocityLaw):
    """Base of the laws of attention with normalised weights.

    Parameters
    ----------
    beta
        Inverse temperature, of either sign, not 0, of modulus up to 660.
    """

    beta: float

    def __post_init__(self) -> None:
        if abs(as_number(self.beta, "beta", "a finite number other than 0")) > LARGEST_BETA:
            raise InvalidInput(
                f"abs(beta) must be at most {LARGEST_BETA:g} for {self.name}, not {self.beta!r}; without "
                "normalisation, Transformer(beta), it may be larger"
            )
        object.__setattr__(self, "beta", Transformer(self.beta).beta)

    @property
    def potential(self) -> Potential:
        """The potential of the attention without normalisation."""
        return Transformer(self.beta)

    def parameters(self) -> dict[str, Any]:
        """Return beta."""
        return {"beta": self.beta}

    def parameter_values(self) -> dict[str, float]:
        """Return beta."""
        return {"beta": self.beta}

    @checked
    def with_parameter(self, name: str, value: float) -> Self:
        """Return the law at another beta.

        Raises
        ------
        InvalidInput
            If the name is another one, or the value not admissible.
        """
        self.potential.with_parameter(name, value)
        return type(self)(value)

    def steepness(self) -> float:
        r"""Return :math:`1 + |\beta|`, a bound for softmax weights.

        Along a great circle with the tangent u the velocity has the slope
        :math:`\beta\,\mathrm{Var}\langle u,y\rangle - E\langle x,y\rangle`, by the weights of attention.
        """
        return 1.0 + abs(self.beta)

    def _weights(self, cosines: Array) -> Array:
        """Return K of inner products (..., N), divided by the largest of each row."""
        exponents = self.beta * cosines
        exponents -= exponents.max(axis=-1, keepdims=True)
        return np.asarray(np.exp(exponents))

    def _exponentials(self, domain: Domain, degree: int, order: int = 0) -> Array:
        """Return the coefficients of K, l = 0..degree, or of its derivative of some order in beta."""
        last = degree + order
        numbers = multiplicities(domain, last).astype(float)
        means = np.asarray(-self.beta * self.potential.multipliers(domain, last), dtype=float) / numbers
        for _ in range(order):
            degrees = np.arange(1, means.size - 1)
            both = 2 * degrees + domain.dimension - 2
            above = (degrees + domain.dimension - 2) / both * means[2:]
            means = np.append(means[1], above + degrees / both * means[:-2])
        return np.asarray(means * numbers[: degree + 1])

    def slopes(self, name: str, domain: Domain, degree: int) -> LawSlopes:
        """Return the derivatives in beta of the coefficients h_l = c_l/beta of the drive and of the speed.

        Raises
        ------
        InvalidInput
            If another parameter is asked for; there is none.
        """
        if name != "beta":
            return super().slopes(name, domain, degree)
        terms, slopes = (self._exponentials(domain, degree, order) for order in (0, 1))
        radial = self.radial(domain, degree)
        drive = (slopes - terms / self.beta) / self.beta
        if radial is None:
            return LawSlopes(drive, None, -1.0 / self.beta, -float(slopes[0] / terms[0]))
        curvatures = self._exponentials(domain, degree, 2)
        return LawSlopes(drive, curvatures, 0.0, -float(curvatures[0] / slopes[0]))


@dataclass(frozen=True)
class SoftmaxAttention(_Attention):
    r"""Attention with weights normalised to one, :math:`v = \nabla\log(K*\rho)/\beta`.

    Parameters
    ----------
    beta
        Inverse temperature, of either sign, not 0, of modulus up to 660.

    Raises
    ------
    InvalidInput
        If beta is not such a number.

    Examples
    --------
    >>> from meanfield import Circle, ContinuityEquation
    >>> ContinuityEquation(Circle(), SoftmaxAttention(beta=2.0), noise=0.0, coupling=1.0).parameters
    {'noise': 0.0, 'coupling': 1.0, 'beta': 2.0}
    """

    name: ClassVar[str] = "softmax attention"
    formula: ClassVar[str] = "(1/beta) grad log(exp(beta <x, y>)*rho)"

    def lacks(self, capability: Capability) -> str:
        """Return a clause on why there is no free energy or conserved centre, and no Gibbs map for beta < 0."""
        if capability is Capability.GIBBS_MAP and self.beta < 0.0:
            return (
                f"that of {self.name} is known to be reversible for beta > 0 only, where its kernel is positive "
                f"definite, not for beta = {self.beta:g}"
            )
        return _lacking(self.name).get(capability, "")

    def radial(self, domain: Domain, degree: int) -> None:
        """Return None: the speed follows from the drive alone."""
        return

    def speed(self, drive: Array, slope_squared: Array, radial: Array | None) -> Array:
        """Return 1/(K*rho), K*rho being beta h."""
        return np.asarray(1.0 / (self.beta * drive))

    def speed_response(self, domain: Domain, degree: int) -> SpeedResponse:
        """Return -s, s^2 and 0 with the means s of the harmonics under the weights of attention."""
        terms = self._exponentials(domain, degree) / multiplicities(domain, degree).astype(float)
        means = terms / terms[0]
        return SpeedResponse(-means, means**2, np.zeros(degree + 1))

    def kernels(self, cosines: Array) -> tuple[Array, Array, None]:
        """Return K/beta, K, of which the velocity has the ratio alone, and None."""
        weights = self._weights(cosines)
        return weights / self.beta, weights, None

    def antiderivative(self, drive: Array) -> Array:
        """Return log(K*rho)/beta."""
        return np.asarray(np.log(self.beta * drive) / self.beta)

    def at_uniform(self, domain: Domain) -> Potential:
        """Return the potential of attention over the uniform mean of K."""
        return AtUniform(self, 1.0 / float(self._exponentials(domain, 0)[0]))


@dataclass(frozen=True)
class NormalisedAttention(_Attention):
    r"""Attention of nGPT: the velocity is the tangential part of the average of tokens, put onto the sphere.

    Parameters
    ----------
    beta
        Inverse temperature, of either sign, not 0, of modulus up to 660.

    Raises
    ------
    InvalidInput
        If beta is not such a number.

    Examples
    --------
    >>> NormalisedAttention(beta=2.0).name
    'nGPT attention'
    """

    name: ClassVar[str] = "nGPT attention"
    formula: ClassVar[str] = "P_x a/|a|, a = int y exp(beta <x, y>) d rho(y)"

    def lacks(self, capability: Capability) -> str:
        """Return a clause on why there is no free energy, Gibbs map or conserved centre."""
        no_map = f"the velocity of {self.name} is not the gradient of a function of the drive"
        return (_lacking(self.name) | {Capability.GIBBS_MAP: no_map}).get(capability, "")

    def radial(self, domain: Domain, degree: int) -> Array:
        r"""Return the coefficients of :math:`\partial_\beta K`."""
        return self._exponentials(domain, degree, 1)

    def speed(self, drive: Array, slope_squared: Array, radial: Array | None) -> Array:
        """Return 1 over the length of the average of the tokens."""
        assert radial is not None
        return np.asarray(1.0 / np.sqrt(slope_squared + radial * radial))

    def speed_response(self, domain: Domain, degree: int) -> SpeedResponse:
        """Return -r, r^2 and -h^2/2 with the coefficients r and h of the drives over that of R at degree 0."""
        numbers = multiplicities(domain, degree).astype(float)
        mean = float(self.radial(domain, 0)[0])
        radial, drive = (
            self.radial(domain, degree) / (numbers * mean),
            self.drive(domain, degree) / (numbers * mean),
        )
        return SpeedResponse(-radial, radial**2, -0.5 * drive**2)

    def kernels(self, cosines: Array) -> tuple[Array, Array, Array]:
        """Return K/beta, K and <x, y> K, of which the velocity has the ratios alone."""
        weights = self._weights(cosines)
        return weights / self.beta, weights, cosines * weights

    def steepness(self) -> float:
        """Return 1 + abs(beta) + 1/max(abs(beta), 0.05), an estimate.

        Where the average of the tokens vanishes there is no bound. At the uniform density on the circle
        perturbations of degree 1 grow at the rate 1/abs(beta); if beta is small they do so for a time of the order
        of beta only, in which tokens, at a speed of one at most, hardly move. Then the average is that of all
        positions, and the velocity as smooth as Kuramoto's.
        """
        return 1.0 + abs(self.beta) + 1.0 / max(abs(self.beta), SHORTEST_AVERAGE)

    def antiderivative(self, drive: Array) -> Array:
        """Refuse, since the speed depends on the slope of the drive as well."""
        raise InvalidInput(f"{self.name} has no Gibbs map; {self.lacks(Capability.GIBBS_MAP)}")

    def at_uniform(self, domain: Domain) -> Potential:
        """Return the potential of attention over the modulus of the uniform mean of the derivative of K."""
        return AtUniform(self, 1.0 / abs(float(self.radial(domain, 0)[0])))


def _lacking(name: str) -> dict[Capability, str]:
    """Return clauses on what normalised attention lacks, by capability."""
    return {
        Capability.GRADIENT: f"{name} divides its velocity by a norm that depends on the density",
        Capability.FREE_ENERGY: f"the velocity of {name} is the Wasserstein gradient of no functional",
        Capability.CENTRE: f"the weights of {name} differ between the two particles of a pair",
    }
