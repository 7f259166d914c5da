r"""Which velocities of tokens are gradients: without normalisation, and with softmax in another metric only.

The Jacobian of the velocities of N equal tokens is symmetric iff they are a gradient. For softmax with the weights
:math:`p_{ij}` and :math:`v_i = \sum_j p_{ij}\sin(x_j-x_i)` its entries off the diagonal are

.. math:: J_{ij} = p_{ij}\bigl(\cos(x_j-x_i) - \beta\sin(x_j-x_i)\,(\sin(x_j-x_i) - v_i)\bigr),

which is not symmetric, and :math:`\operatorname{diag}(Z)\,v`, Z being the means of the rows of
:math:`e^{\beta\langle x_i,x_j\rangle}`, is the velocity without normalisation. With the weights
:math:`a_ie^{\beta\langle x_i,x_j\rangle}a_j` of rows and columns that sum to one the velocity is a gradient again,
that of :math:`-\frac1\beta\sum_i\log a_i` by the places.
"""

import itertools
import math
from typing import Any

import numpy as np

from meanfield import Equation

from ..asymmetry import asymmetry, derivatives, displaced
from ..claims import Evidence, claim, compare, worst
from ..measures import Floats
from ..tools import Tools
from .laws import (
    COUPLING,
    beta_of,
    difference_error,
    is_softmax,
    jacobian_error,
    jacobian_of,
    on_circle,
    strip,
    unnormalised,
    velocities,
)

TOKENS = np.array([0.0, 1.0, 2.5])
# The index of softmax attention for these tokens at beta = 1, in all its digits; one unit of the last.
INDEX_AT_ONE, LAST_DIGIT = 0.1425129596999, 1e-13
# Rounds of the damped iteration, which shrink errors by (1 - mu)/2, mu being eigenvalues of the weights, above zero
# for beta > 0 and above -0.5 here; and angles of a circle about a token.
ITERATIONS, ROUND = 100, 32
# A step along the imaginary axis, which loses no digits however short it is.
TINY = 1e-30


def pulled(problem: Equation) -> str | None:
    """Return the reason why no pulls of pairs can be simulated, or None if they can."""
    return on_circle(problem) or unnormalised(problem)


def kernel(angles: Any, beta: float) -> Any:
    """Return exp(beta <x_i, x_j>) of tokens (..., N)."""
    return np.exp(beta * np.cos(angles[..., :, np.newaxis] - angles[..., np.newaxis, :]))


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


@claim(
    "attention.doubly-stochastic",
    "weights that sum to one in rows and columns make attention a gradient flow",
    statement=(
        "With the weights a_i exp(beta <x_i, x_j>) a_j of Sinkhorn, whose rows and columns sum to one, the "
        "Jacobian of the velocities of equal tokens is symmetric."
    ),
    assumptions="no noise; three tokens on the circle; pulls of pairs as they are simulated without normalisation",
    source="Sander, Ablin, Blondel, Peyre, arXiv:2110.11773; damped iteration a <- sqrt(a/(K a)), complex steps",
    hypotheses=pulled,
    needs=(),
)
def doubly_stochastic(problem: Equation, tools: Tools) -> Evidence:
    """Compare the Jacobian, by pulls of pairs of tokens times a_i a_j, with the formula, its index with zero."""
    coupled, beta = problem.at(coupling=COUPLING), beta_of(problem)
    places = displaced(TOKENS)
    scales = sinkhorn(kernel(places, beta))
    moves = scales * np.einsum("...ij,...j->...i", _pulls(coupled, places, tools), scales)
    matrix = derivatives(moves)
    # Pulls have twice the error of velocities, and every velocity is a sum of some of them times their scales.
    rounding = 2 * TOKENS.size * float((scales**2).max()) * difference_error(coupled, 0.0)
    error = rounding + difference_error(coupled, COUPLING * fifth_derivative_of_sinkhorn(beta))
    exact = COUPLING * sinkhorn_velocities(TOKENS + 1j * TINY * np.eye(TOKENS.size), beta).imag.T / TINY
    bound = 4 * TOKENS.size * error / float(np.linalg.norm(exact + exact.T))
    return worst(
        [
            compare(float(np.abs(matrix - exact).max()), 0.0, error, "largest error of the Jacobian"),
            compare(asymmetry(matrix), 0.0, bound, "index of asymmetry with the weights of Sinkhorn"),
        ]
    )


def sinkhorn(weights: Any) -> Any:
    """Return the numbers a (..., N) with a_i K_ij a_j of rows and columns that sum to one, K (..., N, N)."""
    scales = np.ones(weights.shape[:-1])
    for _ in range(ITERATIONS):
        scales = np.sqrt(scales / np.einsum("...ij,...j->...i", weights, scales))
    return scales


def sinkhorn_velocities(places: Any, beta: float) -> Any:
    """Return the velocities with these weights of tokens (..., N), real or complex, per unit of the coupling."""
    weights = kernel(places, beta)
    scales = sinkhorn(weights)
    sines = np.sin(places[..., np.newaxis, :] - places[..., :, np.newaxis])
    return scales * np.einsum("...ij,...j->...i", weights * sines, scales)


def fifth_derivative_of_sinkhorn(beta: float) -> float:
    """Return Cauchy's bound on fifth derivatives of the velocities by an angle, from a circle about each of them.

    Its radius is that of the bound for softmax, within which weights have arguments below pi/3.
    """
    radius = strip(beta)
    moved = radius * np.exp(2j * np.pi * np.arange(ROUND) / ROUND)
    places = TOKENS + moved[:, np.newaxis, np.newaxis] * np.eye(TOKENS.size)
    largest = float(np.abs(sinkhorn_velocities(places, beta)).max())
    return math.factorial(5) * largest / radius**5


def _pulls(problem: Equation, places: Floats, tools: Tools) -> Floats:
    """Return the pull of every token j of systems (..., N) on every other i, (..., N, N), from simulated pairs."""
    pulls = np.zeros((*places.shape, places.shape[-1]))
    for i, j in itertools.combinations(range(places.shape[-1]), 2):
        moves = velocities(problem, places[..., [i, j]].reshape(-1, 2), tools).reshape(*places.shape[:-1], 2)
        # The mean over two tokens halves the pull of the other.
        pulls[..., i, j], pulls[..., j, i] = 2 * moves[..., 0], 2 * moves[..., 1]
    return pulls


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
