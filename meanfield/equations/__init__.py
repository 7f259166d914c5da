"""Equations as frozen, validated records, their capabilities, and their interaction of the modes of a density."""

from .capabilities import Capability as Capability
from .capabilities import has_free_energy as has_free_energy
from .capabilities import require as require
from .interaction import NEGLIGIBLE as NEGLIGIBLE
from .interaction import Interaction as Interaction
from .mckean_vlasov import McKeanVlasov as McKeanVlasov
