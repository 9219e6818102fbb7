/* Tables: filling, sorting, cutting; see table.h. */
#include "table/table.h"

#include <assert.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>

#include "base/free.h"
#include "base/grow.h"

struct dwell_table *dw_table_create(const char *view, const struct dw_column *columns, size_t count)
{
	struct dwell_table *table = calloc(1, sizeof *table);

	if (!table)
		return NULL;
	table->view = view;
	table->column_count = count;
	table->coverage = 1;
	table->columns = dw_arena_alloc(&table->arena, count * sizeof *columns);
	table->spare = dw_arena_alloc(&table->arena, count * sizeof *table->spare);
	if (!table->columns || !table->spare) {
		dw_table_destroy(table);
		return NULL;
	}
	memcpy(table->columns, columns, count * sizeof *columns);
	return table;
}

void dw_table_destroy(struct dwell_table *table)
{
	while (table) {
		struct dwell_table *next = table->next;

		DW_FREE(table->cells, table->depths, table->notes, table->heads, table->gaps);
		dw_arena_reset(&table->arena);
		free(table);
		table = next;
	}
}

/* ---- filling ------------------------------------------------------------------------ */

static bool table_grow(struct dwell_table *table)
{
	size_t capacity = table->row_capacity ? table->row_capacity * 2 : 32;
	size_t row_bytes = table->column_count * sizeof *table->cells;
	struct dw_cell *cells = NULL;
	int *depths = NULL;

	if (capacity < SIZE_MAX / 2 / row_bytes)
		cells = realloc(table->cells, capacity * row_bytes);
	if (cells)
		table->cells = cells;
	if (cells && table->depths) {
		depths = realloc(table->depths, capacity * sizeof *depths);
		if (depths)
			table->depths = depths;
	}
	if (!cells || (table->depths && !depths))
		return false;
	table->row_capacity = capacity;
	return true;
}

/* A table becomes a tree with the first row that has a depth. */
static bool table_set_depth(struct dwell_table *table, int depth)
{
	if (depth && !table->depths) {
		table->depths = calloc(table->row_capacity, sizeof *table->depths);
		if (!table->depths)
			return false;
	}
	if (table->depths)
		table->depths[table->row_count] = depth;
	return true;
}

struct dw_cell *dw_table_row(struct dwell_table *table, int depth)
{
	struct dw_cell *row = table->spare;

	if ((table->row_count == table->row_capacity && !table_grow(table)) || !table_set_depth(table, depth))
		table->failed = true;
	else
		row = dw_table_at(table, table->row_count++);
	return memset(row, 0, table->column_count * sizeof *row);
}

static struct dw_cell *table_widen(struct dwell_table *table, const struct dw_cell *from, size_t count)
{
	struct dw_cell *to = dw_arena_alloc(&table->arena, count * sizeof *to);

	if (to)
		memset(to, 0, count * sizeof *to);
	if (to && from)
		memcpy(to, from, table->column_count * sizeof *to);
	return to;
}

void dw_table_add_columns(struct dwell_table *table, const struct dw_column *columns, size_t count)
{
	size_t before = table->column_count, after = before + count;
	struct dw_column *all = dw_arena_alloc(&table->arena, after * sizeof *all);
	struct dw_cell *spare = table_widen(table, NULL, after), *totals = NULL, *cells;

	if (table->totals)
		totals = table_widen(table, table->totals, after);
	cells = calloc(table->row_capacity ? table->row_capacity : 1, after * sizeof *cells);
	if (!all || !spare || !cells || (table->totals && !totals)) {
		free(cells);
		table->failed = true;
		return;
	}
	memcpy(all, table->columns, before * sizeof *all);
	memcpy(all + before, columns, count * sizeof *all);
	for (size_t i = 0; i < table->row_count; i++)
		memcpy(cells + i * after, dw_table_at(table, i), before * sizeof *cells);
	free(table->cells);
	table->cells = cells;
	table->columns = all;
	table->spare = spare;
	table->totals = totals;
	table->column_count = after;
}

struct dw_cell *dw_table_totals(struct dwell_table *table)
{
	if (!table->totals)
		table->totals = dw_arena_alloc(&table->arena, table->column_count * sizeof *table->totals);
	table->failed |= !table->totals;
	return table->totals ? table->totals : table->spare;
}

void dw_cell_text(struct dwell_table *table, struct dw_cell *cell, const char *text)
{
	char *copy = dw_arena_text(&table->arena, text, strlen(text));

	table->failed |= !copy;
	cell->type = DW_CELL_TEXT;
	cell->text = copy ? copy : "";
}

/* ---- rows that are structs --------------------------------------------------------------------- */

struct dwell_table *dw_table_choose(const char *view, const struct dw_column *columns, size_t count, unsigned has)
{
	struct dwell_table *table = dw_table_create(view, columns, count);
	size_t chosen = 0;

	for (size_t i = 0; table && i < count; i++) {
		if ((columns[i].only & has) != columns[i].only)
			continue;
		table->columns[chosen] = columns[i];
		table->columns[chosen++].data_only |= (columns[i].text_only & has) != columns[i].text_only;
	}
	if (table)
		table->column_count = chosen;
	return table;
}

static struct dw_cell table_number(const struct dw_column *column, bool there, double real, uint64_t whole)
{
	if (!there)
		return DW_EMPTY;
	return column->type == DW_CELL_REAL ? DW_REAL(real) : DW_INT(whole);
}

static struct dw_cell table_cell_of(const struct dw_column *column, const void *row, size_t row_size)
{
	const char *member = (const char *)row + column->member.offset;
	uint64_t whole;
	uint32_t small;
	double real;

	assert(column->member.type == DW_MEMBER_NONE || column->member.row_size == row_size);
	if (column->cell)
		return column->cell(row);
	switch (column->member.type) {
	case DW_MEMBER_CELL:
		return *(const struct dw_cell *)(const void *)member;
	case DW_MEMBER_TEXT:
		return DW_STRING(*(const char *const *)(const void *)member);
	case DW_MEMBER_DOUBLE:
		memcpy(&real, member, sizeof real);
		return table_number(column, !isnan(real), real, 0);
	case DW_MEMBER_U64:
		memcpy(&whole, member, sizeof whole);
		return table_number(column, whole != DW_NO_NUMBER, (double)whole, whole);
	case DW_MEMBER_U32:
		memcpy(&small, member, sizeof small);
		return table_number(column, small != UINT32_MAX, small, small);
	case DW_MEMBER_NONE:
	default:
		return DW_EMPTY;
	}
}

/* Copies a text; a text that is NULL is no value. */
static void table_set(struct dwell_table *table, struct dw_cell *to, const struct dw_cell *from)
{
	if (from->type != DW_CELL_TEXT)
		*to = *from;
	else if (from->text)
		dw_cell_text(table, to, from->text);
}

void dw_table_put(struct dwell_table *table, int depth, const void *row, size_t row_size)
{
	struct dw_cell *cells = dw_table_row(table, depth);

	for (size_t i = 0; i < table->column_count; i++) {
		const struct dw_column *column = &table->columns[i];
		struct dw_cell cell = table_cell_of(column, row, row_size);

		assert(column->cell || column->member.type != DW_MEMBER_NONE);
		assert(cell.type == DW_CELL_NONE || cell.type == column->type);
		table_set(table, &cells[i], &cell);
	}
}

static void table_sum(const struct dwell_table *table, size_t column, struct dw_cell *to)
{
	bool real = table->columns[column].type == DW_CELL_REAL;

	*to = real ? DW_REAL(0) : DW_INT(0);
	for (size_t i = 0; i < table->row_count; i++) {
		const struct dw_cell *cell = &dw_table_at(table, i)[column];

		if (cell->type == DW_CELL_NONE)
			continue;
		if (real)
			to->real += cell->real;
		else
			to->integer += cell->integer;
	}
}

void dw_table_put_totals(struct dwell_table *table, const void *row, size_t row_size)
{
	struct dw_cell *totals = dw_table_totals(table), cell;

	for (size_t i = 0; i < table->column_count; i++) {
		const struct dw_column *column = &table->columns[i];

		if (column->total == DW_TOTAL_SUM) {
			table_sum(table, i, &totals[i]);
			continue;
		}
		cell = column->total_text ? DW_STRING(column->total_text) : DW_EMPTY;
		if (column->total == DW_TOTAL_OWN)
			cell = table_cell_of(column, row, row_size);
		table_set(table, &totals[i], &cell);
	}
}

static const struct { const char *word, *mark; } labels[] = {
#define X(name, word, mark) { word, mark },
	DW_LABELS(X)
#undef X
};

const char *dw_label_word(enum dw_label label)
{
	return labels[label].word;
}

const char *dw_line_words(const struct dw_line *line)
{
	return line->text + strlen(labels[line->label].mark);
}

/* Returns a copy, or NULL if memory is out. */
static const char *table_write_line(struct dwell_table *table, const char *mark, const char *format, va_list args)
{
	char line[1024];
	size_t used = (size_t)snprintf(line, sizeof line, "%s", mark);

	vsnprintf(line + used, sizeof line - used, format, args);
	return dw_arena_text(&table->arena, line, strlen(line));
}

static void table_add_line(struct dwell_table *table, bool below, enum dw_label label, const char *format, va_list args)
{
	struct dw_line **lines = below ? &table->notes : &table->heads;
	size_t *count = below ? &table->note_count : &table->head_count;
	struct dw_line *slot = DW_GROW(lines, below ? &table->note_capacity : &table->head_capacity, *count);
	const char *copy = table_write_line(table, labels[label].mark, format, args);

	if (slot && copy)
		(*lines)[(*count)++] = (struct dw_line){ label, copy };
	else
		table->failed = true;
}

#define TABLE_SAY(table, below, label, format)                  \
	do {                                                        \
		va_list args;                                           \
		va_start(args, format);                                 \
		table_add_line(table, below, label, format, args);      \
		va_end(args);                                           \
	} while (0)

void dw_table_say(struct dwell_table *table, enum dw_label label, const char *format, ...)
{
	TABLE_SAY(table, false, label, format);
}

void dw_table_say_below(struct dwell_table *table, enum dw_label label, const char *format, ...)
{
	TABLE_SAY(table, true, label, format);
}

void dw_table_note(struct dwell_table *table, const char *format, ...)
{
	TABLE_SAY(table, true, DW_LABEL_NONE, format);
}

void dw_table_head(struct dwell_table *table, const char *format, ...)
{
	TABLE_SAY(table, false, DW_LABEL_NONE, format);
}

void dw_table_gap(struct dwell_table *table, const char *format, ...)
{
	const char **slot = DW_GROW(&table->gaps, &table->gap_capacity, table->gap_count), *copy;
	va_list args;

	va_start(args, format);
	copy = table_write_line(table, "", format, args);
	va_end(args);
	if (slot && copy)
		table->gaps[table->gap_count++] = copy;
	else
		table->failed = true;
}

struct dw_column *dw_table_named(const struct dwell_table *table, const char *name)
{
	int index = dw_table_column(table, name);

	assert(index >= 0);
	return &table->columns[index];
}

int dw_table_column(const struct dwell_table *table, const char *name)
{
	for (size_t i = 0; i < table->column_count; i++)
		if (strcmp(table->columns[i].name, name) == 0)
			return (int)i;
	return -1;
}

/* ---- order ------------------------------------------------------------------------------ */

struct key {
	const struct dw_cell *cell;
	size_t row, next; /* its subtree consists of the rows row..next - 1 */
};

static bool table_is_empty(const struct dw_cell *cell)
{
	return cell->type == DW_CELL_NONE || (cell->type == DW_CELL_REAL && isnan(cell->real));
}

static double table_value_of(const struct dw_cell *cell)
{
	return cell->type == DW_CELL_INT ? (double)cell->integer : cell->real;
}

static int table_compare_cells(const struct dw_cell *a, const struct dw_cell *b)
{
	if (table_is_empty(a) || table_is_empty(b))
		return table_is_empty(a) - table_is_empty(b);
	if (a->type == DW_CELL_TEXT && b->type == DW_CELL_TEXT)
		return strcmp(a->text, b->text);
	if (a->type == DW_CELL_TEXT || b->type == DW_CELL_TEXT)
		return (a->type != DW_CELL_TEXT) - (b->type != DW_CELL_TEXT);
	if (a->type == DW_CELL_INT && b->type == DW_CELL_INT)
		return (b->integer > a->integer) - (b->integer < a->integer);
	return (table_value_of(b) > table_value_of(a)) - (table_value_of(b) < table_value_of(a));
}

static int table_compare_keys(const void *left, const void *right)
{
	const struct key *a = left, *b = right;
	int order = table_compare_cells(a->cell, b->cell);

	return order ? order : (a->row > b->row) - (a->row < b->row);
}

static size_t table_subtree_end(const struct dwell_table *table, size_t row, size_t end)
{
	size_t next = row + 1;

	while (table->depths && next < end && table->depths[next] > table->depths[row])
		next++;
	return next;
}

/* Rows below this depth are not sorted: a damaged trace may be nested a million levels deep, which
 * would overflow the stack. */
#define DEEPEST_SORTED 4096

/*
 * Sorts the siblings in start..end - 1 and their subtrees. `order` receives the rows, and `keys`
 * has the same capacity. The keys of siblings are needed until their subtrees are sorted, so each
 * level uses the front of the remaining keys. This is enough, because no row belongs to two levels.
 */
static void table_sort_level(const struct dwell_table *table, size_t column, size_t start, size_t end, struct key *keys,
                             size_t *order, size_t *to)
{
	size_t count = 0;

	if (table->depths && start < end && table->depths[start] > DEEPEST_SORTED) {
		while (start < end)
			order[(*to)++] = start++;
		return;
	}
	for (size_t row = start; row < end; row = keys[count++].next) {
		keys[count].cell = dw_table_at(table, row) + column;
		keys[count].row = row;
		keys[count].next = table_subtree_end(table, row, end);
	}
	qsort(keys, count, sizeof *keys, table_compare_keys);
	for (size_t i = 0; i < count; i++) {
		order[(*to)++] = keys[i].row;
		if (keys[i].next > keys[i].row + 1)
			table_sort_level(table, column, keys[i].row + 1, keys[i].next, keys + count, order, to);
	}
}

void dw_table_sort_by(struct dwell_table *table, const char *name)
{
	dw_table_sort(table, (size_t)(dw_table_named(table, name) - table->columns));
}

void dw_table_sort(struct dwell_table *table, size_t column)
{
	size_t width = table->column_count * sizeof *table->cells, count = table->row_count, to = 0;
	struct key *keys = malloc((count + 1) * sizeof *keys);
	size_t *order = malloc((count + 1) * sizeof *order);
	struct dw_cell *cells = malloc((count + 1) * width);
	int *depths = malloc((count + 1) * sizeof *depths);

	if (keys && order && cells && depths) {
		table_sort_level(table, column, 0, count, keys, order, &to);
		for (size_t i = 0; i < count; i++) {
			memcpy((char *)cells + i * width, dw_table_at(table, order[i]), width);
			depths[i] = table->depths ? table->depths[order[i]] : 0;
		}
		if (count) {
			memcpy(table->cells, cells, count * width);
			if (table->depths)
				memcpy(table->depths, depths, count * sizeof *depths);
		}
	} else {
		table->failed = true;
	}
	DW_FREE(keys, order, cells, depths);
}

size_t dw_table_keep(struct dwell_table *table, const bool *keep)
{
	size_t width = table->column_count, kept = table->row_count;
	int wanted = 0; /* in a tree, rows of a smaller depth are parents of the row that was kept last */

	if (!table->row_count)
		return 0;
	/* From the end: rows that stay are moved to the end, and then to the beginning. */
	for (size_t i = table->row_count; i-- > 0;) {
		int depth = table->depths ? table->depths[i] : 0;

		if (!keep[i] && depth >= wanted)
			continue;
		wanted = depth;
		kept--;
		memmove(dw_table_at(table, kept), dw_table_at(table, i), width * sizeof *table->cells);
		if (table->depths)
			table->depths[kept] = depth;
	}
	table->row_count -= kept;
	memmove(table->cells, dw_table_at(table, kept), table->row_count * width * sizeof *table->cells);
	if (table->depths)
		memmove(table->depths, table->depths + kept, table->row_count * sizeof *table->depths);
	return kept;
}

void dw_table_limit(struct dwell_table *table, size_t rows)
{
	if (table->row_count <= rows)
		return;
	table->rows_cut += table->row_count - rows;
	table->row_count = rows;
}

static double table_value(const struct dw_cell *cell)
{
	return cell->type == DW_CELL_INT ? (double)cell->integer : cell->type == DW_CELL_REAL ? cell->real : NAN;
}

double dw_table_whole(const struct dwell_table *table, const struct dw_column *column)
{
	int of = column->sums ? dw_table_column(table, column->sums) : -1;
	double most = 0, whole = NAN;

	for (size_t row = 0; of >= 0 && row < table->row_count; row++) {
		double share = table_value(dw_table_at(table, row) + (column - table->columns));
		double part = table_value(dw_table_at(table, row) + of);

		if (share > most && part > 0) { /* of the largest row, because shares of small ones are rounded */
			most = share;
			whole = part / share;
		}
	}
	return whole;
}
