"""The parts that the commands of all packages share: options, potentials as options, and printing."""

from ..workers import worker_processes
from .drawing import (
    TRAJECTORY_QUANTITIES,
    draw,
    draw_ensemble,
    draw_record,
    draw_states,
    draw_sweep,
    draw_trajectory,
)
from .options import (
    Parser,
    add_common,
    add_coupling,
    add_figure,
    add_files,
    add_force,
    check_targets,
    resolved_configuration,
)
from .potential_options import (
    add_problem,
    at_coupling,
    problem_from,
    require_coupling,
    require_potential,
    varied,
)
from .progress import progress_bar
from .ranges import (
    Range,
    add_plane,
    add_range,
    at_fixed_coupling,
    entry,
    plane_from,
    problem_over,
    range_from,
    relative_range,
)
from .readers import number, whole, word
from .terminal import UNKNOWN, formatted, note, say, say_json, set_verbosity, table
from .workers import add_workers, require_workers
from .writing import exit_code, origin, publish, write_all

__all__ = [
    "TRAJECTORY_QUANTITIES",
    "UNKNOWN",
    "Parser",
    "Range",
    "add_common",
    "add_coupling",
    "add_figure",
    "add_files",
    "add_force",
    "add_plane",
    "add_problem",
    "add_range",
    "add_workers",
    "at_coupling",
    "at_fixed_coupling",
    "check_targets",
    "draw",
    "draw_ensemble",
    "draw_record",
    "draw_states",
    "draw_sweep",
    "draw_trajectory",
    "entry",
    "exit_code",
    "formatted",
    "note",
    "number",
    "origin",
    "plane_from",
    "problem_from",
    "problem_over",
    "progress_bar",
    "publish",
    "range_from",
    "relative_range",
    "require_coupling",
    "require_potential",
    "require_workers",
    "resolved_configuration",
    "say",
    "say_json",
    "set_verbosity",
    "table",
    "varied",
    "whole",
    "word",
    "worker_processes",
    "write_all",
]
