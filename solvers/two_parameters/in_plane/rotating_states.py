r"""Waves that turn by a phase lag, at a point of the plane of two parameters.

In the frame that turns with a wave its drift is :math:`h = g - \omega`, and :math:`\omega` follows the phase
condition :math:`F(a) \cdot \langle c\rangle = 0` with the derivative F of the moments a under rotation, weighted by
:math:`A^2`, see :mod:`solvers.equations.rotating`. With the derivatives f of the means m in :math:`\omega`, and
their change :math:`m_d` along any direction d, of the moments or of the parameters,

.. math:: F(d) \cdot m + F \cdot m_d = 0, \qquad m_d = \delta m[dg] + f\omega_d .

The second derivatives obey :math:`F(u)\cdot m_d + F(d)\cdot m_u + F\cdot m_{ud} = 0`, so that

.. math:: \chi\cdot m_{ud} = \chi'\cdot m^0_{ud} - s\,(F(u)\cdot m_d + F(d)\cdot m_u), \qquad
          s = \frac{\chi\cdot f}{F\cdot f}, \quad \chi' = \chi - sF,

:math:`m^0` being that of :mod:`.current_states` under the drift h, without
:math:`\omega_{ud}`. F is orthogonal to :math:`a - m` at every a, and keeps the wave from turning as in
:mod:`.states`.
"""

import numpy as np

from ...bases import Floats
from ...domains import solvers_of
from ...equations.rotating import RotatingEquation
from ...execution.computed import computed_once
from .current_states import CurrentState


class RotatingState(CurrentState):
    """The stationary equation of a wave in the frame that turns with it; parameters are those of the base."""

    @computed_once
    def _law(self) -> RotatingEquation:
        """The equation in the coupling at the place, also where there is no lag."""
        problem = self.coefficients.place.problem
        return RotatingEquation(problem, self.weighted.basis, self._plane.sign, solvers_of(problem).geometry)

    @computed_once
    def _form(self) -> Floats:
        """F, the linear form of the means that vanishes by the phase condition, (size,)."""
        return self._law.phase_form(self._at[0])

    @computed_once
    def _faster(self) -> Floats:
        """The derivatives f of the means in the velocity of the frame, (size,)."""
        return self.nodal_basis.means(self._law.stacked(self._at_rest.faster, 0.0))

    @computed_once
    def left_null(self) -> Floats:
        """The unit left null vector of J of rotations, (size, 1); zero at the uniform state."""
        left = self._form / self.weighted.weights
        return np.asarray(left / max(float(np.linalg.norm(left)), np.finfo(float).tiny))[:, None]

    def _in_frame(self, changes: Floats, directions: Floats | None = None) -> Floats:
        """Return changes of the drift in the frame, whose velocity follows, one row each."""
        moved = self._at_rest.responses(changes)
        return changes - self._law.speeds(self._at_rest, self._at[0], moved, directions)[:, None]

    def _in_frame_form(self, chi: Floats) -> Floats:
        """Return chi' of the module."""
        return np.asarray(chi - self._share(chi) * self._form)

    def _share(self, chi: Floats) -> float:
        """Return s of the module; zero at the uniform state."""
        lever = float(self._form @ self._faster)
        return float(chi @ self._faster) / lever if lever else 0.0

    @computed_once
    def nodal_slopes(self) -> Floats:
        """The derivatives of the drift in x and q at fixed moments on the grid, in the frame, (2, ...)."""
        return self._in_frame(super().nodal_slopes)

    def response_slopes(self, chi: Floats, changes: Floats) -> tuple[Floats, Floats]:
        """Return the derivatives of the change of <chi> under changes of the moments, in these and in x and q."""
        in_moments, in_place = super().response_slopes(chi, changes)
        law, share = self._law, self._share(chi)
        turned = law.phase_form(law.scales * changes)
        in_moments -= share * (self.responses @ turned - law.phase_form(law.scales * (changes @ self.responses)))
        in_place += share * ((self.slopes / self.weighted.weights) @ turned)
        return in_moments, in_place

    def responses_along(self, direction: Floats, changes: Floats, amounts: Floats) -> Floats:
        """Return the changes of the means under changes of the moments, away from the state, one row each."""
        law, (b, q) = self._law, self._at
        places = b + np.multiply.outer(amounts, law.scales * direction)
        along, near = law.scales * changes, self._at_rest.speed
        rows = [law.moments_along(place, q, along, near) for place in places]
        return np.array([law.basis.means(row) for row in rows])
