"""Soccer for learners: memory of many games, games on several threads, and a full game as a PettingZoo environment against bare
physics.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import mujoco
import numpy as np
from figure import Figure, Run, timed
from rossum_sim.pettingzoo import SoccerEnv
from rossum_sim.soccer import Game

MODELS = Path(__file__).resolve().parents[2] / "models"
STEPS_PER_CYCLE = 4
CYCLES = 25  # of a run
SMALL_GAMES, SMALL_GAMES_LIMIT = 128, 2.0  # number, and GB that they may need
GAMES, TEAM, SPEED_UP = 64, 3, 1.8
FULL_TEAM, FULL_GOAL = 11, 0.9


def peak_memory() -> float:
    """The most memory that this process has had, in GB."""
    [line] = [line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmHWM")]
    return int(line.split()[1]) * 1024 / 1e9


def fill_memory(count: int) -> float:
    """Peak memory, in GB, with so many games of a T1 that have been played for a while."""
    games = []
    for seed in range(count):
        game = Game("ssim", seed=seed)
        game.join("Reds", 2)
        games.append(game)
    for game in games:
        game.step(10)
    return peak_memory()


def memory() -> Figure:
    """In a process of its own, which has had nothing else."""
    command = [sys.executable, __file__, str(SMALL_GAMES)]
    value = float(subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout)
    what, goal = f"memory with {SMALL_GAMES} games of a T1, GB", f"<= {SMALL_GAMES_LIMIT}"
    return Figure(what, value, goal, value <= SMALL_GAMES_LIMIT, f"{value / SMALL_GAMES * 1e3:.1f} MB each, peak of the process")


def speed_up(rounds: int) -> Figure:
    """Games that take their cycles together, on one thread and on two."""
    games = [Game("ssim", seed=seed) for seed in range(GAMES)]
    for game in games:
        for team in ("Reds", "Blues"):
            for number in range(1, TEAM + 1):
                game.join(team, number)

    def run_on(pool: ThreadPoolExecutor) -> Callable[[], None]:
        def run() -> None:
            for _ in range(CYCLES):
                for _ in pool.map(Game.step, games):
                    pass

        return run

    def reset() -> None:
        for seed, game in enumerate(games):
            game.reset(seed)

    with ThreadPoolExecutor(1) as one, ThreadPoolExecutor(2) as two:
        times = [[timed((reset, run_on(pool)))[0] for pool in (one, two)] for _ in range(rounds)]
    value = statistics.median(one / two for one, two in times)
    cycles = GAMES * CYCLES / statistics.median(two for _, two in times)
    what = f"{GAMES} games of {TEAM} against {TEAM} on two threads, speed-up"
    return Figure(what, value, f">= {SPEED_UP}", value >= SPEED_UP, f"{cycles:,.0f} cycles/s on two threads")


def bare_game(env: SoccerEnv) -> tuple[mujoco.MjModel, mujoco.MjData]:
    """The world of an environment in MuJoCo's own API: the same robots in the same places, whose motors are told the same."""
    perceptions, torsos = env.game.step(), env.game.motion()
    world = mujoco.MjSpec.from_file(str(MODELS / "fields/fifa/field.xml"))
    world.compiler.discardvisual = True
    for player in env.game.players:
        robot = mujoco.MjSpec.from_file(str(MODELS / "robots/T1/robot.xml"))
        robot.compiler.discardvisual = True
        world.attach(robot, prefix=f"{player.team}{player.number}:", frame=world.worldbody.add_frame())
    model = world.compile()
    data = mujoco.MjData(model)
    for row, (agent, player) in enumerate(zip(env.possible_agents, env.game.players, strict=True)):
        prefix = f"{player.team}{player.number}:"
        joints = perceptions[player].joints
        angles = dict(zip(joints.names, joints.axs, strict=True))
        for motor in env.motor_actions(agent, np.zeros(len(player.motors), np.float32)):
            place, damp = (model.actuator(f"{prefix}{motor.name}_{kind}") for kind in ("pos", "vel"))
            place.gainprm[0], place.biasprm[1] = motor.kp, -motor.kp
            damp.gainprm[0], damp.biasprm[2] = motor.kd, -motor.kd
            for actuator in (place, damp):
                actuator.biastype[:] = mujoco.mjtBias.mjBIAS_AFFINE
            data.ctrl[place.id] = np.radians(motor.q)
            joint = model.joint(int(place.trnid[0]))
            data.qpos[joint.qposadr] = np.radians(angles[motor.name.replace("e", "j", 1)])
        torso = model.body(f"{prefix}torso")
        at = model.jnt_qposadr[torso.jntadr[0]]
        data.qpos[at : at + 7] = [*torsos.positions[row], *torsos.orientations[row]]
    return model, data


def full_game(rounds: int) -> Figure:
    """A step of the PettingZoo environment against the physics of its cycle, with everybody standing."""
    env = SoccerEnv(FULL_TEAM)
    env.reset(seed=1)
    model, data = bare_game(env)
    start = np.copy(data.qpos)
    actions = {agent: np.zeros(env.action_space(agent).shape, np.float32) for agent in env.possible_agents}

    def reset_bare() -> None:
        controls = np.copy(data.ctrl)
        mujoco.mj_resetData(model, data)
        data.qpos[:], data.ctrl[:] = start, controls

    def run() -> None:
        for _ in range(CYCLES):
            env.step(actions)

    def run_bare() -> None:
        for _ in range(CYCLES):
            mujoco.mj_step(model, data, nstep=STEPS_PER_CYCLE)

    runs: list[Run] = [(lambda: env.reset(seed=1), run), (reset_bare, run_bare)]
    times = [[timed(one) for one in runs] for _ in range(rounds)]
    value = statistics.median(bare[0] / own[0] for own, bare in times)
    cpu = statistics.median(bare[1] / own[1] for own, bare in times)
    mine, its = (statistics.median(row[side][0] for row in times) / CYCLES * 1e3 for side in (0, 1))
    detail = f"{mine:.2f} / {its:.2f} ms a cycle; by CPU time {cpu:.3f}"
    what = f"{FULL_TEAM} against {FULL_TEAM} as a ParallelEnv / bare `mj_step`"
    return Figure(what, value, f">= {FULL_GOAL}", value >= FULL_GOAL, detail)


def figures(rounds: int) -> list[Figure]:
    """All figures of soccer."""
    return [memory(), speed_up(rounds), full_game(rounds)]


if __name__ == "__main__":
    print(fill_memory(int(sys.argv[1])))
