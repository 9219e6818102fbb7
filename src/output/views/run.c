/*
 * Runs a view: checks that the trace holds what the view needs, sorts and cuts rows, and states
 * in every table which part of the trace it is about, what share was recorded and what was lost.
 */
#include <inttypes.h>

#include "base/error.h"
#include "base/glob.h"
#include "base/nearest.h"
#include "base/text.h"
#include "model/joint/joint.h"
#include "model/memory/memory.h"
#include "model/samples/samples.h"
#include "read/unrecorded.h"
#include "views/common.h"

/* ---- what a view needs --------------------------------------------------------------- */

bool dw_view_has_ranks(const struct dw_source *source)
{
	uint32_t first = source->step_count ? source->threads[source->steps[0].thread].process : 0;

	for (size_t i = 1; i < source->step_count; i++)
		if (source->threads[source->steps[i].thread].process != first)
			return true;
	return false;
}

bool dw_view_lacks(const struct dw_view *view, const struct dw_source *source)
{
	return (view->needs_ranks && !dw_view_has_ranks(source)) || (view->needs_workers && !dw_view_has_workers(source)) ||
	       (view->needs_device && !source->events_count) ||
	       (view->needs_samples && !dw_source_has_samples(source)) || (view->needs_heap && !dw_source_has_heap(source));
}

static int view_check_needs(const struct dw_view *view, struct dw_model *model, struct dwell_error *error)
{
	bool lacks = (view->needs_steps && !dw_model_source(model)->step_count) || dw_view_lacks(view, dw_model_source(model));
	char name[256];

	if (!lacks && !view->categories)
		return 0;
	/* The table states its coverage. If records are missing, this needs the steps too. */
	if (!lacks && (view->reads_steps || !dw_model_is_covered(model)) && dw_model_compute_together(&model, 1, false, error))
		return DWELL_E_NOMEM;
	if (!lacks && dw_model_categories(model) & view->categories)
		return 0;
	if (!lacks && (dw_model_is_partial(model) || dw_model_scope(model)->thread))
		return dw_error_set(error, DWELL_E_NO_DATA,
		                    "%s has no %s in these steps, this profile, this action or this thread",
		                    dw_view_trace_name(model, name), view->needs);
	return dw_error_set(error, DWELL_E_NO_DATA, "%s has no %s: %s", dw_view_trace_name(model, name),
	                    view->needs, view->remedy);
}

/* ---- options ----------------------------------------------------------------------------- */

/* What the driver does for every view. */
#define VIEW_COMMON (DW_VIEW_TAKES(sort) | DW_VIEW_TAKES(limit) | DW_VIEW_TAKES(time_unit))

static uint64_t view_takes(const struct dw_view *view)
{
	return view->takes | VIEW_COMMON | (view->row_name ? DW_VIEW_TAKES(named) : 0) |
	       (view->row_ns ? DW_VIEW_TAKES(min_duration) : 0);
}

/* An option that would change nothing is an error, which names the views that have it. */
static int view_check_options(const struct dw_view *view, const struct dwell_view_options *options,
                              struct dwell_error *error)
{
	uint64_t unknown = dw_view_options_given(options) & ~view_takes(view);
	uint64_t first = unknown & -unknown;
	const struct dw_view *other;
	char names[300] = "";
	size_t used = 0;

	if (!unknown)
		return 0;
	for (size_t i = 0; (other = dw_view_at(i)); i++)
		if (view_takes(other) & first && used < sizeof names)
			used += (size_t)snprintf(names + used, sizeof names - used, "%s%s",
			                         used ? ", " : "; it is for ", other->name);
	return dw_error_set(error, DWELL_E_ARGUMENT, "the view %s has no --%s%s", view->name,
	                    dw_view_option_name(unknown), used ? names : "; it is for layouts");
}

/* ---- rows ------------------------------------------------------------------------------------ */

static bool view_wants_row(const struct dw_cell *cells, int name, int ns,
                           const struct dwell_view_options *options, uint64_t min_ns)
{
	const char *pattern = options->named;

	if (pattern && (name < 0 || cells[name].type != DW_CELL_TEXT ||
	                !dw_glob_match(pattern, strlen(pattern), cells[name].text)))
		return false;
	if (!options->min_duration)
		return true;
	return ns >= 0 && ((cells[ns].type == DW_CELL_INT && cells[ns].integer >= (int64_t)min_ns) ||
	                   (cells[ns].type == DW_CELL_REAL && cells[ns].real >= (double)min_ns));
}

/* --name and --min-duration. Totals and shares stay those of all rows, which a note says. */
static void view_filter_rows(const struct dw_view *view, struct dwell_table *table,
                             const struct dwell_view_options *options, uint64_t min_ns)
{
	int name = options->named ? dw_table_column(table, view->row_name) : -1;
	int ns = options->min_duration ? dw_table_column(table, view->row_ns) : -1;
	bool *keep = dw_arena_alloc(&table->arena, table->row_count + 1);
	size_t all = table->row_count, hidden;

	table->failed |= !keep;
	if (!keep)
		return;
	for (size_t row = 0; row < table->row_count; row++)
		keep[row] = view_wants_row(dw_table_at(table, row), name, ns, options, min_ns);
	hidden = dw_table_keep(table, keep);
	if (hidden)
		dw_table_note(table, "%zu of %zu rows are shown; totals and shares are of all rows.", all - hidden, all);
	if (options->named)
		table->name = dw_arena_text(&table->arena, options->named, strlen(options->named));
	if (options->min_duration)
		table->min_duration = dw_arena_text(&table->arena, options->min_duration, strlen(options->min_duration));
}

/* ---- order and length ------------------------------------------------------------------ */

static int view_no_column(const struct dw_view *view, const struct dwell_table *table, const char *sort,
                          struct dwell_error *error)
{
	struct dw_nearest nearest;
	char names[384] = "";
	size_t used = 0;

	dw_nearest_init(&nearest, sort);
	for (const struct dwell_table *part = table; part; part = part->next)
		for (size_t i = 0; i < part->column_count && !part->heads_only; i++) {
			dw_nearest_try(&nearest, part->columns[i].name);
			if (part == table || part->next == NULL)
				used += (size_t)snprintf(names + used, sizeof names - used, " %s", part->columns[i].name);
			if (used > sizeof names - 40)
				used = sizeof names - 40;
		}
	if (nearest.best)
		return dw_error_set(error, DWELL_E_NAME, "no column '%s' in %s%s", sort, view->name, dw_nearest_question(&nearest).at);
	return dw_error_set(error, DWELL_E_NAME, "no column '%s' in %s; it has%s", sort, view->name, names);
}

/* Accepts a label as well as a name: "self" for "self_ns". */
static int view_find_column(const struct dwell_table *table, const char *sort)
{
	int column = dw_table_column(table, sort);

	for (size_t i = 0; column < 0 && i < table->column_count; i++)
		if (strcmp(table->columns[i].label, sort) == 0)
			column = (int)i;
	return column;
}

static int view_arrange_rows(const struct dw_view *view, struct dwell_table *table,
                             const struct dwell_view_options *options, struct dwell_error *error)
{
	bool sorted = !options->sort;

	for (struct dwell_table *part = table; part; part = part->next) {
		int column = options->sort && !part->heads_only ? view_find_column(part, options->sort) : -1;

		if (column >= 0)
			dw_table_sort(part, (size_t)column);
		sorted |= column >= 0;
		/* A part with totals shows a whole and is not cut: only lists by name are. */
		if (!part->totals || !part->part)
			dw_table_limit(part, options->limit ? options->limit : view->limit);
		/* The overview's lists are the beginning of another view, which it names: rows cut are not
		 * reported. */
		if (part->part && !options->limit)
			part->rows_cut = 0;
		if (options->limit)
			part->rows_shown = 0;
	}
	return sorted ? 0 : view_no_column(view, table, options->sort, error);
}

/* ---- what every table states ------------------------------------------------------------- */

static void view_state_losses(struct dwell_table *table, const struct dw_source *source)
{
	table->losses = dw_arena_alloc(&table->arena, DW_LOSS_SLOTS * sizeof *table->losses);
	table->failed |= !table->losses;
	for (size_t i = 0; table->losses && i < DW_LOSS_SLOTS; i++) {
		if (!source->lost[i])
			continue;
		table->losses[table->loss_count++] = (struct dw_loss_line){
			dw_loss_cause(i) ? dw_loss_cause(i) : "unknown", source->lost[i],
			dw_view_loss_text(source, i),
		};
	}
}

/* Returns the name that the program gave the profile, or a number if the trace has no name for
 * it. */
static const char *view_profile_name(struct dwell_table *table, const struct dw_source *source, uint32_t id)
{
	for (size_t i = 0; i < source->profile_count; i++)
		if (source->profiles[i].id == id && source->profiles[i].name)
			return dw_arena_text(&table->arena, source->profiles[i].name, strlen(source->profiles[i].name));
	return dw_arena_printf(&table->arena, "%u", id);
}

static void view_state_scope(struct dwell_table *table, const struct dw_source *source, const struct dw_scope *scope)
{
	if (scope->has_steps && scope->steps_to == UINT64_MAX)
		table->steps = dw_arena_printf(&table->arena, "%" PRIu64 "..", scope->steps_from);
	else if (scope->has_steps)
		table->steps = dw_arena_printf(&table->arena, "%" PRIu64 "..%" PRIu64, scope->steps_from, scope->steps_to);
	if (scope->has_window && scope->to_ns == UINT64_MAX)
		table->time = dw_arena_printf(&table->arena, "%s..", dw_text_ns((double)scope->from_ns, "").at);
	else if (scope->has_window)
		table->time = dw_arena_printf(&table->arena, "%s..%s", dw_text_ns((double)scope->from_ns, "").at,
		                              dw_text_ns((double)scope->to_ns, "").at);
	if (scope->profile)
		table->profile = dw_arena_text(&table->arena, scope->profile, strlen(scope->profile));
	else if (scope->profile_id)
		table->profile = view_profile_name(table, source, scope->profile_id);
	if (scope->action)
		table->action = dw_arena_text(&table->arena, scope->action, strlen(scope->action));
	if (scope->thread)
		table->thread = dw_arena_text(&table->arena, scope->thread, strlen(scope->thread));
}

/* What the program used and the trace does not have. The first answers say it above the table. */
static void view_state_unrecorded(const struct dw_view *view, struct dwell_table *table, const struct dw_source *source)
{
	struct dw_unrecorded list[DW_UNRECORDED_MOST];
	size_t count = dw_source_unrecorded(source, DW_NO_INDEX, list);
	char text[512];

	for (size_t i = 0; i < count; i++) {
		if (strcmp(view->name, "stragglers") == 0 && dw_unrecorded_is_of_ranks(&list[i]))
			continue; /* it says so by rank */
		dw_unrecorded_text(&list[i], text, sizeof text);
		if (strcmp(view->name, "overview") == 0 || strcmp(view->name, "verdict") == 0)
			dw_table_head(table, "%s", text);
		else
			dw_table_note(table, "%s", text);
	}
}

/* Operators and layers of some steps only: their totals are not those of the run. The views of steps say it above
 * the table. */
static void view_state_reduced(const struct dw_view *view, struct dwell_table *table, struct dw_model *model)
{
	const uint32_t partly = DW_VIEW_CATEGORY(OPERATOR) | DW_VIEW_CATEGORY(LAYER);
	const struct dw_source *source = dw_model_source(model);
	uint64_t recorded = 0, reduced = 0;
	double recorded_ns = 0, all_ns = 0;
	char counts[32], times[32], factors[100];

	for (size_t i = 0; (view->categories & partly || strcmp(view->name, "tree") == 0) && !view->needs_steps &&
	                   i < source->step_count; i++) {
		const struct dw_source_step *step = &source->steps[i];

		if (!dw_model_has_step(model, step))
			continue;
		recorded += step->recorded;
		reduced += step->reduced;
		all_ns += (double)(step->end_ns - step->start_ns);
		recorded_ns += step->recorded ? (double)(step->end_ns - step->start_ns) : 0;
	}
	if (!reduced || !(recorded_ns > 0))
		return;
	snprintf(counts, sizeof counts, "%.1f", (double)(recorded + reduced) / (double)recorded);
	snprintf(times, sizeof times, "%.1f", all_ns / recorded_ns);
	if (strcmp(counts, times) != 0)
		snprintf(factors, sizeof factors, "counts by about %s and times by about %s", counts, times);
	else
		snprintf(factors, sizeof factors, "by about %s", counts);
	dw_table_note(table, "Operators and layers were recorded in %s of %s steps, chosen at random: totals are of these. For all steps "
	              "multiply %s.", dw_text_count((int64_t)recorded).at, dw_text_count((int64_t)(recorded + reduced)).at, factors);
}

static void view_state(struct dwell_table *table, struct dw_model *model)
{
	const struct dw_source *source = dw_model_source(model);

	table->traces = dw_arena_alloc(&table->arena, source->file_count * sizeof *table->traces);
	table->failed |= !table->traces;
	for (size_t i = 0; table->traces && i < source->file_count; i++)
		table->traces[table->trace_count++] =
		    dw_arena_text(&table->arena, source->files[i].path, strlen(source->files[i].path));
	view_state_losses(table, source);
	view_state_scope(table, source, dw_model_scope(model));
	table->coverage = dw_model_coverage(model);
}

int dw_view_run(const struct dw_view *view, struct dw_model *model,
                const struct dwell_view_options *options, struct dwell_table **result, struct dwell_error *error)
{
	struct dwell_error unused = { 0, "" };
	struct dwell_table *table;
	uint64_t min_ns = 0;
	const char *end = "";
	char name[256];
	int code;

	*result = NULL;
	if (!error)
		error = &unused;
	code = view_check_options(view, options, error);
	if (!code && options->min_duration && (!dw_text_parse_ns(options->min_duration, &end, &min_ns) || *end))
		code = dw_error_set(error, DWELL_E_ARGUMENT, "--min-duration %s: give a time with its unit, as 10us, 1.5ms or 2s",
		                    options->min_duration);
	if (!code)
		code = view_check_needs(view, model, error);
	if (code)
		return code;
	error->code = 0;
	table = view->run(model, options, error);
	if (!table)
		return error->code ? error->code
		                   : dw_error_set(error, DWELL_E_NOMEM, "out of memory analysing %s",
		                                  dw_view_trace_name(model, name));
	if (!table->row_count && !table->head_count)
		dw_table_head(table, "Nothing was recorded here.");
	for (struct dwell_table *part = table; part && (options->named || options->min_duration); part = part->next)
		view_filter_rows(view, part, options, min_ns);
	view_state_unrecorded(view, table, dw_model_source(model));
	view_state_reduced(view, table, model);
	code = view_arrange_rows(view, table, options, error);
	for (struct dwell_table *part = table; part && !code; part = part->next) {
		view_state(part, model);
		if (part->failed)
			code = dw_error_set(error, DWELL_E_NOMEM, "out of memory analysing %s", dw_view_trace_name(model, name));
	}
	if (code)
		dw_table_destroy(table);
	else
		*result = table;
	return code;
}
