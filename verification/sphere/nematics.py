r"""Nematics on the ordinary sphere: Maier-Saupe in closed form (T4) and Onsager's thresholds (T6).

With degree 2 alone and :math:`\alpha = -\tfrac32 w_2\kappa/D`, the states are :math:`\rho\sim e^{\eta u^2}`,

.. math:: \alpha = \eta/S(\eta), \qquad S = \langle P_2\rangle = \frac{3\langle u^2\rangle - 1}{2}, \qquad
          \langle u^2\rangle = \frac{M(3/2, 5/2, \eta)}{3\,M(1/2, 3/2, \eta)} ,

M of Kummer. For :math:`W = -\cos^2\gamma`, :math:`\alpha = \kappa/D`.
"""

import math
from collections.abc import Iterator

import numpy as np

from meanfield import Equation, Onsager, State, critical_couplings

from ..claims import FREE_ENERGY, Evidence, at_least, claim, compare, missing, worst
from ..hypotheses import anywhere
from ..measures import EPS, LOCATION, MOMENT, clustered_states
from ..tools import Tools
from .measures import gap, interval, multipliers
from .uniform import significant_degrees

# alpha and S at the fold and at equal free energy, by Kummer's functions with thirty digits. The fold printed by
# Liu, Zhang and Zhang (2005), 6.731393, is wrong from its fifth digit on.
FOLD, FOLD_MOMENT = 6.7314863964833565, 0.32359687690708
TRANSITION, TRANSITION_MOMENT = 6.8121884880680855, 0.4290290257163
LINEAR = 7.5
# kappa/D at the fold and at equal free energy of |sin|.
ONSAGER_FOLD, ONSAGER_TRANSITION = 8.8765804297958885, 9.0119727414812875
ONSAGER_DEGREES = 10
# The moment at a fold is known to the square root of the error of its coupling.
FOLD_ERROR = math.sqrt(LOCATION)


def maier_saupe(problem: Equation) -> str | None:
    """Return the reason why the potential is not a multiple of -P_2 on the ordinary sphere, or None if it is."""
    reason = anywhere(problem)
    if reason is None and not problem.domain.has_azimuth:
        reason = "the classification is that of the ordinary sphere, d = 3"
    if reason is None and (significant_degrees(problem) != [2] or multipliers(problem, 2)[2] > 0):
        reason = "it is about Maier-Saupe's potential, an attractive multiple of P_2"
    return reason


def onsager(problem: Equation) -> str | None:
    """Return the reason why the potential is not Onsager's on the ordinary sphere, or None if it is."""
    if not isinstance(problem.potential, Onsager):
        return "it is about Onsager's potential |sin|"
    return (
        "its thresholds are those of the ordinary sphere" if not problem.domain.has_azimuth else anywhere(problem)
    )


def _unit(problem: Equation) -> float:
    """Return the coupling at which alpha is one."""
    return problem.noise / (-1.5 * float(multipliers(problem, 2)[2]))


def _moment(eta: float) -> tuple[float, float]:
    """Return S and log <e^(eta u^2)> at eta."""
    from scipy.special import hyp1f1

    mean = float(hyp1f1(0.5, 1.5, eta))
    return (float(hyp1f1(1.5, 2.5, eta)) / mean - 1) / 2, math.log(mean)


@claim(
    "sphere.T4",
    "classification of Maier-Saupe's states",
    statement=(
        "Every state is e^{eta u^2} about an axis, alpha = eta/S(eta): uniform alone below 6.73148639648..., two "
        "prolate ones besides up to 7.5, of which the one with the larger S is stable, and a stable prolate and an "
        "unstable oblate one above 7.5. Uniform is stable below 7.5 and the minimiser below 6.81218848806...."
    ),
    assumptions="a multiple of -P_2 on S^2; alpha = -(3/2) w_2 kappa/D",
    source="Liu, Zhang, Zhang 2005; Fatkullin, Slastikov 2005; Ball, arXiv:2008.04009; Kummer's functions",
    hypotheses=maier_saupe,
    needs=FREE_ENERGY,
)
def nematic_states(problem: Equation, tools: Tools) -> Evidence:
    """Check the states of the diagram, its fold and transition, and the states at fixed couplings."""
    unit = _unit(problem)
    diagram = tools.diagram(problem, interval(problem))
    found = [compare(sum(b.symmetry != 0 for b in diagram.branches), 2.0, 0.0, "nonuniform branches")]
    for kind, alpha, moment, error in (
        ("fold", FOLD, FOLD_MOMENT, FOLD_ERROR),
        ("transition", TRANSITION, TRANSITION_MOMENT, MOMENT),
    ):
        events = [point for point in diagram.special_points if point.type == kind]
        found.append(compare(len(events), 1.0, 0.0, f"number of {kind}s"))
        for event in events:
            found.append(compare(float(event.coupling) / unit, alpha, 2 * LOCATION * alpha, f"alpha at the {kind}"))
            found.append(compare(event.m2, moment, error, f"S at the {kind}"))
    for state in clustered_states(diagram, 24):
        found += _family(state)
    for alpha, signs, stable in ((6.6, "", ""), (7.0, "++", "+"), (9.0, "+-", "+")):
        found += _classified(problem.at(coupling=alpha * unit), alpha, signs, stable, tools)
    return worst(found)


def _family(state: State) -> Iterator[Evidence]:
    alpha = state.coupling / _unit(state.problem)
    moment = float(state.cosine[2])
    expected, logarithm = _moment(alpha * moment)
    where = f"at alpha = {alpha:.9g}"
    # Near the fold the map S -> S(alpha S) has slope one: an error of S shows in it doubled at most.
    yield compare(expected, moment, 2 * MOMENT, f"S = S(alpha S) {where}")
    # f = eta (u^2 - 1/3) + const, and the energy of the interaction is alpha S^2 / 3.
    exact = alpha * moment**2 / 3 + alpha * moment / 3 - logarithm
    yield compare(state.free_energy_gap, exact, MOMENT * (1 + abs(exact)), f"gap {where}")
    yield compare(float(np.abs(state.sine).max()), 0.0, MOMENT, f"moments that are not about the axis {where}")


def _classified(problem: Equation, alpha: float, signs: str, stable: str, tools: Tools) -> Iterator[Evidence]:
    states = tools.states(problem)
    nonuniform = sorted((s for s in states if s.symmetry != 0), key=lambda s: -s.moment(2))
    shown = "".join("+" if state.moment(2) > 0 else "-" for state in nonuniform)
    where = f"at alpha = {alpha}"
    yield compare(len(states), 1 + len(signs), 0.0, f"states {where}")
    if shown != signs:
        yield missing(f"states of <P_2> with signs {signs!r}, not {shown!r}, {where}")
        return
    for place, state in enumerate(nonuniform):
        # The most ordered prolate state is the stable one.
        yield compare(
            state.unstable == 0, place < len(stable), 0.0, f"stability of the state S = {state.moment(2):.6g}"
        )
        yield from _family(state)
    for state in states:
        if state.symmetry == 0:
            yield compare(state.unstable == 0, alpha < LINEAR, 0.0, f"stability of uniform {where}")
        lowest = (state.symmetry == 0) == (alpha < TRANSITION) and (state.symmetry == 0 or state is nonuniform[0])
        yield compare(
            bool(state.minimiser), lowest, 0.0, f"whether S = {state.moment(2):.6g} is the minimiser {where}"
        )


def onsager_coupling(degree: int) -> float:
    """Return kappa_l/D = (2/pi) (l-1)(l+2) [l!!/(l-1)!!]^2 of an even degree."""
    ratio = math.prod(k / (k - 1) for k in range(2, degree + 1, 2))
    return 2 / math.pi * (degree - 1) * (degree + 2) * ratio**2


@claim(
    "sphere.T6",
    "Onsager's bifurcations from uniform",
    statement=(
        "W = |sin|: uniform bifurcates at kappa_l = (2 D/pi)(l-1)(l+2)[l!!/(l-1)!!]^2, l even (32/pi, 256/pi, "
        "2048/(5 pi), ...), and nowhere else; the first bifurcation is transcritical, uniaxial, with a fold at "
        "8.87658042979... and equal free energy at 9.01197274148...; at small kappa uniform is the minimiser."
    ),
    assumptions="Onsager's potential on S^2",
    source="Vollmer, arXiv:1509.02469; fold and transition by quadrature with thirty digits",
    hypotheses=onsager,
    needs=FREE_ENERGY,
)
def onsager_states(problem: Equation, tools: Tools) -> Evidence:
    """Compare thresholds, the events of the diagram and the states at small coupling."""
    couplings = critical_couplings(problem, ONSAGER_DEGREES)
    found = []
    for degree in range(2, ONSAGER_DEGREES + 1, 2):
        expected = onsager_coupling(degree) * problem.noise
        found.append(compare(couplings[degree], expected, 1e3 * EPS * expected, f"kappa_{degree}"))
    odd = [degree for degree in range(1, ONSAGER_DEGREES, 2) if np.isfinite(couplings[degree])]
    found.append(compare(len(odd), 0.0, 0.0, "odd degrees with a critical coupling"))
    # Every bifurcation from uniform up to beyond kappa_6, without following what is born there.
    last = 1.05 * onsager_coupling(6) * problem.noise
    located = [float(p.coupling) for p in tools.diagram(problem, (0.0, last), 0).events("branch point")]
    found.append(compare(len(located), 3.0, 0.0, "bifurcations from uniform up to kappa_6"))
    for value, degree in zip(sorted(located), (2, 4, 6), strict=False):
        expected = onsager_coupling(degree) * problem.noise
        found.append(compare(value, expected, LOCATION * expected, f"bifurcation of degree {degree}"))
    found += _first_bifurcation(problem, tools)
    return worst(found)


def _first_bifurcation(problem: Equation, tools: Tools) -> Iterator[Evidence]:
    diagram = tools.diagram(problem, interval(problem))
    clustered = [branch for branch in diagram.branches if branch.symmetry != 0]
    sides = {int(np.sign(branch.moment(2)[1])) for branch in clustered if branch.moments.has_axis}
    yield compare(len(sides), 2.0, 0.0, "signs of <P_2> on the branches of degree 2")
    critical = onsager_coupling(2) * problem.noise
    for branch in clustered:
        direction = float(np.sign(branch.coupling[1] - critical))
        yield compare(
            direction, -float(np.sign(branch.moment(2)[1])), 0.0, f"direction of the {branch.label} branch"
        )
    for kind, value in (("fold", ONSAGER_FOLD), ("transition", ONSAGER_TRANSITION)):
        events = [float(p.coupling) for p in diagram.special_points if p.type == kind]
        yield compare(len(events), 1.0, 0.0, f"number of {kind}s")
        for coupling in events:
            expected = value * problem.noise
            yield compare(coupling, expected, LOCATION * expected, f"coupling of the {kind}")
    for share, most in ((0.5, 1), (0.99, 1)):
        states = tools.states(problem.at(coupling=share * ONSAGER_FOLD * problem.noise))
        yield compare(len(states), most, 0.0, f"states at {share} times the fold")
        for state in states:
            yield at_least(gap(state), 0.0, MOMENT, f"gap at {share} times the fold")
