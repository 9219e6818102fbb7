/*
 * Converts an operator's inputs to the form that the recorder stores.
 *
 * Called at the beginning of an operator, in its thread.
 */
#include "private.h"

static struct dwell_tensor inputs_read_tensor(const char *tensor)
{
	const struct dwp_abi_layout *layout = &dwp_abi_layout;
	struct dwell_tensor none = { NULL, 0, DWELL_DTYPE_NONE };
	uint64_t dimensions = ABI_WORD(tensor, layout->sizes);
	const int64_t *sizes = (const int64_t *)(const void *)(tensor + layout->sizes + 8);
	bool empty = false;

	if (tensor == layout->undefined_tensor || dimensions > 64)
		return none;
	if (dimensions > ABI_MOST_INLINE_SIZES)
		sizes = *(const int64_t *const *)(const void *)sizes;
	for (uint64_t i = 0; i < dimensions; i++) {
		if (sizes[i] < 0 || sizes[i] >> 48)
			return none; /* symbolic sizes, or no sizes at all */
		empty |= sizes[i] == 0;
	}
	if (layout->elements && ABI_POINTER(tensor, 0) == layout->nested)
		return (struct dwell_tensor){ NULL, 0, DWELL_DTYPE_NO_MEMORY };
	return (struct dwell_tensor){ sizes, (uint8_t)dimensions,
		                          empty || dwp_abi_has_elements(tensor) ? *(const uint8_t *)(tensor + layout->dtype)
		                                                                : DWELL_DTYPE_NO_MEMORY };
}

/* ---- integers ------------------------------------------------------------------------------------ */

/* Copies the value's integers to the rest of `integers`, of which `used` are used. */
static struct dwell_tensor inputs_read_integers(const char *value, int64_t *integers, uint32_t *used)
{
	const struct dwp_abi_layout *layout = &dwp_abi_layout;
	struct dwell_tensor read = { integers + *used, 0, DWELL_DTYPE_NONE };
	const char *items = value;
	uint32_t count = layout->list && dwp_abi_is_integer(value) ? 1
	                 : layout->list                           ? dwp_abi_list(value, &items)
	                                                          : UINT32_MAX;

	if (count > TORCH_MOST_INTEGERS - *used)
		return (struct dwell_tensor){ NULL, 0, DWELL_DTYPE_NONE };
	for (uint32_t i = 0; i < count; i++)
		integers[*used + i] = dwp_abi_integer(items + i * ABI_VALUE_BYTES);
	*used += count;
	read.dimensions = (uint8_t)count;
	if (items == value)
		read.dtype = dwp_abi_kind(value) == layout->truth ? DWELL_ARG_BOOL : DWELL_ARG_INT;
	else
		read.dtype = count && dwp_abi_kind(items) == layout->truth ? DWELL_ARG_BOOLS : DWELL_ARG_INTS;
	return read;
}

unsigned dwp_abi_inputs(const char *function, struct dwell_tensor tensors[TORCH_MOST_TENSORS],
                        int64_t integers[TORCH_MOST_INTEGERS])
{
	uint64_t count;
	const char *value = dwp_abi_first_input(function, &count);
	uint32_t used = 0;

	if (count > TORCH_MOST_TENSORS)
		count = TORCH_MOST_TENSORS;
	for (uint64_t i = 0; i < count; i++, value += ABI_VALUE_BYTES) {
		if (dwp_abi_is_tensor(value))
			tensors[i] = inputs_read_tensor(ABI_POINTER(value, 0));
		else if (integers)
			tensors[i] = inputs_read_integers(value, integers, &used);
		else
			tensors[i] = (struct dwell_tensor){ NULL, 0, DWELL_DTYPE_NONE };
	}
	return (unsigned)count;
}

/* ---- bytes ----------------------------------------------------------------------------------------- */

static const uint8_t type_bytes[] = { 1, 1, 2, 4, 8, 2, 4, 8, 4, 8, 16, 1, 0, 0, 0, 2 };

static uint64_t inputs_tensor_bytes(const char *tensor)
{
	struct dwell_tensor read = inputs_read_tensor(tensor);
	uint64_t bytes = read.sizes && read.dtype < sizeof type_bytes ? type_bytes[read.dtype] : 0;

	for (unsigned i = 0; i < read.dimensions; i++)
		if (__builtin_mul_overflow(bytes, (uint64_t)read.sizes[i], &bytes))
			return 0;
	return bytes;
}

/* A tensor is a pointer; a list is a vector, which begins with where its items begin and end. */
uint64_t dwp_abi_tensors_bytes(const void *object, unsigned depth)
{
	const char *from = ABI_POINTER(object, 0), *to = depth ? ABI_POINTER(object, 8) : NULL;
	uint64_t sum = 0;

	if (!dwp_abi_has_inputs())
		return 0;
	if (!depth)
		return inputs_tensor_bytes(from);
	for (; from < to; from += depth > 1 ? 24 : 8)
		sum += dwp_abi_tensors_bytes(from, depth - 1);
	return sum;
}

/* The bucket begins with its gradients, a tensor of one dimension. Anything else there is another
 * layout. */
uint64_t dwp_abi_bucket_bytes(const void *bucket)
{
	const struct dwp_abi_layout *layout = &dwp_abi_layout;
	uint64_t tensor, sizes[2];
	uint8_t type;

	if (!layout->inputs || dwp_abi_read(&tensor, bucket, sizeof tensor) != sizeof tensor ||
	    dwp_abi_read(sizes, (const char *)(uintptr_t)tensor + layout->sizes, sizeof sizes) != sizeof sizes ||
	    dwp_abi_read(&type, (const char *)(uintptr_t)tensor + layout->dtype, 1) != 1 || sizes[0] != 1 ||
	    sizes[1] >> 48 || type >= sizeof type_bytes)
		return 0;
	return sizes[1] * type_bytes[type];
}
