/* Draws random streams and keeps their reference; see random_stream.h. */
#include "random_stream.h"

struct reference reference;
struct made made;
uint32_t random_ids[MOST_OPS], random_threads[THREADS];
bool random_named, random_overlaps, random_plain;

static const struct random_ask *random_ask;
static uint64_t random_state;
static struct dw_encode_stream random_streams[2];

void *random_grow(void *items, size_t *capacity, size_t count, size_t bytes)
{
	if (count < *capacity)
		return items;
	*capacity = *capacity * 2 + 64;
	items = realloc(items, *capacity * bytes);
	if (!items)
		abort();
	return items;
}

/* ---- the reference ----------------------------------------------------------------------- */

static uint32_t reference_path_below(uint32_t parent, uint32_t op, uint32_t thread)
{
	struct reference *r = &reference;

	for (size_t i = 0; i < r->path_count; i++)
		if (r->paths[i].parent == parent && r->paths[i].op == op && r->paths[i].thread == thread)
			return (uint32_t)i;
	r->paths = random_grow(r->paths, &r->path_capacity, r->path_count, sizeof *r->paths);
	r->paths[r->path_count] = (struct path){ .parent = parent, .op = op, .thread = thread };
	return (uint32_t)r->path_count++;
}

static bool reference_is(const struct range *range, uint32_t category)
{
	return reference.names[range->op].category == category;
}

/* Time passes: each kind's innermost open range has it. */
static void reference_pass_time(uint64_t ticks)
{
	struct reference *r = &reference;
	uint64_t passed = ticks - r->now;
	bool seen[32] = { false }, seen_all = false, function = false, operator = false,
	     layer = false;

	for (uint32_t i = r->depth; i-- > 0;) {
		struct range *range = &r->open[i];
		uint32_t kind = dw_kind_of(reference.names[range->op].category);

		if (!seen[kind])
			range->self_kind += passed;
		seen[kind] = true;
		if (range->path != NO_PATH)
			r->paths[range->path].total += passed;
		if (range->path != NO_PATH && !seen_all)
			r->paths[range->path].self += passed;
		seen_all |= range->kept;
		if (range->counts && reference_is(range, DWELL_CATEGORY_FUNCTION) && !function) {
			r->self_function[range->op] += passed;
			function = true;
		}
		if (range->counts && reference_is(range, DWELL_CATEGORY_OPERATOR) && !operator) {
			r->self_operator[range->op] += passed;
			r->layer_operators[range->layer] += passed;
			operator = true;
			if (!range->inner && !range->covered)
				r->missed_time += passed;
		}
	}
	for (uint32_t op = 0; op < reference.name_count; op++)
		for (uint32_t i = 0; i < r->depth; i++)
			if (r->open[i].op == op && r->open[i].counts) {
				r->covered[op] += passed;
				break;
			}
	for (uint32_t i = r->depth; i-- > 0 && !layer;)
		if (r->open[i].counts && reference_is(&r->open[i], DWELL_CATEGORY_LAYER)) {
			r->layer_self[r->open[i].op] += passed;
			layer = true;
		}
	if (r->depth) {
		r->busy[r->thread] += passed;
		r->outermost[r->thread][r->open[0].op] += passed;
	}
	r->now = ticks;
}

/* Where the tree has a range now: below the range around it. A range that is beyond its depth stays there. */
static void reference_find_path(struct range *range, const struct range *around)
{
	uint32_t parent = around ? around->path : NO_PATH;

	range->path_depth = parent == NO_PATH ? 1 : around->path_depth + 1;
	range->kept = !(around && around->counts && !around->kept) && range->path_depth <= DEEPEST_OF_TREE;
	if (range->kept && parent == NO_PATH)
		parent = reference_path_below(NO_PATH, MOST_OPS, range->thread);
	if (range->kept)
		range->path = reference_path_below(parent, range->op, range->thread);
}

static void reference_begin(uint32_t op, bool by_name)
{
	struct reference *r = &reference;
	struct range *range = &r->open[r->depth];
	const struct range *around = r->depth ? range - 1 : NULL, *operator = NULL;

	*range = (struct range){ .op = op, .thread = r->thread, .start = r->now, .by_name = by_name,
		.stream = r->stream };
	range->counts = r->now >= r->from && r->now < r->to;
	range->layer = around ? around->layer : MOST_OPS;
	if (reference_is(range, DWELL_CATEGORY_LAYER))
		range->layer = op;
	range->path = NO_PATH;
	range->folded = r->depth && (around->folded || r->depth >= DEEPEST_OF_TREE);
	range->kept = !range->folded;
	if (range->kept && range->counts)
		reference_find_path(range, around);
	for (uint32_t i = r->depth; i-- > 0 && !operator;)
		if (r->open[i].counts && reference_is(&r->open[i], DWELL_CATEGORY_OPERATOR))
			operator = &r->open[i];
	if (reference_is(range, DWELL_CATEGORY_OPERATOR)) {
		range->inner = operator && operator->covered;
		range->covered = range->inner || reference.names[op].flops;
	}
	if (range->counts && reference_is(range, DWELL_CATEGORY_FUNCTION))
		r->level[op]++;
	r->ranges[r->thread]++;
	r->depth++;
}

static void reference_count_end(const struct range *range)
{
	struct reference *r = &reference;
	uint64_t total = range->end - range->start;

	if (!range->counts)
		return;
	if (range->path != NO_PATH) {
		struct path *path = &r->paths[range->path];

		path->count++;
		path->open += range->why == OPEN;
		path->cut += range->why == CUT;
	}
	if (reference_is(range, DWELL_CATEGORY_FUNCTION)) {
		r->function_calls[range->op]++;
		if (--r->level[range->op] == 0) {
			r->primitive[range->op]++;
			r->primitive_total[range->op] += total;
		}
	}
	r->layer_calls[range->op] += reference_is(range, DWELL_CATEGORY_LAYER);
	if (reference_is(range, DWELL_CATEGORY_OPERATOR) && !range->inner) {
		r->flops_calls += range->covered;
		r->flops_time += range->covered ? total : 0;
		r->missed_calls += !range->covered;
	}
}

/* A range at this place has ended: those that began in it go on in the range around it. */
static void reference_move(uint32_t at)
{
	struct reference *r = &reference;
	uint32_t moved = 0;

	for (uint32_t i = at; i < r->depth; i++)
		moved += !r->open[i].folded;
	r->stayed |= moved > MOST_MOVED_IN_TREE;
	for (uint32_t i = at; i < r->depth && moved <= MOST_MOVED_IN_TREE; i++)
		if (r->open[i].path != NO_PATH)
			reference_find_path(&r->open[i], i ? &r->open[i - 1] : NULL);
}

/* The range at place `at` of the list ends now. */
static void reference_end_at(uint32_t at, enum range_end why)
{
	struct reference *r = &reference;
	struct range range = r->open[at];

	range.end = r->now;
	range.why = why;
	memmove(&r->open[at], &r->open[at + 1], (r->depth - at - 1) * sizeof range);
	r->depth--;
	reference_move(at);
	reference_count_end(&range);
	r->closed = random_grow(r->closed, &r->closed_capacity, r->closed_count, sizeof range);
	r->closed[r->closed_count++] = range;
}

static void reference_end_all(enum range_end why)
{
	struct reference *r = &reference;

	if (why == CUT) {
		r->missing = random_grow(r->missing, &r->missing_capacity, r->missing_count,
		                         sizeof *r->missing);
		r->missing[r->missing_count++] = (struct missing){ r->now, r->thread };
	}
	while (reference.depth)
		reference_end_at(reference.depth - 1, why);
}

/* ---- drawing a stream -------------------------------------------------------------------- */

uint32_t random_below(uint32_t below)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return (uint32_t)((random_state >> 16) % below);
}

struct dw_encode_stream *random_stream(void)
{
	return &random_streams[reference.stream];
}

static uint32_t random_make_op(uint32_t i)
{
	static const int64_t left[] = { 2, 3 }, right[] = { 3, 4 };
	const struct dwell_tensor tensors[] = { { left, 2, DWELL_FLOAT32 },
		                                    { right, 2, DWELL_FLOAT32 } };
	const struct random_name *name = &reference.names[i];
	uint32_t shapes = name->flops ? dw_encode_shapes(&made.process, tensors, 2) : 0;

	return dw_encode_op(&made.process, name->category, name->name, name->detail, shapes, NULL, 0);
}

uint64_t random_next_time(void)
{
	uint64_t ticks = reference.now + 1 + random_below(random_below(20) ? 50 : 100000);

	reference_pass_time(ticks);
	return ticks;
}

static void random_put_begin(void)
{
	uint32_t op = random_below(reference.name_count);
	bool by_name = random_named && random_below(6) == 0;
	uint64_t ticks = random_next_time();

	reference_begin(op, by_name);
	dw_encode_begin(random_stream(), ticks, random_ids[op]);
	if (by_name)
		dw_encode_record(random_stream(), ticks, DW_EXT, DW_EXT_BY_NAME << DW_EXT_TYPE_SHIFT, NULL,
		                 0);
}

static void random_put_end(void)
{
	uint64_t ticks = random_next_time();
	uint32_t at = reference.depth;

	/* An end without a name passes over ranges that end by name. */
	while (at && reference.open[at - 1].by_name)
		at--;
	if (at)
		reference_end_at(at - 1, ENDED);
	dw_encode_end(random_stream(), ticks);
}

static void random_put_end_of(void)
{
	uint64_t ticks = random_next_time();
	uint32_t n = random_below(random_below(4) ? 4 : reference.depth + 2);

	if (n < reference.depth)
		reference_end_at(reference.depth - 1 - n, ENDED);
	dw_encode_record(random_stream(), ticks, DW_END_OF, 0, &n, 1);
}

static void random_put_end_named(void)
{
	uint64_t ticks = random_next_time();
	uint32_t op = random_below(reference.name_count), n = random_below(4) ? 0 : random_below(3);
	uint32_t at = reference.depth, inner = n;

	while (at && (reference.open[at - 1].op != op || inner-- != 0))
		at--;
	if (at)
		reference_end_at(at - 1, ENDED);
	dw_encode_record(random_stream(), ticks, DW_END_OF, random_ids[op], &n, 1);
}

static void random_put_loss(void)
{
	uint64_t ticks = random_next_time(), lost = 7;

	reference_end_all(CUT);
	dw_encode_record(random_stream(), ticks, DW_LOSS, DW_LOSS_BUSY, &lost, 2);
}

static void random_put_thread(void)
{
	uint64_t ticks = random_next_time();
	uint32_t thread = reference.stream ? FIRST_THREADS + random_below(THREADS - FIRST_THREADS)
	                                   : random_below(FIRST_THREADS);

	if (thread != reference.thread)
		reference_end_all(OPEN);
	reference.thread = thread;
	dw_encode_record(random_stream(), ticks, DW_THREAD, random_threads[thread], NULL, 0);
	random_stream()->thread = random_threads[thread]; /* of the next chunk */
}

static void random_put_gap(void)
{
	reference_end_all(CUT);
	dw_encode_gap(random_stream(), 1 + random_below(3));
	/* The next chunk begins where this one ended. */
}

/* A record that begins and ends no range of the stack. */
static void random_put_mark(void)
{
	static const struct {
		enum dw_kind kind;
		unsigned words;
	} kinds[] = { { DW_MARK, 0 },      { DW_COUNTER, 2 },  { DW_ASYNC_BEGIN, 2 },
		          { DW_ASYNC_END, 2 }, { DW_FLOW_OUT, 2 }, { DW_FLOW_IN, 2 } };
	uint32_t kind = random_below(sizeof kinds / sizeof *kinds);
	uint64_t handle = random_below(4);

	dw_encode_record(random_stream(), random_next_time(), kinds[kind].kind, random_ids[0], &handle,
	                 kinds[kind].words);
}

static void random_put_run(void)
{
	uint32_t length = random_below(8) ? random_below(40) : random_below(1600);

	for (uint32_t i = 0; i < length && reference.depth < MOST_OPEN - 8; i++)
		random_put_begin();
	for (uint32_t i = random_below(length + 1); i > 0; i--)
		random_put_end();
}

static void random_put_record(void)
{
	uint32_t what = random_below(random_plain && random_below(500) ? 860 : 1000);

	if (random_plain && random_below(20) == 0)
		dw_encode_close(random_stream());
	if (reference.depth >= MOST_OPEN - 8)
		random_put_gap();
	else if (!random_plain && random_ask->others && random_below(1000) < random_ask->others)
		random_ask->draw_other();
	else if (what < 440)
		random_put_begin();
	else if (what < 860)
		random_put_end();
	else if (what < 900 && random_overlaps)
		random_put_end_of();
	else if (what < 930 && random_named)
		random_put_end_named();
	else if (what < 940)
		random_put_loss();
	else if (what < 950)
		random_put_thread();
	else if (what < 955)
		random_put_gap();
	else if (what < 965)
		dw_encode_close(random_stream()); /* a new chunk */
	else if (what < 968)
		random_put_run();
	else
		random_put_mark();
}

/* A process with two streams ends long after their last records but one. */
#define LATE 100000000000u

static void random_put_stream(uint32_t stream)
{
	uint32_t records = 20 + random_below(random_below(3) ? 400 : 4000);

	reference.stream = stream;
	reference.thread = stream ? FIRST_THREADS : 0;
	reference.now = 0;
	dw_encode_stream_init(&random_streams[stream], &made.process, stream,
	                      random_threads[reference.thread]);
	dw_encode_record(random_stream(), 0, DW_MARK, random_ids[0], NULL, 0);
	for (uint32_t i = 0; i < records; i++)
		random_put_record();
	if (reference.stream_count > 1) {
		reference_pass_time(LATE);
		dw_encode_record(random_stream(), LATE, DW_MARK, random_ids[0], NULL, 0);
	} else {
		random_put_mark();
	}
	reference_end_all(OPEN);
	reference.end = reference.now;
	dw_encode_close(random_stream());
}

static void random_start(const struct random_ask *ask, uint64_t seed)
{
	free(reference.closed);
	free(reference.missing);
	free(reference.paths);
	memset(&reference, 0, sizeof reference);
	reference.names = ask->names;
	reference.name_count = ask->name_count;
	reference.to = UINT64_MAX;
	random_ask = ask;
	random_state = seed * 0x9e3779b97f4a7c15u + 1;
	random_below(2);
	random_named = random_below(2);
	random_overlaps = random_named || random_below(2);
	random_plain = random_below(4) == 0;
	reference.stream_count = 1 + (random_below(3) == 0);
}

void random_draw_trace(const struct random_ask *ask, uint64_t seed)
{
	random_start(ask, seed);
	made_init(&made);
	if (random_named)
		dw_encode_head(&made.encode)->flags |= DW_HEAD_NAMED_ENDS;
	random_threads[0] = made.thread;
	for (uint32_t i = 1; i < THREADS; i++)
		random_threads[i] =
		    dw_encode_thread(&made.process, 100 + i, i >= FIRST_THREADS, 0, "other");
	for (uint32_t i = 0; i < reference.name_count; i++)
		random_ids[i] = random_make_op(i);
	if (ask->windows && random_below(3) == 0) { /* its times are known only roughly beforehand */
		reference.from = random_below(20000);
		reference.to = reference.from + 1 + random_below(40000);
	}
	if (ask->draw_begin)
		ask->draw_begin();
	for (uint32_t i = 0; i < reference.stream_count; i++)
		random_put_stream(i);
}

struct dw_scope random_scope(void)
{
	struct dw_scope scope = { .has_window = false };

	if (reference.to != UINT64_MAX) {
		scope.has_window = true;
		scope.from_ns = reference.from;
		scope.to_ns = reference.to;
	}
	return scope;
}
