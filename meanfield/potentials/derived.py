"""Potentials that are another one in another place or frame."""

import dataclasses
from dataclasses import dataclass
from typing import Any, Self

from ..domains import Domain
from .arrays import Number
from .parametric import interpolated_in, values_of
from .protocol import Potential


@dataclass(frozen=True)
class Derived(Potential):
    """A potential made of another one, with its name and parameters; the base of those that solvers make.

    It is checked as that one is, and no record holds it.

    Parameters
    ----------
    potential
        The other one.
    """

    potential: Potential

    @property
    def name(self) -> str:  # type: ignore[override]
        """That of the other one, by which its parameters are known."""
        return self.potential.name

    def tail_bound(self, domain: Domain, degree: int) -> Number:
        """Return the bound of the other one."""
        return self.potential.tail_bound(domain, degree)

    def parameters(self) -> dict[str, Any]:
        """Return none."""
        return {}

    def parameter_values(self) -> dict[str, float]:
        """Return the continuous parameters of the other one."""
        return values_of(self.potential)

    def interpolated_in(self, name: str) -> Self:
        """Return that of the other one, prepared for many values of a parameter."""
        return dataclasses.replace(self, potential=interpolated_in(self.potential, name))

    def with_parameter(self, name: str, value: float) -> Self:
        """Return that of the other one with one continuous parameter changed."""
        return dataclasses.replace(self, potential=self.potential.with_parameter(name, value))
