r"""Velocity laws of one's own: functions of the moments of the density."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ..arguments import is_number, shown
from ..domains import Domain
from ..errors import ComputationFailed, InvalidInput
from ..potentials import Array, Potential
from .capabilities import Capability
from .velocity import VelocityLaw

# More moments than evolutions and particles keep are not known.
LARGEST_DEGREE = 512
# A density with which a velocity is tried, e^(-s k^2) on the circle, and the angles at which it is.
WIDTH, ANGLES = 1.0, 7
# Values this close, relative to the largest, are one.
ROUNDING = 1e-8


@dataclass(frozen=True)
class CustomVelocity(VelocityLaw):
    r"""A velocity law of one's own, given as a function of angles and moments.

    On the circle the function has the angles (n,) in radians and the moments
    :math:`c_k = \int e^{ik\theta}\,d\rho`, k = 0..degree, complex: :math:`c_1 = r e^{i\psi}` is the order
    parameter. It returns the velocities (n,), positive where the angle increases. On spheres the angles are those
    to the north pole, from 0 to pi, the moments :math:`p_l = \int P_l(\cos\theta)\,d\rho` real, and the velocities
    those along meridians, positive away from the north pole, which vanish at both poles.

    Parameters
    ----------
    function
        Callable of angles and moments.
    degree
        Degree of the last moment that it takes, from 1 to 512; 1 by default.
    largest_slope
        Bound of the derivative of the velocity in the angle, in units of 1/time, from which the default step of
        particles follows; None where none is known, and a step is to be given.
    source
        What the function is called in files and sentences; by default its own name. An equation from a file has
        the name alone, and is the one that was written once ``replace(velocity=...)`` gives the function.

    Raises
    ------
    InvalidInput
        If the function cannot be called, the degree is none, or the bound is not positive.

    Notes
    -----
    The coupling multiplies the velocity, noise and confinement add to it. Densities and particles on the circle,
    densities about the north pole and particles on spheres evolve by it. There is no drive, whence no thresholds,
    stationary states or rates in closed form. Files keep the name of the function and not the function itself.

    Examples
    --------
    Kuramoto's equation, and what it is with the coupling of a triad besides:

    >>> import numpy as np
    >>> from meanfield import Circle, ContinuityEquation
    >>> def triads(angles, moments):
    ...     return (np.exp(-1j * angles) * (moments[1] + 0.5 * moments[2] * moments[1].conj())).imag
    >>> ContinuityEquation(Circle(), CustomVelocity(triads, degree=2), noise=0.1, coupling=1.0).velocity.formula
    'triads(t, moments)'
    """

    function: Callable[[Array, Array], Any] | None = None
    degree: int = 1
    largest_slope: float | None = None
    source: str | None = None
    name: ClassVar[str] = "custom velocity"

    def __post_init__(self) -> None:
        from_file = self.function is None and isinstance(self.source, str)
        if not (from_file or callable(self.function)):
            raise InvalidInput(
                f"function must be a callable of angles and moments, not {shown(self.function)}; try "
                "lambda angles, moments: (np.exp(-1j * angles) * moments[1]).imag"
            )
        whole = isinstance(self.degree, int | np.integer) and not isinstance(self.degree, bool)
        if not (whole and 1 <= self.degree <= LARGEST_DEGREE):
            raise InvalidInput(
                f"degree must be a whole number from 1 to {LARGEST_DEGREE}, the last moment that the function "
                f"takes, not {shown(self.degree)}; try degree=2"
            )
        bound = self.largest_slope
        if bound is not None and not (is_number(bound) and 0.0 < bound < math.inf):
            raise InvalidInput(
                f"largest_slope must be a finite number above 0, or None where none is known, not {shown(bound)}"
            )
        if self.source is None:
            object.__setattr__(self, "source", getattr(self.function, "__name__", type(self.function).__name__))

    @property
    def formula(self) -> str:
        """The velocity as a formula."""
        return f"{self.source}(t, moments)"

    @property
    def potential(self) -> Potential:
        """Refuse, since there is no drive."""
        raise self._refusal()

    def lacks(self, capability: Capability) -> str:
        """Return a clause on why there is no drive, nor anything that follows from one."""
        if capability is Capability.AUTONOMOUS:
            return ""
        return f"{self.source} is a function of moments, of which only the values are known"

    def require_domain(self, domain: Domain) -> None:
        """Refuse a function whose values are no velocities of a density on the domain."""
        if self.function is None:
            return
        try:
            values = self._tried(domain)
        except ComputationFailed as error:
            raise InvalidInput(str(error)) from error
        rounding = ROUNDING * float(np.abs(values).max())
        if domain.turns and abs(values[0] - values[-1]) > rounding:
            raise InvalidInput(
                f"the velocity {self.source} is {values[0]:.6g} at the angle 0 and {values[-1]:.6g} at 2 pi, which "
                "is the same place; it must be continuous on the circle"
            )
        if not domain.turns and float(np.abs(values[[0, -1]]).max()) > rounding:
            raise InvalidInput(
                f"the velocity {self.source} is {values[0]:.6g} at one pole and {values[-1]:.6g} at the other; "
                "along meridians it must vanish at both"
            )

    def fingerprint(self, domain: Domain) -> str:
        """Return the values at some angles for a density that is tried, to twelve digits."""
        if self.function is None:
            return ""
        return " ".join(f"{value:.12g}" for value in self._tried(domain))

    def _tried(self, domain: Domain) -> Array:
        """Return the velocities at some angles for a density on the domain."""
        degrees = np.arange(self.degree + 1)
        moments = np.exp(-WIDTH * degrees * (degrees + domain.dimension - 2.0))
        turned = moments * np.exp(1j * degrees) if domain.turns else moments
        return self.velocity(domain, np.linspace(0.0, 2.0 * np.pi if domain.turns else np.pi, ANGLES), turned)

    def velocity(self, domain: Domain, angles: Array, moments: Array) -> Array:
        """Return the velocities (n,) at angles (n,), from the moments 0..degree.

        Raises
        ------
        InvalidInput
            If the function is not known, or returns something else than as many real numbers.
        ComputationFailed
            If it raises, or a velocity is not finite.
        """
        if self.function is None:
            raise InvalidInput(
                f"files keep the name of the velocity {self.source!r} and not its function; make the problem again "
                "with CustomVelocity(function, degree)"
            )
        try:
            with np.errstate(all="ignore"):
                returned = self.function(angles, moments)
        except Exception as error:
            raise ComputationFailed(
                f"the velocity {self.source} raised {type(error).__name__}: {error}; it is called with angles (n,) "
                f"and {moments.size} moments"
            ) from error
        velocity = np.asarray(returned)
        if velocity.shape != angles.shape or velocity.dtype.kind not in "fiu":
            raise InvalidInput(
                f"the velocity {self.source} must return {angles.size} real numbers at {angles.size} angles, not "
                f"{_described(velocity)}"
            )
        if not np.all(np.isfinite(velocity)):
            bad = int(np.argmin(np.isfinite(velocity)))
            raise ComputationFailed(
                f"the velocity {self.source} is {velocity[bad]} at the angle {angles[bad]:.6g}; it must be finite"
            )
        return velocity.astype(float)

    def steepness(self) -> float | None:
        """Return the bound that was given."""
        return self.largest_slope

    def parameters(self) -> dict[str, Any]:
        """Return the name of the function in its place, and the other arguments."""
        bound = {} if self.largest_slope is None else {"largest_slope": float(self.largest_slope)}
        return {"source": self.source, "degree": int(self.degree)} | bound


def _described(values: Any) -> str:
    if values.dtype.kind == "c":
        return "complex ones; take the real or imaginary part"
    if values.dtype.kind not in "fiu":
        return shown(values.tolist() if values.ndim == 0 else values)
    return f"an array of shape {values.shape}" if values.ndim else f"the single number {values.item():.6g}"
