"""Mean-field limits on the circle and the sphere: problems, closed-form theory and the records of results.

Names are loaded on first use, so that the command line starts before numpy does.
"""

from typing import TYPE_CHECKING

from .lazy import on_first_use

if TYPE_CHECKING:
    from .domains import Circle as Circle
    from .domains import Domain as Domain
    from .domains import Sphere as Sphere
    from .energy import FreeEnergy as FreeEnergy
    from .energy import dissipation as dissipation
    from .energy import first_variation as first_variation
    from .energy import free_energy_parts as free_energy_parts
    from .energy import second_variation as second_variation
    from .equations import CommonFrequency as CommonFrequency
    from .equations import ContinuityEquation as ContinuityEquation
    from .equations import CustomVelocity as CustomVelocity
    from .equations import DepthScaled as DepthScaled
    from .equations import Equation as Equation
    from .equations import McKeanVlasov as McKeanVlasov
    from .equations import NormalisedAttention as NormalisedAttention
    from .equations import PhaseLag as PhaseLag
    from .equations import SoftmaxAttention as SoftmaxAttention
    from .equations import VelocityLaw as VelocityLaw
    from .equations import equation_from as equation_from
    from .equations import two_layer as two_layer
    from .errors import ComputationFailed as ComputationFailed
    from .errors import InvalidInput as InvalidInput
    from .errors import MeanfieldError as MeanfieldError
    from .errors import NotResolved as NotResolved
    from .export import open_diagram as open_diagram
    from .export.comparisons import open_comparison as open_comparison
    from .export.contractions import open_contraction as open_contraction
    from .export.curves import open_curve as open_curve
    from .export.curves import open_phase_diagram as open_phase_diagram
    from .export.ensembles import open_ensemble as open_ensemble
    from .export.sweeps import open_sweep as open_sweep
    from .export.trajectories import open_trajectory as open_trajectory
    from .potentials import ArcCosine as ArcCosine
    from .potentials import Combination as Combination
    from .potentials import CosineSeries as CosineSeries
    from .potentials import Custom as Custom
    from .potentials import External as External
    from .potentials import GegenbauerSeries as GegenbauerSeries
    from .potentials import HarmonicSeries as HarmonicSeries
    from .potentials import HegselmannKrause as HegselmannKrause
    from .potentials import KellerSegel as KellerSegel
    from .potentials import Kuramoto as Kuramoto
    from .potentials import Logarithmic as Logarithmic
    from .potentials import MaierSaupe as MaierSaupe
    from .potentials import Number as Number
    from .potentials import Onsager as Onsager
    from .potentials import Perceptron as Perceptron
    from .potentials import Potential as Potential
    from .potentials import Transformer as Transformer
    from .potentials import potential_from as potential_from
    from .records.branch import Branch as Branch
    from .records.branch import SpecialPoint as SpecialPoint
    from .records.comparison import Comparison as Comparison
    from .records.contraction import Contraction as Contraction
    from .records.contraction import QuantityRate as QuantityRate
    from .records.curves import Curve as Curve
    from .records.curves import CurvePoint as CurvePoint
    from .records.curves import OrganisingPoint as OrganisingPoint
    from .records.diagram import Diagram as Diagram
    from .records.ensemble import Ensemble as Ensemble
    from .records.ensemble import Estimate as Estimate
    from .records.flow_map import FlowMap as FlowMap
    from .records.outcome import Outcome as Outcome
    from .records.phase_diagram import PhaseDiagram as PhaseDiagram
    from .records.phase_diagram import Region as Region
    from .records.point_types import PointType as PointType
    from .records.relaxation import RateFit as RateFit
    from .records.relaxation import Relaxation as Relaxation
    from .records.state import Spectrum as Spectrum
    from .records.state import State as State
    from .records.sweep import Sweep as Sweep
    from .records.trajectory import Trajectory as Trajectory
    from .theory import BranchShape as BranchShape
    from .theory import CriticalPoint as CriticalPoint
    from .theory import GlobalCriterion as GlobalCriterion
    from .theory import Resonance as Resonance
    from .theory import branch_shape as branch_shape
    from .theory import continuous_radius as continuous_radius
    from .theory import critical_coupling as critical_coupling
    from .theory import critical_couplings as critical_couplings
    from .theory import critical_modes as critical_modes
    from .theory import flight_profile as flight_profile
    from .theory import global_criterion as global_criterion
    from .theory import growth_rates as growth_rates
    from .theory import kuramoto_gap as kuramoto_gap
    from .theory import kuramoto_order_parameter as kuramoto_order_parameter
    from .theory import maier_saupe_fold as maier_saupe_fold
    from .theory import maier_saupe_state as maier_saupe_state
    from .theory import maier_saupe_states as maier_saupe_states
    from .theory import maier_saupe_transition as maier_saupe_transition
    from .theory import ott_antonsen as ott_antonsen
    from .theory import resonance as resonance
    from .theory import tricritical_beta as tricritical_beta
    from .theory import vertical_branches as vertical_branches

_HOMES = {
    "Comparison": "records.comparison",
    "Contraction": "records.contraction",
    "QuantityRate": "records.contraction",
    "Curve": "records.curves",
    "CurvePoint": "records.curves",
    "OrganisingPoint": "records.curves",
    "Branch": "records.branch",
    "Diagram": "records.diagram",
    "PointType": "records.point_types",
    "SpecialPoint": "records.branch",
    "Circle": "domains",
    "Domain": "domains",
    "Sphere": "domains",
    "FreeEnergy": "energy",
    "dissipation": "energy",
    "first_variation": "energy",
    "free_energy_parts": "energy",
    "second_variation": "energy",
    "Ensemble": "records.ensemble",
    "Estimate": "records.ensemble",
    "ComputationFailed": "errors",
    "InvalidInput": "errors",
    "MeanfieldError": "errors",
    "NotResolved": "errors",
    "open_comparison": "export.comparisons",
    "open_contraction": "export.contractions",
    "open_curve": "export.curves",
    "open_diagram": "export",
    "open_ensemble": "export.ensembles",
    "open_phase_diagram": "export.curves",
    "open_sweep": "export.sweeps",
    "open_trajectory": "export.trajectories",
    "FlowMap": "records.flow_map",
    "Outcome": "records.outcome",
    "ArcCosine": "potentials",
    "CosineSeries": "potentials",
    "Combination": "potentials",
    "Custom": "potentials",
    "External": "potentials",
    "GegenbauerSeries": "potentials",
    "HarmonicSeries": "potentials",
    "HegselmannKrause": "potentials",
    "KellerSegel": "potentials",
    "Kuramoto": "potentials",
    "Logarithmic": "potentials",
    "MaierSaupe": "potentials",
    "Onsager": "potentials",
    "Perceptron": "potentials",
    "Potential": "potentials",
    "Transformer": "potentials",
    "potential_from": "potentials",
    "ContinuityEquation": "equations",
    "CustomVelocity": "equations",
    "DepthScaled": "equations",
    "Equation": "equations",
    "McKeanVlasov": "equations",
    "NormalisedAttention": "equations",
    "PhaseLag": "equations",
    "CommonFrequency": "equations",
    "SoftmaxAttention": "equations",
    "VelocityLaw": "equations",
    "equation_from": "equations",
    "two_layer": "equations",
    "Number": "potentials",
    "Spectrum": "records.state",
    "State": "records.state",
    "PhaseDiagram": "records.phase_diagram",
    "RateFit": "records.relaxation",
    "Region": "records.phase_diagram",
    "Relaxation": "records.relaxation",
    "BranchShape": "theory",
    "GlobalCriterion": "theory",
    "Resonance": "theory",
    "branch_shape": "theory",
    "continuous_radius": "theory",
    "flight_profile": "theory",
    "global_criterion": "theory",
    "kuramoto_gap": "theory",
    "kuramoto_order_parameter": "theory",
    "maier_saupe_fold": "theory",
    "maier_saupe_state": "theory",
    "maier_saupe_states": "theory",
    "maier_saupe_transition": "theory",
    "ott_antonsen": "theory",
    "resonance": "theory",
    "tricritical_beta": "theory",
    "vertical_branches": "theory",
    "Sweep": "records.sweep",
    "Trajectory": "records.trajectory",
    "CriticalPoint": "theory",
    "critical_coupling": "theory",
    "critical_couplings": "theory",
    "critical_modes": "theory",
    "growth_rates": "theory",
}

__all__ = [
    "ArcCosine",
    "Branch",
    "BranchShape",
    "Circle",
    "Combination",
    "CommonFrequency",
    "Comparison",
    "ComputationFailed",
    "ContinuityEquation",
    "Contraction",
    "CosineSeries",
    "CriticalPoint",
    "Curve",
    "CurvePoint",
    "Custom",
    "CustomVelocity",
    "DepthScaled",
    "Diagram",
    "Domain",
    "Ensemble",
    "Equation",
    "Estimate",
    "External",
    "FlowMap",
    "FreeEnergy",
    "GegenbauerSeries",
    "GlobalCriterion",
    "HarmonicSeries",
    "HegselmannKrause",
    "InvalidInput",
    "KellerSegel",
    "Kuramoto",
    "Logarithmic",
    "MaierSaupe",
    "McKeanVlasov",
    "MeanfieldError",
    "NormalisedAttention",
    "NotResolved",
    "Number",
    "Onsager",
    "OrganisingPoint",
    "Outcome",
    "Perceptron",
    "PhaseDiagram",
    "PhaseLag",
    "PointType",
    "Potential",
    "QuantityRate",
    "RateFit",
    "Region",
    "Relaxation",
    "Resonance",
    "SoftmaxAttention",
    "SpecialPoint",
    "Spectrum",
    "Sphere",
    "State",
    "Sweep",
    "Trajectory",
    "Transformer",
    "VelocityLaw",
    "branch_shape",
    "continuous_radius",
    "critical_coupling",
    "critical_couplings",
    "critical_modes",
    "dissipation",
    "equation_from",
    "first_variation",
    "flight_profile",
    "free_energy_parts",
    "global_criterion",
    "growth_rates",
    "kuramoto_gap",
    "kuramoto_order_parameter",
    "maier_saupe_fold",
    "maier_saupe_state",
    "maier_saupe_states",
    "maier_saupe_transition",
    "open_comparison",
    "open_contraction",
    "open_curve",
    "open_diagram",
    "open_ensemble",
    "open_phase_diagram",
    "open_sweep",
    "open_trajectory",
    "ott_antonsen",
    "potential_from",
    "resonance",
    "second_variation",
    "tricritical_beta",
    "two_layer",
    "vertical_branches",
]

__getattr__, __dir__ = on_first_use(globals(), _HOMES)
