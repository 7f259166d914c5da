"""Equations with any velocity law, with or without noise."""

from dataclasses import dataclass
from typing import Any, ClassVar

from ..domains import Domain
from ..errors import InvalidInput, did_you_mean
from ..potentials import Potential
from .attention import NormalisedAttention, SoftmaxAttention
from .custom import CustomVelocity
from .equation import Equation, described_fields, potential_of
from .lagged import PhaseLag
from .mckean_vlasov import McKeanVlasov
from .scaled import DepthScaled
from .turning import CommonFrequency
from .velocity import Gradient, VelocityLaw, require_velocity

_KINDS = (SoftmaxAttention, NormalisedAttention, PhaseLag, DepthScaled, CommonFrequency, CustomVelocity, Gradient)
VELOCITIES: dict[str, type[Any]] = {kind.name: kind for kind in _KINDS}


@dataclass(frozen=True)
class ContinuityEquation(Equation):
    """An equation whose particles follow a velocity law, with or without noise.

    Parameters
    ----------
    domain
        The space the particles live on.
    velocity
        The velocity law; the one that is the gradient of a pair potential is :class:`McKeanVlasov`.
    noise
        D >= 0, in units of angle squared over time.
    coupling
        kappa, finite, of either sign: the factor of the velocity; ``None`` leaves it free.
    confinement
        External potential V, as for :class:`McKeanVlasov`.

    Raises
    ------
    InvalidInput
        If the noise is negative or not finite, the coupling is not finite, the law is not defined on the domain,
        or the confinement is constant.

    Examples
    --------
    >>> from meanfield import Circle, SoftmaxAttention
    >>> ContinuityEquation(Circle(), SoftmaxAttention(beta=4.0), coupling=3.0).velocity.beta
    4.0
    """

    domain: Domain
    velocity: VelocityLaw
    noise: float = 1.0
    coupling: float | None = None
    confinement: Potential | None = None

    law_field: ClassVar[str] = "velocity"

    def _require_law(self) -> None:
        require_velocity(self.velocity, self.domain)

    @property
    def potential(self) -> Potential:
        """The pair potential W of the velocity law."""
        return self.velocity.potential

    @classmethod
    def from_dict(cls, description: dict[str, Any]) -> "ContinuityEquation":
        """Return the equation that :meth:`to_dict` describes.

        Raises
        ------
        InvalidInput
            If the description is not complete, or names an unknown domain, law or potential.
        """
        fields = described_fields(description, cls.law_field)
        return cls(velocity=velocity_of(description["velocity"]), **fields)


def velocity_of(description: dict[str, Any]) -> VelocityLaw:
    """Return the velocity law that a name and parameters describe.

    Raises
    ------
    InvalidInput
        If no law has that name, or the parameters do not fit.
    """
    name, parameters = description["name"], description["parameters"]
    if name not in VELOCITIES:
        hint = did_you_mean(str(name), VELOCITIES)
        raise InvalidInput(f"unknown velocity law {name!r}; {hint}known laws: {', '.join(VELOCITIES)}")
    rebuilt = {key: _rebuilt(key, value) for key, value in parameters.items()}
    try:
        law: VelocityLaw = VELOCITIES[name](**rebuilt)
    except TypeError as error:
        given = ", ".join(sorted(map(str, parameters))) or "none"
        raise InvalidInput(
            f"the velocity law {name!r} does not take the parameters given ({given}): {error}"
        ) from error
    return law


def _rebuilt(key: str, value: Any) -> Any:
    """Return the law or potential that a parameter of a law describes, or another value itself."""
    rebuild = {"law": velocity_of, "potential": potential_of}.get(key)
    return value if rebuild is None else rebuild(value)


def without_lag(problem: Equation) -> Equation:
    """Return the equation whose velocity law has no phase lag; the equation itself if it has none."""
    return _with_law(problem, problem.velocity.unlagged) if problem.velocity.lag else problem


def in_rotating_frame(problem: Equation) -> Equation:
    """Return the equation without its common frequency; itself if it has none, or a confinement rests beside it."""
    turns = bool(problem.velocity.frequency) and problem.confinement is None
    return _with_law(problem, problem.velocity.unturned) if turns else problem


def _with_law(problem: Equation, law: VelocityLaw) -> Equation:
    """Return the equation with another velocity law."""
    fields = (problem.noise, problem.coupling, problem.confinement)
    if isinstance(law, Gradient):
        return McKeanVlasov(problem.domain, law.potential, *fields)
    return ContinuityEquation(problem.domain, law, *fields)
