/*
 * Activity records become events of the trace.
 *
 * A buffer of CUPTI's at a time, under a lock, because CUPTI may return two at once. Names, queues and
 * launches are asked for once each; the tables below keep their ids, and are emptied when a session or a
 * process has changed. They are of fixed size: what falls out is asked for again.
 *
 * Kernels of one name are found by the name's content: a library that is unloaded may leave its place to
 * another's name.
 */
#include "cuda.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "format/keys.h"

#define BATCH 512u
#define QUEUES 256u   /* powers of two */
#define LAUNCHES 4096u
#define EVENTS 1024u
#define CALLS 4096u
#define CONTEXTS 64u
#define THREADS 64u
#define STUCK 16u
#define REPEATS 8u /* calls with one number, one after the other: a call has a few calls in it, and no more */
#define SKIPPED UINT32_MAX

static struct {
	uint32_t lock; /* atomic */
	uint32_t epoch, clock;
	uint64_t late_ns; /* greatest error of the clocks that events have shown */
	uint64_t submitted; /* atomic; calls that gave a device work */
	uint32_t last_submitted; /* the correlation of the last one */
	uint32_t devices[DWC_MOST_DEVICES]; /* ids by the device's number */
	struct { uint32_t context, device, null_stream; bool known; } contexts[CONTEXTS];
	struct { uint64_t key; uint32_t id; } queues[QUEUES];
	struct { uint64_t key; uint32_t id; } launches[LAUNCHES];
	struct { uint32_t context, event, stream, correlation; } events[EVENTS];
	struct { uint64_t start; uint32_t correlation; } calls[CALLS];
	struct { uint32_t tid, id, number, repeats; uint64_t end; } threads[THREADS]; /* and its last call */
	uint32_t stuck[STUCK], stuck_count; /* numbers that many calls have */
	uint32_t functions[2][DWC_FUNCTIONS];
	uint32_t overheads[16];
	struct dwell_device_event batch[BATCH];
	unsigned count;
} state;

/* What is the same in all sessions: read from records that CUPTI delivers once. */
static struct { uint32_t context, stream; int32_t priority; } priorities[QUEUES];
static struct {
	struct dwell_device device;
	char name[96];
	bool known;
} known_devices[DWC_MOST_DEVICES];

static uint64_t record_mix(uint64_t hash, uint64_t word)
{
	hash = (hash ^ word) * 0xd6e8feb86659fd93u;
	return hash ^ hash >> 32;
}

/* ---- devices and queues ----------------------------------------------------------------------------- */

static uint32_t record_device(uint32_t number)
{
	struct dwell_device device = { .number = number, .api = 1 };
	uint32_t at = number % DWC_MOST_DEVICES;

	if (!state.devices[at]) {
		if (known_devices[at].known)
			device = known_devices[at].device;
		state.devices[at] = dwell_intern_device(&device);
	}
	return state.devices[at];
}

static uint32_t record_queue(uint32_t device, uint32_t context, uint32_t stream)
{
	uint64_t key = record_mix(record_mix(record_mix(1, device), context), stream) | 1;
	unsigned at = (unsigned)(key >> 8) % QUEUES, hint = (context * 31 + stream) % QUEUES;
	bool none = stream == STREAM_NONE;
	int32_t priority = 0;

	if (state.queues[at].key == key)
		return state.queues[at].id;
	if (priorities[hint].context == context && priorities[hint].stream == stream)
		priority = priorities[hint].priority;
	state.queues[at].key = key;
	state.queues[at].id = dwell_intern_queue(record_device(device), none ? UINT64_MAX : stream, context, priority,
	                                         !none && state.contexts[context % CONTEXTS].known &&
	                                             state.contexts[context % CONTEXTS].null_stream == stream);
	return state.queues[at].id;
}

static void record_take_device(const struct cupti_device *from)
{
	uint32_t at = from->id % DWC_MOST_DEVICES;
	struct dwell_device *to = &known_devices[at].device;

	if (known_devices[at].known)
		return;
	*to = (struct dwell_device){ .number = from->id, .api = 1, .processors = from->processors,
		                         .memory_bytes = from->memory_bytes, .name = known_devices[at].name };
	memcpy(to->uuid, from->uuid, sizeof to->uuid);
	if (from->name)
		memcpy(known_devices[at].name, from->name, strnlen(from->name, sizeof known_devices[at].name - 1));
	known_devices[at].known = true;
	state.devices[at] = 0;
}

static void record_take_context(const struct cupti_context *from)
{
	unsigned at = from->context % CONTEXTS;

	state.contexts[at].context = from->context;
	state.contexts[at].device = from->device;
	state.contexts[at].null_stream = from->null_stream;
	state.contexts[at].known = true;
}

static void record_take_stream(const struct cupti_stream *from)
{
	unsigned at = (from->context * 31 + from->stream) % QUEUES;

	priorities[at].context = from->context;
	priorities[at].stream = from->stream;
	priorities[at].priority = from->priority;
}

static uint32_t record_device_of(uint32_t context)
{
	unsigned at = context % CONTEXTS;

	return state.contexts[at].known && state.contexts[at].context == context ? state.contexts[at].device : 0;
}

/* ---- names ------------------------------------------------------------------------------------------- */

/* Names of C++ kernels as a reader knows them, where the program has the C++ library. */
static uint32_t record_kernel_name(const char *name)
{
	static char *(*demangle)(const char *, char *, size_t *, int *);
	static bool looked;
	char *plain = NULL;
	uint32_t id;

	if (!looked) {
		void *library = dlopen("libstdc++.so.6", RTLD_LAZY | RTLD_NOLOAD);

		*(void **)&demangle = dlsym(library ? library : RTLD_DEFAULT, "__cxa_demangle");
		looked = true;
	}
	if (demangle && name[0] == '_' && name[1] == 'Z')
		plain = demangle(name, NULL, NULL, NULL);
	id = dwell_intern(DWELL_CATEGORY_DEVICE, plain ? plain : name, NULL);
	free(plain);
	return id;
}

static uint32_t record_launch(const struct cupti_kernel *from)
{
	const char *name = from->name && *from->name ? from->name : "(kernel without a name)";
	size_t length = strnlen(name, 4096);
	uint64_t key = record_mix(2, length), word;
	uint32_t shape[10];

	for (int i = 0; i < 3; i++) {
		shape[i] = (uint32_t)from->grid[i];
		shape[3 + i] = (uint32_t)from->block[i];
	}
	shape[6] = from->registers;
	shape[7] = (uint32_t)from->static_shared;
	shape[8] = (uint32_t)from->dynamic_shared;
	shape[9] = from->local_per_thread;
	for (size_t i = 0; i < length; i += 8) {
		word = 0;
		memcpy(&word, name + i, length - i < 8 ? length - i : 8);
		key = record_mix(key, word);
	}
	for (int i = 0; i < 10; i++)
		key = record_mix(key, shape[i]);
	key |= 1;
	unsigned at = (unsigned)(key >> 8) % LAUNCHES;
	if (state.launches[at].key != key) {
		state.launches[at].id = dwell_intern_launch(record_kernel_name(name), shape);
		state.launches[at].key = key;
	}
	return state.launches[at].id;
}

static uint32_t record_function(bool runtime, uint32_t function)
{
	uint32_t *known = function < DWC_FUNCTIONS ? &state.functions[runtime][function] : NULL;
	const char *name = NULL, *end;
	char text[128];

	if (known && *known)
		return *known;
	if (dwc_cupti.call.cuptiGetCallbackName(runtime ? DOMAIN_RUNTIME : DOMAIN_DRIVER, function, &name) != CUPTI_OK ||
	    !name)
		name = runtime ? "(CUDA runtime)" : "(CUDA driver)";
	/* Without the version of CUDA's interface: cudaLaunchKernel_v7000. */
	end = strstr(name, "_v");
	while (end && (end[2] < '0' || end[2] > '9'))
		end = strstr(end + 1, "_v");
	size_t length = end && runtime ? (size_t)(end - name) : strlen(name);
	if (length >= sizeof text)
		length = sizeof text - 1;
	memcpy(text, name, length);
	text[length] = '\0';
	uint32_t id = dwc_kinds_has(dwc_call_of(name)) ? dwell_intern(DWELL_CATEGORY_RUNTIME, text, NULL) : SKIPPED;
	if (known)
		*known = id;
	return id;
}

static uint32_t record_overhead(uint32_t what)
{
	static const char *const names[] = { "CUPTI buffer flush", "CUPTI instrumentation", "CUPTI resource",
		"module loading", "function loading", "command buffer full", "CUPTI buffer request", "unified memory" };
	uint32_t at = what == 1 ? 0 : what >> 16, known = sizeof names / sizeof *names;

	at = at > known ? known + 1 : at;
	if (!state.overheads[at])
		state.overheads[at] = dwell_intern(DWELL_CATEGORY_DEVICE, what == 1 ? "driver compiler"
		                                   : at && at <= known ? names[at - 1] : "overhead of recording", NULL);
	return state.overheads[at];
}

static uint32_t record_thread(uint32_t tid)
{
	unsigned at = tid % THREADS;

	if (state.threads[at].tid != tid || !state.threads[at].id) {
		state.threads[at].tid = tid;
		state.threads[at].id = dwell_thread_of(tid);
		state.threads[at].repeats = 0;
	}
	return state.threads[at].id;
}

/* CUPTI may give all calls of a thread one number, if its kinds were switched in the middle of a call (process.c). Nothing
 * is joined by such a number. */
static uint32_t record_number(uint32_t correlation)
{
	for (unsigned i = 0; i < state.stuck_count; i++)
		if (state.stuck[i] == correlation)
			return 0;
	return correlation;
}

static void record_look_for_stuck(const struct cupti_call *call)
{
	unsigned at = call->thread % THREADS;
	bool repeats = call->correlation == state.threads[at].number && call->start >= state.threads[at].end;

	state.threads[at].repeats = repeats ? state.threads[at].repeats + 1 : 0;
	state.threads[at].number = call->correlation;
	state.threads[at].end = call->end;
	if (state.threads[at].repeats != REPEATS || state.stuck_count == STUCK)
		return;
	state.stuck[state.stuck_count++] = call->correlation;
	dwell_meta(DW_KEY_CUDA_LACKS, "CUPTI gave all calls of a thread one number, after recording had begun again in the middle "
	           "of a call; work that this thread submitted has no operator");
}

/* ---- events ------------------------------------------------------------------------------------------ */

static void record_send(void)
{
	if (state.count)
		dwell_device_events(state.epoch, state.clock, state.batch, state.count);
	state.count = 0;
}

/* NULL: it is lost, because CUPTI could not read its times. */
static struct dwell_device_event *record_add(enum dwell_device_kind kind, uint64_t start, uint64_t end,
                                             uint32_t correlation)
{
	struct dwell_device_event *event;

	if (!start || !end) {
		dwc_lost_add(DWC_LOST_TIMES, 1);
		return NULL;
	}
	if (state.count == BATCH)
		record_send();
	correlation = state.stuck_count ? record_number(correlation) : correlation;
	if (kind <= DWELL_DEVICE_SET && correlation != state.last_submitted) { /* all kernels of a graph have one */
		__atomic_fetch_add(&state.submitted, 1, __ATOMIC_RELAXED);
		state.last_submitted = correlation;
	}
	event = &state.batch[state.count++];
	*event = (struct dwell_device_event){ .start_ns = start, .length_ns = end > start ? end - start : 0,
		                                  .kind = kind, .correlation = correlation };
	return event;
}

/* A device cannot begin before it was told to: by how much it seems so is an error of the clocks. */
static void record_compare_with_call(uint32_t correlation, uint64_t start)
{
	unsigned at = correlation % CALLS;

	if (correlation && state.calls[at].correlation == correlation && start < state.calls[at].start &&
	    state.calls[at].start - start > state.late_ns && state.calls[at].start - start < 1000000000u)
		state.late_ns = state.calls[at].start - start;
}

static void record_take_kernel(const struct cupti_kernel *from)
{
	struct dwell_device_event *event;

	event = record_add(DWELL_DEVICE_KERNEL, from->start, from->end, from->correlation);
	if (!event)
		return;
	record_compare_with_call(from->correlation, from->start);
	event->queue = record_queue(from->device, from->context, from->stream);
	event->value = record_launch(from) | (uint64_t)(uint32_t)from->graph_node << 32;
	event->external = from->graph_node;
}

/* Of the format's detail of MEMORY. */
#define DETAIL_POOL_CREATED 3u
#define MEMORY_IS_DEVICE 3u
#define MEMORY_OF(kind) ((uint32_t)(kind) <= 7 ? (uint32_t)(kind) : 0)

static void record_take_copy(const struct cupti_copy *from)
{
	struct dwell_device_event *event;

	event = record_add(DWELL_DEVICE_COPY, from->start, from->end, from->correlation);
	if (!event)
		return;
	record_compare_with_call(from->correlation, from->start);
	event->queue = record_queue(from->device, from->context, from->stream);
	event->value = from->bytes;
	event->external = from->graph_node;
	event->detail = MEMORY_OF(from->source) | MEMORY_OF(from->destination) << 4 |
	                (from->flags & COPY_IS_ASYNC ? 0x100u : 0);
}

static void record_take_peer_copy(const struct cupti_peer_copy *from)
{
	struct dwell_device_event *event;

	event = record_add(DWELL_DEVICE_COPY, from->start, from->end, from->correlation);
	if (!event)
		return;
	event->queue = record_queue(from->device, from->context, from->stream);
	event->value = from->bytes;
	event->external = from->graph_node;
	event->detail = MEMORY_OF(from->source) | MEMORY_OF(from->destination) << 4 | 0x200u |
	                (from->flags & COPY_IS_ASYNC ? 0x100u : 0);
}

static void record_take_set(const struct cupti_set *from)
{
	struct dwell_device_event *event;

	event = record_add(DWELL_DEVICE_SET, from->start, from->end, from->correlation);
	if (!event)
		return;
	event->queue = record_queue(from->device, from->context, from->stream);
	event->value = from->bytes;
	event->external = from->graph_node;
	event->detail = MEMORY_OF(from->memory) << 4;
}

static void record_take_memory(const struct cupti_memory *from)
{
	struct dwell_device_event *event;

	if (from->operation != 1 && from->operation != 2)
		return;
	event = record_add(DWELL_DEVICE_MEMORY, from->time, from->time, from->correlation);
	if (!event)
		return;
	event->queue = record_queue(from->device, from->context, STREAM_NONE);
	event->value = from->bytes;
	event->detail = from->operation | MEMORY_OF(from->memory) << 4;
	event->external = from->address;
}

/* A pool of the driver, as that of cudaMallocAsync(). */
static void record_take_pool(const struct cupti_pool *from)
{
	struct dwell_device_event *event;

	if (from->operation < 1 || from->operation > 3)
		return;
	event = record_add(DWELL_DEVICE_MEMORY, from->time, from->time, from->correlation);
	if (!event)
		return;
	event->queue = record_queue(from->device, 0, STREAM_NONE);
	event->value = from->bytes;
	event->detail = (DETAIL_POOL_CREATED + from->operation - 1) | MEMORY_IS_DEVICE << 4;
	event->external = from->address;
}

static void record_take_sync(const struct cupti_sync *from)
{
	struct dwell_device_event *event = record_add(DWELL_DEVICE_SYNC, from->start, from->end, from->correlation);
	uint32_t device = record_device_of(from->context);
	unsigned at = (from->context * 31 + from->event) % EVENTS;

	if (!event)
		return;
	event->queue = record_queue(device, from->context, from->stream);
	event->detail = from->type <= 4 ? from->type : 0;
	if (from->type != 1 && from->type != 2)
		return;
	event->value = from->event;
	if (state.events[at].correlation && state.events[at].context == from->context &&
	    state.events[at].event == from->event) {
		event->recorded_by = state.events[at].correlation;
		if (from->type == 2)
			event->value |= (uint64_t)record_queue(device, from->context, state.events[at].stream) << 32;
	}
}

static void record_take_event(const struct cupti_event *from)
{
	unsigned at = (from->context * 31 + from->event) % EVENTS;

	state.events[at].context = from->context;
	state.events[at].event = from->event;
	state.events[at].stream = from->stream;
	state.events[at].correlation = from->correlation;
}

/* The nodes of graphs that were made since the last time: calls whose "external" is the node, from the begin of the capture. */
static void record_take_nodes(void)
{
	struct dwell_device_event *event;
	struct dwc_node nodes[64];
	unsigned count;
	uint64_t lost;

	do {
		count = dwc_graphs_fetch(nodes, 64, &lost);
		dwc_lost_add(DWC_LOST_NODES, lost);
		for (unsigned i = 0; i < count; i++) {
			event = record_add(DWELL_DEVICE_CALL, nodes[i].begin_ns, nodes[i].made_ns, 0);
			if (!event)
				continue;
			event->queue = record_thread(nodes[i].tid);
			event->external = nodes[i].node;
			event->value = dwell_intern(DWELL_CATEGORY_RUNTIME, "(node of a CUDA graph)", NULL);
		}
	} while (count == 64);
}

static void record_take_call(const struct cupti_call *from, bool has_thread)
{
	uint32_t name = record_function(from->kind == KIND_RUNTIME_CALL, from->function);
	struct dwell_device_event *event;
	unsigned at = from->correlation % CALLS;

	state.calls[at].correlation = from->correlation;
	state.calls[at].start = from->start;
	if (name == SKIPPED)
		return;
	if (!has_thread) {
		dwc_lost_add(DWC_LOST_THREADS, 1);
		return;
	}
	record_look_for_stuck(from);
	event = record_add(DWELL_DEVICE_CALL, from->start, from->end, from->correlation);
	if (!event)
		return;
	event->queue = record_thread(from->thread);
	event->value = name;
}

/* Calls that dwell has noted since the last time. */
static void record_take_noted(void)
{
	struct cupti_call call;

	while (dwc_noted_fetch(&call))
		record_take_call(&call, true);
	dwc_lost_add(DWC_LOST_CALLS, dwc_noted_lost());
}

static void record_take_overhead(const struct cupti_overhead *from)
{
	struct dwell_device_event *event = record_add(DWELL_DEVICE_OVERHEAD, from->start, from->end, 0);
	uint32_t device = from->object_kind >= OBJECT_IS_DEVICE ? from->object[0] : 0;

	if (!event)
		return;
	event->queue = record_queue(device, 0, STREAM_NONE);
	event->value = record_overhead(from->what);
}

static void record_take_graph(const struct cupti_graph *from)
{
	struct dwell_device_event *event = record_add(DWELL_DEVICE_GRAPH, from->start, from->end, from->correlation);

	if (!event)
		return;
	event->queue = record_queue(from->device, from->context, from->stream);
	event->value = dwell_intern(DWELL_CATEGORY_DEVICE, "CUDA graph", NULL);
}

static void record_take(const void *record)
{
	switch (*(const uint32_t *)record) {
	case KIND_KERNEL:
	case KIND_SERIAL_KERNEL: record_take_kernel(record); break;
	case KIND_RUNTIME_CALL:
	case KIND_DRIVER_CALL: record_take_call(record, dwc_cupti.has_threads); break;
	case KIND_COPY: record_take_copy(record); break;
	case KIND_PEER_COPY: record_take_peer_copy(record); break;
	case KIND_SET: record_take_set(record); break;
	case KIND_MEMORY: record_take_memory(record); break;
	case KIND_POOL: record_take_pool(record); break;
	case KIND_SYNC: record_take_sync(record); break;
	case KIND_EVENT: record_take_event(record); break;
	case KIND_OVERHEAD: record_take_overhead(record); break;
	case KIND_GRAPH: record_take_graph(record); break;
	case KIND_DEVICE: record_take_device(record); break;
	case KIND_CONTEXT: record_take_context(record); break;
	case KIND_STREAM: record_take_stream(record); break;
	default: break; /* kinds of later versions */
	}
}

/* ---- clocks ------------------------------------------------------------------------------------------- */

/* CUPTI's clock and the trace's, read together. */
static struct pairing { uint64_t ns, ticks, error_ticks; } pairing;

/* The shortest of three readings, which no interrupt has stretched. */
static bool record_read_clocks(struct pairing *best)
{
	best->error_ticks = UINT64_MAX;
	for (int i = 0; i < 3; i++) {
		uint64_t ns = 0, before = dwell_device_ticks(), error;

		if (!dwc_cupti_time(&ns))
			return false;
		error = (dwell_device_ticks() - before) / 2;
		if (error < best->error_ticks)
			*best = (struct pairing){ ns, before + error, error };
	}
	return true;
}

static void record_write_pairing(void)
{
	uint64_t per_ms = dwell_ticks_of_ms(), error = pairing.error_ticks;

	if (per_ms != UINT64_MAX)
		error += (uint64_t)((double)state.late_ns * (double)per_ms / 1e6);
	state.clock = dwell_device_clock(state.clock, pairing.ns, pairing.ticks, error);
}

/* Empties the tables if the session or the process is another one. False: nothing is recorded. */
static bool record_look_at_session(void)
{
	uint32_t epoch = dwell_device_epoch();

	if (epoch && epoch != state.epoch) {
		memset(state.devices, 0, sizeof state.devices);
		memset(state.queues, 0, sizeof state.queues);
		memset(state.launches, 0, sizeof state.launches);
		memset(state.threads, 0, sizeof state.threads);
		memset(state.functions, 0, sizeof state.functions);
		memset(state.overheads, 0, sizeof state.overheads);
		state.epoch = epoch;
		state.clock = 0;
		dwc_lost_reset();
		record_write_pairing();
	}
	return epoch != 0;
}

/* ---- from outside -------------------------------------------------------------------------------------- */

static void record_lock(void)
{
	struct timespec pause = { 0, 50000 };

	while (__atomic_exchange_n(&state.lock, 1, __ATOMIC_ACQUIRE))
		nanosleep(&pause, NULL);
}

static void record_unlock(void)
{
	__atomic_store_n(&state.lock, 0, __ATOMIC_RELEASE);
}

void dwc_records_take(uint8_t *buffer, size_t valid)
{
	const void *record = NULL;

	record_lock();
	dwc_raw_keep(buffer, valid);
	if (record_look_at_session()) {
		record_take_nodes();
		record_take_noted();
		while ((record = dwc_cupti_next(buffer, valid, record)))
			record_take(record);
	}
	record_send();
	record_unlock();
}

void dwc_records_pair_clocks(void)
{
	uint32_t epoch = state.epoch;
	struct pairing read;

	/* Before the lock: CUPTI may hold one of its own while it waits for ours. */
	if (!record_read_clocks(&read))
		return;
	record_lock();
	pairing = read;
	if (record_look_at_session() && epoch == state.epoch)
		record_write_pairing();
	record_unlock();
}

void dwc_records_count_lost(bool at_end)
{
	uint64_t dropped = dwc_cupti_dropped(); /* not under the lock, as above */

	record_lock();
	if (record_look_at_session()) {
		record_take_nodes();
		record_take_noted();
		dwc_lost_add(DWC_LOST_BUFFERS, dropped);
		dwc_lost_say(at_end);
	}
	record_send();
	record_unlock();
}

bool dwc_records_uuid(uint32_t number, uint8_t uuid[16])
{
	bool known;

	record_lock();
	known = number < DWC_MOST_DEVICES && known_devices[number].known && known_devices[number].device.number == number;
	if (known)
		memcpy(uuid, known_devices[number].device.uuid, 16);
	record_unlock();
	return known;
}

uint64_t dwc_records_launches(void)
{
	return __atomic_load_n(&state.submitted, __ATOMIC_RELAXED);
}

void dwc_records_gap(uint64_t start_ns, uint64_t end_ns)
{
	record_lock();
	if (record_look_at_session())
		record_add(DWELL_DEVICE_GAP, start_ns, end_ns, 0);
	record_send();
	record_unlock();
}
