"""Evaluation and rollouts on Ray, on this machine, with workers that are killed."""

import io
import json
import os
import signal
import subprocess
import sys
import threading
import uuid
from pathlib import Path

import numpy as np
import pytest

ray = pytest.importorskip("ray")

from rossum_sim import RossumError
from rossum_sim.envs import TaskEnv, rollout
from rossum_sim.evolution import Genotype, Run, Site
from rossum_sim.ray import Pool, PoolError
from rossum_sim.ray import __main__ as companion
from rossum_sim.ray import actors
from rossum_sim.ray.pool import connect

ROSSUM = os.environ.get("ROSSUM", "rossum")
DEADLINE = 120  # s
# what Ray leaves open is not ours to close
pytestmark = pytest.mark.filterwarnings("default")
# otherwise Ray would write a token into the user's folder
os.environ.setdefault("RAY_AUTH_TOKEN", uuid.uuid4().hex)


@pytest.fixture(scope="module")
def pool():
    """Two workers, on a Ray that has processors for more."""
    connect("local", 4)
    with Pool(workers=2) as pool:
        yield pool
    ray.shutdown()


class Killer:
    """Kills a worker whenever a pool has finished as much as one of the marks says."""

    def __init__(self, pool, marks, kill=lambda pid: os.kill(pid, signal.SIGKILL)):
        self.pool, self.marks, self.kill = pool, list(marks), kill
        self.seen, self.killed = [], set()

    def __enter__(self):
        self.before = self.pool.lost
        self.pool.progress = self
        return self

    def __call__(self, progress):
        self.seen.append(progress)
        alive = [pid for _, pid in self.pool.processes if pid not in self.killed]
        if self.marks and progress.finished >= self.marks[0] and alive:
            self.marks.pop(0)
            self.killed.add(alive[0])
            self.kill(alive[0])

    def __exit__(self, *exception):
        self.pool.progress = None

    @property
    def lost(self):
        return self.pool.lost - self.before


def individuals_of(site, count):
    return site.search("ga", population=max(count, 4), seed=2).ask()[:count]


@pytest.mark.parametrize(("world", "options"), [("blocks", {}), ("coevolution", {"concurrent": 3})])
def test_a_population_is_evaluated_as_in_one_process(pool, world, options):
    site = Site(world, "platine", seed=3, **options)
    individuals = individuals_of(site, 10)
    assert len(site.groups(10)) == (4 if options else 10)
    for generation in (1, 2):
        assert pool.evaluate(site, individuals, generation) == site.evaluate(individuals, generation, threads=1)
    assert pool.evaluate(site, []) == []


@pytest.mark.parametrize(("world", "options"), [("blocks", {}), ("coevolution", {"concurrent": 3})])
def test_killed_workers_change_nothing(pool, world, options):
    site = Site(world, "platine", seed=4, **options)
    individuals = individuals_of(site, 40)
    expected = site.evaluate(individuals, 2, threads=1)
    with Killer(pool, [1, 12, 20]) as killer:
        assert pool.evaluate(site, individuals, 2) == expected
    assert not killer.marks and killer.lost == 3
    last = killer.seen[-1]
    assert (last.finished, last.total) == (40, 40) and last.retried >= 3
    finished = [progress.finished for progress in killer.seen]
    assert finished == sorted(finished), "nothing is counted twice"


def test_an_actor_that_is_ended_through_ray_is_replaced(pool):
    site = Site("blocks", "platine", seed=4)
    individuals = individuals_of(site, 20)
    with Killer(pool, [2], lambda _: ray.kill(next(iter(pool._actors.processes)))) as killer:
        assert pool.evaluate(site, individuals) == site.evaluate(individuals, threads=1)
    assert killer.lost == 1


def test_a_run_may_be_evaluated_by_a_pool_and_the_console_sees_it(pool, tmp_path):
    site = Site("blocks", "platine", seed=5)
    options = {"seed": 5, "generations": 3, "population": 12}
    with Run.begin(tmp_path / "here", site, "cma-es", **options) as here:
        expected = list(here)
    with Run.begin(tmp_path / "there", site, "cma-es", **options) as there:
        pool.progress = there.show_workers
        assert list(there.generations(pool.evaluate)) == expected
        pool.progress = None
    shown = json.loads((tmp_path / "there/workers.json").read_text())
    assert (shown["finished"], shown["total"], shown["workers"]) == (12, 12, 2)
    for name in ("log.csv", "best.json", "bests.jsonl"):
        assert (tmp_path / "there" / name).read_bytes() == (tmp_path / "here" / name).read_bytes()


def same(episodes, expected):
    fields = ("observations", "actions", "rewards")
    return all(
        (one.seed, one.terminated, one.truncated) == (other.seed, other.terminated, other.truncated)
        and all(np.array_equal(getattr(one, name), getattr(other, name)) for name in fields)
        for one, other in zip(episodes, expected, strict=True)
    )


def test_rollouts_are_those_of_one_process_whoever_dies(pool):
    def policy(observation, random):
        return random.uniform(-1, 1, 2)

    env = TaskEnv("RoverAvoid", max_episode_steps=60)
    expected = [rollout(env, policy, seed=7 + index, max_steps=50) for index in range(12)]
    options = {"seed": 7, "max_steps": 50, "max_episode_steps": 60}
    assert same(pool.rollouts("rossum/RoverAvoid-v0", policy, 12, **options), expected)
    with Killer(pool, [2]) as killer:
        made = pool.rollouts(lambda: TaskEnv("RoverAvoid", max_episode_steps=60), policy, 12, seed=7, max_steps=50)
    assert same(made, expected) and killer.lost == 1
    assert expected[0].observations.flags.writeable and made[0].observations.flags.writeable
    with pytest.raises(ValueError, match="neither can be negative"):
        pool.rollouts("rossum/RoverAvoid-v0", policy, -1)


def test_a_worker_that_ends_itself_is_replaced(pool, tmp_path):
    ended = tmp_path / "ended"

    def policy(observation, random):
        if not ended.exists():
            ended.touch()
            os._exit(1)
        return [0.5, 0.5]

    episodes = pool.rollouts("rossum/RoverAvoid-v0", policy, 4, max_steps=5)
    assert [len(episode.rewards) for episode in episodes] == [5, 5, 5, 5]


def test_a_task_that_ends_all_workers_is_named(pool):
    def policy(observation, random):
        if random.bit_generator.seed_seq.entropy == 3:
            os._exit(1)
        return [0.0, 0.0]

    with pytest.raises(PoolError, match="the episode of seed 3 has ended 5 workers in a row"):
        pool.rollouts("rossum/RoverAvoid-v0", policy, 6, max_steps=3)


def test_errors_of_tasks_are_raised_as_they_are(pool):
    def policy(observation, random):
        raise ValueError("no idea")

    with pytest.raises(ValueError, match="no idea"):
        pool.rollouts("rossum/RoverAvoid-v0", policy, 3)
    site, other = Site("blocks", "platine"), Site("coevolution", "prey")
    individuals = individuals_of(other, 4)
    with pytest.raises(RossumError):
        site.evaluate(individuals)
    with pytest.raises(RossumError):
        pool.evaluate(site, individuals)
    assert pool.evaluate(other, individuals) == other.evaluate(individuals, threads=1)


def test_an_interrupted_evaluation_leaves_a_pool_that_goes_on(pool):
    site = Site("blocks", "platine", seed=4)
    individuals = individuals_of(site, 20)

    def interrupt(_):
        raise KeyboardInterrupt

    with Killer(pool, [1], interrupt), pytest.raises(KeyboardInterrupt):
        pool.evaluate(site, individuals)
    assert pool.evaluate(site, individuals) == site.evaluate(individuals, threads=1)


def test_workers_with_another_version_are_refused(pool, monkeypatch):  # noqa: ARG001  they need a Ray
    monkeypatch.setattr(actors, "__version__", "0.0.0")
    # also that it uses the Ray of the program
    with Pool(workers=1) as other, pytest.raises(PoolError, match="install the same version on all machines"):
        other.evaluate(Site("blocks", "platine"), individuals_of(Site("blocks", "platine"), 2))


def test_the_number_of_workers_is_checked():
    for workers in (0, -1, 10_001):
        with pytest.raises(ValueError, match="1 to 10000"):
            Pool(workers=workers)


def test_an_import_without_ray_says_what_to_install():
    code = "import sys; sys.modules['ray'] = None; import rossum_sim.evolution; import rossum_sim.ray"
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert ended.returncode == 1
    assert ended.stderr.splitlines()[-1] == (
        "ImportError: rossum_sim.ray needs Ray; install it with: pip install rossum-sim[ray]"
    )


# --- the companion of `rossum evolve --ray` ---


class Local:
    """A pool in this process."""

    workers = 3

    def evaluate(self, site, individuals, generation):
        return site.evaluate(individuals, generation, threads=1)


def serve(*lines):
    """What the companion answers, and the error that it ends with."""
    answers = []
    text = "".join(line if isinstance(line, str) else json.dumps(line) + "\n" for line in lines)
    try:
        companion.serve(Local(), companion.lines_of(io.BytesIO(text.encode())), answers.append)
    except Exception as error:
        return answers, error
    return answers, None


def test_the_companion_passes_numbers_on_to_the_bit():
    site = Site("blocks", "platine", seed=6)
    individuals = individuals_of(site, 3)
    place = json.loads(site._site.to_json())
    genotypes = [json.loads(individual.to_json()) for individual in individuals]
    answers, error = serve({"site": place}, {"generation": 4, "individuals": 3}, *genotypes)
    assert error is None and answers[0]["ready"]["workers"] == 3
    outcomes = json.loads(json.dumps([answer["outcome"] for answer in answers[1:]]))
    expected = site.evaluate(individuals, 4, threads=1)
    assert [outcome["fitness"].hex() for outcome in outcomes] == [outcome.fitness.hex() for outcome in expected]
    assert [outcome["figures"] for outcome in outcomes] == [outcome.figures for outcome in expected]
    assert [Genotype(json.dumps(genotype)) for genotype in genotypes] == individuals


def test_the_companion_refuses_what_it_does_not_understand(monkeypatch):
    site = {"site": json.loads(Site("blocks", "platine")._site.to_json())}
    for lines, expected in [
        (["?\n"], "Expecting value"),
        ([[1]], "expected `site`"),
        ([{"generation": 1}], "expected `site`"),
        ([{"site": {"simulators": ["127.0.0.1"]}}], "Robot Simulators"),
        ([site, site], "expected `generation`"),
        ([site, {"generation": 1, "individuals": 10**7}], "at most"),
        ([site, {"generation": 1, "individuals": -1}], "at most"),
        ([site, {"generation": 1, "individuals": 1}, {"hidden": "?"}], "invalid type"),
    ]:
        _, error = serve(*lines)
        assert error is not None and expected in str(error), (lines, error)
    monkeypatch.setattr(companion, "MAX_LINE", 100)
    _, error = serve(site)
    assert "longer than" in str(error)


def command(pid):
    """The command line of a process; empty if it has ended."""
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode()
    except OSError:
        return ""


def descendants(process):
    """Processes that this one has started, directly or not, with their command lines."""
    parents = {}
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            parents[int(folder.name)] = int((folder / "stat").read_text().rpartition(")")[2].split()[1])
        except OSError:
            continue  # it has ended
    found, level = {}, [process]
    while level:
        level = [child for child, parent in parents.items() if parent in level]
        found.update((child, command(child)) for child in level)
    return found


def evolve(folder, *flags, kill_after=()):
    """The files of a run of the program. A worker is killed when these generations are finished."""
    options = [ROSSUM, "evolve", "--json", "--seed", "4", "--population", "16", "--generations", "5", "--out", folder]
    with subprocess.Popen([*options, *flags], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as program:
        errors = []
        reader = threading.Thread(target=lambda: errors.extend(program.stderr))
        reader.start()
        for line in program.stdout:
            if line.startswith("{") and json.loads(line)["generation"] in kill_after:
                workers = [pid for pid, words in descendants(program.pid).items() if "RossumWorker" in words]
                os.kill(workers[0], signal.SIGKILL)
        assert program.wait(DEADLINE) == 0, errors
        reader.join()
    return {name: (folder / name).read_bytes() for name in ("log.csv", "best.json", "bests.jsonl", "checkpoint.json")}


@pytest.mark.parametrize("world", ["blocks", "coevolution"])
def test_the_program_evolves_the_same_on_ray_whoever_dies(tmp_path, world):
    expected = evolve(tmp_path / "here", "--all", "--world", world, "--threads", "1")
    flags = ["--ray", "--workers", "2", "--python", sys.executable, "--world", world]
    assert evolve(tmp_path / "there", *flags, kill_after=(1, 3)) == expected
    shown = json.loads((tmp_path / "there/workers.json").read_text())
    assert (shown["lost"], shown["finished"], shown["total"]) == (2, 16, 16)
    # the last one may still be starting
    assert shown["retried"] >= 2 and shown["workers"] in (1, 2)


def test_the_program_uses_a_cluster_by_its_address(pool, tmp_path):  # noqa: ARG001  its Ray is the cluster
    expected = evolve(tmp_path / "here", "--all", "--threads", "1")
    address = ray.get_runtime_context().gcs_address
    assert evolve(tmp_path / "there", "--ray", address, "--workers", "2", "--python", sys.executable) == expected


def test_the_companion_ends_with_the_program():
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
    with subprocess.Popen([sys.executable, "-m", "rossum_sim.ray", "--workers", "1"], **pipes) as process:
        site = Site("blocks", "platine")
        individual = individuals_of(site, 4)[0].to_json()
        count = 5_000  # far from finished when the program ends
        lines = [json.dumps({"site": json.loads(site._site.to_json())}), json.dumps({"generation": 1, "individuals": count})]
        process.stdin.write("\n".join([*lines, *[individual] * count, ""]).encode())
        process.stdin.flush()
        assert "ready" in json.loads(process.stdout.readline())
        while json.loads(process.stdout.readline())["progress"]["finished"] == 0:
            pass
        started = descendants(process.pid)
        assert any("RossumWorker" in words for words in started.values())
        process.stdin.close()
        process.stdout.read()
        assert process.wait(DEADLINE) == 0
    wait = threading.Event()
    for _ in range(DEADLINE * 20):
        left = [words for pid, words in started.items() if words and command(pid) == words]
        if not left:
            return
        wait.wait(0.05)
    pytest.fail(f"still there: {left}")


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        (["--python", "/nowhere/python3"], "choose an interpreter with --python"),
        (["--ray", "127.0.0.1:1"], "no Ray cluster at 127.0.0.1:1 ([Errno 111] Connection refused)"),
        (["--ray", "somewhere"], "expected an address such as 10.0.0.1:6379"),
    ],
)
def test_the_program_says_why_it_cannot_use_ray(tmp_path, flags, message):
    flags = ["--ray", *flags] if "--ray" not in flags else [*flags, "--python", sys.executable]
    command = [ROSSUM, "evolve", "--out", tmp_path / "run", *flags]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=DEADLINE)
    assert ended.returncode == 1 and message in ended.stderr
    assert not (tmp_path / "run").exists()
