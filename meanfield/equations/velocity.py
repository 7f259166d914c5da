r"""What a velocity law is, and the gradient law of a pair potential.

The velocity of a particle at x among a density rho is, per unit of the coupling,

.. math:: v[\rho](x) = s\,\nabla h(x), \qquad h = -W*\rho,

W being a pair potential and s > 0 the speed, 1 for the gradient law. Other laws regulate it at each point by the
drive h, by its slope, and by a second average of the density, the radial drive :math:`R = k*\rho`, which some need.
Everything is known from the multipliers of W and k, since both convolutions are diagonal in the harmonics.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np

from ..arguments import shown
from ..domains import Circle, Domain
from ..errors import InvalidInput
from ..potentials import Array, Potential
from ..potentials.foreign import require_potential
from ..potentials.parametric import interpolated_in, values_of
from .capabilities import Capability
from .speed_response import SpeedResponse, response_by_values

# Degrees in the sum that bounds the slope of a velocity.
_LAST = 256


class LawSlopes(NamedTuple):
    """Derivatives of a velocity law in one of its parameters.

    Attributes
    ----------
    drive : (degree + 1,) float
        Those of the coefficients of the drive h, by degree from 0.
    radial : (degree + 1,) float or None
        Those of the coefficients of the radial drive; None for a law without one.
    speed : float
        That of log s where both drives are held.
    at_uniform : float
        That of log s where the density is the uniform one.
    """

    drive: Array
    radial: Array | None
    speed: float
    at_uniform: float


class VelocityLaw:
    """Base of velocity laws, which are frozen, hashable and equal by value.

    What is computed from a drive refuses a law that has none, which has the method ``velocity`` in its place.

    Attributes
    ----------
    name
        The name in files and sentences.
    formula
        The velocity as a formula.
    lag
        The angle by which the velocity at a particle is that of a place ahead of it, on the circle; else 0.
    frequency
        The velocity of all particles besides, on the circle, which the coupling does not multiply; else 0.
    potential
        The pair potential W of the drive h = -W*rho.
    """

    name: ClassVar[str]

    if TYPE_CHECKING:
        # Fields of some of the laws: a property of the base would be taken for their default.
        @property
        def formula(self) -> str:
            """The velocity as a formula."""

        @property
        def lag(self) -> float:
            """The angle by which the velocity is that of a place ahead."""

        @property
        def frequency(self) -> float:
            """The velocity of all particles besides."""

        @property
        def potential(self) -> Potential:
            """The pair potential W of the drive."""
    else:
        lag = frequency = 0.0

    @property
    def unlagged(self) -> "VelocityLaw":
        """The law without the lag."""
        return self

    @property
    def unturned(self) -> "VelocityLaw":
        """The law without the common frequency."""
        return self

    @property
    def rotates(self) -> bool:
        """Whether clusters turn, by a lag or a frequency, so that a reflection takes no solution to another."""
        return bool(self.lag or self.frequency)

    def lacks(self, capability: Capability) -> str:
        """Return a clause on why equations with this law lack a capability; empty if they need not."""
        raise NotImplementedError

    def require_domain(self, domain: Domain) -> None:
        """Refuse a domain on which the law is not defined.

        Raises
        ------
        InvalidInput
            If that is so.
        """

    def velocity(self, domain: Domain, angles: Array, moments: Array) -> Array:
        """Return the velocities (n,) at angles (n,), of a law without a drive, from the moments of the density.

        Raises
        ------
        InvalidInput
            If the law has a drive, whose velocity follows from that.
        """
        raise InvalidInput(f"the velocity of {self.name} follows from its drive")

    def fingerprint(self, domain: Domain) -> str:
        """Return a text that tells laws apart whose parameters are the same, as functions of one name are."""
        return ""

    def pace(self, time: float) -> float:
        """Return the factor of the velocity at a time: one, unless it changes with time."""
        return 1.0

    def elapsed(self, time: float) -> float:
        """Return the integral of the factor of the velocity from 0 to a time."""
        return time

    def drive(self, domain: Domain, degree: int) -> Array:
        """Return the coefficients -w_l, l = 0..degree, of the drive."""
        return -np.asarray(self.potential.multipliers(domain, degree), dtype=float)

    def radial(self, domain: Domain, degree: int) -> Array | None:
        """Return the coefficients k_l, l = 0..degree, of the radial drive R = k*rho; None if there is none."""
        raise self._refusal()

    def slopes(self, name: str, domain: Domain, degree: int) -> LawSlopes:
        """Return the derivatives of the law in a parameter, their coefficients up to a degree.

        Parameters
        ----------
        name
            One of the continuous parameters of the law.
        domain, degree
            Where, and the last degree of the coefficients.

        Raises
        ------
        InvalidInput
            If they are not known.
        """
        raise InvalidInput(f"the derivatives of {self.name} in {shown(name)} are not known")

    def speed(self, drive: Array, slope_squared: Array, radial: Array | None) -> Array:
        """Return the speed s at points with the drive h, the squared length of its slope, and the radial drive."""
        raise self._refusal()

    def speed_response(self, domain: Domain, degree: int) -> SpeedResponse:
        """Return the changes of the speed about the uniform density, up to a degree.

        By Cauchy's integrals of the speed, which is analytic; the laws of the package have closed forms.

        Raises
        ------
        InvalidInput
            If the law has no drive, or its speed is not analytic there.
        """
        if self.lacks(Capability.DRIVE):
            raise self._refusal()
        return response_by_values(self, domain, degree)

    def kernels(self, cosines: Array) -> tuple[Array, Array, Array | None]:
        """Return the drive of single particles, its derivative and their radial drive at inner products (..., N).

        The derivative is that by the inner product. Those of a row may all be divided by one factor, if the
        velocity does not change with it, so that no exponential leaves the range of doubles.
        """
        raise self._refusal()

    def steepness(self) -> float | None:
        """Return a bound, or where there is none an estimate, of the slope of the velocity; None if neither is."""
        return None

    def antiderivative(self, drive: Array) -> Array:
        """Return S(h) with S' = s(h), so that v = grad S(h) and the Gibbs density is exp(kappa S(h)/D)/Z.

        Raises
        ------
        InvalidInput
            If the speed is no function of the drive alone.
        """
        raise self._refusal()

    def at_uniform(self, domain: Domain) -> Potential:
        """Return the pair potential whose gradient law has the same linearisation at the uniform density."""
        raise self._refusal()

    def parameters(self) -> dict[str, Any]:
        """Return the constructor arguments as plain values."""
        raise NotImplementedError

    def parameter_values(self) -> dict[str, float]:
        """Return the continuous parameters by name."""
        return {}

    def interpolated_in(self, name: str) -> "VelocityLaw":
        """Return the same law, prepared for many values of a parameter: itself, if it has formulas."""
        return self

    def with_parameter(self, name: str, value: float) -> "VelocityLaw":
        """Return the law with one continuous parameter changed.

        Raises
        ------
        InvalidInput
            If it has no such parameter, or the value is not admissible.
        """
        raise InvalidInput(f"{self.name} has no parameter {shown(name)}")

    def _refusal(self) -> InvalidInput:
        """Return the error of what needs a drive."""
        return InvalidInput(f"this needs {Capability.DRIVE}, and {self.lacks(Capability.DRIVE)}")


@dataclass(frozen=True)
class Gradient(VelocityLaw):
    r"""The gradient law of a pair potential, :math:`v = -\nabla(W*\rho)`.

    Parameters
    ----------
    potential
        Interaction potential W, even.

    Examples
    --------
    >>> from meanfield import Kuramoto
    >>> Gradient(Kuramoto()).potential.name
    'kuramoto'
    """

    potential: Potential
    name: ClassVar[str] = "gradient"
    formula: ClassVar[str] = "-grad(W*rho)"

    def lacks(self, capability: Capability) -> str:
        """Return the empty clause: a gradient law lacks nothing."""
        return ""

    def require_domain(self, domain: Domain) -> None:
        """Refuse a potential that is none on the domain."""
        require_potential(self.potential, domain, "potential")

    def radial(self, domain: Domain, degree: int) -> None:
        """Return None: the speed is one."""
        return

    def speed(self, drive: Array, slope_squared: Array, radial: Array | None) -> Array:
        """Return ones."""
        return np.ones_like(drive)

    def speed_response(self, domain: Domain, degree: int) -> SpeedResponse:
        """Return zeros."""
        return SpeedResponse(*np.zeros((3, degree + 1)))

    def kernels(self, cosines: Array) -> tuple[Array, Array, None]:
        """Return -W, its derivative, 0 where two particles coincide or are opposite, and None."""
        angles = np.arccos(np.clip(cosines, -1.0, 1.0))
        sines, slopes = np.sin(angles), np.asarray(self.potential.slope(angles), dtype=float)
        derivative = np.divide(slopes, sines, out=np.zeros_like(slopes), where=np.abs(cosines) < 1.0)
        return -np.asarray(self.potential.values(angles), dtype=float), derivative, None

    def steepness(self) -> float | None:
        """Return the sum of k^2 abs(w_k) on the circle, which bounds the second derivative of W in the angle.

        None for a potential of spheres alone, on which the slopes of the velocity, W'' and W' cot t, are no larger.
        """
        try:
            multipliers = np.abs(self.potential.multipliers(Circle(), _LAST)).astype(float)
        except InvalidInput:
            return None
        return float(np.arange(_LAST + 1) ** 2 @ multipliers)

    def antiderivative(self, drive: Array) -> Array:
        """Return the drive."""
        return drive

    def slopes(self, name: str, domain: Domain, degree: int) -> LawSlopes:
        """Return the derivatives in a parameter of the potential; the speed is one.

        Raises
        ------
        InvalidInput
            If the potential has no such parameter, or the derivatives of its multipliers are not known.
        """
        derivatives = self.potential.multiplier_derivatives(name, domain, degree)
        return LawSlopes(-np.asarray(derivatives, dtype=float), None, 0.0, 0.0)

    def at_uniform(self, domain: Domain) -> Potential:
        """Return W."""
        return self.potential

    def parameters(self) -> dict[str, Any]:
        """Return the potential by its name and parameters."""
        return {"potential": {"name": self.potential.name, "parameters": self.potential.parameters()}}

    def parameter_values(self) -> dict[str, float]:
        """Return the continuous parameters of the potential."""
        return values_of(self.potential)

    def interpolated_in(self, name: str) -> "Gradient":
        """Return the law of the potential prepared for many values of a parameter."""
        return Gradient(interpolated_in(self.potential, name))

    def with_parameter(self, name: str, value: float) -> "Gradient":
        """Return the law of the potential with one continuous parameter changed."""
        return Gradient(self.potential.with_parameter(name, value))


def is_velocity(candidate: object) -> bool:
    """Return whether an object is a velocity law."""
    return isinstance(candidate, VelocityLaw)


def require_velocity(velocity: object, domain: Domain) -> None:
    """Refuse objects that are no velocity laws, and laws that are none on a domain.

    Raises
    ------
    InvalidInput
        If that is so.
    """
    if not is_velocity(velocity):
        raise InvalidInput(
            f"velocity must be a velocity law such as SoftmaxAttention(beta=4), not {shown(velocity)}; the "
            "equation of a pair potential is McKeanVlasov(domain, potential)"
        )
    law: Any = velocity
    law.require_domain(domain)
