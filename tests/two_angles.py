"""States of W = w_1 P_1 + w_2 P_2 on S^2 in fields of the same degrees: those of eight moments, by a product rule."""

import functools

import numpy as np
from scipy.optimize import root

EPS = np.finfo(float).eps


@functools.cache
def grid():
    """The eight harmonics of degrees 1 and 2, as (8, n), in the order of packed cosines, then sines; and weights."""
    heights, weights = np.polynomial.legendre.leggauss(48)
    azimuths = 2.0 * np.pi * np.arange(96) / 96
    z = np.repeat(heights[:, None], 96, axis=1).ravel()
    across = np.sqrt(1.0 - z**2)
    x, y = across * np.tile(np.cos(azimuths), 48), across * np.tile(np.sin(azimuths), 48)
    root_3 = np.sqrt(3.0)
    cosines = [z, x, 1.5 * z**2 - 0.5, root_3 * x * z, 0.5 * root_3 * (x**2 - y**2)]
    sines = [y, root_3 * y * z, root_3 * x * y]
    return np.array([*cosines, *sines]), np.repeat(weights, 96) / 192.0


# Places of the eight moments among packed cosines and sines.
COSINES, SINES = [1, 2, 3, 4, 5], [2, 4, 5]


def moments_of(cosine, sine):
    return np.concatenate([np.asarray(cosine)[COSINES], np.asarray(sine)[SINES]])


def attractions(weights):
    one, two = -np.array(weights)
    return np.array([one, one, two, two, two, one, two, two])


class Truth:
    """Stationary states of weights and a field of eight coefficients at a noise, by integrals over the sphere."""

    def __init__(self, weights, field, noise=1.0):
        self.sigma, self.field, self.noise = attractions(weights), np.asarray(field), noise

    def density(self, coupling, moments):
        modes, weights = grid()
        values = weights * np.exp((coupling * self.sigma * moments - self.field) / self.noise @ modes)
        return values / values.sum(), np.log(values.sum())

    def residual(self, coupling, moments):
        return grid()[0] @ self.density(coupling, moments)[0] - moments

    def energy(self, coupling, moments):
        quadratic = 0.5 * coupling * float(self.sigma * moments @ moments) / self.noise
        return quadratic - self.density(coupling, moments)[1]

    def jacobian(self, coupling, moments):
        modes, density = grid()[0], self.density(coupling, moments)[0]
        means = modes @ density
        covariance = (modes * density) @ modes.T - np.outer(means, means)
        return np.eye(8) - covariance * (coupling * self.sigma / self.noise)

    def fold(self, coupling, moments):
        """The fold nearest to a guess: coupling and moments, with the null vector as unknowns too."""
        null = np.linalg.svd(self.jacobian(coupling, moments))[2][-1]

        def conditions(unknown):
            vector = unknown[8:16]
            jacobian = self.jacobian(unknown[16], unknown[:8])
            return np.concatenate(
                [self.residual(unknown[16], unknown[:8]), jacobian @ vector, [null @ vector - 1.0]]
            )

        found = solved(conditions, [*moments, *null, coupling])
        return found[16], found[:8]

    def line(self, coupling, one, other):
        """The coupling of equal free energy nearest to a guess."""

        def conditions(unknown):
            pair = unknown[:8], unknown[8:16]
            residuals = [self.residual(unknown[16], moments) for moments in pair]
            energies = [self.energy(unknown[16], moments) for moments in pair]
            return np.concatenate([*residuals, [energies[0] - energies[1]]])

        return solved(conditions, [*one, *other, coupling])[16]


def solved(conditions, guess):
    for _ in range(3):
        guess = root(conditions, guess, tol=EPS).x
    return guess
