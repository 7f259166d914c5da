"""Mean-field limits on the circle: problems, closed-form theory and the records of results."""

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
