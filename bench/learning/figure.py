"""A measured figure."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass
class Figure:
    """One measured figure, and its goal."""

    what: str
    value: float
    goal: str
    met: bool
    detail: str
