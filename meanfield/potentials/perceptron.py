r"""The perceptron block: neurons as an external potential.

A token x among tokens of the density rho moves, besides its attention, with the velocity
:math:`P_x\sum_j\omega_j\sigma(\langle a_j, x\rangle) a_j` of a layer of neurons with weights :math:`\omega_j`,
directions :math:`a_j`, unit vectors, and an activation :math:`\sigma`. It is the ascent of v/2,

.. math:: v(x) = \sum_j \omega_j\,\varphi(\langle a_j, x\rangle), \qquad \varphi' = 2\sigma, \qquad
          V = -\tfrac12 v ,

so that with the transformer at kappa = 1 particles ascend the energy of attention plus that of the perceptron; its
descent has kappa = -1 and V = +v/2, the weights reversed.

A neuron is a function of the angle to its direction. :math:`\varphi = s_+^2` of the rectified linear unit has a
kink in its second derivative: its coefficients, on the circle 1/4, :math:`\frac4{3\pi}`, :math:`\frac14` and
:math:`-\frac4\pi\sin(\frac{k\pi}2)/(k(k^2-4))`, decay as :math:`k^{-3}`.

Reference: arXiv 2601.21366.
"""

import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
import numpy.typing as npt

from ..arguments import methods_checked, shown
from ..domains import Domain, Sphere
from ..errors import InvalidInput, did_you_mean
from ..harmonics.packing import degrees_and_orders, degrees_of_places, largest_degree
from ..harmonics.points import harmonics_at
from .arrays import Array, Number
from .custom import Custom
from .formulas import formulas_of
from .parametric import numbered
from .protocol import Potential
from .series import checked_coefficients, given_coefficients, require_size
from .vectors import places_of

_HALF_PI = float(np.pi / 2)
# Decimals of an angle that rounding leaves when turns are taken off.
_DIGITS = 13
# A function of a number, value by value.
Wave = Callable[[Array], Array]


class Activation(NamedTuple):
    """An activation sigma, phi with phi' = 2 sigma, and the angles at which phi(cos t) has kinks."""

    sigma: Wave
    phi: Wave
    kinks: tuple[float, ...] = ()


def _gaussian(s: Array) -> tuple[Array, Array]:
    """Return the distribution function and the density of the standard Gaussian."""
    from scipy.special import ndtr

    return np.asarray(ndtr(s)), np.asarray(np.exp(-0.5 * s * s) / np.sqrt(2.0 * np.pi))


def _gelu(s: Array) -> Array:
    return np.asarray(s * _gaussian(s)[0])


def _integrated_gelu(s: Array) -> Array:
    distribution, density = _gaussian(s)
    return np.asarray((s * s - 1.0) * distribution + s * density)


def _integrated_softplus(s: Array) -> Array:
    """Return -2 Li2(-e^s), the dilogarithm by the function of Spence at 1 + e^s."""
    from scipy.special import spence

    return np.asarray(-2.0 * spence(1.0 + np.exp(s)))


ACTIVATIONS: dict[str, Activation] = {
    "relu": Activation(lambda s: np.maximum(s, 0.0), lambda s: np.maximum(s, 0.0) ** 2, (_HALF_PI,)),
    # phi = 2 s_+: with it V = -sum w_j <a_j, x>_+, that of the unit neurons of a two-layer network.
    "step": Activation(lambda s: (s > 0.0).astype(float), lambda s: 2.0 * np.maximum(s, 0.0), (_HALF_PI,)),
    "tanh": Activation(np.tanh, lambda s: 2.0 * np.log(np.cosh(s))),
    "sigmoid": Activation(lambda s: 1.0 / (1.0 + np.exp(-s)), lambda s: 2.0 * np.log1p(np.exp(s))),
    "softplus": Activation(lambda s: np.log1p(np.exp(s)), _integrated_softplus),
    "gelu": Activation(_gelu, _integrated_gelu),
}


@methods_checked
@dataclass(frozen=True)
class Perceptron(Potential):
    """The external potential V = -(1/2) sum_j w_j phi(<a_j, x>) of neurons, phi' = 2 sigma.

    Parameters
    ----------
    weights
        w_j, finite numbers, one a neuron.
    angles
        Of the directions a_j, in radians; on spheres from the north pole, beyond the ordinary one 0 and pi only.
    activation
        sigma: ``"relu"``, ``"step"``, ``"tanh"``, ``"sigmoid"``, ``"softplus"`` or ``"gelu"``.
    azimuths
        On the ordinary sphere the angles of the directions about the pole, in radians; by default all are 0.

    Raises
    ------
    InvalidInput
        If weights, angles and azimuths are not as many finite numbers, or the activation is another one; in an
        equation, if the domain does not have the directions; for multipliers on a sphere, if one is off the axis.

    Examples
    --------
    >>> from meanfield.domains import Circle
    >>> neuron = Perceptron((1.0,), (0.0,))
    >>> [round(float(v), 6) for v in neuron.multipliers(Circle(), 3)], neuron.even
    ([-0.125, -0.212207, -0.125, -0.042441], True)
    """

    weights: tuple[float, ...]
    angles: tuple[float, ...]
    activation: str = "relu"
    azimuths: tuple[float, ...] = ()
    name: ClassVar[str] = "perceptron"
    formula: ClassVar[str] = "-(1/2) sum_j w_j phi(<a_j, x>)"

    def __post_init__(self) -> None:
        if not isinstance(self.activation, str) or self.activation not in ACTIVATIONS:
            raise InvalidInput(
                f"the activation must be one of {', '.join(ACTIVATIONS)}, not {shown(self.activation)}; "
                f'{did_you_mean(shown(self.activation), ACTIVATIONS)}try activation="relu"'
            )
        example = "Perceptron(weights=(1.0, 0.5), angles=(0.0, 1.2))"
        for kind in ("weights", "angles"):
            object.__setattr__(self, kind, checked_coefficients(getattr(self, kind), kind, example))
        if len(self.weights) != len(self.angles):
            raise InvalidInput(
                f"a neuron has a weight and an angle, and there are {len(self.weights)} weights and "
                f"{len(self.angles)} angles; try {example}"
            )
        azimuths = given_coefficients(self.azimuths, "azimuths", f"{example[:-1]}, azimuths=(0.0, 2.0))")
        object.__setattr__(self, "azimuths", azimuths)
        if azimuths and len(azimuths) != len(self.angles):
            raise InvalidInput(
                f"each neuron has an azimuth or none has, and there are {len(azimuths)} azimuths and "
                f"{len(self.angles)} angles; try {example[:-1]}, azimuths=(0.0, 2.0))"
            )
        require_size(max(map(abs, self.weights)), "the largest weight")

    @property
    def even(self) -> bool:
        """Whether every neuron has one of its weight at the opposite angle, or stands on the axis."""
        total: dict[float, float] = {}
        for weight, angle in zip(self.weights, self._reduced.tolist(), strict=True):
            if angle not in (0.0, float(np.pi)):
                total[abs(angle)] = total.get(abs(angle), 0.0) + float(np.sign(angle)) * weight
        return not any(total.values())

    def values(self, angle: npt.ArrayLike) -> Array:
        """Return V at the angles."""
        cosines = np.cos(self._apart(angle))
        return np.asarray(-0.5 * (ACTIVATIONS[self.activation].phi(cosines) @ np.array(self.weights)))

    def slope(self, angle: npt.ArrayLike) -> Array:
        """Return dV/dt at the angles."""
        apart = self._apart(angle)
        neurons = ACTIVATIONS[self.activation].sigma(np.cos(apart)) * np.sin(apart)
        return np.asarray(neurons @ np.array(self.weights))

    @property
    def zonal(self) -> bool:
        """Whether every neuron points to a pole."""
        return not self._off_axis.size

    def require_domain(self, domain: Domain) -> None:
        """Refuse directions that a domain does not have."""
        if self.azimuths:
            formulas_of(domain).require_azimuth("neurons have azimuths")
        elif not (self.zonal or domain.has_azimuth):
            formulas_of(domain).require_uneven(self._tilted)

    @property
    def directions(self) -> npt.NDArray[np.float64]:
        """The unit vectors a_j on the ordinary sphere, (n, 3); exact at the poles."""
        reduced, azimuths = self._reduced, np.array(self.azimuths or (0.0,) * len(self.angles))
        across = np.where(np.isin(reduced, (0.0, np.pi)), 0.0, np.sin(reduced))
        return np.stack([across * np.cos(azimuths), across * np.sin(azimuths), np.cos(reduced)], axis=1)

    def harmonic_multipliers(self, degree: int) -> Array:
        """Return -1/2 of the sums of weights times the harmonics at the directions, times those of a neuron."""
        return self._of_neurons(harmonics_at(self.directions, degree) @ np.array(self.weights))

    def harmonic_multiplier_derivatives(self, name: str, degree: int) -> Array:
        """Return the derivatives of the multipliers by degree and order in a weight, an angle or an azimuth."""
        self._require_parameter(name)
        kind = name.rstrip("0123456789")
        place = int(name.removeprefix(kind)) - 1
        weight, direction = self.weights[place], self.directions[place]
        if kind == "weights":
            return self._of_neurons(harmonics_at(direction[np.newaxis], degree)[..., 0])
        if kind == "angles":
            azimuth = (self.azimuths or (0.0,) * len(self.angles))[place]
            return self._of_neurons(weight * _along_meridian(self.angles[place], azimuth, degree))
        cosine, sine = harmonics_at(direction[np.newaxis], degree)[..., 0]
        orders = degrees_and_orders(degree)[1]
        return self._of_neurons(weight * np.stack([-orders * sine, orders * cosine]))

    def _of_neurons(self, directions: Array) -> Array:
        """Return packed coefficients in the harmonics at directions as those of -1/2 of neurons there."""
        degree = largest_degree(directions.shape[1])
        of_neuron = np.asarray(_neuron(self.activation).multipliers(Sphere(3), degree), dtype=float)
        return np.asarray(-0.5 * of_neuron[degrees_of_places(directions.shape[1])] * directions)

    def values_at(self, points: npt.ArrayLike) -> Array:
        """Return V at unit vectors (n, 3)."""
        cosines = places_of(points, 3) @ self.directions.T
        return np.asarray(-0.5 * (ACTIVATIONS[self.activation].phi(cosines) @ np.array(self.weights)))

    def gradient_at(self, points: npt.ArrayLike) -> Array:
        """Return the gradient at unit vectors (n, 3), minus the velocity of the neurons, tangent to the sphere."""
        places = places_of(points, 3)
        cosines = places @ self.directions.T
        weighted = ACTIVATIONS[self.activation].sigma(cosines) * np.array(self.weights)
        along = (weighted * cosines).sum(axis=1)[:, np.newaxis]
        return np.asarray(along * places - weighted @ self.directions)

    def multipliers(self, domain: Domain, degree: int) -> Array:
        """Return v_0, ..., v_degree."""
        return self._sums(domain, int(degree), np.cos)

    def sine_multipliers(self, domain: Domain, degree: int) -> Array:
        """Return the coefficients of the sines."""
        return np.zeros(int(degree) + 1) if self.even else self._sums(domain, int(degree), np.sin)

    def multiplier_derivatives(self, name: str, domain: Domain, degree: int) -> Array:
        """Return the derivatives of v_0, ..., v_degree in a weight or an angle.

        Raises
        ------
        InvalidInput
            If there is no such parameter, or a neuron would leave the axis of a sphere.
        """
        return self._changes(name, domain, int(degree), np.cos, lambda phases: -np.sin(phases))

    def sine_multiplier_derivatives(self, name: str, domain: Domain, degree: int) -> Array:
        """Return the derivatives of the coefficients of the sines in a weight or an angle.

        Raises
        ------
        InvalidInput
            If there is no such parameter, or a neuron would leave the axis of a sphere.
        """
        return self._changes(name, domain, int(degree), np.sin, np.cos)

    def tail_bound(self, domain: Domain, degree: int) -> Number:
        """Return the sum of the bounds of the neurons, of those of one angle together, which may cancel."""
        together: dict[float, float] = {}
        for weight, angle in zip(self.weights, np.round(self._reduced, _DIGITS).tolist(), strict=True):
            together[angle] = together.get(angle, 0.0) + weight
        total = sum(map(abs, together.values()))
        return 0.5 * total * float(_neuron(self.activation).tail_bound(domain, degree))

    def parameters(self) -> dict[str, Any]:
        """Return the constructor arguments, azimuths if there are any."""
        named = {"weights": list(self.weights), "angles": list(self.angles), "activation": self.activation}
        return named | ({"azimuths": list(self.azimuths)} if self.azimuths else {})

    def _apart(self, angle: npt.ArrayLike) -> npt.NDArray[np.float64]:
        """Return the angles from each neuron, along a last axis."""
        return np.asarray(np.asarray(angle, dtype=float)[..., np.newaxis] - np.array(self.angles))

    def _sums(self, domain: Domain, degree: int, wave: Wave) -> Array:
        """Return -1/2 of the sums of weights times waves at the angles, times the multipliers of a neuron."""
        if not self.zonal:
            formulas_of(domain).require_uneven(self._tilted)
        waves = wave(np.multiply.outer(np.arange(degree + 1.0), self._reduced)) @ np.array(self.weights)
        return np.asarray(-0.5 * waves * _neuron(self.activation).multipliers(domain, degree))

    def _changes(self, name: str, domain: Domain, degree: int, wave: Wave, slope: Wave) -> Array:
        """Return the derivatives of ``_sums`` in a number: waves of one neuron, or their slopes as it turns."""
        self._require_parameter(name)
        formulas = formulas_of(domain)
        if not self.zonal:
            formulas.require_uneven(self._tilted)
        weighted = np.array([float(own == name) for own in numbered("weights", self.weights)])
        turned = np.array([float(own == name) for own in numbered("angles", self.angles)]) * self.weights
        if turned.any():
            formulas.require_uneven("a neuron that turns leaves it; change a weight, or take the circle")
        degrees = np.arange(degree + 1.0)
        phases = np.multiply.outer(degrees, self._reduced)
        change = wave(phases) @ weighted + degrees * (slope(phases) @ turned)
        return np.asarray(-0.5 * change * _neuron(self.activation).multipliers(domain, degree))

    @property
    def _off_axis(self) -> npt.NDArray[np.float64]:
        """The angles of the neurons that do not point to a pole."""
        return self._reduced[~np.isin(self._reduced, (0.0, np.pi))]

    @property
    def _tilted(self) -> str:
        """A clause on a neuron that does not point to a pole."""
        return (
            f"a neuron points to the angle {self._off_axis[0]:.6g} from it; put it at 0 or pi, or take the circle"
        )

    @property
    def _reduced(self) -> npt.NDArray[np.float64]:
        """The angles in (-pi, pi]."""
        angles = np.array(self.angles)
        reduced = np.where(np.abs(angles) <= np.pi, angles, np.remainder(angles + np.pi, 2 * np.pi) - np.pi)
        return np.where(reduced == -np.pi, np.pi, reduced)


def _along_meridian(angle: float, azimuth: float, degree: int) -> Array:
    """Return the derivatives of the harmonics at a direction by its angle from the pole, (2, places).

    On a meridian they are trigonometric polynomials of their degree, which equal steps round the circle determine.
    """
    steps = 2.0 * np.pi * np.arange(2 * degree + 1) / (2 * degree + 1)
    across = np.sin(angle + steps)
    points = np.stack([across * np.cos(azimuth), across * np.sin(azimuth), np.cos(angle + steps)], axis=1)
    waves = np.arange(1, degree + 1)
    slopes = 2.0 / steps.size * (np.sin(np.multiply.outer(steps, waves)) @ waves)
    return np.asarray(harmonics_at(points, degree) @ slopes)


@functools.lru_cache(maxsize=16)
def _neuron(activation: str) -> Custom:
    """Return phi(cos t) of an activation."""
    chosen = ACTIVATIONS[activation]
    return Custom.from_callable(lambda angle: chosen.phi(np.cos(angle)), breakpoints=chosen.kinks)
