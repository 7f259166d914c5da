"""All states at a fixed coupling, found without a seed from the user."""

import mpmath
import numpy as np
import pytest

from meanfield import Circle, CosineSeries, InvalidInput, Kuramoto, Logarithmic, McKeanVlasov, Transformer
from solvers import stationary_states


def states(potential, coupling, confinement=None, **options):
    problem = McKeanVlasov(Circle(), potential, coupling=coupling, confinement=confinement)
    return stationary_states(problem, **{"rates": False, **options})


def test_kuramoto_exact():
    clustered, uniform = states(Kuramoto(), 3.0)
    with mpmath.workdps(30):
        r = mpmath.findroot(lambda r: r - mpmath.besseli(1, 3 * r) / mpmath.besseli(0, 3 * r), 0.7)
        gap = 1.5 * r**2 - mpmath.log(mpmath.besseli(0, 3 * r))
    assert clustered.order_parameter(1) == pytest.approx(float(r), rel=1e-14)
    assert clustered.free_energy_gap == pytest.approx(float(gap), rel=1e-13)
    assert (clustered.minimiser, uniform.minimiser) == (True, False)
    assert (clustered.unstable, uniform.unstable) == (0, 2)


@pytest.mark.parametrize(
    ("relative", "count", "winner"), [(0.85, 1, "uniform"), (0.905, 3, "uniform"), (0.95, 3, "1-cluster")]
)
def test_hysteresis_of_the_transformer(relative, count, winner):
    """Below the fold only uniform; between fold and kappa_T uniform wins, above it the cluster."""
    found = states(Transformer(5.0), relative * 0.205459957486723413)
    assert len(found) == count
    assert found[0].label == winner
    assert [state.minimiser for state in found] == [True] + [False] * (count - 1)


def test_states_that_no_branch_leads_to():
    """With nearly equal first and third modes a pair of states is born in a fold, unconnected to the rest."""
    found = states(CosineSeries((-1.0, 0.0, -0.999999)), 2.5)
    assert sorted(state.unstable for state in found) == [0, 1, 2, 2, 4]
    # Morse: the even densities are a cell; maxima, saddles and minima, with rotated copies, alternate to one.
    assert all(state.residual < 1e-13 for state in found)


def test_no_cluster_for_the_logarithm_off_its_couplings():
    found = states(Logarithmic(1), 2.5)
    assert [state.label for state in found] == ["uniform"]
    # The free energy is unbounded below: nothing is the minimiser.
    assert found[0].minimiser is None
    assert [state.label for state in states(Logarithmic(-1), 40.0)] == ["uniform"]


def test_confined():
    """Kuramoto in a weak field against the mean direction: three states, m = I_1/I_0(kappa m + h)."""
    found = states(Kuramoto(), 4.0, confinement=CosineSeries((-0.1,)))
    for state in found:
        m = state.cosine[1]
        ratio = mpmath.besseli(1, 4 * m + 0.1) / mpmath.besseli(0, 4 * m + 0.1)
        assert m == pytest.approx(float(ratio), abs=1e-13)
    assert len(found) == 3
    assert found[0].cosine[1] > 0


def test_moments_do_not_depend_on_noise_scaling():
    one = states(CosineSeries((-1.0, -1.5)), 2.9)
    problem = McKeanVlasov(Circle(), CosineSeries((-1.0, -1.5)), noise=0.1, coupling=0.29)
    other = stationary_states(problem, rates=False)
    assert len(one) == len(other)
    for first, second in zip(one, other, strict=True):
        count = min(first.cosine.size, second.cosine.size)
        assert np.abs(first.cosine[:count] - second.cosine[:count]).max() < 1e-13


def test_free_coupling_is_refused():
    with pytest.raises(InvalidInput, match="coupling"):
        stationary_states(McKeanVlasov(Circle(), Kuramoto()))
