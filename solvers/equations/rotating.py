r"""The stationary equation of laws with a phase lag on the circle, in a frame that rotates with the density.

A lag breaks the reflection, and clusters turn: :math:`\rho(t, \theta) = \rho(\theta - \Omega t)` with

.. math:: \rho'' - ((g - \omega)\rho)' = 0, \qquad g = \frac\kappa D v[\rho], \quad \omega = \frac\Omega D,

which for a given g is a linear equation for the moments of the density. The unknown is
:math:`b = A\langle c\rangle` for cosines and sines of the significant degrees, see :mod:`.equation`, and the
residual

.. math:: r(b, q) = b - A\langle c\rangle_{\rho[g(b, q),\, \omega(b, q)]} .

:math:`\omega` is one more unknown, and the phase condition one more equation: that the image of b is not turned
against it, :math:`T(b)\cdot A\langle c\rangle = 0` with the generator T of rotations, which is linear and
antisymmetric. So :math:`T\cdot r = 0` everywhere, and at waves T spans the kernel of the Jacobian J on both sides.
The angle at which a wave stands is fixed by the sine of one degree: with its component :math:`e\cdot b` the
equation is :math:`r + T\,(e\cdot b)/(e\cdot T) = 0`, and the eigenvalue 0 of J is moved to one. Were only the
steps kept orthogonal to T, as in :mod:`.equation`, nothing would damp the angle, whose errors extrapolation along a
branch amplifies.
At the uniform density any frame is at rest; there it is that of the
mode which is nearest to critical. Mode k of any law becomes critical turning with :math:`\Omega = -Dk\tan k\alpha`.
"""

from collections.abc import Sequence

import numpy as np

from meanfield import Equation, Number, critical_couplings
from meanfield.equations import Capability
from meanfield.records import ANGULAR_VELOCITY
from meanfield.theory import plain_number

from ..bases import EPS, Basis, Floats, Gibbs, Integers
from .current import AtRest, CurrentEquation, Slopes
from .drift_matrix import Complexes
from .equation import Evaluation, StationaryEquation
from .significant import SignificantDegrees

# Steps of Newton's method for the angular velocity, when one is short, and when it is rounding if it is no shorter
# than the one before: relative to the fastest turning.
STEPS, SHORT, ROUNDING = 30, 4.0 * EPS, 1e-10


def rotates_freely(problem: Equation) -> bool:
    """Return whether clusters of an equation turn by a lag alone, so that they rest in a frame that rotates."""
    law = problem.velocity
    bound = problem.confinement is not None or bool(problem.lacks(Capability.AUTONOMOUS))
    return bool(law.lag) and not law.frequency and not bound and bool(problem.positive_noise)


class RotatingEquation(CurrentEquation):
    """The equation of rotating waves; parameters are those of the base.

    Attributes
    ----------
    phase_cell : int
        The degree over the symmetry whose sine vanishes: that of the cosine with which the waves are born.
    """

    phase_cell = 1
    invariant_name = ANGULAR_VELOCITY

    def _prepare(self) -> None:
        super()._prepare()
        self._critical = critical_couplings(self.problem, int(self.basis.degrees.max()))[self.basis.degrees]
        self._cells = np.tile(self.basis.cells, 2).astype(float)

    def frame_velocity(self, invariant: float) -> float:
        """Return the angular velocity of the frame in which a wave rests."""
        return invariant

    def critical_places(self, modes: Sequence[int]) -> Integers:
        """Return the places of the cosines of some modes; the sines are rotations of them."""
        return np.flatnonzero(np.isin(self._own_degrees, modes))

    def distances(self, q: float) -> Floats:
        """Return 1 - q/q_k for the couplings q_k at which modes are critical at the uniform state."""
        return np.asarray(1.0 - self.coupling(q) / self._critical, dtype=float)

    def threshold(self, place: int, near: float) -> tuple[Number, float]:
        """Return the coupling, and q, at which an unknown is critical at the uniform state."""
        value = plain_number(self._critical[place])
        return value, self.q_at(value)

    def evaluate(self, b: Floats, q: float) -> Evaluation:
        """Return residual and density, with the angular velocity in the place of log Z, at (b, q)."""
        rest = self.at_rest(b, q)
        stacked = self.stacked(rest.moments, 1.0)
        turned, sine = self._rotation(b)
        residual = b - self.scales * self.basis.means(stacked) + turned * float(sine @ b)
        return Evaluation(residual, Gibbs(stacked, self.problem.noise * rest.speed))

    def linearise(self, b: Floats, q: float, moments: Floats) -> tuple[Floats, Floats]:
        """Return the Jacobian of the residual, rotation deflated, and its derivative in q."""
        slopes = self._slopes(b, q)
        jacobian = np.eye(b.size) - self.scales[:, None] * slopes.moments[self._places]
        jacobian += np.multiply.outer(*self._rotation(b))
        return jacobian, -self.scales * slopes.along_q[self._places]

    def unturned(self, guess: Floats, b: Floats, moments: Floats) -> Floats:
        """Return a guess as it is: the residual fixes the angle, and what is orthogonal to rotations changes it."""
        return guess

    def responses(self, b: Floats, q: float, changes: Floats) -> Floats:
        """Return the changes of all moments under changes of g on the grid, omega following, one row each."""
        rest = self.at_rest(b, q)
        moved = rest.responses(changes)
        return self._stacked_rows(moved + np.multiply.outer(self.speeds(rest, b, moved), rest.faster))

    def moments_along(self, b: Floats, q: float, direction: Floats, near: float | None = None) -> Floats:
        """Return the derivatives of all moments along a direction of the unknowns, omega, near one, following."""
        rest, directions = self.at_rest(b, q, near), direction[None]
        moved = rest.responses(self.drift_changes(b, q, directions))
        speeds = self.speeds(rest, b, moved, directions)
        (found,) = self._stacked_rows(moved + np.multiply.outer(speeds, rest.faster))
        return np.asarray(found)

    def phase_form(self, b: Floats) -> Floats:
        """Return the linear form of the means of the modes that vanishes by the phase condition, A T(b)."""
        return np.asarray(self.scales * self._turned(b))

    def speeds(self, rest: AtRest, b: Floats, moved: Floats, directions: Floats | None = None) -> Floats:
        """Return the changes of omega that keep the phase condition, (n,); zero at the uniform density.

        Parameters
        ----------
        rest
            The density at rest at b.
        b
            The unknown.
        moved : (n, 2 N) float
            Changes of the moments of cells 1..N at a fixed omega.
        directions : (n, size) float, optional
            Those of the unknown with which they go; by default it stays as it is.
        """
        form = self.phase_form(b)
        lever = float(form @ rest.faster[self._places])
        if not lever:
            return np.zeros(len(moved))
        turned = moved[:, self._places] @ form
        if directions is not None:
            # T is antisymmetric: of a direction times the image it is minus the turned image.
            turned = turned - directions @ self._turned(self.scales * rest.moments[self._places])
        return np.asarray(-turned / lever)

    def _resized(self, basis: Basis, significant: SignificantDegrees) -> StationaryEquation:
        """Return the same equation in a basis of other modes."""
        equation = super()._resized(basis, significant)
        assert isinstance(equation, RotatingEquation)
        equation.phase_cell = self.phase_cell
        return equation

    def _turned(self, b: Floats) -> Floats:
        """Return T(b), the derivative of b under rotation, in steps of the angle times the symmetry."""
        cosine, sine = np.split(b, 2)
        return np.asarray(np.concatenate([-sine, cosine]) * self._cells)

    def _rotation(self, b: Floats) -> tuple[Floats, Floats]:
        """Return T/(e.T) and e; T/|T| twice where the cosine of the phase cell vanishes, zero without moments."""
        turned, sine = self._turned(b), np.zeros(b.size)
        sine[self.basis.cells.size + int(np.searchsorted(self.basis.cells, self.phase_cell))] = 1.0
        along, length = float(turned @ sine), float(np.linalg.norm(turned))
        if abs(along) <= EPS * length:
            unit = turned / length if length else turned
            return unit, unit
        return turned / along, sine

    def at_rest(self, b: Floats, q: float, near: float | None = None) -> AtRest:
        """Return the density at rest in the frame that rotates with it, nan if none fulfils the phase condition.

        Omega is found from one near it, by default from that with which the significant moments turn at once.
        """
        drift = self._drift(b, q)
        if not np.any(b):
            return AtRest(self, drift, self._speed_at_uniform(q))
        spectrum, turned = self._spectrum(drift), self._turned(b)
        speed, fastest = self._first_speed(b, spectrum) if near is None else near, float(np.abs(spectrum).sum())
        before, sides = np.inf, dict[bool, float]()
        for _ in range(STEPS):
            rest = AtRest(self, drift, speed, spectrum)
            image, change = (self.scales * each[self._places] for each in (rest.moments, rest.faster))
            missed = float(image @ turned)
            step = -missed / float(change @ turned)
            size, scale = abs(step), 1.0 + fastest + abs(speed)
            # Where the density hardly changes with omega steps get no smaller than its rounding.
            slow = size >= 0.5 * before
            if not size > SHORT * scale or (slow and size <= ROUNDING * scale):
                return rest
            sides[missed > 0.0], before, speed = speed, size, speed + step
            # Steps that do not get smaller, or leap, pass the angular velocity: it is between those on both sides.
            if len(sides) == 2 and (slow or not min(sides.values()) < speed < max(sides.values())):
                speed = 0.5 * sum(sides.values())
        return AtRest(self, drift, np.nan)

    def _first_speed(self, b: Floats, spectrum: Complexes) -> float:
        """Return the omega with which the significant moments turn at once."""
        cosine, sine = np.split(b / self.scales, 2)
        moments = np.zeros(self.basis.nodes + 1, dtype=complex)
        moments[self.basis.cells], moments[0] = cosine - 1j * sine, 1.0
        # Of their product the coefficients of the significant cells alone, from the first one on.
        first, last = int(self.basis.cells[0]), int(self.basis.cells[-1])
        whole = np.concatenate([spectrum[:0:-1].conj(), spectrum])
        near = whole[self.basis.nodes + first : spectrum.size + self.basis.nodes + last]
        product = np.convolve(near, np.concatenate([moments[:0:-1].conj(), moments]), "valid")
        weights = self.scales[: self.basis.cells.size] ** 2 * moments[self.basis.cells].conj()
        turning = float((weights * product[self.basis.cells - first]).real.sum())
        return turning / float(b @ b)

    def _speed_at_uniform(self, q: float) -> float:
        """Return the omega of the mode nearest to critical at the uniform state."""
        count = self.basis.cells.size
        place = int(np.argmin(np.abs(self.distances(q)[:count])))
        (change,) = self.drift_changes(np.zeros(2 * count), q, np.eye(1, 2 * count, place))
        return float(self._spectrum(change)[self.basis.cells[place]].real * self.scales[place])

    def _slopes(self, b: Floats, q: float) -> Slopes:
        """Return the derivatives of the moments, omega following the phase condition."""
        rest, directions = self.at_rest(b, q), np.eye(b.size + 1, b.size)
        changes = np.vstack([self.drift_changes(b, q, np.eye(b.size)), self._drift(b, q) / q])
        moved = rest.responses(changes)
        moved += np.multiply.outer(self.speeds(rest, b, moved, directions), rest.faster)
        return Slopes(moved[:-1].T, moved[-1])

    def _stacked_rows(self, moved: Floats) -> Floats:
        """Return changes of the moments in the layout of the basis from those of cells 1..N, in rows."""
        return np.array([self.stacked(row, 0.0) for row in moved])
