"""Whole diagrams against theory and against values computed independently in high precision."""

import itertools

import mpmath
import numpy as np
import pytest

from meanfield import (
    Branch,
    Circle,
    CosineSeries,
    HegselmannKrause,
    InvalidInput,
    Kuramoto,
    Logarithmic,
    McKeanVlasov,
    NotResolved,
    Onsager,
    Outcome,
    Transformer,
)
from solvers import Arclength, bifurcation_diagram, stationary_states
from tests import oracles, problems

EPS = np.finfo(float).eps

# Relative accuracy promised for located points at every tolerance.
LOCATED = 1e-12


def diagram(potential, *args, noise=1.0, confinement=None, rates=False, **options):
    return bifurcation_diagram(
        McKeanVlasov(Circle(), potential, noise=noise, confinement=confinement), *args, rates=rates, **options
    )


def only(events):
    events = list(events)
    assert len(events) == 1
    return events[0]


def gibbs_moments(field, count):
    """Moments of exp(sum field_k cos k t) by a trapezoid sum in mpmath, and log(Z / 2 pi)."""
    nodes = 200
    angles = [mpmath.pi * j / nodes for j in range(nodes + 1)]
    weights = [mpmath.mpf(1) / nodes] * (nodes + 1)
    weights[0] /= 2
    weights[-1] /= 2
    values = [
        w * mpmath.exp(sum(f * mpmath.cos((k + 1) * t) for k, f in enumerate(field)))
        for w, t in zip(weights, angles, strict=True)
    ]
    total = sum(values)
    return [
        sum(v * mpmath.cos(k * t) for v, t in zip(values, angles, strict=True)) / total for k in range(1, count + 1)
    ], mpmath.log(total)


def two_mode_transition(second, amplitude, q):
    """kappa_T of W = -cos t - second cos 2t: states with zero free energy gap, solved in 30 digits."""

    def equations(a1, a2, q):
        (m1, m2), log_partition = gibbs_moments([2 * q * a1, 2 * q * second * a2], 2)
        return [a1 - m1, a2 - m2, q * a1**2 + q * second * a2**2 - log_partition]

    return mpmath.findroot(equations, (amplitude[0], amplitude[1], q))


@pytest.fixture(scope="module")
def five():
    return diagram(Transformer(5.0), relative=(0.5, 5.0))


class TestTransformer:
    def test_every_bifurcation_of_uniform_and_no_other(self, five):
        with mpmath.workdps(30):
            exact = [float(mpmath.besseli(1, 5) / mpmath.besseli(k, 5)) for k in (1, 2, 3, 4)]
        found = [event.relative_coupling for event in five.events("branch point")]
        assert found == pytest.approx(exact, rel=8 * EPS)
        assert all(event.kernel_dimension == 2 for event in five.events("branch point"))

    def test_fold_and_transition(self, five):
        fold = only(five.events("fold"))
        exact = problems.TRANSFORMER.exact
        assert fold.relative_coupling == pytest.approx(exact("fold") / exact("critical coupling"), rel=4 * EPS)
        assert fold.m1 == pytest.approx(exact("order at fold"), rel=1e-13)
        assert (fold.unstable_before, fold.unstable_after) == (1, 0)
        transition = only(five.events("transition"))
        assert transition.coupling == pytest.approx(exact("transition"), abs=5e-15)
        assert fold.lower <= fold.coupling <= fold.upper

    def test_unstable_counts_along_branches(self, five):
        clustered = five.branch("1-cluster")
        fold = five.special_points.index(only(five.events("fold")))
        index = five.special_points[fold].point
        assert set(clustered.unstable[1:index]) == {1}
        assert set(clustered.unstable[index:]) == {0}
        for n in (2, 3, 4):
            assert set(five.branch(f"{n}-cluster").unstable[1:]) == {2 * (n - 1)}

    def test_residuals_and_resolution(self, five):
        # Five modes are critical in the interval, and isolated branches were not looked for.
        (warning,) = five.warnings
        assert warning.startswith("branches that none of these leads to were not looked for")
        for branch in five.branches:
            assert branch.residual.max() < 1e-12
            assert np.abs(branch.cosine[:, 0] - 1).max() == 0

    def test_states_satisfy_the_moment_equations(self, five):
        """The stored moments, with every coupling, solve k m_k = sum j lambda_j m_j (m_|k-j| - m_k+j)."""
        from scipy.special import iv

        branch = five.branch("1-cluster")
        degrees = np.arange(1, 31)
        for point in range(1, len(branch), 9):
            moments = np.zeros(200)
            stored = branch.cosine[point]
            moments[: min(200, stored.size)] = stored[:200]
            strengths = branch.relative_coupling[point] * iv(degrees, 5.0) / iv(1, 5.0)
            for k in (1, 2, 5, 9):
                total = np.sum(
                    degrees * strengths * moments[degrees] * (moments[np.abs(k - degrees)] - moments[k + degrees])
                )
                assert abs(k * moments[k] - total) < 1e-12

    @pytest.mark.parametrize("tolerance", [1e-1, 1e-3, 1e-6, 1e-8])
    def test_located_points_do_not_depend_on_the_tolerance(self, tolerance):
        exact = problems.TRANSFORMER.exact
        result = diagram(Transformer(5.0), relative=(0.5, 2.0), method=Arclength(tolerance=tolerance))
        assert only(result.events("fold")).coupling == pytest.approx(exact("fold"), rel=LOCATED)
        assert only(result.events("transition")).coupling == pytest.approx(exact("transition"), rel=LOCATED)

    def test_tricritical_ratio(self):
        """Near beta*: (1 - kappa_T/kappa_1)/(1 - kappa_fold/kappa_1) tends to 3/4 linearly in beta - beta*."""
        errors = []
        for distance in (4e-4, 2e-4):
            result = diagram(Transformer(2.44691831128904613 + distance), relative=(0.9, 1.1))
            fold, transition = only(result.events("fold")), only(result.events("transition"))
            errors.append((1 - transition.relative_coupling) / (1 - fold.relative_coupling) - 0.75)
        assert abs(errors[0]) < 1e-3
        assert abs(errors[1]) < abs(errors[0])

    def test_interval_above_all_births_still_shows_the_branches(self):
        result = diagram(Transformer(5.0), relative=(2.0, 2.2))
        assert {"uniform", "1-cluster", "2-cluster"} == {branch.label for branch in result.branches}
        assert not result.events("branch point")
        ends = {event.relative_coupling for event in result.events("endpoint", "1-cluster")}
        assert all(min(abs(end - 2.0), abs(end - 2.2)) < 1e-13 for end in ends)

    def test_interval_inside_the_hysteresis_shows_both_clustered_states(self):
        result = diagram(Transformer(5.0), relative=(0.92, 0.98))
        clustered = [branch for branch in result.branches if branch.label.startswith("1-cluster")]
        assert len(clustered) == 2
        assert {int(branch.unstable[1]) for branch in clustered} == {0, 1}

    @pytest.mark.parametrize("beta", [800.0, -800.0])
    def test_couplings_outside_the_range_of_doubles(self, beta):
        result = diagram(Transformer(beta), relative=(0.9, 1.05), depth=1)
        relative = [event.relative_coupling for event in result.events("branch point")]
        with mpmath.workdps(30):
            degrees = range(1, 20) if beta > 0 else range(1, 20, 2)
            exact = [float(mpmath.besseli(1, 800) / mpmath.besseli(k, 800)) for k in degrees]
        expected = [value for value in exact if value <= 1.05]
        assert relative == pytest.approx(expected, rel=1e-13)
        assert all(np.isfinite(branch.relative_coupling).all() for branch in result.branches)


class TestKuramoto:
    def test_exact_second_moment(self):
        result = diagram(Kuramoto(), (1.0, 6.0), noise=0.7)
        branch = result.branch("1-cluster")
        assert np.abs(branch.moment(2) - (1 - 1.4 / branch.coupling)).max() < 32 * EPS
        assert only(result.events("branch point")).coupling == pytest.approx(1.4, rel=2 * EPS)

    def test_envelope_identity(self):
        """Along a branch d(F - F0)/D dkappa = sum w_k m_k^2 / (2 D), by high-order differences in arclength."""
        branch = diagram(Transformer(3.0), relative=(0.5, 2.0)).branch("1-cluster")
        from scipy.interpolate import CubicSpline

        points = slice(10, len(branch) - 1)
        along = CubicSpline(branch.arclength[points], branch.free_energy_gap[points])
        multipliers = Transformer(3.0).multipliers(Circle(), branch.cosine.shape[1] - 1)
        rate = 0.5 * (branch.cosine[:, 1:] ** 2 @ multipliers[1:]) * branch.tangent_coupling
        middle = slice(20, len(branch) - 10)
        # Cubic splines through points at most 0.1 apart have slopes that err by less than 0.05^3.
        assert np.abs(along(branch.arclength[middle], 1) - rate[middle]).max() < 0.05**3


class TestSecondary:
    def test_secondary_bifurcation_of_two_modes(self):
        """T7: on the 2-cluster mode 1 is critical where (kappa/2D)(1 + I_1/I_0) = 1."""
        exact = problems.TWO_MODES.exact
        result = diagram(CosineSeries((-1.0, -1.5)), (1.0, 4.0))
        event = only(result.events("branch point", "2-cluster"))
        assert event.coupling == pytest.approx(exact("secondary coupling"), rel=LOCATED)
        assert event.m2 == pytest.approx(exact("second moment at secondary"), rel=1e-13)
        child = result.branch("1-cluster from 2-cluster")
        assert result.special_points[child.parent] is event
        assert child.coupling[0] == event.coupling

    def test_branch_that_ends_on_another_is_reported_once(self):
        """A connection between two branch points is one branch, whichever end is found first."""
        for seed in (6, 33):
            w = -np.random.default_rng(seed).standard_normal(6)
            result = diagram(CosineSeries(tuple(w)), (0.1, 12.0), depth=3)
            joined = [branch for branch in result.branches if branch.outcome is Outcome.JOINED_BRANCH]
            assert joined
            for branch in joined:
                twins = [
                    other
                    for other in result.branches
                    if other is not branch
                    and other.symmetry == branch.symmetry
                    and abs(other.coupling[0] - branch.coupling[-1]) < 1e-9
                    and abs(other.coupling[-1] - branch.coupling[0]) < 1e-9
                ]
                assert not twins


class TestResonance:
    def test_exact_one_to_two(self):
        """T6: at w_2 = w_1 the mixed branch is transcritical, m_1 = sqrt 2 |delta|, m_2 = -delta."""
        result = diagram(CosineSeries((-1.0, -1.0)), (1.0, 6.0))
        assert only(result.events("branch point", "uniform")).kernel_dimension == 4
        mixed = [branch for branch in result.branches if branch.symmetry == 1]
        assert len(mixed) == 2
        for branch in mixed:
            delta = branch.coupling[1] / 2.0 - 1.0
            assert abs(abs(branch.cosine[1, 1] / delta) - np.sqrt(2)) < 20 * abs(delta)
            assert abs(branch.cosine[1, 2] / delta + 1) < 20 * abs(delta)
        assert {np.sign(branch.coupling[1] - 2.0) for branch in mixed} == {-1.0, 1.0}

    @pytest.mark.parametrize("gap", [1e-6, -1e-6])
    def test_near_resonance(self, gap):
        """Near-double points stay apart, and the secondary point at amplitude |gap| is found between them."""
        result = diagram(CosineSeries((-1.0, -1.0 - gap)), (1.0, 6.0))
        exact = sorted([2.0, 2.0 / (1.0 + gap)])
        assert [event.coupling for event in result.events("branch point", "uniform")] == pytest.approx(
            exact, rel=4 * EPS
        )
        secondary = only(result.events("branch point", "2-cluster"))
        assert abs(secondary.m2) == pytest.approx(abs(gap), rel=1e-5)
        assert not result.warnings

    def test_one_to_three_has_three_mixed_branches(self):
        """Amplitude ratios s = m_3/m_1 of the reduced equation solve s^3 + s^2 - s - 1/3 = 0."""
        result = diagram(CosineSeries((-1.0, 0.0, -1.0)), (1.0, 4.0))
        ratios = sorted(b.cosine[1, 3] / b.cosine[1, 1] for b in result.branches if b.symmetry == 1)
        assert ratios == pytest.approx(sorted(np.roots([1, 1, -1, -1 / 3])), abs=1e-2)

    @pytest.mark.parametrize("weights", [(-1.0, -1.0, -1.0), (0.0, 0.0, -1.0, -1.0, -1.0), (-1.0, 0.0, -1.0, -1.0)])
    def test_three_modes_at_once(self, weights):
        """Branches that mix three modes: every state that Newton meets from random starts lies on one."""
        problem = McKeanVlasov(Circle(), CosineSeries(weights), coupling=2.2)
        padded = (np.append(state.cosine, np.zeros(8)) for state in stationary_states(problem))
        states = [np.abs(cosine[1 : len(weights) + 1]) for cosine in padded]
        sought = oracles.sought_even_states(weights, 2.2, 500)
        assert len(sought) >= 8
        for moduli in sought:
            # Newton knows a state to half of the digits along a direction that is neutral there.
            assert min(np.abs(moduli - state).max() for state in states) < 4 * np.sqrt(EPS)

    def test_a_mode_too_close_to_be_separated_is_said(self):
        """They are critical together to rounding, and the branches are those of the exact resonance."""
        result = diagram(CosineSeries((-1.0, -1.0 - 1e-10, -1.0)), (1.0, 4.0))
        exact = diagram(CosineSeries((-1.0, -1.0, -1.0)), (1.0, 4.0))
        assert any("modes 2, 1, 3" in warning for warning in result.warnings)
        assert [branch.label for branch in result.branches] == [branch.label for branch in exact.branches]


class TestTurnsAndLoops:
    @pytest.mark.parametrize("method", [Arclength(), Arclength(max_step=0.1), Arclength(tolerance=1e-5)])
    def test_a_sharp_turn_is_not_stepped_over(self, method):
        """An imperfect pitchfork: straight on, where a coarse step goes, is a branch that nothing connects to."""
        weights = (-0.47592346, 0.12860086, 0.0, -0.68121124, -0.51332890)
        result = diagram(CosineSeries(weights), (4.0, 5.0), method=method)
        branch = result.branch("1-cluster")
        turn = branch.coupling > 4.28
        assert np.all(np.abs(branch.moment(5)[turn]) > 1e-2)
        assert set(branch.unstable) == {4}
        assert not result.events("branch point", "1-cluster")
        assert not [warning for warning in result.warnings if warning.startswith("1-cluster:")]

    def test_two_folds_in_one_step(self):
        """The slope of the coupling has the same sign on both sides; finer steps find the same two folds."""
        weights = (-1.046, -0.829, -1.049, -1.501, -0.28)
        folds = []
        for method in (Arclength(), Arclength(max_step=0.006, tolerance=1e-5)):
            result = diagram(CosineSeries(weights), relative=(0.7, 1.5), noise=1.29, method=method)
            folds.append([event.coupling for event in result.events("fold", "1-cluster (2) from 3-cluster")])
        assert len(folds[0]) == 2
        assert folds[0] == pytest.approx(folds[1], rel=LOCATED)

    def test_branch_points_close_to_a_resonance(self):
        """Modes 2 and 4 are critical at once, and the 2-cluster loses two unstable directions right after its birth."""
        result = diagram(CosineSeries((-0.5, -0.98, -0.99, -0.98)), (2.2, 4.5), noise=1.49)
        branch = result.branch("2-cluster")
        assert branch.unstable[1] == 3
        joined = only(branch for branch in result.branches if branch.outcome == Outcome.JOINED_BRANCH)
        met = [event.coupling for event in result.events("branch point", "2-cluster")]
        assert min(abs(coupling / joined.coupling[-1] - 1.0) for coupling in met) < LOCATED

    @pytest.mark.parametrize("weight", [-0.0269, -0.026, -0.0259])
    def test_many_events_behind_few_points_are_no_loop(self, weight):
        """The primary state hardly changes, so that its first steps are long and have many branch points on them."""
        field = CosineSeries((0.0, 0.3126))
        problem = McKeanVlasov(Circle(), CosineSeries((-1.0, weight, -0.803)), confinement=field)
        primary = bifurcation_diagram(problem, (0.849, 3.05), rates=False).branch("primary")
        assert primary.outcome == Outcome.LEFT_INTERVAL
        assert primary.coupling[[0, -1]] == pytest.approx((0.849, 3.05), rel=LOCATED)

    @pytest.mark.parametrize("method", [Arclength(), Arclength(max_step=0.02), Arclength(tolerance=1e-5)])
    def test_a_loop_across_more_symmetric_branches_is_reported_once(self, method):
        """Both sides of the point on the 5-cluster are one curve, which also runs across the 3-cluster."""
        weights = (-0.37061576, -0.07331166, -0.15655281, -0.28051763, -0.16566344, -0.14712734)
        result = diagram(CosineSeries(weights), relative=(0.3, 2.6), method=method)
        loop = only([branch for branch in result.branches if branch.label.endswith("from 5-cluster")])
        assert loop.outcome == Outcome.CLOSED_LOOP
        crossings = result.events("branch point", loop.label)
        assert [event.description for event in crossings] == [
            "crosses a branch of 3 clusters",
            "crosses a branch of 5 clusters",
        ]
        met = [result.events("branch point", "3-cluster")[0], only(result.events("branch point", "5-cluster"))]
        # Of the two neutral directions at three clusters one is gained and one lost, their eigenvalues going with the
        # amplitude as -1 to 3; at five the first goes with its square.
        for crossing, event, change in zip(crossings, met, (0, 1), strict=True):
            assert crossing.coupling == pytest.approx(event.coupling, rel=LOCATED)
            assert abs(crossing.unstable_after - crossing.unstable_before) == change
            assert np.abs(loop.residual[crossing.point]) < 16 * EPS
        # What is left out is said, and nothing else.
        assert all("followed" in warning or "looked for" in warning for warning in result.warnings)


class TestTransition:
    def test_two_mode_transition_in_high_precision(self):
        result = diagram(CosineSeries((-1.0, -0.9)), (1.0, 3.0))
        event = only(result.events("transition"))
        with mpmath.workdps(30):
            a1, a2, q = two_mode_transition(mpmath.mpf("0.9"), (event.m1, event.m2), event.coupling / 2)
        assert event.coupling == pytest.approx(float(2 * q), rel=LOCATED)
        assert (event.m1, event.m2) == pytest.approx((float(a1), float(a2)), abs=1e-13)

    def test_exchange_of_the_minimiser_between_clusters(self):
        """Beyond a = 1 the 2-cluster comes first and loses to the 1-cluster where their energies are equal."""
        result = diagram(CosineSeries((-1.0, -1.5)), (1.0, 3.0))
        event = only(result.events("transition"))
        assert "2-cluster" in event.description
        with mpmath.workdps(30):

            def equations(a1, a2, c2, q):
                (m1, m2), log_one = gibbs_moments([2 * q * a1, 3 * q * a2], 2)
                (_, n2), log_two = gibbs_moments([0, 3 * q * c2], 2)
                gap = q * a1**2 + 1.5 * q * a2**2 - log_one - (1.5 * q * c2**2 - log_two)
                return [a1 - m1, a2 - m2, c2 - n2, gap]

            exact = 2 * mpmath.findroot(equations, (event.m1, event.m2, 0.37, event.coupling / 2))[3]
        assert event.coupling == pytest.approx(float(exact), rel=LOCATED)

    def test_exchange_beside_the_branch_point_of_the_rival(self):
        """Energies that agree in 14 digits, of a 1-cluster and the 3-cluster on which it is born."""
        weights = (0.1287, -0.4456, -0.5065, -0.0113, -0.1524, 0.0388)
        result = diagram(CosineSeries(weights), (3.5, 4.5), depth=2)
        event = min(result.events("transition"), key=lambda event: event.coupling)
        assert "3-cluster" in event.description
        assert 0.0 < abs(event.m1) < 1e-2

        def difference(coupling):
            gaps = []
            for symmetry in (1, 3):
                shares = {k: -coupling * w / 2 for k, w in enumerate(weights, start=1) if k % symmetry == 0}
                start = [m if k % symmetry == 0 else 0.0 for k, m in enumerate(event.cosine)]
                m = oracles.even_state(shares, start, 6, 48)
                _, log = gibbs_moments([2 * shares.get(k, 0) * m[k] for k in range(1, 7)], 0)
                gaps.append(sum(share * m[k] ** 2 for k, share in shares.items()) - log)
            return gaps[0] - gaps[1]

        with mpmath.workdps(30):
            near = mpmath.mpf(float(event.coupling))
            one, other = difference(near), difference(near * (1 + mpmath.mpf(10) ** -10))
            exact = near - one * near * mpmath.mpf(10) ** -10 / (other - one)
        assert event.coupling == pytest.approx(float(exact), rel=1e-13)
        assert event.lower <= exact <= event.upper

    @pytest.mark.parametrize(
        "weights",
        [
            (0.29190002717, 0.07519505413, -0.05663673257, -0.25264024176, 0.05904525766, -0.16121769688),
            (0.30098075846, -0.03412076441, 0.09347420998, -0.13929571503, -0.03474024143),
        ],
    )
    @pytest.mark.parametrize("tolerance", [1e-3, 1e-5])
    def test_a_minimiser_that_loses_symmetry_continuously_is_no_transition(self, weights, tolerance):
        """Beside a supercritical branch point on a minimiser energies agree in all digits, in one order."""
        result = diagram(CosineSeries(weights), relative=(0.5, 2.6), method=Arclength(tolerance=tolerance))
        born = only([branch for branch in result.branches if branch.symmetry == 2])
        point = only(result.events("branch point", "4-cluster"))
        assert born.coupling[0] == point.coupling
        assert born.coupling.min() == point.coupling
        assert np.all(born.unstable[1:] == 0)
        assert not result.events("transition")

    def test_no_false_transition_beside_uniform(self):
        """Gaps of order 1e-20 keep their sign."""
        result = diagram(Transformer(2.0), relative=(0.9, 1.5))
        branch = result.branch("1-cluster")
        assert np.all(branch.free_energy_gap[1:] < 0)
        delta = branch.relative_coupling[1] - 1.0
        shape = 0.5 * (1 - 2 * 0.4334274450290585) / (1 - 0.4334274450290585)
        assert branch.free_energy_gap[1] == pytest.approx(-(delta**2) / (2 * shape), rel=0.02)


class TestOtherPotentials:
    def test_repulsive_has_no_bifurcation(self):
        result = diagram(Logarithmic(-1), (0.0, 5.0))
        assert [branch.label for branch in result.branches] == ["uniform"]
        assert result.critical_coupling is None
        assert not result.events("branch point")
        assert np.isnan(result.branches[0].relative_coupling).all()

    def test_attractive_logarithm_is_vertical(self):
        """T9: Poisson kernels at kappa = 2Dn and nothing anywhere else."""
        result = diagram(Logarithmic(1), relative=(0.5, 2.5))
        for n in (1, 2):
            branch = result.branch(f"{n}-cluster")
            assert branch.outcome is Outcome.VERTICAL
            assert np.abs(branch.coupling / (2 * n) - 1).max() < LOCATED
            radius = branch.moment(n)[:, None]
            powers = np.arange(1, 6)
            assert np.abs(branch.cosine[:, n * powers] - radius**powers).max() < 1e-11
            assert np.abs(branch.free_energy_gap).max() < 1e-11
        assert set(result.branch("1-cluster").unstable) == {0}

    def test_embedding(self):
        """W(n t): couplings of its n-fold branches are those of W and states are rho(n t)."""
        w = (-1.0, -0.8, 0.3)
        plain = diagram(CosineSeries(w), (1.0, 4.0))
        wide = diagram(CosineSeries((0.0, w[0], 0.0, w[1], 0.0, w[2])), (1.0, 4.0))
        for kind in ("fold", "transition"):
            assert only(wide.events(kind)).coupling == pytest.approx(only(plain.events(kind)).coupling, rel=LOCATED)

    def test_negative_couplings(self):
        flipped = diagram(CosineSeries((1.0, 0.9)), (-6.0, -1.0))
        plain = diagram(CosineSeries((-1.0, -0.9)), (1.0, 6.0))
        assert only(flipped.events("fold")).coupling == pytest.approx(
            -only(plain.events("fold")).coupling, rel=4 * EPS
        )

    @pytest.mark.parametrize("potential", [HegselmannKrause(2.0), Onsager()])
    def test_multipliers_that_decay_slowly(self, potential):
        result = diagram(potential, relative=(0.5, 2.0))
        for branch in result.branches[1:]:
            assert branch.residual.max() < 1e-12
            # The density decays exponentially although the potential does not.
            assert branch.modes.max() < 400
        assert not result.warnings


class TestRandom:
    @pytest.mark.parametrize("seed", range(8))
    def test_random_potentials(self, seed):
        """Every bifurcation of the uniform state found, none invented; nothing unexplained."""
        rng = np.random.default_rng(100 + seed)
        size = int(rng.integers(2, 16))
        w = -rng.standard_normal(size) * np.arange(1.0, size + 1) ** -rng.choice([0.5, 1.0, 2.0])
        w[0] = -abs(w[0])
        result = diagram(CosineSeries(tuple(w)), (0.1, 3 * 2 / max(-w)))
        exact = sorted(-2 / value for value in w if 0.1 <= -2 / value <= 6 / max(-w))
        assert [event.coupling for event in result.events("branch point", "uniform")] == pytest.approx(
            exact, rel=4 * EPS
        )
        assert not [warning for warning in result.warnings if "without a located event" in warning]
        for branch in result.branches:
            assert branch.residual.max() < 1e-12
        for one, other in itertools.combinations(result.branches, 2):
            assert not coincide(one, other)


def coincide(one, other):
    """Whether two branches share their middle point up to rotation."""
    point = len(one) // 2
    gaps = np.abs(other.coupling - one.coupling[point])
    nearest = int(np.argmin(gaps))
    if gaps[nearest] > 1e-12 or one.symmetry == 0:
        return False
    count = min(one.cosine.shape[1], other.cosine.shape[1])
    return np.abs(np.abs(one.cosine[point, :count]) - np.abs(other.cosine[nearest, :count])).max() < 1e-9


class TestConfinement:
    MIXED, FIELD = CosineSeries((0.076, -0.285, -0.189, -0.107, -0.041)), CosineSeries((-0.185, 0.022, -0.029))

    def test_imperfect_pitchfork(self):
        """Kuramoto in a field -h cos t: 2 q (x - h/D)-type self-consistency, solved independently."""
        field = 0.1
        result = diagram(Kuramoto(), (0.0, 6.0), confinement=CosineSeries((-field,)), search=True)
        primary = result.branch("primary")
        assert primary.moment(1)[0] == pytest.approx(
            float(mpmath.besseli(1, field) / mpmath.besseli(0, field)), rel=1e-14
        )
        fold = only(result.events("fold"))
        with mpmath.workdps(25):

            def bessel_ratio(x):
                return mpmath.besseli(1, x) / mpmath.besseli(0, x)

            def equations(m, kappa):
                x = kappa * m + field
                return [m - bessel_ratio(x), 1 - kappa * mpmath.diff(bessel_ratio, x)]

            exact = float(mpmath.findroot(equations, (fold.m1, fold.coupling))[1])
        assert fold.coupling == pytest.approx(exact, rel=LOCATED)

    def test_symmetry_breaking_in_a_double_well(self):
        """V = h cos 2t: the even state loses stability to the wells at pi/2 where kappa (1 - m_2) = 2 D."""
        result = diagram(Kuramoto(), (0.0, 4.0), confinement=CosineSeries((0.0, 0.5)))
        m2 = -float(mpmath.besseli(1, 0.5) / mpmath.besseli(0, 0.5))
        expected = [2 / (1 - m2), 2 / (1 + m2)]
        assert [event.coupling for event in result.events("branch point", "primary")] == pytest.approx(
            expected, rel=LOCATED
        )
        sideways = [branch for branch in result.branches if np.abs(branch.sine).max() > 0.1]
        assert sideways
        assert set(sideways[0].unstable[1:]) == {0}

    def test_an_uneven_branch_ends_where_it_regains_the_axis(self):
        """Both ends are zeros of the even state's sine eigenvalue, and the mirror image is not followed back."""
        result = diagram(self.MIXED, (0.0, 18.0), confinement=self.FIELD)
        uneven = [branch for branch in result.branches if branch.label.startswith("uneven")]
        joined = [branch for branch in uneven if branch.outcome == Outcome.JOINED_BRANCH]
        assert joined
        points = [event.coupling for event in result.events("branch point")]
        for branch in joined:
            for end in branch.coupling[[0, -1]]:
                assert min(abs(end / point - 1.0) for point in points) < LOCATED
            assert np.abs(branch.sine[[0, -1]]).max() < 1e-12
        assert not any(branch.outcome == Outcome.CLOSED_LOOP for branch in uneven)

    def test_the_minimiser_changes_between_branches_that_are_not_connected(self):
        """On either side of the transition another of two states is lowest, by the slopes of their energies."""
        result = diagram(self.MIXED, (0.0, 18.0), confinement=self.FIELD)
        event = only(result.events("transition"))
        lowest = []
        for shift in (-1e-3, 1e-3):
            problem = McKeanVlasov(
                Circle(), self.MIXED, coupling=float(event.coupling) + shift, confinement=self.FIELD
            )
            first, second = stationary_states(problem, rates=False)[:2]
            assert first.minimiser
            lowest.append(first.cosine[1:4])
            # d(F/D)/d(kappa) = sum w_k m_k^2 / 2 along a branch, so the gap is the difference of two slopes.
            slopes = [0.5 * float(np.asarray(self.MIXED.w) @ s.cosine[1:6] ** 2) for s in (first, second)]
            gap = first.free_energy_gap - second.free_energy_gap
            # To first order in the shift, which is 1e-4 of the coupling.
            assert gap == pytest.approx(shift * (slopes[0] - slopes[1]), rel=1e-2)
        assert np.abs(lowest[0] - lowest[1]).max() > 0.1

    def test_a_confinement_that_is_not_resolved_at_first(self):
        """V = -60 cos 2t at D = 1/2: without interaction m_2 = I_1(120)/I_0(120), whatever the starting resolution."""
        problem = McKeanVlasov(
            Circle(), Kuramoto(), noise=0.5, coupling=0.0, confinement=CosineSeries((0.0, -60.0))
        )
        state = only(stationary_states(problem))
        assert state.cosine[2] == pytest.approx(
            float(mpmath.besseli(1, 120) / mpmath.besseli(0, 120)), rel=64 * EPS
        )

    def test_a_confinement_too_strong_is_refused(self):
        problem = McKeanVlasov(Circle(), Kuramoto(), noise=1e-6, coupling=0.0, confinement=CosineSeries((-40.0,)))
        with pytest.raises(NotResolved, match="too concentrated"):
            stationary_states(problem)
        assert any("not resolved" in warning for warning in bifurcation_diagram(problem, (0.0, 1.0)).warnings)


def test_uniform_branch_changes_its_count_at_its_branch_points():
    """Also where a branch point falls on the grid of the branch up to rounding."""
    branch = diagram(CosineSeries((-1.0, -1.5))).branch("uniform")
    exact = [
        2 * sum(coupling > threshold * (1 + 1e-15) for threshold in (4 / 3, 2.0)) for coupling in branch.coupling
    ]
    assert list(branch.unstable) == exact


class TestNarrowIntervals:
    @pytest.mark.parametrize("width", [1e-2, 1e-4, 1e-9])
    def test_supercritical_branch_beside_its_birth(self, width):
        """m_1^2 = (kappa/kappa_1 - 1)/b1 with b1 = 1/2, however narrow: four roundings of the coupling are left."""
        branch = diagram(Kuramoto(), (1.998, 2 * (1 + width))).branch("1-cluster")
        assert branch.relative_coupling[-1] == pytest.approx(1 + width, rel=4 * EPS)
        assert branch.moment(1)[-1] == pytest.approx(np.sqrt(2 * width), rel=width + 4 * EPS / width)
        assert len(branch) >= 10

    def test_resonant_branches(self):
        result = diagram(CosineSeries((-1.0, -1.0)), (1.99, 2.002))
        assert sorted(branch.symmetry for branch in result.branches) == [0, 1, 1, 1, 2]


class TestNonsense:
    @pytest.mark.parametrize("interval", [3, (1, 2, 3), ("a", "b"), "14"])
    def test_what_is_no_interval(self, interval):
        with pytest.raises(InvalidInput, match="must be two numbers"):
            diagram(Kuramoto(), interval)

    @pytest.mark.parametrize("depth", ["2", 1.5, -1, True, np.nan])
    def test_what_is_no_depth(self, depth):
        with pytest.raises(InvalidInput, match="depth must be a whole number"):
            diagram(Kuramoto(), (1.0, 4.0), depth=depth)
        with pytest.raises(InvalidInput, match="depth must be a whole number"):
            stationary_states(problems.KURAMOTO_AT_3.problem, depth=depth)

    def test_what_is_no_method_or_problem(self):
        with pytest.raises(InvalidInput, match="method must be an Arclength"):
            diagram(Kuramoto(), (1.0, 4.0), method="fine")
        with pytest.raises(InvalidInput, match="problem must be an Equation such as McKeanVlasov"):
            bifurcation_diagram(Kuramoto(), (1.0, 4.0))

    @pytest.mark.parametrize("interval", [(2.0, 1.0), (1.0, 1.0), (np.nan, 1.0), (0.0, np.inf)])
    def test_inadmissible_intervals(self, interval):
        with pytest.raises(InvalidInput, match="finite and increasing"):
            diagram(Kuramoto(), interval)

    def test_nothing_to_be_relative_to(self):
        with pytest.raises(InvalidInput, match="no positive critical coupling"):
            diagram(Logarithmic(-1))

    def test_range_without_bifurcation_is_a_result(self):
        result = diagram(Kuramoto(), (0.1, 1.0))
        assert [branch.label for branch in result.branches] == ["uniform"]
        assert not result.special_points

    def test_depth_zero_is_the_uniform_branch(self):
        assert len(diagram(Transformer(5.0), depth=0).branches) == 1


def test_a_steep_transcritical_branch_is_followed() -> None:
    """Where the coupling changes by 270 amplitudes the branch is still found, and with it the minimiser."""
    weights = (
        2.1575908281620957, -0.12262087265600224, -0.12262093813000109, 0.09138030797955494, -0.03139346695692473,
        -0.007968265707050743, 0.010722645728942354, -0.01356358477190775, 0.01076632059003744,
    )  # fmt: skip
    problem = McKeanVlasov(Circle(), CosineSeries(weights))
    diagram = bifurcation_diagram(problem, relative=(0.5, 3.0), depth=2, rates=False)
    point = next(p for p in diagram.special_points if p.type == "branch point" and p.relative_coupling > 1.5)
    born = [b for b in diagram.branches if abs(b.relative_coupling[0] - point.relative_coupling) < 1e-12]
    parent = diagram.branches[point.branch]
    assert parent.symmetry == 3
    assert [b.symmetry for b in born] == [1, 1]
    slopes = [(b.relative_coupling[1] - b.relative_coupling[0]) / (b.cosine[1, 2] - b.cosine[0, 2]) for b in born]
    assert slopes[0] == pytest.approx(slopes[1], rel=0.2)
    assert not any("no state was found" in warning for warning in diagram.warnings)
    states = stationary_states(problem.at(coupling=2.0 * diagram.critical_coupling), rates=False)
    minimiser = next(state for state in states if state.minimiser)
    assert minimiser.symmetry == 1


def tangent_error(weights: tuple[float, ...], branch: Branch, point: int) -> float:
    """Error of the recorded tangent in the linearised self-consistency equation, on a grid of its own."""
    w = np.array([0.0, *weights])
    angles = 2 * np.pi * np.arange(2048) / 2048
    waves = np.exp(1j * np.outer(angles, np.arange(w.size)))
    moments, along = (
        cosine[point, : w.size] - 1j * sine[point, : w.size]
        for cosine, sine in ((branch.cosine, branch.sine), (branch.tangent_cosine, branch.tangent_sine))
    )
    coupling, speed = branch.coupling[point], branch.tangent_coupling[point]
    density = np.exp(-coupling * (waves @ (w * moments)).real)
    density /= density.sum()
    field = -speed * (waves @ (w * moments)).real - coupling * (waves @ (w * along)).real
    change = density * (field - density @ field)
    scale = max(np.abs(along).max(), abs(speed) / coupling)
    return float(np.abs(waves.conj().T @ change - along).max() / scale)


@pytest.mark.parametrize(
    ("weights", "interval"),
    [((-1.489, 1.018, -1.417), (0.5, 6.0)), ((0.961, -0.813, -1.205), (1.0, 11.0)), ((-1.0, -1.5), (1.0, 6.0))],
)
def test_tangents_are_tangent_at_every_point(weights: tuple[float, ...], interval: tuple[float, float]) -> None:
    """Also where branches are born, transcritically too, and where they join others, turned or not."""
    problem = McKeanVlasov(Circle(), CosineSeries(weights))
    diagram = bifurcation_diagram(problem, interval, depth=3, rates=False)
    for branch in diagram.branches[1:]:
        errors = [tangent_error(weights, branch, point) for point in range(len(branch))]
        # Newton's last step, and with it the error of a tangent, is below 2e-8 of a curvature.
        assert max(errors) <= 1e-6, branch.label


@pytest.mark.parametrize(
    ("name", "value"),
    [("tolerance", 0.0), ("tolerance", -1.0), ("max_step", 0.0), ("max_step", np.inf), ("max_step", np.nan),
     ("min_step", -1.0), ("max_points", 0)],
)  # fmt: skip
def test_a_step_that_no_branch_can_be_followed_with_is_refused(name, value):
    with pytest.raises(InvalidInput, match=f"{name} must be .*, not {value}"):
        Arclength(**{name: value})
