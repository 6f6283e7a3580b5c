"""The clients in plain Python, with the built program."""

import numpy as np
import pytest
from conftest import serving
from rossum_sim import World, evolution
from rossum_sim.clients import evo, odcp, osp, oz

DEADLINE = 60


def test_a_world_over_osp_is_the_one_in_process(arena):
    """A controller finds the same world over the wire as in process."""
    inputs = [[0.8, 0.5 + 0.3 * np.sin(tick / 7)] for tick in range(60)]
    with osp.Simulation(port=arena["OSP"]) as simulation, World("arena") as world:
        rover = simulation.control("Rover")
        own = world.agents["Rover"]
        assert rover.inputs[0].startswith("/Left/Wheel")
        names = [sensor.name for sensor in own.sensors]
        assert [name.lstrip("/") for name in rover.outputs + rover.infos] == names
        position = simulation.variable("/Sim/Rover/Position")
        simulation.observe([position])
        simulation.subscribe("/Control/StepCompleted")
        simulation.reset(seed=5)
        world.reset(5)
        for values in inputs:
            step = rover.step(np.float32(values))
            own.act_normalized(np.float32(values).astype(float))
            world.step()
            expected = own.normalized_sensor_values.astype(np.float32)
            assert np.array_equal(np.concatenate([step.outputs, step.infos]), expected)
            assert step.events == {"/Control/StepCompleted"}
        observed = [float(number) for number in step.values["/Sim/Rover/Position"].strip("()").split(",")]
        assert observed == pytest.approx(world["/Sim/Rover/Position"], abs=1e-9)


def test_variables_over_osp(arena):
    with osp.Simulation(port=arena["OSP"]) as simulation:
        heading = simulation.variable("/Sim/Rover/Heading")
        simulation.write(heading, "1.25")
        assert float(simulation.read(heading)) == pytest.approx(1.25)
        names = [variable.name for variable in simulation.variables("/Sim/Rover/.*")]
        assert names == sorted(names) and "/Sim/Rover/Heading" in names
        with pytest.raises(osp.OspError, match="Headin"):
            simulation.variable("/Sim/Rover/Headin")
        with pytest.raises(osp.OspError, match="available: Rover"):
            simulation.control("Nobody")


def test_an_agent_has_one_controller(arena):
    with osp.Simulation(port=arena["OSP"]) as first, osp.Simulation(port=arena["OSP"]) as second:
        first.control("Rover")
        with pytest.raises(osp.OspError, match="another client"):
            second.control("Rover")


def test_motors_over_odcp(arena):
    with odcp.Robot(port=arena["ODCP of Rover"]) as rover:
        assert len(rover.angles()) == 2
        rover.move([600, 600], [1023, 1023])
        with pytest.raises(ValueError, match="one for each motor"):
            rover.move([600], [1023, 1023])


def test_a_server_that_is_not_there_is_said():
    with pytest.raises(odcp.OdcpError, match="nothing listens"):
        odcp.Robot(port=9)
    with pytest.raises(osp.OspError, match="no answer"):
        osp.Simulation(port=9, timeout=0.05)


# --- evolving robots ---


def test_fitness_over_the_wire_is_that_in_process():
    site = evolution.Site("empty", "platine")
    with serving("platine", "--in-process", "empty", command="robot") as ports:
        with evo.RobotSimulator(port=ports["Robot Simulator"], timeout=DEADLINE) as simulator:
            search = evolution.Search("cma-es", simulator.parameters.to_json(), seed=3, population=6)
            for generation in (1, 2):
                individuals = search.ask()
                fitness = simulator.evaluate(individuals, generation)
                assert fitness == [outcome.fitness for outcome in site.evaluate(individuals, generation)]
                search.tell(fitness)
            assert search.best[1] == max(fitness + [search.best[1]])
            low, high = simulator.parameters.limits(hidden=2)
            assert len(low) == len(high) == (10 + 2 + 2) * (2 + 2)
            values = np.random.default_rng(1).uniform(low, high)
            [one, other] = simulator.evaluate([values, values], hidden=2)
            assert np.isfinite([one, other]).all()
    with pytest.raises(evo.EvoError):
        for _ in range(1_000):
            simulator.send(1, 1, values, hidden=2)


@pytest.mark.parametrize("pipeline", [False, True])
def test_a_robot_in_a_world(pipeline):
    body = [evo.Layer(20.0, [[(-30, 40), (30, 40), (30, -40), (-30, -40)]])]
    with serving("empty", command="world") as ports:
        port = ports["World Simulator"]
        with evo.WorldSimulator(port=port, pipeline=pipeline, timeout=DEADLINE) as world:
            robot = world.create(body)
            assert robot.id == 1 and robot.position.stress == 0.0
            assert robot.jump_to(500.0, 600.0, 0.0)[:2] == (500.0, 600.0)
            beams = [evo.Beam(500.0, 600.0, 10.0, direction, 0.0, 0.0, 0.0) for direction in (0.0, np.pi / 2, np.pi)]
            distances = [sight.distance for sight in robot.see(beams * 20)]
            assert distances == pytest.approx([1500.0, 1400.0, 500.0] * 20)
            assert robot.hear(beams) == pytest.approx(distances[:3])
            moved = robot.move_to(520.0, 600.0, 0.0)
            assert moved == robot.position and moved.x == 520.0 and not moved.is_dead
            assert robot.move_to(-500.0, 600.0, 0.0).stress > 0.5, "there is a wall"
            other = world.create(body)
            assert other.id == 2
            other.kill()
            with pytest.raises(evo.EvoError, match="has closed the connection; its log says why"):
                robot.shape([])
            with pytest.raises(ValueError, match="not finite"):
                robot.move_to(float("nan"), 0.0, 0.0)


# --- the puppet ---


def test_the_oz_client_is_part_of_the_package():
    with serving("--scenario", "oz") as ports:
        with oz.Client(port=ports["Oz of Alice"]) as robot:
            assert robot.is_connected and robot.version == oz.VERSION
            robot.set_expression(oz.Expression.HAPPY)
            assert robot.gesture(oz.Gesture.NO_SHORT).wait(DEADLINE)
