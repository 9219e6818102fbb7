/*
 * rng.h - the one source of randomness: a SplitMix64 stream.
 *
 * Weights and the order of the images draw from streams of their own, so a
 * seed gives the same run whatever the number of threads.
 */
#pragma once

#include <stdint.h>

struct rng {
	uint64_t state;
};

void rng_init(struct rng *rng, uint64_t seed, uint64_t stream);
uint64_t rng_next(struct rng *rng);
uint32_t rng_below(struct rng *rng, uint32_t limit);
float rng_uniform(struct rng *rng, float low, float high);
float rng_normal(struct rng *rng, float deviation);
