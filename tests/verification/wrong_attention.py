"""Deliberately wrong solvers of attention, each wrong in one way."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import wrong

from meanfield import ContinuityEquation, CosineSeries, Equation, McKeanVlasov, SoftmaxAttention, Transformer
from verification import Tools


def changed(
    which: str, change: Callable[[Equation], Equation], where: Callable[..., bool] = lambda *_: True
) -> Tools:
    """Solve another equation in the place of the one asked for, or of those of some questions only.

    The other questions have the answers of the right solvers, which are remembered.
    """
    right = getattr(wrong.RIGHT, which)

    def tool(problem: Equation, *arguments: Any, **options: Any) -> Any:
        asked = change(problem) if where(problem, *arguments) else problem
        return right(asked, *arguments, **options)

    return replace(wrong.RIGHT, **{which: tool})


def stronger(share: float) -> Callable[[Equation], Equation]:
    """Couple more strongly by a share."""
    return lambda problem: problem.at(coupling=(1 + share) * problem.fixed_coupling)


def colder(share: float) -> Callable[[Equation], Equation]:
    """Raise beta by a share."""

    def change(problem: Equation) -> Equation:
        return problem.with_parameter("beta", (1 + share) * float(problem.parameters["beta"]))

    return change


def at_beta(beta: float) -> Callable[..., bool]:
    """Say yes to questions at one beta only."""
    return lambda problem, *_: problem.parameters["beta"] == beta


def until(time: float) -> Callable[..., bool]:
    """Say yes to simulations that end at one time only."""
    return lambda _, particles, end, *others: end == time


def of(count: int) -> Callable[..., bool]:
    """Say yes to simulations of one number of tokens only."""
    return lambda _, particles, *others: particles == count


def normalised_otherwise(problem: Equation) -> Equation:
    """Exchange attention without normalisation and softmax attention."""
    beta, fields = problem.law.beta, (problem.noise, problem.coupling)
    if isinstance(problem.velocity, SoftmaxAttention):
        return McKeanVlasov(problem.domain, Transformer(beta), *fields)
    return ContinuityEquation(problem.domain, SoftmaxAttention(beta), *fields)


def local_rates() -> Tools:
    """Report the rates of the cluster alone, as methods do that do not resolve what leaves its antipode."""

    def contraction(*arguments: Any) -> Any:
        right = wrong.RIGHT.contraction(*arguments)
        return replace(right, rates=tuple(replace(rate, rate=rate.local_rate) for rate in right.rates))

    return replace(wrong.RIGHT, contraction=contraction)


def noisier(share: float) -> Callable[[Equation], Equation]:
    """Raise the noise by a share."""
    return lambda problem: problem.replace(noise=(1 + share) * problem.noise)


def first_moment(size: float) -> Tools:
    """Let a first moment appear in densities that have none."""

    def change(cosine: Any) -> None:
        cosine[1:, 1] += size

    return wrong.moments_changed(change)


def first_moment_of_tokens(size: float) -> Tools:
    """Let a first moment appear in the records of tokens that have none."""

    def simulate(*arguments: Any, **options: Any) -> Any:
        right = wrong.RIGHT.simulate(*arguments, **options)
        cosine = right.cosine.copy()
        cosine[:, 1:, 1] += size
        return replace(right, cosine=cosine)

    return replace(wrong.RIGHT, simulate=simulate)


def with_kernel(*coefficients: float) -> Callable[[Equation], Equation]:
    """Take another finite cosine series for the potential."""
    return lambda problem: problem.replace(potential=CosineSeries(coefficients))


def states_moved(size: float) -> Tools:
    """Report states whose second moment is off."""
    return wrong.moment_off(2, size)
