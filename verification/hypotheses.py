"""Hypotheses of claims that need no domain."""

from meanfield import Equation, Transformer


def anywhere(problem: Equation) -> str | None:
    """Return the reason why a statement on the interaction alone does not apply, or None if it does."""
    return "there is a confinement" if problem.confinement is not None else None


def transformer(problem: Equation) -> str | None:
    """Return the reason why a statement on the attractive transformer does not apply, or None if it does."""
    if not isinstance(problem.potential, Transformer) or problem.potential.beta < 0:
        return "it is about the transformer with beta > 0"
    return anywhere(problem)
