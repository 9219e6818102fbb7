/*
 * Every product of the model, compared with one reference stack over random streams.
 *
 * A stream is generated record by record: ranges of several kinds that begin, end, or are ended out
 * of order by position or by name; lost records, gaps of recycled chunks, thread switches, nesting
 * deeper than the limits. The same events drive the reference below, which keeps all open ranges in
 * a list and, whenever time passes, adds the time to the innermost range of each kind. It is
 * simple, so that a reader can see that it is right. The figures of each product must equal those
 * of the reference.
 *
 * On a failure the seed of the stream is printed. With DWELL_TEST_SEED=N in the environment only
 * the stream of that seed is tested; DWELL_TEST_RUNS=N tests N streams instead of 300.
 */
#include "made.h"

#include "model/time/calls.h"
#include "model/time/flops.h"
#include "model/time/function_calls.h"
#include "model/core/model_data.h"
#include "model/layers/layers.h"
#include "model/time/joint.h"

/* ---- names -------------------------------------------------------------------------------- */

enum { OPS = 12, THREADS = 3, MOST_OPEN = 4096, DEEPEST_OF_TREE = 1024 };

static const struct name {
	const char *name;
	uint32_t category;
	uint64_t flops; /* of a call, as the model counts them: see op_of() */
} names[OPS] = {
	{ "zone a", DWELL_CATEGORY_ZONE, 0 },     { "zone b", DWELL_CATEGORY_ZONE, 0 },
	{ "op a", DWELL_CATEGORY_OPERATOR, 0 },   { "op b", DWELL_CATEGORY_OPERATOR, 0 },
	{ "aten::mm", DWELL_CATEGORY_OPERATOR, 48 },
	{ "net", DWELL_CATEGORY_LAYER, 0 },       { "net.a", DWELL_CATEGORY_LAYER, 0 },
	{ "fn a", DWELL_CATEGORY_FUNCTION, 0 },   { "fn b", DWELL_CATEGORY_FUNCTION, 0 },
	{ "fn c", DWELL_CATEGORY_FUNCTION, 0 },   { "collect", DWELL_CATEGORY_COLLECTOR, 0 },
	{ "phase", DWELL_CATEGORY_PHASE, 0 },
};

/* Self time excludes ranges of the same kind; zones, phases and a few more are one kind. */
static uint32_t kind_of(uint32_t op);

/* ---- the reference -------------------------------------------------------------------------- */

enum why { ENDED, CUT, OPEN };

struct range {
	uint32_t op, thread;
	uint64_t start, end;
	uint64_t self_kind; /* time as the innermost open range of its kind */
	uint64_t self_all;  /* time as the innermost open range that the tree keeps */
	uint32_t path;      /* of the tree; NO_PATH: beyond its depth */
	uint32_t layer;     /* the innermost layer that it lies in or is; OPS: none */
	uint32_t path_depth;
	bool folded;        /* deeper than the tree's stack */
	bool kept;          /* the tree tells it apart from what it lies in */
	bool by_name, counts, covered, inner;
	enum why why;
};

#define NO_PATH UINT32_MAX

struct path {
	uint32_t parent, op, thread; /* a root has no op: OPS */
	uint64_t count, total, self, open, cut;
};

struct sums {
	uint64_t count, total, self, least, most, open, cut;
};

static struct reference {
	struct range open[MOST_OPEN];
	uint32_t depth;
	struct range *closed;
	size_t closed_count, closed_capacity;
	uint64_t now;
	uint32_t thread;
	uint64_t busy[THREADS], ranges[THREADS];
	struct path *paths;
	size_t path_count, path_capacity;
	/* functions: open calls, and of the outermost ones the time */
	uint32_t level[OPS];
	uint64_t primitive[OPS], primitive_total[OPS], self_function[OPS], function_calls[OPS];
	uint64_t self_operator[OPS];
	uint64_t covered[OPS];      /* time during which at least one range of the name counts */
	uint64_t layer_calls[OPS], layer_self[OPS], layer_operators[OPS + 1];
	uint64_t flops_calls, flops_time, missed_calls, missed_time;
	uint64_t from, to; /* ranges count that begin in this window */
} reference;

static uint32_t path_below(uint32_t parent, uint32_t op, uint32_t thread)
{
	struct reference *r = &reference;

	for (size_t i = 0; i < r->path_count; i++)
		if (r->paths[i].parent == parent && r->paths[i].op == op && r->paths[i].thread == thread)
			return (uint32_t)i;
	if (r->path_count == r->path_capacity) {
		r->path_capacity = r->path_capacity * 2 + 64;
		r->paths = realloc(r->paths, r->path_capacity * sizeof *r->paths);
	}
	r->paths[r->path_count] = (struct path){ .parent = parent, .op = op, .thread = thread };
	return (uint32_t)r->path_count++;
}

static bool is(const struct range *range, uint32_t category)
{
	return names[range->op].category == category;
}

/* Time passes: each kind's innermost open range has it. */
static void pass_time(uint64_t ticks)
{
	struct reference *r = &reference;
	uint64_t passed = ticks - r->now;
	bool seen[32] = { false }, seen_all = false, function = false, operator = false,
	     layer = false;

	for (uint32_t i = r->depth; i-- > 0;) {
		struct range *range = &r->open[i];
		uint32_t kind = kind_of(range->op);

		if (!seen[kind])
			range->self_kind += passed;
		seen[kind] = true;
		if (range->kept && !seen_all) {
			range->self_all += passed;
			seen_all = true;
		}
		if (range->counts && is(range, DWELL_CATEGORY_FUNCTION) && !function) {
			r->self_function[range->op] += passed;
			function = true;
		}
		if (range->counts && is(range, DWELL_CATEGORY_OPERATOR) && !operator) {
			r->self_operator[range->op] += passed;
			r->layer_operators[range->layer] += passed;
			operator = true;
			if (!range->inner && !range->covered)
				r->missed_time += passed;
		}
	}
	for (uint32_t op = 0; op < OPS; op++)
		for (uint32_t i = 0; i < r->depth; i++)
			if (r->open[i].op == op && r->open[i].counts) {
				r->covered[op] += passed;
				break;
			}
	for (uint32_t i = r->depth; i-- > 0 && !layer;)
		if (r->open[i].counts && is(&r->open[i], DWELL_CATEGORY_LAYER)) {
			r->layer_self[r->open[i].op] += passed;
			layer = true;
		}
	if (r->depth)
		r->busy[r->thread] += passed;
	r->now = ticks;
}

static void begin(uint32_t op, bool by_name)
{
	struct reference *r = &reference;
	struct range *range = &r->open[r->depth];
	const struct range *around = r->depth ? range - 1 : NULL, *operator = NULL;

	*range = (struct range){ .op = op, .thread = r->thread, .start = r->now, .by_name = by_name };
	range->counts = r->now >= r->from && r->now < r->to;
	range->layer = is(range, DWELL_CATEGORY_LAYER) ? op : around ? around->layer : OPS;
	range->path = NO_PATH;
	range->folded = r->depth && (around->folded || r->depth >= DEEPEST_OF_TREE);
	range->kept = !range->folded;
	if (range->kept && range->counts) {
		uint32_t parent = around ? around->path : NO_PATH;

		/* A path may be longer than the stack: ranges outlive those that they began in. */
		range->path_depth = parent == NO_PATH ? 1 : around->path_depth + 1;
		range->kept = !(around && around->counts && !around->kept) &&
		              range->path_depth <= DEEPEST_OF_TREE;
		if (range->kept && parent == NO_PATH)
			parent = path_below(NO_PATH, OPS, r->thread);
		if (range->kept)
			range->path = path_below(parent, op, r->thread);
	}
	for (uint32_t i = r->depth; i-- > 0 && !operator;)
		if (r->open[i].counts && is(&r->open[i], DWELL_CATEGORY_OPERATOR))
			operator = &r->open[i];
	if (is(range, DWELL_CATEGORY_OPERATOR)) {
		range->inner = operator && operator->covered;
		range->covered = range->inner || names[op].flops;
	}
	if (range->counts && is(range, DWELL_CATEGORY_FUNCTION))
		r->level[op]++;
	r->ranges[r->thread]++;
	r->depth++;
}

static void count_end(const struct range *range)
{
	struct reference *r = &reference;
	uint64_t total = range->end - range->start;

	if (!range->counts)
		return;
	if (range->path != NO_PATH) {
		struct path *path = &r->paths[range->path];

		path->count++;
		path->total += total;
		path->self += range->self_all;
		path->open += range->why == OPEN;
		path->cut += range->why == CUT;
	}
	if (is(range, DWELL_CATEGORY_FUNCTION)) {
		r->function_calls[range->op]++;
		if (--r->level[range->op] == 0) {
			r->primitive[range->op]++;
			r->primitive_total[range->op] += total;
		}
	}
	r->layer_calls[range->op] += is(range, DWELL_CATEGORY_LAYER);
	if (is(range, DWELL_CATEGORY_OPERATOR) && !range->inner) {
		r->flops_calls += range->covered;
		r->flops_time += range->covered ? total : 0;
		r->missed_calls += !range->covered;
	}
}

/* The range at place `at` of the list ends now. */
static void end_at(uint32_t at, enum why why)
{
	struct reference *r = &reference;
	struct range range = r->open[at];

	range.end = r->now;
	range.why = why;
	memmove(&r->open[at], &r->open[at + 1], (r->depth - at - 1) * sizeof range);
	r->depth--;
	count_end(&range);
	if (r->closed_count == r->closed_capacity) {
		r->closed_capacity = r->closed_capacity * 2 + 1024;
		r->closed = realloc(r->closed, r->closed_capacity * sizeof *r->closed);
	}
	r->closed[r->closed_count++] = range;
}

static void end_all(enum why why)
{
	while (reference.depth)
		end_at(reference.depth - 1, why);
}

/* ---- drawing a stream ------------------------------------------------------------------------- */

static struct made made;
static uint64_t state;
static uint32_t ids[OPS], thread_ids[THREADS];
static bool named, overlaps;

static uint32_t draw(uint32_t below)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return (uint32_t)((state >> 16) % below);
}

static uint32_t op_of(uint32_t i)
{
	static const int64_t left[] = { 2, 3 }, right[] = { 3, 4 };
	const struct dwell_tensor tensors[] = { { left, 2, DWELL_FLOAT32 }, { right, 2, DWELL_FLOAT32 } };
	uint32_t shapes = names[i].flops ? dw_encode_shapes(&made.process, tensors, 2) : 0;

	return dw_encode_op(&made.process, names[i].category, names[i].name, NULL, shapes, NULL, 0);
}

static uint64_t next_time(void)
{
	uint64_t ticks = reference.now + 1 + draw(draw(20) ? 50 : 100000);

	pass_time(ticks);
	return ticks;
}

static void draw_begin(void)
{
	uint32_t op = draw(OPS);
	bool by_name = named && draw(6) == 0;
	uint64_t ticks = next_time();

	begin(op, by_name);
	dw_encode_begin(&made.stream, ticks, ids[op]);
	if (by_name)
		dw_encode_record(&made.stream, ticks, DW_EXT, DW_EXT_BY_NAME << DW_EXT_TYPE_SHIFT, NULL, 0);
}

static void draw_end(void)
{
	uint64_t ticks = next_time();
	uint32_t at = reference.depth;

	/* An end without a name passes over ranges that end by name. */
	while (at && reference.open[at - 1].by_name)
		at--;
	if (at)
		end_at(at - 1, ENDED);
	dw_encode_end(&made.stream, ticks);
}

static void draw_end_of(void)
{
	uint64_t ticks = next_time();
	uint32_t n = draw(draw(4) ? 4 : reference.depth + 2);

	if (n < reference.depth)
		end_at(reference.depth - 1 - n, ENDED);
	dw_encode_record(&made.stream, ticks, DW_END_OF, 0, &n, 1);
}

static void draw_end_named(void)
{
	uint64_t ticks = next_time();
	uint32_t op = draw(OPS), zero = 0, at = reference.depth;

	while (at && reference.open[at - 1].op != op)
		at--;
	if (at)
		end_at(at - 1, ENDED);
	dw_encode_record(&made.stream, ticks, DW_END_OF, ids[op], &zero, 1);
}

static void draw_loss(void)
{
	uint64_t ticks = next_time(), lost = 7;

	end_all(CUT);
	dw_encode_record(&made.stream, ticks, DW_LOSS, DW_LOSS_BUSY, &lost, 2);
}

static void draw_thread(void)
{
	uint64_t ticks = next_time();
	uint32_t thread = draw(THREADS);

	if (thread != reference.thread)
		end_all(OPEN);
	reference.thread = thread;
	dw_encode_record(&made.stream, ticks, DW_THREAD, thread_ids[thread], NULL, 0);
	made.stream.thread = thread_ids[thread]; /* of the next chunk */
}

static void draw_gap(void)
{
	end_all(CUT);
	dw_encode_gap(&made.stream, 1 + draw(3));
	/* The next chunk begins where this one ended. */
}

static void draw_mark(void)
{
	dw_encode_record(&made.stream, next_time(), DW_MARK, ids[0], NULL, 0);
}

static void draw_run(void)
{
	uint32_t length = draw(8) ? draw(40) : draw(1600);

	for (uint32_t i = 0; i < length && reference.depth < MOST_OPEN - 8; i++)
		draw_begin();
	for (uint32_t i = draw(length + 1); i > 0; i--)
		draw_end();
}

static void draw_record(void)
{
	uint32_t what = draw(1000);

	if (reference.depth >= MOST_OPEN - 8)
		end_all(CUT), dw_encode_gap(&made.stream, 1);
	else if (what < 440)
		draw_begin();
	else if (what < 860)
		draw_end();
	else if (what < 900 && overlaps)
		draw_end_of();
	else if (what < 930 && named)
		draw_end_named();
	else if (what < 940)
		draw_loss();
	else if (what < 950)
		draw_thread();
	else if (what < 955)
		draw_gap();
	else if (what < 965)
		dw_encode_close(&made.stream); /* a new chunk */
	else if (what < 968)
		draw_run();
	else
		draw_mark();
}

static void draw_stream(uint64_t seed)
{
	uint32_t records;

	state = seed * 0x9e3779b97f4a7c15u + 1;
	draw(2);
	named = draw(2);
	overlaps = named || draw(2);
	made_init(&made);
	if (named)
		dw_encode_head(&made.encode)->flags |= DW_HEAD_NAMED_ENDS;
	thread_ids[0] = made.thread;
	for (uint32_t i = 1; i < THREADS; i++)
		thread_ids[i] = dw_encode_thread(&made.process, 100 + i, 0, 0, "other");
	for (uint32_t i = 0; i < OPS; i++)
		ids[i] = op_of(i);
	free(reference.closed);
	free(reference.paths);
	memset(&reference, 0, sizeof reference);
	reference.to = UINT64_MAX;
	dw_encode_record(&made.stream, 0, DW_MARK, ids[0], NULL, 0);
	records = 20 + draw(draw(3) ? 400 : 4000);
	if (draw(3) == 0) { /* a window: its times are known only roughly beforehand */
		reference.from = draw(20000);
		reference.to = reference.from + 1 + draw(40000);
	}
	for (uint32_t i = 0; i < records; i++)
		draw_record();
	draw_mark();
	end_all(OPEN);
}

/* ---- the comparisons ---------------------------------------------------------------------------- */

static uint32_t kind_of(uint32_t op)
{
	return dw_kind_of(names[op].category);
}

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

static void compare_stat(const char *product, uint32_t op, const struct dw_stat *stat, bool operators)
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
		    (path->op == OPS ? !name : name && strcmp(names[path->op].name, name) == 0))
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
		expected += reference.paths[i].op != OPS;
	CHECK_EQ(counted, expected);
	free(by_node);
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

/* The profile by name is computed for two scopes, and the threads with them, in one walk. */
static void run_together(const struct dw_scope *window)
{
	struct dw_model *models[2];

	REQUIRE(made_open(&made, NULL) == 0);
	models[0] = models[1] = made.model;
	if (draw(2))
		made.model->segment_chunks = 1 + draw(3);
	if (window)
		REQUIRE(dw_model_within(made.model, window, &models[1], &made.error) == 0);
	CHECK_EQ(dw_model_compute_together(models, 2, &made.error), 0);
	made.model = models[1];
}

static void run_seed(uint64_t seed)
{
	struct dw_scope scope = { .has_window = false };
	unsigned long before = check_failures;

	draw_stream(seed);
	if (reference.to != UINT64_MAX) {
		scope.has_window = true;
		scope.from_ns = reference.from;
		scope.to_ns = reference.to;
	}
	if (draw(2)) {
		run_together(scope.has_window ? &scope : NULL);
	} else {
		REQUIRE(made_open(&made, &scope) == 0);
	}
	if (draw(2))
		made.model->whole->segment_chunks = 1 + draw(3); /* also where a stream is not worth splitting */
	compare_flat();
	compare_tree();
	compare_functions();
	compare_flops();
	compare_layers();
	compare_events();
	if (!overlaps) /* calls that overlap are siblings there, as torch.profiler has it */
		compare_calls();
	if (!scope.has_window)
		compare_threads();
	made.model = made.model->whole;
	made_close(&made);
	if (check_failures != before)
		CHECK_FAIL("that was seed %" PRIu64 " (%s)", seed, named ? "with ends by name" : "no names");
}

TEST(products_agree_with_the_reference_stack)
{
	const char *seed = getenv("DWELL_TEST_SEED"), *runs = getenv("DWELL_TEST_RUNS");
	uint64_t count = runs ? strtoull(runs, NULL, 10) : 300;

	if (seed) {
		run_seed(strtoull(seed, NULL, 10));
		return;
	}
	for (uint64_t i = 1; i <= count && check_failures < 20; i++)
		run_seed(i);
}

CHECK_MAIN
