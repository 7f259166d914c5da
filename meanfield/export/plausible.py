"""Plausibility of records: the check of files from before there were digests.

A number that is not known is nan, and is accepted.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import InvalidInput
from ..records.branch import Branch, SpecialPoint
from ..records.columns import COUPLING
from ..records.comparison import Comparison
from ..records.contraction import Contraction
from ..records.curves import Curve
from ..records.diagram import Diagram
from ..records.ensemble import Ensemble
from ..records.phase_diagram import PhaseDiagram
from ..records.trajectory import Trajectory

# Of moments, whose modulus is 1 at most.
ROUNDING = 1e-6
# Of numbers that are kept twice; AUTO files hold eleven digits.
AGREEMENT = 1e-9


def require_diagram(diagram: Diagram) -> None:
    """Refuse a diagram whose numbers contradict each other or the range they can have.

    Raises
    ------
    InvalidInput
        With the first contradiction.
    """
    for branch in diagram.branches:
        _require_branch(diagram, branch)
    for index, event in enumerate(diagram.special_points):
        _require_event(diagram, event, f"special point {index}")


def require_trajectory(trajectory: Trajectory) -> None:
    """Refuse a trajectory whose times do not increase or whose moments are no moments."""
    _require_times(trajectory.time)
    require_moments(trajectory.cosine, trajectory.sine, "the trajectory")
    _require(trajectory.modes >= 0, "the trajectory has a negative number of modes")
    for name, values in trajectory.observables.items():
        _require(~np.isinf(values), f"the trajectory has an infinite {name}")
    if trajectory.flow_map is not None:
        _require_times(trajectory.flow_map.time)
        _require(np.isfinite(trajectory.flow_map.positions), "a point of the flow map is at no angle")
        _require(~np.isinf(trajectory.flow_map.densities), "the density is infinite at a point of the flow map")


def require_ensemble(ensemble: Ensemble) -> None:
    """Refuse an ensemble whose times, moments or counts are impossible."""
    _require_times(ensemble.time)
    require_moments(ensemble.cosine, ensemble.sine, "the ensemble")
    counted = ensemble.histogram.sum(axis=1)
    _require(ensemble.histogram >= 0, "the histogram counts less than no particles")
    _require((counted == 0) | (counted == ensemble.particles), "the histogram counts other than all particles")


def require_contraction(contraction: Contraction) -> None:
    """Refuse a contraction whose times do not increase, or with a negative error or remainder."""
    _require_times(contraction.time)
    _require(contraction.remainder >= 0, "1 - r is negative")
    errors = [rate.error for rate in contraction.rates if rate.error is not None]
    _require(np.array([contraction.local_exponent_error, *errors]) >= 0, "the error of a rate is negative")


def require_curve(curve: Curve) -> None:
    """Refuse a curve with moments that no density has, or columns that do not belong together."""
    for cosine, sine in ((curve.cosine, curve.sine), (curve.other_cosine, curve.other_sine)):
        if cosine is not None and sine is not None:
            require_moments(cosine, sine, f"the curve {curve.label!r}")
    _require(np.diff(curve.arclength) >= 0, f"the arclength of {curve.label!r} falls")
    sizes = {len(curve), len(curve.values), len(curve.arclength), len(curve.tangent), len(curve.point_labels)}
    _require(np.array(len(sizes) == 1), f"the columns of {curve.label!r} have different lengths")


def require_phase_diagram(diagram: PhaseDiagram) -> None:
    """Refuse a phase diagram with a curve that cannot be one, or a region upside down."""
    for curve in diagram.curves:
        require_curve(curve)
    for region in diagram.regions:
        _require(region.upper >= region.lower, f"the region {region.name} ends below where it begins")


def require_comparison(comparison: Comparison) -> None:
    """Refuse a comparison whose sizes do not increase, or with a band that ends below its beginning."""
    _require_times(comparison.time)
    _require(np.diff(comparison.particles) > 0, "the numbers of particles do not increase")
    _require(~(comparison.distances < 0), "a distance is negative")
    for means in (comparison.moments, comparison.distance_means, comparison.fluctuations):
        if means is not None:
            _require(~(means.low > means.high), "a confidence band ends below its beginning")
            _require(~(means.standard_error < 0), "a standard error is negative")


def require_moments(cosine: NDArray[np.float64], sine: NDArray[np.float64], what: str) -> None:
    """Refuse moments, (..., n), that are beyond 1 or of a mass other than 1, saying whose they are."""
    _require(~(np.hypot(cosine, sine) > 1.0 + ROUNDING), f"{what} has a moment beyond 1 in modulus")
    _require(~(np.abs(cosine[..., 0] - 1.0) > ROUNDING), f"{what} has a mass other than 1")


def _require_branch(diagram: Diagram, branch: Branch) -> None:
    what = f"branch {branch.label!r}"
    _require(np.isfinite(branch.coupling), f"{what} has a coupling that is no number")
    _require(np.isfinite(branch.values), f"{what} has a {branch.parameter} that is no number")
    _require_relative(diagram, branch.coupling, branch.relative_coupling, what)
    require_moments(branch.cosine, branch.sine, what)
    # The comparison of what is not known is false.
    _require(~(np.diff(branch.arclength) < 0), f"{what} has an arclength that decreases")
    _require(branch.unstable >= -1, f"{what} has a negative number of unstable directions")
    _require(branch.modes >= 0, f"{what} has a negative number of modes")
    _require(~(branch.residual < 0), f"{what} has a negative residual")
    finite = {"slowest_rate": branch.slowest_rate, "arclength": branch.arclength, **branch.observables}
    for name, values in finite.items():
        _require(~np.isinf(values), f"{what} has an infinite {name}")


def _require_event(diagram: Diagram, event: SpecialPoint, what: str) -> None:
    branch = diagram.branches[event.branch]
    name, there = event.parameter, branch.values[event.point]
    slack = AGREEMENT * abs(there)
    _require(abs(event.value - there) <= slack, f"{what} is at another {name} than its point of its branch")
    _require(
        event.lower - slack <= event.value <= event.upper + slack,
        f"{what} is outside the bounds of its {name}",
    )
    relative = np.nan if event.relative_coupling is None else event.relative_coupling
    _require_relative(diagram, np.asarray(event.coupling), np.asarray(relative), what)
    require_moments(event.cosine, event.sine, what)
    if event.other_cosine is not None and event.other_sine is not None:
        require_moments(event.other_cosine, event.other_sine, f"the second state of {what}")
    for name in ("cosine", "sine"):
        own, of_branch = getattr(event, name), getattr(branch, name)[event.point]
        size = min(own.size, of_branch.size)
        differs = np.abs(own[:size] - of_branch[:size]) > AGREEMENT
        _require(~differs, f"{what} has other moments than its point of its branch")


def _require_relative(diagram: Diagram, coupling: NDArray[Any], relative: NDArray[Any], what: str) -> None:
    critical = diagram.critical_coupling
    if diagram.parameter != COUPLING:
        # The critical coupling changes along the parameter.
        return
    if critical is None:
        _require(np.isnan(relative), f"{what} has relative couplings, and there is no critical one")
        return
    expected = np.asarray(coupling / critical, dtype=np.float64)
    _require(
        ~(np.abs(relative - expected) > AGREEMENT * np.abs(expected)),
        f"{what} has a relative coupling that is not its coupling over the critical one, {float(critical):.12g}",
    )


def _require_times(time: NDArray[np.float64]) -> None:
    _require(np.isfinite(time), "a time is no number")
    _require(np.diff(time) > 0, "its times do not increase")


def _require(possible: Any, otherwise: str) -> None:
    if not np.all(possible):
        raise InvalidInput(
            f"{otherwise}, so that a number was changed after it was written; take another copy, or open it "
            "unchecked with check=False"
        )
