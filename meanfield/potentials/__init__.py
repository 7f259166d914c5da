r"""All potentials, and their lookup by name.

==================  =============================  =============================  ================================
class               W(t), t the angle              w_k on the circle, k >= 1      w_l on the sphere in d dimensions
==================  =============================  =============================  ================================
Transformer         -(1/beta) exp(beta cos t)      -(2/beta) I_k(beta)            Bessel functions I_(l+d/2-1)
Kuramoto            -cos t                         -1 for k = 1, else 0           the same
MaierSaupe          -cos(t)^2                      -1/2 for k = 2, else 0         -(d-1)/d for l = 2, else 0
ArcCosine           ((pi-t) cos t + sin t)/(4 pi)  2/(pi (k^2-1))^2, k even       refused
Onsager             abs(sin t)                     -(4/pi)/(k^2-1), k even        recurrence, l even
CosineSeries        sum_k w_k cos kt               as given                       exact conversion
GegenbauerSeries    sum_l w_l P_l(cos t)           as given, dimension 2          as given, its own dimension
HegselmannKrause    -(1/2) (R - abs(t))_+^2        -(2/pi)(kR - sin kR)/k^3       quadrature, d <= 4
Logarithmic         +- log abs(2 sin(t/2))         -+ 1/k                         -+ (1/l + 1/(l+d-2))/2
KellerSegel         -G, (s^2 - d^2/dt^2) G = delta -(1/pi)/(k^2 + s^2)            refused
Custom              one's own                      quadrature                     quadrature
External            confinement without symmetry   and coefficients of sines      of even ones
Perceptron          confinement by neurons         and coefficients of sines      any direction, d = 3, or poles
HarmonicSeries      confinement without an axis    refused                        by degree and order, d = 3
Combination         sums and multiples of these    sums                           sums
==================  =============================  =============================  ================================

A package adds its own through an entry point of the group ``meanfield.potentials`` whose name is the
potential's and whose object is the class.
"""

from .arrays import Array, Number
from .attention import Transformer
from .confidence import HegselmannKrause
from .custom import Custom
from .derived import Derived as Derived
from .expressions import compiled as compiled
from .expressions import names_in as names_in
from .external import External
from .green import KellerSegel, Logarithmic
from .harmonic import HarmonicSeries
from .models import Kuramoto, MaierSaupe, Onsager
from .neurons import ArcCosine
from .parametric import LEAST_VALUE as LEAST_VALUE
from .parametric import interpolated_in as interpolated_in
from .parametric import keeping as keeping
from .parametric import require_named as require_named
from .parametric import values_of as values_of
from .perceptron import ACTIVATIONS, Perceptron
from .protocol import Combination, Potential
from .registry import COMPOSED, POTENTIALS, known_potentials, potential_class, potential_from
from .sums import CosineSeries, GegenbauerSeries

__all__ = [
    "ACTIVATIONS",
    "POTENTIALS",
    "ArcCosine",
    "Array",
    "Combination",
    "CosineSeries",
    "Custom",
    "External",
    "GegenbauerSeries",
    "HarmonicSeries",
    "HegselmannKrause",
    "KellerSegel",
    "Kuramoto",
    "Logarithmic",
    "MaierSaupe",
    "Number",
    "Onsager",
    "Perceptron",
    "Potential",
    "Transformer",
    "known_potentials",
    "potential_class",
    "potential_from",
]

COMPOSED.update((kind.name, kind) for kind in (Combination, External, HarmonicSeries, Perceptron))
POTENTIALS.update(
    (kind.name, kind)
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
        ArcCosine,
        Custom,
    )
)
