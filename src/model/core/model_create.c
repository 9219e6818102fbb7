/*
 * Creates and destroys models, and makes the models of further scopes.
 *
 * Called by views, exporters and other users of a source. Symbols and scope are resolved at once,
 * because a name that the user gave may not exist. Products are computed when they are requested.
 */
#include <assert.h>

#include "base/order.h"
#include "base/text.h"
#include "model/core/product.h"
#include "model/core/scope.h"

struct by_size {
	size_t stream, chunks;
};

DW_ORDER(model_compare_streams, struct by_size, DW_DOWN(chunks) DW_UP(stream))

/* Large streams first, so that no core starts one when the others are finished. */
static int model_order_streams(struct dw_model *model)
{
	size_t count = model->source->stream_count;
	struct by_size *sizes = calloc(count + 1, sizeof *sizes);

	model->stream_order = dw_arena_alloc(&model->arena, (count + 1) * sizeof(size_t));
	if (!sizes || !model->stream_order) {
		free(sizes);
		return -1;
	}
	for (size_t i = 0; i < count; i++)
		sizes[i] = (struct by_size){ i, model->source->streams[i].chunk_count };
	qsort(sizes, count, sizeof *sizes, model_compare_streams);
	for (size_t i = 0; i < count; i++)
		model->stream_order[i] = sizes[i].stream;
	free(sizes);
	return 0;
}

/* Copies the scope and its texts; other memory that it points to stays the caller's. False: out of
 * memory. */
static bool model_copy_scope(struct dw_model *model, const struct dw_scope *scope)
{
	const char **texts[] = { &model->scope.thread, &model->scope.profile, &model->scope.action };

	model->scope = *scope;
	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
		const char *text = *texts[i];

		if (text && !(*texts[i] = dw_arena_text(&model->arena, text, strlen(text))))
			return false;
	}
	return true;
}

static void model_free(struct dw_model *model)
{
	dw_products_reset(model);
	dw_arena_reset(&model->arena);
	free(model);
}

int dw_model_create(struct dw_model **result, const struct dw_source *source,
                    const struct dw_scope *scope, struct dwell_error *error)
{
	static const struct dw_scope everything;
	struct dw_model *model = calloc(1, sizeof *model);
	int code;

	*result = NULL;
	if (!model)
		return dw_error_set(error, DWELL_E_NOMEM, "out of memory");
	model->whole = model;
	model->source = source;
	code = !model_copy_scope(model, scope ? scope : &everything) || dw_symbols_merge(model) ||
	               model_order_streams(model) || dw_scope_find_namesakes(model)
	           ? dw_model_no_memory(model, error) : dw_scope_resolve(model, error);
	if (code) {
		model_free(model);
		return code;
	}
	*result = model;
	return 0;
}

void dw_model_destroy(struct dw_model *model)
{
	if (!model)
		return;
	assert(model->whole == model);
	for (struct dw_model *part = model->parts, *next; part; part = next) {
		next = part->next_part;
		model_free(part);
	}
	model_free(model);
}

static bool model_same_scope(const struct dw_scope *a, const struct dw_scope *b)
{
	return a->has_steps == b->has_steps &&
	       (!a->has_steps || (a->steps_from == b->steps_from && a->steps_to == b->steps_to &&
	                          a->steps_counted == b->steps_counted)) &&
	       a->step_threads == b->step_threads && dw_text_same(a->thread, b->thread) &&
	       dw_text_same(a->profile, b->profile) && a->profile_id == b->profile_id && a->has_window == b->has_window &&
	       (!a->has_window || (a->from_ns == b->from_ns && a->to_ns == b->to_ns)) && dw_text_same(a->action, b->action);
}

int dw_model_within(struct dw_model *model, const struct dw_scope *scope, struct dw_model **result,
                    struct dwell_error *error)
{
	struct dw_model *whole = model->whole, *part;
	int code;

	*result = NULL;
	if (model_same_scope(&whole->scope, scope)) {
		*result = whole;
		return 0;
	}
	for (part = whole->parts; part; part = part->next_part)
		if (model_same_scope(&part->scope, scope)) {
			*result = part;
			return 0;
		}
	part = calloc(1, sizeof *part);
	if (!part)
		return dw_model_no_memory(whole, error);
	/* What is the same in all scopes of a run. */
	*part = (struct dw_model){ .whole = whole, .source = whole->source, .symbols = whole->symbols,
		.symbol_count = whole->symbol_count, .symbol_by_id = whole->symbol_by_id, .symbol_row = whole->symbol_row,
		.row_symbol = whole->row_symbol, .row_count = whole->row_count, .ops = whole->ops,
		.namesakes = whole->namesakes, .stream_order = whole->stream_order, .segment_chunks = whole->segment_chunks };
	code = model_copy_scope(part, scope) ? dw_scope_resolve(part, error) : dw_model_no_memory(whole, error);
	if (code) {
		model_free(part);
		return code;
	}
	part->next_part = whole->parts;
	whole->parts = part;
	*result = part;
	return 0;
}

/* What a scope has resolved stays in the memory of `from`. */
static struct dw_model *model_copy(const struct dw_model *from)
{
	struct dw_model *copy = malloc(sizeof *copy);

	if (!copy)
		return NULL;
	*copy = *from;
	memset(&copy->arena, 0, sizeof copy->arena);
	copy->whole = copy;
	copy->parts = copy->next_part = NULL;
	copy->results = NULL;
	copy->lent = from->results;
	return copy;
}

struct dw_model *dw_model_beside(struct dw_model *model, struct dwell_error *error)
{
	struct dw_model *beside = model_copy(model), **end;

	assert(model->whole == model && !model->lent);
	if (!beside) {
		dw_model_no_memory(model, error);
		return NULL;
	}
	end = &beside->parts;
	for (const struct dw_model *part = model->parts; part; part = part->next_part) {
		*end = model_copy(part);
		if (!*end) {
			dw_model_destroy(beside);
			dw_model_no_memory(model, error);
			return NULL;
		}
		(*end)->whole = beside;
		end = &(*end)->next_part;
	}
	return beside;
}

void dw_model_forget(struct dw_model *part)
{
	struct dw_model **at;

	if (!part || part->whole == part)
		return;
	for (at = &part->whole->parts; *at != part;)
		at = &(*at)->next_part;
	*at = part->next_part;
	model_free(part);
}

/* ---- accessors ------------------------------------------------------------------------- */

const struct dw_source *dw_model_source(const struct dw_model *model)
{
	return model->source;
}

const struct dw_scope *dw_model_scope(const struct dw_model *model)
{
	return &model->scope;
}

bool dw_model_is_partial(const struct dw_model *model)
{
	return model->intervals != NULL;
}

uint32_t dw_model_symbol_row(const struct dw_model *model, uint32_t symbol)
{
	return model->symbol_row[symbol];
}

uint32_t dw_model_row_symbol(const struct dw_model *model, uint32_t row)
{
	return model->row_symbol[row];
}

const struct dw_symbol *dw_model_symbols(struct dw_model *model, size_t *count)
{
	if (count)
		*count = model->symbol_count;
	return model->symbols;
}
