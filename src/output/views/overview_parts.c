/*
 * The tables of an overview.
 *
 *   breakdown  the parts of the loop in a mean iteration, which add up to it
 *   wall       without steps: the outermost ranges of the main thread
 *   names      the operators that take most time, or other ranges if there are no operators
 */
#include <math.h>
#include <stdlib.h>

#include "model/time/outermost.h"
#include "base/text.h"
#include "views/columns.h"
#include "views/overview_parts.h"

#define MOST_PARTS 16      /* rows of a step; the remaining parts are one row */
#define SMALL_OF_MANY 0.01 /* the same if there are more than MOST_PARTS */
#define OTHERS " (other threads)" /* behind a name */
#define STEP_RANGE_COUNT 10u /* of a range outside all others, without steps: it may be a step */

static double overview_of(uint64_t part, double whole)
{
	return whole > 0 ? (double)part / whole : 0;
}

/* ---- a step ------------------------------------------------------------------------------ */

struct overview_part {
	const char *name;
	struct dw_cell per_step_ns, share;
};

static const struct dw_column breakdown_columns[] = {
	DW_FIELD(struct overview_part, name, "a step", NONE, TEXT, .total_text = "all"),
	DW_FIELD(struct overview_part, per_step_ns, "", NS, REAL, .one_unit = true, .total = DW_TOTAL_OWN),
	DW_FIELD(struct overview_part, share, "of the loop", RATIO, REAL, .bar = true, .total = DW_TOTAL_OWN,
	         .sums = "per_step_ns"),
};
const struct dw_column_list dw_overview_breakdown_columns = DW_COLUMN_LIST(breakdown_columns);

double dw_overview_like(const struct dw_overview *overview)
{
	bool recorded = overview->steps && overview->steps->recorded_count;
	const struct dw_loop_parts *parts = recorded ? dw_facts_loop_parts(overview->model, NULL) : NULL;
	double most_ns = 0;

	for (size_t i = 0; parts && i < parts->part_count; i++)
		most_ns = fmax(most_ns, parts->parts[i].ns);
	if (!(most_ns > 0) || strcmp(dw_text_ns_unit(most_ns), dw_text_ns_unit(parts->ns)) != 0)
		most_ns = overview->verdicts.loop_ns;
	return dw_text_like(most_ns);
}

struct dwell_table *dw_overview_breakdown(const struct dw_overview *overview, struct dwell_error *error)
{
	const struct dw_loop_parts *parts;
	struct dwell_table *table;
	size_t named_end;
	double least, whole_ns;
	char where[96];

	if (overview->steps->share_ns[DW_SHARE_OTHER] == overview->steps->recorded_ns)
		return NULL; /* there are no parts, as often in the traces of other profilers */
	parts = dw_facts_loop_parts(overview->model, error);
	if (!parts)
		return NULL;
	table = DW_VIEW_CHOOSE("overview", breakdown_columns, 0, error);
	if (!table)
		return NULL;
	table->part = "breakdown";
	dw_view_write_where(overview->steps, where, sizeof where);
	if (*where)
		table->columns[0].label = dw_arena_printf(&table->arena, "a step, mean%s", where);
	table->failed |= !table->columns[0].label;
	whole_ns = parts->ns - parts->no_cpu_ns;
	named_end = parts->part_count - parts->unnamed;
	least = named_end > MOST_PARTS ? SMALL_OF_MANY : DW_OVERVIEW_NOTHING;
	for (size_t i = 0; i < parts->part_count; i++) {
		const struct dw_steady_part *part = &parts->parts[i];
		double ns = part->ns;
		/* A program may use any number of names: the smallest parts are combined in one row. */
		bool small = (part->own && i + 1 < named_end && ns < least * parts->ns) || ns < DW_OVERVIEW_NOTHING * whole_ns;
		char smaller[64] = "";

		if ((i >= MOST_PARTS || small) && i + 1 < named_end) {
			snprintf(smaller, sizeof smaller, "%s smaller one%s", dw_text_count((int64_t)(named_end - i)).at,
			         dw_text_plural(named_end - i));
			for (; i + 1 < named_end; i++)
				ns += parts->parts[i + 1].ns;
		}
		if (ns < DW_OVERVIEW_NOTHING * whole_ns)
			continue;
		DW_TABLE_PUT(table, 0, struct overview_part, .name = *smaller ? smaller : part->name,
		             .per_step_ns = DW_REAL(ns), .share = DW_REAL(whole_ns > 0 ? ns / whole_ns : 0));
	}
	if (parts->no_cpu_ns >= DW_OVERVIEW_NOTHING * parts->ns)
		DW_TABLE_PUT(table, 0, struct overview_part, .name = dw_account_state_name(DW_ACCOUNT_NO_CPU),
		             .per_step_ns = DW_REAL(parts->no_cpu_ns));
	DW_TABLE_PUT_TOTALS(table, struct overview_part, .per_step_ns = DW_REAL(parts->ns), .share = DW_REAL(1));
	return table;
}

/* ---- a run without steps -------------------------------------------------------------------- */

struct overview_wall_part {
	const char *name;
	struct dw_cell total_ns, share, calls;
};

static const struct dw_column wall_columns[] = {
	DW_FIELD(struct overview_wall_part, name, "main thread", NONE, TEXT, .total_text = "all"),
	DW_FIELD(struct overview_wall_part, total_ns, "", NS, INT, .one_unit = true, .total = DW_TOTAL_OWN),
	DW_FIELD(struct overview_wall_part, share, "of wall", RATIO, REAL, .bar = true, .total = DW_TOTAL_OWN,
	         .sums = "total_ns"),
	DW_FIELD(struct overview_wall_part, calls, "calls", COUNT, INT),
};
const struct dw_column_list dw_overview_wall_columns = DW_COLUMN_LIST(wall_columns);

/* Returns the root of the main thread of the first process, or of the busiest thread if that one
 * recorded nothing. */
static size_t overview_main_root(const struct dw_source *source, const struct dw_tree *tree)
{
	size_t best = tree->count;

	for (size_t i = 0; i < tree->count; i++) {
		const struct dw_tree_node *node = &tree->nodes[i];
		const struct dw_source_thread *thread = &source->threads[node->thread];

		if (node->symbol != DW_NO_INDEX || !node->stat.total_ns)
			continue;
		if (thread->tid == source->processes[thread->process].pid &&
		    source->processes[thread->process].parent == DW_NO_INDEX)
			return i;
		if (best == tree->count || node->stat.total_ns > tree->nodes[best].stat.total_ns)
			best = i;
	}
	return best;
}

static void overview_put_wall(struct dwell_table *table, const char *name, uint64_t ns, uint64_t wall_ns,
                              struct dw_cell calls)
{
	DW_TABLE_PUT(table, 0, struct overview_wall_part, .name = name, .total_ns = DW_INT(ns),
	             .share = DW_REAL(overview_of(ns, (double)wall_ns)), .calls = calls);
}

/* Returns the time in which records of a thread are missing outside its ranges. */
static uint64_t overview_missing_ns(const struct dw_overview *overview, uint32_t thread)
{
	const struct dw_threads *threads = dw_model_threads(overview->model, NULL);
	uint64_t ns = 0;

	if (!threads || dw_model_is_partial(overview->model))
		return 0;
	for (size_t i = 0; i < threads->count; i++)
		if (threads->rows[i].thread == thread && !threads->rows[i].nested)
			ns += threads->rows[i].missing_ns;
	return ns;
}

/* Whether a range outside all others may be a step: the program or a library named it, and it recurs. XLA's ranges
 * are of its compiler, except those around a compiled function. */
static bool overview_may_be_step(const struct dw_symbol *symbol, uint64_t count)
{
	return count >= STEP_RANGE_COUNT && symbol->category == DWELL_CATEGORY_ZONE &&
	       dw_operator_family_of(symbol->name) != DW_OPERATOR_RUNTIME;
}

struct dwell_table *dw_overview_wall(struct dw_overview *overview, struct dwell_error *error)
{
	const struct dw_tree *tree = dw_model_outermost(overview->model, error);
	size_t root = tree ? overview_main_root(overview->source, tree) : 0;
	uint64_t wall_ns, named_ns = 0, small_ns = 0, range_ns = 0, lost_ns;
	struct dwell_table *table;

	if (!tree || root == tree->count)
		return NULL;
	table = DW_VIEW_CHOOSE("overview", wall_columns, 0, error);
	if (!table)
		return NULL;
	table->part = "wall";
	wall_ns = overview->wall_ns;
	if (wall_ns < tree->nodes[root].stat.total_ns)
		wall_ns = tree->nodes[root].stat.total_ns;
	lost_ns = overview_missing_ns(overview, tree->nodes[root].thread);
	if (wall_ns < lost_ns)
		wall_ns = lost_ns;
	for (size_t i = root + 1; i < tree->count && tree->nodes[i].symbol != DW_NO_INDEX; i++) {
		const struct dw_tree_node *node = &tree->nodes[i];

		if (node->depth != 1) /* the outermost ranges of another scope come from the whole tree */
			continue;
		named_ns += node->stat.total_ns;
		if (node->stat.total_ns > range_ns && overview_may_be_step(&overview->symbols[node->symbol], node->stat.count)) {
			range_ns = node->stat.total_ns;
			overview->step_range = overview->symbols[node->symbol].name;
			overview->step_range_count = node->stat.count;
		}
		if (table->row_count == 12 || overview_of(node->stat.total_ns, (double)wall_ns) < 0.0005) {
			small_ns += node->stat.total_ns;
			continue;
		}
		overview_put_wall(table, overview->symbols[node->symbol].name, node->stat.total_ns, wall_ns,
		                  DW_INT(node->stat.count));
	}
	if ((double)small_ns >= DW_OVERVIEW_NOTHING * (double)wall_ns)
		overview_put_wall(table, "smaller ones", small_ns, wall_ns, DW_EMPTY);
	if (lost_ns)
		overview_put_wall(table, "not recorded", lost_ns, wall_ns, DW_EMPTY);
	if (wall_ns > named_ns + lost_ns) {
		overview_put_wall(table, "in no range", wall_ns - named_ns - lost_ns, wall_ns, DW_EMPTY);
		overview->nameless_share = overview_of(wall_ns - named_ns - lost_ns, (double)wall_ns);
	}
	DW_TABLE_PUT_TOTALS(table, struct overview_wall_part, .total_ns = DW_INT(wall_ns), .share = DW_REAL(1));
	return table;
}

/* ---- names ------------------------------------------------------------------------------- */

enum { NO_STEPS = DW_HAS_OWN };

struct overview_name {
	const char *name;
	double calls_per_step, self_per_step_ns;
	uint64_t calls, self_ns;
	struct dw_cell share, p99_ns;
};

static const struct dw_column name_columns[] = {
	DW_FIELD(struct overview_name, name, "operators by self time", NONE, TEXT),
	DW_FIELD(struct overview_name, calls_per_step, "calls/step", COUNT, REAL, .only = DW_HAS_STEPS),
	DW_FIELD(struct overview_name, self_per_step_ns, "self/step", NS, REAL, .only = DW_HAS_STEPS),
	DW_FIELD(struct overview_name, share, "of the loop", RATIO, REAL, .only = DW_HAS_STEPS, .sums = "self_per_step_ns"),
	DW_FIELD(struct overview_name, calls, "calls", COUNT, INT, .only = NO_STEPS),
	DW_FIELD(struct overview_name, self_ns, "self", NS, INT, .only = NO_STEPS),
	DW_FIELD(struct overview_name, share, "of wall", RATIO, REAL, .only = NO_STEPS, .sums = "self_ns"),
	DW_FIELD(struct overview_name, p99_ns, "p99", NS, INT),
};
const struct dw_column_list dw_overview_names_columns = DW_COLUMN_LIST(name_columns);

/* The kinds of ranges to list. The first kind that the trace contains is used. */
static const struct kind {
	uint32_t categories;
	const char *part, *label;
} kinds[] = {
	{ DW_VIEW_CATEGORY(OPERATOR), "operators", "operators by self time" },
	{ DW_VIEW_OWN, "actions", "named ranges by self time" },
	{ DW_VIEW_CATEGORY(LAYER), "layers", "layers by self time" },
	{ DW_VIEW_CATEGORY(FUNCTION), "functions", "functions by self time" },
};

struct naming {
	const struct dw_overview *overview;
	struct dwell_table *table;
	double steps;     /* 0: there are no steps */
	double per_call, per_ns; /* what a call and a ns of the rows are in a step; as in the parts, without no CPU */
	double whole_ns;  /* with steps: of one */
};

/* Whether a name has no row: it would be 0.0%, as of a range in which only others take time. */
static bool overview_is_nothing(const struct naming *naming, double self_ns)
{
	return naming->whole_ns > 0 && self_ns < DW_OVERVIEW_NOTHING * naming->whole_ns;
}

static void overview_fill_name(const struct naming *naming, const struct dw_stat *stat, const char *name, bool own)
{
	double calls = (double)stat->count * naming->per_call, self_ns = (double)stat->self_ns * naming->per_ns;

	if (own && overview_is_nothing(naming, self_ns))
		return;
	DW_TABLE_PUT(naming->table, 0, struct overview_name, .name = name, .calls = stat->count, .self_ns = stat->self_ns,
	             .calls_per_step = calls, .self_per_step_ns = self_ns,
	             .share = own && naming->whole_ns > 0 ? DW_REAL(self_ns / naming->whole_ns) : DW_EMPTY,
	             .p99_ns = own && stat->p99_ns ? DW_INT(stat->p99_ns) : DW_EMPTY);
}

/* Adds rows for what other threads did during the steps. Their time is not part of a step. */
static bool overview_fill_others(const struct naming *naming, const struct dw_flat *own, const struct dw_flat *all)
{
	const struct dw_overview *overview = naming->overview;
	struct dw_stat *stats;
	size_t count;
	bool any = false;

	dw_model_symbols(overview->model, &count);
	stats = calloc(count + 1, sizeof *stats);
	for (size_t i = 0; stats && i < own->count; i++)
		stats[own->rows[i].symbol] = own->rows[i].stat;
	for (size_t i = 0; stats && i < all->count; i++) {
		const struct dw_flat_row *from = &all->rows[i];
		const struct dw_stat *mine = &stats[from->symbol];
		struct dw_stat rest = { .count = from->stat.count - mine->count,
			.self_ns = from->stat.self_ns > mine->self_ns ? from->stat.self_ns - mine->self_ns : 0 };
		char name[256];

		if (from->stat.count <= mine->count)
			continue;
		snprintf(name, sizeof name, "%.200s" OTHERS, overview->symbols[from->symbol].name);
		overview_fill_name(naming, &rest, name, false);
		any = true;
	}
	naming->table->failed |= !stats;
	free(stats);
	return any;
}

/* Whether such a row is among those that text shows. */
static bool overview_shows_others(const struct dwell_table *table)
{
	bool any = false;

	for (size_t row = 0; row < table->row_count && row < DW_OVERVIEW_ROWS; row++) {
		const char *name = dw_table_cell(table, row, "name")->text;
		size_t length = strlen(name);

		any |= length > strlen(OTHERS) && strcmp(name + length - strlen(OTHERS), OTHERS) == 0;
	}
	return any;
}

/* Operators of the threads with steps: also those that the loop calls between the steps. */
static void overview_fill_operators(const struct naming *naming, const struct dw_loop_operators *operators, const struct dw_flat *own)
{
	uint64_t *p99_ns = calloc(operators->count + 1, sizeof *p99_ns);

	naming->table->failed |= !p99_ns;
	for (size_t i = 0; p99_ns && i < own->count; i++)
		p99_ns[own->rows[i].symbol] = own->rows[i].stat.p99_ns;
	for (size_t i = 0; p99_ns && i < operators->count; i++)
		if (operators->ns[i] > 0 && !overview_is_nothing(naming, operators->ns[i]))
			DW_TABLE_PUT(naming->table, 0, struct overview_name, .name = naming->overview->symbols[i].name,
			             .calls_per_step = operators->calls[i], .self_per_step_ns = operators->ns[i],
			             .share = DW_REAL(operators->ns[i] / operators->whole_ns),
			             .p99_ns = p99_ns[i] ? DW_INT(p99_ns[i]) : DW_EMPTY);
	free(p99_ns);
	dw_table_sort_by(naming->table, "self_per_step_ns");
}

static bool overview_fill_own(const struct naming *naming, const struct dw_flat *own, bool operators, struct dwell_error *error)
{
	const struct dw_loop_operators *all = operators ? dw_facts_loop_operators(naming->overview->model, error) : NULL;

	if (operators && !all)
		return false;
	if (operators && all->whole_ns > 0)
		overview_fill_operators(naming, all, own);
	else
		for (size_t i = 0; i < own->count; i++)
			overview_fill_name(naming, &own->rows[i].stat, naming->overview->symbols[own->rows[i].symbol].name, true);
	return true;
}

/* Only some steps were recorded with their operators. Sets by what calls and times of these are multiplied, so that they
 * are those of a mean step, as in the table of the parts. */
static bool overview_measure_names(struct naming *naming, size_t counted, struct dwell_error *error)
{
	const struct dw_loop_parts *parts = counted ? dw_facts_loop_parts(naming->overview->model, error) : NULL;

	naming->per_call = naming->per_ns = 1;
	if (!counted)
		return true;
	if (!parts || !parts->steps)
		return false;
	naming->steps = (double)parts->steps;
	naming->per_call = 1 / (double)counted;
	naming->whole_ns = parts->ns - parts->no_cpu_ns;
	naming->per_ns = parts->scale / naming->steps * (naming->whole_ns / parts->ns);
	return true;
}

struct dwell_table *dw_overview_names(const struct dw_overview *overview, struct dwell_error *error)
{
	struct dw_model *model = overview->inside ? overview->inside : overview->model;
	struct dw_model *all_model = overview->inside ? overview->inside_all : overview->model;
	size_t steps = overview->inside ? overview->steps->recorded_count : 0;
	struct naming naming = { .overview = overview };
	const struct dw_flat *all = NULL, *own;
	const struct kind *kind = kinds;

	if (overview->steps && !steps)
		return NULL; /* the records of all steps are missing, so there are no figures */
	for (size_t i = 0; i < sizeof kinds / sizeof *kinds && (!all || !all->count); i++) {
		kind = &kinds[i];
		all = dw_model_flat(all_model, kind->categories, error);
		if (!all)
			return NULL;
	}
	own = all->count ? dw_model_flat(model, kind->categories, error) : NULL;
	if (!own || !overview_measure_names(&naming, steps, error))
		return NULL;
	naming.table = DW_VIEW_CHOOSE("overview", name_columns, steps ? DW_HAS_STEPS : NO_STEPS, error);
	if (!naming.table)
		return NULL;
	if (!steps)
		naming.whole_ns = (double)dw_view_whole(naming.table, "share", own, overview->wall_ns, false);
	naming.table->part = kind->part;
	naming.table->rows_shown = DW_OVERVIEW_ROWS;
	dw_table_named(naming.table, "name")->label = kind->label;
	if (!overview_fill_own(&naming, own, steps && kind == kinds, error)) {
		dw_table_destroy(naming.table);
		return NULL;
	}
	if (all != own && overview_fill_others(&naming, own, all)) {
		dw_table_sort_by(naming.table, steps ? "self_per_step_ns" : "self_ns");
		if (overview_shows_others(naming.table))
			dw_table_note(naming.table, "(other threads): at the same time as the steps, no part of their time.");
	}
	return naming.table;
}
