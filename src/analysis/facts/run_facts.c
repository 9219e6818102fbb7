/* Facts of the run: its length, and how it was recorded. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "facts/work.h"
#include "format/keys.h"
#include "model/device/device.h"
#include "model/time/profiles.h"

/* ---- how it was recorded ---------------------------------------------------------------------- */

/* The frameworks by whose names ranges are called: bits of enum dw_known_framework. */
static unsigned run_known_frameworks(const struct dw_facts_work *work)
{
	unsigned known = 0;
	size_t count;

	dw_model_symbols(work->model, &count);
	for (size_t i = 0; i < count; i++)
		known |= 1u << dw_known_framework_of(work->symbols[i].name);
	return known;
}

/* Whether samples lie in a library of JAX. */
static bool run_samples_jax(const struct dw_facts_work *work)
{
	for (size_t f = 0; work->python && f < work->source->file_count; f++) {
		const struct dw_source_file *file = &work->source->files[f];

		for (uint32_t id = 0; file->frames && id < file->symbol_count; id++)
			if (file->frames[id] && file->frames[id]->module && dw_known_framework_of(file->frames[id]->module) == DW_KNOWN_JAX)
				return true;
	}
	return false;
}

static bool run_has_shapes(const struct dw_facts_work *work)
{
	size_t count;

	dw_model_symbols(work->model, &count);
	for (size_t i = 0; i < count; i++)
		if (work->symbols[i].category == DWELL_CATEGORY_OPERATOR && work->symbols[i].shapes)
			return true;
	return false;
}

static enum dw_facts_framework run_find_framework(const struct dw_facts_work *work, uint32_t categories, bool torch)
{
	unsigned ranges = run_known_frameworks(work);
	const char *known = dw_facts_meta(work, DW_KEY_TORCH_FRAMEWORK);
	bool is_python = work->python || torch; /* C programs may use libdwell-lightning, -ignite */

	if (known && strcmp(known, "lightning") == 0)
		return DW_FACTS_LIGHTNING;
	if (known && strcmp(known, "ignite") == 0)
		return DW_FACTS_IGNITE;
	if (is_python && categories & DW_FACTS_CATEGORY(ACTION) && ranges >> DW_KNOWN_LIGHTNING & 1)
		return DW_FACTS_LIGHTNING;
	if (is_python && categories & (DW_FACTS_CATEGORY(EVENT) | DW_FACTS_CATEGORY(HANDLER)))
		return DW_FACTS_IGNITE;
	if (torch || ranges >> DW_KNOWN_PYTORCH & 1) /* traces of Kineto have no version */
		return DW_FACTS_PYTORCH;
	if (ranges >> DW_KNOWN_JAX & 1 || run_samples_jax(work))
		return DW_FACTS_JAX;
	return work->python ? DW_FACTS_PYTHON : DW_FACTS_C;
}

/* The part of the loop of which the work of devices is missing. CUPTI can be taken from dwell while the program runs;
 * then the trace says so, and what came after the last event is missing. A device may begin with the loop's work when the
 * loop has ended. */
static double run_device_unseen(struct dw_facts_work *work, uint32_t categories)
{
	const struct dw_device_work *device = NULL;
	uint64_t start_ns = work->loop ? work->loop->start_ns : 0, end_ns = work->loop ? work->loop->end_ns : UINT64_MAX;
	uint64_t last_ns = 0;

	if (!dw_facts_meta(work, DW_KEY_TORCH_DEVICE) || categories & DW_FACTS_CATEGORY(DEVICE))
		return 0;
	if (work->source->events_count) {
		device = dw_model_device_work(work->model, NULL);
		work->failed |= !device;
	}
	for (size_t i = 0; device && i < device->event_count; i++) {
		const struct dw_device_event *event = &device->events[i];

		if (device->names[event->name].class != DW_CLASS_COUNT && event->end_ns > start_ns && event->end_ns > last_ns)
			last_ns = event->end_ns;
	}
	if (!last_ns)
		return 1;
	return !dw_facts_meta(work, DW_KEY_CUDA_LACKS) || last_ns >= end_ns || !work->loop
	           ? 0 : (double)(end_ns - last_ns) / (double)(end_ns - start_ns);
}

static void run_put_trace(struct dw_facts_work *work)
{
	uint32_t categories = dw_model_categories(work->model);
	bool torch = dw_facts_meta(work, DW_KEY_TORCH_VERSION) != NULL;
	bool foreign = work->source->file_count && work->source->files[0].foreign;

	for (size_t i = 0; !work->loop && i < work->source->process_count; i++)
		work->python |= (work->source->processes[i].flags & DW_PROCESS_PYTHON) != 0;
	work->facts->foreign = foreign;
	work->facts->framework = run_find_framework(work, categories, torch);
	dw_fact_set(work, DW_FACT_TRACE_PYTHON, work->python, 1);
	dw_fact_set(work, DW_FACT_TRACE_TORCH, torch, 1);
	dw_fact_set(work, DW_FACT_TRACE_FRAMEWORK, work->facts->framework, 1)->note = dw_facts_framework_name(work->facts->framework);
	dw_fact_set(work, DW_FACT_TRACE_FUNCTIONS, (categories & DW_FACTS_CATEGORY(FUNCTION)) != 0, 1);
	dw_fact_set(work, DW_FACT_TRACE_SHAPES, run_has_shapes(work), 1);
	dw_fact_set(work, DW_FACT_TRACE_MEMORY, (categories & DW_FACTS_CATEGORY(ALLOCATION)) != 0, 1);
	dw_fact_set(work, DW_FACT_TRACE_DEVICE_UNSEEN, run_device_unseen(work, categories), 1);
}

/* ---- its length ------------------------------------------------------------------------------- */

static void run_put_delay(struct dw_facts_work *work)
{
	const char *delay = dw_facts_meta(work, DW_KEY_DELAY_NS);

	if (delay)
		dw_fact_set_share(work, DW_FACT_RUN_DELAY, strtod(delay, NULL), (double)work->source->end_ns, 1);
	else
		dw_fact_miss(work, DW_FACT_RUN_DELAY, "the kernel's account was not read: record with dwell run");
}

void dw_facts_of_run(struct dw_facts_work *work)
{
	size_t ranks = work->steps->process_count;
	double start_ns = 0, end_ns = (double)work->source->end_ns;

	if (work->loop) {
		const struct dw_source_process *process = &work->source->processes[work->source->threads[work->loop->thread].process];

		start_ns = (double)process->start_ns;
		end_ns = fmax((double)process->end_ns, (double)work->loop->end_ns);
	}
	dw_fact_set(work, DW_FACT_RUN_WALL, end_ns - start_ns, 1);
	dw_fact_set(work, DW_FACT_RUN_LOOPS, (double)work->steps->thread_count, 1);
	dw_fact_set(work, DW_FACT_RUN_RANKS, (double)ranks, 1);
	run_put_delay(work);
	run_put_trace(work);
}
