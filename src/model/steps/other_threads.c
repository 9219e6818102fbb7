/* Collects what threads without steps did; see other_threads.h. */
#include "model/steps/other_threads.h"

#include "base/free.h"
#include "base/grow.h"
#include "dwell/probe.h"
#include "model/core/scope.h"
#include "model/core/share_names.h"

#define MOST_TIMES ((size_t)1 << 22) /* for each process and kind; later intervals are ignored */

/* ---- a stream --------------------------------------------------------------------------- */

static bool others_append(struct dw_other_list *to, struct dw_interval interval)
{
	if (to->count == MOST_TIMES)
		return true;
	return DW_APPEND(&to->list, &to->capacity, &to->count, interval);
}

void dw_others_add(struct dw_others_pass *others, enum dw_other_kind kind, uint64_t ticks)
{
	if (ticks > others->since[kind] &&
	    !others_append(&others->lists[kind], (struct dw_interval){ others->since[kind], ticks }))
		others->failed = true;
}

void dw_others_close(struct dw_others_pass *others, uint32_t process)
{
	struct dw_others_sums *sums = others->sums;

	pthread_mutex_lock(&sums->lock);
	sums->failed |= others->failed;
	for (unsigned kind = 0; kind < DW_OTHER_KINDS; kind++) {
		struct dw_other_list *from = &others->lists[kind];
		struct dw_other_list *to = &sums->lists[(size_t)process * DW_OTHER_KINDS + kind];

		if (!to->count) {
			free(to->list);
			*to = *from;
		} else {
			for (size_t i = 0; i < from->count; i++)
				sums->failed |= !others_append(to, from->list[i]);
			free(from->list);
		}
		*from = (struct dw_other_list){ NULL, 0, 0 };
	}
	pthread_mutex_unlock(&sums->lock);
}

/* ---- a pass for these times alone --------------------------------------------------------- */

struct others_frame {
	struct dw_frame frame;
	uint8_t kinds;
};

struct others_state {
	struct dw_pass pass;
	struct dw_others_pass others;
};

static void others_enter(void *state, void *place, uint64_t ticks, uint32_t id)
{
	struct others_state *at = state;

	((struct others_frame *)place)->kinds =
		dw_others_enter(&at->others, &at->pass, ticks, dw_walk_op(&at->pass.walk, id).row);
}

static void others_leave(void *state, void *place, uint64_t ticks, enum dw_leave how)
{
	dw_others_leave(&((struct others_state *)state)->others, ((const struct others_frame *)place)->kinds, ticks);
}

static const struct dw_pass_hooks others_hooks = {
	.frame_bytes = sizeof(struct others_frame), .deepest = DW_DEEPEST, .enter = others_enter, .leave = others_leave,
};
DW_PASS_DEFINE(others, others_hooks)

void dw_others_walk(struct dw_others_sums *sums, size_t stream)
{
	struct dw_frames frames = { 0 };
	struct others_state state;

	memset(&state, 0, sizeof state);
	state.others.sums = sums;
	dw_pass_init(&state.pass, sums->model, stream, &frames);
	others_walk(&state.pass);
	state.others.failed = state.pass.walk.failed;
	dw_others_close(&state.others, sums->model->source->streams[stream].process);
	dw_frames_reset(&frames);
}

/* ---- the sums --------------------------------------------------------------------------- */

/* Sets the kinds of each row. Returns whether the times are needed: other threads can help only a
 * backward phase, and they must have ranges of a kind. */
static bool others_find_kinds(struct dw_others_sums *sums)
{
	const struct dw_model *model = sums->model;
	bool backward = false;
	uint8_t all = 0;

	for (uint32_t row = 0; row < model->row_count; row++) {
		const struct dw_symbol *symbol = &model->symbols[model->row_symbol[row]];

		if (dw_share_of(symbol) == DW_SHARE_COMMUNICATION)
			sums->kinds[row] = 1 << DW_OTHERS_COMMUNICATE;
		else if (symbol->category == DWELL_CATEGORY_OPERATOR)
			sums->kinds[row] = 1 << DW_OTHERS_OPERATE;
		backward |= dw_share_of(symbol) == DW_SHARE_BACKWARD;
		all |= sums->kinds[row];
	}
	return all && backward;
}

bool dw_others_init(struct dw_others_sums *sums, struct dw_model *model, const bool *steps)
{
	const struct dw_source *source = model->source;
	bool any;

	*sums = (struct dw_others_sums){ .model = model, .steps = steps, .lock = PTHREAD_MUTEX_INITIALIZER };
	if (!DW_NEW(&sums->kinds, model->row_count + (size_t)1) || !DW_NEW(&sums->needed, source->process_count + 1) ||
	    !DW_NEW(&sums->lists, (source->process_count + 1) * DW_OTHER_KINDS))
		return false;
	any = others_find_kinds(sums);
	for (uint32_t t = 0; any && t < source->thread_count; t++)
		sums->needed[source->threads[t].process] |= steps[t];
	return true;
}

void dw_others_reset(struct dw_others_sums *sums)
{
	for (size_t i = 0; sums->lists && i < sums->model->source->process_count * DW_OTHER_KINDS; i++)
		free(sums->lists[i].list);
	DW_FREE(sums->lists, sums->kinds, sums->needed);
}

/* A thread without steps may have taken the stream over from one with steps, in the middle of a
 * chunk. */
bool dw_others_wants(const struct dw_others_sums *sums, size_t index)
{
	const struct dw_source *source = sums->model->source;
	const struct dw_source_stream *stream = &source->streams[index];

	if (stream->nested || !sums->needed[stream->process])
		return false;
	for (size_t c = 0; c < stream->chunk_count; c++)
		if (!sums->steps[stream->chunks[c].thread])
			return true;
	for (size_t t = 0; t < source->thread_count; t++)
		if (!sums->steps[t] && source->threads[t].process == stream->process &&
		    source->threads[t].stream == stream->stream)
			return true;
	return false;
}

static bool others_keep(struct dw_model *model, struct dw_others *others, unsigned kind,
                        const struct dw_other_list *from)
{
	size_t count = dw_intervals_unite(from->list, from->count);
	struct dw_interval *to = dw_arena_alloc(&model->arena, (count + 1) * sizeof *to);

	if (!to)
		return false;
	for (size_t i = 0; i < count; i++)
		to[i] = from->list[i];
	to[count] = (struct dw_interval){ UINT64_MAX, UINT64_MAX };
	others->times[kind] = to;
	others->counts[kind] = count;
	return true;
}

struct dw_others *dw_others_finish(struct dw_others_sums *sums)
{
	size_t processes = sums->model->source->process_count;
	struct dw_others *others = dw_arena_alloc(&sums->model->arena, (processes + 1) * sizeof *others);

	for (size_t p = 0; others && p < processes; p++)
		for (unsigned kind = 0; kind < DW_OTHER_KINDS; kind++)
			if (!others_keep(sums->model, &others[p], kind, &sums->lists[p * DW_OTHER_KINDS + kind]))
				return NULL;
	return sums->failed ? NULL : others;
}
