"""Checkpoints: a long run is saved at fixed simulated times and resumed from the newest valid one.

Two files take turns, ``NAME.a`` and ``NAME.b``, each written completely under another name before it takes its
own, so that a kill or a full disk at any moment leaves the one before. Each holds the digest of its own content;
one that does not agree with it is refused, and the other is used.

Nothing of an integrator or a generator is lost if work is cut at the same simulated times whether or not a run was
killed: the state at such a time is all there is. Then a resumed run ends in the same bits.
"""

import hashlib
import io
import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from meanfield import Equation, InvalidInput
from meanfield.arguments import checked
from meanfield.export import bytes_writer, check_file, dump, load, write_files

SLOTS = ("a", "b")
MAGIC = b"meanfield checkpoint 1 "


@checked
@dataclass(frozen=True)
class Checkpoint:
    """Files in which a run is saved, and the interval between checkpoints.

    Parameters
    ----------
    path
        Base name of the two files ``NAME.a`` and ``NAME.b``. If they are there already, the run goes on from them.
    every
        Simulated time between two checkpoints, positive.

    Raises
    ------
    InvalidInput
        If ``every`` is not positive and finite.
    """

    path: str | Path
    every: float

    def __post_init__(self) -> None:
        every = self.every
        if not 0 < every < math.inf:
            raise InvalidInput(
                f"a checkpoint is made every so many units of time, a positive number, not {every!r}; "
                "try Checkpoint('run.checkpoint', every=1.0)"
            )


@dataclass(frozen=True)
class Saved:
    """The content of a checkpoint.

    Attributes
    ----------
    number : int
        Counts the checkpoints of a run.
    arrays
        Named arrays, bit for bit.
    meta
        Plain values; numbers in it survive exactly.
    warnings : tuple of str
        A sentence about every damaged file that was skipped.
    """

    number: int
    arrays: dict[str, NDArray[Any]]
    meta: dict[str, Any]
    warnings: tuple[str, ...] = ()


def slots(path: str | Path) -> tuple[Path, Path]:
    """Return the paths of the two files of a checkpoint."""
    path = Path(path)
    one, other = (path.with_name(f"{path.name}.{slot}") for slot in SLOTS)
    return one, other


def write(path: str | Path, number: int, arrays: Mapping[str, NDArray[Any]], meta: Mapping[str, Any]) -> Path:
    """Save the state of a run and return the path of its file; the checkpoint before this one remains.

    Raises
    ------
    InvalidInput
        If the file cannot be written there.
    ComputationFailed
        If the disk refuses; the checkpoints written before are unchanged.
    """
    target = slots(path)[number % 2]
    stream = io.BytesIO()
    content: dict[str, Any] = {f"array {name}": array for name, array in arrays.items()}
    np.savez(stream, header=np.array(dump({"number": number, "meta": dict(meta)})), **content)
    payload = stream.getvalue()
    digest = hashlib.sha256(payload).hexdigest().encode()
    write_files({target: bytes_writer(MAGIC + digest + b"\n" + payload)}, force=True)
    return target


def read(path: str | Path) -> Saved | None:
    """Return the newest valid checkpoint, or None if none exists yet.

    Raises
    ------
    InvalidInput
        If there are files of that name and none is valid.
    """
    found, damaged = [], []
    for file in slots(path):
        if file.exists():
            saved = _sound(file)
            if saved is None:
                damaged.append(f"the checkpoint {file} is damaged or no checkpoint and was not used")
            else:
                found.append(saved)
    if damaged and not found:
        raise InvalidInput(f"{'; '.join(damaged)}; delete it to start anew, or name another checkpoint")
    if not found:
        return None
    newest = max(found, key=lambda saved: saved.number)
    return Saved(newest.number, newest.arrays, newest.meta, tuple(damaged))


def require_writable(path: str | Path) -> None:
    """Check, before anything is computed, that checkpoints can be written at a path.

    Raises
    ------
    InvalidInput
        Otherwise.
    """
    for file in slots(path):
        check_file(file, force=True)


def require_same_run(path: str | Path, saved: Mapping[str, Any], run: Mapping[str, Any]) -> None:
    """Refuse the checkpoint of another run.

    Parameters
    ----------
    saved, run
        What identifies the run that wrote the checkpoint and this one, the same keys, values JSON can hold.

    Raises
    ------
    InvalidInput
        With the first thing that differs.
    """
    wanted = load(dump(dict(run)))
    for key in sorted({*wanted, *saved}):
        if saved.get(key) != wanted.get(key):
            raise InvalidInput(
                f"the checkpoint {path} belongs to another run: its {key} is {_shown(saved.get(key))}, not "
                f"{_shown(wanted.get(key))}; name another file, or delete {slots(path)[0].name} and "
                f"{slots(path)[1].name} to start anew"
            )


def described(problem: Equation) -> dict[str, Any]:
    """Return an equation as plain values that tell it from all others, functions of one name included."""
    values, fingerprint = problem.to_dict(), problem.velocity.fingerprint(problem.domain)
    return values | {"fingerprint": fingerprint} if fingerprint else values


def digest_of(*arrays: NDArray[Any]) -> str:
    """Return a short digest of arrays, which identifies a run."""
    whole = hashlib.sha256()
    for array in arrays:
        whole.update(str((array.shape, array.dtype.str)).encode() + np.ascontiguousarray(array).tobytes())
    return whole.hexdigest()[:16]


def _sound(file: Path) -> Saved | None:
    """Return the checkpoint in a file; None if its content does not agree with its digest."""
    content = file.read_bytes()
    start = len(MAGIC)
    head, payload = content[start : start + 64], content[start + 65 :]
    if content[:start] != MAGIC or hashlib.sha256(payload).hexdigest().encode() != head:
        return None
    with np.load(io.BytesIO(payload), allow_pickle=False) as archive:
        values = load(str(archive["header"]))
        arrays = {name.removeprefix("array "): archive[name] for name in archive.files if name != "header"}
    return Saved(int(values["number"]), arrays, values["meta"])


def _shown(value: Any) -> str:
    text = dump(value)
    return text if len(text) <= 60 else text[:57] + "..."
