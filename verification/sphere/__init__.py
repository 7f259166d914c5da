"""The theory of the spheres as claims: theorems T1 to T6 and T9, evolution, and properties of every solver."""

from . import uniform  # isort: skip
from . import attention, branches, nematics, spins, axial  # isort: skip
from . import energies, linearisation, dynamics  # isort: skip

__all__ = [
    "attention",
    "axial",
    "branches",
    "dynamics",
    "energies",
    "linearisation",
    "nematics",
    "spins",
    "uniform",
]
