"""The layout of the moments stored in a file."""

from collections.abc import Mapping
from typing import Any, cast, get_args

from ..domains import Domain
from ..errors import InvalidInput
from ..harmonics import Layout, Modes, modes_of


def layout_of(values: Mapping[str, Any]) -> Layout:
    """Return the layout of stored moments; files from before there was a choice have them by degree.

    Raises
    ------
    InvalidInput
        If it is none that is known.
    """
    layout = values.get("layout", "degree")
    if layout not in get_args(Layout):
        known = " or ".join(map(repr, get_args(Layout)))
        raise InvalidInput(f"the layout of its moments must be {known}, not {layout!r}")
    return cast(Layout, str(layout))


def check_layout(layout: Layout, domain: Domain, places: int, what: str) -> Modes:
    """Return the modes of stored moments, refusing a layout that their domain or number does not admit.

    Parameters
    ----------
    places
        The number of moments.
    what
        What has them, in words.

    Raises
    ------
    InvalidInput
        If they are by order and not on the ordinary sphere, or not of a whole number of degrees.
    """
    modes = modes_of(domain, layout)
    modes.check_number(places, what)
    return modes
