/*
 * Shapes: an operator's inputs as the recorder wants them, and its id with them.
 *
 * Called at the beginning of an operator, in its thread. Most calls come again with the same
 * inputs, so each thread remembers ids by a 64-bit hash of what PyTorch has: sizes and types
 * of the tensors with their places in the list. Two different lists of one operator share a
 * hash once in 10^19.
 */
#include "torch.h"

#define MOST_HASHED 5u /* dimensions that lie in the tensor itself */

static struct dwell_tensor tensor_of(const char *tensor)
{
	const struct torch_layout *layout = &dwp_torch_layout;
	struct dwell_tensor none = { NULL, 0, DWELL_DTYPE_NONE };
	uint64_t dimensions = TORCH_WORD(tensor, layout->sizes);
	const int64_t *sizes = (const int64_t *)(const void *)(tensor + layout->sizes + 8);

	if (tensor == layout->undefined_tensor || dimensions > 64)
		return none;
	if (dimensions > MOST_HASHED)
		sizes = *(const int64_t *const *)(const void *)sizes;
	for (uint64_t i = 0; i < dimensions; i++)
		if (sizes[i] < 0 || sizes[i] >> 48)
			return none; /* symbolic, or no sizes at all */
	return (struct dwell_tensor){ sizes, (uint8_t)dimensions,
		*(const uint8_t *)(tensor + layout->dtype) };
}

/* An IValue is 16 bytes: what it holds, and what kind of thing that is. */
static inline bool is_tensor(const char *value)
{
	return *(const uint32_t *)(const void *)(value + 8) == 1;
}

unsigned dwp_shapes_of(const char *function, struct dwell_tensor tensors[TORCH_MOST_TENSORS])
{
	const char *value = TORCH_POINTER(function, dwp_torch_layout.inputs);
	uint64_t count = TORCH_WORD(function, dwp_torch_layout.inputs + 8);

	if (count > TORCH_MOST_TENSORS)
		count = TORCH_MOST_TENSORS;
	for (uint64_t i = 0; i < count; i++, value += 16)
		tensors[i] = is_tensor(value) ? tensor_of(TORCH_POINTER(value, 0))
		                              : (struct dwell_tensor){ NULL, 0, DWELL_DTYPE_NONE };
	return (unsigned)count;
}

static inline uint64_t mix(uint64_t hash, uint64_t word)
{
	hash = (hash ^ word) * 0x9e3779b97f4a7c15u;
	return hash ^ hash >> 32;
}

/* 0: there is a tensor whose sizes do not lie in it. */
static inline uint64_t hash_inputs(const char *function, uint64_t hash)
{
	const struct torch_layout *layout = &dwp_torch_layout;
	const char *value = TORCH_POINTER(function, layout->inputs);
	uint64_t count = TORCH_WORD(function, layout->inputs + 8);

	hash = mix(hash, count);
	for (uint64_t i = 0; i < count; i++, value += 16) {
		const char *tensor = TORCH_POINTER(value, 0);
		uint64_t dimensions;

		if (!is_tensor(value))
			continue;
		dimensions = TORCH_WORD(tensor, layout->sizes);
		if (dimensions > MOST_HASHED)
			return 0;
		hash ^= (uint64_t)(tensor == layout->undefined_tensor) << 63;
		hash = mix(hash, i << 16 | dimensions << 8 | *(const uint8_t *)(tensor + layout->dtype));
		for (uint64_t d = 0; d < dimensions; d++)
			hash = mix(hash, TORCH_WORD(tensor, layout->sizes + 8 + d * 8));
	}
	return hash;
}

uint32_t dwp_shapes_id(struct torch_shapes *known, const char *function, const struct dwell_site *site)
{
	uint64_t hash = hash_inputs(function, (uint64_t)(uintptr_t)site);
	struct torch_shapes *slot = &known[hash % TORCH_SHAPES];
	struct dwell_tensor tensors[TORCH_MOST_TENSORS];

	if (DWELL_LIKELY(hash && slot->hash == hash && slot->id))
		return slot->id;
	*slot = (struct torch_shapes){ hash, 0 };
	return slot->id = dwell_intern_op(site->name, site->detail, tensors, dwp_shapes_of(function, tensors));
}
