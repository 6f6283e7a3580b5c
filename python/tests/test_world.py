"""The simulation API, on the wheel as it is installed."""

import os
import signal
import subprocess
import threading
import time

import numpy as np
import pytest
from rossum_sim import MUJOCO_VERSION, RossumError, World

ROSSUM = os.environ.get("ROSSUM", "rossum")

PENDULUM = """<mujoco>
  <option timestep="0.002" integrator="RK4"/>
  <worldbody>
    <geom name="floor" type="plane" size="5 5 .1"/>
    <body name="pole" pos="0 0 1">
      <joint name="hinge" axis="0 1 0" damping="0.01"/>
      <geom type="capsule" size=".02" fromto="0 0 0 0 0 -.6"/>
    </body>
  </worldbody>
  <actuator><motor joint="hinge" gear="2" ctrlrange="-1 1"/></actuator>
  <sensor><jointpos name="angle" joint="hinge"/></sensor>
</mujoco>"""


def drive(world, ticks):
    """Lets the rover drive a bend; returns the state after each tick."""
    rover = world.agents["Rover"]
    states = []
    for tick in range(ticks):
        rover.act_normalized([0.8, 0.5 + 0.3 * np.sin(tick / 7)])
        world.step()
        states.append(world.state_hash)
    return states


def test_a_seed_gives_the_same_run():
    with World("arena", seed=7) as one, World("arena", seed=7) as two, World("arena", seed=8) as other:
        assert drive(one, 50) == drive(two, 50) != drive(other, 50)
        one.reset(8)
        other.reset(8)
        assert one.seed == 8
        assert drive(one, 20) == drive(other, 20)


def test_time_passes_in_steps():
    with World("arena") as world:
        assert (world.time, world.ticks) == (0.0, 0)
        world.step(10)
        assert world.ticks == 10
        assert world.time == pytest.approx(10 * world.tick_seconds)
        world.step(0)
        assert world.ticks == 10


def test_variables_are_read_and_written():
    with World("arena") as world:
        names = [variable.name for variable in world.variables()]
        assert names == sorted(names) and "/Sim/Rover/Position" in names
        position = world["/Sim/Rover/Position"]
        assert position.shape == (3,) and position.dtype == np.float64
        world["/Sim/Rover/Position"] = [0.5, -1.0, 0.035]
        assert world["/Sim/Rover/Position"] == pytest.approx([0.5, -1.0, 0.035])
        world["/Sim/Rover/Heading"] = 1.5
        assert world["/Sim/Rover/Heading"] == pytest.approx(1.5)
        world["/Simulation/IterationsPerStep"] = 3
        assert world["/Simulation/IterationsPerStep"] == 3
        world["/Sim/World/Block/Size"] = "(0.3,0.3,0.3)"  # text, as in scenario files; needs the model compiler
        assert world["/Sim/World/Block/Size"] == pytest.approx([0.3, 0.3, 0.3])
        assert "/Sim/Rover/Position" in world and "/Sim/Nobody" not in world


@pytest.mark.parametrize(
    ("name", "value", "error", "message"),
    [
        ("/Sim/Rover/Positon", [0, 0, 0], KeyError, "did you mean `/Sim/Rover/Position`"),
        ("/Sim/Rover/Position", [0, 0], ValueError, "length"),
        ("/Sim/Rover/Position", [0, 0, float("nan")], ValueError, "Position"),
        ("/Sim/Rover/Heading", "north", ValueError, "north"),
        ("/Control/CurrentStep", 5, ValueError, "CurrentStep"),
        ("/Sim/Rover/Heading", None, TypeError, "None"),
    ],
)
def test_wrong_writes_change_nothing(name, value, error, message):
    with World("arena") as world:
        before = world.state_hash
        with pytest.raises(error, match=message):
            world[name] = value
        assert world.state_hash == before


def test_a_saved_state_is_returned_to_bit_for_bit():
    with World("arena", seed=3) as world:
        drive(world, 30)
        saved = world.save()
        sensors = world.agents["Rover"].sensor_values
        expected = drive(world, 40)
        world.reset(9)
        world["/Simulation/Gravitation"] = 3.0
        drive(world, 5)
        world.restore(saved)
        assert np.array_equal(world.agents["Rover"].sensor_values, sensors)
        assert drive(world, 40) == expected
        with World("arena") as other, pytest.raises(ValueError, match="another world"):
            other.restore(saved)


def test_saved_states_are_freed():
    with World("arena") as world:
        for _ in range(3_000):  # more than a world keeps
            world.save()


def test_what_is_done_from_python_replays(tmp_path):
    path = tmp_path / "run.mcap"
    with World("arena", seed=5, record=path) as world:
        drive(world, 60)
        saved = world.save()
        world["/Sim/World/Block/Size"] = [0.2, 0.2, 0.2]
        world.reset(6)
        drive(world, 60)
        world["/Sim/Rover/Position"] = [0.3, -1.0, 0.035]
        other = world.save()
        drive(world, 20)
        world.restore(other)
        with pytest.raises(RossumError, match="resized"):
            world.restore(saved)
        del saved
        drive(world, 33)
    replayed = subprocess.run([ROSSUM, "replay", path, "--verify"], capture_output=True, text=True, check=False)
    assert replayed.returncode == 0, replayed.stderr
    assert "173 ticks" in replayed.stdout and "all equal" in replayed.stdout
    with pytest.raises(OSError, match="exists already"):
        World("arena", record=path)


CROWD = "[world]\nfield = 'fifa'\n" + "".join(
    f"[[robot]]\nname = 'T1-{i}'\nmodel = 'T1'\nposition = [{i % 3}, {i // 3}, 0]\n" for i in range(6)
)


def fall(world, ticks):
    """Lets a crowd of robots fall; returns the state after each tick."""
    states = []
    for tick in range(ticks):
        for number, agent in enumerate(world.agents.values()):
            agent.act_normalized(np.full(len(agent.motors), 0.3 * np.sin(tick / 5 + number)))
        world.step()
        states.append(world.state_hash)
    return states


def test_helping_threads_do_not_change_the_run(tmp_path):
    path = tmp_path / "run.mcap"
    with World.from_toml(CROWD) as world:
        expected = fall(world, 60)
        assert world.helping_threads == 0
    for threads in (0, 1, 3, "auto"):
        with World.from_toml(CROWD, threads=threads, record=path, overwrite=True) as world:
            saved = world.save()
            assert fall(world, 60) == expected
            world.restore(saved)
            assert fall(world, 60) == expected
            assert threads == "auto" or world.helping_threads == threads
        for count in ("0", "2", "auto"):
            command = [ROSSUM, "replay", path, "--verify", "--threads", count]
            replayed = subprocess.run(command, capture_output=True, text=True, check=False)
            assert replayed.returncode == 0, replayed.stderr
    for wrong in (17, -1, "many"):
        with pytest.raises(ValueError, match="`auto` or a number of threads from 0 to 16"):
            World("arena", threads=wrong)
    with pytest.raises(TypeError):
        World("arena", threads=1.5)


def test_events_and_contacts():
    with World("arena") as world:
        rover = world.agents["Rover"]
        world.step()
        assert "/Control/StepCompleted" in world.events
        wheels = {name for contact in world.contacts() for name in contact.geoms}
        assert any(name.startswith("Rover:") for name in wheels)
        world["/Sim/Rover/Heading"] = np.pi / 2
        for _ in range(400):
            rover.act_normalized((1, 1))
            world.step(5)
            if "/Collision/Crash" in world.events:
                break
        else:
            pytest.fail("the rover hits the wall at some point")


def test_a_users_model_brings_its_own_world():
    with World.from_model(PENDULUM, name="Pole") as world:
        pole = world.agents["Pole"]
        [motor] = pole.motors
        [sensor] = pole.sensors
        assert (motor.name, motor.kind, motor.low, motor.high) == ("hinge", "signal", -1.0, 1.0)
        assert sensor.name == "angle"
        assert world.tick_seconds == pytest.approx(0.002)
        pole.act(np.array([1.0]))
        world.step(100)
        assert pole.sensor_values[0] == pytest.approx(world.qpos[0], abs=0.01)
        assert abs(world.qpos[0]) > 0.01 and world.qvel.shape == (1,)
    with World.from_model("T1", field="fifa", timestep=0.005, steps_per_tick=4) as world:
        assert len(world.agents["Robot"].motors) == 23
    with pytest.raises(RossumError, match="nosuch"):
        World.from_model("nosuch")
    with pytest.raises(RossumError):
        World.from_model("<mujoco><worldbody/></mujoco>")


def test_a_scenario_as_text():
    text = '[[robot]]\nname = "Ant"\nmodel = "ant"\n'
    with World.from_toml(text, seed=4) as world:
        assert list(world.agents) == ["Ant"] and world.seed == 4
    with pytest.raises(RossumError, match="did you mean `model`"):
        World.from_toml('[[robot]]\nname = "Ant"\nmodle = "ant"\n')
    with pytest.raises(RossumError, match="did you mean `arena`"):
        World("arenna")


def test_motor_commands_are_checked():
    with World("arena") as world:
        rover = world.agents["Rover"]
        for targets in ([1.0], [1.0, float("inf")], [[1.0, 1.0]], ["left", "right"], None):
            with pytest.raises((ValueError, TypeError)):
                rover.act(targets)
        rover.act(np.array([5.0, np.nan]), torques=[1.0, 0.5])
        world.step(20)
        left, right = rover.motor_values
        assert left > 1.0 > abs(right)


def test_images():
    with World("playground") as world:
        image = world.render(160, 120)
        assert image.shape == (120, 160, 3) and image.dtype == np.uint8
        assert len(np.unique(image.reshape(-1, 3), axis=0)) > 20
        top = world.render(80, 60, eye=(0, 0, 30), target=(0, 0.01, 0), fov=60)
        green = top[..., 1].astype(int) - top[..., 0]
        assert (green > 20).mean() > 0.5, "the field is green"
        for arguments in ({"width": 0}, {"fov": 0.0}, {"eye": (0, 0, float("nan"))}):
            with pytest.raises(ValueError):
                world.render(**arguments)


def test_a_closed_world_says_so():
    world = World("arena")
    rover = world.agents["Rover"]
    world.close()
    world.close()
    for use in (world.step, lambda: rover.sensor_values, lambda: world["/Simulation/Seed"]):
        with pytest.raises(RossumError, match="closed"):
            use()
    assert repr(world) == "<World, closed>"


def test_other_threads_run_while_a_world_steps():
    with World("soccer") as world:
        counted = 0
        thread = threading.Thread(target=world.step, args=(5_000,))
        thread.start()
        while thread.is_alive():
            counted += 1
            time.sleep(0)
        assert counted > 10
        assert world.ticks == 5_000


def test_ctrl_c_interrupts_a_long_step():
    # a program started in the background ignores the signal, and so would its tests
    handler = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with World("arena") as world:
            # arrives while the world steps, which would take minutes
            threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
            with pytest.raises(KeyboardInterrupt):
                world.step(10**7)
            assert 0 < world.ticks < 10**6
            world.step()
    finally:
        signal.signal(signal.SIGINT, handler)


def test_it_knows_its_engine():
    assert MUJOCO_VERSION == "3.17.0"
