/* Views, steps, metadata and losses as tables of SQLite. */
#include "query/inside.h"

#ifdef DW_HAVE_SQLITE
#include <sqlite3.h>
#include <stdio.h>
#include <string.h>

#include "model/serving/serving.h"
#include "views/views.h"

struct tables_source {
	struct dw_model *model;
	const struct dw_view *view; /* or NULL: */
	struct dwell_table *(*make)(struct dw_model *model);
};

struct tables_table {
	sqlite3_vtab base;
	struct dwell_table *table;
};

struct tables_cursor {
	sqlite3_vtab_cursor base;
	size_t row;
};

/* ---- tables that are no views --------------------------------------------------------------- */

#define TABLES_CREATE(name, columns) dw_table_create(name, columns, sizeof(columns) / sizeof *(columns))

struct tables_metadata {
	uint32_t pid;
	const char *key, *value;
};

static const struct dw_column metadata_columns[] = {
	DW_FIELD(struct tables_metadata, pid, "pid", NONE, INT),
	DW_FIELD(struct tables_metadata, key, "key", NONE, TEXT),
	DW_FIELD(struct tables_metadata, value, "value", NONE, TEXT),
};

static struct dwell_table *tables_make_metadata(struct dw_model *model)
{
	const struct dw_source *source = dw_model_source(model);
	struct dwell_table *table = TABLES_CREATE("metadata", metadata_columns);

	for (size_t i = 0; table && i < source->meta_count; i++)
		DW_TABLE_PUT(table, 0, struct tables_metadata, .pid = source->processes[source->metas[i].process].pid,
		             .key = source->metas[i].key, .value = source->metas[i].value);
	return table;
}

struct tables_loss {
	const char *cause;
	uint64_t records;
};

static const struct dw_column loss_columns[] = {
	DW_FIELD(struct tables_loss, cause, "cause", NONE, TEXT),
	DW_FIELD(struct tables_loss, records, "records", COUNT, INT),
};

static struct dwell_table *tables_make_losses(struct dw_model *model)
{
	const struct dw_source *source = dw_model_source(model);
	struct dwell_table *table = TABLES_CREATE("losses", loss_columns);

	for (size_t i = 0; table && i < DW_LOSS_SLOTS; i++)
		if (source->lost[i])
			DW_TABLE_PUT(table, 0, struct tables_loss, .cause = dw_loss_cause(i) ? dw_loss_cause(i) : "unknown",
			             .records = source->lost[i]);
	return table;
}

struct tables_step {
	const char *thread;
	struct dw_cell step, start_ns, duration_ns, cpu_ns, operators, counted;
};

static const struct dw_column step_columns[] = {
	DW_FIELD(struct tables_step, step, "step", NONE, INT),
	DW_FIELD(struct tables_step, thread, "thread", NONE, TEXT),
	DW_FIELD(struct tables_step, start_ns, "start", NS, INT),
	DW_FIELD(struct tables_step, duration_ns, "duration", NS, INT),
	DW_FIELD(struct tables_step, cpu_ns, "cpu", NS, INT),
	DW_FIELD(struct tables_step, operators, "operators", COUNT, INT),
	DW_FIELD(struct tables_step, counted, "counted", NONE, INT),
};

static struct dwell_table *tables_make_steps(struct dw_model *model)
{
	const struct dw_steps *steps = dw_model_steps(model, NULL);
	struct dwell_table *table = steps ? TABLES_CREATE("steps", step_columns) : NULL;
	char name[256];

	for (size_t i = 0; table && i < steps->count; i++) {
		const struct dw_step *step = &steps->steps[i];

		dw_model_thread_name(model, step->thread, name, sizeof name);
		DW_TABLE_PUT(table, 0, struct tables_step, .step = DW_INT(step->number), .thread = name,
		             .start_ns = DW_INT(step->start_ns), .duration_ns = DW_INT(step->end_ns - step->start_ns),
		             .cpu_ns = step->cpu_ns ? DW_INT(step->cpu_ns) : DW_EMPTY,
		             .operators = DW_INT(step->operator_count), .counted = DW_INT(step->counted));
	}
	return table;
}

struct tables_served {
	const char *name, *thread;
	uint64_t start_ns, duration_ns, queue_ns, prefill_ns, decode_ns, first_ns, last_ns, tokens;
	uint32_t pid, ended;
};

static const struct dw_column served_columns[] = {
	DW_FIELD(struct tables_served, name, "name", NONE, TEXT),
	DW_FIELD(struct tables_served, start_ns, "start", NS, INT),
	DW_FIELD(struct tables_served, duration_ns, "duration", NS, INT),
	DW_FIELD(struct tables_served, queue_ns, "queue", NS, INT),
	DW_FIELD(struct tables_served, prefill_ns, "prefill", NS, INT),
	DW_FIELD(struct tables_served, decode_ns, "decode", NS, INT),
	DW_FIELD(struct tables_served, first_ns, "first", NS, INT),
	DW_FIELD(struct tables_served, last_ns, "last", NS, INT),
	DW_FIELD(struct tables_served, tokens, "tokens", COUNT, INT),
	DW_FIELD(struct tables_served, thread, "thread", NONE, TEXT),
	DW_FIELD(struct tables_served, pid, "pid", NONE, INT),
	DW_FIELD(struct tables_served, ended, "ended", NONE, INT),
};

static uint64_t tables_stage_ns(const struct dw_serving *serving, const struct dw_served *request, const char *name)
{
	uint64_t ns = 0;

	for (uint32_t i = 0; i < request->stage_count; i++) {
		const struct dw_served_stage *stage = &serving->stages[request->first_stage + i];

		ns += strcmp(serving->stage_names[stage->name], name) == 0 ? stage->end_ns - stage->start_ns : 0;
	}
	return request->stage_count ? ns : DW_NO_NUMBER;
}

/* The requests of a server; `first` and `last` are when their tokens came, after their begin. */
static struct dwell_table *tables_make_served(struct dw_model *model)
{
	const struct dw_serving *serving = dw_model_serving(model, NULL);
	struct dwell_table *table = serving ? TABLES_CREATE("served", served_columns) : NULL;
	char thread[256];

	for (size_t i = 0; table && i < serving->count; i++) {
		const struct dw_served *of = &serving->requests[i];

		dw_model_thread_name(model, of->thread, thread, sizeof thread);
		DW_TABLE_PUT(table, 0, struct tables_served, .name = dw_model_symbols(model, NULL)[of->symbol].name,
		             .start_ns = of->start_ns, .duration_ns = of->end_ns - of->start_ns,
		             .queue_ns = of->stage_count ? dw_served_queue_ns(serving, of) : DW_NO_NUMBER,
		             .prefill_ns = tables_stage_ns(serving, of, "prefill"), .decode_ns = tables_stage_ns(serving, of, "decode"),
		             .first_ns = of->tokens ? of->first_ns - of->start_ns : DW_NO_NUMBER,
		             .last_ns = of->tokens ? of->last_ns - of->start_ns : DW_NO_NUMBER, .tokens = of->tokens, .thread = thread,
		             .pid = dw_model_source(model)->processes[of->process].pid, .ended = !of->open);
	}
	return table;
}

struct tables_batch {
	const char *requests;
	uint64_t start_ns, duration_ns, tokens;
	uint32_t waiting, pid;
};

static const struct dw_column batch_columns[] = {
	DW_FIELD(struct tables_batch, start_ns, "start", NS, INT),
	DW_FIELD(struct tables_batch, duration_ns, "duration", NS, INT),
	DW_FIELD(struct tables_batch, requests, "requests", NONE, TEXT),
	DW_FIELD(struct tables_batch, waiting, "waiting", COUNT, INT),
	DW_FIELD(struct tables_batch, tokens, "tokens", COUNT, INT),
	DW_FIELD(struct tables_batch, pid, "pid", NONE, INT),
};

static struct dwell_table *tables_make_batches(struct dw_model *model)
{
	const struct dw_serving *serving = dw_model_serving(model, NULL);
	struct dwell_table *table = serving ? TABLES_CREATE("batches", batch_columns) : NULL;
	char requests[400];

	for (size_t i = 0; table && i < serving->batch_count; i++) {
		const struct dw_batch *of = &serving->batches[i];

		dw_batch_write(serving, &serving->kinds[of->kind], requests, sizeof requests);
		DW_TABLE_PUT(table, 0, struct tables_batch, .start_ns = of->start_ns, .duration_ns = of->end_ns - of->start_ns,
		             .requests = requests, .waiting = of->waiting, .tokens = of->tokens,
		             .pid = dw_model_source(model)->processes[of->process].pid);
	}
	return table;
}

static const struct {
	const char *name;
	struct dwell_table *(*make)(struct dw_model *model);
} tables_own[] = { { "ranges", NULL }, /* ranges.c */
	               { "steps", tables_make_steps }, { "metadata", tables_make_metadata },
	               { "losses", tables_make_losses }, { "served", tables_make_served },
	               { "batches", tables_make_batches } };
#define TABLES_OWN (sizeof tables_own / sizeof *tables_own)

/* Views that are sentences, or that a table above replaces. */
static bool tables_is_left_out(const char *view)
{
	return strcmp(view, "overview") == 0 || strcmp(view, "steps") == 0;
}

const char *dw_query_table_name(size_t index)
{
	const struct dw_view *view;

	if (index < TABLES_OWN)
		return tables_own[index].name;
	index -= TABLES_OWN;
	for (size_t i = 0; (view = dw_view_at(i)); i++)
		if (!tables_is_left_out(view->name) && !index--)
			return view->name;
	return NULL;
}

/* ---- the module ----------------------------------------------------------------------------- */

static int tables_declare(sqlite3 *database, const struct dwell_table *table)
{
	static const char *const types[] = { [DW_CELL_NONE] = "", [DW_CELL_INT] = " INTEGER",
		                                 [DW_CELL_REAL] = " REAL", [DW_CELL_TEXT] = " TEXT" };
	sqlite3_str *sql = sqlite3_str_new(database);
	char *text;
	int code;

	sqlite3_str_appendall(sql, "CREATE TABLE x(");
	for (size_t i = 0; i < table->column_count; i++)
		sqlite3_str_appendf(sql, "%s\"%w\"%s", i ? ", " : "", table->columns[i].name, types[table->columns[i].type]);
	sqlite3_str_appendall(sql, ")");
	text = sqlite3_str_finish(sql);
	code = text ? sqlite3_declare_vtab(database, text) : SQLITE_NOMEM;
	sqlite3_free(text);
	return code;
}

static int tables_connect(sqlite3 *database, void *context, int count, const char *const *arguments,
                          sqlite3_vtab **to, char **message)
{
	const struct tables_source *source = context;
	struct dwell_view_options options = {
		.size = sizeof options, .limit = SIZE_MAX,
		.all = source->view && source->view->takes & DW_VIEW_TAKES(all),
	};
	struct tables_table *vtab = sqlite3_malloc(sizeof *vtab);
	struct dwell_error error = { 0, "" };
	int code = vtab ? SQLITE_OK : SQLITE_NOMEM;

	if (code)
		return code;
	memset(vtab, 0, sizeof *vtab);
	if (source->make) {
		vtab->table = source->make(source->model);
	} else if (dw_view_run(source->view, source->model, &options, &vtab->table, &error)) {
		*message = sqlite3_mprintf("%s", error.message);
		code = SQLITE_ERROR;
	}
	if (!code)
		code = vtab->table && !vtab->table->failed ? tables_declare(database, vtab->table) : SQLITE_NOMEM;
	if (code) {
		dw_table_destroy(vtab->table);
		sqlite3_free(vtab);
		return code;
	}
	*to = &vtab->base;
	return SQLITE_OK;
}

static int tables_disconnect(sqlite3_vtab *vtab)
{
	dw_table_destroy(((struct tables_table *)vtab)->table);
	sqlite3_free(vtab);
	return SQLITE_OK;
}

static int tables_best_index(sqlite3_vtab *vtab, sqlite3_index_info *info)
{
	info->estimatedRows = (sqlite3_int64)((struct tables_table *)vtab)->table->row_count;
	info->estimatedCost = (double)info->estimatedRows;
	return SQLITE_OK;
}

static int tables_open(sqlite3_vtab *vtab, sqlite3_vtab_cursor **to)
{
	struct tables_cursor *cursor = sqlite3_malloc(sizeof *cursor);

	if (!cursor)
		return SQLITE_NOMEM;
	memset(cursor, 0, sizeof *cursor);
	*to = &cursor->base;
	return SQLITE_OK;
}

static int tables_close(sqlite3_vtab_cursor *cursor)
{
	sqlite3_free(cursor);
	return SQLITE_OK;
}

static int tables_filter(sqlite3_vtab_cursor *cursor, int number, const char *text, int count, sqlite3_value **values)
{
	((struct tables_cursor *)cursor)->row = 0;
	return SQLITE_OK;
}

static int tables_next(sqlite3_vtab_cursor *cursor)
{
	((struct tables_cursor *)cursor)->row++;
	return SQLITE_OK;
}

static int tables_eof(sqlite3_vtab_cursor *cursor)
{
	return ((struct tables_cursor *)cursor)->row >= ((struct tables_table *)cursor->pVtab)->table->row_count;
}

static int tables_column(sqlite3_vtab_cursor *cursor, sqlite3_context *to, int column)
{
	const struct dwell_table *table = ((struct tables_table *)cursor->pVtab)->table;
	const struct dw_cell *cell = dw_table_at(table, ((struct tables_cursor *)cursor)->row) + column;

	switch (cell->type) {
	case DW_CELL_NONE: sqlite3_result_null(to); break;
	case DW_CELL_INT: sqlite3_result_int64(to, cell->integer); break;
	case DW_CELL_REAL: sqlite3_result_double(to, cell->real); break;
	case DW_CELL_TEXT: sqlite3_result_text(to, cell->text, -1, SQLITE_STATIC); break;
	}
	return SQLITE_OK;
}

static int tables_rowid(sqlite3_vtab_cursor *cursor, sqlite3_int64 *id)
{
	*id = (sqlite3_int64)((struct tables_cursor *)cursor)->row;
	return SQLITE_OK;
}

/* Without xCreate: the table exists under the module's name, and is made when it is first used. */
static const sqlite3_module tables_module = {
	.xConnect = tables_connect, .xDisconnect = tables_disconnect, .xBestIndex = tables_best_index,
	.xOpen = tables_open, .xClose = tables_close, .xFilter = tables_filter, .xNext = tables_next,
	.xEof = tables_eof, .xColumn = tables_column, .xRowid = tables_rowid,
};

static int tables_add(sqlite3 *database, const char *name, struct tables_source from)
{
	struct tables_source *source = sqlite3_malloc(sizeof *source);

	if (!source)
		return SQLITE_NOMEM;
	*source = from;
	return sqlite3_create_module_v2(database, name, &tables_module, source, sqlite3_free);
}

int dw_query_add_tables(sqlite3 *database, struct dw_model *model)
{
	const struct dw_view *view;
	int code = SQLITE_OK;

	for (size_t i = 1; i < TABLES_OWN && !code; i++)
		code = tables_add(database, tables_own[i].name, (struct tables_source){ model, NULL, tables_own[i].make });
	for (size_t i = 0; (view = dw_view_at(i)) && !code; i++)
		if (!tables_is_left_out(view->name))
			code = tables_add(database, view->name, (struct tables_source){ model, view, NULL });
	return code;
}
#else
typedef int tables_unused; /* a file of C is not empty */
#endif
