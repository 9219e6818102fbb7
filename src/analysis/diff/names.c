/*
 * What changed by name: self time, time and calls of ranges of one name on all threads, per step.
 *
 * The parts of a step and its operators are of the thread with the steps (table.c). These tables come
 * from the call paths of all threads: operators of the backward pass, layers, functions, named ranges.
 * Self times of a category add up. The time of a name within itself counts once.
 */
#include <math.h>

#include "base/grow.h"
#include "diff/paths.h"

#include "dwell/probe.h" /* DWELL_CATEGORIES */

#define NAMES_MOST 300u /* rows of a category */

enum { NAMES_NAME, NAMES_SELF_BEFORE, NAMES_SELF_AFTER, NAMES_DIFFERENCE, NAMES_OF_STEP,
       NAMES_BEFORE, NAMES_AFTER, NAMES_TOTAL_DIFFERENCE, NAMES_CALLS_BEFORE, NAMES_CALLS_AFTER, NAMES_COLUMNS };
static const struct dw_column names_columns[] = {
	[NAMES_NAME] = DW_COLUMN("name", "name", NONE, TEXT),
	[NAMES_SELF_BEFORE] = DW_COLUMN("self_before_ns", "self before", NS, REAL),
	[NAMES_SELF_AFTER] = DW_COLUMN("self_after_ns", "self after", NS, REAL),
	[NAMES_DIFFERENCE] = DW_COLUMN("self_difference_ns", "difference of self", NS, REAL),
	[NAMES_OF_STEP] = DW_COLUMN("change_of_whole", "of the whole", RATIO, REAL),
	[NAMES_BEFORE] = DW_COLUMN("before_ns", "total before", NS, REAL),
	[NAMES_AFTER] = DW_COLUMN("after_ns", "total after", NS, REAL),
	[NAMES_TOTAL_DIFFERENCE] = DW_COLUMN("difference_ns", "difference of total", NS, REAL),
	[NAMES_CALLS_BEFORE] = DW_COLUMN("calls_before", "calls before", COUNT, REAL),
	[NAMES_CALLS_AFTER] = DW_COLUMN("calls_after", "calls after", COUNT, REAL),
};

struct names_row {
	const char *name;
	uint32_t category;
	double total[DW_DIFF_SIDES], self[DW_DIFF_SIDES], calls[DW_DIFF_SIDES]; /* per step, means of runs */
};

struct names {
	struct names_row *rows;
	size_t count, capacity;
	struct dw_map map;
};

static bool names_is(const struct names_row *row, const struct dw_diff_path *path)
{
	return row->category == path->category && strcmp(row->name, path->name) == 0;
}

static struct names_row *names_find(struct names *names, const struct dw_diff_path *path)
{
	uint32_t hash = dw_map_hash_bytes(dw_map_hash(path->category), path->name, strlen(path->name));
	uint32_t found = DW_MAP_FIND(&names->map, hash, i, names_is(&names->rows[i], path));
	struct names_row *row;

	if (found != DW_MAP_NONE)
		return &names->rows[found];
	row = DW_GROW(&names->rows, &names->capacity, names->count);
	if (!row || !dw_map_add(&names->map, hash, (uint32_t)names->count))
		return NULL;
	row->name = path->name;
	row->category = path->category;
	names->count++;
	return row;
}

/* Whether a path is within one of the same name. */
static bool names_is_within(const struct dw_diff_path *nodes, const struct dw_diff_path *path)
{
	for (uint32_t at = path->parent; nodes[at].depth; at = nodes[at].parent)
		if (nodes[at].category == path->category && strcmp(nodes[at].name, path->name) == 0)
			return true;
	return false;
}

static bool names_collect(const struct dw_diff *diff, struct names *names)
{
	const struct dw_diff_path *nodes = diff->paths ? diff->paths->nodes : NULL;

	for (size_t i = 0; nodes && i < diff->paths->count; i++) {
		struct names_row *row;
		bool within;

		if (!nodes[i].depth)
			continue;
		if (!(row = names_find(names, &nodes[i])))
			return false;
		within = names_is_within(nodes, &nodes[i]);
		for (unsigned side = 0; side < DW_DIFF_SIDES; side++) {
			row->self[side] += dw_diff_path_mean(diff, nodes[i].self, side);
			row->calls[side] += dw_diff_path_mean(diff, nodes[i].calls, side);
			if (!within)
				row->total[side] += dw_diff_path_mean(diff, nodes[i].total, side);
		}
	}
	return true;
}

static double names_change(const struct names_row *row)
{
	return row->self[DW_DIFF_AFTER] - row->self[DW_DIFF_BEFORE];
}

/* Layers and phases are seldom at work themselves: what is in them is. */
static double names_size(const struct names_row *row)
{
	bool whole = row->category == DWELL_CATEGORY_LAYER || row->category == DWELL_CATEGORY_PHASE;

	return fabs(whole ? row->total[DW_DIFF_AFTER] - row->total[DW_DIFF_BEFORE] : names_change(row));
}

/* By category, then by size of the difference. */
static int names_order(const void *left, const void *right)
{
	const struct names_row *a = left, *b = right;
	double a_ns = names_size(a), b_ns = names_size(b);

	if (a->category != b->category)
		return (a->category > b->category) - (a->category < b->category);
	if (a_ns < b_ns || a_ns > b_ns)
		return (a_ns < b_ns) - (a_ns > b_ns);
	return strcmp(a->name, b->name);
}

static const char *names_category(uint32_t category)
{
	static const char *const texts[] = {
#define X(name, value, text) [value] = text,
		DWELL_CATEGORIES(X)
#undef X
	};

	return category < DWELL_CATEGORY_COUNT && texts[category] ? texts[category] : "other";
}

static struct dwell_table *names_make_table(const struct dw_diff *diff, const struct names_row *rows, size_t count)
{
	struct dwell_table *table = dw_table_create("diff", names_columns, NAMES_COLUMNS);

	if (!table)
		return NULL;
	table->part = names_category(rows->category);
	table->coverage = 1;
	for (size_t i = 0; i < count; i++) {
		struct dw_cell *row = dw_table_row(table, 0);

		dw_cell_text(table, &row[NAMES_NAME], rows[i].name);
		dw_cell_real(&row[NAMES_SELF_BEFORE], rows[i].self[DW_DIFF_BEFORE]);
		dw_cell_real(&row[NAMES_SELF_AFTER], rows[i].self[DW_DIFF_AFTER]);
		dw_cell_real(&row[NAMES_DIFFERENCE], names_change(&rows[i]));
		dw_cell_real(&row[NAMES_OF_STEP], names_change(&rows[i]) / diff->pace.before);
		dw_cell_real(&row[NAMES_BEFORE], rows[i].total[DW_DIFF_BEFORE]);
		dw_cell_real(&row[NAMES_AFTER], rows[i].total[DW_DIFF_AFTER]);
		dw_cell_real(&row[NAMES_TOTAL_DIFFERENCE], rows[i].total[DW_DIFF_AFTER] - rows[i].total[DW_DIFF_BEFORE]);
		dw_cell_real(&row[NAMES_CALLS_BEFORE], rows[i].calls[DW_DIFF_BEFORE]);
		dw_cell_real(&row[NAMES_CALLS_AFTER], rows[i].calls[DW_DIFF_AFTER]);
	}
	dw_table_limit(table, NAMES_MOST);
	dw_table_note(table, "Of all threads and of the whole run, divided by the number of steps. These differences have "
	                     "no interval.");
	return table;
}

struct dwell_table *dw_diff_names_table(const struct dw_diff *diff)
{
	struct names names = { NULL, 0, 0, { NULL, 0, 0 } };
	struct dwell_table *first = NULL, **next = &first;
	bool good = names_collect(diff, &names);

	if (good && names.count)
		qsort(names.rows, names.count, sizeof *names.rows, names_order);
	for (size_t begin = 0, end; good && begin < names.count; begin = end) {
		for (end = begin; end < names.count && names.rows[end].category == names.rows[begin].category;)
			end++;
		*next = names_make_table(diff, &names.rows[begin], end - begin);
		good = *next && !(*next)->failed;
		next = *next ? &(*next)->next : next;
	}
	if (good && !first) /* no paths: a table without rows */
		first = dw_table_create("diff", names_columns, NAMES_COLUMNS);
	if (!good) {
		dw_table_destroy(first);
		first = NULL;
	}
	free(names.rows);
	dw_map_reset(&names.map);
	return first;
}
