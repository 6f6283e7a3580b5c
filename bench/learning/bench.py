#!/usr/bin/env python3
"""Measures the learning environments on this machine: against MuJoCo's own batches, against other vectors of environments, soccer
against bare physics, and scale-out with Ray. `make bench-learn` runs it.

Ours and the peer take turns, so that noise hits both; each figure is the median of several rounds. A missed goal is reported
and fails nothing, because the machine may be busy. Before anything is measured, both sides simulate the same robots, and
their states have to be equal to the bit: what is compared is the same work.

A peer is a function that prepares a run and returns it, as `mujoco_batch` does; further ones need one more line in `PEERS`.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path

import ant
import mujoco
import numpy as np
import scale_out
import soccer
from figure import Figure, Run, compared, timed
from mujoco import batch, rollout
from numpy.typing import NDArray
from rossum_sim import _native
from rossum_sim.envs import TaskEnv, TaskVectorEnv

TASK = "T1Walk"
STEPS_PER_TICK = 4
TICKS = 40  # of a run: nobody has fallen yet, so that nobody is reset
SEED = 1
ROBOT = Path(__file__).resolve().parents[2] / "models/robots/T1/robot.xml"
FLOOR = """<mujoco>
  <compiler angle="radian"/>
  <option timestep="0.005" density="1.2" viscosity="2e-05"/>
  <worldbody><geom name="floor" type="plane" size="20 20 0.1"/></worldbody>
</mujoco>"""


@dataclass
class Work:
    """What all sides simulate: start states, and controls for each tick."""

    model: mujoco.MjModel
    qpos: NDArray[np.float64]
    qvel: NDArray[np.float64]
    actions: NDArray[np.float32]  # tick, environment, action
    ctrl: NDArray[np.float64]  # tick, environment, actuator
    end: NDArray[np.float64]  # positions after the last tick

    @property
    def steps(self) -> int:
        """Physics steps of a run."""
        ticks, envs, _ = self.actions.shape
        return ticks * envs * STEPS_PER_TICK


def peer_model(gains: NDArray[np.float64]) -> mujoco.MjModel:
    """The world of the task, compiled by MuJoCo's own API, with the gains that the task gives its motors."""
    world = mujoco.MjSpec.from_string(FLOOR)
    world.compiler.discardvisual = True
    robot = mujoco.MjSpec.from_file(str(ROBOT))
    robot.compiler.discardvisual = True
    world.attach(robot, prefix="Robot:", frame=world.worldbody.add_frame())
    model = world.compile()
    model.actuator_gainprm[:, 0] = gains[:, 0]
    model.actuator_biasprm[:, :3] = gains[:, 1:]
    model.actuator_biastype[gains[:, 1:].any(axis=1)] = mujoco.mjtBias.mjBIAS_AFFINE
    return model


def prepare(envs: int) -> Work:
    """Lets single environments run with small random actions, and notes what they do."""
    rng = np.random.default_rng(SEED)
    env = _native.Env(_native.Task(TASK), None)
    env.reset(SEED)
    actions = rng.uniform(-0.1, 0.1, (TICKS, envs, env.actions)).astype(np.float32)
    qpos, qvel, ctrl, end = [], [], np.empty((TICKS, envs, len(env.ctrl))), []
    for index in range(envs):
        env.reset(SEED + index)
        qpos.append(env.qpos)
        qvel.append(env.qvel)
        for tick in range(TICKS):
            _, _, terminated, _ = env.step(actions[tick, index])
            assert not terminated, "nobody falls in a run"
            ctrl[tick, index] = env.ctrl
        end.append(env.qpos)
    return Work(peer_model(env.gains), np.array(qpos), np.array(qvel), actions, ctrl, np.array(end))


def ours(work: Work, threads: int) -> Run:
    """Our vector of environments, with observations and rewards as NumPy arrays."""
    envs = TaskVectorEnv(TASK, work.actions.shape[1], threads=threads)

    def run() -> None:
        for actions in work.actions:
            envs.step(actions)

    return lambda: envs.reset(seed=SEED), run


def mujoco_batch(work: Work, threads: int) -> Run:
    """`mujoco.batch`: physics only."""
    sims = batch.Batch(work.model, nsim=work.actions.shape[1], nthread=threads)
    qpos, qvel, ctrl = sims.bind("qpos"), sims.bind("qvel"), sims.bind("ctrl")

    def reset() -> None:
        sims.reset()
        qpos[:], qvel[:] = work.qpos, work.qvel

    def run() -> None:
        for controls in work.ctrl:
            ctrl[:] = controls
            sims.step(nstep=STEPS_PER_TICK)

    reset()
    run()
    assert np.array_equal(qpos, work.end), "mujoco.batch simulates something else"
    return reset, run


def mujoco_rollout(work: Work, threads: int) -> Run:
    """`mujoco.rollout`: physics only, all ticks of a run in one call, whose controls are known in advance."""
    full = mujoco.mjtState.mjSTATE_FULLPHYSICS
    data = mujoco.MjData(work.model)
    states = []
    for qpos, qvel in zip(work.qpos, work.qvel, strict=True):
        data.qpos[:], data.qvel[:] = qpos, qvel
        state = np.empty(mujoco.mj_stateSize(work.model, full))
        mujoco.mj_getState(work.model, data, state, full)
        states.append(state)
    controls = np.repeat(work.ctrl.transpose(1, 0, 2), STEPS_PER_TICK, axis=1)
    pool = rollout.Rollout(nthread=threads)
    datas = [mujoco.MjData(work.model) for _ in range(threads)]

    def run() -> NDArray[np.float64]:
        return pool.rollout(work.model, datas, np.array(states), controls)[0]

    nq = work.model.nq
    assert np.array_equal(run()[:, -1, 1 : 1 + nq], work.end), "mujoco.rollout simulates something else"
    return lambda: None, run


PEERS: list[tuple[str, Callable[[Work, int], Run], float]] = [
    ("mujoco.batch", mujoco_batch, 0.95),
    ("mujoco.rollout", mujoco_rollout, 0.95),
]


def vectors(rounds: int, envs: int, threads: int) -> list[Figure]:
    """Physics steps per second of our vector and of each peer."""
    work = prepare(envs)
    sides = [ours(work, threads), *(peer(work, threads) for _, peer, _ in PEERS)]
    times = [[timed(side) for side in sides] for _ in range(rounds)]
    detail = f"physics steps/s, {envs} environments, {threads} threads"
    return [
        compared(f"vector of {TASK} / {name}", times, column, work.steps, goal, detail)
        for column, (name, _, goal) in enumerate(PEERS, 1)
    ]


def single(rounds: int) -> list[Figure]:
    """Time of a step of a single environment beyond its physics, in µs."""
    work = prepare(1)
    env, data = TaskEnv(TASK), mujoco.MjData(work.model)

    def reset_peer() -> None:
        mujoco.mj_resetData(work.model, data)
        data.qpos[:], data.qvel[:] = work.qpos[0], work.qvel[0]

    def run() -> None:
        for actions in work.actions:
            env.step(actions[0])

    def run_peer() -> None:
        for controls in work.ctrl:
            data.ctrl[:] = controls[0]
            mujoco.mj_step(work.model, data, nstep=STEPS_PER_TICK)

    def once() -> tuple[float, float]:
        mine = timed((lambda: env.reset(seed=SEED), run))[0]
        return mine, timed((reset_peer, run_peer))[0]

    times = [once() for _ in range(20 * rounds)]
    mine, peer = (statistics.median(column) / TICKS * 1e6 for column in zip(*times, strict=True))
    beyond = statistics.median(one - other for one, other in times) / TICKS * 1e6
    detail = f"{mine:.1f} µs a step, {peer:.1f} µs in bare mj_step, controls and all, from Python"
    return [Figure(f"step of one {TASK} beyond physics, µs", beyond, "<= 5", beyond <= 5.0, detail)]


def main() -> None:
    """Reads the options, measures and prints."""
    options = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    options.add_argument("--quick", action="store_true", help="fewer rounds, for a quick check")
    options.add_argument("--envs", default=64, type=int, help="environments in a vector (64)")
    options.add_argument("--threads", default=len(os.sched_getaffinity(0)), type=int, help="default: all cores")
    options.add_argument("--json", action="store_true", help="print one JSON object per figure")
    options.add_argument("--envpool", metavar="PYTHON", help="interpreter with EnvPool (scripts/fetch-python envpool)")
    options.add_argument("--gymnasium", metavar="PYTHON", help="one with Gymnasium and MuJoCo (scripts/fetch-python gymnasium)")
    given = options.parse_args()
    rounds = 3 if given.quick else 9
    figures = vectors(rounds, given.envs, given.threads) + single(rounds)
    figures += ant.figures(rounds, given.envs, given.threads, given.envpool, given.gymnasium)
    figures += soccer.figures(rounds) + scale_out.figures(given.quick)
    if given.json:
        for figure in figures:
            print(json.dumps(asdict(figure)))
        return
    print("| figure | measured | goal | met | detail |\n|---|---|---|---|---|")
    for figure in figures:
        met = "yes" if figure.met else "NO"
        print(f"| {figure.what} | {figure.value:.3g} | {figure.goal} | {met} | {figure.detail} |")


if __name__ == "__main__":
    main()
