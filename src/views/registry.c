/*
 * The views by name, and what is done for all of them: what they need is checked,
 * rows are sorted and cut, scope, coverage and losses are stated.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/nearest.h"
#include "views/engine.h"
#include "views/views.h"

static const struct dw_view views[] = {
	{ "overview", "where does the time go?", dw_view_overview, 10, 0, false, NULL, NULL },
	{ "steps", "how long does each step take, and why are slow ones slow?", dw_view_steps, 20, 0,
	  true, "steps", "mark each iteration with DWELL_STEP() or dwell_step(), in Python dwell.step()" },
	{ "phases", "how much of the run is forward, backward, optimizer, data?", dw_view_phases,
	  SIZE_MAX, 0, true, "steps", "mark each iteration with DWELL_STEP() or dwell_step(), in Python dwell.step()" },
	{ "actions", "what do the program's own named ranges take?", dw_view_actions, 30, DW_VIEW_OWN,
	  false, "named ranges", "mark them with DWELL_ZONE(\"name\")" },
	{ "events", "what do an engine's events, iterations and fetches take?", dw_view_events,
	  SIZE_MAX, DW_VIEW_ENGINE, false, "events of a training engine", DW_ENGINE_REMEDY },
	{ "handlers", "what does each handler of an engine take?", dw_view_handlers, SIZE_MAX,
	  DW_VIEW_ENGINE, false, "events of a training engine", DW_ENGINE_REMEDY },
	{ "operators", "which operators take the time?", dw_view_operators, 30,
	  DW_VIEW_CATEGORY(OPERATOR), false, "operators",
	  "mark them with DWELL_OP(\"name\"), or see --view actions" },
	{ "sequence", "which operators does a step run, in order, and what does each take?",
	  dw_view_sequence, 60, DW_VIEW_CATEGORY(OPERATOR) | DW_VIEW_CATEGORY(COMMUNICATION), true,
	  "operators in steps", "mark them with DWELL_OP(\"name\") and each iteration with DWELL_STEP()" },
	{ "calls", "what was called, operators and named ranges, grouped as asked?", dw_view_calls, 30,
	  DW_VIEW_CATEGORY(OPERATOR) | DW_VIEW_CATEGORY(ZONE), false, "operators or named ranges",
	  "mark them with DWELL_OP(\"name\") or DWELL_ZONE(\"name\")" },
	{ "functions", "which functions take the time?", dw_view_functions, 30,
	  DW_VIEW_CATEGORY(FUNCTION), false, "function calls",
	  "record with --functions a program that carries the functions probe" },
	{ "layers", "which layers of the model take the time and the memory?", dw_view_layers, SIZE_MAX,
	  DW_VIEW_CATEGORY(LAYER), false, "layers",
	  "mark each layer's call with DWELL_LAYER(\"path\")" },
	{ "dataloader", "does the loop wait for its data, and what do the workers do?",
	  dw_view_dataloader, SIZE_MAX, DW_VIEW_CATEGORY(DATA), false, "data loading",
	  "mark where the loop takes a batch, and where one is made, with DWELL_SCOPE(DWELL_CATEGORY_DATA, \"name\")" },
	{ "gc", "when did the garbage collector stop the program, and for how long?", dw_view_gc,
	  SIZE_MAX, DW_VIEW_CATEGORY(COLLECTOR), false, "collections",
	  "they are recorded in Python programs under dwell run" },
	{ "tree", "who calls whom, and what does it take?", dw_view_tree, SIZE_MAX, 0, false, NULL,
	  NULL },
	{ "threads", "what did each thread record, and how busy was it?", dw_view_threads, SIZE_MAX, 0,
	  false, NULL, NULL },
	{ "memory", "who allocates, who holds it at the peak, what is left at the end?", dw_view_memory,
	  15, DW_VIEW_CATEGORY(ALLOCATION), false, "allocations",
	  "record them with DWELL_ALLOC() and DWELL_FREE()" },
	{ "flops", "how much arithmetic is it, how fast, and what was not counted?", dw_view_flops, 20,
	  DW_VIEW_CATEGORY(OPERATOR), false, "operators", "mark them with DWELL_OP_SHAPES()" },
};
#define VIEWS (sizeof views / sizeof *views)

const struct dw_view *dw_view_at(size_t index)
{
	return index < VIEWS ? &views[index] : NULL;
}

const struct dw_view *dw_view_find(const char *name, struct dwell_error *error)
{
	struct dw_nearest nearest;

	dw_nearest_init(&nearest, name);
	for (size_t i = 0; i < VIEWS; i++) {
		if (strcmp(views[i].name, name) == 0)
			return &views[i];
		dw_nearest_try(&nearest, views[i].name);
	}
	if (nearest.best)
		dw_error_set(error, DWELL_E_NAME,
		             "no view '%s'; did you mean '%s'? (dwell report --help lists all)", name,
		             nearest.best);
	else
		dw_error_set(error, DWELL_E_NAME, "no view '%s' (dwell report --help lists all)", name);
	return NULL;
}

/* ---- what a view needs --------------------------------------------------------------- */

static int check_needs(const struct dw_view *view, struct dw_model *model,
                       struct dwell_error *error)
{
	char name[256];

	if (view->needs_steps && !dw_model_source(model)->step_count)
		return dw_error_set(error, DWELL_E_NO_DATA, "%s has no %s: %s",
		                    dw_view_trace_name(model, name), view->what, view->remedy);
	if (!view->categories || dw_model_categories(model) & view->categories)
		return 0;
	if (dw_model_is_partial(model) || dw_model_scope(model)->thread)
		return dw_error_set(error, DWELL_E_NO_DATA,
		                    "%s has no %s in these steps, this profile, this action or this thread",
		                    dw_view_trace_name(model, name), view->what);
	return dw_error_set(error, DWELL_E_NO_DATA, "%s has no %s: %s", dw_view_trace_name(model, name),
	                    view->what, view->remedy);
}

/* ---- order and length ------------------------------------------------------------------ */

static int no_column(const struct dw_view *view, const struct dwell_table *table, const char *sort,
                     struct dwell_error *error)
{
	struct dw_nearest nearest;
	char names[384] = "";
	size_t used = 0;

	dw_nearest_init(&nearest, sort);
	for (const struct dwell_table *part = table; part; part = part->next)
		for (size_t i = 0; i < part->column_count && !part->told; i++) {
			dw_nearest_try(&nearest, part->columns[i].name);
			if (part == table || part->next == NULL)
				used += (size_t)snprintf(names + used, sizeof names - used, " %s",
				                         part->columns[i].name);
			if (used > sizeof names - 40)
				used = sizeof names - 40;
		}
	if (nearest.best)
		return dw_error_set(error, DWELL_E_NAME, "no column '%s' in %s; did you mean '%s'?", sort,
		                    view->name, nearest.best);
	return dw_error_set(error, DWELL_E_NAME, "no column '%s' in %s; it has%s", sort, view->name,
	                    names);
}

/* People may type a label for a name: "self" for "self_ns". */
static int find_column(const struct dwell_table *table, const char *sort)
{
	int column = dw_table_column(table, sort);

	for (size_t i = 0; column < 0 && i < table->column_count; i++)
		if (strcmp(table->columns[i].label, sort) == 0)
			column = (int)i;
	return column;
}

static int arrange(const struct dw_view *view, struct dwell_table *table,
                   const struct dwell_view_options *options, struct dwell_error *error)
{
	bool sorted = !options->sort;

	for (struct dwell_table *part = table; part; part = part->next) {
		int column = options->sort && !part->told ? find_column(part, options->sort) : -1;

		if (column >= 0)
			dw_table_sort(part, (size_t)column);
		sorted |= column >= 0;
		/* Parts of a whole are shown whole: only lists by name are cut. */
		if (!part->totals || !part->part)
			dw_table_limit(part, options->limit ? options->limit : view->limit);
		/* An overview's lists are the top of a view that it names. */
		if (part->part && !options->limit)
			part->rows_cut = 0;
	}
	return sorted ? 0 : no_column(view, table, options->sort, error);
}

/* ---- what every table states ------------------------------------------------------------- */

static const char *const causes[][2] = {
#define X(name, label, text) { label, text },
	DW_LOSS_CAUSES(X)
#undef X
};

static void state_losses(struct dwell_table *table, const struct dw_source *source)
{
	table->losses = dw_arena_alloc(&table->arena, DW_LOSS_SLOTS * sizeof *table->losses);
	table->failed |= !table->losses;
	for (size_t i = 0; table->losses && i < DW_LOSS_SLOTS; i++) {
		if (!source->lost[i])
			continue;
		table->losses[table->loss_count++] = (struct dw_loss_line){
			i < DW_LOSS_COUNT ? causes[i][0] : "unknown", source->lost[i],
			i < DW_LOSS_COUNT ? causes[i][1] : "a cause that this version does not know",
		};
	}
}

/* What the program called the profile; a number where the trace has none with that id. */
static const char *profile_name(struct dwell_table *table, const struct dw_source *source, uint32_t id)
{
	for (size_t i = 0; i < source->profile_count; i++)
		if (source->profiles[i].id == id && source->profiles[i].name)
			return dw_arena_text(&table->arena, source->profiles[i].name,
			                     strlen(source->profiles[i].name));
	return dw_arena_printf(&table->arena, "%u", id);
}

static void state_scope(struct dwell_table *table, const struct dw_source *source,
                        const struct dw_scope *scope)
{
	if (scope->has_steps && scope->steps_to == UINT64_MAX)
		table->steps = dw_arena_printf(&table->arena, "%" PRIu64 "..", scope->steps_from);
	else if (scope->has_steps)
		table->steps = dw_arena_printf(&table->arena, "%" PRIu64 "..%" PRIu64, scope->steps_from,
		                               scope->steps_to);
	if (scope->profile)
		table->profile = dw_arena_text(&table->arena, scope->profile, strlen(scope->profile));
	else if (scope->profile_id)
		table->profile = profile_name(table, source, scope->profile_id);
	if (scope->action)
		table->action = dw_arena_text(&table->arena, scope->action, strlen(scope->action));
	if (scope->thread)
		table->thread = dw_arena_text(&table->arena, scope->thread, strlen(scope->thread));
}

static void state(struct dwell_table *table, struct dw_model *model)
{
	const struct dw_source *source = dw_model_source(model);

	table->traces = dw_arena_alloc(&table->arena, source->file_count * sizeof *table->traces);
	table->failed |= !table->traces;
	for (size_t i = 0; table->traces && i < source->file_count; i++)
		table->traces[table->trace_count++] =
		    dw_arena_text(&table->arena, source->files[i].path, strlen(source->files[i].path));
	state_losses(table, source);
	state_scope(table, source, dw_model_scope(model));
	table->coverage = dw_model_coverage(model);
}

int dw_view_run(const struct dw_view *view, struct dw_model *model,
                const struct dwell_view_options *options, struct dwell_table **result,
                struct dwell_error *error)
{
	struct dwell_error unused = { 0, "" };
	struct dw_grouping group;
	struct dwell_table *table;
	char name[256];
	int code;

	*result = NULL;
	if (!error)
		error = &unused;
	code = dw_grouping_parse(options->group_by, &group, error);
	if (!code)
		code = check_needs(view, model, error);
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
	code = arrange(view, table, options, error);
	for (struct dwell_table *part = table; part && !code; part = part->next) {
		state(part, model);
		if (part->failed)
			code = dw_error_set(error, DWELL_E_NOMEM, "out of memory analysing %s",
			                    dw_view_trace_name(model, name));
	}
	if (code)
		dw_table_destroy(table);
	else
		*result = table;
	return code;
}
