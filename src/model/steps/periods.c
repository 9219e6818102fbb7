/* The iterations of a run in which no step is marked; see periods.h. */
#include "base/free.h"
#include "base/order.h"
#include "model/core/product.h"
#include "model/core/scope.h"
#include "model/steps/periods.h"
#include "model/steps/periods_build.h"
#include "model/time/threads.h"

/* Threads in which a period is searched, at most. */
#define MOST_THREADS 4u

struct thread_busy {
	uint32_t thread;
	bool main; /* the first thread of its process */
	double ns;
	bool little; /* it is less than half as busy as the busiest: only phases and compiled functions count */
};

DW_ORDER(period_compare_busy, struct thread_busy, DW_DOWN(main) DW_DOWN(ns) DW_UP(thread))

static const struct dw_source_clock *period_clock(const struct dw_model *model, uint32_t thread)
{
	return &model->source->files[model->source->processes[model->source->threads[thread].process].file].clock;
}

/* Leaves the threads that are at least half as busy as the busiest, and the main thread of that one's process. Main
 * threads come first: they may wait while others work for their loop. */
static size_t period_keep_busy(const struct dw_source *source, struct thread_busy *threads, size_t count)
{
	const struct thread_busy none = { .ns = 0 }, *most = &none;
	uint32_t process = DW_NO_INDEX;
	size_t kept = 0;
	double half;

	for (size_t i = 0; i < count; i++)
		most = threads[i].ns > most->ns ? &threads[i] : most;
	half = most->ns / 2;
	if (most != &none)
		process = source->threads[most->thread].process;
	for (size_t i = 0; i < count; i++) {
		struct thread_busy thread = threads[i];

		thread.little = thread.ns < half;
		if (thread.ns > 0 && (!thread.little || (thread.main && source->threads[thread.thread].process == process)))
			threads[kept++] = thread;
	}
	DW_SORT(threads, kept, period_compare_busy);
	return kept;
}

uint32_t dw_period_only_thread(const struct dw_source *source)
{
	uint32_t only = DW_NO_INDEX;

	for (size_t i = 0; i < source->stream_count; i++)
		for (size_t c = 0; !source->streams[i].nested && c < source->streams[i].chunk_count; c++) {
			uint32_t thread = source->streams[i].chunks[c].thread;

			if (only != DW_NO_INDEX && thread != only)
				return DW_NO_INDEX;
			only = thread;
		}
	return source->events_count ? DW_NO_INDEX : only;
}

/* How long each thread was in a range, in ticks. Names with a number are counted, too, for which the records are read
 * once more. False: out of memory. */
static bool period_find_busy(struct dw_model *model, struct dw_period_names *names, uint64_t *busy)
{
	uint32_t only = dw_period_only_thread(model->source);
	const struct dw_threads *threads;

	if (names->any_numbered || !dw_scope_is_all(model))
		return dw_period_busy(model, names, busy);
	if (only != DW_NO_INDEX) {
		busy[only] = 1;
		return true;
	}
	threads = dw_model_threads(model, NULL);
	for (size_t i = 0; threads && i < threads->count; i++)
		if (!threads->rows[i].nested)
			busy[threads->rows[i].thread] += threads->rows[i].busy_ticks;
	return threads != NULL;
}

/* The threads in which a period is searched, in order. NULL: out of memory. */
static struct thread_busy *period_order_threads(struct dw_model *model, struct dw_period_names *names,
                                                size_t *count)
{
	const struct dw_source *source = model->source;
	struct thread_busy *threads = calloc(source->thread_count + 1, sizeof *threads);
	uint64_t *busy = calloc(source->thread_count + 1, sizeof *busy);
	bool good = threads && busy && period_find_busy(model, names, busy);

	for (uint32_t i = 0; good && i < source->thread_count; i++) {
		const struct dw_source_thread *thread = &source->threads[i];

		threads[i] = (struct thread_busy){ .thread = i, .ns = (double)busy[i] * period_clock(model, i)->ns_per_tick };
		threads[i].main = thread->tid == source->processes[thread->process].pid;
	}
	*count = good ? period_keep_busy(source, threads, source->thread_count) : 0;
	free(busy);
	if (!good)
		DW_FREE(threads);
	return good ? threads : NULL;
}

/* Makes the steps of what was found. False: out of memory. */
static bool period_fill(struct dw_period *period, struct dw_model *model, const struct dw_period_names *names,
                        uint32_t thread, const struct dw_period_events *events, const struct dw_period_found *found)
{
	const struct dw_source_clock *clock = period_clock(model, thread);
	uint64_t end = 0;

	if (!found->count)
		return true;
	period->thread = thread;
	period->meant = found->parts || names->kinds[dw_period_key_at(events, found->begins[0])] == DW_PERIOD_TASK;
	period->name = dw_period_name(names, model, dw_period_key_at(events, found->begins[0]));
	period->steps = dw_arena_alloc(&model->arena, found->count * sizeof *period->steps);
	for (size_t i = 0; period->steps && i < found->count; i++) {
		struct dw_source_step *step = &period->steps[i];
		bool last = i + 1 == found->count;

		*step = (struct dw_source_step){ .thread = thread, .recorded = true, .number = i };
		step->start_ticks = dw_period_at(events, found->begins[i]).start;
		step->end_ticks = last ? dw_period_at(events, found->last).end : dw_period_at(events, found->begins[i + 1]).start;
		/* Ranges that overlap may end late. */
		step->start_ticks = step->start_ticks > end ? step->start_ticks : end;
		step->end_ticks = step->end_ticks > step->start_ticks ? step->end_ticks : step->start_ticks;
		end = step->end_ticks;
		step->start_ns = dw_source_ns(clock, step->start_ticks);
		step->end_ns = dw_source_ns(clock, step->end_ticks);
	}
	period->count = found->count;
	return period->name && period->steps;
}

static bool period_try(struct dw_period *period, struct dw_model *model, const struct dw_period_names *names,
                       const struct thread_busy *thread, const struct dw_period_events *events,
                       const struct dw_period_events *busy)
{
	struct dw_period_found found;
	bool good = dw_period_find(names, events, busy, &found);

	if (good && (found.parts || !thread->little))
		good = period_fill(period, model, names, thread->thread, events, &found);
	free(found.begins);
	return good;
}

static bool period_of_thread(struct dw_period *period, struct dw_model *model, const struct dw_period_names *names,
                             const struct thread_busy *thread)
{
	struct dw_period_events named = { .count = 0 }, all = { .count = 0 };
	bool good = dw_period_collect(model, names, thread->thread, &named, &all) &&
	            period_try(period, model, names, thread, &named, &all);

	if (good && !period->count)
		good = period_try(period, model, names, thread, &all, &all);
	dw_period_events_reset(&named);
	dw_period_events_reset(&all);
	return good;
}

/* The main or busiest thread of a process. DW_NO_INDEX: it has none. */
static uint32_t period_first_thread(const struct dw_source *source, uint32_t process, const struct thread_busy *threads,
                                    size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (source->threads[threads[i].thread].process == process)
			return threads[i].thread;
	for (uint32_t i = 0; i < source->thread_count; i++)
		if (source->threads[i].process == process)
			return i;
	return DW_NO_INDEX;
}

static bool period_of_device(struct dw_period *period, struct dw_model *model, struct dw_period_names *names,
                             const struct thread_busy *threads, size_t count)
{
	struct dw_period_events kernels = { .count = 0 }, ranges = { .count = 0 };
	struct thread_busy thread = { .thread = DW_NO_INDEX };
	uint32_t process;
	bool good = dw_period_collect_device(model, names, &kernels, &ranges, &process);

	if (good)
		thread.thread = period_first_thread(model->source, process, threads, count);
	if (good && thread.thread != DW_NO_INDEX)
		good = period_try(period, model, names, &thread, &ranges, kernels.count ? &kernels : &ranges);
	if (good && thread.thread != DW_NO_INDEX && !period->count)
		good = period_try(period, model, names, &thread, &kernels, &kernels);
	dw_period_events_reset(&kernels);
	dw_period_events_reset(&ranges);
	return good;
}

bool dw_model_period_between(struct dw_model *model, uint32_t thread, uint64_t from_ns, uint64_t to_ns, struct dw_period *period)
{
	const struct thread_busy only = { .thread = thread };
	struct dw_period_names names;
	uint64_t *busy = calloc(model->source->thread_count + 1, sizeof *busy);
	bool good = dw_period_names_init(&names, model) && busy && dw_period_busy(model, &names, busy) &&
	            dw_period_names_unite(&names, model);

	*period = (struct dw_period){ .thread = DW_NO_INDEX, .name = "" };
	names.from_ns = from_ns;
	names.to_ns = to_ns;
	good = good && period_of_thread(period, model, &names, &only);
	free(busy);
	dw_period_names_reset(&names);
	return good;
}

static bool period_compute(struct dw_model *model, const void *request, void *result)
{
	struct dw_period *period = result;
	struct dw_period_names names;
	struct thread_busy *threads = NULL;
	size_t count = 0;
	bool good = dw_period_names_init(&names, model) && (threads = period_order_threads(model, &names, &count)) &&
	            dw_period_names_unite(&names, model);

	period->thread = DW_NO_INDEX;
	period->name = "";
	names.to_ns = UINT64_MAX;
	for (size_t i = 0; good && i < count && i < MOST_THREADS && !period->count; i++)
		good = period_of_thread(period, model, &names, &threads[i]);
	if (good && !period->count && model->source->events_count)
		good = period_of_device(period, model, &names, threads, count);
	free(threads);
	dw_period_names_reset(&names);
	return good;
}

DW_PRODUCT(period, struct dw_period, period_compute, NULL);

const struct dw_period *dw_model_period(struct dw_model *model, struct dwell_error *error)
{
	return dw_product_get(model->whole, &dw_product_period, 0, NULL, error);
}
