"""Spectra at zonal states against the closed forms and a dense, non-symmetric Galerkin matrix of the equation."""

import numpy as np
import pytest
from scipy.special import eval_gegenbauer, roots_jacobi

from meanfield import CosineSeries, Kuramoto, McKeanVlasov, State, Transformer
from meanfield.domains import Circle, Sphere
from solvers.sphere.rates import slowest_rate
from solvers.sphere.spectra import sector_spectrum, spectrum

MAIER_SAUPE = CosineSeries((0.0, -1.0))


class Dense:
    """The linearised equation in orthonormal harmonics, on scipy's quadrature: no weights, no symmetric form."""

    def __init__(self, problem, degree=60, nodes=200):
        self.problem, self.degree = problem, degree
        self.dimension = d = problem.domain.dimension
        self.nodes, weights = roots_jacobi(nodes, 0.5 * (d - 3), 0.5 * (d - 3))
        self.weights = weights / weights.sum()
        multiplicity = np.array([float(problem.domain.multiplicity(l)) for l in range(degree + 1)])
        self.convolution = problem.potential.multipliers(problem.domain, degree).astype(float) / multiplicity
        self.polynomials = self._functions(0)[0] / np.sqrt(multiplicity)[:, None]
        self.slopes = self._functions(0)[1] / np.sqrt(multiplicity)[:, None]
        self.external = np.zeros(degree + 1)
        if problem.confinement is not None:
            self.external = problem.confinement.multipliers(problem.domain, degree).astype(float)

    def _functions(self, order):
        """Orthonormal functions of a sector and their derivatives in u."""
        u, across = self.nodes, 1.0 - self.nodes**2
        index = 0.5 * (self.dimension - 2) + order
        degrees = np.arange(self.degree - order + 1)
        values = np.array([eval_gegenbauer(k, index, u) for k in degrees])
        slopes = np.array([2 * index * eval_gegenbauer(k - 1, index + 1, u) if k else 0 * u for k in degrees])
        slopes = across ** (0.5 * order) * slopes - order * u * across ** (0.5 * order - 1) * values
        values = across ** (0.5 * order) * values
        norms = np.sqrt(values**2 @ self.weights)[:, None]
        return values / norms, slopes / norms

    def field(self, moments):
        """Coefficients of Phi = kappa W * rho + V in the P_l."""
        w = self.problem.potential.multipliers(self.problem.domain, self.degree).astype(float)
        return self.problem.coupling * w * moments + self.external

    def density(self, moments):
        exponent = -(self.field(moments) @ self.polynomials) / self.problem.noise
        density = np.exp(exponent - exponent.max())
        return density / (density @ self.weights)

    def state(self, start):
        """The state nearest to a start, by Newton on the moments."""
        moments = np.append(1.0, np.zeros(self.degree))
        moments[1 : len(start) + 1] = start
        w = self.problem.potential.multipliers(self.problem.domain, self.degree).astype(float)
        for _ in range(60):
            weighted = self.density(moments) * self.weights
            means = self.polynomials @ weighted
            covariance = (self.polynomials * weighted) @ self.polynomials.T - np.outer(means, means)
            jacobian = np.eye(self.degree + 1) + covariance * (self.problem.coupling / self.problem.noise * w)
            step = np.linalg.solve(jacobian, means - moments)
            moments = moments + step
            if np.abs(step).max() < 1e-15:
                break
        residual = float(np.abs(self.polynomials @ (self.density(moments) * self.weights) - moments).max())
        even = self.problem.confinement is None and np.abs(moments[1::2]).max() < 1e-14
        return State(
            self.problem, moments, np.zeros_like(moments), 0.0, None, 2 if even else 1, residual, self.degree
        )

    def eigenvalues(self, state, order):
        """All eigenvalues of L on densities sum_l a_l psi_l, largest first."""
        problem, across = self.problem, 1.0 - self.nodes**2
        values, slopes = self._functions(order)
        share = order * (order + self.dimension - 3)
        density = self.density(state.cosine)
        drift = self.field(state.cosine) @ self.slopes
        rows, around = slopes * (across * self.weights), values * (share / across * self.weights)
        free = problem.noise * (rows @ slopes.T + around @ values.T)
        carried = (rows * drift) @ values.T
        attracted = (rows * density) @ slopes.T + (around * density) @ values.T
        matrix = free + carried + problem.coupling * attracted * self.convolution[order:]
        if order == 0:
            matrix = matrix[1:, 1:]
        found = np.linalg.eigvals(-matrix)
        assert np.abs(found.imag[np.argsort(-found.real)[:10]]).max() < 1e-9
        return np.sort(found.real)[::-1]


def on(dimension, potential, coupling, noise=1.0, confinement=None):
    return McKeanVlasov(Sphere(dimension), potential, noise, coupling, confinement)


CASES = {
    "transformer": (on(3, Transformer(beta=1.0), 2 * np.e), (0.5,)),
    "concentrated": (on(3, Transformer(beta=3.0), 3.0), (0.9, 0.7)),
    "dipole": (on(3, Kuramoto(), 5.0), (0.7,)),
    "dipole in 8": (on(8, Kuramoto(), 20.0, noise=1.3), (0.7,)),
    "transformer in 8": (on(8, Transformer(beta=2.0), 12.0), (0.8, 0.6)),
    "prolate": (on(3, MAIER_SAUPE, 6.0), (0.0, 0.6)),
    "oblate": (on(3, MAIER_SAUPE, 6.0), (0.0, -0.2)),
    "oblate in 8": (on(8, MAIER_SAUPE, 60.0, noise=0.7), (0.0, -0.1)),
    "confined": (on(3, Kuramoto(), 2.0, noise=0.8, confinement=CosineSeries((-0.3, 0.5))), (0.2,)),
    "confined in 8": (on(8, Transformer(beta=1.0), 7.0, confinement=CosineSeries((0.8, -0.5))), (-0.3,)),
}
