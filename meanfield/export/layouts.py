"""Stored moments: what a file says that they mean."""

from collections.abc import Mapping
from typing import Any, cast, get_args

from ..domains import Domain
from ..errors import InvalidInput
from ..harmonics import Layout, modes_of


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
    modes_of(domain, layout).check_number(places, what)
