/*
 * sqlite: a database with a row for each event, for pandas, DuckDB and other programs.
 *
 * The tables `ranges`, `steps`, `metadata` and `losses` have the columns that they have in `dwell
 * query`; further tables hold marks, counters, allocations, flows, asynchronous ranges, events of
 * devices, threads and processes. Times are nanoseconds since the start of the run.
 *
 * SQLite needs a file that it can seek in, so the database is made in a temporary file, which has no
 * name while it is filled, and is copied to the output when it is complete.
 */
#include "export/export.h"

#include "base/error.h"
#include "export/out.h"

#ifndef DW_HAVE_SQLITE
static int sqlite_write(struct dw_model *model, const struct dwell_export_options *options,
                        struct dw_writer_out *out, struct dwell_error *error)
{
	return dw_error_set(error, DWELL_E_UNSUPPORTED, "this dwell was built without SQLite: build it with "
	                                            "libsqlite3-dev installed");
}
#else
#include <errno.h>
#include <fcntl.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "export/rows.h"

static const char sqlite_views[] = "CREATE VIEW operators AS SELECT name, count(*) AS calls, sum(self_ns) AS self_ns, "
    "sum(duration_ns) AS total_ns, min(duration_ns) AS min_ns, max(duration_ns) AS max_ns "
    "FROM ranges WHERE category = 'operator' GROUP BY name ORDER BY self_ns DESC;"
    "CREATE VIEW kernels AS SELECT name, count(*) AS calls, sum(duration_ns) AS total_ns "
    "FROM device_events WHERE kind = 'kernel' GROUP BY name ORDER BY total_ns DESC;"
    "CREATE INDEX ranges_by_step ON ranges(step); CREATE INDEX ranges_by_name ON ranges(name);";

struct sqlite_writer {
	sqlite3 *database;
	sqlite3_stmt *insert[DW_ROWS_TABLES];
	int columns[DW_ROWS_TABLES];
	int code; /* the first error of SQLite */
};

static int sqlite_put(void *context, enum dw_rows_table table, const struct dw_cell *row)
{
	struct sqlite_writer *to = context;
	sqlite3_stmt *insert = to->insert[table];
	int code;

	for (int i = 0; i < to->columns[table]; i++)
		if (row[i].type == DW_CELL_INT)
			sqlite3_bind_int64(insert, i + 1, row[i].integer);
		else if (row[i].type == DW_CELL_REAL)
			sqlite3_bind_double(insert, i + 1, row[i].real);
		else
			sqlite3_bind_text(insert, i + 1, row[i].type == DW_CELL_TEXT ? row[i].text : NULL, -1, SQLITE_STATIC);
	code = sqlite3_step(insert);
	if (code != SQLITE_DONE && !to->code)
		to->code = code;
	sqlite3_reset(insert);
	return to->code;
}

/* Creates a table, and the statement that adds a row to it. */
static int sqlite_prepare(struct sqlite_writer *to, enum dw_rows_table table)
{
	static const char *const types[] = { [DW_CELL_INT] = "INTEGER", [DW_CELL_REAL] = "REAL", [DW_CELL_TEXT] = "TEXT" };
	const struct dw_rows_head *head = &dw_rows_heads[table];
	char create[600], insert[200];
	int created = snprintf(create, sizeof create, "CREATE TABLE %s(", head->name);
	int inserted = snprintf(insert, sizeof insert, "INSERT INTO %s VALUES(", head->name), code;

	to->columns[table] = (int)dw_rows_column_count(table);
	for (int i = 0; i < to->columns[table]; i++) {
		const char *after = i + 1 < to->columns[table] ? "," : ")";

		created += snprintf(create + created, sizeof create - (size_t)created, "%s %s%s", head->columns[i].name,
		                    types[head->columns[i].type], after);
		inserted += snprintf(insert + inserted, sizeof insert - (size_t)inserted, "?%s", after);
	}
	code = sqlite3_exec(to->database, create, NULL, NULL, NULL);
	return code ? code : sqlite3_prepare_v2(to->database, insert, -1, &to->insert[table], NULL);
}

/* Fills the database. Returns a code of dwell; those of SQLite are in `code`. */
static int sqlite_fill(struct sqlite_writer *to, struct dw_model *model, struct dwell_error *error)
{
	int code;

	to->code = sqlite3_exec(to->database, "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; BEGIN", NULL, NULL, NULL);
	for (int i = 0; i < DW_ROWS_TABLES && !to->code; i++)
		to->code = sqlite_prepare(to, (enum dw_rows_table)i);
	if (to->code)
		return 0;
	code = dw_rows_walk(model, DW_ROWS_ALL, sqlite_put, to, error);
	if (to->code)
		return 0;
	if (!code)
		to->code = sqlite3_exec(to->database, sqlite_views, NULL, NULL, NULL);
	if (!code && !to->code)
		to->code = sqlite3_exec(to->database, "COMMIT", NULL, NULL, NULL);
	return code;
}

static int sqlite_fail(struct sqlite_writer *to, const char *path, struct dwell_error *error)
{
	if (to->code == SQLITE_NOMEM)
		return dw_error_set(error, DWELL_E_NOMEM, "out of memory for the database");
	return dw_error_set(error, to->code == SQLITE_FULL ? DWELL_E_NOSPACE : DWELL_E_IO,
	                    "cannot write the database %s: %s; set TMPDIR to a folder with more space", path,
	                    to->database ? sqlite3_errmsg(to->database) : sqlite3_errstr(to->code));
}

static int sqlite_copy(int fd, struct dw_writer_out *out, struct dwell_error *error)
{
	static const size_t piece = 1u << 16;
	char *bytes = malloc(piece);
	ssize_t got = -1;
	off_t at = 0;

	while (bytes && (got = pread(fd, bytes, piece, at)) > 0) {
		dw_out_bytes(out, bytes, (size_t)got);
		at += got;
	}
	free(bytes);
	return got == 0 ? 0 : dw_error_set(error, DWELL_E_IO, "cannot read the database again: %s", strerror(errno));
}

static int sqlite_write(struct dw_model *model, const struct dwell_export_options *options,
                        struct dw_writer_out *out, struct dwell_error *error)
{
	struct sqlite_writer to = { .code = 0 };
	const char *folder = getenv("TMPDIR");
	char path[4096];
	int fd, code = 0;

	snprintf(path, sizeof path, "%s/dwell-export-XXXXXX", folder && *folder ? folder : "/tmp");
	fd = mkostemp(path, O_CLOEXEC);
	if (fd < 0)
		return dw_error_set(error, DWELL_E_IO, "cannot make a temporary file %s: %s; set TMPDIR to a folder that "
		                    "can be written to", path, strerror(errno));
	to.code = sqlite3_open_v2(path, &to.database, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL);
	/* SQLite opens the file when it first reads it; the name is not needed afterwards. */
	if (!to.code)
		to.code = sqlite3_exec(to.database, "PRAGMA user_version", NULL, NULL, NULL);
	unlink(path);
	if (!to.code)
		code = sqlite_fill(&to, model, error);
	for (int i = 0; i < DW_ROWS_TABLES; i++)
		sqlite3_finalize(to.insert[i]);
	if (!code && to.code)
		code = sqlite_fail(&to, path, error);
	sqlite3_close(to.database);
	if (!code)
		code = sqlite_copy(fd, out, error);
	close(fd);
	return code;
}
#endif

const struct dw_export_format dw_export_sqlite = {
	.name = "sqlite", .what = "a database with a row for each event, for pandas, DuckDB and sqlite3",
	.write = sqlite_write,
};
