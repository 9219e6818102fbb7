/*
 * Facts of a device: the second division of the same steps, into compute, communication, copies and
 * idle time by cause (model/device/times.h).
 *
 * A process may use several devices. The facts are of the one that is busy longest in the steps of
 * the loop's process; its waits and copies are those of the whole trace.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "facts/work.h"
#include "model/device/times.h"

#define NO_DEVICE "the trace has no events of a device"

struct device_sums {
	uint64_t part_ns[DW_DEVICE_PART_COUNT];
	uint64_t busy_ns, all_ns;
	size_t steps;
};

/* The parts of the facts, in the order of enum dw_device_part. */
static const enum dw_fact_id device_facts[DW_DEVICE_PART_COUNT] = {
	[DW_DEVICE_PART_COMPUTE] = DW_FACT_DEVICE_COMPUTE,
	[DW_DEVICE_PART_COMMUNICATION] = DW_FACT_DEVICE_COMMUNICATION,
	[DW_DEVICE_PART_COPY] = DW_FACT_DEVICE_COPY,
	[DW_DEVICE_PART_HOST_LATE] = DW_FACT_DEVICE_HOST_LATE,
	[DW_DEVICE_PART_SYNC] = DW_FACT_DEVICE_SYNC,
	[DW_DEVICE_PART_WAIT] = DW_FACT_DEVICE_WAIT,
	[DW_DEVICE_PART_LATENCY] = DW_FACT_DEVICE_LATENCY,
	[DW_DEVICE_PART_NOTHING] = DW_FACT_DEVICE_NOTHING,
};

static void device_add_step(struct device_sums *sums, const struct dw_device_step *step)
{
	for (unsigned part = 0; part < DW_DEVICE_PART_COUNT; part++) {
		sums->part_ns[part] += step->part_ns[part];
		sums->all_ns += step->part_ns[part];
		if (part < DW_DEVICE_PART_FIRST_IDLE)
			sums->busy_ns += step->part_ns[part];
	}
	sums->steps++;
}

/* The sums over the loop's steps of the device that is busy longest; `steps` 0: none. */
static struct device_sums device_find(const struct dw_facts_work *work,
                                      const struct dw_device_times *times)
{
	uint32_t process = work->source->threads[work->loop->thread].process;
	struct device_sums longest = { .steps = 0 };

	for (uint32_t device = 0; device < times->device_count; device++) {
		struct device_sums sums = { .steps = 0 };

		for (size_t i = 0; i < times->step_count; i++) {
			const struct dw_source_step *step = &work->source->steps[times->steps[i].step];

			if (times->steps[i].device == device &&
			    work->source->threads[step->thread].process == process)
				device_add_step(&sums, &times->steps[i]);
		}
		if (sums.steps && (!longest.steps || sums.busy_ns > longest.busy_ns))
			longest = sums;
	}
	return longest;
}

/* Copies between pageable memory of the host and a device: the driver copies such memory twice. */
static void device_put_copies(struct dw_facts_work *work, const struct dw_device_work *device)
{
	uint64_t copies_ns = 0, pageable_ns = 0;
	size_t count = 0;

	for (size_t i = 0; i < device->event_count; i++) {
		const struct dw_device_event *event = &device->events[i];

		if (event->kind != DW_DEVICE_COPY || !event->in_scope)
			continue;
		count++;
		copies_ns += event->end_ns - event->start_ns;
		if ((event->detail & 0xf) == DW_MEMORY_PAGEABLE ||
		    (event->detail >> 4 & 0xf) == DW_MEMORY_PAGEABLE)
			pageable_ns += event->end_ns - event->start_ns;
	}
	if (count)
		dw_fact_set_share(work, DW_FACT_DEVICE_PAGEABLE, (double)pageable_ns, (double)copies_ns,
		                  count);
	else
		dw_fact_miss(work, DW_FACT_DEVICE_PAGEABLE, "the device copied nothing");
}

static void device_name_sync(struct dw_facts_work *work, const struct dw_device_times *times)
{
	struct dw_fact *fact = &work->facts->at[DW_FACT_DEVICE_SYNC];

	if (!times->cause_count)
		return;
	dw_fact_name(work, fact, times->causes[0].call_symbol);
	if (times->causes[0].operator_symbol != DW_NO_INDEX)
		fact->note = work->symbols[times->causes[0].operator_symbol].name;
}

static void device_miss(struct dw_facts_work *work, const char *why)
{
	for (unsigned id = DW_FACT_DEVICE_BUSY; id <= DW_FACT_DEVICE_PAGEABLE; id++)
		dw_fact_miss(work, (enum dw_fact_id)id, why);
}

void dw_facts_of_device(struct dw_facts_work *work)
{
	const struct dw_device_times *times;
	const struct dw_device_work *device;
	struct device_sums sums;

	if (!work->source->events_count) {
		device_miss(work, NO_DEVICE);
		return;
	}
	times = dw_model_device_times(work->model, NULL);
	device = dw_model_device_work(work->model, NULL);
	work->failed |= !times || !device;
	if (work->failed)
		return;
	sums = device_find(work, times);
	if (!sums.steps || !sums.busy_ns) {
		device_miss(work, "no device worked in the steps");
		return;
	}
	dw_fact_set_share(work, DW_FACT_DEVICE_BUSY, (double)sums.busy_ns, (double)sums.all_ns,
	                  sums.steps);
	for (unsigned part = 0; part < DW_DEVICE_PART_COUNT; part++)
		dw_fact_set_share(work, device_facts[part], (double)sums.part_ns[part],
		                  (double)sums.all_ns, sums.steps);
	device_name_sync(work, times);
	device_put_copies(work, device);
}
