"""Formats that claim to be exact return every field bit for bit."""

import dataclasses
import json

import numpy as np
import pytest
from sample import repulsive_sample, sample

from meanfield import Diagram, open_diagram
from meanfield.export import diagram_to_json_object, save, state_to_xarray
from meanfield.records.columns import PLACE_COLUMNS, RESULT_COLUMNS, SPECIAL_COLUMNS

# Of an equation with a free energy.
COLUMNS_OF_POINTS = (*PLACE_COLUMNS, "free_energy_gap", *RESULT_COLUMNS)

EXACT = (".nc", ".json", ".npz")


def assert_same(one: object, other: object) -> None:
    """Equal in type, shape and every bit, recursively over records."""
    assert type(one) is type(other)
    if isinstance(one, np.ndarray):
        assert one.dtype == other.dtype
        assert one.shape == other.shape
        assert one.tobytes() == other.tobytes()
    elif dataclasses.is_dataclass(one) and not hasattr(one, "potential") and not hasattr(one, "multipliers"):
        for field in dataclasses.fields(one):
            assert_same(getattr(one, field.name), getattr(other, field.name))
    elif isinstance(one, tuple):
        assert len(one) == len(other)
        for left, right in zip(one, other, strict=True):
            assert_same(left, right)
    else:
        assert one == other


def altered() -> Diagram:
    """A diagram with awkward numbers: negative zero, denormals, infinities, moments of different lengths."""
    diagram = sample()
    branch = diagram.branches[1]
    residual = branch.residual.copy()
    residual[:4] = [-0.0, 5e-324, np.inf, 1 / 3]
    short = dataclasses.replace(branch, residual=residual, label='quo"te, comma\nline')
    event = dataclasses.replace(
        diagram.special_points[2], cosine=np.array([1.0, 0.1 + 0.2]), sine=np.zeros(2), lower=-np.inf
    )
    events = (*diagram.special_points[:2], event, *diagram.special_points[3:])
    return dataclasses.replace(
        diagram, branches=(diagram.branches[0], short, *diagram.branches[2:]), special_points=events
    )


@pytest.mark.parametrize("suffix", EXACT)
@pytest.mark.parametrize("build", [sample, repulsive_sample, altered])
def test_bit_exact(tmp_path, build, suffix):
    diagram = build()
    (path,) = save(diagram, tmp_path / f"run{suffix}")
    assert_same(diagram, open_diagram(path))


@pytest.mark.parametrize("suffix", EXACT)
def test_extended_precision_couplings_become_doubles(tmp_path, suffix):
    diagram = sample()
    branch = diagram.branches[0]
    long = dataclasses.replace(branch, coupling=branch.coupling.astype(np.longdouble) / 3)
    diagram = dataclasses.replace(diagram, branches=(long, *diagram.branches[1:]))
    (path,) = save(diagram, tmp_path / f"run{suffix}")
    coupling = open_diagram(path).branches[0].coupling
    assert coupling.dtype == np.float64
    assert np.array_equal(coupling, long.coupling.astype(np.float64))


@pytest.mark.parametrize("suffix", EXACT)
def test_methods_of_the_diagram(tmp_path, suffix):
    diagram = sample()
    name = {".nc": "to_netcdf", ".json": "to_json", ".npz": "to_npz"}[suffix]
    written = getattr(diagram, name)(tmp_path / f"run{suffix}")
    assert written == (tmp_path / f"run{suffix}",)
    assert_same(diagram, open_diagram(written[0]))


def test_netcdf_opens_in_xarray(tmp_path):
    import xarray

    diagram = sample()
    (path,) = save(diagram, tmp_path / "run.nc")
    with xarray.open_datatree(path) as tree:
        assert tree.attrs["Conventions"] == "CF-1.11"
        assert json.loads(tree.attrs["problem"]) == diagram.problem.to_dict()
        assert tree.attrs["critical_coupling"] == 2.0
        assert tree.attrs["history"] == "{created} {command}".format(**diagram.provenance)
        assert tree.attrs["date_created"] == diagram.provenance["created"]
        assert set(tree.children) == {
            "branch_000",
            "branch_001",
            "branch_002",
            "branch_003",
            "special_points",
        }
        first = tree["branch_001"]
        assert first["cosine"].dims == ("point", "degree")
        assert np.array_equal(first["cosine"].values, diagram.branches[1].cosine)
        assert first.attrs["label"] == "1-cluster"
        assert "coupling" in first.coords
        assert tree["branch_003"]["unstable"].values[-1] == -1
        for node in tree.subtree:
            for name, variable in node.dataset.variables.items():
                assert variable.attrs["long_name"], name
                assert variable.dtype.kind in "OUT" or variable.attrs["units"], name
                assert variable.dtype.kind != "c"
        assert list(tree["special_points"]["type"].values) == [event.type for event in diagram.special_points]


def test_xarray_tables_become_data_frames():
    frame = sample().to_xarray()["branch_001"].to_dataset()[["free_energy_gap", "unstable"]].to_dataframe()
    assert list(frame["unstable"]) == sample().branches[1].unstable.tolist()


def test_state_dataset():
    diagram = sample()
    state = diagram.state("1-cluster", 30)
    dataset = state_to_xarray(state)
    assert np.array_equal(dataset["cosine"].values, state.cosine)
    assert float(dataset["coupling"]) == state.coupling
    assert int(dataset["unstable"]) == state.unstable
    assert dataset.attrs["Conventions"] == "CF-1.11"
    unknown = state_to_xarray(state.replace(unstable=None, slowest_rate=None))
    assert int(unknown["unstable"]) == -1
    assert np.isnan(float(unknown["slowest_rate"]))


def test_json_object_has_the_columns_of_the_tables():
    diagram = sample()
    short = diagram_to_json_object(diagram)
    assert all(tuple(row) == COLUMNS_OF_POINTS for row in short["points"])
    assert all(tuple(row) == SPECIAL_COLUMNS for row in short["special_points"])
    assert len(short["points"]) == sum(len(branch) for branch in diagram.branches)
    assert [branch["points"] for branch in short["branches"]] == [len(branch) for branch in diagram.branches]
    full = diagram_to_json_object(diagram, coefficients=True)
    assert full["branches"][1]["cosine"] == diagram.branches[1].cosine.tolist()
    assert full["special_points"][2]["cosine"] == diagram.special_points[2].cosine.tolist()


def test_json_is_strict(tmp_path):
    (path,) = save(altered(), tmp_path / "run.json")

    def refuse(token: str) -> None:
        raise AssertionError(token)

    values = json.loads(path.read_text(encoding="utf-8"), parse_constant=refuse)
    unknown = [row["unstable"] for row in values["points"] if row["branch"] == 3]
    assert unknown[0] == 1
    assert unknown[-1] is None
    assert [row["slowest_rate"] for row in values["points"] if row["branch"] == 3][-1] is None


def test_provenance_is_reduced_to_plain_values(tmp_path):
    from pathlib import Path

    given = {
        "array": np.arange(2),
        "path": Path("a"),
        "number": np.float64(0.1),
        "nan": float("nan"),
        "t": (1,),
    }
    diagram = dataclasses.replace(sample(), provenance=given)
    expected = {"array": [0, 1], "path": "a", "number": 0.1, "nan": None, "t": [1]}
    for suffix in EXACT:
        (path,) = save(diagram, tmp_path / f"run{suffix}")
        assert open_diagram(path).provenance == expected
