"""The clients in plain Python, with the built program."""

import numpy as np
import pytest
from rossum_sim import World
from rossum_sim.clients import odcp, osp


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
