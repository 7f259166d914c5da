r"""The record of a comparison between the mean-field equation and systems of N particles.

Of every size there are R independent replicas, so that each number is a mean with a confidence band. Two
lengths shrink like :math:`N^{-1/2}` for different reasons: the deviation of the empirical moments from those of the
equation, and the distance of any N points from the density they are drawn from. The second is the same for
independent points without any interaction, which stand beside the particles for that reason.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..arguments import checked
from ..base import Record, SavedRecord
from ..equations import Equation
from ..errors import InvalidInput, did_you_mean
from ..wording import describe
from .outcome import Outcome

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

BAND = ("mean", "standard_error", "low", "high")
ROW_COLUMNS = ("quantity", "particles", "time", "expected", *BAND)
FIT_COLUMNS = ("name", "exponent", "low", "high", "standard_error", "prefactor", "curvature")


@checked
@dataclass(frozen=True, eq=False, repr=False)
class Means(Record):
    """Means over the replicas, with confidence bands.

    Attributes
    ----------
    names : (Q,) tuple of str
        The quantities.
    expected : float
        What the equation or a fitted power says, of a shape that is described with each use.
    mean, standard_error, low, high : (Q, S) or (Q, S, T) float
        For each of the S sizes, and each time where they depend on it; nan where there is one replica only.
    """

    names: tuple[str, ...]
    expected: Floats
    mean: Floats
    standard_error: Floats
    low: Floats
    high: Floats

    def index(self, name: str) -> int:
        """Return the position of a quantity.

        Raises
        ------
        InvalidInput
            If it is not there.
        """
        if name not in self.names:
            raise InvalidInput(
                f"no quantity is called {name!r}; {did_you_mean(name, self.names)}there are {', '.join(self.names)}"
            )
        return self.names.index(name)


@checked
@dataclass(frozen=True, eq=False, repr=False)
class Fit(Record):
    """A distance as a power of the number of particles.

    Attributes
    ----------
    name : str
        The distance.
    exponent, prefactor : float
        ``prefactor * N**exponent`` runs through the means over replicas.
    low, high, standard_error : float or None
        Confidence interval and standard error of the exponent; None if there are too few values.
    curvature : float or None
        Probability of a deviation from a power at least as large as the one seen, if there is a power.
    """

    name: str
    exponent: float
    prefactor: float
    low: float | None
    high: float | None
    standard_error: float | None
    curvature: float | None


@checked
@dataclass(frozen=True, eq=False, repr=False)
class Comparison(SavedRecord):
    r"""Particles beside their mean-field limit.

    Attributes
    ----------
    problem
        The equation, with its coupling.
    particles : (S,) int
        Sizes N of the systems, increasing.
    replicas, seed : int
        Independent systems of every size, and the seed they come from.
    step, scheme
        Time step and name of the scheme of the particles.
    confidence : float
        Of all bands and intervals.
    time : (T,) float
        When the moments are compared; the distances belong to the last of them.
    moments : Means
        ``m1, s1, r1, m2, ...``: cosine and sine moments of the empirical measure and :math:`r_k = |c_k|`, for every
        size and time; ``expected``, shape (Q, T), is the equation's. On spheres ``p1, r1, p2, ...``: the moment
        about the north pole, :math:`\langle P_l(\cos\theta)\rangle`, and the length :math:`|m_l|` of all of the
        degree. The mean of a modulus is longer than the modulus of the mean, of the order :math:`N^{-1/2}` where
        that is small; so ``low`` and ``high`` of :math:`r_k` are a band for the latter, which the equation's tends
        to, and reach further down than up.
    distance_names : (P,) tuple of str
        ``w1`` and ``w2`` are the Wasserstein distances between the particles and the equation's density,
        ``w1_independent`` and ``w2_independent`` those of as many independent points of that density,
        ``c1, c2, ...`` the deviations :math:`|\hat c_k - c_k|`. On spheres ``w1_polar`` and so on are the
        Wasserstein distances between the laws of the angle from the north pole, and ``c1, c2, ...`` the lengths
        :math:`|\hat m_l - m_l|`.
    distances : (P, S, R) float
        At the last time, for every replica; nan for one that failed.
    distance_means : Means
        The same over replicas; ``expected``, shape (P, S), is the fitted power, nan without one.
    fits : tuple of Fit
        Of every distance, in their order; none with a single size.
    fluctuations : Means or None
        In the uniform phase ``fluctuation1, ...``: :math:`N |\hat c_k|^2` averaged over the times; ``expected``,
        shape (F,), is what it tends to as N grows. None elsewhere.
    outcome, warnings, provenance
        How the computation ended, what a reader must know, and where the record comes from.
    """

    problem: Equation
    particles: Integers
    replicas: int
    seed: int
    step: float
    scheme: str
    confidence: float
    time: Floats
    moments: Means
    distance_names: tuple[str, ...]
    distances: Floats
    distance_means: Means
    fits: tuple[Fit, ...]
    fluctuations: Means | None
    outcome: Outcome
    warnings: tuple[str, ...] = ()
    provenance: dict[str, Any] = field(default_factory=dict)

    @property
    def transport_names(self) -> tuple[str, ...]:
        """Names of the two Wasserstein distances among the distances."""
        return tuple(name for name in self.distance_names if name in ("w1", "w2", "w1_polar", "w2_polar"))

    def fit(self, name: str) -> Fit | None:
        """Return the fitted power of a distance, or None if it was not fitted.

        Raises
        ------
        InvalidInput
            If there is no such distance.
        """
        if name not in self.distance_names:
            raise InvalidInput(
                f"no distance is called {name!r}; {did_you_mean(name, self.distance_names)}there are "
                f"{', '.join(self.distance_names)}"
            )
        return next((fit for fit in self.fits if fit.name == name), None)

    def rows(self) -> Iterator[dict[str, Any]]:
        """Yield every mean as a table row with the keys of ``ROW_COLUMNS``; nan where a number is not known.

        A row without a time of its own has the last one.
        """
        for means in (self.moments, self.distance_means, self.fluctuations):
            if means is not None:
                yield from self._rows_of(means)

    def fit_rows(self) -> Iterator[dict[str, Any]]:
        """Yield the fitted powers as table rows with the keys of ``FIT_COLUMNS``."""
        for fit in self.fits:
            yield {name: getattr(fit, name) for name in FIT_COLUMNS}

    def summary(self) -> str:
        """Return the comparison in words and tables."""
        return "\n".join(_summary(self))

    def plot(self) -> "Figure":
        """Draw distances over N and an order parameter over time, side by side."""
        figure: Figure = self._through("plotting", "plot_comparison")
        return figure

    def plot_distances(self, ax: "Axes | None" = None) -> "Axes":
        """Draw the Wasserstein distances over N with bands and fitted powers."""
        return self._drawn("plot_distances", ax)

    def plot_moments(self, ax: "Axes | None" = None, quantity: str = "r1") -> "Axes":
        """Draw a moment over time: the equation as a line, every size with its band."""
        return self._drawn("plot_compared_moments", ax, quantity)

    def _rows_of(self, means: Means) -> Iterator[dict[str, Any]]:
        timed = means.mean.ndim == 3
        times = self.time if timed else self.time[-1:]
        for quantity, size, index in np.ndindex(len(means.names), self.particles.size, times.size):
            place = (quantity, size, index) if timed else (quantity, size)
            expected = means.expected[(quantity, index) if timed else quantity]
            yield {
                "quantity": means.names[quantity],
                "particles": int(self.particles[size]),
                "time": float(times[index]),
                "expected": float(expected[size] if np.ndim(expected) else expected),
                **{name: float(getattr(means, name)[place]) for name in BAND},
            }


def _summary(comparison: Comparison) -> Iterator[str]:
    yield describe(comparison.problem)
    yield (
        f"{comparison.replicas} replicas of {', '.join(map(str, comparison.particles))} particles to time "
        f"{comparison.time[-1]:.6g}, {comparison.scheme} with step {comparison.step:.6g}, seed {comparison.seed}"
    )
    yield str(comparison.outcome)
    yield from (
        "",
        f"At time {comparison.time[-1]:.6g}, with standard errors; of r {comparison.confidence:.0%} bands",
    )
    yield from _last_moments(comparison)
    of_angles = " of angles from the pole" if comparison.transport_names[0].endswith("polar") else ""
    yield from ("", f"Distances{of_angles} from the equation's density, and of independent points from it")
    names = [name for pair in comparison.transport_names for name in (pair, f"{pair}_independent")]
    yield from _table(comparison, comparison.distance_means, names, False)
    if comparison.fits:
        yield from ("", f"Powers of N with {comparison.confidence:.0%} intervals")
        yield from (_power(fit) for fit in comparison.fits)
    if comparison.fluctuations is not None:
        letters = "m_l" if comparison.transport_names[0].endswith("polar") else "c_k"
        yield from ("", f"Fluctuations N |{letters}|^2 over the later half of the time")
        yield from _table(comparison, comparison.fluctuations, comparison.fluctuations.names, True)
    if comparison.warnings:
        yield from ("", "Warnings", *(f"  - {warning}" for warning in comparison.warnings))


def _last_moments(comparison: Comparison) -> Iterator[str]:
    moments = comparison.moments
    letters = ("r",) if "w1" in comparison.distance_names else ("m", "r")
    chosen = tuple(name for name in moments.names if name.startswith(letters))
    last = Means(moments.names, *(getattr(moments, name)[..., -1] for name in ("expected", *BAND)))
    yield from _table(comparison, last, chosen, True)


def _table(comparison: Comparison, means: Means, names: Sequence[str], expected: bool) -> Iterator[str]:
    """Yield a table of means with standard errors, one row a size, and a last row of what is expected."""
    yield "  ".join([f"{'N':>10}", *(f"{name:>20}" for name in names)])
    rows = [means.index(name) for name in names]
    for size, particles in enumerate(comparison.particles):
        cells = (
            (_as_band if name.startswith("r") else _with_error)(means, (row, size))
            for name, row in zip(names, rows, strict=True)
        )
        yield "  ".join([f"{particles:>10}", *(f"{cell:>20}" for cell in cells)])
    if expected:
        yield "  ".join([f"{'equation':>10}", *(f"{means.expected[row]:>20.5f}" for row in rows)])


def _power(fit: Fit) -> str:
    interval = "" if fit.low is None else f"  [{fit.low:.3f}, {fit.high:.3f}]"
    return f"{fit.name:>16}  {fit.exponent:.4f}{interval}"


def _with_error(means: Means, place: tuple[int, int]) -> str:
    mean, error = means.mean[place], means.standard_error[place]
    if np.isnan(mean):
        return "-"
    return f"{mean:.5f}" if np.isnan(error) else f"{mean:.5f} +- {error:.5f}"


def _as_band(means: Means, place: tuple[int, int]) -> str:
    """Return the text of the band of a modulus, or of its mean if it has no band."""
    low, high = means.low[place], means.high[place]
    return _with_error(means, place) if np.isnan(low) else f"{low:.5f} to {high:.5f}"
