"""The Gymnasium environments, on the wheel as it is installed."""

import threading
import time

import gymnasium
import numpy as np
import pytest
import rossum_sim.envs
from gymnasium.utils.env_checker import check_env
from gymnasium.vector import AutoresetMode
from rossum_sim import RossumError
from rossum_sim._native import tasks
from rossum_sim.envs import TaskEnv, TaskVectorEnv, from_mjcf

TASKS = [name for name, _ in tasks()]
CARTPOLE = """<mujoco>
  <option timestep="0.01"/>
  <worldbody>
    <geom name="floor" type="plane" size="5 5 .1"/>
    <body name="cart" pos="0 0 1">
      <joint name="rail" type="slide" axis="1 0 0" range="-1 1" limited="true" damping="1"/>
      <geom type="box" size=".1 .05 .05" mass="1"/>
      <body name="pole"><joint name="hinge" axis="0 1 0"/><geom type="capsule" size=".02" fromto="0 0 0 0 0 .6" mass=".1"/></body>
    </body>
  </worldbody>
  <actuator><motor joint="rail" gear="10" ctrlrange="-1 1"/></actuator>
  <sensor><jointvel joint="hinge"/></sensor>
</mujoco>"""

MOTORLESS = "<mujoco><worldbody><body><joint/><geom size='.1'/></body></worldbody></mujoco>"


def upright(before, action, after):
    return np.cos(after[..., 1]) - 0.01 * np.square(action[..., 0])


def fallen(after):
    return np.abs(after[..., 1]) > 0.5


OPTIONS = {"frame_skip": 2, "noise": 0.05, "terminated": fallen, "observation": ["qpos", "qvel", "sensors"]}
CART = {"model": CARTPOLE, "reward": upright, **OPTIONS}


def make(task, **options):
    """One environment, as it is registered."""
    if task == "Mjcf":
        options = {**CART, **options}
    return gymnasium.make(f"rossum/{task}-v0", **options)


def make_vec(task, num_envs, **options):
    if task == "Mjcf":
        options = {**CART, **options}
    return gymnasium.make_vec(f"rossum/{task}-v0", num_envs=num_envs, **options)


@pytest.mark.parametrize("task", [*TASKS, "Mjcf"])
def test_the_checker_has_nothing_to_say(task):
    # warnings are errors here
    env = make(task, render_mode="rgb_array", width=64, height=48)
    assert env.spec.max_episode_steps == dict(tasks()).get(task, 1_000)
    check_env(env.unwrapped)
    env.close()


@pytest.mark.parametrize("task", [*TASKS, "Mjcf"])
@pytest.mark.parametrize("mode", [AutoresetMode.NEXT_STEP, AutoresetMode.SAME_STEP])
def test_a_vector_does_what_gymnasium_s_own_vector_of_single_environments_does(task, mode):
    count, steps = 3, 70
    options = {"max_episode_steps": 20}
    ours = make_vec(task, count, threads=2, autoreset_mode=mode, **options)
    single = gymnasium.make_vec(
        f"rossum/{task}-v0",
        num_envs=count,
        vectorization_mode="sync",
        vector_kwargs={"autoreset_mode": mode},
        **(CART if task == "Mjcf" else {}),
        **options,
    )
    assert ours.single_observation_space == single.single_observation_space
    assert ours.action_space == single.action_space
    assert ours.metadata["autoreset_mode"] == mode
    rng = np.random.default_rng(5)
    observed = [envs.reset(seed=31)[0] for envs in (ours, single)]
    assert np.array_equal(*observed)
    ended = 0
    for _ in range(steps):
        actions = rng.uniform(-1, 1, ours.action_space.shape).astype(np.float32)
        one, other = ours.step(actions), single.step(actions)
        for mine, theirs in zip(one[:4], other[:4], strict=True):
            assert mine.dtype == theirs.dtype and np.array_equal(mine, theirs)
        infos, expected = one[4], other[4]
        assert infos.keys() == expected.keys()
        if "final_obs" in infos:
            rows = infos["_final_obs"]
            assert np.array_equal(rows, expected["_final_obs"])
            assert np.array_equal(infos["final_obs"][rows], np.stack(expected["final_obs"][rows]))
        ended += int((one[2] | one[3]).sum())
    assert ended >= count
    ours.close()
    single.close()


@pytest.mark.parametrize("task", ["RoverAvoid", "T1Walk", "Mjcf"])
def test_threads_and_copies_change_nothing(task):
    runs = []
    for options in ({"threads": 1}, {"threads": 3}, {"threads": 2, "copy": False}):
        envs = make_vec(task, 5, max_episode_steps=15, **options)
        rng = np.random.default_rng(1)
        run = [envs.reset(seed=8)[0].copy()]
        for _ in range(40):
            stepped = envs.step(rng.uniform(-1, 1, envs.action_space.shape))
            run.extend(array.copy() for array in stepped[:4])
        envs.close()
        runs.append(run)
    for run in runs[1:]:
        assert all(np.array_equal(one, other) for one, other in zip(runs[0], run, strict=True))


def test_arrays_are_used_again_only_on_request():
    actions = np.zeros((2, 2), np.float32)
    with_copy, without = (TaskVectorEnv("RoverAvoid", 2, copy=copy) for copy in (True, False))
    for envs, shared in ((with_copy, False), (without, True)):
        first = (envs.reset(seed=1)[0], *envs.step(actions)[:4])
        second = envs.step(actions)[:4]
        for one, other in zip((first[0], *first[2:]), second, strict=True):
            assert (one is other) == shared
        envs.close()


def test_without_autoreset_a_mask_resets():
    envs = make_vec("RoverLight", 3, autoreset_mode=AutoresetMode.DISABLED, max_episode_steps=2)
    actions = np.zeros((3, 2), np.float32)
    first, _ = envs.reset(seed=[4, None, 9])
    envs.step(actions)
    last, _, _, truncated, _ = envs.step(actions)
    assert truncated.all()
    with pytest.raises(ValueError, match="call reset"):
        envs.step(actions)
    for mask in ([True] * 3, np.zeros(3, np.bool_), np.ones(2, np.bool_)):
        with pytest.raises(ValueError, match="mask"):
            envs.reset(options={"reset_mask": mask})
    mask = np.array([True, True, False])
    after, _ = envs.reset(seed=[4, 4, 4], options={"reset_mask": mask})
    assert np.array_equal(after[0], first[0]) and np.array_equal(after[1], first[0])
    assert np.array_equal(after[2], last[2])
    envs.reset(options={"reset_mask": ~mask})
    envs.step(actions)
    envs.close()


def test_seeds():
    envs = [TaskEnv("RoverAvoid") for _ in range(3)]
    starts = [env.reset(seed=seed)[0] for env, seed in zip(envs, (7, 7, 8), strict=True)]
    assert np.array_equal(starts[0], starts[1]) and not np.array_equal(starts[0], starts[2])
    # without a seed, the next episode is another one, and the same for the same seed
    following = [env.reset()[0] for env in envs]
    assert np.array_equal(following[0], following[1]) and not np.array_equal(following[0], starts[0])
    unseeded = [TaskEnv("RoverAvoid").reset()[0] for _ in range(2)]
    assert not np.array_equal(*unseeded)
    vectors = [TaskVectorEnv("RoverAvoid", 2).reset()[0] for _ in range(2)]
    assert not np.array_equal(*vectors)
    assert TaskEnv("RoverAvoid").reset(seed=2**70)[0].shape == (10,)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: TaskEnv("T1Wlak"), ValueError, "did you mean `T1Walk`"),
        (lambda: TaskEnv("T1Walk", render_mode="human"), ValueError, "rgb_array"),
        (lambda: TaskVectorEnv("T1Walk", 0), ValueError, "at least one"),
        (lambda: TaskVectorEnv("T1Walk", 2, threads=0), ValueError, "at least one"),
        (lambda: TaskVectorEnv("T1Walk", 2, autoreset_mode="Never"), ValueError, "Never"),
        (lambda: TaskEnv("RoverAvoid").step(np.zeros(2)), ValueError, "call reset"),
        (lambda: TaskVectorEnv("RoverAvoid", 2).step(np.zeros((2, 2))), ValueError, "call reset"),
        (lambda: from_mjcf("<mujoco><worldbody/></mujoco>", upright), RossumError, "no body"),
        (lambda: from_mjcf(MOTORLESS, upright), RossumError, "no motor"),
        (lambda: from_mjcf("nosuch", upright), RossumError, "nosuch"),
        (lambda: from_mjcf(CARTPOLE, upright, observation=["qpso"]), ValueError, "did you mean `qpos`"),
        (lambda: from_mjcf(CARTPOLE, upright, noise=-1.0), ValueError, "noise"),
        (lambda: from_mjcf(CARTPOLE, upright, frameskip=4), TypeError, "frameskip"),
    ],
)
def test_mistakes_are_explained(call, error, message):
    with pytest.raises(error, match=message):
        call()


def test_wrong_actions_change_nothing():
    env = TaskEnv("RoverAvoid")
    env.reset(seed=1)
    for action in (np.zeros(3), np.array([np.nan, 0.0]), np.zeros((2, 2))):
        with pytest.raises((ValueError, TypeError)):
            env.step(action)
    envs = TaskVectorEnv("RoverAvoid", 2)
    envs.reset(seed=1)
    for actions in (np.zeros((1, 2)), np.zeros((2, 3)), np.full((2, 2), np.inf), np.zeros(4)):
        with pytest.raises((ValueError, TypeError)):
            envs.step(actions)
    good = np.ones(2, np.float32)
    assert np.array_equal(env.step(good)[0], envs.step(np.stack([good, good]))[0][0])


def test_images():
    env = make("RoverAvoid", render_mode="rgb_array", width=120, height=90)
    env.reset(seed=3)
    image = env.render()
    assert image.shape == (90, 120, 3) and image.dtype == np.uint8
    assert len(np.unique(image.reshape(-1, 3), axis=0)) > 20
    assert env.unwrapped.metadata["render_fps"] == 20
    for _ in range(20):
        env.step(np.array([1.0, -1.0], np.float32))
    assert not np.array_equal(env.render(), image)
    envs = make_vec("T1Kick", 2, render_mode="rgb_array", width=80, height=60, camera={"fov": 60.0})
    envs.reset(seed=3)
    assert [frame.shape for frame in envs.render()] == [(60, 80, 3)] * 2
    env.close()
    envs.close()


def test_a_model_and_a_reward():
    env = from_mjcf(CARTPOLE, upright, frame_skip=2, max_episode_steps=10)
    observation, _ = env.reset(seed=1)
    assert observation.shape == (4,) and not observation.any()
    rewards = []
    for step in range(10):
        observation, reward, terminated, truncated, _ = env.step(np.array([1.0], np.float32))
        rewards.append(reward)
        assert (terminated, truncated) == (False, step == 9)
    assert observation[0] > 0.01 and observation[1] < -0.01, "the cart is pushed ahead, and the pole stays behind"
    assert rewards[0] == pytest.approx(0.99, abs=1e-3) and rewards[-1] < rewards[0]

    envs = from_mjcf(CARTPOLE, upright, num_envs=3, **{**OPTIONS, "noise": 0.2})
    envs.reset(seed=2)
    ended = np.zeros(3, np.bool_)
    for _ in range(200):
        before = ended
        observations, rewards, terminated, _, _ = envs.step(np.zeros((3, 1), np.float32))
        assert np.array_equal(rewards == 0.0, before), "an episode begins in the step after its end"
        assert np.array_equal(terminated, fallen(observations) & ~before)
        ended = terminated
    wrong = from_mjcf(CARTPOLE, lambda before, action, after: after[1], num_envs=3)
    wrong.reset(seed=1)
    with pytest.raises(ValueError, match=r"\[\.\.\., i\]"):
        wrong.step(np.zeros((3, 1)))


def test_the_robots_that_come_with_it():
    ahead = lambda before, action, after: after[..., 0] - before[..., 0]  # noqa: E731
    env = from_mjcf("T1", ahead, field="fifa", timestep=0.005, frame_skip=4)
    env.reset(seed=1)
    assert env.action_space.shape == (23,)
    assert np.isfinite(env.step(env.action_space.sample())[1])


def test_other_threads_run_during_a_step():
    envs = TaskVectorEnv("T1Walk", 64, threads=1)
    envs.reset(seed=1)
    counted = 0

    def work():
        for _ in range(10):
            envs.step(np.zeros((64, 12), np.float32))

    thread = threading.Thread(target=work)
    thread.start()
    while thread.is_alive():
        counted += 1
        time.sleep(0)
    assert counted > 100


def test_closed_environments_say_so():
    env, envs = TaskEnv("RoverAvoid"), TaskVectorEnv("RoverAvoid", 2)
    for each in (env, envs):
        each.close()
        each.close()
        with pytest.raises(RossumError, match="closed"):
            each.reset()


def test_wrappers_of_gymnasium_work():
    envs = gymnasium.wrappers.vector.RecordEpisodeStatistics(make_vec("RoverAvoid", 4, max_episode_steps=12))
    envs.reset(seed=1)
    lengths = []
    for _ in range(30):
        *_, infos = envs.step(np.zeros((4, 2), np.float32))
        if "episode" in infos:
            lengths.extend(infos["episode"]["l"][infos["_episode"]])
    assert lengths == [12] * 8
    assert rossum_sim.envs.__all__
    envs.close()
