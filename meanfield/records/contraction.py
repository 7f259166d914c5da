r"""The record of the contraction of a density to a point without noise.

Without noise the density follows :math:`\partial_t\rho + \mathrm{div}(\rho v) = 0` and may collapse to a point. Two
exponents compete: displacements in the cluster shrink at the local exponent L, and near the separatrix, the label
of the particle that ends at the antipode, distances grow at an exponent :math:`\lambda`, so that the mass
:math:`C e^{-(d-1+k)\lambda t}` is still on its way there if the density is of order k at that label.
"""

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..arguments import checked
from ..base import Record, SavedRecord, brief
from ..equations import Equation
from ..errors import InvalidInput, did_you_mean
from ..wording import describe

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Floats = NDArray[np.float64]

# Quantities whose rates are known, with what they are.
QUANTITIES = {
    "1 - r": "distance of the order parameter from 1",
    "W1": "Wasserstein distance W1 to the cluster",
    "W2": "Wasserstein distance W2 to the cluster",
    "energy gap": "energy above that of the cluster",
    "support diameter": "diameter of the support",
}
RATE_COLUMNS = (
    "quantity",
    "rate",
    "error",
    "window_start",
    "window_end",
    "governed_by",
    "local_rate",
    "separatrix_rate",
)


@checked
@dataclass(frozen=True, eq=False, repr=False)
class QuantityRate(Record):
    """The contraction rate of one quantity.

    Attributes
    ----------
    quantity : str
        One of ``QUANTITIES``.
    rate, error : float or None
        The rate and a bound on its error, in units of 1/time; None where it is not known.
    window : (float, float) or None
        Times between which it was measured.
    governed_by : str
        ``"local"`` for the cluster, ``"separatrix"`` for the mass in flight, ``"undecided"`` where their rates
        agree within the error, or one is not known.
    local_rate, separatrix_rate : float or None
        The rate that the cluster alone and the mass in flight alone would make.
    """

    quantity: str
    rate: float | None
    error: float | None
    window: tuple[float, float] | None
    governed_by: str
    local_rate: float | None
    separatrix_rate: float | None

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, as for JSON."""
        return {
            "quantity": self.quantity,
            "rate": self.rate,
            "error": self.error,
            "window": None if self.window is None else list(self.window),
            "governed_by": self.governed_by,
            "local_rate": self.local_rate,
            "separatrix_rate": self.separatrix_rate,
        }


@checked
@dataclass(frozen=True, eq=False, repr=False)
class Contraction(SavedRecord):
    r"""The contraction of a density to a point without noise.

    Attributes
    ----------
    problem
        The equation, with its coupling and without noise.
    initial : str
        The initial density in words.
    quantity : str
        The quantity that ``rate`` is of, one of ``QUANTITIES``.
    rates : tuple of QuantityRate
        Of all quantities that there are.
    reason : str
        Why the one exponent governs and not the other, in a sentence.
    theory : float or None
        The rate from the exponents of the flow in the field of a point, None where it is not known.
    local_exponent, local_exponent_error : float
        L, at which displacements in the cluster shrink, and a bound on its error.
    separatrix_exponent, separatrix_exponent_error : float or None
        :math:`\lambda`, at which distances grow near the separatrix; None where there is no antipode to leave.
    order : float or None
        Order k at which the initial density vanishes at the separatrix label, 0 if it is positive; None if it is
        zero in a neighbourhood, or not known.
    limit_point, limit_point_error : float
        Angle of the cluster in the end, less the angle by which it has turned by its angular velocity.
    separatrix, separatrix_error : float or None
        Label of the particle that ends at the antipode.
    log_amplitude : float or None
        ln C of the mass in flight; None if there is none or it is not known.
    angular_velocity : float
        At which the cluster turns in the end, with a phase lag or a common frequency.
    time, remainder : (T,) float
        Times, and 1 - r at them, down to where the rates were measured from.
    warnings : tuple of str
        What a reader must know.
    """

    problem: Equation
    initial: str
    quantity: str
    rates: tuple[QuantityRate, ...]
    reason: str
    theory: float | None
    local_exponent: float
    local_exponent_error: float
    separatrix_exponent: float | None
    separatrix_exponent_error: float | None
    order: float | None
    limit_point: float
    limit_point_error: float
    separatrix: float | None
    separatrix_error: float | None
    log_amplitude: float | None
    time: Floats
    remainder: Floats
    warnings: tuple[str, ...] = ()
    provenance: dict[str, Any] = field(default_factory=dict)
    angular_velocity: float = 0.0

    def __repr__(self) -> str:
        return (
            f"Contraction(problem={brief(self.problem)}, initial={brief(self.initial)}, "
            f"quantity={self.quantity!r}, rate={self.rate!r}, error={self.error!r}, "
            f"governed_by={self.governed_by!r})"
        )

    @property
    def _main(self) -> QuantityRate:
        return self.rate_of(self.quantity)

    @property
    def rate(self) -> float | None:
        """The contraction rate of ``quantity`` in the mean field, in units of 1/time; None where not known."""
        return self._main.rate

    @property
    def error(self) -> float | None:
        """A bound on the error of the rate."""
        return self._main.error

    @property
    def window(self) -> tuple[float, float] | None:
        """The times between which the rate was measured."""
        return self._main.window

    @property
    def governed_by(self) -> str:
        """Which exponent makes the rate: "local", "separatrix" or "undecided"."""
        return self._main.governed_by

    @property
    def local_rate(self) -> float | None:
        """The rate that the cluster alone makes, which any finite number of particles follows in the end."""
        return self._main.local_rate

    @property
    def separatrix_rate(self) -> float | None:
        """The rate that the mass in flight alone makes; None if there is none or it is not known."""
        return self._main.separatrix_rate

    def rate_of(self, quantity: str) -> QuantityRate:
        """Return the rate of one quantity.

        Raises
        ------
        InvalidInput
            If there is no such quantity; the message lists those that there are.
        """
        found = next((rate for rate in self.rates if rate.quantity == quantity), None)
        if found is None:
            names = [rate.quantity for rate in self.rates]
            raise InvalidInput(
                f"there is no contraction rate of {quantity!r}; {did_you_mean(quantity, names)}there are "
                f"{', '.join(names)}"
            )
        return found

    def crossover(self, particles: int) -> float | None:
        r"""Return the time from which N particles follow the local rate and no longer that of the mean field.

        Of N independent particles :math:`N C e^{-\mu t}` are in flight on average; that is one at the time
        returned, :math:`\ln(NC)/\mu`, and 0 if it never is as many. None if there is no mass in flight, or it is
        not known.

        Parameters
        ----------
        particles
            Their number N, at least 1.

        Raises
        ------
        InvalidInput
            If there are none.
        """
        if particles < 1:
            raise InvalidInput(f"particles must be a whole number >= 1, not {particles}; try particles=1000")
        exponent = self.mass_exponent
        if self.log_amplitude is None or exponent is None:
            return None
        return max(0.0, (math.log(particles) + self.log_amplitude) / exponent)

    @property
    def mass_exponent(self) -> float | None:
        r""":math:`\mu = (d-1+k)\lambda`, at which the mass in flight decays."""
        if self.separatrix_exponent is None or self.order is None:
            return None
        return (self.problem.domain.dimension - 1 + self.order) * self.separatrix_exponent

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, as for JSON."""
        return {
            **self._main.to_dict(),
            "theory": self.theory,
            "reason": self.reason,
            "initial": self.initial,
            "local_exponent": self.local_exponent,
            "local_exponent_error": self.local_exponent_error,
            "separatrix_exponent": self.separatrix_exponent,
            "separatrix_exponent_error": self.separatrix_exponent_error,
            "order": self.order,
            "limit_point": self.limit_point,
            "limit_point_error": self.limit_point_error,
            "separatrix": self.separatrix,
            "separatrix_error": self.separatrix_error,
            "log_amplitude": self.log_amplitude,
            "angular_velocity": self.angular_velocity,
            "rates": [rate.to_dict() for rate in self.rates],
            "warnings": list(self.warnings),
        }

    def rows(self) -> list[dict[str, Any]]:
        """Return a row for each quantity, as in tables."""
        return [
            {
                "quantity": rate.quantity,
                "rate": rate.rate,
                "error": rate.error,
                "window_start": None if rate.window is None else rate.window[0],
                "window_end": None if rate.window is None else rate.window[1],
                "governed_by": rate.governed_by,
                "local_rate": rate.local_rate,
                "separatrix_rate": rate.separatrix_rate,
            }
            for rate in self.rates
        ]

    def summary(self) -> str:
        """Return the rate, what governs it and why, and the rates of all quantities in words."""
        shown = "not known" if self.rate is None else f"{self.rate:.15g} with an error of {self.error:.1g}"
        lines = [describe(self.problem), f"initial density {self.initial}", ""]
        lines += [f"contraction rate of {self.quantity}: {shown}; {self.reason}"]
        lines += [f"  {rate.quantity}: {_shown(rate)}" for rate in self.rates]
        return "\n".join([*lines, *(f"  - {warning}" for warning in self.warnings)])

    def plot(self, ax: "Axes | None" = None, **style: Any) -> "Axes":
        """Draw 1 - r against time, logarithmically, beside both slopes; see ``plot_contraction``."""
        return self._drawn("plot_contraction", ax, **style)


def _shown(rate: QuantityRate) -> str:
    if rate.rate is None:
        return "not known"
    return f"{rate.rate:.12g}, error {rate.error:.1g}, governed by: {rate.governed_by}"
