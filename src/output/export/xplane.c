/*
 * XSpace: the format of XLA's profiler, which TensorBoard's profile plugin (XProf) reads.
 *
 * All threads are lines of the plane "/host:CPU", where the plugin looks for steps and operators.
 * Devices have planes of their own (xplane_devices.c).
 * Times are relative to the first event. No event has a stat "group_id", so that the plugin groups
 * events by step itself.
 *
 * An allocation belongs to the innermost open operator of its thread. If there is none, it belongs
 * to the innermost range that the program named, as in the view `memory` (model/memory/memory.h).
 *
 * Called through export.c. It collects all events, because lines are sorted. Memory: that of the
 * timeline, 56 bytes per event, and the encoded plane with about 30 bytes per event.
 */
#include <math.h>

#include "base/free.h"
#include "base/grow.h"
#include "base/order.h"
#include "export/export.h"
#include "export/xplane_parts.h"

enum { HOST_PLANE = 1, ENVIRONMENT_PLANE = 2, FIRST_DEVICE_PLANE = 3 };

struct dw_xplane_peak {
	uint32_t process, device;
	int64_t bytes;
};

/* ---- events in the order of the streams -------------------------------------------------- */

/* Returns NULL if out of memory. */
static struct dw_xplane_event *xplane_add(struct dw_xplane *xplane, uint32_t line,
                                          enum dw_xplane_kind kind, uint32_t name, uint64_t start_ns, uint64_t end_ns)
{
	struct dw_xplane_event *event = DW_GROW(&xplane->events, &xplane->capacity, xplane->count);

	if (!event) {
		xplane->timeline.failed = true;
		return NULL;
	}
	xplane->count++;
	*event = (struct dw_xplane_event){ .start_ns = start_ns, .end_ns = end_ns > start_ns ? end_ns : start_ns,
		.line = line, .name = name, .kind = kind, .number = UINT64_MAX };
	if (name < xplane->timeline.symbol_count)
		xplane->named[name] = true;
	return event;
}

static void xplane_add_range(struct dw_xplane *xplane, const struct dw_event *from, uint32_t line,
                             uint64_t number, const char *args)
{
	struct dw_xplane_event *event =
		xplane_add(xplane, line, from->open ? RANGE_OPEN : RANGE, from->symbol, from->start_ns, from->end_ns);
	struct dw_launched launched;

	if (!event)
		return;
	event->async = from->type == DW_EVENT_ASYNC;
	event->depth = from->depth + 1; /* a step with the same times is around it */
	event->number = number;
	if (from->type == DW_EVENT_RANGE) {
		launched = dw_launches_of(&xplane->launches, from->thread, from->start_ns, from->symbol);
		event->correlation = launched.correlation;
		event->launched = launched.count ? launched.events[0] + 1 : 0;
	}
	/* `from->args` is valid only during the call. */
	event->args = args ? dw_arena_text(&xplane->timeline.arena, args, strlen(args)) : NULL;
}

static void xplane_put_range(void *to, const struct dw_event *event, uint32_t track, bool nests)
{
	xplane_add_range(to, event, track, event->sequence, event->args);
}

static void xplane_put_async(void *to, const struct dw_event *event, uint32_t track)
{
	xplane_add_range(to, event, event->thread * 2, UINT64_MAX, NULL);
}

/* Adds an event without duration, inside all open events. Returns NULL if out of memory. */
static struct dw_xplane_event *xplane_add_moment(struct dw_xplane *xplane, uint32_t line,
                                                 enum dw_xplane_kind kind, uint32_t name, uint64_t ns)
{
	struct dw_xplane_event *event = xplane_add(xplane, line, kind, name, ns, ns);

	if (event)
		event->depth = UINT32_MAX;
	return event;
}

static void xplane_put_mark(void *to, const struct dw_event *event, uint32_t track)
{
	xplane_add_moment(to, track, RANGE, event->symbol, event->start_ns);
}

static void xplane_put_counter(void *to, const struct dw_event *event, uint32_t track)
{
	struct dw_xplane *xplane = to;
	struct dw_xplane_event *added;

	if (!isfinite(event->value))
		return;
	added = xplane_add(xplane, xplane->counters, COUNTER, event->symbol, event->start_ns, event->start_ns);
	if (added)
		added->value = event->value;
}

static void xplane_put_step(void *to, const struct dw_nest_step *from)
{
	struct dw_xplane *xplane = to;
	struct dw_xplane_event *event;

	if (!from->step->recorded)
		return;
	event = xplane_add(xplane, from->track, STEP, dw_xplane_own_name(xplane, NAME_STEP), from->start_ns, from->end_ns);
	if (event) {
		event->number = from->step->number;
		event->step = (uint32_t)(from->step - xplane->timeline.source->steps);
	}
}

/* The end of an arrow is an event without duration at the begin of the call that it joins. */
static void xplane_put_arrow(void *to, const struct dw_arrow_end *end)
{
	struct dw_xplane *xplane = to;
	struct dw_xplane_event *event = xplane_add_moment(xplane, end->track, end->arrives ? FLOW_IN : FLOW_OUT,
	                                                  end->link ? dw_xplane_own_name(xplane, NAME_LINK) : end->symbol, end->ns);

	if (event)
		event->number = end->id << 1 | end->link; /* links have ids of their own */
}

/* ---- memory ------------------------------------------------------------------------------ */

/* Returns the largest total of a device in a process up to this change. */
static int64_t xplane_peak(struct dw_xplane *xplane, const struct dw_memory_total *at)
{
	uint32_t hash = dw_map_hash((uint64_t)at->process << 32 | at->device);
	uint32_t found = DW_MAP_FIND(&xplane->peak_map, hash, i, xplane->peaks[i].process == at->process &&
	                             xplane->peaks[i].device == at->device);
	struct dw_xplane_peak *peak;

	if (found != DW_MAP_NONE) {
		peak = &xplane->peaks[found];
		if (peak->bytes < at->total)
			peak->bytes = at->total;
		return peak->bytes;
	}
	peak = DW_GROW(&xplane->peaks, &xplane->peak_capacity, xplane->peak_count);
	if (!peak || !dw_map_add(&xplane->peak_map, hash, (uint32_t)xplane->peak_count)) {
		xplane->timeline.failed = true;
		return at->total;
	}
	*peak = (struct dw_xplane_peak){ at->process, at->device, at->total };
	xplane->peak_count++;
	return at->total;
}

static void xplane_put_memory(void *to, const struct dw_memory_total *at)
{
	struct dw_xplane *xplane = to;
	struct dw_xplane_memory *memory = DW_GROW(&xplane->memory, &xplane->memory_capacity, xplane->memory_count);
	struct dw_xplane_event *event;

	if (!memory) {
		xplane->timeline.failed = true;
		return;
	}
	*memory = (struct dw_xplane_memory){ at->address, at->bytes, at->total,
		xplane_peak(xplane, at), at->symbol, at->track, UINT32_MAX, UINT32_MAX, at->device_name };
	event = xplane_add_moment(xplane, at->track, MEMORY,
	                          dw_xplane_own_name(xplane, at->freed ? NAME_DEALLOCATION : NAME_ALLOCATION), at->ns);
	if (event)
		event->number = xplane->memory_count;
	xplane->memory_count++;
}

/* Categories of ranges that programs name. Layers and functions own no memory. */
#define NAMED                                                                              \
	(1u << DWELL_CATEGORY_ZONE | 1u << DWELL_CATEGORY_PHASE | 1u << DWELL_CATEGORY_ACTION |   \
	 1u << DWELL_CATEGORY_DATA | 1u << DWELL_CATEGORY_CHECKPOINT |                            \
	 1u << DWELL_CATEGORY_EVALUATION | 1u << DWELL_CATEGORY_COMMUNICATION |                   \
	 1u << DWELL_CATEGORY_EVENT | 1u << DWELL_CATEGORY_HANDLER)

struct open_range {
	uint64_t end_ns;
	uint32_t name;
};

/* Returns the symbol of the open range to which an allocation belongs, or UINT32_MAX. */
static uint32_t xplane_owner(const struct dw_xplane *xplane, const struct open_range *open, size_t count, uint64_t ns)
{
	uint32_t named = UINT32_MAX;

	while (count--) {
		uint32_t category;

		if (open[count].end_ns < ns)
			continue;
		category = xplane->timeline.symbols[open[count].name].category;
		if (category == DWELL_CATEGORY_OPERATOR)
			return open[count].name;
		if (named == UINT32_MAX && category < 32 && (1u << category & NAMED))
			named = open[count].name;
	}
	return named;
}

struct step_span {
	uint64_t start_ns, end_ns;
	uint32_t process, index;
};

DW_ORDER(xplane_compare_steps, struct step_span, DW_UP(process) DW_UP(start_ns))

/* Returns the step of a process at a time, or UINT32_MAX. */
static uint32_t xplane_step_at(const struct step_span *steps, size_t count, uint32_t process, uint64_t ns)
{
	size_t low = DW_FIRST(i, 0, count, steps[i].process > process ||
	                      (steps[i].process == process && steps[i].start_ns > ns));

	if (!low || steps[low - 1].process != process || steps[low - 1].end_ns < ns)
		return UINT32_MAX;
	return steps[low - 1].index;
}

/*
 * Assigns the last allocations to their steps.
 *
 * On the line of allocations no event of a step encloses them, and the plugin warns of incomplete
 * steps if the last of its thousand samples belongs to no step. Allocations before the last peak
 * remain without a step: the plugin assigns an allocation without a step that follows one with a
 * step to a later step, and treats everything older than the step of the peak as unused.
 */
static void xplane_find_steps(struct dw_xplane *xplane)
{
	const struct dw_source_thread *threads = xplane->timeline.source->threads;
	struct step_span *steps = NULL;
	size_t count = 0, capacity = 0, last = xplane->memory_count - xplane->memory_count / 500 - 1;

	for (size_t i = 0; i < xplane->count; i++) {
		const struct dw_xplane_event *event = &xplane->events[i];

		if (event->kind != STEP)
			continue;
		xplane->timeline.failed |= !DW_APPEND(&steps, &capacity, &count, (struct step_span){
			event->start_ns, event->end_ns, threads[event->line / 2].process, event->step });
	}
	if (count)
		qsort(steps, count, sizeof *steps, xplane_compare_steps);
	for (size_t i = last; i < xplane->memory_count; i++)
		if (xplane->memory[i].total == xplane->memory[i].peak)
			last = i + 1;
	for (size_t i = 0; i < xplane->count; i++) {
		const struct dw_xplane_event *event = &xplane->events[i];

		if (event->kind == MEMORY && event->number >= last)
			xplane->memory[event->number].step =
			    xplane_step_at(steps, count, threads[event->line / 2].process, event->start_ns);
	}
	free(steps);
}

/*
 * Finds the owner of each allocation in the sorted events, and moves it to the line of allocations.
 *
 * The plugin's memory profile shows the owner as "op name". It reads it from a stat that also makes
 * its operator statistics count the event as a call of the operator, except on a line with a number
 * of the lines that the plugin derives. Therefore all allocations are on one such line.
 */
static void xplane_find_owners(struct dw_xplane *xplane)
{
	struct open_range *open = NULL;
	size_t count = 0, capacity = 0;
	uint32_t line = UINT32_MAX;

	if (!xplane->memory_count)
		return;
	xplane_find_steps(xplane);
	for (size_t i = 0; i < xplane->count && !xplane->timeline.failed; i++) {
		struct dw_xplane_event *event = &xplane->events[i];

		if (event->line != line)
			count = 0; /* the events of another thread begin */
		line = event->line;
		while (count && open[count - 1].end_ns < event->start_ns)
			count--;
		if (event->kind == MEMORY) {
			xplane->memory[event->number].owner = xplane_owner(xplane, open, count, event->start_ns);
			event->line = dw_xplane_memory_line(xplane);
		}
		if (event->kind > RANGE_OPEN || event->async || event->end_ns == event->start_ns)
			continue;
		xplane->timeline.failed |= !DW_APPEND(&open, &capacity, &count,
		                                      (struct open_range){ event->end_ns, event->name });
	}
	free(open);
	dw_xplane_sort(xplane);
}

/* ---- the document ------------------------------------------------------------------------ */

static void xplane_put_environment(struct dw_xplane *xplane, uint64_t end_ns)
{
	const struct dw_source *source = xplane->timeline.source;
	struct dw_proto *to = &xplane->plane;
	size_t plane = dw_proto_open(to, XS_SPACE_PLANE);
	char text[128];

	dw_proto_u64(to, XS_PLANE_ID, ENVIRONMENT_PLANE);
	dw_proto_text(to, XS_PLANE_NAME, "Task Environment");
	dw_xplane_put_stat_names(to, false);
	dw_xplane_put_uint(to, XS_PLANE_STAT, STAT_START_TIME, source->realtime_start_ns + xplane->base_ns);
	dw_xplane_put_uint(to, XS_PLANE_STAT, STAT_STOP_TIME, source->realtime_start_ns + end_ns);
	dw_proto_close(to, plane);
	if (xplane->left_out) {
		snprintf(text, sizeof text, "%llu events overlap too many others and are left out",
		         (unsigned long long)xplane->left_out);
		dw_proto_text(to, XS_SPACE_WARNING, text);
	}
	if (source->file_count && source->files[0].head) {
		snprintf(text, sizeof text, "%.64s", source->files[0].head->hostname);
		dw_proto_text(to, XS_SPACE_HOST, text);
	}
	dw_xplane_drain(xplane);
}

/* Finds out whether names of lines must contain the process. `dwell run` itself does not count. */
static void xplane_count_processes(struct dw_xplane *xplane)
{
	const struct dw_source *source = xplane->timeline.source;
	size_t count = 0;

	for (size_t i = 0; i < source->process_count; i++)
		if (!(source->processes[i].flags & DW_PROCESS_RUNNER)) {
			count++;
			xplane->pid = source->processes[i].pid;
		}
	xplane->several = count > 1;
	if (xplane->several)
		xplane->pid = 0;
}

/* `device_length`: the length of `name` for a device, 0 otherwise. */
static void xplane_put_plane(struct dw_xplane *xplane, uint64_t id, const char *name, size_t device_length)
{
	size_t plane = dw_proto_open(&xplane->plane, XS_SPACE_PLANE);

	dw_proto_u64(&xplane->plane, XS_PLANE_ID, id);
	if (device_length)
		dw_proto_bytes(&xplane->plane, XS_PLANE_NAME, name, device_length);
	else
		dw_proto_text(&xplane->plane, XS_PLANE_NAME, name);
	dw_xplane_put_lines(xplane, name, device_length);
	dw_xplane_put_names(xplane);
	if (xplane->pid && !device_length)
		dw_xplane_put_uint(&xplane->plane, XS_PLANE_STAT, STAT_PROCESS_ID, xplane->pid);
	dw_proto_close(&xplane->plane, plane);
	dw_xplane_drain(xplane);
}

/* Writes a plane for each device whose streams are threads: their names begin with its name. Returns
 * the next id of a plane. */
static uint64_t xplane_put_devices(struct dw_xplane *xplane)
{
	uint64_t id = FIRST_DEVICE_PLANE;

	for (uint32_t i = 0; i < xplane->timeline.source->thread_count && !xplane->timeline.failed; i++) {
		const char *name, *other;
		size_t length = dw_xplane_device(xplane, i * 2, &name);
		bool seen = !length;

		for (uint32_t j = 0; j < i && !seen; j++)
			seen = dw_xplane_device(xplane, j * 2, &other) == length && memcmp(name, other, length) == 0;
		if (!seen)
			xplane_put_plane(xplane, id++, name, length);
	}
	return id;
}

/* Finds the start of the first event. Returns the end of the last one. */
static uint64_t xplane_find_span(struct dw_xplane *xplane)
{
	bool any_device = xplane->devices.event_count > 0;
	uint64_t end_ns = any_device ? xplane->devices.end_ns : 0;

	xplane->base_ns = any_device ? xplane->devices.start_ns : xplane->count ? UINT64_MAX : 0;
	for (size_t i = 0; i < xplane->count; i++) {
		const struct dw_xplane_event *event = &xplane->events[i];

		xplane->base_ns = event->start_ns < xplane->base_ns ? event->start_ns : xplane->base_ns;
		end_ns = event->end_ns > end_ns ? event->end_ns : end_ns;
	}
	return end_ns;
}

static const struct dw_timeline_format xplane_format = {
	.put_range = xplane_put_range, .put_mark = xplane_put_mark, .put_counter = xplane_put_counter,
	.put_async = xplane_put_async, .put_step = xplane_put_step, .put_memory = xplane_put_memory,
	.put_arrow = xplane_put_arrow,
};

static int xplane_put_document(struct dw_xplane *xplane, struct dwell_error *error)
{
	struct dw_timeline *timeline = &xplane->timeline;
	int result = dw_timeline_events(timeline, error);
	uint64_t end_ns;

	if (result)
		return result;
	dw_timeline_steps(timeline);
	dw_timeline_memory(timeline);
	dw_timeline_arrows(timeline);
	dw_xplane_collect_devices(xplane);
	xplane_count_processes(xplane);
	end_ns = xplane_find_span(xplane);
	dw_xplane_sort(xplane);
	xplane_find_owners(xplane);
	xplane_put_plane(xplane, HOST_PLANE, "/host:CPU", 0);
	dw_xplane_put_device_planes(xplane, xplane_put_devices(xplane));
	xplane_put_environment(xplane, end_ns);
	return 0;
}

static int xplane_write(struct dw_model *model, const struct dwell_export_options *options,
                        struct dw_writer_out *out, struct dwell_error *error)
{
	struct dw_xplane xplane = { .events = NULL };
	int result = 0;

	dw_timeline_open(&xplane.timeline, &xplane_format, &xplane, model, options, out);
	xplane.named = calloc(xplane.timeline.symbol_count + 1, sizeof *xplane.named);
	xplane.counters = (uint32_t)xplane.timeline.source->thread_count * 2;
	xplane.timeline.failed |= !xplane.named;
	dw_launches_make(&xplane.launches, &xplane.timeline);
	if (!xplane.timeline.failed)
		result = xplane_put_document(&xplane, error);
	dw_proto_reset(&xplane.plane);
	dw_map_reset(&xplane.peak_map);
	dw_xplane_reset_devices(&xplane);
	DW_FREE(xplane.events, xplane.memory, xplane.peaks, xplane.named);
	return dw_timeline_close(&xplane.timeline, result, error);
}

const struct dw_export_format dw_export_xplane = {
	.name = "xplane", .what = "XSpace, for TensorBoard's profile plugin (XProf)", .takes_filter = true,
	.write = xplane_write,
};
