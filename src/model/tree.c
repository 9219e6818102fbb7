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

struct node {
	struct dw_tally tally;
	uint32_t parent, symbol; /* of a root: DW_NO_INDEX, and the thread stands in `thread` */
	uint32_t thread, depth;
};

/* Nodes and where to find them by (parent, symbol). */
struct trunk {
	struct node *nodes;
	size_t count, capacity;
	uint32_t *slots; /* node + 1 */
	size_t mask;
	struct dw_arena arena; /* of the tallies */
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
 * made when it is new; DW_NO_INDEX when out of memory. */
static uint32_t child_of(struct trunk *trunk, uint32_t parent, uint32_t symbol)
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
	node = trunk->count < DW_NO_INDEX - 1
	           ? DW_GROW(&trunk->nodes, &trunk->capacity, trunk->count) : NULL;
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
	if (in && parent != DW_NO_INDEX)
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

	context->frames[context->depth].child += duration;
	if (frame->node == DW_NO_INDEX)
		return NULL;
	context->in_scope--;
	tally = &trunk->nodes[frame->node].tally;
	dw_tally_add(tally, &trunk->arena, duration, duration - frame->child);
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
	if (record->kind == DW_THREAD)
		dw_walk_thread(&context->walk, ticks, record->id, flush);
	else if (record->kind == DW_END_OF)
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
		dw_tally_merge(&into->nodes[moved[i]].tally, &into->arena, &node->tally, ratio);
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

/* What a root has is what its children have. */
static void sum_roots(struct trunk *trunk)
{
	for (size_t i = 0; i < trunk->count; i++) {
		struct node *node = &trunk->nodes[i];

		if (node->parent == DW_NO_INDEX || trunk->nodes[node->parent].parent != DW_NO_INDEX)
			continue;
		struct dw_tally *root = &trunk->nodes[node->parent].tally;
		root->total += node->tally.total;
		root->count += node->tally.count;
	}
}

/* Sorted: by depth first, so that parents stand before children; then siblings. */
static const struct node *sort_nodes;

static int compare_nodes(const void *left, const void *right)
{
	const struct node *a = &sort_nodes[*(const uint32_t *)left];
	const struct node *b = &sort_nodes[*(const uint32_t *)right];

	if (a->depth != b->depth)
		return a->depth < b->depth ? -1 : 1;
	if (a->depth == 0)
		return (a->thread > b->thread) - (a->thread < b->thread);
	if (a->tally.total != b->tally.total)
		return a->tally.total < b->tally.total ? 1 : -1;
	return (a->symbol > b->symbol) - (a->symbol < b->symbol);
}
