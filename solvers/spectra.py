r"""Spectrum of the equation linearised at a stationary state, accurate also where it is tiny.

At :math:`\rho = e^f/Z`, :math:`f = -(\kappa W*\rho + V)/D`, the linearisation is :math:`L = -AB` with
:math:`A = -\partial\rho\,\partial` and :math:`B = D/\rho + \kappa W*`. In the variable
:math:`y = u/\sqrt\rho` both factors lose their weights,

.. math::

    \rho^{-1/2} L \rho^{1/2} = -Q^* Q\, C, \qquad Q = \partial - \tfrac12 f', \qquad
    C = \sqrt\rho\, B \sqrt\rho = D \Bigl(1 - \sum_{j \ne 0} \lambda_{|j|}\, v_j v_j^* \Bigr), \quad
    v_j = \sqrt\rho\, e^{ij\theta}, \quad \lambda_j = -\frac{\kappa w_j}{2D},

and the spectrum of L on densities of mass zero is minus that of the Hermitian operator

.. math::

    S = Q C Q^* = D\,(-\partial^2 + \tfrac14 f'^2 - \tfrac12 f'')
        - D\sum_{j \ne 0} \lambda_{|j|} j^2\, v_j v_j^* .

Its eigenfunctions are :math:`z = \sqrt\rho\, g` for perturbations :math:`u = (\rho g)'`, g the velocity. Two
zero modes are known exactly: rotation is g = 1, that is :math:`z = \sqrt\rho`, and
:math:`z = 1/\sqrt\rho` is no perturbation at all (u = 0).

Nothing in Q and C grows where the density nearly vanishes. Clusters that exchange mass over a gap of density
:math:`\epsilon` have an eigenvalue :math:`\mu \sim \epsilon`, far below the rounding error
:math:`\mathrm{eps}\,\|S\|` of an eigenvalue solver. It is the square of a singular value of Q, and those
have the error :math:`\mathrm{eps}\,\|Q\|` only: with :math:`Q = U \Sigma V^*` and :math:`M = V^* C V` the
eigenvalues of :math:`\Sigma M \Sigma` are taken from this matrix where they are large and from its inverse
:math:`\Sigma^{-1} M^{-1} \Sigma^{-1}` where they are small.

Clusters that attract each other over a distance have a tiny eigenvalue too, by cancellation in C. There the
quadratic form of S is evaluated with the stationary equation built in, so that nothing but true differences
of the velocity is left,

.. math:: \frac1D \langle z, S z\rangle = \int |Q z|^2
          + \sum_{k \ge 1} \lambda_k k^2 \iint \cos k(\theta - \theta')\,
            \bigl| z(\theta) \sqrt{\rho(\theta')} - z(\theta') \sqrt{\rho(\theta)} \bigr|^2 ,

the kernel summed in extended precision: a Rayleigh-Ritz step on the doubtful eigenvectors.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.linalg
from numpy.typing import NDArray

from meanfield import McKeanVlasov, Spectrum, State

from .bases import EPS, Floats, Integers
from .equation import even_size

Matrix = NDArray[Any]

# Sine moments below this, relative to the moments, are rounding noise of an even state.
AXIS_TOLERANCE = 1e-12
# Moments below this are a uniform density.
UNIFORM = 1e-14
# Eigenvalues are reported while truncation changes them by less than this share.
TRUNCATION_TOLERANCE = 1e-10
# Eigenvalues known less accurately than this share are refined, at most so many.
REFINEMENT = 1e-10
MAX_REFINED = 8
# Safety factor on first-order rounding bounds.
SAFETY = 8.0


@dataclass(frozen=True, eq=False)
class Field:
    """The Gibbs density behind a state, as what the linearisation needs of it.

    Attributes
    ----------
    problem
        The equation.
    strengths : (n + 1,) float
        lambda_0 = 0, lambda_1, ..., lambda_n.
    coefficients : (n + 1,) complex
        Coefficients of exp(ik theta), k = 0..n, of the field f.
    root : (2 n + 1,) complex
        Integrals of sqrt(rho) exp(-ik theta), k = 0..2n.
    inverse_root : (n + 1,) complex
        Those of 1/sqrt(rho), up to a factor.
    """

    problem: McKeanVlasov
    strengths: Floats
    coefficients: Matrix
    root: Matrix
    inverse_root: Matrix

    @property
    def noise(self) -> float:
        """D."""
        return self.problem.noise


@dataclass(frozen=True, eq=False)
class Factors:
    """One invariant block of the linearisation, in orthonormal bases.

    Attributes
    ----------
    first_order : (r, c) matrix of Q.
    modes : (c, j) matrix of the vectors v_j, with ``strengths`` (j,) their factors in C/D.
    outside : (t, r) matrix of S from the block to the degrees it leaves out.
    synthesis : (r, 2 n + 1) matrix from the basis of z to exp(ik theta)/sqrt(2 pi), k = -n..n.
    rotation : (r,) sqrt(rho), or None where the block does not contain it.
    kernel : (c,) kernel of Q, or None.
    """

    first_order: Matrix
    modes: Matrix
    strengths: Floats
    outside: Matrix
    synthesis: Matrix
    rotation: Matrix | None
    kernel: Matrix | None


@dataclass(frozen=True, eq=False)
class Eigenvalues:
    """Eigenvalues of a block, largest first, their error bounds, and its rotation mode."""

    values: Floats
    errors: Floats
    rotation: float | None = None
    overlap: float | None = None


def spectrum(state: State) -> Spectrum:
    r"""Return the eigenvalues of the equation linearised at a stationary state.

    Parameters
    ----------
    state
        A stationary state; its field is recomputed from its moments.

    Returns
    -------
    Spectrum
        All eigenvalues that the resolution of the state determines to about 1e-10 of their size, largest
        first, in units of 1/time: positive ones grow. The lowest ones, which oscillate as fast as the last
        resolved degree, are left out. Rotation is recognised by its overlap with the generator
        :math:`\rho'` in the inner product in which the linearisation is symmetric, and deflated exactly, so
        it does not disturb small eigenvalues beside it.

    Notes
    -----
    At the uniform state the eigenvalues are :math:`-Dk^2(1-\lambda_k)`, each on the cosine and the sine. The
    field is symmetrised about the reflection axis of the state where it has one.

    Examples
    --------
    >>> from meanfield import Circle, Kuramoto, McKeanVlasov
    >>> from solvers import bifurcation_diagram
    >>> diagram = bifurcation_diagram(McKeanVlasov(Circle(), Kuramoto()), (1.0, 3.0), rates=False)
    >>> round(spectrum(diagram.state("1-cluster", -1)).slowest_rate, 6)
    1.081332
    """
    moments = complex_moments(state)
    if np.abs(moments[1:]).max(initial=0.0) <= UNIFORM and state.problem.confinement is None:
        return _uniform_spectrum(state)
    aligned, even = align(moments, state.problem.confinement is None)
    degree = working_degree(aligned)
    field = field_of(state.problem, aligned, degree)
    residual = max(float(state.residual), EPS)
    uncertainty = min(residual * amplification(field, state.symmetry), np.sqrt(residual))
    rotates = state.problem.confinement is None
    if not even:
        mixed = eigenvalues(mixed_factors(field, degree), field, uncertainty, rotates)
        return _assemble(state, mixed, Eigenvalues(np.zeros(0), np.zeros(0), mixed.rotation, mixed.overlap))
    cosines = eigenvalues(even_factors(field, degree), field, uncertainty, False)
    sines = eigenvalues(odd_factors(field, degree), field, uncertainty, rotates)
    return _assemble(state, cosines, sines)


def contraction_rate(state: State) -> float:
    """Return the slowest decay rate of perturbations of a state, rotation excluded.

    Returns
    -------
    float
        Minus the largest eigenvalue of :func:`spectrum`, in units of 1/time; negative when unstable.
    """
    return spectrum(state).slowest_rate


def _assemble(state: State, even: Eigenvalues, odd: Eigenvalues) -> Spectrum:
    values = np.concatenate([even.values, odd.values])
    errors = np.concatenate([even.errors, odd.errors])
    error = float(errors[np.argmin(np.abs(values))])
    return Spectrum(state, even.values, odd.values, odd.rotation, odd.overlap, error)


def _uniform_spectrum(state: State) -> Spectrum:
    values = uniform_eigenvalues(state.problem, max(64, state.modes))
    scale = float(np.abs(values).min())
    error = 4.0 * EPS * max(scale, state.problem.noise)
    return Spectrum(state, values, values.copy(), None, None, error)


def uniform_eigenvalues(problem: McKeanVlasov, degree: int) -> Floats:
    """Return -D k^2 (1 - lambda_k), k = 1..degree, at the uniform state, largest first."""
    degrees = np.arange(1.0, degree + 1.0)
    values = -problem.noise * degrees**2 * (1.0 - strengths_of(problem, degree)[1:].astype(float))
    return np.sort(values)[::-1]


def strengths_of(problem: McKeanVlasov, degree: int) -> NDArray[np.longdouble]:
    """Return lambda_k = -kappa w_k/(2D), k = 0..degree, without underflow of the multipliers."""
    scale = np.longdouble(problem.fixed_coupling) * np.longdouble(problem.potential.scale(problem.domain))
    relative = problem.potential.extended_multipliers(problem.domain, degree)
    return np.asarray(-scale / np.longdouble(2.0 * problem.noise) * relative)


def complex_moments(state: State) -> Matrix:
    """Return the integrals of rho exp(-ik theta) up to the last degree that is not rounding noise."""
    moments = state.cosine - 1j * state.sine
    large = np.flatnonzero(np.abs(moments) > UNIFORM / 10.0)
    return np.asarray(moments[: int(large[-1]) + 1])


def align(moments: Matrix, movable: bool) -> tuple[Matrix, bool]:
    """Turn a density with a reflection axis onto it; return its moments and whether it has one.

    Every axis is one of the strongest moment, so only the axes of that are tried.
    """
    degrees = np.arange(moments.size)
    strongest = 1 + int(np.argmax(np.abs(moments[1:]))) if moments.size > 1 else 1
    angles = np.zeros(1)
    if movable and np.abs(moments.imag).max() > 0.0:
        angles = (np.angle(moments[strongest]) + np.pi * np.arange(strongest)) / strongest
    turned = moments * np.exp(-1j * np.multiply.outer(angles, degrees))
    best = turned[int(np.argmin(np.abs(turned.imag).max(axis=1)))]
    if np.abs(best.imag).max() <= AXIS_TOLERANCE:
        return best.real.astype(complex), True
    return moments, False


def working_degree(moments: Matrix) -> int:
    """Return the degree of truncation: the eigenfunctions need little more than the density itself."""
    last = last_degree(moments, 1e-13)
    return last + max(24, last // 3)


def last_degree(moments: Matrix, threshold: float) -> int:
    """Return the last degree whose moment exceeds a threshold."""
    return int(np.flatnonzero(np.abs(moments) > threshold)[-1])


def field_of(problem: McKeanVlasov, moments: Matrix, degree: int) -> Field:
    """Return the field of a density and its Gibbs density, for truncation at a degree.

    Everything is kept to twice that degree, so that what truncation leaves out can be measured.
    """
    wide = 2 * degree
    strengths = strengths_of(problem, wide).astype(float)
    coefficients = np.zeros(wide + 1, dtype=complex)
    known = min(moments.size, wide + 1)
    coefficients[:known] = strengths[:known] * moments[:known]
    if problem.confinement is not None:
        fixed = problem.confinement.multipliers(problem.domain, wide)[1:].astype(float)
        coefficients[1:] -= fixed / (2.0 * problem.noise)
    points = even_size(4 * wide)
    values = np.fft.irfft(coefficients, points, norm="forward")
    values -= values.max()
    weights = np.exp(values)
    normalised = np.exp(0.5 * values) / np.sqrt(2.0 * np.pi * weights.mean())
    inverse = np.exp(0.5 * (values.min() - values))
    root = 2.0 * np.pi * np.fft.rfft(normalised, norm="forward")[: 2 * wide + 1]
    inverse_root = np.fft.rfft(inverse, norm="forward")[: wide + 1]
    return Field(problem, strengths, coefficients, root, inverse_root)


def amplification(field: Field, symmetry: int) -> float:
    """Return the factor from residual to error of the state, by C within the symmetry of the state."""
    degrees = np.arange(0, field.root.size // 4 + 1, max(symmetry, 1))
    modes = degrees[1:]
    vectors = root_cosines(field, degrees, modes)
    kernel = _complement(cosine_vector(field.root.real, degrees))
    projected = kernel.T @ vectors
    inner = np.eye(modes.size) - 2.0 * (projected * field.strengths[modes]) @ projected.T
    return 1.0 / float(np.abs(np.linalg.eigvalsh(inner)).min())


def even_factors(field: Field, degree: int) -> Factors:
    """Return the block of even perturbations: y on cosines 0..degree, z on sines 1..degree."""
    cosines, sines = np.arange(degree + 1), np.arange(1, degree + 1)
    first_order = -0.5 * _slope_products(field, sines, cosines)
    first_order[sines - 1, sines] -= sines
    outer = np.arange(degree + 1, 2 * degree + 1)
    return Factors(
        first_order,
        root_cosines(field, cosines, sines),
        2.0 * field.strengths[sines],
        symmetric_sines(field, outer, sines),
        _from_sines(degree),
        None,
        None,
    )


def odd_factors(field: Field, degree: int) -> Factors:
    """Return the block of odd perturbations: y on sines 1..degree, z on cosines 0..degree."""
    cosines, sines = np.arange(degree + 1), np.arange(1, degree + 1)
    first_order = -0.5 * _slope_products(field, sines, cosines).T
    first_order[sines, sines - 1] += sines
    outer = np.arange(degree + 1, 2 * degree + 1)
    return Factors(
        first_order,
        root_sines(field, sines, sines),
        2.0 * field.strengths[sines],
        symmetric_cosines(field, outer, cosines),
        _from_cosines(degree),
        cosine_vector(field.root.real, cosines),
        None,
    )


def mixed_factors(field: Field, degree: int) -> Factors:
    """Return all perturbations of a state without reflection axis, on exp(ik theta), abs(k) <= degree."""
    degrees = np.arange(-degree, degree + 1)
    outer = np.concatenate([np.arange(-2 * degree, -degree), np.arange(degree + 1, 2 * degree + 1)])
    slope = 1j * np.arange(field.coefficients.size) * field.coefficients
    first_order = -0.5 * _convolution(slope, degrees, degrees) + np.diag(1j * degrees)
    modes = degrees[degrees != 0]
    return Factors(
        first_order,
        _convolution(field.root, degrees, modes) / np.sqrt(2.0 * np.pi),
        field.strengths[np.abs(modes)],
        _symmetric_mixed(field, outer, degrees),
        np.eye(degrees.size),
        _signed(field.root, degrees),
        _signed(field.root, degrees),
    )


def _from_sines(degree: int) -> Matrix:
    half = np.eye(degree) * np.sqrt(0.5)
    return np.hstack([1j * half[:, ::-1], np.zeros((degree, 1)), -1j * half])


def _from_cosines(degree: int) -> Matrix:
    half = np.vstack([np.zeros(degree), np.eye(degree)]) * np.sqrt(0.5)
    constant = np.zeros((degree + 1, 1))
    constant[0] = 1.0
    return np.hstack([half[:, ::-1], constant, half])


def cosine_vector(integrals: Floats, degrees: Integers) -> Floats:
    """Return the components on normalised cosines of a function with these cosine integrals."""
    return np.asarray(integrals[degrees] / np.sqrt(np.where(degrees == 0, 2.0, 1.0) * np.pi), dtype=float)


def _slope_products(field: Field, sines: Integers, cosines: Integers) -> Floats:
    """Return the matrix of multiplication by f' from normalised cosines to sines."""
    slope = -2.0 * np.arange(field.coefficients.size) * field.coefficients.real
    plus, minus = sines[:, None] + cosines, sines[:, None] - cosines
    products = 0.5 * (slope[plus] + np.sign(minus) * slope[np.abs(minus)])
    return np.asarray(np.where(cosines == 0, np.sqrt(0.5), 1.0) * products, dtype=float)


def root_cosines(field: Field, cosines: Integers, modes: Integers) -> Floats:
    """Return the components of sqrt(rho) cos(j theta) on normalised cosines, (cosines, modes)."""
    root = field.root.real
    sums = root[cosines[:, None] + modes] + root[np.abs(cosines[:, None] - modes)]
    norms = 2.0 * np.sqrt(np.where(cosines == 0, 2.0, 1.0) * np.pi)
    return np.asarray(sums / norms[:, None], dtype=float)


def root_sines(field: Field, sines: Integers, modes: Integers) -> Floats:
    """Return the components of sqrt(rho) sin(j theta) on normalised sines, (sines, modes)."""
    root = field.root.real
    difference = root[np.abs(sines[:, None] - modes)] - root[sines[:, None] + modes]
    return np.asarray(difference / (2.0 * np.sqrt(np.pi)), dtype=float)


def schroedinger(field: Field) -> Matrix:
    """Return the coefficients of exp(ik theta) of the potential f'^2/4 - f''/2, for k up to twice f's."""
    count = field.coefficients.size
    degrees = np.arange(count)
    slope = 1j * degrees * field.coefficients
    points = even_size(4 * count)
    square = np.fft.rfft(np.fft.irfft(slope, points, norm="forward") ** 2, norm="forward")
    potential = 0.25 * square[: 2 * count]
    potential[:count] += 0.5 * degrees**2 * field.coefficients
    return np.asarray(potential)


def symmetric_sines(field: Field, rows: Integers, columns: Integers) -> Floats:
    """Return S of even perturbations between normalised sines."""
    potential = schroedinger(field).real
    difference = np.abs(rows[:, None] - columns)
    matrix = potential[difference] - potential[rows[:, None] + columns]
    matrix += np.where(difference == 0, columns**2.0, 0.0)
    modes = columns[columns > 0]
    left, right = root_sines(field, rows, modes), root_sines(field, columns, modes)
    weights = 2.0 * field.strengths[modes] * modes**2
    return np.asarray(field.noise * (matrix - (left * weights) @ right.T), dtype=float)


def symmetric_cosines(field: Field, rows: Integers, columns: Integers) -> Floats:
    """Return S of odd perturbations between normalised cosines."""
    potential = schroedinger(field).real
    difference = np.abs(rows[:, None] - columns)
    matrix = potential[difference] + potential[rows[:, None] + columns]
    matrix *= np.where(rows == 0, np.sqrt(0.5), 1.0)[:, None] * np.where(columns == 0, np.sqrt(0.5), 1.0)
    matrix += np.where(difference == 0, columns**2.0, 0.0)
    modes = columns[columns > 0]
    left, right = root_cosines(field, rows, modes), root_cosines(field, columns, modes)
    weights = 2.0 * field.strengths[modes] * modes**2
    return np.asarray(field.noise * (matrix - (left * weights) @ right.T), dtype=float)


def _symmetric_mixed(field: Field, rows: Integers, columns: Integers) -> Matrix:
    matrix = _convolution(schroedinger(field), rows, columns)
    modes = columns[columns != 0]
    left, right = (_convolution(field.root, d, modes) / np.sqrt(2.0 * np.pi) for d in (rows, columns))
    weights = field.strengths[np.abs(modes)] * modes**2
    return np.asarray(field.noise * (matrix - (left * weights) @ right.conj().T))


def _signed(coefficients: Matrix, degrees: Integers) -> Matrix:
    values = coefficients[np.abs(degrees)]
    return np.where(degrees < 0, values.conj(), values)


def _convolution(coefficients: Matrix, rows: Integers, columns: Integers) -> Matrix:
    difference = rows[:, None] - columns
    return np.asarray(_signed(coefficients, difference))


def eigenvalues(factors: Factors, field: Field, uncertainty: float, rotates: bool) -> Eigenvalues:
    """Return the converged eigenvalues of a block, rotation set apart."""
    left, sizes, right = _singular(factors)
    inner = _inner(factors, right, field.noise)
    rotation, overlap, start = None, None, np.eye(sizes.size)
    if rotates and factors.rotation is not None:
        generator = left.conj().T @ (factors.rotation / np.linalg.norm(factors.rotation))
        generator /= np.linalg.norm(generator)
        rotation, overlap = _recognised(sizes, inner, generator)
        turned, sizes, start = _deflated(sizes, generator)
        inner = start.conj().T @ inner @ start
        left = left @ turned
    values, vectors, solver = _graded(sizes, inner)
    errors = SAFETY * solver + _rounding(sizes, inner, vectors, uncertainty, field)
    if field.problem.confinement is None:
        _refine(values, errors, factors.synthesis.T @ (left @ vectors), field)
    leak = np.linalg.norm(factors.outside @ (left @ vectors), axis=0)
    return _converged(values, errors, leak, field, factors, rotation, overlap)


def _singular(factors: Factors) -> tuple[Matrix, Floats, Matrix]:
    """Return the singular value decomposition of Q on the complement of its kernel."""
    first_order, complement = factors.first_order, None
    if factors.kernel is not None:
        complement = _complement(factors.kernel)
        first_order = first_order @ complement
    left, sizes, right = np.linalg.svd(first_order, full_matrices=False)
    columns = right.conj().T
    return left, sizes, columns if complement is None else complement @ columns


def _complement(vector: Matrix) -> Matrix:
    """Return an orthonormal basis of the complement of a vector, as columns."""
    full = np.linalg.qr(vector[:, None], mode="complete")[0]
    return np.asarray(full[:, 1:])


def _inner(factors: Factors, right: Matrix, noise: float) -> Matrix:
    modes = right.conj().T @ factors.modes
    matrix = np.eye(right.shape[1]) - (modes * factors.strengths) @ modes.conj().T
    return np.asarray(0.5 * noise * (matrix + matrix.conj().T))


def _recognised(sizes: Floats, inner: Matrix, generator: Matrix) -> tuple[float, float]:
    """Return eigenvalue and overlap of the eigenvector nearest to the generator of rotations.

    Eigenvectors whose eigenvalues agree to rounding are arbitrary in their span, which then takes their place.
    """
    values, vectors = np.linalg.eigh(sizes[:, None] * inner * sizes)
    overlaps = np.abs(generator.conj() @ vectors)
    nearest = int(np.argmax(overlaps))
    alike = np.abs(values - values[nearest]) <= SAFETY * EPS * np.abs(values).max()
    return -float(values[nearest]), min(1.0, float(np.linalg.norm(overlaps[alike])))


def _deflated(sizes: Floats, generator: Matrix) -> tuple[Matrix, Floats, Matrix]:
    """Restrict Sigma off the generator: with Sigma Z = V' Sigma' U'^*, return Z U', Sigma', V'."""
    complement = _complement(generator)
    outer, smaller, inner = np.linalg.svd(sizes[:, None] * complement, full_matrices=False)
    return complement @ inner.conj().T, smaller, outer


def _graded(sizes: Floats, inner: Matrix) -> tuple[Floats, Matrix, Floats]:
    """Return eigenvalues of -Sigma M Sigma, largest first, their vectors and errors."""
    values, vectors = np.linalg.eigh(-(sizes[:, None] * inner * sizes))
    inverse = np.linalg.inv(inner)
    growth = float(np.linalg.norm(inverse) * np.linalg.norm(inner))
    reciprocal, others = np.linalg.eigh(-0.5 * (inverse + inverse.conj().T) / np.multiply.outer(sizes, sizes))
    order = np.argsort(1.0 / reciprocal)
    small, others = 1.0 / reciprocal[order], others[:, order]
    direct_error = np.full(values.size, EPS * np.abs(values).max())
    inverse_error = EPS * growth * small**2 * np.abs(reciprocal).max()
    better = (inverse_error < direct_error) & (np.abs(small - values) <= 64.0 * direct_error)
    values = np.where(better, small, values)
    vectors = np.where(better, others, vectors)
    return values[::-1], vectors[:, ::-1], np.where(better, inverse_error, direct_error)[::-1]


def _rounding(
    sizes: Floats,
    inner: Matrix,
    vectors: Matrix,
    uncertainty: float,
    field: Field,
) -> Floats:
    """Return first-order bounds on the errors from rounding in Q and C and from the state's own error."""
    scaled = sizes[:, None] * vectors
    pulled = np.linalg.norm(inner @ scaled, axis=0)
    lengths = np.linalg.norm(scaled, axis=0)
    shift = uncertainty * float(np.abs(field.strengths).max())
    slope_error = EPS * sizes.max() + shift * 4.0
    inner_error = EPS * np.linalg.norm(inner, 2) + field.noise * shift
    return np.asarray(SAFETY * (2.0 * slope_error * pulled + inner_error * lengths**2), dtype=float)


def _refine(values: Floats, errors: Floats, vectors: Matrix, field: Field) -> None:
    """Replace, in place, doubtful eigenvalues by the Ritz values of the form without cancellation."""
    doubtful = np.flatnonzero(errors > REFINEMENT * np.abs(values))
    doubtful = np.sort(doubtful[np.argsort(np.abs(values[doubtful]))][:MAX_REFINED])
    if not doubtful.size:
        return
    form, mass, rounding = _quadratic_form(field, vectors[:, doubtful])
    better = np.flatnonzero(rounding < errors[doubtful])
    if not better.size:
        return
    chosen = np.ix_(better, better)
    values[doubtful[better]] = np.sort(-scipy.linalg.eigvalsh(form[chosen], mass[chosen]))[::-1]
    errors[doubtful[better]] = rounding[better]


def _quadratic_form(field: Field, vectors: Matrix) -> tuple[Matrix, Matrix, Floats]:
    """Return the form of S on columns z, their Gram matrix off rotation, and the rounding error."""
    degree = vectors.shape[0] // 2
    points = even_size(4 * degree)
    derivatives = 1j * np.arange(-degree, degree + 1)[:, None] * vectors
    samples, slopes = _sampled(vectors, points), _sampled(derivatives, points)
    count = field.coefficients.size
    slope = np.fft.irfft(1j * np.arange(count) * field.coefficients, points, norm="forward")
    root = np.fft.irfft(field.root[: 2 * degree + 1], points, norm="forward") / (2.0 * np.pi)
    step = 2.0 * np.pi / points
    samples = samples - np.multiply.outer(root, step * (root @ samples))
    slopes = slopes - 0.5 * slope[:, None] * samples
    form = step * slopes.conj().T @ slopes
    bound = np.diag(form).real.copy()
    kernel, floor = _kernel(field, points)
    for shift in range(1, points // 2 + 1):
        pairs = samples * np.roll(root, shift)[:, None] - np.roll(samples, shift, axis=0) * root[:, None]
        product = (2 * step**2 if 2 * shift < points else step**2) * pairs.conj().T @ pairs
        form = form + kernel[shift] * product
        bound += (abs(kernel[shift]) + floor / EPS) * np.diag(product).real
    return field.noise * form, step * samples.conj().T @ samples, SAFETY * EPS * field.noise * bound


def _sampled(coefficients: Matrix, points: int) -> Matrix:
    degree = coefficients.shape[0] // 2
    padded = np.zeros((points, coefficients.shape[1]), dtype=complex)
    padded[np.arange(-degree, degree + 1)] = coefficients
    return np.asarray(np.fft.ifft(padded, axis=0, norm="forward") / np.sqrt(2.0 * np.pi))


def _kernel(field: Field, points: int) -> tuple[Floats, float]:
    """Return sum lambda_k k^2 cos(k t) on the grid, summed in extended precision, and its rounding error."""
    degree = min(points // 2, field.strengths.size - 1)
    degrees = np.arange(1, degree + 1)
    weights = strengths_of(field.problem, degree)[1:] * degrees**2
    half_turns = np.arange(points) * (2 * np.arccos(np.longdouble(-1.0)) / points)
    table = np.cos(half_turns)
    kernel = np.array([weights @ table[degrees * shift % points] for shift in range(points)])
    floor = float(np.finfo(np.longdouble).eps) * float(np.abs(weights).sum())
    return kernel.astype(float), floor


def _converged(
    values: Floats,
    errors: Floats,
    leak: Floats,
    field: Field,
    factors: Factors,
    rotation: float | None,
    overlap: float | None,
) -> Eigenvalues:
    """Keep the eigenvalues that the degrees left out do not change: by leak^2 over the distance to those."""
    degree = (field.coefficients.size - 1) // 2
    distance = np.maximum(field.noise * degree**2 + values, 1e-3 * field.noise * degree**2)
    truncation = leak**2 / distance
    good = truncation <= TRUNCATION_TOLERANCE * np.maximum(np.abs(values), errors / TRUNCATION_TOLERANCE)
    good = np.logical_and.accumulate(good)
    return Eigenvalues(values[good], errors[good] + truncation[good], rotation, overlap)
