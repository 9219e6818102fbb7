/*
 * rng.c - SplitMix64 (Steele, Lea, Flood 2014) and the two distributions for the initialization of
 * weights. Called by params.c and loader.c; each rng is used by one thread only.
 */
#include "rng.h"

#include <math.h>

void rng_init(struct rng *rng, uint64_t seed, uint64_t stream)
{
	rng->state = seed * UINT64_C(0xD1342543DE82EF95) + stream;
	rng_next(rng);
}

uint64_t rng_next(struct rng *rng)
{
	uint64_t z = rng->state += UINT64_C(0x9E3779B97F4A7C15);

	z = (z ^ (z >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94D049BB133111EB);
	return z ^ (z >> 31);
}

uint32_t rng_below(struct rng *rng, uint32_t limit)
{
	return (uint32_t)(((rng_next(rng) >> 32) * limit) >> 32);
}

static double rng_unit(struct rng *rng)
{
	return (double)(rng_next(rng) >> 11) * 0x1.0p-53;
}

float rng_uniform(struct rng *rng, float low, float high)
{
	return low + (high - low) * (float)rng_unit(rng);
}

/* Box-Muller; its second value is dropped to keep the stream stateless. */
float rng_normal(struct rng *rng, float deviation)
{
	double radius = sqrt(-2.0 * log(1.0 - rng_unit(rng)));

	return deviation * (float)(radius * cos(6.283185307179586 * rng_unit(rng)));
}
