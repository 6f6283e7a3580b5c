"""The task of `rossum bench evo` in navground: one robot with two wheels and 8 proximity sensors among 50 obstacles.

Usage: peer_navground.py TASK SECONDS RANGE_MM LIDARSxRAYS. For each line on stdin it runs for SECONDS of CPU time and prints
one line of JSON; it exits at the end of stdin.

A sensor is a lidar with several rays: `8x3` is what Enki has, 3 rays within 30 degrees at each of 8 points on the robot's
edge. `1x24` has the same directions and `1x8` one ray per sensor, both as a single lidar at the robot's centre, which is
cheaper.

Navground's own C++ loop makes all steps, so that one of its own behaviours steers the robot: the cheapest one, straight to
the next start, which ignores the sensors. They are still evaluated in each step.
"""

import json
import math
import sys
import time

from navground import core, sim

MM = 0.001
OPENING = math.radians(30)
# a step is at most 8 mm
STEP_SECONDS = 0.05
SPEED = 160 * MM
STEPS_OF_A_TRIAL = 500
# robots are discs; this one has about the area of 80 x 60 mm
RADIUS = 40 * MM
AXLE = 60 * MM


def read_task(path):
    obstacles, starts = [], []
    with open(path, encoding="utf-8") as lines:
        for line in lines:
            what, *numbers = line.split() or [""]
            if what == "obstacle":
                x, y, radius, _ = (float(number) * MM for number in numbers)
                obstacles.append(core.Disc((x, y), radius))
            elif what == "start":
                x, y, degrees = map(float, numbers)
                starts.append(core.Pose2((x * MM, y * MM), math.radians(degrees)))
    if not starts:
        sys.exit(f"peer_navground: {path} has no start")
    return obstacles, starts


def make_lidars(count, rays, reach):
    if count == 1:
        around = 2 * math.pi * (rays - 1) / rays
        return [sim.state_estimations.LidarStateEstimation(reach, 0.0, around, rays)]
    lidars = []
    for index in range(count):
        direction = 2 * math.pi * index / count
        edge = (RADIUS * math.cos(direction), RADIUS * math.sin(direction))
        lidar = sim.state_estimations.LidarStateEstimation(
            reach, direction - OPENING / 2, OPENING, rays, position=edge, name=f"sensor {index}"
        )
        lidars.append(lidar)
    return lidars


def make_world(obstacles, starts, lidars):
    world = sim.World()
    corners = [(0.0, 0.0), (2.0, 0.0), (2.0, 2.0), (0.0, 2.0)]
    for one, other in zip(corners, corners[1:] + corners[:1]):
        world.add_wall(core.LineSegment(one, other))
    for obstacle in obstacles:
        world.add_obstacle(obstacle)
    kinematics = core.kinematics.TwoWheelsDifferentialDriveKinematics(max_speed=SPEED, wheel_axis=AXLE)
    behavior = core.behaviors.DummyBehavior(kinematics, RADIUS)
    behavior.optimal_speed = SPEED
    # without a state to write to, navground would skip the sensors
    behavior.set_environment_state(core.SensingState())
    task = sim.tasks.WaypointsTask([start.position for start in starts], loop=True, tolerance=0.05)
    robot = sim.Agent(RADIUS, behavior, kinematics, task, lidars)
    world.add_agent(robot)
    return world, robot


def main():
    if len(sys.argv) != 5:
        sys.exit("usage: peer_navground.py TASK SECONDS RANGE_MM LIDARSxRAYS")
    obstacles, starts = read_task(sys.argv[1])
    seconds, reach = float(sys.argv[2]), float(sys.argv[3]) * MM
    count, rays = map(int, sys.argv[4].split("x"))
    lidars = make_lidars(count, rays, reach)
    world, robot = make_world(obstacles, starts, lidars)
    for _ in sys.stdin:
        steps, began, took = 0, time.process_time(), 0.0
        while took < seconds:
            for start in starts:
                robot.pose = start
                world.run(STEPS_OF_A_TRIAL, STEP_SECONDS)
                steps += STEPS_OF_A_TRIAL
            took = time.process_time() - began
        # reading fails if nothing was sensed
        nearest = min(min(lidar.read_ranges(robot.behavior.environment_state)) for lidar in lidars)
        print(json.dumps({"steps": steps, "cpu_s": took, "nearest_mm": nearest / MM}), flush=True)


if __name__ == "__main__":
    main()
