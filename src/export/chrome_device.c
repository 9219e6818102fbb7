/*
 * Devices in a Chrome trace: a process for each device, a row for each stream.
 *
 * Events of one stream may overlap, and viewers drop events that overlap only partly. So an event
 * that begins before the one before it has ended goes to a further row of its stream. An arrow leads
 * from the runtime call to each event that it submitted.
 */
#include "export/chrome_device.h"

#include <stdio.h>
#include <stdlib.h>

#include "model/device/device.h"

#define MOST_ROWS 64u            /* of a stream; further events go to the last one */
#define ROW_NUMBER 1000000000ull /* what the number of a further row adds to the stream's */
#define DEVICE_PID 4000000000ull /* for devices whose number is a process's id, too */

struct chrome_device {
	struct dw_timeline *timeline;
	struct dw_writer_out *out;
	const struct dw_device_work *work;
	uint64_t *pids;  /* by device */
	bool *any_event;
};

static void device_begin(struct chrome_device *to, const char *start)
{
	dw_out_text(to->out, *to->any_event ? ",\n{" : "{");
	dw_out_text(to->out, start);
	*to->any_event = true;
}

static void device_put_us(struct chrome_device *to, const char *member, uint64_t ns)
{
	char text[48];

	snprintf(text, sizeof text, ",\"%s\":%llu.%03llu", member, (unsigned long long)(ns / 1000),
	         (unsigned long long)(ns % 1000));
	dw_out_text(to->out, text);
}

static void device_put_number(struct chrome_device *to, const char *start, uint64_t number)
{
	dw_out_text(to->out, start);
	dw_out_u64(to->out, number);
}

/* A metadata event; `tid` UINT64_MAX: of the process. */
static void device_put_name(struct chrome_device *to, const char *what, uint64_t pid, uint64_t tid,
                            const char *name)
{
	device_begin(to, "\"ph\":\"M\",\"ts\":0,\"name\":\"");
	dw_out_text(to->out, what);
	device_put_number(to, "\",\"pid\":", pid);
	device_put_number(to, ",\"tid\":", tid == UINT64_MAX ? 0 : tid);
	dw_out_text(to->out, strcmp(what, "process_labels") == 0 ? ",\"args\":{\"labels\":"
	                                                         : ",\"args\":{\"name\":");
	dw_out_string(to->out, name);
	dw_out_text(to->out, "}}");
}

/* Kineto numbers the processes of devices like the devices. */
static uint64_t device_pid(const struct chrome_device *to, uint32_t device)
{
	const struct dw_source *source = to->timeline->source;
	uint64_t pid = source->devices[device].number;

	for (size_t i = 0; i < source->process_count; i++)
		if (to->timeline->pids[i] == pid)
			return DEVICE_PID + device;
	for (uint32_t i = 0; i < device; i++)
		if (to->pids[i] == pid)
			return DEVICE_PID + device;
	return pid;
}

static void device_put_devices(struct chrome_device *to)
{
	const struct dw_source *source = to->timeline->source;
	char name[160], label[32];

	for (uint32_t i = 0; i < source->device_count; i++) {
		const struct dw_source_device *device = &source->devices[i];

		to->pids[i] = device_pid(to, i);
		snprintf(name, sizeof name, "%.120s %u", *device->name ? device->name : "GPU",
		         device->number);
		snprintf(label, sizeof label, "GPU %u", device->number);
		device_put_name(to, "process_name", to->pids[i], UINT64_MAX, name);
		device_put_name(to, "process_labels", to->pids[i], UINT64_MAX, label);
	}
}

/* NULL: not an event with a duration of its own. */
static const char *device_category(uint32_t kind)
{
	switch (kind) {
	case DW_DEVICE_KERNEL:
	case DW_DEVICE_GRAPH: return "kernel";
	case DW_DEVICE_COPY: return "gpu_memcpy";
	case DW_DEVICE_SET: return "gpu_memset";
	case DW_DEVICE_SYNC: return "cuda_sync";
	case DW_DEVICE_RANGE: return "gpu_user_annotation";
	case DW_DEVICE_OVERHEAD: return "overhead";
	default: return NULL;
	}
}

static void device_put_args(struct chrome_device *to, const struct dw_device_event *event)
{
	const struct dw_source_queue *queue = &to->timeline->source->queues[event->queue];

	device_put_number(to, ",\"args\":{\"device\":",
	                  to->timeline->source->devices[queue->device].number);
	if (queue->number != UINT64_MAX)
		device_put_number(to, ",\"stream\":", queue->number);
	device_put_number(to, ",\"correlation\":", event->correlation);
	if (event->bytes)
		device_put_number(to, ",\"bytes\":", event->bytes);
	if (event->launch) {
		char text[160];

		snprintf(text, sizeof text, ",\"grid\":[%u,%u,%u],\"block\":[%u,%u,%u]",
		         event->launch->grid[0], event->launch->grid[1], event->launch->grid[2],
		         event->launch->block[0], event->launch->block[1], event->launch->block[2]);
		dw_out_text(to->out, text);
	}
	dw_out_text(to->out, "}");
}

/* One end of an arrow from a call to an event; both ends have the same id. */
static void device_put_arrow(struct chrome_device *to, bool arrives, uint64_t id, uint64_t pid,
                             uint64_t tid, uint64_t ns)
{
	device_begin(to, arrives ? "\"ph\":\"f\",\"bp\":\"e\"" : "\"ph\":\"s\"");
	device_put_number(to, ",\"cat\":\"ac2g\",\"name\":\"ac2g\",\"id\":", id);
	device_put_number(to, ",\"pid\":", pid);
	device_put_number(to, ",\"tid\":", tid);
	device_put_us(to, "ts", ns);
	dw_out_text(to->out, "}");
}

static void device_put_event(struct chrome_device *to, const struct dw_device_event *event,
                             uint64_t tid)
{
	const struct dw_source_queue *queue = &to->timeline->source->queues[event->queue];
	const struct dw_device_call *call =
	    event->call == DW_NO_INDEX ? NULL : &to->work->calls[event->call];
	uint64_t pid = to->pids[queue->device], id;

	device_begin(to, "\"ph\":\"X\",\"cat\":\"");
	dw_out_text(to->out, device_category(event->kind));
	dw_out_text(to->out, "\",\"name\":");
	dw_out_string(to->out, to->work->names[event->name].name);
	device_put_number(to, ",\"pid\":", pid);
	device_put_number(to, ",\"tid\":", tid);
	device_put_us(to, "ts", event->start_ns);
	device_put_us(to, "dur", event->end_ns - event->start_ns);
	device_put_args(to, event);
	dw_out_text(to->out, "}");
	if (!call)
		return;
	id = ++to->timeline->last_id;
	device_put_arrow(to, false, id, to->timeline->tracks[call->thread * 2].pid,
	                 to->timeline->tracks[call->thread * 2].tid, call->start_ns);
	device_put_arrow(to, true, id, pid, tid, event->start_ns);
}

/* The row of an event: the first one whose events have ended. Names a row when it is first used. */
static uint64_t device_row(struct chrome_device *to, const struct dw_source_queue *queue,
                           uint64_t ends[MOST_ROWS], unsigned *rows,
                           const struct dw_device_event *event)
{
	uint64_t number = queue->number == UINT64_MAX ? 0 : queue->number;
	unsigned row = 0;
	char name[160];

	while (row < *rows && row + 1 < MOST_ROWS && ends[row] > event->start_ns)
		row++;
	if (row == *rows) {
		(*rows)++;
		if (queue->number == UINT64_MAX)
			snprintf(name, sizeof name, "no stream");
		else
			snprintf(name, sizeof name, "stream %llu", (unsigned long long)number);
		if (row)
			snprintf(name + strlen(name), sizeof name - strlen(name), ", at the same time (%u)",
			         row + 1);
		device_put_name(to, "thread_name", to->pids[queue->device], number + row * ROW_NUMBER, name);
	}
	ends[row] = event->end_ns;
	return number + row * ROW_NUMBER;
}

void dw_chrome_put_devices(struct dw_timeline *timeline, bool *any_event)
{
	const struct dw_source *source = timeline->source;
	struct chrome_device to = { .timeline = timeline, .out = timeline->out,
		                        .any_event = any_event };

	if (!source->events_count)
		return;
	to.work = dw_model_device_work(timeline->model, NULL);
	to.pids = calloc(source->device_count + 1, sizeof *to.pids);
	timeline->failed |= !to.work || !to.pids;
	if (!timeline->failed)
		device_put_devices(&to);
	for (size_t q = 0; !timeline->failed && q < to.work->queue_count; q++) {
		const struct dw_device_queue *queue = &to.work->queues[q];
		uint64_t ends[MOST_ROWS] = { 0 };
		unsigned rows = 0;

		for (size_t i = 0; i < queue->count; i++) {
			const struct dw_device_event *event = &to.work->events[queue->first + i];

			if (event->in_scope && device_category(event->kind))
				device_put_event(&to, event,
				                 device_row(&to, &source->queues[event->queue], ends, &rows, event));
		}
	}
	free(to.pids);
}
