"""The managed simulation of soccer, and the same games over the network."""

import math
import socket
import struct
import subprocess
import threading
import time
from base64 import b64decode, b64encode

import numpy as np
import pytest
from conftest import ROSSUM, serving
from rossum_sim import RossumError
from rossum_sim.soccer import (
    AccelerometerPerception,
    AgentDetection,
    BeamAction,
    Game,
    GameStatePerception,
    GyroPerception,
    HeardMessage,
    HearPerception,
    JointStatePerception,
    MotorAction,
    ObjectDetection,
    OrientationPerception,
    Perception,
    PositionPerception,
    SayAction,
    TimePerception,
    TouchPerception,
    VisionPerception,
)

DEADLINE = 60


# --- a client of the network protocol, written from its document -----------------------------------------------------------


def parse(text):
    """The lists of a message: words and nested lists."""
    stack = [[]]
    word = ""
    for character in text:
        if character in "() ":
            if word:
                stack[-1].append(word)
                word = ""
            if character == "(":
                stack.append([])
            elif character == ")":
                done = stack.pop()
                stack[-1].append(done)
        else:
            word += character
    assert len(stack) == 1 and not word
    return stack[0]


def numbers(words):
    return [float(word) for word in words]


def polar(name, words, dialect):
    one, two, three = numbers(words[1:])
    return ObjectDetection(name, *((one, two, three) if dialect == "reference" else (three, one, two)))


def detection(item, dialect):
    if item[0] == "P":
        team, number, *markers = item[1:]
        return AgentDetection("P", team[1], int(number[1]), tuple(polar(name, at, dialect) for name, at in markers))
    return polar(item[0], item[1], dialect)


def decode(text, dialect):
    """The perception in a message."""
    lists = parse(text)
    values = {"quat": [], "pos": [], "GYR": [], "ACC": [], "TCH": [], "HJ": []}
    hear = see = None
    for kind, *rest in lists:
        if kind == "time":
            now = TimePerception(rest[0][0], float(rest[0][1]))
        elif kind == "GS":
            game = dict(rest)
            state = GameStatePerception(
                "GS", float(game["t"]), game["pm"], game.get("tl"), game.get("tr"), int(game["sl"]), int(game["sr"])
            )
        elif kind == "See":
            see = VisionPerception("camera", tuple(detection(item, dialect) for item in rest))
        elif kind == "MIC":
            heard = (HeardMessage(int(azimuth), b64decode(message)) for azimuth, message in rest[1:])
            hear = HearPerception(rest[0], tuple(heard))
        else:
            values[kind].append(rest)
    prefix = "q_" if dialect == "reference" else ""

    def named(kind, sensors):
        return tuple(kind(name[1], *numbers(at[1:])) for name, at in sensors)

    return Perception(
        now,
        state,
        named(OrientationPerception, values["quat"]),
        named(PositionPerception, values["pos"]),
        named(GyroPerception, values["GYR"]),
        named(AccelerometerPerception, values["ACC"]),
        tuple(TouchPerception(name, int(active)) for _, name, _, active in values["TCH"]),
        JointStatePerception(
            "joints",
            tuple(name[1].removeprefix(prefix) for name, _, _ in values["HJ"]),
            tuple(float(ax[1]) for _, ax, _ in values["HJ"]),
            tuple(float(vx[1]) for _, _, vx in values["HJ"]),
        ),
        hear,
        see,
    )


def encode(actions):
    """The message of these actions."""
    lists = []
    for action in actions:
        if isinstance(action, MotorAction):
            lists.append("({} {!r} {!r} {!r} {!r} {!r})".format(action.name, *map(float, action[1:])))
        elif isinstance(action, BeamAction):
            lists.append(f"(beam {action.x!r} {action.y!r} {action.theta!r})")
        else:
            lists.append(f"(SPK say {action.volume!r} {b64encode(action.message.encode()).decode()})")
    return "".join(lists) + "(syn)"


class Connection:
    """Frames with a big-endian length."""

    def __init__(self, port):
        self.socket = socket.create_connection(("127.0.0.1", port), DEADLINE)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def send(self, text):
        payload = text.encode()
        self.socket.sendall(struct.pack(">I", len(payload)) + payload)

    def receive(self):
        (length,) = struct.unpack(">I", self._exactly(4))
        return self._exactly(length).decode()

    def _exactly(self, length):
        received = b""
        while len(received) < length:
            chunk = self.socket.recv(length - len(received))
            assert chunk, "the server has closed the connection"
            received += chunk
        return received

    def close(self):
        self.socket.close()


# --- the same game in process and over the network: two ways to play, with the same methods -----------------------------------


class Here:
    """A game in this process."""

    def __init__(self, game):
        self.game = game
        self.players = {}

    def join(self, player):
        model, team, number = player
        self.players[player] = self.game.join(team, number, model)

    def leave(self, player):
        self.players.pop(player).leave()

    def command(self, here, _there):
        here(self.game)

    def reset(self, seed):
        self.game.reset(seed)

    def step(self, actions):
        """Takes a cycle with these actions; returns what the players perceive."""
        for player, chosen in actions.items():
            self.players[player].act(*chosen)
        perceptions = self.game.step()
        return {player: perceptions[member] for player, member in self.players.items()}


class There:
    """A game of a server, whose cycles wait for all agents."""

    def __init__(self, ports, dialect, sequential):
        self.port, self.dialect, self.sequential = ports["Soccer agents"], dialect, sequential
        self.agents = {}
        # agents that have not been sent anything to answer yet
        self.new = set()
        self.monitor = Connection(ports["Soccer monitors"])
        self.acknowledged = 0

    def __enter__(self):
        return self

    def __exit__(self, *_error):
        for connection in (self.monitor, *self.agents.values()):
            connection.close()

    def join(self, player):
        model, team, number = player
        agent = self.agents[player] = Connection(self.port)
        agent.send(f"(init {model} {team} {number})")
        if self.sequential:
            agent.receive()
        else:
            self.new.add(player)
            self._await(player, True)

    def leave(self, player):
        self.agents.pop(player).close()
        self._await(player, False)

    def command(self, _here, there):
        self.acknowledged += 1
        self.monitor.send(f"{there}(ack {self.acknowledged})")
        while self.monitor.receive() != f"(ack {self.acknowledged})":
            pass

    def reset(self, seed):
        self.command(None, f"(reset {seed})")

    def _await(self, player, is_there):
        """Waits until a player is in the game, or has left it."""
        _, team, number = player
        until = time.monotonic() + DEADLINE
        while time.monotonic() < until:
            self.monitor.send("(reqfullstate)")
            while "((sg 1 0)full" not in (update := self.monitor.receive()):
                pass
            if (f"DSC(agent {team} {number})" in update) == is_there:
                return
            time.sleep(0.1)
        pytest.fail(f"{player}: nothing happens")

    def step(self, actions):
        for player, agent in self.agents.items():
            if player not in self.new:
                agent.send(encode(actions.get(player, ())))
        self.new.clear()
        return {player: decode(agent.receive(), self.dialect) for player, agent in self.agents.items()}


KEEPER, ROLLER, STRIKER, ANT = PLAYERS = [
    ("T1", "Reds", 1),
    ("roller", "Blues", 2),
    ("K1", "Reds", 7),
    ("ant", "Blues", 3),
]
MOTORS = {
    "T1": ["he1", "lle1", "lle4", "rle4", "lae1", "rle1"],
    "K1": ["he1", "lle1", "lle4", "rae2"],
    "ant": ["l1e1", "l2e2", "l3e1"],
    "roller": ["we1", "we2", "ke1", "he1"],
}


def choose(player, cycle, perception):
    """What a player does in a cycle. It depends on what the player perceives."""
    model, _, number = player
    turn = 0.0 if perception is None else 5.0 * perception.orientation.qz + perception.joints.axs[0]
    chosen = []
    for index, motor in enumerate(MOTORS[model]):
        swing = 25.0 * math.sin(cycle / 9.0 + index + number) + 0.1 * turn
        if motor.startswith("we"):
            chosen.append(MotorAction(motor, 0.0, 40.0 * swing, 0.0, 0.5, 0.0))
        else:
            chosen.append(MotorAction(motor, swing, 0.0, 40.0, 1.5, 0.25))
    if cycle == 3:
        chosen.append(BeamAction(-1.0 - number, 2.0 - number, 10.0 * number))
    if cycle % 37 == number:
        chosen.append(SayAction(f"{cycle}", volume=80.0))
    return chosen


def place_keeper(game):
    game.place_player(game.players[0], (4.0, 1.0, 0.8), heading=45.0, joints={"he1": 20.0})


COMMANDS = {
    10: (lambda game: game.place_ball((-1.5, 1.0, 0.3), (3.0, 0.5, 1.0)), "(ball (pos -1.5 1.0 0.3)(vel 3.0 0.5 1.0))"),
    30: (lambda game: game.kick_off("right"), "(kickOff Right)"),
    60: (lambda game: game.kick_off(), "(kickOff)"),
    90: (lambda game: game.drop_ball(), "(dropBall)"),
    120: (place_keeper, "(agent (unum 1)(team Reds)(move 4.0 1.0 0.8 45.0)(joints (he1 20.0)))"),
    150: (lambda game: game.set_play_mode("corner_kick_left"), "(playMode corner_kick_left)"),
    200: (lambda game: game.place_ball((26.5, 0.0, 0.3), (8.0, 0.0, 0.0)), "(ball (pos 26.5 0.0 0.3)(vel 8.0 0.0 0.0))"),
}
CYCLES = 260


def play(way, joins_late=True):
    """Plays a game, in which some players may join and leave late; returns what all perceive in each cycle."""
    history = []
    for cycle in range(CYCLES):
        if cycle in COMMANDS:
            way.command(*COMMANDS[cycle])
        if joins_late and cycle == 70:
            way.join(ANT)
        if joins_late and cycle == 170:
            way.leave(ROLLER)
        last = history[-1] if history else {}
        playing = way.players if isinstance(way, Here) else way.agents
        # who has just joined has perceived nothing to act upon
        perceived = way.step({player: choose(player, cycle, last[player]) for player in playing if player in last})
        history.append(perceived)
    return history


def gather(way, sequential):
    """Lets all but one player join."""
    way.join(KEEPER)
    if not sequential:
        # alone, it takes the first cycle as soon as it has joined
        way.step({})
    way.join(ROLLER)
    way.join(STRIKER)


def assert_equal(here, there):
    assert len(here) == len(there)
    for cycle, (one, other) in enumerate(zip(here, there, strict=True)):
        assert one.keys() == other.keys()
        for player in one:
            for field, mine, its in zip(Perception._fields, one[player], other[player], strict=True):
                assert mine == its, f"{field} of {player} in cycle {cycle}"


@pytest.mark.parametrize(
    ("sequential", "vision", "dialect"),
    [(True, "ideal", "reference"), (True, "noisy", "document"), (False, "noisy", "reference")],
)
def test_a_game_is_the_same_over_the_network(tmp_path, sequential, vision, dialect):
    scenario = tmp_path / "game.toml"
    scenario.write_text(
        f"""[world]
field = "fifa7vs7"
pace = "lockstep"  # without agents nothing happens
seed = 5
[soccer]
rules = "ssim"
sequential = {str(sequential).lower()}
vision = "{vision}"
dialect = "{dialect}"
"""
    )
    with serving("--scenario", str(scenario)) as ports, There(ports, dialect, sequential) as way:
        gather(way, sequential)
        there = play(way)
    path = tmp_path / "game.mcap"
    with Game("ssim", seed=5, sequential=sequential, vision=vision, dialect=dialect, record=path) as game:
        way = Here(game)
        gather(way, sequential)
        here = play(way)
        assert (game.state.score_left, game.state.team_left, game.state.team_right) == (1, "Reds", "Blues")
    assert_equal(here, there)
    # much has happened in it
    last = here[-1][STRIKER]
    assert here[20][STRIKER].position != last.position
    assert {perceived[STRIKER].game_state.play_mode for perceived in here} >= {
        "BeforeKickOff",
        "KickOff_Right",
        "PlayOn",
        "corner_kick_left",
        "Goal_Left",
    }
    assert any(perceived[STRIKER].hear for perceived in here)
    assert sum(perceived[STRIKER].see is not None for perceived in here) == CYCLES // 2
    assert_verifies(path)


def test_a_reset_gives_the_game_of_the_network(tmp_path):
    options = ["--no-realtime", "--sequential", "--seed", "9"]
    with serving(*options, command="soccer") as ports, There(ports, "reference", True) as way:
        for player in PLAYERS:
            way.join(player)
        way.reset(42)
        there = play(way, joins_late=False)
    path = tmp_path / "game.mcap"
    with Game(seed=3, record=path) as game:
        way = Here(game)
        for player in PLAYERS:
            way.join(player)
        first, second = [], []
        for history in (first, second):
            way.reset(42)
            history += play(way, joins_late=False)
        assert game.state.seed == 42
    assert_equal(first, there)
    assert first == second
    assert_verifies(path)


def assert_verifies(path):
    """A recording repeats the game, bit for bit."""
    replayed = subprocess.run([ROSSUM, "replay", path, "--verify"], capture_output=True, text=True, check=False)
    assert replayed.returncode == 0, replayed.stderr
    assert "all equal" in replayed.stdout


# --- the game in process ---------------------------------------------------------------------------------------------------


def test_perceptions_have_the_names_of_the_protocol():
    with Game("fifa") as game:
        player = game.join("Reds", 2)
        perception = player.perception
        assert perception.time == TimePerception("now", 0.0)
        assert perception.game_state == GameStatePerception("GS", 0.0, "BeforeKickOff", "Reds", None, 0, 0)
        assert perception.orientation == ("torso_quat", 0.707, 0.0, 0.0, -0.707)
        assert perception.position[:3] == ("torso_pos", -5.0, 37.0)
        assert perception.gyro.name == "torso_gyro" and perception.accelerometer.name == "torso_acc"
        assert perception.joints.names[:3] == ("hj1", "hj2", "laj1")
        assert len(perception.joints.names) == len(perception.joints.axs) == len(perception.joints.vxs) == 23
        assert perception.touches == () and perception.hear is None
        assert {found.name for found in perception.see.detections} >= {"x_cuc", "t_cuf"}
        assert player.motors[:3] == ("he1", "he2", "lae1")
        game.step()
        assert player.perception.see is None, "every second cycle"
        game.step()
        assert player.perception.see is not None
        roller = game.join("Blues", 2, model="roller")
        assert {touch.active for touch in roller.perception.touches} == {0}
        assert (player.side, roller.side, repr(roller)) == ("left", "right", "<Player Blues 2 (roller)>")


def test_without_sequential_perceptions_are_a_cycle_late():
    for sequential, wait in ((True, 1), (False, 2)):
        with Game(sequential=sequential) as game:
            player = game.join("Reds", 2)
            assert (player.perception is not None) == sequential
            game.step(2)
            player.act(BeamAction(-10.0, 4.0, 30.0))
            for cycle in range(1, 4):
                game.step()
                stands_there = abs(player.perception.position.x + 10.0) < 0.1
                assert stands_there == (cycle >= wait), (sequential, cycle)


def test_players_move_speak_and_hear():
    with Game() as game:
        reds, blues = game.join("Reds", 2), game.join("Blues", 2)
        reds.act(BeamAction(-3.0, 0.0), MotorAction("he1", q=40.0, kp=7.0, kd=0.5))
        blues.act(BeamAction(-3.0, 0.0))
        game.step()
        assert blues.perception.position.x == pytest.approx(3.0, abs=0.05), "seen from its own side"
        game.step()
        [seen] = [found for found in blues.perception.see.detections if getattr(found, "team_name", "") == "Reds"]
        assert seen.player_no == 2 and "head" in [marker.name for marker in seen.body_detections]
        game.step(50)
        assert reds.perception.joints.axs[reds.perception.joints.names.index("hj1")] == pytest.approx(40.0, abs=3.0)
        reds.act(SayAction("hello"))
        game.step()
        [heard] = blues.perception.hear.messages
        assert heard.message == b"hello" and reds.perception.hear.messages == ()
        reds.act(SayAction("more than ten bytes"))
        game.step()
        assert blues.perception.hear.messages == ()
        game.step()
        assert blues.perception.hear is None


@pytest.mark.parametrize(
    ("use", "error", "message"),
    [
        (lambda game: game.join("Greens", 1), RossumError, "team `Greens` cannot join: `Reds` and `Blues` are playing"),
        (lambda game: game.join("Reds", 2), RossumError, "team `Reds` already has a number 2"),
        (lambda game: game.join("Reds", 3, model="T3"), RossumError, "unknown robot `T3`"),
        (lambda game: game.join("Reds", 3, model="../robots/T1"), RossumError, "unknown robot"),
        (lambda game: game.join("Reds", 100), ValueError, "player number 100 is out of range 0..=99"),
        (lambda game: game.join("Reds", -1), ValueError, "player number -1 is out of range 0..=99"),
        (lambda game: game.join("Re ds", 3), ValueError, "invalid name"),
        (lambda game: game.players[0].act(MotorAction("he9")), ValueError, "no motor named `he9`"),
        (lambda game: game.players[0].act(MotorAction("he1", math.nan)), ValueError, "`he1` is not finite"),
        (lambda game: game.players[0].act(BeamAction(math.inf, 0)), ValueError, "`beam` is not finite"),
        (lambda game: game.players[0].act(SayAction("")), ValueError, "at least one byte"),
        (lambda game: game.players[0].act(SayAction("a", 101)), ValueError, "volume 101 is out of range"),
        (lambda game: game.players[0].act("he1"), TypeError, "is no action"),
        (lambda game: game.players[0].act(*[MotorAction("he1")] * 513), ValueError, "at most 512 effectors"),
        (lambda game: game.kick_off("up"), ValueError, "unknown side `up`"),
        (lambda game: game.set_play_mode("PlayOff"), ValueError, "did you mean `PlayOn`"),
        (lambda game: game.place_ball((2e3, 0, 0)), RossumError, "beyond 1000 m"),
        (lambda game: game.place_player(game.players[0], joints={"he9": 1.0}), ValueError, "no motor named `he9`"),
        (lambda game: game.place_player(game.players[0], (0, 0, math.nan)), RossumError, "beyond 1000 m"),
        (lambda game: game.render(width=0), ValueError, "pixels"),
    ],
)
def test_errors_are_exceptions_and_change_nothing(use, error, message):
    with Game() as game, Game() as other:
        for one in (game, other):
            one.join("Reds", 2)
            one.join("Blues", 2)
        with pytest.raises(error, match=message):
            use(game)
        assert list(game.step().values()) == list(other.step().values())
        assert game.state_hash == other.state_hash and len(game.players) == 2


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"rules": "chess"}, "chess"),
        ({"field": "moon"}, "moon"),
        ({"phase": 5}, "out of range 0..=4"),
        ({"vision": "blurred"}, "blurred"),
        ({"dialect": "latin"}, "latin"),
        ({"models": "nowhere"}, "nowhere"),
        ({"seed": 2**63}, "seed is 9223372036854775808"),
        ({"time": -1.0}, "0 to 1000000 s"),
    ],
)
def test_options_are_checked(options, message):
    with pytest.raises((RossumError, ValueError), match=message):
        Game(**options)


def test_what_the_game_refuses_is_reported_after_the_cycle():
    with Game() as game:
        player = game.join("Reds", 2)
        player.act(BeamAction(5_000.0, 0.0), MotorAction("he1", q=30.0, kp=7.0, kd=0.5))
        with pytest.raises(RossumError, match="Reds 2: .*beyond 1000 m"):
            game.step()
        assert game.ticks == 1 and player.perception.time.time == pytest.approx(0.02, abs=0.011)
        game.step(20)
        assert player.perception.joints.axs[0] > 10.0, "the rest of its message counts"


def test_a_full_team_takes_nobody():
    with Game("ssim") as game:
        for number in range(1, 8):
            game.join("Reds", number, model="roller")
        with pytest.raises(RossumError, match="team `Reds` already has 7 players"):
            game.join("Reds", 8, model="roller")
        game.players[0].leave()
        game.join("Reds", 8, model="roller")
        assert [player.number for player in game.players] == [2, 3, 4, 5, 6, 7, 8]


def test_a_player_that_leaves():
    with Game() as game:
        stays, leaves = game.join("Reds", 2), game.join("Reds", 3)
        game.step()
        leaves.leave()
        assert game.players == [stays]
        assert list(game.step()) == [stays]
        for use in (leaves.leave, lambda: leaves.act(MotorAction("he1"))):
            with pytest.raises(RossumError, match="has left the game"):
                use()
        again = game.join("Reds", 3)
        assert set(game.step()) == {stays, again}
        stays.leave()
        again.leave()
        assert game.step(3) == {} and game.ticks == 6
        assert game.state.team_left is None, "before the kick-off a team without players gives its name back"


def test_goals_fouls_and_set_plays():
    with Game() as game:
        keeper, player, opponent = game.join("Reds", 1), game.join("Reds", 2), game.join("Blues", 2)
        modes = []

        def pass_time(cycles):
            for _ in range(cycles):
                game.step()
                modes.append(game.state.play_mode)

        game.place_ball((27.0, 0.0, 0.3), (9.0, 0.0, 0.0))
        pass_time(50)
        assert (game.state.score_left, game.state.score_right, game.state.half) == (1, 0, 1)
        assert keeper.perception.game_state.score_left == 1
        pass_time(150)
        assert modes[-1] == "KickOff_Right", "3 s later"
        game.drop_ball()
        game.place_ball((-27.0, 0.0, 0.3), (-9.0, 0.0, 0.0))
        pass_time(50)
        changes = [mode for before, mode in zip(["", *modes], modes, strict=False) if mode != before]
        # whoever kicks off may not score directly
        assert changes == ["BeforeKickOff", "Goal_Left", "KickOff_Right", "PlayOn", "goal_kick_left"]
        # a player that lies on the ground for too long is called incapable, and taken off the field
        game.set_play_mode("PlayOn")
        game.place_player(player, (5.0, 5.0, 0.2), orientation=(0.707, 0.0, 0.707, 0.0))
        fouls = []
        for _ in range(1_700):
            game.step()
            fouls += game.state.fouls
        assert ("incapable", "left", 2) in fouls
        assert abs(player.perception.position.y) > 18.0
        assert opponent.perception.game_state.team_right == "Blues"


def test_commands_of_trainers_move_bodies():
    with Game() as game:
        player = game.join("Reds", 2)
        game.place_ball((1.0, 2.0, 0.5), (0.0, 0.0, 1.0))
        game.place_player(player, (3.0, -4.0, 0.8), heading=90.0, joints={"he1": 30.0})
        game.step()
        # at once, although the physics knows it only in the next cycle
        assert game.ball.positions[0] == pytest.approx([1.0, 2.0, 0.5])
        assert game.ball.velocities[0] == pytest.approx([0.0, 0.0, 1.0])
        assert game.motion().positions[0] == pytest.approx([3.0, -4.0, 0.8])
        assert game.motion([player]).orientations[0] == pytest.approx([math.sqrt(0.5), 0.0, 0.0, math.sqrt(0.5)])
        game.step()
        assert game.ball.positions[0][2] > 0.5
        assert player.perception.position.x == pytest.approx(3.0, abs=0.01)
        assert player.perception.joints.axs[0] == pytest.approx(30.0, abs=2.0)
        assert game.motion().velocities.shape == (1, 3)


def test_without_a_referee_nobody_is_called():
    with Game(referee=False) as game:
        player = game.join("Reds", 2)
        game.set_play_mode("PlayOn")
        game.place_ball((27.0, 0.0, 0.3), (9.0, 0.0, 0.0))
        reached = []
        for _ in range(100):
            game.step()
            reached.append(game.ball.positions[0][0])
        assert max(reached) > 27.7, "it is in the goal"
        assert (game.state.play_mode, game.state.score_left) == ("PlayOn", 0)
        assert game.state.play_time == pytest.approx(2.0, abs=0.03)
        assert player.perception.game_state.play_mode == "PlayOn"


def test_models_of_the_user(tmp_path):
    robot = """<mujoco model="cart"><worldbody><body name="torso" pos="0 0 .2"><freejoint/><geom size=".1"/>
        <body name="arm"><joint name="hinge" axis="0 1 0" range="-1 1"/><geom size=".05" pos=".2 0 0"/></body></body></worldbody>
        <actuator><motor name="arm_tau" joint="hinge"/><position name="arm_pos" joint="hinge"/>
        <velocity name="arm_vel" joint="hinge"/></actuator>
        <sensor><jointpos name="q_arm" joint="hinge"/><jointvel name="dq_arm" joint="hinge"/></sensor></mujoco>"""
    (tmp_path / "cart.xml").write_text(robot)
    (tmp_path / "ghost.xml").write_text(robot.replace('"torso"', '"body"'))
    with Game(models=tmp_path) as game:
        cart = game.join("Reds", 2, model="cart")
        assert cart.motors == ("arm",)
        assert cart.perception.joints.names == ("arm",) and cart.perception.orientations == ()
        with pytest.raises(RossumError, match="torso"):
            game.join("Reds", 3, model="ghost")
        assert list(game.step()) == [cart]


def test_two_games_in_two_threads_are_equal():
    results = {}

    def run(name):
        with Game(seed=11, vision="noisy") as game:
            way = Here(game)
            for player in PLAYERS:
                way.join(player)
            results[name] = play(way, joins_late=False)

    threads = [threading.Thread(target=run, args=(name,)) for name in ("one", "two")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results["one"] == results["two"]


def test_images_and_the_end():
    game = Game()
    game.join("Reds", 2, model="roller")
    image = game.render(160, 120)
    assert image.shape == (120, 160, 3) and image.dtype == np.uint8
    green = image[..., 1].astype(int) - image[..., 0]
    assert (green > 20).mean() > 0.3, "the field is green"
    game.close()
    game.close()
    for use in (game.step, lambda: game.state, lambda: game.join("Reds", 3)):
        with pytest.raises(RossumError, match="the game is closed"):
            use()
