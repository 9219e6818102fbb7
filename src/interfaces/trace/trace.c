/*
 * The facade of include/dwell/trace.h: sources, models, views, renderers and exporters behind
 * opaque pointers. Its only decisions are default values. Programs built for an older version pass
 * shorter structures; the missing fields are zero.
 */
#include "trace/trace.h"

#include "base/error.h"
#include "base/free.h"
#include "base/text.h"
#include "export/columns.h"
#include "export/export.h"
#include "layouts/layouts.h"
#include "query/query.h"
#include "render/render.h"
#include "report_summary/report_summary.h"
#include "views/views.h"

struct dwell_trace {
	struct dw_source *source;
	struct dw_model *model;
	char *thread, *profile, *action; /* copies of the scope's texts */
};

int dw_trace_refuse(const char *function, const char *argument, struct dwell_error *error)
{
	return dw_error_set(error, DWELL_E_ARGUMENT, "%s(): the argument %s is NULL: it must point to something", function,
	                    argument);
}

/* Copies the fields that the caller's structure has; the rest is zero. */
static void trace_copy_options(void *to, size_t size, const void *from)
{
	size_t given = from ? *(const size_t *)from : 0;

	memset(to, 0, size);
	if (given)
		memcpy(to, from, given < size ? given : size);
}

/* ---- a trace -------------------------------------------------------------------------- */

static int trace_open_model(struct dwell_trace *trace, const struct dwell_scope *given, struct dwell_error *error)
{
	struct dw_scope scope;

	if (given->thread) {
		trace->thread = strdup(given->thread);
		if (!trace->thread)
			return dw_error_set(error, DWELL_E_NOMEM, "out of memory opening a trace");
	}
	if (given->profile) {
		trace->profile = strdup(given->profile);
		if (!trace->profile)
			return dw_error_set(error, DWELL_E_NOMEM, "out of memory opening a trace");
	}
	if (given->action) {
		trace->action = strdup(given->action);
		if (!trace->action)
			return dw_error_set(error, DWELL_E_NOMEM, "out of memory opening a trace");
	}
	scope = (struct dw_scope){ .has_steps = given->has_steps,
		                       .steps_from = given->steps_from,
		                       .steps_to = given->steps_to,
		                       .thread = trace->thread,
		                       .profile = trace->profile,
		                       .profile_id = given->profile_id,
		                       .action = trace->action,
		                       .has_window = given->has_time,
		                       .from_ns = given->from_ns,
		                       .to_ns = given->to_ns };
	if (given->has_time && given->from_ns >= trace->source->end_ns)
		return dw_error_set(error, DWELL_E_NO_DATA, "%s ends at %s: nothing begins at %s or later",
		                    trace->source->files[0].path, dw_text_ns((double)trace->source->end_ns, " ").at,
		                    dw_text_ns((double)given->from_ns, " ").at);
	return dw_model_create(&trace->model, trace->source, &scope, error);
}

static int trace_open(struct dwell_trace **result, const char *const *paths, size_t count,
                      const struct dwell_scope *scope, struct dwell_error *error)
{
	struct dwell_trace *trace = calloc(1, sizeof *trace);
	struct dwell_scope given;
	int code;

	if (!trace)
		return dw_error_set(error, DWELL_E_NOMEM, "out of memory opening %s", paths[0]);
	trace_copy_options(&given, sizeof given, scope);
	code = count == 1 && given.profile_id ? dw_source_open_profile(&trace->source, *paths, given.profile_id, error)
	                                      : dw_source_open(&trace->source, paths, count, error);
	if (!code)
		code = trace_open_model(trace, &given, error);
	if (code)
		dwell_trace_close(trace);
	else
		*result = trace;
	return code;
}

int dwell_trace_open(struct dwell_trace **result, const char *const *paths, size_t count,
                     const struct dwell_scope *scope, struct dwell_error *error)
{
	DW_TRACE_NEEDS(result);
	*result = NULL;
	DW_TRACE_NEEDS(paths);
	if (!count)
		return dw_error_set(error, DWELL_E_ARGUMENT, "%s(): count is 0: give the path of a trace", __func__);
	for (size_t i = 0; i < count; i++)
		DW_TRACE_NEEDS(paths[i]);
	return trace_open(result, paths, count, scope, error);
}

int dwell_trace_open_result(struct dwell_trace **trace, const struct dwell_profile_result *result,
                            struct dwell_error *error)
{
	struct dwell_scope scope = { .size = sizeof scope };

	DW_TRACE_NEEDS(result);
	scope.profile_id = result->id;
	return dwell_trace_open(trace, &result->path, 1, &scope, error);
}

void dwell_trace_close(struct dwell_trace *trace)
{
	if (!trace)
		return;
	if (trace->model)
		dw_model_destroy(trace->model);
	if (trace->source)
		dw_source_close(trace->source);
	DW_FREE(trace->thread, trace->profile, trace->action, trace);
}

struct dw_source *dw_trace_source(struct dwell_trace *trace)
{
	return trace->source;
}

struct dw_model *dw_trace_model(struct dwell_trace *trace)
{
	return trace->model;
}

const char *dwell_trace_repair(struct dwell_trace *trace, size_t index)
{
	size_t count = 0;
	const char *const *repairs = trace ? dw_model_repairs(trace->model, &count) : NULL;

	return repairs && index < count ? repairs[index] : NULL;
}

/* ---- views ------------------------------------------------------------------------------ */

int dwell_trace_view(struct dwell_trace *trace, const char *name, const struct dwell_view_options *from,
                     struct dwell_table **table, struct dwell_error *error)
{
	const struct dw_view *view;
	struct dwell_view_options options;

	DW_TRACE_NEEDS(table);
	*table = NULL;
	DW_TRACE_NEEDS(trace);
	DW_TRACE_NEEDS(name);
	view = dw_view_find(name, error);
	trace_copy_options(&options, sizeof options, from);
	return view ? dw_view_run(view, trace->model, &options, table, error) : DWELL_E_NAME;
}

void dwell_table_destroy(struct dwell_table *table)
{
	dw_table_destroy(table);
}

int dwell_table_print(const struct dwell_table *const *tables, size_t count, FILE *file,
                      const struct dwell_print_options *from, struct dwell_error *error)
{
	struct dwell_print_options options;
	const struct dw_renderer *renderer;

	DW_TRACE_NEEDS(file);
	for (size_t i = 0; i < count; i++) {
		DW_TRACE_NEEDS(tables);
		DW_TRACE_NEEDS(tables[i]);
	}
	trace_copy_options(&options, sizeof options, from);
	renderer = dw_renderer_find(options.format ? options.format : "text", error);
	if (!renderer)
		return DWELL_E_NAME;
	return dw_render(renderer, tables, count, file, &options, error);
}

const char *dwell_view_name(size_t index, const char **question)
{
	const struct dw_view *view = dw_view_at(index);

	if (view && question)
		*question = view->question;
	return view ? view->name : NULL;
}

int dwell_trace_summary(struct dwell_trace *trace, const char *format, FILE *file, struct dwell_error *error)
{
	DW_TRACE_NEEDS(trace);
	DW_TRACE_NEEDS(format);
	DW_TRACE_NEEDS(file);
	return dw_report_summary(trace->model, format, file, error);
}

/* ---- layouts ------------------------------------------------------------------------------ */

int dwell_trace_layout(struct dwell_trace *trace, const char *name, const struct dwell_view_options *from, FILE *file,
                       struct dwell_error *error)
{
	struct dwell_view_options options;
	struct dw_layout_request request = { NULL, &options };
	const struct dw_layout *layout;

	DW_TRACE_NEEDS(trace);
	DW_TRACE_NEEDS(name);
	DW_TRACE_NEEDS(file);
	layout = dw_layout_find(name, &request.version, error);
	trace_copy_options(&options, sizeof options, from);
	return layout ? dw_layout_run(layout, trace->model, &request, file, error) : DWELL_E_NAME;
}

const char *dwell_layout_name(size_t index, const char **what)
{
	const struct dw_layout *layout = dw_layout_at(index);

	if (layout && what)
		*what = layout->what;
	return layout ? layout->name : NULL;
}

/* ---- exports ------------------------------------------------------------------------------ */

int dwell_trace_export(struct dwell_trace *trace, const char *format, const char *path,
                       const struct dwell_export_options *from, struct dwell_error *error)
{
	struct dwell_export_options options;

	DW_TRACE_NEEDS(trace);
	DW_TRACE_NEEDS(format);
	trace_copy_options(&options, sizeof options, from);
	return dw_export_run(trace->model, format, path, &options, error);
}

const char *dwell_export_name(size_t index, const char **what)
{
	const struct dw_export_format *format = dw_export_at(index);

	if (format && what)
		*what = format->what;
	return format ? format->name : NULL;
}

/* ---- tables for other programs --------------------------------------------------------------- */

int dwell_trace_query(struct dwell_trace *trace, const char *sql, uint64_t most_ms, struct dwell_table **table,
                      struct dwell_error *error)
{
	int code;

	DW_TRACE_NEEDS(table);
	*table = NULL;
	DW_TRACE_NEEDS(trace);
	DW_TRACE_NEEDS(sql);
	code = dw_query_run(trace->model, sql, most_ms, table, error);
	if (!code && error)
		snprintf(error->message, sizeof error->message, "%s", (*table)->note_count ? (*table)->notes[0].text : "");
	return code;
}

int dwell_table_columns(const struct dwell_table *table, struct ArrowSchema *schema, struct ArrowArray *columns,
                        struct dwell_error *error)
{
	DW_TRACE_NEEDS(table);
	DW_TRACE_NEEDS(schema);
	DW_TRACE_NEEDS(columns);
	return dw_columns_of_table(table, schema, columns, error);
}

int dwell_trace_columns(struct dwell_trace *trace, const char *name, bool dictionaries,
                        int (*each)(const char *table, struct ArrowSchema *schema, struct ArrowArray *columns, void *context),
                        void *context, struct dwell_error *error)
{
	DW_TRACE_NEEDS(trace);
	DW_TRACE_NEEDS(each);
	return dw_columns_of_rows(trace->model, name, dictionaries, each, context, error);
}
