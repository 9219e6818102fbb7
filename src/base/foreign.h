/*
 * Reading bytes that somebody else wrote or may change.
 *
 * Used by the reader and by the importers of other tools' files.
 */
#pragma once

#include <stdint.h>
#include <string.h>
#include <time.h>

/* Copies what another process may change. The compiler cannot move or repeat the copy, nor use
 * what it knew about the original. */
static inline void dw_copy_shared(void *to, const void *from, size_t bytes)
{
	memcpy(to, from, bytes);
	__asm__ volatile("" : : : "memory");
}

/* A multiplier for hashes that nobody can predict: no file can contain keys that collide on
 * purpose. `address` is any address of the caller; the result is odd. */
static inline uint64_t dw_hash_seed(const void *address)
{
	struct timespec now;
	uint64_t seed;

	clock_gettime(CLOCK_MONOTONIC, &now);
	seed = ((uint64_t)now.tv_nsec ^ (uint64_t)(uintptr_t)address) * 0x9e3779b97f4a7c15u;
	return (seed ^ seed >> 29) | 1;
}
