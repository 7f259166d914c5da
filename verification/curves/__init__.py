"""Claims about curves of special points in two parameters."""

from . import cusps as cusps
from . import slopes as slopes
from . import tricritical as tricritical
