r"""Trajectories in a frame that rotates with the frequency, turned back: :math:`c_k \to c_k e^{-ik\omega t}`.

Without a confinement the equation with the frequency omega is the one without it for the angle
:math:`\theta - \omega t`, so that the rotation costs nothing and is exact.
"""

import dataclasses

import numpy as np

from meanfield import Equation, Outcome, Trajectory
from meanfield.records import ORDER_DEFICIT, FlowMap

from ..bases import EPS

RESTS = (Outcome.STATIONARY, Outcome.METASTABLE, Outcome.UNDECIDED)


def turned(trajectory: Trajectory, problem: Equation) -> Trajectory:
    """Return the trajectory of an equation with a common frequency from the one in the frame that rotates with it.

    Energies, which the equation does not have, are left out.
    """
    frequency, degrees = problem.velocity.frequency, np.arange(trajectory.cosine.shape[1])
    phases = np.multiply.outer(frequency * trajectory.time, degrees)
    moments = (trajectory.cosine - 1j * trajectory.sine) * np.exp(-1j * phases)
    accuracy, flow_map = trajectory.accuracy, trajectory.flow_map
    return dataclasses.replace(
        trajectory,
        problem=problem,
        cosine=moments.real.copy(),
        # An exact zero has no sign.
        sine=0.0 - moments.imag,
        observables={name: values for name, values in trajectory.observables.items() if name == ORDER_DEFICIT},
        # Phases are known to roundings of their size.
        accuracy=None if accuracy is None else accuracy + EPS * float(np.abs(phases).max()),
        flow_map=None if flow_map is None else _turned_map(flow_map, frequency),
        warnings=(*trajectory.warnings, *_in_frame(trajectory.outcome, frequency)),
        provenance=trajectory.provenance | {"problem": problem.to_dict()},
    )


def _turned_map(flow: FlowMap, frequency: float) -> FlowMap:
    angles = frequency * flow.time
    return dataclasses.replace(
        flow, positions=flow.positions + angles[:, None], cluster=flow.cluster + float(angles[-1])
    )


def _in_frame(outcome: Outcome, frequency: float) -> tuple[str, ...]:
    """Return the warning that a state of rest is one in the rotating frame, if there is one."""
    if outcome not in RESTS:
        return ()
    return (
        f"the stationary state, its rate and the distance from it are those in the frame that rotates with the "
        f"common frequency {frequency:.6g}; a state that is not uniform is a rotating wave",
    )
