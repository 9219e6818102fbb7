/*
 * XSpace: what XLA's profiler writes and TensorBoard's profile plugin (XProf) reads.
 *
 * Called through export.c; what it shares with the Chrome trace is in chrome.h. All
 * threads are lines of the plane "/host:CPU", where the plugin looks for steps and
 * operators. A line's events are sorted and nest: what overlaps another without nesting
 * goes to a further line of the same thread. Times are since the first event. No event
 * has a stat "group_id", so that the plugin groups events by step itself.
 *
 * Memory: 48 bytes an event, and the encoded plane, some 30 bytes an event.
 */
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/grow.h"
#include "base/proto.h"
#include "export/chrome.h"
#include "export/export.h"

#define PS_PER_NS 1000u
#define MOST_LANES 64u /* of one thread */
#define MOST_NAME 512u

/* Field numbers of xplane.proto. */
enum { SPACE_PLANE = 1, SPACE_WARNING = 3, SPACE_HOST = 4 };
enum { PLANE_ID = 1, PLANE_NAME = 2, PLANE_LINE = 3, PLANE_EVENT_META = 4, PLANE_STAT_META = 5,
	   PLANE_STAT = 6 };
enum { LINE_ID = 1, LINE_NAME = 2, LINE_TIMESTAMP_NS = 3, LINE_EVENT = 4 };
enum { EVENT_META = 1, EVENT_OFFSET_PS = 2, EVENT_DURATION_PS = 3, EVENT_STAT = 4 };
enum { STAT_META = 1, STAT_DOUBLE = 2, STAT_UINT = 3, STAT_INT = 4, STAT_TEXT = 5 };
enum { META_ID = 1, META_NAME = 2, META_DISPLAY = 4, MAP_KEY = 1, MAP_VALUE = 2 };

#define STATS(X)                                                                           \
	X(STEP_NUM, "step_num") X(ROOT, "_r") X(FLOW, "flow") X(VALUE, "value")                \
	X(ALLOCATOR, "allocator_name") X(RESERVED, "bytes_reserved")                           \
	X(ALLOCATED, "bytes_allocated") X(AVAILABLE, "bytes_available")                        \
	X(FRAGMENTATION, "fragmentation") X(PEAK, "peak_bytes_in_use")                         \
	X(REQUESTED, "requested_bytes") X(ALLOCATION, "allocation_bytes") X(ADDRESS, "addr")   \
	X(TF_OP, "tf_op") X(REGION, "region_type") X(DATA_TYPE, "data_type") X(SHAPE, "shape") \
	X(ARGS, "args") X(SEQUENCE, "sequence") X(OPEN, "open")                                \
	X(START_TIME, "profile_start_time") X(STOP_TIME, "profile_stop_time")
enum stat {
	STAT_NONE,
#define X(name, text) STAT_##name,
	STATS(X)
#undef X
	STAT_COUNT
};

/* Metadata of events: symbols come first, from 1. */
enum own_name { NAME_STEP, NAME_ALLOCATION, NAME_DEALLOCATION, NAME_LINK, NAME_COUNT };
static const char *const own_names[NAME_COUNT] = {
	"train", "MemoryAllocation", "MemoryDeallocation", "forward to backward"
};

enum event_kind { RANGE, RANGE_OPEN, STEP, MEMORY, FLOW_OUT, FLOW_IN, COUNTER };

struct event {
	uint64_t start_ns, end_ns;
	uint32_t line; /* track, or one of the lines behind the tracks */
	uint32_t name;
	uint32_t depth;
	enum event_kind kind;
	union {
		uint64_t number; /* of a step, a sequence or a flow; of a change in `memory` */
		double value;
	};
	const char *args;
};

struct memory_at {
	uint64_t address;
	int64_t bytes, total, peak;
	uint32_t symbol;
	const char *device;
};

struct peak {
	uint32_t process, device;
	int64_t bytes;
};

struct xplane {
	struct dw_chrome chrome;
	struct dw_proto plane;
	struct event *events;
	size_t count, capacity;
	struct memory_at *memory;
	size_t memory_count, memory_capacity;
	struct peak *peaks;
	size_t peak_count, peak_capacity;
	bool *named;      /* by symbol: some event has it */
	uint64_t base_ns; /* of the first event */
	uint64_t left_out;
	uint32_t counters; /* the line of counters */
};

static struct event *add(struct xplane *xplane, uint32_t line, enum event_kind kind, uint32_t name,
                         uint64_t start_ns, uint64_t end_ns)
{
	struct event *event = DW_GROW(&xplane->events, &xplane->capacity, xplane->count);

	if (!event) {
		xplane->chrome.failed = true;
		return NULL;
	}
	xplane->count++;
	*event = (struct event){ .start_ns = start_ns, .end_ns = end_ns > start_ns ? end_ns : start_ns,
		.line = line, .name = name, .kind = kind, .number = UINT64_MAX };
	if (name < xplane->chrome.symbol_count)
		xplane->named[name] = true;
	return event;
}

static uint32_t own(const struct xplane *xplane, enum own_name name)
{
	return (uint32_t)xplane->chrome.symbol_count + name;
}

/* ---- events as they come ------------------------------------------------------------ */

static void add_range(struct xplane *xplane, const struct dw_event *from)
{
	struct event *event = add(xplane, from->thread * 2 + from->nested,
	                          from->open ? RANGE_OPEN : RANGE, from->symbol, from->start_ns,
	                          from->end_ns);

	if (!event)
		return;
	event->depth = from->depth + 1; /* a step of the same times lies around it */
	event->number = from->type == DW_EVENT_RANGE ? from->sequence : UINT64_MAX;
	/* The text lives as long as the call. */
	event->args = from->type == DW_EVENT_RANGE && from->args
	                  ? dw_arena_text(&xplane->chrome.arena, from->args, strlen(from->args))
	                  : NULL;
}

static int each(void *context, const struct dw_event *event)
{
	struct xplane *xplane = context;
	struct dw_chrome *chrome = &xplane->chrome;
	struct event *added;

	if (event->thread >= chrome->source->thread_count || event->symbol >= chrome->symbol_count)
		return 0;
	chrome->nested = event->nested;
	switch (event->type) {
	case DW_EVENT_RANGE:
		add_range(xplane, event);
		if (event->sequence != UINT64_MAX)
			dw_chrome_flow_link(chrome, event);
		break;
	case DW_EVENT_ASYNC:
		add_range(xplane, event);
		break;
	case DW_EVENT_MARK:
		added = add(xplane, event->thread * 2 + event->nested, RANGE, event->symbol,
		            event->start_ns, event->start_ns);
		if (added)
			added->depth = UINT32_MAX;
		break;
	case DW_EVENT_COUNTER:
		added = isfinite(event->value) ? add(xplane, xplane->counters, COUNTER, event->symbol,
		                                     event->start_ns, event->start_ns)
		                               : NULL;
		if (added)
			added->value = event->value;
		break;
	case DW_EVENT_ALLOC:
	case DW_EVENT_FREE:
		dw_chrome_memory_add(chrome, event);
		break;
	case DW_EVENT_FLOW_OUT:
	case DW_EVENT_FLOW_IN:
		dw_chrome_flow_add(chrome, event);
		break;
	}
	return chrome->failed;
}

static void add_steps(struct xplane *xplane)
{
	const struct dw_source *source = xplane->chrome.source;

	for (size_t i = 0; i < source->step_count; i++) {
		const struct dw_source_step *step = &source->steps[i];
		struct event *event;

		if (!step->recorded || !dw_model_has_step(xplane->chrome.model, step))
			continue;
		event = add(xplane, step->thread * 2, STEP, own(xplane, NAME_STEP), step->start_ns,
		            step->end_ns);
		if (event)
			event->number = step->number;
	}
}

static int64_t peak_of(struct xplane *xplane, const struct dw_chrome_memory_at *at)
{
	uint32_t process = xplane->chrome.source->threads[at->track / 2].process;
	struct peak *peak;

	for (size_t i = 0; i < xplane->peak_count; i++) {
		peak = &xplane->peaks[i];
		if (peak->process != process || peak->device != at->device)
			continue;
		if (peak->bytes < at->total)
			peak->bytes = at->total;
		return peak->bytes;
	}
	peak = DW_GROW(&xplane->peaks, &xplane->peak_capacity, xplane->peak_count);
	xplane->chrome.failed |= !peak;
	if (!peak)
		return at->total;
	*peak = (struct peak){ process, at->device, at->total };
	xplane->peak_count++;
	return at->total;
}

static void add_memory(void *to, const struct dw_chrome_memory_at *at)
{
	struct xplane *xplane = to;
	struct memory_at *memory =
	    DW_GROW(&xplane->memory, &xplane->memory_capacity, xplane->memory_count);
	struct event *event;

	if (!memory) {
		xplane->chrome.failed = true;
		return;
	}
	*memory = (struct memory_at){ at->address, at->bytes, at->total, peak_of(xplane, at),
		                          at->symbol, at->name };
	event = add(xplane, at->track, MEMORY,
	            own(xplane, at->bytes < 0 ? NAME_DEALLOCATION : NAME_ALLOCATION), at->ns, at->ns);
	if (event) {
		event->depth = UINT32_MAX;
		event->number = xplane->memory_count;
	}
	xplane->memory_count++;
}

/* An arrow's end is a moment at the begin of the call it joins. */
static void add_end(void *to, const struct dw_chrome_end *end, uint64_t id, char phase)
{
	struct xplane *xplane = to;
	bool link = (end->name & ~DW_CHROME_IN) == DW_CHROME_LINK;
	struct event *event = add(xplane, end->track, phase == 'f' ? FLOW_IN : FLOW_OUT,
	                          link ? own(xplane, NAME_LINK) : end->symbol, end->ns, end->ns);

	if (event) {
		event->depth = UINT32_MAX;
		/* links and others count apart */
		event->number = id << 1 | link;
	}
}

/* ---- stats -------------------------------------------------------------------------- */

static size_t open_stat(struct dw_proto *to, uint32_t field, enum stat stat)
{
	size_t at = dw_proto_open(to, field);

	dw_proto_u64(to, STAT_META, stat);
	return at;
}

static void put_int(struct dw_proto *to, enum stat stat, int64_t value)
{
	size_t at = open_stat(to, EVENT_STAT, stat);

	dw_proto_u64(to, STAT_INT, (uint64_t)value);
	dw_proto_close(to, at);
}

static void put_uint(struct dw_proto *to, uint32_t field, enum stat stat, uint64_t value)
{
	size_t at = open_stat(to, field, stat);

	dw_proto_u64(to, STAT_UINT, value);
	dw_proto_close(to, at);
}

static void put_double(struct dw_proto *to, enum stat stat, double value)
{
	size_t at = open_stat(to, EVENT_STAT, stat);

	dw_proto_double(to, STAT_DOUBLE, value);
	dw_proto_close(to, at);
}

static void put_text(struct dw_proto *to, enum stat stat, const char *text)
{
	size_t at = open_stat(to, EVENT_STAT, stat);

	dw_proto_text(to, STAT_TEXT, text);
	dw_proto_close(to, at);
}

static void put_memory(struct xplane *xplane, const struct memory_at *memory)
{
	struct dw_proto *to = &xplane->plane;
	int64_t bytes = memory->bytes < 0 ? -memory->bytes : memory->bytes;

	put_text(to, STAT_ALLOCATOR, memory->device);
	put_int(to, STAT_RESERVED, 0);
	put_int(to, STAT_ALLOCATED, memory->total);
	put_int(to, STAT_AVAILABLE, 0);
	put_double(to, STAT_FRAGMENTATION, 0);
	put_int(to, STAT_PEAK, memory->peak);
	put_int(to, STAT_REQUESTED, bytes);
	put_int(to, STAT_ALLOCATION, bytes);
	put_int(to, STAT_ADDRESS, (int64_t)memory->address);
	put_text(to, STAT_TF_OP, xplane->chrome.symbols[memory->symbol].name);
	put_text(to, STAT_REGION, xplane->chrome.symbols[memory->symbol].name);
	put_text(to, STAT_DATA_TYPE, "");
	put_text(to, STAT_SHAPE, "");
}

static void put_event(struct xplane *xplane, const struct event *event)
{
	struct dw_proto *to = &xplane->plane;
	size_t at = dw_proto_open(to, LINE_EVENT);

	dw_proto_u64(to, EVENT_META, (uint64_t)event->name + 1);
	dw_proto_u64(to, EVENT_OFFSET_PS, (event->start_ns - xplane->base_ns) * PS_PER_NS);
	dw_proto_u64(to, EVENT_DURATION_PS, (event->end_ns - event->start_ns) * PS_PER_NS);
	switch (event->kind) {
	case RANGE_OPEN:
		put_int(to, STAT_OPEN, 1);
		/* fall through */
	case RANGE:
		if (event->number != UINT64_MAX)
			put_uint(to, EVENT_STAT, STAT_SEQUENCE, event->number);
		if (event->args)
			put_text(to, STAT_ARGS, event->args);
		break;
	case STEP:
		put_int(to, STAT_STEP_NUM, (int64_t)event->number);
		put_int(to, STAT_ROOT, 1);
		break;
	case MEMORY:
		put_memory(xplane, &xplane->memory[event->number]);
		break;
	case FLOW_OUT:
	case FLOW_IN: /* direction in the lowest 2 bits, then 56 of id, then the category: 0 */
		put_uint(to, EVENT_STAT, STAT_FLOW,
		         (event->kind == FLOW_OUT ? 2 : 1) | (event->number & 0xffffffffffffff) << 2);
		break;
	case COUNTER:
		put_double(to, STAT_VALUE, event->value);
		break;
	}
	dw_proto_close(to, at);
}

/* ---- lines -------------------------------------------------------------------------- */

static int compare(const void *left, const void *right)
{
	const struct event *a = left, *b = right;

	if (a->line != b->line)
		return a->line < b->line ? -1 : 1;
	if (a->start_ns != b->start_ns)
		return a->start_ns < b->start_ns ? -1 : 1;
	if (a->end_ns != b->end_ns)
		return a->end_ns > b->end_ns ? -1 : 1;
	if (a->depth != b->depth)
		return a->depth < b->depth ? -1 : 1;
	return a->name < b->name ? -1 : a->name > b->name;
}

/* Whether it nests in what is open; then it is open too. -1: out of memory */
static int nests(uint64_t **ends, size_t *capacity, size_t *open, const struct event *event)
{
	uint64_t *end;

	while (*open && (*ends)[*open - 1] <= event->start_ns)
		--*open;
	if (*open && (*ends)[*open - 1] < event->end_ns)
		return 0;
	if (event->end_ns == event->start_ns)
		return 1;
	end = DW_GROW(ends, capacity, *open);
	if (!end)
		return -1;
	*end = event->end_ns;
	++*open;
	return 1;
}

static void put_line_name(struct xplane *xplane, uint32_t line, unsigned lane)
{
	const struct dw_source *source = xplane->chrome.source;
	char name[MOST_NAME], prefix[96] = "", number[32] = "";

	if (line == xplane->counters) {
		dw_proto_text(&xplane->plane, LINE_NAME, "_counters_");
		return;
	}
	const struct dw_source_thread *thread = &source->threads[line / 2];
	const struct dw_source_process *process = &source->processes[thread->process];

	if (process->rank >= 0)
		snprintf(prefix, sizeof prefix, "rank %d: ", (int)process->rank);
	else if (source->process_count > 1)
		snprintf(prefix, sizeof prefix, "%u: ", process->pid);
	if (lane)
		snprintf(number, sizeof number, " (overlapping %u)", lane);
	snprintf(name, sizeof name, "%s%.200s/%u%s%s", prefix, thread->name, thread->tid,
	         line % 2 ? " (signal handlers)" : "", number);
	dw_proto_text(&xplane->plane, LINE_NAME, name);
}

/* One line of those that nest; the others move to the front and are counted. */
static size_t put_lane(struct xplane *xplane, struct event *events, size_t count, unsigned lane)
{
	uint64_t *ends = NULL;
	size_t capacity = 0, open = 0, left = 0;
	uint32_t line = events->line;
	size_t at = dw_proto_open(&xplane->plane, PLANE_LINE);

	dw_proto_u64(&xplane->plane, LINE_ID, (uint64_t)line * MOST_LANES + lane + 1);
	put_line_name(xplane, line, lane);
	dw_proto_u64(&xplane->plane, LINE_TIMESTAMP_NS, 0);
	for (size_t i = 0; i < count && !xplane->chrome.failed; i++) {
		int fits = nests(&ends, &capacity, &open, &events[i]);

		xplane->chrome.failed |= fits < 0 || xplane->plane.failed;
		if (fits > 0)
			put_event(xplane, &events[i]);
		else
			events[left++] = events[i];
	}
	dw_proto_close(&xplane->plane, at);
	free(ends);
	return left;
}

static void put_lines(struct xplane *xplane)
{
	size_t from = 0;

	while (from < xplane->count && !xplane->chrome.failed) {
		size_t to = from, left;

		while (to < xplane->count && xplane->events[to].line == xplane->events[from].line)
			to++;
		left = to - from;
		for (unsigned lane = 0; lane < MOST_LANES && left; lane++)
			left = put_lane(xplane, &xplane->events[from], left, lane);
		xplane->left_out += left;
		from = to;
	}
}

/* ---- names -------------------------------------------------------------------------- */

/*
 * The plugin takes an event for an operator when its name is "scope/op:Type", the
 * type beginning with a capital; "aten::add" becomes "aten/add:Aten_add".
 */
static void operator_name(char *to, size_t room, const char *name)
{
	size_t used = 0, type;

	for (const char *from = name; *from && used + 2 < room / 2; from++) {
		if (from[0] == ':' && from[1] == ':')
			from++;
		to[used++] = *from == ':' ? '/' : isalnum((unsigned char)*from) || *from == '.' || *from == '/'
		                                      ? *from
		                                      : '_';
	}
	if (used && (to[0] == '_' || to[0] == '/'))
		to[0] = '.';
	to[used++] = ':';
	type = used;
	for (size_t i = 0; i + 1 < type; i++)
		to[used++] = isalnum((unsigned char)to[i]) ? to[i] : '_';
	to[type] = (char)toupper((unsigned char)to[type]);
	if (isdigit((unsigned char)to[type]))
		to[type] = '_';
	to[used] = '\0';
}

static void put_event_name(struct dw_proto *to, uint64_t id, const char *name, const char *display)
{
	size_t entry = dw_proto_open(to, PLANE_EVENT_META), meta;

	dw_proto_u64(to, MAP_KEY, id);
	meta = dw_proto_open(to, MAP_VALUE);
	dw_proto_u64(to, META_ID, id);
	dw_proto_text(to, META_NAME, name);
	if (display)
		dw_proto_text(to, META_DISPLAY, display);
	dw_proto_close(to, meta);
	dw_proto_close(to, entry);
}

static void put_stat_names(struct dw_proto *to)
{
	static const char *const names[STAT_COUNT] = {
#define X(name, text) [STAT_##name] = text,
		STATS(X)
#undef X
	};

	for (uint64_t id = 1; id < STAT_COUNT; id++) {
		size_t entry = dw_proto_open(to, PLANE_STAT_META), meta;

		dw_proto_u64(to, MAP_KEY, id);
		meta = dw_proto_open(to, MAP_VALUE);
		dw_proto_u64(to, META_ID, id);
		dw_proto_text(to, META_NAME, names[id]);
		dw_proto_close(to, meta);
		dw_proto_close(to, entry);
	}
}

static void put_names(struct xplane *xplane)
{
	char name[MOST_NAME];

	for (uint32_t i = 0; i < xplane->chrome.symbol_count; i++) {
		const struct dw_symbol *symbol = &xplane->chrome.symbols[i];
		bool is_operator = symbol->category == DWELL_CATEGORY_OPERATOR && *symbol->name;

		if (!xplane->named[i])
			continue;
		if (is_operator)
			operator_name(name, sizeof name, symbol->name);
		put_event_name(&xplane->plane, (uint64_t)i + 1, is_operator ? name : symbol->name,
		               is_operator ? symbol->name : NULL);
	}
	for (uint32_t i = 0; i < NAME_COUNT; i++)
		put_event_name(&xplane->plane, (uint64_t)own(xplane, i) + 1, own_names[i], NULL);
	put_stat_names(&xplane->plane);
}

/* ---- the document ------------------------------------------------------------------- */

static void drain(struct xplane *xplane)
{
	xplane->chrome.failed |= xplane->plane.failed;
	if (!xplane->chrome.failed)
		dw_out_bytes(xplane->chrome.out, (const char *)xplane->plane.bytes, xplane->plane.used);
	xplane->plane.used = 0;
}

static void put_environment(struct xplane *xplane, uint64_t end_ns)
{
	const struct dw_source *source = xplane->chrome.source;
	struct dw_proto *to = &xplane->plane;
	size_t plane = dw_proto_open(to, SPACE_PLANE);
	char text[128];

	dw_proto_u64(to, PLANE_ID, 2);
	dw_proto_text(to, PLANE_NAME, "Task Environment");
	put_stat_names(to);
	put_uint(to, PLANE_STAT, STAT_START_TIME, source->realtime_start_ns + xplane->base_ns);
	put_uint(to, PLANE_STAT, STAT_STOP_TIME, source->realtime_start_ns + end_ns);
	dw_proto_close(to, plane);
	if (xplane->left_out) {
		snprintf(text, sizeof text, "%llu events overlap too many others and are left out",
		         (unsigned long long)xplane->left_out);
		dw_proto_text(to, SPACE_WARNING, text);
	}
	if (source->file_count && source->files[0].head) {
		snprintf(text, sizeof text, "%.64s", source->files[0].head->hostname);
		dw_proto_text(to, SPACE_HOST, text);
	}
	drain(xplane);
}

static int put_all(struct xplane *xplane, struct dwell_error *error)
{
	struct dw_chrome *chrome = &xplane->chrome;
	uint64_t end_ns = 0;
	size_t plane;
	int result = dw_model_events(chrome->model, each, xplane, error);

	if (result < 0)
		return result;
	add_steps(xplane);
	if (!chrome->failed)
		dw_chrome_memory_write(chrome, add_memory, xplane);
	if (!chrome->failed)
		dw_chrome_flows_write(chrome, add_end, xplane);
	xplane->base_ns = xplane->count ? UINT64_MAX : 0;
	for (size_t i = 0; i < xplane->count; i++) {
		const struct event *event = &xplane->events[i];

		xplane->base_ns = event->start_ns < xplane->base_ns ? event->start_ns : xplane->base_ns;
		end_ns = event->end_ns > end_ns ? event->end_ns : end_ns;
	}
	if (xplane->count)
		qsort(xplane->events, xplane->count, sizeof *xplane->events, compare);
	plane = dw_proto_open(&xplane->plane, SPACE_PLANE);
	dw_proto_u64(&xplane->plane, PLANE_ID, 1);
	dw_proto_text(&xplane->plane, PLANE_NAME, "/host:CPU");
	put_lines(xplane);
	put_names(xplane);
	dw_proto_close(&xplane->plane, plane);
	drain(xplane);
	put_environment(xplane, end_ns);
	return 0;
}

int dw_export_xplane(struct dw_model *model, const struct dw_export_options *options,
                     struct dw_writer_out *out, struct dwell_error *error)
{
	struct xplane xplane = { .chrome = { .model = model, .out = out,
		.source = dw_model_source(model) } };
	struct dw_chrome *chrome = &xplane.chrome;
	int result = 0;

	chrome->symbols = dw_model_symbols(model, &chrome->symbol_count);
	xplane.named = calloc(chrome->symbol_count + 1, sizeof *xplane.named);
	xplane.counters = (uint32_t)chrome->source->thread_count * 2;
	chrome->failed = !xplane.named || !chrome->symbols;
	if (!chrome->failed)
		result = put_all(&xplane, error);
	if (!result && chrome->failed)
		result = dw_error_set(error, DWELL_E_NOMEM,
		                      "out of memory while exporting to %s; export fewer steps (--steps) "
		                      "or one thread (--thread)",
		                      dw_out_name(out));
	dw_arena_reset(&chrome->arena);
	dw_proto_reset(&xplane.plane);
	free(chrome->memory.changes);
	free(chrome->flows.ends);
	free(chrome->flows.names);
	free(xplane.events);
	free(xplane.memory);
	free(xplane.peaks);
	free(xplane.named);
	return result;
}
