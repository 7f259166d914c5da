"""Atomic writing of files: all are complete under their names, or none is touched.

Each file is written under a temporary name in its own directory, flushed to the disk and renamed. An
exception, a full disk or a kill before the renaming leaves the old files as they were. Of files that belong
together the first names the content of the others, see :mod:`meanfield.export.sets`, so that a kill between two
renamings shows. A process that writes holds a lock on the temporary file, which ends with the process; so
the next to write in a directory recognises the files of killed processes, and removes them.
"""

import contextlib
import os
import secrets
import shutil
import tempfile
from collections.abc import Callable, Collection, Iterator, Mapping
from pathlib import Path

from ..errors import ComputationFailed, InvalidInput, MeanfieldError

Writer = Callable[[Path], None]

try:
    import fcntl
except ImportError:  # pragma: no cover (Windows, where what a kill leaves stays)
    fcntl = None  # type: ignore[assignment]

# Of names in sentences.
LONGEST_NAME = 80
TEMPORARY = (".meanfield.", ".part")
SCRATCH = ("meanfield-", ".scratch")


def check_file(path: str | Path, force: bool = False) -> Path:
    """Check, before anything is computed, that a file could be written, and return its path.

    Parameters
    ----------
    path
        The file to be written.
    force
        Whether an existing file may be replaced.

    Returns
    -------
    Path
        The file itself, symbolic links followed.

    Raises
    ------
    InvalidInput
        If the directory is missing or not writable, the path is a directory or a device, or the file
        exists and ``force`` is not set.
    """
    target = _followed(path)
    directory = target.parent
    if target.is_dir():
        raise InvalidInput(f"{path} is a directory; give the name of a file in it, such as {Path(path) / 'run.nc'}")
    if not directory.is_dir():
        raise InvalidInput(f"the directory {directory} of {Path(path).name} does not exist; create it first")
    if target.exists() and not target.is_file():
        raise InvalidInput(f"{path} is not a regular file and cannot be replaced; give the name of a new file")
    if not os.access(directory, os.W_OK | os.X_OK):
        raise InvalidInput(f"the directory {directory} is not writable; choose another place for {target.name}")
    if target.exists() and not force:
        raise InvalidInput(f"{path} exists already; use --force (force=True) to replace it or choose another name")
    try:
        # Permissions do not tell all: file systems may be read-only, full of names or not for files of ours.
        with _temporary(target, target):
            return target
    except ComputationFailed as error:
        raise InvalidInput(
            f"the directory {directory} takes no file ({_reason(error.__cause__ or error)}); choose another place "
            f"for {target.name}"
        ) from error


def beside(path: Path, name: str) -> Path:
    """Return a file of another name in the directory of a file.

    Raises
    ------
    InvalidInput
        If the path names no file.
    """
    if not path.name:
        raise InvalidInput(
            f"{str(path)!r} is a directory; give the name of a file in it, such as {path / 'run.csv'}"
        )
    return path.with_name(name)


def _followed(path: str | Path) -> Path:
    """Return the path that a name means, symbolic links followed, if the system can have a file of that name."""
    try:
        target = Path(os.path.realpath(path))
        with contextlib.suppress(FileNotFoundError, NotADirectoryError, PermissionError):
            target.stat()
    except (OSError, ValueError) as error:
        raise InvalidInput(
            f"no file can have the name {_shown(path)} ({_reason(error)}); give a shorter or simpler one, such as "
            "run.nc"
        ) from error
    return target


def is_file(path: Path) -> bool:
    """Return whether a file of this path exists; False if no file can have its name."""
    with contextlib.suppress(OSError, ValueError):
        return path.is_file()
    return False


def is_directory(path: Path) -> bool:
    """Return whether a directory of this path exists; False if no directory can have its name."""
    with contextlib.suppress(OSError, ValueError):
        return path.is_dir()
    return False


def existing_file(path: str | Path, example: str = "run.nc") -> Path:
    """Return the path of a file to be read.

    Raises
    ------
    InvalidInput
        If it is a directory, a device or a pipe, or there is none.
    """
    path = Path(path)
    target = _followed(path)
    if target.is_dir():
        raise InvalidInput(f"{path} is a directory; give the name of a file in it, such as {example}")
    if not target.exists():
        raise InvalidInput(f"{path} does not exist; give the name of a file that does")
    if not target.is_file():
        raise InvalidInput(f"{path} is not a regular file, so that it may have no end; give the name of a file")
    if not os.access(target, os.R_OK):
        raise InvalidInput(
            f"{path} may not be read by you; change its permissions, or give the name of another file"
        )
    return path


@contextlib.contextmanager
def reading(path: Path, otherwise: str) -> Iterator[None]:
    """Turn any exception raised while a file is read into InvalidInput that names the file.

    Parameters
    ----------
    otherwise
        What it is if it is neither damaged nor truncated, such as "no file of states".

    Raises
    ------
    InvalidInput
        In the place of any other exception.
    """
    try:
        yield
    except MeanfieldError as error:
        raise InvalidInput(f"{path} cannot be read: {error}") from error
    except Exception as error:
        raise InvalidInput(f"{path} is damaged, truncated or {otherwise}") from error


def checked_suffix(path: Path, admissible: Collection[str], what: str) -> str:
    """Return the suffix of a path, which chooses a format, in small letters.

    Raises
    ------
    InvalidInput
        If it is none of those admissible; the message lists them.
    """
    suffix = path.suffix.lower()
    if suffix not in admissible:
        wrong = f"the suffix {path.suffix!r} of {path.name!r}" if path.suffix else f"the name {path.name!r}"
        raise InvalidInput(f"{wrong} does not choose {what}; use one of {', '.join(admissible)}")
    return suffix


def write_files(writers: Mapping[Path, Writer], force: bool = False) -> tuple[Path, ...]:
    """Write several files together, all or none, and return their paths.

    Parameters
    ----------
    writers
        For each file a function that writes it at the path it is given.
    force
        Whether existing files may be replaced.

    Returns
    -------
    tuple of Path
        The files written, as they were named by the caller.

    Raises
    ------
    InvalidInput
        If a target is not writable, see :func:`check_file`; nothing is written then.
    ComputationFailed
        If the disk refuses; the files that existed before are unchanged.
    """
    targets = {path: check_file(path, force) for path in writers}
    if len(set(targets.values())) < len(targets):
        raise InvalidInput(f"{' and '.join(map(str, targets))} are the same file; give another name")
    for directory in {target.parent for target in targets.values()}:
        _remove_abandoned(directory, *TEMPORARY)
    with contextlib.ExitStack() as stack:
        temporaries = {path: stack.enter_context(_temporary(path, target)) for path, target in targets.items()}
        for path, write in writers.items():
            _write_temporary(path, targets[path], temporaries[path], write)
        _rename_all(targets, temporaries)
    return tuple(writers)


def text_writer(text: str) -> Writer:
    """Return a writer of the given text in UTF-8 with line feeds."""
    return bytes_writer(text.encode())


def bytes_writer(content: bytes) -> Writer:
    """Return a writer of the given bytes."""

    def write(path: Path) -> None:
        with path.open("wb") as stream:
            stream.write(content)

    return write


@contextlib.contextmanager
def _temporary(path: Path, target: Path) -> Iterator[Path]:
    """Yield the path of a new, locked file beside a target, removed at the end if it still exists."""

    def create() -> tuple[Path, int]:
        # Libraries take backslashes, colons and number signs in a name for more than letters.
        temporary = target.with_name(secrets.token_hex(6).join(TEMPORARY))
        return temporary, os.open(temporary, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666)

    try:
        temporary, descriptor = _claimed(create)
    except OSError as error:
        raise ComputationFailed(_failure(path, error)) from error
    try:
        yield temporary
    finally:
        _remove(temporary)
        os.close(descriptor)


@contextlib.contextmanager
def scratch_directory() -> Iterator[Path]:
    """Yield the path of a new, locked directory among the temporary files of the system, removed at the end."""
    place = Path(tempfile.gettempdir())
    beginning, end = SCRATCH

    def create() -> tuple[Path, int]:
        while True:
            directory = tempfile.mkdtemp(end, beginning, place)
            # Until it is locked another process may take it for that of a killed one, and remove it.
            with contextlib.suppress(FileNotFoundError):
                return Path(directory), os.open(directory, os.O_RDONLY)

    _remove_abandoned(place, *SCRATCH)
    directory, descriptor = _claimed(create)
    try:
        yield directory
    finally:
        _remove(directory)
        os.close(descriptor)


def _claimed(create: Callable[[], tuple[Path, int]]) -> tuple[Path, int]:
    """Return path and descriptor of a created file or directory, locked before another process removed it."""
    while True:
        path, descriptor = create()
        if _locked(descriptor) and os.fstat(descriptor).st_nlink:
            return path, descriptor
        os.close(descriptor)


def _locked(descriptor: int, wait: bool = True) -> bool:
    """Lock a file or directory; return False if another, living process has locked it.

    Where nothing can be locked, the result is True with ``wait`` and False without.
    """
    try:
        if fcntl is not None:
            fcntl.flock(descriptor, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
    except OSError:
        return wait
    return True


def _remove_abandoned(directory: Path, beginning: str, end: str) -> None:
    """Remove from a directory the files of killed processes whose names have a beginning and an end."""
    # Files that cannot be listed, opened or removed belong to other processes.
    with contextlib.suppress(OSError):
        for path in directory.glob(f"{beginning}*{end}") if fcntl is not None else []:
            with contextlib.suppress(OSError):
                descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW)
                try:
                    if _locked(descriptor, wait=False):
                        _remove(path)
                finally:
                    os.close(descriptor)


def _remove(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path, ignore_errors=True)
    with contextlib.suppress(OSError):
        path.unlink(missing_ok=True)


def _write_temporary(path: Path, target: Path, temporary: Path, write: Writer) -> None:
    try:
        if target.exists():
            temporary.chmod(target.stat().st_mode & 0o7777)
        write(temporary)
        _flush_to_disk(temporary)
        if temporary.stat().st_size == 0:
            raise RuntimeError("nothing arrived on the disk")
    except MeanfieldError:
        raise
    except (OSError, RuntimeError) as error:
        raise ComputationFailed(_failure(path, error)) from error


def _rename_all(targets: Mapping[Path, Path], temporaries: Mapping[Path, Path]) -> None:
    for path, target in targets.items():
        try:
            temporaries[path].replace(target)
        except OSError as error:
            raise ComputationFailed(_failure(path, error)) from error
    for directory in {target.parent for target in targets.values()}:
        # Some file systems cannot flush a directory; the files themselves are safe already.
        with contextlib.suppress(OSError):
            _flush_to_disk(directory)


def _flush_to_disk(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _failure(path: Path, error: OSError | RuntimeError) -> str:
    return f"{path} could not be written ({_reason(error)}); any file of that name is unchanged"


def _reason(error: BaseException) -> str:
    return getattr(error, "strerror", None) or str(error)


def _shown(path: str | Path) -> str:
    name = repr(str(path))
    return name if len(name) <= LONGEST_NAME else f"{name[: LONGEST_NAME - 4]}...'"
