/*
 * Memory that is never released, for tables that threads and signal handlers extend, and the hash that they share.
 */
#include "record/ids.h"
#include "record/record.h"

#include <string.h>
#include <sys/mman.h>

#include "base/system/system.h"

#define BLOCK_BYTES ((size_t)1 << 20)

/* Blocks from mmap; advancing one word allocates from them. */
struct block {
	size_t used; /* atomic */
	char data[];
};
static struct block *newest_block;

uint64_t dw_hash(const void *data, size_t bytes, uint64_t seed)
{
	const unsigned char *at = data;
	uint64_t hash = seed ^ (bytes * 0x9e3779b97f4a7c15u), word;

	while (bytes > 0) {
		size_t part = bytes < 8 ? bytes : 8;

		word = 0;
		memcpy(&word, at, part);
		__uint128_t product = (__uint128_t)(hash ^ word) * 0xd6e8feb86659fd93u;
		hash = (uint64_t)product ^ (uint64_t)(product >> 64) ^ 0xa0761d6478bd642fu;
		at += part;
		bytes -= part;
	}
	return hash ^ hash >> 29;
}

void *dw_intern_memory(size_t bytes)
{
	bytes = (bytes + 15) & ~(size_t)15;
	for (;;) {
		struct block *block = __atomic_load_n(&newest_block, __ATOMIC_ACQUIRE);

		if (block) {
			size_t at = __atomic_fetch_add(&block->used, bytes, __ATOMIC_RELAXED);

			if (at + bytes <= BLOCK_BYTES - sizeof *block)
				return block->data + at;
		}
		if (!dw_may_call())
			return NULL;
		long memory = dw_own_map(BLOCK_BYTES);
		struct block *fresh = (struct block *)memory;

		if (dw_system_failed(memory))
			return NULL;
		/* A thread that loses the race unmaps its new block, which no other thread has seen. */
		if (!__atomic_compare_exchange_n(&newest_block, &block, fresh, false, __ATOMIC_RELEASE,
		                                 __ATOMIC_RELAXED))
			dw_own_unmap(fresh, BLOCK_BYTES);
	}
}
