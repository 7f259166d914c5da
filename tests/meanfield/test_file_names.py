"""Names that libraries or systems take for more than letters: written and read under just that name, or refused."""

import dataclasses

import pytest
from sample import repulsive_sample as sample

from meanfield import InvalidInput, open_diagram
from meanfield.export import KINDS, check_writable, save
from meanfield.export.files import write_files

NAMES = (
    "a\\b", "\\", "a#b", "a#mode=bytes", "http:x", "file:x", "~", "~root", "ä€𝛋", "new\nline", "..x", " space ", "%20",
    "'\"", "*", "?", "-", "--force", "$HOME", "{x}", "[0]", "a:b", "a" * 230, "𝛋" * 55, "\udcff",
)  # fmt: skip
TOO_LONG = "ab" * 200


@pytest.mark.parametrize("suffix", KINDS)
@pytest.mark.parametrize("name", NAMES)
def test_files_have_the_name_they_were_given(tmp_path, name, suffix):
    diagram = sample()
    targets = save(diagram, tmp_path / f"{name}{suffix}")
    assert sorted(tmp_path.iterdir()) == sorted(targets)
    assert all(target.stat().st_size > 0 for target in targets)
    if suffix in (".nc", ".json", ".npz", ".auto"):
        assert len(open_diagram(tmp_path / f"{name}{suffix}").branches) == len(diagram.branches)


@pytest.mark.parametrize("suffix", KINDS)
def test_directories_of_such_names(tmp_path, suffix):
    directory = tmp_path / "a\\b" / "c#d"
    directory.mkdir(parents=True)
    targets = save(sample(), directory / f"run{suffix}")
    assert sorted(directory.iterdir()) == sorted(targets)


@pytest.mark.parametrize("suffix", KINDS)
@pytest.mark.parametrize("name", ["nul\0x", TOO_LONG])
def test_names_no_file_can_have(tmp_path, name, suffix):
    for act in (check_writable, lambda path: save(sample(), path)):
        with pytest.raises(InvalidInput, match="no file can have the name"):
            act(tmp_path / f"{name}{suffix}")
    if suffix in (".nc", ".json", ".npz"):
        with pytest.raises(InvalidInput, match="no file can have the name"):
            open_diagram(tmp_path / f"{name}{suffix}")
    else:
        with pytest.raises(InvalidInput):
            open_diagram(tmp_path / f"{name}{suffix}")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("suffix", KINDS)
def test_the_command_may_have_such_names(tmp_path, suffix):
    # Python has bytes of a name that are no letters as lone surrogates.
    named = dataclasses.replace(sample(), provenance={"command": "--to a\udcff.nc"})
    save(named, tmp_path / f"run{suffix}")
    if suffix in (".nc", ".json", ".npz", ".auto"):
        assert open_diagram(tmp_path / f"run{suffix}").provenance == {"command": "--to a\\udcff.nc"}


@pytest.mark.parametrize("address", ["http://host/run.nc", "file:///run.nc", "s3://bucket/run.nc"])
def test_an_address_is_no_file(tmp_path, monkeypatch, address):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InvalidInput, match="does not exist; create it first"):
        save(sample(), address)
    with pytest.raises(InvalidInput, match="does not exist"):
        open_diagram(address)


def test_an_empty_file_is_not_called_written(tmp_path):
    from meanfield import ComputationFailed

    target = tmp_path / "run.nc"
    target.write_bytes(b"old")
    with pytest.raises(ComputationFailed, match="nothing arrived on the disk"):
        write_files({target: lambda path: None}, force=True)
    assert target.read_bytes() == b"old"


def test_two_files_of_a_set_are_not_one(tmp_path):
    (tmp_path / "b.run").write_text("x")
    (tmp_path / "s.run").symlink_to(tmp_path / "b.run")
    with pytest.raises(InvalidInput, match="are the same file"):
        save(sample(), tmp_path / "run.auto", force=True)
    assert (tmp_path / "b.run").read_text() == "x"
