"""Equations as frozen, validated nouns, what they can do, and how they act on the modes of a density."""

from .capabilities import Capability as Capability
from .capabilities import require as require
from .interaction import NEGLIGIBLE as NEGLIGIBLE
from .interaction import Interaction as Interaction
from .mckean_vlasov import McKeanVlasov as McKeanVlasov
