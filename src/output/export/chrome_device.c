/*
 * Devices in a Chrome trace: a process for each device, with the rows of device_rows.h. An arrow
 * leads from the runtime call to each event that it submitted.
 */
#include "export/chrome_device.h"

#include <stdlib.h>

#define DEVICE_PID 4000000000ull /* for devices whose number is a process's id, too */

struct chrome_device {
	struct dw_timeline *timeline;
	struct dw_writer_out *out;
	const struct dw_device_work *work;
	uint64_t *pids;  /* by device */
	bool *named;     /* by device: its process has a name */
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
static void device_put_name(struct chrome_device *to, const char *what, uint64_t pid, uint64_t tid, const char *name)
{
	device_begin(to, "\"ph\":\"M\",\"ts\":0,\"name\":\"");
	dw_out_text(to->out, what);
	DW_OUT_JSON(to->out, "','pid':#,'tid':#", pid, tid == UINT64_MAX ? 0 : tid);
	dw_out_text(to->out, strcmp(what, "process_labels") == 0 ? ",\"args\":{\"labels\":" : ",\"args\":{\"name\":");
	DW_OUT_JSON(to->out, "#}}", name);
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

static void device_put_device(struct chrome_device *to, uint32_t device)
{
	const struct dw_source *source = to->timeline->source;
	char name[160], label[32];

	to->named[device] = true;
	dw_device_row_title(source, device, name);
	snprintf(label, sizeof label, "GPU %u", source->devices[device].number);
	device_put_name(to, "process_name", to->pids[device], UINT64_MAX, name);
	device_put_name(to, "process_labels", to->pids[device], UINT64_MAX, label);
}

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
	default: return "";
	}
}

static void device_put_args(struct chrome_device *to, const struct dw_device_event *event)
{
	const struct dw_source_queue *queue = &to->timeline->source->queues[event->queue];

	device_put_number(to, ",\"args\":{\"device\":", to->timeline->source->devices[queue->device].number);
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
	DW_OUT_JSON(to->out, ",'cat':'ac2g','name':'ac2g','id':#,'pid':#,'tid':#", id, pid, tid);
	device_put_us(to, "ts", ns);
	dw_out_text(to->out, "}");
}

static void device_put_event(void *context, const struct dw_device_event *event, size_t index, uint64_t tid)
{
	struct chrome_device *to = context;
	const struct dw_source_queue *queue = &to->timeline->source->queues[event->queue];
	const struct dw_device_call *call = event->call == DW_NO_INDEX ? NULL : &to->work->calls[event->call];
	uint64_t pid = to->pids[queue->device], id;

	device_begin(to, "\"ph\":\"X\",\"cat\":\"");
	dw_out_text(to->out, device_category(event->kind));
	DW_OUT_JSON(to->out, "','name':#,'pid':#,'tid':#", to->work->names[event->name].name, pid, tid);
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

static uint64_t device_put_row(void *to, const struct dw_device_row *row)
{
	struct chrome_device *device = to;

	if (!device->named[row->device])
		device_put_device(device, row->device);
	device_put_name(device, "thread_name", device->pids[row->device], row->number, row->name);
	return row->number;
}

/* A call that the driver reported late, in the track of its thread. The others are ranges there. */
static void device_put_call(struct chrome_device *to, const struct dw_device_call *call)
{
	const char *name = to->timeline->symbols[call->symbol].name;

	device_begin(to, "\"ph\":\"X\",\"cat\":\"");
	dw_out_text(to->out, strncmp(name, "cu", 2) == 0 && strncmp(name, "cuda", 4) != 0 ? "cuda_driver" : "cuda_runtime");
	DW_OUT_JSON(to->out, "','name':#,'pid':#,'tid':#", name, to->timeline->tracks[call->thread * 2].pid,
	            to->timeline->tracks[call->thread * 2].tid);
	device_put_us(to, "ts", call->start_ns);
	device_put_us(to, "dur", call->end_ns - call->start_ns);
	DW_OUT_JSON(to->out, ",'args':{'correlation':#}}", call->correlation);
}

void dw_chrome_put_devices(struct dw_timeline *timeline, bool *any_event)
{
	static const struct dw_device_rows_format format = { device_put_row, device_put_event };
	const struct dw_source *source = timeline->source;
	struct chrome_device to = { .timeline = timeline, .out = timeline->out,
		                        .any_event = any_event };

	if (!source->events_count)
		return;
	to.work = dw_model_device_work(timeline->model, NULL);
	to.pids = calloc(source->device_count + 1, sizeof *to.pids);
	to.named = calloc(source->device_count + 1, sizeof *to.named);
	timeline->failed |= !to.work || !to.pids || !to.named;
	for (uint32_t i = 0; !timeline->failed && i < source->device_count; i++)
		to.pids[i] = device_pid(&to, i);
	for (size_t i = 0; !timeline->failed && i < to.work->call_count; i++)
		if (dw_device_wants_late_call(timeline, &to.work->calls[i]))
			device_put_call(&to, &to.work->calls[i]);
	dw_device_rows(timeline, &format, &to);
	free(to.pids);
	free(to.named);
}
