/*
 * The FLOPs of a run, with the time of the calls; each call of an operator counts once.
 *
 * A pass over the operators only. The FLOPs of a call depend only on its symbol (name and shapes),
 * so the formula is computed once for each symbol; the pass adds up calls and ticks.
 */

#include "base/free.h"
#include "base/order.h"
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

static struct dw_flops_tally *flops_tallies_create(const struct dw_model *model)
{
	return calloc(model->symbol_count + (size_t)1, sizeof(struct dw_flops_tally));
}

bool dw_flops_sums_init(struct dw_flops_sums *sums, struct dw_model *model)
{
	*sums = (struct dw_flops_sums){ .model = model, .costs = flops_make_costs(model),
		                            .tallies = flops_tallies_create(model) };
	sums->rows = dw_arena_alloc(&model->arena, (model->row_count + (size_t)1) * sizeof *sums->rows);
	return sums->costs && sums->rows && sums->tallies;
}

void dw_flops_sums_reset(struct dw_flops_sums *sums)
{
	DW_FREE(sums->costs, sums->tallies);
	sums->costs = NULL;
	sums->tallies = NULL;
}

bool dw_flops_worker_init(void *memory, const void *sums)
{
	struct dw_flops_worker *worker = memory;

	worker->tallies = flops_tallies_create(((const struct dw_flops_sums *)sums)->model);
	return worker->tallies != NULL;
}

void dw_flops_worker_reset(void *memory)
{
	free(((struct dw_flops_worker *)memory)->tallies);
}

/* Ticks are added up before they are converted to ns, so that the sum is rounded once, whichever
 * worker had which stream. */
bool dw_flops_merge(void *sums, void *worker, uint32_t file)
{
	const struct dw_flops_sums *to = sums;
	struct dw_flops_tally *into = to->tallies, *from = ((struct dw_flops_worker *)worker)->tallies;

	for (size_t i = 0; i < to->model->symbol_count; i++) {
		into[i].calls += from[i].calls;
		into[i].ticks += from[i].ticks;
		into[i].missed_calls += from[i].missed_calls;
		into[i].missed_ticks += from[i].missed_ticks;
		from[i] = (struct dw_flops_tally){ 0, 0, 0, 0 };
	}
	return true;
}

static uint64_t flops_of(uint64_t flops, uint64_t calls)
{
	uint64_t product;

	return __builtin_mul_overflow(flops, calls, &product) ? UINT64_MAX : product;
}

void dw_flops_end_file(void *into, uint32_t file)
{
	struct dw_flops_sums *sums = into;
	struct dw_flops_tally *tallies = sums->tallies;
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

/* ---- a piece of a stream --------------------------------------------------------------------- */

bool dw_flops_begin(void *pass, void *sums, void *worker, const struct dw_part_begin *from)
{
	const struct dw_flops_sums *all = sums;

	*(struct dw_flops_pass *)pass = (struct dw_flops_pass){ all->costs, ((struct dw_flops_worker *)worker)->tallies,
		from->pass->walk.symbol_by_id, from->pass->walk.op_count, (uint32_t)from->frame_bytes,
		(uint32_t)from->frame_offset };
	return true;
}

void dw_flops_carry(void *pass, void *frame, const struct dw_here *here)
{
	const struct dw_flops_pass *flops = pass;
	const struct dw_flops_frame *own = frame;

	if (own->symbol != DW_NO_INDEX && !own->inner && !own->covered)
		flops->tallies[own->symbol].missed_ticks -= here->range->child;
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

#define LOOP flops_alone
#define LOOP_HOOKS .chains = true, .scoped = true
#define LOOP_PARTS(PART) PART(flops, ALWAYS)
#define LOOP_DROPS_ROWS
#include "model/core/loop.h"

static bool flops_compute(struct dw_model *model, const void *request, void *result)
{
	struct dw_flops_sums own;
	struct dw_part_sums sums = { .flops = &own };
	const struct dw_segments *segments = dw_model_segments(model);
	bool good = dw_flops_sums_init(&own, model) && segments && flops_alone_walk_all(model, &sums, segments, NULL);

	if (good)
		dw_flops_finish(&own, result);
	dw_flops_sums_reset(&own);
	return good;
}

DW_PRODUCT(flops, struct dw_flops_sum, flops_compute, NULL);

DW_PRODUCT_GETTER(flops, struct dw_flops_sum)
