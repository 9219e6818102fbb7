/* Cuts steps into pieces and keeps the shortest occurrences of each; see fast_step.h. */
#include "base/free.h"
#include "model/steps/fast_step.h"

#include "base/grow.h"
#include "model/core/pass.h"
#include "model/core/scope.h"

/* How many steps are examined: FAST_LEAST or more, FAST_STEPS or fewer; in between as many as have
 * FAST_WORDS words of records. */
#define FAST_LEAST 50u
#define FAST_STEPS 4000u
#define FAST_WORDS (8ull << 20)

#define FAST_SHARE 100u        /* one of so many occurrences of a piece is fast */
#define FAST_PIECES (1u << 17) /* if a loop has more pieces, further events do not cut its steps */

#define NO_ROW UINT32_MAX

/* In the arena, so that it never moves. */
struct piece {
	struct piece *next;
	uint32_t row;         /* of the range that it belongs to, or NO_ROW */
	uint32_t count, kept;
	float lowest[]; /* ticks; a heap whose first one is the longest */
};

/* What cuts a step: a range of a certain name begins, or one ends. */
struct event {
	struct piece **pieces; /* by its number in the step */
	size_t piece_count, capacity;
	uint32_t number;    /* of the next one in the step `of_step` */
	uint64_t of_step;
};

struct span {
	uint64_t start, end; /* ticks */
	bool seen;           /* it has been cut into pieces */
};

struct fast {
	struct dw_model *model;
	uint32_t thread;
	struct span *steps;
	size_t step_count;
	struct event *events; /* by row and whether it is an end; the last one is the begin of a step */
	size_t event_count;
	bool *hidden;         /* by row: its ranges do not cut a step, and their time does not count */
	struct piece *pieces; /* a list of all */
	size_t piece_count;
	size_t most;          /* occurrences of a piece that are kept */
	struct dw_arena arena;
	uint64_t current;     /* number of the step that is being cut, from 1, over all streams */
	bool failed;
};

/* `pass` first. */
struct stream {
	struct dw_pass pass;
	struct fast *all;
	size_t at;            /* the step that is open, or the next one */
	bool inside;
	struct piece *piece;
	uint64_t piece_start, hidden_from, hidden_ticks;
	uint32_t hidden_depth;
	uint32_t row;         /* of the innermost open range that is not hidden, or NO_ROW */
};

/* ---- pieces -------------------------------------------------------------------------------- */

static struct piece *fast_new_piece(struct fast *all, struct event *event, uint32_t row)
{
	struct piece *piece, **place;

	if (all->piece_count == FAST_PIECES)
		return NULL;
	piece = dw_arena_alloc(&all->arena, sizeof *piece + all->most * sizeof piece->lowest[0]);
	place = DW_GROW(&event->pieces, &event->capacity, event->piece_count);
	if (!piece || !place) {
		all->failed = true;
		return NULL;
	}
	piece->row = row;
	piece->next = all->pieces;
	*place = all->pieces = piece;
	all->piece_count++;
	event->piece_count++;
	return piece;
}

/* The piece that begins with this event, in a range of `row`. NULL: the event does not cut the step. */
static struct piece *fast_find_piece(struct fast *all, size_t code, uint32_t row)
{
	struct event *event = &all->events[code];

	if (event->of_step != all->current) {
		event->of_step = all->current;
		event->number = 0;
	}
	if (event->number < event->piece_count)
		return event->pieces[event->number++];
	event->number++;
	return event->number == event->piece_count + 1 ? fast_new_piece(all, event, row) : NULL;
}

static void piece_sink(struct piece *piece)
{
	float *heap = piece->lowest;

	for (size_t at = 0, child; (child = 2 * at + 1) < piece->kept; at = child) {
		float value = heap[at];

		child += child + 1 < piece->kept && heap[child + 1] > heap[child];
		if (heap[child] <= value)
			return;
		heap[at] = heap[child];
		heap[child] = value;
	}
}

static void piece_add(struct piece *piece, float ticks, size_t most)
{
	float *heap = piece->lowest;

	piece->count++;
	if (piece->kept == most) {
		if (ticks < heap[0]) {
			heap[0] = ticks;
			piece_sink(piece);
		}
		return;
	}
	for (size_t at = piece->kept++;; at = (at - 1) / 2) {
		if (!at || heap[(at - 1) / 2] >= ticks) {
			heap[at] = ticks;
			return;
		}
		heap[at] = heap[(at - 1) / 2];
	}
}

/* The time that a hundredth of the occurrences do not exceed. It removes longer ones. */
static double piece_fast(struct piece *piece)
{
	while (piece->kept > (piece->count - 1) / FAST_SHARE + 1) {
		piece->lowest[0] = piece->lowest[--piece->kept];
		piece_sink(piece);
	}
	return (double)piece->lowest[0];
}

/* ---- steps --------------------------------------------------------------------------------- */

static void stream_end_piece(struct stream *stream, uint64_t ticks)
{
	uint64_t length = ticks - stream->piece_start;

	if (stream->hidden_depth) {
		stream->hidden_ticks += ticks - stream->hidden_from;
		stream->hidden_from = ticks;
	}
	if (stream->piece)
		piece_add(stream->piece, (float)(length > stream->hidden_ticks ? length - stream->hidden_ticks : 0),
		          stream->all->most);
	stream->hidden_ticks = 0;
	stream->piece_start = ticks;
}

static void stream_begin_step(struct stream *stream)
{
	struct fast *all = stream->all;
	struct span *step = &all->steps[stream->at];

	step->seen = stream->inside = true;
	all->current++;
	stream->piece = fast_find_piece(all, all->event_count - 1, stream->row);
	stream->piece_start = step->start;
	stream->hidden_ticks = 0;
	if (stream->hidden_depth)
		stream->hidden_from = step->start;
}

static void stream_end_step(struct stream *stream)
{
	if (stream->inside)
		stream_end_piece(stream, stream->all->steps[stream->at].end);
	stream->inside = false;
	stream->at++;
}

/* True: the thread is in one of the steps. */
DW_INLINE bool stream_follow(struct stream *stream, uint64_t ticks)
{
	const struct fast *all = stream->all;

	if (stream->pass.walk.thread != all->thread)
		return false;
	while (stream->at < all->step_count && ticks >= all->steps[stream->at].end)
		stream_end_step(stream);
	if (stream->at == all->step_count || ticks < all->steps[stream->at].start)
		return false;
	if (!stream->inside)
		stream_begin_step(stream);
	return true;
}

/* What follows belongs to a range of `row`. */
DW_INLINE void stream_cut(struct stream *stream, uint64_t ticks, size_t code, uint32_t row)
{
	bool inside = stream_follow(stream, ticks);
	struct piece *piece;

	stream->row = row;
	if (!inside || stream->hidden_depth || !(piece = fast_find_piece(stream->all, code, row)))
		return;
	stream_end_piece(stream, ticks);
	stream->piece = piece;
}

/* ---- the walk ------------------------------------------------------------------------------ */

struct frame {
	struct dw_frame frame;
	uint32_t row, outer_row;
};

DW_INLINE void fast_enter(void *state, void *place, uint64_t ticks, uint32_t id)
{
	struct stream *stream = state;
	struct frame *frame = place;

	frame->row = dw_walk_op(&stream->pass.walk, id).row;
	if (!stream->all->hidden[frame->row]) {
		frame->outer_row = stream->row;
		stream_cut(stream, ticks, 2 * (size_t)frame->row, frame->row);
		return;
	}
	stream_follow(stream, ticks);
	if (!stream->hidden_depth++)
		stream->hidden_from = ticks;
}

DW_INLINE void fast_leave(void *state, void *place, uint64_t ticks, enum dw_leave how)
{
	struct stream *stream = state;
	const struct frame *frame = place;

	if (!stream->all->hidden[frame->row]) {
		stream_cut(stream, ticks, 2 * (size_t)frame->row + 1, frame->outer_row);
		return;
	}
	stream_follow(stream, ticks);
	if (!--stream->hidden_depth && stream->inside)
		stream->hidden_ticks += ticks - stream->hidden_from;
}

static const struct dw_pass_hooks fast_hooks = {
	.frame_bytes = sizeof(struct frame), .deepest = DW_DEEPEST, .enter = fast_enter, .leave = fast_leave,
};
DW_PASS_DEFINE(fast, fast_hooks)

static bool fast_has_thread(const struct fast *all, const struct dw_source_stream *stream)
{
	if (stream->nested || !dw_scope_has_stream(all->model, stream))
		return false;
	for (size_t i = 0; i < stream->chunk_count; i++)
		if (stream->chunks[i].thread == all->thread)
			return true;
	return false;
}

/* One step of how many is examined. */
static size_t fast_every(const struct fast *all, size_t count)
{
	const struct dw_source *source = all->model->source;
	uint64_t words = 0;
	size_t most = FAST_STEPS;

	for (size_t i = 0; i < source->stream_count; i++)
		for (size_t k = 0; k < source->streams[i].chunk_count; k++)
			if (source->streams[i].chunks[k].thread == all->thread)
				words += source->streams[i].chunks[k].word_count;
	if (words / count * most > FAST_WORDS)
		most = (size_t)(FAST_WORDS / (words / count));
	if (most < FAST_LEAST)
		most = FAST_LEAST;
	return (count + most - 1) / most;
}

static void fast_walk_streams(struct fast *all)
{
	const struct dw_source *source = all->model->source;
	struct dw_frames frames = { 0 };

	for (size_t i = 0; i < source->stream_count && !all->failed; i++) {
		struct stream stream = { .all = all, .row = NO_ROW };

		if (!fast_has_thread(all, &source->streams[i]))
			continue;
		dw_pass_init(&stream.pass, all->model, i, &frames);
		fast_walk(&stream.pass);
		while (stream.inside)
			stream_end_step(&stream);
		all->failed |= stream.pass.walk.failed;
	}
	dw_frames_reset(&frames);
}

static double fast_sum(struct fast *all, double ns_per_tick, double *of_symbols)
{
	const struct dw_model *model = all->model;
	double sum = 0;

	for (size_t i = 0; i < all->step_count && !all->failed; i++) {
		struct piece *piece = NULL;

		if (all->steps[i].seen)
			continue;
		all->current++;
		piece = fast_find_piece(all, all->event_count - 1, NO_ROW);
		if (piece)
			piece_add(piece, (float)(all->steps[i].end - all->steps[i].start), all->most);
	}
	for (struct piece *piece = all->pieces; piece; piece = piece->next)
		if (piece->count) {
			double ns = piece_fast(piece) * piece->count / (double)all->step_count * ns_per_tick;

			of_symbols[piece->row == NO_ROW ? model->symbol_count : model->row_symbol[piece->row]] += ns;
			sum += ns;
		}
	return sum;
}

double dw_model_fast_step_ns(struct dw_model *model, uint32_t thread, const struct dw_step *const *steps,
                             size_t count, double *of_symbols)
{
	const struct dw_source *source = model->source;
	struct fast all = { .model = model, .thread = thread, .event_count = 2 * (size_t)model->row_count + 1 };
	const struct dw_source_clock *clock;
	double ns = -1;
	size_t every;

	if (!count)
		return 0;
	every = fast_every(&all, count);
	clock = &source->files[source->processes[source->threads[thread].process].file].clock;
	all.steps = calloc(count / every + 1, sizeof *all.steps);
	all.events = calloc(all.event_count, sizeof *all.events);
	all.hidden = calloc((size_t)model->row_count + 1, sizeof *all.hidden);
	if (all.steps && all.events && all.hidden) {
		for (size_t i = 0; i < count; i += every)
			all.steps[all.step_count++] = (struct span){ dw_source_ticks(clock, steps[i]->start_ns),
				                                         dw_source_ticks(clock, steps[i]->end_ns), false };
		for (uint32_t row = 0; row < model->row_count; row++) {
			uint32_t category = model->symbols[model->row_symbol[row]].category;

			all.hidden[row] = category == DWELL_CATEGORY_COLLECTOR || category == DWELL_CATEGORY_PROFILER;
		}
		all.most = (all.step_count - 1) / FAST_SHARE + 1;
		fast_walk_streams(&all);
		ns = fast_sum(&all, clock->ns_per_tick, of_symbols);
	}
	for (size_t i = 0; all.events && i < all.event_count; i++)
		free(all.events[i].pieces);
	DW_FREE(all.events, all.hidden, all.steps);
	dw_arena_reset(&all.arena);
	return all.failed ? -1 : ns;
}
