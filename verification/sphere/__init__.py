"""The theory of the spheres as claims: theorems T1 to T6 and T9, confinements, evolution, particles."""

from . import uniform  # isort: skip
from . import attention, branches, resonances, unfolding, nematics, spins, axial  # isort: skip
from . import energies, linearisation, dynamics, confined, outcomes, particles  # isort: skip

__all__ = [
    "attention",
    "axial",
    "branches",
    "confined",
    "dynamics",
    "energies",
    "linearisation",
    "nematics",
    "outcomes",
    "particles",
    "resonances",
    "spins",
    "unfolding",
    "uniform",
]
