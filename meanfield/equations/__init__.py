"""Equations as frozen, validated records, their velocity laws, capabilities, and interaction of modes."""

from collections.abc import Mapping as _Mapping
from typing import Any as _Any

from ..domains import Domain
from .attention import NormalisedAttention as NormalisedAttention
from .attention import SoftmaxAttention as SoftmaxAttention
from .capabilities import Capability as Capability
from .capabilities import has_free_energy as has_free_energy
from .capabilities import require as require
from .continuity import ContinuityEquation as ContinuityEquation
from .continuity import in_rotating_frame as in_rotating_frame
from .continuity import without_lag as without_lag
from .custom import CustomVelocity as CustomVelocity
from .equation import Equation as Equation
from .interaction import NEGLIGIBLE as NEGLIGIBLE
from .interaction import Interaction as Interaction
from .interaction import at_uniform as at_uniform
from .lagged import PhaseLag as PhaseLag
from .mckean_vlasov import McKeanVlasov as McKeanVlasov
from .mckean_vlasov import gradient_at_uniform as gradient_at_uniform
from .scaled import DepthScaled as DepthScaled
from .turning import CommonFrequency as CommonFrequency
from .two_layer import two_layer as two_layer
from .velocity import Gradient as Gradient
from .velocity import VelocityLaw as VelocityLaw
from .velocity import is_velocity as is_velocity


def equation_of(domain: Domain, law: _Any, **fields: _Any) -> Equation:
    """Return the equation of a potential, whose gradient the velocity is, or of a velocity law."""
    return (ContinuityEquation if is_velocity(law) else McKeanVlasov)(domain, law, **fields)


def equation_from(description: _Any) -> Equation:
    """Return the equation that the ``to_dict`` of one describes.

    Raises
    ------
    InvalidInput
        If the description is not complete, or names an unknown domain, law or potential.
    """
    other = isinstance(description, _Mapping) and ContinuityEquation.law_field in description
    return (ContinuityEquation if other else McKeanVlasov).from_dict(description)
