/*
 * The FLOPs of a run, with the time of the calls; each call of an operator counts once.
 *
 * A pass over the operators only. The FLOPs of a call depend only on its symbol (name and shapes),
 * so the formula is computed once for each symbol; the pass adds up calls and ticks.
 */
#include <stdlib.h>
#include <string.h>

#include "base/pool.h"
#include "model/time/flops.h"
#include "model/core/pass.h"
#include "model/core/product.h"
#include "model/core/scope.h"

struct cost {
	uint64_t flops;
	enum dw_flops_why why;
};

struct frame {
	struct dw_frame frame; /* in the chain: operators in scope */
	uint32_t symbol;       /* merged symbol */
	bool covered;          /* it counts, or an operator around it does */
	bool inner;            /* an operator around it counts */
};
#define CHAIN 1u

struct tally {
	uint64_t calls, ticks;               /* of calls that count */
	uint64_t missed_calls, missed_ticks; /* calls that do not count, and their self time */
};

struct worker {
	struct tally *tallies; /* by merged symbol */
	struct dw_frames frames;
	void *buffer;
	bool failed;
};

struct pass {
	struct dw_model *model;
	const struct cost *costs;
	const struct dw_segments *segments;
	struct worker *workers;
	uint32_t file;
};

struct flops {
	struct dw_pass pass;
	struct worker *worker;
	const struct cost *costs;
	const uint32_t *symbol_by_id;
};

/* ---- the hooks ----------------------------------------------------------------------------- */

DW_INLINE void flops_enter(void *state, void *place, uint64_t ticks, uint32_t id)
{
	struct flops *flops = state;
	struct frame *frame = place;
	const struct frame *around;

	if (dw_walk_op(&flops->pass.walk, id).kind != dw_kind_of(DWELL_CATEGORY_OPERATOR) ||
	    !dw_pass_in_scope(&flops->pass, ticks))
		return;
	frame->frame.in_scope = true;
	frame->symbol = flops->symbol_by_id[id < flops->pass.walk.op_count ? id : 0];
	dw_pass_link(&flops->pass, &frame->frame, CHAIN);
	around = (struct frame *)dw_pass_at(&flops->pass, sizeof *frame, frame->frame.previous);
	frame->inner = frame->frame.previous && around->covered;
	frame->covered = frame->inner || flops->costs[frame->symbol].why == DW_FLOPS_COUNTED;
}

DW_INLINE void flops_leave(void *state, void *place, uint64_t ticks, enum dw_leave how)
{
	struct flops *flops = state;
	const struct frame *frame = place;
	uint64_t duration = ticks - frame->frame.start;
	struct tally *tally;

	if (!frame->frame.chain || frame->inner)
		return;
	tally = &flops->worker->tallies[frame->symbol];
	if (frame->covered) {
		tally->calls++;
		tally->ticks += duration;
	} else {
		tally->missed_calls++;
		tally->missed_ticks += duration - frame->frame.child;
	}
}

static void flops_carry(void *state, void *place)
{
	struct flops *flops = state;
	const struct frame *frame = place;

	if (frame->frame.chain && !frame->inner && !frame->covered)
		flops->worker->tallies[frame->symbol].missed_ticks -= frame->frame.child;
}

static const struct dw_pass_hooks flops_hooks = {
	.frame_bytes = sizeof(struct frame), .deepest = DW_DEEPEST, .chains = true, .scoped = true,
	.enter = flops_enter, .leave = flops_leave, .carry = flops_carry,
};
DW_PASS_DEFINE(flops, flops_hooks)

/* ---- parallel walk ------------------------------------------------------------------------- */

static bool flops_prepare(struct worker *worker, size_t symbols)
{
	if (!worker->tallies)
		worker->tallies = calloc(symbols + 1, sizeof *worker->tallies);
	if (!worker->buffer)
		worker->buffer = malloc(DW_BLOCK_BYTES);
	worker->failed |= !worker->tallies || !worker->buffer;
	return !worker->failed;
}

static void flops_walk_segment(void *pointer, unsigned index, size_t at)
{
	struct pass *pass = pointer;
	struct worker *worker = &pass->workers[index];
	struct dw_model *model = pass->model;
	const struct dw_segment *segment = &pass->segments->items[at];
	const struct dw_source_stream *from = &model->source->streams[segment->stream];
	struct flops flops;

	if (from->file != pass->file || !flops_prepare(worker, model->symbol_count))
		return;
	memset(&flops, 0, sizeof flops);
	dw_pass_init(&flops.pass, model, segment->stream, &worker->frames, worker->buffer);
	flops.worker = worker;
	flops.costs = pass->costs;
	flops.symbol_by_id = model->symbol_by_id[from->file];
	flops_segment(&flops.pass, segment);
	worker->failed |= flops.pass.failed;
}

/* ---- rows ---------------------------------------------------------------------------------- */

static uint64_t flops_add(uint64_t a, uint64_t b)
{
	return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

static uint64_t flops_of(uint64_t flops, uint64_t calls)
{
	uint64_t product;

	return __builtin_mul_overflow(flops, calls, &product) ? UINT64_MAX : product;
}

/* Ticks are added up before they are converted to ns, so that the sum is rounded once, whichever
 * worker had which stream. */
static void flops_fold(struct worker *into, struct worker *from, size_t symbols)
{
	struct tally *tallies = from->tallies;

	from->tallies = NULL;
	if (!into->tallies) {
		into->tallies = tallies;
		return;
	}
	for (size_t i = 0; tallies && i < symbols; i++) {
		into->tallies[i].calls += tallies[i].calls;
		into->tallies[i].ticks += tallies[i].ticks;
		into->tallies[i].missed_calls += tallies[i].missed_calls;
		into->tallies[i].missed_ticks += tallies[i].missed_ticks;
	}
	free(tallies);
}

static void flops_take_results(const struct pass *pass, struct worker *worker,
                               struct dw_flops_row *rows)
{
	const struct dw_model *model = pass->model;
	const struct dw_source_clock *clock = &model->source->files[pass->file].clock;

	for (uint32_t i = 0; worker->tallies && i < model->symbol_count; i++) {
		const struct tally *tally = &worker->tallies[i];
		struct dw_flops_row *row = &rows[model->symbol_row[i]];

		row->calls += tally->calls;
		row->flops = flops_add(row->flops, flops_of(pass->costs[i].flops, tally->calls));
		row->ns += dw_source_span_ns(clock, tally->ticks);
		row->missed_calls += tally->missed_calls;
		row->missed_ns += dw_source_span_ns(clock, tally->missed_ticks);
		if (tally->missed_calls)
			row->why = pass->costs[i].why;
	}
	free(worker->tallies);
	worker->tallies = NULL;
}

static bool flops_walk_files(struct pass *pass, struct dw_flops_row *rows)
{
	const struct dw_source *source = pass->model->source;
	unsigned count;
	bool good;

	pass->segments = dw_model_segments(pass->model);
	if (!pass->segments)
		return false;
	count = dw_pool_workers(pass->segments->count);
	pass->workers = calloc(count, sizeof *pass->workers);
	good = pass->workers != NULL;
	for (uint32_t f = 0; good && f < source->file_count; f++) {
		pass->file = f;
		dw_pool_run(pass->segments->count, count, flops_walk_segment, pass);
		for (unsigned i = 0; i < count; i++) {
			good = good && !pass->workers[i].failed;
			if (i)
				flops_fold(&pass->workers[0], &pass->workers[i], pass->model->symbol_count);
		}
		flops_take_results(pass, &pass->workers[0], rows);
	}
	for (unsigned i = 0; pass->workers && i < count; i++) {
		dw_frames_reset(&pass->workers[i].frames);
		free(pass->workers[i].buffer);
	}
	free(pass->workers);
	return good;
}

static int flops_compare_rows(const void *left, const void *right)
{
	const struct dw_flops_row *a = left, *b = right;

	if (a->flops != b->flops)
		return a->flops < b->flops ? 1 : -1;
	if (a->ns != b->ns)
		return a->ns < b->ns ? 1 : -1;
	if (a->missed_ns != b->missed_ns)
		return a->missed_ns < b->missed_ns ? 1 : -1;
	return (a->symbol > b->symbol) - (a->symbol < b->symbol);
}

static struct cost *flops_make_costs(const struct dw_model *model)
{
	struct cost *costs = calloc(model->symbol_count + 1, sizeof *costs);

	for (uint32_t i = 0; costs && i < model->symbol_count; i++) {
		const struct dw_symbol *symbol = &model->symbols[i];

		if (symbol->category == DWELL_CATEGORY_OPERATOR)
			costs[i].flops = dw_flops(symbol->name, symbol->shapes, &costs[i].why);
	}
	return costs;
}

static void flops_order_rows(struct dw_model *model, struct dw_flops_sum *sum)
{
	for (uint32_t row = 0; row < model->row_count; row++) {
		struct dw_flops_row *from = &sum->rows[row];

		if (!from->calls && !from->missed_calls)
			continue;
		from->symbol = model->row_symbol[row];
		sum->flops = flops_add(sum->flops, from->flops);
		sum->counted_ns += from->ns;
		sum->missed_ns += from->missed_ns;
		sum->rows[sum->count++] = *from;
	}
	if (sum->count)
		qsort(sum->rows, sum->count, sizeof *sum->rows, flops_compare_rows);
}

static bool flops_compute(struct dw_model *model, const void *request, void *result)
{
	struct cost *costs = flops_make_costs(model);
	struct pass pass = { .model = model, .costs = costs };
	struct dw_flops_sum *sum = result;
	bool good;

	sum->rows = dw_arena_alloc(&model->arena, (model->row_count + 1) * sizeof *sum->rows);
	good = costs && sum->rows && flops_walk_files(&pass, sum->rows);
	if (good)
		flops_order_rows(model, sum);
	free(costs);
	return good;
}

const struct dw_flops_sum *dw_model_flops(struct dw_model *model, struct dwell_error *error)
{
	static const struct dw_product product = { sizeof(struct dw_flops_sum), flops_compute, NULL };

	return dw_product_get(model, &product, 0, NULL, error);
}
