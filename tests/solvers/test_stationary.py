"""All states at a fixed coupling, found without a seed from the user."""

import copy
import pickle

import mpmath
import numpy as np
import pytest

from meanfield import (
    Circle,
    CosineSeries,
    GegenbauerSeries,
    HarmonicSeries,
    HegselmannKrause,
    InvalidInput,
    Kuramoto,
    Logarithmic,
    McKeanVlasov,
    NotResolved,
    Onsager,
    Sphere,
    Transformer,
    critical_coupling,
)
from solvers import spectrum, stationary_states
from tests import problems

EPS = np.finfo(float).eps


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


@pytest.mark.parametrize("entry", problems.tagged("fixed", without="slow", exact="order parameter"))
def test_the_minimiser_has_its_exact_order_parameter_free_energy_and_rate(entry):
    state, *_ = stationary_states(entry.problem)
    assert state.minimiser
    assert state.order_parameter() == pytest.approx(entry.exact("order parameter"), abs=64 * EPS)
    if "free energy gap" in entry.values:
        gap = entry.exact("free energy gap")
        assert state.free_energy_gap == pytest.approx(gap, abs=64 * EPS * entry.problem.coupling)
    rates = [entry.exact(name) for name in entry.values if name.startswith("rate")]
    assert not rates or state.slowest_rate == pytest.approx(min(rates), rel=1e-11)


@pytest.mark.parametrize(
    ("relative", "count", "winner"), [(0.85, 1, "uniform"), (0.905, 3, "uniform"), (0.95, 3, "1-cluster")]
)
def test_hysteresis_of_the_transformer(relative, count, winner):
    """Below the fold only uniform; between fold and kappa_T uniform wins, above it the cluster."""
    found = states(Transformer(5.0), relative * problems.TRANSFORMER.exact("critical coupling"))
    assert len(found) == count
    assert found[0].label == winner
    assert [state.minimiser for state in found] == [True] + [False] * (count - 1)


def test_states_that_no_branch_leads_to():
    """With nearly equal first and third modes a pair of states is born in a fold, unconnected to the rest."""
    found = states(CosineSeries((-1.0, 0.0, -0.999999)), 2.5)
    assert sorted(state.unstable for state in found) == [0, 1, 2, 2, 4]
    assert all(state.residual < 1e-13 for state in found)


def test_a_family_of_states_is_represented_by_a_member():
    """Attractive logarithm at kappa = 2Dn: all Poisson kernels in n t, with the free energy of the uniform state."""
    uniform, member = states(Logarithmic(1), 2.0)
    assert (uniform.minimiser, member.label) == (True, "1-cluster, one of a family")
    assert member.cosine[2] == pytest.approx(member.cosine[1] ** 2, rel=1e-12)
    assert member.unstable == 0
    assert abs(member.free_energy_gap) <= 1e-14
    assert [state.symmetry for state in states(Logarithmic(1), 4.0)] == [0, 2]


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
        stationary_states(problems.KURAMOTO.problem)


def test_searched_states_are_at_the_coupling_asked_for():
    """A state that needs a finer grid than the search began with is solved at the same coupling on it."""
    clustered, uniform = states(Onsager(), 3 * 1.5 * np.pi)
    assert uniform.label == "uniform"
    field = np.zeros(400)
    degrees = np.arange(1, clustered.cosine.size)
    multipliers = Onsager().multipliers(Circle(), clustered.cosine.size - 1)
    field[degrees] = -clustered.coupling * multipliers[1:] * clustered.cosine[1:]
    angles = 2 * np.pi * np.arange(4096) / 4096
    density = np.exp(np.cos(np.outer(angles, np.arange(400))) @ field)
    density /= density.sum()
    for k in (2, 4, 40, 100):
        assert clustered.cosine[k] == pytest.approx(np.cos(k * angles) @ density, abs=1e-13)


def test_concentrated_minimiser_is_found():
    """W = -cos, kappa = 4000: a von Mises density of variance about 1/4000."""
    clustered, _ = states(Kuramoto(), 4000.0)
    with mpmath.workdps(30):
        x = mpmath.findroot(lambda x: x - 4000 * mpmath.besseli(1, x) / mpmath.besseli(0, x), 4000)
        exact = mpmath.besseli(1, x) / mpmath.besseli(0, x)
    assert clustered.order_parameter(1) == pytest.approx(float(exact), rel=1e-13)
    assert clustered.minimiser


@pytest.mark.parametrize("coupling", [4e3, 1e5])
def test_rounding_of_large_fields_is_no_lack_of_resolution(coupling):
    """Exactly m_2 = 1 - 2D/kappa at every Kuramoto state; the field is of the size of the coupling."""
    clustered, _ = states(Kuramoto(), coupling)
    assert clustered.cosine[2] == pytest.approx(1 - 2 / coupling, abs=4 * np.finfo(float).eps)
    assert clustered.minimiser


def test_a_minimiser_beyond_the_resolution_is_refused_and_not_replaced():
    with pytest.raises(NotResolved, match="modes"):
        states(Kuramoto(), 1e8)
    found = states(Kuramoto(), 1e8, on_failure="return")
    assert [state.minimiser for state in found] == [None] * len(found)


def test_states_of_branches_born_above_the_coupling():
    """A secondary branch that reaches down from above: five states, as an independent multistart finds."""
    w = (-1.0, -0.8466144569770441, -0.5792012140934791, -1.0944125670021223, -0.9199384993439977)
    energies = [state.free_energy_gap for state in states(CosineSeries(w), 1.6447179557985736)]
    for expected in (-0.009843920574594, 0.007454330958209):
        assert min(abs(energy - expected) for energy in energies) < 1e-12


def test_unknown_failure_mode_is_refused():
    with pytest.raises(InvalidInput, match="on_failure"):
        states(HegselmannKrause(2.0), 1.0, on_failure="ignore")


@pytest.mark.parametrize("coupling", [10.5, 10.6816, 10.7, 10.7149, 10.73, 10.8])
def test_states_beside_a_branch_point_are_not_lost_to_the_branch_they_leave(coupling: float) -> None:
    """Between a transcritical branch point at 10.479 and the first point beyond it a second 1-cluster exists."""
    problem = McKeanVlasov(Circle(), CosineSeries((0.961, -0.813, -1.205)), coupling=coupling)
    found = stationary_states(problem, rates=False)
    small = [state for state in found if state.symmetry == 1 and abs(state.cosine[1]) < 0.02]
    assert len(small) == 1
    assert small[0].unstable == 1
    # The branch leaves to one side only beyond the branch point.
    assert small[0].cosine[1] > 0.0


def test_a_stable_state_that_no_branch_leads_to_is_found():
    """Two 1-clusters on a branch of their own, one of them stable: known from many random starts of Newton's method."""
    weights = (
        -1.0827697921833037,
        0.9280181799457722,
        -0.6056957841126244,
        1.7887114610352841,
        0.494030818895,
        -1.01117342,
    )
    found = states(CosineSeries(weights), 5.243662273008837)
    energies = {round(state.free_energy_gap, 5): state.unstable for state in found}
    assert energies[-1.34891] == 0
    assert energies[-1.34763] == 1
    assert found[0].free_energy_gap == pytest.approx(-1.76772, abs=1e-5)


@pytest.mark.parametrize("potential", [Kuramoto(), CosineSeries((0.0, -1.0)), Transformer(0.5)], ids=str)
@pytest.mark.parametrize("excess", [1e-6, 1e-8, 1e-10, 1e-12])
def test_no_unstable_state_is_called_the_minimiser_beside_a_threshold(potential, excess):
    """Beyond a supercritical threshold the uniform state is unstable, and energies agree to rounding."""
    critical = float(critical_coupling(McKeanVlasov(Circle(), potential)))
    lowest, other = states(potential, critical * (1.0 + excess))
    assert (lowest.minimiser, lowest.unstable) == (True, 0)
    assert (other.label, other.minimiser, other.unstable) == ("uniform", False, 2)


@pytest.mark.parametrize("confinement", [None, CosineSeries((-1.0,))], ids=["free", "confined"])
@pytest.mark.parametrize("coupling", [1e-10, -1e-10])
@pytest.mark.parametrize("potential", [HegselmannKrause(1.0), Kuramoto()], ids=str)
def test_at_a_coupling_that_hardly_acts_there_is_one_state(potential, coupling, confinement):
    (only,) = states(potential, coupling, confinement)
    assert only.minimiser
    assert only.unstable == 0


@pytest.fixture
def rates_read(monkeypatch):
    """Return the list of the labels of the states whose rates are computed."""
    from solvers import stationary

    read, compute = [], stationary._slowest_rate
    monkeypatch.setattr(stationary, "_slowest_rate", lambda state: read.append(state.label) or compute(state))
    return read


@pytest.mark.parametrize("confinement", [None, CosineSeries((0.3, -0.2))], ids=["free", "in a field"])
def test_rates_are_computed_when_they_are_read(confinement, rates_read):
    problem = McKeanVlasov(Circle(), CosineSeries((-1.0, -0.8)), coupling=3.0, confinement=confinement)
    found = stationary_states(problem)
    assert len(found) > 1
    assert "slowest_rate" not in repr(found[1])
    assert {found[0], found[1]}.isdisjoint(found[2:])
    assert rates_read == []
    rate = found[1].slowest_rate
    assert rate == found[1].slowest_rate == pytest.approx(spectrum(found[1]).slowest_rate, rel=1e-10)
    assert f"slowest_rate={rate!r}" in repr(found[1])
    assert rates_read == [found[1].label]


def test_rates_that_were_not_read_are_those_of_copies_as_well():
    found = stationary_states(McKeanVlasov(Circle(), Kuramoto(), coupling=3.0))
    copies = [pickle.loads(pickle.dumps(found[0])), copy.deepcopy(found[0]), found[0].replace(label="other")]
    assert [each.slowest_rate for each in copies] == 3 * [found[0].slowest_rate]
    assert copies[0] == found[0]
    assert stationary_states(found[0].problem, rates=False)[0].slowest_rate is None


def test_rates_in_a_field_about_another_axis_are_those_about_the_pole():
    potential = GegenbauerSeries((-1.0, -0.4))
    upright, tilted = (
        stationary_states(
            McKeanVlasov(Sphere(3), potential, coupling=4.0, confinement=HarmonicSeries(cosine=field))
        )
        for field in ((0.0, 0.5, 0.0), (0.0, 0.3, 0.4))
    )
    expected = [state.slowest_rate for state in upright]
    assert [state.slowest_rate for state in tilted] == pytest.approx(expected, rel=1e-9)
    # About its own axis a state does not change, which takes no direction off its spectrum.
    assert [spectrum(state).slowest_rate for state in tilted] == pytest.approx(expected, rel=1e-9)
