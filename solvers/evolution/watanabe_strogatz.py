"""Evolution without noise by Moebius maps: exact, at any time, for potentials with one degree on the circle."""

from dataclasses import dataclass

import numpy as np

from meanfield import InvalidInput
from meanfield.arguments import checked
from meanfield.equations import Capability, Interaction, without_lag
from meanfield.records import ORDER_DEFICIT

from ..bases import EPS, Floats
from .direct import RECORDED, MomentPath, Progress, relative_errors, require_direct, unresolved_from
from .plan import Plan
from .reduced import (
    SHARPEST,
    Complexes,
    MoebiusPath,
    moebius_path,
    moved_minimum,
    moved_moments,
    order_deficit,
)
from .system import cells_of
from .units import rate_unit

# The second path, by which the error of the first is estimated, has this many times its tolerance.
COARSER = 8.0
# Nodes on which the smallest value of a density is sought, for each of its first moments.
NODES = 8


@checked
@dataclass(frozen=True)
class WatanabeStrogatz:
    """The reduction of Watanabe and Strogatz, for Kuramoto's equation without noise.

    It applies to every density on the circle, with a phase lag too, and by symmetry to every potential with one
    degree n and densities of n-fold symmetry. Moments are exact up to rounding at all times, and so is one minus
    the order parameter, the observable ``order_deficit``, relative to itself.
    """

    @property
    def name(self) -> str:
        """Name of the method."""
        return "Watanabe-Strogatz reduction"

    def follow(self, request: Plan, progress: Progress | None) -> MomentPath:
        """Return the moments at the times of a plan.

        Raises
        ------
        InvalidInput
            If there is noise or a confinement, or densities do not evolve by Moebius maps.
        """
        times = require_direct(request, type(self).__name__)
        harmonic = _harmonic(request)
        coefficients, coupling = _on_cells(request, harmonic)
        lag = harmonic * request.problem.velocity.lag
        degree = -(-max(RECORDED, request.degree) // harmonic)
        path = moebius_path(coefficients, coupling, times, lag=lag, watch=progress)
        other = moebius_path(coefficients, coupling, times, lag=lag, tolerance=COARSER * SHARPEST)
        moments = moved_moments(path, coefficients, degree)
        apart = np.abs(moved_moments(other, coefficients, degree) - moments).max(axis=1)
        sizes = np.abs(moments[:, 1:]).max(axis=1)
        rounding = np.where(sizes > 0.0, degree * EPS, 0.0)
        accuracy, unknown = relative_errors(times, np.maximum(apart, rounding), sizes)
        cosine, sine = (_spread(part, harmonic) for part in (moments.real, moments.imag))
        return MomentPath(
            time=times,
            cosine=cosine,
            sine=sine,
            minimum=moved_minimum(path, coefficients, max(512, NODES * coefficients.size)),
            observables=_deficit(path, coefficients, harmonic),
            accuracy=accuracy,
            steps=path.steps,
            evaluations=path.evaluations + other.evaluations,
            warnings=(*unknown, *unresolved_from(times, cosine, sine, request.tolerance)),
        )


def _harmonic(request: Plan) -> int:
    """Return the degree of the potential, refusing what is not moved by Moebius maps."""
    harmonic = request.space.harmonic(request.problem, request.start)
    if harmonic is None:
        other = (
            "leave the method out, or take particles (simulate)"
            if request.problem.lacks(Capability.GRADIENT)
            else "take method=Characteristics() (--method characteristics)"
        )
        raise InvalidInput(
            "WatanabeStrogatz() needs the circle, no confinement and a potential w_0 + w_n cos(n t), as Kuramoto() "
            f"with n = 1 is, beside a density whose moments all have multiples of n as degrees; for others {other}"
        )
    return harmonic


def _on_cells(request: Plan, harmonic: int) -> tuple[Complexes, float]:
    r"""Return the moments with :math:`e^{imn\theta}`, m = 1, 2, ..., and the coupling of :math:`n\theta`.

    The velocity of :math:`n\theta` is :math:`-\kappa w_n n^2 \mathrm{Im}(Z e^{-in\theta})`, Z of degree n.
    """
    start, problem = request.start, without_lag(request.problem)
    size = (start.cosine.size - 1) // harmonic
    parts = (cells_of(moments, harmonic, size) for moments in (start.cosine, start.sine))
    cosine, sine = parts
    attraction = Interaction(problem, rate_unit(problem)).attractions(harmonic)[harmonic]
    return cosine + 1j * sine, rate_unit(problem) * float(attraction) * harmonic**2


def _spread(cells: Floats, harmonic: int) -> Floats:
    """Return moments by degree, (T, nK + 1), of those of cells, (T, K + 1)."""
    result = np.zeros((cells.shape[0], harmonic * (cells.shape[1] - 1) + 1))
    result[:, ::harmonic] = cells
    return result


def _deficit(path: MoebiusPath, coefficients: Complexes, harmonic: int) -> dict[str, Floats]:
    return {ORDER_DEFICIT: order_deficit(path, coefficients)} if harmonic == 1 else {}
