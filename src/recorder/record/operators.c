/*
 * Operators with shapes and stacks: finds the id of a name with these tensors and begins the range.
 *
 * Invariant: like all exported functions of probe.h, these leave errno unchanged.
 */
#include <string.h>

#include "record/ids.h"
#include "record/record.h"
#include "record/slot.h"
#include "record/stacks.h"
#include "record/streams.h"
#include "record/thread.h"

/* Random odd numbers, one for each position in a list. */
static const uint64_t factors[16] = {
	0x9e3779b97f4a7c15u, 0xd6e8feb86659fd93u, 0xa0761d6478bd642fu, 0xe7037ed1a0b428dbu,
	0x8ebc6af09c88c6e3u, 0x589965cc75374cc3u, 0x1d8e4e27c47d124fu, 0xeb44accab455d165u,
	0xaaf3cc5b4e2c3a91u, 0xc2b2ae3d27d4eb4fu, 0x94d049bb133111ebu, 0xbf58476d1ce4e5b9u,
	0x2127599bf4325c37u, 0x880355f21e6d1965u, 0xff51afd7ed558ccdu, 0xc4ceb9fe1a85ec53u,
};

/* A sum of products. The processor computes several products in parallel, unlike a chain. */
static inline uint64_t operators_hash_tensors(uint64_t name, const struct dwell_tensor *tensors,
                                              unsigned count)
{
	uint64_t hash = name + count;
	unsigned place = 0;

	for (unsigned i = 0; i < count; i++) {
		const int64_t *sizes = tensors[i].sizes;

		hash += ((uint64_t)tensors[i].dtype << 8 | tensors[i].dimensions | 1u << 16) *
		        factors[place++ % 16];
		for (unsigned d = 0; d < tensors[i].dimensions; d++) {
			hash += (uint64_t)sizes[d] * factors[place++ % 16];
			if (place % 16 == 0) /* mixes, because the same factors are used again */
				hash = (hash ^ hash >> 32) * factors[1];
		}
	}
	hash = (hash ^ hash >> 32) * factors[0];
	return hash ^ hash >> 29;
}

/* Where a thread caches its last shapes: four entries for each hash. With only one, two lists
 * of a small network with the same entry would replace each other at every operator. */
static inline uint32_t operators_shapes_at(uint64_t hash)
{
	return (uint32_t)hash % (DW_SHAPE_CACHE / 4) * 4;
}

/* The id in the thread's cache; 0: none. */
static inline uint32_t operators_cached(uint64_t hash)
{
	struct dw_slot *slot = (struct dw_slot *)(void *)dwell_this_stream;

	/* A stream without a limit may be the one that threads without a slot share. */
	if (DWELL_LIKELY(DW_LOAD(slot->main.limit) != NULL))
		for (uint32_t at = operators_shapes_at(hash), i = at; i < at + 4; i++)
			if (slot->shapes[i].hash == hash && slot->shapes[i].id)
				return slot->shapes[i].id;
	return 0;
}

static void operators_cache(uint64_t hash, uint32_t id)
{
	struct dw_slot *slot = dw_slot_here(NULL);
	uint32_t at = operators_shapes_at(hash);

	if (!slot)
		return;
	at += (uint32_t)(hash >> 40) % 4;
	for (uint32_t i = at & ~3u, end = i + 4; slot->shapes[at].id && i < end; i++)
		if (!slot->shapes[i].id)
			at = i;
	slot->shapes[at].id = 0; /* a signal handler between the two stores must find no match */
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	slot->shapes[at].hash = hash;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	slot->shapes[at].id = id;
}

__attribute__((noinline)) static uint32_t operators_new_shapes(struct dwell_site *site, uint64_t hash,
                                                               const struct dwell_tensor *tensors,
                                                               unsigned count)
{
	DW_KEEP_ERRNO;
	uint32_t id;

	if (site->file)
		dw_probe_note_operators(site->category);
	id = dw_intern_op(site->category, site->name, site->detail, dw_intern_shapes(tensors, count),
	                  site->file, site->line);
	operators_cache(hash, id);
	return id;
}

/* Each thread caches the ids of its last shapes by a 64-bit hash. Two different lists of one call
 * site have the same hash with a probability of 1 in 10^19. */
static inline uint32_t operators_shaped_id(struct dwell_site *site, const struct dwell_tensor *tensors,
                                           unsigned count)
{
	uint64_t hash = operators_hash_tensors((uintptr_t)site, tensors, count);
	uint32_t id = operators_cached(hash);

	return DWELL_LIKELY(id != 0) ? id : operators_new_shapes(site, hash, tensors, count);
}

static inline unsigned operators_op_begin(struct dwell_site *site, const struct dwell_tensor *tensors,
                                          unsigned count, const void *caller, uint32_t stack)
{
	const struct dwell_gate_word *gate = __atomic_load_n(&dwell_gate, __ATOMIC_RELAXED);
	uint32_t mask = gate ? DW_LOAD(gate->mask) : 0, id;

	if (!(mask & 1u << DWELL_CATEGORY_OPERATOR))
		return DWELL_NOT_BEGUN;
	id = mask & DWELL_DETAIL_SHAPES ? operators_shaped_id(site, tensors, count) : dwell_site_id(site);
	if (DWELL_UNLIKELY(mask & DWELL_DETAIL_STACKS))
		return dw_begin_with_stack(id, caller, stack);
	dwell_put_begin(id);
	return DWELL_BEGUN;
}

unsigned dwell_op_begin(struct dwell_site *site, const struct dwell_tensor *tensors, unsigned count)
{
	return operators_op_begin(site, tensors, count, __builtin_return_address(0), 0);
}

unsigned dwell_op_begin_from(struct dwell_site *site, const struct dwell_tensor *tensors,
                             unsigned count, uint32_t stack)
{
	return operators_op_begin(site, tensors, count, __builtin_return_address(0), stack);
}

/* ---- names made at run time --------------------------------------------------------- */

/* A name and what is recorded with it. */
struct operators_made {
	const char *name;
	const struct dwell_tensor *tensors;
	unsigned count;
	uint64_t flops, bytes;
};

__attribute__((noinline)) static uint32_t operators_new_made(const struct operators_made *made,
                                                             uint64_t hash)
{
	const bool plain = !made->count && made->flops == DWELL_NOT_GIVEN && made->bytes == DWELL_NOT_GIVEN;
	DW_KEEP_ERRNO;
	uint32_t id;

	/* Only programs call this: probes of libraries know their operators' names. */
	dw_probe_note_operators(DWELL_CATEGORY_OPERATOR);
	id = dw_intern_made(DWELL_CATEGORY_OPERATOR, made->name, NULL,
	                    plain ? 0 : dw_intern_shapes_work(made->tensors, made->count, made->flops, made->bytes));
	operators_cache(hash, id);
	return id;
}

/* Ids stay the same in the process, but a name that found no space has none: it is not cached. */
static uint32_t operators_made_id(const struct operators_made *made)
{
	uint64_t hash = made->name ? dw_hash(made->name, strlen(made->name), 0) : 0;
	uint32_t id;

	hash += made->flops * factors[14] + made->bytes * factors[15];
	hash = operators_hash_tensors(hash, made->tensors, made->count);
	id = operators_cached(hash);
	return DWELL_LIKELY(id != 0) ? id : operators_new_made(made, hash);
}

unsigned dwell_op_begin_named(const char *name, const struct dwell_tensor *tensors, unsigned count,
                              uint64_t flops, uint64_t bytes)
{
	const struct dwell_gate_word *gate = __atomic_load_n(&dwell_gate, __ATOMIC_RELAXED);
	uint32_t mask = gate ? DW_LOAD(gate->mask) : 0, id;
	struct operators_made made = { name, tensors, count, flops, bytes };

	if (!(mask & 1u << DWELL_CATEGORY_OPERATOR))
		return DWELL_NOT_BEGUN;
	if (!(mask & (DWELL_DETAIL_SHAPES | DWELL_DETAIL_FLOPS)))
		made = (struct operators_made){ name, NULL, 0, DWELL_NOT_GIVEN, DWELL_NOT_GIVEN };
	id = operators_made_id(&made);
	if (DWELL_UNLIKELY(mask & DWELL_DETAIL_STACKS))
		return dw_begin_with_stack(id, __builtin_return_address(0), 0);
	dwell_put_begin(id);
	return DWELL_BEGUN;
}
