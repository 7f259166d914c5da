r"""Records of single states: a stationary density and the spectrum of its linearisation.

A density on the circle is kept through its real moments :math:`m_k = \int \rho \cos k\theta` and
:math:`s_k = \int \rho \sin k\theta`, so that

.. math:: \rho(\theta) = \frac{1}{2\pi}\Bigl(1 + 2\sum_{k\ge 1} m_k \cos k\theta + s_k \sin k\theta\Bigr).

On the sphere :math:`S^{d-1}` a density symmetric about the north pole is kept through
:math:`p_l = \int\rho P_l(\cos\theta)`, :math:`|S|\rho = \sum_l N_l p_l P_l(\cos\theta)`, in the place of the
cosines. Any density on :math:`S^2` is kept through its moments with

.. math:: e^c_{lm} = \sqrt{(2 - \delta_{m0}) \tfrac{(l-m)!}{(l+m)!}}\, P_l^m(\cos\theta) \cos m\varphi

and :math:`e^s_{lm}` with the sine, without the sign :math:`(-1)^m`, so that
:math:`P_l(\langle x, y\rangle) = \sum_m e^c_{lm}(x) e^c_{lm}(y) + e^s_{lm}(x) e^s_{lm}(y)`; the moment of degree
l and order m stands at place :math:`l(l+1)/2 + m`.
"""

import dataclasses
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .outcomes import Outcome
from .problem import McKeanVlasov

if TYPE_CHECKING:
    import xarray
    from matplotlib.axes import Axes

Floats = NDArray[np.float64]
# Moments by degree, or by degree and order at the place l (l + 1)/2 + m.
Layout: TypeAlias = Literal["degree", "order"]


@dataclass(frozen=True, eq=False)
class State:
    """A stationary density at one coupling.

    Attributes
    ----------
    problem
        The equation, with its coupling fixed.
    cosine, sine : (n + 1,) float
        Moments of degree 0 to n; ``cosine[0]`` is the mass, 1, and ``sine[0]`` is 0.
    free_energy_gap : float
        (F - F_uniform)/D, dimensionless.
    unstable : int or None
        Unstable directions among all densities, rotation excluded; None where not counted.
    symmetry : int
        The state is invariant under rotation by 2 pi/symmetry; 0 for the uniform state.
    residual : float
        Largest error of the self-consistency equation over the modes the potential feels, each weighted by
        sqrt(|w_k| / max |w|), as in the symmetric form that is solved.
    modes : int
        Degree up to which the density was resolved.
    slowest_rate : float or None
        Smallest decay rate over non-rotational modes, in units of 1/time; negative when unstable.
    layout : str
        ``"degree"``, moments by degree; ``"order"``, those of a density on S^2 by degree and order.
    """

    problem: McKeanVlasov
    cosine: Floats
    sine: Floats
    free_energy_gap: float
    unstable: int | None
    symmetry: int
    residual: float
    modes: int
    outcome: Outcome = Outcome.CONVERGED
    label: str = ""
    slowest_rate: float | None = None
    minimiser: bool | None = None
    layout: Layout = "degree"
    provenance: dict[str, Any] = field(default_factory=dict)

    @property
    def coupling(self) -> float:
        """Coupling at which the state is stationary."""
        return self.problem.fixed_coupling

    @property
    def stable(self) -> bool | None:
        """Whether no direction but rotation is unstable; None where not counted."""
        return None if self.unstable is None else self.unstable == 0

    def order_parameter(self, degree: int = 1) -> float:
        """Modulus of the moment of the given degree, between 0 and 1."""
        if degree >= self.cosine.size:
            return 0.0
        return float(np.hypot(self.cosine[degree], self.sine[degree]))

    def density(self, angle: ArrayLike) -> Floats:
        """Density at the given angles (radians), in units of 1/radian, same shape as ``angle``."""
        return series(self.cosine, self.sine, angle)

    def replace(self, **changes: Any) -> "State":
        """Return a copy with some fields changed."""
        return dataclasses.replace(self, **changes)

    def to_xarray(self) -> "xarray.Dataset":
        """Moments and scalars as a labelled dataset."""
        from .export import state_to_xarray

        return state_to_xarray(self)

    def plot(self, ax: "Axes | None" = None, **style: Any) -> "Axes":
        """Draw the density against the angle."""
        from .plotting import plot_state

        return plot_state(self, ax, **style)


@dataclass(frozen=True, eq=False)
class Spectrum:
    """Eigenvalues of the linearised equation at a state, in units of 1/time.

    Attributes
    ----------
    even, odd : (n,) float
        Eigenvalues on even and odd perturbations (about the state's reflection axis), largest first; the
        rotation eigenvalue is not among them. A state without a reflection axis has all of them in ``even``.
    rotation : float or None
        The computed eigenvalue of the rotation mode, zero up to rounding; None at the uniform state.
    rotation_overlap : float or None
        Cosine of the angle between that eigenvector and the generator of rotations.
    error : float
        Bound on the rounding error of the eigenvalue of smallest modulus.
    """

    state: State
    even: Floats
    odd: Floats
    rotation: float | None
    rotation_overlap: float | None
    error: float

    @property
    def eigenvalues(self) -> Floats:
        """All eigenvalues but rotation, largest first."""
        return np.sort(np.concatenate([self.even, self.odd]))[::-1]

    @property
    def slowest_rate(self) -> float:
        """Smallest decay rate: minus the largest eigenvalue, rotation excluded."""
        return -float(self.eigenvalues[0])

    @property
    def unstable(self) -> int:
        """Number of positive eigenvalues, rotation excluded."""
        return int(np.count_nonzero(self.eigenvalues > self.error))


def series(cosine: Floats, sine: Floats, angle: ArrayLike) -> Floats:
    """Sum the real Fourier series of a density with the given moments."""
    angles = np.asarray(angle, dtype=float)
    degrees = np.arange(1, cosine.size)
    phases = np.multiply.outer(angles, degrees)
    total: Floats = np.cos(phases) @ cosine[1:] + np.sin(phases) @ sine[1:]
    density: Floats = (cosine[0] + 2.0 * total) / (2.0 * np.pi)
    return density
