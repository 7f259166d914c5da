"""What an integrator is: options, a name, and the path that it begins from a density.

A third one is a frozen dataclass of its own with these attributes; :mod:`solvers.evolution.semi_implicit` is one.
"""

from typing import Protocol, runtime_checkable

from ..bases import Floats
from .system import System


class Stepper(Protocol):
    """A path that an integrator follows."""

    steps: int

    @property
    def time(self) -> float:
        """Time reached."""

    @property
    def unknown(self) -> Floats:
        """Unknowns there."""

    @property
    def evaluations(self) -> int:
        """Number of evaluations of the right-hand side."""

    def advance(self, limit: float, steps: int) -> None:
        """Make at most so many steps; stop behind the limit."""

    def at(self, time: float) -> Floats:
        """Return the unknowns at a time within the last step."""


@runtime_checkable
class Integrator(Protocol):
    """An integrator with its options, a frozen dataclass.

    Attributes
    ----------
    name : str
        It in words, with its options.
    step : float or None
        A fixed step, a field of the dataclass; None where estimated errors choose the steps.
    needs_jacobian : bool
        Whether it asks the system for its Jacobian, which is affordable where ``System.multistep`` says so.
    """

    @property
    def name(self) -> str:
        """It in words, with its options."""

    @property
    def step(self) -> float | None:
        """A fixed step, or None."""

    @property
    def needs_jacobian(self) -> bool:
        """Whether it asks the system for its Jacobian."""

    def started(
        self, system: System, time: float, unknown: Floats, end: float, tolerance: float, tail: float
    ) -> Stepper:
        """Return a path from a density.

        Parameters
        ----------
        system, time, unknown
            Where the path starts.
        end
            A time behind which the path is never asked for; may be infinite.
        tolerance
            Local error, relative to the size of the unknowns; not used by a fixed step.
        tail
            Local error of the last quarter of the unknowns, absolute: noise there would look like a lack of
            resolution.
        """
