#!/usr/bin/env python3
"""Training steps of JAX on a GPU, for tools/measure/gpu_check."""
import jax
import jax.numpy as jnp


def loss(weights, batch):
    for weight in weights:
        batch = jnp.tanh(batch @ weight)
    return jnp.mean(batch ** 2)


@jax.jit
def step(weights, batch):
    return [weight - 1e-3 * slope for weight, slope in zip(weights, jax.grad(loss)(weights, batch))]


parameters = [jax.random.normal(jax.random.key(number), (1024, 1024)) for number in range(4)]
inputs = jax.random.normal(jax.random.key(9), (1024, 1024))
for _ in range(200):
    parameters = step(parameters, inputs)
jax.block_until_ready(parameters)
print("devices", jax.devices()[0].device_kind, jax.__version__)
