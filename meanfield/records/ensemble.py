r"""The record of a particle simulation: empirical moments of independent replicas over time.

.. math:: m_k = \frac1N\sum_i \cos kX_i, \qquad s_k = \frac1N\sum_i \sin kX_i, \qquad c_k = m_k - i s_k .

On the sphere the moment of degree l is the vector :math:`m_l = \frac1N\sum_i e_l(X_i)` of the means of the
harmonics with :math:`P_l(\langle x, y\rangle) = e_l(x)\cdot e_l(y)`. Its component along the north pole is
:math:`p_l = \frac1N\sum_i P_l(\cos\theta_i)`, and its length
:math:`|m_l| = (\frac1{N^2}\sum_{ij} P_l(\langle X_i, X_j\rangle))^{1/2}` is the same whatever the rotation.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..arguments import checked
from ..base import Row, SavedRecord
from ..equations import Equation
from ..errors import InvalidInput
from ..harmonics import Layout, Modes, Moments, modes_of
from ..wording import describe
from .outcome import Outcome

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from .atoms import Atoms

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Booleans = NDArray[np.bool_]

# Degrees that fit a table.
TABLE_DEGREES = 4
SUMMARY_TIMES = 6
# Particles nearer than this, in radians, are one atom unless another resolution is asked for.
ATOM_RESOLUTION = 1e-3


@checked
@dataclass(frozen=True, eq=False, repr=False)
class Estimate(Row):
    """A mean over the replicas and its standard error, nan where there are too few; arrays of one shape."""

    mean: Floats
    standard_error: Floats


@checked
@dataclass(frozen=True, eq=False, repr=False)
class Histogram(Row):
    """A density in equal bins: their edges (B + 1,), and mean and standard error over the replicas (B,)."""

    edges: Floats
    density: Floats
    standard_error: Floats


@checked
@dataclass(frozen=True, eq=False, repr=False)
class Ensemble(SavedRecord):
    r"""Independent replicas of N interacting particles.

    Attributes
    ----------
    problem
        The equation, with its coupling.
    particles, replicas : int
        N and R.
    seed : int
        All random numbers follow from it.
    step : float
        The longest time step.
    scheme : str
        Name of the time-stepping scheme.
    time : (T,) float
        When the moments were recorded; the last is the end.
    cosine, sine : (R, T, K + 1) float
        Empirical moments of every replica; nan where a replica is missing or did not come to that time. On the
        sphere the moments p_l about the north pole and zeros; on S^2 all moments, in the layout ``"order"``.
    histogram : (R, B) int
        Particles in equal bins of [-pi, pi) at the end; zeros for a replica that did not come there. On the sphere
        in equal bins of the angle from the north pole, from 0 to pi.
    positions : (R, N) or (R, N, d) float or None
        Angles in [-pi, pi), on the sphere unit vectors whose last component points north, at the end, where they
        were kept; nan for a replica that did not come there.
    outcome
        COMPLETED, or PARTIAL if ``failures`` has anything.
    failures : tuple of str
        Which replicas are missing or ended early, and why.
    warnings : tuple of str
        What a reader must know.
    provenance
        Versions, options and accuracy of the drift.
    layout : str
        ``"degree"``, or ``"order"`` for moments by degree and order, as in :class:`State`.
    mean_vector : (R, T, d) float or None
        Mean of the unit vectors, on the sphere.
    moduli : (R, T, K + 1) float or None
        The lengths :math:`|m_l|` on the sphere; nan for degrees whose harmonics are too many.
    """

    problem: Equation
    particles: int
    replicas: int
    seed: int
    step: float
    scheme: str
    time: Floats
    cosine: Floats
    sine: Floats
    histogram: Integers
    positions: Floats | None
    outcome: Outcome
    failures: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    provenance: dict[str, Any] = field(default_factory=dict)
    layout: Layout = "degree"
    mean_vector: Floats | None = None
    moduli: Floats | None = None

    @property
    def degrees(self) -> int:
        """Largest degree K that was recorded."""
        return self.modes.degree(int(self.cosine.shape[2]))

    @property
    def modes(self) -> Modes:
        """The modes, which say what the moments mean."""
        return modes_of(self.problem.domain, self.layout)

    @property
    def on_circle(self) -> bool:
        """Whether positions are angles, and not unit vectors."""
        return self.modes.rotation_numbers

    @property
    def moments(self) -> Moments:
        """The moments with their modes, replicas and times along the first axes."""
        return Moments(self.modes, self.cosine, self.sine)

    @property
    def completed(self) -> Booleans:
        """Whether each replica came to the end, (R,)."""
        return ~np.isnan(self.cosine[:, -1, 0])

    @property
    def partial(self) -> bool:
        """Whether replicas are missing or ended early."""
        return self.outcome is not Outcome.COMPLETED

    def order_parameter(self, degree: int = 1) -> Estimate:
        """Return the modulus of the moment of a degree over time, (T,): mean over the replicas and standard error.

        Raises
        ------
        InvalidInput
            If the degree was not recorded.
        """
        return self._over_replicas(self.moments_in_modulus(degree))

    def moments_in_modulus(self, degree: int = 1) -> Floats:
        """Return the modulus of the moment of a degree of every replica, (R, T).

        Raises
        ------
        InvalidInput
            If the degree was not recorded.
        """
        moments = self._moments(degree)
        return np.hypot(*moments) if self.moduli is None else self.moduli[:, :, degree]

    def mean_moments(self, degree: int = 1) -> tuple[Estimate, Estimate]:
        """Return cosine and sine moment of a degree over time, (T,): means over the replicas and standard errors.

        On the sphere the moment about the north pole, and zeros.

        Raises
        ------
        InvalidInput
            If the degree was not recorded.
        """
        cosine, sine = self._moments(degree)
        return self._over_replicas(cosine), self._over_replicas(sine)

    def fluctuation(self, degree: int = 1) -> Estimate:
        r"""Return the scaled square :math:`N|c_k|^2` over time, (T,): mean over the replicas and standard error.

        On the sphere :math:`N|m_l|^2`. In the uniform phase it tends to :math:`1/(1-\lambda_k)` as N grows.

        Raises
        ------
        InvalidInput
            If the degree was not recorded.
        """
        cosine, sine = self._moments(degree)
        squares = cosine**2 + sine**2 if self.moduli is None else self.moduli[:, :, degree] ** 2
        return self._over_replicas(self.particles * squares)

    def density(self) -> Histogram:
        """Return the histogram of the particles at the end as a density, in units of 1/radian.

        On the sphere the density of the angle from the north pole.
        """
        bins = self.histogram.shape[1]
        first, last = self.modes.span
        edges = np.linspace(first, last, bins + 1)
        densities = self.histogram[self.completed] * (bins / ((last - first) * self.particles))
        return Histogram(edges, *_estimate(densities, np.full(bins, len(densities))))

    def atoms(self, resolution: float = ATOM_RESOLUTION, replica: int = 0) -> "Atoms":
        """Return the atoms in which the particles of a replica have gathered at the end, without noise.

        Parameters
        ----------
        resolution
            Particles nearer than this angle, in radians, are linked to one atom.
        replica
            Which of the replicas.

        Raises
        ------
        InvalidInput
            If there is noise, the positions were not kept, the replica did not come to the end, or the resolution
            is not an angle between 0 and pi.
        """
        if self.problem.noise > 0.0:
            raise InvalidInput(
                f"with noise, which is {self.problem.noise:g} here, particles do not gather in atoms; simulate "
                "with noise=0"
            )
        if self.positions is None:
            raise InvalidInput(
                "atoms are counted from the positions at the end, which were not kept; simulate with "
                "keep_positions=True (--positions)"
            )
        if not 0 <= replica < self.replicas or not self.completed[replica]:
            raise InvalidInput(f"replica {replica} of {self.replicas} is missing or ended early; choose another")
        # Trees of linkage take longer to load than the record.
        from .atoms import atoms_of

        return atoms_of(self.positions[replica], resolution)

    @property
    def gathered(self) -> "Atoms | None":
        """The atoms of the first replica; None with noise, without positions, or with too many on a sphere."""
        if self.problem.noise > 0.0 or self.positions is None or not self.completed[0]:
            return None
        from .atoms import COUNTED

        return self.atoms() if self.on_circle or self.particles <= COUNTED else None

    def rows(self) -> Iterator[dict[str, Any]]:
        """Yield one table row per time, with the keys of :meth:`columns`; None for numbers that are not known."""
        estimates: dict[str, Estimate] = {"order_parameter": self.order_parameter()}
        for degree in range(1, min(self.degrees, TABLE_DEGREES) + 1):
            estimates |= self._named(degree)
            estimates[f"fluctuation{degree}"] = self.fluctuation(degree)
        present = np.count_nonzero(~np.isnan(self.cosine[:, :, 0]), axis=0)
        for index, moment in enumerate(self.time):
            row: dict[str, Any] = {
                "time": float(moment),
                "particles": self.particles,
                "replicas": int(present[index]),
            }
            for name, (mean, error) in estimates.items():
                row |= {name: _known(mean[index]), f"{name}_error": _known(error[index])}
            yield row

    def summary(self) -> str:
        """Return the simulation and its statistics in words and a table."""
        return "\n".join(_summary(self))

    def plot(self, ax: "Axes | None" = None, density: Any = None, **style: Any) -> "Axes":
        """Draw the histogram at the end, against a density if one is given: a State, a Trajectory, a function."""
        return self._drawn("plot_ensemble", ax, density, **style)

    def plot_moments(self, ax: "Axes | None" = None, **options: Any) -> "Axes":
        """Draw order parameters over time with bands of the scatter and of the standard error."""
        return self._drawn("plot_ensemble_moments", ax, **options)

    def plot_cloud(self, ax: "Axes | None" = None, **options: Any) -> "Axes":
        """Draw the particles at the end on a globe, if they are on the ordinary sphere."""
        return self._drawn("plot_cloud", ax, **options)

    def _moments(self, degree: int) -> tuple[Floats, Floats]:
        if not 0 <= degree <= self.degrees:
            raise InvalidInput(
                f"the moment of degree {degree} was not recorded, only those up to {self.degrees}; simulate with "
                f"degrees={degree}"
            )
        index = self.modes.place(degree, 0)
        return self.cosine[:, :, index], self.sine[:, :, index]

    def _named(self, degree: int) -> dict[str, Estimate]:
        """Return the estimates of the named moments of a degree."""
        cosine, sine = self.mean_moments(degree)
        linear = {f"{kind}{degree}": value for kind, value in zip(self.modes.linear, (cosine, sine), strict=False)}
        return linear if f"m{degree}" in linear else linear | {f"m{degree}": self.order_parameter(degree)}

    def _over_replicas(self, values: Floats) -> Estimate:
        return _estimate(values, np.count_nonzero(~np.isnan(values), axis=0))


def _estimate(values: Floats, count: NDArray[np.integer]) -> Estimate:
    """Return mean and standard error over the first axis, leaving nan out."""
    known = ~np.isnan(values)
    mean = np.divide(values.sum(axis=0, where=known), count, out=np.full(count.shape, np.nan), where=count > 0)
    squares = np.square(values - mean).sum(axis=0, where=known)
    variance = np.divide(squares, count * (count - 1), out=np.full(count.shape, np.nan), where=count > 1)
    return Estimate(mean, np.sqrt(variance))


def _known(value: np.floating) -> float | None:
    return None if np.isnan(value) else float(value)


def _summary(ensemble: Ensemble) -> Iterator[str]:
    done = int(np.count_nonzero(ensemble.completed))
    yield describe(ensemble.problem)
    yield (
        f"{ensemble.replicas} x {ensemble.particles} particles, {ensemble.scheme} with step {ensemble.step:.6g} to "
        f"time {ensemble.time[-1]:.6g}, seed {ensemble.seed}"
    )
    if done == ensemble.replicas:
        yield str(ensemble.outcome)
    else:
        yield f"partial: {done} of {ensemble.replicas} replicas reached the end"
    atoms = ensemble.gathered
    if atoms is not None:
        whose = "the particles" if ensemble.replicas == 1 else "the particles of the first replica"
        yield f"{whose} have gathered in {atoms.words()}"
    yield ""
    degrees = range(1, min(ensemble.degrees, 3) + 1)
    letter = ensemble.modes.letters[0]
    yield "  ".join([f"{'time':>10}", *(f"{f'|{letter}_{degree}|':>20}" for degree in degrees)])
    estimates = [ensemble.order_parameter(degree) for degree in degrees]
    for index in np.unique(np.linspace(0, ensemble.time.size - 1, SUMMARY_TIMES).round().astype(int)):
        cells = (_with_error(estimate.mean[index], estimate.standard_error[index]) for estimate in estimates)
        yield "  ".join([f"{ensemble.time[index]:>10.5g}", *(f"{cell:>20}" for cell in cells)])
    for heading, sentences in (("Failures", ensemble.failures), ("Warnings", ensemble.warnings)):
        if sentences:
            yield from ("", heading, *(f"  - {sentence}" for sentence in sentences))


def _with_error(mean: float, error: float) -> str:
    if np.isnan(mean):
        return "-"
    return f"{mean:.5f}" if np.isnan(error) else f"{mean:.5f} +- {error:.5f}"
