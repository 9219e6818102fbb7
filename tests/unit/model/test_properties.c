/*
 * The products of time against the reference of random streams (random_stream.h): profile by
 * name, call tree, calls, functions, FLOPs, layers, threads, events.
 */
#include "random_stream.h"

#include "model/time/calls.h"
#include "model/time/flops.h"
#include "model/time/function_calls.h"
#include "model/time/outermost.h"
#include "model/layers/layers.h"
#include "model/joint/joint.h"

static const struct random_name names[] = {
	{ .name = "zone a", .category = DWELL_CATEGORY_ZONE },
	{ .name = "zone b", .category = DWELL_CATEGORY_ZONE },
	{ .name = "op a", .category = DWELL_CATEGORY_OPERATOR },
	{ .name = "op b", .category = DWELL_CATEGORY_OPERATOR },
	{ .name = "aten::mm", .category = DWELL_CATEGORY_OPERATOR, .flops = 48 },
	{ .name = "net", .category = DWELL_CATEGORY_LAYER },
	{ .name = "net.a", .category = DWELL_CATEGORY_LAYER },
	{ .name = "fn a", .category = DWELL_CATEGORY_FUNCTION },
	{ .name = "fn b", .category = DWELL_CATEGORY_FUNCTION },
	{ .name = "fn c", .category = DWELL_CATEGORY_FUNCTION },
	{ .name = "collect", .category = DWELL_CATEGORY_COLLECTOR },
	{ .name = "phase", .category = DWELL_CATEGORY_PHASE },
};
enum { OPS = sizeof names / sizeof *names };

struct sums {
	uint64_t count, total, self, least, most, open, cut;
};

/* ---- the comparisons --------------------------------------------------------------------- */

static void sum_up(uint32_t op, bool operators, struct sums *sums)
{
	*sums = (struct sums){ .least = UINT64_MAX };
	for (size_t i = 0; i < reference.closed_count; i++) {
		const struct range *range = &reference.closed[i];
		uint64_t total = range->end - range->start;

		if (range->op != op || !range->counts)
			continue;
		sums->count++;
		sums->self += range->self_kind;
		sums->least = total < sums->least ? total : sums->least;
		sums->most = total > sums->most ? total : sums->most;
		sums->open += range->why == OPEN;
		sums->cut += range->why == CUT;
	}
	sums->total = reference.covered[op];
	if (operators)
		sums->self = reference.self_operator[op];
}

static void compare_stat(const char *product, uint32_t op, const struct dw_stat *stat,
                         bool operators)
{
	struct sums sums;
	bool same;

	sum_up(op, operators, &sums);
	if (!stat) {
		if (sums.count)
			CHECK_FAIL("%s: '%s' is missing", product, names[op].name);
		return;
	}
	same = stat->count == sums.count && stat->total_ns == sums.total && stat->self_ns == sums.self &&
	       stat->min_ns == sums.least && stat->max_ns == sums.most && stat->open == sums.open &&
	       stat->cut == sums.cut;
	if (!same)
		CHECK_FAIL("%s: '%s' has count %" PRIu64 " total %" PRIu64 " self %" PRIu64 " min %" PRIu64
		           " max %" PRIu64 " open %" PRIu64 " cut %" PRIu64 ", must have %" PRIu64 " %" PRIu64
		           " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64,
		           product, names[op].name, stat->count, stat->total_ns, stat->self_ns, stat->min_ns,
		           stat->max_ns, stat->open, stat->cut, sums.count, sums.total, sums.self, sums.least,
		           sums.most, sums.open, sums.cut);
}

static void compare_flat(void)
{
	for (uint32_t op = 0; op < OPS; op++)
		compare_stat("profile by name", op, made_stat(&made, names[op].name), false);
}

static void compare_calls(void)
{
	struct dw_calls_ask ask = { .named = false };
	const struct dw_calls *calls = dw_model_calls(made.model, &ask, &made.error);

	for (uint32_t op = 0; calls && op < OPS; op++) {
		const struct dw_stat *stat = NULL;

		if (names[op].category != DWELL_CATEGORY_OPERATOR)
			continue;
		for (size_t i = 0; i < calls->count; i++)
			if (strcmp(calls->rows[i].name, names[op].name) == 0)
				stat = &calls->rows[i].stat;
		compare_stat("calls", op, stat, true);
	}
}

/* The reference's path of a list of names from the thread down; NULL: none. */
static struct path *find_path(uint32_t parent, uint32_t thread, const char *name)
{
	for (size_t i = 0; i < reference.path_count; i++) {
		struct path *path = &reference.paths[i];

		if (path->parent == parent && path->thread == thread &&
		    (path->op == MOST_OPS ? !name : name && strcmp(names[path->op].name, name) == 0))
			return path;
	}
	return NULL;
}

static void compare_tree(void)
{
	const struct dw_tree *tree = dw_model_tree(made.model, &made.error);
	const struct dw_symbol *symbols = dw_model_symbols(made.model, NULL);
	const struct path **by_node = tree ? calloc(tree->count + 1, sizeof *by_node) : NULL;
	size_t counted = 0, expected = 0;

	for (size_t i = 0; by_node && i < tree->count; i++) {
		const struct dw_tree_node *node = &tree->nodes[i];
		bool root = node->symbol == DW_NO_INDEX;
		const struct path *above = root ? NULL : by_node[node->parent], *path;

		if (!root && !above)
			continue;
		path = find_path(root ? NO_PATH : (uint32_t)(above - reference.paths), node->thread,
		                 root ? NULL : symbols[node->symbol].name);
		by_node[i] = path;
		if (!path) {
			/* A thread all of whose ranges are out of scope has a root. */
			if (!root)
				CHECK_FAIL("tree: a path that was never open: '%s'", symbols[node->symbol].name);
			continue;
		}
		counted += !root;
		if (root && reference.to == UINT64_MAX && !reference.stayed)
			CHECK_EQ(node->stat.total_ns, reference.busy[node->thread]);
		if (!root && !reference.stayed && node->stat.total_ns > tree->nodes[node->parent].stat.total_ns)
			CHECK_FAIL("tree: '%s' has more time than the range around it", symbols[node->symbol].name);
		if (!root && (node->stat.count != path->count || node->stat.total_ns != path->total ||
		              node->stat.self_ns != path->self || node->stat.open != path->open ||
		              node->stat.cut != path->cut))
			CHECK_FAIL("tree: '%s' has count %" PRIu64 " total %" PRIu64 " self %" PRIu64
			           " open %" PRIu64 " cut %" PRIu64 ", must have %" PRIu64 " %" PRIu64 " %" PRIu64
			           " %" PRIu64 " %" PRIu64, symbols[node->symbol].name, node->stat.count,
			           node->stat.total_ns, node->stat.self_ns, node->stat.open, node->stat.cut,
			           path->count, path->total, path->self, path->open, path->cut);
	}
	for (size_t i = 0; i < reference.path_count; i++)
		expected += reference.paths[i].op != MOST_OPS;
	CHECK_EQ(counted, expected);
	free(by_node);
}

/* In ranges that overlap no thread is for longer than a range is open. */
static void compare_outermost(void)
{
	const struct dw_tree *tree = dw_model_outermost(made.model, &made.error);
	const struct dw_symbol *symbols = dw_model_symbols(made.model, NULL);
	uint64_t expected = 0, counted = 0;

	for (size_t i = 0; tree && i < tree->count; i++) {
		const struct dw_tree_node *node = &tree->nodes[i];
		uint32_t op = 0;

		if (node->symbol == DW_NO_INDEX)
			CHECK_EQ(node->stat.total_ns, reference.busy[node->thread]);
		if (node->depth != 1)
			continue;
		while (op < OPS && strcmp(names[op].name, symbols[node->symbol].name) != 0)
			op++;
		REQUIRE(op < OPS);
		CHECK_EQ(node->stat.total_ns, reference.outermost[node->thread][op]);
		counted += node->stat.total_ns;
	}
	for (uint32_t i = 0; i < THREADS; i++)
		expected += reference.busy[i];
	CHECK_EQ(counted, expected);
}

static void compare_functions(void)
{
	const struct dw_function_calls *calls = dw_model_function_calls(made.model, &made.error);
	const struct dw_symbol *symbols = dw_model_symbols(made.model, NULL);

	for (size_t i = 0; calls && i < calls->count; i++) {
		const struct dw_function_row *row = &calls->rows[i];
		uint32_t op = 0;

		while (op < OPS && strcmp(names[op].name, symbols[row->symbol].name) != 0)
			op++;
		if (op == OPS)
			continue;
		if (row->calls != reference.function_calls[op] || row->primitive != reference.primitive[op] ||
		    row->self_ns != reference.self_function[op] ||
		    row->total_ns != reference.primitive_total[op])
			CHECK_FAIL("functions: '%s' has %" PRIu64 "/%" PRIu64 " calls self %" PRIu64 " total %" PRIu64
			           ", must have %" PRIu64 "/%" PRIu64 " %" PRIu64 " %" PRIu64, names[op].name,
			           row->calls, row->primitive, row->self_ns, row->total_ns,
			           reference.function_calls[op], reference.primitive[op],
			           reference.self_function[op], reference.primitive_total[op]);
	}
}

static void compare_flops(void)
{
	const struct dw_flops_sum *sum = dw_model_flops(made.model, &made.error);
	uint64_t calls = 0, missed = 0;

	for (size_t i = 0; sum && i < sum->count; i++) {
		calls += sum->rows[i].calls;
		missed += sum->rows[i].missed_calls;
	}
	if (!sum)
		return;
	CHECK_EQ(calls, reference.flops_calls);
	CHECK_EQ(sum->counted_ns, reference.flops_time);
	CHECK_EQ(missed, reference.missed_calls);
	CHECK_EQ(sum->missed_ns, reference.missed_time);
}

static void compare_layers(void)
{
	const struct dw_layers *layers = dw_model_layers(made.model, NULL, &made.error);

	for (size_t i = 0; layers && i < layers->count; i++) {
		const struct dw_layer *row = &layers->rows[i];
		uint32_t op = 0;

		while (op < OPS && strcmp(names[op].name, row->path) != 0)
			op++;
		if (op == OPS || row->calls != reference.layer_calls[op] ||
		    row->self_ns != reference.layer_self[op] ||
		    row->own.operators_ns != reference.layer_operators[op])
			CHECK_FAIL("layers: '%s' has %" PRIu64 " calls self %" PRIu64 " operators %" PRIu64
			           ", must have %" PRIu64 " %" PRIu64 " %" PRIu64, row->path, row->calls,
			           row->self_ns, row->own.operators_ns, reference.layer_calls[op % OPS],
			           reference.layer_self[op % OPS], reference.layer_operators[op % OPS]);
	}
}

static void compare_threads(void)
{
	const struct dw_threads *threads = dw_model_threads(made.model, &made.error);

	for (size_t i = 0; threads && i < threads->count; i++) {
		CHECK_EQ(threads->rows[i].busy_ns, reference.busy[threads->rows[i].thread]);
		CHECK_EQ(threads->rows[i].ranges, reference.ranges[threads->rows[i].thread]);
	}
}

struct seen {
	uint64_t count, times, opens;
};

static int see_event(void *context, const struct dw_event *event)
{
	struct seen *seen = context;

	if (event->type != DW_EVENT_RANGE)
		return 0;
	seen->count++;
	seen->times += (event->start_ns * 31 + event->end_ns) * (event->thread + 1);
	seen->opens += event->open;
	return 0;
}

static void compare_events(void)
{
	struct seen seen = { 0 }, expected = { 0 };

	dw_model_events(made.model, see_event, &seen, &made.error);
	for (size_t i = 0; i < reference.closed_count; i++) {
		const struct range *range = &reference.closed[i];

		if (!range->counts)
			continue;
		expected.count++;
		expected.times += (range->start * 31 + range->end) * (range->thread + 1);
		expected.opens += range->why != ENDED;
	}
	CHECK_EQ(seen.count, expected.count);
	CHECK_EQ(seen.times, expected.times);
	CHECK_EQ(seen.opens, expected.opens);
}

/* Sometimes the profile by name is computed for two scopes, and the threads with them, in one
 * walk; and streams are split where that is not worth it. */
static int properties_open(void)
{
	struct dw_scope scope = random_scope();
	struct dw_model *models[2];
	bool together = random_below(2);
	int code = made_open(&made, together ? NULL : &scope);

	if (code)
		return code;
	if (random_below(2))
		made.model->segment_chunks = 1 + random_below(random_plain ? 12 : 3);
	if (!together)
		return 0;
	models[0] = models[1] = made.model;
	if (scope.has_window)
		code = dw_model_within(made.model, &scope, &models[1], &made.error);
	if (code == 0 && random_below(4) == 0)
		CHECK_EQ(dw_model_compute_ranks_together(made.model, &made.error), 0);
	else if (code == 0)
		CHECK_EQ(dw_model_compute_together(models, 2, true, &made.error), 0);
	made.model = models[1];
	return code;
}

static void properties_compare(void)
{
	if (random_below(2))
		made.model->whole->segment_chunks = 1 + random_below(random_plain ? 12 : 3);
	compare_flat();
	compare_tree();
	compare_functions();
	compare_flops();
	compare_layers();
	compare_events();
	if (!random_overlaps) /* calls that overlap are siblings there, as torch.profiler has it */
		compare_calls();
	if (reference.to == UINT64_MAX) {
		if (!reference.stayed)
			compare_outermost();
		compare_threads();
	}
}

TEST(products_agree_with_the_reference_stack)
{
	static const struct random_ask ask = { .names = names, .name_count = OPS, .windows = true };

	random_test(&ask, properties_open, properties_compare, 300);
}

CHECK_MAIN
