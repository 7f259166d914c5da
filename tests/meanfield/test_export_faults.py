"""Nothing is lost and nothing ends in a traceback, whatever the disk or the user does."""

import errno
import itertools
import json
import os
import signal
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
import pytest
from sample import sample

from meanfield import ComputationFailed, InvalidInput, open_diagram
from meanfield.export import KINDS, check_writable, files, save
from meanfield.export.records import SCHEMA_VERSION

OLD = b"the old file"


def names(directory: Path) -> set[str]:
    return {path.name for path in directory.iterdir()}


def old_targets(tmp_path: Path, suffix: str) -> tuple[Path, ...]:
    targets = check_writable(tmp_path / f"run{suffix}", force=True)
    for target in targets:
        target.write_bytes(OLD)
    return targets


@pytest.mark.parametrize("suffix", KINDS)
def test_existing_files_need_force(tmp_path, suffix):
    targets = old_targets(tmp_path, suffix)
    with pytest.raises(InvalidInput, match=r"exists already; use --force"):
        save(sample(), tmp_path / f"run{suffix}")
    assert all(target.read_bytes() == OLD for target in targets)
    assert save(sample(), tmp_path / f"run{suffix}", force=True) == targets
    assert all(target.read_bytes() != OLD for target in targets)
    assert names(tmp_path) == {target.name for target in targets}


@pytest.mark.parametrize("suffix", KINDS)
@pytest.mark.parametrize("name", ["fsync", "replace"])
def test_full_disk(tmp_path, monkeypatch, suffix, name):
    targets = old_targets(tmp_path, suffix)

    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    if name == "fsync":
        monkeypatch.setattr(os, "fsync", full)
    else:
        monkeypatch.setattr(Path, "replace", full)
    with pytest.raises(ComputationFailed, match="No space left on device"):
        save(sample(), tmp_path / f"run{suffix}", force=True)
    assert all(target.read_bytes() == OLD for target in targets)
    assert names(tmp_path) == {target.name for target in targets}


@pytest.mark.parametrize("error", [KeyboardInterrupt, MemoryError, RuntimeError("NetCDF: HDF error")])
def test_interruption_while_writing(tmp_path, error):
    first, second = tmp_path / "a", tmp_path / "b"
    first.write_bytes(OLD)

    def interrupted(path: Path) -> None:
        path.write_bytes(b"half of the new")
        raise error

    writers = {first: files.bytes_writer(b"new"), second: interrupted}
    expected = ComputationFailed if isinstance(error, RuntimeError) else error
    with pytest.raises(expected):
        files.write_files(writers, force=True)
    assert first.read_bytes() == OLD
    assert names(tmp_path) == {"a"}


def test_kill_while_writing(tmp_path):
    target = tmp_path / "run.json"
    target.write_bytes(OLD)
    code = (
        "import os, signal, sys\n"
        "from pathlib import Path\n"
        "from meanfield.export.files import write_files\n"
        "def write(path):\n"
        "    path.write_bytes(b'half of the new')\n"
        "    os.kill(os.getpid(), signal.SIGKILL)\n"
        "write_files({Path(sys.argv[1]): write}, force=True)\n"
    )
    done = subprocess.run([sys.executable, "-c", code, str(target)], cwd=Path.cwd(), check=False)
    assert done.returncode == -9
    assert target.read_bytes() == OLD


def test_interruption_inside_the_netcdf_library(tmp_path, monkeypatch):
    import netCDF4

    (target,) = old_targets(tmp_path, ".nc")

    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(netCDF4.Dataset, "createVariable", interrupted)
    with pytest.raises(KeyboardInterrupt):
        save(sample(), target, force=True)
    assert target.read_bytes() == OLD
    assert names(tmp_path) == {"run.nc"}


def test_permissions_follow_the_old_file_and_the_umask(tmp_path):
    target = tmp_path / "run.json"
    save(sample(), target)
    fresh = tmp_path / "fresh"
    fresh.touch()
    assert target.stat().st_mode == fresh.stat().st_mode
    target.chmod(0o600)
    save(sample(), target, force=True)
    assert target.stat().st_mode & 0o777 == 0o600


def test_symbolic_links_are_followed(tmp_path):
    (tmp_path / "real.json").write_bytes(OLD)
    link = tmp_path / "link.json"
    link.symlink_to(tmp_path / "real.json")
    save(sample(), link, force=True)
    assert link.is_symlink()
    assert open_diagram(tmp_path / "real.json").interval == sample().interval


def test_targets_that_cannot_be(tmp_path, monkeypatch):
    with pytest.raises(InvalidInput, match="does not exist; create it first"):
        check_writable(tmp_path / "missing" / "run.nc")
    (tmp_path / "folder.nc").mkdir()
    with pytest.raises(InvalidInput, match="is a directory"):
        check_writable(tmp_path / "folder.nc", force=True)
    with pytest.raises(InvalidInput, match="not a regular file"):
        files.check_file(os.devnull, force=True)
    monkeypatch.setattr(os, "access", lambda *_: False)
    with pytest.raises(InvalidInput, match="is not writable"):
        check_writable(tmp_path / "run.nc")


@pytest.mark.parametrize("name", ["run.xlsx", "run", ".nc"])
def test_unknown_suffix_lists_the_known(tmp_path, name):
    for act in (lambda path: save(sample(), path), open_diagram, check_writable):
        with pytest.raises(InvalidInput, match=r"\.nc, \.csv, \.json, \.npz, \.mat, \.auto"):
            act(tmp_path / name)


def test_kind_overrides_the_suffix(tmp_path):
    (path,) = save(sample(), tmp_path / "run.dat", kind="json")
    assert path.read_text(encoding="utf-8").startswith("{")


@pytest.mark.parametrize(
    ("suffix", "share"),
    [
        *itertools.product((".json", ".npz"), (0.0, 0.001, 0.2, 0.5, 0.9, 0.999)),
        *itertools.product((".nc",), (0.0, 0.5, 0.999)),
    ],
)
def test_truncated(tmp_path, suffix, share):
    (path,) = save(sample(), tmp_path / f"run{suffix}")
    content = path.read_bytes()
    path.write_bytes(content[: int(share * len(content))])
    with pytest.raises(InvalidInput, match=r"run\..* is damaged, truncated or not a"):
        open_diagram(path)


@pytest.mark.parametrize("suffix", [".nc", ".json", ".npz"])
def test_foreign(tmp_path, suffix):
    import xarray

    path = tmp_path / f"run{suffix}"
    path.write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(range(256)))
    with pytest.raises(InvalidInput, match="cannot be read"):
        open_diagram(path)
    path.unlink()
    if suffix == ".nc":
        xarray.Dataset({"a": ("x", [1.0])}).to_netcdf(path)
    elif suffix == ".npz":
        np.savez(path, a=np.zeros(2))
    else:
        path.write_text('{"a": [1]}')
    with pytest.raises(InvalidInput, match="not a diagram written by meanfield"):
        open_diagram(path)


@pytest.mark.parametrize("suffix", [".nc", ".json", ".npz", ".auto"])
def test_missing_and_directory(tmp_path, suffix):
    with pytest.raises(InvalidInput, match="does not exist"):
        open_diagram(tmp_path / f"none{suffix}")
    directory = tmp_path / ("b.folder" if suffix == ".auto" else f"folder{suffix}")
    directory.mkdir()
    with pytest.raises(InvalidInput, match="is a directory"):
        open_diagram(directory)


@pytest.mark.parametrize("suffix", [".csv", ".mat"])
def test_formats_that_are_not_read(tmp_path, suffix):
    save(sample(), tmp_path / f"run{suffix}")
    with pytest.raises(InvalidInput, match=r"give \.nc, \.json, \.npz or \.auto"):
        open_diagram(tmp_path / f"run{suffix}")


def test_later_version_of_the_format(tmp_path):
    (path,) = save(sample(), tmp_path / "run.json")
    text = path.read_text(encoding="utf-8")
    later = text.replace(f'"schema_version": {SCHEMA_VERSION}', f'"schema_version": {SCHEMA_VERSION + 1}')
    assert later != text
    path.write_text(later)
    with pytest.raises(InvalidInput, match="install a newer meanfield"):
        open_diagram(path)


def test_json_without_coefficients(tmp_path):
    from meanfield.export import diagram_to_json_object
    from meanfield.export.records import dump

    path = tmp_path / "run.json"
    path.write_text(dump(diagram_to_json_object(sample())))
    with pytest.raises(InvalidInput, match="tables only"):
        open_diagram(path)


def test_archive_with_a_missing_member(tmp_path):
    (path,) = save(sample(), tmp_path / "run.npz")
    with zipfile.ZipFile(path) as archive:
        kept = {name: archive.read(name) for name in archive.namelist() if name != "branch_1_cosine.npy"}
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in kept.items():
            archive.writestr(name, content)
    with pytest.raises(InvalidInput, match="damaged"):
        open_diagram(path)


@pytest.mark.parametrize("wrong", ["letters", "", 3, {"a": 1}, [1, 2], None])
def test_warnings_and_labels_are_lists_of_texts(tmp_path, wrong):
    (path,) = save(sample(), tmp_path / "run.json")
    values = json.loads(path.read_text(encoding="utf-8"))
    path.write_text(json.dumps(values | {"warnings": wrong}))
    with pytest.raises(InvalidInput, match=r"run\.json cannot be read: its warnings must be a list of texts, not"):
        open_diagram(path)
    values["branches"][0]["point_labels"] = (
        "x" * len(values["branches"][0]["residual"]) if wrong == "letters" else wrong
    )
    path.write_text(json.dumps(values))
    with pytest.raises(InvalidInput, match="its point labels must be a list of texts, not"):
        open_diagram(path)


def test_columns_of_different_length(tmp_path):
    (path,) = save(sample(), tmp_path / "run.json")
    values = json.loads(path.read_text(encoding="utf-8"))
    values["branches"][0]["residual"].pop()
    path.write_text(json.dumps(values))
    with pytest.raises(InvalidInput, match="differ in length"):
        open_diagram(path)


def test_the_next_to_write_removes_what_the_killed_have_left(tmp_path):
    target = tmp_path / "run.json"
    code = (
        "import os, signal, sys\n"
        "from pathlib import Path\n"
        "from meanfield.export.files import scratch_directory, write_files\n"
        "def write(path):\n"
        "    path.write_bytes(b'half of the new')\n"
        "    with scratch_directory() as scratch:\n"
        "        (scratch / 'content.nc').write_bytes(b'half')\n"
        "        print('writing', flush=True)\n"
        "        sys.stdin.read()\n"
        "write_files({Path(sys.argv[1]): write}, force=True)\n"
    )
    environment = os.environ | {"TMPDIR": str(tmp_path), "PYTHONPATH": os.pathsep.join(sys.path)}
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen([sys.executable, "-c", code, str(target)], env=environment, **pipes) as process:
        process.stdout.readline()
        left = names(tmp_path)
        assert {name.rpartition(".")[2] for name in left} == {"part", "scratch"}
        # It lives, and what it writes is its own.
        files.write_files({target: files.bytes_writer(OLD)})
        assert names(tmp_path) == left | {"run.json"}
        process.kill()
    files.write_files({target: files.bytes_writer(OLD)}, force=True)
    assert {name.rpartition(".")[2] for name in names(tmp_path)} == {"json", "scratch"}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("tempfile.tempdir", str(tmp_path))
        with files.scratch_directory() as scratch:
            assert names(tmp_path) == {"run.json", scratch.name}
    assert names(tmp_path) == {"run.json"}


def test_a_full_disk_gives_the_space_back_that_the_library_keeps_open(tmp_path, monkeypatch):
    from meanfield.export.sealed import netcdf_bytes

    kept = []

    def full(path: Path) -> None:
        kept.append(path.open("wb"))
        kept[0].write(b"x" * 100_000)
        kept[0].flush()
        raise OSError(errno.ENOSPC, "No space left on device")

    with pytest.raises(OSError, match="No space left"):
        netcdf_bytes(full)
    assert os.fstat(kept[0].fileno()).st_size == 0
    kept[0].close()


def test_an_interrupt_waits_until_the_library_has_given_back_its_locks(tmp_path, monkeypatch, request):
    from xarray.backends.locks import CombinedLock

    taken = []

    def interrupting(take):
        def interrupted(self, *arguments, **options):
            # Where an exception would leave the lock taken: nobody knows of it yet.
            found = take(self, *arguments, **options)
            taken.append(self)
            signal.raise_signal(signal.SIGINT)
            return found

        return interrupted

    (path,) = save(sample(), tmp_path / "run.nc")
    # What is run in the background ignores the interrupt from its start.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    request.addfinalizer(lambda: signal.signal(signal.SIGINT, before))
    for call in (lambda: save(sample(), tmp_path / "other.nc"), lambda: open_diagram(path)):
        taken.clear()
        with monkeypatch.context() as patch:
            for name in ("acquire", "__enter__"):
                patch.setattr(CombinedLock, name, interrupting(getattr(CombinedLock, name)))
            with pytest.raises(KeyboardInterrupt):
                call()
        assert taken
        assert not any(lock.locked() for lock in taken)
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    save(sample(), tmp_path / "other.nc")


def test_a_place_that_takes_no_file_is_refused_whatever_its_permissions_say(tmp_path, monkeypatch):
    def refused(*_: object) -> int:
        raise OSError(errno.EROFS, "Read-only file system")

    monkeypatch.setattr(os, "open", refused)
    with pytest.raises(InvalidInput, match=r"takes no file \(Read-only file system\); choose another place"):
        check_writable(tmp_path / "run.nc")


def test_names_of_all_files_are_checked_before(tmp_path):
    from meanfield.export.datasets import check_target

    path = tmp_path / f"{'a' * 245}.csv"
    for check in (check_writable, lambda name: check_target(name, record="ensemble")):
        with pytest.raises(InvalidInput, match="no file can have the name"):
            check(path)
    (tmp_path / "run.provenance.json").write_bytes(OLD)
    with pytest.raises(InvalidInput, match=r"run\.provenance\.json exists already"):
        check_target(tmp_path / "run.csv", record="ensemble")


@pytest.mark.parametrize("endless", ["/dev/zero", "fifo"])
@pytest.mark.parametrize("suffix", [".nc", ".json", ".npz"])
def test_what_may_have_no_end_is_not_read(tmp_path, endless, suffix):
    path = tmp_path / f"run{suffix}"
    if endless == "fifo":
        os.mkfifo(path)
    else:
        path.symlink_to(endless)
    with pytest.raises(InvalidInput, match="is not a regular file"):
        open_diagram(path)


def test_netcdf_without_a_seal_is_read_by_a_process_that_can_be_ended(tmp_path, monkeypatch):
    from meanfield.export import sealed

    (path,) = save(sample(), tmp_path / "run.nc")
    path.write_bytes(path.read_bytes()[: -sealed.SEAL_LENGTH])
    monkeypatch.setattr(sealed, "contents_of", lambda content: pytest.fail("read in this process"))
    assert open_diagram(path).interval == sample().interval
    sealed._pickled_elsewhere.cache_clear()
    monkeypatch.setattr(sealed, "MEMORY", 2 * 10**7)
    with pytest.raises(InvalidInput, match="is damaged, truncated or not a"):
        open_diagram(path)
    monkeypatch.setattr(sealed, "PATIENCE", 0.01)
    with pytest.raises(InvalidInput, match="is damaged: reading it would take more than"):
        open_diagram(path)
