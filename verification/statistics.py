r"""Means with confidence bands from independent replicas, and fitted powers with confidence intervals.

Replicas are independent, so that Student's distribution applies to their mean. A distance that shrinks like a
power of N keeps the shape of its distribution, hence the logarithms of all replicas scatter equally about one
straight line over log N: unweighted regression of all of them is the efficient one, and its interval counts every
replica, not the few sizes. Whether it is a straight line at all is tested against the scatter among replicas of
one size.

The modulus of an empirical moment is at least of the order :math:`N^{-1/2}` of its fluctuations, whatever the
moment of the equation; so its mean says nothing about a smaller one. The band of :func:`modulus_band` is for the
modulus of the mean instead. From above the mean modulus bounds it, from below the modulus of the mean vector. Where
rotations decorrelate the replicas the latter falls, and there is another lower bound, the smaller one of two.
Fluctuations alike in n directions leave of the squares q of the moduli, by the moments of a Gaussian vector about a
mean of modulus r,

.. math:: r^4 = (\mathrm E\, q)^2 - \tfrac n2 \mathrm{Var}\, q ,

which is too little where mostly the component along the mean fluctuates. Those of N particles across the mean, a
square of 1/N at most if they are independent, make the modulus longer by 1/(2 N r) at most; twice that is taken
off.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import fdtrc, stdtrit

from meanfield import InvalidInput

Floats = NDArray[np.float64]

CONFIDENCE = 0.95
# Replicas from which the fluctuations of squares are known.
LEAST_SQUARES = 8


@dataclass(frozen=True, eq=False)
class Band:
    """A mean over replicas with its standard error and its confidence band, arrays of one shape.

    Standard error and band are nan if there is one replica only, the mean if there is none.
    """

    mean: Floats
    standard_error: Floats
    low: Floats
    high: Floats


@dataclass(frozen=True)
class PowerLaw:
    """A fitted power law ``prefactor * size**exponent``.

    Attributes
    ----------
    exponent : float
        Slope of the regression of logarithms.
    standard_error : float or None
        Of the exponent; None with as many values as parameters.
    interval : (low, high) or None
        Confidence interval of the exponent.
    prefactor : float
        ``prefactor * size**exponent`` runs through the means.
    curvature : float or None
        Probability of a deviation from a straight line at least as large as the one seen, if it were one; None
        if there are fewer than three sizes or one replica.
    """

    exponent: float
    standard_error: float | None
    interval: tuple[float, float] | None
    prefactor: float
    curvature: float | None


def student(confidence: float, freedom: int) -> float:
    """Return the half width of a two-sided confidence interval in standard errors.

    Raises
    ------
    InvalidInput
        If the confidence is not between 0 and 1.
    """
    return float(stdtrit(freedom, 0.5 * (1.0 + _checked(confidence))))


def band(values: Floats, confidence: float = CONFIDENCE) -> Band:
    """Return the mean over the first axis, replicas, with its band; shape (R, ...) gives arrays (...).

    Replicas that are missing are nan and left out.
    """
    known = ~np.isnan(values)
    count = known.sum(axis=0)
    mean = _ratio(values.sum(axis=0, where=known), count)
    squares = ((values - mean) ** 2).sum(axis=0, where=known)
    error = np.sqrt(_ratio(squares, count * (count - 1)))
    half = stdtrit(np.maximum(count - 1, 1), 0.5 * (1.0 + _checked(confidence))) * error
    return Band(mean, error, mean - half, mean + half)


def modulus_band(
    vectors: Floats, moduli: Floats, dimensions: int, confidence: float = CONFIDENCE, turning: int | None = None
) -> Band:
    """Return the mean modulus of random vectors, with a confidence band for the modulus of their mean.

    Parameters
    ----------
    vectors : (R, ..., m) float
        Components over replicas, all or some of them; nan where a replica is missing.
    moduli : (R, ...) float
        The moduli.
    dimensions
        Number of components of the vectors.
    turning
        Number of particles of which the vectors are moments, if each replica is rotated independently.

    Returns
    -------
    Band
        Mean and standard error are those of the moduli. The band contains the modulus of the mean vector, that of
        the vectors without their rotations if they are turned, with about the confidence or more.
    """
    found, components = band(moduli, confidence), band(vectors, confidence)
    # |mean - expectation| is below this with the confidence of one side, in any number of dimensions.
    half = np.sqrt(((components.high - components.mean) ** 2).sum(axis=-1))
    low = np.sqrt((components.mean**2).sum(axis=-1)) - half
    if turning is not None:
        with np.errstate(divide="ignore"):
            across = found.low - 1.0 / (turning * found.mean)
        low = np.fmax(low, np.minimum(across, _without_fluctuations(moduli**2, dimensions, confidence)))
    unknown = np.isnan(found.standard_error)
    low = np.where(unknown, np.nan, np.clip(low, 0.0, found.mean))
    return Band(found.mean, found.standard_error, low, found.high)


def _without_fluctuations(squares: Floats, dimensions: int, confidence: float) -> Floats:
    """Return the lower end of the band of r by the jackknife of r^4; nan if there are too few replicas."""
    known = ~np.isnan(squares)
    count = known.sum(axis=0).astype(float)
    first, second = squares.sum(axis=0, where=known), (squares**2).sum(axis=0, where=known)
    sums = [(first, second, count), (first - squares, second - squares**2, count - 1.0)]
    with np.errstate(divide="ignore", invalid="ignore"):
        powers = [(one / n) ** 2 - 0.5 * dimensions * (two - one**2 / n) / (n - 1.0) for one, two, n in sums]
        each = powers[1] - powers[1].mean(axis=0, where=known)
        error = np.sqrt((count - 1.0) / count * (each**2).sum(axis=0, where=known))
    half = stdtrit(np.maximum(count - 1.0, 1.0), 0.5 * (1.0 + _checked(confidence))) * error
    return np.where(count >= LEAST_SQUARES, np.maximum(powers[0] - half, 0.0) ** 0.25, np.nan)


def _ratio(numerator: Floats, count: NDArray[np.int64]) -> Floats:
    """Return numerator over count, nan where the count is 0."""
    unknown = np.full(np.shape(numerator), np.nan)
    return np.asarray(np.divide(numerator, count, out=unknown, where=np.asarray(count) > 0))


def power_law(sizes: Floats, values: Floats, confidence: float = CONFIDENCE) -> PowerLaw | None:
    """Return the fit of a power of the size to positive values (S, R), nan where a replica is missing.

    Returns
    -------
    PowerLaw or None
        None if fewer than two sizes have values.
    """
    known = np.isfinite(values) & (values > 0)
    groups = [np.log(row[mask]) for row, mask in zip(values, known, strict=True) if mask.any()]
    if len(groups) < 2:
        return None
    x = np.log(sizes)[np.nonzero(known)[0]]
    y = np.concatenate(groups)
    centred = x - x.mean()
    spread = float(centred @ centred)
    slope = float(centred @ y) / spread
    level = float(y.mean() - slope * x.mean())
    residual = float(((y - level - slope * x) ** 2).sum())
    scatter = float(sum(((group - group.mean()) ** 2).sum() for group in groups))
    error = np.sqrt(residual / (y.size - 2) / spread) if y.size > 2 else None
    interval = None
    if error is not None:
        half = student(confidence, y.size - 2) * float(error)
        interval = (slope - half, slope + half)
    return PowerLaw(
        exponent=slope,
        standard_error=None if error is None else float(error),
        interval=interval,
        prefactor=_prefactor(sizes, values, known, slope),
        curvature=_lack_of_fit(residual, scatter, len(groups), y.size),
    )


def _prefactor(sizes: Floats, values: Floats, known: NDArray[np.bool_], exponent: float) -> float:
    """Return the factor of a power through the means of the sizes, each counting as its replicas."""
    counts = known.sum(axis=1)
    means = _ratio(np.where(known, values, 0.0).sum(axis=1), counts)
    there = counts > 0
    levels = np.log(means[there]) - exponent * np.log(sizes[there])
    return float(np.exp(levels @ counts[there] / counts.sum()))


def _checked(confidence: float) -> float:
    if not 0.0 < confidence < 1.0:
        raise InvalidInput(f"a confidence is between 0 and 1, not {confidence!r}; try 0.95")
    return confidence


def _lack_of_fit(residual: float, scatter: float, groups: int, values: int) -> float | None:
    """Return the probability of the F statistic of a straight line against the means of the groups."""
    if groups < 3 or values <= groups or scatter == 0.0:
        return None
    between = max(residual - scatter, 0.0) / (groups - 2)
    return float(fdtrc(groups - 2, values - groups, between / (scatter / (values - groups))))
