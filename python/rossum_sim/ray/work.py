"""What workers do: they evaluate groups of individuals, or roll out a policy."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from ray import cloudpickle

from ..evolution import Genotype, Outcome, Site

if TYPE_CHECKING:
    from gymnasium import Env

    from ..envs.rollout import Episode, Policy


class Evaluation:
    """Evaluates groups of individuals at a site."""

    def __init__(self, site: Site) -> None:
        self._site = site

    def __call__(self, task: tuple[list[int], list[Genotype], int]) -> list[Outcome]:
        return self._site.evaluate_group(*task)


class Rollouts:
    """Rolls a policy out in an environment."""

    def __init__(
        self, env: str | Callable[[], Any], options: dict[str, Any], policy: Policy, max_steps: int | None
    ) -> None:
        self._env = cloudpickle.dumps((env, options))
        self._policy = policy
        self._max_steps = max_steps

    def __call__(self, seed: int) -> Episode:
        from ..envs import rollout

        return rollout(made(self._env), self._policy, seed=seed, max_steps=self._max_steps)


@lru_cache(maxsize=1)
def made(text: bytes) -> Env[Any, Any]:
    """The environment of this process. Another policy does not need another one."""
    import gymnasium

    from .. import envs  # noqa: F401  registers the environments

    env, options = cloudpickle.loads(text)
    return gymnasium.make(env, **options) if isinstance(env, str) else env(**options)
