/*
 * The records of rocprofv3's JSON as events; see rocprof.h.
 *
 * Called by chrome_file.c, which owns the window. Names come before records: "strings" has the names of calls by the
 * numbers of their kind and operation, and what a program said to roctx, by correlation id; "kernel_symbols" has the
 * names of kernels.
 */
#include "import/rocprof.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "import/rows.h"

#define MOST_AGENTS 256u
#define LONGEST_NAME 200u /* of an agent */
#define MOST_NAMES ((size_t)1 << 20)
#define DEEPEST 4u /* objects within a record that are looked into */
#define TYPE_CPU 1u
#define TYPE_GPU 2u

/* ---- records ------------------------------------------------------------------------------- */

/* X(NAME, the object around it, its key): numbers of a record, an agent or a kernel. */
#define ROCPROF_NUMBERS(X)                                                                     \
	X(START, "", "start_timestamp") X(END, "", "end_timestamp") X(THREAD, "", "thread_id")     \
	X(KIND, "", "kind") X(OPERATION, "", "operation") X(BYTES, "", "bytes")                    \
	X(CORRELATION, "correlation_id", "internal") X(STREAM, "stream_id", "handle")              \
	X(FROM, "src_agent_id", "handle") X(TO, "dst_agent_id", "handle")                          \
	X(AGENT, "agent_id", "handle") X(QUEUE, "queue_id", "handle") X(KERNEL, "", "kernel_id")   \
	X(SHARED, "", "group_segment_size") X(PRIVATE, "", "private_segment_size")                 \
	X(BLOCK_X, "workgroup_size", "x") X(BLOCK_Y, "workgroup_size", "y")                        \
	X(BLOCK_Z, "workgroup_size", "z") X(GRID_X, "grid_size", "x") X(GRID_Y, "grid_size", "y")  \
	X(GRID_Z, "grid_size", "z") X(HANDLE, "id", "handle") X(TYPE, "", "type")                  \
	X(UNITS, "", "cu_count") X(VECTORS, "", "arch_vgpr_count")                                 \
	X(ACCUMULATORS, "", "accum_vgpr_count") X(PID, "", "pid") X(KEY, "", "key")
/* X(NAME, key): texts. */
#define ROCPROF_TEXTS(X)                                                                       \
	X(FORMATTED, "formatted_kernel_name") X(KERNEL_NAME, "kernel_name")                        \
	X(PRODUCT, "product_name") X(AGENT_NAME, "name") X(VALUE, "value")

enum rocprof_number {
#define X(name, parent, key) ROCPROF_##name,
	ROCPROF_NUMBERS(X)
#undef X
	ROCPROF_NUMBER_COUNT
};
enum rocprof_text {
#define X(name, key) ROCPROF_##name,
	ROCPROF_TEXTS(X)
#undef X
	ROCPROF_TEXT_COUNT
};

struct rocprof_record {
	uint32_t has; /* bits: 1 << enum rocprof_number */
	bool wrong;   /* a number is negative or a fraction */
	uint64_t numbers[ROCPROF_NUMBER_COUNT];
	struct dw_json_string texts[ROCPROF_TEXT_COUNT];
};

struct rocprof_agent {
	uint64_t handle;
	uint32_t type, number, units; /* number: of a GPU, in the order of the file */
	uint32_t name;                /* text index + 1; 0: none */
};

/* A text by a number: a kernel, a call (kind << 32 | operation), a message to roctx. */
struct rocprof_name {
	uint64_t key;
	uint32_t text, registers; /* text index + 1 */
};

struct rocprof_names {
	struct rocprof_name *list;
	size_t count, capacity;
	struct dw_map by_key;
};

struct rocprof {
	struct chrome *chrome;
	uint64_t pid;
	struct rocprof_agent agents[MOST_AGENTS];
	unsigned agent_count, devices;
	struct rocprof_names kernels, calls, messages;
	struct dw_launch_shape shape;
	struct chrome_event event;
	char text[64];
};

static inline bool rocprof_has(const struct rocprof_record *record, enum rocprof_number number)
{
	return record->has >> number & 1;
}

static bool rocprof_is(const struct dw_json_string *string, const char *text)
{
	return dw_json_is(string, text, strlen(text));
}

static void rocprof_set_number(struct rocprof_record *record, const struct dw_json_string *parent,
                               const struct dw_json_string *key, const struct dw_json_number *number)
{
	static const struct {
		const char *parent, *key;
	} words[] = {
#define X(name, parent, key) { parent, key },
		ROCPROF_NUMBERS(X)
#undef X
	};

	for (unsigned i = 0; i < ROCPROF_NUMBER_COUNT; i++)
		if (rocprof_is(key, words[i].key) && rocprof_is(parent, words[i].parent)) {
			bool good = dw_json_u64(number, &record->numbers[i]);

			record->has |= good ? 1u << i : 0;
			record->wrong |= !good;
			return;
		}
}

static void rocprof_set_text(struct rocprof_record *record, const struct dw_json_string *key,
                             const struct dw_json_string *text)
{
	static const char *const words[] = {
#define X(name, key) key,
		ROCPROF_TEXTS(X)
#undef X
	};

	for (unsigned i = 0; i < ROCPROF_TEXT_COUNT; i++)
		if (rocprof_is(key, words[i]))
			record->texts[i] = *text;
}

/* Reads the members of the object at `at`, and of the objects in it. Returns the place behind it; NULL: it is no JSON.
 */
static const char *rocprof_read_object(struct rocprof_record *record, struct dw_json *json, const char *at,
                                       struct dw_json_string parent, unsigned depth)
{
	for (at = dw_json_space(at + 1); *at == '"';) {
		struct dw_json_string key, text;
		struct dw_json_number number;

		at = dw_json_read_string(json, at, &key);
		at = at ? dw_json_space(at) : NULL;
		if (!at || *at != ':')
			return at ? dw_json_fail(json, at) : NULL;
		at = dw_json_space(at + 1);
		if (*at == '{' && depth < DEEPEST) {
			at = rocprof_read_object(record, json, at, DW_JSON_IS(&key, "dispatch_info") ? parent : key, depth + 1);
		} else if (*at == '"') {
			at = dw_json_read_string(json, at, &text);
			if (at && !depth)
				rocprof_set_text(record, &key, &text);
		} else if (*at == '-' || (*at >= '0' && *at <= '9')) {
			at = dw_json_read_number(json, at, &number);
			if (at)
				rocprof_set_number(record, &parent, &key, &number);
		} else {
			at = dw_json_skip(json, at);
		}
		at = at ? dw_json_space(at) : NULL;
		if (!at)
			return NULL;
		if (*at == ',')
			at = dw_json_space(at + 1);
	}
	return *at == '}' ? at + 1 : dw_json_fail(json, at);
}

/* ---- names --------------------------------------------------------------------------------- */

static uint32_t rocprof_hash(const struct rocprof *rocprof, uint64_t key)
{
	return (uint32_t)chrome_hash(rocprof->chrome->names.seed, &key, sizeof key);
}

static struct rocprof_name *rocprof_find_name(const struct rocprof *rocprof, const struct rocprof_names *names,
                                              uint64_t key)
{
	uint32_t found = DW_MAP_FIND(&names->by_key, rocprof_hash(rocprof, key), i, names->list[i].key == key);

	return found == DW_MAP_NONE ? NULL : &names->list[found];
}

static void rocprof_add_name(struct rocprof *rocprof, struct rocprof_names *names, uint64_t key,
                             const struct dw_json_string *text, uint32_t registers)
{
	struct rocprof_name *name = rocprof_find_name(rocprof, names, key);

	if (!text->length || names->count >= MOST_NAMES)
		return;
	if (!name) {
		name = DW_GROW(&names->list, &names->capacity, names->count);
		if (!name || !dw_map_add(&names->by_key, rocprof_hash(rocprof, key), (uint32_t)names->count)) {
			rocprof->chrome->failed = true;
			return;
		}
		names->count++;
	}
	*name = (struct rocprof_name){ key, chrome_text_of(rocprof->chrome, text), registers };
}

/* The name of `key`, or else "WHAT NUMBER". */
static struct dw_json_string rocprof_name(struct rocprof *rocprof, const struct rocprof_names *names, uint64_t key,
                                          const char *what, uint64_t number)
{
	const struct rocprof_name *name = rocprof_find_name(rocprof, names, key);
	const struct chrome_text *text = name && name->text ? &rocprof->chrome->names.texts[name->text - 1] : NULL;

	if (text)
		return (struct dw_json_string){ text->bytes, text->length, memchr(text->bytes, '\\', text->length) != NULL };
	chrome_count(rocprof->chrome, &rocprof->chrome->nameless);
	snprintf(rocprof->text, sizeof rocprof->text, "%s %llu", what, (unsigned long long)number);
	return (struct dw_json_string){ rocprof->text, (uint32_t)strlen(rocprof->text), false };
}

/* ---- agents -------------------------------------------------------------------------------- */

static const struct rocprof_agent *rocprof_find_agent(const struct rocprof *rocprof, uint64_t handle)
{
	for (unsigned i = 0; i < rocprof->agent_count; i++)
		if (rocprof->agents[i].handle == handle)
			return &rocprof->agents[i];
	return NULL;
}

static void rocprof_add_agent(struct rocprof *rocprof, const struct rocprof_record *record)
{
	const struct dw_json_string *name =
		&record->texts[record->texts[ROCPROF_PRODUCT].length ? ROCPROF_PRODUCT : ROCPROF_AGENT_NAME];

	if (rocprof->agent_count == MOST_AGENTS || !rocprof_has(record, ROCPROF_HANDLE))
		return;
	rocprof->agents[rocprof->agent_count++] = (struct rocprof_agent){
		.handle = record->numbers[ROCPROF_HANDLE],
		.type = (uint32_t)record->numbers[ROCPROF_TYPE],
		.number = record->numbers[ROCPROF_TYPE] == TYPE_GPU ? rocprof->devices++ : 0,
		.units = (uint32_t)record->numbers[ROCPROF_UNITS],
		.name = chrome_text_of(rocprof->chrome, name),
	};
}

/* Describes the GPUs as Kineto does. */
static void rocprof_put_properties(struct rocprof *rocprof)
{
	struct chrome *chrome = rocprof->chrome;
	size_t size = (size_t)rocprof->agent_count * (LONGEST_NAME + 80) + 3, used = 1;
	char *all = dw_arena_alloc(&chrome->names.arena, size);

	chrome->failed |= !all;
	for (unsigned i = 0; i < rocprof->agent_count && all; i++) {
		const struct rocprof_agent *agent = &rocprof->agents[i];
		const struct chrome_text *name = agent->name ? &chrome->names.texts[agent->name - 1] : NULL;
		bool named = name && name->length <= LONGEST_NAME;

		if (agent->type == TYPE_GPU)
			used += (size_t)snprintf(all + used, size - used, "%s{\"id\":%u,\"name\":\"%.*s\",\"numSms\":%u}",
			                         used > 1 ? "," : "", agent->number, named ? (int)name->length : 0,
			                         named ? name->bytes : "", agent->units);
	}
	if (!all)
		return;
	all[0] = '[';
	memcpy(all + used, "]", 2);
	chrome->devices.properties = all;
	chrome->devices.properties_length = used + 1;
}

/* ---- from records to events ---------------------------------------------------------------- */

static void rocprof_set_device(struct rocprof *rocprof, const struct rocprof_record *record, uint64_t agent)
{
	const struct rocprof_agent *found = rocprof_find_agent(rocprof, agent);
	struct chrome_event *event = &rocprof->event;

	rows_set(event, CHROME_DEVICE, found ? found->number : 0);
	if (rocprof_has(record, ROCPROF_STREAM))
		rows_set(event, CHROME_STREAM, (int64_t)(record->numbers[ROCPROF_STREAM] & INT64_MAX));
	else if (rocprof_has(record, ROCPROF_QUEUE))
		rows_set(event, CHROME_STREAM, (int64_t)(record->numbers[ROCPROF_QUEUE] & INT64_MAX));
}

static uint32_t rocprof_small(uint64_t number)
{
	return number < UINT32_MAX ? (uint32_t)number : UINT32_MAX;
}

/* ROCm's grid is in work-items; that of CUDA and HIP in blocks. */
static void rocprof_take_kernel(struct rocprof *rocprof, const struct rocprof_record *record)
{
	uint64_t id = record->numbers[ROCPROF_KERNEL];
	const struct rocprof_name *kernel = rocprof_find_name(rocprof, &rocprof->kernels, id);
	struct dw_launch_shape *shape = &rocprof->shape;
	bool whole = true;

	rocprof->event.name = rocprof_name(rocprof, &rocprof->kernels, id, "kernel", id);
	rocprof_set_device(rocprof, record, record->numbers[ROCPROF_AGENT]);
	*shape = (struct dw_launch_shape){ .registers = kernel ? kernel->registers : 0,
		                               .dynamic_shared_bytes = rocprof_small(record->numbers[ROCPROF_SHARED]),
		                               .local_bytes = rocprof_small(record->numbers[ROCPROF_PRIVATE]) };
	for (unsigned i = 0; i < 3; i++) {
		uint64_t block = record->numbers[ROCPROF_BLOCK_X + i], grid = record->numbers[ROCPROF_GRID_X + i];

		whole &= block && grid;
		shape->block[i] = rocprof_small(block);
		shape->grid[i] = block ? rocprof_small(grid / block + (grid % block != 0)) : 0;
	}
	rocprof->event.shape = whole ? shape : NULL;
	chrome_take_event(rocprof->chrome, &rocprof->event);
}

static void rocprof_take_copy(struct rocprof *rocprof, const struct rocprof_record *record)
{
	const struct rocprof_agent *from = rocprof_find_agent(rocprof, record->numbers[ROCPROF_FROM]);
	const struct rocprof_agent *to = rocprof_find_agent(rocprof, record->numbers[ROCPROF_TO]);
	bool from_host = from && from->type == TYPE_CPU, to_host = to && to->type == TYPE_CPU;

	snprintf(rocprof->text, sizeof rocprof->text, "Memcpy %s (%s -> %s)",
	         !from || !to                           ? "Unknown"
	         : !from_host && !to_host && from != to ? "PtoP"
	         : from_host                            ? to_host ? "HtoH" : "HtoD"
	         : to_host                              ? "DtoH"
	                                                : "DtoD",
	         !from       ? "Unknown"
	         : from_host ? "Host"
	                     : "Device",
	         !to       ? "Unknown"
	         : to_host ? "Host"
	                   : "Device");
	rocprof->event.name = (struct dw_json_string){ rocprof->text, (uint32_t)strlen(rocprof->text), false };
	rocprof_set_device(rocprof, record, to_host && from ? from->handle : to ? to->handle : 0);
	if (rocprof_has(record, ROCPROF_BYTES))
		rows_set(&rocprof->event, CHROME_BYTES, (int64_t)(record->numbers[ROCPROF_BYTES] & INT64_MAX));
	chrome_take_event(rocprof->chrome, &rocprof->event);
}

/* A call of the runtime, or what a program said to roctx, whose text is kept by the correlation id. */
static void rocprof_take_call(struct rocprof *rocprof, const struct rocprof_record *record)
{
	uint64_t key = record->numbers[ROCPROF_KIND] << 32 | (uint32_t)record->numbers[ROCPROF_OPERATION];
	uint64_t correlation = record->numbers[ROCPROF_CORRELATION];
	struct chrome_event *event = &rocprof->event;

	event->name = rocprof_name(rocprof, &rocprof->calls, key, "call", record->numbers[ROCPROF_OPERATION]);
	if (event->category == CHROME_IS_ANNOTATION) {
		static const char mark[] = "roctxMark";

		if (event->name.length > strlen(mark) && memcmp(event->name.at, mark, strlen(mark)) == 0)
			event->phase = 'i';
		if (rocprof_find_name(rocprof, &rocprof->messages, correlation))
			event->name = rocprof_name(rocprof, &rocprof->messages, correlation, "range", correlation);
		if (event->phase == 'X')
			rows_set_annotation(rocprof->chrome, event, event->name, rocprof->text, sizeof rocprof->text);
	}
	chrome_take_event(rocprof->chrome, event);
}

static void rocprof_take_record(struct rocprof *rocprof, const struct rocprof_record *record,
                                enum chrome_category category)
{
	struct chrome_event *event = &rocprof->event;
	uint64_t start = record->numbers[ROCPROF_START], end = record->numbers[ROCPROF_END];

	memset(event, 0, offsetof(struct chrome_event, values));
	event->cat.at = event->name.at = event->args.at = "";
	event->phase = 'X';
	event->category = category;
	event->wrong_type = record->wrong;
	event->pid = rows_id((int64_t)(rocprof->pid & INT64_MAX));
	event->tid = rows_id((int64_t)(record->numbers[ROCPROF_THREAD] & INT64_MAX));
	event->has_start = rocprof_has(record, ROCPROF_START) && start <= INT64_MAX;
	event->has_length = rocprof_has(record, ROCPROF_END) && end <= INT64_MAX && event->has_start;
	event->start_ns = (int64_t)(start & INT64_MAX);
	event->length_ns = event->has_length ? (int64_t)(end - start) : 0;
	chrome_limit_times(event);
	if (rocprof_has(record, ROCPROF_CORRELATION))
		rows_set(event, CHROME_CORRELATION, (int64_t)(record->numbers[ROCPROF_CORRELATION] & INT64_MAX));
	if (category == CHROME_IS_KERNEL)
		rocprof_take_kernel(rocprof, record);
	else if (category == CHROME_IS_COPY)
		rocprof_take_copy(rocprof, record);
	else
		rocprof_take_call(rocprof, record);
}

/* ---- the file ------------------------------------------------------------------------------ */

/* Reads the object at the start of the window. Returns the place behind it; its texts are valid until this is consumed.
 * NULL: it is no object. */
static const char *rocprof_read_record(struct chrome *chrome, struct rocprof_record *record)
{
	const char *end = chrome_peek(chrome) == '{' ? chrome_parse_value(chrome) : NULL;

	memset(record, 0, sizeof *record);
	for (unsigned i = 0; i < ROCPROF_TEXT_COUNT; i++)
		record->texts[i].at = "";
	if (!end ||
	    !rocprof_read_object(record, &chrome->json, chrome->input.at, (struct dw_json_string){ "", 0, false }, 0))
		return NULL;
	return end;
}

/* Calls `take` for each object of the list at the start of the window; other values are skipped. */
static bool rocprof_read_list(struct rocprof *rocprof, unsigned what,
                              void (*take)(struct rocprof *rocprof, const struct rocprof_record *record, unsigned what))
{
	struct chrome *chrome = rocprof->chrome;
	struct rocprof_record record;
	uint64_t skipped = 0;
	const char *end;

	if (!chrome_take(chrome, '['))
		return chrome_skip(chrome, 3, &skipped);
	while (!chrome_take(chrome, ']')) {
		if (chrome_take(chrome, ','))
			continue;
		if (chrome->failed || chrome->sort.failed || chrome->encode.failed)
			return false;
		end = rocprof_read_record(chrome, &record);
		if (!end)
			return false;
		take(rocprof, &record, what);
		chrome_consume(chrome, end);
	}
	return true;
}

static void rocprof_take_agent(struct rocprof *rocprof, const struct rocprof_record *record, unsigned what)
{
	rocprof_add_agent(rocprof, record);
}

static void rocprof_take_symbol(struct rocprof *rocprof, const struct rocprof_record *record, unsigned what)
{
	const struct dw_json_string *name =
		&record->texts[record->texts[ROCPROF_FORMATTED].length ? ROCPROF_FORMATTED : ROCPROF_KERNEL_NAME];

	rocprof_add_name(rocprof, &rocprof->kernels, record->numbers[ROCPROF_KERNEL], name,
	                 rocprof_small(record->numbers[ROCPROF_VECTORS] + record->numbers[ROCPROF_ACCUMULATORS]));
}

static void rocprof_take_message(struct rocprof *rocprof, const struct rocprof_record *record, unsigned what)
{
	rocprof_add_name(rocprof, &rocprof->messages, record->numbers[ROCPROF_KEY], &record->texts[ROCPROF_VALUE], 0);
}

static void rocprof_take_event(struct rocprof *rocprof, const struct rocprof_record *record, unsigned what)
{
	rocprof_take_record(rocprof, record, (enum chrome_category)what);
}

/* The names of the operations of a kind, whose bracket was taken. */
static bool rocprof_read_names(struct rocprof *rocprof, uint64_t kind)
{
	struct chrome *chrome = rocprof->chrome;
	struct dw_json_string name;
	uint64_t skipped = 0;

	for (uint64_t operation = 0; !chrome_take(chrome, ']'); operation++) {
		const char *end;

		chrome_take(chrome, ',');
		if (chrome_peek(chrome) != '"') {
			if (!chrome_skip(chrome, 1, &skipped))
				return false;
			continue;
		}
		end = chrome_parse_value(chrome);
		if (!end || !dw_json_read_string(&chrome->json, chrome->input.at, &name))
			return false;
		rocprof_add_name(rocprof, &rocprof->calls, kind << 32 | operation, &name, 0);
		chrome_consume(chrome, end);
	}
	return true;
}

/* The names of operations: a list of kinds, each with a list of names. */
static bool rocprof_read_operations(struct rocprof *rocprof)
{
	struct chrome *chrome = rocprof->chrome;
	uint64_t skipped = 0;
	char key[CHROME_KEY];
	bool ended;

	if (!chrome_take(chrome, '['))
		return chrome_skip(chrome, 3, &skipped);
	for (uint64_t kind = 0; !chrome_take(chrome, ']'); kind++) {
		chrome_take(chrome, ',');
		if (!chrome_take(chrome, '{'))
			return false;
		while (chrome_next_member(chrome, key, &ended)) {
			bool names = strcmp(key, "operations") == 0 && chrome_take(chrome, '[');

			if (!(names ? rocprof_read_names(rocprof, kind) : chrome_skip(chrome, 3, &skipped)))
				return false;
		}
		if (!ended)
			return false;
	}
	return true;
}

static bool rocprof_read_strings(struct rocprof *rocprof, const char *key)
{
	uint64_t skipped = 0;

	if (strcmp(key, "buffer_records") == 0)
		return rocprof_read_operations(rocprof);
	if (strcmp(key, "marker_api") == 0)
		return rocprof_read_list(rocprof, 0, rocprof_take_message);
	return chrome_skip(rocprof->chrome, 3, &skipped);
}

static bool rocprof_leave_out(struct rocprof *rocprof, const char *key)
{
	return chrome_leave_out(rocprof->chrome, key, true);
}

static bool rocprof_read_records(struct rocprof *rocprof, const char *key)
{
	static const struct {
		const char *key;
		enum chrome_category category;
	} kinds[] = {
		{ "kernel_dispatch", CHROME_IS_KERNEL }, { "memory_copy", CHROME_IS_COPY },
		{ "hip_api", CHROME_IS_RUNTIME },        { "hsa_api", CHROME_IS_RUNTIME },
		{ "marker_api", CHROME_IS_ANNOTATION },  { "rccl_api", CHROME_IS_COMMUNICATION },
		{ "rocdecode_api", CHROME_IS_RUNTIME },  { "rocjpeg_api", CHROME_IS_RUNTIME },
	};

	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
		if (strcmp(key, kinds[i].key) == 0)
			return rocprof_read_list(rocprof, kinds[i].category, rocprof_take_event);
	return rocprof_leave_out(rocprof, key);
}

/* Calls `read` for each member of the object at the start of the window. */
static bool rocprof_read_members(struct rocprof *rocprof, bool (*read)(struct rocprof *rocprof, const char *key))
{
	uint64_t skipped = 0;
	char key[CHROME_KEY];
	bool ended;

	if (!chrome_take(rocprof->chrome, '{'))
		return chrome_skip(rocprof->chrome, 3, &skipped);
	while (chrome_next_member(rocprof->chrome, key, &ended))
		if (!read(rocprof, key))
			return false;
	return ended;
}

static bool rocprof_read_process(struct rocprof *rocprof, const char *key)
{
	struct rocprof_record record;
	uint64_t skipped = 0;
	const char *end;

	if (strcmp(key, "metadata") == 0 && (end = rocprof_read_record(rocprof->chrome, &record))) {
		rocprof->pid = record.numbers[ROCPROF_PID];
		chrome_consume(rocprof->chrome, end);
		return true;
	}
	if (strcmp(key, "agents") == 0) {
		bool good = rocprof_read_list(rocprof, 0, rocprof_take_agent);

		rocprof_put_properties(rocprof);
		return good;
	}
	if (strcmp(key, "kernel_symbols") == 0)
		return rocprof_read_list(rocprof, 0, rocprof_take_symbol);
	if (strcmp(key, "strings") == 0)
		return rocprof_read_members(rocprof, rocprof_read_strings);
	if (strcmp(key, "buffer_records") == 0)
		return rocprof_read_members(rocprof, rocprof_read_records);
	if (strcmp(key, "callback_records") == 0)
		return rocprof_read_members(rocprof, rocprof_leave_out);
	return chrome_skip(rocprof->chrome, 3, &skipped);
}

static void rocprof_reset_names(struct rocprof_names *names)
{
	free(names->list);
	dw_map_reset(&names->by_key);
}

bool rocprof_read(struct chrome *chrome)
{
	bool good = true;

	chrome->has_events = true;
	chrome->devices.hip = true;
	chrome->writer = "rocprofv3";
	while (good && !chrome_take(chrome, ']')) {
		struct rocprof *rocprof;

		if (chrome_take(chrome, ','))
			continue;
		rocprof = calloc(1, sizeof *rocprof);
		chrome->failed |= !rocprof;
		good = rocprof != NULL;
		if (!good)
			break;
		rocprof->chrome = chrome;
		good = rocprof_read_members(rocprof, rocprof_read_process);
		rocprof_reset_names(&rocprof->kernels);
		rocprof_reset_names(&rocprof->calls);
		rocprof_reset_names(&rocprof->messages);
		free(rocprof);
	}
	return good;
}
