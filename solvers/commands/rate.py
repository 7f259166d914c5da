"""The command ``rate``: the spectral gap, its closed form and the rate an evolution shows, side by side."""

import argparse
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, cast

from meanfield import Equation, MeanfieldError, Relaxation, Spectrum, State
from meanfield.command_line import (
    Parser,
    add_common,
    add_coupling,
    add_figure,
    add_problem,
    at_coupling,
    check_targets,
    formatted,
    origin,
    problem_from,
    progress_bar,
    require_coupling,
    say,
    say_json,
    set_verbosity,
    table,
    write_all,
)
from meanfield.export import states_to_json_object
from meanfield.theory import transition_coupling

from .contraction import add_contraction, contract, require_noise
from .wording import EACH_BRANCH, add_on_failure, heading

# Azimuthal orders in the table, and rates of each.
ORDERS_SHOWN = 5
RATES_SHOWN = 3


def rate(argv: Sequence[str]) -> int:
    """Compute how fast densities relax to the stable states: spectral gap, closed form and fitted rate."""
    words = (
        "Compute how fast densities relax to the stable states, rotation set apart, or without noise to a point."
    )
    parser = Parser("rate", words, argv)
    add_coupling(parser)
    add_on_failure(parser)
    parser.add_argument("--no-fit", action="store_true", help="leave the evolution and its fitted rates out")
    add_figure(parser, "--plot", "the decay of the distances to the minimiser, with the fitted exponentials")
    add_contraction(parser)
    add_common(parser, quiet="progress, the tables and the names of the files written", verbose=EACH_BRANCH)
    add_problem(parser)
    settings = parser.settings()
    problem = at_coupling(problem_from(parser, settings), settings)
    require_coupling(parser, problem)
    if problem.noise == 0:
        return contract(parser, problem, settings)
    require_noise(settings)
    check_targets([], [settings.plot] if settings.plot else [], settings.force)
    set_verbosity(settings.verbose)
    from ..spectra import spectrum
    from ..stationary import stationary_states

    with progress_bar(not settings.quiet and not settings.verbose, "states", "states") as advance:
        states = stationary_states(problem, rates=False, on_failure=settings.on_failure, watch=advance)
        advance(len(states), len(states), "spectra")
        spectra = [spectrum(state) for state in states if state.stable is not False]
    fitted, complaint = _fitted(problem, spectra, states[0].minimiser_reason, settings)
    where = origin(parser, settings)
    try:
        write_all(_writers(fitted, where, settings), settings.quiet)
    finally:
        if settings.json:
            say_json(_rate_object(problem, spectra, fitted, complaint) | {"provenance": where})
        elif not settings.quiet:
            say(_rate_text(problem, states, spectra, fitted, complaint))
    return 0


def _fitted(
    problem: Equation, spectra: Sequence[Spectrum], reason: str, settings: argparse.Namespace
) -> tuple[Relaxation | None, str]:
    """Return the relaxation to the minimiser, or None, and the reason if there is none."""
    from ..relaxation import contraction_rate

    minimiser = next((result.state for result in spectra if result.state.minimiser), None)
    if settings.no_fit or minimiser is None:
        unknown = f"no rate was fitted, since the minimiser is not known: {reason}"
        return None, "" if settings.no_fit else unknown
    with progress_bar(not settings.quiet and not settings.verbose, "relaxation", "distances") as advance:
        try:
            return cast(Relaxation, contraction_rate(problem, state=minimiser, watch=advance)), ""
        except MeanfieldError as error:
            return None, f"no rate was fitted: {error}"


def _writers(
    fitted: Relaxation | None, where: dict[str, Any], settings: argparse.Namespace
) -> list[Callable[[], Sequence[Path]]]:
    if settings.plot is None or fitted is None:
        return []
    return [lambda: [_draw(fitted, settings.plot, where, settings.force)]]


def _draw(fitted: Relaxation, target: str, where: dict[str, Any], force: bool) -> Path:
    from matplotlib.figure import Figure

    from meanfield.plotting import caption, entitle_figure, save_figure

    figure = Figure(figsize=(6.0, 4.2), layout="constrained")
    entitle_figure(figure, caption(fitted.problem))
    fitted.plot(figure.subplots())
    return save_figure(figure, target, force, where)


def _rate_object(
    problem: Equation, spectra: Sequence[Spectrum], fitted: Relaxation | None, complaint: str
) -> dict[str, Any]:
    minimiser = next((result for result in spectra if result.state.minimiser), None)
    stationary = states_to_json_object([result.state for result in spectra], transition_coupling(problem))
    rows = [row | _spectral_row(result) for row, result in zip(stationary["states"], spectra, strict=True)]
    unknown: dict[str, Any] = {"fitted": None, "fitted_error": None, "norm": None, "window": None, "norms": []}
    spectral = {
        "gap": None if minimiser is None else minimiser.slowest_rate,
        "gap_error": None if minimiser is None else minimiser.error,
        "theory": None if minimiser is None else _closed_form(minimiser.state),
    }
    known = {} if fitted is None else fitted.to_dict()
    return {
        "problem": problem.to_dict() | {"coupling": problem.coupling},
        "critical_coupling": transition_coupling(problem),
        **unknown,
        **spectral,
        **known,
        "states": rows,
        "warnings": [*known.get("warnings", []), *([complaint] if complaint else [])],
    }


def _closed_form(state: State) -> float | None:
    from ..relaxation import closed_form

    return closed_form(state)


def _spectral_row(result: Spectrum) -> dict[str, Any]:
    return {
        "slowest_rate": result.slowest_rate,
        "error": result.error,
        "rotation": result.rotation,
        "rotation_overlap": result.rotation_overlap,
        "theory": _closed_form(result.state),
        **({"sectors": _sectors(result)} if result.sectors else {}),
    }


def _sectors(result: Spectrum) -> list[dict[str, Any]]:
    """Return the rates by azimuthal order about the axis of a zonal state, slowest first."""
    return [
        {"order": order, "multiplicity": repeated, "rates": -values}
        for order, (values, repeated) in enumerate(zip(result.sectors, result.multiplicities, strict=True))
    ]


def _rate_text(
    problem: Equation,
    states: Sequence[State],
    spectra: Sequence[Spectrum],
    fitted: Relaxation | None,
    complaint: str,
) -> str:
    left_out = len(states) - len(spectra)
    lines = [*heading(problem, states), ""]
    lines.append(_rate_table(spectra) if spectra else "no stable state was found, so there is no decay rate")
    zonal = [result for result in spectra if result.sectors]
    if zonal:
        lines += ["", "slowest rates by azimuthal order m about the axis:", _sector_table(zonal)]
        lines += _orders_left_out(zonal)
    if left_out:
        count = f"{left_out} unstable state{'' if left_out == 1 else 's'}"
        lines += ["", f"{count} left out; meanfield stationary lists all"]
    if fitted is not None:
        kind = f"{fitted.followed} perturbation" if fitted.followed else "perturbation"
        lines += ["", f"a small {kind} of {fitted.state.label} in the evolution:", _fit_table(fitted)]
        lines += [f"  - {warning}" for warning in fitted.warnings]
    elif complaint:
        lines += ["", complaint]
    return "\n".join(lines)


def _rate_table(spectra: Sequence[Spectrum]) -> str:
    columns = {
        "state": [result.state.label for result in spectra],
        "spectral gap": [formatted(result.slowest_rate) for result in spectra],
        "error": [formatted(result.error, 2) for result in spectra],
        "closed form": [formatted(_closed_form(result.state)) for result in spectra],
        "rotation": [formatted(result.rotation, 2) for result in spectra],
        "overlap": [formatted(result.rotation_overlap, 6) for result in spectra],
        "": ["minimiser" if result.state.minimiser else "" for result in spectra],
    }
    return table(columns, "  ")


def _sector_table(spectra: Sequence[Spectrum]) -> str:
    rows = [(result, sector) for result in spectra for sector in _sectors(result)[:ORDERS_SHOWN]]
    rates = [[formatted(float(each)) for each in sector["rates"][:RATES_SHOWN]] for _, sector in rows]
    columns = {
        "state": [result.state.label if sector["order"] == 0 else "" for result, sector in rows],
        "m": [str(sector["order"]) for _, sector in rows],
        "multiplicity": [str(sector["multiplicity"]) for _, sector in rows],
        "rates": [each[0] if each else "-" for each in rates],
        **{" " * place: [each[place] if len(each) > place else "" for each in rates] for place in (1, 2)},
    }
    return table(columns, "  ")


def _orders_left_out(spectra: Sequence[Spectrum]) -> list[str]:
    last = max(len(result.sectors) for result in spectra) - 1
    return [f"higher orders, known up to m = {last}, are listed with --json"] if last >= ORDERS_SHOWN else []


def _fit_table(fitted: Relaxation) -> str:
    fits = fitted.fits
    slowest = "gap" if fitted.followed_rate in (None, fitted.gap) else f"{fitted.followed} rate"
    columns = {
        "distance": [fit.norm for fit in fits],
        "decays at": [slowest if fit.multiple == 1 else f"{fit.multiple} {slowest}" for fit in fits],
        "expected": [formatted(fitted.expected(fit)) for fit in fits],
        "fitted": [formatted(fit.rate) for fit in fits],
        "error": [formatted(fit.error, 2) for fit in fits],
        "from time": [formatted(None if fit.window is None else fit.window[0], 3) for fit in fits],
        "to": [formatted(None if fit.window is None else fit.window[1], 3) for fit in fits],
    }
    return table(columns, "  ")
