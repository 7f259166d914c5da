"""The progress bar of commands that take longer than a second."""

import contextlib
import sys
import threading
from collections.abc import Callable, Iterator

from ..process import Silenced

# Seconds until the bar appears, between its updates, and until the work goes on without the end of its drawing.
SHOWN_AFTER = 1.0
BETWEEN = 0.2
BETWEEN_IN_FILE = 10.0
PATIENCE = 1.0

# Takes what is done, the whole (None where it is not known) and what is being worked on.
Advance = Callable[[float, float | None, str], None]


@contextlib.contextmanager
def progress_bar(shown: bool, what: str, unit: str = "") -> Iterator[Advance]:
    """Yield the function that advances a progress bar, shown on standard error once the work has taken long.

    It is drawn by a thread of its own, so that neither an interrupt, which reaches the main thread, nor a stream
    that cannot be written or is not read stops the work.

    Parameters
    ----------
    shown
        Whether to show it at all.
    what, unit
        Its title and the unit of what is counted.
    """
    state = _State()
    thread = threading.Thread(target=_draw, args=(state, what, unit or what), daemon=True)
    if shown:
        thread.start()
    try:
        yield state.advance
    finally:
        state.finished.set()
        if shown:
            thread.join(PATIENCE)


class _State:
    """State of the progress bar, set by the work and read by the thread that draws."""

    def __init__(self) -> None:
        self.finished = threading.Event()
        self.now: tuple[float, float | None, str] = (0, None, "")

    def advance(self, done: float, total: float | None, label: str = "") -> None:
        """Set how much work is done, how much there is in total, and a label."""
        self.now = (done, total, label)


def _draw(state: _State, what: str, unit: str) -> None:
    if state.finished.wait(SHOWN_AFTER):
        return
    from tqdm import tqdm

    stream = Silenced(sys.stderr)
    between = BETWEEN if stream.isatty() else BETWEEN_IN_FILE
    with tqdm(desc=what, unit=f" {unit}", file=stream, leave=False) as bar:
        bar.start_t -= SHOWN_AFTER
        while True:
            done, bar.total, label = state.now
            bar.set_postfix_str(label, refresh=False)
            bar.n = done
            bar.refresh()
            if state.finished.wait(between):
                return
