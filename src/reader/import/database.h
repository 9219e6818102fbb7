/*
 * Reads tables of an SQLite file.
 *
 * Profilers of NVIDIA export SQLite files. Which tables and columns exist depends on the version of
 * the profiler and on what was recorded. So a caller names the columns that it wants, and a column
 * that is missing has no value in any row.
 *
 * The file is read from the mapping: SQLite opens nothing. A file may have been made to harm its
 * reader. Only real tables and columns are read, because a view and a generated column may compute
 * anything; the schema is not trusted; and the numbers of steps, of rows and of bytes in their texts are
 * bounded by a multiple of the file's size.
 */
#pragma once

#include "import/import.h"
#include "import/json.h"

struct dw_database {
	void *handle;             /* of SQLite */
	const char *path;
	const char *strings;      /* table of texts that others refer to by id, and its column of ids */
	const char *strings_id;
	bool has_strings;
	uint64_t steps_left;      /* thousands of steps that all queries together may still take */
	uint64_t most_rows;       /* of a table: more do not fit in the file */
	uint64_t text_left;       /* bytes of texts that all rows together may still have */
	/* The first table that could not be read to its end, and why. NULL: none. */
	const char *bad_table;
	char bad_why[128];
	uint64_t bad_tables;      /* number of such reads */
};

/* Whether the file begins like an SQLite file. */
bool dw_database_is(const struct dw_import_file *file);
/* Opens the file. Returns 0, or a negative DWELL_E_* with `error`. The file must live until
 * dw_database_close(). */
int dw_database_open(struct dw_database *database, const struct dw_import_file *file, struct dwell_error *error);
void dw_database_close(struct dw_database *database);
/* Names the table of texts: see DW_TEXT_OF. */
void dw_database_use_strings(struct dw_database *database, const char *table, const char *id_column);
/* Whether the table has the column, and stores its values. */
bool dw_database_has(const struct dw_database *database, const char *table, const char *column);
bool dw_database_has_table(const struct dw_database *database, const char *table);
/* Whether the name of any table or view begins so. */
bool dw_database_has_prefix(const struct dw_database *database, const char *prefix);

/* Before the name of a column: its value is the id of a text, and the text is read instead. */
#define DW_TEXT_OF "$"

struct dw_rows {
	struct dw_database *database;
	void *statement;          /* NULL: there are no rows */
	const char *table;
	uint64_t row;             /* number of the current row, from 1 */
};

/* Reads `count` columns of a table. `where` is a condition in SQL with one parameter `?1`, which
 * becomes `value`; NULL: all rows. A table that does not exist has no rows. */
void dw_rows_open(struct dw_rows *rows, struct dw_database *database, const char *table,
                  const char *const *columns, unsigned count, const char *where, int64_t value);
/* Goes to the next row; false: there is none, and `rows` is closed. */
bool dw_rows_next(struct dw_rows *rows);
void dw_rows_close(struct dw_rows *rows);
/* Rows that are closed at the end of the block that declares them: DW_ROWS rows = { 0 }; */
#define DW_ROWS __attribute__((cleanup(dw_rows_close))) struct dw_rows

enum dw_rows_type { DW_ROWS_NONE, DW_ROWS_INTEGER, DW_ROWS_OTHER };
/* Whether a column of the current row has a value, and an integer. */
enum dw_rows_type dw_rows_type(const struct dw_rows *rows, unsigned column);
int64_t dw_rows_integer(const struct dw_rows *rows, unsigned column, int64_t fallback);
/* A text, or a byte string. Length 0 if there is none. It has a NUL behind it and lives until the
 * next row. */
struct dw_json_string dw_rows_text(const struct dw_rows *rows, unsigned column);
