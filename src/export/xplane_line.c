/*
 * Lines of an XSpace: the events of a thread, with what stands with each.
 *
 * Called by xplane.c. A line's events are sorted and nest: what overlaps another without
 * nesting goes to a further line of the same thread.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "export/xplane.h"

#define PS_PER_NS 1000u
#define MOST_LANES 64u /* of one thread */
#define MOST_NAME 512u

/* ---- stats ------------------------------------------------------------------------------- */

static size_t open_stat(struct dw_proto *to, uint32_t field, enum dw_xplane_stat stat)
{
	size_t at = dw_proto_open(to, field);

	dw_proto_u64(to, STAT_META, stat);
	return at;
}

static void put_int(struct dw_proto *to, enum dw_xplane_stat stat, int64_t value)
{
	size_t at = open_stat(to, EVENT_STAT, stat);

	dw_proto_u64(to, STAT_INT, (uint64_t)value);
	dw_proto_close(to, at);
}

void dw_xplane_put_uint(struct dw_proto *to, uint32_t field, enum dw_xplane_stat stat, uint64_t value)
{
	size_t at = open_stat(to, field, stat);

	dw_proto_u64(to, STAT_UINT, value);
	dw_proto_close(to, at);
}

static void put_double(struct dw_proto *to, enum dw_xplane_stat stat, double value)
{
	size_t at = open_stat(to, EVENT_STAT, stat);

	dw_proto_double(to, STAT_DOUBLE, value);
	dw_proto_close(to, at);
}

void dw_xplane_put_text(struct dw_proto *to, uint32_t field, enum dw_xplane_stat stat,
                        const char *text)
{
	size_t at = open_stat(to, field, stat);

	dw_proto_text(to, STAT_TEXT, text);
	dw_proto_close(to, at);
}

/* What consumes a step's context is that step's, in whatever line it is. */
static void put_context(struct dw_proto *to, enum dw_xplane_stat type, enum dw_xplane_stat id,
                        uint32_t step)
{
	put_int(to, type, DW_XSPACE_STEP_CONTEXT);
	dw_xplane_put_uint(to, EVENT_STAT, id, (uint64_t)step + 1);
}

static void put_memory(struct dw_xplane *xplane, const struct dw_xplane_memory *memory)
{
	struct dw_proto *to = &xplane->plane;
	int64_t bytes = memory->bytes < 0 ? -memory->bytes : memory->bytes;
	char line[MOST_NAME];

	dw_xplane_line_name(xplane, memory->track, line, sizeof line);
	dw_xplane_put_text(to, EVENT_STAT, STAT_THREAD, line);
	dw_xplane_put_text(to, EVENT_STAT, STAT_ALLOCATOR, memory->device);
	put_int(to, STAT_RESERVED, 0);
	put_int(to, STAT_ALLOCATED, memory->total);
	put_int(to, STAT_AVAILABLE, 0);
	put_double(to, STAT_FRAGMENTATION, 0);
	put_int(to, STAT_PEAK, memory->peak);
	put_int(to, STAT_REQUESTED, bytes);
	put_int(to, STAT_ALLOCATION, bytes);
	put_int(to, STAT_ADDRESS, (int64_t)memory->address);
	dw_xplane_put_text(to, EVENT_STAT, STAT_REGION, xplane->chrome.symbols[memory->symbol].name);
	if (memory->step != UINT32_MAX)
		put_context(to, STAT_CONSUMER_TYPE, STAT_CONSUMER, memory->step);
	if (memory->owner != UINT32_MAX)
		dw_xplane_put_operation(to, EVENT_STAT, STAT_TF_OP, xplane->chrome.symbols[memory->owner].name);
	else
		dw_xplane_put_text(to, EVENT_STAT, STAT_TF_OP, "(no operator)");
	dw_xplane_put_text(to, EVENT_STAT, STAT_DATA_TYPE, "");
	dw_xplane_put_text(to, EVENT_STAT, STAT_SHAPE, "");
}

static void put_event(struct dw_xplane *xplane, const struct dw_xplane_event *event)
{
	struct dw_proto *to = &xplane->plane;
	size_t at = dw_proto_open(to, LINE_EVENT);

	dw_proto_u64(to, EVENT_META, (uint64_t)event->name + 1);
	dw_proto_u64(to, EVENT_OFFSET_PS, (event->start_ns - xplane->base_ns) * PS_PER_NS);
	dw_proto_u64(to, EVENT_DURATION_PS, (event->end_ns - event->start_ns) * PS_PER_NS);
	switch ((enum dw_xplane_kind)event->kind) {
	case RANGE_OPEN:
		put_int(to, STAT_OPEN, 1);
		/* fall through */
	case RANGE:
		if (event->async)
			put_int(to, STAT_ASYNC, 1);
		if (event->number != UINT64_MAX)
			dw_xplane_put_uint(to, EVENT_STAT, STAT_SEQUENCE, event->number);
		if (event->args)
			dw_xplane_put_text(to, EVENT_STAT, STAT_ARGS, event->args);
		break;
	case STEP:
		put_int(to, STAT_STEP_NUM, (int64_t)event->number);
		put_int(to, STAT_ROOT, 1);
		put_context(to, STAT_PRODUCER_TYPE, STAT_PRODUCER, event->step);
		break;
	case MEMORY:
		put_memory(xplane, &xplane->memory[event->number]);
		break;
	case FLOW_OUT:
	case FLOW_IN: /* direction in the lowest 2 bits, then 56 of id, then the category: 0 */
		dw_xplane_put_uint(to, EVENT_STAT, STAT_FLOW,
		         (event->kind == FLOW_OUT ? 2 : 1) | (event->number & 0xffffffffffffff) << 2);
		break;
	case COUNTER:
		put_double(to, STAT_VALUE, event->value);
		break;
	}
	dw_proto_close(to, at);
}

/* ---- lines ------------------------------------------------------------------------------- */

static int compare(const void *left, const void *right)
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

/* Whether it nests in what is open; then it is open too. -1: out of memory */
static int nests(uint64_t **ends, size_t *capacity, size_t *open, const struct dw_xplane_event *event)
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

size_t dw_xplane_device(const struct dw_xplane *xplane, uint32_t line, const char **name)
{
	const char *space;

	*name = "";
	if (line >= xplane->counters)
		return 0;
	*name = xplane->chrome.source->threads[line / 2].name;
	space = strchr(*name, ' ');
	return strncmp(*name, "/device:", 8) == 0 && space ? (size_t)(space - *name) : 0;
}

void dw_xplane_line_name(const struct dw_xplane *xplane, uint32_t line, char *to, size_t room)
{
	const struct dw_source *source = xplane->chrome.source;
	const struct dw_source_thread *thread = &source->threads[line / 2];
	const struct dw_source_process *process = &source->processes[thread->process];
	size_t device;
	char prefix[96] = "";
	const char *whole;

	if (process->rank >= 0)
		snprintf(prefix, sizeof prefix, "rank %d: ", (int)process->rank);
	else if (xplane->several)
		snprintf(prefix, sizeof prefix, "%u: ", process->pid);
	device = dw_xplane_device(xplane, line, &whole);
	if (device)
		snprintf(to, room, "%s%.200s", prefix, whole + device + 1);
	else
		snprintf(to, room, "%s%.200s/%u%s", prefix, thread->name, thread->tid,
		         line % 2 ? " (signal handlers)" : "");
}

static void put_line_name(struct dw_xplane *xplane, uint32_t line, unsigned lane)
{
	char name[MOST_NAME];
	size_t used;

	if (line == xplane->counters) {
		dw_proto_text(&xplane->plane, LINE_NAME, "_counters_");
	} else if (line > xplane->counters) {
		dw_proto_text(&xplane->plane, LINE_NAME, "allocations");
	} else {
		dw_xplane_line_name(xplane, line, name, sizeof name);
		used = strlen(name);
		if (lane)
			snprintf(name + used, sizeof name - used, " (overlapping %u)", lane);
		dw_proto_text(&xplane->plane, LINE_NAME, name);
	}
}

/* One line of those that nest; the others move to the front and are counted. */
static size_t put_lane(struct dw_xplane *xplane, struct dw_xplane_event *events, size_t count, unsigned lane)
{
	uint64_t *ends = NULL;
	size_t capacity = 0, open = 0, left = 0;
	uint32_t line = events->line;
	size_t at = dw_proto_open(&xplane->plane, PLANE_LINE);

	dw_proto_u64(&xplane->plane, LINE_ID,
	             line > xplane->counters ? DW_XSPACE_MEMORY_LINE
	                                     : (uint64_t)line * MOST_LANES + lane + 1);
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

void dw_xplane_sort(struct dw_xplane *xplane)
{
	if (xplane->count)
		qsort(xplane->events, xplane->count, sizeof *xplane->events, compare);
}

void dw_xplane_put_lines(struct dw_xplane *xplane, const char *device, size_t length)
{
	size_t from = 0;

	while (from < xplane->count && !xplane->chrome.failed) {
		size_t to = from, left;
		const char *name;

		while (to < xplane->count && xplane->events[to].line == xplane->events[from].line)
			to++;
		left = to - from;
		if (dw_xplane_device(xplane, xplane->events[from].line, &name) != length ||
		    strncmp(name, device, length) != 0)
			left = 0; /* another plane's */
		for (unsigned lane = 0; lane < MOST_LANES && left; lane++)
			left = put_lane(xplane, &xplane->events[from], left, lane);
		xplane->left_out += left;
		from = to;
	}
}
