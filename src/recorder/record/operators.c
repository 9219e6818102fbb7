/*
 * Operators with shapes and stacks: finds the id of a name with these tensors and begins the range.
 *
 * Invariant: like all exported functions of probe.h, these leave errno unchanged.
 */
#include <errno.h>

#include "record/slot.h"

/* Random odd numbers, one for each position in a list. */
static const uint64_t factors[16] = {
	0x9e3779b97f4a7c15u, 0xd6e8feb86659fd93u, 0xa0761d6478bd642fu, 0xe7037ed1a0b428dbu,
	0x8ebc6af09c88c6e3u, 0x589965cc75374cc3u, 0x1d8e4e27c47d124fu, 0xeb44accab455d165u,
	0xaaf3cc5b4e2c3a91u, 0xc2b2ae3d27d4eb4fu, 0x94d049bb133111ebu, 0xbf58476d1ce4e5b9u,
	0x2127599bf4325c37u, 0x880355f21e6d1965u, 0xff51afd7ed558ccdu, 0xc4ceb9fe1a85ec53u,
};

/* A sum of products. The processor computes several products in parallel, unlike a chain. */
static inline uint64_t operators_hash_tensors(const void *site, const struct dwell_tensor *tensors,
                                              unsigned count)
{
	uint64_t hash = (uint64_t)(uintptr_t)site + count;
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

__attribute__((noinline)) static uint32_t new_shapes(struct dwell_site *site, uint64_t hash,
                                                     const struct dwell_tensor *tensors,
                                                     unsigned count)
{
	int saved = errno;
	enum dw_loss cause;
	struct dw_slot *slot = dw_slot_here(&cause);
	uint32_t at = operators_shapes_at(hash), id;

	at += (uint32_t)(hash >> 40) % 4;
	for (uint32_t i = at & ~3u, end = i + 4; slot && slot->shapes[at].id && i < end; i++)
		if (!slot->shapes[i].id)
			at = i;
	if (site->file)
		dw_probe_note_operators(site->category);
	id = dw_intern_op(site->category, site->name, site->detail, dw_intern_shapes(tensors, count),
	                  site->file, site->line);
	if (slot) {
		slot->shapes[at].id = 0; /* a signal handler between the two stores must find no match */
		__atomic_signal_fence(__ATOMIC_SEQ_CST);
		slot->shapes[at].hash = hash;
		__atomic_signal_fence(__ATOMIC_SEQ_CST);
		slot->shapes[at].id = id;
	}
	errno = saved;
	return id;
}

/* Each thread caches the ids of its last shapes by a 64-bit hash. Two different lists of one call
 * site have the same hash with a probability of 1 in 10^19. */
static inline uint32_t operators_shaped_id(struct dwell_site *site, const struct dwell_tensor *tensors,
                                           unsigned count)
{
	struct dw_slot *slot = (struct dw_slot *)(void *)dwell_this_stream;
	uint64_t hash = operators_hash_tensors(site, tensors, count);

	/* A stream without a limit may be the one that threads without a slot share. */
	if (DWELL_LIKELY(DW_LOAD(slot->main.limit) != NULL))
		for (uint32_t at = operators_shapes_at(hash), i = at; i < at + 4; i++)
			if (slot->shapes[i].hash == hash && slot->shapes[i].id)
				return slot->shapes[i].id;
	return new_shapes(site, hash, tensors, count);
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
