"""CSV and MATLAB files, read by independent readers."""

import csv
import dataclasses
import json

import numpy as np
import pandas
import pytest
from sample import repulsive_sample, sample
from scipy.io import loadmat

from meanfield.export import save
from meanfield.records.columns import PLACE_COLUMNS, RESULT_COLUMNS, SPECIAL_COLUMNS

# Of an equation with a free energy.
COLUMNS_OF_POINTS = (*PLACE_COLUMNS, "free_energy_gap", *RESULT_COLUMNS)


def rows_of(path):
    with path.open(newline="", encoding="utf-8") as stream:
        return list(csv.reader(stream))


def test_csv_columns_and_exact_numbers(tmp_path):
    diagram = sample()
    points, special, provenance = save(diagram, tmp_path / "run.csv")
    assert [path.name for path in (points, special, provenance)] == [
        "run.csv",
        "run.special.csv",
        "run.provenance.json",
    ]
    head, *body = rows_of(points)
    assert tuple(head) == COLUMNS_OF_POINTS
    for row, expected in zip(body, diagram.point_rows(), strict=True):
        for cell, value in zip(row, expected.values(), strict=True):
            assert (cell == "") if value is None else (type(value)(cell) == value)
    head, *body = rows_of(special)
    assert tuple(head) == SPECIAL_COLUMNS
    assert [float(row[2]) for row in body] == [event.coupling for event in diagram.special_points]
    assert json.loads(provenance.read_text(encoding="utf-8"))["provenance"] == diagram.provenance


def test_pandas_reads_csv_with_its_defaults(tmp_path):
    diagram = sample()
    points, special, _ = save(diagram, tmp_path / "run.csv")
    frame = pandas.read_csv(points)
    assert list(frame.columns) == list(COLUMNS_OF_POINTS)
    first, first_branch = frame[frame["branch"] == 1], diagram.branches[1]
    # The default parser of pandas may be wrong in the last digit.
    for column, expected in (("coupling", first_branch.coupling), ("m1", first_branch.cosine[:, 1])):
        assert np.allclose(first[column], expected, rtol=4 * np.finfo(float).eps, atol=0)
    assert frame[frame["branch"] == 3]["unstable"].isna().sum() == 9
    assert list(pandas.read_csv(special)["type"]) == [event.type for event in diagram.special_points]


def test_csv_without_critical_coupling(tmp_path):
    points, special, _ = save(repulsive_sample(), tmp_path / "run.csv")
    _, *body = rows_of(points)
    assert {row[3] for row in body} == {""}
    assert rows_of(special) == [list(SPECIAL_COLUMNS)]


def test_csv_of_extended_precision(tmp_path):
    diagram = sample()
    branch = diagram.branches[0]
    long = dataclasses.replace(branch, coupling=np.longdouble(10) ** -400 * np.arange(1, len(branch) + 1))
    points, *_ = save(dataclasses.replace(diagram, branches=(long,), special_points=()), tmp_path / "run.csv")
    _, *body = rows_of(points)
    assert np.array_equal(np.array([np.longdouble(row[2]) for row in body]), long.coupling)


@pytest.fixture
def matlab(tmp_path):
    (path,) = save(sample(), tmp_path / "run.mat")
    return loadmat(path, squeeze_me=True, struct_as_record=False)


def test_matcont_layout(matlab):
    diagram = sample()
    for branch, entry in zip(diagram.branches, matlab["branches"], strict=True):
        size = branch.cosine.shape[1] - 1
        assert np.array_equal(entry.x[:size], branch.cosine[:, 1:].T)
        assert np.array_equal(entry.x[-1], branch.coupling)
        assert np.array_equal(entry.v[:size], branch.tangent_cosine[:, 1:].T)
        assert np.array_equal(entry.v[-1], branch.tangent_coupling)
        assert entry.h.shape == (2, len(branch))
        assert np.array_equal(entry.f, -branch.slowest_rate, equal_nan=True)
        assert entry.label == branch.label
        assert entry.x.shape[0] == len(entry.state_names)
        assert [point.label for point in entry.s][:: len(entry.s) - 1] == ["00", "99"]
        assert [point.index for point in entry.s][:: len(entry.s) - 1] == [1, len(branch)]
        assert np.array_equal(entry.cosine, branch.cosine)


def test_matlab_special_points_and_sines(matlab):
    diagram = sample()
    first, chiral = matlab["branches"][1], matlab["branches"][3]
    assert [point.label for point in first.s] == ["00", "BP", "LP", "TR", "99"]
    fold = first.s[2]
    assert fold.msg == "Limit point"
    assert np.array_equal(fold.data.v, first.v[:, fold.index - 1])
    assert chiral.x.shape[0] == 2 * 24 + 1
    assert np.array_equal(chiral.x[24:48], diagram.branches[3].sine[:, 1:].T)
    assert np.isnan(chiral.unstable[-1])
    assert [event.coupling for event in matlab["special_points"]] == [
        event.coupling for event in diagram.special_points
    ]
    assert json.loads(matlab["problem"]) == diagram.problem.to_dict()
    assert json.loads(matlab["provenance"]) == diagram.provenance


def test_matlab_field_names_fit(matlab):
    for entry in (*matlab["branches"], *matlab["special_points"]):
        assert all(len(name) <= 31 for name in entry._fieldnames)


def test_matlab_without_events(tmp_path):
    (path,) = save(repulsive_sample(), tmp_path / "run.mat")
    content = loadmat(path)
    assert content["special_points"].size == 0
    assert content["critical_coupling"].size == 0
