r"""Records of single states: a stationary density and the spectrum of its linearisation.

A density on the circle is kept through its real moments :math:`m_k = \int \rho \cos k\theta` and
:math:`s_k = \int \rho \sin k\theta`, on the sphere :math:`S^{d-1}` one symmetric about the north pole through
:math:`p_l = \int\rho P_l(\cos\theta)` in the place of the cosines, and any density on :math:`S^2` through its
moments by degree and order; see :mod:`meanfield.harmonics`.
"""

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..arguments import ITSELF, checked
from ..base import OnDemand, Record
from ..equations import Equation
from ..harmonics import Layout, Moments, moments_of
from ..harmonics.moments import per_unit
from .observables import FREE_ENERGY_GAP, Observed, former_arguments
from .outcome import Outcome

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import xarray
    from matplotlib.axes import Axes

Floats = NDArray[np.float64]
# Error of a sum over moments, in units of the uniform density, beyond which another way is taken.
LARGEST_NOISE = 1e-10


@former_arguments(FREE_ENERGY_GAP)
@checked
@dataclass(frozen=True, eq=False, repr=False)
class State(Observed):
    """A stationary density at one coupling.

    Attributes
    ----------
    problem
        The equation, with its coupling fixed.
    cosine, sine : (n + 1,) float
        Moments of degree 0 to n; ``cosine[0]`` is the mass, 1, and ``sine[0]`` is 0.
    observables : mapping of str to float
        Numbers that not every equation has, by name: ``free_energy_gap`` where there is a free energy.
    unstable : int or None
        Unstable directions among all densities, rotation excluded; None if not counted.
    symmetry : int
        The state is invariant under rotation by 2 pi/symmetry; on spheres 2 where it is the same at antipodes, else
        1; 0 for the uniform state.
    residual : float
        Largest error of the self-consistency equation over the significant modes of the potential, each weighted by
        sqrt(|w_k| / max |w|), as in the symmetric form that is solved.
    modes : int
        Degree up to which the density was resolved.
    slowest_rate : float or None
        Smallest decay rate over non-rotational modes, in units of 1/time; negative when unstable. Of a state from
        ``stationary_states`` it is computed when it is first read.
    minimiser : bool or None
        Whether it minimises the free energy; None if that is not known.
    minimiser_reason : str
        The basis of ``minimiser``: a theorem, or a search with its counts; or why it is not known.
    layout : str
        ``"degree"``, moments by degree; ``"order"``, those of a density on S^2 by degree and order.
    """

    problem: Equation
    cosine: Floats
    sine: Floats
    observables: Mapping[str, Any]
    unstable: int | None
    symmetry: int
    residual: float
    modes: int
    outcome: Outcome = Outcome.CONVERGED
    label: str = ""
    slowest_rate: float | None = OnDemand()  # type: ignore[assignment]
    minimiser: bool | None = None
    layout: Layout = "degree"
    provenance: dict[str, Any] = field(default_factory=dict)
    minimiser_reason: str = ""

    @property
    def coupling(self) -> float:
        """Coupling at which the state is stationary."""
        return self.problem.fixed_coupling

    @property
    def free_energy_gap(self) -> float:
        """(F - F_uniform)/D, dimensionless; refused where the equation has no free energy."""
        return float(self.observable(FREE_ENERGY_GAP))

    @property
    def stable(self) -> bool | None:
        """Whether no direction but rotation is unstable; None if not counted."""
        return None if self.unstable is None else self.unstable == 0

    @property
    def moments(self) -> Moments:
        """The moments with their modes."""
        return moments_of(self.problem.domain, self.layout, self.cosine, self.sine)

    def moment(self, degree: int) -> float:
        """Return the moment of a degree: with the cosine, about the axis, or the length over the orders."""
        return float(self.moments.signed(degree))

    def order_parameter(self, degree: int = 1) -> float:
        """Return the modulus of the moment of the given degree, between 0 and 1, which no rotation changes."""
        return float(self.moments.length(degree))

    def density(self, angle: ArrayLike, azimuth: ArrayLike | None = None) -> Floats:
        """Return the density at angles (radians): on the circle per radian, on a sphere per unit of its surface.

        Parameters
        ----------
        angle
            On the circle the angle; on a sphere that from the north pole.
        azimuth
            The angle about the pole, for densities on the ordinary sphere.

        Returns
        -------
        ndarray
            Of the common shape of the angles.

        Raises
        ------
        InvalidInput
            If the density needs an azimuth and none is given, or does not admit one.
        """
        return per_unit(self.problem.domain, self.relative_density(angle, azimuth))

    def relative_density(self, angle: ArrayLike, azimuth: ArrayLike | None = None) -> Floats:
        """Return the density over the uniform one at the given angles, as :meth:`density` takes them."""
        modes = self.moments.modes
        if modes.rounding(self.cosine.size) <= LARGEST_NOISE:
            return self.moments.relative_density(angle, azimuth)
        # Rounding of the moments spoils the sum, and the exponential has the relative error of rounding.
        from ..gibbs import gibbs_density

        modes.check_angles(angle, azimuth)
        values = gibbs_density(self.problem, self.cosine, angle)
        return values if azimuth is None else values + np.zeros(np.shape(azimuth))

    def replace(self, **changes: Any) -> "State":
        """Return a copy with some fields changed."""
        return dataclasses.replace(self, **changes)

    def to_xarray(self) -> "xarray.Dataset":
        """Return moments and scalars as a labelled dataset."""
        dataset: xarray.Dataset = self._through("export", "state_to_xarray")
        return dataset

    def plot(self, ax: "Axes | None" = None, **style: Any) -> "Axes":
        """Draw the density against the angle, or on S^2 without an axis as a map."""
        return self._drawn("plot_state", ax, **style)

    def plot_globe(
        self, ax: "Axes | None" = None, view: "Annotated[Sequence[float] | None, ITSELF]" = None, **style: Any
    ) -> "Axes":
        """Draw a density on S^2 on a globe seen from the direction ``view``; see :func:`plotting.plot_globe`."""
        return self._drawn("plot_globe", ax, view, **style)

    def plot_mollweide(self, ax: "Axes | None" = None, **style: Any) -> "Axes":
        """Draw a density on S^2 as a map of equal areas; see :func:`plotting.plot_mollweide`."""
        return self._drawn("plot_mollweide", ax, **style)


class StationaryStates(tuple[State, ...]):
    """The stationary states found at one coupling, lowest free energy first: a tuple, with what was searched.

    Parameters
    ----------
    states
        The states.
    searched
        What was searched for others, a sentence.
    complete
        True where a theorem says that there are no others, False where some are known to be missing, else None.
    warnings
        What a reader must know of the branches that were followed to the coupling.
    """

    searched: str
    complete: bool | None
    warnings: tuple[str, ...]

    def __new__(
        cls, states: "Iterable[State]", searched: str, complete: bool | None, warnings: "Iterable[str]" = ()
    ) -> "StationaryStates":
        """Return the states as a tuple, with what was searched and whether they are complete."""
        found = super().__new__(cls, states)
        found.searched, found.complete, found.warnings = searched, complete, tuple(warnings)
        return found

    def __getnewargs__(self) -> tuple[Any, ...]:
        """Return the constructor arguments for copies."""
        return tuple(self), self.searched, self.complete, self.warnings


@checked
@dataclass(frozen=True, eq=False, repr=False)
class Spectrum(Record):
    """Eigenvalues of the linearised equation at a state, in units of 1/time.

    Attributes
    ----------
    even, odd : (n,) float
        Eigenvalues on even and odd perturbations (about the state's reflection axis), largest first; the
        rotation eigenvalue is not among them. A state without a reflection axis has all of them in ``even``. At a
        zonal state of a sphere ``even`` has those of zonal perturbations and ``odd`` all others, see ``sectors``;
        at one on S^2 without an axis ``even`` has those of the class of harmonics that contains the state, as
        often as they are there, without the rotations, up to three.
    rotation : float or None
        The computed eigenvalue of the rotation mode, zero up to rounding; of several the largest in modulus. None
        at the uniform state.
    rotation_overlap : float or None
        Cosine of the angle between that eigenvector and the generator of rotations; of several the smallest.
    error : float
        Bound on the rounding error of the eigenvalue of smallest modulus.
    sectors : tuple of (n_m,) float
        At a zonal state of a sphere, eigenvalues on perturbations of azimuthal order m = 0, 1, 2, ..., largest
        first, each once; empty elsewhere.
    multiplicities : tuple of int
        How often each eigenvalue of a sector is repeated: the number of harmonics of degree m on S^(d-2).
    """

    state: State
    even: Floats
    odd: Floats
    rotation: float | None
    rotation_overlap: float | None
    error: float
    sectors: tuple[Floats, ...] = ()
    multiplicities: tuple[int, ...] = ()

    @property
    def eigenvalues(self) -> Floats:
        """All eigenvalues except that of rotation, largest first; those of sectors without repetition."""
        return np.sort(np.concatenate([self.even, self.odd]))[::-1]

    @property
    def slowest_rate(self) -> float:
        """Smallest decay rate: minus the largest eigenvalue, rotation excluded."""
        return -float(self.eigenvalues[0])

    @property
    def unstable(self) -> int:
        """Number of positive eigenvalues with their multiplicities, rotation excluded."""
        if self.sectors:
            return sum(
                repeated * int(np.count_nonzero(values > self.error))
                for values, repeated in zip(self.sectors, self.multiplicities, strict=True)
            )
        return int(np.count_nonzero(self.eigenvalues > self.error))
