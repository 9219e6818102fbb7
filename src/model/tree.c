/*
 * The tree: the same as flat, by call path and thread.
 *
 * Each worker grows a tree of its own; they are put together by path when all
 * streams are done. A node's self time excludes all children, whatever their
 * kind: that is what a flame graph draws. Ranges deeper than DEEPEST are part of
 * their ancestor's self time, so that a runaway recursion does not cost a node a
 * level.
 */
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/pool.h"
#include "model/tally.h"
#include "model/walk.h"

#define DEEPEST 1024u
#define ROOT_SYMBOL DW_NO_INDEX
#define MOST_NODES (1u << 16)      /* of a worker; paths beyond are "(other calls)" of their parent */
#define MOST_QUANTILES (1u << 12)  /* nodes that have percentiles, of a worker: they take the most room */
#define FOLDED (DW_NO_INDEX - 1)   /* the node of a frame within such: its time is theirs */
#define OTHER (DW_NO_INDEX - 2)

struct node {
	struct dw_tally tally;
	uint32_t parent, symbol; /* of a root: DW_NO_INDEX, and the thread stands in `thread` */
	uint32_t thread, depth;
};

/* Where a node's percentiles are kept; NULL: it has none. */
#define QUANTILES_OF(trunk, index) ((index) < MOST_QUANTILES ? &(trunk)->arena : NULL)

/* Nodes and where to find them by (parent, symbol). */
struct trunk {
	struct node *nodes;
	size_t count, capacity;
	uint32_t *slots; /* node + 1 */
	size_t mask;
	struct dw_arena arena; /* of the tallies */
	uint32_t most;
	bool failed;
};

struct frame {
	uint64_t start, child;
	uint32_t node; /* DW_NO_INDEX: out of scope */
};

struct worker {
	struct trunk trunk;
	struct frame *frames; /* DEEPEST + 1 */
	void *buffer;
};

struct pass {
	struct dw_model *model;
	struct worker *workers;
	uint32_t file;
};

struct context {
	struct dw_walk walk;
	struct worker *worker;
	struct frame *frames;
	uint32_t depth;      /* of frames that stand in `frames`; [0] is the root */
	uint32_t over;       /* frames beyond DEEPEST */
	uint32_t in_scope;
};

/* ---- trunks ------------------------------------------------------------------------------ */

static size_t place(const struct trunk *trunk, uint32_t parent, uint32_t symbol)
{
	uint64_t key = ((uint64_t)parent << 32 | symbol) * 0x9e3779b97f4a7c15u;

	return (key ^ key >> 32) & trunk->mask;
}

static bool widen(struct trunk *trunk)
{
	size_t size = trunk->mask ? (trunk->mask + 1) * 2 : 1024;
	uint32_t *slots = calloc(size, sizeof *slots);

	if (!slots)
		return false;
	free(trunk->slots);
	trunk->slots = slots;
	trunk->mask = size - 1;
	for (size_t i = 0; i < trunk->count; i++) {
		const struct node *node = &trunk->nodes[i];
		uint32_t symbol = node->parent == DW_NO_INDEX ? node->thread : node->symbol;
		size_t at = place(trunk, node->parent, symbol);

		while (trunk->slots[at])
			at = (at + 1) & trunk->mask;
		trunk->slots[at] = (uint32_t)i + 1;
	}
	return true;
}

/* The child `symbol` of `parent` (the root of thread `symbol` if there is none),
 * made when it is new; DW_NO_INDEX when out of memory. When there are as many as
 * may be: FOLDED or OTHER. */
static uint32_t find_child(struct trunk *trunk, uint32_t parent, uint32_t symbol)
{
	struct node *node;
	size_t at;

	if (trunk->count * 2 >= trunk->mask && !widen(trunk)) {
		trunk->failed = true;
		return DW_NO_INDEX;
	}
	for (at = place(trunk, parent, symbol); trunk->slots[at]; at = (at + 1) & trunk->mask) {
		node = &trunk->nodes[trunk->slots[at] - 1];
		if (node->parent == parent &&
		    (parent == DW_NO_INDEX ? node->thread : node->symbol) == symbol)
			return trunk->slots[at] - 1;
	}
	if (trunk->count >= trunk->most && parent != DW_NO_INDEX && symbol != DW_OTHER_CALLS)
		return trunk->nodes[parent].symbol == DW_OTHER_CALLS ? FOLDED : OTHER;
	node = DW_GROW(&trunk->nodes, &trunk->capacity, trunk->count);
	if (!node) {
		trunk->failed = true;
		return DW_NO_INDEX;
	}
	node->parent = parent;
	node->symbol = parent == DW_NO_INDEX ? ROOT_SYMBOL : symbol;
	node->thread = parent == DW_NO_INDEX ? symbol : trunk->nodes[parent].thread;
	node->depth = parent == DW_NO_INDEX ? 0 : trunk->nodes[parent].depth + 1;
	trunk->slots[at] = (uint32_t)trunk->count + 1;
	return (uint32_t)trunk->count++;
}

static uint32_t child_of(struct trunk *trunk, uint32_t parent, uint32_t symbol)
{
	uint32_t child = find_child(trunk, parent, symbol);

	return child == OTHER ? find_child(trunk, parent, DW_OTHER_CALLS) : child;
}

/* ---- the loop --------------------------------------------------------------------------------- */

DW_INLINE void visit_begin(void *pointer, uint64_t ticks, uint32_t id)
{
	struct context *context = pointer;
	struct dw_op op = dw_walk_op(&context->walk, id);
	bool in = context->walk.wanted && dw_walk_in_time(&context->walk, ticks);
	uint32_t parent, node = DW_NO_INDEX;

	if (context->depth == DEEPEST || context->over) {
		context->over++;
		return;
	}
	parent = context->frames[context->depth].node;
	if (in && parent == DW_NO_INDEX) /* its parent began out of scope */
		parent = context->frames[0].node;
	if (in && parent == FOLDED)
		node = FOLDED;
	else if (in && parent != DW_NO_INDEX)
		node = child_of(&context->worker->trunk, parent,
		                context->walk.model->row_symbol[op.row]);
	context->in_scope += node != DW_NO_INDEX;
	context->frames[++context->depth] = (struct frame){ ticks, 0, node };
}

/* Ends the innermost frame; its node's tally, or NULL out of scope. */
static struct dw_tally *pop(struct context *context, uint64_t ticks)
{
	struct frame *frame = &context->frames[context->depth--];
	uint64_t duration = ticks - frame->start;
	struct trunk *trunk = &context->worker->trunk;
	struct dw_tally *tally;

	if (frame->node == FOLDED) {
		context->in_scope--;
		return NULL; /* what it took stays its parent's */
	}
	context->frames[context->depth].child += duration;
	if (frame->node == DW_NO_INDEX)
		return NULL;
	context->in_scope--;
	tally = &trunk->nodes[frame->node].tally;
	dw_tally_add(tally, QUANTILES_OF(trunk, frame->node), duration, duration - frame->child);
	return tally;
}

DW_INLINE void visit_end(void *pointer, uint64_t ticks)
{
	struct context *context = pointer;

	if (context->over)
		context->over--;
	else if (context->depth)
		pop(context, ticks);
}

/* Its own duration counts; to its children it is as if it had never been there. */
static void end_of(struct context *context, uint64_t ticks, uint32_t n)
{
	struct frame frame;
	uint32_t at;

	if (context->over || n >= context->depth)
		return;
	at = context->depth - n;
	frame = context->frames[at];
	if (n) {
		uint64_t inner = ticks - context->frames[at + 1].start;

		frame.child += inner; /* the part of the next one that lay in it so far */
		context->frames[at - 1].child -= inner;
	}
	memmove(&context->frames[at], &context->frames[at + 1], n * sizeof frame);
	context->frames[context->depth] = frame;
	/* pop() gives the duration to the frame below: that must be the one at - 1. */
	uint64_t kept = context->frames[context->depth - 1].child;
	pop(context, ticks);
	if (n) {
		context->frames[context->depth].child = kept;
		context->frames[at - 1].child += ticks - frame.start;
	}
}

static void set_root(struct context *context)
{
	context->frames[0].node =
	    child_of(&context->worker->trunk, DW_NO_INDEX, context->walk.thread);
}

static void flush(void *pointer, uint64_t ticks, enum dw_flush why)
{
	struct context *context = pointer;

	context->over = 0;
	while (context->depth) {
		struct dw_tally *tally = pop(context, ticks);

		if (tally) {
			tally->open += why != DW_FLUSH_GAP;
			tally->cut += why == DW_FLUSH_GAP;
		}
	}
	/* Whoever has the stream next begins with a record of its own or a new chunk. */
	context->frames[0].node = DW_NO_INDEX;
}

static __attribute__((noinline)) void visit_rest(struct context *context, uint64_t ticks,
                                                 const struct dw_record *record)
{
	if (dw_walk_break(&context->walk, ticks, record, flush))
		return;
	if (record->kind == DW_END_OF)
		end_of(context, ticks, record->payload[0]);
}

DW_INLINE void visit_other(void *context, uint64_t ticks, const struct dw_record *record)
{
	struct dw_record copy = *record;

	visit_rest(context, ticks, &copy);
}

DW_INLINE void visit_begin_rooted(void *pointer, uint64_t ticks, uint32_t id)
{
	struct context *context = pointer;

	if (__builtin_expect(context->frames[0].node == DW_NO_INDEX, 0) && context->walk.wanted)
		set_root(context);
	visit_begin(pointer, ticks, id);
}

static bool may_skip(void *pointer)
{
	struct context *context = pointer;

	if (context->in_scope)
		return false;
	flush(pointer, dw_time_now(&context->walk.time), DW_FLUSH_END);
	return true;
}

static bool prepare(struct worker *worker)
{
	worker->trunk.most = MOST_NODES;
	if (!worker->frames)
		worker->frames = calloc(DEEPEST + 1, sizeof *worker->frames);
	if (!worker->buffer)
		worker->buffer = malloc(DW_BLOCK_BYTES);
	if (!worker->frames || !worker->buffer)
		worker->trunk.failed = true;
	return !worker->trunk.failed;
}

static void walk_stream(void *pointer, unsigned index, size_t at)
{
	struct pass *pass = pointer;
	struct worker *worker = &pass->workers[index];
	size_t stream = pass->model->stream_order[at];
	const struct dw_source_stream *from = &pass->model->source->streams[stream];
	struct context context;

	if (from->file != pass->file || !dw_scope_has_stream(pass->model, from) || !prepare(worker))
		return;
	memset(&context, 0, sizeof context);
	dw_walk_init(&context.walk, pass->model, stream, worker->buffer);
	context.worker = worker;
	context.frames = worker->frames;
	context.frames[0] = (struct frame){ 0, 0, DW_NO_INDEX };
	dw_walk(&context.walk, visit_begin_rooted, visit_end, visit_other, flush, may_skip);
}

/* ---- putting together ----------------------------------------------------------------------------- */

/* Parents come before their children in a trunk, so one pass finds them moved. */
static bool merge(struct trunk *into, const struct trunk *from, double ratio)
{
	uint32_t *moved = malloc((from->count + 1) * sizeof *moved);

	for (size_t i = 0; moved && i < from->count; i++) {
		const struct node *node = &from->nodes[i];
		bool root = node->parent == DW_NO_INDEX;

		moved[i] = child_of(into, root ? DW_NO_INDEX : moved[node->parent],
		                    root ? node->thread : node->symbol);
		if (moved[i] == DW_NO_INDEX)
			break;
		if (moved[i] == FOLDED) {
			moved[i] = moved[node->parent];
			into->nodes[moved[i]].tally.self += (uint64_t)((double)node->tally.self * ratio + 0.5);
		} else
			dw_tally_merge(&into->nodes[moved[i]].tally, QUANTILES_OF(into, moved[i]), &node->tally,
			               ratio);
	}
	free(moved);
	return moved && !into->failed;
}

static void reset_trunk(struct trunk *trunk)
{
	free(trunk->nodes);
	free(trunk->slots);
	dw_arena_reset(&trunk->arena);
	memset(trunk, 0, sizeof *trunk);
}

/* ---- order ---------------------------------------------------------------------------------------- */

struct key {
	uint32_t parent, node, symbol;
	uint64_t total;
};

static int compare_keys(const void *left, const void *right)
{
	const struct key *a = left, *b = right;

	if (a->parent != b->parent)
		return a->parent < b->parent ? -1 : 1; /* roots, whose parent is the largest, last */
	if (a->total != b->total && a->parent != DW_NO_INDEX)
		return a->total < b->total ? 1 : -1;
	return (a->symbol > b->symbol) - (a->symbol < b->symbol);
}

/* What a root has is what its children have. */
static void sum_roots(struct trunk *trunk)
{
	for (size_t i = 0; i < trunk->count; i++) {
		struct node *node = &trunk->nodes[i];

		if (node->depth == 1)
			trunk->nodes[node->parent].tally.total += node->tally.total;
	}
}

/* Where the children of each node begin in `keys`; roots are those of `count`. */
static uint32_t *index_children(const struct key *keys, size_t count)
{
	uint32_t *first = malloc((count + 2) * sizeof *first);
	size_t at = 0;

	for (size_t node = 0; first && node <= count; node++) {
		uint32_t parent = node == count ? DW_NO_INDEX : (uint32_t)node;

		while (at < count && keys[at].parent < parent)
			at++;
		first[node] = (uint32_t)at;
		while (at < count && keys[at].parent == parent)
			at++;
	}
	if (first)
		first[count + 1] = (uint32_t)count;
	return first;
}

static void put_node(struct dw_tree *tree, const struct node *node, uint32_t parent,
                     double ns_per_tick)
{
	struct dw_tree_node *to = &tree->nodes[tree->count++];

	to->symbol = node->symbol;
	to->thread = node->thread;
	to->parent = parent;
	to->depth = node->depth;
	if (node->depth)
		dw_tally_stat(&node->tally, ns_per_tick, &to->stat);
	else
		to->stat.total_ns = (uint64_t)((double)node->tally.total * ns_per_tick + 0.5);
}

/* Depth first without recursion: the way down is the parents' places in `keys`. */
static bool put_all(struct dw_tree *tree, const struct trunk *trunk, const struct key *keys,
                    const uint32_t *first, double ns_per_tick)
{
	struct { uint32_t at, end, parent; } way[DEEPEST + 3];
	int level = 0;

	way[0].at = first[trunk->count];
	way[0].end = (uint32_t)trunk->count;
	way[0].parent = DW_NO_INDEX;
	while (level >= 0) {
		if (way[level].at == way[level].end) {
			level--;
			continue;
		}
		uint32_t node = keys[way[level].at++].node, place = (uint32_t)tree->count;

		put_node(tree, &trunk->nodes[node], way[level].parent, ns_per_tick);
		level++;
		way[level].at = first[node];
		way[level].end = node + 1 == trunk->count ? first[trunk->count] : first[node + 1];
		way[level].parent = place;
	}
	return true;
}

static bool put_in_order(struct dw_model *model, struct dw_tree *tree, struct trunk *trunk)
{
	double ns_per_tick = model->source->files[0].clock.ns_per_tick;
	struct key *keys = malloc((trunk->count + 1) * sizeof *keys);
	uint32_t *first = NULL;
	bool done;

	sum_roots(trunk);
	tree->nodes = dw_arena_alloc(&model->arena, (trunk->count + 1) * sizeof *tree->nodes);
	for (size_t i = 0; keys && i < trunk->count; i++) {
		const struct node *node = &trunk->nodes[i];

		keys[i] = (struct key){ node->parent, (uint32_t)i,
			                    node->depth ? node->symbol : node->thread, node->tally.total };
	}
	if (keys && trunk->count)
		qsort(keys, trunk->count, sizeof *keys, compare_keys);
	if (keys)
		first = index_children(keys, trunk->count);
	done = keys && first && tree->nodes &&
	       put_all(tree, trunk, keys, first, ns_per_tick);
	free(keys);
	free(first);
	return done;
}

/* ---- the product ------------------------------------------------------------------------------------- */

static bool walk_files(struct dw_model *model, struct trunk *whole)
{
	const struct dw_source *source = model->source;
	unsigned count = dw_pool_workers(source->stream_count);
	struct pass pass = { model, calloc(count, sizeof *pass.workers), 0 };
	bool good = pass.workers != NULL;

	for (uint32_t f = 0; good && f < source->file_count; f++) {
		double ratio = source->files[f].clock.ns_per_tick / source->files[0].clock.ns_per_tick;

		pass.file = f;
		dw_pool_run(source->stream_count, count, walk_stream, &pass);
		for (unsigned i = 0; i < count; i++) {
			good = good && !pass.workers[i].trunk.failed &&
			       merge(whole, &pass.workers[i].trunk,
			             ratio > 0.999999 && ratio < 1.000001 ? 1.0 : ratio);
			reset_trunk(&pass.workers[i].trunk);
		}
	}
	for (unsigned i = 0; pass.workers && i < count; i++) {
		reset_trunk(&pass.workers[i].trunk);
		free(pass.workers[i].frames);
		free(pass.workers[i].buffer);
	}
	free(pass.workers);
	return good;
}

const struct dw_tree *dw_model_tree(struct dw_model *model, struct dwell_error *error)
{
	struct trunk whole = { .most = 4 * MOST_NODES };
	struct dw_tree *tree;

	if (model->tree)
		return model->tree;
	tree = dw_arena_alloc(&model->arena, sizeof *tree);
	if (tree && walk_files(model, &whole) && put_in_order(model, tree, &whole))
		model->tree = tree;
	else
		dw_model_no_memory(model, error);
	reset_trunk(&whole);
	return model->tree;
}
