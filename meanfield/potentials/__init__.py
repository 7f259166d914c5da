r"""All potentials under one roof, and how to find one by name.

==================  =============================  =============================  ================================
class               W(t), t the angle              w_k on the circle, k >= 1      w_l on the sphere in d dimensions
==================  =============================  =============================  ================================
Transformer         -(1/beta) exp(beta cos t)      -(2/beta) I_k(beta)            Bessel functions I_(l+d/2-1)
Kuramoto            -cos t                         -1 for k = 1, else 0           the same
MaierSaupe          -cos(t)^2                      -1/2 for k = 2, else 0         -(d-1)/d for l = 2, else 0
Onsager             abs(sin t)                     -(4/pi)/(k^2-1), k even        recurrence, l even
CosineSeries        sum_k w_k cos kt               as given                       exact conversion
GegenbauerSeries    sum_l w_l P_l(cos t)           as given, dimension 2          as given, its own dimension
HegselmannKrause    -(1/2) (R - abs(t))_+^2        -(2/pi)(kR - sin kR)/k^3       quadrature, d <= 4
Logarithmic         +- log abs(2 sin(t/2))         -+ 1/k                         -+ (1/l + 1/(l+d-2))/2
KellerSegel         -G, (s^2 - d^2/dt^2) G = delta -(1/pi)/(k^2 + s^2)            refused
Custom              one's own                      quadrature                     quadrature
Combination         sums and multiples of these    sums                           sums
==================  =============================  =============================  ================================

A package adds its own through an entry point of the group ``meanfield.potentials`` whose name is the
potential's and whose object is the class.
"""

from collections.abc import Mapping
from typing import Any

from ..arguments import checked
from ..errors import InvalidInput, did_you_mean
from .attention import Transformer
from .combination import Combination
from .confidence import HegselmannKrause
from .custom import Custom
from .green import KellerSegel, Logarithmic
from .models import Kuramoto, MaierSaupe, Onsager
from .protocol import Array, Number, Potential
from .sums import CosineSeries, GegenbauerSeries

__all__ = [
    "POTENTIALS",
    "Array",
    "Combination",
    "CosineSeries",
    "Custom",
    "GegenbauerSeries",
    "HegselmannKrause",
    "KellerSegel",
    "Kuramoto",
    "Logarithmic",
    "MaierSaupe",
    "Number",
    "Onsager",
    "Potential",
    "Transformer",
    "known_potentials",
    "potential_class",
    "potential_from",
]

ENTRY_POINT_GROUP = "meanfield.potentials"

POTENTIALS: dict[str, type[Potential]] = {
    kind.name: kind
    for kind in (
        Transformer,
        Kuramoto,
        MaierSaupe,
        Onsager,
        CosineSeries,
        GegenbauerSeries,
        HegselmannKrause,
        Logarithmic,
        KellerSegel,
        Custom,
    )
}

# The Kuramoto model on a sphere goes by the number of components of its spins.
ALIASES = {"o-n": Kuramoto.name}


def known_potentials() -> list[str]:
    """Return the sorted names of the built-in and the installed potentials."""
    return sorted({*POTENTIALS, *(entry.name for entry in _entry_points())})


def potential_class(name: str) -> type[Potential]:
    """Return the class registered under a name.

    Raises
    ------
    InvalidInput
        If there is none; the message suggests the nearest names and lists all.
    """
    name = ALIASES.get(name, name)
    if name in POTENTIALS:
        return POTENTIALS[name]
    for entry in _entry_points():
        if entry.name == name:
            return _loaded(entry)
    known = known_potentials()
    hint = did_you_mean(str(name), known, most=2)
    raise InvalidInput(f"unknown potential {name!r}; {hint}known potentials: {', '.join(known)}")


@checked
def potential_from(name: str, parameters: Mapping[str, Any]) -> Potential:
    """Build a potential from its name and the dictionary its ``parameters()`` returns.

    Raises
    ------
    InvalidInput
        If the name is unknown or the parameters do not fit the class.
    """
    kind = Combination if name == Combination.name else potential_class(name)
    try:
        return kind(**parameters)
    except TypeError as error:
        given = ", ".join(sorted(map(str, parameters))) or "none"
        raise InvalidInput(
            f"the potential {name!r} does not take the parameters given ({given}): {error}"
        ) from error


def _entry_points() -> Any:
    from importlib.metadata import entry_points

    return entry_points(group=ENTRY_POINT_GROUP)


def _loaded(entry: Any) -> type[Potential]:
    try:
        kind: type[Potential] = entry.load()
    except Exception as error:
        raise InvalidInput(
            f"the potential {entry.name!r} is registered by an installed package but does not load: {error}"
        ) from error
    return kind
