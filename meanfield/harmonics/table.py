"""The table of the modes of every domain."""

from collections.abc import Callable
from typing import Any, get_args

from ..arguments import shown
from ..domains import Circle, Domain, Sphere
from ..errors import InvalidInput
from .circle import CircleModes
from .full import SphereModes
from .modes import Floats, Layout, Modes
from .packing import packed
from .zonal import ZonalModes

_BY_DEGREE: dict[str, Callable[[Any], Modes]] = {Circle.name: lambda _: CircleModes(), Sphere.name: ZonalModes}


def modes_of(domain: Domain, layout: str = "degree") -> Modes:
    """Return the modes of a domain, with moments by degree or by degree and order.

    Raises
    ------
    InvalidInput
        If there is no such layout, or the domain has none by order.
    """
    if layout not in get_args(Layout):
        known = " or ".join(map(repr, get_args(Layout)))
        raise InvalidInput(f"the layout of moments must be {known}, not {shown(layout)}")
    if layout == "order":
        if not domain.has_azimuth:
            raise InvalidInput(
                f"moments by degree and order, which they are not on {domain.in_words}, belong to Sphere(3); use "
                "layout='degree'"
            )
        return SphereModes()
    return _BY_DEGREE[domain.name](domain)


def in_layout(layout: Layout, modes: Modes, cosine: Floats, sine: Floats) -> tuple[Floats, Floats] | None:
    """Return moments in a layout of their domain, None where it has no place for all of them."""
    if modes.layout == layout:
        return cosine, sine
    return None if modes.angles > 1 else (packed(cosine), packed(sine))
