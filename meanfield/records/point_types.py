"""The types of special points, and the names they have in records, files and the literature."""

import re
from typing import Literal

from ..arguments import shown
from ..errors import InvalidInput, did_you_mean

PointType = Literal["branch point", "fold", "Hopf", "transition", "endpoint"]
# The names of the types, the abbreviation first.
POINT_NAMES: dict[PointType, tuple[str, ...]] = {
    "branch point": ("bp", "branching point", "bifurcation", "bifurcation point"),
    "fold": ("lp", "limit point", "turning point", "saddle node", "sn", "fold point", "fold bifurcation"),
    "Hopf": ("hb", "hopf point", "hopf bifurcation", "andronov hopf", "poincare andronov hopf"),
    "transition": ("tr", "equal free energy", "point of equal free energy", "transition point", "phase transition"),
    "endpoint": ("ep", "end point", "end"),
}


def point_type(name: str) -> PointType:
    """Return the type of special points for a name used in records, files, the summary or the literature.

    Raises
    ------
    InvalidInput
        If it means none.
    """
    names = {other: kind for kind, others in POINT_NAMES.items() for other in (kind, *others)}
    types = {name.lower(): kind for name, kind in names.items()}
    words = " ".join(re.split(r"[\s_-]+", name.strip().lower())) if isinstance(name, str) else ""
    for singular in (words, words.removesuffix("s"), re.sub("ies$", "y", words)):
        if singular in types:
            return types[singular]
    known = ", ".join(f"{kind!r} ({others[0].upper()})" for kind, others in POINT_NAMES.items())
    raise InvalidInput(f"no special point is called {shown(name)}; {did_you_mean(words, names)}there are {known}")
