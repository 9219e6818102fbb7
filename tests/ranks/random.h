/* Pseudo-random numbers for made jobs: the same ones in each run (SplitMix64, Box and Muller). */
#pragma once

#include <math.h>
#include <stdint.h>

static uint64_t random_state = 1;

static inline double uniform(void)
{
	random_state += 0x9e3779b97f4a7c15u;
	uint64_t z = random_state;
	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
	z = (z ^ z >> 27) * 0x94d049bb133111ebu;
	z ^= z >> 31;
	return ((double)(z >> 11) + 0.5) * 0x1p-53;
}

static inline double normal(void)
{
	return sqrt(-2 * log(uniform())) * cos(2 * 3.14159265358979 * uniform());
}
