"""Learns with JAX how fast a ship should sail between two ports, from voyages that a reader has made into objects.

Planted: after each step release() calls gc.collect(), which looks through all voyages and their legs each time.
Truth: time of release(), of the loop.
"""
import gc
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

PORTS, VOYAGES, BATCH, WIDTH = 40, 3000, 512, 384
watch = Stopwatch()


class Leg:
    def __init__(self, bearing, miles, wind):
        self.bearing, self.miles, self.wind = bearing, miles, [wind, wind / 2]


class Voyage:
    def __init__(self, number, dice):
        self.ports = [number % PORTS, number * 7 % PORTS]
        self.legs = [Leg(*dice.standard_normal(3)) for _ in range(4)]
        self.speed = float(12 + dice.standard_normal())

    def row(self):
        row = np.zeros(2 * PORTS + 12, np.float32)
        row[self.ports[0]] = row[PORTS + self.ports[1]] = 1
        row[2 * PORTS:] = [number for leg in self.legs for number in (leg.bearing, leg.miles, leg.wind[0])]
        return row


def release():
    """Frees what the step has left, lest the memory grows."""
    with watch.planted():
        gc.collect()


def speed(weights, rows):
    for matrix, bias in weights[:-1]:
        rows = jnp.tanh(rows @ matrix + bias)
    matrix, bias = weights[-1]
    return (rows @ matrix + bias)[:, 0]


def loss_of(weights, rows, truth):
    return jnp.square(speed(weights, rows) - truth).mean()


@jax.jit
def learn(weights, rows, truth):
    loss, slopes = jax.value_and_grad(loss_of)(weights, rows, truth)
    return jax.tree.map(lambda weight, slope: weight - 1e-3 * slope, weights, slopes), loss


def main():
    dice = np.random.default_rng(12)
    voyages = [Voyage(number, dice) for number in range(VOYAGES)]
    rows = np.stack([voyage.row() for voyage in voyages])
    truth = np.array([voyage.speed for voyage in voyages], np.float32) - 12
    sizes = [rows.shape[1], WIDTH, WIDTH, WIDTH, 1]
    weights = [(jnp.asarray(dice.standard_normal((a, b)) / np.sqrt(a), jnp.float32), jnp.zeros(b)) for a, b in zip(sizes, sizes[1:])]
    jax.block_until_ready(learn(weights, rows[:BATCH], truth[:BATCH]))
    with watch.loop():
        while watch.seconds() < 6:
            chosen = dice.integers(0, VOYAGES, BATCH)
            for _ in range(10):  # ten descents on the same ships
                weights, loss = learn(weights, rows[chosen], truth[chosen])
            loss = float(loss)
            release()
            watch.step()
            mark_step()
    print(f"loss {loss:.4f}, longest leg {max(leg.miles for voyage in voyages for leg in voyage.legs):.2f}")
    watch.tell()


main()
