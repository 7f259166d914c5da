"""The equation linearised at a stationary state, on every domain."""

from meanfield import Spectrum, State
from meanfield.arguments import checked

from .domains import solvers_of
from .execution.threads import one_thread


@checked
@one_thread()
def spectrum(state: State) -> Spectrum:
    r"""Return the eigenvalues of the equation linearised at a stationary state.

    Parameters
    ----------
    state
        A stationary state; its field is recomputed from its moments.

    Returns
    -------
    Spectrum
        Eigenvalues, largest first, in units of 1/time: positive ones grow. On the circle they are separated by
        parity, at zonal states of spheres by azimuthal order; rotation is recognised by its overlap with the
        generator in the inner product in which the linearisation is symmetric, and set apart. The lowest
        eigenvalues, which oscillate as fast as the last resolved degree, are left out, and of large blocks all
        but the largest.

    Raises
    ------
    NotResolved
        If the state needs more degrees than a dense matrix affords; the message names the number.

    Notes
    -----
    At the uniform state the eigenvalues are :math:`-Dl(l+d-2)(1-\lambda_l)`, with :math:`l+d-2 = l` on the circle.

    Examples
    --------
    >>> from meanfield import Kuramoto, McKeanVlasov, Sphere
    >>> from solvers import stationary_states
    >>> state = stationary_states(McKeanVlasov(Sphere(3), Kuramoto(), coupling=5))[0]
    >>> [round(float(sector[0]), 6) for sector in spectrum(state).sectors[:3]]
    [-3.103327, -7.956366, -8.428093]
    """
    return solvers_of(state.problem).geometry.spectrum(state)


@checked
def spectral_gap(state: State) -> float:
    """Return the slowest decay rate of perturbations of a state, rotation excluded.

    Returns
    -------
    float
        Minus the largest eigenvalue of :func:`spectrum`, in units of 1/time; negative when unstable, zero where
        it is smaller than its error.

    Raises
    ------
    NotResolved
        As :func:`spectrum`.
    """
    return known_gap(spectrum(state))


def known_gap(found: Spectrum) -> float:
    """Return the slowest rate of a spectrum, zero if it is zero to within its error.

    So it is at a fold, and where clusters exchange mass over a gap so deep that the rate is below rounding.
    """
    return found.slowest_rate if abs(found.slowest_rate) > found.error else 0.0
