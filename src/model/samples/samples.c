/*
 * Sums of samples by thread, stack and place in the step; see samples.h.
 *
 * One walk over the whole streams. A sample that interrupted a record is in the stream of its
 * thread's signal handlers. These streams are walked first, and their samples are counted when the
 * walk of the thread's own stream passes their time, so that the ranges of the thread are known.
 */
#include "model/samples/samples.h"

#include <math.h>

#include "base/free.h"
#include "base/grow.h"
#include "base/map.h"
#include "base/numbers.h"
#include "base/order.h"
#include "base/system/pool.h"
#include "format/keys.h"
#include "model/core/product.h"
#include "model/core/scope.h"
#include "model/samples/inside.h"
#include "model/steps/iterations.h"
#include "model/steps/steps.h"
#include "model/steps/usage.h"

#define MOST_CHUNKS 64u /* of a stream of a thread of a team */

struct table {
	struct dw_sample_row *rows;
	size_t count, capacity;
	struct dw_map map;
	bool failed;
};

/* A sample that the walk of another stream counts: it is from a stream of signal handlers, or from another thread. */
struct nested {
	uint64_t ticks;
	uint32_t thread, of, frame, stack, weight, holder; /* `thread` is walked when it is counted; it was taken in `of` */
	bool counted;
};

struct worker {
	struct table table;
	struct dw_frames frames;
};

struct all {
	struct dw_model *model;
	uint32_t ext;            /* which records are summed */
	const uint32_t *leaders; /* by process: the thread in whose place samples of others count; NULL: in their own */
	bool collects;           /* the walk only collects samples */
	const struct dw_segments *streams;
	struct dw_sample_places places;
	struct worker *workers;
	struct nested *nested; /* by thread, then time */
	size_t nested_count, nested_capacity;
	bool failed;
};

/* The state for a stream. */
struct samples {
	struct dw_pass pass;
	struct all *all;
	struct table *table;
	const struct dw_sample_step *steps, *first_step;
	uint32_t thread; /* the thread that `steps` and `next` are of */
	struct nested *next, *last;
};

/* ---- sums ------------------------------------------------------------------------------------ */

static void samples_add(struct table *table, const struct dw_sample_row *row)
{
	uint32_t key[] = { row->thread, row->frame, row->stack, row->range, row->named,
		               row->share,  row->where, row->class, row->holder };
	uint32_t hash = dw_map_hash_bytes(0, key, sizeof key);
	uint32_t at = DW_MAP_FIND(&table->map, hash, i,
	                          table->rows[i].thread == row->thread && table->rows[i].frame == row->frame &&
	                              table->rows[i].stack == row->stack && table->rows[i].range == row->range &&
	                              table->rows[i].named == row->named && table->rows[i].share == row->share &&
	                              table->rows[i].where == row->where && table->rows[i].class == row->class &&
	                              table->rows[i].holder == row->holder);

	if (at == DW_MAP_NONE) {
		table->failed |= !DW_APPEND(&table->rows, &table->capacity, &table->count, *row) ||
		                 !dw_map_add(&table->map, hash, (uint32_t)table->count - 1);
		return;
	}
	table->rows[at].count += row->count;
	table->rows[at].weight += row->weight;
	table->rows[at].squares += row->squares;
}

/* The thread of the process with the kernel's id `tid`; DW_NO_INDEX: none, or the kernel gave the id to several. */
static uint32_t samples_holder(const struct dw_source *source, uint32_t process, uint32_t tid)
{
	uint32_t found = DW_NO_INDEX;

	for (uint32_t i = 0; tid && i < source->thread_count; i++)
		if (source->threads[i].process == process && source->threads[i].tid == tid) {
			if (found != DW_NO_INDEX)
				return DW_NO_INDEX;
			found = i;
		}
	return found;
}

/* Whether a wait that ends after the last step lies mostly in that step. A run without steps is one step, and main() may wait for its
 * threads until the very end. */
static bool samples_is_of_last(const struct samples *samples, uint64_t ticks, const struct nested *sample)
{
	const struct dw_source *source = samples->all->model->source;
	const struct dw_source_process *process = &source->processes[source->threads[sample->of].process];
	const struct dw_source_clock *clock = &source->files[process->file].clock;
	uint64_t end_ns = dw_source_ns(clock, ticks);
	uint64_t half_ns = dw_whole((double)sample->weight * dw_samples_period(source, source->threads[sample->of].process) / 2);
	uint64_t middle = dw_source_ticks(clock, end_ns - (half_ns < end_ns ? half_ns : end_ns));

	return samples->all->ext == DW_IS_WAIT && samples->steps[-1].start_ticks <= middle && middle < samples->steps[-1].end_ticks;
}

static void samples_count(struct samples *samples, uint64_t ticks, const struct nested *sample)
{
	struct dw_sample_row row = { .thread = sample->thread,
		                         .frame = sample->frame,
		                         .stack = sample->stack,
		                         .holder = sample->holder,
		                         .count = 1,
		                         .weight = sample->weight,
		                         .squares = (uint64_t)sample->weight * sample->weight };

	while (samples->steps && samples->steps->end_ticks <= ticks)
		samples->steps++;
	if (samples->steps && samples->steps > samples->first_step && samples->steps->start_ticks == UINT64_MAX &&
	    samples_is_of_last(samples, ticks, sample)) {
		samples->steps--; /* the next sample moves it on again */
		ticks = samples->steps->start_ticks;
	}
	if (samples->steps && samples->steps->start_ticks <= ticks)
		row.where = DW_SAMPLE_IN_STEP;
	else if (samples->steps && samples->steps > samples->first_step)
		row.where = samples->steps->start_ticks != UINT64_MAX ? DW_SAMPLE_BETWEEN : DW_SAMPLE_AFTER;
	if (row.where == DW_SAMPLE_IN_STEP)
		row.class = (enum dw_iteration_class)samples->steps->class;
	else if (row.where == DW_SAMPLE_BETWEEN)
		row.class = (enum dw_iteration_class)samples->steps[-1].class;
	dw_sample_place(&samples->all->places, &samples->pass, row.where == DW_SAMPLE_IN_STEP && samples->steps->reduced,
	                &row);
	row.thread = sample->of;
	samples_add(samples->table, &row);
}

/* ---- the walk -------------------------------------------------------------------------------- */

static void samples_set_thread(struct samples *samples)
{
	struct all *all = samples->all;
	uint32_t thread = samples->pass.walk.thread;

	if (samples->thread == thread)
		return;
	samples->thread = thread;
	samples->steps = samples->first_step = all->places.steps[thread];
	samples->next = samples->last = NULL;
	for (size_t i = 0; i < all->nested_count; i++)
		if (all->nested[i].thread == thread) {
			samples->next = samples->next ? samples->next : &all->nested[i];
			samples->last = &all->nested[i] + 1;
		}
}

/* Counts the samples of signal handlers up to `ticks`. */
static void samples_settle(void *state, uint64_t ticks)
{
	struct samples *samples = state;

	if (samples->pass.walk.thread == DW_NO_INDEX || samples->pass.walk.stream->nested || samples->all->collects)
		return;
	samples_set_thread(samples);
	for (; samples->next != samples->last && samples->next->ticks <= ticks; samples->next++)
		if (!samples->next->counted) {
			samples_count(samples, samples->next->ticks, samples->next);
			samples->next->counted = true;
		}
}

DW_INLINE void samples_enter(void *state, void *place, uint64_t ticks, uint32_t id)
{
	struct samples *samples = state;

	((struct dw_sample_frame *)place)->row = dw_walk_op(&samples->pass.walk, id).row;
}

DW_INLINE void samples_leave(void *state, void *place, uint64_t ticks, enum dw_leave how)
{
}

/* Keeps a sample for the walk of its thread. */
static void samples_keep(struct all *all, const struct nested *sample)
{
	uint32_t thread = all->leaders ? all->leaders[all->model->source->threads[sample->of].process] : sample->of;
	struct nested nested = *sample;

	nested.thread = thread;
	if (!all->leaders || thread != sample->of)
		all->failed |= !DW_APPEND(&all->nested, &all->nested_capacity, &all->nested_count, nested);
}

static void samples_note(void *state, uint64_t ticks, const struct dw_record *record)
{
	struct samples *samples = state;
	uint32_t thread = samples->pass.walk.thread;
	struct nested sample = { .ticks = ticks, .thread = thread, .of = thread, .holder = DW_NO_INDEX };

	if (record->kind != DW_EXT || record->id != samples->all->ext || !dw_pass_in_scope(&samples->pass, ticks) ||
	    (samples->all->leaders && !samples->all->collects))
		return;
	sample.frame = record->payload[2];
	sample.stack = record->payload[3];
	sample.weight = record->payload[4] ? record->payload[4] : 1;
	if (record->id == DW_IS_WAIT) {
		const struct dw_source *source = samples->all->model->source;

		sample.holder = samples_holder(source, source->threads[sample.thread].process, record->payload[5]);
	}
	if (samples->pass.walk.stream->nested || samples->all->collects) {
		samples_keep(samples->all, &sample);
		return;
	}
	samples_settle(samples, ticks);
	samples_count(samples, ticks, &sample);
}

/* The thread or its data end. */
static void samples_flushed(void *state, uint64_t ticks, enum dw_flush why)
{
	samples_settle(state, why == DW_FLUSH_GAP ? ticks : UINT64_MAX);
}

static const struct dw_pass_hooks samples_hooks = {
	.frame_bytes = sizeof(struct dw_sample_frame),
	.deepest = DW_DEEPEST,
	.enter = samples_enter,
	.leave = samples_leave,
	.note = samples_note,
	.settle = samples_settle,
	.flushed = samples_flushed,
};
DW_PASS_DEFINE(samples, samples_hooks)

static void samples_walk_stream(struct all *all, struct worker *worker, size_t stream)
{
	struct samples samples;

	memset(&samples, 0, sizeof samples);
	samples.all = all;
	samples.table = &worker->table;
	samples.thread = DW_NO_INDEX;
	dw_pass_init(&samples.pass, all->model, stream, &worker->frames);
	samples_walk(&samples.pass);
	worker->table.failed |= samples.pass.walk.failed;
}

static void samples_task(void *pointer, unsigned worker, size_t index)
{
	struct all *all = pointer;
	size_t stream = all->streams->items[index].stream;

	if (!all->model->source->streams[stream].nested && (!all->leaders || all->nested_count))
		samples_walk_stream(all, &all->workers[worker], stream);
}

DW_ORDER(samples_compare_nested, struct nested, DW_UP(thread) DW_UP(ticks))

/* Collects what other walks count: the samples of signal handlers, or those of all threads but the leaders. A thread
 * with more than a few chunks has ranges of its own and belongs to no team. */
static void samples_collect(struct all *all)
{
	const struct dw_source *source = all->model->source;

	all->collects = true;
	for (size_t i = 0; i < source->stream_count; i++) {
		const struct dw_source_stream *stream = &source->streams[i];

		if (dw_scope_has_stream(all->model, stream) &&
		    (all->leaders ? all->leaders[stream->process] != DW_NO_INDEX && stream->chunk_count <= MOST_CHUNKS
		                  : stream->nested))
			samples_walk_stream(all, &all->workers[0], i);
	}
	all->collects = false;
	DW_SORT(all->nested, all->nested_count, samples_compare_nested);
}

static bool samples_walk_all(struct all *all, unsigned count)
{
	samples_collect(all);
	dw_pool_run(all->streams->count, count, samples_task, all);
	for (size_t i = 0; i < all->nested_count; i++)
		if (!all->nested[i].counted && !all->leaders) /* its thread has no other records */
			samples_add(&all->workers[0].table,
			            &(struct dw_sample_row){ all->nested[i].thread, all->nested[i].frame, all->nested[i].stack,
			                                     DW_NO_INDEX, DW_NO_INDEX, DW_SHARE_OTHER, DW_SAMPLE_OUTSIDE,
			                                     DW_ITERATION_STEADY, all->nested[i].holder, DW_ACTIVITY_UNKNOWN, 1,
			                                     all->nested[i].weight,
			                                     (uint64_t)all->nested[i].weight * all->nested[i].weight, 0 });
	for (unsigned i = 1; i < count; i++) {
		const struct table *table = &all->workers[i].table;

		for (size_t row = 0; row < table->count; row++)
			samples_add(&all->workers[0].table, &table->rows[row]);
		all->failed |= table->failed;
	}
	return !all->failed && !all->workers[0].table.failed;
}

struct dw_sample_stack dw_sample_stack_of(const struct dw_source *source, const struct dw_sample_row *row)
{
	const struct dw_source_file *file = &source->files[source->processes[source->threads[row->thread].process].file];
	struct dw_sample_stack stack = { .file = file };

	if (!file->frames)
		return stack;
	stack.frame = row->frame;
	stack.first = row->frame != 0;
	if (file->stacks && row->stack < file->symbol_count) {
		stack.callers = file->stacks[row->stack].frames;
		stack.count = file->stacks[row->stack].count;
	}
	stack.count += stack.first;
	return stack;
}

enum dw_activity dw_sample_wait_activity(const struct dw_sample_stack *stack)
{
	const struct dw_source_frame *frame = dw_sample_stack_at(stack, 0), *caller = dw_sample_stack_at(stack, 1);

	return frame ? dw_activity_of_wait(frame->module, frame->functions->name, caller ? caller->module : NULL) : DW_ACTIVITY_UNKNOWN;
}

const struct dw_source_function *dw_sample_own_function(const struct dw_source *source, const struct dw_sample_row *row,
                                                        uint32_t skipped)
{
	const struct dw_sample_stack stack = dw_sample_stack_of(source, row);

	for (uint32_t i = skipped; i < stack.count; i++) {
		const struct dw_source_frame *frame = dw_sample_stack_at(&stack, i);

		for (uint32_t f = 0; frame && f < frame->count; f++)
			if (dw_sample_is_own(frame, &frame->functions[f]))
				return &frame->functions[f];
	}
	return NULL;
}

enum dw_sample_spin dw_sample_spins(const struct dw_source *source, const struct dw_sample_row *row, uint32_t *within)
{
	const struct dw_sample_stack stack = dw_sample_stack_of(source, row);
	const struct dw_source_frame *frame;
	uint32_t outside = 0, end;

	while (dw_sample_role(&stack, outside) == DW_LIBRARY_KERNEL)
		outside++;
	frame = dw_sample_stack_at(&stack, outside);
	*within = outside;
	if (frame && frame->loop == DW_CODE_SPINS && frame->role != DW_LIBRARY_TEAM) {
		const struct dw_source_function *own = dw_sample_own_function(source, row, outside);

		return own >= frame->functions && own < frame->functions + frame->count ? DW_SPIN_OWN : DW_SPIN_NONE;
	}
	/* sched_yield() and syscall() */
	outside += frame && frame->role == DW_LIBRARY_SYSTEM &&
	           dw_activity_in(frame->activity, DW_ACTIVITY_SET(SPIN) | DW_ACTIVITY_SET(UNKNOWN));
	end = outside;
	while (dw_sample_role(&stack, end) == DW_LIBRARY_TEAM)
		end++;
	*within = end;
	return end > outside ? DW_SPIN_TEAM : DW_SPIN_NONE;
}

/* ---- the product ------------------------------------------------------------------------------ */

bool dw_source_has_samples(const struct dw_source *source)
{
	return dw_source_meta(source, DW_NO_INDEX, DW_KEY_SAMPLE_PERIOD_NS) != NULL;
}

DW_ORDER(samples_compare_rows, struct dw_sample_row,
         DW_DOWN(weight) DW_UP(thread) DW_UP(frame) DW_UP(stack) DW_UP(range) DW_UP(share) DW_UP(where) DW_UP(class)
             DW_UP(holder))

double dw_samples_period(const struct dw_source *source, uint32_t process)
{
	double period = 0;

	for (unsigned up = 0; up < 64 && process != DW_NO_INDEX && !(period > 0); up++) {
		const char *value = dw_source_meta(source, process, DW_KEY_SAMPLE_PERIOD_NS);

		period = value ? strtod(value, NULL) : 0;
		process = source->processes[process].parent;
	}
	return period > 0 && period < 1e12 ? period : 0;
}

/* A wait is in a function of libc, whose module is not recorded. */
static enum dw_activity samples_activity(const struct dw_source *source, const struct dw_sample_row *row, bool waits)
{
	const struct dw_sample_stack stack = dw_sample_stack_of(source, row);
	const struct dw_source_frame *frame = dw_sample_stack_at(&stack, 0);

	if (!frame)
		return DW_ACTIVITY_UNKNOWN;
	return waits ? dw_sample_wait_activity(&stack) : frame->activity;
}

/* A sample of a wait ends when the thread runs again, so it includes the time for which the thread was ready and had no CPU. The
 * kernel counts that time for the main thread. All its waits are shortened by one factor, so that their sum is what the kernel
 * leaves, and all views have the same number. */
static void samples_fit_waits(struct dw_model *model, struct dw_samples *waits, uint32_t thread)
{
	const struct dw_source_thread *of = &model->source->threads[thread];
	const char *wall = dw_source_meta(model->source, DW_NO_INDEX, DW_KEY_WALL_NS);
	double delay_ns = dw_iterations_delay_ns(model->source, of->process), waited_ns, sum_ns = 0;

	if (of->tid != model->source->processes[of->process].pid || !of->cpu_ns || delay_ns < 0 || !wall)
		return;
	waited_ns = fmax(0, strtod(wall, NULL) - (double)of->cpu_ns - delay_ns);
	for (size_t i = 0; i < waits->count; i++)
		sum_ns += waits->rows[i].thread == thread ? (double)waits->rows[i].cpu_ns : 0;
	for (size_t i = 0; i < waits->count && sum_ns > waited_ns; i++) {
		struct dw_sample_row *row = &waits->rows[i];
		uint64_t ns = row->thread == thread ? dw_whole((double)row->cpu_ns * waited_ns / sum_ns) : row->cpu_ns;

		waits->cpu_ns -= row->cpu_ns - ns;
		row->cpu_ns = ns;
	}
}

static bool samples_put(struct dw_model *model, struct dw_samples *samples, struct table *from, bool waits)
{
	samples->rows = dw_arena_alloc(&model->arena, (from->count + 1) * sizeof *samples->rows);
	if (!samples->rows)
		return false;
	samples->has_periods = true;
	samples->count = from->count;
	for (size_t i = 0; i < from->count; i++) {
		struct dw_sample_row *row = &from->rows[i];
		double period = dw_samples_period(model->source, model->source->threads[row->thread].process);

		row->cpu_ns = dw_whole((double)row->weight * period);
		row->activity = samples_activity(model->source, row, waits);
		samples->has_periods &= period > 0;
		samples->samples += row->count;
		samples->weight += row->weight;
		samples->cpu_ns += row->cpu_ns;
		samples->unread += row->frame || row->stack ? 0 : row->count;
		samples->rows[i] = *row;
	}
	DW_SORT(samples->rows, samples->count, samples_compare_rows);
	for (uint32_t thread = 0; waits && !dw_model_is_partial(model) && thread < model->source->thread_count; thread++)
		samples_fit_waits(model, samples, thread);
	return true;
}

/* By process: the thread with steps in whose place the samples of other threads count. A process that has none, and that was forked
 * from one that has, works for that one. Their ticks are of one clock. NULL: out of memory. */
static const uint32_t *samples_find_leaders(struct dw_model *model)
{
	const struct dw_source *source = model->source;
	const uint32_t *own = dw_model_step_threads(model);
	uint32_t *leaders = own ? dw_arena_alloc(&model->arena, (source->process_count + 1) * sizeof *leaders) : NULL;

	for (uint32_t p = 0; leaders && p < source->process_count; p++) {
		uint32_t at = p, parent = source->processes[p].parent;

		for (unsigned up = 0; up < 64 && own[at] == DW_NO_INDEX && dw_process_is_fork(source, at); up++) {
			at = parent;
			parent = source->processes[at].parent;
		}
		leaders[p] = own[at];
	}
	return leaders;
}

static bool samples_sum(struct dw_model *model, uint32_t ext, bool team, void *result)
{
	bool any = dw_source_has_samples(model->source);
	struct all all = { .model = model, .ext = ext, .streams = any ? dw_model_whole_streams(model) : NULL };
	unsigned count = all.streams ? dw_pool_workers(all.streams->count) : 0;
	bool good;

	if (team)
		all.leaders = ext == DW_IS_SAMPLE ? samples_find_leaders(model) : dw_model_step_threads(model);

	if (!any)
		return true;
	good = count && (all.leaders || !team) && dw_sample_places_init(&all.places, model);
	all.workers = calloc(count + 1, sizeof *all.workers);
	good = good && all.workers && samples_walk_all(&all, count) &&
	       samples_put(model, result, &all.workers[0].table, ext == DW_IS_WAIT);
	for (unsigned i = 0; all.workers && i < count; i++) {
		free(all.workers[i].table.rows);
		dw_map_reset(&all.workers[i].table.map);
		dw_frames_reset(&all.workers[i].frames);
	}
	DW_FREE(all.workers, all.nested);
	dw_sample_places_reset(&all.places);
	return good;
}

static bool samples_compute(struct dw_model *model, const void *request, void *result)
{
	return samples_sum(model, DW_IS_SAMPLE, false, result);
}

static bool team_samples_compute(struct dw_model *model, const void *request, void *result)
{
	return samples_sum(model, DW_IS_SAMPLE, true, result);
}

static bool wait_samples_compute(struct dw_model *model, const void *request, void *result)
{
	return samples_sum(model, DW_IS_WAIT, false, result);
}

static bool samples_compute_team_waits(struct dw_model *model, const void *request, void *result)
{
	return samples_sum(model, DW_IS_WAIT, true, result);
}

DW_PRODUCT(samples, struct dw_samples, samples_compute, NULL);
DW_PRODUCT(team_samples, struct dw_samples, team_samples_compute, NULL);
DW_PRODUCT(wait_samples, struct dw_samples, wait_samples_compute, NULL);
DW_PRODUCT(team_waits, struct dw_samples, samples_compute_team_waits, NULL);

DW_PRODUCT_GETTER(samples, struct dw_samples)
DW_PRODUCT_GETTER(team_samples, struct dw_samples)
DW_PRODUCT_GETTER(wait_samples, struct dw_samples)
DW_PRODUCT_GETTER(team_waits, struct dw_samples)

double dw_samples_error(double share, uint64_t weight, uint64_t squares)
{
	double independent = squares ? (double)weight * (double)weight / (double)squares : 0;
	/* Agresti and Coull: also right for shares near 0 and 1, and for few samples. */
	double n = independent + 3.84, p = (share * independent + 1.92) / n;

	return independent > 0 ? DW_DEVIATIONS * sqrt(p * (1 - p) / n) : 1;
}

void dw_samples_wilson(double share, double samples, double *low, double *high)
{
	double middle = (share * samples + 1.92) / (samples + 3.84);
	double half = DW_DEVIATIONS / (samples + 3.84) * sqrt(samples * share * (1 - share) + 0.96);

	*low = samples > 0 ? fmax(0, middle - half) : 0;
	*high = samples > 0 ? fmin(1, middle + half) : 1;
}

void dw_samples_interval(double share, uint64_t weight, uint64_t squares, double *low, double *high)
{
	dw_samples_wilson(share, squares ? (double)weight * (double)weight / (double)squares : 0, low, high);
}
