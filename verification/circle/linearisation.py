r"""Linearised spectrum at a clustered state: T11.

In Fourier modes, even upper and odd lower sign, k, l >= 1,

.. math:: M_{kl}/D = -k^2\delta_{kl} + k\bigl[(k-l)\lambda_{|k-l|}c_{k-l} \pm (k+l)\lambda_{k+l}c_{k+l}
          + l\lambda_l (c_{k-l} \mp c_{k+l})\bigr] ,

and :math:`L = -AB` with :math:`B = D/\rho + \kappa W*`, so unstable directions are negative ones of B.
"""

from collections.abc import Iterator

import numpy as np

from meanfield import Equation, Logarithmic, Spectrum, State

from ..claims import Evidence, at_least, claim, compare, missing, worst
from ..tools import Tools
from .measures import EIGENVALUE, EPS, Floats, clustered_states, exponential_density, interval, shares
from .uniform import attractive

LEADING = 3
# Beyond this first moment the non-symmetric matrix loses the digits it is to confirm.
CONCENTRATED = 0.85
# At a bifurcation another eigenvalue is zero too: its sign says nothing and its vector mixes with rotation.
CRITICAL = 1e-6


def isolated_states(problem: Equation) -> str | None:
    """Return the reason why states have zero modes besides rotation, or do not exist; None if neither."""
    if isinstance(problem.potential, Logarithmic):
        return "its states form vertical families with a second zero mode"
    return attractive(problem)


@claim(
    "circle.T11",
    "spectrum of the linearisation",
    statement=(
        "The spectrum at a state is real; the number of positive eigenvalues is the number of negative "
        "directions of B = D/rho + kappa W*; rotation is an exact odd zero mode; the eigenvalues are those "
        "of the Fourier matrix of the linearised equation."
    ),
    assumptions="some clustered state exists and is isolated up to rotation",
    source="L = -A B, self-adjoint for <u, A^{-1} v>; Fourier matrix of the linearised equation",
    hypotheses=isolated_states,
)
def clustered_spectrum(problem: Equation, tools: Tools) -> Evidence:
    """Compare spectra with the Fourier matrix and with the inertia of B on a grid."""
    diagram = tools.diagram(problem, interval(problem))
    found: list[Evidence] = []
    for state in clustered_states(diagram, 4):
        amplitude = state.order_parameter(max(state.symmetry, 1))
        if 0.05 < amplitude < CONCENTRATED:
            found += _spectrum_evidence(state, tools.spectrum(state))
    return worst(found)


def _spectrum_evidence(state: State, spectrum: Spectrum) -> Iterator[Evidence]:
    where = f"on the {state.label} at coupling {state.coupling:.9g}"
    inertia, margin = negative_directions(state)
    if margin <= CRITICAL:
        return
    yield compare(spectrum.unstable, inertia, 0.0, f"positive eigenvalues {where}")
    if state.unstable is not None:
        yield compare(state.unstable, inertia, 0.0, f"unstable directions in the record {where}")
    if spectrum.rotation is None or spectrum.rotation_overlap is None:
        yield missing(f"rotation is not set apart {where}")
    else:
        noise = state.problem.noise
        yield compare(spectrum.rotation, 0.0, EIGENVALUE * noise, f"rotation eigenvalue {where}")
        yield at_least(spectrum.rotation_overlap, 1.0, EIGENVALUE, f"overlap with the generator {where}")
    if not np.any(state.sine):
        yield from _matrix_evidence(state, spectrum, where)


def _matrix_evidence(state: State, spectrum: Spectrum, where: str) -> Iterator[Evidence]:
    for parity, values, sign in (("even", spectrum.even, 1), ("odd", spectrum.odd, -1)):
        reference = np.linalg.eigvals(fourier_matrix(state, sign))
        real = np.sort(reference.real)[::-1]
        if sign < 0:
            real = np.delete(real, np.abs(real).argmin())
        for position in range(LEADING):
            expected = float(real[position])
            bound = EIGENVALUE * (abs(expected) + state.problem.noise)
            yield compare(values[position], expected, bound, f"{parity} eigenvalue {position + 1} {where}")


def fourier_matrix(state: State, sign: int) -> Floats:
    """Return the matrix of the linearised equation on cosines (sign 1) or sines (sign -1)."""
    size = max(32, 2 * state.modes)
    k = np.arange(1, size + 1)
    c = np.zeros(2 * size + 1)
    used = min(c.size, state.cosine.size)
    c[:used] = state.cosine[:used]
    lam = shares(state.problem, state.coupling, 2 * size)
    difference, total = k[:, None] - k, k[:, None] + k
    near, far = c[np.abs(difference)], c[total]
    force = difference * lam[np.abs(difference)] * near + sign * total * lam[total] * far
    response = (k * lam[k])[None, :] * (near - sign * far)
    return np.asarray(state.problem.noise * (np.diag(-(k**2.0)) + k[:, None] * (force + response)))


def negative_directions(state: State) -> tuple[int, float]:
    """Return the number of negative directions of B, rotation excluded, and the distance of its spectrum from 0.

    With v = u/sqrt(rho) the form is D |v|^2 + kappa <v, sqrt(rho) W * sqrt(rho) v> / D on v orthogonal to
    sqrt(rho); rho'/sqrt(rho), in its kernel, is projected out.
    """
    angles, density, _ = exponential_density(state)
    if angles.size > 512:
        stride = angles.size // 512
        angles, density = angles[::stride], density[::stride]
    root = np.sqrt(density)
    degree = angles.size // 2 - 1
    lam = shares(state.problem, state.coupling, degree)[1:]
    distance = np.subtract.outer(np.arange(angles.size), np.arange(angles.size)) % angles.size
    kernel = 2 * np.cos(np.multiply.outer(angles, np.arange(1, degree + 1))) @ lam
    form = np.eye(angles.size) - root[:, None] * kernel[distance] * root / angles.size
    modes = np.fft.rfftfreq(angles.size, 1 / angles.size)
    generator = np.fft.irfft(1j * modes * np.fft.rfft(density), angles.size) / np.maximum(root, EPS)
    kept = np.linalg.svd(np.stack([root, generator]), full_matrices=True)[2][2:]
    values = np.linalg.eigvalsh(kept @ form @ kept.T)
    return int((values < 0).sum()), float(np.abs(values).min())
