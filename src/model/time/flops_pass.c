/*
 * The FLOPs of a run, with the time of the calls; each call of an operator counts once.
 *
 * A pass over the operators only. The FLOPs of a call depend only on its symbol (name and shapes),
 * so the formula is computed once for each symbol; the pass adds up calls and ticks.
 */

#include "base/order.h"
#include "base/pool.h"
#include "format/keys.h"
#include "model/time/flops_pass.h"

/* ---- sums ---------------------------------------------------------------------------------- */

static struct dw_flops_cost *flops_make_costs(const struct dw_model *model)
{
	struct dw_flops_cost *costs = calloc(model->symbol_count + (size_t)1, sizeof *costs);

	for (uint32_t i = 0; costs && i < model->symbol_count; i++) {
		const struct dw_symbol *symbol = &model->symbols[i];

		if (symbol->category == DWELL_CATEGORY_OPERATOR)
			costs[i].flops = dw_flops(symbol->name, symbol->shapes, &costs[i].why);
		costs[i].bytes = dw_flops_given(symbol->shapes).bytes;
	}
	return costs;
}

bool dw_flops_sums_init(struct dw_flops_sums *sums, struct dw_model *model)
{
	*sums = (struct dw_flops_sums){ .model = model, .costs = flops_make_costs(model) };
	sums->rows = dw_arena_alloc(&model->arena, (model->row_count + (size_t)1) * sizeof *sums->rows);
	return sums->costs && sums->rows;
}

void dw_flops_sums_reset(struct dw_flops_sums *sums)
{
	free(sums->costs);
	sums->costs = NULL;
}

struct dw_flops_tally *dw_flops_tallies_create(const struct dw_model *model)
{
	return calloc(model->symbol_count + (size_t)1, sizeof(struct dw_flops_tally));
}

/* Ticks are added up before they are converted to ns, so that the sum is rounded once, whichever
 * worker had which stream. */
void dw_flops_fold(const struct dw_flops_sums *sums, struct dw_flops_tally *into, struct dw_flops_tally *from)
{
	for (size_t i = 0; i < sums->model->symbol_count; i++) {
		into[i].calls += from[i].calls;
		into[i].ticks += from[i].ticks;
		into[i].missed_calls += from[i].missed_calls;
		into[i].missed_ticks += from[i].missed_ticks;
		from[i] = (struct dw_flops_tally){ 0, 0, 0, 0 };
	}
}

static uint64_t flops_of(uint64_t flops, uint64_t calls)
{
	uint64_t product;

	return __builtin_mul_overflow(flops, calls, &product) ? UINT64_MAX : product;
}

void dw_flops_end_file(struct dw_flops_sums *sums, struct dw_flops_tally *tallies, uint32_t file)
{
	const struct dw_model *model = sums->model;
	const struct dw_source_clock *clock = &model->source->files[file].clock;

	for (uint32_t i = 0; i < model->symbol_count; i++) {
		const struct dw_flops_tally *tally = &tallies[i];
		struct dw_flops_row *row = &sums->rows[model->symbol_row[i]];

		row->calls += tally->calls;
		row->flops = dw_flops_add(row->flops, flops_of(sums->costs[i].flops, tally->calls));
		row->ns += dw_source_span_ns(clock, tally->ticks);
		if (sums->costs[i].bytes >= 0) {
			row->bytes = dw_flops_add(row->bytes, flops_of((uint64_t)sums->costs[i].bytes, tally->calls));
			row->bytes_ns += dw_source_span_ns(clock, tally->ticks);
		}
		row->missed_calls += tally->missed_calls;
		row->missed_ns += dw_source_span_ns(clock, tally->missed_ticks);
		if (tally->missed_calls)
			row->why = sums->costs[i].why;
		tallies[i] = (struct dw_flops_tally){ 0, 0, 0, 0 };
	}
}

/* ---- a pass for FLOPs alone ---------------------------------------------------------------- */

#define FLOPS_CHAIN 1u /* operators in scope */

struct flops_frame {
	struct dw_frame frame;
	struct dw_flops_frame own;
};

struct flops_state {
	struct dw_pass pass;
	struct dw_flops_pass flops;
};

void dw_flops_begin(struct dw_flops_pass *flops, const struct dw_flops_sums *sums,
                    struct dw_flops_tally *tallies, const struct dw_pass *pass)
{
	*flops = (struct dw_flops_pass){ sums->costs, tallies, pass->walk.symbol_by_id, pass->walk.op_count };
}

DW_INLINE void flops_enter(void *state, void *place, uint64_t ticks, uint32_t id)
{
	struct flops_state *at = state;
	struct flops_frame *frame = place;
	uint32_t around;

	dw_flops_pass_by(&frame->own);
	if (dw_walk_op(&at->pass.walk, id).kind != dw_kind_of(DWELL_CATEGORY_OPERATOR) ||
	    !dw_pass_in_scope(&at->pass, ticks))
		return;
	frame->frame.in_scope = true;
	dw_pass_link(&at->pass, &frame->frame, FLOPS_CHAIN);
	around = frame->frame.previous;
	dw_flops_enter(&at->flops, &frame->own,
	               around ? &((struct flops_frame *)(void *)at->pass.frames)[around].own : NULL, id);
}

DW_INLINE void flops_leave(void *state, void *place, uint64_t ticks, enum dw_leave how)
{
	const struct flops_frame *frame = place;

	dw_flops_leave(&((struct flops_state *)state)->flops, &frame->frame, &frame->own, ticks);
}

static void flops_carry(void *state, void *place)
{
	const struct flops_frame *frame = place;

	dw_flops_carry(&((struct flops_state *)state)->flops, &frame->frame, &frame->own);
}

static const struct dw_pass_hooks flops_hooks = {
	.frame_bytes = sizeof(struct flops_frame), .deepest = DW_DEEPEST, .chains = true,
	.scoped = true, .enter = flops_enter, .leave = flops_leave, .carry = flops_carry,
};
DW_PASS_DEFINE(flops, flops_hooks)

/* ---- parallel walk ------------------------------------------------------------------------- */

struct flops_walk {
	struct dw_flops_sums sums;
	const struct dw_segments *segments;
	uint32_t file;
	struct flops_walker {
		struct dw_flops_tally *tallies;
		struct dw_frames frames;
		bool failed;
	} *walkers;
};

static void flops_walk_segment(void *pointer, unsigned index, size_t at)
{
	struct flops_walk *walk = pointer;
	struct flops_walker *walker = &walk->walkers[index];
	const struct dw_model *model = walk->sums.model;
	const struct dw_segment *segment = &walk->segments->items[at];
	struct flops_state state;

	if (model->source->streams[segment->stream].file != walk->file)
		return;
	memset(&state, 0, sizeof state);
	dw_pass_init(&state.pass, model, segment->stream, &walker->frames);
	dw_flops_begin(&state.flops, &walk->sums, walker->tallies, &state.pass);
	flops_segment(&state.pass, segment);
	walker->failed |= state.pass.walk.failed;
}

static bool flops_walk_files(struct flops_walk *walk)
{
	const struct dw_source *source = walk->sums.model->source;
	unsigned count;
	bool good;

	walk->segments = dw_model_segments(walk->sums.model);
	if (!walk->segments)
		return false;
	count = dw_pool_workers(walk->segments->count);
	walk->walkers = calloc(count, sizeof *walk->walkers);
	good = walk->walkers != NULL;
	for (unsigned i = 0; good && i < count; i++)
		good = (walk->walkers[i].tallies = dw_flops_tallies_create(walk->sums.model)) != NULL;
	for (uint32_t f = 0; good && f < source->file_count; f++) {
		walk->file = f;
		dw_pool_run(walk->segments->count, count, flops_walk_segment, walk);
		for (unsigned i = 0; i < count; i++) {
			good = good && !walk->walkers[i].failed;
			if (i)
				dw_flops_fold(&walk->sums, walk->walkers[0].tallies, walk->walkers[i].tallies);
		}
		dw_flops_end_file(&walk->sums, walk->walkers[0].tallies, f);
	}
	for (unsigned i = 0; walk->walkers && i < count; i++) {
		dw_frames_reset(&walk->walkers[i].frames);
		free(walk->walkers[i].tallies);
	}
	free(walk->walkers);
	return good;
}

/* ---- the product --------------------------------------------------------------------------- */

bool dw_flops_are_facts(const struct dw_model *model)
{
	bool asked = false;

	for (size_t i = 0; i < model->source->meta_count; i++)
		asked |= strcmp(model->source->metas[i].key, DW_KEY_PEAK_FLOPS) == 0;
	for (uint32_t i = 0; asked && i < model->symbol_count; i++)
		if (model->symbols[i].category == DWELL_CATEGORY_OPERATOR && model->symbols[i].shapes)
			return true;
	return false;
}

DW_ORDER(flops_compare_rows, struct dw_flops_row, DW_DOWN(flops) DW_DOWN(ns) DW_DOWN(missed_ns) DW_UP(symbol))

void dw_flops_finish(struct dw_flops_sums *sums, struct dw_flops_sum *sum)
{
	const struct dw_model *model = sums->model;

	sum->rows = sums->rows;
	for (uint32_t row = 0; row < model->row_count; row++) {
		struct dw_flops_row *from = &sum->rows[row];

		if (!from->calls && !from->missed_calls)
			continue;
		from->symbol = model->row_symbol[row];
		sum->flops = dw_flops_add(sum->flops, from->flops);
		sum->bytes = dw_flops_add(sum->bytes, from->bytes);
		sum->bytes_ns += from->bytes_ns;
		sum->counted_ns += from->ns;
		sum->missed_ns += from->missed_ns;
		sum->rows[sum->count++] = *from;
	}
	DW_SORT(sum->rows, sum->count, flops_compare_rows);
}

static bool flops_compute(struct dw_model *model, const void *request, void *result)
{
	struct flops_walk walk = { .walkers = NULL };
	bool good = dw_flops_sums_init(&walk.sums, model) && flops_walk_files(&walk);

	if (good)
		dw_flops_finish(&walk.sums, result);
	dw_flops_sums_reset(&walk.sums);
	return good;
}

DW_PRODUCT(flops, struct dw_flops_sum, flops_compute, NULL);

DW_PRODUCT_GETTER(flops, struct dw_flops_sum)
