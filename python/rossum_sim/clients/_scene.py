"""The game as monitors see it: a tree of transforms, sent as a whole or as the differences since the last update."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..soccer import _FOULS, Foul
from ._lists import integer, number, parse, word

__all__ = ["Pose", "Scene", "Update"]

_MAX_DEPTH = 64
_NO_TEAMS = ("<LEFT>", "<RIGHT>")


class Pose(NamedTuple):
    """Where a body is, in the frame of the world."""

    position: NDArray[np.float64]
    """In m."""
    rotation: NDArray[np.float64]
    """A matrix of 3 x 3; its columns are the body's axes."""


class Update(NamedTuple):
    """The game as monitors see it."""

    time: float
    """Simulated time, in s."""
    play_time: float
    """In s."""
    play_mode: str
    team_left: str | None
    team_right: str | None
    score_left: int
    score_right: int
    half: int
    """1 or 2."""
    fouls: tuple[Foul, ...]
    """Those since the last update."""
    ball: Pose | None
    """``None`` if the field has no ball."""
    players: dict[tuple[str, int], Pose]
    """The torso of each player, by team and number."""


class _Node:
    """A node of the tree: a transform, a label, or what is drawn, which is left out."""

    __slots__ = ("children", "label", "matrix")

    def __init__(self) -> None:
        self.matrix: NDArray[np.float64] | None = None
        self.label: tuple[str, ...] = ()
        self.children: list[_Node] = []

    def apply(self, item: list[Any], *, is_full: bool) -> None:
        """Takes over a node of a message, and its children."""
        head, *parts = item
        if head != "nd":
            raise ValueError("the scene has something other than nodes")
        kind = parts[0] if parts and isinstance(parts[0], str) else ""
        lists = [part for part in parts if isinstance(part, list)]
        children = [part for part in lists if part[0] == "nd"]
        for name, *values in lists:
            if kind == "TRF" and name == "SLT":
                self.matrix = np.array([number(value) for value in values]).reshape(4, 4).T
            elif kind == "DSC" and name != "nd":
                self.label = (word(name), *map(word, values))
        if is_full:
            self.children = [_Node() for _ in children]
        for own, child in zip(self.children, children, strict=True):
            own.apply(child, is_full=is_full)

    def labelled(self, above: tuple[_Node, ...] = ()) -> Iterator[tuple[tuple[str, ...], tuple[_Node, ...]]]:
        """The labels in this tree, with the nodes from the root to the body that each belongs to."""
        path = (*above, self)
        if self.label and self.children:
            yield self.label, (*path, self.children[0])
        for child in self.children:
            yield from child.labelled(path)


class Scene:
    """What a monitor knows."""

    latest: Update
    """The last update, once there has been one."""

    def __init__(self) -> None:
        self.updates = 0
        """Number of updates."""
        self.complete_updates = 0
        """Number of those that did not depend on the ones before."""
        self._root: _Node | None = None
        self._labelled: list[tuple[tuple[str, ...], tuple[_Node, ...]]] = []
        self._teams: list[str | None] = [None, None]
        self._modes: list[str] = []

    def apply(self, text: str) -> None:
        """Takes over the text of an update. Nonsense raises whatever results from taking it apart."""
        [[protocol, *sections]] = parse(text, _MAX_DEPTH)
        if protocol[0] != "RSMP":
            raise ValueError("no message to monitors")
        found = {name: rest for (name, *_), *rest in sections}
        [time] = found["gt"]
        kind, root = found["sg"]
        state = {name: value for name, *value in found["gs"] if name != "foul"}
        if kind == "full":
            names = [word(state[f"team_{side}"][0]) for side in ("left", "right")]
            self._teams = [None if name == missing else name for name, missing in zip(names, _NO_TEAMS, strict=True)]
            modes = {name: values for name, *values in found["ge"]}["play_modes"]
            self._modes = [word(mode) for mode in modes]
            self._root = _Node()
            self._root.apply(root, is_full=True)
            self._labelled = list(self._root.labelled())
        elif kind == "diff" and self._root is not None:
            self._root.apply(root, is_full=False)
        else:
            raise ValueError("a difference without a scene before it")
        ball, players = self._poses()
        self.latest = Update(
            time=number(time),
            play_time=number(state["time"][0]),
            play_mode=_one_of(self._modes, state["play_mode"][0]),
            team_left=self._teams[0],
            team_right=self._teams[1],
            score_left=integer(state["score_left"][0]),
            score_right=integer(state["score_right"][0]),
            half=integer(state["half"][0]),
            fouls=tuple(_foul(*foul) for name, *foul in found["gs"] if name == "foul"),
            ball=ball,
            players=players,
        )
        self.updates += 1
        self.complete_updates += kind == "full"

    def _poses(self) -> tuple[Pose | None, dict[tuple[str, int], Pose]]:
        ball, players = None, {}
        for label, path in self._labelled:
            matrix = np.eye(4)
            for node in path:
                matrix = matrix if node.matrix is None else matrix @ node.matrix
            pose = Pose(matrix[:3, 3], matrix[:3, :3])
            match label:
                case ("ball",):
                    ball = pose
                case ("agent", team, player):
                    players[team, integer(player)] = pose
        return ball, players


def _foul(kind: str, side: str, player: str) -> Foul:
    return Foul(_one_of(_FOULS, kind), _one_of(("", "left", "right"), side), integer(player))


def _one_of(names: tuple[str, ...] | list[str], index: str) -> str:
    place = integer(index)
    if not 0 <= place < len(names):
        raise ValueError(f"{place} is out of range 0 to {len(names) - 1}")
    return names[place]
