/*
 * The pass behind the tree and the paths: call paths of all streams, in one trunk.
 *
 * Called by tree.c. Each worker grows a trunk of its own; they are put together by path
 * when all streams are done. Ranges deeper than DW_TREE_DEEPEST are part of their
 * ancestor's self time, so that a runaway recursion does not cost a node a level.
 *
 * Of recorded stacks, nodes are the frames of the outermost operator's stack and the
 * operators; all other ranges are passed through as if they were not there. An
 * operator's stack is the record after its begin: so its node is PENDING until more
 * is known.
 */
#include <stdlib.h>
#include <string.h>

#include "base/pool.h"
#include "model/tree_inside.h"
#include "model/walk.h"

#define PENDING (DW_NO_INDEX - 2)
#define UNKNOWN 0u             /* the symbol of frames that the file does not hold */

struct frame {
	uint64_t start, child;
	uint32_t node;   /* DW_NO_INDEX: out of scope */
	uint32_t symbol;
	uint32_t stack;  /* recorded, its own or inherited; 0: none */
	bool passed;     /* no node of its own: `node` is that of what it lies in */
};

struct worker {
	struct dw_trunk trunk;
	struct frame *frames; /* DW_TREE_DEEPEST + 1 */
	void *buffer;
	bool has_stacks;
};

struct pass {
	struct dw_model *model;
	const struct dw_functions *functions; /* of stacks; NULL: of calls */
	bool detailed;
	struct worker *workers;
	uint32_t file;
};

struct context {
	struct dw_walk walk;
	struct worker *worker;
	const struct dw_functions *functions;
	struct frame *frames;
	uint32_t depth;      /* of frames that stand in `frames`; [0] is the root */
	uint32_t over;       /* frames beyond DW_TREE_DEEPEST */
	uint32_t in_scope;
};

/* ---- the loop --------------------------------------------------------------------------------- */

/* The node of the frame at `depth`, which had no stack of its own. */
static uint32_t settle(struct context *context, uint32_t depth)
{
	struct frame *frame = &context->frames[depth];
	uint32_t parent = context->frames[depth - 1].node;

	if (parent == DW_NO_INDEX) /* its parent began out of scope */
		parent = context->frames[0].node;
	frame->node = parent == DW_TRUNK_FOLDED || parent == DW_NO_INDEX
	                  ? parent
	                  : dw_trunk_child(&context->worker->trunk, parent, frame->symbol);
	return frame->node;
}

DW_INLINE void visit_begin(void *pointer, uint64_t ticks, uint32_t id)
{
	struct context *context = pointer;
	struct dw_op op = dw_walk_op(&context->walk, id);
	bool in = context->walk.wanted && dw_walk_in_time(&context->walk, ticks);
	struct frame *frame;

	if (context->depth == DW_TREE_DEEPEST || context->over) {
		context->over++;
		return;
	}
	if (context->depth && context->frames[context->depth].node == PENDING)
		settle(context, context->depth);
	frame = &context->frames[++context->depth];
	*frame = (struct frame){ ticks, 0, DW_NO_INDEX, context->walk.model->row_symbol[op.row],
		                     frame[-1].stack, false };
	if (!context->functions) {
		if (in)
			settle(context, context->depth);
	} else if (op.kind != dw_kind_of(DWELL_CATEGORY_OPERATOR)) {
		frame->node = frame[-1].node;
		frame->passed = true;
	} else if (in) {
		frame->node = PENDING;
	}
	context->in_scope += !frame->passed && frame->node != DW_NO_INDEX;
}

/* The time of nodes in the frames from `at` on, up to now. */
static uint64_t time_within(const struct context *context, uint32_t at, uint64_t ticks)
{
	uint64_t passed = 0;

	for (; at <= context->depth; at++) {
		if (context->frames[at].node == DW_TRUNK_FOLDED)
			break;
		if (!context->frames[at].passed)
			return passed + ticks - context->frames[at].start;
		passed += context->frames[at].child;
	}
	return passed;
}

/* Ends the innermost frame; its node, or DW_NO_INDEX when it counts nowhere. */
static uint32_t pop(struct context *context, uint64_t ticks)
{
	struct frame *frame = &context->frames[context->depth];
	uint64_t duration = ticks - frame->start;

	if (frame->node == PENDING)
		settle(context, context->depth);
	context->depth--;
	context->in_scope -= !frame->passed && frame->node != DW_NO_INDEX;
	if (frame->passed) {
		frame[-1].child += frame->child;
		return DW_NO_INDEX;
	}
	if (frame->node == DW_TRUNK_FOLDED)
		return DW_NO_INDEX; /* what it took stays its parent's */
	frame[-1].child += duration;
	if (frame->node != DW_NO_INDEX)
		dw_trunk_add(&context->worker->trunk, frame->node, duration, duration - frame->child);
	return frame->node;
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
	uint64_t inner, kept;
	uint32_t at;

	if (context->over || n >= context->depth)
		return;
	at = context->depth - n;
	if (context->frames[context->depth].node == PENDING)
		settle(context, context->depth);
	frame = context->frames[at];
	inner = frame.passed || frame.node == DW_TRUNK_FOLDED ? 0 : time_within(context, at + 1, ticks);
	frame.child += inner; /* the part of the next ones that lay in it so far */
	memmove(&context->frames[at], &context->frames[at + 1], n * sizeof frame);
	context->frames[context->depth] = frame;
	/* pop() gives to the frame below what is the one's at - 1. */
	kept = context->frames[context->depth - 1].child;
	pop(context, ticks);
	inner = context->frames[context->depth].child - kept - inner;
	context->frames[context->depth].child = kept;
	context->frames[at - 1].child += inner;
}

/* A frame's functions below `node`, outermost first. What is beyond the most paths is one
 * node, which then has the operator's time too: frames have none that it could be part of. */
static uint32_t enter_frame(struct context *context, uint32_t node, uint32_t id)
{
	const struct dw_source_file *file = context->walk.file;
	const struct dw_functions *functions = context->functions;
	uint32_t first = functions->by_frame[context->walk.stream->file][id];
	uint32_t count = file->frames[id] ? file->frames[id]->count : 0;

	for (uint32_t n = count ? count : 1; n-- > 0;) {
		uint32_t next = dw_trunk_child(&context->worker->trunk, node,
		                               count ? functions->list[first + n] : UNKNOWN);

		if (next == DW_TRUNK_FOLDED)
			return node;
		if (next == DW_NO_INDEX)
			return next;
		node = next;
	}
	return node;
}

/* How many of the outermost frames two stacks share. */
static uint32_t shared_frames(const struct dw_source_stack *a, const struct dw_source_stack *b)
{
	uint32_t shared = 0;

	while (shared < a->count && shared < b->count &&
	       a->frames[a->count - 1 - shared] == b->frames[b->count - 1 - shared])
		shared++;
	return shared;
}

/* The innermost frame, an operator that has just begun, was called there. One inside of
 * another that has a stack too (a script's call) stays below it, with the frames between. */
static void take_stack(struct context *context, uint32_t id)
{
	const struct dw_source_file *file = context->walk.file;
	struct frame *frame = &context->frames[context->depth];
	struct dw_trunk *trunk = &context->worker->trunk;
	const struct dw_source_stack *stack;
	uint32_t around, node, leaf, shared = 0;

	if (!context->depth || context->over || frame->node != PENDING || !file->stacks ||
	    !file->frames || id >= file->symbol_count)
		return;
	stack = &file->stacks[id];
	around = frame[-1].stack;
	node = context->frames[0].node;
	if (around && frame[-1].node != DW_NO_INDEX) {
		node = frame[-1].node;
		shared = shared_frames(stack, &file->stacks[around]);
	}
	if (node == DW_NO_INDEX || node == DW_TRUNK_FOLDED)
		return; /* settled as any other */
	for (uint32_t i = stack->count - shared; i-- > 0 && node != DW_NO_INDEX;)
		if (stack->frames[i] < file->symbol_count)
			node = enter_frame(context, node, stack->frames[i]);
	context->worker->has_stacks |= stack->count > 0;
	leaf = node == DW_NO_INDEX ? node : dw_trunk_child(trunk, node, frame->symbol);
	frame->node = leaf == DW_TRUNK_FOLDED ? node : leaf;
	frame->stack = id;
}

static void flush(void *pointer, uint64_t ticks, enum dw_flush why)
{
	struct context *context = pointer;
	struct dw_trunk *trunk = &context->worker->trunk;

	context->over = 0;
	while (context->depth) {
		uint32_t node = pop(context, ticks);

		if (node != DW_NO_INDEX && trunk->detailed) {
			trunk->tallies[node].open += why != DW_FLUSH_GAP;
			trunk->tallies[node].cut += why == DW_FLUSH_GAP;
		}
	}
	/* Whoever has the stream next begins with a record of its own or a new chunk. */
	context->frames[0] = (struct frame){ .node = DW_NO_INDEX };
}

static __attribute__((noinline)) void visit_rest(struct context *context, uint64_t ticks,
                                                 const struct dw_record *record)
{
	if (dw_walk_break(&context->walk, ticks, record, flush))
		return;
	if (record->kind == DW_END_OF)
		end_of(context, ticks, record->payload[0]);
	else if (record->kind == DW_STACK && context->functions)
		take_stack(context, record->id);
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
		context->frames[0].node = dw_trunk_root(&context->worker->trunk, context->walk.thread);
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

static bool prepare(struct worker *worker, bool detailed)
{
	worker->trunk.most = detailed ? DW_TREE_NODES : DW_TREE_PATHS;
	worker->trunk.detailed = detailed;
	if (!worker->frames)
		worker->frames = calloc(DW_TREE_DEEPEST + 1, sizeof *worker->frames);
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

	if (from->file != pass->file || !dw_scope_has_stream(pass->model, from) ||
	    !prepare(worker, pass->detailed))
		return;
	memset(&context, 0, sizeof context);
	dw_walk_init(&context.walk, pass->model, stream, worker->buffer);
	context.worker = worker;
	context.functions = pass->functions;
	context.frames = worker->frames;
	context.frames[0] = (struct frame){ .node = DW_NO_INDEX };
	dw_walk(&context.walk, visit_begin_rooted, visit_end, visit_other, flush, may_skip);
}

/* A frame has no time but what is called from it: sums go up, children being behind. */
static void sum_frames(struct dw_trunk *trunk, uint32_t first_function)
{
	for (size_t i = trunk->count; i-- > 0;) {
		const struct dw_trunk_node *node = &trunk->nodes[i];
		struct dw_trunk_node *parent = node->depth > 1 ? &trunk->nodes[node->parent] : NULL;

		if (parent && (parent->symbol >= first_function || parent->symbol == UNKNOWN)) {
			parent->total += node->total;
			parent->count += node->count;
		}
	}
}

bool dw_tree_walk(struct dw_model *model, const struct dw_functions *functions,
                  struct dw_trunk *whole, bool *has_stacks)
{
	const struct dw_source *source = model->source;
	unsigned count = dw_pool_workers(source->stream_count);
	struct pass pass = { .model = model, .functions = functions, .detailed = whole->detailed };
	bool good;

	pass.workers = calloc(count, sizeof *pass.workers);
	good = pass.workers != NULL;
	for (uint32_t f = 0; good && f < source->file_count; f++) {
		double ratio = source->files[f].clock.ns_per_tick / source->files[0].clock.ns_per_tick;

		pass.file = f;
		dw_pool_run(source->stream_count, count, walk_stream, &pass);
		for (unsigned i = 0; i < count; i++) {
			*has_stacks |= pass.workers[i].has_stacks;
			if (functions)
				sum_frames(&pass.workers[i].trunk, model->symbol_count);
			good = good && dw_trunk_merge(whole, &pass.workers[i].trunk,
			                              ratio > 0.999999 && ratio < 1.000001 ? 1.0 : ratio);
		}
	}
	for (unsigned i = 0; pass.workers && i < count; i++) {
		dw_trunk_reset(&pass.workers[i].trunk);
		free(pass.workers[i].frames);
		free(pass.workers[i].buffer);
	}
	free(pass.workers);
	return good;
}
