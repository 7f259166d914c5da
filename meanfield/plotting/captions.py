"""Captions of figures in one line: potential, domain, noise, coupling and confinement."""

import math
import re
import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ..arguments import checked
from ..equations import Equation
from ..records.columns import COUPLING
from ..records.diagram import Diagram
from ..wording import number_in_words, parts_over, potential_in_words
from .appearance import AXES_SIZE
from .quantities import parameter_symbol

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

FONT_SIZE = 8
COLOUR = "0.35"
# Characters of that size in an inch, mathematics counted as it is written.
CHARACTERS = 15.0
GREEK = re.compile(r"\b(beta|kappa)\b = ([^,)]+)")
GROUP = re.compile(r"\b([CDST])_(\w+)")


@checked
def caption(problem: Equation) -> str:
    r"""Return the caption of a problem, such as ``transformer ($\beta=5$) on the circle, $D=1$``."""
    return joined(caption_parts(problem))


def caption_parts(problem: Equation) -> tuple[str, ...]:
    """Return potential, domain, noise and, where there are any, coupling and confinement."""
    parts = [
        _symbols(potential_in_words(problem.law)),
        f"on {problem.domain.in_words}",
        f"$D={problem.noise:.6g}$",
    ]
    if problem.coupling is not None:
        parts.append(rf"$\kappa={number_in_words(problem.coupling, 6)}$")
    if problem.confinement is not None:
        parts.append(f"confinement {_symbols(potential_in_words(problem.confinement))}")
    return tuple(parts)


def diagram_parts(diagram: Diagram) -> tuple[str, ...]:
    """Return the caption of a diagram in parts, without the value of the parameter that varies."""
    if diagram.parameter == COUPLING:
        return caption_parts(diagram.problem.at(coupling=None))
    return caption_parts_over(diagram.problem, diagram.parameter, diagram.interval)


def caption_parts_over(problem: Equation, parameter: str, interval: tuple[Any, Any]) -> tuple[str, ...]:
    """Return the parts of the caption of a problem without the value of a parameter that varies."""
    return tuple(parts_over(caption_parts, problem, parameter, interval, parameter_symbol(parameter)))


def joined(parts: Sequence[str]) -> str:
    """Return parts of a caption joined by commas, the domain to the potential without one."""
    return ", ".join(parts).replace(", on ", " on ", 1)


def branch_name(label: str) -> str:
    """Return the name of a branch with groups such as D_4h as they are printed."""
    return GROUP.sub(r"$\1_{\2}$", label)


def fitted(text: str, width: float) -> str:
    """Return a text, broken into lines if it is longer than a width in inches."""
    return textwrap.fill(text, max(20, int(CHARACTERS * width)), break_long_words=False, break_on_hyphens=False)


def width_of(ax: "Axes") -> float:
    """Return the width in inches for a title above axes, somewhat more than their own."""
    figure = ax.get_figure(root=True)
    return 6.0 if figure is None else 1.2 * float(ax.get_window_extent().width) / figure.dpi


@checked
def entitle_figure(figure: "Figure", text: str) -> None:
    """Write a discreet title above all axes of a figure."""
    figure.suptitle(fitted(text, 0.95 * figure.get_figwidth()), fontsize=FONT_SIZE, color=COLOUR)


def titled_axes(problem: Equation, name: str = "", size: tuple[float, float] = AXES_SIZE) -> "Axes":
    """Return axes on a new figure with a problem as title, behind the name of a state if one is given."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=size, layout="constrained")
    entitle_figure(figure, f"{branch_name(name)}: {caption(problem)}" if name else caption(problem))
    return figure.add_subplot()


def _symbols(text: str) -> str:
    """Return words with Greek parameters as symbols, and no character that would begin mathematics."""
    return GREEK.sub(r"$\\\1=\2$", text.replace("$", r"\$"))


def legend_above(ax: "Axes", handles: Sequence[Any], row: int, title: str) -> None:
    """Put a legend in rows of at most so many entries above axes, below a caption: fewer if it were too wide."""
    figure, rows = ax.get_figure(root=True), max(1, math.ceil(len(handles) / row))
    for columns in range(max(1, math.ceil(len(handles) / rows)), 0, -1):
        legend = ax.legend(
            handles=handles,
            frameon=False,
            fontsize=FONT_SIZE,
            handlelength=2.4,
            columnspacing=1.4,
            loc="lower center",
            bbox_to_anchor=(0.5, 1.0),
            ncols=columns,
            title=fitted(title, width_of(ax)),
            title_fontproperties={"size": FONT_SIZE},
        )
        if figure is None or legend.get_window_extent().width <= width_of(ax) * figure.dpi:
            break
    legend.get_title().set(color=COLOUR, multialignment="center")
