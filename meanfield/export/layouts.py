"""What stored moments mean: by degree, or by degree and order; their names, and the check of what a file says."""

from collections.abc import Mapping
from typing import Any, cast, get_args

from ..domains import Circle, Domain, Sphere
from ..errors import InvalidInput
from ..harmonics import largest_degree, place
from ..states import Layout

# Of cosine and sine moments.
MOMENTS_ON_CIRCLE = ("cosine moment of the density", "sine moment of the density")
MOMENTS_BY_DEGREE = ("moment of the density with P_l", "zero: about an axis there is one moment a degree")
MOMENTS_BY_ORDER = ("moment of the density with e^c_lm", "moment of the density with e^s_lm")


def moment_words(domain: Domain, layout: Layout) -> tuple[str, str]:
    """Return what the arrays ``cosine`` and ``sine`` hold."""
    if isinstance(domain, Circle):
        return MOMENTS_ON_CIRCLE
    return MOMENTS_BY_ORDER if layout == "order" else MOMENTS_BY_DEGREE


def moment_names(domain: Domain, layout: Layout, places: int) -> tuple[list[str], list[str]]:
    """Return names from place 1 on: m1 ... and s1 ..., about an axis p1 ..., by order c_1_0 ... and s_1_0 ...."""
    if layout == "degree":
        letter = "m" if isinstance(domain, Circle) else "p"
        return [f"{letter}{degree}" for degree in range(1, places)], [f"s{degree}" for degree in range(1, places)]
    pairs = [(degree, order) for degree in range(largest_degree(places) + 1) for order in range(degree + 1)][1:]
    return [f"c_{degree}_{order}" for degree, order in pairs], [f"s_{degree}_{order}" for degree, order in pairs]


def layout_of(values: Mapping[str, Any]) -> Layout:
    """Return the layout of stored moments; files from before there was a choice have them by degree.

    Raises
    ------
    InvalidInput
        If it is none that is known.
    """
    layout = values.get("layout", "degree")
    if str(layout) not in get_args(Layout):
        known = " or ".join(map(repr, get_args(Layout)))
        raise InvalidInput(f"the layout of its moments must be {known}, not {layout!r}")
    return cast(Layout, str(layout))


def check_layout(layout: Layout, domain: Domain, places: int, what: str) -> None:
    """Refuse moments by order that are not on the ordinary sphere or not of a whole number of degrees.

    Parameters
    ----------
    places
        The number of moments.
    what
        What has them, in words.

    Raises
    ------
    InvalidInput
        If that is so.
    """
    if layout == "degree":
        return
    if domain != Sphere(3):
        space = "the circle" if isinstance(domain, Circle) else f"the sphere of dimension {domain.dimension}"
        raise InvalidInput(f"the moments of {what} are by degree and order, which they are not on {space}")
    if places < 1 or place(largest_degree(places), 0) + largest_degree(places) + 1 != places:
        raise InvalidInput(
            f"the moments of {what} are by degree and order and {places} in number, which is no whole number of "
            "degrees: 1, 3, 6, 10, ..."
        )
