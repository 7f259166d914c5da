"""The record of the relaxation to a stable state: the spectral gap, its closed form and fitted rates."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..arguments import checked
from ..base import Record
from ..equations import Equation
from ..errors import InvalidInput, did_you_mean
from .state import State

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Floats = NDArray[np.float64]

# Distances by name, with the multiple of the slowest rate at which each decays: entropy is quadratic.
NORMS = {
    "L2": 1,
    "W1": 1,
    "W2": 1,
    "W1 of the polar angle": 1,
    "W2 of the polar angle": 1,
    "relative entropy": 2,
}


@checked
@dataclass(frozen=True, eq=False, repr=False)
class RateFit(Record):
    """An exponential fitted to the decay of one distance.

    Attributes
    ----------
    norm : str
        The distance, one of ``NORMS``.
    multiple : int
        It decays at this multiple of the slowest rate of the densities followed, as a rule the spectral gap.
    rate : float or None
        Fitted decay rate of the distance, in units of 1/time; None if the trajectory does not show one.
    error : float or None
        Bound on the error of the rate: the scatter about a straight line, the difference from the slowest mode into
        which the whole evolution decomposes, which other modes about as slow make, and the error of the evolution.
    window : (float, float) or None
        First and last time of the fit.
    """

    norm: str
    multiple: int
    rate: float | None
    error: float | None
    window: tuple[float, float] | None

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, as for JSON."""
        return {
            "norm": self.norm,
            "fitted": self.rate,
            "fitted_error": self.error,
            "window": None if self.window is None else list(self.window),
        }


@checked
@dataclass(frozen=True, eq=False, repr=False)
class Relaxation(Record):
    """The contraction rate at a stable state: spectral gap, closed form and fits to an evolution.

    Attributes
    ----------
    problem
        The equation, with its coupling.
    state
        The stable state.
    gap, gap_error : float
        Spectral gap of the linearised equation, rotation excluded, in units of 1/time, and its error bound.
    theory : float or None
        The closed form, where there is one.
    fits : tuple of RateFit
        Exponentials fitted to the evolution of a small perturbation of the state, one for each distance.
    time : (T,) float
        Times of that evolution.
    distances : (n, T) float
        The distances to the state, in the order of ``fits``, least over all rotations of the state. On spheres L2
        is that of the densities over the uniform one, in its probability measure, and the Wasserstein distances
        are those of the laws of the polar angle.
    followed : str
        Which densities the evolution was confined to, such as ``"zonal"``; empty if all were followed.
    followed_rate : float or None
        The slowest rate at which those relax, so what ``fits`` show; the gap, unless others are slower.
    warnings : tuple of str
        What a reader must know.
    """

    problem: Equation
    state: State
    gap: float
    gap_error: float
    theory: float | None
    fits: tuple[RateFit, ...]
    time: Floats
    distances: Floats
    followed: str = ""
    followed_rate: float | None = None
    warnings: tuple[str, ...] = ()
    provenance: dict[str, Any] = field(default_factory=dict)

    def expected(self, fit: RateFit) -> float:
        """Return the decay rate, from the spectrum, that is expected of a fit."""
        return fit.multiple * (self.gap if self.followed_rate is None else self.followed_rate)

    def fit(self, norm: str = "L2") -> RateFit:
        """Return the fit of a distance.

        Raises
        ------
        InvalidInput
            If it was not followed; the message lists those that were.
        """
        found = next((fit for fit in self.fits if fit.norm == norm), None)
        if found is None:
            norms = [fit.norm for fit in self.fits]
            raise InvalidInput(
                f"the distance {norm!r} was not followed; {did_you_mean(norm, norms)}there are {', '.join(norms)}"
            )
        return found

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, as for JSON; ``fitted`` is that of the distance ``norm``."""
        fit = self.fit()
        return {
            "gap": self.gap,
            "gap_error": self.gap_error,
            "theory": self.theory,
            "fitted": fit.rate,
            "fitted_error": fit.error,
            "norm": fit.norm,
            "window": None if fit.window is None else list(fit.window),
            "followed": self.followed or "all",
            "followed_rate": self.gap if self.followed_rate is None else self.followed_rate,
            "norms": [self._described(one) for one in self.fits],
            "warnings": list(self.warnings),
        }

    def _described(self, fit: RateFit) -> dict[str, Any]:
        whole = self.followed_rate in (None, self.gap)
        expected = {"multiple_of_gap": fit.multiple if whole else None, "expected": self.expected(fit)}
        return {"norm": fit.norm, **expected, **fit.to_dict()}

    def plot(self, ax: "Axes | None" = None, **style: Any) -> "Axes":
        """Draw the distances against time, with the fitted exponentials over their windows."""
        return self._drawn("plot_relaxation", ax, **style)
