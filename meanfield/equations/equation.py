r"""What all equations share: a velocity law with its coupling, a noise, and perhaps a confinement.

.. math::

    \partial_t \rho = \mathrm{div}\left( D \nabla\rho - \kappa\, \rho\, v[\rho] + \rho \nabla V \right),
    \qquad
    dX_i = \kappa\, v[\mu_N](X_i)\,dt - \nabla V\,dt + \sqrt{2D}\,dB_i, \quad \mu_N = \frac1N\sum_j \delta_{X_j},

with noise :math:`D \ge 0`, coupling :math:`\kappa`, velocity law v and confinement V.
"""

import dataclasses
import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from ..arguments import checked, shown
from ..domains import Domain, domain_named, is_domain
from ..errors import InvalidInput, did_you_mean
from ..potentials import Combination, Number, Potential, interpolated_in, keeping, potential_from, values_of
from ..potentials.foreign import require_confinement
from ..potentials.parametric import require_named
from .capabilities import Capability
from .velocity import VelocityLaw

# Couplings are proportional to the noise and would leave the range of doubles with it.
SMALLEST_NOISE = 1e-100


class Equation:
    """The base of frozen equations: ``domain``, ``noise``, ``coupling``, ``confinement`` and a velocity law.

    The law is the field that ``law_field`` names: the potential whose gradient it is, or the law itself.
    """

    domain: Domain
    noise: float
    coupling: float | None
    confinement: Potential | None
    law_field: ClassVar[str]

    def __post_init__(self) -> None:
        if not is_domain(self.domain):
            raise InvalidInput(f"domain must be a domain such as Circle() or Sphere(3), not {shown(self.domain)}")
        self._require_law()
        if self.confinement is not None:
            require_confinement(self.confinement, self.domain)
        if self.confinement is not None and self.confinement.scale(self.domain) == 0:
            _require_zero(self.confinement, self.domain)
            object.__setattr__(self, "confinement", None)
        object.__setattr__(self, "noise", _checked_noise(_plain(self.noise)))
        object.__setattr__(self, "coupling", _checked_coupling(self.coupling))

    def _require_law(self) -> None:
        """Refuse an inadmissible velocity law."""
        raise NotImplementedError

    if TYPE_CHECKING:
        # Fields of some of the equations: a property of the base would be taken for their default.
        @property
        def velocity(self) -> VelocityLaw:
            """The velocity law v."""

        @property
        def potential(self) -> Potential:
            """The pair potential W of the velocity law."""

    @property
    def law(self) -> Any:
        """The potential whose gradient the velocity is, or the velocity law: what names the equation."""
        return getattr(self, self.law_field)

    def at(self, *, coupling: Number | None) -> Self:
        """Return the same problem at another coupling (``None`` frees it)."""
        same = object.__new__(type(self))
        equation: Any = self
        # The other fields are admitted, whatever the coupling.
        vars(same).update({field.name: getattr(equation, field.name) for field in dataclasses.fields(equation)})
        vars(same)["coupling"] = _checked_coupling(coupling)
        return same

    @property
    def parameters(self) -> dict[str, Number]:
        """The continuous parameters by name: noise, coupling where it is fixed, and those of law and confinement.

        Those of the confinement are prefixed, as in ``confinement_w1``. Its strength is the factor of a multiple of
        it, as in ``confinement_kuramoto_factor``. One of the law whose name is taken is prefixed too, by
        ``potential_`` or ``velocity_``.

        Examples
        --------
        >>> from meanfield import Circle, McKeanVlasov, Transformer
        >>> McKeanVlasov(Circle(), Transformer(beta=4), coupling=3.0).parameters
        {'noise': 1.0, 'coupling': 3.0, 'beta': 4.0}
        """
        values: dict[str, dict[str, Any]] = {
            "noise": {"": self.noise},
            "coupling": {"": self.coupling},
            self.law_field: self._law_values,
            "confinement": {} if self.confinement is None else values_of(_multiple(self.confinement)),
        }
        return {name: values[role][own] for name, (role, own) in self._places.items()}

    @checked
    def with_parameter(self, name: str, value: Number) -> Self:
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
        role, own = self.place_of(name)
        changed: Any = getattr(self.having(name), role).with_parameter(own, value) if own else value
        return self.replace(**{role: changed})

    def keeping_parameter(self, name: str, value: Number) -> Self:
        """Return the same problem with one continuous parameter changed that it has at zero too.

        A lag, a common frequency or a term of a sum of which zero is left would leave the equation, and is the
        least admissible number in the place of zero, which no other number is changed by.

        Parameters
        ----------
        name, value
            As of :meth:`with_parameter`.
        """
        role, own = self.place_of(name)
        if not own:
            return self.with_parameter(name, value)
        return self.replace(**{role: keeping(getattr(self.having(name), role), own, value)})

    def interpolated_in(self, *names: str) -> Self:
        """Return the same equation, its law prepared for many values of the one of some parameters that it has."""
        roles = {name: self.place_of(name) for name in names}
        own = [name for role, name in roles.values() if role == self.law_field]
        if len(own) != 1:
            return self
        prepared = interpolated_in(self.law, own[0])
        return self if prepared is self.law else self.replace(**{self.law_field: prepared})

    def having(self, name: str) -> Self:
        """Return the same equation, its confinement written as a multiple of itself if the parameter is its factor.

        Parameters
        ----------
        name
            One of ``parameters``, which is then one of the field as well that :meth:`place_of` tells.

        Raises
        ------
        InvalidInput
            If there is no such parameter.
        """
        role, own = self.place_of(name)
        if role != "confinement" or self.confinement is None or own in values_of(self.confinement):
            return self
        return self.replace(confinement=_multiple(self.confinement))

    @checked
    def place_of(self, name: str) -> tuple[str, str]:
        """Return the field that has a continuous parameter, and its name there, empty for the field itself.

        Raises
        ------
        InvalidInput
            If there is no such parameter.
        """
        places = self._places
        hidden = name == "coupling" and self.coupling is None
        free = " with a free coupling, which at(coupling=...) fixes," if hidden else ""
        require_named(name, tuple(places), f"the problem{free}")
        return places[name]

    def replace(self, **changed: Any) -> Self:
        """Return the same equation with some of its fields changed.

        Raises
        ------
        InvalidInput
            If it has no such field, or a value is not admitted.
        """
        equation: Any = self
        known = [field.name for field in dataclasses.fields(equation)]
        unknown = next((name for name in changed if name not in known), None)
        if unknown is not None:
            hint = did_you_mean(unknown, known)
            raise InvalidInput(f"the equation has no field {shown(unknown)}; {hint}there are {', '.join(known)}")
        same: Self = dataclasses.replace(equation, **changed)
        return same

    @property
    def _law_values(self) -> dict[str, float]:
        """The continuous parameters of the velocity law."""
        return values_of(self.law)

    @property
    def _places(self) -> dict[str, tuple[str, str]]:
        """The field of each parameter and its name in that field; the name is empty for the field itself."""
        places = {name: (name, "") for name in ("noise", "coupling") if getattr(self, name) is not None}
        if self.confinement is not None:
            places |= {f"confinement_{own}": ("confinement", own) for own in values_of(_multiple(self.confinement))}
        of_law = {own: (self.law_field, own) for own in self._law_values}
        return places | {
            f"{self.law_field}_{name}" if name in {*places, "coupling"} else name: place
            for name, place in of_law.items()
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

    @property
    def zonal(self) -> bool:
        """Whether, on spheres, densities symmetric about the north pole stay so: the confinement, if any, is."""
        return self.confinement is None or not self.domain.has_azimuth or self.confinement.zonal

    @property
    def reflects(self) -> bool:
        """Whether the reflection of the angle takes solutions to solutions: no lag, no frequency, an even V."""
        return not self.velocity.rotates and (self.confinement is None or self.confinement.even)

    @checked
    def lacks(self, capability: Capability) -> str:
        """Return a clause on why the equation lacks a capability; empty if it has it."""
        confined = _IN_CONFINEMENT if self.confinement is not None else {}
        quiet = _WITHOUT_NOISE if self.noise == 0 else {}
        law = self.velocity
        if capability is Capability.STATIONARY_MAP and self.confinement is not None:
            # It holds what a lag or a frequency turns.
            law = law.unturned.unlagged
        return law.lacks(capability) or (confined | quiet).get(capability, "")

    def to_dict(self) -> dict[str, Any]:
        """Return the problem as plain values that JSON can hold."""
        return {
            "domain": self.domain.to_dict(),
            self.law_field: described(self.law),
            "noise": float(self.noise),
            "coupling": None if self.coupling is None else _double(self.coupling),
            "confinement": None if self.confinement is None else described(self.confinement),
        }


_IN_CONFINEMENT = {
    Capability.UNIFORM_STATE: "the confinement moves the uniform density; leave the confinement out",
    Capability.CENTRE: "the confinement moves the centre; leave the confinement out",
}
_WITHOUT_NOISE = {
    Capability.GIBBS_MAP: "without noise no density is that of Gibbs; give noise > 0",
    Capability.STATIONARY_MAP: "without noise no density is that of Gibbs; give noise > 0",
    Capability.FREE_ENERGY: "it is measured in units of the noise, of which there is none; give noise > 0",
}


def described(named: Any) -> dict[str, Any]:
    """Return a potential or a velocity law as its name and parameters."""
    return {"name": named.name, "parameters": named.parameters()}


def potential_of(description: dict[str, Any]) -> Potential:
    """Return the potential that a name and parameters describe."""
    return potential_from(description["name"], description["parameters"])


def described_fields(description: Any, law: str) -> dict[str, Any]:
    """Return the arguments of an equation that a description has, all but its law.

    Raises
    ------
    InvalidInput
        If it is no mapping, or something is missing.
    """
    if not isinstance(description, Mapping):
        raise InvalidInput(f"the description of a problem is a mapping, not {shown(description)}")
    missing = {"domain", law, "noise", "coupling", "confinement"}.difference(description)
    if missing:
        raise InvalidInput(
            f"the description of a problem has no {', '.join(sorted(missing))}; see McKeanVlasov.to_dict()"
        )
    domain, confinement = description["domain"], description["confinement"]
    return {
        "domain": domain_named(domain["name"], domain.get("dimension")),
        "noise": description["noise"],
        "coupling": description["coupling"],
        "confinement": None if confinement is None else potential_of(confinement),
    }


def _plain(value: Any) -> Any:
    """Return a number of numpy as one of Python, but one of extended precision as it is."""
    return value.item() if isinstance(value, np.generic) and not isinstance(value, np.longdouble) else value


def _checked_coupling(coupling: Any) -> Any:
    """Return a coupling that is admissible."""
    coupling = _plain(coupling)
    if coupling is not None and not _is_finite(coupling):
        raise InvalidInput(f"coupling must be a finite number, not {shown(coupling)}; leave it out to keep it free")
    return coupling


def _checked_noise(noise: Any) -> float:
    """Return a noise that is admissible, zero without a sign."""
    if not (_is_finite(noise) and noise >= 0):
        raise InvalidInput(f"noise must be a finite number, at least 0, not {shown(noise)}; try noise=1.0")
    if noise != 0 and not SMALLEST_NOISE <= noise <= 1.0 / SMALLEST_NOISE:
        raise InvalidInput(
            f"noise must be 0 or between {SMALLEST_NOISE:g} and {1 / SMALLEST_NOISE:g}, not {noise!r}; only "
            "coupling/noise matters for the states, so measure both in another unit"
        )
    admissible: float = noise if noise != 0 else 0.0
    return admissible


def _multiple(potential: Any) -> Any:
    """Return a potential as a sum of multiples, itself if it is one."""
    return potential if isinstance(potential, Combination) else Combination(((1.0, potential),))


def _require_zero(confinement: Potential, domain: Domain) -> None:
    """Refuse a constant confinement that is not zero: it moves no particle, but adds to the free energy."""
    has_axis = confinement.zonal or not domain.has_azimuth
    constant = float(
        confinement.multipliers(domain, 0)[0] if has_axis else confinement.harmonic_multipliers(0)[0, 0]
    )
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
