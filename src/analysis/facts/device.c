/*
 * Facts of a device: the second division of the same steps, into compute, communication, copies and
 * idle time by cause (model/device/times.h).
 *
 * The facts are of the loop's steady steps, on the device. A process may use several devices. The facts are of the one
 * that is busy longest in the steps of the loop's process; its waits and copies are those of the whole trace. Where devices are
 * recorded in bursts, the facts are of a step without what recording adds to it, if the run tells that.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/code/demangle.h"
#include "base/order.h"
#include "facts/parts.h"
#include "facts/work.h"
#include "model/device/times.h"

#define NO_DEVICE "the trace has no events of a device"

struct device_sums {
	uint64_t part_ns[DW_DEVICE_PART_COUNT], busy_ns, all_ns;
	uint64_t last_ns, host_ns; /* end of the last step on the device, steady or not, and of that step on the host */
	size_t steps;
	uint32_t device;           /* index in dw_device_times.devices */
};

/* The parts of the facts, in the order of enum dw_device_part. */
static const enum dw_fact_id device_facts[DW_DEVICE_PART_COUNT] = {
	[DW_DEVICE_PART_COMPUTE] = DW_FACT_DEVICE_COMPUTE,
	[DW_DEVICE_PART_COMMUNICATION] = DW_FACT_DEVICE_COMMUNICATION,
	[DW_DEVICE_PART_COPY] = DW_FACT_DEVICE_COPY,
	[DW_DEVICE_PART_HOST_LATE] = DW_FACT_DEVICE_HOST_LATE,
	[DW_DEVICE_PART_SYNC] = DW_FACT_DEVICE_SYNC,
	[DW_DEVICE_PART_FIRST] = DW_FACT_DEVICE_FIRST,
	[DW_DEVICE_PART_WAIT] = DW_FACT_DEVICE_WAIT,
	[DW_DEVICE_PART_LATENCY] = DW_FACT_DEVICE_LATENCY,
	[DW_DEVICE_PART_QUEUED] = DW_FACT_DEVICE_QUEUED,
	[DW_DEVICE_PART_UNKNOWN] = DW_FACT_DEVICE_UNKNOWN,
	[DW_DEVICE_PART_START] = DW_FACT_DEVICE_START,
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

/* Whether the facts of steps cover the step: it is steady, or of another thread of the loop's process. */
static bool device_is_steady(const struct dw_facts_work *work, const struct dw_source_step *step)
{
	size_t at;

	if (step->thread != work->loop->thread)
		return true;
	at = DW_FIRST(i, 0, work->steady_count, work->steady[i]->start_ns >= step->start_ns);
	return at < work->steady_count && work->steady[at]->start_ns == step->start_ns;
}

#define DEVICE_LEAST_STEPS 3u /* with fewer, each counts */

/* The first steady step begins on the device when the host begins it. If a trace begins in the middle of a run, the
 * device still works for steps before it, which are not in the trace: it seems to rest. */
static bool device_seems_to_rest(const struct dw_facts_work *work, const struct dw_device_step *step)
{
	uint64_t all_ns = 0;

	for (unsigned part = 0; part < DW_DEVICE_PART_COUNT; part++)
		all_ns += step->part_ns[part];
	return work->steady_count >= DEVICE_LEAST_STEPS && step->part_ns[DW_DEVICE_PART_START] > all_ns / 2 &&
	       work->source->steps[step->step].start_ns == work->steady[0]->start_ns;
}

/* Whether a step of a device is one of those that the facts are of. */
static bool device_counts(const struct dw_facts_work *work, const struct dw_device_step *step)
{
	const struct dw_source_step *of = &work->source->steps[step->step];

	return work->source->threads[of->thread].process == work->source->threads[work->loop->thread].process &&
	       device_is_steady(work, of) && !device_seems_to_rest(work, step);
}

/* The sums over the loop's steady steps of the device that is busy longest; `steps` 0: none. */
static struct device_sums device_find(const struct dw_facts_work *work, const struct dw_device_times *times)
{
	uint32_t process = work->source->threads[work->loop->thread].process;
	struct device_sums longest = { .steps = 0 };

	for (uint32_t device = 0; device < times->device_count; device++) {
		struct device_sums sums = { .device = device };

		for (size_t i = 0; i < times->step_count; i++) {
			const struct dw_source_step *step = &work->source->steps[times->steps[i].step];

			if (times->steps[i].device != device || work->source->threads[step->thread].process != process)
				continue;
			if (times->steps[i].end_ns > sums.last_ns) {
				sums.last_ns = times->steps[i].end_ns;
				sums.host_ns = step->end_ns;
			}
			if (device_counts(work, &times->steps[i]))
				device_add_step(&sums, &times->steps[i]);
		}
		if (sums.steps && (!longest.steps || sums.busy_ns > longest.busy_ns))
			longest = sums;
	}
	return longest;
}

/* The device's step, and how far the device is behind the host at the end of the last step with work. */
static void device_put_steps(struct dw_facts_work *work, const struct device_sums *sums)
{
	uint64_t behind_ns = sums->last_ns > sums->host_ns ? sums->last_ns - sums->host_ns : 0;

	dw_fact_set(work, DW_FACT_DEVICE_STEP, (double)sums->all_ns / (double)sums->steps, sums->steps);
	dw_fact_set_share(work, DW_FACT_DEVICE_BEHIND, (double)behind_ns,
	                  (double)(sums->host_ns - work->loop->start_ns + behind_ns), sums->steps);
}

/* Takes what recording adds out of recorded steps, where bursts tell it. The host takes that time: a step becomes longer by it only while
 * the device is idle. Of which idle time it is part is not known, so each has its share. */
static void device_take_cost(struct dw_facts_work *work, struct device_sums *sums)
{
	const struct dw_facts_bursts *bursts = dw_facts_bursts(work->model, NULL);
	double steps = (double)sums->steps, idle_ns = (double)(sums->all_ns - sums->busy_ns), kept;

	work->failed |= !bursts;
	if (!bursts || work->facts->iterations != DW_ITERATIONS_MARKED || !dw_facts_bursts_add(bursts, idle_ns / steps))
		return;
	work->facts->device_cost_ns = bursts->ns;
	kept = 1 - bursts->ns * steps / idle_ns;
	sums->all_ns = sums->busy_ns;
	for (unsigned part = DW_DEVICE_PART_FIRST_IDLE; part < DW_DEVICE_PART_COUNT; part++) {
		sums->part_ns[part] = (uint64_t)((double)sums->part_ns[part] * kept);
		sums->all_ns += sums->part_ns[part];
	}
}

/* ---- names ----------------------------------------------------------------------------------------- */

#define DEVICE_NAME 80 /* bytes of a kernel's name in a note */

static void device_note_place(struct dw_facts_work *work, enum dw_fact_id id, const struct dw_device_host *host)
{
	char text[DW_DEVICE_PLACE];

	if (*dw_device_place(work->model, host, text))
		work->facts->at[id].note = dw_facts_text(work, text, strlen(text));
}

/* Where the host was while the device was idle in the steps of the facts. */
static void device_note_host(struct dw_facts_work *work, const struct dw_device_times *times, uint32_t device)
{
	struct dw_device_interval *intervals = calloc(times->step_count + 1, sizeof *intervals);
	struct dw_device_host hosts[DW_DEVICE_PART_COUNT];
	size_t count = 0;

	for (size_t i = 0; intervals && i < times->step_count; i++)
		if (times->steps[i].device == device && device_counts(work, &times->steps[i]))
			intervals[count++] = (struct dw_device_interval){ times->steps[i].start_ns, times->steps[i].end_ns };
	if (intervals && dw_model_device_host(work->model, device, intervals, count, hosts, NULL)) {
		dw_fact_set_share(work, DW_FACT_DEVICE_LATE_LONG, (double)hosts[DW_DEVICE_PART_HOST_LATE].long_ns,
		                  (double)hosts[DW_DEVICE_PART_HOST_LATE].ns, count);
		device_note_place(work, DW_FACT_DEVICE_HOST_LATE, &hosts[DW_DEVICE_PART_HOST_LATE]);
		device_note_place(work, DW_FACT_DEVICE_FIRST, &hosts[DW_DEVICE_PART_FIRST]);
		device_note_place(work, DW_FACT_DEVICE_QUEUED, &hosts[DW_DEVICE_PART_QUEUED]);
		device_note_place(work, DW_FACT_DEVICE_START, &hosts[DW_DEVICE_PART_START]);
		device_note_place(work, DW_FACT_DEVICE_NOTHING, &hosts[DW_DEVICE_PART_NOTHING]);
	} else {
		work->failed = true;
	}
	free(intervals);
}

/* The kernel, the collective and the copy with most time on the device. */
static void device_name_work(struct dw_facts_work *work, const struct dw_device_work *device, uint32_t index)
{
	static const enum dw_fact_id facts[DW_CLASS_COUNT] = { [DW_CLASS_COMPUTE] = DW_FACT_DEVICE_COMPUTE,
		[DW_CLASS_COMMUNICATION] = DW_FACT_DEVICE_COMMUNICATION, [DW_CLASS_COPY] = DW_FACT_DEVICE_COPY };
	uint64_t *ns = calloc(device->name_count + 1, sizeof *ns), most[DW_CLASS_COUNT] = { 0 };

	work->failed |= !ns;
	for (size_t i = 0; ns && i < device->event_count; i++)
		if (device->events[i].in_scope && work->source->queues[device->events[i].queue].device == index)
			ns[device->events[i].name] += device->events[i].end_ns - device->events[i].start_ns;
	for (size_t i = 0; ns && i < device->name_count; i++) {
		enum dw_device_class class = device->names[i].class;
		char name[1024];

		if (class == DW_CLASS_COUNT || ns[i] <= most[class] || !*device->names[i].name)
			continue;
		most[class] = ns[i];
		dw_name_short(name, sizeof name, device->names[i].name);
		if (class != DW_CLASS_COPY) /* a function of C has its parameters still */
			name[1 + strcspn(name + 1, "(")] = '\0';
		if (strlen(name) > DEVICE_NAME)
			memcpy(name + DEVICE_NAME - 3, "...", 4);
		work->facts->at[facts[class]].note = dw_facts_text(work, name, strlen(name));
	}
	free(ns);
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
		if ((event->detail & 0xf) == DW_MEMORY_PAGEABLE || (event->detail >> 4 & 0xf) == DW_MEMORY_PAGEABLE)
			pageable_ns += event->end_ns - event->start_ns;
	}
	if (count)
		dw_fact_set_share(work, DW_FACT_DEVICE_PAGEABLE, (double)pageable_ns, (double)copies_ns, count);
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
	for (unsigned id = DW_FACT_DEVICE_STEP; id <= DW_FACT_DEVICE_PAGEABLE; id++)
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
	device_take_cost(work, &sums);
	dw_fact_set_share(work, DW_FACT_DEVICE_BUSY, (double)sums.busy_ns, (double)sums.all_ns, sums.steps);
	dw_fact_set_share(work, DW_FACT_DEVICE_IDLE, (double)(sums.all_ns - sums.busy_ns), (double)sums.all_ns, sums.steps);
	for (unsigned part = 0; part < DW_DEVICE_PART_COUNT; part++)
		dw_fact_set_share(work, device_facts[part], (double)sums.part_ns[part], (double)sums.all_ns, sums.steps);
	device_put_steps(work, &sums);
	device_note_host(work, times, sums.device);
	device_name_work(work, device, times->devices[sums.device].device);
	device_name_sync(work, times);
	device_put_copies(work, device);
}

const char *dw_fact_device_part(enum dw_fact_id id)
{
	for (unsigned part = 0; part < DW_DEVICE_PART_COUNT; part++)
		if (device_facts[part] == id)
			return dw_device_part_name((enum dw_device_part)part);
	return NULL;
}
