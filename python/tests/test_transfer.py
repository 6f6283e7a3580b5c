"""A policy for a task of the T1 plays as a player of the league, in process and on a server."""

import importlib.util
import math
from pathlib import Path

import numpy as np
import pytest
from conftest import ROSSUM, serving
from rossum_sim.clients.soccer import Agent, Monitor
from rossum_sim.envs import Twin
from rossum_sim.soccer import Game, Motion

EXAMPLES = Path(__file__).resolve().parents[2] / "examples/learning"
DEADLINE = 60
SCENARIO = """[world]
field = "fifa7vs7"
pace = "lockstep"
seed = 5
[soccer]
rules = "ssim"
sequential = true
"""


@pytest.fixture(scope="module")
def transfer():
    """The example."""
    spec = importlib.util.spec_from_file_location("transfer", EXAMPLES / "transfer.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def stand(observation):
    """Holds the posture, and works against the fall with ankles and hips."""
    ahead, aside, _ = observation[:3]
    turns = observation[3:6] / 0.25
    action = np.zeros(12)
    pitch = 2.0 * ahead + 0.3 * turns[1]
    roll = 2.0 * aside - 0.3 * turns[0]
    for leg in (0, 6):
        action[leg + 4] += pitch
        action[leg + 5] += roll
    return action


@pytest.mark.parametrize("task", ["T1Stand", "T1Walk"])
def test_a_policy_keeps_its_return_on_a_server(transfer, task):
    seeds = (1, 2, 3)
    here = [transfer.practise(task, stand, seed) for seed in seeds]
    with transfer.serving(ROSSUM) as ports, transfer.Field(ports, task) as field:
        there = [field.play(stand, seed) for seed in seeds]
    for mine, its in zip(here, there, strict=True):
        assert np.array_equal(mine.observations[0], its.observations[0])
        # what is perceived is rounded, and the field is another floor
        assert np.abs(mine.observations[:20, :30] - its.observations[:20, :30]).max() < 0.1
        assert np.abs(mine.observations[:20, 30:42] - its.observations[:20, 30:42]).max() < 0.2, "actions"
        assert len(its.rewards) > 20
    ratio = sum(episode.rewards.sum() for episode in there) / sum(episode.rewards.sum() for episode in here)
    assert 0.9 < ratio < 1.1


def test_pushes_reach_the_robot_on_the_server(transfer):
    with transfer.serving(ROSSUM) as ports, transfer.Field(ports, "T1Stand") as field:
        pushes = []

        def push(change):
            before = field.motion().velocities[0]
            transfer.Field.push(field, change)
            pushes.append((change, field.motion().velocities[0] - before))

        field.push = push
        for seed in (1, 2):
            field.play(stand, seed)
    assert len(pushes) >= 2
    for change, measured in pushes:
        assert 0.299 < math.hypot(*change) < 0.801
        # of the centre of the torso, which also turns
        assert measured == pytest.approx(change, abs=0.1)


def walk(twin, player, place, step):
    """Lets a player wave its legs about; returns what the twin observes."""
    twin.reset(7)
    place()
    player.act(*twin.hold())
    step()
    observations = []
    for cycle in range(40):
        player.act(*twin.act(0.2 * np.sin(cycle / 5.0 + np.arange(12))))
        observations.append(twin.observe(step()))
    return np.array(observations)


def test_what_a_twin_observes_is_the_same_in_process_and_over_the_network(tmp_path):
    scenario = tmp_path / "game.toml"
    scenario.write_text(SCENARIO)
    with serving("--scenario", str(scenario)) as ports, Twin() as twin:
        with Agent("Reds", 2, port=ports["Soccer agents"], timeout=DEADLINE) as agent:
            with Monitor(port=ports["Soccer monitors"], timeout=DEADLINE) as trainer:
                agent.perceive()
                there = walk(
                    twin,
                    agent,
                    lambda: trainer.place_player("Reds", 2, (-3.0, 1.0, twin.height), joints=twin.joints),
                    agent.step,
                )
    with Game("ssim", seed=5) as game, Twin() as twin:
        player = game.join("Reds", 2)
        here = walk(
            twin,
            player,
            lambda: game.place_player(player, (-3.0, 1.0, twin.height), joints=twin.joints),
            lambda: game.step()[player],
        )
    assert np.array_equal(here, there)
    assert here.shape == (40, 42) and here.std(axis=0)[6:].min() > 1e-4, "everything moves"


def test_a_twin_judges_how_a_player_moves():
    with Game("ssim", seed=5) as game, Twin(max_episode_steps=3) as twin:
        player = game.join("Reds", 2)
        assert twin.reset(7).shape == (42,) and twin.push == (0.0, 0.0, 0.0)
        game.place_player(player, (-3.0, 1.0, twin.height), joints=twin.joints)
        player.act(*twin.hold())
        game.step()
        for step in range(3):
            player.act(*twin.act(np.zeros(12)))
            perception = game.step()[player]
            _, reward, terminated, truncated = twin.follow(perception, game.motion([player]))
            assert 0.5 < reward <= 1.0 and not terminated
            assert truncated == (step == 2)
        # as it lies on its back
        twin.reset(8)
        twin.act(np.zeros(12))
        lying = Motion(np.array([[0.0, 0.0, 0.1]]), np.array([[0.7, 0.0, -0.7, 0.0]]), np.zeros((1, 3)), np.zeros((1, 3)))
        _, reward, terminated, _ = twin.follow(perception, lying)
        assert terminated and reward == 0.0


def test_misuse_is_an_error():
    with pytest.raises(ValueError, match="T1Kick"):
        Twin("T1Kick")
    with Game("ssim") as game, Twin() as twin:
        player = game.join("Reds", 2)
        with pytest.raises(ValueError, match="call reset first"):
            twin.act(np.zeros(12))
        twin.reset(1)
        with pytest.raises(ValueError, match="3 actions, where 12 are needed"):
            twin.act(np.zeros(3))
        twin.act(np.zeros(12))
        still = Motion(np.zeros((1, 3)), np.array([[1.0, 0, 0, 0]]), np.full((1, 3), np.nan), np.zeros((1, 3)))
        with pytest.raises(ValueError, match="finite"):
            twin.follow(player.perception, still)
        ant = game.join("Reds", 3, model="ant")
        with pytest.raises(KeyError):
            twin.observe(ant.perception)
