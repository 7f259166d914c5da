"""Particles beside their mean-field limit: distances over N, moments over time."""

from typing import TYPE_CHECKING

import numpy as np

from ..arguments import checked
from ..records.comparison import Comparison, Fit, Integers
from .appearance import COLOURS, UNIFORM_COLOUR, colour_number, plain_frame
from .captions import caption, entitle_figure, titled_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

SYMBOLS = {"w1": "$W_1$", "w2": "$W_2$", "w1_polar": "$W_1(\\theta)$", "w2_polar": "$W_2(\\theta)$"}
INDEPENDENT = "_independent"


@checked
def plot_comparison(comparison: Comparison) -> "Figure":
    """Draw distances over N and the first order parameter over time, side by side."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9.0, 3.8), layout="constrained")
    entitle_figure(figure, caption(comparison.problem))
    left, right = figure.subplots(1, 2)
    plot_distances(comparison, left)
    plot_compared_moments(comparison, right)
    return figure


@checked
def plot_distances(comparison: Comparison, ax: "Axes | None" = None) -> "Axes":
    """Draw Wasserstein distances at the last time over N: means with confidence bands, fitted powers.

    Open markers are independent points of the equation's density, the least that any N points can reach.
    """
    ax = titled_axes(comparison.problem) if ax is None else ax
    means, sizes = comparison.distance_means, comparison.particles
    named = [(name, SYMBOLS[name]) for name in comparison.transport_names]
    for (name, symbol), colour, marker in zip(named, COLOURS, "os", strict=False):
        index = means.index(name)
        spread = np.array([means.mean[index] - means.low[index], means.high[index] - means.mean[index]])
        fit = comparison.fit(name)
        label = symbol if fit is None else f"{symbol} $\\sim$ {_power(fit)}"
        ax.errorbar(
            sizes, means.mean[index], np.nan_to_num(spread), color=colour, marker=marker, markersize=5.0,
            linestyle="none", capsize=2.5, linewidth=1.1, label=label, zorder=3.0,
        )  # fmt: skip
        if fit is not None:
            ax.plot(sizes, means.expected[index], color=colour, linewidth=1.2)
        independent = means.mean[means.index(name + INDEPENDENT)]
        ax.plot(
            sizes, independent, color=colour, marker=marker, markersize=8.0, markerfacecolor="none",
            markeredgewidth=0.9, linestyle="none", label=f"{symbol}, independent points",
        )  # fmt: skip
    _logarithmic(ax, sizes)
    ax.set_xlabel("number of particles $N$", fontsize=11)
    ax.set_ylabel(f"distance at $t = {comparison.time[-1]:.3g}$", fontsize=11)
    plain_frame(ax)
    handles, labels = ax.get_legend_handles_labels()
    order = sorted(range(len(labels)), key=lambda index: "independent" in labels[index])
    ax.legend([handles[i] for i in order], [labels[i] for i in order], frameon=False, fontsize=8)
    return ax


@checked
def plot_compared_moments(comparison: Comparison, ax: "Axes | None" = None, quantity: str = "r1") -> "Axes":
    """Draw a moment over time: the equation as a black line, the mean of every size with its confidence band.

    Raises
    ------
    InvalidInput
        If the quantity is not in the comparison.
    """
    ax = titled_axes(comparison.problem) if ax is None else ax
    moments, index = comparison.moments, comparison.moments.index(quantity)
    for size, colour in zip(range(comparison.particles.size), _shades(comparison.particles.size), strict=True):
        low, high = moments.low[index, size], moments.high[index, size]
        ax.fill_between(comparison.time, low, high, color=colour, alpha=0.25, linewidth=0.0)
        label = f"$N = {comparison.particles[size]}$"
        ax.plot(comparison.time, moments.mean[index, size], color=colour, linewidth=1.2, label=label)
    ax.plot(
        comparison.time,
        moments.expected[index],
        color=UNIFORM_COLOUR,
        linewidth=1.4,
        linestyle="--",
        label="equation",
    )
    ax.set_xlabel("time $t$", fontsize=11)
    ax.set_ylabel(f"${quantity[0]}_{{{quantity[1:]}}}$", fontsize=11)
    ax.set_xlim(comparison.time[0], comparison.time[-1])
    plain_frame(ax)
    ax.legend(frameon=False, fontsize=8)
    return ax


def _power(fit: Fit) -> str:
    if fit.low is None or fit.high is None:
        return f"$N^{{{fit.exponent:.3f}}}$"
    return f"$N^{{{fit.exponent:.3f} \\pm {0.5 * (fit.high - fit.low):.3f}}}$"


def _shades(count: int) -> list[str]:
    """Return a colour for every size."""
    return [colour_number(index) for index in range(count)]


def _logarithmic(ax: "Axes", sizes: Integers) -> None:
    """Label the sizes themselves, which seldom are powers of ten, and enough values in less than a decade."""
    from matplotlib.ticker import LogLocator, NullLocator, StrMethodFormatter

    ax.set(xscale="log", yscale="log")
    ax.set_xticks(sizes, [str(size) for size in sizes])
    ax.xaxis.set_minor_locator(NullLocator())
    ax.yaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
    ax.yaxis.set_major_formatter(StrMethodFormatter("{x:g}"))
    ax.yaxis.set_minor_locator(NullLocator())
