"""The ``d.NAME`` of AUTO-07p files: a description of the numbers for people and for programs that read them."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ..domains import Circle, Sphere
from ..equations import Capability, Equation
from ..errors import InvalidInput
from ..records.columns import COUPLING
from ..records.diagram import Diagram
from ..wording import describe
from . import digests, records, sets

Floats = NDArray[np.float64]

DESCRIPTION_KEY = "meanfield-diagram: "
FILES_KEY = "meanfield-files: "


@dataclass(frozen=True)
class Layout:
    """Layout of U: the number of cosine and of sine moments kept; about an axis there are no sines."""

    cosines: int
    sines: int

    @property
    def dimension(self) -> int:
        """NDIM, the number of unknowns."""
        return self.cosines + self.sines

    @property
    def leading(self) -> int:
        """Unknowns of states without sine moments, the first ones."""
        return self.cosines

    def vectors(self, cosine: Floats, sine: Floats) -> Floats:
        """Return moments (P, n + 1) as vectors U (P, NDIM)."""
        return np.hstack([_padded(cosine[:, 1:], self.cosines), _padded(sine[:, 1:], self.sines)])

    def described(self) -> list[str]:
        """Return what the unknowns of a state are as lines."""
        sines = f"; U({self.cosines + 1}..{self.dimension}): its sine moments" if self.sines else ""
        return [f"U(1..{self.cosines}): moments of the state, by degree{sines}"]


def description(diagram: Diagram, layout: Layout) -> str:
    """Return the content of ``d.NAME`` for a diagram."""
    equations, counted = _EQUATIONS[diagram.problem.domain.name]
    of_gradient = not diagram.problem.lacks(Capability.GRADIENT)
    pairs = "HB Hopf bifurcation, " if any(event.type == "Hopf" for event in diagram.special_points) else ""
    table = (
        "    j  w_j  v_j" + ("  u_j" if _has_sines(diagram) else "") + ("  N_j" if counted else ""),
        *_multiplier_lines(diagram, layout, counted),
        "",
    )
    lines = [
        *(equations(diagram, layout) if of_gradient else _without_equations(diagram, layout)),
        f"Labels: BP branch point, LP fold, {pairs}EP end; a regular label (RG) marks equal free energy with the",
        "uniform state. Negative PT: stable, rotation excluded. The full vectors are in the s. file.",
        "",
        f"n = {layout.cosines}",
        *(_listed(diagram) if of_gradient else ()),
        *(table if of_gradient else ("",)),
        "The line below holds the problem and the branches for programs that read the files back.",
        DESCRIPTION_KEY + records.dump(_machine_header(diagram, layout), ascii_only=True),
    ]
    return "".join(line + "\n" for line in lines)


def with_digests(description: str, diagram: str, solutions: str) -> str:
    """Return the text of ``d.NAME`` with a last line of the digests of all three files, this one up to there."""
    digests_of_all = sets.digests_of({"b.": diagram, "s.": solutions, "d.": description})
    return f"{description}{FILES_KEY}{records.dump(digests_of_all, ascii_only=True)}\n"


def require_one_set(path: Path, description: str, diagram: str, solutions: str) -> bool:
    """Refuse three files that were not written together; return whether the digests of all are stated.

    Parameters
    ----------
    path
        Where the description is.

    Raises
    ------
    InvalidInput
        If one of them differs from its stated digest.
    """
    own, found, stated = description.partition("\n" + FILES_KEY)
    if not found:
        return False
    try:
        expected = {f"{name}{path.name[2:]}": str(value) for name, value in records.load(stated).items()}
    except (ValueError, AttributeError) as error:
        raise InvalidInput(f"{path} is damaged in its last line") from error
    texts = {"b.": diagram, "s.": solutions, "d.": own + "\n"}
    sets.require_set(path, expected, {f"{name}{path.name[2:]}": text for name, text in texts.items()})
    return expected.keys() >= {f"{name}{path.name[2:]}" for name in texts}


def _has_sines(diagram: Diagram) -> bool:
    confinement = diagram.problem.confinement
    return confinement is not None and not confinement.even


def _on_the_circle(diagram: Diagram, layout: Layout) -> list[str]:
    unknowns = f"U(k) = m_k, k = 1..{layout.cosines}: cosine moments of the density"
    equations = ["G_k = m_k - <cos(k theta)>,  rho ~ exp(-sum_j (PAR(1) w_j m_j + v_j) cos(j theta) / PAR(2)),"]
    uneven = _has_sines(diagram)
    if layout.sines:
        unknowns += f"; U({layout.cosines} + k) = s_k: its sine moments"
        equations = [
            "G_k = m_k - <cos(k theta)>,  G_(n+k) = s_k - <sin(k theta)>,",
            "rho ~ exp(-sum_j ((PAR(1) w_j m_j + v_j) cos(j theta)"
            f" + {'(PAR(1) w_j s_j + u_j)' if uneven else 'PAR(1) w_j s_j'} sin(j theta)) / PAR(2)),",
        ]
    return [
        "Stationary states of a McKean-Vlasov equation on the circle, written by meanfield.",
        "",
        unknowns,
        _parameters(diagram),
        "The equations 0 = G of NAME.f90, <.> being the mean over the normalised density rho:",
        *(f"    {line}" for line in equations),
        "    with the multipliers w_j of the interaction and v_j of the confinement listed below;",
        *(["    behind them the u_j of its sines;"] if uneven else []),
        "    those not listed are 0. F = -G has the sign that AUTO needs to tell stability.",
        *(f"    {line}" for line in _rotation_lines(diagram, layout)),
    ]


def _on_the_sphere(diagram: Diagram, layout: Layout) -> list[str]:
    d = diagram.problem.domain.dimension
    return [
        f"Stationary states of a McKean-Vlasov equation on the sphere S^{d - 1}, d = {d}, those with an axis of",
        "symmetry, written by meanfield.",
        "",
        f"U(l) = p_l, l = 1..{layout.cosines}: moments of the density with P_l(u), u = cos(theta) from the axis",
        _parameters(diagram),
        "The equations 0 = G of NAME.f90, <.> being the mean over -1 < u < 1 with the normalised weight",
        "rho(u) (1 - u^2)^((d - 3)/2):",
        "    G_l = p_l - <P_l(u)>,  rho ~ exp(-sum_j (PAR(1) w_j p_j + v_j) P_j(u) / PAR(2)),",
        "    P_0 = 1,  P_1 = u,  (l + d - 2) P_(l+1) = (2 l + d - 2) u P_l - l P_(l-1),",
        "    with the multipliers w_j of the interaction and v_j of the confinement listed below;",
        "    those not listed are 0. F = -G has the sign that AUTO needs to tell stability.",
        "There are N_j harmonics of degree j: degree j becomes critical at PAR(1) = -N_j PAR(2) / w_j, and",
        "the density over the uniform one is 1 + sum_j N_j p_j P_j(u).",
    ]


def _parameters(diagram: Diagram) -> str:
    """Return what the parameters are in words."""
    other = "" if diagram.parameter in (COUPLING, "noise") else f", PAR(3) = {diagram.parameter}"
    return f"PAR(1) = coupling kappa, PAR(2) = noise D{other}"


def _listed(diagram: Diagram) -> list[str]:
    """Return the lines that say for which value of a parameter the multipliers are listed."""
    if diagram.parameter in (COUPLING, "noise"):
        return []
    value = float(_problem(diagram).parameters[diagram.parameter])
    return [f"w_j and v_j are listed at PAR(3) = {value:.17g}; the equations file has them as functions of it."]


def _problem(diagram: Diagram) -> Equation:
    """Return the problem whose multipliers are listed, in a parameter that at the end of the interval."""
    if diagram.parameter == COUPLING:
        return diagram.problem
    return diagram.problem.with_parameter(diagram.parameter, float(diagram.interval[1]))


# Of each domain the equations in words, and whether the numbers of harmonics are listed.
_EQUATIONS = {Circle.name: (_on_the_circle, False), Sphere.name: (_on_the_sphere, True)}


def _without_equations(diagram: Diagram, layout: Layout) -> list[str]:
    """Return the lines on the states of another velocity law, of which no model file is described."""
    sines = f"; U({layout.cosines} + k): its sine moments" if layout.sines else ""
    return [
        f"Stationary states of {describe(diagram.problem)}, written by meanfield.",
        "",
        f"U(k), k = 1..{layout.cosines}: moments of the density by degree{sines}",
        _parameters(diagram),
        "The velocity is not the gradient law of a pair potential, whose equations alone are written: AUTO can",
        "draw these branches and not go on from them.",
    ]


def _padded(moments: Floats, size: int) -> Floats:
    kept = np.asarray(moments[:, :size], dtype=np.float64)
    return np.pad(kept, ((0, 0), (0, size - kept.shape[1])))


def _rotation_lines(diagram: Diagram, layout: Layout) -> list[str]:
    if not layout.sines or diagram.problem.confinement is not None:
        return []
    return [
        "Every rotation of a state solves G = 0: the Jacobian given to AUTO must not be singular along the",
        "rotation, and for states without sines NDIM = n leaves them out.",
    ]


def _multiplier_lines(diagram: Diagram, layout: Layout, counted: bool) -> list[str]:
    problem = _problem(diagram)
    interaction = problem.potential.multipliers(problem.domain, layout.cosines)
    columns = [interaction, np.zeros_like(interaction)]
    if problem.confinement is not None:
        # The field of the states reaches further than their moments; this is what 4 n + 64 nodes resolve.
        degree = 2 * layout.cosines + 32
        confinement = problem.confinement.multipliers(problem.domain, degree)
        columns = [np.pad(interaction, (0, confinement.size - interaction.size)), confinement]
        if _has_sines(diagram):
            columns.append(problem.confinement.sine_multipliers(problem.domain, degree))
    rows = enumerate(zip(*columns, strict=True))
    lines = {degree: f"{degree:5d}  {'  '.join(map(_shortest, row))}" for degree, row in rows if any(row)}
    lines.pop(0, None)
    if not counted:
        return list(lines.values())
    return [f"{line}  {problem.domain.multiplicity(degree)}" for degree, line in lines.items()]


def _machine_header(diagram: Diagram, layout: Layout) -> dict[str, object]:
    header = digests.header(diagram)
    branches = [records.branch_header(branch) | {"points": len(branch)} for branch in diagram.branches]
    names = records.EVENT_INDICES + records.EVENT_TEXTS + records.EVENT_NUMBERS + records.EVENT_COUNTS
    events = [
        {name: getattr(event, name) for name in names} | records.varied_event(event) | records.second_state(event)
        for event in diagram.special_points
    ]
    return header | {
        "cosines": layout.cosines,
        "sines": layout.sines,
        "branches": branches,
        "special_points": events,
    }


def _shortest(value: float) -> str:
    # A strong transformer has multipliers beyond the range of doubles.
    return np.format_float_scientific(value, unique=True, trim="0")
