/*
 * Finds the offsets of fields inside this PyTorch's objects.
 *
 * Called once, when PyTorch is attached. PyTorch has no functions that return a few fields of
 * RecordFunction and of TensorImpl, and the offsets of these fields differ between versions. So
 * they are searched for. A callback watches operators on tensors whose sizes, types and sequence
 * numbers are known. An offset is used only if it holds the right value each time, and if no other
 * offset does. An offset that is not found stays 0, and the field is not recorded: a wrong shape is
 * worse than none. In an unknown PyTorch a supposed pointer may be any value. So the search reads
 * memory through the kernel, which refuses addresses that are not mapped.
 */
#include "private.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include <dlfcn.h>

struct dwp_abi_layout dwp_abi_layout;

/* Shapes and types that no other words of an object are likely to equal. */
static const struct {
	int64_t sizes[3];
	uint16_t dtype;
} probes[] = {
	{ { 3, 57, 2 }, DWELL_INT16 },
	{ { 41, 1, 6 }, DWELL_FLOAT64 },
	{ { 2, 29, 5 }, DWELL_COMPLEX128 },
};
#define PROBES 3

/* What the callback looks for. Only the thread `watcher` writes and reads it. */
static struct {
	const void *watcher; /* the thread that searches: its address of `here` */
	unsigned probe;
	bool backward;
	uint64_t sequence;
	/* candidates: a bit for each offset, in steps of 8 bytes, or of 2 bytes for dtypes */
	uint64_t sizes, sequences, threads, schemas;
	uint64_t dtypes;
	uint64_t items;
	const char *tensor;            /* of aten::all */
	uint32_t integer, truth, list; /* kinds of IValue; 0: not seen */
	bool seen_sizes, seen_forward, seen_backward;
} search;

#define FIRST_SIZES 40u
#define FIRST_DTYPE 88u     /* from the offset of the sizes on */
#define FIRST_SEQUENCE 120u
#define FIRST_THREAD 216u
#define INPUTS (176u + dwp_abi_layout.string_bytes)
#define SCHEMAS 44u         /* number of words from the beginning on that are candidates */

static __thread char here;

/* ---- reading memory that may not be mapped ---------------------------------------------- */

static ssize_t layout_read_own_file(void *to, const void *from, size_t bytes)
{
	int fd = open("/proc/self/mem", O_RDONLY | O_CLOEXEC);
	ssize_t got = fd < 0 ? -1 : pread(fd, to, bytes, (off_t)(uintptr_t)from);

	if (fd >= 0)
		close(fd);
	return got;
}

size_t dwp_abi_read(void *to, const void *from, size_t bytes)
{
	struct iovec here_part = { to, bytes }, there_part = { (void *)(uintptr_t)from, bytes };
	int saved = errno;
	ssize_t got;

	memset(to, 0, bytes);
	got = process_vm_readv(getpid(), &here_part, 1, &there_part, 1, 0);
	/* Some sandboxes refuse this system call. It may also stop between two mappings. */
	if (got < (ssize_t)bytes)
		got = layout_read_own_file(to, from, bytes);
	errno = saved;
	return got < 0 ? 0 : (size_t)got;
}

/* ---- the callback --------------------------------------------------------------------- */

/* Bytes of an object that the search copies and looks at. */
#define OBJECT 512u

static void layout_watch_tensor(const char *tensor)
{
	const int64_t *sizes = probes[search.probe].sizes;
	char object[OBJECT];
	uint64_t found = 0;

	if (!dwp_abi_read(object, tensor, sizeof object))
		return;
	for (unsigned i = 0; i < 12; i++) {
		const char *at = object + FIRST_SIZES + i * 8;

		if (ABI_WORD(at, 0) == 3 && memcmp(at + 8, sizes, sizeof probes[0].sizes) == 0)
			found |= 1ull << i;
	}
	search.sizes &= found;
	search.seen_sizes = true;
	if (!search.sizes)
		return;
	const char *behind = object + FIRST_SIZES + __builtin_ctzll(search.sizes) * 8 + FIRST_DTYPE;
	for (unsigned i = 0; i < 20; i++)
		if (*(const uint16_t *)(const void *)(behind + i * 2) != probes[search.probe].dtype)
			search.dtypes &= ~(1ull << i);
}

/* Looks at the operator's list of inputs, which has one tensor. `function` is a copy of the
 * RecordFunction. */
static void layout_watch_inputs(const char *function)
{
	char value[16];

	if (ABI_WORD(function, INPUTS + 8) == 1 &&
	    dwp_abi_read(value, ABI_POINTER(function, INPUTS), sizeof value) == sizeof value &&
	    *(const uint32_t *)(const void *)(value + 8) == 1)
		layout_watch_tensor(ABI_POINTER(value, 0));
}

/* The inputs of aten::all: a tensor, an integer and a truth value. */
static void layout_watch_all(const char *function)
{
	char values[3 * 16];

	if (ABI_WORD(function, INPUTS + 8) != 3 ||
	    dwp_abi_read(values, ABI_POINTER(function, INPUTS), sizeof values) != sizeof values ||
	    ABI_WORD(values, 16) != DWP_ABI_ALL_AXIS || values[32] != 1)
		return;
	search.tensor = ABI_POINTER(values, 0);
	memcpy(&search.integer, values + 24, sizeof search.integer);
	memcpy(&search.truth, values + 40, sizeof search.truth);
}

/* Whether the list's items are there, a std::vector of IValue. */
static bool layout_is_items(const char *at)
{
	static const int64_t axes[] = DWP_ABI_FLIP_AXES;
	char items[sizeof axes / sizeof *axes * 16];
	const char *first = ABI_POINTER(at, 0);

	if (ABI_WORD(at, 8) - ABI_WORD(at, 0) != sizeof items || dwp_abi_read(items, first, sizeof items) != sizeof items)
		return false;
	for (size_t i = 0; i < sizeof axes / sizeof *axes; i++)
		if (ABI_WORD(items, i * 16) != (uint64_t)axes[i] || memcmp(items + i * 16 + 8, &search.integer, 4) != 0)
			return false;
	return true;
}

/* The inputs of aten::flip: a tensor and a list of integers. */
static void layout_watch_flip(const char *function)
{
	char values[2 * 16], list[96];

	if (ABI_WORD(function, INPUTS + 8) != 2 ||
	    dwp_abi_read(values, ABI_POINTER(function, INPUTS), sizeof values) != sizeof values ||
	    dwp_abi_read(list, ABI_POINTER(values, 16), sizeof list) != sizeof list)
		return;
	memcpy(&search.list, values + 24, sizeof search.list);
	for (unsigned i = 0; i < 8; i++)
		if (layout_is_items(list + i * 8))
			search.items |= 1ull << i;
}

static void layout_watch_words(const char *function, unsigned first, uint64_t wanted, uint64_t *found)
{
	for (unsigned i = 0; i < 20; i++)
		if (ABI_WORD(function, first + i * 8) != wanted)
			*found &= ~(1ull << i);
}

/* Whether an operator's schema is there. It begins with its name, a std::string. This name is so short that its text
 * lies in the string itself, 16 bytes behind a pointer and a length; a std::string of the older kind has it elsewhere.
 */
static bool layout_is_schema(const char *schema, const char *name)
{
	const char *text;

	if (dwp_abi_layout.string_bytes > 8)
		return schema == name - 16;
	return dwp_abi_read(&text, schema, sizeof text) == sizeof text && text == name;
}

/* Keeps the candidates that point to the operator's schema. */
static void layout_watch_schema(const char *function, const char *name)
{
	for (unsigned i = 0; i < SCHEMAS; i++)
		if (!ABI_HAS_SCHEMA(function, i * 8) || !layout_is_schema(ABI_POINTER(function, i * 8), name))
			search.schemas &= ~(1ull << i);
}

/* Removes the candidates that look like a schema here: an operator with a name of its own has
 * none. */
static void layout_watch_name(const char *function)
{
	for (unsigned i = 0; i < SCHEMAS; i++)
		if (ABI_HAS_SCHEMA(function, i * 8))
			search.schemas &= ~(1ull << i);
}

TORCH_START(layout_on_start, layout_watch)

static void layout_watch(const char *function)
{
	char object[OBJECT];

	if (search.watcher != &here)
		return;
	const char *name = dwp_abi_name(function);
	if (!dwp_abi_read(object, function, sizeof object))
		return;
	if (strcmp(name, "aten::neg") == 0 && !search.backward) {
		layout_watch_inputs(object);
	} else if (strcmp(name, "aten::all") == 0) {
		layout_watch_all(object);
	} else if (strcmp(name, "aten::flip") == 0) {
		layout_watch_flip(object);
	} else if (strcmp(name, "aten::exp") == 0) {
		search.sequence = dwp_abi_functions.next_sequence();
		layout_watch_words(object, FIRST_SEQUENCE, search.sequence, &search.sequences);
		/* An operator that is no backward has no forward thread. */
		layout_watch_words(object, FIRST_THREAD, 0, &search.threads);
		layout_watch_schema(object, name);
		search.seen_forward = true;
	} else if (strcmp(name, "ExpBackward0") == 0 && search.backward) {
		uint64_t number = ABI_WORD(object, ABI_THIS_THREAD);

		layout_watch_words(object, FIRST_SEQUENCE, search.sequence, &search.sequences);
		if (number)
			layout_watch_words(object, FIRST_THREAD, number, &search.threads);
		else
			search.threads = 0;
		layout_watch_name(object);
		search.seen_backward = true;
	}
}

static void layout_on_end(const char *function, void *context)
{
}

/* ---- the search ------------------------------------------------------------------------- */

static uint32_t layout_take_only(uint64_t candidates, bool seen, uint32_t first, uint32_t width)
{
	return seen && candidates && !(candidates & (candidates - 1))
	           ? first + (uint32_t)__builtin_ctzll(candidates) * width : 0;
}

static void layout_search_shapes(void)
{
	search.sizes = ~0ull;
	search.dtypes = ~0ull >> 44;
	for (search.probe = 0; search.probe < PROBES; search.probe++) {
		search.seen_sizes = false;
		if (!dwp_abi_make_tensor(probes[search.probe].sizes, probes[search.probe].dtype))
			return;
		search.watcher = &here;
		dwp_abi_work(DWP_ABI_WORK_NEG);
		search.watcher = NULL;
	}
}

/* Finds the place of a tensor's elements: a word of its storage, to which a word before the sizes leads. There are two
 * words before either of them, or three. */
static void layout_search_elements(const char *tensor, uintptr_t elements)
{
	struct dwp_abi_layout *layout = &dwp_abi_layout;
	char object[64], storage[64];

	if (!elements || dwp_abi_read(object, tensor, sizeof object) != sizeof object)
		return;
	for (uint32_t i = 16; i <= 24; i += 8) {
		if (dwp_abi_read(storage, ABI_POINTER(object, i), sizeof storage) != sizeof storage)
			continue;
		for (uint32_t j = 16; j <= 24; j += 8)
			if (ABI_WORD(storage, j) == elements) {
				layout->storage = i;
				layout->elements = j;
			}
	}
}

static void layout_search_arguments(void)
{
	static const int64_t sizes[] = { 5, 1, 3 };

	if (!dwp_abi_make_tensor(sizes, DWELL_FLOAT64))
		return;
	search.watcher = &here;
	dwp_abi_work(DWP_ABI_WORK_INTEGERS);
	search.watcher = NULL;
	if (search.tensor)
		layout_search_elements(search.tensor, dwp_abi_tensor_elements());
}

static void layout_search_links(void)
{
	search.sequences = search.threads = ~0ull >> 44;
	search.schemas = ~0ull >> (64 - SCHEMAS);
	/* Raises the sequence number first: a number near 0 would be found at many offsets. */
	if (!dwp_abi_work(DWP_ABI_WORK_RAISE))
		return;
	search.watcher = &here;
	dwp_abi_work(DWP_ABI_WORK_EXP);
	search.backward = true;
	dwp_abi_work(DWP_ABI_WORK_BACKWARD);
	search.watcher = NULL;
}

/* Runs the operators of the search and watches them. Only the main thread's operators are watched;
 * nothing else of the program has run yet. */
static void layout_search(void)
{
	uint64_t handle;

	if (!dwp_abi_work_begin())
		return;
	handle = dwp_abi_add_callback((torch_start *)layout_on_start, layout_on_end, TORCH_ALL_SCOPES, true);
	layout_search_shapes();
	layout_search_arguments();
	layout_search_links();
	dwp_abi_remove_callback(handle);
	dwp_abi_work_end();
}

/* What an object of a class begins with: the table of its functions lies behind two words. */
static const void *layout_find_vtable(void *library, const char *symbol)
{
	const char *table = dlsym(library, symbol);

	return table ? table + 2 * sizeof(void *) : NULL;
}

void dwp_abi_find_layout(void *library)
{
	struct dwp_abi_layout *layout = &dwp_abi_layout;
	bool seen;

	layout->string_bytes = dlsym(library, "_ZNK5torch2nn6Module4nameEv") ? 8 : 32;
	layout->undefined_tensor =
	    dlsym(RTLD_DEFAULT, "_ZN3c1019UndefinedTensorImpl10_singletonE");
	if (!layout->undefined_tensor)
		layout->undefined_tensor = dlsym(library, "_ZN3c1019UndefinedTensorImpl10_singletonE");
	layout_search();
	seen = search.seen_forward && search.seen_backward;
	layout->sizes = layout_take_only(search.sizes, search.seen_sizes, FIRST_SIZES, 8);
	layout->dtype = layout_take_only(search.dtypes, layout->sizes, layout->sizes + FIRST_DTYPE, 2);
	layout->inputs = layout->sizes && layout->dtype && layout->undefined_tensor ? INPUTS : 0;
	layout->integer = search.integer;
	layout->truth = search.truth;
	layout->items = layout_take_only(search.items, layout->inputs && search.integer != search.truth, 0, 8);
	layout->list = layout->items ? search.list : 0;
	layout->nested = layout_find_vtable(library, "_ZTVN2at6native16NestedTensorImplE");
	layout->sequence = layout_take_only(search.sequences, seen, FIRST_SEQUENCE, 8);
	layout->schema = layout_take_only(search.schemas, seen, 0, 8);
	layout->forward_thread = layout_take_only(search.threads, search.seen_backward, FIRST_THREAD, 8);
}
