"""Clients of servers that are silent, vanish, or send nonsense: each call ends with an error of the client's own kind."""

import json
import socket
import struct
import threading
from contextlib import contextmanager
from pathlib import Path

import pytest
from rossum_sim.clients.evo import Beam, EvoError, Layer, RobotSimulator, WorldSimulator
from rossum_sim.clients.soccer import Agent, Monitor, SoccerError
from rossum_sim.soccer import MotorAction

PROTOCOLS = Path(__file__).resolve().parents[2] / "protocols"
DEADLINE = 30
# of clients that are kept waiting
SHORT = 0.2


@contextmanager
def server(script):
    """A server with one client, which does what the script says; yields its port. It ends with the block."""
    over = threading.Event()

    def serve():
        connection, _ = listener.accept()
        with connection:
            connection.settimeout(DEADLINE)
            try:
                script(connection, over)
            except OSError:
                pass  # the client has gone

    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.settimeout(DEADLINE)
        thread = threading.Thread(target=serve)
        thread.start()
        try:
            yield listener.getsockname()[1]
        finally:
            over.set()
            thread.join(DEADLINE)
    assert not thread.is_alive()


def sends(data):
    """Sends bytes, and then nothing."""

    def script(connection, over):
        connection.sendall(data)
        over.wait(DEADLINE)

    return script


def drips(data):
    """Sends a byte at a time, and goes on with that."""

    def script(connection, over):
        while not over.wait(0.01):
            connection.sendall(data)

    return script


def closes(connection, over):
    pass


def frame(text):
    data = text.encode() if isinstance(text, str) else text
    return struct.pack(">I", len(data)) + data


def timeout_for(message):
    """Long, unless it is what ends the call."""
    return SHORT if message.startswith("no ") else DEADLINE


GAME = "(GS (t 0.0)(pm BeforeKickOff)(sl 0)(sr 0))"
NOW = "(time (now 0.02))"


def perceive(port, timeout):
    with Agent("Reds", 9, port=port, timeout=timeout) as agent:
        agent.step()


@pytest.mark.parametrize(
    ("script", "message"),
    [
        (closes, "has closed the connection"),
        (sends(b""), "no message of the server"),
        (sends(b"\0\0"), "no message of the server"),
        (sends(struct.pack(">I", 100) + b"(time"), "no message of the server"),
        (drips(b"\0"), "invalid perception"),
        (sends(struct.pack(">I", 2**32 - 1)), "4294967295 bytes; the largest has 65536"),
        (sends(frame(b"\xff\xfe")), "invalid message"),
        (sends(frame("")), "invalid perception"),
        (sends(frame("(" * 40_000)), "nested more than 16 deep"),
        (sends(frame(NOW + GAME + ")")), "a parenthesis too many"),
        (sends(frame(NOW + GAME + "(HJ")), "not closed"),
        (sends(frame(NOW + GAME + "()")), "invalid perception"),
        (sends(frame(GAME)), "'time'"),
        (sends(frame(NOW)), "'GS'"),
        (sends(frame(NOW + NOW + GAME)), "invalid perception"),
        (sends(frame("(time (now nan))" + GAME)), "'nan' is not a finite number"),
        (sends(frame("(time (now 1e999))" + GAME)), "'1e999' is not a finite number"),
        (sends(frame("(time (now 1_0))" + GAME)), "'1_0' is not a finite number"),
        (sends(frame("(time ((now) 1))" + GAME)), "invalid perception"),
        (sends(frame(NOW + GAME.replace("(sl 0)", "(sl 1.5)"))), "'1.5' is not a whole number"),
        (sends(frame(NOW + GAME.replace("(sl 0)", "(sl " + "9" * 5000 + ")"))), "is not a whole number"),
        (sends(frame(NOW + GAME + "(quat (n torso) (q 1 0 0))")), "invalid perception"),
        (sends(frame(NOW + GAME + "(GYR (n torso) rt 1 2 3)")), "invalid perception"),
        (sends(frame(NOW + GAME + "(HJ (n q_he1)(ax 1))")), "invalid perception"),
        (sends(frame(NOW + GAME + "(MIC hear (0 ==a))")), "invalid perception"),
        (sends(frame(NOW + GAME + "(See (B (pol 1 2)))")), "invalid perception"),
        (sends(frame(NOW + GAME + "(See (P (team A)))")), "invalid perception"),
    ],
)
def test_an_agent_ends_with_an_error(script, message):
    with server(script) as port, pytest.raises(SoccerError, match=message):
        perceive(port, timeout_for(message))


def test_a_closed_agent_stays_closed():
    with server(closes) as port, Agent("Reds", 9, port=port, timeout=DEADLINE) as agent:
        for _ in range(2):
            with pytest.raises(SoccerError):
                agent.perceive()


def test_a_server_that_reads_nothing_is_given_up():
    with server(sends(frame(NOW + GAME))) as port, Agent("Reds", 9, port=port, timeout=SHORT) as agent:
        agent.perceive()

        def flood():
            for _ in range(10_000):
                agent.act(*[MotorAction("he1" * 40)] * 400)
                agent.send()

        with pytest.raises(SoccerError, match="has read nothing|sending failed"):
            flood()


@pytest.mark.parametrize("vector", json.loads((PROTOCOLS / "soccer/vectors.json").read_text())["perceptions"])
def test_perceptions_of_the_vectors(vector):
    # clients accept play modes that they do not know
    is_valid = "error" not in vector or vector["error"]["field"] == "pm"
    with server(sends(frame(vector["text"]))) as port:
        with Agent("Reds", 9, port=port, timeout=DEADLINE, dialect=vector["dialect"]) as agent:
            if is_valid:
                assert agent.step().time.name == "now"
            else:
                with pytest.raises(SoccerError, match="invalid perception"):
                    agent.step()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"team": "Re ds"}, "invalid name"),
        ({"team": ""}, "invalid name"),
        ({"team": "R" * 129}, "1 to 128 bytes"),
        ({"model": "T1)(syn"}, "invalid name"),
        ({"number": 100}, "out of range 0 to 99"),
        ({"dialect": "latin"}, "latin"),
    ],
)
def test_names_are_checked_before_anything_is_sent(options, message):
    with pytest.raises(ValueError, match=message):
        Agent(**{"team": "Reds", "number": 9, "port": 9, **options})


# --- monitors ---

ROOT = "(nd TRF(SLT 1 0 0 0 0 1 0 0 0 0 1 0 0 0 0 1)(nd DSC(ball)(nd TRF(SLT 1 0 0 0 0 1 0 0 0 0 1 0 1 2 3 1))))"
STATE = "((gs 1 0)(time 0.0)(half 1)(score_left 0)(score_right 0)(play_mode 0){})"
FULL = (
    "((RSMP 1 0)((gt 1 0)0.02)((sg 1 0)full" + ROOT + ")" + STATE.format("(team_left Reds)(team_right <RIGHT>)")
) + "((ge 1 0)(FieldLength 55)(play_modes BeforeKickOff PlayOn)))"


def difference(tree, state=STATE.format("")):
    return f"((RSMP 1 0)((gt 1 0)0.06)((sg 1 0)diff{tree}){state})"


def watch(port, timeout=DEADLINE):
    with Monitor(port=port, timeout=timeout) as monitor:
        return monitor.update(), monitor.update()


def test_a_monitor_follows_differences():
    moved = "(nd(nd(nd TRF(SLT 1 0 0 0 0 1 0 0 0 0 1 0 4 5 6 1))))"
    with server(sends(frame(FULL) + frame(difference(moved)))) as port:
        first, second = watch(port)
    assert first.ball.position.tolist() == [1.0, 2.0, 3.0]
    assert second.ball.position.tolist() == [4.0, 5.0, 6.0]
    assert (second.team_left, second.team_right, second.play_mode) == ("Reds", None, "BeforeKickOff")


@pytest.mark.parametrize(
    ("messages", "message"),
    [
        ([difference("(nd)")], "a difference without a scene"),
        ([FULL, difference("(nd)")], "invalid message"),
        ([FULL, difference("(nd(nd(nd TRF(SLT 1 2 3))))")], "invalid message"),
        ([FULL, difference("(nd(nd(nd)))", STATE.format("").replace("play_mode 0", "play_mode -1"))], "out of range"),
        ([FULL, difference("(nd(nd(nd)))", STATE.format("(foul 99 1 2)"))], "out of range"),
        ([FULL.replace("RSMP", "PMSR")], "no message to monitors"),
        ([FULL.replace("(play_modes BeforeKickOff PlayOn)", "")], "play_modes"),
        (["(nd " * 100], "nested more than 64 deep"),
        (["()" * 300_000], "more than 262144"),
        (["(ack x)"], "invalid message"),
        ([""], "invalid message"),
    ],
)
def test_a_monitor_ends_with_an_error(messages, message):
    with server(sends(b"".join(map(frame, messages)))) as port, pytest.raises(SoccerError, match=message):
        watch(port)


def test_commands_that_nobody_acknowledges_are_given_up():
    with server(drips(frame(FULL) + frame("(ack 7)"))) as port, Monitor(port=port, timeout=SHORT) as monitor:
        with pytest.raises(SoccerError, match="no acknowledgement"):
            monitor.drop_ball()


@pytest.mark.parametrize(
    "use",
    [
        lambda monitor: monitor.kick_off("up"),
        lambda monitor: monitor.set_play_mode("Play On"),
        lambda monitor: monitor.place_ball((0.0, float("nan"), 0.0)),
        lambda monitor: monitor.place_player("Re)ds", 2, (0.0, 0.0, 1.0)),
        lambda monitor: monitor.place_player("Reds", 2, joints={"he 1": 1.0}),
    ],
)
def test_commands_are_checked_before_anything_is_sent(use):
    with server(sends(b"")) as port, Monitor(port=port, timeout=DEADLINE) as monitor, pytest.raises(ValueError):
        use(monitor)


# --- evolving robots ---

NET = "NetParameters 2 0 0 0 2 0 0 0 2 0 0 0 0 0 0 0 0 1 -10 10 1 1\r\n"


def evaluate(port, timeout=DEADLINE):
    with RobotSimulator(port=port, timeout=timeout) as simulator:
        return simulator.evaluate([[0.5] * 8, [0.25] * 8])


def test_fitness_may_arrive_in_any_order():
    with server(sends((NET + "\r\nFitness 1 2 0.5\nFitness  1.0 1 -3e1 \r\n").encode())) as port:
        assert evaluate(port) == [-30.0, 0.5]


@pytest.mark.parametrize(
    ("script", "message"),
    [
        (closes, "has closed the connection"),
        (sends(b""), "no message of the server"),
        (sends(NET.encode()[:-2]), "no message of the server"),
        (drips(b"NetParameters 1 "), "no message of the server|more than 16384 bytes"),
        (sends(b"1" * 20_000), "more than 16384 bytes"),
        (sends(b"Fitness 1 1 1\r\n"), "'Fitness' instead of NetParameters"),
        (sends(b"\xff\xfe 1\r\n"), "instead of NetParameters"),
        (sends(b"NetParameters 1 2\r\n"), "2 net parameters instead of 22"),
        (sends(NET.replace("-10", "-inf").encode()), "is not a number"),
        (sends(NET.replace("-10", "0x10").encode()), "is not a number"),
        (sends(NET.replace(" 2 0 0 0 2", " 0 0 0 0 2", 1).encode()), "impossible net parameters"),
        (sends(NET.replace("1 1\r", "1 2\r").encode()), "fre is 2.0"),
        (sends(NET.replace(" 2 0 0 0 2", " 2 0 0 0 2.5", 1).encode()), "cin is 2.5"),
        (sends((NET + "Fitness 1 1\r\n").encode()), "invalid fitness"),
        (sends((NET + "Fitness 1 3 1\r\n").encode()), "nobody has asked for"),
        (sends((NET + "Fitness 2 1 1\r\n").encode()), "nobody has asked for"),
        (sends((NET + "Fitness 1 1 1\r\nFitness 1 1 1\r\n").encode()), "nobody has asked for"),
        (sends((NET + "Fitness 1 1 nan\r\n").encode()), "is not a number"),
    ],
)
def test_a_population_manager_ends_with_an_error(script, message):
    with server(script) as port, pytest.raises(EvoError, match=message):
        evaluate(port, timeout_for(message))


def test_individuals_are_checked_before_they_are_sent():
    with server(sends(NET.encode())) as port, RobotSimulator(port=port, timeout=DEADLINE) as simulator:
        with pytest.raises(ValueError, match="has 8 values, not 3"):
            simulator.send(1, 1, [0.0] * 3)
        with pytest.raises(ValueError, match="not finite"):
            simulator.send(1, 1, [float("nan")] * 8)
        with pytest.raises(ValueError, match="out of range 0 to 0"):
            simulator.send(1, 1, [0.0] * 8, hidden=1)


@pytest.mark.parametrize("vector", json.loads((PROTOCOLS / "evo/vectors.json").read_text())["from_robot"])
def test_lines_of_the_vectors(vector):
    line = vector["line"] + "\r\n"
    message = line if line.startswith("NetParameters") else NET + line
    with server(sends(message.encode())) as port:
        if "error" in vector:
            with pytest.raises(EvoError):
                RobotSimulator(port=port, timeout=DEADLINE).receive()
        else:
            with RobotSimulator(port=port, timeout=DEADLINE) as simulator:
                if message != line:
                    assert isinstance(simulator.receive().value, float)


BODY = [Layer(20, [[(-30, 40), (30, 40), (30, -40), (-30, -40)]])]
POSITION = "YourPosition 17 1000 250.5 0 1.5 0.1 -0.1 0.5 0\r\n"


def sense(port, timeout=DEADLINE):
    with WorldSimulator(port=port, timeout=timeout) as world:
        robot = world.create(BODY)
        return robot.position, robot.see([Beam(0, 0, 10, 0, 0, 0.1, 0.1)])


def test_answers_of_a_world():
    answers = "YourIdentifier 17\r\n" + POSITION + "VisualSensorReading 17 97.5 255 128 0\r\n"
    with server(sends(answers.encode())) as port:
        position, [sight] = sense(port)
    assert position == (1000.0, 250.5, 0.0, 1.5, 0.1, -0.1, 0.5, False)
    assert sight == (97.5, 255.0, 128.0, 0.0)


@pytest.mark.parametrize(
    ("answers", "message"),
    [
        ("YourPosition 17\r\n", "instead of YourIdentifier"),
        ("YourIdentifier 0\r\n", "invalid identifier"),
        ("YourIdentifier 1.5\r\n", "invalid identifier"),
        ("YourIdentifier 70000\r\n", "invalid identifier"),
        ("YourIdentifier 17 1\r\n", "invalid identifier"),
        ("YourIdentifier 18\r\n" + POSITION, "invalid YourPosition"),
        ("YourIdentifier 17\r\nYourPosition 17 1\r\n", "invalid YourPosition"),
        ("YourIdentifier 17\r\n" + POSITION + "SonicSensorReading 17 1\r\n", "instead of VisualSensorReading"),
        ("YourIdentifier 17\r\n" + POSITION, "no message of the server"),
    ],
)
def test_a_robot_simulator_ends_with_an_error(answers, message):
    with server(sends(answers.encode())) as port, pytest.raises(EvoError, match=message):
        sense(port, timeout_for(message))


def test_where_nothing_listens():
    with pytest.raises(SoccerError, match="cannot connect"):
        Agent("Reds", 9, port=9, timeout=SHORT)
    with pytest.raises(EvoError, match="cannot connect"):
        WorldSimulator(port=9, timeout=SHORT)
