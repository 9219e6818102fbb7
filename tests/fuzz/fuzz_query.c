/*
 * Property: whatever the text of a statement, `dwell query` answers it with a table or an error, within memory and time, and
 * without a fault. And conditions that narrow the walk of the table `ranges` select what SQLite selects from a copy of it.
 *
 * An input is its first byte, then bytes. Even: a statement. Odd: conditions of four bytes each, which are joined by AND: a column,
 * an operator, a value, and a number to add to it. The trace is the same for all. SQLite is limited in steps and memory, because a
 * statement may ask for any amount of both.
 */
#include <sqlite3.h>
#include <stdio.h>
#include <string.h>

#include "bounds.h"
#include "file.h"
#include "model/model.h"
#include "query/query.h"

#define QUERY_STEPS 200000
#define QUERY_HEAP_BYTES (24 << 20)
#define MOST_CONDITIONS 6

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct dw_source *query_source;
static struct dw_model *query_model; /* of one execution */
static unsigned steps_left;

/* ---- limits of SQLite ---------------------------------------------------------------------- */

static int count_steps(void *unused)
{
	(void)unused;
	return !steps_left || !--steps_left;
}

static int limit_database(sqlite3 *database, char **message, const struct sqlite3_api_routines *routines)
{
	(void)message;
	(void)routines;
	sqlite3_progress_handler(database, 100, count_steps, NULL);
	sqlite3_limit(database, SQLITE_LIMIT_LENGTH, 20000);
	sqlite3_limit(database, SQLITE_LIMIT_LIKE_PATTERN_LENGTH, 50);
	return SQLITE_OK;
}

/* ---- the trace ------------------------------------------------------------------------------ */

static size_t put_event(char *text, size_t size, const char *name, const char *kind, unsigned thread, unsigned start, unsigned length)
{
	return (size_t)snprintf(text, size, ",{\"ph\":\"X\",\"cat\":\"%s\",\"name\":\"%s\",\"pid\":7,\"tid\":%u,\"ts\":%u,\"dur\":%u}",
	                        kind, name, thread, start, length);
}

/* Four steps with operators, a thread without steps, and names that several ranges have. */
static size_t make_trace(char *text, size_t size)
{
	size_t at = (size_t)snprintf(text, size, "{\"traceEvents\":[{\"ph\":\"M\",\"name\":\"thread_name\",\"pid\":7,\"tid\":8,"
	                                         "\"args\":{\"name\":\"worker\"}}");

	for (unsigned i = 0; i < 4; i++) {
		unsigned start = 1000 + i * 100;
		char step[32];

		snprintf(step, sizeof step, "ProfilerStep#%u", i + 3);
		at += put_event(text + at, size - at, step, "user_annotation", 7, start, 90);
		at += put_event(text + at, size - at, "forward", "user_annotation", 7, start + 5, 40);
		at += put_event(text + at, size - at, "aten::mm", "cpu_op", 7, start + 10, 5 + i);
		at += put_event(text + at, size - at, "aten::relu", "cpu_op", 7, start + 20, 3);
		at += put_event(text + at, size - at, "aten::mm", "cpu_op", 7, start + 60, 10);
		at += put_event(text + at, size - at, "forward", "user_annotation", 8, start + 30 * i, 25);
		at += put_event(text + at, size - at, "7", "cpu_op", 8, start + 30 * i + 3, 4);
	}
	return at + (size_t)snprintf(text + at, size - at, "]}");
}

static void open_trace(void)
{
	const char *path = FILE_PATH;
	char text[8192];
	size_t bytes = make_trace(text, sizeof text);

	demand(bytes < sizeof text && sqlite3_auto_extension((void (*)(void))limit_database) == SQLITE_OK);
	sqlite3_hard_heap_limit64(QUERY_HEAP_BYTES);
	file_begin(bytes);
	file_write(0, text, bytes);
	demand(dw_source_open(&query_source, &path, 1, NULL) == 0 && query_source->step_count == 4);
}

/* ---- statements ------------------------------------------------------------------------------ */

/* The answer; NULL: an error. */
static struct dwell_table *ask(const char *sql)
{
	struct dwell_table *table = NULL;
	struct dwell_error error = { 0, "" };
	int code;

	steps_left = QUERY_STEPS / 100;
	code = dw_query_run(query_model, sql, 0, &table, &error);
	demand(code ? !table && memchr(error.message, '\0', sizeof error.message) && *error.message : table && !table->failed);
	for (size_t i = 0; table && i < table->row_count; i++)
		for (size_t column = 0; column < table->column_count; column++)
			demand(dw_table_at(table, i)[column].type != DW_CELL_TEXT || dw_table_at(table, i)[column].text);
	return table;
}

static bool cells_equal(const struct dw_cell *one, const struct dw_cell *other)
{
	if (one->type != other->type)
		return false;
	switch (one->type) {
	case DW_CELL_INT: return one->integer == other->integer;
	case DW_CELL_REAL: return !(one->real < other->real) && !(one->real > other->real);
	case DW_CELL_TEXT: return strcmp(one->text, other->text) == 0;
	default: return true;
	}
}

static void check_equal(const struct dwell_table *one, const struct dwell_table *other)
{
	demand(one->row_count == other->row_count && one->column_count == other->column_count);
	for (size_t i = 0; i < one->row_count; i++)
		for (size_t column = 0; column < one->column_count; column++)
			demand(cells_equal(&dw_table_at(one, i)[column], &dw_table_at(other, i)[column]));
}

/* A limit keeps SQLite from handing the conditions to the table, and the columns keep their types. */
static void check_conditions(const uint8_t *data, size_t size, const char *order)
{
	static const char *const columns[] = { "step", "tid", "name", "start_ns", "depth", "duration_ns", "self_ns", "thread", "pid",
		                                   "category", "ended" };
	static const char *const operators[] = { "=", "<", "<=", ">", ">=", "is", "<>", "is not" };
	static const char *const values[] = { "0", "3", "7", "1000000", "1.5", "'aten::mm'", "'7'", "'3'", "null", "''", "x'00'", "-1", "1e300",
		                                  "-1e300", "9223372036854775807", "-9223372036854775808", "'forward'", "'9e99'", "0.0/0", "depth" };
	char conditions[1024] = "1", sql[2][1400];
	struct dwell_table *answers[2];
	size_t at = 1;
	char add[8];

	for (size_t i = 0; i + 4 <= size && i / 4 < MOST_CONDITIONS; i += 4) {
		snprintf(add, sizeof add, "%+d", (int8_t)data[i + 3] / 2);
		at += (size_t)snprintf(conditions + at, sizeof conditions - at, " and %s %s %s%s", columns[data[i] % (sizeof columns / sizeof *columns)],
		                       operators[data[i + 1] % (sizeof operators / sizeof *operators)],
		                       values[data[i + 2] % (sizeof values / sizeof *values)], data[i + 3] & 1 ? add : "");
	}
	snprintf(sql[0], sizeof sql[0], "select * from ranges where %s order by %s", conditions, order);
	snprintf(sql[1], sizeof sql[1], "select * from (select * from ranges limit -1) where %s order by %s", conditions, order);
	for (unsigned i = 0; i < 2; i++)
		answers[i] = ask(sql[i]);
	demand(!answers[0] == !answers[1]);
	if (answers[0])
		check_equal(answers[0], answers[1]);
	for (unsigned i = 0; i < 2; i++)
		dw_table_destroy(answers[i]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct dw_scope scope = { .has_steps = false };
	char *sql = malloc(size + 1);

	if (!query_source)
		open_trace();
	bounds_begin();
	demand(dw_model_create(&query_model, query_source, &scope, NULL) == 0);
	if (sql && size && data[0] & 1) {
		check_conditions(data + 1, size - 1, data[0] & 2 ? "start_ns, depth, tid" : "name, start_ns, depth, tid");
	} else if (sql && size) {
		memcpy(sql, data + 1, size - 1);
		sql[size - 1] = '\0';
		dw_table_destroy(ask(sql));
	}
	dw_model_destroy(query_model);
	bounds_end(data, size, size);
	free(sql);
	return 0;
}
