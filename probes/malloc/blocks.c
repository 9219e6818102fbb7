/*
 * The recorded blocks that are live.
 *
 * Nearly all blocks that a program frees were not recorded. A small array tells this by one byte, which stays in the
 * processor's cache: how many live blocks have addresses with the same hash. The table is searched only if that is not 0. A
 * block is in one of two lines of the table, by two hashes of its address. Adding and removing are one atomic operation each,
 * on one place. One thread may free what another one allocated: it got the address from it, and that orders the two.
 */
#include "blocks.h"

#include <string.h>
#include <sys/mman.h>

#define LINES 16384u
#define PLACES 8u /* of a line of the cache */
#define FULL 255u /* the count is not known any more: it stays */

uint8_t dwm_blocks_filter[1u << DWM_FILTER_BITS] __attribute__((__aligned__(64)));
static uintptr_t table[LINES][PLACES] __attribute__((__aligned__(4096)));

static uint8_t *blocks_count(uint64_t hash)
{
	return &dwm_blocks_filter[hash >> (64 - DWM_FILTER_BITS)];
}

static void blocks_change(uint8_t *count, int by)
{
	uint8_t now = __atomic_load_n(count, __ATOMIC_RELAXED);

	while (now != FULL && !__atomic_compare_exchange_n(count, &now, (uint8_t)(now + by), true, __ATOMIC_RELAXED,
	                                                   __ATOMIC_RELAXED))
		;
}

/* Puts `to` in a place that has `from`. */
static bool blocks_replace(uint64_t hash, uintptr_t from, uintptr_t to)
{
	for (unsigned second = 0; second < 2; second++) {
		uintptr_t *line = table[(second ? hash >> 32 : hash >> 50) % LINES];

		for (unsigned i = 0; i < PLACES; i++) {
			uintptr_t found = from;

			if (__atomic_load_n(&line[i], __ATOMIC_RELAXED) == from &&
			    __atomic_compare_exchange_n(&line[i], &found, to, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
				return true;
		}
	}
	return false;
}

bool dwm_blocks_add(const void *address)
{
	uint64_t hash = dwm_blocks_hash((uintptr_t)address);

	if (!blocks_replace(hash, 0, (uintptr_t)address))
		return false;
	blocks_change(blocks_count(hash), 1);
	return true;
}

bool dwm_blocks_remove(const void *address)
{
	uint64_t hash = dwm_blocks_hash((uintptr_t)address);

	if (!address || !blocks_replace(hash, (uintptr_t)address, 0))
		return false;
	blocks_change(blocks_count(hash), -1);
	return true;
}

void dwm_blocks_forget(void)
{
	memset(dwm_blocks_filter, 0, sizeof dwm_blocks_filter);
	madvise(table, sizeof table, MADV_DONTNEED); /* its pages are zero again, and take no memory */
}
