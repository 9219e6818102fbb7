/* Counters of data loading, by thread: one walk over the streams, if the trace has such
 * counters. */
#include "model/time/loading.h"

#include <stdlib.h>
#include <string.h>

#include "format/keys.h"
#include "model/core/product.h"
#include "model/core/walk.h"
#include "model/core/scope.h"

enum { NOTHING, SAMPLES, QUEUE };

struct context {
	struct dw_walk walk;
	struct dw_loading *threads;
	const uint8_t *meanings;  /* by merged symbol: NOTHING, SAMPLES or QUEUE */
	const uint32_t *symbol_by_id;
};

static void visit_begin(void *context, uint64_t ticks, uint32_t id)
{
}

static void visit_end(void *context, uint64_t ticks)
{
}

static void flush(void *context, uint64_t ticks, enum dw_flush why)
{
}

static void visit_other(void *pointer, uint64_t ticks, const struct dw_record *record)
{
	struct context *context = pointer;
	struct dw_loading *to;
	double value;

	if (dw_walk_break(&context->walk, ticks, record, flush) || record->kind != DW_COUNTER ||
	    !context->walk.wanted || record->id >= context->walk.op_count)
		return;
	value = dw_record_f64(record, 0);
	if (!(value >= 0 && value < 1e15) || !dw_walk_in_time(&context->walk, ticks))
		return;
	to = &context->threads[context->walk.thread];
	switch (context->meanings[context->symbol_by_id[record->id]]) {
	case SAMPLES:
		to->samples += (uint64_t)value;
		break;
	case QUEUE:
		to->asked++;
		to->ready += (uint64_t)value;
		break;
	default:
		break;
	}
}

/* Finds the symbols of the counters. False: there are none. */
static bool find_counters(const struct dw_model *model, uint8_t *meanings)
{
	bool any = false;

	for (uint32_t i = 0; i < model->symbol_count; i++) {
		const struct dw_symbol *symbol = &model->symbols[i];

		if (symbol->category != DWELL_CATEGORY_COUNTER)
			continue;
		meanings[i] = strcmp(symbol->name, DW_COUNTER_SAMPLES) == 0 ? SAMPLES
		              : strcmp(symbol->name, DW_COUNTER_READY_BATCHES) == 0 ? QUEUE : NOTHING;
		any |= meanings[i] != NOTHING;
	}
	return any;
}

struct loading {
	struct dw_loading *threads;
};

static bool loading_compute(struct dw_model *model, const void *request, void *result)
{
	const struct dw_source *source = model->source;
	struct loading *loading = result;
	struct dw_loading *threads = loading->threads =
		dw_arena_alloc(&model->arena, (source->thread_count + 1) * sizeof *threads);
	uint8_t *meanings = calloc(model->symbol_count + 1, 1);
	void *buffer = malloc(DW_BLOCK_BYTES);
	bool ready = threads && meanings && buffer;

	if (ready && find_counters(model, meanings))
		for (size_t i = 0; i < source->stream_count; i++) {
			struct context context = { .threads = threads, .meanings = meanings };

			if (!dw_scope_has_stream(model, &source->streams[i]))
				continue;
			dw_walk_init(&context.walk, model, i, buffer);
			context.symbol_by_id = model->symbol_by_id[source->streams[i].file];
			dw_walk(&context.walk, visit_begin, visit_end, visit_other, flush, NULL);
		}
	free(meanings);
	free(buffer);
	return ready;
}

const struct dw_loading *dw_model_loading(struct dw_model *model, struct dwell_error *error)
{
	static const struct dw_product product = { sizeof(struct loading), loading_compute, NULL };
	const struct loading *loading = dw_product_get(model, &product, 0, NULL, error);

	return loading ? loading->threads : NULL;
}
