/*
 * Verifies each answer of abi.h with other values than those that it was found with.
 *
 * Called once at attach, after layout.c. It runs a few operators with a callback that reads the
 * same fields as the probe reads for every operator, in the same way. Only an answer that is wrong
 * is removed. A wrong offset may yield a pointer to memory that is not mapped. So the callback
 * first reads the target of such a pointer through the kernel.
 */
#include "private.h"

#include <string.h>

static __thread char here;

static struct {
	const void *watcher; /* the thread that verifies: its address of `here` */
	const char *forward;  /* the RecordFunction of aten::sin while it runs */
	uint64_t sequence, thread;
	/* how often each thing was right */
	unsigned begins, ends, backwards;
	unsigned short_names, long_names, own_names;
	unsigned sequences, made, links;
	unsigned plain, deep, mixed;
	unsigned integers, lists, elements, empties;
} check;

/* ---- names ---------------------------------------------------------------------------------- */

/* Whether the schema's name is this one. Reads it through the kernel first. */
static bool check_static_name(const char *function, const char *name)
{
	uint32_t offset = dwp_abi_layout.schema;
	size_t before = dwp_abi_layout.string_bytes == 8 ? 24 : 0, length = 0; /* where the length of the text may be */
	char schema[32], text[64];
	const char *fixed;

	if (!offset || !ABI_HAS_SCHEMA(function, offset) ||
	    dwp_abi_read(schema, ABI_POINTER(function, offset), sizeof schema) != sizeof schema ||
	    dwp_abi_read(text, ABI_POINTER(schema, 0) - before, before + strlen(name)) != before + strlen(name))
		return false;
	fixed = dwp_abi_static_name(function, &length);
	return length == strlen(name) && strcmp(fixed, name) == 0;
}

/* ---- shapes --------------------------------------------------------------------------------- */

static const int64_t plain_sizes[] = { 7, 1, 3 }, deep_sizes[] = { 2, 1, 1, 3, 1, 5 }, empty_sizes[] = { 7, 0, 3 };
#define CHECK_AXIS 2 /* of cumsum */

static bool check_is_tensor(const struct dwell_tensor *tensor, const int64_t *sizes, unsigned dimensions,
                            uint16_t dtype)
{
	return tensor->dimensions == dimensions && tensor->dtype == dtype &&
	       memcmp(tensor->sizes, sizes, dimensions * sizeof *sizes) == 0;
}

/* Whether the list of inputs and the sizes of the first tensor are what was passed. Reads them
 * through the kernel, so that a wrong offset cannot crash the program. `axis`: the second input; 0: it is not read. */
static bool check_can_read(const char *function, unsigned inputs, uint64_t axis, const int64_t *sizes,
                           unsigned dimensions)
{
	const struct dwp_abi_layout *layout = &dwp_abi_layout;
	char values[3 * 16], tensor[256];
	int64_t found[8];
	const char *at = tensor + layout->sizes + 8;

	if (ABI_WORD(function, layout->inputs + 8) != inputs || layout->sizes + 64 > sizeof tensor ||
	    dwp_abi_read(values, ABI_POINTER(function, layout->inputs), (size_t)inputs * 16) != (size_t)inputs * 16 ||
	    !dwp_abi_is_tensor(values) ||
	    dwp_abi_read(tensor, ABI_POINTER(values, 0), sizeof tensor) != sizeof tensor ||
	    ABI_WORD(tensor, layout->sizes) != dimensions)
		return false;
	if (axis && (ABI_WORD(values, 16) != axis || dwp_abi_is_tensor(values + 16)))
		return false;
	if (dimensions <= ABI_MOST_INLINE_SIZES)
		return memcmp(at, sizes, dimensions * sizeof *sizes) == 0;
	return dwp_abi_read(found, ABI_POINTER(at, 0), dimensions * sizeof *sizes) == dimensions * sizeof *sizes &&
	       memcmp(found, sizes, dimensions * sizeof *sizes) == 0;
}

static bool check_inputs(const char *function, unsigned inputs, const int64_t *sizes, unsigned dimensions,
                         uint16_t dtype)
{
	struct dwell_tensor tensors[TORCH_MOST_TENSORS];
	uint64_t hash;

	if (!dwp_abi_has_inputs() || !check_can_read(function, inputs, inputs > 1 ? CHECK_AXIS : 0, sizes, dimensions) ||
	    dwp_abi_inputs(function, tensors, NULL) != inputs || !check_is_tensor(tensors, sizes, dimensions, dtype))
		return false;
	for (unsigned i = 1; i < inputs; i++)
		if (tensors[i].dtype != DWELL_DTYPE_NONE)
			return false;
	hash = dwp_abi_hash_inputs(function, 1, false);
	return dimensions > ABI_MOST_INLINE_SIZES ? !hash : hash && hash != dwp_abi_hash_inputs(function, 2, false);
}

/* ---- integers and elements --------------------------------------------------------------------- */

/* Where the words of the list that is the second input are; NULL: not where they should be. Reads them through the
 * kernel. */
static bool check_can_read_list(const char *function, uint64_t bytes)
{
	const struct dwp_abi_layout *layout = &dwp_abi_layout;
	char values[2 * 16], list[96], items[64];

	return layout->items <= sizeof list - 16 && bytes <= sizeof items &&
	       dwp_abi_read(values, ABI_POINTER(function, layout->inputs), sizeof values) == sizeof values &&
	       dwp_abi_read(list, ABI_POINTER(values, 16), sizeof list) == sizeof list &&
	       ABI_WORD(list, layout->items + 8) - ABI_WORD(list, layout->items) == bytes &&
	       dwp_abi_read(items, ABI_POINTER(list, layout->items), bytes) == bytes;
}

static bool check_is_integers(const struct dwell_tensor *argument, uint8_t type, const int64_t *values, unsigned count)
{
	return argument->dtype == type && argument->dimensions == count &&
	       memcmp(argument->sizes, values, count * sizeof *values) == 0;
}

/* aten::all of one tensor, 1, false. */
static bool check_integers(const char *function)
{
	static const int64_t axis = 1, keep = 0;
	struct dwell_tensor inputs[TORCH_MOST_TENSORS];
	int64_t integers[TORCH_MOST_INTEGERS];

	return dwp_abi_layout.list && check_can_read(function, 3, 1, plain_sizes, 3) &&
	       dwp_abi_inputs(function, inputs, integers) == 3 && check_is_integers(&inputs[1], DWELL_ARG_INT, &axis, 1) &&
	       check_is_integers(&inputs[2], DWELL_ARG_BOOL, &keep, 1) &&
	       dwp_abi_hash_inputs(function, 1, true) != dwp_abi_hash_inputs(function, 1, false);
}

/* aten::flip of one tensor, {2, 0}. */
static bool check_list(const char *function)
{
	static const int64_t axes[] = { 2, 0 };
	struct dwell_tensor inputs[TORCH_MOST_TENSORS];
	int64_t integers[TORCH_MOST_INTEGERS];

	return dwp_abi_layout.list && check_can_read(function, 2, 0, empty_sizes, 3) &&
	       check_can_read_list(function, 2 * 16) && dwp_abi_inputs(function, inputs, integers) == 2 &&
	       check_is_integers(&inputs[1], DWELL_ARG_INTS, axes, 2);
}

/* Whether the tensor that is the first input has elements. Reads their place through the kernel. */
static bool check_has_elements(const char *function, bool has)
{
	const struct dwp_abi_layout *layout = &dwp_abi_layout;
	char value[16], tensor[64], storage[64];

	return layout->elements && layout->elements <= sizeof storage - 8 && layout->storage <= sizeof tensor - 8 &&
	       dwp_abi_read(value, ABI_POINTER(function, layout->inputs), sizeof value) == sizeof value &&
	       dwp_abi_read(tensor, ABI_POINTER(value, 0), sizeof tensor) == sizeof tensor &&
	       dwp_abi_read(storage, ABI_POINTER(tensor, layout->storage), sizeof storage) == sizeof storage &&
	       dwp_abi_has_elements(ABI_POINTER(value, 0)) == has;
}

/* ---- callbacks -------------------------------------------------------------------------------- */

TORCH_START(check_on_function, check_function)

static void check_function(const char *function)
{
	const char *name;

	if (check.watcher != &here)
		return;
	name = dwp_abi_name(function);
	if (strcmp(name, "aten::sin") == 0) {
		check.begins++;
		check.forward = function;
		check.short_names += check_static_name(function, name);
		check.sequence = dwp_abi_sequence(function);
		check.sequences += check.sequence == dwp_abi_functions.next_sequence();
		check.thread = dwp_abi_has_threads() ? dwp_abi_thread(function) : 0;
	} else if (strcmp(name, "aten::bitwise_not") == 0) {
		check.plain += check_inputs(function, 1, plain_sizes, 3, DWELL_INT16);
	} else if (strcmp(name, "aten::logical_not") == 0) { /* too long for the string itself */
		check.deep += check_inputs(function, 1, deep_sizes, 6, DWELL_BFLOAT16);
		check.long_names += check_static_name(function, name);
	} else if (strcmp(name, "aten::cumsum") == 0) {
		check.mixed += check_inputs(function, 3, plain_sizes, 3, DWELL_FLOAT64);
	} else if (dwp_abi_has_inputs() && strcmp(name, "aten::all") == 0) {
		check.integers += check_integers(function);
		check.elements += check_has_elements(function, true);
	} else if (dwp_abi_has_inputs() && strcmp(name, "aten::flip") == 0) {
		check.lists += check_list(function);
		check.empties += check_has_elements(function, false);
	}
}

static void check_on_end(const char *function, void *context)
{
	if (check.watcher != &here || check.forward != function)
		return;
	check.forward = NULL;
	check.ends++;
	check.made += dwp_abi_has_sequences() && dwp_abi_made_node(check.sequence);
}

TORCH_START(check_on_backward, check_backward)

static void check_backward(const char *function)
{
	size_t length;

	if (check.watcher != &here || strcmp(dwp_abi_name(function), "SinBackward0") != 0)
		return;
	check.backwards++;
	check.own_names += dwp_abi_static_name(function, &length) == NULL;
	check.sequences += dwp_abi_sequence(function) == check.sequence;
	check.links += dwp_abi_has_threads() && check.thread && dwp_abi_forward_thread(function) == check.thread;
}

static void check_on_other_end(const char *function, void *context)
{
}

/* ---- what runs, and what it must show ---------------------------------------------------------- */

static void check_run(void)
{
	uint64_t handles[2];

	if (!dwp_abi_work_begin())
		return;
	handles[0] = dwp_abi_add_callback((torch_start *)check_on_function, check_on_end, 1u << TORCH_FUNCTION, true);
	handles[1] = dwp_abi_add_callback((torch_start *)check_on_backward, check_on_other_end, 1u << TORCH_BACKWARD,
	                                  false);
	check.watcher = &here;
	dwp_abi_work(DWP_ABI_WORK_CHECK);
	check.watcher = NULL;
	dwp_abi_remove_callback(handles[1]);
	dwp_abi_remove_callback(handles[0]);
	dwp_abi_work_end();
}

#ifdef DWP_ABI_BREAK
static uint64_t check_add_nothing(struct torch_callback callback)
{
	return 0;
}

static void check_remove_nothing(uint64_t handle)
{
}

/* For tests: makes offsets wrong, as they are for a PyTorch that has moved the fields. */
static void check_break(void)
{
	struct dwp_abi_layout *layout = &dwp_abi_layout;

	if (dwp_abi_breaks(DWP_ABI_OPERATORS)) {
		dwp_abi_functions.add = check_add_nothing;
		dwp_abi_functions.remove = check_remove_nothing;
	}
	layout->schema -= dwp_abi_breaks(DWP_ABI_NAMES) ? 8 : 0;
	layout->sequence += dwp_abi_breaks(DWP_ABI_SEQUENCES) ? 8 : 0;
	layout->forward_thread -= dwp_abi_breaks(DWP_ABI_THREADS) ? 8 : 0;
	layout->sizes += dwp_abi_breaks(DWP_ABI_SHAPES) ? 8 : 0;
	layout->items += dwp_abi_breaks(DWP_ABI_INTEGERS) ? 8 : 0;
	layout->elements += dwp_abi_breaks(DWP_ABI_ELEMENTS) ? 8 : 0;
}
#else
static void check_break(void)
{
}
#endif

void dwp_abi_check(void)
{
	struct dwp_abi_layout *layout = &dwp_abi_layout;
	bool right[DWP_ABI_QUESTIONS] = { false };

	check_break();
	check_run();
	right[DWP_ABI_OPERATORS] = check.begins == 1 && check.ends == 1 && check.backwards == 1;
	right[DWP_ABI_NAMES] = layout->schema && check.short_names == 1 && check.long_names && check.own_names == 1;
	right[DWP_ABI_SEQUENCES] = layout->sequence && check.sequences == 2 && check.made == 1;
	right[DWP_ABI_THREADS] = layout->forward_thread && check.links == 1;
	right[DWP_ABI_SHAPES] = layout->inputs && check.plain && check.deep && check.mixed;
	right[DWP_ABI_INTEGERS] = !right[DWP_ABI_SHAPES] || (check.integers && check.lists);
	right[DWP_ABI_ELEMENTS] = !right[DWP_ABI_SHAPES] || (check.elements && check.empties);
	if (!right[DWP_ABI_OPERATORS]) {
		dwp_abi_functions.add = NULL;
		dwp_abi_lacks(DWP_ABI_OPERATORS);
		return;
	}
	if (!right[DWP_ABI_NAMES])
		layout->schema = 0;
	if (!right[DWP_ABI_SEQUENCES])
		layout->sequence = 0;
	if (!right[DWP_ABI_THREADS])
		layout->forward_thread = 0;
	if (!right[DWP_ABI_SHAPES])
		layout->inputs = 0;
	if (!right[DWP_ABI_INTEGERS])
		layout->list = 0;
	if (!right[DWP_ABI_ELEMENTS])
		layout->elements = 0;
	for (enum dwp_abi_question i = DWP_ABI_NAMES; i <= DWP_ABI_ELEMENTS; i++)
		if (!right[i])
			dwp_abi_lacks(i);
}
