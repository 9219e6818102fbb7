/* Runs a statement; see query.h. */
#include "query/query.h"

#include <string.h>

#include "base/error.h"
#include "base/system/clock.h"
#include "query/inside.h"

#ifndef DW_HAVE_SQLITE
int dw_query_run(struct dw_model *model, const char *sql, uint64_t most_ms, struct dwell_table **table, struct dwell_error *error)
{
	*table = NULL;
	return dw_error_set(error, DWELL_E_UNSUPPORTED, "this dwell was built without SQLite: build it with "
	                                            "libsqlite3-dev installed");
}
#else
#include <sqlite3.h>

#define QUERY_MOST_COLUMNS 60  /* that Markdown shows */
#define QUERY_LOOK 10000       /* steps of SQLite from one look at the clock to the next */
#define QUERY_NARROW "add a condition on step, start_ns or tid, or sums in place of rows"

static int query_fail_by_size(struct dwell_error *error)
{
	return dw_error_set(error, DWELL_E_ARGUMENT, "SQL: the statement needs more than %u MB of memory: " QUERY_NARROW,
	                    DW_QUERY_MOST_BYTES >> 20);
}

static int query_fail(sqlite3 *database, struct dwell_error *error)
{
	const char *message = sqlite3_errmsg(database);
	int offset = -1;

	if (sqlite3_errcode(database) == SQLITE_NOMEM)
		return query_fail_by_size(error);
	if (sqlite3_errcode(database) == SQLITE_INTERRUPT)
		return dw_error_set(error, DWELL_E_ARGUMENT, "SQL: the statement was ended, because it takes too long: " QUERY_NARROW
		                    "; dwell query --for 1m lets it run for a minute");
#if SQLITE_VERSION_NUMBER >= 3038000
	offset = sqlite3_error_offset(database);
#endif
	if (offset >= 0)
		return dw_error_set(error, DWELL_E_ARGUMENT, "SQL, character %d: %s ('.schema' lists tables and "
		                    "columns)", offset + 1, message);
	return dw_error_set(error, DWELL_E_ARGUMENT, "SQL: %s ('.schema' lists tables and columns)", message);
}

/* A table with the columns of the statement. The types of cells may differ within a column. */
static struct dwell_table *query_create_table(sqlite3_stmt *statement)
{
	struct dw_column columns[QUERY_MOST_COLUMNS];
	int count = sqlite3_column_count(statement);
	struct dwell_table *table;

	for (int i = 0; i < count; i++)
		columns[i] = (struct dw_column)DW_COLUMN("", "", NONE, TEXT);
	table = dw_table_create("query", columns, (size_t)count);
	for (int i = 0; table && i < count; i++) {
		const char *name = sqlite3_column_name(statement, i);

		name = name ? dw_arena_text(&table->arena, name, strlen(name)) : NULL;
		table->columns[i].name = table->columns[i].label = name ? name : "";
		table->failed |= !name;
	}
	if (table)
		table->coverage = 1;
	return table;
}

/* Returns the bytes of its texts. */
static size_t query_put_row(struct dwell_table *table, sqlite3_stmt *statement)
{
	struct dw_cell *row = dw_table_row(table, 0);
	size_t bytes = 0;

	for (int i = 0; i < (int)table->column_count; i++)
		switch (sqlite3_column_type(statement, i)) {
		case SQLITE_NULL: break;
		case SQLITE_INTEGER:
			dw_cell_int(&row[i], sqlite3_column_int64(statement, i));
			table->columns[i].type = DW_CELL_INT;
			break;
		case SQLITE_FLOAT:
			dw_cell_real(&row[i], sqlite3_column_double(statement, i));
			table->columns[i].type = DW_CELL_REAL;
			break;
		default:
			dw_cell_text(table, &row[i], (const char *)sqlite3_column_text(statement, i));
			bytes += (size_t)sqlite3_column_bytes(statement, i) + 1;
			break;
		}
	return bytes;
}

/* What the result takes: its cells, of which there is a copy while they grow, and its texts. */
static size_t query_bytes(const struct dwell_table *table, size_t texts)
{
	return texts + table->row_capacity * table->column_count * sizeof *table->cells * 3 / 2;
}

static int query_collect(sqlite3 *database, sqlite3_stmt *statement, struct dwell_table **table,
                         struct dwell_error *error)
{
	size_t texts = 0;
	int code;

	if (sqlite3_column_count(statement) > QUERY_MOST_COLUMNS)
		return dw_error_set(error, DWELL_E_ARGUMENT, "the result has more than %d columns: name those that you "
		                    "need", QUERY_MOST_COLUMNS);
	*table = query_create_table(statement);
	if (!*table)
		return dw_error_set(error, DWELL_E_NOMEM, "out of memory for the query");
	while ((code = sqlite3_step(statement)) == SQLITE_ROW && (*table)->row_count < DW_QUERY_MOST_ROWS &&
	       query_bytes(*table, texts) <= DW_QUERY_MOST_BYTES / 2)
		texts += query_put_row(*table, statement);
	if (query_bytes(*table, texts) > DW_QUERY_MOST_BYTES / 2)
		return query_fail_by_size(error);
	if (code == SQLITE_ROW)
		dw_table_note(*table, "Only the first %u rows: add a condition or a limit.", DW_QUERY_MOST_ROWS);
	else if (code != SQLITE_DONE)
		return query_fail(database, error);
	return (*table)->failed ? dw_error_set(error, DWELL_E_NOMEM, "out of memory for the query") : 0;
}

static int query_select(sqlite3 *database, const char *sql, struct dwell_table **table, struct dwell_error *error)
{
	sqlite3_stmt *statement = NULL;
	const char *rest = "";
	int code = sqlite3_prepare_v2(database, sql, -1, &statement, &rest);

	if (code != SQLITE_OK)
		code = query_fail(database, error);
	else if (!statement)
		code = dw_error_set(error, DWELL_E_ARGUMENT, "the query is empty");
	else if (rest[strspn(rest, " \t\r\n;")])
		code = dw_error_set(error, DWELL_E_ARGUMENT, "SQL, character %d: give one statement at a time",
		                    (int)(rest - sql) + 1);
	else
		code = query_collect(database, statement, table, error);
	sqlite3_finalize(statement);
	return code;
}

/* ".schema": a row for each column of each table. A table that the trace cannot fill has one row that
 * says why. */
static int query_list(sqlite3 *database, struct dwell_table **table, struct dwell_error *error)
{
	static const struct dw_column columns[] = { DW_COLUMN("table", "table", NONE, TEXT),
		                                        DW_COLUMN("columns", "columns", NONE, TEXT) };

	*table = dw_table_create("query", columns, 2);
	if (!*table)
		return dw_error_set(error, DWELL_E_NOMEM, "out of memory for the query");
	(*table)->coverage = 1;
	for (size_t i = 0; dw_query_table_name(i); i++) {
		sqlite3_stmt *statement = NULL;
		struct dw_cell *row = dw_table_row(*table, 0);
		char sql[128];

		dw_cell_text(*table, &row[0], dw_query_table_name(i));
		snprintf(sql, sizeof sql, "SELECT group_concat(name, ' ') FROM pragma_table_info('%s')",
		         dw_query_table_name(i));
		if (sqlite3_prepare_v2(database, sql, -1, &statement, NULL) == SQLITE_OK &&
		    sqlite3_step(statement) == SQLITE_ROW && sqlite3_column_text(statement, 0)) {
			dw_cell_text(*table, &row[1], (const char *)sqlite3_column_text(statement, 0));
		} else {
			char text[600];

			snprintf(text, sizeof text, "(%.500s)", sqlite3_errmsg(database));
			dw_cell_text(*table, &row[1], text);
		}
		sqlite3_finalize(statement);
	}
	return (*table)->failed ? dw_error_set(error, DWELL_E_NOMEM, "out of memory for the query") : 0;
}

/* Called by SQLite. Not 0: the statement ends. */
static int query_look(void *until_ms)
{
	return dw_clock_monotonic_ms() > *(const uint64_t *)until_ms;
}

int dw_query_run(struct dw_model *model, const char *sql, uint64_t most_ms, struct dwell_table **table, struct dwell_error *error)
{
	sqlite3 *database = NULL;
	uint64_t until_ms = dw_clock_monotonic_ms() + most_ms;
	/* SQLite may be the program's own, too: what it holds already is not the statement's, and its limits return. */
	const sqlite3_int64 hard = sqlite3_hard_heap_limit64(-1), soft = sqlite3_soft_heap_limit64(-1);
	int code;

	*table = NULL;
	if (sqlite3_open_v2(":memory:", &database, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL) != SQLITE_OK ||
	    dw_query_add_tables(database, model) != SQLITE_OK || dw_query_add_ranges(database, model) != SQLITE_OK)
		code = dw_error_set(error, DWELL_E_NOMEM, "out of memory for the query");
	else {
		sqlite3_limit(database, SQLITE_LIMIT_ATTACHED, 0); /* a query reads this trace and no file */
		sqlite3_hard_heap_limit64(sqlite3_memory_used() + DW_QUERY_MOST_BYTES / 2);
		if (most_ms)
			sqlite3_progress_handler(database, QUERY_LOOK, query_look, &until_ms);
		code = strcmp(sql, ".schema") == 0 ? query_list(database, table, error)
		                                   : query_select(database, sql, table, error);
	}
	sqlite3_close(database);
	sqlite3_hard_heap_limit64(hard);
	sqlite3_soft_heap_limit64(soft);
	if (code) {
		dw_table_destroy(*table);
		*table = NULL;
	}
	return code;
}
#endif
