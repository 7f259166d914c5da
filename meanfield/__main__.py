"""``python -m meanfield``: the same as the command ``meanfield``."""

import sys

from .cli import main

sys.exit(main())
