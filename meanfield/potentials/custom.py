r"""The user's own potential: from a function, a formula, a sympy expression or coefficients.

A function whose cosine coefficients decay to rounding is kept as these (:mod:`meanfield.potentials.cosines`), any
other as polynomials on pieces (:mod:`meanfield.potentials.pieces`): functions with kinks or narrow features.
"""

import dataclasses
import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from ..arguments import methods_checked, shown
from ..domains import Domain
from ..errors import InvalidInput
from .arrays import Array, Number
from .expressions import require_text
from .finite import Cosines
from .given import Numbers, at_numbers, given_numbers, require_given
from .parametric import exchanged, numbered, require_named
from .pieces import Pieces, pieces_from
from .protocol import Potential
from .sampling import PI, name_of
from .series import as_number, checked_coefficients, require_source
from .shapes import Cell, Shape, Source, accuracy_of, require_accurate

# Error of a multiplier over the largest from which it is stated.
_STATED_ERROR = 1e-10
# Errors over the largest derivative, or multiplier over the number, up to which interpolated derivatives are taken.
_INTERPOLATED = 1e-9


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
    interpolated
        The name of one of these in which multipliers are interpolated; empty for none, see ``interpolated_in``.

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
    takes no complex numbers, those of polynomials that interpolate them, with an estimate of their error, see
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
    interpolated: str = dataclasses.field(default="", repr=False, compare=False)
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
        if not isinstance(self.interpolated, str):
            raise InvalidInput(
                f"interpolated must be the name of a number given by name, not {shown(self.interpolated)}; leave "
                "it out, or take interpolated_in('b')"
            )
        if self.interpolated:
            require_named(self.interpolated, tuple(dict(self.given)), "the formula or function")
        elif not self._left_behind:
            require_accurate(self._shape, at_numbers(self.formula, self.given))
        if self.source is not None and self.function is not None and not self.interpolated:
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
        if (cell := self._cell(domain, int(degree))) is not None:
            found = cell.multipliers.values(dict(self.given)[self.interpolated])
            return np.asarray(found[: int(degree) + 1], dtype=np.float64)
        return self._shape.multipliers(domain, int(degree))

    def tail_bound(self, domain: Domain, degree: int) -> Number:
        """Return a bound of the multipliers beyond a degree."""
        if (cell := self._cell(domain)) is not None:
            return cell.tail_bound(int(degree))
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
            interpolated = self.interpolated if name == self.interpolated else ""
            return dataclasses.replace(self, given=given, interpolated=interpolated)
        # Of a function that a file has left behind, the numbers are known and the values are not.
        return self if given == dict(self.given) else Custom(source=self.source, given=given)

    def interpolated_in(self, name: str) -> "Custom":
        """Return the same potential, prepared for many values of a number given by name.

        Where they are analytic in it, the multipliers up to the degree 128 and their derivatives are
        interpolated between some dozens in each quarter of an octave of the number, to 8 roundings of the largest
        or to their accuracy. Elsewhere, and if the formula separates the number from the angle, they are computed
        at each value. Curves and diagrams in a parameter ask for this.
        """
        source = self._source
        if (
            source is None
            or not source.is_kept
            or name not in dict(self.given)
            or source.is_separated(self._numbers)
        ):
            return self
        return dataclasses.replace(self, interpolated=name)

    def multiplier_derivatives(self, name: str, domain: Domain, degree: int) -> Array:
        """Return the derivatives in a coefficient, the multipliers of its cosine, or in a number given by name.

        That of a formula is differentiated as such; see :meth:`Potential.multiplier_derivatives` for others.
        """
        self._require_parameter(name)
        if not self.given:
            alone = np.array([0.0, *(float(other == name) for other in self.parameter_names())])
            return Cosines(alone).multipliers(domain, int(degree))
        if name == self.interpolated and (cell := self._cell(domain, int(degree))) is not None:
            place, near = dict(self.given)[name], cell.multipliers
            found, errors = (
                row[: int(degree) + 1] for row in (near.derivatives(place), near.derivative_errors(place))
            )
            if errors.max() <= _INTERPOLATED * max(np.abs(found[1:]).max(initial=0.0), cell.largest / abs(place)):
                return np.asarray(found, dtype=np.float64)
        shape = None if self._source is None else self._source.derivative(self._numbers, name)
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

    @property
    def _numbers(self) -> tuple[tuple[str, float], ...]:
        return tuple(dict(self.given).items())

    @property
    def _source(self) -> Source | None:
        """The formula or the function, None if there is neither."""
        if self.expression is None and self.function is None:
            return None
        return Source(self.expression, self.function, self.breakpoints)

    def _cell(self, domain: Domain, degree: int = 0) -> Cell | None:
        """Return the multipliers about the number in which they are interpolated, None if they are not."""
        if not self.interpolated or self._source is None:
            return None
        return self._source.cell(self._numbers, self.interpolated, domain, degree)

    @functools.cached_property
    def _accuracy(self) -> float:
        if self.coefficients is not None or self._left_behind:
            return float(np.finfo(float).eps)
        return accuracy_of(self._shape)

    @functools.cached_property
    def _shape(self) -> Shape:
        if self.coefficients is not None:
            return Cosines(np.array([self.constant, *self.coefficients]))
        if self.pieces is not None:
            return pieces_from(self.pieces)
        if self._source is not None:
            return self._source.shape(self._numbers)
        numbers = ", ".join([f"{name}={value!r}" for name, value in dict(self.given).items()])
        raise InvalidInput(
            f"files keep the multipliers of the {self.source} at the numbers of the problem alone, and not the "
            f"function; make the problem again with Custom.from_callable(function, {numbers})"
        )


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
