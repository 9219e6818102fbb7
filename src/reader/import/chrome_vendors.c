/*
 * Chrome JSON of profilers that give devices a form of their own: Intel's unitrace, and rocprof, the older one of AMD.
 *
 * Called by chrome_file.c for each event, once a name of a process shows who wrote the file. An event of a device
 * becomes one as of Kineto, and the arrow from a call to it becomes the number that both share, so that views and rules
 * do not know the difference.
 *
 * unitrace: categories are `gpu_op` and `cpu_op`. A device is a process "DEVICE<HOST>[NAME] ADDRESS #NUMBER", and an
 * engine a thread. An event has `args.id`; an arrow "Flow_H2D_ID_RANK" begins in its call. The name has what a launch
 * consists of: "gemm[SIMD32 {64; 1; 1} {256; 1; 1}]", "zeCommandListAppendMemoryCopy(M2D)[4096]".
 *
 * rocprof: processes 0 to 3 are markers, copies, calls of HIP and calls of HSA, and from 6 on GPUs. Times are texts in
 * whole microseconds; the exact ones are in `args`, with the true process and thread. An arrow of category "DataFlow"
 * leads from the middle of a call to the begin of what it launched.
 */
#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "import/chrome.h"
#include "import/rows.h"

enum { ROCPROF_MARKERS, ROCPROF_COPIES, ROCPROF_HIP, ROCPROF_HSA, ROCPROF_GPUS = 6, ROCPROF_BARRIERS = 512 };

#define LONGEST_NAME 200u /* of a device */

static bool vendor_begins(const struct dw_json_string *string, const char *what)
{
	size_t length = strlen(what);

	return string->length >= length && memcmp(string->at, what, length) == 0;
}

static const char *vendor_find(const struct dw_json_string *string, const char *what)
{
	return memmem(string->at, string->length, what, strlen(what));
}

/* The number at the begin of a text that ends at `end`. */
static uint64_t vendor_number(const char *at, const char *end)
{
	uint64_t number = 0;

	for (; at < end && isdigit((unsigned char)*at); at++)
		number = number * 10 + (uint64_t)(*at - '0');
	return number;
}

/* The number that the arguments have under `key`, as a number or as a text. */
static bool vendor_argument(const struct chrome_event *event, const char *key, uint64_t *number)
{
	struct dw_json json = { .last = true, .lenient = true };
	const char *at;

	if (!event->args.length)
		return false;
	json.end = event->args.at + event->args.length;
	at = dw_json_space(event->args.at + 1);
	while (at && *at == '"') {
		struct dw_json_string found;

		at = dw_json_read_string(&json, at, &found);
		if (!at)
			return false;
		at = dw_json_space(dw_json_space(at) + 1); /* behind the colon */
		if (dw_json_is(&found, key, strlen(key))) {
			at += *at == '"';
			*number = vendor_number(at, json.end);
			return isdigit((unsigned char)*at);
		}
		at = dw_json_skip(&json, at);
		if (at && *(at = dw_json_space(at)) == ',')
			at = dw_json_space(at + 1);
	}
	return false;
}

/* ---- who wrote the file -------------------------------------------------------------------- */

/* Keeps a device of unitrace: "RANK 1 DEVICE<node>[Intel Data Center GPU Max 1550] 0:18:0:0 #0". */
static void vendor_add_device(struct chrome *chrome, const struct chrome_id *pid, const struct dw_json_string *name)
{
	struct chrome_vendor *vendor = &chrome->vendor;
	const char *end = name->at + name->length, *open = vendor_find(name, ">["), *close = vendor_find(name, "] ");
	const char *number = memrchr(name->at, '#', name->length);
	size_t length = open && close > open ? (size_t)(close - open - 2) : 0;
	const char *all = chrome->devices.properties ? chrome->devices.properties : "[]";

	if (vendor->device_count == CHROME_VENDOR_DEVICES)
		return;
	length = length <= LONGEST_NAME ? length : 0;
	vendor->devices[vendor->device_count].pid = chrome_key_of(chrome, pid);
	vendor->devices[vendor->device_count].number =
		number ? (uint32_t)vendor_number(number + 1, end) : vendor->device_count;
	all = dw_arena_printf(&chrome->names.arena, "%.*s%s{\"id\":%u,\"name\":\"%.*s\"}]", (int)strlen(all) - 1, all,
	                      all[1] == ']' ? "" : ",", vendor->devices[vendor->device_count].number, (int)length,
	                      length ? open + 2 : "");
	vendor->device_count++;
	chrome->failed |= !all;
	chrome->devices.properties = all;
	chrome->devices.properties_length = all ? strlen(all) : 0;
}

static void vendor_note(struct chrome *chrome, const struct chrome_id *pid, const struct dw_json_string *name)
{
	struct dw_json_string rest = *name;

	if (DW_JSON_IS(name, "CPU HIP API") || DW_JSON_IS(name, "CPU HSA API")) {
		chrome->vendor.kind = CHROME_VENDOR_ROCPROF;
		chrome->vendor.offset_ns = INT64_MAX;
		chrome->devices.hip = true;
		chrome->writer = "rocprof";
	}
	if (vendor_begins(name, "RANK ")) {
		const char *space = memchr(name->at + 5, ' ', name->length - 5);

		if (!space)
			return;
		rest = (struct dw_json_string){ space + 1, (uint32_t)(name->at + name->length - space - 1), name->escaped };
	}
	if (vendor_begins(&rest, "HOST<")) {
		chrome->vendor.kind = CHROME_VENDOR_UNITRACE;
		chrome->writer = "unitrace";
		if (rest.at != name->at)
			chrome->rank = (int64_t)vendor_number(name->at + 5, rest.at);
	} else if (vendor_begins(&rest, "DEVICE<")) {
		vendor_add_device(chrome, pid, &rest);
	}
}

/* ---- unitrace ------------------------------------------------------------------------------ */

/* A small number for an engine, whose thread has a large one. */
static uint32_t vendor_queue(struct chrome_vendor *vendor, uint64_t key)
{
	uint32_t i = 0;

	while (i < vendor->queue_count && vendor->queues[i] != key)
		i++;
	if (i == vendor->queue_count && i < CHROME_VENDOR_QUEUES)
		vendor->queues[vendor->queue_count++] = key;
	return i;
}

/* Takes " {64; 1; 1} {256; 1; 1}]" off the name of a kernel, and what is before it in the bracket. */
static void vendor_unitrace_take_shape(struct chrome *chrome, struct chrome_event *event)
{
	struct dw_launch_shape *shape = &chrome->vendor.shape;
	const char *end = event->name.at + event->name.length;
	const char *block = memrchr(event->name.at, '{', event->name.length);
	const char *grid = block ? memrchr(event->name.at, '{', (size_t)(block - event->name.at)) : NULL, *cut;
	uint32_t *const to[] = { &shape->grid[0],  &shape->grid[1],  &shape->grid[2],
		                     &shape->block[0], &shape->block[1], &shape->block[2] };
	const char *at = grid;

	if (!grid || grid == event->name.at || end[-1] != ']')
		return;
	memset(shape, 0, sizeof *shape);
	for (unsigned i = 0; i < 6; i++) {
		while (at < end && !isdigit((unsigned char)*at))
			at++;
		*to[i] = (uint32_t)vendor_number(at, end);
		while (at < end && isdigit((unsigned char)*at))
			at++;
	}
	event->shape = shape;
	cut = memmem(event->name.at, (size_t)(grid - event->name.at), "[SIMD", 5);
	event->name.length = (uint32_t)((cut && cut > event->name.at ? cut : grid - 1) - event->name.at);
}

/* "(M2D)[4096]": H is memory that the driver allocated on the host, M other memory of the host, S shared memory. */
static void vendor_unitrace_take_copy(struct chrome *chrome, struct chrome_event *event)
{
	static const struct {
		char letter;
		const char *place, *memory;
	} memories[] = {
		{ 'H', "H", "Pinned" }, { 'M', "H", "Pageable" }, { 'D', "D", "Device" }, { 'S', "D", "Managed" }
	};
	const char *way = vendor_find(&event->name, "("), *end = event->name.at + event->name.length, *bytes;
	const char *places[2] = { "U", "U" }, *kinds[2] = { "Unknown", "Unknown" };

	for (unsigned side = 0; way && end - way > 4 && side < 2; side++)
		for (unsigned i = 0; i < 4; i++)
			if (way[1 + side * 2] == memories[i].letter) {
				places[side] = memories[i].place;
				kinds[side] = memories[i].memory;
			}
	bytes = memrchr(event->name.at, '[', event->name.length);
	if (bytes)
		rows_set(event, CHROME_BYTES, (int64_t)(vendor_number(bytes + 1, end) & INT64_MAX));
	snprintf(chrome->vendor.text, sizeof chrome->vendor.text, "Memcpy %sto%s (%s -> %s)", places[0], places[1],
	         kinds[0], kinds[1]);
	event->category = CHROME_IS_COPY;
	event->name = (struct dw_json_string){ chrome->vendor.text, (uint32_t)strlen(chrome->vendor.text), false };
}

static void vendor_unitrace_take_device(struct chrome *chrome, struct chrome_event *event)
{
	struct chrome_vendor *vendor = &chrome->vendor;
	uint64_t pid = chrome_key_of(chrome, &event->pid), id, number = 0;

	for (uint32_t i = 0; i < vendor->device_count; i++)
		if (vendor->devices[i].pid == pid)
			number = vendor->devices[i].number;
	if (vendor_argument(event, "id", &id))
		rows_set(event, CHROME_CORRELATION, (int64_t)(id & INT64_MAX));
	rows_set(event, CHROME_DEVICE, (int64_t)number);
	rows_set(event, CHROME_STREAM, vendor_queue(vendor, chrome_key_of(chrome, &event->tid)));
	event->category = CHROME_IS_KERNEL;
	if (vendor_find(&event->name, "AppendMemoryCopy") || vendor_find(&event->name, "AppendImageCopy")) {
		vendor_unitrace_take_copy(chrome, event);
	} else if (vendor_find(&event->name, "AppendMemoryFill")) {
		event->category = CHROME_IS_SET;
		event->name = (struct dw_json_string){ "Memset (Device)", 15, false };
	} else if (vendor_begins(&event->name, "zeCommandList")) {
		event->category = CHROME_IS_SYNC; /* barriers, signals, timestamps */
	} else {
		vendor_unitrace_take_shape(chrome, event);
	}
}

/* A call of Level Zero or OpenCL, of MPI, or what a program announced through ITT. A call that waits gets a number that
 * no event of a device has, as calls of CUDA have one. */
static void vendor_unitrace_take_call(struct chrome *chrome, struct chrome_event *event)
{
	const struct dw_json_string *name = &event->name;

	if (name->length > 2 && (vendor_begins(name, "ze") || vendor_begins(name, "cl")) &&
	    (isupper((unsigned char)name->at[2]) || vendor_begins(name, "zes"))) {
		event->category = CHROME_IS_RUNTIME;
		if (vendor_find(name, "Synchronize") || vendor_find(name, "Wait") || vendor_find(name, "Finish"))
			rows_set(event, CHROME_CORRELATION, INT64_C(1) << 48 | (int64_t)++chrome->vendor.waits);
	} else if (vendor_begins(name, "MPI_")) {
		event->category = CHROME_IS_COMMUNICATION;
	} else if (!vendor_find(name, "::")) {
		event->category = CHROME_IS_ANNOTATION;
		rows_set_annotation(chrome, event, event->name, chrome->vendor.text, sizeof chrome->vendor.text);
	}
}

static bool vendor_unitrace_translate(struct chrome *chrome, struct chrome_event *event)
{
	if (event->phase == 'X' && DW_JSON_IS(&event->cat, "gpu_op")) {
		vendor_unitrace_take_device(chrome, event);
	} else if (event->phase == 'X' && event->category == CHROME_IS_OPERATOR) {
		vendor_unitrace_take_call(chrome, event);
	} else if (vendor_begins(&event->cat, "Flow_") || vendor_begins(&event->cat, "CL_Flow_")) {
		if (event->phase != 's' || !vendor_find(&event->cat, "Flow_H2D_"))
			return false; /* the other end of the arrow, which the number stands for */
		rows_set(event, CHROME_CORRELATION, event->id.number & INT64_MAX);
		event->category = CHROME_IS_LAUNCH_NUMBER;
	}
	return true;
}

/* ---- rocprof ------------------------------------------------------------------------------- */

/* The number that a call and what it launched share: of the place of the latter in the file. */
static int64_t vendor_rocprof_launch_number(const struct chrome *chrome, const struct chrome_event *event)
{
	const int64_t place[3] = { event->pid.number, event->tid.number, event->start_ns };

	return (int64_t)(chrome_hash(chrome->names.seed, place, sizeof place) >> 2 | UINT64_C(1) << 61);
}

static void vendor_rocprof_take_copy(struct chrome *chrome, struct chrome_event *event)
{
	static const struct {
		const char *part, *name;
	} ways[] = { { "HostToDevice", "Memcpy HtoD (Host -> Device)" },
		         { "DeviceToHost", "Memcpy DtoH (Device -> Host)" },
		         { "PeerToPeer", "Memcpy PtoP (Device -> Device)" },
		         { "DeviceToDevice", "Memcpy DtoD (Device -> Device)" },
		         { "", "Memcpy Unknown (Unknown -> Unknown)" } };
	size_t i = 0;

	event->category = CHROME_IS_COPY;
	if (vendor_find(&event->name, "Fill")) {
		event->category = CHROME_IS_SET;
		event->name = (struct dw_json_string){ "Memset (Device)", 15, false };
		return;
	}
	while (!vendor_find(&event->name, ways[i].part))
		i++;
	event->name = (struct dw_json_string){ ways[i].name, (uint32_t)strlen(ways[i].name), false };
}

static void vendor_rocprof_take_device(struct chrome *chrome, struct chrome_event *event)
{
	int64_t section = event->pid.number;
	uint64_t number = section >= ROCPROF_GPUS ? (uint64_t)(section - ROCPROF_GPUS) % ROCPROF_BARRIERS : 0, queue = 0;

	event->has = 0;
	rows_set(event, CHROME_CORRELATION, vendor_rocprof_launch_number(chrome, event));
	if (!vendor_argument(event, "dev-id", &number))
		vendor_argument(event, "gpu-id", &number);
	if (!vendor_argument(event, "stream-id", &queue))
		vendor_argument(event, "queue-id", &queue);
	rows_set(event, CHROME_DEVICE, (int64_t)(number & INT32_MAX));
	rows_set(event, CHROME_STREAM, (int64_t)(queue & INT32_MAX));
	if (section == ROCPROF_COPIES)
		vendor_rocprof_take_copy(chrome, event);
	else
		event->category = section >= ROCPROF_GPUS + ROCPROF_BARRIERS ? CHROME_IS_SYNC : CHROME_IS_KERNEL;
}

static void vendor_rocprof_take_range(struct chrome *chrome, struct chrome_event *event, uint64_t begin, uint64_t end)
{
	struct chrome_vendor *vendor = &chrome->vendor;
	int64_t section = event->pid.number;
	uint64_t pid = 0, tid = 0;

	if ((int64_t)begin - event->start_ns < vendor->offset_ns)
		vendor->offset_ns = (int64_t)begin - event->start_ns;
	if (section == ROCPROF_COPIES || section >= ROCPROF_GPUS) {
		vendor_rocprof_take_device(chrome, event);
	} else {
		event->category = section == ROCPROF_MARKERS ? CHROME_IS_ANNOTATION : CHROME_IS_RUNTIME;
		if (vendor_find(&event->name, "Synchronize"))
			rows_set(event, CHROME_CORRELATION, INT64_C(1) << 48 | (int64_t)++vendor->waits);
		if (section == ROCPROF_MARKERS)
			rows_set_annotation(chrome, event, event->name, vendor->text, sizeof vendor->text);
	}
	if (vendor_argument(event, "pid", &pid))
		vendor->pid = (int64_t)(pid & INT64_MAX);
	if (vendor_argument(event, "tid", &tid))
		event->tid = rows_id((int64_t)(tid & INT64_MAX));
	event->pid = rows_id(vendor->pid);
	event->wrong_type = false;
	event->has_start = event->has_length = true;
	event->start_ns = (int64_t)(begin & INT64_MAX);
	event->length_ns = (int64_t)(end & INT64_MAX) - event->start_ns;
	chrome_limit_times(event);
}

static bool vendor_rocprof_translate(struct chrome *chrome, struct chrome_event *event)
{
	struct chrome_vendor *vendor = &chrome->vendor;
	uint64_t begin, end;
	int64_t number;

	if (event->phase == 'X' && vendor_argument(event, "BeginNs", &begin) && vendor_argument(event, "EndNs", &end)) {
		vendor_rocprof_take_range(chrome, event, begin, end);
		return true;
	}
	if (!DW_JSON_IS(&event->cat, "DataFlow"))
		return event->phase != '\0'; /* the list begins with an empty event */
	if (event->phase == 's') {
		vendor->flow_id = event->id.number;
		vendor->flow_tid = event->tid;
		vendor->flow_ns = event->start_ns;
		return false;
	}
	if (event->phase != 't' || event->id.number != vendor->flow_id || vendor->offset_ns == INT64_MAX)
		return false;
	number = vendor_rocprof_launch_number(chrome, event);
	event->phase = 's';
	event->category = CHROME_IS_LAUNCH_NUMBER;
	event->pid = rows_id(vendor->pid);
	event->tid = vendor->flow_tid;
	event->start_ns = vendor->flow_ns + vendor->offset_ns;
	rows_set(event, CHROME_CORRELATION, number);
	return true;
}

bool chrome_translate(struct chrome *chrome, struct chrome_event *event)
{
	if (event->phase == 'M') {
		if (DW_JSON_IS(&event->name, "process_name") && chrome_has(event, CHROME_NAME) &&
		    event->values[CHROME_NAME].kind == CHROME_TEXT)
			vendor_note(chrome, &event->pid, &event->values[CHROME_NAME].text);
		return true;
	}
	return chrome->vendor.kind == CHROME_VENDOR_UNITRACE ? vendor_unitrace_translate(chrome, event)
	                                                     : vendor_rocprof_translate(chrome, event);
}
