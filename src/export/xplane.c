/*
 * XSpace: what XLA's profiler writes and TensorBoard's profile plugin (XProf) reads.
 *
 * Called through export.c; its parts are in xplane.h, what it shares with the Chrome trace is in chrome.h. All
 * threads are lines of the plane "/host:CPU", where the plugin looks for steps and
 * operators. A line's events are sorted and nest: what overlaps another without nesting
 * goes to a further line of the same thread. Times are since the first event. No event
 * has a stat "group_id", so that the plugin groups events by step itself.
 *
 * Memory: 48 bytes an event, and the encoded plane, some 30 bytes an event.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/grow.h"
#include "export/xplane.h"

enum { HOST_PLANE = 1, ENVIRONMENT_PLANE = 2, FIRST_DEVICE_PLANE = 3 };

struct dw_xplane_event *dw_xplane_add(struct dw_xplane *xplane, uint32_t line,
                                      enum dw_xplane_kind kind, uint32_t name, uint64_t start_ns,
                                      uint64_t end_ns)
{
	struct dw_xplane_event *event = DW_GROW(&xplane->events, &xplane->capacity, xplane->count);

	if (!event) {
		xplane->chrome.failed = true;
		return NULL;
	}
	xplane->count++;
	*event = (struct dw_xplane_event){ .start_ns = start_ns, .end_ns = end_ns > start_ns ? end_ns : start_ns,
		.line = line, .name = name, .kind = kind, .number = UINT64_MAX };
	if (name < xplane->chrome.symbol_count)
		xplane->named[name] = true;
	return event;
}

/* ---- events as they come ----------------------------------------------------------------- */

static void add_range(struct dw_xplane *xplane, const struct dw_event *from)
{
	struct dw_xplane_event *event = dw_xplane_add(xplane, from->thread * 2 + from->nested,
	                          from->open ? RANGE_OPEN : RANGE, from->symbol, from->start_ns,
	                          from->end_ns);

	if (!event)
		return;
	event->async = from->type == DW_EVENT_ASYNC;
	event->depth = from->depth + 1; /* a step of the same times lies around it */
	event->number = from->type == DW_EVENT_RANGE ? from->sequence : UINT64_MAX;
	/* The text lives as long as the call. */
	event->args = from->type == DW_EVENT_RANGE && from->args
	                  ? dw_arena_text(&xplane->chrome.arena, from->args, strlen(from->args))
	                  : NULL;
}

static int each(void *context, const struct dw_event *event)
{
	struct dw_xplane *xplane = context;
	struct dw_chrome *chrome = &xplane->chrome;
	struct dw_xplane_event *added;

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
		added = dw_xplane_add(xplane, event->thread * 2 + event->nested, RANGE, event->symbol,
		            event->start_ns, event->start_ns);
		if (added)
			added->depth = UINT32_MAX;
		break;
	case DW_EVENT_COUNTER:
		added = isfinite(event->value) ? dw_xplane_add(xplane, xplane->counters, COUNTER, event->symbol,
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

static void add_steps(struct dw_xplane *xplane)
{
	const struct dw_source *source = xplane->chrome.source;

	for (size_t i = 0; i < source->step_count; i++) {
		const struct dw_source_step *step = &source->steps[i];
		struct dw_xplane_event *event;

		if (!step->recorded || !dw_model_has_step(xplane->chrome.model, step))
			continue;
		event = dw_xplane_add(xplane, step->thread * 2, STEP, dw_xplane_own(xplane, NAME_STEP), step->start_ns,
		            step->end_ns);
		if (event) {
			event->number = step->number;
			event->step = (uint32_t)i;
		}
	}
}

/* An arrow's end is a moment at the begin of the call it joins. */
static void add_end(void *to, const struct dw_chrome_end *end, uint64_t id, char phase)
{
	struct dw_xplane *xplane = to;
	bool link = (end->name & ~DW_CHROME_IN) == DW_CHROME_LINK;
	struct dw_xplane_event *event = dw_xplane_add(xplane, end->track, phase == 'f' ? FLOW_IN : FLOW_OUT,
	                          link ? dw_xplane_own(xplane, NAME_LINK) : end->symbol, end->ns, end->ns);

	if (event) {
		event->depth = UINT32_MAX;
		/* links and others count apart */
		event->number = id << 1 | link;
	}
}

/* ---- the document ------------------------------------------------------------------------ */

static void drain(struct dw_xplane *xplane)
{
	xplane->chrome.failed |= xplane->plane.failed;
	if (!xplane->chrome.failed)
		dw_out_bytes(xplane->chrome.out, (const char *)xplane->plane.bytes, xplane->plane.used);
	xplane->plane.used = 0;
}

static void put_environment(struct dw_xplane *xplane, uint64_t end_ns)
{
	const struct dw_source *source = xplane->chrome.source;
	struct dw_proto *to = &xplane->plane;
	size_t plane = dw_proto_open(to, SPACE_PLANE);
	char text[128];

	dw_proto_u64(to, PLANE_ID, ENVIRONMENT_PLANE);
	dw_proto_text(to, PLANE_NAME, "Task Environment");
	dw_xplane_put_stat_names(to);
	dw_xplane_put_uint(to, PLANE_STAT, STAT_START_TIME, source->realtime_start_ns + xplane->base_ns);
	dw_xplane_put_uint(to, PLANE_STAT, STAT_STOP_TIME, source->realtime_start_ns + end_ns);
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

/* Whether names must say which process a thread is of; `dwell run` itself is none. */
static void count_processes(struct dw_xplane *xplane)
{
	const struct dw_source *source = xplane->chrome.source;
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

/* device_length: of the name, when it is a device's. */
static void put_plane(struct dw_xplane *xplane, uint64_t id, const char *name, size_t device_length)
{
	size_t plane = dw_proto_open(&xplane->plane, SPACE_PLANE);

	dw_proto_u64(&xplane->plane, PLANE_ID, id);
	if (device_length)
		dw_proto_bytes(&xplane->plane, PLANE_NAME, name, device_length);
	else
		dw_proto_text(&xplane->plane, PLANE_NAME, name);
	dw_xplane_put_lines(xplane, name, device_length);
	dw_xplane_put_names(xplane);
	if (xplane->pid && !device_length)
		dw_xplane_put_uint(&xplane->plane, PLANE_STAT, STAT_PROCESS_ID, xplane->pid);
	dw_proto_close(&xplane->plane, plane);
	drain(xplane);
}

/* A plane for each device that some thread's name begins with. */
static void put_devices(struct dw_xplane *xplane)
{
	uint64_t id = FIRST_DEVICE_PLANE;

	for (uint32_t i = 0; i < xplane->chrome.source->thread_count && !xplane->chrome.failed; i++) {
		const char *name, *other;
		size_t length = dw_xplane_device(xplane, i * 2, &name);
		bool seen = !length;

		for (uint32_t j = 0; j < i && !seen; j++)
			seen = dw_xplane_device(xplane, j * 2, &other) == length &&
			       memcmp(name, other, length) == 0;
		if (!seen)
			put_plane(xplane, id++, name, length);
	}
}

static int put_all(struct dw_xplane *xplane, struct dwell_error *error)
{
	struct dw_chrome *chrome = &xplane->chrome;
	uint64_t end_ns = 0;
	int result = dw_model_events(chrome->model, each, xplane, error);

	if (result < 0)
		return result;
	count_processes(xplane);
	add_steps(xplane);
	if (!chrome->failed)
		dw_xplane_add_memory(xplane);
	if (!chrome->failed)
		dw_chrome_flows_write(chrome, add_end, xplane);
	xplane->base_ns = xplane->count ? UINT64_MAX : 0;
	for (size_t i = 0; i < xplane->count; i++) {
		const struct dw_xplane_event *event = &xplane->events[i];

		xplane->base_ns = event->start_ns < xplane->base_ns ? event->start_ns : xplane->base_ns;
		end_ns = event->end_ns > end_ns ? event->end_ns : end_ns;
	}
	dw_xplane_sort(xplane);
	dw_xplane_find_owners(xplane);
	put_plane(xplane, HOST_PLANE, "/host:CPU", 0);
	put_devices(xplane);
	put_environment(xplane, end_ns);
	return 0;
}

int dw_export_xplane(struct dw_model *model, const struct dw_export_options *options,
                     struct dw_writer_out *out, struct dwell_error *error)
{
	struct dw_xplane xplane = { .chrome = { .model = model, .out = out,
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
