"""Foretells with JAX which nest boxes of a wood birds will take: the boxes' features are mixed between boxes and within each, in turn.

Clean: one compiled step with momentum on whole seasons from memory, the same shapes each time, nothing is planted.
Truth: time of choosing the seasons of a batch, of the loop.
"""
import glob
import os
import sys

# JAX is in an environment of its own (tools/venv jax).
sys.path += glob.glob(os.path.expanduser("~/.cache/dwell/jax-*/lib/python3*/site-packages"))
import jax  # noqa: E402
import jax.numpy as jnp  # noqa: E402
import numpy as np  # noqa: E402

from stopwatch import Stopwatch  # noqa: E402

try:
    from dwell import step as mark_step
except ImportError:  # not run under dwell
    def mark_step():
        pass

BOXES, FEATURES, WIDTH, BLOCKS, BATCH, SEASONS = 64, 24, 96, 3, 32, 512
watch = Stopwatch()


def matrix(key, before, after):
    return jax.random.normal(key, (before, after)) / np.sqrt(before)


def make(key):
    keys = iter(jax.random.split(key, 2 + 4 * BLOCKS))
    return {
        "start": matrix(next(keys), FEATURES, WIDTH),
        "blocks": [{"between": matrix(next(keys), BOXES, 2 * BOXES), "between2": matrix(next(keys), 2 * BOXES, BOXES),
                    "within": matrix(next(keys), WIDTH, 2 * WIDTH), "within2": matrix(next(keys), 2 * WIDTH, WIDTH)} for _ in range(BLOCKS)],
        "taken": matrix(next(keys), WIDTH, 1)}


def level(x):
    return (x - x.mean(-1, keepdims=True)) / jnp.sqrt(x.var(-1, keepdims=True) + 1e-3)


def foretell(weights, wood):
    x = wood @ weights["start"]
    for block in weights["blocks"]:
        turned = level(x).swapaxes(1, 2)
        x = x + (jax.nn.gelu(turned @ block["between"]) @ block["between2"]).swapaxes(1, 2)
        x = x + jax.nn.gelu(level(x) @ block["within"]) @ block["within2"]
    return (level(x) @ weights["taken"])[..., 0]


def loss_of(weights, wood, taken):
    said = foretell(weights, wood)
    return (jax.nn.softplus(said) - taken * said).mean()


@jax.jit
def learn(weights, speeds, wood, taken):
    loss, slopes = jax.value_and_grad(loss_of)(weights, wood, taken)
    speeds = jax.tree.map(lambda speed, slope: 0.9 * speed + slope, speeds, slopes)
    return jax.tree.map(lambda weight, speed: weight - 3e-4 * speed, weights, speeds), speeds, loss


def main():
    dice = np.random.default_rng(64)
    woods = dice.standard_normal((SEASONS, BOXES, FEATURES), np.float32)
    taken = (woods[:, :, :3].sum(2) + dice.standard_normal((SEASONS, BOXES)) > 0).astype(np.float32)
    weights = make(jax.random.key(1))
    speeds = jax.tree.map(jnp.zeros_like, weights)
    jax.block_until_ready(learn(weights, speeds, woods[:BATCH], taken[:BATCH]))
    number = 0
    with watch.loop():
        while watch.seconds() < 6:
            with watch.planted():
                first = number * BATCH % SEASONS
                wood, birds = woods[first:first + BATCH], taken[first:first + BATCH]
            weights, speeds, loss = learn(weights, speeds, wood, birds)
            loss = float(loss)
            number += 1
            watch.step()
            mark_step()
    print(f"loss {loss:.4f}")
    watch.tell()


main()
