/*
 * Shapes: the id of an operator with the sizes and types of its inputs.
 *
 * Called at the beginning of an operator, in its thread. Most calls come again with the same
 * inputs, so each thread keeps the ids by a 64-bit hash of the sizes and types of the tensors with
 * their places in the list, and of the integers where FLOPs need them (format/arguments.h). Two different lists of one
 * operator have the same hash once in 10^19.
 */
#include "core.h"

uint32_t dwp_shapes_id(struct torch_shapes *known, const char *function, const struct dwell_site *site,
                       bool has_integers)
{
	uint64_t hash = dwp_abi_hash_inputs(function, (uint64_t)(uintptr_t)site, has_integers);
	struct torch_shapes *slot = &known[hash % TORCH_SHAPES];
	struct dwell_tensor tensors[TORCH_MOST_TENSORS];
	int64_t integers[TORCH_MOST_INTEGERS];

	if (DWELL_LIKELY(hash && slot->hash == hash && slot->id))
		return slot->id;
	*slot = (struct torch_shapes){ hash, 0 };
	return slot->id = dwell_intern_op(site->name, site->detail, tensors,
	                                  dwp_abi_inputs(function, tensors, has_integers ? integers : NULL));
}
