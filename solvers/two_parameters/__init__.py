"""Curves of special points in two parameters: extended systems followed by the continuation of branches."""

from .assembling import STARTS as STARTS
from .assembling import curve_from as curve_from
from .orientations import oriented_line as oriented_line
from .plane import COUPLING as COUPLING
from .recording import threshold_label as threshold_label
from .starts import Start as Start
from .starts import require_followed as require_followed
from .starts import standing as standing
from .starts import start_of as start_of
from .starts import states_of as states_of
from .triples import triple_point as triple_point
from .zero_field import zero_field_point as zero_field_point
