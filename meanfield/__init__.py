"""Mean-field limits on the circle: problems, closed-form theory and the records of results.

Names are loaded on first use, so that the command line starts before numpy does.
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .diagrams import Branch as Branch
    from .diagrams import Diagram as Diagram
    from .diagrams import SpecialPoint as SpecialPoint
    from .domains import Circle as Circle
    from .errors import ComputationFailed as ComputationFailed
    from .errors import InvalidInput as InvalidInput
    from .errors import MeanfieldError as MeanfieldError
    from .errors import NotResolved as NotResolved
    from .outcomes import Outcome as Outcome
    from .potentials import CosineSeries as CosineSeries
    from .potentials import Custom as Custom
    from .potentials import HegselmannKrause as HegselmannKrause
    from .potentials import KellerSegel as KellerSegel
    from .potentials import Kuramoto as Kuramoto
    from .potentials import Logarithmic as Logarithmic
    from .potentials import Onsager as Onsager
    from .potentials import Potential as Potential
    from .potentials import Transformer as Transformer
    from .potentials import potential_from as potential_from
    from .problem import McKeanVlasov as McKeanVlasov
    from .states import Spectrum as Spectrum
    from .states import State as State

_HOMES = {
    "Branch": "diagrams",
    "Diagram": "diagrams",
    "SpecialPoint": "diagrams",
    "Circle": "domains",
    "ComputationFailed": "errors",
    "InvalidInput": "errors",
    "MeanfieldError": "errors",
    "NotResolved": "errors",
    "Outcome": "outcomes",
    "CosineSeries": "potentials",
    "Custom": "potentials",
    "HegselmannKrause": "potentials",
    "KellerSegel": "potentials",
    "Kuramoto": "potentials",
    "Logarithmic": "potentials",
    "Onsager": "potentials",
    "Potential": "potentials",
    "Transformer": "potentials",
    "potential_from": "potentials",
    "McKeanVlasov": "problem",
    "Spectrum": "states",
    "State": "states",
}

__all__ = [
    "Branch",
    "Circle",
    "ComputationFailed",
    "CosineSeries",
    "Custom",
    "Diagram",
    "HegselmannKrause",
    "InvalidInput",
    "KellerSegel",
    "Kuramoto",
    "Logarithmic",
    "McKeanVlasov",
    "MeanfieldError",
    "NotResolved",
    "Onsager",
    "Outcome",
    "Potential",
    "SpecialPoint",
    "Spectrum",
    "State",
    "Transformer",
    "potential_from",
]


def __getattr__(name: str) -> Any:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(importlib.import_module(f".{home}", __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
