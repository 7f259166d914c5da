"""Standard streams of a process that may be closed or full, and the signals that ask it to end.

Where messages and progress cannot be written, nothing else changes. The result is what a
command is run for: where standard output cannot be written, that is an error like any other.
"""

import contextlib
import os
import signal
import sys
import threading
import time
from collections.abc import Iterator
from types import FrameType
from typing import Any, TextIO

from .errors import ComputationFailed

# What shells expect of a program ended by the user; by another signal it is 128 and its number.
INTERRUPTED = 130
ENDING = ("SIGINT", "SIGTERM", "SIGHUP")
# Seconds in which further signals are the same wish: who ends a process group often ends each member as well.
SAME_WISH = 1.0


def write_result(text: str) -> None:
    """Write a text to standard output.

    Raises
    ------
    ComputationFailed
        If it cannot be written; a pipe that nobody reads any more raises BrokenPipeError as usual.
    """
    try:
        sys.stdout.write(text)
    except BrokenPipeError:
        raise
    except OSError as error:
        raise ComputationFailed(f"standard output cannot be written: {error.strerror}") from error


class Silenced:
    """A stream for messages that discards them, rather than fail, once it cannot be written.

    Parameters
    ----------
    stream
        The wrapped stream; None if no stream exists.
    """

    def __init__(self, stream: TextIO | None) -> None:
        self._stream = stream

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def write(self, text: str) -> int:
        """Write a text if the stream can be written, and return its length."""
        with self._tolerance():
            if self._stream is not None:
                self._stream.write(text)
        return len(text)

    def flush(self) -> None:
        """Flush the stream if it can be written."""
        with self._tolerance():
            if self._stream is not None:
                self._stream.flush()

    def isatty(self) -> bool:
        """Return whether the stream is a terminal."""
        return self._stream is not None and not self._stream.closed and self._stream.isatty()

    @contextlib.contextmanager
    def _tolerance(self) -> Any:
        try:
            yield
        except (OSError, ValueError):
            discard(self._stream)
            self._stream = None


def discard(stream: TextIO | None) -> None:
    """Redirect a stream, with what is in its buffer, to the null device.

    The interpreter would try to write it at the end, and end with an exit code of its own.
    """
    with contextlib.suppress(OSError, ValueError, AttributeError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, stream.fileno())  # type: ignore[union-attr]
        os.close(nowhere)


def open_closed_streams() -> None:
    """Open standard streams in the place of closed ones, so that no other file takes their descriptors.

    Standard output becomes one that cannot be written, which is noticed by a command that writes there.
    """
    for descriptor, mode in enumerate((os.O_RDONLY, os.O_RDONLY, os.O_WRONLY)):
        try:
            os.fstat(descriptor)
        except OSError:
            os.open(os.devnull, mode)
    if sys.stdout is None:
        sys.stdout = open(1, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
    if sys.stderr is None:
        sys.stderr = open(2, "w", encoding="utf-8", closefd=False)  # noqa: SIM115


class Interruption:
    """Signals that ask a process to end, all handled as the user's interrupt, which keeps partial results.

    Those that were ignored from the start, as by ``nohup`` or for what a shell runs in the background, stay so.
    """

    def __init__(self) -> None:
        self._number: int | None = None
        self._since = -SAME_WISH

    def catch(self) -> None:
        """Raise KeyboardInterrupt in the main thread when such a signal comes."""
        for number in _ending_signals():
            if signal.getsignal(number) in (signal.SIG_DFL, signal.default_int_handler):
                signal.signal(number, self._caught)

    @property
    def came(self) -> bool:
        """Whether such a signal has come."""
        return self._number is not None

    def exit_code(self, code: int) -> int:
        """Return the exit code of an interrupted command for the signal that came first."""
        return 128 + self._number if code == INTERRUPTED and self._number else code

    def _caught(self, number: int, _: FrameType | None) -> None:
        self._number = self._number or number
        if time.monotonic() - self._since >= SAME_WISH:
            self._since = time.monotonic()
            raise KeyboardInterrupt


@contextlib.contextmanager
def deferred_signals() -> Iterator[None]:
    """Defer the signals that ask a process to end until a block is left.

    For libraries that keep a lock for ever if an exception comes while they take it, so that the next call
    never returns. Outside of the main thread no signal is deferred, since no exception comes there.
    """
    handlers: dict[int, Any] = {}
    came: list[int] = []
    holding = True

    def hold(number: int, frame: FrameType | None) -> None:
        if holding:
            came.append(number)
        else:
            handlers[number](number, frame)

    main = threading.current_thread() is threading.main_thread()
    try:
        for number in _ending_signals() if main else []:
            handler = signal.getsignal(number)
            if callable(handler):
                handlers[number] = handler
                signal.signal(number, hold)
        yield
    finally:
        # A handler that raises before all are back leaves some to pass on what comes.
        holding = False
        for held, handler in handlers.items():
            signal.signal(held, handler)
        for held in came:
            handlers[held](held, None)


def _ending_signals() -> list[signal.Signals]:
    """Return the signals named in ``ENDING`` that the system has."""
    return [signal.Signals[name] for name in ENDING if hasattr(signal, name)]
