r"""The McKean-Vlasov equation as a frozen, validated problem.

.. math::

    \partial_t \rho = \mathrm{div}\left( D \nabla\rho + \kappa \rho \nabla(W*\rho) + \rho \nabla V \right),
    \qquad
    dX_i = -\frac{\kappa}{N}\sum_j \nabla W(X_i - X_j)\,dt - \nabla V\,dt + \sqrt{2D}\,dB_i ,

with noise :math:`D`, coupling :math:`\kappa`, interaction potential :math:`W` and confinement :math:`V`.
Stationary states depend on :math:`\kappa/D` and :math:`V/D` only; rates scale with :math:`D`.
"""

import dataclasses
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..arguments import checked, shown
from ..domains import Domain, domain_named, is_domain
from ..errors import InvalidInput
from ..potentials import Number, Potential, potential_from
from ..potentials.foreign import require_potential
from ..potentials.parametric import require_named, values_of
from .capabilities import Capability

# Couplings are proportional to the noise and would leave the range of doubles with it.
SMALLEST_NOISE = 1e-100


@dataclass(frozen=True)
class McKeanVlasov:
    """A McKean-Vlasov equation.

    Parameters
    ----------
    domain
        The space the particles live on.
    potential
        Interaction potential W, even.
    noise
        D >= 0, in units of angle squared over time. Without noise, D = 0, the equation can be named, saved and
        described; computations that divide by the noise refuse it.
    coupling
        kappa, finite, of either sign; ``None`` leaves it free, as a bifurcation diagram does.
    confinement
        External potential V, even about angle 0, on the sphere a function of the angle to the north pole; absent
        by default. One that is zero is none, and is replaced by None.

    Raises
    ------
    InvalidInput
        If the noise is negative or not finite, the coupling is not finite, or the confinement is constant.

    Examples
    --------
    >>> from meanfield import Circle, Kuramoto, McKeanVlasov
    >>> McKeanVlasov(Circle(), Kuramoto(), coupling=3.0).noise
    1.0
    """

    domain: Domain
    potential: Potential
    noise: float = 1.0
    coupling: float | None = None
    confinement: Potential | None = None

    def __post_init__(self) -> None:
        if not is_domain(self.domain):
            raise InvalidInput(f"domain must be a domain such as Circle() or Sphere(3), not {self.domain!r}")
        for role, potential in (("potential", self.potential), ("confinement", self.confinement)):
            if potential is not None or role == "potential":
                require_potential(potential, self.domain, role)
        if self.confinement is not None and self.confinement.scale(self.domain) == 0:
            _require_zero(self.confinement, self.domain)
            object.__setattr__(self, "confinement", None)
        for name in ("noise", "coupling"):
            value: Any = getattr(self, name)
            if isinstance(value, np.generic) and not isinstance(value, np.longdouble):
                object.__setattr__(self, name, value.item())
        object.__setattr__(self, "noise", _checked_noise(self.noise))
        if self.coupling is not None and not _is_finite(self.coupling):
            raise InvalidInput(
                f"coupling must be a finite number, not {self.coupling}; leave it out to keep it free"
            )

    def at(self, *, coupling: Number | None) -> "McKeanVlasov":
        """Return the same problem at another coupling (``None`` frees it)."""
        return dataclasses.replace(self, coupling=coupling)  # type: ignore[arg-type]  # an extended number stands for a float

    @property
    def parameters(self) -> dict[str, Number]:
        """The continuous parameters by name: noise, coupling where it is fixed, and those of the potentials.

        Those of the confinement are prefixed, as in ``confinement_w1``; one of the potential whose name is taken
        is prefixed too, by ``potential_``.

        Examples
        --------
        >>> from meanfield import Circle, McKeanVlasov, Transformer
        >>> McKeanVlasov(Circle(), Transformer(beta=4), coupling=3.0).parameters
        {'noise': 1.0, 'coupling': 3.0, 'beta': 4.0}
        """
        values: dict[str, dict[str, Any]] = {
            "noise": {"": self.noise},
            "coupling": {"": self.coupling},
            "potential": values_of(self.potential),
            "confinement": {} if self.confinement is None else values_of(self.confinement),
        }
        return {name: values[role][own] for name, (role, own) in self._places.items()}

    @checked
    def with_parameter(self, name: str, value: Number) -> "McKeanVlasov":
        """Return the same problem with one continuous parameter changed.

        Parameters
        ----------
        name
            One of ``parameters``.
        value
            Admissible in the place of the parameter.

        Raises
        ------
        InvalidInput
            If there is no such parameter, or its value is not admitted.
        """
        places = self._places
        free = " with a free coupling, which at(coupling=...) fixes," if self.coupling is None else ""
        require_named(name, tuple(places), f"the problem{free}")
        role, own = places[name]
        changed: Any = getattr(self, role).with_parameter(own, value) if own else value
        return dataclasses.replace(self, **{role: changed})

    @property
    def _places(self) -> dict[str, tuple[str, str]]:
        """The field of each parameter and its name in that field; the name is empty for the field itself."""
        places = {name: (name, "") for name in ("noise", "coupling") if getattr(self, name) is not None}
        if self.confinement is not None:
            places |= {f"confinement_{own}": ("confinement", own) for own in values_of(self.confinement)}
        of_potential = {own: ("potential", own) for own in values_of(self.potential)}
        return places | {
            f"potential_{name}" if name in {*places, "coupling"} else name: place
            for name, place in of_potential.items()
        }

    @property
    def fixed_coupling(self) -> float:
        """The coupling, for computations that need one.

        Raises
        ------
        InvalidInput
            If the coupling is free.
        """
        if self.coupling is None:
            raise InvalidInput("this needs a coupling and the problem's is free; use problem.at(coupling=...)")
        return self.coupling

    @property
    def positive_noise(self) -> float:
        """The noise, for computations that divide by it.

        Raises
        ------
        InvalidInput
            If the noise is zero.
        """
        if self.noise == 0:
            raise InvalidInput(
                "this needs noise and the problem has none; give noise > 0, such as noise=1.0 (--noise 1)"
            )
        return self.noise

    def lacks(self, capability: Capability) -> str:
        """Return a clause on why the equation lacks a capability; empty if it has it."""
        if self.noise > 0:
            return ""
        reasons = {
            Capability.GIBBS_MAP: "without noise no density is exp(-(kappa W*rho + V)/D)/Z; give noise > 0",
            Capability.FREE_ENERGY: "it is measured in units of the noise, of which there is none; give noise > 0",
        }
        return reasons[capability]

    def to_dict(self) -> dict[str, Any]:
        """Return the problem as plain values that JSON can hold."""
        return {
            "domain": self.domain.to_dict(),
            "potential": _describe(self.potential),
            "noise": float(self.noise),
            "coupling": None if self.coupling is None else _double(self.coupling),
            "confinement": None if self.confinement is None else _describe(self.confinement),
        }

    @classmethod
    def from_dict(cls, description: dict[str, Any]) -> "McKeanVlasov":
        """Return the problem that :meth:`to_dict` describes.

        Raises
        ------
        InvalidInput
            If the description names an unknown domain or potential.
        """
        if not isinstance(description, Mapping):
            raise InvalidInput(f"the description of a problem is a mapping, not {shown(description)}")
        missing = {"domain", "potential", "noise", "coupling", "confinement"}.difference(description)
        if missing:
            raise InvalidInput(
                f"the description of a problem has no {', '.join(sorted(missing))}; see McKeanVlasov.to_dict()"
            )
        confinement = description["confinement"]
        return cls(
            domain=domain_named(description["domain"]["name"], description["domain"].get("dimension")),
            potential=_rebuild(description["potential"]),
            noise=description["noise"],
            coupling=description["coupling"],
            confinement=None if confinement is None else _rebuild(confinement),
        )


def _checked_noise(noise: Any) -> float:
    """Return a noise that is admissible, zero without a sign."""
    if not (_is_finite(noise) and noise >= 0):
        raise InvalidInput(f"noise must be a finite number, at least 0, not {noise!r}; try noise=1.0")
    if noise != 0 and not SMALLEST_NOISE <= noise <= 1.0 / SMALLEST_NOISE:
        raise InvalidInput(
            f"noise must be 0 or between {SMALLEST_NOISE:g} and {1 / SMALLEST_NOISE:g}, not {noise!r}; only "
            "coupling/noise matters for the states, so measure both in another unit"
        )
    checked: float = noise if noise != 0 else 0.0
    return checked


def _require_zero(confinement: Potential, domain: Domain) -> None:
    """Refuse a constant confinement that is not zero: it moves no particle, but adds to the free energy."""
    constant = float(confinement.multipliers(domain, 0)[0])
    if constant != 0.0:
        raise InvalidInput(
            f"the confinement {confinement.name!r} is constant, {constant:g} everywhere, and moves no particle; "
            "leave it out, and add the constant to the free energy"
        )


def _double(value: float) -> float:
    """Return a float, unless the value is beyond the range of doubles and would become zero."""
    return float(value) if float(value) != 0.0 or value == 0.0 else value


def _is_finite(value: object) -> bool:
    if isinstance(value, bool) or not isinstance(value, int | float | np.integer | np.floating):
        return False
    try:
        return math.isfinite(value)
    except OverflowError:
        return False


def _describe(potential: Potential) -> dict[str, Any]:
    return {"name": potential.name, "parameters": potential.parameters()}


def _rebuild(description: dict[str, Any]) -> Potential:
    return potential_from(description["name"], description["parameters"])
