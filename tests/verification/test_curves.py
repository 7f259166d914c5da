"""Every claim on curves of special points holds on the right solvers, fails on wrong ones, knows its hypotheses."""

from collections.abc import Callable
from dataclasses import replace

import judged
import numpy as np
import pytest
import wrong

from meanfield import (
    Circle,
    CosineSeries,
    Curve,
    Kuramoto,
    MaierSaupe,
    McKeanVlasov,
    Onsager,
    Sphere,
    Transformer,
    critical_coupling,
)
from verification import Tools, Verdict, judge, matching

CLAIMS = {claim.identifier: claim for claim in matching("curves")}
ON_CIRCLE = McKeanVlasov(Circle(), Transformer(3.0))
IN_SPACE = McKeanVlasov(Sphere(3), Transformer(4.0))
MIXTURE = McKeanVlasov(Sphere(3), 0.5 * MaierSaupe() + 0.5 * Onsager())
THREE_MODES = McKeanVlasov(Circle(), CosineSeries((-1.0, -0.4, -0.65)))
CONTINUOUS = McKeanVlasov(Circle(), Transformer(1.0))

HOLDS = [
    *((name, problem) for name in ("fold-slope", "clausius-clapeyron") for problem in (ON_CIRCLE, MIXTURE)),
    ("curvature", ON_CIRCLE),
    ("curvature", IN_SPACE),
    ("cusp", THREE_MODES),
    ("tricritical", ON_CIRCLE),
    ("three-quarters", ON_CIRCLE),
    ("three-quarters", IN_SPACE),
]
DOES_NOT_APPLY = [
    *((name, CONTINUOUS) for name in ("fold-slope", "clausius-clapeyron", "curvature", "tricritical")),
    ("fold-slope", McKeanVlasov(Circle(), Kuramoto())),
    ("cusp", ON_CIRCLE),
    ("three-quarters", MIXTURE),
]


def curves(change: Callable[[Curve], Curve]) -> Tools:
    """Change the curves followed."""
    return replace(wrong.RIGHT, curve=lambda *arguments: change(wrong.RIGHT.curve(*arguments)))


def steeper(share: float) -> Tools:
    """Scale the second component of the tangents."""
    return curves(lambda curve: replace(curve, tangent=curve.tangent * [1.0, 1.0 + share]))


def bent(share: float) -> Tools:
    """Scale the second parameter about its value at the first point."""

    def change(curve: Curve) -> Curve:
        values = curve.values.copy()
        values[:, 1] += share * (values[:, 1] - values[0, 1])
        return replace(curve, values=values)

    return curves(change)


def other_states(factor: float) -> Tools:
    """Scale the moments of the first states."""
    return curves(lambda curve: replace(curve, cosine=curve.cosine * factor))


def farther(power: float) -> Tools:
    """Take a power of the distance of transitions from the threshold, over the critical coupling."""

    def change(curve: Curve) -> Curve:
        if curve.type != "transition":
            return curve
        values = curve.values.copy()
        for row in values:
            critical = critical_coupling(curve.problem.with_parameter(curve.parameters[0], float(row[0])))
            assert critical is not None
            row[1] = critical * (1.0 - (1.0 - row[1] / critical) ** power)
        return replace(curve, values=values)

    return curves(change)


def without_cusps() -> Tools:
    """Drop the organising points."""
    return curves(lambda curve: replace(curve, special_points=()))


def cusps_moved(share: float) -> Tools:
    """Move the organising points along the first parameter, and their states with the coupling."""

    def change(curve: Curve) -> Curve:
        moved = tuple(
            replace(point, values=point.values * np.array([1.0 + share, 1.0])) for point in curve.special_points
        )
        return replace(curve, special_points=moved)

    return curves(change)


FAILS = [
    ("fold-slope", ON_CIRCLE, steeper(1e-7)),
    ("fold-slope", ON_CIRCLE, bent(1e-5)),
    ("fold-slope", ON_CIRCLE, other_states(1.0 + 1e-4)),
    ("clausius-clapeyron", MIXTURE, steeper(1e-7)),
    ("clausius-clapeyron", ON_CIRCLE, bent(1e-5)),
    ("curvature", ON_CIRCLE, wrong.coupling_bent(1e-3)),
    ("cusp", THREE_MODES, without_cusps()),
    ("cusp", THREE_MODES, cusps_moved(1e-4)),
    ("tricritical", ON_CIRCLE, farther(1.05)),
    ("three-quarters", ON_CIRCLE, farther(1.001)),
]


@pytest.mark.parametrize(("name", "problem"), HOLDS)
def test_holds(name, problem):
    """It holds on the right solvers."""
    judged.holds(CLAIMS[f"curves.{name}"], problem)


@pytest.mark.parametrize(("name", "problem", "tools"), FAILS)
def test_fails(name, problem, tools):
    """It fails on wrong ones."""
    judged.fails(CLAIMS[f"curves.{name}"], problem, tools)


@pytest.mark.parametrize(("name", "problem"), DOES_NOT_APPLY)
def test_does_not_apply(name, problem):
    """It says why it does not apply."""
    judged.does_not_apply(CLAIMS[f"curves.{name}"], problem)


def test_all_are_tried():
    """Every claim is tried with right and wrong solvers."""
    for cases in (HOLDS, FAILS):
        assert {f"curves.{case[0]}" for case in cases} == set(CLAIMS)


def test_a_short_curve_decides_nothing():
    """A curve of too few points for a slope of its own is no evidence."""
    short = curves(
        lambda curve: replace(
            curve,
            **{
                name: getattr(curve, name)[:3]
                for name in (
                    "values", "coupling", "relative_coupling", "cosine", "sine", "residual", "unstable", "modes",
                    "arclength", "tangent", "point_labels",
                )
            },
            observables={name: values[:3] for name, values in curve.observables.items()},
        )
    )  # fmt: skip
    result = judge(CLAIMS["curves.fold-slope"], ON_CIRCLE, short)
    assert result.verdict is Verdict.INCONCLUSIVE
