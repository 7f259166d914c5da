"""The records of results: plain arrays with names, to be saved, exported, plotted and summarised."""

from .comparison import Comparison as Comparison
from .comparison import Fit as Fit
from .comparison import Means as Means
from .contraction import QUANTITIES as QUANTITIES
from .contraction import Contraction as Contraction
from .contraction import QuantityRate as QuantityRate
from .diagram import Branch as Branch
from .diagram import Diagram as Diagram
from .diagram import SpecialPoint as SpecialPoint
from .diagram import state_at as state_at
from .ensemble import Ensemble as Ensemble
from .observables import DISSIPATION as DISSIPATION
from .observables import ENERGY_DISSIPATION as ENERGY_DISSIPATION
from .observables import ENERGY_GAP as ENERGY_GAP
from .observables import FREE_ENERGY_GAP as FREE_ENERGY_GAP
from .observables import ORDER_DEFICIT as ORDER_DEFICIT
from .observables import Observables as Observables
from .observables import observable_named as observable_named
from .outcome import Outcome as Outcome
from .relaxation import NORMS as NORMS
from .relaxation import RateFit as RateFit
from .relaxation import Relaxation as Relaxation
from .state import Spectrum as Spectrum
from .state import State as State
from .state import StationaryStates as StationaryStates
from .trajectory import Trajectory as Trajectory
