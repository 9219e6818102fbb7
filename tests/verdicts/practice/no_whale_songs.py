"""Learns with JAX whose song a whale sings: each song is frames of 40 bands, as many as the whale sang, and dense layers read them.

Planted: the step is compiled for each length, and songs of a pod are cut to the pod's longest, a new length in each eighteenth batch.
Truth: time that JAX says it took for tracing and compiling, as a share of the loop.
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

BANDS, STATE, LAYERS, WHALES, PODS = 40, 256, 2, 12, 64
watch = Stopwatch()


def on_duration(event, seconds, **_):
    if watch.began and event.startswith("/jax/core/compile/"):
        watch.planted_s += seconds


def plant(key):
    sizes = [BANDS, *[STATE] * LAYERS]
    keys = jax.random.split(key, LAYERS + 1)
    layers = [(jax.random.normal(one, (before, after)) / np.sqrt(before), jnp.zeros(after))
              for one, before, after in zip(keys, sizes, sizes[1:])]
    return {"layers": layers, "name": jax.random.normal(keys[-1], (STATE, WHALES)) * 0.1}


def read(weights, song):
    """Each frame beside the one before it, through dense layers; the song is the mean of its frames."""
    for matrix, bias in weights["layers"]:
        song = jnp.tanh((song + 0.5 * jnp.roll(song, 1, axis=0)) @ matrix + bias)
    return song.mean(0) @ weights["name"]


def loss_of(weights, song, whale):
    logs = jax.nn.log_softmax(read(weights, song))
    return -logs[jnp.arange(whale.shape[0]), whale].mean()


@jax.jit
def learn(weights, song, whale):
    loss, slopes = jax.value_and_grad(loss_of)(weights, song, whale)
    return jax.tree.map(lambda weight, slope: weight - 0.02 * slope, weights, slopes), loss


def pods(generator):
    """Batches without end; most pods are known, and their longest songs with them."""
    known = [(140, generator.standard_normal((140, PODS, BANDS), dtype=np.float32)),
             (170, generator.standard_normal((170, PODS, BANDS), dtype=np.float32))]
    number = 0
    while True:
        number += 1
        if number % 18 == 0:
            longest = 120 + number // 18 % 90
            song = generator.standard_normal((longest, PODS, BANDS), dtype=np.float32)
        else:
            _, song = known[number % 2]
        yield song, generator.integers(0, WHALES, PODS)


def main():
    jax.monitoring.register_event_duration_secs_listener(on_duration)
    generator = np.random.default_rng(6)
    weights = plant(jax.random.key(0))
    source = pods(generator)
    for _ in range(3):
        weights, loss = learn(weights, *next(source))
    losses = []
    with watch.loop():
        while watch.seconds() < 6.5:
            mark_step()
            weights, loss = learn(weights, *next(source))
            losses.append(float(loss))
            watch.step()
    watch.tell()
    print(f"loss {np.mean(losses[-20:]):.3f}")


if __name__ == "__main__":
    main()
