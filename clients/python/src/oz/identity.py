"""What a robot says about itself."""

from __future__ import annotations

from .codec import Welcome


class Identity:
    """The names and the version in the robot's last answer to the version request; empty and 0 before the first."""

    def _last_welcome(self) -> Welcome:
        """That answer."""
        raise NotImplementedError

    @property
    def name(self) -> str:
        """The robot's short name."""
        return self._last_welcome().name

    @property
    def long_name(self) -> str:
        """The robot's long name."""
        return self._last_welcome().long_name

    @property
    def version(self) -> int:
        """The robot's version of the protocol: 0x01000000."""
        return self._last_welcome().version
