"""Capabilities of equations beyond their drift, required by the computations that need them.

An equation says with ``lacks(capability)`` why it does not have one; the empty text means that it has it.
"""

from enum import Enum
from typing import Protocol

from ..errors import InvalidInput


class Capability(Enum):
    """A property of an equation that some computations need; the value is its name in sentences."""

    AUTONOMOUS = "a velocity that does not change with time"
    DRIVE = "a drive, the convolution of the density with a pair potential"
    GRADIENT = "the gradient law of a pair potential"
    GIBBS_MAP = "a Gibbs map"
    STATIONARY_MAP = "a map whose fixed points are the stationary densities"
    FREE_ENERGY = "a free energy"
    UNIFORM_STATE = "a stationary uniform state"
    CENTRE = "a conserved centre"

    def __str__(self) -> str:
        return str(self.value)


class Capable(Protocol):
    """Protocol of objects that state why they lack a capability."""

    def lacks(self, capability: Capability) -> str:
        """Return a clause on why the equation lacks a capability; empty if it has it."""


def has_free_energy(equation: Capable) -> bool:
    """Return whether an equation has a free energy."""
    return not equation.lacks(Capability.FREE_ENERGY)


def require(equation: Capable, capability: Capability, what: str) -> None:
    """Refuse an equation that does not have what a computation needs.

    Parameters
    ----------
    equation
        The equation.
    capability
        What is needed.
    what
        The computation, in the plural, such as ``"stationary states"``.

    Raises
    ------
    InvalidInput
        If the equation does not have it; the message says why.
    """
    reason = equation.lacks(capability)
    if reason:
        raise InvalidInput(f"{what} need {capability}, and {reason}")
