/*
 * The inline functions of abi.h, which read PyTorch's objects. They run for each operator.
 *
 * Only abi.h includes it.
 */
#pragma once

/* Offsets that were found at attach. They do not change afterwards. In bytes; 0: not known. */
struct dwp_abi_layout {
	const void *undefined_tensor;
	uint32_t sequence, forward_thread, inputs; /* of a RecordFunction */
	uint32_t schema;                           /* of a RecordFunction that has one */
	uint32_t sizes, dtype;                     /* of a TensorImpl */
	uint32_t storage, elements;                /* of a TensorImpl, and of the StorageImpl there */
	uint32_t integer, truth, list;             /* kinds of IValue */
	uint32_t items;                            /* of a ListImpl */
	const void *nested;                        /* what a nested tensor begins with; NULL: there are none */
	uint32_t string_bytes;                     /* of a std::string: 32, or 8 of the older kind */
};

extern struct dwp_abi_layout dwp_abi_layout;

#define ABI_WORD(object, offset) (*(const uint64_t *)(const void *)((object) + (offset)))
#define ABI_POINTER(object, offset) (*(const char *const *)(const void *)((object) + (offset)))

/* A std::string begins with where its text is. The older kind (_GLIBCXX_USE_CXX11_ABI=0) has no more than this pointer: its
 * length lies before the text. Returns where that is. */
static inline const char *dwp_abi_string_length(const char *string, const char *text)
{
	return dwp_abi_layout.string_bytes == 8 ? text - 24 : string + 8;
}
/* A RecordFunction contains a variant: either a name of its own, or a pointer to the operator's
 * schema. A schema begins with its name. The byte behind the variant tells which of the two it is. */
#define ABI_HAS_SCHEMA(function, offset) ((function)[(offset) + dwp_abi_layout.string_bytes] == 1)
/* Offset of the number of the thread that runs the operator, a field of StepCallbacks. This offset
 * is fixed. It is right if forward_thread was found, because the search compares the two. */
#define ABI_THIS_THREAD 88u
/* Sizes of at most this many dimensions are stored in the tensor itself. */
#define ABI_MOST_INLINE_SIZES 5u

static inline const char *dwp_abi_static_name(const char *function, size_t *length)
{
	uint32_t offset = dwp_abi_layout.schema;
	const char *schema;

	if (DWELL_UNLIKELY(!offset || !ABI_HAS_SCHEMA(function, offset)))
		return NULL;
	schema = ABI_POINTER(function, offset);
	*length = ABI_WORD(dwp_abi_string_length(schema, ABI_POINTER(schema, 0)), 0);
	return ABI_POINTER(schema, 0);
}

static inline bool dwp_abi_has_sequences(void)
{
	return dwp_abi_layout.sequence != 0;
}

static inline uint64_t dwp_abi_sequence(const char *function)
{
	uint32_t offset = dwp_abi_layout.sequence;

	return offset ? ABI_WORD(function, offset) : DWP_ABI_NO_SEQUENCE;
}

static inline bool dwp_abi_made_node(uint64_t sequence)
{
	return dwp_abi_functions.next_sequence() > sequence;
}

static inline bool dwp_abi_has_threads(void)
{
	return dwp_abi_layout.forward_thread != 0;
}

static inline uint64_t dwp_abi_thread(const char *function)
{
	return ABI_WORD(function, ABI_THIS_THREAD);
}

static inline uint64_t dwp_abi_forward_thread(const char *function)
{
	return ABI_WORD(function, dwp_abi_layout.forward_thread);
}

/* The type of a tensor's elements; DWELL_DTYPE_NONE if it is not known. */
static inline uint16_t dwp_abi_dtype(const void *tensor)
{
	uint32_t offset = dwp_abi_layout.inputs ? dwp_abi_layout.dtype : 0;

	return offset ? *(const uint8_t *)(ABI_POINTER((const char *)tensor, 0) + offset) : DWELL_DTYPE_NONE;
}

static inline bool dwp_abi_has_inputs(void)
{
	return dwp_abi_layout.inputs != 0;
}

/* An IValue has 16 bytes: a value, then its kind. Kind 1 is a tensor. */
static inline bool dwp_abi_is_tensor(const char *value)
{
	return *(const uint32_t *)(const void *)(value + 8) == 1;
}

/* Whether the tensor has elements in memory, as many as its sizes say. Meta and sparse tensors have no storage of their
 * own, nor have those that stand for others (of vmap, functionalization, DTensor); a nested tensor has no sizes. */
static inline bool dwp_abi_has_elements(const char *tensor)
{
	const struct dwp_abi_layout *layout = &dwp_abi_layout;
	const char *storage;

	if (DWELL_UNLIKELY(!layout->elements))
		return true;
	storage = ABI_POINTER(tensor, layout->storage);
	return storage && ABI_WORD(storage, layout->elements) && ABI_POINTER(tensor, 0) != layout->nested;
}

static inline uint64_t dwp_abi_mix(uint64_t hash, uint64_t word)
{
	hash = (hash ^ word) * 0x9e3779b97f4a7c15u;
	return hash ^ hash >> 32;
}

#define ABI_VALUE_BYTES 16u /* of an IValue */

static inline uint32_t dwp_abi_kind(const char *value)
{
	return *(const uint32_t *)(const void *)(value + 8);
}

/* An integer or a truth value. A symbolic integer is of another kind. */
static inline bool dwp_abi_is_integer(const char *value)
{
	return dwp_abi_kind(value) == dwp_abi_layout.integer || dwp_abi_kind(value) == dwp_abi_layout.truth;
}

static inline int64_t dwp_abi_integer(const char *value)
{
	return dwp_abi_kind(value) == dwp_abi_layout.truth ? *value != 0 : (int64_t)ABI_WORD(value, 0);
}

/* The items of a list of integers, of one kind. Returns their number; UINT32_MAX: the value is no such list. */
static inline uint32_t dwp_abi_list(const char *value, const char **items)
{
	const struct dwp_abi_layout *layout = &dwp_abi_layout;
	const char *list = ABI_POINTER(value, 0), *end;

	if (dwp_abi_kind(value) != layout->list)
		return UINT32_MAX;
	*items = ABI_POINTER(list, layout->items);
	end = ABI_POINTER(list, layout->items + 8);
	if ((size_t)(end - *items) > TORCH_MOST_INTEGERS * ABI_VALUE_BYTES)
		return UINT32_MAX;
	for (const char *at = *items; at < end; at += ABI_VALUE_BYTES)
		if (!dwp_abi_is_integer(at) || dwp_abi_kind(at) != dwp_abi_kind(*items))
			return UINT32_MAX;
	return (uint32_t)((size_t)(end - *items) / ABI_VALUE_BYTES);
}

/* Mixes an input that is no tensor. */
static inline uint64_t dwp_abi_mix_integers(uint64_t hash, const char *value)
{
	const char *items = value;
	uint32_t count;

	if (!dwp_abi_layout.list)
		return hash;
	count = dwp_abi_is_integer(value) ? 1 : dwp_abi_list(value, &items);
	hash = dwp_abi_mix(hash, (uint64_t)dwp_abi_kind(value) << 32 | count);
	for (uint32_t i = 0; count != UINT32_MAX && i < count; i++)
		hash = dwp_abi_mix(hash, (uint64_t)dwp_abi_integer(items + i * ABI_VALUE_BYTES));
	return hash;
}

/* The first input. An operator that is called with a stack (torch.func, fallbacks of backends) has the whole stack as inputs:
 * its own are the last ones. */
static inline const char *dwp_abi_first_input(const char *function, uint64_t *count)
{
	const char *first = ABI_POINTER(function, dwp_abi_layout.inputs);
	uint64_t own = *count = ABI_WORD(function, dwp_abi_layout.inputs + 8);

	if (DWELL_LIKELY(dwp_abi_functions.inputs != NULL))
		own = dwp_abi_functions.inputs(function);
	if (DWELL_UNLIKELY(own < *count)) {
		first += (*count - own) * ABI_VALUE_BYTES;
		*count = own;
	}
	return first;
}

static inline uint64_t dwp_abi_hash_inputs(const char *function, uint64_t hash, bool integers)
{
	const struct dwp_abi_layout *layout = &dwp_abi_layout;
	uint64_t count;
	const char *value = dwp_abi_first_input(function, &count);

	hash = dwp_abi_mix(hash, count);
	for (uint64_t i = 0; i < count; i++, value += ABI_VALUE_BYTES) {
		const char *tensor = ABI_POINTER(value, 0);
		uint64_t dimensions;

		if (!dwp_abi_is_tensor(value)) {
			if (DWELL_UNLIKELY(integers))
				hash = dwp_abi_mix_integers(hash, value);
			continue;
		}
		dimensions = ABI_WORD(tensor, layout->sizes);
		if (dimensions > ABI_MOST_INLINE_SIZES)
			return 0;
		hash ^= (uint64_t)(tensor == layout->undefined_tensor) << 63;
		hash ^= (uint64_t)dwp_abi_has_elements(tensor) << 62;
		hash = dwp_abi_mix(hash, i << 16 | dimensions << 8 | *(const uint8_t *)(tensor + layout->dtype));
		for (uint64_t d = 0; d < dimensions; d++)
			hash = dwp_abi_mix(hash, ABI_WORD(tensor, layout->sizes + 8 + d * 8));
	}
	return hash;
}
