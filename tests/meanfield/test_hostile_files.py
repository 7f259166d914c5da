"""Files whose header has lost a key or holds a wrong value, and files that end too early, end in one sentence."""

import contextlib
import copy
import functools
import json
import operator

import pytest

from meanfield import MeanfieldError, open_comparison, open_diagram, open_ensemble, open_trajectory
from meanfield.export.auto_description import DESCRIPTION_KEY, FILES_KEY
from tests.hostile import materials, one_sentence

READERS = {
    "diagram": open_diagram,
    "trajectory": open_trajectory,
    "ensemble": open_ensemble,
    "comparison": open_comparison,
}
WRONG = (None, "text", -1, 1e400, [], {"name": "text"})
DELETED = object()


def places_in(values, above=()):
    """Yield the places of all entries of a description; of a list of many only the first."""
    entries = values.items() if isinstance(values, dict) else list(enumerate(values))[:1]
    for key, value in entries:
        yield (*above, key)
        if isinstance(value, dict | list):
            yield from places_in(value, (*above, key))


@contextlib.contextmanager
def changed(values, place, value):
    """Put another entry at a place for a while."""
    *above, key = place
    inner = functools.reduce(operator.getitem, above, values)
    whole = copy.copy(inner)
    if value is DELETED:
        del inner[key]
    else:
        inner[key] = value
    yield
    if isinstance(inner, dict):
        inner.clear()
        inner.update(whole)
    else:
        inner[:] = whole


def complaint_of(reader, path, **options):
    """Return what is wrong with how a reader takes a file: nothing if it reads it or refuses it in a sentence."""
    try:
        repr(reader(path, **options))
    except MeanfieldError as error:
        return None if one_sentence(str(error)) else f"no sentence: {error}"
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return None


def thinned(values):
    """Return the description of a diagram with the ends and special points of its branches alone, or of another record."""
    kept = []
    for index, branch in enumerate(values.get("branches", ())):
        count = len(branch["coupling"])
        special = [event for event in values["special_points"] if event["branch"] == index]
        kept.append(sorted({0, count - 1} | {event["point"] for event in special}))
        for name, column in branch.items():
            if isinstance(column, list) and len(column) == count:
                branch[name] = [column[point] for point in kept[-1]]
        for event in special:
            event["point"] = kept[-1].index(event["point"])
    return values


@pytest.mark.parametrize("name", sorted(READERS))
def test_a_header_with_a_wrong_entry(name, tmp_path):
    written = materials()[name].save(tmp_path / "whole.json")[0]
    whole = thinned(json.loads(written.read_text()))
    whole.pop("digest", None)
    (tmp_path / "thinned.json").write_text(json.dumps(whole))
    READERS[name](tmp_path / "thinned.json")
    complaints = []
    for place in list(places_in(whole)):
        for value in (DELETED, *WRONG):
            path = tmp_path / "damaged.json"
            with changed(whole, place, value):
                path.write_text(json.dumps(whole))
            for check in (True, False):
                if complaint := complaint_of(READERS[name], path, check=check):
                    complaints.append(f"{place} = {value}, check={check}: {complaint}")
    assert complaints == []


def test_a_description_for_auto_with_a_wrong_entry(tmp_path):
    materials()["diagram"].save(tmp_path / "whole.auto")
    description = tmp_path / "d.whole"
    before, text = description.read_text().split(FILES_KEY)[0].split(DESCRIPTION_KEY)
    whole = json.loads(text)
    complaints = []
    for place in list(places_in(whole)):
        for value in (DELETED, *WRONG):
            with changed(whole, place, value):
                description.write_text(before + DESCRIPTION_KEY + json.dumps(whole) + "\n")
            for check in (True, False):
                if complaint := complaint_of(open_diagram, tmp_path / "whole.auto", check=check):
                    complaints.append(f"{place} = {value}, check={check}: {complaint}")
    assert complaints == []


@pytest.mark.parametrize("suffix", [".json", ".nc", ".npz", ".csv", ".auto"])
def test_files_that_end_too_early(suffix, tmp_path):
    files = materials()["diagram"].save(tmp_path / f"whole{suffix}")
    complaints = []
    for file in files:
        whole = file.read_bytes()
        # A damaged netCDF file is read in a process of its own, which is slow.
        for share in range(0, 12, 4 if suffix == ".nc" else 1):
            file.write_bytes(whole[: share * len(whole) // 12])
            for check in (True, False):
                if complaint := complaint_of(open_diagram, tmp_path / f"whole{suffix}", check=check):
                    complaints.append(f"{file.name} at {share}/12: {complaint}")
        file.write_bytes(whole)
    assert complaints == []
