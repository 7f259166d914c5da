"""Curves of special points in two parameters: extended systems followed by the continuation of branches."""

from .assembling import STARTS as STARTS
from .assembling import curve_from as curve_from
from .carrying import becomes as becomes
from .in_plane.plane import COUPLING as COUPLING
from .orientations import oriented_line as oriented_line
from .systems.recording import threshold_label as threshold_label
from .systems.starts import Start as Start
from .systems.starts import require_followed as require_followed
from .systems.starts import standing as standing
from .systems.starts import start_of as start_of
from .systems.starts import states_of as states_of
from .systems.zero_field import zero_field_point as zero_field_point
from .triples import triple_point as triple_point
