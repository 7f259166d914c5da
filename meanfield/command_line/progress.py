"""The progress bar of commands that take longer than a second."""

import contextlib
import sys
import threading
from collections.abc import Callable, Iterator

# Seconds until the bar appears and between its updates.
SHOWN_AFTER = 1.0
BETWEEN = 0.2
BETWEEN_IN_FILE = 10.0

# Takes what is done, the whole (None where it is not known) and what is being worked on.
Advance = Callable[[float, float | None, str], None]


@contextlib.contextmanager
def progress_bar(shown: bool, what: str, unit: str = "") -> Iterator[Advance]:
    """Show a bar on standard error once the work has taken long; a thread of its own keeps it alive in between.

    Parameters
    ----------
    shown
        Whether to show it at all.
    what, unit
        Its title and the unit of what is counted.
    """
    from tqdm import tqdm

    between = BETWEEN if sys.stderr.isatty() else BETWEEN_IN_FILE
    bar = tqdm(
        desc=what,
        unit=f" {unit or what}",
        file=sys.stderr,
        disable=not shown,
        delay=SHOWN_AFTER,
        mininterval=between,
        leave=False,
    )
    finished = threading.Event()

    def keep_alive() -> None:
        wait = SHOWN_AFTER
        while not finished.wait(wait):
            # A delay that is over lets close() wipe the bar.
            bar.delay = 0.0
            bar.refresh()
            wait = between

    def advance(done: float, total: float | None, label: str = "") -> None:
        bar.total = total
        bar.set_postfix_str(label, refresh=False)
        bar.update(done - bar.n)

    thread = threading.Thread(target=keep_alive, daemon=True)
    if shown:
        thread.start()
    try:
        yield advance
    finally:
        finished.set()
        if shown:
            thread.join()
        bar.close()
