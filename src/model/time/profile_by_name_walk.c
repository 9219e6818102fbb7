/*
 * The pass behind the profile by name: a range that ends is added to the tally of its row.
 *
 * Called by profile_by_name.c. Self time excludes ranges of the same kind, so a range's chain is its
 * kind. Ranges out of scope are added to a row of their own that no view shows.
 */
#include <stdlib.h>
#include <string.h>

#include "base/pool.h"
#include "model/time/profile_by_name.h"
#include "model/core/pass.h"
#include "model/core/scope.h"

struct frame {
	struct dw_frame frame; /* its chain is its kind */
	uint32_t row;
};

/*
 * A row's open calls. Of calls within calls of the same row the total counts the time once:
 * `nested` is what their durations hold beyond that. Nearly all rows have one open call at a
 * time, and then only `open` is touched.
 */
struct row_state {
	uint32_t open;
	bool several;     /* two were open at once, and some of them still are */
	uint64_t since;   /* with `several`: the first of them began then */
	uint64_t nested;
};

/* What one worker adds up, over all streams of a file. */
struct worker {
	struct dw_tally *tallies; /* row_count of them and one for what is out of scope */
	struct row_state *rows;   /* as many */
	struct dw_arena arena;
	struct dw_frames frames;
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
	const struct dw_segments *segments;
	struct worker *workers;
};

/* A stream's state. */
struct flat {
	struct dw_pass pass;
	struct worker *worker;
	struct dw_tally *tallies; /* the worker's, nearer */
	struct row_state *rows;
	struct dw_arena *arena;
	uint32_t out_row;         /* of ranges out of scope */
};

/* ---- the hooks ------------------------------------------------------------------------ */

static struct frame *frame_at(const struct flat *flat, uint32_t place)
{
	return (struct frame *)dw_pass_at(&flat->pass, sizeof(struct frame), place);
}

/* A call of the row begins while another is open. */
static __attribute__((noinline)) void begin_nested(struct flat *flat, const struct frame *frame)
{
	struct row_state *row = &flat->rows[frame->row];
	uint32_t place = frame->frame.previous;

	if (row->several)
		return;
	/* The row of what is out of scope holds ranges of all kinds, and no view shows it. */
	while (place && frame_at(flat, place)->row != frame->row)
		place = frame_at(flat, place)->frame.previous;
	row->since = place ? frame_at(flat, place)->frame.start : frame->frame.start;
	row->several = true;
}

static __attribute__((noinline)) void end_nested(struct row_state *row, uint64_t ticks,
                                                 uint64_t duration)
{
	row->nested += duration;
	if (row->open)
		return;
	row->nested -= ticks - row->since;
	row->several = false;
}

DW_INLINE void count_begin(struct flat *flat, const struct frame *frame)
{
	if (__builtin_expect(flat->rows[frame->row].open++ != 0, 0))
		begin_nested(flat, frame);
}

DW_INLINE void flat_enter(void *state, void *place, uint64_t ticks, uint32_t id)
{
	struct flat *flat = state;
	struct frame *frame = place;
	struct dw_op op = dw_walk_op(&flat->pass.walk, id);

	frame->row = op.row;
	dw_pass_link(&flat->pass, &frame->frame, op.kind);
	count_begin(flat, frame);
}

DW_INLINE void flat_enter_scoped(void *state, void *place, uint64_t ticks, uint32_t id)
{
	struct flat *flat = state;
	struct frame *frame = place;

	struct dw_op op = dw_walk_op(&flat->pass.walk, id);

	frame->frame.in_scope = dw_pass_in_scope(&flat->pass, ticks);
	frame->row = frame->frame.in_scope ? op.row : flat->out_row;
	dw_pass_link(&flat->pass, &frame->frame, op.kind);
	count_begin(flat, frame);
}

DW_INLINE void flat_leave(void *state, void *place, uint64_t ticks, enum dw_leave how)
{
	struct flat *flat = state;
	const struct frame *frame = place;
	uint64_t duration = ticks - frame->frame.start;
	struct dw_tally *tally = &flat->tallies[frame->row];
	struct row_state *row = &flat->rows[frame->row];

	if (__builtin_expect(--row->open || row->several, 0))
		end_nested(row, ticks, duration);
	dw_tally_add(tally, flat->arena, duration, duration - frame->frame.child);
	if (how != DW_LEAVE_END) {
		tally->open += how == DW_LEAVE_OPEN;
		tally->cut += how == DW_LEAVE_CUT;
		flat->worker->open += how == DW_LEAVE_OPEN && frame->row != flat->out_row;
	}
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

static void flat_carry(void *state, void *place)
{
	struct flat *flat = state;
	const struct frame *frame = place;

	flat->tallies[frame->row].self -= frame->frame.child;
	if (!--flat->rows[frame->row].open)
		flat->rows[frame->row].several = false;
}

DW_INLINE void flat_note(void *state, uint64_t ticks, const struct dw_record *record)
{
	struct flat *flat = state;

	flat->worker->other_categories |= category_of_kind(record->kind);
}

/* Two loops, so that a pass over everything does not pay for the scope. */
static const struct dw_pass_hooks flat_hooks = {
	.frame_bytes = sizeof(struct frame), .deepest = DW_DEEPEST, .chains = true,
	.enter = flat_enter, .leave = flat_leave, .note = flat_note, .carry = flat_carry,
};
static const struct dw_pass_hooks flat_hooks_scoped = {
	.frame_bytes = sizeof(struct frame), .deepest = DW_DEEPEST, .chains = true, .scoped = true,
	.enter = flat_enter_scoped, .leave = flat_leave, .note = flat_note,
};
DW_PASS_DEFINE(flat_all, flat_hooks)
DW_PASS_DEFINE(flat_scoped, flat_hooks_scoped)

/* ---- streams side by side --------------------------------------------------------------- */

static bool prepare(struct pass *pass, struct worker *worker)
{
	if (worker->failed)
		return false;
	if (!worker->tallies)
		worker->tallies = dw_tallies_create(pass->row_count + 1);
	if (!worker->rows)
		worker->rows = calloc(pass->row_count + 1, sizeof *worker->rows);
	if (!worker->buffer)
		worker->buffer = malloc(DW_BLOCK_BYTES);
	worker->failed = !worker->tallies || !worker->rows || !worker->buffer;
	return !worker->failed;
}

static void walk_segment(void *context, unsigned index, size_t at)
{
	struct pass *pass = context;
	struct worker *worker = &pass->workers[index];
	struct dw_model *model = pass->model;
	const struct dw_segment *segment = &pass->segments->items[at];
	size_t stream = segment->stream;
	struct flat flat;
	uint64_t last_ns;

	if (model->source->streams[stream].file != pass->file || !prepare(pass, worker))
		return;
	memset(&flat, 0, sizeof flat);
	dw_pass_init(&flat.pass, model, stream, &worker->frames, worker->buffer);
	flat.pass.walk.ops = pass->ops[pass->file];
	flat.worker = worker;
	flat.tallies = worker->tallies;
	flat.rows = worker->rows;
	flat.arena = &worker->arena;
	flat.out_row = pass->row_count;
	if (dw_scope_is_all(model))
		flat_all_segment(&flat.pass, segment);
	else
		flat_scoped_segment(&flat.pass, segment);
	worker->failed |= flat.pass.failed;
	/* Ends of damaged traces that would take too long to find count as ends without a begin. */
	worker->orphans += flat.pass.orphans + flat.pass.walk.time.skipped;
	worker->records += flat.pass.walk.time.records;
	last_ns = dw_source_ns(&flat.pass.walk.file->clock, dw_time_now(&flat.pass.walk.time));
	if (last_ns > worker->last_ns)
		worker->last_ns = last_ns;
}

static void take_results(struct dw_flat_all *all, struct dw_arena *arena, struct worker *worker,
                         double ratio)
{
	for (uint32_t row = 0; worker->tallies && row < all->row_count; row++)
		dw_tally_merge(&all->tallies[row], arena, &worker->tallies[row], ratio);
	for (uint32_t row = 0; worker->rows && row < all->row_count; row++)
		all->nested[row] += ratio == 1 ? worker->rows[row].nested
		                               : (uint64_t)((double)worker->rows[row].nested * ratio);
	all->records += worker->records;
	all->open += worker->open;
	all->orphans += worker->orphans;
	all->categories |= worker->other_categories;
	if (worker->last_ns > all->last_ns)
		all->last_ns = worker->last_ns;
	free(worker->tallies);
	free(worker->rows);
	dw_frames_reset(&worker->frames);
	free(worker->buffer);
	dw_arena_reset(&worker->arena);
	bool failed = worker->failed;
	memset(worker, 0, sizeof *worker);
	worker->failed = failed;
}

int dw_flat_walk(struct dw_model *model, const struct dw_op **ops, struct dw_flat_all *all)
{
	const struct dw_source *source = model->source;
	const struct dw_segments *segments = dw_model_segments(model);
	unsigned count = segments ? dw_pool_workers(segments->count) : 0;
	struct pass pass = { .model = model, .ops = ops, .row_count = all->row_count,
		.segments = segments };
	bool failed = false;

	pass.workers = segments ? calloc(count, sizeof *pass.workers) : NULL;
	if (!pass.workers)
		return -1;
	for (uint32_t f = 0; f < source->file_count; f++) {
		pass.file = f;
		dw_pool_run(segments->count, count, walk_segment, &pass);
		for (unsigned i = 0; i < count; i++) {
			take_results(all, &model->arena, &pass.workers[i], dw_file_ratio(source, f));
			failed |= pass.workers[i].failed;
		}
	}
	free(pass.workers);
	return failed ? -1 : 0;
}
