/* Collectives of a run; see collectives.h. */
#include "model/collectives/collectives_pass.h"

#include "base/free.h"
#include "base/grow.h"
#include "base/order.h"
#include "model/core/scope.h"

#define MOST_GROUPS 4096u

struct result {
	struct dw_collectives view;
	struct dw_collective *all;
	size_t capacity, group_capacity;
	bool failed;
};

/* ---- a stream ------------------------------------------------------------------------------ */

struct frame {
	struct dw_frame frame;
	struct dw_collectives_frame own;
};

struct collectives {
	struct dw_pass pass;
	struct dw_collectives_walk walk;
};

DW_INLINE void collectives_enter(void *state, void *place, uint64_t ticks, uint32_t id)
{
	struct collectives *at = state;
	struct frame *frame = place;

	dw_collectives_enter(&at->walk, &frame->own, id);
	frame->frame.in_scope = dw_pass_in_scope(&at->pass, ticks);
}

DW_INLINE void collectives_leave(void *state, void *place, uint64_t ticks, enum dw_leave how)
{
	const struct frame *frame = place;

	dw_collectives_leave(&((struct collectives *)state)->walk, &frame->frame, &frame->own, ticks, how);
}

static void collectives_note(void *state, uint64_t ticks, const struct dw_record *record)
{
	struct collectives *at = state;
	struct frame *frame = DW_PASS_INNERMOST(&at->pass, struct frame);

	if (frame && frame->frame.in_scope)
		dw_collectives_note(&at->walk, &frame->own, record);
}

static const struct dw_pass_hooks collectives_hooks = {
	.frame_bytes = sizeof(struct frame), .deepest = DW_DEEPEST, .scoped = true,
	.enter = collectives_enter, .leave = collectives_leave, .note = collectives_note,
};
DW_PASS_DEFINE(collectives, collectives_hooks)

bool dw_collectives_has_stream(const struct dw_model *model, size_t stream)
{
	const struct dw_source_stream *from = &model->source->streams[stream];
	const struct dw_head *head = model->source->files[from->file].head;

	return head && head->flags & DW_HEAD_COLLECTIVES && !from->nested && dw_scope_has_stream(model, from);
}

void dw_collectives_begin(struct dw_collectives_walk *walk, struct dw_collectives_stream *stream,
                          const struct dw_model *model, size_t index)
{
	const struct dw_source_file *file = &model->source->files[model->source->streams[index].file];

	*walk = (struct dw_collectives_walk){ .stream = stream, .process = model->source->streams[index].process,
		                                  .clock = &file->clock, .symbol_count = file->symbol_count,
		                                  .symbol_by_id = model->symbol_by_id[model->source->streams[index].file] };
}

__attribute__((noinline)) void dw_collectives_found(struct dw_collectives_walk *walk,
                                                    struct dw_collectives_frame *frame, const struct dw_record *record)
{
	struct dw_collectives_stream *stream = walk->stream;
	struct dw_collective_noted *noted;

	if (stream->count >= DW_MOST_COLLECTIVES) {
		stream->left_out++;
		return;
	}
	noted = DW_GROW(&stream->noted, &stream->capacity, stream->count);
	if (!noted) {
		stream->failed = true;
		return;
	}
	*noted = (struct dw_collective_noted){ .previous = frame->last, .group_id = record->payload[2] };
	noted->collective = (struct dw_collective){ .process = walk->process,
		.symbol = frame->symbol, .sequence = dw_record_u64(record, 3), .bytes = dw_record_u64(record, 5) };
	frame->last = (uint32_t)++stream->count;
}

void dw_collectives_end(struct dw_collectives_walk *walk, const struct dw_collectives_frame *frame,
                        uint64_t start_ticks, uint64_t end_ticks, enum dw_leave how)
{
	bool last = true;

	for (uint32_t at = frame->last; at; last = false) {
		struct dw_collective_noted *noted = &walk->stream->noted[at - 1];
		struct dw_collective *collective = &noted->collective;

		collective->enter_ns = dw_source_ns(walk->clock, start_ticks);
		collective->leave_ns = dw_source_ns(walk->clock, end_ticks);
		/* Of the collectives of a range the last one is waited for. */
		collective->blocked_ns = last ? collective->leave_ns - collective->enter_ns : 0;
		collective->open = how == DW_LEAVE_OPEN;
		at = noted->previous;
	}
}

/* ---- all streams --------------------------------------------------------------------------- */

/* The index of a group by its name. DW_NO_INDEX: there are too many groups, or no memory. */
static uint32_t collectives_group(struct result *result, const char *name)
{
	struct dw_collectives *view = &result->view;

	for (uint32_t i = 0; i < view->group_count; i++)
		if (strcmp(view->groups[i], name) == 0)
			return i;
	if (view->group_count == MOST_GROUPS)
		return DW_NO_INDEX;
	if (DW_APPEND(&view->groups, &result->group_capacity, &view->group_count, name))
		return view->group_count - 1;
	result->failed = true;
	return DW_NO_INDEX;
}

/* Appends what a stream has, and frees it. */
static void collectives_take(struct result *result, const struct dw_source_file *file,
                             struct dw_collectives_stream *stream)
{
	uint32_t known_id = UINT32_MAX, group = DW_NO_INDEX;

	for (size_t i = 0; i < stream->count && !result->failed; i++) {
		const struct dw_collective_noted *noted = &stream->noted[i];
		struct dw_collective *place = NULL;

		if (noted->group_id != known_id || !i) {
			const char *name = noted->group_id < file->symbol_count ? file->strings[noted->group_id] : NULL;

			group = collectives_group(result, name ? name : "");
			known_id = noted->group_id;
		}
		if (group == DW_NO_INDEX || result->view.count >= DW_MOST_COLLECTIVES) {
			result->view.left_out++;
			continue;
		}
		place = DW_GROW(&result->all, &result->capacity, result->view.count);
		if (!place) {
			result->failed = true;
			break;
		}
		*place = noted->collective;
		place->group = group;
		result->view.count++;
	}
	result->view.left_out += stream->left_out;
	result->failed |= stream->failed;
	free(stream->noted);
	*stream = (struct dw_collectives_stream){ .noted = NULL };
}

DW_ORDER(collectives_compare, struct dw_collective, DW_UP(process) DW_UP(group) DW_UP(sequence)
         DW_UP(enter_ns) DW_UP(leave_ns))

/* Makes one of the ranges of each collective. */
static void collectives_join(struct result *result)
{
	size_t kept = 0;

	DW_SORT(result->all, result->view.count, collectives_compare);
	for (size_t i = 0; i < result->view.count; i++) {
		const struct dw_collective *from = &result->all[i];
		struct dw_collective *into = kept ? &result->all[kept - 1] : NULL;

		if (!into || !from->sequence || into->process != from->process ||
		    into->group != from->group || into->sequence != from->sequence) {
			result->all[kept++] = *from;
			continue;
		}
		if (from->leave_ns > into->leave_ns)
			into->leave_ns = from->leave_ns;
		if (from->bytes > into->bytes)
			into->bytes = from->bytes;
		/* Ranges of one collective may surround each other. */
		into->blocked_ns += from->blocked_ns;
		if (into->blocked_ns > into->leave_ns - into->enter_ns)
			into->blocked_ns = into->leave_ns - into->enter_ns;
		into->open |= from->open;
	}
	result->view.count = kept;
	result->view.collectives = result->all;
}

bool dw_collectives_finish(struct dw_model *model, struct dw_collectives_stream *streams, void *place)
{
	const struct dw_source *source = model->source;
	struct result *result = place;

	for (size_t i = 0; i < source->stream_count; i++)
		collectives_take(result, &source->files[source->streams[i].file], &streams[i]);
	if (!result->failed)
		collectives_join(result);
	return !result->failed;
}

/* ---- the product --------------------------------------------------------------------------- */

static bool collectives_compute(struct dw_model *model, const void *request, void *result)
{
	size_t count = model->source->stream_count;
	struct dw_collectives_stream *streams = calloc(count + 1, sizeof *streams);
	struct dw_frames frames = { 0 };
	bool good = streams != NULL;

	for (size_t i = 0; good && i < count; i++) {
		struct collectives state;

		if (!dw_collectives_has_stream(model, i))
			continue;
		memset(&state, 0, sizeof state);
		dw_pass_init(&state.pass, model, i, &frames);
		dw_collectives_begin(&state.walk, &streams[i], model, i);
		collectives_walk(&state.pass);
		good = !state.pass.walk.failed;
	}
	dw_frames_reset(&frames);
	good = streams && dw_collectives_finish(model, streams, result) && good;
	free(streams);
	return good;
}

static void collectives_free(void *place)
{
	struct result *result = place;

	DW_FREE(result->all, result->view.groups);
}

DW_PRODUCT(collectives, struct result, collectives_compute, collectives_free);

const struct dw_collectives *dw_model_collectives(struct dw_model *model, struct dwell_error *error)
{
	const struct result *result = dw_product_get(model, &dw_product_collectives, 0, NULL, error);

	return result ? &result->view : NULL;
}
