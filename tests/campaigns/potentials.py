"""Users' potentials: functions, formulas, sums, potentials of other packages, against integrals at known kinks."""

import itertools
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import mpmath as mp
import numpy as np
from scipy.special import eval_legendre, ive

from meanfield import (
    Circle,
    ComputationFailed,
    CosineSeries,
    Custom,
    GegenbauerSeries,
    HegselmannKrause,
    InvalidInput,
    Kuramoto,
    Logarithmic,
    MaierSaupe,
    McKeanVlasov,
    Onsager,
    Potential,
    Sphere,
    Transformer,
    critical_coupling,
    kuramoto_order_parameter,
    potential_from,
    second_variation,
)
from tests.campaigns import Finding, Subject, Verdict

EPS = float(np.finfo(float).eps)
DEGREE = 60
TOLD = 40


@dataclass
class Part:
    """A term of a function: its text in numpy and as a formula, its value, where it is not smooth, and its steepness."""

    call: str
    formula: str
    value: Callable[[Any], Any]
    corners: list[float]
    largest: float
    cancelled: float = 0.0


def number(rng: np.random.Generator, low: float, high: float) -> float:
    """A number of a few digits."""
    return float(f"{rng.uniform(low, high):.4g}")


def magnitude(rng: np.random.Generator, low: float, high: float) -> float:
    """A number of random order of magnitude and sign."""
    return float(f"{rng.choice([-1, 1]) * 10 ** rng.uniform(low, high):.4g}")


def cosine(rng: np.random.Generator) -> Part:
    a, k = magnitude(rng, -2, 0.5), int(rng.integers(1, 9))
    text = f"{a}*cos({k}*t)"
    return Part(text, text, lambda t: a * np.cos(k * t), [], abs(a))


def spike(rng: np.random.Generator) -> Part:
    a, width = magnitude(rng, -1, 1.7), abs(magnitude(rng, -3.7, -0.7))
    c = number(rng, 9 * width, math.pi - 9 * width) if 18 * width < math.pi else 1.0
    text = f"{a}*exp(-((abs(t) - {c})/{width})**2/2)"
    corners = [c + j * width for j in range(-9, 10)]
    return Part(text, text, lambda t: a * np.exp(-(((np.abs(t) - c) / width) ** 2) / 2), corners, abs(a))


def hat(rng: np.random.Generator) -> Part:
    a, width = magnitude(rng, -1, 1), abs(magnitude(rng, -3.0, 0))
    c = number(rng, 0, math.pi)
    call = f"{a}*maximum(1 - abs(abs(t) - {c})/{width}, 0)"
    corners = [c - width, c, c + width]
    value = lambda t: a * np.maximum(1 - np.abs(np.abs(t) - c) / width, 0)  # noqa: E731
    return Part(call, f"{a}*Max(1 - Abs(Abs(t) - {c})/{width}, 0)", value, corners, abs(a))


def power(rng: np.random.Generator) -> Part:
    a, c, p = magnitude(rng, -1, 0), number(rng, 0.2, 3), float(rng.choice([0.5, 1.0, 1.5, 2.5]))
    text = f"{a}*abs(abs(t) - {c})**{p}"
    return Part(text, text, lambda t: a * np.abs(np.abs(t) - c) ** p, [c], abs(a) * 3)


def rectified(rng: np.random.Generator) -> Part:
    a, k = magnitude(rng, -1, 0), int(rng.integers(1, 6))
    corners = [j * math.pi / k for j in range(1, k)]
    return Part(
        f"{a}*abs(sin({k}*t))", f"{a}*Abs(sin({k}*t))", lambda t: a * np.abs(np.sin(k * t)), corners, abs(a)
    )


def chosen(rng: np.random.Generator) -> Part:
    """A continuous choice between two formulas."""
    a, c = magnitude(rng, -1, 0), number(rng, 0.3, 2.8)
    call = f"{a}*where(abs(t) < {c}, cos(t), cos({c}) + ({c} - abs(t)))"
    formula = f"Piecewise(({a}*cos(t), Abs(t) < {c}), ({a}*(cos({c}) + ({c} - Abs(t))), True))"
    value = lambda t: a * np.where(np.abs(t) < c, np.cos(t), np.cos(c) + (c - np.abs(t)))  # noqa: E731
    return Part(call, formula, value, [c], abs(a) * 4)


def cancelling(rng: np.random.Generator) -> Part:
    """Large terms that leave nothing but rounding."""
    a = abs(magnitude(rng, 1, 7))
    text = f"({a}*cos(t)**2 + {a}*sin(t)**2 - {a})"
    return Part(text, text, lambda t: 0.0 * t, [], 0.0, 8 * a)


PARTS = (cosine, cosine, spike, hat, power, rectified, chosen, cancelling)


def integrated(parts: list[Part], dimension: int) -> np.ndarray:
    """Return w_0, ..., w_60 by Gauss rules between corners, on panels halved towards each of them."""
    corners = sorted({0.0, math.pi, *(c for part in parts for c in part.corners if 0 < c < math.pi)})
    ends = set(np.linspace(0, math.pi, 65)) | set(corners)
    for low, high in itertools.pairwise(corners):
        steps = [(high - low) * 0.5**j for j in range(1, 48)]
        ends |= {low + step for step in steps} | {high - step for step in steps}
    edges = np.array(sorted(ends))
    places, weights = np.polynomial.legendre.leggauss(24)
    halves = np.diff(edges)[:, np.newaxis] / 2
    t, w = (edges[:-1, np.newaxis] + halves * (1 + places)).ravel(), (halves * weights).ravel()
    values = sum(part.value(t) for part in parts) if parts else 0 * t
    degrees = np.arange(DEGREE + 1)
    if dimension == 2:
        result = np.array([(values * w * np.cos(k * t)).sum() for k in degrees]) * 2 / math.pi
        result[0] /= 2
        return result
    weighted = values * w * np.sin(t)
    return np.array([(k + 0.5) * (weighted * eval_legendre(k, np.cos(t))).sum() for k in degrees])


def judged(custom: Custom, parts: list[Part], constant: float, unit: float, dimension: int, call: str) -> Finding:
    """Compare multipliers, bounds and values with integrals of the parts."""
    domain = Circle() if dimension == 2 else Sphere(dimension)
    exact = integrated(parts, dimension)
    found = np.asarray(custom.multipliers(domain, DEGREE), dtype=float) / unit
    beyond = float(custom.tail_bound(domain, TOLD)) / unit
    largest = sum(part.largest for part in parts)
    numbers = np.array([1.0, *(domain.multiplicity(k) for k in range(1, DEGREE + 1))])
    # Rounding of the values, the angle being rounded too, and of the constant.
    rounding = EPS * (256 * largest + (4 * abs(constant) if custom.expression is None else 0)) * np.sqrt(numbers)
    wrong = (np.abs(found - exact) - rounding)[1:]
    worst = 1 + int(wrong.argmax())
    detail = f"w_{worst} = {found[worst]:.15g}, integral {exact[worst]:.15g} (units of {unit:g}, d = {dimension})"
    # What cancels within the function is in its accuracy, to the digit that is stated.
    cancelled = EPS * sum(part.cancelled for part in parts)
    if wrong.max() > 0:
        said = custom.accuracy * np.abs(exact[1:]).max() * 1.1
        stated = custom.reservation or custom.accuracy < 1e-10
        return Finding(Verdict.SAID if stated and wrong.max() <= said else Verdict.SILENT, call, detail)
    tail = np.abs(exact[TOLD + 1 :]).max()
    if tail > beyond * (1 + 1e-9) + rounding[-1]:
        return Finding(
            Verdict.SILENT, call, f"tail_bound({TOLD}) = {beyond:g}, but a multiplier of {tail:g} follows"
        )
    angles = np.pi * (np.arange(1, 30) * 0.6180339887498949 % 1)
    values = np.asarray(custom.values(angles)) / unit - sum(part.value(angles) for part in parts)
    # Beside a kink a constant hides what is of the size of its rounding times the ratio of a kink to its last coefficient.
    if np.ptp(values) > 1e-9 * largest + 256 * EPS * abs(constant) + 64 * cancelled:
        return Finding(Verdict.SILENT, call, f"values differ from the function by {np.ptp(values):g}")
    return Finding(Verdict.RIGHT, call, detail)


def mixture(rng: np.random.Generator) -> list[Part]:
    return [cosine(rng)] + [PARTS[i](rng) for i in rng.integers(0, len(PARTS), rng.integers(0, 4))]


def callables(rng: np.random.Generator) -> Finding:
    """A random mixture as a function of arrays or numbers, with constants, other units and odd parts."""
    parts = mixture(rng)
    constant = magnitude(rng, 0, 10) if rng.random() < 0.4 else 0.0
    unit = float(rng.choice([1e-200, 1.0, 1.0, 1.0, 1e200]))
    odd = magnitude(rng, -9, 0) if rng.random() < 0.15 else 0.0
    text = " + ".join(part.call for part in parts)
    text = f"{unit}*({constant} + {text}" + (f" + {odd}*sin({int(rng.integers(1, 4))}*t))" if odd else ")")
    call = f"Custom.from_callable(lambda t: {text})  # from numpy import *"
    names = {"abs": np.abs, "where": np.where, "maximum": np.maximum, "cos": np.cos, "sin": np.sin, "exp": np.exp}
    function = eval(f"lambda t: {text}", names)
    if rng.random() < 0.2:
        vectorised = function
        function = lambda t: float(vectorised(float(t)))  # noqa: E731
    dimension = int(rng.choice([2, 2, 2, 3]))
    try:
        custom = Custom.from_callable(function)
        if odd:
            size = np.abs(integrated(parts, 2)[1:]).max()
            cancelled = sum(part.cancelled for part in parts)
            told = abs(odd) > 1e-9 * size + 32 * EPS * (
                abs(constant) + cancelled + sum(part.largest for part in parts)
            )
            return Finding(Verdict.SILENT if told else Verdict.RIGHT, call, f"an odd part of {odd} was taken")
        return judged(custom, parts, constant, unit, dimension, call)
    except (InvalidInput, ComputationFailed) as error:
        refused = odd and "not even" in str(error)
        return Finding(Verdict.RIGHT if refused else Verdict.REFUSED, call, str(error))


def expressions(rng: np.random.Generator) -> Finding:
    """A random mixture as a formula with Max, Abs and Piecewise."""
    parts = mixture(rng)
    constant = magnitude(rng, 0, 14) if rng.random() < 0.4 else 0.0
    text = " + ".join([repr(constant)] * bool(constant) + [part.formula for part in parts])
    call = f"Custom.from_expression({text!r})"
    try:
        return judged(Custom.from_expression(text), parts, constant, 1.0, int(rng.choice([2, 2, 3])), call)
    except (InvalidInput, ComputationFailed) as error:
        return Finding(Verdict.REFUSED, call, str(error))


def term(rng: np.random.Generator, dimension: int) -> Potential:
    """A potential of the library."""
    series = tuple(number(rng, -1, 1) for _ in range(int(rng.integers(1, 6))))
    kinds: list[Callable[[], Potential]] = [
        Kuramoto,
        MaierSaupe,
        Onsager,
        lambda: Transformer(magnitude(rng, -1, 1)),
        lambda: Logarithmic(int(rng.choice([-1, 1]))),
        lambda: CosineSeries(coefficients=series),
        lambda: GegenbauerSeries(coefficients=series, dimension=dimension),
        lambda: Custom.from_coefficients(series, constant=1.0),
    ]
    if dimension <= 4:
        kinds += [
            lambda: HegselmannKrause(number(rng, 0.2, 3)),
            lambda: Custom.from_expression("-Max(1 - Abs(t), 0)"),
        ]
    return kinds[int(rng.integers(len(kinds)))]()


def sums(rng: np.random.Generator) -> Finding:
    """A random sum against the sums of its terms, and through its text and its description."""
    dimension = int(rng.choice([2, 2, 3, 4, 8]))
    domain = Circle() if dimension == 2 else Sphere(dimension)
    terms = [(magnitude(rng, -3, 3), term(rng, dimension)) for _ in range(int(rng.integers(1, 5)))]
    total: Any = sum(factor * potential for factor, potential in terms)
    mirrored: Any = 0
    for factor, potential in reversed(terms):
        mirrored = mirrored - potential * -factor
    call = repr(total)
    # Factors of one potential are added in the order given, which rounds.
    distinct = len(total.terms) == len(terms)
    if (distinct and (mirrored != total or hash(mirrored) != hash(total))) or eval(call) != total:
        return Finding(Verdict.SILENT, call, f"not equal to {mirrored!r} or to what its text gives")
    if potential_from(total.name, total.parameters()) != total or McKeanVlasov.from_dict(
        McKeanVlasov(domain, total).to_dict()
    ) != McKeanVlasov(domain, total):
        return Finding(Verdict.SILENT, call, "not what its description gives")
    rows = [np.longdouble(factor) * potential.multipliers(domain, 200) for factor, potential in terms]
    exact, sizes = np.sum(rows, axis=0), np.abs(rows).sum(axis=0)
    found = total.multipliers(domain, 200)[:101]
    if (np.abs(found - exact[:101]) > 8 * EPS * sizes[:101]).any():
        return Finding(Verdict.SILENT, call, "multipliers are not the sums")
    relative = total.extended_multipliers(domain, 200)[1:101] * total.scale(domain)
    if (np.abs(relative - exact[1:101]) > 16 * EPS * sizes[1:101]).any() or (
        np.abs(exact[101:]).max() > total.tail_bound(domain, 100) * (1 + 1e-12)
    ):
        return Finding(Verdict.SILENT, call, "relative multipliers or the tail bound are wrong")
    angles = rng.uniform(-6, 6, 20)
    for method in ("values", "slope"):
        parts = [factor * getattr(potential, method)(angles) for factor, potential in terms]
        if (np.abs(getattr(total, method)(angles) - sum(parts)) > 16 * EPS * np.abs(parts).sum(axis=0)).any():
            return Finding(Verdict.SILENT, call, f"{method} are not the sums")
    return critical(total, domain, exact, sizes, call)


def critical(total: Any, domain: Any, exact: Any, sizes: Any, call: str) -> Finding:
    """Compare the critical coupling with the least of those of 200 degrees."""
    numbers = np.array([domain.multiplicity(k) for k in range(1, exact.size)], dtype=float)
    attractive = np.where(-exact[1:] > 16 * EPS * sizes[1:], -exact[1:], 0) / numbers
    try:
        found = critical_coupling(McKeanVlasov(domain, total))
    except (InvalidInput, ComputationFailed) as error:
        return Finding(Verdict.REFUSED, call, str(error))
    expected = 1 / attractive.max() if attractive.max() > 0 else None
    error = EPS * float((sizes[1:] / numbers).max()) * 16
    if (found is None) != (expected is None) and attractive.max() > error:
        return Finding(Verdict.SILENT, call, f"critical coupling {found}, expected {expected}")
    if found is not None and expected is not None and abs(1 / found - attractive.max()) > error:
        return Finding(Verdict.SILENT, call, f"critical coupling {found}, expected {expected}")
    return Finding(Verdict.RIGHT, call)


LIES = ("none", "multiplier", "tail", "slope", "values", "scale", "period", "parity", "length", "hidden")


def lying(inner: Potential, lie: str, size: float, wrong: int, reference: float) -> type[Potential]:
    """A class around a potential of which one answer is wrong."""

    @dataclass(frozen=True)
    class Foreign(Potential):
        name = "foreign"
        formula = "W"

        def values(self, angle: Any) -> Any:
            angles = np.asarray(angle, dtype=float)
            extra = {
                "values": lambda: size * reference * np.cos(wrong * angles),
                "period": lambda: size * reference * np.cos(angles / 2),
                "parity": lambda: size * reference * np.sin(angles),
                "hidden": lambda: size * reference * np.cos(1500 * angles),
            }.get(lie, lambda: 0.0)
            return inner.values(angles) + extra()

        def slope(self, angle: Any) -> Any:
            return inner.slope(angle) * (1 + size if lie == "slope" else 1)

        def multipliers(self, domain: Any, degree: int) -> Any:
            result = np.array(inner.multipliers(domain, degree), dtype=float)
            if lie == "multiplier" and degree >= wrong:
                result[wrong] += size * reference
            if lie == "length" and degree >= 20:
                result[wrong % 4] += size * reference
            return result

        def tail_bound(self, domain: Any, degree: int) -> Any:
            bound = inner.tail_bound(domain, degree)
            return bound / (1 + size) / 1e3 if lie == "tail" and degree >= 4 else bound

        def scale(self, domain: Any) -> Any:
            return reference * (1 + size if lie == "scale" else 1)

        def parameters(self) -> dict[str, Any]:
            return {}

    return Foreign


def foreign(rng: np.random.Generator) -> Finding:
    """A potential of another package with one answer that contradicts the others, or none."""
    dimension = int(rng.choice([2, 3, 5]))
    domain = Circle() if dimension == 2 else Sphere(dimension)
    inner = term(rng, dimension)
    lie, size = str(rng.choice(LIES)), float(10 ** rng.uniform(-5, 0))
    wrong = int(rng.integers(1, 9))
    reference = float(inner.scale(domain))

    kind = lying(inner, lie, size, wrong, reference)
    call = f"a potential of another package around {inner!r} on {domain!r}, lie {lie} of {size:.1e} at {wrong}"
    true = {"none": True, "tail": float(np.abs(inner.multipliers(domain, 2000)[5:]).max()) == 0}.get(
        lie, reference == 0
    )
    # A slope without size has no relative error, and a bound a thousand times as large as needed still holds.
    loose = lie == "tail" and not true
    try:
        McKeanVlasov(domain, kind())
    except InvalidInput as error:
        return Finding(Verdict.SILENT if true else Verdict.RIGHT, call, str(error))
    if loose:
        bounds = [(float(kind().tail_bound(domain, n)), n) for n in (4, 8, 16, 64, 256)]
        tails = np.abs(inner.multipliers(domain, 2000))
        true = all(bound >= tails[n + 1 :].max() * (1 - 1e-8) for bound, n in bounds)
    return Finding(Verdict.RIGHT if true else Verdict.SILENT, call, "taken")


def containers(rng: np.random.Generator) -> Finding:
    """Coefficients in containers that have an order, or none."""
    w = [number(rng, -1, 1) for _ in range(int(rng.integers(1, 6)))]
    good: list[Any] = [
        w,
        tuple(w),
        np.array(w),
        (x for x in w),
        dict(enumerate(w)).values(),
        np.array(w)[:, None][:, 0],
    ]
    bad: list[Any] = [
        dict(enumerate(w, 1)),
        set(w),
        str(w),
        bytes(3),
        np.array([w]),
        dict(enumerate(w)).items(),
        w[0],
    ]
    admissible = rng.random() < 0.5
    container = good[int(rng.integers(len(good)))] if admissible else bad[int(rng.integers(len(bad)))]
    kind = [CosineSeries, GegenbauerSeries, Custom.from_coefficients][int(rng.integers(3))]
    call = f"{getattr(kind, '__name__', kind)}({container!r})"
    try:
        found = (
            kind(container).multipliers(Sphere(3) if kind is GegenbauerSeries else Circle(), len(w))[1:].tolist()
        )
    except InvalidInput as error:
        return Finding(Verdict.SILENT if admissible else Verdict.RIGHT, call, str(error))
    return Finding(Verdict.RIGHT if admissible and found == w else Verdict.SILENT, call, f"taken as {found}")


def variations(rng: np.random.Generator) -> Finding:
    """The second variation at a state of the O(n) model, a closed form of Bessel functions."""
    dimension = int(rng.choice([2, 2, 3, 4, 6, 12]))
    ratio = dimension * float(1.02 + 10 ** rng.uniform(-1, 1.3))
    noise, a = float(10 ** rng.uniform(-1, 1)), number(rng, 0.01, 1)
    x = ratio * kuramoto_order_parameter(ratio, dimension)
    degree = 40 + int(12 * math.sqrt(x))
    half = dimension / 2 - 1
    moments = ive(np.arange(degree + 1) + half, x) / ive(half, x)
    domain = Circle() if dimension == 2 else Sphere(dimension)
    call = f"second_variation of {Kuramoto()!r} on {domain!r} at {ratio!r}, noise {noise!r}, direction {a!r} P_1"
    with mp.workdps(40):
        mean = mp.gamma(half + 1) * (2 / mp.mpf(x)) ** half * mp.besseli(half, x)
        second = mp.besseli(half + 2, x) / mp.besseli(half, x)
        exact = float(a**2 * (dimension**2 * mean**2 * (1 + (dimension - 1) * second) / dimension - ratio)) * noise
    try:
        problem = McKeanVlasov(domain, Kuramoto(), noise=noise, coupling=noise * ratio)
        found = second_variation(problem, moments, None, [0.0, a])
    except (InvalidInput, ComputationFailed) as error:
        return Finding(Verdict.REFUSED, call, str(error))
    wrong = abs(found - exact) > 256 * EPS * (1 + x) * abs(exact) + 64 * EPS * noise * ratio * a**2
    return Finding(Verdict.SILENT if wrong else Verdict.RIGHT, call, f"{found!r}, closed form {exact!r}")


SUBJECTS: dict[str, Subject] = {
    "callables": callables,
    "expressions": expressions,
    "sums": sums,
    "foreign": foreign,
    "containers": containers,
    "variations": variations,
}
