"""What was changed in a file after it was written shows when it is opened, and files of different sets do not pass."""

import dataclasses
import hashlib
import itertools
import json
import re
from pathlib import Path

import numpy as np
import pytest
from sample import repulsive_sample, sample
from scipy.io import loadmat
from sphere_sample import cubic, nematic

from meanfield import InvalidInput, open_diagram
from meanfield.export import save, sealed
from meanfield.export.opening import open_record
from meanfield.export.states import open_states, save_states
from meanfield.records import StationaryStates
from solvers import VonMises, bifurcation_diagram, evolve, simulate, stationary_states
from tests.campaigns.files import KINDS, KURAMOTO, ON_SPHERE, same
from verification import compare

SINGLE = (".nc", ".json", ".npz")
SETS = {".auto": ("b.run", "s.run", "d.run"), ".csv": ("run.csv", "run.special.csv", "run.provenance.json")}


def change(path: Path, branch: int = 1, name: str = "coupling", point: int = 7, factor: float = 1.01) -> None:
    """Change one number of a diagram by the means of its format, everything else left as it is."""
    if path.suffix == ".json":
        values = json.loads(path.read_text(encoding="utf-8"))
        values["branches"][branch][name][point] *= factor
        path.write_text(json.dumps(values), encoding="utf-8")
    elif path.suffix == ".npz":
        with np.load(path) as archive:
            arrays = dict(archive)
        arrays[f"branch_{branch}_{name}"][point] *= factor
        np.savez(path, **arrays)
    else:
        import netCDF4

        with netCDF4.Dataset(path, "a") as dataset:
            dataset[f"branch_{branch:03d}"][name][point] *= factor


def without_digest(path: Path) -> None:
    """Take the digest away, as it is in files from before there was one."""
    if path.suffix == ".json":
        values = json.loads(path.read_text(encoding="utf-8"))
        del values["digest"]
        path.write_text(json.dumps(values), encoding="utf-8")
    elif path.suffix == ".npz":
        with np.load(path) as archive:
            arrays = dict(archive)
        header = json.loads(str(arrays["header"]))
        del header["digest"]
        np.savez(path, **(arrays | {"header": np.array(json.dumps(header))}))
    else:
        import netCDF4

        with netCDF4.Dataset(path, "a") as dataset:
            header = json.loads(dataset.header)
            del header["digest"]
            dataset.header = json.dumps(header)
            dataset.delncattr("digest")


def stored_digest(path: Path) -> str:
    if path.suffix == ".mat":
        return str(loadmat(path)["digest"][0])
    if path.suffix == ".npz":
        with np.load(path) as archive:
            return json.loads(str(archive["header"]))["digest"]
    if path.suffix == ".nc":
        import netCDF4

        with netCDF4.Dataset(path) as dataset:
            return str(dataset.digest)
    text = path.read_text(encoding="utf-8")
    if path.name.startswith("d."):
        text = next(line for line in text.splitlines() if line.startswith("meanfield-diagram: ")).partition(": ")[2]
    return json.loads(text)["digest"]


# A changed netCDF file is read in a process of its own, which is slow: one array of every kind.
@pytest.mark.parametrize(
    ("suffix", "name"),
    [
        *itertools.product(
            (".json", ".npz"), ("coupling", "cosine", "unstable", "free_energy_gap", "tangent_sine", "modes")
        ),
        *itertools.product((".nc",), ("coupling", "cosine", "unstable")),
    ],
)
def test_a_changed_number_is_refused(tmp_path, suffix, name):
    (path,) = save(sample(), tmp_path / f"run{suffix}")
    sound = open_diagram(path)
    if suffix == ".json" and name in ("cosine", "tangent_sine"):
        values = json.loads(path.read_text(encoding="utf-8"))
        values["branches"][3][name][5][1] = np.nextafter(values["branches"][3][name][5][1], 2.0)
        path.write_text(json.dumps(values), encoding="utf-8")
    else:
        change(path, 3, name, 2, 2)
    with pytest.raises(
        InvalidInput, match=rf"run\{suffix} cannot be read: its content does not agree with its digest"
    ):
        open_diagram(path)
    assert not same(open_diagram(path, check=False), sound)


@pytest.mark.parametrize("build", [sample, repulsive_sample, nematic, cubic])
def test_the_digest_is_that_of_the_content_whatever_the_format(tmp_path, build):
    diagram = build()
    found = set()
    for suffix in (*SINGLE, ".mat", ".csv", *([] if build is cubic else [".auto"])):
        found.add(stored_digest(save(diagram, tmp_path / f"run{suffix}")[-1]))
    for suffix, other in itertools.permutations(SINGLE, 2):
        found.add(
            stored_digest(save(open_diagram(tmp_path / f"run{suffix}"), tmp_path / f"again{other}", force=True)[0])
        )
    assert len(found) == 1
    changed = dataclasses.replace(diagram, interval=(diagram.interval[0], np.nextafter(diagram.interval[1], 9.0)))
    assert stored_digest(save(changed, tmp_path / "other.json")[0]) not in found


def test_a_diagram_over_whole_numbers_is_read_back(tmp_path):
    # JSON tells 1 from 1.0, and netCDF arrays of integers from those of doubles.
    diagram = bifurcation_diagram(KURAMOTO, (1, 3))
    for suffix in SINGLE:
        assert same(open_diagram(save(diagram, tmp_path / f"run{suffix}")[0]).branches, diagram.branches)


@pytest.mark.parametrize("suffix", SINGLE)
def test_files_from_before_there_were_digests_open(tmp_path, suffix):
    diagrams = [sample(), cubic()]
    if suffix != ".nc":
        diagrams += [repulsive_sample(), nematic()]
        diagrams += [bifurcation_diagram(problem, relative=(0.5, 2.0)) for problem in (KURAMOTO, ON_SPHERE)]
    for number, diagram in enumerate(diagrams):
        (path,) = save(diagram, tmp_path / f"{number}{suffix}")
        sound = open_diagram(path)
        without_digest(path)
        assert same(open_diagram(path), sound)


IMPOSSIBLE = {
    "a moment beyond 1": lambda values: values["branches"][1]["cosine"][9].__setitem__(2, -1.5),
    "a mass other than 1": lambda values: values["branches"][1]["cosine"][9].__setitem__(0, 0.9),
    "a coupling that is no number": lambda values: values["branches"][1]["coupling"].__setitem__(9, None),
    "not its coupling over the critical one": lambda values: values["branches"][1]["relative_coupling"].__setitem__(
        9, 0.15026
    ),
    "an arclength that decreases": lambda values: values["branches"][1]["arclength"].__setitem__(9, 0.0),
    "a negative number of unstable": lambda values: values["branches"][1]["unstable"].__setitem__(9, -2),
    "a negative residual": lambda values: values["branches"][1]["residual"].__setitem__(9, -1e-9),
    "an infinite free_energy_gap": lambda values: values["branches"][1]["free_energy_gap"].__setitem__(
        9, "Infinity"
    ),
    "another coupling than its point": lambda values: values["special_points"][2].update(coupling=1.5),
    "outside the bounds": lambda values: values["special_points"][2].update(lower=3.0),
    "other moments than its point": lambda values: values["special_points"][2]["cosine"].__setitem__(1, 0.3),
}


@pytest.mark.parametrize("sentence", IMPOSSIBLE)
def test_what_no_diagram_can_have_is_refused_without_a_digest(tmp_path, sentence):
    (path,) = save(sample(), tmp_path / "run.json")
    without_digest(path)
    values = json.loads(path.read_text(encoding="utf-8"))
    IMPOSSIBLE[sentence](values)
    path.write_text(json.dumps(values), encoding="utf-8")
    with pytest.raises(InvalidInput, match=rf"{sentence}.*check=False"):
        open_diagram(path)
    open_diagram(path, check=False)


def test_a_table_in_json_agrees_with_the_branches(tmp_path):
    (path,) = save(sample(), tmp_path / "run.json")
    values = json.loads(path.read_text(encoding="utf-8"))
    values["points"][30]["m2"] *= 1.5
    path.write_text(json.dumps(values), encoding="utf-8")
    with pytest.raises(InvalidInput, match="its table 'points' does not agree with its branches"):
        open_diagram(path)


def test_the_netcdf_library_never_sees_a_damaged_file(tmp_path, monkeypatch):
    import netCDF4

    (path,) = save(sample(), tmp_path / "run.nc")
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 4
    path.write_bytes(content)

    def crash(*_: object, **__: object) -> None:
        raise SystemError("the library has crashed")

    monkeypatch.setattr(netCDF4, "Dataset", crash)
    with pytest.raises(InvalidInput, match=r"run\.nc cannot be read: it is damaged: its content"):
        open_diagram(path)


def test_a_netcdf_file_that_was_added_to_opens(tmp_path):
    import netCDF4

    (path,) = save(sample(), tmp_path / "run.nc")
    sound = open_diagram(path)
    with netCDF4.Dataset(path, "a") as dataset:
        dataset.note = "for figure 3"
    assert sealed.SEAL not in path.read_bytes()
    assert same(open_diagram(path), sound)


class KilledError(BaseException):
    """Stands for a kill: nothing that runs afterwards is of the program."""


def kill_at(monkeypatch: pytest.MonkeyPatch, rename: int) -> None:
    done = itertools.count()
    replace = Path.replace

    def replaced(self: Path, target: Path) -> Path:
        if next(done) == rename:
            raise KilledError
        return replace(self, target)

    monkeypatch.setattr(Path, "replace", replaced)


@pytest.mark.parametrize("suffix", SETS)
@pytest.mark.parametrize("rename", [1, 2])
@pytest.mark.parametrize("before", ["nothing", "another", "without digests"])
def test_a_kill_between_two_renames_shows(tmp_path, monkeypatch, suffix, rename, before):
    other = dataclasses.replace(sample(), provenance={"command": "another"})
    if before != "nothing":
        save(other, tmp_path / f"run{suffix}")
    if before == "without digests":
        last = tmp_path / SETS[suffix][-1]
        text = last.read_text(encoding="utf-8")
        last.write_text(
            "\n".join(line for line in text.splitlines() if not line.startswith("meanfield-files")) + "\n"
        )
    moved = dataclasses.replace(sample(), branches=tuple(
        dataclasses.replace(branch, observables={"free_energy_gap": branch.free_energy_gap + 1e-3}, coupling=branch.coupling * 1.001)
        for branch in sample().branches
    ))  # fmt: skip
    with monkeypatch.context() as patched:
        kill_at(patched, rename)
        with pytest.raises(KilledError):
            save(moved, tmp_path / f"run{suffix}", force=True)
    with pytest.raises(InvalidInput, match=r"not what .* was written with|does not exist"):
        open_diagram(tmp_path / f"run{suffix}")
    save(moved, tmp_path / f"run{suffix}", force=True)
    if suffix == ".auto":
        open_diagram(tmp_path / "run.auto")


@pytest.mark.parametrize("name", SETS[".auto"])
def test_auto_files_of_different_sets(tmp_path, name):
    diagram = sample()
    moved = dataclasses.replace(
        diagram, interval=(1.0, 4.75), branches=tuple(
            dataclasses.replace(branch, cosine=branch.cosine * np.where(np.arange(branch.cosine.shape[1]), 1.001, 1.0))
            for branch in diagram.branches
        ),
    )  # fmt: skip
    (tmp_path / "other").mkdir()
    save(diagram, tmp_path / "run.auto")
    save(moved, tmp_path / "other" / "run.auto")
    (tmp_path / name).write_bytes((tmp_path / "other" / name).read_bytes())
    with pytest.raises(InvalidInput, match=r"not what .*d\.run was written with"):
        open_diagram(tmp_path / "run.auto")
    open_diagram(tmp_path / "run.auto", check=False)


def test_a_table_of_csv_from_another_diagram_is_said(tmp_path):
    save(sample(), tmp_path / "run.csv")
    (tmp_path / "run.special.csv").write_text("branch\n1\n", encoding="utf-8")
    with pytest.raises(InvalidInput, match=r"run\.special\.csv is not what .*provenance\.json was written with"):
        open_diagram(tmp_path / "run.csv")


@pytest.fixture(scope="module")
def records():
    return {
        "trajectory": evolve(KURAMOTO.at(coupling=3.0), VonMises(0.0, 1.0), 1.0, times=4),
        "ensemble": simulate(ON_SPHERE.at(coupling=3.0), 20, 0.2, 1, replicas=2, keep_positions=True),
        "comparison": compare(KURAMOTO.at(coupling=1.0), VonMises(0.0, 1.0), 0.2, particles=(20, 40), seed=1, replicas=3),
    }  # fmt: skip


@pytest.mark.parametrize(
    ("kind", "suffix"),
    [("trajectory", ".json"), ("ensemble", ".json"), ("comparison", ".json"), ("comparison", ".nc")],
)
def test_records_of_arrays(tmp_path, records, kind, suffix):
    path = tmp_path / f"run{suffix}"
    records[kind].save(path)
    sound = open_record(path)
    if suffix == ".json":
        values = json.loads(path.read_text(encoding="utf-8"))
        values["arrays"]["time"][-1] += 1e-12
        path.write_text(json.dumps(values), encoding="utf-8")
    else:
        import netCDF4

        with netCDF4.Dataset(path, "a") as dataset:
            dataset["time"][-1] += 1e-12
    with pytest.raises(InvalidInput, match="its content does not agree with its digest"):
        open_record(path)
    assert not same(open_record(path, check=False), sound)
    records[kind].save(path, force=True)
    without_digest(path)
    assert same(open_record(path), sound)


@pytest.mark.parametrize(
    "kind", ["diagram on the circle", "diagram on the sphere", "trajectory", "ensemble", "states"]
)
def test_more_digits_than_a_double_has_are_the_double(tmp_path, kind):
    save_as, open_as = KINDS[kind].save, KINDS[kind].open
    path = tmp_path / "run.json"
    save_as(KINDS[kind].make(0), path)
    sound, text = open_as(path), path.read_text(encoding="utf-8")
    numbers = list(re.finditer(r"\d\.\d{15,}(?=[,\]}])", text))
    assert len(numbers) > 10
    for found in numbers[:: max(1, len(numbers) // 20)]:
        longer = f"{found.group()}000"
        path.write_text(text[: found.start()] + longer + text[found.end() :], encoding="utf-8")
        assert same(open_as(path), sound)


@pytest.mark.parametrize("suffix", [".json", ".npz"])
def test_states_are_read_back(tmp_path, suffix):
    states = stationary_states(KURAMOTO.at(coupling=3.0))
    path = save_states(states, tmp_path / f"run{suffix}", 2.0, {"command": "by hand"})
    found = open_states(path)
    for one, other in zip(states, found, strict=True):
        assert same(one.replace(provenance={}), other.replace(provenance={}, problem=one.problem))
        assert one.problem == other.problem
        assert other.provenance == {"command": "by hand"}
    without_digest(path)
    assert same(open_states(path), found)
    if suffix == ".json":
        # A whole number is the double that it is equal to.
        path.write_text(path.read_text(encoding="utf-8").replace('_gap": 0.0', '_gap": 0'), encoding="utf-8")
        assert same(open_states(path), found)


@pytest.mark.parametrize("suffix", [".json", ".npz"])
@pytest.mark.parametrize("given", [None, {"command": "by hand"}])
def test_what_was_searched_is_read_back(tmp_path, suffix, given):
    states = stationary_states(KURAMOTO.at(coupling=3.0))
    for told in (states, StationaryStates(states, "among the two", False, ("one", "is lost – κ"))):
        found = open_states(save_states(told, tmp_path / f"run{suffix}", 2.0, given, force=True))
        assert (found.searched, found.complete, found.warnings) == (told.searched, told.complete, told.warnings)
        assert found[0].provenance == (states[0].provenance if given is None else given)
    # Nothing is made up where a list does not say it.
    found = open_states(save_states(list(states), tmp_path / f"list{suffix}", 2.0, {}))
    assert (found.searched, found.complete, found.warnings) == ("", None, ())


def test_a_table_of_states_has_its_origin_beside_it(tmp_path):
    states = stationary_states(KURAMOTO.at(coupling=3.0))
    path = save_states(states, tmp_path / "run.csv", 2.0)
    origin = tmp_path / "run.provenance.json"
    values = json.loads(origin.read_text(encoding="utf-8"))
    assert values["search"] == {"searched": states.searched, "complete": True, "warnings": []}
    whole = json.loads(save_states(states, tmp_path / "run.json", 2.0).read_text(encoding="utf-8"))
    assert values["digest"] == whole["digest"]
    assert values["files"] == {".csv": hashlib.sha256(path.read_bytes()).hexdigest()}
    with pytest.raises(InvalidInput, match=r"a format from which states are read"):
        open_states(path)
    path.write_text(path.read_text(encoding="utf-8").replace("0", "1", 1), encoding="utf-8")
    with pytest.raises(InvalidInput, match=r"run\.csv is not what .* was written with"):
        open_states(path)
    path.unlink()
    with pytest.raises(InvalidInput, match=r"run\.provenance\.json"):
        save_states(states, path, 2.0)


def test_a_changed_state_is_refused(tmp_path):
    path = save_states(stationary_states(KURAMOTO.at(coupling=3.0)), tmp_path / "run.json")
    path.write_text(path.read_text(encoding="utf-8").replace('"unstable": 0', '"unstable": 1'), encoding="utf-8")
    with pytest.raises(InvalidInput, match=r"run\.json cannot be read: its content does not agree with its digest"):
        open_states(path)
    assert open_states(path, check=False)[0].unstable == 1
