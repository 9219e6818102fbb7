/*
 * Tables of an SQLite file; see database.h.
 *
 * Called by nsight.c and nvprof.c. A build without SQLite refuses such files with a message.
 */
#include "import/database.h"

#include <string.h>

#include "base/error.h"

#define MAGIC "SQLite format 3" /* with its NUL 16 bytes */
#define JOURNAL_OFFSET 18       /* 2: the file needs its journal (WAL) */

bool dw_database_is(const struct dw_import_file *file)
{
	return file->size_bytes >= sizeof MAGIC && memcmp(file->data, MAGIC, sizeof MAGIC) == 0;
}

#ifndef DW_HAVE_SQLITE
int dw_database_open(struct dw_database *database, const struct dw_import_file *file, struct dwell_error *error)
{
	return dw_error_set(error, DWELL_E_NOT_TRACE,
	                    "%s is an SQLite file, and this dwell was built without SQLite: build it with "
	                    "libsqlite3-dev installed", file->path);
}

void dw_database_close(struct dw_database *database) { }
void dw_database_use_strings(struct dw_database *database, const char *table, const char *id) { }

bool dw_database_has(const struct dw_database *database, const char *table, const char *column)
{
	return false;
}

bool dw_database_has_table(const struct dw_database *database, const char *table)
{
	return false;
}

bool dw_database_has_prefix(const struct dw_database *database, const char *prefix)
{
	return false;
}

void dw_rows_open(struct dw_rows *rows, struct dw_database *database, const char *table,
                  const char *const *columns, unsigned count, const char *where, int64_t value)
{
	*rows = (struct dw_rows){ .database = database };
}

bool dw_rows_next(struct dw_rows *rows)
{
	return false;
}

void dw_rows_close(struct dw_rows *rows) { }

enum dw_rows_type dw_rows_type(const struct dw_rows *rows, unsigned column)
{
	return DW_ROWS_NONE;
}

int64_t dw_rows_integer(const struct dw_rows *rows, unsigned column, int64_t fallback)
{
	return fallback;
}

struct dw_json_string dw_rows_text(const struct dw_rows *rows, unsigned column)
{
	return (struct dw_json_string){ "", 0, false };
}
#else
#include <sqlite3.h>
#include <stdio.h>

#define LONGEST_QUERY 4096
#define SPARE_STEPS ((uint64_t)2 << 20)
#define STEPS_A_BYTE 32u
#define BYTES_A_ROW 8u   /* at least: two of the page, the lengths, the key, a start and an end */
#define SPARE_TEXT_BYTES ((uint64_t)64 << 20)
#define TEXT_BYTES_A_BYTE 128u /* each row has the text of its name again */
#define STEPS_AT_ONCE 1000
#define MOST_VALUE_BYTES (16 << 20) /* of one value, which SQLite copies */

/* Called by SQLite after each STEPS_AT_ONCE steps. Not 0: it gives up. */
static int database_count_steps(void *context)
{
	struct dw_database *database = context;

	return database->steps_left == 0 || database->steps_left-- == 1;
}

static void database_limit(struct dw_database *database, uint64_t size_bytes)
{
	static const struct { int what, most; } limits[] = {
		{ SQLITE_LIMIT_LENGTH, MOST_VALUE_BYTES }, { SQLITE_LIMIT_SQL_LENGTH, 1 << 20 },
		{ SQLITE_LIMIT_COLUMN, 1000 }, { SQLITE_LIMIT_EXPR_DEPTH, 100 },
		{ SQLITE_LIMIT_COMPOUND_SELECT, 16 }, { SQLITE_LIMIT_ATTACHED, 0 },
		{ SQLITE_LIMIT_TRIGGER_DEPTH, 1 },
	};

	sqlite3_db_config(database->handle, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
	sqlite3_db_config(database->handle, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
	for (size_t i = 0; i < sizeof limits / sizeof *limits; i++)
		sqlite3_limit(database->handle, limits[i].what, limits[i].most);
	database->steps_left = (SPARE_STEPS + size_bytes * STEPS_A_BYTE) / STEPS_AT_ONCE;
	database->most_rows = size_bytes / BYTES_A_ROW;
	database->text_left = SPARE_TEXT_BYTES + size_bytes * TEXT_BYTES_A_BYTE;
	sqlite3_progress_handler(database->handle, STEPS_AT_ONCE, database_count_steps, database);
}

static int database_fail(struct dw_database *database, const struct dw_import_file *file, struct dwell_error *error)
{
	int code = sqlite3_errcode(database->handle);

	dw_error_set(error, code == SQLITE_NOMEM ? DWELL_E_NOMEM : DWELL_E_NOT_TRACE,
	             "cannot read %s: %s; export it again, or copy it again if it is a copy", file->path,
	             sqlite3_errmsg(database->handle));
	dw_database_close(database);
	return code == SQLITE_NOMEM ? DWELL_E_NOMEM : DWELL_E_NOT_TRACE;
}

int dw_database_open(struct dw_database *database, const struct dw_import_file *file, struct dwell_error *error)
{
	sqlite3 *handle = NULL;

	memset(database, 0, sizeof *database);
	database->path = file->path;
	if (file->size_bytes > JOURNAL_OFFSET && file->data[JOURNAL_OFFSET] == 2)
		return dw_error_set(error, DWELL_E_NOT_TRACE,
		                    "%s is an SQLite file with a journal beside it (WAL): run sqlite3 %s "
		                    "'PRAGMA journal_mode=delete' first", file->path, file->path);
	if (sqlite3_open_v2(":memory:", &handle, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL) != SQLITE_OK) {
		sqlite3_close(handle);
		return dw_error_set(error, DWELL_E_NOMEM, "out of memory reading %s", file->path);
	}
	database->handle = handle;
	database_limit(database, file->size_bytes);
	if (sqlite3_deserialize(handle, "main", (unsigned char *)(uintptr_t)file->data,
	                        (sqlite3_int64)file->size_bytes, (sqlite3_int64)file->size_bytes,
	                        SQLITE_DESERIALIZE_READONLY) != SQLITE_OK ||
	    sqlite3_exec(handle, "PRAGMA cell_size_check = 1; SELECT count(*) FROM sqlite_schema", NULL, NULL,
	                 NULL) != SQLITE_OK)
		return database_fail(database, file, error);
	return 0;
}

void dw_database_close(struct dw_database *database)
{
	sqlite3_close(database->handle);
	database->handle = NULL;
}

/* Whether a real table has the name. A view and a virtual table are none. */
bool dw_database_has_table(const struct dw_database *database, const char *table)
{
	sqlite3_stmt *statement = NULL;
	bool found;

	if (sqlite3_prepare_v2(database->handle, "SELECT 1 FROM sqlite_schema WHERE name = ?1 AND "
	                       "type = 'table' AND rootpage > 0", -1, &statement, NULL) != SQLITE_OK)
		return false;
	sqlite3_bind_text(statement, 1, table, -1, SQLITE_STATIC);
	found = sqlite3_step(statement) == SQLITE_ROW;
	sqlite3_finalize(statement);
	return found;
}

bool dw_database_has_prefix(const struct dw_database *database, const char *prefix)
{
	sqlite3_stmt *statement = NULL;
	bool found;

	if (sqlite3_prepare_v2(database->handle, "SELECT 1 FROM sqlite_schema WHERE substr(name, 1, length(?1)) = ?1", -1,
	                       &statement, NULL) != SQLITE_OK)
		return false;
	sqlite3_bind_text(statement, 1, prefix, -1, SQLITE_STATIC);
	found = sqlite3_step(statement) == SQLITE_ROW;
	sqlite3_finalize(statement);
	return found;
}

bool dw_database_has(const struct dw_database *database, const char *table, const char *column)
{
	sqlite3_stmt *statement = NULL;
	bool found;

	if (sqlite3_prepare_v2(database->handle, "SELECT 1 FROM pragma_table_xinfo(?1) WHERE hidden = 0 AND "
	                       "name = ?2 COLLATE NOCASE", -1, &statement, NULL) != SQLITE_OK)
		return false;
	sqlite3_bind_text(statement, 1, table, -1, SQLITE_STATIC);
	sqlite3_bind_text(statement, 2, column, -1, SQLITE_STATIC);
	found = sqlite3_step(statement) == SQLITE_ROW;
	sqlite3_finalize(statement);
	return found;
}

void dw_database_use_strings(struct dw_database *database, const char *table, const char *id_column)
{
	database->strings = table;
	database->strings_id = id_column;
	database->has_strings = dw_database_has_table(database, table) && dw_database_has(database, table, id_column) &&
	                        dw_database_has(database, table, "value");
}

/* ---- rows ------------------------------------------------------------------------------------------ */

static void rows_fail(struct dw_rows *rows, const char *why)
{
	struct dw_database *database = rows->database;

	if (!database->bad_tables++) {
		database->bad_table = rows->table;
		snprintf(database->bad_why, sizeof database->bad_why, "%s", why);
	}
}

static size_t rows_put_column(const struct dw_rows *rows, const char *column, char *to, size_t size)
{
	const struct dw_database *database = rows->database;
	bool is_text = *column == *DW_TEXT_OF;

	column += is_text;
	if (!dw_database_has(database, rows->table, column) || (is_text && !database->has_strings))
		return (size_t)snprintf(to, size, "NULL");
	if (is_text)
		return (size_t)snprintf(to, size, "(SELECT value FROM %s WHERE %s = t.\"%s\")",
		                        database->strings, database->strings_id, column);
	return (size_t)snprintf(to, size, "t.\"%s\"", column);
}

void dw_rows_open(struct dw_rows *rows, struct dw_database *database, const char *table,
                  const char *const *columns, unsigned count, const char *where, int64_t value)
{
	char query[LONGEST_QUERY] = "SELECT ";
	size_t length = strlen(query);
	sqlite3_stmt *statement = NULL;

	*rows = (struct dw_rows){ .database = database, .table = table };
	if (!dw_database_has_table(database, table))
		return;
	for (unsigned i = 0; i < count; i++) {
		length += rows_put_column(rows, columns[i], query + length, sizeof query - length);
		length += (size_t)snprintf(query + length, sizeof query - length, "%s", i + 1 < count ? ", " : "");
	}
	snprintf(query + length, sizeof query - length, " FROM main.\"%s\" AS t%s%s", table,
	         where ? " WHERE " : "", where ? where : "");
	if (sqlite3_prepare_v2(database->handle, query, -1, &statement, NULL) != SQLITE_OK) {
		rows_fail(rows, sqlite3_errmsg(database->handle));
		return;
	}
	if (where)
		sqlite3_bind_int64(statement, 1, value);
	rows->statement = statement;
}

/* Whether the texts of the current row fit in what the file may have. SQLite copies each, also one
 * that all rows share. */
static bool rows_spend_text(struct dw_rows *rows)
{
	int count = sqlite3_column_count(rows->statement);
	uint64_t bytes = 0, *left = &rows->database->text_left;

	for (int i = 0; i < count; i++) {
		int type = sqlite3_column_type(rows->statement, i);

		if (type == SQLITE_TEXT || type == SQLITE_BLOB)
			bytes += (uint64_t)sqlite3_column_bytes(rows->statement, i);
	}
	*left = bytes < *left ? *left - bytes : 0;
	return *left > 0;
}

bool dw_rows_next(struct dw_rows *rows)
{
	bool fits = true;
	int code;

	if (!rows->statement)
		return false;
	code = sqlite3_step(rows->statement);
	if (code == SQLITE_ROW && rows->row < rows->database->most_rows && (fits = rows_spend_text(rows))) {
		rows->row++;
		return true;
	}
	if (!fits)
		rows_fail(rows, "it has more text than a file of this size may");
	else if (code == SQLITE_ROW)
		rows_fail(rows, "more rows than fit in the file");
	else if (code == SQLITE_INTERRUPT)
		rows_fail(rows, "it takes more steps than a file of this size may");
	else if (code != SQLITE_DONE)
		rows_fail(rows, sqlite3_errmsg(rows->database->handle));
	dw_rows_close(rows);
	return false;
}

void dw_rows_close(struct dw_rows *rows)
{
	sqlite3_finalize(rows->statement);
	rows->statement = NULL;
}

enum dw_rows_type dw_rows_type(const struct dw_rows *rows, unsigned column)
{
	switch (sqlite3_column_type(rows->statement, (int)column)) {
	case SQLITE_NULL: return DW_ROWS_NONE;
	case SQLITE_INTEGER: return DW_ROWS_INTEGER;
	default: return DW_ROWS_OTHER;
	}
}

int64_t dw_rows_integer(const struct dw_rows *rows, unsigned column, int64_t fallback)
{
	return dw_rows_type(rows, column) == DW_ROWS_INTEGER
	           ? sqlite3_column_int64(rows->statement, (int)column) : fallback;
}

struct dw_json_string dw_rows_text(const struct dw_rows *rows, unsigned column)
{
	const char *text = (const char *)sqlite3_column_text(rows->statement, (int)column);
	int length = sqlite3_column_bytes(rows->statement, (int)column);

	return text ? (struct dw_json_string){ text, (uint32_t)length, false } : (struct dw_json_string){ "", 0, false };
}
#endif
