r"""Which velocities of tokens are gradients: without normalisation, and with softmax in another metric only.

The Jacobian of the velocities of N equal tokens is symmetric iff they are a gradient. For softmax with the weights
:math:`p_{ij}` and :math:`v_i = \sum_j p_{ij}\sin(x_j-x_i)` its entries off the diagonal are

.. math:: J_{ij} = p_{ij}\bigl(\cos(x_j-x_i) - \beta\sin(x_j-x_i)\,(\sin(x_j-x_i) - v_i)\bigr),

which is not symmetric, and :math:`\operatorname{diag}(Z)\,v`, Z being the means of the rows of
:math:`e^{\beta\langle x_i,x_j\rangle}`, is the velocity without normalisation.
"""

import numpy as np

from meanfield import Equation

from ..asymmetry import asymmetry, derivatives, displaced
from ..claims import Evidence, claim, compare, worst
from ..measures import Floats
from ..tools import Tools
from .laws import COUPLING, beta_of, is_softmax, jacobian_error, jacobian_of, on_circle, velocities

TOKENS = np.array([0.0, 1.0, 2.5])
# The index of softmax attention for these tokens at beta = 1, in all its digits; one unit of the last.
INDEX_AT_ONE, LAST_DIGIT = 0.1425129596999, 1e-13


def kernel(angles: Floats, beta: float) -> Floats:
    """Return exp(beta <x_i, x_j>) of tokens (..., N)."""
    return np.asarray(np.exp(beta * np.cos(angles[..., :, np.newaxis] - angles[..., np.newaxis, :])))


def exact_jacobian(problem: Equation, angles: Floats) -> Floats:
    """Return the Jacobian by the formula above, per unit of the coupling; rows sum to zero."""
    beta, turn = beta_of(problem), angles - angles[:, np.newaxis]
    weights, sines = kernel(angles, beta), np.sin(turn)
    sums = weights.sum(axis=1, keepdims=True) if is_softmax(problem) else float(angles.size)
    shares = weights / sums
    mean = (shares * sines).sum(axis=1, keepdims=True) if is_softmax(problem) else 0.0
    entries = shares * (np.cos(turn) - beta * sines * (sines - mean))
    np.fill_diagonal(entries, 0.0)
    return np.asarray(entries - np.diag(entries.sum(axis=1)))


@claim(
    "attention.gradient",
    "attention without normalisation is a gradient flow, softmax attention is not",
    statement=(
        "The Jacobian of the velocities of equal tokens is symmetric without normalisation. For softmax its index "
        "of asymmetry is that of the derivatives of the weights, 0.1425129596999 at the angles 0, 1, 2.5 and "
        "beta = 1; with the metric diag(Z), the mean weights of the rows, it is symmetric."
    ),
    assumptions="no noise; tokens on the circle",
    source="derivatives by hand; measured by central differences of the velocities of simulated particles",
    hypotheses=on_circle,
    needs=(),
)
def gradient(problem: Equation, tools: Tools) -> Evidence:
    """Compare the index of asymmetry of the Jacobian, plain and with the weights of the rows, with the formula."""
    coupled = problem.at(coupling=COUPLING)
    exact = COUPLING * exact_jacobian(coupled, TOKENS)
    measured = jacobian_of(coupled, TOKENS, tools)
    size, error = float(np.linalg.norm(exact + exact.T)), jacobian_error(coupled)
    # N entries of either sign in each of N rows, in the numerator and in the denominator.
    bound = 4 * TOKENS.size * error / size
    found = [
        compare(float(np.abs(measured - exact).max()), 0.0, error, "largest error of the Jacobian"),
        compare(asymmetry(measured), asymmetry(exact), bound, "index of asymmetry"),
    ]
    if is_softmax(coupled):
        found.append(_weighted(coupled, tools))
        if beta_of(coupled) == 1.0:
            found.append(compare(asymmetry(measured), INDEX_AT_ONE, bound + LAST_DIGIT, "index at beta = 1"))
    return worst(found)


def _weighted(problem: Equation, tools: Tools) -> Evidence:
    """Return the evidence that the velocities times the mean weights of the rows have a symmetric Jacobian."""
    places = displaced(TOKENS)
    moves = velocities(problem, places.reshape(-1, TOKENS.size), tools).reshape(places.shape)
    rows = kernel(places, beta_of(problem)).mean(axis=-1)
    matrix = derivatives(rows * moves)
    # Errors are multiplied by the weights, and derivatives of the weights appear beside those of the velocities.
    largest = float(rows.max()) * (1 + abs(beta_of(problem))) ** 2
    bound = 4 * TOKENS.size * largest * jacobian_error(problem) / float(np.linalg.norm(matrix + matrix.T))
    return compare(asymmetry(matrix), 0.0, bound, "index of asymmetry in the metric of the rows")
