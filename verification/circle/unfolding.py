r"""Modes n and 2n or 3n nearly critical together: the reduced energy (T6) and its critical points.

With :math:`z=c_n, w=c_m, p=m/n`, :math:`\epsilon_k=1-\lambda_k`,

.. math:: (F-F_0)/D = \epsilon_n|z|^2 + \epsilon_m|w|^2 + \tfrac{b_n}2|z|^4 + \tfrac{b_m}2|w|^4 - C|z|^2|w|^2
                      + r\,\mathrm{Re}(z^p\bar w) ,

for p = 2 with r = -1 and no other term of z beyond the second order, since :math:`w\approx\epsilon_n` is then of
the order of the detuning and :math:`|z|^2` of its square. Up to rotations z and w are real at critical points.
"""

import math

import numpy as np

from meanfield import Equation, critical_couplings, resonance

from ..claims import Evidence, claim, worst
from ..measures import Floats
from ..reduced import OTHERS, SMALLEST, Critical, held_against, unstable
from ..tools import Tools
from .uniform import attractive

# Largest distance of the two thresholds: its root, of which the amplitudes near 1:3 are multiples, is one that is
# compared. And modes looked at.
LARGEST, MODES = 0.02, 64
# Smallest coefficient of the reduced energy that terms of higher order do not outweigh.
DEGENERATE = 0.1


def near_resonance(problem: Equation) -> str | None:
    """Return the reason why the first two thresholds are not near and of n and 2n or 3n alone, or None if so."""
    reason = attractive(problem)
    if reason is not None:
        return reason
    n, m, third = _first_three(problem)
    couplings = np.asarray(critical_couplings(problem, MODES), dtype=float)
    distance = abs(couplings[m] / couplings[n] - 1.0)
    if m not in (2 * n, 3 * n):
        return f"the modes of the first two thresholds are {n} and {m}"
    if not SMALLEST < distance <= LARGEST:
        return f"the thresholds of modes {n} and {m} are at a relative distance of {distance:.3g}"
    if abs(couplings[third] / couplings[n] - 1.0) < OTHERS:
        return f"mode {third} is nearly critical too"
    energy = resonance(problem, n, m)
    coefficients = [*(b for b in energy.curvatures if not math.isnan(b)), energy.resonant]
    if min(abs(coefficient) for coefficient in coefficients) < DEGENERATE:
        return "a coefficient of the reduced energy is nearly zero"
    return None


def _first_three(problem: Equation) -> tuple[int, int, int]:
    """Return the modes of the first two thresholds, ascending, and of the third, modes without threshold last."""
    couplings = np.asarray(critical_couplings(problem, MODES)[1:], dtype=float)
    first, second, third = np.argsort(np.where(couplings > 0.0, couplings, np.inf), kind="stable")[:3] + 1
    return int(min(first, second)), int(max(first, second)), int(third)


@claim(
    "circle.unfolding",
    "modes n and 2n or 3n nearly critical together",
    statement=(
        "Between and beside all couplings at which its critical points change, the small states are those of the "
        "reduced energy: as many, with their moments to leading order, and with as many unstable directions as its "
        "Hessian has."
    ),
    assumptions="thresholds of modes n and 2n or 3n at a small distance, no third one near",
    source="Lyapunov-Schmidt reduction at the exact resonance, its quadratic terms unfolded",
    hypotheses=near_resonance,
)
def unfolding(problem: Equation, tools: Tools) -> Evidence:
    """Compare the states between and beside the couplings of change with the critical points."""
    n, m, _ = _first_three(problem)
    couplings = critical_couplings(problem, m)
    reduced = _Reduced(problem, n, m)
    thresholds = float(couplings[n]), float(couplings[m])
    # At 1:3 two of the mixed states are born at a fold and are connected to nothing else.
    return worst(list(held_against(problem, tools, (n, m), thresholds, reduced.critical, connected=m == 2 * n)))


class _Reduced:
    """The reduced energy of modes n and m as a function of the coupling."""

    def __init__(self, problem: Equation, n: int, m: int) -> None:
        energy = resonance(problem, n, m)
        self.power = m // n
        self.thresholds = np.asarray(critical_couplings(problem, m)[[n, m]], dtype=float)
        self.resonant = energy.resonant
        self.first, self.second = (0.0 if math.isnan(b) else b for b in energy.curvatures)
        self.cross = 0.0 if math.isnan(energy.cross) else energy.cross

    def critical(self, coupling: float) -> list[Critical]:
        """Return the critical points beside the uniform one, one of each orbit."""
        linear = 1.0 - coupling / self.thresholds
        square = -linear[1] / self.second
        found = [("pure", 0.0, math.sqrt(square))] if square > 0.0 else []
        mixed = self._cubic(linear) if self.power == 2 else self._quartic(linear)
        found += [("mixed", z, w) for z, w in mixed]
        return [Critical(kind, z, abs(w), unstable(self._hessian(z, w, linear))) for kind, z, w in found]

    def _cubic(self, linear: Floats) -> list[tuple[float, float]]:
        """Return z > 0 and w of mixed states for p = 2: w = eps_n, z^2 = 2 w (eps_m + b_m w^2)."""
        w = float(linear[0])
        square = 2.0 * w * float(linear[1] + self.second * w * w)
        return [(math.sqrt(square), w)] if square > 0.0 else []

    def _quartic(self, linear: Floats) -> list[tuple[float, float]]:
        """Return z > 0 and w = x z of mixed states for p = 3.

        z^2 (b_n - C x^2 + 3/2 r x) = -eps_n, and eps_m x (b_n - C x^2 + 3/2 r x) = eps_n (b_m x^3 - C x + r/2).
        """
        one, two = linear
        b_n, b_m, c, r = self.first, self.second, self.cross, self.resonant
        equation = [-two * c - one * b_m, 1.5 * r * two, two * b_n + one * c, -0.5 * r * one]
        ratios = [float(x.real) for x in np.roots(equation) if abs(x.imag) <= 1e-9 * abs(x)]
        squares = [(x, -one / (b_n - c * x * x + 1.5 * r * x)) for x in sorted(ratios)]
        return [(math.sqrt(square), x * math.sqrt(square)) for x, square in squares if square > 0.0]

    def _hessian(self, z: float, w: float, linear: Floats) -> list[tuple[Floats, int]]:
        """Return the second derivatives in the real and imaginary parts of both at real z and w."""
        one, two = 2.0 * linear
        p, r, c = self.power, self.resonant, self.cross
        bend, twist = r * p * (p - 1) * z ** (p - 2) * w, r * p * z ** (p - 1)
        real = [
            [one + 6.0 * self.first * z * z - 2.0 * c * w * w + bend, twist - 4.0 * c * z * w],
            [twist - 4.0 * c * z * w, two + 6.0 * self.second * w * w - 2.0 * c * z * z],
        ]
        imaginary = [
            [one + 2.0 * self.first * z * z - 2.0 * c * w * w - bend, twist],
            [twist, two + 2.0 * self.second * w * w - 2.0 * c * z * z],
        ]
        return [(np.array(real), 1), (np.array(imaginary), 1)]
