/*
 * What threads without steps did while threads of their process had steps.
 *
 * Called once by steps.c. A backward pass may run in threads of its own, and so may the
 * communication that it starts; the step's thread waits for both. For each kind, only the outermost
 * range of a stream counts. Traces without such ranges need no pass.
 */
#include <stdlib.h>

#include "base/grow.h"
#include "dwell/probe.h"
#include "model/core/scope.h"
#include "model/steps/shares.h"
#include "model/core/pass.h"

#define MOST_TIMES ((size_t)1 << 22) /* for each process and kind; later intervals are ignored */

enum { COMMUNICATION, OPERATORS, KINDS };

struct times {
	struct dw_interval *list;
	size_t count, capacity;
};

struct frame {
	struct dw_frame frame;
	uint8_t kinds;            /* bits of the range's kinds */
};

struct helpers {
	struct dw_pass pass;
	const uint8_t *kinds;     /* by row: bits of the kinds */
	const bool *steps;        /* by thread: it has steps */
	struct times *times;      /* of the process: KINDS entries */
	uint64_t open[KINDS], since[KINDS];
	bool failed;
};

static void helpers_add(struct helpers *helpers, int kind, uint64_t ticks)
{
	struct times *times = &helpers->times[kind];
	struct dw_interval *to;

	if (times->count == MOST_TIMES || ticks <= helpers->since[kind])
		return;
	to = DW_GROW(&times->list, &times->capacity, times->count);
	helpers->failed |= !to;
	if (!to)
		return;
	*to = (struct dw_interval){ helpers->since[kind], ticks };
	times->count++;
}

static void helpers_enter(void *state, void *place, uint64_t ticks, uint32_t id)
{
	struct helpers *helpers = state;
	struct frame *frame = place;
	uint32_t thread = helpers->pass.walk.thread;

	frame->kinds = 0;
	if (thread != DW_NO_INDEX && !helpers->steps[thread])
		frame->kinds = helpers->kinds[dw_walk_op(&helpers->pass.walk, id).row];
	for (int kind = 0; kind < KINDS; kind++)
		if (frame->kinds >> kind & 1 && !helpers->open[kind]++)
			helpers->since[kind] = ticks;
}

static void helpers_leave(void *state, void *place, uint64_t ticks, enum dw_leave how)
{
	struct helpers *helpers = state;
	const struct frame *frame = place;

	for (int kind = 0; kind < KINDS; kind++)
		if (frame->kinds >> kind & 1 && !--helpers->open[kind])
			helpers_add(helpers, kind, ticks);
}

static const struct dw_pass_hooks helpers_hooks = {
	.frame_bytes = sizeof(struct frame), .deepest = DW_DEEPEST,
	.enter = helpers_enter, .leave = helpers_leave,
};
DW_PASS_DEFINE(helpers, helpers_hooks)

/* Sets the kinds of each row. Returns the bits of the kinds that occur. */
static uint8_t helpers_find_kinds(const struct dw_model *model, uint8_t *kinds)
{
	uint8_t all = 0;

	for (uint32_t row = 0; row < model->row_count; row++) {
		const struct dw_symbol *symbol = &model->symbols[model->row_symbol[row]];

		if (dw_share_of(symbol) == DW_SHARE_COMMUNICATION)
			kinds[row] = 1 << COMMUNICATION;
		else if (symbol->category == DWELL_CATEGORY_OPERATOR)
			kinds[row] = 1 << OPERATORS;
		all |= kinds[row];
	}
	return all;
}

static const struct dw_interval *helpers_keep(struct dw_model *model, const struct times *times)
{
	size_t count = dw_intervals_unite(times->list, times->count);
	struct dw_interval *to = dw_arena_alloc(&model->arena, (count + 1) * sizeof *to);

	if (!to)
		return NULL;
	for (size_t i = 0; i < count; i++)
		to[i] = times->list[i];
	to[count] = (struct dw_interval){ UINT64_MAX, UINT64_MAX };
	return to;
}

/* Whether a thread that does not step wrote into the stream. It may have taken the stream over
 * from one that does, in the middle of a chunk. */
static bool helpers_has_others(const struct dw_source *source,
                               const struct dw_source_stream *stream, const bool *steps)
{
	for (size_t c = 0; c < stream->chunk_count; c++)
		if (!steps[stream->chunks[c].thread])
			return true;
	for (size_t t = 0; t < source->thread_count; t++)
		if (!steps[t] && source->threads[t].process == stream->process &&
		    source->threads[t].stream == stream->stream)
			return true;
	return false;
}

/* Walks the streams of a process in which a thread without steps may write. */
static bool helpers_walk_process(struct dw_model *model, uint32_t process, const uint8_t *kinds,
                                 const bool *steps, struct times *times, void *buffer)
{
	const struct dw_source *source = model->source;
	struct dw_frames frames = { NULL, 0 };
	bool failed = false;

	for (size_t i = 0; i < source->stream_count && !failed; i++) {
		const struct dw_source_stream *stream = &source->streams[i];
		struct helpers helpers = { .kinds = kinds, .steps = steps, .times = times };

		if (stream->process != process || stream->nested ||
		    !helpers_has_others(source, stream, steps))
			continue;
		dw_pass_init(&helpers.pass, model, i, &frames, buffer);
		helpers_walk(&helpers.pass);
		failed = helpers.failed || helpers.pass.failed;
	}
	dw_frames_reset(&frames);
	return !failed;
}

struct dw_helpers *dw_helpers_find(struct dw_model *model, const bool *steps)
{
	static const struct dw_interval none = { UINT64_MAX, UINT64_MAX };
	const struct dw_source *source = model->source;
	struct dw_helpers *helpers =
	    dw_arena_alloc(&model->arena, (source->process_count + 1) * sizeof *helpers);
	uint8_t *kinds = calloc(model->row_count + 1, 1);
	void *buffer = malloc(DW_BLOCK_BYTES);
	bool *with_steps = calloc(source->process_count + 1, sizeof *with_steps);
	bool ready = helpers && kinds && buffer && with_steps,
		 any = ready && helpers_find_kinds(model, kinds);

	for (uint32_t t = 0; ready && t < source->thread_count; t++)
		with_steps[source->threads[t].process] |= steps[t];
	for (uint32_t p = 0; ready && p < source->process_count; p++) {
		struct times times[KINDS] = { { NULL, 0, 0 } };

		helpers[p] = (struct dw_helpers){ &none, &none };
		if (any && with_steps[p]) {
			ready = helpers_walk_process(model, p, kinds, steps, times, buffer);
			helpers[p].communication = helpers_keep(model, &times[COMMUNICATION]);
			helpers[p].operators = helpers_keep(model, &times[OPERATORS]);
			ready = ready && helpers[p].communication && helpers[p].operators;
		}
		for (int kind = 0; kind < KINDS; kind++)
			free(times[kind].list);
	}
	free(kinds);
	free(buffer);
	free(with_steps);
	return ready ? helpers : NULL;
}
