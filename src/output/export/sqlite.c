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

#include "base/arena.h"
#include "base/grow.h"
#include "model/device/device.h"
#include "model/steps/steps.h"

enum sqlite_table { RANGES, MARKS, COUNTERS, ALLOCATIONS, FLOWS, ASYNC, STEPS, DEVICE, THREADS, PROCESSES,
	                METADATA, LOSSES, RUN, SQLITE_TABLES };

/* A value a column; the statements are made from these. */
static const struct { const char *name, *columns; int count; } sqlite_tables[] = {
	[RANGES] = { "ranges", "name TEXT, category TEXT, step INTEGER, thread TEXT, tid INTEGER, pid INTEGER, "
	             "depth INTEGER, start_ns INTEGER, duration_ns INTEGER, self_ns INTEGER, ended INTEGER, "
	             "arguments TEXT", 12 },
	[MARKS] = { "marks", "name TEXT, step INTEGER, tid INTEGER, pid INTEGER, time_ns INTEGER, "
	            "arguments TEXT", 6 },
	[COUNTERS] = { "counters", "name TEXT, step INTEGER, tid INTEGER, pid INTEGER, time_ns INTEGER, "
	               "value REAL, unit TEXT", 7 },
	[ALLOCATIONS] = { "allocations", "kind TEXT, step INTEGER, tid INTEGER, pid INTEGER, time_ns INTEGER, "
	                  "address INTEGER, size_bytes INTEGER, category TEXT, device TEXT", 9 },
	[FLOWS] = { "flows", "name TEXT, step INTEGER, tid INTEGER, pid INTEGER, time_ns INTEGER, handle INTEGER, "
	            "direction TEXT", 7 },
	[ASYNC] = { "async_ranges", "name TEXT, step INTEGER, tid INTEGER, pid INTEGER, start_ns INTEGER, "
	            "duration_ns INTEGER, handle INTEGER, ended INTEGER, arguments TEXT", 9 },
	[STEPS] = { "steps", "step INTEGER, thread TEXT, start_ns INTEGER, duration_ns INTEGER, cpu_ns INTEGER, "
	            "operators INTEGER, counted INTEGER, tid INTEGER, pid INTEGER", 9 },
	[DEVICE] = { "device_events", "name TEXT, kind TEXT, device INTEGER, stream INTEGER, start_ns INTEGER, "
	             "duration_ns INTEGER, size_bytes INTEGER, call TEXT, call_start_ns INTEGER, pid INTEGER", 10 },
	[THREADS] = { "threads", "thread TEXT, tid INTEGER, pid INTEGER, start_ns INTEGER", 4 },
	[PROCESSES] = { "processes", "pid INTEGER, name TEXT, command TEXT, rank INTEGER, start_ns INTEGER, "
	                "end_ns INTEGER", 6 },
	[METADATA] = { "metadata", "pid INTEGER, key TEXT, value TEXT", 3 },
	[LOSSES] = { "losses", "cause TEXT, records INTEGER", 2 },
	[RUN] = { "run", "path TEXT, began_unix_ns INTEGER, end_ns INTEGER, written_by TEXT", 4 },
};

static const char sqlite_views[] = "CREATE VIEW operators AS SELECT name, count(*) AS calls, sum(self_ns) AS self_ns, "
    "sum(duration_ns) AS total_ns, min(duration_ns) AS min_ns, max(duration_ns) AS max_ns "
    "FROM ranges WHERE category = 'operator' GROUP BY name ORDER BY self_ns DESC;"
    "CREATE VIEW kernels AS SELECT name, count(*) AS calls, sum(duration_ns) AS total_ns "
    "FROM device_events WHERE kind = 'kernel' GROUP BY name ORDER BY total_ns DESC;"
    "CREATE INDEX ranges_by_step ON ranges(step); CREATE INDEX ranges_by_name ON ranges(name);";

struct sqlite_writer {
	struct dw_model *model;
	const struct dw_source *source;
	const struct dw_symbol *symbols;
	sqlite3 *database;
	sqlite3_stmt *insert[SQLITE_TABLES];
	const char **threads;  /* names by thread */
	struct dw_arena arena;
	uint64_t *child;       /* by depth: time of the ranges that ended there, for self times */
	size_t child_count;    /* depths from here on are 0 */
	size_t child_capacity;
	uint32_t thread;       /* whose ranges `child` is of */
	bool nested;
	size_t step;           /* index of the step that was found last */
	int code;              /* the first error of SQLite */
};

/* ---- rows ----------------------------------------------------------------------------------------- */

/* A value of a row: a text that is NULL is null, too. */
struct sqlite_value {
	enum { SQLITE_IS_NULL, SQLITE_IS_INT, SQLITE_IS_REAL, SQLITE_IS_TEXT } is;
	union {
		uint64_t number;
		double real;
		const char *text;
	};
};
#define NOTHING ((struct sqlite_value){ .is = SQLITE_IS_NULL })
#define INT(value) ((struct sqlite_value){ .is = SQLITE_IS_INT, .number = (uint64_t)(value) })
#define REAL(value) ((struct sqlite_value){ .is = SQLITE_IS_REAL, .real = (value) })
#define STRING(value) ((struct sqlite_value){ .is = SQLITE_IS_TEXT, .text = (value) })

/* Adds a row with values in the order of the columns. */
#define SQLITE_PUT(to, table, ...) sqlite_put(to, table, (const struct sqlite_value[]){ __VA_ARGS__ })
static void sqlite_put(struct sqlite_writer *to, enum sqlite_table table, const struct sqlite_value *values)
{
	sqlite3_stmt *insert = to->insert[table];
	int code;

	for (int i = 0; i < sqlite_tables[table].count; i++)
		if (values[i].is == SQLITE_IS_INT)
			sqlite3_bind_int64(insert, i + 1, (sqlite3_int64)values[i].number);
		else if (values[i].is == SQLITE_IS_REAL)
			sqlite3_bind_double(insert, i + 1, values[i].real);
		else
			sqlite3_bind_text(insert, i + 1, values[i].is == SQLITE_IS_TEXT ? values[i].text : NULL, -1, SQLITE_STATIC);
	code = sqlite3_step(insert);
	if (code != SQLITE_DONE && !to->code)
		to->code = code;
	sqlite3_reset(insert);
}

/* The step that a moment of a process belongs to; outside the steps null. */
static struct sqlite_value sqlite_step(struct sqlite_writer *to, uint32_t process, uint64_t ns)
{
	const struct dw_source_step *step = dw_source_step_at(to->source, process, ns, &to->step);

	return step ? INT(step->number) : NOTHING;
}

static const char *sqlite_category(uint32_t category)
{
	return dw_category_name(category) ? dw_category_name(category) : "unknown";
}

/* ---- events --------------------------------------------------------------------------------------- */

/* The time of the ranges directly in this one, which ended before it on the same stream. */
static uint64_t sqlite_take_child(struct sqlite_writer *to, const struct dw_event *event)
{
	uint64_t length = event->end_ns - event->start_ns, child;

	if (event->thread != to->thread || event->nested != to->nested) {
		for (size_t i = 0; i < to->child_count; i++)
			to->child[i] = 0;
		to->thread = event->thread;
		to->nested = event->nested;
	}
	while (to->child_count < (size_t)event->depth + 2) {
		if (!DW_GROW(&to->child, &to->child_capacity, to->child_count)) {
			to->code = to->code ? to->code : SQLITE_NOMEM;
			return 0;
		}
		to->child_count++;
	}
	child = to->child[event->depth + 1];
	to->child[event->depth + 1] = 0;
	to->child[event->depth] += length;
	return child < length ? child : length;
}

static void sqlite_put_range(struct sqlite_writer *to, const struct dw_event *event)
{
	const struct dw_symbol *symbol = &to->symbols[event->symbol];
	const struct dw_source_thread *thread = &to->source->threads[event->thread];
	uint64_t length = event->end_ns - event->start_ns, child = sqlite_take_child(to, event);

	SQLITE_PUT(to, RANGES, STRING(symbol->name), STRING(sqlite_category(symbol->category)),
	           sqlite_step(to, thread->process, event->start_ns), STRING(to->threads[event->thread]), INT(thread->tid),
	           INT(to->source->processes[thread->process].pid), INT(event->depth), INT(event->start_ns), INT(length),
	           INT(length - child), INT(!event->open), STRING(event->args));
}

static void sqlite_put_other(struct sqlite_writer *to, const struct dw_event *event)
{
	const struct dw_symbol *symbol = &to->symbols[event->symbol];
	const struct dw_source_thread *thread = &to->source->threads[event->thread];
	const bool allocates = event->type == DW_EVENT_ALLOC;
	/* Columns that all these tables have after the name. */
	const struct sqlite_value step = sqlite_step(to, thread->process, event->start_ns), tid = INT(thread->tid);
	const struct sqlite_value pid = INT(to->source->processes[thread->process].pid), start = INT(event->start_ns);

	if (allocates || event->type == DW_EVENT_FREE)
		SQLITE_PUT(to, ALLOCATIONS, STRING(allocates ? "allocation" : "free"), step, tid, pid, start, INT(event->handle),
		           allocates ? INT(event->size_bytes) : NOTHING, STRING(symbol->name), STRING(symbol->detail));
	else if (event->type == DW_EVENT_COUNTER)
		SQLITE_PUT(to, COUNTERS, STRING(symbol->name), step, tid, pid, start, REAL(event->value), STRING(symbol->detail));
	else if (event->type == DW_EVENT_ASYNC)
		SQLITE_PUT(to, ASYNC, STRING(symbol->name), step, tid, pid, start, INT(event->end_ns - event->start_ns),
		           INT(event->handle), INT(!event->open), STRING(event->args));
	else if (event->type == DW_EVENT_MARK)
		SQLITE_PUT(to, MARKS, STRING(symbol->name), step, tid, pid, start, STRING(event->args));
	else
		SQLITE_PUT(to, FLOWS, STRING(symbol->name), step, tid, pid, start, INT(event->handle),
		           STRING(event->type == DW_EVENT_FLOW_OUT ? "out" : "in"));
}

static int sqlite_put_event(void *context, const struct dw_event *event)
{
	struct sqlite_writer *to = context;

	if (event->type == DW_EVENT_RANGE)
		sqlite_put_range(to, event);
	else
		sqlite_put_other(to, event);
	return to->code;
}

/* ---- the other tables ------------------------------------------------------------------------------- */

static int sqlite_put_steps(struct sqlite_writer *to, struct dwell_error *error)
{
	const struct dw_steps *steps = dw_model_steps(to->model, error);

	for (size_t i = 0; steps && i < steps->count; i++) {
		const struct dw_step *step = &steps->steps[i];
		const struct dw_source_thread *thread = &to->source->threads[step->thread];

		SQLITE_PUT(to, STEPS, INT(step->number), STRING(to->threads[step->thread]), INT(step->start_ns),
		           INT(step->end_ns - step->start_ns), step->cpu_ns ? INT(step->cpu_ns) : NOTHING,
		           INT(step->operator_count), INT(step->counted), INT(thread->tid),
		           INT(to->source->processes[thread->process].pid));
	}
	return steps ? 0 : DWELL_E_NOMEM;
}

static const char *sqlite_device_kind(uint32_t kind)
{
	static const char *const names[] = { [DW_DEVICE_KERNEL] = "kernel", [DW_DEVICE_COPY] = "copy",
		[DW_DEVICE_SET] = "memory set", [DW_DEVICE_SYNC] = "wait", [DW_DEVICE_GRAPH] = "graph",
		[DW_DEVICE_MEMORY] = "memory", [DW_DEVICE_OVERHEAD] = "overhead", [DW_DEVICE_RANGE] = "range",
		[DW_DEVICE_RECORD] = "event", [DW_DEVICE_CALL] = "call" };

	return kind < sizeof names / sizeof *names && names[kind] ? names[kind] : "unknown";
}

static int sqlite_put_device(struct sqlite_writer *to, struct dwell_error *error)
{
	const struct dw_device_work *work = dw_model_device_work(to->model, error);

	for (size_t i = 0; work && i < work->event_count; i++) {
		const struct dw_device_event *event = &work->events[i];
		const struct dw_source_queue *queue = &to->source->queues[event->queue];
		const struct dw_source_device *device = &to->source->devices[queue->device];
		const struct dw_device_call *call = event->call == DW_NO_INDEX ? NULL : &work->calls[event->call];

		if (!event->in_scope)
			continue;
		SQLITE_PUT(to, DEVICE, STRING(work->names[event->name].name), STRING(sqlite_device_kind(event->kind)),
		           INT(device->number), queue->number == DW_QUEUE_NONE ? NOTHING : INT(queue->number),
		           INT(event->start_ns), INT(event->end_ns - event->start_ns), INT(event->bytes),
		           STRING(call ? to->symbols[call->symbol].name : NULL), call ? INT(call->start_ns) : NOTHING,
		           INT(to->source->processes[device->process].pid));
	}
	return work ? 0 : DWELL_E_NOMEM;
}

static void sqlite_put_people(struct sqlite_writer *to)
{
	const struct dw_source *source = to->source;

	for (size_t i = 0; i < source->thread_count; i++)
		SQLITE_PUT(to, THREADS, STRING(to->threads[i]), INT(source->threads[i].tid),
		           INT(source->processes[source->threads[i].process].pid), INT(source->threads[i].start_ns));
	for (size_t i = 0; i < source->process_count; i++) {
		const struct dw_source_process *process = &source->processes[i];

		SQLITE_PUT(to, PROCESSES, INT(process->pid), STRING(process->name), STRING(process->command),
		           process->rank >= 0 ? INT(process->rank) : NOTHING, INT(process->start_ns), INT(process->end_ns));
	}
}

static void sqlite_put_run(struct sqlite_writer *to)
{
	const struct dw_source *source = to->source;

	for (size_t i = 0; i < source->meta_count; i++)
		SQLITE_PUT(to, METADATA, INT(source->processes[source->metas[i].process].pid), STRING(source->metas[i].key),
		           STRING(source->metas[i].value));
	for (size_t i = 0; i < DW_LOSS_SLOTS; i++)
		if (source->lost[i])
			SQLITE_PUT(to, LOSSES, STRING(dw_loss_cause(i) ? dw_loss_cause(i) : "unknown"), INT(source->lost[i]));
	for (size_t i = 0; i < source->file_count; i++)
		SQLITE_PUT(to, RUN, STRING(source->files[i].path), INT(source->realtime_start_ns), INT(source->end_ns),
		           STRING(source->files[i].head->writer));
}

/* ---- the database ------------------------------------------------------------------------------------ */

static int sqlite_prepare(struct sqlite_writer *to)
{
	int code = sqlite3_exec(to->database, "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; BEGIN", NULL,
	                        NULL, NULL);

	for (int i = 0; i < SQLITE_TABLES && !code; i++) {
		char sql[600];
		int used;

		snprintf(sql, sizeof sql, "CREATE TABLE %s(%s)", sqlite_tables[i].name, sqlite_tables[i].columns);
		code = sqlite3_exec(to->database, sql, NULL, NULL, NULL);
		used = snprintf(sql, sizeof sql, "INSERT INTO %s VALUES(?", sqlite_tables[i].name);
		for (int column = 1; column < sqlite_tables[i].count; column++)
			used += snprintf(sql + used, sizeof sql - (size_t)used, ",?");
		snprintf(sql + used, sizeof sql - (size_t)used, ")");
		if (!code)
			code = sqlite3_prepare_v2(to->database, sql, -1, &to->insert[i], NULL);
	}
	return code;
}

static int sqlite_name_threads(struct sqlite_writer *to)
{
	to->threads = dw_arena_alloc(&to->arena, (to->source->thread_count + 1) * sizeof *to->threads);
	for (uint32_t i = 0; to->threads && i < to->source->thread_count; i++) {
		char name[256];

		dw_model_thread_name(to->model, i, name, sizeof name);
		to->threads[i] = dw_arena_text(&to->arena, name, strlen(name));
		if (!to->threads[i])
			return SQLITE_NOMEM;
	}
	return to->threads ? SQLITE_OK : SQLITE_NOMEM;
}

/* Fills the database. Returns a code of dwell; those of SQLite are in `code`. */
static int sqlite_fill(struct sqlite_writer *to, struct dwell_error *error)
{
	int code;

	to->thread = DW_NO_INDEX;
	to->code = sqlite_name_threads(to);
	if (!to->code)
		to->code = sqlite_prepare(to);
	if (to->code)
		return 0;
	code = dw_model_events(to->model, sqlite_put_event, to, error);
	if (to->code)
		return 0;
	if (!code)
		code = sqlite_put_steps(to, error);
	if (!code)
		code = sqlite_put_device(to, error);
	sqlite_put_people(to);
	sqlite_put_run(to);
	if (!code && !to->code)
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
	struct sqlite_writer to = { .model = model, .source = dw_model_source(model),
		.symbols = dw_model_symbols(model, NULL) };
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
		code = sqlite_fill(&to, error);
	for (int i = 0; i < SQLITE_TABLES; i++)
		sqlite3_finalize(to.insert[i]);
	if (!code && to.code)
		code = sqlite_fail(&to, path, error);
	sqlite3_close(to.database);
	if (!code)
		code = sqlite_copy(fd, out, error);
	close(fd);
	free(to.child);
	dw_arena_reset(&to.arena);
	return code;
}
#endif

const struct dw_export_format dw_export_sqlite = {
	.name = "sqlite", .what = "a database with a row for each event, for pandas, DuckDB and sqlite3",
	.write = sqlite_write,
};
