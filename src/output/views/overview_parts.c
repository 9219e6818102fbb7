/*
 * The tables of an overview.
 *
 *   breakdown  the parts of a mean step, which add up to the step
 *   wall       without steps: the outermost ranges of the main thread
 *   names      the operators that take most time, or other ranges if there are no operators
 */
#include <stdlib.h>

#include "model/time/outermost.h"
#include "base/text.h"
#include "views/overview_parts.h"

#define MOST_PARTS 16      /* rows of a step; the remaining parts are one row */
#define SMALL_PART 0.0005  /* of a step: the same for smaller parts that the program named */
#define SMALL_OF_MANY 0.01 /* the same if there are more than MOST_PARTS */
#define STEP_RANGE_COUNT 10u /* of a range outside all others, without steps: it may be a step */

static double overview_of(uint64_t part, double whole)
{
	return whole > 0 ? (double)part / whole : 0;
}

/* ---- a step ------------------------------------------------------------------------------ */

static const struct dw_column breakdown_columns[] = {
	DW_COLUMN("name", "a step", NONE, TEXT),
	DW_COLUMN("per_step_ns", "", NS, REAL, .one_unit = true),
	DW_COLUMN("share", "of a step", RATIO, REAL, .bar = true),
};

/* Says which steps the parts are of, if they are not of all recorded ones. */
static void overview_note_steady(struct dwell_table *table, const struct dw_steady *steady)
{
	char warm_up[48] = "", outliers[48] = "";

	if (!steady->warm_up && !steady->outliers)
		return;
	if (steady->warm_up)
		snprintf(warm_up, sizeof warm_up, "%zu warm-up step%s", steady->warm_up, dw_text_plural(steady->warm_up));
	if (steady->outliers)
		snprintf(outliers, sizeof outliers, "%zu outlier%s", steady->outliers, dw_text_plural(steady->outliers));
	dw_table_note(table, "The parts are of %s steady step%s; %s%s%s %s left out.",
	              dw_text_count((int64_t)steady->steps).at, dw_text_plural(steady->steps), warm_up,
	              *warm_up && *outliers ? " and " : "", outliers,
	              steady->warm_up + steady->outliers == 1 ? "is" : "are");
}

struct dwell_table *dw_overview_breakdown(const struct dw_overview *overview, struct dwell_error *error)
{
	const struct dw_steps *steps = overview->steps;
	const struct dw_steady *steady;
	struct dwell_table *table;
	size_t named_end;
	double least;

	if (steps->share_ns[DW_SHARE_OTHER] == steps->recorded_ns)
		return NULL; /* there are no parts, as often in the traces of other profilers */
	steady = dw_facts_steady(overview->model, error);
	if (!steady)
		return NULL;
	table = dw_view_table("overview", breakdown_columns, 3, error);
	if (!table)
		return NULL;
	table->part = "breakdown";
	named_end = steady->part_count - steady->unnamed;
	least = named_end > MOST_PARTS ? SMALL_OF_MANY : SMALL_PART;
	for (size_t i = 0; i < steady->part_count; i++) {
		const struct dw_steady_part *part = &steady->parts[i];
		double ns = part->ns;
		/* A program may use any number of names: the smallest parts are combined in one row. */
		bool small = part->own && i + 1 < named_end && ns < least * steady->ns;
		char smaller[64] = "";

		if ((i >= MOST_PARTS || small) && i < named_end) {
			snprintf(smaller, sizeof smaller, "%s smaller one%s", dw_text_count((int64_t)(named_end - i)).at,
			         dw_text_plural(named_end - i));
			for (; i + 1 < named_end; i++)
				ns += steady->parts[i + 1].ns;
		}
		DW_TABLE_ROW(table, 0, DW_STRING(*smaller ? smaller : part->name), DW_REAL(ns),
		             DW_REAL(steady->ns > 0 ? ns / steady->ns : 0));
	}
	DW_TABLE_TOTALS(table, DW_STRING("all"), DW_REAL(steady->ns), DW_REAL(1));
	overview_note_steady(table, steady);
	return table;
}

/* ---- a run without steps -------------------------------------------------------------------- */

static const struct dw_column wall_columns[] = {
	DW_COLUMN("name", "main thread", NONE, TEXT),
	DW_COLUMN("total_ns", "", NS, INT, .one_unit = true),
	DW_COLUMN("share", "of wall", RATIO, REAL, .bar = true),
	DW_COLUMN("calls", "calls", COUNT, INT),
};

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

static struct dw_cell *overview_wall_row(struct dwell_table *table, const char *name, uint64_t ns, uint64_t wall_ns)
{
	return DW_TABLE_ROW(table, 0, DW_STRING(name), DW_INT(ns), DW_REAL(overview_of(ns, (double)wall_ns)));
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
	table = dw_view_table("overview", wall_columns, 4, error);
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
		overview_wall_row(table, overview->symbols[node->symbol].name, node->stat.total_ns, wall_ns)[3] =
			DW_INT(node->stat.count);
	}
	if (small_ns)
		overview_wall_row(table, "smaller ones", small_ns, wall_ns);
	if (lost_ns)
		overview_wall_row(table, "not recorded", lost_ns, wall_ns);
	if (wall_ns > named_ns + lost_ns) {
		overview_wall_row(table, "in no range", wall_ns - named_ns - lost_ns, wall_ns);
		overview->nameless_share = overview_of(wall_ns - named_ns - lost_ns, (double)wall_ns);
	}
	DW_TABLE_TOTALS(table, DW_STRING("all"), DW_INT(wall_ns), DW_REAL(1));
	return table;
}

/* ---- names ------------------------------------------------------------------------------- */

static const struct dw_column step_columns[] = {
	DW_COLUMN("name", "operators by self time", NONE, TEXT),
	DW_COLUMN("calls_per_step", "calls/step", COUNT, REAL),
	DW_COLUMN("self_per_step_ns", "self/step", NS, REAL),
	DW_COLUMN("share", "of a step", RATIO, REAL),
	DW_COLUMN("p99_ns", "p99", NS, INT),
};

static const struct dw_column run_columns[] = {
	DW_COLUMN("name", "operators by self time", NONE, TEXT),
	DW_COLUMN("calls", "calls", COUNT, INT),
	DW_COLUMN("self_ns", "self", NS, INT),
	DW_COLUMN("share", "of wall", RATIO, REAL),
	DW_COLUMN("p99_ns", "p99", NS, INT),
};

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
	uint64_t whole_ns;
};

static void overview_fill_name(const struct naming *naming, const struct dw_stat *stat, const char *name, bool own)
{
	double steps = naming->steps;

	DW_TABLE_ROW(naming->table, 0, DW_STRING(name), steps > 0 ? DW_REAL((double)stat->count / steps) : DW_INT(stat->count),
	             steps > 0 ? DW_REAL((double)stat->self_ns / steps) : DW_INT(stat->self_ns),
	             own ? DW_REAL(overview_of(stat->self_ns, (double)naming->whole_ns)) : DW_EMPTY,
	             own ? DW_INT(stat->p99_ns) : DW_EMPTY);
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
		snprintf(name, sizeof name, "%.200s (other threads)", overview->symbols[from->symbol].name);
		overview_fill_name(naming, &rest, name, false);
		any = true;
	}
	naming->table->failed |= !stats;
	free(stats);
	return any;
}

struct dwell_table *dw_overview_names(const struct dw_overview *overview, struct dwell_error *error)
{
	struct dw_model *model = overview->inside ? overview->inside : overview->model;
	struct dw_model *all_model = overview->inside ? overview->inside_all : overview->model;
	size_t steps = overview->inside ? overview->steps->recorded_count : 0;
	struct naming naming = { .overview = overview, .steps = (double)steps,
		.whole_ns = steps ? overview->steps->recorded_ns : 0 };
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
	if (!own)
		return NULL;
	naming.table = dw_view_table("overview", steps ? step_columns : run_columns, 5, error);
	if (!naming.table)
		return NULL;
	if (!steps)
		naming.whole_ns = dw_view_whole(naming.table, 3, own, overview->wall_ns, false);
	naming.table->part = kind->part;
	naming.table->columns[0].label = kind->label;
	for (size_t i = 0; i < own->count; i++)
		overview_fill_name(&naming, &own->rows[i].stat, overview->symbols[own->rows[i].symbol].name, true);
	if (all != own && overview_fill_others(&naming, own, all)) {
		dw_table_sort(naming.table, 2);
		dw_table_note(naming.table, "(other threads): at the same time as the steps, no part of their time.");
	}
	return naming.table;
}
