r"""
States without an axis
======================

At degree four the uniform density of the sphere loses stability in nine directions at once, and symmetry tells
which of them lead to branches: the zonal one and the octahedral one,
:math:`x^4 + y^4 + z^4 - \frac35`, each in both senses. The potential

.. math:: W(x,y) = -P_4(\langle x,y\rangle), \qquad \kappa_4 = 9D

has no other degree. With :math:`\psi` the invariant of the group, :math:`\frac{1}{4\pi}\int\psi^2 = 1`, the
octahedral states are :math:`\rho \propto e^{a\psi}` exactly and lie on the curve

.. math:: \kappa = \frac{9\,a}{\langle\psi\rangle_a}\,D, \qquad
          \frac{\kappa}{\kappa_4} = 1 - 0.288414\,\langle\psi\rangle + \dots

through the uniform state. Both senses of both branches leave transcritically. Mass at the six ends of the axes
(:math:`a>0`, octahedral) becomes stable at its fold and unstable again where a branch with one axis of order four
(tetragonal) crosses; mass at the eight corners of the cube (:math:`a<0`) never is stable. Neither has the lowest
energy, which belongs to a zonal state, two opposite clusters and a faint belt between them.
"""

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from scipy.optimize import brentq

from meanfield import Diagram, GegenbauerSeries, McKeanVlasov, Sphere, State
from meanfield.plotting import style_handles
from solvers import Arclength, bifurcation_diagram

# %%
# Parameters
# ----------

RANGE = (0.84, 1.3)
NAMES = {
    "octahedral": "octahedral",
    "cubic": "cubic",
    "zonal 4+": "zonal, at the poles",
    "zonal 4-": "zonal, between them",
    "D_4h from zonal 4+": "tetragonal",
}
GLOBES = ("zonal 4+", "D_4h from zonal 4+", "octahedral", "cubic", "zonal 4-")
VIEW = (1.0, 0.55, 0.5)

# %%
# Problem and solution
# --------------------
# The densities of each branch are expanded in the harmonics that share its symmetry; stability is counted among all
# densities, class by class of the group.


def compute() -> Diagram:
    """Compute the diagram."""
    problem = McKeanVlasov(Sphere(3), GegenbauerSeries((0.0, 0.0, 0.0, -1.0)))
    return bifurcation_diagram(problem, relative=RANGE, method=Arclength(max_step=0.02), rates=False)


diagram = compute()
print(diagram.summary())

# %%
# Plot
# ----
# The length of the moments of degree four, the free energy, and the states at the largest coupling.


def draw(diagram: Diagram) -> Figure:
    """Draw the length of the moments, the free energy and the states on globes."""
    figure = plt.figure(figsize=(10.4, 6.6), layout="constrained")
    curves, globes = figure.subfigures(2, 1, height_ratios=(2.0, 1.0))
    left, right = curves.subplots(1, 2)
    diagram.plot("m4", left, legend=False, labels=False)
    diagram.plot("free_energy_gap", right, legend=False, labels=False)
    left.set(xlim=RANGE, ylim=(-0.03, 0.95))
    near = left.inset_axes((0.53, 0.3, 0.43, 0.21))
    diagram.plot("m4", near, legend=False, labels=False)
    near.set(xlim=(0.892, 0.924), ylim=(0.235, 0.365), xlabel="", ylabel="")
    near.tick_params(labelsize=7)
    right.set(xlim=RANGE, ylim=(-0.85, 0.06))
    inset = right.inset_axes((0.13, 0.08, 0.35, 0.42))
    diagram.plot("free_energy_gap", inset, legend=False, labels=False)
    inset.set(xlim=(0.87, 0.94), ylim=(-0.0125, 0.0075), xlabel="", ylabel="")
    inset.tick_params(labelsize=7)
    colours = {str(line.get_gid()): line.get_color() for line in left.get_lines() if line.get_gid()}
    add_key(curves, colours)
    for ax, label in zip(globes.subplots(1, len(GLOBES)), GLOBES, strict=True):
        state = diagram.state(label, -1)
        state.plot_globe(ax, VIEW, bar=False)
        peak = f"{state.relative_density(*peak_of(state)):.3g}"
        ax.set_title(NAMES[label], fontsize=10, color=colours[label])
        ax.text(
            0.5,
            -0.04,
            rf"$0 \leq \rho/\rho_0 \leq {peak}$",
            transform=ax.transAxes,
            ha="center",
            va="top",
            fontsize=9,
        )
    return figure


def peak_of(state: State) -> tuple[float, float]:
    """Return the angles of the largest density on a grid of one degree."""
    polar, azimuth = np.meshgrid(np.deg2rad(np.arange(181.0)), np.deg2rad(np.arange(360.0)), indexing="ij")
    place = np.argmax(state.relative_density(polar, azimuth))
    return float(polar.flat[place]), float(azimuth.flat[place])


def add_key(figure: Figure, colours: dict[str, str]) -> None:
    """Explain colours, lines and markers below the panels."""
    handles = [Line2D([], [], color=colours["uniform"], label="uniform")]
    handles += [Line2D([], [], color=colours[label], label=NAMES[label]) for label in GLOBES]
    handles += style_handles()
    figure.legend(handles=handles, loc="outside lower center", ncols=6, frameon=False, fontsize=8)


draw(diagram)
plt.show()

# %%
# Numbers
# -------
# The curve above by quadrature over the sphere, and on it the coupling at which the octahedral state loses
# stability: there :math:`\frac\kappa D\operatorname{Var}(e) = 1` for the harmonics :math:`e` of degree four that
# transform like :math:`x^2-y^2` and :math:`3z^2-1`.


def nodes() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return cos theta, phi and the weights of a product rule for means over the sphere."""
    heights, weights = np.polynomial.legendre.leggauss(80)
    azimuth = 2 * np.pi * np.arange(96) / 96
    height, angle = np.meshgrid(heights, azimuth, indexing="ij")
    return height, angle, np.outer(weights, np.ones(96)) / 192


def harmonics() -> tuple[np.ndarray, np.ndarray]:
    """Return psi, and the other harmonic of degree four with an axis of order four, of mean square 1/9."""
    height, angle, _ = nodes()
    axial = (35 * height**4 - 30 * height**2 + 3) / 8
    turning = np.sqrt(35) / 8 * (1 - height**2) ** 2 * np.cos(4 * angle)
    invariant = np.sqrt(7 / 12) * axial + np.sqrt(5 / 12) * turning
    return 3 * invariant, np.sqrt(5 / 12) * axial - np.sqrt(7 / 12) * turning


def curve(strength: float) -> tuple[float, float, float]:
    """Return kappa/D, the mean of psi and the variance of the other harmonic in the state e^(a psi)."""
    psi, other = harmonics()
    weights = nodes()[2] * np.exp(strength * (psi - psi.max()))
    weights /= weights.sum()
    mean, first = np.sum(weights * psi), np.sum(weights * other)
    return 9 * strength / mean, float(mean), float(np.sum(weights * other**2) - first**2)


def loss_of_stability() -> float:
    """Return kappa/D where the octahedral state becomes unstable to an axis."""

    def excess(strength: float) -> float:
        coupling, _, variance = curve(strength)
        return coupling * variance - 1

    return curve(brentq(excess, 0.7, 2.0, xtol=1e-15, rtol=1e-14))[0]


def distance(diagram: Diagram, label: str) -> float:
    """Return the largest distance of a branch from the curve, in the coupling at the same strength."""
    branch = diagram.branch(label)
    sign = 1.0 if label == "octahedral" else -1.0
    strengths = sign * branch.coupling * branch.moment(4) / 3
    return max(abs(curve(a)[0] - k) for a, k in zip(strengths[1:], branch.coupling[1:], strict=True))


def check(diagram: Diagram) -> None:
    """Compare with reference values."""
    (fold,) = diagram.events("fold", "octahedral")
    (transition,) = diagram.events("transition", "octahedral")
    (crossing,) = diagram.events("branch point", "octahedral")
    assert abs(diagram.critical_coupling - 9.0) < 1e-13
    assert abs(fold.coupling - 8.11693310043) < 1e-11
    assert abs(transition.coupling - 8.21129271382) < 1e-11
    assert abs(crossing.coupling / loss_of_stability() - 1) < 1e-11
    assert (fold.unstable_before, fold.unstable_after, crossing.unstable_after) == (1, 0, 2)
    assert max(distance(diagram, label) for label in ("octahedral", "cubic")) < 1e-10
    zonal = diagram.branch("zonal 4+").free_energy_gap
    assert all(zonal.min() < diagram.branch(label).free_energy_gap.min() for label in GLOBES[1:])


check(diagram)
