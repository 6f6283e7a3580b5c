#!/usr/bin/env python3
"""Test a policy in its task, and as a player on a soccer server: does it keep its return?

    python3 ppo.py --task T1Stand --minutes 30
    python3 transfer.py learned/policy.npz

The server is the game of `rossum soccer` in lockstep. The policy plays through the agents' port: it is given what the robot perceives,
and answers with motor commands. Everything else comes through the server's other ports, as from a trainer: that for monitors places
the robot at the start of an episode; OSP pushes it, and says how it really moves, from which the reward is computed. Observation,
motor commands and reward are the task's own (`rossum_sim.envs.Twin`).

Read the file from the bottom up: `main` compares the returns, `Field` is the server with its three connections.
"""

import argparse
import json
import subprocess
import sys
import tempfile
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, Callable, Dict, Iterator, List, NamedTuple

import gymnasium
import numpy as np
from rossum_sim.clients.osp import Simulation
from rossum_sim.clients.soccer import Agent, Monitor
from rossum_sim.envs import Twin
from rossum_sim.soccer import Motion

TEAM, NUMBER = "Learners", 2
PLACE = (-10.0, 5.0)  # where the robot begins: in its own half, far from the ball
FIRST_SEED = 1_000_000  # the seeds of `ppo.py --play`: episodes it has not learned from

Policy = Callable[[np.ndarray], np.ndarray]


class Episode(NamedTuple):
    """What a policy observed and was rewarded for in an episode."""

    observations: np.ndarray  # a row for each step, and the last one
    rewards: np.ndarray


# --- The server ------------------------------------------------------------------------------------------------------


@contextmanager
def serving(rossum: str) -> Iterator[Dict[str, int]]:
    """Runs the game of `rossum soccer` with a port for OSP; yields its ports."""
    game = [rossum, "soccer", "--no-realtime", "--sequential", "--print-config"]
    scenario = subprocess.run(game, stdout=subprocess.PIPE, text=True, check=True).stdout + "\n[osp]\n"
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "soccer.toml"
        path.write_text(scenario)
        options = ["--scenario", str(path), "--free-ports", "--json", "--log", "error"]
        with subprocess.Popen([rossum, "serve", *options], stdout=subprocess.PIPE, text=True) as server:
            try:
                assert server.stdout is not None
                addresses = json.loads(server.stdout.readline())["addresses"]
                yield {address["id"]: int(address["address"].rsplit(":", 1)[1]) for address in addresses}
            finally:
                server.terminate()


class Field:
    """A robot on the field, and a trainer."""

    def __init__(self, ports: Dict[str, int], task: str) -> None:
        with ExitStack() as stack:
            self.twin = stack.enter_context(Twin(task))
            self.player = stack.enter_context(Agent(TEAM, NUMBER, port=ports["soccer-agents"]))
            self.player.perceive()
            self.trainer = stack.enter_context(Monitor(port=ports["soccer-monitors"]))
            self.osp = stack.enter_context(Simulation(port=ports["osp"]))
            torso = f"/Sim/Left {NUMBER}/torso"
            names = ("Position", "Orientation", "LinearVelocity", "AngularVelocity")
            self.variables = [self.osp.variable(f"{torso}/{name}") for name in names]
            self.stack = stack.pop_all()

    def __enter__(self) -> "Field":
        return self

    def __exit__(self, *exception: Any) -> None:
        self.stack.close()

    def motion(self) -> Motion:
        """How the torso really moves."""
        texts = [self.osp.read(variable) for variable in self.variables]
        return Motion(*(np.array([[float(number) for number in text.strip("()").split(",")]]) for text in texts))

    def push(self, change: np.ndarray) -> None:
        """Changes the velocity of the torso."""
        velocity = (self.motion().velocities[0] + change).tolist()
        self.osp.write(self.variables[2], f"({','.join(map(repr, velocity))})")

    def play(self, policy: Policy, seed: int) -> Episode:
        """An episode of the task."""
        observation = self.twin.reset(seed)
        self.trainer.place_player(TEAM, NUMBER, (*PLACE, self.twin.height), joints=self.twin.joints)
        self.player.act(*self.twin.hold())
        self.player.step()  # at its end the robot is there
        observations, rewards = [observation], []
        is_over = False
        while not is_over:
            self.player.act(*self.twin.act(policy(observation)))
            if any(self.twin.push):
                self.push(np.array(self.twin.push))
            perception = self.player.step()
            observation, reward, terminated, truncated = self.twin.follow(perception, self.motion())
            observations.append(observation)
            rewards.append(reward)
            is_over = terminated or truncated
        return Episode(np.array(observations), np.array(rewards))


# --- The task --------------------------------------------------------------------------------------------------------


def practise(task: str, policy: Policy, seed: int) -> Episode:
    """An episode of the task in this process."""
    env = gymnasium.make(f"rossum/{task}-v0")
    observation, _ = env.reset(seed=seed)
    observations, rewards = [observation], []
    is_over = False
    while not is_over:
        observation, reward, terminated, truncated, _ = env.step(policy(observation))
        observations.append(observation)
        rewards.append(reward)
        is_over = terminated or truncated
    env.close()
    return Episode(np.array(observations), np.array(rewards))


def main() -> int:
    """Reads the options, plays and compares."""
    options = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    options.add_argument("policy", type=Path, help="a policy for T1Stand or T1Walk, saved by ppo.py")
    options.add_argument("--episodes", default=10, type=int, help="number of episodes (10)")
    options.add_argument("--rossum", default="rossum", help="the program (rossum)")
    given = options.parse_args()
    from ppo import load

    task, policy = load(given.policy)
    here: List[float] = []
    there: List[float] = []
    with serving(given.rossum) as ports, Field(ports, task) as field:
        for seed in range(FIRST_SEED, FIRST_SEED + given.episodes):
            here.append(practise(task, policy, seed).rewards.sum())
            there.append(field.play(policy, seed).rewards.sum())
            print(f"seed {seed}: return {here[-1]:7.2f} in its task, {there[-1]:7.2f} on the server", flush=True)
    ratio = np.mean(there) / np.mean(here)
    print(f"mean return {np.mean(here):.2f} in its task, {np.mean(there):.2f} on the server: ratio {ratio:.3f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
