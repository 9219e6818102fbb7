/*
 * The table `ranges`: a row for each recorded range, in the order in which they end on each stream.
 *
 * A cursor walks one chunk at a time, and holds the rows of that chunk. Conditions on step, tid and
 * start_ns become the scope of a model, so that chunks outside it are skipped; one on name is checked
 * before a row is made. SQLite checks all conditions again.
 *
 * For `group by name` SQLite would sort all rows, which takes most of the time. There are few names, so
 * the cursor walks everything first and then returns the rows of one name after the other.
 */
#include "base/free.h"
#include "base/order.h"
#include "query/inside.h"

#ifdef DW_HAVE_SQLITE
#include <sqlite3.h>
#include <stdio.h>
#include <string.h>

#include "base/grow.h"
#include "model/core/pass.h"
#include "model/core/scope.h"
#include "views/common.h"

enum { NAME, CATEGORY, STEP, THREAD, TID, PID, DEPTH, START, DURATION, SELF, ENDED };
#define RANGES_SCHEMA                                                                             \
	"CREATE TABLE x(name TEXT, category TEXT, step INTEGER, thread TEXT, tid INTEGER, pid INTEGER, " \
	"depth INTEGER, start_ns INTEGER, duration_ns INTEGER, self_ns INTEGER, ended INTEGER)"

/* Conditions that narrow the walk: bits of idxNum; their values come in this order. */
enum { BY_STEP = 1, BY_STEP_FROM = 2, BY_STEP_TO = 4, BY_TID = 8, BY_NAME = 16, BY_START_FROM = 32,
       BY_START_TO = 64, BY_ALL = 128, SORTED = 128 };
/* Larger traces are sorted by SQLite, in files: the rows take about four times the trace's size. */
#define RANGES_SORT_BYTES (256u << 20)

struct ranges_table {
	sqlite3_vtab base;
	struct dw_model *model;
	struct ranges_cursor *cursors; /* that are open */
};

struct ranges_row {
	uint64_t start, end, child; /* ticks */
	uint32_t symbol, thread, depth;
	bool ended;
};

struct ranges_frame {
	struct dw_frame frame;
	uint32_t symbol;
};

struct ranges_cursor {
	sqlite3_vtab_cursor base;
	struct ranges_cursor *next; /* of the table */
	struct dw_model *model;     /* of the scope; NULL: no row */
	bool *symbols;              /* by symbol: wanted; NULL: all */
	struct dw_frames frames;
	size_t stream, chunk;
	bool walking;
	bool collecting;            /* rows are kept until all are there */
	struct ranges_row *rows;
	size_t count, capacity, at;
	uint32_t *order;            /* rows by name; NULL: in the order of the walk */
	sqlite3_int64 id;
	size_t step;                /* index of the step that was found last */
};

struct ranges_pass {
	struct dw_pass pass;
	struct ranges_cursor *cursor;
};

struct ranges_state {
	struct ranges_cursor cursor;
	struct ranges_pass walk;
};

DW_INLINE void ranges_enter(void *state, void *place, uint64_t ticks, uint32_t id)
{
	struct ranges_pass *walk = state;
	struct ranges_frame *frame = place;

	frame->symbol = dw_walk_symbol(&walk->pass.walk, id);
	frame->frame.in_scope = dw_pass_in_scope(&walk->pass, ticks);
	dw_pass_link(&walk->pass, &frame->frame, 1);
}

DW_INLINE void ranges_leave(void *state, void *place, uint64_t ticks, enum dw_leave how)
{
	struct ranges_pass *walk = state;
	struct ranges_cursor *cursor = walk->cursor;
	const struct ranges_frame *frame = place;

	if (!frame->frame.in_scope || (cursor->symbols && !cursor->symbols[frame->symbol]))
		return;
	if (!DW_APPEND(&cursor->rows, &cursor->capacity, &cursor->count,
	               (struct ranges_row){ frame->frame.start, ticks, frame->frame.child, frame->symbol,
		           walk->pass.walk.thread, walk->pass.depth, how == DW_LEAVE_END }))
		walk->pass.walk.failed = true;
}

static const struct dw_pass_hooks ranges_hooks = {
	.frame_bytes = sizeof(struct ranges_frame), .deepest = DW_DEEPEST, .chains = true, .all_linked = true,
	.scoped = true, .enter = ranges_enter, .leave = ranges_leave,
};
DW_PASS_DEFINE(ranges, ranges_hooks)

/* ---- walking ---------------------------------------------------------------------------------- */

/* Walks until there is a row, or nothing is left. */
static int ranges_fill(struct ranges_state *state)
{
	struct ranges_cursor *cursor = &state->cursor;
	const struct dw_source *source = cursor->model ? dw_model_source(cursor->model) : NULL;

	while (source && (cursor->at == cursor->count || cursor->collecting)) {
		if (!cursor->collecting)
			cursor->at = cursor->count = 0;
		if (cursor->stream == source->stream_count)
			return SQLITE_OK;
		if (!cursor->walking && !dw_scope_has_stream(cursor->model, &source->streams[cursor->stream])) {
			cursor->stream++;
			continue;
		}
		if (!cursor->walking) {
			memset(&state->walk, 0, sizeof state->walk);
			dw_pass_init(&state->walk.pass, cursor->model, cursor->stream, &cursor->frames);
			state->walk.cursor = cursor;
			cursor->walking = true;
			cursor->chunk = 0;
		}
		if (cursor->chunk < source->streams[cursor->stream].chunk_count) {
			ranges_chunk(&state->walk.pass, cursor->chunk++);
		} else {
			ranges_finish(&state->walk.pass);
			cursor->walking = false;
			cursor->stream++;
		}
		if (state->walk.pass.walk.failed)
			return SQLITE_NOMEM;
	}
	return SQLITE_OK;
}

/* A join with steps has a scope for each of them, which is freed with its last cursor. */
static void ranges_leave_scope(struct ranges_cursor *cursor)
{
	const struct ranges_cursor *other = ((struct ranges_table *)cursor->base.pVtab)->cursors;
	struct dw_model *model = cursor->model;

	cursor->model = NULL;
	while (other && other->model != model)
		other = other->next;
	if (!other)
		dw_model_forget(model);
}

static void ranges_rewind(struct ranges_cursor *cursor)
{
	cursor->stream = cursor->chunk = cursor->at = cursor->count = cursor->step = 0;
	cursor->walking = cursor->collecting = false;
	free(cursor->order);
	cursor->order = NULL;
	cursor->id = 0;
	ranges_leave_scope(cursor);
	free(cursor->symbols);
	cursor->symbols = NULL;
}

/* ---- rows by name ------------------------------------------------------------------------------ */

struct ranges_name {
	const char *name;
	uint32_t symbol;
};

DW_ORDER(ranges_compare_names, struct ranges_name, DW_TEXT(name))

/* By symbol: the rank of its name; several symbols may have one name. NULL: out of memory. */
static uint32_t *ranges_rank_names(struct dw_model *model, size_t *count)
{
	const struct dw_symbol *symbols = dw_model_symbols(model, count);
	struct ranges_name *names = malloc((*count + 1) * sizeof *names);
	uint32_t *ranks = malloc((*count + 1) * sizeof *ranks), rank = 0;

	for (size_t i = 0; names && i < *count; i++)
		names[i] = (struct ranges_name){ symbols[i].name, (uint32_t)i };
	if (names && *count)
		qsort(names, *count, sizeof *names, ranges_compare_names);
	for (size_t i = 0; names && ranks && i < *count; i++) {
		rank += i && ranges_compare_names(&names[i], &names[i - 1]) != 0;
		ranks[names[i].symbol] = rank;
	}
	if (!names) {
		free(ranks);
		ranks = NULL;
	}
	free(names);
	return ranks;
}

/* Walks everything, and puts the rows in the order of their names. */
static int ranges_collect(struct ranges_state *state)
{
	struct ranges_cursor *cursor = &state->cursor;
	size_t symbols, *places;
	uint32_t *ranks;
	int code;

	cursor->collecting = true;
	code = ranges_fill(state);
	cursor->collecting = false;
	if (code || cursor->count >= UINT32_MAX)
		return code ? code : SQLITE_NOMEM;
	ranks = ranges_rank_names(cursor->model, &symbols);
	places = calloc(symbols + 2, sizeof *places);
	cursor->order = malloc((cursor->count + 1) * sizeof *cursor->order);
	code = ranks && places && cursor->order ? SQLITE_OK : SQLITE_NOMEM;
	for (size_t i = 0; !code && i < cursor->count; i++)
		places[ranks[cursor->rows[i].symbol] + 1]++;
	for (size_t i = 1; !code && i < symbols; i++)
		places[i] += places[i - 1];
	for (size_t i = 0; !code && i < cursor->count; i++)
		cursor->order[places[ranks[cursor->rows[i].symbol]]++] = (uint32_t)i;
	DW_FREE(places, ranks);
	return code;
}

/* Whether the statement needs the rows by name and nothing else, and they fit in memory. */
static bool ranges_can_sort(sqlite3_vtab *vtab, const sqlite3_index_info *info)
{
	const struct dw_source *source = dw_model_source(((struct ranges_table *)vtab)->model);
	uint64_t bytes = 0;

	for (size_t i = 0; i < source->file_count; i++)
		bytes += source->files[i].size_bytes;
	return info->nOrderBy == 1 && info->aOrderBy[0].iColumn == NAME && !info->aOrderBy[0].desc &&
	       bytes <= RANGES_SORT_BYTES;
}

/* ---- conditions ------------------------------------------------------------------------------- */

/* The bit of a condition, or 0. */
static int ranges_condition(int column, unsigned char op)
{
	if (op == SQLITE_INDEX_CONSTRAINT_EQ)
		return column == STEP ? BY_STEP : column == TID ? BY_TID : column == NAME ? BY_NAME : 0;
	if (op == SQLITE_INDEX_CONSTRAINT_GE || op == SQLITE_INDEX_CONSTRAINT_GT)
		return column == STEP ? BY_STEP_FROM : column == START ? BY_START_FROM : 0;
	if (op == SQLITE_INDEX_CONSTRAINT_LE || op == SQLITE_INDEX_CONSTRAINT_LT)
		return column == STEP ? BY_STEP_TO : column == START ? BY_START_TO : 0;
	return 0;
}

static int ranges_best_index(sqlite3_vtab *vtab, sqlite3_index_info *info)
{
	int used[BY_ALL] = { 0 }, number = 0; /* by bit: index of the condition + 1 */

	for (int i = 0; i < info->nConstraint; i++) {
		int bit = ranges_condition(info->aConstraint[i].iColumn, info->aConstraint[i].op);

		if (bit && info->aConstraint[i].usable)
			used[bit] = i + 1;
	}
	info->estimatedCost = 1e7;
	info->estimatedRows = 10000000;
	for (int bit = 1; bit < BY_ALL; bit <<= 1)
		if (used[bit]) {
			info->aConstraintUsage[used[bit] - 1].argvIndex = ++number;
			info->idxNum |= bit;
			info->estimatedCost /= bit == BY_STEP ? 1000 : 4;
		}
	info->estimatedRows = (sqlite3_int64)info->estimatedCost;
	info->orderByConsumed = ranges_can_sort(vtab, info);
	info->idxNum |= info->orderByConsumed ? SORTED : 0;
	return SQLITE_OK;
}

static bool ranges_want_name(struct ranges_cursor *cursor, struct dw_model *model, const char *name)
{
	size_t count;
	const struct dw_symbol *symbols = dw_model_symbols(model, &count);

	cursor->symbols = calloc(count + 1, sizeof *cursor->symbols);
	for (size_t i = 0; cursor->symbols && i < count; i++)
		cursor->symbols[i] = name && strcmp(symbols[i].name, name) == 0;
	return cursor->symbols != NULL;
}

static uint64_t ranges_number(sqlite3_value *value)
{
	sqlite3_int64 number = sqlite3_value_int64(value);

	return number < 0 ? 0 : (uint64_t)number;
}

/* Sets the scope of the conditions. "> 4.5" must not lose 5, nor "< 4.5" 4: conditions on numbers that
 * are no integers are left to SQLite. */
static bool ranges_set_scope(struct ranges_cursor *cursor, struct dw_model *model, int bits,
                             sqlite3_value **values, struct dw_scope *scope, char tid[24])
{
	scope->steps_to = scope->to_ns = UINT64_MAX;
	for (int bit = 1, i = 0; bit < BY_ALL; bit <<= 1) {
		sqlite3_value *value = bits & bit ? values[i++] : NULL;

		if (value && bit == BY_NAME && !ranges_want_name(cursor, model, (const char *)sqlite3_value_text(value)))
			return false;
		if (!value || bit == BY_NAME || sqlite3_value_type(value) != SQLITE_INTEGER)
			continue;
		scope->has_steps |= bit <= BY_STEP_TO;
		scope->has_window |= bit >= BY_START_FROM;
		switch (bit) {
		case BY_STEP: scope->steps_from = scope->steps_to = ranges_number(value); break;
		case BY_STEP_FROM: scope->steps_from = ranges_number(value); break;
		case BY_STEP_TO: scope->steps_to = ranges_number(value); break;
		case BY_START_FROM: scope->from_ns = ranges_number(value); break;
		case BY_START_TO: scope->to_ns = ranges_number(value) + 1; break;
		case BY_TID:
			snprintf(tid, 24, "%llu", (unsigned long long)ranges_number(value));
			scope->thread = tid;
			break;
		}
	}
	return true;
}

static int ranges_filter(sqlite3_vtab_cursor *base, int bits, const char *text, int count, sqlite3_value **values)
{
	struct ranges_state *state = (struct ranges_state *)base;
	struct dw_model *model = ((struct ranges_table *)base->pVtab)->model;
	struct dwell_error error = { 0, "" };
	struct dw_scope scope = { .has_steps = false };
	char tid[24];
	int code;

	ranges_rewind(&state->cursor);
	if (!ranges_set_scope(&state->cursor, model, bits, values, &scope, tid))
		return SQLITE_NOMEM;
	if (scope.has_steps)
		scope.has_window = false;
	if (scope.has_steps && scope.steps_from > scope.steps_to)
		return SQLITE_OK;
	code = dw_model_within(model, &scope, &state->cursor.model, &error);
	if (code) /* a step or thread that does not exist has no rows */
		state->cursor.model = NULL;
	if (code == DWELL_E_NOMEM)
		return SQLITE_NOMEM;
	return bits & SORTED && !code ? ranges_collect(state) : ranges_fill(state);
}

/* ---- rows ------------------------------------------------------------------------------------- */

/* The step of the range's process that began last before `ns`, if it had not ended. */
static bool ranges_find_step(struct ranges_cursor *cursor, uint32_t process, uint64_t ns, uint64_t *number)
{
	const struct dw_source_step *step = dw_source_step_at(dw_model_source(cursor->model), process, ns, &cursor->step);

	if (step)
		*number = step->number;
	return step != NULL;
}

static void ranges_put_thread(const struct ranges_cursor *cursor, sqlite3_context *to, uint32_t thread)
{
	char name[256];

	dw_model_thread_name(cursor->model, thread, name, sizeof name);
	sqlite3_result_text(to, name, -1, SQLITE_TRANSIENT);
}

static int ranges_column(sqlite3_vtab_cursor *base, sqlite3_context *to, int column)
{
	struct ranges_cursor *cursor = (struct ranges_cursor *)base;
	const struct ranges_row *row = &cursor->rows[cursor->order ? cursor->order[cursor->at] : cursor->at];
	const struct dw_source *source = dw_model_source(cursor->model);
	const struct dw_source_thread *thread = &source->threads[row->thread];
	const struct dw_source_clock *clock = &source->files[source->processes[thread->process].file].clock;
	const struct dw_symbol *symbol = &cursor->model->symbols[row->symbol];
	uint64_t start = dw_source_ns(clock, row->start), number;

	switch (column) {
	case NAME: sqlite3_result_text(to, symbol->name, -1, SQLITE_STATIC); break;
	case CATEGORY: sqlite3_result_text(to, dw_view_category(symbol->category), -1, SQLITE_STATIC); break;
	case STEP:
		if (ranges_find_step(cursor, thread->process, start, &number))
			sqlite3_result_int64(to, (sqlite3_int64)number);
		break;
	case THREAD: ranges_put_thread(cursor, to, row->thread); break;
	case TID: sqlite3_result_int64(to, thread->tid); break;
	case PID: sqlite3_result_int64(to, source->processes[thread->process].pid); break;
	case DEPTH: sqlite3_result_int64(to, row->depth); break;
	case START: sqlite3_result_int64(to, (sqlite3_int64)start); break;
	case DURATION: sqlite3_result_int64(to, (sqlite3_int64)(dw_source_ns(clock, row->end) - start)); break;
	case SELF:
		sqlite3_result_int64(to, (sqlite3_int64)((double)(row->end - row->start - row->child) *
		                                         clock->ns_per_tick + 0.5));
		break;
	case ENDED: sqlite3_result_int64(to, row->ended); break;
	}
	return SQLITE_OK;
}

static int ranges_next(sqlite3_vtab_cursor *base)
{
	struct ranges_state *state = (struct ranges_state *)base;

	state->cursor.at++;
	state->cursor.id++;
	return ranges_fill(state);
}

static int ranges_eof(sqlite3_vtab_cursor *base)
{
	const struct ranges_cursor *cursor = (struct ranges_cursor *)base;

	return !cursor->model || cursor->at == cursor->count;
}

static int ranges_rowid(sqlite3_vtab_cursor *base, sqlite3_int64 *id)
{
	*id = ((struct ranges_cursor *)base)->id;
	return SQLITE_OK;
}

/* ---- the module ----------------------------------------------------------------------------- */

static int ranges_connect(sqlite3 *database, void *model, int count, const char *const *arguments,
                          sqlite3_vtab **to, char **message)
{
	struct ranges_table *table = sqlite3_malloc(sizeof *table);

	if (!table)
		return SQLITE_NOMEM;
	memset(table, 0, sizeof *table);
	table->model = model;
	*to = &table->base;
	return sqlite3_declare_vtab(database, RANGES_SCHEMA);
}

static int ranges_disconnect(sqlite3_vtab *table)
{
	sqlite3_free(table);
	return SQLITE_OK;
}

static int ranges_open(sqlite3_vtab *table, sqlite3_vtab_cursor **to)
{
	struct ranges_state *state = calloc(1, sizeof *state);

	if (!state)
		return SQLITE_NOMEM;
	state->cursor.next = ((struct ranges_table *)table)->cursors;
	((struct ranges_table *)table)->cursors = &state->cursor;
	*to = &state->cursor.base;
	return SQLITE_OK;
}

static int ranges_close(sqlite3_vtab_cursor *base)
{
	struct ranges_state *state = (struct ranges_state *)base;
	struct ranges_cursor **at = &((struct ranges_table *)base->pVtab)->cursors;

	ranges_rewind(&state->cursor);
	while (*at != &state->cursor)
		at = &(*at)->next;
	*at = state->cursor.next;
	dw_frames_reset(&state->cursor.frames);
	DW_FREE(state->cursor.rows, state);
	return SQLITE_OK;
}

static const sqlite3_module ranges_module = {
	.xConnect = ranges_connect, .xDisconnect = ranges_disconnect, .xBestIndex = ranges_best_index,
	.xOpen = ranges_open, .xClose = ranges_close, .xFilter = ranges_filter, .xNext = ranges_next,
	.xEof = ranges_eof, .xColumn = ranges_column, .xRowid = ranges_rowid,
};

int dw_query_add_ranges(sqlite3 *database, struct dw_model *model)
{
	return sqlite3_create_module(database, "ranges", &ranges_module, model);
}
#else
typedef int ranges_unused; /* a file of C is not empty */
#endif
