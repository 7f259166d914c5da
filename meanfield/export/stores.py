"""The directory in which a sweep keeps its results: a folder for each value, and what identifies the sweep.

::

    STORE/sweep.json            what identifies the sweep
    STORE/000017/diagram.nc     the record of the value number 17
    STORE/000017/result.json    its numbers or why it failed; written last
    STORE/sweep.claims          locked, byte 17 by the run that computes that value

Every file takes its name, by an atomic renaming, when it is complete. So a value is complete if its ``result.json``
is there, whatever was killed when, and two runs that compute the same value leave the result of one of them. Locks
only spare the second run the work: they end with the process that holds them, and where a file system has none both
runs compute. Every result says of which sweep and value it is, and in another place counts as missing.
"""

import contextlib
import hashlib
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from ..errors import ComputationFailed, InvalidInput, MeanfieldError
from . import digests, records
from .files import bytes_writer, existing_file, reading, text_writer, write_files

try:
    import fcntl
except ImportError:  # pragma: no cover (Windows, where two runs compute the same values)
    fcntl = None  # type: ignore[assignment]

FORMAT = "meanfield sweep"
RESULT_FORMAT = "meanfield sweep result"
SCHEMA_VERSION = 1
MANIFEST = "sweep.json"
CLAIMS = "sweep.claims"
RESULT = "result.json"
# The entry of a result that says of which sweep and value it is.
TASK = "task"
# The byte that is locked while the store is begun, behind those of all values.
BEGINNING = 2**40
# What a sentence calls a field of a sweep other than by its name.
WORDS = {"computed": "computation"}
# Characters of a value in a sentence.
SHOWN = 60


@dataclass(frozen=True)
class Result:
    """What is known of one value of a sweep.

    Attributes
    ----------
    numbers : mapping of str to number or str
        By name.
    tables : mapping of str to list of rows
        Rows of numbers and texts by column.
    file : str
        Name of the file of the record; empty if there is none.
    size : int
        Its bytes.
    checksum : str
        Their SHA-256; empty if it is not known.
    failure : str
        Why the value failed; empty if it did not.
    """

    numbers: Mapping[str, Any] = field(default_factory=dict)
    tables: Mapping[str, Any] = field(default_factory=dict)
    file: str = ""
    size: int = 0
    checksum: str = ""
    failure: str = ""
    cpu_seconds: float = 0.0

    def about(self, record: bytes) -> "Result":
        """Return the same result with the size and the checksum of its record."""
        return replace(self, size=len(record), checksum=hashlib.sha256(record).hexdigest())

    def describes(self, record: bytes) -> bool:
        """Return whether a record is the one it was written with, as far as that is known."""
        return len(record) == self.size and self.checksum in ("", hashlib.sha256(record).hexdigest())


class Store:
    """A directory with the results of a sweep.

    Parameters
    ----------
    path
        The directory; it need not exist.
    """

    def __init__(self, path: str | Path) -> None:
        # Later calls may have another working directory.
        self.path = Path(path).absolute()
        self._claims: int | None = None
        self._sweep = ""

    def identity(self) -> dict[str, Any]:
        """Return what identifies the sweep of the store.

        Raises
        ------
        InvalidInput
            If there is no store, or what identifies it is damaged.
        """
        manifest = self.path / MANIFEST
        if not manifest.is_file():
            raise InvalidInput(
                f"{self.path} holds no sweep, there is no {MANIFEST} in it; give the directory that a sweep wrote"
            )
        with reading(existing_file(manifest), "no manifest of a sweep"):
            values: dict[str, Any] = _sound(manifest.read_text(encoding="utf-8"), FORMAT)
        return values

    @contextlib.contextmanager
    def opened(self, identity: Mapping[str, Any]) -> Iterator[None]:
        """Begin the store, or go on with it if it belongs to the same sweep; claims are let go in the end.

        Raises
        ------
        InvalidInput
            If it belongs to another sweep, or the directory holds something else or cannot be written.
        """
        self._make()
        self._claims = os.open(self.path / CLAIMS, os.O_RDWR | os.O_CREAT | getattr(os, "O_CLOEXEC", 0), 0o666)
        try:
            self._lock(BEGINNING, wait=True)
            if not (self.path / MANIFEST).exists():
                _write(self.path / MANIFEST, FORMAT, identity)
            # Also what was just written, where no lock keeps another run from writing.
            self._require_same(identity)
            self.release(BEGINNING)
            yield
        finally:
            os.close(self._claims)
            self._claims = None

    def result(self, index: int) -> Result | None:
        """Return the result of a value; None if it is missing or damaged, or its record is, or of another value."""
        folder = self._folder(index)
        try:
            values = _sound((folder / RESULT).read_text(encoding="utf-8"), RESULT_FORMAT)
            own = self._task(index)
            # Stores of before do not tell of which value a result is.
            if values.get(TASK, own) != own:
                return None
            # Nor do they have a checksum.
            values.setdefault("checksum", "")
            known = Result(**{name: values[name] for name in Result.__dataclass_fields__})
            if known.file and not known.describes((folder / known.file).read_bytes()):
                return None
        except (OSError, ValueError, KeyError, TypeError, MeanfieldError):
            return None
        return known

    def write(self, index: int, result: Result, record: bytes | None = None) -> None:
        """Write the result of a value, and its record before it.

        Raises
        ------
        ComputationFailed
            If the disk refuses; what was written before remains.
        """
        folder = self._folder(index)
        try:
            folder.mkdir(exist_ok=True)
            if record is not None:
                write_files({folder / result.file: bytes_writer(record)}, force=True)
            _write(folder / RESULT, RESULT_FORMAT, vars(result) | {TASK: self._task(index)})
        except OSError as error:
            raise ComputationFailed(f"{folder} could not be made ({error.strerror})") from error
        except InvalidInput as error:
            # It could be written when the store was opened.
            raise ComputationFailed(str(error)) from error

    def file(self, index: int, result: Result) -> str:
        """Return the file of the record of a value relative to the store; empty if there is none."""
        return f"{self._folder(index).name}/{result.file}" if result.file else ""

    def claim(self, index: int) -> bool:
        """Return whether this process may compute a value: False while another living one does."""
        return self._lock(index, wait=False)

    def release(self, index: int) -> None:
        """Let go of the claim on a value."""
        if fcntl is not None and self._claims is not None:
            with contextlib.suppress(OSError):
                fcntl.lockf(self._claims, fcntl.LOCK_UN, 1, index)

    def _lock(self, byte: int, wait: bool) -> bool:
        if fcntl is None or self._claims is None:
            return True
        try:
            fcntl.lockf(self._claims, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB), 1, byte)
        except (BlockingIOError, PermissionError):
            return False
        except OSError:
            # A file system without locks.
            return True
        return True

    def _task(self, index: int) -> str:
        """Return what identifies a value: the digest of the sweep, and its number."""
        self._sweep = self._sweep or str(self.identity().get(digests.KEY, ""))
        return f"{self._sweep} {index}"

    def _folder(self, index: int) -> Path:
        return self.path / f"{index:06d}"

    def _make(self) -> None:
        """Make the directory, or refuse one that holds other files."""
        try:
            self.path.mkdir(exist_ok=True)
            names = {entry.name for entry in self.path.iterdir()}
        except OSError as error:
            raise InvalidInput(
                f"{self.path} can be no store ({error.strerror}); name a directory that exists or whose parent does"
            ) from error
        if names and MANIFEST not in names and CLAIMS not in names:
            raise InvalidInput(
                f"the directory {self.path} holds other files and no sweep; name a new directory for the store"
            )
        if not os.access(self.path, os.W_OK | os.X_OK):
            raise InvalidInput(f"the directory {self.path} is not writable; choose another store")

    def _require_same(self, identity: Mapping[str, Any]) -> None:
        kept, wanted = self.identity(), records.load(records.dump(_framed(FORMAT, identity)))
        different = _difference(kept, wanted)
        if different:
            raise InvalidInput(
                f"the store {self.path} belongs to another sweep: {different}; name another store, or delete it to "
                "start anew"
            )


def _framed(form: str, values: Mapping[str, Any]) -> dict[str, Any]:
    whole = records.frame(form, SCHEMA_VERSION) | dict(values)
    return whole | {digests.KEY: digests.digest_of(dict(values))}


def _write(path: Path, form: str, values: Mapping[str, Any]) -> None:
    write_files({path: text_writer(records.dump(_framed(form, values), indent=1) + "\n")}, force=True)


def _sound(text: str, form: str) -> dict[str, Any]:
    """Return the values of a text of ours if they agree with their digest.

    Raises
    ------
    InvalidInput
        If they do not, or it is another text.
    """
    values: dict[str, Any] = records.load(text)
    if not isinstance(values, dict) or values.get("format") != form:
        raise InvalidInput("it was not written by a sweep of meanfield")
    records.require_version(values, SCHEMA_VERSION)
    frame = (*records.frame(form, SCHEMA_VERSION), digests.KEY)
    digests.require_digest(values, {name: value for name, value in values.items() if name not in frame})
    return values


def _difference(there: Any, here: Any, path: str = "") -> str:
    """Return the first difference of the plain values of two sweeps as a clause, empty if there is none."""
    if isinstance(there, dict) and isinstance(here, dict):
        keys = sorted({*there, *here} - {digests.KEY, "format"})
        found = (
            _difference(there.get(key), here.get(key), f"{path} {WORDS.get(key, key.replace('_', ' '))}".strip())
            for key in keys
        )
        return next(filter(None, found), "")
    if there == here:
        return ""
    if here is None:
        return f"its {path} is {_shown(there)}, and this one has none"
    if there is None:
        return f"it has no {path}, and that of this one is {_shown(here)}"
    return f"its {path} is {_shown(there)}, not {_shown(here)}"


def _shown(value: Any) -> str:
    numbers = isinstance(value, list) and value and all(isinstance(each, int | float) for each in value)
    if numbers and len(value) > 3:
        return f"{len(value)} numbers from {value[0]:.15g} to {value[-1]:.15g}"
    text = records.dump(value)
    return text if len(text) <= SHOWN else f"{text[: SHOWN - 3]}..."
