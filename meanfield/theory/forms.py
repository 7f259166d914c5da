"""Theory of the uniform state and its branches by domain: the protocol and the table.

A domain of another kind is a class with these methods and a line of the table.
"""

from collections.abc import Callable, Mapping
from typing import Any, ClassVar, Protocol

import numpy as np

from ..domains import Circle, Domain, Sphere
from ..equations import Equation
from ..potentials import Number
from .on_circle import CircleTheory
from .on_spheres import SphereTheory
from .results import BranchShape, GlobalCriterion


class Theory(Protocol):
    """Theory of the uniform state and its branches on one domain.

    Attributes
    ----------
    word, letter
        What a critical mode is called, and what counts it.
    series
        A potential as the sum of its modes.
    expansion
        How branches leave uniform, in words.
    columns
        Headings of tables of branches, and what stands under them.
    more
        What is said of each mode besides what is said on all domains.
    last_tricritical
        The last mode whose branch turns at a known beta.
    """

    word: ClassVar[str]
    letter: ClassVar[str]
    series: ClassVar[str]
    expansion: ClassVar[str]
    columns: ClassVar[Mapping[str, str]]
    more: ClassVar[tuple[str, ...]]
    last_tricritical: ClassVar[int]

    @property
    def expansion_limit(self) -> float:
        """Concentration of von Mises from which expansions are used."""
        ...

    def shape(self, problem: Equation, n: int, coupling: Number) -> BranchShape:
        """Return the normal form of the branch of a critical mode at its coupling."""
        ...

    def tricritical_excess(self, problem: Equation, n: int) -> float:
        """Return a function of the parameters without poles that changes its sign where b_1 vanishes only."""
        ...

    def criterion(self, problem: Equation) -> GlobalCriterion:
        """Return the global criterion: whether the transition is continuous at the linear threshold."""
        ...

    def tricritical_bracket(self, n: int) -> tuple[float, float]:
        """Return an interval of beta in which the n-branch of the transformer turns subcritical.

        Raises
        ------
        InvalidInput
            If none is known.
        """
        ...

    def require_waves(self, what: str) -> None:
        """Refuse a statement about waves cos kt and sin kt if the modes are others.

        Raises
        ------
        InvalidInput
            If the modes are others.
        """
        ...

    def highest_concentration(self, ratio: float) -> float:
        """Return a bound of the concentration of the Kuramoto state at kappa/D."""
        ...

    def large_mean(self, x: float) -> float:
        """Return the order parameter of a large concentration."""
        ...

    def log_scaled_mean(self, x: float) -> float | np.longdouble:
        """Return log <e^(x (cos t - 1))>."""
        ...


_THEORIES: dict[str, Callable[[Any], Theory]] = {Circle.name: CircleTheory, Sphere.name: SphereTheory}


def theory_of(domain: Domain) -> Theory:
    """Return the theory of a domain."""
    return _THEORIES[domain.name](domain)
