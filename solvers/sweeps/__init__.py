"""Sweeps: what is computed at a value, the numbers that are kept of it, and where it runs."""

from .running import on_executor as on_executor
from .running import on_processes as on_processes
from .running import one_by_one as one_by_one
from .tasks import COMPUTATIONS as COMPUTATIONS
from .tasks import Computed as Computed
from .tasks import Task as Task
from .tasks import require_options as require_options
from .tasks import seed_of as seed_of
from .tasks import takes_seed as takes_seed
from .values import Values as Values
from .values import values_from as values_from

__all__ = [
    "COMPUTATIONS",
    "Computed",
    "Task",
    "Values",
    "on_executor",
    "on_processes",
    "one_by_one",
    "require_options",
    "seed_of",
    "takes_seed",
    "values_from",
]
