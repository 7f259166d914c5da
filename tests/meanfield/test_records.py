"""Every record of results: arrays that cannot be written to, equality that survives copies, a short text."""

import copy
import dataclasses
import pickle

import numpy as np
import pytest

from meanfield import Circle, Kuramoto, McKeanVlasov, State
from meanfield.base import Record
from meanfield.records import Observables, state_at, states_at
from meanfield.transport import Density, Sample
from tests.hostile import materials

# The longest text is that of an ensemble, five lines of a terminal of 120 columns.
LONGEST = 600


def records():
    """Return one object of every class of records at hand, by name."""
    further = {"moments": materials()["state"].moments, "histogram": materials()["ensemble"].density()}
    return {name: thing for name, thing in (materials() | further).items() if isinstance(thing, Record)}


def arrays_in(thing):
    """Yield all arrays in a record, those of the records and tuples in it included."""
    if isinstance(thing, np.ndarray):
        yield thing
    elif isinstance(thing, Record):
        for field in dataclasses.fields(thing):
            yield from arrays_in(getattr(thing, field.name))
    elif isinstance(thing, tuple):
        for entry in thing:
            yield from arrays_in(entry)
    elif isinstance(thing, Observables | dict):
        for name in thing:
            yield from arrays_in(thing[name])


def subclasses_of(kind):
    for each in kind.__subclasses__():
        yield each
        yield from subclasses_of(each)


def test_every_class_of_records_is_tried():
    tried = {type(thing).__name__ for thing in records().values()}
    inside = {
        "Means",
        "Fit",
        "VerticalBranch",
        "MaierSaupeState",
        "Initial",
        "PolarLaw",
        "SavedRecord",
        "Observed",
        "Row",
    }
    assert {kind.__name__ for kind in subclasses_of(Record)} <= tried | inside


def test_arrays_are_read_only_also_in_copies():
    for name, record in records().items():
        for each in (record, copy.deepcopy(record), copy.copy(record), pickle.loads(pickle.dumps(record))):
            assert not any(array.flags.writeable for array in arrays_in(each)), name


def test_a_copy_equals_its_original():
    for name, record in records().items():
        for each in (copy.deepcopy(record), copy.copy(record), pickle.loads(pickle.dumps(record))):
            assert each == record, name
            assert hash(each) == hash(record), name


@pytest.mark.parametrize("name", ["density", "sample"])
def test_a_copy_of_a_measure_equals_its_original(name):
    measure = materials()[name]
    for each in (copy.deepcopy(measure), copy.copy(measure), pickle.loads(pickle.dumps(measure))):
        assert each == measure
        assert hash(each) == hash(measure)
        assert not any(array.flags.writeable for array in vars(each).values() if isinstance(array, np.ndarray))
    assert Sample([0.1, 0.2]) != Sample([0.1, 0.3])
    assert Density([1.0, 0.2]) != Density([1.0, 0.2], [0.0, 0.1])


def test_what_a_record_keeps_that_was_computed_from_it_makes_it_no_other():
    region = materials()["region"]
    fresh = dataclasses.replace(region)
    assert region.contains(3.0, 0.7) is fresh.contains(3.0, 0.7)
    unused = dataclasses.replace(region)
    assert region == unused
    assert unused == region
    assert hash(region) == hash(unused)
    assert not any(part.flags.writeable for strip in region.strips() for part in strip)


def test_estimates_are_unpacked_and_indexed():
    estimate = materials()["estimate"]
    mean, error = estimate
    assert mean is estimate.mean is estimate[0]
    assert error is estimate.standard_error is estimate[-1]
    assert len(estimate) == 2


def test_a_record_with_another_field_is_another():
    for name, record in records().items():
        for field in dataclasses.fields(record):
            changed = copy.copy(record)
            value = getattr(record, field.name)
            numbers = isinstance(value, np.ndarray) and value.size and value.dtype.kind != "U"
            other = value + 1.0 if numbers else ("other",)
            if isinstance(other, np.ndarray) and np.array_equal(other, value, equal_nan=True):
                continue
            object.__setattr__(changed, field.name, other)
            assert changed != record, (name, field.name)


def test_texts_are_short():
    for name, record in records().items():
        text = repr(record)
        assert "array(" not in text, name
        assert len(text) <= LONGEST, name


@pytest.mark.parametrize("fixed", [False, True], ids=["an array", "a fixed view of an array"])
def test_a_record_does_not_change_with_the_array_it_was_made_from(fixed):
    cosine = np.array([1.0, 0.25])
    given = cosine.view()
    given.flags.writeable = not fixed
    state = State(McKeanVlasov(Circle(), Kuramoto(), coupling=1.0), given, np.zeros(2), {}, 0, 1, 0.0, 1)
    cosine[1] = 0.5
    assert state.cosine[1] == 0.25
    with pytest.raises(ValueError, match="read-only"):
        state.cosine[1] = 0.5


def test_states_along_a_branch_are_those_at_its_points():
    """They are made without another check, and are equal, read-only and of the same types nevertheless."""
    diagram = materials()["diagram"]
    branch = max(diagram.branches, key=len)
    points = list(range(len(branch)))[::-1]
    found = states_at(diagram.problem, branch, points)
    assert found == [state_at(diagram.problem, branch, point) for point in points]
    assert all(type(one.observables) is Observables for one in found)
    assert not any(array.flags.writeable for one in found for array in arrays_in(one))
    assert states_at(diagram.problem, branch, []) == []
