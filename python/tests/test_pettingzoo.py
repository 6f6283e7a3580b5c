"""The PettingZoo environment."""

import subprocess

import numpy as np
import pytest
from conftest import ROSSUM
from pettingzoo.test import parallel_api_test, parallel_seed_test
from rossum_sim.pettingzoo import SoccerEnv, parallel_env
from rossum_sim.soccer import Game


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"players": 2, "robots": ("T1", "roller"), "observations": "state", "rewards": "sparse", "delay": True},
        {"players": 3, "robots": ("ant", "K1"), "referee": False, "ends_at_goal": False, "vision": "noisy"},
    ],
)
def test_it_follows_the_api(options):
    env = SoccerEnv(**options)
    parallel_api_test(env, num_cycles=60)
    env.close()


@pytest.mark.parametrize("observations", ["perception", "state"])
def test_a_seed_gives_the_same_episode(observations):
    parallel_seed_test(lambda: parallel_env(players=2, robots="roller", observations=observations), num_cycles=60)


def test_an_episode_does_not_depend_on_those_before():
    def episode(env):
        env.reset(seed=5)
        random = np.random.default_rng(3)
        return [env.step({agent: sample(env, agent, random) for agent in env.agents}) for _ in range(30)]

    one, other = SoccerEnv(robots="roller"), SoccerEnv(robots="roller")
    other.reset(seed=9)
    episode(other)
    for first, second in zip(episode(one), episode(other), strict=True):
        for agent in one.possible_agents:
            assert np.array_equal(first[0][agent], second[0][agent])
        assert first[1:] == second[1:]


def sample(env, agent, random):
    space = env.action_space(agent)
    return random.uniform(space.low, space.high).astype(np.float32)


def still(env):
    """Everybody holds the stance of the model."""
    return {agent: np.zeros(env.action_space(agent).shape, np.float32) for agent in env.agents}


@pytest.mark.parametrize("delay", [False, True])
@pytest.mark.parametrize("players", [1, 2, 5, 11])
def test_an_episode_begins_with_a_kick_off(players, delay):
    env = SoccerEnv(players, robots="roller", delay=delay)
    _, infos = env.reset(seed=1, options={"kick_off": "right"})
    assert infos["left_1"]["play_mode"] == "KickOff_Right"
    for agent in env.possible_agents:
        player = env._players[agent]
        assert player.side == agent.split("_")[0]
    torsos = env.game.motion().positions
    left, right = torsos[:players], torsos[players:]
    assert (left[:, 0] < 0).all() and (right[:, 0] > 0).all(), "nobody was sent away"
    assert (np.abs(torsos[:, 1]) < env.game.field.width / 2).all()
    distances = np.linalg.norm(torsos[:, None, :2] - torsos[None, :, :2], axis=2)
    assert distances[~np.eye(len(torsos), dtype=bool)].min() > 0.5
    for _ in range(5):
        _, rewards, _, _, infos = env.step(still(env))
    assert not infos["right_1"]["play_mode"].startswith("Goal") and set(rewards) == set(env.possible_agents)


@pytest.mark.parametrize("observations", ["perception", "state"])
def test_both_teams_see_the_field_as_the_left_one(observations):
    env = SoccerEnv(2, robots="roller", observations=observations, referee=False)
    env.reset(seed=3)
    # turned by half a turn, with the ball between them
    for agent, sign in (("left_2", 1), ("right_2", -1)):
        player = env._players[agent]
        env.game.place_player(player, (-3.0 * sign, 0.5 * sign, 0.3), heading=90.0 - 90.0 * sign)
    env.game.place_ball((0.0, 0.0, 0.11))
    # placed at the end of the first one, and seen in every second one
    for _ in range(3):
        seen, _, _, _, _ = env.step(still(env))
    one, other = seen["left_2"], seen["right_2"]
    assert one[0] == pytest.approx(-3.0 / (env.game.field.length / 2), abs=0.01)
    assert one[:8] == pytest.approx(other[:8], abs=0.02), "position, up and heading"
    # the ball, a player of the own team, two opponents
    size = 4 if observations == "perception" else 7
    ball = len(one) - 4 * size
    assert one[ball] == other[ball] == 1.0, "the ball is there"
    assert one[ball + 1 : ball + 4] == pytest.approx(other[ball + 1 : ball + 4], abs=0.02)
    assert one[ball + 1] == pytest.approx(0.3, abs=0.03) and one[ball + 2] == pytest.approx(-0.05, abs=0.02)
    opponent = ball + 3 * size
    assert one[opponent] == 1.0 and one[opponent + 1] == pytest.approx(0.6, abs=0.03)


def test_goals_are_rewarded():
    for referee in (True, False):
        env = SoccerEnv(1, robots="roller", referee=referee, rewards="sparse")
        # who kicks off may not score directly
        env.reset(seed=2, options={"kick_off": "right"})
        env.game.set_play_mode("PlayOn")
        env.game.place_ball((26.8, 0.0, 0.3), (9.0, 0.0, 0.0))
        for _ in range(50):
            _, rewards, terminations, truncations, infos = env.step(still(env))
            if not env.agents:
                break
            assert set(rewards.values()) == {0.0}
        assert rewards == {"left_1": 1.0, "right_1": -1.0}, referee
        assert terminations == {"left_1": True, "right_1": True} and not any(truncations.values())
        assert (infos["left_1"]["score"], infos["right_1"]["score"]) == ((1, 0), (0, 1))
        assert env.step({}) == ({}, {}, {}, {}, {})
        env.reset()
        assert env.agents == ["left_1", "right_1"]


def test_progress_is_rewarded():
    env = SoccerEnv(1, robots="roller", referee=False)
    env.reset(seed=2)
    env.game.place_ball((0.0, 0.0, 0.11), (4.0, 0.0, 0.0))
    env.step(still(env))
    total = {agent: 0.0 for agent in env.agents}
    for _ in range(10):
        _, rewards, _, _, _ = env.step(still(env))
        for agent, reward in rewards.items():
            total[agent] += reward
    assert total["left_1"] > 0.02 > -0.02 > total["right_1"] - 0.05


def test_without_an_end_at_goals_the_game_goes_on():
    env = SoccerEnv(1, robots="roller", referee=False, ends_at_goal=False, max_cycles=80)
    env.reset(seed=2)
    env.game.place_ball((26.8, 0.0, 0.3), (9.0, 0.0, 0.0))
    truncations = {}
    while env.agents:
        _, _, terminations, truncations, infos = env.step(still(env))
        assert not any(terminations.values())
    assert all(truncations.values()) and infos["left_1"]["score"] == (1, 0)
    assert np.abs(env.game.ball.positions[0][:2]).max() < 1.0, "at the centre again"


def test_actions_are_commands_of_the_protocol():
    env = SoccerEnv(1, robots=("T1", "ant"), referee=False)
    env.reset(seed=4)
    with Game(referee=False) as game:
        # the same commands, given by a player of the protocol
        player = game.join("Left", 1)
        action = np.linspace(-0.5, 0.5, 23).astype(np.float32)
        commands = env.motor_actions("left_1", action)
        assert [command.name for command in commands] == list(player.motors)
        head = commands[0]
        assert head.q == pytest.approx(np.degrees(-0.5 * 1.57), abs=0.01) and head.kp == pytest.approx(7 / 0.25)
        player.act(*commands)
        game.step(30)
        for _ in range(30):
            env.step({"left_1": action, "right_1": np.zeros(8, np.float32)})
        mine, its = env.game.step(0)[env._players["left_1"]].joints.axs[0], player.perception.joints.axs[0]
        assert mine == pytest.approx(its, abs=3.0) and its < -30.0
    # an action of the ant is in the range of its joints, before their gear
    assert all(abs(command.q) <= 150 * 71 for command in env.motor_actions("right_1", np.ones(8, np.float32)))


def test_observations_do_not_change_later():
    env = SoccerEnv(1, robots="roller")
    first, _ = env.reset(seed=1)
    copies = {agent: seen.copy() for agent, seen in first.items()}
    for _ in range(5):
        env.step({agent: env.action_space(agent).sample() for agent in env.agents})
    for agent, seen in first.items():
        assert np.array_equal(seen, copies[agent])
        assert env.observation_space(agent).contains(seen)
    assert env.state_space.contains(env.state())


def test_episodes_can_be_recorded(tmp_path):
    path = tmp_path / "episodes.mcap"
    env = SoccerEnv(1, robots="roller", record=path, render_mode="rgb_array")
    for seed in (1, 2):
        env.reset(seed=seed)
        for _ in range(60):
            env.step({agent: env.action_space(agent).sample() for agent in env.agents})
    assert env.render().shape == (480, 640, 3)
    env.close()
    replayed = subprocess.run([ROSSUM, "replay", path, "--verify"], capture_output=True, text=True, check=False)
    assert replayed.returncode == 0 and "all equal" in replayed.stdout, replayed.stderr


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"players": 0}, "1 to 11"),
        ({"players": 12}, "1 to 11"),
        ({"observations": "all"}, "unknown observations"),
        ({"rewards": "rich"}, "unknown rewards"),
        ({"cycles": 0}, "at least one"),
    ],
)
def test_options_are_checked(options, message):
    with pytest.raises(ValueError, match=message):
        SoccerEnv(**options)


def test_wrong_actions_are_errors():
    env = SoccerEnv(1, robots="roller")
    env.reset(seed=1)
    for action, message in ((np.zeros(3), "3 numbers for 5 motors"), (np.full(5, np.nan), "not finite")):
        with pytest.raises(ValueError, match=message):
            env.step(dict.fromkeys(env.agents, action))
