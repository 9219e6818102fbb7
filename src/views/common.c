/* What views have in common: names, columns, the steps seen from inside. */
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/text.h"
#include "views/views.h"

struct dw_table *dw_view_table(const char *view, const struct dw_column *columns, size_t count,
                               struct dwell_error *error)
{
	struct dw_table *table = dw_table_create(view, columns, count);

	if (!table)
		dw_error_set(error, DWELL_E_NOMEM, "out of memory for the %s view", view);
	return table;
}

/* ---- names ----------------------------------------------------------------------------- */

const char *dw_view_trace_name(const struct dw_model *model, char room[256])
{
	const struct dw_source *source = dw_model_source(model);

	if (source->file_count == 1)
		return source->files[0].path;
	snprintf(room, 256, "%.200s and %zu more", source->files[0].path, source->file_count - 1);
	return room;
}

const char *dw_view_thread_name(const struct dw_model *model, uint32_t thread, bool nested,
                                char room[256])
{
	char name[224];

	dw_model_thread_name(model, thread, name, sizeof name);
	snprintf(room, 256, "%s%s", name, nested ? ", in signal handlers" : "");
	return room;
}

const char *dw_view_category(uint32_t category)
{
	static const char *const names[] = {
#define X(name, value, text) [value] = text,
		DWELL_CATEGORIES(X)
#undef X
	};

	return category < DWELL_CATEGORY_COUNT ? names[category] : "unknown";
}

const char *dw_view_share(enum dw_share share)
{
	static const char *const names[] = {
#define X(name, label) label,
		DW_SHARES(X)
#undef X
	};

	return names[share];
}

/* ---- the steps from inside ----------------------------------------------------------------- */

struct dw_model *dw_view_inside(struct dw_model *model, struct dwell_error *error)
{
	struct dw_scope scope = *dw_model_scope(model);
	struct dw_model *inside = NULL;

	if (!dw_model_source(model)->step_count)
		return NULL;
	if (scope.has_steps)
		return model;
	scope.has_steps = true;
	scope.steps_from = 0;
	scope.steps_to = UINT64_MAX;
	dw_model_create(&inside, dw_model_source(model), &scope, error);
	return inside;
}

void dw_view_inside_done(struct dw_model *model, struct dw_model *inside)
{
	if (inside && inside != model)
		dw_model_destroy(inside);
}

/* ---- columns --------------------------------------------------------------------------------- */

void dw_view_stat(struct dw_cell *cells, const struct dw_stat *stat)
{
	uint64_t mean_ns = stat->count ? (stat->total_ns + stat->count / 2) / stat->count : 0;
	uint64_t values[DW_VIEW_STAT_COUNT] = { stat->count, stat->self_ns, stat->total_ns, mean_ns,
		stat->min_ns, stat->max_ns, stat->p50_ns, stat->p99_ns };

	for (size_t i = 0; i < DW_VIEW_STAT_COUNT; i++)
		if (values[i] != DW_NOT_KEPT)
			dw_cell_int(&cells[i], (int64_t)values[i]);
}

void dw_view_note_calls(struct dw_table *table, const struct dw_flat *flat)
{
	uint64_t open = 0, cut = 0;

	for (size_t i = 0; i < flat->count; i++) {
		open += flat->rows[i].stat.open;
		cut += flat->rows[i].stat.cut;
	}
	if (open)
		dw_table_note(table, "%s call%s did not end; counted until the end of %s process.",
		              dw_text_count((int64_t)open).at, dw_text_plural(open),
		              open == 1 ? "its" : "their");
	if (cut)
		dw_table_note(table,
		              "%s call%s ended where the trace was overwritten; counted until there.",
		              dw_text_count((int64_t)cut).at, dw_text_plural(cut));
	if (flat->orphans)
		dw_table_note(table, "%s end%s without a begin, which was overwritten or ended before: not "
		              "counted.", dw_text_count((int64_t)flat->orphans).at,
		              dw_text_plural(flat->orphans));
}
