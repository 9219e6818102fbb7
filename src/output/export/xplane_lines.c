/*
 * The lines of an XSpace: the events of a thread with their stats, and the names of both.
 *
 * Called by xplane.c. The events of a line are sorted and nest: an event that partly overlaps
 * another one is moved to a further line of the same thread. The profile plugin recognises
 * operators by the form of their names, so an operator has two names: one for the plugin, and its
 * own for display. Category and detail are stored with the name for dwell itself, which can read
 * the file as a trace (import/xspace_names.c).
 */
#include <ctype.h>

#include "base/grow.h"
#include "export/xplane_parts.h"

#define PS_PER_NS 1000u
#define MOST_LANES 64u /* lines of one thread */
#define MOST_NAME DW_XPLANE_MOST_NAME
#define LAUNCH_FLOWS ((uint64_t)1 << 54)

/* ---- names of operators ------------------------------------------------------------------ */

/* Writes the plugin's name of an operator: "aten::add" becomes "aten/add". Returns the length. */
static size_t xplane_operation_name(char *to, size_t size, const char *name)
{
	size_t used = 0;

	for (const char *from = name; *from && used + 1 < size; from++) {
		if (from[0] == ':' && from[1] == ':')
			from++;
		to[used++] = *from == ':' ? '/' : isalnum((unsigned char)*from) || *from == '.' || *from == '/' ? *from : '_';
	}
	if (used && (to[0] == '_' || to[0] == '/'))
		to[0] = '.';
	to[used] = '\0';
	return used;
}

uint64_t dw_xplane_launch_flow(uint32_t first_event, bool arrives)
{
	return (arrives ? 1 : 2) | (LAUNCH_FLOWS | first_event) << 2;
}

/* The plugin treats an event as an operator if its name has the form "scope/op:Type" and the type
 * begins with a capital letter: "aten::add" becomes "aten/add:Aten_add". */
void dw_xplane_operator_name(char *to, size_t size, const char *name)
{
	size_t used = xplane_operation_name(to, size / 2 - 1, name), type;

	to[used++] = ':';
	type = used;
	for (size_t i = 0; i + 1 < type; i++)
		to[used++] = isalnum((unsigned char)to[i]) ? to[i] : '_';
	to[type] = (char)toupper((unsigned char)to[type]);
	if (isdigit((unsigned char)to[type]))
		to[type] = '_';
	to[used] = '\0';
}

/* ---- names of lines ----------------------------------------------------------------------- */

size_t dw_xplane_device(const struct dw_xplane *xplane, uint32_t line, const char **name)
{
	const char *space;

	*name = "";
	if (line >= xplane->counters)
		return 0;
	*name = xplane->timeline.source->threads[line / 2].name;
	space = strchr(*name, ' ');
	return strncmp(*name, "/device:", 8) == 0 && space ? (size_t)(space - *name) : 0;
}

void dw_xplane_line_prefix(const struct dw_xplane *xplane, uint32_t index, char to[96])
{
	const struct dw_source_process *process = &xplane->timeline.source->processes[index];

	*to = '\0';
	if (process->rank >= 0)
		snprintf(to, 96, "rank %d: ", (int)process->rank);
	else if (xplane->several)
		snprintf(to, 96, "%u: ", process->pid);
}

/* Writes the name of a thread's line in the form that import/xspace_owners.c parses. */
static void xplane_line_name(const struct dw_xplane *xplane, uint32_t line, char to[MOST_NAME])
{
	const struct dw_source *source = xplane->timeline.source;
	const struct dw_source_thread *thread = &source->threads[line / 2];
	char prefix[96];
	size_t device;
	const char *whole;

	dw_xplane_line_prefix(xplane, thread->process, prefix);
	device = dw_xplane_device(xplane, line, &whole);
	if (device)
		snprintf(to, MOST_NAME, "%s%.200s", prefix, whole + device + 1);
	else
		snprintf(to, MOST_NAME, "%s%.200s/%u%s", prefix, thread->name, thread->tid,
		         line % 2 ? " (signal handlers)" : "");
}

/* ---- stats ------------------------------------------------------------------------------- */

static size_t xplane_open_stat(struct dw_proto *to, uint32_t field, enum dw_xplane_stat stat)
{
	size_t at = dw_proto_open(to, field);

	dw_proto_u64(to, XS_STAT_META, stat);
	return at;
}

static void xplane_put_int(struct dw_proto *to, enum dw_xplane_stat stat, int64_t value)
{
	size_t at = xplane_open_stat(to, XS_EVENT_STAT, stat);

	dw_proto_u64(to, XS_STAT_INT, (uint64_t)value);
	dw_proto_close(to, at);
}

void dw_xplane_put_uint(struct dw_proto *to, uint32_t field, enum dw_xplane_stat stat, uint64_t value)
{
	size_t at = xplane_open_stat(to, field, stat);

	dw_proto_u64(to, XS_STAT_UINT, value);
	dw_proto_close(to, at);
}

static void xplane_put_double(struct dw_proto *to, enum dw_xplane_stat stat, double value)
{
	size_t at = xplane_open_stat(to, XS_EVENT_STAT, stat);

	dw_proto_double(to, XS_STAT_DOUBLE, value);
	dw_proto_close(to, at);
}

void dw_xplane_put_text(struct dw_proto *to, uint32_t field, enum dw_xplane_stat stat, const char *text)
{
	size_t at = xplane_open_stat(to, field, stat);

	dw_proto_text(to, XS_STAT_TEXT, text);
	dw_proto_close(to, at);
}

static void xplane_put_operation(struct dw_proto *to, uint32_t field, enum dw_xplane_stat stat, const char *name)
{
	char operation[MOST_NAME / 2];

	xplane_operation_name(operation, sizeof operation, name);
	dw_xplane_put_text(to, field, stat, operation);
}

/* An event that consumes the context of a step belongs to that step, on any line. */
static void xplane_put_context(struct dw_proto *to, enum dw_xplane_stat type, enum dw_xplane_stat id, uint32_t step)
{
	xplane_put_int(to, type, DW_XSPACE_STEP_CONTEXT);
	dw_xplane_put_uint(to, XS_EVENT_STAT, id, (uint64_t)step + 1);
}

static void xplane_put_memory(struct dw_xplane *xplane, const struct dw_xplane_memory *memory)
{
	struct dw_proto *to = &xplane->plane;
	int64_t bytes = memory->bytes < 0 ? -memory->bytes : memory->bytes;
	char line[MOST_NAME];

	xplane_line_name(xplane, memory->track, line);
	dw_xplane_put_text(to, XS_EVENT_STAT, STAT_THREAD, line);
	dw_xplane_put_text(to, XS_EVENT_STAT, STAT_ALLOCATOR, memory->device);
	xplane_put_int(to, STAT_RESERVED, 0);
	xplane_put_int(to, STAT_ALLOCATED, memory->total);
	xplane_put_int(to, STAT_AVAILABLE, 0);
	xplane_put_double(to, STAT_FRAGMENTATION, 0);
	xplane_put_int(to, STAT_PEAK, memory->peak);
	xplane_put_int(to, STAT_REQUESTED, bytes);
	xplane_put_int(to, STAT_ALLOCATION, bytes);
	xplane_put_int(to, STAT_ADDRESS, (int64_t)memory->address);
	dw_xplane_put_text(to, XS_EVENT_STAT, STAT_REGION, xplane->timeline.symbols[memory->symbol].name);
	if (memory->step != UINT32_MAX)
		xplane_put_context(to, STAT_CONSUMER_TYPE, STAT_CONSUMER, memory->step);
	if (memory->owner != UINT32_MAX)
		xplane_put_operation(to, XS_EVENT_STAT, STAT_TF_OP, xplane->timeline.symbols[memory->owner].name);
	else
		dw_xplane_put_text(to, XS_EVENT_STAT, STAT_TF_OP, "(no operator)");
	dw_xplane_put_text(to, XS_EVENT_STAT, STAT_DATA_TYPE, "");
	dw_xplane_put_text(to, XS_EVENT_STAT, STAT_SHAPE, "");
}

static void xplane_put_event(struct dw_xplane *xplane, const struct dw_xplane_event *event)
{
	struct dw_proto *to = &xplane->plane;
	size_t at = dw_proto_open(to, XS_LINE_EVENT);

	dw_proto_u64(to, XS_EVENT_META, (uint64_t)event->name + 1);
	dw_proto_u64(to, XS_EVENT_OFFSET_PS, (event->start_ns - xplane->base_ns) * PS_PER_NS);
	dw_proto_u64(to, XS_EVENT_DURATION_PS, (event->end_ns - event->start_ns) * PS_PER_NS);
	switch ((enum dw_xplane_kind)event->kind) {
	case RANGE_OPEN:
		xplane_put_int(to, STAT_OPEN, 1);
		/* fall through */
	case RANGE:
		if (event->async)
			xplane_put_int(to, STAT_ASYNC, 1);
		if (event->number != UINT64_MAX)
			dw_xplane_put_uint(to, XS_EVENT_STAT, STAT_SEQUENCE, event->number);
		if (event->args)
			dw_xplane_put_text(to, XS_EVENT_STAT, STAT_ARGS, event->args);
		if (event->correlation)
			dw_xplane_put_uint(to, XS_EVENT_STAT, STAT_CORRELATION, event->correlation);
		if (event->launched)
			dw_xplane_put_uint(to, XS_EVENT_STAT, STAT_FLOW, dw_xplane_launch_flow(event->launched - 1, false));
		break;
	case STEP:
		xplane_put_int(to, STAT_STEP_NUM, (int64_t)event->number);
		xplane_put_int(to, STAT_ROOT, 1);
		xplane_put_context(to, STAT_PRODUCER_TYPE, STAT_PRODUCER, event->step);
		break;
	case MEMORY: xplane_put_memory(xplane, &xplane->memory[event->number]); break;
	case FLOW_OUT:
	case FLOW_IN: /* 2 bits of direction, then 56 bits of id, then the category, which is 0 */
		dw_xplane_put_uint(to, XS_EVENT_STAT, STAT_FLOW,
		         (event->kind == FLOW_OUT ? 2 : 1) | (event->number & 0xffffffffffffff) << 2);
		break;
	case COUNTER: xplane_put_double(to, STAT_VALUE, event->value); break;
	}
	dw_proto_close(to, at);
}

/* ---- lines ------------------------------------------------------------------------------- */

static int xplane_compare_events(const void *left, const void *right)
{
	const struct dw_xplane_event *a = left, *b = right;

	if (a->line != b->line)
		return a->line < b->line ? -1 : 1;
	if (a->start_ns != b->start_ns)
		return a->start_ns < b->start_ns ? -1 : 1;
	if (a->end_ns != b->end_ns)
		return a->end_ns > b->end_ns ? -1 : 1;
	if (a->depth != b->depth)
		return a->depth < b->depth ? -1 : 1;
	if (a->kind == MEMORY && b->kind == MEMORY)
		return a->number < b->number ? -1 : a->number > b->number;
	return a->name < b->name ? -1 : a->name > b->name;
}

/* Returns 1 if the event nests in the open ones, and opens it; 0 if it does not nest; -1 if out of
 * memory. */
static int xplane_nests(uint64_t **ends, size_t *capacity, size_t *open, const struct dw_xplane_event *event)
{
	while (*open && (*ends)[*open - 1] <= event->start_ns)
		--*open;
	if (*open && (*ends)[*open - 1] < event->end_ns)
		return 0;
	if (event->end_ns == event->start_ns)
		return 1;
	return DW_APPEND(ends, capacity, open, event->end_ns) ? 1 : -1;
}

static void xplane_put_line_name(struct dw_xplane *xplane, uint32_t line, unsigned lane)
{
	char name[MOST_NAME];
	size_t used;

	if (line == xplane->counters) {
		dw_proto_text(&xplane->plane, XS_LINE_NAME, "_counters_");
	} else if (line > xplane->counters) {
		dw_proto_text(&xplane->plane, XS_LINE_NAME, "allocations");
	} else {
		xplane_line_name(xplane, line, name);
		used = strlen(name);
		if (lane)
			snprintf(name + used, sizeof name - used, " (overlapping %u)", lane);
		dw_proto_text(&xplane->plane, XS_LINE_NAME, name);
	}
}

/* Writes one line with the events that nest. Moves the others to the front and returns their
 * number. */
static size_t xplane_put_lane(struct dw_xplane *xplane, struct dw_xplane_event *events, size_t count, unsigned lane)
{
	uint64_t *ends = NULL;
	size_t capacity = 0, open = 0, left = 0;
	uint32_t line = events->line;
	size_t at = dw_proto_open(&xplane->plane, XS_PLANE_LINE);

	dw_proto_u64(&xplane->plane, XS_LINE_ID,
	             line > xplane->counters ? DW_XSPACE_MEMORY_LINE
	                                     : (uint64_t)line * MOST_LANES + lane + 1);
	xplane_put_line_name(xplane, line, lane);
	dw_proto_u64(&xplane->plane, XS_LINE_TIMESTAMP_NS, 0);
	for (size_t i = 0; i < count && !xplane->timeline.failed; i++) {
		int fits = xplane_nests(&ends, &capacity, &open, &events[i]);

		xplane->timeline.failed |= fits < 0 || xplane->plane.failed;
		if (fits > 0)
			xplane_put_event(xplane, &events[i]);
		else
			events[left++] = events[i];
	}
	dw_proto_close(&xplane->plane, at);
	free(ends);
	return left;
}

void dw_xplane_sort(struct dw_xplane *xplane)
{
	if (xplane->count)
		qsort(xplane->events, xplane->count, sizeof *xplane->events, xplane_compare_events);
}

void dw_xplane_put_lines(struct dw_xplane *xplane, const char *device, size_t length)
{
	size_t from = 0;

	while (from < xplane->count && !xplane->timeline.failed) {
		size_t to = from, left;
		const char *name;

		while (to < xplane->count && xplane->events[to].line == xplane->events[from].line)
			to++;
		left = to - from;
		if (dw_xplane_device(xplane, xplane->events[from].line, &name) != length || strncmp(name, device, length) != 0)
			left = 0; /* they belong to another plane */
		for (unsigned lane = 0; lane < MOST_LANES && left; lane++)
			left = xplane_put_lane(xplane, &xplane->events[from], left, lane);
		xplane->left_out += left;
		from = to;
	}
}

/* ---- names of events and stats ----------------------------------------------------------- */

static const char *const xplane_own_names[NAME_COUNT] = {
	"train", "MemoryAllocation", "MemoryDeallocation", "forward to backward"
};

static const char *xplane_category_name(const struct dw_symbol *symbol)
{
	return symbol ? dw_category_name(symbol->category) : NULL;
}

void dw_xplane_put_event_name(struct dw_proto *to, uint64_t id, const char *name, const char *display,
                           const struct dw_symbol *symbol)
{
	size_t entry = dw_proto_open(to, XS_PLANE_EVENT_META), meta;

	dw_proto_u64(to, XS_MAP_KEY, id);
	meta = dw_proto_open(to, XS_MAP_VALUE);
	dw_proto_u64(to, XS_META_ID, id);
	dw_proto_text(to, XS_META_NAME, name);
	if (display)
		dw_proto_text(to, XS_META_DISPLAY, display);
	if (xplane_category_name(symbol))
		dw_xplane_put_text(to, XS_META_STAT, STAT_CATEGORY, xplane_category_name(symbol));
	if (symbol && symbol->detail)
		dw_xplane_put_text(to, XS_META_STAT, STAT_DETAIL, symbol->detail);
	dw_proto_close(to, meta);
	dw_proto_close(to, entry);
}

void dw_xplane_put_stat_names(struct dw_proto *to, bool streams)
{
	static const char *const names[STAT_COUNT] = {
#define X(name, text) [STAT_##name] = text,
		DW_XPLANE_STATS(X)
#undef X
	};

	for (uint64_t id = 1; id < STAT_COUNT; id++) {
		size_t entry, meta;

		if (streams && id == STAT_CATEGORY)
			continue;
		entry = dw_proto_open(to, XS_PLANE_STAT_META);
		dw_proto_u64(to, XS_MAP_KEY, id);
		meta = dw_proto_open(to, XS_MAP_VALUE);
		dw_proto_u64(to, XS_META_ID, id);
		dw_proto_text(to, XS_META_NAME, names[id]);
		dw_proto_close(to, meta);
		dw_proto_close(to, entry);
	}
}

void dw_xplane_put_names(struct dw_xplane *xplane)
{
	char name[MOST_NAME];

	for (uint32_t i = 0; i < xplane->timeline.symbol_count; i++) {
		const struct dw_symbol *symbol = &xplane->timeline.symbols[i];
		bool is_operator = symbol->category == DWELL_CATEGORY_OPERATOR && *symbol->name;

		if (!xplane->named[i])
			continue;
		if (is_operator)
			dw_xplane_operator_name(name, sizeof name, symbol->name);
		dw_xplane_put_event_name(&xplane->plane, (uint64_t)i + 1, is_operator ? name : symbol->name,
		               is_operator ? symbol->name : NULL, symbol);
	}
	for (uint32_t i = 0; i < NAME_COUNT; i++)
		dw_xplane_put_event_name(&xplane->plane, (uint64_t)dw_xplane_own_name(xplane, i) + 1, xplane_own_names[i], NULL, NULL);
	dw_xplane_put_stat_names(&xplane->plane, false);
}

