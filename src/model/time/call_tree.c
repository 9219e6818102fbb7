/*
 * The call tree, and the paths for pictures: calls and times by call path and thread.
 *
 * A pass adds the ranges of all streams to one trie of call paths. Each worker fills a trie of its
 * own; when all streams of a file are done, the tries are merged by path. The time of ranges deeper
 * than DW_TREE_DEEPEST is self time of their ancestor, so that a runaway recursion does not add a
 * node for each level. Then the products sort and convert the trie. A node's self time excludes all
 * children, whatever their kind, as a flame graph does. The tree has percentiles. The paths have
 * none and reuse the memory of the sums.
 *
 * A path is what is open at a moment. If a range ends before one that began in it, the later one goes on in the range
 * around both: its time is divided between two nodes, and its call belongs to the last one. So no node has more time
 * than the one above it.
 *
 * With recorded stacks, the nodes are the frames of the outermost operator's stack and the
 * operators; other ranges get no node. The STACK record of an operator follows its begin. Until
 * then its node is PENDING.
 */
#include <stdlib.h>
#include <string.h>

#include "base/numbers.h"
#include "model/core/parallel.h"
#include "model/core/pass.h"
#include "model/core/product.h"
#include "model/core/scope.h"
#include "model/core/stack_functions.h"
#include "model/time/call_sums.h"
#include "model/time/profiles.h"

#define PENDING (DW_NO_INDEX - 2)
#define UNKNOWN 0u             /* the symbol of frames that the file lacks */

struct frame {
	struct dw_frame frame; /* in the chain if it has a node or is out of scope */
	uint32_t node;   /* DW_NO_INDEX: out of scope */
	uint32_t symbol;
	uint32_t stack;  /* STACK id, its own or that of the range around it; 0: none */
	bool passed;     /* it has no node of its own: `node` is that of the range around it */
};
#define CHAIN 1u
#define MOST_MOVED 64u /* ranges that go on elsewhere when one around them ends: each may have a new path */

struct worker {
	struct dw_call_sums sums;
	struct dw_tally_pending pending; /* of the tallies of `sums` */
	bool has_stacks;
};

struct pass {
	struct dw_model *model;
	const struct dw_functions *functions; /* NULL: by calls, not by stacks */
	struct dw_call_sums *whole;
	bool has_stacks;
};

/* The outermost frames of the last stack, from a node on, and their nodes: the next stack has most of them too. */
#define KNOWN_FRAMES 64u
struct known_frames {
	uint32_t from, count;
	struct { uint32_t id, node; } at[KNOWN_FRAMES];
};

/* The state for a stream. */
struct tree {
	struct dw_pass pass;
	struct worker *worker;
	const struct dw_functions *functions;
	uint32_t root;       /* node of the current thread; DW_NO_INDEX: none yet */
	struct known_frames known;
};

/* ---- the hooks -------------------------------------------------------------------------------- */

static struct frame *tree_frame_at(const struct tree *tree, uint32_t place)
{
	return (struct frame *)dw_pass_at(&tree->pass, sizeof(struct frame), place);
}

/* The node of the range around the frame at `place`. */
static uint32_t tree_node_around(const struct tree *tree, uint32_t place)
{
	uint32_t node = place > 1 ? tree_frame_at(tree, place - 1)->node : tree->root;

	return node == DW_NO_INDEX ? tree->root : node; /* a range that began out of scope has no
	                                                 * node */
}

/* Sets the node of the innermost frame, which has no stack of its own. If the node is folded, its
 * time is left in its parent. */
DW_INLINE void tree_find_node(struct tree *tree, struct frame *frame)
{
	uint32_t parent = tree_node_around(tree, tree->pass.depth);

	frame->node = parent == DW_CALL_PATH_FOLDED || parent == DW_NO_INDEX
	                  ? parent
	                  : dw_call_sums_child(&tree->worker->sums, parent, frame->symbol);
	if (frame->node == DW_CALL_PATH_FOLDED)
		dw_pass_unlink(&tree->pass, &frame->frame);
	else if (frame->node != DW_NO_INDEX)
		dw_call_sums_expect(&tree->worker->sums, frame->node);
}

/* `stacks` is a constant: a walk by recorded stacks, or by calls, for which the fields of stacks are not set. */
DW_INLINE void tree_enter_by(void *state, void *place, uint64_t ticks, uint32_t id, const bool stacks)
{
	struct tree *tree = state;
	struct frame *frame = place;
	struct dw_op op = dw_walk_op(&tree->pass.walk, id);
	bool in = dw_pass_in_scope(&tree->pass, ticks), nested = tree->pass.depth > 1;

	if (__builtin_expect(tree->root == DW_NO_INDEX, 0) && in)
		tree->root = dw_call_sums_root(&tree->worker->sums, tree->pass.walk.thread);
	frame->node = DW_NO_INDEX;
	frame->symbol = tree->pass.walk.model->row_symbol[op.row];
	if (stacks) {
		frame->stack = nested ? frame[-1].stack : 0;
		frame->passed = false;
		if (op.kind != dw_kind_of(DWELL_CATEGORY_OPERATOR)) {
			frame->node = nested ? frame[-1].node : tree->root;
			frame->passed = true;
			return;
		}
		dw_pass_link(&tree->pass, &frame->frame, CHAIN);
		if (in)
			frame->node = PENDING;
	} else {
		dw_pass_link(&tree->pass, &frame->frame, CHAIN);
		if (in)
			tree_find_node(tree, frame);
	}
	frame->frame.in_scope = frame->node != DW_NO_INDEX;
}

DW_INLINE void tree_enter(void *state, void *place, uint64_t ticks, uint32_t id)
{
	tree_enter_by(state, place, ticks, id, false);
}

DW_INLINE void tree_enter_stacks(void *state, void *place, uint64_t ticks, uint32_t id)
{
	tree_enter_by(state, place, ticks, id, true);
}

DW_INLINE void tree_settle(void *state, uint64_t ticks)
{
	struct tree *tree = state;
	struct frame *frame = tree->pass.depth ? tree_frame_at(tree, tree->pass.depth) : NULL;

	if (frame && frame->node == PENDING)
		tree_find_node(tree, frame);
}

DW_INLINE void tree_leave_by(void *state, void *place, uint64_t ticks, enum dw_leave how, const bool stacks)
{
	struct tree *tree = state;
	const struct frame *frame = place;
	struct dw_call_sums *sums = &tree->worker->sums;
	uint64_t duration = ticks - frame->frame.start;

	if ((stacks && frame->passed) || frame->node >= DW_CALL_PATH_FOLDED)
		return;
	dw_call_sums_add(sums, &tree->worker->pending, frame->node, duration, duration - frame->frame.child);
	if (how != DW_LEAVE_END && sums->detailed) {
		sums->tallies[frame->node].open += how == DW_LEAVE_OPEN;
		sums->tallies[frame->node].cut += how == DW_LEAVE_CUT;
	}
}

DW_INLINE void tree_leave(void *state, void *place, uint64_t ticks, enum dw_leave how)
{
	tree_leave_by(state, place, ticks, how, false);
}

DW_INLINE void tree_leave_stacks(void *state, void *place, uint64_t ticks, enum dw_leave how)
{
	tree_leave_by(state, place, ticks, how, true);
}

/* Adds the functions of a recorded frame below `node`, outermost first. Beyond the largest number
 * of paths all are one node, which then also has the operator's time: frames have no time of their
 * own that could include it. */
static uint32_t tree_enter_frame(struct tree *tree, uint32_t node, uint32_t id)
{
	const struct dw_source_file *file = tree->pass.walk.file;
	const struct dw_functions *functions = tree->functions;
	uint32_t first = functions->by_frame[tree->pass.walk.stream->file][id];
	uint32_t count = file->frames[id] ? file->frames[id]->count : 0;

	for (uint32_t n = count ? count : 1; n-- > 0;) {
		uint32_t next = dw_call_sums_child(&tree->worker->sums, node,
		                                   count ? functions->list[first + n] : UNKNOWN);

		if (next == DW_CALL_PATH_FOLDED)
			return node;
		if (next == DW_NO_INDEX)
			return next;
		node = next;
	}
	return node;
}

/* Returns how many outermost frames two stacks share. */
static uint32_t tree_shared_frames(const struct dw_source_stack *a, const struct dw_source_stack *b)
{
	uint32_t shared = 0;

	while (shared < a->count && shared < b->count &&
	       a->frames[a->count - 1 - shared] == b->frames[b->count - 1 - shared])
		shared++;
	return shared;
}

/* Adds the frames of a stack below `node`, without the `shared` outermost ones. */
static uint32_t tree_enter_frames(struct tree *tree, uint32_t node, const struct dw_source_stack *stack, uint32_t shared)
{
	struct known_frames *known = &tree->known;
	uint32_t place = 0;

	if (known->from != node)
		known->count = 0;
	known->from = node;
	for (uint32_t i = stack->count - shared; i-- > 0 && node != DW_NO_INDEX; place++) {
		uint32_t id = __atomic_load_n(&stack->frames[i], __ATOMIC_RELAXED);

		if (place < known->count && known->at[place].id == id) {
			node = known->at[place].node;
			continue;
		}
		if (id < tree->pass.walk.file->symbol_count)
			node = tree_enter_frame(tree, node, id);
		if (place < KNOWN_FRAMES) {
			known->at[place].id = id;
			known->at[place].node = node;
			known->count = place + 1;
		}
	}
	return node;
}

/* Handles the STACK record of the innermost frame, an operator that has just begun. If an operator
 * around it has a stack too (a script's call), it stays below that one, with the frames between. */
static void tree_take_stack(struct tree *tree, uint32_t id)
{
	const struct dw_source_file *file = tree->pass.walk.file;
	struct frame *frame = DW_PASS_INNERMOST(&tree->pass, struct frame);
	struct dw_call_sums *sums = &tree->worker->sums;
	const struct dw_source_stack *stack;
	uint32_t around, node, leaf, shared = 0;

	if (!frame || frame->node != PENDING || !file->stacks || !file->frames ||
	    id >= file->symbol_count)
		return;
	stack = &file->stacks[id];
	around = tree->pass.depth > 1 ? frame[-1].stack : 0;
	node = tree->root;
	if (around && frame[-1].node != DW_NO_INDEX) {
		node = frame[-1].node;
		shared = tree_shared_frames(stack, &file->stacks[around]);
	}
	if (node == DW_NO_INDEX || node == DW_CALL_PATH_FOLDED)
		return; /* tree_find_node() will set its node */
	node = tree_enter_frames(tree, node, stack, shared);
	tree->worker->has_stacks |= stack->count > 0;
	leaf = node == DW_NO_INDEX ? node : dw_call_sums_child(sums, node, frame->symbol);
	frame->node = leaf == DW_CALL_PATH_FOLDED ? node : leaf;
	frame->stack = id;
}

static void tree_note(void *state, uint64_t ticks, const struct dw_record *record)
{
	struct tree *tree = state;

	if (record->kind == DW_STACK)
		tree_take_stack(tree, record->id);
}

static void tree_carry(void *state, void *place)
{
	struct tree *tree = state;
	const struct frame *frame = place;
	struct dw_call_sums *sums = &tree->worker->sums;

	if (frame->node >= PENDING)
		return;
	if (sums->detailed)
		sums->tallies[frame->node].self -= frame->frame.child;
	else
		dw_call_sums_at(sums, frame->node)->self -= frame->frame.child;
}

/* The next records may be of another thread. */
static void tree_flushed(void *state, uint64_t ticks, enum dw_flush why)
{
	((struct tree *)state)->root = DW_NO_INDEX;
}

/* Adds the time of a frame until now to its node, and goes on from here. */
static void tree_split(struct tree *tree, struct frame *frame, uint64_t ticks)
{
	uint64_t duration = ticks - frame->frame.start;

	if (frame->node < DW_CALL_PATH_FOLDED)
		dw_call_sums_add_part(&tree->worker->sums, frame->node, duration, duration - frame->frame.child);
	if (frame->frame.chain)
		dw_pass_at(&tree->pass, sizeof *frame, frame->frame.previous)->child += duration;
	frame->frame.start = ticks;
	frame->frame.child = 0;
}

static void tree_unnest(void *state, uint32_t place, uint64_t ticks)
{
	struct tree *tree = state;
	uint32_t around = tree_node_around(tree, place);

	if (tree->pass.depth - place > MOST_MOVED)
		return;
	for (uint32_t i = tree->pass.depth; i > place; i--)
		tree_split(tree, tree_frame_at(tree, i), ticks);
	for (uint32_t i = place + 1; i <= tree->pass.depth; i++) {
		struct frame *frame = tree_frame_at(tree, i);
		uint32_t node = frame->node < DW_CALL_PATH_FOLDED && around < DW_CALL_PATH_FOLDED
		                    ? dw_call_sums_child(&tree->worker->sums, around, frame->symbol)
		                    : DW_CALL_PATH_FOLDED;

		if (node < DW_CALL_PATH_FOLDED) /* else it stays in its node, below the range that ends */
			frame->node = node;
		around = tree_node_around(tree, i + 1);
	}
}

static const struct dw_pass_hooks tree_hooks = {
	.frame_bytes = sizeof(struct frame),
	.deepest = DW_TREE_DEEPEST,
	.chains = true,
	.scoped = true,
	.enter = tree_enter,
	.leave = tree_leave,
	.unnest = tree_unnest,
	.flushed = tree_flushed,
	.carry = tree_carry,
};
DW_PASS_DEFINE(tree, tree_hooks)

static const struct dw_pass_hooks tree_stacks_hooks = {
	.frame_bytes = sizeof(struct frame), .deepest = DW_TREE_DEEPEST, .chains = true, .scoped = true,
	.enter = tree_enter_stacks, .leave = tree_leave_stacks, .note = tree_note, .settle = tree_settle,
	.flushed = tree_flushed,
};
DW_PASS_DEFINE(tree_stacks, tree_stacks_hooks)

static bool tree_walk_segment(void *context, void *memory, struct dw_frames *frames, const struct dw_model *model,
                              const struct dw_segment *segment)
{
	const struct pass *pass = context;
	struct worker *worker = memory;
	struct tree tree;

	/* An operator's stack is known only where it begins; then streams must stay in one piece. */
	if (pass->functions && segment->from)
		return true;
	memset(&tree, 0, sizeof tree);
	dw_pass_init(&tree.pass, model, segment->stream, frames);
	tree.worker = worker;
	tree.functions = pass->functions;
	tree.root = DW_NO_INDEX;
	if (pass->functions)
		tree_stacks_walk(&tree.pass);
	else
		tree_segment(&tree.pass, segment);
	worker->sums.paths.failed |= tree.pass.walk.failed;
	return !worker->sums.paths.failed;
}

/* A recorded frame only has the time of what it calls. Children come after their parents, so going
 * backward adds up all levels. */
static void tree_sum_frames(struct dw_call_sums *sums, uint32_t first_function)
{
	for (size_t i = sums->paths.count; i-- > 0;) {
		const struct dw_call_sum *sum = dw_call_sums_at(sums, i);
		struct dw_call_sum *above =
			sum->path.depth > 1 ? dw_call_sums_at(sums, sum->path.parent) : NULL;

		if (above && (above->path.key >= first_function || above->path.key == UNKNOWN)) {
			above->total += sum->total;
			above->path.calls += sum->path.calls;
		}
	}
}

static bool tree_init_worker(const void *context, void *memory)
{
	const struct pass *pass = context;
	struct worker *worker = memory;
	bool detailed = pass->whole->detailed;

	worker->sums = dw_call_sums_make(detailed ? DW_TREE_NODES : DW_TREE_PATHS, detailed);
	dw_tally_pending_init(&worker->pending);
	return true;
}

static void tree_reset_worker(void *memory)
{
	dw_call_sums_reset(&((struct worker *)memory)->sums);
}

static bool tree_merge_worker(void *context, void *memory, uint32_t file)
{
	struct pass *pass = context;
	struct worker *worker = memory;

	pass->has_stacks |= worker->has_stacks;
	dw_tally_flush(&worker->pending);
	if (pass->functions)
		tree_sum_frames(&worker->sums, pass->model->symbol_count);
	return dw_call_sums_merge(pass->whole, &worker->sums, dw_file_ratio(pass->model->source, file));
}

/* Adds the ranges of all streams to `whole`: by call path, or if `functions` is given by recorded
 * stack. False: out of memory. Reset `whole` afterwards in any case. */
static bool tree_add_ranges(struct dw_model *model, const struct dw_functions *functions,
                            struct dw_call_sums *whole, bool *has_stacks)
{
	static const struct dw_walk_kind kind = { sizeof(struct worker), tree_init_worker, tree_reset_worker,
		tree_walk_segment, .merge = tree_merge_worker };
	struct pass pass = { .model = model, .functions = functions, .whole = whole };
	const struct dw_parallel walk = { .kind = &kind, .model = model, .context = &pass, .by_file = true,
		.pieces = dw_model_segments(model) };
	bool good = walk.pieces && dw_walk_parallel(&walk);

	*has_stacks |= pass.has_stacks;
	return good;
}

/* ---- the tree ------------------------------------------------------------------------- */

static bool tree_put(struct dw_model *model, struct dw_tree *tree, struct dw_call_sums *sums)
{
	double ns_per_tick = model->source->files[0].clock.ns_per_tick;
	uint32_t *order = dw_call_sums_order(sums), way[DW_TREE_DEEPEST + 2];

	tree->nodes = dw_arena_alloc(&model->arena, (sums->paths.count + 1) * sizeof *tree->nodes);
	for (; order && tree->nodes && tree->count < sums->paths.count; tree->count++) {
		const struct dw_call_sum *sum = dw_call_sums_at(sums, order[tree->count]);
		struct dw_tree_node *to = &tree->nodes[tree->count];
		uint32_t depth = sum->path.depth;

		to->symbol = depth ? sum->path.key : DW_NO_INDEX;
		to->thread = depth ? tree->nodes[way[0]].thread : sum->path.key;
		to->parent = depth ? way[depth - 1] : DW_NO_INDEX;
		to->depth = depth;
		way[depth] = (uint32_t)tree->count;
		if (depth)
			dw_tally_stat(&sums->tallies[order[tree->count]], ns_per_tick, &to->stat);
		else
			to->stat.total_ns = dw_whole((double)sum->total * ns_per_tick + 0.5);
	}
	free(order);
	return order && tree->nodes;
}

static bool tree_compute(struct dw_model *model, const void *request, void *result)
{
	struct dw_call_sums whole = dw_call_sums_make(4 * DW_TREE_NODES, true);
	bool has_stacks = false;
	bool good = tree_add_ranges(model, NULL, &whole, &has_stacks) && tree_put(model, result, &whole);

	dw_call_sums_reset(&whole);
	return good;
}

DW_PRODUCT_OF_RECORDS(tree, struct dw_tree, tree_compute, NULL);

DW_PRODUCT_GETTER(tree, struct dw_tree)

/* ---- the paths ------------------------------------------------------------------------ */

_Static_assert(sizeof(struct dw_call_sum) == sizeof(struct dw_path), "one becomes the other");

/* Reorders the nodes in place, cycle by cycle: a copy would need twice the memory. */
static void tree_paths_arrange(struct dw_call_sum *nodes, uint32_t *order, size_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		struct dw_call_sum first = nodes[i];
		uint32_t at = i;

		while (order[at] != i) {
			uint32_t from = order[at];

			nodes[at] = nodes[from];
			order[at] = at;
			at = from;
		}
		nodes[at] = first;
		order[at] = at;
	}
}

bool dw_paths_put(struct dw_paths *paths, struct dw_call_sums *sums, double ns_per_tick)
{
	uint32_t *order = dw_call_sums_order(sums);

	if (!order)
		return false;
	paths->count = sums->paths.count;
	tree_paths_arrange(sums->paths.nodes, order, paths->count);
	free(order);
	for (size_t i = 0; i < paths->count; i++) {
		struct dw_call_sum sum = *dw_call_sums_at(sums, i);

		((struct dw_path *)sums->paths.nodes)[i] = (struct dw_path){
			dw_whole((double)sum.total * ns_per_tick + 0.5),
			dw_whole((double)sum.self * ns_per_tick + 0.5),
			sum.path.calls, sum.path.key, sum.path.depth,
		};
	}
	paths->nodes = sums->paths.nodes;
	sums->paths.nodes = NULL;
	return true;
}

/* The request is an enum dw_paths_of. */
static bool tree_paths_compute(struct dw_model *model, const void *request, void *result)
{
	const enum dw_paths_of *of = request;
	struct dw_call_sums whole = dw_call_sums_make(DW_TREE_PATHS, false);
	struct dw_functions stacks, *functions = *of == DW_PATHS_STACKS ? &stacks : NULL;
	struct dw_paths *paths = result;
	bool good = (!functions || dw_functions_init(functions, model)) &&
	            tree_add_ranges(model, functions, &whole, &paths->has_stacks);

	if (good) {
		paths->symbols = functions ? functions->symbols : model->symbols;
		paths->symbol_count = functions ? functions->symbol_count : model->symbol_count;
		good = dw_paths_put(paths, &whole, model->source->files[0].clock.ns_per_tick);
	}
	dw_call_sums_reset(&whole);
	return good;
}

/* The nodes are not in the arena: copying them would need too much memory. */
static void tree_paths_free(void *result)
{
	struct dw_paths *paths = result;

	free(paths->nodes);
}

DW_PRODUCT(paths, struct dw_paths, tree_paths_compute, tree_paths_free);

const struct dw_paths *dw_model_paths(struct dw_model *model, enum dw_paths_of of,
                                      struct dwell_error *error)
{
	return dw_product_get(model, &dw_product_paths, of, &of, error);
}
