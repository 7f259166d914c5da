"""Numbers that formulas and functions have by name: derivatives in them, diagrams over them, files and commands.

References are sympy's derivatives on a fine grid, the built-in potentials that some formulas are, and closed forms.
"""

import functools
import math
import pickle
import re

import numpy as np
import pytest
import sympy
from scipy.special import eval_legendre

from meanfield import (
    Circle,
    ComputationFailed,
    Custom,
    External,
    InvalidInput,
    McKeanVlasov,
    Sphere,
    Transformer,
    equation_from,
    open_curve,
    open_diagram,
    open_phase_diagram,
    open_sweep,
)
from meanfield.cli import main
from meanfield.command_line.potential_options import parameters_of
from meanfield.potentials.expressions import compiled, names_in
from meanfield.potentials.interpolation import LARGEST_ERROR
from meanfield.potentials.separated import separated
from solvers import bifurcation_diagram, curve, phase_diagram, stationary_states, sweep

EPS = float(np.finfo(float).eps)
RANDOM = np.random.default_rng(0)
SHARP = "-exp(b*cos(t))/b"
# I_2/I_1 = 1/2, to 20 digits.
TRICRITICAL = 2.44691831128904613
DEGREE, GRID = 24, 4096


def sharp(angle, b):
    return -np.exp(b * np.cos(angle)) / b


FORMULA, CALLABLE = Custom.from_expression(SHARP, b=3.0), Custom.from_callable(sharp, b=3.0)


@functools.cache
def diagram_over_number(potential):
    return bifurcation_diagram(
        McKeanVlasov(Circle(), potential, coupling=0.5), (2.0, 4.0), parameter="b", rates=False
    )


@functools.cache
def phases_over_number():
    """Return the phase diagram of the formula about its tricritical point."""
    return phase_diagram(McKeanVlasov(Circle(), FORMULA), ("b", (2.4, 2.5)), relative=(0.95, 1.05), sections=1)


def random_formula(random, depth, *, even):
    """Return a smooth formula in t, b and c, even in t if asked for."""
    if depth == 0:
        leaves = ["b", "c", f"{random.uniform(0.2, 2.0):.3f}", f"cos({random.integers(1, 4)}*t)"]
        return str(random.choice(leaves if even else [*leaves, "sin(t)", "t"]))
    one, other = (random_formula(random, depth - 1, even=even) for _ in range(2))
    kinds = ["({0} + {1})", "({0} - {1})", "({0}*{1})", "({0}/(2 + cos({1})))", "sin({0})", "exp(-({0})**2)"]
    kinds += ["atan({0})", "tanh({0})", "sqrt(1 + ({0})**2)", "(2 + sin({0}))**({1})", "log(2 + cos({0}))"]
    kinds += ["cosh(sin({0}))", "asin(sin({0})/2)", "acos(cos({0})/2)", "sinh(cos({0}))", "tan(sin({0})/2)"]
    return str(random.choice(kinds)).format(one, other)


@pytest.mark.parametrize("seed", range(40))
def test_derivatives_of_random_formulas_are_those_of_sympy(seed):
    random = np.random.default_rng(seed)
    text = random_formula(random, 3, even=True)
    numbers = {name: float(random.uniform(0.3, 1.5)) for name in "bc"}
    t, b, c = sympy.symbols("t b c")
    expression = sympy.sympify(text, locals={"t": t, "b": b, "c": c})
    given = {name: numbers[name] for name in sorted(names_in(text))}
    if t not in expression.free_symbols:
        text = f"cos(t) + {text}"
    potential = Custom.from_expression(text, **given)
    angles = 2.0 * np.pi * np.arange(GRID) / GRID
    for name in given:
        slope = sympy.lambdify((t, b, c), sympy.diff(expression, sympy.Symbol(name)), "numpy")
        values = np.broadcast_to(slope(angles, numbers["b"], numbers["c"]), angles.shape)
        expected = np.fft.rfft(values).real[: DEGREE + 1] * 2.0 / GRID
        expected[0] /= 2.0
        found = potential.multiplier_derivatives(name, Circle(), DEGREE)
        # Sympy's formula cancels where ours need not: its rounding is that of its largest value.
        np.testing.assert_allclose(found, expected, rtol=0, atol=4096 * EPS * (1.0 + np.abs(values).max()))


@pytest.mark.parametrize("seed", range(60))
def test_what_is_even_by_its_form_is_even(seed):
    random = np.random.default_rng([7, seed])
    text = random_formula(random, 3, even=bool(seed % 2))
    formula = compiled(text, dict.fromkeys(names_in(text), 0.7))
    angles = np.linspace(0.01, 3.1, 200).astype(np.longdouble)
    right, left = (formula.evaluate(sign * angles) for sign in (1, -1))
    apart = np.abs(right - left).max()
    assert not formula.even or apart <= 64 * np.finfo(np.longdouble).eps * (1 + np.abs(right).max())


def random_sum(random, depth):
    """Return a formula in t, b and c that is a sum of products of a factor of the numbers and one of the angle."""
    if depth == 0:
        angle = ["cos(t)", "cos(3*t)", "exp(cos(t))", "Abs(sin(t))", "Max(1 - Abs(t), 0)", "theta**2", "0.7", "pi"]
        return str(random.choice(["b", "c", "exp(-b)", "sqrt(b)/c", "2**c", *angle, *angle]))
    one, other = (random_sum(random, depth - 1) for _ in range(2))
    kinds = ["({0} + {1})", "({0} - {1})", "({0}*{1})", "({0})**2", "-({0})", "({0})/(1 + c**2)"]
    return str(random.choice([*kinds, "({0})/(2 + cos(t))", "({0})**3*cos(t)"])).format(one, other)


@pytest.mark.parametrize("domain", [Circle(), Sphere(3)], ids=repr)
@pytest.mark.parametrize("seed", range(30))
def test_sums_of_products_are_combined_to_what_the_formula_is(seed, domain):
    """Without its numbers' names a formula is evaluated as it stands."""
    random = np.random.default_rng([11, seed])
    text = f"cos(t) + b*cos(2*t) + {random_sum(random, 3)}"
    numbers = {name: float(random.uniform(0.3, 1.5)) for name in names_in(text)}
    combined = Custom.from_expression(text, **numbers)
    plain = Custom.from_expression(re.sub(r"\b[bc]\b", lambda name: f"({numbers[name[0]]!r})", text))
    largest = np.abs(plain.multipliers(domain, DEGREE)).max()
    allowed = 64 * EPS * largest * np.sqrt([domain.multiplicity(degree) for degree in range(DEGREE + 1)])
    assert np.all(np.abs(combined.multipliers(domain, DEGREE) - plain.multipliers(domain, DEGREE)) <= allowed)
    angles = np.linspace(-3.0, 3.0, 25)
    size = np.abs(plain.values(angles)).max()
    np.testing.assert_allclose(combined.values(angles), plain.values(angles), rtol=0, atol=1024 * EPS * size)
    steep = 1.0 + np.abs(plain.slope(angles)).max()
    np.testing.assert_allclose(combined.slope(angles), plain.slope(angles), rtol=0, atol=2**16 * EPS * steep)
    further = np.abs(plain.multipliers(domain, 8 * DEGREE)[DEGREE + 1 :]).max()
    assert combined.tail_bound(domain, DEGREE) >= further - allowed[-1]


def random_tilted_sum(random, depth):
    """Return a formula in t, b and c, on the circle and without symmetry, that is a sum of products."""
    if depth == 0:
        angle = ["cos(t)", "sin(2*t)", "cos(3*(t - 0.4))", "exp(sin(t + 1))", "sin(t)/(2 + cos(t))", "0.7"]
        return str(random.choice(["b", "c", "exp(-b)", "b/c", "2**c", *angle, *angle]))
    one, other = (random_tilted_sum(random, depth - 1) for _ in range(2))
    kinds = ["({0} + {1})", "({0} - {1})", "({0}*{1})", "({0})**2", "-({0})", "({0})/(1 + c**2)"]
    return str(random.choice(kinds)).format(one, other)


@pytest.mark.parametrize("seed", range(30))
def test_fields_without_symmetry_are_combined_to_what_the_formula_is(seed):
    """With their derivatives in the numbers; without its numbers' names a formula is evaluated as it stands."""
    random = np.random.default_rng([13, seed])
    text = f"sin(t) + b*cos(2*(t - 0.3)) + {random_tilted_sum(random, 3)}"
    numbers = {name: float(random.uniform(0.3, 1.5)) for name in names_in(text)}
    combined = External.from_expression(text, **numbers)
    plain = External.from_expression(re.sub(r"\b[bc]\b", lambda name: f"({numbers[name[0]]!r})", text))
    angles = 2.0 * np.pi * np.arange(GRID) / GRID
    largest = np.abs(plain.values(angles)).max()
    for kind in ("multipliers", "sine_multipliers"):
        found, expected = (getattr(each, kind)(Circle(), DEGREE) for each in (combined, plain))
        np.testing.assert_allclose(found, expected, rtol=0, atol=256 * EPS * largest)
    np.testing.assert_allclose(combined.values(angles), plain.values(angles), rtol=0, atol=1024 * EPS * largest)
    t, *symbols = sympy.symbols("t b c")
    expression = sympy.sympify(text, locals={"t": t, "b": symbols[0], "c": symbols[1]})
    for name in numbers:
        slope = sympy.lambdify((t, *symbols), sympy.diff(expression, sympy.Symbol(name)), "numpy")
        values = np.broadcast_to(slope(angles, *(numbers.get(each, 1.0) for each in "bc")), angles.shape)
        series = np.fft.rfft(values)[: DEGREE + 1] * 2.0 / GRID
        series[0] /= 2.0
        found = combined.multiplier_derivatives(name, Circle(), DEGREE)
        sines = combined.sine_multiplier_derivatives(name, Circle(), DEGREE)
        np.testing.assert_allclose(
            found - 1j * sines, series, rtol=0, atol=4096 * EPS * (1.0 + np.abs(values).max())
        )


def test_a_field_whose_terms_jump_or_vanish_alone_is_evaluated_as_it_stands():
    """The angle t alone jumps at pi."""
    angles = np.linspace(-3.0, 3.0, 25)
    tilted = External.from_expression("b*t + c*sin(t) - b*t", b=0.5, c=0.25)
    np.testing.assert_allclose(tilted.values(angles), 0.25 * np.sin(angles), rtol=0, atol=64 * EPS)
    field = External.from_expression("b*sin(t) + cos(t)", b=0.5)
    assert not field.even
    assert field.with_parameter("b", 0.0).even
    assert field.with_parameter("b", 0.0).sine_multiplier_derivatives("b", Circle(), 2).tolist() == [0.0, 1.0, 0.0]


def test_what_is_combined():
    assert separated("-a*cos(t) + (1 + a)*cos(2*t)/a", frozenset("a")) == (
        ("(-a)", "(cos(t))"),
        ("((1 + a) / a)", "(cos(2 * t))"),
    )
    assert separated("(cos(t) - a)**2 + cos(t)**2", frozenset("a"))[-1] == ("1", "(cos(t) ** 2)")
    assert separated("-exp(a*cos(t))", frozenset("a")) == separated("cos(t)/(a + cos(t))", frozenset("a")) == ()


def test_terms_that_cancel_are_evaluated_as_they_stand():
    """In longdouble: the sum of the float64 coefficients of the terms would round the difference more."""
    potential = Custom.from_expression("b*exp(cos(t)) - c*exp(cos(t) + 1e-9*cos(2*t))", b=1e9 / 3, c=1e9 / 3)
    angles = 2.0 * np.pi * np.arange(GRID) / GRID
    values = -1e9 / 3 * np.exp(np.cos(angles)) * np.expm1(1e-9 * np.cos(2 * angles))
    expected = np.fft.rfft(values).real[1 : DEGREE + 1] * 2.0 / GRID
    rounding = 8 * float(np.finfo(np.longdouble).eps) * 1e9
    assert 64 * rounding < EPS * 1e9
    np.testing.assert_allclose(potential.multipliers(Circle(), DEGREE)[1:], expected, rtol=0, atol=rounding)


@pytest.mark.parametrize(
    ("text", "even"),
    [
        ("cos(t)", True), ("sin(t)*t", True), ("sin(t)**2", True), ("t**3*sin(t)", True), ("Abs(sin(t))", True),
        ("Max(1 - Abs(t), 0)", True), ("Piecewise((1 - t**2, Abs(t) < 1), (0, True))", True),
        ("Piecewise((1 - t**2, t < 1), (0, True))", False), ("sin(t)", False), ("exp(t)", False),
        ("cos(t) + sin(t)", False), ("t**0.5", False), ("cos(t + 1)", False), ("acos(cos(t))", True),
        ("Heaviside(t)", False), ("sign(t)*t", True), ("Max(t, -t)", False), ("2**t", False),
    ],
)  # fmt: skip
def test_the_form_tells_what_is_even(text, even):
    assert compiled(text).even is even


@pytest.mark.parametrize("domain", [Circle(), Sphere(3), Sphere(7)], ids=repr)
@pytest.mark.parametrize(
    "potential",
    [
        Custom.from_expression(SHARP, b=3.0),
        Custom.from_sympy(-sympy.exp(sympy.Symbol("b") * sympy.cos(sympy.Symbol("x"))) / sympy.Symbol("b"), b=3.0),
        Custom.from_callable(sharp, b=3.0),
    ],
    ids=["formula", "sympy", "callable"],
)
def test_the_transformer_as_a_formula_has_its_derivatives(potential, domain):
    beta = Transformer(beta=3.0)
    expected = beta.multiplier_derivatives("beta", domain, DEGREE)
    found = potential.multiplier_derivatives("b", domain, DEGREE)
    multiplicities = [domain.multiplicity(degree) for degree in range(DEGREE + 1)]
    assert np.all(np.abs(found - expected) <= 64 * EPS * math.exp(3.0) * np.sqrt(multiplicities))


@pytest.mark.parametrize("text", ["-Max(r - Abs(t), 0)", "-Piecewise((r - Abs(t), Abs(t) < r), (0, True))"])
@pytest.mark.parametrize("domain", [Circle(), Sphere(3)], ids=str)
def test_a_derivative_that_jumps_is_exact(text, domain):
    """That of Max(r - |t|, 0) in r is the indicator of |t| < r."""
    radius, degrees = 1.2, np.arange(1, DEGREE + 1)
    found = Custom.from_expression(text, r=radius).multiplier_derivatives("r", domain, DEGREE)[1:]
    expected = -2.0 / np.pi * np.sin(degrees * radius) / degrees
    if domain != Circle():
        before, after = (eval_legendre(degrees + side, np.cos(radius)) for side in (-1, 1))
        expected = -0.5 * (before - after)
    np.testing.assert_allclose(found, expected, rtol=0, atol=16 * EPS)


def test_a_callable_without_complex_numbers_is_interpolated():
    def plain(angle, b):
        return -math.exp(b * math.cos(angle)) / b

    found = Custom.from_callable(plain, b=3.0).multiplier_derivatives("b", Circle(), 8)
    expected = Transformer(beta=3.0).multiplier_derivatives("beta", Circle(), 8)
    np.testing.assert_allclose(found, expected, rtol=0, atol=LARGEST_ERROR * np.abs(expected).max())


def test_a_callable_that_is_not_analytic_is_interpolated():
    def kinked(angle, b):
        return -np.abs(b) * np.cos(angle)

    found = Custom.from_callable(kinked, b=-2.0).multiplier_derivatives("b", Circle(), 2)
    np.testing.assert_allclose(found, [0.0, 1.0, 0.0], rtol=0, atol=LARGEST_ERROR)


def test_an_external_potential_has_derivatives_of_cosines_and_sines():
    field = External.from_expression("a*cos(t) + exp(a*sin(t))", a=0.4)
    angles = 2.0 * np.pi * np.arange(GRID) / GRID
    expected = (
        np.fft.rfft(np.cos(angles) + np.sin(angles) * np.exp(0.4 * np.sin(angles)))[: DEGREE + 1] * 2.0 / GRID
    )
    expected[0] /= 2.0
    cosines = field.multiplier_derivatives("a", Circle(), DEGREE)
    sines = field.sine_multiplier_derivatives("a", Circle(), DEGREE)
    assert np.abs(cosines - 1j * sines - expected).max() <= 64 * EPS


def test_numbers_belong_to_what_is_equal_pickled_and_written():
    potential = Custom.from_expression("c - b*cos(t)", b=2, c=1.0)
    assert potential.parameter_values() == {"b": 2.0, "c": 1.0}
    assert potential != potential.with_parameter("b", 2.5)
    assert potential == Custom.from_expression("c - b*cos(t)", c=1.0, b=2.0)
    assert pickle.loads(pickle.dumps(potential)) == potential
    problem = McKeanVlasov(Circle(), potential, confinement=External.from_expression("a*sin(t)", a=0.1))
    assert equation_from(problem.to_dict()) == problem
    assert problem.parameters["confinement_a"] == 0.1
    # A name that the problem has already stands behind the role.
    assert (
        "potential_noise" in McKeanVlasov(Circle(), Custom.from_expression("-noise*cos(t)", noise=2.0)).parameters
    )


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: Custom.from_expression(SHARP), "the name 'b' is unknown in an expression.*given by name"),
        (lambda: Custom.from_expression("-cos(t)", b=1.0), "has no b, for which a number is given"),
        (lambda: Custom.from_expression(SHARP, b="3"), "b must be a finite number, not '3'"),
        (lambda: Custom.from_expression(SHARP, b=math.inf), "b must be a finite number, not inf"),
        (lambda: Custom.from_expression("-theta1*cos(t)", theta=1.0), "the name 'theta' has a meaning in formulas"),
        (lambda: Custom(expression="-b*cos(t)", given={"b c": 1.0}), "needs one of letters, digits and _"),
        (lambda: Custom(expression="-b*cos(t)", given=3.0), "given must be a mapping of names to numbers"),
        (lambda: Custom(coefficients=(-1.0,), given={"b": 1.0}), "goes with an expression or a function only"),
        (lambda: External(cosine=(1.0,), given={"b": 1.0}), "goes with an expression only"),
        (lambda: Custom.from_callable(sharp), "is called with the angle, and that fails: missing .*'b'"),
        (lambda: Custom.from_callable(np.cos, b=1.0).values(0.0), "b|keyword"),
        (
            lambda: Custom.from_expression(SHARP, b=1.0).with_parameter("beta", 2.0),
            "no continuous parameter 'beta'",
        ),
        (
            lambda: FORMULA.with_parameter("b", 0.0),
            r"-exp\(b\*cos\(t\)\)/b with b = 0 is -inf at t = 0; .*be finite",
        ),
        (lambda: CALLABLE.with_parameter("b", 0.0), "callable sharp with b = 0 is -inf at t = 0"),
        (lambda: CALLABLE.with_parameter("b", 1e-15), "with b = 1e-15 are known to .* of its largest multiplier"),
        (lambda: Custom.from_callable(lambda t, b: math.cos(t) / b, b=0.0), "with b = 0 raised ZeroDivisionError"),
        (
            lambda: External.from_expression("a*sin(t)/c", a=1.0, c=0.0),
            "with a = 1 and c = 0 is (nan|-?inf) at t = ",
        ),
        (lambda: Custom.from_sympy(sympy.Symbol("x") * sympy.Symbol("y")), "give the others by name"),
    ],
)
def test_nonsense_is_refused_in_a_sentence(make, sentence):
    with pytest.raises((InvalidInput, ComputationFailed), match=sentence):
        make()


@pytest.mark.parametrize("potential", [FORMULA, CALLABLE], ids=["formula", "callable"])
def test_a_diagram_over_a_number_is_that_over_beta(potential):
    found = diagram_over_number(potential)
    known = bifurcation_diagram(
        McKeanVlasov(Circle(), Transformer(beta=3.0), coupling=0.5), (2.0, 4.0), parameter="beta", rates=False
    )
    assert [event.type for event in found.events()] == [event.type for event in known.events()]
    for event, other in zip(found.events(), known.events(), strict=True):
        assert event.parameter_value == pytest.approx(other.parameter_value, rel=1e-11)


def test_a_fold_curve_and_a_first_order_line_over_a_number_have_the_slopes_over_beta():
    problems = [
        McKeanVlasov(Circle(), each) for each in (Custom.from_expression(SHARP, b=5.0), Transformer(beta=5.0))
    ]
    for kind in ("fold", "transition"):
        pair = []
        for problem, name in zip(problems, ("b", "beta"), strict=True):
            start = bifurcation_diagram(problem, relative=(0.8, 1.2), rates=False, depth=1).events(kind)[0]
            pair.append(curve(start, name, (4.5, 5.5)))
        mine, known = pair
        for place in (0, -1):
            assert mine.values[place] == pytest.approx(known.values[place], rel=1e-11)
            assert mine.slope[place] == pytest.approx(known.slope[place], rel=1e-9)


def test_a_phase_diagram_over_a_number_has_the_tricritical_point():
    diagram = phases_over_number()
    (point,) = diagram.events("tricritical")
    assert point.values[0] == pytest.approx(TRICRITICAL, rel=1e-12)
    assert {curve.type for curve in diagram.curves} == {"threshold", "fold", "transition"}
    assert all(region.agrees for region in diagram.regions)
    assert not diagram.warnings


def test_a_derivative_with_a_kink_is_exact():
    """That of -Max(r - |t|, 0)^2/2 in r is -Max(r - |t|, 0)."""
    radius, degrees = 1.2, np.arange(1, DEGREE + 1)
    potential = Custom.from_expression("-Max(r - Abs(t), 0)**2/2", r=radius)
    found = potential.multiplier_derivatives("r", Circle(), DEGREE)[1:]
    expected = -2.0 / np.pi * (1.0 - np.cos(degrees * radius)) / degrees**2
    assert np.abs(found - expected).max() <= 16 * EPS


def test_files_keep_formulas(tmp_path):
    diagram, phases = diagram_over_number(FORMULA), phases_over_number()
    again = open_diagram(diagram.save(tmp_path / "diagram.nc")[0])
    assert again == diagram
    assert np.array_equal(again.state(1, 3).cosine, diagram.state(1, 3).cosine)
    window = open_phase_diagram(phases.save(tmp_path / "phases.json")[0])
    assert window == phases
    (point,) = window.events("tricritical")
    assert point.problem.parameters["b"] == pytest.approx(TRICRITICAL, rel=1e-12)


def test_files_keep_the_multipliers_of_functions(tmp_path):
    diagram = diagram_over_number(CALLABLE)
    again = open_diagram(diagram.save(tmp_path / "diagram.nc")[0])
    assert again.problem.parameters == diagram.problem.parameters
    state = again.state(1, 3)
    assert np.array_equal(state.cosine, diagram.state(1, 3).cosine)
    # At the number of the problem the multipliers are there.
    assert stationary_states(again.problem, rates=False)[0].unstable == 0
    with pytest.raises(InvalidInput, match="make the problem again with Custom"):
        stationary_states(state.problem)
    start = bifurcation_diagram(McKeanVlasov(Circle(), CALLABLE), relative=(0.95, 1.05), rates=False, depth=1)
    folds = curve(start.events("fold")[0], "b", (2.9, 3.0))
    kept = open_curve(folds.save(tmp_path / "folds.json")[0])
    assert kept.point(0).problem.parameters["b"] == folds.first[0]
    known = curve(fold_of_the_transformer(), "beta", (2.9, 3.0))
    assert kept.values[[0, -1]] == pytest.approx(known.values[[0, -1]], rel=1e-11)


def fold_of_the_transformer():
    problem = McKeanVlasov(Circle(), Transformer(beta=3.0))
    return bifurcation_diagram(problem, relative=(0.95, 1.05), rates=False, depth=1).events("fold")[0]


def run(*arguments):
    return main([str(argument) for argument in arguments])


def test_the_command_line_gives_numbers_by_name(tmp_path, capsys):
    target = tmp_path / "diagram.json"
    code = run("bifurcation", "custom", "--expression", SHARP, "--given", "b=5", "--relative", 0.8, 1.2, "--no-rates",
               "--to", target)  # fmt: skip
    assert code == 0
    assert "custom (expression = -exp(b*cos(t))/b, b = 5)" in capsys.readouterr().out
    fold = open_diagram(target).events("fold")[0]
    # Theory: 30 digits.
    assert fold.relative_coupling == pytest.approx(0.89701509340337279, rel=1e-12)


def test_what_has_a_range_need_not_be_given(tmp_path):
    target = tmp_path / "diagram.json"
    code = run("bifurcation", "kuramoto", "--confinement", "-a*cos(2*t) + c*cos(4*t)", "--given", "c=0.05",
               "--over", "confinement_a", 0.2, 0.3, "--coupling", 3, "--no-rates", "--to", target)  # fmt: skip
    assert code == 0
    assert open_diagram(target).parameter == "confinement_a"


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("--expression", SHARP), "the name 'b' is unknown"),
        (("--expression", SHARP, "--given", "b"), "--given takes names and numbers, NAME=X, not 'b'"),
        (("--expression", SHARP, "--given", "b=x"), "--given takes names and numbers"),
        (("--expression", SHARP, "--given", "b=3", "c=2"), "there is no c in '-exp"),
        (("--coefficients", "-1", "--given", "b=3"), "there is no b: there is no formula"),
    ],
)
def test_nonsense_on_the_command_line(arguments, sentence, capsys):
    assert run("bifurcation", "custom", *arguments, "--relative", 0.8, 1.2) != 0
    assert sentence in capsys.readouterr().err


@pytest.mark.parametrize(
    "name", ["m1", "type", "point", "lower", "status", "residual", "curve_label", "relative_coupling"]
)
def test_a_number_with_the_name_of_a_column_has_one_of_its_own(name, tmp_path):
    potential = Custom.from_expression(f"-{name}*cos(t) - 0.9*cos(2*t)", **{name: 1.0})
    found = phase_diagram(
        McKeanVlasov(Circle(), potential), (name, (0.8, 1.2)), coupling=(1.5, 2.5), sections=1, examine=False
    )
    column = f"parameter_{name}"
    rows, points = list(found.curve_rows()), list(found.special_rows())
    assert [row[column] for row in rows] == [float(value) for each in found.curves for value in each.first]
    assert {row["type"] for row in rows} == {each.type for each in found.curves}
    assert [row[column] for row in points] == [float(point.values[0]) for point in found.special_points]
    assert [row["status"] for row in points] == [point.status for point in found.special_points]
    (found.curves[0]).to_csv(tmp_path / "curve.csv")
    header, first = (tmp_path / "curve.csv").read_text().splitlines()[:2]
    assert float(first.split(",")[header.split(",").index(column)]) == found.curves[0].first[0]


@pytest.mark.parametrize("name", ["status", "m1", "type", "special_point", "branches"])
def test_sweeps_over_a_number_with_the_name_of_a_column_have_both(name, tmp_path):
    potential = Custom.from_expression(f"-{name}*cos(t) - 0.3*cos(2*t)", **{name: 1.0})
    found = sweep(McKeanVlasov(Circle(), potential), {name: [0.8, 1.2]}, "diagram", {"rates": False})
    assert [row.get(f"parameter_{name}", row.get(name)) for row in found.rows()] == [0.8, 1.2]
    assert [row["status"] for row in found.rows()] == ["complete", "complete"]
    rows = list(found.table_rows("special_point"))
    assert {row.get(f"parameter_{name}", row.get(name)) for row in rows} == {0.8, 1.2}
    assert {row["type"] for row in rows} >= {"branch point"}
    found.save(tmp_path / "sweep.nc")
    assert open_sweep(tmp_path / "sweep.nc") == found
    found.save(tmp_path / "sweep.csv")


def test_options_are_what_files_describe_a_formula_by():
    """What the library keeps beside, as the number in which multipliers are interpolated, is no option."""
    described = Custom.from_expression("-cos(t)").parameters() | Custom.from_coefficients((-1.0,)).parameters()
    assert {each.field for each in parameters_of(Custom)} == set(described)
