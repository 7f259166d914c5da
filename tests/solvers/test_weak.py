"""Strong and weak modes of slowly decaying potentials: the same solutions and inertia as of the whole matrices."""

from typing import Any

import numpy as np
import pytest

from meanfield import Circle, CosineSeries, HegselmannKrause, KellerSegel, Logarithmic, McKeanVlasov, Onsager
from solvers.branches.continuation import Point, state_at
from solvers.circle import CIRCLE
from solvers.circle.products import block_products
from solvers.circle.stability import OTHERS, Perturbations, perturbations
from solvers.circle.tables import states_of
from solvers.equations.equation import StationaryEquation
from solvers.equations.sizing import stationary_equation
from solvers.linear_algebra.inertia import count_negative
from solvers.linear_algebra.weak import ROUNDING, Partition
from solvers.root_finding.newton import NEUTRAL, POLISHED, Newton, correct

EPS = float(np.finfo(float).eps)
FIELD = CosineSeries((0.0, -0.3))
# Potential, sign of the coupling, symmetry, confinement.
PROBLEMS: list[tuple[Any, int, int, Any]] = [
    (HegselmannKrause(0.3), 1, 1, None),
    (HegselmannKrause(0.5), 1, 2, None),
    (HegselmannKrause(1.0), 1, 1, FIELD),
    (HegselmannKrause(0.5), -1, 1, FIELD),
    (Onsager(), 1, 2, None),
    (KellerSegel(1.0), 1, 1, None),
    (Logarithmic(-1), -1, 1, FIELD),
]


def equation_and_moments(case: tuple[Any, int, int, Any], seed: int) -> tuple[StationaryEquation, Any, float]:
    """Return an equation of 512 modes, the moments of a random smooth density and a coupling."""
    potential, sign, symmetry, confinement = case
    problem = McKeanVlasov(Circle(), potential, confinement=confinement)
    equation = stationary_equation(CIRCLE, problem, symmetry, sign, unknowns=512)
    assert equation is not None
    generator = np.random.default_rng(seed)
    field = generator.normal(size=equation.scales.size) * 3.0 / np.arange(1, equation.scales.size + 1) ** 3
    return equation, equation.basis.gibbs(field).moments, float(generator.uniform(0.3, 1.5))


@pytest.mark.parametrize("case", PROBLEMS, ids=str)
@pytest.mark.parametrize("seed", range(4))
def test_partition_agrees_with_the_whole_jacobian(case: tuple[Any, int, int, Any], seed: int) -> None:
    """Rows, bounds of the rest, products, solutions and inertia."""
    equation, moments, q = equation_and_moments(case, seed)
    b = equation.unknown_from(moments)
    whole, derivative = equation.linearise(b, q, moments)
    partition = equation.partition(q, moments)
    assert partition is not None
    count = len(partition.strong)
    size = np.abs(whole).max() + np.abs(derivative).max()
    np.testing.assert_allclose(
        np.hstack([partition.strong, partition.coupling]), whole[:count], atol=4 * EPS * size
    )
    rest = np.linalg.eigvalsh(whole[count:, count:] - np.diag(partition.signs))
    assert -partition.below - 64 * EPS <= rest[0]
    assert rest[-1] <= partition.above + 64 * EPS
    times, slope = equation.products(b, q, moments)
    rows = np.random.default_rng(seed).normal(size=(2, b.size))
    np.testing.assert_allclose(times(rows), rows @ whole, rtol=0.0, atol=1e3 * EPS * size)
    np.testing.assert_allclose(slope, derivative, rtol=0.0, atol=1e3 * EPS * size)
    whole_digits = (ROUNDING, ROUNDING)
    solved = partition.solved(times, rows, whole_digits)
    assert solved is not None
    smallest = np.abs(np.linalg.eigvalsh(whole)).min()
    bound = 1e3 * EPS * size * 10.0 / smallest
    expected = np.linalg.solve(whole, rows.T).T
    np.testing.assert_allclose(solved, expected, rtol=0.0, atol=bound)
    calls: list[int] = []

    def counted(some: Any) -> Any:
        calls.append(len(some))
        return times(some)

    # Half of the digits take half of the products, and what is left is had from there; rows end one by one.
    rough = partition.solved(counted, rows, (1e-8, 1e-8))
    assert rough is not None
    half = sum(calls)
    np.testing.assert_allclose(rough, expected, rtol=0.0, atol=1e-8 * np.abs(expected).max())
    np.testing.assert_allclose(
        partition.solved(counted, rows, whole_digits, near=rough), expected, rtol=0.0, atol=bound
    )
    assert half <= 16
    assert sum(calls) - half <= 16
    enough = partition.solved(times, rows * [[1e-9], [1.0]], whole_digits, least=1e-12)
    np.testing.assert_allclose(enough, expected * [[1e-9], [1.0]], rtol=0.0, atol=1e-12)
    assert partition.negative() in (None, count_negative(whole.copy()))


@pytest.mark.parametrize("case", PROBLEMS, ids=str)
@pytest.mark.parametrize("size", [1e-8, 1e-4, 1e-1])
def test_change_of_the_jacobian_is_bounded(case: tuple[Any, int, int, Any], size: float) -> None:
    """The norm of the difference of whole matrices, and not by much."""
    equation, moments, q = equation_and_moments(case, 1)
    _, other, _ = equation_and_moments(case, 2)
    near, beside = moments + size * (other - moments), q * (1.0 + size)
    one, two = (
        equation.linearise(equation.unknown_from(of), each, of)[0] for each, of in ((q, moments), (beside, near))
    )
    change, bound = np.linalg.norm(two - one, 2), equation.departure(q, moments, beside, near)
    assert change <= bound <= 30.0 * change


@pytest.mark.parametrize("seed", range(4))
def test_inertia_holds_for_all_matrices_within_a_distance(seed: int) -> None:
    """Where an eigenvalue is nearer to zero than that nothing is said of it."""
    generator = np.random.default_rng(seed)
    strong, size = 12, 80
    signs = np.where(generator.random(size - strong) < 0.2, -1.0, 1.0)
    spread = generator.normal(size=(size, size)) / 64.0
    whole = spread + spread.T
    whole[:strong, :strong] += np.diag(generator.choice([-1.0, 1.0], strong) * generator.uniform(0.5, 2.0, strong))
    whole[strong:, strong:] = 0.01 * whole[strong:, strong:] + np.diag(signs)
    partition = Partition(whole[:strong, :strong], whole[:strong, strong:], signs, 0.01, 0.01)
    values, vectors = np.linalg.eigh(whole)
    nearest = int(np.abs(values).argmin())
    number = partition.negative(within=0.1 * abs(values[nearest]))
    assert number == count_negative(whole.copy())
    crossed = whole - 2.0 * values[nearest] * np.multiply.outer(vectors[:, nearest], vectors[:, nearest])
    assert count_negative(crossed) != number
    assert partition.negative(within=2.0 * abs(values[nearest])) is None


def test_point_takes_one_partition_for_its_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    """Newton's iteration from nearby, whose tangent and count are those of the whole matrix at the solution."""
    point, _ = partition_of_a_state(HegselmannKrause(0.8), 2.0, 1)
    equation, asked = point.equation, list[float]()
    made = StationaryEquation.partition

    def counted(self: StationaryEquation, q: float, moments: Any) -> Partition | None:
        asked.append(q)
        return made(self, q, moments)

    monkeypatch.setattr(StationaryEquation, "partition", counted)
    tangent = point.solution.tangent_b, point.solution.tangent_q
    guess = point.b + 1e-4 * np.cos(np.arange(point.b.size)) / np.arange(1.0, 1.0 + point.b.size) ** 2
    found = correct(equation, guess, point.q, *tangent, POLISHED)
    assert found is not None
    assert len(asked) == 1
    whole, derivative = equation.linearise(found.b, found.q, found.evaluation.gibbs.moments)
    assert found.negative == count_negative(whole.copy())
    assert np.abs(found.evaluation.residual).max() < 1e-14
    np.testing.assert_allclose(whole @ found.tangent_b, -found.tangent_q * derivative, rtol=0.0, atol=1e-12)


def test_tangent_is_solved_for_as_well_as_the_point_is_known(monkeypatch: pytest.MonkeyPatch) -> None:
    """One step from a guess as near as predictions are: fewer products, the same point, the tangent to its digits."""
    point, _ = partition_of_a_state(HegselmannKrause(0.8), 2.0, 1)
    equation, rows = point.equation, list[int]()
    made = StationaryEquation.products

    def counted(self: StationaryEquation, *args: Any) -> Any:
        times, derivative = made(self, *args)

        def counting(some: Any) -> Any:
            rows.append(len(some))
            return times(some)

        return counting, derivative

    monkeypatch.setattr(StationaryEquation, "products", counted)
    tangent = point.solution.tangent_b, point.solution.tangent_q
    bend = np.cos(np.arange(point.b.size)) / np.arange(1.0, 1.0 + point.b.size) ** 2
    found = {}
    for last_step in (1e-8, 1e-12):
        rows.clear()
        start = point.b + 3e-9 * bend, point.q
        found[last_step] = (
            correct(
                equation, *start, *tangent, Newton(last_step), along=lambda: (tangent[0] + 1e-6 * bend, tangent[1])
            ),
            sum(rows),
        )
    (near, few), (exact, many) = found.values()
    assert near is not None
    assert exact is not None
    np.testing.assert_allclose(near.b, exact.b, rtol=0.0, atol=64 * EPS)
    whole, derivative = equation.linearise(near.b, near.q, near.evaluation.gibbs.moments)
    assert np.abs(whole @ near.tangent_b + near.tangent_q * derivative).max() < 1e-8
    # With the tangent to rounding the first step alone takes as many as both.
    assert few <= 0.8 * many


def partition_of_a_state(potential: Any, relative: float, symmetry: int) -> tuple[Point, Perturbations]:
    """Return a cluster state with many modes and the modes that decide its stability."""
    equation = stationary_equation(CIRCLE, McKeanVlasov(Circle(), potential), symmetry, 1, unknowns=512)
    assert equation is not None
    start = equation.unknown_from(equation.basis.gibbs(np.where(equation.basis.cells == 1, 3.0, 0.0)).moments)
    for _ in range(100):
        start = equation.unknown_from(equation.evaluate(start, relative).gibbs.moments)
    point = state_at(equation, start, relative)
    assert isinstance(point, Point)
    return point, perturbations(point)


@pytest.mark.parametrize("symmetry", [1, 2, 3])
def test_stability_of_many_modes_is_that_of_the_whole_matrix(symmetry: int) -> None:
    """Sines, whose rotation is moved to one, and cosines of all classes."""
    point, modes = partition_of_a_state(HegselmannKrause(0.8), 2.0, symmetry)
    for parity, residue in (("odd", 0), ("odd", -1), ("even", OTHERS))[: 2 + (symmetry > 1)]:
        whole = modes.matrices(states_of([point]), parity, residue)[0]  # type: ignore[arg-type]
        expected = count_negative(whole + NEUTRAL * np.eye(len(whole)))
        found = modes.counts(states_of([point]), parity, residue, NEUTRAL)[0]  # type: ignore[arg-type]
        assert found + modes._repulsive(point, modes._part(residue)) == expected
        partition = modes._partition(states_of([point]), parity, residue, NEUTRAL)  # type: ignore[arg-type]
        if partition is None:
            continue
        count = len(partition.strong)
        rest = np.linalg.eigvalsh(whole[count:, count:] - np.diag(partition.signs))
        assert -partition.below - 64 * EPS <= rest[0] <= rest[-1] <= partition.above + 64 * EPS
        rows = np.random.default_rng(0).normal(size=(2, len(whole)))
        rotates = modes._rotates(parity, residue)  # type: ignore[arg-type]
        times, _ = block_products(
            modes._part(residue),
            point,
            parity,
            residue,
            NEUTRAL,
            rotates=rotates,  # type: ignore[arg-type]
        )
        np.testing.assert_allclose(
            times(rows), rows @ whole + NEUTRAL * rows, rtol=0.0, atol=4 * EPS * np.sqrt(1024)
        )


@pytest.mark.parametrize("symmetry", [2, 3, 4, 5])
def test_shifts_of_separated_clusters_are_nearly_neutral(symmetry: int) -> None:
    """In every class but the first, for cosines and sines, they are the direction whose eigenvalue is the smallest."""
    point, modes = partition_of_a_state(HegselmannKrause(0.5), 2.2, symmetry)
    states = states_of([point])
    for residue in range(1, symmetry // 2 + 1):
        for parity in ("even", "odd")[2 * residue == symmetry :]:
            whole = modes.matrices(states, parity, residue)[0]  # type: ignore[arg-type]
            part = modes._part(residue)
            _, shifts = block_products(part, point, parity, residue, 0.0, rotates=False)  # type: ignore[arg-type]
            assert shifts is not None
            assert np.linalg.norm(whole @ shifts) < 3e-4 * np.linalg.norm(shifts)
            values, vectors = np.linalg.eigh(whole)
            nearest = vectors[:, np.abs(values).argmin()]
            assert abs(nearest @ shifts) > (1.0 - 1e-6) * np.linalg.norm(shifts)


@pytest.mark.parametrize(
    "eigenvalues", [(3e-14,), (-3e-14,), (1e-9, -1e-12), (-1e-13, -2e-10), (0.0, 1.0)], ids=str
)
@pytest.mark.parametrize("seed", range(4))
def test_nearly_neutral_directions_are_decided_by_products(eigenvalues: tuple[float, ...], seed: int) -> None:
    """A matrix some of whose eigenvalues are within the bounds of the weak block of zero; none at zero is decided."""
    whole, partition = nearly_neutral(eigenvalues, seed)
    expected = int(np.count_nonzero(partition.signs < 0.0) + sum(value < 0.0 for value in eigenvalues))
    assert partition.negative() is None
    assert partition.negative(lambda: (lambda rows: rows @ whole, None)) == (
        None if 0.0 in eigenvalues else expected
    )


@pytest.mark.parametrize("eigenvalue", [1e-6, 3e-14, -3e-14, -1e-9])
@pytest.mark.parametrize("seed", range(4))
def test_direction_that_is_known_saves_products(eigenvalue: float, seed: int) -> None:
    """The eigenvector with an error takes fewer; any other row, or none of the strong modes, spoils nothing."""
    whole, partition = nearly_neutral((eigenvalue,), seed)
    expected = int(np.count_nonzero(partition.signs < 0.0)) + (eigenvalue < 0.0)
    values, vectors = np.linalg.eigh(whole)
    generator = np.random.default_rng(seed)
    other = generator.normal(size=len(whole))
    known = 3.0 * vectors[:, np.abs(values).argmin()] + 1e-5 * other
    weak = np.where(np.arange(len(whole)) < len(partition.strong), 0.0, other)
    taken = []
    for row in (None, known, other, weak):
        calls: list[int] = []

        def times(rows: Any, calls: list[int] = calls) -> Any:
            calls.append(len(rows))
            return rows @ whole

        assert partition.negative(lambda row=row, times=times: (times, row)) == expected  # type: ignore[misc]
        taken.append(len(calls))
    assert taken[1] < taken[0]


def nearly_neutral(eigenvalues: tuple[float, ...], seed: int) -> tuple[Any, Partition]:
    """Return a random matrix with some eigenvalues of its Schur complement, and the same partitioned."""
    generator = np.random.default_rng(seed)
    strong, size, count = 12, 80, len(eigenvalues)
    signs = np.where(generator.random(size - strong) < 0.2, -1.0, 1.0)
    spread = generator.normal(size=(size, size)) / 64.0
    whole = spread + spread.T
    whole[:strong, :strong] += np.diag(generator.uniform(0.5, 2.0, strong))
    whole[strong:, strong:] = 0.1 * whole[strong:, strong:] + np.diag(signs)
    coupling = whole[:strong, strong:]
    # The Schur complement of the weak modes gets the eigenvalues that are asked for.
    complement = whole[:strong, :strong] - coupling @ np.linalg.solve(whole[strong:, strong:], coupling.T)
    values, vectors = np.linalg.eigh(complement)
    assert values[count] > 0.1
    lowest = vectors[:, :count]
    whole[:strong, :strong] += (lowest * (np.array(eigenvalues) - values[:count])) @ lowest.T
    return whole, Partition(whole[:strong, :strong], coupling, signs, 0.1, 0.1)


def test_inertia_is_not_claimed_where_the_bounds_do_not_tell() -> None:
    """A matrix whose smallest eigenvalue changes its sign within the bounds of the weak block."""
    coupling = np.array([[1.0, 0.0]])
    assert Partition(np.array([[1.2]]), coupling, np.ones(2), 0.1).negative() == 0
    assert Partition(np.array([[0.9]]), coupling, np.ones(2), 0.1).negative() == 1
    assert Partition(np.array([[1.05]]), coupling, np.ones(2), 0.1).negative() is None
    assert Partition(np.array([[-0.9]]), coupling, -np.ones(2), 0.0).negative() == 2


def test_iteration_that_does_not_contract_gives_nothing() -> None:
    """Products of another matrix than the one described."""
    partition = Partition(np.eye(1), np.zeros((1, 2)), np.ones(2), 0.1)
    assert partition.solved(lambda rows: 3.0 * rows, np.ones((1, 3)), (ROUNDING,)) is None
