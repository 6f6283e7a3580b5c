"""Events that wait to be read."""

from __future__ import annotations

from collections import deque
from typing import Deque, Optional

from .events import Event, VideoFrame

_MAX_EVENTS = 4096
_MAX_IMAGES = 8


class Inbox:
    """A bounded queue: a program that does not read loses the oldest events, and of images all but the newest few."""

    def __init__(self) -> None:
        self._events: Deque[Event] = deque(maxlen=_MAX_EVENTS)
        self._images = 0

    def __bool__(self) -> bool:
        return bool(self._events)

    def put(self, event: Event) -> None:
        """Appends an event."""
        if isinstance(event, VideoFrame):
            if self._images == _MAX_IMAGES:
                del self._events[next(i for i, kept in enumerate(self._events) if isinstance(kept, VideoFrame))]
                self._images -= 1
            self._images += 1
        if len(self._events) == _MAX_EVENTS:
            self.take()
        self._events.append(event)

    def take(self) -> Optional[Event]:
        """Removes the oldest event; ``None`` if there is none."""
        if not self._events:
            return None
        event = self._events.popleft()
        self._images -= isinstance(event, VideoFrame)
        return event
