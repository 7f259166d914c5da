"""Checkpoints of replicas: positions, generator and moments recorded so far; all else follows from the task.

The scheme needs nothing but the positions from one step to the next, so that a checkpoint after any step resumes to
the same bits.
"""

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import checkpoints
from .schemes import Cloud

Floats = NDArray[np.float64]

# A quotient of times this close below a whole number has reached it.
QUOTIENT_ROUNDING = 1e-9


@dataclass(eq=False)
class Progress:
    """How far a replica has come.

    Attributes
    ----------
    recorded : dict of (T, ...) float
        Moments recorded so far, by name; nan where not yet.
    done
        Steps taken.
    saved
        Checkpoints written.
    """

    recorded: dict[str, Floats]
    done: int = 0
    time: float = 0.0
    contraction: float = 0.0
    saved: int = 0
    warnings: tuple[str, ...] = ()


def replica_path(path: str | Path, index: int, replicas: int) -> Path:
    """Return the base name of the checkpoints of one replica of several."""
    path = Path(path)
    return path if replicas == 1 else path.with_name(f"{path.name}.replica-{index}")


def due(before: float, after: float, every: float) -> bool:
    """Whether a multiple of ``every`` was passed."""
    return _passed(after, every) > _passed(before, every)


def save(path: str | Path, run: dict[str, Any], cloud: Cloud, progress: Progress) -> None:
    """Write a checkpoint.

    Raises
    ------
    ComputationFailed
        If the disk refuses; the checkpoint before this one is unchanged.
    """
    arrays = {"positions": cloud.positions} | progress.recorded
    meta = {
        "run": run,
        "done": progress.done,
        "time": progress.time,
        "contraction": progress.contraction,
    }
    stream, counters = _stream(cloud.generator)
    progress.saved += 1
    checkpoints.write(path, progress.saved, arrays | {"stream": stream}, meta | {"stream": counters})


def load(path: str | Path, run: dict[str, Any], generator: np.random.Generator) -> tuple[Progress, Floats] | None:
    """Return the progress and the positions saved last, the generator put where it was; None if nothing is saved.

    Raises
    ------
    InvalidInput
        If the checkpoint is damaged and no other is there, or belongs to another run.
    """
    saved = checkpoints.read(path)
    if saved is None:
        return None
    checkpoints.require_same_run(path, saved.meta["run"], run)
    _restore(generator, saved.arrays["stream"], saved.meta["stream"])
    progress = Progress(
        recorded={name: array for name, array in saved.arrays.items() if name not in ("positions", "stream")},
        done=int(saved.meta["done"]),
        time=float(saved.meta["time"]),
        contraction=float(saved.meta["contraction"]),
        saved=saved.number,
        warnings=saved.warnings,
    )
    return progress, saved.arrays["positions"]


def _stream(generator: np.random.Generator) -> tuple[NDArray[np.uint64], dict[str, Any]]:
    """Take the state of a generator apart into words that binary files hold and small numbers."""
    state: Any = generator.bit_generator.state
    return state["state"]["state"], {name: state[name] for name in ("bit_generator", "has_uint32", "uinteger")}


def _restore(generator: np.random.Generator, words: NDArray[np.uint64], counters: dict[str, Any]) -> None:
    generator.bit_generator.state = counters | {"state": {"state": words}}


def _passed(time: float, every: float) -> int:
    return math.floor(time / every * (1.0 + QUOTIENT_ROUNDING))
