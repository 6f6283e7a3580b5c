#!/usr/bin/env python3
"""Learn a task with PPO (proximal policy optimisation), in one file.

    pip install jax 'rossum-sim[learning]'
    python3 ppo.py                                # RoverAvoid, a minute or two
    python3 ppo.py --task T1Stand --minutes 30
    python3 ppo.py --play learned/policy.npz

Read the file from the bottom up: `main` reads the options, `learn` alternates between `collect`, which lets many
environments run with the current policy, and `improve`, which makes what went better than expected more likely.
"""

import argparse
import time
from functools import partial
from pathlib import Path
from typing import Any, Dict, List, NamedTuple, Tuple

import gymnasium
import jax
import jax.numpy as jnp
import numpy as np
import rossum_sim.envs  # registers the environments
from gymnasium.vector import AutoresetMode

ENVS, LENGTH = 32, 128  # environments, and steps of each between two improvements
EPOCHS, PARTS = 6, 8  # how often all steps are used in an improvement, and in how many parts
RATE = 5e-4  # of learning; falls to 0
DISCOUNT, SMOOTHING = 0.99, 0.95  # of later rewards; of advantages
CLIP = 0.2  # a step's probability changes by this fraction at most
ENTROPY = 1e-3  # reward for trying different things
HIDDEN = (64, 64)
SPREAD = -0.7  # logarithm of the standard deviation of actions at the start
REWARD_SCALE = 0.1  # keeps values in the range that nets learn quickly
TESTS = 20  # episodes without randomness at the end

Params = Dict[str, Any]  # weights of two nets, and the spread of actions


class Batch(NamedTuple):
    """Steps of the environments: arrays with a row for each."""

    observations: jax.Array
    actions: jax.Array
    log_probs: jax.Array
    advantages: jax.Array
    returns: jax.Array


# --- Nets ------------------------------------------------------------------------------------------------------------


def new_net(key: jax.Array, sizes: List[int], last: float) -> List[Tuple[jax.Array, jax.Array]]:
    """Random weights of a net; the last layer is scaled down, so that it begins near 0."""
    layers = []
    for index, (inputs, outputs) in enumerate(zip(sizes, sizes[1:])):
        key, own = jax.random.split(key)
        scale = last if index == len(sizes) - 2 else 1.4
        layers.append((scale * jax.nn.initializers.orthogonal()(own, (inputs, outputs)), jnp.zeros(outputs)))
    return layers


def net(layers: List[Tuple[jax.Array, jax.Array]], x: jax.Array) -> jax.Array:
    """The output of a net."""
    for weights, bias in layers[:-1]:
        x = jnp.tanh(x @ weights + bias)
    weights, bias = layers[-1]
    return x @ weights + bias


def new_params(key: jax.Array, observation: int, action: int) -> Params:
    """A policy that does next to nothing, and a value that expects nothing."""
    policy, value = jax.random.split(key)
    return {
        "policy": new_net(policy, [observation, *HIDDEN, action], 0.01),
        "value": new_net(value, [observation, *HIDDEN, 1], 1.0),
        "spread": jnp.full(action, SPREAD),
    }


def log_prob(params: Params, observations: jax.Array, actions: jax.Array) -> jax.Array:
    """Logarithm of the probability of actions: normal distributions around the output of the policy."""
    off = (actions - net(params["policy"], observations)) / jnp.exp(params["spread"])
    return jnp.sum(-0.5 * off**2 - params["spread"] - 0.5 * jnp.log(2 * jnp.pi), axis=-1)


@jax.jit
def value(params: Params, observations: jax.Array) -> jax.Array:
    """The sum of discounted rewards that is expected from here on."""
    return net(params["value"], observations)[..., 0]


@jax.jit
def choose(params: Params, observations: jax.Array, key: jax.Array) -> Tuple[jax.Array, ...]:
    """Random actions, their probabilities, the values, and a new key."""
    key, own = jax.random.split(key)
    middle = net(params["policy"], observations)
    actions = middle + jnp.exp(params["spread"]) * jax.random.normal(own, middle.shape)
    return actions, log_prob(params, observations, actions), value(params, observations), key


# --- Adam ------------------------------------------------------------------------------------------------------------


def new_adam(params: Params) -> Tuple[Params, Params, jax.Array]:
    """The state of the optimiser: means of gradients and of their squares, and the number of steps."""
    return jax.tree.map(jnp.zeros_like, params), jax.tree.map(jnp.zeros_like, params), jnp.zeros(())


def adam(params: Params, gradients: Params, state: Any, rate: jax.Array) -> Tuple[Params, Any]:
    """One step of the optimiser, with gradients cut to a length of 0.5."""
    means, squares, count = state
    length = jnp.sqrt(sum(jnp.sum(g**2) for g in jax.tree.leaves(gradients)))
    gradients = jax.tree.map(lambda g: g * jnp.minimum(1.0, 0.5 / (length + 1e-8)), gradients)
    count += 1
    means = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, means, gradients)
    squares = jax.tree.map(lambda s, g: 0.999 * s + 0.001 * g**2, squares, gradients)
    step = lambda p, m, s: p - rate * (m / (1 - 0.9**count)) / (jnp.sqrt(s / (1 - 0.999**count)) + 1e-8)
    return jax.tree.map(step, params, means, squares), (means, squares, count)


# --- PPO -------------------------------------------------------------------------------------------------------------


def loss(params: Params, batch: Batch) -> jax.Array:
    """What PPO makes small."""
    ratio = jnp.exp(log_prob(params, batch.observations, batch.actions) - batch.log_probs)
    advantages = (batch.advantages - batch.advantages.mean()) / (batch.advantages.std() + 1e-8)
    clipped = jnp.clip(ratio, 1 - CLIP, 1 + CLIP)
    gain = jnp.minimum(ratio * advantages, clipped * advantages).mean()
    error = ((value(params, batch.observations) - batch.returns) ** 2).mean()
    return -gain + 0.5 * error - ENTROPY * params["spread"].sum()


@partial(jax.jit, donate_argnums=(0, 1))
def improve(params: Params, state: Any, batch: Batch, key: jax.Array, rate: jax.Array) -> Tuple[Params, Any]:
    """Several passes over the batch, in random parts."""
    count = batch.returns.shape[0]
    orders = [jax.random.permutation(one, count) for one in jax.random.split(key, EPOCHS)]

    def step(carry: Any, rows: jax.Array) -> Tuple[Any, None]:
        params, state = carry
        part = jax.tree.map(lambda column: column[rows], batch)
        return adam(params, jax.grad(loss)(params, part), state, rate), None

    parts = jnp.concatenate(orders).reshape(EPOCHS * PARTS, -1)
    return jax.lax.scan(step, (params, state), parts)[0]


class Runner:
    """The environments, and what goes on in them."""

    def __init__(self, task: str, seed: int) -> None:
        self.envs = gymnasium.make_vec(f"rossum/{task}-v0", num_envs=ENVS, autoreset_mode=AutoresetMode.SAME_STEP)
        self.observations, _ = self.envs.reset(seed=seed)
        self.sums = np.zeros(ENVS)  # of the rewards of the current episodes
        self.returns: List[float] = []  # of the episodes that have ended

    def collect(self, params: Params, key: jax.Array) -> Tuple[Batch, jax.Array]:
        """Lets the policy act for a while."""
        rows = []
        for _ in range(LENGTH):
            actions, log_probs, values, key = choose(params, self.observations, key)
            after, rewards, terminated, truncated, infos = self.envs.step(np.asarray(actions))
            self.sums += rewards
            ended = terminated | truncated
            self.returns.extend(self.sums[ended])
            self.sums[ended] = 0.0
            scaled = REWARD_SCALE * rewards
            cut = truncated & ~terminated
            if cut.any():  # it would have gone on: what was to come is estimated
                scaled[cut] += DISCOUNT * np.asarray(value(params, infos["final_obs"]))[cut]
            rows.append((self.observations, actions, log_probs, values, scaled, ended))
            self.observations = after
        observations, actions, log_probs, values, rewards, ended = (np.array(column) for column in zip(*rows))
        advantages, following, sum_ = np.empty_like(values), np.asarray(value(params, self.observations)), 0.0
        for t in reversed(range(LENGTH)):
            goes_on = 1.0 - ended[t]
            error = rewards[t] + DISCOUNT * goes_on * following - values[t]
            sum_ = error + DISCOUNT * SMOOTHING * goes_on * sum_
            advantages[t], following = sum_, values[t]
        batch = Batch(observations, actions, log_probs, advantages, advantages + values)
        return jax.tree.map(lambda a: jnp.asarray(a.reshape(-1, *a.shape[2:]), jnp.float32), batch), key


def learn(task: str, steps: int, minutes: float, seed: int) -> Tuple[Params, List[Tuple[int, float, float]]]:
    """Learns; returns the policy, and steps, seconds and mean return along the way."""
    runner, key = Runner(task, seed), jax.random.PRNGKey(seed)
    spaces = runner.envs.single_observation_space, runner.envs.single_action_space
    params = new_params(key, *(space.shape[0] for space in spaces))
    state, curve, began = new_adam(params), [], time.monotonic()
    rounds = max(1, steps // (ENVS * LENGTH))
    for number in range(1, rounds + 1):
        seconds = time.monotonic() - began
        part = max((number - 1) / rounds, seconds / (60 * minutes))
        if part >= 1:
            break
        batch, key = runner.collect(params, key)
        key, own = jax.random.split(key)
        params, state = improve(params, state, batch, own, RATE * (1 - part))
        recent = runner.returns[-100:]
        if recent:
            curve.append((number * ENVS * LENGTH, time.monotonic() - began, float(np.mean(recent))))
        if curve and (number % 10 == 0 or number == rounds):
            print("{:9,} steps {:6.1f} s   mean return {:8.2f}".format(*curve[-1]), flush=True)
    runner.envs.close()
    return params, curve


# --- Results ---------------------------------------------------------------------------------------------------------


def save(path: Path, task: str, params: Params) -> None:
    """Saves the policy: arrays `w0`, `b0`, `w1`, ... of a net with tanh between its layers."""
    arrays = {f"{kind}{index}": layer for index, pair in enumerate(params["policy"]) for kind, layer in zip("wb", pair)}
    np.savez(path, task=task, **{name: np.asarray(array) for name, array in arrays.items()})


def load(path: Path) -> Tuple[str, Any]:
    """The task of a saved policy, and the function from observations to actions. It needs NumPy only."""
    saved = np.load(path)
    layers = [(saved[f"w{index}"], saved[f"b{index}"]) for index in range(len(saved.files) // 2)]

    def policy(x: np.ndarray) -> np.ndarray:
        for weights, bias in layers[:-1]:
            x = np.tanh(x @ weights + bias)
        weights, bias = layers[-1]
        return x @ weights + bias

    return str(saved["task"]), policy


def test(path: Path) -> np.ndarray:
    """Returns of a saved policy, without randomness in its actions, in episodes it has not seen."""
    task, policy = load(path)
    envs = gymnasium.make_vec(f"rossum/{task}-v0", num_envs=TESTS)
    observations, _ = envs.reset(seed=1_000_000)
    returns, running = np.zeros(TESTS), np.ones(TESTS, bool)
    while running.any():
        observations, rewards, terminated, truncated, _ = envs.step(policy(observations))
        returns += np.where(running, rewards, 0.0)
        running &= ~(terminated | truncated)
    envs.close()
    return returns


def draw(path: Path, task: str, curve: List[Tuple[int, float, float]]) -> None:
    """Draws the learning curve as SVG."""
    width, height, left, right, top, bottom = 720, 400, 70, 20, 40, 50
    steps, _, returns = (np.array(column) for column in zip(*curve))
    low, high = min(0.0, returns.min()), returns.max() or 1.0
    x = left + (width - left - right) * steps / steps[-1]
    y = lambda value: height - bottom - (height - top - bottom) * (value - low) / (high - low)
    text = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" font-family="sans-serif" font-size="13">',
        '<rect width="100%" height="100%" fill="white"/>',
        f'<text x="{left}" y="24" font-size="16">{task}: mean return of the last 100 episodes</text>',
    ]
    for value_ in np.linspace(low, high, 6):
        text.append(f'<line x1="{left}" x2="{width - right}" y1="{y(value_):.1f}" y2="{y(value_):.1f}" stroke="#ddd"/>')
        text.append(f'<text x="{left - 8}" y="{y(value_) + 4:.1f}" text-anchor="end">{value_:.4g}</text>')
    for index in range(6):
        place, count = left + (width - left - right) * index / 5, steps[-1] * index / 5
        text.append(f'<text x="{place:.0f}" y="{height - 28}" text-anchor="middle">{count / 1000:,.0f} k</text>')
    points = " ".join(f"{a:.1f},{y(b):.1f}" for a, b in zip(x, returns))
    text.append(f'<text x="{(left + width) / 2}" y="{height - 8}" text-anchor="middle">steps</text>')
    text.append(f'<polyline points="{points}" fill="none" stroke="#1f77b4" stroke-width="2"/></svg>')
    path.write_text("\n".join(text))


def main() -> None:
    """Reads the options, learns, and shows what was learned."""
    options = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    options.add_argument("--task", default="RoverAvoid", help="name of the task (RoverAvoid)")
    options.add_argument("--steps", default=1_000_000, type=int, help="steps in all environments (1,000,000)")
    options.add_argument("--minutes", default=5.0, type=float, help="stop after this time (5)")
    options.add_argument("--seed", default=1, type=int, help="another seed is another attempt (1)")
    options.add_argument("--out", default="learned", type=Path, help="folder for the policy and the curve (learned)")
    options.add_argument("--play", type=Path, metavar="FILE", help="only test a saved policy")
    given = options.parse_args()
    path = given.play or given.out / "policy.npz"
    if given.play is None:
        given.out.mkdir(parents=True, exist_ok=True)
        params, curve = learn(given.task, given.steps, given.minutes, given.seed)
        save(path, given.task, params)
        if curve:
            draw(given.out / "curve.svg", given.task, curve)
    returns = test(path)
    print(f"{path}: mean return {returns.mean():.2f} in {TESTS} new episodes, {returns.min():.2f} to {returns.max():.2f}")


if __name__ == "__main__":
    main()
