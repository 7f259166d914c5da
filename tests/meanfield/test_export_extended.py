"""Couplings beyond the range of doubles, as strong transformers have, survive or are refused: none becomes 0."""

import dataclasses
import json
from decimal import Decimal

import numpy as np
import pytest
from sample import sample

from meanfield import Circle, Diagram, InvalidInput, McKeanVlasov, State, Transformer, open_diagram
from meanfield.export import records, save, state_to_xarray
from meanfield.export.states import save_states
from tests import problems

pytestmark = pytest.mark.skipif(
    np.finfo(np.longdouble).tiny > 1e-320, reason="this platform has no numbers beyond the range of doubles"
)

SHRINK = np.longdouble("1e-343") / 3
EXACT = (".nc", ".json", ".npz")


def shrunk() -> Diagram:
    """The sample with all couplings of its branches, events and interval times 1e-343/3."""
    diagram = sample()
    branches = [
        dataclasses.replace(
            branch, coupling=branch.coupling * SHRINK, tangent_coupling=branch.tangent_coupling * SHRINK
        )
        for branch in diagram.branches
    ]
    events = [
        dataclasses.replace(
            event, **{name: getattr(event, name) * SHRINK for name in ("coupling", "lower", "upper")}
        )
        for event in diagram.special_points
    ]
    return dataclasses.replace(
        diagram,
        problem=problems.SHARP_ATTENTION.problem,
        interval=tuple(bound * SHRINK for bound in diagram.interval),
        critical_coupling=diagram.critical_coupling * SHRINK,
        branches=tuple(branches),
        special_points=tuple(events),
    )


@pytest.mark.parametrize("suffix", EXACT)
def test_extended_couplings_return_exactly(tmp_path, suffix):
    diagram = shrunk()
    (path,) = save(diagram, tmp_path / f"run{suffix}")
    found = open_diagram(path)
    assert found.interval == diagram.interval
    assert found.critical_coupling == diagram.critical_coupling
    for one, other in zip(diagram.branches, found.branches, strict=True):
        for name in ("coupling", "tangent_coupling"):
            before, after = getattr(one, name), getattr(other, name)
            assert after.dtype == np.longdouble
            assert np.array_equal(before, after, equal_nan=True)
        assert np.array_equal(one.cosine, other.cosine)
    for one, other in zip(diagram.special_points, found.special_points, strict=True):
        assert (one.coupling, one.lower, one.upper) == (other.coupling, other.lower, other.upper)


def test_couplings_across_the_end_of_the_range_return_exactly(tmp_path):
    diagram = shrunk()
    branch = diagram.branches[1]
    coupling = np.linspace(0.0, 1.0, len(branch)).astype(np.longdouble) / 7 * np.longdouble("1e-307")
    diagram = dataclasses.replace(
        diagram,
        branches=(diagram.branches[0], dataclasses.replace(branch, coupling=coupling), *diagram.branches[2:]),
    )
    for suffix in EXACT:
        (path,) = save(diagram, tmp_path / f"run{suffix}")
        assert np.array_equal(open_diagram(path).branches[1].coupling, coupling)


def test_json_holds_true_decimal_numbers(tmp_path):
    (path,) = save(shrunk(), tmp_path / "run.json")
    values = json.loads(path.read_text(), parse_float=Decimal)
    exact = Decimal(records.decimal(shrunk().branches[1].coupling[0]))
    assert values["branches"][1]["coupling"][0] == exact
    assert 0 < values["critical_coupling"] < Decimal("1e-342")
    assert values["points"][0]["coupling"] > 0


def test_binary_files_hold_nan_and_digits_rather_than_zero(tmp_path):
    import xarray

    (path,) = save(shrunk(), tmp_path / "run.npz")
    with np.load(path) as archive:
        assert np.isnan(archive["branch_1_coupling"]).all()
        assert archive["branch_1_coupling_decimal"][0].rpartition("e")[2] in ("-343", "-344")
    (path,) = save(shrunk(), tmp_path / "run.nc")
    with xarray.open_datatree(path) as tree:
        assert np.isnan(tree["branch_001"]["coupling"].values).all()
        assert str(tree["branch_001"]["coupling_decimal"].values[0]).rpartition("e")[2] in ("-343", "-344")
        assert tree.attrs["critical_coupling"].rpartition("e")[2] in ("-343", "-344")


@pytest.mark.parametrize("suffix", [".mat", ".auto"])
def test_formats_of_doubles_refuse_in_one_sentence(tmp_path, suffix):
    with pytest.raises(InvalidInput, match=r"e-34\d do not fit .* write \.nc, \.json, \.npz or \.csv"):
        save(shrunk(), tmp_path / f"run{suffix}")
    assert not list(tmp_path.iterdir())


def test_states_keep_their_coupling(tmp_path):
    problem = McKeanVlasov(Circle(), Transformer(800.0), coupling=2 * SHRINK)
    state = State(problem, np.array([1.0, 0.5]), np.zeros(2), {}, unstable=0, symmetry=1, residual=0.0, modes=1)
    path = save_states([state], tmp_path / "states.json", SHRINK)
    values = records.load(path.read_text())
    assert values["states"][0]["coupling"] == values["problem"]["coupling"] == 2 * SHRINK
    assert np.longdouble(str(state_to_xarray(state)["coupling_decimal"].values)) == 2 * SHRINK


def test_a_platform_without_such_numbers_says_so(monkeypatch):
    monkeypatch.setattr(np, "longdouble", np.float64)
    with pytest.raises(InvalidInput, match="beyond the floating-point range"):
        records.extended("2.0e-343")
