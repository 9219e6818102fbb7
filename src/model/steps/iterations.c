/*
 * Iterations of runs in which no step is marked; see iterations.h.
 *
 * The iterations become steps of a copy of the source, which shares all else with it. A second model of that copy
 * computes whatever is asked of steps.
 */
#include "model/steps/iterations.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format/keys.h"
#include "model/core/product.h"
#include "model/steps/periods.h"
#include "model/steps/usage.h"
#include "model/time/threads.h"

struct iterations {
	struct dw_iterated of; /* the first member: what dw_product_get() returns */
	struct dw_source source; /* a copy with other steps */
	struct dw_model *own;    /* its model; NULL: there is none */
};

/* ---- the thread ----------------------------------------------------------------------------------------- */

static bool iterations_wants(const struct dw_model *model, uint32_t thread)
{
	const struct dw_source *source = model->source;

	return (!model->wanted_threads || model->wanted_threads[thread]) &&
	       !(source->processes[source->threads[thread].process].flags & DW_PROCESS_RUNNER);
}

/* How busy each thread was: by the kernel's account; if that is not known of any, by its samples or the time in ranges. NULL: out of
 * memory. */
static double *iterations_weigh(struct dw_model *model)
{
	const struct dw_source *source = model->source;
	double *weights = calloc(source->thread_count + 1, sizeof *weights), all = 0;
	uint32_t only = dw_period_only_thread(source);
	const struct dw_threads *threads;

	for (uint32_t t = 0; weights && t < source->thread_count; t++) {
		weights[t] = iterations_wants(model, t) ? (double)source->threads[t].cpu_ns : 0;
		all += weights[t];
	}
	for (uint32_t t = 0; weights && !(all > 0) && t < source->thread_count; t++)
		weights[t] = iterations_wants(model, t) ? (double)source->threads[t].sample_weight : 0;
	for (uint32_t t = 0; weights && t < source->thread_count; t++)
		all += weights[t];
	if (!weights || all > 0)
		return weights;
	if (only != DW_NO_INDEX && iterations_wants(model, only)) {
		weights[only] = 1;
		return weights;
	}
	threads = dw_model_threads(model, NULL);
	for (size_t i = 0; threads && i < threads->count; i++)
		if (!threads->rows[i].nested && iterations_wants(model, threads->rows[i].thread))
			weights[threads->rows[i].thread] += (double)threads->rows[i].busy_ns;
	return weights;
}

#define MAIN_IDLE 0.02 /* of the process's CPU time: a main thread with less only waits, */
#define ONE_WORKS 0.2  /* and one with so much is what it waits for, if it is not one of many that come and go */

/* The main thread of the busiest process; where processes have ranks, of those: their launcher only waits. Its busiest
 * thread, if the main thread does next to nothing, or is not in the trace or scope. DW_NO_INDEX: there is none. */
static uint32_t iterations_choose_thread(const struct dw_model *model, const double *weights)
{
	const struct dw_source *source = model->source;
	uint32_t process = DW_NO_INDEX, best = DW_NO_INDEX, first = DW_NO_INDEX;
	double most = -1;
	bool ranks = false;

	for (uint32_t p = 0; p < source->process_count; p++) {
		bool any = false, rank = source->processes[p].rank >= 0;
		double sum = 0;

		for (uint32_t t = 0; t < source->thread_count; t++)
			if (source->threads[t].process == p && iterations_wants(model, t)) {
				sum += weights[t];
				any = true;
			}
		if (any && sum > 0 && rank && !ranks) {
			ranks = true;
			most = -1;
		}
		if (any && rank >= ranks && sum > most) {
			most = sum;
			process = p;
		}
	}
	for (uint32_t t = 0; t < source->thread_count; t++) {
		if (source->threads[t].process != process || !iterations_wants(model, t))
			continue;
		if (!source->files[source->processes[process].file].foreign && source->threads[t].tid == source->processes[process].pid)
			first = t;
		if (best == DW_NO_INDEX || weights[t] > weights[best])
			best = t;
	}
	if (first == DW_NO_INDEX || (weights[first] < MAIN_IDLE * most && weights[best] >= ONE_WORKS * most))
		return best;
	return first;
}

/* ---- the whole run as one iteration ------------------------------------------------------------------------- */

/* How long the process's main thread was ready to run without a CPU, in ns. A process records this at its end. For the program that
 * `dwell run` started, `dwell run` records it, too. Negative: not known. */
static double iterations_delay(const struct dw_source *source, uint32_t process, bool program)
{
	double ns = -1;

	for (size_t i = 0; i < source->meta_count; i++)
		if ((program && strcmp(source->metas[i].key, DW_KEY_DELAY_NS) == 0) ||
		    (source->metas[i].process == process && strcmp(source->metas[i].key, DW_KEY_PROCESS_DELAY_NS) == 0))
			ns = strtod(source->metas[i].value, NULL);
	return ns;
}

/* Whether it is that program's. */
static bool iterations_is_program(const struct dw_source *source, uint32_t process)
{
	uint32_t others = 0;

	for (size_t i = 0; i < source->machine_count; i++)
		if (source->machines[i].program)
			return source->machines[i].program == source->processes[process].pid;
	for (uint32_t p = 0; p < source->process_count; p++)
		others += p != process && !(source->processes[p].flags & DW_PROCESS_RUNNER);
	return !others;
}

double dw_iterations_delay_ns(const struct dw_source *source, uint32_t process)
{
	return iterations_delay(source, process, iterations_is_program(source, process));
}

/* When the last chunk of a thread that alone has records ended. */
static uint64_t iterations_last_of_only(const struct dw_source *source, uint32_t thread)
{
	const struct dw_source_clock *clock = &source->files[source->processes[source->threads[thread].process].file].clock;
	uint64_t last = 0;

	for (size_t i = 0; i < source->stream_count; i++)
		for (size_t c = 0; c < source->streams[i].chunk_count; c++) {
			const struct dw_source_chunk *chunk = &source->streams[i].chunks[c];

			last = chunk->thread == thread && chunk->end_ticks > last ? chunk->end_ticks : last;
		}
	return dw_source_ns(clock, last);
}

/* When a thread ended, as far as its records show. */
static uint64_t iterations_last_ns(struct dw_model *model, uint32_t thread)
{
	const struct dw_source *source = model->source;
	const struct dw_threads *threads;
	uint64_t last_ns = 0;

	if (dw_period_only_thread(source) == thread)
		return iterations_last_of_only(source, thread);
	threads = dw_model_threads(model, NULL);
	for (size_t i = 0; threads && i < threads->count; i++)
		if (threads->rows[i].thread == thread && threads->rows[i].last_ns > last_ns)
			last_ns = threads->rows[i].last_ns;
	return last_ns ? last_ns : source->processes[source->threads[thread].process].end_ns;
}

/* The time from the begin of the thread to the end of its process, as far as it is in scope. False: nothing is. */
static bool iterations_put_times(struct dw_model *model, struct dw_source_step *step)
{
	const struct dw_source *source = model->source;
	const struct dw_source_thread *thread = &source->threads[step->thread];
	const struct dw_source_process *process = &source->processes[thread->process];
	const struct dw_source_clock *clock = &source->files[process->file].clock;
	bool is_main = thread->tid == process->pid;

	step->start_ns = is_main && process->start_ns < thread->start_ns ? process->start_ns : thread->start_ns;
	step->end_ns = is_main || source->files[process->file].foreign ? process->end_ns : iterations_last_ns(model, step->thread);
	if (model->scope.has_window) {
		step->start_ns = step->start_ns > model->scope.from_ns ? step->start_ns : model->scope.from_ns;
		step->end_ns = step->end_ns < model->scope.to_ns ? step->end_ns : model->scope.to_ns;
	}
	if (step->end_ns <= step->start_ns)
		return false;
	step->start_ticks = dw_source_ticks(clock, step->start_ns);
	step->end_ticks = dw_source_ticks(clock, step->end_ns);
	return step->end_ticks > step->start_ticks;
}

/* The thread's part of the process's faults and switches, by CPU time. */
static void iterations_put_used(const struct dw_source *source, uint32_t process, struct dw_source_usage *usage)
{
	double part = usage->process_cpu_ns ? fmin(1, (double)usage->cpu_ns / (double)usage->process_cpu_ns) : 0;
	double values[5];

	for (size_t i = 0; i < source->meta_count; i++)
		if (source->metas[i].process == process && strcmp(source->metas[i].key, DW_KEY_PROCESS_USED) == 0 &&
		    sscanf(source->metas[i].value, "[%lf,%lf,%lf,%lf,%lf", &values[0], &values[1], &values[2], &values[3],
		           &values[4]) == 5) {
			usage->minor_faults = (uint32_t)fmin(UINT32_MAX, part * values[0]);
			usage->major_faults = (uint32_t)fmin(UINT32_MAX, part * values[1]);
			usage->waits = (uint32_t)fmin(UINT32_MAX, part * values[2]);
			usage->system_ns = (uint64_t)(part * values[4]);
			usage->preemptions = (uint32_t)fmin(UINT32_MAX, part * values[3]);
		}
}

/* What the thread used, by the kernel's account of the whole thread: known only if all of it is in scope. */
static void iterations_put_usage(const struct dw_model *model, const struct dw_source_step *step, struct dw_source_usage *usage)
{
	const struct dw_source *source = model->source;
	const struct dw_source_thread *thread = &source->threads[step->thread];
	double process_ns = dw_process_cpu_ns(source, thread->process), threads_ns = 0;

	for (uint32_t t = 0; t < source->thread_count; t++)
		threads_ns += source->threads[t].process == thread->process ? (double)source->threads[t].cpu_ns : 0;
	*usage = (struct dw_source_usage){ .thread = step->thread, .start_ticks = step->start_ticks, .end_ticks = step->end_ticks,
		                               .cpu_ns = thread->cpu_ns, .process_cpu_ns = (uint64_t)fmax(process_ns, threads_ns) };
	iterations_put_used(source, thread->process, usage);
	if (thread->tid == source->processes[thread->process].pid && dw_iterations_delay_ns(source, thread->process) >= 0) {
		usage->delay_ns = (uint64_t)dw_iterations_delay_ns(source, thread->process);
		usage->delay_known = true;
	}
}

/* Adds a reading of the thread's whole time. */
static bool iterations_add_usage(struct dw_model *model, struct dw_source *source, struct dw_source_step *whole)
{
	struct dw_source_usage *usage = dw_arena_alloc(&model->arena, sizeof *usage);

	if (!usage)
		return false;
	if (!source->threads[whole->thread].cpu_ns || model->scope.has_window)
		return true;
	iterations_put_usage(model, whole, usage);
	whole->cpu_ns = usage->process_cpu_ns;
	source->usages = usage;
	source->usage_count = 1;
	return true;
}

#define MOST_OF_RUN 0.9 /* of its time: a launcher that only waits leaves so much to the program */

/* Whether a process lasts about as long as all of them. */
static bool iterations_is_most(const struct dw_source *source, uint32_t process)
{
	const struct dw_source_process *processes = source->processes;
	uint64_t start_ns = processes[process].start_ns, end_ns = processes[process].end_ns;

	for (uint32_t p = 0; p < source->process_count; p++) {
		start_ns = processes[p].start_ns < start_ns ? processes[p].start_ns : start_ns;
		end_ns = processes[p].end_ns > end_ns ? processes[p].end_ns : end_ns;
	}
	return (double)(processes[process].end_ns - processes[process].start_ns) >= MOST_OF_RUN * (double)(end_ns - start_ns);
}

static bool iterations_put_run(struct dw_model *model, struct iterations *iterations)
{
	struct dw_source *source = &iterations->source;
	struct dw_source_step *step = dw_arena_alloc(&model->arena, sizeof *step);
	double *weights = iterations_weigh(model);
	uint32_t thread;

	if (!step || !weights) {
		free(weights);
		return false;
	}
	thread = iterations_choose_thread(model, weights);
	free(weights);
	if (thread == DW_NO_INDEX)
		return true;
	*step = (struct dw_source_step){ .thread = thread, .recorded = true };
	if (!iterations_put_times(model, step))
		return true;
	source->steps = step;
	source->step_count = 1;
	iterations->of.one_process = !iterations_is_most(model->source, source->threads[thread].process);
	return iterations_add_usage(model, source, step);
}

/* ---- the product ---------------------------------------------------------------------------------------------- */

static bool iterations_put_period(struct dw_model *model, struct iterations *iterations, const struct dw_period *period)
{
	struct dw_source_step whole = { .thread = period->thread };

	iterations->of.kind = DW_ITERATIONS_PERIOD;
	iterations->of.name = period->name;
	iterations->source.steps = period->steps;
	iterations->source.step_count = period->count;
	return !iterations_put_times(model, &whole) || iterations_add_usage(model, &iterations->source, &whole);
}

#define LEAST_SPAN 0.5 /* of the run: what is repeated in less of it is no account of the run */

/* Whether a period is what the run mainly does, or known to be iterations. Its first one does not count: what loads code,
 * compiles and sets up a device happens once. */
static bool iterations_covers(const struct dw_source *source, const struct dw_period *period)
{
	const struct dw_source_process *process;
	double span_ns;

	if (period->count < 2 || period->meant)
		return period->count >= 2;
	process = &source->processes[source->threads[period->thread].process];
	span_ns = (double)(period->steps[period->count - 1].end_ns - period->steps[1].start_ns);
	return span_ns >= LEAST_SPAN * (double)(process->end_ns - process->start_ns);
}

static bool iterations_compute(struct dw_model *model, const void *request, void *result)
{
	struct iterations *iterations = result;
	const struct dw_period *period;

	iterations->of = (struct dw_iterated){ .kind = DW_ITERATIONS_MARKED, .model = model };
	if (model->source->iterated) {
		iterations->of = *model->source->iterated;
		iterations->of.model = model;
		return true;
	}
	if (model->source->step_count || model->source->step_summary_count)
		return true;
	iterations->source = *model->source;
	iterations->of.kind = DW_ITERATIONS_RUN;
	period = dw_model_period(model, NULL);
	if (!period || (iterations_covers(model->source, period) ? !iterations_put_period(model, iterations, period)
	                                                         : !iterations_put_run(model, iterations)))
		return false;
	if (!iterations->source.step_count)
		return true;
	if (dw_model_create(&iterations->own, &iterations->source, &model->scope, NULL))
		return false;
	dw_products_lend(model, iterations->own);
	iterations->of.model = iterations->own;
	return true;
}

/* ---- what follows the last step -------------------------------------------------------------------------------- */

/* One iteration of all of it. */
static bool iterations_put_after(struct dw_model *model, struct iterations *iterations, const struct dw_iterations_after *after)
{
	const struct dw_source *source = model->source;
	const struct dw_source_clock *clock = &source->files[source->processes[source->threads[after->thread].process].file].clock;
	struct dw_source_step *step = dw_arena_alloc(&model->arena, sizeof *step);

	if (!step)
		return false;
	*step = (struct dw_source_step){ .thread = after->thread, .recorded = true, .start_ns = after->from_ns, .end_ns = after->to_ns,
		.start_ticks = dw_source_ticks(clock, after->from_ns), .end_ticks = dw_source_ticks(clock, after->to_ns),
		.cpu_ns = after->used.process_cpu_ns };
	iterations->source.steps = step;
	iterations->source.step_count = step->end_ticks > step->start_ticks;
	return true;
}

static bool iterations_compute_after(struct dw_model *model, const void *request, void *result)
{
	const struct dw_iterations_after *after = request;
	struct iterations *iterations = result;
	struct dw_source *source = &iterations->source;
	struct dw_period period;
	double span_ns;

	iterations->of = (struct dw_iterated){ .kind = DW_ITERATIONS_RUN, .follows = true };
	*source = *model->source;
	source->iterated = &iterations->of;
	source->step_summary_count = 0;
	source->usages = dw_arena_alloc(&model->arena, sizeof *source->usages);
	if (!source->usages || !dw_model_period_between(model, after->thread, after->from_ns, after->to_ns, &period))
		return false;
	*source->usages = after->used;
	source->usage_count = after->used.end_ticks > after->used.start_ticks;
	span_ns = period.count < 2 ? 0 : (double)(period.steps[period.count - 1].end_ns - period.steps[1].start_ns);
	if (span_ns >= LEAST_SPAN * (double)(after->to_ns - after->from_ns)) {
		iterations->of.kind = DW_ITERATIONS_PERIOD;
		iterations->of.name = period.name;
		source->steps = period.steps;
		source->step_count = period.count;
	} else if (!iterations_put_after(model, iterations, after)) {
		return false;
	}
	if (!source->step_count)
		return true;
	if (dw_model_create(&iterations->own, source, &model->scope, NULL))
		return false;
	dw_products_lend(model, iterations->own);
	iterations->of.model = iterations->own;
	return true;
}

static void iterations_free(void *result)
{
	struct iterations *iterations = result;

	if (iterations->own)
		dw_model_destroy(iterations->own);
}

DW_PRODUCT(iterated, struct iterations, iterations_compute, iterations_free);
DW_PRODUCT(iterated_after, struct iterations, iterations_compute_after, iterations_free);

const struct dw_iterated *dw_model_iterated_after(struct dw_model *model, const struct dw_iterations_after *after,
                                                  struct dwell_error *error)
{
	const struct iterations *iterations = dw_product_get(model, &dw_product_iterated_after, after->from_ns, after, error);

	return iterations ? &iterations->of : NULL;
}

const struct dw_iterated *dw_model_iterated(struct dw_model *model, struct dwell_error *error)
{
	const struct iterations *iterations = dw_product_get(model, &dw_product_iterated, 0, NULL, error);

	return iterations ? &iterations->of : NULL;
}
