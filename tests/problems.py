"""The catalogue of test problems: each with its tags, and with what theory says of it exactly.

>>> from tests import problems
>>> problems.KURAMOTO_AT_3.exact("order parameter")
0.7241587...
>>> @pytest.mark.parametrize("entry", problems.tagged("circle", "confined"))

Here stands what two tests need or what has exact values. A value is a formula, evaluated when it is first asked for;
``tests/test_problems.py`` holds each against a slow computation of another kind. Tags of the domain (``circle``,
``sphere``, ``S2``), of ``confined`` problems, of ``free`` and ``fixed`` couplings and of ``custom`` potentials follow
from the problem; ``zonal`` are those of spheres that are not ``polyhedral``. The others are said in the entry:

- ``continuous``, ``discontinuous``: the transition from the uniform state;
- ``even``, ``uneven``: only even degrees interact; there are states without a mirror axis;
- ``polyhedral``: states without an axis are born at the critical coupling;
- ``kinked``, ``singular``: the potential has corners, or is infinite at 0;
- ``slow``: the exact values take seconds, and tests of them are slow.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache, partial
from typing import Any

import mpmath as mp
import pytest

from meanfield import (
    ArcCosine,
    Circle,
    CosineSeries,
    Custom,
    GegenbauerSeries,
    HegselmannKrause,
    KellerSegel,
    Kuramoto,
    Logarithmic,
    MaierSaupe,
    McKeanVlasov,
    Onsager,
    Potential,
    Sphere,
    Transformer,
    critical_coupling,
)
from tests import closed_forms as forms
from tests.zonal_states import ZonalState, zonal_polynomial, zonal_rate

SAID = frozenset({"continuous", "discontinuous", "even", "uneven", "polyhedral", "kinked", "singular", "slow"})
FOLLOWING = frozenset({"circle", "sphere", "S2", "zonal", "confined", "free", "fixed", "custom"})


@dataclass(frozen=True)
class Exact:
    """A number that theory gives: its formula in words, and in mpmath."""

    formula: str
    compute: Callable[[], Any]

    @property
    def digits(self) -> Any:
        """The number as an mpf."""
        return _evaluated(self.compute)


@cache
def _evaluated(compute: Callable[[], Any]) -> Any:
    with mp.workdps(forms.DIGITS):
        return +mp.mpf(compute())


@dataclass(frozen=True, eq=False)
class Entry:
    """A problem of the catalogue, with its tags and its exact values by name."""

    name: str
    problem: McKeanVlasov
    said: frozenset[str] = frozenset()
    values: Mapping[str, Exact] = field(default_factory=dict)

    @property
    def tags(self) -> frozenset[str]:
        """What is said of the problem, and what follows from it."""
        problem, found = self.problem, {self.problem.domain.name}
        found |= {"S2"} if problem.domain == Sphere(3) else set()
        found |= {"zonal"} if problem.domain.name == "sphere" and "polyhedral" not in self.said else set()
        found |= {"confined"} if problem.confinement is not None else set()
        found |= {"custom"} if isinstance(problem.potential, Custom) else set()
        return self.said | found | {"free" if problem.coupling is None else "fixed"}

    def exact(self, name: str) -> float:
        """Return an exact value, rounded to a double."""
        return float(self.values[name].digits)


CATALOGUE: dict[str, Entry] = {}


def tagged(*tags: str, without: str | None = None, exact: str | None = None) -> list[Any]:
    """Return the entries that have all tags, not another, and an exact value, as parameters of a test."""
    unknown = {*tags, *([without] if without else [])} - SAID - FOLLOWING
    if unknown:
        raise KeyError(f"no entry can have the tags {sorted(unknown)}")
    chosen = [
        entry
        for entry in CATALOGUE.values()
        if entry.tags >= set(tags) and without not in entry.tags and (exact is None or exact in entry.values)
    ]
    if not chosen:
        raise KeyError(f"no entry has the tags {tags} and the exact value {exact!r}")
    marks = {entry.name: pytest.mark.slow if "slow" in entry.tags else () for entry in chosen}
    return [pytest.param(entry, id=entry.name, marks=marks[entry.name]) for entry in chosen]


def on_circle(potential: Potential, **options: Any) -> McKeanVlasov:
    """Return the problem of a potential on the circle."""
    return McKeanVlasov(Circle(), potential, **options)


def on_sphere(potential: Potential, dimension: int = 3, **options: Any) -> McKeanVlasov:
    """Return the problem of a potential on the sphere in R^d, d = 3 if nothing is said."""
    return McKeanVlasov(Sphere(dimension), potential, **options)


def entry(name: str, problem: McKeanVlasov, *said: str, **values: Exact) -> Entry:
    """Return an entry and put it into the catalogue; ``free_energy_gap=`` is the value "free energy gap"."""
    if unknown := set(said) - SAID:
        raise KeyError(f"{name} has the tags {sorted(unknown)}, which are none")
    if name in CATALOGUE:
        raise KeyError(f"{name} stands in the catalogue already")
    by_name = {key.replace("_", " "): value for key, value in values.items()}
    CATALOGUE[name] = Entry(name, problem, frozenset(said), by_name)
    return CATALOGUE[name]


# The potentials of the library, and W(t) on [0, pi] with its corners in mpmath


@dataclass(frozen=True)
class Profile:
    """A potential as a function of the angle: where it is not smooth, and in which dimensions it can be used."""

    potential: Potential
    function: Callable[[Any], Any]
    corners: tuple[float, ...] = ()
    largest_dimension: float = math.inf


def _bounded_confidence(radius: float, largest_dimension: int = 4) -> Profile:
    reach = mp.mpf(radius)
    return Profile(HegselmannKrause(radius), lambda t: -(max(reach - t, 0) ** 2) / 2, (radius,), largest_dimension)


def _attention(beta: float) -> Profile:
    # Where exp(beta cos t) is steep the quadrature is told.
    steep = () if abs(beta) < 100 else tuple(j / math.sqrt(abs(beta)) for j in (1, 3, 9))
    return Profile(Transformer(beta), lambda t: -mp.exp(beta * mp.cos(t)) / beta, steep)


def _screened(screening: float) -> Profile:
    s = mp.mpf(screening)

    def green(t: Any) -> Any:
        if not s:
            return mp.pi / 12 - (mp.pi - t) ** 2 / (4 * mp.pi)
        return -mp.cosh(s * (mp.pi - t)) / (2 * s * mp.sinh(s * mp.pi))

    return Profile(KellerSegel(screening), green, (), 2)


def _series(potential: CosineSeries | Custom) -> Profile:
    weights = potential.coefficients

    def total(t: Any) -> Any:
        return mp.fsum(mp.mpf(float(w)) * mp.cos(k * t) for k, w in enumerate(weights, start=1))

    return Profile(potential, total)


HAT = Custom.from_expression("-Max(1 - Abs(t), 0)")
BOWL = Custom.from_expression("exp(cos(t))")

PROFILES: tuple[Profile, ...] = (
    _attention(2.0),
    _attention(9.0),
    _attention(-2.0),
    _attention(-3.0),
    Profile(Kuramoto(), lambda t: -mp.cos(t)),
    Profile(MaierSaupe(), lambda t: -(mp.cos(t) ** 2)),
    Profile(Onsager(), mp.sin),
    _series(CosineSeries((-1.0, 0.5, 0.0, -0.25))),
    _series(CosineSeries((-1.0, 0.5))),
    # Its largest multiplier in four dimensions is beyond the degrees that are computed.
    _bounded_confidence(0.01, 3),
    _bounded_confidence(0.1),
    _bounded_confidence(1.3),
    _bounded_confidence(math.pi),
    Profile(Logarithmic(1), lambda t: mp.log(2 * mp.sin(t / 2))),
    Profile(Logarithmic(-1), lambda t: -mp.log(2 * mp.sin(t / 2))),
    _screened(0.0),
    _screened(0.7),
    _screened(30.0),
    Profile(BOWL, lambda t: mp.exp(mp.cos(t))),
    Profile(ArcCosine(), lambda t: ((mp.pi - t) * mp.cos(t) + mp.sin(t)) / (4 * mp.pi), (), 2),
)


def profile(problem: McKeanVlasov) -> Profile:
    """Return the potential of a problem as a function of the angle."""
    potential = problem.potential
    for known in (*PROFILES, Profile(HAT, lambda t: -max(1 - t, 0), (1.0,))):
        if known.potential == potential:
            return known
    match potential:
        case Transformer(beta=beta):
            return _attention(beta)
        case HegselmannKrause(radius=radius):
            return _bounded_confidence(radius)
        case KellerSegel(screening=screening):
            return _screened(screening)
        case GegenbauerSeries(w=weights, dimension=dimension):
            return Profile(potential, partial(_gegenbauer_sum, weights, dimension))
    return _series(potential)


def _gegenbauer_sum(weights: tuple[float, ...], dimension: int, t: Any) -> Any:
    return mp.fsum(w * zonal_polynomial(k, dimension, mp.cos(t)) for k, w in enumerate(weights, start=1) if w)


def profiles(dimension: int = 2) -> list[Any]:
    """Return the potentials that can be used in a dimension, 2 the circle, as parameters of a test."""
    return [
        pytest.param(known, id=repr(known.potential)) for known in PROFILES if dimension <= known.largest_dimension
    ]


def potentials() -> list[Any]:
    """Return all potentials, without their functions, as parameters of a test on the circle."""
    return [pytest.param(known.potential, id=repr(known.potential)) for known in PROFILES]


# Exact values that several entries have


def threshold(formula: str, compute: Callable[[], Any]) -> Exact:
    """Return the critical coupling, -D/<W P_l> of the degree where it is least."""
    return Exact(f"kappa = -D/<W P_l> = {formula}", compute)


def attention_threshold(dimension: int, beta: float) -> Exact:
    """Return the critical coupling of the transformer, whose first degree attracts the most."""
    formula = "beta D (beta/2)^(d/2-1)/(Gamma(d/2) I_(d/2)(beta))"
    return threshold(formula, lambda: -1 / forms.attention_mean(dimension, beta, 1))


def spins_threshold(dimension: int) -> Exact:
    """Return the critical coupling of W = -<x, y>."""
    return threshold("d D", lambda: dimension)


def spins(dimension: int, coupling: float) -> dict[str, Exact]:
    """Return what is known of W = -<x, y> at D = 1 beyond its critical coupling."""
    value = partial(forms.fisher, dimension, coupling)
    orders = (0, 1) if dimension == 2 else (0, 1, 2)
    exact = {
        "order_parameter": Exact("m = I_(d/2)(kappa m)/I_(d/2-1)(kappa m)", lambda: value()[0]),
        "free_energy_gap": Exact("kappa m^2/2 - log <exp(kappa m u)>", lambda: value()[1]),
        "second_moment": Exact("<P_2> = 1 - d/kappa, by parts", lambda: 1 - mp.mpf(dimension) / coupling),
    }
    for order in orders:
        exact[f"rate_of_order_{order}"] = Exact(
            "lowest eigenvalue of -H (1 + kappa L M) in harmonics",
            partial(forms.rate_of_spins, dimension, coupling, order),
        )
    return exact


def hysteresis(
    dimension: int, beta: float, fold: tuple[float, float], equal: tuple[float, float]
) -> dict[str, Exact]:
    """Return fold and transition of the 1-branch of the transformer at D = 1, near pairs of values of m_1."""
    states = {"fold": partial(forms.attention_event, dimension, beta, "fold", fold)}
    states["transition"] = partial(forms.attention_event, dimension, beta, "transition", equal)
    formulas = {"fold": "d kappa/d m_1 = 0 on p_l = <P_l>", "transition": "F = F_0 on p_l = <P_l>"}
    exact = {}
    for event, state in states.items():
        exact[event] = Exact(formulas[event], lambda state=state: state().coupling)
        exact[f"order_at_{event}"] = Exact(formulas[event], lambda state=state: state().moments[1])
    return exact


def clustered_attention(
    dimension: int, beta: float, coupling: float, amplitudes: tuple[float, float]
) -> dict[str, Exact]:
    """Return order parameter and rates of the cluster of the transformer at D = 1, near two values of m_1."""
    branch = partial(forms.attention_branch, dimension, beta, coupling, 18)

    @cache
    def state() -> ZonalState:
        return branch().at(mp.findroot(lambda a: branch().at(a).coupling - coupling, amplitudes))

    def rate(order: int) -> Any:
        return zonal_rate(dimension, branch().multipliers, coupling, state().moments, order, size=28)

    formula = "lowest eigenvalue of -H (1 + kappa L M) in harmonics"
    orders = range(2 if dimension == 2 else 3)
    exact = {f"rate_of_order_{order}": Exact(formula, partial(rate, order)) for order in orders}
    return exact | {"order_parameter": Exact("p_l = <P_l>", lambda: state().moments[1])}


def clustered(name: str, problem: McKeanVlasov, amplitudes: tuple[float, float]) -> Entry:
    """Return the entry of a transformer at a coupling where it has a cluster, m_1 near two values."""
    given = problem.domain.dimension, problem.potential.beta, float(problem.coupling)
    return entry(name, problem, "slow", **clustered_attention(*given, amplitudes))


def relative(problem: McKeanVlasov, ratio: float) -> McKeanVlasov:
    """Return a problem at a multiple of its critical coupling."""
    return problem.at(coupling=ratio * critical_coupling(problem))


# The circle

KURAMOTO = entry("kuramoto", on_circle(Kuramoto()), "continuous", critical_coupling=spins_threshold(2))
KURAMOTO_AT_1 = entry(
    "kuramoto at 1",
    on_circle(Kuramoto(), coupling=1.0),
    critical_coupling=spins_threshold(2),
    rate_of_order_0=Exact("D (1 - kappa/kappa_1)", lambda: mp.mpf(1) / 2),
)
KURAMOTO_AT_3 = entry("kuramoto at 3", on_circle(Kuramoto(), coupling=3.0), **spins(2, 3.0))
TRANSFORMER = entry(
    "transformer",
    on_circle(Transformer(5.0)),
    "discontinuous",
    critical_coupling=attention_threshold(2, 5.0),
    **hysteresis(2, 5.0, (0.6, 0.62), (0.74, 0.75)),
)
ATTENTION = entry(
    "attention",
    on_circle(Transformer(4.0)),
    "discontinuous",
    critical_coupling=attention_threshold(2, 4.0),
)
ATTENTION_AT_08 = entry("attention at 0.8", on_circle(Transformer(4.0), coupling=0.8))
CLUSTERED_ATTENTION = clustered("clustered attention", relative(ATTENTION.problem, 2.0), (0.98, 0.985))
SHARP_ATTENTION = entry(
    "sharp attention",
    on_circle(Transformer(800.0)),
    "discontinuous",
    critical_coupling=attention_threshold(2, 800.0),
)
ONSAGER = entry(
    "onsager",
    on_circle(Onsager()),
    "even",
    "kinked",
    "continuous",
    critical_coupling=threshold("3 pi D/2, l = 2", lambda: 3 * mp.pi / 2),
)
BOUNDED_CONFIDENCE = entry(
    "bounded confidence",
    on_circle(HegselmannKrause(2.5)),
    "kinked",
    "continuous",
    critical_coupling=threshold("pi D/(R - sin R)", lambda: mp.pi / (mp.mpf(2.5) - mp.sin(2.5))),
)
CHEMOTAXIS = entry(
    "chemotaxis",
    on_circle(KellerSegel(1.0)),
    "kinked",
    "continuous",
    critical_coupling=threshold("2 pi (1 + s^2) D", lambda: 4 * mp.pi),
)
LOGARITHMIC = entry(
    "logarithmic", on_circle(Logarithmic()), "singular", critical_coupling=threshold("2 D", lambda: 2)
)
LOGARITHMIC_AT_2 = entry("logarithmic at 2", on_circle(Logarithmic(), coupling=2.0), "singular")
TWO_MODES = entry(
    "two modes",
    on_circle(CosineSeries((-1.0, -1.5))),
    "continuous",
    critical_coupling=threshold("2 D/1.5, l = 2", lambda: mp.mpf(4) / 3),
    secondary_coupling=Exact("kappa (1 + m_2) = 2 D on m_2 = I_1(x)/I_0(x)", lambda: forms.secondary(1.5)[0]),
    second_moment_at_secondary=Exact("m_2 = I_1(x)/I_0(x), x = 1.5 kappa m_2", lambda: forms.secondary(1.5)[1]),
)
RESONANT = entry(
    "resonant",
    on_circle(CosineSeries((-1.0, -1.0))),
    "discontinuous",
    critical_coupling=threshold("2 D, l = 1 and 2", lambda: 2),
)
NEARLY_RESONANT = entry(
    "nearly resonant",
    on_circle(CosineSeries((-1.0, -1.01))),
    "discontinuous",
    critical_coupling=threshold("2 D/1.01, l = 2", lambda: 2 / mp.mpf(1.01)),
)
UNEVEN = entry(
    "uneven",
    on_circle(CosineSeries((-1.489, 1.018, -1.417))),
    "uneven",
    "continuous",
    critical_coupling=threshold("2 D/1.489", lambda: 2 / mp.mpf(1.489)),
)
COSINE = entry(
    "custom cosine",
    on_circle(Custom.from_coefficients((-1.0,))),
    "continuous",
    critical_coupling=threshold("2 D", lambda: 2),
)
TENT = entry(
    "tent",
    on_circle(HAT),
    "kinked",
    "discontinuous",
    critical_coupling=threshold("pi D/(1 - cos 1)", lambda: mp.pi / (1 - mp.cos(1))),
)
IN_A_FIELD = entry("in a field", on_circle(Kuramoto(), confinement=CosineSeries((0.3,))))
IN_THREE_MODES = entry(
    "in three modes", on_circle(Kuramoto(), noise=0.7, confinement=CosineSeries((0.3, -0.2, 0.1)))
)
HELD = entry(
    "held",
    on_circle(Kuramoto(), coupling=0.0, confinement=CosineSeries((-4.0,))),
    order_parameter=Exact("I_1(4)/I_0(4)", lambda: mp.besseli(1, 4) / mp.besseli(0, 4)),
    second_moment=Exact("I_2(4)/I_0(4)", lambda: mp.besseli(2, 4) / mp.besseli(0, 4)),
)
ALIGNED = entry(
    "aligned",
    on_circle(Kuramoto(), coupling=3.0, confinement=Kuramoto()),
    order_parameter=Exact("m = I_1(x)/I_0(x), x = kappa m + 1", lambda: forms.aligned(3.0)),
)


# Spheres


SPINS = entry("spins", on_sphere(Kuramoto()), "continuous", critical_coupling=spins_threshold(3))
SPINS_AT_1 = entry(
    "spins at 1",
    on_sphere(Kuramoto(), coupling=1.0),
    critical_coupling=spins_threshold(3),
    rate_of_order_0=Exact("(d - 1) D (1 - kappa/kappa_1)", lambda: mp.mpf(4) / 3),
)
SPINS_AT_5 = entry("spins at 5", on_sphere(Kuramoto(), coupling=5.0), **spins(3, 5.0))
MANY_SPINS = entry(
    "spins in eight dimensions",
    on_sphere(Kuramoto(), 8),
    "continuous",
    critical_coupling=spins_threshold(8),
)
NEMATIC = entry(
    "maier-saupe",
    on_sphere(MaierSaupe()),
    "even",
    "discontinuous",
    critical_coupling=threshold("d (d + 2) D/2, l = 2", lambda: mp.mpf(15) / 2),
    fold=Exact("d kappa/d eta = 0 on kappa/D = eta/S(eta)", lambda: forms.nematic_event("fold")[0]),
    order_at_fold=Exact("S(eta) there", lambda: forms.nematic_event("fold")[1]),
    transition=Exact("F = F_0 on kappa/D = eta/S(eta)", lambda: forms.nematic_event("transition")[0]),
    order_at_transition=Exact("S(eta) there", lambda: forms.nematic_event("transition")[1]),
)
RODS = entry(
    "onsager on S2",
    on_sphere(Onsager()),
    "even",
    "kinked",
    "discontinuous",
    critical_coupling=threshold("32 D/pi, l = 2", lambda: 32 / mp.pi),
)
SMOOTH_ATTENTION = entry(
    "transformer 1 on S2",
    on_sphere(Transformer(1.0)),
    "continuous",
    critical_coupling=threshold("e D", lambda: mp.e),
)
CLUSTERED_SPHERICAL_ATTENTION = clustered(
    "transformer 1 on S2, clustered", on_sphere(Transformer(1.0), coupling=2 * math.e), (0.89, 0.892)
)
SPHERICAL_ATTENTION = entry(
    "transformer 3 on S2",
    on_sphere(Transformer(3.0)),
    "discontinuous",
    critical_coupling=attention_threshold(3, 3.0),
    **hysteresis(3, 3.0, (0.63, 0.64), (0.76, 0.77)),
)
STRONG_ATTENTION = entry(
    "transformer 4 on S2",
    on_sphere(Transformer(4.0)),
    "discontinuous",
    critical_coupling=attention_threshold(3, 4.0),
)
TETRAHEDRAL = entry(
    "third degree",
    on_sphere(GegenbauerSeries((0.0, 0.0, -1.0))),
    "polyhedral",
    "continuous",
    critical_coupling=threshold("(2 l + 1) D", lambda: 7),
    curvature_at_onset=Exact(
        "1/2 - <psi^4>/6, psi = sqrt(105) x y z", lambda: mp.mpf(1) / 2 - 105**2 * forms.monomial_mean(4, 4, 4) / 6
    ),
)
OCTAHEDRAL = entry(
    "fourth degree",
    on_sphere(GegenbauerSeries((0.0, 0.0, 0.0, -1.0))),
    "polyhedral",
    "even",
    "discontinuous",
    critical_coupling=threshold("(2 l + 1) D", lambda: 9),
    slope_at_onset=Exact("-<psi^3>/2, psi ~ x^4 + y^4 + z^4 - 3/5", lambda: -forms.octahedral_mean(3) / 2),
    fold=Exact("d kappa/d a = 0 on kappa = 9 a/<psi exp(a psi)>", lambda: forms.octahedral_event("fold")),
    transition=Exact("F = F_0 on kappa = 9 a/<psi exp(a psi)>", lambda: forms.octahedral_event("transition")),
)
IN_AN_AXIAL_FIELD = entry(
    "in an axial field",
    on_sphere(Kuramoto(), noise=0.7, confinement=GegenbauerSeries((0.6, -0.2))),
)
