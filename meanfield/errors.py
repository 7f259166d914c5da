"""The errors a user can meet, each a single sentence.

A message names what was wrong, the offending value, what is admissible and the nearest right call.
The command line prints it on one line and maps the class to its exit code.
"""


class MeanfieldError(Exception):
    """Any error whose message is meant for the user."""

    exit_code = 1


class InvalidInput(MeanfieldError, ValueError):
    """The caller asked for something inadmissible."""

    exit_code = 2


class ComputationFailed(MeanfieldError, RuntimeError):
    """The request was admissible, but the computation did not succeed."""


class NotResolved(ComputationFailed):
    """A state needs more modes than are allowed; the message names the number it needs."""
