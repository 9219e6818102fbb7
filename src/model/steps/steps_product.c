/*
 * Steps: each with its breakdown, and the time outside them.
 *
 * All threads with steps count. The time of each is cut at the borders of its steps, divided by
 * division.c in ticks, and converted to ns by convert.c. The wall time of a process's first step
 * thread, the one with the most steps, is that of the process. For another thread it is the time
 * from its start to the end of its last step. slow_steps.c finds why slow steps are slow.
 */
#include "base/free.h"
#include "base/order.h"
#include "model/steps/steps_build.h"
#include "model/core/scope.h"

/* ---- threads with steps --------------------------------------------------------------------- */

/* The number of steps of each thread, malloc'ed. NULL: out of memory. */
static uint64_t *steps_count_by_thread(const struct dw_model *model)
{
	const struct dw_source *source = model->source;
	uint64_t *counts = calloc(source->thread_count + 1, sizeof *counts);

	for (size_t i = 0; counts && i < source->step_count; i++)
		counts[source->steps[i].thread]++;
	return counts;
}

static bool steps_thread_counts(const struct dw_model *model, const uint64_t *counts, uint32_t thread)
{
	return counts[thread] && (!model->wanted_threads || model->wanted_threads[thread]);
}

struct step_threads {
	uint32_t *by_process;
};

static bool step_threads_compute(struct dw_model *model, const void *request, void *result)
{
	const struct dw_source *source = model->source;
	struct step_threads *found = result;
	uint64_t *counts = steps_count_by_thread(model);
	uint32_t *threads = found->by_process =
		dw_arena_alloc(&model->arena, (source->process_count + 1) * sizeof *threads);

	for (size_t i = 0; threads && i < source->process_count; i++)
		threads[i] = DW_NO_INDEX;
	for (uint32_t i = 0; counts && threads && i < source->thread_count; i++) {
		uint32_t *best = &threads[source->threads[i].process];

		if (!steps_thread_counts(model, counts, i))
			continue;
		if (*best == DW_NO_INDEX || counts[i] > counts[*best])
			*best = i;
	}
	free(counts);
	return counts && threads;
}

DW_PRODUCT(step_threads, struct step_threads, step_threads_compute, NULL);

const uint32_t *dw_model_step_threads(struct dw_model *model)
{
	const struct step_threads *found = dw_product_get(model, &dw_product_step_threads, 0, NULL, NULL);

	return found ? found->by_process : NULL;
}

/* ---- steps of one thread, before the walk ----------------------------------------------------- */

bool dw_step_is_whole(const struct dw_source_step *step, const struct dw_interval **missing)
{
	while ((*missing)->start_ticks != UINT64_MAX && (*missing)->end_ticks <= step->start_ticks)
		(*missing)++;
	return (*missing)->start_ticks >= step->end_ticks;
}

/* `next`: the thread's next step; NULL: there is none. */
static void steps_add_step(struct dw_steps *steps, struct dw_pace *pace, const struct dw_source_step *from,
                           const struct dw_source_step *next, bool whole, uint8_t class)
{
	struct dw_pace_step *ticks = &pace->steps[pace->count];
	struct dw_step *step = &steps->steps[steps->count];

	*step = (struct dw_step){ .thread = from->thread,
		                      .number = from->number,
		                      .start_ns = from->start_ns,
		                      .end_ns = from->end_ns,
		                      .cpu_ns = from->cpu_ns,
		                      .open = from->open,
		                      .recorded = from->recorded,
		                      .reduced = from->reduced,
		                      .brief = from->brief,
		                      .whole = whole,
		                      .class = (enum dw_iteration_class) class,
		                      .slow_symbol = DW_NO_INDEX };
	ticks->class = class;
	ticks->start_ticks = from->start_ticks;
	ticks->end_ticks = from->end_ticks;
	ticks->reduced = from->reduced;
	/* Damaged steps may overlap, but time belongs to only one step. */
	if (pace->count && ticks->start_ticks < ticks[-1].end_ticks) {
		ticks->start_ticks = ticks[-1].end_ticks;
		step->start_ns = step[-1].end_ns;
	}
	if (ticks->end_ticks < ticks->start_ticks || step->end_ns < step->start_ns) {
		ticks->end_ticks = ticks->start_ticks;
		step->end_ns = step->start_ns;
	}
	if (next)
		step->next_ns = next->start_ns > step->end_ns ? next->start_ns : step->end_ns;
	step->counted = step->recorded && step->whole && !step->open;
	steps->cut_count += step->recorded && !step->whole;
	steps->open_count += step->open;
	steps->reduced_count += step->reduced;
	steps->brief_count += step->brief;
	pace->count++;
	steps->count++;
}

/* ---- lengths ---------------------------------------------------------------------------------------- */

/* Computes the median of the steps that ended; if none did, of all. And the times of iterations. */
static int steps_measure(struct dw_steps *steps)
{
	uint64_t *lengths = malloc((steps->count + 1) * sizeof *lengths);
	size_t count = 0;

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
	qsort(lengths, count, sizeof *lengths, dw_compare_u64);
	steps->ended_count = count;
	steps->p50_ns = dw_steps_quantile(lengths, count, 0.50);
	free(lengths);
	return dw_steps_time_iterations(steps->steps, steps->count, &steps->iterations);
}

/* If no step ended, steps without an end count: the program is in its first step. */
static void steps_choose_counted(struct dw_steps *steps)
{
	for (size_t i = 0; steps->open_count == steps->count && i < steps->count; i++)
		steps->steps[i].counted = steps->steps[i].recorded && steps->steps[i].whole;
}

/* ---- the product --------------------------------------------------------------------------------------------- */

size_t dw_steps_find_stream(const struct dw_source *source, uint32_t thread)
{
	for (size_t i = 0; i < source->stream_count; i++)
		if (source->streams[i].process == source->threads[thread].process && !source->streams[i].nested &&
		    source->streams[i].stream == source->threads[thread].stream)
			return i;
	return source->stream_count;
}

/* Sorts the source's steps by thread and, within a thread, by begin. Finds the first step of each
 * thread. -1: out of memory. */
static int steps_order(struct dw_steps_work *work, const uint64_t *counts)
{
	const struct dw_source *source = work->model->source;
	size_t at = 0, *next = calloc(source->thread_count + 1, sizeof *next);

	work->order = calloc(source->step_count + 1, sizeof *work->order);
	work->first_of = calloc(source->thread_count + 1, sizeof *work->first_of);
	if (next && work->order && work->first_of) {
		for (size_t t = 0; t < source->thread_count; t++) {
			work->first_of[t] = next[t] = at;
			at += counts[t];
		}
		for (size_t i = 0; i < source->step_count; i++)
			work->order[next[source->steps[i].thread]++] = i;
	}
	free(next);
	return next && work->order && work->first_of ? 0 : -1;
}

/* Adds the pace of a thread with steps. Does nothing if no step of the thread is in scope. */
static void steps_add_pace(struct dw_steps_work *work, uint32_t thread, uint64_t count, bool is_first,
                           const struct dw_interval *missing)
{
	const struct dw_source *source = work->model->source;
	struct dw_steps *steps = work->steps;
	uint32_t index = source->threads[thread].process;
	const struct dw_source_process *process = &source->processes[index];
	const struct dw_source_clock *clock = &source->files[process->file].clock;
	struct dw_pace *pace = &work->paces[steps->thread_count];
	const struct dw_pace_step *last;

	*pace = (struct dw_pace){ .process = index,
		                      .thread = thread,
		                      .stream = dw_steps_find_stream(source, thread),
		                      .steps = work->ticks + steps->count,
		                      .first_step = steps->count };
	for (size_t i = 0; i < count; i++) {
		size_t from = work->order[work->first_of[thread] + i];
		const struct dw_source_step *next =
			i + 1 < count ? &source->steps[work->order[work->first_of[thread] + i + 1]] : NULL;

		if (!dw_model_has_step(work->model, &source->steps[from]))
			continue;
		work->from[steps->count] = from;
		work->ns_per_tick[steps->count] = clock->ns_per_tick;
		steps_add_step(steps, pace, &source->steps[from], next, dw_step_is_whole(&source->steps[from], &missing),
		               work->classes->at[from]);
	}
	if (!pace->count)
		return;
	steps->process_count += is_first;
	steps->threads[steps->thread_count++] = thread;
	last = &pace->steps[pace->count - 1];
	pace->start_ticks = dw_source_ticks(clock, is_first ? process->start_ns : source->threads[thread].start_ns);
	pace->end_ticks = is_first ? dw_source_ticks(clock, process->end_ns) : last->end_ticks;
	if (pace->steps[0].start_ticks < pace->start_ticks)
		pace->start_ticks = pace->steps[0].start_ticks;
	if (last->end_ticks > pace->end_ticks)
		pace->end_ticks = last->end_ticks;
}

static void steps_add_paces(struct dw_steps_work *work, const struct dw_threads *threads, const uint64_t *counts,
                            const uint32_t *first)
{
	static const struct dw_interval none = { UINT64_MAX, UINT64_MAX };
	const struct dw_source *source = work->model->source;

	for (uint32_t p = 0; p < source->process_count; p++) {
		size_t before = work->steps->thread_count;
		const struct dw_interval *missing = threads ? threads->process_missing[p] : &none;

		if (first[p] == DW_NO_INDEX)
			continue;
		steps_add_pace(work, first[p], counts[first[p]], true, missing);
		for (uint32_t t = 0; t < source->thread_count; t++)
			if (t != first[p] && source->threads[t].process == p && steps_thread_counts(work->model, counts, t))
				steps_add_pace(work, t, counts[t], work->steps->thread_count == before, missing);
	}
}

/* Computes what is known before the walk. */
static int steps_prepare(struct dw_steps_work *work, const struct dw_threads *threads)
{
	struct dw_model *model = work->model;
	const struct dw_source *source = model->source;
	struct dw_steps *steps = work->steps;
	uint64_t *counts = steps_count_by_thread(model);
	const uint32_t *first = dw_model_step_threads(model);
	int result = -1;

	steps->steps = dw_arena_alloc(&model->arena, (source->step_count + 1) * sizeof *steps->steps);
	steps->loops = dw_arena_alloc(&model->arena, (source->thread_count + 1) * sizeof *steps->loops);
	steps->counted = dw_arena_alloc(&model->arena, (source->step_count + 1) * sizeof *steps->counted);
	steps->threads = dw_arena_alloc(&model->arena, (source->thread_count + 1) * sizeof *steps->threads);
	work->ticks = calloc(source->step_count + 1, sizeof *work->ticks);
	work->ns_per_tick = calloc(source->step_count + 1, sizeof *work->ns_per_tick);
	work->from = calloc(source->step_count + 1, sizeof *work->from);
	work->paces = calloc(source->thread_count + 1, sizeof *work->paces);
	work->classes = dw_model_step_classes(model, NULL);
	if (work->classes && counts && first && steps->steps && steps->loops && steps->counted && steps->threads &&
	    work->ticks && work->ns_per_tick && work->from && work->paces)
		result = steps_order(work, counts);
	if (result == 0) {
		steps_add_paces(work, threads, counts, first);
		steps_choose_counted(steps);
		for (size_t i = 0; i < steps->count; i++)
			steps->counted[work->from[i]] = steps->steps[i].counted;
	}
	free(counts);
	return result;
}

bool dw_steps_begin(struct dw_steps_work *work, struct dw_model *model, struct dw_steps *steps,
                    const struct dw_threads *threads)
{
	*work = (struct dw_steps_work){ .model = model, .steps = steps };
	if (steps_prepare(work, threads) || steps_measure(steps))
		return false;
	dw_steps_sample(work);
	return dw_shares_init(&work->shares, model, work->paces, steps->thread_count);
}

bool dw_steps_end(struct dw_steps_work *work, const struct dw_threads *threads)
{
	static const struct dw_interval none = { UINT64_MAX, UINT64_MAX };
	uint64_t beside_ns[DW_BESIDE_COUNT] = { 0 }, beside_counts[DW_BESIDE_COUNT] = { 0 };
	const struct dw_source *source = work->model->source;
	struct dw_steps *steps = work->steps;

	if (!dw_shares_finish(&work->shares))
		return false;
	for (size_t i = 0; i < steps->thread_count; i++) {
		struct dw_pace *pace = &work->paces[i];
		const struct dw_source_clock *clock = &source->files[source->processes[pace->process].file].clock;

		if (dw_steps_convert(work->model, steps, pace))
			return false;
		dw_steps_convert_besides(steps, work->model, pace, beside_ns, beside_counts);
		if (dw_steps_convert_loop(work->model, steps, pace))
			return false;
		steps->missing_ns += dw_source_span_ns(
			clock, dw_steps_missing_ticks(steps, pace, threads ? threads->missing[pace->thread] : &none,
		                                  work->model->intervals != NULL));
	}
	return dw_steps_sum_parts(work->model, steps) == 0 &&
	       dw_steps_explain(work->model, steps, work->ticks, work->ns_per_tick) == 0 &&
	       dw_steps_name_besides(work->model, steps, beside_ns, beside_counts) == 0;
}

void dw_steps_reset(struct dw_steps_work *work)
{
	for (size_t i = 0; work->ticks && i < work->steps->count; i++)
		free(work->ticks[i].selfs);
	for (size_t i = 0; work->paces && i < work->steps->thread_count; i++) {
		DW_FREE(work->paces[i].owns, work->paces[i].rows, work->paces[i].pieces);
	}
	if (work->shares.model)
		dw_shares_reset(&work->shares);
	DW_FREE(work->ticks, work->ns_per_tick, work->from, work->order, work->first_of, work->paces);
}

/* If a walk before has found pieces, several workers divide them. Finding them for this walk alone saves nothing. */
static bool steps_divide(struct dw_model *model, struct dw_steps *steps, const struct dw_threads *threads)
{
	struct dw_steps_work work = { .model = NULL };
	const struct dw_segments *pieces =
		dw_product_has(model, &dw_product_segments, 0) && dw_threads_are_whole(model) ? dw_model_segments(model) : NULL;
	bool good = dw_steps_begin(&work, model, steps, threads) && dw_shares_walk(&work.shares, pieces) && dw_steps_end(&work, threads);

	dw_steps_reset(&work);
	return good;
}

/* The threads say where records are missing. They are not asked, which would be a walk more, if the file knows of none
 * that is missing and the division meets no such place either. */
static bool steps_compute(struct dw_model *model, const void *request, void *result)
{
	struct dw_steps *steps = result;
	const struct dw_threads *threads;

	if (dw_threads_are_whole(model)) {
		if (!steps_divide(model, steps, NULL))
			return false;
		if (dw_threads_are_whole(model))
			return true;
		*steps = (struct dw_steps){ .steps = NULL };
	}
	threads = dw_model_threads(model, NULL);
	return threads && steps_divide(model, steps, threads);
}

DW_PRODUCT(steps, struct dw_steps, steps_compute, NULL);

DW_PRODUCT_GETTER(steps, struct dw_steps)
