"""Rates in confinements with kinks: finite volumes, the spectrum of smooth ones, and counts by inertia."""

import numpy as np
import pytest
from scipy.linalg import eigvalsh

from meanfield import Circle, CosineSeries, Custom, McKeanVlasov, NotResolved, Onsager, Perceptron, Transformer
from solvers import bifurcation_diagram, spectrum, stationary_states
from solvers.circle import kinked_spectra

RELU = Perceptron(weights=(1.0, 0.5), angles=(0.0, 0.5 * np.pi), activation="relu")


def in_volumes(problem, state, cells):
    """Return the lowest rates by finite volumes of second order, with cells that meet at the kinks of RELU."""
    step = 2.0 * np.pi / cells
    angles = step * np.arange(cells)
    kernel = problem.coupling * np.asarray(problem.potential.values(angles[:, None] - angles)) * step
    degrees = np.arange(state.cosine.size)
    multipliers = problem.potential.multipliers(problem.domain, degrees[-1]).astype(float)
    waves = np.exp(1j * np.multiply.outer(angles, degrees))

    def density(at):
        moments = waves[:, 1:] * np.exp(1j * degrees[1:] * (at - angles[0]))
        field = (moments @ (multipliers[1:] * (state.cosine - 1j * state.sine)[1:])).real
        return np.exp(-(problem.coupling * field + problem.confinement.values(angles + at)) / problem.noise)

    nodes, edges = density(0.0), density(0.5 * step)
    mass = step * nodes.sum()
    nodes, edges = nodes / mass, edges / mass
    slopes = (np.roll(np.eye(cells), 1, axis=1) - np.eye(cells)) / step
    stiffness = slopes.T @ (edges[:, None] * slopes)
    second = problem.noise * np.diag(1.0 / nodes) + kernel
    values, vectors = np.linalg.eigh(stiffness)
    root = np.sqrt(np.maximum(values[1:], 0.0))[:, None] * vectors.T[1:]
    return eigvalsh(root @ second @ root.T)[:4]


def test_rates_are_the_limit_of_finite_volumes():
    problem = McKeanVlasov(Circle(), Transformer(1.0), 1.0, 2.0, RELU)
    for state in stationary_states(problem):
        coarse, fine, finest = (in_volumes(problem, state, cells) for cells in (160, 320, 640))
        limits = [(4.0 * two - one) / 3.0 for one, two in ((coarse, fine), (fine, finest))]
        found = -spectrum(state).eigenvalues[:4]
        # What two limits of second order differ by is the error of the first.
        assert np.abs(found - limits[1]).max() < np.abs(limits[1] - limits[0]).max() < 1e-3
        assert state.slowest_rate == pytest.approx(found[0], rel=1e-12)


def test_in_a_smooth_confinement_the_spectrum_is_that_of_the_moments():
    problem = McKeanVlasov(Circle(), Transformer(2.0), 1.0, 1.0, CosineSeries((-0.5, 0.3)))
    for state in stationary_states(problem, rates=False):
        known, elements = spectrum(state), kinked_spectra.spectrum(state)
        count = elements.eigenvalues.size
        assert count > 8
        np.testing.assert_allclose(elements.eigenvalues, known.eigenvalues[:count], rtol=1e-8, atol=elements.error)
        # The smallest is known to its error.
        place = int(np.argmin(np.abs(known.eigenvalues)))
        assert abs(elements.eigenvalues[place] - known.eigenvalues[place]) <= elements.error + known.error


@pytest.mark.parametrize(
    "confinement",
    [
        Perceptron(weights=(1.0, 0.5), angles=(0.0, 1.2), activation="relu"),
        Custom.from_callable(lambda angle: np.abs(np.sin(angle)), breakpoints=()),
        Custom.from_callable(lambda angle: np.maximum(1.0 - np.abs(angle), 0.0), breakpoints=(1.0,)),
    ],
)
def test_as_many_rates_grow_as_directions_are_unstable(confinement):
    states = stationary_states(McKeanVlasov(Circle(), Transformer(2.0), 1.0, 4.0, confinement))
    assert len(states) > 2
    for state in states:
        assert spectrum(state).unstable == state.unstable
        assert (state.slowest_rate < 0.0) == (state.unstable > 0)


def test_diagrams_have_rates_beside_kinks():
    diagram = bifurcation_diagram(McKeanVlasov(Circle(), Transformer(1.0), confinement=RELU), (0.0, 1.0))
    assert all(np.isfinite(branch.slowest_rate).all() for branch in diagram.branches)
    assert not any("left out" in text for text in diagram.warnings)


def test_singularities_and_kinked_potentials_are_refused_in_a_sentence():
    singular = Custom.from_callable(lambda angle: np.sqrt(np.abs(angle)), breakpoints=())
    (state, *_) = stationary_states(McKeanVlasov(Circle(), Transformer(1.0), 1.0, 0.2, RELU))
    with pytest.raises(NotResolved, match="singularity"):
        spectrum(state.replace(problem=state.problem.replace(confinement=singular)))
    with pytest.raises(NotResolved, match="at most 256 significant degrees"):
        spectrum(state.replace(problem=McKeanVlasov(Circle(), Onsager(), 1.0, 0.2, RELU)))
