"""Simulate, learn and evolve robots in MuJoCo worlds.

``World`` is a simulated world that a program steps. ``rossum_sim.soccer`` plays RoboCup's MuJoCo league in process.
"""

from ._native import (
    MUJOCO_VERSION,
    Agent,
    Contact,
    Motor,
    RossumError,
    SavedState,
    Sensor,
    Variable,
    World,
    __version__,
)

__all__ = [
    "MUJOCO_VERSION",
    "Agent",
    "Contact",
    "Motor",
    "RossumError",
    "SavedState",
    "Sensor",
    "Variable",
    "World",
    "__version__",
]
