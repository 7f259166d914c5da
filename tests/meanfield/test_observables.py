"""Observables of records: by name, read-only, in every file; what is not there is refused, what was once an argument taken."""

import copy
import dataclasses
import json
import pickle
from dataclasses import replace

import numpy as np
import pytest
from sample import sample
from scipy.io import loadmat

from meanfield import (
    Branch,
    Circle,
    InvalidInput,
    Kuramoto,
    McKeanVlasov,
    Outcome,
    State,
    Trajectory,
    open_diagram,
    open_trajectory,
)
from meanfield.export.states import PLACE_COLUMNS as STATE_PLACE_COLUMNS
from meanfield.export.states import RESULT_COLUMNS as STATE_RESULT_COLUMNS
from meanfield.records import Observables, observable_named
from meanfield.records.observables import RESERVED, TAKEN

PROBLEM = McKeanVlasov(Circle(), Kuramoto(), coupling=3.0)
# One that no equation of this package has.
DRIFT = "mean_drift"


def state(**changes):
    """Return a state whose numbers are made up."""
    fields = {"observables": {DRIFT: 0.25}, "unstable": 0, "symmetry": 1, "residual": 0.0, "modes": 1}
    return State(PROBLEM, np.array([1.0, 0.5]), np.zeros(2), **(fields | changes))


def trajectory(observables):
    """Return a trajectory of two times with observables."""
    cosine = np.array([[1.0, 0.5], [1.0, 0.4]])
    return Trajectory(
        PROBLEM, np.array([0.0, 1.0]), cosine, 0.0 * cosine, np.array([1, 1]), observables, np.full(2, 0.1),
        mass_error=0.0, outcome=Outcome.REACHED_TIME, method="LSODA", tolerance=1e-8, steps=1, evaluations=2,
    )  # fmt: skip


def diagram_with(name, values=None):
    """Return a diagram whose branches have one more observable."""
    diagram = sample()
    branches = tuple(
        replace(
            branch, observables={**branch.observables, name: branch.coupling * 2.0 if values is None else values}
        )
        for branch in diagram.branches
    )
    return replace(diagram, branches=branches)


def test_arrays_are_copied_and_read_only():
    given = np.array([1.0, 2.0])
    observables = Observables({DRIFT: given}, 2)
    given[0] = 7.0
    assert observables[DRIFT].tolist() == [1.0, 2.0]
    with pytest.raises(ValueError, match="read-only"):
        observables[DRIFT][0] = 7.0
    with pytest.raises(TypeError):
        observables[DRIFT] = given


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, lambda it: pickle.loads(pickle.dumps(it))])
def test_copies_are_equal_and_read_only(copied):
    observables = Observables({DRIFT: np.array([1.0, np.nan]), "other": np.ones(2)}, 2)
    again = copied(observables)
    assert again == observables
    assert not again[DRIFT].flags.writeable
    assert observables != Observables({DRIFT: np.array([1.0, 0.0]), "other": np.ones(2)}, 2)
    assert observables != Observables({DRIFT: np.array([1.0, np.nan])}, 2)


@pytest.mark.parametrize("name", ["", "two words", "1st", "_private", "é", "a" * 32, 3, None])
def test_names_are_those_of_variables(name):
    with pytest.raises(InvalidInput, match="cannot be called"):
        Observables({name: 1.0})


def test_what_is_not_there_is_refused_with_what_is():
    with pytest.raises(
        InvalidInput, match=r"this state has no observable 'mean_drif'; did you mean mean_drift\? it"
    ):
        state().observable("mean_drif")
    # The equation has one; it was left out.
    with pytest.raises(InvalidInput, match="this state has no observable 'free_energy_gap'; it has mean_drift"):
        _ = state().free_energy_gap
    with pytest.raises(InvalidInput, match="this trajectory has no observable 'dissipation'"):
        _ = trajectory({}).dissipation


def test_former_arguments_are_still_taken():
    with pytest.warns(DeprecationWarning, match=r"State\(free_energy_gap=...\) is called with observables"):
        former = state(observables={}, free_energy_gap=-0.5)
    assert former.observables == {"free_energy_gap": -0.5}
    with pytest.warns(DeprecationWarning, match="Branch"):
        branch = replace(sample().branches[0], free_energy_gap=np.ones(len(sample().branches[0])))
    assert (branch.free_energy_gap == 1.0).all()


@pytest.mark.parametrize("suffix", [".nc", ".json", ".npz"])
def test_diagrams_with_another_observable(tmp_path, suffix):
    diagram = diagram_with(DRIFT)
    (path,) = diagram.save(tmp_path / f"run{suffix}")
    read = open_diagram(path)
    assert read.branches == diagram.branches
    assert read.observables == ("free_energy_gap", DRIFT)


def test_tables_have_its_column(tmp_path):
    diagram = diagram_with(DRIFT)
    points, *_ = diagram.save(tmp_path / "run.csv")
    head, first, *_ = points.read_text().splitlines()
    columns = head.split(",")
    assert columns[columns.index("free_energy_gap") + 1] == DRIFT
    assert float(first.split(",")[columns.index(DRIFT)]) == 2.0 * float(diagram.branches[0].coupling[0])


def test_a_branch_without_it_has_empty_cells():
    diagram = diagram_with(DRIFT)
    bare = replace(diagram, branches=(*diagram.branches[:1], *sample().branches[1:]))
    rows = list(bare.point_rows())
    assert {row[DRIFT] is None for row in rows if row["branch"] == 0} == {False}
    assert {row[DRIFT] for row in rows if row["branch"] > 0} == {None}
    assert bare.plot(DRIFT).lines


@pytest.mark.parametrize("suffix", [".nc", ".json"])
def test_trajectories_with_another_observable(tmp_path, suffix):
    made = trajectory({DRIFT: np.array([0.5, np.nan])})
    (path,) = made.save(tmp_path / f"run{suffix}")
    assert open_trajectory(path) == made
    assert [row[DRIFT] for row in made.rows()] == [0.5, None]


@pytest.mark.parametrize(
    "name",
    [
        "coupling",
        "cosine",
        "stable",
        "point_labels",
        "coupling_decimal",
        "m1",
        "branch",
        "degree",
        "amplitude",
        "x",
    ],
)
def test_names_of_other_columns_are_refused(name):
    with pytest.raises(InvalidInput, match=f"cannot be called '{name}', .* such as 'mean_{name}'"):
        diagram_with(name)


def test_a_list_of_observables_that_was_changed_is_seen(tmp_path):
    (path,) = diagram_with(DRIFT).save(tmp_path / "run.json")
    values = json.loads(path.read_text())
    values["branches"][0]["observables"].remove(DRIFT)
    path.write_text(json.dumps(values))
    with pytest.raises(InvalidInput, match="digest"):
        open_diagram(path)


def test_every_name_that_is_something_else_is_reserved():
    fields = {field.name for kind in (State, Branch, Trajectory) for field in dataclasses.fields(kind)}
    diagram = sample()
    columns = {*diagram.point_columns, *diagram.special_columns, *STATE_PLACE_COLUMNS, *STATE_RESULT_COLUMNS}
    (row, *_) = trajectory({}).rows()
    quantities = {"norm", "amplitude"}
    free = {name for name in fields | columns | set(row) | quantities if not TAKEN.fullmatch(name)} - RESERVED
    assert free == {"free_energy_gap"}


def test_fields_of_matcont_are_reserved(tmp_path):
    (path,) = sample().save(tmp_path / "run.mat")
    branches = loadmat(path)["branches"]
    own = set(branches.dtype.names) | set(branches["s"][0, 0].dtype.names)
    assert {name for name in own if not TAKEN.fullmatch(name)} - RESERVED == {"free_energy_gap"}


def test_branches_with_different_observables_keep_them_apart_in_matlab(tmp_path):
    diagram = sample()
    added = ({"one": 1.0, "two": 2.0}, {"two": 2.0, "one": 1.0}, {"two": 2.0}, {})
    branches = tuple(
        replace(branch, observables={name: np.full(len(branch), value) for name, value in own.items()})
        for branch, own in zip(diagram.branches, (*added, *({},) * len(diagram.branches)), strict=False)
    )
    (path,) = replace(diagram, branches=branches).save(tmp_path / "run.mat")
    read = loadmat(path)["branches"]
    for index, branch in enumerate(branches):
        for name, value in (("one", 1.0), ("two", 2.0)):
            expected = np.full(len(branch), value if name in branch.observables else np.nan)
            np.testing.assert_array_equal(read[name][0, index].ravel(), expected)


@pytest.mark.parametrize("value", ["text", None, True, [1.0], np.array([1.0]), 1j])
def test_a_state_has_single_numbers(value):
    with pytest.raises(InvalidInput, match="the observable 'mean_drift' must be a number, not"):
        state(observables={DRIFT: value})


@pytest.mark.parametrize("value", [0.5, np.ones(3), np.ones((2, 1)), np.array(["a", "b"]), np.ones(2, bool), None])
def test_a_trajectory_has_a_number_a_time(value):
    with pytest.raises(InvalidInput, match="the observable 'mean_drift' must be an array of 2 numbers, not"):
        trajectory({DRIFT: value})


def test_numbers_of_other_kinds_become_doubles():
    assert type(state(observables={DRIFT: np.float32(0.5)}).observables[DRIFT]) is float
    for given in ([1, 2], np.array([1, 2]), np.array([1.0, 2.0], np.float32), np.array([1.0, 2.0], np.longdouble)):
        assert trajectory({DRIFT: given}).observables[DRIFT].dtype == np.float64


@pytest.mark.skipif(np.finfo(np.longdouble).maxexp <= 1024, reason="long double is no wider here")
def test_numbers_beyond_doubles_are_refused():
    for tiny in (np.longdouble("1e-400"), np.longdouble("1e400")):
        with pytest.raises(InvalidInput, match="beyond double precision"):
            state(observables={DRIFT: tiny})


def test_a_warning_points_at_the_caller():
    with pytest.warns(DeprecationWarning, match="Branch") as caught:
        replace(sample().branches[0], free_energy_gap=np.ones(len(sample().branches[0])))
    assert caught[0].filename == __file__


def test_long_names_keep_the_columns_of_a_summary():
    name = "a_rather_long_name_of_a_number"
    heading, *rows = trajectory({name: np.ones(2)}).summary().splitlines()[-3:]
    assert len(heading) == len(rows[0]) == len(rows[1])


def test_one_that_is_not_known_is_described_by_its_name():
    assert observable_named(DRIFT).description == "mean drift"
    assert "free energy" in observable_named("free_energy_gap").description
    assert diagram_with(DRIFT).plot(DRIFT).get_ylabel() == "mean drift"
