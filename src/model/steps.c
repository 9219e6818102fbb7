/*
 * Steps: each with its breakdown, and what lies beside them.
 *
 * A process's step thread is the one with most steps. Its time is cut at the
 * steps' borders and divided by shares.c in ticks; here it becomes ns such that
 * the shares of a step sum to its length and steps and besides to the wall time,
 * to the ns. Why slow ones are slow is the affair of steps_slow.c.
 */
#include <stdlib.h>

#include "base/pool.h"
#include "model/steps_inside.h"

static const char *const share_names[] = {
#define X(name, label) label,
	DW_SHARES(X)
#undef X
};

/* ---- who steps ------------------------------------------------------------------------------ */

uint32_t *dw_step_threads(struct dw_model *model)
{
	const struct dw_source *source = model->source;
	uint64_t *counts = calloc(source->thread_count + 1, sizeof *counts);
	uint32_t *threads =
	    dw_arena_alloc(&model->arena, (source->process_count + 1) * sizeof *threads);

	for (size_t i = 0; counts && i < source->step_count; i++)
		counts[source->steps[i].thread]++;
	for (size_t i = 0; threads && i < source->process_count; i++)
		threads[i] = DW_NO_INDEX;
	for (uint32_t i = 0; counts && threads && i < source->thread_count; i++) {
		uint32_t *best = &threads[source->threads[i].process];

		if (!counts[i] || (model->wanted_threads && !model->wanted_threads[i]))
			continue;
		if (*best == DW_NO_INDEX || counts[i] > counts[*best])
			*best = i;
	}
	if (!counts)
		threads = NULL;
	free(counts);
	return threads;
}

/* ---- steps of one process, before the walk ----------------------------------------------------- */

static void take_steps(const struct dw_model *model, struct dw_steps *steps, struct dw_pace *pace)
{
	const struct dw_source *source = model->source;
	const struct dw_source_step *before = NULL;

	for (size_t i = 0; i < source->step_count; i++) {
		const struct dw_source_step *from = &source->steps[i];
		struct dw_pace_step *ticks = &pace->steps[pace->count];
		struct dw_step *step = &steps->steps[steps->count];

		if (from->thread != pace->thread || !dw_model_has_step(model, from))
			continue;
		*step = (struct dw_step){ .thread = from->thread, .number = from->number,
			.start_ns = from->start_ns, .end_ns = from->end_ns, .cpu_ns = from->cpu_ns,
			.open = from->open, .recorded = from->recorded, .slow_symbol = DW_NO_INDEX };
		ticks->start_ticks = from->start_ticks;
		ticks->end_ticks = from->end_ticks;
		/* Damage may make them overlap; time belongs to one step only. */
		if (before && ticks->start_ticks < ticks[-1].end_ticks) {
			ticks->start_ticks = ticks[-1].end_ticks;
			step->start_ns = step[-1].end_ns;
		}
		if (ticks->end_ticks < ticks->start_ticks || step->end_ns < step->start_ns) {
			ticks->end_ticks = ticks->start_ticks;
			step->end_ns = step->start_ns;
		}
		before = from;
		pace->count++;
		steps->count++;
	}
}

/* ---- lengths ---------------------------------------------------------------------------------------- */

int dw_steps_compare(const void *left, const void *right)
{
	uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;

	return (a > b) - (a < b);
}

uint64_t dw_steps_quantile(const uint64_t *sorted, size_t count, double q)
{
	size_t rank = (size_t)(q * (double)count);

	rank += (double)rank < q * (double)count;
	return count ? sorted[rank ? rank - 1 : 0] : 0;
}

/* Of steps that ended; of all when none did. */
static int measure(struct dw_steps *steps)
{
	uint64_t *lengths = malloc((steps->count + 1) * sizeof *lengths);
	size_t count = 0;
	double sum = 0;

	if (!lengths)
		return -1;
	for (size_t i = 0; i < steps->count; i++) {
		steps->steps_ns += dw_step_length(&steps->steps[i]);
		if (!steps->steps[i].open)
			lengths[count++] = dw_step_length(&steps->steps[i]);
	}
	for (size_t i = 0; !count && i < steps->count; i++)
		lengths[i] = dw_step_length(&steps->steps[i]);
	if (!count)
		count = steps->count;
	qsort(lengths, count, sizeof *lengths, dw_steps_compare);
	for (size_t i = 0; i < count; i++)
		sum += (double)lengths[i];
	steps->p50_ns = dw_steps_quantile(lengths, count, 0.50);
	steps->p95_ns = dw_steps_quantile(lengths, count, 0.95);
	steps->p99_ns = dw_steps_quantile(lengths, count, 0.99);
	steps->mean_ns = count ? (uint64_t)(sum / (double)count + 0.5) : 0;
	free(lengths);
	return 0;
}

/* ---- ticks to ns ------------------------------------------------------------------------------------------ */

/* Scales parts so that they sum to `whole_ns`; the largest takes the rounding. */
static void scale_parts(const uint64_t *ticks, uint64_t *ns, size_t count, uint64_t whole_ns)
{
	unsigned __int128 sum = 0;
	uint64_t given = 0;
	size_t largest = count - 1;

	for (size_t i = 0; i < count; i++)
		sum += ticks[i];
	for (size_t i = 0; i < count; i++) {
		ns[i] = sum ? (uint64_t)((unsigned __int128)ticks[i] * whole_ns / sum) : 0;
		given += ns[i]; /* rounded down: never more than the whole */
		if (ticks[i] > ticks[largest])
			largest = i;
	}
	ns[largest] += whole_ns - given;
}

static void convert_steps(struct dw_steps *steps, const struct dw_pace_step *ticks)
{
	for (size_t i = 0; i < steps->count; i++) {
		struct dw_step *step = &steps->steps[i];

		scale_parts(ticks[i].share_ticks, step->share_ns, DW_SHARE_COUNT, dw_step_length(step));
		if (!step->recorded)
			continue;
		steps->recorded_count++;
		steps->recorded_ns += dw_step_length(step);
		for (unsigned share = 0; share < DW_SHARE_COUNT; share++)
			steps->share_ns[share] += step->share_ns[share];
	}
}

static void convert_besides(struct dw_steps *steps, const struct dw_model *model,
                            const struct dw_pace *pace, uint64_t *beside_ns,
                            uint64_t *beside_counts)
{
	const struct dw_source_process *process = &model->source->processes[pace->process];
	uint64_t wall_ns = process->end_ns - process->start_ns, steps_ns = 0;
	uint64_t ns[DW_BESIDE_COUNT];

	for (size_t i = 0; i < steps->count; i++)
		if (steps->steps[i].thread == pace->thread)
			steps_ns += dw_step_length(&steps->steps[i]);
	if (model->intervals) {
		steps->wall_ns += steps_ns;
		return;
	}
	if (wall_ns < steps_ns)
		wall_ns = steps_ns; /* steps that began before the process says it did */
	scale_parts(pace->beside_ticks, ns, DW_BESIDE_COUNT, wall_ns - steps_ns);
	steps->wall_ns += wall_ns;
	for (unsigned i = 0; i < DW_BESIDE_COUNT; i++) {
		beside_ns[i] += ns[i];
		beside_counts[i] += pace->beside_counts[i];
	}
}

static int name_besides(struct dw_model *model, struct dw_steps *steps, const uint64_t *ns,
                        const uint64_t *counts)
{
	static const unsigned order[] = { DW_BESIDE_START, DW_SHARE_EVALUATION, DW_SHARE_CHECKPOINT,
		DW_SHARE_DATA, DW_SHARE_COLLECTOR, DW_SHARE_COMMUNICATION, DW_SHARE_DEVICE,
		DW_SHARE_PROFILER, DW_SHARE_OTHER, DW_BESIDE_AFTER };

	steps->besides = dw_arena_alloc(&model->arena, sizeof order / sizeof *order *
	                                                   sizeof *steps->besides);
	if (!steps->besides)
		return -1;
	for (size_t i = 0; i < sizeof order / sizeof *order; i++) {
		unsigned which = order[i];

		if (!ns[which])
			continue;
		steps->besides[steps->beside_count++] = (struct dw_beside){
			which == DW_BESIDE_START   ? "start-up"
			: which == DW_BESIDE_AFTER ? "after the last step"
			                           : share_names[which],
			ns[which], counts[which] ? counts[which] : 1
		};
	}
	return 0;
}

/* ---- the product --------------------------------------------------------------------------------------------- */

struct work {
	struct dw_model *model;
	struct dw_steps *steps;
	struct dw_pace *paces;
	struct dw_pace_step *ticks; /* by step, like steps->steps */
	double *ns_per_tick;        /* by step */
	bool failed;
};

static void walk_one(void *context, unsigned worker, size_t index)
{
	struct work *work = context;

	if (dw_pace_walk(work->model, &work->paces[index]))
		__atomic_store_n(&work->failed, true, __ATOMIC_RELAXED);
}

static int prepare(struct work *work)
{
	struct dw_model *model = work->model;
	const struct dw_source *source = model->source;
	struct dw_steps *steps = work->steps;
	uint32_t *threads = dw_step_threads(model);

	steps->steps = dw_arena_alloc(&model->arena, (source->step_count + 1) * sizeof *steps->steps);
	steps->threads =
	    dw_arena_alloc(&model->arena, (source->process_count + 1) * sizeof *steps->threads);
	work->ticks = calloc(source->step_count + 1, sizeof *work->ticks);
	work->ns_per_tick = calloc(source->step_count + 1, sizeof *work->ns_per_tick);
	work->paces = calloc(source->process_count + 1, sizeof *work->paces);
	if (!threads || !steps->steps || !steps->threads || !work->ticks || !work->ns_per_tick ||
	    !work->paces)
		return -1;
	for (uint32_t p = 0; p < source->process_count; p++) {
		const struct dw_source_clock *clock = &source->files[source->processes[p].file].clock;
		struct dw_pace *pace = &work->paces[steps->thread_count];
		size_t first = steps->count;

		if (threads[p] == DW_NO_INDEX)
			continue;
		pace->process = p;
		pace->thread = threads[p];
		pace->start_ticks = dw_source_ticks(clock, source->processes[p].start_ns);
		pace->end_ticks = dw_source_ticks(clock, source->processes[p].end_ns);
		pace->steps = work->ticks + first;
		take_steps(model, steps, pace);
		if (!pace->count)
			continue;
		if (pace->steps[0].start_ticks < pace->start_ticks)
			pace->start_ticks = pace->steps[0].start_ticks;
		for (size_t i = 0; i < pace->count; i++) {
			work->ns_per_tick[first + i] = clock->ns_per_tick;
			if (pace->steps[i].end_ticks > pace->end_ticks)
				pace->end_ticks = pace->steps[i].end_ticks;
		}
		steps->threads[steps->thread_count++] = threads[p];
	}
	return 0;
}

static int compute(struct work *work)
{
	uint64_t beside_ns[DW_BESIDE_COUNT] = { 0 }, beside_counts[DW_BESIDE_COUNT] = { 0 };
	struct dw_steps *steps = work->steps;

	if (prepare(work) || measure(steps))
		return -1;
	dw_steps_sample(steps, work->ticks);
	dw_pool_run(steps->thread_count, dw_pool_workers(steps->thread_count), walk_one, work);
	if (work->failed)
		return -1;
	convert_steps(steps, work->ticks);
	for (size_t i = 0; i < steps->thread_count; i++)
		convert_besides(steps, work->model, &work->paces[i], beside_ns, beside_counts);
	if (dw_steps_explain(work->model, steps, work->ticks, work->ns_per_tick))
		return -1;
	return name_besides(work->model, steps, beside_ns, beside_counts);
}

const struct dw_steps *dw_model_steps(struct dw_model *model, struct dwell_error *error)
{
	struct work work = { .model = model };

	if (model->steps)
		return model->steps;
	work.steps = dw_arena_alloc(&model->arena, sizeof *work.steps);
	if (work.steps && compute(&work) == 0)
		model->steps = work.steps;
	else
		dw_model_no_memory(model, error);
	for (size_t i = 0; work.steps && work.ticks && i < work.steps->count; i++)
		free(work.ticks[i].selfs);
	free(work.ticks);
	free(work.ns_per_tick);
	free(work.paces);
	return model->steps;
}
