r"""The user's own potential: from a function, a formula, a sympy expression or coefficients.

A function whose cosine coefficients decay to rounding is kept as these (:mod:`meanfield.potentials.cosines`), any
other as polynomials on pieces (:mod:`meanfield.potentials.pieces`): functions with kinks or narrow features.
"""

import dataclasses
import functools
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, TypeAlias

import numpy as np
import numpy.typing as npt

from ..arguments import methods_checked, shown
from ..domains import Circle, Domain
from ..errors import InvalidInput, MeanfieldError
from .arrays import Array, Number
from .cosines import cosine_coefficients
from .expressions import Formula, compiled, require_text
from .finite import Cosines
from .given import Numbers, at_numbers, complex_step, given_numbers, passing, require_given
from .parametric import exchanged, numbered
from .pieces import Pieces, pieces_from
from .protocol import Potential
from .sampling import (
    PI,
    Sampled,
    UserFunction,
    formula_values,
    name_of,
    roughness,
    sampled,
)
from .separated import Combination, factors_of, separated
from .series import as_number, checked_coefficients, require_source
from .splitting import Rough, split, zeros_of

# Error of a multiplier over the largest beyond which a function is refused, and from which the error is stated.
_LARGEST_ERROR, _STATED_ERROR = 1e-3, 1e-10
# Shapes of formulas that are kept: a curve over one of their numbers asks for the same ones in several places. Each
# has a quarter of a megabyte of probes.
FORMULAS = 128

Shape: TypeAlias = Cosines | Pieces | Combination


@methods_checked
@dataclass(frozen=True)
class Custom(Potential):
    """A potential of one's own; use the ``from_...`` constructors in programs.

    Exactly one of expression, coefficients, function and pieces is given.

    Parameters
    ----------
    expression
        A formula in t, such as ``"-cos(t) - 0.9*cos(2*t)"`` or ``"-Max(1 - Abs(t), 0)"``; only a fixed list of
        names is admitted, and those of ``given``. Kinks of Abs, Max, Min, Piecewise and the like are found where
        their arguments say.
    coefficients
        (w_1, w_2, ...), finite numbers.
    constant
        w_0, with coefficients only.
    source
        Where coefficients came from, for the record.
    function
        A callable of the angle in [-pi, pi], even; vectorised or scalar. It is continued periodically, which at pi
        may leave a kink.
    breakpoints
        Angles in (0, pi) at which the function may have kinks, with a function only. They are found without; given,
        they save evaluations, and what is narrow between them is seen.
    pieces
        The description of a function by polynomials on pieces, as ``parameters`` gives it.
    given
        Numbers by name that the formula has, as in ``"-exp(b*cos(t))/b"``, or that the function takes besides the
        angle, as arguments of these names: the continuous parameters of the potential.

    Raises
    ------
    InvalidInput
        If the function is not even, not finite, jumps or is rough, or if the formula contains anything not
        admitted; for the multipliers of a function with kinks on a sphere of dimension 5 or more.
    ComputationFailed
        If the function itself raises; the message names the angle, the cause is chained.

    Notes
    -----
    A function is evaluated at 8192 angles, one in each of as many equal parts of [0, pi], at their negatives and
    where its shape asks for more. Features wider than 0.0008 are found; narrower ones may be missed, unless
    breakpoints or the arguments of Abs, Max and the like indicate them.

    Constants carry no information: they are subtracted first, and left out of formulas before anything is rounded.
    Multipliers of a function have an absolute error near eps max|W - mean| (formulas are evaluated in extended
    precision where the machine has it), on spheres near sqrt(N_l) times that, where they are refused if this
    exceeds 1e-8 of the largest. Where a large constant, or single precision, has rounded the function itself,
    `accuracy` says so, ``source`` too from 1e-10 on, and beyond 1e-3 it is refused. Coefficients below their error
    are set to exactly 0, so that rounding noise makes no spurious critical couplings. Give coefficients where
    relative accuracy of tiny modes matters. Two customs are equal when their formula, their coefficients, their
    pieces or their function object are, and the numbers given.

    The derivatives of the multipliers in a number of a formula are those of the formula differentiated, to
    rounding, also where that jumps at kinks, as that of ``Max(b - Abs(t), 0)`` in b; in one of a function that
    takes no complex numbers, extrapolated differences with an estimate of their error, see
    ``multiplier_derivatives``. Files keep a function as its multipliers at the numbers given; with others it must
    be given again.

    Examples
    --------
    >>> from meanfield.domains import Circle
    >>> Custom.from_expression("-cos(t) - 0.9*cos(2*t)").multipliers(Circle(), 3).tolist()
    [0.0, -1.0, -0.9, 0.0]

    >>> sharp = Custom.from_expression("-exp(b*cos(t))/b", b=3.0)
    >>> sharp.parameter_values(), sharp.with_parameter("b", 4.0).formula
    ({'b': 3.0}, '-exp(b*cos(t))/b')
    """

    expression: str | None = None
    coefficients: tuple[float, ...] | None = None
    constant: float = 0.0
    source: str | None = None
    function: Callable[[Any], Any] | None = dataclasses.field(default=None, repr=False)
    breakpoints: tuple[float, ...] = ()
    pieces: Mapping[str, Any] | None = dataclasses.field(default=None, repr=False, hash=False)
    given: Numbers = ()
    name: ClassVar[str] = "custom"

    def __post_init__(self) -> None:
        require_source(self.source)
        kinds = [what is not None for what in (self.expression, self.coefficients, self.function, self.pieces)]
        object.__setattr__(self, "given", tuple(given_numbers(self.given).items()))
        if sum(kinds) != 1 and not self._left_behind:
            raise InvalidInput(
                "a custom potential takes exactly one of expression, coefficients and function, "
                f'{sum(kinds)} were given; try expression="-cos(t) - 0.9*cos(2*t)"'
            )
        if self.given and self.expression is None and self.function is None and self.source is None:
            raise InvalidInput(
                f"given = {dict(self.given)} goes with an expression or a function only; coefficients are "
                "parameters themselves"
            )
        if self.expression is not None:
            require_text(self.expression)
            object.__setattr__(self, "expression", self.expression.strip())
        if self.coefficients is not None:
            example = "coefficients=(-1.0, -0.9)"
            checked = checked_coefficients(self.coefficients, "coefficients", example)
            object.__setattr__(self, "coefficients", checked)
        object.__setattr__(self, "constant", as_number(self.constant, "constant", "a finite number"))
        if self.coefficients is None and self.constant:
            raise InvalidInput(f"constant = {self.constant!r} goes with coefficients only; add it to the function")
        object.__setattr__(self, "breakpoints", _checked_breakpoints(self.breakpoints, self.function))
        if self._accuracy > _LARGEST_ERROR:
            raise InvalidInput(
                f"the values of {at_numbers(self.formula, self.given)} are known to {self._accuracy:.0e} of its "
                "largest multiplier only; a large constant, terms that cancel or single precision have rounded the "
                "rest: leave the constant out"
            )
        if self.source is not None and self.function is not None:
            object.__setattr__(self, "source", self.source.removesuffix(self.reservation) + self.reservation)

    def __getstate__(self) -> dict[str, Any]:
        """Return the arguments for a pickle; what was computed from them is computed again in another process."""
        return {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}

    @classmethod
    def from_callable(
        cls, function: Callable[..., Any], breakpoints: Sequence[float] = (), **given: float
    ) -> "Custom":
        """Return the potential of an even function of the angle; it may have kinks, at breakpoints or elsewhere.

        Numbers given by name are passed on, as ``b`` to ``lambda t, b: -np.exp(b * np.cos(t))`` by ``b=3.0``.
        """
        if not callable(function):
            raise InvalidInput(
                f"from_callable needs a function of the angle, not {shown(function)}; try lambda t: -np.cos(t)"
            )
        require_given(function, given)
        return cls(
            function=function,
            source=f"callable {name_of(function)}",
            breakpoints=breakpoints,  # type: ignore[arg-type]
            given=given,
        )

    @classmethod
    def from_expression(cls, expression: str, **given: float) -> "Custom":
        """Return the potential of a formula in t and of numbers given by name, as in ``-b*cos(t)``, ``b=2.0``."""
        return cls(expression=expression, given=given)

    @classmethod
    def from_sympy(cls, expression: Any, **given: float) -> "Custom":
        """Return the potential of a sympy expression in one real symbol of any name, and in those given by name."""
        from .symbolic import expression_text

        return cls(expression=expression_text(expression, given), given=given)

    @classmethod
    def from_coefficients(cls, coefficients: Sequence[float], constant: float = 0.0) -> "Custom":
        """Return the potential of cosine coefficients (w_1, w_2, ...) and a constant w_0."""
        return cls(coefficients=coefficients, constant=constant)  # type: ignore[arg-type]

    @property
    def formula(self) -> str:  # type: ignore[override]
        """The formula, or where the coefficients came from."""
        return self.expression or self.source or "sum_k w_k cos kt"

    @property
    def series(self) -> npt.NDArray[np.float64]:
        """The coefficients w_0, ..., w_K up to the last nonzero one (read-only).

        Raises
        ------
        InvalidInput
            If there are infinitely many, the function having kinks or narrow features.
        """
        series = None if isinstance(self._shape, Pieces) else self._shape.series
        if series is None:
            raise InvalidInput(f"{self.formula} is no finite sum of cosines; ask for multipliers(domain, degree)")
        return series

    @property
    def accuracy(self) -> float:
        """Bound of the errors of the multipliers on the circle over the largest, eps for coefficients."""
        return self._accuracy

    @property
    def reservation(self) -> str:
        """Accuracy of the multipliers in words; empty if it is 1e-10 of the largest or better."""
        return f", known to {self.accuracy:.0e} of its largest multiplier" if self.accuracy > _STATED_ERROR else ""

    def values(self, angle: npt.ArrayLike) -> Array:
        """Return the potential at the angles, to rounding level the function itself."""
        return self._shape.values(angle)

    def slope(self, angle: npt.ArrayLike) -> Array:
        """Return the derivative at the angles."""
        return self._shape.slope(angle)

    def multipliers(self, domain: Domain, degree: int) -> Array:
        """Return w_0, ..., w_degree."""
        return self._shape.multipliers(domain, int(degree))

    def tail_bound(self, domain: Domain, degree: int) -> Number:
        """Return a bound of the multipliers beyond a degree."""
        return self._shape.tail_bound(domain, int(degree))

    def parameter_values(self) -> dict[str, float]:
        """Return the numbers given by name, or given coefficients as w1, w2, ..., without the constant."""
        return dict(self.given) or numbered("w", self.coefficients or ())

    def with_parameter(self, name: str, value: float) -> "Custom":
        """Return the potential with one number or one coefficient changed."""
        self._require_parameter(name)
        number = as_number(value, name, "a finite number")
        if not self.given:
            changed = exchanged({"w": self.coefficients}, name, number)["w"]
            return dataclasses.replace(self, coefficients=tuple(changed))
        given = {**dict(self.given), name: number}
        if self.expression is not None or self.function is not None:
            return dataclasses.replace(self, given=given)
        # Of a function that a file has left behind, the numbers are known and the values are not.
        return self if given == dict(self.given) else Custom(source=self.source, given=given)

    def multiplier_derivatives(self, name: str, domain: Domain, degree: int) -> Array:
        """Return the derivatives in a coefficient, the multipliers of its cosine, or in a number given by name.

        That of a formula is differentiated as such; see :meth:`Potential.multiplier_derivatives` for others.
        """
        self._require_parameter(name)
        if not self.given:
            alone = np.array([0.0, *(float(other == name) for other in self.parameter_names())])
            return Cosines(alone).multipliers(domain, int(degree))
        if self.expression is not None:
            shape = _differentiated(self.expression, self.given, name)
        else:
            known = self.function is not None and isinstance(self.function, Hashable)
            shape = _stepped(self.function, self.given, name) if known else None
        if shape is None:
            return super().multiplier_derivatives(name, domain, int(degree))
        return shape.multipliers(domain, int(degree))

    def parameters(self) -> dict[str, Any]:
        """Return the constructor arguments; a callable is represented by its coefficients or pieces."""
        given = {"given": dict(self.given)} if self.given else {}
        if self.expression is not None:
            return {"expression": self.expression} | given
        if self._left_behind:
            return {"source": self.source} | given
        parameters: dict[str, Any] = (
            {"pieces": self._shape.described()}
            if isinstance(self._shape, Pieces)
            else {"coefficients": self.series[1:].tolist() or [0.0]}
        )
        if not isinstance(self._shape, Pieces) and self.series[0]:
            parameters["constant"] = float(self.series[0])
        if self.source:
            parameters["source"] = self.source
        return parameters | given

    @property
    def _left_behind(self) -> bool:
        """Whether this is a function of a file, at other numbers than those for which the file has multipliers."""
        shapes = (self.expression, self.coefficients, self.function, self.pieces)
        return bool(self.given) and self.source is not None and all(shape is None for shape in shapes)

    @functools.cached_property
    def _accuracy(self) -> float:
        if self.coefficients is not None or self._left_behind:
            return float(np.finfo(float).eps)
        largest = float(np.abs(self._shape.multipliers(Circle(), 64)[1:]).max())
        # An error of root mean square e has coefficients of at most e times the root of 2.
        return 2**0.5 * self._shape.error / largest if largest > 0 else 0.0

    @functools.cached_property
    def _shape(self) -> Shape:
        if self.coefficients is not None:
            return Cosines(np.array([self.constant, *self.coefficients]))
        if self.pieces is not None:
            return pieces_from(self.pieces)
        if self.expression is not None:
            return _of_formula(self.expression, self.given)
        if self.function is None:
            numbers = ", ".join([f"{name}={value!r}" for name, value in dict(self.given).items()])
            raise InvalidInput(
                f"files keep the multipliers of the {self.source} at the numbers of the problem alone, and not the "
                f"function; make the problem again with Custom.from_callable(function, {numbers})"
            )
        kept = _of_callable if isinstance(self.function, Hashable) else _of_callable.__wrapped__
        return kept(self.function, self.given, self.breakpoints)


@functools.lru_cache(maxsize=FORMULAS)
def _of_formula(expression: str, given: tuple[tuple[str, float], ...]) -> Shape:
    """Return the function of a formula."""
    formula = compiled(expression, dict(given))
    return _combined(expression, given) or _as_it_stands(formula, at_numbers(expression, given))


@functools.lru_cache(maxsize=FORMULAS)
def _differentiated(expression: str, given: tuple[tuple[str, float], ...], name: str) -> Shape | None:
    """Return the derivative of a formula in a number given by name, or None if it is not finite between kinks.

    It may jump at those of the formula: only its integrals are asked for.
    """
    if combined := _combined(expression, given, name):
        return combined
    breakpoints = zeros_of(compiled(expression, dict(given)).switches)
    formula = compiled(expression, dict(given), name)
    label = f"the derivative of {expression} in {name}"
    try:
        function = sampled(formula_values(formula), label, breakpoints, even=formula.even)
        # Where the formula has a kink whose place depends on the number, its derivative jumps.
        return _found(function, formula.constant, breakpoints, jumping=True)
    except InvalidInput:
        return None


def _combined(expression: str, given: tuple[tuple[str, float], ...], along: str = "") -> Combination | None:
    """Return a formula or its derivative as a combination of functions of the angle, None if it is none to keep."""
    pairs = separated(expression, frozenset(name for name, _ in given)) if given else ()
    shapes = [shape for _, angle in pairs if (shape := _of_angle(angle)) is not None]
    if not pairs or len(shapes) < len(pairs):
        return None
    found = Combination(factors_of(pairs, dict(given), along), tuple(shapes))
    return found if found.is_sound(vanishing=bool(along)) else None


@functools.lru_cache(maxsize=FORMULAS)
def _of_angle(expression: str) -> Cosines | Pieces | None:
    """Return the function of a formula without numbers by name, or None if it is none for itself."""
    try:
        return _as_it_stands(compiled(expression), expression)
    except MeanfieldError:
        return None


def _as_it_stands(formula: Formula, label: str) -> Cosines | Pieces:
    """Return the function of a formula from its values."""
    breakpoints = zeros_of(formula.switches)
    function = sampled(formula_values(formula), label, breakpoints, even=formula.even)
    return _smooth_or_rough(function, formula.constant, breakpoints)


@functools.lru_cache(maxsize=FORMULAS)
def _of_callable(
    function: Callable[..., Any], given: tuple[tuple[str, float], ...], breakpoints: tuple[float, ...]
) -> Shape:
    """Return the function of a callable."""
    known = np.array(breakpoints, dtype=np.longdouble)
    of_angle = UserFunction(passing(function, dict(given)))
    return _smooth_or_rough(sampled(of_angle, f"callable {of_angle.name}", known), np.longdouble(0), known)


@functools.lru_cache(maxsize=FORMULAS)
def _stepped(function: Callable[..., Any], given: tuple[tuple[str, float], ...], name: str) -> Shape | None:
    """Return the derivative of a callable in a number given by name, or None if a complex step does not give it."""
    derivative = complex_step(function, dict(given), name)
    if derivative is None:
        return None
    label, none = f"the derivative of {name_of(function)} in {name}", np.zeros(0, dtype=np.longdouble)
    try:
        return _found(sampled(UserFunction(derivative), label, none), np.longdouble(0), none)
    except MeanfieldError:
        return None


def _smooth_or_rough(function: Sampled, constant: np.longdouble, breakpoints: npt.NDArray[Any]) -> Cosines | Pieces:
    """Return a function as it is found, of one that is rough by rounding with that as its noise."""
    try:
        return _found(function, constant, breakpoints)
    except Rough:
        noise = roughness(function)
        if not noise <= _LARGEST_ERROR:
            raise
        return _found(dataclasses.replace(function, noise=max(noise, function.noise)), constant, breakpoints)


def _found(
    function: Sampled, constant: np.longdouble, breakpoints: npt.NDArray[Any], *, jumping: bool = False
) -> Cosines | Pieces:
    """Return a function as a sum of cosines where these decay, else as polynomials on pieces."""
    found = cosine_coefficients(function, kinked=breakpoints.size > 0)
    if found is None:
        return split(function, breakpoints, constant, jumping=jumping)
    series, error = found.values * function.unit, found.error * function.unit
    # Rounding of what the mean is of.
    mean = series[0] if abs(series[0]) > error else 0
    added = function.offset + constant
    series[0] = mean + added
    return Cosines(series.astype(np.float64), float(error), function, float(added))


def _checked_breakpoints(breakpoints: Any, function: object) -> tuple[float, ...]:
    """Return breakpoints as ascending angles in (0, pi), refusing any others."""
    if isinstance(breakpoints, Sequence) and len(breakpoints) == 0:
        return ()
    angles = checked_coefficients(breakpoints, "breakpoints", "breakpoints=(1.0,)")
    if function is None:
        raise InvalidInput(
            f"breakpoints = {angles} go with a function only; those of an expression are found, leave them out"
        )
    outside = [angle for angle in angles if not 0 < angle < float(PI)]
    if outside:
        raise InvalidInput(f"breakpoints must be angles in (0, pi), not {outside[0]!r}; 0 and pi are always ends")
    return tuple(sorted(set(angles)))
