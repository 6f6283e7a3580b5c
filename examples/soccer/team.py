#!/usr/bin/env python3
"""A small soccer team for RoboCup's MuJoCo league: it stands, walks to the ball and kicks it towards the other goal.

Start a server, then one process per team:

    python3 team.py --team Reds
    python3 team.py --team Blues

It needs the Python standard library only, and is one file, so that you can copy it and start to change it at once. Read it from
the bottom up: `main` opens one connection per player, `Team` decides who goes for the ball, `Player` turns what it sees into
a walking direction or a kick, `Gait` and `Kick` turn that into foot motion, and `leg_angles` turns a foot pose into the angles
of six motors.

Lengths are in metres, times in seconds, angles in radians. Only the protocol uses degrees.
"""

import argparse
import math
import re
import selectors
import signal
import socket
import struct
import sys
from dataclasses import dataclass, field
from typing import Dict, Iterable, List, Optional, Tuple

CYCLE = 0.02  # the server sends one perception every 20 ms

# --- Mathematics -----------------------------------------------------------------------------------------------------

Point = Tuple[float, float]
Vector = Tuple[float, float, float]
Matrix = Tuple[Vector, Vector, Vector]


def clamp(value: float, low: float, high: float) -> float:
    """`value`, limited to `low` to `high`."""
    return max(low, min(high, value))


def wrap(angle: float) -> float:
    """The same angle between -pi and pi."""
    return math.atan2(math.sin(angle), math.cos(angle))


def blend(now: float, start: float, end: float) -> float:
    """From 0 at `start` to 1 at `end`, with a smooth start and end."""
    return (1 - math.cos(math.pi * clamp((now - start) / (end - start), 0.0, 1.0))) / 2


def turn(x: float, y: float, angle: float) -> Tuple[float, float]:
    """The point (x, y), turned to the left by `angle`."""
    c, s = math.cos(angle), math.sin(angle)
    return c * x - s * y, s * x + c * y


def rot_x(a: float) -> Matrix:
    """Rotation about the forward axis: positive leans to the right."""
    c, s = math.cos(a), math.sin(a)
    return (1, 0, 0), (0, c, -s), (0, s, c)


def rot_y(a: float) -> Matrix:
    """Rotation about the axis to the left: positive leans forward."""
    c, s = math.cos(a), math.sin(a)
    return (c, 0, s), (0, 1, 0), (-s, 0, c)


def rot_z(a: float) -> Matrix:
    """Rotation about the axis upwards: positive turns left."""
    c, s = math.cos(a), math.sin(a)
    return (c, -s, 0), (s, c, 0), (0, 0, 1)


def rot_quat(w: float, x: float, y: float, z: float) -> Matrix:
    """The rotation matrix of a unit quaternion."""
    return ((1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)),
            (2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)),
            (2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)))


def apply(m: Matrix, v: Vector) -> Vector:
    """The vector `v`, rotated by `m`."""
    return tuple(row[0] * v[0] + row[1] * v[1] + row[2] * v[2] for row in m)


def times(a: Matrix, b: Matrix) -> Matrix:
    """Rotate by `b`, then by `a`."""
    columns = tuple(zip(*b))
    return tuple(tuple(r[0] * c[0] + r[1] * c[1] + r[2] * c[2] for c in columns) for r in a)


# --- The legs of the T1 ----------------------------------------------------------------------------------------------

HIP_X, HIP_Y, HIP_Z = 0.0625, 0.106, -0.1155  # position of the hip in the torso's frame
THIGH_BACK, THIGH_DOWN, SHANK = 0.014, 0.2359, 0.28
ANKLE, SOLE = 0.012, 0.03  # from the ankle's pitch axis down to its roll axis, and from there to the ground
THIGH, THIGH_TILT = math.hypot(THIGH_BACK, THIGH_DOWN), math.atan2(THIGH_BACK, THIGH_DOWN)


def leg_angles(x: float, y: float, z: float, yaw: float, lean: float) -> List[float]:
    """The six joint angles that put a flat foot at (x, y, z) below the hip, its toes turned by `yaw`.

    The foot is given in a level frame; `lean` is how far the torso leans forward in it. We look from the foot: where
    is the hip? That settles ankle and knee. What is left over is the rotation of the hip.
    """
    foot = times(rot_y(-lean), rot_z(yaw))
    hip = apply(rot_z(-yaw), (-x, -y, -z - SOLE))
    ankle_roll = math.atan2(hip[1], hip[2])
    ahead, above = hip[0], math.hypot(hip[1], hip[2]) - ANKLE
    reach = clamp(math.hypot(ahead, above), 0.25, (THIGH + SHANK) * 0.999)
    bend = math.acos(clamp((THIGH ** 2 + SHANK ** 2 - reach ** 2) / (2 * THIGH * SHANK), -1, 1))
    knee = math.pi - bend + THIGH_TILT
    at_ankle = math.asin(clamp(math.sin(bend) * THIGH / reach, -1, 1))
    ankle_pitch = -(math.atan2(ahead, above) + at_ankle)
    rest = times(foot, times(rot_x(-ankle_roll), rot_y(-(knee + ankle_pitch))))
    # `rest` is pitch, then roll, then yaw of the hip, as its motors come
    hip_pitch = math.atan2(rest[0][2], rest[2][2])
    hip_roll = math.asin(clamp(-rest[1][2], -1, 1))
    hip_yaw = math.atan2(rest[1][0], rest[1][1])
    return [hip_pitch, hip_roll, hip_yaw, knee, ankle_pitch, ankle_roll]


@dataclass
class Body:
    """Tilt and velocity of the robot, in its own frame: x forward, y left."""

    roll: float = 0.0
    pitch: float = 0.0
    roll_rate: float = 0.0
    pitch_rate: float = 0.0
    vx: float = 0.0
    vy: float = 0.0


@dataclass
class Gait:
    """Steps in place, with walking and turning added to it.

    The body sways to one foot while the other one is lifted. The foot on the ground goes back as fast as the body
    is to go forward; the foot in the air goes to where it will be needed. If the body is faster than planned, the
    foot lands further out in that direction, as you do when somebody pushes you.
    """

    period: float = 0.51     # duration of two steps
    height: float = 0.483    # of the hip above the ground
    width: float = 0.114     # of each foot from the middle
    ahead: float = 0.022     # of the feet before the hip
    lift: float = 0.046      # of the foot in the air
    sway: float = 0.013      # of the body to each side
    late: float = 0.138      # delay of the sway after the steps, as a fraction of the period
    both: float = 0.059      # fraction of a step, at both ends, with both feet on the ground
    ramp: float = 0.6        # time from standing to full steps
    lean: float = 0.034      # of the torso, forward
    catch_x: float = 0.23    # how far out a foot lands per m/s of unplanned speed
    catch_y: float = 0.068
    pitch_hip: float = 0.178         # what a tilt forward adds to hip and ankle, by angle and by angular speed
    pitch_ankle: float = 0.363
    pitch_ankle_rate: float = 0.045
    roll_hip: float = -0.028         # the same for a tilt to the side
    roll_ankle_rate: float = 0.091

    phase: float = 0.0       # 0 to 0.5: the left foot is in the air; 0.5 to 1: the right one
    amount: float = 0.0      # 0 stands, 1 walks
    speed: List[float] = field(default_factory=lambda: [0.0, 0.0, 0.0])  # forward, to the left, turning left
    feet: List[Optional[Vector]] = field(default_factory=lambda: [None, None])  # x, y and direction of each

    def step(self, want: Optional[Vector], body: Body) -> List[float]:
        """The angles of the 12 leg joints for the next cycle; `want` is a speed, or None to stand."""
        for i, change in enumerate((0.4, 0.3, 1.5)):  # limits of acceleration, per second
            self.speed[i] += clamp((want[i] if want else 0.0) - self.speed[i], -change * CYCLE, change * CYCLE)
        tilt = body.pitch - self.lean
        pushed = abs(tilt) + abs(body.roll) > 0.15 or math.hypot(body.vx, body.vy) > 0.25
        still = want is None and max(map(abs, self.speed)) < 0.03 and not pushed
        self.amount = clamp(self.amount + (-CYCLE if still else CYCLE) / self.ramp, 0.0, 1.0)
        self.phase = (self.phase + CYCLE / self.period) % 1.0 if self.amount > 0 else 0.0

        wave = 2 * math.pi * (self.phase - self.late)
        shift = -self.amount * self.sway * math.sin(wave)
        shift_speed = -self.amount * self.sway * math.cos(wave) * 2 * math.pi / self.period
        catch = (clamp(self.catch_x * (body.vx - self.speed[0]), -0.1, 0.1),
                 clamp(self.catch_y * (body.vy - self.speed[1] - shift_speed), -0.1, 0.1))
        angles: List[float] = []
        for leg, side in enumerate((1, -1)):
            x, y, yaw, lift = self.move_foot(leg, side, catch)
            joints = leg_angles(x + self.ahead, y - shift - side * HIP_Y, lift - self.height, yaw, self.lean)
            joints[0] += self.pitch_hip * tilt
            joints[1] += self.roll_hip * body.roll
            joints[4] += self.pitch_ankle * tilt + self.pitch_ankle_rate * body.pitch_rate
            joints[5] += self.roll_ankle_rate * body.roll_rate
            angles += joints
        return angles

    def move_foot(self, leg: int, side: int, catch: Point) -> Tuple[float, float, float, float]:
        """The pose of a foot after one more cycle: x, y, direction, and height above the ground."""
        vx, vy, spin = self.speed
        x, y, yaw = self.feet[leg] or (0.0, side * self.width, 0.0)
        step_time = self.period / 2
        air_time = (1 - 2 * self.both) * step_time
        in_air = (((self.phase - 0.5 * leg) % 1.0) * self.period - self.both * step_time) / air_time
        lift = 0.0
        if 0 < in_air < 1:  # go to where the body will be in the middle of the next step
            lift = self.amount * self.lift * math.sin(math.pi * in_air)
            to_x, to_y = turn(0.0, side * self.width, spin * step_time / 2)
            to_x += vx * step_time / 2 + catch[0]
            to_y += vy * step_time / 2 + catch[1]
            share = min(1.0, 1.5 * CYCLE / ((1 - in_air) * air_time))
            x, y = x + (to_x - x) * share, y + (to_y - y) * share
            yaw += (spin * step_time / 2 - yaw) * share
        else:  # stay on the ground while the body moves on
            x, y = turn(x - vx * CYCLE, y - vy * CYCLE, -spin * CYCLE)
            yaw -= spin * CYCLE
        y = side * clamp(side * y, self.width - 0.03, self.width + 0.1)  # do not step on the other foot
        self.feet[leg] = (x, y, yaw)
        return x, y, yaw, lift


@dataclass
class Kick:
    """One kick from standing.

    The body goes over one foot. The other foot is lifted and taken back, swings through the ball, comes back and is
    put down, while the body returns to the middle. All this follows the clock; hips and ankles answer each tilt as
    they do in the gait. If the tilt gets large, the foot is put down at once.
    """

    leg: int                 # which foot kicks: 0 is the left one, 1 the right one
    feet: List[Vector]       # x, y and direction of each foot when the kick begins

    height: float = 0.483    # of the hip above the ground
    width: float = 0.114     # of each foot from the middle
    ahead: float = 0.022     # of the feet before the hip
    lean: float = 0.034      # of the torso, forward
    shift: float = 0.098     # of the body towards the stance foot
    forward: float = 0.024   # of the body at the same time
    over: float = 0.113      # added to the stance hip, which carries all the weight
    lift: float = 0.085      # of the foot that kicks
    back: float = 0.087      # how far it goes back before the swing
    reach: float = 0.185     # how far it goes forward in the swing
    shift_time: float = 0.583    # until the body is over the stance foot
    early: float = 0.25      # how long before that the other foot is lifted
    back_time: float = 0.212     # of lifting it and taking it back
    swing_time: float = 0.195    # of the swing
    down_time: float = 0.294     # of putting it down
    settle_time: float = 0.263   # of the rest of the way to the middle
    pitch_hip: float = 1.0   # what a tilt forward adds to hip and ankle, by angle and by angular speed
    pitch_ankle: float = 0.347
    pitch_ankle_rate: float = 0.067
    roll_hip: float = 0.139  # the same for a tilt to the side
    roll_ankle_rate: float = 0.195
    hold_x: float = 0.125    # how far the body is held back per m/s of unplanned speed
    hold_y: float = 0.1
    give_up: float = 0.263   # the tilt at which the foot is put down at once

    aim: float = 0.0         # where the ball is to go, as seen from the body: 0 is straight ahead
    time: float = 0.0
    down_at: float = 1e9     # when the foot began to go down
    places: List[Vector] = field(default_factory=list)  # of the feet now
    aside: float = 0.0       # of the body to the left now

    def step(self, body: Body) -> List[float]:
        """The angles of the 12 leg joints for the next cycle."""
        self.time += CYCLE
        lift_at = self.shift_time - self.early
        swing_at = lift_at + self.back_time
        tilt = body.pitch - self.lean
        if self.time >= swing_at + self.swing_time or abs(tilt) + abs(body.roll) > self.give_up:
            self.put_down()
        now, end = min(self.time, self.down_at), self.down_at + self.down_time  # what has begun goes on until down_at
        over = blend(now, 0.0, self.shift_time)
        up = blend(now, lift_at, swing_at)
        lift = self.lift * up * (1 - blend(self.time, self.down_at, end))
        swing = (self.back + self.reach) * blend(now, swing_at, swing_at + self.swing_time) - self.back * up
        swing *= 1 - blend(self.time, self.down_at, end - 0.2 * self.down_time)
        away = over * (1 - blend(self.time, self.down_at, end + self.settle_time))

        # the stance foot stays in place; the body moves next to it, and the other foot next to the body
        stand = 1 - self.leg
        side = 1 - 2 * stand  # 1 if we stand on the left foot, -1 if on the right one
        x, y, yaw = self.feet[stand]
        kick_x, kick_y, kick_yaw = self.feet[self.leg]
        middle = y - side * self.width
        swing_x, swing_y = turn(swing, 0.0, self.aim)
        kick_x += swing_x - over * kick_x
        kick_y += swing_y - over * middle + up * (middle - side * self.width - kick_y)
        kick_yaw += up * (self.aim - kick_yaw)
        self.places = [(kick_x, kick_y, kick_yaw), (x - over * x, y - over * middle, yaw)]
        if self.leg == 1:
            self.places.reverse()

        before, self.aside = self.aside, side * self.shift * away
        hold_x = over * clamp(self.hold_x * body.vx, -0.03, 0.03)
        hold_y = over * clamp(self.hold_y * (body.vy - (self.aside - before) / CYCLE), -0.03, 0.03)
        angles: List[float] = []
        for leg, (x, y, yaw) in enumerate(self.places):
            z = (lift if leg == self.leg else 0.0) - self.height
            joints = leg_angles(x + self.ahead - self.forward * away + hold_x,
                                y - self.aside - (1 - 2 * leg) * HIP_Y + hold_y, z, yaw, self.lean)
            joints[0] += self.pitch_hip * tilt
            joints[1] += self.roll_hip * body.roll + (side * self.over * away if leg == stand else 0.0)
            joints[4] += self.pitch_ankle * tilt + self.pitch_ankle_rate * body.pitch_rate
            joints[5] += self.roll_ankle_rate * body.roll_rate
            angles += joints
        return angles

    def put_down(self) -> None:
        """Put the foot down, unless it is on its way already."""
        self.down_at = min(self.down_at, self.time)

    def done(self) -> bool:
        """Are we back on both feet?"""
        return self.time >= self.down_at + self.down_time + self.settle_time


# --- One player ------------------------------------------------------------------------------------------------------

ARMS = {"lae1": 0.0, "lae2": -1.3, "lae3": 0.0, "lae4": 0.0, "rae1": 0.0, "rae2": 1.3, "rae3": 0.0, "rae4": 0.0}
LEGS = [f"{side}le{joint}" for side in "lr" for joint in range(1, 7)]
GAINS = {"he": (20, 0.5), "ae": (60, 1), "te": (200, 3)}  # stiffness (N m/rad) and damping (N m s/rad)
LEG_GAINS = [(396, 6.4)] * 4 + [(238, 1)] * 2  # hip pitch, hip roll, hip yaw, knee; ankle pitch, ankle roll

FORWARD, SIDEWAYS, TURNING = 0.45, 0.15, 0.7  # maximum walking speeds
FOOT_X = HIP_X + 0.022  # of the feet when we stand, as seen from the torso
BALL_AHEAD, BALL_OUT = 0.285, 0.012  # where the ball has to be for a kick, relative to the kicking foot
LINE_UP_TIME = 8.0  # time limit for lining up; after that we push the ball


def parse(text: str) -> list:
    """A message as nested lists of words: "(a (b 1))" becomes [["a", ["b", "1"]]]."""
    lists: List[list] = [[]]
    for token in re.findall(r"[()]|[^\s()]+", text):
        if token == "(":
            lists.append([])
        elif token == ")":
            done = lists.pop()
            lists[-1].append(done)
        else:
            lists[-1].append(token)
    return lists[0]


class Player:
    """One robot: it knows where it is, looks around, decides where to go, and moves its motors.

    Both teams think that they play towards +x: the right team turns all that it senses by half a turn.
    """

    def __init__(self, team: "Team", number: int) -> None:
        self.team = team
        self.number = number
        self.time = 0.0
        self.x = self.y = self.heading = 0.0
        self.seen: Dict[str, Vector] = {}  # opponents by number: where and when we saw each last
        self.opponents: List[Point] = []  # those seen in the last 1.5 s
        self.body = Body()
        self.joints: Dict[str, float] = {}  # angles, by the name of the motor
        self.fallen = False
        self.placed()

    def placed(self) -> None:
        """We were moved to another place: forget how we moved."""
        self.gait = Gait()
        self.kick: Optional[Kick] = None
        self.leg = 0  # the foot for the next kick: 0 is the left one, 1 the right one
        self.aim = 0.0  # its direction
        self.in_place = False  # is the ball where it has to be for it?
        self.line_up_ball: Point = (math.inf, math.inf)  # where the ball was when we began to line up, and when it was
        self.line_up_from = 0.0
        self.placed_at = self.beamed_at = self.time
        self.body.vx = self.body.vy = 0.0

    # Input

    def sense(self, message: str) -> None:
        """Process one perception."""
        seen: list = []
        for name, *parts in parse(message):
            if name == "time":
                self.time = float(parts[0][1])
            elif name == "GS":
                self.team.game_state(dict(parts))
            elif name == "quat":
                rotation = rot_quat(*map(float, parts[1][1:]))
            elif name == "pos":
                x, y, z = map(float, parts[1][1:])
            elif name == "GYR":
                self.body.roll_rate, self.body.pitch_rate = (math.radians(float(rate)) for rate in parts[1][1:3])
            elif name == "HJ":  # the joint q_llj1 is moved by the motor lle1
                motor = parts[0][1].replace("q_", "").replace("j", "e")
                self.joints[motor] = math.radians(float(parts[1][1]))
            elif name == "See":
                seen = parts
        if self.team.right:
            x, y, rotation = -x, -y, times(rot_z(math.pi), rotation)
        self.feel(x, y, z, rotation)
        if seen:
            self.look(seen, rotation)

    def feel(self, x: float, y: float, z: float, rotation: Matrix) -> None:
        """Where am I, how far do I tilt, how fast do I move?"""
        dx, dy = x - self.x, y - self.y
        self.x, self.y, self.heading = x, y, math.atan2(rotation[1][0], rotation[0][0])
        body = self.body
        body.roll = math.atan2(rotation[2][1], rotation[2][2])
        body.pitch = -math.asin(clamp(rotation[2][0], -1, 1))
        vx, vy = turn(dx / CYCLE, dy / CYCLE, -self.heading)
        body.vx += 0.4 * (vx - body.vx)  # smoothed: positions are rounded to millimetres
        body.vy += 0.4 * (vy - body.vy)
        was_fallen, self.fallen = self.fallen, z < 0.4 or rotation[2][2] < 0.5
        if math.hypot(dx, dy) > 0.2 or (was_fallen and not self.fallen):
            self.placed()

    def look(self, seen: list, rotation: Matrix) -> None:
        """Turn directions from the camera into positions on the field."""
        head = times(rot_z(self.joints["he1"]), rot_y(self.joints["he2"]))
        eye = apply(head, (0.05, 0.0, 0.12))
        eye = apply(rotation, (eye[0] + 0.0625, eye[1], eye[2] + 0.3049))
        view = times(rotation, head)

        def place(pol: list) -> Point:
            distance, azimuth, elevation = float(pol[1]), math.radians(float(pol[2])), math.radians(float(pol[3]))
            flat = distance * math.cos(elevation)
            ray = apply(view, (flat * math.cos(azimuth), flat * math.sin(azimuth), distance * math.sin(elevation)))
            return self.x + eye[0] + ray[0], self.y + eye[1] + ray[1]

        for name, *parts in seen:
            if name == "P" and parts[0][1] != self.team.name and len(parts) > 2:
                self.seen[parts[1][1]] = (*place(parts[2][1]), self.time)
        self.opponents = [(x, y) for x, y, when in self.seen.values() if self.time - when < 1.5]
        posts = [place(parts[0]) for name, *parts in seen if name in self.team.posts]
        if len(posts) == 2:
            self.team.goal = ((posts[0][0] + posts[1][0]) / 2 + 0.8, (posts[0][1] + posts[1][1]) / 2)
        for name, *parts in seen:
            if name == "B":
                self.team.saw_ball(place(parts[0]), self)

    # Output

    def act(self) -> str:
        """The answer to the last perception."""
        message, want = "", None
        if self.team.mode in BEAM_MODES:
            message = self.beam()
        elif self.kick:
            self.guide_kick()
        elif self.team.chaser() is self:
            want = self.chase()
        else:
            want = self.hold()
        return message + self.move(want) + "(syn)"

    def beam(self) -> str:
        """Beam to our position, unless we are there."""
        x, y = self.team.spot(self)
        right_here = math.hypot(x - self.x, y - self.y) < 0.8 and abs(self.heading) < 0.5 and not self.fallen
        if right_here or self.time - self.beamed_at < 0.5:
            return ""
        self.beamed_at = self.time
        return f"(beam {x:.2f} {-y if self.team.right else y:.2f} 0)"

    def chase(self) -> Optional[Vector]:
        """Go behind the ball, as seen from the other goal, and kick it; walk through it if a kick will not do."""
        (ball_x, ball_y), (goal_x, goal_y) = self.team.ball, self.team.goal
        aim = math.atan2(goal_y - ball_y, goal_x - ball_x)
        along, across = turn(self.x - ball_x, self.y - ball_y, -aim)  # us, as seen from the ball looking at the goal
        if along < -0.2 and self.may_kick():
            self.aim = aim
            return self.line_up(across)
        if along < -0.1 and abs(across) < 0.12 + 0.2 * max(0.0, -along - 0.3):
            to_x, to_y = turn(0.4, 0.0, aim)  # we are behind it: go
        elif along < -0.35:
            to_x, to_y = turn(-0.35, 0.0, aim)
        else:
            to_x, to_y = turn(-0.5, math.copysign(0.6, across), aim)  # around it, on the side where we are
        return self.walk_to(ball_x + to_x, ball_y + to_y, aim)

    def may_kick(self) -> bool:
        """Is the ball near, no opponent near, and is there time left to line up?"""
        ball_x, ball_y = self.team.ball
        near = self.team.way(self) < 0.7
        if not near or math.hypot(ball_x - self.line_up_ball[0], ball_y - self.line_up_ball[1]) > 0.5:
            self.line_up_ball, self.line_up_from, self.in_place = self.team.ball, self.time, False
        return near and self.room() > 0.8 and self.time - self.line_up_from < LINE_UP_TIME

    def room(self) -> float:
        """Distance from the point in front of our feet to the nearest opponent."""
        x, y = turn(FOOT_X + 0.1, 0.0, self.heading)
        return min((math.hypot(other_x - self.x - x, other_y - self.y - y) for other_x, other_y in self.opponents),
                   default=math.inf)

    def line_up(self, across: float) -> Optional[Vector]:
        """Get the ball in front of one foot, facing the goal, stop, and start to kick."""
        if abs(across) > 0.05:
            self.leg = 0 if across < 0 else 1  # the one that is nearer
        ball_x, ball_y = self.team.ball
        off = wrap(self.aim - self.heading)
        x, y = turn(ball_x - self.x, ball_y - self.y, -self.heading)
        out = self.gait.width + BALL_OUT
        ahead, left = turn(x - FOOT_X, y - (out if self.leg == 0 else -out), -off)  # the ball, as seen from the foot
        ahead -= BALL_AHEAD
        slack = 1.4 if self.in_place else 1.0  # once we have stopped, be less strict
        self.in_place = abs(ahead) < 0.04 * slack and abs(left) < 0.032 * slack and abs(off) < 0.12 * slack
        if not self.in_place:
            vx, vy = turn(1.2 * ahead, 1.2 * left, off)
            return clamp(vx, -0.15, 0.25), clamp(vy, -0.12, 0.12), clamp(1.5 * off, -0.5, 0.5)
        if self.gait.amount == 0 and math.hypot(self.body.vx, self.body.vy) < 0.08:
            left_foot, right_foot = self.gait.feet
            width = self.gait.width
            self.kick = Kick(self.leg, [left_foot or (0.0, width, 0.0), right_foot or (0.0, -width, 0.0)])
        return None

    def guide_kick(self) -> None:
        """Turn the foot to the goal. If an opponent comes near, return to both feet."""
        self.kick.aim = clamp(wrap(self.aim - self.heading), -0.3, 0.3)
        if self.room() < 0.5:
            self.kick.put_down()

    def hold(self) -> Optional[Vector]:
        """Stand at our position and face the ball."""
        x, y = self.team.spot(self)
        ball_x, ball_y = self.team.ball
        walking = self.gait.amount > 0.5  # once we walk, we go all the way
        if math.hypot(x - self.x, y - self.y) > (0.4 if walking else 1.5):
            return self.walk_to(x, y, 0.0)
        off = wrap(math.atan2(ball_y - self.y, ball_x - self.x) - self.heading)
        if abs(off) > (0.2 if walking else 0.7):
            return 0.0, 0.0, clamp(off, -TURNING, TURNING)
        return None

    def walk_to(self, x: float, y: float, facing: float) -> Vector:
        """The speeds that lead to (x, y), around nearby players; face `facing` on arrival."""
        dx, dy = x - self.x, y - self.y
        distance = math.hypot(dx, dy) + 1e-6
        if distance > 1.2:
            facing = math.atan2(dy, dx)
        off = wrap(facing - self.heading)
        speed = min(distance, FORWARD) * (0.2 if abs(off) > 0.7 else 1.0)  # turn first
        vx, vy = dx / distance * speed, dy / distance * speed
        for other_x, other_y, keep in self.neighbours():
            gap = math.hypot(self.x - other_x, self.y - other_y) + 1e-6
            push = clamp(keep - gap, 0.0, 0.5)
            vx += push * (self.x - other_x) / gap
            vy += push * (self.y - other_y) / gap
        vx, vy = turn(vx, vy, -self.heading)
        return (clamp(vx, -FORWARD / 2, FORWARD), clamp(vy, -SIDEWAYS, SIDEWAYS), clamp(1.5 * off, -TURNING, TURNING))

    def neighbours(self) -> List[Vector]:
        """Where the others are, and how far to keep from each: the one that is first at the ball has right of way."""
        ball_x, ball_y = self.team.ball
        result = []
        for x, y in self.opponents:
            first = self.team.way(self) < math.hypot(ball_x - x, ball_y - y)
            result.append((x, y, 0.5 if first else 1.0))
        for mate in self.team.players:
            if mate is not self:
                result.append((mate.x, mate.y, 0.8 if self is self.team.last_chaser else 1.3))
        return result

    def move(self, want: Optional[Vector]) -> str:
        """The commands for all motors: kick, walk as requested, or stand, with the eyes on the ball."""
        ball_x, ball_y = self.team.ball
        distance = math.hypot(ball_x - self.x, ball_y - self.y)
        target = dict(ARMS, te1=0.0)
        target["he1"] = wrap(math.atan2(ball_y - self.y, ball_x - self.x) - self.heading)
        target["he2"] = clamp(math.atan2(0.9, distance) - self.gait.lean, 0.0, 0.8)
        if distance > 1.5:  # time to look for players next to us
            target["he1"] += 0.7 * math.sin(5 * self.time)
        if self.time - self.team.ball_seen > 1.0:  # lost sight of the ball: look around
            target["he1"], target["he2"] = 1.3 * math.sin(2 * self.time), 0.3
        target["he1"] = clamp(target["he1"], -1.3, 1.3)
        if self.time - self.placed_at < 0.5:  # first stop moving
            self.gait.amount = 0.0
        target.update(zip(LEGS, self.kick.step(self.body) if self.kick else self.gait.step(want, self.body)))
        if self.kick and self.kick.done():  # step on, to absorb the remaining speed of the kick
            self.gait.feet, self.gait.amount = list(self.kick.places), 1.0
            self.gait.phase, self.gait.speed = 0.5 - 0.5 * self.kick.leg, [0.0, 0.0, 0.0]
            self.kick = None
        commands = []
        for motor, angle in target.items():
            if motor not in self.joints:
                continue
            kp, kd = LEG_GAINS[int(motor[3]) - 1] if motor in LEGS else GAINS[motor[-3:-1]]
            angle = 0.0 if self.fallen else math.degrees(angle)  # lie straight until the referee picks us up
            commands.append(f"({motor} {angle:.2f} 0 {kp} {kd} 0)")
        return "".join(commands)


# --- The team --------------------------------------------------------------------------------------------------------

BEAM_MODES = ("BeforeKickOff", "Goal_Left", "Goal_Right")  # players may beam in these
KICK_OFF_SPOTS = {1: (-0.36, 0.12), 2: (-2.0, -2.0)}  # by player number: one kicks, the other one continues
SPOTS = [(-10.0, 0.0), (-11.0, 5.0), (-11.0, -5.0), (-17.0, 2.5), (-17.0, -2.5), (-14.0, 9.0), (-14.0, -9.0),
         (-17.0, 14.0), (-17.0, -14.0), (-20.0, 8.0), (-20.0, -8.0)]


class Team:
    """What the players know together, and who does what."""

    def __init__(self, name: str, numbers: Iterable[int]) -> None:
        self.name = name
        self.right = False
        self.mode = ""
        self.ball: Point = (0.0, 0.0)
        self.ball_seen = 0.0
        self.goal: Point = (50.0, 0.0)  # a point inside the goal we shoot at; a guess until a player has seen it
        self.posts = ("g_rup", "g_rlp")
        self.last_chaser: Optional[Player] = None
        self.taker: Optional[Player] = None  # took our kick-off or free kick: another player must touch the ball next
        self.players = [Player(self, number) for number in numbers]

    def game_state(self, state: Dict[str, str]) -> None:
        """Note which side we play on, and the referee's play mode."""
        self.right = state.get("tr") == self.name
        self.posts = ("g_lup", "g_llp") if self.right else ("g_rup", "g_rlp")
        if state["pm"] != self.mode:
            taker = self.last_chaser if self.is_ours(self.mode) and state["pm"] == "PlayOn" else None
            self.taker = taker if taker and self.way(taker) < 0.8 and len(self.players) > 1 else None
            self.mode = state["pm"]

    def is_ours(self, mode: str) -> bool:
        """Is this a kick-off, kick-in, ... for us?"""
        return mode.lower().endswith("_right" if self.right else "_left")

    def way(self, player: Player) -> float:
        """How far is it to the ball?"""
        return math.hypot(player.x - self.ball[0], player.y - self.ball[1])

    def saw_ball(self, place: Point, player: Player) -> None:
        """One player sees the ball: all know where it is."""
        self.ball, self.ball_seen = place, player.time
        others = player.opponents + [(p.x, p.y) for p in self.players if p is not self.taker]
        if any(math.hypot(x - place[0], y - place[1]) < 0.3 for x, y in others):
            self.taker = None

    def spot(self, player: Player) -> Point:
        """The position of this player when it does not go for the ball."""
        kick_off_is_ours = self.mode == ("Goal_Left" if self.right else "Goal_Right") or (
            self.mode == "BeforeKickOff" and not self.right)
        if kick_off_is_ours and player.number in KICK_OFF_SPOTS:
            return KICK_OFF_SPOTS[player.number]
        x, y = SPOTS[(player.number - 1) % len(SPOTS)]
        if self.mode == "PlayOn":  # up and down the field with the ball
            x = clamp(x + 0.6 * self.ball[0], -21.0, 21.0)
        return x, y

    def chaser(self) -> Optional[Player]:
        """The player that goes for the ball: the nearest one. None while the ball belongs to the opponents."""
        able = [p for p in self.players if not p.fallen and p is not self.taker]
        if not (self.mode == "PlayOn" or self.is_ours(self.mode)) or not able:
            self.last_chaser = None
        else:  # hysteresis: a small difference does not change the choice
            self.last_chaser = min(able, key=lambda p: self.way(p) - (0.7 if p is self.last_chaser else 0.0))
        return self.last_chaser


# --- Connections -----------------------------------------------------------------------------------------------------


def send(connection: socket.socket, message: str) -> None:
    """One message: its length in four bytes, then its text."""
    data = message.encode()
    connection.sendall(struct.pack(">I", len(data)) + data)


def play(team: Team, host: str, port: int, model: str) -> None:
    """Answer each perception of each player until the server closes."""
    selector = selectors.DefaultSelector()
    for player in team.players:
        connection = socket.create_connection((host, port))
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        send(connection, f"(init {model} {team.name} {player.number})")
        selector.register(connection, selectors.EVENT_READ, (player, bytearray()))
    while selector.get_map():
        for key, _ in selector.select():
            player, received = key.data
            try:
                data = key.fileobj.recv(65536)
                received += data
                while len(received) >= 4:
                    size = struct.unpack(">I", received[:4])[0]
                    if len(received) < 4 + size:
                        break
                    message = received[4:4 + size].decode()
                    del received[:4 + size]
                    player.sense(message)
                    send(key.fileobj, player.act())
            except ConnectionError:
                data = b""
            if not data:
                print(f"{team.name} {player.number}: the server has closed the connection", file=sys.stderr)
                selector.unregister(key.fileobj)
                key.fileobj.close()
                team.players.remove(player)


def main() -> int:
    """Read the command line and play."""
    parser = argparse.ArgumentParser(description="A small soccer team for RoboCup's MuJoCo league.")
    parser.add_argument("--host", default="127.0.0.1", help="address of the server")
    parser.add_argument("--port", type=int, default=60000, help="the server's port for agents")
    parser.add_argument("--team", default="Example", help="name of the team")
    parser.add_argument("--players", type=int, default=3, help="number of players")
    parser.add_argument("--first", type=int, default=1, help="number of the first player")
    parser.add_argument("--model", default="T1", help="robot model; the gait is tuned for the T1")
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    team = Team(options.team, range(options.first, options.first + options.players))
    try:
        play(team, options.host, options.port, options.model)
    except KeyboardInterrupt:
        pass
    except OSError as error:
        print(f"cannot play: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
