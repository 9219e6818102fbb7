/* Blocks of the CPU's memory that are not recorded yet, and seldom will be; see held_blocks.c. */
#pragma once

#include "core.h"
#include "steps.h"

#define DWP_HELD_BLOCKS 32768u
#define DWP_HELD_GROUP 64u /* places side by side */
#define DWP_HELD_BLOCK_BYTES ((size_t)1 << 20) /* a larger block is always recorded at once */

struct dwp_held_block {
	uintptr_t address; /* atomic; 0: none */
	uint32_t bytes, kind;
};

extern struct dwp_held {
	bool used;              /* atomic: it has held blocks at some time */
	const uint64_t *holder; /* atomic: `dwp_memory_calls` of the thread that holds; NULL: none does */
	uint64_t bytes;         /* of the holder's blocks, at least */
	uint64_t calls;         /* of dwp_memory_calls, in which a block was held */
	uint8_t dirty[DWP_HELD_BLOCKS / DWP_HELD_GROUP]; /* a group has had a block since all were recorded */
	struct dwp_held_block blocks[DWP_HELD_BLOCKS];
} dwp_held;
/* Of this thread: how many allocations and frees of blocks there were, held or not. */
extern __thread uint64_t dwp_memory_calls __attribute__((tls_model("initial-exec")));

/* PyTorch aligns blocks to 64 bytes. Blocks side by side have places side by side. */
static inline struct dwp_held_block *dwp_held_place(uintptr_t address)
{
	return &dwp_held.blocks[address >> 6 & (DWP_HELD_BLOCKS - 1)];
}

/* What this thread is in; NULL: nothing is known. */
extern __thread const struct steps_state *dwp_held_steps __attribute__((tls_model("initial-exec")));

/* False: the block must be recorded now. */
bool dwp_held_add(uintptr_t address, size_t bytes);

static inline bool dwp_held_alloc(uintptr_t address, size_t bytes)
{
	return __atomic_load_n(&dwp_held.holder, __ATOMIC_RELAXED) == &dwp_memory_calls && bytes < DWP_HELD_BLOCK_BYTES &&
	       !dwell_wants(1u << DWELL_CATEGORY_OPERATOR) && dwp_held_add(address, bytes);
}

/* True: the block was held, so that its end is not recorded either. */
static inline bool dwp_held_free(uintptr_t address)
{
	struct dwp_held_block *block = dwp_held_place(address);
	uintptr_t there = address;

	if (!__atomic_load_n(&dwp_held.used, __ATOMIC_RELAXED) ||
	    __atomic_load_n(&block->address, __ATOMIC_RELAXED) != address)
		return false;
	if (__atomic_load_n(&dwp_held.holder, __ATOMIC_RELAXED) != &dwp_memory_calls)
		/* Acquire pairs with dwp_held_add(); fails if the holder has just recorded the block. */
		return __atomic_compare_exchange_n(&block->address, &there, 0, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED);
	dwp_held.bytes -= block->bytes;
	dwp_held.calls++;
	__atomic_store_n(&block->address, 0, __ATOMIC_RELAXED);
	return true;
}

/* The calling thread holds blocks from now on, or no longer. */
void dwp_held_hold(bool hold);
/* Records all blocks now that the calling thread holds. */
void dwp_held_record(void);
/* Records a held block now, because more is about to be recorded of it. */
void dwp_held_show(const void *address);
void dwp_held_forked(void);
/* The program ends. */
void dwp_held_end(void);
