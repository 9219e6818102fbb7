/*
 * The pass behind flat: one loop over the words of a stream that keeps a stack of open
 * ranges and adds to a tally when one ends.
 *
 * Called by flat.c. Self time is taken off the innermost open range of the same kind, so
 * the stack remembers for each frame which one that is. Out of scope are frames that count
 * into a row of their own which nobody sees: the loop is the same with and without a scope.
 */
#include <stdlib.h>
#include <string.h>

#include "base/pool.h"
#include "model/flat_inside.h"
#include "model/walk.h"

struct frame {
	uint64_t start, child; /* child: what children of the same kind took */
	uint32_t row, kind;
	uint32_t previous;     /* frame of the same kind that this one lies in; 0: none */
};

/* What one worker adds up, over all streams of a file. */
struct worker {
	struct dw_tally *tallies; /* row_count of them and one for what is out of scope */
	struct dw_arena arena;
	struct frame *frames;     /* [0] is where ranges without a parent leave their time */
	uint32_t capacity;
	void *buffer;
	uint64_t records, ranges, open, orphans, last_ns;
	uint32_t other_categories;
	bool failed;
};

struct pass {
	struct dw_model *model;
	const struct dw_op **ops;
	uint32_t row_count;
	uint32_t file;
	struct worker *workers;
};

/* A stream's state; `walk` first. */
struct flat {
	struct dw_walk walk;
	struct worker *worker;
	struct dw_tally *tallies; /* the worker's, nearer */
	struct dw_arena *arena;
	struct frame *frames;
	uint32_t depth, capacity;
	uint32_t over;       /* frames beyond the deepest: not told apart */
	uint32_t out_row;
	uint32_t in_scope;   /* open frames that count */
	uint32_t top[DW_KINDS];
};

/* ---- the loop ------------------------------------------------------------------------- */

static __attribute__((noinline)) bool grow(struct flat *flat)
{
	struct worker *worker = flat->worker;
	uint32_t capacity = flat->capacity * 2;
	struct frame *frames;

	if (flat->capacity > DW_MOST_DEPTH)
		return false;
	frames = realloc(worker->frames, capacity * sizeof *frames);
	if (!frames) {
		worker->failed = true;
		return false;
	}
	worker->frames = flat->frames = frames;
	worker->capacity = flat->capacity = capacity;
	return true;
}

DW_INLINE void push(struct flat *flat, uint64_t ticks, uint32_t row, uint32_t kind)
{
	uint32_t depth = flat->depth + 1;

	if (__builtin_expect(depth >= flat->capacity, 0) && (flat->over || !grow(flat))) {
		flat->over++;
		return;
	}
	flat->frames[depth] = (struct frame){ ticks, 0, row, kind, flat->top[kind] };
	flat->top[kind] = depth;
	flat->depth = depth;
}

DW_INLINE struct dw_tally *pop(struct flat *flat, uint64_t ticks)
{
	struct frame *frame = &flat->frames[flat->depth--];
	uint64_t duration = ticks - frame->start;
	struct dw_tally *tally = &flat->tallies[frame->row];

	flat->top[frame->kind] = frame->previous;
	flat->frames[frame->previous].child += duration;
	dw_tally_add(tally, flat->arena, duration, duration - frame->child);
	return tally;
}

DW_INLINE void visit_begin(void *context, uint64_t ticks, uint32_t id)
{
	struct flat *flat = context;
	struct dw_op op = dw_walk_op(&flat->walk, id);

	push(flat, ticks, op.row, op.kind);
}

DW_INLINE void visit_begin_scoped(void *context, uint64_t ticks, uint32_t id)
{
	struct flat *flat = context;
	struct dw_op op = dw_walk_op(&flat->walk, id);
	bool in = flat->walk.wanted && dw_walk_in_time(&flat->walk, ticks);

	push(flat, ticks, in ? op.row : flat->out_row, op.kind);
	flat->in_scope += in;
}

DW_INLINE void visit_end(void *context, uint64_t ticks)
{
	struct flat *flat = context;

	if (__builtin_expect(!flat->depth || flat->over, 0)) {
		if (flat->over)
			flat->over--;
		else
			flat->worker->orphans++;
		return;
	}
	pop(flat, ticks);
}

DW_INLINE void visit_end_scoped(void *context, uint64_t ticks)
{
	struct flat *flat = context;

	if (flat->depth && !flat->over && flat->frames[flat->depth].row != flat->out_row)
		flat->in_scope--;
	visit_end(context, ticks);
}

/*
 * Takes the n-th frame out of the middle, as if it had been the innermost. Who lay
 * in it now lies in what it lay in: the time so far stays with the frame that ends,
 * and is taken off in advance from the one that will get it again.
 */
static void end_of(struct flat *flat, uint64_t ticks, uint32_t n)
{
	struct frame frame;
	uint32_t at, top;

	if (flat->over || n >= flat->depth) {
		flat->worker->orphans++;
		return;
	}
	at = flat->depth - n;
	frame = flat->frames[at];
	memmove(&flat->frames[at], &flat->frames[at + 1], n * sizeof frame);
	for (uint32_t i = at; i < flat->depth; i++) {
		struct frame *above = &flat->frames[i];

		if (above->previous == at && above->kind == frame.kind) {
			above->previous = frame.previous;
			frame.child += ticks - above->start;
			flat->frames[frame.previous].child -= ticks - above->start;
		} else if (above->previous > at) {
			above->previous--;
		}
	}
	flat->frames[flat->depth] = frame;
	top = flat->top[frame.kind];
	pop(flat, ticks);
	flat->top[frame.kind] = top == at ? frame.previous : top - 1;
	for (uint32_t kind = 0; kind < DW_KINDS; kind++)
		if (kind != frame.kind && flat->top[kind] > at)
			flat->top[kind]--;
}

static void flush(void *context, uint64_t ticks, enum dw_flush why)
{
	struct flat *flat = context;

	flat->over = 0;
	while (flat->depth) {
		bool counts = flat->frames[flat->depth].row != flat->out_row;
		struct dw_tally *tally = pop(flat, ticks);

		tally->open += why != DW_FLUSH_GAP;
		tally->cut += why == DW_FLUSH_GAP;
		flat->worker->open += why != DW_FLUSH_GAP && counts;
	}
	flat->in_scope = 0;
}

static uint32_t category_of_kind(uint32_t kind)
{
	switch (kind) {
	case DW_MARK: return 1u << DWELL_CATEGORY_MARK;
	case DW_COUNTER: return 1u << DWELL_CATEGORY_COUNTER;
	case DW_ALLOC:
	case DW_FREE: return 1u << DWELL_CATEGORY_ALLOCATION;
	case DW_FLOW_OUT:
	case DW_FLOW_IN: return 1u << DWELL_CATEGORY_FLOW;
	default: return 0;
	}
}

static __attribute__((noinline)) void visit_rest(struct flat *flat, uint64_t ticks,
                                                 const struct dw_record *record)
{
	if (dw_walk_break(&flat->walk, ticks, record, flush))
		return;
	if (record->kind == DW_END_OF) {
		uint32_t n = record->payload[0];

		if (!flat->over && n < flat->depth &&
		    flat->frames[flat->depth - n].row != flat->out_row)
			flat->in_scope--;
		end_of(flat, ticks, n);
	} else {
		flat->worker->other_categories |= category_of_kind(record->kind);
	}
}

DW_INLINE void visit_other(void *context, uint64_t ticks, const struct dw_record *record)
{
	struct dw_record copy = *record; /* so that the loop's own stays in registers */

	visit_rest(context, ticks, &copy);
}

static bool may_skip(void *context)
{
	struct flat *flat = context;

	if (flat->in_scope)
		return false;
	flush(context, dw_time_now(&flat->walk.time), DW_FLUSH_END);
	return true;
}

/* Two loops, so that who asks for everything pays nothing for those who do not. */
static void walk_all(struct flat *flat)
{
	dw_walk(&flat->walk, visit_begin, visit_end, visit_other, flush, NULL);
}

static void walk_scoped(struct flat *flat)
{
	dw_walk(&flat->walk, visit_begin_scoped, visit_end_scoped, visit_other, flush, may_skip);
}

/* ---- streams side by side --------------------------------------------------------------- */

static bool prepare(struct pass *pass, struct worker *worker)
{
	if (worker->failed)
		return false;
	if (!worker->tallies)
		worker->tallies = dw_tallies_create(pass->row_count + 1);
	if (!worker->frames) {
		worker->capacity = 256;
		worker->frames = calloc(worker->capacity, sizeof *worker->frames);
	}
	if (!worker->buffer)
		worker->buffer = malloc(DW_BLOCK_BYTES);
	worker->failed = !worker->tallies || !worker->frames || !worker->buffer;
	return !worker->failed;
}

static void walk_stream(void *context, unsigned index, size_t at)
{
	struct pass *pass = context;
	struct worker *worker = &pass->workers[index];
	struct dw_model *model = pass->model;
	size_t stream = model->stream_order[at];
	struct flat flat;
	uint64_t last_ns;

	if (model->source->streams[stream].file != pass->file ||
	    !dw_scope_has_stream(model, &model->source->streams[stream]) || !prepare(pass, worker))
		return;
	memset(&flat, 0, sizeof flat);
	dw_walk_init(&flat.walk, model, stream, worker->buffer);
	flat.walk.ops = pass->ops[pass->file];
	flat.worker = worker;
	flat.tallies = worker->tallies;
	flat.arena = &worker->arena;
	flat.frames = worker->frames;
	flat.capacity = worker->capacity;
	flat.out_row = pass->row_count;
	if (dw_scope_is_all(model))
		walk_all(&flat);
	else
		walk_scoped(&flat);
	worker->records += flat.walk.time.records;
	last_ns = dw_source_ns(&flat.walk.file->clock, dw_time_now(&flat.walk.time));
	if (last_ns > worker->last_ns)
		worker->last_ns = last_ns;
}

static void take_results(struct dw_flat_all *all, struct dw_arena *arena, struct worker *worker,
                         double ratio)
{
	for (uint32_t row = 0; worker->tallies && row < all->row_count; row++)
		dw_tally_merge(&all->tallies[row], arena, &worker->tallies[row], ratio);
	all->records += worker->records;
	all->open += worker->open;
	all->orphans += worker->orphans;
	all->categories |= worker->other_categories;
	if (worker->last_ns > all->last_ns)
		all->last_ns = worker->last_ns;
	free(worker->tallies);
	free(worker->frames);
	free(worker->buffer);
	dw_arena_reset(&worker->arena);
	bool failed = worker->failed;
	memset(worker, 0, sizeof *worker);
	worker->failed = failed;
}

int dw_flat_walk(struct dw_model *model, const struct dw_op **ops, struct dw_flat_all *all)
{
	const struct dw_source *source = model->source;
	unsigned count = dw_pool_workers(source->stream_count);
	struct pass pass = { .model = model, .ops = ops, .row_count = all->row_count };
	bool failed = false;

	pass.workers = calloc(count, sizeof *pass.workers);
	if (!pass.workers)
		return -1;
	for (uint32_t f = 0; f < source->file_count; f++) {
		double ratio = source->files[f].clock.ns_per_tick / source->files[0].clock.ns_per_tick;

		pass.file = f;
		dw_pool_run(source->stream_count, count, walk_stream, &pass);
		for (unsigned i = 0; i < count; i++) {
			/* Rates that differ less than a bucket need no other buckets. */
			take_results(all, &model->arena, &pass.workers[i],
			             ratio > 0.999999 && ratio < 1.000001 ? 1.0 : ratio);
			failed |= pass.workers[i].failed;
		}
	}
	free(pass.workers);
	return failed ? -1 : 0;
}
