"""Colours, dashes, markers and frames.

The first six colours are those of Okabe and Ito, distinct for the colour-blind; five darker and three paler
ones follow.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ..arguments import checked
from ..errors import InvalidInput
from ..records.diagram import Diagram

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.lines import Line2D

COLOURS = (
    "#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9",
    "#5D3A9B", "#8C2D04", "#7A7A00", "#00404D", "#888888", "#F0907A", "#8CCB5E", "#B39DDB",
)  # fmt: skip
AXES_SIZE = (5.6, 3.8)
UNIFORM_COLOUR = "#000000"
# Lines and names that matter, on white.
STRONG = "0.1"
STYLES: dict[int, tuple[Any, str]] = {
    0: ("-", "stable"),
    1: ((0, (4.0, 2.0)), "unstable"),
    -1: ((0, (1.0, 1.5)), "stability not counted"),
}
MARKERS = {
    "branch point": ("o", 5.0, "branch point"),
    "fold": ("s", 4.8, "fold"),
    "Hopf": ("^", 5.2, "Hopf bifurcation"),
    "transition": ("D", 4.8, "equal free energy"),
    "endpoint": ("x", 5.2, "followed no further"),
}
# Types of special points of laws with a free energy, but for ends.
GRADIENT_TYPES = {"branch point", "fold", "transition"}


def require_degrees(degrees: Sequence[int]) -> None:
    """Refuse an empty list of degrees, and more degrees than there are colours."""
    if not 1 <= len(degrees) <= len(COLOURS):
        raise InvalidInput(
            f"one can draw from 1 to {len(COLOURS)} degrees, not {len(degrees)}; try degrees=(1, 2, 3)"
        )


def colour_of(diagram: Diagram, index: int) -> str:
    """Return the colour of a branch; the uniform one is black, the others cycle through the palette."""
    if diagram.branches[index].symmetry == 0:
        return UNIFORM_COLOUR
    clustered = [position for position, branch in enumerate(diagram.branches) if branch.symmetry != 0]
    return colour_number(clustered.index(index))


def colour_number(number: int) -> str:
    """Return the colour of the palette for a number, cyclically."""
    return COLOURS[number % len(COLOURS)]


@checked
def style_handles(*diagrams: Diagram) -> "list[Line2D]":
    """Return grey handles that explain lines and markers of diagrams, for the legend of a figure of one's own.

    Parameters
    ----------
    diagrams
        Diagrams whose types of special points are explained; by default those that a law with a free energy has.
    """
    from matplotlib.lines import Line2D

    lines = [Line2D([], [], color="0.3", linestyle=STYLES[kind][0], label=STYLES[kind][1]) for kind in (0, 1)]
    hollow: dict[str, Any] = {"color": "0.3", "linestyle": "none", "markerfacecolor": "white"}
    types = {event.type for diagram in diagrams for event in diagram.special_points} if diagrams else GRADIENT_TYPES
    located = [MARKERS[kind] for kind in MARKERS if kind in types]
    return lines + [Line2D([], [], marker=marker, label=label, **hollow) for marker, _, label in located]


def new_axes() -> "Axes":
    """Return axes on a new figure."""
    from matplotlib.figure import Figure

    return Figure(figsize=AXES_SIZE, layout="constrained").add_subplot()


def plain_frame(ax: "Axes") -> None:
    """Hide two sides of the frame and leave a margin above the curves."""
    ax.spines[["top", "right"]].set_visible(False)
    ax.tick_params(labelsize=9)
    ax.margins(y=0.12)
