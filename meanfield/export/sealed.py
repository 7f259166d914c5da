"""netCDF files as bytes: written and read under internal names, and sealed against damage by a checksum.

The library interprets backslashes, number signs and the like in a name, and may crash on a damaged
file or never finish. So it is given internal names, and reads from memory only. A seal at the end, the
SHA-256 of everything before it, which netCDF ignores, shows damage before the library reads it; files without
a seal are read by a separate process, which can be ended.
"""

import contextlib
import functools
import hashlib
import os
import pickle
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..errors import InvalidInput
from ..process import deferred_signals
from .files import scratch_directory

if TYPE_CHECKING:
    import xarray

SEAL = b"\nmeanfield sha256 "
SEAL_LENGTH = len(SEAL) + 64 + 1
# What reading a file without a seal may take: seconds of the processor and until it is over, bytes beside a
# multiple of its size.
SECONDS = 10
PATIENCE = 60
MEMORY = 2 * 10**9
MEMORY_BY_SIZE = 64
# Bytes of a file that may be kept in memory after it was read.
KEPT = 2**24

Groups = Mapping[str, "xarray.Dataset"]
# Variables by name, as dimensions, values and attributes, and the attributes of the group.
Content = tuple[dict[str, tuple[tuple[str, ...], NDArray[Any], dict[str, Any]]], dict[str, Any]]


def netcdf_bytes(write: Callable[[Path], Any]) -> bytes:
    """Return the bytes, sealed, of the netCDF file that a function writes at the path it is given."""
    with scratch_directory() as directory:
        path = directory / "content.nc"
        try:
            with deferred_signals():
                write(path)
            content = path.read_bytes()
        finally:
            # The library keeps a file open that it could not write to its end, and with it the space.
            with contextlib.suppress(OSError):
                os.truncate(path, 0)
    return content + SEAL + hashlib.sha256(content).hexdigest().encode() + b"\n"


def netcdf_groups(path: Path, check: bool = True) -> Groups:
    """Return the groups of a netCDF file by name, the root as ``/``, loaded without decoding.

    Raises
    ------
    InvalidInput
        If its seal is broken, or it cannot be read within bounds of time and memory.
    """
    content = path.read_bytes()
    sealed = _sealed(content)
    if check and sealed is False:
        raise InvalidInput(
            "it is damaged: its content does not agree with its digest; take another copy, or open it unchecked "
            "with check=False"
        )
    return _groups(_contents(content) if sealed else _foreign(content))


def _groups(contents: Mapping[str, Content]) -> Groups:
    import xarray

    return {name: xarray.Dataset(variables, attrs=attributes) for name, (variables, attributes) in contents.items()}


def _contents(content: bytes) -> dict[str, Content]:
    """Return :func:`contents_of` while no other thread is in the library, which does not know of threads."""
    from xarray.backends.locks import HDF5_LOCK, NETCDFC_LOCK, combine_locks

    with deferred_signals(), combine_locks([HDF5_LOCK, NETCDFC_LOCK]):
        return contents_of(content)


def contents_of(content: bytes) -> dict[str, Content]:
    """Return the groups by name of a netCDF file in memory; errors of the library are passed on.

    Only the library is imported for that: a process may have nothing else to do.
    """
    import netCDF4

    with netCDF4.Dataset("content.nc", memory=content) as file:
        file.set_auto_maskandscale(False)
        file.set_auto_chartostring(False)
        return {"/": _content(file)} | {name: _content(group) for name, group in file.groups.items()}


def _content(group: Any) -> Content:
    variables = {}
    for name, variable in group.variables.items():
        values = np.asarray(variable[...])
        if variable.dtype is str:
            # No wider than the longest text.
            values = np.array(values.tolist(), dtype=str).reshape(values.shape)
        variables[name] = (variable.dimensions, values, _attributes(variable))
    return variables, _attributes(group)


def _attributes(owner: Any) -> dict[str, Any]:
    return {name: owner.getncattr(name) for name in owner.ncattrs()}


def _foreign(content: bytes) -> dict[str, Content]:
    """Return the groups by name of a netCDF file, read in another process."""
    read = _pickled_elsewhere if len(content) <= KEPT else _pickled_elsewhere.__wrapped__
    contents: dict[str, Content] = pickle.loads(read(content))
    return contents


# A file is read for the kind of its record, and then for the record.
@functools.lru_cache(maxsize=1)
def _pickled_elsewhere(content: bytes) -> bytes:
    """Return what another process reads in a netCDF file, pickled.

    Raises
    ------
    InvalidInput
        If that process does not end in time.
    CalledProcessError
        If it fails, or crashes, or takes too much processor time or memory.
    """
    memory = MEMORY + MEMORY_BY_SIZE * len(content)
    call = [sys.executable, "-m", f"{__package__}.foreign", str(SECONDS), str(memory)]
    # The interpreter has its modules from the same places as this one.
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    try:
        done = subprocess.run(
            call, input=content, capture_output=True, env=environment, timeout=PATIENCE, check=True
        )
    except subprocess.TimeoutExpired as error:
        raise InvalidInput(f"it is damaged: reading it would take more than {PATIENCE} s") from error
    return done.stdout


def _sealed(content: bytes) -> bool | None:
    """Return whether the seal agrees with the content; None if there is no seal, as after appending."""
    seal = content[-SEAL_LENGTH:]
    if not seal.startswith(SEAL):
        return None
    return seal == SEAL + hashlib.sha256(content[:-SEAL_LENGTH]).hexdigest().encode() + b"\n"
