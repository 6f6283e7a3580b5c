"""Ray actors that carry out tasks, as the workers of a ``Scheduler``."""

from __future__ import annotations

import os
import pickle
import socket
from collections.abc import Callable, Sequence
from typing import Any

import ray
from ray import cloudpickle
from ray.exceptions import (
    NodeDiedError,
    ObjectLostError,
    OutOfMemoryError,
    RayActorError,
    RayTaskError,
    WorkerCrashedError,
)

from .. import __version__
from .scheduler import PoolError, WorkerLost

# what a worker's end, or that of its machine, is reported as
LOST = (RayActorError, WorkerCrashedError, NodeDiedError, ObjectLostError, OutOfMemoryError)
# longest cause of a failure that is reported, in characters
MAX_CAUSE = 500

Work = Callable[[Any], Any]
"""Carries out a task. It travels to the workers once, and its tasks follow."""


# a lost actor is replaced by the scheduler, which knows what it was doing
@ray.remote(num_cpus=1, max_restarts=0, max_task_retries=0)
class RossumWorker:
    """Carries out tasks, one after the other."""

    def __init__(self, version: str) -> None:
        if version != __version__:
            raise PoolError(
                f"rossum-sim is version {__version__} on {socket.gethostname()} and {version} in this program; "
                f"install the same version on all machines"
            )
        self._number = 0
        self._work: Work | None = None

    def ready(self) -> list[tuple[str, int]]:
        """Its host and process, once it has been created."""
        return [(socket.gethostname(), os.getpid())]

    def carry_out(self, number: int, work: list[ray.ObjectRef[bytes]], tasks: Sequence[Any]) -> bytes:
        """Carries out tasks. ``work`` has a new number whenever it changes."""
        if number != self._number:
            self._number, self._work = 0, None
            self._work = cloudpickle.loads(ray.get(work[0]))
            self._number = number
        assert self._work is not None
        # as bytes: arrays would stay in Ray's store for as long as the program keeps them
        return pickle.dumps([self._work(task) for task in tasks])


class Actors:
    """Starts actors and passes tasks to them: the ``Workers`` of a scheduler."""

    def __init__(self) -> None:
        self._number = 0
        self._text = b""
        self._stored: list[ray.ObjectRef[bytes]] = []
        self.processes: dict[ray.actor.ActorHandle, tuple[str, int]] = {}
        """Host and process of each actor that has been ready."""
        self._starting: dict[ray.ObjectRef[Any], ray.actor.ActorHandle] = {}

    def use(self, work: Work) -> None:
        """What is to be done with the tasks that follow."""
        text = cloudpickle.dumps(work)
        if text != self._text:
            # in a list, a reference is not resolved with each call
            self._number, self._text, self._stored = self._number + 1, text, [ray.put(text)]

    def start(self) -> tuple[ray.actor.ActorHandle, ray.ObjectRef[Any]]:
        """A new actor, and what is finished when it is ready."""
        actor = RossumWorker.remote(__version__)
        ready = actor.ready.remote()
        self._starting[ready] = actor
        return actor, ready

    def submit(self, worker: ray.actor.ActorHandle, tasks: Sequence[Any]) -> ray.ObjectRef[bytes]:
        """Gives tasks to an actor."""
        return worker.carry_out.remote(self._number, self._stored, list(tasks))

    def wait(self, tickets: Sequence[ray.ObjectRef[Any]], timeout: float | None) -> Sequence[ray.ObjectRef[Any]]:
        """One of the tickets that are finished, if there is any in time."""
        return ray.wait(list(tickets), num_returns=1, timeout=timeout)[0]

    def result(self, ticket: ray.ObjectRef[Any]) -> list[Any]:
        """The result of a finished ticket."""
        actor = self._starting.pop(ticket, None)
        try:
            result = ray.get(ticket)
        except LOST as error:
            if isinstance(error, RayActorError) and error.actor_init_failed:
                raise PoolError(f"a worker cannot start: {cause(error)}") from error
            raise WorkerLost(cause(error)) from error
        except RayTaskError as error:
            # the error as the task raised it
            raise (error.cause if isinstance(error.cause, Exception) else error) from None
        if actor is not None:
            self.processes[actor] = result[0]
            return result
        return pickle.loads(result)

    def stop(self, worker: ray.actor.ActorHandle) -> None:
        """Ends an actor."""
        self.processes.pop(worker, None)
        ray.kill(worker, no_restart=True)

    def resources(self) -> str:
        """What actors can be started on, in words."""
        total, free = ray.cluster_resources().get("CPU", 0), ray.available_resources().get("CPU", 0)
        return f"the cluster has {total:.0f} CPUs, {free:.0f} of them free, and a worker needs one"


def cause(error: Exception) -> str:
    """The last lines of an error of Ray, which say most."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return " ".join(lines[-2:])[-MAX_CAUSE:] or type(error).__name__
