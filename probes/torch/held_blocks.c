/*
 * Blocks of the CPU's memory in steps that are recorded without operators.
 *
 * A small operator allocates a block or two, and two records of each would cost more than the rest of what is
 * recorded in such a step. So the thread of the steps holds small blocks back: one that is freed before the next
 * recorded step is not recorded. The others are recorded when that step begins, or when the program ends, each with the kind
 * that follows from the phase in which it was allocated. So the memory of recorded steps and the growth from one
 * to the next are exact.
 *
 * Each address has one place in the table. If a block needs the place of another one, that one is
 * recorded at once. Only the thread that holds adds blocks. Any thread may free one.
 */
#include "held_blocks.h"

#define HELD_BYTES ((uint64_t)64 << 20) /* most of all held blocks, because they are lost if the program is killed */

struct dwp_held dwp_held;
__thread const struct steps_state *dwp_held_steps __attribute__((tls_model("initial-exec")));
__thread uint64_t dwp_memory_calls __attribute__((tls_model("initial-exec")));

static struct dwell_site held_sites[] = {
	{ "other", "cpu", NULL, 0, DWELL_CATEGORY_ALLOCATION, 0 },
	{ "gradient", "cpu", NULL, 0, DWELL_CATEGORY_ALLOCATION, 0 },
	{ "optimizer state", "cpu", NULL, 0, DWELL_CATEGORY_ALLOCATION, 0 },
	{ "activation", "cpu", NULL, 0, DWELL_CATEGORY_ALLOCATION, 0 },
	{ "input", "cpu", NULL, 0, DWELL_CATEGORY_ALLOCATION, 0 },
};

/* The index of the kind that a block has which outlives the phase. */
static uint32_t held_kind(void)
{
	const struct steps_state *steps = dwp_held_steps;

	if (dwp_torch_places.loading)
		return 4;
	if (!steps)
		return 0;
	return steps->backwards ? 1 : steps->optimizers ? 2 : steps->forwards ? 3 : 0;
}

/* In the phase in which the block was allocated, the reader finds its kind itself: it may be a temporary one. */
static void held_record(uintptr_t address, const struct dwp_held_block *block)
{
	uint32_t kind = block->kind == held_kind() ? 0 : block->kind;

	dwell_alloc(&held_sites[kind], (void *)address, block->bytes);
}

bool dwp_held_add(uintptr_t address, size_t bytes)
{
	struct dwp_held_block *block = dwp_held_place(address);
	uintptr_t other;

	if (dwp_held.bytes + bytes > HELD_BYTES)
		return false;
	/* Another thread may free the block whose place this one takes. */
	if (__atomic_load_n(&block->address, __ATOMIC_RELAXED) &&
	    (other = __atomic_exchange_n(&block->address, 0, __ATOMIC_ACQUIRE)) != 0) {
		dwp_held.bytes -= block->bytes;
		held_record(other, block);
	}
	dwp_held.bytes += bytes;
	dwp_held.calls++;
	block->bytes = (uint32_t)bytes;
	block->kind = held_kind();
	dwp_held.dirty[(size_t)(block - dwp_held.blocks) / DWP_HELD_GROUP] = true;
	__atomic_store_n(&block->address, address, __ATOMIC_RELEASE);
	return true;
}

static void held_record_group(struct dwp_held_block *blocks)
{
	for (unsigned i = 0; i < DWP_HELD_GROUP; i++) {
		uintptr_t address = __atomic_load_n(&blocks[i].address, __ATOMIC_RELAXED);

		if (address && (address = __atomic_exchange_n(&blocks[i].address, 0, __ATOMIC_ACQUIRE)) != 0)
			held_record(address, &blocks[i]);
	}
}

/* Called by the thread that holds, or when the program ends. */
static void held_record_all(void)
{
	for (size_t i = 0; i < sizeof dwp_held.dirty; i++)
		if (dwp_held.dirty[i]) {
			dwp_held.dirty[i] = false;
			held_record_group(dwp_held.blocks + i * DWP_HELD_GROUP);
		}
	dwp_held.bytes = 0;
}

void dwp_held_record(void)
{
	if (__atomic_load_n(&dwp_held.holder, __ATOMIC_RELAXED) == &dwp_memory_calls)
		held_record_all();
}

void dwp_held_hold(bool hold)
{
	if (hold) {
		__atomic_store_n(&dwp_held.used, true, __ATOMIC_RELAXED);
		__atomic_store_n(&dwp_held.holder, &dwp_memory_calls, __ATOMIC_RELAXED);
		return;
	}
	dwp_held_record();
	__atomic_store_n(&dwp_held.holder, NULL, __ATOMIC_RELAXED);
}

void dwp_held_show(const void *address)
{
	struct dwp_held_block *block = dwp_held_place((uintptr_t)address);
	uintptr_t there = (uintptr_t)address;

	if (address && __atomic_compare_exchange_n(&block->address, &there, 0, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
		held_record((uintptr_t)address, block);
}

/* A child of fork begins without blocks: it does not record those that its parent held. */
void dwp_held_forked(void)
{
	for (size_t i = 0; dwp_held.used && i < DWP_HELD_BLOCKS; i++)
		dwp_held.blocks[i].address = 0;
	dwp_held.bytes = 0;
	dwp_held.holder = NULL;
}

void dwp_held_end(void)
{
	if (dwp_held.used)
		held_record_all();
	dwp_held.holder = NULL;
}
