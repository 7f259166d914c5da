"""Checkpoints of replicas: positions, generator and moments recorded so far; all else follows from the task.

With the values carried by the scheme that is the whole state between two steps, so that a checkpoint
after any of them resumes to the same bits.
"""

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..execution import checkpoints
from .stepping import Cloud

Floats = NDArray[np.float64]

# Before the names of the arrays that a scheme carries.
CARRIED = "carried "
# A quotient of times this close below a whole number has reached it.
QUOTIENT_ROUNDING = 1e-9


@dataclass(eq=False)
class Progress:
    """Progress of a replica.

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


class Resumed(NamedTuple):
    """State from which a replica is resumed: its progress, its positions and the carried values of its scheme."""

    progress: Progress
    positions: Floats
    carried: dict[str, Floats]


def replica_path(path: str | Path, index: int, replicas: int) -> Path:
    """Return the base name of the checkpoints of one replica of several."""
    path = Path(path)
    return path if replicas == 1 else path.with_name(f"{path.name}.replica-{index}")


def due(before: float, after: float, every: float) -> bool:
    """Return whether a multiple of ``every`` lies between two times."""
    return _passed(after, every) > _passed(before, every)


def save(path: str | Path, run: dict[str, Any], cloud: Cloud, progress: Progress) -> None:
    """Write the checkpoint of a replica.

    Raises
    ------
    ComputationFailed
        If the disk refuses; the checkpoint before this one is unchanged.
    """
    carried = {f"{CARRIED}{name}": array for name, array in cloud.carried.items()}
    arrays = {"positions": cloud.positions} | carried | progress.recorded
    meta = {
        "run": run,
        "done": progress.done,
        "time": progress.time,
        "contraction": progress.contraction,
    }
    stream, counters = _stream(cloud.generator)
    progress.saved += 1
    checkpoints.write(path, progress.saved, arrays | {"stream": stream}, meta | {"stream": counters})


def load(path: str | Path, run: dict[str, Any], generator: np.random.Generator) -> Resumed | None:
    """Return the saved state of a replica, and set the state of the generator; None if nothing is saved.

    Raises
    ------
    InvalidInput
        If the checkpoint is damaged and there is no other, or belongs to another run.
    """
    saved = checkpoints.read(path)
    if saved is None:
        return None
    checkpoints.require_same_run(path, saved.meta["run"], run)
    arrays = dict(saved.arrays)
    _restore(generator, arrays.pop("stream"), saved.meta["stream"])
    positions = arrays.pop("positions")
    carried = {name.removeprefix(CARRIED): arrays.pop(name) for name in saved.arrays if name.startswith(CARRIED)}
    progress = Progress(
        recorded=arrays,
        done=int(saved.meta["done"]),
        time=float(saved.meta["time"]),
        contraction=float(saved.meta["contraction"]),
        saved=saved.number,
        warnings=saved.warnings,
    )
    return Resumed(progress, positions, carried)


def _stream(generator: np.random.Generator) -> tuple[NDArray[np.uint64], dict[str, Any]]:
    """Return the state of a generator as words that binary files hold and small numbers."""
    state: Any = generator.bit_generator.state
    return state["state"]["state"], {name: state[name] for name in ("bit_generator", "has_uint32", "uinteger")}


def _restore(generator: np.random.Generator, words: NDArray[np.uint64], counters: dict[str, Any]) -> None:
    generator.bit_generator.state = counters | {"state": {"state": words}}


def _passed(time: float, every: float) -> int:
    return math.floor(time / every * (1.0 + QUOTIENT_ROUNDING))
