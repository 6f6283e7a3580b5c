"""Players and monitors of ``rossum_sim.clients.soccer``, with the built program."""

import socket
import time
from contextlib import ExitStack

import numpy as np
import pytest
from conftest import serving
from rossum_sim.clients.soccer import Agent, Monitor, SoccerError
from rossum_sim.soccer import BeamAction, Game, MotorAction, SayAction
from test_soccer import DEADLINE, PLAYERS, STRIKER, Here, assert_equal, gather, play

SCENARIO = """[world]
field = "fifa7vs7"
pace = "lockstep"  # without agents nothing happens
seed = 5
[soccer]
rules = "ssim"
sequential = {sequential}
vision = "{vision}"
dialect = "{dialect}"
"""


class Connected:
    """The game of a server, for ``play``: as ``test_soccer.There``, with the clients of the package."""

    def __init__(self, ports, dialect="reference", sequential=True):
        self.port, self.dialect, self.sequential = ports["Soccer agents"], dialect, sequential
        self.agents = {}
        self.monitor = Monitor(port=ports["Soccer monitors"], timeout=DEADLINE)

    def __enter__(self):
        return self

    def __exit__(self, *_error):
        for client in (self.monitor, *self.agents.values()):
            client.close()

    def join(self, player):
        model, team, number = player
        options = {"port": self.port, "dialect": self.dialect, "timeout": DEADLINE}
        agent = self.agents[player] = Agent(team, number, model, **options)
        if self.sequential:
            agent.perceive()
        else:
            self.wait(player, True)

    def leave(self, player):
        self.agents.pop(player).close()
        self.wait(player, False)

    def wait(self, player, is_there):
        _, team, number = player
        until = time.monotonic() + DEADLINE
        while ((team, number) in self.monitor.refresh().players) != is_there:
            assert time.monotonic() < until, f"{player}: nothing happens"

    def command(self, _here, there):
        self.monitor.command(there)

    def reset(self, seed):
        self.monitor.reset(seed)

    def step(self, actions):
        for player, agent in self.agents.items():
            agent.act(*actions.get(player, ()))
            agent.send()
        return {player: agent.perceive() for player, agent in self.agents.items()}


@pytest.mark.parametrize(
    ("sequential", "vision", "dialect"),
    [(True, "ideal", "reference"), (True, "noisy", "document"), (False, "noisy", "reference")],
)
def test_players_perceive_what_they_perceive_in_process(tmp_path, sequential, vision, dialect):
    scenario = tmp_path / "game.toml"
    scenario.write_text(SCENARIO.format(sequential=str(sequential).lower(), vision=vision, dialect=dialect))
    with serving("--scenario", str(scenario)) as ports, Connected(ports, dialect, sequential) as way:
        gather(way, sequential)
        there = play(way)
        assert way.agents[STRIKER].side == "left"
    with Game("ssim", seed=5, sequential=sequential, vision=vision, dialect=dialect) as game:
        way = Here(game)
        gather(way, sequential)
        here = play(way)
    assert_equal(here, there)
    assert any(perceived[STRIKER].hear for perceived in there)


def test_a_monitor_sees_and_commands_the_game_in_process(tmp_path):
    scenario = tmp_path / "game.toml"
    scenario.write_text(SCENARIO.format(sequential="true", vision="ideal", dialect="reference"))
    keeper, *_ = PLAYERS

    def train(trainer, place, step):
        place((3.0, -4.0, 0.8), heading=90.0, joints={"he1": 30.0})
        trainer.place_ball((1.0, 2.0, 0.5), (0.5, 0.0, 1.0))
        step()
        trainer.kick_off("right")
        step()
        trainer.set_play_mode("corner_kick_left")
        step()
        trainer.drop_ball()
        place((5.0, -4.0, 0.8), orientation=(0.5, 0.5, 0.5, 0.5))
        step()

    with serving("--scenario", str(scenario)) as ports, Connected(ports) as way:
        way.join(keeper)
        monitor = way.monitor
        assert monitor.latest is None
        train(monitor, lambda *at, **how: monitor.place_player("Reds", 1, *at, **how), lambda: way.step({}))
        seen = monitor.refresh()
        assert monitor.latest == seen
        monitor.pause()
        monitor.resume()
    with Game("ssim", seed=5) as game:
        player = game.join("Reds", 1)
        train(game, lambda *at, **how: game.place_player(player, *at, **how), game.step)
        state, ball, torso = game.state, game.ball, game.motion()
    assert (seen.play_mode, seen.play_time, seen.half) == (state.play_mode, state.play_time, 1)
    assert (seen.team_left, seen.team_right, seen.score_left, seen.score_right) == ("Reds", None, 0, 0)
    assert seen.time == pytest.approx(0.08)
    assert seen.ball.position == pytest.approx(ball.positions[0], abs=1e-4)
    assert seen.players.keys() == {("Reds", 1)}
    pose = seen.players["Reds", 1]
    assert pose.position == pytest.approx(torso.positions[0], abs=1e-4)
    assert np.abs(pose.rotation @ pose.rotation.T - np.eye(3)).max() < 1e-3
    assert pose.rotation[:, 0] == pytest.approx([0.0, 1.0, 0.0], abs=1e-3), "its x axis"


@pytest.mark.parametrize("player", [("T3", "Reds", 9), ("T1", "Greens", 9), ("T1", "Reds", 1)])
def test_a_player_that_is_refused_is_told(player):
    model, team, number = player
    with serving("--no-realtime", "--sequential", command="soccer") as ports, Connected(ports) as way:
        for other in PLAYERS[:2]:
            way.join(other)
        with Agent(team, number, model, port=ports["Soccer agents"], timeout=DEADLINE) as agent:
            with pytest.raises(SoccerError, match="has closed the connection; its log says why"):
                agent.step()


@pytest.mark.parametrize(
    ("action", "error", "message"),
    [
        (MotorAction("he1", float("nan")), ValueError, "`he1` is not finite"),
        (MotorAction("he 1"), ValueError, "invalid name"),
        (MotorAction("syn"), ValueError, "no motor can be named `syn`"),
        (BeamAction(float("inf"), 0.0), ValueError, "`beam` is not finite"),
        (SayAction(""), ValueError, "at least one byte"),
        (SayAction("a", 101.0), ValueError, "volume 101.0 is out of range"),
        ("he1", TypeError, "is no action"),
    ],
)
def test_invalid_actions_are_errors_and_send_nothing(action, error, message):
    with serving("--no-realtime", "--sequential", command="soccer") as ports:
        with Agent("Reds", 2, port=ports["Soccer agents"], timeout=DEADLINE) as agent:
            agent.step()
            with pytest.raises(error, match=message):
                agent.act(SayAction("hello"), action)
            with pytest.raises(ValueError, match="at most 512 effectors"):
                agent.act(*[MotorAction("he1")] * 512)
            with pytest.raises(ValueError, match="at most 65536 bytes"):
                agent.act(*[MotorAction("e" * 128)] * 500)
            perception = agent.step()
            assert perception.hear is None, "nothing of the message was kept"


def test_a_server_that_ends_is_told():
    with ExitStack() as stack:
        with serving("--no-realtime", "--sequential", command="soccer") as ports:
            agent = stack.enter_context(Agent("Reds", 2, port=ports["Soccer agents"], timeout=DEADLINE))
            agent.step()
            monitor = stack.enter_context(Monitor(port=ports["Soccer monitors"], timeout=DEADLINE))
            monitor.refresh()
        for use in (agent.step, monitor.update, monitor.drop_ball):
            with pytest.raises(SoccerError):
                for _ in range(1_000):
                    use()


def test_a_vanished_client_leaves_the_game():
    with serving("--no-realtime", "--sequential", command="soccer") as ports, Connected(ports) as way:
        for player in PLAYERS[:2]:
            way.join(player)
        with way.agents.pop(PLAYERS[1]) as vanished:
            vanished._frames._stream._socket.shutdown(socket.SHUT_RDWR)
            way.wait(PLAYERS[1], False)
        assert way.step({}).keys() == {PLAYERS[0]}
