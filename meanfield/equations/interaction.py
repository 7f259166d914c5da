r"""Coefficients by which a potential couples the modes of a density and a confinement forces them, over the noise.

The field of a density with moments :math:`m_l` is

.. math:: f = -\frac{\kappa W*\rho + V}{D} = \sum_l (\sigma_l m_l + f_l) P_l, \qquad
          \sigma_l = -\frac{\kappa w_l}{D} = N_l\lambda_l, \qquad f_l = -\frac{v_l}{D},

and, with sines :math:`s_l` of the density and :math:`u_l` of V on the circle,
:math:`\sum_l (\sigma_l s_l + g_l)\sin l\theta`, :math:`g_l = -u_l/D`, besides; :math:`N_l` being the number of
harmonics of degree l, 2 on the circle. On the ordinary sphere V may have coefficients of every order, as the
density has moments. Degree l is critical at the uniform state where :math:`\lambda_l = 1`.

Each coefficient is a quotient, and its derivative in any continuous parameter p of the equation, the coupling, the
noise or one of the potential or of the confinement, has the exact derivative of the multipliers,

.. math:: \partial_\kappa\sigma_l = -\frac{w_l}{D}, \quad \partial_D\sigma_l = -\frac{\sigma_l}{D}, \quad
          \partial_p\sigma_l = -\frac{\kappa\,\partial_p w_l}{D}, \quad
          \partial_D f_l = -\frac{f_l}{D}, \quad \partial_p f_l = -\frac{\partial_p v_l}{D}.
"""

from collections.abc import Callable
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from ..domains import Domain
from ..harmonics.gegenbauer import multiplicities
from ..harmonics.modes import Modes
from ..harmonics.packing import moduli, packed
from .capabilities import Capability, require
from .equation import Equation
from .mckean_vlasov import gradient_at_uniform

Floats = npt.NDArray[np.float64]
Extended = npt.NDArray[np.longdouble]

EPS = float(np.finfo(float).eps)
# Multipliers below this share of the strongest move no density by a rounding error.
NEGLIGIBLE = EPS / 16.0
# More degrees are not asked for.
LARGEST_DEGREE = 8192


class Interaction:
    """The coefficients of the field of a problem, by degree.

    Parameters
    ----------
    problem
        The equation, at a fixed coupling.
    over
        What stands in place of the noise D in these formulas, a positive rate, for evolutions without noise; None
        for the noise.

    Raises
    ------
    InvalidInput
        Where a coefficient is asked for, if the coupling is free, there is no noise and nothing in its place, or
        the velocity is not the gradient of the potential.
    """

    def __init__(self, problem: Equation, over: float | None = None) -> None:
        self.problem = problem
        self._given = over
        self._potential: Any = problem.potential

    @property
    def _over(self) -> float:
        return self.problem.positive_noise if self._given is None else self._given

    @cached_property
    def unit(self) -> np.longdouble:
        """The largest abs(sigma_l), with the sign of the coupling."""
        require(self.problem, Capability.GRADIENT, "coefficients of the field of a density")
        scale = _scale(self._potential, self.problem.domain)
        return np.longdouble(self.problem.fixed_coupling) * scale / np.longdouble(self._over)

    def extended_attractions(self, degree: int) -> Extended:
        """Return sigma_l, l = 1..degree behind a leading 0, in longdouble and without underflow of multipliers."""
        return np.asarray(-self.unit * _relative(self._potential, self.problem.domain, degree))

    def extended_strengths(self, degree: int) -> Extended:
        """Return lambda_l, l = 1..degree behind a leading 0, in longdouble: 1 - lambda_l may be small."""
        return np.asarray(self.extended_attractions(degree) / multiplicities(self.problem.domain, degree))

    def attractions(self, degree: int) -> Floats:
        """Return sigma_l, l = 1..degree behind a leading 0."""
        return self.extended_attractions(degree).astype(float)

    def strengths(self, degree: int) -> Floats:
        """Return lambda_l, l = 1..degree behind a leading 0."""
        return self.extended_strengths(degree).astype(float)

    def forces(self, degree: int) -> Floats:
        """Return f_l, l = 1..degree behind a leading 0; all zero without a confinement."""
        if self.problem.confinement is None:
            return np.zeros(degree + 1)
        multipliers = self.problem.confinement.multipliers(self.problem.domain, degree)
        forces = np.asarray(-multipliers.astype(float) / self._over)
        forces[0] = 0.0
        return forces

    def harmonic_forces(self, degree: int) -> Floats:
        """Return -v_lm/D and -u_lm/D on the ordinary sphere, by degree and order, (2, (L + 1)(L + 2)/2)."""
        if self.problem.zonal:
            cosine = packed(self.forces(degree))
            return np.stack([cosine, np.zeros_like(cosine)])
        confinement: Any = self.problem.confinement
        return _without_mean(-confinement.harmonic_multipliers(degree) / self._over)

    def harmonic_force_derivatives(self, parameter: str, degree: int) -> Floats:
        """Return the derivatives of the forces by degree and order in a parameter of the problem."""
        return self._forces_moved(
            parameter,
            self.harmonic_forces(degree),
            lambda confinement, own: confinement.harmonic_multiplier_derivatives(own, degree),
        )

    def placed_forces(self, modes: Modes, degree: int) -> tuple[Any, Floats, Floats]:
        """Return the places of the moments that a confinement forces, and -V/D there, of cosines and of sines."""
        if self.problem.zonal:
            return modes.axial(degree), self.forces(degree), self.sine_forces(degree)
        return slice(None), *self.harmonic_forces(degree)

    def force_lengths(self, degree: int) -> Floats:
        """Return the lengths of the coefficients of -V/D of each degree behind a leading 0, with their orders."""
        return moduli(*self.harmonic_forces(degree)) if not self.problem.zonal else np.abs(self.forces(degree))

    def sine_forces(self, degree: int) -> Floats:
        """Return g_l, l = 0..degree; all zero unless a confinement has sines."""
        confinement = self.problem.confinement
        if confinement is None or confinement.even:
            return np.zeros(degree + 1)
        return np.asarray(-confinement.sine_multipliers(self.problem.domain, degree).astype(float) / self._over)

    def phased_forces(self, degree: int) -> Any:
        """Return f_l - i g_l, twice the coefficients of exp(il theta); real, f_l, unless there are sines."""
        forces, sines = self.forces(degree), self.sine_forces(degree)
        return forces - 1j * sines if np.any(sines) else forces

    def attraction_derivatives(self, parameter: str, degree: int) -> Floats:
        """Return the derivatives of sigma_l, l = 1..degree behind a leading 0, in a parameter of the problem.

        Raises
        ------
        InvalidInput
            If the problem has no such parameter, or the derivatives of the multipliers are not known.
        """
        role, own = self.problem.place_of(parameter)
        unit = self.unit
        if role == "coupling":
            unit = _scale(self._potential, self.problem.domain) / np.longdouble(self._over)
        elif role == "noise" and self._given is None:
            unit /= -np.longdouble(self._over)
        elif role in ("noise", "confinement"):
            return np.zeros(degree + 1)
        else:
            derivatives = self._potential.multiplier_derivatives(own, self.problem.domain, degree)
            factor = -np.longdouble(self.problem.fixed_coupling) / np.longdouble(self._over)
            return _without_mean(factor * derivatives)
        return np.asarray(-unit * _relative(self._potential, self.problem.domain, degree)).astype(float)

    def strength_derivatives(self, parameter: str, degree: int) -> Floats:
        """Return the derivatives of lambda_l, l = 1..degree behind a leading 0, in a parameter of the problem."""
        numbers = multiplicities(self.problem.domain, degree)
        return np.asarray(self.attraction_derivatives(parameter, degree) / numbers, dtype=float)

    def force_derivatives(self, parameter: str, degree: int) -> Floats:
        """Return the derivatives of f_l, l = 1..degree behind a leading 0, in a parameter of the problem."""
        return self._forces_moved(
            parameter,
            self.forces(degree),
            lambda confinement, own: confinement.multiplier_derivatives(own, self.problem.domain, degree),
        )

    def sine_force_derivatives(self, parameter: str, degree: int) -> Floats:
        """Return the derivatives of g_l, l = 0..degree, in a parameter of the problem."""
        return self._forces_moved(
            parameter,
            self.sine_forces(degree),
            lambda confinement, own: confinement.sine_multiplier_derivatives(own, self.problem.domain, degree),
        )

    def _forces_moved(self, parameter: str, forces: Floats, derivatives: Callable[[Any, str], Any]) -> Floats:
        """Return the derivatives of forces in a parameter, by those of the multipliers of a confinement."""
        role, own = self._confining(parameter)
        if role == "noise":
            return np.asarray(-forces / self._over)
        confinement = self.problem.having(parameter).confinement
        if role is None or confinement is None:
            return np.zeros_like(forces)
        return _without_mean(-derivatives(confinement, own) / np.longdouble(self._over))

    def _confining(self, parameter: str) -> tuple[str | None, str]:
        """Return the place of a parameter on which the forces depend; None in place of the field for others."""
        role, own = self.problem.place_of(parameter)
        return (role if role == "confinement" or (role == "noise" and self._given is None) else None), own

    @property
    def significant_degree(self) -> int:
        """Degree beyond which no multiplier changes a density by a rounding error, at most ``LARGEST_DEGREE``."""
        return _significant_degree(self._potential, self.problem.domain)

    def strongest_beyond(self, degree: int) -> float:
        """Return a bound of abs(lambda_l) beyond a degree; N_l grows with l."""
        share = _share_beyond(self._potential, self.problem.domain, degree)
        return float(abs(self.unit)) * share / self.problem.domain.multiplicity(degree + 1)

    def beyond(self, degree: int, peak: float) -> float:
        """Return a bound of the interaction beyond a degree, in units of D, at a density of the peak abs(S) rho.

        By the peak times the strongest lambda_l, or by traces, at most abs(sigma_l) each, of some degrees more.
        """
        whole = peak * self.strongest_beyond(degree)
        if whole <= EPS:
            return whole
        last = 2 * degree + 16
        further = float(np.abs(self.attractions(last)[degree + 1 :]).sum())
        return min(whole, further + peak * self.strongest_beyond(last))


def at_uniform(problem: Equation) -> Interaction:
    """Return the coefficients of the field of an equation linearised at the uniform density, of any law."""
    return Interaction(gradient_at_uniform(problem) if problem.lacks(Capability.GRADIENT) else problem)


def _without_mean(values: Any) -> Floats:
    """Return coefficients in double precision, 0 in place of that of degree 0."""
    coefficients = np.asarray(values).astype(float)
    coefficients[..., 0] = 0.0
    return coefficients


# All states of a branch ask for the same.
@lru_cache(maxsize=64)
def _significant_degree(potential: Any, domain: Domain) -> int:
    limit = 16
    while limit < LARGEST_DEGREE and potential.relative_tail_bound(domain, limit) > NEGLIGIBLE:
        limit *= 2
    relative = np.abs(potential.relative_multipliers(domain, limit))
    return int(np.flatnonzero(relative > NEGLIGIBLE).max(initial=1))


@lru_cache(maxsize=64)
def _scale(potential: Any, domain: Domain) -> np.longdouble:
    return np.longdouble(potential.scale(domain))


@lru_cache(maxsize=64)
def _relative(potential: Any, domain: Domain, degree: int) -> Extended:
    # A potential may go on to write where its answer stands.
    relative: Extended = np.array(potential.extended_multipliers(domain, degree), dtype=np.longdouble)
    relative.flags.writeable = False
    return relative


@lru_cache(maxsize=64)
def _share_beyond(potential: Any, domain: Domain, degree: int) -> float:
    return float(potential.relative_tail_bound(domain, degree))
