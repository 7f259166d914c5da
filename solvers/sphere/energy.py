"""Whether the free energy is bounded below."""

from meanfield import McKeanVlasov


def bounded_below(problem: McKeanVlasov) -> bool:
    """Whether it is: always, since the potentials admitted on a sphere are bounded and the entropy is too."""
    return True
