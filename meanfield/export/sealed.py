"""netCDF files as bytes: written and read under internal names, and sealed against damage by a checksum.

The library interprets backslashes, number signs and the like in a name, and may crash on a damaged
file or never finish. So it is given internal names, and reads from memory only. A seal at the end, the
SHA-256 of everything before it, which netCDF ignores, shows damage before the library reads it; files without
a seal are read by a separate process, which can be ended.
"""

import contextlib
import hashlib
import os
import pickle
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

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

Groups = Mapping[str, "xarray.Dataset"]


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
    return groups_of(content) if sealed else _foreign(content)


def groups_of(content: bytes) -> Groups:
    """Return the groups by name of a netCDF file in memory; errors of the library are passed on."""
    import netCDF4
    import xarray
    from xarray.backends import NetCDF4DataStore

    store: Any = NetCDF4DataStore
    with deferred_signals(), netCDF4.Dataset("content.nc", memory=content) as file:
        groups = {
            name: xarray.open_dataset(store(file, group=None if name == "/" else name), decode_cf=False).load()
            for name in ("/", *file.groups)
        }
    for dataset in groups.values():
        # Nothing is left to be closed, and an open file cannot be passed on.
        dataset.set_close(None)
    return groups


def _foreign(content: bytes) -> Groups:
    """Return the groups by name of a netCDF file, read in another process.

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
    groups: Groups = pickle.loads(done.stdout)
    return groups


def _sealed(content: bytes) -> bool | None:
    """Return whether the seal agrees with the content; None if there is no seal, as after appending."""
    seal = content[-SEAL_LENGTH:]
    if not seal.startswith(SEAL):
        return None
    return seal == SEAL + hashlib.sha256(content[:-SEAL_LENGTH]).hexdigest().encode() + b"\n"
