"""The user's own confinement of the circle, without symmetry: from a formula, a function or coefficients."""

import dataclasses
import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from ..arguments import methods_checked, shown
from ..domains import Domain
from ..errors import InvalidInput, MeanfieldError
from .arrays import Array, Number, without_cancelled
from .custom import Custom
from .expressions import Formula, compiled, require_text
from .finite import Cosines
from .formulas import formulas_of
from .given import Numbers, at_numbers, given_numbers
from .parametric import exchanged, numbered
from .pieces import pieces_from
from .protocol import Potential
from .sampling import UserFunction, formula_values, name_of
from .separated import factors_of, is_sound, separated
from .series import as_number, given_coefficients, padded, require_source
from .shapes import FORMULAS
from .uneven import FourierSeries, Parts, shape_of

_SERIES = "cosine=(1.0,), sine=(0.0, 0.3)"
_EXAMPLE = 'expression="cos(t) + 0.3*sin(2*t)"'


@methods_checked
@dataclass(frozen=True)
class External(Potential):
    """An external potential on the circle, with or without symmetry; in programs use the ``from_...`` constructors.

    An expression, a function, coefficients of cosines or sines or of both, or parts are given. One that turns out
    to be even is treated as such, and admitted on spheres.

    Parameters
    ----------
    expression
        A formula in t with the names that :class:`Custom` admits, such as ``"cos(t) + 0.3*sin(2*t)"``, taken on
        [-pi, pi], and with those of ``given``.
    cosine, sine
        (v_1, v_2, ...) and (u_1, u_2, ...) of V = v_0 + sum_k v_k cos kt + u_k sin kt, finite numbers.
    constant
        v_0, with coefficients only; it moves no particle.
    source
        Where coefficients came from, for the record.
    function
        A callable of the angle in [-pi, pi], vectorised or scalar, continuous on the circle.
    parts
        The description of a function with kinks by its even and its odd part, as ``parameters`` gives it.
    given
        Numbers by name that the formula has, as in ``"a*cos(t) + 0.3*sin(2*t)"``: its continuous parameters.

    Raises
    ------
    InvalidInput
        If what is given is not one description of a function, or the function is not finite, jumps, also between pi
        and -pi, or is rough.
    ComputationFailed
        If the function itself raises; the message names the angle, the cause is chained.

    Notes
    -----
    Coefficients of a function have absolute errors near eps max|V|, and those below are 0. Two potentials are equal
    when their formula, their coefficients, their parts or their function object are.

    Examples
    --------
    >>> from meanfield.domains import Circle
    >>> tilted = External.from_expression("cos(t) + 0.3*sin(2*t)")
    >>> tilted.sine_multipliers(Circle(), 2).tolist(), tilted.even
    ([0.0, 0.0, 0.3], False)
    """

    expression: str | None = None
    cosine: tuple[float, ...] = ()
    sine: tuple[float, ...] = ()
    constant: float = 0.0
    source: str | None = None
    function: Callable[[Any], Any] | None = dataclasses.field(default=None, repr=False)
    parts: Mapping[str, Any] | None = dataclasses.field(default=None, repr=False, hash=False)
    given: Numbers = ()
    name: ClassVar[str] = "external"

    def __post_init__(self) -> None:
        require_source(self.source)
        object.__setattr__(self, "given", tuple(given_numbers(self.given).items()))
        if self.given and self.expression is None:
            raise InvalidInput(f"given = {dict(self.given)} goes with an expression only; try {_EXAMPLE}")
        if self.expression is not None:
            require_text(self.expression)
            object.__setattr__(self, "expression", self.expression.strip())
        for kind in ("cosine", "sine"):
            object.__setattr__(self, kind, given_coefficients(getattr(self, kind), kind, _SERIES))
        object.__setattr__(self, "constant", as_number(self.constant, "constant", "a finite number"))
        series = len(self.cosine) + len(self.sine) > 0
        given = [what is not None for what in (self.expression, self.function, self.parts)]
        if sum(given) + series != 1:
            raise InvalidInput(
                "an external potential takes one of expression, function, and coefficients as cosine and sine, "
                f"{sum(given) + series} were given; try {_EXAMPLE}"
            )
        if not series and self.constant:
            raise InvalidInput(f"constant = {self.constant!r} goes with coefficients only; add it to the function")
        # What is no function of the circle is refused here, not where it is used.
        self._shape.values(0.0)

    def __getstate__(self) -> dict[str, Any]:
        """Return the arguments for a pickle; what was computed from them is computed again in another process."""
        return {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}

    @classmethod
    def from_expression(cls, expression: str, **given: float) -> "External":
        """Return the potential of a formula in t and of numbers given by name, as in ``a*cos(t)``, ``a=0.2``."""
        return cls(expression=expression, given=given)

    @classmethod
    def from_sympy(cls, expression: Any, **given: float) -> "External":
        """Return the potential of a sympy expression in one real symbol of any name, and in those given by name."""
        from .symbolic import expression_text

        return cls(expression=expression_text(expression, given), given=given)

    @classmethod
    def from_callable(cls, function: Callable[[Any], Any]) -> "External":
        """Return the potential of a function of the angle in [-pi, pi]."""
        if not callable(function):
            raise InvalidInput(f"from_callable needs a function of the angle, not {shown(function)}; try np.sin")
        return cls(function=function, source=f"callable {name_of(function)}")

    @classmethod
    def from_coefficients(cls, cosine: Sequence[float] = (), sine: Sequence[float] = ()) -> "External":
        """Return the potential of coefficients of cosines (v_1, v_2, ...) and of sines (u_1, u_2, ...)."""
        return cls(cosine=cosine, sine=sine)  # type: ignore[arg-type]

    @property
    def formula(self) -> str:  # type: ignore[override]
        """The formula, or where the coefficients came from."""
        return self.expression or self.source or "sum_k v_k cos kt + u_k sin kt"

    @property
    def even(self) -> bool:
        """Whether there are no sines."""
        return self._shape.even

    def values(self, angle: npt.ArrayLike) -> Array:
        """Return the potential at the angles."""
        return self._shape.values(angle)

    def slope(self, angle: npt.ArrayLike) -> Array:
        """Return the derivative at the angles."""
        return self._shape.slope(angle)

    def multipliers(self, domain: Domain, degree: int) -> Array:
        """Return v_0, ..., v_degree; on spheres those of an even potential."""
        self._require_domain(domain)
        return self._shape.multipliers(domain, int(degree))

    def sine_multipliers(self, domain: Domain, degree: int) -> Array:
        """Return the coefficients of the sines."""
        return self._shape.sines(int(degree))

    def tail_bound(self, domain: Domain, degree: int) -> Number:
        """Return a bound of the amplitudes beyond a degree."""
        self._require_domain(domain)
        return self._shape.tail_bound(domain, int(degree))

    def parameter_values(self) -> dict[str, float]:
        """Return numbers given by name, or given coefficients as cosine1, ..., sine1, ..., without the constant."""
        return dict(self.given) or numbered("cosine", self.cosine) | numbered("sine", self.sine)

    def with_parameter(self, name: str, value: float) -> "External":
        """Return the potential with one number or one coefficient changed."""
        self._require_parameter(name)
        number = as_number(value, name, "a finite number")
        if self.given:
            return dataclasses.replace(self, given={**dict(self.given), name: number})
        changed = exchanged({"cosine": self.cosine, "sine": self.sine}, name, number)
        return dataclasses.replace(self, cosine=tuple(changed["cosine"]), sine=tuple(changed["sine"]))

    def multiplier_derivatives(self, name: str, domain: Domain, degree: int) -> Array:
        """Return the derivatives of the multipliers of cosines in a number or a coefficient, 0 in that of a sine.

        Raises
        ------
        InvalidInput
            If there is no such parameter.
        """
        self._require_parameter(name)
        if self.given:
            self._require_domain(domain)
            shape = _differentiated(self.expression or "", self.given, name)
            if shape is None:
                return super().multiplier_derivatives(name, domain, int(degree))
            return shape.multipliers(domain, int(degree))
        alone = np.array([0.0, *(float(other == name) for other in numbered("cosine", self.cosine))])
        return Cosines(alone).multipliers(domain, int(degree))

    def sine_multiplier_derivatives(self, name: str, domain: Domain, degree: int) -> Array:
        """Return the derivatives of the coefficients of sines in a number or a coefficient, 0 in that of a cosine.

        Raises
        ------
        InvalidInput
            If there is no such parameter.
        """
        self._require_parameter(name)
        if self.given:
            shape = _differentiated(self.expression or "", self.given, name)
            if shape is None:
                return super().sine_multiplier_derivatives(name, domain, int(degree))
            return shape.sines(int(degree))
        return padded(
            np.array([0.0, *(float(other == name) for other in numbered("sine", self.sine))]), int(degree)
        )

    def parameters(self) -> dict[str, Any]:
        """Return the constructor arguments; a callable is represented by its coefficients or parts."""
        if self.expression is not None:
            return {"expression": self.expression} | ({"given": dict(self.given)} if self.given else {})
        source = {"source": self.source} if self.source else {}
        shape = self._shape
        if isinstance(shape, Parts):
            return {"parts": {"even": shape.evenly.parameters(), "odd": shape.odd.described()}} | source
        given = self.function is None
        cosine, sine = (list(self.cosine), list(self.sine)) if given else (shape.cosine[1:], shape.sine[1:])
        constant = {"constant": float(shape.cosine[0])} if shape.cosine[0] else {}
        return {"cosine": [float(v) for v in cosine] or [0.0], "sine": [float(v) for v in sine]} | constant | source

    def _require_domain(self, domain: Domain) -> None:
        if not self.even:
            formulas_of(domain).require_uneven(f"{self.formula} has sines; leave them out, or take the circle")

    @functools.cached_property
    def _shape(self) -> FourierSeries | Parts:
        if self.expression is not None:
            return _of_formula(self.expression, self.given)
        if self.function is not None:
            return shape_of(UserFunction(self.function), self.formula)
        if self.parts is not None:
            return _parts_from(self.parts)
        size = 1 + max(len(self.cosine), len(self.sine))
        rows = np.zeros((2, size))
        rows[0, 0] = self.constant
        rows[0, 1 : 1 + len(self.cosine)], rows[1, 1 : 1 + len(self.sine)] = self.cosine, self.sine
        return FourierSeries(*rows)


@functools.lru_cache(maxsize=FORMULAS)
def _of_formula(expression: str, given: tuple[tuple[str, float], ...]) -> FourierSeries | Parts:
    """Return the function of a formula."""
    return _combined(expression, given) or _as_it_stands(
        compiled(expression, dict(given)), at_numbers(expression, given)
    )


@functools.lru_cache(maxsize=FORMULAS)
def _differentiated(
    expression: str, given: tuple[tuple[str, float], ...], name: str
) -> FourierSeries | Parts | None:
    """Return the derivative of a formula in a number given by name, or None if it jumps or is not finite."""
    if combined := _combined(expression, given, name):
        return combined
    formula = compiled(expression, dict(given), name)
    try:
        return _as_it_stands(formula, f"the derivative of {expression} in {name}")
    except InvalidInput:
        return None


def _combined(expression: str, given: tuple[tuple[str, float], ...], along: str = "") -> FourierSeries | None:
    """Return a formula or its derivative as a combination of Fourier series, None if it is none to keep."""
    pairs = separated(expression, frozenset(name for name, _ in given)) if given else ()
    shapes = [shape for _, angle in pairs if (shape := _of_angle(angle)) is not None]
    if not pairs or len(shapes) < len(pairs):
        return None
    degree = max(shape.sine.size for shape in shapes) - 1
    rows = np.array([[padded(shape.cosine, degree), padded(shape.sine, degree)] for shape in shapes])
    factors = factors_of(pairs, dict(given), along)
    if not is_sound(factors, rows[:, :, 1:].reshape(len(shapes), -1), vanishing=bool(along)):
        return None
    terms = without_cancelled([factor * row for factor, row in zip(factors, rows, strict=True)])
    return FourierSeries(*terms.astype(float))


@functools.lru_cache(maxsize=FORMULAS)
def _of_angle(expression: str) -> FourierSeries | None:
    """Return the series of a formula without numbers by name, or None if it is none for itself."""
    try:
        shape = _as_it_stands(compiled(expression), expression)
    except MeanfieldError:
        return None
    return shape if isinstance(shape, FourierSeries) else None


def _as_it_stands(formula: Formula, label: str) -> FourierSeries | Parts:
    """Return the function of a formula from its values."""
    return shape_of(formula_values(formula), label, float(formula.constant))


def _parts_from(description: Mapping[str, Any]) -> Parts:
    try:
        return Parts(Custom(**description["even"]), pieces_from(description["odd"]))
    except (TypeError, KeyError) as problem:
        raise InvalidInput(
            f"parts are described by even and odd; {problem!r} was met; give a function or an expression instead"
        ) from problem
