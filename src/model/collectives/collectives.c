/* Collectives of a run; see collectives.h. */
#include "model/collectives/collectives.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "model/core/pass.h"
#include "model/core/product.h"
#include "model/core/scope.h"

#define MOST_COLLECTIVES ((size_t)1 << 22)
#define MOST_GROUPS 4096u

struct result {
	struct dw_collectives view;
	struct dw_collective *all;
	size_t capacity, group_capacity;
};

struct frame {
	struct dw_frame frame;
	uint32_t symbol;
	uint32_t last; /* collective of its last record, plus 1; 0: none */
};

/* A collective of a stream, in ticks until its range ends. */
struct noted {
	struct dw_collective collective;
	uint32_t previous; /* of the same range, plus 1; 0: none */
};

struct pass {
	struct dw_frames frames;
	struct result *result;
	struct noted *noted; /* of the stream */
	size_t count, capacity;
	uint32_t known_id, known_group; /* the last group's STRING of the stream's file */
	bool failed;
};

struct collectives {
	struct dw_pass pass;
	struct pass *all;
	const uint32_t *symbol_by_id;
};

/* The index of a group by its name. DW_NO_INDEX: there are too many groups, or no memory. */
static uint32_t collectives_group(struct pass *pass, const char *name)
{
	struct dw_collectives *view = &pass->result->view;

	for (uint32_t i = 0; i < view->group_count; i++)
		if (strcmp(view->groups[i], name) == 0)
			return i;
	if (view->group_count == MOST_GROUPS)
		return DW_NO_INDEX;
	const char **place = DW_GROW(&view->groups, &pass->result->group_capacity, view->group_count);
	if (!place) {
		pass->failed = true;
		return DW_NO_INDEX;
	}
	*place = name;
	return view->group_count++;
}

DW_INLINE void collectives_enter(void *state, void *place, uint64_t ticks, uint32_t id)
{
	struct collectives *walk = state;
	struct frame *frame = place;

	frame->symbol = walk->symbol_by_id[id < walk->pass.walk.op_count ? id : 0];
	frame->last = 0;
	frame->frame.in_scope = dw_pass_in_scope(&walk->pass, ticks);
}

DW_INLINE void collectives_leave(void *state, void *place, uint64_t ticks, enum dw_leave how)
{
	struct collectives *walk = state;
	const struct frame *frame = place;
	const struct dw_source_clock *clock = &walk->pass.walk.file->clock;
	bool last = true;

	for (uint32_t at = frame->last; at; last = false) {
		struct noted *noted = &walk->all->noted[at - 1];
		struct dw_collective *collective = &noted->collective;

		collective->enter_ns = dw_source_ns(clock, frame->frame.start);
		collective->leave_ns = dw_source_ns(clock, ticks);
		/* Of the collectives of a range the last one is waited for. */
		collective->blocked_ns = last ? collective->leave_ns - collective->enter_ns : 0;
		collective->open = how == DW_LEAVE_OPEN;
		at = noted->previous;
	}
}

static void collectives_note_group(struct collectives *walk, uint32_t id)
{
	const struct dw_source_file *file = walk->pass.walk.file;
	const char *name = id < file->symbol_count ? file->strings[id] : NULL;

	walk->all->known_group = collectives_group(walk->all, name ? name : "");
	walk->all->known_id = id;
}

static void collectives_note(void *state, uint64_t ticks, const struct dw_record *record)
{
	struct collectives *walk = state;
	struct pass *pass = walk->all;
	struct frame *frame = DW_PASS_INNERMOST(&walk->pass, struct frame);
	struct noted *noted;

	(void)ticks;
	if (record->kind != DW_EXT ||
	    record->id != (DW_EXT_COLLECTIVE << DW_EXT_TYPE_SHIFT | DW_COLLECTIVE_WORDS) || !frame ||
	    !frame->frame.in_scope)
		return;
	if (pass->count + pass->result->view.count >= MOST_COLLECTIVES) {
		pass->result->view.left_out++;
		return;
	}
	if (record->payload[2] != pass->known_id)
		collectives_note_group(walk, record->payload[2]);
	if (pass->known_group == DW_NO_INDEX) {
		pass->result->view.left_out++;
		return;
	}
	noted = DW_GROW(&pass->noted, &pass->capacity, pass->count);
	if (!noted) {
		pass->failed = true;
		return;
	}
	*noted = (struct noted){ .previous = frame->last };
	noted->collective = (struct dw_collective){ .process = walk->pass.walk.stream->process,
		                                        .group = pass->known_group,
		                                        .symbol = frame->symbol,
		                                        .sequence = dw_record_u64(record, 3),
		                                        .bytes = dw_record_u64(record, 5) };
	frame->last = (uint32_t)++pass->count;
}

static const struct dw_pass_hooks collectives_hooks = {
	.frame_bytes = sizeof(struct frame), .deepest = DW_DEEPEST, .scoped = true,
	.enter = collectives_enter, .leave = collectives_leave, .note = collectives_note,
};
DW_PASS_DEFINE(collectives, collectives_hooks)

/* Appends what the stream has. */
static void collectives_take(struct pass *pass)
{
	struct result *result = pass->result;

	for (size_t i = 0; i < pass->count; i++) {
		struct dw_collective *place = DW_GROW(&result->all, &result->capacity, result->view.count);

		if (!place) {
			pass->failed = true;
			return;
		}
		*place = pass->noted[i].collective;
		result->view.count++;
	}
	pass->count = 0;
}

static int collectives_compare(const void *left, const void *right)
{
	const struct dw_collective *a = left, *b = right;

	if (a->process != b->process)
		return a->process < b->process ? -1 : 1;
	if (a->group != b->group)
		return a->group < b->group ? -1 : 1;
	if (a->sequence != b->sequence)
		return a->sequence < b->sequence ? -1 : 1;
	if (a->enter_ns != b->enter_ns)
		return a->enter_ns < b->enter_ns ? -1 : 1;
	return (a->leave_ns > b->leave_ns) - (a->leave_ns < b->leave_ns);
}

/* Makes one of the ranges of each collective. */
static void collectives_join(struct result *result)
{
	size_t kept = 0;

	if (result->view.count)
		qsort(result->all, result->view.count, sizeof *result->all, collectives_compare);
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

static bool collectives_compute(struct dw_model *model, const void *request, void *place)
{
	const struct dw_source *source = model->source;
	struct pass pass = { .result = place, .known_id = UINT32_MAX };
	void *buffer = malloc(DW_BLOCK_BYTES);

	(void)request;
	pass.failed = !buffer;
	for (size_t i = 0; i < source->stream_count && !pass.failed; i++) {
		const struct dw_source_stream *stream = &source->streams[i];
		const struct dw_head *head = source->files[stream->file].head;
		struct collectives walk;

		if (!head || !(head->flags & DW_HEAD_COLLECTIVES) || stream->nested ||
		    !dw_scope_has_stream(model, stream))
			continue;
		memset(&walk, 0, sizeof walk);
		dw_pass_init(&walk.pass, model, i, &pass.frames, buffer);
		walk.all = &pass;
		walk.symbol_by_id = model->symbol_by_id[stream->file];
		pass.known_id = UINT32_MAX;
		collectives_walk(&walk.pass);
		pass.failed |= walk.pass.failed;
		collectives_take(&pass);
	}
	free(buffer);
	free(pass.noted);
	dw_frames_reset(&pass.frames);
	if (!pass.failed)
		collectives_join(place);
	return !pass.failed;
}

static void collectives_free(void *place)
{
	struct result *result = place;

	free(result->all);
	free(result->view.groups);
}

const struct dw_collectives *dw_model_collectives(struct dw_model *model, struct dwell_error *error)
{
	static const struct dw_product product = { sizeof(struct result), collectives_compute,
		                                       collectives_free };
	const struct result *result = dw_product_get(model, &product, 0, NULL, error);

	return result ? &result->view : NULL;
}
