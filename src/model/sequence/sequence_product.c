/*
 * Makes the sequence: counts iterations and sums up times by position; see sequence.h. Times are
 * summed in ticks of the first file and converted to nanoseconds at the end.
 */

#include <math.h>

#include "base/error.h"
#include "base/free.h"
#include "base/numbers.h"
#include "base/text.h"
#include "model/core/product.h"
#include "model/core/tally.h"
#include "model/device/sums.h"
#include "model/sequence/drift.h"
#include "model/sequence/positions.h"
#include "model/sequence/repeats.h"

/* The values of a position that struct dw_tally does not have. */
struct more {
	uint64_t iterations;
	double base, sum, squares; /* first duration; sums of differences to it, of their squares */
	float *samples;            /* for the drift, ticks + 1; 0: no sample */
	struct dw_device_amount device;
};

struct work {
	struct dw_model *model;
	struct dw_sequence *sequence;
	uint64_t skip;
	double ratio;              /* multiplies ticks of this process to get those of the first file */
	struct dw_line line;
	struct dw_arena arena;     /* memory of the tallies and samples */
	struct dw_tally *tallies;  /* by position */
	struct more *more;
	uint32_t capacity;
	double iterations_ns, forward_ns;
	uint64_t chosen[DW_DRIFT_SAMPLES]; /* timed iterations of a process that are sampled */
	uint32_t chosen_count, next_chosen;
	struct more whole;         /* samples of whole iterations, from begin to end */
	uint32_t samples;          /* the largest chosen_count of a process */
	uint64_t planned;          /* timed iterations of this process so far */
	const struct dw_source_clock *clock; /* of this process */
	bool device;               /* the run has events of devices */
};

int dw_sequence_check(const struct dw_sequence *sequence, const struct dw_sequence_ask *ask, struct dwell_error *error)
{
	uint64_t whole = sequence->skipped;

	if (sequence->iterations)
		return 0;
	if (whole)
		return dw_error_set(error, DWELL_E_NO_DATA,
		                    "the first %s iteration%s skipped, and there %s no more than %s here: skip "
		                    "fewer (--skip-iteration %llu leaves one)",
		                    dw_text_count((int64_t)ask->skip).at, ask->skip == 1 ? " is" : "s are",
		                    whole == 1 ? "is" : "are", dw_text_count((int64_t)whole).at,
		                    (unsigned long long)(sequence->last_index));
	if (sequence->incomplete)
		return dw_error_set(error, DWELL_E_NO_DATA,
		                    "no iteration is whole: all %s are open, lost or overwritten in part",
		                    dw_text_count((int64_t)sequence->incomplete).at);
	return dw_error_set(
		error, DWELL_E_NO_DATA,
		"no iterations were recorded here: mark each with "
		"DWELL_STEP() or dwell_step(), in Python dwell.step(), or record with dwell run --step-on NAME");
}

/* ---- an iteration -------------------------------------------------------------------- */

static int sequence_reserve(struct work *work)
{
	uint32_t capacity = work->line.capacity;
	struct dw_tally *tallies;
	struct more *more;

	if (work->line.count <= work->capacity)
		return 0;
	tallies = dw_tallies_create(capacity);
	more = realloc(work->more, capacity * sizeof *more);
	work->more = more ? more : work->more;
	if (!tallies || !more) {
		free(tallies);
		return -1;
	}
	if (work->tallies)
		memcpy(tallies, work->tallies, work->capacity * sizeof *tallies);
	memset(more + work->capacity, 0, (capacity - work->capacity) * sizeof *more);
	free(work->tallies);
	work->tallies = tallies;
	work->capacity = capacity;
	return 0;
}

/* Keeps a sample of a position. The sample of an earlier process is not replaced. */
static int sequence_put_sample(struct work *work, struct more *more, uint64_t duration)
{
	if (!more->samples)
		more->samples = dw_arena_alloc(&work->arena, DW_DRIFT_SAMPLES * sizeof *more->samples);
	if (!more->samples)
		return -1;
	if (!(more->samples[work->next_chosen] > 0))
		more->samples[work->next_chosen] = (float)duration + 1;
	return 0;
}

static void sequence_add_times(struct work *work, const uint32_t *positions,
                               const struct dw_sequence_item *items, size_t count)
{
	bool as_is = work->ratio > 0.999999 && work->ratio < 1.000001;

	for (size_t i = 0; i < count; i++) {
		uint64_t duration = items[i].duration;
		struct more *more;
		double apart;

		if (__builtin_expect(positions[i] == DW_NO_INDEX, 0))
			continue;
		if (!as_is)
			duration = dw_whole((double)duration * work->ratio + 0.5);
		more = &work->more[positions[i]];
		if (__builtin_expect(!work->tallies[positions[i]].count, 0))
			more->base = (double)duration;
		apart = (double)duration - more->base;
		more->iterations++;
		more->sum += apart;
		more->squares += apart * apart;
		dw_tally_add(&work->tallies[positions[i]], &work->arena, duration, duration);
	}
}

/* Adds the device time of the calls that each operator made. */
static int sequence_add_device(struct work *work, const uint32_t *positions,
                               const struct dw_sequence_item *items, size_t count)
{
	for (size_t i = 0; work->device && i < count; i++) {
		struct dw_device_amount amount, *to;

		if (positions[i] == DW_NO_INDEX)
			continue;
		if (!dw_model_device_between(work->model, DW_DEVICE_OF_THREAD, items[i].thread,
		                             dw_source_ns(work->clock, items[i].start),
		                             dw_source_ns(work->clock, items[i].start + items[i].duration), &amount, NULL))
			return -1;
		to = &work->more[positions[i]].device;
		to->ns += amount.ns;
		to->events += amount.events;
	}
	return 0;
}

static int sequence_sample(struct work *work, const struct dw_sequence_step *step,
                           const uint32_t *positions, const struct dw_sequence_item *items, size_t count)
{
	if (work->next_chosen == work->chosen_count || work->planned != work->chosen[work->next_chosen])
		return 0;
	if (sequence_put_sample(work, &work->whole, step->end_ticks - step->start_ticks))
		return -1;
	for (size_t i = 0; i < count; i++)
		if (positions[i] != DW_NO_INDEX && sequence_put_sample(work, &work->more[positions[i]], items[i].duration))
			return -1;
	work->next_chosen++;
	return 0;
}

static int sequence_take_iteration(void *context, const struct dw_sequence_step *step,
                                   const struct dw_sequence_item *items, size_t count)
{
	struct work *work = context;
	struct dw_sequence *sequence = work->sequence;
	bool timed = step->index >= work->skip;
	double ns_per_tick = work->model->source->files[0].clock.ns_per_tick * work->ratio;
	const uint32_t *positions;

	if (!step->complete) {
		sequence->incomplete++;
		work->next_chosen += timed && work->next_chosen < work->chosen_count &&
		                     work->planned == work->chosen[work->next_chosen];
		work->planned += timed;
		return 0;
	}
	if (step->index > sequence->last_index)
		sequence->last_index = step->index;
	positions = dw_line_place(&work->line, items, count);
	if (!positions || sequence_reserve(work))
		return -1;
	for (size_t i = 0; i < count; i++)
		sequence->left_out += positions[i] == DW_NO_INDEX;
	if (!timed) {
		sequence->skipped++;
		for (size_t i = 0; i < count; i++)
			if (positions[i] != DW_NO_INDEX)
				work->more[positions[i]].iterations++;
		return 0;
	}
	sequence_add_times(work, positions, items, count);
	if (sequence_add_device(work, positions, items, count) || sequence_sample(work, step, positions, items, count))
		return -1;
	work->planned++;
	sequence->iterations++;
	work->iterations_ns += (double)(step->end_ticks - step->start_ticks) * ns_per_tick;
	work->forward_ns += (double)step->forward_ticks * ns_per_tick;
	sequence->has_forward |= step->has_forward;
	sequence->has_backward |= step->has_backward;
	return 0;
}

/* ---- the iterations of a process ----------------------------------------------------- */

/* Finds the steps of the thread that were recorded and ended. If no records are lost, *timed of
 * them are timed. */
static int sequence_find_steps(const struct work *work, struct dw_sequence_steps *steps, uint64_t *timed)
{
	const struct dw_source *source = work->model->source;
	uint64_t index = 0, border = 0;

	*timed = 0;
	steps->count = 0;
	steps->steps = malloc((source->step_count + 1) * sizeof *steps->steps);
	if (!steps->steps)
		return -1;
	for (size_t i = 0; i < source->step_count; i++) {
		const struct dw_source_step *step = &source->steps[i];

		if (step->thread != steps->thread)
			continue;
		index++;
		if (!step->recorded || !dw_model_has_step(work->model, step))
			continue;
		if (step->open || step->end_ticks <= step->start_ticks || step->start_ticks < border) {
			work->sequence->incomplete++;
			continue;
		}
		border = step->end_ticks;
		*timed += index > work->skip;
		steps->steps[steps->count++] = (struct dw_sequence_step){ .index = index - 1,
			.start_ticks = step->start_ticks, .end_ticks = step->end_ticks };
	}
	return 0;
}

static int sequence_take_process(struct work *work, uint32_t process, uint32_t thread)
{
	const struct dw_source *source = work->model->source;
	struct dw_sequence_steps steps = { .process = process, .thread = thread };
	uint64_t timed;
	int code = sequence_find_steps(work, &steps, &timed);

	work->ratio = source->files[source->processes[process].file].clock.ns_per_tick / source->files[0].clock.ns_per_tick;
	work->clock = &source->files[source->processes[process].file].clock;
	work->planned = work->next_chosen = 0;
	work->chosen_count = dw_drift_choose(timed, work->chosen);
	work->samples = work->chosen_count > work->samples ? work->chosen_count : work->samples;
	if (!code && steps.count) {
		work->sequence->process_count++;
		code = dw_sequence_walk(work->model, &steps, sequence_take_iteration, work);
	}
	free(steps.steps);
	return code;
}

/* ---- results, after all processes ---------------------------------------------------- */

static double sequence_deviation(double count, double sum, double squares)
{
	double variance = count > 1 ? (squares - sum * sum / count) / (count - 1) : 0;

	return variance > 0 ? sqrt(variance) : 0;
}

static void sequence_finish_op(const struct work *work, uint32_t id, uint32_t tests, struct dw_sequence_op *op)
{
	const struct dw_model *model = work->model;
	const struct dw_tally *tally = &work->tallies[id];
	const struct more *more = &work->more[id];
	double ns_per_tick = model->source->files[0].clock.ns_per_tick;
	uint32_t key = work->line.keys[id];

	op->symbol = model->row_symbol[DW_SEQUENCE_ROW(key)];
	op->phase = (enum dw_sequence_phase)DW_SEQUENCE_PHASE(key);
	op->iterations = more->iterations;
	op->device_ns = more->device.ns;
	op->device_events = more->device.events;
	op->drift = NAN;
	dw_tally_stat(tally, ns_per_tick, &op->stat);
	if (!tally->count)
		return;
	op->mean_ns = (double)tally->total / (double)tally->count * ns_per_tick;
	op->std_ns = sequence_deviation((double)tally->count, more->sum, more->squares) * ns_per_tick;
	if (more->samples)
		op->drift = dw_drift_of(more->samples, work->samples, tests, &op->drifts);
}

static int sequence_finish_ops(struct work *work)
{
	struct dw_sequence *sequence = work->sequence;
	uint32_t tests = 0;

	sequence->count = work->line.count;
	sequence->ops = dw_arena_alloc(&work->model->arena, ((size_t)sequence->count + 1) * sizeof *sequence->ops);
	if (!sequence->ops)
		return -1;
	for (uint32_t id = 0; id < sequence->count; id++)
		tests += work->tallies[id].count > 0;
	for (uint32_t i = 0; i < sequence->count; i++)
		sequence_finish_op(work, work->line.order[i], tests, &sequence->ops[i]);
	return 0;
}

/* Merges all repetitions of one operator of a block. */
static void sequence_join_repeats(struct work *work, const struct dw_sequence_block *block,
                                  uint32_t which, struct dw_sequence_op *op)
{
	const struct dw_sequence_op *all = work->sequence->ops + block->first + which;
	double ns_per_tick = work->model->source->files[0].clock.ns_per_tick, sum = 0, squares = 0;
	double base = work->more[work->line.order[block->first + which]].base;
	struct dw_tally tally = { .count = 0 };

	*op = *all;
	for (uint32_t r = 0; r < block->repeats; r++) {
		const struct dw_sequence_op *one = &all[(size_t)r * block->length];
		uint32_t id = work->line.order[block->first + which + r * block->length];
		const struct more *more = &work->more[id];
		double shift = more->base - base, count = (double)work->tallies[id].count;

		dw_tally_merge(&tally, &work->arena, &work->tallies[id], 1);
		squares += more->squares + 2 * shift * more->sum + count * shift * shift;
		sum += more->sum + count * shift;
		op->device_ns += r ? one->device_ns : 0;
		op->device_events += r ? one->device_events : 0;
		if (one->drifts && (!op->drifts || fabs(one->drift) > fabs(op->drift))) {
			op->drift = one->drift;
			op->drifts = true;
		}
	}
	dw_tally_stat(&tally, ns_per_tick, &op->stat);
	if (!tally.count)
		return;
	op->mean_ns = (double)tally.total / (double)tally.count * ns_per_tick;
	op->std_ns = sequence_deviation((double)tally.count, sum, squares) * ns_per_tick;
}

/* Finds blocks. Repeated operators have the same name, phase and number of timed iterations. */
static int sequence_finish_blocks(struct work *work)
{
	struct dw_sequence *sequence = work->sequence;
	struct dw_arena *arena = &work->model->arena;
	uint64_t *keys = malloc(((size_t)sequence->count + 1) * sizeof *keys);
	bool whole;

	sequence->blocks = dw_arena_alloc(arena, ((size_t)sequence->count / 3 + 1) * sizeof *sequence->blocks);
	if (!keys || !sequence->blocks) {
		free(keys);
		return -1;
	}
	for (uint32_t i = 0; i < sequence->count; i++)
		keys[i] = work->line.keys[work->line.order[i]] | work->tallies[work->line.order[i]].count << 32;
	whole = dw_sequence_fold(keys, sequence->count, sequence->blocks, &sequence->block_count);
	free(keys);
	for (uint32_t b = 0; whole && b < sequence->block_count; b++) {
		struct dw_sequence_block *block = &sequence->blocks[b];

		block->ops = dw_arena_alloc(arena, block->length * sizeof *block->ops);
		if (!block->ops)
			return -1;
		for (uint32_t i = 0; i < block->length; i++)
			sequence_join_repeats(work, block, i, &block->ops[i]);
	}
	return whole ? 0 : -1;
}

static int sequence_compute_all(struct work *work)
{
	struct dw_sequence *sequence = work->sequence;
	const uint32_t *threads = dw_model_step_threads(work->model);

	if (!threads)
		return -1;
	for (uint32_t p = 0; p < work->model->source->process_count; p++)
		if (threads[p] != DW_NO_INDEX && sequence_take_process(work, p, threads[p]))
			return -1;
	sequence->changes = work->line.changes;
	if (sequence->iterations) {
		sequence->iteration_ns = work->iterations_ns / (double)sequence->iterations;
		sequence->forward_ns = work->forward_ns / (double)sequence->iterations;
		sequence->drift = NAN;
		if (work->whole.samples)
			sequence->drift = dw_drift_of(work->whole.samples, work->samples, 1, &sequence->drifts);
	}
	return sequence_finish_ops(work) || sequence_finish_blocks(work) ? -1 : 0;
}

static bool sequence_compute(struct dw_model *model, const void *request, void *result)
{
	const struct dw_sequence_ask *ask = request;
	struct work work = { .model = model, .skip = ask->skip, .sequence = result, .device = dw_model_has_device(model) };
	int code = sequence_compute_all(&work);

	dw_line_reset(&work.line);
	dw_arena_reset(&work.arena);
	DW_FREE(work.tallies, work.more);
	return code == 0;
}

DW_PRODUCT(sequence, struct dw_sequence, sequence_compute, NULL);

const struct dw_sequence *dw_model_sequence(struct dw_model *model, const struct dw_sequence_ask *ask,
                                            struct dwell_error *error)
{
	return dw_product_get(model, &dw_product_sequence, ask->skip, ask, error);
}
