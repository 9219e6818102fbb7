/*
 * Devices in a Perfetto trace: a track for each device inside its process, and in it the rows of
 * device_rows.h. An arrow leads from the slice of a runtime call to each event that it submitted.
 */

#include "export/perfetto_device.h"

struct perfetto_device {
	struct dw_perfetto *packets;
	struct dw_launches *launches;
	const struct dw_device_work *work;
	const struct dw_source *source;
	uint64_t *tracks; /* by device; 0: it has no row yet */
	bool *interned;   /* by name of the work */
};

static uint64_t device_put_row(void *to, const struct dw_device_row *row)
{
	struct perfetto_device *device = to;
	uint64_t *track = &device->tracks[row->device];
	char name[160];

	if (!*track) {
		dw_device_row_title(device->source, row->device, name);
		*track = dw_perfetto_new_track(device->packets,
		                               device->packets->first_process_track + device->source->devices[row->device].process, name);
	}
	return dw_perfetto_new_track(device->packets, *track, row->name);
}

/* The categories of Kineto's events. */
static const char *device_category(uint32_t kind)
{
	switch (kind) {
	case DW_DEVICE_COPY: return "gpu_memcpy";
	case DW_DEVICE_SET: return "gpu_memset";
	case DW_DEVICE_SYNC: return "cuda_sync";
	case DW_DEVICE_RANGE: return "gpu_user_annotation";
	case DW_DEVICE_OVERHEAD: return "overhead";
	default: return "kernel";
	}
}

static void device_annotate(struct dw_perfetto *packets, const struct dw_device_event *event)
{
	const struct dw_entry_launch *launch = event->launch;
	char text[64];

	if (event->correlation)
		dw_perfetto_annotate_u64(packets, "correlation", event->correlation);
	if (event->bytes)
		dw_perfetto_annotate_u64(packets, "bytes", event->bytes);
	if (!launch)
		return;
	snprintf(text, sizeof text, "[%u,%u,%u]", launch->grid[0], launch->grid[1], launch->grid[2]);
	dw_perfetto_annotate(packets, "grid", text, true);
	snprintf(text, sizeof text, "[%u,%u,%u]", launch->block[0], launch->block[1], launch->block[2]);
	dw_perfetto_annotate(packets, "block", text, true);
}

static void device_put_event(void *to, const struct dw_device_event *event, size_t index, uint64_t track)
{
	struct perfetto_device *device = to;
	struct dw_perfetto *packets = device->packets;
	struct dw_perfetto_event opened;

	if (!device->interned[event->name])
		dw_perfetto_intern_device(packets, event->name, device->work->names[event->name].name,
		                          event->kind, device_category(event->kind));
	device->interned[event->name] = true;
	opened = dw_perfetto_open(packets, DW_PERFETTO_BEGIN, track, event->start_ns);
	dw_perfetto_name_device(packets, event->name, event->kind);
	device_annotate(packets, event);
	if (device->launches->sent[index])
		dw_perfetto_launch(packets, (uint32_t)index, true);
	dw_perfetto_close(packets, opened);
	dw_perfetto_close(packets, dw_perfetto_open(packets, DW_PERFETTO_END, track, event->end_ns));
}

/* A call that the driver reported late. The others are slices of their threads. */
static void device_put_call(struct perfetto_device *to, const struct dw_device_call *call, uint64_t track)
{
	struct dw_perfetto *packets = to->packets;
	struct dw_launched launched;
	struct dw_perfetto_event opened;

	dw_perfetto_intern(packets, call->symbol);
	opened = dw_perfetto_open(packets, DW_PERFETTO_BEGIN, track, call->start_ns);
	dw_perfetto_name(packets, call->symbol);
	launched = dw_launches_of(to->launches, call->thread, call->start_ns, call->symbol);
	if (launched.correlation)
		dw_perfetto_annotate_u64(packets, "correlation", launched.correlation);
	for (size_t i = 0; i < launched.count; i++)
		dw_perfetto_launch(packets, launched.events[i], false);
	dw_perfetto_close(packets, opened);
	dw_perfetto_close(packets, dw_perfetto_open(packets, DW_PERFETTO_END, track, call->end_ns));
}

/* They have a track of their own below that of their thread: their times come from another clock, so that they may
 * cross slices of the thread. */
static void device_put_calls(struct perfetto_device *to)
{
	uint64_t *tracks = calloc(to->source->thread_count + 1, sizeof *tracks);

	to->packets->timeline->failed |= !tracks;
	for (size_t i = 0; tracks && i < to->work->call_count; i++) {
		const struct dw_device_call *call = &to->work->calls[i];

		if (!dw_device_wants_late_call(to->packets->timeline, call))
			continue;
		if (!tracks[call->thread])
			tracks[call->thread] = dw_perfetto_new_track(to->packets, 1 + (uint64_t)call->thread * 2, "calls of the driver");
		device_put_call(to, call, tracks[call->thread]);
	}
	free(tracks);
}

void dw_perfetto_put_devices(struct dw_perfetto *packets, struct dw_launches *launches)
{
	static const struct dw_device_rows_format format = { device_put_row, device_put_event };
	struct dw_timeline *timeline = packets->timeline;
	struct perfetto_device to = { .packets = packets, .launches = launches, .work = launches->work,
		                          .source = timeline->source };

	if (!to.work || timeline->failed)
		return;
	to.tracks = calloc(to.source->device_count + 1, sizeof *to.tracks);
	to.interned = calloc(to.work->name_count + 1, sizeof *to.interned);
	timeline->failed |= !to.tracks || !to.interned;
	device_put_calls(&to);
	dw_device_rows(timeline, &format, &to);
	free(to.tracks);
	free(to.interned);
}
