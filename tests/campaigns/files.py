"""Damaged files: a small record is written, one thing in its files is changed, and it is opened again.

Right is content that is the same bit for bit; refused is one sentence. Anything else is wrong and silent: another
content, or an exception that is no sentence.
"""

import dataclasses
import functools
import io
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from meanfield import MeanfieldError, open_diagram
from meanfield.export.opening import open_record
from meanfield.export.states import open_states, save_states
from solvers import VonMises, bifurcation_diagram, evolve, simulate, stationary_states
from tests import problems
from tests.campaigns import Finding, Subject, Verdict
from verification import compare

KURAMOTO = problems.KURAMOTO.problem
ON_SPHERE = problems.SPINS.problem
DIAGRAM_KINDS = (".nc", ".json", ".npz", ".auto")
RECORD_KINDS = (".nc", ".json")


class Kind(NamedTuple):
    """How a kind of record is made, written and opened, and the formats that are read back."""

    make: Callable[[int], Any]
    save: Callable[[Any, Path], Any]
    open: Callable[[Path], Any]
    suffixes: tuple[str, ...]


Mutation = Callable[[bytes, np.random.Generator], bytes]


def _save(record: Any, path: Path) -> None:
    record.save(path)


KINDS = {
    "diagram on the circle": Kind(
        lambda size: bifurcation_diagram(KURAMOTO, relative=(0.8, 1.2 + 0.2 * size)), _save, open_diagram, DIAGRAM_KINDS
    ),
    "diagram on the sphere": Kind(
        lambda size: bifurcation_diagram(ON_SPHERE, relative=(0.8, 1.2 + 0.2 * size)), _save, open_diagram, DIAGRAM_KINDS
    ),
    "trajectory": Kind(
        lambda size: evolve(KURAMOTO.at(coupling=3.0), VonMises(0.0, 1.0), 1.0 + size, times=4), _save, open_record, RECORD_KINDS
    ),
    "ensemble": Kind(
        lambda size: simulate(ON_SPHERE.at(coupling=3.0), 20, 0.2, size, replicas=2, keep_positions=True),
        _save, open_record, RECORD_KINDS,
    ),
    "comparison": Kind(
        lambda size: compare(KURAMOTO.at(coupling=1.0), VonMises(0.0, 1.0), 0.2, particles=(20, 40), seed=size, replicas=3),
        _save, open_record, RECORD_KINDS,
    ),
    "states": Kind(
        lambda size: stationary_states(KURAMOTO.at(coupling=3.0 + size)), save_states, open_states, (".json", ".npz")
    ),
}  # fmt: skip


@functools.cache
def _files(name: str, suffix: str, size: int) -> dict[str, bytes]:
    """Return the files of a record by name."""
    kind = KINDS[name]
    with tempfile.TemporaryDirectory() as directory:
        kind.save(kind.make(size), Path(directory) / f"run{suffix}")
        return {path.name: path.read_bytes() for path in sorted(Path(directory).iterdir())}


def _opened(name: str, suffix: str, files: dict[str, bytes]) -> Any:
    with tempfile.TemporaryDirectory() as directory:
        for file, content in files.items():
            (Path(directory) / file).write_bytes(content)
        return KINDS[name].open(Path(directory) / f"run{suffix}")


@functools.cache
def _sound(name: str, suffix: str) -> Any:
    return _opened(name, suffix, _files(name, suffix, 0))


def same(one: Any, other: Any) -> bool:
    """Whether two records have the same bits."""
    if type(one) is not type(other):
        return False
    if isinstance(one, np.ndarray):
        return (one.shape, one.dtype, one.tobytes()) == (other.shape, other.dtype, other.tobytes())
    if dataclasses.is_dataclass(one):
        return all(same(getattr(one, item.name), getattr(other, item.name)) for item in dataclasses.fields(one))
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
    if isinstance(one, tuple | list):
        return len(one) == len(other) and all(map(same, one, other))
    return bool(one == other or (one != one and other != other))


def _flip_bit(content: bytes, rng: np.random.Generator) -> bytes:
    place = int(rng.integers(len(content)))
    return content[:place] + bytes([content[place] ^ (1 << int(rng.integers(8)))]) + content[place + 1 :]


def _change_digit(content: bytes, rng: np.random.Generator) -> bytes:
    digits = [place for place, byte in enumerate(content) if 48 <= byte <= 57]
    place = digits[int(rng.integers(len(digits)))]
    other = (content[place] - 48 + int(rng.integers(1, 10))) % 10 + 48
    return content[:place] + bytes([other]) + content[place + 1 :]


def _span(content: bytes, rng: np.random.Generator) -> tuple[int, int]:
    """Return a line, or where there are few a block of some length."""
    breaks = [place + 1 for place, byte in enumerate(content) if byte == 10]
    if len(breaks) > 3 and b"\0" not in content:
        line = int(rng.integers(len(breaks) - 1))
        return breaks[line], breaks[line + 1]
    start = int(rng.integers(len(content)))
    return start, min(len(content), start + int(10 ** rng.uniform(0, 3)))


def _delete(content: bytes, rng: np.random.Generator) -> bytes:
    start, stop = _span(content, rng)
    return content[:start] + content[stop:]


def _duplicate(content: bytes, rng: np.random.Generator) -> bytes:
    start, stop = _span(content, rng)
    return content[:stop] + content[start:stop] + content[stop:]


def _truncate(content: bytes, rng: np.random.Generator) -> bytes:
    # Near the end a cut does least harm.
    missing = int(min(len(content), 10 ** rng.uniform(0, 5)))
    return content[: len(content) - missing]


def _zero(content: bytes, rng: np.random.Generator) -> bytes:
    start, stop = _span(content, rng)
    return content[:start] + bytes(stop - start) + content[stop:]


def _swap_words(content: bytes, rng: np.random.Generator) -> bytes:
    """Exchange two numbers of a line: of a table two columns, of JSON two values."""
    if b"\0" in content:
        return _flip_bit(_flip_bit(content, rng), rng)
    lines = content.split(b"\n")
    line = int(rng.integers(max(len(lines) - 1, 1)))
    words = lines[line].split(b" ")
    one, other = (int(rng.integers(len(words))) for _ in range(2))
    words[one], words[other] = words[other], words[one]
    lines[line] = b" ".join(words)
    return b"\n".join(lines)


def _in_netcdf(content: bytes, rng: np.random.Generator) -> bytes:
    """Change one number, or exchange two columns, by means of the library, which leaves a sound file."""
    import netCDF4

    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory) / "run.nc"
        path.write_bytes(content)
        with netCDF4.Dataset(path, "a") as dataset:
            groups = [dataset, *dataset.groups.values()]
            columns = [
                item for group in groups for item in group.variables.values() if item.dtype != str and item.size
            ]
            column = columns[int(rng.integers(len(columns)))]
            alike = [other for other in columns if other.shape == column.shape]
            other = alike[int(rng.integers(len(alike)))]
            column[...], other[...] = (
                (_one_changed(column[...], rng),) * 2 if other is column else (other[...], column[...])
            )
        return path.read_bytes()


def _in_archive(content: bytes, rng: np.random.Generator) -> bytes:
    """Change one number of an archive of arrays, and write it anew."""
    with np.load(io.BytesIO(content)) as archive:
        arrays = dict(archive)
    names = [name for name, array in arrays.items() if array.dtype.kind in "fi" and array.size]
    name = names[int(rng.integers(len(names)))]
    stream = io.BytesIO()
    np.savez(stream, **(arrays | {name: _one_changed(arrays[name], rng)}))
    return stream.getvalue()


def _one_changed(values: Any, rng: np.random.Generator) -> Any:
    changed = np.array(values)
    place = tuple(int(rng.integers(size)) for size in changed.shape)
    changed[place] = changed[place] + 1 if changed.dtype.kind == "i" else np.nextafter(changed[place], np.inf)
    return changed


# Changes that only a library of the format can make.
BY_LIBRARY: dict[str, Mutation] = {".nc": _in_netcdf, ".npz": _in_archive}
MUTATIONS: tuple[Mutation, ...] = (
    _flip_bit,
    _change_digit,
    _change_digit,
    _delete,
    _duplicate,
    _truncate,
    _zero,
    _swap_words,
)


def damaged_files(rng: np.random.Generator) -> Finding:
    """Change one thing in the files of a record, or exchange one with that of another, and open it."""
    name = str(rng.choice(list(KINDS)))
    suffix = str(rng.choice(KINDS[name].suffixes))
    files = dict(_files(name, suffix, 0))
    changed = str(rng.choice(list(files)))
    if len(files) > 1 and rng.random() < 0.2:
        what = "exchanged"
        files[changed] = _files(name, suffix, 1)[changed]
    else:
        mutation = MUTATIONS[int(rng.integers(len(MUTATIONS)))]
        if rng.random() < 0.2:
            mutation = BY_LIBRARY.get(suffix, mutation)
        what = mutation.__name__.strip("_").replace("_", " ")
        files[changed] = mutation(files[changed], rng)
    call = f"{name} as {suffix}, {changed}: {what}"
    try:
        found = _opened(name, suffix, files)
    except MeanfieldError as error:
        sentence = str(error)
        return Finding(Verdict.SILENT if "\n" in sentence else Verdict.REFUSED, call, sentence)
    right = same(found, _sound(name, suffix))
    return Finding(Verdict.RIGHT if right else Verdict.SILENT, call, "" if right else "opened with other content")


SUBJECTS: dict[str, Subject] = {"damaged-files": damaged_files}
