"""Two-layer networks of unit neurons on the circle, from data."""

from collections.abc import Sequence

import numpy as np

from ..arguments import checked
from ..domains import Circle
from ..errors import InvalidInput
from ..potentials import ArcCosine, Perceptron
from ..potentials.series import checked_coefficients
from .mckean_vlasov import McKeanVlasov


@checked
def two_layer(inputs: Sequence[float], outputs: Sequence[float], noise: float) -> McKeanVlasov:
    r"""Return the noisy gradient descent of a two-layer network with unit neurons on the circle, at coupling 1.

    The density is that of the weights w of the neurons :math:`\langle x, w\rangle_+`, and its energy the loss
    :math:`\frac12\mathbb E(y - \int\langle x, w\rangle_+ d\rho(w))^2`, see :mod:`meanfield.potentials.neurons`.

    Parameters
    ----------
    inputs : (n,) float
        Angles of the inputs x_i, a sample of the uniform distribution: the interaction is that of uniform inputs,
        the confinement :math:`-\frac1n\sum_i y_i\langle x_i, w\rangle_+` that of these.
    outputs : (n,) float
        The values y_i to be fitted there.
    noise
        D >= 0.

    Raises
    ------
    InvalidInput
        If inputs and outputs are not as many finite numbers, or all outputs vanish.

    Examples
    --------
    >>> problem = two_layer([0.0, 1.5, 3.0, 4.5], [1.0, 0.0, 0.0, 0.5], noise=0.1)
    >>> problem.potential, problem.confinement.weights
    (ArcCosine(), (0.25, 0.0, 0.0, 0.125))
    """
    angles = checked_coefficients(inputs, "inputs", "two_layer([0.0, 2.0], [1.0, 0.5], noise=0.1)")
    values = checked_coefficients(outputs, "outputs", "two_layer([0.0, 2.0], [1.0, 0.5], noise=0.1)")
    if len(angles) != len(values):
        raise InvalidInput(
            f"every input has an output, and there are {len(angles)} inputs and {len(values)} outputs; give as many"
        )
    if not any(values):
        raise InvalidInput(
            "all outputs are 0, so that there is nothing to fit; without data the network is "
            "McKeanVlasov(Circle(), ArcCosine())"
        )
    weights = tuple((np.array(values) / len(values)).tolist())
    return McKeanVlasov(Circle(), ArcCosine(), noise, 1.0, Perceptron(weights, angles, "step"))
