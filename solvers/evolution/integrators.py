"""The protocols of integrators, with options and a name, and of the paths that they follow.

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
        """Unknowns at that time."""

    @property
    def evaluations(self) -> int:
        """Number of evaluations of the right-hand side."""

    def advance(self, limit: float, steps: int) -> None:
        """Make at most ``steps`` steps, stopping after the first that passes a time limit."""

    def at(self, time: float) -> Floats:
        """Return the unknowns at a time within the last step."""


@runtime_checkable
class Integrator(Protocol):
    """An integrator with its options, a frozen dataclass.

    Attributes
    ----------
    name : str
        Name of the integrator in words, with its options.
    step : float or None
        A fixed step, a field of the dataclass; None if estimated errors choose the steps.
    needs_jacobian : bool
        Whether it needs the Jacobian of the system, which is affordable where ``System.multistep`` says so.
    """

    @property
    def name(self) -> str:
        """Name of the integrator in words, with its options."""

    @property
    def step(self) -> float | None:
        """The fixed step, or None if estimated errors choose the steps."""

    @property
    def needs_jacobian(self) -> bool:
        """Whether it needs the Jacobian of the system."""

    def started(
        self, system: System, time: float, unknown: Floats, end: float, tolerance: float, tail: float
    ) -> Stepper:
        """Return the path of a system from a density.

        Parameters
        ----------
        system, time, unknown
            Where the path starts.
        end
            The last time at which the path is needed; may be infinite.
        tolerance
            Local error, relative to the size of the unknowns; not used by a fixed step.
        tail
            Local error of the last quarter of the unknowns, absolute: noise there would look like a lack of
            resolution.
        """
