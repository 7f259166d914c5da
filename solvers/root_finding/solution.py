"""What Newton's method finds."""

from dataclasses import dataclass

from ..bases import Floats, greatest
from ..equations.equation import Evaluation


@dataclass(slots=True)
class Solution:
    """A corrected point: unknowns, evaluation there, unit tangent and negative eigenvalues of J."""

    b: Floats
    q: float
    evaluation: Evaluation
    tangent_b: Floats
    tangent_q: float
    negative: int

    def reverse(self) -> None:
        """Reverse the tangent."""
        self.tangent_b, self.tangent_q = -self.tangent_b, -self.tangent_q

    @property
    def residual(self) -> float:
        """Largest component of the residual."""
        return greatest(self.evaluation.residual)
